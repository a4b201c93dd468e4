/* store_lease: the queue as executors see it.
 *
 *      QUEUED --claim--> DISPATCHED --start--> EXECUTING --finish--> SUCCEEDED, PARTIAL, ...
 *         ^                  |                     |
 *         +------------------+---------------------+   release, or reclaim of an expired lease
 *
 * A claim gives a lease: until some instant, with an epoch that no other claim of the task has.
 * Every later call names the epoch, and does nothing (*held is false) when the lease has been lost
 * in the meantime. store_lease_renew() as the first call of a transaction fences all of it: the
 * task's row stays locked until the end, so a worker that lost its lease commits nothing.
 */
#ifndef PATRA_PORT_STORE_LEASE_H
#define PATRA_PORT_STORE_LEASE_H

#include "core/states.h"
#include "port/store_task.h"

struct lease {
    int64_t task_id;
    int64_t epoch;
};

struct partition_state {
    struct task_partition partition;
    int64_t plan_id;  /* of one of its queued tasks */
    bool has_due;     /* there is a task that may run now; false: all are scheduled for later */
    int64_t priority; /* of the first task that may run */
    int64_t scheduled_us;
    int64_t live; /* tasks under way in any process; one whose lease has expired is not counted */
};

struct partition_list {
    struct partition_state *items;
    size_t count;
};

struct task_claim {
    struct task_partition partition; /* source '' = any: the first tasks of the queue */
    struct str owner;                /* of the lease: random per start of a process */
    int64_t now_us;                  /* tasks scheduled later are not claimed */
    int64_t until_us;
    int64_t limit;
    int64_t live_max; /* at most this many under way in the partition; 0 = no limit */
};

struct task_end {
    struct lease lease;
    enum task_status status; /* a final one */
    bool has_reason;         /* PARTIAL */
    enum partial_reason reason;
    struct window covered; /* PARTIAL: what was finished; not valid: nothing */
    struct str error;      /* '' = none */
    int64_t now_us;
};

struct lease_release {
    struct lease lease;
    int64_t scheduled_us; /* the task runs at this instant or later */
    struct str reason;    /* kept as the task's last error */
    int64_t now_us;
};

struct store_lease_ops {
    bool (*partitions)(struct store *store, struct arena *arena, int64_t now_us,
                       struct partition_list *list, struct error *err);
    bool (*claim)(struct store *store, struct arena *arena, const struct task_claim *claim,
                  struct task_list *list, struct error *err);
    bool (*start)(struct store *store, struct lease lease, int64_t now_us, bool *held,
                  struct error *err);
    bool (*renew)(struct store *store, struct lease lease, int64_t until_us, int64_t now_us,
                  bool *held, struct error *err);
    bool (*finish)(struct store *store, const struct task_end *end, bool *held, struct error *err);
    bool (*release)(struct store *store, const struct lease_release *release, bool *held,
                    struct error *err);
    bool (*reclaim)(struct store *store, int64_t now_us, int64_t limit, int64_t *count,
                    struct error *err);
};

/* The partitions that have queued tasks, by name. The cost does not grow with the queue. */
static inline bool MUST_CHECK store_partition_list(struct store *store, struct arena *arena,
                                                   int64_t now_us, struct partition_list *list,
                                                   struct error *err)
{
    return store->lease->partitions(store, arena, now_us, list, err);
}

/* Claims up to `limit` tasks, the first by priority, scheduled_at and id; each goes to one owner
 * only. The list is in no order. With live_max, claims of one partition wait for each other. */
static inline bool MUST_CHECK store_task_claim(struct store *store, struct arena *arena,
                                               const struct task_claim *claim,
                                               struct task_list *list, struct error *err)
{
    return store->lease->claim(store, arena, claim, list, err);
}

/* DISPATCHED becomes EXECUTING. */
static inline bool MUST_CHECK store_lease_start(struct store *store, struct lease lease,
                                                int64_t now_us, bool *held, struct error *err)
{
    return store->lease->start(store, lease, now_us, held, err);
}

static inline bool MUST_CHECK store_lease_renew(struct store *store, struct lease lease,
                                                int64_t until_us, int64_t now_us, bool *held,
                                                struct error *err)
{
    return store->lease->renew(store, lease, until_us, now_us, held, err);
}

static inline bool MUST_CHECK store_lease_finish(struct store *store, const struct task_end *end,
                                                 bool *held, struct error *err)
{
    assert(state_may_follow(&TASK_STATES, TASK_EXECUTING, (int)end->status));
    return store->lease->finish(store, end, held, err);
}

/* Gives the task back to the queue. */
static inline bool MUST_CHECK store_lease_release(struct store *store,
                                                  const struct lease_release *release, bool *held,
                                                  struct error *err)
{
    return store->lease->release(store, release, held, err);
}

/* Puts tasks whose lease has expired back into the queue; *count is how many. Also frees the slots
 * of the rate gate (port/store_rate.h) that their owners hold: a dead process returns none. */
static inline bool MUST_CHECK store_lease_reclaim(struct store *store, int64_t now_us,
                                                  int64_t limit, int64_t *count, struct error *err)
{
    return store->lease->reclaim(store, now_us, limit, count, err);
}

#endif
