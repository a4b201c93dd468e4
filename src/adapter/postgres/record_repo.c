#include <inttypes.h>
#include <stdlib.h>
#include <string.h>

#include "adapter/postgres/pipeline.h"
#include "adapter/postgres/postgres.h"
#include "port/store_record.h"

enum { CHECK_SOURCE = 1, CHECK_ENDPOINT, CHECK_PROVIDER_IDS };
/* LATERAL and LIMIT: by the index, one id after the other. A plan is kept while the table grows,
 * and for a small table it would read all of it. The same reason has ARRAY (SELECT ...) below. */
static const char CHECK[] =
    "SELECT r.place, t.id, t.version, t.updated_at, t.provider_version, t.deleted,"
    " t.content_hash, t.expr_hash, t.checked_at"
    "  FROM unnest($3) WITH ORDINALITY AS r (provider_id, place)"
    "  CROSS JOIN LATERAL (SELECT * FROM ing_record"
    "    WHERE provenance_code = $1 AND endpoint_name = $2 AND provider_id = r.provider_id"
    "    LIMIT 1) AS t";
enum {
    CHECKED_PLACE,
    CHECKED_ID,
    CHECKED_VERSION,
    CHECKED_UPDATED,
    CHECKED_PROVIDER_VERSION,
    CHECKED_DELETED,
    CHECKED_CONTENT_HASH,
    CHECKED_EXPR_HASH,
    CHECKED_AT,
};

static bool record_check(struct store *store, struct arena *arena,
                         const struct record_context *context, const struct str *provider_ids,
                         size_t count, struct record_state *states, struct error *err)
{
    struct postgres_store *postgres = postgres_store_of(store);
    struct array ids;
    struct query q;

    array_init(&ids, &postgres->scratch, ARRAY_TEXT);
    for (size_t i = 0; i < count; i++) {
        array_add_text(&ids, provider_ids[i]);
        states[i] = (struct record_state){ 0 };
    }
    query_init(&q, postgres, CHECK);
    set_text(&q, CHECK_SOURCE, context->source);
    set_text(&q, CHECK_ENDPOINT, context->endpoint);
    set_array(&q, CHECK_PROVIDER_IDS, &ids);
    while (query_row(&q)) {
        struct record_state *state = &states[get_i64(&q, CHECKED_PLACE) - 1];

        state->id = get_i64(&q, CHECKED_ID);
        state->version = get_i64(&q, CHECKED_VERSION);
        state->has_updated = !get_is_null(&q, CHECKED_UPDATED);
        state->updated_us = get_i64(&q, CHECKED_UPDATED);
        state->provider_version = get_text(&q, CHECKED_PROVIDER_VERSION, arena);
        state->is_deleted = get_i64(&q, CHECKED_DELETED) != 0;
        state->content_hash = get_text(&q, CHECKED_CONTENT_HASH, arena);
        state->expr_hash = get_text(&q, CHECKED_EXPR_HASH, arena);
        state->checked_us = get_i64(&q, CHECKED_AT);
    }
    return query_finish(&q, err) || error_wrap(err, "check %zu records", count);
}

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

enum {
    WRITE_EXPR_HASH = 1,
    WRITE_NOW,
    WRITE_LINEAGE,                  /* six places */
    WRITE_ROWS = WRITE_LINEAGE + 6, /* seven arrays */
    WRITE_SOURCE = WRITE_ROWS + ROW_END,
    WRITE_ENDPOINT,
};

static const char ADD[] =
    "INSERT INTO ing_record (provenance_code, endpoint_name, provider_id, updated_at,"
    " provider_version, version, deleted, content_hash, payload, expr_hash, checked_at, "
    "created_at, schedule_instance_id,"
    " plan_id, slice_id, task_id, run_id, batch_id)"
    " SELECT $16, $17, r.*, $1, $2, $2, $3, $4, $5, $6, $7, $8"
    "   FROM unnest($9, $10, $11, $12, $13, $14, $15)"
    "     AS r (provider_id, updated, provider_version, version, deleted, content_hash, payload)"
    " ON CONFLICT (provenance_code, endpoint_name, provider_id) DO NOTHING"
    " RETURNING provider_id";

