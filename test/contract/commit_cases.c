/* batch_commit over every store: what a batch stores. */
#include <inttypes.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "commit_worker.h"
#include "contract.h"
#include "core/limits.h"
#include "port/store_quarantine.h"
#include "port/store_signal.h"
#include "rows.h"

/* ---- the overwrite rule, end to end ---- */

struct overwrite_case {
    const char *label;
    const char *endpoint;
    const char *first; /* the item's members besides its id */
    const char *second;
    int64_t version;   /* of the record afterwards */
    bool is_deleted;   /* likewise */
    int holds;         /* whose payload: 1 or 2 */
    const char *event; /* the last one */
};

static const struct overwrite_case overwrites[] = {
    { "later", "dated", AT("01"), AT("02"), 2, false, 2, "RecordUpdated" },
    { "equal, other content", "dated", AT("01"), AT("01") ",\"n\":2", 2, false, 2,
      "RecordUpdated" },
    { "equal, same content", "dated", AT("01"), AT("01"), 1, false, 1, "RecordCreated" },
    { "equal, same content in another form", "dated", AT("01") ",\"n\":1", "\"n\": 1.0," AT("01"),
      1, false, 1, "RecordCreated" },
    { "earlier", "dated", AT("02"), AT("01"), 1, false, 1, "RecordCreated" },
    { "equal, next version", "dated", AT("01") ",\"v\":\"9\"", AT("01") ",\"v\":\"10\"", 2, false,
      2, "RecordUpdated" },
    { "equal, version before", "dated", AT("01") ",\"v\":\"10\"", AT("01") ",\"v\":\"9\"", 1, false,
      1, "RecordCreated" },
    { "a day, other content", "dated", "\"at\":\"2026-01-05\"", "\"at\":\"2026-01-05\",\"n\":2", 2,
      false, 2, "RecordUpdated" },
    { "a day, same content", "dated", "\"at\":\"2026-01-05\"", "\"at\":\"2026-01-05\"", 1, false, 1,
      "RecordCreated" },
    { "deleted", "dated", AT("01"), AT("02") ",\"deleted\":true", 2, true, 2, "RecordDeleted" },
    { "deleted in the same second", "dated", AT("01"), AT("01") ",\"deleted\":true", 2, true, 2,
      "RecordDeleted" },
    { "deleted without a date", "dated", AT("01"), "\"deleted\":true", 2, true, 2,
      "RecordDeleted" },
    { "merged", "dated", AT("01"), AT("02") ",\"merged\":\"b\"", 2, true, 2, "RecordDeleted" },
    { "an old tombstone", "dated", AT("02"), AT("01") ",\"deleted\":true", 1, false, 1,
      "RecordCreated" },
    { "a tombstone, and the record observed later", "dated", AT("01") ",\"deleted\":true", AT("01"),
      2, false, 2, "RecordCreated" },
    { "a tombstone, and an older state of the record", "dated", AT("02") ",\"deleted\":true",
      AT("01"), 1, true, 1, "RecordDeleted" },
    { "undelete", "dated", AT("01") ",\"deleted\":true", AT("02"), 2, false, 2, "RecordCreated" },
    { "no dates, other content", "undated", "\"n\":1", "\"n\":2", 2, false, 2, "RecordUpdated" },
    { "no dates, same content, other form", "undated", "\"n\":1,\"m\":2", "\"m\": 2,\"n\":1.0", 1,
      false, 1, "RecordCreated" },
    { "no dates, deleted", "undated", "\"n\":1", "\"deleted\":true", 2, true, 2, "RecordDeleted" },
    { "no dates, undelete", "undated", "\"deleted\":true", "\"n\":1", 2, false, 2,
      "RecordCreated" },
};

static const char *payload_of(const char *id, const char *members)
{
    return arena_printf(contract_arena(), "{\"id\":\"%s\",%s}", id, members).data;
}

static void check_overwrite(struct store *store, const struct overwrite_case *c, const char *id)
{
    const struct stored_record record = commit_record(store, c->endpoint, id);
    const struct stored_event_list events = commit_events(store, c->endpoint, id);

    CHECK_EQ(record.version, c->version, c->label);
    CHECK_EQ(record.is_deleted, c->is_deleted, c->label);
    CHECK_STR(record.payload, str_of(payload_of(id, c->holds == 1 ? c->first : c->second)),
              c->label);
    CHECK_EQ(events.count, c->version, c->label);
    for (size_t i = 0; i < events.count; i++)
        CHECK_EQ(events.items[i].event.version, (int64_t)i + 1, c->label);
    if (events.count > 0)
        CHECK_STR(events.items[events.count - 1].event.event_type, str_of(c->event), c->label);
}

