/* Rebuilds that die. A projection has a table with two children rows for each row. While events of
 * all keys flow (a publisher and a consumer run, the test writes records and events), rebuilds are
 * killed (SIGKILL) at any moment. Two readers poll all the time, by SQL of the test's own:
 *
 *      the whole     rows, children, and whether the children are those of their row: one statement
 *      one key       its row and both children are there
 *
 * The rows from before the rebuild have the mark 0 in row and children, those that events make have
 * 1: old rows with new children, or the reverse, add up wrongly. A table that is partly filled has
 * too few rows. Afterwards, left alone, a rebuild ends well, all rows have the mark 1, and audit
 * and SQL say that they are those of the records.
 *
 * PATRA_REBUILD_ROWS and PATRA_REBUILD_KILLS say how many; the suite makes do with fewer.
 */
#include <inttypes.h>
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <sys/wait.h>
#include <time.h>
#include <unistd.h>

#include "cli.h"
#include "poller.h"
#include "random.h"
#include "run.h"
#include "sql.h"
#include "test.h"

enum { ROWS = TEST_IS_SLOW ? 2000 : 20000, KILLS = TEST_IS_SLOW ? 4 : 8 };
enum { WRITTEN = 40, SQL_BYTES = 2048, STEP_US = 20000 };

#define BODY "{\"fields\":{\"mark\":1,\"parts\":[1,1]}}"

static const char PROJECTION[] = "projection: shelf\n"
                                 "tables:\n"
                                 "  item:\n"
                                 "    key: { type: none, id: id }\n"
                                 "    columns: { mark: { type: integer, path: $.fields.mark } }\n"
                                 "    from: [ { aggregates: [ daily/works ] } ]\n"
                                 "    children:\n"
                                 "      part:\n"
                                 "        ordinal: n\n"
                                 "        each: $.fields.parts[*]\n"
                                 "        columns: { mark: { type: integer, path: $ } }\n";

struct site {
    const char *store;
    bool is_sqlite;
    struct random random;
    int64_t rows;
    int64_t next; /* record that gets an event */
    int64_t events;
    double longest; /* seconds that a writer took */
    struct running publisher;
    struct running consumer;
    struct poller whole;
    struct poller one;
};

static int64_t number_of(const char *name, int64_t preset)
{
    const char *text = getenv(name);

    return text != NULL ? atoll(text) : preset;
}

static double now_s(void)
{
    struct timespec t;

    (void)clock_gettime(CLOCK_MONOTONIC, &t);
    return (double)t.tv_sec + (double)t.tv_nsec * 1e-9;
}

/* ---- the store ---- */

/* What differs between the databases: numbers from 1 to :rows, an instant, an id of an event. */
static void fill(struct site *site)
{
    char numbers[256], sql[SQL_BYTES];
    const char *const at = site->is_sqlite ? "1767225600000000" : "timestamptz '2026-01-01'";
    const char *const no = site->is_sqlite ? "0" : "false";
    const char *const body = site->is_sqlite ? "CAST('" BODY "' AS BLOB)" : "'" BODY "'::bytea";

    (void)snprintf(numbers, sizeof(numbers),
                   site->is_sqlite ? "(WITH RECURSIVE g(n) AS (VALUES (1) UNION ALL SELECT n + 1"
                                     " FROM g WHERE n < %" PRId64 ") SELECT n FROM g) AS g"
                                   : "generate_series(1, %" PRId64 ") AS g (n)",
                   site->rows);
    (void)snprintf(
        sql, sizeof(sql),
        "INSERT INTO ing_record_endpoint (provenance_code, endpoint_name)"
        " VALUES ('daily', 'works');"
        "INSERT INTO ing_record_state (id, endpoint_id, expr_id, provider_id, version, deleted,"
        " content_hash, checked_week, observed_at, checked_at, created_at)"
        " SELECT n, (SELECT max(id) FROM ing_record_endpoint), 1, 'w' || n, 1, %s, %s, 2922, %s,"
        " %s, %s FROM %s",
        no, site->is_sqlite ? "x''" : "''", at, at, at, numbers);
    sql_run(site->store, sql);
    (void)snprintf(sql, sizeof(sql),
                   "INSERT INTO ing_outbox (record_id, version, occurred_at, event_id, lane,"
                   " schema_version, event_type, body) SELECT n, 1, %s, %s, n %% 64, 1,"
                   " 'RecordCreated', %s FROM %s",
                   at,
                   site->is_sqlite ? "printf('00000001-0000-7000-8000-%012d', n)"
                                   : "('00000001-0000-7000-8000-' || lpad(n::text, 12, '0'))::uuid",
                   body, numbers);
    sql_run(site->store, sql);
    (void)snprintf(
        sql, sizeof(sql),
        "INSERT INTO item (id, version, deleted, mark) SELECT 'w' || n, 1, %s, 0 FROM %s", no,
        numbers);
    sql_run(site->store, sql);
    (void)snprintf(sql, sizeof(sql),
                   "INSERT INTO part (id, n, mark) SELECT 'w' || g.n, o.n, 0 FROM %s"
                   " CROSS JOIN (SELECT 1 AS n UNION ALL SELECT 2) AS o",
                   numbers);
    sql_run(site->store, sql);
    if (!site->is_sqlite)
        sql_run(site->store, "ANALYZE");
}

