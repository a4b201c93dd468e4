#include "port/store_rate.h"

#include "adapter/memory/store_base.h"

static bool gate_key(const void *row, struct key *key)
{
    key_add_str(key, ((const struct gate_stored *)row)->key);
    return true;
}

const struct table_def MEMORY_RATE_TABLE = {
    .name = "ing_rate_gate",
    .row_size = sizeof(struct gate_stored),
    .text_count = 1,
    .texts = { TEXT_DEF(struct gate_stored, key, TEXT_PLAIN) },
    .index_count = 1,
    .indexes = { { "ing_rate_gate_pkey", true, gate_key } },
};

struct quota_stored {
    int64_t id;
    struct str key;
    enum quota_window window;
    int64_t from_us;
    struct quota_count count;
};

static bool quota_key(const void *row, struct key *key)
{
    const struct quota_stored *stored = row;

    key_add_str(key, stored->key);
    key_add_i64(key, (int64_t)stored->window);
    key_add_i64(key, stored->from_us);
    return true;
}

const struct table_def MEMORY_QUOTA_TABLE = {
    .name = "ing_rate_quota",
    .row_size = sizeof(struct quota_stored),
    .text_count = 1,
    .texts = { TEXT_DEF(struct quota_stored, key, TEXT_PLAIN) },
    .index_count = 1,
    .indexes = { { "ing_rate_quota_pkey", true, quota_key } },
};

struct slot_stored {
    int64_t id;
    struct str key;
    struct str owner;
    int64_t until_us;
};

static bool slot_key(const void *row, struct key *key)
{
    const struct slot_stored *slot = row;

    key_add_str(key, slot->key);
    key_add_i64(key, slot->until_us);
    return true;
}

const struct table_def MEMORY_SLOT_TABLE = {
    .name = "ing_rate_permit",
    .row_size = sizeof(struct slot_stored),
    .text_count = 2,
    .texts = { TEXT_DEF(struct slot_stored, key, TEXT_PLAIN),
               TEXT_DEF(struct slot_stored, owner, TEXT_PLAIN) },
    .index_count = 1,
    .indexes = { { "idx_permit_expiry", false, slot_key } },
};

/* The row whose key is made from `row`. */
static const void *find(struct memory_db *db, int table,
                        bool (*make)(const void *row, struct key *key), const void *row)
{
    const void *found;
    struct key key = { 0 };

    (void)make(row, &key);
    found = table_find(&db->tables[table], 0, &key);
    key_release(&key);
    return found;
}

/* ---- the gate ---- */

static bool rate_clock(struct store *store, int64_t local_us, int64_t *now_us, struct error *err)
{
    struct memory_call call;

    if (!memory_enter(&call, store, "clock", err))
        return false;
    *now_us = local_us;
    return memory_leave(&call, true, err);
}

static bool load_gate(struct store *store, const char *name, struct str key, struct rate_gate *gate,
                      struct error *err)
{
    const struct gate_stored *row;
    struct memory_call call;

    if (!memory_enter(&call, store, name, err))
        return false;
    row = find(call.db, MEMORY_RATE, gate_key, &(struct gate_stored){ .key = key });
    *gate = row != NULL ? row->gate : (struct rate_gate){ .parked_until_us = INT64_MIN };
    return memory_leave(&call, true, err);
}

static bool rate_load(struct store *store, struct str key, struct rate_gate *gate,
                      struct error *err)
{
    return load_gate(store, "rate_load", key, gate, err);
}

static bool rate_peek(struct store *store, struct str key, struct rate_gate *gate,
                      struct error *err)
{
    return load_gate(store, "rate_peek", key, gate, err);
}

static bool save_gate(struct memory_db *db, struct str key, const struct rate_gate *gate,
                      bool *saved, struct error *err)
{
    struct gate_stored row = { .key = key, .gate = *gate };
    const struct gate_stored *old = find(db, MEMORY_RATE, gate_key, &row);

    *saved = (old == NULL ? 0 : old->gate.version) == gate->version;
    if (!*saved)
        return true;
    row.gate.version++;
    row.id = old != NULL ? old->id : 0;
    return memory_check(key.len > 0, "rate_key", err) &&
           memory_check(gate->bucket.rate > 0, "rate", err) &&
           (old != NULL ? memory_update(db, MEMORY_RATE, &row, err)
                        : memory_insert(db, MEMORY_RATE, &row, &row.id, err));
}

static bool rate_save(struct store *store, struct str key, const struct rate_gate *gate,
                      int64_t now_us, bool *saved, struct error *err)
{
    struct memory_call call;

    (void)now_us;
    return memory_enter(&call, store, "rate_save", err) &&
           memory_leave(&call, save_gate(call.db, key, gate, saved, err), err);
}

/* ---- quota ---- */