TEST(a_record_is_overwritten_by_what_is_newer_alone)
{
    struct store *store = contract_store();
    static const char *const ENDPOINTS[] = { "dated", "undated" };
    char id[16];

    for (size_t e = 0; e < ARRAY_LEN(ENDPOINTS); e++) {
        struct worker worker;

        worker_open(&worker, store, ENDPOINTS[e]);
        for (size_t i = 0; i < ARRAY_LEN(overwrites); i++) {
            const struct overwrite_case *c = &overwrites[i];

            if (strcmp(c->endpoint, ENDPOINTS[e]) != 0)
                continue;
            (void)snprintf(id, sizeof(id), "r%zu", i);
            worker_fetch(&worker, commit_page(id, c->first));
            (void)worker_commit(&worker, NOW_US);
            worker_fetch(&worker, commit_page(id, c->second));
            (void)worker_commit(&worker, NOW_US + 10);
            check_overwrite(store, c, id);
        }
        worker_close(&worker);
    }
    contract_end();
}

TEST(a_tombstone_without_a_date_keeps_the_one_it_buries)
{
    struct store *store = contract_store();
    struct worker worker;

    worker_open(&worker, store, "dated");
    worker_fetch(&worker, commit_page("a", AT("05") ",\"v\":\"3\""));
    (void)worker_commit(&worker, NOW_US);
    worker_fetch(&worker, commit_page("a", "\"deleted\":true"));
    CHECK_EQ(worker_commit(&worker, NOW_US).deleted, 1, "deleted");
    worker_fetch(&worker, commit_page("a", AT("05") ",\"v\":\"3\""));
    CHECK_EQ(worker_commit_at(&worker, (struct commit_times){ NOW_US - 1, NOW_US }).older, 1,
             "a page that was under way brings back none");
    CHECK(commit_record(store, "dated", "a").is_deleted, "still deleted");
    worker_fetch(&worker, commit_page("a", AT("06")));
    CHECK_EQ(worker_commit(&worker, NOW_US).updated, 1, "a later one does");
    CHECK_EQ(commit_record(store, "dated", "a").version, 3, "version");
    worker_close(&worker);
    contract_end();
}

TEST(of_one_id_twice_the_latest_state_is_one_version)
{
    struct store *store = contract_store();
    struct commit_result result;
    struct worker worker;

    worker_open(&worker, store, "dated");
    worker_fetch(&worker, "{\"items\":["
                          "{\"id\":\"b\"," AT("01") ",\"n\":1},"
                                                    "{\"id\":\"a\"," AT(
                                                        "03") ",\"n\":2},"
                                                              "{\"id\":\"b\"," AT(
                                                                  "02") ",\"n\":3},"
                                                                        "{\"id\":\"a\"," AT(
                                                                            "01") ",\"n\":4}]}");
    result = worker_commit(&worker, NOW_US);
    CHECK_EQ(result.created, 2, "two records");
    CHECK_EQ(result.unchanged, 2, "and two states that were replaced");
    CHECK_EQ(result.latest_us, INT64_C(1767571203000000), "the furthest date");
    CHECK_EQ(commit_record(store, "dated", "a").version, 1, "a");
    CHECK_STR(commit_record(store, "dated", "a").payload,
              STR("{\"id\":\"a\"," AT("03") ",\"n\":2}"), "the later date, though it came first");
    CHECK_STR(commit_record(store, "dated", "b").payload,
              STR("{\"id\":\"b\"," AT("02") ",\"n\":3}"), "the later date");
    CHECK_EQ(commit_events(store, "dated", "a").count, 1, "one event");
    CHECK_EQ(commit_events(store, "dated", "b").count, 1, "one event");
    worker_close(&worker);
    contract_end();
}

/* ---- what goes out ---- */

/* Of {"id":"10.1/ä","at":"2026-01-05T00:00:01Z","v":"7","title":"T"}, by sha256sum. */
#define PAYLOAD_SHA256 "cf2bdce322bc3b3cc2d597d2fb562513cebc2c52850a489c9a758b038e3fca47"

