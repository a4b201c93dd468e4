/* budget: limits of a plan, shares of a quota, and the due times of tasks. */
#include "core/budget.h"

#include <assert.h>

#include "base/instant.h"

/* ---- the plan's budget ---- */

static const struct code_item STOP_ITEMS[] = {
    [BUDGET_GO] = CODE_ITEM("GO", "nothing stops it"),
    [BUDGET_STOP_INVENTORY] = CODE_ITEM("INVENTORY", "enough tasks wait in the queue"),
    [BUDGET_STOP_REQUESTS] = CODE_ITEM("REQUESTS", "the allowed requests are booked"),
    [BUDGET_STOP_RECORDS] = CODE_ITEM("RECORDS", "the allowed records are already expected"),
};
const struct code_table BUDGET_STOP_CODES =
    CODE_TABLE("ing_budget_stop", "why a plan stopped before its end", STOP_ITEMS);

int64_t budget_room(int64_t queued, int64_t queued_max)
{
    assert(queued >= 0);
    if (queued_max == 0)
        return BUDGET_UNLIMITED;
    return queued < queued_max ? queued_max - queued : 0;
}

static int64_t less(int64_t left, int64_t taken)
{
    if (left == BUDGET_UNLIMITED)
        return left;
    return left > taken ? left - taken : 0;
}

enum budget_stop budget_take(struct budget *budget, const struct slice *slice)
{
    const bool is_first = slice->number == 0;
    const int64_t requests =
        slice->expected_requests == SLICE_UNKNOWN ? 1 : slice->expected_requests;
    const int64_t records = slice->expected_records == SLICE_UNKNOWN ? 0 : slice->expected_records;

    if (budget->tasks_left <= 0)
        return BUDGET_STOP_INVENTORY;
    if (budget->requests_left <= 0 || (requests > budget->requests_left && !is_first))
        return BUDGET_STOP_REQUESTS;
    if (budget->records_left <= 0 || (records > budget->records_left && !is_first))
        return BUDGET_STOP_RECORDS;
    budget->tasks_left = less(budget->tasks_left, 1);
    budget->requests_left = less(budget->requests_left, requests);
    budget->records_left = less(budget->records_left, records);
    return BUDGET_GO;
}

enum plan_status budget_plan_status(enum budget_stop stop)
{
    return stop == BUDGET_GO ? PLAN_READY : PLAN_PARTIAL;
}

/* ---- quota ---- */

enum quota_class quota_class_of(enum operation operation)
{
    switch (operation) {
    case OPERATION_HARVEST:
        return QUOTA_HARVEST;
    case OPERATION_UPDATE:
    case OPERATION_METRICS:
        return QUOTA_UPDATE;
    case OPERATION_BACKFILL:
    case OPERATION_REPLAY:
        return QUOTA_BACKFILL;
    }
    assert(!"an operation of the enum");
    return QUOTA_BACKFILL;
}

static int64_t permille_of(int64_t amount, int permille)
{
    return (int64_t)((__int128)amount * permille / 1000);
}

static int64_t taken_by(const struct quota *quota, int rank)
{
    return quota->used[rank] + quota->booked[rank];
}

static int64_t taken_by_all(const struct quota *quota)
{
    int64_t taken = 0;

    for (int rank = 0; rank < QUOTA_CLASSES; rank++)
        taken += taken_by(quota, rank);
    return taken;
}

int64_t quota_available(const struct quota *quota, enum quota_class rank)
{
    const int64_t usable = quota->limit - permille_of(quota->limit, quota->margin_permille);
    int64_t available = usable - taken_by_all(quota);

    assert(quota->margin_permille >= 0 && quota->margin_permille <= 1000);
    for (int other = 0; other < (int)rank; other++) {
        const int64_t share = permille_of(usable, quota->shares_permille[other]);

        if (share > taken_by(quota, other))
            available -= share - taken_by(quota, other); /* reserved for it */
    }
    return available > 0 ? available : 0;
}

/* ---- when tasks run ---- */

/* How long `requests` take at a rate; a rate of 0 takes no time. */
static __int128 time_of(__int128 requests, int64_t micro_per_second)
{
    return micro_per_second > 0 ? requests * US_PER_SECOND * 1000000 / micro_per_second : 0;
}

int64_t spread_next(struct spread *spread, int64_t expected_requests)
{
    const int64_t ahead = spread->requests - spread->burst;
    const __int128 slow = (__int128)spread->slow_us * spread->slow_micro_per_second /
                          US_PER_SECOND / 1000000; /* go out while it is slow */
    __int128 delay_us = 0;

    spread->requests += expected_requests == SLICE_UNKNOWN ? 1 : expected_requests;
    if (ahead > 0 && ahead <= slow)
        delay_us = time_of(ahead, spread->slow_micro_per_second);
    else if (ahead > 0)
        delay_us = spread->slow_us + time_of(ahead - slow, spread->micro_per_second);
    if (delay_us > INSTANT_MAX - spread->start_us)
        return INSTANT_MAX;
    return spread->start_us + (int64_t)delay_us;
}
