#include "port/store_lease.h"

#include "adapter/memory/store_base.h"

static struct table *tasks_of(struct memory_db *db)
{
    return &db->tables[MEMORY_TASK];
}

static int64_t count_live(struct memory_db *db, const struct task_partition *partition,
                          int64_t now_us)
{
    const struct task *task;
    struct scan scan;
    struct key key = { 0 };
    int64_t live = 0;

    memory_add_partition(&key, partition);
    scan_init(&scan, tasks_of(db), TASK_BY_LIVE, &key, key.len);
    while ((task = scan_next(&scan)) != NULL)
        live += task->leased_until_us > now_us;
    scan_release(&scan);
    key_release(&key);
    return live;
}

/* ---- partitions ---- */

/* The first task that may run now, in the order of the queue. */
static const struct task *first_due(struct memory_db *db, const struct key *partition,
                                    int64_t now_us)
{
    const struct task *task;
    struct scan scan;

    scan_init(&scan, tasks_of(db), TASK_BY_QUEUE, partition, partition->len);
    do
        task = scan_next(&scan);
    while (task != NULL && task->scheduled_us > now_us);
    scan_release(&scan);
    return task;
}

static bool add_state(struct memory_db *db, struct arena *arena, const struct task *task,
                      const struct key *key, int64_t now_us, struct partition_list *list,
                      struct error *err)
{
    const struct task_partition partition = { task->source, task->endpoint, task->operation };
    struct partition_state *state = LIST_ADD(arena, list);
    const struct task *due = first_due(db, key, now_us);

    if (state == NULL)
        return arena_error(arena, err);
    state->partition =
        (struct task_partition){ arena_copy(arena, task->source), arena_copy(arena, task->endpoint),
                                 task->operation };
    state->has_due = due != NULL;
    state->priority = due != NULL ? due->priority : 0;
    state->scheduled_us = due != NULL ? due->scheduled_us : 0;
    state->live = count_live(db, &partition, now_us);
    return !arena->failed || arena_error(arena, err);
}

/* From one partition to the next by the index, however many tasks lie between. */
static bool list_partitions(struct memory_db *db, struct arena *arena, int64_t now_us,
                            struct partition_list *list, struct error *err)
{
    const struct task *task;
    struct key key = { 0 };
    bool ok = true;

    do {
        struct scan scan;

        scan_init(&scan, tasks_of(db), TASK_BY_QUEUE, &key, 0);
        task = scan_next(&scan);
        scan_release(&scan);
        if (task == NULL)
            break;
        key.len = 0;
        memory_add_partition(
            &key, &(struct task_partition){ task->source, task->endpoint, task->operation });
        ok = add_state(db, arena, task, &key, now_us, list, err);
        key_add_i64(&key, INT64_MAX); /* behind every priority */
    } while (ok);
    key_release(&key);
    return ok;
}

static bool lease_partitions(struct store *store, struct arena *arena, int64_t now_us,
                             struct partition_list *list, struct error *err)
{
    struct memory_call call;

    *list = (struct partition_list){ 0 };
    return memory_enter(&call, store, "partition_list", err) &&
           memory_leave(&call, list_partitions(call.db, arena, now_us, list, err), err);
}

/* ---- claims ---- */

static bool take(struct memory_db *db, struct arena *arena, int64_t id,
                 const struct task_claim *claim, struct task_list *list, struct error *err)
{
    struct task row = *(const struct task *)table_get(tasks_of(db), id);
    struct task *task = LIST_ADD(arena, list);

    if (task == NULL)
        return arena_error(arena, err);
    row.status = TASK_DISPATCHED;
    row.lease_owner = claim->owner;
    row.leased_until_us = claim->until_us;
    row.lease_count++;
    row.lease_epoch++;
    return memory_update(db, MEMORY_TASK, &row, err) &&
           memory_give(db, MEMORY_TASK, table_get(tasks_of(db), id), arena, task, err);
}

/* The next task of the queue that is due; 0 when there is none. */
static int64_t next_due(struct memory_db *db, const struct task_claim *claim)
{
    const bool is_any = claim->partition.source.len == 0;
    const struct task *task;
    struct scan scan;
    struct key key = { 0 };

    if (!is_any)
        memory_add_partition(&key, &claim->partition);
    scan_init(&scan, tasks_of(db), is_any ? TASK_BY_PICK : TASK_BY_QUEUE, &key, key.len);
    do
        task = scan_next(&scan);
    while (task != NULL && task->scheduled_us > claim->now_us);
    scan_release(&scan);
    key_release(&key);
    return task != NULL ? task->id : 0;
}

static bool claim_tasks(struct memory_db *db, struct arena *arena, const struct task_claim *claim,
                        struct task_list *list, struct error *err)
{
    int64_t limit = claim->limit;
    int64_t id;

