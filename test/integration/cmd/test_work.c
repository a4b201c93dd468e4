/* patra harvest that is stopped, work and serve, as a user runs them, against the simulator.
 */
#include <inttypes.h>
#include <signal.h>
#include <stdio.h>
#include <string.h>
#include <unistd.h>

#include "cli.h"
#include "postgres.h"
#include "raw_server.h"
#include "run.h"
#include "sim_source.h"
#include "sql.h"
#include "test.h"

/* ---- being stopped ---- */

/* Asks until the source's first partition has this many tasks under way, or done. */
static void await_tasks(const char *store, const char *what, int64_t least)
{
    char path[64];

    (void)snprintf(path, sizeof(path), "sources.0.operations.0.%s", what);
    for (;;) {
        const struct run run = RUN("patra", "status", SIM_SOURCE_NAME, "--json", "--store", store);

        if (cli_number(run.out, path) >= least)
            return;
    }
}

static void stop_and_go_on(const char *store)
{
    struct sim sim = SIM_SOURCE_START("--records", "2000");
    struct running running;
    struct run run;

    sim_source_apply(store, &sim, "rate.per_second=4");
    running = RUN_BEGIN("patra", "harvest", SIM_SOURCE_NAME, SIM_SOURCE_WINDOW, "--workers", "2",
                        "--set", "rate.burst=1", "--store", store);
    await_tasks(store, "succeeded", 1);
    REQUIRE(kill(running.pid, SIGTERM) == 0, "SIGTERM");
    run = run_end(&running);
    CHECK_EQ(run.code, 130, "interrupted");
    CHECK(cli_has(run.out, "interrupted"), "said so");
    run = RUN("patra", "status", SIM_SOURCE_NAME, "--json", "--store", store);
    CHECK_EQ(cli_number(run.out, "sources.0.operations.0.running"), 0, "its leases are given back");
    CHECK_EQ(cli_number(run.out, "sources.0.operations.0.queued") +
                 cli_number(run.out, "sources.0.operations.0.succeeded"),
             10, "at once, and none is lost");
    CHECK(cli_number(run.out, "sources.0.operations.0.queued") > 0, "it was not done");
    CHECK_EQ(sql_number(store, "SELECT count(*) FROM ing_task_run_batch"
                               " WHERE status_code = 'FAILED'"),
             0, "who waits for a permit has not failed");
    run = RUN("patra", "harvest", SIM_SOURCE_NAME, SIM_SOURCE_WINDOW, "--store", store);
    CHECK_EQ(run.code, 0, "the next one goes on");
    CHECK_EQ(sim_source_verify(store, &sim).code, 0, "all of it");
    sim_stop(&sim);
}

TEST(a_harvest_that_is_stopped_gives_its_tasks_back_on_sqlite)
{
    stop_and_go_on(cli_sqlite("says so"));
}

TEST(a_harvest_that_is_stopped_gives_its_tasks_back_on_postgres)
{
    stop_and_go_on(cli_postgres());
}

/* ---- a server that takes longer than the lease ---- */

/* Two workers, one task, a lease of a second: the second request is the first worker's own, after
 * its timeout. */
static void wait_for_silence(const char *store)
{
    struct sim sim = SIM_SOURCE_START("--records", "100");
    struct raw_server *silent = raw_server_start();
    struct running workers[2];
    char url[128];

    for (int i = 0; i < 8; i++)
        raw_server_reply(silent, STR(""), RAW_HANG);
    sim_source_apply(store, &sim, "http.read_timeout=4s");
    (void)snprintf(url, sizeof(url), "http.base_url=http://127.0.0.1:%d", raw_server_port(silent));
    REQUIRE(RUN("patra", "source", "apply", "test/data/sim-sources/generic-offset.yaml", "--set",
                url, "--set", "http.read_timeout=4s", "--store", store)
                    .code == 0,
            "apply");
    REQUIRE(RUN("patra", "trigger", SIM_SOURCE_NAME, "--from", "2026-02-01", "--to", "2026-02-02",
                "--store", store)
                    .code == 0,
            "trigger");
    REQUIRE(sql_number(store, "SELECT count(*) FROM ing_task") == 1, "one task");
    for (int i = 0; i < 2; i++)
        workers[i] =
            RUN_BEGIN("patra", "work", "--workers", "1", "--lease", "1s", "--store", store);
    raw_server_await(silent, 2);
    CHECK_EQ(sql_number(store, "SELECT count(*) FROM ing_task_run"), 1, "nobody took it over");
    for (int i = 0; i < 2; i++) {
        (void)kill(workers[i].pid, SIGTERM);
        CHECK(!cli_has(run_end(&workers[i]).talk, "overtaken"), "nor was it lost");
    }
    raw_server_stop(silent);
    sim_stop(&sim);
}

