/* Records that are requested by their ids, as a user sees it: patra update, metrics, and the second
 * phase of a harvest, where a source refuses some ids or fails on them. */
#include <inttypes.h>
#include <stdio.h>
#include <stdlib.h>

#include "cli.h"
#include "run.h"
#include "sim_source.h"
#include "sql.h"
#include "test.h"

/* ---- update ---- */

static const char *file_of_ids(const char *text)
{
    static char path[512];
    FILE *file;

    (void)snprintf(path, sizeof(path), "%s/ids.txt", test_folder());
    file = fopen(path, "w");
    REQUIRE(file != NULL, path);
    (void)fputs(text, file);
    REQUIRE(fclose(file) == 0, path);
    return path;
}

/* They were signals, and the plan that failed had taken them up. */
static void failed_ids(const char *store)
{
    const char *ids = file_of_ids("r00000001\nr00000002\nr00000003\n");
    struct sim sim =
        SIM_SOURCE_START("--records", "100", "--fault", "kind=status code=401 body=empty nth=1");
    struct run run;

    sim_source_apply_file(store, &sim, "test/data/sim-sources/generic-details.yaml",
                          "rate.burst=100");
    run =
        RUN("patra", "update", "generic-details", "--ids", ids, "--workers", "1", "--store", store);
    CHECK_EQ(run.code, 4, "the source is stopped");
    REQUIRE(RUN("patra", "resume", "generic-details", "--store", store).code == 0, "resume");
    run = RUN("patra", "update", "generic-details", "--store", store);
    CHECK_EQ(run.code, 0, "exit code");
    CHECK(cli_has(run.out, "planned     3 ids"), "they are looked at after all");
    CHECK_EQ(sql_number(store, "SELECT count(*) FROM ing_record"), 3, "and are there");
    run = RUN("patra", "status", "--store", store);
    CHECK_EQ(run.code, 0, "what failed was made up for");
    sim_stop(&sim);
}

TEST(ids_of_an_update_that_failed_are_not_lost_on_sqlite)
{
    failed_ids(cli_sqlite("failed-ids"));
}

TEST(ids_of_an_update_that_failed_are_not_lost_on_postgres)
{
    failed_ids(cli_postgres());
}

/* ---- metrics ---- */

static const char METRICS_SOURCE[] =
    "source: counted\n"
    "http: { base_url: \"http://127.0.0.1:1\", allow_plain_http: true }\n"
    "rate: { per_second: 1000, burst: 1000 }\n"
    "endpoints:\n"
    "  list:\n"
    "    role: search\n"
    "    path: /generic/offset\n"
    "    query: { offset: \"${page.offset}\", limit: \"${page.size}\", from: \"${window.from}\","
    " to: \"${window.to}\" }\n"
    "    page: { type: offset, size: 100 }\n"
    "    window: { key: updated_at, lag: 1m, max: 10d, min: 1m }\n"
    "    response: { items: $.items, id: $.id, updated_at: $.updated_at, deleted: $.deleted,"
    " total: $.total }\n"
    "  counts:\n"
    "    role: metrics\n"
    "    path: \"/generic/records/${join(ids.list, '')}\"\n"
    "    page: { type: single }\n"
    "    batch: { id_batch_size: 1, id_batch_max: 1 }\n"
    "    response: { items: $, id: $.id, error_when: [ { status: 404, meaning: empty } ] }\n"
    "operations:\n"
    "  harvest: { endpoint: list }\n"
    "  metrics: { endpoint: counts, staleness: { after: 7d } }\n";

