/* Feeds, harvested by the program as a user runs it: by sequence number and by sync token, with a
 * worker that is killed, a source that goes on meanwhile, a token that expires, and a cursor that a
 * person sets back. The simulator's own books say what must be stored. */
#include <signal.h>
#include <stdio.h>
#include <time.h>

#include "cli.h"
#include "raw_server.h"
#include "run.h"
#include "sim_requests.h"
#include "sim_source.h"
#include "sql.h"
#include "test.h"

enum { TEXT_BYTES = 512, PATIENCE_MS = 30000 };

#define CHANGES "generic-changes"
#define SYNC "generic-sync"

static const char VALUE[] = "SELECT CAST(cursor_value AS bigint) FROM ing_cursor";

static struct sim start(void)
{
    return SIM_SOURCE_START("--records", "3000", "--now", "2026-01-20T00:00:00Z", "--deleted-ppm",
                            "60000", "--audit-off", "repeat");
}

static void set_clock(const struct sim *sim, const char *to)
{
    char url[TEXT_BYTES];

    (void)snprintf(url, sizeof(url), "%s/_sim/clock?set=%s", sim->base, to);
    REQUIRE(RUN("/usr/bin/curl", "-sf", "-X", "POST", url).code == 0, "the clock of the world");
}

static void apply(const char *store, const struct sim *sim, const char *source, const char *more)
{
    char path[TEXT_BYTES];

    (void)snprintf(path, sizeof(path), "test/data/sim-sources/%s.yaml", source);
    sim_source_apply_file(store, sim, path, more);
}

/* Nothing is missing, stale or extra. */
static void check_truth(const char *store, const struct sim *sim, const char *source,
                        const char *what)
{
    const bool is_sync = source[8] == 's';
    char address[TEXT_BYTES];
    struct run run;

    (void)snprintf(address, sizeof(address), "%s%s", store[0] == '/' ? "sqlite:" : "", store);
    run = RUN("patra-sim", "verify", "--store", address, "--protocol",
              is_sync ? "generic-sync" : "generic-feed", "--source", source, "--endpoint",
              is_sync ? "records" : "changes", "--to", "2026-05-01T00:00:00Z", "--url", sim->base);
    CHECK_EQ(run.code, 0, run.out.data);
    sim_requests_check(
        sim, &(struct sim_requests_ask){ .store = store,
                                         .protocol = is_sync ? "generic-sync" : "generic-feed",
                                         .source = source });
    CHECK_EQ(RUN("patra", "cursor", "verify", "--store", store).code, 0, what);
    CHECK_EQ(sql_number(store, "SELECT count(*) FROM ing_record r WHERE r.version <>"
                               " (SELECT count(*) FROM ing_outbox o"
                               "  WHERE o.record_id = r.id)"),
             0, "one event per version of each record");
}

static void harvest(const char *store, const char *source)
{
    const struct run run = RUN("patra", "harvest", source, "--quiet", "--store", store);

    CHECK_EQ(run.code, 0, run.talk.data);
}

/* ---- by id ---- */

static void wait_for_batches(const char *store, int64_t count)
{
    for (int i = 0; i < PATIENCE_MS / 20; i++) {
        const struct timespec pause = { 0, 20000000 };

        if (sql_number(store, "SELECT count(*) FROM ing_task_run_batch") >= count)
            return;
        (void)nanosleep(&pause, NULL);
    }
    REQUIRE(false, "the worker does something");
}

/* Small pages, a few of them a second, so that there is time for a kill. */
static void apply_slow(const char *store, const struct sim *sim)
{
    char url[TEXT_BYTES];
    struct run run;

    (void)snprintf(url, sizeof(url), "http.base_url=%s", sim->base);
    REQUIRE(RUN("patra", "init", "--store", store).code == 0, "init");
    run = RUN("patra", "source", "apply", "test/data/sim-sources/generic-changes.yaml", "--store",
              store, "--set", url, "--set", "rate.adaptive=false", "--set", "rate.per_second=40",
              "--set", "rate.burst=2", "--set", "endpoints.changes.page.size=10");
    REQUIRE(run.code == 0, run.talk.data);
}

/* Two workers; one is killed when so many batches are stored. */
static void kill_a_worker(const char *store, int64_t batches)
{
    struct running worker =
        RUN_BEGIN("patra", "work", "--drain", "--workers", "2", "--lease", "1s", "--store", store);

    wait_for_batches(store, batches);
    (void)kill(worker.pid, SIGKILL);
    CHECK_EQ(run_end(&worker).code, 128 + SIGKILL, "killed");
}