TEST(a_task_is_not_lost_to_a_silent_server_on_sqlite)
{
    wait_for_silence(cli_sqlite("silent"));
}

TEST(a_task_is_not_lost_to_a_silent_server_on_postgres)
{
    wait_for_silence(cli_postgres());
}

/* Another process cancels the plan, or one task of it, while the harvest runs. */
static void cancelled_elsewhere(const char *store, const char *what)
{
    struct sim sim = SIM_SOURCE_START("--records", "2000");
    const bool is_plan = strcmp(what, "plan") == 0;
    struct running running;
    int64_t cancelled;
    char id[32], line[64];
    struct run run;

    sim_source_apply(store, &sim, "rate.per_second=4");
    running = RUN_BEGIN("patra", "harvest", SIM_SOURCE_NAME, SIM_SOURCE_WINDOW, "--workers", "1",
                        "--set", "rate.burst=1", "--quiet", "--store", store);
    await_tasks(store, "succeeded", 1);
    (void)snprintf(id, sizeof(id), "%" PRId64,
                   is_plan ? 1 : sql_number(store, "SELECT max(id) FROM ing_task"));
    REQUIRE(RUN("patra", what, "cancel", id, "--store", store).code == 0, "cancel");
    run = run_end(&running);
    cancelled = sql_number(store, "SELECT count(*) FROM ing_task WHERE status_code = 'CANCELLED'");
    CHECK(is_plan ? cancelled > 1 : cancelled == 1, "how many tasks the store says");
    CHECK_EQ(run.code, 1, "not everything was fetched");
    (void)snprintf(line, sizeof(line),
                   "done, with something missing, %" PRId64 " slice%s cancelled", cancelled,
                   cancelled == 1 ? "" : "s");
    CHECK(cli_has(run.out, line), "the first line says so");
    (void)snprintf(line, sizeof(line), "0 failed, %" PRId64 " cancelled\n", cancelled);
    CHECK(cli_has(run.out, line), "and they are counted");
    run = RUN("patra", "harvest", SIM_SOURCE_NAME, SIM_SOURCE_WINDOW, "--set",
              "rate.per_second=500", "--store", store);
    CHECK_EQ(run.code, 0, "the next one fetches the rest");
    CHECK(!cli_has(run.out, "cancelled"), "of its own time there is none");
    CHECK_EQ(sim_source_verify(store, &sim).code, 0, "all of it");
    sim_stop(&sim);
}

TEST(a_harvest_whose_plan_is_cancelled_says_so_on_sqlite)
{
    cancelled_elsewhere(cli_sqlite("plan-cancelled"), "plan");
}

TEST(a_harvest_whose_plan_is_cancelled_says_so_on_postgres)
{
    cancelled_elsewhere(cli_postgres(), "plan");
}

TEST(a_harvest_of_which_a_task_is_cancelled_says_so)
{
    cancelled_elsewhere(cli_sqlite("task-cancelled"), "task");
}

TEST(a_second_signal_ends_requests_under_way)
{
    const char *store = cli_sqlite("urgent");
    struct sim sim =
        SIM_SOURCE_START("--records", "2000", "--fault", "kind=stall at=before ms=600000");
    char host[65], owner[96];
    struct running running;
    struct run run;

    sim_source_apply(store, &sim, "rate.burst=100");
    running = RUN_BEGIN("patra", "harvest", SIM_SOURCE_NAME, SIM_SOURCE_WINDOW, "--workers", "2",
                        "--json", "--store", store);
    await_tasks(store, "running", 2);
    REQUIRE(gethostname(host, sizeof(host)) == 0, "host");
    (void)snprintf(owner, sizeof(owner), "%s:%d:", host, (int)running.pid);
    run = RUN("patra", "status", SIM_SOURCE_NAME, "--store", store);
    CHECK(cli_has(run.out, owner), "status shows who holds a task: host and process");
    run = RUN("patra", "status", SIM_SOURCE_NAME, "--json", "--store", store);
    CHECK(cli_has(cli_value(run.out, "sources.0.running.0.owner"), owner), "programs too");
    REQUIRE(kill(running.pid, SIGTERM) == 0, "SIGTERM");
    REQUIRE(kill(running.pid, SIGINT) == 0, "SIGINT");
    run = run_end(&running);
    CHECK_EQ(run.code, 130, "stopped, or this test takes ten minutes");
    CHECK(cli_has(run.out, "\"end\":\"interrupted\",\"exit\":130"), "the summary says so");
    run = RUN("patra", "status", SIM_SOURCE_NAME, "--json", "--store", store);
    CHECK_EQ(cli_number(run.out, "sources.0.operations.0.running"), 0, "its leases are given back");
    sim_stop(&sim);
}

