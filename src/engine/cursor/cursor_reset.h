/* cursor_reset: a person sets a cursor back, or forward, on purpose.
 *
 * Back: from the new value on everything is fetched again. What has been covered there no longer
 * counts, nor does what is being fetched at this moment: it may have been read before whatever the
 * person wants to have read again. Tasks that wait and were never tried are left as they are. The
 * next trigger plans the rest; slices may be fetched twice that way, none is left out.
 *
 * Forward: what lies between is given up. Whatever is covered beyond counts as before.
 *
 * A reset is an event (RESET) with who, why, from where to where, and how many tasks lost their
 * coverage; the events before it remain, and reading them in order still gives the value.
 */
#ifndef PATRA_ENGINE_CURSOR_CURSOR_RESET_H
#define PATRA_ENGINE_CURSOR_CURSOR_RESET_H

#include "port/store_cursor.h"

struct cursor_reset_request {
    struct cursor_name name;
    struct cursor_value to; /* of the cursor's own type; TIME: not after now */
    struct str who;
    struct str why;
    int64_t now_us;
};

struct cursor_reset_result {
    struct cursor_value prev;
    bool is_moved; /* false: it stood there already, and nothing was done */
    int64_t tasks; /* that cover nothing now */
};

/* L2: "cursor.unknown" when there is none of this name, "cursor.value" when it can not be set to
 * that. L1: nothing has happened. */
bool cursor_reset(struct store *store, struct arena *arena,
                  const struct cursor_reset_request *request, struct cursor_reset_result *result,
                  struct error *err) MUST_CHECK;

#endif
