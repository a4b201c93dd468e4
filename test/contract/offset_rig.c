/* What tests of offsets share. */
#include "offset_rig.h"

#include "contract.h"
#include "port/store_subscription.h"
#include "rows.h"
#include "stream_rig.h"

const struct offset_key OFFSET_KEY = { STR_INIT("patra"), STR_INIT("works") };

void offset_rig_subscribe(bool from_latest)
{
    struct subscription_applied applied;
    struct error err = { 0 };

    REQUIRE_OK(
        store_subscription_apply(contract_owner(),
                                 &(struct subscription_apply){ .name = OFFSET_KEY.subscription,
                                                               .kind = SUBSCRIPTION_RELAY,
                                                               .spec = STR("{}"),
                                                               .spec_hash = STR(HASH_A),
                                                               .from_latest = from_latest,
                                                               .applied_by = STR("ann"),
                                                               .now_us = NOW_US },
                                 &applied, &err),
        err);
    REQUIRE(applied.is_new, "new");
}

struct offset_lane_list offset_rig_claim(struct store *store, const char *owner, int64_t now_us,
                                         int64_t limit)
{
    const struct offset_claim request = { OFFSET_KEY, str_of(owner), now_us, now_us + US_PER_SECOND,
                                          limit };
    struct offset_lane_list list;
    struct error err = { 0 };

    REQUIRE_OK(store_offset_claim(store, contract_arena(), &request, &list, &err), err);
    return list;
}

bool offset_rig_save(struct store *store, const struct offset_lane *lane, int64_t pos,
                     int64_t now_us)
{
    const struct offset_move move = { lane->lane, lane->epoch,  pos,
                                      STR("a1"),  STR("event"), now_us - 5 };
    const struct offset_save request = { OFFSET_KEY, STR("one"), now_us, now_us + US_PER_SECOND,
                                         &move,      1 };
    struct error err = { 0 };
    bool held;

    REQUIRE_OK(store_offset_save(store, &request, &held, &err), err);
    return held;
}

bool offset_rig_renew(struct store *store, const struct offset_lane *lanes, size_t count,
                      int64_t until_us)
{
    struct offset_held held[OUTBOX_LANES];
    struct error err = { 0 };
    bool all;

    for (size_t i = 0; i < count; i++)
        held[i] = (struct offset_held){ lanes[i].lane, lanes[i].epoch, false };
    REQUIRE_OK(store_offset_renew(
                   store, &(struct offset_renew){ OFFSET_KEY, until_us, held, count }, &all, &err),
               err);
    return all;
}

bool offset_rig_check(struct store *store, const struct offset_lane *lanes, size_t count)
{
    const struct offset_key key = OFFSET_KEY;
    struct offset_held held[OUTBOX_LANES];
    struct error err = { 0 };
    bool all;

    for (size_t i = 0; i < count; i++)
        held[i] = (struct offset_held){ lanes[i].lane, lanes[i].epoch, false };
    REQUIRE_OK(store_offset_check(store, &key, held, count, &all, &err), err);
    return all;
}

void offset_rig_publish(struct store *store)
{
    stream_rig_publish(store, NOW_US);
}

struct stream_event_list offset_rig_read(struct store *store, const struct stream_read *read)
{
    struct stream_event_list list;
    struct error err = { 0 };

    REQUIRE_OK(store_stream_read(store, contract_arena(), read, &list, &err), err);
    return list;
}
