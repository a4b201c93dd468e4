/* Events become rows: values, effects, what of a batch is left out, what cannot be applied. */
#include "engine/project/project.h"

#include <string.h>

#include "spec/projection.h"
#include "test.h"

static struct {
    struct arena arena;
    struct projection_spec spec;
    const struct projector *projector;
    struct sink_batch batch;
    size_t failed;
    struct error err;
} rig;

#define FILE_OF(columns)                                                 \
    "projection: p\ntables:\n  t:\n    columns:\n" columns "    from:\n" \
    "      - { aggregates: [a], events: [Set], effect: replace }\n"      \
    "      - { aggregates: [a], events: [Patch], effect: partial }\n"    \
    "      - { aggregates: [a], events: [Drop], effect: delete }\n"

static void begin(struct str file)
{
    struct fault_list faults;

    arena_release(&rig.arena);
    arena_init(&rig.arena, 64 << 20);
    fault_list_init(&faults, &rig.arena);
    if (!projection_read(&rig.arena, file, &faults, &rig.spec)) {
        test_fail(__FILE__, __LINE__, "%.*s", STR_ARG(faults.items[0].message));
        test_abort();
    }
    REQUIRE_OK(project_compile(&rig.arena, &rig.spec, &rig.projector, &rig.err), rig.err);
}

static void end(void)
{
    arena_release(&rig.arena);
}

static struct project_event event(const char *id, const char *type, int64_t version,
                                  const char *body)
{
    return (struct project_event){ .aggregate_type = STR("a"),
                                   .aggregate_id = str_of(id),
                                   .event_id = STR("e"),
                                   .event_type = str_of(type),
                                   .version = version,
                                   .occurred_us = INT64_C(1767225600000000),
                                   .body = str_of(body) };
}

static bool project(const struct project_event *events, size_t count)
{
    return project_batch(rig.projector, &rig.arena, events, count, &rig.batch, &rig.failed,
                         &rig.err);
}

/* The first cell of the only row. */
static const struct sink_cell *cell_of(const char *body)
{
    static struct project_event one;

    one = event("k", "Set", 1, body);
    REQUIRE_OK(project(&one, 1), rig.err);
    REQUIRE(rig.batch.count == 1 && rig.batch.steps[0].count == 1, "one row");
    return &rig.batch.steps[0].items[0].cells[0];
}

/* ---- values ---- */

static const struct {
    const char *column; /* c */
    const char *body;
    const char *text; /* of the cell; NULL: not set */
    int64_t i64;
} values[] = {
    { "{ path: $.v }", "{\"v\":\"x\\u00e9\"}", "x\xc3\xa9", 0 },
    { "{ path: $.v }", "{\"v\":12.50}", "12.50", 0 },
    { "{ path: $.v }", "{\"v\":true}", "true", 0 },
    { "{ path: $.v }", "{\"v\":null}", NULL, 0 },
    { "{ path: $.v }", "{}", NULL, 0 },
    { "{ path: $.v }", "{\"v\":[\"first\",\"second\"]}", "first", 0 },
    { "{ path: $.v.w }", "{\"v\":3}", NULL, 0 },
    { "{ path: \"$..w\" }", "{\"v\":{\"w\":\"deep\"}}", "deep", 0 },
    { "{ type: integer, path: $.v }", "{\"v\":-9223372036854775808}", "", INT64_MIN },
    { "{ type: integer, path: $.v }", "{\"v\":\" 7 \"}", "", 7 },
    { "{ type: integer, path: $.v }", "{\"v\":\"\"}", NULL, 0 },
    { "{ type: number, path: $.v }", "{\"v\":1e300}", "1e300", 0 },
    { "{ type: boolean, path: $.v }", "{\"v\":\"No\"}", "", 0 },
    { "{ type: boolean, path: $.v }", "{\"v\":1}", "", 1 },
    { "{ type: instant, path: $.v }", "{\"v\":\"2026-01-02T03:04:05Z\"}",
      "2026-01-02T03:04:05.000000Z", INT64_C(1767323045000000) },
    { "{ type: instant, path: $.v }", "{\"v\":\"2026-01-02T03:04:05.5+01:00\"}",
      "2026-01-02T02:04:05.500000Z", INT64_C(1767319445500000) },
    { "{ type: date, path: $.v }", "{\"v\":[2026,3]}", "2026-03-01", INT64_C(1772323200000000) },
    { "{ type: date, path: $.v }", "{\"v\":[null]}", NULL, 0 },
    { "{ type: json, path: $.v }", "{\"v\":{\"a\":[1,\"\\u0000\"]}}", "{\"a\":[1,\"\\ufffd\"]}",
      0 },
    { "{ list: true, path: \"$.v[*]\" }", "{\"v\":[\"a\",null,\"b\"]}", "[\"a\",\"b\"]", 0 },
    { "{ list: true, path: $.v }", "{\"v\":[]}", "[]", 0 },
    { "{ list: true, type: integer, path: $.v }", "{\"v\":[1,\"2\"]}", "[1,2]", 0 },
    { "{ list: true, path: $.v }", "{}", NULL, 0 },
    { "{ value: \"${upper(column.d)}\" }", "{\"d\":\"x\"}", "X", 0 },
    { "{ value: \"${upper(column.d)}\" }", "{}", NULL, 0 },
    { "{ value: \"<${column.d}>\" }", "{}", "<>", 0 },
    { "{ value: \"${join(column.l, '; ')}\" }", "{\"l\":[\"p\",\"q\"]}", "p; q", 0 },
    { "{ value: \"${event.aggregate_type}/${event.aggregate_id}\" }", "{}", "a/k", 0 },
    { "{ type: instant, value: \"${event.occurred_at}\" }", "{}", "2026-01-01T00:00:00.000000Z",
      INT64_C(1767225600000000) },
    { "{ type: integer, value: \"${event.version}\" }", "{}", "", 1 },
    { "{ value: \"${jsonPath(event.body, '$.x.y')}\" }", "{\"x\":{\"y\":\"z\"}}", "z", 0 },
};

