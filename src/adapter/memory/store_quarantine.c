/* The quarantine, in memory. */
#include <stdlib.h>

#include "adapter/memory/store_base.h"
#include "base/list.h"

static bool position_key(const void *row, struct key *key)
{
    const struct quarantined *record = row;

    key_add_i64(key, record->lineage.batch_id);
    key_add_i64(key, record->position);
    return record->lineage.batch_id != 0;
}

const struct table_def MEMORY_QUARANTINE_TABLE = {
    .name = "ing_quarantine",
    .row_size = sizeof(struct quarantined_stored),
    .text_count = 8,
    .texts = { TEXT_DEF(struct quarantined_stored, record.source, TEXT_PLAIN),
               TEXT_DEF(struct quarantined_stored, record.endpoint, TEXT_PLAIN),
               TEXT_DEF(struct quarantined_stored, record.provider_id, TEXT_PLAIN),
               TEXT_DEF(struct quarantined_stored, record.reason, TEXT_PLAIN),
               TEXT_DEF(struct quarantined_stored, record.detail, TEXT_PLAIN),
               TEXT_DEF(struct quarantined_stored, record.resolved_by, TEXT_PLAIN),
               TEXT_DEF(struct quarantined_stored, record.note, TEXT_PLAIN),
               TEXT_DEF(struct quarantined_stored, record.payload, TEXT_BYTES) },
    .index_count = 1,
    .indexes = { { "uk_quarantine_place", true, position_key } },
};

static bool is_open(const struct quarantined_stored *row)
{
    return row != NULL && row->record.resolution == QUARANTINE_OPEN;
}

/* Put aside before, by another batch, and not read since. */
static bool is_known(const struct memory_db *db, const struct quarantined *record)
{
    const struct table *table = &db->tables[MEMORY_QUARANTINE];

    for (int64_t id = 1; id < table->next_id; id++) {
        const struct quarantined_stored *row = table_get(table, id);

        if (row != NULL && (is_open(row) || row->record.resolution == QUARANTINE_DROPPED) &&
            row->record.lineage.batch_id != record->lineage.batch_id &&
            str_eq(row->record.source, record->source) &&
            str_eq(row->record.endpoint, record->endpoint) &&
            str_eq(row->record.provider_id, record->provider_id) &&
            str_eq(row->record.reason, record->reason) &&
            str_eq(row->record.payload, record->payload))
            return true;
    }
    return false;
}

static bool add_quarantined(struct memory_db *db, const struct quarantined *record, int64_t *added,
                            struct error *err)
{
    struct quarantined_stored row = { .record = *record };
    struct key key = { 0 };
    bool is_new;
    int64_t id;

    row.record.bytes = (int64_t)record->payload.len;
    row.record.resolution = QUARANTINE_OPEN;
    row.record.resolved_us = 0;
    row.record.resolved_by = row.record.note = STR("");
    is_new = !is_known(db, record) && (!position_key(&row, &key) ||
                                       table_find(&db->tables[MEMORY_QUARANTINE], 0, &key) == NULL);
    key_release(&key);
    *added += is_new;
    return !is_new || (memory_check(record->source.len > 0, "source", err) &&
                       memory_check(record->reason.len > 0, "reason", err) &&
                       memory_insert(db, MEMORY_QUARANTINE, &row, &id, err));
}

static bool quarantine_add(struct store *store, const struct quarantined *records, size_t count,
                           int64_t *added, struct error *err)
{
    struct memory_call call;
    bool ok = true;

    *added = 0;
    if (!memory_enter(&call, store, "quarantine_add", err))
        return false;
    for (size_t i = 0; i < count && ok; i++)
        ok = add_quarantined(call.db, &records[i], added, err);
    return memory_leave(&call, ok, err);
}

static bool is_meant(struct str wanted, struct str text)
{
    return wanted.len == 0 || str_eq(wanted, text);
}

static bool give(struct memory_db *db, const struct quarantined_stored *row, struct arena *arena,
                 struct quarantined *record, struct error *err)
{
    struct quarantined_stored given;

    if (!memory_give(db, MEMORY_QUARANTINE, row, arena, &given, err))
        return false;
    *record = given.record;
    return true;
}

static bool list_rows(struct memory_db *db, struct arena *arena,
                      const struct quarantine_filter *filter, struct quarantined_list *list,
                      struct error *err)
{
    const struct table *table = &db->tables[MEMORY_QUARANTINE];

    for (int64_t id = filter->after_id + 1;
         id < table->next_id && (int64_t)list->count < filter->limit; id++) {
        const struct quarantined_stored *row = table_get(table, id);
        struct quarantined *record;

        if (row == NULL || (!is_open(row) && !filter->with_resolved) ||
            !is_meant(filter->source, row->record.source) ||
            !is_meant(filter->endpoint, row->record.endpoint) ||
            !is_meant(filter->reason, row->record.reason))
            continue;
        record = LIST_ADD(arena, list);
        if (record == NULL)
            return arena_error(arena, err);
        if (!give(db, row, arena, record, err))
            return false;
        record->payload = (struct str){ 0 };
    }
    return true;
}

static bool quarantine_list(struct store *store, struct arena *arena,
                            const struct quarantine_filter *filter, struct quarantined_list *list,
                            struct error *err)
{
    struct memory_call call;

    *list = (struct quarantined_list){ 0 };
    return memory_enter(&call, store, "quarantine_list", err) &&
           memory_leave(&call, list_rows(call.db, arena, filter, list, err), err);
}

