/* Several credentials of one source, as a user sees it: in turn, by quota, and left out. */
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>

#include "cli.h"
#include "run.h"
#include "sim_source.h"
#include "sql.h"
#include "test.h"

static const char KEYS_SOURCE[] =
    "source: generic-offset\n"
    "http: { base_url: \"http://127.0.0.1:1\", allow_plain_http: true }\n"
    "rate: { per_second: 1000, burst: 1000, concurrency: 8, meaning_429: quota }\n"
    "retry: { min_delay: 1ms, max_delay: 20ms }\n"
    "auth: { type: api_key, location: header, name: X-Key }\n"
    "credentials:\n"
    "  worn: { priority: 1, secret: env:SIM_KEY_BAD }\n"
    "  main: { priority: 2, secret: env:SIM_KEY_MAIN }\n"
    "  extra: { priority: 3, secret: env:SIM_KEY_SPARE, per_second: 500 }\n"
    "endpoints:\n"
    "  records:\n"
    "    role: search\n"
    "    path: /generic/offset\n"
    "    query: { offset: \"${page.offset}\", limit: \"${page.size}\", from: \"${window.from}\","
    " to: \"${window.to}\" }\n"
    "    page: { type: offset, size: 40, size_min: 5, size_max: 1000 }\n"
    "    window: { key: updated_at, granularity: microsecond, lag: 1m, max: 1d, min: 1m }\n"
    "    response: { items: $.items, id: $.id, updated_at: $.updated_at, version: $.version,"
    " deleted: $.deleted, merged_into: $.merged_into, total: $.total }\n"
    "operations:\n"
    "  harvest: { endpoint: records }\n";

/* What the simulator has counted for the rule of this number. */
static int64_t served_with(const struct sim *sim, int rule, const char *what)
{
    char url[256], path[32];

    (void)snprintf(url, sizeof(url), "%s/_sim/credentials", sim->base);
    (void)snprintf(path, sizeof(path), "%d.%s", rule, what);
    return cli_number(RUN("/usr/bin/curl", "-s", url).out, path);
}

static void keys_in_turn(const char *store)
{
    struct sim sim = SIM_SOURCE_START(
        "--records", "2000", "--auth",
        "path=/generic type=api_key in=header name=X-Key value=key-main-1 quota=7", "--auth",
        "path=/generic type=api_key in=header name=X-Key value=key-spare-2");
    char path[512];
    struct run run;
    FILE *file;

    REQUIRE(setenv("SIM_KEY_BAD", "key-bad-0", 1) == 0 &&
                setenv("SIM_KEY_MAIN", "key-main-1", 1) == 0 &&
                setenv("SIM_KEY_SPARE", "key-spare-2", 1) == 0,
            "environment");
    (void)snprintf(path, sizeof(path), "%s/keys.yaml", test_folder());
    file = fopen(path, "w");
    REQUIRE(file != NULL && fputs(KEYS_SOURCE, file) >= 0 && fclose(file) == 0, path);
    sim_source_apply_file(store, &sim, path, "rate.burst=1000");
    run = RUN("patra", "harvest", SIM_SOURCE_NAME, SIM_SOURCE_WINDOW, "--workers", "1", "--store",
              store);
    CHECK_EQ(run.code, 0, "everything was fetched");
    CHECK_EQ(sim_source_verify(store, &sim).code, 0, "and is right");
    CHECK_EQ(served_with(&sim, 0, "served"), 7, "the first key that is accepted, to its quota");
    CHECK_EQ(served_with(&sim, 0, "over"), 1, "which one request found used up");
    CHECK(served_with(&sim, 1, "served") > 1, "then the spare one");
    CHECK_EQ(sql_number(store, "SELECT count(*) FROM ing_task_run_batch"
                               " WHERE request_digest ->> 'credential' = 'main'"),
             7, "each batch says with which");
    CHECK_EQ(sql_number(store, "SELECT count(*) FROM ing_task_run_batch"
                               " WHERE CAST(request_digest AS text) LIKE '%key-main-1%'"
                               "    OR CAST(response_digest AS text) LIKE '%key-main-1%'"),
             0, "by name, not by value");
    run = RUN("patra", "status", "--store", store);
    CHECK(cli_has(run.out, "the credential worn was refused"),
          "one that is refused needs a person");
    CHECK(cli_has(run.out, "(status 403)"), "and says how");
    CHECK(cli_has(run.out, "patra resume generic-offset"), "what to do");
    CHECK_EQ(run.code, 1, "exit code");
    CHECK(cli_has(run.out, "generic-offset/records#main"), "each has a gate");
    run = RUN("patra", "resume", SIM_SOURCE_NAME, "--store", store);
    CHECK(cli_has(run.out, "resumed"), "it is used again");
    run = RUN("patra", "status", "--store", store);
    CHECK(!cli_has(run.out, "was refused"), "until it is refused again");
    sim_stop(&sim);
}

TEST(keys_are_used_in_turn_by_quota_and_a_refused_one_is_put_aside_on_sqlite)
{
    keys_in_turn(cli_sqlite("keys"));
}

TEST(keys_are_used_in_turn_by_quota_and_a_refused_one_is_put_aside_on_postgres)
{
    keys_in_turn(cli_postgres());
}
