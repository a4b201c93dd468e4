/* cursor_verify: compares a cursor's value with its events, and rebuilds the value from them.
 *
 * The events are the truth. Read in order they give the value that the cursor must have; where it
 * has another, rows were changed by hand or lost, and the value must be rebuilt. Events are read
 * page by page: memory does not grow with history.
 */
#ifndef PATRA_ENGINE_CURSOR_CURSOR_VERIFY_H
#define PATRA_ENGINE_CURSOR_CURSOR_VERIFY_H

#include "port/store_cursor.h"

struct cursor_check {
    struct cursor_name name;
    bool has_cursor; /* false: events, but no value */
    struct cursor cursor;
    bool has_replay; /* false: a value, but no events */
    struct cursor_value replay;
    int64_t events;
    int64_t no_forward;
    int64_t resets;
    int64_t gaps; /* events that do not start where the one before ended: one may be missing */
    bool agrees;  /* else cursor.rebuild.required */
};

struct cursor_check_list {
    struct cursor_check *items;
    size_t count;
};

/* Every namespace of the source ('': of all) that has a value or events, as of one moment. L4
 * "cursor.type" when the events of one are of more than one type. */
bool cursor_verify(struct store *store, struct arena *arena, struct str source,
                   struct cursor_check_list *list, struct error *err) MUST_CHECK;

/* One of them. */
bool cursor_verify_one(struct store *store, struct arena *arena, const struct cursor_name *name,
                       struct cursor_check *check, struct error *err) MUST_CHECK;

/* Sets the value to what the events give, where it has another or none; *check is what was found
 * before. Nothing needs to be fetched again: a value that comes out earlier catches up from
 * coverage. L2 "cursor.no_events" where there are none; L1 "cursor.conflict" when it moved
 * meanwhile. */
bool cursor_rebuild(struct store *store, struct arena *arena, const struct cursor_name *name,
                    int64_t now_us, struct cursor_check *check, struct error *err) MUST_CHECK;

#endif
