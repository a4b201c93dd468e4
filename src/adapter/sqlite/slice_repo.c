#include "adapter/sqlite/slice_repo.h"

#include <inttypes.h>

#include "adapter/sql/read.h"
#include "adapter/sqlite/sqlite.h"

#define ADD_HEAD                                                                            \
    "INSERT INTO ing_plan_slice (plan_id, parent_slice_id, provenance_code, slice_no,"      \
    " dimension_code, window_from, window_to, slice_spec, slice_signature_hash, expr_hash," \
    " expr_snapshot, status_code, created_at, updated_at) VALUES "
#define ADD_ROW "(?,?,?,?,?,?,?,?,?,?,?,?,?,?)"
#define ADD_TAIL " ON CONFLICT (plan_id, slice_signature_hash) DO NOTHING"
enum { ADD_ROWS = 100 };
static const char ADD_ONE[] = ADD_HEAD ADD_ROW ADD_TAIL;
static const char ADD_MANY[] = ADD_HEAD SQL_ROWS_100(ADD_ROW) ADD_TAIL;

static const char FIND[] = "SELECT id FROM ing_plan_slice"
                           " WHERE plan_id = :plan AND slice_signature_hash = :signature";

static bool find_slice(struct sqlite_store *sqlite, const struct plan_slice *slice, int64_t *id,
                       struct error *err)
{
    struct statement *st = statement_of(sqlite, FIND);

    bind_i64(st, ":plan", slice->plan_id);
    bind_text(st, ":signature", slice->signature_hash);
    return rows_only_i64(&st->rows, id, err);
}

static void put_slice(struct many *row, const struct plan_slice *slice)
{
    many_i64(row, slice->plan_id);
    many_id(row, slice->parent_id);
    many_text(row, slice->source);
    many_i64(row, slice->number);
    many_code(row, &SLICE_DIMENSION_CODES, (int)slice->dimension);
    many_window(row, slice->window);
    many_text(row, slice->spec);
    many_text(row, slice->signature_hash);
    many_text(row, slice->expr_hash);
    many_text(row, slice->expr_snapshot);
    many_code(row, &SLICE_STATUS_CODES, (int)slice->status);
    many_i64(row, slice->created_us);
    many_i64(row, slice->created_us);
}

/* `count` is one, or ADD_ROWS. */
static bool add_slices(struct sqlite_store *sqlite, const struct plan_slice *slices, size_t count,
                       int64_t *ids, int64_t *added, struct error *err)
{
    struct statement *st = statement_of(sqlite, count == 1 ? ADD_ONE : ADD_MANY);
    struct many row = { .st = st };
    int64_t changes, last_id;

    for (size_t i = 0; i < count; i++)
        put_slice(&row, &slices[i]);
    if (!statement_run(st, err))
        return false;
    changes = statement_changes(st);
    last_id = statement_last_id(st);
    *added += changes;
    for (size_t i = 0; i < count; i++) {
        if (changes == (int64_t)count) /* then their ids follow one another */
            ids[i] = last_id - (int64_t)(count - 1 - i);
        else if (!find_slice(sqlite, &slices[i], &ids[i], err))
            return false;
    }
    return true;
}

bool sqlite_slice_add(struct store *store, const struct plan_slice *slices, size_t count,
                      int64_t *ids, int64_t *added, struct error *err)
{
    *added = 0;
    for (size_t i = 0, n; i < count; i += n) {
        n = count - i >= ADD_ROWS ? ADD_ROWS : 1;
        if (!add_slices(sqlite_store_of(store), &slices[i], n, &ids[i], added, err))
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

static const char GET[] = "SELECT " SLICE_COLUMNS " FROM ing_plan_slice WHERE id = :id";

bool sqlite_slice_get(struct store *store, struct arena *arena, int64_t id,
                      struct plan_slice *slice, bool *found, struct error *err)
{
    struct statement *st = statement_of(sqlite_store_of(store), GET);

    bind_i64(st, ":id", id);
    *found = rows_next(&st->rows);
    if (*found)
        read_slice(&st->rows, arena, slice);
    return rows_finish(&st->rows, err);
}

static const char LIST[] = "SELECT " SLICE_COLUMNS " FROM ing_plan_slice"
                           " WHERE plan_id = :plan AND slice_no > :after"
                           " ORDER BY slice_no LIMIT :limit";

bool sqlite_slice_list(struct store *store, struct arena *arena, int64_t plan_id,
                       int64_t after_number, int64_t limit, struct plan_slice_list *list,
                       struct error *err)
{
    struct statement *st = statement_of(sqlite_store_of(store), LIST);

    bind_i64(st, ":plan", plan_id);
    bind_i64(st, ":after", after_number);
    bind_i64(st, ":limit", limit);
    return read_slices(&st->rows, arena, list, err);
}
