/* bench_commit: batch_commit by itself: records a second, and the 95th percentile of a batch.
 *
 *      bench_commit [sqlite | postgres | 100 | 250 | 500 | 1000]...    default: all of them
 *
 * Pages of 100 records, of 250 (the most in one transaction: fetch.h), of 500 (the
 * page size of crossref.yaml) and of 1,000, which are two batches and four: all new, then the same
 * again (nothing has changed), then with every tenth and with every second changed. Records are 5
 * KB of JSON that lz4 halves, like Crossref's; their ids are in no order. Pages are simulated, and
 * only the commit is timed: by the clock, minus the time that this thread and the server's process
 * waited for a CPU, which is what other work on the machine has cost. Their CPU time is printed as
 * well; it is the lower bound.
 *
 * SQLite is as patra opens it. PostgreSQL has its own defaults, so it flushes each commit, and a
 * log as long as that of a server in use: the first gigabyte of a new log is written twice. Prints,
 * and says whether LINE_MS is kept; asserts nothing.
 */
#include <inttypes.h>
#include <libpq-fe.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "adapter/store_open.h"
#include "data/xml.h"
#include "engine/execute/commit.h"
#include "fixed_secret.h"
#include "postgres.h"
#include "queued.h"
#include "records.h"
#include "scripted_http.h"
#include "seconds.h"
#include "seeded_random.h"
#include "spec/check.h"
#include "spec/snapshot.h"
#include "virtual_clock.h"

/* Long pages need more records: the 95th percentile of 20 batches is the worst of all. */
enum { RECORDS = 20000, RECORDS_LONG = 60000, BATCHES_MAX = 240 };

#define LINE_MS 80.0 /* the promised limit of a batch's 95th percentile */

static const char SOURCE[] =
    "source: bench\n"
    "http: { base_url: \"https://api.example.org\" }\n"
    "window: { key: at, granularity: second, max: 90d, min: 1m }\n"
    "endpoints:\n"
    "  works:\n"
    "    role: search\n"
    "    path: /works\n"
    "    query: { from: \"${window.from}\", to: \"${window.to}\" }\n"
    "    page: { type: single }\n"
    "    response: { items: $.items, id: $.id, updated_at: $.at }\n"
    "    fields: { doi: $.id, title: $.title, changed: $.at,"
    "              first: '$.reference[1].DOI', year: '$.reference[1].year',"
    "              key: '$.reference[1].key' }\n"
    "operations:\n"
    "  harvest: { endpoint: works }\n";

struct bench {
    struct arena arena;
    struct arena batch_arena;
    struct spec spec;
    struct slice slice;
    struct virtual_clock clock;
    struct seeded_random random;
    struct fixed_secrets secrets;
    struct scripted_http http;
    struct permit_gate gate;
    struct fetch_parts parts;
    struct store *store;
    struct task task;
    struct run run;
    struct commit_context context;
    int64_t batches; /* of the run so far */
    int timed;       /* of this round */
    int64_t written;
    char *page;
    size_t page_len;
    double took_s[BATCHES_MAX];
    double own_s[BATCHES_MAX];    /* without the time spent waiting for a CPU */
    double here_s[BATCHES_MAX];   /* CPU time of this thread */
    double server_s[BATCHES_MAX]; /* CPU time of the server's process */
    int backend;                  /* of the PostgreSQL session; 0: none */
};

/* ---- CPU time, and time spent waiting for a CPU ---- */

struct cpu {
    double used_s;
    double waited_s;
};

/* So far; 0 where the kernel does not count it. */
static struct cpu cpu_of(const char *path)
{
    FILE *file = fopen(path, "r");
    double used_ns = 0;
    double waited_ns = 0;

    if (file != NULL) {
        if (fscanf(file, "%lf %lf", &used_ns, &waited_ns) != 2)
            used_ns = waited_ns = 0;
        (void)fclose(file);
    }
    return (struct cpu){ used_ns * 1e-9, waited_ns * 1e-9 };
}

struct moment {
    double at_s;
    struct cpu here;
    struct cpu server;
};

static struct moment moment_now(const struct bench *bench)
{
    struct moment moment = { .here = cpu_of("/proc/thread-self/schedstat") };
    char path[64];

    (void)snprintf(path, sizeof(path), "/proc/%d/schedstat", bench->backend);
    if (bench->backend > 0)
        moment.server = cpu_of(path);
    moment.at_s = now_s();
    return moment;
}

