/* store_task: the queue, and which time its tasks cover.
 *
 *      planner   store_coverage_lock, store_coverage_list, ..., store_task_add   in one transaction
 *      executor  store_task_claim (port/store_lease.h) takes the first that is due
 *      cursor    store_coverage_lock, store_coverage_list: how far nothing is missing
 *
 * One task per slice: its idempotent_key makes adding it again harmless. A task that has SUCCEEDED
 * covers its window, or, if it was sliced by ids, its ids of that window; one that is PARTIAL
 * covers what was finished; others cover nothing.
 */
#ifndef PATRA_PORT_STORE_TASK_H
#define PATRA_PORT_STORE_TASK_H

#include "base/instant.h"
#include "core/codes.h"
#include "core/id_range.h"
#include "core/window.h"
#include "port/store.h"

struct task {
    int64_t id;
    int64_t schedule_instance_id;
    int64_t plan_id;
    int64_t slice_id;
    struct str source;
    struct str endpoint;
    enum operation operation;
    struct str credential; /* the credential's key in the source; '' = none */
    struct str cursor_key;
    enum namespace_scope scope;
    struct str namespace_key;
    struct window window;  /* as the slice's; not valid if success does not cover a span of time */
    struct window covered; /* PARTIAL: the finished part of it; otherwise not valid */
    struct id_range ids;   /* it covers its window for these ids only; not valid: for all */
    int64_t horizon_us;    /* the end of its plan's window; only store_coverage_list reads it */
    bool is_reset; /* the cursor was reset to before it: it covers nothing, even if it succeeds */
    struct str params; /* JSON, kept byte by byte */
    struct str expr_hash;
    struct str idempotent_key;
    enum task_status status;
    int64_t priority; /* 0..1000, smaller runs first */
    int64_t scheduled_us;
    struct str lease_owner; /* '' = nobody */
    int64_t leased_until_us;
    int64_t lease_count;
    int64_t lease_epoch;
    int64_t attempts;
    int64_t crashes; /* leases of it that ran out in a row, without a batch between */
    struct str last_error;
    int64_t created_us;
    bool is_cancelled; /* a person has cancelled it; one that runs ends after its batch */
    struct str cancel_reason;
};

struct task_list {
    struct task *items;
    size_t count;
};

struct task_filter { /* a member that is not set does not filter */
    int64_t plan_id;
    struct str source;
    bool has_status;
    enum task_status status;
    int64_t after_id;
    int64_t limit;
};

struct task_cancel {
    int64_t id;
    struct str reason; /* also the last error of a task that is queued */
    int64_t now_us;
};

struct task_partition { /* what the queue is shared out by */
    struct str source;
    struct str endpoint;
    enum operation operation;
};

/* What coverage is counted by. */
struct coverage_namespace {
    struct str source;
    struct str endpoint;
    enum operation operation;
    struct str cursor_key;
    enum namespace_scope scope;
    struct str namespace_key;
    int64_t late_us; /* how long after its date a record may appear (HARVEST's lookback); not part
                        of the name */
};

/* The lock of a namespace. Planners hold it to plan, and it is held to move the cursor. The
 * cursor's key already names the endpoint; the lock's name has the endpoint itself only when there
 * is no cursor. */
static inline bool MUST_CHECK store_coverage_lock(struct store *store,
                                                  const struct coverage_namespace *of,
                                                  struct error *err)
{
    return store_lock_named(store, err, "namespace:%.*s/%.*s/%.*s/%.*s/%.*s", STR_ARG(of->source),
                            STR_ARG(of->cursor_key.len > 0 ? of->cursor_key : of->endpoint),
                            STR_ARG(code_of(&OPERATION_CODES, (int)of->operation)),
                            STR_ARG(code_of(&NAMESPACE_SCOPE_CODES, (int)of->scope)),
                            STR_ARG(of->namespace_key));
}

