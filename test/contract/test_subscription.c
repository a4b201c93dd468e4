/* Subscriptions: applied, changed, stopped, removed; and the offsets that are made with them. */
#include "contract.h"
#include "port/store_stream.h"
#include "port/store_subscription.h"
#include "rows.h"

static struct subscription_apply works(void)
{
    return (struct subscription_apply){ .name = STR("works"),
                                        .kind = SUBSCRIPTION_RELAY,
                                        .spec = STR("{\"bus\":\"nats\"}"),
                                        .spec_hash = STR(HASH_A),
                                        .policy = POLICY_WAIT,
                                        .applied_by = STR("ann"),
                                        .now_us = NOW_US };
}

static struct subscription_applied apply(struct store *store, const struct subscription_apply *a)
{
    struct subscription_applied applied;
    struct error err = { 0 };

    REQUIRE_OK(store_subscription_apply(store, a, &applied, &err), err);
    return applied;
}

static struct subscription find(struct store *store, const char *name)
{
    struct subscription s;
    struct error err = { 0 };
    bool found;

    REQUIRE_OK(store_subscription_find(store, contract_arena(), str_of(name), &s, &found, &err),
               err);
    CHECK(found == (s.name.len > 0), "found");
    return s;
}

TEST(a_subscription_is_applied_once_and_changed_by_its_hash)
{
    struct store *store = contract_store();
    struct subscription_apply a = works();
    struct subscription_applied applied;
    struct subscription s;

    CHECK_EQ(find(store, "works").name.len, 0, "nothing yet");
    applied = apply(store, &a);
    CHECK(applied.is_new && !applied.is_changed, "new");
    s = find(store, "works");
    CHECK_STR(s.name, STR("works"), "name");
    CHECK_EQ((int)s.kind, SUBSCRIPTION_RELAY, "kind");
    CHECK_EQ((int)s.policy, POLICY_WAIT, "policy");
    CHECK_EQ((int)s.state, SUBSCRIPTION_ACTIVE, "state");
    CHECK_STR(s.spec_hash, STR(HASH_A), "hash");
    CHECK_EQ(s.created_us, NOW_US, "created");
    a.now_us += 1;
    applied = apply(store, &a);
    CHECK(!applied.is_new && !applied.is_changed, "the same again");
    CHECK_EQ(find(store, "works").updated_us, NOW_US, "and nothing is written");
    a.spec_hash = STR(HASH_B);
    a.spec = STR("{\"bus\":\"kafka\"}");
    a.policy = POLICY_STOP;
    applied = apply(store, &a);
    CHECK(!applied.is_new && applied.is_changed, "another spec");
    s = find(store, "works");
    CHECK_STR(s.spec, STR("{\"bus\":\"kafka\"}"), "spec");
    CHECK_EQ((int)s.policy, POLICY_STOP, "policy");
    CHECK_EQ(s.updated_us, NOW_US + 1, "updated");
    CHECK_EQ(s.created_us, NOW_US, "created before");
    contract_end();
}

TEST(a_name_has_one_kind)
{
    struct store *store = contract_store();
    struct subscription_apply a = works();
    struct subscription_applied applied;
    struct error err = { 0 };

    (void)apply(store, &a);
    a.kind = SUBSCRIPTION_PROJECTION;
    CHECK(!store_subscription_apply(store, &a, &applied, &err), "refused");
    CHECK(str_eq(str_of(err.code), STR("subscription.kind")), "by a code");
    CHECK_EQ((int)err.level, ERROR_REQUEST, "of its own");
    CHECK_EQ((int)find(store, "works").kind, SUBSCRIPTION_RELAY, "unchanged");
    contract_end();
}

TEST(subscriptions_are_listed_by_the_bytes_of_their_names)
{
    struct store *store = contract_store();
    static const char *const NAMES[] = { "b", "a", "B", "a-1" };
    static const char *const ORDER[] = { "B", "a", "a-1", "b" };
    struct subscription_list list;
    struct error err = { 0 };

    for (size_t i = 0; i < ARRAY_LEN(NAMES); i++) {
        struct subscription_apply a = works();

        a.name = str_of(NAMES[i]);
        (void)apply(store, &a);
    }
    REQUIRE_OK(store_subscription_list(store, contract_arena(), &list, &err), err);
    REQUIRE(list.count == ARRAY_LEN(ORDER), "all");
    for (size_t i = 0; i < list.count; i++)
        CHECK_STR(list.items[i].name, str_of(ORDER[i]), "by bytes");
    contract_end();
}

TEST(a_state_changes_with_its_reason)
{
    struct store *store = contract_store();
    const struct subscription_apply a = works();
    struct subscription_change change = { STR("works"), SUBSCRIPTION_STOPPED, STR("refused"),
                                          NOW_US + 5 };
    struct error err = { 0 };
    bool changed;

    REQUIRE_OK(store_subscription_set_state(store, &change, &changed, &err), err);
    CHECK(!changed, "there is none");
    (void)apply(store, &a);
    REQUIRE_OK(store_subscription_set_state(store, &change, &changed, &err), err);
    CHECK(changed, "stopped");
    change.reason = STR("another");
    REQUIRE_OK(store_subscription_set_state(store, &change, &changed, &err), err);
    CHECK(!changed, "it is stopped already");
    CHECK_STR(find(store, "works").state_reason, STR("refused"), "by the first reason");
    (void)apply(store, &a);
    CHECK_EQ((int)find(store, "works").state, SUBSCRIPTION_STOPPED, "applying does not resume");
    change = (struct subscription_change){ STR("works"), SUBSCRIPTION_ACTIVE, STR(""), NOW_US + 6 };
    REQUIRE_OK(store_subscription_set_state(store, &change, &changed, &err), err);
    CHECK(changed, "resumed");
    CHECK_EQ(find(store, "works").state_reason.len, 0, "without a reason");
    CHECK_EQ(find(store, "works").updated_us, NOW_US + 6, "at that time");
    contract_end();
}

TEST(offsets_are_made_and_removed_with_a_subscription)
{
    const char *dsn = contract_ready_database();
    struct store *store = contract_open(dsn);
    struct subscription_apply a = works();
    struct error err = { 0 };
    uint64_t before;
    bool removed;

    before = contract_digest();
    (void)apply(store, &a);
    CHECK(!contract_try_sql(dsn, "INSERT INTO ing_offset (consumer_group, subscription, lane,"
                                 " stream_pos, message_id, publish_time, lag_us, updated_by,"
                                 " updated_at) SELECT consumer_group, subscription, lane, 0, '',"
                                 " updated_at, 0, '', updated_at FROM ing_offset WHERE lane = 63"),
          "there is a lane 63");
    REQUIRE_OK(store_subscription_remove(store, a.name, &removed, &err), err);
    CHECK(removed, "removed");
    CHECK(contract_digest() == before, "with all its rows");
    REQUIRE_OK(store_subscription_remove(store, a.name, &removed, &err), err);
    CHECK(!removed, "there is none");
    store_close(store);
    contract_end();
}
