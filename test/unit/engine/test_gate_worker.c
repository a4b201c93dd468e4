/* One worker's gate: what it decides, call by call. Virtual time, over every store. */
#include <sys/eventfd.h>
#include <unistd.h>

#include "base/instant.h"
#include "contract.h"
#include "engine/gate/gate.h"
#include "engine/gate/limit.h"
#include "fault_store.h"
#include "fixed_secret.h"
#include "gate_crowd.h"
#include "port/store_rate.h"
#include "seeded_random.h"
#include "test.h"
#include "virtual_clock.h"

static const struct fixed_secret SECRETS[] = { { "env:KEY", "secret" },
                                               { "env:KEY_0", "one" },
                                               { "env:KEY_1", "two" } };

static struct {
    struct store *store;
    struct virtual_clock clock;
    struct seeded_random random;
    struct fixed_secrets secrets;
    struct gate_pool *pool;
    struct gate *gate;
    struct spec_endpoint endpoint;
    struct permit permit;
    struct error err;
} world;

static void begin_at(double per_second, int64_t burst, int wake_fd)
{
    virtual_clock_init(&world.clock, NOW_US);
    seeded_random_init(&world.random, 1);
    fixed_secrets_init(&world.secrets, SECRETS, ARRAY_LEN(SECRETS));
    world.endpoint = crowd_endpoint(per_second, burst);
    world.store = contract_store();
    fault_store_wrap(world.store);
    REQUIRE_OK(gate_pool_open(&world.pool, &world.err), world.err);
    REQUIRE_OK(gate_open(&world.gate,
                         &(struct gate_parts){ .pool = world.pool,
                                               .store = world.store,
                                               .clock = &world.clock.clock,
                                               .random = &world.random.source,
                                               .secrets = &world.secrets.source,
                                               .owner = STR("me"),
                                               .wake_fd = wake_fd },
                         &world.err),
               world.err);
    gate_begin(world.gate,
               &(struct gate_task){ .source = STR("example"), .wait_max_us = 10 * US_PER_SECOND });
}

static void begin(double per_second, int64_t burst)
{
    begin_at(per_second, burst, CLOCK_NO_WAKE);
}

static void end(void)
{
    gate_close(world.gate);
    gate_pool_close(world.pool);
    contract_end();
}

static struct heard_waits {
    struct permit_waiter waiter;
    int count;
    int64_t until_us;
    enum wait_reason reason;
} waits;

static void hear_wait(struct permit_waiter *waiter, int64_t until_us, enum wait_reason reason)
{
    waits = (struct heard_waits){ *waiter, waits.count + 1, until_us, reason };
}

static enum rate_decision ask(bool may_wait)
{
    const struct permit_request question = { &world.endpoint, may_wait, &waits.waiter };
    struct permit_gate *port = gate_port(world.gate);

    waits = (struct heard_waits){ .waiter = { hear_wait } };
    REQUIRE_OK(port->acquire(port, &question, &world.permit, &world.err), world.err);
    return world.permit.decision;
}

static void hear(struct permit_feedback feedback)
{
    feedback.endpoint = &world.endpoint;
    feedback.signal.now_us = clock_now_us(&world.clock.clock);
    feedback.signal.sent_at_us = feedback.signal.now_us;
    gate_port(world.gate)->feedback(gate_port(world.gate), &feedback);
}

static void done(void)
{
    hear((struct permit_feedback){ .requests = 1, .status = 200 });
}

TEST(who_may_not_wait_is_answered_at_once)
{
    begin(1, 2);
    CHECK_EQ(ask(false), RATE_ALLOW, "there is one");
    done();
    CHECK_EQ(ask(false), RATE_WAIT, "not yet");
    CHECK_EQ(clock_now_us(&world.clock.clock), NOW_US, "no time has passed");
    CHECK_EQ(ask(true), RATE_ALLOW, "waited for");
    CHECK(world.permit.waited_us > 400 * US_PER_MS && world.permit.waited_us <= US_PER_SECOND,
          "for as long as it takes");
    CHECK_STR(world.permit.key, STR("example/works"), "the key");
    CHECK_EQ(world.permit.cost, 1, "the cost");
    done();
    end();
}

