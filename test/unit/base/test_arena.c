/* Tests: limits, zeroing, growth and resets of arenas. */
#include "base/arena.h"

#include <stdalign.h>
#include <stdint.h>
#include <string.h>

#include "test.h"

static bool is_zero(const void *bytes, size_t size)
{
    const unsigned char *at = bytes;

    for (size_t i = 0; i < size; i++) {
        if (at[i] != 0)
            return false;
    }
    return true;
}

/* Many sizes around the chunk size: aligned, zeroed, and no overlap. */
TEST(arena_pieces_are_aligned_zeroed_and_distinct)
{
    enum { PIECES = 600 };
    unsigned char *pieces[PIECES];
    size_t sizes[PIECES];
    struct arena arena;

    arena_init(&arena, 64 << 20);
    for (size_t i = 0; i < PIECES; i++) {
        sizes[i] = i * i * 37 % 9000;
        pieces[i] = arena_alloc(&arena, sizes[i]);
        REQUIRE(pieces[i] != NULL, "there is room");
        CHECK_EQ((uintptr_t)pieces[i] % alignof(max_align_t), 0, "aligned");
        CHECK(is_zero(pieces[i], sizes[i]), "zeroed");
        memset(pieces[i], (int)(i % 255) + 1, sizes[i]);
    }
    for (size_t i = 0; i < PIECES; i++) {
        for (size_t k = 0; k < sizes[i]; k++)
            REQUIRE(pieces[i][k] == i % 255 + 1, "the written bytes are unchanged");
    }
    arena_release(&arena);
}

TEST(arena_size_zero_gives_a_pointer_of_its_own)
{
    struct arena arena;
    char *a, *b, *c;

    arena_init(&arena, 100);
    a = arena_alloc(&arena, 0);
    b = arena_alloc(&arena, 0);
    c = arena_alloc(&arena, 1);
    CHECK(a != NULL && b != NULL && c != NULL && a != b && b != c, "three places");
    arena_release(&arena);
}

TEST(arena_limit_is_exact_and_reported)
{
    struct arena arena;
    struct error err;

    arena_init(&arena, 1000);
    CHECK(arena_alloc(&arena, 1001) == NULL, "more than the limit");
    CHECK(arena.failed, "it remembers");
    arena_reset(&arena);
    CHECK(!arena.failed, "reset forgets");
    CHECK(arena_alloc(&arena, 600) != NULL, "some");
    CHECK(arena_alloc(&arena, 401) == NULL, "one too many");
    CHECK(arena_alloc(&arena, 400) != NULL, "the rest");
    CHECK(arena_alloc(&arena, 1) == NULL, "nothing is left");
    CHECK(!arena_error(&arena, &err), "an error is false");
    CHECK_STR(str_of(err.code), STR("memory.limit"), "code");
    CHECK(str_find(str_of(err.text), STR("1000 bytes")) < str_of(err.text).len, err.text);
    arena_release(&arena);
}

TEST(arena_array_whose_size_overflows_is_refused)
{
    struct arena arena;

    arena_init(&arena, SIZE_MAX);
    CHECK(arena_alloc_array(&arena, SIZE_MAX / 2, 3) == NULL, "overflow");
    CHECK(arena.failed, "it remembers");
    CHECK(ARENA_ARRAY(&arena, int, 0) != NULL, "an empty array");
    arena_release(&arena);
}

TEST(arena_fails_at_the_allocation_a_test_asks_for)
{
    struct arena arena;

    for (size_t n = 1; n <= 5; n++) {
        arena_init(&arena, 10000);
        arena.fail_at = n;
        for (size_t i = 1; i <= 5; i++)
            CHECK_EQ(arena_alloc(&arena, 10) == NULL, i == n, "the n-th, and no other");
        arena_release(&arena);
    }
}

TEST(arena_reset_gives_zeroed_memory_again)
{
    struct arena arena;

    arena_init(&arena, 1 << 20);
    for (int round = 0; round < 50; round++) {
        for (size_t i = 0; i < 20; i++) {
            unsigned char *bytes = arena_alloc(&arena, 100 + i * 500);

            REQUIRE(bytes != NULL && is_zero(bytes, 100 + i * 500), "zeroed, round after round");
            memset(bytes, 0xFF, 100 + i * 500);
        }
        arena_reset(&arena);
        CHECK_EQ(arena.used, 0, "nothing in use");
    }
    arena_release(&arena);
    arena_release(&arena); /* and the zero value */
}

