/* What a source has beside its plans, as views read from a store: cursors, quarantine, signals,
 * gates, and the status of it all. */
#include "port/store_pause.h"
#include "port/store_rate.h"
#include "view/cursor.h"
#include "view/gate.h"
#include "view/quarantine.h"
#include "view/signals.h"
#include "view/status.h"
#include "view_rig.h"

TEST(cursors_are_chosen_by_operation_and_checked_against_their_events)
{
    struct store *store = view_rig_store();
    const struct view_reader reader = view_rig(store);
    struct view_cursor_filter filter = { .source = STR("demo") };
    struct view_cursor_details details;
    struct view_cursor_checks checks;
    struct view_cursor_list list;
    struct view_rig_json json;
    struct error err = { 0 };

    (void)view_rig_harvest(store);
    REQUIRE_OK(view_cursor_list(&reader, &filter, &list, &err), err);
    REQUIRE(list.count == 1, "that of the harvest");
    CHECK_EQ(list.items[0].cursor.value.instant_us, at("2025-01-01"), "where the plan begins");
    view_cursor_list_write(view_rig_begin(&json), &list);
    CHECK(view_rig_has(view_rig_end(&json), "\"value\":\"2025-01-01T00:00:00Z\""), "as JSON");
    REQUIRE_OK(view_cursor_details(&reader, &filter, 5, &details, &err), err);
    REQUIRE(details.count == 1 && details.items[0].has_holder, "a task holds it back");
    view_cursor_details_write(view_rig_begin(&json), &details);
    CHECK(view_rig_has(view_rig_end(&json), "\"heldBackBy\":{\"taskId\":"), "as JSON");
    REQUIRE_OK(view_cursor_checks(&reader, &filter, &checks, &err), err);
    CHECK_EQ(checks.count, 1, "one");
    CHECK_EQ(checks.wrong, 0, "it agrees");
    filter.has_operation = true;
    filter.operation = OPERATION_BACKFILL;
    REQUIRE_OK(view_cursor_list(&reader, &filter, &list, &err), err);
    CHECK_EQ(list.count, 0, "none of a backfill");
    contract_end();
}

TEST(quarantined_bytes_that_are_not_text_are_written_as_base64)
{
    struct store *store = view_rig_store();
    const struct view_reader reader = view_rig(store);
    const struct quarantined bad = { .source = STR("demo"),
                                     .endpoint = STR("works"),
                                     .reason = STR("id.missing"),
                                     .detail = STR("$.id"),
                                     .created_us = NOW_US,
                                     .payload = STR("\xff{") };
    const struct quarantine_filter filter = { .source = STR("demo"), .limit = 10 };
    struct view_quarantine_list list;
    struct quarantined record;
    struct view_rig_json json;
    struct error err = { 0 };
    struct str text;
    int64_t added;

    REQUIRE_OK(store_quarantine_add(store, &bad, 1, &added, &err), err);
    REQUIRE_OK(view_quarantine_list(&reader, &filter, &list, &err), err);
    REQUIRE(list.count == 1 && list.sums.count == 1, "one, and its sum");
    CHECK_EQ(list.sums.items[0].count, 1, "the sum");
    view_quarantine_list_write(view_rig_begin(&json), &list);
    text = view_rig_end(&json);
    CHECK(view_rig_has(text, "\"state\":\"OPEN\"") && !view_rig_has(text, "payload"), "the list");
    REQUIRE_OK(view_quarantined(&reader, list.items[0].id, &record, &err), err);
    REQUIRE_OK(view_quarantined_write(view_rig_begin(&json), contract_arena(), &record, &err), err);
    CHECK(view_rig_has(view_rig_end(&json), "\"payloadBase64\":\"/3s=\""), "its bytes");
    CHECK(!view_quarantined(&reader, 99, &record, &err), "no such record");
    CHECK_STR(str_of(err.code), STR("quarantine.unknown"), "code");
    contract_end();
}

static void add_signal(struct store *store)
{
    const struct signal signal = { .source = STR("demo"),
                                   .endpoint = STR("works"),
                                   .provider_id = STR("a"),
                                   .reason = STR("retracted"),
                                   .created_by = STR("ada"),
                                   .created_us = NOW_US };
    struct error err = { 0 };
    int64_t added;

    REQUIRE_OK(store_signal_add(store, &signal, 1, &added, &err), err);
}