static void keep_times(struct bench *bench, int batch, const struct moment *from,
                       const struct moment *to)
{
    const double used_s[] = { to->here.used_s - from->here.used_s,
                              to->server.used_s - from->server.used_s };
    double own_s = to->at_s - from->at_s - (to->here.waited_s - from->here.waited_s) -
                   (to->server.waited_s - from->server.waited_s);

    for (size_t i = 0; i < 2; i++) { /* both may have waited at once */
        if (own_s < used_s[i])
            own_s = used_s[i];
    }
    bench->took_s[batch] = to->at_s - from->at_s;
    bench->own_s[batch] = own_s;
    bench->here_s[batch] = used_s[0];
    bench->server_s[batch] = used_s[1];
}

/* The one session of patra in this database. */
static int find_backend(const char *dsn)
{
    PGconn *connection = PQconnectdb(dsn);
    PGresult *result =
        PQexec(connection, "SELECT pid FROM pg_stat_activity WHERE datname = current_database()"
                           " AND pid <> pg_backend_pid() AND backend_type = 'client backend'");
    const int pid = PQntuples(result) == 1 ? atoi(PQgetvalue(result, 0, 0)) : 0;

    PQclear(result);
    PQfinish(connection);
    return pid;
}

/* ---- the source ---- */

static bool allow(struct permit_gate *gate, const struct permit_request *ask, struct permit *permit,
                  struct error *err)
{
    (void)gate;
    (void)ask;
    (void)err;
    permit->decision = RATE_ALLOW;
    return true;
}

static void hear(struct permit_gate *gate, const struct permit_feedback *feedback)
{
    (void)gate;
    (void)feedback;
}

static void answer(void *context, struct arena *arena, const struct http_request *request,
                   struct scripted_reply *reply)
{
    static const struct http_header JSON = { STR_INIT("Content-Type"),
                                             STR_INIT("application/json") };
    const struct bench *bench = context;

    (void)arena;
    (void)request;
    reply->status = 200;
    reply->headers = &JSON;
    reply->header_count = 1;
    reply->body = (struct str){ bench->page, bench->page_len };
}

static void read_source(struct bench *bench)
{
    struct source *source = ARENA_NEW(&bench->arena, struct source);
    const struct snapshot_request request = { .source = source, .operation = STR("harvest") };
    struct snapshot snapshot;
    struct fault_list faults;
    struct error err = { 0 };

    fault_list_init(&faults, &bench->arena);
    if (!source_lint(&bench->arena, &xml_module, &(struct source_text){ .file = str_of(SOURCE) },
                     &faults, source)) {
        (void)fprintf(stderr, "bench_commit: the source has faults\n");
        exit(1);
    }
    must(snapshot_make(&bench->arena, &request, &snapshot, &err) &&
             spec_read(&bench->arena, snapshot.json, &bench->spec, &err),
         &err);
}

static void bench_init(struct bench *bench)
{
    memset(bench, 0, sizeof(*bench));
    arena_init(&bench->arena, (size_t)64 << 20);
    arena_init(&bench->batch_arena, (size_t)512 << 20);
    virtual_clock_init(&bench->clock, QUEUED_NOW_US);
    seeded_random_init(&bench->random, 1);
    fixed_secrets_init(&bench->secrets, NULL, 0);
    scripted_http_init(&bench->http, &bench->clock.clock);
    scripted_http_reply(&bench->http,
                        &(struct scripted_reply){ .make = answer, .context = bench, .times = -1 });
    bench->gate = (struct permit_gate){ allow, hear };
    bench->parts = (struct fetch_parts){ .http = &bench->http.http,
                                         .gate = &bench->gate,
                                         .clock = &bench->clock.clock,
                                         .random = &bench->random.source,
                                         .secrets = &bench->secrets.source,
                                         .xml = &xml_module,
                                         .wake_fd = CLOCK_NO_WAKE };
    bench->slice =
        (struct slice){ .dimension = SLICE_TIME,
                        .window = { QUEUED_NOW_US, QUEUED_NOW_US + 31 * US_PER_DAY },
                        .query = { .window = { QUEUED_NOW_US, QUEUED_NOW_US + 31 * US_PER_DAY },
                                   .keep = { QUEUED_NOW_US, QUEUED_NOW_US + 31 * US_PER_DAY } },
                        .expected_records = SLICE_UNKNOWN,
                        .expected_requests = SLICE_UNKNOWN };
    read_source(bench);
}

