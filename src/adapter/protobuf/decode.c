/* An event of Protobuf as the JSON that it was made of (encode.c): the same members in the same
 * order, each value exactly. A number may be written otherwise: 1.50 as 1.5. */
#include <event.pb-c.h>
#include <math.h>

#include "adapter/protobuf/check.h"
#include "adapter/protobuf/protobuf.h"
#include "base/instant.h"
#include "core/limits.h"
#include "data/json_write.h"

/* The key and the rest beside the body, as engine/message/envelope.c has them. */
enum { REST_MAX = 64 << 10 };

typedef Patra__Event__V1__Event event_message;
typedef Patra__Event__V1__Record record_message;
typedef Patra__Event__V1__Value value_message;

struct decoding {
    struct json_writer writer;
    const char *fault; /* what is not valid; NULL: nothing so far */
};

static void refuse(struct decoding *d, const char *what)
{
    if (d->fault == NULL)
        d->fault = what;
}

/* ---- values ---- */

static void write_value(struct decoding *d, const value_message *value);

static void write_list(struct decoding *d, const Patra__Event__V1__List *list)
{
    json_write_array(&d->writer);
    for (size_t i = 0; i < list->n_items; i++)
        write_value(d, list->items[i]);
    json_write_end(&d->writer);
}

static void write_object(struct decoding *d, const Patra__Event__V1__Object *object)
{
    json_write_object(&d->writer);
    for (size_t i = 0; i < object->n_members; i++) {
        json_write_name(&d->writer, str_of(object->members[i]->key));
        write_value(d, object->members[i]->value);
    }
    json_write_end(&d->writer);
}

/* JSON within the message. */
static void write_json(struct decoding *d, struct str json, bool is_number)
{
    if (json_is_valid(json) &&
        (!is_number || json.data[0] == '-' || (json.data[0] >= '0' && json.data[0] <= '9'))) {
        json_write_raw(&d->writer, json);
        return;
    }
    json_write_null(&d->writer);
    refuse(d, is_number ? "decimal" : "json");
}

static void write_number(struct decoding *d, double number)
{
    if (isfinite(number)) {
        json_write_double(&d->writer, number);
        return;
    }
    json_write_null(&d->writer);
    refuse(d, "number");
}

/* A field of a map without a value has NULL. */
static void write_value(struct decoding *d, const value_message *value)
{
    struct json_writer *w = &d->writer;

    switch (value != NULL ? value->kind_case : PATRA__EVENT__V1__VALUE__KIND__NOT_SET) {
    case PATRA__EVENT__V1__VALUE__KIND_IS_NULL:
        json_write_null(w);
        return;
    case PATRA__EVENT__V1__VALUE__KIND_BOOLEAN:
        json_write_bool(w, value->boolean != 0);
        return;
    case PATRA__EVENT__V1__VALUE__KIND_INTEGER:
        json_write_i64(w, value->integer);
        return;
    case PATRA__EVENT__V1__VALUE__KIND_NUMBER:
        write_number(d, value->number);
        return;
    case PATRA__EVENT__V1__VALUE__KIND_DECIMAL:
        write_json(d, str_of(value->decimal), true);
        return;
    case PATRA__EVENT__V1__VALUE__KIND_TEXT:
        json_write_str(w, str_of(value->text));
        return;
    case PATRA__EVENT__V1__VALUE__KIND_LIST:
        write_list(d, value->list);
        return;
    case PATRA__EVENT__V1__VALUE__KIND_OBJECT:
        write_object(d, value->object);
        return;
    case PATRA__EVENT__V1__VALUE__KIND_JSON:
        write_json(d, str_of(value->json), false);
        return;
    case PATRA__EVENT__V1__VALUE__KIND__NOT_SET:
    default: /* of a later version of the schema: rather nothing than something else */
        json_write_null(w);
        refuse(d, "kind of a value");
    }
}

/* ---- members of the event ---- */

static void write_text(struct decoding *d, const char *name, const char *text)
{
    if (text[0] == '\0')
        refuse(d, name);
    json_write_member_str(&d->writer, str_of(name), str_of(text));
}

static void write_text_opt(struct decoding *d, const char *name, const char *text)
{
    if (text[0] != '\0')
        write_text(d, name, text);
}

static void write_instant(struct decoding *d, const char *name,
                          const Patra__Event__V1__Instant *instant)
{
    if (instant == NULL || instant->us < INSTANT_MIN || instant->us > INSTANT_MAX)
        refuse(d, name);
    else
        json_write_member_instant(&d->writer, str_of(name), instant->us);
}

