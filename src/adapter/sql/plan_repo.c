/* Plans and their slices: store_plan_ops. */
#include <inttypes.h>

#include "adapter/sql/orphans.h"
#include "adapter/sql/session.h"
#include "port/store_plan.h"

#define PLAN_COLUMNS                                                                        \
    "id, schedule_instance_id, provenance_code, endpoint_name, operation_code, cursor_key," \
    " namespace_scope_code, namespace_key, window_from, window_to, expr_proto_hash,"        \
    " spec_fingerprint, status_code, record_remarks, created_at, updated_at"

static void read_plan(struct rows *rows, struct arena *arena, struct plan *plan)
{
    *plan = (struct plan){ .id = rows_i64(rows) };
    plan->schedule_instance_id = rows_i64(rows);
    plan->source = rows_text(rows, arena);
    plan->endpoint = rows_text(rows, arena);
    plan->operation = (enum operation)rows_code(rows, &OPERATION_CODES);
    plan->cursor_key = rows_text(rows, arena);
    plan->scope = (enum namespace_scope)rows_code(rows, &NAMESPACE_SCOPE_CODES);
    plan->namespace_key = rows_text(rows, arena);
    plan->window = rows_window(rows);
    plan->expr_proto_hash = rows_text(rows, arena);
    plan->spec_fingerprint = rows_text(rows, arena);
    plan->status = (enum plan_status)rows_code(rows, &PLAN_STATUS_CODES);
    plan->remarks = rows_text(rows, arena);
    plan->created_us = rows_i64(rows);
    plan->updated_us = rows_i64(rows);
}

static bool read_plans(struct rows *rows, struct arena *arena, struct plan_list *list,
                       struct error *err)
{
    struct plan *plan;

    *list = (struct plan_list){ 0 };
    while ((plan = ROWS_NEXT(rows, arena, list)) != NULL)
        read_plan(rows, arena, plan);
    return rows_finish(rows, err);
}

static bool read_progress(struct rows *rows, struct plan_progress *progress, struct error *err)
{
    while (rows_next(rows)) {
        const int status = rows_code(rows, &TASK_STATUS_CODES);

        progress->tasks[status] = rows_i64(rows);
    }
    return rows_finish(rows, err);
}

static const char ADD[] =
    "INSERT INTO ing_plan (schedule_instance_id, provenance_code, endpoint_name, operation_code,"
    " cursor_key, namespace_scope_code, namespace_key, window_from, window_to, expr_proto_hash,"
    " expr_proto_snapshot, spec_fingerprint, status_code, record_remarks, created_at, updated_at)"
    " VALUES (:schedule_instance, :source, :endpoint, :operation, :cursor_key, :scope,"
    " :namespace_key, :window_from, :window_to, :expr_proto_hash, :expr_proto_snapshot,"
    " :spec_fingerprint, :status, :remarks, :created, :created) RETURNING id";

static bool plan_add(struct store *store, const struct plan *plan, int64_t *id, struct error *err)
{
    struct statement *st = statement_of(store, ADD);

    bind_i64(st, ":schedule_instance", plan->schedule_instance_id);
    bind_text(st, ":source", plan->source);
    bind_text(st, ":endpoint", plan->endpoint);
    bind_code(st, ":operation", &OPERATION_CODES, (int)plan->operation);
    bind_text(st, ":cursor_key", plan->cursor_key);
    bind_code(st, ":scope", &NAMESPACE_SCOPE_CODES, (int)plan->scope);
    bind_text(st, ":namespace_key", plan->namespace_key);
    bind_window(st, ":window_from", ":window_to", plan->window);
    bind_text(st, ":expr_proto_hash", plan->expr_proto_hash);
    bind_text(st, ":expr_proto_snapshot", plan->expr_proto_snapshot);
    bind_text(st, ":spec_fingerprint", plan->spec_fingerprint);
    bind_code(st, ":status", &PLAN_STATUS_CODES, (int)plan->status);
    bind_json(st, ":remarks", plan->remarks);
    bind_instant(st, ":created", plan->created_us);
    return rows_only_i64(&st->rows, id, err) || error_wrap(err, "add a plan");
}

