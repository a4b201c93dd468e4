/* Lint: each rule has a file that breaks it, and what lint reports about whole files and rows. */
#include "spec/check.h"

#include <glob.h>
#include <stdio.h>
#include <string.h>

#include "data/xml.h"
#include "test.h"

static struct arena arena;
static struct fault_list faults;

static bool lint(struct str text)
{
    struct source source;

    arena_release(&arena);
    arena_init(&arena, 64 << 20);
    fault_list_init(&faults, &arena);
    return source_lint(&arena, &xml_module, &(struct source_text){ .file = text }, &faults,
                       &source);
}

static void show_faults(const char *label)
{
    struct buf out;

    buf_init(&out, &arena, 1 << 16);
    for (size_t i = 0; i < faults.count; i++)
        fault_print(&faults.items[i], str_of(label), &out);
    test_note("%.*s", STR_ARG(buf_str(&out)));
}

static bool is_reported(const char *place, struct str code, struct str field,
                        enum fault_severity severity)
{
    for (size_t i = 0; i < faults.count; i++) {
        const struct fault *fault = &faults.items[i];
        char at[32];

        (void)snprintf(at, sizeof(at), "%u:%u", fault->at.line, fault->at.column);
        if (strcmp(at, place) == 0 && str_eq(str_of(fault->code), code) &&
            fault->severity == severity && str_starts(fault->message, field) &&
            fault->message.len > field.len && fault->message.data[field.len] == ' ')
            return true;
    }
    return false;
}

/* "# expect: 12:5 spec.code endpoints.works.method", "# warn: ..." in the first lines of a file. */
static size_t check_expected(const char *path, struct str text)
{
    size_t expected = 0;

    while (str_starts(text, STR("#"))) {
        struct str line = str_cut(&text, '\n');
        const bool is_error = str_starts(line, STR("# expect: "));
        struct str at, code;
        char place[32];

        if (!is_error && !str_starts(line, STR("# warn: ")))
            continue;
        line = str_slice(line, is_error ? 10 : 8, line.len);
        at = str_cut(&line, ' ');
        code = str_cut(&line, ' ');
        (void)snprintf(place, sizeof(place), "%.*s", STR_ARG(at));
        CHECK(is_reported(place, code, line, is_error ? FAULT_ERROR : FAULT_WARNING), path);
        expected++;
    }
    return expected;
}

TEST(each_rule_has_a_file_that_breaks_it_and_nothing_else)
{
    glob_t files;

    REQUIRE(glob("test/data/spec/faults/*.yaml", 0, NULL, &files) == 0, "there are files");
    for (size_t i = 0; i < files.gl_pathc; i++) {
        const char *path = files.gl_pathv[i];
        const struct str text = test_read(path);
        const bool is_good = lint(text);
        const size_t expected = check_expected(path, text);

        CHECK(expected > 0, path);
        CHECK_EQ(faults.count, expected, path);
        CHECK_EQ(is_good, faults.errors == 0, path);
        if (faults.count != expected)
            show_faults(path);
    }
    test_note("files with a fault: %zu", files.gl_pathc);
    globfree(&files);
    arena_release(&arena);
}

/* The codes are read from the source of the checks, so a new one needs a file.
 */
TEST(each_code_has_a_file_that_trips_it)
{
    static const char *const elsewhere[] = {
        "spec.invalid",                            /* the sum of all others */
        "spec.override",                           /* reported to a trigger */
        "spec.limit",                              /* needs a very large file */
        "spec.row.unknown",                        /* needs a store that somebody has edited */
        "spec.row.value",   "spec.path.unchecked", /* needs a machine without the module */
        "spec.unreadable",                         /* reported by spec_read() */
        "spec.snapshot",                           /* reported by snapshot_make() */
    };
    static struct str texts[1000];
    glob_t sources, files;
    size_t codes = 0;

    REQUIRE(glob("src/spec/*.c", 0, NULL, &sources) == 0, "source");
    REQUIRE(glob("test/data/spec/faults/*.yaml", 0, NULL, &files) == 0, "files");
    REQUIRE(files.gl_pathc <= ARRAY_LEN(texts), "room");
    for (size_t f = 0; f < files.gl_pathc; f++)
        texts[f] = test_read(files.gl_pathv[f]);
    for (size_t i = 0; i < sources.gl_pathc; i++) {
        struct str text = test_read(sources.gl_pathv[i]);
        size_t at;

        while ((at = str_find(text, STR("\"spec."))) < text.len) {
            char code[64];
            struct str word;
            bool is_found = false;

            text = str_slice(text, at + 1, text.len);
            word = str_cut(&text, '"');
            (void)snprintf(code, sizeof(code), "%.*s", STR_ARG(word));
            for (size_t e = 0; e < ARRAY_LEN(elsewhere); e++)
                is_found |= strcmp(code, elsewhere[e]) == 0;
            codes++;
            strcat(code, " ");
            for (size_t f = 0; !is_found && f < files.gl_pathc; f++)
                is_found = str_find(texts[f], str_of(code)) < texts[f].len;
            CHECK(is_found, code);
        }
    }
    CHECK(codes > 100, "codes were found");
    globfree(&sources);
    globfree(&files);
}

