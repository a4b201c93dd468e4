/* bench_plan: how long the planner takes, and how much memory.
 *
 * On a SQLite file of its own in /tmp, and on a PostgreSQL of its own, if installed.
 *
 * Plans windows of one to eighty years by the day (test/data/plan/daily.yaml), each in a process of
 * its own, so that the peak memory is the plan's. On SQLite most of it is SQLite's cache, which
 * fills with the pages written, up to its limit of 32 MB, and stays full. Prints; asserts nothing.
 * An argument, "sqlite" or "postgres", chooses one of them.
 */
#include <inttypes.h>
#include <sqlite3.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/resource.h>
#include <sys/wait.h>
#include <time.h>
#include <unistd.h>

#include "adapter/store_open.h"
#include "base/instant.h"
#include "engine/plan/plan.h"
#include "engine/source/source_store.h"
#include "postgres.h"

enum { ARENA_MAX = 256 << 20, ROUNDS = 5 };

static int64_t time_us(clockid_t clock)
{
    struct timespec t;

    (void)clock_gettime(clock, &t);
    return (int64_t)t.tv_sec * US_PER_SECOND + t.tv_nsec / 1000;
}

static void die(const struct error *err)
{
    fprintf(stderr, "bench_plan: %s\n", err->text);
    exit(1);
}

static struct str read_source(struct arena *arena)
{
    const size_t max = 65536;
    char *text = ARENA_ARRAY(arena, char, max);
    FILE *file = fopen("test/data/plan/daily.yaml", "rb");
    size_t len;

    if (file == NULL || text == NULL) {
        fprintf(stderr, "bench_plan: run it in the folder that has test/data\n");
        exit(1);
    }
    len = fread(text, 1, max, file);
    (void)fclose(file);
    return (struct str){ text, len };
}

static struct store *open_store(const char *dsn)
{
    struct store *store = NULL;
    struct error err = { 0 };

    if (!store_open(str_of(dsn), &(struct store_options){ .create = true }, &store, &err))
        die(&err);
    return store;
}

static void prepare(const char *dsn, int64_t now_us)
{
    struct store *store = open_store(dsn);
    struct fault_list faults;
    struct source_applied applied;
    struct source source;
    struct arena arena;
    struct error err = { 0 };
    int64_t taken;

    arena_init(&arena, ARENA_MAX);
    fault_list_init(&faults, &arena);
    if (!store_migrate(store, now_us - US_PER_HOUR, &taken, &err))
        die(&err);
    if (!source_read(&arena, &(struct source_text){ .file = read_source(&arena) }, &faults,
                     &source) ||
        !source_apply(store, &arena, &source, now_us - US_PER_HOUR, &applied, &err))
        die(&err);
    arena_release(&arena);
    store_close(store);
}

struct sample {
    int64_t took_us;
    int64_t cpu_us; /* CPU time: the better number on a busy machine */
    int64_t slices;
    int64_t peak_kib;   /* of the process */
    int64_t arena_kib;  /* of the arena that plan_trigger was given */
    int64_t sqlite_kib; /* SQLite's peak */
};

static int64_t sqlite_kib(bool from_now)
{
    sqlite3_int64 now, most;

    (void)sqlite3_status64(SQLITE_STATUS_MEMORY_USED, &now, &most, from_now);
    return most / 1024;
}

/* A campaign of its own each time, so that nothing is covered yet. */
static struct sample plan_once(const char *dsn, int64_t now_us, int years, int round)
{
    struct store *store = open_store(dsn);
    char campaign[32];
    struct plan_request request = { .source = STR("daily"),
                                    .operation = STR("backfill"),
                                    .now_us = now_us,
                                    .trigger = TRIGGER_MANUAL };
    struct plan_result result;
    struct sample sample;
    struct rusage usage;
    struct arena arena;
    struct error err = { 0 };

