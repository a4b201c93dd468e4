/* limits: the maxima of the program, each with its reason.
 *
 * Every loop, queue, retry and buffer ends at one of these. Reaching a limit is an ordinary error
 * that names the number; nothing is truncated silently. Limits that a person may want to change are
 * settings; the limit here is then the maximum of the setting.
 */
#ifndef PATRA_CORE_LIMITS_H
#define PATRA_CORE_LIMITS_H

#include <assert.h>
#include <stdint.h>

#include "base/instant.h"

/* ---- time ---- */

/* Lag, lookback, window and slice sizes: longer than the age of any archive (the first journals
 * date from 1665), and far from overflow when added to an instant. */
#define WINDOW_SPAN_MAX_US (INT64_C(500) * 366 * US_PER_DAY)
static_assert(WINDOW_SPAN_MAX_US < INT64_MAX / 4 && INSTANT_MAX < INT64_MAX / 4,
              "an instant and a few spans can be added up in any order");

/* ---- planning ---- */

/* A dry run of a mistaken window must end: a hundred years fit by the hour, but not by the minute.
 */
#define PLAN_SLICES_MAX 1000000

/* So many workers in a row may die with a task before it is left to a person. Machines are
 * restarted and processes killed for other reasons, too. */
#define TASK_CRASHES_MAX 10

/* Children of one re-slice: they bring a total of 600,000 records below PubMed's 9,999 at once. */
#define RESLICE_CHILDREN_MAX 64

/* Ids that are divided by ranges: whole numbers that are exact in JSON and can be divided among the
 * children of a re-slice without overflow. */
#define ID_VALUE_MAX ((INT64_C(1) << 53) - 1)
static_assert(ID_VALUE_MAX < INT64_MAX / RESLICE_CHILDREN_MAX, "so that it can be multiplied");

/* Parts by id of one window, over all plans: at PubMed's cap, four times the size of PubMed.
 * Without this limit, a source that ignores the range would be re-sliced forever. */
#define RESLICE_PARTS_MAX 16384

/* Hash buckets of an id-driven plan: more tasks would be smaller than one detail request. */
#define SLICE_BUCKETS_MAX 65536
static_assert(SLICE_BUCKETS_MAX <= PLAN_SLICES_MAX, "every bucket may become a slice");

/* Slices and tasks that are written at once: enough to make the cost of a statement small, few
 * enough to fit in memory however long the plan is. */
#define PLAN_BATCH 200

/* Runs from which the density of a source is estimated: enough to even out a week by the hour with
 * a holiday in it, few enough to notice soon that a source has grown. */
#define HISTORY_RUNS_MAX 200

/* If a source does not report its last page: further than any walk goes. */
#define PLAN_PAGES_OPEN 1000000000

/* Complete replays of the same window; each replay checks all earlier ones. */
#define REPLAY_ROUNDS_MAX 1000

/* ---- cursors ---- */

/* The columns: cursor_value VARCHAR(1024), normalized_numeric DECIMAL(38,0). */
#define CURSOR_VALUE_MAX 1024
#define CURSOR_ID_DIGITS_MAX 38
static_assert(CURSOR_ID_DIGITS_MAX < CURSOR_VALUE_MAX, "an id is a cursor value");

/* Compare-and-set of a cursor: after this many lost races others have moved it further. */
#define CURSOR_RETRIES_MAX 3

/* ---- schedules ---- */

/* Five fields with long lists are far shorter. */
#define CRON_TEXT_MAX 512

/* Shorter intervals would fire faster than a plan is made. */
#define SCHEDULE_EVERY_MIN_US US_PER_SECOND
#define SCHEDULE_EVERY_MAX_US (366 * US_PER_DAY)

/* ---- events ---- */

/* Keys hash to lanes, and a lane has one publisher at a time: more lanes than there will be
 * publishers, few enough to inspect one by one. It cannot be changed while events wait. */
#define OUTBOX_LANES 64

/* The body of an event. Larger than any record whose fields were chosen, and what the largest of
 * the usual buses takes (Google Pub/Sub: 10 MB); a bus may take less, and then says so itself. */
#define EVENT_BYTES_MAX (INT64_C(8) << 20)

/* ---- requests and responses ---- */

#define RETRY_ATTEMPTS_MAX 100

/* A larger page is refused; 1,000 Crossref works have 5 MB, full ClinicalTrials.gov pages more than
 * 10. */
#define PAGE_BYTES_MAX (INT64_C(64) << 20)
static_assert(EVENT_BYTES_MAX <= PAGE_BYTES_MAX, "what an event is made of comes from one page");

/* The arena of a batch: the page, its index, and everything made from it. */
#define BATCH_BYTES_MAX (INT64_C(512) << 20)
static_assert(BATCH_BYTES_MAX >= 4 * PAGE_BYTES_MAX,
              "a full page must fit, with everything made from it");

/* ---- the archive ---- */

/* A response with its head, before it is packed. */
#define ARCHIVE_BYTES_MAX (PAGE_BYTES_MAX + (INT64_C(1) << 20))

/* What a dictionary is made of: a hundred times its size is enough, by the manual of zstd. */
#define ARCHIVE_SAMPLES_BYTES_MAX (INT64_C(12) << 20)

#endif
