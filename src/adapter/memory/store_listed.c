#include "adapter/memory/store_listed.h"

#include "adapter/memory/store_base.h"
#include "port/store_record.h"

struct listed {
    int64_t id;
    int64_t task_id;
    int64_t position;
    struct str provider_id;
};

static bool position_key(const void *row, struct key *key)
{
    const struct listed *listed = row;

    key_add_i64(key, listed->task_id);
    key_add_i64(key, listed->position);
    return true;
}

const struct table_def MEMORY_LISTED_TABLE = {
    .name = "ing_listed_id",
    .row_size = sizeof(struct listed),
    .text_count = 1,
    .texts = { TEXT_DEF(struct listed, provider_id, TEXT_PLAIN) },
    .index_count = 1,
    .indexes = { { "ing_listed_id_pkey", true, position_key } },
};

/* The first row of the task behind position `after`. */
static void scan_from(struct scan *scan, struct memory_db *db, int64_t task_id, int64_t after)
{
    struct key key = { 0 };
    size_t prefix;

    key_add_i64(&key, task_id);
    prefix = key.len;
    key_add_i64(&key, after + 1);
    scan_init(scan, &db->tables[MEMORY_LISTED], 0, &key, prefix);
    key_release(&key);
}

static bool has_behind(struct memory_db *db, int64_t task_id, int64_t position)
{
    struct scan scan;
    bool has;

    scan_from(&scan, db, task_id, position);
    has = scan_next(&scan) != NULL;
    scan_release(&scan);
    return has;
}

/* Positions have no gaps: the last one is their number, and found by halving. */
static int64_t count_listed(struct memory_db *db, int64_t task_id)
{
    int64_t low = 0;
    int64_t high = 1;

    while (has_behind(db, task_id, high))
        high *= 2;
    while (low < high) {
        const int64_t middle = low + (high - low) / 2;

        if (has_behind(db, task_id, middle))
            low = middle + 1;
        else
            high = middle;
    }
    return low;
}

static bool add(struct memory_db *db, int64_t task_id, const struct str *ids, size_t count,
                struct error *err)
{
    const int64_t before = count_listed(db, task_id);

    if (count > 0 && !memory_refers(db, MEMORY_TASK, task_id, err))
        return false;
    for (size_t i = 0; i < count; i++) {
        const struct listed row = { .task_id = task_id,
                                    .position = before + 1 + (int64_t)i,
                                    .provider_id = ids[i] };
        int64_t id;

        if (!memory_check(ids[i].len > 0 && ids[i].len <= PROVIDER_ID_MAX, "provider_id", err) ||
            !memory_insert(db, MEMORY_LISTED, &row, &id, err))
            return false;
    }
    return true;
}

bool memory_listed_add(struct store *store, int64_t task_id, const struct str *ids, size_t count,
                       struct error *err)
{
    struct memory_call call;

    return memory_enter(&call, store, "listed_add", err) &&
           memory_leave(&call, add(call.db, task_id, ids, count, err), err);
}

static bool list_ids(struct memory_db *db, struct arena *arena, int64_t task_id, int64_t after,
                     int64_t limit, struct listed_list *list, struct error *err)
{
    const struct listed *listed;
    struct scan scan;

    scan_from(&scan, db, task_id, after);
    while ((int64_t)list->count < limit && !arena->failed && (listed = scan_next(&scan)) != NULL) {
        struct str *id = LIST_ADD(arena, list);

        if (id != NULL)
            *id = arena_copy(arena, listed->provider_id);
    }
    scan_release(&scan);
    return !arena->failed || arena_error(arena, err);
}

bool memory_listed_list(struct store *store, struct arena *arena, int64_t task_id, int64_t after,
                        int64_t limit, struct listed_list *list, struct error *err)
{
    struct memory_call call;

    *list = (struct listed_list){ 0 };
    return memory_enter(&call, store, "listed_list", err) &&
           memory_leave(&call, list_ids(call.db, arena, task_id, after, limit, list, err), err);
}
