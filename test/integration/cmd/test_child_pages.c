/* Children in pages, as a user meets them. In the simulator each record of the world is the child
 * of one other, three to a parent, two on a page; its own books say which must be stored. */
#include <assert.h>
#include <signal.h>
#include <stdio.h>
#include <time.h>

#include "cli.h"
#include "run.h"
#include "sim_source.h"
#include "sql.h"
#include "test.h"

/* A third of the records are parents with two pages; the others have one, without children. */
enum { TEXT_BYTES = 512, PATIENCE_MS = 30000, RECORDS = 150, PAGES = RECORDS + RECORDS / 3 };

#define NAME "generic-child-pages"
#define WORLD "--records", "150", "--deleted-ppm", "0", "--merged-ppm", "0", "--late-ppm", "0"

static const char SOURCE[] = "test/data/sim-sources/generic-child-pages.yaml";
static const char FETCHED[] = "SELECT count(*) FROM ing_child_fetch";
static const char STORED[] = "SELECT count(*) FROM ing_task_run_batch b JOIN ing_plan p"
                             " ON p.id = b.plan_id WHERE p.operation_code = 'UPDATE'"
                             " AND b.status_code = 'SUCCEEDED'"
                             " AND CAST(b.request_digest AS text) <> '{}'";

static void begin(const char *store, const struct sim *sim)
{
    struct run run;

    sim_source_apply_file(store, sim, SOURCE, "rate.burst=500");
    run = RUN("patra", "harvest", NAME, "--from", "2026-01-01", "--to", "2026-04-01", "--quiet",
              "--store", store);
    REQUIRE(run.code == 0, run.talk.data);
}

static struct run update(const char *store)
{
    return RUN("patra", "update", NAME, "--operation", "parts", "--quiet", "--store", store);
}

/* Nothing is missing, stale or extra, and each version has its event. */
static void check_truth(const char *store, const struct sim *sim)
{
    char address[TEXT_BYTES];
    struct run run;

    (void)snprintf(address, sizeof(address), "%s%s", store[0] == '/' ? "sqlite:" : "", store);
    run = RUN("patra-sim", "verify", "--store", address, "--protocol", "generic", "--source", NAME,
              "--endpoint", "parts", "--from", "2026-01-01", "--to", "2026-04-01", "--url",
              sim->base);
    CHECK_EQ(run.code, 0, run.out.data);
    CHECK_EQ(sql_number(store, FETCHED), RECORDS, "every parent");
    CHECK_EQ(sql_number(store, "SELECT count(*) FROM ing_record r WHERE r.version <>"
                               " (SELECT count(*) FROM ing_outbox o WHERE o.record_id = r.id)"),
             0, "one event per version of each record");
}

TEST(all_pages_of_each_parent_are_requested_once)
{
    const char *store = cli_sqlite("pages");
    struct sim sim = SIM_SOURCE_START(WORLD);
    struct run run;

    static_assert(PAGES == 200, "as many requests as pages");
    begin(store, &sim);
    run = update(store);
    CHECK_EQ(run.code, 0, run.talk.data);
    check_truth(store, &sim);
    CHECK_EQ(sql_number(store, STORED), PAGES, "each page once");
    CHECK(cli_has(run.out, "requests    200 "), run.out.data);
    CHECK_EQ(update(store).code, 0, "the second time");
    CHECK_EQ(sql_number(store, STORED), PAGES, "nothing was requested");
    sim_stop(&sim);
}

/* Pages that are empty, repeated or shifted, and totals that move: each list is read again, or its
 * parent is due again. */
TEST(pages_that_lie_for_a_while_lose_nothing)
{
    static const char *const faults[] = {
        "kind=empty_page",   "kind=repeat_page",     "kind=shift_page",
        "kind=moving_total", "kind=status code=503", "query=page=2 kind=status code=404",
    };

    for (size_t i = 0; i < ARRAY_LEN(faults); i += TEST_IS_SLOW ? 2 : 1) {
        char fault[TEXT_BYTES], name[32];
        struct sim sim;
        const char *store;

        (void)snprintf(fault, sizeof(fault), "path=/generic/records %s every=7 times=20",
                       faults[i]);
        (void)snprintf(name, sizeof(name), "lies%zu", i);
        store = cli_sqlite(name);
        sim = SIM_SOURCE_START(WORLD, "--fault", fault);
        begin(store, &sim);
        for (int k = 0; k < 4 && sql_number(store, FETCHED) < RECORDS; k++)
            (void)update(store);
        check_truth(store, &sim);
        sim_stop(&sim);
    }
}

/* ---- a process that is killed ---- */

static void wait_for(const char *store, int64_t pages)
{
    const struct timespec pause = { 0, 20000000 };

    for (int i = 0; i < PATIENCE_MS / 20; i++) {
        if (sql_number(store, STORED) >= pages)
            return;
        (void)nanosleep(&pause, NULL);
    }
    REQUIRE(false, "the worker does something");
}

static void kill_workers(const char *store)
{
    struct sim sim = SIM_SOURCE_START(WORLD);
    char url[TEXT_BYTES];
    struct run run;

    (void)snprintf(url, sizeof(url), "http.base_url=%s", sim.base);
    begin(store, &sim);
    run = RUN("patra", "source", "apply", SOURCE, "--store", store, "--set", url, "--set",
              "rate.adaptive=false", "--set", "rate.per_second=100", "--set", "rate.burst=2");
    REQUIRE(run.code == 0, run.talk.data);
    REQUIRE(RUN("patra", "trigger", NAME, "parts", "--store", store).code == 0, "trigger");
    for (int64_t pages = 21; pages < 150; pages += 40) {
        struct running worker = RUN_BEGIN("patra", "work", "--drain", "--workers", "2", "--lease",
                                          "1s", "--store", store);

        wait_for(store, pages);
        (void)kill(worker.pid, SIGKILL);
        CHECK_EQ(run_end(&worker).code, 128 + SIGKILL, "killed");
    }
    CHECK_EQ(RUN("patra", "work", "--drain", "--lease", "1s", "--store", store).code, 0, "resumed");
    CHECK_EQ(sql_number(store, STORED), PAGES, "each page is stored once");
    check_truth(store, &sim);
    sim_stop(&sim);
}

TEST(killed_workers_go_on_in_the_middle_of_a_parent)
{
    kill_workers(cli_sqlite("killed"));
}

TEST(killed_workers_go_on_in_the_middle_of_a_parent_in_postgres)
{
    kill_workers(cli_postgres());
}

/* ---- trying it ---- */

TEST(a_list_of_children_is_tried_with_the_id_of_a_parent)
{
    struct sim sim = SIM_SOURCE_START(WORLD);
    char url[TEXT_BYTES];
    struct run run;

    (void)snprintf(url, sizeof(url), "http.base_url=%s", sim.base);
    run = RUN("patra", "source", "test", SOURCE, "--operation", "parts", "--live", "--set", url,
              "--id", "r00000017");
    CHECK_EQ(run.code, 0, run.talk.data);
    CHECK(cli_has(run.out, "2 items: 2 records, 0 bad"), run.out.data);
    run = RUN("patra", "source", "test", SOURCE, "--operation", "parts", "--live", "--set", url,
              "--id", "r00000017", "--pages", "5");
    CHECK_EQ(run.code, 0, run.talk.data);
    CHECK(cli_has(run.out, "r00000053"), run.out.data);
    sim_stop(&sim);
}
