/* Slices of plans. */
#include "adapter/sql/slice_repo.h"

#include <inttypes.h>

#include "adapter/sql/session.h"
#include "port/store_plan.h"

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

static const char ADD[] =
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
    struct statement *st = statement_of(store, ADD);
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

static const char FIND[] = "SELECT @place, t.id FROM {find ing_plan_slice:"
                           " plan_id = :plan AND slice_signature_hash = @signature}";

static bool find_slices(struct store *store, const struct slice_insert *insert, struct error *err)
{
    struct statement *st = statement_of(store, FIND);

    bind_i64(st, ":plan", insert->slices[0].plan_id);
    for (size_t i = 0; i < insert->count; i++)
        cell_text(st, "@signature", insert->slices[i].signature_hash);
    while (rows_next(&st->rows)) {
        const int64_t place = rows_i64(&st->rows);

        insert->ids[place - 1] = rows_i64(&st->rows);
    }
    return rows_finish(&st->rows, err);
}

bool slice_add(struct store *store, const struct plan_slice *slices, size_t count, int64_t *ids,
               int64_t *added, struct error *err)
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

static const char MOVE[] =
    "UPDATE ing_plan_slice SET status_code = :to, updated_at = :now WHERE id = :id";

bool slice_move(struct store *store, int64_t id, enum slice_status to, int64_t now_us,
                struct error *err)
{
    struct statement *st = statement_of(store, MOVE);
    bool moved;

    bind_code(st, ":to", &SLICE_STATUS_CODES, (int)to);
    bind_instant(st, ":now", now_us);
    bind_i64(st, ":id", id);
    if (!statement_changed(st, &moved, err))
        return error_wrap(err, "change the status of slice %" PRId64, id);
    return moved || error_set(err, ERROR_REQUEST, "store.value", "there is no slice %" PRId64, id);
}

static const char GET[] = "SELECT " SLICE_COLUMNS " FROM ing_plan_slice WHERE id = :id";

bool slice_get(struct store *store, struct arena *arena, int64_t id, struct plan_slice *slice,
               bool *found, struct error *err)
{
    struct statement *st = statement_of(store, GET);

    bind_i64(st, ":id", id);
    *found = rows_next(&st->rows);
    if (*found)
        read_slice(&st->rows, arena, slice);
    return rows_finish(&st->rows, err);
}

static const char LIST[] = "SELECT " SLICE_COLUMNS " FROM ing_plan_slice"
                           " WHERE plan_id = :plan AND slice_no > :after"
                           " ORDER BY slice_no LIMIT :limit";

bool slice_list(struct store *store, struct arena *arena, int64_t plan_id, int64_t after_number,
                int64_t limit, struct plan_slice_list *list, struct error *err)
{
    struct statement *st = statement_of(store, LIST);

    bind_i64(st, ":plan", plan_id);
    bind_i64(st, ":after", after_number);
    bind_i64(st, ":limit", limit);
    return read_slices(&st->rows, arena, list, err);
}