static struct quota_stored row_of(const struct quota_key *key)
{
    return (struct quota_stored){ .key = key->rate_key,
                                  .window = key->window,
                                  .from_us = key->from_us };
}

static bool quota_load(struct store *store, const struct quota_key *key, struct quota_count *count,
                       struct error *err)
{
    const struct quota_stored wanted = row_of(key), *row;
    struct memory_call call;

    if (!memory_enter(&call, store, "quota_load", err))
        return false;
    row = find(call.db, MEMORY_QUOTA, quota_key, &wanted);
    *count = row != NULL ? row->count : (struct quota_count){ 0 };
    return memory_leave(&call, true, err);
}

static int64_t sum(int64_t count, int64_t more)
{
    return count + more > 0 ? count + more : 0;
}

static bool quota_add(struct store *store, const struct quota_key *key, enum quota_class rank,
                      int64_t used, int64_t booked, struct error *err)
{
    struct quota_stored row = row_of(key);
    const struct quota_stored *old;
    struct memory_call call;
    bool ok;

    if (!memory_enter(&call, store, "quota_add", err))
        return false;
    old = find(call.db, MEMORY_QUOTA, quota_key, &row);
    if (old != NULL)
        row = *old;
    row.count.used[rank] = sum(row.count.used[rank], used);
    row.count.booked[rank] = sum(row.count.booked[rank], booked);
    ok = memory_check(key->rate_key.len > 0, "rate_key", err) &&
         (old != NULL ? memory_update(call.db, MEMORY_QUOTA, &row, err)
                      : memory_insert(call.db, MEMORY_QUOTA, &row, &row.id, err));
    return memory_leave(&call, ok, err);
}

/* ---- slots ---- */

/* The key's slot that runs out first. */
static const struct slot_stored *first_slot(struct memory_db *db, struct str rate_key)
{
    const struct slot_stored *first;
    struct scan scan;
    struct key key = { 0 };

    key_add_str(&key, rate_key);
    scan_init(&scan, &db->tables[MEMORY_SLOT], 0, &key, key.len);
    first = scan_next(&scan);
    scan_release(&scan);
    key_release(&key);
    return first;
}

/* Frees what ran out, and counts the rest. */
static int64_t count_slots(struct memory_db *db, const struct rate_slot *slot)
{
    const struct slot_stored *first;
    struct scan scan;
    struct key key = { 0 };
    int64_t count = 0;

    while ((first = first_slot(db, slot->rate_key)) != NULL && first->until_us <= slot->now_us)
        table_delete(&db->tables[MEMORY_SLOT], &db->journal, first->id);
    key_add_str(&key, slot->rate_key);
    scan_init(&scan, &db->tables[MEMORY_SLOT], 0, &key, key.len);
    while (scan_next(&scan) != NULL)
        count++;
    scan_release(&scan);
    key_release(&key);
    return count;
}

static const struct slot_stored *slot_of(struct memory_db *db, struct str owner)
{
    const struct slot_stored *slot;
    struct scan scan;

    scan_init(&scan, &db->tables[MEMORY_SLOT], 0, NULL, 0);
    while ((slot = scan_next(&scan)) != NULL && !str_eq(slot->owner, owner))
        ;
    scan_release(&scan);
    return slot;
}

void memory_free_slots(struct memory_db *db, struct str owner)
{
    const struct slot_stored *slot;

    while ((slot = slot_of(db, owner)) != NULL)
        table_delete(&db->tables[MEMORY_SLOT], &db->journal, slot->id);
}

static bool slot_take(struct store *store, const struct rate_slot *slot, int64_t *id,
                      struct error *err)
{
    const struct slot_stored row = { .key = slot->rate_key,
                                     .owner = slot->owner,
                                     .until_us = slot->until_us };
    struct memory_call call;
    bool ok;

    *id = 0;
    if (!memory_enter(&call, store, "slot_take", err))
        return false;
    ok = memory_check(slot->rate_key.len > 0, "rate_key", err) &&
         (count_slots(call.db, slot) >= slot->max ||
          memory_insert(call.db, MEMORY_SLOT, &row, id, err));
    return memory_leave(&call, ok, err);
}

static bool slot_return(struct store *store, int64_t id, struct error *err)
{
    struct memory_call call;

    if (!memory_enter(&call, store, "slot_return", err))
        return false;
    if (table_get(&call.db->tables[MEMORY_SLOT], id) != NULL)
        table_delete(&call.db->tables[MEMORY_SLOT], &call.db->journal, id);
    return memory_leave(&call, true, err);
}

const struct store_rate_ops MEMORY_RATE_OPS = {
    .clock = rate_clock,
    .load = rate_load,
    .peek = rate_peek,
    .save = rate_save,
    .quota_load = quota_load,
    .quota_add = quota_add,
    .slot_take = slot_take,
    .slot_return = slot_return,
};
