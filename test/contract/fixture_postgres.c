#include <libpq-fe.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "contract.h"
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
    end = strstr(path, "/test/contract/");
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

/* Emptying tables is cheaper than making a database. */
static const char EMPTY[] =
    "SET session_replication_role = replica;" /* without foreign keys and triggers */
    "DO $$ DECLARE name text; BEGIN"
    "  FOR name IN SELECT tablename FROM pg_tables"
    "               WHERE tablename LIKE 'ing\\_%' OR tablename LIKE 'reg\\_%' LOOP"
    "    EXECUTE format('DELETE FROM %I', name);"
    "  END LOOP; "
    "END $$";

const char *contract_ready_database(void)
{
    static const char *dsn;

    if (dsn == NULL)
        dsn = contract_migrated(contract_new_database());
    else
        contract_sql(dsn, EMPTY);
    return dsn;
}
