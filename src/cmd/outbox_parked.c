/* patra outbox parked, retry, skip, pause and resume: what people do with subscriptions. */
#include <inttypes.h>

#include "cli/columns.h"
#include "cli/output.h"
#include "cli/session.h"
#include "cli/who.h"
#include "cmd/outbox.h"
#include "cmd/subscription_home.h"
#include "view/outbox.h"

enum { LIMIT = 100, LIMIT_MAX = 10000 };

/* ---- parked ---- */

static void print_key(struct columns *columns, const struct parked *parked, int64_t now_us)
{
    struct arena *arena = columns->arena;
    const bool is_stuck = parked->attempts_begun > parked->attempts_ended;

    columns_cell(columns, parked->aggregate_id);
    columns_cell(columns, parked->aggregate_type);
    columns_cell(columns, parked->head_version == parked->seen_version
                              ? arena_printf(arena, "%" PRId64, parked->head_version)
                              : arena_printf(arena, "%" PRId64 "-%" PRId64, parked->head_version,
                                             parked->seen_version));
    columns_i64(columns, parked->attempts_begun);
    columns_brief(columns, parked->parked_us, now_us);
    columns_brief(columns, parked->next_retry_us, now_us);
    columns_note(columns, parked->last_error);
    if (is_stuck)
        columns_note(columns, arena_printf(arena, "%" PRId64 " tries never ended",
                                           parked->attempts_begun - parked->attempts_ended));
}

static bool print_parked(struct session *session, const struct view_parked_list *list, FILE *out,
                         struct error *err)
{
    static const char *const heads[] = {
        "KEY", "TYPE", "VERSIONS", "TRIES", "PARKED AT", "NEXT TRY"
    };
    const int64_t now_us = clock_now_us(&session->clock);

    for (size_t i = 0; i < list->count; i++) {
        const struct view_parked *parked = &list->items[i];
        struct columns columns;

        fprintf(out, "%s%.*s\n", i > 0 ? "\n" : "", STR_ARG(parked->subscription));
        columns_init(&columns, &session->arena, heads, ARRAY_LEN(heads));
        for (size_t k = 0; k < parked->keys.count; k++)
            print_key(&columns, &parked->keys.items[k], now_us);
        if (!columns_print(&columns, out, err))
            return false;
        if (parked->is_full)
            fprintf(out, "(there may be more: --limit)\n");
    }
    if (list->count == 0)
        fprintf(out, "(none)\n");
    return true;
}

/* Of one subscription, wherever its keys are. */
static bool read_one(struct session *session, const char *name, int64_t limit,
                     struct view_parked_list *list, struct error *err)
{
    struct view_parked *parked = ARENA_NEW(&session->arena, struct view_parked);
    struct subscription_home home = { 0 };
    bool ok;

    if (parked == NULL)
        return arena_error(&session->arena, err);
    ok = command_home_open(session, name, &home, err) &&
         store_parked_list(home.store, &session->arena,
                           &(struct parked_query){ .key = home.key, .limit = limit }, &parked->keys,
                           err);
    subscription_home_close(&home);
    parked->subscription = str_of(name);
    parked->is_full = (int64_t)parked->keys.count == limit;
    *list = (struct view_parked_list){ parked, parked->keys.count > 0 };
    return ok;
}

static bool parked(const struct invocation *invocation, struct session *session,
                   enum exit_code *code, struct error *err)
{
    const struct view_reader reader = session_reader(session);
    struct view_parked_list list;
    int64_t limit;
    struct output output;

    (void)code;
    if (!invocation_number(invocation, "limit", (struct option_range){ 1, LIMIT_MAX, LIMIT },
                           &limit, err))
        return false;
    if (invocation->operand_count > 0
            ? !read_one(session, invocation->operands[0], limit, &list, err)
            : !view_parked(&reader, limit, &list, err))
        return false;
    if (!invocation_flag(invocation, "json"))
        return print_parked(session, &list, invocation->out, err);
    view_parked_write(output_begin(&output, &session->arena), &list);
    return output_end(&output, invocation->out, err);
}

static enum exit_code cmd_parked(const struct invocation *invocation)
{
    return session_run(invocation, parked);
}

const struct command OUTBOX_PARKED = {
    .name = "parked",
    .summary = "list the keys that wait",
    .operands = "[NAME]",
    .operands_max = 1,
    .description =
        "Lists the keys whose event a subscription could not deliver, with the versions that\n"
        "wait, how often delivery was tried, the last error and the next try; of one\n"
        "subscription or of all.",
    .options = { { "limit", "N", "At most this many keys of each subscription (100)." },
                 { "json", NULL, "Print JSON." },
                 SESSION_OPTION },
    .run = cmd_parked,
};

/* ---- retry ---- */

