/* Triggers, plans and slices. */
#include <string.h>

#include "contract.h"
#include "rows.h"

/* JSON that a store may write its own way: equal but for white space between the parts. */
static void check_json(struct str got, const char *wanted, const char *label)
{
    char bare[512];
    size_t len = 0;

    for (size_t i = 0; i < got.len && len < sizeof(bare); i++) {
        if (got.data[i] != ' ')
            bare[len++] = got.data[i];
    }
    CHECK_STR(((struct str){ bare, len }), str_of(wanted), label);
}

TEST(a_trigger_comes_back)
{
    struct store *store = contract_store();
    struct schedule_instance instance = rows_schedule(), read = { 0 };
    struct error err = { 0 };
    bool found;

    instance.params = STR("{\"n\":[1,2],\"from\":\"2026-01-01\"}");
    instance.expr_proto_hash = STR(HASH_A);
    instance.remarks = STR("{\"faults\":[\"x.yaml:1:2\"]}");
    REQUIRE_OK(store_schedule_add(store, &instance, &instance.id, &err), err);
    CHECK(instance.id > 0, "an id");
    REQUIRE_OK(store_schedule_get(store, contract_arena(), instance.id, &read, &found, &err), err);
    REQUIRE(found, "it is there");
    CHECK_EQ(read.id, instance.id, "id");
    CHECK_STR(read.scheduler, STR("patra"), "scheduler");
    CHECK_STR(read.job_id, STR("job"), "job_id");
    CHECK_STR(read.log_id, STR("log"), "log_id");
    CHECK_EQ(read.trigger, TRIGGER_MANUAL, "trigger");
    CHECK_STR(read.source, STR("crossref"), "source");
    CHECK_STR(read.endpoint, STR("works"), "endpoint");
    CHECK_EQ(read.operation, OPERATION_HARVEST, "operation");
    check_json(read.params, "{\"n\":[1,2],\"from\":\"2026-01-01\"}", "params");
    CHECK_STR(read.expr_proto_hash, STR(HASH_A), "hash");
    check_json(read.remarks, "{\"faults\":[\"x.yaml:1:2\"]}", "remarks");
    CHECK_EQ(read.triggered_us, NOW_US, "time");
    REQUIRE_OK(store_schedule_get(store, contract_arena(), instance.id + 1, &read, &found, &err),
               err);
    CHECK(!found, "no such instance");
    contract_end();
}

TEST(a_tick_is_claimed_once)
{
    struct store *store = contract_store();
    struct schedule_tick tick = { STR("crossref"), STR("harvest"), NOW_US };
    struct error err = { 0 };
    int64_t last_us = 0;
    bool is_so;

    REQUIRE_OK(store_tick_last(store, tick.source, tick.schedule, &last_us, &is_so, &err), err);
    CHECK(!is_so, "no tick yet");
    REQUIRE_OK(store_tick_claim(store, &tick, STR("me"), NOW_US, &is_so, &err), err);
    CHECK(is_so, "the first gets it");
    REQUIRE_OK(store_tick_claim(store, &tick, STR("you"), NOW_US, &is_so, &err), err);
    CHECK(!is_so, "the second does not");
    tick.tick_us += US_PER_HOUR;
    REQUIRE_OK(store_tick_claim(store, &tick, STR("you"), NOW_US, &is_so, &err), err);
    CHECK(is_so, "another tick");
    tick.schedule = STR("update");
    REQUIRE_OK(store_tick_claim(store, &tick, STR("you"), NOW_US, &is_so, &err), err);
    CHECK(is_so, "another schedule");
    REQUIRE_OK(store_tick_last(store, STR("crossref"), STR("harvest"), &last_us, &is_so, &err),
               err);
    CHECK(is_so, "a last one");
    CHECK_EQ(last_us, NOW_US + US_PER_HOUR, "the latest");
    contract_end();
}

