/* plan_writer: slices and their tasks as rows, a batch at a time.
 *
 *      plan_writer_init(&writer, arena, store, &origin);
 *      while (...)  plan_writer_add(&writer, &cut, err)           writes when a batch is full
 *      plan_writer_finish(&writer, err)                           and what is left
 *
 * However many slices there are, one batch of them is in memory. All of it happens in the caller's
 * transaction.
 */
#ifndef PATRA_ENGINE_PLAN_WRITER_H
#define PATRA_ENGINE_PLAN_WRITER_H

#include "base/buf.h"
#include "core/limits.h"
#include "core/slice.h"
#include "data/hash.h"
#include "port/store_plan.h"
#include "port/store_task.h"
#include "spec/spec.h"

struct plan_watch; /* engine/plan/plan.h */

/* Where the slices come from; what is the same in all of their rows. */
struct plan_origin {
    const struct plan *plan;
    const struct spec *spec;
    struct str target; /* the endpoint under which records are stored */
    int64_t now_us;
    int64_t parent_id;        /* 0: the slices are the plan's own */
    int64_t first_number;     /* within the plan, from 1 */
    struct plan_watch *watch; /* sees each slice that was written; NULL: nobody does */
};

/* One slice to be written. */
struct plan_cut {
    const struct slice *slice;
    const struct str *ids; /* by id: the records */
    size_t id_count;
    int64_t generation;     /* core/slice_spec.h */
    int64_t cursor_version; /* FEED: of the cursor that the slice continues from; 0: none */
    int64_t scheduled_us;
    bool is_last_resort; /* it cannot be cut any further: the executor must not ask for it */
};

struct plan_writer {
    struct store *store;
    struct plan_origin origin;
    struct arena arena; /* of the batch */
    struct arena texts; /* of `text`: what is being written */
    struct buf text;
    struct hash hash;
    struct plan_slice slices[PLAN_BATCH];
    struct task tasks[PLAN_BATCH];
    int64_t slice_ids[PLAN_BATCH];
    size_t count;
    int64_t slices_added; /* and as many tasks */
};

/* The writer is large: put it into an arena. */
void plan_writer_init(struct plan_writer *writer, struct store *store,
                      const struct plan_origin *origin);
void plan_writer_release(struct plan_writer *writer);

bool plan_writer_add(struct plan_writer *writer, const struct plan_cut *cut,
                     struct error *err) MUST_CHECK;
bool plan_writer_finish(struct plan_writer *writer, struct error *err) MUST_CHECK;

/* The expression of a slice: its window, pages or ids, as canonical JSON. Together with the plan's
 * snapshot, whose hash it contains, each request can be rendered and replayed exactly.
 *
 *      {"proto":"<expr_proto_hash>","records":"works",
 *       "window":{"from":"...","keepFrom":"...","keepTo":"...","to":"..."}}
 *
 * A feed has "after":"120" instead of a window. By pages it has "page":{"from":1,"to":201}, by id
 * "ids":["10.1/a","10.1/b"]. A window that was cut by ids also has
 * "idRange":{"from":"1000","to":"2000"}, without the end that is open. */
void plan_expr_write(const struct plan_origin *origin, const struct plan_cut *cut, struct buf *out);

#endif