TEST(a_waiter_hears_until_when_and_why)
{
    begin(1, 1);
    CHECK_EQ(ask(true), RATE_ALLOW, "at once");
    CHECK_EQ(waits.count, 0, "nothing to report");
    done();
    CHECK_EQ(ask(false), RATE_WAIT, "not yet");
    CHECK(world.permit.retry_at_us > NOW_US + 900 * US_PER_MS, "and when");
    CHECK_EQ(world.permit.reason, WAIT_RATE, "and why");
    CHECK_EQ(ask(true), RATE_ALLOW, "waited for");
    CHECK_EQ(waits.count, 1, "reported once");
    CHECK_EQ(waits.until_us, clock_now_us(&world.clock.clock), "until now");
    CHECK_EQ(waits.reason, WAIT_RATE, "its turn");
    hear((struct permit_feedback){
        .requests = 1,
        .status = 429,
        .signal = { .outcome = BUCKET_THROTTLED, .retry_after_us = 5 * US_PER_SECOND } });
    CHECK_EQ(ask(false), RATE_WAIT, "silence");
    CHECK_EQ(world.permit.reason, WAIT_RETRY_AFTER, "the source asked for it");
    CHECK_EQ(ask(true), RATE_ALLOW, "waited for");
    CHECK_EQ(waits.reason, WAIT_RETRY_AFTER, "and reported");
    CHECK_EQ(waits.until_us, clock_now_us(&world.clock.clock), "until now");
    hear((struct permit_feedback){
        .requests = 1,
        .status = 429,
        .is_quota = true,
        .signal = { .outcome = BUCKET_THROTTLED, .retry_after_us = US_PER_HOUR } });
    CHECK_EQ(ask(true), RATE_REJECT, "the quota is used up");
    CHECK_EQ(world.permit.reason, WAIT_QUOTA, "and that is why");
    end();
}

TEST(requests_beyond_a_permit_are_paid_before_the_next_one)
{
    begin(1, 1);
    CHECK_EQ(ask(true), RATE_ALLOW, "at once");
    hear((struct permit_feedback){ .requests = 3, .status = 200 }); /* two redirects */
    CHECK_EQ(ask(true), RATE_ALLOW, "waited for");
    CHECK(world.permit.waited_us >= 3 * US_PER_SECOND, "for three that were sent");
    CHECK(world.permit.waited_us < 4 * US_PER_SECOND, "and no longer");
    done();
    CHECK_EQ(ask(true), RATE_ALLOW, "paid");
    CHECK(world.permit.waited_us < 2 * US_PER_SECOND, "once");
    done();
    end();
}

/* Another process, which knows only what is in the store. */
static enum rate_decision ask_of_another(void)
{
    const struct permit_request question = { .endpoint = &world.endpoint };
    struct gate_pool *pool;
    struct gate *gate;
    struct store *session;
    struct permit permit;

    REQUIRE_OK(store_another(world.store, &session, &world.err), world.err);
    REQUIRE_OK(gate_pool_open(&pool, &world.err), world.err);
    REQUIRE_OK(gate_open(&gate,
                         &(struct gate_parts){ .pool = pool,
                                               .store = session,
                                               .clock = &world.clock.clock,
                                               .random = &world.random.source,
                                               .secrets = &world.secrets.source,
                                               .owner = STR("other"),
                                               .wake_fd = CLOCK_NO_WAKE },
                         &world.err),
               world.err);
    gate_begin(gate, &(struct gate_task){ .source = STR("example"), .wait_max_us = 1 });
    REQUIRE_OK(gate_port(gate)->acquire(gate_port(gate), &question, &permit, &world.err),
               world.err);
    if (permit.decision == RATE_ALLOW)
        gate_port(gate)->feedback(
            gate_port(gate),
            &(struct permit_feedback){ .endpoint = &world.endpoint,
                                       .requests = 1,
                                       .signal = { .now_us = clock_now_us(&world.clock.clock) } });
    gate_close(gate);
    gate_pool_close(pool);
    store_close(session);
    return permit.decision;
}

/* The store fails when the wait should be written, and the calendar is set before it is back. */
TEST(a_wait_that_is_written_late_is_as_long_on_any_calendar)
{
    static const int64_t jumps_us[] = { 0, US_PER_HOUR, -US_PER_HOUR };

    for (size_t i = 0; i < ARRAY_LEN(jumps_us); i++) {
        begin(10, 5);
        CHECK_EQ(ask(true), RATE_ALLOW, "at once");
        fault_store_arm(world.store, &(struct store_fault){ .sql = "UPDATE ing_rate_gate SET",
                                                            .code = "store.busy" });
        hear((struct permit_feedback){
            .requests = 1,
            .status = 429,
            .signal = { .outcome = BUCKET_THROTTLED, .retry_after_us = 100 * US_PER_SECOND } });
        CHECK(fault_store_disarm(world.store), "the wait could not be written");
        virtual_clock_set(&world.clock, NOW_US + jumps_us[i]);
        virtual_clock_advance(&world.clock, 5 * US_PER_SECOND);
        gate_close(world.gate); /* writes what is not written yet */
        world.gate = NULL;
        CHECK_EQ(ask_of_another(), RATE_WAIT, "silence");
        virtual_clock_advance(&world.clock, 90 * US_PER_SECOND);
        CHECK_EQ(ask_of_another(), RATE_WAIT, "still");
        virtual_clock_advance(&world.clock, 25 * US_PER_SECOND);
        CHECK_EQ(ask_of_another(), RATE_ALLOW, "it is over");
        end();
    }
}

