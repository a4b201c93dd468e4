/* Judges items, and hashes what became a record. */
#include "engine/fetch/record.h"

#include <string.h>

#include "base/buf.h"
#include "base/mask.h"
#include "base/quote.h"
#include "core/limits.h"
#include "data/json_canonical.h"
#include "data/json_storable.h"
#include "engine/fetch/field.h"
#include "engine/fetch/record_date.h"

struct judging {
    const struct reader *reader;
    const struct spec_response *response;
    struct document_place place;
    int64_t now_us;
    struct record *record;
    struct error *err;
};

/* ---- what is wrong with a record ---- */

static const struct str NOTHING = { NULL, 0 };

/* Returns true: a bad record is a result, not a failure. */
static bool refuse(struct judging *judging, const char *reason, struct str path, struct str sample)
{
    struct arena *arena = judging->place.arena;
    struct record *record = judging->record;

    record->reason = reason;
    record->detail = mask_personal_copy(
        arena, arena_printf(arena, "%.*s: %s", STR_ARG(path),
                            sample.data != NULL ? QUOTE(sample) : "nothing there"));
    return record->detail.data != NULL || arena_error(arena, judging->err);
}

/* The text at a path; data NULL: there is none, or no path. */
static bool find_text(const struct judging *judging, const struct document_path *path,
                      struct str *text)
{
    *text = NOTHING;
    return !document_has_path(path) || document_text(&judging->place, path, text, judging->err);
}

/* ---- the id ---- */

static void lower(char *text, size_t len)
{
    for (size_t i = 0; i < len; i++) {
        if (text[i] >= 'A' && text[i] <= 'Z')
            text[i] = (char)(text[i] - 'A' + 'a');
    }
}

bool record_id_normal(const struct spec_endpoint *endpoint, struct arena *arena, struct str text,
                      struct str *id, struct error *err)
{
    char *bytes;

    *id = text;
    if (endpoint->response.id_case == LETTER_CASE_KEEP)
        return true;
    bytes = arena_alloc(arena, text.len);
    if (bytes == NULL)
        return arena_error(arena, err);
    if (text.len > 0)
        memcpy(bytes, text.data, text.len);
    lower(bytes, text.len);
    *id = (struct str){ bytes, text.len };
    return true;
}

struct id_found {
    struct str id;
    size_t missing; /* number of the first part that is not there, or the count */
    unsigned kinds; /* as in struct record */
    bool is_broken; /* a part has no UTF-8 form */
};

/* Whether a byte of a part must be told apart from a separator. */
static bool is_escaped(char byte, struct str separator)
{
    return byte == '\\' || (separator.len > 0 && byte == separator.data[0]);
}

static void add_part(struct buf *joined, struct str part, struct str separator)
{
    for (size_t i = 0; i < part.len; i++) {
        if (is_escaped(part.data[i], separator))
            buf_add_char(joined, '\\');
        buf_add_char(joined, part.data[i]);
    }
}

bool record_id_sent(const struct spec_endpoint *endpoint, struct arena *arena, struct str id,
                    struct str *sent, struct error *err)
{
    struct buf out;

    *sent = id;
    if (endpoint->response.id_count < 2 || str_find_char(id, '\\') == id.len)
        return true;
    buf_init(&out, arena, id.len + 1);
    for (size_t i = 0; i < id.len; i++) {
        i += id.data[i] == '\\' && i + 1 < id.len;
        buf_add_char(&out, id.data[i]);
    }
    *sent = buf_str(&out);
    return buf_ok(&out, err);
}

/* Joins the parts. */
static bool join_id(const struct reader *reader, const struct document_place *place,
                    struct id_found *found, struct error *err)
{
    const struct spec_endpoint *endpoint = reader->endpoint;
    const struct spec_response *response = &endpoint->response;
    struct document_value part = { 0 };
    struct buf joined;

