/* Expressions, and records that are read again by another mapping. */
#include "adapter/sql/payload.h"
#include "adapter/sql/record_event_cells.h"
#include "adapter/sql/record_names.h"
#include "adapter/sql/record_tally.h"
#include "adapter/sql/session.h"
#include "port/store_expr.h"

static const char ADD[] =
    "INSERT INTO ing_expr (expr_hash, provenance_code, endpoint_name, query_hash, mapping_hash,"
    " snapshot, created_at) VALUES (:expr_hash, :source, :endpoint, :query, :mapping, :snapshot,"
    " :created) ON CONFLICT DO NOTHING";

/* With a number, so that records can move to it. */
static bool expr_add(struct store *store, const struct expr *expr, struct error *err)
{
    struct statement *st = statement_of(store, ADD);
    int64_t added, id;

    bind_text(st, ":expr_hash", expr->expr_hash);
    bind_text(st, ":source", expr->source);
    bind_text(st, ":endpoint", expr->endpoint);
    bind_text(st, ":query", expr->query_hash);
    bind_text(st, ":mapping", expr->mapping_hash);
    bind_text(st, ":snapshot", expr->snapshot);
    bind_instant(st, ":created", expr->created_us);
    return (statement_run(st, &added, err) && record_expr_make(store, expr->expr_hash, &id, err)) ||
           error_wrap(err, "add expression %.*s", STR_ARG(expr->expr_hash));
}

static const char GET[] =
    "SELECT expr_hash, provenance_code, endpoint_name, query_hash, mapping_hash, snapshot,"
    " created_at FROM ing_expr WHERE expr_hash = :expr_hash";

static bool expr_get(struct store *store, struct arena *arena, struct str expr_hash,
                     struct expr *expr, bool *found, struct error *err)
{
    struct statement *st = statement_of(store, GET);

    bind_text(st, ":expr_hash", expr_hash);
    *found = rows_next(&st->rows);
    if (*found) {
        expr->expr_hash = rows_text(&st->rows, arena);
        expr->source = rows_text(&st->rows, arena);
        expr->endpoint = rows_text(&st->rows, arena);
        expr->query_hash = rows_text(&st->rows, arena);
        expr->mapping_hash = rows_text(&st->rows, arena);
        expr->snapshot = rows_text(&st->rows, arena);
        expr->created_us = rows_i64(&st->rows);
    }
    return rows_finish(&st->rows, err);
}

/* ---- records ---- */

static const char RECORDS[] =
    "SELECT r.id, r.provider_id, r.updated_at, r.provider_version, r.version, r.content_hash,"
    " r.observed_at, p.schedule_instance_id, b.plan_id, b.slice_id, b.task_id, b.run_id,"
    " r.batch_id, " PAYLOAD_COLUMNS
    " FROM ing_record_state AS r JOIN ing_record_content AS c ON c.record_id = r.id"
    " LEFT JOIN ing_task_run_batch AS b ON b.id = r.batch_id"
    " LEFT JOIN ing_plan AS p ON p.id = b.plan_id"
    " WHERE r.endpoint_id = " ENDPOINT_ID(":source", ":endpoint") " AND r.expr_id = " EXPR_ID(
        ":expr_hash") " AND r.id > :after AND NOT r.deleted ORDER BY r.id LIMIT :limit";

static bool expr_records(struct store *store, struct arena *arena, const struct expr_page *page,
                         struct stored_record_list *list, struct error *err)
{
    struct statement *st = statement_of(store, RECORDS);
    struct stored_record *record;

    *list = (struct stored_record_list){ 0 };
    bind_text(st, ":source", page->source);
    bind_text(st, ":endpoint", page->endpoint);
    bind_text(st, ":expr_hash", page->expr_hash);
    bind_i64(st, ":after", page->after_id);
    bind_i64(st, ":limit", page->limit);
    while ((record = ROWS_NEXT(&st->rows, arena, list)) != NULL) {
        record->id = rows_i64(&st->rows);
        record->provider_id = rows_text(&st->rows, arena);
        record->has_updated = !rows_is_null(&st->rows);
        record->updated_us = rows_i64(&st->rows);
        record->provider_version = rows_text(&st->rows, arena);
        record->version = rows_i64(&st->rows);
        record->content_hash = rows_hash(&st->rows, arena);
        record->observed_us = rows_i64(&st->rows);
        record->lineage = rows_lineage(&st->rows);
        record->payload = payload_text(st, arena, record->provider_id);
        record->source = page->source;
        record->endpoint = page->endpoint;
        record->expr_hash = page->expr_hash;
    }
    return rows_finish(&st->rows, err) || error_wrap(err, "records of an expression");
}

