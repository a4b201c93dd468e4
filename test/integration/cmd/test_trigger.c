/* patra trigger, plan, pause and resume, as a user runs them, on SQLite and on PostgreSQL. */
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "cli.h"
#include "run.h"
#include "sql.h"
#include "test.h"

enum { PATH_BYTES = 512 };

/* ---- trigger ---- */

TEST(a_dry_run_shows_the_window_its_reasons_and_the_slices_and_writes_nothing)
{
    const char *store = cli_with_daily(cli_sqlite("dry"));
    struct run run = RUN("patra", "trigger", "daily", "--from", "2026-01-01", "--to", "2026-02-01",
                         "--dry-run", "--limit", "3", "--store", store);

    CHECK_EQ(run.code, 0, "exit code");
    CHECK(cli_has(run.out, "window  2026-01-01T00:00:00Z .. 2026-02-01T00:00:00Z"), "the window");
    CHECK(cli_has(run.out, "from    2026-01-01T00:00:00Z: --from"), "why it begins there");
    CHECK(cli_has(run.out, "to      2026-02-01T00:00:00Z: --to\n        also considered: now less"),
          "why it ends there");
    CHECK(cli_has(run.out, "31 slices would be queued"), "how many");
    CHECK(cli_has(run.out, "\n3 "), "the third");
    CHECK(!cli_has(run.out, "\n4 "), "and no more");
    CHECK(cli_has(run.out, "... and 28 more"), "the total");
    run = RUN("patra", "plan", "list", "--json", "--store", store);
    CHECK_STR(run.out, STR("[]\n"), "no plan");
}

TEST(a_dry_run_is_one_json_object)
{
    const char *store = cli_with_daily(cli_sqlite("json"));
    const struct run run =
        RUN("patra", "trigger", "daily", "backfill", "--from", "2026-01-01", "--to", "2026-02-01",
            "--dry-run", "--json", "--limit", "2", "--store", store);

    CHECK_EQ(run.code, 0, "exit code");
    CHECK_STR(cli_value(run.out, "dryRun"), STR("true"), "dryRun");
    CHECK_STR(cli_value(run.out, "operation"), STR("BACKFILL"), "operation");
    CHECK_STR(cli_value(run.out, "window.from"), STR("2026-01-01T00:00:00Z"), "window.from");
    CHECK_STR(cli_value(run.out, "remarks.decision.from.rule"), STR("USER_FROM"), "why");
    CHECK_STR(cli_value(run.out, "sliceCount"), STR("31"), "how many");
    CHECK_STR(cli_value(run.out, "slices.0.window.from"), STR("2026-01-31T00:00:00Z"),
              "the newest first");
    CHECK_STR(cli_value(run.out, "slices.1.window.from"), STR("2026-01-30T00:00:00Z"), "then back");
    CHECK_STR(cli_value(run.out, "slices.2"), STR(""), "the limit");
}

static void trigger_show_cancel(const char *store)
{
    struct run run = RUN("patra", "trigger", "daily", "--from", "2026-01-01", "--to", "2026-01-11",
                         "--json", "--store", store);

    REQUIRE(run.code == 0, "trigger");
    CHECK_STR(cli_value(run.out, "sliceCount"), STR("10"), "ten days");
    CHECK_STR(cli_value(run.out, "status"), STR("READY"), "all of them");
    CHECK_STR(cli_value(run.out, "planId"), STR("1"), "the first plan");
    run = RUN("patra", "trigger", "daily", "--from", "2026-01-01", "--to", "2026-01-11", "--store",
              store);
    CHECK_EQ(run.code, 0, "again");
    CHECK(cli_has(run.out, "nothing to do: all of it is covered or under way"),
          "why nothing is done");
    run = RUN("patra", "plan", "list", "--source", "daily", "--operation", "harvest", "--store",
              store);
    CHECK(cli_has(run.out, "\n2 ") && cli_has(run.out, "\n1 "), "both plans");
    CHECK(cli_has(run.out, "  READY   0/10  0       2026-01-01  2026-01-11"),
          "nothing of the first is done yet");
    run = RUN("patra", "plan", "list", "--json", "--store", store);
    CHECK_STR(cli_value(run.out, "1.tasks.QUEUED"), STR("10"), "for programs, too");
    run = RUN("patra", "plan", "show", "1", "--store", store);
    CHECK(cli_has(run.out, "plan 1: daily HARVEST of works, READY"), "what it is");
    CHECK(cli_has(run.out, "10 QUEUED"), "its tasks");
    run = RUN("patra", "plan", "show", "2", "--store", store);
    CHECK(cli_has(run.out, "idle       COVERED"), "why it is empty");
    run = RUN("patra", "plan", "cancel", "1", "--store", store);
    CHECK(cli_has(run.out, "plan 1: cancelled, with 10 waiting tasks"), "cancel");
    run = RUN("patra", "plan", "show", "1", "--json", "--limit", "1", "--store", store);
    CHECK_STR(cli_value(run.out, "status"), STR("CANCELLED"), "its state");
    CHECK_STR(cli_value(run.out, "tasks.CANCELLED"), STR("10"), "and its tasks'");
    CHECK_STR(cli_value(run.out, "slices.0.spec.dimension"), STR("TIME"), "a slice");
    run = RUN("patra", "trigger", "daily", "--from", "2026-01-01", "--to", "2026-01-11", "--json",
              "--store", store);
    CHECK_STR(cli_value(run.out, "sliceCount"), STR("10"), "what was cancelled is planned again");
}