TEST(an_event_carries_the_state_of_its_version)
{
    struct store *store = contract_store();
    struct stored_event_list events;
    struct commit_result result;
    struct worker worker;
    struct str wire;

    worker_open(&worker, store, "dated");
    worker_fetch(&worker, commit_page("10.1/\xc3\xa4", AT("01") ",\"v\":\"7\",\"title\":\"T\""));
    result = worker_commit(&worker, NOW_US);
    worker_fetch(&worker, commit_page("10.1/\xc3\xa4", AT("02") ",\"merged\":\"b\""));
    (void)worker_commit(&worker, NOW_US + 1);
    events = commit_events(store, "dated", "10.1/\xc3\xa4");
    REQUIRE(events.count == 2, "two events");
    CHECK_EQ(events.items[0].event.occurred_us, NOW_US, "when");
    CHECK_EQ(events.items[0].event.lane, events.items[1].event.lane, "one key, one lane");
    CHECK(str_cmp(events.items[0].event.event_id, events.items[1].event.event_id) < 0, "ids go up");
    CHECK_STR(commit_wire(&events.items[0]),
              arena_printf(
                  contract_arena(),
                  "{\"eventId\":\"%.*s\",\"eventType\":\"RecordCreated\",\"schemaVersion\":1,"
                  "\"occurredAt\":\"2026-01-01T00:00:00Z\","
                  "\"source\":\"crossref\",\"endpoint\":\"dated\",\"id\":\"10.1/\xc3\xa4\","
                  "\"version\":1,\"updatedAt\":\"2026-01-05T00:00:01Z\",\"providerVersion\":\"7\","
                  "\"deleted\":false,\"contentHash\":\"%.*s\",\"exprHash\":\"" HASH_A "\","
                  "\"fields\":{\"title\":\"T\"},\"lineage\":{\"scheduleInstanceId\":%" PRId64
                  ",\"planId\":%" PRId64 ",\"sliceId\":%" PRId64 ",\"taskId\":%" PRId64
                  ",\"runId\":%" PRId64 ",\"batchId\":%" PRId64 "}}",
                  STR_ARG(events.items[0].event.event_id), STR_ARG(STR(PAYLOAD_SHA256)),
                  worker.task.schedule_instance_id, worker.task.plan_id, worker.task.slice_id,
                  worker.task.id, worker.run.id, result.batch_id),
              "created");
    wire = commit_wire(&events.items[1]);
    CHECK(str_find(wire, STR("\"deleted\":true,\"mergedInto\":\"b\"")) < wire.len, "merged");
    CHECK(str_find(wire, STR("\"fields\"")) == wire.len, "a tombstone has no fields");
    CHECK_STR(events.items[0].event.body,
              STR("{\"updatedAt\":\"2026-01-05T00:00:01Z\",\"providerVersion\":\"7\","
                  "\"contentHash\":\"" PAYLOAD_SHA256 "\",\"fields\":{\"title\":\"T\"}}"),
              "its row says only what others do not");
    worker_close(&worker);
    contract_end();
}

TEST(an_event_carries_the_whole_record_where_the_source_asks_for_it)
{
    struct store *store = contract_store();
    struct stored_event_list events;
    struct worker worker;
    struct str wire;

    worker_open(&worker, store, "whole");
    worker_fetch(&worker, commit_page("a", AT("01") ", \"x\": [1, 2]"));
    (void)worker_commit(&worker, NOW_US);
    events = commit_events(store, "whole", "a");
    REQUIRE(events.count == 1, "an event");
    wire = commit_wire(&events.items[0]);
    CHECK(str_find(wire, STR("\"fields\":{},\"payload\":{\"id\":\"a\"," AT("01") ", \"x\": [1, 2]},"
                                                                                 "\"lineage\":{")) <
              wire.len,
          wire.data);
    worker_close(&worker);
    contract_end();
}

