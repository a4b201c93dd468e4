/* patra consume: what a harvest has written comes into the tables of projections, in the store's
 * own database, in another one, and through a real NATS server; as SQL of the test's own sees it.
 */
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "child.h"
#include "cli.h"
#include "nats_server.h"
#include "run.h"
#include "sim_source.h"
#include "sql.h"
#include "test.h"

enum { WAIT_MS_MAX = 60000, TEXT_MAX = 2048 };

#define RECORDS "SELECT count(*) FROM ing_record"
#define EVENTS "SELECT count(*) FROM ing_outbox"
#define APPLIED "SELECT coalesce(sum(stream_pos), 0) FROM ing_offset WHERE subscription = 'shelf'"

/* Records whose row is not there, or shows something else. */
#define DIFFERENT                                                                 \
    "SELECT count(*) FROM ing_record AS r LEFT JOIN item AS i"                    \
    " ON i.aggregate_id = r.provider_id AND i.aggregate_type = r.provenance_code" \
    " || '/' || r.endpoint_name WHERE coalesce(i.version, 0) <> r.version"        \
    " OR coalesce(i.hash, '') <> r.content_hash OR i.deleted <> r.deleted"        \
    " OR (NOT r.deleted AND i.title IS NULL)"

static const char *file_of(const char *name, const char *text)
{
    static char paths[8][300];
    static int used;
    char *path = paths[used++ % 8];
    FILE *file;

    (void)snprintf(path, 300, "%s/%s.yaml", test_folder(), name);
    file = fopen(path, "w");
    REQUIRE(file != NULL, path);
    (void)fputs(text, file);
    (void)fclose(file);
    return path;
}

/* The projection `shelf`; `top` are further lines, `column` one more column. */
static const char *shelf(const char *top, const char *column)
{
    char text[TEXT_MAX];

    (void)snprintf(text, sizeof(text),
                   "projection: shelf\n%s"
                   "tables:\n"
                   "  item:\n"
                   "    columns:\n"
                   "      title: $.fields.title\n"
                   "      hash: $.contentHash\n%s"
                   "    from: [ { aggregates: [ \"" SIM_SOURCE_NAME "/*\" ] } ]\n",
                   top, column);
    return file_of("shelf", text);
}

static void done(struct run run, int code)
{
    CHECK_EQ(run.code, code, run.talk.data);
}

static void harvest(const char *store, const char *from, const char *to)
{
    done(RUN("patra", "harvest", SIM_SOURCE_NAME, "--from", from, "--to", to, "--store", store), 0);
}

static int64_t lag(const char *store)
{
    return sql_number(store, EVENTS) - sql_number(store, APPLIED);
}

static void wait_until_applied(const char *store)
{
    for (int ms = 0; ms < WAIT_MS_MAX && lag(store) > 0; ms += 20)
        (void)usleep(20000);
}

static int stop(struct running *running)
{
    REQUIRE(kill(running->pid, SIGTERM) == 0, "SIGTERM");
    return run_end(running).code;
}

/* ---- in the store's own database ---- */

