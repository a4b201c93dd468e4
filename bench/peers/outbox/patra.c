/* patra: the patra of bench/peers: outbox, sequencer, stream, relay, and a bus that only checks.
 *
 *      peer_patra HOW setup                  makes the tables
 *      peer_patra HOW backlog EVENTS KEYS    hands on what the outbox has: events a second
 *      peer_patra HOW idle EVENTS KEYS       writes an event every 20 ms: commit to handler
 *
 * HOW is "together" (the writer, the sequencer and the relay are in one process and ring each
 * other) or "apart" (they share no memory that could wake them: what they know of each other comes
 * from the store, as in three processes). The database is named by PGHOST, PGPORT, PGUSER and
 * PGDATABASE, as for every peer. Event n is version 1 + n / KEYS of key n % KEYS; the bus checks
 * that the versions of a key grow. Prints a line of JSON.
 */
#include <inttypes.h>
#include <poll.h>
#include <pthread.h>
#include <stdatomic.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/eventfd.h>
#include <unistd.h>

#include "../../seconds.h"
#include "adapter/store_open.h"
#include "adapter/system/system.h"
#include "core/lane.h"
#include "engine/publish/publisher.h"
#include "engine/relay/relay_run.h"
#include "engine/wake/notifier.h"
#include "port/store_outbox.h"

enum {
    EVERY_US = 20000,
    SETTLE_US = 500000,
    KEYS_MAX = 50000,
    EVENTS_MAX = 2000000,
    WAIT_MS = 50000
};

#define HASH "aaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaa"
#define NAME "peers"

struct peer {
    struct clock clock;
    struct random_source random;
    struct store *store;
    struct wake *shared; /* NULL: each has its own */
    int stop_fd, done_fd;
    int events, keys;
    int64_t *version_of; /* by key: the last one that came */
    double *committed_s; /* by event */
    double *handled_s;
    atomic_int handled;
    atomic_int wrong; /* versions out of turn */
};

static void must(bool ok, const struct error *err)
{
    if (ok)
        return;
    (void)fprintf(stderr, "peer_patra: %s (%s)\n", err->text, err->code);
    exit(1);
}

static void ring(int fd)
{
    (void)!write(fd, &(uint64_t){ 1 }, sizeof(uint64_t));
}

static struct store *session(struct peer *peer, struct wake *wake)
{
    struct store *store;
    struct error err = { 0 };

    must(store_another(peer->store, &store, &err), &err);
    store->listener = wake != NULL ? wake_listener(wake) : NULL;
    return store;
}

static struct wake *process(struct peer *peer)
{
    struct wake *wake;
    struct error err = { 0 };

    if (peer->shared != NULL)
        return peer->shared;
    must(wake_open(&wake, &peer->random, &err), &err);
    return wake;
}

static void process_end(struct peer *peer, struct wake *wake)
{
    if (wake != peer->shared)
        wake_close(wake);
}

/* ---- the handler: a bus that counts and checks ---- */

struct counting_bus {
    struct bus bus;
    struct peer *peer;
};

static void bus_end(struct bus *bus)
{
    free(bus);
}

static bool bus_is_there(struct bus *bus, int64_t timeout_us, struct error *err)
{
    (void)bus;
    (void)timeout_us;
    (void)err;
    return true;
}

/* The key is "work/k" and a number. */
static void handle(struct peer *peer, const struct bus_message *message)
{
    char digits[16] = { 0 };
    int64_t key, n;

    memcpy(digits, message->key.data + 6, message->key.len < 21 ? message->key.len - 6 : 15);
    key = strtoll(digits, NULL, 10);
    n = (message->version - 1) * peer->keys + key;
    if (key >= peer->keys || n >= peer->events || message->version <= peer->version_of[key]) {
        atomic_fetch_add(&peer->wrong, 1);
        return;
    }
    peer->version_of[key] = message->version;
    peer->handled_s[n] = now_s();
    if (atomic_fetch_add(&peer->handled, 1) + 1 == peer->events)
        ring(peer->done_fd);
}

static bool bus_take(struct bus *bus, struct arena *arena, const struct bus_publish *call,
                     struct bus_receipt *receipts, struct error *err)
{
    (void)arena;
    (void)err;
    for (size_t i = 0; i < call->count; i++) {
        handle(((struct counting_bus *)bus)->peer, &call->messages[i]);
        receipts[i] = (struct bus_receipt){ .outcome = BUS_ACKED };
    }
    return true;
}

