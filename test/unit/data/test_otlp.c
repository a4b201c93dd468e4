/* Spans as OTLP/JSON, against the form that its specification gives: ids in hexadecimal, 64-bit
 * numbers as strings, names in lowerCamelCase, kinds and codes as numbers. */
#include "data/otlp.h"

#include "test.h"

TEST(spans_are_written_as_the_protocol_has_them)
{
    const struct otlp_resource resource = { STR("patra"), STR("0.1"), STR("host:1") };
    struct span spans[2] = {
        { .context = { "0af7651916cd43dd8448eb211c80319c", "b7ad6b7169203331" },
          .kind = SPAN_CLIENT,
          .begin_us = 1767225600000001,
          .end_us = 1767225600000000 },
        { .context = { "0af7651916cd43dd8448eb211c80319c", "00f067aa0ba902b7" },
          .parent = "b7ad6b7169203331",
          .kind = SPAN_INTERNAL,
          .begin_us = 1767225600000000,
          .end_us = 1767225600000002 }
    };
    struct error err = { 0 };
    struct arena arena;
    struct buf out;

    arena_init(&arena, 1 << 20);
    buf_init(&out, &arena, 1 << 16);
    span_name(&spans[0], "a \"b\"");
    span_i64(&spans[0], "n", -5);
    span_str(&spans[0], "t", STR("x"));
    span_name(&spans[1], "c");
    span_fail(&spans[1], STR("no"));
    otlp_write(&out, &resource, spans, 2);
    REQUIRE_OK(buf_ok(&out, &err), err);
    CHECK_STR(
        buf_str(&out),
        STR("{\"resourceSpans\":[{\"resource\":{\"attributes\":["
            "{\"key\":\"service.name\",\"value\":{\"stringValue\":\"patra\"}},"
            "{\"key\":\"service.version\",\"value\":{\"stringValue\":\"0.1\"}},"
            "{\"key\":\"service.instance.id\",\"value\":{\"stringValue\":\"host:1\"}}]},"
            "\"scopeSpans\":[{\"scope\":{\"name\":\"patra\"},\"spans\":["
            "{\"traceId\":\"0af7651916cd43dd8448eb211c80319c\",\"spanId\":\"b7ad6b7169203331\","
            "\"name\":\"a \\\"b\\\"\",\"kind\":3,"
            "\"startTimeUnixNano\":\"1767225600000001000\","
            "\"endTimeUnixNano\":\"1767225600000001000\",\"attributes\":["
            "{\"key\":\"n\",\"value\":{\"intValue\":\"-5\"}},"
            "{\"key\":\"t\",\"value\":{\"stringValue\":\"x\"}}]},"
            "{\"traceId\":\"0af7651916cd43dd8448eb211c80319c\",\"spanId\":\"00f067aa0ba902b7\","
            "\"parentSpanId\":\"b7ad6b7169203331\",\"name\":\"c\",\"kind\":1,"
            "\"startTimeUnixNano\":\"1767225600000000000\","
            "\"endTimeUnixNano\":\"1767225600000002000\",\"attributes\":[],"
            "\"status\":{\"code\":2,\"message\":\"no\"}}]}]}]}"),
        "the body");
    arena_release(&arena);
}
