/* The payload of an event as JSON. */
#include "engine/execute/record_event.h"

#include "base/instant.h"
#include "core/limits.h"
#include "data/json_write.h"

/* The output fields may be anything the page was; the rest is some hundred bytes. */
enum { EVENT_BYTES_MAX = PAGE_BYTES_MAX };

struct str record_event_place(struct arena *arena, const struct record_context *context)
{
    return arena_printf(arena, "%.*s/%.*s", STR_ARG(context->source), STR_ARG(context->endpoint));
}

static void write_lineage(struct json_writer *w, const struct lineage *lineage)
{
    json_write_name(w, STR("lineage"));
    json_write_object(w);
    json_write_member_i64(w, STR("scheduleInstanceId"), lineage->schedule_instance_id);
    json_write_member_i64(w, STR("planId"), lineage->plan_id);
    json_write_member_i64(w, STR("sliceId"), lineage->slice_id);
    json_write_member_i64(w, STR("taskId"), lineage->task_id);
    json_write_member_i64(w, STR("runId"), lineage->run_id);
    json_write_member_i64(w, STR("batchId"), lineage->batch_id);
    json_write_end(w);
}

static void write_state(struct json_writer *w, const struct record_event *record)
{
    const struct record_write *write = record->write;
    char date[INSTANT_TEXT_MAX];

    json_write_member_str(w, STR("source"), record->context->source);
    json_write_member_str(w, STR("endpoint"), record->context->endpoint);
    json_write_member_str(w, STR("id"), write->provider_id);
    json_write_member_i64(w, STR("version"), write->version);
    if (write->has_updated)
        json_write_member_str(w, STR("updatedAt"),
                              (struct str){ date, instant_format(write->updated_us, date) });
    if (write->provider_version.len > 0)
        json_write_member_str(w, STR("providerVersion"), write->provider_version);
    json_write_member_bool(w, STR("deleted"), write->is_deleted);
    if (record->merged_into.len > 0)
        json_write_member_str(w, STR("mergedInto"), record->merged_into);
    json_write_member_str(w, STR("contentHash"), write->content_hash);
    json_write_member_str(w, STR("exprHash"), record->context->expr_hash);
    if (record->fields.len > 0) {
        json_write_name(w, STR("fields"));
        json_write_raw(w, record->fields);
    }
}

bool record_event_make(const struct record_event *record, struct arena *arena,
                       struct outbox_event *event, struct error *err)
{
    struct json_writer writer;
    struct buf body;

    buf_init(&body, arena, EVENT_BYTES_MAX);
    json_writer_init(&writer, &body);
    json_write_object(&writer);
    write_state(&writer, record);
    write_lineage(&writer, &record->context->lineage);
    json_write_end(&writer);
    json_writer_finish(&writer);
    event->aggregate_id = record->write->provider_id;
    event->event_type = str_of(record->type);
    event->version = record->write->version;
    event->schema_version = RECORD_EVENT_SCHEMA;
    event->occurred_us = record->context->now_us;
    event->payload = buf_str(&body);
    return buf_ok(&body, err);
}
