/* Planning as a user does it, command by command, each a process of its own; what it left is read
 * from the tables, and the dates are reckoned by the C library. */
#include <libpq-fe.h>
#include <sqlite3.h>
#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/wait.h>
#include <time.h>
#include <unistd.h>

#include "cli.h"
#include "run.h"
#include "test.h"

enum { TEXT_BYTES = 512 };

/* ---- the truth ---- */

static time_t day(int year, int month, int mday)
{
    struct tm date = { .tm_year = year - 1900, .tm_mon = month - 1, .tm_mday = mday };

    return timegm(&date);
}

struct text {
    char bytes[TEXT_BYTES];
};

static struct text instant(time_t at)
{
    struct text text;
    struct tm date;

    REQUIRE(gmtime_r(&at, &date) != NULL, "a date");
    (void)strftime(text.bytes, sizeof(text.bytes), "%Y-%m-%dT%H:%M:%SZ", &date);
    return text;
}

__attribute__((format(printf, 1, 2))) static struct text format(const char *words, ...)
{
    struct text text;
    va_list args;

    va_start(args, words);
    (void)vsnprintf(text.bytes, sizeof(text.bytes), words, args);
    va_end(args);
    return text;
}

static void check_value(struct str json, struct text path, struct text wanted)
{
    CHECK_STR(cli_value(json, path.bytes), str_of(wanted.bytes), path.bytes);
}

/* ---- the tables ---- */

static bool is_postgres(const char *store)
{
    return str_starts(str_of(store), STR("postgres"));
}

static struct text ask_sqlite(const char *store, const char *sql)
{
    struct text text = { "" };
    sqlite3_stmt *statement = NULL;
    sqlite3 *db = NULL;

    REQUIRE(sqlite3_open_v2(store, &db, SQLITE_OPEN_READWRITE, NULL) == SQLITE_OK, store);
    REQUIRE(sqlite3_prepare_v2(db, sql, -1, &statement, NULL) == SQLITE_OK, sqlite3_errmsg(db));
    if (sqlite3_step(statement) == SQLITE_ROW && sqlite3_column_text(statement, 0) != NULL)
        (void)snprintf(text.bytes, sizeof(text.bytes), "%s",
                       (const char *)sqlite3_column_text(statement, 0));
    REQUIRE(sqlite3_finalize(statement) == SQLITE_OK, sqlite3_errmsg(db));
    (void)sqlite3_close(db);
    return text;
}

static struct text ask_postgres(const char *store, const char *sql)
{
    struct text text = { "" };
    PGconn *connection = PQconnectdb(store);
    PGresult *result = PQexec(connection, sql);
    const ExecStatusType status = PQresultStatus(result);

    REQUIRE(status == PGRES_TUPLES_OK || status == PGRES_COMMAND_OK, PQerrorMessage(connection));
    if (PQntuples(result) > 0)
        (void)snprintf(text.bytes, sizeof(text.bytes), "%s", PQgetvalue(result, 0, 0));
    PQclear(result);
    PQfinish(connection);
    return text;
}

/* The first column of the first row. */
static struct text ask(const char *store, const char *sql)
{
    return is_postgres(store) ? ask_postgres(store, sql) : ask_sqlite(store, sql);
}

static int64_t number(const char *store, const char *sql)
{
    return strtoll(ask(store, sql).bytes, NULL, 10);
}

/* What waits is done, as if executors had been here. */
static void succeed(const char *store)
{
    (void)ask(store, "UPDATE ing_task SET status_code = 'SUCCEEDED' WHERE status_code = 'QUEUED'");
}

/* ---- dry runs ---- */

static const struct {
    const char *label;
    int from[3], to[3];
} spans[] = {
    { "over a leap day", { 2024, 2, 27 }, { 2024, 3, 2 } },
    { "over the end of a February of 28 days", { 2023, 2, 27 }, { 2023, 3, 2 } },
    { "over a year's end", { 2023, 12, 30 }, { 2024, 1, 3 } },
    { "one day", { 2024, 2, 29 }, { 2024, 3, 1 } },
    { "a quarter", { 2025, 1, 1 }, { 2025, 4, 1 } },
};

