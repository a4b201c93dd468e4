/* bench_commit: batch_commit by itself: records a second, and the 95th percentile of a batch.
 *
 *      bench_commit [RECORDS]      on a SQLite file, and on a PostgreSQL where one is installed
 *
 * Records of 5 KB in pages of 100 and of 1,000: all new, then the same once more (nothing has
 * changed), then with every tenth changed. Pages are played, and only the commit is timed: by the
 * clock, and less what this thread and the server's process stood in line for a CPU meanwhile,
 * which is what the machine's other work has cost. Prints; asserts nothing.
 */
#include <inttypes.h>
#include <libpq-fe.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <time.h>
#include <unistd.h>

#include "adapter/memory/clock.h"
#include "adapter/memory/http.h"
#include "adapter/memory/random.h"
#include "adapter/memory/secret.h"
#include "adapter/store_open.h"
#include "data/xml.h"
#include "engine/execute/commit.h"
#include "port/store_plan.h"
#include "port/store_schedule.h"
#include "postgres.h"
#include "spec/check.h"
#include "spec/snapshot.h"

#define HASH "aaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaa"
#define NOW_US INT64_C(1767225600000000) /* 2026-01-01 */

/* Pages of 1,000 need more of them: the 95th percentile of 20 batches is the worst of all. */
enum { RECORDS = 20000, RECORD_BYTES = 5000, PAGES_MAX = 100000 };

static const char SOURCE[] = "source: bench\n"
                             "http: { base_url: \"https://api.example.org\" }\n"
                             "window: { key: at, granularity: second, max: 90d, min: 1m }\n"
                             "endpoints:\n"
                             "  works:\n"
                             "    role: search\n"
                             "    path: /works\n"
                             "    query: { from: \"${window.from}\", to: \"${window.to}\" }\n"
                             "    page: { type: single }\n"
                             "    response: { items: $.items, id: $.id, updated_at: $.at }\n"
                             "    fields: { title: $.title }\n"
                             "operations:\n"
                             "  harvest: { endpoint: works }\n";

struct bench {
    struct arena arena;
    struct arena batch_arena;
    struct spec spec;
    struct slice slice;
    struct memory_clock clock;
    struct memory_random random;
    struct memory_secrets secrets;
    struct memory_http http;
    struct fetch_gate gate;
    struct fetch_parts parts;
    struct store *store;
    struct task task;
    struct run run;
    struct commit_context context;
    char *page;
    size_t page_len;
    double took_s[PAGES_MAX];
    double own_s[PAGES_MAX]; /* without the time spent in line for a CPU */
    int backend;             /* the process of the PostgreSQL session; 0: none */
};

static void die(const struct error *err)
{
    (void)fprintf(stderr, "bench_commit: %s\n", err->text);
    exit(1);
}

static double now_s(void)
{
    struct timespec t;

    (void)clock_gettime(CLOCK_MONOTONIC, &t);
    return (double)t.tv_sec + (double)t.tv_nsec * 1e-9;
}

/* ---- in line for a CPU ---- */

/* So far; 0 where the kernel does not count it. */
static double waited_by(const char *path)
{
    FILE *file = fopen(path, "r");
    double waited_ns = 0;

    if (file != NULL) {
        if (fscanf(file, "%*s %lf", &waited_ns) != 1)
            waited_ns = 0;
        (void)fclose(file);
    }
    return waited_ns * 1e-9;
}

