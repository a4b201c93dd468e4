/* Reads the rows of a task: plan, slice, params, earlier runs, listed ids. */
#include "engine/execute/assignment.h"

#include <inttypes.h>

#include "data/json.h"
#include "engine/slice/slice_expr.h"
#include "engine/slice/slicing.h"
#include "port/store_cursor.h"
#include "port/store_run.h"

/* ---- the slice ---- */

/* Params that this patra did not write. The window is still uncovered, so the next trigger plans
 * it again. Running without the params could re-slice without end what must not be re-sliced. */
static bool unreadable(const struct task *task, const char *what, struct error *err)
{
    return error_set(err, ERROR_REQUEST, "task.params",
                     "params of task %" PRId64 ": %s; stored: %.*s%s; fire its operation again"
                     " (patra trigger): its window is then planned again",
                     task->id, what, (int)(task->params.len < 80 ? task->params.len : 80),
                     task->params.data, task->params.len > 80 ? "..." : "");
}

static bool read_params(struct arena *arena, const struct task *task, bool *is_last_resort,
                        struct error *err)
{
    struct json_doc doc;
    struct json_node node;
    struct error cause;

    *is_last_resort = false;
    if (!json_parse(&doc, arena, task->params, &cause))
        return unreadable(task, cause.text, err);
    if (json_type(&doc, json_root(&doc)) != JSON_OBJECT)
        return unreadable(task, "they are not a JSON object", err);
    node = json_get(&doc, json_root(&doc), STR("lastResort"));
    return !json_exists(node) || json_bool(&doc, node, is_last_resort) ||
           unreadable(task, "lastResort is neither true nor false", err);
}

static bool load_slice(struct store *store, struct arena *arena, const struct task *task,
                       struct assignment *a, struct error *err)
{
    struct plan_slice row;
    struct str_list ids = { 0 };
    bool has_plan, has_slice, is_last_resort;

    if (!store_plan_get(store, arena, task->plan_id, &a->plan, &has_plan, err) ||
        !store_slice_get(store, arena, task->slice_id, &row, &has_slice, err))
        return false;
    if (!has_plan || !has_slice)
        return error_set(err, ERROR_FATAL, "task.orphan", "its plan or slice does not exist");
    if (!store_slice_family(store, task->slice_id, &a->family, err))
        return false;
    a->endpoint = a->plan.endpoint;
    if (!spec_cache_hold(a->specs, a->plan.expr_proto_snapshot, &a->spec, err) ||
        !slice_read(arena, &a->plan, &row, &a->slice, &a->limits, err) ||
        !slice_expr_target(arena, row.expr_snapshot, &a->endpoint, err) ||
        !read_params(arena, task, &is_last_resort, err))
        return false;
    if (a->slice.dimension == SLICE_ID && !slice_expr_ids(arena, row.expr_snapshot, &ids, err))
        return false;
    a->ids = ids.items;
    a->id_count = ids.count;
    if (is_last_resort)
        return true;
    a->can_reslice = slicing_can_cut(&a->slice, a->spec, a->id_count);
    a->can_reslice_ids = slicing_can_cut_ids(&a->slice, a->spec);
    return true;
}

/* ---- what was done before ---- */

static bool load_runs(struct store *store, struct arena *arena, const struct task *task,
                      struct assignment *a, struct error *err)
{
    struct run_list runs;

    if (!store_run_list(store, arena, task->id, &runs, err))
        return false;
    for (size_t i = 0; i < runs.count; i++) {
        const struct run *run = &runs.items[i];

        if (run->checkpoint.len > 0) {
            a->checkpoint = run->checkpoint;
            a->idle_runs = 0;
        } else if (run->status == RUN_FAILED)
            a->idle_runs++;
    }
    return true;
}

/* ---- phase one ---- */

/* Read so many at a time. */
enum { LISTED_PAGE = 10000 };

static bool keep_page(struct arena *arena, struct listed_list *all, const struct listed_list *page,
                      struct error *err)
{
    for (size_t i = 0; i < page->count; i++) {
        struct str *id = LIST_ADD(arena, all);

        if (id == NULL)
            return arena_error(arena, err);
        *id = page->items[i];
    }
    return true;
}

/* The ids that earlier runs listed: this walk has to be given them. */
static bool load_listed(struct store *store, struct arena *arena, const struct task *task,
                        struct assignment *a, struct error *err)
{
    struct store_page page = { .limit = LISTED_PAGE };
    struct listed_list all = { 0 }, listed;

    if (!a->spec->is_two_phase || a->slice.dimension == SLICE_ID || a->checkpoint.len == 0)
        return true;
    do {
        if (!store_listed_list(store, arena, task->id, page, &listed, err) ||
            !keep_page(arena, &all, &listed, err))
            return false;
        page.after = (int64_t)all.count;
    } while (listed.count == LISTED_PAGE);
    a->ids = all.items;
    a->id_count = all.count;
    return true;
}

/* ---- behind the cursor ---- */

/* Only a lookback reads again what a cursor has passed. */
static bool find_late(struct store *store, struct arena *arena, const struct task *task,
                      struct assignment *a, struct error *err)
{
    const struct cursor_name name = { .source = task->source,
                                      .operation = task->operation,
                                      .cursor_key = task->cursor_key,
                                      .scope = task->scope,
                                      .namespace_key = task->namespace_key };
    struct cursor cursor;
    bool found;

    if (spec_late_us(a->spec) == 0 || a->slice.dimension != SLICE_TIME ||
        !window_is_valid(task->window) || task->cursor_key.len == 0)
        return true;
    if (!store_cursor_load(store, arena, &name, &cursor, &found, err))
        return false;
    if (!found || cursor.value.type != CURSOR_TIME ||
        cursor.value.instant_us <= task->window.from_us)
        return true;
    a->late_before.is_set = true;
    a->late_before.at_us =
        cursor.value.instant_us >= task->window.to_us ? INT64_MAX : cursor.value.instant_us;
    return true;
}

bool assignment_load(const struct assignment_parts *parts, const struct task *task,
                     struct assignment *assignment, struct error *err)
{
    struct store *store = parts->store;
    struct arena *arena = parts->arena;

    *assignment = (struct assignment){ .specs = parts->specs };
    return (load_slice(store, arena, task, assignment, err) &&
            load_runs(store, arena, task, assignment, err) &&
            load_listed(store, arena, task, assignment, err) &&
            find_late(store, arena, task, assignment, err)) ||
           error_wrap(err, "load task %" PRId64, task->id);
}

void assignment_release(struct assignment *assignment)
{
    spec_cache_release(assignment->specs, assignment->spec);
    assignment->spec = NULL;
}
