/* patra outbox status. */
#include "cmd/outbox.h"

#include <inttypes.h>

#include "base/duration.h"
#include "cli/columns.h"
#include "cli/output.h"
#include "cli/session.h"
#include "port/store_rate.h"
#include "port/store_stream.h"

struct outbox_state {
    struct stream_status stream;
    int64_t gap_ids; /* up to the cursor: being written, or never to be events */
    int64_t now_us;
};

/* Ids between horizon and cursor that are not in the stream. */
static bool count_gaps(struct session *session, struct outbox_state *state, struct error *err)
{
    const struct stream_status *stream = &state->stream;
    struct stream_ids ids;

    state->gap_ids = stream->cursor_id - stream->horizon_id;
    if (state->gap_ids == 0)
        return true;
    if (!store_stream_taken(session->store, &session->arena, stream->horizon_id, &ids, err))
        return false;
    for (size_t i = 0; i < ids.count; i++)
        state->gap_ids -= ids.items[i] > stream->horizon_id && ids.items[i] <= stream->cursor_id;
    return true;
}

static bool read_state(struct session *session, struct outbox_state *state, struct error *err)
{
    return store_clock(session->store, clock_now_us(&session->clock), &state->now_us, err) &&
           store_stream_status(session->store, &session->arena, &state->stream, err) &&
           count_gaps(session, state, err);
}

static int64_t lag_us(const struct outbox_state *state)
{
    const struct stream_status *stream = &state->stream;

    return stream->has_oldest && state->now_us > stream->oldest_us
               ? state->now_us - stream->oldest_us
               : 0;
}

static bool is_leased(const struct outbox_state *state)
{
    return state->stream.lease_owner.len > 0 && state->stream.leased_until_us > state->now_us;
}

static bool print_json(struct session *session, const struct outbox_state *state, FILE *out,
                       struct error *err)
{
    const struct stream_status *stream = &state->stream;
    struct output output;
    struct json_writer *w = output_begin(&output, &session->arena);

    json_write_object(w);
    json_write_member_i64(w, STR("lastId"), stream->last_id);
    json_write_member_i64(w, STR("cursorId"), stream->cursor_id);
    json_write_member_i64(w, STR("horizonId"), stream->horizon_id);
    json_write_member_i64(w, STR("gapIds"), state->gap_ids);
    json_write_member_i64(w, STR("waiting"), stream->waiting);
    json_write_member_i64(w, STR("lagUs"), lag_us(state));
    json_write_member_i64(w, STR("leaseEpoch"), stream->epoch);
    if (stream->lease_owner.len > 0) {
        json_write_member_str(w, STR("leaseOwner"), stream->lease_owner);
        json_write_member_instant(w, STR("leasedUntil"), stream->leased_until_us);
    }
    json_write_name(w, STR("lanes"));
    json_write_array(w);
    for (int i = 0; i < OUTBOX_LANES; i++)
        json_write_i64(w, stream->last_pos[i]);
    json_write_end(w);
    json_write_end(w);
    return output_end(&output, out, err);
}

static void print_head(const struct outbox_state *state, FILE *out)
{
    const struct stream_status *stream = &state->stream;
    char lag[DURATION_TEXT_MAX];
    int64_t events = 0;

    for (int i = 0; i < OUTBOX_LANES; i++)
        events += stream->last_pos[i];
    (void)duration_format_us(lag_us(state), lag);
    fprintf(out, "events     %" PRId64 " in the stream, %" PRId64 " waiting%s%s\n", events,
            stream->waiting, stream->has_oldest ? ", the oldest for " : "",
            stream->has_oldest ? lag : "");
    fprintf(out,
            "ids        given out up to %" PRId64 ", looked at up to %" PRId64
            ", settled up to %" PRId64 ", %" PRId64 " open\n",
            stream->last_id, stream->cursor_id, stream->horizon_id, state->gap_ids);
    if (is_leased(state))
        fprintf(out, "publisher  %.*s, epoch %" PRId64 "\n", STR_ARG(stream->lease_owner),
                stream->epoch);
    else
        fprintf(out, "publisher  none%s\n",
                stream->waiting > 0 ? ": start patra serve or patra publish" : "");
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
    struct outbox_state state = { 0 };

    (void)code;
    if (!read_state(session, &state, err))
        return false;
    if (invocation_flag(invocation, "json"))
        return print_json(session, &state, invocation->out, err);
    print_head(&state, invocation->out);
    return print_lanes(session, &state.stream, invocation->out, err);
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
        "has looked, which ids below that are still open, who the publisher is, and the\n"
        "last position of each lane.",
    .options = { { "json", NULL, "Print JSON." }, SESSION_OPTION },
    .run = cmd_status,
};

static const struct command *const children[] = { &OUTBOX_STATUS, NULL };

const struct command COMMAND_OUTBOX = {
    .name = "outbox",
    .summary = "show what became of events",
    .description =
        "Every change of a record is an event. The publisher appends events to the stream,\n"
        "which consumers read.",
    .children = children,
};
