/* Reads what surrounds a cursor: coverage, the task that holds it back, events. */
#include "engine/cursor/cursor_view.h"

#include "base/instant.h"
#include "core/coverage.h"
#include "data/date.h"
#include "engine/coverage/coverage.h"
#include "engine/cursor/cursor_event.h"
#include "engine/cursor/cursor_members.h"

enum { LOOKS_MAX = 200 }; /* tasks before the cursor that are looked through, the newest first */

/* The last task for the cursor's instant; or of the last ones before it the first that has not
 * succeeded. */
static bool find_holder(struct store *store, struct arena *arena,
                        const struct coverage_namespace *of, struct cursor_view *view,
                        struct error *err)
{
    const int64_t at_us = view->cursor.value.instant_us;
    const struct window place = { view->looks_back ? INSTANT_MIN : at_us,
                                  view->looks_back ? at_us : at_us + 1 };
    struct task_list tasks;

    if (!store_coverage_tasks(store, arena,
                              &(struct window_query){ .of = of,
                                                      .window = place,
                                                      .limit = view->looks_back ? LOOKS_MAX : 1 },
                              &tasks, err))
        return false;
    for (size_t i = 0; i < tasks.count && !view->has_holder; i++) {
        view->holder = tasks.items[i];
        view->has_holder = !view->looks_back || tasks.items[i].status != TASK_SUCCEEDED;
    }
    return true;
}

static bool view_endpoint(struct store *store, struct arena *arena,
                          const struct coverage_namespace *of, struct cursor_view *view,
                          struct error *err)
{
    const int64_t at_us = view->cursor.value.instant_us;
    const struct coverage_query query = { *of, SLICE_TIME, at_us };
    struct coverage_list list;

    if (!coverage_load(store, arena, &query, &list, err) ||
        !coverage_of(arena, list.covered, &view->beyond, err))
        return false;
    view->looks_back = view->beyond.count > 0 && view->beyond.items[0].from_us <= at_us;
    return find_holder(store, arena, of, view, err);
}

/* Of endpoints that share the cursor, the first that has not covered its instant. */
static bool view_coverage(struct store *store, struct arena *arena, struct cursor_view *view,
                          struct error *err)
{
    struct coverage_namespace of = cursor_namespace(&view->cursor.name);
    struct endpoint_list members;

    if (!cursor_members(store, arena, &of, (struct cursor_sharing){ 0 }, &members, err))
        return false;
    for (size_t i = 0; i < members.count; i++) {
        of.endpoint = members.items[i];
        view->has_holder = false;
        if (!view_endpoint(store, arena, &of, view, err))
            return false;
        if (!view->looks_back)
            break;
    }
    return true;
}

/* A feed has one task at a time. */
static bool view_feed(struct store *store, struct arena *arena, struct cursor_view *view,
                      struct error *err)
{
    const struct coverage_namespace of = cursor_namespace(&view->cursor.name);
    bool found;

    if (!store_task_last(store, arena, &of, &view->holder, &found, err))
        return false;
    view->has_holder = found && view->holder.status != TASK_SUCCEEDED;
    return true;
}

bool cursor_view(struct store *store, struct arena *arena, const struct cursor *cursor,
                 int64_t events, struct cursor_view *view, struct error *err)
{
    *view = (struct cursor_view){ .cursor = *cursor };
    return cursor_way(store, arena, cursor, &view->way, err) &&
           (cursor->value.type == CURSOR_TIME ? view_coverage(store, arena, view, err)
                                              : view_feed(store, arena, view, err)) &&
           store_cursor_event_last(store, arena, &cursor->name, events, &view->events, err);
}

bool cursor_campaign_end(struct store *store, struct arena *arena, const struct cursor_name *name,
                         bool *has_end, int64_t *end_us, struct error *err)
{
    struct cursor_event_list events;

    if (!store_cursor_event_list(store, arena, name, (struct store_page){ .limit = 1 }, &events,
                                 err))
        return false;
    *has_end = events.count > 0 && window_is_valid(events.items[0].window);
    if (*has_end)
        *end_us = events.items[0].window.to_us;
    return true;
}

/* Ids beyond 64 bits are not counted. */
static void find_ids(const struct cursor *cursor, struct cursor_way *way)
{
    int64_t at, latest;

    way->has_ids = str_to_i64(cursor->value.text, &at) && str_to_i64(cursor->observed_max, &latest);
    if (way->has_ids && latest > at)
        way->left_ids = latest - at;
}

bool cursor_way(struct store *store, struct arena *arena, const struct cursor *cursor,
                struct cursor_way *way, struct error *err)
{
    struct error unread;
    struct date seen;

    *way = (struct cursor_way){ .is_campaign = cursor->name.operation == OPERATION_BACKFILL };
    if (cursor->value.type == CURSOR_ID)
        find_ids(cursor, way);
    if (cursor->value.type != CURSOR_TIME)
        return true;
    if (way->is_campaign) {
        if (!cursor_campaign_end(store, arena, &cursor->name, &way->is_known, &way->end_us, err))
            return false;
        way->left_us = way->end_us - cursor->value.instant_us;
    } else {
        way->is_known =
            cursor->observed_max.len > 0 &&
            date_parse(date_format_find(STR("rfc3339")), cursor->observed_max, &seen, &unread);
        if (way->is_known)
            way->left_us = seen.at_us - cursor->value.instant_us;
    }
    if (way->left_us < 0)
        way->left_us = 0;
    return true;
}
