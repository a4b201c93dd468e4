/* The values of a field, by type: what fits, as what, and what does not. */
#include "engine/fetch/field.h"

#include <stdio.h>

#include "test.h"

static struct arena arena;

static const struct spec_response response = { 0 }; /* dates: auto */

#define MISFIT NULL

/* As the field is published; "" where it is absent, NULL where a value does not fit. */
static const char *read_json(enum field_type type, bool is_list, const char *path, const char *json)
{
    const struct spec_field field = { .type = type, .is_list = is_list };
    struct document document;
    struct document_path compiled = { 0 };
    struct field_values values;
    struct json_writer writer;
    struct error err;
    struct buf out;

    arena_release(&arena);
    arena_init(&arena, 1 << 20);
    REQUIRE_OK(
        document_open(&document, &arena,
                      &(struct document_source){ .format = RESPONSE_JSON, .body = str_of(json) },
                      &err),
        err);
    REQUIRE_OK(jsonpath_compile(&arena, str_of(path), &compiled.json, NULL, &err), err);
    REQUIRE_OK(field_read(&(struct document_place){ &document, document_root(&document), &arena },
                          &(struct field_reading){ &response, &field, &compiled }, &values, &err),
               err);
    if (values.misfit.data != NULL)
        return MISFIT;
    buf_init(&out, &arena, 1 << 16);
    json_writer_init(&writer, &out);
    if (values.is_there)
        field_write(&values, &field, &writer);
    buf_add_char(&out, '\0');
    return buf_str(&out).data;
}

static void check_json(enum field_type type, bool is_list, const char *path, const char *json,
                       const char *wanted)
{
    const char *got = read_json(type, is_list, path, json);

    if (wanted == MISFIT)
        CHECK(got == MISFIT, json);
    else if (got == MISFIT)
        CHECK(got != MISFIT, json);
    else
        CHECK_STR(str_of(got), str_of(wanted), json);
}

