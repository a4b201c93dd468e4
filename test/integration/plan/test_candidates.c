/* UPDATE and METRICS by id: which records are taken, each once, and how they are cut. */
#include <inttypes.h>
#include <stdio.h>
#include <string.h>

#include "base/instant.h"
#include "engine/slice/slice_expr.h"
#include "planning.h"
#include "port/store_child.h"
#include "port/store_record.h"
#include "port/store_signal.h"
#include "rows.h"

static const char OLD_HASH[] = "0000000000000000000000000000000000000000000000000000000000000abc";

/* Records NAME0, NAME1, ... checked so many days ago. */
static void add_records(struct store *store, const char *endpoint, const char *name, int count,
                        int days_ago, struct str expr_hash)
{
    enum { AT_ONCE = 100 };
    const struct record_context context = { .source = STR("demo"),
                                            .endpoint = str_of(endpoint),
                                            .expr_hash = expr_hash,
                                            .now_us = NOW_US - days_ago * US_PER_DAY };
    struct record_write rows[AT_ONCE];
    bool written;
    struct error err = { 0 };

    REQUIRE_OK(store_begin(store, &err), err);
    for (int from = 0; from < count; from += AT_ONCE) {
        const int n = count - from < AT_ONCE ? count - from : AT_ONCE;

        for (int i = 0; i < n; i++)
            rows[i] = (struct record_write){
                .version = 1,
                .provider_id = arena_printf(contract_arena(), "%s%d", name, from + i),
                .content_hash = STR(HASH_B),
                .payload = STR("{}"),
            };
        REQUIRE_OK(rows_write(store, &context, rows, (size_t)n, &written, &err), err);
    }
    REQUIRE_OK(store_commit(store, &err), err);
}

/* The expression that is in force for an operation. */
static struct str current_hash(struct store *store, const char *operation)
{
    const struct plan_request request = planning_request(operation);
    struct plan plan;
    struct error err = { 0 };
    bool found;

    REQUIRE_OK(store_plan_get(store, contract_arena(), planning_trigger(store, &request).plan_id,
                              &plan, &found, &err),
               err);
    REQUIRE(found, operation);
    return plan.expr_proto_hash;
}

struct id_set {
    struct str *ids;
    size_t count;
};

/* All ids of a plan's slices. */
static struct id_set ids_of(struct store *store, int64_t plan_id)
{
    const struct plan_slice_list slices = planning_slices(store, plan_id);
    struct id_set set = { ARENA_ARRAY(contract_arena(), struct str, 100000), 0 };
    struct error err = { 0 };

    for (size_t i = 0; i < slices.count; i++) {
        struct str_list ids;

        REQUIRE_OK(slice_expr_ids(contract_arena(), slices.items[i].expr_snapshot, &ids, &err),
                   err);
        for (size_t k = 0; k < ids.count; k++)
            set.ids[set.count++] = ids.items[k];
    }
    return set;
}

static int times(const struct id_set *set, const char *id)
{
    int count = 0;

    for (size_t i = 0; i < set->count; i++)
        count += str_eq(set->ids[i], str_of(id));
    return count;
}

static bool is_each_once(const struct id_set *set)
{
    for (size_t i = 0; i < set->count; i++) {
        for (size_t k = i + 1; k < set->count; k++) {
            if (str_eq(set->ids[i], set->ids[k]))
                return false;
        }
    }
    return true;
}

static void signal_record(struct store *store, const char *endpoint, const char *id)
{
    const struct signal signal = { .source = STR("demo"),
                                   .endpoint = str_of(endpoint),
                                   .provider_id = str_of(id),
                                   .reason = STR("retracted"),
                                   .created_by = STR("test"),
                                   .created_us = NOW_US };
    struct error err = { 0 };
    int64_t added;

    REQUIRE_OK(store_signal_add(store, &signal, 1, &added, &err), err);
}

static size_t open_signals(struct store *store)
{
    struct signal_list list;
    struct error err = { 0 };

    REQUIRE_OK(store_signal_list(store, contract_arena(),
                                 &(struct signal_filter){ .source = STR("demo"), .limit = 1000 },
                                 &list, &err),
               err);
    return list.count;
}

