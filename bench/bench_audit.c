/* bench_audit: how long patra audit takes.
 *
 * On a SQLite file of its own in /tmp, and on a PostgreSQL of its own, if installed:
 * PATRA_AUDIT_ROWS records (1,000,000), and a table with as many rows, of which 100 are missing,
 * stale, revived or extra. Prints how long it took to name them, whether these and no others were
 * named, how long the repair took, and what an audit after it says. Wanted: 10 s or less for the
 * first. An argument, "sqlite" or "postgres", chooses one. fill.h says how a database is kept; the
 * repair is undone at the end.
 */
#include <inttypes.h>
#include <stdio.h>
#include <stdlib.h>
#include <time.h>

#include "adapter/store_open.h"
#include "engine/audit/audit.h"
#include "fill.h"
#include "port/store_subscription.h"
#include "spec/projection.h"

enum { ARENA_MAX = 256 << 20, ROWS = 1000000, PLANTED = 100 };

#define NOW_US INT64_C(1767225600000000)

static const char FILE_TEXT[] = "projection: shelf\n"
                                "tables:\n"
                                "  shelf:\n"
                                "    key: { type: none, id: id }\n"
                                "    columns: { title: { path: $.fields.title } }\n"
                                "    from: [{ aggregates: [daily/works] }]\n";

static void die(const char *what)
{
    fprintf(stderr, "bench_audit: %s\n", what);
    exit(1);
}

static double now_s(void)
{
    struct timespec t;

    (void)clock_gettime(CLOCK_MONOTONIC, &t);
    return (double)t.tv_sec + (double)t.tv_nsec * 1e-9;
}

static struct store *open_store(const char *dsn)
{
    struct store *store = NULL;
    struct error err = { 0 };

    if (!store_open(str_of(dsn), &(struct store_options){ .create = true }, &store, &err))
        die(err.text);
    return store;
}

struct bench {
    struct fill *fill;
    int64_t rows;
    struct projection_spec spec;
    const struct projector *projector;
    struct audit_request request;
    struct arena arena;
};

static void set_up(struct bench *b)
{
    struct arena *arena = &b->arena;
    struct subscription_applied applied;
    struct projection_text text;
    struct fault_list faults;
    struct sink_plan plan;
    struct error err = { 0 };
    int64_t taken;

    fault_list_init(&faults, arena);
    if (!projection_read(arena, str_of(FILE_TEXT), &faults, &b->spec))
        die("the file");
    if (!store_migrate(b->request.store, NOW_US, &taken, &err) ||
        !projection_compile(arena, &b->spec, &text, &err) ||
        !project_compile(arena, &b->spec, &b->projector, &err) ||
        !store_sink_set_up(
            b->request.store, arena,
            &(struct sink_set_up){ &b->spec, text.json, str_of(text.hash), STR("bench"), NOW_US },
            &plan, &err) ||
        !store_subscription_apply(b->request.store,
                                  &(struct subscription_apply){ .name = STR("shelf"),
                                                                .kind = SUBSCRIPTION_PROJECTION,
                                                                .spec = text.json,
                                                                .spec_hash = str_of(text.hash),
                                                                .policy = POLICY_WAIT,
                                                                .applied_by = STR("bench"),
                                                                .now_us = NOW_US },
                                  &applied, &err))
        die(err.text);
}

/* ---- filling ---- */

/* The first records of each part of all records are as this says. */
enum { PARTS = 20 };
static const enum audit_kind kinds[] = { AUDIT_MISSING, AUDIT_MISSING, AUDIT_STALE, AUDIT_REVIVED };

static void plant(const struct bench *b)
{
    const int64_t step = b->rows / PARTS;
    char sql[512];

    fill_run(b->fill, "DELETE FROM shelf WHERE id LIKE 'x%'");
    (void)snprintf(sql, sizeof(sql),
                   "DELETE FROM shelf WHERE id IN (SELECT 'w' || id FROM ing_record"
                   " WHERE id %% %" PRId64 " IN (0, 1))",
                   step);
    fill_run(b->fill, sql);
    (void)snprintf(sql, sizeof(sql),
                   "UPDATE shelf SET version = 2 WHERE id IN (SELECT 'w' || id FROM ing_record"
                   " WHERE id %% %" PRId64 " = 2)",
                   step);
    fill_run(b->fill, sql);
    fill_rows(b->fill,
              "INSERT INTO shelf (id, version, deleted, title) SELECT 'x' || n, 1, {no}, 't'"
              " {series}",
              PARTS);
}

/* The records that get a difference have an event, so that it can be repaired. */
static void fill_events(const struct bench *b)
{
    const int64_t step = b->rows / PARTS;
    char sql[512];

    (void)snprintf(sql, sizeof(sql),
                   "UPDATE ing_record_state SET deleted = %s WHERE id %% %" PRId64 " = 3",
                   b->fill->is_sqlite ? "1" : "true", step);
    fill_run(b->fill, sql);
    (void)snprintf(sql, sizeof(sql),
                   "INSERT INTO ing_outbox (record_id, version, occurred_at, event_id, lane,"
                   " schema_version, event_type, body) SELECT n, 3, {at 1767225600000001}, {uuid},"
                   " n %% 64, 1, CASE n %% %" PRId64 " WHEN 3 THEN 'RecordDeleted'"
                   " ELSE 'RecordUpdated' END, {bytes} {series} WHERE n %% %" PRId64 " < 4",
                   step, step);
    fill_rows(b->fill, sql, b->rows);
    fill_run(b->fill, fill_stream(b->fill));
    fill_run(b->fill, "UPDATE ing_offset SET stream_pos = 1000");
}

