/* The tables of projections: made, changed, written by version, exchanged. */
#include <string.h>

#include "adapter/sink_open.h"
#include "core/lane.h"
#include "engine/project/digest.h"
#include "sink_rig.h"
#include "sql.h"

#define HEAD "projection: things\n"
#define FROM                                                              \
    "    from:\n"                                                         \
    "      - { aggregates: [thing], events: [Set], effect: replace }\n"   \
    "      - { aggregates: [thing], events: [Patch], effect: partial }\n" \
    "      - { aggregates: [thing], events: [Drop], effect: delete }\n"
#define COLUMNS              \
    "    columns:\n"         \
    "      title: $.title\n" \
    "      year: { type: integer, path: $.year }\n"
#define MARKED HEAD "tables:\n  things:\n" COLUMNS FROM
#define ERASED HEAD "tables:\n  things:\n    on_delete: remove\n" COLUMNS FROM
#define ALL "SELECT aggregate_id, version, title, year FROM things ORDER BY 1"

TEST(a_row_changes_by_a_higher_version_only)
{
    struct sink_rig rig;

    sink_rig_begin(&rig, MARKED);
    REQUIRE_OK(sink_rig_event(&rig, "a", "Set", 2, "{\"title\":\"two\",\"year\":2}"), rig.err);
    CHECK_EQ(rig.written.changed, 1, "new");
    REQUIRE_OK(sink_rig_event(&rig, "a", "Set", 2, "{\"title\":\"again\"}"), rig.err);
    CHECK_EQ(rig.written.changed, 0, "the same version");
    CHECK_EQ(rig.written.stale, 1, "is stale");
    REQUIRE_OK(sink_rig_event(&rig, "a", "Set", 1, "{\"title\":\"one\"}"), rig.err);
    REQUIRE_OK(sink_rig_event(&rig, "a", "Patch", 1, "{\"title\":\"one\"}"), rig.err);
    CHECK_STR(sink_rig_rows(&rig, ALL), STR("a|2|two|2\n"), "an earlier one");
    REQUIRE_OK(sink_rig_event(&rig, "a", "Set", 5, "{\"year\":5}"), rig.err);
    CHECK_STR(sink_rig_rows(&rig, ALL), STR("a|5|~|5\n"), "a later one is the whole row");
    sink_rig_end(&rig);
}

TEST(a_partial_event_leaves_what_it_lacks_and_clears_what_is_null)
{
    struct sink_rig rig;

    sink_rig_begin(&rig, MARKED);
    REQUIRE_OK(sink_rig_event(&rig, "a", "Set", 1, "{\"title\":\"x\",\"year\":1}"), rig.err);
    REQUIRE_OK(sink_rig_event(&rig, "a", "Patch", 2, "{\"year\":2}"), rig.err);
    CHECK_STR(sink_rig_rows(&rig, ALL), STR("a|2|x|2\n"), "the title stays");
    REQUIRE_OK(sink_rig_event(&rig, "a", "Patch", 3, "{\"title\":null}"), rig.err);
    CHECK_STR(sink_rig_rows(&rig, ALL), STR("a|3|~|2\n"), "null is NULL");
    REQUIRE_OK(sink_rig_event(&rig, "b", "Patch", 4, "{\"year\":9}"), rig.err);
    CHECK_STR(sink_rig_rows(&rig, ALL), STR("a|3|~|2\nb|4|~|9\n"), "a key without a row gets one");
    sink_rig_end(&rig);
}

