/* Which schedules are due, and their triggers. */
#include "engine/schedule/fire.h"

#include <assert.h>

#include "base/list.h"
#include "core/schedule.h"
#include "engine/schedule/gaps.h"
#include "engine/source/source_store.h"
#include "port/store_pause.h"
#include "port/store_registry.h"
#include "port/store_schedule.h"

enum { FIRE_ARENA_MAX = 256 << 20 };

struct fire {
    struct store *store;
    const struct schedule_fire_request *request;
    struct schedule_fire_result *result;
    struct arena list;   /* of all sources */
    struct arena source; /* of one */
    struct arena plan;   /* of one trigger */
};

static const struct registry_value *value_in(const struct registry_row *row, const char *column)
{
    const int i = registry_column(row->table, str_of(column));

    assert(i >= 0);
    return &row->values[i];
}

static bool is_enabled(const struct registry_row *row)
{
    const struct registry_value *enabled = value_in(row, "enabled");

    return !enabled->is_set || enabled->number != 0;
}

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

/* False when it has none: it is fired by hand. */
static bool read_schedule(const struct registry_row *row, struct schedule *schedule, bool *has,
                          struct error *err)
{
    const struct registry_value *every = value_in(row, "every_us");
    const struct registry_value *line = value_in(row, "cron");
    size_t fault_at;

    *has = every->is_set || line->is_set;
    if (every->is_set) {
        *schedule = (struct schedule){ .kind = SCHEDULE_EVERY, .every_us = every->number };
        return true;
    }
    schedule->kind = SCHEDULE_CRON;
    return !line->is_set || cron_parse(line->text, &schedule->cron, &fault_at, err);
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
                                          .random = fire->request->random };
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
    const struct plan_request replay = gaps_replay(request, gap);
    struct schedule_fired fired = { .source = request->source,
                                    .operation = replay.operation,
                                    .tick_us = tick_us,
                                    .is_gap = true,
                                    .gap = gap };
    struct plan_result result;
    struct error err = { 0 };

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

static void fire_operation(struct fire *fire, struct str source, const struct registry_row *row)
{
    struct schedule schedule = { 0 };
    int64_t last_us, tick_us = 0;
    bool has = false, found;
    struct error err = { 0 };

    if (!read_schedule(row, &schedule, &has, &err) ||
        (has && !store_tick_last(fire->store, source, row->key, &last_us, &found, &err))) {
        report(fire,
               &(struct schedule_fired){
                   .source = source, .operation = row->key, .tick_us = tick_us, .err = &err });
        return;
    }
    if (!has)
        return;
    note_next(fire, &schedule);
    if (schedule_due(&schedule, found ? last_us : row->effective_from_us, fire->request->now_us,
                     &tick_us) &&
        fire_tick(fire, source, row->key, tick_us) &&
        source_operation_code(row) == OPERATION_HARVEST)
        replay_gaps(fire, source, row->key, tick_us);
}

/* ---- one source ---- */

static struct str endpoint_of(const struct registry_row *row)
{
    const struct registry_value *target = value_in(row, "target_endpoint");

    return target->is_set ? target->text : (struct str){ 0 };
}

bool schedule_is_enabled(const struct source *source)
{
    const struct registry_row *row = source_row(source, REGISTRY_PROVENANCE, STR(""), STR(""));

    return row == NULL || is_enabled(row);
}

static bool fire_source(struct fire *fire, struct str code, const struct pause_list *pauses,
                        struct error *err)
{
    const struct registry_row *row = NULL;
    struct source source;

    arena_reset(&fire->source);
    if (!source_load(fire->store, &fire->source, code, fire->request->now_us, &source, err))
        return false;
    if (!schedule_is_enabled(&source))
        return true;
    while ((row = source_next_operation(&source, row)) != NULL) {
        if (is_enabled(row) && !pause_list_has(pauses, code, endpoint_of(row)))
            fire_operation(fire, code, row);
    }
    return true;
}

static bool fire_all(struct fire *fire, struct error *err)
{
    struct registry_entry_list sources;
    struct pause_list pauses;

    if (!store_registry_list(fire->store, &fire->list, fire->request->now_us, &sources, err) ||
        !store_pause_list(fire->store, &fire->list, STR(""), &pauses, err))
        return false;
    for (size_t i = 0; i < sources.count; i++) {
        if (!fire_source(fire, sources.items[i].code, &pauses, err))
            return false;
    }
    return true;
}

bool schedule_fire_due(struct store *store, const struct schedule_fire_request *request,
                       struct schedule_fire_result *result, struct error *err)
{
    struct fire fire = { .store = store, .request = request, .result = result };
    bool ok;

    *result = (struct schedule_fire_result){ 0 };
    arena_init(&fire.list, FIRE_ARENA_MAX);
    arena_init(&fire.source, FIRE_ARENA_MAX);
    arena_init(&fire.plan, FIRE_ARENA_MAX);
    ok = fire_all(&fire, err);
    arena_release(&fire.plan);
    arena_release(&fire.source);
    arena_release(&fire.list);
    return ok || error_wrap(err, "fire schedules");
}

/* ---- for people ---- */

bool schedule_view(struct store *store, struct arena *arena, const struct source *source,
                   int64_t now_us, struct schedule_view_list *list, struct error *err)
{
    const struct registry_row *row = NULL;

    *list = (struct schedule_view_list){ 0 };
    if (!schedule_is_enabled(source))
        return true;
    while ((row = source_next_operation(source, row)) != NULL) {
        struct schedule schedule = { 0 };
        struct schedule_view *view;
        int64_t since_us, tick_us;
        bool has = false;

        if (!is_enabled(row))
            continue;
        if (!read_schedule(row, &schedule, &has, err))
            return false;
        if (!has)
            continue;
        view = LIST_ADD(arena, list);
        if (view == NULL)
            return arena_error(arena, err);
        view->operation = row->key;
        view->endpoint = endpoint_of(row);
        if (!store_tick_last(store, source->registry.code, row->key, &view->last_us,
                             &view->has_last, err))
            return false;
        since_us = view->has_last ? view->last_us : row->effective_from_us;
        view->is_due = schedule_due(&schedule, since_us, now_us, &tick_us) &&
                       schedule_next(&schedule, since_us, &view->due_us);
        view->has_next = schedule_next(&schedule, now_us, &view->next_us);
        if (view->has_next && schedule_next(&schedule, view->next_us, &tick_us))
            view->period_us = tick_us - view->next_us;
    }
    return true;
}
