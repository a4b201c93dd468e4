#include "sql.h"

#include <libpq-fe.h>
#include <sqlite3.h>
#include <stdlib.h>
#include <string.h>

#include "test.h"

static int64_t sqlite_number(const char *path, const char *sql)
{
    sqlite3 *db = NULL;
    sqlite3_stmt *st = NULL;
    int64_t value = 0;
    bool ok;

    ok = sqlite3_open_v2(path, &db, SQLITE_OPEN_READWRITE, NULL) == SQLITE_OK &&
         sqlite3_busy_timeout(db, 10000) == SQLITE_OK &&
         sqlite3_prepare_v2(db, sql, -1, &st, NULL) == SQLITE_OK && sqlite3_step(st) == SQLITE_ROW;
    if (ok)
        value = sqlite3_column_int64(st, 0);
    else
        test_fail(__FILE__, __LINE__, "%s: %s", sql, sqlite3_errmsg(db));
    (void)sqlite3_finalize(st);
    (void)sqlite3_close(db);
    REQUIRE(ok, "a look into the database");
    return value;
}

static int64_t postgres_number(const char *dsn, const char *sql)
{
    PGconn *db = PQconnectdb(dsn);
    PGresult *result = PQexec(db, sql);
    const bool ok = PQresultStatus(result) == PGRES_TUPLES_OK && PQntuples(result) > 0;
    const int64_t value = ok ? strtoll(PQgetvalue(result, 0, 0), NULL, 10) : 0;

    if (!ok)
        test_fail(__FILE__, __LINE__, "%s: %s", sql, PQerrorMessage(db));
    PQclear(result);
    PQfinish(db);
    REQUIRE(ok, "a look into the database");
    return value;
}

int64_t sql_number(const char *dsn, const char *sql)
{
    return strncmp(dsn, "postgres", strlen("postgres")) == 0 ? postgres_number(dsn, sql)
                                                             : sqlite_number(dsn, sql);
}
