/* Projection files: every fault with its place, the stored form, the manual. */
#include "spec/projection.h"

#include <string.h>

#include "reference.h"
#include "spec/projection_setting.h"
#include "test.h"

#define FROM "    from: [{ aggregates: [a] }]\n"

#define WORKS                                                                 \
    "projection: works\n"                                                     \
    "tables:\n"                                                               \
    "  works:\n"                                                              \
    "    on_delete: remove\n"                                                 \
    "    columns:\n"                                                          \
    "      doi: $.fields.doi\n"                                               \
    "      key: \"${lower(column.doi)}\"\n"                                   \
    "      year: { type: integer, path: $.fields.year, not_null: true }\n"    \
    "    indexes: [doi, [key, year]]\n"                                       \
    "    from:\n"                                                             \
    "      - aggregates: [crossref/works]\n"                                  \
    "      - aggregates: [pubmed/*]\n"                                        \
    "        where: \"@.fields.year > 1900\"\n"                               \
    "        columns: { doi: $.fields.id }\n"                                 \
    "        children: { authors: { columns: { name: $.full } } }\n"          \
    "    children:\n"                                                         \
    "      authors: { each: \"$.fields.authors[*]\", columns: { name: $.name" \
    " } }\n"

static struct {
    struct arena arena;
    struct fault_list faults;
    struct projection_spec spec;
    struct projection_text text;
    struct error err;
} rig;

static bool read_text(struct str file)
{
    arena_release(&rig.arena);
    arena_init(&rig.arena, 16 << 20);
    fault_list_init(&rig.faults, &rig.arena);
    return projection_read(&rig.arena, arena_copy(&rig.arena, file), &rig.faults, &rig.spec);
}

static void end(void)
{
    arena_release(&rig.arena);
}

/* All faults of a file, as lint prints them, without hints. */
static struct str faults_of(struct str file)
{
    struct buf out;

    (void)!read_text(file);
    fault_list_sort(&rig.faults);
    buf_init(&out, &rig.arena, 1 << 16);
    for (size_t i = 0; i < rig.faults.count; i++) {
        const struct fault *fault = &rig.faults.items[i];

        buf_printf(&out, "%u:%u %s\n", fault->at.line, fault->at.column, fault->code);
    }
    return buf_str(&out);
}

TEST(shipped_projections_have_no_faults)
{
    static const char *const files[] = { "projections/literature.yaml",
                                         "projections/video-catalogue.yaml" };

    for (size_t i = 0; i < ARRAY_LEN(files); i++) {
        REQUIRE(test_read(files[i]).data != NULL, files[i]);
        CHECK_STR(faults_of(test_read(files[i])), STR(""), files[i]);
    }
    end();
}

TEST(every_fault_is_reported_at_once_with_its_place)
{
    CHECK_STR(faults_of(test_read("test/data/spec/projection-faults.yaml")),
              STR("1:13 spec.name\n"
                  "2:1 projection.key.unknown\n"
                  "4:13 spec.code\n"
                  "5:8 projection.type\n"
                  "6:18 spec.range\n"
                  "9:5 projection.key.unknown\n"
                  "10:10 projection.column.taken\n"
                  "12:7 projection.name\n"
                  "13:18 projection.column.type\n"
                  "14:18 spec.code\n"
                  "14:37 projection.path\n"
                  "15:30 projection.column.both\n"
                  "16:19 projection.template.syntax\n"
                  "17:13 projection.template.now\n"
                  "18:13 projection.template.column\n"
                  "21:7 projection.column.empty\n"
                  "22:31 projection.list\n"
                  "23:7 projection.column.taken\n"
                  "24:19 projection.index\n"
                  "26:9 projection.required\n"
                  "26:9 projection.template.order\n"
                  "27:9 projection.template.order\n"
                  "27:23 projection.aggregates\n"
                  "27:40 spec.code\n"
                  "27:62 projection.where\n"
                  "29:18 projection.template.order\n"
                  "29:20 projection.column.unknown\n"
                  "29:33 projection.type\n"
                  "29:44 projection.path\n"
                  "30:21 projection.child.unknown\n"
                  "30:41 projection.key.unknown\n"
                  "30:60 projection.path\n"
                  "30:74 projection.column.unknown\n"
                  "32:24 projection.column.taken\n"),
              "one file, all of them");
    end();
}

