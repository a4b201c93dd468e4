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
 *
 * A window of one step may hold more than the cap all the same. Where the source can be asked for a
 * range of ids within it, that is the next way: the window stays, and the ids are shared out.
 */
#ifndef PATRA_CORE_RESLICE_H
#define PATRA_CORE_RESLICE_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "core/codes.h"
#include "core/id_range.h"
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

/* The same for pages; `finished` is the first page that is not. False when less than two are left
 * to share. */
bool reslice_pages(struct page_range pages, int64_t finished, struct page_range children[2]);

struct reslice_ids_request {
    struct id_range ids; /* the slice's own; not valid: all */
    int64_t id_min;      /* the least and the greatest id that the source can have */
    int64_t id_max;
    enum reslice_reason reason;
    int64_t total; /* as above */
    int64_t record_cap;
};

struct reslice_ids {
    struct id_range children[RESLICE_CHILDREN_MAX]; /* from the lowest; they tile the slice's own */
    size_t count;                                   /* 0: it can not be cut */
};

/* Cuts what lies between id_min and id_max into equal stretches; an open end stays open. Each child
 * is at most half as wide as the slice, rounded up, so that however the ids are clustered a chain
 * of cuts ends after as many as an id has binary digits. */
void reslice_ids(const struct reslice_ids_request *request, struct reslice_ids *out);

#endif
