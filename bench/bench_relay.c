/* bench_relay: from the outbox into the stream, and from the stream to a bus.
 *
 *      bench_relay [EVENTS]        200,000 events, 690 bytes each, 50,000 keys
 *
 *      stream     a backlog of events, numbered by one sequencer: events a second
 *      bytes      of the outbox and the stream per event, on disk
 *      thin       the same for the event of a record, which refers to it: heap, indexes and WAL,
 *                 beside a table whose rows hold the whole event and what became of it
 *      relay      the stream to a bus in RAM that acknowledges at once: events a second
 *      parked     the same events to two subscriptions, of which one has a parked key with 100,000
 *                 events that wait, tried now and then and refused each time: the ratio, of pairs
 *                 that take turns in which of the two is first, and of this process's CPU time
 *      writing    events written by one session while sequencer and relay are at work, against
 *                 without them: the ratio
 *
 * PostgreSQL has its own defaults, so it flushes each commit. Prints, and asserts nothing.
 */
#include <inttypes.h>
#include <libpq-fe.h>
#include <pthread.h>
#include <stdatomic.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/eventfd.h>
#include <unistd.h>

#include "adapter/store_open.h"
#include "adapter/system/system.h"
#include "engine/publish/publisher.h"
#include "engine/relay/relay_run.h"
#include "postgres.h"
#include "seconds.h"

enum {
    SIZED = 20000,
    EVENTS = 200000,
    WAITING = 100000,
    ROUNDS = 15,
    ROUND_EVENTS = 60000, /* so that a run is longer than what one try of the parked key takes */
    WRITES = 40
};

#define HASH "aaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaa"

struct bench {
    PGconn *sql;
    struct store *store;
    struct clock clock;
    struct random_source random;
    int64_t next; /* of the events that are written */
};

static void must(bool ok, const char *what)
{
    if (ok)
        return;
    (void)fprintf(stderr, "bench_relay: %s\n", what);
    exit(1);
}

static void run_sql(PGconn *sql, const char *text)
{
    PGresult *result = PQexec(sql, text);
    const ExecStatusType status = PQresultStatus(result);

    must(status == PGRES_COMMAND_OK || status == PGRES_TUPLES_OK, PQerrorMessage(sql));
    PQclear(result);
}

static double number(PGconn *sql, const char *text)
{
    PGresult *result = PQexec(sql, text);
    double value;

    must(PQresultStatus(result) == PGRES_TUPLES_OK, PQerrorMessage(sql));
    value = strtod(PQgetvalue(result, 0, 0), NULL);
    PQclear(result);
    return value;
}

/* ---- events ---- */

/* Foreign ones: their bodies are published as they are. Keys take turns, versions grow. */
static void write_events(struct bench *b, PGconn *sql, int64_t count)
{
    char text[1024];

    (void)snprintf(
        text, sizeof(text),
        "INSERT INTO ing_outbox (version, occurred_at, event_id, lane, schema_version, event_type,"
        " aggregate_type, aggregate_id, body)"
        " SELECT 1 + i / 50000, now(), gen_random_uuid(), (i %% 50000) %% 64, 1, 'Changed', 'work',"
        " 'k' || i %% 50000, convert_to('{\"n\":' || i || ',\"x\":\"' || repeat('a', 660) || '\"}',"
        " 'UTF8') FROM generate_series(%" PRId64 "::bigint, %" PRId64 "::bigint) AS i",
        b->next, b->next + count - 1);
    b->next += count;
    run_sql(sql, text);
}

static void write_hot(PGconn *sql)
{
    char text[1024];

    (void)snprintf(
        text, sizeof(text),
        "INSERT INTO ing_outbox (version, occurred_at, event_id, lane, schema_version, event_type,"
        " aggregate_type, aggregate_id, body) SELECT i, now(), gen_random_uuid(), 7, 1, 'Changed',"
        " 'work', 'hot', convert_to('{\"n\":' || i || '}', 'UTF8')"
        " FROM generate_series(1, %d) AS i",
        WAITING);
    run_sql(sql, text);
}

static double sequence(struct bench *b)
{
    const struct publisher_parts parts = {
        .store = b->store, .clock = &b->clock, .random = &b->random, .wake_fd = CLOCK_NO_WAKE
    };
    const struct publisher_settings settings = { .sequencer = { .owner = STR("bench") },
                                                 .is_draining = true };
    const double from_s = now_s();
    struct error err = { 0 };

    must(publisher_run(&parts, &settings, NULL, &err), err.text);
    return now_s() - from_s;
}

/* ---- a bus that takes everything but one key ---- */

static void bus_end(struct bus *bus)
{
    free(bus);
}