static void metrics_in_the_foreground(const char *store)
{
    struct sim sim = SIM_SOURCE_START("--records", "400");
    char path[512];
    int64_t live;
    struct run run;
    FILE *file;

    (void)snprintf(path, sizeof(path), "%s/counted.yaml", test_folder());
    file = fopen(path, "w");
    REQUIRE(file != NULL && fputs(METRICS_SOURCE, file) >= 0 && fclose(file) == 0, path);
    sim_source_apply_file(store, &sim, path, "rate.burst=1000");
    run = RUN("patra", "harvest", "counted", SIM_SOURCE_WINDOW, "--store", store);
    REQUIRE(run.code == 0, "harvest");
    live = sql_number(store, "SELECT count(*) FROM ing_record"
                             " WHERE endpoint_name = 'list' AND NOT deleted");
    CHECK(live > 10, "there are records");
    run = RUN("patra", "metrics", "counted", "--json", "--store", store);
    CHECK_EQ(run.code, 0, "exit code");
    CHECK_EQ(sql_number(store, "SELECT count(*) FROM ing_record WHERE endpoint_name = 'counts'"),
             live, "the metrics of every record are there");
    run = RUN("patra", "metrics", "counted", "--store", store);
    CHECK_EQ(run.code, 0, "once more");
    CHECK(cli_has(run.talk, "nothing to do"), "none is stale");
    sim_stop(&sim);
}

TEST(metrics_are_fetched_in_the_foreground_on_sqlite)
{
    metrics_in_the_foreground(cli_sqlite("metrics"));
}

TEST(metrics_are_fetched_in_the_foreground_on_postgres)
{
    metrics_in_the_foreground(cli_postgres());
}

/* ---- ids that the source refuses ---- */

#define PUBMED_WINDOW "--from", "2026-01-10", "--to", "2026-01-12"

enum { ID_BATCH = 16 };

/* PubMed with short waits and small batches of ids. */
static void apply_pubmed(const char *store, const struct sim *sim)
{
    char url[256];

    REQUIRE(setenv("PATRA_CONTACT", "somebody@example.org", 1) == 0, "environment");
    (void)snprintf(url, sizeof(url), "http.base_url=%s/entrez/eutils", sim->base);
    REQUIRE(RUN("patra", "init", "--store", store).code == 0, "init");
    REQUIRE(RUN("patra", "source", "apply", "sources/pubmed.yaml", "--store", store, "--set", url,
                "--set", "http.allow_plain_http=true", "--set", "rate.per_second=500", "--set",
                "rate.burst=500", "--set", "rate.provider_limit=500", "--set",
                "endpoints.fetch.batch.id_batch_size=16", "--set", "retry.min_delay=1ms", "--set",
                "retry.max_delay=20ms")
                    .code == 0,
            "apply");
}

/* An id in the middle of the window, and how many there are: by a store that has them all. */
static int64_t one_pmid(const char *store, const struct sim *sim, int64_t *count)
{
    apply_pubmed(store, sim);
    REQUIRE(RUN("patra", "harvest", "pubmed", PUBMED_WINDOW, "--store", store).code == 0,
            "harvest");
    *count = sql_number(store, "SELECT count(*) FROM ing_record");
    REQUIRE(*count > 50, "enough records");
    sim_source_pubmed_requests(store, sim,
                               &(struct sim_source_pubmed_need){ .id_batch = ID_BATCH });
    return sql_number(store, "SELECT CAST(provider_id AS bigint) FROM ing_record"
                             " ORDER BY provider_id LIMIT 1 OFFSET 25");
}