static const char CHANGE[] =
    "UPDATE ing_record t SET updated_at = r.updated,"
    " provider_version = r.provider_version, version = r.version, deleted = r.deleted,"
    " content_hash = r.content_hash, payload = r.payload, expr_hash = $1,"
    " checked_at = greatest(t.checked_at, $2), schedule_instance_id = $3, plan_id = $4,"
    " slice_id = $5, task_id = $6, run_id = $7, batch_id = $8"
    "  FROM unnest($9, $10, $11, $12, $13, $14, $15) WITH ORDINALITY"
    "         AS r (id, updated, provider_version, version, deleted, content_hash, payload, place)"
    " WHERE t.id = r.id AND t.version = r.version - 1 AND t.id = ANY (ARRAY ("
    "   SELECT id FROM ing_record WHERE id = ANY ($9) ORDER BY id FOR UPDATE))"
    " RETURNING r.place";

/* What one statement writes: all new, or all changed ones, a part of the caller's list. */
struct part {
    const struct record_write *const *records;
    size_t count;
    const struct record_write *list; /* the caller's, and what he is told about it */
    bool *written;
};

static bool send_part(struct postgres_store *postgres, const struct record_context *context,
                      const struct part *part, struct error *err)
{
    const bool is_new = part->records[0]->id == 0;
    struct array rows[ROW_END];
    struct query q;

    rows_init(rows, &postgres->scratch, is_new);
    for (size_t i = 0; i < part->count; i++)
        rows_add(rows, part->records[i]);
    query_init(&q, postgres, is_new ? ADD : CHANGE);
    set_text(&q, WRITE_EXPR_HASH, context->expr_hash);
    set_time(&q, WRITE_NOW, context->now_us);
    set_lineage(&q, WRITE_LINEAGE, &context->lineage);
    for (int i = 0; i < ROW_END; i++)
        set_array(&q, WRITE_ROWS + i, &rows[i]);
    if (is_new) {
        set_text(&q, WRITE_SOURCE, context->source);
        set_text(&q, WRITE_ENDPOINT, context->endpoint);
    }
    return pipeline_send(&q, err);
}

static void mark(const struct part *part, size_t place)
{
    part->written[part->records[place] - part->list] = true;
}

/* New ones come back by their ids, in the order in which they were sent. */
static void mark_new(const struct part *part, struct query *q)
{
    bool is_there = query_row(q);

    for (size_t i = 0; is_there && i < part->count; i++) {
        const struct str id = { PQgetvalue(q->result, q->row, 0),
                                (size_t)PQgetlength(q->result, q->row, 0) };

        if (!str_eq(part->records[i]->provider_id, id))
            continue;
        mark(part, i);
        is_there = query_row(q);
    }
}

static void mark_changed(const struct part *part, struct query *q)
{
    while (query_row(q))
        mark(part, (size_t)get_i64(q, 0) - 1);
}

static bool receive_part(struct postgres_store *postgres, const struct part *part,
                         struct error *err)
{
    struct query q;

    pipeline_receive(&q, postgres);
    if (part->records[0]->id == 0)
        mark_new(part, &q);
    else
        mark_changed(part, &q);
    return query_finish(&q, err);
}

/* The server copies what a statement brings several times: little payload at a time stays in its
 * caches and keeps its memory small. And what fits into the socket (some 200 KB) is there when the
 * server comes for it: with 32 records to a statement it is 8 % faster than with 100. */
enum { WRITE_ROWS_MAX = 32 };

static struct part part_at(const struct part *all, size_t from)
{
    struct part part = *all;

    part.records += from;
    part.count -= from;
    if (part.count > WRITE_ROWS_MAX)
        part.count = WRITE_ROWS_MAX;
    return part;
}

static bool write_part(struct postgres_store *postgres, const struct record_context *context,
                       const struct part *all, struct error *err)
{
    struct part part;
    size_t sent = 0;
    bool ok = true;

    while (ok && sent < all->count) {
        part = part_at(all, sent);
        ok = send_part(postgres, context, &part, err);
        sent += ok ? part.count : 0;
    }
    pipeline_turn(postgres);
    for (size_t i = 0; ok && i < sent; i += part.count) {
        part = part_at(all, i);
        ok = receive_part(postgres, &part, err);
    }
    pipeline_leave(postgres);
    return ok || error_wrap(err, "write %zu records", all->count);
}

static int by_place(const void *a, const void *b)
{
    const struct record_write *left = *(const struct record_write *const *)a;
    const struct record_write *right = *(const struct record_write *const *)b;

    if ((left->id == 0) != (right->id == 0))
        return left->id == 0 ? -1 : 1;
    if (left->id == 0)
        return str_cmp(left->provider_id, right->provider_id);
    return (left->id > right->id) - (left->id < right->id);
}

