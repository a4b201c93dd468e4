#include <inttypes.h>

#include "adapter/postgres/postgres.h"
#include "adapter/sql/read.h"
#include "port/store_quarantine.h"

enum {
    ADD_SOURCE = 1,
    ADD_ENDPOINT,
    ADD_PROVIDER_ID,
    ADD_REASON,
    ADD_DETAIL,
    ADD_POSITION,
    ADD_LINEAGE, /* six places */
    ADD_CREATED = ADD_LINEAGE + 6,
    ADD_PAYLOAD,
};
static const char ADD[] =
    "INSERT INTO ing_quarantine (provenance_code, endpoint_name, provider_id, reason_code, detail,"
    " batch_position, schedule_instance_id, plan_id, slice_id, task_id, run_id, batch_id,"
    " created_at, payload)"
    " SELECT $1, $2, $3, $4, $5, $6, $7, $8, $9, $10, $11, $12, $13, $14"
    " WHERE NOT EXISTS (SELECT 1 FROM ing_quarantine WHERE provenance_code = $1"
    "   AND endpoint_name = $2 AND provider_id = $3 AND octet_length(payload) = octet_length($14)"
    "   AND reason_code = $4 AND payload = $14"
    "   AND (resolved_at IS NULL OR resolution_code = 'DROPPED')"
    "   AND batch_id IS DISTINCT FROM $12)"
    " ON CONFLICT DO NOTHING";

static bool add_one(struct postgres_store *postgres, const struct quarantined *record,
                    int64_t *added, struct error *err)
{
    struct query q;
    int64_t changes;

    query_init(&q, postgres, ADD);
    set_text(&q, ADD_SOURCE, record->source);
    set_text(&q, ADD_ENDPOINT, record->endpoint);
    set_text(&q, ADD_PROVIDER_ID, record->provider_id);
    set_text(&q, ADD_REASON, record->reason);
    set_text(&q, ADD_DETAIL, record->detail);
    set_i64(&q, ADD_POSITION, record->position);
    set_lineage(&q, ADD_LINEAGE, &record->lineage);
    set_time(&q, ADD_CREATED, record->created_us);
    set_bytes(&q, ADD_PAYLOAD, record->payload);
    if (!query_run(&q, &changes, err))
        return error_wrap(err, "quarantine a record of %.*s", STR_ARG(record->source));
    *added += changes;
    return true;
}

/* One by one: a batch with many bad records is a rare one. */
static bool quarantine_add(struct store *store, const struct quarantined *records, size_t count,
                           int64_t *added, struct error *err)
{
    bool alone, ok = true;

    *added = 0;
    if (!store_enter(store, &alone, err))
        return false;
    for (size_t i = 0; i < count && ok; i++)
        ok = add_one(postgres_store_of(store), &records[i], added, err);
    return store_leave(store, alone, ok, err);
}

/* ---- reading ---- */

enum { LIST_ALL = 1, LIST_SOURCE, LIST_ENDPOINT, LIST_REASON, LIST_AFTER, LIST_LIMIT };
static const char LIST[] =
    "SELECT " QUARANTINE_COLUMNS " FROM ing_quarantine"
    " WHERE (resolved_at IS NULL OR $1 <> 0) AND $2 IN ('', provenance_code)"
    "   AND $3 IN ('', endpoint_name) AND $4 IN ('', reason_code) AND id > $5"
    " ORDER BY id LIMIT $6";

static bool quarantine_list(struct store *store, struct arena *arena,
                            const struct quarantine_filter *filter, struct quarantined_list *list,
                            struct error *err)
{
    struct query q;

    query_init(&q, postgres_store_of(store), LIST);
    set_i64(&q, LIST_ALL, filter->with_resolved);
    set_text(&q, LIST_SOURCE, filter->source);
    set_text(&q, LIST_ENDPOINT, filter->endpoint);
    set_text(&q, LIST_REASON, filter->reason);
    set_i64(&q, LIST_AFTER, filter->after_id);
    set_i64(&q, LIST_LIMIT, filter->limit);
    return read_quarantine(&q.rows, arena, list, err) || error_wrap(err, "list the quarantine");
}

enum { GET_ID = 1 };
static const char GET[] =
    "SELECT " QUARANTINE_COLUMNS ", payload FROM ing_quarantine WHERE id = $1";

static bool quarantine_get(struct store *store, struct arena *arena, int64_t id,
                           struct quarantined *record, bool *found, struct error *err)
{
    struct query q;

    query_init(&q, postgres_store_of(store), GET);
    set_i64(&q, GET_ID, id);
    *found = rows_next(&q.rows);
    if (*found) {
        read_quarantined(&q.rows, arena, record);
        record->payload = rows_text(&q.rows, arena);
    }
    return rows_finish(&q.rows, err) || error_wrap(err, "read quarantined record %" PRId64, id);
}