TEST(a_signal_is_acknowledged_while_requests_are_under_way)
{
    const char *store = cli_sqlite("acknowledged");
    struct sim sim =
        SIM_SOURCE_START("--records", "2000", "--fault", "kind=stall at=before ms=600000");
    struct running running;
    struct run run;

    sim_source_apply(store, &sim, "rate.burst=100");
    running = RUN_BEGIN("patra", "harvest", SIM_SOURCE_NAME, SIM_SOURCE_WINDOW, "--workers", "2",
                        "--store", store);
    await_tasks(store, "running", 2);
    REQUIRE(kill(running.pid, SIGINT) == 0, "Ctrl-C");
    while (!cli_has(run_said(&running), "stopping after the batches under way"))
        REQUIRE(kill(running.pid, 0) == 0, "it runs");
    REQUIRE(kill(running.pid, SIGINT) == 0, "again");
    run = run_end(&running);
    CHECK_EQ(run.code, 130, "stopped");
    CHECK(cli_has(run.talk, "stopping now; what was stored is kept"), "the second one, too");
    sim_stop(&sim);
}

TEST(a_harvest_of_a_paused_source_ends_with_the_documented_code)
{
    const char *store = cli_sqlite("paused");
    struct sim sim = SIM_SOURCE_START("--records", "100");
    struct run run;

    sim_source_apply(store, &sim, "rate.burst=100");
    run = RUN("patra", "pause", SIM_SOURCE_NAME, "--reason", "moving house", "--store", store);
    REQUIRE(run.code == 0, run.talk.data);
    run = RUN("patra", "harvest", SIM_SOURCE_NAME, SIM_SOURCE_WINDOW, "--store", store);
    CHECK_EQ(run.code, 3, "it cannot continue now");
    CHECK(cli_has(run.talk, "is paused, moving house"), "why");
    CHECK(cli_has(run.talk, "patra resume " SIM_SOURCE_NAME), "what to do");
    run = RUN("patra", "trigger", SIM_SOURCE_NAME, "--store", store);
    CHECK_EQ(run.code, 3, "nor can it be planned now");
    sim_stop(&sim);
}

TEST(a_store_that_stays_lost_is_not_waited_for_longer_than_the_option_says)
{
    const char *store = cli_postgres();
    struct sim sim = SIM_SOURCE_START("--records", "2000");
    struct error err = { 0 };
    struct running running;
    struct run run;

    sim_source_apply(store, &sim, "rate.per_second=4");
    running = RUN_BEGIN("patra", "harvest", SIM_SOURCE_NAME, SIM_SOURCE_WINDOW, "--quiet", "--wait",
                        "2s", "--set", "rate.burst=1", "--store", store);
    await_tasks(store, "succeeded", 1);
    REQUIRE_OK(postgres_stop(&err), err);
    run = run_end(&running);
    REQUIRE_OK(postgres_start(&err), err);
    CHECK_EQ(run.code, 3, "trying again may help");
    CHECK(cli_has(run.talk, "longer than --wait: "), "why");
    sim_stop(&sim);
}

/* ---- work ---- */

enum { TASKS = 10 }; /* of the window */

static void fill_queue(const char *store, struct sim *sim)
{
    sim_source_apply(store, sim, "rate.burst=100");
    REQUIRE(RUN("patra", "trigger", SIM_SOURCE_NAME, SIM_SOURCE_WINDOW, "--store", store).code == 0,
            "trigger");
}

static int count_of(struct str text, const char *needle)
{
    int count = 0;

    for (size_t at; (at = str_find(text, str_of(needle))) < text.len; count++)
        text = str_slice(text, at + 1, text.len);
    return count;
}

