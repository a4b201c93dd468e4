/* The host's calendar is set, both ways, before and while the program runs. */
#include <inttypes.h>
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <time.h>
#include <unistd.h>

#include "base/instant.h"
#include "cli.h"
#include "run.h"
#include "sim_source.h"
#include "sql.h"
#include "test.h"

#define DAY_S INT64_C(86400)

/* ---- the calendar of the programs that are started from now on, and of those that run ---- */

static const char *shift_file(void)
{
    static char path[512];

    (void)snprintf(path, sizeof(path), "%s/shift", test_folder());
    return path;
}

static void shift(int64_t seconds)
{
    char next[600];
    FILE *file;

    (void)snprintf(next, sizeof(next), "%s.next", shift_file());
    file = fopen(next, "w");
    REQUIRE(file != NULL && fprintf(file, "%" PRId64, seconds) > 0 && fclose(file) == 0, "shift");
    REQUIRE(rename(next, shift_file()) == 0, "shift");
    REQUIRE(setenv("PATRA_TEST_SHIFT", shift_file(), 1) == 0, "environment");
    REQUIRE(setenv("LD_PRELOAD", SHIFTED_CLOCK, 1) == 0, "environment");
}

static void shift_end(void)
{
    (void)unsetenv("LD_PRELOAD");
    (void)unsetenv("PATRA_TEST_SHIFT");
}

static int64_t real_now_us(void)
{
    struct timespec now;

    (void)clock_gettime(CLOCK_REALTIME, &now);
    return (int64_t)now.tv_sec * US_PER_SECOND + now.tv_nsec / 1000;
}

/* Its dates are those of the real time. */
static struct sim start_source_of(const char *records)
{
    char now[INSTANT_TEXT_MAX];

    (void)instant_format(real_now_us(), now);
    return SIM_SOURCE_START("--records", records, "--now", now, "--clock-rate", "1");
}

static struct sim start_source(void)
{
    return start_source_of("20");
}

static int64_t cursor_us(const char *store)
{
    return sql_number(store, "SELECT max(normalized_instant) FROM ing_cursor");
}

static struct run harvest(const char *store)
{
    return RUN("patra", "harvest", SIM_SOURCE_NAME, "--from", "2d", "--store", store);
}

/* ---- ahead ---- */

/* A new store knows no better than the host. The date of the responses does. */
TEST(a_harvest_two_days_ahead_does_not_pass_the_present_of_the_source)
{
    struct sim sim = start_source();
    const char *store = cli_sqlite("ahead");
    struct run run;

    shift(2 * DAY_S);
    sim_source_apply(store, &sim, "rate.per_second=500");
    run = harvest(store);
    shift_end();
    CHECK_EQ(run.code, 1, "something is missing");
    CHECK(cli_has(run.out, "by its own clock (Date)") || cli_has(run.talk, "(Date)"), "named");
    CHECK(cursor_us(store) <= real_now_us() + 5 * US_PER_MINUTE, "the cursor");
    sim_stop(&sim);
}

/* What was written then is in the future when the calendar is right again. */
TEST(a_store_that_has_seen_a_later_time_waits_for_a_person)
{
    struct sim sim = start_source();
    const char *store = cli_sqlite("behind");
    struct run run;

    shift(2 * DAY_S);
    sim_source_apply(store, &sim, "rate.per_second=500");
    (void)harvest(store);
    shift(0);
    run = harvest(store);
    CHECK_EQ(run.code, 3, "a harvest does not begin");
    CHECK(cli_has(run.talk, "store.clock") && cli_has(run.talk, "patra clock accept"), "says why");
    run = RUN("patra", "trigger", SIM_SOURCE_NAME, "--store", store);
    CHECK_EQ(run.code, 3, "nor is anything planned");
    run = RUN("patra", "status", "--store", store);
    CHECK_EQ(run.code, 1, "a person is needed");
    CHECK(cli_has(run.out, "patra clock accept"), "and told what to run");
    run = RUN("patra", "clock", "show", "--json", "--store", store);
    CHECK_EQ(run.code, 1, "found");
    CHECK_STR(cli_value(run.out, "state"), STR("behind"), "named");
    run = RUN("patra", "clock", "accept", "--yes", "--store", store);
    CHECK_EQ(run.code, 0, "accepted");
    run = harvest(store);
    CHECK_EQ(run.code, 0, "the source is there, and is fetched");
    CHECK(cursor_us(store) <= real_now_us(), "the cursor is in the past");
    CHECK(cursor_us(store) >= real_now_us() - DAY_S * US_PER_SECOND, "and moves");
    run = RUN("patra", "status", "--store", store);
    CHECK(!cli_has(run.out, "clock accept"), "nothing is wrong any more");
    shift_end();
    sim_stop(&sim);
}

