/* The table of shapes, the table of faults, and which fault matters to which shape. */
#include "sim_shapes.h"

#include <stdio.h>
#include <string.h>

#include "base/instant.h"
#include "test.h"
#include "within.h"

#define SIM_SOURCE(name) "test/data/sim-sources/" name ".yaml"
#define ALL                                                                                      \
    " offset page0 page1 token header next link time since single details oai oai-post history " \
    "epmc-xml"                                                                                   \
    " crossref pubmed europepmc openalex datacite arxiv changes sync "

const struct sim_shape sim_shapes[SIM_SHAPES] = {
    { .name = "offset",
      .file = SIM_SOURCE("generic-offset"),
      .source = "generic-offset",
      .endpoint = "records",
      .path = "",
      .protocol = "generic",
      .date_us = 1,
      .to = SIM_TO,
      .members = { "items", "total", NULL, "title" },
      .need = { .paging = NEED_OFFSET, .size = 20, .shows_end = true },
      .edits = { { STR_INIT("endpoints.records.page.size"), STR_INIT("20") } } },
    { .name = "page0",
      .file = SIM_SOURCE("generic-page0"),
      .source = "generic-page0",
      .endpoint = "records",
      .path = "",
      .protocol = "generic",
      .date_us = 1,
      .to = SIM_TO,
      .members = { "items", "total", NULL, "title" },
      .need = { .paging = NEED_PAGE0, .size = 20, .shows_end = true },
      .edits = { { STR_INIT("endpoints.records.page.size"), STR_INIT("20") } } },
    { .name = "page1",
      .file = SIM_SOURCE("generic-page1"),
      .source = "generic-page1",
      .endpoint = "records",
      .path = "",
      .protocol = "generic",
      .date_us = 1,
      .to = SIM_TO,
      .members = { "items", "total", NULL, "title" },
      .need = { .paging = NEED_PAGE1, .size = 20, .shows_end = true },
      .edits = { { STR_INIT("endpoints.records.page.size"), STR_INIT("20") } } },
    { .name = "token",
      .file = SIM_SOURCE("generic-token"),
      .source = "generic-token",
      .endpoint = "records",
      .path = "",
      .protocol = "generic",
      .date_us = 1,
      .to = SIM_TO,
      .members = { "items", "total", "nextToken", "title" },
      .need = { .paging = NEED_TOKEN, .size = 20, .shows_end = true },
      .edits = { { STR_INIT("endpoints.records.page.size"), STR_INIT("20") } } },
    { .name = "header",
      .file = SIM_SOURCE("generic-header"),
      .source = "generic-header",
      .endpoint = "records",
      .path = "",
      .protocol = "generic",
      .date_us = 1,
      .to = SIM_TO,
      .members = { "items", NULL, NULL, "title" },
      .need = { .paging = NEED_TOKEN_HEADER, .size = 20 },
      .edits = { { STR_INIT("endpoints.records.page.size"), STR_INIT("20") } } },
    { .name = "next",
      .file = SIM_SOURCE("generic-next"),
      .source = "generic-next",
      .endpoint = "records",
      .path = "",
      .protocol = "generic",
      .date_us = 1,
      .to = SIM_TO,
      .members = { "items", "total", "next", "title" },
      .need = { .paging = NEED_URL, .size = 20, .shows_end = true },
      .edits = { { STR_INIT("endpoints.records.page.size"), STR_INIT("20") } } },
    { .name = "link",
      .file = SIM_SOURCE("generic-link"),
      .source = "generic-link",
      .endpoint = "records",
      .path = "",
      .protocol = "generic",
      .date_us = 1,
      .to = SIM_TO,
      .members = { "", NULL, NULL, "title" },
      .need = { .paging = NEED_LINK, .size = 20 },
      .edits = { { STR_INIT("endpoints.records.page.size"), STR_INIT("20") } } },
    { .name = "time",
      .file = SIM_SOURCE("generic-time"),
      .source = "generic-time",
      .endpoint = "records",
      .path = "",
      .protocol = "generic",
      .date_us = 1,
      .to = SIM_TO,
      .members = { "items", NULL, NULL, "title" },
      .need = { .paging = NEED_TIME, .size = 20 },
      .edits = { { STR_INIT("endpoints.records.page.size"), STR_INIT("20") } } },
    { .name = "since",
      .file = SIM_SOURCE("generic-since"),
      .source = "generic-since",
      .endpoint = "records",
      .path = "",
      .protocol = "generic",
      .date_us = 1,
      .to = SIM_TO,
      .members = { "items", NULL, NULL, "title" },
      .need = { .paging = NEED_SINCE, .size = 20 },
      .edits = { { STR_INIT("endpoints.records.page.size"), STR_INIT("20") } } },
    { .name = "single",
      .file = SIM_SOURCE("generic-single"),
      .source = "generic-single",
      .endpoint = "records",
      .path = "",
      .protocol = "generic",
      .date_us = 1,
      .to = SIM_TO,
      .members = { "items", "total", NULL, "title" },
      .need = { .paging = NEED_SINGLE, .shows_end = true } },
    { .name = "details",
      .file = SIM_SOURCE("generic-details"),
      .source = "generic-details",
      .endpoint = "list",
      .path = "",
      .protocol = "generic",
      .date_us = 1,
      .to = SIM_TO_SHORT,
      .members = { "items", "total", NULL, "title" },
      .need = { .paging = NEED_OFFSET, .size = 20, .shows_end = true, .id_batch = 1 },
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
      .members = { "ListRecords", "@completeListSize", "resumptionToken", "title" },
      .need = { .paging = NEED_TOKEN, .size = 20, .shows_end = true },
      .edits = { { STR_INIT("endpoints.records.path"), STR_INIT("/oai/size20") } } },
    { .name = "oai-post",
      .file = SIM_SOURCE("oai-post"),
      .source = "oai-post",
      .endpoint = "records",
      .path = "",
      .protocol = "oai",
      .date_us = 1000000,
      .to = SIM_TO,
      .members = { "ListRecords", "@completeListSize", "resumptionToken", "title" },
      .need = { .paging = NEED_TOKEN, .size = 20 },
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
      .members = { NULL, "count", NULL, "ArticleTitle" },
      .need = { .paging = NEED_OFFSET, .size = 20 },
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
      .members = { "resultList", "hitCount", "nextCursorMark", "title" },
      .need = { .paging = NEED_TOKEN, .size = 20, .shows_end = true },
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
      .members = { "items", "total-results", "next-cursor", "title" },
      .need = { .paging = NEED_TOKEN, .size = 20 },
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
      .members = { "idlist", "count", NULL, "ArticleTitle" },
      .need = { .paging = NEED_OFFSET, .size = 25, .shows_end = true, .id_batch = 20 },
      .overlap_us = US_PER_DAY,
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
      .members = { "resultList", "hitCount", "nextCursorMark", "title" },
      .need = { .paging = NEED_TOKEN, .size = 30, .shows_end = true },
      .overlap_us = US_PER_DAY,
      .edits = { { STR_INIT("endpoints.search.page.size"), STR_INIT("30") } } },
    { .name = "openalex",
      .file = "sources/openalex.yaml",
      .source = "openalex",
      .endpoint = "works",
      .path = "/openalex",
      .protocol = "openalex",
      .date_us = 1,
      .to = SIM_TO,
      .members = { "results", "count", "next_cursor", "title" },
      .need = { .paging = NEED_TOKEN, .size = 20, .shows_end = true },
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
      .members = { "data", "total", "next", "titles" },
      .need = { .paging = NEED_URL, .size = 25, .shows_end = true },
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
      .members = { "ListRecords", NULL, "resumptionToken", "title" },
      .need = { .paging = NEED_TOKEN, .size = 20, .shows_end = true },
      .update = "update",
      .edits = { { STR_INIT("endpoints.records.path"), STR_INIT("/oai/arxiv.size20") } } },
    { .name = "changes",
      .file = SIM_SOURCE("generic-changes"),
      .source = "generic-changes",
      .endpoint = "changes",
      .path = "",
      .protocol = "generic-feed",
      .date_us = 1,
      .to = SIM_TO,
      .members = { "changes", NULL, NULL, "title" },
      .need = { .paging = NEED_SINCE, .size = 20 },
      .feed = CURSOR_ID,
      .edits = { { STR_INIT("endpoints.changes.page.size"), STR_INIT("20") },
                 { STR_INIT("endpoints.changes.query.from"), STR_INIT(SIM_FROM) },
                 { STR_INIT("endpoints.changes.query.to"), STR_INIT(SIM_TO) } } },
    { .name = "sync",
      .file = SIM_SOURCE("generic-sync"),
      .source = "generic-sync",
      .endpoint = "records",
      .path = "",
      .protocol = "generic-sync",
      .date_us = 1,
      .to = SIM_TO,
      .update = "update",
      .page_path = "/generic/sync",
      .members = { "items", NULL, "nextPageToken", "title" },
      .need = { .paging = NEED_TOKEN, .size = 20 },
      .feed = CURSOR_TOKEN,
      .edits = { { STR_INIT("endpoints.records.page.size"), STR_INIT("20") },
                 { STR_INIT("endpoints.records.query.from"), STR_INIT(SIM_FROM) },
                 { STR_INIT("endpoints.records.query.to"), STR_INIT(SIM_TO) } } },
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
    { "list an object", "nth=1 by=request kind=reshape member=LIST as=object", false },
    { "error object", "nth=1 by=request kind=reshape as=object", false },
    { "no list", "nth=1 by=request kind=reshape member=LIST as=nothing", false },
    { "no total", "nth=1 by=request kind=reshape member=TOTAL as=nothing", false },
    { "null total", "nth=1 by=request kind=reshape member=TOTAL as=null", false },
    { "no next", "nth=1 by=request kind=reshape member=NEXT as=nothing", false },
    { "next an object", "nth=1 by=request kind=reshape member=NEXT as=wrapped", false },
    { "other content", "from=2 to=9 kind=reshape member=TITLE as=altered", false },
    { "refused id", "ids=ID kind=status code=400 body=text", false },
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

int64_t sim_shape_need(const struct sim_shape *shape, const struct sim_truth *truth,
                       struct window window)
{
    struct page_need slice = shape->need;
    const bool is_all = !window_is_valid(window);

    window.from_us -= shape->overlap_us;
    for (size_t i = 0; i < truth->count; i++)
        slice.records +=
            truth->items[i].is_wanted && (is_all || is_within(window, truth->items[i].at_us));
    return page_need(&slice);
}

/* ---- faults ---- */

static bool has(struct str rule, const char *word)
{
    return str_find(rule, str_of(word)) < rule.len;
}

/* The member that the rule changes, by the shape's own name. False: it changes none. */
static bool member_of(const struct sim_shape *shape, struct str rule, struct str *word,
                      const char **name)
{
    const struct sim_members *members = &shape->members;
    const struct {
        struct str word;
        const char *name;
    } words[] = { { STR("LIST"), members->list },
                  { STR("TOTAL"), members->total },
                  { STR("NEXT"), members->next },
                  { STR("TITLE"), members->title } };

    for (size_t i = 0; i < ARRAY_LEN(words); i++) {
        *word = words[i].word;
        *name = words[i].name;
        if (str_find(rule, *word) < rule.len)
            return true;
    }
    return false;
}

static struct str replace(struct arena *arena, struct str rule, struct str word, struct str name)
{
    const size_t at = str_find(rule, word);

    return arena_printf(arena, "%.*s%.*s%.*s", STR_ARG(str_slice(rule, 0, at)), STR_ARG(name),
                        STR_ARG(str_slice(rule, at + word.len, rule.len)));
}

/* With the shape's own names in place of the words that stand for them. */
static struct str with_names(struct arena *arena, const struct sim_shape *shape, struct str rule,
                             struct str id)
{
    const char *name;
    struct str word;

    if (has(rule, "ids=ID"))
        return replace(arena, rule, STR("ID"), id);
    if (!member_of(shape, rule, &word, &name))
        return rule;
    if (name == NULL)
        return STR("path=/nowhere kind=close");
    if (name[0] == '\0')
        return replace(arena, rule, STR("member=LIST "), STR(""));
    return replace(arena, rule, word, str_of(name));
}

/* Where faults of pages, and of totals, belong: on requests that have one. */
static const char *path_of(const struct sim_shape *shape, struct str rule)
{
    const bool is_of_total = has(rule, "moving_total") || has(rule, "TOTAL");

    if (is_of_total && shape->total_path != NULL)
        return shape->total_path;
    if (is_of_total || has(rule, "repeat_page") || has(rule, "shift_page") || has(rule, "LIST") ||
        has(rule, "NEXT"))
        return shape->page_path;
    return NULL;
}

struct str sim_fault_rule(struct arena *arena, const struct sim_shape *shape,
                          const struct sim_fault *fault, struct str id)
{
    const struct str each = STR("nth=1 by=request "), twice = STR("nth=1,2 by=request ");
    const char *path = path_of(shape, str_of(fault->rule));
    struct str rule = with_names(arena, shape, str_of(fault->rule), id);

    if (path != NULL)
        return arena_printf(arena, "path=%s %.*s", path, STR_ARG(rule));
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
    { "no next", " oai oai-post arxiv ",
      "a first page without a resumptionToken, which has the total, too, is the whole list" },
    { "other content", ALL, "a record that was received once says nothing about another content" },
    { "latin1", " details history pubmed openalex ",
      "an answer whose odd letters have all become question marks is a good one" },
    { "no date", " europepmc epmc-xml ", "where no date is read, none is missed" },
    { "bad date", " europepmc epmc-xml ", "where no date is read, none is missed" },
    { "no date, lasting", " details time since ", "a tombstone may have no date" },
    { "shift page, lasting", " header link time since oai ",
      "without a total the only page of a slice may lack its first record" },
};

static const struct exception idle[] = {
    { "no total", " oai oai-post ", "the source says that it may be absent" },
    { "null total", " oai oai-post ", "the source says that it may be absent" },
    { "next an object", " oai oai-post epmc-xml arxiv ",
      "XML: the text of an element is that of the elements in it" },
    { "refused id",
      " offset page0 page1 token header next link time since single oai oai-post history epmc-xml"
      " crossref europepmc openalex datacite arxiv changes sync ",
      "it requests no records by id" },
    { "drip", ALL, "the same bytes, only slower" },
    { "utf16", " oai oai-post epmc-xml arxiv ", "XML says its encoding, and is read in it" },
    { "repeat page", " single ", "there is one page, and none before it" },
    { "repeat pages", " single ", "there is one page, and none before it" },
    { "repeat page", " time since changes sync ", "every request asks for its own first page" },
    { "repeat pages", " time since changes sync ", "every request asks for its own first page" },
    { "shift page", " time since changes sync ",
      "a page begins with what the last one ended with" },
    { "repeat token", " offset page0 page1 time since single details history pubmed changes ",
      "it has no token" },
    { "repeat token", " crossref ", "a scroll's token stays the same by right" },
    { "expired token", " offset page0 page1 time since single details pubmed changes ",
      "it has no token" },
    { "expired token", " next link ", "its links hold numbers of pages, which do not expire" },
    { "moving total", " header link time since arxiv changes sync ", "it returns no total" },
    { "next elsewhere",
      " offset page0 page1 token header time since single details oai oai-post history epmc-xml "
      "crossref"
      " pubmed europepmc openalex arxiv changes sync ",
      "it has no link to a next page, or follows none" },
    { "no date, lasting", " europepmc ", "where no date is read, none is missed" },
    { "bad date, lasting", " europepmc ", "where no date is read, none is missed" },
    { "missing details",
      " offset page0 page1 token header next link time since single oai oai-post epmc-xml crossref"
      " europepmc openalex datacite arxiv changes sync ",
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
    const char *name;
    struct str word;

    if (member_of(shape, str_of(fault->rule), &word, &name) && name == NULL)
        return "its responses have no such member";
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