/* A deletion has none. */
static void write_fields(struct decoding *d, const record_message *record)
{
    if (record->deleted && record->n_fields == 0)
        return;
    json_write_name(&d->writer, STR("fields"));
    json_write_object(&d->writer);
    for (size_t i = 0; i < record->n_fields; i++) {
        json_write_name(&d->writer, str_of(record->fields[i]->key));
        write_value(d, record->fields[i]->value);
    }
    json_write_end(&d->writer);
}

/* JSON as it is; XML as a text, which is never JSON. */
static void write_payload(struct decoding *d, const char *payload)
{
    if (payload[0] == '\0')
        return;
    json_write_name(&d->writer, STR("payload"));
    if (json_is_valid(str_of(payload)))
        json_write_raw(&d->writer, str_of(payload));
    else
        json_write_str(&d->writer, str_of(payload));
}

static void write_lineage(struct decoding *d, const Patra__Event__V1__Lineage *lineage)
{
    static const Patra__Event__V1__Lineage NONE = PATRA__EVENT__V1__LINEAGE__INIT;
    const Patra__Event__V1__Lineage *l = lineage != NULL ? lineage : &NONE;
    struct json_writer *w = &d->writer;

    json_write_name(w, STR("lineage"));
    json_write_object(w);
    json_write_member_i64(w, STR("scheduleInstanceId"), l->schedule_instance_id);
    json_write_member_i64(w, STR("planId"), l->plan_id);
    json_write_member_i64(w, STR("sliceId"), l->slice_id);
    json_write_member_i64(w, STR("taskId"), l->task_id);
    json_write_member_i64(w, STR("runId"), l->run_id);
    json_write_member_i64(w, STR("batchId"), l->batch_id);
    json_write_end(w);
}

static void write_record(struct decoding *d, const record_message *record)
{
    struct json_writer *w = &d->writer;

    if (record->updated_at != NULL)
        write_instant(d, "updatedAt", record->updated_at);
    write_text_opt(d, "providerVersion", record->provider_version);
    json_write_member_bool(w, STR("deleted"), record->deleted != 0);
    write_text_opt(d, "mergedInto", record->merged_into);
    write_text_opt(d, "contentHash", record->content_hash);
    json_write_member_str(w, STR("exprHash"), str_of(record->expr_hash));
    write_fields(d, record);
    write_payload(d, record->payload);
    if (record->rederived)
        json_write_member_bool(w, STR("rederived"), true);
    write_lineage(d, record->lineage);
}

static void write_event(struct decoding *d, const event_message *event)
{
    struct json_writer *w = &d->writer;

    json_write_object(w);
    write_text(d, "eventId", event->event_id);
    write_text(d, "eventType", event->event_type);
    if (event->schema_version < 1)
        refuse(d, "schemaVersion");
    json_write_member_i64(w, STR("schemaVersion"), event->schema_version);
    write_instant(d, "occurredAt", event->occurred_at);
    write_text(d, "source", event->record->source);
    write_text(d, "endpoint", event->record->endpoint);
    write_text(d, "id", event->aggregate_id);
    json_write_member_i64(w, STR("version"), event->version);
    write_record(d, event->record);
    json_write_end(w);
    json_writer_finish(w);
}

/* ---- the bytes ---- */

static void *allocate(void *arena, size_t size)
{
    return arena_alloc_raw(arena, size > 0 ? size : 1);
}

static void give_back(void *arena, void *memory)
{
    (void)arena;
    (void)memory;
}

static bool no_event(struct arena *arena, const char *what, struct error *err)
{
    return arena->failed
               ? arena_error(arena, err)
               : error_set(err, ERROR_DATA, "event.body", "the event has no valid %s", what);
}

bool protobuf_event_decode(struct arena *arena, struct str bytes, struct str *json,
                           struct error *err)
{
    ProtobufCAllocator allocator = { allocate, give_back, arena };
    struct decoding d = { 0 };
    event_message *event;
    struct buf out;

    *json = (struct str){ 0 };
    if (!protobuf_is_plain(bytes, &patra__event__v1__event__descriptor))
        return no_event(arena, "Protobuf", err);
    event = patra__event__v1__event__unpack(&allocator, bytes.len, (const uint8_t *)bytes.data);
    if (event == NULL)
        return no_event(arena, "Protobuf", err);
    if (event->record == NULL)
        return no_event(arena, "record", err);
    buf_init(&out, arena, (size_t)EVENT_BYTES_MAX + REST_MAX);
    json_writer_init(&d.writer, &out);
    write_event(&d, event);
    if (d.fault != NULL)
        return no_event(arena, d.fault, err);
    *json = buf_str(&out);
    return buf_ok(&out, err) || no_event(arena, "size", err);
}