/* Who of the two takes how many is chance. */
static void two_workers(const char *store)
{
    struct sim sim = SIM_SOURCE_START("--records", "4000");
    struct running one, two;
    struct run run;
    int logged;

    fill_queue(store, &sim);
    one = RUN_BEGIN("patra", "work", "--drain", "--workers", "2", "--store", store);
    two = RUN_BEGIN("patra", "work", "--drain", "--workers", "2", "--log-format", "json", "--store",
                    store);
    run = run_end(&one);
    CHECK_EQ(run.code, 0, "one");
    CHECK(cli_has(run.talk, "info work ended well=true"), "a log of text");
    logged = count_of(run.talk, "info task succeeded source=" SIM_SOURCE_NAME);
    run = run_end(&two);
    CHECK_EQ(run.code, 0, "two");
    CHECK(cli_has(run.talk, "\"event\":\"work ended\""), "a log of JSON");
    logged += count_of(run.talk, "\"event\":\"task succeeded\"");
    CHECK_EQ(logged, TASKS, "one of them logs each task");
    CHECK_EQ(sim_source_verify(store, &sim).code, 0, "all of it");
    run = RUN("patra", "status", SIM_SOURCE_NAME, "--json", "--store", store);
    CHECK_EQ(cli_number(run.out, "sources.0.operations.0.succeeded"), TASKS, "each task once");
    sim_stop(&sim);
}

TEST(both_kinds_of_log_tell_of_each_task)
{
    static const struct {
        const char *format;
        const char *line;
    } kinds[] = {
        { "text", "info task succeeded source=" SIM_SOURCE_NAME },
        { "json", "\"event\":\"task succeeded\"" },
    };
    struct sim sim = SIM_SOURCE_START("--records", "4000");

    for (size_t i = 0; i < ARRAY_LEN(kinds); i++) {
        const char *store = cli_sqlite(kinds[i].format);
        struct run run;

        fill_queue(store, &sim);
        run = RUN("patra", "work", "--drain", "--log-format", kinds[i].format, "--store", store);
        CHECK_EQ(run.code, 0, kinds[i].format);
        CHECK_EQ(count_of(run.talk, kinds[i].line), TASKS, kinds[i].format);
    }
    sim_stop(&sim);
}

TEST(two_processes_drain_the_queue_on_sqlite)
{
    two_workers(cli_sqlite("drain"));
}

TEST(two_processes_drain_the_queue_on_postgres)
{
    two_workers(cli_postgres());
}

TEST(a_worker_that_is_stopped_ends_well)
{
    const char *store = cli_sqlite("idle");
    struct running running;

    REQUIRE(RUN("patra", "init", "--store", store).code == 0, "init");
    running = RUN_BEGIN("patra", "work", "--store", store);
    while (!cli_has(run_said(&running), "work begins"))
        continue;
    REQUIRE(kill(running.pid, SIGTERM) == 0, "SIGTERM");
    CHECK_EQ(run_end(&running).code, 0, "exit code");
}

/* ---- serve ---- */

/* The ticks that a server's log says it fired. */
static size_t add_ticks(struct str log, struct str *ticks, size_t count, size_t max)
{
    while (log.len > 0) {
        const struct str line = str_cut(&log, '\n');
        const size_t at = str_find(line, STR(" tick="));
        struct str tick = str_slice(line, at + 6, line.len);

        if (!cli_has(line, "schedule fired") || at == line.len)
            continue;
        REQUIRE(count < max, "ticks");
        ticks[count++] = str_cut(&tick, ' ');
    }
    return count;
}

static void two_servers(const char *store)
{
    struct sim sim = SIM_SOURCE_START("--records", "100");
    struct running one, two;
    struct str ticks[256];
    struct run first, second;
    size_t count;

    sim_source_apply(store, &sim, "operations.harvest.every=1s");
    REQUIRE(RUN("patra", "harvest", SIM_SOURCE_NAME, "--from", "2026-02-01", "--to", "2026-02-02",
                "--store", store)
                    .code == 0,
            "a beginning");
    one = RUN_BEGIN("patra", "serve", "--workers", "2", "--store", store);
    two = RUN_BEGIN("patra", "serve", "--role", "planner", "--store", store);
    do
        count = add_ticks(run_said(&one), ticks, 0, ARRAY_LEN(ticks)) +
                add_ticks(run_said(&two), ticks, 0, ARRAY_LEN(ticks));
    while (count < 3);
    REQUIRE(kill(one.pid, SIGTERM) == 0 && kill(two.pid, SIGTERM) == 0, "SIGTERM");
    first = run_end(&one);
    second = run_end(&two);
    CHECK_EQ(first.code, 0, "one ends well");
    CHECK_EQ(second.code, 0, "the other ends well");
    count = add_ticks(first.talk, ticks, 0, ARRAY_LEN(ticks));
    count = add_ticks(second.talk, ticks, count, ARRAY_LEN(ticks));
    CHECK(count >= 3, "ticks were fired");
    for (size_t i = 0; i < count; i++) {
        for (size_t j = 0; j < i; j++)
            CHECK(!str_eq(ticks[i], ticks[j]), "no tick twice");
    }
    sim_stop(&sim);
}

