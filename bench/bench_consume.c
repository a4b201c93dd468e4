/* bench_consume: from the stream, and from a bus, into the table of a projection.
 *
 *      bench_consume [EVENTS]      200,000 events, 690 bytes each, 50,000 keys
 *
 *      stream     a backlog of another service's events, applied by one consumer: events a second
 *      records    the same of records, whose events are read with their keys and become envelopes
 *      bus        the same from a bus in RAM, with the inbox: events a second
 *      latency    an event every 20 ms, publisher and consumer idle: from its commit to its row as
 *                 another session sees it
 *
 * SQLite on a file in /dev/shm, then PostgreSQL with its own defaults, so that it flushes each
 * commit. Prints, and asserts nothing.
 */
#include <inttypes.h>
#include <pthread.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/eventfd.h>
#include <unistd.h>

#include "adapter/store_open.h"
#include "adapter/system/system.h"
#include "core/lane.h"
#include "engine/consume/bus_consumer.h"
#include "engine/consume/consumer.h"
#include "engine/consume/projection.h"
#include "engine/publish/publisher.h"
#include "port/store_record.h"
#include "postgres.h"
#include "seconds.h"
#include "spec/projection.h"

enum { EVENTS = 200000, KEYS = 50000, CHUNK = 1000, SAMPLES = 200, PAUSE_US = 20000 };

static const char FILE_TEXT[] =
    "projection: shelf\ntables:\n  item:\n"
    "    columns: { title: $.title, year: { type: integer, path: $.year } }\n"
    "    from:\n      - { aggregates: [ work ] }\n"
    "      - { aggregates: [ crossref/works ],"
    " columns: { title: $.fields.title, year: $.fields.year } }\n";

#define HASH "aaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaa"

struct bench {
    struct bus bus; /* first: events as messages */
    struct store *store;
    struct clock clock;
    struct random_source random;
    struct arena arena;
    struct projection projection;
    struct projection_text text;
    struct subscription subscription;
    struct wake *wake;
    int stop_fd;
    int64_t next;  /* of the events that are written */
    int64_t given; /* by the bus */
    int64_t events;
};

static void must(bool ok, const char *what)
{
    if (ok)
        return;
    (void)fprintf(stderr, "bench_consume: %s\n", what);
    exit(1);
}

/* ---- events ---- */

static struct foreign_event event_of(struct arena *arena, int64_t n)
{
    static char filler[600];
    const struct str id = arena_printf(arena, "k%" PRId64, n % KEYS);

    memset(filler, 'a', sizeof(filler) - 1);
    return (struct foreign_event){
        .aggregate_type = STR("work"),
        .aggregate_id = id,
        .event = { .event_id = arena_printf(arena, "01890000-0000-7000-8000-%012" PRId64, n),
                   .event_type = STR("Changed"),
                   .version = 1 + n / KEYS,
                   .schema_version = 1,
                   .lane = lane_of(STR("work"), id),
                   .occurred_us = 1767225600000000,
                   .body = arena_printf(
                       arena, "{\"title\":\"Title %" PRId64 "\",\"year\":%" PRId64 ",\"x\":\"%s\"}",
                       n, 1900 + n % 120, filler) }
    };
}

static void write_events(struct bench *b, int64_t count)
{
    static struct foreign_event events[CHUNK];
    struct error err = { 0 };
    int64_t added;

    for (int64_t done = 0; done < count; done += CHUNK) {
        const int64_t many = count - done < CHUNK ? count - done : CHUNK;

        arena_reset(&b->arena);
        for (int64_t i = 0; i < many; i++)
            events[i] = event_of(&b->arena, b->next++);
        must(store_begin(b->store, &err), err.text);
        must(store_outbox_add(b->store, events, (size_t)many, &added, &err), err.text);
        must(store_commit(b->store, &err), err.text);
    }
}

static struct record_change change_of(struct arena *arena, int64_t n)
{
    const struct foreign_event like = event_of(arena, n);
    const struct str id = arena_printf(arena, "10.1000/%012" PRId64, n);
    struct record_change change = { .record = { .version = 1,
                                                .provider_id = id,
                                                .content_hash = STR(HASH),
                                                .payload = STR("{}") },
                                    .event = like.event };

