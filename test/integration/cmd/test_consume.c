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
    run = RUN("patra", "consume", "shelf", "--once", "--store", store);
    CHECK(cli_has(run.talk, "events are not published yet: patra publish --once"), run.talk.data);
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

/* A bus file for a stream of its own; `more` are further lines. */
static const char *nats_file(const struct nats_servers *servers, const char *more)
{
    char bus[TEXT_MAX];

    REQUIRE(setenv("TEST_NATS_PASSWORD", NATS_PASSWORD, 1) == 0, "environment");
    (void)snprintf(bus, sizeof(bus),
                   "bus: works\ntype: nats\naddress: nats://127.0.0.1:%d\nstream: WORKS\n"
                   "subject: works.${lane}\nallow_plain: true\n%s"
                   "auth: { user: " NATS_USER ", password: env:TEST_NATS_PASSWORD }\n",
                   servers->nodes[0].port, more);
    return file_of("works", bus);
}

static struct run consume_bus(const char *projection, const char *bus, const char *sink)
{
    return RUN("patra", "consume", "--projection", projection, "--bus", bus, "--sink", sink,
               "--once");
}

/* A harvest through NATS, with these lines in the bus file. */
static void through_nats(const char *name, const char *more)
{
    struct nats_servers servers = { 0 };
    const char *store = cli_sqlite(name);
    const char *bus_file, *projection;
    struct sim sim;
    int64_t records;
    char sink[300];
    struct run run;

    if (!nats_servers_installed())
        test_skip("nats-server is not installed");
    nats_servers_start(&servers, 1, NULL);
    sim = SIM_SOURCE_START("--records", "6000");
    bus_file = nats_file(&servers, more);
    projection = shelf("", "");
    (void)snprintf(sink, sizeof(sink), "%s/%s-sink.db", test_folder(), name);
    sim_source_apply(store, &sim, "rate.burst=100");
    done(RUN("patra", "bus", "test", bus_file, "--create"), 0);
    done(RUN("patra", "bus", "apply", bus_file, "--store", store), 0);
    harvest(store, "2026-02-01", "2026-02-06");
    done(RUN("patra", "publish", "--once", "--store", store), 0);
    done(RUN("patra", "consume", "--bus", bus_file, "--sink", sink), 2);
    run = consume_bus(projection, bus_file, sink);
    done(run, 0);
    CHECK(cli_has(run.out, "0 repeated, 0 dead letters"), run.out.data); /* nor the probe */
    records = sql_number(store, RECORDS);
    CHECK(records > 100, "there is something");
    CHECK_EQ(sql_number(sink, "SELECT count(*) FROM item WHERE title IS NOT NULL"),
             sql_number(store, "SELECT count(*) FROM ing_record WHERE NOT deleted"), "titles");
    CHECK_EQ(sql_number(sink, "SELECT count(*) FROM item"), records, "rows");
    CHECK_EQ(sql_number(sink, "SELECT sum(version) FROM item"),
             sql_number(store, "SELECT sum(version) FROM ing_record"), "of these versions");
    CHECK_EQ(sql_number(sink, "SELECT count(*) FROM ing_inbox"), sql_number(store, EVENTS),
             "each event is known");
    run = consume_bus(projection, bus_file, sink);
    CHECK(cli_has(run.out, "0 events applied"), "once");
    CHECK(cli_has(run.out, "0 repeated, 0 dead letters"), "once");
    sim_stop(&sim);
    nats_servers_stop(&servers);
}

/* ---- a bus that loses what it has acknowledged ---- */

/* The test takes messages of some subjects away before anybody has read them. */
static void lose_messages(const struct nats_servers *servers)
{
    char port[16];

    (void)snprintf(port, sizeof(port), "%d", servers->nodes[0].port);
    done(RUN("/usr/bin/env", "python3", "test/integration/cmd/nats_lose.py", port, NATS_USER,
             NATS_PASSWORD, "WORKS", "5"),
         0);
}

