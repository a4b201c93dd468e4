/* The rate gate in virtual time, over every store. */
#include "base/instant.h"
#include "contract.h"
#include "engine/gate/limit.h"
#include "fault_store.h"
#include "gate_crowd.h"
#include "port/store_rate.h"
#include "test.h"

static struct crowd crowd; /* large */

static struct store *new_store(void)
{
    struct store *store = contract_store();

    fault_store_wrap(store);
    return store;
}

/* ---- the promise ---- */

static const struct {
    const char *label;
    double per_second;
    int64_t burst;
    int64_t cost;
    int processes;
    int threads;
    int64_t latency_max_us;
    int64_t late_max_us, later_max_us;
    double used; /* at least */
} crowds[] = {
    { "one thread, one at a time", 3, 1, 1, 1, 1, 50000, 1000, 3000, 0.97 },
    { "four processes, one at a time", 3, 1, 1, 4, 1, 50000, 1000, 3000, 0.97 },
    { "one a second", 1, 1, 1, 4, 1, 100000, 3000, 12000, 0.97 },
    { "ten a second, one at a time", 10, 1, 1, 4, 2, 100000, 300, 1200, 0.97 },
    { "twenty, burst five", 20, 5, 1, 4, 1, 20000, 3000, 30000, 0.97 },
    { "twenty, burst five, threads", 20, 5, 1, 4, 4, 400000, 3000, 30000, 0.97 },
    { "twenty, slow answers", 20, 5, 1, 2, 8, 600000, 3000, 30000, 0.97 },
    { "fifty, burst fifty", 50, 50, 1, 4, 4, 100000, 3000, 40000, 0.97 },
    { "three hundred, one process", 300, 30, 1, 1, 8, 5000, 500, 5000, 0.97 },
    { "three hundred, four processes", 300, 30, 1, 4, 4, 5000, 500, 5000, 0.97 },
    { "requests that cost three", 20, 6, 3, 3, 2, 20000, 3000, 20000, 0.97 },
    { "a cost of the whole burst", 20, 5, 5, 3, 2, 20000, 500, 2000, 0.97 },
    { "woken late, as late as may be", 20, 5, 1, 4, 2, 20000, 74000, 74000, 0.97 },
    { "woken too late half of the time", 20, 5, 1, 4, 2, 20000, 150000, 400000, 0.4 },
    { "too late, one at a time", 10, 1, 1, 4, 2, 20000, 3000, 9000, 0.4 },
    { "always far too late", 200, 1, 1, 4, 2, 2000, 20000, 20000, 0.08 },
    { "one every ten seconds", 0.1, 1, 1, 3, 1, 50000, 3000, 30000, 0.96 },
};

static void order_crowd(size_t i, uint64_t seed)
{
    crowd = (struct crowd){
        .endpoint = crowd_endpoint(crowds[i].per_second, crowds[i].burst),
        .processes = crowds[i].processes,
        .threads = crowds[i].threads,
        .latency_max_us = crowds[i].latency_max_us,
        .late_max_us = crowds[i].late_max_us,
        .later_max_us = crowds[i].later_max_us,
        .seed = seed,
    };
    crowd.endpoint.rate.cost = crowds[i].cost;
    crowd.length_us = (int64_t)(600 / crowds[i].per_second * (double)crowds[i].cost * 1e6);
    if (crowd.length_us < 8 * US_PER_SECOND)
        crowd.length_us = 8 * US_PER_SECOND;
}

TEST(no_stretch_of_time_has_more_than_rate_and_burst_and_the_rate_is_used)
{
    for (size_t i = 0; i < ARRAY_LEN(crowds); i++) {
        struct store *store = new_store();
        double excess, used;

        order_crowd(i, 1 + i);
        crowd_run(&crowd, store);
        excess = crowd_excess(&crowd, crowds[i].per_second, (double)crowds[i].burst,
                              (double)crowds[i].cost);
        used = crowd_used(&crowd, crowds[i].per_second, (double)crowds[i].cost, 0, crowd.length_us);
        test_note("%s: %zu requests, %.2f %% of the rate, %.4f below the limit", crowds[i].label,
                  crowd.count, used * 100, -excess);
        CHECK(excess <= 1e-6, crowds[i].label);
        CHECK(used >= crowds[i].used, crowds[i].label);
        contract_end();
    }
}