static double waited_s(const struct bench *bench)
{
    char path[64];

    (void)snprintf(path, sizeof(path), "/proc/%d/schedstat", bench->backend);
    return waited_by("/proc/thread-self/schedstat") + (bench->backend > 0 ? waited_by(path) : 0);
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

static bool allow(struct fetch_gate *gate, const struct fetch_permit_ask *ask,
                  struct fetch_permit *permit, struct error *err)
{
    (void)gate;
    (void)ask;
    (void)err;
    permit->decision = RATE_ALLOW;
    return true;
}

static void hear(struct fetch_gate *gate, const struct fetch_feedback *feedback)
{
    (void)gate;
    (void)feedback;
}

static void answer(void *context, struct arena *arena, const struct http_request *request,
                   struct memory_reply *reply)
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
    if (!source_lint(&bench->arena, &xml_module, str_of(SOURCE), &faults, source)) {
        (void)fprintf(stderr, "bench_commit: the source has faults\n");
        exit(1);
    }
    if (!snapshot_make(&bench->arena, &request, &snapshot, &err) ||
        !spec_read(&bench->arena, snapshot.json, &bench->spec, &err))
        die(&err);
}

static void bench_init(struct bench *bench)
{
    memset(bench, 0, sizeof(*bench));
    arena_init(&bench->arena, (size_t)64 << 20);
    arena_init(&bench->batch_arena, (size_t)512 << 20);
    memory_clock_init(&bench->clock, NOW_US);
    memory_random_init(&bench->random, 1);
    memory_secrets_init(&bench->secrets, NULL, 0);
    memory_http_init(&bench->http, &bench->clock.clock);
    memory_http_reply(&bench->http,
                      &(struct memory_reply){ .make = answer, .context = bench, .times = -1 });
    bench->gate = (struct fetch_gate){ allow, hear };
    bench->parts = (struct fetch_parts){ .http = &bench->http.http,
                                         .gate = &bench->gate,
                                         .clock = &bench->clock.clock,
                                         .random = &bench->random.source,
                                         .secrets = &bench->secrets.source,
                                         .xml = &xml_module,
                                         .wake_fd = CLOCK_NO_WAKE };
    bench->slice = (struct slice){ .dimension = SLICE_TIME,
                                   .window = { NOW_US, NOW_US + 31 * US_PER_DAY },
                                   .query = { .window = { NOW_US, NOW_US + 31 * US_PER_DAY },
                                              .keep = { NOW_US, NOW_US + 31 * US_PER_DAY } },
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
        char *const start = at;

        at += sprintf(at,
                      "%s{\"id\":\"10.1000/%08x.%d\",\"at\":\"2026-01-05T00:%02d:00Z\","
                      "\"title\":\"Of records, number %d\",\"abstract\":\"",
                      i > from ? "," : "", (unsigned)i * 2654435761U, i,
                      changed > 0 && i % changed == 0 ? round : 0, i);
        while (at - start < RECORD_BYTES - 40)
            at += sprintf(at, "%08x ", (unsigned)(at - start) * 2654435761U ^ (unsigned)i);
        at += sprintf(at, "\"}");
    }
    at += sprintf(at, "]}");
    bench->page_len = (size_t)(at - bench->page);
}

/* ---- the rows around ---- */

