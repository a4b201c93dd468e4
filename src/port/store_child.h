/* store_child: for which parents the records of a child endpoint were fetched, and when.
 *
 * A child endpoint is requested for the ids of another endpoint's records. What comes back need not
 * name the parent, and may be nothing, so each fetch is kept by itself: a row per parent, written
 * in the transaction that stores its children.
 */
#ifndef PATRA_PORT_STORE_CHILD_H
#define PATRA_PORT_STORE_CHILD_H

#include "port/store_record.h"

struct child_fetch {
    bool is_found; /* false: never fetched */
    int64_t fetched_us;
    struct str expr_hash; /* of the expression that requested them */
};

struct store_child_ops {
    bool (*list)(struct store *store, struct arena *arena, const struct record_context *context,
                 struct record_ids parents, struct child_fetch *fetches, struct error *err);
    bool (*mark)(struct store *store, const struct record_context *context,
                 struct record_ids parents, struct error *err);
    bool (*forget)(struct store *store, struct str source, struct str endpoint, struct error *err);
};

/* fetches[i] is that of parents.items[i]. The context's endpoint is the children's. */
static inline bool MUST_CHECK store_child_list(struct store *store, struct arena *arena,
                                               const struct record_context *context,
                                               struct record_ids parents,
                                               struct child_fetch *fetches, struct error *err)
{
    return store->child->list(store, arena, context, parents, fetches, err);
}

/* The children of these were fetched at the context's observed_us, by its expr_hash. An earlier
 * fetch does not replace a later one. No parent may occur twice. */
static inline bool MUST_CHECK store_child_mark(struct store *store,
                                               const struct record_context *context,
                                               struct record_ids parents, struct error *err)
{
    assert(store->state == STORE_WRITING);
    return store->child->mark(store, context, parents, err);
}

/* No children of the endpoint count as fetched: its records were deleted. */
static inline bool MUST_CHECK store_child_forget(struct store *store, struct str source,
                                                 struct str endpoint, struct error *err)
{
    return store->child->forget(store, source, endpoint, err);
}

#endif
