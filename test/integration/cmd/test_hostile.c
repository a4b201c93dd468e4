/* Small things that a hostile world does, and what is said of them. */
#include <inttypes.h>
#include <signal.h>
#include <sqlite3.h>
#include <stdio.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

#include "cli.h"
#include "raw_server.h"
#include "run.h"
#include "sim_source.h"
#include "sql.h"
#include "test.h"

/* ---- a header that silences ---- */

static void await(const char *store, const char *sql, int64_t least)
{
    for (int i = 0; i < 600 && sql_number(store, sql) < least; i++)
        (void)usleep(100000);
    CHECK(sql_number(store, sql) >= least, sql);
}

/* A worker that runs hears of it, and so does the status. */
static void resume_after_a_header(const char *store)
{
    struct sim sim = SIM_SOURCE_START("--records", "400", "--fault",
                                      "kind=status code=429 retry_after=40000 nth=1");
    struct running running;
    struct run run;

    sim_source_apply(store, &sim, "rate.per_second=500");
    REQUIRE(RUN("patra", "trigger", SIM_SOURCE_NAME, SIM_SOURCE_WINDOW, "--store", store).code == 0,
            "trigger");
    running = RUN_BEGIN("patra", "work", "--workers", "1", "--store", store);
    for (int i = 0; i < 300; i++) {
        run = RUN("patra", "status", "--store", store);
        if (cli_has(run.out, "demands silence"))
            break;
    }
    CHECK(cli_has(run.out, "run: patra resume " SIM_SOURCE_NAME), "status names the command");
    CHECK_EQ(sql_number(store, "SELECT count(*) FROM ing_task WHERE status_code = 'SUCCEEDED'"), 0,
             "nothing is fetched");
    REQUIRE(RUN("patra", "trigger", SIM_SOURCE_NAME, "replay", "--from", "2026-02-01", "--to",
                "2026-02-03", "--store", store)
                    .code == 0,
            "what is planned meanwhile waits, too");
    run = RUN("patra", "resume", SIM_SOURCE_NAME, "--json", "--store", store);
    CHECK_EQ(run.code, 0, "resume");
    CHECK_STR(cli_value(run.out, "outcome"), STR("resumed"), "something was lifted");
    await(store, "SELECT count(*) FROM ing_task WHERE status_code = 'SUCCEEDED'", 11);
    run = RUN("patra", "status", "--store", store);
    CHECK(!cli_has(run.out, "demands silence"), "it is over");
    REQUIRE(kill(running.pid, SIGTERM) == 0, "SIGTERM");
    CHECK_EQ(run_end(&running).code, 0, "the worker");
    CHECK_EQ(sim_source_verify(store, &sim).code, 0, "all of it");
    sim_stop(&sim);
}

TEST(resume_lifts_a_silence_that_a_header_made_on_sqlite)
{
    resume_after_a_header(cli_sqlite("silence"));
}

TEST(resume_lifts_a_silence_that_a_header_made_on_postgres)
{
    resume_after_a_header(cli_postgres());
}

/* ---- headers of a success that lie ---- */

/* A page with one record, which is all there is. */
static struct str page_with(struct arena *arena, const char *headers)
{
    static const char BODY[] =
        "{\"items\":[{\"id\":\"a\",\"updated_at\":\"2026-02-01T12:00:00Z\",\"version\":1}],"
        "\"total\":1}";

    return arena_printf(arena,
                        "HTTP/1.1 200 OK\r\nContent-Type: application/json\r\n%s"
                        "Content-Length: %zu\r\n\r\n%s",
                        headers, sizeof(BODY) - 1, BODY);
}

static void apply_raw(const char *store, struct raw_server *server)
{
    struct sim sim = { 0 };

    (void)snprintf(sim.base, sizeof(sim.base), "http://127.0.0.1:%d", raw_server_port(server));
    sim_source_apply(store, &sim, "rate.per_second=500");
}

static struct run harvest_two_days(const char *store)
{
    return RUN("patra", "harvest", SIM_SOURCE_NAME, "--from", "2026-02-01", "--to", "2026-02-03",
               "--workers", "1", "--store", store);
}

