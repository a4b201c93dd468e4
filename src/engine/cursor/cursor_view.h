/* cursor_view: where a cursor stands and what holds it back, for people.
 *
 *      |======| cursor | what holds it back |==beyond==|   |==beyond==|
 */
#ifndef PATRA_ENGINE_CURSOR_CURSOR_VIEW_H
#define PATRA_ENGINE_CURSOR_CURSOR_VIEW_H

#include "port/store_cursor.h"
#include "port/store_task.h"

struct cursor_view {
    struct cursor cursor;
    struct window_list beyond; /* covered, and not yet passed: what waits behind a gap */
    bool has_holder;           /* a task was made for the instant at which the cursor stands */
    struct task holder;        /* the last such task */
    struct cursor_event_list events; /* the newest first */
};

/* TIME cursors have `beyond` and a holder; what is cut by pages has neither, it waits for all of
 * its pages. In whichever transaction the caller likes. */
bool cursor_view(struct store *store, struct arena *arena, const struct cursor *cursor,
                 int64_t events, struct cursor_view *view, struct error *err) MUST_CHECK;

/* How far it is behind the latest record that was seen, in microseconds; false: not known. */
bool cursor_lag(const struct cursor *cursor, int64_t *lag_us);

#endif