static void harvest_by_id(const char *store)
{
    struct sim sim = start();
    int64_t first;

    apply_slow(store, &sim);
    REQUIRE(RUN("patra", "trigger", CHANGES, "harvest", "--store", store).code == 0, "trigger");
    for (int64_t batches = 4; batches < 30; batches += 8)
        kill_a_worker(store, batches);
    CHECK(RUN("patra", "trigger", CHANGES, "harvest", "--store", store).code == 0, "once more");
    CHECK_EQ(sql_number(store, "SELECT count(*) FROM ing_task"), 1,
             "a feed that is under way is not planned a second time");
    CHECK_EQ(RUN("patra", "work", "--drain", "--lease", "1s", "--store", store).code, 0, "resumed");
    check_truth(store, &sim, CHANGES, "after a kill");
    CHECK_EQ(sql_number(store, "SELECT count(*) FROM (SELECT 1 FROM ing_task_run_batch"
                               " WHERE status_code = 'SUCCEEDED' AND before_token IS NOT NULL"
                               " GROUP BY task_id, before_token HAVING count(*) > 1) AS t"),
             0, "no page twice");
    first = sql_number(store, VALUE);
    CHECK(first > 500, "the cursor is the highest number");
    set_clock(&sim, "2026-02-10T00:00:00Z");
    harvest(store, CHANGES);
    CHECK(sql_number(store, VALUE) > first, "it goes on");
    check_truth(store, &sim, CHANGES, "after changes");
    harvest(store, CHANGES);
    CHECK_EQ(sql_number(store, "SELECT count(*) FROM ing_task_run_batch WHERE task_id ="
                               " (SELECT max(id) FROM ing_task)"),
             1, "nothing new: one request");
    sim_stop(&sim);
}

TEST(a_feed_by_id_holds_what_the_source_has_on_sqlite)
{
    harvest_by_id(cli_sqlite("by-id"));
}

TEST(a_feed_by_id_holds_what_the_source_has_on_postgres)
{
    harvest_by_id(cli_postgres());
}

TEST(a_feed_that_is_set_back_is_read_again)
{
    const char *store = cli_sqlite("reset");
    struct sim sim = start();
    struct run run;
    int64_t value;

    apply(store, &sim, CHANGES, "rate.per_second=1000");
    harvest(store, CHANGES);
    value = sql_number(store, VALUE);
    run = RUN("patra", "cursor", "reset", CHANGES, "--to", "12x", "--yes", "--store", store);
    CHECK_EQ(run.code, 2, "not a number");
    run = RUN("patra", "cursor", "reset", CHANGES, "--to", "100", "--yes", "--store", store);
    CHECK_EQ(run.code, 0, run.talk.data);
    CHECK_EQ(sql_number(store, VALUE), 100, "set back");
    run = RUN("patra", "trigger", CHANGES, "harvest", "--dry-run", "--store", store);
    CHECK(cli_has(run.out, "ids above 100"), "what is planned");
    CHECK_EQ(sql_number(store, VALUE), 100, "an ended task does not move it again");
    harvest(store, CHANGES);
    CHECK_EQ(sql_number(store, VALUE), value, "read again");
    check_truth(store, &sim, CHANGES, "after a reset");
    run = RUN("patra", "harvest", CHANGES, "--set", "window.lookback_ids=300", "--json", "--quiet",
              "--store", store);
    CHECK_EQ(run.code, 0, run.talk.data);
    CHECK(cli_has(run.out, "\"created\":0,\"updated\":0"), run.out.data);
    CHECK(sql_number(store, "SELECT count(*) FROM ing_task_run_batch WHERE task_id ="
                            " (SELECT max(id) FROM ing_task)") > 1,
          "a lookback reads again what is before the cursor");
    check_truth(store, &sim, CHANGES, "and changes nothing");
    run = RUN("patra", "harvest", CHANGES, "--from", "2026-01-01", "--store", store);
    CHECK(run.code != 0, "a feed has no window of time");
    CHECK(cli_has(run.talk, "cursor reset"), "what to do instead");
    run = RUN("patra", "backfill", CHANGES, "--store", store);
    CHECK(run.code != 0, "nor a backfill");
    sim_stop(&sim);
}

