/* Rows of projections: written by version, deleted, with children, of every type. */
#include <string.h>

#include "sink_rig.h"
#include "sink_things.h"
#include "sql.h"

TEST(a_row_changes_by_a_higher_version_only)
{
    struct sink_rig rig;

    sink_rig_begin(&rig, THINGS_MARKED);
    REQUIRE_OK(sink_rig_event(&rig, "a", "Set", 2, "{\"title\":\"two\",\"year\":2}"), rig.err);
    CHECK_EQ(rig.written.changed, 1, "new");
    REQUIRE_OK(sink_rig_event(&rig, "a", "Set", 2, "{\"title\":\"again\"}"), rig.err);
    CHECK_EQ(rig.written.changed, 0, "the same version");
    CHECK_EQ(rig.written.stale, 1, "is stale");
    REQUIRE_OK(sink_rig_event(&rig, "a", "Set", 1, "{\"title\":\"one\"}"), rig.err);
    REQUIRE_OK(sink_rig_event(&rig, "a", "Patch", 1, "{\"title\":\"one\"}"), rig.err);
    CHECK_STR(sink_rig_rows(&rig, THINGS_ALL), STR("a|2|two|2\n"), "an earlier one");
    REQUIRE_OK(sink_rig_event(&rig, "a", "Set", 5, "{\"year\":5}"), rig.err);
    CHECK_STR(sink_rig_rows(&rig, THINGS_ALL), STR("a|5|~|5\n"), "a later one is the whole row");
    sink_rig_end(&rig);
}

TEST(a_partial_event_leaves_what_it_lacks_and_clears_what_is_null)
{
    struct sink_rig rig;

    sink_rig_begin(&rig, THINGS_MARKED);
    REQUIRE_OK(sink_rig_event(&rig, "a", "Set", 1, "{\"title\":\"x\",\"year\":1}"), rig.err);
    REQUIRE_OK(sink_rig_event(&rig, "a", "Patch", 2, "{\"year\":2}"), rig.err);
    CHECK_STR(sink_rig_rows(&rig, THINGS_ALL), STR("a|2|x|2\n"), "the title stays");
    REQUIRE_OK(sink_rig_event(&rig, "a", "Patch", 3, "{\"title\":null}"), rig.err);
    CHECK_STR(sink_rig_rows(&rig, THINGS_ALL), STR("a|3|~|2\n"), "null is NULL");
    REQUIRE_OK(sink_rig_event(&rig, "b", "Patch", 4, "{\"year\":9}"), rig.err);
    CHECK_STR(sink_rig_rows(&rig, THINGS_ALL), STR("a|3|~|2\nb|4|~|9\n"),
              "a key without a row gets one");
    sink_rig_end(&rig);
}

TEST(a_deleted_row_is_marked_and_a_late_event_revives_nothing)
{
    const char *sql = "SELECT version, CASE WHEN deleted THEN 1 ELSE 0 END, title FROM things";
    struct sink_rig rig;

    sink_rig_begin(&rig, THINGS_MARKED);
    REQUIRE_OK(sink_rig_event(&rig, "a", "Set", 1, "{\"title\":\"x\"}"), rig.err);
    REQUIRE_OK(sink_rig_event(&rig, "a", "Drop", 3, "{}"), rig.err);
    CHECK_STR(sink_rig_rows(&rig, sql), STR("3|1|x\n"), "marked");
    REQUIRE_OK(sink_rig_event(&rig, "a", "Set", 2, "{\"title\":\"late\"}"), rig.err);
    CHECK_STR(sink_rig_rows(&rig, sql), STR("3|1|x\n"), "the late one");
    REQUIRE_OK(sink_rig_event(&rig, "a", "Set", 4, "{\"title\":\"back\"}"), rig.err);
    CHECK_STR(sink_rig_rows(&rig, sql), STR("4|0|back\n"), "a later one");
    sink_rig_end(&rig);
}

