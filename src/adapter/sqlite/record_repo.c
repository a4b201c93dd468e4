#include <inttypes.h>

#include "adapter/sql/read.h"
#include "adapter/sqlite/outbox_repo.h"
#include "adapter/sqlite/sqlite.h"

static const char CHECK[] =
    "SELECT " RECORD_STATE_COLUMNS " FROM ing_record"
    " WHERE provenance_code = :source AND endpoint_name = :endpoint AND provider_id = :provider_id";

static bool check_one(struct sqlite_store *sqlite, struct arena *arena,
                      const struct record_context *context, struct str provider_id,
                      struct record_state *state, struct error *err)
{
    struct statement *st = statement_of(sqlite, CHECK);

    *state = (struct record_state){ 0 };
    bind_text(st, ":source", context->source);
    bind_text(st, ":endpoint", context->endpoint);
    bind_text(st, ":provider_id", provider_id);
    if (rows_next(&st->rows))
        read_record_state(&st->rows, arena, state);
    return rows_finish(&st->rows, err);
}

static bool record_check(struct store *store, struct arena *arena,
                         const struct record_context *context, const struct str *provider_ids,
                         size_t count, struct record_state *states, struct error *err)
{
    for (size_t i = 0; i < count; i++) {
        if (!check_one(sqlite_store_of(store), arena, context, provider_ids[i], &states[i], err))
            return error_wrap(err, "check record %.*s", STR_ARG(provider_ids[i]));
    }
    return true;
}

static const char ADD[] =
    "INSERT INTO ing_record (provenance_code, endpoint_name, provider_id, updated_at,"
    " provider_version, version,"
    " deleted, content_hash, expr_hash, checked_at, created_at, schedule_instance_id, plan_id,"
    " slice_id, task_id, run_id, batch_id, payload)"
    " VALUES (:source, :endpoint, :provider_id, :updated, :provider_version, :version, :deleted, "
    ":content_hash,"
    " :expr_hash, :now, :now, :schedule_instance, :plan, :slice, :task, :run, :batch, :payload)"
    " ON CONFLICT (provenance_code, endpoint_name, provider_id) DO NOTHING";

static const char CHANGE[] =
    "UPDATE ing_record SET updated_at = :updated, provider_version = :provider_version,"
    " version = :version, deleted = :deleted,"
    " content_hash = :content_hash, expr_hash = :expr_hash, checked_at = max(checked_at, :now),"
    " schedule_instance_id = :schedule_instance, plan_id = :plan, slice_id = :slice,"
    " task_id = :task, run_id = :run, batch_id = :batch, payload = :payload"
    " WHERE id = :id AND version = :version - 1";

static bool write_one(struct sqlite_store *sqlite, const struct record_context *context,
                      const struct record_write *record, bool *written, struct error *err)
{
    const bool is_new = record->id == 0;
    struct statement *st = statement_of(sqlite, is_new ? ADD : CHANGE);

    if (is_new) {
        bind_text(st, ":source", context->source);
        bind_text(st, ":endpoint", context->endpoint);
        bind_text(st, ":provider_id", record->provider_id);
    } else {
        bind_i64(st, ":id", record->id);
    }
    if (record->has_updated)
        bind_i64(st, ":updated", record->updated_us);
    bind_text(st, ":provider_version", record->provider_version);
    bind_i64(st, ":version", record->version);
    bind_bool(st, ":deleted", record->is_deleted);
    bind_text(st, ":content_hash", record->content_hash);
    bind_text(st, ":expr_hash", context->expr_hash);
    bind_i64(st, ":now", context->now_us);
    bind_lineage(st, &context->lineage);
    bind_bytes(st, ":payload", record->payload);
    if (!statement_run(st, err))
        return error_wrap(err, "write record %.*s", STR_ARG(record->provider_id));
    *written = statement_changes(st) == 1;
    return true;
}

/* The first that can not be written ends it. */
static bool record_write(struct store *store, const struct record_context *context,
                         struct record_changes *changes, bool *written, struct error *err)
{
    struct sqlite_store *sqlite = sqlite_store_of(store);
    struct record_change change;

    *written = true;
    for (size_t i = 0; *written && i < changes->count; i++) {
        if (!changes->next(changes, &change, err) ||
            !write_one(sqlite, context, &change.record, written, err) ||
            (*written && !outbox_add(sqlite, &change.event, err)))
            return false;
    }
    return true;
}

/* Nearly always the expression is the same, and its index need not be written. */
static const char TOUCH[] = "UPDATE ing_record SET checked_at = max(checked_at, :now)"
                            " WHERE id = :id AND expr_hash = :expr_hash";
