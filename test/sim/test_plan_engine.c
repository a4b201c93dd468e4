/* The planner over random histories once more (see test_planner.c), this time through the engine on
 * a store that fails: plan_trigger, plan_reslice and the rows they leave.
 *
 * Before a call of the engine a fault may be armed: one of its next calls of the database fails, or
 * a commit is done and its result lost. A failed call must have left nothing, row by row; a lost
 * one must have happened as a whole; and the caller repeats it or not.
 *
 *      store     tasks, cursors and events, as the engine wrote them
 *      model     per hour: is it covered, how often was it fetched, how often may it have been, and
 *                up to when was planned when it was fetched last
 *
 * The promises are those of the pure planner, read from the rows: no instant before the cursor is
 * uncovered; none that the next trigger will not look back for was fetched before all that turns up
 * late was there; none is fetched twice unless it had been fetched before that; no two live tasks
 * share an instant, a plan that is READY leaves no instant of its window out, and
 * replaying the events gives the cursor.
 */
#include <stdio.h>
#include <string.h>

#include "base/instant.h"
#include "core/coverage.h"
#include "core/cursor.h"
#include "engine/cursor/cursor_advance.h"
#include "fault_store.h"
#include "planning.h"
#include "port/store_cursor.h"
#include "port/store_lease.h"
#include "port/store_signal.h"
#include "random.h"
#include "within.h"

enum {
    HISTORIES = TEST_IS_SLOW ? 80 : 300,
    CELLS = 900, /* hours */
    FIRST = 400,
    STEPS_MAX = 60,
    CALLS_MAX = 40, /* of the store by one call of the engine, more or less */
};

struct track {
    const char *name;
    enum operation operation;
    int64_t origin_us;
    bool is_covered[CELLS];
    int fetched[CELLS];
    int allowed[CELLS];
    int64_t read_us[CELLS]; /* the end of the latest window with which it was fetched */
};

struct world {
    struct random random;
    struct store *store;
    int64_t base_us;
    int64_t now_us;
    int64_t late_us;      /* the harvest's lookback */
    int64_t last_plan_id; /* the newest one that was looked at */
    int failed;           /* calls of the engine, under a fault */
    struct track tracks[2];
    const char *broken;
};

static void expect(struct world *w, bool holds, const char *promise)
{
    if (!holds && w->broken == NULL)
        w->broken = promise;
}

static int64_t cell_of(const struct world *w, int64_t at_us)
{
    return (at_us - w->base_us) / US_PER_HOUR;
}

static int64_t hours(struct world *w, int64_t from, int64_t to)
{
    return random_between(&w->random, from, to) * US_PER_HOUR;
}

static bool is_live(const struct task *task)
{
    return task->status == TASK_QUEUED || task->status == TASK_DISPATCHED ||
           task->status == TASK_EXECUTING;
}

/* ---- cursors ---- */

static bool load_cursor(struct world *w, const struct track *track, struct cursor *cursor)
{
    struct cursor_list list;
    struct error err = { 0 };

    REQUIRE_OK(store_cursor_list(w->store, contract_arena(), STR("demo"), &list, &err), err);
    for (size_t i = 0; i < list.count; i++) {
        if (list.items[i].name.operation == track->operation) {
            *cursor = list.items[i];
            return true;
        }
    }
    return false;
}

/* As an executor does after a task. */
static void advance(struct world *w, const struct track *track)
{
    struct cursor_advance_request request = { .dimension = SLICE_TIME, .now_us = w->now_us };
    struct cursor_advance_result result;
    struct cursor cursor;
    struct error err = { 0 };

    if (!load_cursor(w, track, &cursor))
        return;
    request.of = (struct coverage_namespace){
        .source = STR("demo"),
        .endpoint = STR("works"),
        .operation = track->operation,
        .cursor_key = cursor.name.cursor_key,
        .scope = cursor.name.scope,
        .namespace_key = cursor.name.namespace_key,
        .late_us = track->operation == OPERATION_HARVEST ? w->late_us : 0,
    };
    REQUIRE_OK(cursor_advance(w->store, contract_arena(), &request, &result, &err), err);
    CHECK_EQ(result.conflicts, 0, "nothing else moves it");
}

/* ---- faults ---- */

