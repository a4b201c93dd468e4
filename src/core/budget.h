/* budget: how much of a plan becomes tasks now, and when they run.
 *
 * Three questions stand between a slice and its task. Is there room in the queue? (Otherwise a
 * hundred years of BACKFILL would bury the next HARVEST.) Is there quota? (A provider's daily
 * limit must last for what matters most.) Is there budget left for this plan? The first No stops
 * the plan: it is PARTIAL, and the next trigger goes on, because coverage knows what is missing.
 *
 *      budget  = room in the queue, requests booked with the quota, records allowed
 *      while a slice comes:  budget_take() == BUDGET_GO  ->  its task, at spread_next()
 *
 * Nothing here is stored: the caller brings the counts and saves what was booked.
 */
#ifndef PATRA_CORE_BUDGET_H
#define PATRA_CORE_BUDGET_H

#include <stdbool.h>
#include <stdint.h>

#include "core/codes.h"
#include "core/slice.h"

/* ---- the plan's budget ---- */

#define BUDGET_UNLIMITED INT64_MAX

enum budget_stop { /* why a plan stopped before its end */
                   BUDGET_GO,
                   BUDGET_STOP_INVENTORY, /* enough tasks wait in the queue */
                   BUDGET_STOP_REQUESTS,  /* quota or budget of requests is used up */
                   BUDGET_STOP_RECORDS,
};
extern const struct code_table BUDGET_STOP_CODES;

struct budget {
    int64_t tasks_left;    /* budget_room() */
    int64_t requests_left; /* of quota_available() and the operation's own budget the smaller */
    int64_t records_left;
};

/* Tasks that may still be queued for a (source, endpoint, operation); queued_max 0: no limit. */
int64_t budget_room(int64_t queued, int64_t queued_max);

/* Takes a slice's share out of the budget, or tells why not. What is not known costs one request
 * and no records. A slice larger than all that is left is taken all the same while nothing else has
 * been taken: it would be too large the next time too, and the plan would never move. */
enum budget_stop budget_take(struct budget *budget, const struct slice *slice);

/* READY when all slices became tasks, PARTIAL when something stopped them. */
enum plan_status budget_plan_status(enum budget_stop stop);

/* ---- quota: requests per hour or day ---- */

/* Operations share a quota in three classes, the most urgent first. */
enum quota_class { QUOTA_HARVEST, QUOTA_UPDATE, QUOTA_BACKFILL, QUOTA_CLASSES };
enum quota_class quota_class_of(enum operation operation);

/* One window of one quota. `booked` counts requests promised to tasks that have not sent them yet;
 * sending one moves it from booked to used. */
struct quota {
    int64_t limit;                      /* of the provider, for the window */
    int margin_permille;                /* kept free for people and mistakes; 100 is a tenth */
    int shares_permille[QUOTA_CLASSES]; /* their sum is at most 1000 */
    int64_t used[QUOTA_CLASSES];
    int64_t booked[QUOTA_CLASSES];
};

#define QUOTA_SHARES_DEFAULT \
    {                        \
        600, 300, 100        \
    }

/* What a class may still book. It may take from its own share, from what no share claims and from
 * what less urgent classes have left; but of every more urgent class it leaves the part of the
 * share that is not taken yet. So HARVEST can have all that is left, BACKFILL no more than what the
 * others will not miss. Never negative, never beyond limit - margin in sum. */
int64_t quota_available(const struct quota *quota, enum quota_class rank);

/* ---- when tasks run ---- */

/* Hands out scheduled_at so that expected requests flow at a rate instead of falling due at once.
 * The first `burst` are due immediately. Give a rate a little above what the gate allows: estimates
 * err, and a queue that runs dry wastes the rate. */
struct spread {
    int64_t start_us;
    int64_t micro_per_second; /* millionths of a request per second; 0: all at once */
    int64_t burst;
    int64_t slow_us; /* for so long after the start it is slower: */
    int64_t slow_micro_per_second;
    int64_t requests; /* given out so far */
};

int64_t spread_next(struct spread *spread, int64_t expected_requests);

#endif