/* The source begins again: its highest number is below the cursor. */
TEST(a_feed_that_goes_back_is_reported)
{
    const char *store = cli_sqlite("back");
    struct sim sim = start();
    struct run run;

    apply(store, &sim, CHANGES, "rate.per_second=1000");
    harvest(store, CHANGES);
    set_clock(&sim, "2026-01-05T00:00:00Z");
    run = RUN("patra", "harvest", CHANGES, "--quiet", "--store", store);
    CHECK_EQ(run.code, 1, "not done");
    CHECK(cli_has(run.out, "below the cursor"), run.out.data);
    CHECK_EQ(sql_number(store, "SELECT count(*) FROM ing_cursor_event"
                               " WHERE reason_code = 'NO_FORWARD'"),
             1, "recorded");
    CHECK_EQ(RUN("patra", "cursor", "verify", "--store", store).code, 0, "and the value stays");
    run = RUN("patra", "status", "--store", store);
    CHECK_EQ(run.code, 1, "it stays there until a person sets the cursor");
    CHECK(cli_has(run.out, "patra cursor reset " CHANGES " --to"), run.out.data);
    CHECK_EQ(RUN("patra", "cursor", "reset", CHANGES, "--to", "0", "--yes", "--store", store).code,
             0, "as it says");
    harvest(store, CHANGES);
    run = RUN("patra", "status", "--store", store);
    CHECK_EQ(run.code, 0, run.out.data);
    sim_stop(&sim);
}

/* ---- pages that a source should not return ---- */

/* Scripts a page of the items from..to, upwards or downwards; from 0: an empty one. */
static void serve(struct raw_server *server, int from, int to)
{
    static char pages[32][2048];
    static size_t used;
    const int step = from <= to ? 1 : -1;
    char items[1600] = "";
    size_t len = 0;

    REQUIRE(used < 32, "room for the page");
    for (int i = from; from > 0 && i != to + step; i += step)
        len += (size_t)snprintf(items + len, sizeof(items) - len,
                                "%s{\"id\":\"d%d\",\"seq\":%d,\"version\":\"1\","
                                "\"updated_at\":\"2026-01-01T00:00:00Z\",\"title\":\"t\"}",
                                len > 0 ? "," : "", i, i);
    len += sizeof("{\"changes\":[],\"last_seq\":35}") - 1;
    (void)snprintf(pages[used], sizeof(pages[used]),
                   "HTTP/1.1 200 OK\r\nContent-Type: application/json\r\nContent-Length: %zu\r\n"
                   "\r\n{\"changes\":[%s],\"last_seq\":35}",
                   len, items);
    raw_server_reply(server, str_of(pages[used++]), RAW_KEEP);
}

static struct raw_server *serve_to(const char *store)
{
    struct raw_server *server = raw_server_start();
    char url[TEXT_BYTES];
    struct run run;

    (void)snprintf(url, sizeof(url), "http.base_url=http://127.0.0.1:%d", raw_server_port(server));
    REQUIRE(RUN("patra", "init", "--store", store).code == 0, "init");
    run = RUN("patra", "source", "apply", "test/data/sim-sources/generic-changes.yaml", "--store",
              store, "--set", url, "--set", "endpoints.changes.page.size=10");
    REQUIRE(run.code == 0, run.talk.data);
    return server;
}

static void harvest_in_part(const char *store, const char *reason)
{
    const struct run run = RUN("patra", "harvest", CHANGES, "--quiet", "--store", store);

    CHECK_EQ(run.code, 1, run.out.data);
    CHECK(cli_has(run.out, reason), run.out.data);
    CHECK_EQ(RUN("patra", "status", "--store", store).code, 1, "a person is needed");
}

static void harvest_newest_first(const char *store)
{
    struct raw_server *server = serve_to(store);

    for (int i = 0; i < 4; i++) /* each page is requested twice */
        serve(server, 35, 26);
    harvest_in_part(store, "no-forward");
    CHECK_EQ(sql_number(store, "SELECT count(*) FROM ing_cursor"), 0, "nothing is complete");
    harvest_in_part(store, "no-forward");
    CHECK_EQ(sql_number(store, "SELECT count(*) FROM ing_cursor"), 0, "nor at the second try");
    serve(server, 1, 10); /* the source was corrected, for a while */
    serve(server, 20, 11);
    serve(server, 20, 11);
    harvest_in_part(store, "no-forward");
    CHECK_EQ(sql_number(store, VALUE), 10, "up to the page before the one out of order");
    CHECK_EQ(sql_number(store, "SELECT count(*) FROM ing_cursor_event"
                               " WHERE reason_code = 'NO_FORWARD'"),
             1, "recorded");
    serve(server, 11, 20);
    serve(server, 21, 30);
    serve(server, 31, 35);
    harvest(store, CHANGES);
    CHECK_EQ(sql_number(store, VALUE), 35, "the end");
    CHECK_EQ(sql_number(store, "SELECT count(*) FROM ing_record"), 35, "nothing was lost");
    CHECK_EQ(RUN("patra", "status", "--store", store).code, 0, "nothing is left to do");
    CHECK_EQ(RUN("patra", "cursor", "verify", "--store", store).code, 0, "the events agree");
    raw_server_stop(server);
}

