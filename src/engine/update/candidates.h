/* update_candidates: the records that an UPDATE or METRICS driven by ids looks at again, and the
 * slices they make.
 *
 *      signals        somebody says so: a person (--ids), an API, the quarantine
 *      old hashes     records that were read by an expression that is no longer in force
 *      staleness      records not checked for long; of these one Nth each day
 *      METRICS        is stale where its own record is, or where there is none yet
 *      children       an endpoint with a parent: the parents that are due (children.h); the ids of
 *                     signals and of the trigger are those of parents, too
 *
 * Candidates are read a page at a time and cut a batch at a time, so memory does not grow with
 * them. Within a batch they are divided by hash or by range. A slice holds its ids in its
 * expression, so that it can be run and replayed without knowing what was stale then.
 *
 * No id is taken twice: ids of live tasks and ids already taken are in a filter (id_filter.h). An
 * id that the filter is not sure of is left for the next trigger. A signal is consumed by the plan
 * that takes its record; the others stay open.
 */
#ifndef PATRA_ENGINE_UPDATE_CANDIDATES_H
#define PATRA_ENGINE_UPDATE_CANDIDATES_H

#include "core/slice.h"
#include "engine/update/id_reader.h"
#include "port/store_plan.h"
#include "spec/source.h"
#include "spec/spec.h"

/* A slice that was cut. Valid during the call. */
struct update_slice {
    const struct slice *slice;
    const struct str *ids;
    size_t id_count;
};

/* Where slices go, one by one. The planner embeds it. */
struct update_taker {
    /* *taken is false when the budget has no room for this slice, nor for any after it. */
    bool (*take)(struct update_taker *taker, const struct update_slice *slice, bool *taken,
                 struct error *err);
};

struct update_request {
    const struct source *source;
    const struct spec *spec; /* of the operation */
    const struct plan *plan; /* its row; unless it is a preview it must have been added */
    struct str base;         /* the endpoint whose records are looked at again */
    struct str target;       /* the endpoint under which records are stored */
    int64_t now_us;
    int64_t stale_us;      /* only records not checked for this long; 0: as the source says */
    struct id_reader *ids; /* of the trigger; NULL: none */
    bool is_preview;       /* nothing is written, and slices are cut beyond the budget's end */
    struct update_taker *taker;
};

/* Cuts as far as the budget goes. Ids of the trigger become signals first, so that those that are
 * not taken now are not lost. */
bool update_candidates_cut(struct store *store, struct arena *arena,
                           const struct update_request *request, struct error *err) MUST_CHECK;

#endif
