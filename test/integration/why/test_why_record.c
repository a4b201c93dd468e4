/* A record that is there: older, deleted, merged, in the stream or not; and what its page shows. */
#include "why_rig.h"

static void deleted(struct store *store)
{
    why_put(store, &WHY_FIRST);
    why_put(store, &(struct why_write){ "RecordDeleted", "", NULL });
    why_sequence(store);
}

static void merged(struct store *store)
{
    why_put(store, &WHY_FIRST);
    why_put(store, &(struct why_write){ "RecordDeleted", "", "\"mergedInto\":\"w 2\"" });
    why_sequence(store);
}

static void older_kept(struct store *store)
{
    const struct record_key key = { STR("demo"), STR("works"), STR(WHY_ID) };
    const struct record_context context = {
        .source = key.source, .endpoint = key.endpoint, .expr_hash = STR("expr"), .now_us = NOW_US
    };
    struct stored_record record;
    struct error err = { 0 };
    bool found;

    why_plant_sequenced(store);
    REQUIRE_OK(store_record_get(store, contract_arena(), &key, &record, &found, &err), err);
    REQUIRE_OK(store_begin(store, &err), err);
    REQUIRE_OK(store_record_touch(store, &context, &record.id, 1, &err), err);
    REQUIRE_OK(store_commit(store, &err), err);
}

static void pruned(struct store *store)
{
    (void)store;
    why_plant_stored(store);
    why_sql("DELETE FROM ing_outbox");
}

static void publisher_behind(struct store *store)
{
    struct stream_lease lease;
    struct error err = { 0 };
    bool held;

    why_plant_stored(store);
    REQUIRE_OK(store_stream_claim(store, &(struct stream_claim){ STR("test"), NOW_US, WHY_LATE_US },
                                  &lease, &held, &err),
               err);
}

/* ---- the table ---- */

#define BY_ID "echo w1 | patra update demo --ids -"

static const struct why_case CASES[] = {
    { "deleted", deleted, NULL, "record", "record.deleted", BY_ID },
    { "merged", merged, NULL, "record", "record.merged", "patra why demo 'w 2'" },
    { "older answer kept", older_kept, NULL, "record", "record.older",
      "patra record show demo w1 --history" },
    { "no publisher", why_plant_stored, NULL, "stream", "stream.idle", "patra publish --once" },
    { "the publisher is behind", publisher_behind, NULL, "stream", "stream.waiting",
      "patra outbox status" },
    { "in the stream", why_plant_sequenced, NULL, "", "", "" },
    { "events are gone", pruned, NULL, "", "", "" },
};

TEST(a_stored_record_is_named_with_what_became_of_it)
{
    why_check("demo", WHY_ID, CASES, ARRAY_LEN(CASES));
}

/* ---- what the page shows ---- */

TEST(a_version_shows_what_changed_and_where_its_event_is)
{
    struct store *store = why_store();
    const struct why_version *newest;
    struct view_why why;

    why_plant_sequenced(store);
    why = why_ask(store, "demo", WHY_ID, NULL);
    REQUIRE(why.versions.count == 2, "both versions");
    newest = &why.versions.items[0];
    CHECK_EQ(newest->event.event.version, 2, "the newest first");
    CHECK_EQ(newest->event.pos, 2, "its place in the lane");
    CHECK_EQ(why.versions.items[1].event.pos, 1, "and of the one before");
    REQUIRE(newest->has_before && newest->changed.count == 1, "one field changed");
    CHECK_STR(newest->changed.items[0], STR("title"), "which");
    CHECK(newest->is_same_date, "without a new date");
    CHECK(!why.versions.items[1].has_before, "nothing is before the first");
    CHECK(why.has_date && why.date_us == at(WHY_DATE), "the record's own date");
    store_close(store);
    contract_end();
}

TEST(a_source_that_does_not_exist_is_a_finding_and_an_endpoint_an_error)
{
    struct store *store = why_store();
    const struct view_reader reader = { .store = store,
                                        .arena = contract_arena(),
                                        .now_us = NOW_US };
    const struct view_why_query query = { .key = { STR("demo"), STR("elsewhere"), STR(WHY_ID) } };
    struct error err = { 0 };
    struct view_why why;

    why = why_ask(store, "nowhere", WHY_ID, NULL);
    REQUIRE(why.findings.count == 1, "one");
    CHECK_STR(why.findings.items[0].reason, STR("source.unknown"), "not applied");
    CHECK_STR(why.findings.items[0].command, STR("patra source apply sources/nowhere.yaml"), "how");
    CHECK(!view_why(&reader, &query, &why, &err), "no operation fetches these");
    CHECK_STR(str_of(err.code), STR("why.endpoint"), "says so");
    store_close(store);
    contract_end();
}

/* All that is missing is named, in the order of the way. */
TEST(findings_are_in_the_order_of_the_way)
{
    struct store *store = why_store();
    struct view_why why;

    why_put(store, &WHY_FIRST);
    why_sequence(store);
    (void)why_quarantined(store, NOW_US);
    why_put(store, &WHY_SECOND);
    why_relay(store, "");
    why = why_ask(store, "demo", WHY_ID, NULL);
    REQUIRE(why.findings.count == 2, "quarantine and stream");
    CHECK_STR(why.findings.items[0].reason, STR("quarantine.open"), "first");
    CHECK_STR(why.findings.items[1].reason, STR("stream.idle"), "then");
    CHECK(!view_why_is_there(&why), "not everywhere");
    why_sequence(store);
    why = why_ask(store, "demo", WHY_ID, NULL);
    REQUIRE(why.findings.count == 2, "quarantine and subscription");
    CHECK_STR(why.findings.items[1].reason, STR("subscription.idle"), "later");
    store_close(store);
    contract_end();
}
