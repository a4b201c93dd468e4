/* patra harvest, work, serve and status, as a user runs them, against the simulator; what is in the
 * store afterwards is judged by the simulator's own books. */
#include <pty.h>
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/ioctl.h>
#include <sys/wait.h>
#include <time.h>
#include <unistd.h>

#include "base/buf.h"
#include "child.h"
#include "data/json.h"
#include "postgres.h"
#include "run.h"
#include "sql.h"
#include "test.h"

enum { TEXT_BYTES = 512 };

#define SOURCE "generic-offset"
#define FILE_OF_SOURCE "test/data/sim-sources/generic-offset.yaml"

/* ---- around it ---- */

/* What a program has said so far; good until the next call. */
static struct str said(const struct running *running)
{
    static char text[1 << 20];
    const struct timespec moment = { .tv_nsec = 10000000 }; /* leave the machine to the program */
    FILE *file = fopen(running->talk, "rb");
    size_t len = 0;

    if (file != NULL) {
        len = fread(text, 1, sizeof(text), file);
        (void)fclose(file);
    }
    (void)nanosleep(&moment, NULL);
    return (struct str){ text, len };
}

static struct arena arena;

static void open_arena(void)
{
    if (arena.limit == 0)
        arena_init(&arena, (size_t)256 << 20);
}

static struct json_doc parse(struct str text)
{
    struct json_doc doc;
    struct error err = { 0 };

    open_arena();
    REQUIRE_OK(json_parse(&doc, &arena, text, &err), err);
    return doc;
}

/* The number at names and places of a JSON text; -1 when there is none. */
static int64_t number_at(struct str text, const char *path)
{
    const struct json_doc doc = parse(text);
    struct json_node node = json_root(&doc);
    struct str rest = str_of(path);
    int64_t number = -1, index;

    while (rest.len > 0) {
        const struct str name = str_cut(&rest, '.');

        node = str_to_i64(name, &index) ? json_at(&doc, node, (size_t)index)
                                        : json_get(&doc, node, name);
    }
    return json_exists(node) && json_i64(&doc, node, &number) ? number : -1;
}

static bool has(struct str text, const char *needle)
{
    return str_find(text, str_of(needle)) < text.len;
}

static const char *sqlite_store(const char *name)
{
    struct str path;

    open_arena();
    path = arena_printf(&arena, "%s/%s.db", test_folder(), name);
    REQUIRE(path.data != NULL, "memory");
    return path.data;
}

static const char *postgres_store(void)
{
    struct error err = { 0 };
    const char *dsn = postgres_new_database(&err);

    if (dsn == NULL && err.level == ERROR_NONE)
        TEST_SKIP("PostgreSQL 15 is not installed");
    REQUIRE(dsn != NULL, err.text);
    return dsn;
}

static struct sim sim_of(const char *const *options)
{
    struct sim sim = { 0 };

    REQUIRE(sim_start(&sim, options), "patra-sim");
    return sim;
}

/* A source, pointed at the simulator; `more` is a further setting. */
static void apply_file(const char *store, const struct sim *sim, const char *path, const char *more)
{
    char url[TEXT_BYTES];
    struct run run;

    (void)snprintf(url, sizeof(url), "http.base_url=%s", sim->base);
    REQUIRE(RUN("patra", "init", "--store", store).code == 0, "init");
    run = RUN("patra", "source", "apply", path, "--store", store, "--set", url, "--set",
              "rate.adaptive=false", "--set", more);
    REQUIRE(run.code == 0, run.talk.len > 0 ? run.talk.data : "apply");
}

static void apply(const char *store, const struct sim *sim, const char *more)
{
    apply_file(store, sim, FILE_OF_SOURCE, more);
}

/* What the simulator says of the store, as JSON; exit code 0 when all is right. */
static struct run verify(const char *store, const struct sim *sim)
{
    char address[2 * TEXT_BYTES];

    (void)snprintf(address, sizeof(address), "%s%s", store[0] == '/' ? "sqlite:" : "", store);
    return RUN("patra-sim", "verify", "--store", address, "--protocol", "generic", "--source",
               SOURCE, "--from", "2026-02-01", "--to", "2026-02-11", "--url", sim->base, "--json");
}

