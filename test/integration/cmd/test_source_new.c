/* patra source new, source test --pages and source remove, as a user runs them: an API that no file
 * describes is described, walked, harvested, and taken out of force again. */
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "child.h"
#include "cli.h"
#include "data/json.h"
#include "run.h"
#include "sim_source.h"
#include "sql.h"
#include "test.h"

enum { PATH_BYTES = 512 };

static const char *in_folder(const char *name)
{
    static char paths[4][PATH_BYTES];
    static int next;
    char *path = paths[next++ % 4];

    (void)snprintf(path, PATH_BYTES, "%s/%s", test_folder(), name);
    return path;
}

static const char *url_of(const struct sim *sim, const char *rest)
{
    static char url[PATH_BYTES];

    (void)snprintf(url, sizeof(url), "%s%s", sim->base, rest);
    return url;
}

static int64_t requests_of(const struct sim *sim)
{
    return cli_number(RUN("/usr/bin/curl", "-s", url_of(sim, "/_sim/audit")).out,
                      "summary.requests");
}

static void write_file(const char *path, const char *text)
{
    FILE *file = fopen(path, "wb");

    REQUIRE(file != NULL && fputs(text, file) >= 0 && fclose(file) == 0, path);
}

/* ---- new ---- */

/* The list of an API becomes a source, and the source brings every record: as many as one that was
 * written by hand. Only what the answer cannot show is corrected: the end is exclusive. */
static void described_and_harvested(const char *store)
{
    struct sim sim = SIM_SOURCE_START("--records", "4000");
    const char *file = in_folder("mine.yaml");
    int64_t before;
    struct run run;

    (void)unlink(file);
    REQUIRE(RUN("patra", "init", "--store", store).code == 0, "init");
    before = requests_of(&sim);
    run = RUN("patra", "source", "new", "mine", "--store", store, "--output", file, "--url",
              url_of(&sim, "/generic/offset?offset=0&limit=40&from=2026-02-01T00:00:00Z"
                           "&to=2026-02-11T00:00:00Z&api_key=hunter2"));
    CHECK_EQ(run.code, 0, "exit code");
    CHECK_EQ(requests_of(&sim), before + 1, "one request");
    CHECK(cli_has(run.talk, "items      $.items"), "what was guessed");
    CHECK(!cli_has(run.talk, "hunter2") && !cli_has(test_read(file), "hunter2"), "the secret");
    CHECK(cli_has(test_read(file), "env:MINE_API_KEY"), "where it is to be");
    CHECK(sql_number(store, "SELECT count(*) FROM ing_rate_gate") > 0, "it passed the gate");
    REQUIRE(setenv("MINE_API_KEY", "hunter2", 1) == 0, "environment");
    run = RUN("patra", "source", "lint", file);
    CHECK_EQ(run.code, 0, "no errors");
    run = RUN("patra", "source", "apply", file, "--store", store, "--set",
              "endpoints.offset.query.to=${window.to}", "--set", "rate.per_second=1000", "--set",
              "rate.burst=1000", "--set", "rate.scope=endpoint");
    CHECK_EQ(run.code, 0, "applied");
    run = RUN("patra", "harvest", "mine", SIM_SOURCE_WINDOW, "--store", store);
    CHECK_EQ(run.code, 0, "harvested");
    sim_source_apply(store, &sim, "rate.burst=100");
    REQUIRE(RUN("patra", "harvest", SIM_SOURCE_NAME, SIM_SOURCE_WINDOW, "--store", store).code == 0,
            "by hand");
    CHECK_EQ(sql_number(store, "SELECT count(*) FROM ing_record WHERE provenance_code = 'mine'"),
             sql_number(store, "SELECT count(*) FROM ing_record WHERE provenance_code = "
                               "'" SIM_SOURCE_NAME "'"),
             "the same records");
    CHECK(sql_number(store, "SELECT count(*) FROM ing_record WHERE provenance_code = 'mine'") > 100,
          "and many");
    sim_stop(&sim);
}

TEST(what_was_guessed_is_harvested_on_sqlite)
{
    described_and_harvested(cli_sqlite("new"));
}

TEST(what_was_guessed_is_harvested_on_postgres)
{
    described_and_harvested(cli_postgres());
}

