/* Several processes on one database. */
#include <string.h>

#include "contract.h"
#include "port/store_lease.h"
#include "port/store_outbox.h"
#include "port/store_record.h"
#include "rows.h"

enum { PROCESSES = 8, TASKS = 60 };

static struct store *open_here(const char *dsn)
{
    struct store *store = NULL;
    struct error err = { 0 };

    if (!store_open(str_of(dsn), &(struct store_options){ .busy_timeout_us = 60000000 }, &store,
                    &err))
        test_note("%s", err.text);
    return store;
}

static int fail_with(const struct error *err)
{
    test_note("%s", err->text);
    return -1;
}

/* Adds all tasks, each process in another order; returns how many were new. */
static int add_tasks(int index, const char *dsn)
{
    struct store *store = open_here(dsn);
    struct task tasks[TASKS];
    struct task_list list;
    struct error err = { 0 };
    struct plan plan;
    int64_t added = 0, total = 0;
    bool found;

    if (store == NULL)
        return -1;
    if (!store_plan_get(store, contract_arena(), 1, &plan, &found, &err) ||
        !store_task_list(store, contract_arena(), &(struct task_filter){ .limit = 1 }, &list, &err))
        return fail_with(&err);
    for (int i = 0; i < TASKS; i++)
        tasks[i] = rows_task(&plan, list.items[0].slice_id, 1 + (i * 7 + index * 13) % TASKS);
    for (int i = 0; i < TASKS; i += 20) {
        if (!store_task_add(store, tasks + i, 20, &added, &err))
            return fail_with(&err);
        total += added;
    }
    store_close(store);
    return (int)total;
}

TEST(processes_that_add_the_same_tasks_add_each_once)
{
    const char *dsn = contract_new_database();
    struct store *store = contract_open(dsn);
    struct task_list list;
    struct error err = { 0 };
    struct plan plan;
    int64_t taken;

    REQUIRE_OK(store_migrate(store, NOW_US, &taken, &err), err);
    plan = rows_add_plan(store);
    rows_add_tasks(store, &plan, 1);
    store_close(store);
    CHECK_EQ(contract_processes(PROCESSES, add_tasks, dsn), TASKS - 1, "each once, no error");
    store = contract_open(dsn);
    REQUIRE_OK(store_task_list(store, contract_arena(), &(struct task_filter){ .limit = 1000 },
                               &list, &err),
               err);
    CHECK_EQ(list.count, TASKS, "no more");
    store_close(store);
    contract_end();
}

/* Claims until nothing is left, and ends each task; returns how many it got. */
static int claim_all(int index, const char *dsn)
{
    struct store *store = open_here(dsn);
    struct error err = { 0 };
    int claimed = 0;
    bool held;

    if (store == NULL)
        return -1;
    for (;;) {
        const struct task_claim claim = { .partition = { STR("crossref"), STR("works"),
                                                         OPERATION_HARVEST },
                                          .owner = index % 2 == 0 ? STR("even") : STR("odd"),
                                          .now_us = NOW_US + US_PER_HOUR,
                                          .until_us = NOW_US + US_PER_DAY,
                                          .limit = 3,
                                          .live_max = index % 2 == 0 ? 0 : PROCESSES * 3 };
        struct task_list list;

        if (!store_task_claim(store, contract_arena(), &claim, &list, &err))
            return fail_with(&err);
        if (list.count == 0)
            break;
        for (size_t i = 0; i < list.count; i++) {
            const struct task_end end = { .lease = { list.items[i].id, list.items[i].lease_epoch },
                                          .status = TASK_SUCCEEDED,
                                          .now_us = NOW_US };

            if (list.items[i].lease_epoch != 1 || !store_lease_finish(store, &end, &held, &err) ||
                !held)
                return fail_with(&err);
            claimed++;
        }
    }
    store_close(store);
    return claimed;
}

TEST(processes_that_claim_share_the_queue)
{
    const char *dsn = contract_migrated(contract_new_database());
    struct store *store = contract_open(dsn);
    struct plan plan = rows_add_plan(store);
    struct plan_progress progress;
    struct error err = { 0 };

    rows_add_tasks(store, &plan, 96);
    store_close(store);
    CHECK_EQ(contract_processes(PROCESSES, claim_all, dsn), 96, "each task once");
    store = contract_open(dsn);
    REQUIRE_OK(store_plan_progress(store, plan.id, &progress, &err), err);
    CHECK_EQ(progress.tasks[TASK_SUCCEEDED], 96, "all done");
    store_close(store);
    contract_end();
}

enum { TICKS = 50 };

static int claim_ticks(int index, const char *dsn)
{
    struct store *store = open_here(dsn);
    struct error err = { 0 };
    int claimed = 0;
    bool is_mine;

    (void)index;
    if (store == NULL)
        return -1;
    for (int i = 0; i < TICKS; i++) {
        const struct schedule_tick tick = { STR("crossref"), STR("harvest"), NOW_US + i };

        if (!store_tick_claim(store, &tick, STR("me"), NOW_US, &is_mine, &err))
            return fail_with(&err);
        claimed += is_mine;
    }
    store_close(store);
    return claimed;
}

TEST(processes_that_claim_the_same_ticks_share_them)
{
    const char *dsn = contract_new_database();
    struct store *store = contract_open(dsn);
    struct error err = { 0 };
    int64_t taken;

    REQUIRE_OK(store_migrate(store, NOW_US, &taken, &err), err);
    store_close(store);
    CHECK_EQ(contract_processes(PROCESSES, claim_ticks, dsn), TICKS, "each once");
    contract_end();
}

enum { STEPS = 12 };

