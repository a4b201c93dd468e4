/* store_plan: plans and their slices. A plan is a window and an expression, its slices are the
 * pieces that become tasks (port/store_task.h).
 */
#ifndef PATRA_PORT_STORE_PLAN_H
#define PATRA_PORT_STORE_PLAN_H

#include "core/codes.h"
#include "core/states.h"
#include "core/walk_budget.h"
#include "core/window.h"
#include "port/store.h"
#include "port/store_task.h"

struct plan {
    int64_t id;
    int64_t schedule_instance_id;
    struct str source;
    struct str endpoint;
    enum operation operation;
    struct str cursor_key; /* '' where no cursor follows */
    enum namespace_scope scope;
    struct str namespace_key;
    struct window window; /* not valid: the plan is empty, and its remarks say why */
    struct str expr_proto_hash;
    struct str expr_proto_snapshot; /* JSON, kept byte by byte */
    struct str spec_fingerprint;
    enum plan_status status;
    struct str remarks; /* JSON */
    int64_t created_us;
    int64_t updated_us;
};

struct plan_list {
    struct plan *items;
    size_t count;
};

struct plan_filter { /* a member that is not set does not filter */
    struct str source;
    struct str endpoint;
    bool has_operation;
    enum operation operation;
    bool has_status;
    enum plan_status status;
    int64_t before_id; /* for the next page: the last id of this one; 0 = from the newest */
    int64_t limit;
};

struct plan_move {
    int64_t id;
    enum plan_status from;
    enum plan_status to;
    struct str remarks; /* JSON; '' keeps what is there */
    int64_t now_us;
};

enum { TASK_STATUS_COUNT = TASK_CANCELLED + 1 };

struct plan_progress {
    int64_t slices;
    int64_t tasks[TASK_STATUS_COUNT]; /* by status */
};

struct plan_slice {
    int64_t id;
    int64_t plan_id;
    int64_t parent_id; /* the slice whose remainder this is; 0 = none */
    struct str source;
    int64_t number; /* within the plan, from 1 */
    enum slice_dimension dimension;
    struct window window; /* what its success covers; not valid if that is not a span of time */
    struct str spec;      /* JSON, kept byte by byte */
    struct str signature_hash;
    struct str expr_hash;
    struct str expr_snapshot; /* JSON, kept byte by byte */
    enum slice_status status;
    int64_t created_us;
};

struct plan_slice_list {
    struct plan_slice *items;
    size_t count;
};

/* What the walks of a slice and of its pieces have spent (core/walk_budget.h). */
struct slice_family {
    int64_t root_id; /* the slice that is not a piece of another */
    struct walk_budget budget;
};

/* What one walk adds to it. */
struct slice_spending {
    int64_t root_id;
    int64_t requests;
    int64_t needed; /* 0: not known by this walk */
    int64_t done;
};

struct store_plan_ops {
    bool (*add)(struct store *store, const struct plan *plan, int64_t *id, struct error *err);
    bool (*move)(struct store *store, const struct plan_move *move, bool *moved, struct error *err);
    bool (*get)(struct store *store, struct arena *arena, int64_t id, struct plan *plan,
                bool *found, struct error *err);
    bool (*list)(struct store *store, struct arena *arena, const struct plan_filter *filter,
                 struct plan_list *list, struct error *err);
    bool (*progress)(struct store *store, int64_t id, struct plan_progress *progress,
                     struct error *err);
    bool (*cancel)(struct store *store, int64_t id, int64_t now_us, int64_t *cancelled,
                   struct error *err);
    bool (*slice_add)(struct store *store, const struct plan_slice *slices, size_t count,
                      int64_t *ids, int64_t *added, struct error *err);
    bool (*slice_move)(struct store *store, int64_t id, enum slice_status to, int64_t now_us,
                       struct error *err);
    bool (*slice_get)(struct store *store, struct arena *arena, int64_t id,
                      struct plan_slice *slice, bool *found, struct error *err);
    bool (*slice_list)(struct store *store, struct arena *arena, int64_t plan_id,
                       struct store_page page, struct plan_slice_list *list, struct error *err);
    bool (*slice_family)(struct store *store, int64_t id, struct slice_family *family,
                         struct error *err);
    bool (*slice_spend)(struct store *store, const struct slice_spending *spending,
                        struct error *err);
};

