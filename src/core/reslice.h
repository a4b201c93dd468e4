/* reslice: a slice that proved too big is cut again.
 *
 * The executor finds out what no planner can know: the source's total is above its cap, the pages
 * go too deep, the answers are too large, too slow, or mostly 429. The slice then ends PARTIAL. It
 * keeps what it finished, and children get the rest:
 *
 *      slice        |################----------------------------|
 *      finished     |################|
 *      children                      |------ 1 ----|----- 2 -----|
 *
 * The promise: `finished` and the children tile the slice exactly. No child is shorter than `min`
 * (or than one step of the source's granularity), except when there was no more to give. With no
 * children at all the slice can not be cut: the caller must find another way (another dimension, an
 * L2 error), for asking again would go round for ever.
 *
 * One cut is in halves. When the source's total is known, halving goes on at once until an even
 * spread would fit the cap with a quarter to spare, so that a total of fifty times the cap does not
 * take six rounds of requests that are thrown away.
 */
#ifndef PATRA_CORE_RESLICE_H
#define PATRA_CORE_RESLICE_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "core/codes.h"
#include "core/limits.h"
#include "core/slice.h"
#include "core/window.h"

struct reslice_request {
    struct window window; /* the slice's own */
    /* What is complete already: at its start when the source sorts upwards, at its end when
     * downwards, and not valid (0, 0) when pages follow no order of time. Never all of it. */
    struct window finished;
    struct slice_cut cut; /* min, align and granularity count here */
    enum reslice_reason reason;
    int64_t total;      /* the source's own count for the slice's query; 0: unknown */
    int64_t record_cap; /* 0: none */
};

struct reslice {
    struct window children[RESLICE_CHILDREN_MAX]; /* oldest first */
    size_t count;                                 /* 0: it can not be cut */
};

void reslice_time(const struct reslice_request *request, struct reslice *out);

/* The same for the other dimensions; `finished` is the first page or id that is not. Both give
 * false when less than two are left to share. */
bool reslice_pages(struct page_range pages, int64_t finished, struct page_range children[2]);
bool reslice_ids(const struct slice_ids *ids, int64_t finished, struct slice_ids children[2]);

#endif
