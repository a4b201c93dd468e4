/* Endpoints that share one cursor, harvested by the program as a user runs it: the cursor passes an
 * instant when all of them have covered it. */
#include <stdio.h>

#include "cli.h"
#include "run.h"
#include "sim_requests.h"
#include "sim_source.h"
#include "sql.h"
#include "test.h"

enum { TEXT_BYTES = 512 };

#define SHARED "generic-shared"
#define FROM "2026-02-01T00:00:00Z"
#define TO "2026-02-06T00:00:00Z"

static const char FIRST[] = "2026-02-01T00:00:00Z";
static const char LAST[] = "2026-02-06T00:00:00Z";

static int harvest(const char *store, const char *operation)
{
    return RUN("patra", "harvest", SHARED, "--operation", operation, "--from", FROM, "--to", TO,
               "--quiet", "--store", store)
        .code;
}

/* Where the cursor is; there is one. */
static void check_cursor(const char *store, const char *wanted, const char *what)
{
    const struct run run = RUN("patra", "cursor", "list", "--json", "--store", store);

    CHECK_EQ(sql_number(store, "SELECT count(*) FROM ing_cursor"), 1, "one for both");
    CHECK(cli_has(run.out, wanted), what);
    CHECK_EQ(RUN("patra", "cursor", "verify", "--store", store).code, 0, what);
}

static void check_truth(const char *store, const struct sim *sim, const char *endpoint)
{
    char address[TEXT_BYTES];
    struct run run;

    (void)snprintf(address, sizeof(address), "%s%s", store[0] == '/' ? "sqlite:" : "", store);
    run = RUN("patra-sim", "verify", "--store", address, "--protocol", "generic", "--source",
              SHARED, "--endpoint", endpoint, "--from", FROM, "--to", TO, "--url", sim->base);
    CHECK_EQ(run.code, 0, run.out.data);
    sim_requests_check(
        sim, &(struct sim_requests_ask){ .store = store, .protocol = "generic", .source = SHARED });
}

static void set_fault(const struct sim *sim, const char *rule)
{
    char url[TEXT_BYTES];

    (void)snprintf(url, sizeof(url), "%s/_sim/faults", sim->base);
    REQUIRE(RUN("/usr/bin/curl", "-sf", "-X", "DELETE", url).code == 0, "faults");
    if (rule != NULL)
        REQUIRE(RUN("/usr/bin/curl", "-sf", "-X", "POST", "-d", rule, url).code == 0, "a fault");
}

static void share(const char *store)
{
    struct sim sim = SIM_SOURCE_START("--records", "2000");
    struct run run;

    sim_source_apply_file(store, &sim, "test/data/sim-sources/generic-shared.yaml",
                          "rate.burst=100");
    CHECK_EQ(harvest(store, "works"), 0, "one endpoint");
    check_cursor(store, FIRST, "the other has covered nothing");
    /* The third day of the other endpoint fails. */
    set_fault(&sim, "path=/generic/page1 query=from=2026-02-03 kind=status code=400");
    CHECK(harvest(store, "authors") != 0, "a slice fails");
    check_cursor(store, "\"value\":\"2026-02-03T00:00:00Z\"", "as far as both are complete");
    run = RUN("patra", "cursor", "show", SHARED, "--store", store);
    CHECK(cli_has(run.out, "is FAILED"), run.out.data);
    set_fault(&sim, NULL);
    CHECK_EQ(harvest(store, "works"), 0, "nothing is left to do for this one");
    CHECK_EQ(sql_number(store, "SELECT count(*) FROM ing_task WHERE endpoint_name = 'works'"), 5,
             "no window twice");
    CHECK_EQ(harvest(store, "authors"), 0, "the rest of the other");
    check_cursor(store, LAST, "both are complete");
    check_truth(store, &sim, "works");
    check_truth(store, &sim, "authors");
    /* Set back, both read again. */
    CHECK_EQ(RUN("patra", "cursor", "reset", SHARED, "--to", "2026-02-05T00:00:00Z", "--yes",
                 "--store", store)
                 .code,
             0, "reset");
    CHECK_EQ(harvest(store, "works"), 0, "one");
    check_cursor(store, "\"value\":\"2026-02-05T00:00:00Z\"", "the other has not read it again");
    CHECK_EQ(harvest(store, "authors"), 0, "both");
    check_cursor(store, LAST, "both again");
    sim_stop(&sim);
}

TEST(a_shared_cursor_waits_for_all_endpoints_on_sqlite)
{
    share(cli_sqlite("shared"));
}

TEST(a_shared_cursor_waits_for_all_endpoints_on_postgres)
{
    share(cli_postgres());
}
