/* Records out of quarantine, on every store: read again by the source in force, stored once. */
#include "engine/execute/quarantine_retry.h"
#include "planning.h"
#include "port/store_outbox.h"
#include "port/store_record.h"
#include "port/store_signal.h"
#include "seeded_random.h"

/* 2026-01-02 and 2026-01-05 are 1767312000 and 1767571200 seconds. */
#define BY_MS "response: { date_formats: [epoch_ms] }"

static int64_t put_aside(struct store *store, const char *payload)
{
    static int64_t place; /* no two records of a batch have the same */
    const struct quarantined bad = { .source = STR("demo"),
                                     .endpoint = STR("works"),
                                     .provider_id = STR("w1"),
                                     .reason = STR("date.syntax"),
                                     .detail = STR("$.updated: 1767312000000"),
                                     .lineage = { 1, 2, 3, 0, 5, 6 },
                                     .position = place++,
                                     .observed_us = NOW_US + 10 * US_PER_DAY,
                                     .created_us = NOW_US,
                                     .payload = str_of(payload) };
    struct quarantined_list list;
    struct error err = { 0 };
    int64_t added;

    REQUIRE_OK(store_quarantine_add(store, &bad, 1, &added, &err), err);
    REQUIRE_OK(store_quarantine_list(store, contract_arena(),
                                     &(struct quarantine_filter){ .limit = 100 }, &list, &err),
               err);
    return list.items[list.count - 1].id;
}

static struct quarantine_retried retry(struct store *store, int64_t id, bool is_dry)
{
    const struct quarantine_retry_request ask = {
        .id = id, .by = STR("ada"), .note = STR("mended"), .now_us = NOW_US + 9, .is_dry = is_dry
    };
    struct quarantine_retried retried;
    struct seeded_random random;
    struct error err = { 0 };

    seeded_random_init(&random, (uint64_t)id); /* the ids of events */
    REQUIRE_OK(quarantine_retry(store, contract_arena(), &random.source, &ask, &retried, &err),
               err);
    return retried;
}

static struct quarantined row_of(struct store *store, int64_t id)
{
    struct quarantined row = { 0 };
    struct error err = { 0 };
    bool found;

    REQUIRE_OK(store_quarantine_get(store, contract_arena(), id, &row, &found, &err), err);
    REQUIRE(found, "the row stays");
    return row;
}

static bool record_of(struct store *store, struct stored_record *record)
{
    struct error err = { 0 };
    bool found;

    REQUIRE_OK(store_record_get(store, contract_arena(),
                                &(struct record_key){ STR("demo"), STR("works"), STR("w1") },
                                record, &found, &err),
               err);
    return found;
}

static size_t events_of(struct store *store)
{
    struct stored_record record;
    struct stored_event_list events;
    struct error err = { 0 };

    if (!record_of(store, &record))
        return 0;
    REQUIRE_OK(store_outbox_of(store, contract_arena(), &(struct outbox_query){ record.id, 0, 9 },
                               &events, &err),
               err);
    return events.count;
}

static void add_signal(struct store *store, const char *reason)
{
    const struct signal signal = { .source = STR("demo"),
                                   .endpoint = STR("works"),
                                   .provider_id = STR("w1"),
                                   .reason = str_of(reason),
                                   .created_by = STR("executor"),
                                   .created_us = NOW_US };
    struct error err = { 0 };
    int64_t added;

    REQUIRE_OK(store_signal_add(store, &signal, 1, &added, &err), err);
}

static size_t open_signals(struct store *store)
{
    struct signal_list signals;
    struct error err = { 0 };

    REQUIRE_OK(store_signal_list(store, contract_arena(),
                                 &(struct signal_filter){
                                     .source = STR("demo"), .endpoint = STR("works"), .limit = 9 },
                                 &signals, &err),
               err);
    return signals.count;
}

TEST(what_is_still_bad_stays_in_quarantine)
{
    struct store *store = contract_store();
    struct quarantine_retried retried;
    struct stored_record record;
    int64_t id;

    planning_apply(store, &(struct planning_source){ 0 });
    id = put_aside(store, "{\"id\":\"w1\",\"updated\":\"01#02#2026\"}");
    retried = retry(store, id, false);
    CHECK_EQ(retried.outcome, QUARANTINE_STILL_BAD, "nothing has changed");
    CHECK_STR(retried.reason, STR("date.syntax"), "why");
    CHECK_STR(retried.provider_id, STR("w1"), "whose");
    CHECK_EQ(row_of(store, id).resolution, QUARANTINE_OPEN, "open");
    CHECK(!record_of(store, &record), "and no record");
    contract_end();
}

