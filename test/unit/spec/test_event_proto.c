/* Tests: .proto files, read and refused. */
#include "spec/event_proto.h"

#include "base/buf.h"

#include "test.h"

static struct arena arena;

static struct event_schema read_text(const char *text)
{
    struct event_schema schema;
    struct error err = { 0 };

    arena_init(&arena, 1 << 20);
    REQUIRE_OK(event_proto_read(&arena, str_of(text), &schema, &err), err);
    return schema;
}

TEST(a_file_becomes_messages_and_fields)
{
    const struct event_schema schema = read_text(
        "// a comment\n"
        "syntax = \"proto3\"; /* another */ package a.b;\n"
        "import public \"x.proto\"; option go_package = \"x;{\";\n"
        "message M {\n"
        "  option deprecated = true;\n"
        "  reserved 2, 9 to 11, 40 to max; reserved \"foo\", 'bar';\n"
        "  string s = 1 [deprecated = true, (my.opt) = { a: [1, 2] }];\n"
        "  repeated .a.b.Other others = 3;\n"
        "  map < string , Inner > m = 0x10;\n"
        "  oneof choice { Inner one = 5; google.protobuf.Any any = 06; }\n"
        "  message Inner { optional M up = 1; Kind kind = 2; enum Kind { A = 0; B = -1; } ; }\n"
        "}\n"
        "service S { rpc Get (M) returns (stream M) { option x = \"}\"; } }\n"
        "message Other { a.b.M.Inner.Kind kind = 1; }\n");
    const struct schema_message *m;

    REQUIRE(schema.messages.count == 4, "messages");
    CHECK_STR(schema.name, STR("a.b"), "package");
    CHECK_STR(schema.messages.items[0].name, STR("M.Inner.Kind"), "an enum, innermost first");
    CHECK_EQ(schema.messages.items[0].fields.items[1].number, -1, "a negative value");
    CHECK_STR(schema.messages.items[1].name, STR("M.Inner"), "a message inside");
    CHECK_STR(schema.messages.items[1].fields.items[0].type, STR("M"), "found outwards");
    CHECK_STR(schema.messages.items[1].fields.items[1].type, STR("M.Inner.Kind"), "found inside");
    m = &schema.messages.items[2];
    CHECK_STR(m->name, STR("M"), "the outer one");
    REQUIRE(m->fields.count == 5, "fields");
    CHECK_STR(m->fields.items[0].type, STR("string"), "a type");
    CHECK_STR(m->fields.items[1].type, STR("Other"), "a full name");
    CHECK_EQ(m->fields.items[1].shape, SHAPE_LIST, "repeated");
    CHECK_EQ(m->fields.items[2].shape, SHAPE_MAP, "a map");
    CHECK_EQ(m->fields.items[2].number, 16, "hexadecimal");
    CHECK_STR(m->fields.items[2].type, STR("M.Inner"), "of the map");
    CHECK_STR(m->fields.items[3].oneof, STR("choice"), "a oneof");
    CHECK_STR(m->fields.items[4].type, STR("google.protobuf.Any"), "of another file");
    REQUIRE(m->reserved.count == 5, "reserved");
    CHECK_EQ(m->reserved.items[1].last, 11, "a range");
    CHECK_EQ(m->reserved.items[2].last, INT32_MAX, "to the end");
    CHECK_STR(m->reserved.items[4].name, STR("bar"), "a name");
    CHECK_STR(schema.messages.items[3].fields.items[0].type, STR("M.Inner.Kind"), "full name");
    arena_release(&arena);
}

TEST(what_is_wrong_is_said_with_its_place)
{
    static const struct {
        const char *text, *code, *says;
    } cases[] = {
        { "message M {", "proto.syntax", "1:12: expected a field" },
        { "message M { string a = 0; }", "proto.syntax", "a number from 1" },
        { "message M {\n  string a = 1\n}", "proto.syntax", "3:1: expected ';', found \"}\"" },
        { "message M { string a = x; }", "proto.syntax", "a whole number" },
        { "message M { string a = 99999999999; }", "proto.syntax", "a whole number" },
        { "message M { extend X { string a = 1; } }", "proto.syntax", "extensions are not read" },
        { "message M { repeated group G = 1 { } }", "proto.syntax", "groups are not read" },
        { "option a = \"x", "proto.syntax", "the end of a quoted text" },
        { "package ;", "proto.syntax", "the name of the package" },
        { "<?xml?>", "proto.syntax", "1:1: expected a message or an enum" },
        { "message M { reserved \"\"; }", "proto.syntax", "a name" },
    };

    for (size_t i = 0; i < ARRAY_LEN(cases); i++) {
        struct event_schema schema;
        struct error err = { 0 };

        arena_init(&arena, 1 << 20);
        CHECK(!event_proto_read(&arena, str_of(cases[i].text), &schema, &err), cases[i].text);
        CHECK_STR(str_of(err.code), str_of(cases[i].code), cases[i].text);
        CHECK(str_find(str_of(err.text), str_of(cases[i].says)) < str_of(err.text).len, err.text);
        arena_release(&arena);
    }
}

TEST(messages_are_not_nested_without_end)
{
    struct event_schema schema;
    struct error err = { 0 };
    struct buf text;

    arena_init(&arena, 1 << 20);
    buf_init(&text, &arena, 1 << 16);
    for (int i = 0; i < 1000; i++)
        buf_add(&text, STR("message M {"));
    CHECK(!event_proto_read(&arena, buf_str(&text), &schema, &err), "too deep");
    CHECK_STR(str_of(err.code), STR("proto.limit"), err.text);
    arena_release(&arena);
}
