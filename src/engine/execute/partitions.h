/* partitions: what the executors of one process share: the health of each partition of the queue,
 * and whose turn it is. Any number of threads.
 */
#ifndef PATRA_ENGINE_EXECUTE_PARTITIONS_H
#define PATRA_ENGINE_EXECUTE_PARTITIONS_H

#include "core/health.h"
#include "engine/execute/executor.h"
#include "port/store_lease.h"
#include "port/store_pause.h"

/* When neither the source file nor history says otherwise. */
enum { PARTITION_RUNNING_MAX = 4 };
/* More partitions than this are served, but not remembered. */
enum { PARTITIONS_MAX = 4096 };

struct partition_choice {
    const struct partition_state *partition; /* NULL: none has its turn */
    int64_t live_max;
};

/* Whose turn it is; taking a turn is remembered. `wanted` decides for each partition whether the
 * caller may serve it. */
struct partition_query {
    const struct partition_list *partitions;
    const struct pause_list *pauses;
    bool (*wanted)(const void *context, const struct task_partition *partition);
    const void *context;
    int64_t now_us;
};
struct partition_choice partitions_choose(struct partitions *partitions,
                                          const struct partition_query *query);

/* When no partition has its turn: until when, and why; until_us 0: nothing waits, or all slots are
 * taken for an unknown time. */
struct partition_rest {
    int64_t until_us;
    enum wait_reason reason;
    const struct task_partition *partition; /* whose; NULL: of none. One of the query's. */
};
struct partition_rest partitions_rest(struct partitions *partitions,
                                      const struct partition_query *query);

/* The source demands silence, or its quota is used up: until then no task of the partition would
 * get a permit, and none is taken from the queue. */
void partitions_note_rest(struct partitions *partitions, const struct task_partition *partition,
                          const struct partition_rest *rest);

/* A person has lifted a silence: tasks of all partitions may be taken, and those that are still to
 * be silent say so again. */
void partitions_end_rests(struct partitions *partitions);

/* The settings of a partition, once they were read. */
struct partition_rules {
    int64_t running_max; /* 0: it says nothing */
    struct health_policy health;
};
void partitions_learn(struct partitions *partitions, const struct task_partition *partition,
                      const struct partition_rules *rules);
bool partitions_know(struct partitions *partitions, const struct task_partition *partition);

/* Returns whether the circuit is open by now. */
bool partitions_note(struct partitions *partitions, const struct task_partition *partition,
                     const struct health_sample *sample);

#endif
