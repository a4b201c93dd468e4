/* bench_why: how long patra why takes in a store with many records.
 *
 * On a SQLite file of its own in /tmp, and on a PostgreSQL of its own, if installed: 10,000 windows
 * of a day, PATRA_WHY_RECORDS records (200,000) with an event each in the stream, the ids that
 * listed them, and a signal or a quarantined item for each hundredth id that is not there. Three
 * relays and a projection, whose table has every record, have read all of it. Asks for records that
 * are there, and for ids that are not, with a date and without, and in another case; prints the P50
 * and P95 of each. Wanted: a P95 of 100 ms or less with 10,000,000. An argument, "sqlite" or
 * "postgres", chooses one. fill.h says how a database is kept.
 */
#include <inttypes.h>
#include <stdio.h>
#include <stdlib.h>
#include <time.h>

#include "adapter/store_open.h"
#include "base/instant.h"
#include "engine/plan/plan.h"
#include "engine/source/source_store.h"
#include "fill.h"
#include "port/store_sink.h"
#include "port/store_subscription.h"
#include "spec/bus.h"
#include "spec/projection.h"
#include "view/why.h"

enum { ARENA_MAX = 256 << 20, ASKED = 200, RECORDS = 200000 };

#define NOW_US (INT64_C(1767225600) * US_PER_SECOND)
#define DAYS 10000

static void die(const char *what)
{
    fprintf(stderr, "bench_why: %s\n", what);
    exit(1);
}

static double now_ms(void)
{
    struct timespec t;

    (void)clock_gettime(CLOCK_MONOTONIC, &t);
    return (double)t.tv_sec * 1e3 + (double)t.tv_nsec * 1e-6;
}

/* ---- the store ---- */

static struct str read_source(struct arena *arena)
{
    const size_t max = 65536;
    char *text = ARENA_ARRAY(arena, char, max);
    FILE *file = fopen("test/data/plan/daily.yaml", "rb");
    size_t len;

    if (file == NULL || text == NULL)
        die("run it in the folder that has test/data");
    len = fread(text, 1, max, file);
    (void)fclose(file);
    return (struct str){ text, len };
}

struct bench {
    struct fill *fill;
    int64_t records;
};

static void plan(struct store *store)
{
    struct fault_list faults;
    struct source_applied applied;
    struct plan_result result;
    struct source source;
    struct arena arena;
    struct error err = { 0 };
    int64_t taken;

    arena_init(&arena, ARENA_MAX);
    fault_list_init(&faults, &arena);
    if (!store_migrate(store, NOW_US - US_PER_HOUR, &taken, &err) ||
        !source_read(&arena, &(struct source_text){ .file = read_source(&arena) }, &faults,
                     &source) ||
        !source_apply(store, &arena, &source, NOW_US - US_PER_HOUR, &applied, &err) ||
        !plan_trigger(store, &arena,
                      &(struct plan_request){ .source = STR("daily"),
                                              .operation = STR("backfill"),
                                              .now_us = NOW_US,
                                              .trigger = TRIGGER_MANUAL,
                                              .from = { true, NOW_US - DAYS * US_PER_DAY },
                                              .to = { true, NOW_US } },
                      &result, &err))
        die(err.text);
    arena_release(&arena);
}