static bool bus_is_there(struct bus *bus, int64_t timeout_us, struct error *err)
{
    (void)bus;
    (void)timeout_us;
    (void)err;
    return true;
}

static bool bus_take(struct bus *bus, struct arena *arena, const struct bus_publish *call,
                     struct bus_receipt *receipts, struct error *err)
{
    (void)bus;
    (void)arena;
    (void)err;
    for (size_t i = 0; i < call->count; i++) {
        if (str_eq(call->messages[i].key, STR("work/hot")))
            receipts[i] = (struct bus_receipt){ BUS_REFUSED, STR(""), STR("not this one") };
        else
            receipts[i] = (struct bus_receipt){ .outcome = BUS_ACKED };
    }
    return true;
}

static const struct bus_ops OPS = { .close = bus_end, .check = bus_is_there, .publish = bus_take };

static bool open_bus(void *context, const struct subscription *subscription,
                     struct relay_target *target, struct error *err)
{
    (void)context;
    (void)subscription;
    target->bus = calloc(1, sizeof(*target->bus));
    if (target->bus == NULL)
        return error_set(err, ERROR_TRANSIENT, "memory.system", "no memory");
    target->bus->ops = &OPS;
    return true;
}

static void subscribe(struct bench *b, const char *name, bool from_latest)
{
    struct subscription_applied applied;
    const struct subscription_apply apply = { .name = str_of(name),
                                              .kind = SUBSCRIPTION_RELAY,
                                              .spec = STR("{}"),
                                              .spec_hash = STR(HASH),
                                              .from_latest = from_latest,
                                              .applied_by = STR("bench"),
                                              .now_us = clock_now_us(&b->clock) };
    struct error err = { 0 };

    must(store_subscription_apply(b->store, &apply, &applied, &err), err.text);
}

struct relaying {
    struct relay_parts parts;
    struct relay_run run;
    struct subscription subscription;
    char owner[32];
};

static void prepare(struct bench *b, struct relaying *r, struct store *store, const char *name)
{
    *r = (struct relaying){ .parts = { .store = store,
                                       .clock = &b->clock,
                                       .random = &b->random,
                                       .wake_fd = CLOCK_NO_WAKE,
                                       .open = open_bus },
                            .subscription = { .name = str_of(name) } };
    (void)snprintf(r->owner, sizeof(r->owner), "bench %s", name);
    r->run.relay.lanes.subscription = &r->subscription;
    r->run.relay.lanes.owner = str_of(r->owner);
}

static double relay(struct bench *b, const char *name, int64_t *delivered)
{
    struct relaying r;
    struct lanes_total total;
    struct error err = { 0 };
    double from_s;

    prepare(b, &r, b->store, name);
    r.run.is_draining = true;
    from_s = now_s();
    must(relay_run(&r.parts, &r.run, &total, &err), err.text);
    if (delivered != NULL)
        *delivered = total.delivered;
    return now_s() - from_s;
}

/* ---- what is measured ---- */

static void measure_stream(struct bench *b, int64_t events)
{
    double took_s;

    write_events(b, b->sql, events);
    run_sql(b->sql, "VACUUM ANALYZE ing_outbox");
    took_s = sequence(b);
    printf("stream   %8.0f events/s into the stream (backlog of %" PRId64 ")\n",
           (double)events / took_s, events);
    run_sql(b->sql, "VACUUM ANALYZE");
    printf("bytes    %8.0f per event of 690 bytes: outbox %.0f, its indexes %.0f, stream %.0f\n",
           number(b->sql, "SELECT (pg_total_relation_size('ing_outbox') +"
                          " pg_total_relation_size('ing_stream'))::float / count(*)"
                          " FROM ing_outbox"),
           number(b->sql, "SELECT pg_table_size('ing_outbox')::float / count(*) FROM ing_outbox"),
           number(b->sql, "SELECT pg_indexes_size('ing_outbox')::float / count(*) FROM ing_outbox"),
           number(b->sql,
                  "SELECT pg_total_relation_size('ing_stream')::float / count(*) FROM ing_outbox"));
}

static void measure_relay(struct bench *b)
{
    int64_t delivered;
    double took_s;

    subscribe(b, "free", false);
    took_s = relay(b, "free", &delivered);
    printf("relay    %8.0f events/s from the stream to a bus that takes them at once\n",
           (double)delivered / took_s);
}

/* What the outbox was before it became thin: a body of 690 bytes, of which 410 repeat what the
 * record's row says, and columns and indexes for its delivery. */