TEST(a_removed_row_leaves_its_version_and_a_late_event_revives_nothing)
{
    const char *gone = "SELECT aggregate_id, version FROM things__gone ORDER BY 1";
    struct sink_rig rig;

    sink_rig_begin(&rig, THINGS_ERASED);
    REQUIRE_OK(sink_rig_event(&rig, "a", "Set", 1, "{\"title\":\"x\"}"), rig.err);
    REQUIRE_OK(sink_rig_event(&rig, "a", "Drop", 3, "{}"), rig.err);
    REQUIRE_OK(sink_rig_event(&rig, "b", "Drop", 7, "{}"), rig.err);
    CHECK_STR(sink_rig_rows(&rig, THINGS_ALL), STR(""), "no rows");
    CHECK_STR(sink_rig_rows(&rig, gone), STR("a|3\nb|7\n"), "their versions");
    REQUIRE_OK(sink_rig_event(&rig, "a", "Set", 2, "{\"title\":\"late\"}"), rig.err);
    REQUIRE_OK(sink_rig_event(&rig, "a", "Patch", 3, "{\"title\":\"late\"}"), rig.err);
    REQUIRE_OK(sink_rig_event(&rig, "b", "Drop", 6, "{}"), rig.err);
    CHECK_STR(sink_rig_rows(&rig, THINGS_ALL), STR(""), "nothing is revived");
    CHECK_STR(sink_rig_rows(&rig, gone), STR("a|3\nb|7\n"), "no version goes back");
    REQUIRE_OK(sink_rig_event(&rig, "a", "Set", 4, "{\"title\":\"back\"}"), rig.err);
    CHECK_STR(sink_rig_rows(&rig, THINGS_ALL), STR("a|4|back|~\n"), "a later one is a row");
    CHECK_STR(sink_rig_rows(&rig, gone), STR("b|7\n"), "and the key is not gone any more");
    REQUIRE_OK(sink_rig_event(&rig, "a", "Drop", 3, "{}"), rig.err);
    CHECK_STR(sink_rig_rows(&rig, THINGS_ALL), STR("a|4|back|~\n"), "a late deletion");
    CHECK_STR(sink_rig_rows(&rig, gone), STR("b|7\n"), "is not remembered either");
    sink_rig_end(&rig);
}

TEST(what_a_filter_keeps_out_leaves_and_does_not_come_back_late)
{
    struct sink_rig rig;

    sink_rig_begin(&rig,
                   THINGS_HEAD "tables:\n  things:\n" THINGS_COLUMNS
                               "    from: [{ aggregates: [thing], where: \"@.year > 2000\" }]\n");
    REQUIRE_OK(sink_rig_event(&rig, "a", "Set", 1, "{\"year\":2001}"), rig.err);
    REQUIRE_OK(sink_rig_event(&rig, "b", "Set", 1, "{\"year\":1999}"), rig.err);
    CHECK_STR(sink_rig_rows(&rig, THINGS_ALL), STR("a|1|~|2001\n"), "chosen");
    REQUIRE_OK(sink_rig_event(&rig, "a", "Set", 2, "{\"year\":1999}"), rig.err);
    REQUIRE_OK(sink_rig_event(&rig, "a", "Set", 1, "{\"year\":2001}"), rig.err);
    CHECK_STR(sink_rig_rows(&rig, THINGS_ALL), STR(""), "not chosen any more");
    sink_rig_end(&rig);
}

TEST(children_are_replaced_as_a_set_when_their_row_wins)
{
    struct sink_rig rig;

    sink_rig_begin(&rig, THINGS_ERASED THINGS_CHILDREN);
    REQUIRE_OK(sink_rig_event(&rig, "a", "Set", 2,
                              "{\"authors\":[{\"name\":\"x\"},{\"name\":\"y\",\"orcid\":\"0\"}]}"),
               rig.err);
    CHECK_STR(sink_rig_rows(&rig, THINGS_AUTHORS), STR("a|1|x|~\na|2|y|0\n"), "both");
    REQUIRE_OK(sink_rig_event(&rig, "a", "Set", 1, "{\"authors\":[{\"name\":\"late\"}]}"), rig.err);
    CHECK_STR(sink_rig_rows(&rig, THINGS_AUTHORS), STR("a|1|x|~\na|2|y|0\n"),
              "not by a late event");
    REQUIRE_OK(sink_rig_event(&rig, "a", "Patch", 3, "{\"year\":1}"), rig.err);
    CHECK_STR(sink_rig_rows(&rig, THINGS_AUTHORS), STR("a|1|x|~\na|2|y|0\n"),
              "nor by one without them");
    REQUIRE_OK(sink_rig_event(&rig, "a", "Patch", 4, "{\"authors\":[{\"name\":\"z\"}]}"), rig.err);
    CHECK_STR(sink_rig_rows(&rig, THINGS_AUTHORS), STR("a|1|z|~\n"), "the new set");
    REQUIRE_OK(sink_rig_event(&rig, "a", "Patch", 5, "{\"authors\":[]}"), rig.err);
    CHECK_STR(sink_rig_rows(&rig, THINGS_AUTHORS), STR(""), "the empty set");
    REQUIRE_OK(sink_rig_event(&rig, "a", "Set", 6, "{\"authors\":[{\"name\":\"w\"}]}"), rig.err);
    REQUIRE_OK(sink_rig_event(&rig, "a", "Drop", 7, "{}"), rig.err);
    CHECK_STR(sink_rig_rows(&rig, THINGS_AUTHORS), STR(""), "gone with their row");
    sink_rig_end(&rig);
}