static void fill(const struct bench *bench)
{
    const int64_t n = bench->records;

    fill_run(bench->fill,
             "UPDATE ing_task SET status_code = 'SUCCEEDED', finished_at = created_at");
    fill_run(bench->fill,
             "INSERT INTO ing_task_run (task_id, attempt_no, provenance_code, operation_code,"
             " lease_owner, lease_epoch, status_code, stats, error, started_at, finished_at,"
             " updated_at) SELECT id, 1, 'daily', 'BACKFILL', 'w', 1, 'SUCCEEDED', '{}', '',"
             " created_at, created_at, created_at FROM ing_task ORDER BY id");
    fill_run(bench->fill, "INSERT INTO ing_record_endpoint (provenance_code, endpoint_name)"
                          " VALUES ('daily', 'works')");
    fill_rows(
        bench->fill,
        "INSERT INTO ing_record_state (id, endpoint_id, expr_id, provider_id, updated_at,"
        " version, deleted, content_hash, checked_week, observed_at, checked_at, created_at,"
        " batch_id) SELECT n, 1, 1, 'w' || n,"
        " {at 1767225600000000 - (n * 7919 % 10000) * 86400000000 - 1}, 1, {no}, {none}, 2922,"
        " {at 1767225600000000}, {at 1767225600000001}, {at 1767225600000001},"
        " (n - 1) / 500 + 1 {series}",
        n);
    fill_rows(bench->fill,
              "INSERT INTO ing_record_content (record_id, payload) SELECT n, {bytes} {series}", n);
    fill_rows(bench->fill,
              "INSERT INTO ing_outbox (record_id, version, batch_id, occurred_at, event_id, lane,"
              " schema_version, event_type, body) SELECT n, 1, (n - 1) / 500 + 1,"
              " {at 1767225600000001}, {uuid}, n * 7919 % 64, 1, 'RecordCreated', {bytes} {series}",
              n);
    fill_run(bench->fill, fill_stream(bench->fill));
    fill_run(
        bench->fill,
        bench->fill->is_sqlite
            ? "UPDATE ing_stream_lane AS l SET last_pos ="
              " (SELECT coalesce(max(pos), 0) FROM ing_stream AS s WHERE s.lane = l.lane)"
            : "UPDATE ing_stream_lane AS l SET last_pos ="
              " (SELECT coalesce(max(last_pos), 0) FROM ing_stream AS s WHERE s.lane = l.lane)");
    fill_run(bench->fill, "UPDATE ing_stream_head SET cursor_id = (SELECT max(id) FROM ing_outbox),"
                          " horizon_id = (SELECT max(id) FROM ing_outbox)");
    fill_rows(
        bench->fill,
        "INSERT INTO ing_task_run_batch (run_id, task_id, slice_id, plan_id, batch_no, expr_hash,"
        " idempotent_key, status_code, request_digest, response_digest, stats, has_next,"
        " created_at) SELECT n % 9000 + 1, n % 9000 + 1, n % 9000 + 1, 1, n, 'e', 'k' || n,"
        " 'SUCCEEDED', {json}, {json}, {json}, {no}, {at 1767225600000001} {series}",
        n / 500 + 1);
    fill_rows(bench->fill,
              "INSERT INTO ing_listed_id (task_id, position, provider_id)"
              " SELECT n % 9000 + 1, n, 'w' || n {series}",
              n);
    fill_rows(
        bench->fill,
        "INSERT INTO ing_signal (provenance_code, endpoint_name, provider_id, reason, created_by,"
        " created_at) SELECT 'daily', 'works', 'm' || (n * 100), 'missing', 'executor',"
        " {at 1767225600000001} {series}",
        n / 100);
    fill_rows(
        bench->fill,
        "INSERT INTO ing_quarantine (provenance_code, endpoint_name, provider_id, reason_code,"
        " detail, batch_position, observed_at, created_at, payload)"
        " SELECT 'daily', 'works', 'm' || (n * 100 + 50), 'date.syntax', '', 0,"
        " {at 1767225600000001}, {at 1767225600000001}, {bytes} {series}",
        n / 100);
}

/* ---- who reads it ---- */

static void subscribe(struct store *store, enum subscription_kind kind, struct str name,
                      struct str spec, const char *hash)
{
    struct subscription_applied applied;
    struct error err = { 0 };

    if (!store_subscription_apply(store,
                                  &(struct subscription_apply){ .name = name,
                                                                .kind = kind,
                                                                .spec = spec,
                                                                .spec_hash = str_of(hash),
                                                                .policy = POLICY_WAIT,
                                                                .from_latest = true,
                                                                .applied_by = STR("bench"),
                                                                .now_us = NOW_US },
                                  &applied, &err))
        die(err.text);
}

static void add_relay(struct store *store, struct arena *arena, int number)
{
    const struct str file = arena_printf(
        arena, "bus: hook%d\ntype: webhook\nurl: http://127.0.0.1:9/\nallow_plain: true\n", number);
    struct fault_list faults;
    struct bus_spec spec;
    struct bus_text text;
    struct error err = { 0 };

    fault_list_init(&faults, arena);
    if (!bus_read(arena, file, &faults, &spec) || !bus_compile(arena, &spec, &text, &err))
        die("a relay");
    subscribe(store, SUBSCRIPTION_RELAY, spec.name, text.json, text.hash);
}

