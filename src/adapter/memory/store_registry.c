#include <assert.h>
#include <inttypes.h>
#include <string.h>

#include "adapter/memory/store_base.h"
#include "base/buf.h"
#include "port/store_registry.h"

#define IN_FORCE INT64_MAX

enum { VALUES_BYTES_MAX = 16 << 20 };

struct registry_stored {
    int64_t id;
    struct str code;
    struct str endpoint;
    struct str key;
    struct str values; /* packed: see pack() */
    int64_t position;
    int64_t version;
    int64_t from_us;
    int64_t to_us;
};

static bool in_force_key(const void *row, struct key *key)
{
    const struct registry_stored *stored = row;

    key_add_str(key, stored->code);
    key_add_str(key, stored->endpoint);
    key_add_str(key, stored->key);
    return stored->to_us == IN_FORCE;
}

static bool opened_key(const void *row, struct key *key)
{
    const struct registry_stored *stored = row;

    (void)in_force_key(row, key);
    key_add_i64(key, stored->from_us);
    return true;
}

enum { BY_ORDER = 2 };

/* The order of loading: endpoint, position, key. */
static bool order_key(const void *row, struct key *key)
{
    const struct registry_stored *stored = row;

    key_add_str(key, stored->code);
    key_add_str(key, stored->endpoint);
    key_add_i64(key, stored->position);
    key_add_str(key, stored->key);
    return true;
}

#define DEF(table)                                                                    \
    {                                                                                 \
        .name = (table), .row_size = sizeof(struct registry_stored), .text_count = 4, \
        .texts = { TEXT_DEF(struct registry_stored, code, TEXT_PLAIN),                \
                   TEXT_DEF(struct registry_stored, endpoint, TEXT_PLAIN),            \
                   TEXT_DEF(struct registry_stored, key, TEXT_PLAIN),                 \
                   TEXT_DEF(struct registry_stored, values, TEXT_BYTES) },            \
        .index_count = 3,                                                             \
        .indexes = { { table "_in_force", true, in_force_key },                       \
                     { table "_effective_from_key", true, opened_key },               \
                     { table "_order", false, order_key } },                          \
    }

const struct table_def MEMORY_REGISTRY_TABLES[REGISTRY_TABLE_COUNT] = {
    [REGISTRY_PROVENANCE] = DEF("reg_provenance"),
    [REGISTRY_ENDPOINT] = DEF("reg_prov_endpoint_def"),
    [REGISTRY_OPERATION] = DEF("reg_prov_operation_cfg"),
    [REGISTRY_HTTP] = DEF("reg_prov_http_cfg"),
    [REGISTRY_CREDENTIAL] = DEF("reg_prov_credential"),
    [REGISTRY_PAGINATION] = DEF("reg_prov_pagination_cfg"),
    [REGISTRY_WINDOW] = DEF("reg_prov_window_offset_cfg"),
    [REGISTRY_RETRY] = DEF("reg_prov_retry_cfg"),
    [REGISTRY_RATE_LIMIT] = DEF("reg_prov_rate_limit_cfg"),
    [REGISTRY_BATCHING] = DEF("reg_prov_batching_cfg"),
    [REGISTRY_PARAM] = DEF("reg_prov_api_param_map"),
    [REGISTRY_EXPR_CAPABILITY] = DEF("reg_prov_expr_capability"),
    [REGISTRY_EXPR_RENDER] = DEF("reg_prov_expr_render_rule"),
    [REGISTRY_FIELD] = DEF("reg_expr_field_dict"),
};

static struct table *table_of(struct memory_db *db, enum registry_table_id id)
{
    return &db->tables[MEMORY_REGISTRY + (int)id];
}

/* ---- values: the structs one after the other, each followed by its text ---- */

static void pack(struct buf *out, const struct registry_value *values, size_t count)
{
    for (size_t i = 0; i < count; i++) {
        buf_add(out, (struct str){ (const char *)&values[i], sizeof(values[i]) });
        buf_add(out, values[i].text);
    }
}

