/* store_pause: sources and endpoints for which no tasks may run: PAUSED by a person, STOPPED by a
 * fatal error. A pause is a row, so it survives a restart; each kind is removed separately.
 */
#ifndef PATRA_PORT_STORE_PAUSE_H
#define PATRA_PORT_STORE_PAUSE_H

#include "core/codes.h"
#include "port/store.h"

struct pause {
    struct str source;
    struct str endpoint; /* '' = the whole source */
    enum pause_kind kind;
    struct str reason;
    struct str created_by;
    int64_t created_us;
};

struct pause_list {
    struct pause *items;
    size_t count;
};

struct store_pause_ops {
    bool (*add)(struct store *store, const struct pause *pause, bool *added, struct error *err);
    bool (*remove)(struct store *store, struct str source, struct str endpoint,
                   enum pause_kind kind, bool *removed, struct error *err);
    bool (*list)(struct store *store, struct arena *arena, struct str source,
                 struct pause_list *list, struct error *err);
};

/* *added is false when a pause of this kind already exists; it keeps its reason. */
static inline bool MUST_CHECK store_pause_add(struct store *store, const struct pause *pause,
                                              bool *added, struct error *err)
{
    return store->pause->add(store, pause, added, err);
}

static inline bool MUST_CHECK store_pause_remove(struct store *store, struct str source,
                                                 struct str endpoint, enum pause_kind kind,
                                                 bool *removed, struct error *err)
{
    return store->pause->remove(store, source, endpoint, kind, removed, err);
}

/* By source, endpoint and kind; source '' lists all. */
static inline bool MUST_CHECK store_pause_list(struct store *store, struct arena *arena,
                                               struct str source, struct pause_list *list,
                                               struct error *err)
{
    return store->pause->list(store, arena, source, list, err);
}

/* True when the list holds a pause of the source or of this endpoint. */
static inline bool pause_list_has(const struct pause_list *list, struct str source,
                                  struct str endpoint)
{
    for (size_t i = 0; i < list->count; i++) {
        if (str_eq(list->items[i].source, source) &&
            (list->items[i].endpoint.len == 0 || str_eq(list->items[i].endpoint, endpoint)))
            return true;
    }
    return false;
}

#endif