struct coverage_list {          /* in no order; windows may touch and overlap */
    struct window_list covered; /* SUCCEEDED, and the finished part of PARTIAL */
    struct window_list settled; /* the part of it that was read late_us after its date or later:
                                   no more records can appear there */
    struct window_list live;    /* QUEUED, DISPATCHED, EXECUTING */
    struct window_list lost;    /* FAILED, CANCELLED, the whole of PARTIAL, and all that have ended
                                   and were reset */
    struct {                    /* the same for tasks that have only some ids of their window */
        struct id_part_list covered;
        struct id_part_list settled;
        struct id_part_list live;
        struct id_part_list lost;
    } parts;
    size_t joined; /* windows at the end of `covered` that no single task covered; see
                      engine/coverage/coverage.h */
};

static inline bool MUST_CHECK coverage_list_put(struct arena *arena, const struct id_part *part,
                                                struct window_list *windows,
                                                struct id_part_list *parts)
{
    struct window *window;
    struct id_part *slot;

    if (id_range_is_valid(part->ids)) {
        slot = LIST_ADD(arena, parts);
        if (slot != NULL)
            *slot = *part;
        return slot != NULL;
    }
    window = LIST_ADD(arena, windows);
    if (window != NULL)
        *window = part->window;
    return window != NULL;
}

/* Adds to covered, and to settled up to late_us before the end of the plan's window: the plan was
 * made after that end, and the task was run later still. */
static inline bool MUST_CHECK coverage_list_cover(struct arena *arena, const struct task *task,
                                                  struct window window, int64_t late_us,
                                                  struct coverage_list *list)
{
    const struct id_part part = { window, task->ids };
    struct id_part settled = part;

    if (!coverage_list_put(arena, &part, &list->covered, &list->parts.covered))
        return false;
    if (late_us > 0 && task->horizon_us - late_us < window.to_us)
        settled.window.to_us = task->horizon_us - late_us;
    return !window_is_valid(settled.window) ||
           coverage_list_put(arena, &settled, &list->settled, &list->parts.settled);
}

/* Adds a task to the lists it belongs to; all adapters use it. False when the arena is full. */
static inline bool MUST_CHECK coverage_list_add(struct arena *arena, const struct task *task,
                                                int64_t late_us, int64_t after_us,
                                                struct coverage_list *list)
{
    const bool is_live = task->status == TASK_QUEUED || task->status == TASK_DISPATCHED ||
                         task->status == TASK_EXECUTING;
    const struct id_part own = { task->window, task->ids };

    if (is_live)
        return coverage_list_put(arena, &own, &list->live, &list->parts.live);
    if (task->status == TASK_SUCCEEDED && !task->is_reset)
        return coverage_list_cover(arena, task, task->window, late_us, list);
    if (!coverage_list_put(arena, &own, &list->lost, &list->parts.lost))
        return false;
    if (task->status != TASK_PARTIAL || task->is_reset || !window_is_valid(task->covered) ||
        task->covered.to_us <= after_us)
        return true;
    return coverage_list_cover(arena, task, task->covered, late_us, list);
}

struct endpoint_list {
    struct str *items;
    size_t count;
};

struct window_query {
    const struct coverage_namespace *of;
    struct window window;
    int64_t limit;
};

/* A window that was left to a person: its task ended DEAD_END, OVER_BUDGET or CRASHED. */
struct held_window {
    struct window window;
    int64_t plan_id;
    int64_t ended_us;
};

struct held_window_list {
    struct held_window *items;
    size_t count;
};

struct held_query {
    const struct coverage_namespace *of;
    int64_t after_us;       /* windows that reach beyond it */
    struct str fingerprint; /* of plans made with these settings only */
};

