/* Which schedules are due, and their triggers. */
#include "engine/schedule/fire.h"

#include "base/list.h"
#include "engine/schedule/gaps.h"
#include "port/store_pause.h"
#include "port/store_schedule.h"

enum { FIRE_ARENA_MAX = 256 << 20 };

struct fire {
    struct store *store;
    const struct schedule_fire_request *request;
    struct schedule_fire_result *result;
    struct arena list; /* of pauses */
    struct arena plan; /* of one trigger */
};

/* ---- one operation ---- */

/* Counts the tick as fired or failed. */
static void report(struct fire *fire, const struct schedule_fired *fired)
{
    if (fired->err != NULL)
        fire->result->failed++;
    else if (fired->is_gap)
        fire->result->gaps++;
    else
        fire->result->fired++;
    if (fire->request->listener != NULL)
        fire->request->listener->fired(fire->request->listener, fired);
}

static void note_next(struct fire *fire, const struct schedule *schedule)
{
    struct maybe_instant *next = &fire->result->next;
    int64_t tick_us;

    if (schedule_next(schedule, fire->request->now_us, &tick_us) &&
        (!next->is_set || tick_us < next->at_us))
        *next = (struct maybe_instant){ true, tick_us };
}

/* False when it failed, or another server fired it. */
static bool fire_tick(struct fire *fire, struct str source, struct str operation, int64_t tick_us)
{
    const struct plan_tick tick = { fire->request->owner, tick_us };
    const struct plan_request request = { .source = source,
                                          .operation = operation,
                                          .now_us = fire->request->now_us,
                                          .trigger = TRIGGER_SCHEDULE,
                                          .tick = &tick,
                                          .specs = fire->request->specs,
                                          .secrets = fire->request->secrets,
                                          .random = fire->request->random,
                                          .watch = fire->request->watch };
    struct schedule_fired fired = { .source = source, .operation = operation, .tick_us = tick_us };
    struct plan_result result;
    struct error err = { 0 };

    arena_reset(&fire->plan);
    if (!plan_trigger(fire->store, &fire->plan, &request, &result, &err))
        fired.err = &err;
    else
        fired.result = &result;
    if (fired.err != NULL || result.is_fired)
        report(fire, &fired);
    return fired.err == NULL && result.is_fired;
}

/* ---- gaps ---- */

static void replay_gap(struct fire *fire, const struct gaps_request *request, int64_t tick_us,
                       struct window gap)
{
    struct plan_request replay = gaps_replay(request, gap);
    struct schedule_fired fired = { .source = request->source,
                                    .operation = replay.operation,
                                    .tick_us = tick_us,
                                    .is_gap = true,
                                    .gap = gap };
    struct plan_result result;
    struct error err = { 0 };

    replay.watch = fire->request->watch;
    if (plan_trigger(fire->store, &fire->plan, &replay, &result, &err))
        fired.result = &result;
    else
        fired.err = &err;
    report(fire, &fired);
}

/* After the tick of a harvest, by the server that fired it. */
static void replay_gaps(struct fire *fire, struct str source, struct str operation, int64_t tick_us)
{
    const struct gaps_request request = { .source = source,
                                          .operation = operation,
                                          .now_us = fire->request->now_us,
                                          .specs = fire->request->specs,
                                          .secrets = fire->request->secrets };
    struct window_list gaps;
    struct error err = { 0 };

    arena_reset(&fire->plan);
    if (!gaps_find(fire->store, &fire->plan, &request, &gaps, &err)) {
        report(fire, &(struct schedule_fired){ .source = source,
                                               .operation = STR("replay"),
                                               .tick_us = tick_us,
                                               .err = &err,
                                               .is_gap = true });
        return;
    }
    for (size_t i = 0; i < gaps.count; i++)
        replay_gap(fire, &request, tick_us, gaps.items[i]);
}

/* Asks for the tick fired last only where one seems to be due: that tick never goes back. */
static bool is_due(struct fire *fire, struct scheduled *scheduled, int64_t *tick_us, bool *is,
                   struct error *err)
{
    const int64_t now_us = fire->request->now_us;
    int64_t last_us;
    bool found;

