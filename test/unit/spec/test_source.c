/* A file to rows and back, edits, and the difference between two versions. */
#include "spec/source.h"

#include "random_source.h"
#include "spec/source_diff.h"
#include "test.h"

static struct arena arena;
static struct fault_list faults;

static bool read_text(struct str text, struct source *source)
{
    arena_release(&arena);
    arena_init(&arena, 16 << 20);
    fault_list_init(&faults, &arena);
    return source_read(&arena, &(struct source_text){ .file = text }, &faults, source);
}

static void show_faults(struct str file)
{
    struct buf out;

    buf_init(&out, &arena, 1 << 16);
    for (size_t i = 0; i < faults.count; i++)
        fault_print(&faults.items[i], file, &out);
    test_note("%.*s", STR_ARG(buf_str(&out)));
}

static struct str text_at(const struct source *source, enum setting_level level, const char *path,
                          const char *endpoint, const char *key)
{
    const struct registry_value *value =
        source_value(source, setting_find(level, str_of(path)), str_of(endpoint), str_of(key));

    return value != NULL ? value->text : (struct str){ 0 };
}

/* An edited file and one that says so by itself are the same rows. */
TEST(an_edit_reads_as_if_the_file_had_it)
{
    static const struct edit edits[] = {
        { STR_INIT("http.base_url"), STR_INIT("http://127.0.0.1:8080/x") },
        { STR_INIT("http.allow_plain_http"), STR_INIT("true") },
        { STR_INIT("retry.statuses"), STR_INIT("[429, 503]") },
        { STR_INIT("endpoints.list.page.size"), STR_INIT("7") },
        { STR_INIT("endpoints.list.query.key"), STR_INIT("") },
        { STR_INIT("endpoints.list.query.never"), STR_INIT("") },
    };
    const struct source_text text = { STR("source: demo\n"
                                          "http: { base_url: 'https://a.example' }\n"
                                          "endpoints:\n"
                                          "  list: { role: search, path: /list, query: { key: k, "
                                          "a: '1' }, page: { size: 100 } }\n"),
                                      { edits, ARRAY_LEN(edits) } };
    struct source edited, written;
    struct buf as_edited, as_written;

    REQUIRE(read_text(STR(""), &edited) == false, "memory is ready");
    fault_list_init(&faults, &arena);
    REQUIRE(source_read(&arena, &text, &faults, &edited), "no fault");
    REQUIRE(source_read(
                &arena,
                &(struct source_text){
                    .file = STR(
                        "source: demo\n"
                        "http: { base_url: 'http://127.0.0.1:8080/x', allow_plain_http: true }\n"
                        "retry: { statuses: [429, 503] }\n"
                        "endpoints:\n"
                        "  list: { role: search, path: /list, query: { a: '1' }, page: { size: 7 } "
                        "}\n") },
                &faults, &written),
            "no fault");
    buf_init(&as_edited, &arena, 1 << 16);
    buf_init(&as_written, &arena, 1 << 16);
    source_write(&edited, &as_edited);
    source_write(&written, &as_written);
    CHECK_STR(buf_str(&as_edited), buf_str(&as_written), "the same file");
}

TEST(an_edit_without_a_path_is_a_fault)
{
    static const struct {
        struct edit edit;
        const char *code;
    } cases[] = {
        { { STR_INIT("source.x"), STR_INIT("1") }, "edit.path" },
        { { STR_INIT("http..base_url"), STR_INIT("1") }, "edit.path" },
        { { STR_INIT("http.base_url"), STR_INIT("\"open") }, "yaml.syntax" },
        { { STR_INIT("http.bose_url"), STR_INIT("1") }, "spec.key.unknown" },
        { { STR_INIT("http.connect_timeout"), STR_INIT("soon") }, "spec.type" },
    };

    for (size_t i = 0; i < ARRAY_LEN(cases); i++) {
        const struct source_text text = { STR("source: demo\nhttp: { compression: true }\n"),
                                          { &cases[i].edit, 1 } };
        struct source source;

        (void)read_text(STR(""), &source);
        fault_list_init(&faults, &arena);
        CHECK(!source_read(&arena, &text, &faults, &source), cases[i].edit.path.data);
        REQUIRE(faults.count > 0, cases[i].edit.path.data);
        CHECK_STR(str_of(faults.items[0].code), str_of(cases[i].code), cases[i].edit.path.data);
    }
}