TEST(a_plan_comes_back_byte_by_byte)
{
    struct store *store = contract_store();
    struct plan plan = rows_add_plan(store), read = { 0 };
    struct error err = { 0 };
    bool found;

    plan.expr_proto_snapshot = STR("{\"z\": 1.10,\"a\":[1e400,\"\\u0000\",\"\xe6\x96\x87\"]}");
    plan.window = (struct window){ 0, 0 };
    REQUIRE_OK(store_plan_add(store, &plan, &plan.id, &err), err);
    REQUIRE_OK(store_plan_get(store, contract_arena(), plan.id, &read, &found, &err), err);
    REQUIRE(found, "it is there");
    CHECK_EQ(read.id, plan.id, "id");
    CHECK_EQ(read.schedule_instance_id, plan.schedule_instance_id, "trigger");
    CHECK_STR(read.source, plan.source, "source");
    CHECK_STR(read.endpoint, plan.endpoint, "endpoint");
    CHECK_EQ(read.operation, plan.operation, "operation");
    CHECK_STR(read.cursor_key, plan.cursor_key, "cursor_key");
    CHECK_EQ(read.scope, plan.scope, "scope");
    CHECK_STR(read.namespace_key, plan.namespace_key, "namespace");
    CHECK(!window_is_valid(read.window), "an empty window");
    CHECK_STR(read.expr_proto_hash, plan.expr_proto_hash, "hash");
    CHECK_STR(read.expr_proto_snapshot, plan.expr_proto_snapshot, "byte by byte");
    CHECK_STR(read.spec_fingerprint, plan.spec_fingerprint, "fingerprint");
    CHECK_EQ(read.status, PLAN_DRAFT, "status");
    CHECK_EQ(read.created_us, NOW_US, "created");
    contract_end();
}

TEST(a_plan_moves_from_the_state_it_is_in)
{
    struct store *store = contract_store();
    struct plan plan = rows_add_plan(store), read = { 0 };
    struct plan_move move = { plan.id, PLAN_DRAFT, PLAN_SLICING, STR(""), NOW_US + 5 };
    struct error err = { 0 };
    bool is_so;

    REQUIRE_OK(store_plan_move(store, &move, &is_so, &err), err);
    CHECK(is_so, "from DRAFT");
    REQUIRE_OK(store_plan_move(store, &move, &is_so, &err), err);
    CHECK(!is_so, "it is no longer DRAFT");
    move = (struct plan_move){ plan.id, PLAN_SLICING, PLAN_READY, STR("{\"n\":2}"), NOW_US + 6 };
    REQUIRE_OK(store_plan_move(store, &move, &is_so, &err), err);
    CHECK(is_so, "to READY");
    REQUIRE_OK(store_plan_get(store, contract_arena(), plan.id, &read, &is_so, &err), err);
    CHECK_EQ(read.status, PLAN_READY, "status");
    CHECK_EQ(read.updated_us, NOW_US + 6, "when");
    CHECK_EQ(read.window.from_us, NOW_US, "window");
    CHECK_EQ(read.window.to_us, NOW_US + US_PER_DAY, "window");
    check_json(read.remarks, "{\"n\":2}", "remarks");
    contract_end();
}

TEST(every_word_of_the_states_is_accepted)
{
    struct store *store = contract_store();
    struct plan plan = rows_add_plan(store);
    struct plan_slice slice = rows_slice(plan.id, 1);
    struct error err = { 0 };
    int64_t id = 0, added;

    for (size_t i = 0; i < OPERATION_CODES.count; i++) {
        plan.operation = (enum operation)i;
        CHECK(store_plan_add(store, &plan, &id, &err), err.text);
    }
    for (size_t i = 0; i < PLAN_STATUS_CODES.count; i++) {
        plan.status = (enum plan_status)i;
        CHECK(store_plan_add(store, &plan, &id, &err), err.text);
    }
    for (size_t i = 0; i < NAMESPACE_SCOPE_CODES.count; i++) {
        plan.scope = (enum namespace_scope)i;
        CHECK(store_plan_add(store, &plan, &id, &err), err.text);
    }
    REQUIRE_OK(store_begin(store, &err), err);
    REQUIRE_OK(store_slice_add(store, &slice, 1, &id, &added, &err), err);
    REQUIRE_OK(store_commit(store, &err), err);
    for (size_t i = 0; i < SLICE_STATUS_CODES.count; i++)
        CHECK(store_slice_move(store, id, (enum slice_status)i, NOW_US, &err), err.text);
    contract_end();
}