static const struct planning_source PLAIN = { .window = "lag: 0" };

/* ---- reasons ---- */

TEST(an_update_takes_stale_records_and_leaves_the_fresh)
{
    struct store *store = contract_store();
    const struct plan_request request = planning_request("update");
    struct plan_result result;
    struct id_set ids;
    struct str hash;

    planning_apply(store, &PLAIN);
    hash = current_hash(store, "harvest");
    add_records(store, "works", "old", 25, 40, hash);
    add_records(store, "works", "new", 5, 3, hash);
    result = planning_trigger(store, &request);
    CHECK_EQ(result.ids, 25, "older than 30 days");
    ids = ids_of(store, result.plan_id);
    CHECK(is_each_once(&ids) && ids.count == 25, "each once");
    CHECK_EQ(times(&ids, "old7"), 1, "one of them");
    CHECK_EQ(times(&ids, "new1"), 0, "not a fresh one");
    CHECK_EQ(planning_trigger(store, &request).ids, 0, "they are under way");
    planning_end_all(store, TASK_FAILED);
    CHECK_EQ(planning_trigger(store, &request).ids, 25, "until they have been looked at");
    contract_end();
}

TEST(an_update_takes_what_an_old_expression_has_read)
{
    struct store *store = contract_store();
    const struct plan_request request = planning_request("update");
    struct str harvested, updated;
    struct plan_result result;
    struct id_set ids;

    planning_apply(store, &PLAIN);
    harvested = current_hash(store, "harvest");
    updated = current_hash(store, "update");
    CHECK(!str_eq(harvested, updated), "they ask differently");
    add_records(store, "works", "harvested", 600, 1, harvested);
    add_records(store, "works", "updated", 600, 1, updated);
    add_records(store, "works", "past", 7, 1, str_of(OLD_HASH));
    add_records(store, "works", "ancient", 2, 99, STR("fff0"));
    result = planning_trigger(store, &request);
    ids = ids_of(store, result.plan_id);
    CHECK_EQ(ids.count, 9, "of old expressions, and of none in force");
    CHECK(is_each_once(&ids), "each once, also what is old and stale");
    CHECK_EQ(times(&ids, "past3"), 1, "one of them");
    CHECK_EQ(times(&ids, "ancient1"), 1, "another");
    contract_end();
}

TEST(signals_are_consumed_by_the_plan_that_takes_them)
{
    struct store *store = contract_store();
    const struct plan_request request = planning_request("update");
    struct plan_result result;
    struct id_set ids;

    planning_apply(store, &PLAIN);
    signal_record(store, "works", "a");
    signal_record(store, "works", "b");
    signal_record(store, "counts", "c");
    result = planning_trigger(store, &request);
    ids = ids_of(store, result.plan_id);
    CHECK_EQ(ids.count, 2, "those of its records");
    CHECK_EQ(open_signals(store), 1, "the other one stays");
    signal_record(store, "works", "a");
    CHECK_EQ(planning_trigger(store, &request).ids, 0, "it is under way");
    CHECK_EQ(open_signals(store), 2, "and waits");
    planning_end_all(store, TASK_SUCCEEDED);
    CHECK_EQ(planning_trigger(store, &request).ids, 1, "now it is looked at again");
    contract_end();
}

TEST(one_nth_of_the_stale_has_its_turn_each_day)
{
    struct store *store = contract_store();
    struct plan_request request = planning_request("update");
    struct str hash;
    int64_t sum = 0;

    planning_apply(store, &(struct planning_source){
                              .operations = "  harvest: { endpoint: works }\n"
                                            "  update: { endpoint: work, candidates: [staleness],"
                                            " staleness: { after: 30d, buckets: 7 } }" });
    hash = current_hash(store, "harvest");
    add_records(store, "works", "r", 700, 40, hash);
    for (int day = 0; day < 7; day++) {
        int64_t taken;

        request.now_us = NOW_US + day * US_PER_DAY;
        taken = planning_trigger(store, &request).ids;
        CHECK(taken > 60 && taken < 140, "about one seventh");
        sum += taken;
    }
    CHECK_EQ(sum, 700, "in a week all of them, each once");
    request.stale_us = 30 * US_PER_DAY;
    planning_end_all(store, TASK_FAILED);
    CHECK_EQ(planning_trigger(store, &request).ids, 700, "a person's --stale takes all at once");
    contract_end();
}

