/* One quarantined record: settings, judgement, one transaction. */
#include "engine/execute/quarantine_retry.h"

#include <assert.h>
#include <inttypes.h>

#include "engine/execute/commit_records.h"
#include "engine/fetch/reread.h"
#include "engine/source/source_store.h"
#include "port/store_expr.h"
#include "port/store_signal.h"
#include "port/store_task.h"
#include "spec/resolve.h"
#include "spec/snapshot.h"

struct retry {
    struct store *store;
    struct arena *arena;
    struct random_source *random;
    const struct quarantine_retry_request *request;
    struct quarantined row;
    struct snapshot snapshot;
    const struct spec *spec; /* held */
    struct reread reread;
};

/* ---- the source as it is now ---- */

static struct str endpoint_in(const struct registry_row *row)
{
    const int column = registry_column(row->table, STR("target_endpoint"));

    assert(column >= 0);
    return row->values[column].is_set ? row->values[column].text : (struct str){ 0 };
}

/* The operation that fetched it; or, where that no longer exists, one that lists such records. */
static struct str find_operation(const struct source *source, const struct task *task,
                                 struct str endpoint)
{
    const struct registry_row *row = NULL;
    struct str lister = { 0 };

    while ((row = source_next_operation(source, row)) != NULL) {
        if (task != NULL && str_eq(endpoint_in(row), task->endpoint) &&
            source_operation_code(row) == (int)task->operation)
            return row->key;
        if (lister.len == 0 && str_eq(endpoint_in(row), endpoint))
            lister = row->key;
    }
    return lister;
}

static bool load_spec(struct retry *retry, struct error *err)
{
    const struct quarantined *row = &retry->row;
    struct source source;
    struct task task;
    struct str operation;
    bool has_task = false;

    if (!source_load(retry->store, retry->arena, row->source, retry->request->now_us, &source, err))
        return false;
    if (row->lineage.task_id != 0 &&
        !store_task_get(retry->store, retry->arena, row->lineage.task_id, &task, &has_task, err))
        return false;
    operation = find_operation(&source, has_task ? &task : NULL, row->endpoint);
    if (operation.len == 0)
        return error_set(err, ERROR_REQUEST, "quarantine.operation",
                         "no operation of %.*s reads records of %.*s", STR_ARG(row->source),
                         STR_ARG(row->endpoint));
    return snapshot_make(retry->arena,
                         &(struct snapshot_request){ .source = &source, .operation = operation },
                         &retry->snapshot, err) &&
           spec_cache_hold(retry->request->specs, retry->snapshot.json, &retry->spec, err);
}

/* ---- storing ---- */

static struct str change_of(const struct commit_result *result)
{
    return result->deleted > 0   ? STR("gone")
           : result->created > 0 ? STR("new")
           : result->updated > 0 ? STR("changed")
                                 : STR("");
}

static bool settle(struct retry *retry, bool *resolved, struct error *err)
{
    return store_quarantine_resolve(
        retry->store,
        &(struct quarantine_resolve){ .id = retry->row.id,
                                      .resolution = QUARANTINE_RETRIED,
                                      .by = retry->request->by,
                                      .note = retry->request->note,
                                      .now_us = retry->request->now_us },
        resolved, err);
}

/* Its quarantine opened a signal to fetch it again (commit.c), which is no longer needed. */
static bool close_signal(struct retry *retry, struct error *err)
{
    const struct signal signal = { .source = retry->row.source,
                                   .endpoint = retry->row.endpoint,
                                   .provider_id = retry->row.provider_id,
                                   .reason = retry->row.reason };
    bool closed;

    return signal.provider_id.len == 0 ||
           store_signal_close(retry->store, &signal, retry->request->by, retry->request->now_us,
                              &closed, err);
}

static bool add_expr(struct retry *retry, struct error *err)
{
    const struct spec *spec = retry->spec;
    const struct expr expr = {
        .expr_hash = str_of(retry->snapshot.expr_proto_hash),
        .source = retry->row.source,
        .endpoint = spec->is_two_phase ? spec->detail.name : spec->endpoint.name,
        .query_hash = str_of(retry->snapshot.query_hash),
        .mapping_hash = str_of(retry->snapshot.mapping_hash),
        .snapshot = retry->snapshot.json,
        .created_us = retry->request->now_us,
    };

    return store_expr_add(retry->store, &expr, err);
}

