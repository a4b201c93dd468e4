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

/* ---- update ---- */

static const char *file_of_ids(const char *text)
{
    static char path[512];
    FILE *file;

    (void)snprintf(path, sizeof(path), "%s/ids.txt", test_folder());
    file = fopen(path, "w");
    REQUIRE(file != NULL, path);
    (void)fputs(text, file);
    REQUIRE(fclose(file) == 0, path);
    return path;
}

/* They were signals, and the plan that failed had taken them up. */
static void failed_ids(const char *store)
{
    const char *ids = file_of_ids("r00000001\nr00000002\nr00000003\n");
    struct sim sim =
        SIM_SOURCE_START("--records", "100", "--fault", "kind=status code=401 body=empty nth=1");
    struct run run;

    sim_source_apply_file(store, &sim, "test/data/sim-sources/generic-details.yaml",
                          "rate.burst=100");
    run =
        RUN("patra", "update", "generic-details", "--ids", ids, "--workers", "1", "--store", store);
    CHECK_EQ(run.code, 4, "the source is stopped");
    REQUIRE(RUN("patra", "resume", "generic-details", "--store", store).code == 0, "resume");
    run = RUN("patra", "update", "generic-details", "--store", store);
    CHECK_EQ(run.code, 0, "exit code");
    CHECK(cli_has(run.out, "planned     3 ids"), "they are looked at after all");
    CHECK_EQ(sql_number(store, "SELECT count(*) FROM ing_record"), 3, "and are there");
    run = RUN("patra", "status", "--store", store);
    CHECK_EQ(run.code, 0, "what failed was made up for");
    sim_stop(&sim);
}

/* ---- metrics ---- */

static const char METRICS_SOURCE[] =
    "source: counted\n"
    "http: { base_url: \"http://127.0.0.1:1\", allow_plain_http: true }\n"
    "rate: { per_second: 1000, burst: 1000 }\n"
    "endpoints:\n"
    "  list:\n"
    "    role: search\n"
    "    path: /generic/offset\n"
    "    query: { offset: \"${page.offset}\", limit: \"${page.size}\", from: \"${window.from}\","
    " to: \"${window.to}\" }\n"
    "    page: { type: offset, size: 100 }\n"
    "    window: { key: updated_at, lag: 1m, max: 10d, min: 1m }\n"
    "    response: { items: $.items, id: $.id, updated_at: $.updated_at, deleted: $.deleted,"
    " total: $.total }\n"
    "  counts:\n"
    "    role: metrics\n"
    "    path: \"/generic/records/${join(ids.list, '')}\"\n"
    "    page: { type: single }\n"
    "    batch: { id_batch_size: 1, id_batch_max: 1 }\n"
    "    response: { items: $, id: $.id, error_when: [ { status: 404, meaning: empty } ] }\n"
    "operations:\n"
    "  harvest: { endpoint: list }\n"
    "  metrics: { endpoint: counts, staleness: { after: 7d } }\n";

static void metrics_in_the_foreground(const char *store)
{
    struct sim sim = SIM_SOURCE_START("--records", "400");
    char path[512];
    int64_t live;
    struct run run;
    FILE *file;

    (void)snprintf(path, sizeof(path), "%s/counted.yaml", test_folder());
    file = fopen(path, "w");
    REQUIRE(file != NULL && fputs(METRICS_SOURCE, file) >= 0 && fclose(file) == 0, path);
    sim_source_apply_file(store, &sim, path, "rate.burst=1000");
    run = RUN("patra", "harvest", "counted", SIM_SOURCE_WINDOW, "--store", store);
    REQUIRE(run.code == 0, "harvest");
    live = sql_number(store, "SELECT count(*) FROM ing_record"
                             " WHERE endpoint_name = 'list' AND NOT deleted");
    CHECK(live > 10, "there are records");
    run = RUN("patra", "metrics", "counted", "--json", "--store", store);
    CHECK_EQ(run.code, 0, "exit code");
    CHECK_EQ(sql_number(store, "SELECT count(*) FROM ing_record WHERE endpoint_name = 'counts'"),
             live, "the metrics of every record are there");
    run = RUN("patra", "metrics", "counted", "--store", store);
    CHECK_EQ(run.code, 0, "once more");
    CHECK(cli_has(run.talk, "nothing to do"), "none is stale");
    sim_stop(&sim);
}

