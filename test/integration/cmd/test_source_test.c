/* patra source test, as a user runs it: the request, recorded answers, patra-sim, and its faults.
 */
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "child.h"
#include "cli.h"
#include "data/json.h"
#include "run.h"
#include "test.h"

enum { PATH_BYTES = 512 };

static const char *recorded(const char *fixture)
{
    const char *path = test_shared(fixture);

    if (path == NULL)
        TEST_SKIP("the fixtures are not here");
    return path;
}

TEST(the_request_is_shown_without_its_secrets_and_not_sent)
{
    struct run run;

    REQUIRE(setenv("PATRA_CONTACT", "somebody@example.org", 1) == 0, "environment");
    REQUIRE(setenv("OPENALEX_API_KEY", "s3cr3t-k3y", 1) == 0, "environment");
    run = RUN("patra", "source", "test", "sources/openalex.yaml", "--from", "2026-01-10", "--to",
              "2026-01-11");
    CHECK_EQ(run.code, 0, "exit code");
    CHECK(cli_has(run.out,
                  "GET https://api.openalex.org/works?filter=from_updated_date%3A2026-01-10T"
                  "00%3A00%3A00.000000%2Cto_updated_date%3A2026-01-10T23%3A59%3A59.999999&"
                  "per_page=100&cursor=%2A\n"),
          "the request");
    CHECK(cli_has(run.out, "env:OPENALEX_API_KEY"), "where the credential is");
    CHECK(!cli_has(run.out, "s3cr3t-k3y") && !cli_has(run.out, "somebody@"), "and not what it is");
    CHECK(cli_has(run.out, "Nothing was sent"), "and it says so");
    REQUIRE(unsetenv("PATRA_CONTACT") == 0, "environment");
    run = RUN("patra", "source", "test", "sources/openalex.yaml");
    CHECK(cli_has(run.out, "env:PATRA_CONTACT is not set"), "what is not set");
}

TEST(recorded_answers_are_shown_as_they_are_read)
{
    struct run run = RUN("patra", "source", "test", "sources/crossref.yaml", "--fixture",
                         recorded("fixtures/crossref/works-cursor-1.json"));

    CHECK_EQ(run.code, 0, "exit code");
    CHECK(cli_has(run.out, "page     20 items: 20 records, 0 bad"), "the page");
    CHECK(cli_has(run.out, "next     token "), "what follows");
    CHECK(cli_has(run.out, "20 of 20 records are dated outside of the window"),
          "the recording is of another day");
    CHECK(!cli_has(run.out, "left out"), "and patra leaves none of them out");
    run = RUN("patra", "source", "test", "sources/crossref.yaml", "--operation", "updat");
    CHECK_EQ(run.code, 4, "it has none of that name");
    CHECK(cli_has(run.talk, "did you mean update?; its operations: harvest, backfill"),
          "but these");
    run = RUN("patra", "source", "test", "sources/pubmed.yaml", "--fixture",
              recorded("fixtures/pubmed/esearch-json.json"));
    CHECK(cli_has(run.out, "page     25 items; total 65\n"), "a page of ids");
    CHECK(cli_has(run.out, "ids      41974676 "), "the first of them");
    run = RUN("patra", "source", "test", "sources/arxiv.yaml", "--fixture",
              recorded("fixtures/arxiv/oai-listrecords.xml"));
    CHECK_EQ(run.code, 0, "exit code");
    CHECK(cli_has(run.out, "oai:arXiv.org:1412.8544"), "XML");
    CHECK(cli_has(run.out, "completeness cannot be proven"), "no total");
    CHECK(cli_has(run.out, "day precision"), "days");
    run = RUN("patra", "source", "test", "sources/arxiv.yaml", "--operation", "update", "--id",
              "oai:arXiv.org:1810.09584", "--fixture", recorded("fixtures/arxiv/oai-arxivraw.xml"));
    CHECK_EQ(run.code, 0, "exit code");
    CHECK(cli_has(run.out, "identifier=oai%3AarXiv.org%3A1810.09584"), "asked by id");
    CHECK(cli_has(run.out, "2019-01-15T00:00:00Z"), "its date");
}

