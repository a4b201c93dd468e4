/* Runs and batches: attempts are counted, a batch is written once and read again. */
#include <string.h>

#include "contract.h"
#include "port/store_run.h"
#include "rows.h"

static struct run run_of(const struct task *task)
{
    return (struct run){ .task_id = task->id,
                         .source = task->source,
                         .operation = task->operation,
                         .lease_owner = STR("me"),
                         .lease_epoch = 1,
                         .status = RUN_RUNNING,
                         .window = task->window,
                         .stats = STR("{}"),
                         .started_us = NOW_US };
}

static struct batch batch_of(const struct run *run, const struct task *task, int64_t number)
{
    return (struct batch){
        .run_id = run->id,
        .task_id = task->id,
        .slice_id = task->slice_id,
        .plan_id = task->plan_id,
        .number = number,
        .has_before = true,
        .before_token = arena_printf(contract_arena(), "token-%" PRId64, number),
        .has_after = true,
        .after_token = arena_printf(contract_arena(), "token-%" PRId64, number + 1),
        .expr_hash = STR(HASH_B),
        .idempotent_key = arena_printf(contract_arena(), "%" PRId64 "-%" PRId64, run->id, number),
        .status = BATCH_SUCCEEDED,
        .request_digest = STR("{\"a\":1}"),
        .response_digest = STR("{\"b\":2}"),
        .stats = STR("{\"c\":3}"),
        .has_next = true,
        .created_us = NOW_US + number,
    };
}

static struct task one_task(struct store *store)
{
    const struct plan plan = rows_add_plan(store);
    struct task_list list;
    struct error err = { 0 };

    rows_add_tasks(store, &plan, 1);
    REQUIRE_OK(
        store_task_list(store, contract_arena(), &(struct task_filter){ .limit = 1 }, &list, &err),
        err);
    return list.items[0];
}

static struct run add_run(struct store *store, const struct task *task)
{
    struct run run = run_of(task);
    struct error err = { 0 };

    REQUIRE_OK(store_begin(store, &err), err);
    REQUIRE_OK(store_run_add(store, &run, &err), err);
    REQUIRE_OK(store_commit(store, &err), err);
    return run;
}

TEST(attempts_are_counted)
{
    struct store *store = contract_store();
    const struct task task = one_task(store);
    struct run first = add_run(store, &task), second = add_run(store, &task), none = first;
    struct run_list list;
    struct task read;
    struct error err = { 0 };
    bool is_so;

    CHECK_EQ(first.attempt, 1, "the first");
    CHECK_EQ(second.attempt, 2, "the second");
    REQUIRE_OK(store_task_get(store, contract_arena(), task.id, &read, &is_so, &err), err);
    CHECK_EQ(read.attempts, 2, "counted by the task");
    first.status = RUN_PARTIAL;
    first.has_reason = true;
    first.reason = PARTIAL_HOLES;
    first.checkpoint = STR("{\"z\": 1.10, \"t\":\"\\u0000\"}");
    first.stats = STR("{\"n\":7}");
    first.error = STR("two pages lost");
    first.finished_us = NOW_US + 50;
    REQUIRE_OK(store_run_save(store, &first, NOW_US + 50, &is_so, &err), err);
    CHECK(is_so, "saved");
    REQUIRE_OK(store_run_save(store, &first, NOW_US + 51, &is_so, &err), err);
    CHECK(!is_so, "it has ended");
    REQUIRE_OK(store_run_list(store, contract_arena(), task.id, &list, &err), err);
    REQUIRE(list.count == 2, "two");
    CHECK_EQ(list.items[0].id, first.id, "by attempt");
    CHECK_EQ(list.items[0].status, RUN_PARTIAL, "status");
    CHECK(list.items[0].has_reason, "reason");
    CHECK_EQ(list.items[0].reason, PARTIAL_HOLES, "reason");
    CHECK_STR(list.items[0].checkpoint, first.checkpoint, "byte by byte");
    CHECK_STR(list.items[0].error, first.error, "error");
    CHECK_EQ(list.items[0].started_us, NOW_US, "started");
    CHECK_EQ(list.items[0].finished_us, NOW_US + 50, "finished");
    CHECK_EQ(list.items[0].window.to_us, task.window.to_us, "window");
    CHECK_STR(list.items[0].lease_owner, STR("me"), "owner");
    CHECK_EQ(list.items[0].lease_epoch, 1, "epoch");
    CHECK_EQ(list.items[1].status, RUN_RUNNING, "the other one runs");
    CHECK_EQ(list.items[1].checkpoint.len, 0, "without a checkpoint");
    CHECK_EQ(list.items[1].finished_us, 0, "not finished");
    none.task_id = 999;
    REQUIRE_OK(store_begin(store, &err), err);
    CHECK(!store_run_add(store, &none, &err), "no such task");
    CHECK_EQ(err.level, ERROR_REQUEST, "no such task");
    store_rollback(store);
    second.checkpoint = STR("{");
    CHECK(!store_run_save(store, &second, NOW_US, &is_so, &err), "not JSON");
    CHECK_EQ(err.level, ERROR_REQUEST, "not JSON");
    contract_end();
}

