/* The table of shapes, the table of faults, and which fault matters to which shape. */
#include "sim_shapes.h"

#include <stdio.h>
#include <string.h>

#include "base/instant.h"
#include "test.h"

#define SIM_SOURCE(name) "test/data/sim-sources/" name ".yaml"
#define ALL                                                                                        \
    " offset page0 page1 token header next link time single details oai oai-post history epmc-xml" \
    " crossref pubmed europepmc openalex datacite arxiv "

const struct sim_shape sim_shapes[SIM_SHAPES] = {
    { .name = "offset",
      .file = SIM_SOURCE("generic-offset"),
      .source = "generic-offset",
      .endpoint = "records",
      .path = "",
      .protocol = "generic",
      .date_us = 1,
      .to = SIM_TO,
      .edits = { { STR_INIT("endpoints.records.page.size"), STR_INIT("20") } } },
    { .name = "page0",
      .file = SIM_SOURCE("generic-page0"),
      .source = "generic-page0",
      .endpoint = "records",
      .path = "",
      .protocol = "generic",
      .date_us = 1,
      .to = SIM_TO,
      .edits = { { STR_INIT("endpoints.records.page.size"), STR_INIT("20") } } },
    { .name = "page1",
      .file = SIM_SOURCE("generic-page1"),
      .source = "generic-page1",
      .endpoint = "records",
      .path = "",
      .protocol = "generic",
      .date_us = 1,
      .to = SIM_TO,
      .edits = { { STR_INIT("endpoints.records.page.size"), STR_INIT("20") } } },
    { .name = "token",
      .file = SIM_SOURCE("generic-token"),
      .source = "generic-token",
      .endpoint = "records",
      .path = "",
      .protocol = "generic",
      .date_us = 1,
      .to = SIM_TO,
      .edits = { { STR_INIT("endpoints.records.page.size"), STR_INIT("20") } } },
    { .name = "header",
      .file = SIM_SOURCE("generic-header"),
      .source = "generic-header",
      .endpoint = "records",
      .path = "",
      .protocol = "generic",
      .date_us = 1,
      .to = SIM_TO,
      .edits = { { STR_INIT("endpoints.records.page.size"), STR_INIT("20") } } },
    { .name = "next",
      .file = SIM_SOURCE("generic-next"),
      .source = "generic-next",
      .endpoint = "records",
      .path = "",
      .protocol = "generic",
      .date_us = 1,
      .to = SIM_TO,
      .edits = { { STR_INIT("endpoints.records.page.size"), STR_INIT("20") } } },
    { .name = "link",
      .file = SIM_SOURCE("generic-link"),
      .source = "generic-link",
      .endpoint = "records",
      .path = "",
      .protocol = "generic",
      .date_us = 1,
      .to = SIM_TO,
      .edits = { { STR_INIT("endpoints.records.page.size"), STR_INIT("20") } } },
    { .name = "time",
      .file = SIM_SOURCE("generic-time"),
      .source = "generic-time",
      .endpoint = "records",
      .path = "",
      .protocol = "generic",
      .date_us = 1,
      .to = SIM_TO,
      .edits = { { STR_INIT("endpoints.records.page.size"), STR_INIT("20") } } },
    { .name = "single",
      .file = SIM_SOURCE("generic-single"),
      .source = "generic-single",
      .endpoint = "records",
      .path = "",
      .protocol = "generic",
      .date_us = 1,
      .to = SIM_TO },
    { .name = "details",
      .file = SIM_SOURCE("generic-details"),
      .source = "generic-details",
      .endpoint = "list",
      .path = "",
      .protocol = "generic",
      .date_us = 1,
      .to = SIM_TO_SHORT,
      .update = "update",
      .page_path = "/generic/offset",
      .edits = { { STR_INIT("endpoints.list.page.size"), STR_INIT("20") } } },
    { .name = "oai",
      .file = SIM_SOURCE("oai"),
      .source = "oai",
      .endpoint = "records",
      .path = "",
      .protocol = "oai",
      .date_us = 1000000,
      .to = SIM_TO,
      .edits = { { STR_INIT("endpoints.records.path"), STR_INIT("/oai/size20") } } },
    { .name = "oai-post",
      .file = SIM_SOURCE("oai-post"),
      .source = "oai-post",
      .endpoint = "records",
      .path = "",
      .protocol = "oai",
      .date_us = 1000000,
      .to = SIM_TO,
      .edits = { { STR_INIT("endpoints.records.path"), STR_INIT("/oai/size20.extra") },
                 { STR_INIT("endpoints.records.window.min"), STR_INIT("3h") } } },
    { .name = "history",
      .file = SIM_SOURCE("pubmed-history"),
      .source = "pubmed-history",
      .endpoint = "search",
      .path = "",
      .protocol = "pubmed",
      .date_us = US_PER_DAY,
      .to = SIM_TO,
      .page_path = "/entrez/eutils/efetch.fcgi",
      .total_path = "/entrez/eutils/esearch.fcgi",
      .edits = { { STR_INIT("endpoints.fetch.page.size"), STR_INIT("20") } } },
    { .name = "epmc-xml",
      .file = SIM_SOURCE("europepmc-xml"),
      .source = "europepmc-xml",
      .endpoint = "search",
      .path = "",
      .protocol = "europepmc-xml",
      .date_us = 0,
      .to = SIM_TO,
      .edits = { { STR_INIT("endpoints.search.page.size"), STR_INIT("20") } } },
    { .name = "crossref",
      .file = "sources/crossref.yaml",
      .source = "crossref",
      .endpoint = "works",
      .path = "/crossref",
      .protocol = "crossref",
      .detail_protocol = "crossref-work",
      .date_us = 1000,
      .to = SIM_TO,
      .long_slices = "endpoints.works.window.max",
      .update = "update",
      .edits = { { STR_INIT("endpoints.works.page.size"), STR_INIT("20") } } },
    { .name = "pubmed",
      .file = "sources/pubmed.yaml",
      .source = "pubmed",
      .endpoint = "search",
      .path = "/entrez/eutils",
      .protocol = "pubmed",
      .date_us = US_PER_DAY,
      .to = SIM_TO,
      .update = "update",
      .edits = { { STR_INIT("endpoints.search.page.size"), STR_INIT("25") },
                 { STR_INIT("endpoints.fetch.batch.id_batch_size"), STR_INIT("20") } },
      .page_path = "/entrez/eutils/esearch.fcgi" },
    { .name = "europepmc",
      .file = "sources/europepmc.yaml",
      .source = "europepmc",
      .endpoint = "search",
      .path = "/europepmc/webservices/rest",
      .protocol = "europepmc",
      .date_us = 0,
      .to = SIM_TO,
      .edits = { { STR_INIT("endpoints.search.page.size"), STR_INIT("30") } } },
    { .name = "openalex",
      .file = "sources/openalex.yaml",
      .source = "openalex",
      .endpoint = "works",
      .path = "/openalex",
      .protocol = "openalex",
      .date_us = 1,
      .to = SIM_TO,
      .long_slices = "endpoints.works.window.max",
      .update = "update",
      .edits = { { STR_INIT("endpoints.works.page.size"), STR_INIT("20") } } },
    { .name = "datacite",
      .file = "sources/datacite.yaml",
      .source = "datacite",
      .endpoint = "dois",
      .path = "/datacite",
      .protocol = "datacite",
      .detail_protocol = "datacite-doi",
      .date_us = 1000000,
      .to = SIM_TO,
      .long_slices = "endpoints.dois.window.max",
      .update = "update",
      .edits = { { STR_INIT("endpoints.dois.page.size"), STR_INIT("25") } } },
    { .name = "arxiv",
      .file = "sources/arxiv.yaml",
      .source = "arxiv",
      .endpoint = "records",
      .path = "",
      .protocol = "arxiv",
      .date_us = US_PER_DAY,
      .to = SIM_TO,
      .update = "update",
      .edits = { { STR_INIT("endpoints.records.path"), STR_INIT("/oai/arxiv.size20") } } },
};

