/* The writer of JSON, and the assertions that stop its misuse. */
#include "test.h"

#include <signal.h>
#include <string.h>
#include <sys/wait.h>
#include <unistd.h>

#include "data/json_write.h"

static struct arena arena;
static struct buf out;
static struct json_writer w;

static void begin(void)
{
    arena_release(&arena);
    arena_init(&arena, 1 << 20);
    buf_init(&out, &arena, 1 << 20);
    json_writer_init(&w, &out);
}

TEST(values_of_all_kinds_are_written_without_space)
{
    struct json_doc doc;
    struct error err;

    begin();
    REQUIRE_OK(json_parse(&doc, &arena, STR("{\"x\": [ 1 ]}"), &err), err);
    json_write_object(&w);
    json_write_member_str(&w, STR("a"), STR("b\"c"));
    json_write_member_i64(&w, STR("n"), INT64_MIN);
    json_write_member_bool(&w, STR("t"), true);
    json_write_name(&w, STR("list"));
    json_write_array(&w);
    json_write_null(&w);
    json_write_bool(&w, false);
    json_write_double(&w, 0.1);
    json_write_double(&w, 1e21);
    json_write_array(&w);
    json_write_end(&w);
    json_write_object(&w);
    json_write_end(&w);
    json_write_raw(&w, STR("[ 1 ]"));
    json_write_node(&w, &doc, json_get(&doc, json_root(&doc), STR("x")));
    json_write_end(&w);
    json_write_name(&w, STR(""));
    json_write_str(&w, STR(""));
    json_write_end(&w);
    json_writer_finish(&w);
    REQUIRE_OK(buf_ok(&out, &err), err);
    CHECK_STR(buf_str(&out),
              STR("{\"a\":\"b\\\"c\",\"n\":-9223372036854775808,\"t\":true,"
                  "\"list\":[null,false,0.1,1e+21,[],{},[ 1 ],[ 1 ]],\"\":\"\"}"),
              "all kinds");
    CHECK(json_is_valid(buf_str(&out)), "and it is JSON");
}

TEST(strings_get_the_escapes_of_rfc_8785)
{
    static const struct {
        struct str value;
        const char *json;
    } cases[] = {
        { STR_INIT("a/b"), "\"a/b\"" },
        { STR_INIT("\b\t\n\f\r\"\\"), "\"\\b\\t\\n\\f\\r\\\"\\\\\"" },
        { STR_INIT("\0\x1F\x7F"), "\"\\u0000\\u001f\x7F\"" },
        { STR_INIT("\xE2\x82\xAC\xF0\x9F\x98\x80"), "\"\xE2\x82\xAC\xF0\x9F\x98\x80\"" },
        { STR_INIT("a\xFF\xC3z"), "\"a\xEF\xBF\xBD\xEF\xBF\xBDz\"" },
    };

    for (size_t i = 0; i < ARRAY_LEN(cases); i++) {
        begin();
        json_write_str(&w, cases[i].value);
        json_writer_finish(&w);
        CHECK_STR(buf_str(&out), str_of(cases[i].json), cases[i].json);
    }
}

/* Every byte, every pair: what is written parses, and decodes to what was given when that was
 * UTF-8. */
TEST(any_bytes_become_a_json_string_that_reads_back)
{
    struct json_doc doc;
    struct error err;

    for (int pair = 0; pair < 65536; pair++) {
        const char bytes[2] = { (char)(pair >> 8), (char)pair };
        const struct str value = { bytes, 2 };

        begin();
        json_write_str(&w, value);
        REQUIRE_OK(json_parse(&doc, &arena, buf_str(&out), &err), err);
        if (str_is_utf8(value) && !json_string_is(&doc, json_root(&doc), value))
            CHECK_EQ(pair, -1, "a pair of bytes that does not read back");
    }
}

/* Misuse must end the program: run it in a child and look at how it died. */
static bool dies(void (*misuse)(void))
{
    const pid_t child = fork();
    int status;

    if (child == 0) {
        (void)close(STDERR_FILENO);
        (void)signal(SIGABRT, SIG_DFL);
        begin();
        misuse();
        _exit(0);
    }
    REQUIRE(child > 0 && waitpid(child, &status, 0) == child, "fork");
    return WIFSIGNALED(status) && WTERMSIG(status) == SIGABRT;
}

static void value_without_name(void)
{
    json_write_object(&w);
    json_write_null(&w);
}

static void name_in_array(void)
{
    json_write_array(&w);
    json_write_name(&w, STR("a"));
}

static void name_at_top(void)
{
    json_write_name(&w, STR("a"));
}

static void two_names(void)
{
    json_write_object(&w);
    json_write_name(&w, STR("a"));
    json_write_name(&w, STR("b"));
}

static void two_values(void)
{
    json_write_null(&w);
    json_write_null(&w);
}

static void end_too_many(void)
{
    json_write_array(&w);
    json_write_end(&w);
    json_write_end(&w);
}

static void end_after_name(void)
{
    json_write_object(&w);
    json_write_name(&w, STR("a"));
    json_write_end(&w);
}

static void unfinished(void)
{
    json_write_array(&w);
    json_writer_finish(&w);
}

static void nothing(void)
{
    json_writer_finish(&w);
}

static void not_a_number(void)
{
    json_write_double(&w, 0.0 / 0.0 * 1.0);
}

static void raw_that_is_no_json(void)
{
    json_write_raw(&w, STR("[1"));
}

static void raw_that_is_two_values(void)
{
    json_write_raw(&w, STR("1 2"));
}

static void too_deep(void)
{
    for (int i = 0; i <= JSON_WRITE_DEPTH_MAX; i++)
        json_write_array(&w);
}

static void right_use(void)
{
    for (int i = 0; i < JSON_WRITE_DEPTH_MAX; i++)
        json_write_array(&w);
    for (int i = 0; i < JSON_WRITE_DEPTH_MAX; i++)
        json_write_end(&w);
    json_writer_finish(&w);
}

TEST(misuse_is_an_assertion)
{
    CHECK(dies(value_without_name), "a value without a name");
    CHECK(dies(name_in_array), "a name in an array");
    CHECK(dies(name_at_top), "a name at the top");
    CHECK(dies(two_names), "two names");
    CHECK(dies(two_values), "two values at the top");
    CHECK(dies(end_too_many), "an end too many");
    CHECK(dies(end_after_name), "an end after a name");
    CHECK(dies(unfinished), "an end missing");
    CHECK(dies(nothing), "nothing written");
    CHECK(dies(not_a_number), "not a number");
    CHECK(dies(raw_that_is_no_json), "raw that is not JSON");
    CHECK(dies(raw_that_is_two_values), "raw that is two values");
    CHECK(dies(too_deep), "too deep");
    CHECK(!dies(right_use), "right use lives");
}

TEST(a_full_buffer_is_remembered)
{
    struct error err;

    begin();
    buf_init(&out, &arena, 10);
    json_write_object(&w);
    json_write_member_str(&w, STR("name"), STR("much longer than ten bytes"));
    json_write_end(&w);
    json_writer_finish(&w);
    CHECK(!buf_ok(&out, &err), "the limit was met");
    arena_release(&arena);
}
