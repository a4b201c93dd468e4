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

void contract_sql(const char *dsn, const char *sql)
{
    sqlite3 *db = NULL;
    char *message = NULL;

    if (sqlite3_open(dsn, &db) != SQLITE_OK ||
        sqlite3_exec(db, sql, NULL, NULL, &message) != SQLITE_OK)
        test_fail(__FILE__, __LINE__, "%s: %s", sql, message != NULL ? message : "not opened");
    sqlite3_free(message);
    (void)sqlite3_close(db);
}