    change.event.event_id = arena_printf(arena, "01890000-0001-7000-8000-%012" PRId64, n);
    change.event.event_type = STR("RecordCreated");
    change.event.version = 1;
    change.event.lane = lane_of(STR("works"), id);
    change.event.body = arena_printf(arena, "{\"contentHash\":\"" HASH "\",\"fields\":%.*s}",
                                     STR_ARG(like.event.body));
    return change;
}

static void write_records(struct bench *b, int64_t count)
{
    const struct record_context context = { .source = STR("crossref"),
                                            .endpoint = STR("works"),
                                            .expr_hash = STR(HASH),
                                            .now_us = 1767225600000000 };
    static struct record_change changes[CHUNK];
    struct error err = { 0 };
    bool written;

    for (int64_t done = 0; done < count; done += CHUNK) {
        arena_reset(&b->arena);
        for (int64_t i = 0; i < CHUNK; i++)
            changes[i] = change_of(&b->arena, done + i);
        must(store_begin(b->store, &err), err.text);
        must(store_record_write(b->store, &context, changes, CHUNK, &written, &err), err.text);
        must(store_commit(b->store, &err), err.text);
    }
}

static void sequence(struct bench *b)
{
    const struct publisher_parts parts = {
        .store = b->store, .clock = &b->clock, .random = &b->random, .wake_fd = CLOCK_NO_WAKE
    };
    struct error err = { 0 };

    must(publisher_run(&parts,
                       &(struct publisher_settings){ .sequencer = { .owner = STR("bench") },
                                                     .is_draining = true },
                       NULL, &err),
         err.text);
}

/* ---- the projection ---- */

static void apply(struct bench *b)
{
    struct projection_spec spec;
    struct subscription_applied applied;
    struct fault_list faults;
    struct sink_plan plan;
    struct error err = { 0 };
    static struct arena kept;
    bool found;

    arena_init(&kept, 64 << 20);
    fault_list_init(&faults, &kept);
    must(projection_read(&kept, str_of(FILE_TEXT), &faults, &spec), "the projection");
    must(projection_compile(&kept, &spec, &b->text, &err), err.text);
    must(projection_open(&b->projection, b->text.json, &err), err.text);
    must(store_sink_set_up(b->store, &kept,
                           &(struct sink_set_up){ .spec = &b->projection.spec,
                                                  .json = b->text.json,
                                                  .hash = str_of(b->text.hash),
                                                  .applied_by = STR("bench") },
                           &plan, &err),
         err.text);
    must(store_subscription_apply(b->store,
                                  &(struct subscription_apply){ .name = STR("shelf"),
                                                                .kind = SUBSCRIPTION_PROJECTION,
                                                                .spec = b->text.json,
                                                                .spec_hash = str_of(b->text.hash),
                                                                .applied_by = STR("bench") },
                                  &applied, &err),
         err.text);
    must(store_subscription_find(b->store, &kept, STR("shelf"), &b->subscription, &found, &err),
         err.text);
}

static void consume(struct bench *b, struct store *store, bool is_draining)
{
    struct projection_tables tables;
    struct consumer_parts parts = { .sink = store,
                                    .stream = store,
                                    .clock = &b->clock,
                                    .random = &b->random,
                                    .wake = is_draining ? NULL : b->wake,
                                    .wake_fd = is_draining ? CLOCK_NO_WAKE : b->stop_fd };
    struct consumer_run run = { .lanes = { .subscription = &b->subscription,
                                           .owner = STR("bench") },
                                .is_draining = is_draining };
    struct error err = { 0 };

    must(projection_tables_open(&tables, &b->projection, store, str_of(b->text.hash), &err),
         err.text);
    parts.target = projection_target(&tables);
    projection_configure(&b->projection, &run.lanes);
    must(consumer_run(&parts, &run, NULL, &err), err.text);
}

/* ---- a bus in RAM ---- */

static bool give(struct bus *bus, struct arena *arena, const struct bus_poll *poll,
                 struct bus_delivery_list *list, struct error *err)
{
    struct bench *b = (struct bench *)bus;