/* Counted by another program: 18 of the 20 works have a year, 19 a journal, 16 an author with a
 * family name, 3 several; one is cited more than once. */
TEST(fields_are_counted_and_a_path_that_finds_nothing_is_pointed_out)
{
    const char *file = recorded("fixtures/crossref/works-cursor-1.json");
    struct run run = RUN("patra", "source", "test", "sources/crossref.yaml", "--fixture", file);

    CHECK(cli_has(run.out, "\nyear       integer  18 of 20  0 "), run.out.data);
    CHECK(cli_has(run.out, "\ncontainer  text     19 of 20  0 "), "journals");
    CHECK(!cli_has(run.out, "finds nothing"), "all are found");
    run = RUN("patra", "source", "test", "sources/crossref.yaml", "--fixture", file, "--set",
              "endpoints.works.fields.year={path: $.anno, type: integer}", "--set",
              "endpoints.works.fields.cited_by.type=boolean", "--set",
              "endpoints.work.fields.cited_by.type=boolean", "--set",
              "endpoints.works.fields.title={path: '$.author[*].family', type: text}");
    CHECK_EQ(run.code, 1, "one is bad");
    CHECK(cli_has(run.out, "\ncited_by   boolean  20 of 20  1 "), run.out.data);
    CHECK(cli_has(run.out, "\ntitle      text     16 of 20  0           3\n"), "authors");
    CHECK(cli_has(run.out,
                  "fields.year ($.anno) finds nothing in any of the 19 records: is it right?"),
          "a path that is wrong");
}

/* What curl -iL writes: each head that it received, and the last body. */
static const char *as_curl_saves(const char *recording)
{
    static char path[512];
    char bytes[4096];
    FILE *from = fopen(recording, "rb"), *to;
    size_t len;

    (void)snprintf(path, sizeof(path), "%s/curl.txt", test_folder());
    to = fopen(path, "wb");
    REQUIRE(from != NULL && to != NULL, path);
    (void)fputs("HTTP/1.1 100 Continue\r\n\r\nHTTP/2 301 \r\nlocation: /works\r\n\r\n"
                "HTTP/2 200 \r\nstatus: 503 as the cache saw it\r\n"
                "content-type: application/json\r\n\r\n",
                to);
    while ((len = fread(bytes, 1, sizeof(bytes), from)) > 0)
        REQUIRE(fwrite(bytes, 1, len, to) == len, path);
    (void)fclose(from);
    REQUIRE(fclose(to) == 0, path);
    return path;
}

TEST(a_response_saved_by_curl_is_read_after_its_last_head)
{
    const char *file = as_curl_saves(recorded("fixtures/crossref/works-cursor-1.json"));
    struct run run = RUN("patra", "source", "test", "sources/crossref.yaml", "--fixture", file);

    CHECK_EQ(run.code, 0, "exit code");
    CHECK(cli_has(run.out, "response status 200"), "the last status line");
    CHECK(cli_has(run.out, "page     20 items: 20 records, 0 bad"), "the page");
}

TEST(an_empty_page_with_other_elements_is_pointed_out)
{
    char path[PATH_BYTES];
    FILE *file;
    struct run run;

    (void)snprintf(path, sizeof(path), "%s/note.xml", test_folder());
    file = fopen(path, "wb");
    REQUIRE(file != NULL, path);
    (void)fputs("<OAI-PMH xmlns=\"http://www.openarchives.org/OAI/2.0/\"><ListRecords>"
                "<note/><resumptionToken/></ListRecords></OAI-PMH>",
                file);
    REQUIRE(fclose(file) == 0, path);
    run = RUN("patra", "source", "test", "test/data/fetch/oai.yaml", "--fixture", path);
    CHECK_EQ(run.code, 0, "a valid page");
    CHECK(cli_has(run.out, "page     0 items"), "without items");
    CHECK(cli_has(run.out, "is response.items right? It finds nothing, and the place where it "
                           "searches has \"note\", \"resumptionToken\" of the namespace "
                           "\"http://www.openarchives.org/OAI/2.0/\""),
          "and what is there");
    run = RUN("patra", "source", "test", "test/data/fetch/oai.yaml", "--fixture",
              recorded("fixtures/arxiv/oai-listrecords.xml"));
    CHECK(!cli_has(run.out, "is response.items right"), "not where there are items");
}

