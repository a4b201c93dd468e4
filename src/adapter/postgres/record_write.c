/* Some changes are taken, sent as one statement for the new records, one for the changed ones and
 * one for the events, and while the server is at work on them the next are taken. The answers are
 * read at the end.
 */
#include "adapter/postgres/record_write.h"

#include "adapter/postgres/outbox_repo.h"
#include "adapter/postgres/pipeline.h"
#include "adapter/postgres/postgres.h"

/* The server copies what a statement brings several times: little payload at a time stays in its
 * caches and keeps its memory small. And what fits into the socket (some 200 KB) is there when the
 * server comes for it. */
enum { CHUNK_MAX = 32 };

/* The arrays of both statements below; the key is the provider's id in one, ours in the other. */
enum {
    ROW_KEY,
    ROW_UPDATED,
    ROW_PROVIDER_VERSION,
    ROW_VERSION,
    ROW_DELETED,
    ROW_CONTENT_HASH,
    ROW_PAYLOAD,
    ROW_END
};

enum {
    WRITE_EXPR_HASH = 1,
    WRITE_NOW,
    WRITE_LINEAGE,                  /* six places */
    WRITE_ROWS = WRITE_LINEAGE + 6, /* seven arrays */
    WRITE_SOURCE = WRITE_ROWS + ROW_END,
    WRITE_ENDPOINT,
};

/* Refused when one of them is here already, which ends the batch: ON CONFLICT would look for each
 * of them first. */
static const char ADD[] =
    "INSERT INTO ing_record (provenance_code, endpoint_name, provider_id, updated_at,"
    " provider_version, version, deleted, content_hash, payload, expr_hash, checked_at,"
    " created_at, schedule_instance_id, plan_id, slice_id, task_id, run_id, batch_id)"
    " SELECT $16, $17, r.*, $1, $2, $2, $3, $4, $5, $6, $7, $8"
    "   FROM unnest($9, $10, $11, $12, $13, $14, $15)"
    "     AS r (provider_id, updated, provider_version, version, deleted, content_hash, payload)";

/* The row is found by the index (LATERAL and LIMIT, see record_repo.c) and then updated where it
 * lies, so rows are locked in the order of the arrays. Of a row that moved while its lock was
 * waited for, the version is looked at again. */
static const char CHANGE[] =
    "UPDATE ing_record t SET updated_at = r.updated,"
    " provider_version = r.provider_version, version = r.version, deleted = r.deleted,"
    " content_hash = r.content_hash, payload = r.payload, expr_hash = $1,"
    " checked_at = greatest(t.checked_at, $2), schedule_instance_id = $3, plan_id = $4,"
    " slice_id = $5, task_id = $6, run_id = $7, batch_id = $8"
    "  FROM unnest($9, $10, $11, $12, $13, $14, $15)"
    "         AS r (id, updated, provider_version, version, deleted, content_hash, payload)"
    "  CROSS JOIN LATERAL (SELECT ctid FROM ing_record WHERE id = r.id LIMIT 1) AS place"
    " WHERE t.ctid = place.ctid AND t.version = r.version - 1";

static void rows_init(struct array *rows, struct arena *arena, bool is_new)
{
    static const enum array_type TYPES[ROW_END] = {
        [ROW_UPDATED] = ARRAY_TIME,      [ROW_PROVIDER_VERSION] = ARRAY_TEXT,
        [ROW_VERSION] = ARRAY_I64,       [ROW_DELETED] = ARRAY_BOOL,
        [ROW_CONTENT_HASH] = ARRAY_TEXT, [ROW_PAYLOAD] = ARRAY_BYTES,
    };

    array_init(&rows[ROW_KEY], arena, is_new ? ARRAY_TEXT : ARRAY_I64);
    for (int i = ROW_UPDATED; i < ROW_END; i++)
        array_init(&rows[i], arena, TYPES[i]);
}

static void rows_add(struct array *rows, const struct record_write *record)
{
    if (record->id == 0)
        array_add_text(&rows[ROW_KEY], record->provider_id);
    else
        array_add_i64(&rows[ROW_KEY], record->id);
    array_add_i64_opt(&rows[ROW_UPDATED], record->has_updated, record->updated_us);
    array_add_text(&rows[ROW_PROVIDER_VERSION], record->provider_version);
    array_add_i64(&rows[ROW_VERSION], record->version);
    array_add_bool(&rows[ROW_DELETED], record->is_deleted);
    array_add_text(&rows[ROW_CONTENT_HASH], record->content_hash);
    array_add_text(&rows[ROW_PAYLOAD], record->payload);
}

