/* store_expr: what an expr_hash stands for, and the records that have it.
 *
 * A record has the hash of the expression that read it (port/store_record.h): a query, which
 * fetched it, and a mapping, which read it. When the mapping changes, its payload is read again:
 *
 *      store_expr_records()    a page of records of one expression, with payloads
 *      ... the caller reads each by the new mapping ...
 *      store_expr_write()      the new expression; where something visible changed, a new version
 *                              and its event
 *
 * The write is a compare-and-set of version and expression. Payload, lineage and the instants of
 * observing and checking stay. Tombstones are left alone.
 */
#ifndef PATRA_PORT_STORE_EXPR_H
#define PATRA_PORT_STORE_EXPR_H

#include "port/store_record.h"

struct expr {
    struct str expr_hash; /* of the two hashes below */
    struct str source;
    struct str endpoint; /* whose responses are the records */
    struct str query_hash;
    struct str mapping_hash;
    struct str snapshot; /* JSON; reads records by this mapping */
    int64_t created_us;
};

struct expr_page {
    struct str source;
    struct str endpoint; /* under which the records are stored */
    struct str expr_hash;
    int64_t after_id;
    int64_t limit;
};

struct stored_record_list {
    struct stored_record *items;
    size_t count;
};

struct record_reading {
    int64_t was;                 /* its version as it was read */
    struct record_change change; /* record.version is `was` where nothing visible changed: no event;
                                    else one more. The payload is not written. */
};

struct expr_write {
    struct str old_hash; /* that the records have */
    struct str new_hash;
    const struct record_reading *readings; /* by id */
    size_t count;
};

struct store_expr_ops {
    bool (*add)(struct store *store, const struct expr *expr, struct error *err);
    bool (*get)(struct store *store, struct arena *arena, struct str expr_hash, struct expr *expr,
                bool *found, struct error *err);
    bool (*records)(struct store *store, struct arena *arena, const struct expr_page *page,
                    struct stored_record_list *list, struct error *err);
    bool (*write)(struct store *store, const struct expr_write *write, bool *written,
                  struct error *err);
};

/* Does nothing where the hash is known: it can only stand for the same. */
static inline bool MUST_CHECK store_expr_add(struct store *store, const struct expr *expr,
                                             struct error *err)
{
    return store->expr->add(store, expr, err);
}

static inline bool MUST_CHECK store_expr_get(struct store *store, struct arena *arena,
                                             struct str expr_hash, struct expr *expr, bool *found,
                                             struct error *err)
{
    return store->expr->get(store, arena, expr_hash, expr, found, err);
}

/* Records that are not deleted, by id, from the first above page.after_id. */
static inline bool MUST_CHECK store_expr_records(struct store *store, struct arena *arena,
                                                 const struct expr_page *page,
                                                 struct stored_record_list *list, struct error *err)
{
    return store->expr->records(store, arena, page, list, err);
}

/* *written is false when a record has another version or expression by now: the transaction must
 * then be rolled back. */
static inline bool MUST_CHECK store_expr_write(struct store *store, const struct expr_write *write,
                                               bool *written, struct error *err)
{
    assert(store->state == STORE_WRITING);
    return store->expr->write(store, write, written, err);
}

#endif