    *found = (struct id_found){ 0 };
    buf_init(&joined, place->arena, SIZE_MAX / 2);
    for (; found->missing < response->id_count; found->missing++) {
        if (!document_value(place, &reader->id[found->missing], &part, err))
            return false;
        if (part.text.len == 0)
            return true;
        found->is_broken = found->is_broken || part.is_broken;
        found->kinds |= part.is_text ? 0 : 1U << found->missing;
        if (found->missing > 0)
            buf_add(&joined, response->id_separator);
        if (response->id_count > 1)
            add_part(&joined, part.text, response->id_separator);
    }
    return buf_ok(&joined, err) &&
           record_id_normal(endpoint, place->arena,
                            response->id_count > 1 ? buf_str(&joined) : part.text, &found->id, err);
}

/* What a store can keep as text. */
static bool is_storable(struct str text)
{
    return str_find_char(text, '\0') == text.len && str_is_utf8(text);
}

/* What a store can keep as a key. */
static bool is_usable(struct str id)
{
    return id.len > 0 && id.len <= RECORD_ID_MAX && is_storable(id);
}

bool record_id(const struct record_origin *origin, struct document_node node, struct record *record,
               struct error *err)
{
    const struct document_place place = { origin->document, node, origin->arena };
    struct id_found found;

    if (!join_id(origin->reader, &place, &found, err))
        return false;
    record->provider_id = !found.is_broken && is_usable(found.id) ? found.id : NOTHING;
    record->id_kinds = found.kinds;
    return true;
}

static bool judge_id(struct judging *judging)
{
    const struct spec_response *response = judging->response;
    struct id_found found;

    if (!join_id(judging->reader, &judging->place, &found, judging->err))
        return false;
    if (found.missing < response->id_count)
        return refuse(judging, "id.missing", response->id[found.missing].text, NOTHING);
    if (found.is_broken || !is_usable(found.id))
        return refuse(judging, "id.invalid", response->id[0].text, found.id);
    judging->record->provider_id = found.id;
    judging->record->id_kinds = found.kinds;
    return true;
}

/* Without its id: what is received under that id is another record, and must not settle this one.
 */
bool record_refuse_id(const struct record_origin *origin, struct record *record, struct error *err)
{
    const struct spec_response *response = &origin->reader->endpoint->response;

    record->reason = "id.ambiguous";
    record->detail = arena_printf(origin->arena, "%.*s: %s is a %s here, and a %s in another item",
                                  STR_ARG(response->id[0].text), QUOTE(record->provider_id),
                                  record->id_kinds != 0 ? "number" : "text",
                                  record->id_kinds != 0 ? "text" : "number");
    record->provider_id = NOTHING;
    return record->detail.data != NULL || arena_error(origin->arena, err);
}

/* ---- tombstones ---- */

static bool judge_tombstone(struct judging *judging)
{
    const struct reader *reader = judging->reader;
    struct record *record = judging->record;
    struct document_value into = { 0 };
    struct str text;

    if (document_has_path(&reader->deleted) &&
        !document_is_true(&judging->place, &reader->deleted, &record->is_deleted, judging->err))
        return false;
    if (document_has_path(&reader->merged_into) &&
        !document_value(&judging->place, &reader->merged_into, &into, judging->err))
        return false;
    text = into.text;
    if (text.len == 0)
        return true;
    if (into.is_broken)
        return refuse(judging, "id.invalid", judging->response->merged_into.text, text);
    if (!record_id_normal(reader->endpoint, judging->place.arena, text, &text, judging->err))
        return false;
    /* Some sources say of every record that it was merged into itself. */
    if (str_eq(text, record->provider_id))
        return true;
    record->is_deleted = true;
    record->merged_into = text;
    return true;
}

/* ---- dates ---- */

/* A text or date parts; *raw is the value as received, for people. */
static bool find_date_at(const struct judging *judging, const struct document_path *path,
                         struct str *raw, struct date *date, bool *is_read)
{
    const struct document *document = judging->place.document;
    const struct json_doc *json = &document->json;
    struct json_node node;

    if (!find_text(judging, path, raw))
        return false;
    *is_read = raw->len > 0 && record_date_text(judging->response, *raw, date);
    if (raw->data != NULL || document->format != RESPONSE_JSON)
        return true;
    if (!document_node(&judging->place, path, &node, judging->err))
        return false;
    if (json_type(json, node) <= JSON_NULL)
        return true;
    *raw = json_raw(json, node);
    *is_read = record_date_parts(json, node, date);
    return true;
}

