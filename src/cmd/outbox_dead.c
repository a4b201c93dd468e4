/* patra outbox dead and redrive: events that were given up. */
#include <inttypes.h>

#include "cli/columns.h"
#include "cli/output.h"
#include "cli/who.h"
#include "cmd/outbox.h"
#include "cmd/subscription_home.h"
#include "engine/lanes/redrive.h"

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

static void write_letter(struct json_writer *w, const struct letter *letter)
{
    json_write_object(w);
    json_write_member_str(w, STR("eventId"), letter->dead.event_id);
    json_write_member_str(w, STR("type"), letter->dead.aggregate_type);
    json_write_member_str(w, STR("key"), letter->dead.aggregate_id);
    json_write_member_i64(w, STR("version"), letter->dead.version);
    json_write_member_i64(w, STR("tries"), letter->dead.attempts);
    json_write_member_str(w, STR("reason"), letter->dead.reason);
    json_write_member_instant(w, STR("deadAt"), letter->dead.dead_us);
    if (letter->is_redriven) {
        json_write_member_instant(w, STR("redrivenAt"), letter->redriven_us);
        json_write_member_str(w, STR("redrivenBy"), letter->redriven_by);
    }
    json_write_end(w);
}

static bool print_json(struct session *session, const struct letter_list *list, FILE *out,
                       struct error *err)
{
    struct output output;
    struct json_writer *w = output_begin(&output, &session->arena);

    json_write_array(w);
    for (size_t i = 0; i < list->count; i++)
        write_letter(w, &list->items[i]);
    json_write_end(w);
    return output_end(&output, out, err);
}

static bool list_letters(const struct invocation *invocation, struct session *session,
                         const struct subscription_home *home, struct error *err)
{
    struct letter_query query = { .key = home->key,
                                  .has_redriven = invocation_flag(invocation, "all") };
    struct letter_list list;

    if (!invocation_number(invocation, "limit", (struct option_range){ 1, LIMIT_MAX, LIMIT },
                           &query.limit, err) ||
        !store_parked_letters(home->store, &session->arena, &query, &list, err))
        return false;
    return invocation_flag(invocation, "json")
               ? print_json(session, &list, invocation->out, err)
               : print_table(session, &list, home->now_us, invocation->out, err);
}

static bool dead(const struct invocation *invocation, struct session *session, enum exit_code *code,
                 struct error *err)
{
    struct subscription_home home = { 0 };
    const bool ok = subscription_home_open(session, invocation->operands[0], &home, err) &&
                    list_letters(invocation, session, &home, err);

    (void)code;
    subscription_home_close(&home);
    return ok;
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
    struct redrive_request request = { .store = home->store,
                                       .stream = home->stream,
                                       .key = home->key,
                                       .by = who_am_i(&session->arena),
                                       .now_us = home->now_us };
    struct redriven redriven;

    if (!all)
        request.aggregate_id = str_of(invocation->operands[1]);
    if (!redrive(&request, &redriven, err))
        return false;
    if (redriven.events == 0 && redriven.gone == 0 && !all)
        return error_set(err, ERROR_REQUEST, "dead.unknown",
                         "no event of %s is a dead letter of %s", invocation->operands[1],
                         invocation->operands[0]);
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
    struct subscription_home home = { 0 };
    bool ok;

    (void)code;
    if (invocation_flag(invocation, "all") == (invocation->operand_count > 1))
        return command_misused(err, "name one KEY, or --all");
    ok = subscription_home_open(session, invocation->operands[0], &home, err) &&
         run_redrive(invocation, session, &home, err);
    subscription_home_close(&home);
    return ok;
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