static void own_database(const char *store)
{
    struct sim sim = SIM_SOURCE_START("--records", "6000");
    struct running publisher, consumer;
    char line[128];
    struct run run;

    sim_source_apply(store, &sim, "rate.burst=100");
    done(RUN("patra", "projection", "apply", shelf("", ""), "--store", store), 0);
    harvest(store, "2026-02-01", "2026-02-06");
    done(RUN("patra", "publish", "--once", "--store", store), 0);
    run = RUN("patra", "outbox", "status", "--store", store);
    CHECK(cli_has(run.out, "nobody reads it: start patra serve or patra consume"), run.out.data);
    run = RUN("patra", "consume", "shelf", "--once", "--store", store);
    done(run, 0);
    (void)snprintf(line, sizeof(line), "%lld events applied (",
                   (long long)sql_number(store, EVENTS));
    CHECK(cli_has(run.out, line), run.out.data);
    CHECK(sql_number(store, RECORDS) > 100, "there is something");
    CHECK_EQ(sql_number(store, "SELECT count(*) FROM item"), sql_number(store, RECORDS), "each");
    CHECK_EQ(sql_number(store, DIFFERENT), 0, "as it is");
    CHECK(cli_has(RUN("patra", "consume", "--once", "--store", store).out, "0 events applied"),
          "once");
    done(RUN("patra", "consume", "other", "--once", "--store", store), 4);
    done(RUN("patra", "consume", "other", "--store", store), 4);
    publisher = RUN_BEGIN("patra", "publish", "--store", store);
    consumer = RUN_BEGIN("patra", "serve", "--role", "consumer", "--store", store);
    harvest(store, "2026-02-06", "2026-02-11");
    wait_until_applied(store);
    CHECK_EQ(lag(store), 0, "as it comes");
    CHECK_EQ(stop(&consumer), 0, "stopped");
    CHECK_EQ(stop(&publisher), 0, "stopped");
    CHECK_EQ(sql_number(store, DIFFERENT), 0, "as it is");
    CHECK_EQ(sql_number(store, "SELECT count(*) FROM ing_offset WHERE lease_owner IS NOT NULL"), 0,
             "lanes are given back");
    sim_stop(&sim);
}

TEST(a_harvest_becomes_rows_on_sqlite)
{
    own_database(cli_sqlite("own"));
}

TEST(a_harvest_becomes_rows_on_postgres)
{
    own_database(cli_postgres());
}

/* ---- events at fault ---- */

static void at_fault(const char *store)
{
    static const char RETRY[] = "retry: { first: 1ms, max: 1ms, attempts: 2 }\n";
    struct sim sim = SIM_SOURCE_START("--records", "600");
    int64_t records;
    struct run run;

    sim_source_apply(store, &sim, "rate.burst=100");
    done(RUN("patra", "projection", "apply",
             shelf(RETRY, "      shelf: { path: $.fields.shelf, not_null: true }\n"), "--store",
             store),
         0);
    harvest(store, "2026-02-01", "2026-02-02");
    records = sql_number(store, RECORDS);
    CHECK(records > 1, "there is something");
    done(RUN("patra", "publish", "--once", "--store", store), 0);
    for (int i = 0; i < 20 && sql_number(store, "SELECT count(*) FROM ing_dead_letter") < records;
         i++)
        done(RUN("patra", "consume", "--once", "--store", store), 0);
    CHECK_EQ(sql_number(store, "SELECT count(*) FROM ing_dead_letter"), records, "all are dead");
    CHECK_EQ(sql_number(store, "SELECT count(*) FROM item"), 0, "none is a row");
    CHECK_EQ(lag(store), 0, "later events go on");
    run = RUN("patra", "outbox", "dead", "shelf", "--store", store);
    CHECK(cli_has(run.out, "shelf"), run.out.data);
    run = RUN("patra", "outbox", "status", "--store", store);
    CHECK(cli_has(run.out, "patra outbox dead shelf"), run.out.data);
    run = RUN("patra", "status", "--store", store);
    CHECK_EQ(run.code, 1, "a person is needed");
    CHECK(cli_has(run.out, "of shelf were given up: patra outbox dead shelf says why"),
          run.out.data);
    done(RUN("patra", "projection", "apply",
             shelf(RETRY, "      shelf: { path: $.id, not_null: true }\n"), "--store", store),
         0);
    done(RUN("patra", "outbox", "redrive", "shelf", "--all", "--store", store), 0);
    done(RUN("patra", "consume", "--once", "--store", store), 0);
    CHECK_EQ(sql_number(store, DIFFERENT), 0, "mended and redriven");
    CHECK_EQ(sql_number(store, "SELECT count(*) FROM ing_parked"), 0, "nothing waits");
    sim_stop(&sim);
}

