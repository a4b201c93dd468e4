/* Rows that say how many records an endpoint has more or fewer. */
#include "adapter/sql/record_tally.h"

#include "base/list.h"

/* What a sum reads in a millisecond. */
enum { TALLY_ROWS_MAX = 2000 };

enum { FOLD_BYTES_MAX = 1 << 20 };

void record_tally_add(struct record_tally *tally, const struct record_write *record)
{
    if (record->id != 0) {
        tally->live -= !record->was_deleted;
        tally->deleted -= record->was_deleted;
    }
    tally->live += !record->is_deleted;
    tally->deleted += record->is_deleted;
}

static const char ADD[] = "INSERT INTO ing_record_tally (endpoint_id, live, deleted) VALUES"
                          " ((SELECT endpoint_id FROM ing_record_state WHERE id = :record), :live,"
                          " :deleted)";

bool record_tally_send(struct store *store, const struct record_tally *tally, int64_t record_id,
                       struct error *err)
{
    const struct statement_send send = { .expected = 1 };
    struct statement *st;

    if (tally->live == 0 && tally->deleted == 0)
        return true;
    st = statement_of(store, ADD);
    bind_i64(st, ":record", record_id);
    bind_i64(st, ":live", tally->live);
    bind_i64(st, ":deleted", tally->deleted);
    return statement_send(st, &send, err);
}

/* ---- folding ---- */

struct tally_row {
    int64_t id;
    struct record_tally tally;
};

struct tally_row_list {
    struct tally_row *items;
    size_t count;
};

static const char LONGEST[] =
    "SELECT coalesce(max(endpoint_id), 0) FROM (SELECT endpoint_id FROM ing_record_tally"
    " GROUP BY endpoint_id HAVING count(*) >= :many ORDER BY count(*) DESC LIMIT 1) AS longest";
static const char ROWS[] = "SELECT id, live, deleted FROM ing_record_tally"
                           " WHERE endpoint_id = :endpoint ORDER BY id LIMIT :limit";
static const char DROP[] = "DELETE FROM ing_record_tally AS t {using-rows} WHERE t.id = @id";
static const char PUT[] = "INSERT INTO ing_record_tally (endpoint_id, live, deleted)"
                          " VALUES (:endpoint, :live, :deleted)";

static bool find_longest(struct store *store, int64_t *endpoint, struct error *err)
{
    struct statement *st = statement_of(store, LONGEST);

    bind_i64(st, ":many", TALLY_ROWS_MAX);
    return rows_only_i64(&st->rows, endpoint, err);
}

static bool read_rows(struct store *store, struct arena *arena, int64_t endpoint, int64_t limit,
                      struct tally_row_list *list, struct error *err)
{
    struct statement *st = statement_of(store, ROWS);
    struct tally_row *row;

    *list = (struct tally_row_list){ 0 };
    bind_i64(st, ":endpoint", endpoint);
    bind_i64(st, ":limit", limit);
    while ((row = ROWS_NEXT(&st->rows, arena, list)) != NULL) {
        row->id = rows_i64(&st->rows);
        row->tally.live = rows_i64(&st->rows);
        row->tally.deleted = rows_i64(&st->rows);
    }
    return rows_finish(&st->rows, err);
}

/* *dropped is less than all when another process folds them, too. */
static bool drop_rows(struct store *store, const struct tally_row_list *list, int64_t *dropped,
                      struct error *err)
{
    struct statement *st = statement_of(store, DROP);

    for (size_t i = 0; i < list->count; i++)
        cell_i64(st, "@id", list->items[i].id);
    return statement_run(st, dropped, err);
}

static bool put_sum(struct store *store, int64_t endpoint, const struct tally_row_list *list,
                    struct error *err)
{
    struct statement *st = statement_of(store, PUT);
    struct record_tally sum = { 0 };

    for (size_t i = 0; i < list->count; i++) {
        sum.live += list->items[i].tally.live;
        sum.deleted += list->items[i].tally.deleted;
    }
    bind_i64(st, ":endpoint", endpoint);
    bind_i64(st, ":live", sum.live);
    bind_i64(st, ":deleted", sum.deleted);
    return statement_run(st, NULL, err);
}

/* Only rows that were read are dropped: what others add meanwhile stays. */
static bool fold(struct store *store, int64_t endpoint, const struct tally_row_list *list,
                 int64_t *removed, struct error *err)
{
    int64_t dropped = 0;
    bool ok;

    if (!store_begin(store, err))
        return false;
    ok = drop_rows(store, list, &dropped, err);
    if (ok && dropped == (int64_t)list->count && put_sum(store, endpoint, list, err)) {
        *removed = dropped - 1;
        return store_commit(store, err);
    }
    store_rollback(store);
    return ok && dropped < (int64_t)list->count;
}

bool record_tally_fold(struct store *store, int64_t limit, int64_t *removed, struct error *err)
{
    struct tally_row_list list;
    struct arena arena;
    int64_t endpoint;
    bool ok;

    *removed = 0;
    if (!find_longest(store, &endpoint, err))
        return false;
    if (endpoint == 0)
        return true;
    arena_init(&arena, FOLD_BYTES_MAX);
    ok = read_rows(store, &arena, endpoint, limit, &list, err) &&
         (list.count < 2 || fold(store, endpoint, &list, removed, err));
    arena_release(&arena);
    return ok;
}