#define HARVESTED SOURCE " HARVEST of records: done, after "
#define WINDOW "--from", "2026-02-01", "--to", "2026-02-11"

/* ---- harvest ---- */

/* Every line is an object; gives the last one. */
static struct str check_lines(struct str out, int64_t *batches, int64_t *created)
{
    struct str last = { 0 };

    *batches = *created = 0;
    while (out.len > 0) {
        const struct str line = str_cut(&out, '\n');
        const struct json_doc doc = parse(line);
        const struct json_node event = json_get(&doc, json_root(&doc), STR("event"));

        CHECK(json_type(&doc, event) == JSON_STRING, "a line is an event");
        if (json_string_is(&doc, event, STR("batch"))) {
            ++*batches;
            *created += number_at(line, "created");
        }
        last = line;
    }
    return last;
}

static void harvest_whole(const char *store)
{
    const struct sim sim = sim_of((const char *const[]){
        "--records", "4000", "--fault", "kind=status code=503 body=empty rate=0.1 by=request",
        "--fault", "kind=truncate keep=50 rate=0.1 by=request", NULL });
    int64_t batches, created, right;
    struct str summary;
    struct run run, judged;

    apply(store, &sim, "rate.burst=100");
    run = RUN("patra", "harvest", SOURCE, WINDOW, "--json", "--store", store);
    CHECK_EQ(run.code, 0, "exit code");
    summary = check_lines(run.out, &batches, &created);
    judged = verify(store, &sim);
    CHECK_EQ(judged.code, 0, "the simulator finds nothing wrong");
    right = number_at(judged.out, "right");
    CHECK(right > 100, "there was something to fetch");
    CHECK_EQ(number_at(summary, "records.created") + number_at(summary, "records.deleted"), right,
             "what is said to be new is what is there");
    CHECK_EQ(number_at(summary, "records.created"), created, "as the events said");
    CHECK_EQ(number_at(summary, "batches"), batches, "as many batches as were told");
    CHECK_EQ(number_at(summary, "slices.succeeded"), 10, "a slice a day");
    CHECK_EQ(number_at(summary, "slices.left"), 0, "none left");
    CHECK(number_at(summary, "retries") > 0, "faults were met");
    CHECK(has(summary, "\"after\":\"2026-02-11T00:00:00Z\""), "the cursor is at the end");
    CHECK_EQ(sql_number(store, "SELECT count(*) FROM ing_cursor_event e"
                               " LEFT JOIN ing_task_run_batch b ON b.id = e.batch_id"
                               " AND b.run_id = e.run_id AND b.task_id = e.task_id"
                               " WHERE e.task_id <> 0 AND b.id IS NULL"),
             0, "each of its steps names the batch it followed");
    run = RUN("patra", "harvest", SOURCE, WINDOW, "--store", store);
    CHECK_EQ(run.code, 0, "once more");
    CHECK(has(run.out, ": 0 new, 0 changed"), "nothing is new");
    run = RUN("patra", "harvest", SOURCE, "--from", "2026-02-05", "--to", "2026-02-04", "--store",
              store);
    CHECK(has(run.talk, "nothing to do: --from is not before --to"), "why it does nothing");
    CHECK_EQ(RUN("patra", "status", "--store", store).code, 0, "nobody is needed");
    sim_stop((struct sim *)&sim);
}

TEST(a_harvest_holds_what_the_source_has_on_sqlite)
{
    harvest_whole(sqlite_store("whole"));
}

TEST(a_harvest_holds_what_the_source_has_on_postgres)
{
    harvest_whole(postgres_store());
}

