/* patra projection, as a user runs it: files, tables, rows of harvested records, rebuilds. What
 * must be in the tables is computed by SQL from the records. */
#include <stdio.h>
#include <string.h>

#include "cli.h"
#include "run.h"
#include "sim_source.h"
#include "sql.h"
#include "test.h"

#define FILE_NAME "works.yaml"

static const char WORKS[] = "projection: works\n"
                            "tables:\n"
                            "  works:\n"
                            "    key: { type: none, id: id }\n"
                            "    columns:\n"
                            "      title: $.fields.title\n"
                            "      updated_at: { type: instant, path: $.updatedAt }\n"
                            "    indexes: [title]\n"
                            "    from: [{ aggregates: [" SIM_SOURCE_NAME "/records] }]\n";

/* Writes a file into the test's folder; returns its path. */
static const char *write_file(const char *text)
{
    static char path[512];
    FILE *file;

    (void)snprintf(path, sizeof(path), "%s/%s", test_folder(), FILE_NAME);
    file = fopen(path, "wb");
    REQUIRE(file != NULL && fputs(text, file) >= 0 && fclose(file) == 0, path);
    return path;
}

static bool is_postgres(const char *store)
{
    return strncmp(store, "postgresql:", 11) == 0;
}

/* Live records without a row of their version and title, and rows without a record. */
static int64_t wrong_rows(const char *store)
{
    return sql_number(
        store,
        is_postgres(store)
            ? "SELECT count(*) FROM ing_record r JOIN ing_record_content c ON c.record_id = r.id"
              " FULL JOIN works w ON w.id = r.provider_id WHERE w.id IS NULL OR r.id IS NULL OR"
              " w.version <> r.version OR w.deleted <> r.deleted OR (NOT r.deleted AND w.title IS"
              " DISTINCT FROM convert_from(c.payload, 'UTF8')::json->>'title')"
            : "SELECT (SELECT count(*) FROM ing_record r JOIN ing_record_content c"
              " ON c.record_id = r.id LEFT JOIN works w ON w.id = r.provider_id WHERE w.id IS NULL"
              " OR w.version <> r.version OR w.deleted <> r.deleted OR (NOT r.deleted AND w.title "
              "IS"
              " NOT json_extract(CAST(c.payload AS TEXT), '$.title'))) + (SELECT count(*) FROM "
              "works"
              " w WHERE NOT EXISTS (SELECT 1 FROM ing_record r WHERE r.provider_id = w.id))");
}

static void check_files(const char *store)
{
    const char *file = write_file("projection: works\ntables:\n  works:\n    colums: {}\n");
    struct run run = RUN("patra", "projection", "apply", file, "--store", store);

    CHECK_EQ(run.code, 1, "a fault");
    CHECK(cli_has(run.talk, "did you mean columns?") && cli_has(run.talk, "nothing was applied"),
          run.talk.data);
    file = write_file(WORKS);
    run = RUN("patra", "projection", "lint", file);
    CHECK(run.code == 0 && cli_has(run.out, ": ok"), run.out.data);
    run = RUN("patra", "projection", "diff", file, "--store", store);
    CHECK(run.code == 1 && cli_has(run.out, "+ table works: a new table"), run.out.data);
    run = RUN("patra", "projection", "apply", file, "--store", store);
    CHECK(run.code == 0 && cli_has(run.out, "works: new; it begins with the oldest event"),
          run.talk.data);
    run = RUN("patra", "projection", "apply", file, "--store", store);
    CHECK(run.code == 0 && cli_has(run.out, "works: unchanged"), run.out.data);
    run = RUN("patra", "projection", "diff", file, "--store", store);
    CHECK(run.code == 0 && run.out.len == 0, run.out.data);
    run = RUN("patra", "projection", "export", "works", "--store", store);
    CHECK_EQ(run.code, 0, run.talk.data);
    file = write_file(run.out.data);
    run = RUN("patra", "projection", "diff", file, "--store", store);
    CHECK(run.code == 0 && run.out.len == 0, "what is exported is the same");
    run = RUN("patra", "projection", "list", "--json", "--store", store);
    CHECK_STR(cli_value(run.out, "0.spec.tables.works.columns.title.path"), STR("$.fields.title"),
              "listed");
    run = RUN("patra", "projection", "show", "nothing", "--store", store);
    CHECK_EQ(run.code, 4, "unknown");
}