TEST(a_success_with_headers_that_lie_silences_nobody)
{
    static const char *const lies[] = {
        "Retry-After: 4102444800\r\n",
        "Retry-After: 3600000\r\nRetry-After: -1\r\n",
        "Retry-After: Fri, 01 Jan 2083 00:00:00 GMT\r\n",
        "X-RateLimit-Remaining: -1\r\nX-RateLimit-Reset: 999999999\r\n",
        "X-RateLimit-Remaining: 99999999999999999999\r\n",
        "X-RateLimit-Remaining: 0\r\nX-RateLimit-Reset: 99999999999999999999\r\n",
        "X-RateLimit-Limit: 0\r\nX-RateLimit-Interval: 1s\r\n",
        "X-RateLimit-Limit: 1\r\nX-RateLimit-Interval: 11d\r\n",
        "Date: Mon, 01 Jan 1990 00:00:00 GMT\r\nLast-Modified: Thu, 01 Jan 2099 00:00:00 GMT\r\n",
        "Date: Thu, 01 Jan 2099 00:00:00 GMT\r\nETag: \"\r\n",
        "Content-Type: text/html\r\nContent-Type: image/png\r\n",
        "Link: <http://evil.example/>; rel=\"next\"\r\nLink: <\r\n",
        "Location: http://evil.example/\r\nRefresh: 0; url=http://evil.example/\r\n",
    };

    for (size_t i = 0; i < ARRAY_LEN(lies); i++) {
        struct raw_server *server = raw_server_start();
        struct arena arena;
        const char *store;
        struct run run;

        arena_init(&arena, 1 << 20);
        store = cli_sqlite(arena_printf(&arena, "lie-%zu", i).data);
        for (int k = 0; k < 8; k++)
            raw_server_reply(server, page_with(&arena, lies[i]), RAW_KEEP);
        apply_raw(store, server);
        run = harvest_two_days(store);
        CHECK_EQ(run.code, 0, lies[i]);
        CHECK_EQ(sql_number(store, "SELECT count(*) FROM ing_record_state"), 1, lies[i]);
        CHECK(raw_server_requests(server) <= 4, lies[i]);
        run = RUN("patra", "status", "--store", store);
        CHECK(!cli_has(run.out, "demands silence"), lies[i]);
        raw_server_stop(server);
        arena_release(&arena);
    }
}

/* Nothing is left, and the next reset is in 31 years: a day of silence, or until somebody says. */
static void resume_after_a_success(const char *store, const char *lie)
{
    static const char DONE[] = "SELECT count(*) FROM ing_task WHERE status_code = 'SUCCEEDED'";
    struct raw_server *server = raw_server_start();
    struct running running;
    struct arena arena;
    struct run run;

    arena_init(&arena, 1 << 20);
    raw_server_reply(server, page_with(&arena, lie), RAW_KEEP);
    for (int k = 0; k < 8; k++)
        raw_server_reply(server, page_with(&arena, ""), RAW_KEEP);
    apply_raw(store, server);
    REQUIRE(RUN("patra", "trigger", SIM_SOURCE_NAME, "--from", "2026-02-01", "--to", "2026-02-04",
                "--store", store)
                    .code == 0,
            "trigger");
    running = RUN_BEGIN("patra", "work", "--workers", "1", "--store", store);
    await(store, DONE, 1);
    for (int i = 0; i < 300; i++) {
        run = RUN("patra", "status", "--store", store);
        if (cli_has(run.out, "demands silence"))
            break;
    }
    CHECK(cli_has(run.out, "silence for another 1d 0h") ||
              cli_has(run.out, "silence for another 23h"),
          run.out.data);
    CHECK(cli_has(run.out, "run: patra resume " SIM_SOURCE_NAME), "status names the command");
    CHECK_EQ(raw_server_requests(server), 1, "nothing is sent");
    CHECK_EQ(RUN("patra", "resume", SIM_SOURCE_NAME, "--store", store).code, 0, "resume");
    await(store, DONE, 3);
    CHECK(!cli_has(RUN("patra", "status", "--store", store).out, "demands silence"), "over");
    REQUIRE(kill(running.pid, SIGTERM) == 0, "SIGTERM");
    CHECK_EQ(run_end(&running).code, 0, "the worker");
    raw_server_stop(server);
    arena_release(&arena);
}

