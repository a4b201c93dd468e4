/* bench_sink: events become rows of a projection.
 *
 *      bench_sink [EVENTS]         300,000 events, 690 bytes each, 50,000 keys, in batches of 2,000
 *
 *      new        each key once, into an empty table: rows a second, and what of the time making
 *                 rows of events takes; the CPU of this process and the server's for it
 *      again      the same keys with higher versions
 *      removing   again, into a table that remembers erased keys (on_delete: remove)
 *      partial    events that have one column of four
 *      children   works with three authors each, again
 *      digest     of the keys and versions of a table: keys a second
 *
 * SQLite on a file in /dev/shm, then PostgreSQL with its own defaults, so that it flushes each
 * commit. Prints, and asserts nothing.
 */
#include <inttypes.h>
#include <libpq-fe.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "adapter/store_open.h"
#include "engine/project/digest.h"
#include "engine/project/project.h"
#include "postgres.h"
#include "seconds.h"
#include "spec/projection.h"

enum { EVENTS = 300000, KEYS = 50000, BATCH = 2000, BODY = 690 };

#define COLUMNS                                                                                \
    "    columns: { title: $.fields.title, journal: $.fields.journal, year: { type: integer, " \
    "path: $.fields.year }, at: { type: instant, path: $.updatedAt } }\n"
#define FROM(effect) "    from: [{ aggregates: [work], effect: " effect " }]\n"

struct bench {
    struct store *store;
    struct arena arena;
    struct arena batch;
    struct projection_spec spec;
    const struct projector *projector;
    const struct sink_tables *tables;
    int64_t events;
    int backend; /* PostgreSQL: the process of the session; else 0 */
};

static void must(bool ok, const char *what)
{
    if (ok)
        return;
    (void)fprintf(stderr, "bench_sink: %s\n", what);
    exit(1);
}

/* Nanoseconds on a processor are the first number of this file. */
static double cpu_s(const char *path)
{
    FILE *file = fopen(path, "r");
    double ns = 0;

    if (file != NULL && fscanf(file, "%lf", &ns) != 1)
        ns = 0;
    if (file != NULL)
        (void)fclose(file);
    return ns * 1e-9;
}

/* Of this process, and of the server's for its session. */
static double all_cpu_s(const struct bench *b)
{
    char path[64];

    (void)snprintf(path, sizeof(path), "/proc/%d/schedstat", b->backend);
    return cpu_s("/proc/thread-self/schedstat") + (b->backend > 0 ? cpu_s(path) : 0);
}

static int backend_of(const char *dsn)
{
    PGconn *connection = PQconnectdb(dsn);
    PGresult *result =
        PQexec(connection, "SELECT pid FROM pg_stat_activity WHERE datname = current_database()"
                           " AND backend_type = 'client backend' AND pid <> pg_backend_pid()");
    const int pid = PQntuples(result) == 1 ? atoi(PQgetvalue(result, 0, 0)) : 0;

    PQclear(result);
    PQfinish(connection);
    return pid;
}

static void apply(struct bench *b, const char *file)
{
    struct projection_text text;
    struct fault_list faults;
    struct sink_plan plan;
    struct error err = { 0 };

    arena_reset(&b->arena);
    fault_list_init(&faults, &b->arena);
    must(projection_read(&b->arena, str_of(file), &faults, &b->spec), "the projection");
    must(projection_compile(&b->arena, &b->spec, &text, &err), err.text);
    must(project_compile(&b->arena, &b->spec, &b->projector, &err), err.text);
    must(store_sink_set_up(b->store, &b->arena,
                           &(struct sink_set_up){ .spec = &b->spec,
                                                  .json = text.json,
                                                  .hash = str_of(text.hash),
                                                  .applied_by = STR("bench") },
                           &plan, &err),
         err.text);
    must(store_sink_tables(b->store, &b->spec, SINK_LIVE, &b->tables, &err), err.text);
}

/* Made of the batch's arena, before the clock runs. */
static void make_events(struct bench *b, int64_t from, struct project_event events[BATCH],
                        const char *more)
{
    static char filler[BODY];

    memset(filler, 'a', sizeof(filler) - 1);
    for (int64_t i = 0; i < BATCH; i++) {
        const int64_t n = from + i;

        events[i] = (struct project_event){
            .aggregate_type = STR("work"),
            .aggregate_id = arena_printf(&b->batch, "10.1000/k%" PRId64, n % KEYS),
            .event_id = STR("019b0000-0000-7000-8000-000000000001"),
            .event_type = STR("RecordUpdated"),
            .version = 1 + n / KEYS,
            .body = arena_printf(&b->batch,
                                 "{\"updatedAt\":\"2026-01-02T03:04:05Z\",\"fields\":{\"title\":"
                                 "\"Title %" PRId64 "\",\"journal\":\"Journal %" PRId64
                                 "\",\"year\":%" PRId64 "%s,\"x\":\"%.*s\"}}",
                                 n, n % 100, 1900 + n % 120, more, 500, filler),
        };
    }
}