/* Two days of PubMed behind a cap that both are above. */
static void harvest_parts(const char *store)
{
    struct sim sim = sim_of((const char *const[]){ "--records", "6000", NULL });
    char url[TEXT_BYTES], address[2 * TEXT_BYTES];
    struct run run;

    REQUIRE(setenv("PATRA_CONTACT", "somebody@example.org", 1) == 0, "environment");
    (void)snprintf(url, sizeof(url), "http.base_url=%s/entrez/eutils", sim.base);
    (void)snprintf(address, sizeof(address), "%s%s", store[0] == '/' ? "sqlite:" : "", store);
    REQUIRE(RUN("patra", "init", "--store", store).code == 0, "init");
    run = RUN("patra", "source", "apply", "sources/pubmed.yaml", "--store", store, "--set", url,
              "--set", "http.allow_plain_http=true", "--set", "endpoints.search.page.size=20",
              "--set", "endpoints.search.page.cap=40", "--set", "rate.per_second=500", "--set",
              "rate.burst=500", "--set", "rate.provider_limit=500");
    REQUIRE(run.code == 0, run.talk.len > 0 ? run.talk.data : "apply");
    run = RUN("patra", "harvest", "pubmed", "--from", "2026-01-10", "--to", "2026-01-12", "--store",
              store);
    CHECK_EQ(run.code, 0, run.out.data);
    CHECK(has(run.out, " -> 2026-01-12T00:00:00Z\n"), "the cursor is at the end");
    CHECK_EQ(RUN("patra-sim", "verify", "--store", address, "--protocol", "pubmed", "--source",
                 "pubmed", "--endpoint", "search", "--from", "2026-01-10", "--to", "2026-01-12",
                 "--url", sim.base)
                 .code,
             0, "the simulator finds nothing wrong");
    run = RUN("patra", "plan", "show", "1", "--store", store, "--limit", "100");
    CHECK(has(run.out, "  ids up to "), "the lowest part");
    CHECK(has(run.out, "  ids from "), "the highest");
    CHECK(has(run.out, "is shared out by ids; its slices cover it together."), "what that means");
    run = RUN("patra", "plan", "show", "1", "--store", store, "--json");
    CHECK(has(run.out, "\"bounds\":{\"id\":{\"to\":\""), "for programs");
    CHECK_EQ(RUN("patra", "status", "--store", store).code, 0, "nobody is needed");
    CHECK_EQ(RUN("patra", "cursor", "verify", "--store", store).code, 0, "cursors are clean");
    sim_stop(&sim);
}

TEST(days_above_the_cap_are_harvested_and_shown_part_by_part_on_sqlite)
{
    harvest_parts(sqlite_store("parts"));
}

TEST(days_above_the_cap_are_harvested_and_shown_part_by_part_on_postgres)
{
    harvest_parts(postgres_store());
}

/* A part that fails is told with its ids; what it lacks, a later harvest fetches. */
TEST(a_part_that_fails_is_told_with_its_ids)
{
    const char *store = sqlite_store("failing-part");
    struct sim sim = sim_of((const char *const[]){ "--records", "6000", "--fault",
                                                   "kind=status code=400 query=AND%20", NULL });
    char url[TEXT_BYTES];
    struct run run;

    REQUIRE(setenv("PATRA_CONTACT", "somebody@example.org", 1) == 0, "environment");
    (void)snprintf(url, sizeof(url), "http.base_url=%s/entrez/eutils", sim.base);
    REQUIRE(RUN("patra", "init", "--store", store).code == 0, "init");
    run = RUN("patra", "source", "apply", "sources/pubmed.yaml", "--store", store, "--set", url,
              "--set", "http.allow_plain_http=true", "--set", "endpoints.search.page.size=20",
              "--set", "endpoints.search.page.cap=40", "--set", "rate.per_second=500", "--set",
              "rate.burst=500", "--set", "rate.provider_limit=500");
    REQUIRE(run.code == 0, run.talk.len > 0 ? run.talk.data : "apply");
    run = RUN("patra", "harvest", "pubmed", "--from", "2026-01-10", "--to", "2026-01-11", "--store",
              store);
    CHECK_EQ(run.code, 1, "something is missing");
    CHECK(has(run.out, "missing     2026-01-10T00:00:00Z .. 2026-01-11T00:00:00Z, ids "),
          "which part");
    run = RUN("patra", "status", "pubmed", "--store", store);
    CHECK_EQ(run.code, 1, "a person is needed");
    CHECK(has(run.out, ".. 2026-01-11T00:00:00Z, ids "), "and sees it here");
    run = RUN("patra", "status", "pubmed", "--store", store, "--json");
    CHECK(has(run.out, "\"toId\":"), "for programs");
    sim_stop(&sim);
}

