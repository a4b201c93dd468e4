#include "adapter/memory/store_base.h"
#include "port/store_plan.h"

static bool idempotent_key(const void *row, struct key *key)
{
    const struct task *task = row;

    key_add_str(key, task->idempotent_key);
    return true;
}

static void add_namespace(struct key *key, const struct coverage_namespace *of)
{
    key_add_str(key, of->source);
    key_add_str(key, of->endpoint);
    key_add_i64(key, (int64_t)of->operation);
    key_add_str(key, of->cursor_key);
    key_add_i64(key, (int64_t)of->scope);
    key_add_str(key, of->namespace_key);
}

static bool coverage_key(const void *row, struct key *key)
{
    const struct task *task = row;

    add_namespace(key, &(struct coverage_namespace){ task->source, task->endpoint, task->operation,
                                                     task->cursor_key, task->scope,
                                                     task->namespace_key, 0 });
    key_add_i64(key, task->window.to_us);
    return window_is_valid(task->window);
}

void memory_add_partition(struct key *key, const struct task_partition *partition)
{
    key_add_str(key, partition->source);
    key_add_str(key, partition->endpoint);
    key_add_str(key, code_of(&OPERATION_CODES, (int)partition->operation));
}

static bool live_key(const void *row, struct key *key)
{
    const struct task *task = row;

    memory_add_partition(key,
                         &(struct task_partition){ task->source, task->endpoint, task->operation });
    return task->status == TASK_DISPATCHED || task->status == TASK_EXECUTING;
}

static bool pick_key(const void *row, struct key *key)
{
    const struct task *task = row;

    key_add_i64(key, task->priority);
    key_add_i64(key, task->scheduled_us);
    return task->status == TASK_QUEUED;
}

static bool queue_key(const void *row, struct key *key)
{
    (void)live_key(row, key);
    return pick_key(row, key);
}

static bool lease_key(const void *row, struct key *key)
{
    key_add_i64(key, ((const struct task *)row)->leased_until_us);
    return ((const struct task *)row)->lease_owner.len > 0;
}

const struct table_def MEMORY_TASK_TABLE = {
    .name = "ing_task",
    .row_size = sizeof(struct task),
    .text_count = 10,
    .texts = { TEXT_DEF(struct task, source, TEXT_PLAIN),
               TEXT_DEF(struct task, endpoint, TEXT_PLAIN),
               TEXT_DEF(struct task, credential, TEXT_PLAIN),
               TEXT_DEF(struct task, cursor_key, TEXT_PLAIN),
               TEXT_DEF(struct task, namespace_key, TEXT_PLAIN),
               TEXT_DEF(struct task, params, TEXT_JSON),
               TEXT_DEF(struct task, expr_hash, TEXT_PLAIN),
               TEXT_DEF(struct task, idempotent_key, TEXT_PLAIN),
               TEXT_DEF(struct task, lease_owner, TEXT_PLAIN),
               TEXT_DEF(struct task, last_error, TEXT_PLAIN) },
    .index_count = 6,
    .indexes = { [TASK_BY_KEY] = { "uk_task_idem", true, idempotent_key },
                 [TASK_BY_COVERAGE] = { "idx_task_coverage", false, coverage_key },
                 [TASK_BY_QUEUE] = { "idx_task_queue", false, queue_key },
                 [TASK_BY_PICK] = { "idx_task_pick", false, pick_key },
                 [TASK_BY_LIVE] = { "idx_task_live", false, live_key },
                 [TASK_BY_LEASE] = { "idx_task_lease", false, lease_key } },
};

static bool add_task(struct memory_db *db, const struct task *task, int64_t *added,
                     struct error *err)
{
    struct task row = *task;
    struct key key = { 0 };
    int64_t id;
    bool is_new;

    (void)idempotent_key(task, &key);
    is_new = table_find(&db->tables[MEMORY_TASK], TASK_BY_KEY, &key) == NULL;
    key_release(&key);
    if (!is_new)
        return true;
    if (!window_is_valid(row.window))
        row.window = (struct window){ 0, 0 };
    if (!id_range_is_valid(row.ids))
        row.ids = (struct id_range){ 0, 0 };
    row.covered = (struct window){ 0, 0 };
    row.is_reset = false;
    row.status = TASK_QUEUED;
    row.lease_owner = (struct str){ 0 };
    row.leased_until_us = 0;
    row.lease_count = 0;
    row.lease_epoch = 0;
    row.attempts = 0;
    row.last_error = (struct str){ 0 };
    ++*added;
    return memory_refers(db, MEMORY_SCHEDULE, task->schedule_instance_id, err) &&
           memory_refers(db, MEMORY_PLAN, task->plan_id, err) &&
           memory_refers(db, MEMORY_SLICE, task->slice_id, err) &&
           memory_check(task->source.len > 0, "source", err) &&
           memory_check(task->endpoint.len > 0, "endpoint", err) &&
           memory_check(!id_range_is_valid(row.ids) || window_is_valid(row.window), "ids", err) &&
           memory_check(task->priority >= 0 && task->priority <= 1000, "priority", err) &&
           memory_insert(db, MEMORY_TASK, &row, &id, err);
}

