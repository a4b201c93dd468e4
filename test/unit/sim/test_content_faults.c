/* Every content fault in every protocol to which it applies: it is there, and the rest is intact.
 */
#include <stdio.h>

#include "base/instant.h"
#include "sim_request.h"

enum { SIZE = 20, URL_MAX = 4096 };

/* A list of twenty, how to get from it to the next page, and what its faults look like. */
static const struct protocol_case {
    const char *name;
    const char *first; /* the URL of the first page */
    const char *next; /* of the next page, with %s for the token; NULL: by page number in `first` */
    struct str token_before;
    struct str token_behind;
    struct str id; /* precedes the id of each record, once */
    struct str total_before;
    struct str expired;  /* in the response to an expired token; empty: no tokens */
    struct str error;    /* in an error with status 200 */
    struct str bad_date; /* in a page with a bad date */
    bool keeps_token;    /* the same on every page: a scroll */
} cases[] = {
    { "crossref", "/crossref/works?rows=20&cursor=*", "/crossref/works?rows=20&cursor=%s",
      STR_INIT("\"next-cursor\":\""), STR_INIT("\""),
      STR_INIT("\"resource\":{\"primary\":{\"URL\":\""), STR_INIT("\"total-results\":"),
      STR_INIT("cursor-invalid"), STR_INIT("\"message-type\":\"exception\""), STR_INIT("yesterday"),
      true },
    { "openalex", "/openalex/works?per_page=20&cursor=*", "/openalex/works?per_page=20&cursor=%s",
      STR_INIT("\"next_cursor\":\""), STR_INIT("\""), STR_INIT("\"openalex\":\""),
      STR_INIT("\"count\":"), STR_INIT("Cursor value is invalid."), STR_INIT("Elasticsearch error"),
      STR_INIT("2026-02-30T99:99:99"), false },
    { "europepmc",
      "/europepmc/webservices/rest/search?query=a&format=json&pageSize=20&resultType=core",
      "/europepmc/webservices/rest/"
      "search?query=a&format=json&pageSize=20&resultType=core&cursorMark=%s",
      STR_INIT("\"nextCursorMark\":\""), STR_INIT("\""), STR_INIT("{\"id\":\""),
      STR_INIT("\"hitCount\":"), STR_INIT("Invalid cursorMark"), STR_INIT("\"errCode\":500"),
      STR_INIT("2026-02-31"), false },
    { "datacite", "/datacite/dois?page%5Bsize%5D=20&page%5Bcursor%5D=1",
      "/datacite/dois?page%%5Bsize%%5D=20&page%%5Bcursor%%5D=%s",
      STR_INIT("\"next\":\"http://127.0.0.1:8080/datacite/dois?page%5Bcursor%5D="),
      STR_INIT("\\u0026page"), STR_INIT("{\"doi\":\""), STR_INIT("\"total\":"), STR_INIT(""),
      STR_INIT("{\"errors\":["), STR_INIT("2026-00-00"), false },
    { "oai", "/oai/size20?verb=ListRecords&metadataPrefix=oai_dc",
      "/oai/size20?verb=ListRecords&resumptionToken=%s", STR_INIT("cursor=\"0\">"),
      STR_INIT("</resumptionToken>"), STR_INIT("<identifier>"), STR_INIT("completeListSize=\""),
      STR_INIT("badResumptionToken"), STR_INIT("The database is not available"),
      STR_INIT("0000-00-00T00:00:00"), false },
    { "generic token", "/generic/token?size=20", "/generic/token?size=20&token=%s",
      STR_INIT("\"nextToken\":\""), STR_INIT("\""), STR_INIT("\"id\":\""), STR_INIT("\"total\":"),
      STR_INIT("token_expired"), STR_INIT("\"code\":\"backend\""), STR_INIT("Junuary"), false },
    { "esearch", "/entrez/eutils/esearch.fcgi?term=a&retmax=20",
      "/entrez/eutils/esearch.fcgi?term=a&retmax=20&retstart=20", STR_INIT(""), STR_INIT(""),
      STR_INIT("<Id>"), STR_INIT("<Count>"), STR_INIT(""), STR_INIT("Search Backend failed"),
      STR_INIT(""), false },
};

static struct sim_world *world;
static struct world_options options;

/* ---- requests ---- */

static struct str token_in(struct arena *arena, const struct protocol_case *c, struct str body)
{
    const struct str raw = sim_request_between(body, c->token_before, c->token_behind);
    struct buf token;

    buf_init(&token, arena, URL_MAX);
    for (size_t i = 0; i < raw.len; i++) {
        if (raw.data[i] != '\\')
            buf_add_char(&token, raw.data[i]);
    }
    return buf_str(&token);
}

/* The second page, with a fault. The first is requested again each time: scrolls have a position.
 */
static void second_page(const struct protocol_case *c, enum content_fault content_fault,
                        struct sim_request *request, char *url)
{
    struct sim_request first;
    struct str token;

    sim_request_get(&first, world, options.to_us, str_of(c->first));
    token = sim_request_escaped(&first.arena, token_in(&first.arena, c, first.body));
    token = arena_copy(&first.arena, token);
#pragma GCC diagnostic push
#pragma GCC diagnostic ignored "-Wformat-nonliteral"
    (void)snprintf(url, URL_MAX, c->next, token.data);
#pragma GCC diagnostic pop
    sim_request_end(&first);
    sim_request_begin(request, options.to_us, "GET", str_of(url));
    request->call.content_fault = content_fault;
    request->call.random = 7;
    sim_request_send(request, world);
}

static size_t ids_in(const struct protocol_case *c, struct str body)
{
    return sim_request_count(body, c->id);
}

