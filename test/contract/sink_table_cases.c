/* Tables of projections: made, changed, refused, exchanged. */
#include <string.h>

#include "sink_rig.h"
#include "sink_things.h"
#include "sql.h"

static size_t steps_of(const struct sink_rig *rig, enum sink_step_kind kind)
{
    size_t count = 0;

    for (size_t i = 0; i < rig->plan.count; i++)
        count += rig->plan.items[i].kind == kind;
    return count;
}

TEST(tables_get_columns_wider_types_and_indexes_and_keep_their_rows)
{
    struct sink_rig rig;

    sink_rig_begin(&rig, THINGS_MARKED);
    REQUIRE_OK(sink_rig_apply(&rig, THINGS_MARKED), rig.err);
    CHECK_EQ(rig.plan.count, 0, "applied again, nothing is to be done");
    REQUIRE_OK(sink_rig_event(&rig, "a", "Set", 1, "{\"title\":\"x\",\"year\":9007199254740993}"),
               rig.err);
    REQUIRE_OK(sink_rig_apply(&rig, THINGS_HEAD "tables:\n  things:\n    columns:\n"
                                                "      title: $.title\n"
                                                "      year: { type: number, path: $.year }\n"
                                                "      doi: $.doi\n"
                                                "    indexes: [doi, [title, year]]\n" THINGS_FROM),
               rig.err);
    CHECK_EQ(steps_of(&rig, SINK_STEP_INDEX), 2, "two indexes");
    CHECK_EQ(steps_of(&rig, SINK_STEP_WIDEN), 1, "a wider type");
    CHECK_STR(sink_rig_rows(&rig, THINGS_ALL), STR("a|1|x|9007199254740993\n"), "exactly");
    REQUIRE_OK(sink_rig_event(&rig, "a", "Patch", 2, "{\"doi\":\"10.1/x\",\"year\":1.5}"), rig.err);
    CHECK_STR(sink_rig_rows(&rig, "SELECT title, year, doi FROM things"), STR("x|1.5|10.1/x\n"),
              "written");
    REQUIRE_OK(sink_rig_apply(&rig, THINGS_HEAD "tables:\n  things:\n    columns:\n"
                                                "      title: $.title\n"
                                                "      year: $.year\n"
                                                "      doi: $.doi\n"
                                                "    indexes: [doi, [title, year]]\n" THINGS_FROM),
               rig.err);
    CHECK_STR(sink_rig_rows(&rig, "SELECT title, year, doi FROM things"), STR("x|1.5|10.1/x\n"),
              "a number as text");
    REQUIRE_OK(sink_rig_apply(&rig, THINGS_HEAD "tables:\n  things:\n    columns:\n"
                                                "      title: $.title\n"
                                                "      year: $.year\n"
                                                "      doi: $.doi\n"
                                                "    indexes: [doi, [title, year]]\n" THINGS_FROM),
               rig.err);
    CHECK_EQ(rig.plan.count, 0, "indexes are found again");
    sink_rig_end(&rig);
}

TEST(what_would_lose_data_is_refused_with_a_plan)
{
    struct sink_rig rig;

    sink_rig_begin(&rig, THINGS_MARKED);
    REQUIRE_OK(sink_rig_event(&rig, "a", "Set", 1, "{\"title\":\"x\",\"year\":1}"), rig.err);
    CHECK(!sink_rig_apply(&rig,
                          THINGS_HEAD "tables:\n  things:\n    columns:\n"
                                      "      title: { type: integer, path: $.title }\n"
                                      "      name: { path: $.n, not_null: true }\n" THINGS_FROM),
          "three losses");
    CHECK(strcmp(rig.err.code, "sink.refused") == 0, rig.err.text);
    CHECK_EQ(steps_of(&rig, SINK_STEP_REFUSED), 3, "type, new NOT NULL, lost column");
    CHECK_STR(sink_rig_rows(&rig, THINGS_ALL), STR("a|1|x|1\n"), "as it was");
    for (size_t i = 0; i < rig.plan.count; i++) {
        const struct sink_plan_step *step = &rig.plan.items[i];

        if (str_find(step->text, STR("year")) < step->text.len)
            CHECK_STR(step->sql, STR("ALTER TABLE \"things\" DROP COLUMN \"year\""), "what to run");
    }
    sink_rig_end(&rig);
}

TEST(an_empty_table_may_become_anything)
{
    struct sink_rig rig;

    sink_rig_begin(&rig, THINGS_MARKED);
    REQUIRE_OK(sink_rig_apply(&rig, THINGS_HEAD
                              "tables:\n  things:\n    columns:\n"
                              "      title: { type: integer, path: $.title }\n" THINGS_FROM),
               rig.err);
    REQUIRE_OK(sink_rig_event(&rig, "a", "Set", 1, "{\"title\":7}"), rig.err);
    CHECK_EQ(sql_number(rig.dsn, "SELECT title FROM things"), 7, "an integer");
    sink_rig_end(&rig);
}