    for (; list->count < poll->messages_max && b->given < b->events; b->given++) {
        const struct foreign_event e = event_of(arena, b->events + b->given);
        struct bus_attribute *attributes = ARENA_ARRAY(arena, struct bus_attribute, 6);
        struct bus_delivery *d = LIST_ADD(arena, list);

        if (attributes == NULL || d == NULL)
            return arena_error(arena, err);
        attributes[0] = (struct bus_attribute){ STR("event_id"), e.event.event_id };
        attributes[1] = (struct bus_attribute){ STR("event_type"), e.event.event_type };
        attributes[2] = (struct bus_attribute){ STR("aggregate_type"), e.aggregate_type };
        attributes[3] = (struct bus_attribute){ STR("aggregate_id"), e.aggregate_id };
        attributes[4] = (struct bus_attribute){ STR("version"),
                                                arena_printf(arena, "%" PRId64, e.event.version) };
        attributes[5] = (struct bus_attribute){ STR("occurred_at"), STR("2026-01-01T00:00:00Z") };
        *d = (struct bus_delivery){ .message = { .event_id = e.event.event_id,
                                                 .lane = e.event.lane,
                                                 .attributes = attributes,
                                                 .attribute_count = 6,
                                                 .content_type = STR("application/json"),
                                                 .body = e.event.body } };
    }
    return true;
}

static bool settle(struct bus *bus, const struct bus_settlement *list, size_t count,
                   struct error *err)
{
    (void)bus;
    (void)list;
    (void)count;
    (void)err;
    return true;
}

static bool subscribe(struct bus *bus, struct str group, const struct bus_flow *flow,
                      struct error *err)
{
    (void)bus;
    (void)group;
    (void)flow;
    (void)err;
    return true;
}

static bool count_waiting(struct bus *bus, struct bus_lag *lag, struct error *err)
{
    (void)bus;
    (void)err;
    *lag = (struct bus_lag){ .is_known = false };
    return true;
}

static void consume_bus(struct bench *b)
{
    static const struct bus_ops OPS = {
        .poll = give, .settle = settle, .subscribe = subscribe, .lag = count_waiting
    };
    struct projection_tables tables;
    struct bus_consumer_parts parts = { .sink = b->store,
                                        .bus = &b->bus,
                                        .clock = &b->clock,
                                        .random = &b->random,
                                        .wake_fd = CLOCK_NO_WAKE };
    const struct bus_consumer_settings settings = { .key = { STR("patra"), STR("shelf") },
                                                    .offsets = STR("bus/shelf"),
                                                    .owner = STR("me"),
                                                    .wire = { .carrier = WIRE_ATTRIBUTES },
                                                    .messages_max = b->projection.spec.batch_events,
                                                    .bytes_max = b->projection.spec.batch_bytes,
                                                    .is_draining = true };
    struct error err = { 0 };

    b->bus.ops = &OPS;
    b->given = 0;
    must(projection_tables_open(&tables, &b->projection, b->store, str_of(b->text.hash), &err),
         err.text);
    parts.target = projection_target(&tables);
    must(bus_consumer_run(&parts, &settings, NULL, &err), err.text);
}

/* ---- latency ---- */

static void *run_publisher(void *context)
{
    struct bench *b = context;
    struct error err = { 0 };
    struct publisher_parts parts = {
        .clock = &b->clock, .random = &b->random, .wake = b->wake, .wake_fd = b->stop_fd
    };

    must(store_another(b->store, &parts.store, &err), err.text);
    must(publisher_run(&parts,
                       &(struct publisher_settings){ .sequencer = { .owner = STR("bench") } }, NULL,
                       &err),
         err.text);
    store_close(parts.store);
    return NULL;
}

static void *run_consumer(void *context)
{
    struct bench *b = context;
    struct error err = { 0 };
    struct store *store;

    must(store_another(b->store, &store, &err), err.text);
    consume(b, store, false);
    store_close(store);
    return NULL;
}

