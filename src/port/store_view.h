/* store_view: the views of records that other programs read (docs/reading.md), one per endpoint.
 *
 * They are the only part of the database's schema that depends on sources, and are changed in the
 * transaction that puts a source into force, so that a view always shows the fields of the source
 * in force. ing_view has their names: a name stays with its endpoint.
 */
#ifndef PATRA_PORT_STORE_VIEW_H
#define PATRA_PORT_STORE_VIEW_H

#include "core/record_view.h"
#include "port/store.h"

struct store_view_ops {
    bool (*set)(struct store *store, struct arena *arena, struct str source,
                const struct record_view_list *views, struct error *err);
};

/* Makes these the views of the source: makes those that are missing, replaces those that differ and
 * drops all others. One that is right is not touched, so that nobody waits for its readers. Other
 * sources wait until this transaction ends. On PostgreSQL, privileges that were granted on a view
 * are kept. */
static inline bool MUST_CHECK store_view_set(struct store *store, struct arena *arena,
                                             struct str source,
                                             const struct record_view_list *views,
                                             struct error *err)
{
    assert(store->state == STORE_WRITING);
    return store_lock(store, STR("ing_view"), err) &&
           store->view->set(store, arena, source, views, err);
}

#endif