static bool task_add(struct store *store, const struct task *tasks, size_t count, int64_t *added,
                     struct error *err)
{
    struct memory_call call;
    bool ok = true;

    *added = 0;
    if (!memory_enter(&call, store, "task_add", err))
        return false;
    for (size_t i = 0; i < count && ok; i++)
        ok = add_task(call.db, &tasks[i], added, err);
    return memory_leave(&call, ok, err);
}

static bool task_get(struct store *store, struct arena *arena, int64_t id, struct task *task,
                     bool *found, struct error *err)
{
    struct memory_call call;
    const void *row;

    if (!memory_enter(&call, store, "task_get", err))
        return false;
    row = table_get(&call.db->tables[MEMORY_TASK], id);
    *found = row != NULL;
    return memory_leave(&call, !*found || memory_give(call.db, MEMORY_TASK, row, arena, task, err),
                        err);
}

static bool is_meant(const struct task_filter *filter, const struct task *task)
{
    return (filter->plan_id == 0 || task->plan_id == filter->plan_id) &&
           (filter->source.len == 0 || str_eq(task->source, filter->source)) &&
           (!filter->has_status || task->status == filter->status);
}

static bool give_task(struct memory_db *db, struct arena *arena, const struct task *row,
                      struct task_list *list, struct error *err)
{
    struct task *task = LIST_ADD(arena, list);

    return task != NULL ? memory_give(db, MEMORY_TASK, row, arena, task, err)
                        : arena_error(arena, err);
}

static bool list_tasks(struct memory_db *db, struct arena *arena, const struct task_filter *filter,
                       struct task_list *list, struct error *err)
{
    const struct table *table = &db->tables[MEMORY_TASK];

    for (int64_t id = filter->after_id + 1;
         id < table->next_id && (int64_t)list->count < filter->limit; id++) {
        const struct task *row = table_get(table, id);

        if (row != NULL && is_meant(filter, row) && !give_task(db, arena, row, list, err))
            return false;
    }
    return true;
}

static bool task_list(struct store *store, struct arena *arena, const struct task_filter *filter,
                      struct task_list *list, struct error *err)
{
    struct memory_call call;

    *list = (struct task_list){ 0 };
    return memory_enter(&call, store, "task_list", err) &&
           memory_leave(&call, list_tasks(call.db, arena, filter, list, err), err);
}

static bool is_live_of(const struct task_partition *partition, const struct task *task)
{
    return (task->status == TASK_QUEUED || task->status == TASK_DISPATCHED ||
            task->status == TASK_EXECUTING) &&
           str_eq(task->source, partition->source) && str_eq(task->endpoint, partition->endpoint) &&
           task->operation == partition->operation;
}

static bool task_live(struct store *store, struct arena *arena,
                      const struct task_partition *partition, int64_t after_id, int64_t limit,
                      struct task_list *list, struct error *err)
{
    struct memory_call call;
    const struct table *table;
    bool ok = true;

    *list = (struct task_list){ 0 };
    if (!memory_enter(&call, store, "task_live", err))
        return false;
    table = &call.db->tables[MEMORY_TASK];
    for (int64_t id = after_id + 1; ok && id < table->next_id && (int64_t)list->count < limit;
         id++) {
        const struct task *row = table_get(table, id);

        if (row != NULL && is_live_of(partition, row))
            ok = give_task(call.db, arena, row, list, err);
    }
    return memory_leave(&call, ok, err);
}

static bool task_queued(struct store *store, const struct task_partition *partition, int64_t *count,
                        struct error *err)
{
    struct memory_call call;
    struct scan scan;
    struct key key = { 0 };

    if (!memory_enter(&call, store, "task_queued", err))
        return false;
    *count = 0;
    memory_add_partition(&key, partition);
    scan_init(&scan, &call.db->tables[MEMORY_TASK], TASK_BY_QUEUE, &key, key.len);
    while (scan_next(&scan) != NULL)
        ++*count;
    scan_release(&scan);
    key_release(&key);
    return memory_leave(&call, true, err);
}