TEST(a_deleted_row_is_marked_and_a_late_event_revives_nothing)
{
    const char *sql = "SELECT version, CASE WHEN deleted THEN 1 ELSE 0 END, title FROM things";
    struct sink_rig rig;

    sink_rig_begin(&rig, MARKED);
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

    sink_rig_begin(&rig, ERASED);
    REQUIRE_OK(sink_rig_event(&rig, "a", "Set", 1, "{\"title\":\"x\"}"), rig.err);
    REQUIRE_OK(sink_rig_event(&rig, "a", "Drop", 3, "{}"), rig.err);
    REQUIRE_OK(sink_rig_event(&rig, "b", "Drop", 7, "{}"), rig.err);
    CHECK_STR(sink_rig_rows(&rig, ALL), STR(""), "no rows");
    CHECK_STR(sink_rig_rows(&rig, gone), STR("a|3\nb|7\n"), "their versions");
    REQUIRE_OK(sink_rig_event(&rig, "a", "Set", 2, "{\"title\":\"late\"}"), rig.err);
    REQUIRE_OK(sink_rig_event(&rig, "a", "Patch", 3, "{\"title\":\"late\"}"), rig.err);
    REQUIRE_OK(sink_rig_event(&rig, "b", "Drop", 6, "{}"), rig.err);
    CHECK_STR(sink_rig_rows(&rig, ALL), STR(""), "nothing is revived");
    CHECK_STR(sink_rig_rows(&rig, gone), STR("a|3\nb|7\n"), "no version goes back");
    REQUIRE_OK(sink_rig_event(&rig, "a", "Set", 4, "{\"title\":\"back\"}"), rig.err);
    CHECK_STR(sink_rig_rows(&rig, ALL), STR("a|4|back|~\n"), "a later one is a row");
    CHECK_STR(sink_rig_rows(&rig, gone), STR("b|7\n"), "and the key is not gone any more");
    REQUIRE_OK(sink_rig_event(&rig, "a", "Drop", 3, "{}"), rig.err);
    CHECK_STR(sink_rig_rows(&rig, ALL), STR("a|4|back|~\n"), "a late deletion");
    CHECK_STR(sink_rig_rows(&rig, gone), STR("b|7\n"), "is not remembered either");
    sink_rig_end(&rig);
}

TEST(what_a_filter_keeps_out_leaves_and_does_not_come_back_late)
{
    struct sink_rig rig;

    sink_rig_begin(&rig, HEAD "tables:\n  things:\n" COLUMNS
                              "    from: [{ aggregates: [thing], where: \"@.year > 2000\" }]\n");
    REQUIRE_OK(sink_rig_event(&rig, "a", "Set", 1, "{\"year\":2001}"), rig.err);
    REQUIRE_OK(sink_rig_event(&rig, "b", "Set", 1, "{\"year\":1999}"), rig.err);
    CHECK_STR(sink_rig_rows(&rig, ALL), STR("a|1|~|2001\n"), "chosen");
    REQUIRE_OK(sink_rig_event(&rig, "a", "Set", 2, "{\"year\":1999}"), rig.err);
    REQUIRE_OK(sink_rig_event(&rig, "a", "Set", 1, "{\"year\":2001}"), rig.err);
    CHECK_STR(sink_rig_rows(&rig, ALL), STR(""), "not chosen any more");
    sink_rig_end(&rig);
}

#define CHILDREN                   \
    "    children:\n"              \
    "      authors:\n"             \
    "        each: $.authors[*]\n" \
    "        columns: { name: $.name, orcid: $.orcid }\n"
#define AUTHORS "SELECT aggregate_id, ordinal, name, orcid FROM authors ORDER BY 1, 2"

TEST(children_are_replaced_as_a_set_when_their_row_wins)
{
    struct sink_rig rig;

    sink_rig_begin(&rig, ERASED CHILDREN);
    REQUIRE_OK(sink_rig_event(&rig, "a", "Set", 2,
                              "{\"authors\":[{\"name\":\"x\"},{\"name\":\"y\",\"orcid\":\"0\"}]}"),
               rig.err);
    CHECK_STR(sink_rig_rows(&rig, AUTHORS), STR("a|1|x|~\na|2|y|0\n"), "both");
    REQUIRE_OK(sink_rig_event(&rig, "a", "Set", 1, "{\"authors\":[{\"name\":\"late\"}]}"), rig.err);
    CHECK_STR(sink_rig_rows(&rig, AUTHORS), STR("a|1|x|~\na|2|y|0\n"), "not by a late event");
    REQUIRE_OK(sink_rig_event(&rig, "a", "Patch", 3, "{\"year\":1}"), rig.err);
    CHECK_STR(sink_rig_rows(&rig, AUTHORS), STR("a|1|x|~\na|2|y|0\n"), "nor by one without them");
    REQUIRE_OK(sink_rig_event(&rig, "a", "Patch", 4, "{\"authors\":[{\"name\":\"z\"}]}"), rig.err);
    CHECK_STR(sink_rig_rows(&rig, AUTHORS), STR("a|1|z|~\n"), "the new set");
    REQUIRE_OK(sink_rig_event(&rig, "a", "Patch", 5, "{\"authors\":[]}"), rig.err);
    CHECK_STR(sink_rig_rows(&rig, AUTHORS), STR(""), "the empty set");
    REQUIRE_OK(sink_rig_event(&rig, "a", "Set", 6, "{\"authors\":[{\"name\":\"w\"}]}"), rig.err);
    REQUIRE_OK(sink_rig_event(&rig, "a", "Drop", 7, "{}"), rig.err);
    CHECK_STR(sink_rig_rows(&rig, AUTHORS), STR(""), "gone with their row");
    sink_rig_end(&rig);
}

