/* patra clock: the time by which the store goes. */
#include "cmd/clock.h"

#include <inttypes.h>

#include "act/clock.h"
#include "cli/confirm.h"
#include "cli/output.h"
#include "cli/session.h"
#include "cli/who.h"
#include "view/clock.h"

/* ---- show ---- */

static void say(const struct store_time *time, FILE *out)
{
    char text[INSTANT_TEXT_MAX];

    (void)instant_format(time->calendar_us, text);
    fprintf(out, "the clock     %s\n", text);
    if (time->seen_us != 0) {
        (void)instant_format(time->seen_us, text);
        fprintf(out, "latest seen   %s\n", text);
    }
    if (time->jump == CLOCK_AHEAD) {
        (void)instant_format(time->now_us, text);
        fprintf(out, "patra goes by %s\n", text);
    }
}

static bool show(const struct invocation *invocation, struct session *session, enum exit_code *code,
                 struct error *err)
{
    struct store_time time;
    struct output output;
    struct str need;

    if (!store_time_look(session->store, &session->clock, &time, err))
        return false;
    if (time.jump != CLOCK_STEADY)
        *code = EXIT_FOUND;
    if (invocation_flag(invocation, "json")) {
        view_clock_write(output_begin(&output, &session->arena), &time);
        return output_end(&output, invocation->out, err);
    }
    say(&time, invocation->out);
    need = view_clock_need(&session->arena, &time);
    if (need.len > 0)
        fprintf(invocation->out, "%.*s\n", STR_ARG(need));
    return true;
}

static enum exit_code cmd_show(const struct invocation *invocation)
{
    return session_run(invocation, show);
}

static const struct command show_command = {
    .name = "show",
    .summary = "the clock, and the latest time that the store has seen",
    .operands_max = 0,
    .description =
        "Shows the clock by which the store goes (the host's; with PostgreSQL, the server's) and\n"
        "the latest time that the store has seen. The exit code is 1 if they do not agree. See\n"
        "docs/operate.md.",
    .options = { { "json", NULL, "Print JSON." }, SESSION_OPTION },
    .run = cmd_show,
};

/* ---- accept ---- */

static bool is_confirmed(const struct invocation *invocation, const struct store_time *time,
                         struct error *err)
{
    if (invocation_flag(invocation, "yes"))
        return true;
    say(time, invocation->talk);
    if (time->jump == CLOCK_BEHIND)
        fprintf(invocation->talk, "What was written for later is brought back to now, and cursors "
                                  "that were moved then are set back.\n");
    return confirm(invocation, "Is the clock right?", err);
}

static bool accept_clock(const struct invocation *invocation, struct session *session,
                         enum exit_code *code, struct error *err)
{
    const struct view_reader reader = session_reader(session);
    const struct store_mark_mended *mended;
    struct act_clock_accepted accepted;
    struct store_time time;

    (void)code;
    if (!store_time_look(session->store, &session->clock, &time, err))
        return false;
    if (time.jump == CLOCK_STEADY) {
        fprintf(invocation->out, "the clock is steady; nothing was done\n");
        return true;
    }
    if (!is_confirmed(invocation, &time, err) ||
        !act_clock_accept(&reader, who_am_i(&session->arena), &accepted, err))
        return false;
    mended = &accepted.mended;
    fprintf(invocation->out, "the store goes by the clock from now on\n");
    if (time.jump == CLOCK_BEHIND)
        fprintf(invocation->out,
                "set back: %" PRId64 " cursors; brought back to now: %" PRId64
                " rows of sources, %" PRId64 " ticks, %" PRId64 " tasks, %" PRId64
                " records, %" PRId64 " others\n",
                accepted.cursors, mended->settings, mended->ticks, mended->tasks, mended->records,
                mended->others);
    return true;
}

static enum exit_code cmd_accept(const struct invocation *invocation)
{
    return session_run(invocation, accept_clock);
}

static const struct command accept_command = {
    .name = "accept",
    .summary = "go by the clock as it is now",
    .operands_max = 0,
    .description =
        "After the clock was set: says that it is right now. If it was set ahead, the store goes\n"
        "by it from now on. If the store has seen a later time, the clock was wrong then: what\n"
        "was written for later is brought back to now, and cursors that were moved then are set\n"
        "back to where they were before, so that the next harvests read what they passed. Stop\n"
        "workers before that. The command asks for confirmation; without a terminal it needs\n"
        "--yes.",
    .options = { { "yes", NULL, "Do not ask for confirmation." }, SESSION_OPTION },
    .run = cmd_accept,
};

static const struct command *const children[] = { &show_command, &accept_command, NULL };

const struct command COMMAND_CLOCK = {
    .name = "clock",
    .summary = "the time by which the store goes, and whether it can be believed",
    .children = children,
};
