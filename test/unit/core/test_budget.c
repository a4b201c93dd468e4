/* Tests: the budget of a plan, the shares of a quota, and the spread of tasks. */
#include "core/budget.h"

#include <string.h>

#include "base/instant.h"
#include "random.h"
#include "test.h"

static struct slice slice_of(int64_t number, int64_t requests, int64_t records)
{
    return (struct slice){ .number = number,
                           .expected_requests = requests,
                           .expected_records = records };
}

TEST(room_is_what_the_threshold_leaves)
{
    CHECK_EQ(budget_room(0, 100), 100, "an empty queue");
    CHECK_EQ(budget_room(99, 100), 1, "one left");
    CHECK_EQ(budget_room(100, 100), 0, "full");
    CHECK_EQ(budget_room(500, 100), 0, "more than full");
    CHECK_EQ(budget_room(500, 0), BUDGET_UNLIMITED, "no threshold");
}

TEST(the_first_limit_met_stops_the_plan)
{
    const struct {
        const char *label;
        struct budget budget;
        struct slice slice;
        enum budget_stop stop;
    } rows[] = {
        { "all fits", { 1, 10, 100 }, slice_of(3, 10, 100), BUDGET_GO },
        { "no room", { 0, 10, 100 }, slice_of(0, 1, 1), BUDGET_STOP_INVENTORY },
        { "one request too many", { 1, 10, 100 }, slice_of(3, 11, 1), BUDGET_STOP_REQUESTS },
        { "no requests at all, not even for the first",
          { 1, 0, 100 },
          slice_of(0, 1, 1),
          BUDGET_STOP_REQUESTS },
        { "the first may be too large", { 1, 10, 100 }, slice_of(0, 5000, 90000), BUDGET_GO },
        { "one record too many", { 1, 10, 100 }, slice_of(3, 1, 101), BUDGET_STOP_RECORDS },
        { "unknown costs one request",
          { 1, 1, 1 },
          slice_of(3, SLICE_UNKNOWN, SLICE_UNKNOWN),
          BUDGET_GO },
        { "no limits",
          { BUDGET_UNLIMITED, BUDGET_UNLIMITED, BUDGET_UNLIMITED },
          slice_of(9, 1000000, 1000000),
          BUDGET_GO },
    };

    for (size_t i = 0; i < ARRAY_LEN(rows); i++) {
        struct budget budget = rows[i].budget;

        CHECK_EQ(budget_take(&budget, &rows[i].slice), rows[i].stop, rows[i].label);
        if (rows[i].stop != BUDGET_GO)
            CHECK(memcmp(&budget, &rows[i].budget, sizeof(budget)) == 0, "nothing taken");
        CHECK(budget.requests_left >= 0 && budget.records_left >= 0, "never negative");
    }
    CHECK_EQ(budget_plan_status(BUDGET_GO), PLAN_READY, "ready");
    CHECK_EQ(budget_plan_status(BUDGET_STOP_REQUESTS), PLAN_PARTIAL, "partial");
}

TEST(a_budget_is_used_up_slice_by_slice)
{
    struct budget budget = { 100, 10, BUDGET_UNLIMITED };
    int64_t taken = 0;

    for (int64_t i = 0; i < 100; i++) {
        const struct slice slice = slice_of(i, 3, 3000);

        if (budget_take(&budget, &slice) != BUDGET_GO)
            break;
        taken++;
    }
    CHECK_EQ(taken, 3, "nine of ten requests; a fourth slice would need twelve");
    CHECK_EQ(budget.requests_left, 1, "one is left");
    CHECK_EQ(budget.tasks_left, 97, "three tasks");
}

/* ---- quota ---- */

static struct quota quota_of(int64_t limit, int margin_permille)
{
    return (struct quota){ .limit = limit,
                           .margin_permille = margin_permille,
                           .shares_permille = QUOTA_SHARES_DEFAULT };
}

TEST(less_urgent_classes_leave_what_the_others_will_need)
{
    struct quota quota = quota_of(1000, 100); /* 900 usable: 540, 270, 90 */

    CHECK_EQ(quota_available(&quota, QUOTA_HARVEST), 900, "HARVEST may have all");
    CHECK_EQ(quota_available(&quota, QUOTA_UPDATE), 360, "UPDATE leaves HARVEST's 540");
    CHECK_EQ(quota_available(&quota, QUOTA_BACKFILL), 90, "BACKFILL leaves both");
    quota.used[QUOTA_HARVEST] = 540;
    CHECK_EQ(quota_available(&quota, QUOTA_BACKFILL), 90, "HARVEST's share is spent, not free");
    CHECK_EQ(quota_available(&quota, QUOTA_UPDATE), 360, "and UPDATE may take BACKFILL's");
    quota.booked[QUOTA_HARVEST] = 300;
    CHECK_EQ(quota_available(&quota, QUOTA_BACKFILL), 0, "840 of 900 are gone");
    CHECK_EQ(quota_available(&quota, QUOTA_UPDATE), 60, "what is left");
    CHECK_EQ(quota_available(&quota, QUOTA_HARVEST), 60, "what is left");
    quota.booked[QUOTA_HARVEST] = 400;
    CHECK_EQ(quota_available(&quota, QUOTA_HARVEST), 0, "overdrawn is nothing, not negative");
}