/* The first of the source's paths that finds something. */
static bool find_date(const struct judging *judging, struct str *raw, struct date *date,
                      bool *is_read)
{
    *raw = NOTHING;
    *is_read = false;
    for (size_t i = 0; i < judging->response->updated_at_count && raw->len == 0; i++) {
        if (!find_date_at(judging, &judging->reader->updated_at[i], raw, date, is_read))
            return false;
    }
    return true;
}

bool record_date_is_believed(const struct reader *reader, int64_t date_us, int64_t now_us)
{
    const struct spec_response *response = &reader->endpoint->response;

    return date_us - now_us <= (response->has_future_tolerance ? response->future_tolerance_us
                                                               : RECORD_FUTURE_TOLERANCE_US);
}

static bool judge_date(struct judging *judging)
{
    const struct spec_response *response = judging->response;
    struct record *record = judging->record;
    struct date date;
    struct str raw;
    bool is_read;

    if (response->updated_at_count == 0)
        return true;
    if (!find_date(judging, &raw, &date, &is_read))
        return false;
    if (!is_read && raw.len == 0 &&
        (record->is_deleted || response->may_be_absent[RESPONSE_PART_UPDATED_AT]))
        return true;
    if (!is_read)
        return refuse(judging, raw.len == 0 ? "date.missing" : "date.syntax",
                      response->updated_at[0].text, raw.len == 0 ? NOTHING : raw);
    record->is_future = judging->now_us != 0 &&
                        !record_date_is_believed(judging->reader, date.at_us, judging->now_us);
    record->has_updated_at = !record->is_future;
    record->updated_at_us = date.at_us;
    record->precision = date.precision;
    return true;
}

/* ---- fields ---- */

static bool is_allowed(const struct spec_field *field, struct str value)
{
    for (size_t i = 0; i < field->value_count; i++) {
        if (str_eq(field->values[i], value))
            return true;
    }
    return false;
}

/* Each of the values that the path finds must be one of the field's. */
static bool judge_values(struct judging *judging, const struct spec_field *field,
                         const struct document_path *path)
{
    struct document_texts texts;

    if (!document_texts(&judging->place, path, &texts, judging->err))
        return false;
    for (size_t i = 0; i < texts.count; i++) {
        if (!is_allowed(field, texts.items[i]))
            return refuse(judging, "field.value", field->path.text, texts.items[i]);
    }
    return true;
}

/* Sets *is_there, and refuses the record where a value does not fit. */
static bool judge_type(struct judging *judging, const struct spec_field *field,
                       const struct document_path *path, bool *is_there)
{
    const struct field_reading reading = { judging->response, field, path };
    struct field_values values;

    if (!field_read(&judging->place, &reading, &values, judging->err))
        return false;
    *is_there = values.is_there;
    return values.misfit.data == NULL ||
           refuse(judging, "field.type", field->path.text, values.misfit);
}

static bool judge_field(struct judging *judging, const struct spec_field *field,
                        const struct document_path *path)
{
    bool is_there = true;

    if (field->type != FIELD_ANY
            ? !judge_type(judging, field, path, &is_there)
            : field->is_required &&
                  !document_is_there(&judging->place, path, &is_there, judging->err))
        return false;
    if (!record_is_good(judging->record))
        return true;
    if (field->is_required && !is_there)
        return refuse(judging, "field.missing", field->path.text, NOTHING);
    return field->value_count == 0 || judge_values(judging, field, path);
}

static bool judge_fields(struct judging *judging)
{
    const struct spec_field_list *fields = &judging->response->fields;

    if (judging->record->is_deleted)
        return true;
    for (size_t i = 0; i < fields->count && record_is_good(judging->record); i++) {
        if (!judge_field(judging, &fields->items[i], &judging->reader->fields[i]))
            return false;
    }
    return true;
}