/* The namespace that a plan's tasks cover. */
static inline struct coverage_namespace plan_namespace(const struct plan *plan)
{
    return (struct coverage_namespace){ .source = plan->source,
                                        .endpoint = plan->endpoint,
                                        .operation = plan->operation,
                                        .cursor_key = plan->cursor_key,
                                        .scope = plan->scope,
                                        .namespace_key = plan->namespace_key };
}

/* One planner at a time works on a namespace: the coverage it has read stays true until it commits.
 */
static inline bool MUST_CHECK store_namespace_lock(struct store *store, const struct plan *plan,
                                                   struct error *err)
{
    const struct coverage_namespace of = plan_namespace(plan);

    return store_coverage_lock(store, &of, err);
}

static inline bool MUST_CHECK store_plan_add(struct store *store, const struct plan *plan,
                                             int64_t *id, struct error *err)
{
    return store->plan->add(store, plan, id, err);
}

/* Compare-and-set: *moved is false when the plan was not in `from`. */
static inline bool MUST_CHECK store_plan_move(struct store *store, const struct plan_move *move,
                                              bool *moved, struct error *err)
{
    assert(state_may_follow(&PLAN_STATES, (int)move->from, (int)move->to));
    return store->plan->move(store, move, moved, err);
}

static inline bool MUST_CHECK store_plan_get(struct store *store, struct arena *arena, int64_t id,
                                             struct plan *plan, bool *found, struct error *err)
{
    return store->plan->get(store, arena, id, plan, found, err);
}

/* Newest first, without their snapshots. */
static inline bool MUST_CHECK store_plan_list(struct store *store, struct arena *arena,
                                              const struct plan_filter *filter,
                                              struct plan_list *list, struct error *err)
{
    return store->plan->list(store, arena, filter, list, err);
}

static inline bool MUST_CHECK store_plan_progress(struct store *store, int64_t id,
                                                  struct plan_progress *progress, struct error *err)
{
    return store->plan->progress(store, id, progress, err);
}

/* The plan becomes CANCELLED, and so do its queued tasks, which *cancelled counts, and its PENDING
 * and READY slices that then have no other task. Tasks under way are left alone: their executor
 * reads the plan's status between batches. A plan that is already FAILED or CANCELLED stays as it
 * is. L2 when there is no such plan. Needs a transaction. */
static inline bool MUST_CHECK store_plan_cancel(struct store *store, int64_t id, int64_t now_us,
                                                int64_t *cancelled, struct error *err)
{
    assert(store->state == STORE_WRITING);
    return store->plan->cancel(store, id, now_us, cancelled, err);
}

/* Adds slices, all of one plan. A slice whose signature the plan already has is not added again;
 * ids[i] is the id of slices[i] in either case, *added counts the new ones. Needs a transaction. */
static inline bool MUST_CHECK store_slice_add(struct store *store, const struct plan_slice *slices,
                                              size_t count, int64_t *ids, int64_t *added,
                                              struct error *err)
{
    assert(store->state == STORE_WRITING);
    return store->plan->slice_add(store, slices, count, ids, added, err);
}

/* L2 when there is no such slice. */
static inline bool MUST_CHECK store_slice_move(struct store *store, int64_t id,
                                               enum slice_status to, int64_t now_us,
                                               struct error *err)
{
    return store->plan->slice_move(store, id, to, now_us, err);
}

static inline bool MUST_CHECK store_slice_get(struct store *store, struct arena *arena, int64_t id,
                                              struct plan_slice *slice, bool *found,
                                              struct error *err)
{
    return store->plan->slice_get(store, arena, id, slice, found, err);
}

/* By number, from the first above page.after. */
static inline bool MUST_CHECK store_slice_list(struct store *store, struct arena *arena,
                                               int64_t plan_id, struct store_page page,
                                               struct plan_slice_list *list, struct error *err)
{
    return store->plan->slice_list(store, arena, plan_id, page, list, err);
}

/* The family of a slice. L2 when there is no such slice. */
static inline bool MUST_CHECK store_slice_family(struct store *store, int64_t id,
                                                 struct slice_family *family, struct error *err)
{
    return store->plan->slice_family(store, id, family, err);
}

static inline bool MUST_CHECK store_slice_spend(struct store *store,
                                                const struct slice_spending *spending,
                                                struct error *err)
{
    return store->plan->slice_spend(store, spending, err);
}

#endif
