/* rate_check against its definition. */
#include "sim/audit/rate_check.h"

#include <stdlib.h>

#include "sim/util/hash.h"
#include "test.h"

/* The definition, by brute force: does an interval that contains times[n] contain too many of
 * times[0..n]? */
static bool is_too_full(const int64_t *times, size_t n, double per_us, double burst)
{
    for (size_t i = 0; i <= n; i++) {
        for (size_t j = 0; j <= n; j++) {
            const int64_t from = times[i], to = times[j];
            int64_t count = 0;

            if (from > times[n] || to < times[n])
                continue;
            for (size_t k = 0; k <= n; k++)
                count += times[k] >= from && times[k] <= to;
            if ((double)count > per_us * (double)(to - from) + burst + 1e-3)
                return true;
        }
    }
    return false;
}

static void compare(uint64_t seed, double per_us, double burst, bool disorder)
{
    enum { COUNT = 120 };
    int64_t times[COUNT], now = 1775001600000000;
    struct rate_check rate_check;
    struct rate_check_excess excess;
    size_t blamed = 0;

    rate_check_init(&rate_check, per_us, burst);
    for (size_t n = 0; n < COUNT; n++) {
        now += (int64_t)(hash_of(seed, 0, n) % 4 * 100000);
        times[n] = now;
        if (disorder && hash_of(seed, 1, n) % 3 == 0)
            times[n] -= (int64_t)(hash_of(seed, 2, n) % 500000);
        const bool found = rate_check_add(&rate_check, times[n], n + 1, &excess);

        CHECK_EQ(found, is_too_full(times, n, per_us, burst), "the brute force model");
        if (!found)
            continue;
        blamed++;
        CHECK((double)excess.count > excess.allowed, "more than allowed");
        CHECK_EQ(times[excess.last - 1] - times[excess.first - 1], excess.span_us, "the ends");
    }
    CHECK(blamed > 0 && blamed < COUNT, "the case is worth something");
    rate_check_release(&rate_check);
}

TEST(rate_check_agrees_with_the_definition)
{
    for (uint64_t seed = 1; seed <= 10; seed++) {
        compare(seed, 5e-6, 6, false);
        compare(seed, 6e-6, 5, true);
    }
}

TEST(rate_check_allows_exactly_rate_and_burst)
{
    struct rate_check rate_check;
    struct rate_check_excess excess;
    uint64_t n = 0;

    rate_check_init(&rate_check, 10e-6, 20);
    for (; n < 20; n++)
        CHECK(!rate_check_add(&rate_check, 0, n + 1, &excess), "the burst");
    for (; n < 20000; n++) /* long enough to drop old marks several times */
        CHECK(!rate_check_add(&rate_check, (int64_t)(n - 19) * 100000, n + 1, &excess), "the rate");
    CHECK(rate_check_add(&rate_check, (int64_t)(n - 20) * 100000, n + 1, &excess), "one more");
    CHECK_EQ(excess.first, 1, "counted from the burst");
    CHECK_EQ(excess.count, 20001, "all of them");
    rate_check_release(&rate_check);
}

TEST(a_rate_of_zero_allows_only_the_burst)
{
    struct rate_check rate_check;
    struct rate_check_excess excess;

    rate_check_init(&rate_check, 0, 2);
    CHECK(!rate_check_add(&rate_check, 0, 1, &excess), "first");
    CHECK(!rate_check_add(&rate_check, 1000000, 2, &excess), "second");
    CHECK(rate_check_add(&rate_check, INT64_C(86400000000), 3, &excess), "third");
    rate_check_clear(&rate_check);
    CHECK(!rate_check_add(&rate_check, 0, 4, &excess), "after a clear");
    rate_check_release(&rate_check);
}
