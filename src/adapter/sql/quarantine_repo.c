/* Quarantined records. */
#include <inttypes.h>

#include "adapter/sql/session.h"
#include "port/store_quarantine.h"

#define QUARANTINE_COLUMNS                                                                  \
    "id, provenance_code, endpoint_name, provider_id, reason_code, detail, batch_position," \
    " schedule_instance_id, plan_id, slice_id, task_id, run_id, batch_id, observed_at,"     \
    " created_at, resolution_code, resolved_at, resolved_by, resolved_note, length(payload)"

static void read_quarantined(struct rows *rows, struct arena *arena, struct quarantined *record)
{
    *record = (struct quarantined){ .id = rows_i64(rows) };
    record->source = rows_text(rows, arena);
    record->endpoint = rows_text(rows, arena);
    record->provider_id = rows_text(rows, arena);
    record->reason = rows_text(rows, arena);
    record->detail = rows_text(rows, arena);
    record->position = rows_i64(rows);
    record->lineage = rows_lineage(rows);
    record->observed_us = rows_i64(rows);
    record->created_us = rows_i64(rows);
    record->resolution = quarantine_resolution_find(rows_view(rows));
    record->resolved_us = rows_i64(rows);
    record->resolved_by = rows_text(rows, arena);
    record->note = rows_text(rows, arena);
    record->bytes = rows_i64(rows);
}

static bool read_quarantine(struct rows *rows, struct arena *arena, struct quarantined_list *list,
                            struct error *err)
{
    struct quarantined *record;

    *list = (struct quarantined_list){ 0 };
    while ((record = ROWS_NEXT(rows, arena, list)) != NULL)
        read_quarantined(rows, arena, record);
    return rows_finish(rows, err);
}

static bool read_quarantine_sums(struct rows *rows, struct arena *arena,
                                 struct quarantine_sum_list *list, struct error *err)
{
    struct quarantine_sum *sum;

    *list = (struct quarantine_sum_list){ 0 };
    while ((sum = ROWS_NEXT(rows, arena, list)) != NULL) {
        sum->source = rows_text(rows, arena);
        sum->endpoint = rows_text(rows, arena);
        sum->reason = rows_text(rows, arena);
        sum->count = rows_i64(rows);
        sum->first_us = rows_i64(rows);
        sum->last_us = rows_i64(rows);
        sum->window.from_us = rows_i64(rows);
        sum->window.to_us = rows_i64(rows);
    }
    return rows_finish(rows, err);
}

static const char ADD[] =
    "INSERT INTO ing_quarantine (provenance_code, endpoint_name, provider_id, reason_code, detail,"
    " batch_position, schedule_instance_id, plan_id, slice_id, task_id, run_id, batch_id,"
    " observed_at, created_at, payload)"
    " SELECT :source, :endpoint, :provider_id, :reason, :detail, :position, :schedule_instance,"
    " :plan, :slice, :task, :run, :batch, :observed, :created, :payload"
    " WHERE NOT EXISTS (SELECT 1 FROM ing_quarantine WHERE provenance_code = :source"
    "   AND endpoint_name = :endpoint AND provider_id = :provider_id"
    "   AND length(payload) = length(:payload) AND reason_code = :reason AND payload = :payload"
    "   AND (resolved_at IS NULL OR resolution_code = 'DROPPED')"
    "   AND batch_id IS DISTINCT FROM :batch"
    /* Equal items without an id on two pages of a plan are two; but a later run of a task finds
     * those of the run before. */
    "   AND (provider_id <> '' OR plan_id IS DISTINCT FROM :plan"
    "     OR (task_id = :task AND run_id IS DISTINCT FROM :run)))"
    " ON CONFLICT DO NOTHING";

static bool add_one(struct store *store, const struct quarantined *record, int64_t *added,
                    struct error *err)
{
    struct statement *st = statement_of(store, ADD);
    int64_t changes;

    bind_text(st, ":source", record->source);
    bind_text(st, ":endpoint", record->endpoint);
    bind_text(st, ":provider_id", record->provider_id);
    bind_text(st, ":reason", record->reason);
    bind_text(st, ":detail", record->detail);
    bind_i64(st, ":position", record->position);
    bind_lineage(st, &record->lineage);
    bind_instant(st, ":observed", record->observed_us);
    bind_instant(st, ":created", record->created_us);
    bind_bytes(st, ":payload", record->payload);
    if (!statement_run(st, &changes, err))
        return error_wrap(err, "quarantine a record of %.*s", STR_ARG(record->source));
    *added += changes;
    return true;
}

static bool quarantine_add(struct store *store, const struct quarantined *records, size_t count,
                           int64_t *added, struct error *err)
{
    bool owns_transaction, ok = true;

    *added = 0;
    if (!store_begin_if_idle(store, &owns_transaction, err))
        return false;
    for (size_t i = 0; i < count && ok; i++)
        ok = add_one(store, &records[i], added, err);
    return store_end_if_owned(store, owns_transaction, ok, err);
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
    struct statement *st = statement_of(store, LIST);

    bind_bool(st, ":all", filter->with_resolved);
    bind_text(st, ":source", filter->source);
    bind_text(st, ":endpoint", filter->endpoint);
    bind_text(st, ":reason", filter->reason);
    bind_i64(st, ":after", filter->after_id);
    bind_i64(st, ":limit", filter->limit);
    return read_quarantine(&st->rows, arena, list, err) || error_wrap(err, "list the quarantine");
}

/* + 0: or the table would be read from its end. */
static const char OF[] = "SELECT " QUARANTINE_COLUMNS " FROM ing_quarantine"
                         " WHERE provenance_code = :source AND endpoint_name = :endpoint"
                         "   AND provider_id = :id ORDER BY id + 0 DESC LIMIT :limit";