/* Ends the run of a task that way, having counted `number` records. */
static void end_run(struct store *store, struct run run, enum run_status status, int number)
{
    struct error err = { 0 };
    bool saved;

    run.status = status;
    run.stats = arena_printf(contract_arena(), "{\"retCount\":%d}", number);
    run.finished_us = NOW_US + 60;
    REQUIRE_OK(store_run_save(store, &run, NOW_US + 60, &saved, &err), err);
    REQUIRE(saved, "it ran");
}

static struct run run_at(struct store *store, const struct task *task, int64_t started_us)
{
    struct run run = run_of(task);
    struct error err = { 0 };

    run.started_us = started_us;
    REQUIRE_OK(store_begin(store, &err), err);
    REQUIRE_OK(store_run_add(store, &run, &err), err);
    REQUIRE_OK(store_commit(store, &err), err);
    return run;
}

TEST(what_was_found_lately_is_told_by_first_runs_that_succeeded)
{
    struct store *store = contract_store();
    const struct plan plan = rows_add_plan(store);
    struct task_partition of = { plan.source, plan.endpoint, plan.operation };
    struct task_list tasks;
    struct run_list list;
    struct error err = { 0 };

    rows_add_tasks(store, &plan, 6);
    REQUIRE_OK(
        store_task_list(store, contract_arena(), &(struct task_filter){ .limit = 9 }, &tasks, &err),
        err);
    REQUIRE(tasks.count == 6, "tasks");
    end_run(store, run_at(store, &tasks.items[0], NOW_US + 5), RUN_SUCCEEDED, 10);
    end_run(store, run_at(store, &tasks.items[1], NOW_US + 7), RUN_SUCCEEDED, 11);
    end_run(store, run_at(store, &tasks.items[2], NOW_US + 5), RUN_SUCCEEDED, 12);
    end_run(store, run_at(store, &tasks.items[3], NOW_US + 8), RUN_FAILED, 13);
    end_run(store, run_at(store, &tasks.items[3], NOW_US + 9), RUN_SUCCEEDED, 14); /* the rest */
    (void)run_at(store, &tasks.items[4], NOW_US + 9);                              /* runs */
    REQUIRE_OK(store_run_recent(store, contract_arena(), &of, 10, &list, &err), err);
    REQUIRE(list.count == 3, "only those");
    CHECK(str_find(list.items[0].stats, STR("11")) < list.items[0].stats.len, "the newest");
    CHECK_EQ(list.items[0].window.from_us, tasks.items[1].window.from_us, "its window");
    CHECK_EQ(list.items[1].task_id, tasks.items[2].id, "of two at once the later one");
    CHECK_EQ(list.items[2].task_id, tasks.items[0].id, "then the other");
    REQUIRE_OK(store_run_recent(store, contract_arena(), &of, 2, &list, &err), err);
    CHECK_EQ(list.count, 2, "the limit");
    of.endpoint = STR("elsewhere");
    REQUIRE_OK(store_run_recent(store, contract_arena(), &of, 10, &list, &err), err);
    CHECK_EQ(list.count, 0, "another endpoint");
    of = (struct task_partition){ plan.source, plan.endpoint, OPERATION_REPLAY };
    REQUIRE_OK(store_run_recent(store, contract_arena(), &of, 10, &list, &err), err);
    CHECK_EQ(list.count, 0, "another operation");
    contract_end();
}

