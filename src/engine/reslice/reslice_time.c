/* Slices by time that are cut again: by time as far as that goes, then by ids. */
#include "base/instant.h"
#include "base/list.h"
#include "core/coverage.h"
#include "core/limits.h"
#include "core/reslice.h"
#include "engine/coverage/coverage.h"
#include "engine/reslice/reslice_internal.h"
#include "engine/slice/slicing.h"
#include "port/store_cursor.h"

static bool write_window(struct recut *recut, struct window window, struct window_list ended,
                         bool is_last_resort, struct error *err)
{
    const struct slice_cut how = slicing_cut(recut->spec);
    const struct slice_density density = { recut->total,
                                           recut->total > 0 ? window_length_us(recut->parent.window)
                                                            : 0 };
    const int64_t records = slice_expected_records(density, window_length_us(window));
    const struct slice slice = { .dimension = SLICE_TIME,
                                 .window = window,
                                 .query = slice_query_of(&how, window),
                                 .expected_records = records,
                                 .expected_requests =
                                     slice_expected_requests(slicing_cost(recut->spec), records) };
    struct plan_cut cut = { .slice = &slice,
                            .generation = coverage_generation(ended, window),
                            .is_last_resort = is_last_resort };

    return recut_write(recut, &cut, err);
}

/* What is finished, at the start or at the end of the slice. Of a remainder in its middle the end
 * counts as not finished; what of it is covered all the same is subtracted later. */
static struct window finished_of(struct window slice, struct window remaining)
{
    const struct window told = window_intersect(slice, remaining);

    if (!window_is_valid(told))
        return (struct window){ 0 };
    if (told.from_us > slice.from_us)
        return (struct window){ slice.from_us, told.from_us };
    return (struct window){ told.to_us, slice.to_us };
}

static struct window rest_of(struct window slice, struct window finished)
{
    if (!window_is_valid(finished))
        return slice;
    if (finished.from_us == slice.from_us)
        return (struct window){ finished.to_us, slice.to_us };
    return (struct window){ slice.from_us, finished.from_us };
}

/* What spares the children of a slice: windows that others have taken on since it was planned. When
 * it was, it had its window for itself, or reached back on purpose for what was covered before: the
 * first look must not spare the second. `tasks` are all that share an instant with the window. */
static bool list_since(struct recut *recut, const struct task_list *tasks,
                       struct coverage_list *since, struct error *err)
{
    *since = (struct coverage_list){ 0 };
    for (size_t i = 0; i < tasks->count; i++) {
        if (tasks->items[i].id > recut->task.id &&
            !coverage_list_add(recut->arena, &tasks->items[i], 0, INSTANT_MIN, since))
            return arena_error(recut->arena, err);
    }
    return true;
}

/* ---- by ids, where time can not be cut ---- */