static const char THICK[] =
    "CREATE TABLE thick (id bigint GENERATED ALWAYS AS IDENTITY PRIMARY KEY, event_id uuid NOT "
    "NULL,"
    " aggregate_type text COLLATE \"C\" NOT NULL, aggregate_id text COLLATE \"C\" NOT NULL,"
    " event_type text NOT NULL, version bigint NOT NULL, schema_version integer NOT NULL,"
    " lane integer NOT NULL, occurred_at timestamptz NOT NULL, published_at timestamptz,"
    " stream_pos bigint, attempts_begun integer NOT NULL DEFAULT 0,"
    " attempts_ended integer NOT NULL DEFAULT 0, payload bytea NOT NULL);"
    " CREATE UNIQUE INDEX ON thick (event_id);"
    " CREATE UNIQUE INDEX ON thick (aggregate_id, aggregate_type, version);"
    " CREATE UNIQUE INDEX ON thick (lane, stream_pos) WHERE stream_pos IS NOT NULL;"
    " CREATE INDEX ON thick (lane, id) WHERE published_at IS NULL;"
    " CREATE INDEX ON thick USING brin (occurred_at)";
static const char ADD_THICK[] =
    "PREPARE add_thick (integer) AS INSERT INTO thick (event_id, aggregate_type, aggregate_id, "
    "event_type, version,"
    " schema_version, lane, occurred_at, payload)"
    " SELECT gen_random_uuid(), 'crossref/works', '10.5555/' || i, 'RecordUpserted', 1, 1, i % 64,"
    " now(), convert_to(repeat('a', 690), 'UTF8') FROM generate_series($1 + 1, $1 + 250) AS i";
static const char ADD_THIN[] =
    "PREPARE add_ing_outbox (integer) AS INSERT INTO ing_outbox (record_id, version, batch_id, "
    "occurred_at, event_id, lane,"
    " schema_version, event_type, body)"
    " SELECT i, 1, 1, now(), gen_random_uuid(), i % 64, 1, 'RecordUpserted',"
    " convert_to(repeat('a', 280), 'UTF8') FROM generate_series($1 + 1, $1 + 250) AS i";

struct size { /* per event */
    double heap, indexes, wal;
};

static struct size size_of(struct bench *b, const char *table, const char *prepare)
{
    char text[1024];
    struct size size;
    double from;

    run_sql(b->sql, prepare);
    run_sql(b->sql, "CHECKPOINT");
    from = number(b->sql, "SELECT pg_current_wal_insert_lsn() - '0/0'");
    for (int i = 0; i < SIZED; i += 250) {
        (void)snprintf(text, sizeof(text), "EXECUTE add_%s (%d)", table, i);
        run_sql(b->sql, text);
    }
    size.wal = (number(b->sql, "SELECT pg_current_wal_insert_lsn() - '0/0'") - from) / SIZED;
    (void)snprintf(text, sizeof(text), "SELECT pg_table_size('%s')", table);
    size.heap = number(b->sql, text) / SIZED;
    (void)snprintf(text, sizeof(text), "SELECT pg_indexes_size('%s')", table);
    size.indexes = number(b->sql, text) / SIZED;
    return size;
}

/* In a table that is empty. */
static void measure_thin(struct bench *b)
{
    struct size thick, thin;

    run_sql(b->sql, THICK);
    thick = size_of(b, "thick", ADD_THICK);
    thin = size_of(b, "ing_outbox", ADD_THIN);
    printf("thin     %8.0f %% fewer bytes per event: heap %.0f -> %.0f, indexes %.0f -> %.0f,"
           " WAL %.0f -> %.0f\n",
           100 - 100 * (thin.heap + thin.indexes + thin.wal) /
                     (thick.heap + thick.indexes + thick.wal),
           thick.heap, thin.heap, thick.indexes, thin.indexes, thick.wal, thin.wal);
    run_sql(b->sql, "DROP TABLE thick; TRUNCATE ing_outbox RESTART IDENTITY");
}

static double sum(const double values[ROUNDS])
{
    double all = 0;

    for (int i = 0; i < ROUNDS; i++)
        all += values[i];
    return all;
}

/* Of each round by itself: the machine may have other work, for some of them. */
static void print_ratio(const char *name, const char *without, const double a_s[ROUNDS],
                        const double b_s[ROUNDS])
{
    double ratios[ROUNDS];

    for (int i = 0; i < ROUNDS; i++)
        ratios[i] = a_s[i] / b_s[i];
    seconds_sort(ratios, ROUNDS);
    printf("%-8s %8.3f of the time without %s (median of %d rounds; from %.3f to %.3f; all of them"
           " %.3f)\n",
           name, ratios[ROUNDS / 2], without, ROUNDS, ratios[0], ratios[ROUNDS - 1],
           sum(a_s) / sum(b_s));
}

