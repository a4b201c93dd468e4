#include "port/store_cursor.h"
#include "adapter/memory/store_base.h"

#include <stdlib.h>

static void add_name(struct key *key, const struct cursor_name *name)
{
    key_add_str(key, name->source);
    key_add_str(key, code_of(&OPERATION_CODES, (int)name->operation));
    key_add_str(key, name->cursor_key);
    key_add_str(key, code_of(&NAMESPACE_SCOPE_CODES, (int)name->scope));
    key_add_str(key, name->namespace_key);
}

static bool name_key(const void *row, struct key *key)
{
    add_name(key, &((const struct cursor *)row)->name);
    return true;
}

const struct table_def MEMORY_CURSOR_TABLE = {
    .name = "ing_cursor",
    .row_size = sizeof(struct cursor),
    .text_count = 6,
    .texts = { TEXT_DEF(struct cursor, name.source, TEXT_PLAIN),
               TEXT_DEF(struct cursor, name.cursor_key, TEXT_PLAIN),
               TEXT_DEF(struct cursor, name.namespace_key, TEXT_PLAIN),
               TEXT_DEF(struct cursor, value.text, TEXT_PLAIN),
               TEXT_DEF(struct cursor, observed_max, TEXT_PLAIN),
               TEXT_DEF(struct cursor, expr_hash, TEXT_PLAIN) },
    .index_count = 1,
    .indexes = { { "uk_cursor_ns", true, name_key } },
};

enum { BY_KEY, BY_TIMELINE };

static bool event_key(const void *row, struct key *key)
{
    key_add_str(key, ((const struct cursor_event *)row)->idempotent_key);
    return true;
}

static bool timeline_key(const void *row, struct key *key)
{
    add_name(key, &((const struct cursor_event *)row)->name);
    return true; /* the id follows by itself */
}

const struct table_def MEMORY_CURSOR_EVENT_TABLE = {
    .name = "ing_cursor_event",
    .row_size = sizeof(struct cursor_event),
    .text_count = 9,
    .texts = { TEXT_DEF(struct cursor_event, name.source, TEXT_PLAIN),
               TEXT_DEF(struct cursor_event, name.cursor_key, TEXT_PLAIN),
               TEXT_DEF(struct cursor_event, name.namespace_key, TEXT_PLAIN),
               TEXT_DEF(struct cursor_event, prev.text, TEXT_PLAIN),
               TEXT_DEF(struct cursor_event, next.text, TEXT_PLAIN),
               TEXT_DEF(struct cursor_event, observed_max, TEXT_PLAIN),
               TEXT_DEF(struct cursor_event, idempotent_key, TEXT_PLAIN),
               TEXT_DEF(struct cursor_event, expr_hash, TEXT_PLAIN),
               TEXT_DEF(struct cursor_event, remarks, TEXT_JSON) },
    .index_count = 2,
    .indexes = { { "uk_cur_evt_idem", true, event_key },
                 { "idx_cur_evt_timeline", false, timeline_key } },
};

/* As the other stores give it back: the number without its zeros, no text for an instant. */
static struct cursor_value kept(const struct cursor_value *value)
{
    struct cursor_value copy = { .type = value->type };

    if (value->type == CURSOR_TIME)
        copy.instant_us = value->instant_us;
    else
        copy.text = value->type == CURSOR_ID ? cursor_id_normal(value->text) : value->text;
    return copy;
}

static const struct cursor *find(struct memory_db *db, const struct cursor_name *name)
{
    const struct cursor *cursor;
    struct key key = { 0 };

    add_name(&key, name);
    cursor = table_find(&db->tables[MEMORY_CURSOR], 0, &key);
    key_release(&key);
    return cursor;
}

static bool cursor_load(struct store *store, struct arena *arena, const struct cursor_name *name,
                        struct cursor *cursor, bool *found, struct error *err)
{
    struct memory_call call;
    const struct cursor *row;

    if (!memory_enter(&call, store, "cursor_load", err))
        return false;
    *cursor = (struct cursor){ .name = *name };
    row = find(call.db, name);
    *found = row != NULL;
    return memory_leave(
        &call, !*found || memory_give(call.db, MEMORY_CURSOR, row, arena, cursor, err), err);
}

static bool list_cursors(struct memory_db *db, struct arena *arena, struct str source,
                         struct cursor_list *list, struct error *err)
{
    const void *row;
    struct scan scan;
    struct key key = { 0 };
    bool ok = true;

    if (source.len > 0)
        key_add_str(&key, source);
    scan_init(&scan, &db->tables[MEMORY_CURSOR], 0, &key, key.len);
    while (ok && (row = scan_next(&scan)) != NULL)
        ok = memory_give(db, MEMORY_CURSOR, row, arena, LIST_ADD(arena, list), err);
    scan_release(&scan);
    key_release(&key);
    return ok;
}

