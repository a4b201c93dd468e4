/* One archived response: read by the source in force, judged, and written. */
#include <string.h>

#include "data/json.h"
#include "engine/execute/commit_records.h"
#include "engine/reharvest/reharvest.h"
#include "engine/replay/replay.h"
#include "engine/slice/slice_expr.h"
#include "port/store_expr.h"

enum { TRIES_MAX = 10 };

struct reading {
    struct reharvesting *r;
    struct batch batch;
    struct replay replay;
    struct str endpoint; /* under which the records are stored */
    char expr_hash[HASH_HEX_MAX];
    struct record_context context;
    struct records records;
    bool must_wait; /* a race was lost */
};

/* ---- the snapshot in force ---- */

/* Of the operation that fetched it; one that is gone reads nothing. */
static bool load_snapshot(struct reharvesting *r, struct str operation, struct error *err)
{
    struct error cause;

    (void)err;
    if (str_eq(r->operation, operation))
        return true;
    arena_reset(&r->own);
    r->operation = arena_copy(&r->own, operation);
    r->has_snapshot = snapshot_make(
        &r->own, &(struct snapshot_request){ .source = r->request->source, .operation = operation },
        &r->snapshot, &cause);
    return true;
}

/* The query of then, the mapping in force. */
static bool make_expr(struct reading *reading, struct error *err)
{
    struct reharvesting *r = reading->r;
    struct expr old, now;
    bool found;

    if (!store_expr_get(r->store, &r->page, reading->replay.plan.expr_proto_hash, &old, &found,
                        err))
        return false;
    if (!found)
        return error_set(err, ERROR_FATAL, "reharvest.expr", "its expression is not in the store");
    if (!expr_hash_of(old.query_hash, str_of(r->snapshot.mapping_hash), reading->expr_hash, err))
        return false;
    now = old;
    now.expr_hash = str_of(reading->expr_hash);
    now.mapping_hash = str_of(r->snapshot.mapping_hash);
    now.snapshot = r->snapshot.json;
    now.created_us = r->request->now_us;
    return r->request->is_dry || store_expr_add(r->store, &now, err);
}

/* ---- where and when ---- */

static bool read_observed(struct reading *reading, int64_t *observed_us, struct error *err)
{
    struct json_doc doc;

    if (!json_parse(&doc, &reading->r->page, reading->batch.stats, err))
        return error_wrap(err, "stats");
    if (!json_i64(&doc, json_get(&doc, json_root(&doc), STR("observedUs")), observed_us))
        *observed_us = reading->batch.created_us;
    return true;
}

static bool make_context(struct reading *reading, struct error *err)
{
    const struct plan *plan = &reading->replay.plan;
    const struct batch *batch = &reading->batch;
    struct reharvesting *r = reading->r;
    struct plan_slice slice;
    int64_t observed_us;
    bool found;

    reading->endpoint = plan->endpoint;
    if (!store_slice_get(r->store, &r->page, batch->slice_id, &slice, &found, err) ||
        (found && !slice_expr_target(&r->page, slice.expr_snapshot, &reading->endpoint, err)) ||
        !read_observed(reading, &observed_us, err))
        return false;
    reading->context =
        (struct record_context){ .source = plan->source,
                                 .endpoint = reading->endpoint,
                                 .expr_hash = str_of(reading->expr_hash),
                                 .lineage = { .schedule_instance_id = plan->schedule_instance_id,
                                              .plan_id = batch->plan_id,
                                              .slice_id = batch->slice_id,
                                              .task_id = batch->task_id,
                                              .run_id = batch->run_id,
                                              .batch_id = batch->id },
                                 .observed_us = observed_us,
                                 .now_us = r->request->now_us };
    return true;
}

/* ---- records ---- */

static bool judge(struct reading *reading, struct commit_result *result, struct error *err)
{
    const struct listing *listing = &reading->replay.listing;
    struct reharvesting *r = reading->r;
    const struct fetch_batch batch = { .kind = FETCH_PAGE,
                                       .batch_no = reading->batch.number,
                                       .records = listing->records.items,
                                       .record_count = listing->records.count };

    *result = (struct commit_result){ 0 };
    reading->records = (struct records){ .store = r->store,
                                         .arena = &r->page,
                                         .origin = { .reader = &reading->replay.reader,
                                                     .document = &reading->replay.response.document,
                                                     .arena = &r->page },
                                         .random = r->request->random,
                                         .event_ids = &r->event_ids,
                                         .must_wait = reading->must_wait,
                                         .cause = { .is_later = true, .is_rederived = true } };
    if (!records_init(&reading->records, &batch, err) ||
        !records_judge(&reading->records, &reading->context, result, err))
        return false;
    reading->records.same_count = 0; /* nobody asked the source: nothing was confirmed */
    return true;
}

