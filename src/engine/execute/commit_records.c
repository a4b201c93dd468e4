/* Judging the records of a batch, and writing those that changed. */
#include "engine/execute/commit_records.h"

#include <inttypes.h>
#include <stdlib.h>
#include <string.h>

#include "core/overwrite.h"
#include "port/store_quarantine.h"

/* ---- one state of each id ---- */

static struct overwrite_state incoming_of(const struct record *record, int64_t observed_us)
{
    return (struct overwrite_state){ .has_date = record->has_updated_at,
                                     .date_us = record->updated_at_us,
                                     .version = record->version,
                                     .is_deleted = record->is_deleted,
                                     .observed_us = observed_us };
}

static int by_id(const void *a, const void *b)
{
    const struct record *left = *(const struct record *const *)a;
    const struct record *right = *(const struct record *const *)b;
    const int order = str_cmp(left->provider_id, right->provider_id);

    return order != 0 ? order : (left > right) - (left < right);
}

/* Of two states of one response, in its order. Where the rules do not decide, the later one counts.
 */
static bool replaces(const struct record *first, const struct record *second)
{
    const struct overwrite_state stored = incoming_of(first, 0);
    const struct overwrite_state incoming = incoming_of(second, 0);
    const enum overwrite judgement = overwrite_judge(&stored, &incoming);

    return judgement == OVERWRITE_NEWER || judgement == OVERWRITE_CONTENT;
}

bool records_init(struct records *records, const struct fetch_batch *batch, struct error *err)
{
    const struct record **items =
        ARENA_ARRAY(records->arena, const struct record *, batch->record_count);

    records->items = items;
    records->hashes = ARENA_ARRAY(records->arena, struct str, batch->record_count);
    records->ids = ARENA_ARRAY(records->arena, struct str, batch->record_count);
    records->kinds = ARENA_ARRAY(records->arena, enum batch_item_kind, batch->record_count);
    if (records->arena->failed)
        return arena_error(records->arena, err);
    for (size_t i = 0; i < batch->record_count; i++)
        items[i] = &batch->records[i];
    qsort(items, batch->record_count, sizeof(items[0]), by_id);
    records->count = 0;
    for (size_t i = 0; i < batch->record_count; i++) {
        const struct record **last = records->count > 0 ? &items[records->count - 1] : NULL;

        if (last == NULL || !str_eq((*last)->provider_id, items[i]->provider_id))
            items[records->count++] = items[i];
        else if (replaces(*last, items[i]))
            *last = items[i];
    }
    for (size_t i = 0; i < records->count; i++)
        records->ids[i] = items[i]->provider_id;
    records->twice = (int64_t)(batch->record_count - records->count);
    return true;
}

/* ---- the judgement ---- */

/* Once per batch, however often it is judged, and only where it is needed. */
static bool hash_item(struct records *records, size_t i, struct error *err)
{
    char *hex;

    if (records->hashes[i].data == NULL)
        records->hashes[i] = records->items[i]->hash;
    if (records->hashes[i].data != NULL)
        return true;
    hex = arena_alloc_raw(records->arena, HASH_HEX_MAX);
    if (hex == NULL)
        return arena_error(records->arena, err);
    if (!record_hash(&records->origin, records->items[i], hex, err))
        return error_wrap(err, "hash record %.*s", STR_ARG(records->ids[i]));
    records->hashes[i] = str_of(hex);
    return true;
}

/* The hash of a dated record is that of its bytes. Where the bytes differ, JSON may say the same in
 * another form: members in another order, other blanks. This is rare, so it may cost a read.
 * Without a hash, what is stored is to be replaced, and may be broken. */
static bool is_same_form(struct records *records, size_t i, const struct record_context *context,
                         bool is_known, bool *is_same, struct error *err)
{
    const struct record_key key = { context->source, context->endpoint, records->ids[i] };
    struct stored_record stored;
    bool found;

    *is_same = false;
    if (!is_known || record_hash_is_canonical(&records->origin))
        return true;
    if (!store_record_get(records->store, records->arena, &key, &stored, &found, err))
        return false;
    return !found || record_is_same(&records->origin, records->items[i], stored.payload,
                                    records->arena, is_same, err);
}

