/* bench_harvest: whole harvests against patra-sim, printed as ratios.
 *
 *      bench_harvest [floor | memory | two | publish]...     default: all of them
 *
 * floor: records/s of new records on SQLite, against bench/floor on the same data and pages. The
 * two alternate, and medians are compared. patra requests gzip, as always; the floor does not.
 *
 * memory: the peak memory of a process that harvests pages of 5 MB.
 *
 * two: two executors against one, when the upstream is slow.
 *
 * publish: a harvest into PostgreSQL with `patra publish` beside it, which brings each event into
 * the stream while it is written, against one without. The two alternate.
 *
 * Executors run in a process of their own (`bench_harvest work DSN COUNT`), with everything that
 * `patra work` has: the rate gate, leases, lineage, libcurl. PostgreSQL has its own defaults, so it
 * flushes each commit. Prints; asserts nothing.
 */
#include <inttypes.h>
#include <libgen.h>
#include <pthread.h>
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/wait.h>
#include <unistd.h>

#include "adapter/curl/curl_http.h"
#include "adapter/store_open.h"
#include "adapter/system/system.h"
#include "base/instant.h"
#include "engine/execute/executor.h"
#include "engine/gate/gate.h"
#include "engine/plan/plan.h"
#include "engine/source/source_store.h"
#include "postgres.h"
#include "seconds.h"

#define FROM_US INT64_C(1767225600000000) /* 2026-01-01, where the simulator's world begins */
#define TO_US (FROM_US + 90 * US_PER_DAY)

enum { TEXT_BYTES = 4096, ROUNDS = 5, PAIRS = 3, EXECUTORS_MAX = 8, ARENA_MAX = 256 << 20 };

/* The address, the length of a slice and the page size are filled in. */
#define GENERIC                                                                                 \
    "source: bench\n"                                                                           \
    "http: { base_url: \"%s\", allow_plain_http: true }\n"                                      \
    "rate: { per_second: 1000, burst: 1000, concurrency: 8 }\n"                                 \
    "window: { key: updated_at, granularity: microsecond, lag: 1m, max: %s, min: 1m }\n"        \
    "endpoints:\n"                                                                              \
    "  records:\n"                                                                              \
    "    role: search\n"                                                                        \
    "    path: /generic/offset\n"                                                               \
    "    query: { offset: \"${page.offset}\", limit: \"${page.size}\",\n"                       \
    "             from: \"${window.from}\", to: \"${window.to}\" }\n"                           \
    "    page: { type: offset, size: %d, size_max: 1000 }\n"                                    \
    "    response: { items: $.items, id: $.id, updated_at: $.updated_at, version: $.version,\n" \
    "                deleted: $.deleted, merged_into: $.merged_into, total: $.total }\n"        \
    "    fields: { title: $.title }\n"                                                          \
    "operations:\n"                                                                             \
    "  backfill: { endpoint: records }\n"

#define CROSSREF                                                                                  \
    "source: bench\n"                                                                             \
    "http: { base_url: \"%s/crossref\", allow_plain_http: true }\n"                               \
    "rate: { per_second: 1000, burst: 1000, concurrency: 8 }\n"                                   \
    "window: { key: indexed, granularity: second, lag: 1m, max: %s, min: 1m }\n"                  \
    "endpoints:\n"                                                                                \
    "  works:\n"                                                                                  \
    "    role: search\n"                                                                          \
    "    path: /works\n"                                                                          \
    "    query:\n"                                                                                \
    "      filter: >-\n"                                                                          \
    "        from-index-date:${formatDateTime(window.from, \"yyyy-MM-dd'T'HH:mm:ss\")},"          \
    "until-index-date:${formatDateTime(window.last, \"yyyy-MM-dd'T'HH:mm:ss\")}\n"                \
    "      cursor: \"${page.token}\"\n"                                                           \
    "      rows: \"${page.size}\"\n"                                                              \
    "    page: { type: token, size: %d, size_max: 1000, initial: \"*\",\n"                        \
    "            next: \"$.message['next-cursor']\", replayable: false, same_token: continue }\n" \
    "    response: { items: \"$.message.items\", id: \"$.DOI\", id_case: lower,\n"                \
    "                updated_at: \"$.indexed.timestamp\", date_formats: [epoch_ms],\n"            \
    "                total: \"$.message['total-results']\" }\n"                                   \
    "    fields: { title: \"$.title[0]\" }\n"                                                     \
    "operations:\n"                                                                               \
    "  backfill: { endpoint: works }\n"

