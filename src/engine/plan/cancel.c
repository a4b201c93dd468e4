/* Cancels the tasks that wait and reopens the signals of their records. */
#include "engine/plan/cancel.h"

#include <inttypes.h>

#include "core/limits.h"
#include "engine/slice/slice_expr.h"
#include "port/store_plan.h"
#include "port/store_signal.h"

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