TEST(a_saved_answer_needs_no_request)
{
    const char *answer = in_folder("answer.txt"), *file = in_folder("saved.yaml");
    struct run run;

    write_file(answer, "HTTP/2 200\nlink: <https://a.example/x?p=2>; rel=next\n\n"
                       "[{\"id\":1,\"modified\":\"2026-01-01\"},{\"id\":2,"
                       "\"modified\":\"2026-01-02\"}]");
    run =
        RUN("patra", "source", "new", "saved", "--url", "https://a.example/x", "--sample", answer);
    CHECK_EQ(run.code, 0, "exit code");
    CHECK(cli_has(run.out, "next_header: Link"), "the file is the output");
    CHECK(cli_has(run.talk, "not guessed\n  total:"), "what is missing is reported");
    run = RUN("patra", "source", "new", "saved", "--url", "https://a.example/x", "--sample", answer,
              "--output", file);
    CHECK_EQ(run.code, 0, "written");
    CHECK_EQ(RUN("patra", "source", "lint", file).code, 0, "no errors");
    run = RUN("patra", "source", "new", "saved", "--url", "https://a.example/x", "--sample", answer,
              "--output", file);
    CHECK_EQ(run.code, 4, "never over a file");
    CHECK(cli_has(run.talk, "exists; remove it, or name another"), "why, and what to do");
}

TEST(what_cannot_be_guessed_from_is_refused)
{
    const char *answer = in_folder("bad.txt");
    struct run run;

    run = RUN("patra", "source", "new", "a b", "--url", "https://a.example/x", "--sample", answer);
    CHECK_EQ(run.code, 2, "a name that is none");
    run = RUN("patra", "source", "new", "x");
    CHECK_EQ(run.code, 2, "without a URL");
    CHECK(cli_has(run.talk, "--url is missing"), "and why");
    write_file(answer, "HTTP/2 404\n\n{\"error\":\"key hunter2 unknown\"}");
    run = RUN("patra", "source", "new", "x", "--url", "https://a.example/x?api_key=hunter2",
              "--sample", answer);
    CHECK_EQ(run.code, 4, "not a page");
    CHECK(cli_has(run.talk, "bad.txt: status 404; give the address"), "where, and what to do");
    CHECK(!cli_has(run.talk, "hunter2"), "no secret");
    write_file(answer, "<html><body>Welcome</body></html>");
    run = RUN("patra", "source", "new", "x", "--url", "https://a.example/x", "--sample", answer);
    CHECK_EQ(run.code, 4, "a later try would find the same");
    CHECK(cli_has(run.talk, "bad.txt: not a page of a list") && cli_has(run.talk, "HTML page"),
          "what it is");
    run = RUN("patra", "source", "new", "x", "--url", "https://u:hunter2@[", "--sample", answer);
    CHECK(run.code != 0 && !cli_has(run.talk, "hunter2"), "a URL that is none is not repeated");
    write_file(answer, "{\"a\":1}");
    run = RUN("patra", "source", "new", "x", "--url", "https://a.example/x", "--sample", answer);
    CHECK_EQ(run.code, 1, "no list");
    CHECK(cli_has(run.out, "$.TODO"), "but a file to begin with");
}

TEST(an_address_without_a_list_is_named)
{
    struct sim sim = SIM_SOURCE_START("--records", "10");
    struct run run;

    run = RUN("patra", "source", "new", "x", "--url", url_of(&sim, "/nothing?api_key=hunter2"));
    CHECK_EQ(run.code, 4, "exit code");
    CHECK(cli_has(run.talk, "patra: GET http://127.0.0.1:") &&
              cli_has(run.talk, "/nothing: status 404; give the address"),
          "where, what, and what to do");
    CHECK(!cli_has(run.talk, "hunter2"), "no secret");
    sim_stop(&sim);
}

/* ---- test --pages ---- */

TEST(pages_are_walked_and_paths_that_find_nothing_are_told)
{
    struct sim sim = SIM_SOURCE_START("--records", "6000");
    char base[128];
    int64_t before;
    struct run run;

    (void)snprintf(base, sizeof(base), "http.base_url=%s", sim.base);
    before = requests_of(&sim);
    run = RUN("patra", "source", "test", "test/data/sim-sources/generic-token.yaml", "--set", base,
              "--live", "--from", "2026-01-10", "--to", "2026-01-13", "--pages", "3", "--json",
              "--all");
    CHECK_EQ(run.code, 0, "exit code");
    CHECK_EQ(requests_of(&sim), before + 3, "three requests");
    CHECK_EQ(cli_number(run.out, "pages.2.items"), 40, "the third page");
    CHECK(cli_value(run.out, "pages.2.records.39.id").len > 0, "all of its records");
    CHECK(!str_eq(cli_value(run.out, "pages.0.records.0.id"),
                  cli_value(run.out, "pages.1.records.0.id")),
          "other ones");
    run = RUN("patra", "source", "test", "test/data/sim-sources/generic-offset.yaml", "--set", base,
              "--set", "endpoints.records.fields.type=$.created_at", "--live", "--from",
              "2026-01-10", "--to", "2026-01-10T06:00:00Z", "--pages", "100");
    CHECK(cli_has(run.out, "next     none: total"), "to the end of the list");
    CHECK(!cli_has(run.out, "finds nothing"), "all paths find something");
    run = RUN("patra", "source", "test", "test/data/sim-sources/generic-offset.yaml", "--set", base,
              "--set", "endpoints.records.fields.title=$.titel", "--set",
              "endpoints.records.fields.type=$.created_at", "--live", "--from", "2026-01-10",
              "--to", "2026-01-13", "--pages", "2");
    CHECK(cli_has(run.out, "fields.title ($.titel) finds nothing in any of the "),
          "a name that was mistyped");
    CHECK(!cli_has(run.out, "fields.type"), "and only that");
    sim_stop(&sim);
    run =
        RUN("patra", "source", "test", "test/data/sim-sources/generic-token.yaml", "--pages", "3");
    CHECK_EQ(run.code, 2, "--pages is for --live");
}

