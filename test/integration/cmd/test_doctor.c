/* patra doctor: a healthy store has no finding; each planted fault is named. */
#include <fcntl.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "cli.h"
#include "run.h"
#include "sql.h"
#include "test.h"

static struct str examine(const char *store, int code)
{
    const struct run run = RUN("patra", "doctor", "--json", "--slow", "10s", "--store", store);

    CHECK_EQ(run.code, code, "exit code");
    if (run.code != code)
        test_note("%.*s%.*s", STR_ARG(run.out), STR_ARG(run.talk));
    return run.out;
}

static bool names(struct str report, const char *check)
{
    char text[64];

    (void)snprintf(text, sizeof(text), "\"check\":\"%s\"", check);
    return cli_has(report, text) && cli_has(report, "\"todo\":\"");
}

static void plant_rows(const char *store)
{
    CHECK(cli_number(examine(store, 0), "checks") >= 14, "a healthy store");
    sql_run(store, "DROP INDEX idx_batch_time");
    CHECK(names(examine(store, 1), "store.index"), "an index");
    CHECK(cli_has(examine(store, 1), "idx_batch_time"), "which");
    sql_run(store, "CREATE INDEX idx_batch_time ON ing_task_run_batch (run_id, created_at)");
    CHECK_EQ(RUN("patra", "trigger", "daily", "harvest", "--from", "2026-01-01", "--to",
                 "2026-01-03", "--store", store)
                 .code,
             0, "a plan");
    (void)examine(store, 0);
}

TEST(planted_faults_are_named_on_sqlite)
{
    const char *store = cli_with_daily(cli_sqlite("doctor"));
    struct run run;

    plant_rows(store);
    sql_run(store, "UPDATE ing_plan SET created_at = created_at + 3600000000");
    CHECK(names(examine(store, 1), "clock.back"), "a clock that was set back");
    sql_run(store, "UPDATE ing_plan SET created_at = created_at - 3600000000");
    sql_run(store, "UPDATE ing_task SET status_code = 'EXECUTING', lease_owner = 'dead/1',"
                   " leased_until = created_at - 600000000 WHERE id = 1");
    CHECK(names(examine(store, 1), "work.stuck"), "a lease");
    sql_run(store, "UPDATE ing_task SET status_code = 'QUEUED', lease_owner = NULL,"
                   " leased_until = NULL");
    run = RUN("patra", "doctor", "--json", "--slow", "1us", "--store", store);
    CHECK_EQ(run.code, 1, "found");
    CHECK(names(run.out, "disk.slow"), "a disk");
    sql_run(store, "DELETE FROM schema_migration WHERE number = (SELECT max(number) FROM"
                   " schema_migration)");
    CHECK(names(examine(store, 1), "store.open"), "an old schema");
}

TEST(planted_faults_are_named_on_postgres)
{
    const char *store = cli_with_daily(cli_postgres());

    plant_rows(store);
    sql_run(store, "UPDATE ing_plan SET created_at = created_at + interval '1 hour'");
    CHECK(names(examine(store, 1), "clock.back"), "a clock that was set back");
}

TEST(a_table_that_grows_is_named)
{
    const char *store = cli_with_daily(cli_sqlite("grows"));

    sql_run(store,
            "INSERT INTO ing_cursor_event (provenance_code, operation_code, cursor_key,"
            " namespace_scope_code, namespace_key, cursor_type_code, direction_code, reason_code,"
            " new_value, idempotent_key, expr_hash, record_remarks, created_at) VALUES ('daily',"
            " 'HARVEST', 'updated', 'GLOBAL', '', 'TIME', 'FORWARD', 'ADVANCE', 'x', 'k', '',"
            " '{}', 1500000000000000)");
    CHECK(names(examine(store, 1), "store.grows"), "an old row");
}

/* The middle of the file, where pages of tables are. */
TEST(a_broken_file_is_named)
{
    const char *store = cli_with_daily(cli_sqlite("broken"));
    static char junk[65536];
    struct run run;
    int fd;

    sql_run(store, "PRAGMA wal_checkpoint(TRUNCATE)");
    memset(junk, 0x5a, sizeof(junk));
    fd = open(store, O_RDWR);
    REQUIRE(fd >= 0, store);
    REQUIRE(pwrite(fd, junk, sizeof(junk), lseek(fd, 0, SEEK_END) / 65536 / 2 * 65536) ==
                (ssize_t)sizeof(junk),
            "overwritten");
    (void)close(fd);
    run = RUN("patra", "doctor", "--store", store);
    CHECK_EQ(run.code, 1, "found");
    CHECK(cli_has(run.out, "store.broken") || cli_has(run.out, "store.open"), "what");
    if (run.code != 1)
        test_note("%.*s%.*s", STR_ARG(run.out), STR_ARG(run.talk));
}

TEST(a_source_that_does_not_answer_is_named)
{
    const char *store = cli_with_daily(cli_sqlite("live"));
    char path[512];
    struct run run;
    FILE *out;

    (void)snprintf(path, sizeof(path), "%s/away.yaml", test_folder());
    out = fopen(path, "w");
    REQUIRE(out != NULL, path);
    fputs("source: daily\nhttp: { base_url: http://127.0.0.1:9, allow_plain_http: true }\n"
          "endpoints:\n  works:\n    role: search\n    path: /works\n"
          "    query: { since: \"${window.from}\", until: \"${window.to}\", offset: "
          "\"${page.offset}\", rows: \"${page.size}\" }\n    page: { type: offset, size: 100 }\n"
          "    window: { key: updated }\n"
          "    response: { items: $.items, id: $.id, updated_at: $.updated, total: $.total }\n"
          "operations:\n  harvest: { endpoint: works }\n",
          out);
    (void)fclose(out);
    run = RUN("patra", "source", "apply", path, "--store", store);
    CHECK_EQ(run.code, 0, "applied");
    if (run.code != 0)
        test_note("%.*s%.*s", STR_ARG(run.out), STR_ARG(run.talk));
    run = RUN("patra", "doctor", "--live", "--json", "--store", store);
    CHECK_EQ(run.code, 1, "found");
    CHECK(names(run.out, "source.unreachable"), "which");
}