static bool judge_content(struct records *records, size_t i, const struct record_context *context,
                          const struct record_state *state, bool *is_same, struct error *err)
{
    if (!hash_item(records, i, err))
        return false;
    *is_same = str_eq(records->hashes[i], state->content_hash);
    return *is_same || is_same_form(records, i, context, state->content_hash.len > 0, is_same, err);
}

/* As it is stored. A date that was not believable when it was last observed, nor is now, is none.
 */
static struct overwrite_state stored_of(const struct records *records,
                                        const struct record_state *state, int64_t observed_us)
{
    const int64_t latest_us = observed_us > state->observed_us ? observed_us : state->observed_us;

    return (struct overwrite_state){
        .has_date = state->has_updated &&
                    record_date_is_believed(records->origin.reader, state->updated_us, latest_us),
        .date_us = state->updated_us,
        .version = state->provider_version,
        .is_deleted = state->is_deleted,
        .observed_us = state->observed_us,
    };
}

static bool judge_item(struct records *records, size_t i, const struct record_context *context,
                       const struct record_state *state, enum overwrite *judgement,
                       struct error *err)
{
    const struct overwrite_state incoming = incoming_of(records->items[i], context->observed_us);
    const struct overwrite_state stored = stored_of(records, state, context->observed_us);
    bool is_same;

    *judgement = overwrite_judge(state->id != 0 ? &stored : NULL, &incoming);
    if (*judgement != OVERWRITE_CONTENT)
        return true;
    if (!judge_content(records, i, context, state, &is_same, err))
        return false;
    *judgement = is_same ? OVERWRITE_UNCHANGED : OVERWRITE_NEWER;
    return true;
}

static enum batch_item_kind count_change(const struct record *record,
                                         const struct record_state *state,
                                         struct commit_result *result)
{
    if (record->is_deleted) {
        result->deleted++;
        return BATCH_ITEM_DELETED;
    }
    if (state->id == 0) {
        result->created++;
        return BATCH_ITEM_NEW;
    }
    result->updated++;
    result->same_date += record->has_updated_at && state->has_updated &&
                         record->updated_at_us == state->updated_us &&
                         str_eq(record->version, state->provider_version);
    return BATCH_ITEM_CHANGED;
}

static bool is_late(const struct records *records, const struct record *record)
{
    const struct maybe_instant before = records->late_before;

    return before.is_set && (before.at_us == INT64_MAX ||
                             (record->has_updated_at && record->updated_at_us < before.at_us));
}

static void see_date(const struct record *record, struct commit_result *result)
{
    if (!record->has_updated_at ||
        (result->has_latest && record->updated_at_us <= result->latest_us))
        return;
    result->has_latest = true;
    result->latest_us = record->updated_at_us;
}

/* ---- changes ---- */

/* A tombstone without a date or version keeps those of the record it ends: only what comes after
 * that is an undelete. */
static struct record_write row_of(const struct record *record, const struct record_state *state,
                                  int64_t observed_us)
{
    struct record_write row = { .id = state->id,
                                .version = state->version + 1,
                                .provider_id = record->provider_id,
                                .has_updated = record->has_updated_at,
                                .updated_us = record->updated_at_us,
                                .provider_version = record->version,
                                .is_deleted = record->is_deleted,
                                .was_deleted = state->is_deleted,
                                .observed_us = observed_us,
                                .payload = record->payload };

    if (record->is_deleted && !record->has_updated_at) {
        row.has_updated = state->has_updated;
        row.updated_us = state->updated_us;
    }
    if (record->is_deleted && record->version.len == 0)
        row.provider_version = state->provider_version;
    return row;
}

static struct str event_type_of(const struct record *record, const struct record_state *state)
{
    if (record->is_deleted)
        return RECORD_EVENT_DELETED;
    return state->id == 0 || state->is_deleted ? STR("RecordCreated") : STR("RecordUpdated");
}