static const char MOVE[] = "UPDATE ing_plan SET status_code = :to, updated_at = :now,"
                           " record_remarks = coalesce(:remarks, record_remarks)"
                           " WHERE id = :id AND status_code = :from";

static bool plan_move(struct store *store, const struct plan_move *move, bool *moved,
                      struct error *err)
{
    struct statement *st = statement_of(store, MOVE);

    bind_code(st, ":to", &PLAN_STATUS_CODES, (int)move->to);
    bind_instant(st, ":now", move->now_us);
    bind_json_opt(st, ":remarks", move->remarks.len > 0, move->remarks);
    bind_i64(st, ":id", move->id);
    bind_code(st, ":from", &PLAN_STATUS_CODES, (int)move->from);
    return statement_changed(st, moved, err) ||
           error_wrap(err, "change the status of plan %" PRId64, move->id);
}

static const char GET[] =
    "SELECT " PLAN_COLUMNS ", expr_proto_snapshot FROM ing_plan WHERE id = :id";

static bool plan_get(struct store *store, struct arena *arena, int64_t id, struct plan *plan,
                     bool *found, struct error *err)
{
    struct statement *st = statement_of(store, GET);

    bind_i64(st, ":id", id);
    *found = rows_next(&st->rows);
    if (*found) {
        read_plan(&st->rows, arena, plan);
        plan->expr_proto_snapshot = rows_text(&st->rows, arena);
    }
    return rows_finish(&st->rows, err);
}

static const char LIST[] = "SELECT " PLAN_COLUMNS " FROM ing_plan"
                           " WHERE (:source = '' OR provenance_code = :source)"
                           "   AND (:endpoint = '' OR endpoint_name = :endpoint)"
                           "   AND (:operation IS NULL OR operation_code = :operation)"
                           "   AND (:status IS NULL OR status_code = :status)"
                           "   AND (:before = 0 OR id < :before)"
                           " ORDER BY id DESC LIMIT :limit";

static bool plan_list(struct store *store, struct arena *arena, const struct plan_filter *filter,
                      struct plan_list *list, struct error *err)
{
    struct statement *st = statement_of(store, LIST);

    bind_text(st, ":source", filter->source);
    bind_text(st, ":endpoint", filter->endpoint);
    bind_code_opt(st, ":operation", filter->has_operation, &OPERATION_CODES,
                  (int)filter->operation);
    bind_code_opt(st, ":status", filter->has_status, &PLAN_STATUS_CODES, (int)filter->status);
    bind_i64(st, ":before", filter->before_id);
    bind_i64(st, ":limit", filter->limit);
    return read_plans(&st->rows, arena, list, err) || error_wrap(err, "list plans");
}

static const char SLICES[] = "SELECT count(*) FROM ing_plan_slice WHERE plan_id = :plan";
static const char TASKS[] =
    "SELECT status_code, count(*) FROM ing_task WHERE plan_id = :plan GROUP BY status_code";

static bool plan_progress(struct store *store, int64_t id, struct plan_progress *progress,
                          struct error *err)
{
    struct statement *st = statement_of(store, SLICES);

    *progress = (struct plan_progress){ 0 };
    bind_i64(st, ":plan", id);
    if (!rows_only_i64(&st->rows, &progress->slices, err))
        return false;
    st = statement_of(store, TASKS);
    bind_i64(st, ":plan", id);
    return read_progress(&st->rows, progress, err);
}

static const char CANCEL_PLAN[] =
    "UPDATE ing_plan SET updated_at = CASE WHEN status_code IN ('FAILED', 'CANCELLED')"
    "                                 THEN updated_at ELSE :now END,"
    " status_code = CASE status_code WHEN 'FAILED' THEN 'FAILED' ELSE 'CANCELLED' END"
    " WHERE id = :plan";
