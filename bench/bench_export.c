/* bench_export: patra record export of a million records, beside SELECT payload by the database's
 * own shell (sqlite3, psql); on SQLite also beside a bare loop over the payloads, and one over all
 * columns that an export has. Of small records most of the time is spent on these columns: what
 * SQLite needs for them is the most that any program could reach.
 *
 * All write to /dev/null, each in a process of its own, one after the other, several times; the
 * file is in the page cache. Printed are the ratios of the medians of their times, and the most
 * memory that patra had. Wanted: a ratio of 0.5 or more to the sqlite3 shell, 64 MiB or less.
 *
 *      bench_export [RECORDS [BYTES [STORE]]]
 *
 * By default 1,000,000 of 4,700 bytes, as Crossref's are, in a SQLite file that is removed. A STORE
 * (a file, postgresql://...) stays: it is filled when it is empty, and used as it is when not.
 */
#include <fcntl.h>
#include <sqlite3.h>
#include <stdbool.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/resource.h>
#include <sys/wait.h>
#include <unistd.h>

#include "seconds.h"

enum { ROUNDS = 5, PATH_BYTES = 512, SQL_BYTES = 2048, RECORDS = 1000000, BYTES = 4700 };

struct spent {
    int status; /* of the process */
    double seconds;
    double cpu_s; /* fairer where others use the machine too */
    long max_kib;
};

/* What is measured: patra, and the store that it reads. */
struct subject {
    char patra[PATH_BYTES];
    char store[PATH_BYTES];
    bool is_sqlite;
};

static const char SQLITE3[] = "/usr/bin/sqlite3";
static const char PSQL[] = "/usr/bin/psql";

static void fail(const char *what)
{
    fprintf(stderr, "bench_export: %s\n", what);
    exit(1);
}

/* ---- programs ---- */

static void to_null(void)
{
    const int null = open("/dev/null", O_WRONLY);

    if (null < 0 || dup2(null, STDOUT_FILENO) < 0 || dup2(null, STDERR_FILENO) < 0)
        _exit(126);
}

static struct spent wait_for(pid_t pid, double from)
{
    struct rusage usage;
    struct spent spent;

    if (wait4(pid, &spent.status, 0, &usage) != pid)
        fail("a program was lost");
    spent.seconds = now_s() - from;
    spent.cpu_s = (double)(usage.ru_utime.tv_sec + usage.ru_stime.tv_sec) +
                  (double)(usage.ru_utime.tv_usec + usage.ru_stime.tv_usec) * 1e-6;
    spent.max_kib = usage.ru_maxrss;
    return spent;
}

static struct spent run_any(const char *const *argv)
{
    const double from = now_s();
    const pid_t pid = fork();

    if (pid < 0)
        fail("fork");
    if (pid == 0) {
        to_null();
        (void)execv(argv[0], (char *const *)argv);
        _exit(127);
    }
    return wait_for(pid, from);
}

static struct spent must(struct spent spent)
{
    if (spent.status != 0)
        fail("a program failed");
    return spent;
}

static struct spent run(const char *const *argv)
{
    return must(run_any(argv));
}

static const char PAYLOADS[] = "SELECT payload FROM ing_record_content";
static const char COLUMNS[] =
    "SELECT payload, provider_id, updated_at, provider_version, version, created_at, id"
    " FROM ing_record_state JOIN ing_record_content ON record_id = id"
    " WHERE endpoint_id = 1 AND NOT deleted ORDER BY id";

/* The floor: what any program must do. Reads all columns, and writes the payload. */
static void loop(const char *path, const char *sql)
{
    sqlite3_stmt *st;
    sqlite3 *db;

    if (sqlite3_open_v2(path, &db, SQLITE_OPEN_READONLY | SQLITE_OPEN_NOMUTEX, NULL) != SQLITE_OK ||
        sqlite3_prepare_v2(db, sql, -1, &st, NULL) != SQLITE_OK)
        _exit(1);
    while (sqlite3_step(st) == SQLITE_ROW) {
        (void)fwrite(sqlite3_column_blob(st, 0), 1, (size_t)sqlite3_column_bytes(st, 0), stdout);
        for (int i = 1; i < sqlite3_column_count(st); i++)
            (void)putchar((int)sqlite3_column_type(st, i));
        (void)putchar('\n');
    }
    (void)fflush(stdout);
    _exit(0);
}

static struct spent run_loop(const char *path, const char *sql)
{
    const double from = now_s();
    const pid_t pid = fork();

    if (pid < 0)
        fail("fork");
    if (pid == 0) {
        to_null();
        loop(path, sql);
    }
    return must(wait_for(pid, from));
}

/* The database's shell, with one text of SQL. psql would read all rows before it prints the first.
 */
static struct spent run_shell(const struct subject *subject, const char *sql)
{
    return subject->is_sqlite
               ? run((const char *const[]){ SQLITE3, "-batch", subject->store, sql, NULL })
               : run((const char *const[]){ PSQL, "-qAtX", "-v", "FETCH_COUNT=1000", "-v",
                                            "ON_ERROR_STOP=1", "-c", sql, subject->store, NULL });
}

/* ---- the store ---- */