static struct str total_in(const struct protocol_case *c, struct str body)
{
    struct str rest = sim_request_between(body, c->total_before, STR("\0"));
    size_t digits = 0;

    while (digits < rest.len && rest.data[digits] >= '0' && rest.data[digits] <= '9')
        digits++;
    return str_slice(rest, 0, digits);
}

static void begin(void)
{
    world_options_init(&options);
    options.records = 500;
    world = sim_request_world(&options);
}

#define FOR_EACH_CASE(c) \
    for (const struct protocol_case *c = cases; c < cases + ARRAY_LEN(cases); c++)

static char url[URL_MAX];

/* ---- the faults ---- */

TEST(repeated_pages_are_the_page_before)
{
    begin();
    FOR_EACH_CASE(c)
    {
        struct sim_request first, again, shifted;
        struct str a, b;

        sim_request_get(&first, world, options.to_us, str_of(c->first));
        second_page(c, CONTENT_FAULT_REPEAT_PAGE, &again, url);
        a = sim_request_between(first.body, c->id, STR("<\"\0"));
        b = sim_request_between(again.body, c->id, STR("<\"\0"));
        CHECK_EQ(ids_in(c, again.body), SIZE, c->name);
        CHECK_STR(str_slice(b, 0, 200), str_slice(a, 0, 200), c->name);
        sim_request_end(&again);
        second_page(c, CONTENT_FAULT_SHIFT_PAGE, &shifted, url);
        second_page(c, CONTENT_FAULT_NONE, &again, url);
        a = sim_request_between(again.body, c->id, STR("<\"\0"));
        b = sim_request_between(shifted.body, c->id, STR("<\"\0"));
        CHECK_EQ(ids_in(c, shifted.body), SIZE, c->name);
        CHECK(!str_eq(str_slice(b, 0, 200), str_slice(a, 0, 200)), c->name);
        sim_request_end(&again);
        sim_request_end(&shifted);
        sim_request_end(&first);
    }
    world_close(world);
}

TEST(empty_pages_have_their_envelope)
{
    begin();
    FOR_EACH_CASE(c)
    {
        struct sim_request request;

        second_page(c, CONTENT_FAULT_EMPTY_PAGE, &request, url);
        CHECK_EQ(ids_in(c, request.body), 0, c->name);
        CHECK(total_in(c, request.body).len > 0, c->name);
        sim_request_end(&request);
    }
    world_close(world);
}

TEST(totals_change)
{
    begin();
    FOR_EACH_CASE(c)
    {
        struct sim_request straight, moved;

        second_page(c, CONTENT_FAULT_NONE, &straight, url);
        second_page(c, CONTENT_FAULT_MOVING_TOTAL, &moved, url);
        CHECK(total_in(c, straight.body).len > 0, c->name);
        CHECK(!str_eq(total_in(c, moved.body), total_in(c, straight.body)), c->name);
        CHECK_EQ(ids_in(c, moved.body), SIZE, c->name);
        sim_request_end(&straight);
        sim_request_end(&moved);
    }
    world_close(world);
}

TEST(one_record_is_faulty)
{
    begin();
    FOR_EACH_CASE(c)
    {
        struct sim_request request;

        if (c->bad_date.len == 0)
            continue; /* a list of ids has no records */
        second_page(c, CONTENT_FAULT_RECORD_NO_ID, &request, url);
        CHECK_EQ(ids_in(c, request.body), SIZE - 1, c->name);
        sim_request_end(&request);
        second_page(c, CONTENT_FAULT_RECORD_BAD_DATE, &request, url);
        CHECK_EQ(ids_in(c, request.body), SIZE, c->name);
        CHECK_EQ(sim_request_count(request.body, c->bad_date), 1, c->name);
        sim_request_end(&request);
        second_page(c, CONTENT_FAULT_RECORD_NO_DATE, &request, url);
        CHECK_EQ(ids_in(c, request.body), SIZE, c->name);
        sim_request_end(&request);
    }
    world_close(world);
}

TEST(tokens_expire_or_repeat)
{
    begin();
    FOR_EACH_CASE(c)
    {
        struct sim_request request;

        if (c->expired.len > 0) {
            second_page(c, CONTENT_FAULT_EXPIRED_TOKEN, &request, url);
            CHECK(str_find(request.body, c->expired) < request.body.len, c->name);
            CHECK_EQ(ids_in(c, request.body), 0, c->name);
            sim_request_end(&request);
        }
        if (c->token_before.len > 0 && !str_eq(c->token_before, STR("cursor=\"0\">"))) {
            second_page(c, CONTENT_FAULT_REPEAT_TOKEN, &request, url);
            CHECK(str_ends(str_of(url),
                           sim_request_escaped(&request.arena,
                                               token_in(&request.arena, c, request.body))),
                  c->name);
            CHECK_EQ(ids_in(c, request.body), SIZE, c->name);
            sim_request_end(&request);
            second_page(c, CONTENT_FAULT_NONE, &request, url);
            CHECK(str_ends(str_of(url),
                           sim_request_escaped(&request.arena,
                                               token_in(&request.arena, c, request.body))) ==
                      c->keeps_token,
                  c->name);
            sim_request_end(&request);
        }
    }
    world_close(world);
}

TEST(errors_have_status_200)
{
    begin();
    FOR_EACH_CASE(c)
    {
        struct sim_request request;

        second_page(c, CONTENT_FAULT_BODY_ERROR, &request, url);
        CHECK_EQ(request.call.status, 200, c->name);
        CHECK(str_find(request.body, c->error) < request.body.len, c->name);
        CHECK_EQ(ids_in(c, request.body), 0, c->name);
        sim_request_end(&request);
    }
    world_close(world);
}
