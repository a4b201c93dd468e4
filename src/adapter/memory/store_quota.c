#include "port/store_quota.h"
#include "adapter/memory/store_base.h"

struct quota_stored {
    int64_t id;
    struct quota_name name;
    struct quota_count count;
};

static void add_key(struct key *key, const struct quota_name *name)
{
    key_add_str(key, name->rate_key);
    key_add_i64(key, (int64_t)name->window);
    key_add_i64(key, name->from_us);
}

static bool quota_key(const void *row, struct key *key)
{
    add_key(key, &((const struct quota_stored *)row)->name);
    return true;
}

const struct table_def MEMORY_QUOTA_TABLE = {
    .name = "ing_rate_quota",
    .row_size = sizeof(struct quota_stored),
    .text_count = 1,
    .texts = { TEXT_DEF(struct quota_stored, name.rate_key, TEXT_PLAIN) },
    .index_count = 1,
    .indexes = { { "ing_rate_quota_pkey", true, quota_key } },
};

static const struct quota_stored *find(struct memory_db *db, const struct quota_name *name)
{
    const struct quota_stored *found;
    struct key key = { 0 };

    add_key(&key, name);
    found = table_find(&db->tables[MEMORY_QUOTA], 0, &key);
    key_release(&key);
    return found;
}

static bool quota_load(struct store *store, const struct quota_name *name,
                       struct quota_count *count, struct error *err)
{
    const struct quota_stored *found;
    struct memory_call call;

    if (!memory_enter(&call, store, "quota_load", err))
        return false;
    found = find(call.db, name);
    *count = found != NULL ? found->count : (struct quota_count){ 0 };
    return memory_leave(&call, true, err);
}

static bool quota_book(struct store *store, const struct quota_name *name, enum operation operation,
                       int64_t requests, struct error *err)
{
    struct quota_stored row = { .name = *name };
    const struct quota_stored *old;
    struct memory_call call;
    bool ok;

    if (!memory_enter(&call, store, "quota_book", err))
        return false;
    old = find(call.db, name);
    if (old != NULL)
        row = *old;
    row.count.booked[operation] += requests;
    ok = old != NULL ? memory_update(call.db, MEMORY_QUOTA, &row, err)
                     : memory_insert(call.db, MEMORY_QUOTA, &row, &row.id, err);
    return memory_leave(&call, ok, err);
}

const struct store_quota_ops MEMORY_QUOTA_OPS = {
    .load = quota_load,
    .book = quota_book,
};
