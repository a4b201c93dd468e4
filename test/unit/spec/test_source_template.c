/* Sources that build on a template: what they have, what the file changes, and what is remembered.
 */
#include <stdio.h>

#include "spec/check.h"
#include "spec/resolve.h"
#include "spec/source_diff.h"
#include "spec/source_template.h"
#include "test.h"

static struct arena arena;
static struct fault_list faults;

#define FEW_LINES         \
    "source: some\n"      \
    "template: oai-pmh\n" \
    "http: { base_url: 'https://repository.example.org/oai' }\n"

static void begin(void)
{
    arena_release(&arena);
    arena_init(&arena, 64 << 20);
}

static bool lint(const char *file, struct source *source)
{
    fault_list_init(&faults, &arena);
    return source_lint(&arena, NULL, &(struct source_text){ .file = str_of(file) }, &faults,
                       source);
}

static void require_clean(const char *file, struct source *source)
{
    if (lint(file, source))
        return;
    for (size_t i = 0; i < faults.count; i++)
        test_note("%zu: %.*s", (size_t)faults.items[i].at.line, STR_ARG(faults.items[i].message));
    REQUIRE(false, file);
}

static struct resolution resolved(const struct source *source, const char *operation)
{
    const struct registry_row *row = source_find_operation(source, str_of(operation));
    struct resolution in;
    struct error err;

    REQUIRE(row != NULL, operation);
    REQUIRE_OK(
        resolve(
            &arena,
            &(struct resolve_request){
                .source = source,
                .endpoint = row->values[registry_column(row->table, STR("target_endpoint"))].text,
                .operation = row },
            &in, &err),
        err);
    return in;
}

/* Every template, with no more than a name and a URL. */
TEST(a_few_lines_are_a_whole_source)
{
    for (size_t i = 0; i < SOURCE_TEMPLATE_COUNT; i++) {
        struct source source;
        char text[256];

        begin();
        (void)snprintf(
            text, sizeof(text),
            "source: some\ntemplate: %s\nhttp: { base_url: 'https://a.example.org/x' }\n",
            SOURCE_TEMPLATES[i].name);
        require_clean(text, &source);
        CHECK(source_find_operation(&source, STR("harvest")) != NULL, SOURCE_TEMPLATES[i].name);
    }
    arena_release(&arena);
}

TEST(a_value_remembers_that_it_came_from_the_template)
{
    struct resolution in;
    struct source source;

    begin();
    require_clean(FEW_LINES "endpoints: { records: { window: { lookback: 5d } } }\n", &source);
    in = resolved(&source, "harvest");
    CHECK(resolution_get(&in, "page.type")->value.is_template, "the template's");
    CHECK(resolution_get(&in, "window.max")->value.is_template, "beside one of the file");
    CHECK(resolution_get(&in, "endpoint")->value.is_template, "of an operation");
    CHECK(!resolution_get(&in, "window.lookback")->value.is_template, "the file's");
    CHECK_EQ(resolution_number(&in, "window.lookback"), INT64_C(432000000000), "which counts");
    CHECK(!resolution_get(&in, "http.base_url")->value.is_template, "the file's");
    CHECK(!resolution_get(&in, "retry.max_attempts")->value.is_template, "built-in");
    arena_release(&arena);
}

static struct str value_of(const struct source *source, enum registry_table_id table,
                           const char *endpoint, const char *key, const char *column)
{
    const struct registry_row *row = source_row(source, table, str_of(endpoint), str_of(key));
    const int at = registry_column(table, str_of(column));

    return row != NULL && row->values[at].is_set ? row->values[at].text : STR("(none)");
}

