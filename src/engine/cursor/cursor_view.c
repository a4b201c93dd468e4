#include "engine/cursor/cursor_view.h"

#include "core/coverage.h"
#include "data/date.h"
#include "engine/cursor/cursor_event.h"
#include "engine/plan_coverage.h"

static bool view_coverage(struct store *store, struct arena *arena, struct cursor_view *view,
                          struct error *err)
{
    const struct coverage_namespace of = cursor_namespace(&view->cursor.name);
    const struct plan plan = { .source = of.source,
                               .endpoint = of.endpoint,
                               .operation = of.operation,
                               .cursor_key = of.cursor_key,
                               .scope = of.scope,
                               .namespace_key = of.namespace_key };
    const int64_t at_us = view->cursor.value.instant_us;
    struct coverage_list list;
    struct task_list holders;

    if (!plan_coverage(store, arena, &plan, SLICE_TIME, at_us, &list, err) ||
        !coverage_of(arena, list.covered, &view->beyond, err) ||
        !store_coverage_tasks(store, arena, &of, (struct window){ at_us, at_us + 1 }, 1, &holders,
                              err))
        return false;
    view->has_holder = holders.count > 0;
    if (view->has_holder)
        view->holder = holders.items[0];
    return true;
}

bool cursor_view(struct store *store, struct arena *arena, const struct cursor *cursor,
                 int64_t events, struct cursor_view *view, struct error *err)
{
    *view = (struct cursor_view){ .cursor = *cursor };
    return cursor_way(store, arena, cursor, &view->way, err) &&
           (cursor->value.type != CURSOR_TIME || view_coverage(store, arena, view, err)) &&
           store_cursor_event_last(store, arena, &cursor->name, events, &view->events, err);
}

bool cursor_campaign_end(struct store *store, struct arena *arena, const struct cursor_name *name,
                         bool *has_end, int64_t *end_us, struct error *err)
{
    struct cursor_event_list events;

    if (!store_cursor_event_list(store, arena, name, 0, 1, &events, err))
        return false;
    *has_end = events.count > 0 && window_is_valid(events.items[0].window);
    if (*has_end)
        *end_us = events.items[0].window.to_us;
    return true;
}

bool cursor_way(struct store *store, struct arena *arena, const struct cursor *cursor,
                struct cursor_way *way, struct error *err)
{
    struct error unread;
    struct date seen;

    *way = (struct cursor_way){ .is_campaign = cursor->name.operation == OPERATION_BACKFILL };
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