/* The statement for all new, or for all changed ones. */
static void make_query(struct query *q, struct postgres_store *postgres,
                       const struct record_context *context, bool is_new,
                       const struct record_change *changes, size_t count)
{
    struct array rows[ROW_END];

    rows_init(rows, &postgres->scratch, is_new);
    for (size_t i = 0; i < count; i++)
        rows_add(rows, &changes[i].record);
    query_init(q, postgres, is_new ? ADD : CHANGE);
    set_text(q, WRITE_EXPR_HASH, context->expr_hash);
    set_time(q, WRITE_NOW, context->now_us);
    set_lineage(q, WRITE_LINEAGE, &context->lineage);
    for (int i = 0; i < ROW_END; i++)
        set_array(q, WRITE_ROWS + i, &rows[i]);
    if (is_new) {
        set_text(q, WRITE_SOURCE, context->source);
        set_text(q, WRITE_ENDPOINT, context->endpoint);
    }
}

static bool prepare(struct postgres_store *postgres, const struct record_context *context,
                    struct error *err)
{
    struct query q;

    for (int is_new = 0; is_new < 2; is_new++) {
        make_query(&q, postgres, context, is_new, NULL, 0);
        if (!query_prepare(&q, err))
            return false;
    }
    outbox_query(&q, postgres, NULL, 0);
    return query_prepare(&q, err);
}

/* Under way: the changes [0, sent), the first `added` of them new, in chunks of CHUNK_MAX. */
struct sending {
    struct postgres_store *postgres;
    const struct record_context *context;
    size_t sent;
    size_t added;
};

static bool send_records(struct sending *sending, bool is_new, const struct record_change *changes,
                         size_t count, struct error *err)
{
    struct query q;

    if (count == 0)
        return true;
    make_query(&q, sending->postgres, sending->context, is_new, changes, count);
    return pipeline_send(&q, err);
}

/* The new ones stand first. */
static bool send_chunk(struct sending *sending, const struct record_change *changes, size_t count,
                       struct error *err)
{
    struct query q;
    size_t added = 0;

    while (added < count && changes[added].record.id == 0)
        added++;
    if (!send_records(sending, true, changes, added, err) ||
        !send_records(sending, false, changes + added, count - added, err))
        return false;
    outbox_query(&q, sending->postgres, changes, count);
    sending->sent += count;
    sending->added += added;
    return pipeline_send(&q, err);
}

static bool send_all(struct sending *sending, struct record_changes *changes, struct error *err)
{
    struct record_change chunk[CHUNK_MAX];
    size_t count = 0;

    for (size_t left = changes->count; left > 0; left--) {
        if (!changes->next(changes, &chunk[count++], err))
            return false;
        if (count < CHUNK_MAX && left > 1)
            continue;
        if (!send_chunk(sending, chunk, count, err))
            return false;
        count = 0;
    }
    return true;
}

/* *written stays true only if that many rows were written. */
static bool receive_rows(struct sending *sending, const char *key, size_t count, bool *written,
                         struct error *err)
{
    int64_t rows;

    if (count == 0 || !*written)
        return true;
    if (!pipeline_receive(sending->postgres, key, &rows, err))
        return false;
    *written = *written && rows == (int64_t)count;
    return true;
}

/* What comes after rows that were not all written is of no interest: whoever was first has added
 * events of his own, and ours are refused for that. */
static bool receive_all(struct sending *sending, bool *written, struct error *err)
{
    size_t from = 0;
    bool ok = true;

    while (ok && *written && from < sending->sent) {
        const size_t left = sending->sent - from;
        const size_t count = left < CHUNK_MAX ? left : CHUNK_MAX;
        const size_t added_left = sending->added > from ? sending->added - from : 0;
        const size_t added = added_left < count ? added_left : count;

        ok = receive_rows(sending, "uk_record_provider", added, written, err) &&
             receive_rows(sending, NULL, count - added, written, err) &&
             receive_rows(sending, NULL, count, written, err);
        from += count;
    }
    return ok;
}

bool postgres_record_write(struct store *store, const struct record_context *context,
                           struct record_changes *changes, bool *written, struct error *err)
{
    struct sending sending = { .postgres = postgres_store_of(store), .context = context };
    bool ok;

    *written = true;
    if (!prepare(sending.postgres, context, err))
        return error_wrap(err, "write %zu records", changes->count);
    pipeline_begin(sending.postgres);
    ok = send_all(&sending, changes, err);
    pipeline_turn(sending.postgres);
    ok = ok && receive_all(&sending, written, err);
    pipeline_leave(sending.postgres);
    return ok || error_wrap(err, "write %zu records", changes->count);
}