static const struct {
    enum field_type type;
    const char *json, *wanted;
} scalars[] = {
    { FIELD_TEXT, "\"a\\u0000\\ud800\"", "\"a\\u0000\\ud800\"" },
    { FIELD_TEXT, "\" a \"", "\" a \"" },
    { FIELD_TEXT, "\"\"", "\"\"" },
    { FIELD_TEXT, "1.50", "\"1.50\"" },
    { FIELD_TEXT, "true", "\"true\"" },
    { FIELD_TEXT, "null", "" },
    { FIELD_TEXT, "{}", MISFIT },

    { FIELD_INTEGER, "12", "12" },
    { FIELD_INTEGER, "\"12\"", "12" },
    { FIELD_INTEGER, "\" -12 \"", "-12" },
    { FIELD_INTEGER, "12.0", "12" },
    { FIELD_INTEGER, "12e2", "1200" },
    { FIELD_INTEGER, "9007199254740993", "9007199254740993" },
    { FIELD_INTEGER, "9223372036854775807", "9223372036854775807" },
    { FIELD_INTEGER, "\"-9223372036854775808\"", "-9223372036854775808" },
    { FIELD_INTEGER, "9223372036854775808", MISFIT },
    { FIELD_INTEGER, "1.5", MISFIT },
    { FIELD_INTEGER, "\"007\"", MISFIT },
    { FIELD_INTEGER, "\"+7\"", MISFIT },
    { FIELD_INTEGER, "\"1,234\"", MISFIT },
    { FIELD_INTEGER, "\"0x10\"", MISFIT },
    { FIELD_INTEGER, "\"12 13\"", MISFIT },
    { FIELD_INTEGER, "\"true\"", MISFIT },
    { FIELD_INTEGER, "true", MISFIT },
    { FIELD_INTEGER, "\"\"", "" },
    { FIELD_INTEGER, "\" \\t\"", "" },
    { FIELD_INTEGER, "null", "" },
    { FIELD_INTEGER, "{\"a\":1}", MISFIT },

    { FIELD_NUMBER, "0.1000", "0.1000" },
    { FIELD_NUMBER, "\"-1.5e3\"", "-1.5e3" },
    { FIELD_NUMBER, "12345678901234567890.123", "12345678901234567890.123" },
    { FIELD_NUMBER, "1e308", "1e308" },
    { FIELD_NUMBER, "1e309", MISFIT },
    { FIELD_NUMBER, "1e-1000", MISFIT },
    { FIELD_NUMBER, "\"NaN\"", MISFIT },
    { FIELD_NUMBER, "\"Infinity\"", MISFIT },
    { FIELD_NUMBER, "\".5\"", MISFIT },
    { FIELD_NUMBER, "false", MISFIT },

    { FIELD_BOOLEAN, "true", "true" },
    { FIELD_BOOLEAN, "false", "false" },
    { FIELD_BOOLEAN, "1", "true" },
    { FIELD_BOOLEAN, "0", "false" },
    { FIELD_BOOLEAN, "\"Y\"", "true" },
    { FIELD_BOOLEAN, "\"no\"", "false" },
    { FIELD_BOOLEAN, "\" TRUE \"", "true" },
    { FIELD_BOOLEAN, "2", MISFIT },
    { FIELD_BOOLEAN, "\"on\"", MISFIT },
    { FIELD_BOOLEAN, "\"\"", "" },

    { FIELD_INSTANT, "\"2026-01-02T03:04:05Z\"", "\"2026-01-02T03:04:05Z\"" },
    { FIELD_INSTANT, "\"2026-01-02T03:04:05.123456+02:00\"", "\"2026-01-02T01:04:05.123456Z\"" },
    { FIELD_INSTANT, "\"2026-01-02\"", "\"2026-01-02T00:00:00Z\"" },
    { FIELD_INSTANT, "[2026,1,2]", "\"2026-01-02T00:00:00Z\"" },
    { FIELD_INSTANT, "\"0000-01-01T00:00:00Z\"", MISFIT },
    { FIELD_INSTANT, "\"soon\"", MISFIT },
    { FIELD_INSTANT, "{}", MISFIT },

    { FIELD_DATE, "\"2026-01-02\"", "\"2026-01-02\"" },
    { FIELD_DATE, "\"2026-01-02T00:00:00Z\"", "\"2026-01-02\"" },
    { FIELD_DATE, "\"2026-01-02T00:00:01Z\"", MISFIT },
    { FIELD_DATE, "\"2026-01-02T00:00:00+02:00\"", MISFIT },
    { FIELD_DATE, "[[2001,9,15]]", "\"2001-09-15\"" },
    { FIELD_DATE, "[2001]", "\"2001-01-01\"" },
    { FIELD_DATE, "[[null]]", "" },
    { FIELD_DATE, "[null]", "" },
    { FIELD_DATE, "[2001,13]", MISFIT },
    { FIELD_DATE, "\"2026-02-30\"", MISFIT },

    { FIELD_JSON, "{\"a\":[1,null]}", "{\"a\":[1,null]}" },
    { FIELD_JSON, "[1, 2]", "[1, 2]" },
    { FIELD_JSON, "\"\"", "\"\"" },
    { FIELD_JSON, "null", "" },
};

TEST(a_value_fits_its_type_without_loss_or_not_at_all)
{
    char json[128];

    for (size_t i = 0; i < ARRAY_LEN(scalars); i++) {
        (void)snprintf(json, sizeof(json), "{\"x\":%s}", scalars[i].json);
        check_json(scalars[i].type, false, "$.x", json, scalars[i].wanted);
    }
    arena_release(&arena);
}