TEST(a_full_page_without_a_next_and_a_total_is_told)
{
    const char *answer = in_folder("bare.json");
    struct run run;

    write_file(answer, "{\"items\":[{\"id\":\"a\",\"updated_at\":\"2026-01-10T00:00:00Z\"},"
                       "{\"id\":\"b\",\"updated_at\":\"2026-01-10T00:00:01Z\"}]}");
    run = RUN("patra", "source", "test", "test/data/sim-sources/generic-token.yaml", "--set",
              "endpoints.records.response.total=", "--set",
              "endpoints.records.response.may_be_absent=next", "--set",
              "endpoints.records.page.size=2", "--set", "endpoints.records.page.size_min=1",
              "--fixture", answer);
    CHECK(cli_has(run.out, "the page is full and has no next, and there is no total"), "a doubt");
}

/* ---- remove ---- */

static int64_t count(const char *store, const char *what)
{
    char sql[PATH_BYTES];

    (void)snprintf(sql, sizeof(sql), "SELECT count(*) FROM %s", what);
    return sql_number(store, sql);
}

#define OF_SOURCE " WHERE provenance_code = '" SIM_SOURCE_NAME "'"

static void removed_and_applied_again(const char *store)
{
    struct sim sim = SIM_SOURCE_START("--records", "4000");
    int64_t records;
    struct run run;

    sim_source_apply(store, &sim, "rate.burst=100");
    REQUIRE(RUN("patra", "harvest", SIM_SOURCE_NAME, SIM_SOURCE_WINDOW, "--store", store).code == 0,
            "harvest");
    REQUIRE(RUN("patra", "trigger", SIM_SOURCE_NAME, "--from", "2026-02-11", "--to", "2026-02-14",
                "--store", store)
                    .code == 0,
            "trigger");
    records = count(store, "ing_record" OF_SOURCE);
    run = RUN("patra", "source", "remove", SIM_SOURCE_NAME, "--store", store);
    CHECK_EQ(run.code, 2, "there is no terminal");
    CHECK(cli_has(run.talk, "3 waiting will be cancelled"), "what it would do");
    CHECK_EQ(count(store, "reg_provenance" OF_SOURCE " AND effective_to IS NULL"), 1, "not done");
    run = RUN("patra", "source", "remove", "nothing", "--yes", "--store", store);
    CHECK_EQ(run.code, 4, "an unknown source");
    run = RUN("patra", "source", "remove", SIM_SOURCE_NAME, "--yes", "--store", store);
    CHECK_EQ(run.code, 0, "removed");
    CHECK(cli_has(run.out, "3 tasks cancelled"), "what was done");
    CHECK_EQ(count(store, "reg_provenance" OF_SOURCE " AND effective_to IS NULL"), 0, "ended");
    CHECK_EQ(count(store, "reg_prov_endpoint_def" OF_SOURCE " AND effective_to IS NULL"), 0,
             "all of its rows");
    CHECK(count(store, "reg_provenance" OF_SOURCE) > 0, "and not deleted");
    CHECK_EQ(count(store, "ing_task" OF_SOURCE " AND status_code = 'QUEUED'"), 0, "nothing waits");
    CHECK_EQ(count(store, "ing_record" OF_SOURCE), records, "the records stay");
    CHECK_EQ(RUN("patra", "trigger", SIM_SOURCE_NAME, "--store", store).code, 4, "nothing runs");
    CHECK(!cli_has(RUN("patra", "source", "list", "--store", store).out, SIM_SOURCE_NAME),
          "not listed");
    CHECK_EQ(RUN("patra", "source", "remove", SIM_SOURCE_NAME, "--yes", "--store", store).code, 4,
             "there is nothing left to remove");
    sim_source_apply(store, &sim, "rate.burst=100");
    CHECK_EQ(sql_number(store, "SELECT max(version) FROM reg_provenance" OF_SOURCE
                               " AND effective_to IS NULL"),
             2, "a later version");
    REQUIRE(RUN("patra", "harvest", SIM_SOURCE_NAME, SIM_SOURCE_WINDOW, "--store", store).code == 0,
            "again");
    CHECK_EQ(sim_source_verify(store, &sim).code, 0, "as if nothing had happened");
    sim_stop(&sim);
}