/* ---- a wait that is demanded while the store is locked, or away ---- */

static void demand_silence(void)
{
    hear((struct permit_feedback){
        .requests = 1,
        .status = 429,
        .signal = { .outcome = BUCKET_THROTTLED, .retry_after_us = 100 * US_PER_SECOND } });
}

/* Nobody requests anything of that source again: it is silent. */
TEST(a_wait_that_could_not_be_written_is_written_as_soon_as_the_store_is_back)
{
    enum { BY_NOBODY_IN_PARTICULAR, BY_ANOTHER_SOURCE, BY_THE_END, WAYS };

    for (int way = 0; way < WAYS; way++) {
        struct spec_endpoint other;

        begin(10, 5);
        other = world.endpoint;
        other.name = STR("others");
        other.rate.scope = RATE_SCOPE_ENDPOINT;
        CHECK_EQ(ask(true), RATE_ALLOW, "at once");
        fault_store_arm(world.store, &(struct store_fault){ .effect = FAULT_OUTAGE });
        demand_silence();
        CHECK_EQ(ask(true), RATE_REJECT, "who has heard it is silent at once");
        virtual_clock_advance(&world.clock, 5 * US_PER_SECOND);
        gate_tell(world.gate);
        gate_begin(world.gate, &(struct gate_task){ .source = STR("example"),
                                                    .wait_max_us = 10 * US_PER_SECOND });
        virtual_clock_advance(&world.clock, 5 * US_PER_SECOND);
        CHECK(fault_store_disarm(world.store), "it could not be written");
        CHECK_EQ(ask_of_another(), RATE_ALLOW, "nor can others know of it");
        if (way == BY_NOBODY_IN_PARTICULAR) {
            gate_tell(world.gate);
        } else if (way == BY_ANOTHER_SOURCE) {
            world.endpoint = other;
            CHECK_EQ(ask(true), RATE_ALLOW, "of another source");
            done();
            world.endpoint = crowd_endpoint(10, 5);
        } else {
            gate_close(world.gate);
            world.gate = NULL;
        }
        CHECK_EQ(ask_of_another(), RATE_WAIT, "all are silent now");
        virtual_clock_advance(&world.clock, 85 * US_PER_SECOND);
        CHECK_EQ(ask_of_another(), RATE_WAIT, "for as long as was demanded,");
        virtual_clock_advance(&world.clock, 10 * US_PER_SECOND);
        CHECK_EQ(ask_of_another(), RATE_ALLOW, "and no longer");
        end();
    }
}

/* While a thread waits for the lock, another one sees that the row says nothing of a silence. */
static struct {
    struct clock clock; /* first */
    struct gate *gate;
    bool is_lifted;
} listener;

static bool listen_meanwhile(struct clock *clock, int64_t monotonic_us, int wake_fd)
{
    (void)clock;
    (void)wake_fd;
    listener.is_lifted = gate_hear_lifted(listener.gate);
    virtual_clock_advance(&world.clock, monotonic_us - clock_monotonic_us(&world.clock.clock));
    return true;
}

static int64_t listener_monotonic(struct clock *clock)
{
    (void)clock;
    return clock_monotonic_us(&world.clock.clock);
}