/* New ones first, in every transaction: whoever holds a changed row waits for no new one. New ones
 * in the order of their keys and changed ones in that of their numbers: two workers with the same
 * records meet one by one. */
static bool record_write(struct store *store, const struct record_context *context,
                         const struct record_write *records, size_t count, bool *written,
                         struct error *err)
{
    struct postgres_store *postgres = postgres_store_of(store);
    const struct record_write **chosen = NULL;
    struct part added = { .list = records, .written = written };
    struct part changed = added;
    struct arena order; /* scratch does not outlive a statement */
    bool ok;

    memset(written, 0, count * sizeof(written[0]));
    arena_init(&order, count * sizeof(chosen[0]) + 4096);
    chosen = ARENA_ARRAY(&order, const struct record_write *, count);
    for (size_t i = 0; chosen != NULL && i < count; i++) {
        chosen[i] = &records[i];
        added.count += records[i].id == 0;
    }
    if (chosen != NULL)
        qsort(chosen, count, sizeof(chosen[0]), by_place);
    added.records = chosen;
    changed.records = chosen != NULL ? chosen + added.count : NULL;
    changed.count = count - added.count;
    ok = chosen != NULL ? write_part(postgres, context, &added, err) &&
                              write_part(postgres, context, &changed, err)
                        : arena_error(&order, err);
    arena_release(&order);
    return ok;
}

/* What another worker holds is being written or touched there: waiting for it could be mutual. */
enum { TOUCH_IDS = 1, TOUCH_NOW, TOUCH_EXPR_HASH };
static const char TOUCH[] =
    "UPDATE ing_record SET checked_at = greatest(checked_at, $2), expr_hash = $3"
    " WHERE id = ANY (ARRAY (SELECT id FROM ing_record"
    "                         WHERE id = ANY ($1) AND (checked_at < $2 OR expr_hash <> $3)"
    "                         ORDER BY id FOR NO KEY UPDATE SKIP LOCKED))";

static bool record_touch(struct store *store, const struct record_context *context,
                         const int64_t *ids, size_t count, struct error *err)
{
    struct postgres_store *postgres = postgres_store_of(store);
    struct array array;
    struct query q;

    array_init(&array, &postgres->scratch, ARRAY_I64);
    for (size_t i = 0; i < count; i++)
        array_add_i64(&array, ids[i]);
    query_init(&q, postgres, TOUCH);
    set_array(&q, TOUCH_IDS, &array);
    set_time(&q, TOUCH_NOW, context->now_us);
    set_text(&q, TOUCH_EXPR_HASH, context->expr_hash);
    return query_run(&q, NULL, err) || error_wrap(err, "touch %zu records", count);
}

enum { GET_SOURCE = 1, GET_ENDPOINT, GET_PROVIDER_ID };
static const char GET[] =
    "SELECT id, provenance_code, endpoint_name, provider_id, updated_at, provider_version,"
    " version, deleted,"
    " content_hash, expr_hash, checked_at, created_at, schedule_instance_id, plan_id, slice_id,"
    " task_id, run_id, batch_id, payload FROM ing_record"
    " WHERE provenance_code = $1 AND endpoint_name = $2 AND provider_id = $3";
enum {
    COL_ID,
    COL_SOURCE,
    COL_ENDPOINT,
    COL_PROVIDER_ID,
    COL_UPDATED,
    COL_PROVIDER_VERSION,
    COL_VERSION,
    COL_DELETED,
    COL_CONTENT_HASH,
    COL_EXPR_HASH,
    COL_CHECKED,
    COL_CREATED,
    COL_LINEAGE, /* six columns */
    COL_PAYLOAD = COL_LINEAGE + 6,
};

static bool record_get(struct store *store, struct arena *arena, struct str source,
                       struct str endpoint, struct str provider_id, struct stored_record *record,
                       bool *found, struct error *err)
{
    struct query q;

    query_init(&q, postgres_store_of(store), GET);
    set_text(&q, GET_SOURCE, source);
    set_text(&q, GET_ENDPOINT, endpoint);
    set_text(&q, GET_PROVIDER_ID, provider_id);
    *found = query_row(&q);
    if (*found) {
        record->id = get_i64(&q, COL_ID);
        record->source = get_text(&q, COL_SOURCE, arena);
        record->endpoint = get_text(&q, COL_ENDPOINT, arena);
        record->provider_id = get_text(&q, COL_PROVIDER_ID, arena);
        record->has_updated = !get_is_null(&q, COL_UPDATED);
        record->updated_us = get_i64(&q, COL_UPDATED);
        record->provider_version = get_text(&q, COL_PROVIDER_VERSION, arena);
        record->version = get_i64(&q, COL_VERSION);
        record->is_deleted = get_i64(&q, COL_DELETED) != 0;
        record->content_hash = get_text(&q, COL_CONTENT_HASH, arena);
        record->expr_hash = get_text(&q, COL_EXPR_HASH, arena);
        record->checked_us = get_i64(&q, COL_CHECKED);
        record->created_us = get_i64(&q, COL_CREATED);
        record->lineage = get_lineage(&q, COL_LINEAGE);
        record->payload = get_text(&q, COL_PAYLOAD, arena);
    }
    return query_finish(&q, err);
}

