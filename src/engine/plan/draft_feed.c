/* Where the plan of a feed begins: its cursor less the lookback, or the source's first id. A feed
 * has one task at a time, so that a trigger that finds one under way has nothing to do. */
#include "core/cursor.h"
#include "engine/plan/draft.h"

bool draft_is_feed(const struct plan_draft *draft)
{
    return draft->spec->operation.slice_by == SLICE_FEED;
}

static bool is_live(enum task_status status)
{
    return status == TASK_QUEUED || status == TASK_DISPATCHED || status == TASK_EXECUTING;
}

static bool find_live(struct store *store, struct arena *arena, const struct plan_draft *draft,
                      struct plan_feed *feed, struct error *err)
{
    const struct coverage_namespace of = plan_namespace(&draft->plan);
    struct task task;
    bool found;

    if (!store_task_last(store, arena, &of, &task, &found, err))
        return false;
    if (found && is_live(task.status))
        feed->live_task_id = task.id;
    return true;
}

static bool load_cursor(struct store *store, struct arena *arena, struct plan_draft *draft,
                        struct plan_feed *feed, struct error *err)
{
    const struct cursor_name name = { .source = draft->plan.source,
                                      .operation = draft->plan.operation,
                                      .cursor_key = draft->plan.cursor_key,
                                      .scope = draft->plan.scope,
                                      .namespace_key = draft->plan.namespace_key };
    bool found;

    if (!store_cursor_load(store, arena, &name, &draft->cursor, &found, err))
        return false;
    if (!found)
        return true;
    if (draft->cursor.value.type != feed->slice.type)
        return error_set(err, ERROR_FATAL, "plan.cursor", "the cursor %.*s is not of type %.*s",
                         STR_ARG(name.cursor_key),
                         STR_ARG(code_of(&CURSOR_TYPE_CODES, (int)feed->slice.type)));
    feed->slice.cursor = draft->cursor.value.text.len > 0 ? draft->cursor.value.text : STR("");
    feed->version = draft->cursor.version;
    feed->slice.has_bridge = draft->spec->endpoint.window.has_bridge;
    if (feed->slice.has_bridge)
        feed->slice.bridge_us = draft->cursor.updated_us - draft->spec->endpoint.window.bridge_us;
    return true;
}

/* The ids above this one are read; data NULL: all of them. */
static bool find_start(struct arena *arena, const struct spec_window *window,
                       struct slice_feed *slice, struct error *err)
{
    slice->after = slice->cursor;
    if (slice->type == CURSOR_TOKEN) {
        if (slice->after.len == 0) /* set by a person: everything again */
            slice->after = (struct str){ NULL, 0 };
        return true;
    }
    if (slice->after.data == NULL)
        slice->after = window->start_id.len > 0 ? arena_copy(arena, window->start_id)
                                                : (struct str){ NULL, 0 };
    else
        slice->after = cursor_id_minus(arena, slice->after, window->lookback_ids);
    return slice->after.data != NULL || (slice->cursor.data == NULL && window->start_id.len == 0) ||
           arena_error(arena, err);
}

bool draft_decide_feed(struct store *store, struct arena *arena, struct plan_draft *draft,
                       struct error *err)
{
    const struct spec_window *window = &draft->spec->endpoint.window;
    struct plan_feed *feed = &draft->feed;

    *feed = (struct plan_feed){ .slice = { .type = window->type },
                                .lookback_ids = window->lookback_ids };
    draft->decision = (struct window_decision){ .empty = WINDOW_EMPTY_NOT };
    draft->plan.window = (struct window){ 0 };
    if (!find_live(store, arena, draft, feed, err) || !load_cursor(store, arena, draft, feed, err))
        return false;
    return find_start(arena, window, &feed->slice, err);
}