TEST(a_wait_is_not_forgotten_while_it_is_being_written)
{
    static const char *const moments[] = { NULL, "UPDATE ing_rate_gate SET" };

    for (size_t i = 0; i < ARRAY_LEN(moments); i++) {
        struct store *session;

        begin(10, 5);
        REQUIRE_OK(store_another(world.store, &session, &world.err), world.err);
        listener.clock = (struct clock){ .monotonic_us = listener_monotonic,
                                         .sleep_until_us = listen_meanwhile };
        listener.is_lifted = false;
        REQUIRE_OK(gate_open(&listener.gate,
                             &(struct gate_parts){ .pool = world.pool,
                                                   .store = session,
                                                   .clock = &world.clock.clock,
                                                   .random = &world.random.source,
                                                   .owner = STR("listener"),
                                                   .wake_fd = CLOCK_NO_WAKE },
                             &world.err),
                   world.err);
        CHECK_EQ(ask(true), RATE_ALLOW, "at once");
        fault_store_arm(world.store, &(struct store_fault){ .effect = FAULT_SLOW,
                                                            .sql = moments[i],
                                                            .clock = &listener.clock,
                                                            .slow_us = 3 * US_PER_SECOND });
        demand_silence();
        CHECK(fault_store_disarm(world.store), "it was written slowly");
        CHECK(!listener.is_lifted, "nobody has lifted it");
        CHECK_EQ(ask(true), RATE_REJECT, "it lasts");
        gate_close(listener.gate);
        store_close(session);
        end();
    }
}

TEST(a_slot_that_others_hold_and_a_quota_of_our_own_are_reported)
{
    struct rate_slot slot = { STR("example/works"), STR("other"), NOW_US, NOW_US + US_PER_SECOND,
                              1 };
    int64_t id;

    begin(10, 5);
    world.endpoint.rate.limit.concurrency = 1;
    world.endpoint.rate.quota_day = 1;
    REQUIRE_OK(store_begin(world.store, &world.err), world.err);
    REQUIRE_OK(store_slot_take(world.store, &slot, &id, &world.err), world.err);
    REQUIRE_OK(store_commit(world.store, &world.err), world.err);
    CHECK_EQ(ask(true), RATE_ALLOW, "when the other is done");
    CHECK(waits.count >= 1 && waits.count <= 2, "not for every look");
    CHECK_EQ(waits.reason, WAIT_SLOT, "the other");
    CHECK_EQ(waits.until_us, 0, "unknown until when");
    done();
    CHECK_EQ(ask(true), RATE_REJECT, "one a day");
    CHECK_EQ(world.permit.reason, WAIT_QUOTA, "that was it");
    end();
}

TEST(a_wait_that_is_too_long_is_rejected)
{
    begin(1, 1);
    CHECK_EQ(ask(true), RATE_ALLOW, "the first");
    hear((struct permit_feedback){
        .requests = 1,
        .status = 429,
        .signal = { .outcome = BUCKET_THROTTLED, .retry_after_us = US_PER_HOUR } });
    CHECK_EQ(ask(true), RATE_REJECT, "not for an hour");
    CHECK_EQ(clock_now_us(&world.clock.clock), NOW_US, "no time has passed");
    CHECK(world.permit.retry_at_us >= NOW_US + US_PER_HOUR &&
              world.permit.retry_at_us <= NOW_US + US_PER_HOUR + 5 * US_PER_SECOND,
          "and a little, by chance");
    virtual_clock_advance(&world.clock, US_PER_HOUR + 5 * US_PER_SECOND);
    CHECK_EQ(ask(true), RATE_ALLOW, "afterwards");
    done();
    end();
}

TEST(a_wait_ends_when_the_worker_must_stop)
{
    const struct permit_request question = { .endpoint = &world.endpoint, .may_wait = true };
    const int fd = eventfd(1, 0);
    struct permit_gate *port;

    begin_at(1, 1, fd);
    port = gate_port(world.gate);
    CHECK_EQ(ask(true), RATE_ALLOW, "no wait, no end");
    done();
    CHECK(!port->acquire(port, &question, &world.permit, &world.err), "cancelled");
    CHECK_STR(str_of(world.err.code), STR("fetch.cancelled"), "the code");
    CHECK_EQ(world.err.level, ERROR_TRANSIENT, "L1");
    end();
    (void)close(fd);
}

TEST(an_optional_credential_brings_its_own_limits)
{
    begin(1, 1);
    world.endpoint.rate.with_credential =
        (struct spec_rate_limit){ .per_second = 10, .burst = 1, .concurrency = 4 };
    world.endpoint.auth = (struct spec_auth){ .type = AUTH_API_KEY, .secret = STR("env:NONE") };
    CHECK_EQ(ask(true), RATE_ALLOW, "without");
    done();
    CHECK_EQ(ask(true), RATE_ALLOW, "without");
    done();
    CHECK(world.permit.waited_us > 900 * US_PER_MS, "one a second");
    world.endpoint.auth.secret = STR("env:KEY");
    world.endpoint.rate.per_credential = true;
    gate_begin(world.gate, &(struct gate_task){ .source = STR("example") });
    CHECK_EQ(ask(true), RATE_ALLOW, "with");
    CHECK_STR(world.permit.key, STR("example/works#env:KEY"), "a key of its own");
    done();
    CHECK_EQ(ask(true), RATE_ALLOW, "with");
    done();
    CHECK(world.permit.waited_us < 110 * US_PER_MS, "ten a second");
    end();
}