/* Between two commands: the host has been up meanwhile, so the store knows what time it is. */
TEST(a_clock_that_was_set_ahead_is_not_believed)
{
    struct sim sim = start_source();
    const char *store = cli_sqlite("not-believed");
    struct run run;

    shift(0);
    sim_source_apply(store, &sim, "rate.per_second=500");
    REQUIRE(harvest(store).code == 0, "at the right time");
    shift(2 * DAY_S + 1); /* the host has been up a little longer when it says so */
    run = harvest(store);
    CHECK_EQ(run.code, 0, "goes on by the time before");
    CHECK(cli_has(run.talk, "set ahead by 2d"), "and says so");
    CHECK(cursor_us(store) <= real_now_us(), "the cursor");
    CHECK(sql_number(store, "SELECT max(window_to) FROM ing_plan") <= real_now_us(), "the plans");
    run = RUN("patra", "clock", "show", "--json", "--store", store);
    CHECK_STR(cli_value(run.out, "state"), STR("ahead"), "named");
    run = RUN("patra", "clock", "accept", "--yes", "--store", store);
    CHECK_EQ(run.code, 0, "a person may say that it is right");
    run = RUN("patra", "clock", "show", "--json", "--store", store);
    CHECK_EQ(run.code, 0, "and then it is");
    shift_end();
    sim_stop(&sim);
}

/* ---- a little ---- */

/* Nobody is needed, so nobody may be made to wait until the calendar has caught up. */
TEST(after_a_small_step_back_sources_are_in_force_and_tasks_are_due)
{
    static const char DUE[] = "SELECT count(*) FROM ing_task WHERE status_code = 'QUEUED'";
    struct sim sim = start_source();
    const char *store = cli_sqlite("step");
    struct running running;
    struct run run;

    shift(200);
    sim_source_apply(store, &sim, "rate.per_second=500");
    run = RUN("patra", "trigger", SIM_SOURCE_NAME, "--store", store);
    REQUIRE(run.code == 0 && sql_number(store, DUE) > 0, "planned");
    shift(0);
    run = RUN("patra", "trigger", SIM_SOURCE_NAME, "--store", store);
    CHECK_EQ(run.code, 0, "the source is there");
    running = RUN_BEGIN("patra", "work", "--drain", "--store", store);
    for (int i = 0; i < 600 && sql_number(store, DUE) > 0; i++)
        (void)usleep(100000);
    CHECK_EQ(sql_number(store, DUE), 0, "what was planned before the step is due");
    (void)kill(running.pid, SIGTERM);
    CHECK_EQ(run_end(&running).code, 0, "it ends well");
    shift_end();
    sim_stop(&sim);
}

/* A bucket that went by the calendar would be full after each step. The simulator counts by a clock
 * of its own. */
