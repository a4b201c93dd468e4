#include "engine/reslice/reslice.h"

#include <inttypes.h>

#include "core/limits.h"
#include "core/reslice.h"
#include "data/json.h"
#include "engine/reslice/reslice_internal.h"
#include "engine/slice/slice_expr.h"

enum { RECUT_ARENA_MAX = 256 << 20 };

/* ---- what is known ---- */

static int64_t number_in(const struct json_doc *doc, struct json_node object, struct str name)
{
    int64_t value;

    return json_i64(doc, json_get(doc, object, name), &value) && value > 0 ? value : 0;
}

static bool read_detail(struct recut *recut, struct error *err)
{
    struct json_doc doc;

    if (!json_parse(&doc, recut->arena, recut->ticket->detail, err))
        return error_wrap(err, "detail of re-slice request %" PRId64, recut->ticket->id);
    recut->total = number_in(&doc, json_root(&doc), STR("total"));
    recut->finished_page = number_in(&doc, json_root(&doc), STR("finishedPage"));
    recut->finished_ids = number_in(&doc, json_root(&doc), STR("finishedIds"));
    return true;
}

static bool load(struct recut *recut, struct error *err)
{
    const struct reslice_ticket *ticket = recut->ticket;
    bool has_task, has_slice, has_plan = false;

    if (!store_task_get(recut->store, recut->arena, ticket->task_id, &recut->task, &has_task,
                        err) ||
        !store_slice_get(recut->store, recut->arena, ticket->slice_id, &recut->parent, &has_slice,
                         err))
        return false;
    if (has_slice && !store_plan_get(recut->store, recut->arena, recut->parent.plan_id,
                                     &recut->plan, &has_plan, err))
        return false;
    if (!has_task || !has_plan)
        return error_set(err, ERROR_FATAL, "plan.reslice",
                         "re-slice request %" PRId64 " is for a task or slice that is not there",
                         ticket->id);
    recut->target = recut->plan.endpoint;
    return spec_cache_hold(recut->specs, recut->plan.expr_proto_snapshot, &recut->spec, err) &&
           read_detail(recut, err) &&
           slice_expr_target(recut->arena, recut->parent.expr_snapshot, &recut->target, err);
}

/* ---- children ---- */

bool recut_write(struct recut *recut, struct plan_cut *cut, struct error *err)
{
    cut->scheduled_us = recut->now_us + recut->children++;
    return plan_writer_add(recut->writer, cut, err);
}

static bool write_pages(struct recut *recut, struct page_range pages, bool is_last_resort,
                        struct error *err)
{
    const struct slice slice = { .dimension = SLICE_PAGE,
                                 .window = recut->plan.window,
                                 .pages = pages,
                                 .expected_records = SLICE_UNKNOWN,
                                 .expected_requests = pages.to - pages.from };
    struct plan_cut cut = { .slice = &slice,
                            .generation = recut->ticket->id,
                            .is_last_resort = is_last_resort };

    return recut_write(recut, &cut, err);
}

static bool cut_pages(struct recut *recut, struct error *err)
{
    const int64_t size = recut->spec->endpoint.page.size;
    struct page_range pages, children[2];
    struct json_doc doc;
    struct json_node bounds;
    int64_t first;

    if (!json_parse(&doc, recut->arena, recut->parent.spec, err))
        return error_wrap(err, "spec of slice %" PRId64, recut->parent.id);
    bounds = json_get(&doc, json_get(&doc, json_root(&doc), STR("bounds")), STR("page"));
    pages = (struct page_range){ number_in(&doc, bounds, STR("fromPage")),
                                 number_in(&doc, bounds, STR("toPage")) };
    /* The source's own count tells the last page where nobody knew it before. */
    if (recut->total > 0 && size > 0 &&
        recut->spec->endpoint.page.base + (recut->total + size - 1) / size < pages.to)
        pages.to = recut->spec->endpoint.page.base + (recut->total + size - 1) / size;
    first = recut->finished_page > pages.from ? recut->finished_page : pages.from;
    if (first >= pages.to)
        return true;
    if (!reslice_pages(pages, first, children))
        return write_pages(recut, (struct page_range){ first, pages.to }, true, err);
    return write_pages(recut, children[0], false, err) &&
           write_pages(recut, children[1], false, err);
}

/* As the parent was divided: children keep its bucket, and have ranges of their own. */
static bool bounds_of(struct recut *recut, const struct str *ids, size_t count,
                      struct slice_ids *bounds, struct error *err)
{
    struct json_doc doc;
    struct json_node node;
    int64_t number = 0;

    if (!json_parse(&doc, recut->arena, recut->parent.spec, err))
        return error_wrap(err, "spec of slice %" PRId64, recut->parent.id);
    node = json_get(&doc, json_get(&doc, json_root(&doc), STR("bounds")), STR("id"));
    *bounds =
        (struct slice_ids){ .bucket = (uint32_t)number_in(&doc, node, STR("hashBucket")),
                            .bucket_count = (uint32_t)number_in(&doc, node, STR("hashBuckets")),
                            .from = INT64_MAX };
    if (bounds->bucket_count > 0)
        return true;
    bounds->slicing = ID_SLICING_RANGE;
    for (size_t i = 0; i < count; i++) {
        if (!str_to_i64(ids[i], &number))
            continue;
        bounds->from = number < bounds->from ? number : bounds->from;
        bounds->to = number >= bounds->to ? number + 1 : bounds->to;
    }
    return true;
}

