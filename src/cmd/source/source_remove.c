/* patra source remove: takes a source out of force, after a confirmation. */
#include <inttypes.h>

#include "cli/confirm.h"
#include "cmd/source/source.h"
#include "engine/retire/retire.h"
#include "engine/source/source_store.h"
#include "port/store_lease.h"

enum { RECLAIM_MAX = 10000 };

static const char *plural(int64_t count)
{
    return count == 1 ? "" : "s";
}

static void tell(const struct invocation *invocation, struct str code,
                 const struct retire_view *view, bool with_data)
{
    fprintf(invocation->talk,
            "%.*s\n"
            "  Registry   %" PRId64 " row%s of version %" PRId64
            " will be ended; they can still be "
            "shown with --at\n"
            "  tasks      %" PRId64 " waiting will be cancelled, with their plans\n",
            STR_ARG(code), view->rows, plural(view->rows), view->version, view->waiting);
    if (with_data)
        fprintf(invocation->talk,
                "  records    all of them will be deleted: emptied, with an event for each\n"
                "  cursors    stay, and so do plans, runs, quarantine and all events\n");
    else
        fprintf(invocation->talk, "  records    stay, and so do cursors, plans, runs, quarantine "
                                  "and events\n");
}

static bool remove_one(const struct invocation *invocation, struct session *session,
                       enum exit_code *code, struct error *err)
{
    const struct str name = str_of(invocation->operands[0]);
    const bool with_data = invocation_flag(invocation, "with-data");
    struct retire_result result;
    struct retire_view view;
    struct source source;
    int64_t deleted = 0, reclaimed, now_us;

    (void)code;
    /* The tasks of a worker that died are not under way. */
    if (!session_time(session, &now_us, err) ||
        !store_lease_reclaim(session->store, now_us, RECLAIM_MAX, &reclaimed, err) ||
        !retire_look(session->store, &session->arena, name, now_us, &view, err))
        return false;
    if (view.running > 0)
        return error_set(err, ERROR_TRANSIENT, "source.busy",
                         "%" PRId64
                         " task%s of %.*s %s under way: stop the workers, or wait until they "
                         "have ended (patra status)",
                         view.running, view.running == 1 ? "" : "s", STR_ARG(name),
                         view.running == 1 ? "is" : "are");
    tell(invocation, name, &view, with_data);
    if (!confirm(invocation, "Remove it?", err))
        return false;
    if (with_data && !source_load(session->store, &session->arena, name, INSTANT_MAX, &source, err))
        return false;
    if (!retire_source(session->store, &session->arena, name, now_us, &result, err) ||
        (with_data && !retire_records(session->store,
                                      &(struct retire_records){ &source, now_us, &session->random },
                                      &deleted, err)))
        return false;
    fprintf(invocation->out, "%.*s: removed, %" PRId64 " row%s ended, %" PRId64 " task%s cancelled",
            STR_ARG(name), result.rows, plural(result.rows), result.cancelled,
            plural(result.cancelled));
    if (with_data)
        fprintf(invocation->out, ", %" PRId64 " record%s deleted", deleted, plural(deleted));
    fprintf(invocation->out, "\n");
    return true;
}

static enum exit_code cmd_remove(const struct invocation *invocation)
{
    return session_run(invocation, remove_one);
}

const struct command COMMAND_SOURCE_REMOVE = {
    .name = "remove",
    .summary = "take a source out of force",
    .operands = "SOURCE",
    .operands_min = 1,
    .operands_max = 1,
    .description =
        "Ends the rows of a source in the Registry and cancels the tasks that wait, so that\n"
        "nothing of it runs any more. Says what it will do and asks first. Records, cursors,\n"
        "plans, runs and events stay: a source that is applied again continues where it was.\n"
        "Refused while tasks of the source are under way (exit code 3).\n"
        "\n"
        "With --with-data, the records are deleted as if the source had deleted them: their\n"
        "content is emptied, and an event tells consumers. Their ids and versions stay, because\n"
        "versions never go back. Cursors stay, too: to fetch the\n"
        "records again after applying the source, set its cursor back with patra cursor reset.",
    .options = { { "with-data", NULL, "Delete the records, too." },
                 { "yes", NULL, "Do not ask." },
                 SESSION_OPTION },
    .run = cmd_remove,
};