static const char FILL_SQLITE[] =
    "PRAGMA synchronous = OFF; BEGIN;"
    "INSERT INTO ing_record_endpoint (provenance_code, endpoint_name) VALUES ('bench', 'works');"
    "INSERT INTO ing_record_state (endpoint_id, expr_id, provider_id, updated_at, version,"
    " deleted, content_hash, checked_week, observed_at, checked_at, created_at)"
    " WITH RECURSIVE s(n) AS (SELECT 1 UNION ALL SELECT n + 1 FROM s WHERE n < %d)"
    " SELECT 1, 1, '10.1000/' || n, 1767225600000000 + n, 1, 0, zeroblob(32), 0,"
    " 0, 0, 1767225600000000 + n FROM s;"
    "INSERT INTO ing_record_content (record_id, payload) SELECT id,"
    " CAST('{\"DOI\":\"' || provider_id ||"
    " '\",\"title\":[\"Of records\"],\"abstract\":\"' || hex(randomblob(%d)) || '\"}' AS BLOB)"
    " FROM ing_record_state; COMMIT;"
    "PRAGMA wal_checkpoint(TRUNCATE)";

/* The texts are not random: PostgreSQL would spend minutes on packing them. */
static const char FILL_POSTGRES[] =
    "INSERT INTO ing_record_endpoint (provenance_code, endpoint_name) VALUES ('bench', 'works');"
    "INSERT INTO ing_record_state (endpoint_id, expr_id, provider_id, updated_at, version,"
    " deleted, content_hash, checked_week, observed_at, checked_at, created_at)"
    " SELECT 1, 1, '10.1000/' || n, timestamptz '2026-01-01Z' + n * interval '1 s', 1,"
    " false, decode(repeat('00', 32), 'hex'), 0, now(), now(), now() FROM generate_series(1, %1$d) "
    "AS g(n);"
    "INSERT INTO ing_record_content (record_id, payload) SELECT id,"
    " convert_to('{\"DOI\":\"' || provider_id ||"
    " '\",\"title\":[\"Of records\"],\"abstract\":\"' || repeat(md5(id::text), %2$d / 16) || '\"}',"
    " 'UTF8') FROM ing_record_state;"
    "ANALYZE ing_record_state; ANALYZE ing_record_content";

static void fill(const struct subject *subject, int records, int bytes)
{
    char sql[SQL_BYTES];

    (void)snprintf(sql, sizeof(sql), subject->is_sqlite ? FILL_SQLITE : FILL_POSTGRES, records,
                   bytes / 2);
    (void)run((const char *const[]){ subject->patra, "init", "--store", subject->store, NULL });
    (void)run_shell(subject, sql);
}

static bool is_empty(const struct subject *subject)
{
    const char *const argv[] = { subject->patra, "record",       "list", "bench",
                                 "--store",      subject->store, NULL };

    return run_any(argv).status != 0;
}

static int by_seconds(const void *a, const void *b)
{
    const struct spent *x = a, *y = b;

    return x->seconds < y->seconds ? -1 : x->seconds > y->seconds;
}

static struct spent median(struct spent *all)
{
    qsort(all, ROUNDS, sizeof(*all), by_seconds);
    return all[ROUNDS / 2];
}

static void compare(const char *what, struct spent one, struct spent own)
{
    printf("  %-18s %5.2f of its speed (%.2f s against %.2f s), by CPU time %.2f (%.2f s against"
           " %.2f s)\n",
           what, one.seconds / own.seconds, own.seconds, one.seconds, one.cpu_s / own.cpu_s,
           own.cpu_s, one.cpu_s);
}

static void measure(const struct subject *subject)
{
    struct spent floor[ROUNDS], all[ROUNDS], shell[ROUNDS], own[ROUNDS], other;

    for (int i = 0; i < ROUNDS; i++) {
        shell[i] = run_shell(subject, PAYLOADS);
        if (subject->is_sqlite) {
            floor[i] = run_loop(subject->store, PAYLOADS);
            all[i] = run_loop(subject->store, COLUMNS);
        }
        own[i] = run((const char *const[]){ subject->patra, "record", "export", "bench", "--store",
                                            subject->store, NULL });
    }
    other = median(own);
    printf("whole payloads: at most %.1f MiB\n", (double)other.max_kib / 1024);
    compare(subject->is_sqlite ? "the sqlite3 shell" : "psql", median(shell), other);
    if (subject->is_sqlite) {
        compare("a bare loop", median(floor), other);
        compare("... of all columns", median(all), other);
    }
}

int main(int argc, char **argv)
{
    const char *build = getenv("PATRA_MODULES");
    const int records = argc > 1 ? atoi(argv[1]) : RECORDS;
    const int bytes = argc > 2 ? atoi(argv[2]) : BYTES;
    char folder[] = "/tmp/bench_export.XXXXXX", remove[PATH_BYTES];
    struct subject subject = { .is_sqlite = true };

    if (build == NULL || mkdtemp(folder) == NULL)
        fail("PATRA_MODULES must name the build folder, and /tmp must be writable");
    (void)snprintf(subject.patra, sizeof(subject.patra), "%s/patra", build);
    (void)snprintf(subject.store, sizeof(subject.store), argc > 3 ? "%s" : "%s/store.db",
                   argc > 3 ? argv[3] : folder);
    subject.is_sqlite = strncmp(subject.store, "postgres", strlen("postgres")) != 0;
    if (is_empty(&subject))
        fill(&subject, records, bytes);
    printf("%d records of %d bytes, %s, to /dev/null, medians of %d\n", records, bytes,
           subject.is_sqlite ? "SQLite" : "PostgreSQL", ROUNDS);
    measure(&subject);
    (void)snprintf(remove, sizeof(remove), "rm -rf %s", folder);
    return system(remove) == 0 ? 0 : 1;
}