/* Raw pieces leave old bytes; functions that promise zeroes must not return them. */
TEST(arena_zeroes_what_raw_pieces_left)
{
    struct arena arena;
    char *bytes;

    arena_init(&arena, 1 << 20);
    for (int round = 0; round < 3; round++) {
        bytes = arena_alloc_raw(&arena, 3001);
        REQUIRE(bytes != NULL, "room");
        memset(bytes, 0xFF, 3001);
        arena_reset(&arena);
        bytes = arena_alloc(&arena, 100);
        REQUIRE(bytes != NULL && is_zero(bytes, 100), "a piece");
        bytes = arena_alloc_raw(&arena, 5);
        REQUIRE(bytes != NULL, "room");
        memset(bytes, 'x', 5);
        bytes = arena_grow(&arena, bytes, 5, 1000);
        REQUIRE(bytes != NULL && is_zero(bytes + 5, 995), "what a raw piece grows by, in place");
        REQUIRE(arena_alloc_raw(&arena, 1) != NULL, "room");
        bytes = arena_grow(&arena, bytes, 1000, 1500);
        REQUIRE(bytes != NULL && is_zero(bytes + 5, 1495), "... and when it moves");
        arena_reset(&arena);
    }
    arena_release(&arena);
}

TEST(arena_reset_keeps_the_memory_of_a_page)
{
    enum { PAGE = 3 << 20 };
    struct arena arena;
    char *page, *again;

    arena_init(&arena, 64 << 20);
    page = arena_alloc_raw(&arena, PAGE);
    REQUIRE(page != NULL, "room");
    for (int i = 0; i < 100; i++)
        REQUIRE(arena_alloc(&arena, 10000) != NULL, "what became of it");
    arena_reset(&arena);
    REQUIRE(arena_alloc(&arena, 1000) != NULL, "headers");
    again = arena_alloc_raw(&arena, PAGE + PAGE / 16);
    CHECK(again > page && again < page + 2000,
          "a slightly larger page reuses the memory of the last one");
    arena_release(&arena);
}

TEST(arena_wipe_leaves_no_secret_behind)
{
    struct arena arena;
    char *bytes;

    arena_init(&arena, 1 << 20);
    bytes = arena_alloc_raw(&arena, 1000);
    REQUIRE(bytes != NULL, "room");
    memset(bytes, 'S', 1000);
    arena_wipe(&arena);
    CHECK_EQ(arena.used, 0, "reset");
    CHECK(arena_alloc_raw(&arena, 1000) == bytes && is_zero(bytes, 1000), "the same place, wiped");
    arena_release(&arena);
    arena_wipe(&arena);
}

TEST(arena_grows_the_last_piece_in_place)
{
    struct arena arena;
    char *first, *grown, *moved;

    arena_init(&arena, 1 << 20);
    first = arena_alloc(&arena, 10);
    REQUIRE(first != NULL, "room");
    memcpy(first, "0123456789", 10);
    grown = arena_grow(&arena, first, 10, 100);
    CHECK(grown == first, "in place");
    CHECK(memcmp(grown, "0123456789", 10) == 0 && is_zero(grown + 10, 90), "kept, then zero");
    CHECK_EQ(arena.used, 100, "counted once");
    CHECK(arena_alloc(&arena, 1) != NULL, "another piece after it");
    moved = arena_grow(&arena, grown, 100, 200);
    REQUIRE(moved != NULL, "room");
    CHECK(moved != grown, "no longer the last");
    CHECK(memcmp(moved, "0123456789", 10) == 0 && is_zero(moved + 10, 190), "copied, then zero");
    moved = arena_grow(&arena, moved, 200, 100000);
    REQUIRE(moved != NULL, "room in a chunk of its own");
    CHECK(memcmp(moved, "0123456789", 10) == 0 && is_zero(moved + 10, 99990), "copied, then zero");
    CHECK(arena_grow(&arena, moved, 100000, 2 << 20) == NULL, "beyond the limit");
    CHECK(moved[0] == '0', "the old piece stays");
    CHECK(arena_grow(&arena, NULL, 0, 10) != NULL, "from nothing");
    arena_release(&arena);
}

TEST(arena_copies_are_terminated)
{
    struct arena arena;
    struct str copy;

    arena_init(&arena, 100);
    copy = arena_copy(&arena, STR("abc"));
    CHECK_STR(copy, STR("abc"), "copied");
    CHECK_EQ(copy.data[3], '\0', "terminated");
    copy = arena_copy(&arena, (struct str){ NULL, 0 });
    CHECK(copy.data != NULL && copy.len == 0 && copy.data[0] == '\0', "the empty view");
    copy = arena_printf(&arena, "%d-%s", 42, "x");
    CHECK_STR(copy, STR("42-x"), "printed");
    CHECK_EQ(copy.data[copy.len], '\0', "terminated");
    copy = arena_printf(&arena, "%200d", 1);
    CHECK(copy.data == NULL && copy.len == 0, "beyond the limit");
    arena_release(&arena);
}
