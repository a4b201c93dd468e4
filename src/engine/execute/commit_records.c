/* Sorts, judges and writes the records of a batch. */
#include "engine/execute/commit_records.h"

#include <stdlib.h>

#include "core/lane.h"
#include "core/overwrite.h"
#include "engine/execute/record_event.h"

struct records_item {
    const struct record *record;
    bool has_hash;
    char hash[HASH_HEX_MAX];
};

struct records_write { /* an item that is new or newer */
    struct records_item *item;
    struct record_write row; /* all but its hash, which is made when it is written */
    const char *event_type;
};

/* ---- the walk's ---- */

static bool hash_of_fetch(struct records_reader *reader, const struct record *record,
                          char hex[HASH_HEX_MAX], struct error *err)
{
    return fetch_record_hash(((struct fetch_records *)reader)->fetch, record, hex, err);
}

static bool fields_of_fetch(struct records_reader *reader, const struct record *record,
                            struct arena *arena, struct str *json, struct error *err)
{
    return fetch_record_fields(((struct fetch_records *)reader)->fetch, record, arena, json, err);
}

struct fetch_records fetch_records_of(struct fetch *fetch)
{
    return (struct fetch_records){ { hash_of_fetch, fields_of_fetch }, fetch };
}

/* ---- one state of each id ---- */

static struct overwrite_state incoming_of(const struct record *record)
{
    return (struct overwrite_state){ .has_date = record->has_updated_at,
                                     .date_us = record->updated_at_us,
                                     .is_coarse = record->precision < DATE_SECOND,
                                     .version = record->version,
                                     .is_deleted = record->is_deleted };
}

static int by_id(const void *a, const void *b)
{
    const struct record *left = ((const struct records_item *)a)->record;
    const struct record *right = ((const struct records_item *)b)->record;
    const int order = str_cmp(left->provider_id, right->provider_id);

    return order != 0 ? order : (left > right) - (left < right);
}

/* Of two states, the first and the later one. Where the rules give no order, the later one counts.
 */
static bool replaces(const struct record *first, const struct record *second)
{
    const struct overwrite_state stored = incoming_of(first);
    const struct overwrite_state incoming = incoming_of(second);
    const enum overwrite judgement = overwrite_judge(&stored, &incoming);

    return judgement == OVERWRITE_NEWER || judgement == OVERWRITE_CONTENT;
}

bool records_init(struct records *records, const struct fetch_batch *batch, struct error *err)
{
    struct records_item *items =
        ARENA_ARRAY(records->arena, struct records_item, batch->record_count);

    records->items = items;
    records->ids = ARENA_ARRAY(records->arena, struct str, batch->record_count);
    if (records->items == NULL || records->ids == NULL)
        return arena_error(records->arena, err);
    for (size_t i = 0; i < batch->record_count; i++)
        items[i].record = &batch->records[i];
    qsort(items, batch->record_count, sizeof(items[0]), by_id);
    records->count = 0;
    for (size_t i = 0; i < batch->record_count; i++) {
        struct records_item *last = records->count > 0 ? &items[records->count - 1] : NULL;

        if (last == NULL || !str_eq(last->record->provider_id, items[i].record->provider_id))
            items[records->count++].record = items[i].record;
        else if (replaces(last->record, items[i].record))
            last->record = items[i].record;
    }
    for (size_t i = 0; i < records->count; i++)
        records->ids[i] = items[i].record->provider_id;
    records->twice = (int64_t)(batch->record_count - records->count);
    return true;
}

/* ---- the judgement ---- */

/* Once per batch, however often it is judged, and only where it is needed. */
static bool hash_item(struct records *records, struct records_item *item, struct error *err)
{
    if (!item->has_hash && !records->reader->hash(records->reader, item->record, item->hash, err))
        return error_wrap(err, "hash record %.*s", STR_ARG(item->record->provider_id));
    item->has_hash = true;
    return true;
}