static const struct {
    const char *label;
    const char *file;
    const char *faults;
} wrong[] = {
    { "nothing", "", "1:1 yaml.empty\n" },
    { "a list", "- a\n", "1:1 projection.type\n" },
    { "no name", "tables: { t: { from: [{ aggregates: [a] }] } }\n", "1:1 projection.required\n" },
    { "no tables", "projection: x\n", "1:1 projection.required\n" },
    { "tables without one", "projection: x\ntables: {}\n", "1:1 projection.required\n" },
    { "a table without events", "projection: x\ntables:\n  t: { columns: {} }\n",
      "3:6 projection.required\n" },
    { "an address with a password",
      "projection: x\ndatabase: postgresql://u:p@h/d\ntables:\n  t:\n" FROM,
      "2:11 projection.database\n" },
    { "retry", "projection: x\nretry: { first: 1h, max: 1s }\ntables:\n  t:\n" FROM,
      "2:8 projection.retry\n" },
    { "a schema that is none", "projection: x\nschema: a-b\ntables:\n  t:\n" FROM,
      "2:9 projection.name\n" },
    { "a table's name", "projection: x\ntables:\n  t__new:\n" FROM, "3:3 projection.name\n" },
    { "one name for two tables", "projection: x\ntables:\n  t:\n    children: { T: {} }\n" FROM,
      "3:3 projection.table.twice\n" },
    { "a type of none with several types",
      "projection: x\ntables:\n  t:\n    key: { type: none }\n    from: [{ aggregates: [a, b] }]\n",
      "4:10 projection.key.type\n" },
    { "a type of none with a star",
      "projection: x\ntables:\n  t:\n    key: { type: none }\n    from: [{ aggregates: [a*] }]\n",
      "4:10 projection.key.type\n" },
    { "indexes of a table of one's own",
      "projection: x\ntables:\n  t:\n    managed: false\n    indexes: [version]\n" FROM,
      "5:14 projection.index\n" },
    { "columns of a removed row",
      "projection: x\ntables:\n  t:\n    on_delete: remove\n    columns: { c: $.c }\n    from:\n"
      "      - { aggregates: [a], effect: delete, columns: { c: $.d } }\n",
      "7:53 projection.delete\n" },
};

TEST(each_rule_of_a_projection_is_kept)
{
    for (size_t i = 0; i < ARRAY_LEN(wrong); i++)
        CHECK_STR(faults_of(str_of(wrong[i].file)), str_of(wrong[i].faults), wrong[i].label);
    end();
}

