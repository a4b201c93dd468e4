/* Events of records. */
#include "engine/event/record_event.h"

#include "base/instant.h"
#include "core/lane.h"
#include "core/limits.h"
#include "data/json_write.h"
#include "engine/event/lineage_json.h"

struct str record_event_aggregate(struct arena *arena, const struct record_context *context)
{
    return arena_printf(arena, "%.*s/%.*s", STR_ARG(context->source), STR_ARG(context->endpoint));
}

static void write_state(struct json_writer *w, const struct record_write *write,
                        struct str merged_into)
{
    char date[INSTANT_TEXT_MAX];

    if (write->has_updated)
        json_write_member_str(w, STR("updatedAt"),
                              (struct str){ date, instant_format(write->updated_us, date) });
    if (write->provider_version.len > 0)
        json_write_member_str(w, STR("providerVersion"), write->provider_version);
    if (merged_into.len > 0)
        json_write_member_str(w, STR("mergedInto"), merged_into);
    json_write_member_str(w, STR("contentHash"), write->content_hash);
}

static bool write_fields(struct json_writer *w, const struct record_origin *origin,
                         const struct record *record, struct str published, struct error *err)
{
    struct str payload;

    if (published.len == 0) /* a tombstone's */
        return true;
    json_write_name(w, STR("fields"));
    json_write_raw(w, published);
    if (!origin->reader->endpoint->event_payload)
        return true;
    if (!record_payload_json(origin, record, &payload, err))
        return error_wrap(err, "payload of record %.*s", STR_ARG(record->provider_id));
    json_write_name(w, STR("payload"));
    json_write_raw(w, payload);
    return true;
}

/* What the batch and its plan do not say of this event. */
static void write_cause(struct json_writer *w, const struct record_context *context,
                        const struct record_event_cause *cause)
{
    if (!cause->is_later)
        return;
    json_write_member_str(w, STR("exprHash"), context->expr_hash);
    if (cause->is_rederived)
        json_write_member_bool(w, STR("rederived"), true);
    if (context->lineage.batch_id == 0) {
        json_write_name(w, STR("lineage"));
        lineage_json_write(w, &context->lineage);
    }
}

static void event_begin(struct json_writer *w, struct buf *body, struct arena *arena,
                        const struct record_write *write, struct str merged_into)
{
    buf_init(body, arena, EVENT_BYTES_MAX);
    json_writer_init(w, body);
    json_write_object(w);
    write_state(w, write, merged_into);
}

static bool event_end(struct json_writer *w, struct buf *body, struct record_change *change,
                      const struct record_context *context, struct error *err)
{
    json_write_end(w);
    json_writer_finish(w);
    change->event.batch_id = context->lineage.batch_id;
    change->event.version = change->record.version;
    change->event.schema_version = RECORD_EVENT_SCHEMA;
    change->event.occurred_us = context->now_us;
    change->event.body = buf_str(body);
    return buf_ok(body, err);
}

bool record_event_make(struct record_change *change, const struct record_context *context,
                       const struct record_event_cause *cause, const struct record_origin *origin,
                       const struct record *record, struct error *err)
{
    struct record_fields fields;
    struct json_writer writer;
    struct buf body;

    if (!record_fields(origin, record, &fields, err))
        return error_wrap(err, "fields of record %.*s", STR_ARG(record->provider_id));
    change->record.fields = fields.stored;
    event_begin(&writer, &body, origin->arena, &change->record, record->merged_into);
    if (!write_fields(&writer, origin, record, fields.published, err))
        return false;
    write_cause(&writer, context, cause);
    return event_end(&writer, &body, change, context, err);
}

bool record_event_gone(struct record_change *change, const struct record_context *context,
                       const struct record_event_cause *cause, struct arena *arena,
                       struct error *err)
{
    struct json_writer writer;
    struct buf body;

    event_begin(&writer, &body, arena, &change->record, STR(""));
    write_cause(&writer, context, cause);
    return event_end(&writer, &body, change, context, err);
}

bool record_event_name(struct record_change *change, const struct record_event_ids *ids,
                       struct str aggregate_type, struct error *err)
{
    unsigned char chance[UUID_RANDOM_BYTES];
    char *text = arena_alloc_raw(ids->arena, UUID_TEXT_MAX);

    if (text == NULL)
        return arena_error(ids->arena, err);
    random_source_bytes(ids->random, chance, sizeof(chance));
    uuid_format(uuid_make(ids->state, ids->now_us, chance), text);
    change->event.event_id = (struct str){ text, UUID_TEXT_MAX - 1 };
    change->event.lane = lane_of(aggregate_type, change->record.provider_id);
    return true;
}
