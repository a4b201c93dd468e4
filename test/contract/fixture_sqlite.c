#include <sqlite3.h>
#include <stdio.h>

#include "contract.h"

enum { DATABASES_MAX = 1000, PATH_MAX_BYTES = 128 };

const char *contract_new_database(void)
{
    static char paths[DATABASES_MAX][PATH_MAX_BYTES];
    static int count;
    char *path = paths[count];

    REQUIRE(count < DATABASES_MAX, "databases of one program");
    (void)snprintf(path, PATH_MAX_BYTES, "%s/%d.db", test_folder(), count++);
    return path;
}

static bool run_sql(const char *dsn, const char *sql, char message[256])
{
    sqlite3 *db = NULL;
    const bool ok =
        sqlite3_open(dsn, &db) == SQLITE_OK && sqlite3_exec(db, sql, NULL, NULL, NULL) == SQLITE_OK;

    (void)snprintf(message, 256, "%s", sqlite3_errmsg(db));
    (void)sqlite3_close(db);
    return ok;
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

const char *contract_ready_database(void)
{
    return contract_migrated(contract_new_database());
}
