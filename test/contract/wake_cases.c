/* What port/store_wake.h promises, over every store: a commit of another session is heard. */
#include <poll.h>

#include "adapter/system/system.h"
#include "contract.h"
#include "engine/wake/notifier.h"
#include "stream_rig.h"

#define PATIENCE_US (20 * US_PER_SECOND) /* far more than it takes, and never waited for */

static struct waiter *wait_on(struct store *store, struct clock *clock, enum wake_channel channel)
{
    struct error err = { 0 };
    struct waiter *waiter;

    REQUIRE_OK(waiter_open(&waiter,
                           &(struct waiter_parts){ .store = store,
                                                   .clock = clock,
                                                   .channel = channel,
                                                   .stop_fd = CLOCK_NO_WAKE },
                           &err),
               err);
    CHECK_EQ(waiter_wait(waiter, PATIENCE_US), WAITER_WOKEN, "it begins to listen");
    return waiter;
}

/* By notes alone, as another process hears it. */
TEST(readers_hear_that_the_stream_has_grown)
{
    struct clock clock = system_clock();
    struct store *store = contract_store();
    struct store *reader = contract_another(store);
    struct sequencer *sequencer = stream_rig_sequencer(store, "one");
    struct waiter *waiter = wait_on(reader, &clock, WAKE_STREAM);

    (void)stream_rig_write(store, "k", 3);
    CHECK_EQ(stream_rig_round(sequencer, NOW_US).appended, 3, "appended");
    CHECK_EQ(waiter_wait(waiter, PATIENCE_US), WAITER_WOKEN, "heard");
    waiter_close(waiter);
    sequencer_close(sequencer);
    contract_end();
}

TEST(the_sequencer_hears_of_commits_of_other_processes)
{
    struct random_source random = system_random();
    struct clock clock = system_clock();
    struct store *store = contract_store();
    struct store *sender = contract_another(store);
    struct store *reader = contract_another(store);
    struct waiter *waiter = wait_on(reader, &clock, WAKE_OUTBOX);
    struct error err = { 0 };
    struct notifier *notifier;
    struct wake *wake;
    int64_t next_us;

    REQUIRE_OK(wake_open(&wake, &random, &err), err);
    store->listener = wake_listener(wake);
    REQUIRE_OK(notifier_open(
                   &notifier,
                   &(struct notifier_parts){
                       .wake = wake, .store = sender, .clock = &clock, .stop_fd = CLOCK_NO_WAKE },
                   &err),
               err);
    (void)stream_rig_write(store, "k", 3);
    notifier_turn(notifier, &next_us);
    CHECK_EQ(waiter_wait(waiter, PATIENCE_US), WAITER_WOKEN, "heard");
    notifier_close(notifier);
    waiter_close(waiter);
    store->listener = NULL;
    wake_close(wake);
    contract_end();
}

/* Whoever wrote events is known by its commit, and only by that. */
struct counting {
    struct store_listener listener; /* first */
    int commits;
};

static void count(struct store_listener *listener)
{
    ((struct counting *)listener)->commits++;
}

TEST(a_commit_with_events_is_told_once_and_nothing_else_is)
{
    struct counting counting = { .listener = { count } };
    struct store *store = contract_store();
    struct store *other;
    struct error err = { 0 };

    store->listener = &counting.listener;
    (void)stream_rig_write(store, "k", 3);
    CHECK_EQ(counting.commits, 1, "a commit");
    REQUIRE_OK(store_begin(store, &err), err);
    stream_rig_add(store, "x", 1);
    store_rollback(store);
    CHECK_EQ(counting.commits, 1, "not what was rolled back");
    REQUIRE_OK(store_begin(store, &err), err);
    REQUIRE_OK(store_lock(store, STR("a"), &err), err);
    REQUIRE_OK(store_commit(store, &err), err);
    CHECK_EQ(counting.commits, 1, "nor one without events");
    REQUIRE_OK(store_another(store, &other, &err), err);
    (void)stream_rig_write(other, "y", 1);
    CHECK_EQ(counting.commits, 2, "its other sessions too");
    store_close(other);
    contract_end();
}

/* The one waits and counts, the other writes: 1 when it was woken. */
static int write_or_wait(int index, const char *dsn)
{
    struct clock clock = system_clock();
    struct store *store = contract_open(dsn);
    struct sequencer *sequencer;
    struct waiter *waiter;
    int woken;

    if (index == 0) {
        struct pollfd nothing = { .fd = -1 };

        sequencer = stream_rig_sequencer(store, "one");
        for (int i = 0; i < 20; i++) {
            char prefix[8];

            (void)snprintf(prefix, sizeof(prefix), "k%d", i);
            (void)stream_rig_write(store, prefix, 1);
            (void)stream_rig_round(sequencer, NOW_US);
            (void)poll(&nothing, 1, 10); /* until the other one waits; more often than once */
        }
        sequencer_close(sequencer);
        store_close(store);
        return 0;
    }
    waiter = wait_on(store, &clock, WAKE_STREAM);
    woken = waiter_wait(waiter, PATIENCE_US) == WAITER_WOKEN;
    waiter_close(waiter);
    store_close(store);
    return woken;
}

TEST(processes_wake_each_other)
{
    const char *dsn = contract_migrated(contract_new_database());

    CHECK_EQ(contract_processes(2, write_or_wait, dsn), 1, "woken by the other process");
    contract_end();
}
