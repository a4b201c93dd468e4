#include "adapter/postgres/postgres.h"
#include "adapter/sql/read.h"
#include "port/store_schedule.h"

enum {
    ADD_SCHEDULER = 1,
    ADD_JOB_ID,
    ADD_LOG_ID,
    ADD_TRIGGER,
    ADD_SOURCE,
    ADD_ENDPOINT,
    ADD_OPERATION,
    ADD_PARAMS,
    ADD_EXPR_PROTO_HASH,
    ADD_REMARKS,
    ADD_TRIGGERED,
};
static const char ADD[] =
    "INSERT INTO ing_schedule_instance (scheduler_code, scheduler_job_id, scheduler_log_id,"
    " trigger_type_code, provenance_code, endpoint_name, operation_code, trigger_params,"
    " expr_proto_hash, record_remarks, triggered_at, updated_at)"
    " VALUES ($1, $2, $3, $4, $5, $6, $7, $8, $9, $10, $11, $11) RETURNING id";

static bool schedule_add(struct store *store, const struct schedule_instance *instance, int64_t *id,
                         struct error *err)
{
    struct query q;

    query_init(&q, postgres_store_of(store), ADD);
    set_text(&q, ADD_SCHEDULER, instance->scheduler);
    set_text(&q, ADD_JOB_ID, instance->job_id);
    set_text(&q, ADD_LOG_ID, instance->log_id);
    set_code(&q, ADD_TRIGGER, &TRIGGER_TYPE_CODES, (int)instance->trigger);
    set_text(&q, ADD_SOURCE, instance->source);
    set_text(&q, ADD_ENDPOINT, instance->endpoint);
    set_code(&q, ADD_OPERATION, &OPERATION_CODES, (int)instance->operation);
    set_json(&q, ADD_PARAMS, instance->params);
    set_text(&q, ADD_EXPR_PROTO_HASH, instance->expr_proto_hash);
    set_json(&q, ADD_REMARKS, instance->remarks);
    set_time(&q, ADD_TRIGGERED, instance->triggered_us);
    return rows_only_i64(&q.rows, id, err) || error_wrap(err, "add a schedule instance");
}

enum { GET_ID = 1 };
static const char GET[] = "SELECT " SCHEDULE_COLUMNS " FROM ing_schedule_instance WHERE id = $1";

static bool schedule_get(struct store *store, struct arena *arena, int64_t id,
                         struct schedule_instance *instance, bool *found, struct error *err)
{
    struct query q;

    query_init(&q, postgres_store_of(store), GET);
    set_i64(&q, GET_ID, id);
    *found = rows_next(&q.rows);
    if (*found)
        read_schedule(&q.rows, arena, instance);
    return rows_finish(&q.rows, err);
}

enum { TICK_SOURCE = 1, TICK_SCHEDULE, TICK_AT, TICK_OWNER, TICK_NOW };
static const char TICK_CLAIM[] =
    "INSERT INTO ing_schedule_tick (provenance_code, schedule_name, tick_at, claimed_by,"
    " claimed_at) VALUES ($1, $2, $3, $4, $5) ON CONFLICT DO NOTHING";

static bool tick_claim(struct store *store, const struct schedule_tick *tick, struct str owner,
                       int64_t now_us, bool *claimed, struct error *err)
{
    struct query q;
    int64_t changes;

    query_init(&q, postgres_store_of(store), TICK_CLAIM);
    set_text(&q, TICK_SOURCE, tick->source);
    set_text(&q, TICK_SCHEDULE, tick->schedule);
    set_time(&q, TICK_AT, tick->tick_us);
    set_text(&q, TICK_OWNER, owner);
    set_time(&q, TICK_NOW, now_us);
    if (!query_run(&q, &changes, err))
        return error_wrap(err, "claim a tick");
    *claimed = changes == 1;
    return true;
}

static const char TICK_LAST[] = "SELECT max(tick_at) FROM ing_schedule_tick"
                                " WHERE provenance_code = $1 AND schedule_name = $2";

static bool tick_last(struct store *store, struct str source, struct str schedule, int64_t *tick_us,
                      bool *found, struct error *err)
{
    struct query q;

    query_init(&q, postgres_store_of(store), TICK_LAST);
    set_text(&q, TICK_SOURCE, source);
    set_text(&q, TICK_SCHEDULE, schedule);
    *found = rows_next(&q.rows) && !rows_is_null(&q.rows);
    if (*found)
        *tick_us = rows_i64(&q.rows);
    return rows_finish(&q.rows, err);
}

const struct store_schedule_ops POSTGRES_SCHEDULE = {
    .add = schedule_add,
    .get = schedule_get,
    .tick_claim = tick_claim,
    .tick_last = tick_last,
};