TEST(ten_faults_are_reported_in_one_run_each_with_its_place_and_a_hint)
{
    static const struct {
        const char *place, *code, *field;
    } wanted[] = {
        { "4:13", "spec.http.plain", "http.base_url" },
        { "5:3", "spec.key.unknown", "http.timeout" },
        { "6:60", "spec.secret.literal", "auth.secret" },
        { "7:21", "spec.rate.over-provider", "rate.per_second" },
        { "13:22", "spec.template.syntax", "endpoints.list.query.since" },
        { "16:5", "spec.page.token-needs-next", "endpoints.list.page.next" },
        { "16:32", "spec.page.size-over-max", "endpoints.list.page.size" },
        { "17:45", "spec.window.align", "endpoints.list.window.align" },
        { "19:24", "spec.path.syntax", "endpoints.list.response.items" },
        { "25:3", "spec.operation.unknown", "operations.harvset.operation" },
    };
    const struct str text = test_read("test/data/spec/ten-faults.yaml");

    CHECK(!lint(text), "it is refused");
    CHECK_EQ(faults.count, ARRAY_LEN(wanted), "ten");
    for (size_t i = 0; i < ARRAY_LEN(wanted); i++)
        CHECK(is_reported(wanted[i].place, str_of(wanted[i].code), str_of(wanted[i].field),
                          FAULT_ERROR),
              wanted[i].code);
    for (size_t i = 0; i < faults.count; i++) {
        CHECK(faults.items[i].hint.len > 0, faults.items[i].code);
        CHECK(str_find(faults.items[i].message, STR("0123456789abcdef")) ==
                  faults.items[i].message.len,
              "the secret is not repeated");
    }
    if (faults.count != ARRAY_LEN(wanted))
        show_faults("ten-faults.yaml");
    arena_release(&arena);
}

/* Some warnings concern the API itself: arXiv has no total, bioRxiv has one that is wrong, Europe
 * PMC and Semantic Scholar have no date of change. */
TEST(shipped_sources_have_no_fault_and_only_known_warnings)
{
    static const struct {
        const char *file;
        size_t count;
        const char *warnings[3];
    } files[] = {
        { "sources/arxiv.yaml", 2, { "spec.response.no-total", "spec.response.lost-next" } },
        { "sources/biorxiv.yaml", 2, { "spec.response.no-total", "spec.response.no-has-more" } },
        { "sources/clinicaltrials.yaml", 0, { NULL } },
        { "sources/crossref.yaml", 0, { NULL } },
        { "sources/datacite.yaml", 0, { NULL } },
        { "sources/doaj.yaml", 0, { NULL } },
        { "sources/europepmc.yaml", 1, { "spec.response.no-updated-at" } },
        { "sources/medrxiv.yaml", 2, { "spec.response.no-total", "spec.response.no-has-more" } },
        { "sources/openalex.yaml", 0, { NULL } },
        { "sources/pubmed.yaml", 0, { NULL } },
        { "sources/semanticscholar.yaml",
          3,
          { "spec.response.no-updated-at", "spec.response.no-total",
            "spec.response.no-updated-at" } },
        { "sources/zenodo.yaml", 0, { NULL } },
        { "test/data/spec/clean.yaml", 0, { NULL } },
    };

    for (size_t i = 0; i < ARRAY_LEN(files); i++) {
        CHECK(lint(test_read(files[i].file)), files[i].file);
        CHECK_EQ(faults.count, files[i].count, files[i].file);
        if (faults.count != files[i].count) {
            show_faults(files[i].file);
            continue;
        }
        for (size_t w = 0; w < files[i].count; w++)
            CHECK_STR(str_of(faults.items[w].code), str_of(files[i].warnings[w]), files[i].file);
    }
    arena_release(&arena);
}

/* The engine goes by the kind, not by the code. */
TEST(a_warning_says_what_the_source_lacks)
{
    static const struct {
        const char *file;
        const char *code;
        enum fault_lack lacks;
    } files[] = {
        { "test/data/spec/faults/total-missing.yaml", "spec.response.no-total", FAULT_LACKS_TOTAL },
        { "test/data/spec/faults/total-missing.yaml", "spec.response.no-has-more",
          FAULT_LACKS_HAS_MORE },
        { "test/data/spec/faults/lost-next.yaml", "spec.response.lost-next",
          FAULT_LACKS_LAST_PAGE },
        { "test/data/spec/faults/updated-at-missing.yaml", "spec.response.no-updated-at",
          FAULT_LACKS_UPDATED_AT },
    };

    for (size_t i = 0; i < ARRAY_LEN(files); i++) {
        size_t found = 0;

        (void)lint(test_read(files[i].file));
        for (size_t f = 0; f < faults.count; f++) {
            const bool is_wanted = str_eq(str_of(faults.items[f].code), str_of(files[i].code));

            found += is_wanted;
            CHECK_EQ(faults.items[f].lacks == files[i].lacks, is_wanted, files[i].code);
        }
        CHECK_EQ(found, 1, files[i].code);
    }
    arena_release(&arena);
}