TEST(resume_lifts_a_silence_that_a_success_made_on_sqlite)
{
    resume_after_a_success(cli_sqlite("reset-span"),
                           "X-RateLimit-Remaining: 0\r\nX-RateLimit-Reset: 999999999\r\n");
    resume_after_a_success(cli_sqlite("reset-instant"),
                           "X-RateLimit-Remaining: 0\r\nX-RateLimit-Reset: 2745705600\r\n");
}

TEST(resume_lifts_a_silence_that_a_success_made_on_postgres)
{
    resume_after_a_success(cli_postgres(),
                           "RateLimit-Remaining: 0\r\nRateLimit-Reset: 999999999\r\n");
}

/* ---- a plan of a million slices ---- */

static int64_t wal_bytes(const char *store)
{
    struct stat file = { 0 };
    char path[600];

    (void)snprintf(path, sizeof(path), "%s-wal", store);
    return stat(path, &file) == 0 ? (int64_t)file.st_size : 0;
}

/* What was written and taken back is in the log of the file, as long as somebody has it open. */
TEST(a_million_slices_are_refused_before_they_are_written)
{
    const char *store = cli_sqlite("million");
    struct sim none = { .base = "http://127.0.0.1:1" };
    sqlite3 *open;
    struct run run;

    sim_source_apply(store, &none, "window.max=1m");
    REQUIRE(sqlite3_open(store, &open) == SQLITE_OK, "open");
    REQUIRE(sqlite3_exec(open, "SELECT count(*) FROM ing_task", NULL, NULL, NULL) == SQLITE_OK,
            "in use");
    run = RUN("patra", "trigger", SIM_SOURCE_NAME, "backfill", "--from", "2020-01-01", "--to",
              "2026-01-01", "--set", "queued_max=1000000", "--store", store);
    CHECK_EQ(run.code, 4, run.talk.data);
    CHECK(cli_has(run.talk, "more than 1000000 slices"), run.talk.data);
    CHECK(wal_bytes(store) < INT64_C(16) << 20, "nothing was written before that");
    (void)sqlite3_close(open);
}

/* ---- words ---- */

TEST(a_scope_has_one_form)
{
    const char *store = cli_with_daily(cli_sqlite("scope"));
    struct run run = RUN("patra", "token", "new", "x", "--scope", "wrong", "--store", store);

    CHECK_EQ(run.code, 2, "refused");
    CHECK(cli_has(run.talk, "is not one of read, operate"), run.talk.data);
    CHECK_EQ(RUN("patra", "token", "new", "x", "--scope", "OPERATE", "--store", store).code, 0,
             "in any case");
    run = RUN("patra", "token", "list", "--json", "--store", store);
    CHECK_STR(cli_value(run.out, "0.scope"), STR("operate"), "as it is documented");
}

TEST(pause_prints_json)
{
    const char *store = cli_with_daily(cli_sqlite("pause"));
    struct run run = RUN("patra", "pause", "daily", "--json", "--store", store);

    CHECK_EQ(run.code, 0, "paused");
    CHECK_STR(cli_value(run.out, "source"), STR("daily"), "which");
    CHECK_STR(cli_value(run.out, "outcome"), STR("paused"), "how");
    run = RUN("patra", "pause", "--json", "--store", store);
    CHECK_STR(cli_value(run.out, "0.kind"), STR("PAUSED"), "the list");
}

static struct run limited(const char *limit, const char *command, const char *store)
{
    char line[1024];

    (void)snprintf(line, sizeof(line), "ulimit %s; exec \"$PATRA_BUILD/patra\" %s --store '%s'",
                   limit, command, store);
    return RUN("/bin/sh", "-c", line);
}