TEST(a_mended_source_reads_it_and_it_is_stored_once)
{
    static const char PAYLOAD[] = "{\"id\":\"w1\",\"updated\":1767312000000}";
    struct store *store = contract_store();
    struct quarantine_retried retried;
    struct stored_record record;
    int64_t id;

    planning_apply(store, &(struct planning_source){ .top = BY_MS });
    id = put_aside(store, PAYLOAD);
    retried = retry(store, id, true);
    CHECK_EQ(retried.outcome, QUARANTINE_STORED, "it would be");
    CHECK(!record_of(store, &record), "but is not: a dry run");
    CHECK_EQ(row_of(store, id).resolution, QUARANTINE_OPEN, "nor settled");
    retried = retry(store, id, false);
    CHECK_EQ(retried.outcome, QUARANTINE_STORED, "stored");
    CHECK_STR(retried.change, STR("new"), "as a new one");
    REQUIRE(record_of(store, &record), "there it is");
    CHECK_STR(record.payload, str_of(PAYLOAD), "its bytes");
    CHECK_EQ(record.updated_us, at("2026-01-02"), "its date");
    CHECK_EQ(record.version, 1, "one version");
    CHECK_EQ(record.lineage.batch_id, 6, "the batch that brought it");
    CHECK_EQ(events_of(store), 1, "one event");
    CHECK_EQ(row_of(store, id).resolution, QUARANTINE_RETRIED, "settled");
    CHECK_STR(row_of(store, id).resolved_by, STR("ada"), "by whom");
    CHECK_EQ(retry(store, id, false).outcome, QUARANTINE_SETTLED, "once");
    CHECK_EQ(events_of(store), 1, "and one event still");
    contract_end();
}

/* Two people put the same record aside twice; a newer state came by itself meanwhile. */
TEST(an_older_state_does_not_overwrite_a_newer_one)
{
    struct store *store = contract_store();
    struct stored_record record;
    int64_t newer, older;

    planning_apply(store, &(struct planning_source){ .top = BY_MS });
    newer = put_aside(store, "{\"id\":\"w1\",\"updated\":1767571200000}");
    CHECK_EQ(retry(store, newer, false).outcome, QUARANTINE_STORED, "the newer one");
    older = put_aside(store, "{\"id\":\"w1\",\"updated\":1767312000000}");
    CHECK_EQ(retry(store, older, false).outcome, QUARANTINE_KNOWN, "it is known better");
    REQUIRE(record_of(store, &record), "there");
    CHECK_EQ(record.updated_us, at("2026-01-05"), "the newer state");
    CHECK_EQ(events_of(store), 1, "one event");
    CHECK_EQ(row_of(store, older).resolution, QUARANTINE_RETRIED, "settled all the same");
    contract_end();
}

TEST(an_unknown_number_and_a_source_that_was_removed_are_refused)
{
    struct store *store = contract_store();
    struct quarantine_retry_request ask = { .id = 4711, .by = STR("ada"), .now_us = NOW_US };
    struct quarantine_retried retried;
    struct seeded_random random;
    struct error err = { 0 };

    seeded_random_init(&random, 7);
    CHECK(!quarantine_retry(store, contract_arena(), &random.source, &ask, &retried, &err),
          "no such row");
    CHECK_STR(str_of(err.code), STR("quarantine.unknown"), "why");
    ask.id = put_aside(store, "{}");
    CHECK(!quarantine_retry(store, contract_arena(), &random.source, &ask, &retried, &err),
          "no such source");
    CHECK_STR(str_of(err.code), STR("source.unknown"), "why");
    CHECK_EQ(err.level, ERROR_REQUEST, "trying again does not help");
    contract_end();
}

TEST(what_was_read_again_and_stored_is_no_signal_any_more)
{
    struct store *store = contract_store();
    int64_t bad, good;

    planning_apply(store, &(struct planning_source){ .top = BY_MS });
    bad = put_aside(store, "{\"id\":\"w1\",\"updated\":\"01#02#2026\"}");
    good = put_aside(store, "{\"id\":\"w1\",\"updated\":1767312000000}");
    add_signal(store, "date.syntax");
    CHECK_EQ(retry(store, bad, false).outcome, QUARANTINE_STILL_BAD, "bad");
    CHECK_EQ(open_signals(store), 1, "an update may yet bring it");
    CHECK_EQ(retry(store, good, true).outcome, QUARANTINE_STORED, "it would be");
    CHECK_EQ(open_signals(store), 1, "a dry run closes nothing");
    CHECK_EQ(retry(store, good, false).outcome, QUARANTINE_STORED, "stored");
    CHECK_EQ(open_signals(store), 0, "it has been looked at");
    add_signal(store, "asked for by a trigger");
    good = put_aside(store, "{\"id\":\"w1\",\"updated\":1767571200000}");
    CHECK_EQ(retry(store, good, false).outcome, QUARANTINE_STORED, "a later state");
    CHECK_EQ(open_signals(store), 1, "what somebody asked for is asked of the source");
    contract_end();
}