TEST(the_runs_of_a_period_come_newest_first)
{
    struct store *store = contract_store();
    const struct plan plan = rows_add_plan(store);
    struct run_period period = { plan.source, plan.operation, NOW_US + 5, NOW_US + 8, 10 };
    struct task_list tasks;
    struct run_list list;
    struct error err = { 0 };

    rows_add_tasks(store, &plan, 4);
    REQUIRE_OK(
        store_task_list(store, contract_arena(), &(struct task_filter){ .limit = 9 }, &tasks, &err),
        err);
    for (int i = 0; i < 4; i++)
        (void)run_at(store, &tasks.items[i], NOW_US + 4 + i * 2); /* 4, 6, 8, 10 */
    (void)run_at(store, &tasks.items[0], NOW_US + 5);
    REQUIRE_OK(store_run_started(store, contract_arena(), &period, &list, &err), err);
    REQUIRE(list.count == 2, "from its beginning, before its end");
    CHECK_EQ(list.items[0].started_us, NOW_US + 6, "the newest first");
    CHECK_EQ(list.items[1].started_us, NOW_US + 5, "then the other");
    period.limit = 1;
    REQUIRE_OK(store_run_started(store, contract_arena(), &period, &list, &err), err);
    CHECK_EQ(list.count, 1, "the limit");
    period.operation = OPERATION_REPLAY;
    REQUIRE_OK(store_run_started(store, contract_arena(), &period, &list, &err), err);
    CHECK_EQ(list.count, 0, "another operation");
    contract_end();
}

TEST(a_batch_comes_back_whole)
{
    struct store *store = contract_store();
    const struct task task = one_task(store);
    const struct run run = add_run(store, &task);
    struct batch batch = batch_of(&run, &task, 1), read = { 0 };
    char token[5000];
    struct batch_list list;
    struct error err = { 0 };
    struct batch_added added;
    bool is_so;

    for (size_t i = 0; i < sizeof(token); i++) /* as long as those of scrolls, and any bytes */
        token[i] = (char)(i * 7);
    batch.after_token = (struct str){ token, sizeof(token) };
    REQUIRE_OK(store_batch_add(store, contract_arena(), &batch, &added, &err), err);
    CHECK(added.is_new, "new");
    REQUIRE_OK(store_batch_last(store, contract_arena(), task.id, &read, &is_so, &err), err);
    REQUIRE(is_so, "it is there");
    CHECK_EQ(read.id, added.id, "id");
    CHECK_EQ(read.run_id, run.id, "run");
    CHECK_EQ(read.slice_id, task.slice_id, "slice");
    CHECK_EQ(read.plan_id, task.plan_id, "plan");
    CHECK(!read.has_page, "no page");
    CHECK(read.has_before && read.has_after && read.has_next, "tokens");
    CHECK_STR(read.before_token, STR("token-1"), "before");
    CHECK(str_eq(read.after_token, batch.after_token), "every byte of it");
    CHECK_STR(read.expr_hash, STR(HASH_B), "expression");
    CHECK_EQ(read.status, BATCH_SUCCEEDED, "status");
    CHECK_EQ(read.created_us, NOW_US + 1, "when");
    batch = batch_of(&run, &task, 2);
    batch.has_before = batch.has_after = batch.has_next = false;
    batch.has_page = true;
    batch.page_no = 0;
    batch.page_size = 100;
    batch.before_token = (struct str){ token, sizeof(token) };
    REQUIRE_OK(store_batch_add(store, contract_arena(), &batch, &added, &err), err);
    REQUIRE_OK(store_batch_list(store, contract_arena(), run.id,
                                (struct store_page){ .after = 1, .limit = 10 }, &list, &err),
               err);
    REQUIRE(list.count == 1, "above number 1");
    CHECK(list.items[0].has_page, "a page");
    CHECK_EQ(list.items[0].page_no, 0, "page");
    CHECK_EQ(list.items[0].page_size, 100, "size");
    CHECK(!list.items[0].has_before && !list.items[0].has_after, "no tokens");
    CHECK_EQ(list.items[0].before_token.len, 0, "no tokens");
    contract_end();
}

