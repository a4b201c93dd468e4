/* The wire event as Protobuf, by protobuf-c.
 *
 * The message is built of structs in the arena, whose texts protobuf-c ends at a NUL; a value that
 * has one is therefore written as JSON. */
#include <event.pb-c.h>
#include <float.h>
#include <math.h>
#include <string.h>

#include "adapter/protobuf/protobuf.h"
#include "data/date.h"
#include "data/json.h"

/* Decoders stop at a hundred messages inside each other; an object takes three. */
enum { NESTED_MAX = 30, EXACT_DIGITS = 15 };

typedef Patra__Event__V1__Event event_message;
typedef Patra__Event__V1__Record record_message;
typedef Patra__Event__V1__Value value_message;
typedef Patra__Event__V1__Object__MembersEntry member_message;
typedef Patra__Event__V1__Record__FieldsEntry field_message;

struct encoding {
    struct arena *arena;
    struct json_doc doc;
    struct error *err;
};

/* With its defaults; NULL when the arena is full. */
static void *new_message(const struct encoding *e, const ProtobufCMessageDescriptor *kind)
{
    void *message = arena_alloc(e->arena, kind->sizeof_message);

    if (message != NULL)
        protobuf_c_message_init(kind, message);
    return message;
}

static bool refuse(struct encoding *e, const char *what)
{
    return e->arena->failed
               ? arena_error(e->arena, e->err)
               : error_set(e->err, ERROR_DATA, "event.body", "the event has no valid %s", what);
}

/* ---- values ---- */

static char *text_of(struct encoding *e, struct str text)
{
    return (char *)arena_copy(e->arena, text).data; /* with a NUL after it */
}

/* The decoded string; false: protobuf-c cannot hold it exactly. */
static bool plain_text(struct encoding *e, struct json_node node, char **text)
{
    struct error ignored;
    struct str value;

    if (!json_string_is_whole(&e->doc, node) ||
        !json_string(&e->doc, node, e->arena, &value, &ignored) ||
        str_find_char(value, '\0') < value.len)
        return false;
    *text = text_of(e, value);
    return true;
}

static void set_json(struct encoding *e, value_message *value, struct json_node node)
{
    value->kind_case = PATRA__EVENT__V1__VALUE__KIND_JSON;
    value->json = text_of(e, json_raw(&e->doc, node));
}

/* Digits from the first that is not 0 to the last that is not 0. */
static int significant_digits(struct str number)
{
    int digits = 0, zeros = 0;

    for (size_t i = 0; i < number.len && number.data[i] != 'e' && number.data[i] != 'E'; i++) {
        const char c = number.data[i];

        if (c < '0' || c > '9' || (c == '0' && digits == 0))
            continue;
        zeros = c == '0' ? zeros + 1 : 0;
        digits++;
    }
    return digits - zeros;
}

static void set_number(struct encoding *e, value_message *value, struct json_node node)
{
    const struct str text = json_raw(&e->doc, node);
    const int digits = significant_digits(text);
    double number = 0;

    if (json_i64(&e->doc, node, &value->integer)) {
        value->kind_case = PATRA__EVENT__V1__VALUE__KIND_INTEGER;
        return;
    }
    (void)json_double(&e->doc, node, &number);
    if (digits <= EXACT_DIGITS && isfinite(number) && fabs(number) >= DBL_MIN) {
        value->kind_case = PATRA__EVENT__V1__VALUE__KIND_NUMBER;
        value->number = number;
        return;
    }
    value->kind_case = PATRA__EVENT__V1__VALUE__KIND_DECIMAL;
    value->decimal = text_of(e, text);
}

static value_message *value_of(struct encoding *e, struct json_node node, int depth);

static void set_list(struct encoding *e, value_message *value, struct json_node node, int depth)
{
    Patra__Event__V1__List *list = new_message(e, &patra__event__v1__list__descriptor);
    struct json_iter it = json_each(&e->doc, node);
    const size_t count = json_count(&e->doc, node);

    if (list == NULL || (list->items = ARENA_ARRAY(e->arena, value_message *, count + 1)) == NULL)
        return;
    while (json_next(&it))
        list->items[list->n_items++] = value_of(e, it.value, depth + 1);
    value->kind_case = PATRA__EVENT__V1__VALUE__KIND_LIST;
    value->list = list;
}

