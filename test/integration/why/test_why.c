/* patra why over every store: a situation is planted, and the first step at which the record is
 * missing and the command that heals it must be those of the table. */
#include <stdio.h>
#include <string.h>

#include "base/instant.h"
#include "core/lane.h"
#include "engine/retire/retire.h"
#include "port/store_lease.h"
#include "port/store_offset.h"
#include "port/store_parked.h"
#include "port/store_pause.h"
#include "port/store_run.h"
#include "port/store_subscription.h"
#include "why_rig.h"

static const struct offset_key HOOK = { { "patra", 5 }, { "hook", 4 } };
static const struct why_write FIRST = { "RecordCreated", "one", NULL };
static const struct why_write SECOND = { "RecordUpdated", "two", NULL };

static int64_t number; /* of the row that was planted, for commands that name it */

/* ---- the source, plans and windows ---- */

static void nothing(struct store *store)
{
    (void)store;
}

static void removed(struct store *store)
{
    struct retire_result result;
    struct error err = { 0 };

    REQUIRE_OK(retire_source(store, contract_arena(), STR("demo"), NOW_US - 1, &result, &err), err);
}

static void backfill(struct store *store)
{
    number = why_backfill(store);
}

static void covered(struct store *store)
{
    backfill(store);
    planning_end_all(store, TASK_SUCCEEDED);
}

static void harvested(struct store *store)
{
    number = why_harvest(store);
    planning_end_all(store, TASK_SUCCEEDED);
}

static void other_query(struct store *store)
{
    covered(store);
    planning_apply(store, &(struct planning_source){ .window = "align: day, max: 1d, lag: 1h",
                                                     .query = "      kind: article\n" });
}

static void budget_ended(struct store *store)
{
    planning_apply(store, &(struct planning_source){
                              .window = "align: day, max: 1d, lag: 1h",
                              .operations = "  harvest: { endpoint: works }\n"
                                            "  backfill: { endpoint: works, queued_max: 1 }\n"
                                            "  update: { endpoint: work }\n" });
    (void)planning_trigger(store, &(struct plan_request){ .source = STR("demo"),
                                                          .operation = STR("backfill"),
                                                          .now_us = NOW_US,
                                                          .trigger = TRIGGER_MANUAL,
                                                          .from = maybe("2025-12-01"),
                                                          .to = maybe("2025-12-03") });
    planning_end_all(store, TASK_SUCCEEDED);
}

static void by_pages(struct store *store, enum task_status status)
{
    planning_apply(store,
                   &(struct planning_source){
                       .window = "align: day, lag: 1h",
                       .page = "cap: 1000",
                       .operations =
                           "  harvest: { endpoint: works }\n"
                           "  backfill: { endpoint: works, slice: { by: page, pages: 5 } }\n" });
    (void)planning_trigger(store, &(struct plan_request){ .source = STR("demo"),
                                                          .operation = STR("backfill"),
                                                          .now_us = NOW_US,
                                                          .trigger = TRIGGER_MANUAL,
                                                          .from = maybe("2025-12-01"),
                                                          .to = maybe("2025-12-03") });
    if (status != TASK_QUEUED)
        planning_end_all(store, status);
}

static void pages_wait(struct store *store)
{
    by_pages(store, TASK_QUEUED);
}

static void pages_covered(struct store *store)
{
    by_pages(store, TASK_SUCCEEDED);
}

static void leased(struct store *store, int64_t until_us)
{
    const struct task_claim claim = {
        .owner = STR("w"), .now_us = INSTANT_MAX, .until_us = until_us, .limit = 2
    };
    struct task_list list;
    struct error err = { 0 };

    backfill(store);
    REQUIRE_OK(store_task_claim(store, contract_arena(), &claim, &list, &err), err);
    REQUIRE(list.count == 2, "both days");
}

static void running(struct store *store)
{
    leased(store, WHY_LATE_US);
}

