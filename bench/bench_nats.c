/* bench_nats: how fast events leave for NATS.
 *
 *      bench_nats [bus | sqlite | postgres]...     default: all of them
 *
 * A nats-server of its own (one node, file storage), a SQLite file and a PostgreSQL of its own with
 * fsync on, if installed. 100,000 events of 690 bytes, of 50,000 keys, two versions each.
 *
 *      raw      js_PublishMsgAsync of libnats, with a message id and nothing else: the most that
 * the library and this server give bus      bus_publish() in calls of 500: one fence per lane, each
 * message acknowledged relay    from the stream of the store to NATS, by waves, with offsets saved
 *
 * Prints events a second, the ratio to raw, and the CPU time of this process (all its threads) for
 * an event, all measured in one run; asserts nothing. On a busy machine the CPU time is the better
 * number.
 */
#include <arpa/inet.h>
#include <fcntl.h>
#include <libpq-fe.h>
#include <nats/nats.h>
#include <signal.h>
#include <sqlite3.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/prctl.h>
#include <sys/socket.h>
#include <sys/wait.h>
#include <unistd.h>

#include "adapter/bus_open.h"
#include "adapter/store_open.h"
#include "adapter/system/system.h"
#include "base/attr.h"
#include "base/instant.h"
#include "engine/publish/publisher.h"
#include "engine/relay/relay_run.h"
#include "postgres.h"
#include "seconds.h"
#include "spec/bus.h"

enum { EVENTS = 100000, KEYS = 50000, BODY = 690, CALL = 500, LANES = 64, ROUNDS = 3 };

static struct {
    char folder[64];
    int port;
    pid_t server;
    struct arena arena;
    struct clock clock;
    struct random_source random;
    struct system_secrets secrets;
    char body[BODY];
    int streams;
} rig;

static void die(const char *what, const char *why)
{
    fprintf(stderr, "bench_nats: %s: %s\n", what, why);
    exit(1);
}

/* ---- the server ---- */

static int free_port(void)
{
    struct sockaddr_in address = { .sin_family = AF_INET,
                                   .sin_addr.s_addr = htonl(INADDR_LOOPBACK) };
    socklen_t len = sizeof(address);
    const int fd = socket(AF_INET, SOCK_STREAM, 0);

    if (bind(fd, (struct sockaddr *)&address, sizeof(address)) != 0 ||
        getsockname(fd, (struct sockaddr *)&address, &len) != 0)
        die("port", "none is free");
    (void)close(fd);
    return ntohs(address.sin_port);
}

static void start_server(void)
{
    char port[16], store[96], log[96];
    pid_t parent;

    (void)snprintf(rig.folder, sizeof(rig.folder), "/tmp/patra-bench.XXXXXX");
    if (mkdtemp(rig.folder) == NULL)
        die("folder", rig.folder);
    rig.port = free_port();
    (void)snprintf(port, sizeof(port), "%d", rig.port);
    (void)snprintf(store, sizeof(store), "%s/js", rig.folder);
    (void)snprintf(log, sizeof(log), "%s/log", rig.folder);
    parent = getpid();
    rig.server = fork();
    if (rig.server == 0) {
        (void)prctl(PR_SET_PDEATHSIG, SIGKILL);
        if (getppid() != parent)
            _exit(127); /* it ended before the line above */
        (void)execl("/usr/sbin/nats-server", "nats-server", "-a", "127.0.0.1", "-p", port, "-js",
                    "-sd", store, "-l", log, (char *)NULL);
        _exit(127);
    }
}

static void stop_server(void)
{
    char command[128];

    (void)kill(rig.server, SIGTERM);
    (void)waitpid(rig.server, NULL, 0);
    (void)snprintf(command, sizeof(command), "rm -rf %s", rig.folder);
    (void)!system(command);
}

/* ---- a bus ---- */

