/* Files of records as a user meets them: tried, loaded, and continued by a harvest. */
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <unistd.h>

#include "cli.h"
#include "run.h"
#include "sim_source.h"
#include "sql.h"
#include "test.h"

static const char SOURCE[] = "test/data/sim-sources/generic-bulk.yaml";

#define WORLD "--records", "2500", "--gzip", "0"

static void apply(const char *store, const struct sim *sim, const char *path)
{
    char dump[256];

    (void)snprintf(dump, sizeof(dump), "endpoints.dump.path=%s", path);
    sim_source_apply_file(store, sim, SOURCE, dump);
}

static struct run load(const char *store)
{
    struct run run = RUN("patra", "trigger", "generic-bulk", "load", "--store", store);

    CHECK_EQ(run.code, 0, run.talk.data);
    return RUN("patra", "work", "--drain", "--store", store);
}

static void require_truth(const char *store, const struct sim *sim)
{
    char address[1024];
    struct run run;

    (void)snprintf(address, sizeof(address), "sqlite:%s", store);
    run = RUN("patra-sim", "verify", "--store", address, "--protocol", "generic", "--source",
              "generic-bulk", "--from", "2026-01-01", "--to", "2026-04-01", "--url", sim->base);
    CHECK_EQ(run.code, 0, run.out.data);
}

static int64_t count(const char *store, const char *sql)
{
    return sql_number(store, sql);
}

TEST(a_harvest_after_a_file_finds_its_records_unchanged)
{
    const char *store = cli_sqlite("continued");
    struct sim sim = SIM_SOURCE_START(WORLD);
    struct run run;
    int64_t records;

    apply(store, &sim, "/generic/bulk/records.ndjson.gz");
    run = load(store);
    CHECK_EQ(run.code, 0, run.talk.data);
    require_truth(store, &sim);
    records = count(store, "SELECT count(*) FROM ing_record");
    CHECK(records > 2000, "there was something to load");
    CHECK_EQ(count(store, "SELECT count(*) FROM ing_record WHERE endpoint_name = 'records'"),
             records, "they are those of the list");
    run = RUN("patra", "harvest", "generic-bulk", "--from", "2026-01-01", "--to", "2026-04-01",
              "--store", store);
    CHECK_EQ(run.code, 0, run.out.data);
    CHECK(cli_has(run.out, " 0 new, 0 changed, "), run.out.data);
    CHECK_EQ(count(store, "SELECT count(*) FROM ing_outbox"), records, "one event each");
    sim_stop(&sim);
}

TEST(several_files_are_tasks_of_their_own)
{
    const char *store = cli_sqlite("parts");
    struct sim sim = SIM_SOURCE_START(WORLD);
    char url[128];
    struct run run;

    (void)snprintf(url, sizeof(url), "http.base_url=%s", sim.base);
    REQUIRE(setenv("PATRA_CONTACT", "somebody@example.org", 1) == 0, "environment");
    REQUIRE(RUN("patra", "init", "--store", store).code == 0, "init");
    run = RUN("patra", "source", "apply", SOURCE, "--store", store, "--set", url, "--set",
              "endpoints.dump.path=/generic/bulk/${slice.file}", "--set",
              "endpoints.dump.files=[\"part-{1..3}-of-4.ndjson.gz\", part-4-of-4.ndjson]");
    REQUIRE(run.code == 0, run.talk.data);
    run = RUN("patra", "trigger", "generic-bulk", "load", "--dry-run", "--store", store);
    CHECK(cli_has(run.out, "part-2-of-4.ndjson.gz"), run.out.data);
    run = RUN("patra", "trigger", "generic-bulk", "load", "--from", "2026-01-01", "--store", store);
    CHECK(run.code != 0, "files are read whole");
    run = RUN("patra", "trigger", "generic-bulk", "load", "--store", store);
    CHECK_EQ(run.code, 0, run.talk.data);
    CHECK_EQ(count(store, "SELECT count(*) FROM ing_task"), 4, "a task for each");
    run = load(store);
    CHECK_EQ(run.code, 0, run.talk.data);
    CHECK_EQ(count(store, "SELECT count(*) FROM ing_task"), 4, "none while they are under way");
    CHECK_EQ(count(store, "SELECT count(*) FROM ing_task WHERE status_code = 'SUCCEEDED'"), 4,
             "all of them");
    require_truth(store, &sim);
    sim_stop(&sim);
}

