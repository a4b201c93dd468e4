#include "adapter/postgres/slice_repo.h"

#include <inttypes.h>

#include "adapter/postgres/postgres.h"
#include "adapter/sql/read.h"

enum {
    ADD_PLAN = 1,
    ADD_PARENT, /* arrays from here on */
    ADD_SOURCE,
    ADD_NUMBER,
    ADD_DIMENSION,
    ADD_WINDOW_FROM,
    ADD_WINDOW_TO,
    ADD_SPEC,
    ADD_SIGNATURE,
    ADD_EXPR_HASH,
    ADD_EXPR_SNAPSHOT,
    ADD_STATUS,
    ADD_CREATED,
    ADD_END,
};
static const char ADD[] =
    "INSERT INTO ing_plan_slice (plan_id, parent_slice_id, provenance_code, slice_no,"
    " dimension_code, window_from, window_to, slice_spec, slice_signature_hash, expr_hash,"
    " expr_snapshot, status_code, created_at, updated_at)"
    " SELECT $1, r.*, r.created FROM unnest($2, $3, $4, $5, $6, $7, $8, $9, $10, $11, $12, $13)"
    "   AS r (parent, source, number, dimension, window_from, window_to, spec, signature,"
    "         expr_hash, expr_snapshot, status, created)"
    " ON CONFLICT (plan_id, slice_signature_hash) DO NOTHING RETURNING id, slice_no";

static void fill_arrays(struct array *arrays, const struct plan_slice *slice)
{
    const bool has_window = window_is_valid(slice->window);

    array_add_id(&arrays[ADD_PARENT], slice->parent_id);
    array_add_text(&arrays[ADD_SOURCE], slice->source);
    array_add_i64(&arrays[ADD_NUMBER], slice->number);
    array_add_code(&arrays[ADD_DIMENSION], &SLICE_DIMENSION_CODES, (int)slice->dimension);
    array_add_i64_opt(&arrays[ADD_WINDOW_FROM], has_window, slice->window.from_us);
    array_add_i64_opt(&arrays[ADD_WINDOW_TO], has_window, slice->window.to_us);
    array_add_text(&arrays[ADD_SPEC], slice->spec);
    array_add_text(&arrays[ADD_SIGNATURE], slice->signature_hash);
    array_add_text(&arrays[ADD_EXPR_HASH], slice->expr_hash);
    array_add_text(&arrays[ADD_EXPR_SNAPSHOT], slice->expr_snapshot);
    array_add_code(&arrays[ADD_STATUS], &SLICE_STATUS_CODES, (int)slice->status);
    array_add_i64(&arrays[ADD_CREATED], slice->created_us);
}

/* When none was there before, rows come back as they were given; *in_order says whether they did,
 * by their numbers, and that `ids` holds theirs. */
static bool insert_slices(struct postgres_store *postgres, const struct plan_slice *slices,
                          size_t count, int64_t *ids, int64_t *added, bool *in_order,
                          struct error *err)
{
    static const enum array_type TYPES[ADD_END] = {
        [ADD_PARENT] = ARRAY_I64,       [ADD_SOURCE] = ARRAY_TEXT,
        [ADD_NUMBER] = ARRAY_I64,       [ADD_DIMENSION] = ARRAY_TEXT,
        [ADD_WINDOW_FROM] = ARRAY_TIME, [ADD_WINDOW_TO] = ARRAY_TIME,
        [ADD_SPEC] = ARRAY_TEXT,        [ADD_SIGNATURE] = ARRAY_TEXT,
        [ADD_EXPR_HASH] = ARRAY_TEXT,   [ADD_EXPR_SNAPSHOT] = ARRAY_TEXT,
        [ADD_STATUS] = ARRAY_TEXT,      [ADD_CREATED] = ARRAY_TIME,
    };
    struct array arrays[ADD_END];
    struct query q;

    for (int i = ADD_PARENT; i < ADD_END; i++)
        array_init(&arrays[i], &postgres->scratch, TYPES[i]);
    for (size_t i = 0; i < count; i++)
        fill_arrays(arrays, &slices[i]);
    query_init(&q, postgres, ADD);
    set_i64(&q, ADD_PLAN, slices[0].plan_id);
    for (int i = ADD_PARENT; i < ADD_END; i++)
        set_array(&q, i, &arrays[i]);
    *in_order = true;
    for (size_t i = 0; rows_next(&q.rows); i++, ++*added) {
        const int64_t id = rows_i64(&q.rows);
        const int64_t number = rows_i64(&q.rows);

        *in_order = *in_order && i < count && slices[i].number == number;
        if (*in_order)
            ids[i] = id;
    }
    *in_order = *in_order && *added == (int64_t)count;
    return rows_finish(&q.rows, err);
}