static void check_table(struct str text, time_t first, int days)
{
    const struct str table = str_slice(text, str_find(text, STR("\nSLICE ")), text.len);

    for (int i = 0; i < days; i++) {
        char from[TEXT_BYTES], to[TEXT_BYTES];
        const size_t at = str_find(table, str_of(format("\n%d ", i + 1).bytes));
        int slice;

        REQUIRE(at < table.len, "a line for each slice");
        REQUIRE(sscanf(table.data + at, "%d %500s %500s", &slice, from, to) == 3, "its columns");
        CHECK_STR(str_of(from), str_slice(str_of(instant(first + i * 86400).bytes), 0, 10), "from");
        CHECK_STR(str_of(to), str_slice(str_of(instant(first + (i + 1) * 86400).bytes), 0, 10),
                  "to");
    }
}

TEST(the_slices_of_a_dry_run_are_the_days_of_the_calendar)
{
    const char *store = cli_with_daily(cli_sqlite("days"));

    for (size_t s = 0; s < ARRAY_LEN(spans); s++) {
        const time_t first = day(spans[s].from[0], spans[s].from[1], spans[s].from[2]);
        const time_t end = day(spans[s].to[0], spans[s].to[1], spans[s].to[2]);
        const struct text from = instant(first), to = instant(end);
        const int days = (int)((end - first) / 86400);
        struct run run = RUN("patra", "trigger", "daily", "--from", from.bytes, "--to", to.bytes,
                             "--dry-run", "--json", "--limit", "1000", "--store", store);

        REQUIRE(run.code == 0, spans[s].label);
        check_value(run.out, format("sliceCount"), format("%d", days));
        check_value(run.out, format("window.from"), from);
        check_value(run.out, format("window.to"), to);
        for (int i = 0; i < days; i++) {
            check_value(run.out, format("slices.%d.window.from", i), instant(first + i * 86400));
            check_value(run.out, format("slices.%d.window.to", i),
                        instant(first + (i + 1) * 86400));
        }
        run = RUN("patra", "trigger", "daily", "--from", from.bytes, "--to", to.bytes, "--dry-run",
                  "--limit", "1000", "--store", store);
        check_table(run.out, first, days);
    }
    CHECK_EQ(number(store, "SELECT count(*) FROM ing_schedule_instance"), 0, "nothing is written");
    CHECK_EQ(number(store, "SELECT count(*) FROM ing_cursor"), 0, "no cursor is started");
}

/* ---- plans ---- */

static void backfill(const char *store)
{
    const time_t end = day(2024, 3, 3);
    struct run run = RUN("patra", "trigger", "daily", "backfill", "--from", "2024-02-25", "--to",
                         "2024-03-03", "--store", store);

    REQUIRE(run.code == 0, "backfill");
    run = RUN("patra", "plan", "show", "1", "--json", "--limit", "100", "--store", store);
    check_value(run.out, format("sliceCount"), format("%d", 7));
    for (int i = 0; i < 7; i++) {
        check_value(run.out, format("slices.%d.window.from", i), instant(end - (i + 1) * 86400));
        check_value(run.out, format("slices.%d.number", i), format("%d", i + 1));
    }
    CHECK_EQ(number(store, "SELECT count(*) FROM ing_task WHERE status_code = 'QUEUED'"), 7, "one");
    CHECK_EQ(number(store, "SELECT count(DISTINCT slice_id) FROM ing_task"), 7, "per slice");
    CHECK_EQ(number(store, "SELECT count(*) FROM ing_task AS a JOIN ing_task AS b"
                           " ON a.window_from > b.window_from"
                           " AND a.scheduled_at >= b.scheduled_at"),
             0, "the newer is due before the older");
    CHECK_EQ(number(store, "SELECT count(*) FROM ing_cursor WHERE operation_code = 'HARVEST'"), 0,
             "the forward watermark is not touched");
    CHECK_EQ(number(store, "SELECT count(*) FROM ing_cursor"
                           " WHERE namespace_scope_code = 'CUSTOM'"),
             1, "its own is");
}

TEST(a_backfill_goes_back_from_its_newest_day_on_sqlite)
{
    backfill(cli_with_daily(cli_sqlite("backfill")));
}

TEST(a_backfill_goes_back_from_its_newest_day_on_postgres)
{
    backfill(cli_with_daily(cli_postgres()));
}

static struct run trigger_ten_days(const char *store)
{
    return RUN("patra", "trigger", "daily", "harvest", "--from", "2023-12-27", "--to", "2024-01-06",
               "--set", "queued_max=4", "--json", "--store", store);
}