/* A window whose bounds are rounded down to days, with every candidate for its bounds. */
TEST(lists_fit_into_a_terminal)
{
    const char *store = cli_with_daily(cli_sqlite("narrow"));
    struct run run = RUN("patra", "trigger", "daily", "backfill", "--from", "2020-01-01T12:34:56Z",
                         "--to", "2020-01-04T11:22:33.456789Z", "--dry-run", "--store", store);

    CHECK(cli_has(run.out, "2020-01-04T11:22:33.456789Z, rounded down to DAY"), "a dry run");
    CHECK(cli_width(run.out) <= 80, "and what it explains");
    run = RUN("patra", "trigger", "daily", "backfill", "--from", "2020-01-01T12:34:56Z", "--to",
              "2020-01-04T11:22:33.456789Z", "--store", store);
    REQUIRE(run.code == 0, "trigger");
    run = RUN("patra", "plan", "list", "--store", store);
    CHECK(cli_has(run.out, "BACKFILL") && cli_width(run.out) <= 80, "plans");
    run = RUN("patra", "task", "list", "--store", store);
    CHECK(cli_has(run.out, "BACKFILL") && cli_width(run.out) <= 80, "tasks");
    run = RUN("patra", "cursor", "list", "--store", store);
    CHECK(cli_has(run.out, "BACKFILL") && cli_width(run.out) <= 80, "cursors");
}

TEST(plans_are_made_shown_and_cancelled_on_sqlite)
{
    trigger_show_cancel(cli_with_daily(cli_sqlite("plans")));
}

TEST(plans_are_made_shown_and_cancelled_on_postgres)
{
    trigger_show_cancel(cli_with_daily(cli_postgres()));
}

/* Good until the next call. */
static const char *file_of_ids(void)
{
    static char path[PATH_BYTES];
    FILE *file;

    (void)snprintf(path, sizeof(path), "%s/ids.txt", test_folder());
    file = fopen(path, "w");
    REQUIRE(file != NULL, path);
    (void)fprintf(file, "10.1/b\n\n  10.1/A \n10.1/b\n");
    REQUIRE(fclose(file) == 0, path);
    return path;
}

TEST(ids_of_a_file_become_an_update)
{
    const char *store = cli_with_daily(cli_sqlite("ids"));
    const char *path = file_of_ids();
    struct run run;

    run = RUN("patra", "trigger", "daily", "update", "--ids", path, "--json", "--store", store);
    REQUIRE(run.code == 0, "update");
    CHECK_STR(cli_value(run.out, "remarks.totalEstimated"), STR("2"), "each once");
    run = RUN("patra", "plan", "show", "1", "--json", "--store", store);
    CHECK_STR(cli_value(run.out, "slices.0.spec.dimension"), STR("ID"), "by id");
    run = RUN("patra", "trigger", "daily", "update", "--ids", path, "--json", "--store", store);
    CHECK_STR(cli_value(run.out, "sliceCount"), STR("0"), "they are under way");
}

static void cancelled_ids(const char *store)
{
    struct run run =
        RUN("patra", "trigger", "daily", "update", "--ids", file_of_ids(), "--store", store);

    REQUIRE(run.code == 0, "update");
    REQUIRE(RUN("patra", "plan", "cancel", "1", "--store", store).code == 0, "cancel");
    run = RUN("patra", "trigger", "daily", "update", "--json", "--store", store);
    CHECK_STR(cli_value(run.out, "remarks.totalEstimated"), STR("2"), "nobody looked at them");
    REQUIRE(RUN("patra", "plan", "cancel", "1", "--store", store).code == 0, "cancel it again");
    run = RUN("patra", "status", "--json", "--store", store);
    CHECK_STR(cli_value(run.out, "sources.0.signals"), STR("0"), "another plan has them by now");
}