static bool write_ids(struct recut *recut, const struct str *ids, size_t count, bool is_last_resort,
                      struct error *err)
{
    const int64_t per_request = recut->spec->endpoint.batch.id_batch_size;
    struct slice slice = {
        .dimension = SLICE_ID,
        .window = recut->plan.window,
        .expected_records = (int64_t)count,
        .expected_requests =
            per_request > 0 ? ((int64_t)count + per_request - 1) / per_request : (int64_t)count,
    };
    struct plan_cut cut = { .slice = &slice,
                            .ids = ids,
                            .id_count = count,
                            .generation = recut->ticket->id,
                            .is_last_resort = is_last_resort };

    return bounds_of(recut, ids, count, &slice.ids, err) && recut_write(recut, &cut, err);
}

static bool cut_ids(struct recut *recut, struct error *err)
{
    struct str_list ids;
    size_t done, half;

    if (!slice_expr_ids(recut->arena, recut->parent.expr_snapshot, &ids, err))
        return false;
    done = (size_t)recut->finished_ids < ids.count ? (size_t)recut->finished_ids : ids.count;
    half = (ids.count - done) / 2;
    if (done == ids.count)
        return true;
    if (half == 0)
        return write_ids(recut, ids.items + done, 1, true, err);
    return write_ids(recut, ids.items + done, half, false, err) &&
           write_ids(recut, ids.items + done + half, ids.count - done - half, false, err);
}

/* ---- one ticket ---- */

static bool write_children(struct recut *recut, struct error *err)
{
    struct plan_progress progress;
    struct plan_origin origin = { .plan = &recut->plan,
                                  .spec = recut->spec,
                                  .target = recut->target,
                                  .now_us = recut->now_us,
                                  .parent_id = recut->parent.id };
    bool ok = false;

    if (!store_plan_progress(recut->store, recut->plan.id, &progress, err))
        return false;
    origin.first_number = progress.slices + 1;
    recut->writer = ARENA_NEW(recut->arena, struct plan_writer);
    if (recut->writer == NULL)
        return arena_error(recut->arena, err);
    plan_writer_init(recut->writer, recut->store, &origin);
    switch (recut->parent.dimension) {
    case SLICE_TIME:
        ok = recut_time(recut, err);
        break;
    case SLICE_PAGE:
        ok = cut_pages(recut, err);
        break;
    case SLICE_ID:
        ok = cut_ids(recut, err);
        break;
    }
    ok = ok && plan_writer_finish(recut->writer, err);
    plan_writer_release(recut->writer);
    return ok &&
           store_slice_move(recut->store, recut->parent.id, SLICE_PARTIAL, recut->now_us, err);
}

/* Whoever is still at it needs no children, and neither does a plan that is over. */
static bool is_wanted(const struct recut *recut)
{
    return recut->task.status == TASK_PARTIAL && recut->plan.status != PLAN_CANCELLED &&
           recut->plan.status != PLAN_FAILED;
}

static bool cut_one(struct recut *recut, struct error *err)
{
    if (!load(recut, err) || !store_namespace_lock(recut->store, &recut->plan, err))
        return false;
    return !is_wanted(recut) || write_children(recut, err);
}

/* *found is false when there is no open ticket. */
static bool reslice_next(struct store *store, struct arena *arena,
                         const struct plan_reslice_request *request,
                         struct plan_reslice_result *result, bool *found, struct error *err)
{
    struct recut recut = {
        .store = store, .arena = arena, .specs = request->specs, .now_us = request->now_us
    };
    struct reslice_ticket_list tickets;
    bool ok;

    if (!store_begin(store, err))
        return false;
    if (!store_reslice_claim(store, arena, request->owner, request->now_us, 1, &tickets, err))
        goto rollback;
    *found = tickets.count > 0;
    if (!*found) {
        store_rollback(store);
        return true;
    }
    recut.ticket = &tickets.items[0];
    ok = cut_one(&recut, err);
    spec_cache_release(recut.specs, recut.spec);
    if (!ok || !store_commit(store, err))
        goto rollback;
    result->tickets++;
    result->children += recut.children;
    return true;
rollback:
    store_rollback(store);
    return false;
}

/* A ticket that can not be served would stand before all others for ever. What it was about is not
 * covered, so the next trigger plans it. */
static bool drop_next(struct store *store, struct arena *arena,
                      const struct plan_reslice_request *request, struct error *err)
{
    struct reslice_ticket_list tickets;

    if (!store_begin(store, err))
        return false;
    if (store_reslice_claim(store, arena, request->owner, request->now_us, 1, &tickets, err) &&
        store_commit(store, err))
        return true;
    store_rollback(store);
    return false;
}

bool plan_reslice(struct store *store, const struct plan_reslice_request *request,
                  struct plan_reslice_result *result, struct error *err)
{
    struct arena arena;
    struct error why;
    bool found = true, ok = true;

    *result = (struct plan_reslice_result){ 0 };
    arena_init(&arena, RECUT_ARENA_MAX);
    while (ok && found && result->tickets < request->limit) {
        arena_reset(&arena);
        ok = reslice_next(store, &arena, request, result, &found, err);
    }
    if (!ok && err->level != ERROR_TRANSIENT && !drop_next(store, &arena, request, &why))
        *err = why;
    arena_release(&arena);
    return ok || error_wrap(err, "re-slice");
}
