/* Consumers of three buses, and those who feed them, die.
 *
 *      2 writers       transactions over 500 keys; some roll back, some stay open for a while
 *      4 publishers    patra publish: the sequencer, and the relay to the bus
 *      4 consumers     patra consume: of the stream; of NATS, a real server; of Pub/Sub, a fake of
 *                      Google's rules
 *
 * All of them are killed (SIGKILL) at any moment and started again; publishers and consumers are
 * also put to sleep (SIGSTOP) for longer than their leases. The buses add copies of messages, out
 * of order: to NATS somebody else publishes what went by, shuffled (test/support/nats_echo.h); the
 * fake keeps old messages once more (pubsub_fake_echo). The stream has one place for each event.
 *
 * Afterwards, left alone, every process that is told to end (SIGTERM) exits with 0, and
 *
 *      each record has its row, with its version and its event          by SQL of the test's own
 *      no change of a row was made twice                                by a trigger on the table
 *      each event is in the inbox once; none is parked or given up
 *      `patra audit` finds no difference, and nothing that waits
 *
 * PATRA_KILLS says how many kills per bus.
 */
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "cli.h"
#include "contract.h"
#include "kill_site.h"
#include "nats_echo.h"
#include "nats_server.h"
#include "rows.h"
#include "run.h"
#include "sql.h"
#include "stream_sql.h"
#ifdef HAS_PUBSUB
#include "pubsub_process.h"
#endif

enum {
    WRITERS = 2,
    PUBLISHERS = 4,
    CONSUMERS = 4,
    PROCESSES = WRITERS + PUBLISHERS + CONSUMERS,
    KILLS = TEST_IS_SLOW ? 10 : 30,
    KEYS = 500,
    WRITER_PAUSE_MS = 150,
    TEXT_MAX = 2048,
    TRIES_MAX = 300,
    ROWS_BYTES_MAX = 4 << 20,
};

/* ---- what is tried ---- */

static struct {
    char store[600];
    char sink[600]; /* the database of the rows */
    char projection[300];
    char bus[300]; /* empty: the stream */
} place;

static bool has_bus(void)
{
    return place.bus[0] != '\0';
}

static void write_file(char path[300], const char *name, const char *text)
{
    FILE *file;

    (void)snprintf(path, 300, "%s/%s.yaml", test_folder(), name);
    file = fopen(path, "w");
    REQUIRE(file != NULL && fputs(text, file) >= 0 && fclose(file) == 0, path);
}

static void done(struct run run)
{
    REQUIRE(run.code == 0, run.talk.data);
}

/* Each change of a row, as the database itself sees it. */
static void watch_rows(const char *sink)
{
    sql_run(sink, "CREATE TABLE effect (id text NOT NULL, version bigint NOT NULL)");
    if (strncmp(sink, "postgres", 8) != 0) {
        sql_run(sink, "CREATE TRIGGER effect_1 AFTER INSERT ON item BEGIN INSERT INTO effect"
                      " VALUES (new.aggregate_id, new.version); END");
        sql_run(sink, "CREATE TRIGGER effect_2 AFTER UPDATE ON item BEGIN INSERT INTO effect"
                      " VALUES (new.aggregate_id, new.version); END");
        return;
    }
    sql_run(sink, "CREATE FUNCTION note_effect() RETURNS trigger LANGUAGE plpgsql AS $$ BEGIN"
                  " INSERT INTO effect VALUES (new.aggregate_id, new.version); RETURN NULL;"
                  " END $$");
    sql_run(sink, "CREATE TRIGGER effect AFTER INSERT OR UPDATE ON item FOR EACH ROW"
                  " EXECUTE FUNCTION note_effect()");
}

