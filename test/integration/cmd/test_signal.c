/* patra signal, as a user runs it, on SQLite and on PostgreSQL: records that a harvest could not
 * read are requested again by an update, if the source has one. */
#include <stdio.h>

#include "cli.h"
#include "run.h"
#include "sim_source.h"
#include "sql.h"
#include "test.h"

#define SOURCE "generic-details"
#define WINDOW "--from", "2026-02-01", "--to", "2026-02-02"

static bool has_none(const char *noun, const char *store)
{
    return cli_has(RUN("patra", noun, "list", "--store", store).out, "(none)");
}

/* Text of row i of a JSON list; good until the next call. */
static const char *number_of(struct str json, const char *path)
{
    static char number[32];

    (void)snprintf(number, sizeof(number), "%.*s", STR_ARG(cli_value(json, path)));
    return number;
}

static void an_update_looks_at_them(const char *store)
{
    struct run run = RUN("patra", "signal", "list", SOURCE, "--json", "--store", store);
    struct run bad;

    CHECK_STR(cli_value(run.out, "0.source"), STR(SOURCE), "whose");
    CHECK_STR(cli_value(run.out, "0.endpoint"), STR("list"), "under which it is known");
    CHECK_STR(cli_value(run.out, "0.reason"), STR("date.missing"), "why");
    CHECK_STR(cli_value(run.out, "0.by"), STR("executor"), "who");
    CHECK_STR(cli_value(run.out, "0.tried"), STR("0"), "not yet");
    bad = RUN("patra", "quarantine", "list", SOURCE, "--json", "--store", store);
    CHECK_STR(cli_value(bad.out, "0.recordId"), cli_value(run.out, "0.recordId"), "the same");
    run = RUN("patra", "signal", "list", "--store", store);
    CHECK(cli_has(run.out, "  executor  0      -\n    date.missing\n"), "for people");
    CHECK(!cli_has(run.talk, "no update takes them"), "an update will");
    run = RUN("patra", "status", "--store", store);
    CHECK(cli_has(run.out, "see: patra signal list " SOURCE), "says so");

    run = RUN("patra", "update", SOURCE, "--store", store);
    CHECK_EQ(run.code, 0, "all of them came");
    CHECK(has_none("signal", store), "looked at");
    CHECK(has_none("quarantine", store), "nothing is bad any more");
    run = RUN("patra", "quarantine", "show", number_of(bad.out, "0.id"), "--store", store);
    CHECK(cli_has(run.out, "  REPLACED    by executor: a valid record was received with task "),
          "why");
}

/* What is asked for and given up is there again, and may be dropped. */
static void they_are_dropped(const char *store)
{
    char path[512];
    struct run run;
    FILE *file;

    (void)snprintf(path, sizeof(path), "%s/ids", test_folder());
    file = fopen(path, "w");
    REQUIRE(file != NULL && fputs("r00000001\nr00000002\nr00000003\n", file) >= 0, path);
    REQUIRE(fclose(file) == 0, path);
    run = RUN("patra", "trigger", SOURCE, "update", "--ids", path, "--json", "--store", store);
    REQUIRE(run.code == 0, "trigger");
    CHECK(has_none("signal", store), "a plan has them");
    run = RUN("patra", "plan", "cancel", number_of(run.out, "planId"), "--store", store);
    REQUIRE(run.code == 0, "cancel");
    run = RUN("patra", "signal", "list", "--json", "--store", store);
    CHECK_STR(cli_value(run.out, "2.reason"), STR("asked for by a trigger"), "three of them");
    CHECK_STR(cli_value(run.out, "0.tried"), STR("1"), "once");
    CHECK_EQ(RUN("patra", "signal", "drop", number_of(run.out, "0.id"), "--store", store).code, 2,
             "it asks");
    run = RUN("patra", "signal", "drop", number_of(run.out, "0.id"), "--yes", "--store", store);
    CHECK_STR(run.out, STR("1 dropped\n"), "one");
    CHECK_EQ(sql_number(store, "SELECT count(*) FROM ing_signal WHERE closed_by <> ''"), 1,
             "who did it stays");
    run = RUN("patra", "signal", "list", "--limit", "1", "--store", store);
    CHECK(cli_has(run.out, "r00000002") && cli_has(run.talk, "continue with --after"), "the next");
    CHECK_EQ(RUN("patra", "signal", "drop", "1", "--yes", "--store", store).code, 1, "not open");
    run = RUN("patra", "signal", "drop", SOURCE, "--reason", "missing", "--yes", "--store", store);
    CHECK_STR(run.out, STR("0 dropped\n"), "of another reason");
    run = RUN("patra", "signal", "drop", SOURCE, "--yes", "--store", store);
    CHECK_STR(run.out, STR("2 dropped\n"), "the others");
    CHECK(has_none("signal", store), "all of them");
    CHECK_EQ(RUN("patra", "signal", "drop", "generic", "--yes", "--store", store).code, 4,
             "no such source");
}

static void no_update_takes_them(const char *store)
{
    struct run run = RUN("patra", "signal", "list", SIM_SOURCE_NAME, "--store", store);

    CHECK(cli_has(run.talk, "no update takes them: " SIM_SOURCE_NAME " has no update"), "says so");
    run = RUN("patra", "status", SIM_SOURCE_NAME, "--store", store);
    CHECK_EQ(run.code, 1, "the records are in quarantine, which needs a person");
    CHECK(cli_has(run.out, "no update takes them") &&
              cli_has(run.out, "patra signal drop " SIM_SOURCE_NAME),
          "and what to do");
    run = RUN("patra", "status", SIM_SOURCE_NAME, "--json", "--store", store);
    CHECK(cli_has(run.out, "\"signalsAreTaken\":false"), "for programs");
}

static void signals(const char *store)
{
    struct sim sim = SIM_SOURCE_START("--records", "3000", "--fault",
                                      "path=/generic/records/ to=13 kind=record_no_date");

    REQUIRE(RUN("patra", "init", "--store", store).code == 0, "init");
    CHECK(has_none("signal", store), "none yet");
    sim_source_apply_file(store, &sim, "test/data/sim-sources/generic-details.yaml",
                          "rate.burst=100");
    (void)RUN("patra", "harvest", SOURCE, WINDOW, "--store", store);
    an_update_looks_at_them(store);
    they_are_dropped(store);
    sim_stop(&sim);
    sim = SIM_SOURCE_START("--records", "3000", "--fault", "kind=record_no_date rate=1");
    sim_source_apply(store, &sim, "rate.burst=100");
    (void)RUN("patra", "harvest", SIM_SOURCE_NAME, WINDOW, "--store", store);
    no_update_takes_them(store);
    sim_stop(&sim);
}

TEST(signals_are_listed_and_dropped_on_sqlite)
{
    signals(cli_sqlite("signals"));
}

TEST(signals_are_listed_and_dropped_on_postgres)
{
    signals(cli_postgres());
}
