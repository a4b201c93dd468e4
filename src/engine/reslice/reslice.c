/* Tickets one by one; slices by pages and by ids. */
#include "engine/reslice/reslice.h"

#include <inttypes.h>

#include "core/limits.h"
#include "core/reslice.h"
#include "data/json.h"
#include "engine/reslice/reslice_internal.h"
#include "engine/slice/slice_expr.h"

enum { RESLICE_ARENA_MAX = 256 << 20 };

/* ---- what is known ---- */

static int64_t number_in(const struct json_doc *doc, struct json_node object, struct str name)
{
    int64_t value;

    return json_i64(doc, json_get(doc, object, name), &value) && value > 0 ? value : 0;
}

static bool read_detail(struct reslicing *reslicing, struct error *err)
{
    struct json_doc doc;

    if (!json_parse(&doc, reslicing->arena, reslicing->ticket->detail, err))
        return error_wrap(err, "detail of re-slice request %" PRId64, reslicing->ticket->id);
    reslicing->total = number_in(&doc, json_root(&doc), STR("total"));
    reslicing->finished_page = number_in(&doc, json_root(&doc), STR("finishedPage"));
    reslicing->finished_ids = number_in(&doc, json_root(&doc), STR("finishedIds"));
    return true;
}

static bool load(struct reslicing *reslicing, struct error *err)
{
    const struct reslice_ticket *ticket = reslicing->ticket;
    bool has_task, has_slice, has_plan = false;

    if (!store_task_get(reslicing->store, reslicing->arena, ticket->task_id, &reslicing->task,
                        &has_task, err) ||
        !store_slice_get(reslicing->store, reslicing->arena, ticket->slice_id, &reslicing->parent,
                         &has_slice, err))
        return false;
    if (has_slice && !store_plan_get(reslicing->store, reslicing->arena, reslicing->parent.plan_id,
                                     &reslicing->plan, &has_plan, err))
        return false;
    if (!has_task || !has_plan)
        return error_set(err, ERROR_FATAL, "plan.reslice",
                         "re-slice request %" PRId64 " names a task or slice that does not exist",
                         ticket->id);
    reslicing->target = reslicing->plan.endpoint;
    return spec_cache_hold(reslicing->specs, reslicing->plan.expr_proto_snapshot, &reslicing->spec,
                           err) &&
           read_detail(reslicing, err) &&
           slice_expr_target(reslicing->arena, reslicing->parent.expr_snapshot, &reslicing->target,
                             err);
}

/* ---- children ---- */

bool reslicing_write(struct reslicing *reslicing, struct plan_cut *cut, struct error *err)
{
    cut->scheduled_us = reslicing->now_us + reslicing->children++;
    return plan_writer_add(reslicing->writer, cut, err);
}

static bool write_pages(struct reslicing *reslicing, struct page_range pages, bool is_last_resort,
                        struct error *err)
{
    const struct slice slice = { .dimension = SLICE_PAGE,
                                 .window = reslicing->plan.window,
                                 .pages = pages,
                                 .expected_records = SLICE_UNKNOWN,
                                 .expected_requests = pages.to - pages.from };
    struct plan_cut cut = { .slice = &slice,
                            .generation = reslicing->ticket->id,
                            .is_last_resort = is_last_resort };

    return reslicing_write(reslicing, &cut, err);
}

static bool cut_pages(struct reslicing *reslicing, struct error *err)
{
    const int64_t size = reslicing->spec->endpoint.page.size;
    struct page_range pages, children[2];
    struct json_doc doc;
    struct json_node bounds;
    int64_t first;

    if (!json_parse(&doc, reslicing->arena, reslicing->parent.spec, err))
        return error_wrap(err, "spec of slice %" PRId64, reslicing->parent.id);
    bounds = json_get(&doc, json_get(&doc, json_root(&doc), STR("bounds")), STR("page"));
    pages = (struct page_range){ number_in(&doc, bounds, STR("fromPage")),
                                 number_in(&doc, bounds, STR("toPage")) };
    /* The source's own count gives the last page where it was unknown. */
    if (reslicing->total > 0 && size > 0 &&
        reslicing->spec->endpoint.page.base + (reslicing->total + size - 1) / size < pages.to)
        pages.to = reslicing->spec->endpoint.page.base + (reslicing->total + size - 1) / size;
    first = reslicing->finished_page > pages.from ? reslicing->finished_page : pages.from;
    if (first >= pages.to)
        return true;
    if (!reslice_pages(pages, first, children))
        return write_pages(reslicing, (struct page_range){ first, pages.to }, true, err);
    return write_pages(reslicing, children[0], false, err) &&
           write_pages(reslicing, children[1], false, err);
}

/* As the parent was divided: children keep its bucket, or have ranges of their own. */
static bool bounds_of(struct reslicing *reslicing, const struct str *ids, size_t count,
                      struct slice_ids *bounds, struct error *err)
{
    struct json_doc doc;
    struct json_node node;
    int64_t number = 0;