static void wait_for_row(struct store *look, const struct sink_tables *tables, int64_t n)
{
    char id[32];
    struct sink_key key = { STR("work"), STR("") };
    struct sink_seen seen = { 0 };
    struct error err = { 0 };
    bool found;

    (void)snprintf(id, sizeof(id), "k%" PRId64, n % KEYS);
    key.aggregate_id = str_of(id);
    do
        must(store_sink_row(look, tables, 0, &key, &seen, &found, &err), err.text);
    while (!found || seen.version < 1 + n / KEYS);
}

static void latency(struct bench *b)
{
    static double samples[SAMPLES];
    const struct sink_tables *tables;
    pthread_t publisher, consumer;
    const uint64_t one = 1;
    struct error err = { 0 };
    struct store *look;

    must(wake_open(&b->wake, &b->random, &err), err.text);
    b->store->listener = wake_listener(b->wake);
    must(store_another(b->store, &look, &err), err.text);
    must(store_sink_tables(look, &b->projection.spec, SINK_LIVE, &tables, &err), err.text);
    b->stop_fd = eventfd(0, EFD_CLOEXEC);
    must(pthread_create(&publisher, NULL, run_publisher, b) == 0 &&
             pthread_create(&consumer, NULL, run_consumer, b) == 0,
         "threads");
    (void)usleep(US_PER_SECOND / 2);
    for (int i = 0; i < SAMPLES; i++) {
        double from_s;

        (void)usleep(PAUSE_US);
        write_events(b, 1);
        from_s = now_s();
        wait_for_row(look, tables, b->next - 1);
        samples[i] = now_s() - from_s;
    }
    (void)!write(b->stop_fd, &one, sizeof(one));
    (void)pthread_join(publisher, NULL);
    (void)pthread_join(consumer, NULL);
    b->store->listener = NULL;
    wake_close(b->wake);
    (void)close(b->stop_fd);
    store_close(look);
    seconds_sort(samples, SAMPLES);
    (void)printf("latency   P50 %.2f ms, P99 %.2f ms\n", samples[SAMPLES / 2] * 1e3,
                 samples[SAMPLES * 99 / 100] * 1e3);
}

/* ---- all ---- */

static void measure(const char *dsn, int64_t events)
{
    struct bench b = { .events = events, .clock = system_clock(), .random = system_random() };
    struct error err = { 0 };
    double from_s;
    int64_t taken;

    arena_init(&b.arena, 256 << 20);
    must(store_open(str_of(dsn), &(struct store_options){ .create = true }, &b.store, &err),
         err.text);
    must(store_migrate(b.store, 1, &taken, &err), err.text);
    apply(&b);
    write_events(&b, events);
    sequence(&b);
    from_s = now_s();
    consume(&b, b.store, true);
    (void)printf("stream    %.0f events/s\n", (double)events / (now_s() - from_s));
    write_records(&b, events / CHUNK * CHUNK);
    sequence(&b);
    from_s = now_s();
    consume(&b, b.store, true);
    (void)printf("records   %.0f events/s\n",
                 (double)(events / CHUNK * CHUNK) / (now_s() - from_s));
    from_s = now_s();
    consume_bus(&b);
    (void)printf("bus       %.0f events/s, with the inbox\n", (double)events / (now_s() - from_s));
    b.next = 3 * events;
    latency(&b);
    projection_close(&b.projection);
    store_close(b.store);
    arena_release(&b.arena);
}

int main(int argc, char **argv)
{
    const int64_t events = argc > 1 ? strtoll(argv[1], NULL, 10) : EVENTS;
    char path[] = "/dev/shm/bench_consume.XXXXXX";
    char more[sizeof(path) + 8];
    struct error err = { 0 };
    const char *dsn;

    must(close(mkstemp(path)) == 0, "a file");
    (void)printf("SQLite, %" PRId64 " events\n", events);
    measure(path, events);
    for (int i = 0; i < 3; i++) {
        (void)snprintf(more, sizeof(more), "%s%s", path, i == 0 ? "" : i == 1 ? "-wal" : "-shm");
        (void)unlink(more);
    }
    postgres_in_earnest();
    dsn = postgres_new_database(&err);
    if (dsn == NULL) {
        puts("bench_consume: PostgreSQL is not installed");
        return 0;
    }
    (void)printf("PostgreSQL, %" PRId64 " events\n", events);
    measure(dsn, events);
    return 0;
}
