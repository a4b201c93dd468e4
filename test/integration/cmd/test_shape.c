/* Responses of another shape than the source declares, as a user meets them: what `source test`
 * says before, and what a harvest says afterwards. */
#include <stdio.h>
#include <stdlib.h>

#include "child.h"
#include "cli.h"
#include "run.h"
#include "sim_source.h"
#include "sql.h"
#include "test.h"

/* ---- before: source test ---- */

static const char *saved(const char *body)
{
    static char path[512];
    FILE *file;

    (void)snprintf(path, sizeof(path), "%s/answer.json", test_folder());
    file = fopen(path, "w");
    REQUIRE(file != NULL, path);
    fputs(body, file);
    REQUIRE(fclose(file) == 0, path);
    return path;
}

#define TOKEN_SOURCE "test/data/sim-sources/generic-token.yaml"
#define HEADER_SOURCE "test/data/sim-sources/generic-header.yaml"
#define RECORD(id) "{\"id\":\"" id "\",\"updated_at\":\"2026-01-10T00:00:00Z\",\"version\":\"1\"}"

TEST(a_response_of_another_shape_is_an_error_of_source_test)
{
    static const struct {
        const char *label;
        const char *body;
        const char *words;
    } cases[] = {
        { "an object", "{\"items\":{\"code\":7},\"total\":1,\"nextToken\":null}",
          "$.items in the response is not a list" },
        { "no total", "{\"items\":[" RECORD("a") "],\"count\":9,\"nextToken\":null}",
          "there is no $.total in the response" },
        { "no token", "{\"items\":[" RECORD("a") "],\"total\":9,\"cursor\":\"x\"}",
          "response.may_be_absent: [next]" },
        { "a token that is an object",
          "{\"items\":[" RECORD("a") "],\"total\":9,\"nextToken\":{\"page\":2}}",
          "$.nextToken in the response is not a text or a number" },
        { "no ids", "{\"items\":[{\"uid\":1},{\"uid\":2}],\"total\":9,\"nextToken\":null}",
          "none of the 2 items of the page has an id at $.id" },
    };

    for (size_t i = 0; i < ARRAY_LEN(cases); i++) {
        const struct run run =
            RUN("patra", "source", "test", TOKEN_SOURCE, "--fixture", saved(cases[i].body));

        CHECK_EQ(run.code, 1, cases[i].label);
        CHECK(cli_has(run.out, cases[i].words), cases[i].label);
    }
}

TEST(source_test_warns_of_an_end_that_cannot_be_recognised)
{
    struct run run =
        RUN("patra", "source", "test", HEADER_SOURCE, "--set", "endpoints.records.page.size=1",
            "--fixture", saved("{\"items\":[" RECORD("a") "]}"));

    CHECK_EQ(run.code, 0, "it is a page");
    CHECK(cli_has(run.out, "a full last page looks like one that lost its next"), "and may not be "
                                                                                  "the last");
    run = RUN("patra", "source", "test", TOKEN_SOURCE, "--fixture",
              saved("{\"items\":[" RECORD("a") "],\"total\":1,\"nextToken\":\"b\"}"));
    CHECK_EQ(run.code, 0, "it is a page");
    CHECK(cli_has(run.out, "is what the page itself has, and there is a next"), "the total");
    run = RUN("patra", "source", "lint", HEADER_SOURCE);
    CHECK(cli_has(run.talk, "spec.response.lost-next") ||
              cli_has(run.out, "spec.response.lost-next"),
          "lint warns, too");
}

TEST(source_test_warns_of_a_date_in_the_future)
{
    struct run run = RUN(
        "patra", "source", "test", TOKEN_SOURCE, "--fixture",
        saved("{\"items\":[" RECORD("a") ",{\"id\":\"b\",\"version\":\"1\","
                                         "\"updated_at\":\"9999-12-31T00:00:00Z\"}],\"total\":2,"
                                         "\"nextToken\":null}"));

    CHECK_EQ(run.code, 0, "it is a page");
    CHECK(cli_has(run.out, "1 of 2 records have a date in the future"), run.out.data);
    run = RUN("patra", "source", "test", TOKEN_SOURCE, "--fixture",
              saved("{\"items\":[" RECORD("a") "],\"total\":1,\"nextToken\":null}"));
    CHECK(!cli_has(run.out, "in the future"), "none");
}

/* ---- afterwards: the plan, the summary, the stats ---- */

/* Pages of one record are all full, the last one, too. */
static void harvest_in_doubt(const char *store)
{
    struct sim sim = SIM_SOURCE_START("--records", "4000");
    const bool is_postgres = str_starts(str_of(store), STR("postgres"));
    char base[128];
    struct run run;

    (void)snprintf(base, sizeof(base), "http.base_url=%s", sim.base);
    REQUIRE(RUN("patra", "init", "--store", store).code == 0, "init");
    REQUIRE(RUN("patra", "source", "apply", HEADER_SOURCE, "--set", base, "--set",
                "endpoints.records.page.size=1", "--store", store)
                    .code == 0,
            "apply");
    run = RUN("patra", "harvest", "generic-header", "--from", "2026-01-10", "--to",
              "2026-01-10T06:00:00Z", "--store", store);
    CHECK_EQ(run.code, 0, run.out.data);
    CHECK(cli_has(run.out, "  doubt       1 slice with a full last page and no next"),
          "the summary");
    CHECK_EQ(sql_number(store, is_postgres ? "SELECT count(*) FROM ing_task_run WHERE"
                                             " stats::jsonb->'doubts' @> '[\"lost-next\"]'"
                                           : "SELECT count(*) FROM ing_task_run, json_each(stats,"
                                             " '$.doubts') WHERE value = 'lost-next'"),
             1, "the stats of the run");
    CHECK_EQ(sql_number(store, is_postgres
                                   ? "SELECT count(*) FROM ing_task_run_batch WHERE"
                                     " stats::jsonb->'doubts' @> '[\"lost-next\"]'"
                                   : "SELECT count(*) FROM ing_task_run_batch, json_each(stats,"
                                     " '$.doubts') WHERE value = 'lost-next'"),
             1, "and of its last batch");
    run = RUN("patra", "status", "generic-header", "--store", store);
    CHECK_EQ(run.code, 0, "it needs nobody");
    CHECK(cli_has(run.out, "  doubt  1 slice with a full last page and no next"), "the status");
    run = RUN("patra", "status", "generic-header", "--json", "--store", store);
    CHECK_STR(cli_value(run.out, "sources.0.doubts.0.doubt"), STR("lost-next"), "for programs");
    CHECK_EQ(cli_number(run.out, "sources.0.doubts.0.slices"), 1, "how many");
    run = RUN("patra", "plan", "show", "1", "--json", "--store", store);
    CHECK(cli_has(run.out, "a full last page looks like one that lost its next"),
          "a remark of the plan");
    CHECK(cli_has(run.out, "lastPageByAbsentNext"), "that can be searched for");
    sim_stop(&sim);
}

TEST(a_full_last_page_without_a_next_is_reported_on_sqlite)
{
    harvest_in_doubt(cli_sqlite("doubt"));
}

TEST(a_full_last_page_without_a_next_is_reported_on_postgres)
{
    harvest_in_doubt(cli_postgres());
}