static void fill_store(const struct bench *b)
{
    fill_run(b->fill, "INSERT INTO ing_record_endpoint (provenance_code, endpoint_name)"
                      " VALUES ('daily', 'works')");
    fill_rows(b->fill,
              "INSERT INTO ing_record_state (id, endpoint_id, expr_id, provider_id, version,"
              " deleted, content_hash, checked_week, observed_at, checked_at, created_at)"
              " SELECT n, 1, 1, 'w' || n, 3, {no}, {none}, 2922, {at 1767225600000000},"
              " {at 1767225600000000}, {at 1767225600000000} {series}",
              b->rows);
    fill_rows(b->fill,
              "INSERT INTO ing_record_content (record_id, payload) SELECT n, {bytes} {series}",
              b->rows);
    fill_rows(b->fill,
              "INSERT INTO shelf (id, version, deleted, title) SELECT 'w' || n, 3, {no}, 't'"
              " {series}",
              b->rows);
    fill_events(b);
    plant(b);
    fill_done(b->fill);
}

/* ---- measuring ---- */

/* Whether the difference is one that was planted. */
static bool is_planted(const struct bench *b, const struct audit_difference *difference)
{
    const char *id = difference->key.aggregate_id.data;
    const int64_t n = strtoll(id + 1, NULL, 10);
    const int64_t place = n % (b->rows / PARTS);

    if (id[0] == 'x')
        return difference->kind == AUDIT_EXTRA && n >= 1 && n <= PARTS;
    return id[0] == 'w' && place < (int64_t)(sizeof(kinds) / sizeof(kinds[0])) &&
           difference->kind == kinds[place];
}

static void audit(const struct bench *b, struct audit_result *result)
{
    const double from = now_s();
    struct error err = { 0 };
    size_t planted = 0;

    if (!audit_projection(&b->request, (struct arena *)&b->arena, result, &err))
        die(err.text);
    for (size_t i = 0; i < result->differences.count; i++)
        planted += is_planted(b, &result->differences.items[i]);
    printf("  %zu differences named in %.2f s, of %" PRId64 " keys; %zu of them planted; %" PRId64
           " buckets differed\n",
           result->differences.count, now_s() - from, result->keys, planted, result->buckets);
}

static void repair(const struct bench *b, struct audit_result *result)
{
    const double from = now_s();
    struct error err = { 0 };
    size_t repaired = 0;

    if (!audit_repair(&b->request, b->projector, (struct arena *)&b->arena, &result->differences,
                      &err))
        die(err.text);
    for (size_t i = 0; i < result->differences.count; i++)
        repaired += result->differences.items[i].is_repaired;
    printf("  %zu repaired in %.2f s\n", repaired, now_s() - from);
}

static void measure(struct fill *fill, int64_t rows)
{
    struct bench b = { .fill = fill,
                       .rows = rows,
                       .request = { .key = { SUBSCRIPTION_GROUP, STR("shelf") } } };
    struct audit_result result;
    struct error err = { 0 };

    arena_init(&b.arena, ARENA_MAX);
    b.request.store = open_store(fill->dsn);
    b.request.sink = open_store(fill->dsn);
    b.request.offsets = b.request.sink;
    b.request.spec = &b.spec;
    set_up(&b);
    if (!fill_is_done(fill))
        fill_store(&b);
    if (!store_sink_tables(b.request.sink, &b.spec, SINK_LIVE, &b.request.tables, &err))
        die(err.text);
    printf("%s, %" PRId64 " rows, %d planted differences\n",
           fill->is_sqlite ? "SQLite" : "PostgreSQL", rows, PLANTED);
    audit(&b, &result);
    repair(&b, &result);
    audit(&b, &result);
    if (fill->is_kept) {
        fill_run(fill, fill->is_sqlite ? "UPDATE shelf SET deleted = 0 WHERE deleted"
                                       : "UPDATE shelf SET deleted = false WHERE deleted");
        plant(&b);
    }
    store_close(b.request.sink);
    store_close(b.request.store);
    arena_release(&b.arena);
}

int main(int argc, char **argv)
{
    const char *text = getenv("PATRA_AUDIT_ROWS");
    const int64_t rows = text != NULL ? strtoll(text, NULL, 10) : ROWS;

    if (rows < 1000)
        die("PATRA_AUDIT_ROWS: at least 1000");
    for (int i = 0; i < 2; i++) {
        struct fill fill;

        if (!fill_begin(&fill, i == 0, argc > 1 ? argv[1] : ""))
            continue;
        measure(&fill, rows);
        fill_end(&fill);
    }
    return 0;
}
