/* cursor_reset: sets a cursor back or forward, as a person asked.
 *
 * Back: everything from the new value on is fetched again. Coverage from there on no longer
 * counts, nor do tasks under way: they may have read their records before the change that the
 * person wants to fetch. Tasks that wait and were never tried are left alone. The next trigger
 * plans the rest. Some slices may be fetched twice; none is left out.
 *
 * Forward: what is between is skipped. Coverage after the new value counts as before.
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
    struct str reason;
    int64_t now_us;
};

struct cursor_reset_result {
    struct cursor_value prev;
    bool is_moved; /* false: it had this value already, and nothing was done */
    int64_t tasks; /* that no longer cover anything */
};

/* L2: "cursor.unknown" when there is no cursor of this name, "cursor.value" when it cannot have
 * this value. L1: nothing has been changed. */
bool cursor_reset(struct store *store, struct arena *arena,
                  const struct cursor_reset_request *request, struct cursor_reset_result *result,
                  struct error *err) MUST_CHECK;

#endif