TEST(metrics_are_fetched_in_the_foreground_on_sqlite)
{
    metrics_in_the_foreground(cli_sqlite("metrics"));
}

TEST(metrics_are_fetched_in_the_foreground_on_postgres)
{
    metrics_in_the_foreground(cli_postgres());
}

/* ---- several credentials ---- */

static const char KEYS_SOURCE[] =
    "source: generic-offset\n"
    "http: { base_url: \"http://127.0.0.1:1\", allow_plain_http: true }\n"
    "rate: { per_second: 1000, burst: 1000, concurrency: 8, meaning_429: quota }\n"
    "retry: { min_delay: 1ms, max_delay: 20ms }\n"
    "auth: { type: api_key, location: header, name: X-Key }\n"
    "credentials:\n"
    "  bad: { priority: 1, secret: env:SIM_KEY_BAD }\n"
    "  main: { priority: 2, secret: env:SIM_KEY_MAIN }\n"
    "  spare: { priority: 3, secret: env:SIM_KEY_SPARE, per_second: 500 }\n"
    "endpoints:\n"
    "  records:\n"
    "    role: search\n"
    "    path: /generic/offset\n"
    "    query: { offset: \"${page.offset}\", limit: \"${page.size}\", from: \"${window.from}\","
    " to: \"${window.to}\" }\n"
    "    page: { type: offset, size: 40, size_min: 5, size_max: 1000 }\n"
    "    window: { key: updated_at, granularity: microsecond, lag: 1m, max: 1d, min: 1m }\n"
    "    response: { items: $.items, id: $.id, updated_at: $.updated_at, version: $.version,"
    " deleted: $.deleted, merged_into: $.merged_into, total: $.total }\n"
    "operations:\n"
    "  harvest: { endpoint: records }\n";

/* What the simulator has counted for the rule of this number. */
static int64_t served_with(const struct sim *sim, int rule, const char *what)
{
    char url[256], path[32];

    (void)snprintf(url, sizeof(url), "%s/_sim/credentials", sim->base);
    (void)snprintf(path, sizeof(path), "%d.%s", rule, what);
    return cli_number(RUN("/usr/bin/curl", "-s", url).out, path);
}

static void keys_in_turn(const char *store)
{
    struct sim sim = SIM_SOURCE_START(
        "--records", "2000", "--auth",
        "path=/generic type=api_key in=header name=X-Key value=key-main-1 quota=7", "--auth",
        "path=/generic type=api_key in=header name=X-Key value=key-spare-2");
    char path[512];
    struct run run;
    FILE *file;

    REQUIRE(setenv("SIM_KEY_BAD", "key-bad-0", 1) == 0 &&
                setenv("SIM_KEY_MAIN", "key-main-1", 1) == 0 &&
                setenv("SIM_KEY_SPARE", "key-spare-2", 1) == 0,
            "environment");
    (void)snprintf(path, sizeof(path), "%s/keys.yaml", test_folder());
    file = fopen(path, "w");
    REQUIRE(file != NULL && fputs(KEYS_SOURCE, file) >= 0 && fclose(file) == 0, path);
    sim_source_apply_file(store, &sim, path, "rate.burst=1000");
    run = RUN("patra", "harvest", SIM_SOURCE_NAME, SIM_SOURCE_WINDOW, "--workers", "1", "--store",
              store);
    CHECK_EQ(run.code, 0, "everything was fetched");
    CHECK_EQ(sim_source_verify(store, &sim).code, 0, "and is right");
    CHECK_EQ(served_with(&sim, 0, "served"), 7, "the first key that is accepted, to its quota");
    CHECK_EQ(served_with(&sim, 0, "over"), 1, "which one request found used up");
    CHECK(served_with(&sim, 1, "served") > 1, "then the spare one");
    CHECK_EQ(sql_number(store, "SELECT count(*) FROM ing_task_run_batch"
                               " WHERE request_digest ->> 'credential' = 'main'"),
             7, "each batch says with which");
    CHECK_EQ(sql_number(store, "SELECT count(*) FROM ing_task_run_batch"
                               " WHERE CAST(request_digest AS text) LIKE '%key-main-1%'"
                               "    OR CAST(response_digest AS text) LIKE '%key-main-1%'"),
             0, "by name, not by value");
    run = RUN("patra", "status", "--store", store);
    CHECK(cli_has(run.out, "the credential bad was refused"), "one that is refused needs a person");
    CHECK(cli_has(run.out, "(status 403)"), "and says how");
    CHECK(cli_has(run.out, "patra resume generic-offset"), "what to do");
    CHECK_EQ(run.code, 1, "exit code");
    CHECK(cli_has(run.out, "generic-offset/records#main"), "each has a gate");
    run = RUN("patra", "resume", SIM_SOURCE_NAME, "--store", store);
    CHECK(cli_has(run.out, "resumed"), "it is used again");
    run = RUN("patra", "status", "--store", store);
    CHECK(!cli_has(run.out, "was refused"), "until it is refused again");
    sim_stop(&sim);
}