static bool judge_version(struct judging *judging)
{
    struct document_value version = { 0 };

    if (document_has_path(&judging->reader->version) &&
        !document_value(&judging->place, &judging->reader->version, &version, judging->err))
        return false;
    if (version.is_broken || !is_storable(version.text))
        return refuse(judging, "version.invalid", judging->response->version.text, version.text);
    judging->record->version = version.text;
    return true;
}

/* ---- its event ---- */

/* The rest of an event's body: names, a date, hashes, the lineage. */
enum { EVENT_REST_MAX = 4096 };

/* JSON writes a byte as six at most. */
enum { ESCAPED_MAX = 6 };

static bool event_size(const struct judging *judging, size_t *size)
{
    const struct record *record = judging->record;
    const struct record_origin origin = { .reader = judging->reader,
                                          .document = judging->place.document,
                                          .arena = judging->place.arena };
    struct record_fields fields = { 0 };
    struct str payload = NOTHING;

    if (!record->is_deleted && (!record_fields(&origin, record, &fields, judging->err) ||
                                (judging->reader->endpoint->event_payload &&
                                 !record_payload_json(&origin, record, &payload, judging->err))))
        return false;
    *size = fields.published.len + payload.len +
            (record->version.len + record->merged_into.len) * ESCAPED_MAX + EVENT_REST_MAX;
    return true;
}

/* Nearly every record is so small that its fields need not be made to know it. */
static bool is_small(const struct judging *judging)
{
    const struct record *record = judging->record;
    const size_t times = judging->response->fields.count + judging->reader->endpoint->event_payload;

    return (record->payload.len * times + record->version.len + record->merged_into.len) *
                   ESCAPED_MAX +
               EVENT_REST_MAX <=
           (size_t)EVENT_BYTES_MAX;
}

/* A record whose event cannot be published is not stored without one: it is quarantined, with all
 * its bytes, until a person has chosen other fields. */
static bool judge_event(struct judging *judging)
{
    struct record *record = judging->record;
    size_t size;

    if (is_small(judging))
        return true;
    if (!event_size(judging, &size))
        return false;
    if (size <= (size_t)EVENT_BYTES_MAX)
        return true;
    record->reason = "event.size";
    record->detail =
        arena_printf(judging->place.arena,
                     "its event would have %zu bytes, the maximum is %zu: choose fewer "
                     "or smaller fields%s",
                     size, (size_t)EVENT_BYTES_MAX,
                     judging->reader->endpoint->event_payload ? ", or no event.payload" : "");
    return record->detail.data != NULL || arena_error(judging->place.arena, judging->err);
}

/* ---- the whole ---- */

bool record_judge(const struct record_origin *origin, struct document_node node, size_t position,
                  struct record *record, struct error *err)
{
    static bool (*const steps[])(struct judging *) = {
        judge_id, judge_tombstone, judge_date, judge_version, judge_fields, judge_event
    };
    struct judging judging = { .reader = origin->reader,
                               .place = { origin->document, node, origin->arena },
                               .response = &origin->reader->endpoint->response,
                               .now_us = origin->now_us,
                               .record = record,
                               .err = err };

    *record = (struct record){ .position = position, .node = node };
    if (!document_alone(origin->document, origin->arena, node, &record->payload, err))
        return false;
    if (record->payload.len == 0)
        return refuse(&judging, "item.type", judging.response->items.text, NOTHING);
    for (size_t i = 0; i < ARRAY_LEN(steps) && record_is_good(record); i++) {
        if (!steps[i](&judging))
            return false;
    }
    return true;
}

/* ---- hash and fields ---- */

bool record_hash_is_canonical(const struct record_origin *origin)
{
    return origin->document->format == RESPONSE_JSON &&
           origin->reader->endpoint->response.updated_at_count == 0;
}

/* *is_made is false where there is no canonical form: a name twice. */
static bool make_canonical(struct arena *arena, const struct json_doc *doc, struct json_node node,
                           struct str *bytes, bool *is_made, struct error *err)
{
    *is_made = json_canonical_node(arena, doc, node, bytes, err);
    return *is_made || json_error_is_canonical(err);
}

