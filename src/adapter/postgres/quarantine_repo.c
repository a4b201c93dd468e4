#include "adapter/postgres/quarantine_repo.h"

#include <inttypes.h>

#include "adapter/postgres/postgres.h"

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
    " VALUES ($1, $2, $3, $4, $5, $6, $7, $8, $9, $10, $11, $12, $13, $14) ON CONFLICT DO NOTHING";

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
bool postgres_quarantine_add(struct store *store, const struct quarantined *records, size_t count,
                             int64_t *added, struct error *err)
{
    const bool alone = store->state == STORE_IDLE;

    *added = 0;
    if (alone && !store_begin(store, err))
        return false;
    for (size_t i = 0; i < count; i++) {
        if (!add_one(postgres_store_of(store), &records[i], added, err)) {
            if (alone)
                store_rollback(store);
            return false;
        }
    }
    return !alone || store_commit(store, err);
}

enum { LIST_SOURCE = 1, LIST_AFTER, LIST_LIMIT };
static const char LIST[] =
    "SELECT id, provenance_code, endpoint_name, provider_id, reason_code, detail, batch_position,"
    " schedule_instance_id, plan_id, slice_id, task_id, run_id, batch_id, created_at, payload"
    "  FROM ing_quarantine"
    " WHERE resolved_at IS NULL AND $1 IN ('', provenance_code) AND id > $2"
    " ORDER BY id LIMIT $3";
enum {
    COL_ID,
    COL_SOURCE,
    COL_ENDPOINT,
    COL_PROVIDER_ID,
    COL_REASON,
    COL_DETAIL,
    COL_POSITION,
    COL_LINEAGE, /* six columns */
    COL_CREATED = COL_LINEAGE + 6,
    COL_PAYLOAD,
};

bool postgres_quarantine_list(struct store *store, struct arena *arena, struct str source,
                              int64_t after_id, int64_t limit, struct quarantined_list *list,
                              struct error *err)
{
    struct query q;

    *list = (struct quarantined_list){ 0 };
    query_init(&q, postgres_store_of(store), LIST);
    set_text(&q, LIST_SOURCE, source);
    set_i64(&q, LIST_AFTER, after_id);
    set_i64(&q, LIST_LIMIT, limit);
    while (query_row(&q)) {
        struct quarantined *record = LIST_ADD(arena, list);

        if (record == NULL) {
            q.rows.full = arena;
            break;
        }
        record->id = get_i64(&q, COL_ID);
        record->source = get_text(&q, COL_SOURCE, arena);
        record->endpoint = get_text(&q, COL_ENDPOINT, arena);
        record->provider_id = get_text(&q, COL_PROVIDER_ID, arena);
        record->reason = get_text(&q, COL_REASON, arena);
        record->detail = get_text(&q, COL_DETAIL, arena);
        record->position = get_i64(&q, COL_POSITION);
        record->lineage = get_lineage(&q, COL_LINEAGE);
        record->created_us = get_i64(&q, COL_CREATED);
        record->payload = get_text(&q, COL_PAYLOAD, arena);
    }
    return query_finish(&q, err) || error_wrap(err, "list the quarantine");
}

enum { RESOLVE_NOW = 1, RESOLVE_ID };
static const char RESOLVE[] =
    "UPDATE ing_quarantine SET resolved_at = $1 WHERE id = $2 AND resolved_at IS NULL";

bool postgres_quarantine_resolve(struct store *store, int64_t id, int64_t now_us, bool *resolved,
                                 struct error *err)
{
    struct query q;
    int64_t changes;

    query_init(&q, postgres_store_of(store), RESOLVE);
    set_time(&q, RESOLVE_NOW, now_us);
    set_i64(&q, RESOLVE_ID, id);
    if (!query_run(&q, &changes, err))
        return error_wrap(err, "resolve quarantined record %" PRId64, id);
    *resolved = changes == 1;
    return true;
}
