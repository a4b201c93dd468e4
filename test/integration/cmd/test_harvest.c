/* patra harvest and status, as a user runs them, against the simulator; what is in the store
 * afterwards is judged by the simulator's own books. */
#include <inttypes.h>
#include <pty.h>
#include <stdio.h>
#include <stdlib.h>
#include <sys/ioctl.h>
#include <sys/wait.h>
#include <unistd.h>

#include "base/buf.h"
#include "cli.h"
#include "run.h"
#include "sim_source.h"
#include "sql.h"
#include "test.h"

#define HARVESTED SIM_SOURCE_NAME " HARVEST of records: done, after "

/* ---- harvest ---- */

/* Every line is an object; gives the last one. */
static struct str check_lines(struct str out, int64_t *batches, int64_t *created)
{
    struct str last = { 0 };

    *batches = *created = 0;
    while (out.len > 0) {
        const struct str line = str_cut(&out, '\n');
        const struct str event = cli_value(line, "event");

        CHECK(event.len > 0, "a line is an event");
        if (str_eq(event, STR("batch"))) {
            ++*batches;
            *created += cli_number(line, "created");
        }
        last = line;
    }
    return last;
}

static void harvest_whole(const char *store)
{
    struct sim sim = SIM_SOURCE_START("--records", "4000", "--fault",
                                      "kind=status code=503 body=empty rate=0.1 by=request",
                                      "--fault", "kind=truncate keep=50 rate=0.1 by=request");
    int64_t batches, created, right;
    struct str summary;
    struct run run, judged;

    sim_source_apply(store, &sim, "rate.burst=100");
    run = RUN("patra", "harvest", SIM_SOURCE_NAME, SIM_SOURCE_WINDOW, "--json", "--store", store);
    CHECK_EQ(run.code, 0, "exit code");
    summary = check_lines(run.out, &batches, &created);
    judged = sim_source_verify(store, &sim);
    CHECK_EQ(judged.code, 0, "the simulator finds nothing wrong");
    right = cli_number(judged.out, "right");
    CHECK(right > 100, "there was something to fetch");
    CHECK_EQ(cli_number(summary, "records.created") + cli_number(summary, "records.deleted"), right,
             "what is said to be new is what is there");
    CHECK_EQ(cli_number(summary, "records.created"), created, "as the events said");
    CHECK_EQ(cli_number(summary, "batches"), batches, "as many batches as events");
    CHECK_EQ(cli_number(summary, "slices.succeeded"), 10, "a slice a day");
    CHECK_EQ(cli_number(summary, "slices.left"), 0, "none left");
    CHECK(cli_number(summary, "retries") > 0, "faults were met");
    CHECK(cli_has(summary, "\"after\":\"2026-02-11T00:00:00Z\""), "the cursor is at the end");
    CHECK_EQ(sql_number(store, "SELECT count(*) FROM ing_cursor_event e"
                               " LEFT JOIN ing_task_run_batch b ON b.id = e.batch_id"
                               " AND b.run_id = e.run_id AND b.task_id = e.task_id"
                               " WHERE e.task_id <> 0 AND b.id IS NULL"),
             0, "each of its steps names the batch it followed");
    run = RUN("patra", "harvest", SIM_SOURCE_NAME, SIM_SOURCE_WINDOW, "--store", store);
    CHECK_EQ(run.code, 0, "once more");
    CHECK(cli_has(run.out, ": 0 new, 0 changed"), "nothing is new");
    run = RUN("patra", "harvest", SIM_SOURCE_NAME, "--from", "2026-02-04", "--to", "2026-02-04",
              "--store", store);
    CHECK(cli_has(run.talk, "nothing to do: --from is not before --to"), "why it does nothing");
    CHECK_EQ(RUN("patra", "status", "--store", store).code, 0, "no person is needed");
    sim_stop(&sim);
}

TEST(a_harvest_holds_what_the_source_has_on_sqlite)
{
    harvest_whole(cli_sqlite("whole"));
}

TEST(a_harvest_holds_what_the_source_has_on_postgres)
{
    harvest_whole(cli_postgres());
}

