/* Limits of requests, from what is known of a slice's pages. */
#include "core/walk_budget.h"

#include <assert.h>

#include "base/instant.h"

int64_t walk_budget_pages(int64_t total, int64_t page_size)
{
    int64_t pages;

    if (total <= 0 || page_size <= 0)
        return 0;
    pages = total / page_size + (total % page_size > 0);
    return pages < WALK_BUDGET_TOTAL_MAX ? pages : WALK_BUDGET_TOTAL_MAX;
}

int64_t walk_budget_limit(struct walk_budget budget)
{
    const int64_t pages = budget.needed > budget.done ? budget.needed : budget.done;

    assert(pages >= 0);
    if (pages > (INT64_MAX - WALK_BUDGET_SPARE) / WALK_BUDGET_TIMES)
        return INT64_MAX;
    return pages * WALK_BUDGET_TIMES + WALK_BUDGET_SPARE;
}

bool walk_budget_is_endless(int64_t records, int64_t total, int64_t page_size)
{
    return records / WALK_BUDGET_TIMES > total + page_size * WALK_BUDGET_SPARE / WALK_BUDGET_TIMES;
}

int64_t walk_budget_pages_max(int64_t known, int64_t page_size)
{
    int64_t pages;

    if (known <= 0 || page_size <= 0)
        return WALK_BUDGET_BLIND_MAX;
    pages = known / page_size;
    if (pages > INT64_MAX / WALK_BUDGET_TIMES)
        return INT64_MAX;
    pages *= WALK_BUDGET_TIMES;
    return pages > WALK_BUDGET_BLIND_MAX ? pages : WALK_BUDGET_BLIND_MAX;
}

int64_t walk_budget_wait_us(int64_t plans)
{
    int64_t wait_us = US_PER_HOUR;

    for (int64_t i = 1; i < plans && wait_us < 7 * US_PER_DAY; i++)
        wait_us *= 4;
    return wait_us < 7 * US_PER_DAY ? wait_us : 7 * US_PER_DAY;
}
