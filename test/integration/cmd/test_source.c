/* patra init and patra source, as a user runs them, on SQLite and on PostgreSQL. */
#include <dirent.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "postgres.h"
#include "run.h"
#include "test.h"

enum { PATH_BYTES = 512 };

static const char *sqlite_store(const char *name)
{
    static char path[PATH_BYTES];

    (void)snprintf(path, sizeof(path), "%s/%s.db", test_folder(), name);
    return path;
}

static const char *postgres_store(void)
{
    struct error err = { 0 };
    const char *dsn = postgres_new_database(&err);

    if (dsn == NULL && err.level == ERROR_NONE)
        TEST_SKIP("PostgreSQL 15 is not installed");
    REQUIRE(dsn != NULL, err.text);
    return dsn;
}

static const char *write_file(const char *name, struct str text)
{
    static char path[PATH_BYTES];
    FILE *file;

    (void)snprintf(path, sizeof(path), "%s/%s", test_folder(), name);
    file = fopen(path, "wb");
    REQUIRE(file != NULL, path);
    REQUIRE(fwrite(text.data, 1, text.len, file) == text.len, path);
    REQUIRE(fclose(file) == 0, path);
    return path;
}

static size_t count_of(struct str text, struct str needle)
{
    size_t count = 0;

    for (size_t at = str_find(text, needle); at < text.len; at = str_find(text, needle)) {
        text = str_slice(text, at + needle.len, text.len);
        count++;
    }
    return count;
}

static bool has(struct str text, const char *needle)
{
    return str_find(text, str_of(needle)) < text.len;
}

/* ---- lint ---- */

TEST(ten_faults_are_reported_in_one_run_and_nothing_is_written)
{
    static const char *const places[] = {
        ":4:13: error:", ":5:3: error:",   ":6:60: error:",  ":7:21: error:",  ":13:22: error:",
        ":16:5: error:", ":16:32: error:", ":17:45: error:", ":19:24: error:", ":25:3: error:",
    };
    static const char file[] = "test/data/spec/ten-faults.yaml";
    const char *store = sqlite_store("ten");
    struct run run = RUN("patra", "source", "lint", file);

    CHECK_EQ(run.code, 1, "exit code of lint");
    for (size_t i = 0; i < ARRAY_LEN(places); i++) {
        char place[PATH_BYTES];

        (void)snprintf(place, sizeof(place), "%s%s", file, places[i]);
        CHECK(has(run.out, place), place);
    }
    CHECK_EQ(count_of(run.out, STR(": error: ")), ARRAY_LEN(places), "faults reported");
    CHECK_EQ(count_of(run.out, STR("\n  hint: ")), ARRAY_LEN(places), "each with a hint");

    REQUIRE(RUN("patra", "init", "--store", store).code == 0, "init");
    run = RUN("patra", "source", "apply", "--store", store, "sources/crossref.yaml", file);
    CHECK_EQ(run.code, 1, "exit code of apply");
    run = RUN("patra", "source", "list", "--store", store, "--json");
    CHECK_STR(run.out, STR("[]\n"), "not even the clean file was applied");
}

TEST(a_literal_secret_is_refused_and_not_repeated)
{
    const struct run run = RUN("patra", "source", "lint", "test/data/spec/ten-faults.yaml");

    CHECK(!has(run.out, "0123456789abcdef") && !has(run.talk, "0123456789abcdef"), "the secret");
}

/* ---- apply, export ---- */

static void apply_export_apply(const char *store, const char *file, const char *code)
{
    struct run first, second;
    const char *copy;

    first = RUN("patra", "source", "apply", "--store", store, file);
    REQUIRE(first.code == 0, "apply");
    first = RUN("patra", "source", "export", "--store", store, code);
    REQUIRE(first.code == 0, "export");
    copy = write_file("export.yaml", first.out);
    second = RUN("patra", "source", "diff", "--store", store, copy);
    CHECK_EQ(second.code, 0, "exit code of diff");
    CHECK_STR(second.out, STR(""), "an export differs in nothing");
    second = RUN("patra", "source", "apply", "--store", store, copy);
    CHECK_EQ(second.code, 0, "apply of the export");
    CHECK(has(second.out, "unchanged, version 1"), "the export changes nothing");
    second = RUN("patra", "source", "export", "--store", store, code);
    CHECK_STR(second.out, first.out, "the second export");
}