/* Two days of PubMed that are both above the cap. */
static void harvest_parts(const char *store)
{
    struct sim sim = SIM_SOURCE_START("--records", "6000");
    struct run run;

    sim_source_pubmed_apply(store, &sim);
    run = RUN("patra", "harvest", "pubmed", "--from", "2026-01-10", "--to", "2026-01-12", "--store",
              store);
    CHECK_EQ(run.code, 0, run.out.data);
    CHECK(cli_has(run.out, " -> 2026-01-12T00:00:00Z\n"), "the cursor is at the end");
    CHECK_EQ(sim_source_pubmed_verify(store, &sim, "2026-01-10", "2026-01-12").code, 0,
             "the simulator finds nothing wrong");
    sim_source_pubmed_requests(
        store, &sim, &(struct sim_source_pubmed_need){ .id_batch = 200, .is_capped = true });
    run = RUN("patra", "plan", "show", "1", "--store", store, "--limit", "100");
    CHECK(cli_has(run.out, "  ids up to "), "the lowest part");
    CHECK(cli_has(run.out, "  ids from "), "the highest");
    CHECK(cli_has(run.out, "its slices share it by ids and cover it together."), "what that means");
    run = RUN("patra", "plan", "show", "1", "--store", store, "--json");
    CHECK(cli_has(run.out, "\"bounds\":{\"id\":{\"to\":\""), "for programs");
    CHECK_EQ(RUN("patra", "status", "--store", store).code, 0, "no person is needed");
    CHECK_EQ(RUN("patra", "cursor", "verify", "--store", store).code, 0, "cursors are clean");
    sim_stop(&sim);
}

TEST(days_above_the_cap_are_harvested_and_shown_part_by_part_on_sqlite)
{
    harvest_parts(cli_sqlite("parts"));
}

TEST(days_above_the_cap_are_harvested_and_shown_part_by_part_on_postgres)
{
    harvest_parts(cli_postgres());
}

/* A part that fails is reported with its ids; what it lacks, a later harvest fetches. */
TEST(a_part_that_fails_is_reported_with_its_ids)
{
    const char *store = cli_sqlite("failing-part");
    struct sim sim =
        SIM_SOURCE_START("--records", "6000", "--fault", "kind=status code=400 query=AND%20");
    struct run run;

    sim_source_pubmed_apply(store, &sim);
    run = RUN("patra", "harvest", "pubmed", "--from", "2026-01-10", "--to", "2026-01-11", "--store",
              store);
    CHECK_EQ(run.code, 1, "something is missing");
    CHECK(cli_has(run.out, "missing     2026-01-10T00:00:00Z .. 2026-01-11T00:00:00Z, ids "),
          "which part");
    run = RUN("patra", "status", "pubmed", "--store", store);
    CHECK_EQ(run.code, 1, "a person is needed");
    CHECK(cli_has(run.out, ".. 2026-01-11T00:00:00Z, ids "), "and sees it here");
    run = RUN("patra", "status", "pubmed", "--store", store, "--json");
    CHECK(cli_has(run.out, "\"toId\":"), "for programs");
    sim_stop(&sim);
}

/* All that harvest writes to a terminal of this kind; good until the next call. */
static struct str on_terminal(const char *store, const char *term, const char *no_color)
{
    static struct arena arena;
    const char *build = getenv("PATRA_BUILD");
    const struct winsize size = { .ws_row = 24, .ws_col = 80 };
    char program[512];
    struct buf text;
    char bytes[4096];
    ssize_t len;
    int fd, status;
    pid_t pid;