TEST(a_feed_that_is_newest_first_loses_nothing_on_sqlite)
{
    harvest_newest_first(cli_sqlite("newest-first"));
}

TEST(a_feed_that_is_newest_first_loses_nothing_on_postgres)
{
    harvest_newest_first(cli_postgres());
}

TEST(an_empty_page_below_the_highest_id_is_not_the_end)
{
    const char *store = cli_sqlite("empty");
    struct raw_server *server = serve_to(store);

    serve(server, 1, 10);
    serve(server, 11, 20);
    serve(server, 0, 0);
    serve(server, 0, 0);
    harvest_in_part(store, "35");
    CHECK_EQ(sql_number(store, VALUE), 20, "what was received is complete");
    serve(server, 21, 30);
    serve(server, 31, 35);
    harvest(store, CHANGES);
    CHECK_EQ(sql_number(store, "SELECT count(*) FROM ing_record"), 35, "everything");
    CHECK_EQ(RUN("patra", "status", "--store", store).code, 0, "nothing is left to do");
    raw_server_stop(server);
}

/* ---- by token ---- */

static void harvest_by_token(const char *store)
{
    struct sim sim = start();
    int64_t live;

    apply(store, &sim, SYNC, "rate.per_second=1000");
    harvest(store, SYNC);
    check_truth(store, &sim, SYNC, "a full sync");
    set_clock(&sim, "2026-01-20T20:00:00Z");
    harvest(store, SYNC);
    check_truth(store, &sim, SYNC, "changes");
    CHECK_EQ(sql_number(store, "SELECT count(*) FROM ing_cursor_event"
                               " WHERE reason_code = 'TOKEN_COMPENSATE'"),
             0, "the token was good");
    /* Tokens live for a day. */
    set_clock(&sim, "2026-02-10T00:00:00Z");
    live = sql_number(store, "SELECT count(*) FROM ing_record WHERE NOT deleted");
    harvest(store, SYNC);
    CHECK_EQ(sql_number(store, "SELECT count(*) FROM ing_cursor_event"
                               " WHERE reason_code = 'TOKEN_COMPENSATE'"),
             1, "the expired token is compensated for");
    CHECK(live > 100, "there was something before");
    CHECK(sql_number(store, "SELECT count(*) FROM ing_signal WHERE consumed_at IS NULL") > 0,
          "records that the full sync did not have are signalled");
    CHECK_EQ(RUN("patra", "update", SYNC, "--quiet", "--store", store).code, 0, "looked at again");
    check_truth(store, &sim, SYNC, "after a full sync");
    CHECK_EQ(sql_number(store, "SELECT count(*) FROM ing_signal WHERE consumed_at IS NULL"), 0,
             "none is left");
    sim_stop(&sim);
}

TEST(a_feed_by_token_survives_an_expired_token_on_sqlite)
{
    harvest_by_token(cli_sqlite("by-token"));
}

TEST(a_feed_by_token_survives_an_expired_token_on_postgres)
{
    harvest_by_token(cli_postgres());
}

TEST(a_bridge_begins_before_the_last_sync)
{
    const char *store = cli_sqlite("bridge");
    struct sim sim = start();
    char url[TEXT_BYTES];
    struct run run;

    (void)snprintf(url, sizeof(url), "http.base_url=%s", sim.base);
    REQUIRE(RUN("patra", "init", "--store", store).code == 0, "init");
    run = RUN("patra", "source", "apply", "test/data/sim-sources/generic-sync.yaml", "--store",
              store, "--set", url, "--set", "endpoints.records.window.bridge=3d", "--set",
              "endpoints.records.query.from=${window.since}");
    REQUIRE(run.code == 0, run.talk.data);
    harvest(store, SYNC);
    REQUIRE(RUN("patra", "trigger", SYNC, "harvest", "--store", store).code == 0, "trigger");
    CHECK_EQ(sql_number(store,
                        "SELECT CAST(round(julianday(datetime(c.updated_at / 1000000, 'unixepoch'))"
                        " - julianday(json_extract(s.slice_spec, '$.bounds.feed.bridge'))) AS int)"
                        " FROM ing_cursor c, ing_plan_slice s WHERE s.plan_id = 2"),
             3, "three days before the cursor moved");
    sim_stop(&sim);
}