static char folder[TEXT_BYTES]; /* of this program, and of those it starts */

static void give_up(const char *what)
{
    (void)fprintf(stderr, "bench_harvest: %s\n", what);
    exit(1);
}

static void must(bool ok, const struct error *err)
{
    if (!ok)
        give_up(err->text);
}

/* ---- programs ---- */

struct program {
    pid_t pid;
    FILE *out;
};

/* A program in the folder `bench`, or in the one above. */
static struct program start(const char *name, char *const arguments[])
{
    struct program program;
    char path[2 * TEXT_BYTES];
    int out[2];

    (void)snprintf(path, sizeof(path), "%s/%s", folder, name);
    if (pipe(out) != 0 || (program.pid = fork()) < 0)
        give_up("no process");
    if (program.pid == 0) {
        (void)dup2(out[1], STDOUT_FILENO);
        (void)close(out[0]);
        (void)execv(path, arguments);
        _exit(127);
    }
    (void)close(out[1]);
    program.out = fdopen(out[0], "r");
    if (program.out == NULL)
        give_up("no pipe");
    return program;
}

static void end(struct program *program)
{
    (void)fclose(program->out);
    (void)waitpid(program->pid, NULL, 0);
}

static struct program start_sim(int records, const char *fault, char base[TEXT_BYTES])
{
    char number[32], line[TEXT_BYTES] = "";
    char *const arguments[] = { (char *)"patra-sim",
                                (char *)"serve",
                                (char *)"--audit-off",
                                (char *)"repeat",
                                (char *)"--records",
                                number,
                                fault != NULL ? (char *)"--fault" : NULL,
                                (char *)fault,
                                NULL };
    struct program sim;

    (void)snprintf(number, sizeof(number), "%d", records);
    sim = start("../patra-sim", arguments);
    if (fgets(line, sizeof(line), sim.out) == NULL || sscanf(line, "listening %4000s", base) != 1)
        give_up("patra-sim does not start");
    return sim;
}

static void stop(struct program *program)
{
    (void)kill(program->pid, SIGTERM);
    end(program);
}

/* ---- a process of executors ---- */

struct hand {
    struct executor_watch watch; /* first */
    struct store *store;
    struct store *gate_store;
    struct http *http;
    struct executor *executor;
    pthread_t thread;
    char owner[32];
    int64_t created;
    int64_t tasks;
    int64_t failed;
};

static void see(struct executor_watch *watch, const struct executor_event *event)
{
    struct hand *hand = (struct hand *)watch;

    if (event->kind == EXECUTOR_BATCH)
        hand->created += event->commit->created + event->commit->deleted;
    if (event->kind == EXECUTOR_ENDED) {
        hand->tasks++;
        hand->failed += event->ending->status != TASK_SUCCEEDED;
    }
}

static void *run(void *context)
{
    struct hand *hand = context;
    struct error err = { 0 };

    must(executor_run(hand->executor, &err), &err);
    return NULL;
}

static long peak_kib(void)
{
    FILE *file = fopen("/proc/self/status", "r");
    char line[256];
    long kib = 0;

    while (file != NULL && fgets(line, sizeof(line), file) != NULL) {
        if (sscanf(line, "VmHWM: %ld", &kib) == 1)
            break;
    }
    if (file != NULL)
        (void)fclose(file);
    return kib;
}

struct team {
    struct clock clock;
    struct random_source random;
    struct system_secrets secrets;
    struct gate_pool *gates;
    struct partitions *partitions;
    struct hand hands[EXECUTORS_MAX];
};

static void open_hand(struct team *team, struct hand *hand, struct store *store, int number)
{
    struct error err = { 0 };

    hand->watch.see = see;
    (void)snprintf(hand->owner, sizeof(hand->owner), "bench/%d", number);
    must(store_another(store, &hand->store, &err), &err);
    must(store_another(store, &hand->gate_store, &err), &err);
    must(curl_http_open(NULL, &hand->http, &err), &err);
    must(executor_open(&hand->executor,
                       &(struct executor_parts){ .store = hand->store,
                                                 .http = hand->http,
                                                 .gates = team->gates,
                                                 .gate_store = hand->gate_store,
                                                 .partitions = team->partitions,
                                                 .clock = &team->clock,
                                                 .random = &team->random,
                                                 .secrets = &team->secrets.source,
                                                 .watch = &hand->watch,
                                                 .wake_fd = CLOCK_NO_WAKE },
                       &(struct executor_settings){ .owner = str_of(hand->owner),
                                                    .is_draining = true,
                                                    .poll_us = 20 * US_PER_MS },
                       &err),
         &err);
}

