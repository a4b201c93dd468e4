/* bench_export: patra record export of a million records, beside SELECT payload by the sqlite3
 * shell and by a bare loop, and beside a bare loop over all columns that an export has. Of small
 * records most of the time is spent on these columns: what SQLite needs for them is the most that
 * any program could reach.
 *
 * All write to /dev/null, each in a process of its own, one after the other, several times; the
 * file is in the page cache. Printed are the ratios of the medians of their times, and the most
 * memory that patra had. Wanted: a ratio of 0.5 or more to the shell, 64 MiB or less.
 *
 *      bench_export [RECORDS [BYTES]]      // 1,000,000 of 5,000 bytes, as those of Crossref and
 * PubMed
 */
#include <fcntl.h>
#include <sqlite3.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/resource.h>
#include <sys/wait.h>
#include <unistd.h>

#include "seconds.h"

enum { ROUNDS = 5, PATH_BYTES = 512, RECORDS = 1000000, BYTES = 5000 };

struct spent {
    double seconds;
    double cpu_s; /* fairer where others use the machine too */
    long max_kib;
};

static const char SHELL[] = "/usr/bin/sqlite3";

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
    int status;

    if (wait4(pid, &status, 0, &usage) != pid || status != 0)
        fail("a program failed");
    spent.seconds = now_s() - from;
    spent.cpu_s = (double)(usage.ru_utime.tv_sec + usage.ru_stime.tv_sec) +
                  (double)(usage.ru_utime.tv_usec + usage.ru_stime.tv_usec) * 1e-6;
    spent.max_kib = usage.ru_maxrss;
    return spent;
}

static struct spent run(const char *const *argv)
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

static const char PAYLOADS[] = "SELECT payload FROM ing_record_content";
static const char COLUMNS[] =
    "SELECT payload, provider_id, updated_at, provider_version, version, created_at, id"
    " FROM ing_record JOIN ing_record_content ON record_id = id"
    " WHERE provenance_code = 'bench' AND endpoint_name = 'works' AND NOT deleted ORDER BY id";

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
    return wait_for(pid, from);
}

/* ---- the store ---- */

static void fill(const char *path, int records, int bytes)
{
    static const char SQL[] =
        "PRAGMA synchronous = OFF; BEGIN;"
        "INSERT INTO ing_record (provenance_code, endpoint_name, provider_id, updated_at, version,"
        " deleted, content_hash, expr_hash, observed_at, checked_at, created_at)"
        " WITH RECURSIVE s(n) AS (SELECT 1 UNION ALL SELECT n + 1 FROM s WHERE n < %d)"
        " SELECT 'bench', 'works', '10.1000/' || n, 1767225600000000 + n, 1, 0, '%064d', '%064d',"
        " 0, 0, 1767225600000000 + n FROM s;"
        "INSERT INTO ing_record_content SELECT id, CAST('{\"DOI\":\"' || provider_id ||"
        " '\",\"title\":[\"Of records\"],\"abstract\":\"' || hex(randomblob(%d)) || '\"}' AS BLOB)"
        " FROM ing_record; COMMIT;"
        "PRAGMA wal_checkpoint(TRUNCATE)";
    char sql[2048];
    sqlite3 *db;

    (void)snprintf(sql, sizeof(sql), SQL, records, 0, 0, bytes / 2);
    if (sqlite3_open_v2(path, &db, SQLITE_OPEN_READWRITE, NULL) != SQLITE_OK ||
        sqlite3_exec(db, sql, NULL, NULL, NULL) != SQLITE_OK)
        fail("the records could not be made");
    (void)sqlite3_close(db);
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

static void measure(const char *patra, const char *path, const char *const *options)
{
    struct spent floor[ROUNDS], all[ROUNDS], shell[ROUNDS], own[ROUNDS], other;
    const char *argv[16] = { patra, "record", "export", "bench", "--store", path };
    int count = 6;

    for (; *options != NULL; options++)
        argv[count++] = *options;
    for (int i = 0; i < ROUNDS; i++) {
        shell[i] = run((const char *const[]){ SHELL, path, PAYLOADS, NULL });
        floor[i] = run_loop(path, PAYLOADS);
        all[i] = run_loop(path, COLUMNS);
        own[i] = run(argv);
    }
    other = median(own);
    printf("%s: at most %.1f MiB\n", count > 6 ? argv[count - 1] : "whole payloads",
           (double)other.max_kib / 1024);
    compare("the sqlite3 shell", median(shell), other);
    compare("a bare loop", median(floor), other);
    compare("... of all columns", median(all), other);
}

int main(int argc, char **argv)
{
    const char *build = getenv("PATRA_MODULES");
    const int records = argc > 1 ? atoi(argv[1]) : RECORDS;
    const int bytes = argc > 2 ? atoi(argv[2]) : BYTES;
    char folder[] = "/tmp/bench_export.XXXXXX";
    char patra[PATH_BYTES], path[PATH_BYTES], remove[PATH_BYTES];

    if (build == NULL || mkdtemp(folder) == NULL)
        fail("PATRA_MODULES must name the build folder, and /tmp must be writable");
    (void)snprintf(patra, sizeof(patra), "%s/patra", build);
    (void)snprintf(path, sizeof(path), "%s/store.db", folder);
    (void)run((const char *const[]){ patra, "init", "--store", path, NULL });
    fill(path, records, bytes);
    printf("%d records of %d bytes, SQLite, to /dev/null, medians of %d\n", records, bytes, ROUNDS);
    measure(patra, path, (const char *const[]){ NULL });
    (void)snprintf(remove, sizeof(remove), "rm -rf %s", folder);
    return system(remove) == 0 ? 0 : 1;
}
