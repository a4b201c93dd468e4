/* store_lease: the queue as executors see it.
 *
 *      QUEUED --claim--> DISPATCHED --start--> EXECUTING --finish--> SUCCEEDED, PARTIAL, FAILED,
 * ... ^                  |                     |
 *         +---- release, or reclaim after the lease ran out ----+
 *
 * A claim gives a lease: until some instant, with an epoch that no other claim of the task has.
 * Every later call names the epoch, and does nothing (*held is false) when the task was taken away
 * meanwhile. store_lease_renew() as a transaction's first call fences the whole of it: its row
 * stays locked to the end, so who has been overtaken commits nothing.
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
    bool has_due;     /* a task that may run now; else all of them wait for their time */
    int64_t priority; /* of the first that may run */
    int64_t scheduled_us;
    int64_t live; /* tasks under way, whoever's; what has a lease that ran out is not */
};

struct partition_list {
    struct partition_state *items;
    size_t count;
};

struct task_claim {
    struct task_partition partition; /* source '' = whichever comes first in the queue */
    struct str owner;                /* of the lease: random per start of a process */
    int64_t now_us;                  /* tasks scheduled later are not meant */
    int64_t until_us;
    int64_t limit;
    int64_t live_max; /* no more under way in the partition than this; 0 = no limit */
};

struct task_end {
    struct lease lease;
    enum task_status status; /* a final one */
    bool has_reason;         /* PARTIAL */
    enum partial_reason reason;
    struct window covered; /* PARTIAL: what was finished; not valid for nothing */
    struct str error;      /* '' = none */
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
    bool (*release)(struct store *store, struct lease lease, int64_t scheduled_us, struct str why,
                    int64_t now_us, bool *held, struct error *err);
    bool (*reclaim)(struct store *store, int64_t now_us, int64_t limit, int64_t *count,
                    struct error *err);
};

/* The partitions that have tasks waiting, by name. Costs no more for a long queue. */
static inline bool MUST_CHECK store_partition_list(struct store *store, struct arena *arena,
                                                   int64_t now_us, struct partition_list *list,
                                                   struct error *err)
{
    return store->lease->partitions(store, arena, now_us, list, err);
}

/* Up to `limit` tasks by priority, scheduled_at and id; each goes to one owner alone. In the list
 * they may stand in any order. With live_max two claims of a partition go one after the other. */
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

/* Gives the task back, to run at scheduled_us or later. */
static inline bool MUST_CHECK store_lease_release(struct store *store, struct lease lease,
                                                  int64_t scheduled_us, struct str why,
                                                  int64_t now_us, bool *held, struct error *err)
{
    return store->lease->release(store, lease, scheduled_us, why, now_us, held, err);
}

/* Puts tasks whose lease has run out back into the queue; *count tells how many. Slots of the rate
 * gate (port/store_rate.h) that their owners hold are free again: who is dead returns none. */
static inline bool MUST_CHECK store_lease_reclaim(struct store *store, int64_t now_us,
                                                  int64_t limit, int64_t *count, struct error *err)
{
    return store->lease->reclaim(store, now_us, limit, count, err);
}

#endif