TEST(ids_of_a_plan_that_is_cancelled_are_not_lost_on_sqlite)
{
    cancelled_ids(cli_with_daily(cli_sqlite("cancelled")));
}

TEST(ids_of_a_plan_that_is_cancelled_are_not_lost_on_postgres)
{
    cancelled_ids(cli_with_daily(cli_postgres()));
}

/* The number of the task that has the first day; tasks are not numbered in the order of slices. */
static const char *first_task(const char *store)
{
    static char number[16];
    const struct run run = RUN("patra", "task", "list", "--json", "--store", store);
    char path[32];

    for (int i = 0; i < 10; i++) {
        (void)snprintf(path, sizeof(path), "%d.window.from", i);
        if (!str_eq(cli_value(run.out, path), STR("2026-01-01T00:00:00Z")))
            continue;
        (void)snprintf(path, sizeof(path), "%d.id", i);
        (void)snprintf(number, sizeof(number), "%.*s", STR_ARG(cli_value(run.out, path)));
        return number;
    }
    REQUIRE(false, "a task of the first day");
    return NULL;
}

static void scheduler_is_kept(const char *store)
{
    struct run run = RUN("patra", "trigger", "daily", "--from", "2026-01-01", "--to", "2026-01-03",
                         "--scheduler", "airflow", "--job-id", "daily_harvest", "--log-id",
                         "manual__2026", "--store", store);

    REQUIRE(run.code == 0, "trigger");
    CHECK_EQ(sql_number(store, "SELECT count(*) FROM ing_schedule_instance"
                               " WHERE scheduler_code = 'airflow'"
                               "   AND scheduler_job_id = 'daily_harvest'"
                               "   AND scheduler_log_id = 'manual__2026'"),
             1, "the names that the scheduler gave");
    run = RUN("patra", "plan", "show", "1", "--store", store);
    CHECK(cli_has(run.out, "trigger    MANUAL by airflow, job daily_harvest, run manual__2026"),
          "are shown");
}

TEST(the_names_of_another_scheduler_are_kept_on_sqlite)
{
    scheduler_is_kept(cli_with_daily(cli_sqlite("scheduler")));
}

TEST(the_names_of_another_scheduler_are_kept_on_postgres)
{
    scheduler_is_kept(cli_with_daily(cli_postgres()));
}

/* The harvest has a schedule of an hour, and windows by whole days. */
static void far_behind(const char *store, const char *long_ago)
{
    struct run run = RUN("patra", "trigger", "daily", "--from", "2026-01-01", "--to", "2026-01-11",
                         "--store", store);

    REQUIRE(run.code == 0, "trigger");
    run = RUN("patra", "status", "--store", store);
    CHECK(!cli_has(run.out, "the cursor of harvest is"), "it has just been set");
    sql_run(store, long_ago);
    run = RUN("patra", "status", "--store", store);
    CHECK(cli_has(run.out, "daily: the cursor of harvest is"), "it does not move");
    CHECK(cli_has(run.out, "patra cursor show daily"), "what to do");
    CHECK_EQ(run.code, 1, "a person is needed");
    REQUIRE(RUN("patra", "pause", "daily", "--store", store).code == 0, "pause");
    run = RUN("patra", "status", "--store", store);
    CHECK(!cli_has(run.out, "the cursor of harvest is"), "who paused it knows");
}

TEST(a_cursor_far_behind_that_does_not_move_is_reported_on_sqlite)
{
    far_behind(cli_with_daily(cli_sqlite("behind")),
               "UPDATE ing_cursor SET updated_at = updated_at - 14400000000");
}

TEST(a_cursor_far_behind_that_does_not_move_is_reported_on_postgres)
{
    far_behind(cli_with_daily(cli_postgres()),
               "UPDATE ing_cursor SET updated_at = updated_at - interval '4 hours'");
}

