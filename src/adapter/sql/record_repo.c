/* Records: what is known of them, and which are due for a look. */
#include "adapter/sql/payload.h"
#include "adapter/sql/record_names.h"
#include "adapter/sql/record_rows.h"
#include "adapter/sql/session.h"
#include "port/store_record.h"

#define RECORD_COLUMNS                                                                        \
    "id, provenance_code, endpoint_name, provider_id, updated_at, provider_version, version," \
    " deleted, content_hash, expr_hash, observed_at, checked_at, created_at,"                 \
    " schedule_instance_id, plan_id, slice_id, task_id, run_id, batch_id, " PAYLOAD_COLUMNS

/* The expression is NULL where it is `same`. */
static void read_record_state(struct rows *rows, struct arena *arena, struct str same,
                              struct record_state *state)
{
    state->id = rows_i64(rows);
    state->version = rows_i64(rows);
    state->has_updated = !rows_is_null(rows);
    state->updated_us = rows_i64(rows);
    state->provider_version = rows_text(rows, arena);
    state->is_deleted = rows_bool(rows);
    state->content_hash = rows_hash(rows, arena);
    state->expr_hash = rows_is_null(rows) ? (rows_skip(rows, 1), same) : rows_text(rows, arena);
    state->observed_us = rows_i64(rows);
    state->checked_us = rows_i64(rows);
}

static void read_record(struct statement *st, struct arena *arena, struct stored_record *record)
{
    struct rows *rows = &st->rows;

    record->id = rows_i64(rows);
    record->source = rows_text(rows, arena);
    record->endpoint = rows_text(rows, arena);
    record->provider_id = rows_text(rows, arena);
    record->has_updated = !rows_is_null(rows);
    record->updated_us = rows_i64(rows);
    record->provider_version = rows_text(rows, arena);
    record->version = rows_i64(rows);
    record->is_deleted = rows_bool(rows);
    record->content_hash = rows_text(rows, arena);
    record->expr_hash = rows_text(rows, arena);
    record->observed_us = rows_i64(rows);
    record->checked_us = rows_i64(rows);
    record->created_us = rows_i64(rows);
    record->lineage = rows_lineage(rows);
    record->payload = payload_text(st, arena, record->provider_id);
}

static bool read_candidates(struct rows *rows, struct arena *arena, struct candidate_list *list,
                            struct error *err)
{
    struct candidate *candidate;

    *list = (struct candidate_list){ 0 };
    while ((candidate = ROWS_NEXT(rows, arena, list)) != NULL) {
        candidate->id = rows_i64(rows);
        candidate->provider_id = rows_text(rows, arena);
        candidate->checked_us = rows_i64(rows);
        candidate->expr_hash = rows_text(rows, arena);
    }
    return rows_finish(rows, err);
}

/* Nearly always the expression is that of the context, and need not be read. */
static const char CHECK[] =
    "SELECT @place, id, version, updated_at, provider_version, deleted, content_hash,"
    " CASE WHEN expr_id <> :expr THEN " EXPR_HASH(
        "t.expr_id") " END, observed_at, checked_at"
                     " FROM {find ing_record_state: provider_id = @wanted AND endpoint_id = "
                     ":endpoint}";

static bool read_states(struct statement *st, struct arena *arena, struct str same,
                        struct record_state *states, struct error *err)
{
    while (rows_next(&st->rows))
        read_record_state(&st->rows, arena, same, &states[rows_i64(&st->rows) - 1]);
    return rows_finish(&st->rows, err);
}

static bool check_all(struct store *store, struct arena *arena,
                      const struct record_context *context, struct record_ids ids,
                      struct record_state *states, struct error *err)
{
    struct record_names names;
    struct statement *st;

    for (size_t i = 0; i < ids.count; i++)
        states[i] = (struct record_state){ 0 };
    if (!record_names_find(store, context, &names, err))
        return false;
    if (names.endpoint == 0)
        return true;
    st = statement_of(store, CHECK);
    bind_i64(st, ":expr", names.expr);
    bind_i64(st, ":endpoint", names.endpoint);
    for (size_t i = 0; i < ids.count; i++)
        cell_text(st, "@wanted", ids.items[i]);
    return read_states(st, arena, context->expr_hash, states, err);
}

static bool record_check(struct store *store, struct arena *arena,
                         const struct record_context *context, struct record_ids ids,
                         struct record_state *states, struct error *err)
{
    const bool begins =
        store->state == STORE_IDLE && !statement_is_single(statement_of(store, CHECK));
    bool ok;

