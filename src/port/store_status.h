/* store_status: the state of the work, for people and for commands that wait for its end.
 *
 * These calls only read, each as of one moment, and block nothing. Their cost grows with what is
 * live and recent, not with history.
 */
#ifndef PATRA_PORT_STORE_STATUS_H
#define PATRA_PORT_STORE_STATUS_H

#include "core/codes.h"
#include "port/store_plan.h"
#include "port/store_rate.h"
#include "port/store_task.h"

/* A task that ended is found by its last run, a cancelled one by itself. Runs that began earlier
 * than this before `since_us` are not searched. */
#define STATUS_RUN_MAX_US (7 * INT64_C(86400000000))

/* ---- the queue of a source, by partition ---- */

struct partition_count {
    struct task_partition partition;
    int64_t queued;                   /* due or not */
    int64_t first_us;                 /* when the earliest of these is due; 0 = there is none */
    int64_t running;                  /* under way in any process */
    int64_t ended[TASK_STATUS_COUNT]; /* tasks whose last run ended since, by status;
                                         CANCELLED: that were cancelled since, run or not */
};

struct partition_count_list {
    struct partition_count *items;
    size_t count;
};

/* Adds a number of tasks with one status to their partition's counts; all adapters use it. The
 * texts are copied into the arena. False when the arena is full. */
static inline bool MUST_CHECK partition_count_add(struct arena *arena,
                                                  const struct task_partition *partition,
                                                  enum task_status status, int64_t count,
                                                  int64_t first_us,
                                                  struct partition_count_list *list)
{
    struct partition_count *found = NULL;

    for (size_t i = 0; i < list->count && found == NULL; i++) {
        const struct task_partition *other = &list->items[i].partition;

        if (str_eq(other->endpoint, partition->endpoint) &&
            other->operation == partition->operation)
            found = &list->items[i];
    }
    if (found == NULL) {
        found = LIST_ADD(arena, list);
        if (found == NULL)
            return false;
        found->partition =
            (struct task_partition){ arena_copy(arena, partition->source),
                                     arena_copy(arena, partition->endpoint), partition->operation };
    }
    if (status == TASK_QUEUED) {
        if (found->queued == 0 || first_us < found->first_us)
            found->first_us = first_us;
        found->queued += count;
    } else if (status == TASK_DISPATCHED || status == TASK_EXECUTING) {
        found->running += count;
    } else {
        found->ended[status] += count;
    }
    return !arena->failed;
}

/* ---- tasks that ended with something missing ---- */

struct ended_task {
    struct task task;
    bool has_reason; /* PARTIAL */
    enum partial_reason reason;
    bool is_resliced; /* a ticket was added to re-slice its rest */
    int64_t ended_us;
};

struct ended_task_list {
    struct ended_task *items;
    size_t count;
};

/* ---- what is open ---- */

struct open_count {
    int64_t quarantined; /* records that are not resolved */
    int64_t signals;     /* records to be fetched again, not yet planned */
    int64_t tickets;     /* slices to be re-sliced */
};

/* ---- runs that are done and leave doubts ---- */

struct doubted_runs {
    struct str doubts; /* the runs' own: a JSON array of names */
    int64_t count;     /* runs that have just these */
    int64_t task_id;   /* of the last of them */
};

struct doubted_runs_list {
    struct doubted_runs *items;
    size_t count;
};

/* ---- rate gates ---- */

struct gate_row {
    struct str key;
    struct rate_gate gate;
};

struct gate_row_list {
    struct gate_row *items;
    size_t count;
};

struct trouble_query {
    struct str source;
    int64_t since_us;
    bool with_held; /* and those left to a person (DEAD_END, OVER_BUDGET, CRASHED), whenever they
                       ended */
    int64_t limit;
};

struct store_status_ops {
    bool (*counts)(struct store *store, struct arena *arena, struct str source, int64_t since_us,
                   struct partition_count_list *list, struct error *err);
    bool (*running)(struct store *store, struct arena *arena, struct str source, int64_t limit,
                    struct task_list *list, struct error *err);
    bool (*troubled)(struct store *store, struct arena *arena, const struct trouble_query *query,
                     struct ended_task_list *list, struct error *err);
    bool (*open)(struct store *store, struct str source, struct open_count *count,
                 struct error *err);
    bool (*doubted)(struct store *store, struct arena *arena, struct str source, int64_t since_us,
                    struct doubted_runs_list *list, struct error *err);
    bool (*gates)(struct store *store, struct arena *arena, struct gate_row_list *list,
                  struct error *err);
};

/* Partitions of the source with a task that is queued, runs, or has ended since; in no order. */
static inline bool MUST_CHECK store_status_counts(struct store *store, struct arena *arena,
                                                  struct str source, int64_t since_us,
                                                  struct partition_count_list *list,
                                                  struct error *err)
{
    return store->status->counts(store, arena, source, since_us, list, err);
}

/* Tasks of the source under way, by the end of their lease. */
static inline bool MUST_CHECK store_status_running(struct store *store, struct arena *arena,
                                                   struct str source, int64_t limit,
                                                   struct task_list *list, struct error *err)
{
    return store->status->running(store, arena, source, limit, list, err);
}

/* Tasks of the source that have ended PARTIAL or FAILED since, the latest first. */
static inline bool MUST_CHECK store_status_troubled(struct store *store, struct arena *arena,
                                                    const struct trouble_query *query,
                                                    struct ended_task_list *list, struct error *err)
{
    return store->status->troubled(store, arena, query, list, err);
}

static inline bool MUST_CHECK store_status_open(struct store *store, struct str source,
                                                struct open_count *count, struct error *err)
{
    return store->status->open(store, source, count, err);
}

/* The last runs of tasks of the source that have ended since and have doubts; in no order. */
static inline bool MUST_CHECK store_status_doubted(struct store *store, struct arena *arena,
                                                   struct str source, int64_t since_us,
                                                   struct doubted_runs_list *list,
                                                   struct error *err)
{
    return store->status->doubted(store, arena, source, since_us, list, err);
}

/* All rate gates by key, as they were last saved. */
static inline bool MUST_CHECK store_status_gates(struct store *store, struct arena *arena,
                                                 struct gate_row_list *list, struct error *err)
{
    return store->status->gates(store, arena, list, err);
}

#endif
