/* bench_page: how long the pages of the dashboard take, with 60,000 slices.
 *
 * On a SQLite file of its own in /tmp, and on a PostgreSQL of its own, if installed: a campaign of
 * 60,000 days. Of three tasks one is done, one of 97 failed, the others wait. Asks for each board
 * through the API, without sockets, and prints the P50 and P95 of it, the CPU time of this process
 * (the better number on a busy machine), and its size. Wanted: the first page in 300 ms or less. An
 * argument, "sqlite" or "postgres", chooses one. fill.h says how a database is kept.
 */
#include <inttypes.h>
#include <stdio.h>
#include <stdlib.h>

#include "adapter/store_open.h"
#include "adapter/system/system.h"
#include "base/instant.h"
#include "engine/plan/plan.h"
#include "engine/source/source_store.h"
#include "fill.h"
#include "seconds.h"
#include "serve/api.h"

enum { ARENA_MAX = 256 << 20, ASKED = 20, SLICES = 60000 };

#define NOW_US (INT64_C(1767225600) * US_PER_SECOND)

static void die(const char *what)
{
    fprintf(stderr, "bench_page: %s\n", what);
    exit(1);
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

static void plan(struct store *store)
{
    const struct plan_request request = { .source = STR("daily"),
                                          .operation = STR("backfill"),
                                          .now_us = NOW_US,
                                          .trigger = TRIGGER_MANUAL,
                                          .from = { true, NOW_US - SLICES * US_PER_DAY },
                                          .to = { true, NOW_US } };
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
        !plan_trigger(store, &arena, &request, &result, &err))
        die(err.text);
    printf("%" PRId64 " slices\n", result.slices);
    arena_release(&arena);
}

static void fill(struct fill *fill)
{
    fill_run(fill, "UPDATE ing_task SET status_code = 'SUCCEEDED', finished_at = created_at"
                   " WHERE id % 3 = 0");
    fill_run(fill, "UPDATE ing_task SET status_code = 'FAILED', finished_at = created_at,"
                   " last_error = 'daily/works: GET https://api.example.org/works: status 400'"
                   " WHERE id % 97 = 1");
    fill_run(fill, "INSERT INTO ing_task_run (task_id, attempt_no, provenance_code, operation_code,"
                   " lease_owner, lease_epoch, status_code, stats, error, started_at, finished_at,"
                   " updated_at) SELECT id, 1, 'daily', 'BACKFILL', 'w', 1, status_code, '{}',"
                   " last_error, created_at, created_at, created_at FROM ing_task"
                   " WHERE status_code <> 'QUEUED' ORDER BY id");
    fill_done(fill);
}

/* ---- asking ---- */

static int64_t stands_still(struct clock *clock)
{
    (void)clock;
    return NOW_US + US_PER_MINUTE;
}

static size_t get(struct api *api, struct arena *arena, const char *target)
{
    const struct web_request request = { .method = STR("GET"),
                                         .target = str_of(target),
                                         .host = STR("localhost"),
                                         .peer = STR("127.0.0.1"),
                                         .is_loopback = true };
    struct web_response response = { 0 };
    struct web_handler *handler = api_handler(api);

    arena_reset(arena);
    handler->handle(handler, 0, arena, &request, &response);
    if (response.status != 200) {
        fprintf(stderr, "bench_page: %s: %d\n", target, response.status);
        exit(1);
    }
    return response.body.len;
}

static void ask(struct api *api, const char *target)
{
    double took_s[ASKED], cpu_s;
    struct arena arena;
    size_t bytes = 0;

    arena_init(&arena, ARENA_MAX);
    cpu_s = process_cpu_s();
    for (int i = 0; i < ASKED; i++) {
        const double from_s = now_s();

        bytes = get(api, &arena, target);
        took_s[i] = now_s() - from_s;
    }
    cpu_s = (process_cpu_s() - cpu_s) / ASKED;
    seconds_sort(took_s, ASKED);
    printf("  %-22s P50 %7.1f ms   P95 %7.1f ms   CPU %7.1f ms   %6zu kB\n", target,
           took_s[ASKED / 2] * 1e3, took_s[ASKED * 95 / 100] * 1e3, cpu_s * 1e3, bytes / 1000);
    arena_release(&arena);
}

static void measure(struct fill *filling)
{
    static const char *const targets[] = {
        "/",     "/runs",   "/runs/plan/1", "/runs/task/98", "/cursors",   "/cursors/daily",
        "/gate", "/events", "/errors",      "/records",      "/v1/status", "/v1/coverage/daily"
    };
    struct random_source random = system_random();
    struct clock clock = system_clock();
    struct store *store = NULL;
    struct error err = { 0 };
    struct api *api;

    if (!store_open(str_of(filling->dsn), &(struct store_options){ .create = true }, &store, &err))
        die(err.text);
    if (!fill_is_done(filling)) {
        plan(store);
        fill(filling);
    }
    clock.now_us = stands_still;
    if (!api_open(&api,
                  &(struct api_settings){
                      .store = store, .seats = 1, .clock = &clock, .random = &random },
                  &err))
        die(err.text);
    printf("%s\n", filling->is_sqlite ? "SQLite" : "PostgreSQL");
    for (size_t i = 0; i < ARRAY_LEN(targets); i++)
        ask(api, targets[i]);
    api_close(api);
    store_close(store);
}

int main(int argc, char **argv)
{
    for (int i = 0; i < 2; i++) {
        struct fill filling;

        if (!fill_begin(&filling, i == 0, argc > 1 ? argv[1] : ""))
            continue;
        measure(&filling);
        fill_end(&filling);
    }
    return 0;
}