const struct sim_fault sim_faults[SIM_FAULTS] = {
    { "429 with Retry-After", "nth=2 kind=status code=429 retry_after=1", true },
    { "429 with a date", "nth=2 kind=status code=429 retry_after=date+1", true },
    { "429 zero", "nth=1 by=request kind=status code=429 retry_after=0", false },
    { "429 html", "nth=1 by=request kind=status code=429 body=html", false },
    { "429 past", "nth=1 by=request kind=status code=429 retry_after=past", false },
    { "503 empty", "nth=1 by=request kind=status code=503 body=empty", false },
    { "500 html twice", "nth=1,2 by=request kind=status code=500 body=html", false },
    { "reset before", "nth=1 by=request kind=reset at=before", false },
    { "reset reply", "nth=1 by=request kind=reset at=reply", false },
    { "reset mid", "nth=1 by=request kind=reset at=mid keep=50", false },
    { "close", "nth=1 by=request kind=close", false },
    { "stall before", "nth=2 kind=stall at=before ms=4000", true },
    { "stall mid", "nth=2 kind=stall at=mid ms=4000", true },
    { "drip", "nth=2 kind=drip bps=2000000", false },
    { "truncate right", "nth=1 by=request kind=truncate keep=50", false },
    { "truncate short", "nth=1 by=request kind=truncate keep=50 length=short", false },
    { "truncate none", "nth=1 by=request kind=truncate keep=50 length=none", false },
    { "truncate chunked", "nth=1 by=request kind=truncate keep=50 length=chunked", false },
    { "length more", "nth=1 by=request kind=length delta=100", false },
    { "length less", "nth=1 by=request kind=length delta=-10", false },
    { "garbage", "nth=1 by=request kind=garbage bytes=300", false },
    { "html", "nth=1 by=request kind=html", false },
    { "html as json", "nth=1 by=request kind=html keep_type", false },
    { "empty", "nth=1 by=request kind=empty", false },
    { "oversize", "nth=2 kind=oversize mb=5", false },
    { "bomb", "nth=2 kind=bomb mb=10", false },
    { "latin1", "nth=1 by=request kind=charset charset=latin1", false },
    { "utf16", "nth=1 by=request kind=charset charset=utf16", false },
    { "redirect", "nth=2 kind=redirect code=302", false },
    { "body error", "nth=1 by=request kind=body_error", false },
    { "empty page", "nth=1 by=request kind=empty_page", false },
    { "repeat page", "nth=2 kind=repeat_page", false },
    { "repeat pages", "nth=1 by=request kind=repeat_page", false },
    { "shift page", "nth=2 kind=shift_page", false },
    { "repeat token", "nth=1 by=request kind=repeat_token", false },
    { "expired token", "nth=2 kind=expired_token", false },
    { "moving total", "nth=2 kind=moving_total", false },
    { "next elsewhere", "nth=1 by=request kind=next_elsewhere", false },
    { "no id", "nth=2 kind=record_no_id", false },
    { "no date", "nth=2 kind=record_no_date", false },
    { "bad date", "nth=2 kind=record_bad_date", false },
    { "missing details", "nth=2 kind=missing_details", false },
    { "one in three", "rate=0.3 times=6 kind=status code=500", false },
};

