/* Fills databases by their own libraries. */
#include "fill.h"

#include <inttypes.h>
#include <libpq-fe.h>
#include <sqlite3.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "base/error.h"
#include "postgres.h"

enum { SQL_BYTES = 8192 };

static void die(const char *what)
{
    fprintf(stderr, "bench: %s\n", what);
    exit(1);
}

static void begin_sqlite(struct fill *fill)
{
    sqlite3 *session;

    (void)snprintf(fill->folder, sizeof(fill->folder), "/tmp/patra_bench.XXXXXX");
    if (mkdtemp(fill->folder) == NULL)
        die("a folder");
    (void)snprintf(fill->path, sizeof(fill->path), "%s/bench.db", fill->folder);
    if (sqlite3_open(fill->path, &session) != SQLITE_OK)
        die("open");
    fill->session = session;
    fill->dsn = fill->path;
    fill_run(fill, "PRAGMA journal_mode = WAL");
    fill_run(fill, "PRAGMA synchronous = OFF");
}

static bool begin_postgres(struct fill *fill)
{
    struct error err = { 0 };

    fill->dsn = postgres_new_database(&err);
    if (fill->dsn == NULL && err.level == ERROR_NONE) {
        printf("PostgreSQL 15 is not installed\n");
        return false;
    }
    if (fill->dsn == NULL)
        die(err.text);
    fill->session = PQconnectdb(fill->dsn);
    if (PQstatus(fill->session) != CONNECTION_OK)
        die(PQerrorMessage(fill->session));
    return true;
}

bool fill_begin(struct fill *fill, bool is_sqlite, const char *only)
{
    *fill = (struct fill){ .is_sqlite = is_sqlite };
    if (only[0] != '\0' && strcmp(only, is_sqlite ? "sqlite" : "postgres") != 0)
        return false;
    if (!is_sqlite)
        return begin_postgres(fill);
    begin_sqlite(fill);
    return true;
}

void fill_end(struct fill *fill)
{
    static const char *const ends[] = { "", "-wal", "-shm" };
    char path[128];

    if (!fill->is_sqlite) {
        PQfinish(fill->session);
        return;
    }
    (void)sqlite3_close(fill->session);
    for (size_t i = 0; i < sizeof(ends) / sizeof(ends[0]); i++) {
        (void)snprintf(path, sizeof(path), "%s%s", fill->path, ends[i]);
        (void)unlink(path);
    }
    (void)rmdir(fill->folder);
}

void fill_run(struct fill *fill, const char *sql)
{
    PGresult *result;
    char *text;

    if (fill->is_sqlite) {
        if (sqlite3_exec(fill->session, sql, NULL, NULL, &text) != SQLITE_OK)
            die(text);
        return;
    }
    result = PQexec(fill->session, sql);
    if (PQresultStatus(result) != PGRES_COMMAND_OK && PQresultStatus(result) != PGRES_TUPLES_OK)
        die(PQerrorMessage(fill->session));
    PQclear(result);
}

void fill_rows(struct fill *fill, const char *sql, int64_t count)
{
    static const struct {
        const char *word, *sqlite, *postgres;
    } words[] = {
        { "{series}",
          "FROM (WITH RECURSIVE g(n) AS (VALUES (1) UNION ALL SELECT n + 1 FROM g WHERE n < %s)"
          " SELECT n FROM g) AS g",
          "FROM generate_series(1::bigint, %s) AS g(n)" },
        { "{at ", "((", "(timestamptz 'epoch' + interval '1 microsecond' * (" },
        { "{uuid}", "'00000000-0000-7000-8000-' || printf('%012d', n)",
          "('00000000-0000-7000-8000-' || lpad(n::text, 12, '0'))::uuid" },
        { "{bytes}", "CAST('{\"fields\":{}}' AS BLOB)", "'{\"fields\":{}}'::bytea" },
        { "{json}", "'{}'", "'{}'" },
        { "{no}", "0", "false" },
        { "{yes}", "1", "true" },
        { "}", "))", "))" },
    };
    char number[32], out[SQL_BYTES];
    size_t len = 0;

    (void)snprintf(number, sizeof(number), "%" PRId64, count);
    while (*sql != '\0') {
        size_t i = 0;

        while (i < sizeof(words) / sizeof(words[0]) &&
               strncmp(sql, words[i].word, strlen(words[i].word)) != 0)
            i++;
        if (i == sizeof(words) / sizeof(words[0])) {
            out[len++] = *sql++;
            continue;
        }
        for (const char *p = fill->is_sqlite ? words[i].sqlite : words[i].postgres; *p != '\0';
             p++) {
            if (p[0] == '%' && p[1] == 's') {
                memcpy(out + len, number, strlen(number));
                len += strlen(number);
                p++;
            } else {
                out[len++] = *p;
            }
        }
        sql += strlen(words[i].word);
    }
    out[len] = '\0';
    fill_run(fill, out);
}
