/* slice_read: a slice back from its row (core/slice_spec.h writes it). */
#ifndef PATRA_ENGINE_SLICE_SLICE_READ_H
#define PATRA_ENGINE_SLICE_SLICE_READ_H

#include "core/slice.h"
#include "port/store_plan.h"

struct slice_limits { /* 0: none */
    int64_t requests_max;
    int64_t duration_max_us;
};

/* `plan` is the slice's own: slices by page and by id have its window. Patra itself wrote the row:
 * "slice.unreadable" (L4) when it is not complete. */
bool slice_read(struct arena *arena, const struct plan *plan, const struct plan_slice *row,
                struct slice *slice, struct slice_limits *limits, struct error *err) MUST_CHECK;

#endif
