#include "port/store_schedule.h"
#include "adapter/memory/store_base.h"

const struct table_def MEMORY_SCHEDULE_TABLE = {
    .name = "ing_schedule_instance",
    .row_size = sizeof(struct schedule_instance),
    .text_count = 8,
    .texts = { TEXT_DEF(struct schedule_instance, scheduler, TEXT_PLAIN),
               TEXT_DEF(struct schedule_instance, job_id, TEXT_PLAIN),
               TEXT_DEF(struct schedule_instance, log_id, TEXT_PLAIN),
               TEXT_DEF(struct schedule_instance, source, TEXT_PLAIN),
               TEXT_DEF(struct schedule_instance, endpoint, TEXT_PLAIN),
               TEXT_DEF(struct schedule_instance, params, TEXT_JSON),
               TEXT_DEF(struct schedule_instance, expr_proto_hash, TEXT_PLAIN),
               TEXT_DEF(struct schedule_instance, remarks, TEXT_JSON) },
};

struct tick_stored {
    int64_t id;
    struct str source;
    struct str schedule;
    int64_t tick_us;
};

static bool tick_key(const void *row, struct key *key)
{
    const struct tick_stored *tick = row;

    key_add_str(key, tick->source);
    key_add_str(key, tick->schedule);
    key_add_i64(key, tick->tick_us);
    return true;
}

const struct table_def MEMORY_TICK_TABLE = {
    .name = "ing_schedule_tick",
    .row_size = sizeof(struct tick_stored),
    .text_count = 2,
    .texts = { TEXT_DEF(struct tick_stored, source, TEXT_PLAIN),
               TEXT_DEF(struct tick_stored, schedule, TEXT_PLAIN) },
    .index_count = 1,
    .indexes = { { "ing_schedule_tick_pkey", true, tick_key } },
};

static bool schedule_add(struct store *store, const struct schedule_instance *instance, int64_t *id,
                         struct error *err)
{
    struct memory_call call;

    return memory_enter(&call, store, "schedule_add", err) &&
           memory_leave(&call,
                        memory_check(instance->source.len > 0, "source", err) &&
                            memory_check(instance->scheduler.len > 0, "scheduler", err) &&
                            memory_insert(call.db, MEMORY_SCHEDULE, instance, id, err),
                        err);
}

static bool schedule_get(struct store *store, struct arena *arena, int64_t id,
                         struct schedule_instance *instance, bool *found, struct error *err)
{
    struct memory_call call;
    const void *row;

    if (!memory_enter(&call, store, "schedule_get", err))
        return false;
    row = table_get(&call.db->tables[MEMORY_SCHEDULE], id);
    *found = row != NULL;
    return memory_leave(
        &call, !*found || memory_give(call.db, MEMORY_SCHEDULE, row, arena, instance, err), err);
}

static bool claim(struct memory_db *db, const struct schedule_tick *tick, bool *claimed,
                  struct error *err)
{
    const struct tick_stored row = { .source = tick->source,
                                     .schedule = tick->schedule,
                                     .tick_us = tick->tick_us };
    struct key key = { 0 };
    int64_t id;

    (void)tick_key(&row, &key);
    *claimed = table_find(&db->tables[MEMORY_TICK], 0, &key) == NULL;
    key_release(&key);
    return !*claimed || memory_insert(db, MEMORY_TICK, &row, &id, err);
}

static bool tick_claim(struct store *store, const struct schedule_tick *tick, struct str owner,
                       int64_t now_us, bool *claimed, struct error *err)
{
    struct memory_call call;

    (void)owner;
    (void)now_us;
    return memory_enter(&call, store, "tick_claim", err) &&
           memory_leave(&call, claim(call.db, tick, claimed, err), err);
}

static bool tick_last(struct store *store, struct str source, struct str schedule, int64_t *tick_us,
                      bool *found, struct error *err)
{
    const struct tick_stored *tick;
    struct memory_call call;
    struct scan scan;
    struct key key = { 0 };

    if (!memory_enter(&call, store, "tick_last", err))
        return false;
    *found = false;
    key_add_str(&key, source);
    key_add_str(&key, schedule);
    scan_init(&scan, &call.db->tables[MEMORY_TICK], 0, &key, key.len);
    while ((tick = scan_next(&scan)) != NULL) { /* ascending: the last one stays */
        *tick_us = tick->tick_us;
        *found = true;
    }
    scan_release(&scan);
    key_release(&key);
    return memory_leave(&call, true, err);
}

const struct store_schedule_ops MEMORY_SCHEDULE_OPS = {
    .add = schedule_add,
    .get = schedule_get,
    .tick_claim = tick_claim,
    .tick_last = tick_last,
};
