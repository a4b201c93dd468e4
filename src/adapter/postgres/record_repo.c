#include "adapter/postgres/postgres.h"
#include "adapter/postgres/record_write.h"
#include "adapter/sql/read.h"

enum { CHECK_SOURCE = 1, CHECK_ENDPOINT, CHECK_PROVIDER_IDS };
/* LATERAL and LIMIT: by the index, one id after the other. A plan is kept while the table grows,
 * and for a small table it would read all of it. */
static const char CHECK[] =
    "SELECT place, " RECORD_STATE_COLUMNS
    "  FROM unnest($3) WITH ORDINALITY AS r (wanted_id, place)"
    "  CROSS JOIN LATERAL (SELECT * FROM ing_record"
    "    WHERE provenance_code = $1 AND endpoint_name = $2 AND provider_id = r.wanted_id"
    "    LIMIT 1) AS t";

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
    while (rows_next(&q.rows))
        read_record_state(&q.rows, arena, &states[rows_i64(&q.rows) - 1]);
    return rows_finish(&q.rows, err) || error_wrap(err, "check %zu records", count);
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
static const char GET[] = "SELECT " RECORD_COLUMNS " FROM ing_record"
                          " WHERE provenance_code = $1 AND endpoint_name = $2 AND provider_id = $3";

static bool record_get(struct store *store, struct arena *arena, const struct record_key *key,
                       struct stored_record *record, bool *found, struct error *err)
{
    struct query q;

    query_init(&q, postgres_store_of(store), GET);
    set_text(&q, GET_SOURCE, key->source);
    set_text(&q, GET_ENDPOINT, key->endpoint);
    set_text(&q, GET_PROVIDER_ID, key->provider_id);
    *found = rows_next(&q.rows);
    if (*found)
        read_record(&q.rows, arena, record);
    return rows_finish(&q.rows, err);
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
static const char STALE[] =
    "SELECT id, provider_id, checked_at, '' FROM ing_record"
    " WHERE provenance_code = $1 AND endpoint_name = $2"
    "   AND checked_week <= date_trunc('week', $5 AT TIME ZONE 'UTC') AND checked_at < $5"
    "   AND (checked_week, id) > (date_trunc('week', $6 AT TIME ZONE 'UTC'), $3)"
    "   AND NOT deleted ORDER BY checked_week, id LIMIT $4";

static const char OLD_EXPR[] =
    "SELECT id, provider_id, NULL::timestamptz, expr_hash FROM ing_record"
    " WHERE provenance_code = $1 AND endpoint_name = $2"
    "   AND expr_hash <> $5 AND (expr_hash, id) > ($6, $3)"
    "   AND NOT deleted ORDER BY expr_hash, id LIMIT $4";

static const char SIGNALLED[] = "SELECT id, provider_id, NULL::timestamptz, '' FROM ing_signal"
                                " WHERE provenance_code = $1 AND endpoint_name = $2"
                                "   AND consumed_at IS NULL AND id > $3 ORDER BY id LIMIT $4";

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

    ask_candidates(&q, postgres_store_of(store), query);
    return read_candidates(&q.rows, arena, list, err) || error_wrap(err, "list candidates");
}

const struct store_record_ops POSTGRES_RECORD = {
    .check = record_check,
    .write = postgres_record_write,
    .touch = record_touch,
    .get = record_get,
    .candidates = record_candidates,
};