static const char TOUCH_OLD[] = "UPDATE ing_record SET checked_at = max(checked_at, :now),"
                                " expr_hash = :expr_hash WHERE id = :id";

static bool touch_one(struct sqlite_store *sqlite, const char *sql,
                      const struct record_context *context, int64_t id, struct error *err)
{
    struct statement *st = statement_of(sqlite, sql);

    bind_i64(st, ":now", context->now_us);
    bind_text(st, ":expr_hash", context->expr_hash);
    bind_i64(st, ":id", id);
    if (!statement_run(st, err))
        return error_wrap(err, "touch record %" PRId64, id);
    return statement_changes(st) > 0 || sql == TOUCH_OLD ||
           touch_one(sqlite, TOUCH_OLD, context, id, err);
}

static bool record_touch(struct store *store, const struct record_context *context,
                         const int64_t *ids, size_t count, struct error *err)
{
    for (size_t i = 0; i < count; i++) {
        if (!touch_one(sqlite_store_of(store), TOUCH, context, ids[i], err))
            return false;
    }
    return true;
}

static const char GET[] =
    "SELECT " RECORD_COLUMNS " FROM ing_record"
    " WHERE provenance_code = :source AND endpoint_name = :endpoint AND provider_id = :provider_id";

static bool record_get(struct store *store, struct arena *arena, const struct record_key *key,
                       struct stored_record *record, bool *found, struct error *err)
{
    struct statement *st = statement_of(sqlite_store_of(store), GET);

    bind_text(st, ":source", key->source);
    bind_text(st, ":endpoint", key->endpoint);
    bind_text(st, ":provider_id", key->provider_id);
    *found = rows_next(&st->rows);
    if (*found)
        read_record(&st->rows, arena, record);
    return rows_finish(&st->rows, err);
}

static const char STALE[] =
    "SELECT id, provider_id, checked_at, '' FROM ing_record"
    " WHERE provenance_code = :source AND endpoint_name = :endpoint"
    "   AND checked_at < :before AND (checked_at, id) > (:after_checked, :after_id)"
    "   AND NOT deleted ORDER BY checked_at, id LIMIT :limit";

static const char OLD_EXPR[] =
    "SELECT id, provider_id, 0, expr_hash FROM ing_record"
    " WHERE provenance_code = :source AND endpoint_name = :endpoint"
    "   AND expr_hash <> :expr_hash AND (expr_hash, id) > (:after_hash, :after_id)"
    "   AND NOT deleted ORDER BY expr_hash, id LIMIT :limit";

static const char SIGNALLED[] =
    "SELECT id, provider_id, 0, '' FROM ing_signal"
    " WHERE provenance_code = :source AND endpoint_name = :endpoint"
    "   AND consumed_at IS NULL AND id > :after_id ORDER BY id LIMIT :limit";

static struct statement *candidate_statement(struct sqlite_store *sqlite,
                                             const struct candidate_query *query)
{
    static const struct candidate BEFORE_ALL = { .checked_us = INT64_MIN };
    const struct candidate *after = query->after != NULL ? query->after : &BEFORE_ALL;
    struct statement *st = NULL;

    switch (query->why) {
    case CANDIDATE_STALENESS:
        st = statement_of(sqlite, STALE);
        bind_i64(st, ":before", query->checked_before_us);
        bind_i64(st, ":after_checked", after->checked_us);
        break;
    case CANDIDATE_EXPR_CHANGE:
        st = statement_of(sqlite, OLD_EXPR);
        bind_text(st, ":expr_hash", query->expr_hash);
        bind_text(st, ":after_hash", after->expr_hash);
        break;
    case CANDIDATE_SIGNAL:
        st = statement_of(sqlite, SIGNALLED);
        break;
    }
    bind_text(st, ":source", query->source);
    bind_text(st, ":endpoint", query->endpoint);
    bind_i64(st, ":after_id", after->id);
    bind_i64(st, ":limit", query->limit);
    return st;
}

static bool record_candidates(struct store *store, struct arena *arena,
                              const struct candidate_query *query, struct candidate_list *list,
                              struct error *err)
{
    struct statement *st = candidate_statement(sqlite_store_of(store), query);

    return read_candidates(&st->rows, arena, list, err) || error_wrap(err, "list candidates");
}

const struct store_record_ops SQLITE_RECORD = {
    .check = record_check,
    .write = record_write,
    .touch = record_touch,
    .get = record_get,
    .candidates = record_candidates,
};