static bool write_part(struct recut *recut, const struct id_part *part, int64_t records,
                       bool is_last_resort, struct error *err)
{
    const struct slice_cut how = slicing_cut(recut->spec);
    const struct slice slice = { .dimension = SLICE_TIME,
                                 .window = part->window,
                                 .query = slice_query_of(&how, part->window),
                                 .part = part->ids,
                                 .expected_records = records,
                                 .expected_requests =
                                     slice_expected_requests(slicing_cost(recut->spec), records) };
    struct plan_cut cut = { .slice = &slice,
                            .generation = recut->ticket->id,
                            .is_last_resort = is_last_resort };

    return recut_write(recut, &cut, err);
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

/* The ids of the window that need not be asked for: what others have taken on since, and what an
 * earlier cut of the window had finished before another part of it failed, unless that was so early
 * that it is owed a second look. */
static bool list_held(struct recut *recut, struct window window, const struct coverage_list *since,
                      struct id_part_list *held, struct error *err)
{
    struct coverage_namespace of = plan_namespace(&recut->plan);
    struct coverage_list all;

    of.late_us = spec_late_us(recut->spec);
    if (!plan_coverage(recut->store, recut->arena, &of, SLICE_TIME, window.from_us, &all, err))
        return false;
    *held = (struct id_part_list){ 0 };
    if (!add_parts(recut->arena, all.parts.settled, held) ||
        !add_parts(recut->arena, since->parts.covered, held) ||
        !add_parts(recut->arena, since->parts.live, held))
        return arena_error(recut->arena, err);
    id_parts_sort(*held);
    return true;
}

static bool write_missing(struct recut *recut, const struct reslice_ids *out, struct window window,
                          struct id_part_list held, struct error *err)
{
    const int64_t count = (int64_t)out->count;
    const int64_t records = recut->total > 0 ? (recut->total + count - 1) / count : SLICE_UNKNOWN;
    struct id_range_list missing;

    for (size_t i = 0; i < out->count; i++) {
        if (!id_parts_missing(recut->arena, held, (struct id_part){ window, out->children[i] },
                              &missing, err))
            return false;
        for (size_t k = 0; k < missing.count; k++) {
            if (!write_part(recut, &(struct id_part){ window, missing.items[k] }, records, false,
                            err))
                return false;
        }
    }
    return true;
}

/* Each child has the whole window, so that parts fit together whichever plan and cut they are of.
 */
static bool cut_parts(struct recut *recut, const struct task_list *tasks, struct error *err)
{
    const struct window window = recut->parent.window;
    struct reslice_ids_request request;
    struct coverage_list since;
    struct id_part_list held;
    struct window_list pieces;
    struct reslice_ids out;

    (void)slicing_ids(recut->spec, recut->task.ids, &request);
    request.reason = recut->ticket->reason;
    request.total = recut->total;
    reslice_ids(&request, &out);
    if (!list_since(recut, tasks, &since, err) ||
        !coverage_plan(recut->arena,
                       &(struct coverage_request){ .wanted = window,
                                                   .cursor_us = window.from_us,
                                                   .covered = since.covered,
                                                   .live = since.live },
                       &pieces, err))
        return false;
    if (pieces.count == 0)
        return true; /* somebody else has it in one piece */
    if (out.count == 0 || tasks->count >= RESLICE_PARTS_MAX)
        return write_part(recut, &(struct id_part){ window, recut->task.ids }, SLICE_UNKNOWN, true,
                          err);
    return list_held(recut, window, &since, &held, err) &&
           write_missing(recut, &out, window, held, err);
}

/* ---- by time ---- */

static bool write_pieces(struct recut *recut, struct window child,
                         const struct coverage_list *since, struct window_list ended,
                         bool is_last_resort, struct error *err)
{
    const struct coverage_request missing = {
        .wanted = child, .cursor_us = child.from_us, .covered = since->covered, .live = since->live
    };
    struct window_list pieces;

    if (!coverage_plan(recut->arena, &missing, &pieces, err))
        return false;
    for (size_t i = 0; i < pieces.count; i++) {
        if (!write_window(recut, pieces.items[i], ended, is_last_resort, err))
            return false;
    }
    return true;
}

static bool cut_windows(struct recut *recut, const struct reslice *out, struct window finished,
                        const struct task_list *tasks, struct error *err)
{
    const struct coverage_namespace of = plan_namespace(&recut->plan);
    const struct window slice = recut->parent.window;
    struct coverage_list all, since;
    struct window_list ended;

    if (!plan_coverage(recut->store, recut->arena, &of, SLICE_TIME, slice.from_us, &all, err) ||
        !coverage_ended(recut->arena, &all, &ended, err) ||
        !list_since(recut, tasks, &since, err) || !coverage_join(recut->arena, &since, err))
        return false;
    if (out->count == 0)
        return write_pieces(recut, rest_of(slice, finished), &since, ended, true, err);
    for (size_t i = 0; i < out->count; i++) {
        if (!write_pieces(recut, out->children[i], &since, ended, false, err))
            return false;
    }
    return true;
}

bool recut_time(struct recut *recut, struct error *err)
{
    const struct window slice = recut->parent.window;
    const struct window finished = finished_of(slice, recut->ticket->remaining);
    const struct coverage_namespace of = plan_namespace(&recut->plan);
    const struct reslice_request request = { .window = slice,
                                             .finished = finished,
                                             .cut = slicing_cut(recut->spec),
                                             .reason = recut->ticket->reason,
                                             .total = recut->total,
                                             .record_cap = recut->spec->endpoint.page.cap };
    struct reslice out = { 0 };
    struct task_list tasks;

    if (!store_coverage_tasks(recut->store, recut->arena, &of, slice, RESLICE_PARTS_MAX, &tasks,
                              err))
        return false;
    if (!id_range_is_valid(recut->task.ids))
        reslice_time(&request, &out);
    if (out.count == 0 && recut->spec->endpoint.page.id_max > 0)
        return cut_parts(recut, &tasks, err);
    return cut_windows(recut, &out, finished, &tasks, err);
}