    if (arena.limit == 0)
        arena_init(&arena, (size_t)8 << 20);
    arena_reset(&arena);
    buf_init(&text, &arena, (size_t)4 << 20);
    (void)snprintf(program, sizeof(program), "%s/patra", build != NULL ? build : "build");
    pid = forkpty(&fd, NULL, NULL, &size);
    REQUIRE(pid >= 0, "forkpty");
    if (pid == 0) {
        (void)setenv("TERM", term, 1);
        (void)(no_color != NULL ? setenv("NO_COLOR", no_color, 1) : unsetenv("NO_COLOR"));
        (void)execl(program, "patra", "harvest", SIM_SOURCE_NAME, SIM_SOURCE_WINDOW, "--store",
                    store, NULL);
        _exit(127);
    }
    while ((len = read(fd, bytes, sizeof(bytes))) > 0) /* EIO at the end */
        buf_add(&text, (struct str){ bytes, (size_t)len });
    (void)close(fd);
    REQUIRE(waitpid(pid, &status, 0) == pid, "wait");
    CHECK(WIFEXITED(status) && WEXITSTATUS(status) == 0, "exit code");
    return buf_str(&text);
}

TEST(a_terminal_gets_a_block_that_is_repainted_and_taken_away)
{
    struct sim sim = SIM_SOURCE_START("--records", "2000");
    const char *store = cli_sqlite("terminal");
    struct str text;

    sim_source_apply(store, &sim, "rate.per_second=20");
    text = on_terminal(store, "xterm", NULL);
    CHECK(cli_has(text, " slices  eta "), "the block");
    CHECK(cli_has(text, "\x1b[4A\r\x1b[J"), "painted over");
    CHECK(cli_has(text, "\x1b[36m"), "with colours");
    CHECK(cli_has(text, HARVESTED), "the summary");
    text = on_terminal(store, "xterm", "1");
    CHECK(cli_has(text, "\x1b[J") && !cli_has(text, "\x1b[36m"),
          "without, where they are not wanted");
    text = on_terminal(store, "dumb", NULL);
    CHECK(!cli_has(text, "\x1b"), "nothing of the kind for a dumb one");
    CHECK(cli_has(text, HARVESTED), "the summary");
    sim_stop(&sim);
}

static void task_is_shown(const char *store)
{
    struct sim sim = SIM_SOURCE_START("--records", "2000", "--fault",
                                      "kind=status code=400 query=from=2026-02-03T00%3A00%3A00Z");
    struct str id;
    char number[32], first[32];
    struct run run;

    sim_source_apply(store, &sim, "rate.burst=100");
    run = RUN("patra", "harvest", SIM_SOURCE_NAME, SIM_SOURCE_WINDOW, "--store", store);
    REQUIRE(run.code == 1, "a slice fails");
    run = RUN("patra", "task", "list", "--status", "failed", "--json", "--store", store);
    id = cli_value(run.out, "0.id");
    CHECK_STR(cli_value(run.out, "0.window.from"), STR("2026-02-03T00:00:00Z"), "which");
    CHECK_STR(cli_value(run.out, "1"), STR(""), "and no other");
    (void)snprintf(number, sizeof(number), "%.*s", STR_ARG(id));
    run = RUN("patra", "task", "show", number, "--store", store);
    CHECK_EQ(run.code, 0, "show");
    CHECK(cli_has(run.out, "  window      2026-02-03T00:00:00Z .. 2026-02-04T00:00:00Z\n"), "what");
    CHECK(cli_has(run.out, "\n  request   {") && cli_has(run.out, "\n  response  {"), "both sides");
    CHECK(cli_has(run.out, "\n  failed    20") && cli_has(run.out, "; waited "), "its attempts");
    run = RUN("patra", "task", "show", number, "--json", "--store", store);
    CHECK_STR(cli_value(run.out, "runs.0.status"), STR("FAILED"), "its run");
    CHECK_STR(cli_value(run.out, "batches.0.request.method"), STR("GET"), "the request");
    CHECK_STR(cli_value(run.out, "batches.0.response.status"), STR("400"), "the answer");
    CHECK_STR(cli_value(run.out, "batches.0.response.attempts.4.status"), STR("400"),
              "the last of five attempts");
    CHECK_STR(cli_value(run.out, "runCount"), STR("5"), "how many");
    (void)snprintf(first, sizeof(first), "%.*s", STR_ARG(cli_value(run.out, "runs.0.id")));
    run = RUN("patra", "task", "show", number, "--run", first, "--json", "--store", store);
    CHECK_STR(cli_value(run.out, "batches.0.runId"), str_of(first), "of an earlier run");
    run = RUN("patra", "task", "show", number, "--run", "4711", "--store", store);
    CHECK(run.code != 0 && cli_has(run.talk, "has no run 4711"), "it has no such run");
    CHECK_EQ(RUN("patra", "task", "show", "4711", "--store", store).code, 4, "there is none");
    run = RUN("patra", "task", "list", "--status", "failed", "--store", store);
    CHECK(cli_has(run.out, "  FAILED  5     2026-02-03  2026-02-04\n    "), "its error below it");
    run = RUN("patra", "task", "show", number, "--batches", "10001", "--store", store);
    CHECK_EQ(run.code, 2, "more than there may be");
    CHECK(cli_has(run.talk, "--batches: 10001 is not between 0 and 10000"), "says so");
    sim_stop(&sim);
}