TEST(the_stored_form_is_the_file_with_its_defaults_in_its_order)
{
    struct projection_spec back;
    struct projection_text again;

    REQUIRE(read_text(STR(WORKS)), "it is right");
    REQUIRE_OK(projection_compile(&rig.arena, &rig.spec, &rig.text, &rig.err), rig.err);
    CHECK_STR(
        rig.text.json,
        STR("{\"projection\":\"works\",\"database\":\"store\",\"start\":\"EARLIEST\","
            "\"on_failure\":\"WAIT\",\"retry\":{\"first\":\"1s\",\"max\":\"5m\",\"attempts\":20},"
            "\"batch\":{\"events\":2000,\"bytes\":16777216},\"tables\":{\"works\":{"
            "\"managed\":true,\"key\":{\"type\":\"aggregate_type\",\"id\":\"aggregate_id\"},"
            "\"version\":\"version\",\"on_delete\":\"REMOVE\",\"columns\":{"
            "\"doi\":{\"type\":\"TEXT\",\"path\":\"$.fields.doi\",\"list\":false,\"not_null\":"
            "false},"
            "\"key\":{\"type\":\"TEXT\",\"value\":\"${lower(column.doi)}\",\"list\":false,"
            "\"not_null\":false},"
            "\"year\":{\"type\":\"INTEGER\",\"path\":\"$.fields.year\",\"list\":false,"
            "\"not_null\":true}},\"indexes\":[[\"doi\"],[\"key\",\"year\"]],\"from\":["
            "{\"aggregates\":[\"crossref/works\"],\"effect\":\"REPLACE\"},"
            "{\"aggregates\":[\"pubmed/*\"],\"effect\":\"REPLACE\","
            "\"where\":\"@.fields.year > 1900\",\"columns\":{\"doi\":\"$.fields.id\"},"
            "\"children\":{\"authors\":{\"columns\":{\"name\":\"$.full\"}}}}],"
            "\"children\":{\"authors\":{\"ordinal\":\"ordinal\",\"each\":\"$.fields.authors[*]\","
            "\"columns\":{\"name\":{\"type\":\"TEXT\",\"path\":\"$.name\",\"list\":false,"
            "\"not_null\":false}}}}}}}"),
        "every value in effect");
    REQUIRE_OK(projection_load(&rig.arena, rig.text.json, &back, &rig.err), rig.err);
    REQUIRE_OK(projection_compile(&rig.arena, &back, &again, &rig.err), rig.err);
    CHECK_STR(again.json, rig.text.json, "and back");
    CHECK_STR(back.tables[0].sources[1].values[0].path, STR("$.fields.id"), "its own");
    CHECK_STR(back.tables[0].sources[1].values[2].path, STR("$.fields.year"), "the column's");
    CHECK_STR(back.tables[0].sources[0].children[0].values[0].path, STR("$.name"), "the child's");
    end();
}

TEST(a_table_without_a_type_comes_back_without_one)
{
    struct projection_spec back;

    REQUIRE(read_text(STR("projection: x\ntables:\n  t:\n    key: { type: none }\n" FROM)),
            "right");
    REQUIRE_OK(projection_compile(&rig.arena, &rig.spec, &rig.text, &rig.err), rig.err);
    REQUIRE_OK(projection_load(&rig.arena, rig.text.json, &back, &rig.err), rig.err);
    CHECK_EQ(back.tables[0].type_column.len, 0, "none");
    CHECK_STR(projection_only_type(&back.tables[0]), STR("a"), "what it is");
    end();
}

TEST(a_stored_form_that_somebody_changed_is_refused)
{
    static const struct {
        const char *from;
        const char *to;
    } changes[] = {
        { "\"events\":2000", "\"events\":0" },
        { "\"events\":2000", "\"events\": 2000" },
        { "\"type\":\"TEXT\"", "\"type\":\"text\"" },
        { "\"managed\":true,", "" },
        { "$.fields.doi", "$.fields." },
        { "}", "" },
    };

    REQUIRE(read_text(STR(WORKS)), "it is right");
    REQUIRE_OK(projection_compile(&rig.arena, &rig.spec, &rig.text, &rig.err), rig.err);
    for (size_t i = 0; i < ARRAY_LEN(changes); i++) {
        const size_t at = str_find(rig.text.json, str_of(changes[i].from));
        const struct str changed = arena_printf(
            &rig.arena, "%.*s%s%.*s", STR_ARG(str_slice(rig.text.json, 0, at)), changes[i].to,
            STR_ARG(str_slice(rig.text.json, at + strlen(changes[i].from), rig.text.json.len)));
        struct projection_spec back;

        REQUIRE(at < rig.text.json.len, changes[i].from);
        CHECK(!projection_load(&rig.arena, changed, &back, &rig.err), changes[i].from);
        CHECK_STR(str_of(rig.err.code), STR("projection.spec"), changes[i].from);
    }
    end();
}

