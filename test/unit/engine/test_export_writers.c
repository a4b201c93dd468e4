/* The formats of exports that are texts: what a record becomes. Parquet is read by others
 * (make parquet) and by unit-data-parquet. */
#include <string.h>

#include "engine/export/writer.h"
#include "test.h"

#define AT_US INT64_C(1767225600000000) /* 2026-01-01T00:00:00Z */

static struct arena arena;

struct kept {              /* a sink in memory */
    struct byte_sink sink; /* first */
    struct buf bytes;
};

static bool keep(struct byte_sink *sink, struct str bytes, struct error *err)
{
    struct buf *kept = &((struct kept *)sink)->bytes;

    buf_add(kept, bytes);
    return buf_ok(kept, err);
}

static struct export_column columns[] = {
    { STR_INIT("title"), FIELD_TEXT, false },
    { STR_INIT("n"), FIELD_INTEGER, false },
    { STR_INIT("a,b"), FIELD_JSON, true },
};

/* One record through a format; '' and *err where it fails. */
static struct str written(const char *format, struct record_entry entry, const char *fields,
                          bool with_fields, struct error *err)
{
    struct kept kept = { .sink = { .write = keep } };
    const struct export_shape shape = { .source = STR("demo & co"),
                                        .with_fields = with_fields,
                                        .columns = { columns, ARRAY_LEN(columns) } };
    struct export_item item = { .entry = &entry, .arena = &arena };
    struct export_writer writer;
    bool ok;

    buf_init(&kept.bytes, &arena, 1 << 20);
    if (fields != NULL)
        item.fields = str_of(fields);
    ok =
        export_writer_open(&writer, export_format_named(str_of(format)), &shape, &kept.sink, err) &&
        export_writer_add(&writer, &item, err) && export_writer_end(&writer, err);
    export_writer_close(&writer);
    return ok ? buf_str(&kept.bytes) : STR("");
}

static struct record_entry live(const char *id, const char *payload)
{
    return (struct record_entry){ .id = 1,
                                  .endpoint = STR("works"),
                                  .provider_id = str_of(id),
                                  .has_updated = true,
                                  .updated_us = AT_US,
                                  .version = 2,
                                  .created_us = AT_US,
                                  .payload = str_of(payload) };
}

#define CSV_HEAD                                                                \
    "record_endpoint,record_id,record_version,record_updated_at,record_deleted" \
    ",title,n,\"a,b\"\r\n"

TEST(values_in_csv)
{
    static const struct {
        const char *fields, *cells;
    } cases[] = {
        { "{\"title\":\"plain\",\"n\":1,\"a,b\":[1,2]}", "plain,1,\"[1,2]\"" },
        { "{\"title\":\"a \\\"b\\\", c\"}", "\"a \"\"b\"\", c\",," },
        { "{\"title\":\"two\\nlines\\r\\n\"}", "\"two\nlines\r\n\",," },
        { "{\"title\":\"\"}", "\"\",," },
        { "{\"title\":null,\"n\":null}", ",," },
        { "{}", ",," },
        { NULL, ",," },
        { "{\"title\":\" blanks \",\"n\":-0.5e3}", "\" blanks \",-0.5e3," },
        { "{\"title\":true,\"a,b\":{\"x\":\"y\"}}", "true,,\"{\"\"x\"\":\"\"y\"\"}\"" },
        { "{\"title\":\"\\u00e9\\/\\u20ac\"}", "\xc3\xa9/\xe2\x82\xac,," },
    };

    arena_init(&arena, (size_t)16 << 20);
    for (size_t i = 0; i < ARRAY_LEN(cases); i++) {
        struct error err = { 0 };
        const struct str wanted = arena_printf(
            &arena, CSV_HEAD "works,10.1/x,2,2026-01-01T00:00:00Z,false,%s\r\n", cases[i].cells);

        CHECK_STR(written("csv", live("10.1/x", ""), cases[i].fields, true, &err), wanted,
                  cases[i].fields != NULL ? cases[i].fields : "no fields");
    }
    arena_release(&arena);
}

TEST(tombstones_and_records_without_a_date_in_csv)
{
    struct record_entry entry = live("a,b", "");
    struct error err = { 0 };

    arena_init(&arena, (size_t)16 << 20);
    entry.has_updated = false;
    entry.is_deleted = true;
    CHECK_STR(written("csv", entry, NULL, true, &err), STR(CSV_HEAD "works,\"a,b\",2,,true,,,\r\n"),
              "a tombstone");
    arena_release(&arena);
}

TEST(a_field_with_the_name_of_an_own_column_is_refused)
{
    static struct export_column own = { STR_INIT("record_id"), FIELD_TEXT, false };
    const struct export_shape shape = { .source = STR("demo"), .columns = { &own, 1 } };
    struct kept kept = { .sink = { .write = keep } };
    struct export_writer writer;
    struct error err = { 0 };

    CHECK(!export_writer_open(&writer, &EXPORT_CSV, &shape, &kept.sink, &err), "refused");
    CHECK_STR(str_of(err.code), STR("export.column"), err.text);
    export_writer_close(&writer);
}

