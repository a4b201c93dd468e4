/* Tests: responses are the same after they were packed, with and without a dictionary; bytes that
 * were not packed so are refused. */
#include <stdio.h>

#include "adapter/pack/pack.h"
#include "test.h"

enum { SAMPLES = 64 };

static struct str page_of(struct arena *arena, int number)
{
    struct buf out;

    buf_init(&out, arena, 1 << 20);
    buf_add(&out, STR("{\"status\":\"ok\",\"items\":["));
    for (int i = 0; i < 40; i++)
        buf_printf(&out, "%s{\"DOI\":\"10.%d/%d\",\"publisher\":\"A House of Learning\",\"n\":%d}",
                   i > 0 ? "," : "", 1000 + number, i * 7919 % 1000, number * i);
    buf_add(&out, STR("]}"));
    return buf_str(&out);
}

TEST(a_page_is_the_same_with_and_without_a_dictionary)
{
    struct body_dictionary dictionary = { 0 };
    struct str samples[SAMPLES], plain, small, again;
    struct body_packer *packer;
    struct arena arena;
    struct error err;

    arena_init(&arena, (size_t)256 << 20);
    REQUIRE_OK(body_packer_open(&packer, &err), err);
    for (int i = 0; i < SAMPLES; i++)
        samples[i] = page_of(&arena, i);
    REQUIRE_OK(body_pack(packer, &arena, &dictionary, samples[0], &plain, &err), err);
    REQUIRE_OK(body_unpack(packer, &arena, &dictionary, plain, &again, &err), err);
    CHECK(str_eq(again, samples[0]), "without");
    REQUIRE_OK(body_train(packer, &arena, samples + 1, SAMPLES - 1, &dictionary.bytes, &err), err);
    REQUIRE(dictionary.bytes.len > 0, "they have something in common");
    dictionary.id = 7;
    REQUIRE_OK(body_pack(packer, &arena, &dictionary, samples[0], &small, &err), err);
    REQUIRE_OK(body_unpack(packer, &arena, &dictionary, small, &again, &err), err);
    CHECK(str_eq(again, samples[0]), "with");
    CHECK(small.len < plain.len, "and it is smaller");
    CHECK(!body_unpack(packer, &arena, &(struct body_dictionary){ 0 }, small, &again, &err),
          "not without the one it was packed with");
    CHECK_STR(str_of(err.code), STR("pack.broken"), "code");
    body_packer_close(packer);
    arena_release(&arena);
}

TEST(other_bytes_are_refused)
{
    static const struct str bad[] = { STR_INIT(""), STR_INIT("{}"), STR_INIT("\x28\xB5\x2F\xFD"),
                                      STR_INIT("\x28\xB5\x2F\xFD\x20\x03garbage") };
    const struct body_dictionary none = { 0 };
    struct body_packer *packer;
    struct arena arena;
    struct error err;
    struct str out;

    arena_init(&arena, (size_t)256 << 20);
    REQUIRE_OK(body_packer_open(&packer, &err), err);
    for (size_t i = 0; i < ARRAY_LEN(bad); i++)
        CHECK(!body_unpack(packer, &arena, &none, bad[i], &out, &err), "not packed");
    body_packer_close(packer);
    arena_release(&arena);
}