TEST(values_are_read_as_their_column_says)
{
    for (size_t i = 0; i < ARRAY_LEN(values); i++) {
        const struct sink_cell *cell;
        struct arena own;

        arena_init(&own, 1 << 16);
        begin(arena_printf(&own,
                           FILE_OF("      c: %s\n      d: $.d\n"
                                   "      l: { list: true, path: $.l }\n"),
                           values[i].column));
        cell = cell_of(values[i].body);
        CHECK_EQ(cell->is_set, values[i].text != NULL, values[i].column);
        if (values[i].text != NULL)
            CHECK_STR(cell->text, str_of(values[i].text), values[i].column);
        if (values[i].text != NULL)
            CHECK_EQ(cell->i64, values[i].i64, values[i].column);
        end();
        arena_release(&own);
    }
}

static const struct {
    const char *column;
    const char *body;
    const char *names; /* in the message */
} misfits[] = {
    { "{ type: integer, path: $.v }", "{\"v\":1.5}", "column c ($.v)" },
    { "{ type: integer, path: $.v }", "{\"v\":{}}", "column c ($.v)" },
    { "{ type: boolean, path: $.v }", "{\"v\":\"maybe\"}", "column c ($.v)" },
    { "{ type: date, path: $.v }", "{\"v\":\"2026-02-30\"}", "column c ($.v)" },
    { "{ type: date, path: $.v }", "{\"v\":\"2026-01-02T03:00:00Z\"}", "column c ($.v)" },
    { "{ path: $.v }", "{\"v\":{\"a\":1}}", "column c ($.v)" },
    { "{ path: $.v }", "{\"v\":\"a\\u0000b\"}", "column c" },
    { "{ path: $.v, not_null: true }", "{}", "column c ($.v)" },
    { "{ type: integer, value: \"${event.type}\" }", "{}", "column c (${event.type})" },
    { "{ list: true, type: integer, path: $.v }", "{\"v\":[1,\"x\"]}", "column c ($.v)" },
    { "{ value: \"${lower(column.l)}\" }", "{\"l\":[\"x\"]}", "c" },
    { "{ path: $.v }", "{", "not JSON" },
    { "{ path: $.v }", "", "no body" },
};

TEST(a_value_that_does_not_fit_is_bad_data_and_names_its_column)
{
    for (size_t i = 0; i < ARRAY_LEN(misfits); i++) {
        struct project_event events[2] = { event("good", "Set", 1, "{\"v\":1,\"c\":1}"),
                                           event("bad", "Set", 1, misfits[i].body) };
        struct arena own;

        arena_init(&own, 1 << 16);
        begin(arena_printf(&own, FILE_OF("      c: %s\n      l: { list: true, path: $.l }\n"),
                           misfits[i].column));
        CHECK(!project(&events[1], 1), misfits[i].body);
        CHECK_EQ(rig.failed, 0, "the event's place");
        CHECK_EQ(rig.err.level, ERROR_DATA, rig.err.text);
        CHECK(strstr(rig.err.text, misfits[i].names) != NULL, rig.err.text);
        end();
        arena_release(&own);
    }
}