/* Records `from` and on; every `changed`-th has a later date in this round (0: none has). */
static void make_page(struct bench *bench, int from, int count, int round, int changed)
{
    char *at = bench->page;

    at += sprintf(at, "{\"items\":[");
    for (int i = from; i < from + count; i++) {
        if (i > from)
            *at++ = ',';
        at = record_add(at, i, changed > 0 && i % changed == 0 ? round : 0);
    }
    at += sprintf(at, "]}");
    bench->page_len = (size_t)(at - bench->page);
}

/* ---- the task ---- */

static void start_run(struct bench *bench)
{
    const struct task_claim claim = { .owner = STR("bench"),
                                      .now_us = QUEUED_NOW_US,
                                      .until_us = QUEUED_NOW_US + US_PER_DAY,
                                      .limit = 1 };
    struct task_list list;
    struct error err = { 0 };

    must(store_task_claim(bench->store, &bench->arena, &claim, &list, &err), &err);
    bench->task = list.items[0];
    bench->run = (struct run){ .task_id = bench->task.id,
                               .source = bench->task.source,
                               .lease_owner = STR("bench"),
                               .lease_epoch = bench->task.lease_epoch,
                               .status = RUN_RUNNING,
                               .stats = STR("{}"),
                               .started_us = QUEUED_NOW_US };
    must(store_begin(bench->store, &err) && store_run_add(bench->store, &bench->run, &err) &&
             store_commit(bench->store, &err),
         &err);
    bench->context = (struct commit_context){ .store = bench->store,
                                              .random = &bench->random.source,
                                              .lease = { bench->task.id, bench->task.lease_epoch },
                                              .lease_us = US_PER_DAY,
                                              .task = &bench->task,
                                              .run = &bench->run,
                                              .endpoint = STR("works"),
                                              .expr_proto_hash = STR(QUEUED_HASH),
                                              .arena = &bench->batch_arena };
}

/* ---- the rounds ---- */

/* One batch of the page, timed. */
static void commit_batch(struct bench *bench, struct fetch *fetch, const struct fetch_batch *batch)
{
    struct commit_result result;
    struct moment from, to;
    struct error err = { 0 };

    from = moment_now(bench);
    must(batch_commit(&bench->context, fetch, batch,
                      (struct commit_times){ QUEUED_NOW_US + batch->batch_no,
                                             QUEUED_NOW_US + batch->batch_no },
                      &result, &err),
         &err);
    to = moment_now(bench);
    keep_times(bench, bench->timed++, &from, &to);
    bench->written += result.created + result.updated;
}

static void commit_page(struct bench *bench)
{
    const struct fetch_order order = { .spec = &bench->spec,
                                       .slice = &bench->slice,
                                       .plan_id = STR("1"),
                                       .run_id = bench->run.id,
                                       .batch_no = bench->batches + 1 };
    struct fetch_batch batch;
    struct fetch *fetch = NULL;
    struct error err = { 0 };

    must(fetch_open(&fetch, &bench->parts, &order, &err), &err);
    do {
        must(fetch_next(fetch, &batch, &err), &err);
        commit_batch(bench, fetch, &batch);
    } while (!batch.is_last);
    bench->batches = batch.batch_no;
    fetch_close(fetch);
}

struct round {
    const char *label;
    int number;
    int changed; /* every n-th record; 0: none */
};

static double ms_at(const double *sorted, int batches, int percent)
{
    return sorted[batches * percent / 100] * 1e3;
}

static void print_round(struct bench *bench, const char *label)
{
    const int batches = bench->timed;
    double *const all[] = { bench->took_s, bench->own_s, bench->here_s, bench->server_s };

    for (size_t i = 0; i < 4; i++)
        seconds_sort(all[i], (size_t)batches);
    (void)printf(
        "  %-13s P95 %6.1f ms: %-11s  P50 %6.1f ms, worst %6.1f ms; by the clock P50 %6.1f "
        "ms, P95 %6.1f ms; computing P50 %5.1f ms here",
        label, ms_at(bench->own_s, batches, 95),
        ms_at(bench->own_s, batches, 95) <= LINE_MS ? "in line" : "NOT IN LINE",
        ms_at(bench->own_s, batches, 50), bench->own_s[batches - 1] * 1e3,
        ms_at(bench->took_s, batches, 50), ms_at(bench->took_s, batches, 95),
        ms_at(bench->here_s, batches, 50));
    if (bench->backend > 0)
        (void)printf(", %5.1f ms there", ms_at(bench->server_s, batches, 50));
    (void)printf("; %" PRId64 " written\n", bench->written);
    (void)fflush(stdout);
}