TEST(a_clock_that_is_set_back_stops_no_request)
{
    begin(10, 1);
    for (int i = 0; i < 5; i++) {
        CHECK_EQ(ask(true), RATE_ALLOW, "before");
        done();
    }
    virtual_clock_set(&world.clock, NOW_US - US_PER_DAY);
    CHECK_EQ(ask(true), RATE_ALLOW, "after");
    CHECK(world.permit.waited_us <= US_PER_SECOND, "and soon");
    done();
    end();
}

TEST(a_permit_that_was_not_used_costs_no_quota)
{
    const struct quota_key key = { STR("example/works"), QUOTA_DAY, NOW_US };
    struct quota_count count;

    begin(10, 2);
    world.endpoint.rate.quota_day = 10;
    CHECK_EQ(ask(true), RATE_ALLOW, "one");
    hear((struct permit_feedback){ .requests = 0 });
    CHECK_EQ(ask(true), RATE_ALLOW, "one that needed two requests");
    hear((struct permit_feedback){ .requests = 2, .status = 200 });
    CHECK_EQ(ask(true), RATE_ALLOW, "and one");
    done();
    gate_close(world.gate); /* hands in the rest */
    world.gate = NULL;
    REQUIRE_OK(store_quota_load(world.store, &key, &count, &world.err), world.err);
    CHECK_EQ(count.used[QUOTA_HARVEST], 3, "two and one");
    end();
}

TEST(the_last_feedback_is_counted_after_its_task_has_ended)
{
    const struct quota_key key = { STR("example/works"), QUOTA_DAY, NOW_US };
    struct quota_count count;

    begin(10, 2);
    world.endpoint.rate.quota_day = 10;
    CHECK_EQ(ask(true), RATE_ALLOW, "one that needs three requests");
    hear((struct permit_feedback){ .requests = 3, .status = 200 });
    world.endpoint = (struct spec_endpoint){ 0 }; /* it was the task's */
    gate_close(world.gate);
    world.gate = NULL;
    REQUIRE_OK(store_quota_load(world.store, &key, &count, &world.err), world.err);
    CHECK_EQ(count.used[QUOTA_HARVEST], 3, "all three");
    end();
}

TEST(that_all_is_well_is_written_once_a_second)
{
    int64_t calls;

    begin(1000, 100);
    for (int i = 0; i < 2000; i++) {
        CHECK_EQ(ask(true), RATE_ALLOW, "warm");
        done();
    }
    calls = fault_store_calls(world.store);
    for (int i = 0; i < 2000; i++) {
        CHECK_EQ(ask(true), RATE_ALLOW, "goes");
        done();
    }
    calls = fault_store_calls(world.store) - calls;
    test_note("%.2f store calls per request", (double)calls / 2000);
    CHECK(calls <= 2000, "far less than a transaction for each");
    end();
}

TEST(slots_are_returned)
{
    struct rate_slot slot = { STR("example/works"), STR("other"), NOW_US, NOW_US + 1000, 2 };
    int64_t first, second;

    begin(10, 2);
    world.endpoint.rate.limit.concurrency = 2;
    CHECK_EQ(ask(true), RATE_ALLOW, "one");
    REQUIRE_OK(store_begin(world.store, &world.err), world.err);
    REQUIRE_OK(store_slot_take(world.store, &slot, &first, &world.err), world.err);
    REQUIRE_OK(store_slot_take(world.store, &slot, &second, &world.err), world.err);
    store_rollback(world.store);
    CHECK(first > 0, "one of two is free");
    CHECK_EQ(second, 0, "the other is ours");
    done();
    REQUIRE_OK(store_begin(world.store, &world.err), world.err);
    REQUIRE_OK(store_slot_take(world.store, &slot, &first, &world.err), world.err);
    REQUIRE_OK(store_slot_take(world.store, &slot, &second, &world.err), world.err);
    store_rollback(world.store);
    CHECK(first > 0 && second > 0, "both are free");
    end();
}