/* All that harvest writes to a terminal of this kind. */
static struct str on_terminal(const char *store, const char *term, const char *no_color)
{
    const char *build = getenv("PATRA_BUILD");
    const struct winsize size = { .ws_row = 24, .ws_col = 80 };
    char program[TEXT_BYTES];
    struct buf text;
    char bytes[4096];
    ssize_t len;
    int fd, status;
    pid_t pid;

    open_arena();
    buf_init(&text, &arena, (size_t)4 << 20);
    (void)snprintf(program, sizeof(program), "%s/patra", build != NULL ? build : "build");
    pid = forkpty(&fd, NULL, NULL, &size);
    REQUIRE(pid >= 0, "forkpty");
    if (pid == 0) {
        (void)setenv("TERM", term, 1);
        (void)(no_color != NULL ? setenv("NO_COLOR", no_color, 1) : unsetenv("NO_COLOR"));
        (void)execl(program, "patra", "harvest", SOURCE, WINDOW, "--store", store, NULL);
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
    struct sim sim = sim_of((const char *const[]){ "--records", "2000", NULL });
    const char *store = sqlite_store("terminal");
    struct str text;

    apply(store, &sim, "rate.per_second=20");
    text = on_terminal(store, "xterm", NULL);
    CHECK(has(text, " slices  eta "), "the block");
    CHECK(has(text, "\x1b[4A\r\x1b[J"), "painted over");
    CHECK(has(text, "\x1b[36m"), "with colours");
    CHECK(has(text, HARVESTED), "the summary");
    text = on_terminal(store, "xterm", "1");
    CHECK(has(text, "\x1b[J") && !has(text, "\x1b[36m"), "without, where they are not wanted");
    text = on_terminal(store, "dumb", NULL);
    CHECK(!has(text, "\x1b"), "nothing of the kind for a dumb one");
    CHECK(has(text, HARVESTED), "the summary");
    sim_stop(&sim);
}

TEST(a_slice_that_fails_is_told_with_its_reason_and_healed_later)
{
    const char *store = sqlite_store("failing");
    struct sim bad = sim_of(
        (const char *const[]){ "--records", "2000", "--fault",
                               "kind=status code=400 query=from=2026-02-03T00%3A00%3A00Z", NULL });
    struct sim good = sim_of((const char *const[]){ "--records", "2000", NULL });
    struct run run;

    apply(store, &bad, "rate.burst=100");
    run = RUN("patra", "harvest", SOURCE, WINDOW, "--store", store);
    CHECK_EQ(run.code, 1, "exit code");
    CHECK(has(run.out, "done, with something missing"), "the verdict");
    CHECK(has(run.out, "missing     2026-02-03T00:00:00Z .. 2026-02-04T00:00:00Z: "), "where");
    CHECK(has(run.out, "400"), "why");
    CHECK(has(run.out, "9 done, 0 partial, 1 failed"), "the others are there");
    CHECK(has(run.out, " -> 2026-02-03T00:00:00Z\n"), "the cursor waits before it");
    run = RUN("patra", "status", SOURCE, "--store", store);
    CHECK_EQ(run.code, 1, "a person is needed");
    CHECK(has(run.out, "1 slice failed and is missing"), "why");
    CHECK_EQ(RUN("patra", "harvest", SOURCE, WINDOW, "--store", store).code, 1, "once more");
    CHECK(
        has(RUN("patra", "status", SOURCE, "--store", store).out, "1 slice failed and is missing"),
        "it is one window, however often it was tried");
    apply(store, &good, "rate.burst=100");
    run = RUN("patra", "harvest", SOURCE, WINDOW, "--store", store);
    CHECK_EQ(run.code, 0, "healed");
    CHECK(has(run.out, " -> 2026-02-11T00:00:00Z\n"), "the cursor goes on");
    CHECK_EQ(verify(store, &good).code, 0, "all of it");
    CHECK_EQ(RUN("patra", "status", SOURCE, "--store", store).code, 0, "nobody is needed");
    sim_stop(&bad);
    sim_stop(&good);
}

TEST(a_refused_credential_stops_the_source_until_a_person_resumes_it)
{
    const char *store = sqlite_store("stopped");
    struct sim bad = sim_of((const char *const[]){ "--records", "2000", "--fault",
                                                   "kind=status code=401 body=empty", NULL });
    struct sim good = sim_of((const char *const[]){ "--records", "2000", NULL });
    struct run run;

    apply(store, &bad, "rate.burst=100");
    run = RUN("patra", "harvest", SOURCE, WINDOW, "--workers", "1", "--store", store);
    CHECK_EQ(run.code, 4, "exit code");
    CHECK(has(run.out, "stopped by a fatal error"), "the verdict");
    CHECK(has(run.out, "patra resume " SOURCE), "what to do");
    run = RUN("patra", "status", "--store", store);
    CHECK_EQ(run.code, 1, "a person is needed");
    CHECK(has(run.out, "stopped " SOURCE), "it is stopped");
    CHECK(has(run.out, "patra resume " SOURCE), "what to do");
    run = RUN("patra", "harvest", SOURCE, WINDOW, "--store", store);
    CHECK_EQ(run.code, 4, "it stays stopped");
    run = RUN("patra", "source", "test", SOURCE, "--live", "--store", store);
    CHECK_EQ(run.code, 1, "whether the cause is gone can be tried: it is not");
    CHECK_EQ(RUN("patra", "resume", SOURCE, "--store", store).code, 0, "resume");
    run = RUN("patra", "status", "--store", store);
    CHECK(!has(run.out, "stopped " SOURCE), "lifted");
    CHECK_EQ(RUN("patra", "plan", "cancel", "1", "--store", store).code, 0, "the old address");
    apply(store, &good, "rate.burst=100");
    run = RUN("patra", "harvest", SOURCE, WINDOW, "--store", store);
    CHECK_EQ(run.code, 0, "goes on");
    CHECK_EQ(verify(store, &good).code, 0, "all of it");
    CHECK_EQ(RUN("patra", "status", "--store", store).code, 0, "nobody is needed");
    sim_stop(&bad);
    sim_stop(&good);
}

/* ---- update ---- */

static const char *file_of_ids(const char *text)
{
    static char path[TEXT_BYTES];
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
    struct sim sim = sim_of((const char *const[]){ "--records", "100", "--fault",
                                                   "kind=status code=401 body=empty nth=1", NULL });
    struct run run;

    apply_file(store, &sim, "test/data/sim-sources/generic-details.yaml", "rate.burst=100");
    run =
        RUN("patra", "update", "generic-details", "--ids", ids, "--workers", "1", "--store", store);
    CHECK_EQ(run.code, 4, "the source is stopped");
    REQUIRE(RUN("patra", "resume", "generic-details", "--store", store).code == 0, "resume");
    run = RUN("patra", "update", "generic-details", "--store", store);
    CHECK_EQ(run.code, 0, "exit code");
    CHECK(has(run.out, "asked for   3 ids"), "they are looked at after all");
    CHECK_EQ(sql_number(store, "SELECT count(*) FROM ing_record"), 3, "and are there");
    run = RUN("patra", "status", "--store", store);
    CHECK_EQ(run.code, 0, "what failed was made up for");
    sim_stop(&sim);
}

TEST(ids_of_an_update_that_failed_are_not_lost_on_sqlite)
{
    failed_ids(sqlite_store("failed-ids"));
}

TEST(ids_of_an_update_that_failed_are_not_lost_on_postgres)
{
    failed_ids(postgres_store());
}

/* ---- what stops it ---- */

/* All slices are under way when the error comes: none is left that would wait for a person. */
TEST(a_stop_that_the_last_slices_met_is_told)
{
    const char *store = sqlite_store("last");
    struct sim bad = sim_of((const char *const[]){ "--records", "2000", "--fault",
                                                   "kind=status code=401 body=empty", NULL });
    struct run run;

    apply(store, &bad, "rate.burst=100");
    run = RUN("patra", "harvest", SOURCE, "--from", "2026-02-01", "--to", "2026-02-02", "--store",
              store);
    CHECK_EQ(run.code, 4, "exit code");
    CHECK(has(run.out, "stopped by a fatal error"), "the verdict");
    CHECK(has(run.out, "patra resume " SOURCE), "what to do");
    CHECK_EQ(RUN("patra", "resume", SOURCE, "--store", store).code, 0, "resume");
    run = RUN("patra", "harvest", SOURCE, "--from", "2026-02-01", "--to", "2026-02-02", "--json",
              "--store", store);
    CHECK_EQ(run.code, 4, "again");
    CHECK(has(run.out, "\"why\":\"stopped\",\"exit\":4,\"reason\":\""), "for programs");
    sim_stop(&bad);
}

TEST(a_summary_says_why_nothing_was_planned)
{
    const char *store = sqlite_store("nothing");
    struct sim sim = sim_of((const char *const[]){ "--records", "10", NULL });
    struct run run;

    apply(store, &sim, "rate.burst=100");
    run = RUN("patra", "harvest", SOURCE, "--from", "2026-02-02", "--to", "2026-02-01", "--quiet",
              "--store", store);
    CHECK_EQ(run.code, 0, "no failure");
    CHECK(has(run.out, "planned     nothing: --from is not before --to\n"), "for people");
    run = RUN("patra", "harvest", SOURCE, "--from", "2026-02-02", "--to", "2026-02-01", "--json",
              "--store", store);
    CHECK(has(run.out, "\"reason\":\"--from is not before --to\""), "for programs");
    sim_stop(&sim);
}

/* ---- what is waited for ---- */

static void wait_is_told(const char *store)
{
    struct sim sim = sim_of((const char *const[]){ "--records", "2000", "--fault",
                                                   "kind=status code=429 retry_after=600", NULL });
    struct run run;

    apply(store, &sim, "rate.burst=100");
    run = RUN("patra", "harvest", SOURCE, WINDOW, "--workers", "1", "--wait", "1s", "--json",
              "--store", store);
    CHECK_EQ(run.code, 3, "not for ten minutes");
    CHECK(has(run.out, "\"status\":\"QUEUED\",\"until\":\"") &&
              has(run.out, "\"why\":\"RETRY_AFTER\""),
          "the task was put off, until when and why");
    run =
        RUN("patra", "harvest", SOURCE, WINDOW, "--workers", "1", "--wait", "1s", "--store", store);
    CHECK_EQ(run.code, 3, "still");
    CHECK(has(run.out, "nothing may run before "), "until when");
    run = RUN("patra", "status", SOURCE, "--store", store);
    CHECK_EQ(run.code, 0, "it passes by itself");
    CHECK(has(run.out, "(why: Retry-After)"), "the gate tells why");
    CHECK(has(run.out, "  schedule  harvest  next "), "and the schedule when");
    run = RUN("patra", "status", SOURCE, "--json", "--store", store);
    CHECK(has(run.out, "\"blockedWhy\":\"RETRY_AFTER\"") && has(run.out, "\"blockedUntil\":\""),
          "for programs too");
    CHECK_EQ(number_at(run.out, "gates.0.configuredPerSecond"), 1000, "what the file wants");
    CHECK_EQ(number_at(run.out, "sources.0.operations.0.queued"), 10, "what waits");
    sim_stop(&sim);
}

TEST(what_is_waited_for_is_told_until_when_and_why_on_sqlite)
{
    wait_is_told(sqlite_store("waits"));
}

TEST(what_is_waited_for_is_told_until_when_and_why_on_postgres)
{
    wait_is_told(postgres_store());
}

/* ---- being told to stop ---- */

/* Asks until the source's first partition has this many tasks under way, or done. */
static void await_tasks(const char *store, const char *what, int64_t least)
{
    char path[64];

    (void)snprintf(path, sizeof(path), "sources.0.operations.0.%s", what);
    for (;;) {
        const struct run run = RUN("patra", "status", SOURCE, "--json", "--store", store);

        if (number_at(run.out, path) >= least)
            return;
    }
}

static void stop_and_go_on(const char *store)
{
    struct sim sim = sim_of((const char *const[]){ "--records", "2000", NULL });
    struct running running;
    struct run run;

    apply(store, &sim, "rate.per_second=4");
    running = RUN_BEGIN("patra", "harvest", SOURCE, WINDOW, "--workers", "2", "--set",
                        "rate.burst=1", "--store", store);
    await_tasks(store, "succeeded", 1);
    REQUIRE(kill(running.pid, SIGTERM) == 0, "SIGTERM");
    run = run_end(&running);
    CHECK_EQ(run.code, 130, "told to stop");
    CHECK(has(run.out, "told to stop"), "said so");
    run = RUN("patra", "status", SOURCE, "--json", "--store", store);
    CHECK_EQ(number_at(run.out, "sources.0.operations.0.running"), 0, "its leases are given back");
    CHECK_EQ(number_at(run.out, "sources.0.operations.0.queued") +
                 number_at(run.out, "sources.0.operations.0.succeeded"),
             10, "at once, and none is lost");
    CHECK(number_at(run.out, "sources.0.operations.0.queued") > 0, "it was not done");
    CHECK_EQ(sql_number(store, "SELECT count(*) FROM ing_task_run_batch"
                               " WHERE status_code = 'FAILED'"),
             0, "who waits for a permit has not failed");
    run = RUN("patra", "harvest", SOURCE, WINDOW, "--store", store);
    CHECK_EQ(run.code, 0, "the next one goes on");
    CHECK_EQ(verify(store, &sim).code, 0, "all of it");
    sim_stop(&sim);
}

TEST(a_harvest_that_is_told_to_stop_gives_its_tasks_back_on_sqlite)
{
    stop_and_go_on(sqlite_store("told"));
}

TEST(a_harvest_that_is_told_to_stop_gives_its_tasks_back_on_postgres)
{
    stop_and_go_on(postgres_store());
}

TEST(a_second_signal_ends_requests_under_way)
{
    const char *store = sqlite_store("urgent");
    struct sim sim = sim_of((const char *const[]){ "--records", "2000", "--fault",
                                                   "kind=stall at=before ms=600000", NULL });
    struct running running;
    struct run run;

    apply(store, &sim, "rate.burst=100");
    running = RUN_BEGIN("patra", "harvest", SOURCE, WINDOW, "--workers", "2", "--store", store);
    await_tasks(store, "running", 2);
    REQUIRE(kill(running.pid, SIGTERM) == 0, "SIGTERM");
    REQUIRE(kill(running.pid, SIGINT) == 0, "SIGINT");
    run = run_end(&running);
    CHECK_EQ(run.code, 130, "told to stop, or this test takes ten minutes");
    run = RUN("patra", "status", SOURCE, "--json", "--store", store);
    CHECK_EQ(number_at(run.out, "sources.0.operations.0.running"), 0, "its leases are given back");
    sim_stop(&sim);
}

/* ---- work ---- */

static void two_workers(const char *store)
{
    struct sim sim = sim_of((const char *const[]){ "--records", "4000", NULL });
    struct running one, two;
    struct run run;

    apply(store, &sim, "rate.burst=100");
    REQUIRE(RUN("patra", "trigger", SOURCE, WINDOW, "--store", store).code == 0, "trigger");
    one = RUN_BEGIN("patra", "work", "--drain", "--workers", "2", "--store", store);
    two = RUN_BEGIN("patra", "work", "--drain", "--workers", "2", "--log-format", "json", "--store",
                    store);
    run = run_end(&one);
    CHECK_EQ(run.code, 0, "one");
    CHECK(has(run.talk, "info work ended well=true"), "a log of text");
    CHECK(has(run.talk, "info task succeeded source=" SOURCE), "that tells of each task");
    run = run_end(&two);
    CHECK_EQ(run.code, 0, "two");
    CHECK(has(run.talk, "\"event\":\"work ended\""), "a log of JSON");
    CHECK(has(run.talk, "\"event\":\"task succeeded\""), "with the same in it");
    CHECK_EQ(verify(store, &sim).code, 0, "all of it");
    run = RUN("patra", "status", SOURCE, "--json", "--store", store);
    CHECK_EQ(number_at(run.out, "sources.0.operations.0.succeeded"), 10, "each task once");
    sim_stop(&sim);
}

TEST(two_processes_drain_the_queue_on_sqlite)
{
    two_workers(sqlite_store("drain"));
}

TEST(two_processes_drain_the_queue_on_postgres)
{
    two_workers(postgres_store());
}

TEST(a_worker_that_is_told_to_stop_ends_well)
{
    const char *store = sqlite_store("idle");
    struct running running;

    REQUIRE(RUN("patra", "init", "--store", store).code == 0, "init");
    running = RUN_BEGIN("patra", "work", "--store", store);
    while (!has(said(&running), "work begins"))
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

        if (!has(line, "schedule fired") || at == line.len)
            continue;
        REQUIRE(count < max, "ticks");
        ticks[count++] = str_cut(&tick, ' ');
    }
    return count;
}

