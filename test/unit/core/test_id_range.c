/* Tests: ranges of ids and the parts of windows, against a model of every id. */
#include "core/id_range.h"

#include <string.h>

#include "random.h"
#include "test.h"

TEST(a_range_says_what_it_holds)
{
    static const struct {
        struct id_range range;
        const char *text;
        bool is_valid, has_0, has_99, has_100;
    } rows[] = {
        { { 0, 0 }, "", false, false, false, false },
        { { 5, 5 }, "", false, false, false, false },
        { { 0, 100 }, "ids 0 to 99", true, true, true, false },
        { { 99, 100 }, "ids 99 to 99", true, false, true, false },
        { { ID_LOWEST, 100 }, "ids up to 99", true, true, true, false },
        { { 100, ID_HIGHEST }, "ids from 100", true, false, false, true },
        { { ID_LOWEST, ID_HIGHEST }, "all ids", true, true, true, true },
    };
    char text[ID_RANGE_TEXT_MAX];

    for (size_t i = 0; i < ARRAY_LEN(rows); i++) {
        CHECK_EQ(id_range_is_valid(rows[i].range), rows[i].is_valid, rows[i].text);
        CHECK_EQ(id_range_has(rows[i].range, 0), rows[i].has_0, rows[i].text);
        CHECK_EQ(id_range_has(rows[i].range, 99), rows[i].has_99, rows[i].text);
        CHECK_EQ(id_range_has(rows[i].range, 100), rows[i].has_100, rows[i].text);
        if (!rows[i].is_valid)
            continue;
        id_range_text(rows[i].range, text);
        CHECK_STR(str_of(text), str_of(rows[i].text), "for people");
    }
    id_range_text((struct id_range){ ID_LOWEST + 1, ID_HIGHEST - 1 }, text);
    CHECK(strlen(text) < sizeof(text) - 1, "the longest fits");
}

/* ---- compared with a model that checks every id ---- */

enum { WINDOWS = 3, CELLS = 12, PARTS_MOST = 14 };

/* Cell 0 is everything below 0, the last cell everything above. */
static struct id_range range_of_cells(int64_t from, int64_t to)
{
    return (struct id_range){ from == 0 ? ID_LOWEST : from, to == CELLS ? ID_HIGHEST : to };
}

static bool holds_cell(struct id_range range, int cell)
{
    return id_range_has(range, cell == 0 ? ID_LOWEST : cell == CELLS - 1 ? ID_HIGHEST - 1 : cell);
}

struct model {
    struct random random;
    struct arena arena;
    struct id_part parts[PARTS_MOST];
    struct id_part_list list;
    bool held[WINDOWS][CELLS];
};

static struct window window_of(int number)
{
    /* Two share their beginning: a part of one is not a part of the other. */
    return (struct window){ 100 * (number / 2), 100 * (number / 2) + 50 + number };
}

static void make_parts(struct model *m)
{
    memset(m->held, 0, sizeof(m->held));
    m->list =
        (struct id_part_list){ m->parts, (size_t)random_between(&m->random, 0, PARTS_MOST + 1) };
    for (size_t i = 0; i < m->list.count; i++) {
        const int window = (int)random_between(&m->random, 0, WINDOWS);
        const int64_t from = random_between(&m->random, 0, CELLS);
        const int64_t to = random_between(&m->random, from + 1, CELLS + 1);

        m->parts[i] = (struct id_part){ window_of(window), range_of_cells(from, to) };
        for (int cell = 0; cell < CELLS; cell++)
            m->held[window][cell] |= holds_cell(m->parts[i].ids, cell);
    }
    id_parts_sort(m->list);
}

static size_t check_whole(struct model *m)
{
    struct window_list whole = { 0 };
    struct error err = { 0 };
    size_t wanted = 0;

    REQUIRE_OK(id_parts_whole(&m->arena, m->list, &whole, &err), err);
    for (int w = 0; w < WINDOWS; w++) {
        bool is_whole = true, is_told = false;

        for (int cell = 0; cell < CELLS; cell++)
            is_whole &= m->held[w][cell];
        for (size_t i = 0; i < whole.count; i++)
            is_told |= memcmp(&whole.items[i],
                              &(struct window){ window_of(w).from_us, window_of(w).to_us },
                              sizeof(struct window)) == 0;
        CHECK_EQ(is_told, is_whole, "a window is whole when all its cells are held");
        wanted += is_whole;
    }
    CHECK_EQ(whole.count, wanted, "each once");
    return wanted;
}

static void check_missing(struct model *m)
{
    const int w = (int)random_between(&m->random, 0, WINDOWS);
    const int64_t from = random_between(&m->random, 0, CELLS);
    const int64_t to = random_between(&m->random, from + 1, CELLS + 1);
    const struct id_part of = { window_of(w), range_of_cells(from, to) };
    struct id_range_list missing;
    struct error err = { 0 };

    REQUIRE_OK(id_parts_missing(&m->arena, m->list, of, &missing, &err), err);
    for (int cell = 0; cell < CELLS; cell++) {
        size_t times = 0;

        for (size_t i = 0; i < missing.count; i++)
            times += holds_cell(missing.items[i], cell);
        CHECK_EQ(times, holds_cell(of.ids, cell) && !m->held[w][cell], "once, and only what is");
    }
}

TEST(parts_of_windows_join_as_a_model_of_single_ids_says)
{
    struct model m = { .random = { 11 } };
    size_t whole = 0;

    arena_init(&m.arena, 1 << 20);
    for (int round = 0; round < 20000; round++) {
        arena_reset(&m.arena);
        make_parts(&m);
        whole += check_whole(&m);
        check_missing(&m);
    }
    test_note("20,000 sets of parts, %zu whole windows", whole);
    CHECK(whole > 1000, "there were some");
    arena_release(&m.arena);
}
