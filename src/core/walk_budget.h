/* walk_budget: how many requests the pages of a slice may take, re-slices included.
 *
 * A slice and all slices that it is re-sliced into are one family. Each walk of the family may
 * repeat pages, sweep them again and ask for a re-slice; together they must not send many more
 * requests than the family has pages. How many pages that are is learned on the way: the first walk
 * saw some, the source's total says a number, and the walks that covered their windows needed some.
 *
 *      requests < TIMES x max(needed, done) + SPARE
 *
 * TIMES is 4: a list that moves while it is read takes three sweeps, and then its pieces are walked
 * once. SPARE lets a small slice be repeated, probed and halved a few times. A total may be wrong,
 * so it counts for at most TOTAL_MAX pages before they were seen.
 *
 * A walk that goes on with new records under new tokens has as many pages as requests, so the above
 * never ends it. It is too long when it has more pages than anything that was known before it began
 * justifies: TIMES the pages of the first total, or of what history expects, and BLIND_MAX where
 * these say less or nothing. BLIND_MAX pages of a hundred records are a million, which is as many
 * as the proof remembers (engine/fetch/id_set.h). Who knows of a longer list sets page.max_pages.
 *
 * Not counted are retries, refusals (429) and requests for details by id: these have limits of
 * their own.
 */
#ifndef PATRA_CORE_WALK_BUDGET_H
#define PATRA_CORE_WALK_BUDGET_H

#include <stdbool.h>
#include <stdint.h>

enum { WALK_BUDGET_TIMES = 4, WALK_BUDGET_SPARE = 32, WALK_BUDGET_TOTAL_MAX = 256 };
enum { WALK_BUDGET_BLIND_MAX = 10000 };

struct walk_budget {
    int64_t requests; /* for pages, so far */
    int64_t needed;   /* pages that the family is known to have, at least */
    int64_t done;     /* pages of the walks that covered their windows */
};

/* The pages that a total makes likely; page_size 0: unknown. */
int64_t walk_budget_pages(int64_t total, int64_t page_size);

/* The most requests for what is known by now. */
int64_t walk_budget_limit(struct walk_budget budget);

static inline bool walk_budget_is_used_up(struct walk_budget budget)
{
    return budget.requests >= walk_budget_limit(budget);
}

/* True for a list that goes on far beyond the source's own total: more new records than that total
 * and the pages to spare justify. Such a list may have no end. */
bool walk_budget_is_endless(int64_t records, int64_t total, int64_t page_size);

/* The most pages of one walk, by the records that were known of before its pages were; page_size 0:
 * unknown. */
int64_t walk_budget_pages_max(int64_t known, int64_t page_size);

/* ---- trying again ---- */

/* How long a window that was left to a person waits before a trigger plans it again, by the number
 * of plans that ended so: an hour, then four times as long each time, up to a week. */
int64_t walk_budget_wait_us(int64_t plans);

#endif