/* ---- effects ---- */

TEST(a_batch_has_the_last_state_of_each_key_and_what_follows_it)
{
    const struct project_event events[] = {
        event("k", "Set", 1, "{\"v\":\"1\"}"),
        event("k", "Patch", 2, "{\"v\":\"2\"}"),
        event("j", "Patch", 7, "{}"),
        event("k", "Set", 3, "{\"v\":\"3\"}"),
        event("k", "Patch", 4, "{\"v\":null}"),
        event("k", "Patch", 5, "{\"w\":\"5\"}"),
        event("k", "Other", 6, "not even JSON"),
        event("j", "Patch", 8, "{\"v\":\"8\"}"),
        event("i", "Drop", 1, "{}"),
    };
    const struct sink_rows *steps;

    begin(STR(FILE_OF("      v: $.v\n      w: $.w\n")));
    REQUIRE_OK(project(events, ARRAY_LEN(events)), rig.err);
    REQUIRE(rig.batch.count == 4, "steps");
    steps = rig.batch.steps;
    CHECK_EQ(steps[0].change, SINK_REPLACE, "states");
    CHECK_EQ(steps[0].count, 1, "one key has one");
    CHECK_EQ(steps[0].items[0].version, 3, "its last");
    CHECK_EQ(steps[1].change, SINK_PARTIAL, "the first changes");
    CHECK_EQ(steps[1].count, 2, "of the others");
    CHECK_EQ(steps[1].items[0].version, 7, "j");
    CHECK_EQ(steps[1].items[1].is_deleted, true, "i is marked");
    CHECK_EQ(steps[2].count, 2, "the second of each");
    CHECK_EQ(steps[2].items[0].version, 4, "k");
    CHECK_EQ(steps[2].items[0].given, 1, "v is null");
    CHECK(!steps[2].items[0].cells[0].is_set, "NULL");
    CHECK_EQ(steps[2].items[1].version, 8, "j");
    CHECK_EQ(steps[3].items[0].given, 2, "w alone");
    end();
}

TEST(events_that_come_twice_or_late_in_a_batch_settle_nothing)
{
    const struct project_event events[] = {
        event("k", "Set", 3, "{\"v\":\"3\"}"),
        event("k", "Set", 2, "{\"v\":\"2\"}"),
        event("k", "Set", 3, "{\"v\":\"3\"}"),
        event("k", "Patch", 1, "{\"v\":\"1\"}"),
    };

    begin(STR(FILE_OF("      v: $.v\n")));
    REQUIRE_OK(project(events, ARRAY_LEN(events)), rig.err);
    REQUIRE(rig.batch.count == 1 && rig.batch.steps[0].count == 1, "one row");
    CHECK_EQ(rig.batch.steps[0].items[0].version, 3, "the highest version");
    end();
}

TEST(children_are_the_elements_that_each_finds)
{
    static const struct {
        const char *each, *body;
        bool is_given;
        size_t count;
    } cases[] = {
        { "$.k[*]", "{\"k\":[{\"n\":\"a\"},{\"n\":\"b\"}]}", true, 2 },
        { "$.k", "{\"k\":[{\"n\":\"a\"},{\"n\":\"b\"}]}", true, 2 },
        { "$.k", "{\"k\":{\"n\":\"a\"}}", true, 1 },
        { "$.k", "{\"k\":null}", true, 0 },
        { "$.k[*]", "{\"k\":[]}", true, 0 },
        { "$.k[*]", "{}", false, 0 },
    };

    for (size_t i = 0; i < ARRAY_LEN(cases); i++) {
        struct project_event one = event("k", "Patch", 1, cases[i].body);
        const struct sink_child_rows *rows;
        struct arena own;

        arena_init(&own, 1 << 16);
        begin(arena_printf(
            &own,
            FILE_OF(
                "      v: $.v\n") "    children: { kids: { each: \"%s\", columns: { n: $.n } } }\n",
            cases[i].each));
        REQUIRE_OK(project(&one, 1), rig.err);
        rows = rig.batch.steps[0].items[0].children;
        CHECK_EQ(rows[0].is_given, cases[i].is_given, cases[i].body);
        CHECK_EQ(rows[0].count, cases[i].count, cases[i].body);
        if (rows[0].count == 2)
            CHECK_STR(rows[0].cells[1].text, STR("b"), "in order");
        one.event_type = STR("Set");
        REQUIRE_OK(project(&one, 1), rig.err);
        CHECK(rig.batch.steps[0].items[0].children[0].is_given, "a state has all of them");
        end();
        arena_release(&own);
    }
}