static const char CANCEL_TASKS[] =
    "UPDATE ing_task SET status_code = 'CANCELLED', updated_at = :now, finished_at = :now"
    " WHERE plan_id = :plan AND status_code = 'QUEUED'";
static const char CANCEL_SLICES[] =
    "UPDATE ing_plan_slice SET status_code = 'CANCELLED', updated_at = :now"
    " WHERE plan_id = :plan AND status_code IN ('PENDING', 'READY')"
    "   AND NOT EXISTS (SELECT 1 FROM ing_task t WHERE t.slice_id = ing_plan_slice.id"
    "                                              AND t.status_code <> 'CANCELLED')";

static const char CANCEL_RUNS[] = ORPHANS_END("t.plan_id = :plan");

/* `st` is one of the statements above. */
static bool run_cancel(struct statement *st, int64_t id, int64_t now_us, int64_t *changes,
                       struct error *err)
{
    bind_i64(st, ":plan", id);
    bind_instant(st, ":now", now_us);
    return statement_run(st, changes, err) || error_wrap(err, "cancel plan %" PRId64, id);
}

static bool plan_cancel(struct store *store, int64_t id, int64_t now_us, int64_t *cancelled,
                        struct error *err)
{
    int64_t changes = 0;

    if (!run_cancel(statement_of(store, CANCEL_PLAN), id, now_us, &changes, err))
        return false;
    if (changes != 1)
        return error_set(err, ERROR_REQUEST, "store.value", "there is no plan %" PRId64, id);
    return run_cancel(statement_of(store, CANCEL_TASKS), id, now_us, cancelled, err) &&
           run_cancel(statement_of(store, CANCEL_RUNS), id, now_us, &changes, err) &&
           run_cancel(statement_of(store, CANCEL_SLICES), id, now_us, &changes, err);
}

/* ---- slices ---- */

#define SLICE_COLUMNS                                                                       \
    "id, plan_id, parent_slice_id, provenance_code, slice_no, dimension_code, window_from," \
    " window_to, slice_spec, slice_signature_hash, expr_hash, expr_snapshot, status_code,"  \
    " created_at"

static void read_slice(struct rows *rows, struct arena *arena, struct plan_slice *slice)
{
    slice->id = rows_i64(rows);
    slice->plan_id = rows_i64(rows);
    slice->parent_id = rows_i64(rows);
    slice->source = rows_text(rows, arena);
    slice->number = rows_i64(rows);
    slice->dimension = (enum slice_dimension)rows_code(rows, &SLICE_DIMENSION_CODES);
    slice->window = rows_window(rows);
    slice->spec = rows_text(rows, arena);
    slice->signature_hash = rows_text(rows, arena);
    slice->expr_hash = rows_text(rows, arena);
    slice->expr_snapshot = rows_text(rows, arena);
    slice->status = (enum slice_status)rows_code(rows, &SLICE_STATUS_CODES);
    slice->created_us = rows_i64(rows);
}

static bool read_slices(struct rows *rows, struct arena *arena, struct plan_slice_list *list,
                        struct error *err)
{
    struct plan_slice *slice;

    *list = (struct plan_slice_list){ 0 };
    while ((slice = ROWS_NEXT(rows, arena, list)) != NULL)
        read_slice(rows, arena, slice);
    return rows_finish(rows, err);
}

static const char SLICE_ADD[] =
    "INSERT INTO ing_plan_slice (plan_id, parent_slice_id, provenance_code, slice_no,"
    " dimension_code, window_from, window_to, slice_spec, slice_signature_hash, expr_hash,"
    " expr_snapshot, status_code, created_at, updated_at)"
    " {insert :plan, @parent, @source, @number, @dimension, @window_from, @window_to, @spec,"
    "         @signature, @expr_hash, @expr_snapshot, @status, @created, @created}"
    " ON CONFLICT (plan_id, slice_signature_hash) DO NOTHING RETURNING id, slice_no";