static const struct bus_ops OPS = { .close = bus_end, .check = bus_is_there, .publish = bus_take };

static bool open_bus(void *context, const struct subscription *subscription,
                     struct relay_target *target, struct error *err)
{
    struct counting_bus *bus = calloc(1, sizeof(*bus));

    (void)subscription;
    if (bus == NULL)
        return error_set(err, ERROR_TRANSIENT, "memory.system", "no memory");
    *bus = (struct counting_bus){ { .ops = &OPS }, context };
    target->bus = &bus->bus;
    return true;
}

/* ---- threads ---- */

static void *publish(void *context)
{
    struct peer *peer = context;
    struct wake *wake = process(peer);
    struct store *store = session(peer, wake);
    struct error err = { 0 };

    must(publisher_run(&(struct publisher_parts){ .store = store,
                                                  .clock = &peer->clock,
                                                  .random = &peer->random,
                                                  .wake = wake,
                                                  .wake_fd = peer->stop_fd },
                       &(struct publisher_settings){ .sequencer = { .owner = STR(NAME) } }, NULL,
                       &err),
         &err);
    store_close(store);
    process_end(peer, wake);
    return NULL;
}

static void *relay(void *context)
{
    struct peer *peer = context;
    struct wake *wake = process(peer);
    struct store *store = session(peer, wake);
    const struct subscription subscription = { .name = STR_INIT(NAME) };
    struct error err = { 0 };

    must(relay_run(&(struct relay_parts){ .store = store,
                                          .clock = &peer->clock,
                                          .random = &peer->random,
                                          .wake = wake,
                                          .wake_fd = peer->stop_fd,
                                          .open = open_bus,
                                          .context = peer },
                   &(struct relay_run){
                       .relay.lanes = { .subscription = &subscription, .owner = STR(NAME) } },
                   NULL, &err),
         &err);
    store_close(store);
    process_end(peer, wake);
    return NULL;
}

struct writing {
    struct peer *peer;
    struct wake *wake;
};

static void *notify(void *context)
{
    const struct writing *writing = context;
    struct peer *peer = writing->peer;
    struct store *store = session(peer, NULL);
    struct notifier *notifier;
    struct error err = { 0 };

    must(notifier_open(
             &notifier,
             &(struct notifier_parts){ writing->wake, store, &peer->clock, peer->stop_fd }, &err),
         &err);
    notifier_run(notifier);
    notifier_close(notifier);
    store_close(store);
    return NULL;
}

/* ---- the writer ---- */

static void write_event(struct peer *peer, struct store *store, int n)
{
    char key[32], id[40], body[700];
    struct foreign_event event = { .aggregate_type = STR_INIT("work"),
                                   .event = { .event_type = STR_INIT("Changed"),
                                              .version = 1 + n / peer->keys,
                                              .schema_version = 1 } };
    struct error err = { 0 };
    int64_t added;

    (void)snprintf(key, sizeof(key), "k%d", n % peer->keys);
    (void)snprintf(id, sizeof(id), "00000000-0000-7000-8000-%012d", n);
    memset(body, 'a', sizeof(body));
    body[snprintf(body, sizeof(body), "{\"version\":%d,\"x\":\"", 1 + n / peer->keys)] = 'a';
    memcpy(body + 688, "\"}", 3);
    event.aggregate_id = str_of(key);
    event.event.event_id = str_of(id);
    event.event.body = str_of(body);
    event.event.lane = lane_of(event.aggregate_type, event.aggregate_id);
    event.event.occurred_us = clock_now_us(&peer->clock);
    must(store_begin(store, &err) && store_outbox_add(store, &event, 1, &added, &err) &&
             store_commit(store, &err),
         &err);
    peer->committed_s[n] = now_s();
}

static void wait_until_done(struct peer *peer)
{
    (void)poll(&(struct pollfd){ peer->done_fd, POLLIN, 0 }, 1, WAIT_MS);
}

/* ---- modes ---- */

static void setup(struct peer *peer)
{
    const struct subscription_apply apply = { .name = STR_INIT(NAME),
                                              .kind = SUBSCRIPTION_RELAY,
                                              .spec = STR_INIT("{}"),
                                              .spec_hash = STR_INIT(HASH),
                                              .applied_by = STR_INIT(NAME),
                                              .now_us = clock_now_us(&peer->clock) };
    struct subscription_applied applied;
    struct error err = { 0 };
    int64_t taken;

    must(store_migrate(peer->store, clock_now_us(&peer->clock), &taken, &err), &err);
    must(store_subscription_apply(peer->store, &apply, &applied, &err), &err);
}

