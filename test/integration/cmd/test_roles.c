/* A harvest with each part of it under its own role (patra db grants), and what each role must not
 * do. PostgreSQL only. */
#include <libpq-fe.h>
#include <signal.h>
#include <stdio.h>
#include <string.h>
#include <unistd.h>

#include "child.h"
#include "cli.h"
#include "run.h"
#include "sim_source.h"
#include "sql.h"
#include "test.h"

enum { WAIT_MS_MAX = 60000 };

/* The store with the privileges of a role; good until the fifth call after it. */
static const char *as(const char *store, const char *role)
{
    static char kept[5][512];
    static int next;
    char *address = kept[next];

    next = (next + 1) % 5;
    (void)snprintf(address, sizeof(kept[0]), "%s%coptions=-crole%%3Dpatra_%s", store,
                   strchr(store, '?') != NULL ? '&' : '?', role);
    return address;
}

/* What the server says to a statement: "00000", "42501" for what is not allowed. */
static const char *state_of(const char *store, const char *role, const char *sql)
{
    static char state[6];
    PGconn *connection = PQconnectdb(as(store, role));
    PGresult *result;
    const char *said;

    REQUIRE(PQstatus(connection) == CONNECTION_OK, PQerrorMessage(connection));
    PQclear(PQexec(connection, "BEGIN"));
    result = PQexec(connection, sql);
    said = PQresultErrorField(result, PG_DIAG_SQLSTATE);
    (void)snprintf(state, sizeof(state), "%s", said != NULL ? said : "00000");
    PQclear(result);
    PQfinish(connection); /* and so rolled back */
    return state;
}

static void check_ran(struct run run, const char *label)
{
    if (run.code != 0)
        test_fail(__FILE__, __LINE__, "%s: exit code %d: %.*s", label, run.code, STR_ARG(run.talk));
    CHECK(!cli_has(run.talk, "permission denied"), run.talk.data);
}

static void make_roles(const char *store)
{
    const struct run script = RUN("patra", "db", "grants", "--store", store);

    check_ran(script, "db grants");
    sql_run(store, script.out.data);
    sql_run(store, script.out.data); /* again */
}

static void add_projection(const char *store)
{
    static const char TEXT[] = "projection: shelf\n"
                               "tables:\n"
                               "  item:\n"
                               "    on_delete: remove\n"
                               "    columns: { title: $.fields.title }\n"
                               "    from: [ { aggregates: [ \"" SIM_SOURCE_NAME "/*\" ] } ]\n";
    char path[512];
    FILE *file;

    (void)snprintf(path, sizeof(path), "%s/shelf.yaml", test_folder());
    file = fopen(path, "w");
    REQUIRE(file != NULL && fputs(TEXT, file) >= 0 && fclose(file) == 0, "a file");
    check_ran(RUN("patra", "projection", "apply", path, "--store", store), "projection apply");
}

/* A service of one role, from when it serves until the SQL finds what it did. */
static void serve(const char *store, const char *role, const char *until_sql)
{
    char path[512];
    struct running service;

    (void)snprintf(path, sizeof(path), "%s/%s.sign", test_folder(), role);
    service = RUN_BEGIN("patra", "serve", "--role", role, "--alive-file", path, "--store",
                        as(store, role));
    for (int ms = 0; ms < WAIT_MS_MAX && access(path, F_OK) != 0; ms += 20)
        (void)usleep(20000);
    CHECK_EQ(access(path, F_OK), 0, "it serves");
    for (int ms = 0; ms < WAIT_MS_MAX && sql_number(store, until_sql) == 0; ms += 20)
        (void)usleep(20000);
    CHECK(sql_number(store, until_sql) != 0, role);
    REQUIRE(kill(service.pid, SIGTERM) == 0, "SIGTERM");
    check_ran(run_end(&service), role);
}

