/* Ends the rows of a source and cancels what waits. */
#include "engine/retire/retire.h"

#include <inttypes.h>

#include "engine/plan/cancel.h"
#include "engine/source/source_store.h"
#include "port/store_registry.h"
#include "port/store_status.h"
#include "port/store_task.h"

enum { TASKS_PER_PAGE = 100 };

static bool count_tasks(struct store *store, struct arena *arena, struct str code, int64_t now_us,
                        struct retire_view *view, struct error *err)
{
    struct partition_count_list list;

    if (!store_status_counts(store, arena, code, now_us, &list, err))
        return false;
    for (size_t i = 0; i < list.count; i++) {
        view->waiting += list.items[i].queued;
        view->running += list.items[i].running;
    }
    return true;
}

bool retire_look(struct store *store, struct arena *arena, struct str code, int64_t now_us,
                 struct retire_view *view, struct error *err)
{
    struct registry_source rows;

    *view = (struct retire_view){ 0 };
    if (!store_registry_load(store, arena, code, INSTANT_MAX, &rows, err) ||
        !count_tasks(store, arena, code, now_us, view, err))
        return false;
    view->rows = (int64_t)rows.count;
    for (size_t i = 0; i < rows.count; i++) {
        if (rows.rows[i].version > view->version)
            view->version = rows.rows[i].version;
    }
    if (view->rows + view->waiting + view->running == 0)
        return error_set(err, ERROR_REQUEST, "source.unknown",
                         "there is no source '%.*s'; patra source list shows all sources",
                         STR_ARG(code));
    return true;
}

/* ---- the Registry ---- */

static bool end_locked(struct store *store, struct arena *arena, struct str code, int64_t now_us,
                       struct retire_result *result, struct error *err)
{
    struct retire_view view;
    struct registry_source rows;
    int64_t at_us = now_us;

    if (!store_registry_lock(store, code, err) ||
        !retire_look(store, arena, code, now_us, &view, err))
        return false;
    if (view.running > 0)
        return error_set(err, ERROR_TRANSIENT, "source.busy",
                         "%" PRId64
                         " task%s of %.*s %s under way: stop the workers, or wait until they "
                         "have ended (patra status)",
                         view.running, view.running == 1 ? "" : "s", STR_ARG(code),
                         view.running == 1 ? "is" : "are");
    if (!store_registry_load(store, arena, code, INSTANT_MAX, &rows, err))
        return false;
    for (size_t i = 0; i < rows.count; i++) {
        if (rows.rows[i].effective_from_us >= at_us) /* a clock that was set back */
            at_us = rows.rows[i].effective_from_us + 1;
    }
    for (size_t i = 0; i < rows.count; i++) {
        if (!store_registry_close(store, rows.rows[i].table, rows.rows[i].id, at_us, err))
            return false;
    }
    result->rows = (int64_t)rows.count;
    return true;
}

static bool end_rows(struct store *store, struct arena *arena, struct str code, int64_t now_us,
                     struct retire_result *result, struct error *err)
{
    if (!store_begin(store, err))
        return false;
    if (end_locked(store, arena, code, now_us, result, err))
        return store_commit(store, err);
    store_rollback(store);
    return false;
}

/* ---- tasks ---- */

/* Whole plans: a task that is left would make its plan look unfinished for ever. */
static bool cancel_waiting(struct store *store, struct arena *arena, struct str code,
                           int64_t now_us, struct retire_result *result, struct error *err)
{
    const struct task_filter filter = {
        .source = code, .has_status = true, .status = TASK_QUEUED, .limit = TASKS_PER_PAGE
    };
    struct task_list tasks;
    int64_t cancelled;

    do {
        if (!store_task_list(store, arena, &filter, &tasks, err))
            return false;
        if (tasks.count == 0)
            return true;
        if (!plan_cancel(store, tasks.items[0].plan_id, now_us, &cancelled, err))
            return false;
        result->cancelled += cancelled;
    } while (cancelled > 0);
    return true;
}

bool retire_source(struct store *store, struct arena *arena, struct str code, int64_t now_us,
                   struct retire_result *result, struct error *err)
{
    *result = (struct retire_result){ 0 };
    return (end_rows(store, arena, code, now_us, result, err) &&
            cancel_waiting(store, arena, code, now_us, result, err)) ||
           error_wrap(err, "remove source %.*s", STR_ARG(code));
}