/* A mistyped name would add a member that nothing uses. */
TEST(an_edit_of_a_name_that_the_file_lacks_is_a_fault)
{
    static const struct {
        struct edit edit;
        const char *hint; /* NULL: it is meant */
    } cases[] = {
        { { STR_INIT("params.topc"), STR_INIT("x") }, "did you mean topic? its parameters: topic" },
        { { STR_INIT("params.Q"), STR_INIT("x") }, "its parameters: topic" },
        { { STR_INIT("params.Q"), STR_INIT("") }, "its parameters: topic" },
        { { STR_INIT("params.top"), STR_INIT("x") }, "its parameters: topic" },
        { { STR_INIT("endpoints.lst.page.size"), STR_INIT("7") }, "its endpoints: list" },
        { { STR_INIT("operations.harvst.every"), STR_INIT("1h") }, "its operations: harvest" },
        { { STR_INIT("credentials.a.secret"), STR_INIT("env:A") }, "its credentials: none" },
        { { STR_INIT("params.topic"), STR_INIT("x") }, NULL },
        { { STR_INIT("params.used"), STR_INIT("x") }, NULL },
        { { STR_INIT("operations.update"), STR_INIT("{ endpoint: list }") }, NULL },
    };

    for (size_t i = 0; i < ARRAY_LEN(cases); i++) {
        const struct source_text text = {
            STR("source: demo\nhttp: { base_url: 'https://a.example' }\nparams: { topic: y }\n"
                "endpoints:\n  list: { role: search, path: /list, query: { q: '${params.topic}', "
                "r: '${params.used}' } }\noperations: { harvest: { endpoint: list } }\n"),
            { &cases[i].edit, 1 }
        };
        struct source source;

        (void)read_text(STR(""), &source);
        fault_list_init(&faults, &arena);
        CHECK_EQ(source_read(&arena, &text, &faults, &source), cases[i].hint == NULL,
                 cases[i].edit.path.data);
        if (cases[i].hint == NULL)
            continue;
        REQUIRE(faults.count > 0, cases[i].edit.path.data);
        CHECK_STR(str_of(faults.items[0].code), STR("edit.unknown"), cases[i].edit.path.data);
        CHECK(str_find(faults.items[0].hint, str_of(cases[i].hint)) < faults.items[0].hint.len,
              cases[i].hint);
    }
}

TEST(a_file_becomes_rows_in_their_places)
{
    struct source source;
    const struct registry_row *row;

    REQUIRE(
        read_text(
            STR("source: demo\n"
                "http: { base_url: 'https://a.example', headers: { Accept: x/y } }\n"
                "endpoints:\n"
                "  list:\n"
                "    role: search\n"
                "    path: /list\n"
                "    query: { b: '1', a: { value: '2', required: true } }\n"
                "    response: { id: [$.a, $.b], error_when: { status: 404, meaning: empty } }\n"
                "operations:\n"
                "  harvest: { endpoint: list, every: 15m }\n"),
            &source),
        "no fault");
    CHECK_STR(source.registry.code, STR("demo"), "code");
    CHECK_STR(text_at(&source, AT_SOURCE, "http.base_url", "", ""), STR("https://a.example"),
              "url");
    CHECK_STR(text_at(&source, AT_SOURCE, "http.headers.*.value", "", "HEADER:Accept"), STR("x/y"),
              "header");
    CHECK_STR(text_at(&source, AT_ENDPOINT, "role", "list", ""), STR("SEARCH"), "a stored word");
    CHECK_STR(text_at(&source, AT_ENDPOINT, "response.id", "list", "PATH:id"),
              STR("[\"$.a\",\"$.b\"]"), "canonical");
    CHECK_STR(text_at(&source, AT_ENDPOINT, "response.error_when.*.status", "list", "ERROR:0"),
              STR("[404]"), "one rule without a list");
    CHECK_EQ(
        source_value(&source, setting_find(AT_OPERATION, STR("every")), STR(""), STR("harvest"))
            ->number,
        INT64_C(900000000), "microseconds");
    row = source_next(&source, REGISTRY_PARAM, STR("list"), STR("QUERY:"), NULL);
    CHECK_STR(row->key, STR("QUERY:b"), "the order of the file");
    CHECK_EQ(source_mark_of(&source, row, 0).line, 7, "line");
    CHECK_EQ(source_mark_of(&source, row, 0).column, 17, "column");
    CHECK_STR(source_next(&source, REGISTRY_PARAM, STR("list"), STR("QUERY:"), row)->key,
              STR("QUERY:a"), "the second");
    arena_release(&arena);
}

TEST(unknown_keys_get_the_name_that_was_meant)
{
    static const struct {
        const char *text;
        const char *hint;
    } cases[] = {
        { "source: a\nhtp: {}\n", "did you mean http?" },
        { "source: a\nhttp: { base_ulr: x }\n", "did you mean base_url?" },
        { "source: a\nendpoint: {}\n", "did you mean endpoints?" },
        { "source: a\nbase_url: x\n", "its place is http.base_url" },
        { "source: a\nresponse: { items: $ }\n", "its place is endpoints.NAME.response.items" },
        { "source: a\nhttp: { queued_max: 3 }\n", "its place is operations.NAME.queued_max" },
        { "source: a\n'http.base_url': x\n", "known keys here: source, endpoints, operations" },
        { "source: a\nparams: { x: { value: y, defualt: z } }\n", "did you mean default?" },
    };
    struct source source;

    for (size_t i = 0; i < ARRAY_LEN(cases); i++) {
        CHECK(!read_text(str_of(cases[i].text), &source), cases[i].text);
        REQUIRE(faults.count == 1, cases[i].text);
        CHECK_STR(str_of(faults.items[0].code), STR("spec.key.unknown"), cases[i].text);
        CHECK(str_starts(faults.items[0].hint, str_of(cases[i].hint)), faults.items[0].hint.data);
    }
    arena_release(&arena);
}

