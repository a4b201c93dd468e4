#include <inttypes.h>

#include "adapter/sql/read.h"
#include "adapter/sqlite/sqlite.h"
#include "port/store_quarantine.h"

static const char ADD[] =
    "INSERT INTO ing_quarantine (provenance_code, endpoint_name, provider_id, reason_code, detail,"
    " batch_position, schedule_instance_id, plan_id, slice_id, task_id, run_id, batch_id,"
    " created_at, payload)"
    " SELECT :source, :endpoint, :provider_id, :reason, :detail, :position, :schedule_instance,"
    " :plan, :slice, :task, :run, :batch, :created, :payload"
    " WHERE NOT EXISTS (SELECT 1 FROM ing_quarantine WHERE provenance_code = :source"
    "   AND endpoint_name = :endpoint AND provider_id = :provider_id"
    "   AND length(payload) = length(:payload) AND reason_code = :reason AND payload = :payload"
    "   AND (resolved_at IS NULL OR resolution_code = 'DROPPED') AND batch_id IS NOT :batch)"
    " ON CONFLICT DO NOTHING";

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

static bool quarantine_add(struct store *store, const struct quarantined *records, size_t count,
                           int64_t *added, struct error *err)
{
    bool alone, ok = true;

    *added = 0;
    if (!store_enter(store, &alone, err))
        return false;
    for (size_t i = 0; i < count && ok; i++)
        ok = add_one(sqlite_store_of(store), &records[i], added, err);
    return store_leave(store, alone, ok, err);
}

/* ---- reading ---- */

static const char LIST[] =
    "SELECT " QUARANTINE_COLUMNS " FROM ing_quarantine"
    " WHERE (resolved_at IS NULL OR :all) AND :source IN ('', provenance_code)"
    "   AND :endpoint IN ('', endpoint_name) AND :reason IN ('', reason_code) AND id > :after"
    " ORDER BY id LIMIT :limit";

static bool quarantine_list(struct store *store, struct arena *arena,
                            const struct quarantine_filter *filter, struct quarantined_list *list,
                            struct error *err)
{
    struct statement *st = statement_of(sqlite_store_of(store), LIST);

    bind_i64(st, ":all", filter->with_resolved);
    bind_text(st, ":source", filter->source);
    bind_text(st, ":endpoint", filter->endpoint);
    bind_text(st, ":reason", filter->reason);
    bind_i64(st, ":after", filter->after_id);
    bind_i64(st, ":limit", filter->limit);
    return read_quarantine(&st->rows, arena, list, err) || error_wrap(err, "list the quarantine");
}

static const char GET[] =
    "SELECT " QUARANTINE_COLUMNS ", payload FROM ing_quarantine WHERE id = :id";

static bool quarantine_get(struct store *store, struct arena *arena, int64_t id,
                           struct quarantined *record, bool *found, struct error *err)
{
    struct statement *st = statement_of(sqlite_store_of(store), GET);

    bind_i64(st, ":id", id);
    *found = rows_next(&st->rows);
    if (*found) {
        read_quarantined(&st->rows, arena, record);
        record->payload = rows_text(&st->rows, arena);
    }
    return rows_finish(&st->rows, err) || error_wrap(err, "read quarantined record %" PRId64, id);
}

static const char SUMS[] =
    "SELECT provenance_code, endpoint_name, reason_code, count(*), min(created_at),"
    " max(created_at) FROM ing_quarantine"
    " WHERE resolved_at IS NULL AND :source IN ('', provenance_code)"
    " GROUP BY 1, 2, 3 ORDER BY 1, 2, 3";

static bool quarantine_sums(struct store *store, struct arena *arena, struct str source,
                            struct quarantine_sum_list *list, struct error *err)
{
    struct statement *st = statement_of(sqlite_store_of(store), SUMS);

    bind_text(st, ":source", source);
    return read_quarantine_sums(&st->rows, arena, list, err) ||
           error_wrap(err, "count the quarantine");
}

/* ---- resolving ---- */

static const char RESOLVE[] =
    "UPDATE ing_quarantine SET resolved_at = :now, resolution_code = :resolution,"
    " resolved_by = :by, resolved_note = :note"
    " WHERE id = :id AND resolved_at IS NULL"; /* once, whoever asks */

static bool quarantine_resolve(struct store *store, const struct quarantine_resolve *resolve,
                               bool *resolved, struct error *err)
{
    struct statement *st = statement_of(sqlite_store_of(store), RESOLVE);

    bind_i64(st, ":now", resolve->now_us);
    bind_text(st, ":resolution", quarantine_resolution_word(resolve->resolution));
    bind_text(st, ":by", resolve->by);
    bind_text(st, ":note", resolve->note);
    bind_i64(st, ":id", resolve->id);
    if (!statement_run(st, err))
        return error_wrap(err, "resolve quarantined record %" PRId64, resolve->id);
    *resolved = statement_changes(st) == 1;
    return true;
}

static const char HAS_OPEN[] =
    "SELECT EXISTS (SELECT 1 FROM ing_quarantine WHERE resolved_at IS NULL AND provider_id <> ''"
    " AND provenance_code = :source AND endpoint_name = :endpoint)";

static bool has_open(struct sqlite_store *sqlite, const struct quarantine_replace *replace,
                     bool *has, struct error *err)
{
    struct statement *st = statement_of(sqlite, HAS_OPEN);

    bind_text(st, ":source", replace->source);
    bind_text(st, ":endpoint", replace->endpoint);
    *has = rows_next(&st->rows) && rows_i64(&st->rows) != 0;
    return rows_finish(&st->rows, err);
}

static const char REPLACE[] =
    "UPDATE ing_quarantine SET resolved_at = :now, resolution_code = 'REPLACED',"
    " resolved_by = :by, resolved_note = :note"
    " WHERE resolved_at IS NULL AND provider_id <> '' AND provenance_code = :source"
    "   AND endpoint_name = :endpoint AND provider_id = :provider_id";

static bool quarantine_replace(struct store *store, const struct quarantine_replace *replace,
                               int64_t *resolved, struct error *err)
{
    struct sqlite_store *sqlite = sqlite_store_of(store);
    bool has;

    *resolved = 0;
    if (!has_open(sqlite, replace, &has, err))
        return error_wrap(err, "look into the quarantine");
    for (size_t i = 0; i < replace->count && has; i++) {
        struct statement *st = statement_of(sqlite, REPLACE);

        bind_i64(st, ":now", replace->now_us);
        bind_text(st, ":by", replace->by);
        bind_text(st, ":note", replace->note);
        bind_text(st, ":source", replace->source);
        bind_text(st, ":endpoint", replace->endpoint);
        bind_text(st, ":provider_id", replace->provider_ids[i]);
        if (!statement_run(st, err))
            return error_wrap(err, "replace what is quarantined of %.*s", STR_ARG(replace->source));
        *resolved += statement_changes(st);
    }
    return true;
}

const struct store_quarantine_ops SQLITE_QUARANTINE = {
    .add = quarantine_add,
    .list = quarantine_list,
    .get = quarantine_get,
    .sums = quarantine_sums,
    .resolve = quarantine_resolve,
    .replace = quarantine_replace,
};