static bool unpack(struct arena *arena, struct str packed, struct registry_value *values,
                   size_t count)
{
    size_t at = 0;

    for (size_t i = 0; i < count; i++) {
        memcpy(&values[i], packed.data + at, sizeof(values[i]));
        at += sizeof(values[i]);
        values[i].text = arena_copy(arena, str_slice(packed, at, at + values[i].text.len));
        if (values[i].text.data == NULL)
            return false;
        at += values[i].text.len;
    }
    assert(at == packed.len);
    return true;
}

/* ---- the functions ---- */

struct row_list {
    struct registry_row *items;
    size_t count;
};

static bool read_row(struct arena *arena, enum registry_table_id table,
                     const struct registry_stored *stored, struct registry_row *row)
{
    const size_t count = registry_table(table)->column_count;

    row->id = stored->id;
    row->table = table;
    row->endpoint = arena_copy(arena, stored->endpoint);
    row->key = arena_copy(arena, stored->key);
    row->position = (int32_t)stored->position;
    row->version = stored->version;
    row->effective_from_us = stored->from_us;
    row->values = ARENA_ARRAY(arena, struct registry_value, count);
    return row->values != NULL && unpack(arena, stored->values, row->values, count) &&
           !arena->failed;
}

static bool load_table(struct memory_db *db, struct arena *arena, struct str code, int64_t at_us,
                       enum registry_table_id id, struct row_list *rows, struct error *err)
{
    const struct registry_stored *stored;
    struct scan scan;
    struct key key = { 0 };
    bool ok = true;

    key_add_str(&key, code);
    scan_init(&scan, table_of(db, id), BY_ORDER, &key, key.len);
    while (ok && (stored = scan_next(&scan)) != NULL) {
        struct registry_row *row;

        if (stored->from_us > at_us || stored->to_us <= at_us)
            continue;
        row = LIST_ADD(arena, rows);
        ok = row != NULL && read_row(arena, id, stored, row);
    }
    scan_release(&scan);
    key_release(&key);
    return ok || arena_error(arena, err);
}

static bool registry_load(struct store *store, struct arena *arena, struct str code, int64_t at_us,
                          struct registry_source *source, struct error *err)
{
    struct row_list rows = { 0 };
    struct memory_call call;
    bool ok = true;

    if (!memory_enter(&call, store, "registry_load", err))
        return false;
    for (int id = 0; id < REGISTRY_TABLE_COUNT && ok; id++)
        ok = load_table(call.db, arena, code, at_us, (enum registry_table_id)id, &rows, err);
    *source = (struct registry_source){ .rows = rows.items, .count = rows.count };
    if (ok) {
        source->code = arena_copy(arena, code);
        ok = source->code.data != NULL || arena_error(arena, err);
    }
    return memory_leave(&call, ok, err);
}

/* What the SQL tables say by CHECK. */
static bool check_values(const struct registry_table *table, const struct registry_value *values,
                         struct error *err)
{
    for (size_t i = 0; i < table->column_count; i++) {
        const struct registry_column *column = &table->columns[i];

        if (!values[i].is_set)
            continue;
        if ((column->type == REGISTRY_TEXT || column->type == REGISTRY_JSON) &&
            !memory_text_ok(values[i].text, column->name, err))
            return false;
        if (column->type == REGISTRY_DURATION && values[i].number < 0)
            return error_set(err, ERROR_REQUEST, "store.constraint", "%s: %s is negative",
                             table->name, column->name);
    }
    return true;
}

static bool insert_row(struct memory_db *db, struct str code, const struct registry_row *row,
                       int64_t at_us, int64_t version, int64_t *id, struct error *err)
{
    const struct registry_table *table = registry_table(row->table);
    struct registry_stored stored = { .code = code,
                                      .endpoint = row->endpoint,
                                      .key = row->key,
                                      .position = row->position,
                                      .version = version,
                                      .from_us = at_us,
                                      .to_us = IN_FORCE };
    struct arena arena;
    struct buf packed;
    bool ok;

    if (!check_values(table, row->values, err))
        return false;
    arena_init(&arena, VALUES_BYTES_MAX);
    buf_init(&packed, &arena, VALUES_BYTES_MAX);
    pack(&packed, row->values, table->column_count);
    stored.values = buf_str(&packed);
    ok = buf_ok(&packed, err) &&
         memory_insert(db, MEMORY_REGISTRY + (int)row->table, &stored, id, err);
    arena_release(&arena);
    return ok;
}

