#include <inttypes.h>

#include "adapter/memory/store_base.h"
#include "port/store_plan.h"

const struct table_def MEMORY_PLAN_TABLE = {
    .name = "ing_plan",
    .row_size = sizeof(struct plan),
    .text_count = 8,
    .texts = { TEXT_DEF(struct plan, source, TEXT_PLAIN),
               TEXT_DEF(struct plan, endpoint, TEXT_PLAIN),
               TEXT_DEF(struct plan, cursor_key, TEXT_PLAIN),
               TEXT_DEF(struct plan, namespace_key, TEXT_PLAIN),
               TEXT_DEF(struct plan, expr_proto_hash, TEXT_PLAIN),
               TEXT_DEF(struct plan, expr_proto_snapshot, TEXT_JSON),
               TEXT_DEF(struct plan, spec_fingerprint, TEXT_PLAIN),
               TEXT_DEF(struct plan, remarks, TEXT_JSON) },
};

enum { BY_SIGNATURE, BY_NUMBER };

static bool signature_key(const void *row, struct key *key)
{
    const struct plan_slice *slice = row;

    key_add_i64(key, slice->plan_id);
    key_add_str(key, slice->signature_hash);
    return true;
}

static bool number_key(const void *row, struct key *key)
{
    const struct plan_slice *slice = row;

    key_add_i64(key, slice->plan_id);
    key_add_i64(key, slice->number);
    return true;
}

const struct table_def MEMORY_SLICE_TABLE = {
    .name = "ing_plan_slice",
    .row_size = sizeof(struct plan_slice),
    .text_count = 5,
    .texts = { TEXT_DEF(struct plan_slice, source, TEXT_PLAIN),
               TEXT_DEF(struct plan_slice, spec, TEXT_JSON),
               TEXT_DEF(struct plan_slice, signature_hash, TEXT_PLAIN),
               TEXT_DEF(struct plan_slice, expr_hash, TEXT_PLAIN),
               TEXT_DEF(struct plan_slice, expr_snapshot, TEXT_JSON) },
    .index_count = 2,
    .indexes = { { "uk_slice_sig", true, signature_key }, { "uk_slice_no", true, number_key } },
};

/* ---- plans ---- */

static struct window window_or_none(struct window window)
{
    return window_is_valid(window) ? window : (struct window){ 0, 0 };
}

static bool add_plan(struct memory_db *db, const struct plan *plan, int64_t *id, struct error *err)
{
    struct plan row = *plan;

    row.window = window_or_none(plan->window);
    row.updated_us = plan->created_us;
    return memory_refers(db, MEMORY_SCHEDULE, plan->schedule_instance_id, err) &&
           memory_check(plan->source.len > 0, "source", err) &&
           memory_check(plan->endpoint.len > 0, "endpoint", err) &&
           memory_insert(db, MEMORY_PLAN, &row, id, err);
}

static bool plan_add(struct store *store, const struct plan *plan, int64_t *id, struct error *err)
{
    struct memory_call call;

    return memory_enter(&call, store, "plan_add", err) &&
           memory_leave(&call, add_plan(call.db, plan, id, err), err);
}

static bool move_plan(struct memory_db *db, const struct plan_move *move, bool *moved,
                      struct error *err)
{
    const struct plan *old = table_get(&db->tables[MEMORY_PLAN], move->id);
    struct plan row;

    *moved = old != NULL && old->status == move->from;
    if (!*moved)
        return true;
    row = *old;
    row.status = move->to;
    row.updated_us = move->now_us;
    if (move->remarks.len > 0)
        row.remarks = move->remarks;
    return memory_update(db, MEMORY_PLAN, &row, err);
}

static bool plan_move(struct store *store, const struct plan_move *move, bool *moved,
                      struct error *err)
{
    struct memory_call call;

    return memory_enter(&call, store, "plan_move", err) &&
           memory_leave(&call, move_plan(call.db, move, moved, err), err);
}

static bool plan_get(struct store *store, struct arena *arena, int64_t id, struct plan *plan,
                     bool *found, struct error *err)
{
    struct memory_call call;
    const void *row;

    if (!memory_enter(&call, store, "plan_get", err))
        return false;
    row = table_get(&call.db->tables[MEMORY_PLAN], id);
    *found = row != NULL;
    return memory_leave(&call, !*found || memory_give(call.db, MEMORY_PLAN, row, arena, plan, err),
                        err);
}

static bool is_meant(const struct plan_filter *filter, const struct plan *plan)
{
    return (filter->source.len == 0 || str_eq(plan->source, filter->source)) &&
           (!filter->has_operation || plan->operation == filter->operation) &&
           (!filter->has_status || plan->status == filter->status);
}