    *is = schedule_due(&scheduled->schedule, scheduled->since_us, now_us, tick_us);
    if (!*is)
        return true;
    if (!store_tick_last(fire->store, scheduled->source, scheduled->operation, &last_us, &found,
                         err))
        return false;
    if (found)
        scheduled->since_us = last_us;
    *is = schedule_due(&scheduled->schedule, scheduled->since_us, now_us, tick_us);
    return true;
}

static void fire_operation(struct fire *fire, struct scheduled *scheduled)
{
    struct error err = { 0 };
    int64_t tick_us = 0;
    bool is = false;

    if (scheduled->fault != NULL || !is_due(fire, scheduled, &tick_us, &is, &err)) {
        report(fire, &(struct schedule_fired){ .source = scheduled->source,
                                               .operation = scheduled->operation,
                                               .err = scheduled->fault != NULL ? scheduled->fault
                                                                               : &err });
        return;
    }
    note_next(fire, &scheduled->schedule);
    if (is && fire_tick(fire, scheduled->source, scheduled->operation, tick_us) &&
        scheduled->is_harvest)
        replay_gaps(fire, scheduled->source, scheduled->operation, tick_us);
}

/* ---- all ---- */

static bool fire_all(struct fire *fire, struct schedule_memory *memory, struct error *err)
{
    struct pause_list pauses;

    if (!schedule_memory_refresh(memory, fire->store, fire->request->now_us, err) ||
        !store_pause_list(fire->store, &fire->list, STR(""), &pauses, err))
        return false;
    for (size_t i = 0; i < memory->scheduled.count; i++) {
        struct scheduled *scheduled = &memory->scheduled.items[i];

        if (!pause_list_has(&pauses, scheduled->source, scheduled->endpoint))
            fire_operation(fire, scheduled);
    }
    return true;
}

bool schedule_fire_due(struct store *store, const struct schedule_fire_request *request,
                       struct schedule_fire_result *result, struct error *err)
{
    struct fire fire = { .store = store, .request = request, .result = result };
    struct schedule_memory once;
    bool ok;

    *result = (struct schedule_fire_result){ 0 };
    arena_init(&fire.list, FIRE_ARENA_MAX);
    arena_init(&fire.plan, FIRE_ARENA_MAX);
    schedule_memory_init(&once);
    ok = fire_all(&fire, request->memory != NULL ? request->memory : &once, err);
    schedule_memory_release(&once);
    arena_release(&fire.plan);
    arena_release(&fire.list);
    return ok || error_wrap(err, "fire schedules");
}

/* ---- for people ---- */

static bool view_one(struct store *store, const struct scheduled *scheduled, int64_t now_us,
                     struct schedule_view *view, struct error *err)
{
    const struct schedule *schedule = &scheduled->schedule;
    int64_t since_us, tick_us;

    *view = (struct schedule_view){ .operation = scheduled->operation,
                                    .endpoint = scheduled->endpoint };
    if (!store_tick_last(store, scheduled->source, scheduled->operation, &view->last_us,
                         &view->has_last, err))
        return false;
    since_us = view->has_last ? view->last_us : scheduled->since_us;
    view->is_due = schedule_due(schedule, since_us, now_us, &tick_us) &&
                   schedule_next(schedule, since_us, &view->due_us);
    view->has_next = schedule_next(schedule, now_us, &view->next_us);
    if (view->has_next && schedule_next(schedule, view->next_us, &tick_us))
        view->period_us = tick_us - view->next_us;
    return true;
}

bool schedule_view(struct store *store, struct arena *arena, const struct source *source,
                   int64_t now_us, struct schedule_view_list *list, struct error *err)
{
    struct scheduled_list scheduled = { 0 };

    *list = (struct schedule_view_list){ 0 };
    if (!scheduled_add(arena, source, &scheduled, err))
        return false;
    for (size_t i = 0; i < scheduled.count; i++) {
        struct schedule_view *view = LIST_ADD(arena, list);

        if (view == NULL)
            return arena_error(arena, err);
        if (scheduled.items[i].fault != NULL) {
            *err = *scheduled.items[i].fault;
            return false;
        }
        if (!view_one(store, &scheduled.items[i], now_us, view, err))
            return false;
    }
    return true;
}
