/* Judges items, and hashes what became a record. */
#include "engine/fetch/record.h"

#include <string.h>

#include "base/buf.h"
#include "base/mask.h"
#include "base/quote.h"
#include "data/json_canonical.h"

struct judging {
    const struct reader *reader;
    const struct spec_response *response;
    struct document_place place;
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

/* Joins the parts; *missing is the number of the first that is not there, or the count. */
static bool join_id(const struct reader *reader, const struct document_place *place, struct str *id,
                    size_t *missing, struct error *err)
{
    const struct spec_endpoint *endpoint = reader->endpoint;
    const struct spec_response *response = &endpoint->response;
    struct buf joined;
    struct str part;

    buf_init(&joined, place->arena, SIZE_MAX / 2);
    *id = NOTHING;
    for (*missing = 0; *missing < response->id_count; (*missing)++) {
        if (!document_text(place, &reader->id[*missing], &part, err))
            return false;
        if (part.len == 0)
            return true;
        if (response->id_count == 1)
            return ++*missing > 0 && record_id_normal(endpoint, place->arena, part, id, err);
        if (*missing > 0)
            buf_add(&joined, response->id_separator);
        buf_add(&joined, part);
    }
    return buf_ok(&joined, err) &&
           record_id_normal(endpoint, place->arena, buf_str(&joined), id, err);
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

bool record_id(const struct record_origin *origin, struct document_node node, struct str *id,
               struct error *err)
{
    const struct document_place place = { origin->document, node, origin->arena };
    size_t missing;

    if (!join_id(origin->reader, &place, id, &missing, err))
        return false;
    if (!is_usable(*id))
        *id = NOTHING;
    return true;
}

static bool judge_id(struct judging *judging)
{
    const struct spec_response *response = judging->response;
    struct str id;
    size_t missing;

    if (!join_id(judging->reader, &judging->place, &id, &missing, judging->err))
        return false;
    if (missing < response->id_count)
        return refuse(judging, "id.missing", response->id[missing].text, NOTHING);
    if (!is_usable(id))
        return refuse(judging, "id.invalid", response->id[0].text, id);
    judging->record->provider_id = id;
    return true;
}

/* ---- tombstones ---- */

static bool judge_tombstone(struct judging *judging)
{
    const struct reader *reader = judging->reader;
    struct record *record = judging->record;
    struct str text;

    if (document_has_path(&reader->deleted) &&
        !document_is_true(&judging->place, &reader->deleted, &record->is_deleted, judging->err))
        return false;
    if (!find_text(judging, &reader->merged_into, &text))
        return false;
    if (text.len == 0)
        return true;
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

/* Crossref's [[2001, 9, 15]] and the like: a list of numbers, perhaps inside another one. */
static bool parts_of(const struct json_doc *doc, struct json_node node, struct date *date)
{
    int64_t parts[3];
    size_t count = 0;
    struct error ignored; /* the caller quotes what it found */

    if (json_type(doc, json_at(doc, node, 0)) == JSON_ARRAY)
        node = json_at(doc, node, 0);
    for (struct json_iter it = json_each(doc, node); json_next(&it);) {
        if (count == ARRAY_LEN(parts) || !json_i64(doc, it.value, &parts[count++]))
            return false;
    }
    return count > 0 && date_from_parts(parts, count, date, &ignored);
}

static bool read_date(const struct judging *judging, struct str text, struct date *date)
{
    struct error ignored; /* the complaint of the last format need not be the right one */

    for (size_t i = 0; i < judging->response->date_format_count; i++) {
        if (date_parse(judging->response->date_formats[i], text, date, &ignored))
            return true;
    }
    return false;
}

/* A text or date parts; *raw is the value as received, for people. */
static bool find_date(const struct judging *judging, struct str *raw, struct date *date,
                      bool *is_read)
{
    const struct document *document = judging->place.document;
    const struct document_path *path = &judging->reader->updated_at;
    const struct json_doc *json = &document->json;
    struct json_node node;

    if (!find_text(judging, path, raw))
        return false;
    *is_read = raw->len > 0 && read_date(judging, *raw, date);
    if (raw->data != NULL || document->format != RESPONSE_JSON)
        return true;
    if (!document_node(&judging->place, path, &node, judging->err))
        return false;
    if (json_type(json, node) <= JSON_NULL)
        return true;
    *raw = json_raw(json, node);
    *is_read = parts_of(json, node, date);
    return true;
}

static bool judge_date(struct judging *judging)
{
    struct record *record = judging->record;
    struct date date;
    struct str raw;
    bool is_read;

    if (!document_has_path(&judging->reader->updated_at))
        return true;
    if (!find_date(judging, &raw, &date, &is_read))
        return false;
    if (!is_read && raw.len == 0 && record->is_deleted)
        return true;
    if (!is_read)
        return refuse(judging, raw.len == 0 ? "date.missing" : "date.syntax",
                      judging->response->updated_at.text, raw.len == 0 ? NOTHING : raw);
    record->has_updated_at = true;
    record->updated_at_us = date.at_us;
    record->precision = date.precision;
    return true;
}

/* ---- fields ---- */

static bool judge_fields(struct judging *judging)
{
    const struct spec_field_list *fields = &judging->response->fields;
    bool is_there;

    if (judging->record->is_deleted)
        return true;
    for (size_t i = 0; i < fields->count; i++) {
        if (!fields->items[i].is_required)
            continue;
        if (!document_is_there(&judging->place, &judging->reader->fields[i], &is_there,
                               judging->err))
            return false;
        if (!is_there)
            return refuse(judging, "field.missing", fields->items[i].path.text, NOTHING);
    }
    return true;
}

static bool judge_version(struct judging *judging)
{
    struct str version;

    if (!find_text(judging, &judging->reader->version, &version))
        return false;
    if (!is_storable(version))
        return refuse(judging, "version.invalid", judging->response->version.text, version);
    judging->record->version = version;
    return true;
}

/* ---- the whole ---- */

bool record_judge(const struct record_origin *origin, struct document_node node, size_t position,
                  struct record *record, struct error *err)
{
    static bool (*const steps[])(struct judging *) = { judge_id, judge_tombstone, judge_date,
                                                       judge_version, judge_fields };
    struct judging judging = { .reader = origin->reader,
                               .place = { origin->document, node, origin->arena },
                               .response = &origin->reader->endpoint->response,
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

bool record_hash(const struct record_origin *origin, const struct record *record,
                 char hex[HASH_HEX_MAX], struct error *err)
{
    const struct document *document = origin->document;
    const bool is_canonical =
        document->format == RESPONSE_JSON && !document_has_path(&origin->reader->updated_at);
    struct str bytes = record->payload;
    struct hash_sum sum;

    if (is_canonical &&
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

bool record_fields(const struct record_origin *origin, const struct record *record,
                   struct str *json, struct error *err)
{
    const struct spec_field_list *fields = &origin->reader->endpoint->response.fields;
    const struct document_place place = { origin->document, record->node, origin->arena };
    struct json_writer writer;
    struct buf out;

    buf_init(&out, origin->arena, SIZE_MAX / 2);
    json_writer_init(&writer, &out);
    json_write_object(&writer);
    for (size_t i = 0; i < fields->count; i++) {
        const struct document_field field = { fields->items[i].name, &origin->reader->fields[i] };

        if (!document_write_field(&place, &field, &writer, err))
            return false;
    }
    json_write_end(&writer);
    json_writer_finish(&writer);
    *json = buf_str(&out);
    return buf_ok(&out, err);
}