static bool retry_some(const struct invocation *invocation, struct session *session,
                       const struct subscription_home *home, struct error *err)
{
    const bool all = invocation_flag(invocation, "all");
    int64_t count;

    (void)session;
    if (!act_parked_retry(home, all ? STR("") : str_of(invocation->operands[1]), &count, err))
        return false;
    fprintf(invocation->out, "%" PRId64 " key%s will be tried now\n", count, count == 1 ? "" : "s");
    return true;
}

static bool retry(const struct invocation *invocation, struct session *session,
                  enum exit_code *code, struct error *err)
{
    (void)code;
    if (invocation_flag(invocation, "all") == (invocation->operand_count > 1))
        return command_misused(err, "name one KEY, or --all");
    return command_home_do(invocation, session, retry_some, err);
}

static enum exit_code cmd_retry(const struct invocation *invocation)
{
    return session_run(invocation, retry);
}

const struct command OUTBOX_RETRY = {
    .name = "retry",
    .summary = "try parked keys at once",
    .operands = "NAME [KEY]",
    .operands_min = 1,
    .operands_max = 2,
    .description =
        "Lets the readers of subscription NAME try a parked key, or --all of them, without\n"
        "waiting for the next try; also those whose tries never ended because a reader died.",
    .options = { { "all", NULL, "Every parked key of the subscription." }, SESSION_OPTION },
    .run = cmd_retry,
};

/* ---- skip ---- */

static bool skip_key(const struct invocation *invocation, struct session *session,
                     const struct subscription_home *home, struct error *err)
{
    const struct act_skip request = { .key = str_of(invocation->operands[1]),
                                      .who = who_am_i(&session->arena),
                                      .note = str_of(invocation_value(invocation, "reason")) };
    struct given_up given;

    if (!act_parked_skip(home, &session->arena, &request, &given, err))
        return false;
    fprintf(invocation->out,
            "%s: %" PRId64 " event%s given up and kept as dead letters; later ones are delivered\n",
            invocation->operands[1], given.events, given.events == 1 ? "" : "s");
    return true;
}

static bool skip(const struct invocation *invocation, struct session *session, enum exit_code *code,
                 struct error *err)
{
    (void)code;
    return command_home_do(invocation, session, skip_key, err);
}

static enum exit_code cmd_skip(const struct invocation *invocation)
{
    return session_run(invocation, skip);
}

const struct command OUTBOX_SKIP = {
    .name = "skip",
    .summary = "give up the events that wait for a parked key",
    .operands = "NAME KEY",
    .operands_min = 2,
    .operands_max = 2,
    .description =
        "The events of KEY that wait are not delivered to subscription NAME; each is kept as a\n"
        "dead letter (patra outbox dead), with who gave it up and why. The key's next event is\n"
        "delivered as usual.",
    .options = { { "reason", "TEXT", "Why; kept with the dead letters." }, SESSION_OPTION },
    .run = cmd_skip,
};

/* ---- pause and resume ---- */

static bool hold(const struct invocation *invocation, struct session *session, bool is_paused,
                 struct str note, struct error *err)
{
    const struct view_reader reader = session_reader(session);
    const struct act_hold request = { .name = str_of(invocation->operands[0]),
                                      .is_paused = is_paused,
                                      .who = who_am_i(&session->arena),
                                      .note = note };
    bool changed;

    if (!act_subscription_hold(&reader, &request, &changed, err))
        return false;
    fprintf(invocation->out, "%s: %s%s\n", invocation->operands[0],
            changed ? "" : (is_paused ? "already " : "was not "),
            !is_paused && changed ? "resumed" : "paused");
    return true;
}

static bool pause_one(const struct invocation *invocation, struct session *session,
                      enum exit_code *code, struct error *err)
{
    (void)code;
    return hold(invocation, session, true, str_of(invocation_value(invocation, "reason")), err);
}

static enum exit_code cmd_pause(const struct invocation *invocation)
{
    return session_run(invocation, pause_one);
}

const struct command OUTBOX_PAUSE = {
    .name = "pause",
    .summary = "hold a subscription",
    .operands = "NAME",
    .operands_min = 1,
    .operands_max = 1,
    .description =
        "Events of a paused subscription are not delivered; its position stays, so that it goes\n"
        "on where it was when it is resumed. Running relays end within some seconds.",
    .options = { { "reason", "TEXT", "Why; patra outbox status shows it." }, SESSION_OPTION },
    .run = cmd_pause,
};

static bool resume_one(const struct invocation *invocation, struct session *session,
                       enum exit_code *code, struct error *err)
{
    (void)code;
    return hold(invocation, session, false, STR(""), err);
}

static enum exit_code cmd_resume(const struct invocation *invocation)
{
    return session_run(invocation, resume_one);
}

const struct command OUTBOX_RESUME = {
    .name = "resume",
    .summary = "let a paused or stopped subscription go on",
    .operands = "NAME",
    .operands_min = 1,
    .operands_max = 1,
    .description =
        "Delivers from where the subscription was. One that was stopped by an event which its\n"
        "bus refuses stops there again, unless the cause is gone or its policy was changed.",
    .options = { SESSION_OPTION },
    .run = cmd_resume,
};