TEST(a_schema_is_made_where_it_is_missing_and_a_file_has_none)
{
    struct sink_rig rig;
    bool is_postgres;

    sink_rig_begin(&rig, THINGS_MARKED);
    is_postgres = strncmp(rig.dsn, "postgres", 8) == 0;
    CHECK_EQ(sink_rig_apply(&rig, THINGS_HEAD
                            "schema: reports\ntables:\n  things:\n" THINGS_COLUMNS THINGS_FROM),
             is_postgres, "by database");
    if (is_postgres) {
        REQUIRE_OK(sink_rig_event(&rig, "a", "Set", 1, "{\"year\":3}"), rig.err);
        CHECK_EQ(sql_number(rig.dsn, "SELECT year FROM reports.things"), 3, "there");
        CHECK_EQ(sql_number(rig.dsn, "SELECT count(*) FROM things"), 0, "not here");
        REQUIRE_OK(store_sink_copy(rig.sink, &rig.arena, &rig.spec, &rig.err), rig.err);
        REQUIRE_OK(store_sink_swap(rig.sink, &rig.arena, &rig.spec, &rig.err), rig.err);
        CHECK_EQ(sql_number(rig.dsn, "SELECT count(*) FROM reports.things__old"), 1, "swapped");
    } else {
        CHECK_EQ(steps_of(&rig, SINK_STEP_REFUSED), 1, "refused");
    }
    sink_rig_end(&rig);
}

#define OWN                                                                              \
    THINGS_HEAD "tables:\n  mine:\n    managed: false\n    key: { type: none, id: k }\n" \
                "    version: v\n    on_delete: remove\n" THINGS_COLUMNS THINGS_FROM

TEST(a_table_of_the_users_own_is_compared_and_never_altered)
{
    struct sink_rig rig;
    const char *dsn;

    sink_rig_begin(&rig, THINGS_MARKED);
    CHECK(!sink_rig_apply(&rig, OWN), "there is none");
    CHECK_EQ(steps_of(&rig, SINK_STEP_REFUSED), 1, "one reason");
    dsn = rig.dsn;
    contract_sql(dsn, "CREATE TABLE mine (k text, v bigint, title text)");
    CHECK(!sink_rig_apply(&rig, OWN), "neither a key nor every column");
    CHECK_EQ(steps_of(&rig, SINK_STEP_REFUSED), 2, "both are named");
    contract_sql(dsn, "DROP TABLE mine");
    contract_sql(dsn, "CREATE TABLE mine (k text PRIMARY KEY, v bigint NOT NULL, title text,"
                      " year integer, note text DEFAULT 'mine')");
    REQUIRE_OK(sink_rig_apply(&rig, OWN), rig.err);
    REQUIRE_OK(sink_rig_event(&rig, "a", "Set", 1, "{\"title\":\"x\",\"year\":1}"), rig.err);
    REQUIRE_OK(sink_rig_event(&rig, "a", "Patch", 2, "{\"year\":2}"), rig.err);
    CHECK_STR(sink_rig_rows(&rig, "SELECT k, v, title, year, note FROM mine"),
              STR("a|2|x|2|mine\n"), "its other columns are the user's");
    CHECK(!store_sink_copy(rig.sink, &rig.arena, &rig.spec, &rig.err), "it is not replaced");
    REQUIRE_OK(store_sink_remove(rig.sink, &rig.arena, &rig.spec, &rig.err), rig.err);
    CHECK_EQ(sql_number(dsn, "SELECT count(*) FROM mine"), 1, "it stays");
    sink_rig_end(&rig);
}

/* ---- exchanging ---- */

TEST(copies_are_filled_beside_and_swapped_and_brought_back)
{
    struct sink_rig rig;

    sink_rig_begin(&rig,
                   THINGS_HEAD "tables:\n  things:\n    on_delete: remove\n"
                               "    indexes: [year]\n" THINGS_COLUMNS THINGS_FROM THINGS_CHILDREN);
    REQUIRE_OK(sink_rig_event(&rig, "a", "Set", 1, "{\"title\":\"old\",\"authors\":[{}]}"),
               rig.err);
    CHECK(!store_sink_swap_back(rig.sink, &rig.arena, &rig.spec, &rig.err), "nothing is old");
    CHECK(strcmp(rig.err.code, "sink.no_old") == 0, rig.err.text);
    for (int round = 0; round < 3; round++) {
        REQUIRE_OK(store_sink_copy(rig.sink, &rig.arena, &rig.spec, &rig.err), rig.err);
        sink_rig_side(&rig, SINK_NEW);
        REQUIRE_OK(sink_rig_event(&rig, "a", "Set", 10 + round, "{\"title\":\"new\"}"), rig.err);
        CHECK_STR(sink_rig_rows(&rig, "SELECT count(*) FROM things WHERE version = 10"),
                  round == 1 ? STR("1\n") : STR("0\n"), "the live table is as it was");
        REQUIRE_OK(store_sink_swap(rig.sink, &rig.arena, &rig.spec, &rig.err), rig.err);
    }
    CHECK_STR(sink_rig_rows(&rig, THINGS_ALL), STR("a|12|new|~\n"), "the last copy");
    CHECK_STR(sink_rig_rows(&rig, THINGS_AUTHORS), STR(""), "with its children");
    sink_rig_side(&rig, SINK_LIVE);
    REQUIRE_OK(sink_rig_event(&rig, "a", "Patch", 13, "{\"year\":3}"), rig.err);
    REQUIRE_OK(store_sink_swap_back(rig.sink, &rig.arena, &rig.spec, &rig.err), rig.err);
    CHECK_STR(sink_rig_rows(&rig, THINGS_ALL), STR("a|11|new|~\n"), "what was before");
    REQUIRE_OK(sink_rig_event(&rig, "a", "Patch", 14, "{\"year\":4}"), rig.err);
    CHECK_STR(sink_rig_rows(&rig, THINGS_ALL), STR("a|14|new|4\n"), "the session's handle goes on");
    REQUIRE_OK(store_sink_remove(rig.sink, &rig.arena, &rig.spec, &rig.err), rig.err);
    CHECK(!contract_try_sql(rig.dsn, "SELECT * FROM things__gone"), "everything is gone");
    sink_rig_end(&rig);
}