TEST(no_stretch_has_more_when_work_comes_and_goes)
{
    for (uint64_t seed = 1; seed <= 20; seed++) {
        struct random random = { seed };
        const double per_second = (double)random_between(&random, 2, 60);
        const int64_t burst = random_between(&random, 1, 20);
        struct store *store = new_store();

        crowd = (struct crowd){ .endpoint = crowd_endpoint(per_second, burst), .seed = seed };
        crowd.processes = (int)random_between(&random, 1, 5);
        crowd.threads = (int)random_between(&random, 1, 6);
        crowd.latency_max_us = random_between(&random, 1000, 300000);
        crowd.idle_max_us = random_between(&random, 1000, 3000000);
        crowd.late_max_us = random_between(&random, 100, 100000);
        crowd.later_max_us = random_between(&random, 100, 500000);
        crowd.length_us = 30 * US_PER_SECOND;
        crowd_run(&crowd, store);
        if (crowd_excess(&crowd, per_second, (double)burst, 1) > 1e-6)
            test_note("seed %d", (int)seed);
        CHECK(crowd_excess(&crowd, per_second, (double)burst, 1) <= 1e-6, "the promise");
        CHECK(crowd.count > 20, "something was sent");
        contract_end();
    }
}

/* The audit of the source: each credential by itself, over all processes. */
TEST(no_stretch_has_more_of_a_credential_than_its_rate_and_no_day_more_than_its_quota)
{
    for (uint64_t seed = 1; seed <= (uint64_t)contract_rounds(12); seed++) {
        struct random random = { seed };
        const double per_second = (double)random_between(&random, 2, 30);
        const int64_t burst = random_between(&random, 1, 10);
        struct crowd_credentials credentials = { .count = (size_t)random_between(&random, 2, 3),
                                                 .quota_day = random_between(&random, 20, 80) };
        struct store *store = new_store();

        crowd = (struct crowd){ .endpoint = crowd_endpoint(per_second, burst), .seed = seed };
        crowd_give_credentials(&crowd.endpoint, &credentials);
        crowd.processes = (int)random_between(&random, 1, 4);
        crowd.threads = (int)random_between(&random, 1, 4);
        crowd.latency_max_us = random_between(&random, 1000, 300000);
        crowd.late_max_us = random_between(&random, 100, 100000);
        crowd.length_us = 150 * US_PER_SECOND;
        crowd_run(&crowd, store);
        for (size_t i = 0; i < credentials.count; i++) {
            const struct str name = credentials.variants[i].credential;
            int64_t sent = 0;

            for (size_t u = 0; u < crowd.count; u++)
                sent += str_eq(crowd.uses[u].credential, name);
            CHECK_EQ(sent, credentials.quota_day, "all of its quota, and no more");
            CHECK(crowd_excess_of(&crowd, name, per_second, (double)burst) <= 1e-6, "the promise");
        }
        CHECK(crowd.rejects > 0, "then there is none");
        if (test_failures() > 0)
            test_note("seed %d", (int)seed);
        contract_end();
    }
}

TEST(two_gates_share_evenly_and_neither_has_more_than_its_quantum_in_a_row)
{
    struct store *store = new_store();
    size_t first = 0, in_a_row = 0, longest = 0;

    crowd = (struct crowd){ .endpoint = crowd_endpoint(100, 10),
                            .processes = 2,
                            .threads = 1,
                            .length_us = 20 * US_PER_SECOND,
                            .latency_max_us = 2000,
                            .late_max_us = 1000 };
    crowd.endpoint.rate.quantum = 4;
    crowd_run(&crowd, store);
    for (size_t i = 0; i < crowd.count; i++) {
        first += crowd.uses[i].process == 0;
        in_a_row = i > 0 && crowd.uses[i].process == crowd.uses[i - 1].process ? in_a_row + 1 : 1;
        longest = in_a_row > longest ? in_a_row : longest;
    }
    CHECK(first * 100 >= crowd.count * 45 && first * 100 <= crowd.count * 55, "about half each");
    CHECK(longest <= 4, "the quantum");
    contract_end();
}

