/* cursor_members: the endpoints whose coverage decides where a cursor may be.
 *
 * Mostly there is one. Endpoints that share a cursor (shares_with, namespace global) each cover
 * their own windows, and the cursor passes an instant when all of them have covered it:
 *
 *      works     |==========|=====|
 *      authors   |=====|  failed  |==|
 *      cursor          ^
 *
 * An executor knows the endpoints of the source as its plan was made, and the store knows those
 * that have plans. Both count: the cursor must not pass one that was added meanwhile. The planner
 * knows the source as it is now, so an endpoint that was removed no longer holds the cursor back.
 */
#ifndef PATRA_ENGINE_CURSOR_CURSOR_MEMBERS_H
#define PATRA_ENGINE_CURSOR_CURSOR_MEMBERS_H

#include "port/store_task.h"

struct cursor_sharing {
    const struct str *with; /* the other endpoints */
    size_t count;
    bool is_current; /* of the source as it is now: no other endpoint counts */
};

/* of->endpoint may be empty for a key that several endpoints share: then those with plans. */
bool cursor_members(struct store *store, struct arena *arena, const struct coverage_namespace *of,
                    struct cursor_sharing sharing, struct endpoint_list *members,
                    struct error *err) MUST_CHECK;

#endif