static struct bus_spec *make_spec(void)
{
    struct bus_spec *spec = ARENA_NEW(&rig.arena, struct bus_spec);
    struct fault_list faults;
    const struct str text = arena_printf(
        &rig.arena,
        "bus: b%d\ntype: nats\naddress: nats://127.0.0.1:%d\nstream: B%d\nsubject: b%d.${lane}\n"
        "allow_plain: true\n",
        rig.streams, rig.port, rig.streams, rig.streams);

    rig.streams++;
    fault_list_init(&faults, &rig.arena);
    if (spec == NULL || !bus_read(&rig.arena, text, &faults, spec))
        die("bus", "the file is wrong");
    return spec;
}

static struct bus *open_bus(const struct bus_spec *spec)
{
    struct error err;
    struct bus *bus;
    bool made = false;

    if (!bus_open(&(struct bus_parts){ spec, &rig.secrets.source, &rig.clock }, &bus, &err))
        die("bus", err.text);
    for (int i = 0; i < 100 && !bus_create(bus, US_PER_SECOND, &made, &err); i++)
        (void)usleep(100000);
    if (!made)
        die("bus", err.text);
    return bus;
}

/* ---- raw ---- */

/* Of what was measured last. */
static double measured_cpu_s;

static double raw(void)
{
    const struct bus_spec *spec = make_spec();
    natsConnection *nc = NULL;
    jsCtx *js = NULL;
    char url[64], subject[64], id[64];
    double started_s;

    bus_close(open_bus(spec));
    (void)snprintf(url, sizeof(url), "nats://127.0.0.1:%d", rig.port);
    if (natsConnection_ConnectTo(&nc, url) != NATS_OK ||
        natsConnection_JetStream(&js, nc, NULL) != NATS_OK)
        die("raw", "no connection");
    measured_cpu_s = -process_cpu_s();
    started_s = now_s();
    for (int i = 0; i < EVENTS; i++) {
        jsPubOptions options;

        (void)jsPubOptions_Init(&options);
        (void)snprintf(id, sizeof(id), "raw-%d", i);
        options.MsgId = id;
        (void)snprintf(subject, sizeof(subject), "b%d.%d", rig.streams - 1, i % LANES);
        if (js_PublishAsync(js, subject, rig.body, BODY, &options) != NATS_OK)
            die("raw", "publish");
    }
    if (js_PublishAsyncComplete(js, NULL) != NATS_OK)
        die("raw", "not all were acknowledged");
    started_s = now_s() - started_s;
    measured_cpu_s += process_cpu_s();
    jsCtx_Destroy(js);
    natsConnection_Destroy(nc);
    return EVENTS / started_s;
}

/* ---- the adapter ---- */

static double adapter(void)
{
    static const struct bus_attribute attributes[] = {
        { STR_INIT("event_type"), STR_INIT("RecordUpdated") },
        { STR_INIT("aggregate_type"), STR_INIT("bench") },
        { STR_INIT("schema_version"), STR_INIT("1") },
        { STR_INIT("version"), STR_INIT("1") },
    };
    struct bus *bus = open_bus(make_spec());
    struct bus_message messages[CALL];
    struct bus_receipt receipts[CALL];
    struct bus_fence fences[LANES];
    char ids[CALL][64], keys[CALL][32];
    struct arena arena;
    struct error err;
    double started_s;

    arena_init(&arena, (size_t)64 << 20);
    for (int i = 0; i < LANES; i++)
        fences[i] = (struct bus_fence){ .lane = i, .lease_epoch = 1 };
    measured_cpu_s = -process_cpu_s();
    started_s = now_s();
    for (int i = 0; i < EVENTS; i += CALL) {
        for (int k = 0; k < CALL; k++) {
            (void)snprintf(ids[k], sizeof(ids[k]), "%08x-0000-7000-8000-000000000000", i + k);
            (void)snprintf(keys[k], sizeof(keys[k]), "bench/%d", i + k);
            messages[k] = (struct bus_message){ .event_id = str_of(ids[k]),
                                                .key = str_of(keys[k]),
                                                .lane = k % LANES,
                                                .version = 1,
                                                .attributes = attributes,
                                                .attribute_count = ARRAY_LEN(attributes),
                                                .content_type = STR("application/json"),
                                                .body = { rig.body, BODY } };
        }
        arena_reset(&arena);
        if (!bus_publish(
                bus, &arena,
                &(struct bus_publish){ messages, CALL, fences, LANES, 10 * US_PER_SECOND, -1 },
                receipts, &err))
            die("publish", err.text);
    }
    started_s = now_s() - started_s;
    measured_cpu_s += process_cpu_s();
    bus_close(bus);
    arena_release(&arena);
    return EVENTS / started_s;
}

