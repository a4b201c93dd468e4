/* slice_spec: the canonical JSON of a slice, its signature, and the identity of a task. */
#include "core/slice_spec.h"

#include "base/instant.h"
#include "core/canon.h"

static void write_time(struct canon *canon, const char *key, struct window window)
{
    canon_object(canon, key);
    canon_instant(canon, "from", window.from_us);
    canon_instant(canon, "to", window.to_us);
    canon_close(canon);
}

static void write_pages(struct canon *canon, const struct slice_spec *spec)
{
    canon_object(canon, "page");
    canon_bool(canon, "base1", spec->is_base1);
    canon_i64(canon, "fromPage", spec->slice->pages.from);
    if (spec->page_size > 0)
        canon_i64(canon, "pageSize", spec->page_size);
    canon_i64(canon, "toPage", spec->slice->pages.to);
    canon_close(canon);
}

static void write_ids(struct canon *canon, const struct slice_ids *ids)
{
    canon_object(canon, "id");
    if (ids->slicing == ID_SLICING_HASH) {
        canon_i64(canon, "hashBucket", ids->bucket);
        canon_i64(canon, "hashBuckets", ids->bucket_count);
    } else {
        canon_id(canon, "from", ids->from);
        canon_id(canon, "to", ids->to);
    }
    canon_close(canon);
}

static void write_part(struct canon *canon, struct id_range part)
{
    if (!id_range_is_valid(part))
        return;
    canon_object(canon, "id");
    if (part.from != ID_LOWEST)
        canon_id(canon, "from", part.from);
    if (part.to != ID_HIGHEST)
        canon_id(canon, "to", part.to);
    canon_close(canon);
}

static void write_feed(struct canon *canon, const struct slice_feed *feed)
{
    canon_object(canon, "feed");
    if (feed->after.data != NULL)
        canon_str(canon, "after", feed->after);
    if (feed->has_bridge)
        canon_instant(canon, "bridge", feed->bridge_us);
    if (feed->cursor.data != NULL)
        canon_str(canon, "cursor", feed->cursor);
    canon_code(canon, "type", &CURSOR_TYPE_CODES, (int)feed->type);
    canon_close(canon);
}

static void write_bounds(struct canon *canon, const struct slice_spec *spec)
{
    canon_object(canon, "bounds");
    switch (spec->slice->dimension) {
    case SLICE_TIME:
        write_part(canon, spec->slice->part);
        write_time(canon, "time", spec->slice->window);
        break;
    case SLICE_PAGE:
        write_pages(canon, spec);
        break;
    case SLICE_ID:
        write_ids(canon, &spec->slice->ids);
        break;
    case SLICE_FEED:
        write_feed(canon, &spec->slice->feed);
        break;
    case SLICE_FILE:
        canon_object(canon, "file");
        canon_str(canon, "name", spec->slice->file);
        canon_close(canon);
        break;
    }
    canon_close(canon);
}

static void write_budget(struct canon *canon, const struct slice_spec *spec)
{
    canon_object(canon, "budget");
    if (spec->duration_max_us > 0)
        canon_i64(canon, "maxDurationSec", spec->duration_max_us / US_PER_SECOND);
    if (spec->requests_max > 0)
        canon_i64(canon, "maxRequests", spec->requests_max);
    canon_i64(canon, "priority", spec->priority);
    canon_close(canon);
}

static void write_pagination(struct canon *canon, const struct slice_spec *spec)
{
    canon_object(canon, "pagination");
    canon_object(canon, "initial");
    switch (spec->pagination) {
    case PAGINATION_OFFSET:
        canon_i64(canon, "offset", spec->initial_offset);
        break;
    case PAGINATION_PAGE:
        canon_i64(canon, "page", spec->initial_page);
        break;
    case PAGINATION_TOKEN:
        if (spec->initial.len > 0)
            canon_str(canon, "token", spec->initial);
        break;
    case PAGINATION_URL:
        if (spec->initial.len > 0)
            canon_str(canon, "url", spec->initial);
        break;
    case PAGINATION_TIME:
    case PAGINATION_SINGLE:
    case PAGINATION_ID:
        break;
    }
    canon_close(canon);
    canon_code(canon, "type", &PAGINATION_TYPE_CODES, (int)spec->pagination);
    canon_close(canon);
}