TEST(audit_finds_and_repairs_what_a_bus_has_lost)
{
    struct nats_servers servers = { 0 };
    const char *store = cli_sqlite("lossy");
    char bus[TEXT_MAX], sink[300];
    const char *bus_file, *projection;
    int64_t records, rows;
    struct sim sim;
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
    (void)snprintf(sink, sizeof(sink), "%s/lossy-sink.db", test_folder());
    sim_source_apply(store, &sim, "rate.burst=100");
    done(RUN("patra", "bus", "test", bus_file, "--create"), 0);
    done(RUN("patra", "bus", "apply", bus_file, "--store", store), 0);
    harvest(store, "2026-02-01", "2026-02-06");
    done(RUN("patra", "publish", "--once", "--store", store), 0);
    lose_messages(&servers);
    done(RUN("patra", "consume", "--projection", projection, "--bus", bus_file, "--sink", sink,
             "--once"),
         0);
    records = sql_number(store, RECORDS);
    rows = sql_number(sink, "SELECT count(*) FROM item");
    CHECK(rows > 0 && rows < records, "the bus has lost some");
    run = RUN("patra", "audit", "shelf", "--bus", "works", "--sink", sink, "--json", "--store",
              store);
    CHECK_EQ(run.code, 1, run.talk.data);
    CHECK_EQ(cli_number(run.out, "0.keys"), records, "all records were compared");
    CHECK_STR(cli_value(run.out, "0.differences.0.difference"), STR("missing"), "as missing");
    run = RUN("patra", "audit", "shelf", "--bus", "works", "--sink", sink, "--repair", "--json",
              "--store", store);
    CHECK_EQ(run.code, 0, run.talk.data);
    CHECK_EQ(cli_number(run.out, "0.repaired"), records - rows, "each that is missing, no other");
    CHECK_EQ(sql_number(sink, "SELECT count(*) FROM item"), records, "rows");
    CHECK_EQ(sql_number(sink, "SELECT sum(version) FROM item"),
             sql_number(store, "SELECT sum(version) FROM ing_record"), "of these versions");
    done(RUN("patra", "audit", "shelf", "--bus", "works", "--sink", sink, "--store", store), 0);
    done(RUN("patra", "audit", "--bus", "works", "--store", store), 2);
    sim_stop(&sim);
    nats_servers_stop(&servers);
}

TEST(messages_of_a_bus_become_rows_without_a_store)
{
    through_nats("bus", "");
}

TEST(messages_of_protobuf_become_rows)
{
    through_nats("protobuf", "format: protobuf\n");
}

TEST(messages_of_protobuf_within_cloudevents_become_rows)
{
    through_nats("structured", "format: protobuf\ncloudevents: structured\n");
}

/* ---- moving what a bus feeds ---- */

static struct run reset_bus(const char *bus, const char *sink, const char *to)
{
    return RUN("patra", "offset", "reset", "shelf", "--bus", bus, "--sink", sink, "--to", to,
               "--reason", "a test", "--yes");
}

static void wait_for_reader(const char *sink)
{
    for (int ms = 0; ms < WAIT_MS_MAX && sql_number(sink, "SELECT count(*) FROM ing_reader") == 0;
         ms += 20)
        (void)usleep(20000);
}

struct fed { /* a projection that a bus feeds */
    struct nats_servers servers;
    struct sim sim;
    const char *store, *bus, *projection;
    char sink[300];
    int64_t records;
};

static void begin_fed(struct fed *fed)
{
    *fed = (struct fed){ .store = cli_sqlite("moved") };
    nats_servers_start(&fed->servers, 1, NULL);
    fed->sim = SIM_SOURCE_START("--records", "6000");
    fed->bus = nats_file(&fed->servers, "");
    fed->projection = shelf("", "");
    (void)snprintf(fed->sink, sizeof(fed->sink), "%s/moved-sink.db", test_folder());
    sim_source_apply(fed->store, &fed->sim, "rate.burst=100");
    done(RUN("patra", "bus", "apply", "--create", fed->bus, "--store", fed->store), 0);
    harvest(fed->store, "2026-02-01", "2026-02-06");
    done(RUN("patra", "publish", "--once", "--store", fed->store), 0);
    done(consume_bus(fed->projection, fed->bus, fed->sink), 0);
    fed->records = sql_number(fed->store, RECORDS);
}

