/* budget: how much of a plan becomes tasks now, and when they run.
 *
 * Before a slice gets its task, three conditions are checked. Is there room in the queue?
 * (Otherwise a hundred years of BACKFILL would delay the next HARVEST.) Is there quota? (The daily
 * limit of a provider must last for the most urgent work.) Does the plan have budget left? The
 * first "no" stops the plan: it becomes PARTIAL, and the next trigger continues it, because
 * coverage knows what is missing.
 *
 *      budget  = room in the queue, requests booked from the quota, records allowed
 *      for each slice:  budget_take() == BUDGET_GO  ->  its task, due at spread_next()
 *
 * Nothing is stored here: the caller passes the counts in and saves what was booked.
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
    int64_t requests_left; /* the smaller of quota_available() and the operation's budget */
    int64_t records_left;
};

/* Tasks that may still be queued for a (source, endpoint, operation); queued_max 0: no limit. */
int64_t budget_room(int64_t queued, int64_t queued_max);

/* Takes the share of a slice out of the budget, or returns the reason why not. An unknown estimate
 * counts as one request and no records. A slice larger than the whole budget is taken if it is the
 * first: it would be too large the next time too, and the plan would never progress. */
enum budget_stop budget_take(struct budget *budget, const struct slice *slice);

/* READY if all slices became tasks, PARTIAL if something stopped them. */
enum plan_status budget_plan_status(enum budget_stop stop);

/* ---- quota: requests per hour or day ---- */

/* Operations share a quota in three classes, the most urgent first. */
enum quota_class { QUOTA_HARVEST, QUOTA_UPDATE, QUOTA_BACKFILL, QUOTA_CLASSES };
enum quota_class quota_class_of(enum operation operation);

/* One window of one quota. `booked` counts requests promised to tasks that have not sent them yet;
 * sending one moves it from booked to used. */
struct quota {
    int64_t limit;                      /* of the provider, for the window */
    int margin_permille;                /* kept free for manual use and errors; 100 is a tenth */
    int shares_permille[QUOTA_CLASSES]; /* their sum is at most 1000 */
    int64_t used[QUOTA_CLASSES];
    int64_t booked[QUOTA_CLASSES];
};

#define QUOTA_SHARES_DEFAULT \
    {                        \
        600, 300, 100        \
    }

/* What a class may still book: from its own share, from what no share claims, and from what less
 * urgent classes have left. It leaves alone the unused part of the share of every more urgent
 * class. HARVEST can therefore use everything that is left, BACKFILL only what the others do not
 * need. Never negative; the sum never exceeds limit - margin. */
int64_t quota_available(const struct quota *quota, enum quota_class rank);

/* ---- when tasks run ---- */

/* Assigns scheduled_at so that the expected requests fall due at a rate instead of all at once. The
 * first `burst` are due immediately. Pass a rate slightly above what the gate allows: estimates are
 * inexact, and an empty queue wastes the rate. */
struct spread {
    int64_t start_us;
    int64_t micro_per_second; /* millionths of a request per second; 0: all at once */
    int64_t burst;
    int64_t slow_us; /* for this long after the start the rate is slower: */
    int64_t slow_micro_per_second;
    int64_t requests; /* scheduled so far */
};

int64_t spread_next(struct spread *spread, int64_t expected_requests);

#endif