static void rebuild(const char *store)
{
    const struct run run = RUN("patra", "projection", "rebuild", "works", "--store", store);

    CHECK(run.code == 0 && cli_has(run.out, "works: rebuilt"), run.talk.data);
    CHECK_EQ(wrong_rows(store), 0, "the tables are what the records are");
}

static void run_all(const char *store)
{
    struct sim sim = SIM_SOURCE_START("--records", "2000");
    int64_t stored;
    struct run run;

    sim_source_apply(store, &sim, "rate.burst=100");
    check_files(store);
    run = RUN("patra", "harvest", SIM_SOURCE_NAME, SIM_SOURCE_WINDOW, "--store", store);
    CHECK_EQ(run.code, 0, run.talk.data);
    sim_stop(&sim);
    run = RUN("patra", "publish", "--once", "--store", store);
    CHECK_EQ(run.code, 0, run.talk.data);
    stored = sql_number(store, "SELECT count(*) FROM ing_record");
    CHECK(stored > 100, "there is something");
    rebuild(store);

    /* A column that is lost is refused; a new one is added, and filled by a rebuild. */
    run = RUN("patra", "projection", "apply",
              write_file("projection: works\ntables:\n  works:\n    key: { type: none, id: id }\n"
                         "    columns: { title: $.fields.title }\n"
                         "    from: [{ aggregates: [" SIM_SOURCE_NAME "/records] }]\n"),
              "--store", store);
    CHECK(run.code == 1 && cli_has(run.talk, "DROP COLUMN \"updated_at\""), run.talk.data);
    run = RUN("patra", "projection", "apply",
              write_file("projection: works\ntables:\n  works:\n    key: { type: none, id: id }\n"
                         "    columns:\n      title: $.fields.title\n"
                         "      updated_at: { type: instant, path: $.updatedAt }\n"
                         "      upper: \"${upper(column.title)}\"\n"
                         "    from: [{ aggregates: [" SIM_SOURCE_NAME "/records] }]\n"),
              "--store", store);
    CHECK(run.code == 0 && cli_has(run.out, "a column upper"), run.talk.data);
    rebuild(store);
    CHECK_EQ(sql_number(store, "SELECT count(*) FROM works WHERE upper IS NULL AND NOT deleted"), 0,
             "the new column");

    /* Without early events, the records say the same. */
    sql_run(store, "DELETE FROM ing_stream");
    sql_run(store, "DELETE FROM ing_outbox");
    sql_run(store, "DELETE FROM works");
    rebuild(store);
    CHECK_EQ(sql_number(store, "SELECT count(*) FROM works WHERE upper IS NULL AND NOT deleted"), 0,
             "computed of records");
    run = RUN("patra", "projection", "rollback", "works", "--store", store);
    CHECK_EQ(run.code, 0, run.talk.data);
    CHECK_EQ(sql_number(store, "SELECT count(*) FROM works"), 0, "the table that was emptied");
    run = RUN("patra", "projection", "rollback", "works", "--store", store);
    CHECK_EQ(run.code, 4, "once");
    run = RUN("patra", "projection", "remove", "works", "--yes", "--store", store);
    CHECK(run.code == 0 && cli_has(run.out, "works: removed"), run.talk.data);
    run = RUN("patra", "projection", "list", "--json", "--store", store);
    CHECK_STR(run.out, STR("[]\n"), "none is left");
}

TEST(records_become_rows_on_sqlite)
{
    run_all(cli_sqlite("projection"));
}

TEST(records_become_rows_on_postgres)
{
    run_all(cli_postgres());
}