TEST(a_task_shows_its_requests_and_responses_on_sqlite)
{
    task_is_shown(cli_sqlite("task"));
}

TEST(a_task_shows_its_requests_and_responses_on_postgres)
{
    task_is_shown(cli_postgres());
}

TEST(a_slice_that_fails_is_reported_with_its_reason_and_covered_later)
{
    const char *store = cli_sqlite("failing");
    struct sim bad = SIM_SOURCE_START("--records", "2000", "--fault",
                                      "kind=status code=400 query=from=2026-02-03T00%3A00%3A00Z");
    struct sim good = SIM_SOURCE_START("--records", "2000");
    struct run run;

    sim_source_apply(store, &bad, "rate.burst=100");
    run = RUN("patra", "harvest", SIM_SOURCE_NAME, SIM_SOURCE_WINDOW, "--store", store);
    CHECK_EQ(run.code, 1, "exit code");
    CHECK(cli_has(run.out, "done, with something missing"), "the verdict");
    CHECK(cli_has(run.out, "missing     2026-02-03T00:00:00Z .. 2026-02-04T00:00:00Z: "), "where");
    CHECK(cli_has(run.out, "400"), "why");
    CHECK(cli_has(run.out, "9 done, 0 partial, 1 failed"), "the others are there");
    CHECK(cli_has(run.out, " -> 2026-02-03T00:00:00Z\n"), "the cursor waits before it");
    run = RUN("patra", "status", SIM_SOURCE_NAME, "--store", store);
    CHECK_EQ(run.code, 1, "a person is needed");
    CHECK(cli_has(run.out, "1 slice failed and is still missing"), "why");
    CHECK_EQ(RUN("patra", "harvest", SIM_SOURCE_NAME, SIM_SOURCE_WINDOW, "--store", store).code, 1,
             "once more");
    CHECK(cli_has(RUN("patra", "status", SIM_SOURCE_NAME, "--store", store).out,
                  "1 slice failed and is still missing"),
          "it is one window, however often it was tried");
    sim_source_apply(store, &good, "rate.burst=100");
    run = RUN("patra", "harvest", SIM_SOURCE_NAME, SIM_SOURCE_WINDOW, "--store", store);
    CHECK_EQ(run.code, 0, "healed");
    CHECK(cli_has(run.out, " -> 2026-02-11T00:00:00Z\n"), "the cursor goes on");
    CHECK_EQ(sim_source_verify(store, &good).code, 0, "all of it");
    CHECK_EQ(RUN("patra", "status", SIM_SOURCE_NAME, "--store", store).code, 0,
             "no person is needed");
    sim_stop(&bad);
    sim_stop(&good);
}

