/* Writers, publishers and relays that die.
 *
 *      4 writers       transactions over 10,000 keys; some roll back, some stay open for a while
 *      2 publishers    patra publish, lease 400 ms
 *      4 relays        to a bus that is a file (test/support/file_bus.h): refuses, loses answers
 *
 * All of them are killed (SIGKILL) at any moment and started again; publishers and relays are also
 * put to sleep (SIGSTOP) for longer than their leases, and wake up to find that others are at work.
 * PostgreSQL is stopped and started under load. On SQLite one process does all of it, by threads.
 *
 * Afterwards, left alone once, the file must have each event of the outbox, no other, and the first
 * arrivals of each key in the order of its versions, none left out. PATRA_KILLS says how many
 * kills.
 */
#include <pthread.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "adapter/system/system.h"
#include "contract.h"
#include "engine/publish/publisher.h"
#include "engine/relay/relay_run.h"
#include "file_bus.h"
#include "kill_site.h"
#include "rows.h"
#include "sql.h"
#include "stream_sql.h"

#ifdef ON_POSTGRES
#include "postgres.h"
enum { WRITERS = 4, PUBLISHERS = 2, RELAYS = 4, PROCESSES = 10, KILLS = TEST_IS_SLOW ? 15 : 50 };
#else
enum { WRITERS = 0, PUBLISHERS = 0, RELAYS = 0, PROCESSES = 1, KILLS = TEST_IS_SLOW ? 5 : 15 };
#endif

enum { KEYS = 10000, DRAIN_TRIES = 300, VERSIONS_MAX = 4000 };

#define LEASE_US (US_PER_SECOND)

/* ---- a relay ---- */

struct sink {
    char path[4096];
    struct file_bus_faults faults;
    uint64_t seed;
};

static bool open_sink(void *context, const struct subscription *subscription,
                      struct relay_target *target, struct error *err)
{
    const struct sink *sink = context;

    (void)subscription;
    target->bus = file_bus_open(sink->path, &sink->faults, sink->seed);
    return target->bus != NULL || error_set(err, ERROR_FATAL, "bus.missing", "no file");
}

static const struct subscription SUBSCRIPTION = { .name = STR_INIT("sink"),
                                                  .kind = SUBSCRIPTION_RELAY,
                                                  .policy = POLICY_WAIT };

static bool relay(struct store *store, struct sink *sink, bool is_draining, struct error *err)
{
    struct clock clock = system_clock();
    struct random_source random = system_random();
    const struct relay_parts parts = { .store = store,
                                       .clock = &clock,
                                       .random = &random,
                                       .wake_fd = CLOCK_NO_WAKE,
                                       .open = open_sink,
                                       .context = sink };
    struct relay_run run = { .relay = { .lanes = { .subscription = &SUBSCRIPTION,
                                                   .lease_us = LEASE_US,
                                                   .retry = retry_default() },
                                        .reconnect = retry_default() },
                             .is_draining = is_draining };
    char owner[64];

    (void)snprintf(owner, sizeof(owner), "%d:%llu", (int)getpid(), (unsigned long long)sink->seed);
    run.relay.lanes.owner = str_of(owner);
    run.relay.lanes.retry.delay_max_us = US_PER_SECOND;
    run.relay.reconnect.delay_min_us = 20000;
    run.relay.reconnect.delay_max_us = US_PER_SECOND / 2;
    return relay_run(&parts, &run, NULL, err);
}

static struct sink make_sink(uint64_t seed, bool has_faults)
{
    struct sink sink = { .seed = seed };

    (void)snprintf(sink.path, sizeof(sink.path), "%s/arrivals", test_folder());
    if (has_faults)
        sink.faults = (struct file_bus_faults){ 2, 2, 20, 20 };
    return sink;
}

static void relay_for_ever(const char *dsn, uint64_t seed)
{
    struct sink sink = make_sink(seed, true);
    struct error err = { 0 };

    if (!relay(kill_site_store(dsn), &sink, false, &err))
        (void)fprintf(stderr, "relay: %s\n", err.text);
    _exit(5);
}

/* ---- a publisher within the process ---- */

static bool publish(struct store *store, bool is_draining, uint64_t seed, struct error *err)
{
    struct clock clock = system_clock();
    struct random_source random = system_random();
    const struct publisher_parts parts = {
        .store = store, .clock = &clock, .random = &random, .wake_fd = CLOCK_NO_WAKE
    };
    struct publisher_settings settings = { .sequencer = { .lease_us = LEASE_US / 2 },
                                           .is_draining = is_draining };
    char owner[64];

    (void)snprintf(owner, sizeof(owner), "p%d:%llu", (int)getpid(), (unsigned long long)seed);
    settings.sequencer.owner = str_of(owner);
    return publisher_run(&parts, &settings, NULL, err);
}

/* ---- everything in one process ---- */

struct whole {
    const char *dsn;
    uint64_t seed;
};

static void *publish_thread(void *context)
{
    const struct whole *whole = context;
    struct error err = { 0 };

    (void)!publish(kill_site_store(whole->dsn), false, whole->seed, &err);
    (void)fprintf(stderr, "publisher: %s\n", err.text);
    _exit(6);
}

static void *relay_thread(void *context)
{
    const struct whole *whole = context;

    relay_for_ever(whole->dsn, whole->seed);
    return NULL;
}

static void run_whole(const char *dsn, uint64_t seed)
{
    struct whole whole = { dsn, seed };
    pthread_t threads[2];

    if (pthread_create(&threads[0], NULL, publish_thread, &whole) != 0 ||
        pthread_create(&threads[1], NULL, relay_thread, &whole) != 0)
        _exit(7);
    kill_site_write(dsn, KEYS, seed);
}