TEST(signals_without_an_update_by_id_are_idle)
{
    struct store *store = view_rig_store();
    const struct view_reader reader = view_rig(store);
    const struct signal_filter filter = { .limit = 10 };
    struct view_source_names idle;
    struct view_signal_list list;
    struct view_rig_json json;
    struct error err = { 0 };

    add_signal(store);
    REQUIRE_OK(view_signal_list(&reader, &filter, &list, &err), err);
    REQUIRE(list.count == 1, "one");
    view_signal_list_write(view_rig_begin(&json), &list);
    CHECK(view_rig_has(view_rig_end(&json), "\"recordId\":\"a\",\"reason\":\"retracted\""),
          "as JSON");
    REQUIRE_OK(view_signal_list_idle(&reader, &list, &idle, &err), err);
    CHECK_EQ(idle.count, 0, "the update takes them");
    planning_apply(store, &(struct planning_source){
                              .operations = "  harvest: { endpoint: works, every: 1h }\n" });
    REQUIRE_OK(view_signal_list_idle(&reader, &list, &idle, &err), err);
    REQUIRE(idle.count == 1, "there is no update");
    CHECK_STR(idle.items[0], STR("demo"), "whose they are");
    contract_end();
}

/* A gate of a host that no source requests any more. */
static void add_gate(struct store *store)
{
    static const struct bucket_config config = {
        .rate_max = 3 * MICRO, .rate_min = MICRO, .burst = MICRO, .demote_permille = 2000
    };
    const struct rate_gate gate = { .bucket = bucket_start(&config, NOW_US),
                                    .parked_until_us = NOW_US + US_PER_HOUR };
    struct error err = { 0 };
    bool saved;

    REQUIRE_OK(store_begin(store, &err), err);
    REQUIRE_OK(store_rate_save(store, STR("host:old.example.org"), &gate, NOW_US, &saved, &err),
               err);
    REQUIRE_OK(store_commit(store, &err), err);
}

TEST(gates_have_the_settings_of_their_sources_and_what_the_store_has_learned)
{
    struct store *store = view_rig_store();
    const struct view_reader reader = view_rig(store);
    const struct str demo = STR("demo");
    struct view_gate_filter filter = { .sources = &demo, .source_count = 1, .now_us = NOW_US };
    struct view_gate_list list;
    struct view_rig_json json;
    struct error err = { 0 };
    struct str text;

    add_gate(store);
    REQUIRE_OK(view_gate_list(&reader, &filter, &list, &err), err);
    REQUIRE(list.count > 0, "those of the source");
    CHECK(list.items[0].is_configured && !list.items[0].view.is_known, "never used");
    CHECK_STR(list.items[0].of, STR("demo/works"), "whose it is");
    view_gate_list_write(view_rig_begin(&json), &list, NOW_US);
    text = view_rig_end(&json);
    CHECK(view_rig_has(text, "\"configuredPerSecond\":") && !view_rig_has(text, "old.example"),
          "as JSON");
    filter = (struct view_gate_filter){ .with_unconfigured = true, .now_us = NOW_US };
    REQUIRE_OK(view_gate_list(&reader, &filter, &list, &err), err);
    REQUIRE(list.count == 1, "of no source");
    CHECK(!list.items[0].is_configured && list.items[0].view.rate == 3 * MICRO, "what was learned");
    CHECK_EQ(view_gate_block(&list.items[0], NOW_US).until_us, NOW_US + US_PER_HOUR, "parked");
    contract_end();
}

TEST(a_stopped_source_needs_a_person)
{
    struct store *store = view_rig_store();
    const struct view_reader reader = view_rig(store);
    const struct pause stop = { STR("demo"),       STR(""),         PAUSE_STOPPED,
                                STR("status 401"), STR("executor"), NOW_US - US_PER_HOUR };
    struct view_status_filter filter = { .source = STR("demo") };
    struct view_status status;
    struct view_rig_json json;
    struct error err = { 0 };
    struct str text;
    bool added;

    (void)view_rig_harvest(store);
    add_signal(store);
    REQUIRE_OK(view_status(&reader, &filter, &status, &err), err);
    REQUIRE(status.sources.count == 1, "the source");
    CHECK_EQ(status.sources.items[0].counts.items[0].queued, 3, "its queue");
    CHECK(status.sources.items[0].takes_signals, "its signals");
    REQUIRE_OK(store_pause_add(store, &stop, &added, &err), err);
    REQUIRE_OK(view_status(&reader, &filter, &status, &err), err);
    REQUIRE(status.needs.count == 1, "the stop");
    CHECK(view_rig_has(status.needs.items[0].text, "patra resume demo"), "what to do");
    view_status_write(view_rig_begin(&json), &status);
    text = view_rig_end(&json);
    CHECK(view_rig_has(text, "\"liftedBy\":\"patra resume demo\""), "as JSON");
    CHECK(view_rig_has(text, "\"signals\":1,\"signalsAreTaken\":true"), "as JSON");
    filter.source = STR("dmeo");
    CHECK(!view_status(&reader, &filter, &status, &err), "misspelled");
    CHECK_STR(str_of(err.code), STR("source.unknown"), "code");
    contract_end();
}
