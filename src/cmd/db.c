/* patra db grants. */
#include "cmd/db.h"

#include <stdlib.h>

#include "adapter/store_open.h"
#include "cli/output.h"
#include "core/grants.h"

enum { SCRIPT_MAX = 1 << 20 };

static bool read_name(const struct invocation *invocation, const char *option,
                      const char *otherwise, struct str *name, struct error *err)
{
    const char *given = invocation_value(invocation, option);

    *name = str_of(given != NULL ? given : otherwise);
    return grants_name_ok(*name) ||
           command_misused(err, "--%s: '%s' is not a name of lower-case letters, digits and _",
                           option, given);
}

static bool read_request(const struct invocation *invocation, struct grants_request *request,
                         struct error *err)
{
    const char *role = invocation_value(invocation, "role");

    if (!read_name(invocation, "prefix", "patra_", &request->prefix, err) ||
        !read_name(invocation, "schema", "public", &request->schema, err))
        return false;
    request->only = role != NULL;
    return role == NULL || grant_role_find(str_of(role), &request->role) ||
           command_misused(
               err, "--role: '%s' is not planner, executor, publisher, consumer or reader", role);
}

/* Only the address is looked at: whoever prints the script need not reach the database. */
static bool check_kind(const struct invocation *invocation, struct error *err)
{
    const char *given = invocation_value(invocation, "store");
    const char *dsn = given != NULL ? given : getenv("PATRA_STORE");

    return (dsn != NULL && store_dsn_kind(str_of(dsn)) == STORE_POSTGRES) ||
           error_set(err, ERROR_REQUEST, "db.grants",
                     "SQLite has no roles: whoever can open the file can read and write it, so "
                     "restrict the file itself (chmod, a user of its own). With --store "
                     "postgresql://... the roles of PostgreSQL are printed");
}

static bool grants(const struct invocation *invocation, struct arena *arena, struct error *err)
{
    struct grants_request request = { 0 };
    struct buf script;

    if (!read_request(invocation, &request, err) || !check_kind(invocation, err))
        return false;
    buf_init(&script, arena, SCRIPT_MAX);
    grants_write(&script, &request);
    return output_text(invocation->out, &script, err);
}

static enum exit_code cmd_grants(const struct invocation *invocation)
{
    enum exit_code code = EXIT_DONE;
    struct arena arena;
    struct error err;

    arena_init(&arena, 2 * SCRIPT_MAX);
    if (!grants(invocation, &arena, &err))
        code = command_failed(invocation, &err);
    arena_release(&arena);
    return code;
}

static const struct command DB_GRANTS = {
    .name = "grants",
    .summary = "print roles and privileges for the processes of a PostgreSQL store",
    .operands_max = 0,
    .description =
        "Prints SQL that makes a role for each part of patra (planner, executor, publisher,\n"
        "consumer, reader) and gives it what that part needs and no more. Run it as the owner\n"
        "of the tables, after patra init and after each upgrade: patra db grants | psql. Then\n"
        "grant the roles to the users of your processes. SQLite has no roles. See\n"
        "docs/operate.md.",
    .options = { { "role", "ROLE", "Only this one." },
                 { "prefix", "NAME", "What the names of the roles begin with (patra_)." },
                 { "schema", "NAME", "The schema of the tables (public)." },
                 { "store", "DSN",
                   "The store, which must be postgresql://... (else $PATRA_STORE)." } },
    .run = cmd_grants,
};

static const struct command *const children[] = { &DB_GRANTS, NULL };

const struct command COMMAND_DB = {
    .name = "db",
    .summary = "look after the database of the store",
    .description = "What an administrator of the database needs.",
    .children = children,
};
