/* Readers of rows over a table of words in memory: what they promise for every database. */
#include "adapter/sql/rows.h"

#include <string.h>

#include "port/store_pause.h"
#include "test.h"

enum { WIDTH = 6, HEIGHT_MAX = 16 };

struct table {
    struct rows rows;
    const char *cells[HEIGHT_MAX][WIDTH]; /* NULL: NULL */
    int height;
    int next; /* how many times next() was called */
};

static const char *cell(const struct rows *rows, int column)
{
    const struct table *table = (const struct table *)rows;

    return table->cells[table->next - 1][column];
}

static bool next(struct rows *rows)
{
    struct table *table = (struct table *)rows;

    return table->next++ < table->height;
}

static bool finish(struct rows *rows, struct error *err)
{
    return rows_ok(rows, err);
}

static int width(const struct rows *rows)
{
    (void)rows;
    return WIDTH;
}

static const char *name(const struct rows *rows, int column)
{
    static const char *const NAMES[WIDTH] = { "a", "b", "kind_code", "d", "e", "f" };

    (void)rows;
    return NAMES[column];
}

static bool is_null(const struct rows *rows, int column)
{
    return cell(rows, column) == NULL;
}

static int64_t i64(const struct rows *rows, int column)
{
    int64_t value = 0;

    return !is_null(rows, column) && str_to_i64(str_of(cell(rows, column)), &value) ? value : 0;
}

static double real(const struct rows *rows, int column)
{
    return (double)i64(rows, column) / 2;
}

static struct str view(struct rows *rows, int column)
{
    return is_null(rows, column) ? STR("") : str_of(cell(rows, column));
}

static const struct rows_ops TABLE = { next, finish, width, name, is_null, i64, real, view };

static const struct table PAUSES = {
    .rows = { .ops = &TABLE },
    .cells = { { "crossref", "works", "PAUSED", "maintenance", "ann", "17" },
               { "pubmed", NULL, "PAUSED", "", "bob", "18" } },
    .height = 2,
};

static bool read_pauses(struct rows *rows, struct arena *arena, struct pause_list *list,
                        struct error *err)
{
    struct pause *pause;

    *list = (struct pause_list){ 0 };
    while ((pause = ROWS_NEXT(rows, arena, list)) != NULL) {
        pause->source = rows_text(rows, arena);
        pause->endpoint = rows_text(rows, arena);
        pause->kind = (enum pause_kind)rows_code(rows, &PAUSE_KIND_CODES);
        pause->reason = rows_text(rows, arena);
        pause->created_by = rows_text(rows, arena);
        pause->created_us = rows_i64(rows);
    }
    return rows_finish(rows, err);
}

TEST(a_list_is_read_in_the_order_of_its_columns)
{
    struct table table = PAUSES;
    struct pause_list list;
    struct arena arena;
    struct error err;

    arena_init(&arena, 1 << 16);
    REQUIRE_OK(read_pauses(&table.rows, &arena, &list, &err), err);
    REQUIRE(list.count == 2, "two rows");
    CHECK_STR(list.items[0].source, STR("crossref"), "the first column");
    CHECK_STR(list.items[0].reason, STR("maintenance"), "the fourth");
    CHECK_EQ(list.items[0].created_us, 17, "the last");
    CHECK_STR(list.items[1].endpoint, STR(""), "NULL reads as an empty text");
    CHECK_EQ(list.items[1].created_us, 18, "the second row begins with its own first column");
    arena_release(&arena);
}

TEST(an_unknown_code_is_reported_with_its_column)
{
    struct table table = PAUSES;
    struct pause_list list;
    struct arena arena;
    struct error err;

    table.cells[0][2] = "STROLL";
    arena_init(&arena, 1 << 16);
    REQUIRE(!read_pauses(&table.rows, &arena, &list, &err), "refused");
    CHECK_EQ(err.level, ERROR_FATAL, "its level");
    CHECK_STR(str_of(err.code), STR("store.corrupt"), "its code");
    CHECK(strstr(err.text, "kind_code") != NULL, "the column is named");
    arena_release(&arena);
}

TEST(an_arena_that_is_full_ends_the_rows)
{
    static char text[5000];
    struct table table = PAUSES;
    struct pause_list list;
    struct arena arena;
    struct error err;

    memset(text, 'x', sizeof(text) - 1);
    table.height = HEIGHT_MAX;
    for (int i = 0; i < HEIGHT_MAX; i++) {
        for (int j = 0; j < WIDTH; j++)
            table.cells[i][j] = j == 2 ? "PAUSED" : text;
    }
    arena_init(&arena, 1 << 16);
    REQUIRE(!read_pauses(&table.rows, &arena, &list, &err), "refused");
    CHECK_STR(str_of(err.code), STR("memory.limit"), "its code");
    CHECK(table.next < HEIGHT_MAX, "no further row was read");
    arena_release(&arena);
}

TEST(a_result_without_rows_leaves_the_number_as_it_is)
{
    struct table table = { .rows = { .ops = &TABLE } };
    int64_t value = 41;
    struct error err;

    REQUIRE_OK(rows_only_i64(&table.rows, &value, &err), err);
    CHECK_EQ(value, 41, "untouched");
}

TEST(a_column_may_be_skipped_or_tested_for_null)
{
    struct table table = { .rows = { .ops = &TABLE },
                           .cells = { { "7", NULL, "PAUSED", NULL, "5", "1" } },
                           .height = 1 };
    struct error err;
    bool is_set;

    REQUIRE(rows_next(&table.rows), "a row");
    rows_skip(&table.rows, 1);
    CHECK(rows_is_null(&table.rows), "the second is NULL");
    CHECK(rows_is_null(&table.rows), "and the test did not skip it");
    CHECK_EQ(rows_code_opt(&table.rows, &PAUSE_KIND_CODES, &is_set), 0, "no code");
    CHECK(!is_set, "it is NULL");
    (void)rows_code_opt(&table.rows, &PAUSE_KIND_CODES, &is_set);
    CHECK(is_set, "it is not NULL");
    CHECK_EQ(rows_i64(&table.rows), 0, "NULL reads as 0");
    CHECK(rows_real(&table.rows) == 2.5, "a real");
    CHECK(rows_bool(&table.rows), "a bool");
    REQUIRE_OK(rows_finish(&table.rows, &err), err);
}