/* ---- processes ---- */

static void run(const char *dsn, int number, uint64_t seed)
{
    if (PROCESSES == 1)
        run_whole(dsn, seed);
    else if (number < WRITERS)
        kill_site_write(dsn, KEYS, seed);
    else if (number < WRITERS + PUBLISHERS)
        kill_site_publish(dsn, "nobody"); /* the relays are this program's own */
    else
        relay_for_ever(dsn, seed);
}

static int restart_server(void)
{
#ifdef ON_POSTGRES
    struct error err = { 0 };

    REQUIRE_OK(postgres_stop(&err), err);
    kill_site_sleep(300);
    REQUIRE_OK(postgres_start(&err), err);
    return 1;
#else
    return 0;
#endif
}

/* ---- left alone ---- */

static void drain(const char *dsn)
{
    struct store *store = contract_open(dsn);
    const struct offset_key key = { SUBSCRIPTION_GROUP, SUBSCRIPTION.name };
    struct sink sink = make_sink(1, false);
    struct clock clock = system_clock();
    struct error err = { 0 };
    int64_t parked = 1;
    bool ok = false;

    for (int i = 0; i < DRAIN_TRIES && !ok; i++) {
        kill_site_sleep(i == 0 ? 0 : 50);
        ok = publish(store, true, 1, &err);
    }
    CHECK(ok, err.text);
    for (int i = 0; i < DRAIN_TRIES && (!ok || parked > 0 || i == 0); i++) {
        int64_t count;

        REQUIRE_OK(store_parked_retry(store, &(struct parked_query){ key, STR(""), 0 },
                                      clock_now_us(&clock), &count, &err),
                   err);
        ok = relay(store, &sink, true, &err);
        REQUIRE_OK(store_parked_count(store, &key, &parked, &err), err);
        kill_site_sleep(20);
    }
    CHECK(ok, err.text);
    CHECK_EQ(parked, 0, "no key waits");
    store_close(store);
}

struct oracle {
    int latest[KEYS]; /* the version that came last for the first time */
    bool has_come[KEYS][VERSIONS_MAX];
    long first, again, out_of_order, foreign;
};

static void see(void *context, const struct file_bus_arrival *arrival)
{
    struct oracle *o = context;
    int key;

    if (sscanf(arrival->key, "crossref/works/k%d", &key) != 1 || key < 0 || key >= KEYS ||
        arrival->version < 1 || arrival->version >= VERSIONS_MAX) {
        o->foreign++;
        return;
    }
    if (o->has_come[key][arrival->version]) {
        o->again++;
        return;
    }
    o->has_come[key][arrival->version] = true;
    o->first++;
    o->out_of_order += arrival->version != o->latest[key] + 1;
    o->latest[key] = (int)arrival->version;
}

static void judge(const char *dsn)
{
    struct oracle *o = calloc(1, sizeof(*o));
    const struct sink sink = make_sink(1, false);
    const int64_t events = sql_number(dsn, "SELECT count(*) FROM ing_outbox");
    long arrivals;

    REQUIRE(o != NULL, "memory");
    arrivals = file_bus_read(sink.path, see, o);
    CHECK(arrivals >= 0, "the file can be read");
    CHECK_EQ(o->foreign, 0, "nothing that nobody wrote");
    CHECK_EQ(o->out_of_order, 0, "out of order");
    CHECK_EQ(o->first, events, "each event, none lost");
    test_note(
        "%lld events, %ld arrivals: %lld lost, %ld repeated under their ids, %ld out of order",
        (long long)events, arrivals, (long long)(events - o->first), o->again, o->out_of_order);
    free(o);
}

static void subscribe(const char *dsn)
{
    struct store *store = contract_open(dsn);
    struct subscription_applied applied;
    struct error err = { 0 };

    REQUIRE_OK(store_subscription_apply(store,
                                        &(struct subscription_apply){ .name = SUBSCRIPTION.name,
                                                                      .kind = SUBSCRIPTION_RELAY,
                                                                      .spec = STR("{}"),
                                                                      .spec_hash = STR(HASH_A),
                                                                      .applied_by = STR("test"),
                                                                      .now_us = NOW_US },
                                        &applied, &err),
               err);
    store_close(store);
}

TEST(whoever_is_killed_each_event_arrives_in_order)
{
    const int wanted = kill_site_wanted(KILLS);
    struct kill_site site = { .dsn = contract_migrated(contract_new_database()),
                              .processes = PROCESSES,
                              .writers = WRITERS,
                              .run = run,
                              .random = { 11 } };
    int restarts = 0;

    subscribe(site.dsn);
    kill_site_begin(&site);
    while (kill_site_kills(&site) < wanted) {
        kill_site_sleep(random_between(&site.random, 5, PROCESSES == 1 ? 900 : 120));
        kill_site_disturb(&site);
        if (kill_site_kills(&site) >= (restarts + 1) * wanted / 3 && restarts < 2)
            restarts += PROCESSES > 1 ? restart_server() : 2;
    }
    kill_site_end(&site);
    drain(site.dsn);
    stream_sql_check(site.dsn);
    judge(site.dsn);
    test_note("%d kills, %d put to sleep, %d restarts of the server, %lld keys",
              kill_site_kills(&site), site.sleeps, PROCESSES > 1 ? restarts : 0,
              (long long)sql_number(site.dsn, "SELECT count(*) FROM ing_record"));
    CHECK(sql_number(site.dsn, "SELECT max(lease_epoch) - min(lease_epoch) FROM ing_offset") >= 0 &&
              sql_number(site.dsn, "SELECT count(*) FROM ing_outbox") > wanted,
          "there was work");
    contract_end();
}
