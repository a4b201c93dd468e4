/* patra outbox status. */
#include "cmd/outbox.h"

#include <inttypes.h>

#include "base/text.h"
#include "cli/columns.h"
#include "cli/output.h"
#include "cli/session.h"
#include "cmd/import.h"
#include "port/store_rate.h"
#include "port/store_stream.h"
#include "view/outbox.h"

static bool print_json(struct session *session, const struct view_outbox *outbox, FILE *out,
                       struct error *err)
{
    struct output output;
    struct json_writer *w = output_begin(&output, &session->arena);

    view_outbox_write(w, outbox);
    return output_end(&output, out, err);
}

static void print_head(struct arena *arena, const struct view_outbox *outbox, FILE *out)
{
    const struct stream_status *stream = &outbox->stream;
    int64_t events = 0;

    for (int i = 0; i < OUTBOX_LANES; i++)
        events += stream->last_pos[i];
    fprintf(out, "events     %" PRId64 " in the stream, %" PRId64 " waiting", events,
            stream->waiting);
    if (stream->has_oldest)
        fprintf(out, ", the oldest for %.*s", STR_ARG(text_span_in(arena, outbox->lag_us)));
    fprintf(out, "\n");
    fprintf(out,
            "ids        given out up to %" PRId64 ", looked at up to %" PRId64
            ", settled up to %" PRId64 ", %" PRId64 " open\n",
            stream->last_id, stream->cursor_id, stream->horizon_id, outbox->gap_ids);
    if (outbox->is_leased)
        fprintf(out, "publisher  %.*s, epoch %" PRId64 "\n", STR_ARG(stream->lease_owner),
                stream->epoch);
    else
        fprintf(out, "publisher  none%s\n",
                stream->waiting > 0 ? ": start patra serve or patra publish" : "");
}

/* ---- subscriptions ---- */

/* What a person should know of it, in one sentence; '': nothing. */
static struct str remark(struct arena *arena, const struct view_subscription *s)
{
    char since[INSTANT_TEXT_MAX];

    if (s->subscription.state_reason.len > 0)
        return s->subscription.state_reason;
    if (s->trouble != NULL) {
        (void)instant_format(s->trouble->error_since_us, since);
        return arena_printf(arena, "since %s: %.*s", since, STR_ARG(s->trouble->error));
    }
    if (s->readers.count == 0 && s->subscription.kind != SUBSCRIPTION_IMPORT && s->waiting > 0)
        return s->subscription.kind == SUBSCRIPTION_PROJECTION
                   ? STR("nobody reads it: start patra serve or patra consume")
                   : STR("nobody reads it: start patra serve or patra publish");
    if (s->parked > 0)
        return arena_printf(arena, "patra outbox parked %.*s lists the keys that wait",
                            STR_ARG(s->subscription.name));
    if (s->dead > 0)
        return arena_printf(arena, "patra outbox dead %.*s lists the events that were given up",
                            STR_ARG(s->subscription.name));
    return STR("");
}

static struct str owners(struct arena *arena, const struct view_subscription *s)
{
    struct buf out;

    if (s->owners.count == 0)
        return STR("");
    buf_init(&out, arena, 1 << 16);
    buf_add(&out, STR("lanes: "));
    for (size_t i = 0; i < s->owners.count; i++)
        buf_printf(&out, "%s%d %.*s", i > 0 ? ", " : "", s->owners.items[i].lanes,
                   STR_ARG(s->owners.items[i].owner));
    return buf_str(&out);
}

static bool print_subscriptions(struct session *session, const struct view_outbox *outbox,
                                FILE *out, struct error *err)
{
    static const char *const heads[] = { "SUBSCRIPTION", "KIND",   "STATE", "WAITING",
                                         "LAG",          "PARKED", "DEAD" };
    struct columns columns;

    if (outbox->subscriptions.count == 0)
        return true;
    columns_init(&columns, &session->arena, heads, ARRAY_LEN(heads));
    for (size_t i = 0; i < outbox->subscriptions.count; i++) {
        const struct view_subscription *s = &outbox->subscriptions.items[i];

        columns_cell(&columns, s->subscription.name);
        columns_cell(&columns, code_of(&SUBSCRIPTION_KIND_CODES, (int)s->subscription.kind));
        columns_cell(&columns, code_of(&SUBSCRIPTION_STATE_CODES, (int)s->subscription.state));
        columns_i64(&columns, s->waiting);
        columns_cell(&columns,
                     s->waiting > 0 ? text_span_in(&session->arena, s->lag_us) : STR("-"));
        columns_i64(&columns, s->parked);
        columns_i64(&columns, s->dead);
        columns_note(&columns, remark(&session->arena, s));
        columns_note(&columns, owners(&session->arena, s));
    }
    fprintf(out, "\n");
    return columns_print(&columns, out, err);
}

static bool print_lanes(struct session *session, const struct stream_status *stream, FILE *out,
                        struct error *err)
{
    static const char *const heads[] = { "LANE", "POSITION" };
    struct columns columns;

    columns_init(&columns, &session->arena, heads, ARRAY_LEN(heads));
    for (int i = 0; i < OUTBOX_LANES; i++) {
        if (stream->last_pos[i] == 0)
            continue;
        columns_i64(&columns, i);
        columns_i64(&columns, stream->last_pos[i]);
    }
    return columns_print(&columns, out, err);
}

static bool status(const struct invocation *invocation, struct session *session,
                   enum exit_code *code, struct error *err)
{
    const struct view_reader reader = session_reader(session);
    struct view_outbox outbox;

    (void)code;
    if (!view_outbox(&reader, &outbox, err))
        return false;
    if (invocation_flag(invocation, "json"))
        return print_json(session, &outbox, invocation->out, err);
    print_head(&session->arena, &outbox, invocation->out);
    if (invocation_flag(invocation, "lanes"))
        return print_lanes(session, &outbox.stream, invocation->out, err);
    return print_subscriptions(session, &outbox, invocation->out, err);
}

static enum exit_code cmd_status(const struct invocation *invocation)
{
    return session_run(invocation, status);
}

static const struct command OUTBOX_STATUS = {
    .name = "status",
    .summary = "show how far events were published",
    .operands_max = 0,
    .description =
        "Shows how many events are in the stream and how many wait, how far the publisher\n"
        "has looked, which ids below that are still open, and who the publisher is; then each\n"
        "subscription: its state, how many events it has not passed and for how long the first\n"
        "of them waits, how many keys are parked and events given up, what stops it, and who\n"
        "reads which part of the 64 lanes.",
    .options = { { "lanes", NULL, "Show the last position of each lane instead." },
                 { "json", NULL, "Print JSON." },
                 SESSION_OPTION },
    .run = cmd_status,
};

static const struct command *const children[] = {
    &OUTBOX_STATUS, &OUTBOX_PARKED,         &OUTBOX_RETRY, &OUTBOX_SKIP,
    &OUTBOX_PAUSE,  &OUTBOX_RESUME,         &OUTBOX_DEAD,  &OUTBOX_REDRIVE,
    &OUTBOX_PRUNE,  &COMMAND_OUTBOX_IMPORT, NULL
};

const struct command COMMAND_OUTBOX = {
    .name = "outbox",
    .summary = "show what became of events, and what waits",
    .description =
        "Every change of a record is an event. The publisher appends events to the stream,\n"
        "which subscriptions read: each hands events on to its bus, or applies them to the\n"
        "tables of a projection, by itself. A key whose event is refused is parked: its later\n"
        "events wait with it, and others go on.",
    .children = children,
};