TEST(every_type_is_kept_as_itself)
{
    struct sink_rig rig;

    sink_rig_begin(&rig, HEAD "tables:\n  things:\n    columns:\n"
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

    sink_rig_begin(&rig, MARKED);
    CHECK(!sink_rig_event(&rig, "a", "Set", 1, "{\"year\":\"soon\"}"), "not an integer");
    CHECK_EQ(rig.err.level, ERROR_DATA, "L3");
    CHECK(strstr(rig.err.text, "things") != NULL && strstr(rig.err.text, "year") != NULL &&
              strstr(rig.err.text, "$.year") != NULL,
          rig.err.text);
    CHECK(!sink_rig_event(&rig, "a", "Set", 1, "not JSON"), "no JSON");
    CHECK_EQ(rig.err.level, ERROR_DATA, "L3 too");
    CHECK_STR(sink_rig_rows(&rig, ALL), STR(""), "nothing is written");
    sink_rig_end(&rig);
}

TEST(a_column_that_may_not_be_null_is_kept_by_the_database_too)
{
    struct sink_rig rig;

    sink_rig_begin(&rig, HEAD "tables:\n  things:\n    columns:\n"
                              "      title: { path: $.title, not_null: true }\n"
                              "      year: { type: integer, path: $.year }\n" FROM);
    CHECK(!sink_rig_event(&rig, "a", "Set", 1, "{\"year\":1}"), "a replacement without it");
    CHECK_EQ(rig.err.level, ERROR_DATA, "L3");
    CHECK(!sink_rig_event(&rig, "a", "Patch", 1, "{\"year\":1}"), "a first row without it");
    CHECK(strcmp(rig.err.code, "store.constraint") == 0, rig.err.text);
    REQUIRE_OK(sink_rig_event(&rig, "a", "Drop", 2, "{}"), rig.err);
    REQUIRE_OK(sink_rig_event(&rig, "a", "Set", 1, "{\"title\":\"late\"}"), rig.err);
    CHECK_STR(sink_rig_rows(&rig, ALL), STR(""), "a deletion without a row is remembered");
    REQUIRE_OK(sink_rig_event(&rig, "a", "Set", 3, "{\"title\":\"x\"}"), rig.err);
    REQUIRE_OK(sink_rig_event(&rig, "a", "Drop", 4, "{}"), rig.err);
    CHECK_STR(sink_rig_rows(&rig, ALL), STR("a|4|x|~\n"), "one with a row marks it");
    sink_rig_end(&rig);
}

/* ---- how tables change ---- */

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

    sink_rig_begin(&rig, MARKED);
    REQUIRE_OK(sink_rig_apply(&rig, MARKED), rig.err);
    CHECK_EQ(rig.plan.count, 0, "applied again, nothing is to be done");
    REQUIRE_OK(sink_rig_event(&rig, "a", "Set", 1, "{\"title\":\"x\",\"year\":9007199254740993}"),
               rig.err);
    REQUIRE_OK(sink_rig_apply(&rig, HEAD "tables:\n  things:\n    columns:\n"
                                         "      title: $.title\n"
                                         "      year: { type: number, path: $.year }\n"
                                         "      doi: $.doi\n"
                                         "    indexes: [doi, [title, year]]\n" FROM),
               rig.err);
    CHECK_EQ(steps_of(&rig, SINK_STEP_INDEX), 2, "two indexes");
    CHECK_EQ(steps_of(&rig, SINK_STEP_WIDEN), 1, "a wider type");
    CHECK_STR(sink_rig_rows(&rig, ALL), STR("a|1|x|9007199254740993\n"), "exactly");
    REQUIRE_OK(sink_rig_event(&rig, "a", "Patch", 2, "{\"doi\":\"10.1/x\",\"year\":1.5}"), rig.err);
    CHECK_STR(sink_rig_rows(&rig, "SELECT title, year, doi FROM things"), STR("x|1.5|10.1/x\n"),
              "written");
    REQUIRE_OK(sink_rig_apply(&rig, HEAD "tables:\n  things:\n    columns:\n"
                                         "      title: $.title\n"
                                         "      year: $.year\n"
                                         "      doi: $.doi\n"
                                         "    indexes: [doi, [title, year]]\n" FROM),
               rig.err);
    CHECK_STR(sink_rig_rows(&rig, "SELECT title, year, doi FROM things"), STR("x|1.5|10.1/x\n"),
              "a number as text");
    REQUIRE_OK(sink_rig_apply(&rig, HEAD "tables:\n  things:\n    columns:\n"
                                         "      title: $.title\n"
                                         "      year: $.year\n"
                                         "      doi: $.doi\n"
                                         "    indexes: [doi, [title, year]]\n" FROM),
               rig.err);
    CHECK_EQ(rig.plan.count, 0, "indexes are found again");
    sink_rig_end(&rig);
}

