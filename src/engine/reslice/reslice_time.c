/* Re-slices by time as far as possible, then by ids. */
#include "base/instant.h"
#include "base/list.h"
#include "core/coverage.h"
#include "core/limits.h"
#include "core/reslice.h"
#include "engine/coverage/coverage.h"
#include "engine/reslice/reslice_internal.h"
#include "engine/slice/slicing.h"
#include "port/store_cursor.h"

static bool write_window(struct reslicing *reslicing, struct window window,
                         struct window_list ended, bool is_last_resort, struct error *err)
{
    const struct slice_cut how = slicing_cut(reslicing->spec);
    const struct slice_density density = {
        reslicing->total, reslicing->total > 0 ? window_length_us(reslicing->parent.window) : 0
    };
    const int64_t records = slice_expected_records(density, window_length_us(window));
    const struct slice slice = { .dimension = SLICE_TIME,
                                 .window = window,
                                 .query = slice_query_of(&how, window),
                                 .expected_records = records,
                                 .expected_requests = slice_expected_requests(
                                     slicing_cost(reslicing->spec), records) };
    struct plan_cut cut = { .slice = &slice,
                            .generation = coverage_generation(ended, window),
                            .is_last_resort = is_last_resort };

    return reslicing_write(reslicing, &cut, err);
}

/* What is finished, at the start or at the end of the slice. When the remainder is in the middle,
 * the end counts as not finished; what is covered of it is subtracted later. */
static struct window finished_of(struct window slice, struct window remaining)
{
    const struct window rest = window_intersect(slice, remaining);

    if (!window_is_valid(rest))
        return (struct window){ 0 };
    if (rest.from_us > slice.from_us)
        return (struct window){ slice.from_us, rest.from_us };
    return (struct window){ rest.to_us, slice.to_us };
}

static struct window rest_of(struct window slice, struct window finished)
{
    if (!window_is_valid(finished))
        return slice;
    if (finished.from_us == slice.from_us)
        return (struct window){ finished.to_us, slice.to_us };
    return (struct window){ slice.from_us, finished.from_us };
}

/* Windows that other tasks have taken since the slice was planned; its children need not cover
 * them. What was covered before that does not count: the slice may look back on purpose, and the
 * first read must not replace the second. `tasks` are all that share an instant with the window. */
static bool list_since(struct reslicing *reslicing, const struct task_list *tasks,
                       struct coverage_list *since, struct error *err)
{
    *since = (struct coverage_list){ 0 };
    for (size_t i = 0; i < tasks->count; i++) {
        if (tasks->items[i].id > reslicing->task.id &&
            !coverage_list_add(reslicing->arena, &tasks->items[i], 0, INSTANT_MIN, since))
            return arena_error(reslicing->arena, err);
    }
    return true;
}

/* ---- by ids, where time cannot be cut ---- */

static bool write_part(struct reslicing *reslicing, const struct id_part *part, int64_t records,
                       bool is_last_resort, struct error *err)
{
    const struct slice_cut how = slicing_cut(reslicing->spec);
    const struct slice slice = { .dimension = SLICE_TIME,
                                 .window = part->window,
                                 .query = slice_query_of(&how, part->window),
                                 .part = part->ids,
                                 .expected_records = records,
                                 .expected_requests = slice_expected_requests(
                                     slicing_cost(reslicing->spec), records) };
    struct plan_cut cut = { .slice = &slice,
                            .generation = reslicing->ticket->id,
                            .is_last_resort = is_last_resort };

    return reslicing_write(reslicing, &cut, err);
}

static bool add_parts(struct arena *arena, struct id_part_list parts, struct id_part_list *held)
{
    for (size_t i = 0; i < parts.count; i++) {
        struct id_part *slot = LIST_ADD(arena, held);

        if (slot == NULL)
            return false;
        *slot = parts.items[i];
    }
    return true;
}

/* The ids of the window that need not be requested: those that other tasks have taken since, and
 * those that earlier parts of the window had finished, unless that was so early that they must be
 * read again. */
static bool list_held(struct reslicing *reslicing, struct window window,
                      const struct coverage_list *since, struct id_part_list *held,
                      struct error *err)
{
    struct coverage_query query = { plan_namespace(&reslicing->plan), SLICE_TIME, window.from_us };
    struct coverage_list all;

    query.of.late_us = spec_late_us(reslicing->spec);
    if (!coverage_load(reslicing->store, reslicing->arena, &query, &all, err))
        return false;
    *held = (struct id_part_list){ 0 };
    if (!add_parts(reslicing->arena, all.parts.settled, held) ||
        !add_parts(reslicing->arena, since->parts.covered, held) ||
        !add_parts(reslicing->arena, since->parts.live, held))
        return arena_error(reslicing->arena, err);
    id_parts_sort(*held);
    return true;
}