TEST(slots_limit_what_is_under_way_over_all_processes)
{
    struct store *store = new_store();

    crowd = (struct crowd){ .endpoint = crowd_endpoint(50, 10),
                            .processes = 3,
                            .threads = 3,
                            .length_us = 20 * US_PER_SECOND,
                            .latency_max_us = 300 * US_PER_MS };
    crowd.endpoint.rate.limit.concurrency = 2;
    crowd_run(&crowd, store);
    CHECK_EQ(crowd_peak(&crowd), 2, "two at once");
    /* 2 at a time, 165 ms each, and at most 30 ms until one that is free is found. */
    CHECK(crowd.count >= 200, "and they are used");
    contract_end();
}

/* ---- what the source says ---- */

static struct rate_gate row_of(struct store *store)
{
    struct rate_gate row;
    struct error err = { 0 };

    REQUIRE_OK(store_rate_peek(store, STR("example"), &row, &err), err);
    REQUIRE(row.version > 0, "there is a row");
    return row;
}

static void order_four(double per_second, int64_t burst)
{
    crowd = (struct crowd){ .endpoint = crowd_endpoint(per_second, burst),
                            .processes = 4,
                            .threads = 2,
                            .length_us = 60 * US_PER_SECOND,
                            .latency_max_us = 20 * US_PER_MS,
                            .late_max_us = 2000 };
    crowd.endpoint.rate.scope = RATE_SCOPE_SOURCE;
}

/* Requests after (from, to). */
static size_t sent_between(int64_t from_us, int64_t to_us)
{
    size_t count = 0;

    for (size_t i = 0; i < crowd.count; i++)
        count += crowd.uses[i].at_us > from_us && crowd.uses[i].at_us < to_us;
    return count;
}

static void refuse_hundredth(struct crowd *of, size_t number, struct permit_feedback *feedback)
{
    (void)of;
    if (number != 100)
        return;
    feedback->signal.outcome = BUCKET_THROTTLED;
    feedback->signal.retry_after_us = 30 * US_PER_SECOND;
}

TEST(a_retry_after_silences_all_processes_and_the_rate_learned_survives)
{
    struct store *store = new_store();
    struct rate_gate row;
    int64_t heard_us, learned;

    order_four(20, 5);
    crowd.answer = refuse_hundredth;
    crowd_run(&crowd, store);
    heard_us = crowd.uses[100].done_us;
    CHECK_EQ(sent_between(heard_us + GATE_LOOK_AGE_US, heard_us + 30 * US_PER_SECOND), 0,
             "nothing is sent");
    CHECK(sent_between(heard_us, heard_us + GATE_LOOK_AGE_US) <= 1, "but what was on its way");
    CHECK(sent_between(heard_us + 35 * US_PER_SECOND, crowd.length_us) > 100, "then they go on");
    row = row_of(store);
    learned = row.bucket.rate;
    CHECK(learned <= 11 * MICRO && learned >= 10 * MICRO,
          "half of the rate, and a step of a twentieth");

    order_four(20, 5); /* all processes start again */
    crowd.begin_us = 70 * US_PER_SECOND;
    crowd.length_us = 20 * US_PER_SECOND;
    crowd_run(&crowd, store);
    CHECK(crowd.count < 300 && crowd.count > 180,
          "the learned rate holds, not the 400 of the full one");
    contract_end();
}

/* An optional credential that is not set: people are shown the rate that holds. */
TEST(what_people_see_is_the_rate_that_holds)
{
    struct store *store = new_store();
    struct gate_view view;
    struct error err = { 0 };

    order_four(20, 5);
    crowd.endpoint.rate.with_credential =
        (struct spec_rate_limit){ .per_second = 100, .burst = 50 };
    crowd_run(&crowd, store);
    REQUIRE_OK(gate_view(store,
                         &(struct gate_view_request){ STR("example"), &crowd.endpoint.rate,
                                                      crowd.begin_us + crowd.length_us },
                         &view, &err),
               err);
    CHECK(view.is_known, "there were requests");
    CHECK(!view.has_credential, "without a credential");
    CHECK_EQ(view.rate, 20 * MICRO, "at the rate without one");
    contract_end();
}