/* The high bits of FNV-1a are the same for all of these. */
TEST(neighbouring_ids_have_their_turn_on_different_days)
{
    struct store *store = contract_store();
    struct plan_request request = planning_request("update");
    int64_t sum = 0;

    planning_apply(store, &(struct planning_source){
                              .operations = "  harvest: { endpoint: works }\n"
                                            "  update: { endpoint: work, candidates: [staleness],"
                                            " staleness: { after: 30d, buckets: 2 } }" });
    add_records(store, "works", "r", 100, 40, current_hash(store, "harvest"));
    for (int day = 0; day < 2; day++) {
        int64_t taken;

        request.now_us = NOW_US + day * US_PER_DAY;
        taken = planning_trigger(store, &request).ids;
        CHECK(taken > 25 && taken < 75, "about one half");
        sum += taken;
    }
    CHECK_EQ(sum, 100, "in two days all of them");
    contract_end();
}

/* ---- metrics ---- */

TEST(metrics_are_taken_where_they_are_missing_or_stale)
{
    struct store *store = contract_store();
    const struct plan_request request = planning_request("metrics");
    struct plan_result result;
    struct id_set ids;
    struct str harvested, counted;

    planning_apply(store, &PLAIN);
    harvested = current_hash(store, "harvest");
    counted = current_hash(store, "metrics");
    add_records(store, "works", "r", 12, 1, harvested);
    add_records(store, "counts", "r", 8, 1, counted); /* r0..r7 are counted */
    add_records(store, "counts", "s", 3, 10, counted);
    add_records(store, "works", "s", 3, 1, harvested); /* s0..s2 long ago */
    result = planning_trigger(store, &request);
    ids = ids_of(store, result.plan_id);
    CHECK_EQ(ids.count, 4 + 3, "four missing, three stale");
    CHECK_EQ(times(&ids, "r9"), 1, "missing");
    CHECK_EQ(times(&ids, "s1"), 1, "stale");
    CHECK_EQ(times(&ids, "r1"), 0, "counted");
    CHECK_EQ(planning_slices(store, result.plan_id).count, 1, "one slice");
    CHECK_STR(
        planning_value(planning_slices(store, result.plan_id).items[0].expr_snapshot, "records"),
        STR("counts"), "stored as records of their own");
    contract_end();
}

/* ---- children ---- */

static const char PARTS[] = "  parts:\n"
                            "    role: detail\n"
                            "    parent: works\n"
                            "    path: \"/works/${join(ids.list, \\\"\\\")}/parts\"\n"
                            "    response: { items: $.items, id: $.id, updated_at: $.updated }\n";
static const struct planning_source CHILDREN = {
    .window = "lag: 0",
    .endpoints = PARTS,
    .operations = "  harvest: { endpoint: works, every: 1h }\n"
                  "  parts: { operation: update, endpoint: parts, staleness: { after: 7d } }\n",
};

/* The children of NAME0, NAME1, ... were fetched so many days ago. */
static void mark_fetched(struct store *store, const char *name, int count, int days_ago,
                         struct str expr_hash)
{
    const struct record_context context = { .source = STR("demo"),
                                            .endpoint = STR("parts"),
                                            .expr_hash = expr_hash,
                                            .observed_us = NOW_US - days_ago * US_PER_DAY };
    struct str *ids = ARENA_ARRAY(contract_arena(), struct str, (size_t)count);
    struct error err = { 0 };

    for (int i = 0; i < count; i++)
        ids[i] = arena_printf(contract_arena(), "%s%d", name, i);
    REQUIRE_OK(store_begin(store, &err), err);
    REQUIRE_OK(store_child_mark(store, &context, (struct record_ids){ ids, (size_t)count }, &err),
               err);
    REQUIRE_OK(store_commit(store, &err), err);
}

