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

const struct store_quarantine_ops POSTGRES_QUARANTINE = {
    .add = quarantine_add,
    .list = quarantine_list,
    .get = quarantine_get,
    .sums = quarantine_sums,
    .resolve = quarantine_resolve,
};