static void play_round(struct bench *bench, const struct round *round, int page, int records)
{
    bench->timed = 0;
    bench->written = 0;
    for (int from = 0; from + page <= records; from += page) {
        make_page(bench, from, page, round->number, round->changed);
        commit_page(bench);
    }
    print_round(bench, round->label);
}

static void measure(const char *dsn, const char *what, int page)
{
    static const struct round ROUNDS[] = {
        { "all new", 0, 0 },
        { "unchanged", 0, 0 },
        { "10 % changed", 1, 10 },
        { "half changed", 2, 2 },
    };
    static struct bench bench;

    bench_init(&bench);
    bench.page = malloc((size_t)page * RECORD_BYTES_MAX + 64);
    if (bench.page == NULL)
        exit(1);
    bench.store = queued_store(dsn);
    if (store_dsn_kind(str_of(dsn)) == STORE_POSTGRES)
        bench.backend = find_backend(dsn);
    queued_add(bench.store, bench.slice.window);
    start_run(&bench);
    (void)printf("%s, pages of %d, to be at most %.0f ms:\n", what, page, LINE_MS);
    for (size_t i = 0; i < sizeof(ROUNDS) / sizeof(ROUNDS[0]); i++)
        play_round(&bench, &ROUNDS[i], page, page == 100 ? RECORDS : RECORDS_LONG);
    commit_context_release(&bench.context);
    store_close(bench.store);
    free(bench.page);
    scripted_http_release(&bench.http);
    arena_release(&bench.batch_arena);
    arena_release(&bench.arena);
}

static void measure_sqlite(int page)
{
    char folder[] = "/tmp/bench_commit.XXXXXX";
    char dsn[64];
    char path[64];

    if (mkdtemp(folder) == NULL)
        exit(1);
    (void)snprintf(dsn, sizeof(dsn), "sqlite:%s/a.db", folder);
    measure(dsn, "SQLite", page);
    for (int i = 0; i < 3; i++) {
        static const char *const ENDS[] = { "", "-wal", "-shm" };

        (void)snprintf(path, sizeof(path), "%s/a.db%s", folder, ENDS[i]);
        (void)unlink(path);
    }
    (void)rmdir(folder);
}

/* A log of a gigabyte, all of it reusable. */
static void lengthen_log(const char *dsn)
{
    PGconn *connection = PQconnectdb(dsn);

    PQclear(PQexec(connection,
                   "SELECT pg_logical_emit_message(false, 'bench', repeat('x', 1048576))"
                   "  FROM generate_series(1, 1000)"));
    PQclear(PQexec(connection, "CHECKPOINT"));
    PQfinish(connection);
}

static void measure_postgres(int page)
{
    struct error err = { 0 };
    const char *dsn;

    postgres_in_earnest();
    dsn = postgres_new_database(&err);
    if (dsn == NULL) {
        (void)printf("PostgreSQL: %s\n", err.level == ERROR_NONE ? "is not installed" : err.text);
        return;
    }
    lengthen_log(dsn);
    measure(dsn, "PostgreSQL", page);
}

static const int PAGES[] = { 100, 250, 500, 1000 };

enum { PAGE_COUNT = sizeof(PAGES) / sizeof(PAGES[0]) };

/* The stores, or page sizes, to measure: those that are named, else all. */
static bool is_asked(int argc, char **argv, const char *word, const char *others)
{
    bool is_other = false;

    for (int i = 1; i < argc; i++) {
        if (strcmp(argv[i], word) == 0)
            return true;
        is_other = is_other || strstr(others, argv[i]) != NULL;
    }
    return !is_other;
}

static void measure_pages(int argc, char **argv, void (*measure_page)(int page))
{
    char word[16];

    for (int i = 0; i < PAGE_COUNT; i++) {
        (void)snprintf(word, sizeof(word), "%d", PAGES[i]);
        if (is_asked(argc, argv, word, "100 250 500 1000"))
            measure_page(PAGES[i]);
    }
}

int main(int argc, char **argv)
{
    if (is_asked(argc, argv, "sqlite", "postgres"))
        measure_pages(argc, argv, measure_sqlite);
    if (is_asked(argc, argv, "postgres", "sqlite"))
        measure_pages(argc, argv, measure_postgres);
    return 0;
}