static bool quarantine_get(struct store *store, struct arena *arena, int64_t id,
                           struct quarantined *record, bool *found, struct error *err)
{
    const struct quarantined_stored *row;
    struct memory_call call;

    if (!memory_enter(&call, store, "quarantine_get", err))
        return false;
    row = table_get(&call.db->tables[MEMORY_QUARANTINE], id);
    *found = row != NULL;
    return memory_leave(&call, !*found || give(call.db, row, arena, record, err), err);
}

static struct quarantine_sum *sum_of(struct arena *arena, const struct quarantined *record,
                                     struct quarantine_sum_list *list)
{
    struct quarantine_sum *sum;

    for (size_t i = 0; i < list->count; i++) {
        sum = &list->items[i];
        if (str_eq(sum->source, record->source) && str_eq(sum->endpoint, record->endpoint) &&
            str_eq(sum->reason, record->reason))
            return sum;
    }
    sum = LIST_ADD(arena, list);
    if (sum != NULL)
        *sum = (struct quarantine_sum){ .source = arena_copy(arena, record->source),
                                        .endpoint = arena_copy(arena, record->endpoint),
                                        .reason = arena_copy(arena, record->reason),
                                        .first_us = record->created_us,
                                        .last_us = record->created_us };
    return sum;
}

static bool add_sums(struct memory_db *db, struct arena *arena, struct str source,
                     struct quarantine_sum_list *list, struct error *err)
{
    const struct table *table = &db->tables[MEMORY_QUARANTINE];

    for (int64_t id = 1; id < table->next_id; id++) {
        const struct quarantined_stored *row = table_get(table, id);
        struct quarantine_sum *sum;

        if (!is_open(row) || !is_meant(source, row->record.source))
            continue;
        sum = sum_of(arena, &row->record, list);
        if (sum == NULL)
            return arena_error(arena, err);
        sum->count++;
        if (row->record.created_us < sum->first_us)
            sum->first_us = row->record.created_us;
        if (row->record.created_us > sum->last_us)
            sum->last_us = row->record.created_us;
    }
    return !arena->failed || arena_error(arena, err);
}

static int by_place(const void *a, const void *b)
{
    const struct quarantine_sum *left = a, *right = b;
    const int source = str_cmp(left->source, right->source);
    const int endpoint = str_cmp(left->endpoint, right->endpoint);

    return source != 0 ? source : endpoint != 0 ? endpoint : str_cmp(left->reason, right->reason);
}

static bool quarantine_sums(struct store *store, struct arena *arena, struct str source,
                            struct quarantine_sum_list *list, struct error *err)
{
    struct memory_call call;

    *list = (struct quarantine_sum_list){ 0 };
    if (!memory_enter(&call, store, "quarantine_sums", err) ||
        !memory_leave(&call, add_sums(call.db, arena, source, list, err), err))
        return false;
    if (list->items != NULL)
        qsort(list->items, list->count, sizeof(*list->items), by_place);
    return true;
}

static bool quarantine_resolve(struct store *store, const struct quarantine_resolve *resolve,
                               bool *resolved, struct error *err)
{
    const struct quarantined_stored *old;
    struct quarantined_stored row;
    struct memory_call call;

    if (!memory_enter(&call, store, "quarantine_resolve", err))
        return false;
    old = table_get(&call.db->tables[MEMORY_QUARANTINE], resolve->id);
    *resolved = is_open(old);
    if (*resolved) {
        row = *old;
        row.record.resolution = resolve->resolution;
        row.record.resolved_us = resolve->now_us;
        row.record.resolved_by = resolve->by;
        row.record.note = resolve->note;
    }
    return memory_leave(&call, !*resolved || memory_update(call.db, MEMORY_QUARANTINE, &row, err),
                        err);
}

static bool is_replaced(const struct quarantine_replace *replace, const struct quarantined *record)
{
    bool is_among = false;

    for (size_t i = 0; i < replace->count && !is_among; i++)
        is_among = str_eq(replace->provider_ids[i], record->provider_id);
    return is_among && record->provider_id.len > 0 && str_eq(replace->source, record->source) &&
           str_eq(replace->endpoint, record->endpoint);
}

static bool quarantine_replace(struct store *store, const struct quarantine_replace *replace,
                               int64_t *resolved, struct error *err)
{
    struct memory_call call;
    const struct table *table;
    bool ok = true;

    *resolved = 0;
    if (!memory_enter(&call, store, "quarantine_replace", err))
        return false;
    table = &call.db->tables[MEMORY_QUARANTINE];
    for (int64_t id = 1; id < table->next_id && ok; id++) {
        const struct quarantined_stored *old = table_get(table, id);
        struct quarantined_stored row;

        if (!is_open(old) || !is_replaced(replace, &old->record))
            continue;
        row = *old;
        row.record.resolution = QUARANTINE_REPLACED;
        row.record.resolved_us = replace->now_us;
        row.record.resolved_by = replace->by;
        row.record.note = replace->note;
        ok = memory_update(call.db, MEMORY_QUARANTINE, &row, err);
        ++*resolved;
    }
    return memory_leave(&call, ok, err);
}

const struct store_quarantine_ops MEMORY_QUARANTINE_OPS = {
    .add = quarantine_add,
    .list = quarantine_list,
    .get = quarantine_get,
    .sums = quarantine_sums,
    .resolve = quarantine_resolve,
    .replace = quarantine_replace,
};