static bool rows_are_equal(const struct source *a, const struct source *b)
{
    for (size_t i = 0; i < a->registry.count; i++) {
        const struct registry_row *row = &a->registry.rows[i];
        const struct registry_row *twin = source_row(b, row->table, row->endpoint, row->key);

        if (twin == NULL || !registry_row_eq(row, twin))
            return false;
    }
    return a->registry.count == b->registry.count;
}

/* file -> rows -> file -> rows: nothing is lost, and the second file is the first. */
static void check_identity(const struct source *source, const char *label)
{
    struct source again;
    struct buf first, second;

    buf_init(&first, &arena, 1 << 20);
    buf_init(&second, &arena, 1 << 20);
    source_write(source, &first);
    fault_list_init(&faults, &arena);
    if (!source_read(&arena, &(struct source_text){ .file = buf_str(&first) }, &faults, &again)) {
        show_faults(buf_str(&first));
        REQUIRE(false, label);
    }
    CHECK(rows_are_equal(source, &again), label);
    source_write(&again, &second);
    CHECK_STR(buf_str(&second), buf_str(&first), label);
}

TEST(written_sources_read_back_the_same)
{
    static const char *const files[] = { "sources/crossref.yaml", "sources/pubmed.yaml" };
    struct source source;

    for (size_t i = 0; i < ARRAY_LEN(files); i++) {
        const struct str text = test_read(files[i]);

        REQUIRE(text.data != NULL, files[i]);
        REQUIRE(read_text(text, &source), files[i]);
        check_identity(&source, files[i]);
    }
    arena_release(&arena);
}

TEST(any_source_is_written_and_read_back_the_same)
{
    struct random_source random;
    char label[32];

    for (unsigned seed = 1; seed <= 60; seed++) {
        (void)snprintf(label, sizeof(label), "seed %u", seed);
        arena_release(&arena);
        arena_init(&arena, 64 << 20);
        random_source(&random, &arena, seed);
        check_identity(&random.source, label);
    }
    arena_release(&arena);
}

TEST(a_diff_has_the_rows_that_changed_and_no_others)
{
    const struct str before =
        STR("source: a\nhttp: { base_url: 'https://a.example', redirects: 1 }\n"
            "endpoints:\n  l:\n    role: search\n    path: /l\n"
            "    query: { p: x, q: y }\n"
            "operations: { harvest: { endpoint: l } }\n");
    const struct str after = STR("source: a\nhttp: { base_url: 'https://b.example' }\n"
                                 "endpoints:\n  l:\n    role: search\n    path: /l\n"
                                 "    query: { q: y, r: z }\n"
                                 "operations: { harvest: { endpoint: l, priority: 5 } }\n");
    struct source old, new;
    struct source_diff diff;
    struct error err;
    struct buf out;

    arena_release(&arena);
    arena_init(&arena, 16 << 20);
    fault_list_init(&faults, &arena);
    REQUIRE(source_read(&arena, &(struct source_text){ .file = before }, &faults, &old), "before");
    REQUIRE(source_read(&arena, &(struct source_text){ .file = after }, &faults, &new), "after");
    REQUIRE_OK(source_diff(&arena, &old, &new, &diff, &err), err);
    CHECK_EQ(diff.count, 5, "http, p, q, r, harvest");
    buf_init(&out, &arena, 4096);
    source_diff_print(&diff, &out);
    CHECK_STR(buf_str(&out),
              STR("~ http.base_url: https://a.example -> https://b.example\n"
                  "- http.redirects: 1\n"
                  "- endpoints.l.query.p: x\n"
                  "~ endpoints.l.query.q: moved\n"
                  "+ operations.harvest.priority: 5\n"
                  "+ endpoints.l.query.r: z\n"),
              "as people read it");
    REQUIRE_OK(source_diff(&arena, &old, &old, &diff, &err), err);
    CHECK_EQ(diff.count, 0, "nothing changed");
    arena_release(&arena);
}

TEST(lack_of_memory_is_reported)
{
    const struct str text = test_read("sources/pubmed.yaml");
    struct source source;
    size_t failed = 0;

    for (size_t nth = 1; nth < 700; nth += 7) {
        arena_release(&arena);
        arena_init(&arena, 8 << 20);
        fault_list_init(&faults, &arena);
        arena.fail_at = nth;
        if (!source_read(&arena, &(struct source_text){ .file = text }, &faults, &source)) {
            CHECK(faults.failed, "and not taken for a good source");
            failed++;
        }
    }
    CHECK(failed > 30, "it was tried");
    arena_release(&arena);
}