/* One task of ten, as a person cancels it. */
static void cancelled_task(const char *store)
{
    const char *task;
    char text[64];
    struct run run = RUN("patra", "trigger", "daily", "--from", "2026-01-01", "--to", "2026-01-11",
                         "--store", store);

    REQUIRE(run.code == 0, "trigger");
    task = first_task(store);
    run = RUN("patra", "task", "cancel", task, "--reason", "a test", "--store", store);
    CHECK_EQ(run.code, 0, "exit code");
    CHECK(cli_has(run.out, "task ") && cli_has(run.out, ": cancelled"), "what happened");
    run = RUN("patra", "task", "cancel", task, "--store", store);
    CHECK(cli_has(run.out, "had already ended"), "once");
    run = RUN("patra", "plan", "show", "1", "--json", "--store", store);
    CHECK_STR(cli_value(run.out, "status"), STR("READY"), "the plan goes on");
    CHECK_STR(cli_value(run.out, "tasks.CANCELLED"), STR("1"), "one task");
    CHECK_STR(cli_value(run.out, "tasks.QUEUED"), STR("9"), "of ten");
    CHECK_STR(cli_value(run.out, "slices.0.status"), STR("CANCELLED"), "and its slice");
    run = RUN("patra", "cursor", "show", "daily", "--store", store);
    (void)snprintf(text, sizeof(text), "task %s of plan 1 is CANCELLED", task);
    CHECK(cli_has(run.out, text), "where the cursor stops");
    CHECK(cli_has(run.out, "cancelled by a person: a test"), "and why");
    run = RUN("patra", "trigger", "daily", "--from", "2026-01-01", "--to", "2026-01-11", "--json",
              "--store", store);
    CHECK_STR(cli_value(run.out, "sliceCount"), STR("1"), "it is planned again");
    run = RUN("patra", "task", "cancel", "99", "--store", store);
    CHECK(run.code != 0 && cli_has(run.talk, "there is no task 99"), "an unknown one");
}

TEST(one_task_is_cancelled_on_sqlite)
{
    cancelled_task(cli_with_daily(cli_sqlite("task")));
}

TEST(one_task_is_cancelled_on_postgres)
{
    cancelled_task(cli_with_daily(cli_postgres()));
}

TEST(ids_of_a_task_that_is_cancelled_are_not_lost)
{
    const char *store = cli_with_daily(cli_sqlite("taskids"));
    struct run run =
        RUN("patra", "trigger", "daily", "update", "--ids", file_of_ids(), "--store", store);

    REQUIRE(run.code == 0, "update");
    REQUIRE(RUN("patra", "task", "cancel", "1", "--store", store).code == 0, "cancel");
    run = RUN("patra", "trigger", "daily", "update", "--json", "--store", store);
    CHECK_STR(cli_value(run.out, "remarks.totalEstimated"), STR("2"), "they are chosen again");
}

static const struct {
    const char *label;
    const char *argv[8];
    int code;
    const char *talk;
} wrong[] = {
    { "no source", { "patra", "trigger" }, 2, "SOURCE" },
    { "a date that is none",
      { "patra", "trigger", "daily", "--from", "yesterday" },
      2,
      "--from: 'yesterday'" },
    { "a setting without value",
      { "patra", "trigger", "daily", "--set", "page.size" },
      2,
      "--set" },
    { "a file that is not there",
      { "patra", "trigger", "daily", "update", "--ids", "/no/such" },
      4,
      "/no/such" },
    { "an unknown source", { "patra", "trigger", "dialy" }, 4, "source.unknown" },
    { "an operation it has not",
      { "patra", "trigger", "daily", "metrics" },
      4,
      "source.operation" },
    { "a setting triggers may not change",
      { "patra", "trigger", "daily", "--set", "http.base_url=https://x.org" },
      4,
      "spec.override" },
    { "a parameter that the source has not",
      { "patra", "trigger", "daily", "--set", "params.Q=x" },
      4,
      "daily has no parameter 'Q'; its parameters: none" },
    { "ids of what is not chosen by id",
      { "patra", "trigger", "daily", "backfill", "--ids", "/dev/null" },
      4,
      "--ids cannot be used with BACKFILL" },
    { "staleness of what is not chosen by id",
      { "patra", "trigger", "daily", "--stale", "1d" },
      4,
      "--stale cannot be used with HARVEST" },
    { "a campaign of what is none",
      { "patra", "trigger", "daily", "--campaign", "spring" },
      4,
      "--campaign cannot be used with HARVEST" },
    { "plans of an unknown source",
      { "patra", "plan", "list", "--source", "dialy" },
      4,
      "source.unknown" },
    { "bad records of an unknown source",
      { "patra", "quarantine", "list", "dialy" },
      4,
      "source.unknown" },
    { "a plan that is not there", { "patra", "plan", "show", "77" }, 4, "no plan 77" },
    { "tasks of such a plan", { "patra", "task", "list", "--plan", "77" }, 4, "no plan 77" },
    { "a state that plans have not",
      { "patra", "plan", "list", "--status", "done" },
      2,
      "is not one of DRAFT" },
    { "no plan's number", { "patra", "plan", "cancel", "seven" }, 2, "seven" },
    { "an endpoint it has not", { "patra", "pause", "daily/jobs" }, 4, "no endpoint 'jobs'" },
};