TEST(an_answer_that_is_no_page_says_what_it_is)
{
    struct run run = RUN("patra", "source", "test", "sources/openalex.yaml", "--fixture",
                         recorded("fixtures/openalex/transcribed/error-429-plan.json"));

    CHECK_EQ(run.code, 1, "exit code");
    CHECK(cli_has(run.out, "response status 429"), "the status, from the file beside it");
    CHECK(cli_has(run.out, "by the rule plan") && cli_has(run.out, "L4"),
          "which rule, and how bad");
    run = RUN("patra", "source", "test", "sources/arxiv.yaml", "--fixture",
              recorded("fixtures/oai/pcurio-not-wellformed.xml"), "--json");
    CHECK_EQ(run.code, 1, "exit code");
    CHECK(json_is_valid(run.out), "JSON");
    CHECK(cli_has(run.out, "\"code\":\"answer.syntax\""), "its code");
}

TEST(a_request_goes_out_once_and_never_for_a_paused_source)
{
    static const char *const options[] = { "--records", "6000", NULL };
    const char *store = cli_sqlite("live");
    char base[128];
    struct run run;
    struct sim sim;

    REQUIRE(sim_start(&sim, options), "patra-sim");
    (void)snprintf(base, sizeof(base), "http.base_url=%s", sim.base);
    run = RUN("patra", "source", "test", "test/data/sim-sources/generic-token.yaml", "--set", base,
              "--live", "--from", "2026-01-10", "--to", "2026-01-13");
    CHECK_EQ(run.code, 0, "a file");
    CHECK(cli_has(run.out, "page     40 items: 40 records, 0 bad"), "the page");
    REQUIRE(RUN("patra", "init", "--store", store).code == 0, "init");
    REQUIRE(RUN("patra", "source", "apply", "--store", store, "--set", base,
                "test/data/sim-sources/generic-token.yaml")
                    .code == 0,
            "apply");
    run = RUN("patra", "source", "test", "generic-token", "--store", store, "--live", "--from",
              "2026-01-10", "--to", "2026-01-13", "--json");
    CHECK_EQ(run.code, 0, "a name");
    CHECK(json_is_valid(run.out) && cli_has(run.out, "\"hasNext\":true"), "the page as JSON");
    run = RUN("patra", "source", "test", "generic-token", "--store", store, "--live", "--from",
              "2026-01-10", "--to", "2026-01-13", "--set", "endpoints.records.page.size=7");
    CHECK(cli_has(run.out, "page     7 items"), "a source of the Registry, changed for once");
    REQUIRE(
        RUN("patra", "pause", "--store", store, "generic-token", "--reason", "moving house").code ==
            0,
        "pause");
    run = RUN("patra", "source", "test", "generic-token", "--store", store, "--live");
    CHECK_EQ(run.code, 4, "refused");
    (void)snprintf(base, sizeof(base), "%s/_sim/audit", sim.base);
    CHECK(cli_has(RUN("/usr/bin/curl", "-s", base).out, "{\"summary\":{\"requests\":3,"),
          "three were asked for, and three were sent");
    CHECK(cli_has(run.talk, "moving house") && cli_has(run.talk, "patra resume generic-token"),
          "why, and what to do");
    sim_stop(&sim);
}