/* How many of two slots are free. */
static int free_slots(void)
{
    const struct rate_slot slot = { STR("example/works"), STR("other"), NOW_US, NOW_US + 1000, 2 };
    int64_t first, second;

    REQUIRE_OK(store_begin(world.store, &world.err), world.err);
    REQUIRE_OK(store_slot_take(world.store, &slot, &first, &world.err), world.err);
    REQUIRE_OK(store_slot_take(world.store, &slot, &second, &world.err), world.err);
    store_rollback(world.store);
    return (first > 0) + (second > 0);
}

/* Requests of 5 ms, one after the other, for a second. */
static void hurry(void)
{
    for (int i = 0; i < 200; i++) {
        CHECK_EQ(ask(true), RATE_ALLOW, "goes");
        virtual_clock_advance(&world.clock, 5 * US_PER_MS);
        done();
    }
}

static int64_t calls_of_a_hurry(void)
{
    const int64_t before = fault_store_calls(world.store);

    hurry();
    return fault_store_calls(world.store) - before;
}

TEST(a_worker_whose_requests_follow_each_other_keeps_its_slot)
{
    int64_t calls;

    begin(1000, 1000);
    world.endpoint.rate.limit.concurrency = 2;
    hurry();
    calls = calls_of_a_hurry();
    test_note("%.2f store calls per request", (double)calls / 200);
    CHECK(calls <= 400, "neither a slot nor a permit is taken for each");
    CHECK_EQ(free_slots(), 1, "it is kept");
    CHECK_EQ(ask(true), RATE_ALLOW, "the next request");
    CHECK_EQ(free_slots(), 1, "has it");
    done();
    gate_end(world.gate);
    CHECK_EQ(free_slots(), 2, "until the task ends");
    end();
}

TEST(a_slot_is_not_kept_where_all_are_taken)
{
    const struct rate_slot other = { STR("example/works"), STR("other"), NOW_US,
                                     NOW_US + US_PER_HOUR, 2 };
    int64_t id;

    begin(1000, 1000);
    world.endpoint.rate.limit.concurrency = 2;
    hurry();
    REQUIRE_OK(store_begin(world.store, &world.err), world.err);
    REQUIRE_OK(store_slot_take(world.store, &other, &id, &world.err), world.err);
    REQUIRE_OK(store_commit(world.store, &world.err), world.err);
    CHECK_EQ(free_slots(), 0, "another process has the second");
    hurry();
    CHECK_EQ(free_slots(), 1, "a third would find one between two requests");
    end();
}

/* As when the lease of its owner has run out. */
static void lose_slots(void)
{
    const struct rate_slot later = { STR("example/works"), STR("other"), NOW_US + US_PER_HOUR,
                                     NOW_US + 2 * US_PER_HOUR, 2 };
    int64_t id;

    REQUIRE_OK(store_begin(world.store, &world.err), world.err);
    REQUIRE_OK(store_slot_take(world.store, &later, &id, &world.err), world.err);
    REQUIRE_OK(store_slot_return(world.store, id, &world.err), world.err);
    REQUIRE_OK(store_commit(world.store, &world.err), world.err);
    REQUIRE(free_slots() == 2, "all are free");
}

TEST(a_slot_that_was_kept_for_too_long_is_not_used)
{
    begin(1000, 1000);
    world.endpoint.rate.limit.concurrency = 2;
    hurry();
    CHECK_EQ(free_slots(), 1, "it is kept");
    virtual_clock_advance(&world.clock, US_PER_SECOND);
    lose_slots();
    CHECK_EQ(ask(true), RATE_ALLOW, "with another");
    CHECK_EQ(free_slots(), 1, "that counts");
    done();
    CHECK_EQ(free_slots(), 2, "and is returned");
    end();
}

TEST(a_slot_that_could_not_be_returned_is_returned_later)
{
    begin(10, 2);
    world.endpoint.rate.limit.concurrency = 2;
    CHECK_EQ(ask(true), RATE_ALLOW, "one");
    fault_store_arm(world.store,
                    &(struct store_fault){ .sql = "DELETE FROM ing_rate_permit WHERE id",
                                           .code = "store.busy" });
    done();
    CHECK(fault_store_disarm(world.store), "it could not be returned");
    CHECK_EQ(free_slots(), 1, "so it is taken");
    CHECK_EQ(ask(true), RATE_ALLOW, "another");
    done();
    CHECK_EQ(free_slots(), 2, "both were returned");
    end();
}