/* A task that cannot be read is not run as if it said nothing. */
static void unreadable_task(const char *store, const char *params, const char *why)
{
    struct sim sim = SIM_SOURCE_START("--records", "2000");
    char sql[256], which[64];
    struct run run;

    sim_source_apply(store, &sim, "rate.burst=100");
    REQUIRE(RUN("patra", "trigger", SIM_SOURCE_NAME, SIM_SOURCE_WINDOW, "--store", store).code == 0,
            "trigger");
    (void)snprintf(sql, sizeof(sql),
                   "UPDATE ing_task SET params = '%s' WHERE slice_id ="
                   " (SELECT id FROM ing_plan_slice WHERE slice_no = 3) RETURNING id",
                   params);
    (void)snprintf(which, sizeof(which), "params of task %" PRId64 ": ", sql_number(store, sql));
    (void)RUN("patra", "work", "--drain", "--store", store);
    run = RUN("patra", "status", SIM_SOURCE_NAME, "--store", store);
    CHECK_EQ(run.code, 1, "a person is needed");
    CHECK(cli_has(run.out, "1 slice failed and is still missing"), "that task alone");
    CHECK(cli_has(run.out, which) && cli_has(run.out, why) && cli_has(run.out, params) &&
              cli_has(run.out, "patra trigger"),
          "which task, what is wrong, what to do");
    CHECK_EQ(sql_number(store, "SELECT count(*) FROM ing_task WHERE status_code = 'SUCCEEDED'"), 9,
             "the others have not");
    CHECK(cli_has(RUN("patra", "cursor", "list", "--store", store).out, "  2026-02-03  "),
          "the cursor waits before it");
    run = RUN("patra", "harvest", SIM_SOURCE_NAME, SIM_SOURCE_WINDOW, "--store", store);
    CHECK_EQ(run.code, 0, "what it said to do helps");
    CHECK_EQ(sim_source_verify(store, &sim).code, 0, "all of it");
    sim_stop(&sim);
}

TEST(a_task_whose_params_cannot_be_read_fails_and_holds_the_cursor_on_sqlite)
{
    unreadable_task(cli_sqlite("no-object"), "[1]", "they are not a JSON object");
}

TEST(a_task_whose_params_cannot_be_read_fails_and_holds_the_cursor_on_postgres)
{
    unreadable_task(cli_postgres(), "{\"lastResort\":\"yes\"}",
                    "lastResort is neither true nor false");
}

TEST(a_refused_credential_stops_the_source_until_a_person_resumes_it)
{
    const char *store = cli_sqlite("stopped");
    struct sim bad =
        SIM_SOURCE_START("--records", "2000", "--fault", "kind=status code=401 body=empty");
    struct sim good = SIM_SOURCE_START("--records", "2000");
    struct run run;

    sim_source_apply(store, &bad, "rate.burst=100");
    run = RUN("patra", "harvest", SIM_SOURCE_NAME, SIM_SOURCE_WINDOW, "--workers", "1", "--store",
              store);
    CHECK_EQ(run.code, 4, "exit code");
    CHECK(cli_has(run.out, "stopped by a fatal error"), "the verdict");
    CHECK(cli_has(run.out, "status 401: access is refused, and nothing was there to show"), "why");
    CHECK(cli_has(run.out, "patra resume " SIM_SOURCE_NAME), "what to do");
    run = RUN("patra", "status", "--store", store);
    CHECK_EQ(run.code, 1, "a person is needed");
    CHECK(cli_has(run.out, "stopped " SIM_SOURCE_NAME), "it is stopped");
    CHECK(cli_has(run.out, "patra resume " SIM_SOURCE_NAME), "what to do");
    run = RUN("patra", "harvest", SIM_SOURCE_NAME, SIM_SOURCE_WINDOW, "--store", store);
    CHECK_EQ(run.code, 4, "it stays stopped");
    run = RUN("patra", "source", "test", SIM_SOURCE_NAME, "--live", "--store", store);
    CHECK_EQ(run.code, 1, "whether the cause is gone can be tried: it is not");
    CHECK_EQ(RUN("patra", "resume", SIM_SOURCE_NAME, "--store", store).code, 0, "resume");
    run = RUN("patra", "status", "--store", store);
    CHECK(!cli_has(run.out, "stopped " SIM_SOURCE_NAME), "lifted");
    CHECK_EQ(RUN("patra", "plan", "cancel", "1", "--store", store).code, 0, "the old address");
    sim_source_apply(store, &good, "rate.burst=100");
    run = RUN("patra", "harvest", SIM_SOURCE_NAME, SIM_SOURCE_WINDOW, "--store", store);
    CHECK_EQ(run.code, 0, "goes on");
    CHECK_EQ(sim_source_verify(store, &good).code, 0, "all of it");
    CHECK_EQ(RUN("patra", "status", "--store", store).code, 0, "no person is needed");
    sim_stop(&bad);
    sim_stop(&good);
}

