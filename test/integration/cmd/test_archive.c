/* The archive, as a user sees it: responses are replayed without a request, read again after the
 * source's file was changed, and bounded in size. PATRA_ARCHIVE_RECORDS is how many records are
 * read again. */
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "cli.h"
#include "run.h"
#include "sim_source.h"
#include "sql.h"
#include "test.h"

/* The first item of every page lacks the date that the first file looks for. */
#define FAULT "path=/generic kind=reshape member=updated_at as=nothing"

static const char *records_wanted(void)
{
    const char *text = getenv("PATRA_ARCHIVE_RECORDS");

    return text != NULL ? text : "2000";
}

/* The whole world of the simulator, three months, a day at a time. */
static struct run harvest_all(const char *store)
{
    return RUN("patra", "harvest", SIM_SOURCE_NAME, "--from", "2026-01-01", "--to", "2026-04-01",
               "--workers", "2", "--store", store);
}

static void apply_view(const char *store, const struct sim *sim, const char *dates,
                       const char *title, const char *view)
{
    char url[128], path[256], field[256];

    (void)snprintf(url, sizeof(url), "http.base_url=%s", sim->base);
    (void)snprintf(path, sizeof(path), "endpoints.records.response.updated_at=%s", dates);
    (void)snprintf(field, sizeof(field), "endpoints.records.fields.title=%s", title);
    REQUIRE(RUN("patra", "init", "--store", store).code == 0, "init");
    REQUIRE(RUN("patra", "source", "apply", "test/data/sim-sources/generic-offset.yaml", "--store",
                store, "--set", url, "--set", "rate.adaptive=false", "--set",
                "http.archive_keep=30d", "--set", path, "--set", field, "--set",
                "endpoints.records.page.size=200", "--set", view)
                    .code == 0,
            "apply");
}

static void apply(const char *store, const struct sim *sim, const char *dates, const char *title)
{
    apply_view(store, sim, dates, title, "endpoints.records.query.view=all");
}

/* Every record as readers see it: id, date, content, fields. A tombstone keeps the date that it was
 * deleted by (engine/rederive/rederive.h). */
static struct str all_of(struct arena *arena, const char *store)
{
    return sql_rows(arena, store,
                    "SELECT r.provider_id, CASE WHEN r.deleted THEN 0 ELSE r.updated_at END,"
                    " r.deleted, r.content_hash, f.fields"
                    " FROM ing_record r LEFT JOIN ing_record_fields f ON f.record_id = r.id"
                    " ORDER BY r.provider_id");
}

static int64_t requests_of(const struct sim *sim)
{
    char url[128];

    (void)snprintf(url, sizeof(url), "%s/_sim/audit", sim->base);
    return cli_number(RUN("/usr/bin/curl", "-s", url).out, "requests");
}

TEST(what_is_archived_is_read_again_as_a_fresh_harvest_would_read_it)
{
    const char *store = cli_sqlite("again"), *fresh = cli_sqlite("fresh");
    struct sim sim = SIM_SOURCE_START("--records", records_wanted(), "--fault", FAULT);
    struct arena arena;
    int64_t requests;
    struct run run;

    arena_init(&arena, (size_t)1 << 30);
    apply(store, &sim, "$.updated_at", "$.title");
    (void)harvest_all(store);
    CHECK(cli_number(RUN("patra", "quarantine", "list", "--json", "--store", store).out, "0.id") >
              0,
          "some could not be judged");
    requests = requests_of(&sim);
    /* The dates are looked for elsewhere, and a field has another path. */
    apply(store, &sim, "$.created_at", "$.type");
    run = RUN("patra", "rederive", SIM_SOURCE_NAME, "--diff", "--json", "--store", store);
    CHECK_EQ(run.code, 1, "something would change");
    CHECK(cli_number(run.out, "archive.created") > 0, "what was quarantined would be new");
    run = RUN("patra", "rederive", SIM_SOURCE_NAME, "--json", "--store", store);
    CHECK_EQ(run.code, 0, "read again");
    CHECK(cli_number(run.out, "archive.created") > 0, "what was quarantined is stored");
    CHECK_EQ(cli_number(run.out, "archive.unreadable"), 0, "every response was read");
    CHECK_EQ(requests_of(&sim), requests, "without one request");
    CHECK(cli_has(RUN("patra", "quarantine", "list", "--store", store).out, "(none)"), "resolved");
    apply(fresh, &sim, "$.created_at", "$.type");
    (void)harvest_all(fresh);
    CHECK(sql_number(store, "SELECT count(*) FROM ing_record") > 1000, "there are records");
    CHECK(str_eq(all_of(&arena, store), all_of(&arena, fresh)),
          "as a fresh harvest under the new file");
    run = RUN("patra", "rederive", SIM_SOURCE_NAME, "--json", "--store", store);
    CHECK_EQ(cli_number(run.out, "archive.created") + cli_number(run.out, "archive.updated"), 0,
             "once");
    printf("  %lld records, %lld packed bytes of %lld archived\n",
           (long long)sql_number(store, "SELECT count(*) FROM ing_record"),
           (long long)sql_number(store, "SELECT sum(packed_bytes) FROM ing_archive_body"),
           (long long)sql_number(store, "SELECT sum(raw_bytes) FROM ing_archive_body"));
    arena_release(&arena);
    sim_stop(&sim);
}