TEST(what_would_lose_data_is_refused_with_a_plan)
{
    struct sink_rig rig;

    sink_rig_begin(&rig, MARKED);
    REQUIRE_OK(sink_rig_event(&rig, "a", "Set", 1, "{\"title\":\"x\",\"year\":1}"), rig.err);
    CHECK(!sink_rig_apply(&rig, HEAD "tables:\n  things:\n    columns:\n"
                                     "      title: { type: integer, path: $.title }\n"
                                     "      name: { path: $.n, not_null: true }\n" FROM),
          "three losses");
    CHECK(strcmp(rig.err.code, "sink.refused") == 0, rig.err.text);
    CHECK_EQ(steps_of(&rig, SINK_STEP_REFUSED), 3, "type, new NOT NULL, lost column");
    CHECK_STR(sink_rig_rows(&rig, ALL), STR("a|1|x|1\n"), "as it was");
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

    sink_rig_begin(&rig, MARKED);
    REQUIRE_OK(sink_rig_apply(&rig, HEAD "tables:\n  things:\n    columns:\n"
                                         "      title: { type: integer, path: $.title }\n" FROM),
               rig.err);
    REQUIRE_OK(sink_rig_event(&rig, "a", "Set", 1, "{\"title\":7}"), rig.err);
    CHECK_EQ(sql_number(rig.dsn, "SELECT title FROM things"), 7, "an integer");
    sink_rig_end(&rig);
}