TEST(children_are_fetched_where_they_were_not_or_long_ago)
{
    struct store *store = contract_store();
    const struct plan_request request = planning_request("parts");
    struct plan_result result;
    struct id_set ids;
    struct str harvested, hash;

    planning_apply(store, &CHILDREN);
    harvested = current_hash(store, "harvest");
    hash = current_hash(store, "parts");
    add_records(store, "works", "r", 1200, 1, harvested);
    add_records(store, "works", "s", 3, 1, harvested);
    add_records(store, "works", "q", 2, 1, harvested);
    add_records(store, "parts", "p", 9, 99, hash); /* children are no parents */
    mark_fetched(store, "r", 1100, 6, hash);
    mark_fetched(store, "s", 3, 8, hash);
    mark_fetched(store, "q", 2, 1, str_of(OLD_HASH));
    result = planning_trigger(store, &request);
    ids = ids_of(store, result.plan_id);
    CHECK_EQ(ids.count, 100 + 3 + 2, "missing, stale, and by another query");
    CHECK(is_each_once(&ids), "each once");
    CHECK_EQ(times(&ids, "r1150"), 1, "missing");
    CHECK_EQ(times(&ids, "s1"), 1, "stale");
    CHECK_EQ(times(&ids, "q1"), 1, "by another query");
    CHECK_EQ(times(&ids, "r1"), 0, "fetched");
    CHECK_STR(
        planning_value(planning_slices(store, result.plan_id).items[0].expr_snapshot, "records"),
        STR("parts"), "stored as records of their own");
    CHECK_EQ(planning_trigger(store, &request).ids, 0, "they are under way");
    contract_end();
}

TEST(without_staleness_children_are_fetched_once)
{
    struct store *store = contract_store();
    const struct plan_request request = planning_request("parts");
    struct planning_source source = CHILDREN;
    struct str harvested, hash;

    source.operations = "  harvest: { endpoint: works, every: 1h }\n"
                        "  parts: { operation: update, endpoint: parts }\n";
    planning_apply(store, &source);
    harvested = current_hash(store, "harvest");
    hash = current_hash(store, "parts");
    add_records(store, "works", "r", 5, 1, harvested);
    mark_fetched(store, "r", 4, 900, hash);
    CHECK_EQ(planning_trigger(store, &request).ids, 1, "the missing one");
    contract_end();
}

TEST(signals_of_children_name_their_parents)
{
    struct store *store = contract_store();
    const struct plan_request request = planning_request("parts");
    struct plan_result result;
    struct id_set ids;
    struct str hash;

    planning_apply(store, &CHILDREN);
    hash = current_hash(store, "parts");
    add_records(store, "works", "r", 5, 1, current_hash(store, "harvest"));
    mark_fetched(store, "r", 5, 1, hash);
    signal_record(store, "parts", "r3");
    result = planning_trigger(store, &request);
    ids = ids_of(store, result.plan_id);
    CHECK_EQ(ids.count, 1, "only that one");
    CHECK_EQ(times(&ids, "r3"), 1, "only that one");
    CHECK_EQ(open_signals(store), 0, "taken up");
    contract_end();
}

TEST(metrics_and_updates_of_the_same_records_do_not_know_of_each_other)
{
    struct store *store = contract_store();
    const struct plan_request update = planning_request("update");
    const struct plan_request metrics = planning_request("metrics");
    struct task_list tasks;

    planning_apply(store, &PLAIN);
    add_records(store, "works", "r", 12, 40, current_hash(store, "harvest"));
    planning_end_all(store, TASK_SUCCEEDED);
    CHECK_EQ(planning_trigger(store, &update).ids, 12, "all are stale");
    CHECK_EQ(planning_trigger(store, &metrics).ids, 12, "and counted all the same");
    CHECK_EQ(planning_trigger(store, &metrics).ids, 0, "which is under way now");
    tasks = planning_tasks(store);
    for (size_t i = 0; i < tasks.count; i++) {
        if (tasks.items[i].operation == OPERATION_METRICS)
            planning_end(store, tasks.items[i].id, TASK_SUCCEEDED, NULL);
        else if (tasks.items[i].operation == OPERATION_UPDATE)
            planning_end(store, tasks.items[i].id, TASK_FAILED, NULL);
    }
    CHECK_EQ(planning_trigger(store, &update).ids, 12, "the one's success is not the other's");
    contract_end();
}

