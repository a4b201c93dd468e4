/* OAI-PMH: all endings, both granularities, tombstones, tokens that expire. */
#include <stdio.h>

#include "base/instant.h"
#include "sim_request.h"

enum { RECORDS = 3000 };

static uint8_t wanted[RECORDS];

static struct sim_world *open_world(struct world_options *options)
{
    world_options_init(options);
    options->records = RECORDS;
    options->deleted_ppm = 50000;
    return sim_request_world(options);
}

static size_t walk(struct sim_world *world, int64_t now_us, const char *mount, const char *verb,
                   const char *prefix, const char *bounds, size_t *pages, struct arena *arena,
                   struct str *last_page)
{
    const enum id_scheme scheme = prefix[0] == 'a' ? ID_ARXIV : ID_OAI;
    struct str url =
        arena_printf(arena, "%s?verb=%s&metadataPrefix=%s&%s", mount, verb, prefix, bounds);
    size_t seen = 0;

    for (*pages = 0; url.len > 0; ++*pages) {
        struct sim_request request;
        struct str token;

        sim_request_get(&request, world, now_us, url);
        seen += sim_request_tick(world, request.body, scheme, STR("<identifier>"),
                                 STR("</identifier>"), wanted);
        *last_page = arena_copy(arena, request.body);
        token =
            sim_request_between(request.body, STR("<resumptionToken"), STR("</resumptionToken>"));
        token = str_slice(token, str_find_char(token, '>') + 1, token.len);
        if (str_find_char(token, '<') < token.len)
            token = STR(""); /* self-closed: what follows is not its text */
        url = token.len > 0 ? arena_printf(arena, "%s?verb=%s&resumptionToken=%.*s", mount, verb,
                                           STR_ARG(sim_request_escaped(arena, token)))
                            : STR("");
        sim_request_end(&request);
    }
    return seen;
}

TEST(lists_end_in_five_ways)
{
    static const struct {
        const char *mount;
        const char *verb;
        struct str ending;
        size_t more_pages;
    } cases[] = {
        { "/oai", "ListRecords", STR_INIT("\"/></ListRecords></OAI-PMH>"), 0 },
        { "/oai/second.empty", "ListRecords",
          STR_INIT("\"></resumptionToken></ListRecords></OAI-PMH>"), 0 },
        { "/oai/selfclosed", "ListIdentifiers",
          STR_INIT("</header><resumptionToken/></ListIdentifiers></OAI-PMH>"), 0 },
        { "/oai/absent", "ListRecords", STR_INIT("</record></ListRecords></OAI-PMH>"), 0 },
        { "/oai/extra", "ListIdentifiers", STR_INIT("results in an empty list.</error></OAI-PMH>"),
          1 },
    };
    struct world_options options;
    struct sim_world *world = open_world(&options);

    for (size_t i = 0; i < ARRAY_LEN(cases); i++) {
        const size_t total = sim_request_expect(
            world,
            (struct sim_request_window){ VIEW_ALL, ORDER_UPDATED, options.from_us + 4 * US_PER_DAY,
                                         options.from_us + 14 * US_PER_DAY, options.to_us },
            wanted);
        struct arena arena;
        struct str last;
        size_t pages;

        arena_init(&arena, 1 << 24);
        CHECK_EQ(walk(world, options.to_us, cases[i].mount, cases[i].verb, "oai_dc",
                      "from=2026-01-05T00:00:00Z&until=2026-01-14T23:59:59Z", &pages, &arena,
                      &last),
                 total, cases[i].mount);
        CHECK_EQ(pages, (total + 99) / 100 + cases[i].more_pages, cases[i].mount);
        CHECK(str_ends(last, cases[i].ending), cases[i].mount);
        arena_release(&arena);
    }
    world_close(world);
}

TEST(day_repositories_take_days)
{
    static const char *const mounts[] = { "/oai/day.size50", "/oai/arxiv.size50" };
    struct world_options options;
    struct sim_world *world = open_world(&options);

    for (size_t i = 0; i < ARRAY_LEN(mounts); i++) {
        const size_t total = sim_request_expect(
            world,
            (struct sim_request_window){ VIEW_ALL, ORDER_UPDATED, options.from_us + 4 * US_PER_DAY,
                                         options.from_us + 14 * US_PER_DAY, options.to_us },
            wanted);
        struct arena arena;
        struct str last;
        size_t pages;

        arena_init(&arena, 1 << 24);
        CHECK_EQ(walk(world, options.to_us, mounts[i], "ListRecords",
                      i == 0 ? "oai_dc" : "arXivRaw", "from=2026-01-05&until=2026-01-14", &pages,
                      &arena, &last),
                 total, mounts[i]);
        CHECK_EQ(pages, (total + 49) / 50, "pages of fifty");
        arena_release(&arena);
    }
    world_close(world);
}