enum { FIND_PLAN = 1, FIND_SIGNATURES };
static const char FIND[] =
    "SELECT r.place, s.id FROM unnest($2) WITH ORDINALITY AS r (signature, place)"
    "  JOIN ing_plan_slice s ON s.plan_id = $1 AND s.slice_signature_hash = r.signature";

static bool find_slices(struct postgres_store *postgres, const struct plan_slice *slices,
                        size_t count, int64_t *ids, struct error *err)
{
    struct array signatures;
    struct query q;

    array_init(&signatures, &postgres->scratch, ARRAY_TEXT);
    for (size_t i = 0; i < count; i++)
        array_add_text(&signatures, slices[i].signature_hash);
    query_init(&q, postgres, FIND);
    set_i64(&q, FIND_PLAN, slices[0].plan_id);
    set_array(&q, FIND_SIGNATURES, &signatures);
    while (rows_next(&q.rows)) {
        const int64_t place = rows_i64(&q.rows);

        ids[place - 1] = rows_i64(&q.rows);
    }
    return rows_finish(&q.rows, err);
}

bool postgres_slice_add(struct store *store, const struct plan_slice *slices, size_t count,
                        int64_t *ids, int64_t *added, struct error *err)
{
    struct postgres_store *postgres = postgres_store_of(store);
    bool in_order;

    *added = 0;
    if (count == 0)
        return true;
    return (insert_slices(postgres, slices, count, ids, added, &in_order, err) &&
            (in_order || find_slices(postgres, slices, count, ids, err))) ||
           error_wrap(err, "add slices of plan %" PRId64, slices[0].plan_id);
}

enum { MOVE_TO = 1, MOVE_NOW, MOVE_ID };
static const char MOVE[] =
    "UPDATE ing_plan_slice SET status_code = $1, updated_at = $2 WHERE id = $3";

bool postgres_slice_move(struct store *store, int64_t id, enum slice_status to, int64_t now_us,
                         struct error *err)
{
    struct query q;
    int64_t changes;

    query_init(&q, postgres_store_of(store), MOVE);
    set_code(&q, MOVE_TO, &SLICE_STATUS_CODES, (int)to);
    set_time(&q, MOVE_NOW, now_us);
    set_i64(&q, MOVE_ID, id);
    if (!query_run(&q, &changes, err))
        return error_wrap(err, "slice %" PRId64, id);
    return changes == 1 || error_set(err, ERROR_REQUEST, "store.value", "no slice %" PRId64, id);
}

enum { GET_ID = 1 };
static const char GET[] = "SELECT " SLICE_COLUMNS " FROM ing_plan_slice WHERE id = $1";

bool postgres_slice_get(struct store *store, struct arena *arena, int64_t id,
                        struct plan_slice *slice, bool *found, struct error *err)
{
    struct query q;

    query_init(&q, postgres_store_of(store), GET);
    set_i64(&q, GET_ID, id);
    *found = rows_next(&q.rows);
    if (*found)
        read_slice(&q.rows, arena, slice);
    return rows_finish(&q.rows, err);
}

enum { LIST_PLAN = 1, LIST_AFTER, LIST_LIMIT };
static const char LIST[] = "SELECT " SLICE_COLUMNS " FROM ing_plan_slice"
                           " WHERE plan_id = $1 AND slice_no > $2 ORDER BY slice_no LIMIT $3";

bool postgres_slice_list(struct store *store, struct arena *arena, int64_t plan_id,
                         int64_t after_number, int64_t limit, struct plan_slice_list *list,
                         struct error *err)
{
    struct query q;

    query_init(&q, postgres_store_of(store), LIST);
    set_i64(&q, LIST_PLAN, plan_id);
    set_i64(&q, LIST_AFTER, after_number);
    set_i64(&q, LIST_LIMIT, limit);
    return read_slices(&q.rows, arena, list, err);
}