static bool cursor_list(struct store *store, struct arena *arena, struct str source,
                        struct cursor_list *list, struct error *err)
{
    struct memory_call call;

    *list = (struct cursor_list){ 0 };
    return memory_enter(&call, store, "cursor_list", err) &&
           memory_leave(&call, list_cursors(call.db, arena, source, list, err), err);
}

static int compare_names(const void *left, const void *right)
{
    const struct cursor_name *a = left, *b = right;
    int order = str_cmp(a->source, b->source);

    if (order == 0)
        order = str_cmp(code_of(&OPERATION_CODES, (int)a->operation),
                        code_of(&OPERATION_CODES, (int)b->operation));
    if (order == 0)
        order = str_cmp(a->cursor_key, b->cursor_key);
    if (order == 0)
        order = str_cmp(code_of(&NAMESPACE_SCOPE_CODES, (int)a->scope),
                        code_of(&NAMESPACE_SCOPE_CODES, (int)b->scope));
    return order != 0 ? order : str_cmp(a->namespace_key, b->namespace_key);
}

static bool give_name(struct arena *arena, const struct cursor_name *name,
                      struct cursor_name_list *list, struct error *err)
{
    struct cursor_name *copy = LIST_ADD(arena, list);

    if (copy == NULL)
        return arena_error(arena, err);
    *copy = *name;
    copy->source = arena_copy(arena, name->source);
    copy->cursor_key = arena_copy(arena, name->cursor_key);
    copy->namespace_key = arena_copy(arena, name->namespace_key);
    return !arena->failed || arena_error(arena, err);
}

/* Those of one table; of events only where there is no cursor, which has been listed. */
static bool add_names(struct memory_db *db, struct arena *arena, int table, struct str source,
                      struct cursor_name_list *list, struct error *err)
{
    const bool is_event = table == MEMORY_CURSOR_EVENT;
    const struct cursor_name *last = NULL;
    const void *row;
    struct scan scan;
    struct key key = { 0 };
    bool ok = true;

    if (source.len > 0)
        key_add_str(&key, source);
    scan_init(&scan, &db->tables[table], is_event ? BY_TIMELINE : 0, &key, key.len);
    while (ok && (row = scan_next(&scan)) != NULL) {
        const struct cursor_name *name = is_event ? &((const struct cursor_event *)row)->name
                                                  : &((const struct cursor *)row)->name;

        if ((last != NULL && compare_names(last, name) == 0) ||
            (is_event && find(db, name) != NULL))
            continue;
        last = name;
        ok = give_name(arena, name, list, err);
    }
    scan_release(&scan);
    key_release(&key);
    return ok;
}

static bool cursor_names(struct store *store, struct arena *arena, struct str source,
                         struct cursor_name_list *list, struct error *err)
{
    struct memory_call call;
    bool ok;

    *list = (struct cursor_name_list){ 0 };
    if (!memory_enter(&call, store, "cursor_names", err))
        return false;
    ok = add_names(call.db, arena, MEMORY_CURSOR, source, list, err) &&
         add_names(call.db, arena, MEMORY_CURSOR_EVENT, source, list, err);
    if (ok && list->count > 0)
        qsort(list->items, list->count, sizeof(list->items[0]), compare_names);
    return memory_leave(&call, ok, err);
}

static bool write_value(struct memory_db *db, const struct cursor *cursor,
                        const struct cursor_move *move, bool must_go_forward, bool *moved,
                        struct error *err)
{
    const struct cursor *old = cursor->id == 0 ? find(db, &cursor->name)
                                               : table_get(&db->tables[MEMORY_CURSOR], cursor->id);
    struct cursor row = { .name = cursor->name, .version = cursor->version + 1 };
    int64_t id;

    if (cursor->id == 0)
        *moved = old == NULL;
    else
        *moved = old != NULL && old->version == cursor->version &&
                 old->value.type == move->to.type &&
                 (!must_go_forward || cursor_is_forward(&old->value, &move->to));
    if (!*moved)
        return true;
    if (old != NULL) {
        row = *old;
        row.version++;
    }
    row.value = kept(&move->to);
    if (move->observed_max.len > 0)
        row.observed_max = move->observed_max;
    row.lineage = move->lineage;
    row.expr_hash = move->expr_hash;
    row.updated_us = move->now_us;
    return memory_check(row.value.text.len <= CURSOR_VALUE_MAX, "cursor_value", err) &&
           memory_check(cursor->name.cursor_key.len > 0, "cursor_key", err) &&
           (old != NULL ? memory_update(db, MEMORY_CURSOR, &row, err)
                        : memory_insert(db, MEMORY_CURSOR, &row, &id, err));
}