TEST(keys_are_used_in_turn_by_quota_and_a_refused_one_is_put_aside_on_sqlite)
{
    keys_in_turn(cli_sqlite("keys"));
}

TEST(keys_are_used_in_turn_by_quota_and_a_refused_one_is_put_aside_on_postgres)
{
    keys_in_turn(cli_postgres());
}

TEST(ids_of_an_update_that_failed_are_not_lost_on_sqlite)
{
    failed_ids(cli_sqlite("failed-ids"));
}

TEST(ids_of_an_update_that_failed_are_not_lost_on_postgres)
{
    failed_ids(cli_postgres());
}

/* ---- ids that the source refuses ---- */

#define PUBMED_WINDOW "--from", "2026-01-10", "--to", "2026-01-12"

enum { ID_BATCH = 16 };

/* PubMed with short waits and small batches of ids. */
static void apply_pubmed(const char *store, const struct sim *sim)
{
    char url[256];

    REQUIRE(setenv("PATRA_CONTACT", "somebody@example.org", 1) == 0, "environment");
    (void)snprintf(url, sizeof(url), "http.base_url=%s/entrez/eutils", sim->base);
    REQUIRE(RUN("patra", "init", "--store", store).code == 0, "init");
    REQUIRE(RUN("patra", "source", "apply", "sources/pubmed.yaml", "--store", store, "--set", url,
                "--set", "http.allow_plain_http=true", "--set", "rate.per_second=500", "--set",
                "rate.burst=500", "--set", "rate.provider_limit=500", "--set",
                "endpoints.fetch.batch.id_batch_size=16", "--set", "retry.min_delay=1ms", "--set",
                "retry.max_delay=20ms")
                    .code == 0,
            "apply");
}

/* An id in the middle of the window, and how many there are: by a store that has them all. */
static int64_t one_pmid(const char *store, const struct sim *sim, int64_t *count)
{
    apply_pubmed(store, sim);
    REQUIRE(RUN("patra", "harvest", "pubmed", PUBMED_WINDOW, "--store", store).code == 0,
            "harvest");
    *count = sql_number(store, "SELECT count(*) FROM ing_record");
    REQUIRE(*count > 50, "enough records");
    sim_source_pubmed_requests(store, sim,
                               &(struct sim_source_pubmed_need){ .id_batch = ID_BATCH });
    return sql_number(store, "SELECT CAST(provider_id AS bigint) FROM ing_record"
                             " ORDER BY provider_id LIMIT 1 OFFSET 25");
}