/* The server may be working on a request that was given up. */
TEST(a_slot_of_a_request_that_timed_out_is_kept_for_a_while)
{
    const struct rate_slot later = { STR("example/works"), STR("other"), NOW_US + 2 * US_PER_MINUTE,
                                     NOW_US + US_PER_HOUR, 2 };
    int64_t first, second;

    begin(10, 2);
    world.endpoint.rate.limit.concurrency = 2;
    CHECK_EQ(ask(true), RATE_ALLOW, "one");
    hear((struct permit_feedback){ .requests = 1, .busy_us = US_PER_MINUTE });
    CHECK_EQ(free_slots(), 1, "it counts");
    REQUIRE_OK(store_begin(world.store, &world.err), world.err);
    REQUIRE_OK(store_slot_take(world.store, &later, &first, &world.err), world.err);
    REQUIRE_OK(store_slot_take(world.store, &later, &second, &world.err), world.err);
    store_rollback(world.store);
    CHECK(first > 0 && second > 0, "and then no longer");
    end();
}

TEST(a_slot_whose_commit_was_lost_is_returned)
{
    begin(10, 2);
    world.endpoint.rate.limit.concurrency = 2;
    fault_store_arm(world.store,
                    &(struct store_fault){ .effect = FAULT_AFTER, .call = FAULT_COMMIT });
    CHECK_EQ(ask(true), RATE_ALLOW, "by a second slot");
    CHECK(fault_store_disarm(world.store), "the first one's commit was lost");
    done();
    CHECK_EQ(free_slots(), 2, "both were returned");
    end();
}

/* What the limits promise, by the formula of limit.h: exactly, for every burst and cost. */
TEST(what_is_left_unused_makes_up_for_lateness)
{
    for (int burst = 1; burst <= 60; burst++) {
        for (int cost = 1; cost <= burst; cost++) {
            struct spec_endpoint endpoint = crowd_endpoint(7.5, burst);
            struct gate_limit limit;
            double room_s;

            endpoint.rate.cost = cost;
            limit = gate_limit_of(&endpoint.rate, false);
            room_s = (double)(burst * MICRO - limit.config.burst) / 7.5e6;
            if (limit.config.burst == limit.cost)
                room_s += (double)limit.cost / (double)limit.config.rate_max - cost / 7.5;
            CHECK((double)limit.late_us <= room_s * 1e6 + 1, "not later than there is room");
            CHECK((double)limit.late_us >= 1000, "room for a machine to wake up");
            CHECK(limit.config.burst >= limit.cost, "a request can pass");
            CHECK((double)limit.config.rate_max >= 7.5e6 * 0.98 - 1, "at least 98 %");
        }
    }
}

/* ---- several credentials ---- */

static struct crowd_credentials credentials;

static void begin_with_credentials(size_t count, int64_t quota_day)
{
    begin(100, 100);
    credentials = (struct crowd_credentials){ .count = count, .quota_day = quota_day };
    crowd_give_credentials(&world.endpoint, &credentials);
}

/* One request: which credential it was sent with, '' where there was no permit. */
static struct str send_one(struct permit_feedback feedback)
{
    struct str sent;

    if (ask(true) != RATE_ALLOW)
        return STR("");
    sent = world.permit.endpoint->credential;
    feedback.endpoint = world.permit.endpoint;
    feedback.requests = 1;
    feedback.signal.now_us = clock_now_us(&world.clock.clock);
    feedback.signal.sent_at_us = feedback.signal.now_us;
    gate_port(world.gate)->feedback(gate_port(world.gate), &feedback);
    return sent;
}

static struct str send_well(void)
{
    return send_one((struct permit_feedback){ .status = 200 });
}

TEST(credentials_are_used_in_their_order_each_until_its_quota_is_used_up)
{
    begin_with_credentials(2, 3);
    for (int i = 0; i < 6; i++)
        CHECK_STR(send_well(), i < 3 ? STR("key0") : STR("key1"), "the next after its quota");
    CHECK_STR(send_well(), STR(""), "none is left");
    CHECK_EQ(world.permit.reason, WAIT_QUOTA, "and that is why");
    CHECK_EQ(world.permit.retry_at_us, NOW_US + US_PER_DAY, "until the next day");
    virtual_clock_advance(&world.clock, US_PER_DAY);
    CHECK_STR(send_well(), STR("key0"), "the first again");
    CHECK_STR(world.permit.key, STR("example/works#key0"), "each has a key of its own");
    end();
}