TEST(steps_of_the_clock_make_no_request_too_early)
{
    struct sim sim = SIM_SOURCE_START("--records", "4000", "--now", "2026-03-01T00:00:00Z",
                                      "--audit-off", "repeat,retry_after", "--limit",
                                      "path=/generic/offset rate=20 burst=5 slack=100ms");
    const char *store = cli_sqlite("polite");
    char url[512];
    struct running running;
    struct run audit;

    shift(0);
    sim_source_apply(store, &sim, "rate.per_second=20");
    (void)snprintf(url, sizeof(url), "http.base_url=%s", sim.base);
    REQUIRE(RUN("patra", "source", "apply", "test/data/sim-sources/generic-offset.yaml", "--set",
                url, "--set", "rate.adaptive=false", "--set", "rate.per_second=20", "--set",
                "rate.burst=5", "--set", "endpoints.records.page.size=5", "--store", store)
                    .code == 0,
            "apply");
    running = RUN_BEGIN("patra", "harvest", SIM_SOURCE_NAME, SIM_SOURCE_WINDOW, "--store", store);
    for (int i = 1; i <= 30; i++) {
        (void)usleep(150000);
        shift(100 * i);
    }
    CHECK_EQ(run_end(&running).code, 0, "the harvest");
    shift_end();
    (void)snprintf(url, sizeof(url), "%s/_sim/audit", sim.base);
    audit = RUN("/usr/bin/curl", "-sf", url);
    CHECK(cli_number(audit.out, "summary.requests") >= 100, "there was work");
    CHECK_EQ(cli_number(audit.out, "summary.violations.rate"), 0, "requests beyond the rate");
    sim_stop(&sim);
}

/* ---- while it runs ---- */

static void await(const char *store, const char *sql, int64_t least)
{
    for (int i = 0; i < 600 && sql_number(store, sql) < least; i++)
        (void)usleep(100000);
    CHECK(sql_number(store, sql) >= least, sql);
}

TEST(serve_fires_after_the_clock_was_set_either_way)
{
    static const char FIRED[] = "SELECT count(*) FROM ing_schedule_tick";
    struct sim sim = start_source();
    const char *store = cli_sqlite("serve");
    struct running running;
    int64_t fired;

    shift(0);
    sim_source_apply(store, &sim, "operations.harvest.every=1s");
    running = RUN_BEGIN("patra", "serve", "--role", "planner", "--store", store);
    await(store, FIRED, 2);
    shift(2 * DAY_S);
    await(store, FIRED, sql_number(store, FIRED) + 3);
    CHECK(sql_number(store, "SELECT max(tick_at) FROM ing_schedule_tick") <=
              real_now_us() + 5 * US_PER_MINUTE,
          "ticks of the time before");
    shift(-2 * DAY_S);
    for (int i = 0; i < 600 && !cli_has(run_said(&running), "store.clock"); i++)
        (void)usleep(100000);
    CHECK(cli_has(run_said(&running), "store.clock"), "two days back: it waits, and says why");
    CHECK(cli_has(run_said(&running), "clock set ahead"), "as it said before");
    shift(0);
    fired = sql_number(store, FIRED);
    await(store, FIRED, fired + 2);
    REQUIRE(kill(running.pid, SIGTERM) == 0, "SIGTERM");
    CHECK_EQ(run_end(&running).code, 0, "it ends well");
    shift_end();
    sim_stop(&sim);
}

TEST(a_service_is_alive_by_the_calendar_that_its_check_reads)
{
    struct sim sim = start_source();
    const char *store = cli_sqlite("alive");
    struct running running;
    char file[512];

    shift(0);
    (void)snprintf(file, sizeof(file), "%s/alive", test_folder());
    sim_source_apply(store, &sim, "rate.per_second=500");
    running =
        RUN_BEGIN("patra", "serve", "--role", "planner", "--alive-file", file, "--store", store);
    for (int i = 0; i < 600 && access(file, R_OK) != 0; i++)
        (void)usleep(100000);
    shift(2 * DAY_S);
    for (int i = 0; i < 300 && RUN("patra", "alive", file).code != 0; i++)
        (void)usleep(100000);
    CHECK_EQ(RUN("patra", "alive", file).code, 0, "after the clock was set ahead, too");
    REQUIRE(kill(running.pid, SIGTERM) == 0, "SIGTERM");
    CHECK_EQ(run_end(&running).code, 0, "it ends well");
    shift_end();
    sim_stop(&sim);
}

