/* Applies sources that point at patra-sim, and has patra-sim verify the store. */
#include "sim_source.h"

#include <stdio.h>
#include <stdlib.h>

#include "base/instant.h"
#include "sim_requests.h"
#include "test.h"

enum { TEXT_BYTES = 1024 };

/* Ids of PubMed are up to 99999999. */
enum { PUBMED_CAP = 40, PUBMED_HALVINGS = 27 };

struct sim sim_source_start(const char *const *options)
{
    struct sim sim = { 0 };

    REQUIRE(sim_start(&sim, options), "patra-sim");
    return sim;
}

static void require_applied(struct run run)
{
    REQUIRE(run.code == 0, run.talk.len > 0 ? run.talk.data : "apply");
}

void sim_source_apply_file(const char *store, const struct sim *sim, const char *path,
                           const char *more)
{
    char url[TEXT_BYTES];

    (void)snprintf(url, sizeof(url), "http.base_url=%s", sim->base);
    REQUIRE(RUN("patra", "init", "--store", store).code == 0, "init");
    require_applied(RUN("patra", "source", "apply", path, "--store", store, "--set", url, "--set",
                        "rate.adaptive=false", "--set", more));
}

void sim_source_apply(const char *store, const struct sim *sim, const char *more)
{
    sim_source_apply_file(store, sim, "test/data/sim-sources/generic-offset.yaml", more);
}

void sim_source_pubmed_apply(const char *store, const struct sim *sim)
{
    char url[TEXT_BYTES], cap[TEXT_BYTES];

    (void)snprintf(cap, sizeof(cap), "endpoints.search.page.cap=%d", PUBMED_CAP);
    REQUIRE(setenv("PATRA_CONTACT", "somebody@example.org", 1) == 0, "environment");
    (void)snprintf(url, sizeof(url), "http.base_url=%s/entrez/eutils", sim->base);
    REQUIRE(RUN("patra", "init", "--store", store).code == 0, "init");
    require_applied(RUN("patra", "source", "apply", "sources/pubmed.yaml", "--store", store,
                        "--set", url, "--set", "http.allow_plain_http=true", "--set",
                        "endpoints.search.page.size=20", "--set", cap, "--set",
                        "rate.per_second=500", "--set", "rate.burst=500", "--set",
                        "rate.provider_limit=500"));
}

/* The store as patra-sim calls it; good until the next call. */
static const char *address_of(const char *store)
{
    static char address[TEXT_BYTES];

    (void)snprintf(address, sizeof(address), "%s%s", store[0] == '/' ? "sqlite:" : "", store);
    return address;
}

struct run sim_source_verify(const char *store, const struct sim *sim)
{
    sim_requests_check(sim, &(struct sim_requests_ask){
                                .store = store, .protocol = "generic", .source = SIM_SOURCE_NAME });
    return RUN("patra-sim", "verify", "--store", address_of(store), "--protocol", "generic",
               "--source", SIM_SOURCE_NAME, SIM_SOURCE_WINDOW, "--url", sim->base, "--json");
}

struct run sim_source_pubmed_verify(const char *store, const struct sim *sim, const char *from,
                                    const char *to)
{
    return RUN("patra-sim", "verify", "--store", address_of(store), "--protocol", "pubmed",
               "--source", "pubmed", "--endpoint", "search", "--from", from, "--to", to, "--url",
               sim->base);
}

void sim_source_pubmed_requests(const char *store, const struct sim *sim,
                                const struct sim_source_pubmed_need *need)
{
    sim_requests_check(sim, &(struct sim_requests_ask){ .store = store,
                                                        .protocol = "pubmed",
                                                        .source = "pubmed",
                                                        .id_batch = need->id_batch,
                                                        .overlap_us = US_PER_DAY,
                                                        .cap = need->is_capped ? PUBMED_CAP : 0,
                                                        .halvings = PUBMED_HALVINGS });
}
