/* watermark: how far a source is known to be complete.
 *
 * The low watermark is the end of the longest run of covered instants that starts at the
 * cursor. Slices finish in any order, and one that failed holds back everything after it:
 *
 *      cursor |==1==|==2==|  3 failed  |==4==|==5==|
 *                         ^ low watermark
 *
 * It is never before the cursor, and not simply the latest date seen. Nothing here reads a clock or
 * a database: the caller passes the coverage in and saves the result.
 *
 * If records appear late, triggers look back late_us from the cursor. The cursor must therefore not
 * pass an instant by more than late_us before that instant has been read for the last time. An
 * instant that was covered too early is owed a second look, and the cursor stops late_us after it
 * until then. A second look can be missing because it failed, or because the first one was long ago
 * while another slice held the cursor back:
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

/* low_us, or less if a second look is owed. `owed` is in normal form (core/coverage.h); windows
 * further back than a lookback from the cursor do not count. Never before the cursor. */
int64_t watermark_held(int64_t cursor_us, int64_t late_us, struct window_list owed, int64_t low_us);

#endif