/* ---- a source, pointed at the simulator ---- */

enum { EDITS_MAX = 16 };

struct edit_list sim_shape_edits(struct arena *arena, const struct sim *sim,
                                 const struct sim_shape *shape, bool with_long_slices)
{
    const struct edit common[] = {
        { STR("http.base_url"), arena_printf(arena, "%s%s", sim->base, shape->path) },
        { STR("http.allow_plain_http"), STR("true") },
        { STR("http.read_timeout"), STR("2s") },
        { STR("http.body_max"), STR("4MiB") },
        { STR("http.inflated_max"), STR("8MiB") },
        { STR("retry.min_delay"), STR("1ms") },
        { STR("retry.max_delay"), STR("20ms") },
    };
    struct edit *edits = ARENA_ARRAY(arena, struct edit, EDITS_MAX);
    size_t count = 0;

    REQUIRE(edits != NULL, "memory");
    for (size_t i = 0; i < ARRAY_LEN(common); i++)
        edits[count++] = common[i];
    for (size_t i = 0; i < ARRAY_LEN(shape->edits) && shape->edits[i].path.len > 0; i++)
        edits[count++] = shape->edits[i];
    if (with_long_slices && shape->long_slices != NULL)
        edits[count++] = (struct edit){ str_of(shape->long_slices), STR("1d") };
    return (struct edit_list){ edits, count };
}

/* ---- faults ---- */

/* Where faults of pages, and of totals, belong: on requests that have one. */
static const char *path_of(const struct sim_shape *shape, struct str rule)
{
    const bool has_total = str_ends(rule, STR("moving_total")) && shape->total_path != NULL;

    if (has_total)
        return shape->total_path;
    if (str_ends(rule, STR("repeat_page")) || str_ends(rule, STR("shift_page")) ||
        str_ends(rule, STR("moving_total")))
        return shape->page_path;
    return NULL;
}

struct str sim_fault_rule(struct arena *arena, const struct sim_shape *shape,
                          const struct sim_fault *fault)
{
    const struct str rule = str_of(fault->rule);
    const struct str each = STR("nth=1 by=request "), twice = STR("nth=1,2 by=request ");
    const char *path = path_of(shape, rule);

    if (path != NULL)
        return arena_printf(arena, "path=%s %s", path, fault->rule);
    if (strcmp(shape->name, "crossref") != 0)
        return rule;
    if (str_starts(rule, each))
        return arena_printf(arena, "nth=2 %s", rule.data + each.len);
    if (str_starts(rule, twice))
        return arena_printf(arena, "nth=2,3 %s", rule.data + twice.len);
    return rule;
}