static void check_shown(const struct fed *fed)
{
    struct run run = RUN("patra", "offset", "show", "shelf", "--sink", fed->sink, "--json");

    done(run, 0);
    CHECK_STR(cli_value(run.out, "0.name"), STR("works/shelf"), run.out.data);
    CHECK(cli_number(run.out, "0.lagMs") >= 0, "how late it was");
    CHECK_EQ(sql_number(fed->sink, "SELECT sum(stream_pos) FROM ing_offset WHERE consumer_group ="
                                   " 'bus'"),
             sql_number(fed->store, EVENTS), "each event counts once");
    run = RUN("patra", "offset", "show", "--sink", fed->sink);
    CHECK(cli_has(run.out, "works/shelf"), run.out.data);
    run = RUN("patra", "offset", "show", "other", "--sink", fed->sink);
    CHECK(!cli_has(run.out, "works/shelf"), run.out.data);
}

/* What somebody has damaged is healed: it is delivered and applied again. */
static void check_healed(const struct fed *fed, const char *to)
{
    sql_run(fed->sink, "DELETE FROM item WHERE version = 1");
    CHECK(sql_number(fed->sink, "SELECT count(*) FROM item") < fed->records, "some are gone");
    CHECK(cli_has(consume_bus(fed->projection, fed->bus, fed->sink).out, "0 events applied"),
          "as it is");
    done(reset_bus(fed->bus, fed->sink, to), 0);
    done(consume_bus(fed->projection, fed->bus, fed->sink), 0);
    CHECK_EQ(sql_number(fed->sink, "SELECT count(*) FROM item"), fed->records, to);
}

static void check_left_out(const struct fed *fed)
{
    harvest(fed->store, "2026-02-06", "2026-02-08");
    done(RUN("patra", "publish", "--once", "--store", fed->store), 0);
    done(reset_bus(fed->bus, fed->sink, "latest"), 0);
    CHECK(cli_has(consume_bus(fed->projection, fed->bus, fed->sink).out, "0 events applied"),
          "left out");
    done(reset_bus(fed->bus, fed->sink, "1h"), 0);
    done(consume_bus(fed->projection, fed->bus, fed->sink), 0);
    CHECK_EQ(sql_number(fed->sink, "SELECT count(*) FROM item"), sql_number(fed->store, RECORDS),
             "and taken back");
}

static void check_refused(const struct fed *fed)
{
    struct run run = reset_bus(fed->bus, fed->sink, "01890000-0000-7000-8000-000000000001");
    struct running consumer;

    done(run, 4);
    CHECK(cli_has(run.talk, "has not received event"), run.talk.data);
    consumer = RUN_BEGIN("patra", "consume", "--projection", fed->projection, "--bus", fed->bus,
                         "--sink", fed->sink);
    wait_for_reader(fed->sink);
    run = reset_bus(fed->bus, fed->sink, "earliest");
    done(run, 4);
    CHECK(cli_has(run.talk, "reads it: stop it first"), run.talk.data);
    CHECK_EQ(stop(&consumer), 0, "stopped");
    CHECK_EQ(sql_number(fed->sink, "SELECT count(*) FROM ing_reader"), 0, "it says good-bye");
    done(RUN("patra", "offset", "reset", "shelf", "--bus", fed->bus, "--to", "earliest"), 2);
    done(RUN("patra", "offset", "reset", "shelf", "--bus", fed->bus, "--sink", fed->sink, "--lane",
             "3", "--to", "7", "--reason", "x"),
         2);
}

