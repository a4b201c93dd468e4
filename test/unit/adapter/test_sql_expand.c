/* Statements expanded in two small dialects: one with arrays and one without. */
#include "adapter/sql/expand.h"

#include "test.h"

#define WORDS(...)                                                                        \
    {                                                                                     \
        [WORD_LOCK_FREE] = "", [WORD_INSTANT] = "", [WORD_TOKEN] = "", [WORD_CLOCK] = "", \
        [WORD_MIGRATION_TABLE] = "", [WORD_HAS_MIGRATIONS] = "", [WORD_EACH_FREE] = "",   \
        __VA_ARGS__                                                                       \
    }

static const struct dialect ARRAYS = {
    .has_arrays = true,
    .words = WORDS([WORD_LOCK] = " FOR UPDATE{of}", [WORD_GREATEST] = "greatest",
                   [WORD_BYTE_ORDER] = " COLLATE \"C\"", [WORD_ONCE] = "checked < :before",
                   [WORD_ROWS] = "FROM {unnest}", [WORD_JOIN_ROWS] = "CROSS JOIN {unnest}",
                   [WORD_INSERT] = "SELECT {body} FROM {unnest}{order}",
                   [WORD_EACH] = "FROM {unnest}, {table} WHERE id = @id",
                   [WORD_FIND] = "{unnest} JOIN {table} ON {body}"),
};

static const struct dialect LOOPS = {
    .words =
        WORDS([WORD_GREATEST] = "max", [WORD_BYTE_ORDER] = "", [WORD_ONCE] = "checked < :before",
              [WORD_ROWS] = "", [WORD_JOIN_ROWS] = "", [WORD_INSERT] = "VALUES {tuples}",
              [WORD_EACH] = "WHERE t.id = @id", [WORD_FIND] = "{table} WHERE {body}"),
};

/* `types` are the types of one row of cells. */
static void check(const struct dialect *dialect, const char *sql, const enum sql_type *types,
                  int rows, const char *wanted)
{
    struct sql_value cells[8] = { 0 };
    struct statement st = { .sql = sql, .cells = cells };
    struct arena arena;
    struct error err;
    const char *text;

    for (int i = 0; types != NULL && i < 8; i++)
        cells[i].type = types[i];
    arena_init(&arena, 1 << 20);
    expand_names(dialect, &st);
    text = expand_text(&arena, dialect, &st, rows, &err);
    REQUIRE(text != NULL, "a text");
    CHECK_STR(str_of(text), str_of(wanted), sql);
    arena_release(&arena);
}

TEST(a_name_that_is_used_twice_has_one_place)
{
    const char *sql = "UPDATE t SET a = :now, b = :now WHERE id = :id";

    check(&ARRAYS, sql, NULL, 1, "UPDATE t SET a = $1, b = $1 WHERE id = $2");
    check(&LOOPS, sql, NULL, 1, "UPDATE t SET a = ?1, b = ?1 WHERE id = ?2");
}

TEST(quoted_text_and_casts_are_left_alone)
{
    const char *sql = "SELECT ':no', \"a:b\", x::text, '{no}' WHERE y = :y";

    check(&ARRAYS, sql, NULL, 1, "SELECT ':no', \"a:b\", x::text, '{no}' WHERE y = $1");
}

TEST(a_word_becomes_the_text_of_the_dialect_which_may_have_names_too)
{
    const char *sql = "SELECT {greatest}(a, :b) WHERE {once}";

    check(&ARRAYS, sql, NULL, 1, "SELECT greatest(a, $1) WHERE checked < $2");
    check(&LOOPS, sql, NULL, 1, "SELECT max(a, ?1) WHERE checked < ?2");
}

TEST(an_insert_of_rows_is_a_select_of_arrays_or_tuples)
{
    static const enum sql_type TYPES[8] = { SQL_I64, SQL_TEXT };
    const char *sql = "INSERT INTO t (a, b, c) {insert by key: :plan, @id, @key} ON CONFLICT";

    check(&ARRAYS, sql, TYPES, 1,
          "INSERT INTO t (a, b, c) SELECT $1, r.id, r.key FROM unnest($2, $3) AS r (id, key)"
          " ORDER BY r.key COLLATE \"C\" ON CONFLICT");
    check(&LOOPS, sql, TYPES, 2,
          "INSERT INTO t (a, b, c) VALUES (?1, ?2, ?3),(?1, ?4, ?5) ON CONFLICT");
}

TEST(numbers_are_sorted_without_a_collation)
{
    static const enum sql_type TYPES[8] = { SQL_I64 };

    check(&ARRAYS, "INSERT INTO t {insert by id: @id}", TYPES, 1,
          "INSERT INTO t SELECT r.id FROM unnest($1) AS r (id) ORDER BY r.id");
}

TEST(an_update_of_each_row_finds_it_by_its_id)
{
    const char *sql = "UPDATE t SET a = @a {each t} AND b = :b";

    check(&ARRAYS, sql, NULL, 1,
          "UPDATE t SET a = r.a FROM unnest($2, $3) AS r (a, id), t WHERE id = r.id AND b = $1");
    check(&LOOPS, sql, NULL, 1, "UPDATE t SET a = ?2 WHERE t.id = ?3 AND b = ?1");
}

TEST(a_row_is_identified_by_its_number)
{
    const char *sql = "SELECT @place, t.id FROM {find t: a = :a AND b = @b}";

    check(&ARRAYS, sql, NULL, 1,
          "SELECT r.place, t.id FROM unnest($2) WITH ORDINALITY AS r (b, place) JOIN t ON"
          " a = $1 AND b = r.b");
    check(&LOOPS, sql, NULL, 1, "SELECT ?3, t.id FROM t WHERE a = ?1 AND b = ?2");
}

TEST(a_word_within_another_keeps_the_outer_ones_arguments)
{
    const char *sql = "INSERT INTO t {insert {greatest}(@a, 1), @b} RETURNING id";

    check(
        &ARRAYS, sql, NULL, 1,
        "INSERT INTO t SELECT greatest(r.a, 1), r.b FROM unnest($1, $2) AS r (a, b) RETURNING id");
    check(&LOOPS, sql, NULL, 2,
          "INSERT INTO t VALUES (max(?1, 1), ?2),(max(?3, 1), ?4) RETURNING id");
}

TEST(a_lock_may_name_its_table)
{
    check(&ARRAYS, "SELECT 1 FROM t{lock}", NULL, 1, "SELECT 1 FROM t FOR UPDATE");
    check(&ARRAYS, "SELECT 1 FROM t, q{lock q}", NULL, 1, "SELECT 1 FROM t, q FOR UPDATE OF q");
    check(&LOOPS, "SELECT 1 FROM t, q{lock q}", NULL, 1, "SELECT 1 FROM t, q");
}
