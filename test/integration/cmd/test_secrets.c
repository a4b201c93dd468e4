/* A key that a source is shown and repeats, in twelve ways of writing, is in no column of the
 * store, no line of the log and no text that patra prints; the rest of what it says is. */
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "cli.h"
#include "planted.h"
#include "run.h"
#include "sim_source.h"
#include "test.h"

static struct sim start(void)
{
    return SIM_SOURCE_START(
        "--records", "500", "--fault",
        "kind=status code=422 query=from=2026-02-03T00%3A00%3A00Z message=\"" PLANTED_ONE "\"",
        "--fault",
        "kind=status code=502 query=from=2026-02-05T00%3A00%3A00Z message=\"" PLANTED_TWO "\"",
        "--fault",
        "kind=status code=418 query=from=2026-02-07T00%3A00%3A00Z message=\"" PLANTED_THREE "\"");
}

static void apply(const char *store, const struct sim *sim)
{
    REQUIRE(setenv("PATRA_TEST_KEY", PLANTED, 1) == 0, "environment");
    sim_source_apply_file(
        store, sim, "test/data/sim-sources/generic-offset-key.yaml",
        "response.error_when=[{\"status\":422,\"path\":\"$.error\",\"level\":\"L2\"},"
        "{\"status\":418,\"level\":\"L4\"}]");
}

TEST(a_key_that_a_source_repeats_is_kept_nowhere)
{
    const char *store = cli_sqlite("secrets");
    struct sim sim = start();
    struct run run;

    apply(store, &sim);
    run = RUN("patra", "harvest", SIM_SOURCE_NAME, SIM_SOURCE_WINDOW, "--workers", "1", "--store",
              store);
    CHECK(run.code != 0, "something fails");
    planted_check_run(run, "harvest");
    CHECK(cli_has(run.out, "key ***"), run.out.data);
    (void)RUN("patra", "resume", SIM_SOURCE_NAME, "--store", store);
    planted_check_run(RUN("patra", "work", "--drain", "--log-format", "json", "--store", store),
                      "log");
    planted_check_run(RUN("patra", "status", "--store", store), "status");
    planted_check_run(RUN("patra", "status", "--json", "--store", store), "status, JSON");
    for (int task = 1; task <= 10; task++) {
        char number[16];

        (void)snprintf(number, sizeof(number), "%d", task);
        planted_check_run(RUN("patra", "task", "show", number, "--store", store), "task");
        planted_check_run(RUN("patra", "task", "show", number, "--json", "--store", store),
                          "task, JSON");
    }
    planted_check_store(store);
    CHECK(cli_has(test_read(store), "key ***"), "taken out, not dropped");
    sim_stop(&sim);
}

TEST(a_key_that_a_source_repeats_is_not_shown_by_a_test_of_it)
{
    static const char *const days[][2] = { { "2026-02-03", "2026-02-04" },
                                           { "2026-02-05", "2026-02-06" },
                                           { "2026-02-07", "2026-02-08" } };
    const char *store = cli_sqlite("secrets-live");
    struct sim sim = start();

    apply(store, &sim);
    for (size_t i = 0; i < ARRAY_LEN(days); i++) {
        const struct run run = RUN("patra", "source", "test", SIM_SOURCE_NAME, "--live", "--from",
                                   days[i][0], "--to", days[i][1], "--store", store);

        CHECK(cli_has(run.talk, "key ***") || cli_has(run.out, "key ***"), run.talk.data);
        planted_check_run(run, days[i][0]);
        planted_check_run(RUN("patra", "source", "test", SIM_SOURCE_NAME, "--live", "--json",
                              "--from", days[i][0], "--to", days[i][1], "--store", store),
                          "as JSON");
    }
    sim_stop(&sim);
}

TEST(an_address_that_cannot_be_read_is_refused_without_being_repeated)
{
    static const char *const addresses[] = {
        "postgresql://user:s3cr%zzet@host/db",
        "postgresql://user:100%s3cret@127.0.0.1:1/db",
        "postgresql://user:s3cr/et@host/db",
        "postgresql:///db?s3cret=x",
        "host=db password='s3cret",
        "host=db s3cret",
        "hots=db password=s3cret",
    };

    for (size_t i = 0; i < ARRAY_LEN(addresses); i++) {
        const struct run run = RUN("patra", "status", "--store", addresses[i]);

        CHECK(run.code == 2 || run.code == 4, addresses[i]);
        CHECK(cli_has(run.talk, "cannot be read"), run.talk.data);
        CHECK(!cli_has(run.talk, "s3cr") && !cli_has(run.out, "s3cr"), run.talk.data);
    }
}
