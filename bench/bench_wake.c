/* bench_wake: how long after its commit an event is in the stream, and known to a reader.
 *
 *      bench_wake [EVENTS]         default: 300, one every 20 ms
 *
 * A writer commits an event at a time, a publisher brings it into the stream, a reader waits for
 * the stream to grow and then reads how far it is. In one process they ring each other; as three
 * processes they have nothing but the notes of the store (threads here, with nothing shared). Then
 * 64 waiters wait for nothing, and the CPU time that takes is counted, theirs and the server's. The
 * writer's own transaction (begin, insert, commit) is printed for comparison: on the way to the
 * reader there is one more flush. Last, what telling costs a thread that commits.
 *
 * PostgreSQL has its own defaults, so each commit is flushed. Prints; asserts nothing.
 */
#include <inttypes.h>
#include <pthread.h>
#include <stdatomic.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/eventfd.h>
#include <sys/resource.h>
#include <unistd.h>

#include "adapter/store_open.h"
#include "adapter/system/system.h"
#include "core/lane.h"
#include "engine/publish/publisher.h"
#include "engine/wake/notifier.h"
#include "port/store_outbox.h"
#include "postgres.h"
#include "seconds.h"

enum { EVENTS = 300, EVENTS_MAX = 100000, EVERY_US = 20000, IDLE = 64, IDLE_S = 10 };

struct bench {
    struct str dsn;
    struct clock clock;
    struct random_source random;
    struct store *store;
    int stop_fd;
    int events;
    int first; /* the number of the first event of this run */
    double began_s[EVENTS_MAX];
    double committed_s[EVENTS_MAX];
    atomic_int committed;
    double woken_s[EVENTS_MAX];
    double read_s[EVENTS_MAX];
    atomic_int seen;
};

static struct bench bench;

static void fail(const struct error *err)
{
    fprintf(stderr, "bench_wake: %s (%s)\n", err->text, err->code);
    exit(1);
}

static struct store *session(struct wake *wake)
{
    struct store *store;
    struct error err;

    if (!store_another(bench.store, &store, &err))
        fail(&err);
    store->listener = wake != NULL ? wake_listener(wake) : NULL;
    return store;
}

static struct wake *process(void)
{
    struct error err;
    struct wake *wake;

    if (!wake_open(&wake, &bench.random, &err))
        fail(&err);
    return wake;
}

/* ---- threads ---- */

static void *publish(void *context)
{
    struct store *store = session(context);
    struct error err;

    if (!publisher_run(&(struct publisher_parts){ .store = store,
                                                  .clock = &bench.clock,
                                                  .random = &bench.random,
                                                  .wake = context,
                                                  .wake_fd = bench.stop_fd },
                       &(struct publisher_settings){ .sequencer = { .owner = STR("bench") } }, NULL,
                       &err))
        fail(&err);
    store_close(store);
    return NULL;
}

static void *notify(void *context)
{
    struct store *store = session(NULL);
    struct notifier *notifier;
    struct error err;

    if (!notifier_open(&notifier,
                       &(struct notifier_parts){ context, store, &bench.clock, bench.stop_fd },
                       &err))
        fail(&err);
    notifier_run(notifier);
    notifier_close(notifier);
    store_close(store);
    return NULL;
}

static struct waiter *waiter_on(struct store *store, struct wake *wake)
{
    struct waiter *waiter;
    struct error err;

    if (!waiter_open(&waiter,
                     &(struct waiter_parts){ .wake = wake,
                                             .store = store,
                                             .clock = &bench.clock,
                                             .channel = WAKE_STREAM,
                                             .stop_fd = bench.stop_fd },
                     &err))
        fail(&err);
    return waiter;
}

