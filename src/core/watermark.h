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

#include <stddef.h>
#include <stdint.h>

#include "core/window.h"

/* `covered` is sorted by from_us; windows may touch, overlap, or begin before the cursor. */
int64_t watermark_low(int64_t cursor_us, const struct window *covered, size_t count);

#endif