/* ---- what stops it ---- */

/* All slices are under way when the error comes: none is left that would wait for a person. */
TEST(a_stop_that_the_last_slices_met_is_reported)
{
    const char *store = cli_sqlite("last");
    struct sim bad =
        SIM_SOURCE_START("--records", "2000", "--fault", "kind=status code=401 body=empty");
    struct run run;

    sim_source_apply(store, &bad, "rate.burst=100");
    run = RUN("patra", "harvest", SIM_SOURCE_NAME, "--from", "2026-02-01", "--to", "2026-02-02",
              "--store", store);
    CHECK_EQ(run.code, 4, "exit code");
    CHECK(cli_has(run.out, "stopped by a fatal error"), "the verdict");
    CHECK(cli_has(run.out, "patra resume " SIM_SOURCE_NAME), "what to do");
    CHECK_EQ(RUN("patra", "resume", SIM_SOURCE_NAME, "--store", store).code, 0, "resume");
    run = RUN("patra", "harvest", SIM_SOURCE_NAME, "--from", "2026-02-01", "--to", "2026-02-02",
              "--json", "--store", store);
    CHECK_EQ(run.code, 4, "again");
    CHECK(cli_has(run.out, "\"end\":\"stopped\",\"exit\":4,\"reason\":\""), "for programs");
    sim_stop(&bad);
}

TEST(a_summary_says_why_nothing_was_planned)
{
    const char *store = cli_sqlite("nothing");
    struct sim sim = SIM_SOURCE_START("--records", "10");
    struct run run;

    sim_source_apply(store, &sim, "rate.burst=100");
    run = RUN("patra", "harvest", SIM_SOURCE_NAME, "--from", "2999-02-02", "--quiet", "--store",
              store);
    CHECK_EQ(run.code, 0, "no failure");
    CHECK(cli_has(run.out, "planned     nothing: --from is not before now less the lag\n"),
          "for people");
    run = RUN("patra", "harvest", SIM_SOURCE_NAME, "--from", "2999-02-02", "--json", "--store",
              store);
    CHECK(cli_has(run.out, "\"reason\":\"--from is not before now less the lag\""), "for programs");
    sim_stop(&sim);
}

/* The first record of the page has another title when it is replayed, and its old date. */
TEST(a_summary_counts_what_changed_without_a_new_date)
{
    static const char line[] = "  same date   1 changed without a new date\n";
    const char *store = cli_sqlite("same-date");
    struct sim sim = SIM_SOURCE_START("--records", "2000");
    char faults[256];
    struct run run;

    (void)snprintf(faults, sizeof(faults), "%s/_sim/faults", sim.base);
    sim_source_apply(store, &sim, "endpoints.records.page.size=1000");
    run = RUN("patra", "harvest", SIM_SOURCE_NAME, "--from", "2026-02-01", "--to", "2026-02-02",
              "--store", store);
    CHECK_EQ(run.code, 0, run.talk.data);
    CHECK(!cli_has(run.out, "same date"), "all of them are new");
    run = RUN("/usr/bin/curl", "-sf", "-X", "POST", "-d",
              "path=/generic/offset kind=reshape member=title as=altered", faults);
    REQUIRE(run.code == 0, "a fault");
    run = RUN("patra", "replay", SIM_SOURCE_NAME, "--from", "2026-02-01", "--to", "2026-02-02",
              "--store", store);
    CHECK_EQ(run.code, 0, run.talk.data);
    CHECK(cli_has(run.out, line), run.out.data);
    run = RUN("patra", "task", "show", "2", "--store", store);
    CHECK(cli_has(run.out, "1 records changed without a new date\n"), "the task says so, too");
    sim_stop(&sim);
}

