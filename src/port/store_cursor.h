/* store_cursor: the cursor of each namespace, and the events that record its moves.
 *
 * The event is written first; then the current value moves, by compare-and-set and only forward.
 * They may be written in one transaction or in two: the value can be rebuilt from the events at any
 * time.
 */
#ifndef PATRA_PORT_STORE_CURSOR_H
#define PATRA_PORT_STORE_CURSOR_H

#include "core/codes.h"
#include "core/cursor.h"
#include "core/window.h"
#include "port/store.h"
#include "port/store_lineage.h"

struct cursor_name {
    struct str source;
    enum operation operation;
    struct str cursor_key;
    enum namespace_scope scope;
    struct str namespace_key;
};

struct cursor {
    int64_t id; /* 0: there is none yet */
    struct cursor_name name;
    struct cursor_value value;
    struct str observed_max; /* the furthest value seen, for lag; '' = unknown */
    struct lineage lineage;  /* of the last move */
    struct str expr_hash;
    int64_t version; /* +1 per move */
    int64_t updated_us;
};

struct cursor_name_list {
    struct cursor_name *items;
    size_t count;
};

struct cursor_list {
    struct cursor *items;
    size_t count;
};

struct cursor_move {
    struct cursor_value to;
    struct str observed_max; /* '' keeps what is there */
    struct lineage lineage;
    struct str expr_hash;
    int64_t now_us;
};

struct cursor_event {
    int64_t id;
    struct cursor_name name;
    enum direction direction;
    enum cursor_event_reason reason;
    bool has_prev; /* false: the event that starts the cursor */
    struct cursor_value prev;
    struct cursor_value next;
    struct window window; /* not valid for ID and TOKEN */
    struct str observed_max;
    struct str idempotent_key;
    struct lineage lineage;
    struct str expr_hash;
    struct str remarks; /* JSON */
    int64_t created_us;
};

struct cursor_event_list {
    struct cursor_event *items;
    size_t count;
};

struct store_cursor_ops {
    bool (*load)(struct store *store, struct arena *arena, const struct cursor_name *name,
                 struct cursor *cursor, bool *found, struct error *err);
    bool (*list)(struct store *store, struct arena *arena, struct str source,
                 struct cursor_list *list, struct error *err);
    bool (*names)(struct store *store, struct arena *arena, struct str source,
                  struct cursor_name_list *list, struct error *err);
    bool (*move)(struct store *store, const struct cursor *cursor, const struct cursor_move *move,
                 bool *moved, struct error *err);
    bool (*set)(struct store *store, const struct cursor *cursor, const struct cursor_move *move,
                bool *moved, struct error *err);
    bool (*observe)(struct store *store, const struct cursor *cursor, struct str observed_max,
                    struct error *err);
    bool (*event_add)(struct store *store, const struct cursor_event *event, bool *added,
                      struct error *err);
    bool (*event_list)(struct store *store, struct arena *arena, const struct cursor_name *name,
                       struct store_page page, struct cursor_event_list *list, struct error *err);
    bool (*event_last)(struct store *store, struct arena *arena, const struct cursor_name *name,
                       int64_t limit, struct cursor_event_list *list, struct error *err);
};

/* The value as the column cursor_value holds it: an instant in ISO 8601, digits without leading
 * zeros, or the token. `text` is used for instants. */
static inline struct str cursor_value_text(const struct cursor_value *value,
                                           char text[INSTANT_TEXT_MAX])
{
    switch (value->type) {
    case CURSOR_TIME:
        return (struct str){ text, instant_format(value->instant_us, text) };
    case CURSOR_ID:
        return cursor_id_normal(value->text);
    case CURSOR_TOKEN:
        break;
    }
    return value->text;
}

/* When there is none, *cursor has only its name set and id 0, ready for store_cursor_move(). */
static inline bool MUST_CHECK store_cursor_load(struct store *store, struct arena *arena,
                                                const struct cursor_name *name,
                                                struct cursor *cursor, bool *found,
                                                struct error *err)
{
    return store->cursor->load(store, arena, name, cursor, found, err);
}

