/* Parents and children, as a user meets them: the ids of one endpoint's records drive another. In
 * the simulator each record of the world is the child of one other; its own books say which
 * children must be stored. */
#include <signal.h>
#include <stdio.h>
#include <time.h>

#include "cli.h"
#include "run.h"
#include "sim_source.h"
#include "sql.h"
#include "test.h"

enum { TEXT_BYTES = 512, PATIENCE_MS = 30000, RECORDS = 300 };

#define NAME "generic-children"
#define WORLD "--records", "300", "--deleted-ppm", "0", "--merged-ppm", "0", "--late-ppm", "0"

static const char SOURCE[] = "test/data/sim-sources/generic-children.yaml";
static const char PARENTS[] = "SELECT count(*) FROM ing_record WHERE endpoint_name = 'records'";
static const char CHILDREN[] = "SELECT count(*) FROM ing_record WHERE endpoint_name = 'parts'";
static const char FETCHED[] = "SELECT count(*) FROM ing_child_fetch";
/* A request of a parent is a batch; one without a request only ends a walk. */
static const char REQUESTS[] = "SELECT count(*) FROM ing_task_run_batch b JOIN ing_plan p"
                               " ON p.id = b.plan_id WHERE p.operation_code = 'UPDATE'"
                               " AND b.status_code = 'SUCCEEDED'"
                               " AND CAST(b.request_digest AS text) <> '{}'";

static void control(const struct sim *sim, const char *method, const char *path)
{
    char url[TEXT_BYTES];

    (void)snprintf(url, sizeof(url), "%s/_sim/%s", sim->base, path);
    REQUIRE(RUN("/usr/bin/curl", "-sf", "-X", method, url).code == 0, path);
}

static void harvest(const char *store)
{
    const struct run run = RUN("patra", "harvest", NAME, "--from", "2026-01-01", "--to",
                               "2026-04-01", "--quiet", "--store", store);

    CHECK_EQ(run.code, 0, run.talk.data);
}

static void replay(const char *store)
{
    const struct run run = RUN("patra", "replay", NAME, "--from", "2026-01-01", "--to",
                               "2026-04-01", "--quiet", "--store", store);

    CHECK_EQ(run.code, 0, run.talk.data);
}

static struct run update(const char *store)
{
    return RUN("patra", "update", NAME, "--operation", "parts", "--quiet", "--store", store);
}

/* Nothing is missing, stale or extra, and each version has its event. */
static void check_truth(const char *store, const struct sim *sim, const char *what)
{
    char address[TEXT_BYTES];
    struct run run;

    (void)snprintf(address, sizeof(address), "%s%s", store[0] == '/' ? "sqlite:" : "", store);
    run = RUN("patra-sim", "verify", "--store", address, "--protocol", "generic", "--source", NAME,
              "--endpoint", "parts", "--from", "2026-01-01", "--to", "2026-04-01", "--url",
              sim->base);
    CHECK_EQ(run.code, 0, what);
    CHECK_EQ(run.code, 0, run.out.data);
    CHECK_EQ(sql_number(store, "SELECT count(*) FROM ing_record r WHERE r.version <>"
                               " (SELECT count(*) FROM ing_outbox o WHERE o.record_id = r.id)"),
             0, "one event per version of each record");
}

static void let_pass(const char *store, int days)
{
    char sql[TEXT_BYTES];

    if (store[0] == '/')
        (void)snprintf(sql, sizeof(sql),
                       "UPDATE ing_child_fetch SET fetched_at = fetched_at - %d * 86400000000",
                       days);
    else
        (void)snprintf(sql, sizeof(sql),
                       "UPDATE ing_child_fetch SET fetched_at = fetched_at - interval '%d days'",
                       days);
    sql_run(store, sql);
}

/* ---- due or not ---- */