static void say_remaining(struct crowd *of, size_t number, struct permit_feedback *feedback)
{
    (void)of;
    feedback->signal.has_remaining = true;
    feedback->signal.remaining = number >= 50 && number < 54 ? 0 : 1000;
    feedback->signal.reset_at_us = feedback->signal.now_us + 10 * US_PER_SECOND;
    feedback->signal.provider_rate = 5 * MICRO;
}

TEST(what_remains_and_the_provider_s_own_limit_are_obeyed)
{
    struct store *store = new_store();
    int64_t heard_us;

    order_four(20, 5);
    crowd.answer = say_remaining;
    crowd_run(&crowd, store);
    heard_us = crowd.uses[50].done_us;
    CHECK_EQ(sent_between(heard_us + GATE_LOOK_AGE_US, heard_us + 10 * US_PER_SECOND), 0,
             "nothing remains until the reset");
    CHECK(crowd.count < 60 * 5, "the provider's limit");
    CHECK(crowd.count > 40 * 5, "which is used");
    CHECK_EQ(row_of(store).bucket.provider_rate, 5 * MICRO, "and remembered");
    contract_end();
}

/* ---- quota ---- */

static struct quota_count quota_of_day(struct store *store)
{
    const struct quota_key key = { STR("example"), QUOTA_DAY, INT64_C(1767225600000000) };
    struct quota_count count;
    struct error err = { 0 };

    REQUIRE_OK(store_quota_load(store, &key, &count, &err), err);
    return count;
}

TEST(a_quota_is_never_exceeded_and_shared_by_class)
{
    struct store *store = new_store();
    struct quota_count count;

    order_four(20, 5);
    crowd.endpoint.rate.quota_day = 300;
    for (int i = 0; i < 8; i++)
        crowd.operations[i] = i < 4 ? OPERATION_BACKFILL : OPERATION_UPDATE;
    crowd_run(&crowd, store);
    count = quota_of_day(store);
    /* 270 without the margin, of which 60 % are HARVEST's and 30 % UPDATE's. */
    CHECK_EQ(count.used[QUOTA_UPDATE] + count.used[QUOTA_BACKFILL], 108, "all but HARVEST's share");
    CHECK(count.used[QUOTA_BACKFILL] <= 27, "BACKFILL leaves UPDATE its part");
    CHECK_EQ(crowd.count, 108, "as many were sent");
    CHECK(crowd.rejects > 0, "the others were sent away");
    CHECK_EQ(crowd.retry_at_us, INT64_C(1767225600000000) + US_PER_DAY, "until the next day");

    order_four(20, 5);
    crowd.endpoint.rate.quota_day = 300;
    crowd.begin_us = 70 * US_PER_SECOND;
    crowd_run(&crowd, store);
    CHECK_EQ(crowd.count, 270 - 108, "HARVEST has the rest");
    contract_end();
}

TEST(what_is_booked_becomes_used)
{
    const struct quota_key key = { STR("example"), QUOTA_DAY, INT64_C(1767225600000000) };
    struct store *store = new_store();
    struct quota_count count;
    struct error err = { 0 };

    REQUIRE_OK(store_quota_add(store, &key, QUOTA_BACKFILL, 0, 100, &err), err);
    order_four(20, 5);
    crowd.endpoint.rate.quota_day = 300;
    for (int i = 0; i < 8; i++)
        crowd.operations[i] = OPERATION_BACKFILL;
    crowd_run(&crowd, store);
    count = quota_of_day(store);
    CHECK_EQ(count.used[QUOTA_BACKFILL], 100, "what was booked may be sent");
    CHECK_EQ(count.booked[QUOTA_BACKFILL], 0, "and is booked no more");
    CHECK_EQ(crowd.count, 100, "and no more than that");
    contract_end();
}