TEST(what_a_filter_keeps_out_is_gone_or_not_applied)
{
    static const struct {
        const char *type, *body;
        size_t steps;
        enum sink_change change;
    } cases[] = {
        { "Set", "{\"y\":2}", 1, SINK_REPLACE },
        { "Set", "{\"y\":1}", 1, SINK_ERASE },
        { "Set", "{}", 1, SINK_ERASE },
        { "Patch", "{\"y\":1}", 0, SINK_PARTIAL },
        { "Patch", "{\"y\":2}", 1, SINK_PARTIAL },
        { "Drop", "{}", 0, SINK_PARTIAL },
    };

    begin(STR("projection: p\ntables:\n  t:\n    columns: { v: $.v }\n    from:\n"
              "      - { aggregates: [a], events: [Set], where: \"@.y > 1 || @.z == 'q'\" }\n"
              "      - { aggregates: [a], events: [Patch], effect: partial, where: \"@.y > 1\" }\n"
              "      - { aggregates: [a], events: [Drop], effect: delete, where: \"@.y > 1\" }\n"));
    for (size_t i = 0; i < ARRAY_LEN(cases); i++) {
        const struct project_event one = event("k", cases[i].type, 1, cases[i].body);

        REQUIRE_OK(project(&one, 1), rig.err);
        CHECK_EQ(rig.batch.count, cases[i].steps, cases[i].body);
        if (rig.batch.count > 0)
            CHECK_EQ(rig.batch.steps[0].change, cases[i].change, cases[i].body);
    }
    end();
}

/* ---- the shipped ones ---- */

TEST(the_literature_has_works_of_every_source_in_one_form)
{
    static const struct {
        const char *type, *body;
        const char *doi, *journal, *published, *author;
    } works[] = {
        { "crossref/works",
          "{\"updatedAt\":\"2026-01-01T00:00:00Z\",\"fields\":{\"doi\":\"10.1/AB\",\"title\":\"T\","
          "\"container\":\"J\",\"issued\":[2025,12],\"authors\":[{\"given\":\"G\",\"family\":"
          "\"F\"}]}}",
          "10.1/ab", "J", "2025-12-01", "F" },
        { "openalex/works",
          "{\"updatedAt\":\"2026-01-01T00:00:00Z\",\"fields\":{\"doi\":\"https://doi.org/10.1/ab\","
          "\"source\":\"J\",\"published\":\"2025-12-01\",\"authors\":[\"G F\"]}}",
          "10.1/ab", "J", "2025-12-01", "G F" },
        { "pubmed/search", "{\"fields\":{\"pmid\":\"1\",\"journal\":\"J\",\"authors\":[\"F\"]}}",
          NULL, "J", NULL, "F" },
    };

    begin(test_read("projections/literature.yaml"));
    for (size_t i = 0; i < ARRAY_LEN(works); i++) {
        struct project_event one = event("x", "RecordUpdated", 2, works[i].body);
        const struct sink_row *row;

        one.aggregate_type = str_of(works[i].type);
        REQUIRE_OK(project(&one, 1), rig.err);
        row = &rig.batch.steps[0].items[0];
        CHECK_EQ(row->cells[0].is_set, works[i].doi != NULL, works[i].type);
        if (works[i].doi != NULL)
            CHECK_STR(row->cells[0].text, str_of(works[i].doi), works[i].type);
        CHECK_STR(row->cells[3].text, str_of(works[i].journal), works[i].type);
        if (works[i].published != NULL)
            CHECK_STR(row->cells[6].text, str_of(works[i].published), works[i].type);
        REQUIRE(row->children[0].count == 1, "an author");
        CHECK_STR(row->children[0].cells[i == 0 ? 2 : 0].text, str_of(works[i].author),
                  works[i].type);
    }
    end();
}