static void refused_id(const char *whole, const char *store)
{
    struct sim good = SIM_SOURCE_START("--records", "6000");
    char rule[128], text[64];
    int64_t count;
    const int64_t pmid = one_pmid(whole, &good, &count);
    struct sim bad;
    struct run run;

    (void)snprintf(rule, sizeof(rule),
                   "path=/entrez/eutils/efetch ids=%" PRId64 " kind=status code=400", pmid);
    bad = SIM_SOURCE_START("--records", "6000", "--fault", rule);
    apply_pubmed(store, &bad);
    run = RUN("patra", "harvest", "pubmed", PUBMED_WINDOW, "--store", store);
    CHECK_EQ(run.code, 1, "something is missing");
    CHECK(cli_has(run.out, " -> 2026-01-12T00:00:00Z\n"), "the cursor is at the end");
    CHECK(cli_has(run.out, "1 id without a record, 1 of them refused: patra signal list pubmed\n"),
          "what is missing, and where to look");
    CHECK_EQ(sql_number(store, "SELECT count(*) FROM ing_record"), count - 1, "all others");
    CHECK_EQ(sql_number(store, "SELECT count(*) FROM ing_signal WHERE reason = 'refused'"
                               " AND http_status = 400 AND consumed_at IS NULL"),
             1, "the id is listed with its status");
    CHECK_EQ(sql_number(store, "SELECT CAST(provider_id AS bigint) FROM ing_signal"), pmid, "it");
    CHECK_EQ(sql_number(store, "SELECT count(*) FROM ing_task_run_batch"
                               " WHERE status_code = 'FAILED'"),
             1, "its batch has failed");
    CHECK_EQ(sql_number(store, store[0] == '/'
                                   ? "SELECT count(*) FROM ing_task_run_batch WHERE status_code ="
                                     " 'SUCCEEDED' AND response_digest ->> '$.status' = 400"
                                   : "SELECT count(*) FROM ing_task_run_batch WHERE status_code ="
                                     " 'SUCCEEDED' AND response_digest ->> 'status' = '400'"),
             0, "and no batch that was refused has not");
    run = RUN("patra", "signal", "list", "pubmed", "--store", store);
    (void)snprintf(text, sizeof(text), "%" PRId64, pmid);
    CHECK(cli_has(run.out, text) && cli_has(run.out, "400") && cli_has(run.out, "refused: "),
          "shown");
    run = RUN("patra", "signal", "list", "pubmed", "--json", "--store", store);
    CHECK_STR(cli_value(run.out, "0.httpStatus"), STR("400"), "for programs");

    run = RUN("patra", "update", "pubmed", "--store", store);
    CHECK_EQ(sql_number(store, "SELECT count(*) FROM ing_signal WHERE consumed_at IS NULL"), 1,
             "an update that is refused leaves it for the next");
    apply_pubmed(store, &good);
    CHECK_EQ(RUN("patra", "update", "pubmed", "--store", store).code, 0, "healed");
    CHECK_EQ(sim_source_pubmed_verify(store, &good, "2026-01-10", "2026-01-12").code, 0,
             "the simulator finds nothing wrong");
    CHECK_EQ(sql_number(store, "SELECT count(*) FROM ing_signal WHERE consumed_at IS NULL"), 0,
             "nothing is left to do");
    sim_stop(&bad);
    sim_stop(&good);
}

TEST(a_refused_id_is_listed_and_holds_no_cursor_on_sqlite)
{
    refused_id(cli_sqlite("whole-pubmed"), cli_sqlite("refused-id"));
}

TEST(a_refused_id_is_listed_and_holds_no_cursor_on_postgres)
{
    refused_id(cli_sqlite("whole-postgres"), cli_postgres());
}

/* A failure may pass, so the next harvest tries the slice again; not more than once. */
TEST(an_id_that_the_source_fails_on_holds_the_cursor_once)
{
    const char *store = cli_sqlite("failing-id");
    struct sim good = SIM_SOURCE_START("--records", "6000");
    char rule[128];
    int64_t count;
    struct sim bad;
    struct run run;

    (void)snprintf(rule, sizeof(rule),
                   "path=/entrez/eutils/efetch ids=%" PRId64 " kind=status code=500",
                   one_pmid(cli_sqlite("whole-failing"), &good, &count));
    bad = SIM_SOURCE_START("--records", "6000", "--fault", rule);
    apply_pubmed(store, &bad);
    run = RUN("patra", "harvest", "pubmed", PUBMED_WINDOW, "--store", store);
    CHECK(!cli_has(run.out, " -> 2026-01-12T00:00:00Z\n"), "the cursor waits");
    CHECK_EQ(sql_number(store, "SELECT count(*) FROM ing_record"), count - 1, "all others");
    CHECK_EQ(sql_number(store, "SELECT http_status FROM ing_signal WHERE reason = 'failed'"), 500,
             "the id is listed");
    run = RUN("patra", "harvest", "pubmed", PUBMED_WINDOW, "--store", store);
    CHECK(cli_has(run.out, " -> 2026-01-12T00:00:00Z\n"), run.out.data);
    CHECK_EQ(sql_number(store, "SELECT count(*) FROM ing_signal WHERE consumed_at IS NULL"), 1,
             "and stays listed");
    apply_pubmed(store, &good);
    CHECK_EQ(RUN("patra", "update", "pubmed", "--store", store).code, 0, "healed");
    CHECK_EQ(sim_source_pubmed_verify(store, &good, "2026-01-10", "2026-01-12").code, 0,
             "the simulator finds nothing wrong");
    sim_stop(&bad);
    sim_stop(&good);
}