/* A shipped source on a server of one's own: the file is not touched, and what is wrong is
 * reported. */
TEST(set_changes_what_a_file_says)
{
    const char *store = sqlite_store("set");
    struct run run;

    REQUIRE(RUN("patra", "init", "--store", store).code == 0, "init");
    run =
        RUN("patra", "source", "apply", "--store", store, "sources/crossref.yaml", "--set",
            "http.base_url=http://127.0.0.1:8080/crossref", "--set", "http.allow_plain_http=true");
    CHECK_EQ(run.code, 0, "applied");
    run = RUN("patra", "source", "export", "--store", store, "crossref");
    CHECK(has(run.out, "base_url: \"http://127.0.0.1:8080/crossref\"") ||
              has(run.out, "base_url: http://127.0.0.1:8080/crossref"),
          "its address");
    run = RUN("patra", "source", "diff", "--store", store, "sources/crossref.yaml");
    CHECK_EQ(run.code, 1, "the file says otherwise");
    CHECK_EQ(count_of(run.out, STR("\n")), 2, "in two places");
    run =
        RUN("patra", "source", "diff", "--store", store, "sources/crossref.yaml", "--set",
            "http.base_url=http://127.0.0.1:8080/crossref", "--set", "http.allow_plain_http=true");
    CHECK_EQ(run.code, 0, "and with the same changes the same");
    run = RUN("patra", "source", "lint", "sources/crossref.yaml", "--set",
              "http.base_url=http://127.0.0.1:8080");
    CHECK_EQ(run.code, 1, "without TLS, and nobody said that it may be");
    CHECK(has(run.out, "allow_plain_http"), "the hint");
    run = RUN("patra", "source", "lint", "sources/crossref.yaml", "--set", "http.base_url");
    CHECK_EQ(run.code, 2, "no value");
}

TEST(apply_export_apply_is_the_identity_on_sqlite)
{
    const char *store = sqlite_store("identity");

    REQUIRE(RUN("patra", "init", "--store", store).code == 0, "init");
    apply_export_apply(store, "sources/crossref.yaml", "crossref");
    apply_export_apply(store, "sources/pubmed.yaml", "pubmed");
    apply_export_apply(store, "sources/arxiv.yaml", "arxiv");
    apply_export_apply(store, "sources/datacite.yaml", "datacite");
    apply_export_apply(store, "sources/europepmc.yaml", "europepmc");
    apply_export_apply(store, "sources/openalex.yaml", "openalex");
    apply_export_apply(store, "test/data/spec/clean.yaml", "demo");
}

TEST(apply_export_apply_is_the_identity_on_postgres)
{
    const char *store = postgres_store();

    REQUIRE(RUN("patra", "init", "--store", store).code == 0, "init");
    apply_export_apply(store, "sources/crossref.yaml", "crossref");
    apply_export_apply(store, "sources/pubmed.yaml", "pubmed");
    apply_export_apply(store, "test/data/spec/clean.yaml", "demo");
}

static struct str snapshots(const char *store, const char *code)
{
    const struct run run = RUN("patra", "source", "show", "--store", store, "--json", code);

    REQUIRE(run.code == 0, "show --json");
    REQUIRE(run.out.len > 1000, "snapshots");
    return run.out;
}