TEST(parts_by_ids_are_shown_and_their_ends_can_be_tried)
{
    static const char *const options[] = { "--records", "6000", NULL };
    struct run run;
    struct sim sim;
    char base[128];

    REQUIRE(setenv("PATRA_CONTACT", "somebody@example.org", 1) == 0, "environment");
    REQUIRE(sim_start(&sim, options), "patra-sim");
    (void)snprintf(base, sizeof(base), "http.base_url=%s/entrez/eutils", sim.base);
#define TEST_PUBMED(...)                                                          \
    RUN("patra", "source", "test", "sources/pubmed.yaml", "--set", base, "--set", \
        "http.allow_plain_http=true", "--from", "2026-01-10", "--to", "2026-01-11", __VA_ARGS__)
    run = TEST_PUBMED("--json");
    CHECK(cli_has(run.out, "\"partRequest\":{\"method\":\"GET\""), "how a part would be asked for");
    run = TEST_PUBMED("--set", "endpoints.search.page.cap=10", "--set",
                      "endpoints.search.page.size=10", "--live");
    CHECK(cli_has(run.out, "is split by ids; ids up to 49999999:\nGET "), "says so");
    CHECK(cli_has(run.out, "%20AND%201%3A49999999%5BUID%5D&"), "and shown");
    CHECK(cli_has(run.out,
                  "is above page.cap, and the window cannot be shorter: it will be cut by ids"),
          "what will become of this one");
    run = TEST_PUBMED(
        "--set", "endpoints.search.page.cap=10", "--set", "endpoints.search.page.size=10", "--set",
        "endpoints.search.page.id_max=", "--set", "endpoints.search.page.id_min=", "--live");
    CHECK(cli_has(run.out, "records come, and the cursor stays before it"),
          "and what without a range");
    run = TEST_PUBMED("--set", "endpoints.search.page.id_max=20000000", "--live");
    CHECK(cli_has(run.out, "which is not between page.id_min and page.id_max"), "a wrong bound");
    run = TEST_PUBMED("--id", "30000000", "--id", "30005999", "--live");
    CHECK(cli_has(run.out, "2026-01-11T00:00:00Z, ids 30000000 to 30005999\n"), "a range");
    CHECK(!cli_has(run.out, "none came") && !cli_has(run.out, "outside"), "all are in it");
    run = TEST_PUBMED("--id", "1", "--id", "29999999", "--live");
    CHECK(cli_has(run.out, "none of the requested ids came"), "and none in this one");
    run = TEST_PUBMED("--id", "30000000", "--id", "30000000", "--set",
                      "endpoints.search.expr.define.part= AND ${slice.from}:${slice.to}9[UID]",
                      "--live");
    CHECK(cli_has(run.out, "outside of the ids that were requested"), "a clause that is not right");
    run = TEST_PUBMED("--id", "7", "--id", "3");
    CHECK_EQ(run.code, 2, "a range that is none");
    CHECK(cli_has(run.talk, "between 1 and 99999999"), "what is");
#undef TEST_PUBMED
    sim_stop(&sim);
}

static const struct {
    const char *file;
    const char *whole; /* how it begins */
} trials[] = {
    { "test/data/sim-sources/generic-token.yaml",
      "generic-token harvest against patra-sim's generic" },
    { "sources/crossref.yaml", "crossref harvest against patra-sim's crossref" },
    { "sources/pubmed.yaml", "pubmed harvest against patra-sim's pubmed" },
    { "sources/arxiv.yaml", "arxiv harvest against patra-sim's arxiv" },
};

TEST(faults_are_tried_one_by_one)
{
    for (size_t i = 0; i < ARRAY_LEN(trials); i++) {
        const struct run run = RUN("patra", "source", "test", trials[i].file, "--faults");

        CHECK_EQ(run.code, 0, trials[i].file);
        CHECK(str_starts(run.out, str_of(trials[i].whole)), trials[i].file);
        CHECK(cli_has(run.out, "recovered, retried"), trials[i].file);
        CHECK(!cli_has(run.out, "WRONG"), trials[i].file);
        if (strcmp(trials[i].file, "sources/pubmed.yaml") == 0)
            CHECK(!cli_has(run.out, "PARTIAL"), "no id is given up because an answer was empty");
        if (run.code != 0)
            test_note("%.*s%.*s", STR_ARG(run.out), STR_ARG(run.talk));
    }
}