TEST(the_file_replaces_any_setting_of_the_template)
{
    static const char file[] =
        FEW_LINES "params: { metadata_prefix: marcxml, set: hdl_1 }\n"
                  "endpoints:\n"
                  "  records:\n"
                  "    path: /request\n"
                  "    query: { from: \"${datetime(window.from)}\", more: x }\n"
                  "    response:\n"
                  "      error_when: [{ status: 500, level: L1, code: own }]\n"
                  "      date_formats: [date]\n"
                  "operations: { harvest: { every: 1d }, update: { enabled: false } }\n";
    struct source source;

    begin();
    require_clean(file, &source);
    CHECK_STR(value_of(&source, REGISTRY_PARAM, "", "PARAM:set", "value"), STR("hdl_1"),
              "a parameter");
    CHECK_STR(value_of(&source, REGISTRY_ENDPOINT, "records", "", "path"), STR("/request"),
              "a path");
    CHECK_STR(value_of(&source, REGISTRY_ENDPOINT, "record", "", "path"), STR(""),
              "of this endpoint only");
    CHECK_STR(value_of(&source, REGISTRY_PARAM, "records", "QUERY:from", "value"),
              STR("${datetime(window.from)}"), "a member");
    CHECK_STR(value_of(&source, REGISTRY_PARAM, "records", "QUERY:until", "value"),
              STR("${unless(page.token, date(window.last))}"), "and no other");
    CHECK_STR(value_of(&source, REGISTRY_PARAM, "records", "QUERY:more", "value"), STR("x"),
              "a new one");
    CHECK_STR(value_of(&source, REGISTRY_OPERATION, "", "harvest", "target_endpoint"),
              STR("records"), "the rest of an operation stays");
    arena_release(&arena);
}

TEST(a_list_of_the_file_replaces_the_whole_list)
{
    const struct registry_row *row = NULL;
    struct source source;
    struct row_list rules;
    struct resolution in;
    struct error err;

    begin();
    require_clean(FEW_LINES "endpoints: { records: { response: { error_when: "
                            "[{ status: 500, level: L1, code: own }] } } }\n",
                  &source);
    in = resolved(&source, "harvest");
    REQUIRE_OK(resolution_rows(&arena, &in,
                               row_filter_of(setting_set(AT_ENDPOINT, STR("response.error_when"))),
                               &rules, &err),
               err);
    CHECK_EQ(rules.count, 1, "the file's rule alone");
    row = rules.items[0];
    CHECK(!row->values[registry_column(row->table, STR("code"))].is_template, "is the file's");
    arena_release(&arena);
}

/* ---- export ---- */

static void check_written(const char *file, const char *wanted)
{
    struct source source, again;
    struct buf out;

    begin();
    require_clean(file, &source);
    buf_init(&out, &arena, 1 << 20);
    source_write(&source, &out);
    CHECK_STR(buf_str(&out), str_of(wanted), "what a person would write");
    require_clean(arena_printf(&arena, "%.*s", STR_ARG(buf_str(&out))).data, &again);
    CHECK_EQ(again.registry.count, source.registry.count, "as many rows");
    for (size_t i = 0; i < source.registry.count; i++) {
        const struct registry_row *row = &source.registry.rows[i];
        const struct registry_row *twin = source_row(&again, row->table, row->endpoint, row->key);

        CHECK(twin != NULL && registry_row_eq(row, twin), "read back the same");
    }
}

TEST(a_written_source_has_only_what_the_file_gave)
{
    check_written(FEW_LINES, "source: some\n"
                             "template: oai-pmh\n"
                             "http:\n"
                             "  base_url: https://repository.example.org/oai\n");
    check_written(FEW_LINES
                  "params: { set: x }\n"
                  "endpoints: { records: { query: { more: y } },\n"
                  "             record: { query: { identifier: { required: false } } } }\n"
                  "operations: { harvest: { every: 1d } }\n",
                  "source: some\n"
                  "template: oai-pmh\n"
                  "params:\n"
                  "  set: x\n"
                  "http:\n"
                  "  base_url: https://repository.example.org/oai\n"
                  "\n"
                  "endpoints:\n"
                  "  records:\n"
                  "    query:\n"
                  "      more: y\n"
                  "\n"
                  "  record:\n"
                  "    query:\n"
                  "      identifier: { required: false }\n"
                  "\n"
                  "operations:\n"
                  "  harvest:\n"
                  "    every: 1d\n");
    arena_release(&arena);
}