static void add_cells(struct statement *st, const struct plan_slice *slice)
{
    cell_id(st, "@parent", slice->parent_id);
    cell_text(st, "@source", slice->source);
    cell_i64(st, "@number", slice->number);
    cell_code(st, "@dimension", &SLICE_DIMENSION_CODES, (int)slice->dimension);
    cell_window(st, "@window_from", "@window_to", slice->window);
    cell_text(st, "@spec", slice->spec);
    cell_text(st, "@signature", slice->signature_hash);
    cell_text(st, "@expr_hash", slice->expr_hash);
    cell_text(st, "@expr_snapshot", slice->expr_snapshot);
    cell_code(st, "@status", &SLICE_STATUS_CODES, (int)slice->status);
    cell_instant(st, "@created", slice->created_us);
}

struct slice_insert {
    const struct plan_slice *slices; /* of one plan */
    size_t count;
    int64_t *ids; /* of these slices, in their order */
    int64_t added;
    bool has_ids; /* all ids are known */
};

/* When none of the slices existed before, rows are returned in the order in which they were given.
 * Their numbers show whether they were: then all ids are known. */
static bool insert_slices(struct store *store, struct slice_insert *insert, struct error *err)
{
    struct statement *st = statement_of(store, SLICE_ADD);
    bool in_order = true;

    bind_i64(st, ":plan", insert->slices[0].plan_id);
    for (size_t i = 0; i < insert->count; i++)
        add_cells(st, &insert->slices[i]);
    for (size_t i = 0; rows_next(&st->rows); i++, insert->added++) {
        const int64_t id = rows_i64(&st->rows);
        const int64_t number = rows_i64(&st->rows);

        in_order = in_order && i < insert->count && insert->slices[i].number == number;
        if (in_order)
            insert->ids[i] = id;
    }
    insert->has_ids = in_order && insert->added == (int64_t)insert->count;
    return rows_finish(&st->rows, err);
}

static const char SLICE_FIND[] = "SELECT @place, t.id FROM {find ing_plan_slice:"
                                 " plan_id = :plan AND slice_signature_hash = @signature}";

static bool find_slices(struct store *store, const struct slice_insert *insert, struct error *err)
{
    struct statement *st = statement_of(store, SLICE_FIND);

    bind_i64(st, ":plan", insert->slices[0].plan_id);
    for (size_t i = 0; i < insert->count; i++)
        cell_text(st, "@signature", insert->slices[i].signature_hash);
    while (rows_next(&st->rows)) {
        const int64_t place = rows_i64(&st->rows);

        insert->ids[place - 1] = rows_i64(&st->rows);
    }
    return rows_finish(&st->rows, err);
}

static bool slice_add(struct store *store, const struct plan_slice *slices, size_t count,
                      int64_t *ids, int64_t *added, struct error *err)
{
    struct slice_insert insert = { .slices = slices, .count = count, .ids = ids };
    bool ok;

    *added = 0;
    if (count == 0)
        return true;
    ok = insert_slices(store, &insert, err) && (insert.has_ids || find_slices(store, &insert, err));
    *added = insert.added;
    return ok || error_wrap(err, "add slices of plan %" PRId64, slices[0].plan_id);
}

static const char SLICE_MOVE[] =
    "UPDATE ing_plan_slice SET status_code = :to, updated_at = :now WHERE id = :id";

static bool slice_move(struct store *store, int64_t id, enum slice_status to, int64_t now_us,
                       struct error *err)
{
    struct statement *st = statement_of(store, SLICE_MOVE);
    bool moved;

