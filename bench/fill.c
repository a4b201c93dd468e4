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

static void make_path(struct fill *fill)
{
    (void)snprintf(fill->folder, sizeof(fill->folder), "/tmp/patra_bench.XXXXXX");
    if (mkdtemp(fill->folder) == NULL)
        die("a folder");
    (void)snprintf(fill->path, sizeof(fill->path), "%s/bench.db", fill->folder);
    fill->dsn = fill->path;
}

static void begin_sqlite(struct fill *fill)
{
    sqlite3 *session;

    if (!fill->is_kept)
        make_path(fill);
    if (sqlite3_open(fill->dsn, &session) != SQLITE_OK)
        die("open");
    fill->session = session;
    fill_run(fill, "PRAGMA journal_mode = WAL");
    fill_run(fill, "PRAGMA synchronous = OFF");
}

static bool begin_postgres(struct fill *fill)
{
    struct error err = { 0 };

    if (!fill->is_kept)
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
    *fill = (struct fill){ .is_sqlite = is_sqlite, .dsn = getenv("PATRA_BENCH_STORE") };
    fill->is_kept = fill->dsn != NULL;
    if (fill->is_kept && is_sqlite == (strncmp(fill->dsn, "postgres", 8) == 0))
        return false;
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
    if (fill->is_kept)
        return;
    for (size_t i = 0; i < sizeof(ends) / sizeof(ends[0]); i++) {
        (void)snprintf(path, sizeof(path), "%s%s", fill->path, ends[i]);
        (void)unlink(path);
    }
    (void)rmdir(fill->folder);
}

bool fill_is_done(struct fill *fill)
{
    const char *const sql = "SELECT 1 FROM ing_bench_filled";
    PGresult *result;
    bool is_done;

    if (fill->is_sqlite)
        return sqlite3_exec(fill->session, sql, NULL, NULL, NULL) == SQLITE_OK;
    result = PQexec(fill->session, sql);
    is_done = PQresultStatus(result) == PGRES_TUPLES_OK;
    PQclear(result);
    return is_done;
}

void fill_done(struct fill *fill)
{
    fill_run(fill, "CREATE TABLE ing_bench_filled (n integer)");
    fill_run(fill, fill->is_sqlite ? "ANALYZE" : "VACUUM ANALYZE");
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

static const char STREAM_SQLITE[] =
    "INSERT INTO ing_stream (lane, pos, outbox_id, sequenced_at)"
    " SELECT lane, row_number() OVER (PARTITION BY lane ORDER BY id), id, occurred_at"
    " FROM ing_outbox";
/* Rounds of 2,000, as the sequencer makes them. */
static const char STREAM_POSTGRES[] =
    "INSERT INTO ing_stream (lane, first_pos, last_pos, last_id, sequenced_at, outbox_ids)"
    " SELECT lane, min(pos), max(pos), max(id), max(occurred_at), array_agg(id ORDER BY pos)"
    " FROM (SELECT lane, id, occurred_at, (id - 1) / 2000 AS round,"
    "  row_number() OVER (PARTITION BY lane ORDER BY id) AS pos FROM ing_outbox) AS o"
    " GROUP BY lane, round";

const char *fill_stream(const struct fill *fill)
{
    return fill->is_sqlite ? STREAM_SQLITE : STREAM_POSTGRES;
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
        { "{none}", "x''", "''::bytea" },
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
