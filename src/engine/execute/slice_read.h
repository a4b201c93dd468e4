/* slice_read: a slice back from its row (core/slice_spec.h writes it). */
#ifndef PATRA_ENGINE_EXECUTE_SLICE_READ_H
#define PATRA_ENGINE_EXECUTE_SLICE_READ_H

#include "core/slice.h"
#include "port/store_plan.h"

struct slice_limits { /* 0: none */
    int64_t requests_max;
    int64_t duration_max_us;
};

/* `plan` is the slice's own: slices by page and by id have its window. Rows are patra's own
 * writing: "slice.unreadable" (L4) when they do not say what they must. */
bool slice_read(struct arena *arena, const struct plan *plan, const struct plan_slice *row,
                struct slice *slice, struct slice_limits *limits, struct error *err) MUST_CHECK;

/* Whether its rest could be cut again (core/reslice.h), along what it is a slice of. */
struct spec;
bool slice_can_be_cut(const struct slice *slice, const struct spec *spec, size_t id_count);

/* Whether it could be cut by ids instead. That helps against a cap, and against nothing else: ids
 * can be halved so often that a source with another ailment would be asked for ever. */
bool slice_can_be_parted(const struct slice *slice, const struct spec *spec);

#endif