/* Only half of it comes; its length says that this is all. */
TEST(half_of_a_packed_file_is_not_the_file)
{
    const char *store = cli_sqlite("half");
    struct sim sim =
        SIM_SOURCE_START(WORLD, "--fault", "path=/generic/bulk kind=truncate keep=50 length=short");

    apply(store, &sim, "/generic/bulk/records.ndjson.gz");
    (void)load(store);
    CHECK_EQ(count(store, "SELECT count(*) FROM ing_task WHERE status_code = 'SUCCEEDED'"), 0,
             "it is not done");
    CHECK(count(store, "SELECT count(*) FROM ing_record") > 100, "what came is stored");
    CHECK(count(store, "SELECT count(*) FROM ing_task_run_batch WHERE status_code = 'FAILED'") > 0,
          "and the failure");
    sim_stop(&sim);
}

/* The file is another one at another time. */
TEST(a_file_that_is_replaced_is_read_from_its_beginning)
{
    const char *store = cli_sqlite("replaced");
    struct sim sim = SIM_SOURCE_START(WORLD, "--now", "2026-03-01T00:00:00Z", "--fault",
                                      "path=/generic/bulk kind=drip bps=300000");
    const char *argv[] = { "patra", "work", "--drain", "--lease", "1s", "--store", store, NULL };
    char clock[160], faults[160];
    struct running running;
    struct run run;

    apply(store, &sim, "/generic/bulk/records.ndjson.gz");
    (void)RUN("patra", "trigger", "generic-bulk", "load", "--store", store);
    running = run_begin(argv);
    while (count(store, "SELECT count(*) FROM ing_record") < 500)
        (void)usleep(10000);
    REQUIRE(kill(running.pid, SIGKILL) == 0, "it reads the old file");
    (void)run_end(&running);
    (void)snprintf(clock, sizeof(clock), "%s/_sim/clock?set=2026-04-01T00:00:00Z", sim.base);
    (void)snprintf(faults, sizeof(faults), "%s/_sim/faults", sim.base);
    REQUIRE(RUN("/usr/bin/curl", "-sf", "-X", "POST", clock).code == 0, "another time");
    REQUIRE(RUN("/usr/bin/curl", "-sf", "-X", "DELETE", faults).code == 0, "no faults");
    run = run_program(argv);
    CHECK_EQ(run.code, 0, run.talk.data);
    CHECK_EQ(count(store, "SELECT count(*) FROM ing_task WHERE status_code = 'SUCCEEDED'"), 1,
             "done");
    CHECK_EQ(count(store, "SELECT count(*) FROM ing_task_run WHERE"
                          " json_extract(checkpoint, '$.restarts') = 1"),
             1, "from its beginning");
    require_truth(store, &sim);
    sim_stop(&sim);
}

TEST(a_file_is_tried_by_its_first_records)
{
    struct sim sim = SIM_SOURCE_START(WORLD);
    char url[128];
    struct run run;

    (void)snprintf(url, sizeof(url), "http.base_url=%s", sim.base);
    run = RUN("patra", "source", "test", SOURCE, "--operation", "load", "--live", "--set", url);
    CHECK_EQ(run.code, 0, run.talk.data);
    CHECK(cli_has(run.out, "100 items: 100 records, 0 bad"), run.out.data);
    sim_stop(&sim);
}