/* Neither a record without an event nor an event without its state: it waits for a person. */
TEST(a_record_whose_event_is_too_large_is_quarantined_with_all_its_bytes)
{
    struct store *store = contract_store();
    const size_t room = (size_t)EVENT_BYTES_MAX;
    char *page = malloc(room + 256);
    struct quarantined_list bad;
    struct commit_result result;
    struct worker worker;
    struct error err = { 0 };
    int len;

    REQUIRE(page != NULL, "memory");
    worker_open(&worker, store, "dated");
    len = sprintf(page, "{\"items\":[{\"id\":\"small\"," AT("01") "},{\"id\":\"large\"," AT(
                            "01") ",\"title\":\"");
    memset(page + len, 'x', room);
    (void)strcpy(page + (size_t)len + room, "\"}]}");
    worker_fetch(&worker, page);
    result = worker_commit(&worker, NOW_US);
    CHECK_EQ(result.created, 1, "the other one");
    CHECK_EQ(result.quarantined, 1, "the large one");
    CHECK_EQ(commit_record(store, "dated", "large").id, 0, "it is not stored without its event");
    REQUIRE_OK(
        store_quarantine_list(store, contract_arena(),
                              &(struct quarantine_filter){ .source = STR("crossref"), .limit = 9 },
                              &bad, &err),
        err);
    REQUIRE(bad.count == 1, "in quarantine");
    CHECK_STR(bad.items[0].reason, STR("event.size"), "reason");
    CHECK_STR(bad.items[0].provider_id, STR("large"), "id");
    worker_close(&worker);
    free(page);
    contract_end();
}

TEST(what_can_not_be_judged_is_quarantined_and_signalled)
{
    struct store *store = contract_store();
    struct quarantined_list bad;
    struct quarantined first;
    bool found;
    struct signal_list signals;
    struct commit_result result;
    struct worker worker;
    struct error err = { 0 };

    worker_open(&worker, store, "dated");
    worker_fetch(&worker, "{\"items\":[{\"id\":\"z\",\"at\":\"soon\"},{\"id\":\"a\"},{\"x\":1},"
                          "{\"id\":\"good\"," AT("01") "}]}");
    result = worker_commit(&worker, NOW_US);
    CHECK_EQ(result.created, 1, "the good one");
    CHECK_EQ(result.quarantined, 3, "the bad ones");
    CHECK_EQ(result.signals, 2, "those with an id");
    REQUIRE_OK(
        store_quarantine_list(store, contract_arena(),
                              &(struct quarantine_filter){ .source = STR("crossref"), .limit = 9 },
                              &bad, &err),
        err);
    REQUIRE(bad.count == 3, "in quarantine");
    CHECK_STR(bad.items[0].reason, STR("date.syntax"), "reason");
    REQUIRE_OK(store_quarantine_get(store, contract_arena(), bad.items[0].id, &first, &found, &err),
               err);
    CHECK_STR(first.payload, STR("{\"id\":\"z\",\"at\":\"soon\"}"), "its bytes");
    CHECK_EQ(bad.items[0].lineage.batch_id, result.batch_id, "where it came from");
    CHECK_STR(bad.items[2].provider_id, STR(""), "no id");
    CHECK_EQ(bad.items[2].position, 2, "its place");
    REQUIRE_OK(store_signal_list(store, contract_arena(),
                                 &(struct signal_filter){ .source = STR("crossref"),
                                                          .endpoint = STR("dated"),
                                                          .limit = 9 },
                                 &signals, &err),
               err);
    REQUIRE(signals.count == 2, "signals");
    CHECK_STR(signals.items[0].provider_id, STR("a"), "by id");
    CHECK_STR(signals.items[0].reason, STR("date.missing"), "reason");
    CHECK_STR(signals.items[1].provider_id, STR("z"), "by id");
    worker_close(&worker);
    contract_end();
}

/* The nth item that was quarantined. */
static struct quarantined quarantined(struct store *store, size_t n)
{
    const struct quarantine_filter all = { .with_resolved = true, .limit = 9 };
    struct quarantined_list list;
    struct error err = { 0 };

    REQUIRE_OK(store_quarantine_list(store, contract_arena(), &all, &list, &err), err);
    REQUIRE(n < list.count, "it stays");
    return list.items[n];
}