static void set_object(struct encoding *e, value_message *value, struct json_node node, int depth)
{
    Patra__Event__V1__Object *object = new_message(e, &patra__event__v1__object__descriptor);
    struct json_iter it = json_each(&e->doc, node);
    const size_t count = json_count(&e->doc, node);

    if (object == NULL ||
        (object->members = ARENA_ARRAY(e->arena, member_message *, count + 1)) == NULL)
        return;
    while (json_next(&it)) {
        member_message *member =
            new_message(e, &patra__event__v1__object__members_entry__descriptor);

        if (member == NULL)
            return;
        if (!plain_text(e, it.name, &member->key)) {
            set_json(e, value, node);
            return;
        }
        member->value = value_of(e, it.value, depth + 1);
        object->members[object->n_members++] = member;
    }
    value->kind_case = PATRA__EVENT__V1__VALUE__KIND_OBJECT;
    value->object = object;
}

static void set_text(struct encoding *e, value_message *value, struct json_node node)
{
    if (plain_text(e, node, &value->text))
        value->kind_case = PATRA__EVENT__V1__VALUE__KIND_TEXT;
    else
        set_json(e, value, node);
}

static void set_boolean(struct encoding *e, value_message *value, struct json_node node)
{
    bool is_true = false;

    (void)json_bool(&e->doc, node, &is_true);
    value->kind_case = PATRA__EVENT__V1__VALUE__KIND_BOOLEAN;
    value->boolean = is_true;
}

/* NULL when the arena is full. */
static value_message *value_of(struct encoding *e, struct json_node node, int depth)
{
    value_message *value = new_message(e, &patra__event__v1__value__descriptor);
    const enum json_type type = json_type(&e->doc, node);

    if (value == NULL)
        return NULL;
    if (type == JSON_STRING) {
        set_text(e, value, node);
    } else if (type == JSON_NUMBER) {
        set_number(e, value, node);
    } else if (type == JSON_BOOL) {
        set_boolean(e, value, node);
    } else if (type == JSON_NULL) {
        value->kind_case = PATRA__EVENT__V1__VALUE__KIND_IS_NULL;
        value->is_null = true;
    } else if (depth >= NESTED_MAX) {
        set_json(e, value, node);
    } else if (type == JSON_ARRAY) {
        set_list(e, value, node, depth);
    } else {
        set_object(e, value, node, depth);
    }
    return value;
}

/* ---- members of the event ---- */

static struct json_node member(const struct encoding *e, const char *name)
{
    return json_get(&e->doc, json_root(&e->doc), str_of(name));
}

/* A member that must be there. */
static bool read_text(struct encoding *e, const char *name, char **text)
{
    const struct json_node node = member(e, name);

    return (json_type(&e->doc, node) == JSON_STRING && plain_text(e, node, text)) ||
           refuse(e, name);
}

/* A member that may be absent. */
static bool read_text_opt(struct encoding *e, const char *name, char **text)
{
    return !json_exists(member(e, name)) || read_text(e, name, text);
}

static bool read_i64(struct encoding *e, const char *name, int64_t *value)
{
    return json_i64(&e->doc, member(e, name), value) || refuse(e, name);
}

static bool read_instant(struct encoding *e, const char *name, Patra__Event__V1__Instant **out)
{
    Patra__Event__V1__Instant *instant = new_message(e, &patra__event__v1__instant__descriptor);
    struct date date;
    char *text;

    if (!read_text(e, name, &text))
        return false;
    if (instant == NULL ||
        !date_parse(date_format_find(STR("rfc3339")), str_of(text), &date, e->err))
        return refuse(e, name);
    instant->us = date.at_us;
    *out = instant;
    return true;
}

static bool read_fields(struct encoding *e, record_message *record)
{
    const struct json_node fields = member(e, "fields");
    struct json_iter it = json_each(&e->doc, fields);

    if (!json_exists(fields))
        return true;
    if (json_type(&e->doc, fields) != JSON_OBJECT)
        return refuse(e, "fields");
    record->fields = ARENA_ARRAY(e->arena, field_message *, json_count(&e->doc, fields) + 1);
    while (record->fields != NULL && json_next(&it)) {
        field_message *field = new_message(e, &patra__event__v1__record__fields_entry__descriptor);

        if (field == NULL || !plain_text(e, it.name, &field->key))
            return refuse(e, "name of a field");
        field->value = value_of(e, it.value, 0);
        record->fields[record->n_fields++] = field;
    }
    return !e->arena->failed || arena_error(e->arena, e->err);
}