TEST(deleted_records_are_headers)
{
    struct world_options options;
    struct sim_world *world = open_world(&options);
    const struct corpus *corpus = world_corpus(world);
    uint32_t record = 0;
    struct sim_request request;
    char url[256];

    while ((corpus->flags[corpus->first[record + 1] - 1] & VERSION_DELETED) == 0)
        record++;
    (void)snprintf(url, sizeof(url),
                   "/oai?verb=GetRecord&metadataPrefix=oai_dc&identifier=oai:sim.example.org:%08u",
                   record);
    sim_request_get(&request, world, options.to_us + 30 * US_PER_DAY, str_of(url));
    CHECK(str_find(request.body, STR("<record><header status=\"deleted\"><identifier>")) <
              request.body.len,
          "a tombstone");
    CHECK(str_find(request.body, STR("<metadata>")) == request.body.len, "and nothing else");
    sim_request_end(&request);
    world_close(world);
}

TEST(errors_have_their_codes)
{
    static const struct {
        const char *url;
        int status;
        const char *code;
    } cases[] = {
        { "/oai?verb=Nope", 200, "badVerb" },
        { "/oai?verb=ListRecords", 200, "badArgument" },
        { "/oai?verb=ListRecords&verb=Identify", 200, "badArgument" },
        { "/oai?verb=ListRecords&metadataPrefix=marc", 200, "cannotDisseminateFormat" },
        { "/oai?verb=ListRecords&metadataPrefix=oai_dc&from=2026-01-01&until=2026-01-02T00:00:00Z",
          200, "badArgument" },
        { "/oai/day?verb=ListRecords&metadataPrefix=oai_dc&from=2026-01-01T00:00:00Z", 200,
          "badArgument" },
        { "/oai?verb=ListRecords&metadataPrefix=oai_dc&from=2030-01-01", 200, "noRecordsMatch" },
        { "/oai/422?verb=ListRecords&metadataPrefix=oai_dc&from=2030-01-01", 422,
          "noRecordsMatch" },
        { "/oai?verb=ListRecords&resumptionToken=XXX", 200, "badResumptionToken" },
        { "/oai?verb=ListRecords&resumptionToken=1&metadataPrefix=oai_dc", 200, "badArgument" },
        { "/oai?verb=GetRecord&metadataPrefix=oai_dc&identifier=oai:sim.example.org:99999999", 200,
          "idDoesNotExist" },
        { "/oai/arxiv?verb=ListRecords&metadataPrefix=arXivRaw&from=2005-01-01", 200,
          "badArgument" },
        { "/oai?verb=ListSets", 200, "noSetHierarchy" },
    };
    struct world_options options;
    struct sim_world *world = open_world(&options);

    for (size_t i = 0; i < ARRAY_LEN(cases); i++) {
        struct sim_request request;

        sim_request_get(&request, world, options.to_us, str_of(cases[i].url));
        CHECK_EQ(request.call.status, cases[i].status, cases[i].url);
        CHECK_STR(sim_request_between(request.body, STR("<error code=\""), STR("\"")),
                  str_of(cases[i].code), cases[i].url);
        sim_request_end(&request);
    }
    world_close(world);
}

TEST(tokens_expire)
{
    struct world_options options;
    struct sim_world *world = open_world(&options);
    struct arena arena;
    struct sim_request request;
    struct str token, url;

    arena_init(&arena, 1 << 20);
    sim_request_get(&request, world, options.to_us,
                    STR("/oai?verb=ListIdentifiers&metadataPrefix=oai_dc"));
    token = sim_request_between(request.body, STR("cursor=\"0\">"), STR("<"));
    CHECK(token.len > 0, "a token");
    url = arena_printf(&arena, "/oai?verb=ListIdentifiers&resumptionToken=%.*s",
                       STR_ARG(sim_request_escaped(&arena, token)));
    CHECK(str_find(request.body, STR("expirationDate=\"2026-04-02T00:00:00Z\"")) < request.body.len,
          "it says when");
    sim_request_end(&request);
    sim_request_get(&request, world, options.to_us + 23 * US_PER_HOUR, url);
    CHECK(str_find(request.body, STR("<error")) == request.body.len, "the same day");
    sim_request_end(&request);
    sim_request_get(&request, world, options.to_us + 25 * US_PER_HOUR, url);
    CHECK(str_find(request.body, STR("badResumptionToken")) < request.body.len, "the next day");
    sim_request_end(&request);
    arena_release(&arena);
    world_close(world);
}