static void write_phase(struct canon *canon, const struct slice_spec *spec)
{
    canon_object(canon, "phase");
    if (spec->is_two_phase)
        canon_i64(canon, "idBatchSize", spec->id_batch_size);
    canon_bool(canon, "twoPhase", spec->is_two_phase);
    canon_close(canon);
}

static void write_query(struct canon *canon, const struct slice_query *query)
{
    canon_object(canon, "query");
    canon_bool(canon, "clientFilter", query->needs_filter);
    canon_instant(canon, "from", query->window.from_us);
    canon_instant(canon, "keepFrom", query->keep.from_us);
    canon_instant(canon, "keepTo", query->keep.to_us);
    canon_instant(canon, "to", query->window.to_us);
    canon_close(canon);
}

static void write_telemetry(struct canon *canon, const struct slice_spec *spec)
{
    canon_object(canon, "telemetry");
    if (spec->comment.len > 0)
        canon_str(canon, "comment", spec->comment);
    if (spec->slice->expected_requests != SLICE_UNKNOWN)
        canon_i64(canon, "requestsExpected", spec->slice->expected_requests);
    if (spec->slice->expected_records != SLICE_UNKNOWN)
        canon_i64(canon, "totalEstimated", spec->slice->expected_records);
    canon_close(canon);
}

static void write_window(struct canon *canon, const struct slice_spec *spec, bool has_lag)
{
    canon_object(canon, "window");
    if (has_lag)
        canon_duration(canon, "safetyLag", spec->lag_us);
    if (spec->watermark_key.len > 0)
        canon_str(canon, "watermarkKey", spec->watermark_key);
    canon_close(canon);
}

/* The signature leaves out what does not change the records that are fetched. */
static void write_spec(struct canon *canon, const struct slice_spec *spec, bool is_signature)
{
    write_bounds(canon, spec);
    if (!is_signature)
        write_budget(canon, spec);
    canon_code(canon, "dimension", &SLICE_DIMENSION_CODES, (int)spec->slice->dimension);
    write_pagination(canon, spec);
    write_phase(canon, spec);
    if (spec->slice->dimension == SLICE_TIME)
        write_query(canon, &spec->slice->query);
    if (!is_signature)
        write_telemetry(canon, spec);
    write_window(canon, spec, !is_signature);
}

void slice_spec_write(const struct slice_spec *spec, struct buf *out)
{
    struct canon canon = canon_begin(out);

    write_spec(&canon, spec, false);
    canon_end(&canon);
}

void slice_signature_write(const struct slice_identity *identity, const struct slice_spec *spec,
                           struct buf *out)
{
    struct canon canon = canon_begin(out);

    canon_str(&canon, "endpoint", identity->endpoint);
    canon_str(&canon, "exprHash", identity->expr_hash);
    canon_code(&canon, "operation", &OPERATION_CODES, (int)identity->operation);
    canon_str(&canon, "source", identity->source);
    canon_object(&canon, "spec");
    write_spec(&canon, spec, true);
    canon_close(&canon);
    canon_end(&canon);
}

void task_identity_write(const struct task_identity *identity, struct buf *out)
{
    struct canon canon = canon_begin(out);

    canon_str(&canon, "exprHash", identity->expr_hash);
    canon_i64(&canon, "generation", identity->generation);
    canon_code(&canon, "operation", &OPERATION_CODES, (int)identity->operation);
    canon_str(&canon, "paramsHash", identity->params_hash);
    canon_str(&canon, "purpose", identity->purpose);
    canon_str(&canon, "sliceSignature", identity->slice_signature);
    canon_end(&canon);
}