TEST(snapshots_are_the_same_bytes_on_both_stores)
{
    static const char *const codes[] = { "crossref", "pubmed" };
    const char *on_postgres = postgres_store();
    const char *on_sqlite = sqlite_store("same");

    REQUIRE(RUN("patra", "init", "--store", on_sqlite).code == 0, "init SQLite");
    REQUIRE(RUN("patra", "init", "--store", on_postgres).code == 0, "init PostgreSQL");
    REQUIRE(RUN("patra", "source", "apply", "--store", on_sqlite, "sources/crossref.yaml",
                "sources/pubmed.yaml")
                    .code == 0,
            "apply on SQLite");
    REQUIRE(RUN("patra", "source", "apply", "--store", on_postgres, "sources/pubmed.yaml",
                "sources/crossref.yaml")
                    .code == 0,
            "apply on PostgreSQL");
    for (size_t i = 0; i < ARRAY_LEN(codes); i++)
        CHECK_STR(snapshots(on_postgres, codes[i]), snapshots(on_sqlite, codes[i]), codes[i]);
}

TEST(an_earlier_version_can_still_be_shown)
{
    const char *store = sqlite_store("history");
    const struct str text = test_read("sources/crossref.yaml");
    const size_t at = str_find(text, STR("every: 1h"));
    char changed[64 * 1024];
    struct run run;

    REQUIRE(at < text.len && text.len < sizeof(changed), "the shipped source has every: 1h");
    memcpy(changed, text.data, text.len);
    changed[at + strlen("every: ")] = '2';
    REQUIRE(RUN("patra", "init", "--store", store).code == 0, "init");
    REQUIRE(RUN("patra", "source", "apply", "--store", store, "sources/crossref.yaml").code == 0,
            "apply");
    run = RUN("patra", "source", "diff", "--store", store,
              write_file("changed.yaml", (struct str){ changed, text.len }));
    CHECK_EQ(run.code, 1, "a difference is found");
    CHECK_STR(run.out, STR("~ operations.harvest.every: 1h -> 2h\n"), "and nothing else");
    run = RUN("patra", "source", "apply", "--store", store,
              write_file("changed.yaml", (struct str){ changed, text.len }));
    CHECK(has(run.out, "version 2 in force, 1 row changed"), "one row");
    run = RUN("patra", "source", "show", "--store", store, "crossref");
    CHECK(has(run.out, "every 2h"), "now");
    run = RUN("patra", "source", "show", "--store", store, "crossref", "--at",
              "2001-01-01T00:00:00Z");
    CHECK_EQ(run.code, 4, "before it was there");
}

/* ---- secrets ---- */

static void check_no_secret_in(const char *folder, struct str secret)
{
    DIR *dir = opendir(folder);
    size_t files = 0;

    REQUIRE(dir != NULL, folder);
    for (struct dirent *entry = readdir(dir); entry != NULL; entry = readdir(dir)) {
        char path[PATH_BYTES * 2];
        struct str text;

        (void)snprintf(path, sizeof(path), "%s/%s", folder, entry->d_name);
        if (entry->d_name[0] == '.')
            continue;
        text = test_read(path);
        files++;
        CHECK(str_find(text, secret) == text.len, path);
    }
    (void)closedir(dir);
    CHECK(files >= 2, "the database and what commands said were looked into");
}

TEST(no_secret_gets_into_the_store_a_snapshot_or_a_text)
{
    static const char secret[] = "s3cr3t-of-nobody-5150";
    const char *store = sqlite_store("secret");
    struct run run;

    REQUIRE(setenv("NCBI_API_KEY", secret, 1) == 0, "setenv");
    REQUIRE(RUN("patra", "init", "--store", store).code == 0, "init");
    run = RUN("patra", "source", "apply", "--store", store, "sources/pubmed.yaml");
    REQUIRE(run.code == 0, "apply");
    run = RUN("patra", "source", "export", "--store", store, "pubmed");
    CHECK(has(run.out, "env:NCBI_API_KEY"), "the reference is kept");
    CHECK(!has(run.out, secret), "the secret is not, in an export");
    run = RUN("patra", "source", "show", "--store", store, "pubmed", "--json");
    CHECK(has(run.out, "env:NCBI_API_KEY") && !has(run.out, secret), "nor in a snapshot");
    run = RUN("patra", "source", "show", "--store", store, "pubmed", "--resolved");
    CHECK(!has(run.out, secret) && !has(run.talk, secret), "nor in a listing");
    check_no_secret_in(test_folder(), str_of(secret));
    REQUIRE(unsetenv("NCBI_API_KEY") == 0, "unsetenv");
}