    if (begins && !store_begin_read(store, err))
        return false;
    ok = check_all(store, arena, context, ids, states, err);
    if (begins)
        store_rollback(store); /* it has only read */
    return ok || error_wrap(err, "check %zu records", ids.count);
}

/* ---- reading ---- */

static const char GET[] =
    "SELECT " RECORD_COLUMNS " FROM ing_record JOIN ing_record_content ON record_id = id"
    " WHERE provenance_code = :source AND endpoint_name = :endpoint AND provider_id = :provider_id";

static bool record_get(struct store *store, struct arena *arena, const struct record_key *key,
                       struct stored_record *record, bool *found, struct error *err)
{
    struct statement *st = statement_of(store, GET);

    bind_text(st, ":source", key->source);
    bind_text(st, ":endpoint", key->endpoint);
    bind_text(st, ":provider_id", key->provider_id);
    *found = rows_next(&st->rows);
    if (*found)
        read_record(st, arena, record);
    return rows_finish(&st->rows, err);
}

static const char STALE[] =
    "SELECT id, provider_id, checked_at, '' FROM ing_record_state"
    " WHERE endpoint_id = " ENDPOINT_ID(
        ":source", ":endpoint") " AND checked_week <= :before_week AND checked_at < :before"
                                " AND (checked_week, id) > (:after_week, :after_id) AND NOT deleted"
                                " ORDER BY checked_week, id LIMIT :limit";

static const char OLD_EXPR[] = "SELECT id, provider_id, 0, " EXPR_HASH(
    "expr_id") " FROM ing_record_state"
               " WHERE endpoint_id = " ENDPOINT_ID(
                   ":source",
                   ":endpoint") " AND expr_id <> coalesce(" EXPR_ID(":expr_hash") ", 0)"
                                                                                  " AND "
                                                                                  "(expr_id, "
                                                                                  "id) > "
                                                                                  "(coalesce"
                                                                                  "(" EXPR_ID(
                                                                                      ":after_"
                                                                                      "hash") ", "
                                                                                              "0), "
                                                                                              ":aft"
                                                                                              "er_"
                                                                                              "id)"
                                                                                              " AND"
                                                                                              " NOT"
                                                                                              " del"
                                                                                              "eted"
                                                                                              " ORD"
                                                                                              "ER "
                                                                                              "BY "
                                                                                              "expr"
                                                                                              "_id,"
                                                                                              " id "
                                                                                              "LIMI"
                                                                                              "T "
                                                                                              ":lim"
                                                                                              "it";

static const char SIGNALLED[] =
    "SELECT id, provider_id, 0, '' FROM ing_signal"
    " WHERE provenance_code = :source AND endpoint_name = :endpoint"
    "   AND consumed_at IS NULL AND id > :after_id ORDER BY id LIMIT :limit";

static struct statement *candidate_statement(struct store *store,
                                             const struct candidate_query *query)
{
    static const struct candidate BEFORE_ALL = { .checked_us = INT64_MIN };
    const struct candidate *after = query->after != NULL ? query->after : &BEFORE_ALL;
    struct statement *st = NULL;

    switch (query->reason) {
    case CANDIDATE_STALENESS:
        st = statement_of(store, STALE);
        bind_i64(st, ":before_week", record_rows_week(query->checked_before_us));
        bind_instant(st, ":before", query->checked_before_us);
        bind_i64(st, ":after_week", record_rows_week(after->checked_us));
        break;
    case CANDIDATE_EXPR_CHANGE:
        st = statement_of(store, OLD_EXPR);
        bind_text(st, ":expr_hash", query->expr_hash);
        bind_text(st, ":after_hash", after->expr_hash);
        break;
    case CANDIDATE_SIGNAL:
        st = statement_of(store, SIGNALLED);
        break;
    }
    bind_text(st, ":source", query->source);
    bind_text(st, ":endpoint", query->endpoint);
    bind_i64(st, ":after_id", after->id);
    bind_i64(st, ":limit", query->limit);
    return st;
}

static bool record_candidates(struct store *store, struct arena *arena,
                              const struct candidate_query *query, struct candidate_list *list,
                              struct error *err)
{
    struct statement *st = candidate_statement(store, query);

    return read_candidates(&st->rows, arena, list, err) || error_wrap(err, "list candidates");
}

const struct store_record_ops SQL_RECORD = {
    .check = record_check,
    .write = record_rows_write,
    .lock = record_rows_lock,
    .confirm = record_rows_confirm,
    .touch = record_rows_touch,
    .get = record_get,
    .candidates = record_candidates,
};
