/* Records, and the events that their changes become. */
#include <assert.h>
#include <inttypes.h>

#include "adapter/sql/record_event_cells.h"
#include "adapter/sql/session.h"
#include "port/store_record.h"

enum { WRITE_BYTES_MAX = 1 << 24 }; /* the ids of one call */

#define RECORD_STATE_COLUMNS                                                                    \
    "id, version, updated_at, provider_version, deleted, content_hash, expr_hash, observed_at," \
    " checked_at"

#define RECORD_COLUMNS                                                                        \
    "id, provenance_code, endpoint_name, provider_id, updated_at, provider_version, version," \
    " deleted, content_hash, expr_hash, observed_at, checked_at, created_at,"                 \
    " schedule_instance_id, plan_id, slice_id, task_id, run_id, batch_id, payload"

static void read_record_state(struct rows *rows, struct arena *arena, struct record_state *state)
{
    state->id = rows_i64(rows);
    state->version = rows_i64(rows);
    state->has_updated = !rows_is_null(rows);
    state->updated_us = rows_i64(rows);
    state->provider_version = rows_text(rows, arena);
    state->is_deleted = rows_bool(rows);
    state->content_hash = rows_text(rows, arena);
    state->expr_hash = rows_text(rows, arena);
    state->observed_us = rows_i64(rows);
    state->checked_us = rows_i64(rows);
}