static void stop(struct peer *peer, pthread_t *threads, int count)
{
    ring(peer->stop_fd);
    for (int i = 0; i < count; i++)
        (void)pthread_join(threads[i], NULL);
}

static void backlog(struct peer *peer)
{
    const double from_s = now_s();
    pthread_t threads[2];
    double took_s;

    (void)pthread_create(&threads[0], NULL, publish, peer);
    (void)pthread_create(&threads[1], NULL, relay, peer);
    wait_until_done(peer);
    took_s = now_s() - from_s;
    printf("{\"events\": %d, \"seconds\": %.3f, \"wrong\": %d}\n", atomic_load(&peer->handled),
           took_s, atomic_load(&peer->wrong));
    stop(peer, threads, 2);
}

static void idle(struct peer *peer)
{
    struct writing writing = { peer, process(peer) };
    struct store *store = session(peer, writing.wake);
    double *taken_ms = calloc((size_t)peer->events, sizeof(*taken_ms));
    pthread_t threads[3];
    int came = 0;

    if (taken_ms == NULL)
        exit(1);
    (void)pthread_create(&threads[0], NULL, publish, peer);
    (void)pthread_create(&threads[1], NULL, relay, peer);
    (void)pthread_create(&threads[2], NULL, notify, &writing);
    (void)usleep(SETTLE_US); /* until all wait */
    for (int n = 0; n < peer->events; n++) {
        write_event(peer, store, n);
        (void)usleep(EVERY_US);
    }
    wait_until_done(peer);
    for (int n = 0; n < peer->events; n++)
        if (peer->handled_s[n] > 0)
            taken_ms[came++] = (peer->handled_s[n] - peer->committed_s[n]) * 1e3;
    seconds_sort(taken_ms, (size_t)came);
    printf("{\"events\": %d, \"p50_ms\": %.2f, \"p95_ms\": %.2f, \"wrong\": %d}\n",
           atomic_load(&peer->handled), taken_ms[came / 2], taken_ms[came * 95 / 100],
           atomic_load(&peer->wrong));
    stop(peer, threads, 3);
    free(taken_ms);
    store_close(store);
    process_end(peer, writing.wake);
}

static void open_store(struct peer *peer)
{
    char dsn[512];
    struct error err = { 0 };

    (void)snprintf(dsn, sizeof(dsn), "postgresql://%s@%s:%s/%s", getenv("PGUSER"), getenv("PGHOST"),
                   getenv("PGPORT"), getenv("PGDATABASE"));
    must(store_open(str_of(dsn), &(struct store_options){ 0 }, &peer->store, &err), &err);
}

static bool parse(struct peer *peer, int argc, char **argv)
{
    static const char *const NAMES[] = { "PGHOST", "PGPORT", "PGUSER", "PGDATABASE" };

    for (size_t i = 0; i < sizeof(NAMES) / sizeof(NAMES[0]); i++)
        if (getenv(NAMES[i]) == NULL)
            return false;
    if (argc == 3 && strcmp(argv[2], "setup") == 0)
        return true;
    if (argc != 5)
        return false;
    peer->events = atoi(argv[3]);
    peer->keys = atoi(argv[4]);
    return peer->events > 0 && peer->events <= EVENTS_MAX && peer->keys > 0 &&
           peer->keys <= KEYS_MAX;
}

int main(int argc, char **argv)
{
    struct peer peer = { .clock = system_clock(), .random = system_random() };

    if (!parse(&peer, argc, argv))
        return 2;
    peer.stop_fd = eventfd(0, EFD_CLOEXEC);
    peer.done_fd = eventfd(0, EFD_CLOEXEC);
    peer.version_of = calloc(KEYS_MAX, sizeof(*peer.version_of));
    peer.committed_s = calloc(EVENTS_MAX, sizeof(*peer.committed_s));
    peer.handled_s = calloc(EVENTS_MAX, sizeof(*peer.handled_s));
    if (peer.version_of == NULL || peer.committed_s == NULL || peer.handled_s == NULL)
        return 1;
    open_store(&peer);
    if (strcmp(argv[1], "together") == 0)
        peer.shared = process(&peer);
    if (peer.events == 0)
        setup(&peer);
    else if (strcmp(argv[2], "backlog") == 0)
        backlog(&peer);
    else
        idle(&peer);
    wake_close(peer.shared);
    store_close(peer.store);
    free(peer.version_of);
    free(peer.committed_s);
    free(peer.handled_s);
    return 0;
}