static void read_everything(const char *store)
{
    const char *reader = as(store, "reader");
    char id[256];
    struct run run;

    check_ran(RUN("patra", "record", "count", "--store", reader), "record count");
    run = RUN("patra", "record", "list", SIM_SOURCE_NAME, "--json", "--store", reader);
    check_ran(run, "record list");
    (void)snprintf(id, sizeof(id), "%.*s", STR_ARG(cli_value(run.out, "records.0.id")));
    CHECK(id[0] != '\0', "a record");
    check_ran(RUN("patra", "record", "show", SIM_SOURCE_NAME, id, "--history", "--store", reader),
              "record show");
    check_ran(RUN("patra", "record", "export", SIM_SOURCE_NAME, "--fields-only", "-o", "/dev/null",
                  "--store", reader),
              "record export");
    check_ran(RUN("patra", "status", "--store", reader), "status");
    check_ran(RUN("patra", "outbox", "status", "--store", reader), "outbox status");
    CHECK_STR(str_of(state_of(store, "reader", "SELECT id FROM patra_generic_offset_records")),
              STR("00000"), "the view of a source that was applied before the roles");
}

static const struct {
    const char *role, *sql;
} refused[] = {
    { "planner", "INSERT INTO ing_outbox (version) VALUES (1)" },
    { "planner", "UPDATE ing_record_state SET version = version + 1" },
    { "planner", "DELETE FROM ing_plan" },
    { "planner", "UPDATE ing_stream_head SET lease_epoch = 0" },
    { "planner", "UPDATE reg_provenance SET version = 1" },
    { "executor", "UPDATE ing_outbox SET version = 1" },
    { "executor", "DELETE FROM ing_outbox" },
    { "executor", "SELECT * FROM ing_outbox" },
    { "executor", "DELETE FROM ing_record_state" },
    { "executor", "INSERT INTO ing_stream SELECT * FROM ing_stream" },
    { "executor", "DELETE FROM ing_pause" },
    { "executor", "DELETE FROM ing_cursor_event" },
    { "executor", "SELECT * FROM ing_offset" },
    { "publisher", "UPDATE ing_outbox SET version = 1" },
    { "publisher", "SELECT * FROM ing_record_content" },
    { "publisher", "UPDATE ing_record_state SET version = version + 1" },
    { "publisher", "UPDATE ing_task SET priority = 1" },
    { "publisher", "SELECT * FROM reg_prov_credential" },
    { "publisher", "INSERT INTO ing_subscription SELECT * FROM ing_subscription" },
    { "consumer", "INSERT INTO ing_outbox (version) VALUES (1)" },
    { "consumer", "UPDATE ing_outbox SET version = 1" },
    { "consumer", "DELETE FROM ing_outbox" },
    { "consumer", "DELETE FROM ing_stream" },
    { "consumer", "UPDATE ing_stream_head SET lease_epoch = 0" },
    { "consumer", "SELECT * FROM ing_record_content" },
    { "consumer", "SELECT * FROM reg_prov_credential" },
    { "reader", "INSERT INTO ing_pause SELECT * FROM ing_pause" },
    { "reader", "UPDATE ing_record_state SET version = version + 1" },
    { "reader", "DELETE FROM ing_outbox" },
    { "reader", "SELECT * FROM ing_record_fields" },
    { "reader", "SELECT * FROM ing_inbox" },
    { "reader", "CREATE TABLE mine (a int)" },
    { "reader", "SELECT nextval('ing_outbox_id_seq')" },
};