static bool add_change(struct records *records, size_t i, const struct record_context *context,
                       const struct record_state *state, struct error *err)
{
    const struct record *record = records->items[i];
    struct record_origin origin = records->origin;
    struct record_change *change = &records->changes[records->change_count];

    if (!hash_item(records, i, err))
        return false;
    *change = (struct record_change){ .record = row_of(record, state, context->observed_us) };
    change->record.content_hash = records->hashes[i];
    change->event.event_type = event_type_of(record, state);
    origin.arena = records->arena;
    if (!record_event_make(change, context, &records->cause, &origin, record, err) ||
        (records->pack != NULL &&
         !payload_pack_row(records->pack, records->arena, &change->record, err)))
        return false;
    records->change_count++;
    return true;
}

static int in_writing_order(const void *a, const void *b)
{
    const struct record_write *left = &((const struct record_change *)a)->record;
    const struct record_write *right = &((const struct record_change *)b)->record;

    if ((left->id == 0) != (right->id == 0))
        return left->id == 0 ? -1 : 1;
    if (left->id == 0)
        return str_cmp(left->provider_id, right->provider_id);
    return (left->id > right->id) - (left->id < right->id);
}

/* Event ids go up in the order of writing. */
static bool finish_changes(struct records *records, const struct record_context *context,
                           struct error *err)
{
    const struct str aggregate_type = record_event_aggregate(records->arena, context);
    const struct record_event_ids ids = { .arena = records->arena,
                                          .random = records->random,
                                          .state = records->event_ids,
                                          .now_us = context->now_us };

    if (aggregate_type.data == NULL)
        return arena_error(records->arena, err);
    qsort(records->changes, records->change_count, sizeof(records->changes[0]), in_writing_order);
    for (size_t i = 0; i < records->change_count; i++) {
        if (!record_event_name(&records->changes[i], &ids, aggregate_type, err))
            return false;
    }
    return true;
}

/* ---- all of them ---- */

static bool make_lists(struct records *records, struct error *err)
{
    records->changes = ARENA_ARRAY(records->arena, struct record_change, records->count);
    records->same = ARENA_ARRAY(records->arena, struct record_version, records->count);
    records->touches = ARENA_ARRAY(records->arena, int64_t, records->count);
    records->current = ARENA_ARRAY(records->arena, struct str, records->count);
    records->change_count = 0;
    records->same_count = 0;
    records->touch_count = 0;
    records->current_count = 0;
    return !records->arena->failed || arena_error(records->arena, err);
}

static bool sort_out(struct records *records, size_t i, const struct record_context *context,
                     const struct record_state *state, struct commit_result *result,
                     struct error *err)
{
    enum overwrite judgement;

    see_date(records->items[i], result);
    result->future += records->items[i]->is_future;
    if (!judge_item(records, i, context, state, &judgement, err))
        return false;
    if (judgement == OVERWRITE_OLDER) {
        result->older++;
        records->kinds[i] = BATCH_ITEM_OLDER;
        if (records->touches_older)
            records->touches[records->touch_count++] = state->id;
        return true;
    }
    records->current[records->current_count++] = records->ids[i];
    if (judgement == OVERWRITE_UNCHANGED) {
        result->unchanged++;
        records->kinds[i] = BATCH_ITEM_UNCHANGED;
        records->same[records->same_count++] = (struct record_version){ state->id, state->version };
        return true;
    }
    records->kinds[i] = count_change(records->items[i], state, result);
    result->late += is_late(records, records->items[i]);
    return add_change(records, i, context, state, err);
}

bool records_judge(struct records *records, const struct record_context *context,
                   struct commit_result *result, struct error *err)
{
    struct record_state *states = ARENA_ARRAY(records->arena, struct record_state, records->count);