static void say_gone(struct crowd *of, size_t number, struct permit_feedback *feedback)
{
    (void)of;
    feedback->is_quota = number == 30;
    if (number == 30) {
        feedback->signal.outcome = BUCKET_THROTTLED;
        feedback->signal.reset_at_us = feedback->signal.now_us + US_PER_HOUR;
    }
}

TEST(a_quota_that_is_gone_parks_the_source)
{
    struct store *store = new_store();
    struct gate_view view;
    struct error err = { 0 };
    int64_t heard_us;

    order_four(20, 5);
    crowd.answer = say_gone;
    crowd_run(&crowd, store);
    heard_us = crowd.uses[30].done_us;
    CHECK_EQ(sent_between(heard_us + GATE_LOOK_AGE_US, INT64_MAX), 0, "nothing more");
    CHECK(crowd.rejects > 100, "tasks are given back");
    CHECK(crowd.retry_at_us - INT64_C(1767225600000000) - heard_us - US_PER_HOUR < 1000,
          "until the reset");
    REQUIRE_OK(gate_view(store,
                         &(struct gate_view_request){ STR("example"), &crowd.endpoint.rate,
                                                      INT64_C(1767225600000000) },
                         &view, &err),
               err);
    CHECK(view.is_known, "known");
    CHECK_EQ(view.parked_until_us, INT64_C(1767225600000000) + heard_us + US_PER_HOUR, "parked");
    CHECK_EQ(view.rate, 20 * MICRO, "but no slower afterwards");
    contract_end();
}

/* ---- a store that fails ---- */

static bool is_out;

static void go_out(struct crowd *of, int64_t at_us)
{
    const bool wanted = at_us > 20 * US_PER_SECOND && at_us < 40 * US_PER_SECOND;

    if (wanted && !is_out)
        fault_store_arm(of->store, &(struct store_fault){ .effect = FAULT_OUTAGE });
    else if (!wanted && is_out)
        CHECK(fault_store_disarm(of->store), "somebody has needed the store");
    is_out = wanted;
}

TEST(without_the_store_each_process_goes_on_slowly_and_comes_back)
{
    /* A process that sends r a second has up to r * t + 1 requests in a span of t: one at its edge.
     */
    const double edges = 4.0 / (20 * (39 - 23));
    struct store *store = new_store();
    double during;

    order_four(20, 5);
    crowd.before = go_out;
    is_out = false;
    crowd_run(&crowd, store);
    during = crowd_used(&crowd, 20, 1, 23 * US_PER_SECOND, 39 * US_PER_SECOND);
    test_note("%.0f %% of the rate without the store", during * 100);
    CHECK(during > 0.4 && during <= 0.5 + edges, "four processes with an eighth each");
    CHECK(crowd_used(&crowd, 20, 1, 0, 20 * US_PER_SECOND) >= 0.97, "all before");
    CHECK(crowd_used(&crowd, 20, 1, 42 * US_PER_SECOND, 60 * US_PER_SECOND) >= 0.97, "all after");
    CHECK(crowd_excess(&crowd, 20, 5, 1) <= 1e-6, "the promise");
    contract_end();
}

static int64_t next_fault;
static int armed, happened;

static void fault_now_and_then(struct crowd *of, int64_t at_us)
{
    static const char *const codes[] = { "store.lost", "store.busy", "store.conflict" };

    if (at_us < next_fault)
        return;
    next_fault = at_us + 700 * US_PER_MS;
    happened += fault_store_disarm(of->store);
    armed++;
    fault_store_arm(of->store, &(struct store_fault){ .number = next_fault / 700000 % 11,
                                                      .code = codes[next_fault / 7 % 3] });
}

TEST(single_faults_of_the_store_break_nothing)
{
    struct store *store = new_store();

    next_fault = 0;
    armed = happened = 0;
    order_four(20, 5);
    crowd.before = fault_now_and_then;
    crowd_run(&crowd, store);
    happened += fault_store_disarm(store);
    CHECK(armed > 60 && happened >= armed - 1, "all but perhaps the last have happened");
    CHECK(crowd_excess(&crowd, 20, 5, 1) <= 1e-6, "the promise");
    CHECK(crowd.count > 600, "and work goes on");
    contract_end();
}
