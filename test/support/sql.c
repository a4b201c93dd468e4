/* Statements run directly by SQLite's library or libpq, without patra's adapters. */
#include "sql.h"

#include <libpq-fe.h>
#include <sqlite3.h>
#include <stdlib.h>
#include <string.h>
#include <time.h>

#include "base/buf.h"
#include "test.h"

/* For others who write, on a machine that has much else to do. */
enum { BUSY_MS = 120000, HOLD_BUSY_MS = 1000 };

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

static PGconn *postgres_of(const char *dsn)
{
    PGconn *db = PQconnectdb(dsn);

    if (PQstatus(db) != CONNECTION_OK)
        test_fail(__FILE__, __LINE__, "no connection: %s", PQerrorMessage(db));
    return db;
}

static int64_t postgres_number(const char *dsn, const char *sql)
{
    PGconn *db = postgres_of(dsn);
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

static bool is_postgres(const char *dsn)
{
    return strncmp(dsn, "postgres", strlen("postgres")) == 0;
}

int64_t sql_number(const char *dsn, const char *sql)
{
    return is_postgres(dsn) ? postgres_number(dsn, sql) : sqlite_number(dsn, sql);
}

static void add_value(struct buf *out, int column, const char *value)
{
    buf_printf(out, "%s%s", column > 0 ? "|" : "", value != NULL ? value : "~");
}

static bool sqlite_rows(struct buf *out, const char *path, const char *sql)
{
    sqlite3 *db = NULL;
    sqlite3_stmt *st = NULL;
    int code = SQLITE_ERROR;

    if (sqlite3_open_v2(path, &db, SQLITE_OPEN_READWRITE, NULL) == SQLITE_OK &&
        sqlite3_busy_timeout(db, 10000) == SQLITE_OK &&
        sqlite3_prepare_v2(db, sql, -1, &st, NULL) == SQLITE_OK) {
        while ((code = sqlite3_step(st)) == SQLITE_ROW) {
            for (int i = 0; i < sqlite3_column_count(st); i++)
                add_value(out, i, (const char *)sqlite3_column_text(st, i));
            buf_add_char(out, '\n');
        }
    }
    if (code != SQLITE_DONE)
        test_fail(__FILE__, __LINE__, "%s: %s", sql, sqlite3_errmsg(db));
    (void)sqlite3_finalize(st);
    (void)sqlite3_close(db);
    return code == SQLITE_DONE;
}

static bool postgres_rows(struct buf *out, const char *dsn, const char *sql)
{
    PGconn *db = postgres_of(dsn);
    PGresult *result = PQexec(db, sql);
    const bool ok = PQresultStatus(result) == PGRES_TUPLES_OK;

    for (int row = 0; row < PQntuples(result); row++) {
        for (int i = 0; i < PQnfields(result); i++)
            add_value(out, i, PQgetisnull(result, row, i) ? NULL : PQgetvalue(result, row, i));
        buf_add_char(out, '\n');
    }
    if (!ok)
        test_fail(__FILE__, __LINE__, "%s: %s", sql, PQerrorMessage(db));
    PQclear(result);
    PQfinish(db);
    return ok;
}

struct str sql_rows(struct arena *arena, const char *dsn, const char *sql)
{
    struct buf out;

    buf_init(&out, arena, 16 << 20);
    REQUIRE(is_postgres(dsn) ? postgres_rows(&out, dsn, sql) : sqlite_rows(&out, dsn, sql),
            "a look into the database");
    return buf_str(&out);
}

static sqlite3 *sqlite_of(const char *path)
{
    sqlite3 *db = NULL;

    REQUIRE(sqlite3_open_v2(path, &db, SQLITE_OPEN_READWRITE, NULL) == SQLITE_OK &&
                sqlite3_busy_timeout(db, BUSY_MS) == SQLITE_OK,
            "the database is there");
    return db;
}

void sql_run(const char *dsn, const char *sql)
{
    bool ok;

    if (is_postgres(dsn)) {
        PGconn *db = postgres_of(dsn);
        PGresult *result = PQexec(db, sql);

        ok = PQresultStatus(result) == PGRES_COMMAND_OK;
        if (!ok)
            test_fail(__FILE__, __LINE__, "%s: %s", sql, PQerrorMessage(db));
        PQclear(result);
        PQfinish(db);
    } else {
        sqlite3 *db = sqlite_of(dsn);

        ok = sqlite3_exec(db, sql, NULL, NULL, NULL) == SQLITE_OK;
        if (!ok)
            test_fail(__FILE__, __LINE__, "%s: %s", sql, sqlite3_errmsg(db));
        (void)sqlite3_close(db);
    }
    REQUIRE(ok, sql);
}

void sql_hold(const char *path, int64_t ms)
{
    const struct timespec time = { ms / 1000, ms % 1000 * 1000000 };
    sqlite3 *db = sqlite_of(path);

    (void)sqlite3_busy_timeout(db, HOLD_BUSY_MS);
    if (sqlite3_exec(db, "BEGIN IMMEDIATE", NULL, NULL, NULL) == SQLITE_OK)
        (void)nanosleep(&time, NULL);
    (void)sqlite3_close(db);
}