    (void)snprintf(campaign, sizeof(campaign), "%d-%d", years, round);
    request.campaign = str_of(campaign);
    request.to = (struct maybe_instant){ true, now_us };
    request.from = (struct maybe_instant){ true, now_us - years * 365 * US_PER_DAY };
    arena_init(&arena, ARENA_MAX);
    (void)sqlite_kib(true);
    sample.cpu_us = time_us(CLOCK_PROCESS_CPUTIME_ID);
    sample.took_us = time_us(CLOCK_MONOTONIC);
    if (!plan_trigger(store, &arena, &request, &result, &err))
        die(&err);
    sample.took_us = time_us(CLOCK_MONOTONIC) - sample.took_us;
    sample.cpu_us = time_us(CLOCK_PROCESS_CPUTIME_ID) - sample.cpu_us;
    sample.slices = result.slices;
    sample.arena_kib = (int64_t)(arena.used / 1024);
    (void)getrusage(RUSAGE_SELF, &usage);
    sample.peak_kib = usage.ru_maxrss;
    sample.sqlite_kib = sqlite_kib(false);
    arena_release(&arena);
    store_close(store);
    return sample;
}

/* In a child, whose peak memory is its own. */
static struct sample plan_apart(const char *dsn, int64_t now_us, int years, int round)
{
    struct sample sample = { 0 };
    int pipes[2];
    pid_t pid;

    if (pipe(pipes) != 0 || (pid = fork()) < 0)
        exit(1);
    if (pid == 0) {
        sample = plan_once(dsn, now_us, years, round);
        _exit(write(pipes[1], &sample, sizeof(sample)) == (ssize_t)sizeof(sample) ? 0 : 1);
    }
    (void)close(pipes[1]);
    if (read(pipes[0], &sample, sizeof(sample)) != (ssize_t)sizeof(sample))
        exit(1);
    (void)close(pipes[0]);
    (void)waitpid(pid, NULL, 0);
    return sample;
}

static struct sample best_of(const char *dsn, int64_t now_us, int years)
{
    struct sample best = { .took_us = INT64_MAX };

    for (int round = 0; round < ROUNDS; round++) {
        const struct sample sample = plan_apart(dsn, now_us, years, round);

        if (sample.took_us < best.took_us)
            best = sample;
    }
    printf("%2d years by the day: %5" PRId64 " slices in %6.1f ms (%.1f of CPU), %4.1f us each; "
           "peak %" PRId64 " KiB: arena %" PRId64 ", SQLite's %" PRId64 ", the rest %" PRId64 "\n",
           years, best.slices, (double)best.took_us / 1e3, (double)best.cpu_us / 1e3,
           (double)best.took_us / (double)best.slices, best.peak_kib, best.arena_kib,
           best.sqlite_kib, best.peak_kib - best.arena_kib - best.sqlite_kib);
    return best;
}

static void remove_file(const char *path, const char *ending)
{
    char whole[96];

    (void)snprintf(whole, sizeof(whole), "%s%s", path, ending);
    (void)unlink(whole);
}

static void bench(const char *name, const char *dsn)
{
    const int64_t now_us = INT64_C(1767225600000000);
    struct sample one, ten, eighty;

    prepare(dsn, now_us);
    printf("%s\n", name);
    one = best_of(dsn, now_us, 1);
    ten = best_of(dsn, now_us, 10);
    (void)best_of(dsn, now_us, 40);
    eighty = best_of(dsn, now_us, 80);
    printf("ten years against one: time x %.1f; eighty against one: arena x %.2f, memory without "
           "SQLite's x %.2f\n",
           (double)ten.took_us / (double)one.took_us,
           (double)eighty.arena_kib / (double)one.arena_kib,
           (double)(eighty.peak_kib - eighty.sqlite_kib) / (double)(one.peak_kib - one.sqlite_kib));
}

static void bench_sqlite(void)
{
    char path[64];

    (void)snprintf(path, sizeof(path), "/tmp/bench_plan.%d.db", (int)getpid());
    bench("SQLite", path);
    remove_file(path, "");
    remove_file(path, "-wal");
    remove_file(path, "-shm");
}

static void bench_postgres(void)
{
    struct error err = { 0 };
    const char *dsn = postgres_new_database(&err);

    if (dsn == NULL && err.level != ERROR_NONE)
        die(&err);
    if (dsn == NULL)
        printf("PostgreSQL is not installed\n");
    else
        bench("PostgreSQL", dsn);
}

int main(int argc, char **argv)
{
    if (argc < 2 || strcmp(argv[1], "sqlite") == 0)
        bench_sqlite();
    if (argc < 2 || strcmp(argv[1], "postgres") == 0)
        bench_postgres();
    return 0;
}
