#include "adapter/sqlite/quarantine_repo.h"

#include <inttypes.h>

#include "adapter/sqlite/sqlite.h"

static const char ADD[] =
    "INSERT INTO ing_quarantine (provenance_code, endpoint_name, provider_id, reason_code, detail,"
    " batch_position, schedule_instance_id, plan_id, slice_id, task_id, run_id, batch_id,"
    " created_at, payload)"
    " VALUES (:source, :endpoint, :provider_id, :reason, :detail, :position, :schedule_instance,"
    " :plan, :slice, :task, :run, :batch, :created, :payload) ON CONFLICT DO NOTHING";

static bool add_one(struct sqlite_store *sqlite, const struct quarantined *record, int64_t *added,
                    struct error *err)
{
    struct statement *st = statement_of(sqlite, ADD);

    bind_text(st, ":source", record->source);
    bind_text(st, ":endpoint", record->endpoint);
    bind_text(st, ":provider_id", record->provider_id);
    bind_text(st, ":reason", record->reason);
    bind_text(st, ":detail", record->detail);
    bind_i64(st, ":position", record->position);
    bind_lineage(st, &record->lineage);
    bind_i64(st, ":created", record->created_us);
    bind_bytes(st, ":payload", record->payload);
    if (!statement_run(st, err))
        return error_wrap(err, "quarantine a record of %.*s", STR_ARG(record->source));
    *added += statement_changes(st);
    return true;
}

bool sqlite_quarantine_add(struct store *store, const struct quarantined *records, size_t count,
                           int64_t *added, struct error *err)
{
    const bool alone = store->state == STORE_IDLE;

    *added = 0;
    if (alone && !store_begin(store, err))
        return false;
    for (size_t i = 0; i < count; i++) {
        if (!add_one(sqlite_store_of(store), &records[i], added, err)) {
            if (alone)
                store_rollback(store);
            return false;
        }
    }
    return !alone || store_commit(store, err);
}

static const char LIST[] =
    "SELECT id, provenance_code, endpoint_name, provider_id, reason_code, detail, batch_position,"
    " schedule_instance_id, plan_id, slice_id, task_id, run_id, batch_id, created_at, payload"
    "  FROM ing_quarantine"
    " WHERE resolved_at IS NULL AND :source IN ('', provenance_code) AND id > :after"
    " ORDER BY id LIMIT :limit";
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

bool sqlite_quarantine_list(struct store *store, struct arena *arena, struct str source,
                            int64_t after_id, int64_t limit, struct quarantined_list *list,
                            struct error *err)
{
    struct statement *st = statement_of(sqlite_store_of(store), LIST);

    *list = (struct quarantined_list){ 0 };
    bind_text(st, ":source", source);
    bind_i64(st, ":after", after_id);
    bind_i64(st, ":limit", limit);
    while (statement_row(st)) {
        struct quarantined *record = LIST_ADD(arena, list);

        if (record == NULL) {
            st->rows.full = arena;
            break;
        }
        record->id = column_i64(st, COL_ID);
        record->source = column_text(st, COL_SOURCE, arena);
        record->endpoint = column_text(st, COL_ENDPOINT, arena);
        record->provider_id = column_text(st, COL_PROVIDER_ID, arena);
        record->reason = column_text(st, COL_REASON, arena);
        record->detail = column_text(st, COL_DETAIL, arena);
        record->position = column_i64(st, COL_POSITION);
        record->lineage = column_lineage(st, COL_LINEAGE);
        record->created_us = column_i64(st, COL_CREATED);
        record->payload = column_text(st, COL_PAYLOAD, arena);
    }
    return statement_finish(st, err) || error_wrap(err, "list the quarantine");
}

static const char RESOLVE[] = "UPDATE ing_quarantine SET resolved_at = :now"
                              " WHERE id = :id AND resolved_at IS NULL";

bool sqlite_quarantine_resolve(struct store *store, int64_t id, int64_t now_us, bool *resolved,
                               struct error *err)
{
    struct statement *st = statement_of(sqlite_store_of(store), RESOLVE);

    bind_i64(st, ":now", now_us);
    bind_i64(st, ":id", id);
    if (!statement_run(st, err))
        return error_wrap(err, "resolve quarantined record %" PRId64, id);
    *resolved = statement_changes(st) == 1;
    return true;
}
