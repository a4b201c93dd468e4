/* Counts pages by the truth, and compares with the requests that were sent. */
#include "page_need.h"

#include <assert.h>

#include "base/attr.h"
#include "test.h"

const char *need_paging_name(enum need_paging paging)
{
    static const char *const names[NEED_PAGINGS] = {
        [NEED_OFFSET] = "offset", [NEED_PAGE0] = "page0",         [NEED_PAGE1] = "page1",
        [NEED_TOKEN] = "token",   [NEED_TOKEN_HEADER] = "header", [NEED_URL] = "url",
        [NEED_LINK] = "link",     [NEED_TIME] = "time",           [NEED_SINCE] = "since",
        [NEED_SINGLE] = "single",
    };

    return names[paging];
}

static int64_t parts(int64_t count, int64_t size)
{
    return (count + size - 1) / size;
}

static int64_t pages_of(const struct page_need *slice)
{
    if (slice->paging == NEED_SINGLE || slice->records == 0)
        return 1;
    /* Each page begins with the last record of the page before. */
    if (slice->paging == NEED_TIME || slice->paging == NEED_SINCE)
        return slice->size > 1
                   ? 1 + parts(slice->records > 1 ? slice->records - 1 : 0, slice->size - 1)
                   : slice->records;
    return parts(slice->records, slice->size);
}

int64_t page_need(const struct page_need *slice)
{
    int64_t need = pages_of(slice);

    assert(slice->size > 0 || slice->paging == NEED_SINGLE);
    if (!slice->shows_end && slice->paging != NEED_SINGLE)
        need++;
    if (slice->id_batch > 0)
        need += parts(slice->records, slice->id_batch);
    if (slice->cap > 0 && slice->records > slice->cap)
        need += parts(slice->records, slice->cap) * slice->halvings;
    return need;
}

static double ratio_of(int64_t requests, int64_t need)
{
    return need > 0 ? (double)requests / (double)need : 0.0;
}

void page_need_check(const char *name, int64_t requests, int64_t need)
{
    test_note("%-24s %6" PRId64 " requests, %6" PRId64 " needed: %.2f", name, requests, need,
              ratio_of(requests, need));
    if (requests > NEED_FACTOR_MAX * need)
        test_fail(__FILE__, __LINE__, "%s: %" PRId64 " requests where %" PRId64 " are needed", name,
                  requests, need);
}