static void worker_died(struct store *store)
{
    leased(store, NOW_US - 1);
}

static void failed_harvest(struct store *store)
{
    number = why_harvest(store);
    planning_end(store, number, TASK_FAILED, NULL);
}

static void failed_backfill(struct store *store)
{
    backfill(store);
    planning_end(store, number, TASK_FAILED, NULL);
}

static void cancelled(struct store *store)
{
    struct error err = { 0 };
    bool changed;

    number = why_harvest(store);
    REQUIRE_OK(store_begin(store, &err), err);
    REQUIRE_OK(store_task_cancel(store, &(struct task_cancel){ number, STR("not now"), NOW_US },
                                 &changed, &err),
               err);
    REQUIRE_OK(store_commit(store, &err), err);
}

static void cut_short(struct store *store)
{
    const struct window later = { at("2025-12-01T18:00:00Z"), at("2025-12-02") };

    backfill(store);
    planning_end(store, number, TASK_PARTIAL, &later);
}

static void covered_in_part(struct store *store)
{
    const struct window early = { at("2025-12-01"), at("2025-12-01T18:00:00Z") };

    backfill(store);
    planning_end(store, number, TASK_PARTIAL, &early);
}

static void dead_end(struct store *store)
{
    cut_short(store);
    why_sql("UPDATE ing_task SET partial_reason_code = 'DEAD_END', last_error = 'the same page'"
            " WHERE id = %lld",
            (long long)number);
}

static void resliced(struct store *store)
{
    struct error err = { 0 };
    struct task task;
    bool found, added;

    cut_short(store);
    REQUIRE_OK(store_task_get(store, contract_arena(), number, &task, &found, &err), err);
    REQUIRE_OK(store_reslice_add(store,
                                 &(struct reslice_ticket){ .task_id = number,
                                                           .slice_id = task.slice_id,
                                                           .reason = RESLICE_TOO_DEEP,
                                                           .remaining = task.window,
                                                           .detail = STR("{}"),
                                                           .created_us = NOW_US },
                                 &added, &err),
               err);
}

static void set_back(struct store *store)
{
    harvested(store);
    why_sql("UPDATE ing_task SET reset_at = created_at");
}

static void other_ids(struct store *store)
{
    covered(store);
    why_sql("UPDATE ing_task SET ids_from = 100, ids_to = 200");
}

static void pause_demo(struct store *store, enum pause_kind kind)
{
    const struct pause pause = { .source = STR("demo"),
                                 .endpoint = STR(""),
                                 .kind = kind,
                                 .reason = STR("maintenance"),
                                 .created_by = STR("ada"),
                                 .created_us = NOW_US };
    struct error err = { 0 };
    bool added;

    REQUIRE_OK(store_pause_add(store, &pause, &added, &err), err);
}

static void paused(struct store *store)
{
    backfill(store);
    pause_demo(store, PAUSE_PAUSED);
}

static void stopped(struct store *store)
{
    pause_demo(store, PAUSE_STOPPED);
}

/* ---- the id ---- */

static void quarantined(struct store *store)
{
    number = why_quarantined(store, NOW_US);
}

static void dropped(struct store *store)
{
    struct error err = { 0 };
    bool resolved;

    quarantined(store);
    REQUIRE_OK(
        store_quarantine_resolve(store,
                                 &(struct quarantine_resolve){ number, QUARANTINE_DROPPED,
                                                               STR("ada"), STR("a test"), NOW_US },
                                 &resolved, &err),
        err);
}

static void newer_is_bad(struct store *store)
{
    why_put(store, &FIRST);
    why_sequence(store);
    quarantined(store);
}

static void older_was_bad(struct store *store)
{
    why_put(store, &FIRST);
    why_sequence(store);
    number = why_quarantined(store, NOW_US - 10 * US_PER_DAY);
}

static void refused(struct store *store)
{
    covered(store);
    why_signal(store, "refused", 403);
}

