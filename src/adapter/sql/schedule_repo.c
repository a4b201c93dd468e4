/* Triggers that have fired, and the ticks of schedules. */
#include "adapter/sql/session.h"
#include "port/store_schedule.h"

#define SCHEDULE_COLUMNS                                                                \
    "id, scheduler_code, scheduler_job_id, scheduler_log_id, trigger_type_code,"        \
    " provenance_code, endpoint_name, operation_code, trigger_params, expr_proto_hash," \
    " record_remarks, triggered_at"

static void read_schedule(struct rows *rows, struct arena *arena,
                          struct schedule_instance *instance)
{
    instance->id = rows_i64(rows);
    instance->scheduler = rows_text(rows, arena);
    instance->job_id = rows_text(rows, arena);
    instance->log_id = rows_text(rows, arena);
    instance->trigger = (enum trigger_type)rows_code(rows, &TRIGGER_TYPE_CODES);
    instance->source = rows_text(rows, arena);
    instance->endpoint = rows_text(rows, arena);
    instance->operation = (enum operation)rows_code(rows, &OPERATION_CODES);
    instance->params = rows_text(rows, arena);
    instance->expr_proto_hash = rows_text(rows, arena);
    instance->remarks = rows_text(rows, arena);
    instance->triggered_us = rows_i64(rows);
}

static const char ADD[] =
    "INSERT INTO ing_schedule_instance (scheduler_code, scheduler_job_id, scheduler_log_id,"
    " trigger_type_code, provenance_code, endpoint_name, operation_code, trigger_params,"
    " expr_proto_hash, record_remarks, triggered_at, updated_at)"
    " VALUES (:scheduler, :job_id, :log_id, :trigger, :source, :endpoint, :operation, :params,"
    " :expr_proto_hash, :remarks, :triggered, :triggered) RETURNING id";

static bool schedule_add(struct store *store, const struct schedule_instance *instance, int64_t *id,
                         struct error *err)
{
    struct statement *st = statement_of(store, ADD);

    bind_text(st, ":scheduler", instance->scheduler);
    bind_text(st, ":job_id", instance->job_id);
    bind_text(st, ":log_id", instance->log_id);
    bind_code(st, ":trigger", &TRIGGER_TYPE_CODES, (int)instance->trigger);
    bind_text(st, ":source", instance->source);
    bind_text(st, ":endpoint", instance->endpoint);
    bind_code(st, ":operation", &OPERATION_CODES, (int)instance->operation);
    bind_json(st, ":params", instance->params);
    bind_text(st, ":expr_proto_hash", instance->expr_proto_hash);
    bind_json(st, ":remarks", instance->remarks);
    bind_instant(st, ":triggered", instance->triggered_us);
    return rows_only_i64(&st->rows, id, err) || error_wrap(err, "add a schedule instance");
}

static const char GET[] = "SELECT " SCHEDULE_COLUMNS " FROM ing_schedule_instance WHERE id = :id";

static bool schedule_get(struct store *store, struct arena *arena, int64_t id,
                         struct schedule_instance *instance, bool *found, struct error *err)
{
    struct statement *st = statement_of(store, GET);

    bind_i64(st, ":id", id);
    *found = rows_next(&st->rows);
    if (*found)
        read_schedule(&st->rows, arena, instance);
    return rows_finish(&st->rows, err);
}

static const char TICK_CLAIM[] =
    "INSERT INTO ing_schedule_tick (provenance_code, schedule_name, tick_at, claimed_by,"
    " claimed_at) VALUES (:source, :schedule, :tick, :owner, :now) ON CONFLICT DO NOTHING";

static bool tick_claim(struct store *store, const struct schedule_tick *tick, struct str owner,
                       int64_t now_us, bool *claimed, struct error *err)
{
    struct statement *st = statement_of(store, TICK_CLAIM);

    bind_text(st, ":source", tick->source);
    bind_text(st, ":schedule", tick->schedule);
    bind_instant(st, ":tick", tick->tick_us);
    bind_text(st, ":owner", owner);
    bind_instant(st, ":now", now_us);
    return statement_changed(st, claimed, err) || error_wrap(err, "claim a tick");
}

static const char TICK_LAST[] = "SELECT max(tick_at) FROM ing_schedule_tick"
                                " WHERE provenance_code = :source AND schedule_name = :schedule";

static bool tick_last(struct store *store, struct str source, struct str schedule, int64_t *tick_us,
                      bool *found, struct error *err)
{
    struct statement *st = statement_of(store, TICK_LAST);

    bind_text(st, ":source", source);
    bind_text(st, ":schedule", schedule);
    *found = rows_next(&st->rows) && !rows_is_null(&st->rows);
    if (*found)
        *tick_us = rows_i64(&st->rows);
    return rows_finish(&st->rows, err);
}

const struct store_schedule_ops SQL_SCHEDULE = {
    .add = schedule_add,
    .get = schedule_get,
    .tick_claim = tick_claim,
    .tick_last = tick_last,
};