bool record_is_same(const struct record_origin *origin, const struct record *record,
                    struct str payload, struct arena *arena, bool *is_same, struct error *err)
{
    struct json_doc stored;
    struct str ours, theirs;
    struct error unread;
    bool is_made;

    *is_same = false;
    if (origin->document->format != RESPONSE_JSON || !json_parse(&stored, arena, payload, &unread))
        return true;
    if (!make_canonical(arena, &origin->document->json, record->node.json, &theirs, &is_made, err))
        return false;
    if (!is_made)
        return true;
    if (!make_canonical(arena, &stored, json_root(&stored), &ours, &is_made, err))
        return false;
    *is_same = is_made && str_eq(ours, theirs);
    return true;
}

bool record_hash(const struct record_origin *origin, const struct record *record,
                 char hex[HASH_HEX_MAX], struct error *err)
{
    const struct document *document = origin->document;
    struct str bytes = record->payload;
    struct hash_sum sum;

    if (record_hash_is_canonical(origin) &&
        !json_canonical_node(origin->arena, &document->json, record->node.json, &bytes, err)) {
        if (!json_error_is_canonical(err))
            return false;
        bytes = record->payload; /* no canonical form: as received */
    }
    if (!hash_of(bytes, &sum, err))
        return false;
    hash_hex(&sum, hex);
    return true;
}

/* Writes the value of a field; nothing where there is none. */
static bool write_value(const struct record_origin *origin, const struct document_place *place,
                        size_t i, struct buf *value, struct error *err)
{
    const struct spec_response *response = &origin->reader->endpoint->response;
    const struct spec_field *field = &response->fields.items[i];
    const struct document_path *path = &origin->reader->fields[i];
    struct json_writer writer;
    struct field_values values;

    json_writer_init(&writer, value);
    if (field->type == FIELD_ANY)
        return document_write(place, path, &writer, err);
    if (!field_read(place, &(struct field_reading){ response, field, path }, &values, err))
        return false;
    if (values.is_there)
        field_write(&values, field, &writer);
    return true;
}

/* A member with a value that was just written by us. */
static void add_member(struct buf *object, struct str name, struct str value)
{
    buf_add_char(object, object->len == 0 ? '{' : ',');
    json_quote(object, name);
    buf_add_char(object, ':');
    buf_add(object, value);
}

static void end_object(struct buf *object)
{
    if (object->len == 0)
        buf_add_char(object, '{');
    buf_add_char(object, '}');
}

bool record_fields(const struct record_origin *origin, const struct record *record,
                   struct record_fields *fields, struct error *err)
{
    const struct spec_field_list *list = &origin->reader->endpoint->response.fields;
    const struct document_place place = { origin->document, record->node, origin->arena };
    struct buf value, published, stored;

    *fields = (struct record_fields){ 0 };
    buf_init(&value, origin->arena, SIZE_MAX / 2);
    buf_init(&published, origin->arena, SIZE_MAX / 2);
    buf_init(&stored, origin->arena, SIZE_MAX / 2);
    for (size_t i = 0; i < list->count && !record->is_deleted; i++) {
        buf_clear(&value);
        if (!write_value(origin, &place, i, &value, err))
            return false;
        if (value.len == 0)
            continue;
        add_member(&published, list->items[i].name, buf_str(&value));
        add_member(&stored, origin->reader->field_keys[i], buf_str(&value));
    }
    end_object(&published);
    end_object(&stored);
    if (!buf_ok(&value, err) || !buf_ok(&published, err) || !buf_ok(&stored, err))
        return false;
    if (!record->is_deleted)
        fields->published = buf_str(&published);
    return list->count == 0 || json_storable(origin->arena, buf_str(&stored), &fields->stored, err);
}

bool record_payload_json(const struct record_origin *origin, const struct record *record,
                         struct str *json, struct error *err)
{
    struct buf out;

    *json = record->payload;
    if (origin->document->format == RESPONSE_JSON)
        return true;
    buf_init(&out, origin->arena, SIZE_MAX / 2);
    json_quote(&out, record->payload);
    *json = buf_str(&out);
    return buf_ok(&out, err);
}