TEST(events_at_fault_become_dead_letters_and_are_redriven_on_sqlite)
{
    at_fault(cli_sqlite("fault"));
}

TEST(events_at_fault_become_dead_letters_and_are_redriven_on_postgres)
{
    at_fault(cli_postgres());
}

/* ---- in another database ---- */

static void other_database(const char *store)
{
    struct sim sim = SIM_SOURCE_START("--records", "3000");
    char top[400], sink[300];
    int64_t records, versions;
    struct run run;

    (void)snprintf(sink, sizeof(sink), "%s/other-%d.db", test_folder(), strncmp(store, "p", 1));
    (void)snprintf(top, sizeof(top), "database: %s\n", sink);
    sim_source_apply(store, &sim, "rate.burst=100");
    done(RUN("patra", "projection", "apply", shelf(top, ""), "--store", store), 0);
    harvest(store, "2026-02-01", "2026-02-06");
    done(RUN("patra", "publish", "--once", "--store", store), 0);
    done(RUN("patra", "consume", "--once", "--store", store), 0);
    records = sql_number(store, RECORDS);
    versions = sql_number(store, "SELECT sum(version) FROM ing_record");
    CHECK(records > 100, "there is something");
    CHECK_EQ(sql_number(sink, "SELECT count(*) FROM item"), records, "rows there");
    CHECK_EQ(sql_number(sink, "SELECT sum(version) FROM item"), versions, "of these versions");
    CHECK_EQ(sql_number(sink, APPLIED), sql_number(store, EVENTS), "with their offsets");
    CHECK_EQ(lag(store), 0, "and the store knows");
    run = RUN("patra", "offset", "reset", "shelf", "--to", "earliest", "--reason", "again", "--yes",
              "--store", store);
    done(run, 0);
    CHECK_EQ(sql_number(sink, APPLIED), 0, "moved there");
    CHECK_EQ(sql_number(store, APPLIED), 0, "and here");
    done(RUN("patra", "consume", "--once", "--store", store), 0);
    CHECK_EQ(sql_number(sink, "SELECT sum(version) FROM item"), versions, "the same rows");
    CHECK_EQ(lag(store), 0, "again");
    sim_stop(&sim);
}

/* The store keeps what waits for parked keys of another database, because it does not pass it. */
TEST(events_of_keys_parked_in_another_database_are_kept)
{
    struct sim sim = SIM_SOURCE_START("--records", "600");
    const char *store = cli_sqlite("kept");
    char top[400], sink[300];

    (void)snprintf(sink, sizeof(sink), "%s/kept-sink.db", test_folder());
    (void)snprintf(top, sizeof(top), "database: %s\n", sink);
    sim_source_apply(store, &sim, "rate.burst=100");
    done(RUN("patra", "projection", "apply",
             shelf(top, "      shelf: { path: $.fields.shelf, not_null: true }\n"), "--store",
             store),
         0);
    harvest(store, "2026-02-01", "2026-02-02");
    done(RUN("patra", "publish", "--once", "--store", store), 0);
    done(RUN("patra", "consume", "--once", "--store", store), 0);
    CHECK_EQ(sql_number(sink, APPLIED), sql_number(store, EVENTS), "the consumer is through");
    CHECK_EQ(sql_number(sink, "SELECT count(*) FROM ing_parked"), sql_number(store, RECORDS),
             "all keys wait");
    CHECK_EQ(sql_number(store, APPLIED), 0, "so nothing may go");
    CHECK(cli_has(RUN("patra", "outbox", "parked", "shelf", "--store", store).out, "shelf"),
          "they are shown");
    sim_stop(&sim);
}

TEST(rows_and_offsets_are_in_another_database_on_sqlite)
{
    other_database(cli_sqlite("another"));
}

TEST(rows_and_offsets_are_in_another_database_on_postgres)
{
    other_database(cli_postgres());
}

/* ---- from a bus, without a store ---- */

