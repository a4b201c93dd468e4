/* Tests: delays between attempts. */
#include "core/retry.h"

#include "base/instant.h"
#include "random.h"
#include "test.h"

#define MS US_PER_MS
#define HALF (UINT64_C(1) << 63)

TEST(delays_double_from_100_ms_to_30_s)
{
    const struct retry_policy policy = retry_default();
    const struct {
        int attempt;
        int64_t low_us, middle_us, high_us;
    } rows[] = {
        { 1, 80 * MS, 100 * MS, 120 * MS },
        { 2, 160 * MS, 200 * MS, 240 * MS },
        { 5, 1280 * MS, 1600 * MS, 1920 * MS },
        { 9, 20480 * MS, 25240 * MS, 30000 * MS }, /* 25.6 s and a fifth would be above 30 s */
        { 10, 24000 * MS, 27000 * MS, 30000 * MS },
        { 100, 24000 * MS, 27000 * MS, 30000 * MS },
    };

    for (size_t i = 0; i < ARRAY_LEN(rows); i++) {
        CHECK_EQ(retry_delay_us(&policy, rows[i].attempt, 0, 0), rows[i].low_us, "least");
        CHECK_EQ(retry_delay_us(&policy, rows[i].attempt, HALF, 0), rows[i].middle_us, "middle");
        CHECK_EQ(retry_delay_us(&policy, rows[i].attempt, UINT64_MAX, 0), rows[i].high_us, "most");
    }
}

TEST(jitter_stays_within_a_fifth_and_fills_it)
{
    const struct retry_policy policy = retry_default();
    struct random random = { 15 };
    int lower = 0;

    for (int i = 0; i < 20000; i++) {
        const int64_t delay_us = retry_delay_us(&policy, 4, random_u64(&random), 0);

        CHECK(delay_us >= 640 * MS && delay_us <= 960 * MS, "800 ms, a fifth more or less");
        lower += delay_us < 800 * MS;
    }
    CHECK(lower > 9500 && lower < 10500, "evenly");
}

TEST(other_curves)
{
    struct retry_policy policy = retry_default();

    policy.backoff = BACKOFF_FIXED;
    CHECK_EQ(retry_delay_us(&policy, 7, 123, 0), 100 * MS, "always the same");
    policy.backoff = BACKOFF_EXPONENTIAL;
    CHECK_EQ(retry_delay_us(&policy, 4, 123, 0), 800 * MS, "no jitter");
    policy.multiplier_permille = 1500;
    CHECK_EQ(retry_delay_us(&policy, 3, 123, 0), 225 * MS, "by half as much again");
    policy.delay_min_us = policy.delay_max_us = 5;
    CHECK_EQ(retry_delay_us(&policy, 100, 123, 0), 5, "min = max");
}

TEST(a_retry_after_is_never_shortened)
{
    const struct retry_policy policy = retry_default();

    CHECK_EQ(retry_delay_us(&policy, 1, HALF, 3600 * US_PER_SECOND), 3600 * US_PER_SECOND,
             "an hour is an hour, though our maximum is 30 s");
    CHECK_EQ(retry_delay_us(&policy, 1, HALF, 1), 100 * MS, "a shorter one does not shorten ours");
    CHECK_EQ(retry_delay_us(&policy, 1, HALF, 0), 100 * MS, "zero says nothing");
    CHECK_EQ(retry_delay_us(&policy, 1, HALF, -5), 100 * MS, "nor does the past");
}

TEST(only_transient_errors_are_tried_again)
{
    const struct retry_policy policy = retry_default();

    CHECK(retry_may(&policy, ERROR_TRANSIENT, 1), "after the first");
    CHECK(retry_may(&policy, ERROR_TRANSIENT, 4), "after the fourth");
    CHECK(!retry_may(&policy, ERROR_TRANSIENT, 5), "five is the maximum");
    CHECK(!retry_may(&policy, ERROR_REQUEST, 1), "L2");
    CHECK(!retry_may(&policy, ERROR_DATA, 1), "L3");
    CHECK(!retry_may(&policy, ERROR_FATAL, 1), "L4");
}