TEST(bookings_never_exceed_what_is_usable_and_shares_are_kept)
{
    struct random random = { 14 };

    for (int round = 0; round < 2000; round++) {
        const int64_t limit = random_between(&random, 0, 5000);
        struct quota quota = quota_of(limit, (int)random_between(&random, 0, 300));
        const int64_t usable = limit - limit * quota.margin_permille / 1000;

        for (int i = 0; i < 40; i++) {
            const enum quota_class rank = (enum quota_class)random_between(&random, 0, 3);
            const int64_t available = quota_available(&quota, rank);
            const int64_t wanted = random_between(&random, 0, 400);
            const int64_t before = quota_available(&quota, QUOTA_HARVEST);
            int64_t taken = 0;

            quota.booked[rank] += wanted < available ? wanted : available;
            if (random_chance(&random, 50)) {
                quota.used[rank] += quota.booked[rank];
                quota.booked[rank] = 0;
            }
            for (int c = 0; c < QUOTA_CLASSES; c++)
                taken += quota.used[c] + quota.booked[c];
            CHECK(taken <= usable, "within limit - margin");
            if (rank != QUOTA_HARVEST) {
                const int64_t share = usable * 600 / 1000;
                const int64_t left = share - quota.used[0] - quota.booked[0];

                CHECK(quota_available(&quota, QUOTA_HARVEST) >= (left < before ? left : before),
                      "the others leave HARVEST its share");
            }
        }
    }
}

TEST(operations_have_their_class)
{
    CHECK_EQ(quota_class_of(OPERATION_HARVEST), QUOTA_HARVEST, "HARVEST");
    CHECK_EQ(quota_class_of(OPERATION_METRICS), QUOTA_UPDATE, "METRICS");
    CHECK_EQ(quota_class_of(OPERATION_REPLAY), QUOTA_BACKFILL, "REPLAY");
}

/* ---- spreading ---- */

TEST(tasks_are_spread_by_the_expected_rate)
{
    struct spread spread = { .start_us = 1000, .micro_per_second = 2000000, .burst = 4 };

    CHECK_EQ(spread_next(&spread, 4), 1000, "the burst is due at once");
    CHECK_EQ(spread_next(&spread, 10), 1000, "four are on their way, none is beyond the burst");
    CHECK_EQ(spread_next(&spread, 6), 1000 + 5 * US_PER_SECOND, "ten more, at two a second");
    CHECK_EQ(spread_next(&spread, SLICE_UNKNOWN), 1000 + 8 * US_PER_SECOND, "and six more");
    CHECK_EQ(spread_next(&spread, 1), 1000 + 8 * US_PER_SECOND + US_PER_SECOND / 2,
             "unknown counts as one");
}

TEST(a_slow_start_continues_at_the_full_rate)
{
    struct spread spread = { .start_us = 0,
                             .micro_per_second = 10 * 1000000,
                             .burst = 1,
                             .slow_us = 20 * US_PER_SECOND,
                             .slow_micro_per_second = 1000000 };
    int64_t at_us[41];

    for (int i = 0; i <= 40; i++)
        at_us[i] = spread_next(&spread, 1);
    CHECK_EQ(at_us[1], 0, "the burst comes after the first");
    CHECK_EQ(at_us[11], 10 * US_PER_SECOND, "one a second");
    CHECK_EQ(at_us[21], 20 * US_PER_SECOND, "to the end of the slow time");
    CHECK_EQ(at_us[31], 21 * US_PER_SECOND, "then ten");
}

TEST(slow_rates_and_long_plans_stay_in_the_calendar)
{
    struct spread spread = { .start_us = 0, .micro_per_second = 1 };
    struct spread at_once = { .start_us = 7, .micro_per_second = 0 };

    (void)spread_next(&spread, INT64_MAX / 2);
    CHECK_EQ(spread_next(&spread, 1), INSTANT_MAX, "the end of time");
    (void)spread_next(&at_once, 1000);
    CHECK_EQ(spread_next(&at_once, 1), 7, "without a rate all are due at once");
}
