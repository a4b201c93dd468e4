/* The sources that were added last, as a user runs them: harvested from the simulator, judged by
 * its books, and tried with every fault. */
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "cli.h"
#include "run.h"
#include "sim_source.h"
#include "sql.h"
#include "test.h"

#define ANY "retry.jitter=0"

static const struct added {
    const char *name;     /* of the source and its file */
    const char *endpoint; /* that it harvests */
    const char *base;     /* below the simulator */
    const char *protocol; /* of the truth */
    const char *field;    /* the date that its windows are of */
    const char *more[2];  /* further settings */
} added[] = {
    { "biorxiv", "details", "/biorxiv", "biorxiv", "created", { ANY, ANY } },
    { "medrxiv", "details", "/biorxiv", "medrxiv", "created", { ANY, ANY } },
    { "clinicaltrials",
      "studies",
      "/clinicaltrials/api/v2",
      "clinicaltrials",
      "updated",
      { "endpoints.studies.page.size=20", ANY } },
    /* Windows of two days have more than the cap, and no second has. */
    { "doaj",
      "articles",
      "/doaj/api",
      "doaj",
      "updated",
      { "endpoints.articles.page={ type: page, base: 1, size: 10, size_max: 100, cap: 30 }",
        "endpoints.articles.window.max=2d" } },
    { "semanticscholar",
      "papers",
      "/semanticscholar/small/graph/v1",
      "semanticscholar",
      "published",
      { ANY, "endpoints.papers.window.max=5d" } },
    { "zenodo", "records", "/oai/size20", "oai", "updated", { ANY, ANY } },
};

static struct run apply(const char *store, const struct sim *sim, const struct added *source)
{
    char file[64], url[256];

    REQUIRE(setenv("PATRA_CONTACT", "somebody@example.org", 1) == 0, "environment");
    (void)snprintf(file, sizeof(file), "sources/%s.yaml", source->name);
    (void)snprintf(url, sizeof(url), "http.base_url=%s%s", sim->base, source->base);
    return RUN("patra", "source", "apply", file, "--store", store, "--set", url, "--set",
               "http.allow_plain_http=true", "--set", "rate.per_second=500", "--set",
               "rate.provider_limit=500", "--set", "rate.with_credential=", "--set",
               "rate.adaptive=false", "--set", "rate.concurrency=4", "--set", "rate.burst=500",
               "--set", "retry.min_delay=1ms", "--set", "retry.max_delay=5ms", "--set",
               source->more[0], "--set", source->more[1]);
}

static struct run verify(const char *store, const struct sim *sim, const struct added *source)
{
    char address[512];

    (void)snprintf(address, sizeof(address), "%s%s", store[0] == '/' ? "sqlite:" : "", store);
    return RUN("patra-sim", "verify", "--store", address, "--protocol", source->protocol,
               "--source", source->name, "--endpoint", source->endpoint, "--field", source->field,
               "--from", "2026-01-10", "--to", "2026-01-20", "--url", sim->base, "--json");
}

/* A record's date is the one in its own bytes: the books have no date of what does not change by
 * it. */
static void check_dates(const char *store)
{
    CHECK_EQ(sql_number(store, "SELECT count(*) FROM ing_record JOIN ing_record_content"
                               " ON record_id = id WHERE provenance_code = 'biorxiv'"
                               " AND updated_at IS NOT unixepoch(json_extract(payload, '$.date'))"
                               " * 1000000"),
             0, "each has the date of its posting");
}

static void harvest_each(const char *store)
{
    struct sim sim = SIM_SOURCE_START("--records", "3000");

    REQUIRE(RUN("patra", "init", "--store", store).code == 0, "init");
    for (size_t i = 0; i < ARRAY_LEN(added); i++) {
        const struct run applied = apply(store, &sim, &added[i]);
        struct run run, judged;

        REQUIRE(applied.code == 0, applied.talk.len > 0 ? applied.talk.data : added[i].name);
        run = RUN("patra", "harvest", added[i].name, "--from", "2026-01-10", "--to", "2026-01-20",
                  "--store", store);
        CHECK_EQ(run.code, 0, added[i].name);
        if (run.code != 0)
            test_note("%.*s%.*s", STR_ARG(run.out), STR_ARG(run.talk));
        judged = verify(store, &sim, &added[i]);
        CHECK_EQ(judged.code, 0, added[i].name);
        CHECK(cli_number(judged.out, "right") > 100, "there was something to fetch");
        if (judged.code != 0)
            test_note("%.*s", STR_ARG(judged.out));
        run = RUN("patra", "harvest", added[i].name, "--from", "2026-01-10", "--to", "2026-01-20",
                  "--store", store);
        CHECK(cli_has(run.out, ": 0 new, 0 changed"), "nothing is new");
    }
    if (store[0] == '/')
        check_dates(store);
    sim_stop(&sim);
}

TEST(new_sources_hold_what_the_simulator_has_on_sqlite)
{
    harvest_each(cli_sqlite("added"));
}

TEST(new_sources_hold_what_the_simulator_has_on_postgres)
{
    harvest_each(cli_postgres());
}

TEST(no_fault_makes_a_new_source_wrong)
{
    for (size_t i = 0; i < ARRAY_LEN(added); i++) {
        char file[64];
        struct run run;

        (void)snprintf(file, sizeof(file), "sources/%s.yaml", added[i].name);
        run = RUN("patra", "source", "test", file, "--faults");
        CHECK_EQ(run.code, 0, file);
        CHECK(cli_has(run.out, "recovered, retried"), file);
        CHECK(!cli_has(run.out, "WRONG"), file);
        if (run.code != 0)
            test_note("%.*s%.*s", STR_ARG(run.out), STR_ARG(run.talk));
    }
}

/* ---- a template ---- */

static void use_template(const char *store)
{
    const struct run init = RUN("patra", "init", "--store", store);
    struct run run;

    REQUIRE(init.code == 0, "init");
    run = RUN("patra", "source", "apply", "sources/zenodo.yaml", "--store", store, "--set",
              "endpoints.records.window.lookback=5d");
    REQUIRE(run.code == 0, run.talk.len > 0 ? run.talk.data : "apply");
    run = RUN("patra", "source", "show", "--resolved", "zenodo", "--store", store);
    CHECK(cli_has(run.out, "page.type                                          template  token\n"),
          "what is the template's");
    CHECK(cli_has(run.out, "window.lookback                                    config    5d\n"),
          "what is not");
    run = RUN("patra", "source", "export", "zenodo", "--store", store);
    CHECK(cli_has(run.out, "template: oai-pmh\n"), "the template by its name");
    CHECK(cli_has(run.out, "      lookback: 5d\n"), "and what replaces it");
    CHECK(!cli_has(run.out, "ListRecords"), "but not the rest");
    run = RUN("patra", "source", "diff", "sources/zenodo.yaml", "--store", store);
    CHECK(cli_has(run.out, "~ endpoints.records.window.lookback: 5d -> 2d (template)\n"),
          "back to the template");
    CHECK(!cli_has(run.out, "page"), "and nothing else");
}

TEST(a_source_keeps_what_is_its_templates_on_sqlite)
{
    use_template(cli_sqlite("template"));
}

TEST(a_source_keeps_what_is_its_templates_on_postgres)
{
    use_template(cli_postgres());
}
