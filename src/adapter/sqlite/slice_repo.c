#include "adapter/sqlite/slice_repo.h"

#include <inttypes.h>

#include "adapter/sqlite/sqlite.h"

static const char ADD[] =
    "INSERT INTO ing_plan_slice (plan_id, parent_slice_id, provenance_code, slice_no,"
    " dimension_code, window_from, window_to, slice_spec, slice_signature_hash, expr_hash,"
    " expr_snapshot, status_code, created_at, updated_at)"
    " VALUES (:plan, :parent, :source, :number, :dimension, :window_from, :window_to, :spec,"
    " :signature, :expr_hash, :expr_snapshot, :status, :created, :created)"
    " ON CONFLICT (plan_id, slice_signature_hash) DO NOTHING RETURNING id";

static const char FIND[] = "SELECT id FROM ing_plan_slice"
                           " WHERE plan_id = :plan AND slice_signature_hash = :signature";

static bool find_slice(struct sqlite_store *sqlite, const struct plan_slice *slice, int64_t *id,
                       struct error *err)
{
    struct statement *st = statement_of(sqlite, FIND);

    bind_i64(st, ":plan", slice->plan_id);
    bind_text(st, ":signature", slice->signature_hash);
    if (statement_row(st))
        *id = column_i64(st, 0);
    return statement_finish(st, err);
}

static bool add_slice(struct sqlite_store *sqlite, const struct plan_slice *slice, int64_t *id,
                      int64_t *added, struct error *err)
{
    struct statement *st = statement_of(sqlite, ADD);
    bool is_new;

    bind_i64(st, ":plan", slice->plan_id);
    bind_id(st, ":parent", slice->parent_id);
    bind_text(st, ":source", slice->source);
    bind_i64(st, ":number", slice->number);
    bind_code(st, ":dimension", &SLICE_DIMENSION_CODES, (int)slice->dimension);
    bind_window(st, ":window_from", ":window_to", slice->window);
    bind_text(st, ":spec", slice->spec);
    bind_text(st, ":signature", slice->signature_hash);
    bind_text(st, ":expr_hash", slice->expr_hash);
    bind_text(st, ":expr_snapshot", slice->expr_snapshot);
    bind_code(st, ":status", &SLICE_STATUS_CODES, (int)slice->status);
    bind_i64(st, ":created", slice->created_us);
    is_new = statement_row(st);
    if (is_new)
        *id = column_i64(st, 0);
    *added += is_new;
    return statement_finish(st, err) && (is_new || find_slice(sqlite, slice, id, err));
}

bool sqlite_slice_add(struct store *store, const struct plan_slice *slices, size_t count,
                      int64_t *ids, int64_t *added, struct error *err)
{
    *added = 0;
    for (size_t i = 0; i < count; i++) {
        if (!add_slice(sqlite_store_of(store), &slices[i], &ids[i], added, err))
            return error_wrap(err, "add slice %" PRId64 " of plan %" PRId64, slices[i].number,
                              slices[i].plan_id);
    }
    return true;
}

static const char MOVE[] =
    "UPDATE ing_plan_slice SET status_code = :to, updated_at = :now WHERE id = :id";

bool sqlite_slice_move(struct store *store, int64_t id, enum slice_status to, int64_t now_us,
                       struct error *err)
{
    struct statement *st = statement_of(sqlite_store_of(store), MOVE);

    bind_code(st, ":to", &SLICE_STATUS_CODES, (int)to);
    bind_i64(st, ":now", now_us);
    bind_i64(st, ":id", id);
    if (!statement_run(st, err))
        return error_wrap(err, "slice %" PRId64, id);
    return statement_changes(st) == 1 ||
           error_set(err, ERROR_REQUEST, "store.value", "no slice %" PRId64, id);
}

#define COLUMNS                                                                             \
    "id, plan_id, parent_slice_id, provenance_code, slice_no, dimension_code, window_from," \
    " window_to, slice_spec, slice_signature_hash, expr_hash, expr_snapshot, status_code,"  \
    " created_at"
enum {
    COL_ID,
    COL_PLAN_ID,
    COL_PARENT_ID,
    COL_SOURCE,
    COL_NUMBER,
    COL_DIMENSION,
    COL_WINDOW_FROM,
    COL_WINDOW_TO,
    COL_SPEC,
    COL_SIGNATURE_HASH,
    COL_EXPR_HASH,
    COL_EXPR_SNAPSHOT,
    COL_STATUS,
    COL_CREATED,
};

static void read_slice(struct statement *st, struct arena *arena, struct plan_slice *slice)
{
    slice->id = column_i64(st, COL_ID);
    slice->plan_id = column_i64(st, COL_PLAN_ID);
    slice->parent_id = column_i64(st, COL_PARENT_ID);
    slice->source = column_text(st, COL_SOURCE, arena);
    slice->number = column_i64(st, COL_NUMBER);
    slice->dimension = (enum slice_dimension)column_code(st, COL_DIMENSION, &SLICE_DIMENSION_CODES);
    slice->window = column_window(st, COL_WINDOW_FROM);
    slice->spec = column_text(st, COL_SPEC, arena);
    slice->signature_hash = column_text(st, COL_SIGNATURE_HASH, arena);
    slice->expr_hash = column_text(st, COL_EXPR_HASH, arena);
    slice->expr_snapshot = column_text(st, COL_EXPR_SNAPSHOT, arena);
    slice->status = (enum slice_status)column_code(st, COL_STATUS, &SLICE_STATUS_CODES);
    slice->created_us = column_i64(st, COL_CREATED);
}

static const char GET[] = "SELECT " COLUMNS " FROM ing_plan_slice WHERE id = :id";

bool sqlite_slice_get(struct store *store, struct arena *arena, int64_t id,
                      struct plan_slice *slice, bool *found, struct error *err)
{
    struct statement *st = statement_of(sqlite_store_of(store), GET);

    bind_i64(st, ":id", id);
    *found = statement_row(st);
    if (*found)
        read_slice(st, arena, slice);
    return statement_finish(st, err);
}

static const char LIST[] = "SELECT " COLUMNS " FROM ing_plan_slice"
                           " WHERE plan_id = :plan AND slice_no > :after"
                           " ORDER BY slice_no LIMIT :limit";

bool sqlite_slice_list(struct store *store, struct arena *arena, int64_t plan_id,
                       int64_t after_number, int64_t limit, struct plan_slice_list *list,
                       struct error *err)
{
    struct statement *st = statement_of(sqlite_store_of(store), LIST);

    *list = (struct plan_slice_list){ 0 };
    bind_i64(st, ":plan", plan_id);
    bind_i64(st, ":after", after_number);
    bind_i64(st, ":limit", limit);
    while (statement_row(st)) {
        struct plan_slice *slice = LIST_ADD(arena, list);

        if (slice == NULL) {
            st->full = arena;
            break;
        }
        read_slice(st, arena, slice);
    }
    return statement_finish(st, err);
}