/* ---- a host whose clock is not the server's ---- */

static const struct {
    const char *argv[7];
    const char *says; /* "": nothing in particular */
} asked[] = {
    { { "source", "show", SIM_SOURCE_NAME }, SIM_SOURCE_NAME },
    { { "source", "show", SIM_SOURCE_NAME, "--resolved" }, "rate.per_second" },
    { { "source", "list" }, SIM_SOURCE_NAME },
    { { "source", "export", SIM_SOURCE_NAME }, "per_second: 500" },
    { { "source", "test", SIM_SOURCE_NAME }, "" },
    { { "status" }, SIM_SOURCE_NAME },
    { { "status", SIM_SOURCE_NAME }, SIM_SOURCE_NAME },
    { { "record", "list", SIM_SOURCE_NAME }, "" },
    { { "record", "count", SIM_SOURCE_NAME }, "" },
    { { "record", "export", SIM_SOURCE_NAME }, "{" },
    { { "rederive", SIM_SOURCE_NAME, "--diff" }, "" },
    { { "trigger", SIM_SOURCE_NAME, "--dry-run" }, "" },
    { { "trigger", SIM_SOURCE_NAME }, "" },
    { { "work", "--source", SIM_SOURCE_NAME, "--drain" }, "" },
    { { "harvest", SIM_SOURCE_NAME }, "" },
    { { "cursor", "show", SIM_SOURCE_NAME }, "" },
    { { "replay", SIM_SOURCE_NAME, SIM_SOURCE_WINDOW }, "" },
    { { "pause", SIM_SOURCE_NAME }, "" },
    { { "resume", SIM_SOURCE_NAME }, "" },
    { { "token", "list" }, "reader" },
};

static struct run ask(size_t number, const char *store)
{
    const char *argv[10] = { "patra" };
    size_t count = 1;

    for (size_t i = 0; i < ARRAY_LEN(asked[number].argv) && asked[number].argv[i] != NULL; i++)
        argv[count++] = asked[number].argv[i];
    argv[count++] = "--store";
    argv[count] = store;
    return run_program(argv);
}

/* What is in force, due or over is for the server's clock to say, whichever host asks. */
TEST(commands_go_by_the_clock_of_the_server)
{
    static const int64_t shifts[] = { -3 * DAY_S, 3 * DAY_S };
    static const char SEEN[] = "SELECT count(*) FROM ing_record_state WHERE observed_at BETWEEN"
                               " now() - interval '1 day' AND now()";
    struct sim sim = start_source_of("400");
    const char *store = cli_postgres();

    shift(0);
    sim_source_apply(store, &sim, "rate.per_second=500");
    REQUIRE(RUN("patra", "replay", SIM_SOURCE_NAME, SIM_SOURCE_WINDOW, "--store", store).code == 0,
            "by a host that is right");
    REQUIRE(sql_number(store, SEEN) > 0, "records");
    REQUIRE(RUN("patra", "token", "new", "reader", "--expires", "1d", "--store", store).code == 0,
            "a token of a day");
    for (size_t k = 0; k < ARRAY_LEN(shifts); k++) {
        shift(shifts[k]);
        for (size_t i = 0; i < ARRAY_LEN(asked); i++) {
            const struct run run = ask(i, store);

            CHECK_EQ(run.code, 0, asked[i].argv[0]);
            CHECK(asked[i].says[0] == '\0' || cli_has(run.out, asked[i].says), run.out.data);
            CHECK(!cli_has(run.talk, "no source"), run.talk.data);
        }
        CHECK(cursor_us(store) <= real_now_us(), "the cursor");
        CHECK_EQ(sql_number(store, SEEN),
                 sql_number(store, "SELECT count(*) FROM ing_record_state"), "the records");
        CHECK(cli_has(RUN("patra", "doctor", "--store", store).out, "clock.skew"), "named");
    }
    shift_end();
    sim_stop(&sim);
}