TEST(messages_of_a_bus_become_rows_without_a_store)
{
    struct nats_servers servers = { 0 };
    const char *store = cli_sqlite("bus");
    struct sim sim;
    char bus[TEXT_MAX], sink[300];
    const char *bus_file, *projection;
    int64_t records;
    struct run run;

    if (!nats_servers_installed())
        test_skip("nats-server is not installed");
    nats_servers_start(&servers, 1, NULL);
    REQUIRE(setenv("TEST_NATS_PASSWORD", NATS_PASSWORD, 1) == 0, "environment");
    sim = SIM_SOURCE_START("--records", "6000");
    (void)snprintf(bus, sizeof(bus),
                   "bus: works\ntype: nats\naddress: nats://127.0.0.1:%d\nstream: WORKS\n"
                   "subject: works.${lane}\nallow_plain: true\n"
                   "auth: { user: " NATS_USER ", password: env:TEST_NATS_PASSWORD }\n",
                   servers.nodes[0].port);
    bus_file = file_of("works", bus);
    projection = shelf("", "");
    (void)snprintf(sink, sizeof(sink), "%s/from-bus.db", test_folder());
    sim_source_apply(store, &sim, "rate.burst=100");
    done(RUN("patra", "bus", "test", bus_file, "--create"), 0);
    done(RUN("patra", "bus", "apply", bus_file, "--store", store), 0);
    harvest(store, "2026-02-01", "2026-02-06");
    done(RUN("patra", "publish", "--once", "--store", store), 0);
    done(RUN("patra", "consume", "--bus", bus_file, "--sink", sink), 2);
    run = RUN("patra", "consume", "--projection", projection, "--bus", bus_file, "--sink", sink,
              "--once");
    done(run, 0);
    CHECK(cli_has(run.out, "0 repeated, 0 dead letters"), run.out.data); /* nor the probe */
    records = sql_number(store, RECORDS);
    CHECK(records > 100, "there is something");
    CHECK_EQ(sql_number(sink, "SELECT count(*) FROM item"), records, "rows");
    CHECK_EQ(sql_number(sink, "SELECT sum(version) FROM item"),
             sql_number(store, "SELECT sum(version) FROM ing_record"), "of these versions");
    CHECK_EQ(sql_number(sink, "SELECT count(*) FROM ing_inbox"), sql_number(store, EVENTS),
             "each event is known");
    run = RUN("patra", "consume", "--projection", projection, "--bus", bus_file, "--sink", sink,
              "--once");
    CHECK_STR(run.out, STR("0 events applied, 0 repeated, 0 dead letters\n"), "once");
    sim_stop(&sim);
    nats_servers_stop(&servers);
}

/* ---- who reads the rows ---- */

TEST(a_second_service_reads_the_rows)
{
    const char *store = cli_sqlite("second");
    struct run run;

    done(RUN("patra", "init", "--store", store), 0);
    done(RUN("patra", "projection", "apply", "projections/literature.yaml", "--store", store), 0);
    sql_run(store, "INSERT INTO ing_outbox (version, occurred_at, event_id, lane, schema_version,"
                   " event_type, aggregate_type, aggregate_id, body) VALUES (1, 1767225600000000,"
                   " '01890000-0000-7000-8000-000000000001', 5, 1, 'RecordCreated',"
                   " 'crossref/works', '10.1000/182', CAST('{\"fields\":{\"title\":\"On sleep\","
                   "\"issued\":\"2026-01-02\"}}' AS BLOB))");
    done(RUN("patra", "publish", "--once", "--store", store), 0);
    done(RUN("patra", "consume", "--once", "--store", store), 0);
    run = RUN("/usr/bin/python3", "examples/second_service.py", store, "sleep");
    done(run, 0);
    CHECK_STR(run.out, STR("2026-01-02  crossref/works/10.1000/182  On sleep\n1 works\n"), "found");
    run = RUN("/usr/bin/python3", "examples/second_service.py", store, "awake");
    CHECK_STR(run.out, STR("1 works\n"), "not found");
}