/* By name; source '' lists all. */
static inline bool MUST_CHECK store_cursor_list(struct store *store, struct arena *arena,
                                                struct str source, struct cursor_list *list,
                                                struct error *err)
{
    return store->cursor->list(store, arena, source, list, err);
}

/* Every namespace that has a cursor or events, by name; source '' lists all. */
static inline bool MUST_CHECK store_cursor_names(struct store *store, struct arena *arena,
                                                 struct str source, struct cursor_name_list *list,
                                                 struct error *err)
{
    return store->cursor->names(store, arena, source, list, err);
}

/* Moves the cursor as it was loaded, or creates it when it has id 0. *moved is false, and nothing
 * is written, when another session has moved or created it since, or when the value would not go
 * forward: the store compares TIME and ID itself. The type must be the cursor's own. L2 when an ID
 * is not valid (cursor_id_is_valid). */
static inline bool MUST_CHECK store_cursor_move(struct store *store, const struct cursor *cursor,
                                                const struct cursor_move *move, bool *moved,
                                                struct error *err)
{
    if (move->to.type == CURSOR_ID && !cursor_id_is_valid(move->to.text))
        return error_set(err, ERROR_REQUEST, "store.value", "'%.*s' is not a cursor of type ID",
                         STR_ARG(move->to.text));
    return store->cursor->move(store, cursor, move, moved, err);
}

/* The same, also backward: for a reset, and for rebuilding a value from its events. A cursor that
 * is created begins at cursor->version + 1: a row that was lost must not repeat a version. */
static inline bool MUST_CHECK store_cursor_set(struct store *store, const struct cursor *cursor,
                                               const struct cursor_move *move, bool *moved,
                                               struct error *err)
{
    if (move->to.type == CURSOR_ID && !cursor_id_is_valid(move->to.text))
        return error_set(err, ERROR_REQUEST, "store.value", "'%.*s' is not a cursor of type ID",
                         STR_ARG(move->to.text));
    return store->cursor->set(store, cursor, move, moved, err);
}

/* Writes only the observed_max of an existing cursor: what has been seen while the cursor is held
 * back. The cursor does not move and keeps its version. Only the caller knows which of two texts is
 * further, so it must hold the namespace's lock. */
static inline bool MUST_CHECK store_cursor_observe(struct store *store, const struct cursor *cursor,
                                                   struct str observed_max, struct error *err)
{
    assert(cursor->id > 0);
    return store->cursor->observe(store, cursor, observed_max, err);
}

/* *added is false when an event with this idempotent_key already exists. */
static inline bool MUST_CHECK store_cursor_event_add(struct store *store,
                                                     const struct cursor_event *event, bool *added,
                                                     struct error *err)
{
    if (event->next.type == CURSOR_ID &&
        (!cursor_id_is_valid(event->next.text) ||
         (event->has_prev && !cursor_id_is_valid(event->prev.text))))
        return error_set(err, ERROR_REQUEST, "store.value", "'%.*s' is not a cursor of type ID",
                         STR_ARG(event->next.text));
    return store->cursor->event_add(store, event, added, err);
}

/* The events of a namespace by id, from the first above page.after. */
static inline bool MUST_CHECK store_cursor_event_list(struct store *store, struct arena *arena,
                                                      const struct cursor_name *name,
                                                      struct store_page page,
                                                      struct cursor_event_list *list,
                                                      struct error *err)
{
    return store->cursor->event_list(store, arena, name, page, list, err);
}

/* The newest events of a namespace, the newest first. */
static inline bool MUST_CHECK store_cursor_event_last(struct store *store, struct arena *arena,
                                                      const struct cursor_name *name, int64_t limit,
                                                      struct cursor_event_list *list,
                                                      struct error *err)
{
    return store->cursor->event_last(store, arena, name, limit, list, err);
}

#endif
