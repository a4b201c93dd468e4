/* How many requests a walk takes, as the simulator counts them: about as many as there are pages,
 * however the source is made. */
#include <inttypes.h>
#include <stdio.h>

#include "cli.h"
#include "run.h"
#include "sim_requests.h"
#include "sim_source.h"
#include "sql.h"
#include "test.h"

enum { SINCE_SIZE = 40 };

static int64_t requests_of(const char *store)
{
    return sql_number(store, "SELECT coalesce(sum(json_extract(stats, '$.reqCount')), 0)"
                             " FROM ing_task_run");
}

static struct run verify(const char *store, const struct sim *sim, const char *source)
{
    char address[1024];

    (void)snprintf(address, sizeof(address), "sqlite:%s", store);
    return RUN("patra-sim", "verify", "--store", address, "--protocol", "generic", "--source",
               source, SIM_SOURCE_WINDOW, "--url", sim->base, "--json");
}

/* ---- only the beginning of the window can be requested ---- */

static void harvest_since(const char *name, const char *more)
{
    const char *store = cli_sqlite(name);
    struct sim sim = SIM_SOURCE_START("--records", "4000");
    struct run run, judged;
    int64_t right, pages, requests;

    sim_source_apply_file(store, &sim, "test/data/sim-sources/generic-since.yaml", more);
    run = RUN("patra", "harvest", "generic-since", SIM_SOURCE_WINDOW, "--store", store);
    CHECK_EQ(run.code, 0, run.out.data);
    judged = verify(store, &sim, "generic-since");
    CHECK_EQ(judged.code, 0, judged.out.data);
    sim_requests_check(&sim, &(struct sim_requests_ask){ .store = store,
                                                         .protocol = "generic",
                                                         .source = "generic-since" });
    right = cli_number(judged.out, "right");
    CHECK(right > 100, "there was something to fetch");
    pages = right / SINCE_SIZE + 1;
    requests = requests_of(store);
    test_note("%s: %" PRId64 " records, %" PRId64 " pages, %" PRId64 " requests", name, right,
              pages, requests);
    CHECK(requests <= pages + 4, "about as many requests as pages");
    CHECK_EQ(sql_number(store, "SELECT count(*) FROM ing_task"), 1, "one slice");
    CHECK(cli_has(run.out, " -> 2026-02-11T00:00:00Z\n"), "the cursor is at the end");
    CHECK_EQ(RUN("patra", "status", "--store", store).code, 0, "no person is needed");
    sim_stop(&sim);
}

TEST(a_source_that_takes_only_the_beginning_of_a_window_needs_as_many_requests_as_pages)
{
    harvest_since("since", "rate.burst=100");
}

/* Records after the window are stored with the page that they are on. */
TEST(without_a_filter_the_first_date_after_the_window_ends_it_too)
{
    harvest_since("since-unfiltered", "window.client_filter=false");
}

/* ---- a total in a header ---- */

/* The body is an array, and X-Total-Count says how many records there are. */
static void harvest_link(const char *name, const char *fault, int code)
{
    const char *store = cli_sqlite(name);
    struct sim sim = SIM_SOURCE_START("--records", "4000", "--fault", fault);
    char url[256];
    struct run run, judged;

    (void)snprintf(url, sizeof(url), "http.base_url=%s", sim.base);
    REQUIRE(RUN("patra", "init", "--store", store).code == 0, "init");
    run =
        RUN("patra", "source", "apply", "test/data/sim-sources/generic-link.yaml", "--store", store,
            "--set", url, "--set", "endpoints.records.response.total_header=X-Total-Count");
    REQUIRE(run.code == 0, run.talk.data);
    run = RUN("patra", "harvest", "generic-link", SIM_SOURCE_WINDOW, "--store", store);
    CHECK_EQ(run.code, code, run.out.data);
    if (code != 0) {
        sim_stop(&sim);
        return;
    }
    judged = verify(store, &sim, "generic-link");
    CHECK_EQ(judged.code, 0, judged.out.data);
    CHECK(cli_number(judged.out, "right") > 100, "there was something to fetch");
    CHECK_EQ(sql_number(store, "SELECT count(*) FROM ing_task_run_batch WHERE"
                               " json_extract(response_digest, '$.total') IS NULL"),
             0, "each page has the total of its header");
    sim_stop(&sim);
}

TEST(a_total_in_a_header_counts)
{
    harvest_link("total-header", "nth=1000000 kind=empty", 0);
}

/* The last pages of every list are empty: only the total shows that records are missing. */
TEST(a_total_in_a_header_shows_what_is_missing)
{
    harvest_link("total-header-lost", "path=/generic/link query=page=2 kind=empty_page", 1);
}

/* ---- pages that lead nowhere ---- */

/* Harvests twice. Neither may take many more requests than the pages up to the fault, which is the
 * second one of every list. */