static bool judge_item(struct records *records, struct records_item *item,
                       const struct record_state *state, enum overwrite *judgement,
                       struct error *err)
{
    const struct overwrite_state incoming = incoming_of(item->record);
    const struct overwrite_state stored = { .has_date = state->has_updated,
                                            .date_us = state->updated_us,
                                            .version = state->provider_version,
                                            .is_deleted = state->is_deleted };

    *judgement = overwrite_judge(state->id != 0 ? &stored : NULL, &incoming);
    if (*judgement != OVERWRITE_CONTENT)
        return true;
    if (!hash_item(records, item, err))
        return false;
    *judgement =
        str_eq(str_of(item->hash), state->content_hash) ? OVERWRITE_UNCHANGED : OVERWRITE_NEWER;
    return true;
}

/* A tombstone without a date or version keeps those of the deleted record: only a later state is
 * an undelete. */
static struct record_write row_of(const struct record *record, const struct record_state *state)
{
    struct record_write row = { .id = state->id,
                                .version = state->version + 1,
                                .provider_id = record->provider_id,
                                .has_updated = record->has_updated_at,
                                .updated_us = record->updated_at_us,
                                .provider_version = record->version,
                                .is_deleted = record->is_deleted,
                                .payload = record->payload };

    if (record->is_deleted && !record->has_updated_at) {
        row.has_updated = state->has_updated;
        row.updated_us = state->updated_us;
    }
    if (record->is_deleted && record->version.len == 0)
        row.provider_version = state->provider_version;
    return row;
}

static const char *event_type_of(const struct record *record, const struct record_state *state)
{
    if (record->is_deleted)
        return "RecordDeleted";
    return state->id == 0 || state->is_deleted ? "RecordCreated" : "RecordUpdated";
}

static void count_write(const struct record *record, const struct record_state *state,
                        struct commit_result *result)
{
    if (record->is_deleted)
        result->deleted++;
    else if (state->id == 0)
        result->created++;
    else
        result->updated++;
}

static void see_date(const struct record *record, struct commit_result *result)
{
    if (!record->has_updated_at ||
        (result->has_latest && record->updated_at_us <= result->latest_us))
        return;
    result->has_latest = true;
    result->latest_us = record->updated_at_us;
}

static bool make_lists(struct records *records, struct error *err)
{
    records->writes = ARENA_ARRAY(records->arena, struct records_write, records->count);
    records->touches = ARENA_ARRAY(records->arena, int64_t, records->count);
    records->current = ARENA_ARRAY(records->arena, struct str, records->count);
    records->write_count = 0;
    records->touch_count = 0;
    records->current_count = 0;
    return !records->arena->failed || arena_error(records->arena, err);
}

/* As struct record_changes demands. */
static int in_writing_order(const void *a, const void *b)
{
    const struct record_write *left = &((const struct records_write *)a)->row;
    const struct record_write *right = &((const struct records_write *)b)->row;

    if ((left->id == 0) != (right->id == 0))
        return left->id == 0 ? -1 : 1;
    if (left->id == 0)
        return str_cmp(left->provider_id, right->provider_id);
    return (left->id > right->id) - (left->id < right->id);
}

bool records_judge(struct records *records, const struct record_context *context,
                   struct commit_result *result, struct error *err)
{
    struct record_state *states = ARENA_ARRAY(records->arena, struct record_state, records->count);
    enum overwrite judgement;