static void partial(const char *store)
{
    static const int WANTED[] = { 4, 4, 2 };
    struct run run;

    for (size_t i = 0; i < ARRAY_LEN(WANTED); i++) {
        run = trigger_ten_days(store);
        REQUIRE(run.code == 0, "trigger");
        check_value(run.out, format("sliceCount"), format("%d", WANTED[i]));
        CHECK_STR(cli_value(run.out, "status"), WANTED[i] == 4 ? STR("PARTIAL") : STR("READY"),
                  "PARTIAL while there is more");
        CHECK_STR(cli_value(run.out, "stop"), WANTED[i] == 4 ? STR("INVENTORY") : STR("GO"), "why");
        if (i == 0) {
            run = trigger_ten_days(store);
            CHECK_STR(cli_value(run.out, "sliceCount"), STR("0"), "while the queue is full");
            CHECK_STR(cli_value(run.out, "remarks.idle"), STR("BUDGET"), "it says so");
            run = RUN("patra", "plan", "show", "1", "--store", store);
            CHECK(cli_has(run.out, "rest       the next trigger plans the rest"),
                  "what is to come");
        }
        succeed(store);
        run = RUN("patra", "plan", "show", "1", "--json", "--store", store);
        CHECK_STR(cli_value(run.out, "rest.state"), i < 2 ? STR("OPEN") : STR("FINISHED"),
                  "finished when all days are, and not before");
    }
    CHECK_EQ(number(store, "SELECT count(*) FROM ing_task"), 10, "ten days");
    CHECK_EQ(number(store, "SELECT count(DISTINCT window_from) FROM ing_task"), 10, "each once");
    run = RUN("patra", "plan", "show", "1", "--store", store);
    CHECK(cli_has(run.out, "HARVEST of works, PARTIAL"), "the first plan stays as it was");
    CHECK(cli_has(run.out, "rest       the rest was finished by plan 4"),
          "and says who finished it");
    run = RUN("patra", "plan", "list", "--json", "--store", store);
    CHECK_STR(cli_value(run.out, "3.rest.state"), STR("FINISHED"), "for programs");
    CHECK_STR(cli_value(run.out, "0.rest"), STR(""), "the last one is READY");
    run = RUN("patra", "plan", "list", "--store", store);
    CHECK(cli_has(run.out, "the rest was finished by plan 4"), "in the list");
    CHECK(cli_width(run.out) <= 80, "which fits");
    run = trigger_ten_days(store);
    CHECK_STR(cli_value(run.out, "sliceCount"), STR("0"), "then all is done");
    CHECK_STR(cli_value(run.out, "stop"), STR("GO"), "and nothing waits");
}

TEST(a_full_queue_makes_a_plan_partial_and_the_next_trigger_goes_on_on_sqlite)
{
    partial(cli_with_daily(cli_sqlite("partial")));
}

TEST(a_full_queue_makes_a_plan_partial_and_the_next_trigger_goes_on_on_postgres)
{
    partial(cli_with_daily(cli_postgres()));
}

static void replay(const char *store)
{
    static const char CURSORS[] = "SELECT cursor_value FROM ing_cursor";
    struct text cursor;
    struct run run;

    REQUIRE(RUN("patra", "trigger", "daily", "--from", "2024-01-01", "--to", "2024-01-11",
                "--store", store)
                    .code == 0,
            "harvest");
    succeed(store);
    cursor = ask(store, CURSORS);
    CHECK(strlen(cursor.bytes) > 0, "HARVEST has one");
    run = RUN("patra", "trigger", "daily", "replay", "--from", "2024-01-03", "--to", "2024-01-06",
              "--json", "--store", store);
    REQUIRE(run.code == 0, "replay");
    CHECK_STR(cli_value(run.out, "sliceCount"), STR("3"), "what is covered is fetched again");
    CHECK_STR(cli_value(run.out, "window.from"), str_of(instant(day(2024, 1, 3)).bytes), "from");
    CHECK_EQ(number(store, "SELECT count(*) FROM ing_task WHERE operation_code = 'REPLAY'"
                           " AND namespace_scope_code = 'CUSTOM' AND status_code = 'QUEUED'"),
             3, "in a namespace of its own");
    CHECK_STR(str_of(ask(store, CURSORS).bytes), str_of(cursor.bytes), "the cursor stays");
    CHECK_EQ(number(store, "SELECT count(*) FROM ing_cursor"), 1, "and is alone");
    CHECK_EQ(number(store, "SELECT count(*) FROM ing_cursor_event"), 1, "so is its event");
}