static bool write_once(struct reading *reading, bool *is_written, struct error *err)
{
    struct store *store = reading->r->store;

    if (!store_begin(store, err))
        return false;
    if (!records_resolve(&reading->records, &reading->context, reading->batch.number, err) ||
        !records_write(&reading->records, &reading->context, is_written, err))
        goto rollback;
    if (!*is_written) {
        store_rollback(store);
        return true;
    }
    if (store_commit(store, err))
        return true;
rollback:
    store_rollback(store);
    return false;
}

static void count(struct reharvest_result *sum, const struct listing *listing,
                  const struct commit_result *result)
{
    sum->responses++;
    sum->records += (int64_t)listing->records.count;
    sum->bad += (int64_t)listing->bad.count;
    sum->created += result->created;
    sum->updated += result->updated;
    sum->deleted += result->deleted;
    sum->unchanged += result->unchanged;
    sum->older += result->older;
}

static bool store_records(struct reading *reading, struct error *err)
{
    struct commit_result result;

    for (int tries = 0; tries < TRIES_MAX; tries++) {
        bool is_written = true;

        if (!judge(reading, &result, err))
            return false;
        if (!reading->r->request->is_dry && !write_once(reading, &is_written, err)) {
            if (!store_error_is_conflict(err))
                return false;
            is_written = false;
        }
        if (is_written) {
            count(reading->r->result, &reading->replay.listing, &result);
            return true;
        }
        reading->must_wait = true;
    }
    return error_set(err, ERROR_TRANSIENT, "reharvest.raced",
                     "other workers wrote the same records first, again and again");
}

/* ---- one response ---- */

static bool take_response(struct reading *reading, bool *is_read, struct error *err)
{
    struct reharvesting *r = reading->r;
    struct replay *replay = &reading->replay;
    struct http_response reply;
    bool found;

    *is_read = false;
    if (!archive_read(r->request->archive, &r->page, replay->evidence.body_hash, &reply, &found,
                      err))
        return false;
    if (!found)
        return true; /* pruned since */
    if (http_header_value(reply.headers, ARCHIVE_MASKED_HEADER).data != NULL) {
        r->result->masked++;
        return true;
    }
    replay_take(replay, &reply);
    replay_read(replay);
    *is_read = replay->is_read;
    r->result->unreadable += !replay->is_read;
    return true;
}

/* Parts of one response are stored one after the other, and have the same body. */
static bool is_known(struct reharvesting *r, struct str hash)
{
    const bool is_same = str_eq(str_of(r->last_hash), hash);

    if (hash.len < HASH_HEX_MAX) {
        memcpy(r->last_hash, hash.data, hash.len);
        r->last_hash[hash.len] = '\0';
    }
    return is_same;
}

static bool read_response(struct reading *reading, struct error *err)
{
    struct reharvesting *r = reading->r;
    struct replay *replay = &reading->replay;
    struct replay_input input = { .store = r->store,
                                  .arena = &r->page,
                                  .specs = r->request->specs,
                                  .secrets = r->request->secrets,
                                  .xml = r->request->xml,
                                  .batch = &reading->batch,
                                  .now_us = reading->batch.created_us };
    bool is_read;

    if (!replay_open(replay, &input, err))
        return false;
    if (replay->kept.ids_only || is_known(r, replay->evidence.body_hash) ||
        !load_snapshot(r, replay->spec->operation.name, err))
        return true;
    replay_close(replay);
    if (!r->has_snapshot)
        return true;
    input.snapshot = r->snapshot.json;
    if (!replay_open(replay, &input, err)) {
        r->result->unreadable += replay_error_is_of_source(err);
        return replay_error_is_of_source(err);
    }
    return take_response(reading, &is_read, err) &&
           (!is_read ||
            (make_expr(reading, err) && make_context(reading, err) && store_records(reading, err)));
}

bool reharvest_batch(struct reharvesting *r, const struct archived_batch *row, struct error *err)
{
    struct reading reading = { .r = r };
    bool found, ok;

    arena_reset(&r->page);
    if (!store_batch_get(r->store, &r->page, row->run_id, row->number, &reading.batch, &found, err))
        return false;
    ok = !found || read_response(&reading, err);
    replay_close(&reading.replay);
    return ok;
}