static bool list_plans(struct memory_db *db, struct arena *arena, const struct plan_filter *filter,
                       struct plan_list *list, struct error *err)
{
    const struct table *table = &db->tables[MEMORY_PLAN];
    int64_t id = filter->before_id > 0 && filter->before_id < table->next_id ? filter->before_id
                                                                             : table->next_id;

    while (--id > 0 && (int64_t)list->count < filter->limit) {
        const struct plan *row = table_get(table, id);
        struct plan *plan;

        if (row == NULL || !is_meant(filter, row))
            continue;
        plan = LIST_ADD(arena, list);
        if (plan == NULL)
            return arena_error(arena, err);
        if (!memory_give(db, MEMORY_PLAN, row, arena, plan, err))
            return false;
        plan->expr_proto_snapshot = (struct str){ 0 };
    }
    return true;
}

static bool plan_list(struct store *store, struct arena *arena, const struct plan_filter *filter,
                      struct plan_list *list, struct error *err)
{
    struct memory_call call;

    *list = (struct plan_list){ 0 };
    return memory_enter(&call, store, "plan_list", err) &&
           memory_leave(&call, list_plans(call.db, arena, filter, list, err), err);
}

static bool plan_progress(struct store *store, int64_t id, struct plan_progress *progress,
                          struct error *err)
{
    struct memory_call call;
    struct scan scan;
    struct key key = { 0 };

    if (!memory_enter(&call, store, "plan_progress", err))
        return false;
    *progress = (struct plan_progress){ 0 };
    key_add_i64(&key, id);
    scan_init(&scan, &call.db->tables[MEMORY_SLICE], BY_NUMBER, &key, key.len);
    while (scan_next(&scan) != NULL)
        progress->slices++;
    scan_release(&scan);
    key_release(&key);
    for (int64_t i = 1; i < call.db->tables[MEMORY_TASK].next_id; i++) {
        const struct task *task = table_get(&call.db->tables[MEMORY_TASK], i);

        if (task != NULL && task->plan_id == id)
            progress->tasks[task->status]++;
    }
    return memory_leave(&call, true, err);
}

static bool cancel_tasks(struct memory_db *db, int64_t plan_id, int64_t *cancelled,
                         struct error *err)
{
    for (int64_t i = 1; i < db->tables[MEMORY_TASK].next_id; i++) {
        const struct task *task = table_get(&db->tables[MEMORY_TASK], i);
        struct task row;

        if (task == NULL || task->plan_id != plan_id || task->status != TASK_QUEUED)
            continue;
        row = *task;
        row.status = TASK_CANCELLED;
        if (!memory_update(db, MEMORY_TASK, &row, err))
            return false;
        ++*cancelled;
    }
    return true;
}

static bool has_task_left(const struct memory_db *db, int64_t slice_id)
{
    for (int64_t i = 1; i < db->tables[MEMORY_TASK].next_id; i++) {
        const struct task *task = table_get(&db->tables[MEMORY_TASK], i);

        if (task != NULL && task->slice_id == slice_id && task->status != TASK_CANCELLED)
            return true;
    }
    return false;
}

static bool cancel_slices(struct memory_db *db, int64_t plan_id, struct error *err)
{
    for (int64_t i = 1; i < db->tables[MEMORY_SLICE].next_id; i++) {
        const struct plan_slice *slice = table_get(&db->tables[MEMORY_SLICE], i);
        struct plan_slice row;

        if (slice == NULL || slice->plan_id != plan_id ||
            (slice->status != SLICE_PENDING && slice->status != SLICE_READY) ||
            has_task_left(db, i))
            continue;
        row = *slice;
        row.status = SLICE_CANCELLED;
        if (!memory_update(db, MEMORY_SLICE, &row, err))
            return false;
    }
    return true;
}

static bool cancel_plan(struct memory_db *db, int64_t id, int64_t now_us, int64_t *cancelled,
                        struct error *err)
{
    const struct plan *old = table_get(&db->tables[MEMORY_PLAN], id);
    struct plan row;

    *cancelled = 0;
    if (old == NULL)
        return error_set(err, ERROR_REQUEST, "store.value", "no plan %" PRId64, id);
    row = *old;
    if (row.status != PLAN_FAILED && row.status != PLAN_CANCELLED) {
        row.status = PLAN_CANCELLED;
        row.updated_us = now_us;
    }
    return memory_update(db, MEMORY_PLAN, &row, err) && cancel_tasks(db, id, cancelled, err) &&
           cancel_slices(db, id, err);
}

