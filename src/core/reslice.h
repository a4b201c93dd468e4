/* reslice: divides a slice that proved too large.
 *
 * The executor discovers what the planner cannot know: the source's total is above its cap, the
 * pages go too deep, the responses are too large, too slow, or mostly 429. The slice then ends as
 * PARTIAL. It keeps what it finished, and its children get the rest:
 *
 *      slice        |################----------------------------|
 *      finished     |################|
 *      children                      |------ 1 ----|----- 2 -----|
 *
 * The guarantee: `finished` and the children tile the slice exactly. No child is shorter than `min`
 * (or than one step of the source's granularity), unless less than that was left. No children at
 * all means that the slice cannot be divided: the caller must do something else (another dimension,
 * an L2 error), because retrying would loop forever.
 *
 * A slice is divided in halves. If the source's total is known, halving continues at once until an
 * even distribution would fit the cap with a quarter to spare, so that a total of fifty times the
 * cap does not take six rounds of wasted requests.
 *
 * A window of one step may still hold more than the cap. If the source accepts a range of ids, the
 * window stays as it is and the ids are divided instead.
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
    /* The part that is complete: at the start if the source sorts upwards, at the end if
     * downwards, and not valid (0, 0) if pages are not in order of time. Never all of it. */
    struct window finished;
    struct slice_cut cut; /* min, align and granularity are used here */
    enum reslice_reason reason;
    int64_t total;      /* the source's own count for the slice's query; 0: unknown */
    int64_t record_cap; /* 0: none */
};

struct reslice {
    struct window children[RESLICE_CHILDREN_MAX]; /* oldest first */
    size_t count;                                 /* 0: it cannot be divided */
};

void reslice_time(const struct reslice_request *request, struct reslice *out);

/* The same for pages; `finished` is the first unfinished page. False if fewer than two are left. */
bool reslice_pages(struct page_range pages, int64_t finished, struct page_range children[2]);

struct reslice_ids_request {
    struct id_range ids; /* the slice's own; not valid: all */
    int64_t id_min;      /* the lowest and the highest id that the source can have */
    int64_t id_max;
    enum reslice_reason reason;
    int64_t total; /* as above */
    int64_t record_cap;
};

struct reslice_ids {
    struct id_range children[RESLICE_CHILDREN_MAX]; /* from the lowest; they tile the slice's own */
    size_t count;                                   /* 0: it cannot be divided */
};

/* Divides the range between id_min and id_max into equal parts; an open end stays open. Each child
 * is at most half as wide as the slice, rounded up. However the ids are clustered, repeated
 * division therefore ends after at most as many rounds as an id has bits. */
void reslice_ids(const struct reslice_ids_request *request, struct reslice_ids *out);

#endif