TEST(packed_xml_is_read_like_lines)
{
    const char *store = cli_sqlite("xml");
    struct sim sim = SIM_SOURCE_START(WORLD);
    char address[1024];
    struct run run;

    sim_source_apply_file(store, &sim, "test/data/sim-sources/pubmed-bulk.yaml", "rate.burst=500");
    run = RUN("patra", "source", "test", "pubmed-bulk", "--operation", "load", "--live", "--store",
              store);
    CHECK_EQ(run.code, 0, run.out.data);
    CHECK(cli_has(run.out, " 0 bad"), run.out.data);
    run = RUN("patra", "trigger", "pubmed-bulk", "load", "--store", store);
    CHECK_EQ(run.code, 0, run.talk.data);
    run = RUN("patra", "work", "--drain", "--store", store);
    CHECK_EQ(run.code, 0, run.talk.data);
    CHECK_EQ(count(store, "SELECT count(*) FROM ing_task WHERE status_code = 'SUCCEEDED'"), 2,
             "both files");
    CHECK(count(store, "SELECT count(*) FROM ing_record") > 2000, "there was something to load");
    (void)snprintf(address, sizeof(address), "sqlite:%s", store);
    run = RUN("patra-sim", "verify", "--store", address, "--protocol", "pubmed", "--source",
              "pubmed-bulk", "--endpoint", "baseline", "--from", "2026-01-01", "--to", "2026-04-01",
              "--url", sim.base);
    CHECK_EQ(run.code, 0, run.out.data);
    sim_stop(&sim);
}

/* The shipped source: what the baseline brought is what the harvest finds. */
TEST(pubmeds_baseline_and_its_harvest_share_their_records)
{
    const char *store = cli_sqlite("baseline");
    struct sim sim = SIM_SOURCE_START(WORLD);
    char api[128], files[128];
    struct run run;

    (void)snprintf(api, sizeof(api), "http.base_url=%s/entrez/eutils", sim.base);
    (void)snprintf(files, sizeof(files), "endpoints.baseline.http.base_url=%s/generic/bulk",
                   sim.base);
    REQUIRE(setenv("PATRA_CONTACT", "somebody@example.org", 1) == 0, "environment");
    REQUIRE(RUN("patra", "init", "--store", store).code == 0, "init");
    run = RUN("patra", "source", "apply", "sources/pubmed.yaml", "--store", store, "--set", api,
              "--set", files, "--set", "endpoints.baseline.files=[\"part-{1..2}-of-2.xml.gz\"]",
              "--set", "http.allow_plain_http=true", "--set", "rate.per_second=100", "--set",
              "rate.provider_limit=100", "--set", "endpoints.baseline.rate.per_second=100", "--set",
              "endpoints.baseline.rate.provider_limit=100");
    REQUIRE(run.code == 0, run.talk.data);
    run = RUN("patra", "trigger", "pubmed", "load", "--store", store);
    CHECK_EQ(run.code, 0, run.talk.data);
    run = RUN("patra", "work", "--drain", "--store", store);
    CHECK_EQ(run.code, 0, run.talk.data);
    CHECK(count(store, "SELECT count(*) FROM ing_record WHERE endpoint_name = 'search'") > 2000,
          "as records of the search");
    run = RUN("patra", "harvest", "pubmed", "--from", "2026-02-01", "--to", "2026-02-03", "--json",
              "--quiet", "--store", store);
    CHECK_EQ(run.code, 0, run.talk.data);
    CHECK(cli_number(run.out, "records.unchanged") > 20, run.out.data);
    CHECK_EQ(cli_number(run.out, "records.created"), 0, run.out.data);
    CHECK_EQ(cli_number(run.out, "records.updated"), 0, run.out.data);
    run = RUN("patra", "trigger", "pubmed", "update", "--dry-run", "--json", "--store", store);
    CHECK_EQ(cli_number(run.out, "remarks.totalEstimated"), 0, "nothing is to be fetched again");
    sim_stop(&sim);
}
