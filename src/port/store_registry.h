/* store_registry: the reg_* rows of a source, each with the time during which it is in force.
 *
 * A row is never changed: it is closed, and another one opened. So the source can be loaded as it
 * was at any earlier instant.
 *
 *      apply:  begin; lock; load (now); compare; close what changed, insert what is new; commit
 */
#ifndef PATRA_PORT_STORE_REGISTRY_H
#define PATRA_PORT_STORE_REGISTRY_H

#include "core/registry.h"
#include "port/store.h"

struct registry_entry { /* a source that is in force */
    struct str code;
    int64_t version;    /* the highest of its rows */
    int64_t changed_us; /* when the latest of its rows came into force */
};

struct registry_entry_list {
    struct registry_entry *items;
    size_t count;
};

struct registry_insert {
    struct str code;                /* of the source */
    const struct registry_row *row; /* its id, version and time are not read */
    int64_t at_us;                  /* in force from here on */
    int64_t version;
};

struct store_registry_ops {
    bool (*load)(struct store *store, struct arena *arena, struct str code, int64_t at_us,
                 struct registry_source *source, struct error *err);
    bool (*insert)(struct store *store, const struct registry_insert *insert, int64_t *id,
                   struct error *err);
    bool (*close)(struct store *store, enum registry_table_id table, int64_t id, int64_t at_us,
                  struct error *err);
    bool (*list)(struct store *store, struct arena *arena, int64_t at_us,
                 struct registry_entry_list *list, struct error *err);
    bool (*version)(struct store *store, struct str code, int64_t *version, struct error *err);
};

/* When two processes apply the same source, the second waits here until the first has finished. */
static inline bool MUST_CHECK store_registry_lock(struct store *store, struct str code,
                                                  struct error *err)
{
    return store_lock_named(store, err, "registry:%.*s", STR_ARG(code));
}

/* The rows in force at that instant (effective_from <= at < effective_to), by table, endpoint,
 * position and key. An unknown source has none. All rows are read as of one moment: outside a
 * transaction the call begins a reading one of its own. */
static inline bool MUST_CHECK store_registry_load(struct store *store, struct arena *arena,
                                                  struct str code, int64_t at_us,
                                                  struct registry_source *source, struct error *err)
{
    const bool owns_transaction = store->state == STORE_IDLE;

    if (owns_transaction && !store_begin_read(store, err))
        return false;
    return store_end_if_owned(store, owns_transaction,
                              store->registry->load(store, arena, code, at_us, source, err), err);
}

/* Opens a row; *id is its id. */
static inline bool MUST_CHECK store_registry_insert(struct store *store,
                                                    const struct registry_insert *insert,
                                                    int64_t *id, struct error *err)
{
    return store->registry->insert(store, insert, id, err);
}

/* Closes a row at at_us, which must be after its beginning. L2 when it is not in force. */
static inline bool MUST_CHECK store_registry_close(struct store *store,
                                                   enum registry_table_id table, int64_t id,
                                                   int64_t at_us, struct error *err)
{
    return store->registry->close(store, table, id, at_us, err);
}

/* The sources whose reg_provenance row is in force at that instant, by code. */
static inline bool MUST_CHECK store_registry_list(struct store *store, struct arena *arena,
                                                  int64_t at_us, struct registry_entry_list *list,
                                                  struct error *err)
{
    return store->registry->list(store, arena, at_us, list, err);
}

/* The highest version that any row of the source ever had, in force or not; 0: it had none. */
static inline bool MUST_CHECK store_registry_version(struct store *store, struct str code,
                                                     int64_t *version, struct error *err)
{
    return store->registry->version(store, code, version, err);
}

#endif
