#include "adapter/memory/store_outbox.h"

struct event_stored {
    int64_t id;
    struct outbox_event event;
};

enum { BY_EVENT, BY_VERSION };

static bool event_key(const void *row, struct key *key)
{
    key_add_str(key, ((const struct event_stored *)row)->event.event_id);
    return true;
}

static bool version_key(const void *row, struct key *key)
{
    const struct outbox_event *event = &((const struct event_stored *)row)->event;

    key_add_str(key, event->aggregate_type);
    key_add_str(key, event->aggregate_id);
    key_add_i64(key, event->version);
    return true;
}

const struct table_def MEMORY_OUTBOX_TABLE = {
    .name = "ing_outbox",
    .row_size = sizeof(struct event_stored),
    .text_count = 5,
    .texts = { TEXT_DEF(struct event_stored, event.event_id, TEXT_PLAIN),
               TEXT_DEF(struct event_stored, event.aggregate_type, TEXT_PLAIN),
               TEXT_DEF(struct event_stored, event.aggregate_id, TEXT_PLAIN),
               TEXT_DEF(struct event_stored, event.event_type, TEXT_PLAIN),
               TEXT_DEF(struct event_stored, event.payload, TEXT_BYTES) },
    .index_count = 2,
    .indexes = { { "uk_outbox_event", true, event_key },
                 { "uk_outbox_version", true, version_key } },
};

bool memory_outbox_add(struct memory_db *db, const struct outbox_event *event, struct error *err)
{
    const struct event_stored row = { .event = *event };
    int64_t id;

    return memory_check(event->event_id.len == 36, "event_id", err) &&
           memory_check(event->aggregate_type.len > 0, "aggregate_type", err) &&
           memory_check(event->aggregate_id.len > 0, "aggregate_id", err) &&
           memory_check(event->event_type.len > 0, "event_type", err) &&
           memory_check(event->version >= 1, "version", err) &&
           memory_check(event->schema_version >= 1, "schema_version", err) &&
           memory_check(event->lane >= 0, "lane", err) &&
           memory_insert(db, MEMORY_OUTBOX, &row, &id, err);
}

static bool list_events(struct memory_db *db, struct arena *arena, const struct key *from,
                        size_t prefix, int64_t limit, struct outbox_event_list *list,
                        struct error *err)
{
    const void *row;
    struct scan scan;
    bool ok = true;

    scan_init(&scan, &db->tables[MEMORY_OUTBOX], BY_VERSION, from, prefix);
    while (ok && (int64_t)list->count < limit && (row = scan_next(&scan)) != NULL) {
        struct outbox_event *event = LIST_ADD(arena, list);
        struct event_stored given;

        if (event == NULL) {
            ok = arena_error(arena, err);
            break;
        }
        ok = memory_give(db, MEMORY_OUTBOX, row, arena, &given, err);
        *event = given.event;
    }
    scan_release(&scan);
    return ok;
}

static bool outbox_of(struct store *store, struct arena *arena, const struct outbox_query *query,
                      struct outbox_event_list *list, struct error *err)
{
    struct memory_call call;
    struct key key = { 0 };
    size_t prefix;
    bool ok;

    *list = (struct outbox_event_list){ 0 };
    if (!memory_enter(&call, store, "outbox_of", err))
        return false;
    key_add_str(&key, query->aggregate_type);
    key_add_str(&key, query->aggregate_id);
    prefix = key.len;
    key_add_i64(&key, query->after_version + 1);
    ok = list_events(call.db, arena, &key, prefix, query->limit, list, err);
    key_release(&key);
    return memory_leave(&call, ok, err);
}

const struct store_outbox_ops MEMORY_OUTBOX_OPS = { .of = outbox_of };
