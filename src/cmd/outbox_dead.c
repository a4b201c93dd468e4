/* patra outbox dead and redrive: events that were given up. */
#include <inttypes.h>

#include "cli/columns.h"
#include "cli/output.h"
#include "cli/who.h"
#include "cmd/outbox.h"
#include "cmd/subscription_home.h"
#include "view/outbox.h"

enum { LIMIT = 100, LIMIT_MAX = 10000 };

/* ---- dead ---- */

static bool print_table(struct session *session, const struct letter_list *list, int64_t now_us,
                        FILE *out, struct error *err)
{
    static const char *const heads[] = {
        "KEY", "TYPE", "VERSION", "TRIES", "DEAD SINCE", "REDRIVEN"
    };
    struct columns columns;

    if (list->count == 0) {
        fprintf(out, "(none)\n");
        return true;
    }
    columns_init(&columns, &session->arena, heads, ARRAY_LEN(heads));
    for (size_t i = 0; i < list->count; i++) {
        const struct letter *letter = &list->items[i];

        columns_cell(&columns, letter->dead.aggregate_id);
        columns_cell(&columns, letter->dead.aggregate_type);
        columns_i64(&columns, letter->dead.version);
        columns_i64(&columns, letter->dead.attempts);
        columns_brief(&columns, letter->dead.dead_us, now_us);
        if (letter->is_redriven)
            columns_brief(&columns, letter->redriven_us, now_us);
        else
            columns_cell(&columns, STR("-"));
        columns_note(&columns, letter->dead.reason);
    }
    return columns_print(&columns, out, err);
}

static bool list_letters(const struct invocation *invocation, struct session *session,
                         const struct subscription_home *home, struct error *err)
{
    struct letter_query query = { .key = home->key,
                                  .has_redriven = invocation_flag(invocation, "all") };
    struct letter_list list;
    struct output output;

    if (!invocation_number(invocation, "limit", (struct option_range){ 1, LIMIT_MAX, LIMIT },
                           &query.limit, err) ||
        !store_parked_letters(home->store, &session->arena, &query, &list, err))
        return false;
    if (!invocation_flag(invocation, "json"))
        return print_table(session, &list, home->now_us, invocation->out, err);
    view_letter_list_write(output_begin(&output, &session->arena), &list);
    return output_end(&output, invocation->out, err);
}

static bool dead(const struct invocation *invocation, struct session *session, enum exit_code *code,
                 struct error *err)
{
    (void)code;
    return command_home_do(invocation, session, list_letters, err);
}

static enum exit_code cmd_dead(const struct invocation *invocation)
{
    return session_run(invocation, dead);
}

const struct command OUTBOX_DEAD = {
    .name = "dead",
    .summary = "list the events that were given up",
    .operands = "NAME",
    .operands_min = 1,
    .operands_max = 1,
    .description =
        "Lists the dead letters of subscription NAME: events that a person gave up (patra outbox\n"
        "skip), or that a projection could not apply in as many tries as its file allows. The\n"
        "oldest come first, each with its reason.",
    .options = { { "all", NULL, "Also those that were redriven." },
                 { "limit", "N", "At most this many (100)." },
                 { "json", NULL, "Print JSON." },
                 SESSION_OPTION },
    .run = cmd_dead,
};

/* ---- redrive ---- */

static bool run_redrive(const struct invocation *invocation, struct session *session,
                        const struct subscription_home *home, struct error *err)
{
    const bool all = invocation_flag(invocation, "all");
    const struct str key = all ? STR("") : str_of(invocation->operands[1]);
    struct redriven redriven;

    if (!act_redrive(home, key, who_am_i(&session->arena), &redriven, err))
        return false;
    fprintf(invocation->out, "%" PRId64 " event%s will be delivered now\n", redriven.events,
            redriven.events == 1 ? "" : "s");
    if (redriven.gone > 0)
        fprintf(invocation->out, "%" PRId64 " cannot be: the outbox does not have them any more\n",
                redriven.gone);
    return true;
}

static bool redrive_some(const struct invocation *invocation, struct session *session,
                         enum exit_code *code, struct error *err)
{
    (void)code;
    if (invocation_flag(invocation, "all") == (invocation->operand_count > 1))
        return command_misused(err, "name one KEY, or --all");
    return command_home_do(invocation, session, run_redrive, err);
}

static enum exit_code cmd_redrive(const struct invocation *invocation)
{
    return session_run(invocation, redrive_some);
}

const struct command OUTBOX_REDRIVE = {
    .name = "redrive",
    .summary = "deliver events that were given up",
    .operands = "NAME [KEY]",
    .operands_min = 1,
    .operands_max = 2,
    .description =
        "The dead letters of KEY, or --all of them, are delivered by the readers of subscription\n"
        "NAME, before any event of their key that comes from now on. What was delivered since\n"
        "stays: a row keeps the higher version, and a bus gets the event again under the same\n"
        "id, after later ones. An event that fails again is a dead letter again.",
    .options = { { "all", NULL, "Every dead letter of the subscription." }, SESSION_OPTION },
    .run = cmd_redrive,
};
