/* Values of fields: the first byte chooses a type, the rest is JSON, or a text of XML. */
#include <assert.h>
#include <stdint.h>

#include "data/json_storable.h"
#include "engine/fetch/field.h"

int LLVMFuzzerTestOneInput(const uint8_t *bytes, size_t size);

static const struct spec_response response = { 0 }; /* dates: auto */

/* As the field is published; data NULL where it is absent, or a value does not fit. */
static struct str read_field(struct arena *arena, const struct spec_field *field, struct str json)
{
    struct document document;
    struct document_path path = { 0 };
    struct field_values values;
    struct json_writer writer;
    struct error err;
    struct buf out;

    if (!document_open(&document, arena,
                       &(struct document_source){ .format = RESPONSE_JSON, .body = json }, &err) ||
        !jsonpath_compile(arena, STR("$"), &path.json, NULL, &err) ||
        !field_read(&(struct document_place){ &document, document_root(&document), arena },
                    &(struct field_reading){ &response, field, &path }, &values, &err) ||
        !values.is_there || values.misfit.data != NULL)
        return (struct str){ NULL, 0 };
    assert(field->is_list || values.count > 0);
    buf_init(&out, arena, 1 << 20);
    json_writer_init(&writer, &out);
    field_write(&values, field, &writer);
    assert(buf_ok(&out, &err));
    return buf_str(&out);
}

/* What databases keep is JSON, and there is nothing more to replace in it. */
static void check_storable(struct arena *arena, struct str json)
{
    struct str stored, again;
    struct error err;

    assert(json_storable(arena, json, &stored, &err));
    assert(json_is_valid(stored));
    assert(json_storable(arena, stored, &again, &err));
    assert(again.data == stored.data);
}

/* A value as it is published is a value of its type, and the same one. */
static void check_json(struct arena *arena, const struct spec_field *field, struct str json)
{
    const struct str first = read_field(arena, field, json);
    struct str again;

    if (first.data == NULL)
        return;
    assert(json_is_valid(first));
    check_storable(arena, first);
    if (field->type == FIELD_JSON && field->is_list)
        return; /* a list of lists */
    again = read_field(arena, field, first);
    assert(str_eq(again, first));
}

static void check_text(struct arena *arena, enum field_type type, struct str text)
{
    struct field_value value;
    struct json_writer writer;
    enum field_fit fit;
    struct error err;
    struct buf out;

    assert(field_value_read(&response, type, &(struct field_found){ .text = text }, arena, &value,
                            &fit, &err));
    if (fit != FIELD_FITS)
        return;
    buf_init(&out, arena, 1 << 20);
    json_writer_init(&writer, &out);
    field_value_write(&value, &writer);
    assert(json_is_valid(buf_str(&out)));
}

int LLVMFuzzerTestOneInput(const uint8_t *bytes, size_t size)
{
    const struct str text = { (const char *)bytes + 1, size > 0 ? size - 1 : 0 };
    const unsigned choice = size > 0 ? bytes[0] : 0;
    const struct spec_field field = { .type = (enum field_type)(1 + choice % (FIELD_TYPES - 1)),
                                      .is_list = choice >= 128 };
    struct arena arena;

    if (text.len == 0)
        return 0;
    arena_init(&arena, 64 << 20);
    if (json_is_valid(text))
        check_json(&arena, &field, text);
    check_text(&arena, field.type, text);
    arena_release(&arena);
    return 0;
}