/* A member that the template wrote in its long form keeps the template's part. */
TEST(a_part_of_a_member_is_not_written_in_the_short_form)
{
    check_written(FEW_LINES "endpoints: { record: { query: { identifier: { value: "
                            "\"oai:${join(ids.list, '')}\" } } } }\n",
                  "source: some\n"
                  "template: oai-pmh\n"
                  "http:\n"
                  "  base_url: https://repository.example.org/oai\n"
                  "\n"
                  "endpoints:\n"
                  "  record:\n"
                  "    query:\n"
                  "      identifier: { value: \"oai:${join(ids.list, '')}\" }\n");
    arena_release(&arena);
}

/* ---- diff ---- */

TEST(a_diff_says_what_is_the_templates)
{
    struct source old, same, own;
    struct source_diff diff;
    struct error err;
    struct buf out;

    begin();
    require_clean(FEW_LINES, &old);
    require_clean(FEW_LINES, &same);
    REQUIRE_OK(source_diff(&arena, &old, &same, &diff, &err), err);
    CHECK_EQ(diff.count, 0, "nothing changed");
    require_clean(FEW_LINES "endpoints: { records: { window: { max: 1d, lookback: 9d } } }\n",
                  &own);
    buf_init(&out, &arena, 1 << 16);
    REQUIRE_OK(source_diff(&arena, &old, &own, &diff, &err), err);
    source_diff_print(&diff, &out);
    CHECK_STR(buf_str(&out),
              STR("~ endpoints.records.window.lookback: 2d -> 9d (was the template's)\n"
                  "~ endpoints.records.window.max: 1d -> 1d (was the template's)\n"),
              "another value, and the same one, which is now the file's");
    buf_clear(&out);
    REQUIRE_OK(source_diff(&arena, &own, &old, &diff, &err), err);
    source_diff_print(&diff, &out);
    CHECK_STR(buf_str(&out),
              STR("~ endpoints.records.window.lookback: 9d -> 2d (template)\n"
                  "~ endpoints.records.window.max: 1d -> 1d (template)\n"),
              "and back");
    arena_release(&arena);
}

/* ---- lint ---- */

/* A file that decides otherwise is not to blame for what then has no effect. */
TEST(what_a_file_makes_useless_of_the_template_is_no_fault)
{
    struct source source;

    begin();
    require_clean(FEW_LINES
                  "endpoints: { records: { query: { set: \"${unless(page.token, 'x')}\" } "
                  "} }\n",
                  &source); /* params.set is not used now */
    require_clean(FEW_LINES "operations: { update: { endpoint: records, drive: time } }\n",
                  &source); /* candidates are for updates by id */
    CHECK(!lint(FEW_LINES "params: { mine: x }\n", &source), "its own useless parameter is");
    arena_release(&arena);
}

TEST(a_fault_of_the_template_is_at_the_place_that_names_it)
{
    struct source source;

    begin();
    CHECK(!lint("source: some\ntemplate: oai-pmh\n", &source), "no base_url");
    CHECK(faults.count > 0, "which is said");
    CHECK(!lint("source: some\nhttp: { base_url: 'https://a.example.org' }\n\ntemplate: oai-pmh\n"
                "endpoints: { records: { response: { format: json } } }\n",
                &source),
          "paths of XML in JSON");
    REQUIRE(faults.count > 0, "faults");
    for (size_t i = 0; i < faults.count; i++)
        CHECK(faults.items[i].at.line >= 4 && faults.items[i].at.line <= 5,
              "in this file, not in the template's");
    arena_release(&arena);
}

TEST(lack_of_memory_is_reported)
{
    struct source source;
    size_t failed = 0;

    for (size_t nth = 1; nth < 900; nth += 7) {
        begin();
        fault_list_init(&faults, &arena);
        arena.fail_at = nth;
        if (!source_read(&arena, &(struct source_text){ .file = STR(FEW_LINES) }, &faults,
                         &source)) {
            CHECK(faults.failed, "and not taken for a good source");
            failed++;
        }
    }
    CHECK(failed > 30, "it was tried");
    arena_release(&arena);
}