static void not_returned(struct store *store)
{
    covered(store);
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

    backfill(store);
    REQUIRE_OK(store_begin(store, &err), err);
    REQUIRE_OK(store_listed_add(store, number, &id, 1, &err), err);
    REQUIRE_OK(store_commit(store, &err), err);
}

static void listed_and_failed(struct store *store)
{
    listed(store);
    planning_end(store, number, TASK_FAILED, NULL);
}

static void listed_and_lost(struct store *store)
{
    listed(store);
    planning_end(store, number, TASK_SUCCEEDED, NULL);
}

/* ---- the record ---- */

static void stored(struct store *store)
{
    why_put(store, &FIRST);
    why_put(store, &SECOND);
}

static void sequenced(struct store *store)
{
    stored(store);
    why_sequence(store);
}

static void deleted(struct store *store)
{
    why_put(store, &FIRST);
    why_put(store, &(struct why_write){ "RecordDeleted", "", NULL });
    why_sequence(store);
}

static void merged(struct store *store)
{
    why_put(store, &FIRST);
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

    sequenced(store);
    REQUIRE_OK(store_record_get(store, contract_arena(), &key, &record, &found, &err), err);
    REQUIRE_OK(store_begin(store, &err), err);
    REQUIRE_OK(store_record_touch(store, &context, &record.id, 1, &err), err);
    REQUIRE_OK(store_commit(store, &err), err);
}

static void pruned(struct store *store)
{
    (void)store;
    stored(store);
    why_sql("DELETE FROM ing_outbox");
}

static void publisher_behind(struct store *store)
{
    struct stream_lease lease;
    struct error err = { 0 };
    bool held;

    stored(store);
    REQUIRE_OK(store_stream_claim(store, &(struct stream_claim){ STR("test"), NOW_US, WHY_LATE_US },
                                  &lease, &held, &err),
               err);
}

/* ---- subscriptions ---- */

static void not_read(struct store *store)
{
    sequenced(store);
    why_relay(store, "");
}

static void attend(struct store *store, const char *error)
{
    struct error err = { 0 };
    int64_t readers;

    REQUIRE_OK(store_offset_attend(
                   store,
                   &(struct offset_attend){ HOOK, STR("r"), NOW_US, WHY_LATE_US, str_of(error) },
                   &readers, &err),
               err);
}

static void being_read(struct store *store)
{
    not_read(store);
    attend(store, "");
}

static void unreachable(struct store *store)
{
    not_read(store);
    attend(store, "connection refused");
}

static void set_state(struct store *store, enum subscription_state state)
{
    struct error err = { 0 };
    bool changed;

    REQUIRE_OK(store_subscription_set_state(
                   store,
                   &(struct subscription_change){ STR("hook"), state, STR("maintenance"), NOW_US },
                   &changed, &err),
               err);
}

static void relay_paused(struct store *store)
{
    not_read(store);
    set_state(store, SUBSCRIPTION_PAUSED);
}

static void relay_stopped(struct store *store)
{
    not_read(store);
    set_state(store, SUBSCRIPTION_STOPPED);
}

static void delivered(struct store *store)
{
    not_read(store);
    why_reads(store, "hook");
}

static void delivered_and_paused(struct store *store)
{
    delivered(store);
    set_state(store, SUBSCRIPTION_PAUSED);
}

static void put_parked(struct store *store, int64_t next_retry_us)
{
    const struct parked parked = { .aggregate_type = STR("demo/works"),
                                   .aggregate_id = STR(WHY_ID),
                                   .record_id = 1,
                                   .lane = 1,
                                   .head_version = 1,
                                   .seen_version = 2,
                                   .attempts_begun = 3,
                                   .attempts_ended = 3,
                                   .policy = POLICY_WAIT,
                                   .next_retry_us = next_retry_us,
                                   .last_error = STR("status 422"),
                                   .parked_us = NOW_US };
    struct error err = { 0 };

    delivered(store);
    REQUIRE_OK(store_parked_put(store, &HOOK, &parked, &err), err);
}