TEST(a_file_that_may_not_grow_is_an_error_and_no_death)
{
    const struct run run = limited("-f 64", "init", cli_sqlite("small"));

    CHECK(run.code == 3 || run.code == 4, "an exit code of its own");
    CHECK(cli_has(run.talk, "store."), run.talk.data);
}

TEST(a_process_without_descriptors_says_so)
{
    const char *store = cli_with_daily(cli_sqlite("descriptors"));
    const struct run run = limited("-n 7", "status", store);

    CHECK_EQ(run.code, 3, run.talk.data);
    CHECK(!cli_has(run.talk, "store.auth"), "no permission is missing");
}

TEST(a_folder_that_is_not_there_or_cannot_be_written_is_named)
{
    char folder[512], store[600];
    struct run run;

    (void)snprintf(folder, sizeof(folder), "%s/none", test_folder());
    (void)snprintf(store, sizeof(store), "%s/x.db", folder);
    run = RUN("patra", "init", "--store", store);
    CHECK_EQ(run.code, 4, "refused");
    CHECK(cli_has(run.talk, "/none does not exist"), run.talk.data);
    if (geteuid() == 0)
        TEST_SKIP("whoever runs this may write everywhere");
    REQUIRE(mkdir(folder, 0555) == 0, "folder");
    run = RUN("patra", "init", "--store", store);
    CHECK(cli_has(run.talk, "/none cannot be written by the user"), run.talk.data);
}

/* ---- bytes that somebody else writes into the file ---- */

static struct str file_of(const char *store, FILE **file)
{
    sql_run(store, "PRAGMA wal_checkpoint(TRUNCATE)");
    *file = fopen(store, "r+");
    REQUIRE(*file != NULL, store);
    return test_read(store);
}

static void scribble(FILE *file, size_t at, const char *bytes, size_t len)
{
    REQUIRE(fseek(file, (long)at, SEEK_SET) == 0 && fwrite(bytes, 1, len, file) == len &&
                fclose(file) == 0,
            "scribble");
}

/* Where the text is in a page of this type: 10 is a leaf of an index, 13 one of a table. */
static size_t find_in_page(struct str bytes, size_t page, struct str text, char type)
{
    for (size_t at = 0; at < bytes.len;) {
        const size_t found = at + str_find(str_slice(bytes, at, bytes.len), text);

        if (found >= bytes.len)
            break;
        if (bytes.data[found - found % page] == type)
            return found;
        at = found + 1;
    }
    REQUIRE(false, "it is in such a page");
    return 0;
}

static struct run examine(const char *store, const char *how)
{
    return RUN("patra", "doctor", how, "--slow", "1h", "--store", store);
}

struct scribbled {
    struct sim sim;
    const char *store;
    struct str id; /* of a record, in the middle */
    size_t page;
};

static void scribbled_begin(struct scribbled *s, struct arena *arena, const char *name)
{
    s->sim = SIM_SOURCE_START("--records", "2000");
    s->store = cli_sqlite(name);
    sim_source_apply(s->store, &s->sim, "rate.per_second=500");
    REQUIRE(RUN("patra", "harvest", SIM_SOURCE_NAME, SIM_SOURCE_WINDOW, "--store", s->store).code ==
                0,
            "harvest");
    s->id = sql_rows(arena, s->store,
                     "SELECT provider_id FROM ing_record_state ORDER BY id LIMIT 1 OFFSET 20");
    s->id = str_trim(s->id);
    REQUIRE(s->id.len > 0, "a record");
    s->page = (size_t)sql_number(s->store, "PRAGMA page_size");
    CHECK_EQ(examine(s->store, "--deep").code, 0, "a healthy store");
}

