/* Events of records. */
#include "engine/event/record_event.h"

#include <string.h>

#include "base/instant.h"
#include "core/lane.h"
#include "core/limits.h"
#include "data/json_write.h"

/* The output fields may be anything the page was; the rest is some hundred bytes. */
enum { EVENT_BYTES_MAX = PAGE_BYTES_MAX, LINEAGE_BYTES_MAX = 1024 };

struct str record_event_aggregate(struct arena *arena, const struct record_context *context)
{
    return arena_printf(arena, "%.*s/%.*s", STR_ARG(context->source), STR_ARG(context->endpoint));
}

static void write_state(struct json_writer *w, const struct record_write *write,
                        const struct record_context *context, struct str merged_into)
{
    char date[INSTANT_TEXT_MAX];

    json_write_member_str(w, STR("source"), context->source);
    json_write_member_str(w, STR("endpoint"), context->endpoint);
    json_write_member_str(w, STR("id"), write->provider_id);
    json_write_member_i64(w, STR("version"), write->version);
    if (write->has_updated)
        json_write_member_str(w, STR("updatedAt"),
                              (struct str){ date, instant_format(write->updated_us, date) });
    if (write->provider_version.len > 0)
        json_write_member_str(w, STR("providerVersion"), write->provider_version);
    json_write_member_bool(w, STR("deleted"), write->is_deleted);
    if (merged_into.len > 0)
        json_write_member_str(w, STR("mergedInto"), merged_into);
    json_write_member_str(w, STR("contentHash"), write->content_hash);
    json_write_member_str(w, STR("exprHash"), context->expr_hash);
}

bool record_event_begin(struct record_change *change, const struct record_context *context,
                        const struct record_origin *origin, const struct record *record,
                        struct error *err)
{
    struct record_fields fields;
    struct json_writer writer;
    struct buf body;

    if (!record_fields(origin, record, &fields, err))
        return error_wrap(err, "fields of record %.*s", STR_ARG(record->provider_id));
    change->record.fields = fields.stored;
    buf_init(&body, origin->arena, EVENT_BYTES_MAX);
    json_writer_init(&writer, &body);
    json_write_object(&writer);
    write_state(&writer, &change->record, context, record->merged_into);
    if (fields.published.len > 0) {
        json_write_name(&writer, STR("fields"));
        json_write_raw(&writer, fields.published);
    }
    change->event.aggregate_id = change->record.provider_id;
    change->event.version = change->record.version;
    change->event.schema_version = RECORD_EVENT_SCHEMA;
    change->event.occurred_us = context->now_us;
    change->event.payload = buf_str(&body); /* the object is ended by record_events_end() */
    return buf_ok(&body, err);
}

bool record_event_name(struct outbox_event *event, const struct record_event_ids *ids,
                       struct str aggregate_type, struct error *err)
{
    unsigned char chance[UUID_RANDOM_BYTES];
    char *text = arena_alloc_raw(ids->arena, UUID_TEXT_MAX);

    if (text == NULL)
        return arena_error(ids->arena, err);
    random_source_bytes(ids->random, chance, sizeof(chance));
    uuid_format(uuid_make(ids->state, ids->now_us, chance), text);
    event->event_id = (struct str){ text, UUID_TEXT_MAX - 1 };
    event->aggregate_type = aggregate_type;
    event->lane = lane_of(aggregate_type, event->aggregate_id);
    return true;
}

/* ,"lineage":{...}} */
static struct str lineage_text(struct arena *arena, const struct lineage *lineage)
{
    return arena_printf(arena,
                        ",\"lineage\":{\"scheduleInstanceId\":%lld,\"planId\":%lld,"
                        "\"sliceId\":%lld,\"taskId\":%lld,\"runId\":%lld,\"batchId\":%lld}}",
                        (long long)lineage->schedule_instance_id, (long long)lineage->plan_id,
                        (long long)lineage->slice_id, (long long)lineage->task_id,
                        (long long)lineage->run_id, (long long)lineage->batch_id);
}

bool record_events_end(struct record_change *changes, size_t count, struct arena *arena,
                       const struct lineage *lineage, struct error *err)
{
    const struct str end = lineage_text(arena, lineage);

    for (size_t i = 0; i < count && !arena->failed; i++) {
        struct str *payload = &changes[i].event.payload;
        char *text = arena_alloc_raw(arena, payload->len + end.len);

        if (text == NULL)
            break;
        memcpy(text, payload->data, payload->len);
        memcpy(text + payload->len, end.data, end.len);
        *payload = (struct str){ text, payload->len + end.len };
    }
    return !arena->failed || arena_error(arena, err);
}
