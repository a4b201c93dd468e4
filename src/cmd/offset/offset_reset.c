/* patra offset reset: moves a subscription, after a confirmation, and records who did it. */
#include <inttypes.h>
#include <stdlib.h>
#include <string.h>

#include "cli/confirm.h"
#include "cli/who.h"
#include "cmd/offset/offset.h"
#include "cmd/offset/offset_bus.h"
#include "cmd/subscription_home.h"
#include "engine/lanes/offset_reset.h"

enum { EVENT_ID_LEN = 36 };

static bool is_number(const char *text)
{
    return text[0] != '\0' && strspn(text, "0123456789") == strlen(text) && strlen(text) <= 18;
}

static bool is_event_id(const char *text)
{
    return strlen(text) == EVENT_ID_LEN && text[8] == '-' && text[13] == '-' &&
           strspn(text, "0123456789abcdefABCDEF-") == EVENT_ID_LEN;
}

static bool read_lane(const struct invocation *invocation, struct offset_reset *reset,
                      struct error *err)
{
    reset->lane = RESET_ALL_LANES;
    return invocation_value(invocation, "lane") == NULL ||
           invocation_number(invocation, "lane", (struct option_range){ 0, OUTBOX_LANES - 1, 0 },
                             &reset->lane, err);
}

static bool read_to(const struct invocation *invocation, struct offset_reset *reset,
                    struct error *err)
{
    const char *to = invocation_value(invocation, "to");

    if (to == NULL)
        return command_misused(err, "--to is required: where to go on");
    if (strcmp(to, "earliest") == 0 || strcmp(to, "latest") == 0) {
        reset->kind = to[0] == 'e' ? RESET_EARLIEST : RESET_LATEST;
        return true;
    }
    if (is_event_id(to)) {
        reset->kind = RESET_EVENT;
        reset->event_id = str_of(to);
        return reset->lane == RESET_ALL_LANES ||
               command_misused(err, "--lane: an event has its own lane");
    }
    if (is_number(to)) {
        reset->kind = RESET_POSITION;
        reset->pos = strtoll(to, NULL, 10);
        return reset->lane != RESET_ALL_LANES ||
               command_misused(err, "--to: a position is one of a --lane");
    }
    reset->kind = RESET_TIME;
    return invocation_instant(invocation, "to", reset->now_us, &reset->at_us, err);
}

static bool is_confirmed(const struct invocation *invocation, const struct reset_plan *plan,
                         struct error *err)
{
    fprintf(invocation->talk, "%s: %zu lane%s\n", invocation->operands[0], plan->count,
            plan->count == 1 ? "" : "s");
    if (plan->again > 0)
        fprintf(invocation->talk, "  %" PRId64 " events will be delivered again\n", plan->again);
    if (plan->left_out > 0)
        fprintf(invocation->talk, "  %" PRId64 " events will not be delivered\n", plan->left_out);
    if (plan->parked > 0)
        fprintf(invocation->talk,
                "  %" PRId64 " parked keys are forgotten: what waits for them is"
                " delivered only if it is after the new position\n",
                plan->parked);
    return confirm(invocation, "Move it?", err);
}

static bool run_reset(const struct invocation *invocation, struct session *session,
                      const struct subscription_home *home, struct offset_reset *reset,
                      struct error *err)
{
    struct reset_plan plan;

    reset->store = home->store;
    reset->stream = home->stream;
    reset->key = home->key;
    if (!offset_reset_plan(reset, &session->arena, &plan, err))
        return false;
    if (plan.count == 0) {
        fprintf(invocation->out, "%s is there already; nothing was done\n",
                invocation->operands[0]);
        return true;
    }
    if (!is_confirmed(invocation, &plan, err) ||
        !offset_reset_run(reset, &session->arena, &plan, err))
        return false;
    fprintf(invocation->out,
            "%s: moved in %zu lanes; %" PRId64 " events again, %" PRId64 " left out\n",
            invocation->operands[0], plan.count, plan.again, plan.left_out);
    return true;
}

/* What the options say; now_us is given. */
static bool read_options(const struct invocation *invocation, struct offset_reset *reset,
                         struct error *err)
{
    const char *reason = invocation_value(invocation, "reason");

    reset->reason = str_of(reason != NULL ? reason : "");
    if (!read_lane(invocation, reset, err) || !read_to(invocation, reset, err))
        return false;
    return reset->reason.len > 0 || command_misused(err, "--reason is required: it is kept");
}

static bool reset_one(const struct invocation *invocation, struct session *session,
                      enum exit_code *code, struct error *err)
{
    struct offset_reset reset = { .by = who_am_i(&session->arena),
                                  .now_us = clock_now_us(&session->clock) };
    struct subscription_home home = { 0 };
    bool ok;

    (void)code;
    if (!read_options(invocation, &reset, err))
        return false;
    ok = command_home_open(session, invocation->operands[0], &home, err) &&
         run_reset(invocation, session, &home, &reset, err);
    subscription_home_close(&home);
    return ok;
}

static enum exit_code reset_bus(const struct invocation *invocation)
{
    struct clock clock = system_clock();
    struct offset_reset reset = { .now_us = clock_now_us(&clock) };
    struct error err;

    if (invocation_value(invocation, "bus") == NULL || !offset_is_of_bus(invocation))
        (void)command_misused(&err, "--bus and --sink go together");
    else if (invocation_value(invocation, "lane") != NULL)
        (void)command_misused(&err, "--lane: a bus is moved as a whole");
    else if (read_options(invocation, &reset, &err))
        return offset_bus_reset(invocation, &reset);
    return command_failed(invocation, &err);
}

static enum exit_code cmd_reset(const struct invocation *invocation)
{
    const bool is_of_bus =
        offset_is_of_bus(invocation) || invocation_value(invocation, "bus") != NULL;

    return is_of_bus ? reset_bus(invocation) : session_run(invocation, reset_one);
}

const struct command OFFSET_RESET = {
    .name = "reset",
    .summary = "deliver events again, or leave some out",
    .operands = "NAME",
    .operands_min = 1,
    .operands_max = 1,
    .description =
        "Moves subscription NAME. To an earlier place: what follows is delivered again (rows of a\n"
        "projection keep the higher version). To a later one: what lies in between is not\n"
        "delivered. Parked keys are forgotten. It says first how many events that are, and asks;\n"
        "without a terminal it needs --yes. Who moved it, from where and why is kept in\n"
        "ing_offset_reset, a row per lane.\n"
        "With --bus and --sink it moves projection NAME that is fed from a bus (patra consume\n"
        "--bus), while no consumer of it runs: to a time, an event that it has received, earliest\n"
        "or latest. What was received since is forgotten there, so that it is applied again.",
    .options = { { "to", "PLACE",
                   "A time or how long ago (2h), an event's id, earliest, latest, or with --lane a "
                   "position." },
                 { "lane", "N", "Only this lane, 0 to 63." },
                 { "reason", "TEXT", "Why; kept. Required." },
                 { "yes", NULL, "Do not ask." },
                 { "bus", "FILE", "Without a store: the bus file of what feeds the projection." },
                 { "sink", "DSN", "... where its tables are" },
                 SESSION_OPTION },
    .run = cmd_reset,
};
