/* cursor_view: where a cursor is and what holds it back, for people.
 *
 *      |======| cursor | what holds it back |==beyond==|   |==beyond==|
 *      |==| what holds it back | cursor |==beyond==|            where it looks back
 */
#ifndef PATRA_ENGINE_CURSOR_CURSOR_VIEW_H
#define PATRA_ENGINE_CURSOR_CURSOR_VIEW_H

#include "port/store_cursor.h"
#include "port/store_task.h"

/* How far it is from its goal. A backfill ends at the end of its campaign; all others follow the
 * latest record seen. */
struct cursor_way {
    bool is_known;
    bool is_campaign;
    int64_t end_us;   /* of the campaign */
    int64_t left_us;  /* 0: it is there */
    bool has_ids;     /* ID: the highest id of the source is known ... */
    int64_t left_ids; /* ... and so far beyond the cursor; there may be fewer */
};

struct cursor_view {
    struct cursor cursor;
    struct cursor_way way;
    struct window_list beyond; /* covered, but after a gap: not yet passed */
    bool has_holder;           /* there is a task for the instant of the cursor; ID and TOKEN: the
                                  last task has not succeeded */
    struct task holder;        /* the last such task */
    bool looks_back;           /* that instant is covered; what holds the cursor back is a second
                                  look before it, and the holder one that has not succeeded */
    struct cursor_event_list events; /* the newest first */
};

/* TIME cursors have `beyond` and a holder; what is cut by pages has neither, it waits for all of
 * its pages. In a transaction or outside of one. */
bool cursor_view(struct store *store, struct arena *arena, const struct cursor *cursor,
                 int64_t events, struct cursor_view *view, struct error *err) MUST_CHECK;

bool cursor_way(struct store *store, struct arena *arena, const struct cursor *cursor,
                struct cursor_way *way, struct error *err) MUST_CHECK;

/* The end of a campaign's first window, kept by the event that started its cursor. */
bool cursor_campaign_end(struct store *store, struct arena *arena, const struct cursor_name *name,
                         bool *has_end, int64_t *end_us, struct error *err) MUST_CHECK;

#endif