TEST(what_was_put_aside_and_comes_well_later_is_replaced)
{
    struct store *store = contract_store();
    struct worker worker;
    struct quarantined record;

    worker_open(&worker, store, "dated");
    worker_fetch(&worker, "{\"items\":[{\"id\":\"a\"," AT("05") "}]}");
    (void)worker_commit(&worker, NOW_US);
    worker_fetch(&worker, "{\"items\":[{\"id\":\"a\"},{\"id\":\"b\"},{\"x\":1}]}");
    CHECK_EQ(worker_commit(&worker, NOW_US).quarantined, 3, "quarantined");
    worker_fetch(&worker, "{\"items\":[{\"id\":\"a\"," AT("04") "},{\"id\":\"c\"," AT("04") "}]}");
    CHECK_EQ(worker_commit(&worker, NOW_US).older, 1, "a state from before");
    CHECK_EQ(quarantined(store, 0).resolution, QUARANTINE_OPEN, "proves nothing");
    worker_fetch(&worker, "{\"items\":[{\"id\":\"a\"," AT("05") "},{\"id\":\"b\"," AT("06") "}]}");
    (void)worker_commit(&worker, NOW_US + 7);
    for (size_t i = 0; i < 2; i++) {
        record = quarantined(store, i);
        CHECK_EQ(record.resolution, QUARANTINE_REPLACED, i == 0 ? "as it was" : "a new one");
        CHECK_EQ(record.resolved_us, NOW_US + 7, "when");
        CHECK(str_starts(record.note, STR("a valid record was received with task ")), "with what");
    }
    CHECK_EQ(quarantined(store, 2).resolution, QUARANTINE_OPEN, "its id is unknown");
    worker_close(&worker);
    contract_end();
}

TEST(listed_ids_are_kept_and_lost_ones_signalled)
{
    struct store *store = contract_store();
    struct listed_list listed;
    struct signal_list signals;
    struct commit_result result = { 0 };
    struct worker worker;
    struct error err = { 0 };
    int64_t created = 0;

    worker_open(&worker, store, "ids");
    worker_fetch(&worker, "{\"ids\":[\"c\",\"a\",\"b\"]}");
    CHECK_EQ(worker.batch.kind, FETCH_IDS, "ids first");
    result = worker_commit(&worker, NOW_US);
    CHECK_EQ(result.created, 0, "no records");
    REQUIRE_OK(store_listed_list(store, contract_arena(), worker.task.id,
                                 (struct store_page){ .limit = 9 }, &listed, &err),
               err);
    REQUIRE(listed.count == 3, "three ids");
    CHECK_STR(listed.items[0], STR("c"), "in order");
    CHECK_STR(listed.items[2], STR("b"), "in order");
    for (int i = 0; i < 8 && !worker.batch.is_last; i++) {
        REQUIRE_OK(
            worker_next(&worker,
                        "{\"items\":[{\"id\":\"a\"," AT("01") "},{\"id\":\"c\"," AT("01") "}]}",
                        &err),
            err);
        result = worker_commit(&worker, NOW_US + i);
        created += result.created;
    }
    CHECK_EQ(created, 2, "those that have details");
    CHECK_EQ(commit_record(store, "ids", "a").version, 1, "of the endpoint that listed it");
    REQUIRE_OK(store_signal_list(store, contract_arena(),
                                 &(struct signal_filter){ .source = STR("crossref"),
                                                          .endpoint = STR("ids"),
                                                          .limit = 9 },
                                 &signals, &err),
               err);
    REQUIRE(signals.count == 1, "the one that has none");
    CHECK_STR(signals.items[0].provider_id, STR("b"), "id");
    CHECK_STR(signals.items[0].reason, STR("missing"), "reason");
    worker_close(&worker);
    contract_end();
}

/* Were it signalled again, or left as stale as it was, every update would begin with it. */
TEST(an_id_that_was_looked_for_and_is_gone_is_let_be)
{
    struct store *store = contract_store();
    struct signal_list signals;
    struct worker worker;
    struct error err = { 0 };

    for (int round = 0; round < 2; round++) { /* the second finds no b */
        worker_open(&worker, store, "ids");
        worker.context.is_by_id = true;
        worker_fetch(&worker, "{\"ids\":[\"a\",\"b\",\"n\"]}");
        (void)worker_commit(&worker, NOW_US + round);
        for (int i = 0; i < 8 && !worker.batch.is_last; i++) {
            REQUIRE_OK(worker_next(&worker,
                                   round == 0 ? "{\"items\":[{\"id\":\"a\"," AT(
                                                    "01") "},{\"id\":\"b\"," AT("01") "}]}"
                                              : "{\"items\":[{\"id\":\"a\"," AT("01") "}]}",
                                   &err),
                       err);
            (void)worker_commit(&worker, NOW_US + round * US_PER_DAY);
        }
        worker_close(&worker);
    }
    CHECK_EQ(commit_record(store, "ids", "b").checked_us, NOW_US + US_PER_DAY, "looked at");
    CHECK_EQ(commit_record(store, "ids", "b").version, 1, "as it was last seen");
    REQUIRE_OK(store_signal_list(store, contract_arena(),
                                 &(struct signal_filter){ .source = STR("crossref"),
                                                          .endpoint = STR("ids"),
                                                          .limit = 9 },
                                 &signals, &err),
               err);
    CHECK_EQ(signals.count, 0, "no signal");
    contract_end();
}

