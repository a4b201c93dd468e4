/* reslicing: one slice while it is re-sliced. Only the .c files of this folder include this.
 */
#ifndef PATRA_ENGINE_RESLICE_RESLICE_INTERNAL_H
#define PATRA_ENGINE_RESLICE_RESLICE_INTERNAL_H

#include "engine/plan/writer.h"
#include "engine/source/spec_cache.h"
#include "port/store_signal.h"

struct reslicing {
    struct store *store;
    struct arena *arena;
    struct spec_cache *specs;
    const struct reslice_ticket *ticket;
    int64_t now_us;
    struct task task;
    struct plan_slice parent;
    struct plan plan;
    const struct spec *spec; /* held */
    struct str target;       /* of the parent's expression */
    int64_t total;           /* of the ticket's detail; 0: unknown */
    int64_t finished_page;
    int64_t finished_ids;
    struct plan_writer *writer;
    int64_t children;
};

/* Writes a child: due now, after those before it. */
bool reslicing_write(struct reslicing *reslicing, struct plan_cut *cut,
                     struct error *err) MUST_CHECK;

/* The children of a slice by time: shorter windows; or, where the window cannot be cut and the
 * source accepts ranges of ids, parts of the window. */
bool reslicing_time(struct reslicing *reslicing, struct error *err) MUST_CHECK;

#endif