/* ---- the relay ---- */

static const char FILL_SQLITE[] =
    "WITH RECURSIVE n (i) AS (VALUES (0) UNION ALL SELECT i + 1 FROM n WHERE i < %d)"
    " INSERT INTO ing_outbox (version, occurred_at, event_id, lane, schema_version, event_type,"
    " aggregate_type, aggregate_id, body)"
    " SELECT i / %d + 1, 1767225600000000, printf('%%08x-0000-7000-8000-000000000000', i),"
    " i %% %d %% 64, 1, 'Bench', 'bench', 'k' || (i %% %d), CAST(printf('%%0%dd', 0) AS BLOB)"
    " FROM n";
static const char FILL_POSTGRES[] =
    "INSERT INTO ing_outbox (version, occurred_at, event_id, lane, schema_version, event_type,"
    " aggregate_type, aggregate_id, body)"
    " SELECT i / %d + 1, now(), (lpad(to_hex(i), 8, '0') || '-0000-7000-8000-000000000000')::uuid,"
    " i %% %d %% 64, 1, 'Bench', 'bench', 'k' || (i %% %d), convert_to(repeat('0', %d), 'UTF8')"
    " FROM generate_series(0, %d) AS i";

static void run_sql(const char *dsn, const char *sql, bool is_postgres)
{
    sqlite3 *db = NULL;
    PGconn *pg;

    if (!is_postgres) {
        if (sqlite3_open(dsn, &db) != SQLITE_OK ||
            sqlite3_exec(db, sql, NULL, NULL, NULL) != SQLITE_OK)
            die("SQL", sqlite3_errmsg(db));
        (void)sqlite3_close(db);
        return;
    }
    pg = PQconnectdb(dsn);
    PQclear(PQexec(pg, sql));
    if (PQerrorMessage(pg)[0] != '\0')
        die("SQL", PQerrorMessage(pg));
    PQfinish(pg);
}

static void fill(const char *dsn, struct store *store)
{
    const bool is_postgres = store_dsn_kind(str_of(dsn)) == STORE_POSTGRES;
    struct publisher_settings settings = { .is_draining = true,
                                           .sequencer = { .owner = STR("bench") } };
    struct publisher_parts parts = {
        .store = store, .clock = &rig.clock, .random = &rig.random, .wake_fd = -1
    };
    char sql[1024];
    struct error err;
    int64_t appended;

    if (is_postgres)
        (void)snprintf(sql, sizeof(sql), FILL_POSTGRES, KEYS, KEYS, KEYS, BODY, EVENTS - 1);
    else
        (void)snprintf(sql, sizeof(sql), FILL_SQLITE, EVENTS - 1, KEYS, KEYS, KEYS, BODY);
    run_sql(dsn, sql, is_postgres);
    if (!publisher_run(&parts, &settings, &appended, &err))
        die("sequencer", err.text);
    if (appended != EVENTS)
        die("sequencer", "not all events");
}

static bool open_target(void *context, const struct subscription *subscription,
                        struct relay_target *target, struct error *err)
{
    const struct bus_spec *spec = context;

    (void)subscription;
    *target = (struct relay_target){ 0 };
    return bus_open(&(struct bus_parts){ spec, &rig.secrets.source, &rig.clock }, &target->bus,
                    err);
}