TEST(the_first_value_counts_unless_it_is_a_list)
{
    check_json(FIELD_INTEGER, false, "$.x", "{\"x\":[null,\"\",3,\"bad\"]}", "3");
    check_json(FIELD_INTEGER, false, "$.x", "{\"x\":[\"bad\",3]}", MISFIT);
    check_json(FIELD_INTEGER, false, "$.x", "{\"x\":[]}", "");
    check_json(FIELD_INTEGER, false, "$.x", "{}", "");
    check_json(FIELD_INTEGER, false, "$.x[*].n", "{\"x\":[{\"n\":5},{\"n\":6}]}", "5");
    check_json(FIELD_INTEGER, true, "$.x", "{\"x\":[null,\"1\",2]}", "[1,2]");
    check_json(FIELD_INTEGER, true, "$.x", "{\"x\":7}", "[7]");
    check_json(FIELD_INTEGER, true, "$.x", "{\"x\":[]}", "[]");
    check_json(FIELD_INTEGER, true, "$.x", "{}", "");
    check_json(FIELD_INTEGER, true, "$.x", "{\"x\":[1,[2]]}", MISFIT);
    check_json(FIELD_INTEGER, true, "$.x[*].n", "{\"x\":[{\"n\":[5,8]},{\"n\":6}]}", "[5,8,6]");
    check_json(FIELD_INTEGER, true, "$.x", "{\"x\":[1,\"bad\"]}", MISFIT);
    check_json(FIELD_DATE, true, "$.x", "{\"x\":[\"2026-01-02\",[2026,1,3]]}",
               "[\"2026-01-02\",\"2026-01-03\"]");
    check_json(FIELD_JSON, true, "$.x", "{\"x\":[1,2]}", "[[1,2]]");
    check_json(FIELD_JSON, true, "$.x[*]", "{\"x\":[1,null,{}]}", "[1,{}]");
    arena_release(&arena);
}

/* ---- XML ---- */

static void check_xml(enum field_type type, bool is_list, const char *text, const char *wanted)
{
    const struct spec_field field = { .type = type, .is_list = is_list };
    struct document document;
    struct document_path path = { 0 };
    struct field_values values;
    struct json_writer writer;
    struct error err;
    struct buf out;

    arena_init(&arena, 1 << 20);
    REQUIRE_OK(document_open(&document, &arena,
                             &(struct document_source){
                                 .format = RESPONSE_XML, .xml = &xml_module, .body = str_of(text) },
                             &err),
               err);
    REQUIRE_OK(xml_path_compile(&xml_module, STR("/r/x"), NULL, 0, &path.xml, &err), err);
    REQUIRE_OK(field_read(&(struct document_place){ &document, document_root(&document), &arena },
                          &(struct field_reading){ &response, &field, &path }, &values, &err),
               err);
    CHECK_EQ(values.misfit.data == NULL, wanted != MISFIT, text);
    buf_init(&out, &arena, 1 << 16);
    json_writer_init(&writer, &out);
    if (values.is_there && values.misfit.data == NULL)
        field_write(&values, &field, &writer);
    CHECK_STR(buf_str(&out), str_of(wanted != MISFIT ? wanted : ""), text);
    xml_path_close(&xml_module, path.xml);
    document_close(&document);
    arena_release(&arena);
}

TEST(texts_of_xml_are_read_like_texts)
{
    check_xml(FIELD_INTEGER, false, "<r><x> 12 </x><x>13</x></r>", "12");
    check_xml(FIELD_INTEGER, true, "<r><x>12</x><x/><x>13</x></r>", "[12,13]");
    check_xml(FIELD_INTEGER, false, "<r><x/></r>", "");
    check_xml(FIELD_INTEGER, true, "<r/>", "");
    check_xml(FIELD_INTEGER, false, "<r><x>twelve</x></r>", MISFIT);
    check_xml(FIELD_TEXT, false, "<r><x>a <b>\"b\"</b></x></r>", "\"a \\\"b\\\"\"");
    check_xml(FIELD_JSON, false, "<r><x>[1]</x></r>", "\"[1]\"");
    check_xml(FIELD_BOOLEAN, false, "<r><x>Y</x></r>", "true");
    check_xml(FIELD_DATE, false, "<r><x>2026-01-02</x></r>", "\"2026-01-02\"");
}