static void read_record(struct rows *rows, struct arena *arena, struct stored_record *record)
{
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
    record->payload = rows_text(rows, arena);
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

static const char CHECK[] =
    "SELECT @place, " RECORD_STATE_COLUMNS " FROM {find ing_record: provenance_code = :source"
    " AND endpoint_name = :endpoint AND provider_id = @wanted}";

static bool read_states(struct statement *st, struct arena *arena, struct record_state *states,
                        struct error *err)
{
    while (rows_next(&st->rows))
        read_record_state(&st->rows, arena, &states[rows_i64(&st->rows) - 1]);
    return rows_finish(&st->rows, err);
}

static bool record_check(struct store *store, struct arena *arena,
                         const struct record_context *context, struct record_ids ids,
                         struct record_state *states, struct error *err)
{
    struct statement *st = statement_of(store, CHECK);
    const bool begins = store->state == STORE_IDLE && !statement_is_single(st);
    bool ok;

    if (begins && !store_begin_read(store, err))
        return false;
    bind_text(st, ":source", context->source);
    bind_text(st, ":endpoint", context->endpoint);
    for (size_t i = 0; i < ids.count; i++) {
        cell_text(st, "@wanted", ids.items[i]);
        states[i] = (struct record_state){ 0 };
    }
    ok = read_states(st, arena, states, err);
    if (begins)
        store_rollback(store); /* it has only read */
    return ok || error_wrap(err, "check %zu records", ids.count);
}

/* ---- writing ---- */

/* Refused when one of them exists already, which ends the batch: ON CONFLICT would look for each of
 * them first. */
static const char ADD[] =
    "INSERT INTO ing_record (id, provenance_code, endpoint_name, provider_id, updated_at,"
    " provider_version, version, deleted, content_hash, expr_hash, observed_at,"
    " checked_at, created_at, schedule_instance_id, plan_id, slice_id, task_id, run_id, batch_id)"
    " {insert @id, :source, :endpoint, @provider_id, @updated, @provider_version, @version,"
    "         @deleted, @content_hash, :expr_hash, @observed, :now, :now, :schedule_instance,"
    "         :plan, :slice, :task, :run, :batch}";

static const char CHANGE[] =
    "UPDATE ing_record AS t SET updated_at = @updated, provider_version = @provider_version,"
    " version = @version, deleted = @deleted, content_hash = @content_hash,"
    " expr_hash = :expr_hash, observed_at = @observed, checked_at = {greatest}(t.checked_at, :now),"
    " schedule_instance_id = :schedule_instance, plan_id = :plan, slice_id = :slice,"
    " task_id = :task, run_id = :run, batch_id = :batch"
    " {each ing_record} AND t.version = @version - 1";

/* Of new records and of changed ones. */
static const char PUT_CONTENT[] =
    "INSERT INTO ing_record_content (record_id, payload) {insert @id, @payload}"
    " ON CONFLICT (record_id) DO UPDATE SET payload = excluded.payload";

const char RECORD_EVENT_ADD[] =
    "INSERT INTO ing_outbox (record_id, version, batch_id, occurred_at, event_id, lane,"
    " schema_version, event_type, body)"
    " {insert @record, @version, @batch, @occurred, @event_id, @lane, @schema_version,"
    "         @event_type, @body}";

/* The ids of new records, before they are written. */
static const char NEW_IDS[] =
    "WITH RECURSIVE n (i) AS (VALUES (1) UNION ALL SELECT i + 1 FROM n WHERE i < :count)"
    " SELECT {new-record-id} FROM n";

const char RECORD_FIELDS_SET[] =
    "INSERT INTO ing_record_fields (record_id, fields) {insert @id, @fields}"
    " ON CONFLICT (record_id) DO UPDATE SET fields = excluded.fields";

static void bind_context(struct statement *st, const struct record_context *context)
{
    bind_text(st, ":expr_hash", context->expr_hash);
    bind_instant(st, ":now", context->now_us);
    bind_lineage(st, &context->lineage);
}

static void add_cells(struct statement *st, const struct record_write *record)
{
    cell_instant_opt(st, "@updated", record->has_updated, record->updated_us);
    cell_text(st, "@provider_version", record->provider_version);
    cell_i64(st, "@version", record->version);
    cell_bool(st, "@deleted", record->is_deleted);
    cell_text(st, "@content_hash", record->content_hash);
    cell_instant(st, "@observed", record->observed_us);
}

/* Some changes of one call; ids[i] is that of changes[i], also of a new record. */
struct chunk {
    const struct record_context *context;
    const struct record_change *changes;
    const int64_t *ids;
    size_t count;
};

static bool send_new(struct store *store, const struct chunk *chunk, size_t count,
                     struct error *err)
{
    const struct statement_send send = { .expected = (int64_t)count,
                                         .unique_key = "uk_record_provider" };
    const struct record_context *context = chunk->context;
    struct statement *st = statement_of(store, ADD);

    bind_context(st, context);
    bind_text(st, ":source", context->source);
    bind_text(st, ":endpoint", context->endpoint);
    for (size_t i = 0; i < count; i++) {
        cell_i64(st, "@id", chunk->ids[i]);
        cell_text(st, "@provider_id", chunk->changes[i].record.provider_id);
        add_cells(st, &chunk->changes[i].record);
    }
    return statement_send(st, &send, err);
}

static bool send_changed(struct store *store, const struct chunk *chunk, size_t from,
                         struct error *err)
{
    const struct statement_send send = { .expected = (int64_t)(chunk->count - from) };
    struct statement *st = statement_of(store, CHANGE);

    bind_context(st, chunk->context);
    for (size_t i = from; i < chunk->count; i++) {
        add_cells(st, &chunk->changes[i].record);
        cell_i64(st, "@id", chunk->ids[i]);
    }
    return statement_send(st, &send, err);
}

void record_fields_cells(struct statement *st, int64_t record_id, const struct record_write *record,
                         struct statement_send *send)
{
    if (record->fields.len == 0)
        return;
    cell_i64(st, "@id", record_id);
    cell_json(st, "@fields", record->fields);
    send->expected++;
}

static bool send_fields(struct store *store, const struct chunk *chunk, struct error *err)
{
    struct statement *st = statement_of(store, RECORD_FIELDS_SET);
    struct statement_send send = { 0 };

    for (size_t i = 0; i < chunk->count; i++)
        record_fields_cells(st, chunk->ids[i], &chunk->changes[i].record, &send);
    return statement_send(st, &send, err);
}

static bool send_contents(struct store *store, const struct chunk *chunk, struct error *err)
{
    const struct statement_send send = { .expected = (int64_t)chunk->count };
    struct statement *st = statement_of(store, PUT_CONTENT);

    for (size_t i = 0; i < chunk->count; i++) {
        cell_i64(st, "@id", chunk->ids[i]);
        cell_bytes(st, "@payload", chunk->changes[i].record.payload);
    }
    return statement_send(st, &send, err);
}

void record_event_cells(struct statement *st, int64_t record_id, const struct outbox_event *event)
{
    cell_i64(st, "@record", record_id);
    cell_i64(st, "@version", event->version);
    cell_id(st, "@batch", event->batch_id);
    cell_instant(st, "@occurred", event->occurred_us);
    cell_uuid(st, "@event_id", event->event_id);
    cell_i64(st, "@lane", event->lane);
    cell_i64(st, "@schema_version", event->schema_version);
    cell_text(st, "@event_type", event->event_type);
    cell_bytes(st, "@body", event->body);
}

static bool send_events(struct store *store, const struct chunk *chunk, struct error *err)
{
    const struct statement_send send = { .expected = (int64_t)chunk->count };
    struct statement *st = statement_of(store, RECORD_EVENT_ADD);

    for (size_t i = 0; i < chunk->count; i++)
        record_event_cells(st, chunk->ids[i], &chunk->changes[i].event);
    return statement_send(st, &send, err);
}

static size_t count_new(const struct record_change *changes, size_t count)
{
    size_t added = 0;

    while (added < count && changes[added].record.id == 0)
        added++;
    return added;
}

/* The new ones come first. The rows of all records are locked before an event's id is drawn: the
 * order of ids is then that of versions. */
static bool send_chunk(struct store *store, const struct chunk *chunk, struct error *err)
{
    const size_t added = count_new(chunk->changes, chunk->count);

    return send_new(store, chunk, added, err) && send_changed(store, chunk, added, err) &&
           send_contents(store, chunk, err) && send_fields(store, chunk, err) &&
           send_events(store, chunk, err);
}

static bool send_all(struct store *store, const struct chunk *all, struct error *err)
{
    for (size_t i = 0, n; i < all->count; i += n) {
        n = all->count - i < RECORD_CHUNK_MAX ? all->count - i : RECORD_CHUNK_MAX;
        if (!send_chunk(store, &(struct chunk){ all->context, &all->changes[i], &all->ids[i], n },
                        err))
            return false;
    }
    return true;
}

static bool read_new_ids(struct store *store, int64_t *ids, size_t count, struct error *err)
{
    struct statement *st = statement_of(store, NEW_IDS);
    size_t read = 0;

    bind_i64(st, ":count", (int64_t)count);
    while (rows_next(&st->rows)) {
        assert(read < count);
        ids[read++] = rows_i64(&st->rows);
    }
    return rows_finish(&st->rows, err);
}

static bool find_ids(struct store *store, struct arena *arena, struct chunk *all, struct error *err)
{
    const size_t added = count_new(all->changes, all->count);
    int64_t *ids = ARENA_ARRAY(arena, int64_t, all->count);

    if (ids == NULL)
        return arena_error(arena, err);
    for (size_t i = added; i < all->count; i++)
        ids[i] = all->changes[i].record.id;
    all->ids = ids;
    return added == 0 || read_new_ids(store, ids, added, err);
}

/* While the database works on some changes, the next are put together. */
static bool send_and_settle(struct store *store, const struct chunk *all, bool *written,
                            struct error *err)
{
    struct error ignored;
    const bool sent = send_all(store, all, err);
    const bool settled = statements_settle(store, written, sent ? err : &ignored);

    return sent && settled;
}

static bool record_write(struct store *store, const struct record_context *context,
                         const struct record_change *changes, size_t count, bool *written,
                         struct error *err)
{
    struct chunk all = { .context = context, .changes = changes, .count = count };
    struct arena arena;
    bool ok;

    arena_init(&arena, WRITE_BYTES_MAX);
    ok = find_ids(store, &arena, &all, err) && send_and_settle(store, &all, written, err);
    arena_release(&arena);
    return ok || error_wrap(err, "write %zu records", count);
}

/* ---- locking ---- */

/* A row is locked by any update. */
static const char LOCK[] = "UPDATE ing_record AS t SET checked_at = t.checked_at {each ing_record}";

static bool record_lock(struct store *store, const struct record_version *records, size_t count,
                        struct error *err)
{
    struct statement *st = statement_of(store, LOCK);
    int64_t changes;

    for (size_t i = 0; i < count; i++)
        cell_i64(st, "@id", records[i].id);
    return statement_run(st, &changes, err) || error_wrap(err, "lock %zu records", count);
}

/* ---- confirming ---- */

/* A record that is seen again unchanged was fetched by this query, but its fields, as they were
 * published, were read by the mapping it had: then it keeps its expression, and is read again later
 * (port/store_expr.h). */
#define MOVED_EXPR                                                   \
    "CASE WHEN EXISTS (SELECT 1 FROM ing_expr AS o, ing_expr AS n"   \
    "  WHERE o.expr_hash = t.expr_hash AND n.expr_hash = :expr_hash" \
    "    AND o.mapping_hash <> n.mapping_hash) THEN t.expr_hash ELSE :expr_hash END"

/* Nearly always the expression is the same, and its index need not be written. What another worker
 * holds is being written or confirmed there: waiting for it could be mutual. */
static const char CONFIRM[] =
    "UPDATE ing_record AS t SET observed_at = {greatest}(t.observed_at, :observed),"
    " checked_at = {greatest}(t.checked_at, :now)"
    " {each-free ing_record} AND t.version = @version AND t.expr_hash = :expr_hash";
static const char CONFIRM_OLD[] =
    "UPDATE ing_record AS t SET observed_at = {greatest}(t.observed_at, :observed),"
    " checked_at = {greatest}(t.checked_at, :now), expr_hash = " MOVED_EXPR
    " {each-free ing_record} AND t.version = @version AND t.expr_hash <> :expr_hash";

struct confirmation {
    const struct record_context *context;
    const struct record_version *records;
    size_t count;
};

static bool run_confirm(struct store *store, const char *sql, const struct confirmation *of,
                        int64_t *changes, struct error *err)
{
    struct statement *st = statement_of(store, sql);

    bind_instant(st, ":observed", of->context->observed_us);
    bind_instant(st, ":now", of->context->now_us);
    bind_text(st, ":expr_hash", of->context->expr_hash);
    for (size_t i = 0; i < of->count; i++) {
        cell_i64(st, "@id", of->records[i].id);
        cell_i64(st, "@version", of->records[i].version);
    }
    return statement_run(st, changes, err);
}

static bool record_confirm(struct store *store, const struct record_context *context,
                           const struct record_version *records, size_t count, bool *confirmed,
                           struct error *err)
{
    const struct confirmation of = { .context = context, .records = records, .count = count };
    int64_t same, old = 0;
    bool ok = run_confirm(store, CONFIRM, &of, &same, err);

    if (ok && same < (int64_t)count)
        ok = run_confirm(store, CONFIRM_OLD, &of, &old, err);
    *confirmed = ok && same + old == (int64_t)count;
    return ok || error_wrap(err, "confirm %zu records", count);
}

/* ---- touching ---- */

/* As above. */
static const char TOUCH[] = "UPDATE ing_record AS t SET checked_at = {greatest}(t.checked_at, :now)"
                            " {each-free ing_record} AND t.expr_hash = :expr_hash";
static const char TOUCH_OLD[] =
    "UPDATE ing_record AS t SET checked_at = {greatest}(t.checked_at, :now),"
    " expr_hash = " MOVED_EXPR " {each-free ing_record} AND t.expr_hash <> :expr_hash";

struct touch {
    const struct record_context *context;
    const int64_t *ids;
    size_t count;
};

static bool run_touch(struct store *store, const char *sql, const struct touch *touch,
                      int64_t *changes, struct error *err)
{
    struct statement *st = statement_of(store, sql);

    bind_instant(st, ":now", touch->context->now_us);
    bind_text(st, ":expr_hash", touch->context->expr_hash);
    for (size_t i = 0; i < touch->count; i++)
        cell_i64(st, "@id", touch->ids[i]);
    return statement_run(st, changes, err);
}

static bool record_touch(struct store *store, const struct record_context *context,
                         const int64_t *ids, size_t count, struct error *err)
{
    const struct touch touch = { .context = context, .ids = ids, .count = count };
    int64_t changes;
    bool ok = run_touch(store, TOUCH, &touch, &changes, err);

    if (ok && changes < (int64_t)count)
        ok = run_touch(store, TOUCH_OLD, &touch, &changes, err);
    return ok || error_wrap(err, "touch %zu records", count);
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
        read_record(&st->rows, arena, record);
    return rows_finish(&st->rows, err);
}

static const char STALE[] = "SELECT id, provider_id, checked_at, '' FROM ing_record"
                            " WHERE provenance_code = :source AND endpoint_name = :endpoint"
                            "   AND {stale} LIMIT :limit";

static const char OLD_EXPR[] =
    "SELECT id, provider_id, 0, expr_hash FROM ing_record"
    " WHERE provenance_code = :source AND endpoint_name = :endpoint"
    "   AND expr_hash <> :expr_hash AND (expr_hash, id) > (:after_hash, :after_id)"
    "   AND NOT deleted ORDER BY expr_hash, id LIMIT :limit";

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
        bind_instant(st, ":before", query->checked_before_us);
        bind_instant(st, ":after_checked", after->checked_us);
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
    .write = record_write,
    .lock = record_lock,
    .confirm = record_confirm,
    .touch = record_touch,
    .get = record_get,
    .candidates = record_candidates,
};