/* ---- pages ---- */

static struct {
    const struct store_record_ops *ops;
    size_t pages, largest;
} watched;

static bool watch_page(struct store *store, struct arena *arena,
                       const struct candidate_query *query, struct candidate_list *list,
                       struct error *err)
{
    const bool ok = watched.ops->candidates(store, arena, query, list, err);

    watched.pages++;
    if (ok && list->count > watched.largest)
        watched.largest = list->count;
    return ok;
}

TEST(candidates_are_read_a_page_at_a_time_into_memory_that_does_not_grow)
{
    enum { FEW = 2000, MANY = 5000, PAGE_MOST = 1000 };
    struct store *store = contract_store();
    struct plan_request request = planning_request("update");
    struct store_record_ops ops = *store->record;
    size_t used[2] = { 0 };

    planning_apply(store, &PLAIN);
    add_records(store, "works", "r", MANY, 40, current_hash(store, "harvest"));
    watched.ops = store->record;
    ops.candidates = watch_page;
    store->record = &ops;
    for (int i = 0; i < 2; i++) {
        struct plan_result result;
        struct arena arena;
        struct error err = { 0 };
        static const struct override ROOM[] = { { STR_INIT("queued_max"), STR_INIT("1") },
                                                { STR_INIT("queued_max"), STR_INIT("1000") } };

        planning_end_all(store, TASK_FAILED);
        request.overrides = (struct override_list){ &ROOM[i], 1 };
        arena_init(&arena, 64 << 20);
        REQUIRE_OK(plan_trigger(store, &arena, &request, &result, &err), err);
        /* What the filter is not sure of is put off. */
        CHECK(i == 0 ? result.ids <= FEW : result.ids > MANY * 9 / 10, "few, then all");
        used[i] = arena.used;
        arena_release(&arena);
    }
    store->record = watched.ops;
    CHECK(watched.largest <= PAGE_MOST, "no page has more");
    CHECK(watched.pages > MANY / PAGE_MOST, "so there are many");
    CHECK(used[1] < used[0] + 16384, "what they take does not add up");
    contract_end();
}

/* ---- ids of a trigger ---- */

struct list_ids {
    struct id_reader ids;
    int next, count;
    char text[32];
};

static bool next_of_list(struct id_reader *ids, struct str *id, bool *has, struct error *err)
{
    struct list_ids *list = (struct list_ids *)ids;

    (void)err;
    *has = list->next < list->count;
    (void)snprintf(list->text, sizeof(list->text), "Id%d", list->next++);
    *id = str_of(list->text);
    return true;
}

TEST(ids_of_a_trigger_are_taken_and_none_is_lost)
{
    struct store *store = contract_store();
    struct list_ids list = { .ids = { next_of_list }, .count = 1234 };
    struct plan_request request = planning_request("update");
    struct plan_result result;
    struct id_set ids;

    planning_apply(store, &(struct planning_source){
                              .operations = "  harvest: { endpoint: works }\n"
                                            "  update: { endpoint: work, queued_max: 3 }" });
    request.ids = &list.ids;
    result = planning_trigger(store, &request);
    CHECK_EQ(result.slices, 3, "what has room");
    CHECK_EQ(result.status, PLAN_PARTIAL, "not all");
    ids = ids_of(store, result.plan_id);
    CHECK(is_each_once(&ids) && ids.count == (size_t)result.ids, "each once");
    CHECK_EQ(open_signals(store) + ids.count, 1234, "the others are signals");
    request.ids = NULL;
    for (int i = 0; i < 10; i++) {
        planning_end_all(store, TASK_SUCCEEDED);
        result = planning_trigger(store, &request);
    }
    CHECK_EQ(open_signals(store), 0, "and all come to their turn");
    contract_end();
}

