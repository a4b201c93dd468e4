/* slicing: how a source's settings say that its slices are cut, as core/slice.h and core/reslice.h
 * want it.
 */
#ifndef PATRA_ENGINE_SLICE_SLICING_H
#define PATRA_ENGINE_SLICE_SLICING_H

#include "core/reslice.h"
#include "core/slice.h"
#include "spec/spec.h"

/* How windows are cut. */
struct slice_cut slicing_cut(const struct spec *spec);

/* What the records of a slice by time cost in requests. */
struct slice_cost slicing_cost(const struct spec *spec);

/* How a slice with this range of ids, or with all ids, is cut by ids. False when the source does
 * not accept a range of ids (page.id_max). The caller fills in reason and total. */
bool slicing_ids(const struct spec *spec, struct id_range part,
                 struct reslice_ids_request *request);

/* Whether the rest of a slice can be re-sliced along its own dimension. */
bool slicing_can_cut(const struct slice *slice, const struct spec *spec, size_t id_count);

/* Whether it can be re-sliced by ids instead. That helps against a cap on the records of a query
 * and against nothing else: ids can be halved so often that a source with another problem would be
 * requested without end. */
bool slicing_can_cut_ids(const struct slice *slice, const struct spec *spec);

#endif
