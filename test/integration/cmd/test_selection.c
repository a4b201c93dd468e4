/* Parameters that select records, as a user sets them, against the simulator: its books say what
 * must be in the store. */
#include <stdio.h>
#include <stdlib.h>

#include "cli.h"
#include "run.h"
#include "sim_source.h"
#include "sql.h"
#include "test.h"

/* The source filters by the date of the last change, or by that of the first, as params.by says. */
#define BY(field) "params.by=" field
#define IN_QUERY "endpoints.records.query.field=${params.by}"

static struct run apply(const char *store, const struct sim *sim, const char *by)
{
    char url[512];

    (void)snprintf(url, sizeof(url), "http.base_url=%s", sim->base);
    REQUIRE(RUN("patra", "init", "--store", store).code == 0, "init");
    return RUN("patra", "source", "apply", "test/data/sim-sources/generic-offset.yaml", "--store",
               store, "--set", url, "--set", "rate.adaptive=false", "--set", IN_QUERY, "--set", by);
}

/* Before: the first harvest covered the windows of the second, which fetched nothing. */
static void harvest_with_another_value(const char *store)
{
    struct sim sim = SIM_SOURCE_START("--records", "2000");
    struct run run;

    CHECK_EQ(apply(store, &sim, BY("updated")).code, 0, "apply");
    run = RUN("patra", "harvest", SIM_SOURCE_NAME, SIM_SOURCE_WINDOW, "--set", BY("created"),
              "--store", store);
    CHECK_EQ(run.code, 0, run.talk.data);
    CHECK(cli_has(run.talk, "counted apart"), "the plan says so");
    CHECK(sim_source_verify(store, &sim).code != 0, "that is another set of records");
    CHECK_EQ(sql_number(store, "SELECT count(*) FROM ing_cursor"
                               " WHERE namespace_scope_code = 'CUSTOM'"),
             1, "with a cursor of its own");
    run = RUN("patra", "harvest", SIM_SOURCE_NAME, SIM_SOURCE_WINDOW, "--store", store);
    CHECK_EQ(run.code, 0, run.talk.data);
    CHECK_EQ(sim_source_verify(store, &sim).code, 0, "all that the source's own query selects");
    sim_stop(&sim);
}

TEST(a_parameter_of_one_trigger_covers_no_windows_of_the_source_on_sqlite)
{
    harvest_with_another_value(cli_sqlite("set"));
}

TEST(a_parameter_of_one_trigger_covers_no_windows_of_the_source_on_postgres)
{
    harvest_with_another_value(cli_postgres());
}

/* Before: the cursor of the old value had passed the windows of the new one. */
static void harvest_after_an_edit(const char *store)
{
    struct sim sim = SIM_SOURCE_START("--records", "2000");
    struct run run;

    CHECK_EQ(apply(store, &sim, BY("created")).code, 0, "apply");
    run = RUN("patra", "harvest", SIM_SOURCE_NAME, SIM_SOURCE_WINDOW, "--store", store);
    CHECK_EQ(run.code, 0, run.talk.data);
    run = apply(store, &sim, BY("updated"));
    CHECK(cli_has(run.talk, "harvest: the query changed: it starts again"), run.talk.data);
    run = RUN("patra", "harvest", SIM_SOURCE_NAME, "--to", "2026-02-11", "--store", store);
    CHECK_EQ(run.code, 0, run.talk.data);
    CHECK(cli_has(run.talk, "the query has changed"), run.talk.data);
    CHECK_EQ(sim_source_verify(store, &sim).code, 0, "from where the old one began");
    run = RUN("patra", "cursor", "list", "--store", store);
    CHECK(cli_has(run.out, "former"), "the old cursor is kept, and said to be old");
    run = RUN("patra", "status", "--json", "--store", store);
    CHECK_EQ(cli_value(run.out, "sources.0.cursors.1.value").len, 0,
             "status shows the present one");
    sim_stop(&sim);
}

TEST(an_edited_parameter_fetches_its_windows_again_on_sqlite)
{
    harvest_after_an_edit(cli_sqlite("edit"));
}

TEST(an_edited_parameter_fetches_its_windows_again_on_postgres)
{
    harvest_after_an_edit(cli_postgres());
}

/* The planner and the workers may have different environments. */
TEST(a_worker_whose_value_is_another_than_the_plans_sends_nothing)
{
    const char *store = cli_sqlite("env");
    struct sim sim = SIM_SOURCE_START("--records", "2000");
    struct run run;

    REQUIRE(setenv("PATRA_TEST_BY", "updated", 1) == 0, "environment");
    CHECK_EQ(apply(store, &sim, "params.by={ value: env:PATRA_TEST_BY, selects: true }").code, 0,
             "apply");
    run = RUN("patra", "trigger", SIM_SOURCE_NAME, SIM_SOURCE_WINDOW, "--store", store);
    CHECK_EQ(run.code, 0, run.talk.data);
    REQUIRE(setenv("PATRA_TEST_BY", "created", 1) == 0, "environment");
    run = RUN("patra", "work", "--drain", "--store", store);
    CHECK_EQ(sql_number(store, "SELECT count(*) FROM ing_record"), 0, "nothing was fetched");
    CHECK(sql_number(store, "SELECT count(*) FROM ing_task WHERE status_code = 'FAILED'") > 0,
          "the tasks have failed");
    run = RUN("patra", "harvest", SIM_SOURCE_NAME, SIM_SOURCE_WINDOW, "--store", store);
    CHECK_EQ(run.code, 0, run.talk.data);
    CHECK(sql_number(store, "SELECT count(*) FROM ing_record") > 0, "a plan with the new value");
    REQUIRE(setenv("PATRA_TEST_BY", "updated", 1) == 0, "environment");
    run = RUN("patra", "harvest", SIM_SOURCE_NAME, SIM_SOURCE_WINDOW, "--store", store);
    CHECK_EQ(run.code, 0, run.talk.data);
    CHECK_EQ(sim_source_verify(store, &sim).code, 0, "and one with the old");
    sim_stop(&sim);
}