static void must(struct run run, const char *what)
{
    if (run.code != 0)
        test_note("%.*s%.*s", STR_ARG(run.out), STR_ARG(run.talk));
    REQUIRE(run.code == 0, what);
}

static void set_up(struct site *site)
{
    char path[512];
    FILE *file;

    (void)snprintf(path, sizeof(path), "%s/shelf.yaml", test_folder());
    file = fopen(path, "w");
    REQUIRE(file != NULL && fputs(PROJECTION, file) >= 0 && fclose(file) == 0, "a file");
    must(RUN("patra", "init", "--store", site->store), "init");
    must(RUN("patra", "projection", "apply", path, "--store", site->store), "apply");
    fill(site);
    must(RUN("patra", "publish", "--once", "--store", site->store), "publish");
    must(RUN("patra", "offset", "reset", "shelf", "--to", "latest", "--yes", "--reason", "test",
             "--store", site->store),
         "the consumer has come so far");
}

/* ---- events ---- */

static void write_events(struct site *site)
{
    const char *const at = site->is_sqlite ? "1767225600000001" : "timestamptz '2026-01-02'";
    const int64_t from = site->next, to = from + WRITTEN;
    const double began = now_s();
    char sql[SQL_BYTES];

    (void)snprintf(
        sql, sizeof(sql),
        "BEGIN%s; UPDATE ing_record_state SET version = version + 1 WHERE id BETWEEN %" PRId64
        " AND %" PRId64 ";"
        " INSERT INTO ing_outbox (record_id, version, occurred_at, event_id, lane, schema_version,"
        " event_type, body) SELECT id, version, %s, %s, id %% 64, 1, 'RecordUpdated', %s"
        " FROM ing_record WHERE id BETWEEN %" PRId64 " AND %" PRId64 " ORDER BY id; COMMIT",
        site->is_sqlite ? " IMMEDIATE" : "", from, to - 1, at,
        site->is_sqlite ? "printf('%08d-0000-7000-8000-%012d', version, id)"
                        : "(lpad(version::text, 8, '0') || '-0000-7000-8000-' ||"
                          " lpad(id::text, 12, '0'))::uuid",
        site->is_sqlite ? "CAST('" BODY "' AS BLOB)" : "'" BODY "'::bytea", from, to - 1);
    sql_run(site->store, sql);
    if (now_s() - began > site->longest)
        site->longest = now_s() - began;
    site->events += WRITTEN;
    site->next = to + WRITTEN > site->rows ? 1 : to;
}

static void let_flow(struct site *site, double seconds)
{
    const double end = now_s() + seconds;

    do {
        write_events(site);
        (void)usleep(STEP_US);
    } while (now_s() < end);
}

/* ---- who lives meanwhile ---- */

#define WHOLE                                                                                     \
    "SELECT CASE WHEN i.rows = %" PRId64 " AND p.rows = 2 * i.rows AND p.marks = 2 * i.marks"     \
    " AND p.keys = i.keys THEN 'right' ELSE 'rows ' || i.rows || ' marks ' || i.marks ||"         \
    " ' children ' || p.rows || ' marks ' || p.marks END"                                         \
    " FROM (SELECT count(*) AS rows, sum(mark) AS marks, sum(length(id)) AS keys FROM item) AS i" \
    " CROSS JOIN (SELECT count(*) AS rows, sum(mark) AS marks,"                                   \
    " sum(CASE n WHEN 1 THEN length(id) END) AS keys FROM part) AS p"

static void begin(struct site *site)
{
    char whole[SQL_BYTES];

    (void)snprintf(whole, sizeof(whole), WHOLE, site->rows);
    site->publisher = RUN_BEGIN("patra", "publish", "--store", site->store);
    site->consumer = RUN_BEGIN("patra", "consume", "--store", site->store);
    site->whole = poller_start(site->store, whole, "right");
    site->one = poller_start(site->store,
                             "SELECT (SELECT count(*) FROM item WHERE id = 'w17') ||"
                             " CASE WHEN count(*) = 2 AND min(mark) = max(mark) THEN ' right' END"
                             " FROM part WHERE id = 'w17'",
                             "1 right");
}

static void check_reader(struct poller *poller, const char *name)
{
    const struct poller_report report = poller_end(poller);

    CHECK(report.polls > 0, "it has looked");
    CHECK_EQ(report.wrong, 0, report.first_wrong);
    test_note("reader of %s: %" PRId64 " polls, %" PRId64 " wrong, longest %.0f ms", name,
              report.polls, report.wrong, (double)report.longest_us / 1e3);
}