TEST(every_type_is_kept_as_itself)
{
    struct sink_rig rig;

    sink_rig_begin(&rig, THINGS_HEAD "tables:\n  things:\n    columns:\n"
                                     "      t: $.t\n"
                                     "      i: { type: integer, path: $.i }\n"
                                     "      n: { type: number, path: $.n }\n"
                                     "      b: { type: boolean, path: $.b }\n"
                                     "      at: { type: instant, path: $.at }\n"
                                     "      d: { type: date, path: $.d }\n"
                                     "      j: { type: json, path: $.j }\n"
                                     "      l: { type: text, path: \"$.l[*]\", list: true }\n"
                                     "      low: { type: text, value: \"${lower(column.t)}\" }\n"
                                     "      v: { type: integer, value: \"${event.version}\" }\n"
                                     "    from: [{ aggregates: [thing] }]\n");
    REQUIRE_OK(sink_rig_event(&rig, "a", "Set", 7,
                              "{\"t\":\"Ab\\u00e9\",\"i\":\"12\",\"n\":1.50,\"b\":true,"
                              "\"at\":\"2026-01-02T03:04:05Z\",\"d\":\"2026-01-02\","
                              "\"j\":{\"x\":[1]},\"l\":[\"p\",\"q\"]}"),
               rig.err);
    CHECK_EQ(sql_number(rig.dsn, "SELECT count(*) FROM things WHERE t = 'Ab\xc3\xa9' AND i = 12"
                                 " AND n = 1.5 AND b AND d = '2026-01-02' AND low = 'ab\xc3\xa9'"
                                 " AND v = 7 AND at = '2026-01-02T03:04:05.000000Z'"),
             1, "values");
    CHECK_STR(sink_rig_rows(&rig, "SELECT replace(CAST(j AS text), ' ', ''),"
                                  " replace(CAST(l AS text), ' ', '') FROM things"),
              STR("{\"x\":[1]}|[\"p\",\"q\"]\n"), "JSON");
    REQUIRE_OK(sink_rig_event(&rig, "a", "Set", 8, "{}"), rig.err);
    CHECK_EQ(sql_number(rig.dsn, "SELECT count(*) FROM things WHERE t IS NULL AND i IS NULL AND n"
                                 " IS NULL AND b IS NULL AND at IS NULL AND d IS NULL AND j IS NULL"
                                 " AND l IS NULL AND low IS NULL AND v = 8"),
             1, "NULLs");
    sink_rig_end(&rig);
}

TEST(a_value_that_does_not_fit_is_an_error_of_its_event)
{
    struct sink_rig rig;

    sink_rig_begin(&rig, THINGS_MARKED);
    CHECK(!sink_rig_event(&rig, "a", "Set", 1, "{\"year\":\"soon\"}"), "not an integer");
    CHECK_EQ(rig.err.level, ERROR_DATA, "L3");
    CHECK(strstr(rig.err.text, "things") != NULL && strstr(rig.err.text, "year") != NULL &&
              strstr(rig.err.text, "$.year") != NULL,
          rig.err.text);
    CHECK(!sink_rig_event(&rig, "a", "Set", 1, "not JSON"), "no JSON");
    CHECK_EQ(rig.err.level, ERROR_DATA, "L3 too");
    CHECK_STR(sink_rig_rows(&rig, THINGS_ALL), STR(""), "nothing is written");
    sink_rig_end(&rig);
}

TEST(a_column_that_may_not_be_null_is_kept_by_the_database_too)
{
    struct sink_rig rig;

    sink_rig_begin(&rig, THINGS_HEAD "tables:\n  things:\n    columns:\n"
                                     "      title: { path: $.title, not_null: true }\n"
                                     "      year: { type: integer, path: $.year }\n" THINGS_FROM);
    CHECK(!sink_rig_event(&rig, "a", "Set", 1, "{\"year\":1}"), "a replacement without it");
    CHECK_EQ(rig.err.level, ERROR_DATA, "L3");
    CHECK(!sink_rig_event(&rig, "a", "Patch", 1, "{\"year\":1}"), "a first row without it");
    CHECK(strcmp(rig.err.code, "store.constraint") == 0, rig.err.text);
    REQUIRE_OK(sink_rig_event(&rig, "a", "Drop", 2, "{}"), rig.err);
    REQUIRE_OK(sink_rig_event(&rig, "a", "Set", 1, "{\"title\":\"late\"}"), rig.err);
    CHECK_STR(sink_rig_rows(&rig, THINGS_ALL), STR(""), "a deletion without a row is remembered");
    REQUIRE_OK(sink_rig_event(&rig, "a", "Set", 3, "{\"title\":\"x\"}"), rig.err);
    REQUIRE_OK(sink_rig_event(&rig, "a", "Drop", 4, "{}"), rig.err);
    CHECK_STR(sink_rig_rows(&rig, THINGS_ALL), STR("a|4|x|~\n"), "one with a row marks it");
    sink_rig_end(&rig);
}
