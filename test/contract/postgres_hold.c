/* What only a server with several writers shows: lanes that a consumer is writing for. */
#include "adapter/store_open.h"
#include "base/instant.h"
#include "contract.h"
#include "offset_rig.h"

/* By itself, this session would wait for an hour. */
static struct store *open_patient(const char *dsn)
{
    const struct store_options options = { .busy_timeout_us = US_PER_HOUR };
    struct store *store = NULL;
    struct error err = { 0 };

    REQUIRE_OK(store_open(str_of(dsn), &options, &store, &err), err);
    return store;
}

TEST(lanes_are_held_together_or_given_up_soon)
{
    const char *dsn = contract_ready_database();
    struct store *consumer = contract_open(dsn), *swap = open_patient(dsn);
    struct offset_lane_list lanes;
    struct error err = { 0 };

    offset_rig_subscribe(false);
    lanes = offset_rig_claim(consumer, "one", NOW_US, OUTBOX_LANES);
    REQUIRE_OK(store_begin(consumer, &err), err);
    REQUIRE_OK(store_offset_hold(consumer, &OFFSET_KEY, 9, &err), err);
    REQUIRE_OK(store_begin(swap, &err), err);
    CHECK(!store_offset_hold_all(swap, &OFFSET_KEY, &err), "one is being written for");
    CHECK(store_error_is_busy(&err), err.text);
    store_rollback(swap);
    CHECK(offset_rig_save(consumer, &lanes.items[3], 1, NOW_US), "another lane goes on");
    REQUIRE_OK(store_commit(consumer, &err), err);
    REQUIRE_OK(store_begin(swap, &err), err);
    REQUIRE_OK(store_offset_hold_all(swap, &OFFSET_KEY, &err), err);
    REQUIRE_OK(store_commit(swap, &err), err);
    store_close(swap);
    store_close(consumer);
    contract_end();
}