TEST(a_scribble_into_a_record_is_named_and_can_be_healed)
{
    struct scribbled s;
    struct arena arena;
    struct str bytes, before;
    struct run run;
    FILE *file;
    size_t at;

    arena_init(&arena, 64 << 20);
    scribbled_begin(&s, &arena, "payload");
    before = sql_rows(&arena, s.store,
                      "SELECT CAST(payload AS TEXT) FROM ing_record_content ORDER BY record_id"
                      " LIMIT 1 OFFSET 20");
    bytes = file_of(s.store, &file);
    at = find_in_page(bytes, s.page, str_trim(before), 13) + before.len / 2;
    scribble(file, at, bytes.data[at] == 'x' ? "y" : "x", 1);
    CHECK_EQ(examine(s.store, "--json").code, 0, "the database is none the wiser");
    run = examine(s.store, "--deep");
    CHECK_EQ(run.code, 1, "found");
    CHECK(cli_has(run.out, "record.content"), run.out.data);
    CHECK(str_find(run.out, s.id) < run.out.len, "which record");
    sql_run(s.store,
            "UPDATE ing_record_state SET content_hash = substr(content_hash, 1, 0) WHERE id ="
            " (SELECT id FROM ing_record_state ORDER BY id LIMIT 1 OFFSET 20)");
    CHECK_EQ(RUN("patra", "replay", SIM_SOURCE_NAME, SIM_SOURCE_WINDOW, "--store", s.store).code, 0,
             "fetched again");
    CHECK_EQ(examine(s.store, "--deep").code, 0, "which helps");
    CHECK_STR(sql_rows(&arena, s.store,
                       "SELECT CAST(payload AS TEXT) FROM ing_record_content ORDER BY record_id"
                       " LIMIT 1 OFFSET 20"),
              before, "it is what it was");
    arena_release(&arena);
    sim_stop(&s.sim);
}

TEST(a_scribble_into_an_index_is_named)
{
    struct scribbled s;
    struct arena arena;
    struct str bytes;
    struct run run;
    FILE *file;
    size_t at;

    arena_init(&arena, 64 << 20);
    scribbled_begin(&s, &arena, "index");
    bytes = file_of(s.store, &file);
    at = find_in_page(bytes, s.page, s.id, 10) + s.id.len - 1;
    scribble(file, at, bytes.data[at] == '0' ? "1" : "0", 1);
    run = examine(s.store, "--deep");
    CHECK_EQ(run.code, 1, "found");
    CHECK(cli_has(run.out, "store.broken") && cli_has(run.out, "uk_record_provider"), run.out.data);
    CHECK(cli_has(run.out, "REINDEX"), "what to do");
    sql_run(s.store, "REINDEX uk_record_provider");
    CHECK_EQ(examine(s.store, "--deep").code, 0, "which helps");
    arena_release(&arena);
    sim_stop(&s.sim);
}

TEST(records_that_somebody_removed_are_missed_in_their_number)
{
    struct scribbled s;
    struct arena arena;
    struct run run;

    arena_init(&arena, 64 << 20);
    scribbled_begin(&s, &arena, "count");
    sql_run(s.store, "DELETE FROM ing_record_content WHERE record_id <= 3;"
                     " DELETE FROM ing_record_state WHERE id <= 3");
    CHECK_EQ(examine(s.store, "--json").code, 0, "a quick look counts nothing");
    run = examine(s.store, "--deep");
    CHECK_EQ(run.code, 1, "found");
    CHECK(cli_has(run.out, "record.count"), run.out.data);
    CHECK(cli_has(run.out, "VALUES (1, -3, 0)"), "what to do");
    sql_run(s.store, "INSERT INTO ing_record_tally (endpoint_id, live, deleted) VALUES (1, -3, 0)");
    CHECK_EQ(examine(s.store, "--deep").code, 0, "which helps");
    arena_release(&arena);
    sim_stop(&s.sim);
}

TEST(a_scribble_into_the_head_of_the_file_is_named)
{
    struct scribbled s;
    struct arena arena;
    struct run run;
    FILE *file;

    arena_init(&arena, 64 << 20);
    scribbled_begin(&s, &arena, "head");
    (void)file_of(s.store, &file);
    scribble(file, 4, "\0\0\0\0\0\0\0\0", 8);
    run = examine(s.store, "--deep");
    CHECK_EQ(run.code, 1, "found");
    CHECK(cli_has(run.out, "store.open") && cli_has(run.out, "backup"), run.out.data);
    arena_release(&arena);
    sim_stop(&s.sim);
}