/* Where no date is read, a record that has lost its own is taken as it is: nothing is lost, and no
 * walk could notice. Europe PMC tells no date of change. */
TEST(what_a_source_cannot_notice_is_a_limit_and_not_a_failure)
{
    static const char *const files[] = { "sources/europepmc.yaml",
                                         "test/data/sim-sources/generic-header.yaml" };

    for (size_t i = 0; i < ARRAY_LEN(files); i++) {
        const struct run run =
            RUN("patra", "source", "test", files[i], "--faults", "--json", "--set",
                i == 0 ? "rate.burst=1" : "endpoints.records.response.updated_at=");

        CHECK_EQ(run.code, 0, files[i]);
        CHECK(cli_has(run.out,
                      "{\"fault\":\"a record without date\",\"outcome\":\"not to be noticed\""),
              "says so");
        CHECK(cli_has(run.out, "no response.updated_at"), "and why");
        CHECK(!cli_has(run.out, "WRONG"), files[i]);
    }
}

/* One who tries a source by hand, and everybody else, is silent when it asks for that. */
TEST(a_retry_after_that_a_test_met_silences_all)
{
    static const char *const options[] = { "--records", "2000", "--fault",
                                           "nth=1 kind=status code=429 retry_after=600", NULL };
    const char *store = cli_sqlite("silence");
    char base[128];
    struct run run;
    struct sim sim;

    REQUIRE(sim_start(&sim, options), "patra-sim");
    (void)snprintf(base, sizeof(base), "http.base_url=%s", sim.base);
    REQUIRE(RUN("patra", "init", "--store", store).code == 0, "init");
    REQUIRE(RUN("patra", "source", "apply", "--store", store, "--set", base,
                "test/data/sim-sources/generic-token.yaml")
                    .code == 0,
            "apply");
    run = RUN("patra", "source", "test", "generic-token", "--store", store, "--live");
    CHECK_EQ(run.code, 1, "it was refused");
    run = RUN("patra", "source", "test", "generic-token", "--store", store, "--live");
    CHECK_EQ(run.code, 3, "not now");
    CHECK(cli_has(run.talk, "no permit"), "why");
    (void)snprintf(base, sizeof(base), "%s/_sim/audit", sim.base);
    CHECK(cli_has(RUN("/usr/bin/curl", "-s", base).out, "{\"summary\":{\"requests\":1,"),
          "one request, then silence");
    sim_stop(&sim);
}

TEST(mistakes_are_answered_with_what_to_do)
{
    struct run run = RUN("patra", "source", "test", "sources/crossref.yaml", "--live", "--faults");

    CHECK_EQ(run.code, 2, "two tests at once");
    run = RUN("patra", "source", "test", "sources/crossref.yaml", "--operation", "update");
    CHECK_EQ(run.code, 2, "no id");
    CHECK(cli_has(run.talk, "--id"), "what is missing");
    run = RUN("patra", "source", "test", "sources/crossref.yaml", "--faults", "--protocol", "ftp");
    CHECK_EQ(run.code, 2, "no such protocol");
    CHECK(cli_has(run.talk, "crossref, pubmed"), "which there are");
    run = RUN("patra", "source", "test", "sources/crossref.yaml", "--from", "whenever");
    CHECK_EQ(run.code, 2, "no date");
    run = RUN("patra", "source", "test", "test/data/spec/ten-faults.yaml");
    CHECK_EQ(run.code, 1, "a file with faults");
    CHECK(cli_has(run.talk, "nothing was tested"), "says so");
}