static void follow(const char *store)
{
    struct sim sim = SIM_SOURCE_START(WORLD, "--now", "2026-02-15T00:00:00Z");
    int64_t first, requests;
    struct run run;

    sim_source_apply_file(store, &sim, SOURCE, "rate.burst=500");
    harvest(store);
    first = sql_number(store, PARENTS);
    REQUIRE(first > 50 && first < RECORDS, "a part of the world");
    run = RUN("patra", "trigger", NAME, "parts", "--dry-run", "--json", "--store", store);
    CHECK_EQ(cli_number(run.out, "remarks.totalEstimated"), first, run.out.data);
    CHECK_EQ(update(store).code, 0, "the first time");
    check_truth(store, &sim, "all children of the parents that there are");
    CHECK_EQ(sql_number(store, FETCHED), first, "those that have none, too");
    CHECK_EQ(sql_number(store, REQUESTS), first, "each was requested once");
    CHECK_EQ(update(store).code, 0, "the second time");
    CHECK_EQ(sql_number(store, REQUESTS), first, "nothing was requested");

    control(&sim, "POST", "clock?set=2026-05-01T00:00:00Z");
    replay(store);
    CHECK_EQ(sql_number(store, PARENTS), RECORDS, "new parents");
    CHECK_EQ(update(store).code, 0, "of the new ones");
    CHECK_EQ(sql_number(store, REQUESTS), RECORDS, "only those were requested");

    let_pass(store, 29);
    CHECK_EQ(update(store).code, 0, "a day before they are stale");
    CHECK_EQ(sql_number(store, REQUESTS), RECORDS, "nothing was requested");
    let_pass(store, 2);
    CHECK_EQ(update(store).code, 0, "stale");
    requests = sql_number(store, REQUESTS);
    CHECK_EQ(requests, 2 * RECORDS, "all were requested again");
    check_truth(store, &sim, "what came later, too");
    CHECK_EQ(update(store).code, 0, "the last time");
    CHECK_EQ(sql_number(store, REQUESTS), requests, "nothing was requested");
    sim_stop(&sim);
}

TEST(children_follow_their_parents)
{
    follow(cli_sqlite("follow"));
}

TEST(children_follow_their_parents_in_postgres)
{
    follow(cli_postgres());
}

TEST(another_query_makes_all_parents_due_and_another_mapping_none)
{
    const char *store = cli_sqlite("query");
    struct sim sim = SIM_SOURCE_START(WORLD);

    sim_source_apply_file(store, &sim, SOURCE, "rate.burst=500");
    harvest(store);
    CHECK_EQ(update(store).code, 0, "the first time");
    sim_source_apply_file(store, &sim, SOURCE, "endpoints.parts.fields.type=$.type");
    CHECK_EQ(update(store).code, 0, "another mapping");
    CHECK_EQ(sql_number(store, REQUESTS), RECORDS, "is read from the stored records");
    sim_source_apply_file(store, &sim, SOURCE, "endpoints.parts.query.all=yes");
    CHECK_EQ(update(store).code, 0, "another query");
    CHECK_EQ(sql_number(store, REQUESTS), 2 * RECORDS, "is another request");
    check_truth(store, &sim, "as before");
    sim_stop(&sim);
}

TEST(children_that_were_deleted_with_the_source_come_back_with_it)
{
    const char *store = cli_sqlite("removed");
    struct sim sim = SIM_SOURCE_START(WORLD);
    struct run run;

    sim_source_apply_file(store, &sim, SOURCE, "rate.burst=500");
    harvest(store);
    CHECK_EQ(update(store).code, 0, "the first time");
    run = RUN("patra", "source", "remove", NAME, "--with-data", "--yes", "--store", store);
    REQUIRE(run.code == 0, run.talk.data);
    CHECK_EQ(sql_number(store, FETCHED), 0, "forgotten");
    sim_source_apply_file(store, &sim, SOURCE, "rate.burst=500");
    replay(store);
    CHECK_EQ(update(store).code, 0, "the second time");
    check_truth(store, &sim, "all of them");
    sim_stop(&sim);
}

/* ---- one parent ---- */

TEST(a_parent_that_is_refused_does_not_stop_the_others)
{
    const char *store = cli_sqlite("refused");
    struct sim sim = SIM_SOURCE_START(WORLD, "--fault",
                                      "path=/generic/records/r00000005/parts kind=status code=400");
    struct run run;

    sim_source_apply_file(store, &sim, SOURCE, "rate.burst=500");
    harvest(store);
    (void)update(store);
    CHECK_EQ(sql_number(store, FETCHED), RECORDS - 1, "all others");
    CHECK_EQ(sql_number(store, CHILDREN), RECORDS - 3, "without its three");
    run = RUN("patra", "signal", "list", "--json", "--store", store);
    CHECK(cli_has(run.out, "r00000005"), run.out.data);
    CHECK(cli_has(run.out, "\"refused\""), run.out.data);
    control(&sim, "DELETE", "faults");
    CHECK_EQ(update(store).code, 0, "again");
    CHECK_EQ(sql_number(store, REQUESTS), RECORDS, "only that one was requested again");
    check_truth(store, &sim, "with its three");
    sim_stop(&sim);
}