static bool registry_insert(struct store *store, struct str code, const struct registry_row *row,
                            int64_t at_us, int64_t version, int64_t *id, struct error *err)
{
    struct memory_call call;

    return memory_enter(&call, store, "registry_insert", err) &&
           memory_leave(&call, insert_row(call.db, code, row, at_us, version, id, err), err);
}

static bool close_row(struct memory_db *db, enum registry_table_id table, int64_t id, int64_t at_us,
                      struct error *err)
{
    const struct registry_stored *stored = table_get(table_of(db, table), id);
    struct registry_stored closed;

    if (stored == NULL || stored->to_us != IN_FORCE)
        return error_set(err, ERROR_REQUEST, "store.value", "%s %" PRId64 " is not in force",
                         registry_table(table)->name, id);
    if (at_us <= stored->from_us)
        return error_set(err, ERROR_REQUEST, "store.constraint", "%s %" PRId64 ": %s",
                         registry_table(table)->name, id, "closed before it was opened");
    closed = *stored;
    closed.to_us = at_us;
    return memory_update(db, MEMORY_REGISTRY + (int)table, &closed, err);
}

static bool registry_close(struct store *store, enum registry_table_id table, int64_t id,
                           int64_t at_us, struct error *err)
{
    struct memory_call call;

    return memory_enter(&call, store, "registry_close", err) &&
           memory_leave(&call, close_row(call.db, table, id, at_us, err), err);
}

/* The highest version and the latest change of a source up to an instant. */
static void sum_up(struct memory_db *db, int64_t at_us, struct registry_entry *entry)
{
    for (int id = 0; id < REGISTRY_TABLE_COUNT; id++) {
        const struct registry_stored *row;
        struct scan scan;
        struct key key = { 0 };

        key_add_str(&key, entry->code);
        scan_init(&scan, table_of(db, (enum registry_table_id)id), BY_ORDER, &key, key.len);
        while ((row = scan_next(&scan)) != NULL) {
            if (row->from_us <= at_us && row->version > entry->version)
                entry->version = row->version;
            if (row->from_us <= at_us && row->from_us > entry->changed_us)
                entry->changed_us = row->from_us;
            if (row->to_us <= at_us && row->to_us > entry->changed_us)
                entry->changed_us = row->to_us;
        }
        scan_release(&scan);
        key_release(&key);
    }
}

static bool list_sources(struct memory_db *db, struct arena *arena, int64_t at_us,
                         struct registry_entry_list *list, struct error *err)
{
    const struct registry_stored *row;
    struct scan scan;

    scan_init(&scan, table_of(db, REGISTRY_PROVENANCE), BY_ORDER, NULL, 0);
    while ((row = scan_next(&scan)) != NULL) {
        struct registry_entry *entry;

        if (row->from_us > at_us || row->to_us <= at_us)
            continue;
        entry = LIST_ADD(arena, list);
        if (entry == NULL || (entry->code = arena_copy(arena, row->code)).data == NULL)
            break;
        entry->changed_us = INT64_MIN;
        sum_up(db, at_us, entry);
    }
    scan_release(&scan);
    return !arena->failed || arena_error(arena, err);
}

static bool registry_list(struct store *store, struct arena *arena, int64_t at_us,
                          struct registry_entry_list *list, struct error *err)
{
    struct memory_call call;

    *list = (struct registry_entry_list){ 0 };
    return memory_enter(&call, store, "registry_list", err) &&
           memory_leave(&call, list_sources(call.db, arena, at_us, list, err), err);
}

const struct store_registry_ops MEMORY_REGISTRY_OPS = {
    .load = registry_load,
    .insert = registry_insert,
    .close = registry_close,
    .list = registry_list,
};