/* Rows of a store have no places; their faults are otherwise the same. */
TEST(rows_without_a_file_are_checked_too)
{
    struct source source, stored;
    size_t errors;

    (void)lint(STR("source: a\n"));
    CHECK(!source_lint(&arena, &xml_module,
                       &(struct source_text){
                           .file = test_read("test/data/spec/faults/token-needs-next.yaml") },
                       &faults, &source),
          "refused");
    errors = faults.errors;
    stored = (struct source){ .registry = source.registry };
    fault_list_init(&faults, &arena);
    source_check(&arena, &xml_module, &stored, &faults);
    CHECK(errors > 0, "by the file");
    CHECK_EQ(faults.errors, 1, "by the rows");
    CHECK_STR(str_of(faults.items[0].code), STR("spec.page.token-needs-next"), "the same fault");
    CHECK_EQ(faults.items[0].at.line, 0, "without a place");
    arena_release(&arena);
}

TEST(a_plan_is_checked_with_the_values_of_its_trigger)
{
    static const struct {
        const char *path, *value, *code;
    } cases[] = {
        { "page.size", "200", NULL },
        { "page.size", "5000", "spec.page.size-over-max" },
        { "window.min", "2d", "spec.window.max-below-min" },
        { "retry.max_delay", "1ms", "spec.retry.delays" },
        { "priority", "1", NULL },
    };
    struct source source;
    struct error err;

    for (size_t i = 0; i < ARRAY_LEN(cases); i++) {
        const struct override override = { str_of(cases[i].path), str_of(cases[i].value) };
        struct plan_check plan = { .source = &source, .overrides = { &override, 1 } };

        (void)lint(STR("source: a\n"));
        fault_list_init(&faults, &arena);
        REQUIRE(source_lint(&arena, &xml_module,
                            &(struct source_text){ .file = test_read("test/data/spec/clean.yaml") },
                            &faults, &source),
                "clean by itself");
        plan.operation = source_find_operation(&source, STR("harvest"));
        CHECK_EQ(source_check_plan(&arena, &xml_module, &plan, &faults, &err),
                 cases[i].code == NULL, cases[i].path);
        CHECK_EQ(faults.errors, cases[i].code != NULL, cases[i].path);
        if (faults.count > 0)
            CHECK_STR(str_of(faults.items[0].code), str_of(cases[i].code), cases[i].path);
    }
    arena_release(&arena);
}

TEST(rows_that_no_file_could_have_made_are_found)
{
    static const struct {
        enum setting_level level;
        const char *path, *code;
        struct registry_value value;
    } edits[] = {
        { AT_ENDPOINT, "method", "spec.code", { .is_set = true, .text = STR_INIT("FETCH") } },
        { AT_ENDPOINT, "method", "spec.row.value", { .is_set = true, .text = STR_INIT("Get") } },
        { AT_ENDPOINT, "page.size", "spec.range", { .is_set = true, .number = -5 } },
        { AT_ENDPOINT, "auth_required", "spec.row.value", { .is_set = true, .number = 7 } },
        { AT_ENDPOINT,
          "response.id",
          "spec.row.value",
          { .is_set = true, .text = STR_INIT("[oops") } },
        { AT_ENDPOINT, "path", "spec.control", { .is_set = true, .text = STR_INIT("/a\nb") } },
    };

    for (size_t i = 0; i < ARRAY_LEN(edits); i++) {
        const struct setting *setting = setting_find(edits[i].level, str_of(edits[i].path));
        const struct str key = setting->key != NULL ? str_of(setting->key) : STR("");
        struct source source, stored;
        const struct registry_row *row;

        REQUIRE(lint(test_read("test/data/spec/clean.yaml")), "clean");
        REQUIRE(source_read(&arena,
                            &(struct source_text){ .file = test_read("test/data/spec/clean.yaml") },
                            &faults, &source),
                "clean");
        stored = (struct source){ .registry = source.registry };
        fault_list_init(&faults, &arena);
        source_check(&arena, &xml_module, &stored, &faults);
        CHECK_EQ(faults.count, 0, "what a file has made is fine");
        row = source_row(&stored, setting->table, STR("works"), key);
        REQUIRE(row != NULL, edits[i].path);
        row->values[setting_column(setting)] = edits[i].value;
        fault_list_init(&faults, &arena);
        source_check(&arena, &xml_module, &stored, &faults);
        CHECK(faults.errors > 0, edits[i].path);
        CHECK_STR(str_of(faults.items[0].code), str_of(edits[i].code), edits[i].path);
    }
    arena_release(&arena);
}