static void end(struct site *site)
{
    check_reader(&site->whole, "the whole");
    check_reader(&site->one, "one key");
    (void)kill(site->consumer.pid, SIGTERM);
    (void)kill(site->publisher.pid, SIGTERM);
    CHECK_EQ(run_end(&site->consumer).code, 0, "the consumer ends well");
    CHECK_EQ(run_end(&site->publisher).code, 0, "the publisher ends well");
}

/* ---- rebuilds ---- */

struct tally {
    int killed;
    int finished; /* before their death */
    int continued;
};

/* Ends after so many seconds, if it has not by itself. */
static void rebuild_and_die(struct site *site, double seconds, struct tally *tally)
{
    struct running rebuild =
        RUN_BEGIN("patra", "projection", "rebuild", "shelf", "--store", site->store);
    struct run run;

    let_flow(site, seconds);
    (void)kill(rebuild.pid, SIGKILL);
    run = run_end(&rebuild);
    tally->killed += run.code == 128 + SIGKILL;
    tally->finished += run.code == 0;
    CHECK(run.code == 0 || run.code == 128 + SIGKILL, run.talk.data);
}

static bool has_ended(pid_t pid)
{
    siginfo_t info = { 0 };

    return waitid(P_PID, (id_t)pid, &info, WEXITED | WNOHANG | WNOWAIT) == 0 && info.si_pid == pid;
}

/* To its end, with events. Returns how many seconds it took. */
static double rebuild_whole(struct site *site, struct tally *tally)
{
    const double from = now_s();
    struct running rebuild =
        RUN_BEGIN("patra", "projection", "rebuild", "shelf", "--store", site->store);
    double took;
    struct run run;

    while (!has_ended(rebuild.pid))
        let_flow(site, 0);
    took = now_s() - from;
    run = run_end(&rebuild);
    REQUIRE(run.code == 0, run.talk.data);
    tally->continued += cli_has(run.out, "(continued)");
    return took;
}

/* ---- afterwards ---- */

#define DIFFERENT                                                                      \
    "SELECT count(*) FROM ing_record AS r LEFT JOIN item AS i ON i.id = r.provider_id" \
    " WHERE coalesce(i.version, 0) <> r.version OR coalesce(i.mark, 0) <> 1"

static void judge(const struct site *site)
{
    must(RUN("patra", "publish", "--once", "--store", site->store), "all is published");
    must(RUN("patra", "consume", "--once", "--store", site->store), "all is consumed");
    CHECK_EQ(sql_number(site->store, "SELECT count(*) FROM item"), site->rows, "rows");
    CHECK_EQ(sql_number(site->store, DIFFERENT), 0, "those of the records");
    CHECK_EQ(sql_number(site->store, "SELECT count(*) FROM part WHERE mark = 1"), 2 * site->rows,
             "children");
    must(RUN("patra", "audit", "shelf", "--store", site->store), "audit");
}

/* About as long as one rebuild takes, shared by all who die. */
static double moment(struct site *site, int64_t kills)
{
    const double most = 0.1 + 2.0 * (double)site->rows / 20000 / (double)kills;

    return most * (double)random_between(&site->random, 0, 1000) / 1000;
}

static void live_and_die(const char *store, bool is_sqlite)
{
    const int64_t kills = number_of("PATRA_REBUILD_KILLS", KILLS);
    struct site site = { .store = store,
                         .is_sqlite = is_sqlite,
                         .random = { 11 },
                         .rows = number_of("PATRA_REBUILD_ROWS", ROWS),
                         .next = 1 };
    struct tally tally = { 0 };
    double last, alone;

    set_up(&site);
    begin(&site);
    for (int64_t i = 0; i < kills; i++)
        rebuild_and_die(&site, moment(&site, kills), &tally);
    last = rebuild_whole(&site, &tally);
    alone = rebuild_whole(&site, &tally);
    end(&site);
    judge(&site);
    test_note("writer of events: longest %.0f ms", site.longest * 1e3);
    test_note("%d killed, %d ended before, the last %s and took %.1f s", tally.killed,
              tally.finished, tally.continued > 0 ? "continued" : "began", last);
    test_note("%" PRId64 " rows and %" PRId64 " events since: a whole rebuild beside two readers"
              " took %.1f s, %.0f rows/s",
              site.rows, site.events, alone, (double)site.rows / alone);
}

TEST(whenever_a_rebuild_dies_readers_see_whole_tables_on_sqlite)
{
    live_and_die(cli_sqlite("rebuild"), true);
}

TEST(whenever_a_rebuild_dies_readers_see_whole_tables_on_postgres)
{
    live_and_die(cli_postgres(), false);
}