static void close_hand(struct hand *hand)
{
    executor_close(hand->executor);
    http_close(hand->http);
    store_close(hand->gate_store);
    store_close(hand->store);
}

static int work(const char *dsn, int count)
{
    static struct team team;
    struct store *store = NULL;
    struct error err = { 0 };
    int64_t created = 0, tasks = 0, failed = 0;
    double start_s;

    team.clock = system_clock();
    team.random = system_random();
    system_secrets_init(&team.secrets, NULL);
    must(store_open(str_of(dsn), NULL, &store, &err), &err);
    must(gate_pool_open(&team.gates, &err), &err);
    must(partitions_open(&team.partitions, &err), &err);
    for (int i = 0; i < count; i++)
        open_hand(&team, &team.hands[i], store, i);
    start_s = now_s();
    for (int i = 0; i < count; i++)
        (void)pthread_create(&team.hands[i].thread, NULL, run, &team.hands[i]);
    for (int i = 0; i < count; i++)
        (void)pthread_join(team.hands[i].thread, NULL);
    start_s = now_s() - start_s;
    for (int i = 0; i < count; i++) {
        created += team.hands[i].created;
        tasks += team.hands[i].tasks;
        failed += team.hands[i].failed;
        close_hand(&team.hands[i]);
    }
    (void)printf("%.6f %" PRId64 " %" PRId64 " %" PRId64 " %ld\n", start_s, created, tasks, failed,
                 peak_kib());
    partitions_close(team.partitions);
    gate_pool_close(team.gates);
    store_close(store);
    return 0;
}

/* ---- one harvest ---- */

struct harvest {
    bool is_crossref; /* else the simulator's generic API */
    const char *slice;
    int page;
    int executors;
    const char *base;
};

struct outcome {
    double took_s;
    int64_t records;
    int64_t tasks;
    int64_t failed; /* or incomplete */
    long peak_kib;
};

static void make_plan(const char *dsn, const struct harvest *harvest)
{
    const struct plan_request request = { .source = STR("bench"),
                                          .operation = STR("backfill"),
                                          .now_us = TO_US + US_PER_DAY,
                                          .from = { true, FROM_US },
                                          .to = { true, TO_US },
                                          .trigger = TRIGGER_MANUAL };
    struct store *store = NULL;
    struct fault_list faults;
    struct source_applied applied;
    struct plan_result result;
    struct source source;
    struct arena arena;
    struct error err = { 0 };
    int64_t taken;

    arena_init(&arena, ARENA_MAX);
    fault_list_init(&faults, &arena);
    must(store_open(str_of(dsn), &(struct store_options){ .create = true }, &store, &err), &err);
    must(store_migrate(store, FROM_US, &taken, &err), &err);
    if (!source_read(&arena,
                     &(struct source_text){
                         .file = arena_printf(&arena, harvest->is_crossref ? CROSSREF : GENERIC,
                                              harvest->base, harvest->slice, harvest->page) },
                     &faults, &source)) {
        (void)!fault_list_ok(&faults, &err);
        give_up(err.text);
    }
    must(source_apply(store, &arena, &source, FROM_US, &applied, &err), &err);
    must(plan_trigger(store, &arena, &request, &result, &err), &err);
    arena_release(&arena);
    store_close(store);
}

/* Runs what is planned. */
static struct outcome execute(const char *dsn, const struct harvest *harvest)
{
    char number[16];
    char *const arguments[] = { (char *)"bench_harvest", (char *)"work", (char *)dsn, number,
                                NULL };
    struct outcome outcome = { 0 };
    struct program program;