static void add_task(struct bench *bench)
{
    const struct schedule_instance schedule = { .scheduler = STR("bench"),
                                                .trigger = TRIGGER_MANUAL,
                                                .source = STR("bench"),
                                                .endpoint = STR("works"),
                                                .operation = OPERATION_HARVEST,
                                                .params = STR("{}"),
                                                .remarks = STR("{}"),
                                                .triggered_us = NOW_US };
    struct plan plan = { .source = STR("bench"),
                         .endpoint = STR("works"),
                         .operation = OPERATION_HARVEST,
                         .cursor_key = STR("at"),
                         .scope = NAMESPACE_EXPR,
                         .namespace_key = STR(HASH),
                         .window = bench->slice.window,
                         .expr_proto_hash = STR(HASH),
                         .expr_proto_snapshot = STR("{}"),
                         .spec_fingerprint = STR(HASH),
                         .status = PLAN_DRAFT,
                         .remarks = STR("{}"),
                         .created_us = NOW_US };
    struct plan_slice slice = { .source = STR("bench"),
                                .number = 1,
                                .dimension = SLICE_TIME,
                                .window = bench->slice.window,
                                .spec = STR("{}"),
                                .signature_hash = STR(HASH),
                                .expr_hash = STR(HASH),
                                .expr_snapshot = STR("{}"),
                                .status = SLICE_READY,
                                .created_us = NOW_US };
    struct task *task = &bench->task;
    struct error err = { 0 };
    int64_t added;

    if (!store_schedule_add(bench->store, &schedule, &plan.schedule_instance_id, &err) ||
        !store_plan_add(bench->store, &plan, &plan.id, &err) || !store_begin(bench->store, &err))
        die(&err);
    slice.plan_id = plan.id;
    *task = (struct task){ .schedule_instance_id = plan.schedule_instance_id,
                           .plan_id = plan.id,
                           .source = STR("bench"),
                           .endpoint = STR("works"),
                           .operation = OPERATION_HARVEST,
                           .cursor_key = STR("at"),
                           .scope = NAMESPACE_EXPR,
                           .namespace_key = STR(HASH),
                           .window = bench->slice.window,
                           .params = STR("{}"),
                           .expr_hash = STR(HASH),
                           .idempotent_key = STR(HASH),
                           .scheduled_us = NOW_US,
                           .created_us = NOW_US };
    if (!store_slice_add(bench->store, &slice, 1, &task->slice_id, &added, &err) ||
        !store_task_add(bench->store, task, 1, &added, &err) || !store_commit(bench->store, &err))
        die(&err);
}

static void start_run(struct bench *bench)
{
    const struct task_claim claim = {
        .owner = STR("bench"), .now_us = NOW_US, .until_us = NOW_US + US_PER_DAY, .limit = 1
    };
    struct task_list list;
    struct error err = { 0 };

    if (!store_task_claim(bench->store, &bench->arena, &claim, &list, &err))
        die(&err);
    bench->task = list.items[0];
    bench->run = (struct run){ .task_id = bench->task.id,
                               .source = bench->task.source,
                               .lease_owner = STR("bench"),
                               .lease_epoch = bench->task.lease_epoch,
                               .status = RUN_RUNNING,
                               .stats = STR("{}"),
                               .started_us = NOW_US };
    if (!store_begin(bench->store, &err) || !store_run_add(bench->store, &bench->run, &err) ||
        !store_commit(bench->store, &err))
        die(&err);
    bench->context = (struct commit_context){ .store = bench->store,
                                              .random = &bench->random.source,
                                              .lease = { bench->task.id, bench->task.lease_epoch },
                                              .lease_us = US_PER_DAY,
                                              .task = &bench->task,
                                              .run = &bench->run,
                                              .endpoint = STR("works"),
                                              .expr_proto_hash = STR(HASH),
                                              .arena = &bench->batch_arena };
}

/* ---- the rounds ---- */

static int by_time(const void *a, const void *b)
{
    const double left = *(const double *)a;
    const double right = *(const double *)b;

    return (left > right) - (left < right);
}

static int64_t commit_page(struct bench *bench, int64_t number, int page)
{
    const struct fetch_order order = { .spec = &bench->spec,
                                       .slice = &bench->slice,
                                       .plan_id = STR("1"),
                                       .run_id = bench->run.id,
                                       .batch_no = number };
    struct commit_result result;
    struct fetch_batch batch;
    struct fetch *fetch = NULL;
    struct error err = { 0 };
    double start_s, waited;

    if (!fetch_open(&fetch, &bench->parts, &order, &err) || !fetch_next(fetch, &batch, &err))
        die(&err);
    waited = waited_s(bench);
    start_s = now_s();
    if (!batch_commit(&bench->context, fetch, &batch, NOW_US + number, &result, &err))
        die(&err);
    bench->took_s[page] = now_s() - start_s;
    bench->own_s[page] = bench->took_s[page] - (waited_s(bench) - waited);
    fetch_close(fetch);
    return result.created + result.updated;
}

