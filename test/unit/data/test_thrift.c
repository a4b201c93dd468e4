/* The compact protocol, byte by byte as its specification says. */
#include "data/thrift.h"

#include "test.h"

static struct arena arena;
static struct buf out;
static struct thrift_writer w;

static void begin(void)
{
    arena_init(&arena, 65536);
    buf_init(&out, &arena, 4096);
    thrift_writer_init(&w, &out);
}

static void check(struct str expected, const char *label)
{
    struct error err = { 0 };

    REQUIRE_OK(buf_ok(&out, &err), err);
    CHECK_STR(buf_str(&out), expected, label);
    arena_release(&arena);
}

#define BYTES(text) ((struct str){ (text), sizeof(text) - 1 })

TEST(numbers_are_zigzag_varints)
{
    static const struct {
        int64_t value;
        struct str bytes;
    } cases[] = {
        { 0, STR_INIT("\x00") },
        { -1, STR_INIT("\x01") },
        { 1, STR_INIT("\x02") },
        { 63, STR_INIT("\x7e") },
        { 64, STR_INIT("\x80\x01") },
        { -65, STR_INIT("\x81\x01") },
        { 300, STR_INIT("\xd8\x04") },
        { INT64_MAX, STR_INIT("\xfe\xff\xff\xff\xff\xff\xff\xff\xff\x01") },
        { INT64_MIN, STR_INIT("\xff\xff\xff\xff\xff\xff\xff\xff\xff\x01") },
    };

    for (size_t i = 0; i < ARRAY_LEN(cases); i++) {
        begin();
        thrift_i64(&w, 0, cases[i].value);
        check(cases[i].bytes, "zigzag");
    }
}

TEST(a_field_is_known_by_its_distance_to_the_one_before)
{
    begin();
    thrift_struct(&w, 0);
    thrift_i32(&w, 1, 1);
    thrift_bool(&w, 3, true);
    thrift_bool(&w, 4, false);
    thrift_i16(&w, 7, -1);
    thrift_str(&w, 10, STR("ab"));
    thrift_end(&w);
    check(BYTES("\x15\x02\x21\x12\x34\x01\x38\x02"
                "ab\x00"),
          "differences of 1, 2, 1, 3, 3");
}

TEST(a_struct_inside_counts_from_the_beginning)
{
    begin();
    thrift_struct(&w, 0);
    thrift_struct(&w, 5);
    thrift_i32(&w, 1, 0);
    thrift_end(&w);
    thrift_i32(&w, 6, 0);
    thrift_end(&w);
    check(BYTES("\x5c\x15\x00\x00\x15\x00\x00"), "1 inside, and 6 after 5");
}

TEST(a_list_of_fifteen_has_a_length_of_its_own)
{
    begin();
    thrift_struct(&w, 0);
    thrift_list(&w, 1, THRIFT_I32, 2);
    thrift_i32(&w, 0, 1);
    thrift_i32(&w, 0, 2);
    thrift_end(&w);
    check(BYTES("\x19\x25\x02\x04\x00"), "short");
    begin();
    thrift_list(&w, 0, THRIFT_BINARY, 15);
    check(BYTES("\xf8\x0f"), "long");
}
