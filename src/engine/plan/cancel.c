/* Cancels the tasks of a plan, or one of them, and reopens the signals of their records. */
#include "engine/plan/cancel.h"

#include <inttypes.h>

#include "core/limits.h"
#include "engine/slice/slice_expr.h"
#include "port/store_plan.h"
#include "port/store_signal.h"
#include "port/store_task.h"

enum { SLICES_PER_PAGE = 100 };

static bool give_back(struct store *store, struct arena *arena, const struct plan_slice *slice,
                      int64_t now_us, struct error *err)
{
    struct str_list ids;
    int64_t added;

    if (slice->dimension != SLICE_ID || slice->status != SLICE_CANCELLED)
        return true;
    return slice_expr_ids(arena, slice->expr_snapshot, &ids, err) &&
           store_signal_repeat(store,
                               &(struct signal_repeat){ .plan_id = slice->plan_id,
                                                        .provider_ids = ids.items,
                                                        .count = ids.count,
                                                        .now_us = now_us },
                               &added, err);
}

static bool give_all_back(struct store *store, struct arena *arena, int64_t plan_id, int64_t now_us,
                          struct error *err)
{
    struct store_page page = { .limit = SLICES_PER_PAGE };
    struct plan_slice_list slices;
    bool ok = true;

    do {
        arena_reset(arena);
        if (!store_slice_list(store, arena, plan_id, page, &slices, err))
            return false;
        for (size_t i = 0; i < slices.count && ok; i++) {
            ok = give_back(store, arena, &slices.items[i], now_us, err);
            page.after = slices.items[i].number;
        }
    } while (ok && slices.count == SLICES_PER_PAGE);
    return ok;
}

/* Once it is cancelled nothing waits any more, and a second time gives nothing back. */
bool plan_cancel(struct store *store, int64_t plan_id, int64_t now_us, int64_t *cancelled,
                 struct error *err)
{
    struct arena page;
    bool ok;

    if (!store_begin(store, err))
        return error_wrap(err, "cancel plan %" PRId64, plan_id);
    arena_init(&page, PAGE_BYTES_MAX);
    ok = store_plan_cancel(store, plan_id, now_us, cancelled, err) &&
         (*cancelled == 0 || give_all_back(store, &page, plan_id, now_us, err)) &&
         store_commit(store, err);
    arena_release(&page);
    if (ok)
        return true;
    store_rollback(store);
    return error_wrap(err, "cancel plan %" PRId64, plan_id);
}

/* ---- one task ---- */

static struct str reason_of(struct arena *arena, struct str reason)
{
    return reason.len == 0 ? STR("cancelled by a person")
                           : arena_printf(arena, "cancelled by a person: %.*s", STR_ARG(reason));
}

/* The slice ends with its task, which waited. */
static bool end_slice(struct store *store, struct arena *arena, const struct task *task,
                      int64_t now_us, struct error *err)
{
    struct plan_slice slice;
    bool found;

    return store_slice_move(store, task->slice_id, SLICE_CANCELLED, now_us, err) &&
           store_slice_get(store, arena, task->slice_id, &slice, &found, err) &&
           (!found || give_back(store, arena, &slice, now_us, err));
}

static bool cancel_task(struct store *store, struct arena *arena,
                        const struct task_cancel_request *request, enum task_cancel_result *result,
                        struct error *err)
{
    const struct task_cancel cancel = { .id = request->id,
                                        .reason = reason_of(arena, request->reason),
                                        .now_us = request->now_us };
    struct task task;
    bool changed, found;

    if (cancel.reason.data == NULL)
        return arena_error(arena, err);
    if (!store_task_cancel(store, &cancel, &changed, err) ||
        !store_task_get(store, arena, request->id, &task, &found, err))
        return false;
    if (!found)
        return error_set(err, ERROR_REQUEST, "task.unknown", "there is no task %" PRId64,
                         request->id);
    *result = !changed                        ? TASK_HAD_ENDED
              : task.status == TASK_CANCELLED ? TASK_IS_CANCELLED
                                              : TASK_WILL_STOP;
    return *result != TASK_IS_CANCELLED || end_slice(store, arena, &task, request->now_us, err);
}

bool task_cancel(struct store *store, const struct task_cancel_request *request,
                 enum task_cancel_result *result, struct error *err)
{
    struct arena arena;
    bool ok;

    if (!store_begin(store, err))
        return error_wrap(err, "cancel task %" PRId64, request->id);
    arena_init(&arena, PAGE_BYTES_MAX);
    ok = cancel_task(store, &arena, request, result, err) && store_commit(store, err);
    arena_release(&arena);
    if (ok)
        return true;
    store_rollback(store);
    return error_wrap(err, "cancel task %" PRId64, request->id);
}