#define XML_HEAD "<?xml version=\"1.0\" encoding=\"UTF-8\"?>\n<records source=\"demo &amp; co\">\n"
#define XML_OPEN "<record endpoint=\"works\" id=\"1\" version=\"2\""

TEST(records_in_xml)
{
    struct record_entry entry = live("1", "<a xmlns:x=\"u\"><x:b>&amp;</x:b></a>");
    struct error err = { 0 };

    arena_init(&arena, (size_t)16 << 20);
    CHECK_STR(written("xml", entry, NULL, false, &err),
              STR(XML_HEAD XML_OPEN " updatedAt=\"2026-01-01T00:00:00Z\" deleted=\"false\">"
                                    "<a xmlns:x=\"u\"><x:b>&amp;</x:b></a></record>\n</records>\n"),
              "its bytes as they are");
    entry.provider_version = STR("v\"1\"");
    entry.has_updated = false;
    entry.is_deleted = true;
    CHECK_STR(written("xml", entry, NULL, false, &err),
              STR(XML_HEAD XML_OPEN
                  " providerVersion=\"v&quot;1&quot;\" deleted=\"true\"/>\n</records>\n"),
              "a tombstone");
    arena_release(&arena);
}

TEST(fields_in_xml)
{
    static const struct {
        const char *fields, *elements;
    } cases[] = {
        { "{\"title\":\"a<b>&\\\"c\\\"\"}",
          "<field name=\"title\">a&lt;b&gt;&amp;&quot;c&quot;</field>" },
        { "{\"n\":1,\"x\":null,\"y\":true}",
          "<field name=\"n\">1</field><field name=\"x\"></field><field name=\"y\">true</field>" },
        { "{\"l\":[\"a\",2,null]}",
          "<field name=\"l\"><item>a</item><item>2</item><item></item></field>" },
        { "{\"o\":{\"a\":1}}", "<field name=\"o\">{&quot;a&quot;:1}</field>" },
        { "{\"c\":\"\\u0001\\uffff\\ufffe|\\t\\n\"}",
          "<field name=\"c\">\xef\xbf\xbd\xef\xbf\xbd\xef\xbf\xbd|&#9;&#10;</field>" },
        { "{\"a\\\"b\":\"x\"}", "<field name=\"a&quot;b\">x</field>" },
        { NULL, "" },
    };

    arena_init(&arena, (size_t)16 << 20);
    for (size_t i = 0; i < ARRAY_LEN(cases); i++) {
        struct error err = { 0 };
        const struct str wanted = arena_printf(
            &arena,
            XML_HEAD XML_OPEN
            " updatedAt=\"2026-01-01T00:00:00Z\" deleted=\"false\">%s</record>\n</records>\n",
            cases[i].elements);

        CHECK_STR(written("xml", live("1", "{}"), cases[i].fields, true, &err), wanted,
                  cases[i].elements);
    }
    arena_release(&arena);
}

TEST(what_is_not_xml_is_not_written_as_xml)
{
    static const char *const payloads[] = { "{\"a\":1}", "<a>\xff</a>", "" };

    arena_init(&arena, (size_t)16 << 20);
    for (size_t i = 0; i < ARRAY_LEN(payloads); i++) {
        struct error err = { 0 };

        CHECK_EQ(written("xml", live("1", payloads[i]), NULL, false, &err).len, 0, payloads[i]);
        CHECK_STR(str_of(err.code), STR("export.format"), err.text);
    }
    arena_release(&arena);
}

#define LINE_HEAD "{\"source\":\"demo & co\",\"endpoint\":\"works\",\"id\":\"1\",\"version\":2"
#define LINE_DATES ",\"updatedAt\":\"2026-01-01T00:00:00Z\",\"createdAt\":\"2026-01-01T00:00:00Z\""

TEST(records_in_json_lines)
{
    static const struct {
        const char *payload, *fields, *rest;
    } cases[] = {
        { "{\"a\":1}", NULL, ",\"payload\":{\"a\":1}}" },
        { "{\n\"a\":\r\n1}", NULL, ",\"payload\":{ \"a\":  1}}" },
        { "<a>\"\xc3\xa9</a>", NULL, ",\"payload\":\"<a>\\\"\xc3\xa9</a>\"}" },
        { "<a>\xff</a>", NULL, ",\"payloadBase64\":\"PGE+/zwvYT4=\"}" },
        { "{}", "{\"t\":\"x\"}", ",\"fields\":{\"t\":\"x\"}}" },
    };

    arena_init(&arena, (size_t)16 << 20);
    for (size_t i = 0; i < ARRAY_LEN(cases); i++) {
        struct error err = { 0 };
        const struct str wanted =
            arena_printf(&arena, LINE_HEAD LINE_DATES ",\"deleted\":false%s\n", cases[i].rest);

        CHECK_STR(written("jsonl", live("1", cases[i].payload), cases[i].fields,
                          cases[i].fields != NULL, &err),
                  wanted, cases[i].payload);
    }
    arena_release(&arena);
}
