/* Retention over every store: what goes, what stays, and that a death loses nothing. */
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>

#include "contract.h"
#include "engine/retain/retain.h"
#include "fault_store.h"
#include "rows.h"
#include "sql.h"

#define DAY (INT64_C(86400) * 1000000)

static struct {
    char text[1 << 20]; /* of all files */
    size_t len;
    size_t kept; /* of it, in files that were ended */
    int files;
    bool fails; /* at the end of a file */
} written;

static bool write_text(struct byte_sink *sink, struct str bytes, struct error *err)
{
    (void)sink;
    (void)err;
    memcpy(written.text + written.len, bytes.data, bytes.len);
    written.len += bytes.len;
    return true;
}

static bool end_text(struct byte_sink *sink, struct error *err)
{
    (void)sink;
    if (written.fails)
        return error_set(err, ERROR_TRANSIENT, "file.write", "the disk is full");
    written.files++;
    written.kept = written.len;
    return true;
}

static void close_text(struct byte_sink *sink)
{
    free(sink);
}

static bool open_text(struct arena *arena, struct str path, struct byte_sink **sink,
                      struct error *err)
{
    (void)arena;
    (void)err;
    CHECK(str_starts(path, STR("/x/")) && str_ends(path, STR(".jsonl.zst")), "its name");
    *sink = malloc(sizeof(**sink));
    **sink = (struct byte_sink){ write_text, end_text, close_text };
    return true;
}

static struct retained_count retain(struct store *store, bool ok)
{
    const struct retain_parts parts = { .store = store,
                                        .folder = STR("/x"),
                                        .open = open_text,
                                        .now_us = NOW_US,
                                        .keep_us = RETAIN_KEEP_US };
    struct retained_count count;
    struct error err = { 0 };

    CHECK_EQ(retain_run(&parts, &count, &err), ok, "it runs");
    if (ok && err.code != NULL)
        test_note("%s", err.text);
    return count;
}

static int lines(void)
{
    int count = 0;

    for (size_t i = 0; i < written.len; i++)
        count += written.text[i] == '\n';
    return count;
}

static const char EVENTS[] =
    "INSERT INTO ing_cursor_event (provenance_code, operation_code, cursor_key,"
    " namespace_scope_code, namespace_key, cursor_type_code, direction_code, reason_code,"
    " prev_value, new_value, idempotent_key, expr_hash, record_remarks, created_at)"
    " VALUES ('s', 'HARVEST', 'k', 'GLOBAL', '', 'TOKEN', 'FORWARD', '%s', %s, '%s', '%s', '',"
    " '{}', %s)";

static void add_event(const char *dsn, const char *reason, const char *prev, const char *value,
                      int64_t age_days)
{
    const int64_t at_us = NOW_US - age_days * DAY;
    char instant[80], sql[1024];

    if (strncmp(dsn, "postgres", 8) == 0 || strncmp(dsn, "host", 4) == 0)
        (void)snprintf(instant, sizeof(instant), "to_timestamp(%lld)",
                       (long long)(at_us / 1000000));
    else
        (void)snprintf(instant, sizeof(instant), "%lld", (long long)at_us);
    (void)snprintf(sql, sizeof(sql), EVENTS, reason, prev, value, value, instant);
    contract_sql(dsn, sql);
}

TEST(old_cursor_events_become_a_file_and_the_last_stays)
{
    const char *dsn = contract_ready_database();
    struct store *store = contract_open(dsn);
    struct retained_count count;

    memset(&written, 0, sizeof(written));
    add_event(dsn, "ADVANCE", "NULL", "a", 300);
    add_event(dsn, "ADVANCE", "'a'", "b", 200);
    add_event(dsn, "ADVANCE", "'b'", "c", 100);
    count = retain(store, true);
    CHECK_EQ(count.cursor_events, 2, "the last one is the value's");
    CHECK_EQ(lines(), 2, "in the file");
    CHECK_EQ(sql_number(dsn, "SELECT count(*) FROM ing_cursor_event"), 1, "left");
    CHECK_EQ(sql_number(dsn, "SELECT row_count FROM ing_retained_file"), 2, "noted");
    CHECK(str_find(str_of(written.text), STR("\"to\":\"b\"")) < written.len, "what was in it");
    add_event(dsn, "ADVANCE", "'c'", "d", 1);
    count = retain(store, true);
    CHECK_EQ(count.cursor_events, 1, "now the one before it may go");
    count = retain(store, true);
    CHECK_EQ(count.cursor_events, 0, "and nothing more: the rest is young");
    store_close(store);
    contract_end();
}