static void set_up(const char *sink, const char *bus)
{
    char text[TEXT_MAX];

    (void)snprintf(place.sink, sizeof(place.sink), "%s", sink != NULL ? sink : "");
    (void)snprintf(place.store, sizeof(place.store), "%s", cli_postgres());
    if (sink == NULL)
        memcpy(place.sink, place.store, sizeof(place.sink));
    REQUIRE(setenv("TEST_SINK", place.sink, 1) == 0, "environment");
    done(RUN("patra", "init", "--store", place.store));
    (void)snprintf(text, sizeof(text),
                   "projection: shelf\ndatabase: %s\nbatch: { events: 50 }\n"
                   "tables:\n  item:\n    columns: { event: $.eventId }\n"
                   "    from: [ { aggregates: [ \"crossref/*\" ] } ]\n",
                   sink != NULL ? "env:TEST_SINK" : "store");
    write_file(place.projection, "shelf", text);
    done(RUN("patra", "projection", "apply", place.projection, "--store", place.store));
    watch_rows(place.sink);
    place.bus[0] = '\0';
    if (bus == NULL)
        return;
    write_file(place.bus, "works", bus);
    done(RUN("patra", "bus", "apply", "--create", place.bus, "--store", place.store));
}

/* ---- processes ---- */

static void run_process(const char *dsn, int number, uint64_t seed)
{
    if (number < WRITERS)
        kill_site_write_slowly(dsn, KEYS, WRITER_PAUSE_MS, seed);
    else if (number < WRITERS + PUBLISHERS)
        KILL_SITE_BECOME("publish", "--lease", "400ms", "--store", dsn);
    else if (has_bus())
        KILL_SITE_BECOME("consume", "--projection", place.projection, "--bus", place.bus, "--sink",
                         place.sink);
    else
        KILL_SITE_BECOME("consume", "--lease", "600ms", "--store", dsn);
}

static int kills_of(const struct kill_site *site, int from, int count)
{
    int kills = 0;

    for (int i = from; i < from + count; i++)
        kills += site->kills[i];
    return kills;
}

static void live_and_die(const char *name)
{
    struct kill_site site = { .dsn = place.store,
                              .processes = PROCESSES,
                              .writers = WRITERS,
                              .run = run_process,
                              .random = { 11 } };
    const int wanted = kill_site_wanted(KILLS);

    kill_site_begin(&site);
    while (kill_site_kills(&site) < wanted) {
        kill_site_sleep(random_between(&site.random, 10, 250));
        kill_site_disturb(&site);
    }
    kill_site_finish(&site);
    test_note("%s: %d kills (%d writers, %d publishers, %d consumers), %d put to sleep", name,
              kill_site_kills(&site), kills_of(&site, 0, WRITERS),
              kills_of(&site, WRITERS, PUBLISHERS),
              kills_of(&site, WRITERS + PUBLISHERS, CONSUMERS), site.sleeps);
}

/* ---- afterwards ---- */

static int64_t events(void)
{
    return sql_number(place.store, "SELECT count(*) FROM ing_outbox");
}

static bool is_all_known(void)
{
    return sql_number(place.sink, has_bus() ? "SELECT count(*) FROM ing_inbox"
                                            : "SELECT sum(stream_pos) FROM ing_offset") == events();
}

/* Leases of the dead have to end first, those of the bus too. */
static void drain(void)
{
    bool is_over = false;

    for (int i = 0; i < TRIES_MAX && !is_over; i++) {
        const int published = RUN("patra", "publish", "--once", "--store", place.store).code;
        const struct run run = has_bus()
                                   ? RUN("patra", "consume", "--projection", place.projection,
                                         "--bus", place.bus, "--sink", place.sink, "--once")
                                   : RUN("patra", "consume", "--once", "--store", place.store);

        CHECK(published == 0 || published == 3, "published, or somebody's lease is not over");
        CHECK(run.code == 0 || run.code == 3, run.talk.data);
        is_over = published == 0 && run.code == 0 && is_all_known();
        kill_site_sleep(20);
    }
    CHECK(is_over, "nothing is left");
}

static void judge_rows(void)
{
    const struct str wanted =
        sql_rows(contract_arena(), place.store,
                 "SELECT r.provider_id, r.version, o.event_id FROM ing_record AS r"
                 " JOIN ing_outbox AS o ON o.record_id = r.id AND o.version = r.version"
                 " ORDER BY r.provider_id COLLATE \"C\"");
    const struct str found = sql_rows(contract_arena(), place.sink,
                                      "SELECT aggregate_id, version, event FROM item ORDER BY 1");

    CHECK(wanted.len > 1000, "there is something");
    CHECK(str_eq(wanted, found), "each record's row is as the record");
    CHECK_EQ(sql_number(place.sink, "SELECT count(*) FROM (SELECT 1 FROM effect GROUP BY id,"
                                    " version HAVING count(*) > 1) AS x"),
             0, "each change of a row once");
    CHECK_EQ(sql_number(place.sink, "SELECT count(*) FROM ing_dead_letter"), 0, "none given up");
    CHECK_EQ(sql_number(place.sink, "SELECT count(*) FROM ing_parked"), 0, "none waits");
    CHECK_EQ(sql_number(place.store, "SELECT count(*) FROM ing_parked"), 0, "nor at a relay");
}

