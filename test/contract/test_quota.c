#include "contract.h"

#include "base/instant.h"
#include "port/store_quota.h"

static const struct quota_name DAY = { STR_INIT("crossref/works"), QUOTA_DAY, NOW_US };

TEST(a_quota_nobody_has_counted_in_has_zeros)
{
    struct store *store = contract_store();
    struct quota_count count = { { 1 }, { 1 } };
    struct error err = { 0 };

    REQUIRE_OK(store_quota_load(store, &DAY, &count, &err), err);
    for (int i = 0; i < OPERATION_COUNT; i++) {
        CHECK_EQ(count.used[i], 0, "used");
        CHECK_EQ(count.booked[i], 0, "booked");
    }
    contract_end();
}

TEST(what_is_booked_adds_up_by_key_window_and_operation)
{
    struct store *store = contract_store();
    struct quota_name other = DAY;
    struct quota_count count;
    struct error err = { 0 };

    REQUIRE_OK(store_quota_book(store, &DAY, OPERATION_HARVEST, 10, &err), err);
    REQUIRE_OK(store_quota_book(store, &DAY, OPERATION_HARVEST, 5, &err), err);
    REQUIRE_OK(store_quota_book(store, &DAY, OPERATION_REPLAY, 1, &err), err);
    REQUIRE_OK(store_quota_load(store, &DAY, &count, &err), err);
    CHECK_EQ(count.booked[OPERATION_HARVEST], 15, "added up");
    CHECK_EQ(count.booked[OPERATION_REPLAY], 1, "by operation");
    CHECK_EQ(count.booked[OPERATION_BACKFILL], 0, "by operation");
    CHECK_EQ(count.used[OPERATION_HARVEST], 0, "nothing is sent");
    other.window = QUOTA_HOUR;
    REQUIRE_OK(store_quota_load(store, &other, &count, &err), err);
    CHECK_EQ(count.booked[OPERATION_HARVEST], 0, "another kind of window");
    other = DAY;
    other.from_us += US_PER_DAY;
    REQUIRE_OK(store_quota_load(store, &other, &count, &err), err);
    CHECK_EQ(count.booked[OPERATION_HARVEST], 0, "another day");
    other = DAY;
    other.rate_key = STR("crossref");
    REQUIRE_OK(store_quota_load(store, &other, &count, &err), err);
    CHECK_EQ(count.booked[OPERATION_HARVEST], 0, "another key");
    contract_end();
}

TEST(a_booking_that_is_rolled_back_is_none)
{
    struct store *store = contract_store();
    struct quota_count count;
    struct error err = { 0 };

    REQUIRE_OK(store_begin(store, &err), err);
    REQUIRE_OK(store_quota_lock(store, DAY.rate_key, &err), err);
    REQUIRE_OK(store_quota_book(store, &DAY, OPERATION_HARVEST, 10, &err), err);
    store_rollback(store);
    REQUIRE_OK(store_quota_load(store, &DAY, &count, &err), err);
    CHECK_EQ(count.booked[OPERATION_HARVEST], 0, "gone");
    contract_end();
}