    bind_code(st, ":to", &SLICE_STATUS_CODES, (int)to);
    bind_instant(st, ":now", now_us);
    bind_i64(st, ":id", id);
    if (!statement_changed(st, &moved, err))
        return error_wrap(err, "change the status of slice %" PRId64, id);
    return moved || error_set(err, ERROR_REQUEST, "store.value", "there is no slice %" PRId64, id);
}

static const char SLICE_GET[] = "SELECT " SLICE_COLUMNS " FROM ing_plan_slice WHERE id = :id";

static bool slice_get(struct store *store, struct arena *arena, int64_t id,
                      struct plan_slice *slice, bool *found, struct error *err)
{
    struct statement *st = statement_of(store, SLICE_GET);

    bind_i64(st, ":id", id);
    *found = rows_next(&st->rows);
    if (*found)
        read_slice(&st->rows, arena, slice);
    return rows_finish(&st->rows, err);
}

static const char SLICE_LIST[] = "SELECT " SLICE_COLUMNS " FROM ing_plan_slice"
                                 " WHERE plan_id = :plan AND slice_no > :after"
                                 " ORDER BY slice_no LIMIT :limit";

static bool slice_list(struct store *store, struct arena *arena, int64_t plan_id,
                       struct store_page page, struct plan_slice_list *list, struct error *err)
{
    struct statement *st = statement_of(store, SLICE_LIST);

    bind_i64(st, ":plan", plan_id);
    bind_i64(st, ":after", page.after);
    bind_i64(st, ":limit", page.limit);
    return read_slices(&st->rows, arena, list, err);
}

/* Up from the slice to the one that is not a piece of another. */
static const char SLICE_FAMILY[] =
    "WITH RECURSIVE up(id, parent) AS ("
    "   SELECT id, parent_slice_id FROM ing_plan_slice WHERE id = :id"
    "   UNION ALL SELECT s.id, s.parent_slice_id FROM ing_plan_slice s JOIN up ON s.id = up.parent)"
    " SELECT s.id, s.family_requests, s.family_needed, s.family_done"
    " FROM ing_plan_slice s JOIN up ON up.id = s.id WHERE up.parent IS NULL";

static bool slice_family(struct store *store, int64_t id, struct slice_family *family,
                         struct error *err)
{
    struct statement *st = statement_of(store, SLICE_FAMILY);
    bool found;

    bind_i64(st, ":id", id);
    found = rows_next(&st->rows);
    if (found) {
        family->root_id = rows_i64(&st->rows);
        family->budget.requests = rows_i64(&st->rows);
        family->budget.needed = rows_i64(&st->rows);
        family->budget.done = rows_i64(&st->rows);
    }
    if (!rows_finish(&st->rows, err))
        return error_wrap(err, "read what slice %" PRId64 " has spent", id);
    return found || error_set(err, ERROR_REQUEST, "store.value", "there is no slice %" PRId64, id);
}

static const char SLICE_SPEND[] = "UPDATE ing_plan_slice"
                                  " SET family_requests = family_requests + :requests,"
                                  "     family_needed = {greatest}(family_needed, :needed),"
                                  "     family_done = family_done + :done WHERE id = :id";

static bool slice_spend(struct store *store, const struct slice_spending *spending,
                        struct error *err)
{
    struct statement *st = statement_of(store, SLICE_SPEND);
    bool changed;

    bind_i64(st, ":id", spending->root_id);
    bind_i64(st, ":requests", spending->requests);
    bind_i64(st, ":needed", spending->needed);
    bind_i64(st, ":done", spending->done);
    if (!statement_changed(st, &changed, err))
        return error_wrap(err, "note what slice %" PRId64 " has spent", spending->root_id);
    return changed || error_set(err, ERROR_REQUEST, "store.value", "there is no slice %" PRId64,
                                spending->root_id);
}

const struct store_plan_ops SQL_PLAN = {
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
    .slice_family = slice_family,
    .slice_spend = slice_spend,
};