enum { SUMS_SOURCE = 1 };
static const char SUMS[] =
    "SELECT provenance_code, endpoint_name, reason_code, count(*), min(created_at),"
    " max(created_at) FROM ing_quarantine"
    " WHERE resolved_at IS NULL AND $1 IN ('', provenance_code)"
    " GROUP BY 1, 2, 3"
    " ORDER BY provenance_code COLLATE \"C\", endpoint_name COLLATE \"C\","
    "          reason_code COLLATE \"C\"";

static bool quarantine_sums(struct store *store, struct arena *arena, struct str source,
                            struct quarantine_sum_list *list, struct error *err)
{
    struct query q;

    query_init(&q, postgres_store_of(store), SUMS);
    set_text(&q, SUMS_SOURCE, source);
    return read_quarantine_sums(&q.rows, arena, list, err) ||
           error_wrap(err, "count the quarantine");
}

/* ---- resolving ---- */

enum { RESOLVE_NOW = 1, RESOLVE_RESOLUTION, RESOLVE_BY, RESOLVE_NOTE, RESOLVE_ID };
static const char RESOLVE[] =
    "UPDATE ing_quarantine SET resolved_at = $1, resolution_code = $2, resolved_by = $3,"
    " resolved_note = $4 WHERE id = $5 AND resolved_at IS NULL"; /* once, whoever asks */

static bool quarantine_resolve(struct store *store, const struct quarantine_resolve *resolve,
                               bool *resolved, struct error *err)
{
    struct query q;
    int64_t changes;

    query_init(&q, postgres_store_of(store), RESOLVE);
    set_time(&q, RESOLVE_NOW, resolve->now_us);
    set_text(&q, RESOLVE_RESOLUTION, quarantine_resolution_word(resolve->resolution));
    set_text(&q, RESOLVE_BY, resolve->by);
    set_text(&q, RESOLVE_NOTE, resolve->note);
    set_i64(&q, RESOLVE_ID, resolve->id);
    if (!query_run(&q, &changes, err))
        return error_wrap(err, "resolve quarantined record %" PRId64, resolve->id);
    *resolved = changes == 1;
    return true;
}

enum { HAS_SOURCE = 1, HAS_ENDPOINT };
static const char HAS_OPEN[] =
    "SELECT EXISTS (SELECT 1 FROM ing_quarantine WHERE resolved_at IS NULL AND provider_id <> ''"
    " AND provenance_code = $1 AND endpoint_name = $2)";

/* First, so that the ids travel only where there is something to compare them with. */
static bool has_open(struct postgres_store *postgres, const struct quarantine_replace *replace,
                     bool *has, struct error *err)
{
    struct query q;

    query_init(&q, postgres, HAS_OPEN);
    set_text(&q, HAS_SOURCE, replace->source);
    set_text(&q, HAS_ENDPOINT, replace->endpoint);
    *has = rows_next(&q.rows) && rows_bool(&q.rows);
    return rows_finish(&q.rows, err);
}

enum {
    REPLACE_SOURCE = 1,
    REPLACE_ENDPOINT,
    REPLACE_IDS,
    REPLACE_NOW,
    REPLACE_BY,
    REPLACE_NOTE,
};
/* Locked by number: two batches with the same records meet one by one, not crosswise. */
static const char REPLACE[] =
    "UPDATE ing_quarantine SET resolved_at = $4, resolution_code = 'REPLACED', resolved_by = $5,"
    " resolved_note = $6"
    " WHERE id IN (SELECT id FROM ing_quarantine WHERE resolved_at IS NULL AND provider_id <> ''"
    "     AND provenance_code = $1 AND endpoint_name = $2 AND provider_id = ANY ($3)"
    "     ORDER BY id FOR UPDATE)";

static bool quarantine_replace(struct store *store, const struct quarantine_replace *replace,
                               int64_t *resolved, struct error *err)
{
    struct postgres_store *postgres = postgres_store_of(store);
    struct array ids;
    struct query q;
    bool has;

    *resolved = 0;
    if (!has_open(postgres, replace, &has, err))
        return error_wrap(err, "look into the quarantine");
    if (!has)
        return true;
    array_init(&ids, &postgres->scratch, ARRAY_TEXT);
    for (size_t i = 0; i < replace->count; i++)
        array_add_text(&ids, replace->provider_ids[i]);
    query_init(&q, postgres, REPLACE);
    set_text(&q, REPLACE_SOURCE, replace->source);
    set_text(&q, REPLACE_ENDPOINT, replace->endpoint);
    set_array(&q, REPLACE_IDS, &ids);
    set_time(&q, REPLACE_NOW, replace->now_us);
    set_text(&q, REPLACE_BY, replace->by);
    set_text(&q, REPLACE_NOTE, replace->note);
    return query_run(&q, resolved, err) ||
           error_wrap(err, "replace what is quarantined of %.*s", STR_ARG(replace->source));
}

const struct store_quarantine_ops POSTGRES_QUARANTINE = {
    .add = quarantine_add,
    .list = quarantine_list,
    .get = quarantine_get,
    .sums = quarantine_sums,
    .resolve = quarantine_resolve,
    .replace = quarantine_replace,
};
