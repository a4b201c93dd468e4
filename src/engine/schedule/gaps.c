/* What a cursor has passed, less what is covered, skipped or replayed. */
#include "engine/schedule/gaps.h"

#include "base/instant.h"
#include "base/list.h"
#include "core/coverage.h"
#include "engine/coverage/coverage.h"
#include "engine/plan/place.h"

enum { EVENTS_MAX = 1000 }; /* the newest, among which resets are looked for */

/* Covered or under way, from an instant on. */
static bool load_held(struct store *store, struct arena *arena, const struct plan_place *place,
                      int64_t after_us, struct window_list *held, struct error *err)
{
    const struct coverage_query query = { place->of, place->dimension, after_us };
    struct window_list live;
    struct coverage_list list;

    return coverage_load(store, arena, &query, &list, err) &&
           coverage_of(arena, list.covered, held, err) &&
           coverage_of(arena, list.live, &live, err) &&
           coverage_union(arena, *held, live, held, err);
}

/* What a person has skipped. */
static bool load_skipped(struct store *store, struct arena *arena, const struct cursor_name *name,
                         struct window_list *skipped, struct error *err)
{
    struct window_list all = { 0 };
    struct cursor_event_list events;
    struct window *window;

    if (!store_cursor_event_last(store, arena, name, EVENTS_MAX, &events, err))
        return false;
    for (size_t i = 0; i < events.count; i++) {
        const struct cursor_event *event = &events.items[i];

        if (event->reason != CURSOR_EVENT_RESET || !event->has_prev ||
            event->next.instant_us <= event->prev.instant_us)
            continue;
        window = LIST_ADD(arena, &all);
        if (window == NULL)
            return arena_error(arena, err);
        *window = (struct window){ event->prev.instant_us, event->next.instant_us };
    }
    return coverage_of(arena, all, skipped, err);
}

/* Between the first task that is known and the cursor: what was before it is history that may have
 * been removed. */
static bool find_passed(struct store *store, struct arena *arena, const struct plan_place *place,
                        struct window_list *gaps, struct error *err)
{
    const int64_t to_us = place->cursor.value.instant_us;
    struct window_list held, skipped;
    struct window within;

    *gaps = (struct window_list){ 0 };
    if (!load_held(store, arena, place, to_us - GAPS_SPAN_US, &held, err))
        return false;
    if (held.count == 0 || held.items[0].from_us >= to_us)
        return true;
    within = (struct window){ held.items[0].from_us, to_us };
    return load_skipped(store, arena, &place->cursor.name, &skipped, err) &&
           coverage_union(arena, held, skipped, &held, err) &&
           coverage_gaps(arena, held, within, gaps, err);
}

struct plan_request gaps_replay(const struct gaps_request *request, struct window gap)
{
    return (struct plan_request){
        .source = request->source,
        .operation = STR("replay"),
        .now_us = request->now_us,
        .trigger = TRIGGER_SCHEDULE,
        .job_id = STR(GAPS_CAMPAIGN),
        .from = { true, gap.from_us },
        .to = { true, gap.to_us },
        .campaign = STR(GAPS_CAMPAIGN),
        .specs = request->specs,
        .secrets = request->secrets,
    };
}

/* Less what the campaign has covered or under way. Its replays are of the same endpoint, or there
 * is none for this harvest. */
static bool subtract_replays(struct store *store, struct arena *arena,
                             const struct gaps_request *request, const struct plan_place *place,
                             struct window_list *gaps, struct error *err)
{
    const struct plan_request replay = gaps_replay(request, gaps->items[0]);
    struct plan_place campaign;
    struct window_list held;

    if (!plan_place(store, arena, &replay, &campaign, err))
        return false;
    if (!str_eq(campaign.of.endpoint, place->of.endpoint))
        return error_set(err, ERROR_REQUEST, "plan.request",
                         "the source's replay is of endpoint %.*s, not of %.*s",
                         STR_ARG(campaign.of.endpoint), STR_ARG(place->of.endpoint));
    return load_held(store, arena, &campaign, gaps->items[0].from_us, &held, err) &&
           coverage_subtract(arena, *gaps, held, gaps, err);
}

bool gaps_find(struct store *store, struct arena *arena, const struct gaps_request *request,
               struct window_list *gaps, struct error *err)
{
    const struct plan_request harvest = { .source = request->source,
                                          .operation = request->operation,
                                          .now_us = request->now_us,
                                          .specs = request->specs,
                                          .secrets = request->secrets };
    struct plan_place place;

    *gaps = (struct window_list){ 0 };
    if (!plan_place(store, arena, &harvest, &place, err))
        return false;
    if (place.of.operation != OPERATION_HARVEST || !place.has_cursor ||
        place.cursor.value.type != CURSOR_TIME)
        return true;
    if (!find_passed(store, arena, &place, gaps, err))
        return false;
    if (gaps->count > 0 && !subtract_replays(store, arena, request, &place, gaps, err))
        return false;
    if (gaps->count > GAPS_MAX)
        gaps->count = GAPS_MAX;
    return true;
}