TEST(a_schema_is_made_where_it_is_missing_and_a_file_has_none)
{
    struct sink_rig rig;
    bool is_postgres;

    sink_rig_begin(&rig, MARKED);
    is_postgres = strncmp(rig.dsn, "postgres", 8) == 0;
    CHECK_EQ(sink_rig_apply(&rig, HEAD "schema: reports\ntables:\n  things:\n" COLUMNS FROM),
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

#define OWN                                                                       \
    HEAD "tables:\n  mine:\n    managed: false\n    key: { type: none, id: k }\n" \
         "    version: v\n    on_delete: remove\n" COLUMNS FROM

TEST(a_table_of_the_users_own_is_compared_and_never_altered)
{
    struct sink_rig rig;
    const char *dsn;

    sink_rig_begin(&rig, MARKED);
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

/* ---- looking ---- */

TEST(keys_are_found_and_scanned_in_order_rows_and_gone_ones)
{
    struct lane_digest digests[OUTBOX_LANES], wanted[OUTBOX_LANES] = { { 0 } };
    struct sink_scan scan = { .limit = 2 };
    struct sink_rig rig;
    struct sink_page page;
    struct sink_seen seen;
    bool found;

    sink_rig_begin(&rig, ERASED);
    REQUIRE_OK(sink_rig_event(&rig, "b", "Set", 5, "{}"), rig.err);
    REQUIRE_OK(sink_rig_event(&rig, "a", "Drop", 3, "{}"), rig.err);
    REQUIRE_OK(sink_rig_event(&rig, "c", "Set", 2, "{}"), rig.err);
    REQUIRE_OK(store_sink_row(rig.sink, rig.tables, 0, &(struct sink_key){ STR("thing"), STR("a") },
                              &seen, &found, &rig.err),
               rig.err);
    CHECK(found && seen.is_gone && seen.version == 3, "gone");
    REQUIRE_OK(store_sink_row(rig.sink, rig.tables, 0, &(struct sink_key){ STR("thing"), STR("d") },
                              &seen, &found, &rig.err),
               rig.err);
    CHECK(!found, "never seen");
    REQUIRE_OK(store_sink_scan(rig.sink, &rig.arena, rig.tables, &scan, &page, &rig.err), rig.err);
    REQUIRE(page.count == 2, "a page");
    CHECK_STR(page.items[0].key.aggregate_id, STR("a"), "by key");
    CHECK(page.items[0].is_gone && !page.items[1].is_gone, "both kinds");
    scan.after = page.items[1].key;
    REQUIRE_OK(store_sink_scan(rig.sink, &rig.arena, rig.tables, &scan, &page, &rig.err), rig.err);
    REQUIRE(page.count == 1, "the rest");
    CHECK_STR(page.items[0].key.aggregate_type, STR("thing"), "with its type");
    digest_add(wanted, &(struct sink_seen){ { STR("thing"), STR("c") }, 2, false });
    digest_add(wanted, &(struct sink_seen){ { STR("thing"), STR("a") }, 3, true });
    digest_add(wanted, &(struct sink_seen){ { STR("thing"), STR("b") }, 5, false });
    REQUIRE_OK(digest_table(rig.sink, &rig.batch, rig.tables, 0, digests, &rig.err), rig.err);
    CHECK(memcmp(digests, wanted, sizeof(wanted)) == 0, "digests");
    REQUIRE_OK(sink_rig_event(&rig, "b", "Set", 6, "{}"), rig.err);
    REQUIRE_OK(digest_table(rig.sink, &rig.batch, rig.tables, 0, digests, &rig.err), rig.err);
    for (int lane = 0; lane < OUTBOX_LANES; lane++)
        CHECK_EQ(digests[lane].sum != wanted[lane].sum, lane == lane_of(STR("thing"), STR("b")),
                 "another version is another digest of its lane");
    sink_rig_end(&rig);
}

/* ---- exchanging ---- */

TEST(copies_are_filled_beside_and_swapped_and_brought_back)
{
    struct sink_rig rig;

    sink_rig_begin(&rig, HEAD "tables:\n  things:\n    on_delete: remove\n"
                              "    indexes: [year]\n" COLUMNS FROM CHILDREN);
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
    CHECK_STR(sink_rig_rows(&rig, ALL), STR("a|12|new|~\n"), "the last copy");
    CHECK_STR(sink_rig_rows(&rig, AUTHORS), STR(""), "with its children");
    sink_rig_side(&rig, SINK_LIVE);
    REQUIRE_OK(sink_rig_event(&rig, "a", "Patch", 13, "{\"year\":3}"), rig.err);
    REQUIRE_OK(store_sink_swap_back(rig.sink, &rig.arena, &rig.spec, &rig.err), rig.err);
    CHECK_STR(sink_rig_rows(&rig, ALL), STR("a|11|new|~\n"), "what was before");
    REQUIRE_OK(sink_rig_event(&rig, "a", "Patch", 14, "{\"year\":4}"), rig.err);
    CHECK_STR(sink_rig_rows(&rig, ALL), STR("a|14|new|4\n"), "the session's handle goes on");
    REQUIRE_OK(store_sink_remove(rig.sink, &rig.arena, &rig.spec, &rig.err), rig.err);
    CHECK(!contract_try_sql(rig.dsn, "SELECT * FROM things__gone"), "everything is gone");
    sink_rig_end(&rig);
}

/* ---- other databases ---- */

TEST(what_is_remembered_of_a_projection_is_found_again)
{
    struct sink_projection projection;
    struct sink_rig rig;
    bool found;

    sink_rig_begin(&rig, MARKED);
    REQUIRE_OK(store_sink_find(rig.sink, &rig.arena, STR("things"), &projection, &found, &rig.err),
               rig.err);
    REQUIRE(found, "by its name");
    CHECK_STR(projection.json, rig.text.json, "its spec");
    CHECK_STR(projection.hash, str_of(rig.text.hash), "and hash");
    CHECK_EQ(projection.applied_us, NOW_US, "when");
    REQUIRE_OK(store_sink_set_rebuild(rig.sink, STR("things"), STR("{}"), &found, &rig.err),
               rig.err);
    REQUIRE_OK(store_sink_find(rig.sink, &rig.arena, STR("things"), &projection, &found, &rig.err),
               rig.err);
    CHECK_STR(projection.rebuild, STR("{}"), "how far");
    REQUIRE_OK(store_sink_find(rig.sink, &rig.arena, STR("x"), &projection, &found, &rig.err),
               rig.err);
    CHECK(!found, "another name");
    sink_rig_end(&rig);
}

static bool no_secret(struct secret_source *source, struct str reference, struct secret *secret,
                      struct error *err)
{
    const char *address = (const char *)(source + 1);

    (void)reference;
    (void)err;
    secret->len = strlen(address);
    memcpy(secret->bytes, address, secret->len);
    return true;
}

TEST(another_database_gets_the_tables_that_a_reader_needs)
{
    struct {
        struct secret_source source;
        char address[1024];
    } secrets = { .source = { no_secret } };
    const struct offset_key key = { STR("patra"), STR("things") };
    struct sink_join join = { .key = key, .now_us = NOW_US };
    struct offset_lane_list lanes;
    struct sink_inbox inbox = { .group = STR("patra/things"), .now_us = NOW_US };
    const struct sink_receipt receipts[] = {
        { STR_INIT("019b0000-0000-7000-8000-00000000000b"), 1, 2 },
        { STR_INIT("019b0000-0000-7000-8000-00000000000a"), 1, 1 },
    };
    struct store *sink;
    struct error err;
    int64_t removed;
    bool is_new[2];

    (void)snprintf(secrets.address, sizeof(secrets.address), "%s", contract_new_database());
    REQUIRE_OK(sink_open(STR("env:ADDRESS"), &secrets.source, NOW_US, &sink, &err), err);
    join.before[5] = 17;
    REQUIRE_OK(store_sink_join(sink, &join, &err), err);
    join.before[5] = 18;
    REQUIRE_OK(store_sink_join(sink, &join, &err), err);
    REQUIRE_OK(store_offset_claim(sink, contract_arena(),
                                  &(struct offset_claim){ key, STR("me"), NOW_US, NOW_US + 1, 64 },
                                  &lanes, &err),
               err);
    REQUIRE(lanes.count == OUTBOX_LANES, "every lane");
    CHECK_EQ(lanes.items[5].pos, 17, "those that are there stay");
    inbox.items = receipts;
    inbox.count = 1;
    REQUIRE_OK(store_begin(sink, &err), err);
    REQUIRE_OK(store_sink_inbox(sink, &inbox, is_new, &err), err);
    CHECK(is_new[0], "the first time");
    inbox.count = 2;
    REQUIRE_OK(store_sink_inbox(sink, &inbox, is_new, &err), err);
    CHECK(!is_new[0] && is_new[1], "each by itself");
    REQUIRE_OK(store_commit(sink, &err), err);
    REQUIRE_OK(store_sink_inbox_prune(sink, inbox.group, NOW_US, 10, &removed, &err), err);
    CHECK_EQ(removed, 0, "not before it is old");
    REQUIRE_OK(store_sink_inbox_prune(sink, inbox.group, NOW_US + 1, 1, &removed, &err), err);
    CHECK_EQ(removed, 1, "up to the limit");
    store_close(sink);
    REQUIRE_OK(sink_open(STR("env:ADDRESS"), &secrets.source, NOW_US, &sink, &err), err);
    store_close(sink);
    contract_end();
}

TEST(a_store_is_a_sink_of_others_too)
{
    struct {
        struct secret_source source;
        char address[1024];
    } secrets = { .source = { no_secret } };
    struct sink_projection projection;
    struct store *sink;
    struct error err;
    bool found;

    (void)snprintf(secrets.address, sizeof(secrets.address), "%s",
                   contract_migrated(contract_new_database()));
    REQUIRE_OK(sink_open(STR("env:ADDRESS"), &secrets.source, NOW_US, &sink, &err), err);
    REQUIRE_OK(store_sink_find(sink, contract_arena(), STR("x"), &projection, &found, &err), err);
    store_close(sink);
    contract_end();
}