static void play_round(struct bench *bench, const char *label, int page, int records, int round,
                       int changed)
{
    static int64_t number;
    int64_t written = 0;
    double sum_s = 0;
    int pages = 0;

    for (int from = 0; from + page <= records && pages < PAGES_MAX; from += page) {
        make_page(bench, from, page, round, changed);
        written += commit_page(bench, ++number, pages);
        sum_s += bench->took_s[pages++];
    }
    qsort(bench->took_s, (size_t)pages, sizeof(bench->took_s[0]), by_time);
    qsort(bench->own_s, (size_t)pages, sizeof(bench->own_s[0]), by_time);
    (void)printf("  %-12s %8.0f records/s   batch P50 %6.2f ms, P95 %6.2f ms, worst %6.2f ms   not "
                 "in line: P50 "
                 "%6.2f ms, P95 %6.2f ms   %6" PRId64 " written\n",
                 label, pages * page / sum_s, bench->took_s[pages / 2] * 1e3,
                 bench->took_s[pages * 95 / 100] * 1e3, bench->took_s[pages - 1] * 1e3,
                 bench->own_s[pages / 2] * 1e3, bench->own_s[pages * 95 / 100] * 1e3, written);
    (void)fflush(stdout);
}

static void measure(const char *dsn, const char *what, int page, int records)
{
    static struct bench bench;
    struct error err = { 0 };
    int64_t taken;

    bench_init(&bench);
    bench.page = malloc((size_t)page * (RECORD_BYTES + 512) + 64);
    if (bench.page == NULL ||
        !store_open(str_of(dsn), &(struct store_options){ .create = true }, &bench.store, &err) ||
        !store_migrate(bench.store, NOW_US, &taken, &err))
        die(&err);
    if (store_dsn_kind(str_of(dsn)) == STORE_POSTGRES)
        bench.backend = find_backend(dsn);
    add_task(&bench);
    start_run(&bench);
    (void)printf("%s, pages of %d:\n", what, page);
    play_round(&bench, "fresh", page, records, 0, 0);
    play_round(&bench, "unchanged", page, records, 0, 0);
    play_round(&bench, "10% changed", page, records, 1, 10);
    commit_context_release(&bench.context);
    store_close(bench.store);
    free(bench.page);
    memory_http_release(&bench.http);
    arena_release(&bench.batch_arena);
    arena_release(&bench.arena);
}

static void measure_sqlite(int page, int records)
{
    char folder[] = "/tmp/bench_commit.XXXXXX";
    char dsn[64];
    char path[64];

    if (mkdtemp(folder) == NULL)
        exit(1);
    (void)snprintf(dsn, sizeof(dsn), "sqlite:%s/a.db", folder);
    measure(dsn, "SQLite", page, records);
    for (int i = 0; i < 3; i++) {
        static const char *const ENDS[] = { "", "-wal", "-shm" };

        (void)snprintf(path, sizeof(path), "%s/a.db%s", folder, ENDS[i]);
        (void)unlink(path);
    }
    (void)rmdir(folder);
}

static int records_of(int records, int page)
{
    return page == 1000 ? 3 * records : records;
}

int main(int argc, char **argv)
{
    const int records = argc > 1 ? atoi(argv[1]) : RECORDS;
    static const int PAGES[] = { 100, 1000 };

    for (size_t i = 0; i < 2; i++)
        measure_sqlite(PAGES[i], records_of(records, PAGES[i]));
    for (size_t i = 0; i < 2; i++) {
        struct error err = { 0 };
        const char *dsn = postgres_new_database(&err);

        if (dsn == NULL) {
            (void)printf("PostgreSQL: %s\n",
                         err.level == ERROR_NONE ? "is not installed" : err.text);
            break;
        }
        measure(dsn, "PostgreSQL", PAGES[i], records_of(records, PAGES[i]));
    }
    return 0;
}