static void two_servers(const char *store)
{
    struct sim sim = sim_of((const char *const[]){ "--records", "100", NULL });
    struct running one, two;
    struct str ticks[256];
    struct run first, second;
    size_t count;

    apply(store, &sim, "operations.harvest.every=1s");
    REQUIRE(RUN("patra", "harvest", SOURCE, "--from", "2026-02-01", "--to", "2026-02-02", "--store",
                store)
                    .code == 0,
            "a beginning");
    one = RUN_BEGIN("patra", "serve", "--workers", "2", "--store", store);
    two = RUN_BEGIN("patra", "serve", "--role", "planner", "--store", store);
    do
        count = add_ticks(said(&one), ticks, 0, ARRAY_LEN(ticks)) +
                add_ticks(said(&two), ticks, 0, ARRAY_LEN(ticks));
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
    two_servers(sqlite_store("serve"));
}

TEST(two_servers_fire_each_tick_once_on_postgres)
{
    two_servers(postgres_store());
}

/* ---- the command line ---- */

static const struct {
    const char *label;
    const char *argv[8];
    int code;
    const char *talk;
} wrong[] = {
    { "no workers", { "patra", "harvest", SOURCE, "--workers", "0" }, 2, "--workers: '0'" },
    { "no duration", { "patra", "harvest", SOURCE, "--wait", "long" }, 2, "--wait" },
    { "a role to come", { "patra", "serve", "--role", "api" }, 2, "no api yet" },
    { "no role", { "patra", "serve", "--role", "planer" }, 2, "neither planner nor executor" },
    { "no lease", { "patra", "work", "--lease", "500ms" }, 2, "1s to 1h" },
    { "no level", { "patra", "work", "--log-level", "loud" }, 2, "--log-level" },
    { "nobody's source", { "patra", "harvest", "nobody" }, 4, "source.unknown" },
    { "nobody's status", { "patra", "status", "nobody" }, 4, "source.unknown" },
    { "nobody's work", { "patra", "work", "--source", "nobody" }, 4, "source.unknown" },
    { "nobody's cursors", { "patra", "cursor", "verify", "nobody" }, 4, "source.unknown" },
    { "no number", { "patra", "plan", "show", "x" }, 2, "no plan's number" },
    { "no store", { "patra", "status", "--store", "nowhere.db" }, 4, "patra init" },
};

