/* children: for which parents the records of a child endpoint must be fetched.
 *
 * A parent is due when its children were never fetched; when that was too long ago; and when it was
 * by a query that is no longer in force. A parent without children has been fetched, too.
 */
#ifndef PATRA_ENGINE_UPDATE_CHILDREN_H
#define PATRA_ENGINE_UPDATE_CHILDREN_H

#include "engine/update/current.h"
#include "port/store_record.h"

enum child_due { CHILD_FETCHED, CHILD_MISSING, CHILD_STALE };

struct children_order {
    struct str source;
    struct str endpoint;                   /* of the children */
    int64_t fetched_before_us;             /* these are stale; INT64_MIN: none are */
    const struct current_queries *current; /* NULL: a changed query does not count */
};

/* due[i] is about the record parents->items[i]. */
bool children_find_due(struct store *store, struct arena *arena, const struct children_order *order,
                       const struct candidate_list *parents, enum child_due *due,
                       struct error *err) MUST_CHECK;

#endif
