#include "port/store_pause.h"
#include "adapter/memory/store_base.h"

struct pause_stored {
    int64_t id;
    struct pause pause;
};

static void add_key(struct key *key, struct str source, struct str endpoint, enum pause_kind kind)
{
    key_add_str(key, source);
    key_add_str(key, endpoint);
    key_add_str(key, code_of(&PAUSE_KIND_CODES, (int)kind));
}

static bool pause_key(const void *row, struct key *key)
{
    const struct pause *pause = &((const struct pause_stored *)row)->pause;

    add_key(key, pause->source, pause->endpoint, pause->kind);
    return true;
}

const struct table_def MEMORY_PAUSE_TABLE = {
    .name = "ing_pause",
    .row_size = sizeof(struct pause_stored),
    .text_count = 4,
    .texts = { TEXT_DEF(struct pause_stored, pause.source, TEXT_PLAIN),
               TEXT_DEF(struct pause_stored, pause.endpoint, TEXT_PLAIN),
               TEXT_DEF(struct pause_stored, pause.reason, TEXT_PLAIN),
               TEXT_DEF(struct pause_stored, pause.created_by, TEXT_PLAIN) },
    .index_count = 1,
    .indexes = { { "ing_pause_pkey", true, pause_key } },
};

static const struct pause_stored *find(struct memory_db *db, struct str source, struct str endpoint,
                                       enum pause_kind kind)
{
    const struct pause_stored *found;
    struct key key = { 0 };

    add_key(&key, source, endpoint, kind);
    found = table_find(&db->tables[MEMORY_PAUSE], 0, &key);
    key_release(&key);
    return found;
}

static bool pause_add(struct store *store, const struct pause *pause, bool *added,
                      struct error *err)
{
    const struct pause_stored row = { .pause = *pause };
    struct memory_call call;
    int64_t id;

    if (!memory_enter(&call, store, "pause_add", err))
        return false;
    *added = find(call.db, pause->source, pause->endpoint, pause->kind) == NULL;
    return memory_leave(&call,
                        !*added || (memory_check(pause->source.len > 0, "source", err) &&
                                    memory_insert(call.db, MEMORY_PAUSE, &row, &id, err)),
                        err);
}

static bool pause_remove(struct store *store, struct str source, struct str endpoint,
                         enum pause_kind kind, bool *removed, struct error *err)
{
    const struct pause_stored *old;
    struct memory_call call;

    if (!memory_enter(&call, store, "pause_remove", err))
        return false;
    old = find(call.db, source, endpoint, kind);
    *removed = old != NULL;
    if (old != NULL)
        table_delete(&call.db->tables[MEMORY_PAUSE], &call.db->journal, old->id);
    return memory_leave(&call, true, err);
}

static bool list_pauses(struct memory_db *db, struct arena *arena, struct str source,
                        struct pause_list *list, struct error *err)
{
    const void *row;
    struct scan scan;
    struct key key = { 0 };
    bool ok = true;

    if (source.len > 0)
        key_add_str(&key, source);
    scan_init(&scan, &db->tables[MEMORY_PAUSE], 0, &key, key.len);
    while (ok && (row = scan_next(&scan)) != NULL) {
        struct pause *pause = LIST_ADD(arena, list);
        struct pause_stored given;

        if (pause == NULL) {
            ok = arena_error(arena, err);
            break;
        }
        ok = memory_give(db, MEMORY_PAUSE, row, arena, &given, err);
        *pause = given.pause;
    }
    scan_release(&scan);
    key_release(&key);
    return ok;
}

static bool pause_list(struct store *store, struct arena *arena, struct str source,
                       struct pause_list *list, struct error *err)
{
    struct memory_call call;

    *list = (struct pause_list){ 0 };
    return memory_enter(&call, store, "pause_list", err) &&
           memory_leave(&call, list_pauses(call.db, arena, source, list, err), err);
}

const struct store_pause_ops MEMORY_PAUSE_OPS = {
    .add = pause_add,
    .remove = pause_remove,
    .list = pause_list,
};
