/* The store fails at every call of each verb, before and after it did its work; then the verb is
 * called again. There is one history, that of a day without faults. */
#include <stdarg.h>
#include <stdio.h>

#include "adapter/memory/store.h"
#include "cursoring.h"
#include "engine/cursor/cursor_reset.h"
#include "engine/cursor/cursor_verify.h"

enum verb { ADVANCE, OBSERVE, RESET, REBUILD };

static bool call(struct store *store, const struct plan *plan, enum verb verb, struct error *err)
{
    struct cursor_advance_request advance = cursoring_request(plan);
    const struct cursor_name name = cursoring_name(plan);
    const struct cursor_reset_request reset = {
        .name = name,
        .to = { .type = CURSOR_TIME, .instant_us = HOUR(0) },
        .who = STR("joe"),
        .now_us = HOUR(9),
    };
    struct cursor_advance_result moved;
    struct cursor_reset_result set;
    struct cursor_check check;

    switch (verb) {
    case OBSERVE:
        advance.observed_max = (struct maybe_instant){ true, HOUR(3) };
        return cursor_advance(store, contract_arena(), &advance, &moved, err);
    case ADVANCE:
        return cursor_advance(store, contract_arena(), &advance, &moved, err);
    case RESET:
        return cursor_reset(store, contract_arena(), &reset, &set, err);
    case REBUILD:
        break;
    }
    return cursor_rebuild(store, contract_arena(), &name, NOW_US, &check, err);
}

/* What the verb finds: hours 0, 1 and 3 done; the cursor at 0, at 2, or wrong. */
static struct store *scene(enum verb verb, struct plan *plan)
{
    static const int64_t done[] = { 0, 1, 3 };
    struct store *store = contract_store();
    struct error err = { 0 };
    bool moved;

    *plan = cursoring_plan(store, NULL, 5);
    for (size_t i = 0; i < ARRAY_LEN(done); i++)
        cursoring_end(store, plan, done[i], TASK_SUCCEEDED);
    if (verb != ADVANCE)
        (void)cursoring_advance(store, plan);
    if (verb == REBUILD) {
        const struct cursor cursor = cursoring_cursor(store, plan);
        const struct cursor_move move = { .to = { .type = CURSOR_TIME, .instant_us = HOUR(4) },
                                          .expr_hash = cursor.expr_hash,
                                          .now_us = NOW_US };

        REQUIRE_OK(store_cursor_set(store, &cursor, &move, &moved, &err), err);
    }
    return store;
}

/* All that a history has left, as text. */
struct history {
    char text[8192];
    size_t len;
};

static void tell(struct history *history, const char *format, ...) PRINTF_LIKE(2, 3);
static void tell(struct history *history, const char *format, ...)
{
    va_list args;

    va_start(args, format);
    history->len += (size_t)vsnprintf(history->text + history->len,
                                      sizeof(history->text) - history->len, format, args);
    va_end(args);
    REQUIRE(history->len < sizeof(history->text), "room for the history");
}

static struct history history_of(struct store *store, const struct plan *plan)
{
    const struct cursor_event_list events = cursoring_events(store, plan);
    const struct cursor cursor = cursoring_cursor(store, plan);
    const struct coverage_namespace of = plan_namespace(plan);
    struct history history = { .len = 0 };
    struct task_list tasks;
    struct error err = { 0 };

    for (size_t i = 0; i < events.count; i++)
        tell(&history, "%d %" PRId64 " %" PRId64 " run %" PRId64 " %.*s\n",
             (int)events.items[i].reason, events.items[i].prev.instant_us,
             events.items[i].next.instant_us, events.items[i].lineage.run_id,
             STR_ARG(events.items[i].remarks));
    tell(&history, "at %" PRId64 " version %" PRId64 " seen %.*s\n", cursor.value.instant_us,
         cursor.version, STR_ARG(cursor.observed_max));
    REQUIRE_OK(store_coverage_tasks(store, contract_arena(), &of, plan->window, 100, &tasks, &err),
               err);
    for (size_t i = 0; i < tasks.count; i++)
        tell(&history, "task %" PRId64 " %d %d\n", tasks.items[i].id, (int)tasks.items[i].status,
             tasks.items[i].is_reset);
    return history;
}

/* True when the fault struck. */
static bool strike(enum verb verb, int64_t n, bool is_done, const struct history *wanted)
{
    struct history history;
    struct plan plan;
    struct store *store = scene(verb, &plan);
    struct error err = { 0 };
    bool ok;

    memory_store_fail(
        store,
        &(struct memory_fault){ .call = n, .name = is_done ? "commit" : NULL, .is_done = is_done });
    ok = call(store, &plan, verb, &err);
    if (!ok) {
        CHECK_EQ(err.level, ERROR_TRANSIENT, "to be called again");
        REQUIRE_OK(call(store, &plan, verb, &err), err);
    }
    memory_store_fail(store, &(struct memory_fault){ .call = INT64_MAX });
    history = history_of(store, &plan);
    CHECK_STR(((struct str){ history.text, history.len }),
              ((struct str){ wanted->text, wanted->len }), "as on a day without faults");
    cursoring_check_replay(store, &plan, "events and value");
    contract_end();
    return !ok;
}

TEST(a_strike_at_any_call_leaves_the_same_history)
{
    static const enum verb verbs[] = { ADVANCE, OBSERVE, RESET, REBUILD };
    int struck = 0;

    for (size_t i = 0; i < ARRAY_LEN(verbs); i++) {
        struct plan plan;
        struct store *store = scene(verbs[i], &plan);
        struct error err = { 0 };
        struct history wanted;
        int64_t n = 1;

        REQUIRE_OK(call(store, &plan, verbs[i], &err), err);
        wanted = history_of(store, &plan);
        contract_end();
        while (n < 100 && strike(verbs[i], n, false, &wanted))
            n++;
        CHECK(n >= 5 && n < 100, "each call was struck, up to the last");
        CHECK(strike(verbs[i], 1, true, &wanted), "the commit's answer was lost");
        struck += (int)n; /* the last one missed, but the lost answer counts */
    }
    test_note("%d strikes", struck);
}