static void parked(struct store *store)
{
    put_parked(store, WHY_LATE_US);
}

static void parked_and_due(struct store *store)
{
    put_parked(store, NOW_US - 1);
}

static void bury(struct store *store, int64_t version)
{
    const struct dead_letter letter = { .event_id = STR("00000002-0000-7000-8000-000000000000"),
                                        .aggregate_type = STR("demo/works"),
                                        .aggregate_id = STR(WHY_ID),
                                        .version = version,
                                        .reason = STR("skipped by ada"),
                                        .attempts = 3,
                                        .envelope = STR("{}"),
                                        .dead_us = NOW_US };
    struct error err = { 0 };

    delivered(store);
    REQUIRE_OK(store_parked_bury(store, &HOOK, &letter, &err), err);
}

static void dead(struct store *store)
{
    bury(store, 2);
}

static void earlier_one_is_dead(struct store *store)
{
    bury(store, 1);
}

static void seek(struct store *store, int64_t pos)
{
    struct error err = { 0 };
    bool found;

    for (int64_t lane = 0; lane < OUTBOX_LANES; lane++)
        REQUIRE_OK(store_offset_seek(store,
                                     &(struct offset_seek){ HOOK, lane, pos, STR("start over"),
                                                            STR("ada"), NOW_US + 1 },
                                     &found, &err),
                   err);
}

static void dead_and_read_again(struct store *store)
{
    dead(store);
    seek(store, 0);
    why_reads(store, "hook");
}

static void skipped(struct store *store)
{
    number = lane_of(STR("demo/works"), STR(WHY_ID));
    not_read(store);
    seek(store, 2);
}

static void skipped_and_back(struct store *store)
{
    skipped(store);
    seek(store, 0);
    why_reads(store, "hook");
}

static void begins_later(struct store *store)
{
    number = lane_of(STR("demo/works"), STR(WHY_ID));
    sequenced(store);
    why_relay(store, "start: latest\n");
}

static void filtered(struct store *store)
{
    sequenced(store);
    why_relay(store, "events: { types: [RecordDeleted] }\n");
}

static void other_source(struct store *store)
{
    sequenced(store);
    why_relay(store, "events: { sources: [crossref] }\n");
}

/* ---- projections ---- */

#define WORKS "{ aggregates: [demo/works] }"

static void not_applied(struct store *store)
{
    sequenced(store);
    why_projection(store, "", WORKS);
}

static void row_is(struct store *store, const char *version, const char *is_deleted)
{
    not_applied(store);
    why_reads(store, "shelf");
    if (version != NULL)
        why_sql("INSERT INTO shelf (id, version, deleted, title) VALUES ('" WHY_ID "', %s, %s, '')",
                version, is_deleted);
}

static void row_current(struct store *store)
{
    row_is(store, "2", "FALSE");
}

static void row_absent(struct store *store)
{
    row_is(store, NULL, NULL);
}

static void row_older(struct store *store)
{
    row_is(store, "1", "FALSE");
}

static void row_left_out(struct store *store)
{
    row_is(store, "2", "TRUE");
}

static void other_aggregates(struct store *store)
{
    sequenced(store);
    why_projection(store, "", "{ aggregates: [video] }");
}

static void other_events(struct store *store)
{
    sequenced(store);
    why_projection(store, "", "{ aggregates: [demo/works], events: [RecordDeleted] }");
    why_reads(store, "shelf");
}

static void out_of_reach(struct store *store)
{
    sequenced(store);
    why_projection(store, "database: env:NOWHERE\n", WORKS);
}

/* ---- the table ---- */

#define BY_ID "echo w1 | patra update demo --ids -"
#define WORK "patra work --drain --source demo"
#define REPLAY "patra replay demo --from 2025-12-01T00:00:00Z --to 2025-12-02T00:00:00Z"
#define BACKFILL "patra backfill demo --from 2025-12-01T00:00:00Z --to 2025-12-02T00:00:00Z"
#define RESET "patra offset reset hook --lane # --to 1 --reason 'patra why' --yes"