struct store_task_ops {
    bool (*add)(struct store *store, const struct task *tasks, size_t count, int64_t *added,
                struct error *err);
    bool (*get)(struct store *store, struct arena *arena, int64_t id, struct task *task,
                bool *found, struct error *err);
    bool (*list)(struct store *store, struct arena *arena, const struct task_filter *filter,
                 struct task_list *list, struct error *err);
    bool (*cancel)(struct store *store, const struct task_cancel *cancel, bool *changed,
                   struct error *err);
    bool (*hasten)(struct store *store, struct str source, int64_t now_us, int64_t *count,
                   struct error *err);
    bool (*queued)(struct store *store, const struct task_partition *partition, int64_t *count,
                   struct error *err);
    bool (*live)(struct store *store, struct arena *arena, const struct task_partition *partition,
                 struct store_page page, struct task_list *list, struct error *err);
    bool (*put_off)(struct store *store, struct arena *arena,
                    const struct task_partition *partition, int64_t now_us, int64_t limit,
                    struct task_list *list, struct error *err);
    bool (*coverage)(struct store *store, struct arena *arena, const struct coverage_namespace *of,
                     int64_t after_us, struct coverage_list *list, struct error *err);
    bool (*coverage_tasks)(struct store *store, struct arena *arena,
                           const struct window_query *query, struct task_list *list,
                           struct error *err);
    bool (*coverage_open)(struct store *store, struct arena *arena,
                          const struct window_query *query, struct task_list *list,
                          struct error *err);
    bool (*endpoints)(struct store *store, struct arena *arena, const struct coverage_namespace *of,
                      struct endpoint_list *list, struct error *err);
    bool (*last)(struct store *store, struct arena *arena, const struct coverage_namespace *of,
                 struct task *task, bool *found, struct error *err);
    bool (*coverage_observed)(struct store *store, const struct coverage_namespace *of,
                              struct window window, struct maybe_instant *latest,
                              struct error *err);
    bool (*coverage_held)(struct store *store, struct arena *arena, const struct held_query *query,
                          struct held_window_list *list, struct error *err);
    bool (*coverage_reset)(struct store *store, const struct coverage_namespace *of,
                           int64_t after_us, int64_t now_us, int64_t *count, struct error *err);
};

/* Adds tasks as QUEUED. A task whose idempotent_key already exists is not written; *added counts
 * the new ones. The members before `status`, and priority, scheduled_us and created_us are written,
 * except id and covered. */
static inline bool MUST_CHECK store_task_add(struct store *store, const struct task *tasks,
                                             size_t count, int64_t *added, struct error *err)
{
    return store->task->add(store, tasks, count, added, err);
}

static inline bool MUST_CHECK store_task_get(struct store *store, struct arena *arena, int64_t id,
                                             struct task *task, bool *found, struct error *err)
{
    return store->task->get(store, arena, id, task, found, err);
}

/* By id, from the first above after_id. */
static inline bool MUST_CHECK store_task_list(struct store *store, struct arena *arena,
                                              const struct task_filter *filter,
                                              struct task_list *list, struct error *err)
{
    return store->task->list(store, arena, filter, list, err);
}

/* A queued task becomes CANCELLED. One that runs is marked: its executor reads the mark between
 * batches. *changed is false for a task that has ended or does not exist. The slice's status is the
 * caller's part. */
static inline bool MUST_CHECK store_task_cancel(struct store *store,
                                                const struct task_cancel *cancel, bool *changed,
                                                struct error *err)
{
    assert(store->state == STORE_WRITING);
    return store->task->cancel(store, cancel, changed, err);
}

/* Queued tasks of a source that wait, put off or planned for later, are due now; gives how many.
 */
static inline bool MUST_CHECK store_task_hasten(struct store *store, struct str source,
                                                int64_t now_us, int64_t *count, struct error *err)
{
    return store->task->hasten(store, source, now_us, count, err);
}

/* How many tasks of a partition are queued. */
static inline bool MUST_CHECK store_task_queued(struct store *store,
                                                const struct task_partition *partition,
                                                int64_t *count, struct error *err)
{
    return store->task->queued(store, partition, count, err);
}