TEST(a_quota_that_the_source_reports_parks_only_that_credential)
{
    begin_with_credentials(2, 0);
    CHECK_STR(send_well(), STR("key0"), "the first");
    CHECK(world.permit.has_other, "there is another");
    CHECK_STR(send_one((struct permit_feedback){
                  .status = 429,
                  .is_quota = true,
                  .signal = { .outcome = BUCKET_THROTTLED, .retry_after_us = US_PER_HOUR } }),
              STR("key0"), "is used up");
    CHECK_STR(send_well(), STR("key1"), "the second");
    virtual_clock_advance(&world.clock, US_PER_HOUR + US_PER_MINUTE);
    CHECK_STR(send_well(), STR("key0"), "back after the reset");
    end();
}

/* Too fast is not used up: the credential waits. */
TEST(a_credential_that_was_too_fast_is_waited_for)
{
    begin_with_credentials(2, 0);
    CHECK_STR(send_one((struct permit_feedback){
                  .status = 429,
                  .signal = { .outcome = BUCKET_THROTTLED, .retry_after_us = 5 * US_PER_SECOND } }),
              STR("key0"), "the first");
    CHECK_STR(send_well(), STR("key0"), "is waited for");
    CHECK(clock_now_us(&world.clock.clock) >= NOW_US + 5 * US_PER_SECOND, "as long as it said");
    end();
}

TEST(a_refused_credential_is_not_used_by_any_process_until_a_person_readmits_it)
{
    bool changed;

    begin_with_credentials(2, 0);
    CHECK_STR(send_one((struct permit_feedback){ .status = 401, .is_refused = true }), STR("key0"),
              "the first");
    CHECK_STR(send_well(), STR("key1"), "the second");
    CHECK(!world.permit.has_other, "which is the last");
    virtual_clock_advance(&world.clock, US_PER_SECOND);
    gate_close(world.gate);
    gate_pool_close(world.pool);
    REQUIRE_OK(gate_pool_open(&world.pool, &world.err), world.err); /* another process */
    REQUIRE_OK(gate_open(&world.gate,
                         &(struct gate_parts){ .pool = world.pool,
                                               .store = world.store,
                                               .clock = &world.clock.clock,
                                               .random = &world.random.source,
                                               .secrets = &world.secrets.source,
                                               .owner = STR("other"),
                                               .wake_fd = CLOCK_NO_WAKE },
                         &world.err),
               world.err);
    gate_begin(world.gate, &(struct gate_task){ .source = STR("example") });
    CHECK_STR(send_well(), STR("key1"), "knows it from the store");
    REQUIRE_OK(gate_lift(world.store, STR("example/works#key0"), NOW_US, &changed, &world.err),
               world.err);
    CHECK(changed, "a person has seen to it");
    virtual_clock_advance(&world.clock, US_PER_MINUTE);
    CHECK_STR(send_well(), STR("key0"), "the first again");
    end();
}

TEST(a_credential_without_a_value_is_passed_over)
{
    begin_with_credentials(2, 0);
    credentials.variants[0].auth.secret = STR("env:NOT_SET");
    CHECK_STR(send_well(), STR("key1"), "the one that is set");
    CHECK(!world.permit.has_other, "the only one");
    end();
}

/* ---- as people see it ---- */

TEST(a_gate_is_shown_with_the_limits_that_its_requests_have)
{
    struct gate_view_request request = { STR("example/works#env:NOT_SET"), &world.endpoint.rate,
                                         NOW_US };
    struct gate_view view;

    begin(3, 3);
    world.endpoint.auth = (struct spec_auth){ .type = AUTH_API_KEY,
                                              .is_optional = true,
                                              .secret = STR("env:NOT_SET") };
    world.endpoint.rate.per_credential = true;
    world.endpoint.rate.with_credential = (struct spec_rate_limit){ .per_second = 10, .burst = 10 };
    CHECK_EQ(ask(true), RATE_ALLOW, "a request without the credential");
    done();
    REQUIRE_OK(gate_view(world.store, &request, &view, &world.err), world.err);
    CHECK(view.is_known && !view.has_credential, "none is set");
    CHECK_EQ(view.rate, 3 * MICRO, "the rate without it");
    request.key = STR("example/works#env:KEY");
    world.endpoint.auth.secret = STR("env:KEY");
    gate_begin(world.gate, &(struct gate_task){ .source = STR("example") });
    CHECK_EQ(ask(true), RATE_ALLOW, "a request with it");
    done();
    REQUIRE_OK(gate_view(world.store, &request, &view, &world.err), world.err);
    CHECK(view.has_credential, "it is set");
    CHECK_EQ(view.rate, 10 * MICRO, "the rate with it");
    end();
}
