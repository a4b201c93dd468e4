/* bench_audit: how long patra audit takes.
 *
 * On a SQLite file of its own in /tmp, and on a PostgreSQL of its own, if installed:
 * PATRA_AUDIT_ROWS records (1,000,000), and a table with as many rows, of which 100 are missing,
 * stale or extra. Prints how long it took to name them. Wanted: 10 s or less. An argument, "sqlite"
 * or "postgres", chooses one.
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

static void set_up(struct store *store, struct arena *arena, struct projection_spec *spec)
{
    struct projection_text text;
    struct fault_list faults;
    struct sink_plan plan;
    struct error err = { 0 };
    int64_t taken;

    fault_list_init(&faults, arena);
    if (!projection_read(arena, str_of(FILE_TEXT), &faults, spec))
        die("the file");
    if (!store_migrate(store, NOW_US, &taken, &err) ||
        !projection_compile(arena, spec, &text, &err) ||
        !store_sink_set_up(
            store, arena,
            &(struct sink_set_up){ spec, text.json, str_of(text.hash), STR("bench"), NOW_US },
            &plan, &err))
        die(err.text);
}

static void fill_store(struct fill *fill, int64_t rows)
{
    fill_rows(fill,
              "INSERT INTO ing_record (id, provenance_code, endpoint_name, provider_id, version,"
              " deleted, content_hash, expr_hash, observed_at, checked_at, created_at)"
              " SELECT n, 'daily', 'works', 'w' || n, 3, {no}, 'h', 'e', {at 1767225600000000},"
              " {at 1767225600000000}, {at 1767225600000000} {series}",
              rows);
    fill_rows(fill,
              "INSERT INTO ing_record_content (record_id, payload) SELECT n, {bytes} {series}",
              rows);
    fill_rows(fill,
              "INSERT INTO shelf (id, version, deleted, title) SELECT 'w' || n, 3, {no}, 't'"
              " {series}",
              rows);
    fill_run(fill, "DELETE FROM shelf WHERE id IN (SELECT id FROM shelf ORDER BY id LIMIT 40)");
    fill_run(fill, "UPDATE shelf SET version = 2 WHERE id IN (SELECT id FROM shelf ORDER BY id DESC"
                   " LIMIT 40)");
    fill_rows(fill,
              "INSERT INTO shelf (id, version, deleted, title) SELECT 'x' || n, 1, {no}, 't'"
              " {series}",
              PLANTED - 80);
    fill_run(fill, fill->is_sqlite ? "ANALYZE" : "VACUUM ANALYZE");
}

static void measure(struct fill *fill, int64_t rows)
{
    struct audit_request request = { .key = { SUBSCRIPTION_GROUP, STR("shelf") } };
    struct projection_spec spec;
    struct audit_result result;
    struct arena arena;
    struct error err = { 0 };
    double from;

    arena_init(&arena, ARENA_MAX);
    request.store = open_store(fill->dsn);
    request.sink = open_store(fill->dsn);
    request.spec = &spec;
    set_up(request.store, &arena, &spec);
    fill_store(fill, rows);
    if (!store_sink_tables(request.sink, &spec, SINK_LIVE, &request.tables, &err))
        die(err.text);
    from = now_s();
    if (!audit_projection(&request, &arena, &result, &err))
        die(err.text);
    printf("%s, %" PRId64 " rows: %zu of %d differences named in %.1f s\n",
           fill->is_sqlite ? "SQLite" : "PostgreSQL", rows, result.differences.count, PLANTED,
           now_s() - from);
    store_close(request.sink);
    store_close(request.store);
    arena_release(&arena);
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
