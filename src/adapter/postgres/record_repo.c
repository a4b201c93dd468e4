#include "adapter/postgres/postgres.h"
#include "adapter/postgres/record_write.h"
#include "port/store_record.h"

enum { CHECK_SOURCE = 1, CHECK_ENDPOINT, CHECK_PROVIDER_IDS };
/* LATERAL and LIMIT: by the index, one id after the other. A plan is kept while the table grows,
 * and for a small table it would read all of it. */
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

/* What another worker holds is being written or touched there: waiting for it could be mutual. */
enum { TOUCH_IDS = 1, TOUCH_NOW, TOUCH_EXPR_HASH };
static const char TOUCH[] =
    "UPDATE ing_record t SET checked_at = greatest(t.checked_at, $2), expr_hash = $3"
    "  FROM unnest($1) AS r (id)"
    "  CROSS JOIN LATERAL (SELECT ctid FROM ing_record"
    "    WHERE id = r.id AND (checked_at < $2 OR expr_hash <> $3)"
    "    LIMIT 1 FOR NO KEY UPDATE SKIP LOCKED) AS place"
    " WHERE t.ctid = place.ctid";

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
#define WEEK_OF(place) "date_trunc('week', " place " AT TIME ZONE 'UTC')"
static const char STALE[] =
    "SELECT id, provider_id, checked_at, '' FROM ing_record"
    " WHERE provenance_code = $1 AND endpoint_name = $2"
    "   AND checked_week <= " WEEK_OF(
        "$5") " AND checked_at < $5"
              "   AND (checked_week, id) > (" WEEK_OF(
                  "$6") ", $3)"
                        "   AND NOT deleted ORDER BY checked_week, id LIMIT $4";

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
    .write = postgres_record_write,
    .touch = record_touch,
    .get = record_get,
    .candidates = record_candidates,
};