static void refused_id(const char *whole, const char *store)
{
    struct sim good = SIM_SOURCE_START("--records", "6000");
    char rule[128], text[64];
    int64_t count;
    const int64_t pmid = one_pmid(whole, &good, &count);
    struct sim bad;
    struct run run;

    (void)snprintf(rule, sizeof(rule),
                   "path=/entrez/eutils/efetch ids=%" PRId64 " kind=status code=400", pmid);
    bad = SIM_SOURCE_START("--records", "6000", "--fault", rule);
    apply_pubmed(store, &bad);
    run = RUN("patra", "harvest", "pubmed", PUBMED_WINDOW, "--store", store);
    CHECK_EQ(run.code, 1, "something is missing");
    CHECK(cli_has(run.out, " -> 2026-01-12T00:00:00Z\n"), "the cursor is at the end");
    CHECK(cli_has(run.out, "1 id without a record, 1 of them refused: patra signal list pubmed\n"),
          "what is missing, and where to look");
    CHECK_EQ(sql_number(store, "SELECT count(*) FROM ing_record"), count - 1, "all others");
    CHECK_EQ(sql_number(store, "SELECT count(*) FROM ing_signal WHERE reason = 'refused'"
                               " AND http_status = 400 AND consumed_at IS NULL"),
             1, "the id is listed with its status");
    CHECK_EQ(sql_number(store, "SELECT CAST(provider_id AS bigint) FROM ing_signal"), pmid, "it");
    CHECK_EQ(sql_number(store, "SELECT count(*) FROM ing_task_run_batch"
                               " WHERE status_code = 'FAILED'"),
             1, "its batch has failed");
    CHECK_EQ(sql_number(store, store[0] == '/'
                                   ? "SELECT count(*) FROM ing_task_run_batch WHERE status_code ="
                                     " 'SUCCEEDED' AND response_digest ->> '$.status' = 400"
                                   : "SELECT count(*) FROM ing_task_run_batch WHERE status_code ="
                                     " 'SUCCEEDED' AND response_digest ->> 'status' = '400'"),
             0, "and no batch that was refused has not");
    run = RUN("patra", "signal", "list", "pubmed", "--store", store);
    (void)snprintf(text, sizeof(text), "%" PRId64, pmid);
    CHECK(cli_has(run.out, text) && cli_has(run.out, "400") && cli_has(run.out, "refused: "),
          "shown");
    run = RUN("patra", "signal", "list", "pubmed", "--json", "--store", store);
    CHECK_STR(cli_value(run.out, "0.httpStatus"), STR("400"), "for programs");

    run = RUN("patra", "update", "pubmed", "--store", store);
    CHECK_EQ(sql_number(store, "SELECT count(*) FROM ing_signal WHERE consumed_at IS NULL"), 1,
             "an update that is refused leaves it for the next");
    apply_pubmed(store, &good);
    CHECK_EQ(RUN("patra", "update", "pubmed", "--store", store).code, 0, "healed");
    CHECK_EQ(sim_source_pubmed_verify(store, &good, "2026-01-10", "2026-01-12").code, 0,
             "the simulator finds nothing wrong");
    CHECK_EQ(sql_number(store, "SELECT count(*) FROM ing_signal WHERE consumed_at IS NULL"), 0,
             "nothing is left to do");
    sim_stop(&bad);
    sim_stop(&good);
}

TEST(a_refused_id_is_listed_and_holds_no_cursor_on_sqlite)
{
    refused_id(cli_sqlite("whole-pubmed"), cli_sqlite("refused-id"));
}

TEST(a_refused_id_is_listed_and_holds_no_cursor_on_postgres)
{
    refused_id(cli_sqlite("whole-postgres"), cli_postgres());
}

/* A failure may pass, so the next harvest tries the slice again; not more than once. */
TEST(an_id_that_the_source_fails_on_holds_the_cursor_once)
{
    const char *store = cli_sqlite("failing-id");
    struct sim good = SIM_SOURCE_START("--records", "6000");
    char rule[128];
    int64_t count;
    struct sim bad;
    struct run run;

    (void)snprintf(rule, sizeof(rule),
                   "path=/entrez/eutils/efetch ids=%" PRId64 " kind=status code=500",
                   one_pmid(cli_sqlite("whole-failing"), &good, &count));
    bad = SIM_SOURCE_START("--records", "6000", "--fault", rule);
    apply_pubmed(store, &bad);
    run = RUN("patra", "harvest", "pubmed", PUBMED_WINDOW, "--store", store);
    CHECK(!cli_has(run.out, " -> 2026-01-12T00:00:00Z\n"), "the cursor waits");
    CHECK_EQ(sql_number(store, "SELECT count(*) FROM ing_record"), count - 1, "all others");
    CHECK_EQ(sql_number(store, "SELECT http_status FROM ing_signal WHERE reason = 'failed'"), 500,
             "the id is listed");
    run = RUN("patra", "harvest", "pubmed", PUBMED_WINDOW, "--store", store);
    CHECK(cli_has(run.out, " -> 2026-01-12T00:00:00Z\n"), run.out.data);
    CHECK_EQ(sql_number(store, "SELECT count(*) FROM ing_signal WHERE consumed_at IS NULL"), 1,
             "and stays listed");
    apply_pubmed(store, &good);
    CHECK_EQ(RUN("patra", "update", "pubmed", "--store", store).code, 0, "healed");
    CHECK_EQ(sim_source_pubmed_verify(store, &good, "2026-01-10", "2026-01-12").code, 0,
             "the simulator finds nothing wrong");
    sim_stop(&bad);
    sim_stop(&good);
}