/* ---- the command line itself ---- */

TEST(what_was_mistyped_is_answered_with_what_was_meant)
{
    struct run run = RUN("patra", "sorce", "list");

    CHECK_EQ(run.code, 2, "unknown command");
    CHECK(has(run.talk, "did you mean 'source'?"), "suggestion");
    run = RUN("patra", "source", "lint", "--jsno", "x");
    CHECK_EQ(run.code, 2, "unknown option");
    CHECK(has(run.talk, "did you mean '--json'?"), "suggestion");
    run = RUN("patra", "source", "show");
    CHECK_EQ(run.code, 2, "an operand is missing");
    CHECK(has(run.talk, "SOURCE [OPERATION]"), "and named");
}

TEST(what_cannot_be_done_says_why)
{
    const char *store = sqlite_store("nowhere");
    struct run run = RUN("patra", "source", "list", "--store", store);

    CHECK_EQ(run.code, 4, "no store");
    CHECK(has(run.talk, "store.missing"), "its code");
    run = RUN("patra", "source", "lint", "no-such-file.yaml");
    CHECK_EQ(run.code, 4, "no file");
    CHECK(has(run.talk, "no-such-file.yaml"), "named");
    REQUIRE(RUN("patra", "init", "--store", store).code == 0, "init");
    run = RUN("patra", "source", "show", "--store", store, "nobody");
    CHECK_EQ(run.code, 4, "no source");
    CHECK(has(run.talk, "source.unknown"), "its code");
    run = RUN("patra", "source", "list", "--store", "postgresql://127.0.0.1:1/none");
    CHECK_EQ(run.code, 3, "nobody listens there, yet somebody may later");
}

/* Good until the next call. */
static const char *file_with(const char *name, const char *text)
{
    static char path[512];
    FILE *file;

    (void)snprintf(path, sizeof(path), "%s/%s", test_folder(), name);
    file = fopen(path, "w");
    REQUIRE(file != NULL, path);
    (void)fputs(text, file);
    REQUIRE(fclose(file) == 0, path);
    return path;
}

TEST(a_file_without_a_byte_is_a_fault_like_any_other)
{
    const struct run run = RUN("patra", "source", "lint", file_with("empty.yaml", ""));

    CHECK_EQ(run.code, 1, "exit code");
    CHECK(has(run.talk, "yaml.empty") || has(run.out, "yaml.empty"), "what it is");
}

TEST(a_source_that_is_in_two_files_is_not_applied)
{
    const char *store = sqlite_store("twice");
    const char *other;
    struct run run;

    REQUIRE(RUN("patra", "init", "--store", store).code == 0, "init");
    other = file_with("other.yaml", "source: crossref\n"
                                    "http: { base_url: https://example.org }\n"
                                    "rate: { per_second: 1, provider_limit: 1 }\n"
                                    "endpoints:\n"
                                    "  all:\n"
                                    "    role: search\n"
                                    "    path: /all\n"
                                    "    query: { since: '${window.from}' }\n"
                                    "    page: { type: single }\n"
                                    "    window: { key: updated }\n"
                                    "    response: { items: $.items, id: $.id }\n"
                                    "operations:\n"
                                    "  harvest: { endpoint: all }\n");
    REQUIRE(RUN("patra", "source", "lint", other).code == 0, "it is a source");
    run = RUN("patra", "source", "apply", "sources/crossref.yaml", other, "--store", store);
    CHECK_EQ(run.code, 1, "exit code");
    CHECK(has(run.talk, "the source crossref is also in sources/crossref.yaml"), "why");
    CHECK_STR(RUN("patra", "source", "list", "--json", "--store", store).out, STR("[]\n"),
              "nothing was applied");
}