TEST(a_secret_that_is_not_set_is_told_before_anything_is_sent)
{
    const char *store = sqlite_store("unset");
    struct run run;

    REQUIRE(unsetenv("PATRA_CONTACT") == 0, "unsetenv");
    REQUIRE(RUN("patra", "init", "--store", store).code == 0, "init");
    REQUIRE(RUN("patra", "source", "apply", "sources/crossref.yaml", "--store", store).code == 0,
            "apply");
    run = RUN("patra", "harvest", "crossref", "--from", "2026-01-01", "--to", "2026-01-02",
              "--store", store);
    CHECK_EQ(run.code, 4, "it can not be done");
    CHECK(has(run.talk, "env:PATRA_CONTACT"), "what is missing");
    run = RUN("patra", "status", "crossref", "--store", store);
    CHECK(!has(run.out, "stopped"), "the source goes on elsewhere");
    CHECK_EQ(sql_number(store, "SELECT count(*) FROM ing_task_run"), 0, "no task was taken");
}

TEST(what_can_not_be_done_is_told_by_exit_code_and_text)
{
    const char *store = sqlite_store("wrong");

    REQUIRE(RUN("patra", "init", "--store", store).code == 0, "init");
    REQUIRE(setenv("PATRA_STORE", store, 1) == 0, "setenv");
    for (size_t i = 0; i < ARRAY_LEN(wrong); i++) {
        const struct run run = run_program(wrong[i].argv);

        CHECK_EQ(run.code, wrong[i].code, wrong[i].label);
        CHECK(has(run.talk, wrong[i].talk), wrong[i].label);
    }
    REQUIRE(unsetenv("PATRA_STORE") == 0, "unsetenv");
}
