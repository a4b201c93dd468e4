/* Many processes finish tasks and move the cursor at once. */
#include "cursoring.h"

enum { PROCESSES = 6, TASKS = 60, FAILS = 41 };

static struct store *open_here(const char *dsn)
{
    struct store *store = NULL;
    struct error err = { 0 };

    if (!store_open(str_of(dsn), &(struct store_options){ .busy_timeout_us = 60000000 }, &store,
                    &err))
        test_note("%s", err.text);
    return store;
}

static bool finish_and_advance(struct store *store, const struct task *task, int64_t run_id,
                               struct cursor_advance_result *result, struct error *err)
{
    const bool fails = task->window.from_us == HOUR(FAILS);
    const struct task_end end = { .lease = { task->id, task->lease_epoch },
                                  .status = fails ? TASK_FAILED : TASK_SUCCEEDED,
                                  .now_us = NOW_US };
    struct cursor_advance_request request = cursor_advance_of(task, run_id, NOW_US);
    bool held;

    return store_lease_finish(store, &end, &held, err) &&
           cursor_advance(store, contract_arena(), &request, result, err) &&
           cursor_advance(store, contract_arena(), &request, result, err); /* twice is once */
}

/* Works until nothing is left; returns how many tasks it had. */
static int work(int index, const char *dsn)
{
    struct store *store = open_here(dsn);
    struct error err = { 0 };
    int done = 0;

    if (store == NULL)
        return -1;
    for (;;) {
        const struct task_claim claim = {
            .owner = STR("a"), .now_us = INSTANT_MAX, .until_us = INSTANT_MAX, .limit = 1
        };
        struct cursor_advance_result result;
        struct task_list list;

        if (!store_task_claim(store, contract_arena(), &claim, &list, &err) ||
            (list.count > 0 &&
             !finish_and_advance(store, &list.items[0], index + 1, &result, &err))) {
            test_note("%s", err.text);
            return -1;
        }
        if (list.count == 0)
            break;
        done++;
    }
    store_close(store);
    return done;
}

TEST(processes_that_move_a_cursor_at_once_make_one_history)
{
    const char *dsn = contract_migrated(contract_new_database());
    struct store *store = contract_open(dsn);
    const struct plan plan = cursoring_plan(store, NULL, TASKS);
    struct cursor_event_list events;
    struct cursor cursor;

    store_close(store);
    CHECK_EQ(contract_processes(PROCESSES, work, dsn), TASKS, "each task once, and no error");
    store = contract_open(dsn);
    cursor = cursoring_cursor(store, &plan);
    CHECK_EQ(cursor.value.instant_us, HOUR(FAILS), "to the slice that failed, and not beyond");
    events = cursoring_events(store, &plan);
    CHECK_EQ(cursor.version, (int64_t)events.count, "an event for each move");
    for (size_t i = 1; i < events.count; i++) {
        CHECK_EQ(events.items[i].prev.instant_us, events.items[i - 1].next.instant_us,
                 "each goes on from the last");
        CHECK(events.items[i].next.instant_us > events.items[i].prev.instant_us, "forward");
    }
    cursoring_check_replay(store, &plan, "events and value");
    test_note("%zu moves by %d processes", events.count - 1, (int)PROCESSES);
    store_close(store);
    contract_end();
}