static bool write_missing(struct reslicing *reslicing, const struct reslice_ids *out,
                          struct window window, struct id_part_list held, struct error *err)
{
    const int64_t count = (int64_t)out->count;
    const int64_t records =
        reslicing->total > 0 ? (reslicing->total + count - 1) / count : SLICE_UNKNOWN;
    struct id_range_list missing;

    for (size_t i = 0; i < out->count; i++) {
        if (!id_parts_missing(reslicing->arena, held, (struct id_part){ window, out->children[i] },
                              &missing, err))
            return false;
        for (size_t k = 0; k < missing.count; k++) {
            if (!write_part(reslicing, &(struct id_part){ window, missing.items[k] }, records,
                            false, err))
                return false;
        }
    }
    return true;
}

/* Each child has the whole window, so that parts of different plans and tickets fit together.
 */
static bool cut_parts(struct reslicing *reslicing, const struct task_list *tasks, struct error *err)
{
    const struct window window = reslicing->parent.window;
    struct reslice_ids_request request;
    struct coverage_list since;
    struct id_part_list held;
    struct window_list pieces;
    struct reslice_ids out;

    (void)slicing_ids(reslicing->spec, reslicing->task.ids, &request);
    request.reason = reslicing->ticket->reason;
    request.total = reslicing->total;
    reslice_ids(&request, &out);
    if (!list_since(reslicing, tasks, &since, err) ||
        !coverage_plan(reslicing->arena,
                       &(struct coverage_request){ .wanted = window,
                                                   .cursor_us = window.from_us,
                                                   .covered = since.covered,
                                                   .live = since.live },
                       &pieces, err))
        return false;
    if (pieces.count == 0)
        return true; /* another task has the whole window */
    if (out.count == 0 || tasks->count >= RESLICE_PARTS_MAX)
        return write_part(reslicing, &(struct id_part){ window, reslicing->task.ids },
                          SLICE_UNKNOWN, true, err);
    return list_held(reslicing, window, &since, &held, err) &&
           write_missing(reslicing, &out, window, held, err);
}

/* ---- by time ---- */

static bool write_pieces(struct reslicing *reslicing, struct window child,
                         const struct coverage_list *since, struct window_list ended,
                         bool is_last_resort, struct error *err)
{
    const struct coverage_request missing = {
        .wanted = child, .cursor_us = child.from_us, .covered = since->covered, .live = since->live
    };
    struct window_list pieces;

    if (!coverage_plan(reslicing->arena, &missing, &pieces, err))
        return false;
    for (size_t i = 0; i < pieces.count; i++) {
        if (!write_window(reslicing, pieces.items[i], ended, is_last_resort, err))
            return false;
    }
    return true;
}

static bool cut_windows(struct reslicing *reslicing, const struct reslice *out,
                        struct window finished, const struct task_list *tasks, struct error *err)
{
    const struct window slice = reslicing->parent.window;
    const struct coverage_query query = { plan_namespace(&reslicing->plan), SLICE_TIME,
                                          slice.from_us };
    struct coverage_list all, since;
    struct window_list ended;

    if (!coverage_load(reslicing->store, reslicing->arena, &query, &all, err) ||
        !coverage_ended(reslicing->arena, &all, &ended, err) ||
        !list_since(reslicing, tasks, &since, err) || !coverage_join(reslicing->arena, &since, err))
        return false;
    if (out->count == 0)
        return write_pieces(reslicing, rest_of(slice, finished), &since, ended, true, err);
    for (size_t i = 0; i < out->count; i++) {
        if (!write_pieces(reslicing, out->children[i], &since, ended, false, err))
            return false;
    }
    return true;
}

bool reslicing_time(struct reslicing *reslicing, struct error *err)
{
    const struct window slice = reslicing->parent.window;
    const struct window finished = finished_of(slice, reslicing->ticket->remaining);
    const struct coverage_namespace of = plan_namespace(&reslicing->plan);
    const struct reslice_request request = { .window = slice,
                                             .finished = finished,
                                             .cut = slicing_cut(reslicing->spec),
                                             .reason = reslicing->ticket->reason,
                                             .total = reslicing->total,
                                             .record_cap = reslicing->spec->endpoint.page.cap };
    struct reslice out = { 0 };
    struct task_list tasks;

    if (!store_coverage_tasks(
            reslicing->store, reslicing->arena,
            &(struct window_query){ .of = &of, .window = slice, .limit = RESLICE_PARTS_MAX },
            &tasks, err))
        return false;
    if (spec_is_open_ended(reslicing->spec) && window_is_valid(finished)) {
        out.children[0] = rest_of(slice, finished); /* pieces of it would cost as much as it does */
        out.count = 1;
    } else if (!id_range_is_valid(reslicing->task.ids) && !spec_is_open_ended(reslicing->spec))
        reslice_time(&request, &out);
    if (out.count == 0 && reslicing->spec->endpoint.page.id_max > 0)
        return cut_parts(reslicing, &tasks, err);
    return cut_windows(reslicing, &out, finished, &tasks, err);
}
