/* patra init: creates the store, or migrates it. */
#include "cmd/init.h"

#include <inttypes.h>

#include "cli/session.h"

static bool init(struct session *session, const struct invocation *invocation, struct error *err)
{
    struct store_schema schema;
    struct session_made made;

    if (!session_init(session, invocation, &made, err) ||
        !store_schema(session->store, &schema, err))
        return false;
    fprintf(invocation->out, "%.*s is ready: schema %" PRId64 ", %" PRId64 " %s applied.\n",
            STR_ARG(session->dsn), schema.version, made.migrations,
            made.migrations == 1 ? "migration" : "migrations");
    if (made.words > 0)
        fprintf(invocation->out, "%" PRId64 " %s of the dictionaries restored.\n", made.words,
                made.words == 1 ? "word" : "words");
    if (made.migrations == schema.version)
        fprintf(invocation->talk, "Next: patra source lint FILE, then patra source apply FILE.\n");
    return true;
}

static enum exit_code cmd_init(const struct invocation *invocation)
{
    struct session session = { 0 };
    struct error err;
    const bool ok = init(&session, invocation, &err);

    session_close(&session);
    return ok ? EXIT_DONE : command_failed(invocation, &err);
}

const struct command COMMAND_INIT = {
    .name = "init",
    .summary = "create the store, or migrate an older one",
    .operands_max = 0,
    .description =
        "Creates the store if it does not exist, applies the migrations that it lacks, and\n"
        "restores words that were removed from its dictionaries (sys_dict_item).\n"
        "Running it again does nothing; running it twice at the same time is safe. A store that\n"
        "a newer patra has migrated is refused.",
    .options = { SESSION_OPTION },
    .run = cmd_init,
};