TEST(waiting_tasks_keep_their_settings_and_apply_says_so)
{
    const char *store = sqlite_store("waiting");
    struct run run;

    REQUIRE(RUN("patra", "init", "--store", store).code == 0, "init");
    run = RUN("patra", "source", "apply", "sources/crossref.yaml", "--store", store);
    CHECK(!has(run.talk, "planned before"), "none is there");
    REQUIRE(RUN("patra", "trigger", "crossref", "--from", "2026-01-01T00:00:00Z", "--to",
                "2026-01-01T03:00:00Z", "--store", store)
                    .code == 0,
            "trigger");
    run = RUN("patra", "source", "apply", "sources/crossref.yaml", "--store", store);
    CHECK(!has(run.talk, "planned before"), "nothing has changed");
    run = RUN("patra", "source", "apply", "sources/crossref.yaml", "--set", "page.size=400",
              "--store", store);
    CHECK_EQ(run.code, 0, "applied");
    CHECK(has(run.talk, "crossref: 3 tasks were planned before this"), "how many");
    CHECK(has(run.talk, "patra plan cancel"), "what to do");
}

TEST(an_operation_that_a_source_does_not_have_is_reported)
{
    const char *store = sqlite_store("unknown");
    struct run run;

    REQUIRE(RUN("patra", "init", "--store", store).code == 0, "init");
    REQUIRE(RUN("patra", "source", "apply", "sources/crossref.yaml", "--store", store).code == 0,
            "apply");
    run = RUN("patra", "source", "show", "crossref", "harvset", "--store", store);
    CHECK_EQ(run.code, 4, "exit code");
    CHECK(has(run.talk, "no operation 'harvset'"), "which");
    run = RUN("patra", "source", "show", "crossref", "--at", "then", "--store", store);
    CHECK_EQ(run.code, 2, "no date");
}

TEST(the_reference_of_the_commands_is_true)
{
    CHECK_STR(RUN("patra", "--reference").out, test_read("docs/commands.md"),
              "docs/commands.md; make it again with patra --reference");
}

TEST(version_and_completion_can_be_asked_for)
{
    CHECK_STR(RUN("patra", "-V").out, RUN("patra", "--version").out, "-V is --version");
    CHECK_EQ(RUN("patra", "--completion", "tcsh").code, 2, "a shell that it does not know");
    CHECK_EQ(RUN("patra", "--completion").code, 2, "no shell");
}

static const char *patra(void)
{
    static char path[PATH_BYTES];
    const char *build = getenv("PATRA_BUILD");

    (void)snprintf(path, sizeof(path), "%s/patra", build != NULL ? build : "build");
    return path;
}

TEST(what_could_not_be_written_was_not_done)
{
    static const char *const commands[] = { "--version", "--help", "--reference" };

    for (size_t i = 0; i < ARRAY_LEN(commands); i++) {
        const struct run run =
            RUN("/bin/sh", "-c", "exec \"$0\" \"$1\" >/dev/full", patra(), commands[i]);

        CHECK_EQ(run.code, 3, commands[i]);
        CHECK(has(run.talk, "could not be written"), "and it says so");
    }
}

TEST(the_base_program_loads_no_heavy_library)
{
    static const char *const heavy[] = { "libpq", "libcurl", "libxml2", "libicu" };
    struct run run;

    run = RUN("/usr/bin/ldd", patra());
    REQUIRE(has(run.out, "libsqlite3"), "ldd tells");
    for (size_t i = 0; i < ARRAY_LEN(heavy); i++)
        CHECK(!has(run.out, heavy[i]), heavy[i]);
    /* gcc's sanitizer is a library written in C++. */
    CHECK(!has(run.out, "libstdc++") || has(run.out, "libubsan"), "libstdc++");
}