TEST(a_request_that_is_refused_for_most_ids_fails_its_tasks)
{
    const char *store = cli_sqlite("refused-ids");
    struct sim sim = SIM_SOURCE_START("--records", "6000", "--fault",
                                      "path=/entrez/eutils/efetch kind=status code=422");
    struct run run;

    apply_pubmed(store, &sim);
    run = RUN("patra", "harvest", "pubmed", PUBMED_WINDOW, "--store", store);
    CHECK_EQ(run.code, 1, "nothing came");
    CHECK(cli_has(run.out, "ids were refused, which is more than one in ten: the request is wrong"),
          "the reason");
    CHECK(!cli_has(run.out, " -> 2026-01-12"), "the cursor waits");
    CHECK(sql_number(store, "SELECT count(*) FROM ing_task WHERE status_code = 'FAILED'") > 0,
          "failed");
    sim_stop(&sim);
}

/* The source fails on one batch until its eighth request; all others are fetched before. */
TEST(after_a_batch_that_fails_the_others_are_fetched_and_later_only_that_one)
{
    const char *whole = cli_sqlite("whole-deferred");
    const char *store = cli_sqlite("deferred-ids");
    struct sim good = SIM_SOURCE_START("--records", "6000");
    int64_t count, batches;
    char rule[128];
    struct sim bad;
    struct run run;

    (void)snprintf(rule, sizeof(rule),
                   "path=/entrez/eutils/efetch ids=%" PRId64 " kind=status code=503 times=8",
                   one_pmid(whole, &good, &count));
    batches = sql_number(whole, "SELECT count(*) FROM ing_task_run_batch");
    bad = SIM_SOURCE_START("--records", "6000", "--fault", rule);
    apply_pubmed(store, &bad);
    run = RUN("patra", "harvest", "pubmed", PUBMED_WINDOW, "--store", store);
    CHECK_EQ(run.code, 0, run.out.data);
    CHECK_EQ(sim_source_pubmed_verify(store, &bad, "2026-01-10", "2026-01-12").code, 0,
             "the simulator finds nothing wrong");
    sim_source_pubmed_requests(store, &bad,
                               &(struct sim_source_pubmed_need){ .id_batch = ID_BATCH });
    CHECK_EQ(sql_number(store, "SELECT count(*) FROM ing_task_run_batch"
                               " WHERE status_code = 'SUCCEEDED'"),
             batches, "no batch was fetched twice");
    CHECK_EQ(sql_number(store, "SELECT count(*) FROM ing_task_run_batch b"
                               " WHERE status_code = 'SUCCEEDED' AND run_id ="
                               " (SELECT max(id) FROM ing_task_run WHERE task_id = b.task_id)"
                               " AND EXISTS (SELECT 1 FROM ing_task_run_batch f"
                               "   WHERE f.task_id = b.task_id AND f.status_code = 'FAILED')"),
             1, "the last run of that task requested one batch");
    sim_stop(&bad);
    sim_stop(&good);
}