/* True: the fault is a commit that is done and whose result is lost. */
static bool arm(struct world *w)
{
    const bool is_done = random_chance(&w->random, 30);
    const int64_t number = random_between(&w->random, 1, is_done ? 4 : CALLS_MAX);

    if (!random_chance(&w->random, 40))
        return false;
    fault_store_arm(w->store,
                    &(struct store_fault){ .effect = is_done ? FAULT_AFTER : FAULT_BEFORE,
                                           .call = is_done ? FAULT_COMMIT : FAULT_ANY_CALL,
                                           .number = number });
    return is_done;
}

/* ---- the engine ---- */

/* What the plans that have come since may fetch though it is covered, and whether a READY one left
 * anything out. */
static void look_at_plans(struct world *w)
{
    struct plan_filter filter = { .source = STR("demo"), .limit = 100 };
    struct plan_list plans;
    struct error err = { 0 };
    int64_t newest = w->last_plan_id;

    REQUIRE_OK(store_plan_list(w->store, contract_arena(), &filter, &plans, &err), err);
    for (size_t i = 0; i < plans.count && plans.items[i].id > w->last_plan_id; i++) {
        const struct plan *plan = &plans.items[i];
        struct track *track = &w->tracks[plan->operation == OPERATION_BACKFILL];
        const struct task_list tasks = planning_tasks(w->store);
        struct cursor cursor;

        newest = plan->id > newest ? plan->id : newest;
        if (!window_is_valid(plan->window))
            continue;
        if (!load_cursor(w, track, &cursor)) {
            expect(w, false, "a window was planned, and coverage has no beginning");
            continue;
        }
        REQUIRE(plan->window.from_us >= w->base_us, "the window lies within the model");
        if (track->origin_us == 0)
            track->origin_us = cursor.value.instant_us;
        for (int64_t c = cell_of(w, plan->window.from_us); c < cell_of(w, plan->window.to_us);
             c++) {
            const int64_t at_us = w->base_us + c * US_PER_HOUR;
            bool is_planned = track->is_covered[c];

            track->allowed[c] += track->operation == OPERATION_HARVEST && track->is_covered[c] &&
                                 track->read_us[c] <= at_us + w->late_us;
            for (size_t k = 0; k < tasks.count && !is_planned; k++)
                is_planned = is_live(&tasks.items[k]) &&
                             tasks.items[k].operation == track->operation &&
                             is_within(tasks.items[k].window, at_us);
            expect(w, is_planned || plan->status != PLAN_READY,
                   "an instant of the window is not planned");
        }
    }
    w->last_plan_id = newest;
}

static bool catch_up(struct world *w)
{
    if (!random_chance(&w->random, 70))
        return false;
    advance(w, &w->tracks[0]);
    advance(w, &w->tracks[1]);
    return true;
}

/* One call of the engine under a fault; true when it succeeded. */
static bool call_engine(struct world *w, const struct plan_request *request)
{
    /* A trigger lets its cursor catch up first, and that stays when it fails; often there is
     * nothing to catch up with. */
    const bool is_even = catch_up(w);
    const uint64_t before = contract_digest();
    const struct plan_reslice_request again = { .owner = STR("sim"),
                                                .now_us = w->now_us,
                                                .limit = 100 };
    struct plan_reslice_result cut;
    struct plan_result result;
    struct error err = { 0 };
    const bool is_lost = arm(w);
    const bool ok = request != NULL
                        ? plan_trigger(w->store, contract_arena(), request, &result, &err)
                        : plan_reslice(w->store, &again, &cut, &err);

    (void)fault_store_disarm(w->store);
    if (ok)
        return true;
    w->failed++;
    if (err.level != ERROR_TRANSIENT)
        test_note("%s", err.text);
    expect(w, err.level == ERROR_TRANSIENT, "a store's fault is transient");
    if (request != NULL && !is_lost && is_even)
        expect(w, contract_digest() == before, "what failed has left something");
    return false;
}

static void trigger(struct world *w, const struct plan_request *request)
{
    const bool ok = call_engine(w, request);

    look_at_plans(w);
    if (!ok && random_chance(&w->random, 70)) { /* who called tries again */
        (void)call_engine(w, request);
        look_at_plans(w);
    }
}

/* ---- the steps of chance ---- */

static struct plan_request request_of(const struct world *w, const struct track *track)
{
    struct plan_request request = planning_request(track->name);

