/* What the rate gate remembers. */
#include <string.h>

#include "contract.h"
#include "port/store_rate.h"

static struct rate_gate gate_of(void)
{
    return (struct rate_gate){ .bucket = { .tokens = -5,
                                           .carry = 999999,
                                           .refilled_at_us = NOW_US + 1,
                                           .rate = 20000000,
                                           .provider_rate = 0,
                                           .raised_at_us = NOW_US + 2,
                                           .demoted_at_us = INT64_MIN,
                                           .cooldown_until_us = NOW_US + 3,
                                           .line_until_us = NOW_US + 4,
                                           .started_at_us = NOW_US + 5 },
                               .parked_until_us = INT64_MIN };
}

TEST(a_gate_comes_back_to_the_last_millionth)
{
    struct store *store = contract_store();
    struct rate_gate gate = gate_of(), read;
    struct error err = { 0 };
    bool saved;

    REQUIRE_OK(store_begin(store, &err), err);
    REQUIRE_OK(store_rate_load(store, STR("crossref"), &read, &err), err);
    CHECK_EQ(read.version, 0, "no row yet");
    CHECK_EQ(read.parked_until_us, INT64_MIN, "not parked");
    REQUIRE_OK(store_rate_save(store, STR("crossref"), &gate, NOW_US, &saved, &err), err);
    CHECK(saved, "made");
    REQUIRE_OK(store_rate_save(store, STR("crossref"), &gate, NOW_US, &saved, &err), err);
    CHECK(!saved, "it is there by now");
    REQUIRE_OK(store_rate_load(store, STR("crossref"), &read, &err), err);
    CHECK_EQ(read.version, 1, "the first version");
    CHECK_EQ(memcmp(&read.bucket, &gate.bucket, sizeof(gate.bucket)), 0, "the same");
    read.bucket.tokens = INT64_MAX;
    read.parked_until_us = NOW_US + 77;
    REQUIRE_OK(store_rate_save(store, STR("crossref"), &read, NOW_US, &saved, &err), err);
    CHECK(saved, "saved");
    REQUIRE_OK(store_rate_save(store, STR("crossref"), &read, NOW_US, &saved, &err), err);
    CHECK(!saved, "it has moved on");
    REQUIRE_OK(store_commit(store, &err), err);
    REQUIRE_OK(store_begin(store, &err), err);
    REQUIRE_OK(store_rate_load(store, STR("crossref"), &gate, &err), err);
    CHECK_EQ(gate.bucket.tokens, INT64_MAX, "tokens");
    CHECK_EQ(gate.parked_until_us, NOW_US + 77, "parked");
    CHECK_EQ(gate.version, 2, "version");
    store_rollback(store);
    REQUIRE_OK(store_rate_peek(store, STR("crossref"), &gate, &err), err);
    CHECK_EQ(gate.bucket.tokens, INT64_MAX, "without a transaction");
    CHECK_EQ(gate.version, 2, "the same version");
    REQUIRE_OK(store_rate_peek(store, STR("nobody"), &gate, &err), err);
    CHECK_EQ(gate.version, 0, "no row");
    contract_end();
}

TEST(quota_is_counted_by_window_and_class)
{
    struct store *store = contract_store();
    struct quota_key key = { STR("crossref"), QUOTA_DAY, NOW_US };
    struct quota_count count;
    struct error err = { 0 };

    REQUIRE_OK(store_quota_load(store, &key, &count, &err), err);
    CHECK_EQ(count.used[QUOTA_HARVEST], 0, "none");
    REQUIRE_OK(store_quota_add(store, &key, QUOTA_HARVEST, 0, 10, &err), err);
    REQUIRE_OK(store_quota_add(store, &key, QUOTA_HARVEST, 3, -3, &err), err);
    REQUIRE_OK(store_quota_add(store, &key, QUOTA_BACKFILL, 1, -5, &err), err);
    REQUIRE_OK(store_quota_load(store, &key, &count, &err), err);
    CHECK_EQ(count.used[QUOTA_HARVEST], 3, "used");
    CHECK_EQ(count.booked[QUOTA_HARVEST], 7, "booked");
    CHECK_EQ(count.used[QUOTA_UPDATE], 0, "none");
    CHECK_EQ(count.used[QUOTA_BACKFILL], 1, "used");
    CHECK_EQ(count.booked[QUOTA_BACKFILL], 0, "not below none");
    key.window = QUOTA_HOUR;
    REQUIRE_OK(store_quota_load(store, &key, &count, &err), err);
    CHECK_EQ(count.used[QUOTA_HARVEST], 0, "another window");
    key = (struct quota_key){ STR("crossref"), QUOTA_DAY, NOW_US + 1 };
    REQUIRE_OK(store_quota_load(store, &key, &count, &err), err);
    CHECK_EQ(count.used[QUOTA_HARVEST], 0, "another day");
    contract_end();
}

static int64_t take(struct store *store, const char *key, int64_t now_us)
{
    const struct rate_slot slot = { str_of(key), STR("me"), now_us, now_us + 100, 2 };
    struct error err = { 0 };
    int64_t id = -1;

    REQUIRE_OK(store_begin(store, &err), err);
    REQUIRE_OK(store_slot_take(store, &slot, &id, &err), err);
    REQUIRE_OK(store_commit(store, &err), err);
    return id;
}

TEST(slots_are_limited_and_come_back)
{
    struct store *store = contract_store();
    struct error err = { 0 };
    int64_t first = take(store, "crossref", NOW_US), second = take(store, "crossref", NOW_US + 50);
    int64_t taken = -1;

    CHECK(first > 0 && second > 0 && first != second, "two");
    REQUIRE_OK(store_slot_count(store, STR("crossref"), &taken, &err), err);
    CHECK_EQ(taken, 2, "both count");
    REQUIRE_OK(store_slot_count(store, STR("pubmed"), &taken, &err), err);
    CHECK_EQ(taken, 0, "not for another key");
    CHECK_EQ(take(store, "crossref", NOW_US + 60), 0, "no third");
    CHECK(take(store, "pubmed", NOW_US + 60) > 0, "of another key");
    REQUIRE_OK(store_slot_return(store, second, &err), err);
    CHECK((second = take(store, "crossref", NOW_US + 70)) > 0, "returned");
    CHECK_EQ(take(store, "crossref", NOW_US + 99), 0, "no third");
    CHECK(take(store, "crossref", NOW_US + 100) > 0, "the first ran out");
    REQUIRE_OK(store_slot_return(store, first, &err), err);
    CHECK_EQ(take(store, "crossref", NOW_US + 101), 0, "to return what ran out does nothing");
    contract_end();
}

TEST(there_is_a_clock)
{
    struct store *store = contract_store();
    struct error err = { 0 };
    int64_t now_us = 0;

    REQUIRE_OK(store_clock(store, NOW_US, &now_us, &err), err);
    CHECK(now_us >= INT64_C(1600000000000000), "not before this was written");
    contract_end();
}
