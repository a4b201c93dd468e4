/* The store fails at every call of each verb, and at its commit after that was done; then the verb
 * is called again. The history must be that of a day without faults. */
#include <stdarg.h>
#include <stdio.h>

#include "cursoring.h"
#include "engine/cursor/cursor_reset.h"
#include "engine/cursor/cursor_verify.h"
#include "fault_store.h"

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
    REQUIRE_OK(store_coverage_tasks(
                   store, contract_arena(),
                   &(struct window_query){ .of = &of, .window = plan->window, .limit = 100 },
                   &tasks, &err),
               err);
    for (size_t i = 0; i < tasks.count; i++)
        tell(&history, "task %" PRId64 " %d %d\n", tasks.items[i].window.from_us,
             (int)tasks.items[i].status, tasks.items[i].is_reset);
    return history;
}

/* Calls the verb under a fault, and once more if it failed. True when the fault has happened. */
static bool call_under(const struct store_fault *fault, enum verb verb,
                       const struct history *wanted)
{
    struct history history;
    struct plan plan;
    struct store *store = scene(verb, &plan);
    struct error err = { 0 };
    bool ok, has_happened;

    fault_store_wrap(store);
    fault_store_arm(store, fault);
    ok = call(store, &plan, verb, &err);
    has_happened = fault_store_disarm(store);
    CHECK_EQ(ok, !has_happened, "it fails by the fault, and only by that");
    if (!ok) {
        CHECK_EQ(err.level, ERROR_TRANSIENT, "to be called again");
        REQUIRE_OK(call(store, &plan, verb, &err), err);
    }
    history = history_of(store, &plan);
    CHECK_STR(((struct str){ history.text, history.len }),
              ((struct str){ wanted->text, wanted->len }), "as on a day without faults");
    cursoring_check_replay(store, &plan, "events and value");
    contract_end();
    return has_happened;
}

TEST(a_fault_at_any_call_leaves_the_same_history)
{
    static const enum verb verbs[] = { ADVANCE, OBSERVE, RESET, REBUILD };
    int faults = 0;

    for (size_t i = 0; i < ARRAY_LEN(verbs); i++) {
        struct plan plan;
        struct store *store = scene(verbs[i], &plan);
        struct error err = { 0 };
        struct history wanted;
        int64_t n = 1;

        REQUIRE_OK(call(store, &plan, verbs[i], &err), err);
        wanted = history_of(store, &plan);
        contract_end();
        while (n < 100 && call_under(&(struct store_fault){ .number = n }, verbs[i], &wanted))
            n++;
        CHECK(n >= 5 && n < 100, "each call has failed, up to the last");
        CHECK(call_under(&(struct store_fault){ .effect = FAULT_AFTER, .call = FAULT_COMMIT },
                         verbs[i], &wanted),
              "the commit's result was lost");
        faults += (int)n; /* the last number was one too many, but the lost commit counts */
    }
    test_note("%d faults", faults);
}