    (void)snprintf(number, sizeof(number), "%d", harvest->executors);
    program = start("bench_harvest", arguments);
    if (fscanf(program.out, "%lf %" SCNd64 " %" SCNd64 " %" SCNd64 " %ld", &outcome.took_s,
               &outcome.records, &outcome.tasks, &outcome.failed, &outcome.peak_kib) != 5)
        give_up("the executors have failed");
    end(&program);
    if (outcome.failed > 0)
        (void)printf("  (%" PRId64 " of %" PRId64 " tasks were not finished)\n", outcome.failed,
                     outcome.tasks);
    return outcome;
}

static struct outcome harvest_in(const char *dsn, const struct harvest *harvest)
{
    make_plan(dsn, harvest);
    return execute(dsn, harvest);
}

static struct outcome harvest_sqlite(const struct harvest *harvest)
{
    static const char *const ENDS[] = { "", "-wal", "-shm" };
    char place[] = "/tmp/bench_harvest.XXXXXX";
    char path[64];
    struct outcome outcome;

    if (mkdtemp(place) == NULL)
        give_up("no folder");
    (void)snprintf(path, sizeof(path), "%s/a.db", place);
    outcome = harvest_in(path, harvest);
    for (int i = 0; i < 3; i++) {
        (void)snprintf(path, sizeof(path), "%s/a.db%s", place, ENDS[i]);
        (void)unlink(path);
    }
    (void)rmdir(place);
    return outcome;
}

/* ---- against the floor ---- */

static double floor_rate(const char *base, int page, int records)
{
    char size[16], count[16];
    char *const arguments[] = { (char *)"floor", size, count, (char *)base, NULL };
    struct program program;
    char line[TEXT_BYTES];
    double rate = 0;

    (void)snprintf(size, sizeof(size), "%d", page);
    (void)snprintf(count, sizeof(count), "%d", records);
    program = start("floor", arguments);
    while (fgets(line, sizeof(line), program.out) != NULL) {
        const char *at = strstr(line, "fresh:");

        if (at != NULL)
            (void)sscanf(at, "fresh: %lf", &rate);
    }
    end(&program);
    return rate;
}

static void measure_floor(int page, int records)
{
    double bare[ROUNDS], whole[ROUNDS], ratio[ROUNDS];
    char base[TEXT_BYTES];
    struct program sim = start_sim(records, NULL, base);
    const struct harvest harvest = { .slice = "365d", .page = page, .executors = 1, .base = base };

    for (int i = 0; i < ROUNDS; i++) {
        struct outcome outcome;

        bare[i] = floor_rate(base, page, records);
        outcome = harvest_sqlite(&harvest);
        whole[i] = (double)outcome.records / outcome.took_s;
        ratio[i] = whole[i] / bare[i];
    }
    stop(&sim);
    seconds_sort(bare, ROUNDS);
    seconds_sort(whole, ROUNDS);
    seconds_sort(ratio, ROUNDS);
    (void)printf(
        "SQLite, fresh, pages of %4d: floor %6.0f records/s, harvest %6.0f; ratio of pairs "
        "%.2f (%.2f to %.2f)\n",
        page, bare[ROUNDS / 2], whole[ROUNDS / 2], ratio[ROUNDS / 2], ratio[0], ratio[ROUNDS - 1]);
    (void)fflush(stdout);
}

/* ---- memory ---- */

static void measure_memory(void)
{
    char base[TEXT_BYTES];
    struct program sim = start_sim(20000, NULL, base);
    const struct harvest harvest = {
        .is_crossref = true, .slice = "365d", .page = 1000, .executors = 1, .base = base
    };
    const struct outcome outcome = harvest_sqlite(&harvest);

    stop(&sim);
    (void)printf("SQLite, Crossref pages of 1000 (5 MB): peak %.1f MiB, %" PRId64 " records, %.0f "
                 "records/s\n",
                 (double)outcome.peak_kib / 1024, outcome.records,
                 (double)outcome.records / outcome.took_s);
    (void)fflush(stdout);
}

/* ---- two against one ---- */