static const struct {
    const char *label;
    void (*plant)(struct store *store);
    const char *date; /* that is given */
    const char *step; /* "": it is there, and nothing is missing */
    const char *reason;
    const char *command; /* # stands for the row that was planted */
} cases[] = {
    { "never fetched", nothing, NULL, "plan", "plan.never", "patra harvest demo" },
    { "out of force", removed, NULL, "source", "source.removed",
      "patra source apply sources/demo.yaml" },
    { "no plan at all", nothing, WHY_DATE, "plan", "plan.none", BACKFILL },
    { "before what was asked for", covered, "2025-11-20", "plan", "plan.none",
      "patra backfill demo --from 2025-11-20T00:00:00Z --to 2025-11-21T00:00:00Z" },
    { "after the cursor", harvested, "2025-12-10", "plan", "plan.later", "patra harvest demo" },
    { "too new", harvested, "2200-01-01", "plan", "plan.lag", "patra harvest demo" },
    { "another query", other_query, WHY_DATE, "plan", "plan.former", BACKFILL },
    { "the planner stopped before it", budget_ended, WHY_DATE, "plan", "plan.partial",
      "patra backfill demo --from 2025-12-01T00:00:00Z --to 2025-12-03T00:00:00Z" },
    { "pages wait", pages_wait, WHY_DATE, "window", "window.waiting", WORK },
    { "pages are done", pages_covered, WHY_DATE, "request", "source.silent", REPLAY },
    { "queued", backfill, WHY_DATE, "window", "window.waiting", WORK },
    { "queued, date not known", backfill, NULL, "window", "window.waiting", WORK },
    { "running", running, WHY_DATE, "window", "window.running", "patra task show #" },
    { "its worker died", worker_died, WHY_DATE, "window", "window.waiting", WORK },
    { "a harvest failed", failed_harvest, WHY_DATE, "window", "window.failed",
      "patra harvest demo" },
    { "a backfill failed", failed_backfill, WHY_DATE, "window", "window.failed", REPLAY },
    { "cancelled", cancelled, WHY_DATE, "window", "window.cancelled", "patra harvest demo" },
    { "cut short", cut_short, WHY_DATE, "window", "window.partial", REPLAY },
    { "cut short after it", covered_in_part, WHY_DATE, "request", "source.silent", BY_ID },
    { "dead end", dead_end, WHY_DATE, "window", "window.held", REPLAY },
    { "to be re-sliced", resliced, WHY_DATE, "window", "window.resliced", WORK },
    { "cursor set back", set_back, WHY_DATE, "window", "window.reset", "patra harvest demo" },
    { "other ids of the day", other_ids, WHY_DATE, "plan", "plan.none", BACKFILL },
    { "not listed", covered, WHY_DATE, "request", "source.silent", BY_ID },
    { "not listed, date not known", covered, NULL, "request", "source.silent", BY_ID },
    { "paused", paused, WHY_DATE, "source", "source.paused", "patra resume demo" },
    { "stopped", stopped, NULL, "source", "source.stopped", "patra resume demo" },
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
    { "deleted", deleted, NULL, "record", "record.deleted", BY_ID },
    { "merged", merged, NULL, "record", "record.merged", "patra why demo 'w 2'" },
    { "older answer kept", older_kept, NULL, "record", "record.older",
      "patra record show demo w1 --history" },
    { "no publisher", stored, NULL, "stream", "stream.idle", "patra publish --once" },
    { "the publisher is behind", publisher_behind, NULL, "stream", "stream.waiting",
      "patra outbox status" },
    { "in the stream", sequenced, NULL, "", "", "" },
    { "events are gone", pruned, NULL, "", "", "" },
    { "nobody reads", not_read, NULL, "subscription", "subscription.idle", "patra publish --once" },
    { "somebody reads", being_read, NULL, "subscription", "subscription.behind",
      "patra outbox status" },
    { "the bus is out of reach", unreachable, NULL, "subscription", "subscription.error",
      "patra bus test hook" },
    { "relay paused", relay_paused, NULL, "subscription", "subscription.paused",
      "patra outbox resume hook" },
    { "relay stopped", relay_stopped, NULL, "subscription", "subscription.stopped",
      "patra outbox resume hook" },
    { "delivered", delivered, NULL, "", "", "" },
    { "delivered, then paused", delivered_and_paused, NULL, "", "", "" },
    { "parked", parked, NULL, "subscription", "subscription.parked", "patra outbox retry hook w1" },
    { "parked, to be tried", parked_and_due, NULL, "subscription", "subscription.parked",
      "patra publish --once" },
    { "dead letter", dead, NULL, "subscription", "subscription.dead",
      "patra outbox redrive hook w1" },
    { "an earlier version is dead", earlier_one_is_dead, NULL, "", "", "" },
    { "given up, read again", dead_and_read_again, NULL, "", "", "" },
    { "moved past it", skipped, NULL, "subscription", "subscription.skipped", RESET },
    { "moved past it and back", skipped_and_back, NULL, "", "", "" },
    { "began later", begins_later, NULL, "subscription", "subscription.earlier", RESET },
    { "not of its types", filtered, NULL, "subscription", "subscription.filtered",
      "patra bus show hook" },
    { "not of its sources", other_source, NULL, "subscription", "subscription.filtered",
      "patra bus show hook" },
    { "not applied", not_applied, NULL, "subscription", "subscription.idle",
      "patra consume shelf --once" },
    { "its row is current", row_current, NULL, "", "", "" },
    { "it has no row", row_absent, NULL, "projection", "projection.absent",
      "patra audit shelf --repair" },
    { "its row is older", row_older, NULL, "projection", "projection.older",
      "patra audit shelf --repair" },
    { "a filter leaves it out", row_left_out, NULL, "projection", "projection.filtered",
      "patra projection show shelf" },
    { "not of its aggregates", other_aggregates, NULL, "subscription", "subscription.filtered",
      "patra projection show shelf" },
    { "not of its events", other_events, NULL, "", "", "" },
    { "its database is out of reach", out_of_reach, NULL, "projection", "projection.unreachable",
      "patra projection show shelf" },
};