TEST(a_harvest_runs_with_each_part_under_its_own_role)
{
    struct sim sim = SIM_SOURCE_START("--records", "6000");
    const char *store = cli_postgres();
    struct run run;

    sim_source_apply(store, &sim, "rate.burst=100");
    add_projection(store);
    make_roles(store);
    check_ran(RUN("patra", "trigger", SIM_SOURCE_NAME, SIM_SOURCE_WINDOW, "--store",
                  as(store, "planner")),
              "trigger");
    check_ran(RUN("patra", "work", "--drain", "--store", as(store, "executor")), "work");
    run = sim_source_verify(store, &sim);
    CHECK_EQ(run.code, 0, run.out.data);
    check_ran(RUN("patra", "publish", "--once", "--store", as(store, "publisher")), "publish");
    CHECK(sql_number(store, "SELECT sum(last_pos) FROM ing_stream_lane") > 100, "published");
    serve(store, "consumer", "SELECT count(*) FROM item");
    CHECK_STR(str_of(state_of(store, "reader", "SELECT title FROM item")), STR("00000"), "rows");
    read_everything(store);
    check_ran(RUN("patra", "outbox", "prune", "--store", as(store, "publisher")), "prune");
    serve(store, "planner", "SELECT 1");
    check_ran(RUN("patra", "trigger", SIM_SOURCE_NAME, "--from", "2026-02-11", "--to", "2026-02-12",
                  "--store", as(store, "planner")),
              "trigger");
    serve(store, "executor",
          "SELECT count(*) FROM ing_outbox AS o, ing_stream_head AS h"
          " WHERE o.id > h.cursor_id");
    serve(store, "publisher",
          "SELECT CASE WHEN count(*) = 0 THEN 1 ELSE 0 END FROM ing_outbox AS o,"
          " ing_stream_head AS h WHERE o.id > h.cursor_id");
    sim_stop(&sim);
}

TEST(no_role_may_do_what_is_anothers)
{
    struct sim sim = SIM_SOURCE_START("--records", "100");
    const char *store = cli_postgres();
    struct run run;

    sim_source_apply(store, &sim, "rate.burst=100");
    make_roles(store);
    for (size_t i = 0; i < ARRAY_LEN(refused); i++) {
        char label[256];

        (void)snprintf(label, sizeof(label), "%s: %s", refused[i].role, refused[i].sql);
        CHECK_STR(str_of(state_of(store, refused[i].role, refused[i].sql)), STR("42501"), label);
    }
    /* As a user sees it. */
    run = RUN("patra", "work", "--drain", "--store", as(store, "reader"));
    CHECK_EQ(run.code, 4, "a reader does not work");
    CHECK(cli_has(run.talk, "permission denied"), run.talk.data);
    run = RUN("patra", "publish", "--once", "--store", as(store, "consumer"));
    CHECK_EQ(run.code, 4, "a consumer does not publish");
    run = RUN("patra", "source", "apply", "sources/crossref.yaml", "--store", as(store, "planner"));
    CHECK_EQ(run.code, 4, "a planner applies no source");
    sim_stop(&sim);
}

/* A source that comes later has a view that readers may read. */
TEST(later_views_are_readable_too)
{
    const char *store = cli_postgres();
    struct run run;

    check_ran(RUN("patra", "init", "--store", store), "init");
    make_roles(store);
    run = RUN("patra", "source", "apply", "sources/crossref.yaml", "--store", store);
    check_ran(run, "source apply");
    CHECK_STR(str_of(state_of(store, "reader", "SELECT id FROM patra_crossref_works")),
              STR("00000"), "readers");
    CHECK_STR(str_of(state_of(store, "consumer", "SELECT id FROM patra_crossref_works")),
              STR("42501"), "others do not");
}

TEST(sqlite_has_no_roles_and_says_so)
{
    const struct run run = RUN("patra", "db", "grants", "--store", cli_sqlite("none"));

    CHECK_EQ(run.code, 4, "none");
    CHECK(cli_has(run.talk, "SQLite has no roles"), run.talk.data);
    CHECK_EQ(RUN("patra", "db", "grants", "--role", "king", "--store", "postgresql://x").code, 2,
             "no such role");
    CHECK_EQ(RUN("patra", "db", "grants", "--prefix", "a\"b", "--store", "postgresql://x").code, 2,
             "not a name");
}