static void *read_stream(void *context)
{
    struct store *store = session(NULL);
    struct waiter *waiter = waiter_on(store, context);
    struct arena arena;

    arena_init(&arena, 1 << 20);
    while (waiter_wait(waiter, US_PER_SECOND) != WAITER_STOPPED) {
        const double woken_s = now_s();
        struct stream_status status;
        struct error err;
        int sum = 0;

        arena_reset(&arena);
        if (!store_stream_status(store, &arena, &status, &err))
            fail(&err);
        for (int i = 0; i < OUTBOX_LANES; i++)
            sum += (int)status.last_pos[i];
        for (int i = atomic_load(&bench.seen); i < sum; i++) {
            bench.woken_s[i] = woken_s;
            bench.read_s[i] = now_s();
            atomic_store(&bench.seen, i + 1);
        }
    }
    waiter_close(waiter);
    arena_release(&arena);
    store_close(store);
    return NULL;
}

static void *wait_idle(void *context)
{
    struct store *store = session(NULL);
    struct waiter *waiter = waiter_on(store, context);

    while (waiter_wait(waiter, US_PER_SECOND) != WAITER_STOPPED)
        continue;
    waiter_close(waiter);
    store_close(store);
    return NULL;
}

/* ---- the writer ---- */

static void write_event(struct store *store, int number)
{
    char key[32], id[40];
    struct foreign_event event = { .aggregate_type = STR_INIT("bench"),
                                   .event = { .event_type = STR_INIT("Bench"),
                                              .version = 1,
                                              .schema_version = 1,
                                              .body = STR_INIT("{}") } };
    struct error err;
    int64_t added;

    (void)snprintf(key, sizeof(key), "k%d", number);
    (void)snprintf(id, sizeof(id), "00000000-0000-7000-8000-%012d", number);
    event.aggregate_id = str_of(key);
    event.event.event_id = str_of(id);
    event.event.lane = lane_of(event.aggregate_type, event.aggregate_id);
    event.event.occurred_us = clock_now_us(&bench.clock);
    bench.began_s[number] = now_s();
    if (!store_begin(store, &err) || !store_outbox_add(store, &event, 1, &added, &err) ||
        !store_commit(store, &err))
        fail(&err);
    bench.committed_s[number] = now_s();
    atomic_store(&bench.committed, number + 1);
}

static void write_all(struct wake *wake)
{
    struct store *store = session(wake);

    for (int i = 0; i < bench.events; i++) {
        write_event(store, bench.first + i);
        (void)usleep(EVERY_US);
    }
    while (atomic_load(&bench.seen) < bench.first + bench.events)
        (void)usleep(EVERY_US);
    store_close(store);
}

/* ---- what is printed ---- */

static void print(const char *what, const double *from_s, const double *to_s)
{
    double *taken = calloc((size_t)bench.events, sizeof(*taken));

    for (int i = 0; i < bench.events; i++)
        taken[i] = (to_s[bench.first + i] - from_s[bench.first + i]) * 1e3;
    seconds_sort(taken, (size_t)bench.events);
    printf("  %-32s P50 %.2f ms, P90 %.2f, P99 %.2f, max %.2f\n", what, taken[bench.events / 2],
           taken[bench.events * 9 / 10], taken[bench.events * 99 / 100], taken[bench.events - 1]);
    free(taken);
}

static void begin(void)
{
    bench.stop_fd = eventfd(0, EFD_CLOEXEC);
}

static void end(pthread_t *threads, int count)
{
    (void)!write(bench.stop_fd, &(uint64_t){ 1 }, sizeof(uint64_t));
    for (int i = 0; i < count; i++)
        (void)pthread_join(threads[i], NULL);
    (void)close(bench.stop_fd);
}

static void run(const char *name, bool is_one)
{
    struct wake *writer = process();
    struct wake *publisher = is_one ? writer : process();
    struct wake *reader = is_one ? writer : process();
    pthread_t threads[3];

    begin();
    (void)pthread_create(&threads[0], NULL, publish, publisher);
    (void)pthread_create(&threads[1], NULL, read_stream, reader);
    (void)pthread_create(&threads[2], NULL, notify, writer);
    (void)usleep(500000); /* until all wait */
    write_all(writer);
    end(threads, 3);
    printf("%s, %d events, one every %d ms\n", name, bench.events, EVERY_US / 1000);
    print("the writer's transaction", bench.began_s, bench.committed_s);
    print("commit -> the reader is woken", bench.committed_s, bench.woken_s);
    print("commit -> it has read the stream", bench.committed_s, bench.read_s);
    bench.first += bench.events;
    wake_close(writer);
    if (!is_one) {
        wake_close(publisher);
        wake_close(reader);
    }
}