    result->unchanged = records->twice;
    if (records->count == 0)
        return true;
    if (states == NULL || !make_lists(records, err))
        return arena_error(records->arena, err);
    if (!store_record_check(records->store, records->arena, context,
                            (struct record_ids){ records->ids, records->count }, states, err))
        return false;
    for (size_t i = 0; i < records->count; i++) {
        if (!sort_out(records, i, context, &states[i], result, err))
            return false;
    }
    return finish_changes(records, context, err);
}

void records_tell(const struct records *records, struct batch_item_writer *items)
{
    for (size_t i = 0; i < records->count; i++)
        batch_items_add(items, &(struct batch_item){ .kind = records->kinds[i],
                                                     .id = records->ids[i],
                                                     .hash = batch_item_hash(records->hashes[i]) });
}

/* ---- writing ---- */

static int by_number(const void *a, const void *b)
{
    const int64_t left = ((const struct record_version *)a)->id;
    const int64_t right = ((const struct record_version *)b)->id;

    return (left > right) - (left < right);
}

/* All records that are there, in the one order in which rows are locked. */
static bool lock_all(struct records *records, size_t new_count, struct error *err)
{
    const size_t changed = records->change_count - new_count;
    struct record_version *all =
        ARENA_ARRAY(records->arena, struct record_version, changed + records->same_count);

    if (all == NULL)
        return arena_error(records->arena, err);
    for (size_t i = 0; i < changed; i++)
        all[i].id = records->changes[new_count + i].record.id;
    for (size_t i = 0; i < records->same_count; i++)
        all[changed + i] = records->same[i];
    qsort(all, changed + records->same_count, sizeof(all[0]), by_number);
    return store_record_lock(records->store, all, changed + records->same_count, err);
}

static bool write_some(struct records *records, const struct record_context *context, size_t from,
                       size_t to, bool *is_written, struct error *err)
{
    return from == to || store_record_write(records->store, context, records->changes + from,
                                            to - from, is_written, err);
}

static bool write_changes(struct records *records, const struct record_context *context,
                          bool *is_written, struct error *err)
{
    size_t new_count = 0;

    for (size_t i = 0; i < records->change_count; i++)
        records->changes[i].event.batch_id = context->lineage.batch_id; /* known by now */
    if (!records->must_wait)
        return write_some(records, context, 0, records->change_count, is_written, err);
    while (new_count < records->change_count && records->changes[new_count].record.id == 0)
        new_count++;
    return write_some(records, context, 0, new_count, is_written, err) &&
           (!*is_written ||
            (lock_all(records, new_count, err) &&
             write_some(records, context, new_count, records->change_count, is_written, err)));
}

bool records_write(struct records *records, const struct record_context *context, bool *is_written,
                   struct error *err)
{
    struct store *store = records->store;

    *is_written = true;
    if (!write_changes(records, context, is_written, err))
        return false;
    if (*is_written && records->same_count > 0 &&
        !store_record_confirm(store, context, records->same, records->same_count, is_written, err))
        return false;
    return !*is_written || records->touch_count == 0 ||
           store_record_touch(store, context, records->touches, records->touch_count, err);
}

/* ---- quarantine ---- */

/* A record that was quarantined before and is valid now is resolved. A state older than the stored
 * one proves nothing: the bad one may be newer. */
bool records_resolve(const struct records *records, const struct record_context *context,
                     int64_t batch_no, struct error *err)
{
    struct quarantine_replace replace = { .source = context->source,
                                          .endpoint = context->endpoint,
                                          .provider_ids = records->current,
                                          .count = records->current_count,
                                          .observed_us = context->observed_us,
                                          .by = COMMIT_BY,
                                          .now_us = context->now_us };
    char note[128];
    int64_t resolved;

    if (records->current_count == 0)
        return true;
    (void)snprintf(note, sizeof(note),
                   "a valid record was received with task %" PRId64 ", run %" PRId64
                   ", batch %" PRId64,
                   context->lineage.task_id, context->lineage.run_id, batch_no);
    replace.note = str_of(note);
    return store_quarantine_replace(records->store, &replace, &resolved, err);
}
