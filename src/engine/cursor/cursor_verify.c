/* Replays events page by page and compares the result with the value. */
#include "engine/cursor/cursor_verify.h"

#include "engine/cursor/cursor_event.h"

enum { EVENTS_PER_PAGE = 500, PAGE_BYTES = 32 << 20 };

/* ---- replay ---- */

static bool fold_page(const struct cursor_event_list *page, struct cursor_fold *fold,
                      struct error *err)
{
    for (size_t i = 0; i < page->count; i++) {
        const struct cursor_event *event = &page->items[i];
        const struct cursor_value *prev = event->has_prev ? &event->prev : NULL;

        if (fold->event_count == 0)
            cursor_fold_init(fold, event->next.type);
        if (event->next.type != fold->type)
            return error_set(err, ERROR_FATAL, "cursor.type",
                             "its events are of type %.*s and %.*s",
                             STR_ARG(code_of(&CURSOR_TYPE_CODES, (int)fold->type)),
                             STR_ARG(code_of(&CURSOR_TYPE_CODES, (int)event->next.type)));
        if (event->reason == CURSOR_EVENT_RESET)
            cursor_fold_reset(fold, prev, &event->next);
        else
            cursor_fold_add(fold, prev, &event->next);
    }
    return true;
}

static bool replay(struct store *store, const struct cursor_name *name, struct cursor_fold *fold,
                   struct error *err)
{
    struct store_page page = { .limit = EVENTS_PER_PAGE };
    struct cursor_event_list events;
    struct arena arena;
    bool ok = true;

    arena_init(&arena, PAGE_BYTES);
    do {
        arena_reset(&arena); /* the last page is freed here */
        ok = store_cursor_event_list(store, &arena, name, page, &events, err) &&
             fold_page(&events, fold, err);
        if (ok && events.count > 0)
            page.after = events.items[events.count - 1].id;
    } while (ok && events.count == EVENTS_PER_PAGE);
    arena_release(&arena);
    return ok;
}

static bool check_one(struct store *store, struct arena *arena, const struct cursor_name *name,
                      struct cursor_check *check, struct error *err)
{
    struct cursor_fold fold;
    struct cursor_value value;

    cursor_fold_init(&fold, CURSOR_TIME);
    *check = (struct cursor_check){ .name = *name };
    if (!store_cursor_load(store, arena, name, &check->cursor, &check->has_cursor, err) ||
        !replay(store, name, &fold, err))
        return error_wrap(err, "check the cursor %.*s of %.*s", STR_ARG(name->cursor_key),
                          STR_ARG(name->source));
    check->has_replay = cursor_fold_value(&fold, &value);
    check->replay = value;
    check->replay.text = arena_copy(arena, value.text);
    check->events = fold.event_count;
    check->no_forward = fold.no_forward_count;
    check->resets = fold.reset_count;
    check->gaps = fold.gap_count;
    check->agrees = cursor_fold_agrees(&fold, check->has_cursor ? &check->cursor.value : NULL);
    return check->replay.text.data != NULL || arena_error(arena, err);
}

/* ---- all of them ---- */

static bool check_all(struct store *store, struct arena *arena, struct str source,
                      struct cursor_check_list *list, struct error *err)
{
    struct cursor_name_list names;

    if (!store_cursor_names(store, arena, source, &names, err))
        return false;
    list->items = ARENA_ARRAY(arena, struct cursor_check, names.count);
    if (list->items == NULL)
        return arena_error(arena, err);
    for (; list->count < names.count; list->count++) {
        if (!check_one(store, arena, &names.items[list->count], &list->items[list->count], err))
            return false;
    }
    return true;
}

bool cursor_verify(struct store *store, struct arena *arena, struct str source,
                   struct cursor_check_list *list, struct error *err)
{
    bool ok;

    *list = (struct cursor_check_list){ 0 };
    if (!store_begin_read(store, err))
        return false;
    ok = check_all(store, arena, source, list, err);
    store_rollback(store);
    return ok;
}

bool cursor_verify_one(struct store *store, struct arena *arena, const struct cursor_name *name,
                       struct cursor_check *check, struct error *err)
{
    bool ok;

    if (!store_begin_read(store, err))
        return false;
    ok = check_one(store, arena, name, check, err);
    store_rollback(store);
    return ok;
}

/* ---- rebuilding ---- */

static bool rebuild(struct store *store, struct arena *arena, const struct cursor_name *name,
                    int64_t now_us, struct cursor_check *check, struct error *err)
{
    struct cursor cursor;
    struct cursor_move move;
    bool moved;

    if (!cursor_lock(store, name, err) || !check_one(store, arena, name, check, err))
        return false;
    if (!check->has_replay)
        return error_set(err, ERROR_REQUEST, "cursor.no_events",
                         "the cursor %.*s of %.*s has no events to rebuild it from; patra cursor "
                         "reset sets it",
                         STR_ARG(name->cursor_key), STR_ARG(name->source));
    if (check->agrees)
        return true;
    cursor = check->cursor;
    if (!check->has_cursor) {
        cursor.name = *name;
        cursor.version = check->events; /* at least as many as there were versions */
    }
    move = (struct cursor_move){ .to = check->replay,
                                 .lineage = cursor.lineage,
                                 .expr_hash = cursor.expr_hash,
                                 .now_us = now_us };
    if (!store_cursor_set(store, &cursor, &move, &moved, err))
        return false;
    return moved || error_set(err, ERROR_TRANSIENT, "cursor.conflict",
                              "the cursor %.*s of %.*s moved meanwhile", STR_ARG(name->cursor_key),
                              STR_ARG(name->source));
}

bool cursor_rebuild(struct store *store, struct arena *arena, const struct cursor_name *name,
                    int64_t now_us, struct cursor_check *check, struct error *err)
{
    if (!store_begin(store, err))
        return false;
    if (rebuild(store, arena, name, now_us, check, err) && store_commit(store, err))
        return true;
    store_rollback(store);
    return error_wrap(err, "rebuild a cursor");
}