/* ---- what is waited for ---- */

TEST(a_harvest_that_never_brought_a_record_doubts_its_filter)
{
    const char *store = cli_sqlite("empty");
    struct sim sim = SIM_SOURCE_START("--records", "200");
    struct run run;

    sim_source_apply(store, &sim, "rate.burst=100");
    run = RUN("patra", "harvest", SIM_SOURCE_NAME, "--from", "2025-01-01", "--to", "2025-01-03",
              "--store", store);
    CHECK_EQ(run.code, 0, "the source had nothing");
    CHECK(cli_has(run.out, "no record came: is the filter by date right?"), "the summary says so");
    run = RUN("patra", "harvest", SIM_SOURCE_NAME, SIM_SOURCE_WINDOW, "--store", store);
    CHECK(!cli_has(run.out, "no record came"), "there are records");
    run = RUN("patra", "harvest", SIM_SOURCE_NAME, "--from", "2026-06-01", "--to", "2026-06-03",
              "--store", store);
    CHECK(cli_has(run.out, "0: 0 new"), "days without records");
    CHECK(!cli_has(run.out, "no record came"), "are usual where some came before");
    sim_stop(&sim);
}

static void wait_is_shown(const char *store)
{
    struct sim sim =
        SIM_SOURCE_START("--records", "2000", "--fault", "kind=status code=429 retry_after=600");
    struct run run;

    sim_source_apply(store, &sim, "rate.burst=100");
    run = RUN("patra", "harvest", SIM_SOURCE_NAME, SIM_SOURCE_WINDOW, "--workers", "1", "--wait",
              "1s", "--json", "--store", store);
    CHECK_EQ(run.code, 3, "not for ten minutes");
    CHECK(cli_has(run.out, "\"status\":\"QUEUED\",\"until\":\"") &&
              cli_has(run.out, "\"reason\":\"RETRY_AFTER\""),
          "the task was put off, until when and why");
    run = RUN("patra", "harvest", SIM_SOURCE_NAME, SIM_SOURCE_WINDOW, "--workers", "1", "--wait",
              "1s", "--store", store);
    CHECK_EQ(run.code, 3, "still");
    CHECK(cli_has(run.out, "no task may run before "), "until when");
    run = RUN("patra", "status", SIM_SOURCE_NAME, "--store", store);
    CHECK_EQ(run.code, 0, "it passes by itself");
    CHECK(cli_has(run.out, "(Retry-After)"), "the gate shows why");
    CHECK(cli_has(run.out, "  schedule  harvest  next "), "and the schedule when");
    run = RUN("patra", "status", SIM_SOURCE_NAME, "--json", "--store", store);
    CHECK(cli_has(run.out, "\"blockedReason\":\"RETRY_AFTER\"") &&
              cli_has(run.out, "\"blockedUntil\":\""),
          "for programs too");
    CHECK_EQ(cli_number(run.out, "gates.0.configuredPerSecond"), 1000, "what the file wants");
    CHECK_EQ(cli_number(run.out, "sources.0.operations.0.queued"), 10, "what waits");
    sim_stop(&sim);
}

TEST(a_wait_is_shown_with_its_end_and_reason_on_sqlite)
{
    wait_is_shown(cli_sqlite("waits"));
}

TEST(a_wait_is_shown_with_its_end_and_reason_on_postgres)
{
    wait_is_shown(cli_postgres());
}

/* ---- the command line ---- */