    request.now_us = w->now_us;
    if (track->operation == OPERATION_BACKFILL)
        request.campaign = STR("c");
    return request;
}

static void trigger_somehow(struct world *w, struct track *track)
{
    struct plan_request request = request_of(w, track);
    struct cursor cursor;

    if (track->operation == OPERATION_BACKFILL && !load_cursor(w, track, &cursor))
        request.from = (struct maybe_instant){ true, w->base_us + hours(w, FIRST, FIRST + 80) };
    else if (random_chance(&w->random, 25))
        request.from = (struct maybe_instant){ true, w->base_us + hours(w, FIRST, CELLS) };
    if (track->operation == OPERATION_HARVEST && random_chance(&w->random, 25))
        request.to = (struct maybe_instant){ true, w->base_us + hours(w, FIRST, CELLS) };
    trigger(w, &request);
}

static void fetch(struct world *w, struct track *track, const struct task *task,
                  struct window window)
{
    struct error err = { 0 };
    struct plan plan;
    bool found;

    REQUIRE_OK(store_plan_get(w->store, contract_arena(), task->plan_id, &plan, &found, &err), err);
    for (int64_t c = cell_of(w, window.from_us); c < cell_of(w, window.to_us); c++) {
        track->is_covered[c] = true;
        track->fetched[c]++;
        if (plan.window.to_us > track->read_us[c])
            track->read_us[c] = plan.window.to_us;
    }
}

/* A slice that is re-sliced keeps its beginning or its end. */
static void reslice(struct world *w, struct track *track, const struct task *task)
{
    const int64_t length = window_length_us(task->window) / US_PER_HOUR;
    const int64_t done_us = random_chance(&w->random, 50) ? hours(w, 0, length) : 0;
    const bool at_end = random_chance(&w->random, 50);
    struct reslice_ticket ticket = { .task_id = task->id,
                                     .slice_id = task->slice_id,
                                     .remaining = task->window,
                                     .detail = STR("{\"total\":700}"),
                                     .created_us = w->now_us };
    struct window done = task->window;
    struct error err = { 0 };
    bool added;

    ticket.reason = (enum reslice_reason)random_between(&w->random, 0, RESLICE_SLOW + 1);
    if (at_end) {
        done.from_us = done.to_us - done_us;
        ticket.remaining.to_us = done.from_us;
    } else {
        done.to_us = done.from_us + done_us;
        ticket.remaining.from_us = done.to_us;
    }
    REQUIRE_OK(store_reslice_add(w->store, &ticket, &added, &err), err);
    planning_end(w->store, task->id, TASK_PARTIAL, done_us > 0 ? &done : NULL);
    if (done_us > 0)
        fetch(w, track, task, done);
    if (!random_chance(&w->random, 30)) /* or a trigger comes first */
        (void)call_engine(w, NULL);
}

static void finish_one(struct world *w)
{
    const struct task_list tasks = planning_tasks(w->store);
    const int64_t start = tasks.count > 0 ? random_between(&w->random, 0, (int64_t)tasks.count) : 0;
    const struct task *task = NULL;
    struct track *track;
    int64_t chance;

    for (size_t i = 0; i < tasks.count && task == NULL; i++) {
        if (is_live(&tasks.items[((size_t)start + i) % tasks.count]))
            task = &tasks.items[((size_t)start + i) % tasks.count];
    }
    if (task == NULL)
        return;
    track = &w->tracks[task->operation == OPERATION_BACKFILL];
    chance = random_between(&w->random, 0, 100);
    if (chance < 55) {
        planning_end(w->store, task->id, TASK_SUCCEEDED, NULL);
        fetch(w, track, task, task->window);
    } else if (chance < 75) {
        planning_end(w->store, task->id, TASK_FAILED, NULL);
    } else {
        reslice(w, track, task);
    }
    if (random_chance(&w->random, 80))
        advance(w, track);
}

static void step(struct world *w)
{
    struct track *track = &w->tracks[random_chance(&w->random, 30)];
    const int64_t chance = random_between(&w->random, 0, 100);

    arena_reset(contract_arena());
    if (chance < 15) {
        const int64_t end_us = w->base_us + (CELLS - 1) * US_PER_HOUR;

        w->now_us += hours(w, 0, 30);
        if (w->now_us > end_us)
            w->now_us = end_us;
    } else if (chance < 40) {
        trigger_somehow(w, track);
    } else {
        finish_one(w);
    }
}