TEST(what_was_not_written_is_not_removed)
{
    const char *dsn = contract_ready_database();
    struct store *store = contract_open(dsn);

    memset(&written, 0, sizeof(written));
    add_event(dsn, "ADVANCE", "NULL", "a", 300);
    add_event(dsn, "ADVANCE", "'a'", "b", 200);
    written.fails = true;
    (void)retain(store, false);
    CHECK_EQ(sql_number(dsn, "SELECT count(*) FROM ing_cursor_event"), 2, "all are there");
    CHECK_EQ(sql_number(dsn, "SELECT count(*) FROM ing_retained_file"), 0, "no file is noted");
    written.fails = false;
    CHECK_EQ(retain(store, true).cursor_events, 1, "later");
    store_close(store);
    contract_end();
}

/* ---- a fault at any call ---- */

enum { MOVES = 2 * RETAIN_STEP + 21 };

static void add_moves(const char *dsn)
{
    const bool is_sqlite = strncmp(dsn, "postgres", 8) != 0 && strncmp(dsn, "host", 4) != 0;
    const int64_t at_us = NOW_US - 200 * DAY;
    char sql[1024];

    (void)snprintf(sql, sizeof(sql),
                   "INSERT INTO ing_cursor_event (provenance_code, operation_code, cursor_key,"
                   " namespace_scope_code, namespace_key, cursor_type_code, direction_code,"
                   " reason_code, new_value, idempotent_key, expr_hash, record_remarks, created_at)"
                   " WITH RECURSIVE g(n) AS (SELECT 1 UNION ALL SELECT n + 1 FROM g WHERE n < %d)"
                   " SELECT 's', 'HARVEST', 'k', 'GLOBAL', '', 'TOKEN', 'FORWARD', 'ADVANCE',"
                   " 'v' || n, 'v' || n, '', '{}', %s%lld%s FROM g",
                   MOVES, is_sqlite ? "" : "to_timestamp(",
                   (long long)(is_sqlite ? at_us : at_us / 1000000), is_sqlite ? "" : ")");
    contract_sql(dsn, sql);
}

/* The first `count` moves are in files that were ended. */
static bool are_kept(int64_t count)
{
    const struct str text = { written.text, written.kept };

    for (int64_t n = 1; n <= count; n++) {
        char word[40];

        (void)snprintf(word, sizeof(word), "\"to\":\"v%lld\"", (long long)n);
        if (str_find(text, str_of(word)) >= text.len)
            return false;
    }
    return true;
}

static bool survives(enum fault_effect effect, int64_t number)
{
    const char *dsn = contract_ready_database();
    struct store *store = contract_open(dsn);
    const struct retain_parts parts = { .store = store,
                                        .folder = STR("/x"),
                                        .open = open_text,
                                        .now_us = NOW_US,
                                        .keep_us = RETAIN_KEEP_US };
    struct retained_count count;
    struct error err = { 0 };
    bool is_done, has_happened;
    int64_t gone;

    memset(&written, 0, sizeof(written));
    add_moves(dsn);
    fault_store_wrap(store);
    fault_store_arm(store, &(struct store_fault){ .effect = effect, .number = number });
    is_done = retain_run(&parts, &count, &err);
    has_happened = fault_store_disarm(store);
    CHECK(is_done != has_happened, "a fault is returned");
    store_close(store);
    gone = MOVES - sql_number(dsn, "SELECT count(*) FROM ing_cursor_event");
    CHECK(gone % RETAIN_STEP == 0 || gone == MOVES - 1, "whole steps, none longer");
    CHECK_EQ(sql_number(dsn, "SELECT max(id) - min(id) + 1 FROM ing_cursor_event"), MOVES - gone,
             "the first ones go first");
    CHECK(are_kept(gone), "what is gone is in a file");
    store = contract_open(dsn);
    (void)retain(store, true);
    CHECK_EQ(sql_number(dsn, "SELECT count(*) FROM ing_cursor_event"), 1, "later all but the last");
    CHECK(are_kept(MOVES - 1), "nothing was lost");
    store_close(store);
    contract_end();
    return has_happened;
}

TEST(a_fault_at_any_call_loses_nothing)
{
    static const enum fault_effect effects[] = { FAULT_BEFORE, FAULT_AFTER };

    for (size_t i = 0; i < ARRAY_LEN(effects); i++) {
        int64_t number = 1;

        while (survives(effects[i], number))
            number++;
        CHECK(number > 3 * 3 + 2, "the note, three steps, and more");
    }
}

/* ---- what goes without a file ---- */

static const char LISTED[] =
    "INSERT INTO ing_listed_id (task_id, position, provider_id)"
    " WITH RECURSIVE g(n) AS (SELECT 1 UNION ALL SELECT n + 1 FROM g WHERE n < %d)"
    " SELECT %lld, n, 'r' || n FROM g";

static void list_ids(const char *dsn, int64_t task, int count)
{
    char sql[512];

    (void)snprintf(sql, sizeof(sql), LISTED, count, (long long)task);
    contract_sql(dsn, sql);
}

static void end_task(const char *dsn, int64_t task, const char *status)
{
    char sql[256];

    (void)snprintf(
        sql, sizeof(sql),
        "UPDATE ing_task SET status_code = '%s', finished_at = created_at WHERE id = %lld", status,
        (long long)task);
    contract_sql(dsn, sql);
}

