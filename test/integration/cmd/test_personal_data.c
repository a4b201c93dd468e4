/* Personal data that a source puts into its errors is in no column of the store, no line of the log
 * and no text that patra prints; the rest of the error is. */
#include <inttypes.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "cli.h"
#include "run.h"
#include "sim_source.h"
#include "sql.h"
#include "test.h"

#define ADDRESS "jane.doe@example.org"
#define NUMBER "1234567"
#define MESSAGE "Refused for " ADDRESS ", call +49 30 " NUMBER

/* One day of the source fails for good (L2), another until its runs are used up (L1), a third stops
 * the source (L4). */
static struct sim start(void)
{
    return SIM_SOURCE_START(
        "--records", "2000", "--fault",
        "kind=status code=422 query=from=2026-02-03T00%3A00%3A00Z message=\"" MESSAGE "\"",
        "--fault",
        "kind=status code=502 query=from=2026-02-05T00%3A00%3A00Z message=\"" MESSAGE "\"",
        "--fault",
        "kind=status code=418 query=from=2026-02-07T00%3A00%3A00Z message=\"" MESSAGE "\"");
}

static void apply(const char *store, const struct sim *sim)
{
    sim_source_apply(store, sim,
                     "response.error_when=[{\"status\":422,\"path\":\"$.error\",\"level\":\"L2\"},"
                     "{\"status\":418,\"level\":\"L4\"}]");
}

static void check_said(struct run run, const char *what)
{
    CHECK(!cli_has(run.out, "jane.doe") && !cli_has(run.talk, "jane.doe"), what);
    CHECK(!cli_has(run.out, NUMBER) && !cli_has(run.talk, NUMBER), what);
}

/* Every value of every column, as the database has it. */
static void check_sqlite(const char *store)
{
    static const char *const files[] = { "", "-wal" };

    for (size_t i = 0; i < ARRAY_LEN(files); i++) {
        char path[600];
        static char bytes[64 << 20];
        FILE *file;
        size_t len;

        (void)snprintf(path, sizeof(path), "%s%s", store, files[i]);
        file = fopen(path, "rb");
        if (file == NULL)
            continue;
        len = fread(bytes, 1, sizeof(bytes), file);
        (void)fclose(file);
        REQUIRE(len < sizeof(bytes), "all of it");
        CHECK(memmem(bytes, len, "jane.doe", 8) == NULL, path);
        CHECK(memmem(bytes, len, NUMBER, strlen(NUMBER)) == NULL, path);
        CHECK(i > 0 || memmem(bytes, len, "j***@example.org", 16) != NULL, "masked, not dropped");
    }
}

#define TABLES_WITH(condition)                                                             \
    "SELECT count(*) FROM pg_tables WHERE schemaname = current_schema() AND query_to_xml(" \
    "format('SELECT string_agg(CAST(t AS text), '' '') FROM %I AS t', tablename),"         \
    " false, false, '')::text " condition

static void check_postgres(const char *store)
{
    CHECK_EQ(sql_number(store, TABLES_WITH("~ 'jane\\.doe|" NUMBER "'")), 0, "no table has it");
    CHECK(sql_number(store, TABLES_WITH("LIKE '%j***@example.org%'")) >= 3, "masked, not dropped");
}

static void show_all(const char *store)
{
    struct run run;

    run = RUN("patra", "status", "--store", store);
    check_said(run, "status");
    CHECK(cli_has(run.out, "j***@example.org"), "the reason is shown");
    check_said(RUN("patra", "status", "--json", "--store", store), "status, JSON");
    check_said(RUN("patra", "task", "list", "--store", store), "tasks");
    check_said(RUN("patra", "task", "list", "--json", "--store", store), "tasks, JSON");
    check_said(RUN("patra", "plan", "show", "1", "--store", store), "plan");
    for (int task = 1; task <= 10; task++) {
        char number[16];

        (void)snprintf(number, sizeof(number), "%d", task);
        check_said(RUN("patra", "task", "show", number, "--store", store), "task");
        check_said(RUN("patra", "task", "show", number, "--json", "--store", store), "task, JSON");
    }
}

static void keep_none(const char *store, const char *other)
{
    struct sim sim = start();
    struct run run;

    apply(store, &sim);
    run = RUN("patra", "harvest", SIM_SOURCE_NAME, SIM_SOURCE_WINDOW, "--workers", "1", "--store",
              store);
    CHECK(run.code != 0, "something fails");
    check_said(run, "harvest");
    CHECK(cli_has(run.out, "Refused for j***@example.org, call +49***67"), run.out.data);
    check_said(RUN("patra", "source", "test", SIM_SOURCE_NAME, "--live", "--from", "2026-02-03",
                   "--to", "2026-02-04", "--store", store),
               "source test");
    show_all(store);

    apply(other, &sim);
    run = RUN("patra", "harvest", SIM_SOURCE_NAME, SIM_SOURCE_WINDOW, "--json", "--workers", "1",
              "--store", other);
    check_said(run, "harvest, JSON");
    (void)RUN("patra", "resume", SIM_SOURCE_NAME, "--store", other);
    run = RUN("patra", "work", "--drain", "--log-format", "json", "--store", other);
    check_said(run, "the log");
    sim_stop(&sim);
}

TEST(personal_data_in_errors_is_kept_nowhere_on_sqlite)
{
    const char *store = cli_sqlite("personal");

    keep_none(store, cli_sqlite("personal-json"));
    check_sqlite(store);
    check_sqlite(cli_sqlite("personal-json"));
}

TEST(personal_data_in_errors_is_kept_nowhere_on_postgres)
{
    const char *store = cli_postgres();

    keep_none(store, cli_sqlite("personal-log"));
    check_postgres(store);
}