static bool cursor_move(struct store *store, const struct cursor *cursor,
                        const struct cursor_move *move, bool *moved, struct error *err)
{
    struct memory_call call;

    return memory_enter(&call, store, "cursor_move", err) &&
           memory_leave(&call, write_value(call.db, cursor, move, true, moved, err), err);
}

static bool cursor_set(struct store *store, const struct cursor *cursor,
                       const struct cursor_move *move, bool *moved, struct error *err)
{
    struct memory_call call;

    return memory_enter(&call, store, "cursor_set", err) &&
           memory_leave(&call, write_value(call.db, cursor, move, false, moved, err), err);
}

static bool observe(struct memory_db *db, int64_t id, struct str observed_max, struct error *err)
{
    const struct cursor *old = table_get(&db->tables[MEMORY_CURSOR], id);
    struct cursor row;

    if (old == NULL)
        return true;
    row = *old;
    row.observed_max = observed_max;
    return memory_update(db, MEMORY_CURSOR, &row, err);
}

static bool cursor_observe(struct store *store, const struct cursor *cursor,
                           struct str observed_max, struct error *err)
{
    struct memory_call call;

    return memory_enter(&call, store, "cursor_observe", err) &&
           memory_leave(&call, observe(call.db, cursor->id, observed_max, err), err);
}

static bool add_event(struct memory_db *db, const struct cursor_event *event, bool *added,
                      struct error *err)
{
    struct cursor_event row = *event;
    struct key key = { 0 };
    int64_t id;

    (void)event_key(event, &key);
    *added = table_find(&db->tables[MEMORY_CURSOR_EVENT], BY_KEY, &key) == NULL;
    key_release(&key);
    row.prev = event->has_prev ? kept(&event->prev) : (struct cursor_value){ 0 };
    row.next = kept(&event->next);
    if (!window_is_valid(row.window))
        row.window = (struct window){ 0, 0 };
    return !*added || memory_insert(db, MEMORY_CURSOR_EVENT, &row, &id, err);
}

static bool event_add(struct store *store, const struct cursor_event *event, bool *added,
                      struct error *err)
{
    struct memory_call call;

    return memory_enter(&call, store, "cursor_event_add", err) &&
           memory_leave(&call, add_event(call.db, event, added, err), err);
}

static bool list_events(struct memory_db *db, struct arena *arena, const struct key *from,
                        size_t prefix, int64_t limit, struct cursor_event_list *list,
                        struct error *err)
{
    const void *row;
    struct scan scan;
    bool ok = true;

    scan_init(&scan, &db->tables[MEMORY_CURSOR_EVENT], BY_TIMELINE, from, prefix);
    while (ok && (int64_t)list->count < limit && (row = scan_next(&scan)) != NULL)
        ok = memory_give(db, MEMORY_CURSOR_EVENT, row, arena, LIST_ADD(arena, list), err);
    scan_release(&scan);
    return ok;
}

static bool event_list(struct store *store, struct arena *arena, const struct cursor_name *name,
                       int64_t after_id, int64_t limit, struct cursor_event_list *list,
                       struct error *err)
{
    struct memory_call call;
    struct key key = { 0 };
    size_t prefix;
    bool ok;

    *list = (struct cursor_event_list){ 0 };
    if (!memory_enter(&call, store, "cursor_event_list", err))
        return false;
    add_name(&key, name);
    prefix = key.len;
    key_add_i64(&key, after_id + 1);
    ok = list_events(call.db, arena, &key, prefix, limit, list, err);
    key_release(&key);
    return memory_leave(&call, ok, err);
}

static bool event_last(struct store *store, struct arena *arena, const struct cursor_name *name,
                       int64_t limit, struct cursor_event_list *list, struct error *err)
{
    struct memory_call call;
    const struct table *table;
    bool ok = true;

    *list = (struct cursor_event_list){ 0 };
    if (!memory_enter(&call, store, "cursor_event_last", err))
        return false;
    table = &call.db->tables[MEMORY_CURSOR_EVENT];
    for (int64_t id = table->next_id - 1; ok && id > 0 && (int64_t)list->count < limit; id--) {
        const struct cursor_event *row = table_get(table, id);
        struct cursor_event *event;

        if (row == NULL || compare_names(&row->name, name) != 0)
            continue;
        event = LIST_ADD(arena, list);
        ok = event == NULL ? arena_error(arena, err)
                           : memory_give(call.db, MEMORY_CURSOR_EVENT, row, arena, event, err);
    }
    return memory_leave(&call, ok, err);
}

const struct store_cursor_ops MEMORY_CURSOR_OPS = {
    .load = cursor_load,
    .list = cursor_list,
    .names = cursor_names,
    .move = cursor_move,
    .set = cursor_set,
    .observe = cursor_observe,
    .event_add = event_add,
    .event_list = event_list,
    .event_last = event_last,
};
