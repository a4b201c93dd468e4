/* Where a record is missing that is known by its id: quarantine, signals, lists of ids. */
#include "base/instant.h"
#include "port/store_run.h"
#include "why_rig.h"

static void quarantined(struct store *store)
{
    why_number = why_quarantined(store, NOW_US);
}

static void dropped(struct store *store)
{
    struct error err = { 0 };
    bool resolved;

    quarantined(store);
    REQUIRE_OK(
        store_quarantine_resolve(store,
                                 &(struct quarantine_resolve){ why_number, QUARANTINE_DROPPED,
                                                               STR("ada"), STR("a test"), NOW_US },
                                 &resolved, &err),
        err);
}

static void newer_is_bad(struct store *store)
{
    why_put(store, &WHY_FIRST);
    why_sequence(store);
    quarantined(store);
}

static void older_was_bad(struct store *store)
{
    why_put(store, &WHY_FIRST);
    why_sequence(store);
    why_number = why_quarantined(store, NOW_US - 10 * US_PER_DAY);
}

static void refused(struct store *store)
{
    why_plant_covered(store);
    why_signal(store, "refused", 403);
}

static void not_returned(struct store *store)
{
    why_plant_covered(store);
    why_signal(store, "missing", 0);
}

static void no_update(struct store *store)
{
    planning_apply(store,
                   &(struct planning_source){ .window = "align: day, max: 1d, lag: 1h",
                                              .operations = "  harvest: { endpoint: works }\n" });
    why_signal(store, "missing", 0);
}

static void planned_by_id(struct store *store)
{
    const struct plan_request request = planning_request("update");

    why_signal(store, "missing", 0);
    (void)planning_trigger(store, &request);
}

static void not_at_the_source(struct store *store)
{
    planned_by_id(store);
    planning_end_all(store, TASK_SUCCEEDED);
}

static void signal_dropped(struct store *store)
{
    struct signal_list list;
    struct error err = { 0 };
    bool is_dropped;

    why_signal(store, "missing", 0);
    REQUIRE_OK(store_signal_list(store, contract_arena(), &(struct signal_filter){ .limit = 1 },
                                 &list, &err),
               err);
    REQUIRE_OK(store_signal_drop(store, list.items[0].id, STR("ada"), NOW_US, &is_dropped, &err),
               err);
}

static void listed(struct store *store)
{
    const struct str id = STR(WHY_ID);
    struct error err = { 0 };

    why_plant_backfill(store);
    REQUIRE_OK(store_begin(store, &err), err);
    REQUIRE_OK(store_listed_add(store, why_number, &id, 1, &err), err);
    REQUIRE_OK(store_commit(store, &err), err);
}

static void listed_and_failed(struct store *store)
{
    listed(store);
    planning_end(store, why_number, TASK_FAILED, NULL);
}

static void listed_and_lost(struct store *store)
{
    listed(store);
    planning_end(store, why_number, TASK_SUCCEEDED, NULL);
}

static void other_case(struct store *store)
{
    why_put(store, &WHY_FIRST);
    why_sql("UPDATE ing_record_state SET provider_id = 'W1'");
}

static void other_case_but_known(struct store *store)
{
    other_case(store);
    quarantined(store);
}

/* ---- the table ---- */

#define BY_ID "echo w1 | patra update demo --ids -"
#define WORK "patra work --drain --source demo"
#define REPLAY "patra replay demo --from 2025-12-01T00:00:00Z --to 2025-12-02T00:00:00Z"

static const struct why_case CASES[] = {
    { "quarantined", quarantined, NULL, "quarantine", "quarantine.open",
      "patra quarantine retry #" },
    { "quarantined and dropped", dropped, NULL, "quarantine", "quarantine.dropped", BY_ID },
    { "a newer state is quarantined", newer_is_bad, NULL, "quarantine", "quarantine.open",
      "patra quarantine retry #" },
    { "an older state is quarantined", older_was_bad, NULL, "", "", "" },
    { "listed but refused", refused, WHY_DATE, "request", "signal.refused", "patra update demo" },
    { "listed but not returned", not_returned, WHY_DATE, "request", "signal.open",
      "patra update demo" },
    { "no update takes it", no_update, WHY_DATE, "request", "signal.idle", REPLAY },
    { "planned by its id", planned_by_id, NULL, "request", "signal.planned", WORK },
    { "not at the source", not_at_the_source, NULL, "request", "source.gone", BY_ID },
    { "its signal was dropped", signal_dropped, NULL, "request", "signal.dropped", BY_ID },
    { "listed, details wait", listed, NULL, "window", "window.waiting", WORK },
    { "listed, details failed", listed_and_failed, NULL, "window", "window.failed", REPLAY },
    { "listed, not of the window", listed_and_lost, NULL, "request", "request.lost", BY_ID },
    { "another case", other_case, NULL, "id", "id.case", "patra why demo W1 --endpoint works" },
    { "another case, itself quarantined", other_case_but_known, NULL, "quarantine",
      "quarantine.open", "patra quarantine retry #" },
};

TEST(an_id_is_named_with_the_command_that_requests_it)
{
    why_check("demo", WHY_ID, CASES, ARRAY_LEN(CASES));
}

/* It may be the one that was meant; or both sources have it, and one of them is behind. */
TEST(another_source_that_has_the_id_is_named)
{
    static const char COMMAND[] = "patra why other w1 --endpoint works";
    struct store *store = why_store();
    struct view_why why;

    why_put(store, &WHY_FIRST);
    why_sql("UPDATE ing_record_endpoint SET provenance_code = 'other'");
    why = why_ask(store, "demo", WHY_ID, NULL);
    REQUIRE(why.findings.count == 2, "what is missing, and a hint");
    CHECK_STR(why.findings.items[0].reason, STR("plan.never"), "first what is missing");
    CHECK_STR(why.findings.items[1].reason, STR("id.source"), "then the other source");
    CHECK_STR(why.findings.items[1].command, str_of(COMMAND), "how to see it");
    why = why_ask(store, "nowhere", WHY_ID, NULL);
    REQUIRE(why.findings.count == 2, "a hint, and the source");
    CHECK_STR(why.findings.items[0].reason, STR("id.source"), "the name may be a slip");
    CHECK_STR(why.findings.items[0].command, str_of(COMMAND), "how to see it");
    CHECK_STR(why.findings.items[1].reason, STR("source.unknown"), "it is not applied");
    store_close(store);
    contract_end();
}