TEST(what_a_bus_feeds_is_shown_and_moved)
{
    struct arena arena;
    struct fed fed;
    char event[40];

    if (!nats_servers_installed())
        test_skip("nats-server is not installed");
    begin_fed(&fed);
    check_shown(&fed);
    check_healed(&fed, "earliest");
    CHECK(sql_number(fed.sink, "SELECT count(*) FROM ing_offset_reset WHERE reason = 'a test'") > 1,
          "a row per lane says who did it");
    arena_init(&arena, 1 << 16);
    (void)snprintf(
        event, sizeof(event), "%.36s",
        sql_rows(&arena, fed.sink, "SELECT event_id FROM ing_inbox ORDER BY event_id LIMIT 1")
            .data);
    arena_release(&arena);
    check_healed(&fed, event);
    check_left_out(&fed);
    check_refused(&fed);
    sim_stop(&fed.sim);
    nats_servers_stop(&fed.servers);
}

/* ---- who reads the rows ---- */

/* A work of Crossref, as another service would have written it. */
static void add_work(const char *store)
{
    done(RUN("patra", "init", "--store", store), 0);
    sql_run(store, "INSERT INTO ing_outbox (version, occurred_at, event_id, lane, schema_version,"
                   " event_type, aggregate_type, aggregate_id, body) VALUES (1, 1767225600000000,"
                   " '01890000-0000-7000-8000-000000000001', 5, 1, 'RecordCreated',"
                   " 'crossref/works', '10.1000/182', CAST('{\"fields\":{\"title\":\"On sleep\","
                   "\"issued\":\"2026-01-02\"}}' AS BLOB))");
}

TEST(a_second_service_reads_the_rows)
{
    const char *store = cli_sqlite("second");
    struct run run;

    add_work(store);
    done(RUN("patra", "projection", "apply", "projections/literature.yaml", "--store", store), 0);
    done(RUN("patra", "publish", "--once", "--store", store), 0);
    done(RUN("patra", "consume", "--once", "--store", store), 0);
    run = RUN("/usr/bin/python3", "examples/second_service.py", store, "sleep");
    done(run, 0);
    CHECK_STR(run.out, STR("2026-01-02  crossref/works/10.1000/182  On sleep\n1 works\n"), "found");
    run = RUN("/usr/bin/python3", "examples/second_service.py", store, "awake");
    CHECK_STR(run.out, STR("1 works\n"), "not found");
}

/* ---- who reads the bus ---- */

/* The example, built; skips the test where there is no Go, or its modules cannot be had. */
static const char *go_example(void)
{
    static char program[300];
    struct run run;

    if (RUN("/bin/sh", "-c", "command -v go").code != 0)
        test_skip("go is not installed: examples/nats_reader was not run");
    if (RUN("/usr/bin/env", "go", "-C", "examples/nats_reader", "mod", "download").code != 0)
        test_skip("the Go modules of examples/nats_reader cannot be fetched: it was not run");
    (void)snprintf(program, sizeof(program), "%s/nats_reader", test_folder());
    run = RUN("/usr/bin/env", "go", "-C", "examples/nats_reader", "build", "-o", program, ".");
    REQUIRE(run.code == 0, run.talk.data);
    return program;
}

TEST(a_second_service_reads_the_bus)
{
    struct nats_servers servers = { 0 };
    const char *store = cli_sqlite("second-bus");
    const char *program, *bus_file;
    struct run run;
    char url[128];

    if (!nats_servers_installed())
        test_skip("nats-server is not installed");
    program = go_example();
    nats_servers_start(&servers, 1, NULL);
    bus_file = nats_file(&servers, "");
    add_work(store);
    done(RUN("patra", "bus", "apply", "--create", bus_file, "--store", store), 0);
    done(RUN("patra", "publish", "--once", "--store", store), 0);
    (void)snprintf(url, sizeof(url), "nats://" NATS_USER ":" NATS_PASSWORD "@127.0.0.1:%d",
                   servers.nodes[0].port);
    run = RUN(program, url, "WORKS");
    done(run, 0);
    CHECK_STR(run.out, STR("RecordCreated crossref/works/10.1000/182 1 On sleep\n1 works\n"),
              "found");
    run = RUN(program, url, "WORKS");
    CHECK_STR(run.out, STR("0 works\n"), "it goes on where it was");
    nats_servers_stop(&servers);
}