/* Moves the cursor on by one, STEPS times, trying again whenever somebody else was first. */
static int advance(int index, const char *dsn)
{
    const struct cursor_name name = rows_cursor_name();
    struct store *store = open_here(dsn);
    struct error err = { 0 };
    int moves = 0;

    (void)index;
    if (store == NULL)
        return -1;
    while (moves < STEPS) {
        struct cursor_move move = { .expr_hash = STR(HASH_A), .now_us = NOW_US };
        struct cursor cursor;
        bool found, moved;

        if (!store_begin(store, &err) ||
            !store_cursor_load(store, contract_arena(), &name, &cursor, &found, &err))
            return fail_with(&err);
        move.to =
            (struct cursor_value){ .type = CURSOR_TIME, .instant_us = cursor.value.instant_us + 1 };
        if (!store_cursor_move(store, &cursor, &move, &moved, &err) || !store_commit(store, &err))
            return fail_with(&err);
        moves += moved;
    }
    store_close(store);
    return moves;
}

TEST(processes_that_advance_a_cursor_lose_no_step)
{
    const char *dsn = contract_new_database();
    struct store *store = contract_open(dsn);
    const struct cursor_name name = rows_cursor_name();
    struct cursor cursor;
    struct error err = { 0 };
    int64_t taken;
    bool found;

    REQUIRE_OK(store_migrate(store, NOW_US, &taken, &err), err);
    store_close(store);
    CHECK_EQ(contract_processes(PROCESSES, advance, dsn), PROCESSES * STEPS, "all arrive");
    store = contract_open(dsn);
    REQUIRE_OK(store_cursor_load(store, contract_arena(), &name, &cursor, &found, &err), err);
    CHECK_EQ(cursor.value.instant_us, PROCESSES * STEPS, "every step counted once");
    CHECK_EQ(cursor.version, PROCESSES * STEPS, "every step counted once");
    store_close(store);
    contract_end();
}

enum { RECORDS = 4, CHANGES = 5 };

/* Changes every record once, while others do the same; false on an error. */
static bool change_records(struct store *store, struct error *err)
{
    const struct str ids[RECORDS] = { STR("a"), STR("b"), STR("c"), STR("d") };
    const struct record_context context = { .source = STR("crossref"),
                                            .endpoint = STR("works"),
                                            .expr_hash = STR(HASH_A),
                                            .now_us = NOW_US };
    struct record_write writes[RECORDS];
    struct record_state states[RECORDS];
    bool is_written = false;

    while (!is_written) {
        if (!store_begin(store, err) ||
            !store_record_check(store, contract_arena(), &context,
                                (struct record_ids){ ids, RECORDS }, states, err))
            return false;
        for (size_t i = 0; i < RECORDS; i++)
            writes[i] = (struct record_write){ .id = states[i].id,
                                               .version = states[i].version + 1,
                                               .provider_id = ids[i],
                                               .content_hash = STR(HASH_B),
                                               .payload = STR("x") };
        if (!rows_write(store, &context, writes, RECORDS, &is_written, err))
            return false;
        if (!is_written)
            store_rollback(store);
        else if (!store_commit(store, err))
            return false;
    }
    return true;
}

static int write_records(int index, const char *dsn)
{
    struct store *store = open_here(dsn);
    struct error err = { 0 };

    (void)index;
    if (store == NULL)
        return -1;
    for (int round = 0; round < CHANGES; round++) {
        if (!change_records(store, &err))
            return fail_with(&err);
    }
    store_close(store);
    return CHANGES;
}

TEST(processes_that_change_the_same_records_take_every_version_once)
{
    const char *dsn = contract_migrated(contract_new_database());
    struct store *store;
    struct stored_event_list list;
    struct stored_record record;
    struct error err = { 0 };
    bool found;

    CHECK_EQ(contract_processes(PROCESSES, write_records, dsn), PROCESSES * CHANGES, "no error");
    store = contract_open(dsn);
    REQUIRE_OK(store_record_get(store, contract_arena(),
                                &(struct record_key){ STR("crossref"), STR("works"), STR("a") },
                                &record, &found, &err),
               err);
    CHECK_EQ(record.version, PROCESSES * CHANGES, "every change has a version");
    REQUIRE_OK(store_outbox_of(store, contract_arena(),
                               &(struct outbox_query){ record.id, 0, 1000 }, &list, &err),
               err);
    REQUIRE(list.count == PROCESSES * CHANGES, "and every version its event");
    for (size_t i = 0; i < list.count; i++)
        CHECK_EQ(list.items[i].event.version, i + 1, "without a gap");
    store_close(store);
    contract_end();
}

TEST(cursor_events_can_not_be_changed)
{
    const char *dsn = contract_new_database();
    struct store *store = contract_open(dsn);
    const struct cursor_event event = { .name = rows_cursor_name(),
                                        .next = { .type = CURSOR_TIME, .instant_us = NOW_US },
                                        .idempotent_key = STR("e"),
                                        .expr_hash = STR(HASH_A),
                                        .remarks = STR("{}"),
                                        .created_us = NOW_US };
    struct cursor_event_list list;
    struct error err = { 0 };
    int64_t taken;
    bool added;

    REQUIRE_OK(store_migrate(store, NOW_US, &taken, &err), err);
    REQUIRE_OK(store_cursor_event_add(store, &event, &added, &err), err);
    CHECK(!contract_try_sql(dsn, "UPDATE ing_cursor_event SET new_value = 'x'"), "refused");
    REQUIRE_OK(store_cursor_event_list(store, contract_arena(), &event.name,
                                       (struct store_page){ .limit = 1 }, &list, &err),
               err);
    CHECK_EQ(list.items[0].next.instant_us, NOW_US, "as it was");
    store_close(store);
    contract_end();
}