/* The total says that there is more than the response has. */
TEST(children_that_are_not_all_there_are_refused)
{
    const char *store = cli_sqlite("total");
    struct sim sim = SIM_SOURCE_START(WORLD, "--fault",
                                      "path=/generic/records/r00000005/parts kind=moving_total");
    struct run run;

    sim_source_apply_file(store, &sim, SOURCE, "rate.burst=500");
    harvest(store);
    (void)update(store);
    CHECK_EQ(sql_number(store, FETCHED), RECORDS - 1, "all others");
    run = RUN("patra", "signal", "list", "--json", "--store", store);
    CHECK(cli_has(run.out, "r00000005"), run.out.data);
    sim_stop(&sim);
}

TEST(ids_of_a_trigger_are_those_of_parents)
{
    const char *store = cli_sqlite("ids");
    struct sim sim = SIM_SOURCE_START(WORLD);
    char path[TEXT_BYTES];
    FILE *file;
    struct run run;

    (void)snprintf(path, sizeof(path), "%s.ids", store);
    file = fopen(path, "w");
    REQUIRE(file != NULL && fputs("r00000001\nr00000002\n", file) >= 0 && fclose(file) == 0, path);
    sim_source_apply_file(store, &sim, SOURCE, "rate.burst=500");
    harvest(store);
    run = RUN("patra", "update", NAME, "--operation", "parts", "--ids", path, "--quiet", "--store",
              store);
    CHECK_EQ(run.code, 0, run.talk.data);
    CHECK_EQ(sql_number(store, REQUESTS), 2, "two parents");
    CHECK_EQ(sql_number(store, "SELECT count(*) FROM ing_record WHERE endpoint_name = 'parts'"
                               " AND provider_id BETWEEN 'r00000003' AND 'r00000008'"),
             6, "their children");
    sim_stop(&sim);
}

/* ---- a process that is killed ---- */

static void wait_for(const char *store, int64_t requests)
{
    const struct timespec pause = { 0, 20000000 };

    for (int i = 0; i < PATIENCE_MS / 20; i++) {
        if (sql_number(store, REQUESTS) >= requests)
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
    sim_source_apply_file(store, &sim, SOURCE, "rate.burst=500");
    harvest(store);
    run = RUN("patra", "source", "apply", SOURCE, "--store", store, "--set", url, "--set",
              "rate.adaptive=false", "--set", "rate.per_second=100", "--set", "rate.burst=2");
    REQUIRE(run.code == 0, run.talk.data);
    REQUIRE(RUN("patra", "trigger", NAME, "parts", "--store", store).code == 0, "trigger");
    for (int64_t requests = 20; requests < 200; requests += 60) {
        struct running worker = RUN_BEGIN("patra", "work", "--drain", "--workers", "2", "--lease",
                                          "1s", "--store", store);

        wait_for(store, requests);
        (void)kill(worker.pid, SIGKILL);
        CHECK_EQ(run_end(&worker).code, 128 + SIGKILL, "killed");
        CHECK_EQ(sql_number(store, FETCHED), sql_number(store, REQUESTS),
                 "what is stored is known to be fetched, and nothing else");
    }
    CHECK_EQ(RUN("patra", "work", "--drain", "--lease", "1s", "--store", store).code, 0, "resumed");
    CHECK_EQ(sql_number(store, REQUESTS), RECORDS, "each parent is stored once");
    check_truth(store, &sim, "nothing is lost");
    sim_stop(&sim);
}

TEST(killed_workers_lose_and_repeat_nothing)
{
    kill_workers(cli_sqlite("killed"));
}

TEST(killed_workers_lose_and_repeat_nothing_in_postgres)
{
    kill_workers(cli_postgres());
}

/* ---- trying it ---- */

TEST(a_child_endpoint_is_tried_with_the_id_of_a_parent)
{
    struct sim sim = SIM_SOURCE_START(WORLD);
    char url[TEXT_BYTES];
    struct run run;

    (void)snprintf(url, sizeof(url), "http.base_url=%s", sim.base);
    run = RUN("patra", "source", "test", SOURCE, "--operation", "parts", "--live", "--set", url);
    CHECK(run.code != 0, "whose children?");
    CHECK(cli_has(run.talk, "the children of records of records: give the id"), run.talk.data);
    run = RUN("patra", "source", "test", SOURCE, "--operation", "parts", "--live", "--set", url,
              "--id", "r00000017");
    CHECK_EQ(run.code, 0, run.talk.data);
    CHECK(cli_has(run.out, "3 items: 3 records, 0 bad"), run.out.data);
    CHECK(cli_has(run.out, "r00000051"), run.out.data);
    run = RUN("patra", "source", "test", SOURCE, "--operation", "parts", "--live", "--set", url,
              "--id", "r00000200");
    CHECK_EQ(run.code, 0, "a 404: it has none");
    CHECK(cli_has(run.out, "0 items: 0 records, 0 bad"), run.out.data);
    sim_stop(&sim);
}
