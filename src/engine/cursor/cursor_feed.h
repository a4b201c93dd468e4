/* cursor_feed: moves the cursor of a feed (window.type id or token) to what is stored of it.
 *
 * A feed has one live task at a time. How far it came is in the checkpoint that its last run stored
 * with its last batch (engine/fetch/checkpoint.h), so the candidate is read from there, whoever
 * asks: the executor when the task has ended, and the planner at the start of each trigger, which
 * makes up for an executor that died in between.
 *
 *      "at"       everything up to it is stored: the cursor moves there
 *      "behind"   the source does not go forward: recorded as NO_FORWARD, never moved to
 *      "isFull"   the token had expired and everything was read again: TOKEN_COMPENSATE
 *
 * A task that was planned before a person reset the cursor does not move it any more. It is known
 * by the version of the cursor that it was planned with.
 */
#ifndef PATRA_ENGINE_CURSOR_CURSOR_FEED_H
#define PATRA_ENGINE_CURSOR_CURSOR_FEED_H

#include "engine/cursor/cursor_advance.h"

struct cursor_feed_request {
    struct coverage_namespace of;
    enum cursor_type type; /* ID, TOKEN */
    int64_t now_us;
};

/* As cursor_advance(). */
bool cursor_feed_advance(struct store *store, struct arena *arena,
                         const struct cursor_feed_request *request,
                         struct cursor_advance_result *result, struct error *err) MUST_CHECK;

#endif
