/* Databases of a PostgreSQL server that the program starts for itself. */
#include <libpq-fe.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "base/buf.h"
#include "contract.h"
#include "core/grants.h"
#include "postgres.h"

/* Started by hand, the program finds its module in the build folder as Meson does. */
__attribute__((constructor)) static void find_modules(void)
{
    char path[4096];
    const ssize_t len = readlink("/proc/self/exe", path, sizeof(path) - 1);
    char *end;

    if (len <= 0)
        return;
    path[len] = '\0';
    end = strstr(path, "/test/");
    if (end != NULL)
        *end = '\0';
    (void)setenv("PATRA_MODULES", path, 0);
}

const char *contract_new_database(void)
{
    struct error err;
    const char *dsn = postgres_new_database(&err);

    if (dsn == NULL && err.level == ERROR_NONE)
        TEST_SKIP("PostgreSQL 15 is not installed");
    if (dsn == NULL) {
        test_fail(__FILE__, __LINE__, "%s", err.text);
        test_abort();
    }
    return dsn;
}

static bool run_sql(const char *dsn, const char *sql, char message[256])
{
    PGconn *connection = PQconnectdb(dsn);
    PGresult *result = PQexec(connection, sql);
    const ExecStatusType status = PQresultStatus(result);

    (void)snprintf(message, 256, "%s", PQerrorMessage(connection));
    PQclear(result);
    PQfinish(connection);
    return status == PGRES_COMMAND_OK || status == PGRES_TUPLES_OK;
}

bool contract_try_sql(const char *dsn, const char *sql)
{
    char message[256];

    return run_sql(dsn, sql, message);
}

void contract_sql(const char *dsn, const char *sql)
{
    char message[256];

    if (!run_sql(dsn, sql, message))
        test_fail(__FILE__, __LINE__, "%s: %s", sql, message);
}

/* ---- roles ---- */

/* Every session is a member of those it asked for. */
#define SESSION_ROLE "patra_test"

static const char *roles_wanted(void)
{
    return getenv("PATRA_TEST_ROLES");
}

void contract_grant(const char *dsn)
{
    const struct grants_request request = { .prefix = STR("patra_"), .schema = STR("public") };
    struct str rest = str_of(roles_wanted());
    struct arena arena;
    struct buf sql;

    if (rest.len == 0)
        return;
    arena_init(&arena, 4 << 20);
    buf_init(&sql, &arena, 1 << 20);
    grants_write(&sql, &request);
    buf_add(&sql, STR("SET client_min_messages = warning; DROP ROLE IF EXISTS " SESSION_ROLE
                      "; CREATE ROLE " SESSION_ROLE ";"));
    while (rest.len > 0) {
        const struct str role = str_cut(&rest, ',');

        buf_printf(&sql, "GRANT patra_%.*s TO " SESSION_ROLE ";", STR_ARG(role));
    }
    buf_add_char(&sql, '\0');
    contract_sql(dsn, sql.data);
    arena_release(&arena);
}

const char *contract_as_roles(const char *dsn)
{
    enum { KEPT = 64 };
    static char kept[KEPT][512]; /* addresses live until the program ends */
    static int next;
    char *address = kept[next];

    if (roles_wanted() == NULL)
        return dsn;
    next = (next + 1) % KEPT;
    (void)snprintf(address, sizeof(kept[0]), "%s%coptions=-crole%%3D" SESSION_ROLE, dsn,
                   strchr(dsn, '?') != NULL ? '&' : '?');
    return address;
}

/* Emptying tables is cheaper than making a database. */
static const char EMPTY[] =
    "SET session_replication_role = replica;" /* without foreign keys and triggers */
    "DO $$ DECLARE name text; BEGIN"
    "  FOR name IN SELECT tablename FROM pg_tables"
    "               WHERE (tablename LIKE 'ing\\_%' OR tablename LIKE 'reg\\_%')"
    "                 AND tablename NOT IN ('ing_stream_head', 'ing_stream_lane') LOOP"
    "    EXECUTE format('DELETE FROM %I', name);"
    "  END LOOP; "
    "END $$;"
    "DELETE FROM sys_clock;" /* every test has a time of its own */
    "UPDATE ing_stream_lane SET last_pos = 0;"
    "UPDATE ing_stream_head SET cursor_id = 0, horizon_id = 0, pruned_id = 0, lease_owner = NULL,"
    " leased_until = NULL, lease_epoch = 0";

static struct {
    const char *dsn;
    PGconn *db;    /* the look from outside; opened by the first digest */
    char *digests; /* the statement that makes a digest of every table */
} ready;

const char *contract_ready_database(void)
{
    if (ready.dsn == NULL)
        ready.dsn = contract_migrated(contract_new_database());
    else
        contract_sql(ready.dsn, EMPTY);
    return ready.dsn;
}

/* A commit takes many times as long as one of SQLite in RAM. */
int contract_rounds(int count)
{
    enum { PART = 10 };
    const int rounds = (count + PART - 1) / PART;

    test_note("on PostgreSQL %d of %d rounds", rounds, count);
    return test_rounds(rounds);
}

static const char DIGESTS[] =
    "SELECT string_agg(format('SELECT %L, count(*), hashtextextended(coalesce(string_agg("
    "t::text, chr(10) ORDER BY t::text), %L), 0) FROM %I t', tablename, '', tablename),"
    " ' UNION ALL ' ORDER BY tablename) || ' ORDER BY 1'" /* a parallel plan has any order */
    " FROM pg_tables WHERE tablename LIKE 'ing\\_%' OR tablename LIKE 'reg\\_%'";

static PGresult *queried(const char *sql)
{
    PGresult *result = PQexec(ready.db, sql);

    REQUIRE(PQresultStatus(result) == PGRES_TUPLES_OK, PQerrorMessage(ready.db));
    return result;
}

static void open_look(void)
{
    PGresult *result;

    ready.db = PQconnectdb(ready.dsn);
    REQUIRE(PQstatus(ready.db) == CONNECTION_OK, PQerrorMessage(ready.db));
    result = queried(DIGESTS);
    ready.digests = strdup(PQgetvalue(result, 0, 0));
    PQclear(result);
}

uint64_t contract_digest(void)
{
    uint64_t digest = UINT64_C(0xcbf29ce484222325);
    PGresult *result;

    if (ready.db == NULL)
        open_look();
    result = queried(ready.digests);
    for (int i = 0; i < PQntuples(result) * PQnfields(result); i++) {
        const char *text = PQgetvalue(result, i / PQnfields(result), i % PQnfields(result));

        for (; *text != '\0'; text++)
            digest = (digest ^ (unsigned char)*text) * UINT64_C(0x100000001b3);
    }
    PQclear(result);
    return digest;
}