bool sim_names_have(const char *names, const char *name)
{
    char between[40];

    (void)snprintf(between, sizeof(between), " %s ", name);
    return strstr(names, between) != NULL;
}

struct exception {
    const char *fault; /* and the same, lasting */
    const char *shapes;
    const char *because;
};

static const struct exception unseen[] = {
    { "latin1", " details history pubmed openalex ",
      "an answer whose odd letters have all become question marks is a good one" },
    { "no date", " europepmc epmc-xml ", "where no date is read, none is missed" },
    { "bad date", " europepmc epmc-xml ", "where no date is read, none is missed" },
    { "no date, lasting", " details time ", "a tombstone may have no date" },
    { "shift page, lasting", " header link time oai ",
      "without a total the only page of a slice may lack its first record" },
};

static const struct exception idle[] = {
    { "drip", ALL, "the same bytes, only slower" },
    { "utf16", " oai oai-post epmc-xml arxiv ", "XML says its encoding, and is read in it" },
    { "repeat page", " single ", "there is one page, and none before it" },
    { "repeat pages", " single ", "there is one page, and none before it" },
    { "repeat page", " time ", "every request asks for its own first page" },
    { "repeat pages", " time ", "every request asks for its own first page" },
    { "shift page", " time ", "a page begins with what the last one ended with" },
    { "repeat token", " offset page0 page1 time single details history pubmed ",
      "it has no token" },
    { "repeat token", " crossref ", "a scroll's token stays the same by right" },
    { "expired token", " offset page0 page1 time single details pubmed ", "it has no token" },
    { "expired token", " next link ", "its links hold numbers of pages, which do not expire" },
    { "moving total", " header link time arxiv ", "it returns no total" },
    { "next elsewhere",
      " offset page0 page1 token header time single details oai oai-post history epmc-xml crossref"
      " pubmed europepmc openalex arxiv ",
      "it has no link to a next page, or follows none" },
    { "no date, lasting", " europepmc ", "where no date is read, none is missed" },
    { "bad date, lasting", " europepmc ", "where no date is read, none is missed" },
    { "missing details",
      " offset page0 page1 token header next link time single oai oai-post epmc-xml crossref"
      " europepmc openalex datacite arxiv ",
      "it has no second phase" },
    { "missing details", " details ", "one id to a request: it is there, or 404" },
};

/* "no id" is meant by "no id, lasting" as well. */
static bool is_meant(const char *name, const char *fault)
{
    const size_t len = strlen(name);

    return strncmp(fault, name, len) == 0 &&
           (fault[len] == '\0' || strcmp(fault + len, ", lasting") == 0);
}

static const char *because(const struct exception *list, size_t count,
                           const struct sim_shape *shape, const struct sim_fault *fault)
{
    for (size_t i = 0; i < count; i++) {
        if (is_meant(list[i].fault, fault->name) && sim_names_have(list[i].shapes, shape->name))
            return list[i].because;
    }
    return NULL;
}

const char *sim_fault_unseen(const struct sim_shape *shape, const struct sim_fault *fault)
{
    return because(unseen, ARRAY_LEN(unseen), shape, fault);
}

const char *sim_fault_idle(const struct sim_shape *shape, const struct sim_fault *fault)
{
    return because(idle, ARRAY_LEN(idle), shape, fault);
}

/* ---- the simulator ---- */

struct str sim_ask(struct http *http, struct arena *arena, const struct sim *sim,
                   const char *method, const char *path, const char *body)
{
    const struct http_request request = {
        .method = str_of(method),
        .url = arena_printf(arena, "%s%s", sim->base, path),
        .body = str_of(body),
        .allow_plain_http = true,
    };
    struct http_response reply;
    struct error err;

    REQUIRE_OK(http_send(http, arena, &request, &reply, &err), err);
    REQUIRE(reply.status == 200, path);
    return reply.body;
}

void sim_set_fault(struct http *http, struct arena *arena, const struct sim *sim, const char *rule)
{
    (void)sim_ask(http, arena, sim, "DELETE", "/_sim/faults", NULL);
    if (rule != NULL)
        (void)sim_ask(http, arena, sim, "POST", "/_sim/faults", rule);
}