static const struct {
    const char *label;
    const char *argv[8];
    int code;
    const char *talk;
} wrong[] = {
    { "no workers",
      { "patra", "harvest", SIM_SOURCE_NAME, "--workers", "0" },
      2,
      "--workers: 0 is not between 1 and 64" },
    { "no duration", { "patra", "harvest", SIM_SOURCE_NAME, "--wait", "long" }, 2, "--wait" },
    { "readable tokens",
      { "patra", "serve", "--role", "api", "--listen", "0.0.0.0:0" },
      2,
      "--insecure-listen" },
    { "no role",
      { "patra", "serve", "--role", "planer" },
      2,
      "is not planner, executor, publisher, consumer or api" },
    { "no lease", { "patra", "work", "--lease", "500ms" }, 2, "not between 1s and 1h" },
    { "no level", { "patra", "work", "--log-level", "loud" }, 2, "--log-level" },
    { "nobody's source", { "patra", "harvest", "nobody" }, 4, "source.unknown" },
    { "nobody's status", { "patra", "status", "nobody" }, 4, "source.unknown" },
    { "nobody's work", { "patra", "work", "--source", "nobody" }, 4, "source.unknown" },
    { "nobody's cursors", { "patra", "cursor", "verify", "nobody" }, 4, "source.unknown" },
    { "no number", { "patra", "plan", "show", "x" }, 2, "is not the number of a plan" },
    { "no store", { "patra", "status", "--store", "nowhere.db" }, 4, "patra init" },
};

TEST(a_secret_that_is_not_set_is_reported_before_anything_is_sent)
{
    const char *store = cli_sqlite("unset");
    struct run run;

    REQUIRE(unsetenv("PATRA_CONTACT") == 0, "unsetenv");
    REQUIRE(RUN("patra", "init", "--store", store).code == 0, "init");
    REQUIRE(RUN("patra", "source", "apply", "sources/crossref.yaml", "--store", store).code == 0,
            "apply");
    run = RUN("patra", "harvest", "crossref", "--from", "2026-01-01", "--to", "2026-01-02",
              "--store", store);
    CHECK_EQ(run.code, 4, "it cannot be done");
    CHECK(cli_has(run.talk, "env:PATRA_CONTACT"), "what is missing");
    run = RUN("patra", "status", "crossref", "--store", store);
    CHECK(!cli_has(run.out, "stopped"), "the source goes on elsewhere");
    CHECK_EQ(sql_number(store, "SELECT count(*) FROM ing_task_run"), 0, "no task was taken");
}

/* A queue that does not move says why, before any of its tasks has failed for good. */
TEST(tasks_that_are_put_off_show_why)
{
    const char *store = cli_sqlite("dead");
    struct run run;

    REQUIRE(RUN("patra", "init", "--store", store).code == 0, "init");
    REQUIRE(RUN("patra", "source", "apply", "test/data/sim-sources/generic-offset.yaml", "--set",
                "http.base_url=http://127.0.0.1:1", "--set", "retry.max_delay=10m", "--store",
                store)
                    .code == 0,
            "apply");
    run = RUN("patra", "harvest", SIM_SOURCE_NAME, "--from", "2026-02-01", "--to", "2026-02-02",
              "--wait", "1s", "--store", store);
    CHECK_EQ(run.code, 3, "nobody is there");
    run = RUN("patra", "status", SIM_SOURCE_NAME, "--store", store);
    CHECK_EQ(run.code, 0, "it heals by itself");
    CHECK(cli_has(run.out, "    put off: 1 task, the first until "), "put off");
    CHECK(cli_has(run.out, "could not connect"), "why");
    run = RUN("patra", "status", SIM_SOURCE_NAME, "--json", "--store", store);
    CHECK(cli_has(cli_value(run.out, "sources.0.operations.0.putOff.reason"), "could not connect"),
          "for programs");
}

TEST(what_cannot_be_done_is_reported_by_exit_code_and_text)
{
    const char *store = cli_sqlite("wrong");

    REQUIRE(RUN("patra", "init", "--store", store).code == 0, "init");
    REQUIRE(setenv("PATRA_STORE", store, 1) == 0, "setenv");
    for (size_t i = 0; i < ARRAY_LEN(wrong); i++) {
        const struct run run = run_program(wrong[i].argv);

        CHECK_EQ(run.code, wrong[i].code, wrong[i].label);
        CHECK(cli_has(run.talk, wrong[i].talk), wrong[i].label);
    }
    REQUIRE(unsetenv("PATRA_STORE") == 0, "unsetenv");
}