/* ---- the promises ---- */

static void check_events(struct world *w, const struct cursor *cursor)
{
    struct cursor_event_list events;
    struct cursor_fold fold;
    struct error err = { 0 };

    REQUIRE_OK(store_cursor_event_list(w->store, contract_arena(), &cursor->name,
                                       (struct store_page){ .limit = 10000 }, &events, &err),
               err);
    cursor_fold_init(&fold, CURSOR_TIME);
    for (size_t i = 0; i < events.count; i++)
        cursor_fold_add(&fold, events.items[i].has_prev ? &events.items[i].prev : NULL,
                        &events.items[i].next);
    expect(w, cursor_fold_agrees(&fold, &cursor->value),
           "replaying the events does not give the cursor");
    expect(w, fold.gap_count == 0, "the events have a gap");
}

/* Two live tasks of an operation share no instant. */
static void check_live(struct world *w, const struct track *track, const struct task_list *tasks)
{
    bool is_taken[CELLS] = { false };

    for (size_t i = 0; i < tasks->count; i++) {
        const struct task *task = &tasks->items[i];

        if (!is_live(task) || task->operation != track->operation)
            continue;
        for (int64_t c = cell_of(w, task->window.from_us); c < cell_of(w, task->window.to_us);
             c++) {
            expect(w, !is_taken[c], "two live tasks share an instant");
            is_taken[c] = true;
        }
    }
}

/* What the next trigger will not look at was looked at when nothing could turn up any more. */
static void check_late(struct world *w, const struct track *track, int64_t cursor_us)
{
    for (int64_t c = cell_of(w, track->origin_us); c < cell_of(w, cursor_us - w->late_us); c++)
        expect(w, track->read_us[c] >= w->base_us + (c + 1) * US_PER_HOUR + w->late_us,
               "the cursor has passed an instant that was read too early");
}

static void check(struct world *w)
{
    const struct task_list tasks = planning_tasks(w->store);

    for (int i = 0; i < 2; i++) {
        const struct track *track = &w->tracks[i];
        struct cursor cursor;

        check_live(w, track, &tasks);
        for (int64_t c = 0; c < CELLS; c++)
            expect(w, track->fetched[c] <= 1 + track->allowed[c],
                   "an instant was fetched twice without cause");
        if (!load_cursor(w, track, &cursor))
            continue;
        for (int64_t c = cell_of(w, track->origin_us); c < cell_of(w, cursor.value.instant_us); c++)
            expect(w, track->is_covered[c], "the cursor has passed an uncovered instant");
        if (track->operation == OPERATION_HARVEST)
            check_late(w, track, cursor.value.instant_us);
        check_events(w, &cursor);
    }
}

/* Everything succeeds, and nothing fails any more; where the window then ends. */
static int64_t drain(struct world *w, struct track *track)
{
    static const struct override ROOM = { STR_INIT("queued_max"), STR_INIT("1000000") };
    int64_t to_us = 0;

    for (int round = 0; round < 3; round++) {
        struct plan_request request = request_of(w, track);
        struct task_list tasks;
        struct plan_result result;
        struct error err = { 0 };

        arena_reset(contract_arena());
        request.overrides = (struct override_list){ &ROOM, 1 };
        REQUIRE_OK(plan_trigger(w->store, contract_arena(), &request, &result, &err), err);
        look_at_plans(w);
        to_us = result.decision.to.at_us;
        tasks = planning_tasks(w->store);
        for (size_t i = 0; i < tasks.count; i++) {
            if (is_live(&tasks.items[i]))
                fetch(w, &w->tracks[tasks.items[i].operation == OPERATION_BACKFILL],
                      &tasks.items[i], tasks.items[i].window);
        }
        planning_end_all(w->store, TASK_SUCCEEDED);
        advance(w, &w->tracks[0]);
        advance(w, &w->tracks[1]);
    }
    return to_us;
}

