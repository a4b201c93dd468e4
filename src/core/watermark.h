/* watermark: how far a source is known to be complete.
 *
 * The low watermark is the end of the longest run of covered instants that starts at the
 * cursor. Slices finish in any order, and one that failed holds back all that lies behind it:
 *
 *      cursor |==1==|==2==|  3 failed  |==4==|==5==|
 *                         ^ low watermark
 *
 * It is never before the cursor, and never simply the latest date seen. Nothing here reads a
 * clock or a database: the caller brings what is covered, and saves what comes back.
 */
#ifndef PATRA_CORE_WATERMARK_H
#define PATRA_CORE_WATERMARK_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "base/str.h"
#include "core/window.h"

/* `covered` is sorted by from_us; windows may touch, overlap, or begin before the cursor. */
int64_t watermark_low(int64_t cursor_us, const struct window *covered, size_t count);

/* The same for a walk over a list of ids. The ids have an order of their own, the order in which
 * they were listed, and batches of them finish in any order; the candidate is the last id of the
 * last finished batch that no unfinished one precedes. Ids are never compared here: they say how
 * far the walk came, nothing about newer or older. */
struct watermark_batch {
    struct str last_id;
    bool is_done;
};

/* `cursor` when the first batch is not done yet (or there is none); it may be the empty view. */
struct str watermark_last_id(struct str cursor, const struct watermark_batch *batches,
                             size_t count);

#endif