/* In all three the first four places are the same. */
enum {
    PAGE_SOURCE = 1,
    PAGE_ENDPOINT,
    PAGE_AFTER_ID,
    PAGE_LIMIT,
    PAGE_BEFORE = 5,
    PAGE_AFTER_CHECKED,
    PAGE_EXPR_HASH = 5,
    PAGE_AFTER_HASH,
};
static const char STALE[] = "SELECT id, provider_id, checked_at, '' FROM ing_record"
                            " WHERE provenance_code = $1 AND endpoint_name = $2"
                            "   AND checked_at < $5 AND (checked_at, id) > ($6, $3)"
                            "   AND NOT deleted ORDER BY checked_at, id LIMIT $4";

static const char OLD_EXPR[] =
    "SELECT id, provider_id, NULL::timestamptz, expr_hash FROM ing_record"
    " WHERE provenance_code = $1 AND endpoint_name = $2"
    "   AND expr_hash <> $5 AND (expr_hash, id) > ($6, $3)"
    "   AND NOT deleted ORDER BY expr_hash, id LIMIT $4";

static const char SIGNALLED[] = "SELECT id, provider_id, NULL::timestamptz, '' FROM ing_signal"
                                " WHERE provenance_code = $1 AND endpoint_name = $2"
                                "   AND consumed_at IS NULL AND id > $3 ORDER BY id LIMIT $4";

enum { FOUND_ID, FOUND_PROVIDER_ID, FOUND_CHECKED, FOUND_EXPR_HASH };

static void ask_candidates(struct query *q, struct postgres_store *postgres,
                           const struct candidate_query *query)
{
    static const struct candidate BEFORE_ALL = { .checked_us = INT64_MIN };
    const struct candidate *after = query->after != NULL ? query->after : &BEFORE_ALL;

    switch (query->why) {
    case CANDIDATE_STALENESS:
        query_init(q, postgres, STALE);
        set_time(q, PAGE_BEFORE, query->checked_before_us);
        set_time(q, PAGE_AFTER_CHECKED, after->checked_us);
        break;
    case CANDIDATE_EXPR_CHANGE:
        query_init(q, postgres, OLD_EXPR);
        set_text(q, PAGE_EXPR_HASH, query->expr_hash);
        set_text(q, PAGE_AFTER_HASH, after->expr_hash);
        break;
    case CANDIDATE_SIGNAL:
        query_init(q, postgres, SIGNALLED);
        break;
    }
    set_text(q, PAGE_SOURCE, query->source);
    set_text(q, PAGE_ENDPOINT, query->endpoint);
    set_i64(q, PAGE_AFTER_ID, after->id);
    set_i64(q, PAGE_LIMIT, query->limit);
}

static bool record_candidates(struct store *store, struct arena *arena,
                              const struct candidate_query *query, struct candidate_list *list,
                              struct error *err)
{
    struct query q;

    *list = (struct candidate_list){ 0 };
    ask_candidates(&q, postgres_store_of(store), query);
    while (query_row(&q)) {
        struct candidate *candidate = LIST_ADD(arena, list);

        if (candidate == NULL) {
            q.rows.full = arena;
            break;
        }
        candidate->id = get_i64(&q, FOUND_ID);
        candidate->provider_id = get_text(&q, FOUND_PROVIDER_ID, arena);
        candidate->checked_us = get_i64(&q, FOUND_CHECKED);
        candidate->expr_hash = get_text(&q, FOUND_EXPR_HASH, arena);
    }
    return query_finish(&q, err) || error_wrap(err, "list candidates");
}

const struct store_record_ops POSTGRES_RECORD = {
    .check = record_check,
    .write = record_write,
    .touch = record_touch,
    .get = record_get,
    .candidates = record_candidates,
};