/* One statement for all, in the order of ids, as every writer of records: two never wait for each
 * other in a circle. */
static const char REREAD[] =
    "UPDATE ing_record_state AS t SET updated_at = @updated, provider_version = @provider_version,"
    " version = @version, deleted = @deleted, content_hash = @content_hash,"
    " expr_id = :new"
    " {each ing_record_state} AND t.version = @was AND t.expr_id = " EXPR_ID(":old_hash");

static bool send_records(struct store *store, const struct expr_write *write, int64_t new_id,
                         size_t from, size_t count, struct error *err)
{
    const struct statement_send send = { .expected = (int64_t)count };
    struct statement *st = statement_of(store, REREAD);

    bind_i64(st, ":new", new_id);
    bind_text(st, ":old_hash", write->old_hash);
    for (size_t i = from; i < from + count; i++) {
        const struct record_write *record = &write->readings[i].change.record;

        cell_instant_opt(st, "@updated", record->has_updated, record->updated_us);
        cell_text(st, "@provider_version", record->provider_version);
        cell_i64(st, "@version", record->version);
        cell_bool(st, "@deleted", record->is_deleted);
        cell_hash(st, "@content_hash", record->content_hash);
        cell_i64(st, "@id", record->id);
        cell_i64(st, "@was", write->readings[i].was);
    }
    return statement_send(st, &send, err);
}

static bool send_events(struct store *store, const struct expr_write *write, size_t from,
                        size_t count, struct error *err)
{
    struct statement *st = statement_of(store, RECORD_EVENT_ADD);
    struct statement_send send = { 0 };

    for (size_t i = from; i < from + count; i++) {
        const struct record_reading *reading = &write->readings[i];

        if (reading->change.record.version == reading->was)
            continue;
        record_event_cells(st, reading->change.record.id, &reading->change.event);
        send.expected++;
    }
    return statement_send(st, &send, err);
}

static bool send_fields(struct store *store, const struct expr_write *write, size_t from,
                        size_t count, struct error *err)
{
    struct statement *st = statement_of(store, RECORD_FIELDS_SET);
    struct statement_send send = { 0 };

    for (size_t i = from; i < from + count; i++) {
        const struct record_write *record = &write->readings[i].change.record;

        record_fields_cells(st, record->id, record, &send);
    }
    return statement_send(st, &send, err);
}

static bool send_tally(struct store *store, const struct expr_write *write, struct error *err)
{
    struct record_tally tally = { 0 };

    for (size_t i = 0; i < write->count; i++)
        record_tally_add(&tally, &write->readings[i].change.record);
    return write->count == 0 ||
           record_tally_send(store, &tally, write->readings[0].change.record.id, err);
}

static bool send_all(struct store *store, const struct expr_write *write, int64_t new_id,
                     struct error *err)
{
    for (size_t i = 0, n; i < write->count; i += n) {
        n = write->count - i < RECORD_CHUNK_MAX ? write->count - i : RECORD_CHUNK_MAX;
        if (!send_records(store, write, new_id, i, n, err) ||
            !send_fields(store, write, i, n, err) || !send_events(store, write, i, n, err))
            return false;
    }
    return send_tally(store, write, err);
}

static bool expr_write(struct store *store, const struct expr_write *write, bool *written,
                       struct error *err)
{
    struct error ignored;
    int64_t new_id;
    bool sent, settled;

    if (!record_expr_make(store, write->new_hash, &new_id, err))
        return false;
    sent = send_all(store, write, new_id, err);
    settled = statements_settle(store, written, sent ? err : &ignored);
    return (sent && settled) || error_wrap(err, "write %zu records", write->count);
}

const struct store_expr_ops SQL_EXPR = {
    .add = expr_add,
    .get = expr_get,
    .records = expr_records,
    .write = expr_write,
};
