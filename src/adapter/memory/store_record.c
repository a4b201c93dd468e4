#include <string.h>

#include "adapter/memory/store_base.h"
#include "adapter/memory/store_outbox.h"
#include "port/store_record.h"

enum { BY_PROVIDER, BY_CHECKED, BY_EXPR };

static void add_place(struct key *key, struct str source, struct str endpoint)
{
    key_add_str(key, source);
    key_add_str(key, endpoint);
}

static bool provider_key(const void *row, struct key *key)
{
    const struct stored_record *record = row;

    add_place(key, record->source, record->endpoint);
    key_add_str(key, record->provider_id);
    return true;
}

static bool checked_key(const void *row, struct key *key)
{
    const struct stored_record *record = row;

    add_place(key, record->source, record->endpoint);
    key_add_i64(key, record->checked_us);
    return !record->is_deleted;
}

static bool expr_key(const void *row, struct key *key)
{
    const struct stored_record *record = row;

    add_place(key, record->source, record->endpoint);
    key_add_str(key, record->expr_hash);
    return !record->is_deleted;
}

const struct table_def MEMORY_RECORD_TABLE = {
    .name = "ing_record",
    .row_size = sizeof(struct stored_record),
    .text_count = 7,
    .texts = { TEXT_DEF(struct stored_record, source, TEXT_PLAIN),
               TEXT_DEF(struct stored_record, endpoint, TEXT_PLAIN),
               TEXT_DEF(struct stored_record, provider_id, TEXT_PLAIN),
               TEXT_DEF(struct stored_record, provider_version, TEXT_PLAIN),
               TEXT_DEF(struct stored_record, content_hash, TEXT_PLAIN),
               TEXT_DEF(struct stored_record, expr_hash, TEXT_PLAIN),
               TEXT_DEF(struct stored_record, payload, TEXT_BYTES) },
    .index_count = 3,
    .indexes = { { "uk_record_provider", true, provider_key },
                 { "idx_record_checked", false, checked_key },
                 { "idx_record_expr", false, expr_key } },
};

static const struct stored_record *find(struct memory_db *db, struct str source,
                                        struct str endpoint, struct str provider_id)
{
    const struct stored_record *record;
    struct key key = { 0 };

    add_place(&key, source, endpoint);
    key_add_str(&key, provider_id);
    record = table_find(&db->tables[MEMORY_RECORD], BY_PROVIDER, &key);
    key_release(&key);
    return record;
}

static bool check_one(struct memory_db *db, struct arena *arena,
                      const struct record_context *context, struct str provider_id,
                      struct record_state *state, struct error *err)
{
    const struct stored_record *record;

    *state = (struct record_state){ 0 };
    if (!memory_text_ok(provider_id, "provider_id", err))
        return false;
    record = find(db, context->source, context->endpoint, provider_id);
    if (record == NULL)
        return true;
    *state = (struct record_state){ .id = record->id,
                                    .version = record->version,
                                    .has_updated = record->has_updated,
                                    .updated_us = record->updated_us,
                                    .provider_version = arena_copy(arena, record->provider_version),
                                    .is_deleted = record->is_deleted,
                                    .content_hash = arena_copy(arena, record->content_hash),
                                    .expr_hash = arena_copy(arena, record->expr_hash),
                                    .checked_us = record->checked_us };
    return !arena->failed || arena_error(arena, err);
}

static bool record_check(struct store *store, struct arena *arena,
                         const struct record_context *context, const struct str *provider_ids,
                         size_t count, struct record_state *states, struct error *err)
{
    struct memory_call call;
    bool ok = true;

    if (!memory_enter(&call, store, "record_check", err))
        return false;
    for (size_t i = 0; i < count && ok; i++)
        ok = check_one(call.db, arena, context, provider_ids[i], &states[i], err);
    return memory_leave(&call, ok, err);
}

static bool write_one(struct memory_db *db, const struct record_context *context,
                      const struct record_write *write, bool *written, struct error *err)
{
    const struct stored_record *old =
        write->id == 0 ? find(db, context->source, context->endpoint, write->provider_id)
                       : table_get(&db->tables[MEMORY_RECORD], write->id);
    struct stored_record row = { .source = context->source,
                                 .endpoint = context->endpoint,
                                 .provider_id = write->provider_id,
                                 .created_us = context->now_us,
                                 .checked_us = context->now_us };
    int64_t id;

    *written = write->id == 0 ? old == NULL : old != NULL && old->version == write->version - 1;
    if (!*written)
        return true;
    if (old != NULL)
        row = *old;
    row.has_updated = write->has_updated;
    row.updated_us = write->has_updated ? write->updated_us : 0;
    row.provider_version = write->provider_version;
    row.version = write->version;
    row.is_deleted = write->is_deleted;
    row.content_hash = write->content_hash;
    row.payload = write->payload;
    row.expr_hash = context->expr_hash;
    if (context->now_us > row.checked_us)
        row.checked_us = context->now_us;
    row.lineage = context->lineage;
    return memory_check(row.source.len > 0 && row.endpoint.len > 0, "source", err) &&
           memory_check(row.provider_id.len > 0 && row.provider_id.len <= PROVIDER_ID_MAX,
                        "provider_id", err) &&
           memory_check(row.version >= 1, "version", err) &&
           (old != NULL ? memory_update(db, MEMORY_RECORD, &row, err)
                        : memory_insert(db, MEMORY_RECORD, &row, &id, err));
}