TEST(a_replay_moves_no_cursor_on_sqlite)
{
    replay(cli_with_daily(cli_sqlite("replay")));
}

TEST(a_replay_moves_no_cursor_on_postgres)
{
    replay(cli_with_daily(cli_postgres()));
}

/* ---- records ---- */

static void add_record(const char *store, const char *id, int days_ago)
{
    char sql[4096];

    (void)ask(store, "INSERT INTO ing_record_endpoint (provenance_code, endpoint_name)"
                     " VALUES ('daily', 'works') ON CONFLICT DO NOTHING");
    (void)snprintf(
        sql, sizeof(sql),
        "INSERT INTO ing_record_state (endpoint_id, expr_id, provider_id, version,"
        " deleted, content_hash, checked_week, checked_at, observed_at, created_at)"
        " VALUES ((SELECT id FROM ing_record_endpoint WHERE provenance_code = 'daily'"
        " AND endpoint_name = 'works'), 1, '%s', 1, %s, %s, %s, %s, %s, %s)",
        id, is_postgres(store) ? "false" : "0", is_postgres(store) ? "''" : "x''",
        is_postgres(store)
            ? format("floor(extract(epoch FROM now() - interval '%d days') / 604800)", days_ago)
                  .bytes
            : format("(unixepoch() - %d * 86400) / 604800", days_ago).bytes,
        is_postgres(store) ? format("now() - interval '%d days'", days_ago).bytes
                           : format("(unixepoch() - %d * 86400) * 1000000", days_ago).bytes,
        is_postgres(store) ? "now()" : "unixepoch() * 1000000",
        is_postgres(store) ? "now()" : "unixepoch() * 1000000");
    (void)ask(store, sql);
    (void)ask(store, is_postgres(store) ? "INSERT INTO ing_record_content (record_id, payload)"
                                          " SELECT max(id), '\\x7b7d' FROM ing_record"
                                        : "INSERT INTO ing_record_content (record_id, payload)"
                                          " SELECT max(id), x'7b7d' FROM ing_record");
}

static struct run update_stale(const char *store, const char *stale)
{
    return RUN("patra", "trigger", "daily", "update", "--stale", stale, "--json", "--store", store);
}

static void stale(const char *store)
{
    add_record(store, "old", 40);
    add_record(store, "middle", 10);
    add_record(store, "young", 1);
    CHECK_STR(cli_value(update_stale(store, "60d").out, "sliceCount"), STR("0"), "none so old");
    CHECK_STR(cli_value(update_stale(store, "30d").out, "remarks.totalEstimated"), STR("1"), "old");
    CHECK_EQ(number(store, "SELECT count(*) FROM ing_plan_slice"
                           " WHERE CAST(expr_snapshot AS text) LIKE '%\"old\"%'"),
             1, "it is in the slice");
    CHECK_STR(cli_value(update_stale(store, "5d").out, "remarks.totalEstimated"), STR("1"),
              "the middle one; the old one is under way");
    CHECK_EQ(number(store, "SELECT count(*) FROM ing_plan_slice"
                           " WHERE CAST(expr_snapshot AS text) LIKE '%\"young\"%'"),
             0, "the young one is left alone");
    succeed(store);
    CHECK_STR(cli_value(update_stale(store, "30d").out, "remarks.totalEstimated"), STR("1"),
              "until somebody has looked at it");
}

TEST(an_update_takes_records_not_checked_for_so_long_on_sqlite)
{
    stale(cli_with_daily(cli_sqlite("stale")));
}

TEST(an_update_takes_records_not_checked_for_so_long_on_postgres)
{
    stale(cli_with_daily(cli_postgres()));
}

/* ---- nothing to do, or nothing that can be done ---- */

