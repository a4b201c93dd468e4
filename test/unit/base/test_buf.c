/* Tests: appending to a buf up to its limit. */
#include "base/buf.h"

#include <string.h>

#include "test.h"

TEST(buf_holds_what_was_added)
{
    static const unsigned char bytes[] = { 0x00, 0x7F, 0x80, 0xFF };
    struct arena arena;
    struct error err;
    struct buf buf;

    arena_init(&arena, 10000);
    buf_init(&buf, &arena, 1000);
    CHECK_EQ(buf_str(&buf).len, 0, "empty");
    REQUIRE_OK(buf_ok(&buf, &err), err);
    buf_add(&buf, STR("a"));
    buf_add(&buf, (struct str){ NULL, 0 });
    buf_add_char(&buf, '\0');
    buf_add_i64(&buf, INT64_MIN);
    buf_add_hex(&buf, bytes, sizeof(bytes));
    buf_printf(&buf, "%s=%d", "k", 7);
    REQUIRE_OK(buf_ok(&buf, &err), err);
    CHECK_STR(buf_str(&buf), STR("a\0-9223372036854775808007f80ffk=7"), "all of it");
    buf_clear(&buf);
    buf_add(&buf, STR("again"));
    CHECK_STR(buf_str(&buf), STR("again"), "empty, then filled again");
    arena_release(&arena);
}

/* Compared with a plain array, while other allocations take the memory after it. */
TEST(buf_grows_while_others_use_the_arena)
{
    static char model[20000];
    struct arena arena;
    struct error err;
    struct buf buf;
    size_t len = 0;

    arena_init(&arena, 4 << 20);
    buf_init(&buf, &arena, sizeof(model));
    for (size_t i = 0; len + 50 < sizeof(model); i++) {
        char piece[50];
        const size_t size = i % sizeof(piece);

        memset(piece, (int)('a' + i % 26), sizeof(piece));
        buf_add(&buf, (struct str){ piece, size });
        memcpy(model + len, piece, size);
        len += size;
        if (i % 10 == 0)
            REQUIRE(arena_alloc(&arena, 100) != NULL, "another piece");
    }
    REQUIRE_OK(buf_ok(&buf, &err), err);
    CHECK_STR(buf_str(&buf), ((struct str){ model, len }), "the same bytes");
    arena_release(&arena);
}

TEST(buf_limit_is_exact_for_every_append)
{
    struct arena arena;
    struct error err;
    struct buf buf;

    arena_init(&arena, 10000);
    buf_init(&buf, &arena, 10);
    buf_add(&buf, STR("0123456789"));
    REQUIRE_OK(buf_ok(&buf, &err), err);
    buf_add(&buf, (struct str){ NULL, 0 });
    REQUIRE_OK(buf_ok(&buf, &err), err);
    buf_add_char(&buf, 'x');
    CHECK(!buf_ok(&buf, &err), "one too many");
    CHECK_STR(str_of(err.code), STR("buffer.limit"), "code");
    CHECK(str_find(str_of(err.text), STR("10 bytes")) < str_of(err.text).len, err.text);

    buf_init(&buf, &arena, 10);
    buf_printf(&buf, "%s", "0123456789");
    REQUIRE_OK(buf_ok(&buf, &err), err);
    CHECK_STR(buf_str(&buf), STR("0123456789"), "printed up to the limit");
    buf_printf(&buf, "%s", "x");
    CHECK(!buf_ok(&buf, &err), "one too many");
    arena_release(&arena);
}

TEST(buf_remembers_the_first_failure)
{
    struct arena arena;
    struct error err;
    struct buf buf;

    arena_init(&arena, 10000);
    buf_init(&buf, &arena, 5);
    buf_add(&buf, STR("abc"));
    buf_add(&buf, STR("defg"));
    buf_add(&buf, STR("h")); /* would fit, but an earlier append failed */
    CHECK(!buf_ok(&buf, &err), "failed");
    CHECK_STR(buf_str(&buf), STR("abc"), "nothing after the failed append");
    buf_clear(&buf);
    buf_add(&buf, STR("h"));
    REQUIRE_OK(buf_ok(&buf, &err), err);
    arena_release(&arena);
}

TEST(buf_reports_a_full_arena)
{
    struct arena arena;
    struct error err;
    struct buf buf;

    arena_init(&arena, 100);
    buf_init(&buf, &arena, 1000);
    for (int i = 0; i < 200; i++)
        buf_add_char(&buf, 'x');
    CHECK(!buf_ok(&buf, &err), "the arena is full");
    CHECK_STR(str_of(err.code), STR("memory.limit"), "the arena's error");
    arena_release(&arena);
}

/* Callers rely on the limit: doubling must not allocate more than that. */
TEST(buf_takes_no_more_than_its_limit)
{
    struct arena arena;
    struct error err;
    struct buf buf;

    arena_init(&arena, 101);
    buf_init(&buf, &arena, 100);
    for (int i = 0; i < 100; i++)
        buf_add_char(&buf, 'x');
    REQUIRE_OK(buf_ok(&buf, &err), err);
    arena_release(&arena);
}