TEST(a_removed_source_runs_no_more_on_sqlite)
{
    removed_and_applied_again(cli_sqlite("remove"));
}

TEST(a_removed_source_runs_no_more_on_postgres)
{
    removed_and_applied_again(cli_postgres());
}

static void records_deleted(const char *store)
{
    struct sim sim = SIM_SOURCE_START("--records", "4000");
    int64_t live, events, back;
    struct run run;

    sim_source_apply(store, &sim, "rate.burst=100");
    REQUIRE(RUN("patra", "harvest", SIM_SOURCE_NAME, SIM_SOURCE_WINDOW, "--store", store).code == 0,
            "harvest");
    live = count(store, "ing_record" OF_SOURCE " AND NOT deleted");
    events = count(store, "ing_outbox");
    CHECK(live > 100, "records");
    run =
        RUN("patra", "source", "remove", SIM_SOURCE_NAME, "--with-data", "--yes", "--store", store);
    CHECK_EQ(run.code, 0, "removed");
    CHECK_EQ(count(store, "ing_record" OF_SOURCE " AND NOT deleted"), 0, "none is left");
    CHECK_EQ(count(store, "ing_record JOIN ing_record_content ON record_id = id" OF_SOURCE
                          " AND updated_at IS NULL AND length(payload) = 0"),
             live, "emptied");
    CHECK_EQ(count(store, "ing_outbox"), events + live, "an event for each, and none removed");
    CHECK_EQ(count(store, "ing_outbox AS e JOIN ing_record AS r ON e.record_id = r.id"
                          " AND e.version = r.version WHERE e.event_type = 'RecordDeleted'"
                          " AND r.updated_at IS NULL"),
             live, "of the version that the record has");
    /* They come back as later versions. */
    sim_source_apply(store, &sim, "rate.burst=100");
    REQUIRE(
        RUN("patra", "trigger", SIM_SOURCE_NAME, "backfill", SIM_SOURCE_WINDOW, "--store", store)
                .code == 0,
        "backfill");
    REQUIRE(RUN("patra", "work", "--drain", "--store", store).code == 0, "work");
    back = count(store, "ing_record" OF_SOURCE " AND NOT deleted AND version >= 3");
    CHECK_EQ(back, live, "all of them");
    sim_stop(&sim);
}

TEST(records_are_deleted_with_their_source_on_sqlite)
{
    records_deleted(cli_sqlite("with_data"));
}

TEST(records_are_deleted_with_their_source_on_postgres)
{
    records_deleted(cli_postgres());
}

TEST(a_source_with_running_tasks_is_not_removed)
{
    const char *store = cli_with_daily(cli_sqlite("running"));
    struct run run;

    REQUIRE(RUN("patra", "trigger", "daily", "--from", "2026-01-01", "--to", "2026-01-03",
                "--store", store)
                    .code == 0,
            "trigger");
    sql_run(store, "UPDATE ing_task SET status_code = 'EXECUTING', lease_owner = 'somebody',"
                   " leased_until = 4102444800000000 WHERE id = (SELECT min(id) FROM ing_task)");
    run = RUN("patra", "source", "remove", "daily", "--yes", "--store", store);
    CHECK_EQ(run.code, 3, "later");
    CHECK(cli_has(run.talk, "1 task of daily is under way"), "why");
    CHECK_EQ(sql_number(store, "SELECT count(*) FROM reg_provenance WHERE effective_to IS NULL"), 1,
             "it is in force");
    CHECK_EQ(sql_number(store, "SELECT count(*) FROM ing_task WHERE status_code = 'CANCELLED'"), 0,
             "nothing was cancelled");
    /* A worker that died is not waited for. */
    sql_run(store, "UPDATE ing_task SET leased_until = 1 WHERE lease_owner = 'somebody'");
    run = RUN("patra", "source", "remove", "daily", "--yes", "--store", store);
    CHECK_EQ(run.code, 0, "removed");
}
