/* limits: the maxima of the program, each with its reason.
 *
 * Every loop, queue, retry and buffer ends at one of these. A limit that is met is an ordinary
 * error naming the number, never a silent cut. Limits which a person may wish to change are
 * settings, and what stands here is then the most that a setting may say.
 */
#ifndef PATRA_CORE_LIMITS_H
#define PATRA_CORE_LIMITS_H

#include <assert.h>
#include <stdint.h>

#include "base/instant.h"

/* ---- time ---- */

/* Lag, lookback, window and slice sizes: longer than any archive is old (the first journals are of
 * 1665), and far from overflowing when added to an instant. */
#define WINDOW_SPAN_MAX_US (INT64_C(500) * 366 * US_PER_DAY)
static_assert(WINDOW_SPAN_MAX_US < INT64_MAX / 4 && INSTANT_MAX < INT64_MAX / 4,
              "an instant and a few spans can be added up in any order");

/* ---- planning ---- */

/* The dry run of a mistaken window must end: a hundred years by the hour fit, by the minute not. */
#define PLAN_SLICES_MAX 1000000

/* Children of one re-slice: a total of 600,000 records comes below PubMed's 9,999 in one step. */
#define RESLICE_CHILDREN_MAX 64

/* Ids that are cut by ranges: whole numbers that are exact in JSON, and can be shared out among the
 * children of a re-slice without overflow. */
#define ID_VALUE_MAX ((INT64_C(1) << 53) - 1)
static_assert(ID_VALUE_MAX < INT64_MAX / RESLICE_CHILDREN_MAX, "so that it can be multiplied");

/* Parts by id of one window, all its plans together: at PubMed's cap four times all that PubMed
 * holds. A source that does not obey the range would be cut for ever. */
#define RESLICE_PARTS_MAX 16384

/* Hash buckets of an id-driven plan: more tasks would be smaller than one detail request. */
#define SLICE_BUCKETS_MAX 65536
static_assert(SLICE_BUCKETS_MAX <= PLAN_SLICES_MAX, "every bucket may become a slice");

/* Slices, and their tasks, that are written at once: enough to make a statement's own cost small,
 * little enough to be held in memory however long the plan is. */
#define PLAN_BATCH 200

/* Runs that tell how dense a source is: enough for a week by the hour and a holiday in it to be
 * evened out, few enough that a source which has grown is soon known to have. */
#define HISTORY_RUNS_MAX 200

/* Where a source does not tell its last page: further than any walk goes. */
#define PLAN_PAGES_OPEN 1000000000

/* Complete replays of the same window; each is looked at by the next. */
#define REPLAY_ROUNDS_MAX 1000

/* ---- cursors ---- */

/* The columns: cursor_value VARCHAR(1024), normalized_numeric DECIMAL(38,0). */
#define CURSOR_VALUE_MAX 1024
#define CURSOR_ID_DIGITS_MAX 38
static_assert(CURSOR_ID_DIGITS_MAX < CURSOR_VALUE_MAX, "an id is a cursor value");

/* Compare-and-set of a cursor: after this many lost races somebody else has moved it further. */
#define CURSOR_RETRIES_MAX 3

/* ---- schedules ---- */

/* A cron line of five fields with long lists stays far below. */
#define CRON_TEXT_MAX 512

/* Shorter intervals would fire faster than a plan is made. */
#define SCHEDULE_EVERY_MIN_US US_PER_SECOND
#define SCHEDULE_EVERY_MAX_US (366 * US_PER_DAY)

/* ---- events ---- */

/* Keys hash to lanes, and a lane has one publisher at a time: more than processes will ever share
 * the work, few enough to be looked at one by one. It can not be changed while events wait. */
#define OUTBOX_LANES 64

/* ---- requests and responses ---- */

#define RETRY_ATTEMPTS_MAX 100

/* A page is refused beyond this; 1,000 Crossref works have 5 MB, full ClinicalTrials.gov pages
 * more than 10. */
#define PAGE_BYTES_MAX (INT64_C(64) << 20)

/* The arena of a batch: the page, its index, and all it becomes. */
#define BATCH_BYTES_MAX (INT64_C(512) << 20)
static_assert(BATCH_BYTES_MAX >= 4 * PAGE_BYTES_MAX, "a full page must fit with all it becomes");

#endif