TEST(an_empty_window_is_a_plan_without_slices_that_says_why)
{
    const char *store = cli_with_daily(cli_sqlite("empty"));
    struct run run = RUN("patra", "trigger", "daily", "--from", "2999-01-01", "--store", store);

    CHECK_EQ(run.code, 0, "it is not a failure");
    CHECK(cli_has(run.out, "window  empty: --from is not before now less the lag"), "why");
    CHECK_EQ(number(store, "SELECT count(*) FROM ing_plan WHERE window_from IS NULL"), 1, "a plan");
    CHECK_EQ(number(store, "SELECT count(*) FROM ing_plan_slice"), 0, "without slices");
    CHECK_EQ(number(store, "SELECT count(*) FROM ing_cursor"), 0, "which starts no cursor");
    run = RUN("patra", "plan", "show", "1", "--json", "--store", store);
    CHECK_STR(cli_value(run.out, "remarks.decision.empty"), STR("FUTURE"), "and keeps the reason");
    run = RUN("patra", "trigger", "daily", "--from", "2024-01-02", "--to", "2024-01-02", "--json",
              "--store", store);
    CHECK_STR(cli_value(run.out, "remarks.decision.empty"), STR("USER_INVERTED"), "from = to");
}

/* Rows that were made by hand, or by another version. */
static void break_source(const char *store)
{
    (void)ask(store, "UPDATE reg_prov_window_offset_cfg SET max_us = 1000000, min_us = 2000000");
    (void)ask(store, "UPDATE reg_prov_operation_cfg SET target_endpoint = 'nowhere'"
                     " WHERE row_key = 'backfill'");
}

static void no_plan(const char *store)
{
    static const char *const FAULTS[] = { "spec.window.max-below-min", "spec.window.align",
                                          "spec.operation.unknown-endpoint" };
    struct run run;

    break_source(store);
    run = RUN("patra", "trigger", "daily", "--store", store);
    CHECK_EQ(run.code, 4, "refused");
    CHECK_STR(run.out, STR(""), "no result");
    CHECK_EQ(number(store, "SELECT count(*) FROM ing_plan"), 0, "no plan");
    CHECK_EQ(number(store, "SELECT count(*) FROM ing_task"), 0, "no task");
    CHECK_EQ(number(store, "SELECT count(*) FROM ing_schedule_instance"), 1, "it is recorded");
    for (size_t i = 0; i < ARRAY_LEN(FAULTS); i++) {
        char sql[TEXT_BYTES];

        (void)snprintf(sql, sizeof(sql),
                       "SELECT count(*) FROM ing_schedule_instance"
                       " WHERE CAST(record_remarks AS text) LIKE '%%%s%%'",
                       FAULTS[i]);
        CHECK_EQ(number(store, sql), 1, FAULTS[i]);
    }
    CHECK(cli_has(run.talk, "nowhere"), "it names the endpoint");
    CHECK(cli_has(run.talk, "window.max"), "and the window, at once");
}

TEST(what_does_not_compile_makes_no_plan_and_every_fault_is_kept_on_sqlite)
{
    no_plan(cli_with_daily(cli_sqlite("broken")));
}

TEST(what_does_not_compile_makes_no_plan_and_every_fault_is_kept_on_postgres)
{
    no_plan(cli_with_daily(cli_postgres()));
}

/* ---- at once ---- */

enum { PROCESSES = 8, TRIGGERS = 4 };

static int trigger_some(const char *store)
{
    for (int i = 0; i < TRIGGERS; i++) {
        if (RUN("patra", "trigger", "daily", "--from", "2023-12-01", "--to", "2024-01-01",
                "--store", store)
                .code != 0)
            return 1;
    }
    return 0;
}

static void at_once(const char *store)
{
    pid_t children[PROCESSES];
    int status;

    for (int i = 0; i < PROCESSES; i++) {
        children[i] = fork();
        REQUIRE(children[i] >= 0, "fork");
        if (children[i] == 0)
            _exit(trigger_some(store));
    }
    for (int i = 0; i < PROCESSES; i++) {
        REQUIRE(waitpid(children[i], &status, 0) == children[i], "wait");
        CHECK_EQ(status, 0, "no trigger failed");
    }
    CHECK_EQ(number(store, "SELECT count(*) FROM ing_plan"), PROCESSES * TRIGGERS, "plans");
    CHECK_EQ(number(store, "SELECT count(*) FROM ing_task"), 31, "one plan's worth of tasks");
    CHECK_EQ(number(store, "SELECT count(DISTINCT window_from) FROM ing_task"), 31, "none twice");
    CHECK_EQ(number(store, "SELECT count(*) FROM ing_plan_slice"), 31, "nor are slices");
}

TEST(commands_at_once_plan_each_day_once_on_sqlite)
{
    at_once(cli_with_daily(cli_sqlite("at_once")));
}

TEST(commands_at_once_plan_each_day_once_on_postgres)
{
    at_once(cli_with_daily(cli_postgres()));
}