TEST(a_request_that_is_refused_for_most_ids_fails_its_tasks)
{
    const char *store = cli_sqlite("refused-ids");
    struct sim sim = SIM_SOURCE_START("--records", "6000", "--fault",
                                      "path=/entrez/eutils/efetch kind=status code=422");
    struct run run;

    apply_pubmed(store, &sim);
    run = RUN("patra", "harvest", "pubmed", PUBMED_WINDOW, "--store", store);
    CHECK_EQ(run.code, 1, "nothing came");
    CHECK(cli_has(run.out, "ids were refused, which is more than one in ten: the request is wrong"),
          "the reason");
    CHECK(!cli_has(run.out, " -> 2026-01-12"), "the cursor waits");
    CHECK(sql_number(store, "SELECT count(*) FROM ing_task WHERE status_code = 'FAILED'") > 0,
          "failed");
    sim_stop(&sim);
}

/* The source fails on one batch until its eighth request; all others are fetched before. */
TEST(after_a_batch_that_fails_the_others_are_fetched_and_later_only_that_one)
{
    const char *whole = cli_sqlite("whole-deferred");
    const char *store = cli_sqlite("deferred-ids");
    struct sim good = SIM_SOURCE_START("--records", "6000");
    int64_t count, batches;
    char rule[128];
    struct sim bad;
    struct run run;

    (void)snprintf(rule, sizeof(rule),
                   "path=/entrez/eutils/efetch ids=%" PRId64 " kind=status code=503 times=8",
                   one_pmid(whole, &good, &count));
    batches = sql_number(whole, "SELECT count(*) FROM ing_task_run_batch");
    bad = SIM_SOURCE_START("--records", "6000", "--fault", rule);
    apply_pubmed(store, &bad);
    run = RUN("patra", "harvest", "pubmed", PUBMED_WINDOW, "--store", store);
    CHECK_EQ(run.code, 0, run.out.data);
    CHECK_EQ(sim_source_pubmed_verify(store, &bad, "2026-01-10", "2026-01-12").code, 0,
             "the simulator finds nothing wrong");
    sim_source_pubmed_requests(store, &bad,
                               &(struct sim_source_pubmed_need){ .id_batch = ID_BATCH });
    CHECK_EQ(sql_number(store, "SELECT count(*) FROM ing_task_run_batch"
                               " WHERE status_code = 'SUCCEEDED'"),
             batches, "no batch was fetched twice");
    CHECK_EQ(sql_number(store, "SELECT count(*) FROM ing_task_run_batch b"
                               " WHERE status_code = 'SUCCEEDED' AND run_id ="
                               " (SELECT max(id) FROM ing_task_run WHERE task_id = b.task_id)"
                               " AND EXISTS (SELECT 1 FROM ing_task_run_batch f"
                               "   WHERE f.task_id = b.task_id AND f.status_code = 'FAILED')"),
             1, "the last run of that task requested one batch");
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

/* ---- what is waited for ---- */

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
    { "a role to come", { "patra", "serve", "--role", "api" }, 2, "no api yet" },
    { "no role",
      { "patra", "serve", "--role", "planer" },
      2,
      "is not planner, executor, publisher or consumer" },
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
