/* Tests: when a circuit opens, and when tasks are halved. */
#include "core/health.h"

#include "base/instant.h"
#include "test.h"

#define T0 INT64_C(1000000000)

static void note(struct health *health, int64_t now_us, bool is_failure, uint64_t random)
{
    const struct health_policy policy = health_default();

    health_note(health, &policy,
                &(struct health_sample){
                    .now_us = now_us, .is_failure = is_failure, .requests = 1, .random = random });
}

TEST(three_failures_in_a_row_open_the_circuit_for_one_to_two_minutes)
{
    const uint64_t chances[] = { 0, UINT64_C(59999999), UINT64_MAX };

    for (size_t i = 0; i < ARRAY_LEN(chances); i++) {
        struct health health = { 0 };

        note(&health, T0, true, chances[i]);
        note(&health, T0 + 1, true, chances[i]);
        CHECK(!health_is_open(&health, T0 + 1), "two are not enough");
        note(&health, T0 + 2, true, chances[i]);
        CHECK(health_is_open(&health, T0 + 1 + US_PER_MINUTE), "open for at least a minute");
        CHECK(!health_is_open(&health, T0 + 2 + 2 * US_PER_MINUTE), "and no longer than two");
    }
}

TEST(a_success_between_failures_restarts_the_count)
{
    struct health health = { 0 };

    for (int i = 0; i < 10; i++) {
        note(&health, T0, true, 0);
        note(&health, T0, true, 0);
        note(&health, T0, false, 0);
    }
    CHECK(!health_is_open(&health, T0), "never three in a row");
}

TEST(after_an_open_circuit_one_task_is_tried)
{
    const struct health_policy policy = health_default();
    struct health health = { 0 };
    const int64_t later_us = T0 + 3 * US_PER_MINUTE;

    for (int i = 0; i < 3; i++)
        note(&health, T0, true, 0);
    CHECK(!health_is_open(&health, later_us), "its time is over");
    CHECK_EQ(health_live_max(&health, &policy, 4, later_us), 1, "one alone");
    note(&health, later_us, true, 0);
    CHECK(health_is_open(&health, later_us + 1), "it failed: open again at once");
    note(&health, later_us, false, 0);
    CHECK_EQ(health_live_max(&health, &policy, 4, later_us), 4, "it succeeded: all of them");
}

struct played {
    const char *label;
    int64_t requests, throttled, failed, latency_us, later_us, wanted;
};

static int64_t live_max_after(const struct played *played)
{
    const struct health_policy policy = health_default();
    struct health health = { 0 };

    for (int64_t i = 0; i < played->requests; i++)
        health_note(&health, &policy,
                    &(struct health_sample){ .now_us = T0,
                                             .requests = 1,
                                             .throttled = i < played->throttled,
                                             .failed = i < played->failed,
                                             .latency_us = played->latency_us });
    return health_live_max(&health, &policy, 4, T0 + played->later_us);
}

TEST(many_429_failures_or_slow_pages_halve_what_runs_at_a_time)
{
    const int64_t fast = 100 * US_PER_MS, slow = 4 * US_PER_SECOND;
    const struct played rows[] = {
        { "all is well", 100, 0, 0, fast, 0, 4 },
        { "five of a hundred are allowed", 100, 5, 5, fast, 0, 4 },
        { "six are too many", 100, 6, 0, fast, 0, 2 },
        { "six that fail as well", 100, 0, 6, fast, 0, 2 },
        { "too few to tell", 19, 19, 19, fast, 0, 4 },
        { "slow pages", 100, 0, 0, slow, 0, 2 },
        { "still remembered", 100, 6, 0, fast, 9 * US_PER_MINUTE, 2 },
        { "forgotten", 100, 6, 6, fast, 10 * US_PER_MINUTE, 4 },
    };

    for (size_t i = 0; i < ARRAY_LEN(rows); i++)
        CHECK_EQ(live_max_after(&rows[i]), rows[i].wanted, rows[i].label);
}

TEST(one_is_never_halved)
{
    const struct health_policy policy = health_default();
    struct health health = { .span_from_us = T0, .spans = { { .requests = 50, .throttled = 50 } } };

    CHECK_EQ(health_live_max(&health, &policy, 1, T0), 1, "something must go on");
}
