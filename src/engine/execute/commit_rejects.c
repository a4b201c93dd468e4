/* Bad records and lost ids of a batch: signals, checks, quarantine. */
#include "engine/execute/commit_rejects.h"

#include <stdlib.h>

#include "core/limits.h"
#include "port/store_quarantine.h"

/* A text that is not valid UTF-8 is left out. */
static struct str text_or_nothing(struct str text)
{
    return store_text_ok(text) ? text : STR("");
}

/* ---- signals ---- */

static int signal_by_id(const void *a, const void *b)
{
    return str_cmp(((const struct signal *)a)->provider_id,
                   ((const struct signal *)b)->provider_id);
}

/* It was requested by its id, and the source no longer has it. */
static bool is_gone(const struct rejects *rejects, const struct fetch_lost_id *lost)
{
    return rejects->is_by_id && fetch_lost_is_gone(lost->reason);
}

/* Whether a bad record should be fetched again. One that was requested by its id has just been. */
static bool is_signal(const struct rejects *rejects, struct str id)
{
    return !rejects->is_by_id && id.len > 0 && id.len <= PROVIDER_ID_MAX && store_text_ok(id);
}

/* What should be fetched again: bad records that have an id, and ids that gave no record. */
bool rejects_init(struct rejects *rejects, const struct record_context *context, struct error *err)
{
    const struct fetch_batch *batch = rejects->batch;
    const struct signal common = { .source = context->source,
                                   .endpoint = context->endpoint,
                                   .created_by = COMMIT_BY,
                                   .created_us = context->now_us };
    struct signal *signals =
        ARENA_ARRAY(rejects->arena, struct signal, batch->bad_count + batch->lost_count);

    if (signals == NULL)
        return arena_error(rejects->arena, err);
    rejects->signals = signals;
    rejects->signal_count = 0;
    for (size_t i = 0; i < batch->bad_count; i++) {
        if (!is_signal(rejects, batch->bad[i].provider_id))
            continue;
        signals[rejects->signal_count] = common;
        signals[rejects->signal_count].provider_id = batch->bad[i].provider_id;
        signals[rejects->signal_count++].reason = str_of(batch->bad[i].reason);
    }
    for (size_t i = 0; i < batch->lost_count; i++) {
        if (is_gone(rejects, &batch->lost[i]))
            continue;
        signals[rejects->signal_count] = common;
        signals[rejects->signal_count].provider_id = batch->lost[i].id;
        signals[rejects->signal_count].http_status = batch->lost[i].status;
        signals[rejects->signal_count].detail = text_or_nothing(batch->lost[i].detail);
        signals[rejects->signal_count++].reason =
            str_of(fetch_lost_reason_name(batch->lost[i].reason));
    }
    qsort(signals, rejects->signal_count, sizeof(signals[0]), signal_by_id);
    return true;
}

bool rejects_signal(const struct rejects *rejects, int64_t *added, struct error *err)
{
    *added = 0;
    return rejects->signal_count == 0 ||
           store_signal_add(rejects->store, rejects->signals, rejects->signal_count, added, err);
}

/* ---- requested by id ---- */

/* Ids that were requested and gave no record that could be stored: deleted, or bad. */
static size_t list_seen(const struct rejects *rejects, struct str *ids)
{
    const struct fetch_batch *batch = rejects->batch;
    size_t count = 0;

    if (!rejects->is_by_id)
        return 0;
    for (size_t i = 0; i < batch->lost_count; i++) {
        if (is_gone(rejects, &batch->lost[i]))
            ids[count++] = batch->lost[i].id;
    }
    for (size_t i = 0; i < batch->bad_count; i++) {
        if (batch->bad[i].provider_id.len > 0 && store_text_ok(batch->bad[i].provider_id))
            ids[count++] = batch->bad[i].provider_id;
    }
    return count;
}

/* They were checked nevertheless. Unless they are marked as checked they stay the stalest of all,
 * and come first in every update. */
static bool touch_seen(const struct rejects *rejects, const struct record_context *context,
                       struct error *err)
{
    const size_t most = rejects->batch->lost_count + rejects->batch->bad_count;
    struct str *ids = ARENA_ARRAY(rejects->arena, struct str, most);
    struct record_state *states = ARENA_ARRAY(rejects->arena, struct record_state, most);
    int64_t *here = ARENA_ARRAY(rejects->arena, int64_t, most);
    size_t here_count = 0;
    size_t count;

    if (ids == NULL || states == NULL || here == NULL)
        return arena_error(rejects->arena, err);
    count = list_seen(rejects, ids);
    if (count == 0)
        return true;
    if (!store_record_check(rejects->store, rejects->arena, context,
                            (struct record_ids){ ids, count }, states, err))
        return false;
    for (size_t i = 0; i < count; i++) {
        if (states[i].id != 0)
            here[here_count++] = states[i].id;
    }
    return here_count == 0 || store_record_touch(rejects->store, context, here, here_count, err);
}

/* ---- quarantine ---- */

static bool add_quarantine(const struct rejects *rejects, const struct record_context *context,
                           struct error *err)
{
    const struct fetch_batch *batch = rejects->batch;
    struct quarantined *rows = ARENA_ARRAY(rejects->arena, struct quarantined, batch->bad_count);
    int64_t added;

    if (batch->bad_count == 0)
        return true;
    if (rows == NULL)
        return arena_error(rejects->arena, err);
    for (size_t i = 0; i < batch->bad_count; i++)
        rows[i] = (struct quarantined){ .source = context->source,
                                        .endpoint = context->endpoint,
                                        .provider_id = text_or_nothing(batch->bad[i].provider_id),
                                        .reason = str_of(batch->bad[i].reason),
                                        .detail = text_or_nothing(batch->bad[i].detail),
                                        .position = (int64_t)batch->bad[i].position,
                                        .lineage = context->lineage,
                                        .observed_us = context->observed_us,
                                        .created_us = context->now_us,
                                        .payload = batch->bad[i].payload };
    return store_quarantine_add(rejects->store, rows, batch->bad_count, &added, err);
}

bool rejects_write(const struct rejects *rejects, const struct record_context *context,
                   struct error *err)
{
    return touch_seen(rejects, context, err) && add_quarantine(rejects, context, err);
}
