/* page_need: how many requests a harvest needs, by the truth of its upstream.
 *
 * As many as there are pages, and one more where only a further request shows that a page was the
 * last. Requests for records by id follow in batches. A test compares this with what was sent:
 *
 *      need  = page_need(&(struct page_need){ .paging = NEED_OFFSET, .records = 95, .size = 10 });
 *      page_need_check("offset", requests, need);      no more than NEED_FACTOR_MAX times as many
 */
#ifndef PATRA_TEST_SUPPORT_PAGE_NEED_H
#define PATRA_TEST_SUPPORT_PAGE_NEED_H

#include <stdbool.h>
#include <stdint.h>

enum { NEED_FACTOR_MAX = 3 };

enum need_paging {
    NEED_OFFSET,
    NEED_PAGE0,
    NEED_PAGE1,
    NEED_TOKEN,
    NEED_TOKEN_HEADER,
    NEED_URL,
    NEED_LINK,
    NEED_TIME,
    NEED_SINCE, /* time, without an upper bound in the request */
    NEED_SINGLE,
    NEED_PAGINGS,
};

struct page_need { /* one slice */
    enum need_paging paging;
    int64_t records;
    int64_t size;     /* of a page */
    bool shows_end;   /* a total, has_more or the lack of a next token ends the list */
    int64_t id_batch; /* ids to a request of phase two; 0: there is none */
    /* A list with more records than the cap is read in ranges of ids. Where a range ends is found
     * by halving what ids there can be: so many requests for each. */
    int64_t cap; /* 0: none */
    int64_t halvings;
};

const char *need_paging_name(enum need_paging paging);

int64_t page_need(const struct page_need *slice);

/* Prints both numbers and their ratio, and fails the test where the ratio is too large. */
void page_need_check(const char *name, int64_t requests, int64_t need);

#endif