static double relay(const char *dsn)
{
    struct bus_spec *spec = make_spec();
    struct subscription row;
    struct subscription_applied applied;
    struct relay_run run = { .relay = { .lanes = { .owner = STR("bench"),
                                                   .batch_max = spec->batch_events },
                                        .timeout_us = 10 * US_PER_SECOND },
                             .is_draining = true };
    struct relay_parts parts = { .clock = &rig.clock,
                                 .random = &rig.random,
                                 .wake_fd = CLOCK_NO_WAKE,
                                 .open = open_target,
                                 .context = spec };
    struct lanes_total total = { 0 };
    struct store *store;
    struct error err;
    int64_t migrations;
    double took_s;
    bool found;

    if (!store_open(str_of(dsn), &(struct store_options){ .create = true }, &store, &err) ||
        !store_migrate(store, clock_now_us(&rig.clock), &migrations, &err))
        die("store", err.text);
    fill(dsn, store);
    bus_close(open_bus(spec));
    if (!store_subscription_apply(
            store,
            &(struct subscription_apply){
                .name = spec->name,
                .kind = SUBSCRIPTION_RELAY,
                .spec = STR("{}"),
                .spec_hash =
                    STR("0000000000000000000000000000000000000000000000000000000000000000"),
                .applied_by = STR("bench"),
                .now_us = clock_now_us(&rig.clock) },
            &applied, &err) ||
        !store_subscription_find(store, &rig.arena, spec->name, &row, &found, &err))
        die("subscription", err.text);
    run.relay.lanes.subscription = &row;
    parts.store = store;
    measured_cpu_s = -process_cpu_s();
    took_s = now_s();
    if (!relay_run(&parts, &run, &total, &err))
        die("relay", err.text);
    took_s = now_s() - took_s;
    measured_cpu_s += process_cpu_s();
    if (total.delivered != EVENTS || total.parked != 0)
        die("relay", "not all events");
    store_close(store);
    return EVENTS / took_s;
}

static void print(const char *what, double per_s, double raw_per_s)
{
    printf("%-18s %8.0f events/s   %4.2f of raw   %5.1f us of CPU\n", what, per_s,
           per_s / raw_per_s, measured_cpu_s * 1e6 / EVENTS);
    (void)fflush(stdout);
}

static bool is_wanted(int argc, char **argv, const char *part)
{
    for (int i = 1; i < argc; i++) {
        if (strcmp(argv[i], part) == 0)
            return true;
    }
    return argc == 1;
}

static void measure(int argc, char **argv)
{
    struct error err = { 0 };
    const double raw_per_s = raw();
    char path[96];
    const char *dsn;

    print("raw", raw_per_s, raw_per_s);
    if (is_wanted(argc, argv, "bus"))
        print("bus", adapter(), raw_per_s);
    (void)snprintf(path, sizeof(path), "%s/bench.db", rig.folder);
    if (is_wanted(argc, argv, "sqlite"))
        print("relay, SQLite", relay(path), raw_per_s);
    for (int i = 0; i < ROUNDS && is_wanted(argc, argv, "postgres"); i++) {
        dsn = postgres_new_database(&err);
        if (dsn != NULL)
            print("relay, PostgreSQL", relay(dsn), raw_per_s);
    }
    print("raw, once more", raw(), raw_per_s);
}

int main(int argc, char **argv)
{
    if (access("/usr/sbin/nats-server", X_OK) != 0) {
        printf("nats-server is not installed\n");
        return 0;
    }
    arena_init(&rig.arena, (size_t)64 << 20);
    rig.clock = system_clock();
    rig.random = system_random();
    system_secrets_init(&rig.secrets, NULL);
    memset(rig.body, '0', sizeof(rig.body));
    postgres_in_earnest();
    start_server();
    measure(argc, argv);
    stop_server();
    arena_release(&rig.arena);
    return 0;
}
