/* Tests: canonical JSON. */
#include "core/canon.h"

#include "test.h"

TEST(keys_values_and_escapes_are_canonical)
{
    struct arena arena;
    struct buf out;
    struct canon canon;
    struct error err;

    arena_init(&arena, 65536);
    buf_init(&out, &arena, 4096);
    canon = canon_begin(&out);
    canon_array(&canon, "a");
    canon_i64(&canon, NULL, -1);
    canon_null(&canon, NULL);
    canon_close(&canon);
    canon_bool(&canon, "b", true);
    canon_object(&canon, "c");
    canon_close(&canon);
    canon_id(&canon, "id", INT64_MAX);
    canon_i64(&canon, "n", CANON_NUMBER_MAX);
    canon_instant(&canon, "t", 1);
    /* RFC 8785 3.2.2.2: two-letter escapes where they exist, \u00xx for other controls, and
     * everything else, DEL and beyond ASCII included, as it is. */
    canon_str(&canon, "v", STR("\"\\/\b\f\n\r\t\x01\x1f\x7f \xe2\x82\xac<"));
    canon_end(&canon);
    REQUIRE_OK(buf_ok(&out, &err), err);
    CHECK_STR(buf_str(&out),
              STR("{\"a\":[-1,null],\"b\":true,\"c\":{},\"id\":\"9223372036854775807\","
                  "\"n\":9007199254740991,\"t\":\"1970-01-01T00:00:00.000001Z\","
                  "\"v\":\"\\\"\\\\/\\b\\f\\n\\r\\t\\u0001\\u001f\x7f \xe2\x82\xac<\"}"),
              "all kinds");
    arena_release(&arena);
}

TEST(a_nul_byte_is_escaped)
{
    struct arena arena;
    struct buf out;
    struct canon canon;

    arena_init(&arena, 4096);
    buf_init(&out, &arena, 1024);
    canon = canon_begin(&out);
    canon_str(&canon, "k", (struct str){ "a\0b", 3 });
    canon_end(&canon);
    CHECK_STR(buf_str(&out), STR("{\"k\":\"a\\u0000b\"}"), "NUL");
    arena_release(&arena);
}

TEST(durations_are_iso_8601)
{
    static const struct {
        int64_t us;
        const char *text;
    } rows[] = {
        { 0, "PT0S" },
        { INT64_C(600000000), "PT10M" },
        { INT64_C(3600000000), "PT1H" },
        { INT64_C(5400000000), "PT1H30M" },
        { INT64_C(90061000000), "PT25H1M1S" },
        { 500000, "PT0.5S" },
        { 1, "PT0.000001S" },
        { INT64_C(60000000) + 1500, "PT1M0.0015S" },
    };

    for (size_t i = 0; i < ARRAY_LEN(rows); i++) {
        struct arena arena;
        struct buf out;
        struct canon canon;

        arena_init(&arena, 4096);
        buf_init(&out, &arena, 1024);
        canon = canon_begin(&out);
        canon_duration(&canon, "d", rows[i].us);
        canon_end(&canon);
        CHECK_STR(str_slice(buf_str(&out), 6, buf_str(&out).len - 2), str_of(rows[i].text),
                  rows[i].text);
        arena_release(&arena);
    }
}