/* Also where the store knows the expression of the new query: a record that has it would count as
 * fetched by that query. */
TEST(what_is_read_from_the_archive_keeps_the_query_that_fetched_it)
{
    const char *store = cli_sqlite("query");
    struct sim sim = SIM_SOURCE_START("--records", "3000", "--fault", FAULT);
    struct run run;

    apply(store, &sim, "$.updated_at", "$.title");
    (void)RUN("patra", "harvest", SIM_SOURCE_NAME, "--from", "2026-02-01", "--to", "2026-02-02",
              "--workers", "1", "--store", store);
    apply_view(store, &sim, "$.created_at", "$.title", "endpoints.records.query.view=full");
    CHECK_EQ(RUN("patra", "trigger", SIM_SOURCE_NAME, "--store", store).code, 0, "the new query");
    run = RUN("patra", "rederive", SIM_SOURCE_NAME, "--json", "--store", store);
    CHECK(cli_number(run.out, "archive.created") > 0, "what was quarantined is stored");
    CHECK_EQ(sql_number(store, "SELECT count(DISTINCT e.query_hash) FROM ing_expr e JOIN ing_plan p"
                               " ON p.expr_proto_hash = e.expr_hash"),
             2, "two queries");
    CHECK_EQ(sql_number(store, "SELECT count(*) FROM ing_record r JOIN ing_expr e"
                               " ON e.expr_hash = r.expr_hash WHERE e.query_hash ="
                               " (SELECT x.query_hash FROM ing_expr x JOIN ing_plan p"
                               " ON p.expr_proto_hash = x.expr_hash ORDER BY p.id DESC LIMIT 1)"),
             0, "no record was fetched by the new one");
    sim_stop(&sim);
}

static void replay_offline(const char *store)
{
    struct sim sim = SIM_SOURCE_START("--records", "3000", "--fault", FAULT);
    struct run run;

    apply(store, &sim, "$.updated_at", "$.title");
    (void)RUN("patra", "harvest", SIM_SOURCE_NAME, "--from", "2026-02-01", "--to", "2026-02-02",
              "--workers", "1", "--store", store);
    sim_stop(&sim);
    run = RUN("patra", "batch", "replay", "1/1", "--offline", "--json", "--store", store);
    CHECK_EQ(run.code, 0, "without the source");
    CHECK_STR(cli_value(run.out, "identical"), STR("true"), "byte by byte");
    CHECK(cli_number(run.out, "counts.SAME") > 0, "record by record");
    /* By the file of now: what could not be judged can be. */
    apply(store, &sim, "$.created_at", "$.title");
    run = RUN("patra", "batch", "replay", "1/1", "--offline", "--current", "--json", "--store",
              store);
    CHECK_EQ(run.code, 1, "another reading");
    CHECK_EQ(cli_number(run.out, "counts.CHANGED"), 1, "of the one that was bad");
    run = RUN("patra", "batch", "replay", "1/1", "--offline", "--store", store);
    CHECK(cli_has(run.out, "the source has changed since"), "so it says");
    CHECK_EQ(run.code, 0, "by the snapshot of then it is the same");
}

TEST(a_response_is_replayed_from_the_archive_on_sqlite)
{
    replay_offline(cli_sqlite("offline"));
}

TEST(a_response_is_replayed_from_the_archive_on_postgres)
{
    replay_offline(cli_postgres());
}

TEST(the_archive_is_bounded_and_says_what_is_gone)
{
    const char *store = cli_sqlite("bounded");
    struct sim sim = SIM_SOURCE_START("--records", "3000");
    char url[128];
    struct run run;

    REQUIRE(RUN("patra", "init", "--store", store).code == 0, "init");
    (void)snprintf(url, sizeof(url), "http.base_url=%s", sim.base);
    REQUIRE(RUN("patra", "source", "apply", "test/data/sim-sources/generic-offset.yaml", "--store",
                store, "--set", url, "--set", "http.archive_keep=1d", "--set",
                "http.archive_size=1KiB")
                    .code == 0,
            "apply");
    (void)RUN("patra", "harvest", SIM_SOURCE_NAME, "--from", "2026-02-01", "--to", "2026-02-02",
              "--workers", "1", "--store", store);
    run = RUN("patra", "batch", "replay", "1/1", "--offline", "--store", store);
    CHECK_EQ(run.code, 4, "nothing to replay");
    CHECK(cli_has(run.talk, "its archived response is gone"), "and why");
    sim_stop(&sim);
}