static bool write_next(struct memory_db *db, const struct record_context *context,
                       struct record_changes *changes, bool *written, struct error *err)
{
    struct record_change change;

    return changes->next(changes, &change, err) &&
           write_one(db, context, &change.record, written, err) &&
           (!*written || memory_outbox_add(db, &change.event, err));
}

static bool record_write(struct store *store, const struct record_context *context,
                         struct record_changes *changes, bool *written, struct error *err)
{
    struct memory_call call;
    bool ok = true;

    if (!memory_enter(&call, store, "record_write", err))
        return false;
    *written = true;
    for (size_t i = 0; ok && *written && i < changes->count; i++)
        ok = write_next(call.db, context, changes, written, err);
    return memory_leave(&call, ok, err);
}

static bool record_touch(struct store *store, const struct record_context *context,
                         const int64_t *ids, size_t count, struct error *err)
{
    struct memory_call call;
    bool ok = true;

    if (!memory_enter(&call, store, "record_touch", err))
        return false;
    for (size_t i = 0; i < count && ok; i++) {
        const struct stored_record *old = table_get(&call.db->tables[MEMORY_RECORD], ids[i]);
        struct stored_record row;

        if (old == NULL)
            continue;
        row = *old;
        if (context->now_us > row.checked_us)
            row.checked_us = context->now_us;
        row.expr_hash = context->expr_hash;
        ok = memory_update(call.db, MEMORY_RECORD, &row, err);
    }
    return memory_leave(&call, ok, err);
}

static bool record_get(struct store *store, struct arena *arena, const struct record_key *key,
                       struct stored_record *record, bool *found, struct error *err)
{
    const struct stored_record *row;
    struct memory_call call;

    if (!memory_enter(&call, store, "record_get", err))
        return false;
    row = find(call.db, key->source, key->endpoint, key->provider_id);
    *found = row != NULL;
    return memory_leave(
        &call, !*found || memory_give(call.db, MEMORY_RECORD, row, arena, record, err), err);
}

/* ---- candidates ---- */

static bool give(struct arena *arena, const struct candidate *candidate,
                 struct candidate_list *list, struct error *err)
{
    struct candidate *given = LIST_ADD(arena, list);

    if (given == NULL)
        return arena_error(arena, err);
    *given = *candidate;
    given->provider_id = arena_copy(arena, candidate->provider_id);
    given->expr_hash = arena_copy(arena, candidate->expr_hash);
    return !arena->failed || arena_error(arena, err);
}

/* From the key behind that of the last page, which has the id at its end. */
static bool list_records(struct memory_db *db, struct arena *arena,
                         const struct candidate_query *query, struct candidate_list *list,
                         struct error *err)
{
    const bool by_time = query->why == CANDIDATE_STALENESS;
    const struct stored_record *record;
    struct key key = { 0 };
    struct scan scan;
    size_t prefix;
    bool ok = true;

    add_place(&key, query->source, query->endpoint);
    prefix = key.len;
    if (query->after != NULL && by_time)
        key_add_i64(&key, query->after->checked_us);
    else if (query->after != NULL)
        key_add_str(&key, query->after->expr_hash);
    if (query->after != NULL)
        key_add_i64(&key, query->after->id + 1);
    scan_init(&scan, &db->tables[MEMORY_RECORD], by_time ? BY_CHECKED : BY_EXPR, &key, prefix);
    while (ok && (int64_t)list->count < query->limit && (record = scan_next(&scan)) != NULL) {
        if (by_time && record->checked_us >= query->checked_before_us)
            break;
        if (!by_time && str_eq(record->expr_hash, query->expr_hash))
            continue;
        ok = give(arena,
                  &(struct candidate){ .id = record->id,
                                       .provider_id = record->provider_id,
                                       .checked_us = by_time ? record->checked_us : 0,
                                       .expr_hash = by_time ? STR("") : record->expr_hash },
                  list, err);
    }
    scan_release(&scan);
    key_release(&key);
    return ok;
}

static bool list_signals(struct memory_db *db, struct arena *arena,
                         const struct candidate_query *query, struct candidate_list *list,
                         struct error *err)
{
    const struct table *table = &db->tables[MEMORY_SIGNAL];
    bool ok = true;

    for (int64_t id = query->after != NULL ? query->after->id + 1 : 1;
         ok && id < table->next_id && (int64_t)list->count < query->limit; id++) {
        const struct signal_stored *row = table_get(table, id);

        if (row == NULL || row->is_consumed || !str_eq(row->signal.source, query->source) ||
            !str_eq(row->signal.endpoint, query->endpoint))
            continue;
        ok = give(arena, &(struct candidate){ .id = id, .provider_id = row->signal.provider_id },
                  list, err);
    }
    return ok;
}

static bool record_candidates(struct store *store, struct arena *arena,
                              const struct candidate_query *query, struct candidate_list *list,
                              struct error *err)
{
    struct memory_call call;

    *list = (struct candidate_list){ 0 };
    return memory_enter(&call, store, "candidate_list", err) &&
           memory_leave(&call,
                        query->why == CANDIDATE_SIGNAL
                            ? list_signals(call.db, arena, query, list, err)
                            : list_records(call.db, arena, query, list, err),
                        err);
}

const struct store_record_ops MEMORY_RECORD_OPS = {
    .check = record_check,
    .write = record_write,
    .touch = record_touch,
    .get = record_get,
    .candidates = record_candidates,
};