TEST(a_difference_is_a_line_per_value)
{
    struct projection_text old;
    struct buf out;
    size_t count;

    REQUIRE(
        read_text(STR("projection: x\ndescription: old\ntables:\n  t:\n    columns: { a: $.a, b: "
                      "$.b }\n" FROM)),
        "right");
    REQUIRE_OK(projection_compile(&rig.arena, &rig.spec, &old, &rig.err), rig.err);
    REQUIRE(projection_read(&rig.arena,
                            STR("projection: x\ntables:\n  t:\n    columns: { a: $.c, b: { type: "
                                "integer, path: $.b } }\n    indexes: [a]\n" FROM),
                            &rig.faults, &rig.spec),
            "right too");
    REQUIRE_OK(projection_compile(&rig.arena, &rig.spec, &rig.text, &rig.err), rig.err);
    buf_init(&out, &rig.arena, 1 << 16);
    REQUIRE_OK(projection_diff(&rig.arena, old.json, rig.text.json, &out, &count, &rig.err),
               rig.err);
    CHECK_STR(buf_str(&out),
              STR("- description: old\n"
                  "~ tables.t.columns.a.path: $.a -> $.c\n"
                  "~ tables.t.columns.b.type: TEXT -> INTEGER\n"
                  "+ tables.t.indexes: [[\"a\"]]\n"),
              "as lines");
    CHECK_EQ(count, 4, "four");
    end();
}

TEST(what_is_printed_is_a_file_of_the_same_projection)
{
    static const char *const files[] = { "projections/literature.yaml",
                                         "projections/video-catalogue.yaml" };

    for (size_t i = 0; i < ARRAY_LEN(files); i++) {
        struct projection_text again;
        struct buf out;

        REQUIRE(read_text(test_read(files[i])), files[i]);
        REQUIRE_OK(projection_compile(&rig.arena, &rig.spec, &rig.text, &rig.err), rig.err);
        buf_init(&out, &rig.arena, 1 << 20);
        REQUIRE_OK(projection_print(&rig.arena, rig.text.json, &out, &rig.err), rig.err);
        REQUIRE(projection_read(&rig.arena, buf_str(&out), &rig.faults, &rig.spec), "it reads");
        REQUIRE_OK(projection_compile(&rig.arena, &rig.spec, &again, &rig.err), rig.err);
        CHECK_STR(again.json, rig.text.json, files[i]);
    }
    end();
}

TEST(the_first_source_that_takes_an_event_counts)
{
    const struct projection_table *table;

    REQUIRE(
        read_text(STR("projection: x\ntables:\n  t:\n    from:\n"
                      "      - { aggregates: [a/b], events: [X], effect: partial }\n"
                      "      - { aggregates: [a/*] }\n"
                      "      - { aggregates: [c], events: [RecordDeleted], effect: replace }\n")),
        "right");
    table = &rig.spec.tables[0];
    CHECK(projection_source_of(table, STR("a/b"), STR("X")) == &table->sources[0], "the first");
    CHECK(projection_source_of(table, STR("a/b"), STR("Y")) == &table->sources[1], "by its type");
    CHECK(projection_source_of(table, STR("a/x"), STR("X")) == &table->sources[1], "by a star");
    CHECK(projection_source_of(table, STR("a"), STR("X")) == NULL, "none");
    CHECK(projection_source_of(table, STR("c"), STR("X")) == NULL, "not of this type");
    CHECK_EQ(projection_effect_of(&table->sources[1], STR("RecordDeleted")), PROJECTION_DELETE,
             "by itself");
    CHECK_EQ(projection_effect_of(&table->sources[2], STR("RecordDeleted")), PROJECTION_REPLACE,
             "as it says");
    CHECK(projection_has(&rig.spec, STR("a/z")) && !projection_has(&rig.spec, STR("b")), "has");
    end();
}

TEST(the_reference_of_projections_is_what_the_program_says)
{
    reference_check("docs/projections.md",
                    STR("<!-- What follows is made from the tables of the program; see "
                        "src/spec/projection_setting.h. -->\n"),
                    projection_manual_write);
}