    if (claim->live_max > 0 && claim->partition.source.len > 0) {
        const int64_t room = claim->live_max - count_live(db, &claim->partition, claim->now_us);

        limit = room < limit ? room : limit;
    }
    while ((int64_t)list->count < limit && (id = next_due(db, claim)) != 0) {
        if (!take(db, arena, id, claim, list, err))
            return false;
    }
    return true;
}

static bool lease_claim(struct store *store, struct arena *arena, const struct task_claim *claim,
                        struct task_list *list, struct error *err)
{
    struct memory_call call;

    *list = (struct task_list){ 0 };
    return memory_enter(&call, store, "task_claim", err) &&
           memory_leave(&call, claim_tasks(call.db, arena, claim, list, err), err);
}

/* ---- what only the holder may do ---- */

/* The task as it is, when this lease is still good for it. */
static bool is_held(struct memory_db *db, struct lease lease, struct task *row)
{
    const struct task *task = table_get(tasks_of(db), lease.task_id);

    if (task == NULL || task->lease_epoch != lease.epoch ||
        (task->status != TASK_DISPATCHED && task->status != TASK_EXECUTING))
        return false;
    *row = *task;
    return true;
}

static bool lease_start(struct store *store, struct lease lease, int64_t now_us, bool *held,
                        struct error *err)
{
    struct memory_call call;
    struct task row;

    (void)now_us;
    if (!memory_enter(&call, store, "lease_start", err))
        return false;
    *held = is_held(call.db, lease, &row);
    if (*held)
        row.status = TASK_EXECUTING;
    return memory_leave(&call, !*held || memory_update(call.db, MEMORY_TASK, &row, err), err);
}

static bool lease_renew(struct store *store, struct lease lease, int64_t until_us, int64_t now_us,
                        bool *held, struct error *err)
{
    struct memory_call call;
    struct task row;

    (void)now_us;
    if (!memory_enter(&call, store, "lease_renew", err))
        return false;
    *held = is_held(call.db, lease, &row);
    if (*held && until_us > row.leased_until_us)
        row.leased_until_us = until_us;
    return memory_leave(&call, !*held || memory_update(call.db, MEMORY_TASK, &row, err), err);
}

static void drop_lease(struct task *row)
{
    row->lease_owner = (struct str){ 0 };
    row->leased_until_us = 0;
}

static bool finish(struct memory_db *db, const struct task_end *end, bool *held, struct error *err)
{
    struct task row;

    *held = is_held(db, end->lease, &row);
    if (!*held)
        return true;
    row.status = end->status;
    row.covered = window_is_valid(end->covered) ? end->covered : (struct window){ 0, 0 };
    row.last_error = end->error;
    drop_lease(&row);
    return memory_check(!window_is_valid(row.covered) || (window_is_valid(row.window) &&
                                                          window_contains(row.window, row.covered)),
                        "ck_task_covered", err) &&
           memory_update(db, MEMORY_TASK, &row, err);
}

static bool lease_finish(struct store *store, const struct task_end *end, bool *held,
                         struct error *err)
{
    struct memory_call call;

    return memory_enter(&call, store, "lease_finish", err) &&
           memory_leave(&call, finish(call.db, end, held, err), err);
}

static bool lease_release(struct store *store, struct lease lease, int64_t scheduled_us,
                          struct str why, int64_t now_us, bool *held, struct error *err)
{
    struct memory_call call;
    struct task row;

    (void)now_us;
    if (!memory_enter(&call, store, "lease_release", err))
        return false;
    *held = is_held(call.db, lease, &row);
    if (*held) {
        row.status = TASK_QUEUED;
        row.scheduled_us = scheduled_us;
        row.last_error = why;
        drop_lease(&row);
    }
    return memory_leave(&call, !*held || memory_update(call.db, MEMORY_TASK, &row, err), err);
}

static bool reclaim(struct memory_db *db, int64_t now_us, int64_t limit, int64_t *count,
                    struct error *err)
{
    while (*count < limit) {
        const struct task *task;
        struct scan scan;
        struct task row;

        scan_init(&scan, tasks_of(db), TASK_BY_LEASE, NULL, 0);
        task = scan_next(&scan);
        scan_release(&scan);
        if (task == NULL || task->leased_until_us > now_us)
            break;
        memory_free_slots(db, task->lease_owner);
        row = *task;
        row.status = TASK_QUEUED;
        drop_lease(&row);
        if (!memory_update(db, MEMORY_TASK, &row, err))
            return false;
        ++*count;
    }
    return true;
}

static bool lease_reclaim(struct store *store, int64_t now_us, int64_t limit, int64_t *count,
                          struct error *err)
{
    struct memory_call call;

    *count = 0;
    return memory_enter(&call, store, "lease_reclaim", err) &&
           memory_leave(&call, reclaim(call.db, now_us, limit, count, err), err);
}

const struct store_lease_ops MEMORY_LEASE_OPS = {
    .partitions = lease_partitions,
    .claim = lease_claim,
    .start = lease_start,
    .renew = lease_renew,
    .finish = lease_finish,
    .release = lease_release,
    .reclaim = lease_reclaim,
};