TEST(a_batch_that_is_there_is_read_and_not_rewritten)
{
    struct store *store = contract_store();
    const struct task task = one_task(store);
    const struct run run = add_run(store, &task), other = add_run(store, &task);
    struct batch batch = batch_of(&run, &task, 1), same;
    struct error err = { 0 };
    struct batch_added added;
    int64_t id;

    REQUIRE_OK(store_batch_add(store, contract_arena(), &batch, &added, &err), err);
    id = added.id;
    for (int key = 0; key < 3; key++) {
        same = batch_of(key == 2 ? &other : &run, &task, 9);
        if (key == 0)
            same.number = 1;
        else if (key == 1)
            same.before_token = batch.before_token;
        else
            same.idempotent_key = batch.idempotent_key;
        same.after_token = STR("another");
        added = (struct batch_added){ 0 };
        REQUIRE_OK(store_batch_add(store, contract_arena(), &same, &added, &err), err);
        CHECK(!added.is_new, "one of the three keys");
        CHECK_EQ(added.id, id, "the old one");
        CHECK_EQ(added.old.id, id, "the old one");
        CHECK_STR(added.old.after_token, STR("token-2"), "as it was");
    }
    same = batch_of(&other, &task, 1);
    REQUIRE_OK(store_batch_add(store, contract_arena(), &same, &added, &err), err);
    CHECK(added.is_new, "number and token of another run");
    contract_end();
}

TEST(the_last_committed_batch_is_where_to_go_on)
{
    struct store *store = contract_store();
    const struct task task = one_task(store);
    struct run run = add_run(store, &task);
    struct batch batch, read;
    struct error err = { 0 };
    struct batch_added added;
    bool is_so;

    REQUIRE_OK(store_batch_last(store, contract_arena(), task.id, &read, &is_so, &err), err);
    CHECK(!is_so, "none yet");
    for (int64_t i = 1; i <= 3; i++) {
        batch = batch_of(&run, &task, i);
        batch.status = i == 3 ? BATCH_FAILED : BATCH_SUCCEEDED;
        REQUIRE_OK(store_batch_add(store, contract_arena(), &batch, &added, &err), err);
    }
    REQUIRE_OK(store_batch_last(store, contract_arena(), task.id, &read, &is_so, &err), err);
    CHECK_EQ(read.number, 2, "the failed one does not count");
    run = add_run(store, &task);
    batch = batch_of(&run, &task, 1);
    REQUIRE_OK(store_batch_add(store, contract_arena(), &batch, &added, &err), err);
    REQUIRE_OK(store_batch_last(store, contract_arena(), task.id, &read, &is_so, &err), err);
    CHECK_EQ(read.run_id, run.id, "of a later run");
    contract_end();
}

TEST(every_word_of_runs_and_batches_is_accepted)
{
    struct store *store = contract_store();
    const struct task task = one_task(store);
    struct run run = { 0 };
    struct batch batch;
    struct error err = { 0 };
    struct batch_added added;

    for (size_t i = 0; i < RUN_STATUS_CODES.count; i++) {
        run = run_of(&task);
        run.status = (enum run_status)i;
        REQUIRE_OK(store_begin(store, &err), err);
        REQUIRE_OK(store_run_add(store, &run, &err), err);
        REQUIRE_OK(store_commit(store, &err), err);
    }
    for (size_t i = 0; i < BATCH_STATUS_CODES.count; i++) {
        batch = batch_of(&run, &task, (int64_t)i + 1);
        batch.status = (enum batch_status)i;
        REQUIRE_OK(store_batch_add(store, contract_arena(), &batch, &added, &err), err);
        CHECK(added.is_new, "accepted");
    }
    contract_end();
}

