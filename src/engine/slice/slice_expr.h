/* slice_expr: what the expression of a slice says about it (plan/writer.h writes it). */
#ifndef PATRA_ENGINE_SLICE_SLICE_EXPR_H
#define PATRA_ENGINE_SLICE_SLICE_EXPR_H

#include "base/arena.h"
#include "base/attr.h"
#include "base/error.h"
#include "base/str.h"

struct str_list {
    struct str *items;
    size_t count;
};

/* The ids of a slice by id; none for any other slice. */
bool slice_expr_ids(struct arena *arena, struct str expr_snapshot, struct str_list *ids,
                    struct error *err) MUST_CHECK;

/* The endpoint under which the records are stored. *target is left alone when the expression does
 * not say. */
bool slice_expr_target(struct arena *arena, struct str expr_snapshot, struct str *target,
                       struct error *err) MUST_CHECK;

#endif