/* Tasks of a partition that are queued or run, by id, from the first above page.after. */
static inline bool MUST_CHECK store_task_live(struct store *store, struct arena *arena,
                                              const struct task_partition *partition,
                                              struct store_page page, struct task_list *list,
                                              struct error *err)
{
    return store->task->live(store, arena, partition, page, list, err);
}

/* Queued tasks of a partition that an error has put off beyond now_us, the next one first. */
static inline bool MUST_CHECK store_task_put_off(struct store *store, struct arena *arena,
                                                 const struct task_partition *partition,
                                                 int64_t now_us, int64_t limit,
                                                 struct task_list *list, struct error *err)
{
    return store->task->put_off(store, arena, partition, now_us, limit, list, err);
}

/* The windows, and parts of windows, of a namespace that reach beyond after_us. */
static inline bool MUST_CHECK store_coverage_list(struct store *store, struct arena *arena,
                                                  const struct coverage_namespace *of,
                                                  int64_t after_us, struct coverage_list *list,
                                                  struct error *err)
{
    return store->task->coverage(store, arena, of, after_us, list, err);
}

/* The tasks of a namespace whose windows share an instant with the query's, the newest first. */
static inline bool MUST_CHECK store_coverage_tasks(struct store *store, struct arena *arena,
                                                   const struct window_query *query,
                                                   struct task_list *list, struct error *err)
{
    return store->task->coverage_tasks(store, arena, query, list, err);
}

/* Of these tasks the ones that do not cover their window for a reason: they ended without it, were
 * reset, or have failed and are tried again. */
static inline bool MUST_CHECK store_coverage_open(struct store *store, struct arena *arena,
                                                  const struct window_query *query,
                                                  struct task_list *list, struct error *err)
{
    return store->task->coverage_open(store, arena, query, list, err);
}

/* The endpoints that have plans in a namespace, by name; of->endpoint does not count. A namespace
 * has one, unless endpoints share its cursor. */
static inline bool MUST_CHECK store_coverage_endpoints(struct store *store, struct arena *arena,
                                                       const struct coverage_namespace *of,
                                                       struct endpoint_list *list,
                                                       struct error *err)
{
    return store->task->endpoints(store, arena, of, list, err);
}

/* The newest task of a namespace whose tasks cover no span of time, live or ended. A feed has one
 * live task at a time: this one. */
static inline bool MUST_CHECK store_task_last(struct store *store, struct arena *arena,
                                              const struct coverage_namespace *of,
                                              struct task *task, bool *found, struct error *err)
{
    return store->task->last(store, arena, of, task, found, err);
}

/* The latest updated_at that runs of these tasks saw, also of tasks that were sliced by pages of a
 * plan with such a window. */
static inline bool MUST_CHECK store_coverage_observed(struct store *store,
                                                      const struct coverage_namespace *of,
                                                      struct window window,
                                                      struct maybe_instant *latest,
                                                      struct error *err)
{
    return store->task->coverage_observed(store, of, window, latest, err);
}

/* By plan. Tasks that were reset do not count. */
static inline bool MUST_CHECK store_coverage_held(struct store *store, struct arena *arena,
                                                  const struct held_query *query,
                                                  struct held_window_list *list, struct error *err)
{
    return store->task->coverage_held(store, arena, query, list, err);
}

/* From now on, tasks of a namespace cover nothing if their window (or, if they were sliced by
 * pages, their plan's window) reaches beyond after_us. Queued tasks that were never tried are left
 * alone: they will be fetched after this. *count is how many tasks were reset. The caller holds the
 * namespace's lock. */
static inline bool MUST_CHECK store_coverage_reset(struct store *store,
                                                   const struct coverage_namespace *of,
                                                   int64_t after_us, int64_t now_us, int64_t *count,
                                                   struct error *err)
{
    assert(store->state == STORE_WRITING);
    return store->task->coverage_reset(store, of, after_us, now_us, count, err);
}

#endif
