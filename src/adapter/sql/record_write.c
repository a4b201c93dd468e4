/* Records that are new or have changed, and the events that their changes become. */
#include <assert.h>

#include "adapter/sql/record_event_cells.h"
#include "adapter/sql/record_names.h"
#include "adapter/sql/record_rows.h"
#include "adapter/sql/record_tally.h"

enum { WRITE_BYTES_MAX = 1 << 24 }; /* the ids of one call */

/* Refused when one of them exists already, which ends the batch: ON CONFLICT would look for each of
 * them first. */
static const char ADD[] =
    "INSERT INTO ing_record_state (id, endpoint_id, expr_id, batch_id, checked_week, checked_at,"
    " created_at, provider_id, updated_at, provider_version, version, deleted, content_hash,"
    " observed_at)"
    " {insert @id, :endpoint, :expr, :batch, :week, :now, :now, @provider_id, @updated,"
    "         @provider_version, @version, @deleted, @content_hash, @observed}";

static const char CHANGE[] =
    "UPDATE ing_record_state AS t SET updated_at = @updated, provider_version = @provider_version,"
    " version = @version, deleted = @deleted, content_hash = @content_hash,"
    " observed_at = @observed, expr_id = :expr, batch_id = :batch,"
    " checked_week = {greatest}(t.checked_week, :week),"
    " checked_at = {greatest}(t.checked_at, :now)"
    " {each ing_record_state} AND t.version = @version - 1";

/* Of new records and of changed ones. */
static const char PUT_CONTENT[] =
    "INSERT INTO ing_record_content (record_id, dictionary_id, payload)"
    " {insert @id, @dictionary, @payload}"
    " ON CONFLICT (record_id) DO UPDATE SET dictionary_id = excluded.dictionary_id,"
    "   payload = excluded.payload";

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

static void add_cells(struct statement *st, const struct record_write *record)
{
    cell_instant_opt(st, "@updated", record->has_updated, record->updated_us);
    cell_text(st, "@provider_version", record->provider_version);
    cell_i64(st, "@version", record->version);
    cell_bool(st, "@deleted", record->is_deleted);
    cell_hash(st, "@content_hash", record->content_hash);
    cell_instant(st, "@observed", record->observed_us);
}

/* Some changes of one call; ids[i] is that of changes[i], also of a new record. */
struct chunk {
    const struct record_context *context;
    struct record_names names;
    const struct record_change *changes;
    const int64_t *ids;
    size_t count;
};

static bool send_new(struct store *store, const struct chunk *chunk, size_t count,
                     struct error *err)
{
    const struct statement_send send = { .expected = (int64_t)count,
                                         .unique_key = "uk_record_provider" };
    struct statement *st = statement_of(store, ADD);

    bind_i64(st, ":endpoint", chunk->names.endpoint);
    record_rows_bind_check(st, chunk->context, chunk->names.expr);
    bind_id(st, ":batch", chunk->context->lineage.batch_id);
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

    record_rows_bind_check(st, chunk->context, chunk->names.expr);
    bind_id(st, ":batch", chunk->context->lineage.batch_id);
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
        cell_id(st, "@dictionary", chunk->changes[i].record.dictionary_id);
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

static bool send_tally(struct store *store, const struct chunk *all, struct error *err)
{
    struct record_tally tally = { 0 };

    for (size_t i = 0; i < all->count; i++)
        record_tally_add(&tally, &all->changes[i].record);
    return all->count == 0 || record_tally_send(store, &tally, all->ids[0], err);
}

static bool send_all(struct store *store, const struct chunk *all, struct error *err)
{
    for (size_t i = 0, n; i < all->count; i += n) {
        n = all->count - i < RECORD_CHUNK_MAX ? all->count - i : RECORD_CHUNK_MAX;
        if (!send_chunk(store,
                        &(struct chunk){ .context = all->context,
                                         .names = all->names,
                                         .changes = &all->changes[i],
                                         .ids = &all->ids[i],
                                         .count = n },
                        err))
            return false;
    }
    return send_tally(store, all, err);
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

bool record_rows_write(struct store *store, const struct record_context *context,
                       const struct record_change *changes, size_t count, bool *written,
                       struct error *err)
{
    struct chunk all = { .context = context, .changes = changes, .count = count };
    struct arena arena;
    bool ok;

    arena_init(&arena, WRITE_BYTES_MAX);
    ok = record_names_make(store, context, &all.names, err) && find_ids(store, &arena, &all, err) &&
         send_and_settle(store, &all, written, err);
    arena_release(&arena);
    return ok || error_wrap(err, "write %zu records", count);
}