static bool plan_cancel(struct store *store, int64_t id, int64_t now_us, int64_t *cancelled,
                        struct error *err)
{
    struct memory_call call;

    return memory_enter(&call, store, "plan_cancel", err) &&
           memory_leave(&call, cancel_plan(call.db, id, now_us, cancelled, err), err);
}

/* ---- slices ---- */

static bool add_slice(struct memory_db *db, const struct plan_slice *slice, int64_t *id,
                      int64_t *added, struct error *err)
{
    struct plan_slice row = *slice;
    const struct plan_slice *old;
    struct key key = { 0 };

    (void)signature_key(slice, &key);
    old = table_find(&db->tables[MEMORY_SLICE], BY_SIGNATURE, &key);
    key_release(&key);
    if (old != NULL) {
        *id = old->id;
        return true;
    }
    row.window = window_or_none(slice->window);
    ++*added;
    return memory_refers(db, MEMORY_PLAN, slice->plan_id, err) &&
           (slice->parent_id == 0 || memory_refers(db, MEMORY_SLICE, slice->parent_id, err)) &&
           memory_check(slice->number >= 1, "slice_no", err) &&
           memory_insert(db, MEMORY_SLICE, &row, id, err);
}

static bool slice_add(struct store *store, const struct plan_slice *slices, size_t count,
                      int64_t *ids, int64_t *added, struct error *err)
{
    struct memory_call call;
    bool ok = true;

    *added = 0;
    if (!memory_enter(&call, store, "slice_add", err))
        return false;
    for (size_t i = 0; i < count && ok; i++)
        ok = add_slice(call.db, &slices[i], &ids[i], added, err);
    return memory_leave(&call, ok, err);
}

static bool move_slice(struct memory_db *db, int64_t id, enum slice_status to, struct error *err)
{
    const struct plan_slice *old = table_get(&db->tables[MEMORY_SLICE], id);
    struct plan_slice row;

    if (old == NULL)
        return error_set(err, ERROR_REQUEST, "store.value", "no slice %" PRId64, id);
    row = *old;
    row.status = to;
    return memory_update(db, MEMORY_SLICE, &row, err);
}

static bool slice_move(struct store *store, int64_t id, enum slice_status to, int64_t now_us,
                       struct error *err)
{
    struct memory_call call;

    (void)now_us;
    return memory_enter(&call, store, "slice_move", err) &&
           memory_leave(&call, move_slice(call.db, id, to, err), err);
}

static bool slice_get(struct store *store, struct arena *arena, int64_t id,
                      struct plan_slice *slice, bool *found, struct error *err)
{
    struct memory_call call;
    const void *row;

    if (!memory_enter(&call, store, "slice_get", err))
        return false;
    row = table_get(&call.db->tables[MEMORY_SLICE], id);
    *found = row != NULL;
    return memory_leave(&call,
                        !*found || memory_give(call.db, MEMORY_SLICE, row, arena, slice, err), err);
}

static bool list_slices(struct memory_db *db, struct arena *arena, const struct key *from,
                        int64_t limit, struct plan_slice_list *list, struct error *err)
{
    const void *row;
    struct scan scan;
    bool ok = true;

    scan_init(&scan, &db->tables[MEMORY_SLICE], BY_NUMBER, from, sizeof(int64_t));
    while (ok && (int64_t)list->count < limit && (row = scan_next(&scan)) != NULL)
        ok = memory_give(db, MEMORY_SLICE, row, arena, LIST_ADD(arena, list), err);
    scan_release(&scan);
    return ok;
}

static bool slice_list(struct store *store, struct arena *arena, int64_t plan_id,
                       int64_t after_number, int64_t limit, struct plan_slice_list *list,
                       struct error *err)
{
    struct memory_call call;
    struct key key = { 0 };
    bool ok;

    *list = (struct plan_slice_list){ 0 };
    if (!memory_enter(&call, store, "slice_list", err))
        return false;
    key_add_i64(&key, plan_id);
    key_add_i64(&key, after_number + 1);
    ok = list_slices(call.db, arena, &key, limit, list, err);
    key_release(&key);
    return memory_leave(&call, ok, err);
}

const struct store_plan_ops MEMORY_PLAN_OPS = {
    .add = plan_add,
    .move = plan_move,
    .get = plan_get,
    .list = plan_list,
    .progress = plan_progress,
    .cancel = plan_cancel,
    .slice_add = slice_add,
    .slice_move = slice_move,
    .slice_get = slice_get,
    .slice_list = slice_list,
};