TEST(two_servers_fire_each_tick_once_on_sqlite)
{
    two_servers(cli_sqlite("serve"));
}

TEST(two_servers_fire_each_tick_once_on_postgres)
{
    two_servers(cli_postgres());
}

/* What systemd does with patra.service depends on these codes. */
static void serve_makes_its_store(const char *store)
{
    struct running running;
    struct run run = RUN("patra", "serve", "--store", store);

    CHECK_EQ(run.code, 4, "there is none yet");
    running = RUN_BEGIN("patra", "serve", "--init", "--store", store);
    while (!cli_has(run_said(&running), "serving"))
        REQUIRE(kill(running.pid, 0) == 0, "it serves");
    REQUIRE(kill(running.pid, SIGTERM) == 0, "SIGTERM");
    CHECK_EQ(run_end(&running).code, 0, "it served");
    CHECK_EQ(RUN("patra", "source", "list", "--store", store).code, 0, "the store is there");
    CHECK_EQ(sql_number(store, "INSERT INTO schema_migration SELECT 9999, 'later', sha256,"
                               " applied_at FROM schema_migration WHERE number = 1 RETURNING 1"),
             1, "another patra's");
    run = RUN("patra", "serve", "--init", "--store", store);
    CHECK_EQ(run.code, 4, "starting again would not help");
    CHECK(cli_has(run.talk, "store.newer"), "why");
}

/* Asks until patra alive says so. */
static void await_alive(const struct running *running, const char *path, int code)
{
    while (RUN("patra", "alive", path, "--within", "1s").code != code)
        REQUIRE(kill(running->pid, 0) == 0, "it runs");
}

TEST(a_service_shows_that_it_is_alive_until_it_hangs_or_ends)
{
    const char *store = cli_sqlite("alive");
    struct running running;
    char path[512];

    (void)snprintf(path, sizeof(path), "%s/alive.sign", test_folder());
    CHECK_EQ(RUN("patra", "alive", path).code, 1, "not before it serves");
    running = RUN_BEGIN("patra", "serve", "--init", "--alive-file", path, "--store", store);
    await_alive(&running, path, 0);
    REQUIRE(kill(running.pid, SIGSTOP) == 0, "it hangs");
    await_alive(&running, path, 1);
    CHECK(cli_has(RUN("patra", "alive", path, "--within", "1s").talk, "the last sign was at 20"),
          "since when");
    CHECK_EQ(RUN("patra", "alive", path, "--within", "1h").code, 0, "which may be allowed");
    REQUIRE(kill(running.pid, SIGCONT) == 0 && kill(running.pid, SIGTERM) == 0, "it ends");
    CHECK_EQ(run_end(&running).code, 0, "well");
    CHECK_EQ(RUN("patra", "alive", path, "--within", "1h").code, 1, "and is no longer alive");
    CHECK_EQ(RUN("patra", "serve", "--alive-file", "/proc/none/x", "--store", store).code, 4,
             "a file that cannot be written");
}

TEST(serve_makes_its_store_on_sqlite)
{
    const char *store = cli_sqlite("made");
    struct run run = RUN("patra", "serve", "--init", "--role", "cook", "--store", store);

    CHECK_EQ(run.code, 2, "mistyped");
    CHECK(access(store, F_OK) != 0, "nothing was made");
    serve_makes_its_store(store);
    run = RUN("patra", "serve", "--init", "--store", "postgresql://127.0.0.1:1/none");
    CHECK_EQ(run.code, 3, "out of reach: starting again may help");
}

TEST(serve_makes_its_store_on_postgres)
{
    serve_makes_its_store(cli_postgres());
}