TEST(plans_are_listed_in_pages_newest_first)
{
    struct store *store = contract_store();
    struct plan plan = rows_add_plan(store);
    struct plan_filter filter = { .limit = 3 };
    struct plan_list list;
    struct error err = { 0 };
    int64_t ids[8] = { plan.id };

    for (int i = 1; i < 8; i++) {
        plan.source = i % 2 == 0 ? STR("crossref") : STR("pubmed");
        plan.operation = i == 6 ? OPERATION_BACKFILL : OPERATION_HARVEST;
        plan.status = i == 4 ? PLAN_READY : PLAN_DRAFT;
        REQUIRE_OK(store_plan_add(store, &plan, &ids[i], &err), err);
    }
    REQUIRE_OK(store_plan_list(store, contract_arena(), &filter, &list, &err), err);
    REQUIRE(list.count == 3, "a page");
    CHECK_EQ(list.items[0].id, ids[7], "the newest");
    CHECK_EQ(list.items[2].id, ids[5], "and two more");
    CHECK_EQ(list.items[0].expr_proto_snapshot.len, 0, "without snapshots");
    filter.before_id = list.items[2].id;
    filter.limit = 100;
    REQUIRE_OK(store_plan_list(store, contract_arena(), &filter, &list, &err), err);
    CHECK_EQ(list.count, 5, "the rest");
    filter = (struct plan_filter){ .source = STR("crossref"),
                                   .has_operation = true,
                                   .operation = OPERATION_HARVEST,
                                   .limit = 100 };
    REQUIRE_OK(store_plan_list(store, contract_arena(), &filter, &list, &err), err);
    CHECK_EQ(list.count, 3, "of one source and operation");
    filter.endpoint = plan.endpoint;
    REQUIRE_OK(store_plan_list(store, contract_arena(), &filter, &list, &err), err);
    CHECK_EQ(list.count, 3, "and endpoint");
    filter.endpoint = STR("another");
    REQUIRE_OK(store_plan_list(store, contract_arena(), &filter, &list, &err), err);
    CHECK_EQ(list.count, 0, "of which there are none");
    filter.endpoint = STR("");
    filter.has_status = true;
    filter.status = PLAN_READY;
    REQUIRE_OK(store_plan_list(store, contract_arena(), &filter, &list, &err), err);
    REQUIRE(list.count == 1, "and status");
    CHECK_EQ(list.items[0].id, ids[4], "and status");
    contract_end();
}

TEST(a_slice_is_added_once_per_signature)
{
    struct store *store = contract_store();
    const struct plan plan = rows_add_plan(store);
    struct plan_slice slices[3] = { rows_slice(plan.id, 1), rows_slice(plan.id, 2),
                                    rows_slice(plan.id, 3) };
    struct plan_slice read;
    struct plan_slice_list list;
    struct error err = { 0 };
    int64_t first[3] = { 0 }, again[3] = { 0 }, added = 0;
    bool found;

    slices[1].spec = STR("{\"z\": 1.10, \"a\":\"\\u0000\"}");
    slices[2].window = (struct window){ 0, 0 };
    slices[2].dimension = SLICE_ID;
    REQUIRE_OK(store_begin(store, &err), err);
    REQUIRE_OK(store_slice_add(store, slices, 2, first, &added, &err), err);
    CHECK_EQ(added, 2, "new");
    slices[2].parent_id = first[0];
    REQUIRE_OK(store_slice_add(store, slices, 3, again, &added, &err), err);
    CHECK_EQ(added, 1, "one more");
    CHECK_EQ(again[0], first[0], "the same ids");
    CHECK_EQ(again[1], first[1], "the same ids");
    CHECK(again[2] > first[1], "a new one");
    REQUIRE_OK(store_slice_add(store, slices, 0, again, &added, &err), err);
    CHECK_EQ(added, 0, "none");
    REQUIRE_OK(store_commit(store, &err), err);

    REQUIRE_OK(store_slice_get(store, contract_arena(), first[1], &read, &found, &err), err);
    REQUIRE(found, "it is there");
    CHECK_STR(read.spec, slices[1].spec, "byte by byte");
    CHECK_STR(read.signature_hash, slices[1].signature_hash, "signature");
    CHECK_STR(read.expr_hash, STR(HASH_B), "expr_hash");
    CHECK_STR(read.expr_snapshot, STR("{}"), "expr_snapshot");
    CHECK_EQ(read.window.from_us, slices[1].window.from_us, "window");
    CHECK_EQ(read.status, SLICE_READY, "status");
    CHECK_EQ(read.dimension, SLICE_TIME, "dimension");
    REQUIRE_OK(store_slice_list(store, contract_arena(), plan.id,
                                (struct store_page){ .after = 1, .limit = 10 }, &list, &err),
               err);
    REQUIRE(list.count == 2, "above number 1");
    CHECK_EQ(list.items[0].number, 2, "by number");
    CHECK_EQ(list.items[1].parent_id, first[0], "its parent");
    CHECK_EQ(list.items[1].dimension, SLICE_ID, "dimension");
    CHECK(!window_is_valid(list.items[1].window), "no window");
    contract_end();
}