TEST(a_batch_keeps_its_evidence_byte_by_byte)
{
    static const char items[] = { 1, 0, 1, 'x', 0, 0, 0, 0, 0, 0, 0, (char)0xFF };
    struct store *store = contract_store();
    const struct task task = one_task(store);
    const struct run run = add_run(store, &task);
    struct batch batch = batch_of(&run, &task, 1);
    struct batch_evidence evidence;
    struct batch_added added;
    struct batch_list list;
    struct error err = { 0 };
    struct run read_run;
    struct batch read;
    bool found;

    batch.evidence = (struct batch_evidence){ .request_input = STR("{\"b\":1, \"a\":\"\\u0000\"}"),
                                              .items = { items, sizeof(items) },
                                              .body_hash = STR(HASH_B) };
    REQUIRE_OK(store_batch_add(store, contract_arena(), &batch, &added, &err), err);
    REQUIRE_OK(store_batch_evidence(store, contract_arena(), added.id, &evidence, &err), err);
    CHECK_STR(evidence.request_input, batch.evidence.request_input, "as it was written");
    CHECK(str_eq(evidence.items, batch.evidence.items), "every byte");
    CHECK_STR(evidence.body_hash, STR(HASH_B), "the body");
    batch = batch_of(&run, &task, 2);
    batch.status = BATCH_FAILED;
    REQUIRE_OK(store_batch_add(store, contract_arena(), &batch, &added, &err), err);
    REQUIRE_OK(store_batch_evidence(store, contract_arena(), added.id, &evidence, &err), err);
    CHECK_EQ(evidence.items.len + evidence.request_input.len + evidence.body_hash.len, 0, "none");
    REQUIRE_OK(store_batch_get(store, contract_arena(), run.id, 2, &read, &found, &err), err);
    CHECK(found && read.id == added.id, "by its number");
    REQUIRE_OK(store_batch_get(store, contract_arena(), run.id, 3, &read, &found, &err), err);
    CHECK(!found, "no such number");
    REQUIRE_OK(store_batch_failed(store, contract_arena(), run.id, 5, &list, &err), err);
    REQUIRE(list.count == 1, "the one that failed");
    CHECK_EQ(list.items[0].number, 2, "its number");
    REQUIRE_OK(store_run_get(store, contract_arena(), run.id, &read_run, &found, &err), err);
    CHECK(found && read_run.task_id == task.id, "the run");
    REQUIRE_OK(store_run_get(store, contract_arena(), run.id + 100, &read_run, &found, &err), err);
    CHECK(!found, "no such run");
    contract_end();
}

TEST(listed_ids_are_kept_in_order_and_by_task)
{
    struct store *store = contract_store();
    const struct task task = one_task(store);
    const struct str first[] = { STR("z"), STR("a"), STR("10.1/\xe6\x96\x87") };
    const struct str second[] = { STR("m"), STR("A") };
    static const char *const ORDER[] = { "z", "a", "10.1/\xe6\x96\x87", "m", "A" };
    struct listed_list list;
    struct error err = { 0 };
    int64_t read = 0;

    REQUIRE_OK(store_begin(store, &err), err);
    REQUIRE_OK(store_listed_add(store, task.id, first, 3, &err), err);
    REQUIRE_OK(store_commit(store, &err), err);
    REQUIRE_OK(store_begin(store, &err), err);
    REQUIRE_OK(store_listed_add(store, task.id, first, 3, &err), err);
    store_rollback(store);
    REQUIRE_OK(store_begin(store, &err), err);
    REQUIRE_OK(store_listed_add(store, task.id, second, 2, &err), err);
    REQUIRE_OK(store_listed_add(store, task.id, NULL, 0, &err), err);
    REQUIRE_OK(store_commit(store, &err), err);
    for (;;) {
        REQUIRE_OK(store_listed_list(store, contract_arena(), task.id,
                                     (struct store_page){ .after = read, .limit = 2 }, &list, &err),
                   err);
        for (size_t i = 0; i < list.count; i++) {
            CHECK(read < 5, "not more than were added");
            CHECK_STR(list.items[i], str_of(ORDER[read % 5]), "in the order of adding");
            read++;
        }
        if (list.count < 2)
            break;
    }
    CHECK_EQ(read, 5, "all, and nothing of what was rolled back");
    REQUIRE_OK(store_listed_list(store, contract_arena(), task.id + 1,
                                 (struct store_page){ .limit = 9 }, &list, &err),
               err);
    CHECK_EQ(list.count, 0, "of another task");
    contract_end();
}

TEST(listed_ids_are_ids_of_a_task)
{
    struct store *store = contract_store();
    const struct task task = one_task(store);
    struct error err = { 0 };

    REQUIRE_OK(store_begin(store, &err), err);
    CHECK(!store_listed_add(store, task.id, &STR(""), 1, &err), "an empty id");
    CHECK_STR(str_of(err.code), STR("store.constraint"), "code");
    store_rollback(store);
    REQUIRE_OK(store_begin(store, &err), err);
    if (store_listed_add(store, task.id + 7, &STR("a"), 1, &err))
        CHECK(!store_commit(store, &err), "no such task");
    CHECK_STR(str_of(err.code), STR("store.constraint"), "code");
    store_rollback(store);
    REQUIRE_OK(store_begin(store, &err), err);
    CHECK(!store_listed_add(store, task.id, &STR("\xff"), 1, &err), "no text");
    CHECK_STR(str_of(err.code), STR("store.text"), "code");
    store_rollback(store);
    contract_end();
}