static void read_payload(struct encoding *e, record_message *record)
{
    const struct json_node payload = member(e, "payload");

    if (!json_exists(payload))
        return;
    if (json_type(&e->doc, payload) != JSON_STRING || !plain_text(e, payload, &record->payload))
        record->payload = text_of(e, json_raw(&e->doc, payload));
}

static bool read_lineage(struct encoding *e, record_message *record)
{
    Patra__Event__V1__Lineage *lineage = new_message(e, &patra__event__v1__lineage__descriptor);
    const struct json_node node = member(e, "lineage");
    const struct {
        const char *name;
        size_t at;
    } members[] = {
        { "scheduleInstanceId", offsetof(Patra__Event__V1__Lineage, schedule_instance_id) },
        { "planId", offsetof(Patra__Event__V1__Lineage, plan_id) },
        { "sliceId", offsetof(Patra__Event__V1__Lineage, slice_id) },
        { "taskId", offsetof(Patra__Event__V1__Lineage, task_id) },
        { "runId", offsetof(Patra__Event__V1__Lineage, run_id) },
        { "batchId", offsetof(Patra__Event__V1__Lineage, batch_id) },
    };

    if (lineage == NULL || json_type(&e->doc, node) != JSON_OBJECT)
        return refuse(e, "lineage");
    for (size_t i = 0; i < ARRAY_LEN(members); i++) {
        int64_t id = 0;

        (void)json_i64(&e->doc, json_get(&e->doc, node, str_of(members[i].name)), &id);
        memcpy((char *)lineage + members[i].at, &id, sizeof(id));
    }
    record->lineage = lineage;
    return true;
}

static bool read_record(struct encoding *e, event_message *event)
{
    record_message *record = new_message(e, &patra__event__v1__record__descriptor);
    bool deleted = false, rederived = false;

    if (record == NULL)
        return arena_error(e->arena, e->err);
    if (!read_text(e, "source", &record->source) || !read_text(e, "endpoint", &record->endpoint) ||
        (json_exists(member(e, "updatedAt")) &&
         !read_instant(e, "updatedAt", &record->updated_at)) ||
        !read_text_opt(e, "providerVersion", &record->provider_version) ||
        !read_text_opt(e, "mergedInto", &record->merged_into) ||
        !read_text_opt(e, "contentHash", &record->content_hash) ||
        !read_text_opt(e, "exprHash", &record->expr_hash) || !read_fields(e, record) ||
        !read_lineage(e, record))
        return false;
    (void)json_bool(&e->doc, member(e, "deleted"), &deleted);
    (void)json_bool(&e->doc, member(e, "rederived"), &rederived);
    record->deleted = deleted;
    record->rederived = rederived;
    read_payload(e, record);
    event->record = record;
    event->aggregate_type =
        (char *)arena_printf(e->arena, "%s/%s", record->source, record->endpoint).data;
    return true;
}

static bool read_event(struct encoding *e, event_message *event)
{
    int64_t schema_version = 0;

    if (!read_text(e, "eventId", &event->event_id) ||
        !read_text(e, "eventType", &event->event_type) ||
        !read_text(e, "id", &event->aggregate_id) || !read_i64(e, "version", &event->version) ||
        !read_i64(e, "schemaVersion", &schema_version) ||
        !read_instant(e, "occurredAt", &event->occurred_at) || !read_record(e, event))
        return false;
    if (schema_version < 1 || schema_version > INT32_MAX)
        return refuse(e, "schemaVersion");
    event->schema_version = (int32_t)schema_version;
    return !e->arena->failed || arena_error(e->arena, e->err);
}

bool protobuf_event_encode(struct arena *arena, struct str json, struct str *bytes,
                           struct error *err)
{
    event_message event = PATRA__EVENT__V1__EVENT__INIT;
    struct encoding e = { .arena = arena, .err = err };
    uint8_t *out;
    size_t size;

    *bytes = (struct str){ 0 };
    if (!json_parse(&e.doc, arena, json, err))
        return refuse(&e, "JSON");
    if (!read_event(&e, &event))
        return false;
    size = patra__event__v1__event__get_packed_size(&event);
    out = arena_alloc_raw(arena, size);
    if (out == NULL)
        return arena_error(arena, err);
    *bytes = (struct str){ (const char *)out, patra__event__v1__event__pack(&event, out) };
    return true;
}
