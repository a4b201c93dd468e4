#include "port/store_status.h"

#include <stdlib.h>

#include "adapter/memory/store_base.h"
#include "core/states.h"
#include "port/store_run.h"

/* The task, when this run is its last one and ended since. */
static const struct task *ended_by(struct memory_db *db, const struct run *run, struct str source,
                                   int64_t since_us)
{
    const struct task *task;

    if (run == NULL || run->finished_us == 0 || run->finished_us < since_us ||
        run->started_us < since_us - STATUS_RUN_MAX_US || !str_eq(run->source, source))
        return NULL;
    task = table_get(&db->tables[MEMORY_TASK], run->task_id);
    return task != NULL && state_is_final(&TASK_STATES, (int)task->status) &&
                   task->attempts == run->attempt
               ? task
               : NULL;
}

static bool add_count(struct arena *arena, const struct task *task,
                      struct partition_count_list *list, struct error *err)
{
    const struct task_partition partition = { task->source, task->endpoint, task->operation };

    return partition_count_add(arena, &partition, task->status, 1, task->scheduled_us, list) ||
           arena_error(arena, err);
}

static bool count_tasks(struct memory_db *db, struct arena *arena, struct str source,
                        int64_t since_us, struct partition_count_list *list, struct error *err)
{
    const struct table *tasks = &db->tables[MEMORY_TASK], *runs = &db->tables[MEMORY_RUN];

    for (int64_t id = 1; id < tasks->next_id; id++) {
        const struct task *task = table_get(tasks, id);

        if (task != NULL && !state_is_final(&TASK_STATES, (int)task->status) &&
            str_eq(task->source, source) && !add_count(arena, task, list, err))
            return false;
    }
    for (int64_t id = 1; id < runs->next_id; id++) {
        const struct task *task = ended_by(db, table_get(runs, id), source, since_us);

        if (task != NULL && !add_count(arena, task, list, err))
            return false;
    }
    return true;
}

static bool status_counts(struct store *store, struct arena *arena, struct str source,
                          int64_t since_us, struct partition_count_list *list, struct error *err)
{
    struct memory_call call;

    *list = (struct partition_count_list){ 0 };
    return memory_enter(&call, store, "status_counts", err) &&
           memory_leave(&call, count_tasks(call.db, arena, source, since_us, list, err), err);
}

static bool list_running(struct memory_db *db, struct arena *arena, struct str source,
                         int64_t limit, struct task_list *list, struct error *err)
{
    const struct task *row;
    struct scan scan;
    bool ok = true;

    scan_init(&scan, &db->tables[MEMORY_TASK], TASK_BY_LEASE, NULL, 0);
    while (ok && (int64_t)list->count < limit && (row = scan_next(&scan)) != NULL) {
        if (!str_eq(row->source, source))
            continue;
        ok = memory_give(db, MEMORY_TASK, row, arena, LIST_ADD(arena, list), err);
    }
    scan_release(&scan);
    return ok;
}

static bool status_running(struct store *store, struct arena *arena, struct str source,
                           int64_t limit, struct task_list *list, struct error *err)
{
    struct memory_call call;

    *list = (struct task_list){ 0 };
    return memory_enter(&call, store, "status_running", err) &&
           memory_leave(&call, list_running(call.db, arena, source, limit, list, err), err);
}

static int by_end(const void *a, const void *b)
{
    const struct ended_task *x = a, *y = b;

    if (x->ended_us != y->ended_us)
        return x->ended_us > y->ended_us ? -1 : 1;
    return (x->task.id < y->task.id) - (x->task.id > y->task.id);
}

/* Tickets have the task's id as their only key. */
static bool is_cut(struct memory_db *db, int64_t task_id)
{
    struct key key = { 0 };
    bool found;

    key_add_i64(&key, task_id);
    found = table_find(&db->tables[MEMORY_RESLICE], 0, &key) != NULL;
    key_release(&key);
    return found;
}

