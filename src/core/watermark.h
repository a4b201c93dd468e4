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
 *
 * Where records turn up late, triggers look back from the cursor for late_us. So it must not pass
 * an instant by more than that before the instant has been read for the last time: what was covered
 * too early for all to be there is owed a second look, and holds the cursor back from late_us
 * behind it on, be it that the second look failed, or that the first one was long ago because
 * another slice had held the cursor back:
 *
 *              late_us                 late_us
 *           |<--------->|           |<--------->|
 *      ==A==| B is owed |== cursor  | B is owed | cursor: all after it may be covered
 */
#ifndef PATRA_CORE_WATERMARK_H
#define PATRA_CORE_WATERMARK_H

#include <stddef.h>
#include <stdint.h>

#include "core/window.h"

/* `covered` is sorted by from_us; windows may touch, overlap, or begin before the cursor. */
int64_t watermark_low(int64_t cursor_us, const struct window *covered, size_t count);

/* low_us, or as much less as is owed. `owed` is in normal form (core/coverage.h); what lies before
 * the reach of a lookback from the cursor does not count. Never before the cursor. */
int64_t watermark_held(int64_t cursor_us, int64_t late_us, struct window_list owed, int64_t low_us);

#endif