    if (!json_parse(&doc, reslicing->arena, reslicing->parent.spec, err))
        return error_wrap(err, "spec of slice %" PRId64, reslicing->parent.id);
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

static bool write_ids(struct reslicing *reslicing, const struct str *ids, size_t count,
                      bool is_last_resort, struct error *err)
{
    const int64_t per_request = reslicing->spec->endpoint.batch.id_batch_size;
    struct slice slice = {
        .dimension = SLICE_ID,
        .window = reslicing->plan.window,
        .expected_records = (int64_t)count,
        .expected_requests =
            per_request > 0 ? ((int64_t)count + per_request - 1) / per_request : (int64_t)count,
    };
    struct plan_cut cut = { .slice = &slice,
                            .ids = ids,
                            .id_count = count,
                            .generation = reslicing->ticket->id,
                            .is_last_resort = is_last_resort };

    return bounds_of(reslicing, ids, count, &slice.ids, err) &&
           reslicing_write(reslicing, &cut, err);
}

static bool cut_ids(struct reslicing *reslicing, struct error *err)
{
    struct str_list ids;
    size_t done, half;

    if (!slice_expr_ids(reslicing->arena, reslicing->parent.expr_snapshot, &ids, err))
        return false;
    done =
        (size_t)reslicing->finished_ids < ids.count ? (size_t)reslicing->finished_ids : ids.count;
    half = (ids.count - done) / 2;
    if (done == ids.count)
        return true;
    if (half == 0)
        return write_ids(reslicing, ids.items + done, 1, true, err);
    return write_ids(reslicing, ids.items + done, half, false, err) &&
           write_ids(reslicing, ids.items + done + half, ids.count - done - half, false, err);
}

/* ---- one ticket ---- */

static bool write_children(struct reslicing *reslicing, struct error *err)
{
    struct plan_progress progress;
    struct plan_origin origin = { .plan = &reslicing->plan,
                                  .spec = reslicing->spec,
                                  .target = reslicing->target,
                                  .now_us = reslicing->now_us,
                                  .parent_id = reslicing->parent.id };
    bool ok = false;

    if (!store_plan_progress(reslicing->store, reslicing->plan.id, &progress, err))
        return false;
    origin.first_number = progress.slices + 1;
    reslicing->writer = ARENA_NEW(reslicing->arena, struct plan_writer);
    if (reslicing->writer == NULL)
        return arena_error(reslicing->arena, err);
    plan_writer_init(reslicing->writer, reslicing->store, &origin);
    switch (reslicing->parent.dimension) {
    case SLICE_TIME:
        ok = reslicing_time(reslicing, err);
        break;
    case SLICE_PAGE:
        ok = cut_pages(reslicing, err);
        break;
    case SLICE_ID:
        ok = cut_ids(reslicing, err);
        break;
    case SLICE_FEED:
    case SLICE_FILE:
        ok = error_set(err, ERROR_FATAL, "reslice.feed", "feeds and files cannot be re-sliced");
        break;
    }
    ok = ok && plan_writer_finish(reslicing->writer, err);
    plan_writer_release(reslicing->writer);
    return ok && store_slice_move(reslicing->store, reslicing->parent.id, SLICE_PARTIAL,
                                  reslicing->now_us, err);
}

/* A task that still runs needs no children, and neither does a plan that is over. */
static bool is_wanted(const struct reslicing *reslicing)
{
    return reslicing->task.status == TASK_PARTIAL && reslicing->plan.status != PLAN_CANCELLED &&
           reslicing->plan.status != PLAN_FAILED;
}

static bool cut_one(struct reslicing *reslicing, struct error *err)
{
    if (!load(reslicing, err) || !store_namespace_lock(reslicing->store, &reslicing->plan, err))
        return false;
    return !is_wanted(reslicing) || write_children(reslicing, err);
}

/* *found is false when there is no open ticket. */
static bool reslice_next(struct store *store, struct arena *arena,
                         const struct plan_reslice_request *request,
                         struct plan_reslice_result *result, bool *found, struct error *err)
{
    struct reslicing reslicing = {
        .store = store, .arena = arena, .specs = request->specs, .now_us = request->now_us
    };
    struct reslice_ticket_list tickets;
    bool ok;

    if (!store_begin(store, err))
        return false;
    if (!store_reslice_claim(store, arena,
                             &(struct reslice_claim){
                                 .owner = request->owner, .now_us = request->now_us, .limit = 1 },
                             &tickets, err))
        goto rollback;
    *found = tickets.count > 0;
    if (!*found) {
        store_rollback(store);
        return true;
    }
    reslicing.ticket = &tickets.items[0];
    ok = cut_one(&reslicing, err);
    spec_cache_release(reslicing.specs, reslicing.spec);
    if (!ok || !store_commit(store, err))
        goto rollback;
    result->tickets++;
    result->children += reslicing.children;
    return true;
rollback:
    store_rollback(store);
    return false;
}

/* A ticket that cannot be served would be first in line for ever. Its window is not covered, so
 * the next trigger plans it. */
static bool drop_next(struct store *store, struct arena *arena,
                      const struct plan_reslice_request *request, struct error *err)
{
    struct reslice_ticket_list tickets;

    if (!store_begin(store, err))
        return false;
    if (store_reslice_claim(store, arena,
                            &(struct reslice_claim){
                                .owner = request->owner, .now_us = request->now_us, .limit = 1 },
                            &tickets, err) &&
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
    arena_init(&arena, RESLICE_ARENA_MAX);
    while (ok && found && result->tickets < request->limit) {
        arena_reset(&arena);
        ok = reslice_next(store, &arena, request, result, &found, err);
    }
    if (!ok && err->level != ERROR_TRANSIENT && !drop_next(store, &arena, request, &why))
        *err = why;
    arena_release(&arena);
    return ok || error_wrap(err, "re-slice");
}