/* The store believes the stream's reader; of a bus it does not know how far that is. */
static void judge_audit(void)
{
    struct run run;

    if (has_bus())
        done(RUN("patra", "offset", "reset", "shelf", "--to", "latest", "--reason", "from a bus",
                 "--yes", "--store", place.store));
    run = RUN("patra", "audit", "shelf", "--json", "--store", place.store);
    CHECK_EQ(run.code, 0, run.out.data);
    CHECK_EQ(cli_number(run.out, "0.keys"),
             sql_number(place.store, "SELECT count(*) FROM ing_record"), run.out.data);
    CHECK_EQ(cli_number(run.out, "0.behind"), 0, "all of them were compared");
}

static void judge(void)
{
    drain();
    stream_sql_check(place.store);
    judge_rows();
    judge_audit();
}

static void tell(int64_t copies)
{
    test_note("%lld events, %lld copies of messages added by the bus, %lld changes of rows",
              (long long)events(), (long long)copies,
              (long long)sql_number(place.sink, "SELECT count(*) FROM effect"));
    contract_end();
}

/* ---- the buses ---- */

TEST(whoever_dies_rows_equal_records_from_the_stream)
{
    set_up(NULL, NULL);
    live_and_die("stream");
    judge();
    tell(0);
}

TEST(whoever_dies_rows_equal_records_from_nats)
{
    struct nats_servers servers = { 0 };
    struct nats_echo echo;
    char bus[TEXT_MAX];

    if (!nats_servers_installed())
        test_skip("nats-server is not installed");
    nats_servers_start(&servers, 1, NULL);
    REQUIRE(setenv("TEST_NATS_PASSWORD", NATS_PASSWORD, 1) == 0, "environment");
    (void)snprintf(bus, sizeof(bus),
                   "bus: works\ntype: nats\naddress: nats://127.0.0.1:%d\nstream: WORKS\n"
                   "subject: works.${lane}\nallow_plain: true\nread: { hold: 5s, messages: 100 }\n"
                   "auth: { user: " NATS_USER ", password: env:TEST_NATS_PASSWORD }\n",
                   servers.nodes[0].port);
    set_up(cli_postgres(), bus);
    nats_echo_start(&echo, servers.nodes[0].port, "works.*", "works.echo");
    live_and_die("NATS");
    drain(); /* a busy machine relays most of them only now */
    CHECK(nats_echo_stop(&echo) > 0, "there were copies");
    judge();
    tell(echo.copies);
    nats_servers_stop(&servers);
}

#ifdef HAS_PUBSUB
static void with_pubsub(void)
{
    struct pubsub_process fake;
    char bus[TEXT_MAX], sink[300];

    pubsub_process_start(&fake);
    (void)snprintf(sink, sizeof(sink), "%s/sink.db", test_folder());
    (void)snprintf(bus, sizeof(bus),
                   "bus: works\ntype: pubsub\naddress: 127.0.0.1:%d\nproject: project-1\n"
                   "topic: works\nsubscription: works.shelf\norder: lane\nallow_plain: true\n"
                   "read: { hold: 10s, messages: 100 }\n",
                   fake.port);
    set_up(sink, bus);
    live_and_die("Pub/Sub");
    judge();
    CHECK(pubsub_process_copies(&fake) > 0, "there were copies");
    tell(pubsub_process_copies(&fake));
    pubsub_process_stop(&fake);
}
#else
static void with_pubsub(void)
{
    test_skip("patra was built without Pub/Sub");
}
#endif

TEST(whoever_dies_rows_equal_records_from_pubsub)
{
    with_pubsub();
}