/* More than one statement's worth, with what is there already on both sides of the border. */
TEST(many_slices_have_their_own_ids_each)
{
    enum { FIRST = 120, SHIFT = 30, ALL = FIRST + SHIFT };
    struct store *store = contract_store();
    const struct plan plan = rows_add_plan(store);
    struct plan_slice slices[ALL];
    struct plan_slice_list list;
    struct error err = { 0 };
    int64_t ids[ALL], again[FIRST], added;

    for (int i = 0; i < ALL; i++)
        slices[i] = rows_slice(plan.id, i + 1);
    REQUIRE_OK(store_begin(store, &err), err);
    REQUIRE_OK(store_slice_add(store, slices, FIRST, ids, &added, &err), err);
    CHECK_EQ(added, FIRST, "all are new");
    REQUIRE_OK(store_slice_add(store, slices + SHIFT, FIRST, again, &added, &err), err);
    CHECK_EQ(added, SHIFT, "the last ones are");
    REQUIRE_OK(store_commit(store, &err), err);
    REQUIRE_OK(store_slice_list(store, contract_arena(), plan.id,
                                (struct store_page){ .limit = 1000 }, &list, &err),
               err);
    REQUIRE(list.count == ALL, "each once");
    for (int i = 0; i < ALL; i++) {
        CHECK_STR(list.items[i].signature_hash, slices[i].signature_hash, "in their order");
        if (i < FIRST)
            CHECK_EQ(ids[i], list.items[i].id, "returned when it was added");
        if (i >= SHIFT)
            CHECK_EQ(again[i - SHIFT], list.items[i].id, "returned again");
    }
    contract_end();
}

TEST(what_pieces_of_a_slice_spend_is_kept_with_the_slice_they_began_with)
{
    struct store *store = contract_store();
    const struct plan plan = rows_add_plan(store);
    struct plan_slice slice;
    struct slice_family family;
    struct error err = { 0 };
    int64_t ids[3], added;

    REQUIRE_OK(store_begin(store, &err), err);
    for (int i = 0; i < 3; i++) { /* each is a piece of the one before it */
        slice = rows_slice(plan.id, i + 1);
        slice.parent_id = i == 0 ? 0 : ids[i - 1];
        REQUIRE_OK(store_slice_add(store, &slice, 1, &ids[i], &added, &err), err);
    }
    for (int i = 0; i < 3; i++) {
        REQUIRE_OK(store_slice_family(store, ids[i], &family, &err), err);
        CHECK_EQ(family.root_id, ids[0], "the first of them");
        CHECK_EQ(family.budget.requests, i * 10, "what the others have spent");
        CHECK_EQ(family.budget.needed, i == 0 ? 0 : 7, "the most that was known");
        CHECK_EQ(family.budget.done, i * 2, "and done");
        REQUIRE_OK(store_slice_spend(store,
                                     &(struct slice_spending){ .root_id = family.root_id,
                                                               .requests = 10,
                                                               .needed = i == 0 ? 7 : 3,
                                                               .done = 2 },
                                     &err),
                   err);
    }
    CHECK(!store_slice_family(store, 999999, &family, &err), "no such slice");
    REQUIRE_OK(store_commit(store, &err), err);
}