static void run(struct bench *b, const char *label, int64_t from, int64_t count, const char *more)
{
    double make_s = 0, write_s = 0, both_s = 0;
    int64_t done = 0;
    struct sink_written written = { 0 };
    struct error err = { 0 };

    for (; done < count; done += BATCH) {
        static struct project_event events[BATCH];
        struct sink_batch batch;
        double start_s;
        size_t failed;

        arena_reset(&b->batch);
        make_events(b, from + done, events, more);
        start_s = now_s();
        both_s -= all_cpu_s(b);
        must(project_batch(b->projector, &b->batch, events, BATCH, &batch, &failed, &err),
             err.text);
        make_s += now_s() - start_s;
        start_s = now_s();
        must(store_begin(b->store, &err), err.text);
        must(store_sink_write(b->store, &b->batch, b->tables, &batch, &written, &err), err.text);
        must(store_commit(b->store, &err), err.text);
        write_s += now_s() - start_s;
        both_s += all_cpu_s(b);
    }
    must(written.changed == done, "every event changes its row");
    (void)printf("  %-10s %8.0f rows/s, making rows %4.1f %%, CPU %5.1f us a row\n", label,
                 (double)done / (make_s + write_s), 100 * make_s / (make_s + write_s),
                 both_s * 1e6 / (double)done);
}

static void digest(struct bench *b)
{
    struct bucket_digest digests[64];
    struct error err = { 0 };
    const double start_s = now_s();
    int64_t keys = 0;

    must(digest_table(b->store, &b->batch, b->tables, 0, 64, digests, &err), err.text);
    for (int i = 0; i < 64; i++)
        keys += digests[i].keys;
    (void)printf("  %-10s %8.0f keys/s\n", "digest", (double)keys / (now_s() - start_s));
}

static void measure(const char *dsn, int64_t events)
{
    struct bench b = { .events = events };
    struct error err = { 0 };
    int64_t taken;

    arena_init(&b.arena, 64 << 20);
    arena_init(&b.batch, 256 << 20);
    must(store_open(str_of(dsn), &(struct store_options){ .create = true }, &b.store, &err),
         err.text);
    must(store_migrate(b.store, 1, &taken, &err), err.text);
    if (store_dsn_kind(str_of(dsn)) == STORE_POSTGRES)
        b.backend = backend_of(dsn);
    apply(&b, "projection: one\ntables:\n  one:\n" COLUMNS FROM("replace"));
    run(&b, "new", 0, KEYS, "");
    run(&b, "again", KEYS, events, "");
    digest(&b);
    apply(&b, "projection: two\ntables:\n  two:\n    on_delete: remove\n" COLUMNS FROM("replace"));
    run(&b, "removing", 0, events, "");
    apply(&b,
          "projection: three\ntables:\n  three:\n    columns: { title: $.fields.title, a: $.a, b: "
          "$.b, c: $.c }\n" FROM("partial"));
    run(&b, "partial", 0, events, "");
    apply(&b,
          "projection: four\ntables:\n  four:\n" COLUMNS
          "    children: { authors: { each: \"$.fields.authors[*]\", columns: { name: $.name } } "
          "}\n" FROM("replace"));
    run(&b, "children", 0, events / 2,
        ",\"authors\":[{\"name\":\"x\"},{\"name\":\"y\"},{\"name\":\"z\"}]");
    store_close(b.store);
    arena_release(&b.batch);
    arena_release(&b.arena);
}

int main(int argc, char **argv)
{
    const int64_t events = argc > 1 ? strtoll(argv[1], NULL, 10) : EVENTS;
    char path[] = "/dev/shm/bench_sink.XXXXXX";
    char wal[sizeof(path) + 8];
    struct error err = { 0 };
    const char *dsn;

    must(close(mkstemp(path)) == 0, "a file");
    (void)printf("SQLite, %" PRId64 " events\n", events);
    measure(path, events);
    for (int i = 0; i < 3; i++) {
        (void)snprintf(wal, sizeof(wal), "%s%s", path, i == 0 ? "" : i == 1 ? "-wal" : "-shm");
        (void)unlink(wal);
    }
    postgres_in_earnest();
    dsn = postgres_new_database(&err);
    if (dsn == NULL) {
        puts("bench_sink: PostgreSQL is not installed");
        return 0;
    }
    (void)printf("PostgreSQL, %" PRId64 " events\n", events);
    measure(dsn, events);
    return 0;
}