static bool add_coverage(struct memory_db *db, struct arena *arena, const struct task *row,
                         int64_t late_us, int64_t after_us, struct coverage_list *list,
                         struct error *err)
{
    const struct plan *plan = table_get(&db->tables[MEMORY_PLAN], row->plan_id);
    struct task task = *row;

    task.horizon_us = plan != NULL ? plan->window.to_us : 0;
    return coverage_list_add(arena, &task, late_us, after_us, list) || arena_error(arena, err);
}

static bool list_coverage(struct memory_db *db, struct arena *arena, const struct key *from,
                          size_t prefix, int64_t late_us, int64_t after_us,
                          struct coverage_list *list, struct error *err)
{
    const struct task *task;
    struct scan scan;
    bool ok = true;

    scan_init(&scan, &db->tables[MEMORY_TASK], TASK_BY_COVERAGE, from, prefix);
    while (ok && (task = scan_next(&scan)) != NULL)
        ok = add_coverage(db, arena, task, late_us, after_us, list, err);
    scan_release(&scan);
    return ok;
}

static bool task_coverage(struct store *store, struct arena *arena,
                          const struct coverage_namespace *of, int64_t after_us,
                          struct coverage_list *list, struct error *err)
{
    struct memory_call call;
    struct key key = { 0 };
    size_t prefix;
    bool ok = true;

    *list = (struct coverage_list){ 0 };
    if (!memory_enter(&call, store, "coverage_list", err))
        return false;
    add_namespace(&key, of);
    prefix = key.len;
    key_add_i64(&key, after_us < INT64_MAX ? after_us + 1 : after_us);
    ok = list_coverage(call.db, arena, &key, prefix, of->late_us, after_us, list, err);
    key_release(&key);
    return memory_leave(&call, ok, err);
}

static bool is_of(const struct coverage_namespace *of, const struct task *task)
{
    return str_eq(task->source, of->source) && str_eq(task->endpoint, of->endpoint) &&
           task->operation == of->operation && str_eq(task->cursor_key, of->cursor_key) &&
           task->scope == of->scope && str_eq(task->namespace_key, of->namespace_key);
}

static bool coverage_tasks(struct store *store, struct arena *arena,
                           const struct coverage_namespace *of, struct window window, int64_t limit,
                           struct task_list *list, struct error *err)
{
    struct memory_call call;
    const struct table *table;
    bool ok = true;

    *list = (struct task_list){ 0 };
    if (!memory_enter(&call, store, "coverage_tasks", err))
        return false;
    table = &call.db->tables[MEMORY_TASK];
    for (int64_t id = table->next_id - 1; ok && id > 0 && (int64_t)list->count < limit; id--) {
        const struct task *row = table_get(table, id);

        if (row != NULL && is_of(of, row) && window_is_valid(row->window) &&
            window_is_valid(window_intersect(row->window, window)))
            ok = give_task(call.db, arena, row, list, err);
    }
    return memory_leave(&call, ok, err);
}

static bool is_reset_by(struct memory_db *db, const struct coverage_namespace *of,
                        const struct task *task, int64_t after_us)
{
    const struct plan *plan = table_get(&db->tables[MEMORY_PLAN], task->plan_id);
    const struct window window = window_is_valid(task->window) ? task->window : plan->window;

    return is_of(of, task) && !task->is_reset &&
           (task->status != TASK_QUEUED || task->attempts > 0) && window_is_valid(window) &&
           window.to_us > after_us;
}

static bool coverage_reset(struct store *store, const struct coverage_namespace *of,
                           int64_t after_us, int64_t now_us, int64_t *count, struct error *err)
{
    struct memory_call call;
    const struct table *table;
    bool ok = true;

    (void)now_us;
    *count = 0;
    if (!memory_enter(&call, store, "coverage_reset", err))
        return false;
    table = &call.db->tables[MEMORY_TASK];
    for (int64_t id = 1; ok && id < table->next_id; id++) {
        const struct task *old = table_get(table, id);
        struct task row;

        if (old == NULL || !is_reset_by(call.db, of, old, after_us))
            continue;
        row = *old;
        row.is_reset = true;
        ok = memory_update(call.db, MEMORY_TASK, &row, err);
        ++*count;
    }
    return memory_leave(&call, ok, err);
}

const struct store_task_ops MEMORY_TASK_OPS = {
    .add = task_add,
    .get = task_get,
    .list = task_list,
    .queued = task_queued,
    .live = task_live,
    .coverage = task_coverage,
    .coverage_tasks = coverage_tasks,
    .coverage_reset = coverage_reset,
};