TEST(what_can_not_be_is_refused_by_the_store)
{
    struct store *store = contract_store();
    const struct plan good = rows_add_plan(store);
    struct plan plan;
    struct plan_slice slice;
    struct error err = { 0 };
    int64_t id, added;

#define REFUSED(condition, label)                  \
    do {                                           \
        CHECK(!(condition), label);                \
        CHECK_EQ(err.level, ERROR_REQUEST, label); \
    } while (0)

    plan = good;
    plan.schedule_instance_id = 999;
    REFUSED(store_plan_add(store, &plan, &id, &err), "no such trigger");
    plan = good;
    plan.remarks = STR("{");
    REFUSED(store_plan_add(store, &plan, &id, &err), "not JSON");
    plan = good;
    plan.expr_proto_snapshot = STR("nil");
    REFUSED(store_plan_add(store, &plan, &id, &err), "not JSON");
    plan = good;
    plan.source = STR("");
    REFUSED(store_plan_add(store, &plan, &id, &err), "no source");

    slice = rows_slice(999, 1);
    REQUIRE_OK(store_begin(store, &err), err);
    REFUSED(store_slice_add(store, &slice, 1, &id, &added, &err), "no such plan");
    store_rollback(store);
    slice = rows_slice(good.id, 0);
    REQUIRE_OK(store_begin(store, &err), err);
    REFUSED(store_slice_add(store, &slice, 1, &id, &added, &err), "numbers begin with 1");
    store_rollback(store);
    slice = rows_slice(good.id, 1);
    REQUIRE_OK(store_begin(store, &err), err);
    REQUIRE_OK(store_slice_add(store, &slice, 1, &id, &added, &err), err);
    slice.signature_hash = STR("another");
    REFUSED(store_slice_add(store, &slice, 1, &id, &added, &err), "the number is taken");
    CHECK(str_find(str_of(err.text), STR("uk_slice_no")) < strlen(err.text), err.text);
    store_rollback(store);
    REFUSED(store_slice_move(store, 999, SLICE_FAILED, NOW_US, &err), "no such slice");
#undef REFUSED
    contract_end();
}

TEST(a_cancelled_plan_takes_its_waiting_tasks_along)
{
    struct store *store = contract_store();
    const struct plan plan = rows_add_plan(store);
    struct plan_progress progress;
    struct plan_slice_list slices;
    struct plan read;
    struct error err = { 0 };
    int64_t cancelled = 0;
    bool found;

    rows_add_tasks(store, &plan, 4);
    REQUIRE_OK(store_plan_progress(store, plan.id, &progress, &err), err);
    CHECK_EQ(progress.slices, 4, "slices");
    CHECK_EQ(progress.tasks[TASK_QUEUED], 4, "queued");
    REQUIRE_OK(store_begin(store, &err), err);
    REQUIRE_OK(store_plan_cancel(store, plan.id, NOW_US + 9, &cancelled, &err), err);
    REQUIRE_OK(store_commit(store, &err), err);
    CHECK_EQ(cancelled, 4, "tasks");
    REQUIRE_OK(store_plan_progress(store, plan.id, &progress, &err), err);
    CHECK_EQ(progress.tasks[TASK_QUEUED], 0, "none waits");
    CHECK_EQ(progress.tasks[TASK_CANCELLED], 4, "all cancelled");
    REQUIRE_OK(store_plan_get(store, contract_arena(), plan.id, &read, &found, &err), err);
    CHECK_EQ(read.status, PLAN_CANCELLED, "the plan");
    REQUIRE_OK(store_slice_list(store, contract_arena(), plan.id,
                                (struct store_page){ .limit = 10 }, &slices, &err),
               err);
    for (size_t i = 0; i < slices.count; i++)
        CHECK_EQ(slices.items[i].status, SLICE_CANCELLED, "its slices");
    REQUIRE_OK(store_begin(store, &err), err);
    REQUIRE_OK(store_plan_cancel(store, plan.id, NOW_US + 10, &cancelled, &err), err);
    CHECK_EQ(cancelled, 0, "once more");
    CHECK(!store_plan_cancel(store, 999, NOW_US, &cancelled, &err), "no such plan");
    CHECK_EQ(err.level, ERROR_REQUEST, "no such plan");
    store_rollback(store);
    contract_end();
}
