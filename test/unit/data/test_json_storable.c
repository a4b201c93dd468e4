/* JSON that no database refuses. */
#include "data/json_storable.h"

#include "data/json.h"
#include "test.h"

static const struct {
    const char *json, *stored; /* NULL: as it is */
} cases[] = {
    { "{}", NULL },
    { "[1,-2.5e10,1e999,1E-999,\"1e9999\"]", NULL },
    { "\"\\ud83d\\ude00 \\uD83D\\uDE00\"", NULL },
    { "\"\\\\u0000 \\\\\\\\ud800\"", NULL },
    { "\"a\\u0000b\"", "\"a\\ufffdb\"" },
    { "{\"\\u0000\":\"\\ud800\"}", "{\"\\ufffd\":\"\\ufffd\"}" },
    { "\"\\ude00\\ud83d\"", "\"\\ufffd\\ufffd\"" },
    { "\"\\ud83d\\ud83d\\ude00\"", "\"\\ufffd\\ud83d\\ude00\"" },
    { "\"\\ud83d\\n\"", "\"\\ufffd\\n\"" },
    { "\"\\\\\\u0000\"", "\"\\\\\\ufffd\"" },
    { "[1e1000,2,-1.5E-1000]", "[\"1e1000\",2,\"-1.5E-1000\"]" },
    { "[1e0000999,1e+00001000]", "[1e0000999,\"1e+00001000\"]" },
    { "1e99999999999", "\"1e99999999999\"" },
};

TEST(only_what_a_database_refuses_is_replaced)
{
    struct arena arena;
    struct error err;

    arena_init(&arena, 1 << 20);
    for (size_t i = 0; i < ARRAY_LEN(cases); i++) {
        const struct str json = str_of(cases[i].json);
        struct str stored;

        REQUIRE(json_is_valid(json), cases[i].json);
        REQUIRE_OK(json_storable(&arena, json, &stored, &err), err);
        CHECK_STR(stored, str_of(cases[i].stored != NULL ? cases[i].stored : cases[i].json),
                  cases[i].json);
        CHECK_EQ(stored.data == json.data, cases[i].stored == NULL, cases[i].json);
        CHECK(json_is_valid(stored), cases[i].json);
    }
    arena_release(&arena);
}

TEST(a_long_number_becomes_a_text)
{
    char digits[402];
    const struct str number = { digits, 401 };
    struct arena arena;
    struct str stored;
    struct error err;

    for (size_t i = 0; i < number.len; i++)
        digits[i] = '9';
    arena_init(&arena, 1 << 20);
    CHECK(json_number_is_storable(str_slice(number, 0, 400)), "400 digits");
    CHECK(!json_number_is_storable(number), "one more");
    REQUIRE_OK(json_storable(&arena, number, &stored, &err), err);
    CHECK_EQ(stored.len, 403, "in quotes");
    arena_release(&arena);
}