    result->unchanged = records->twice;
    if (records->count == 0)
        return true;
    if (states == NULL || !make_lists(records, err))
        return arena_error(records->arena, err);
    if (!store_record_check(records->store, records->arena, context, records->ids, records->count,
                            states, err))
        return false;
    for (size_t i = 0; i < records->count; i++) {
        struct records_item *item = &records->items[i];

        see_date(item->record, result);
        if (!judge_item(records, item, &states[i], &judgement, err))
            return false;
        if (judgement == OVERWRITE_OLDER) {
            result->older++;
            if (records->touches_older)
                records->touches[records->touch_count++] = states[i].id;
            continue;
        }
        records->current[records->current_count++] = item->record->provider_id;
        if (judgement == OVERWRITE_UNCHANGED) {
            result->unchanged++;
            records->touches[records->touch_count++] = states[i].id;
        } else {
            count_write(item->record, &states[i], result);
            records->writes[records->write_count++] =
                (struct records_write){ item, row_of(item->record, &states[i]),
                                        event_type_of(item->record, &states[i]) };
        }
    }
    qsort(records->writes, records->write_count, sizeof(records->writes[0]), in_writing_order);
    return true;
}

/* ---- writing ---- */

struct changes {
    struct record_changes port; /* first */
    struct records *records;
    const struct record_context *context;
    struct str aggregate_type;
    struct uuid_state *ids;
    unsigned char *chance; /* UUID_RANDOM_BYTES for each */
    size_t taken;
};

static bool make_event_id(struct changes *changes, struct str *id, struct error *err)
{
    const unsigned char *chance = changes->chance + changes->taken * UUID_RANDOM_BYTES;
    char *text = arena_alloc_raw(changes->records->arena, UUID_TEXT_MAX);

    if (text == NULL)
        return arena_error(changes->records->arena, err);
    uuid_format(uuid_make(changes->ids, changes->context->now_us, chance), text);
    *id = (struct str){ text, UUID_TEXT_MAX - 1 };
    return true;
}

static bool make_event(struct changes *changes, const struct records_write *write,
                       struct outbox_event *event, struct error *err)
{
    struct records *records = changes->records;
    const struct record *record = write->item->record;
    struct record_event about = { .context = changes->context,
                                  .write = &write->row,
                                  .type = write->event_type,
                                  .merged_into = record->merged_into };

    if (!record->is_deleted &&
        !records->reader->fields(records->reader, record, records->arena, &about.fields, err))
        return error_wrap(err, "fields of record %.*s", STR_ARG(record->provider_id));
    event->aggregate_type = changes->aggregate_type;
    event->lane = lane_of(changes->aggregate_type, record->provider_id);
    return make_event_id(changes, &event->event_id, err) &&
           record_event_make(&about, records->arena, event, err);
}

static bool next_change(struct record_changes *port, struct record_change *change,
                        struct error *err)
{
    struct changes *changes = (struct changes *)port;
    struct records_write *write = &changes->records->writes[changes->taken];

    if (!hash_item(changes->records, write->item, err))
        return false;
    write->row.content_hash = str_of(write->item->hash);
    change->record = write->row;
    if (!make_event(changes, write, &change->event, err))
        return false;
    changes->taken++;
    return true;
}

static bool write_changes(struct records *records, const struct record_context *context,
                          struct random_source *random, struct uuid_state *ids, bool *is_written,
                          struct error *err)
{
    const size_t chance_size = records->write_count * UUID_RANDOM_BYTES;
    struct changes changes = { .port = { next_change, records->write_count },
                               .records = records,
                               .context = context,
                               .aggregate_type = record_event_place(records->arena, context),
                               .ids = ids,
                               .chance = arena_alloc_raw(records->arena, chance_size) };

    if (records->arena->failed)
        return arena_error(records->arena, err);
    random_source_bytes(random, changes.chance, chance_size);
    return store_record_write(records->store, context, &changes.port, is_written, err);
}

bool records_write(struct records *records, const struct record_context *context,
                   struct random_source *random, struct uuid_state *ids, bool *is_written,
                   struct error *err)
{
    *is_written = true;
    if (records->write_count > 0 && !write_changes(records, context, random, ids, is_written, err))
        return false;
    return !*is_written || records->touch_count == 0 ||
           store_record_touch(records->store, context, records->touches, records->touch_count, err);
}