static void measure_parked(struct bench *b)
{
    double free_s[ROUNDS], parked_s[ROUNDS], free_cpu_s[ROUNDS], parked_cpu_s[ROUNDS], took_s;

    subscribe(b, "parked", true);
    write_hot(b->sql);
    (void)sequence(b);
    took_s = relay(b, "parked", NULL);
    (void)relay(b, "free", NULL);
    printf("parked   %8.0f events/s past a key that is parked, once (%d events wait)\n",
           WAITING / took_s, WAITING);
    for (int i = 0; i < ROUNDS; i++) {
        write_events(b, b->sql, ROUND_EVENTS);
        (void)sequence(b);
        run_sql(b->sql, "ANALYZE ing_outbox");
        for (int k = 0; k < 2; k++) {
            const bool is_free = (i + k) % 2 == 0;
            const double from_s = process_cpu_s();

            (is_free ? free_s : parked_s)[i] = relay(b, is_free ? "free" : "parked", NULL);
            (is_free ? free_cpu_s : parked_cpu_s)[i] = process_cpu_s() - from_s;
        }
    }
    print_ratio("", "it, for the events of other keys", parked_s, free_s);
    print_ratio("  CPU", "it, for the events of other keys", parked_cpu_s, free_cpu_s);
}

/* ---- writing while the others are at work ---- */

struct others {
    struct bench *bench;
    struct store *stream_store, *relay_store;
    int stop_fd;
    pthread_t threads[2];
};

static void *sequence_on(void *context)
{
    struct others *o = context;
    const struct publisher_parts parts = { .store = o->stream_store,
                                           .clock = &o->bench->clock,
                                           .random = &o->bench->random,
                                           .wake_fd = o->stop_fd };
    struct error err = { 0 };

    must(publisher_run(&parts, &(struct publisher_settings){ .sequencer = { .owner = STR("on") } },
                       NULL, &err),
         err.text);
    return NULL;
}

static void *relay_on(void *context)
{
    struct others *o = context;
    struct relaying r;
    struct error err = { 0 };

    prepare(o->bench, &r, o->relay_store, "free");
    r.run.relay.lanes.owner = STR("bench on");
    r.parts.wake_fd = o->stop_fd;
    must(relay_run(&r.parts, &r.run, NULL, &err), err.text);
    return NULL;
}

/* Batches of 250 events, each a transaction. */
static double write_batches(struct bench *b)
{
    const double from_s = now_s();

    for (int i = 0; i < WRITES; i++)
        write_events(b, b->sql, 250);
    return now_s() - from_s;
}

static double write_beside(struct bench *b)
{
    struct others o = { .bench = b, .stop_fd = eventfd(0, EFD_CLOEXEC) };
    struct error err = { 0 };
    const uint64_t n = 1;
    double took_s;

    must(store_another(b->store, &o.stream_store, &err) &&
             store_another(b->store, &o.relay_store, &err),
         err.text);
    must(pthread_create(&o.threads[0], NULL, sequence_on, &o) == 0 &&
             pthread_create(&o.threads[1], NULL, relay_on, &o) == 0,
         "threads");
    took_s = write_batches(b);
    must(write(o.stop_fd, &n, sizeof(n)) == sizeof(n), "stop");
    (void)pthread_join(o.threads[0], NULL);
    (void)pthread_join(o.threads[1], NULL);
    store_close(o.stream_store);
    store_close(o.relay_store);
    (void)close(o.stop_fd);
    return took_s;
}

static void measure_writing(struct bench *b)
{
    double alone_s[ROUNDS], beside_s[ROUNDS];

    for (int i = 0; i < ROUNDS; i++) {
        alone_s[i] = write_batches(b);
        (void)sequence(b);
        (void)relay(b, "free", NULL);
        beside_s[i] = write_beside(b);
        (void)sequence(b);
        (void)relay(b, "free", NULL);
    }
    print_ratio("writing", "publisher and relay", beside_s, alone_s);
}

int main(int argc, char **argv)
{
    struct bench b = { .clock = system_clock(), .random = system_random() };
    const int64_t events = argc > 1 ? atoll(argv[1]) : EVENTS;
    struct error err = { 0 };
    const char *dsn;
    int64_t taken;

    postgres_in_earnest();
    dsn = postgres_new_database(&err);
    if (dsn == NULL) {
        puts("bench_relay: PostgreSQL is not installed");
        return 0;
    }
    b.sql = PQconnectdb(dsn);
    must(PQstatus(b.sql) == CONNECTION_OK, "connect");
    must(store_open(str_of(dsn), &(struct store_options){ 0 }, &b.store, &err), err.text);
    must(store_migrate(b.store, clock_now_us(&b.clock), &taken, &err), err.text);
    measure_thin(&b);
    measure_stream(&b, events);
    measure_relay(&b);
    measure_parked(&b);
    measure_writing(&b);
    store_close(b.store);
    PQfinish(b.sql);
    return 0;
}