static void add_projection(struct store *store, struct arena *arena)
{
    const struct str file = STR("projection: shelf\ntables:\n  shelf:\n"
                                "    key: { type: none, id: id }\n"
                                "    columns: { title: { path: $.fields.title } }\n"
                                "    from: [{ aggregates: [daily/works] }]\n");
    struct projection_spec spec;
    struct projection_text text;
    struct fault_list faults;
    struct sink_plan plan;
    struct error err = { 0 };

    fault_list_init(&faults, arena);
    if (!projection_read(arena, file, &faults, &spec) ||
        !projection_compile(arena, &spec, &text, &err) ||
        !store_sink_set_up(store, arena,
                           &(struct sink_set_up){ .spec = &spec,
                                                  .json = text.json,
                                                  .hash = str_of(text.hash),
                                                  .applied_by = STR("bench"),
                                                  .now_us = NOW_US },
                           &plan, &err))
        die("a projection");
    subscribe(store, SUBSCRIPTION_PROJECTION, spec.name, text.json, text.hash);
}

/* All of them have read the stream to its end. */
static void add_readers(struct store *store, const struct bench *bench)
{
    struct arena arena;

    arena_init(&arena, ARENA_MAX);
    for (int i = 1; i <= 3; i++)
        add_relay(store, &arena, i);
    add_projection(store, &arena);
    arena_release(&arena);
    fill_rows(bench->fill,
              "INSERT INTO shelf (id, version, deleted, title) SELECT 'w' || n, 1, {no}, 'a title'"
              " {series}",
              bench->records);
}

/* ---- asking ---- */

static int by_size(const void *a, const void *b)
{
    const double left = *(const double *)a, right = *(const double *)b;

    return (left > right) - (left < right);
}

static void ask(struct store *store, const struct bench *bench, const char *label, char prefix,
                bool has_date)
{
    double took[ASKED];
    struct arena arena;

    arena_init(&arena, ARENA_MAX);
    for (int64_t i = 0; i < ASKED; i++) {
        const struct view_reader reader = { .store = store, .arena = &arena, .now_us = NOW_US };
        struct view_why_query query = { .key = { .source = STR("daily") },
                                        .has_date = has_date,
                                        .date_us =
                                            NOW_US - (i * 7919 % DAYS) * US_PER_DAY - US_PER_HOUR };
        const double from = now_ms();
        struct error err = { 0 };
        struct view_why why;

        arena_reset(&arena);
        query.key.provider_id =
            arena_printf(&arena, "%c%" PRId64, prefix, (i * 104729 + 50) % bench->records + 1);
        if (!view_why(&reader, &query, &why, &err))
            die(err.text);
        took[i] = now_ms() - from;
    }
    arena_release(&arena);
    qsort(took, ASKED, sizeof(took[0]), by_size);
    printf("  %-34s P50 %7.2f ms   P95 %7.2f ms\n", label, took[ASKED / 2], took[ASKED * 95 / 100]);
}

static void measure(struct fill *filling, int64_t records)
{
    struct bench bench = { filling, records };
    struct store *store = NULL;
    struct error err = { 0 };
    double from;

    if (!store_open(str_of(filling->dsn), &(struct store_options){ .create = true }, &store, &err))
        die(err.text);
    from = now_ms();
    if (!fill_is_done(filling)) {
        plan(store);
        fill(&bench);
        add_readers(store, &bench);
        fill_done(filling);
    }
    printf("%s, %" PRId64 " records, made in %.0f s\n",
           filling->is_sqlite ? "SQLite" : "PostgreSQL", records, (now_ms() - from) / 1e3);
    ask(store, &bench, "a record that is there", 'w', false);
    ask(store, &bench, "an id that is not there", 'm', false);
    ask(store, &bench, "an id that is not there, with date", 'm', true);
    ask(store, &bench, "an id in another case", 'W', false);
    store_close(store);
}

int main(int argc, char **argv)
{
    const char *text = getenv("PATRA_WHY_RECORDS");
    const int64_t records = text != NULL ? strtoll(text, NULL, 10) : RECORDS;

    if (records < 1000)
        die("PATRA_WHY_RECORDS: at least 1000");
    for (int i = 0; i < 2; i++) {
        struct fill filling;

        if (!fill_begin(&filling, i == 0, argc > 1 ? argv[1] : ""))
            continue;
        measure(&filling, records);
        fill_end(&filling);
    }
    return 0;
}