/* One attempt; *is_over stays false after a failure, and when another worker wrote the same record
 * meanwhile. */
static bool store_once(struct retry *retry, struct records *records,
                       struct quarantine_retried *retried, bool *is_over, struct error *err)
{
    const struct record_context context = { .source = retry->row.source,
                                            .endpoint = retry->row.endpoint,
                                            .expr_hash = str_of(retry->snapshot.expr_proto_hash),
                                            .lineage = retry->row.lineage,
                                            .observed_us = retry->row.observed_us,
                                            .now_us = retry->request->now_us };
    struct commit_result result = { 0 };
    bool resolved, is_written;

    if (!records_judge(records, &context, &result, err) || !store_begin(retry->store, err))
        return false;
    if (!settle(retry, &resolved, err))
        goto fail;
    if (!resolved) {
        *is_over = true;
        retried->outcome = QUARANTINE_SETTLED;
        store_rollback(retry->store);
        return true;
    }
    if (!add_expr(retry, err) || !close_signal(retry, err) ||
        !records_write(records, &context, &is_written, err))
        goto fail;
    retried->change = change_of(&result);
    retried->outcome = retried->change.len > 0 ? QUARANTINE_STORED : QUARANTINE_KNOWN;
    if (!is_written || retry->request->is_dry)
        store_rollback(retry->store);
    else if (!store_commit(retry->store, err))
        goto fail;
    *is_over = is_written;
    return true;
fail:
    store_rollback(retry->store);
    return false;
}

static bool store_record(struct retry *retry, struct quarantine_retried *retried, struct error *err)
{
    const struct fetch_batch batch = { .records = &retry->reread.record, .record_count = 1 };
    struct uuid_state event_ids = { 0 };
    struct records records = { .store = retry->store,
                               .arena = retry->arena,
                               .origin = retry->reread.origin,
                               .random = retry->random,
                               .event_ids = &event_ids,
                               .cause = { .is_later = true } };
    bool is_over = false;

    if (!records_init(&records, &batch, err))
        return false;
    for (int tries = 0; tries < COMMIT_TRIES_MAX && !is_over; tries++) {
        if (!store_once(retry, &records, retried, &is_over, err) && !store_error_is_conflict(err))
            return false;
        records.must_wait = true;
    }
    return is_over || error_set(err, ERROR_TRANSIENT, "quarantine.raced",
                                "other workers wrote the same record first, again and again");
}

/* ---- the whole ---- */

static bool judge_and_store(struct retry *retry, struct quarantine_retried *retried,
                            struct error *err)
{
    const struct record *record = &retry->reread.record;

    retried->provider_id = record->provider_id;
    if (record_is_good(record))
        return store_record(retry, retried, err);
    retried->outcome = QUARANTINE_STILL_BAD;
    retried->reason = str_of(record->reason);
    retried->detail = record->detail;
    return true;
}

static bool reread_and_store(struct retry *retry, struct quarantine_retried *retried,
                             struct error *err)
{
    const struct spec *spec = retry->spec;
    const struct reread_from from = { .endpoint =
                                          spec->is_two_phase ? &spec->detail : &spec->endpoint,
                                      .payload = retry->row.payload,
                                      .observed_us = retry->row.observed_us };
    bool ok;

    if (!reread_open(&retry->reread, retry->arena, &from, err))
        return false;
    ok = judge_and_store(retry, retried, err);
    reread_close(&retry->reread);
    return ok;
}

bool quarantine_retry(struct store *store, struct arena *arena, struct random_source *random,
                      const struct quarantine_retry_request *request,
                      struct quarantine_retried *retried, struct error *err)
{
    struct retry retry = { .store = store, .arena = arena, .random = random, .request = request };
    bool found, ok;

    *retried = (struct quarantine_retried){ 0 };
    if (!store_quarantine_get(store, arena, request->id, &retry.row, &found, err))
        return false;
    if (!found)
        return error_set(err, ERROR_REQUEST, "quarantine.unknown",
                         "nothing in quarantine has the number %" PRId64, request->id);
    retried->was = retry.row;
    retried->outcome = QUARANTINE_SETTLED;
    if (retry.row.resolution != QUARANTINE_OPEN)
        return true;
    ok = load_spec(&retry, err) && reread_and_store(&retry, retried, err);
    spec_cache_release(request->specs, retry.spec);
    return ok || error_wrap(err, "quarantined record %" PRId64, request->id);
}