/* The command with the number of the planted row, or of the lane. */
static struct str expected(const char *command)
{
    const struct str text = str_of(command);
    const size_t mark = str_find_char(text, '#');

    if (mark == text.len)
        return text;
    return arena_printf(contract_arena(), "%.*s%lld%.*s", (int)mark, text.data, (long long)number,
                        (int)(text.len - mark - 1), text.data + mark + 1);
}

TEST(a_situation_has_its_first_missing_step_and_command)
{
    for (size_t i = 0; i < ARRAY_LEN(cases); i++) {
        struct store *store = why_store();
        const struct why_finding none = { 0 };
        const struct why_finding *first;
        struct view_why why;

        cases[i].plant(store);
        why = why_ask(store, "demo", WHY_ID, cases[i].date);
        first = why.findings.count > 0 ? &why.findings.items[0] : &none;
        CHECK_STR(why.findings.count > 0 ? why_step_name(first->step) : STR(""),
                  str_of(cases[i].step), cases[i].label);
        CHECK_STR(first->reason, str_of(cases[i].reason), cases[i].label);
        CHECK_STR(first->command, expected(cases[i].command), cases[i].label);
        store_close(store);
    }
    contract_end();
}

/* ---- what the page shows ---- */

TEST(a_version_shows_what_changed_and_where_its_event_is)
{
    struct store *store = why_store();
    const struct why_version *newest;
    struct view_why why;

    sequenced(store);
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

    newer_is_bad(store);
    why_put(store, &SECOND);
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