TEST(what_cannot_be_done_is_reported_by_exit_code_and_text)
{
    const char *store = cli_with_daily(cli_sqlite("wrong"));

    for (size_t i = 0; i < ARRAY_LEN(wrong); i++) {
        const char *argv[11] = { 0 };
        struct run run;
        size_t n = 0;

        for (; n < ARRAY_LEN(wrong[i].argv) && wrong[i].argv[n] != NULL; n++)
            argv[n] = wrong[i].argv[n];
        argv[n++] = "--store";
        argv[n] = store;
        run = run_program(argv);
        CHECK_EQ(run.code, wrong[i].code, wrong[i].label);
        CHECK(cli_has(run.talk, wrong[i].talk), wrong[i].label);
        CHECK_STR(run.out, STR(""), wrong[i].label);
    }
}

/* ---- pause ---- */

static void pause_and_resume(const char *store)
{
    struct run run = RUN("patra", "pause", "daily/works", "--reason", "moving", "--store", store);

    CHECK_EQ(run.code, 0, "pause");
    CHECK_STR(run.out, STR("daily/works: paused\n"), "pause");
    run = RUN("patra", "pause", "daily/works", "--store", store);
    CHECK_STR(run.out, STR("daily/works: already paused\n"), "a second time");
    run = RUN("patra", "pause", "--json", "--store", store);
    CHECK_STR(cli_value(run.out, "0.endpoint"), STR("works"), "listed");
    CHECK_STR(cli_value(run.out, "0.reason"), STR("moving"), "the first reason stands");
    run = RUN("patra", "trigger", "daily", "--store", store);
    CHECK_EQ(run.code, 3, "not while it is paused");
    CHECK(cli_has(run.talk, "patra resume daily/works"), "and what to do");
    run = RUN("patra", "trigger", "daily", "--dry-run", "--store", store);
    CHECK_EQ(run.code, 0, "one may look");
    CHECK_STR(RUN("patra", "resume", "daily/works", "--store", store).out,
              STR("daily/works: resumed\n"), "resume");
    CHECK_EQ(RUN("patra", "trigger", "daily", "--store", store).code, 0, "it goes on");
}

TEST(a_pause_outlives_the_process_on_sqlite)
{
    pause_and_resume(cli_with_daily(cli_sqlite("pause")));
}

TEST(a_pause_outlives_the_process_on_postgres)
{
    pause_and_resume(cli_with_daily(cli_postgres()));
}

/* ---- the command line ---- */

TEST(help_of_a_command_can_be_asked_for_in_two_ways)
{
    const struct run one = RUN("patra", "help", "source", "lint");
    const struct run other = RUN("patra", "source", "lint", "--help");
    struct run run;

    CHECK_EQ(one.code, 0, "help");
    CHECK(one.out.len > 100, "is not empty");
    CHECK_STR(one.out, other.out, "and the same");
    CHECK_STR(RUN("patra", "help").out, RUN("patra", "--help").out, "also of all commands");
    run = RUN("patra", "help", "sorce");
    CHECK_EQ(run.code, 2, "no such command");
    CHECK(cli_has(run.talk, "did you mean 'source'?"), run.talk.data);
    CHECK_STR(RUN("patra", "-V").out, RUN("patra", "--version").out, "the version, by its letter");
    CHECK_EQ(RUN("patra", "init", "-V").code, 2, "which other commands do not have");
}

TEST(options_that_cannot_act_are_not_offered)
{
    static const struct {
        const char *command;
        const char *option;
        bool has;
    } cases[] = {
        { "harvest", "--campaign", false }, { "harvest", "--ids", false },
        { "backfill", "--campaign", true }, { "backfill", "--stale", false },
        { "replay", "--campaign", true },   { "update", "--ids", true },
        { "update", "--campaign", false },  { "metrics", "--stale", true },
        { "trigger", "--campaign", true },  { "trigger", "--ids", true },
    };

    for (size_t i = 0; i < ARRAY_LEN(cases); i++) {
        const struct run run = RUN("patra", cases[i].command, "--help");

        CHECK_EQ(cli_has(run.out, cases[i].option), cases[i].has, cases[i].command);
    }
}

TEST(a_window_that_ends_before_it_begins_is_refused)
{
    const char *store = cli_sqlite("backwards");
    struct run run;

    REQUIRE(RUN("patra", "init", "--store", store).code == 0, "init");
    run = RUN("patra", "harvest", "any", "--from", "2026-02-01", "--to", "2026-01-01", "--store",
              store);
    CHECK_EQ(run.code, 2, "the command line is wrong");
    CHECK(cli_has(run.talk, "--from 2026-02-01 is after --to 2026-01-01"), run.talk.data);
}