static void check_end(struct world *w)
{
    struct cursor_event_list events;
    struct cursor cursor;
    struct error err = { 0 };
    const int64_t to_us = drain(w, &w->tracks[0]);

    if (load_cursor(w, &w->tracks[0], &cursor))
        expect(w, cursor.value.instant_us >= to_us,
               "all has succeeded, and the cursor is not at now - lag");
    if (!load_cursor(w, &w->tracks[1], &cursor))
        return;
    (void)drain(w, &w->tracks[1]);
    REQUIRE(load_cursor(w, &w->tracks[1], &cursor), "the campaign's cursor");
    REQUIRE_OK(store_cursor_event_list(w->store, contract_arena(), &cursor.name,
                                       (struct store_page){ .limit = 1 }, &events, &err),
               err);
    REQUIRE(events.count == 1, "the event that began it");
    expect(w, cursor.value.instant_us == events.items[0].window.to_us,
           "all has succeeded, and the campaign is not at its first end");
}

/* ---- histories ---- */

static void begin(struct world *w, uint64_t seed)
{
    static const char *const ALIGNS[] = { "none", "hour", "day", "week" };
    struct random *random = &w->random;
    char *window = ARENA_ARRAY(contract_arena(), char, 256);
    char *operations = ARENA_ARRAY(contract_arena(), char, 256);
    int64_t lag, lookback, size, min, max, align, queued;

    memset(w, 0, sizeof(*w));
    random->state = seed;
    w->tracks[0] = (struct track){ .name = "harvest", .operation = OPERATION_HARVEST };
    w->tracks[1] = (struct track){ .name = "backfill", .operation = OPERATION_BACKFILL };
    w->store = contract_store();
    fault_store_wrap(w->store);
    /* Hours of a calendar that begins on a Monday before a leap day. */
    w->base_us = at("2028-02-14");
    w->now_us = w->base_us + hours(w, FIRST + 200, FIRST + 300);
    lag = random_between(random, 0, 5);
    lookback = random_chance(random, 50) ? random_between(random, 0, 30) : 0;
    w->late_us = lookback * US_PER_HOUR;
    align = random_between(random, 0, 4);
    min = random_between(random, 1, 4);
    max = (align == 3 ? 168 : align == 2 ? 24 : min) + random_between(random, 0, 40);
    size = (align == 3 ? 168 : align == 2 ? 24 : 1) + random_between(random, 0, 60);
    queued = random_chance(random, 50) ? random_between(random, 2, 8) : 1000;
    (void)snprintf(window, 256,
                   "granularity: hour, lag: %dh, lookback: %dh, size: %dh, min: %dh, max: %dh,"
                   " align: %s, overlap: %dh",
                   (int)lag, (int)lookback, (int)size, (int)min, (int)max, ALIGNS[align],
                   (int)random_between(random, 0, 3));
    (void)snprintf(operations, 256,
                   "  harvest: { endpoint: works, queued_max: %d }\n"
                   "  backfill: { endpoint: works, queued_max: %d }",
                   (int)queued, (int)queued);
    planning_apply(w->store, &(struct planning_source){
                                 .window = window, .page = "cap: 100", .operations = operations });
}

struct tally {
    int64_t tasks;
    int failed, cursors, campaigns;
};

static const char *run_history(uint64_t seed, struct tally *tally)
{
    static struct world world;
    struct world *w = &world;
    struct cursor cursor;

    begin(w, seed);
    for (int64_t i = 0, n = random_between(&w->random, 10, STEPS_MAX); i < n; i++) {
        step(w);
        check(w);
        if (w->broken != NULL)
            break;
    }
    if (w->broken == NULL) {
        check_end(w);
        check(w);
    }
    tally->tasks += (int64_t)planning_tasks(w->store).count;
    tally->failed += w->failed;
    tally->cursors += load_cursor(w, &w->tracks[0], &cursor);
    tally->campaigns += load_cursor(w, &w->tracks[1], &cursor);
    contract_end();
    return w->broken;
}

TEST(histories_through_the_engine_keep_the_promises_under_faults)
{
    const int histories = contract_rounds(HISTORIES);
    const struct random_seeds seeds = random_seeds((uint64_t)histories);
    struct tally tally = { 0 };

    for (uint64_t seed = seeds.from; seed < seeds.to; seed++) {
        const char *broken = run_history(seed, &tally);

        if (broken != NULL) {
            test_fail(__FILE__, __LINE__, "%s (PATRA_SEED=%" PRIu64 " runs it again)", broken,
                      seed);
            return;
        }
    }
    test_note("%d histories, %" PRId64 " tasks, %d calls failed on demand, %d harvests, %d "
              "backfills",
              histories, tally.tasks, tally.failed, tally.cursors, tally.campaigns);
}