static double cpu_of(int who)
{
    struct rusage usage;

    (void)getrusage(who, &usage);
    return (double)(usage.ru_utime.tv_sec + usage.ru_stime.tv_sec) +
           (double)(usage.ru_utime.tv_usec + usage.ru_stime.tv_usec) * 1e-6;
}

/* Of all processes whose name begins so: the server's, if it is the only one. */
static double cpu_of_server(void)
{
    FILE *pipe =
        popen("cat $(grep -l '^postgres' /proc/[0-9]*/comm 2>/dev/null | sed 's/comm/stat/')"
              " 2>/dev/null | awk '{s += $14 + $15} END {print s + 0}'",
              "r");
    double ticks = 0;

    if (pipe == NULL || fscanf(pipe, "%lf", &ticks) != 1)
        ticks = 0;
    if (pipe != NULL)
        (void)pclose(pipe);
    return ticks / (double)sysconf(_SC_CLK_TCK);
}

static void run_idle(void)
{
    struct wake *wake = process();
    pthread_t threads[IDLE + 1];
    double own_s, server_s;

    begin();
    for (int i = 0; i < IDLE; i++)
        (void)pthread_create(&threads[i], NULL, wait_idle, wake);
    (void)pthread_create(&threads[IDLE], NULL, notify, wake);
    (void)usleep(3000000); /* until all have connected, and the first probe is over */
    own_s = cpu_of(RUSAGE_SELF);
    server_s = cpu_of_server();
    (void)usleep(IDLE_S * 1000000);
    own_s = cpu_of(RUSAGE_SELF) - own_s;
    server_s = cpu_of_server() - server_s;
    end(threads, IDLE + 1);
    printf(
        "%d idle waiters, %d s: %.1f ms of CPU here (%.3f %% of one), %.0f ms of all servers named "
        "postgres on this machine\n",
        IDLE, IDLE_S, own_s * 1e3, own_s / IDLE_S * 100, server_s * 1e3);
    wake_close(wake);
}

/* To waiters that are busy: they were rung, and have not looked yet. */
static void run_telling(void)
{
    enum { TIMES = 1000000 };
    struct wake *wake = process();
    struct waiter *waiter;
    double before_s;

    begin();
    waiter = waiter_on(bench.store, wake);
    before_s = cpu_of(RUSAGE_SELF);
    for (int i = 0; i < TIMES; i++)
        wake_tell(wake, WAKE_STREAM);
    printf("telling: %.0f ns of CPU\n", (cpu_of(RUSAGE_SELF) - before_s) * 1e9 / TIMES);
    waiter_close(waiter);
    wake_close(wake);
    end(NULL, 0);
}

int main(int argc, char **argv)
{
    struct error err = { 0 };
    const char *dsn;
    int64_t taken;

    bench.events = argc > 1 ? atoi(argv[1]) : EVENTS;
    if (bench.events < 10 || bench.events > EVENTS_MAX / 2)
        return 2;
    bench.clock = system_clock();
    bench.random = system_random();
    postgres_in_earnest();
    dsn = postgres_new_database(&err);
    if (dsn == NULL) {
        fprintf(stderr, "bench_wake: no PostgreSQL here: %s\n", err.text);
        return 1;
    }
    if (!store_open(str_of(dsn), &(struct store_options){ .create = true }, &bench.store, &err) ||
        !store_migrate(bench.store, clock_now_us(&bench.clock), &taken, &err))
        fail(&err);
    run("one process", true);
    run("three processes", false);
    run_idle();
    run_telling();
    store_close(bench.store);
    return 0;
}