static bool list_troubled(struct memory_db *db, struct arena *arena, struct str source,
                          int64_t since_us, struct ended_task_list *list, struct error *err)
{
    const struct table *runs = &db->tables[MEMORY_RUN];

    for (int64_t id = 1; id < runs->next_id; id++) {
        const struct run *run = table_get(runs, id);
        const struct task *task = ended_by(db, run, source, since_us);
        struct ended_task *ended;

        if (task == NULL || (task->status != TASK_PARTIAL && task->status != TASK_FAILED))
            continue;
        ended = LIST_ADD(arena, list);
        if (ended == NULL)
            return arena_error(arena, err);
        if (!memory_give(db, MEMORY_TASK, task, arena, &ended->task, err))
            return false;
        ended->has_reason = run->has_reason;
        ended->reason = run->reason;
        ended->is_cut = is_cut(db, task->id);
        ended->ended_us = run->finished_us;
    }
    return true;
}

static bool status_troubled(struct store *store, struct arena *arena, struct str source,
                            int64_t since_us, int64_t limit, struct ended_task_list *list,
                            struct error *err)
{
    struct memory_call call;

    *list = (struct ended_task_list){ 0 };
    if (!memory_enter(&call, store, "status_troubled", err) ||
        !memory_leave(&call, list_troubled(call.db, arena, source, since_us, list, err), err))
        return false;
    if (list->count > 0)
        qsort(list->items, list->count, sizeof(*list->items), by_end);
    if ((int64_t)list->count > limit)
        list->count = (size_t)limit;
    return true;
}

static void count_open(struct memory_db *db, struct str source, struct open_count *count)
{
    const struct table *table = &db->tables[MEMORY_QUARANTINE];

    for (int64_t id = 1; id < table->next_id; id++) {
        const struct quarantined_stored *row = table_get(table, id);

        count->quarantined += row != NULL && row->record.resolution == QUARANTINE_OPEN &&
                              str_eq(row->record.source, source);
    }
    table = &db->tables[MEMORY_SIGNAL];
    for (int64_t id = 1; id < table->next_id; id++) {
        const struct signal_stored *row = table_get(table, id);

        count->signals += row != NULL && !row->is_consumed && str_eq(row->signal.source, source);
    }
    table = &db->tables[MEMORY_RESLICE];
    for (int64_t id = 1; id < table->next_id; id++) {
        const struct ticket_stored *row = table_get(table, id);
        const struct task *task =
            row != NULL ? table_get(&db->tables[MEMORY_TASK], row->ticket.task_id) : NULL;

        count->tickets += task != NULL && !row->is_claimed && str_eq(task->source, source);
    }
}

static bool status_open(struct store *store, struct str source, struct open_count *count,
                        struct error *err)
{
    struct memory_call call;

    *count = (struct open_count){ 0 };
    if (!memory_enter(&call, store, "status_open", err))
        return false;
    count_open(call.db, source, count);
    return memory_leave(&call, true, err);
}

static bool list_gates(struct memory_db *db, struct arena *arena, struct gate_row_list *list,
                       struct error *err)
{
    const struct gate_stored *stored;
    struct scan scan;
    bool ok = true;

    scan_init(&scan, &db->tables[MEMORY_RATE], 0, NULL, 0);
    while (ok && (stored = scan_next(&scan)) != NULL) {
        struct gate_row *row = LIST_ADD(arena, list);

        if (row != NULL)
            *row = (struct gate_row){ arena_copy(arena, stored->key), stored->gate };
        ok = row != NULL && !arena->failed;
    }
    scan_release(&scan);
    return ok || arena_error(arena, err);
}

static bool status_gates(struct store *store, struct arena *arena, struct gate_row_list *list,
                         struct error *err)
{
    struct memory_call call;

    *list = (struct gate_row_list){ 0 };
    return memory_enter(&call, store, "status_gates", err) &&
           memory_leave(&call, list_gates(call.db, arena, list, err), err);
}

const struct store_status_ops MEMORY_STATUS_OPS = {
    .counts = status_counts,
    .running = status_running,
    .troubled = status_troubled,
    .open = status_open,
    .gates = status_gates,
};
