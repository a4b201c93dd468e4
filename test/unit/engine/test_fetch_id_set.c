/* The set of ids: hashes, growth, the limit. */
#include <stdio.h>

#include "engine/fetch/id_set.h"
#include "random.h"
#include "test.h"

TEST(a_set_has_what_was_added)
{
    enum { VALUES = 5000, DRAWS = 20000 };
    static bool model[VALUES];
    struct random random = { 1 };
    struct arena arena;
    struct id_set set;
    struct error err;
    size_t count = 0;

    arena_init(&arena, 16 << 20);
    id_set_init(&set, &arena);
    CHECK(!id_set_has(&set, id_set_hash(STR("x"))), "the empty set has nothing");
    for (int i = 0; i < DRAWS; i++) {
        const int value = (int)random_between(&random, 0, VALUES);
        char text[32];
        bool is_new;
        uint64_t hash;

        (void)snprintf(text, sizeof(text), "10.1000/%d", value);
        hash = id_set_hash(str_of(text));
        CHECK_EQ(id_set_has(&set, hash), model[value], "before");
        REQUIRE_OK(id_set_add(&set, hash, &is_new, &err), err);
        CHECK_EQ(is_new, !model[value], "new or not");
        count += is_new;
        model[value] = true;
    }
    CHECK_EQ(set.count, count, "counted");
    id_set_clear(&set);
    CHECK(!id_set_has(&set, id_set_hash(STR("10.1000/1"))), "cleared");
    arena_release(&arena);
}

TEST(a_full_set_says_so)
{
    struct arena arena;
    struct id_set set;
    struct error err;
    bool is_new = false;

    arena_init(&arena, 128 << 20);
    id_set_init(&set, &arena);
    for (uint64_t i = 1; i <= ID_SET_MAX; i++)
        REQUIRE_OK(id_set_add(&set, i * UINT64_C(0x9e3779b97f4a7c15), &is_new, &err), err);
    CHECK(!set.is_full, "just fits");
    REQUIRE_OK(id_set_add(&set, 12345, &is_new, &err), err);
    CHECK(set.is_full && is_new, "one more");
    REQUIRE_OK(id_set_add(&set, UINT64_C(0x9e3779b97f4a7c15), &is_new, &err), err);
    CHECK(!is_new, "what it has it still knows");
    arena_release(&arena);
}

TEST(no_memory_is_an_error)
{
    struct arena arena;
    struct id_set set;
    struct error err;
    bool is_new;

    arena_init(&arena, 16);
    id_set_init(&set, &arena);
    CHECK(!id_set_add(&set, 1, &is_new, &err), "no room");
    CHECK_STR(str_of(err.code), STR("memory.limit"), "the code");
    arena_release(&arena);
}