TEST(ids_of_old_tasks_go_a_few_at_a_time)
{
    const char *dsn = contract_ready_database();
    struct store *store = contract_open(dsn);
    struct plan plan = rows_add_plan(store);
    struct error err = { 0 };
    static const int64_t steps[] = { 500, 500, 200, 3, 0 };
    int64_t removed, first;

    rows_add_tasks(store, &plan, 4);
    first = sql_number(dsn, "SELECT min(id) FROM ing_task");
    for (int64_t task = first; task < first + 4; task++)
        list_ids(dsn, task, task == first ? 1200 : 3);
    end_task(dsn, first, "SUCCEEDED");
    end_task(dsn, first + 1, "FAILED");
    end_task(dsn, first + 3, "CANCELLED");
    CHECK(store_prune_tidy(store, NOW_US - DAY, 500, &removed, &err), "too young");
    CHECK_EQ(removed, 0, "too young");
    for (size_t i = 0; i < ARRAY_LEN(steps); i++) {
        CHECK(store_prune_tidy(store, NOW_US + DAY, 500, &removed, &err), "old enough");
        CHECK_EQ(removed, steps[i], "of the first, then of the last");
    }
    CHECK_EQ(sql_number(dsn, "SELECT count(*) FROM ing_listed_id"), 6,
             "one that failed may go on; one that waits needs them");
    store_close(store);
    contract_end();
}

TEST(the_oldest_event_that_has_a_batch_is_the_bound)
{
    static const char ADD[] =
        "INSERT INTO ing_outbox (record_id, version, batch_id, occurred_at, event_id, lane,"
        " schema_version, event_type, aggregate_type, aggregate_id, body)"
        " SELECT %s, 1, %s, created_at, '00000000-0000-7000-8000-000000000001', 0, 1, 'x', %s, %s,"
        " %s FROM ing_task";
    const char *dsn = contract_ready_database();
    const bool is_sqlite = strncmp(dsn, "postgres", 8) != 0 && strncmp(dsn, "host", 4) != 0;
    struct store *store = contract_open(dsn);
    struct plan plan = rows_add_plan(store);
    struct error err = { 0 };
    int64_t at_us = 0;
    char sql[1024];

    rows_add_tasks(store, &plan, 1);
    CHECK(store_prune_oldest_event(store, &at_us, &err), "none");
    CHECK_EQ(at_us, INT64_MAX, "no event");
    (void)snprintf(sql, sizeof(sql), ADD, "NULL", "NULL", "'t'", "'a'", is_sqlite ? "x''" : "''");
    contract_sql(dsn, sql);
    CHECK(store_prune_oldest_event(store, &at_us, &err), "of another service");
    CHECK_EQ(at_us, INT64_MAX, "it has no batch");
    (void)snprintf(sql, sizeof(sql), ADD, "7", "9", "NULL", "NULL", is_sqlite ? "x''" : "''");
    contract_sql(dsn, sql);
    CHECK(store_prune_oldest_event(store, &at_us, &err), "one");
    CHECK(at_us < NOW_US && at_us >= NOW_US - DAY, "a little before it");
    store_close(store);
    contract_end();
}

/* ---- told to end ---- */

static int64_t stand_still(struct clock *clock)
{
    (void)clock;
    return NOW_US;
}

static bool is_woken(struct clock *clock, int64_t monotonic_us, int wake_fd)
{
    (void)clock;
    (void)monotonic_us;
    CHECK_EQ(wake_fd, 7, "what wakes it");
    return false;
}

TEST(told_to_end_it_leaves_the_rest_after_a_step)
{
    struct clock clock = { .now_us = stand_still,
                           .monotonic_us = stand_still,
                           .sleep_until_us = is_woken };
    const char *dsn = contract_ready_database();
    struct store *store = contract_open(dsn);
    struct plan plan = rows_add_plan(store);
    const struct retain_parts parts = { .store = store,
                                        .folder = STR("/x"),
                                        .open = open_text,
                                        .clock = &clock,
                                        .stop_fd = 7,
                                        .now_us = NOW_US + 200 * DAY,
                                        .keep_us = RETAIN_KEEP_US };
    struct retained_count count;
    struct error err = { 0 };

    memset(&written, 0, sizeof(written));
    rows_add_tasks(store, &plan, 1);
    end_task(dsn, sql_number(dsn, "SELECT min(id) FROM ing_task"), "SUCCEEDED");
    list_ids(dsn, sql_number(dsn, "SELECT min(id) FROM ing_task"), 1200);
    REQUIRE_OK(retain_run(&parts, &count, &err), err);
    CHECK(count.is_stopped, "it says so");
    CHECK_EQ(count.tidied, 500, "one step");
    CHECK_EQ(sql_number(dsn, "SELECT count(*) FROM ing_listed_id"), 700, "the rest");
    store_close(store);
    contract_end();
}