static void measure_two(const char *store)
{
    double one[PAIRS], two[PAIRS], gain[PAIRS];
    const bool is_sqlite = strcmp(store, "SQLite") == 0;
    char base[TEXT_BYTES];
    struct program sim = start_sim(4500, "path=/generic kind=stall at=before ms=50", base);
    struct harvest harvest = { .slice = "1d", .page = 50, .base = base };
    struct error err = { 0 };

    for (int i = 0; i < PAIRS; i++) {
        for (harvest.executors = 1; harvest.executors <= 2; harvest.executors++) {
            const char *dsn = is_sqlite ? NULL : postgres_new_database(&err);
            struct outcome outcome;

            if (!is_sqlite && dsn == NULL) {
                (void)printf("PostgreSQL is not installed\n");
                stop(&sim);
                return;
            }
            outcome = is_sqlite ? harvest_sqlite(&harvest) : harvest_in(dsn, &harvest);
            (harvest.executors == 1 ? one : two)[i] = (double)outcome.records / outcome.took_s;
        }
        gain[i] = two[i] / one[i];
    }
    stop(&sim);
    seconds_sort(one, PAIRS);
    seconds_sort(two, PAIRS);
    seconds_sort(gain, PAIRS);
    (void)printf("%s, 50 ms a reply: one executor %.0f records/s, two %.0f: %.2f times (%.2f to "
                 "%.2f)\n",
                 store, one[PAIRS / 2], two[PAIRS / 2], gain[PAIRS / 2], gain[0], gain[PAIRS - 1]);
    (void)fflush(stdout);
}

/* ---- with a publisher beside it ---- */

static struct program start_publisher(const char *dsn)
{
    char *const arguments[] = { (char *)"patra",
                                (char *)"publish",
                                (char *)"--store",
                                (char *)dsn,
                                (char *)"--log-level",
                                (char *)"warn",
                                NULL };

    return start("../patra", arguments);
}

static bool harvest_postgres(const struct harvest *harvest, bool is_published, double *rate)
{
    struct error err = { 0 };
    const char *dsn = postgres_new_database(&err);
    struct program publisher = { 0 };
    struct outcome outcome;

    if (dsn == NULL)
        return false;
    make_plan(dsn, harvest);
    if (is_published)
        publisher = start_publisher(dsn);
    outcome = execute(dsn, harvest);
    if (is_published)
        stop(&publisher);
    *rate = (double)outcome.records / outcome.took_s;
    return true;
}

static void measure_publish(void)
{
    double alone[ROUNDS], beside[ROUNDS], ratio[ROUNDS];
    char base[TEXT_BYTES];
    struct program sim = start_sim(10000, NULL, base);
    const struct harvest harvest = { .slice = "365d", .page = 100, .executors = 1, .base = base };

    for (int i = 0; i < ROUNDS; i++) {
        const bool is_first = i % 2 == 0;

        if (!harvest_postgres(&harvest, is_first, is_first ? &beside[i] : &alone[i]) ||
            !harvest_postgres(&harvest, !is_first, is_first ? &alone[i] : &beside[i])) {
            (void)printf("PostgreSQL is not installed\n");
            stop(&sim);
            return;
        }
        ratio[i] = beside[i] / alone[i];
    }
    stop(&sim);
    seconds_sort(alone, ROUNDS);
    seconds_sort(beside, ROUNDS);
    seconds_sort(ratio, ROUNDS);
    (void)printf(
        "PostgreSQL, fresh: alone %.0f records/s, with a publisher %.0f; ratio of pairs %.2f "
        "(%.2f to %.2f)\n",
        alone[ROUNDS / 2], beside[ROUNDS / 2], ratio[ROUNDS / 2], ratio[0], ratio[ROUNDS - 1]);
    (void)fflush(stdout);
}

static bool is_asked(int argc, char **argv, const char *name)
{
    for (int i = 1; i < argc; i++) {
        if (strcmp(argv[i], name) == 0)
            return true;
    }
    return argc == 1;
}

int main(int argc, char **argv)
{
    char self[TEXT_BYTES];

    (void)snprintf(self, sizeof(self), "%s", argv[0]);
    (void)snprintf(folder, sizeof(folder), "%s", dirname(self));
    if (argc == 4 && strcmp(argv[1], "work") == 0)
        return work(argv[2], atoi(argv[3]));
    postgres_in_earnest();
    if (is_asked(argc, argv, "floor")) {
        measure_floor(100, 10000);
        measure_floor(1000, 20000);
    }
    if (is_asked(argc, argv, "memory"))
        measure_memory();
    if (is_asked(argc, argv, "two")) {
        measure_two("SQLite");
        measure_two("PostgreSQL");
    }
    if (is_asked(argc, argv, "publish"))
        measure_publish();
    return 0;
}
