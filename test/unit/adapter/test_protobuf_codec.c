/* Tests: events of Protobuf are the JSON that they were made of; bytes that are none are refused.
 */
#include <string.h>

#include "adapter/protobuf/protobuf.h"
#include "base/buf.h"
#include "test.h"

#define HEAD                                                                               \
    "{\"eventId\":\"019b0000-0000-7000-8000-000000000001\",\"eventType\":\"%s\","          \
    "\"schemaVersion\":1,\"occurredAt\":\"2026-01-02T03:04:05.678000Z\",\"source\":\"s\"," \
    "\"endpoint\":\"e\",\"id\":\"10.1/\xC3\xBC\",\"version\":7,"
#define TAIL                                                                         \
    "\"lineage\":{\"scheduleInstanceId\":1,\"planId\":2,\"sliceId\":3,\"taskId\":4," \
    "\"runId\":5,\"batchId\":6}}"

static struct arena arena;

static struct str event_with(const char *type, const char *members)
{
    const struct str head = arena_printf(&arena, HEAD, type);

    return arena_printf(&arena, "%.*s%s" TAIL, STR_ARG(head), members);
}

TEST(an_event_is_read_back_as_it_was_written)
{
    static const struct {
        const char *label, *type, *members;
    } cases[] = {
        { "little", "RecordCreated", "\"deleted\":false,\"exprHash\":\"\",\"fields\":{}," },
        { "all members", "RecordUpdated",
          "\"updatedAt\":\"2026-01-01T00:00:00Z\",\"providerVersion\":\"3\",\"deleted\":false,"
          "\"mergedInto\":\"x\",\"contentHash\":\"c\",\"exprHash\":\"e\",\"fields\":{\"a\":1},"
          "\"rederived\":true," },
        { "a deletion", "RecordDeleted", "\"deleted\":true,\"exprHash\":\"e\"," },
        { "values", "RecordCreated",
          "\"deleted\":false,\"exprHash\":\"e\",\"fields\":{\"n\":null,\"t\":true,\"f\":false,"
          "\"i\":-9223372036854775808,\"d\":1.5,\"s\":\"\",\"u\":\"\xE2\x82\xAC\","
          "\"l\":[],\"o\":{},\"b\":[1,[2,{\"x\":[null]}]]}," },
        { "numbers beyond a double", "RecordCreated",
          "\"deleted\":false,\"exprHash\":\"e\",\"fields\":{\"n\":12345678901234567890.5,"
          "\"h\":1e400}," },
        { "texts that Protobuf cannot hold", "RecordCreated",
          "\"deleted\":false,\"exprHash\":\"e\",\"fields\":{\"n\":\"a\\u0000b\",\"h\":\"\\ud800\","
          "\"o\":{\"a\\u0000\":1}}," },
        { "deeper than it goes", "RecordCreated",
          "\"deleted\":false,\"exprHash\":\"e\",\"fields\":{\"d\":"
          "[[[[[[[[[[[[[[[[[[[[[[[[[[[[[[[[[[[[[[[[1]]]]]]]]]]]]]]]]]]]]]]]]]]]]]]]]]]]]]]]]}," },
        { "a payload of JSON", "RecordCreated",
          "\"deleted\":false,\"exprHash\":\"e\",\"fields\":{},\"payload\":{\"a\":[1,\"\"]}," },
        { "a payload of XML", "RecordCreated",
          "\"deleted\":false,\"exprHash\":\"e\",\"fields\":{},\"payload\":\"<a b='1'/>\"," },
    };

    arena_init(&arena, 4 << 20);
    for (size_t i = 0; i < ARRAY_LEN(cases); i++) {
        const struct str json = event_with(cases[i].type, cases[i].members);
        struct str bytes, again;
        struct error err = { 0 };

        REQUIRE_OK(protobuf_event_encode(&arena, json, &bytes, &err), err);
        REQUIRE_OK(protobuf_event_decode(&arena, bytes, &again, &err), err);
        CHECK_STR(again, json, cases[i].label);
    }
    arena_release(&arena);
}

static void refused(struct str bytes, const char *label)
{
    struct error err = { 0 };
    struct str json;

    CHECK(!protobuf_event_decode(&arena, bytes, &json, &err), label);
    CHECK_EQ((int)err.level, ERROR_DATA, label);
    CHECK_STR(str_of(err.code), STR("event.body"), label);
}

TEST(bytes_that_are_no_event_are_refused)
{
    const char *whole = "\"deleted\":false,\"exprHash\":\"e\",\"fields\":{\"title\":\"abc\"},";
    struct error err = { 0 };
    struct str bytes;
    size_t cut = 0;
    char *at;

    arena_init(&arena, 16 << 20);
    REQUIRE_OK(protobuf_event_encode(&arena, event_with("RecordCreated", whole), &bytes, &err),
               err);
    refused(STR(""), "nothing");
    refused(STR("{}"), "JSON");
    for (; cut < bytes.len; cut++)
        refused((struct str){ bytes.data, cut }, "cut off");
    at = memmem((char *)bytes.data, bytes.len, "abc", 3);
    REQUIRE(at != NULL, "the title");
    at[1] = '\0';
    refused(bytes, "a NUL in a text");
    at[1] = (char)0xFF;
    refused(bytes, "not UTF-8");
    arena_release(&arena);
}

/* A Value of a List of a Value ...: two bytes and a length a level. */
TEST(depth_without_end_is_refused)
{
    enum { LEVELS = 200000, ROOM = 3 << 20 };
    char *room, *at;
    struct str inner;

    arena_init(&arena, 64 << 20);
    room = arena_alloc(&arena, ROOM);
    REQUIRE(room != NULL, "memory");
    at = room + ROOM;
    for (int i = 0; i < LEVELS; i++) {
        size_t len = (size_t)(room + ROOM - at);
        char head[12];
        size_t used = 0;

        head[used++] = i % 2 == 0 ? 0x0A : 0x3A; /* items = 1 of a List; list = 7 of a Value */
        for (; len >= 0x80; len >>= 7)
            head[used++] = (char)(0x80 | (len & 0x7F));
        head[used++] = (char)len;
        at -= used;
        memcpy(at, head, used);
    }
    inner = (struct str){ at, (size_t)(room + ROOM - at) };
    /* Event.record = 8, Record.fields = 9, its value = 2 */
    for (int i = 0; i < 3; i++) {
        static const char TAGS[] = { 0x12, 0x4A, 0x42 };
        struct buf out;
        size_t len = inner.len;

        buf_init(&out, &arena, ROOM + 64);
        buf_add_char(&out, TAGS[i]);
        for (; len >= 0x80; len >>= 7)
            buf_add_char(&out, (char)(0x80 | (len & 0x7F)));
        buf_add_char(&out, (char)len);
        buf_add(&out, inner);
        inner = buf_str(&out);
    }
    refused(inner, "200,000 levels");
    arena_release(&arena);
}