TEST(ids_are_cut_by_requests_and_ranges_by_number)
{
    struct store *store = contract_store();
    struct plan_request request = planning_request("update");
    struct plan_slice_list slices;
    struct plan_result result;
    int64_t last = -1;

    planning_apply(store, &(struct planning_source){
                              .operations = "  harvest: { endpoint: works }\n"
                                            "  update: { endpoint: work, slice: { by: id, ids:"
                                            " range }, budget: { requests: 2 } }" });
    for (int i = 0; i < 95; i++)
        signal_record(store, "works", arena_printf(contract_arena(), "%d", i * 7).data);
    result = planning_trigger(store, &request);
    CHECK_EQ(result.slices, 5, "twenty in each: two requests of ten");
    CHECK_EQ(result.requests, 10, "and fifteen in the last");
    slices = planning_slices(store, result.plan_id);
    for (size_t i = 0; i < slices.count; i++) {
        int64_t from, to;

        REQUIRE(str_to_i64(planning_value(slices.items[i].spec, "bounds.id.from"), &from), "from");
        REQUIRE(str_to_i64(planning_value(slices.items[i].spec, "bounds.id.to"), &to), "to");
        CHECK(from > last && to > from, "in their order, apart");
        last = to - 1;
    }
    CHECK_EQ(last, 94 * 7, "to the last id");
    contract_end();
}

TEST(a_range_of_what_is_no_number_is_refused_and_nothing_is_consumed)
{
    struct store *store = contract_store();
    const struct plan_request request = planning_request("update");
    struct plan_result result;
    struct plan plan;
    struct error err = { 0 };
    bool found;

    planning_apply(store, &(struct planning_source){
                              .operations = "  harvest: { endpoint: works }\n"
                                            "  update: { endpoint: work, slice: { by: id, ids:"
                                            " range } }" });
    signal_record(store, "works", "17");
    signal_record(store, "works", "10.1/x");
    CHECK(!plan_trigger(store, contract_arena(), &request, &result, &err), "refused");
    CHECK(strstr(err.text, "10.1/x") != NULL, "names the id");
    CHECK_EQ(open_signals(store), 2, "both are still open");
    CHECK_EQ(planning_tasks(store).count, 0, "no task");
    REQUIRE_OK(store_plan_get(store, contract_arena(), result.plan_id, &plan, &found, &err), err);
    REQUIRE(found, "the plan is recorded");
    CHECK_EQ(plan.status, PLAN_FAILED, "as failed");
    contract_end();
}

/* ---- re-slicing by id ---- */

TEST(a_slice_of_ids_is_halved_after_what_it_finished)
{
    struct store *store = contract_store();
    const struct plan_reslice_request again = { .owner = STR("test"),
                                                .now_us = NOW_US,
                                                .limit = 10 };
    const struct plan_request request = planning_request("update");
    struct reslice_ticket ticket = { .reason = RESLICE_SLOW,
                                     .detail = STR("{\"finishedIds\":4}"),
                                     .created_us = NOW_US };
    struct plan_reslice_result done;
    struct plan_slice_list slices;
    struct plan_result result;
    struct task_list tasks;
    struct id_set ids;
    struct error err = { 0 };
    bool added;

    planning_apply(store, &PLAIN);
    for (int i = 0; i < 11; i++)
        signal_record(store, "works", arena_printf(contract_arena(), "id%d", i).data);
    result = planning_trigger(store, &request);
    tasks = planning_tasks(store);
    REQUIRE(tasks.count == 1, "one slice");
    ticket.task_id = tasks.items[0].id;
    ticket.slice_id = tasks.items[0].slice_id;
    REQUIRE_OK(store_reslice_add(store, &ticket, &added, &err), err);
    planning_end(store, tasks.items[0].id, TASK_PARTIAL, NULL);
    REQUIRE_OK(plan_reslice(store, &again, &done, &err), err);
    CHECK_EQ(done.children, 2, "two halves");
    slices = planning_slices(store, result.plan_id);
    REQUIRE(slices.count == 3, "with their parent");
    ids = ids_of(store, result.plan_id);
    CHECK_EQ(ids.count, 11 + 7, "seven were left");
    for (size_t i = 0; i < 11; i++) /* ids_of has the parent's first */
        CHECK_EQ(times(&ids, arena_printf(contract_arena(), "%.*s", STR_ARG(ids.ids[i])).data),
                 i < 4 ? 1 : 2, "the rest once more, what is finished not");
    contract_end();
}