static void harvest_dead_end(const char *name, const char *file, const char *source,
                             const char *path)
{
    const char *store = cli_sqlite(name);
    char fault[128];
    struct sim sim;
    struct run run;
    int64_t first, second;

    (void)snprintf(fault, sizeof(fault), "kind=repeat_token path=%s", path);
    sim = SIM_SOURCE_START("--records", "4000", "--fault", fault);
    sim_source_apply_file(store, &sim, file, "endpoints.records.page.size=10");
    run = RUN("patra", "harvest", source, SIM_SOURCE_WINDOW, "--store", store);
    CHECK_EQ(run.code, 1, run.out.data);
    first = requests_of(store);
    CHECK_EQ(sql_number(store, "SELECT count(*) FROM ing_task"), 10, "a slice a day, none halved");
    CHECK_EQ(sql_number(store, "SELECT count(*) FROM ing_task"
                               " WHERE status_code = 'PARTIAL'"
                               "   AND partial_reason_code = 'DEAD_END'"),
             10, "all end with that reason");
    CHECK(first <= 10L * 5, "a handful of requests for each slice");
    run = RUN("patra", "harvest", source, SIM_SOURCE_WINDOW, "--store", store);
    second = requests_of(store) - first;
    test_note("%s: %" PRId64 " requests, then %" PRId64, name, first, second);
    CHECK(second <= first, "and no more with the next trigger");
    run = RUN("patra", "trigger", source, "harvest", "--scheduler", "cron", "--store", store);
    CHECK_EQ(run.code, 0, run.talk.data);
    CHECK_EQ(sql_number(store, "SELECT count(*) FROM ing_task WHERE status_code = 'QUEUED'"
                               " AND window_from >= 1769904000000000"  /* 2026-02-01 */
                               " AND window_from < 1770768000000000"), /* 2026-02-11 */
             0, "a schedule leaves these windows alone for now");
    run = RUN("patra", "status", source, "--store", store);
    CHECK_EQ(run.code, 1, "a person is needed");
    CHECK(cli_has(run.out, "repeats its pages or its next token"), run.out.data);
    sim_stop(&sim);
}

TEST(a_next_link_to_itself_costs_a_handful_of_requests)
{
    harvest_dead_end("link-to-itself", "test/data/sim-sources/generic-link.yaml", "generic-link",
                     "/generic/link");
}

TEST(a_token_that_stays_the_same_costs_a_handful_of_requests)
{
    harvest_dead_end("constant-token", "test/data/sim-sources/generic-header.yaml",
                     "generic-header", "/generic/header");
}

/* ---- a list that no re-slice makes shorter ---- */

/* The source returns the same ten days for every window, and refuses the second page. Each half of
 * a slice is as long as the whole: without a budget they would be halved down to minutes. */
TEST(a_source_that_ignores_the_window_is_left_to_a_person)
{
    const char *store = cli_sqlite("ignores-window");
    struct sim sim =
        SIM_SOURCE_START("--records", "4000", "--fault",
                         "path=/generic/offset query=offset=40 kind=status code=400 body=empty");
    char url[128];
    struct run run, judged;
    int64_t pages, first, second;

    (void)snprintf(url, sizeof(url), "http.base_url=%s", sim.base);
    REQUIRE(RUN("patra", "init", "--store", store).code == 0, "init");
    run = RUN("patra", "source", "apply", "test/data/sim-sources/generic-offset.yaml", "--store",
              store, "--set", url, "--set", "window.max=10d", "--set",
              "endpoints.records.query.from=2026-02-01T00:00:00Z", "--set",
              "endpoints.records.query.to=2026-02-11T00:00:00Z", "--set",
              "endpoints.records.query.ignored=${window.from}/${window.to}");
    REQUIRE(run.code == 0, run.talk.data);
    run = RUN("patra", "harvest", SIM_SOURCE_NAME, SIM_SOURCE_WINDOW, "--store", store);
    CHECK_EQ(run.code, 1, run.out.data);
    first = requests_of(store);
    judged = verify(store, &sim, SIM_SOURCE_NAME);
    pages = cli_number(judged.out, "must_hold") / 40 + 1;
    CHECK(first <= 4 * pages + 32 + 8, "four times its pages, and some to spare");
    CHECK(sql_number(store, "SELECT count(*) FROM ing_task"
                            " WHERE partial_reason_code = 'OVER_BUDGET'") > 0,
          "and the reason is kept");
    run = RUN("patra", "harvest", SIM_SOURCE_NAME, SIM_SOURCE_WINDOW, "--store", store);
    second = requests_of(store) - first;
    test_note("ignores-window: %" PRId64 " pages, %" PRId64 " requests, then %" PRId64, pages,
              first, second);
    CHECK(second <= first + 8, "and no more with the next trigger");
    run = RUN("patra", "status", SIM_SOURCE_NAME, "--store", store);
    CHECK_EQ(run.code, 1, "a person is needed");
    sim_stop(&sim);
}

/* ---- tokens that die ---- */

/* Every third token has expired. The list is sorted by date, so each walk keeps what it has read.
 */
TEST(a_walk_whose_token_dies_continues_from_the_date_of_its_last_record)
{
    const char *store = cli_sqlite("bridge");
    struct sim sim = SIM_SOURCE_START("--records", "8000", "--fault", "kind=expired_token");
    char url[256];
    struct run run, judged;

    (void)snprintf(url, sizeof(url), "http.base_url=%s", sim.base);
    REQUIRE(RUN("patra", "init", "--store", store).code == 0, "init");
    run = RUN("patra", "source", "apply", "test/data/sim-sources/generic-token.yaml", "--store",
              store, "--set", url, "--set", "endpoints.records.page.size=100", "--set",
              "window.max=5d", "--set", "endpoints.records.page.order_by=updated asc", "--set",
              "endpoints.records.page.bridge_to_time=true");
    REQUIRE(run.code == 0, run.talk.data);
    run = RUN("patra", "harvest", "generic-token", SIM_SOURCE_WINDOW, "--store", store);
    CHECK_EQ(run.code, 0, run.out.data);
    judged = verify(store, &sim, "generic-token");
    CHECK_EQ(judged.code, 0, judged.out.data);
    CHECK(sql_number(store, "SELECT count(*) FROM ing_task WHERE status_code = 'PARTIAL'"
                            " AND covered_to > window_from") > 0,
          "what was read before the token died is covered");
    test_note("bridge: %" PRId64 " records, %" PRId64 " requests in %" PRId64 " tasks",
              cli_number(judged.out, "right"), requests_of(store),
              sql_number(store, "SELECT count(*) FROM ing_task"));
    sim_stop(&sim);
}