static bool quarantine_of(struct store *store, struct arena *arena, const struct record_key *key,
                          int64_t limit, struct quarantined_list *list, struct error *err)
{
    struct statement *st = statement_of(store, OF);

    bind_text(st, ":source", key->source);
    bind_text(st, ":endpoint", key->endpoint);
    bind_text(st, ":id", key->provider_id);
    bind_i64(st, ":limit", limit);
    return read_quarantine(&st->rows, arena, list, err) ||
           error_wrap(err, "list the quarantine of a record");
}

static const char GET[] =
    "SELECT " QUARANTINE_COLUMNS ", payload FROM ing_quarantine WHERE id = :id";

static bool quarantine_get(struct store *store, struct arena *arena, int64_t id,
                           struct quarantined *record, bool *found, struct error *err)
{
    struct statement *st = statement_of(store, GET);

    bind_i64(st, ":id", id);
    *found = rows_next(&st->rows);
    if (*found) {
        read_quarantined(&st->rows, arena, record);
        record->payload = rows_text(&st->rows, arena);
    }
    return rows_finish(&st->rows, err) || error_wrap(err, "read quarantined record %" PRId64, id);
}

static const char SUMS[] =
    "SELECT q.provenance_code, q.endpoint_name, q.reason_code, count(*), min(q.created_at),"
    " max(q.created_at), min(t.window_from), max(t.window_to)"
    " FROM ing_quarantine q LEFT JOIN ing_task t ON t.id = q.task_id"
    " WHERE q.resolved_at IS NULL AND :source IN ('', q.provenance_code)"
    " GROUP BY 1, 2, 3 ORDER BY q.provenance_code{byte-order}, q.endpoint_name{byte-order},"
    " q.reason_code{byte-order}";

static bool quarantine_sums(struct store *store, struct arena *arena, struct str source,
                            struct quarantine_sum_list *list, struct error *err)
{
    struct statement *st = statement_of(store, SUMS);

    bind_text(st, ":source", source);
    return read_quarantine_sums(&st->rows, arena, list, err) ||
           error_wrap(err, "count the quarantine");
}

/* ---- resolving ---- */

static const char RESOLVE[] =
    "UPDATE ing_quarantine SET resolved_at = :now, resolution_code = :resolution,"
    " resolved_by = :by, resolved_note = :note"
    " WHERE id = :id AND resolved_at IS NULL"; /* a second attempt changes nothing */

static bool quarantine_resolve(struct store *store, const struct quarantine_resolve *resolve,
                               bool *resolved, struct error *err)
{
    struct statement *st = statement_of(store, RESOLVE);

    bind_instant(st, ":now", resolve->now_us);
    bind_text(st, ":resolution", quarantine_resolution_word(resolve->resolution));
    bind_text(st, ":by", resolve->by);
    bind_text(st, ":note", resolve->note);
    bind_i64(st, ":id", resolve->id);
    return statement_changed(st, resolved, err) ||
           error_wrap(err, "resolve quarantined record %" PRId64, resolve->id);
}

static const char HAS_OPEN[] =
    "SELECT EXISTS (SELECT 1 FROM ing_quarantine WHERE resolved_at IS NULL AND provider_id <> ''"
    " AND provenance_code = :source AND endpoint_name = :endpoint)";

static bool has_open(struct store *store, const struct quarantine_replace *replace, bool *has,
                     struct error *err)
{
    struct statement *st = statement_of(store, HAS_OPEN);

    bind_text(st, ":source", replace->source);
    bind_text(st, ":endpoint", replace->endpoint);
    *has = rows_next(&st->rows) && rows_i64(&st->rows) != 0;
    return rows_finish(&st->rows, err);
}

/* Locks the rows in the order of their ids, like every other transaction: so none deadlock. */
static const char REPLACE[] =
    "UPDATE ing_quarantine SET resolved_at = :now, resolution_code = 'REPLACED',"
    " resolved_by = :by, resolved_note = :note"
    " WHERE id IN (SELECT q.id FROM ing_quarantine AS q {join-rows}"
    "   WHERE q.resolved_at IS NULL AND q.provider_id <> '' AND q.provenance_code = :source"
    "     AND q.endpoint_name = :endpoint AND q.provider_id = @wanted"
    "     AND q.observed_at <= :observed ORDER BY q.id{lock q})";

static bool quarantine_replace(struct store *store, const struct quarantine_replace *replace,
                               int64_t *resolved, struct error *err)
{
    struct statement *st;
    bool has;

    *resolved = 0;
    if (!has_open(store, replace, &has, err))
        return error_wrap(err, "search the quarantine of %.*s", STR_ARG(replace->source));
    if (!has)
        return true;
    st = statement_of(store, REPLACE);
    bind_instant(st, ":observed", replace->observed_us);
    bind_instant(st, ":now", replace->now_us);
    bind_text(st, ":by", replace->by);
    bind_text(st, ":note", replace->note);
    bind_text(st, ":source", replace->source);
    bind_text(st, ":endpoint", replace->endpoint);
    for (size_t i = 0; i < replace->count; i++)
        cell_text(st, "@wanted", replace->provider_ids[i]);
    return statement_run(st, resolved, err) ||
           error_wrap(err, "resolve quarantined records of %.*s", STR_ARG(replace->source));
}

const struct store_quarantine_ops SQL_QUARANTINE = {
    .add = quarantine_add,
    .list = quarantine_list,
    .get = quarantine_get,
    .of = quarantine_of,
    .sums = quarantine_sums,
    .resolve = quarantine_resolve,
    .replace = quarantine_replace,
};