/* The same for one that the source now returns broken, and one of which it has an older state. */
TEST(an_id_that_was_looked_for_and_came_bad_or_old_is_let_be)
{
    static const char *const answers[] = {
        "{\"items\":[{\"id\":\"a\"," AT("02") "},{\"id\":\"b\"," AT("02") "}]}",
        "{\"items\":[{\"id\":\"a\"," AT("01") "},{\"id\":\"b\",\"at\":\"soon\"}]}",
        "{\"items\":[{\"id\":\"a\"," AT("01") "},{\"id\":\"b\",\"at\":\"soon\"}]}",
    };
    struct store *store = contract_store();
    struct quarantined_list quarantined;
    struct signal_list signals;
    struct worker worker;
    struct error err = { 0 };

    for (int round = 0; round < 3; round++) {
        worker_open(&worker, store, "ids");
        worker.context.is_by_id = true;
        worker_fetch(&worker, "{\"ids\":[\"a\",\"b\"]}");
        (void)worker_commit(&worker, NOW_US + round);
        for (int i = 0; i < 8 && !worker.batch.is_last; i++) {
            REQUIRE_OK(worker_next(&worker, answers[round], &err), err);
            (void)worker_commit(&worker, NOW_US + round * US_PER_DAY);
        }
        worker_close(&worker);
    }
    CHECK_EQ(commit_record(store, "ids", "a").checked_us, NOW_US + 2 * US_PER_DAY, "older");
    CHECK_EQ(commit_record(store, "ids", "b").checked_us, NOW_US + 2 * US_PER_DAY, "bad");
    CHECK_EQ(commit_record(store, "ids", "a").version, 1, "nothing was written");
    REQUIRE_OK(store_signal_list(store, contract_arena(),
                                 &(struct signal_filter){ .source = STR("crossref"),
                                                          .endpoint = STR("ids"),
                                                          .limit = 9 },
                                 &signals, &err),
               err);
    CHECK_EQ(signals.count, 0, "no signal");
    REQUIRE_OK(
        store_quarantine_list(store, contract_arena(),
                              &(struct quarantine_filter){ .source = STR("crossref"), .limit = 9 },
                              &quarantined, &err),
        err);
    CHECK_EQ(quarantined.count, 1, "quarantined once, however often it is received");
    contract_end();
}

/* ---- odd bytes ---- */

/* A NUL has its place in JSON and none in the texts of some stores. */
TEST(any_bytes_in_a_token_or_an_error_are_stored_with_the_batch)
{
    struct store *store = contract_store();
    struct batch_list batches;
    struct commit_result result;
    struct worker worker;
    struct error err = { 0 }, cause = { 0 };

    worker_open(&worker, store, "tokens");
    worker_fetch(&worker, "{\"items\":[{\"id\":\"a\"," AT(
                              "01") "}],"
                                    "\"next\":\"t\\u0000\\ufffd\\u0001\xc3\xa9\\\"\"}");
    result = worker_commit(&worker, NOW_US);
    CHECK_EQ(result.created, 1, "its record");
    worker_close(&worker);

    worker_open(&worker, store, "tokens");
    worker_fetch(&worker, "{\"items\":[{\"id\":\"a\"," AT("01") "}],\"next\":\"t1\"}");
    worker.status = 400;
    CHECK(!worker_next(&worker, "{\"message\":\"no\\u0000\"}", &cause), "refused");
    REQUIRE_OK(batch_commit_failed(&worker.context, &worker.batch, &cause, NOW_US, &result, &err),
               err);
    REQUIRE_OK(store_batch_list(store, contract_arena(), worker.run.id,
                                (struct store_page){ .limit = 9 }, &batches, &err),
               err);
    CHECK_EQ(batches.count, 1, "the row of the failure");
    worker_close(&worker);
    contract_end();
}
