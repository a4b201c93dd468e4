/* E-utilities: days, UIDs, the cap, histories, and ids that are not there. */
#include <stdio.h>

#include "base/instant.h"
#include "sim_request.h"

enum { RECORDS = 30000, BIG_DAY = 12000 };

/* 2026-02-15 is the big day. */
static struct sim_world *open_world(struct world_options *options)
{
    world_options_init(options);
    options->records = RECORDS;
    options->big_day_records = BIG_DAY;
    options->deleted_ppm = 20000;
    return sim_request_world(options);
}

static uint8_t wanted[RECORDS];

static size_t tick(const struct sim_world *world, struct str body, uint8_t *list)
{
    return sim_request_tick(world, body, ID_PUBMED, STR("<Id>"), STR("</Id>"), list);
}

static size_t count_of(struct str body)
{
    int64_t count = -1;

    (void)str_to_i64(sim_request_between(body, STR("<Count>"), STR("</Count>")), &count);
    return (size_t)count;
}

static size_t walk(struct sim_world *world, int64_t now_us, const char *params)
{
    size_t seen = 0, total = SIZE_MAX;

    while (seen < total) {
        struct sim_request request;
        char url[512];
        size_t count;

        (void)snprintf(url, sizeof(url),
                       "/entrez/eutils/esearch.fcgi?db=pubmed&retmax=400&retstart=%zu&%s", seen,
                       params);
        sim_request_get(&request, world, now_us, str_of(url));
        total = count_of(request.body);
        count = tick(world, request.body, wanted);
        REQUIRE(count > 0, "a page is not empty before the total is reached");
        seen += count;
        sim_request_end(&request);
    }
    return seen;
}

TEST(days_are_inclusive_in_every_form)
{
    static const struct {
        const char *params;
        enum view_order order;
        int first_day, last_day; /* since the start of the world */
    } cases[] = {
        { "term=(%222026/01/05%22[CRDT]+:+%222026/01/11%22[CRDT])", ORDER_CREATED, 4, 10 },
        { "term=2026/01/05:2026/01/11[MDAT]+AND+cancer", ORDER_UPDATED, 4, 10 },
        { "term=cancer&datetype=edat&mindate=2026/01/05&maxdate=2026/01/11", ORDER_ENTREZ, 4, 10 },
        { "term=%222026/01/20%22[crdt]", ORDER_CREATED, 19, 19 },
        { "term=all[sb]&datetype=mdat&reldate=3", ORDER_UPDATED, 27, 30 },
    };
    struct world_options options;
    struct sim_world *world = open_world(&options);
    const int64_t now_us = options.from_us + 30 * US_PER_DAY + US_PER_HOUR;

    for (size_t i = 0; i < ARRAY_LEN(cases); i++) {
        const struct sim_request_window window = {
            VIEW_LIVE, cases[i].order, options.from_us + cases[i].first_day * US_PER_DAY,
            options.from_us + (cases[i].last_day + 1) * US_PER_DAY, now_us
        };
        const size_t total = sim_request_expect(world, window, wanted);

        CHECK(total > 100, "there is something");
        CHECK_EQ(walk(world, now_us, cases[i].params), total, cases[i].params);
    }
    world_close(world);
}

/* Created or changed then: the union, record by record. */
TEST(one_date_of_several_joined_by_or_is_enough)
{
    static uint8_t changed[RECORDS];
    struct world_options options;
    struct sim_world *world = open_world(&options);
    struct sim_request_window window = { VIEW_LIVE, ORDER_CREATED, options.from_us + 4 * US_PER_DAY,
                                         options.from_us + 11 * US_PER_DAY,
                                         options.from_us + 30 * US_PER_DAY };
    size_t total = sim_request_expect(world, window, wanted);
    const size_t created = total;

    window.order = ORDER_UPDATED;
    (void)sim_request_expect(world, window, changed);
    for (size_t i = 0; i < RECORDS; i++) {
        total += changed[i] && !wanted[i];
        wanted[i] |= changed[i];
    }
    CHECK(total > created, "some were changed and not created");
    CHECK_EQ(walk(world, window.now_us,
                  "term=(%222026/01/05%22[CRDT]+:+%222026/01/11%22[CRDT])+OR+"
                  "(%222026/01/05%22[MDAT]+:+%222026/01/11%22[MDAT])"),
             total, "all of both");
    world_close(world);
}

TEST(pubmeds_days_follow_its_time_zone)
{
    struct world_options options;
    struct sim_world *world;
    struct sim_request_window window;
    size_t total;

    world_options_init(&options);
    options.records = RECORDS;
    options.pubmed_zone_us = -5 * US_PER_HOUR;
    world = sim_request_world(&options);
    window = (struct sim_request_window){ VIEW_LIVE, ORDER_CREATED,
                                          options.from_us + 9 * US_PER_DAY + 5 * US_PER_HOUR,
                                          options.from_us + 10 * US_PER_DAY + 5 * US_PER_HOUR,
                                          options.to_us };
    total = sim_request_expect(world, window, wanted);
    CHECK_EQ(walk(world, options.to_us, "term=2026/01/10[CRDT]"), total,
             "midnight in the east is five in UTC");
    world_close(world);
}

static size_t expected_big_day(const struct sim_world *world, const struct world_options *options)
{
    return sim_request_expect(
        world,
        (struct sim_request_window){ VIEW_LIVE, ORDER_CREATED, options->big_day_us,
                                     options->big_day_us + US_PER_DAY, options->to_us },
        wanted);
}

TEST(a_day_above_the_cap_is_split_by_uid)
{
    struct world_options options;
    struct sim_world *world = open_world(&options);
    const size_t total = expected_big_day(world, &options);
    size_t seen = 0;
    struct sim_request request;

    CHECK(total > 9999, "too many for one query");
    sim_request_get(&request, world, options.to_us,
                    STR("/entrez/eutils/"
                        "esearch.fcgi?db=pubmed&retmax=20000&retmode=json&term=2026/02/15[CRDT]"));
    CHECK(str_find(request.body, STR("\"retmax\":\"9999\"")) < request.body.len, "clamped");
    CHECK(str_find(request.body, STR("Restrictions achieved")) < request.body.len,
          "with a warning");
    sim_request_end(&request);
    for (uint32_t from = 0; from < RECORDS; from += 5000) {
        char url[256];

        (void)snprintf(url, sizeof(url),
                       "/entrez/eutils/esearch.fcgi?db=pubmed&retmax=9999&term=2026/02/"
                       "15[CRDT]+AND+%u:%u[UID]",
                       30000000 + from, 30000000 + from + 4999);
        sim_request_get(&request, world, options.to_us, str_of(url));
        seen += tick(world, request.body, wanted);
        sim_request_end(&request);
    }
    CHECK_EQ(seen, total, "all parts");
    world_close(world);
}

TEST(beyond_the_cap_is_an_error_with_status_200_and_invalid_json)
{
    struct world_options options;
    struct sim_world *world = open_world(&options);
    struct sim_request request;

    sim_request_get(
        &request, world, options.to_us,
        STR("/entrez/eutils/esearch.fcgi?retmode=json&retstart=9999&term=2026/02/15[CRDT]"));
    CHECK_EQ(request.call.status, 200, "200");
    CHECK(str_find(request.body, STR("Exception:\n'retstart' cannot be larger than 9998")) <
              request.body.len,
          "a raw newline inside the string");
    sim_request_end(&request);
    sim_request_get(
        &request, world, options.to_us,
        STR("/entrez/eutils/esearch.fcgi?retstart=9998&retmax=10&term=2026/02/15[CRDT]"));
    CHECK_EQ(sim_request_count(request.body, STR("<Id>")), 1, "the last one that exists");
    sim_request_end(&request);
    world_close(world);
}

static struct str history_of(struct arena *arena, struct sim_world *world, int64_t now_us,
                             const char *term)
{
    struct str webenv;
    struct sim_request request;

    sim_request_get(
        &request, world, now_us,
        arena_printf(arena, "/entrez/eutils/esearch.fcgi?usehistory=y&retmax=0&term=%s", term));
    webenv = sim_request_between(request.body, STR("<WebEnv>"), STR("</WebEnv>"));
    CHECK(str_starts(webenv, STR("MCID_")) && webenv.len == 29, "a WebEnv");
    webenv = arena_copy(arena, webenv);
    sim_request_end(&request);
    return webenv;
}

/* The ids of the articles themselves, not those of references and errata. */
static size_t tick_articles(const struct sim_world *world, struct str body)
{
    return sim_request_tick(world, body, ID_PUBMED, STR("Automated\"><PMID Version=\"1\">"),
                            STR("</PMID>"), wanted) +
           sim_request_tick(world, body, ID_PUBMED, STR("<BookDocument><PMID Version=\"1\">"),
                            STR("</PMID>"), wanted);
}

TEST(a_history_returns_all_articles_and_expires)
{
    struct world_options options;
    struct sim_world *world = open_world(&options);
    const int64_t now_us = options.from_us + 40 * US_PER_DAY;
    const size_t total = sim_request_expect(
        world,
        (struct sim_request_window){ VIEW_LIVE, ORDER_CREATED, options.from_us + 9 * US_PER_DAY,
                                     options.from_us + 14 * US_PER_DAY, now_us },
        wanted);
    struct arena arena;
    struct str webenv;
    struct sim_request request;
    size_t seen = 0;

    arena_init(&arena, 1 << 20);
    webenv = history_of(&arena, world, now_us, "2026/01/10:2026/01/14[CRDT]");
    for (size_t start = 0; start < total; start += 300) {
        sim_request_get(
            &request, world, now_us,
            arena_printf(&arena,
                         "/entrez/eutils/efetch.fcgi?retmode=xml&query_key=1&WebEnv=%.*s&"
                         "retstart=%zu&retmax=300",
                         STR_ARG(webenv), start));
        seen += tick_articles(world, request.body);
        sim_request_end(&request);
    }
    CHECK_EQ(seen, total, "all articles");
    sim_request_get(&request, world, now_us + 9 * US_PER_HOUR,
                    arena_printf(&arena,
                                 "/entrez/eutils/efetch.fcgi?retmode=xml&query_key=1&WebEnv=%.*s",
                                 STR_ARG(webenv)));
    CHECK_EQ(request.call.status, 200, "still 200");
    CHECK(str_find(request.body, STR("<ERROR>Unable to obtain query #1</ERROR>")) <
              request.body.len,
          "but gone");
    sim_request_end(&request);
    arena_release(&arena);
    world_close(world);
}

TEST(a_history_ends_at_the_cap)
{
    struct world_options options;
    struct sim_world *world = open_world(&options);
    struct arena arena;
    struct str webenv;
    struct sim_request request;

    arena_init(&arena, 1 << 20);
    webenv = history_of(&arena, world, options.to_us, "2026/02/15[CRDT]");
    sim_request_get(&request, world, options.to_us,
                    arena_printf(&arena,
                                 "/entrez/eutils/efetch.fcgi?retmode=xml&query_key=1&WebEnv=%.*s&"
                                 "retstart=9500&retmax=500",
                                 STR_ARG(webenv)));
    CHECK_EQ(sim_request_count(request.body, STR("<MedlineCitation ")) +
                 sim_request_count(request.body, STR("<BookDocument>")),
             499, "silently short");
    sim_request_end(&request);
    sim_request_get(&request, world, options.to_us,
                    arena_printf(&arena,
                                 "/entrez/eutils/efetch.fcgi?retmode=xml&query_key=1&WebEnv=%.*s&"
                                 "retstart=9999",
                                 STR_ARG(webenv)));
    CHECK_EQ(request.call.status, 400, "refused beyond it");
    sim_request_end(&request);
    arena_release(&arena);
    world_close(world);
}

TEST(unknown_ids_are_just_missing)
{
    struct world_options options;
    struct sim_world *world = open_world(&options);
    struct sim_request request;

    sim_request_begin(&request, options.to_us, "POST",
                      STR("/entrez/eutils/efetch.fcgi?db=pubmed&retmode=xml"));
    REQUIRE(call_add_params(&request.call, STR("id=30000005,99999999,1&id=30000006"),
                            &(struct error){ 0 }),
            "a form");
    sim_request_send(&request, world);
    CHECK_EQ(sim_request_count(request.body, STR("<MedlineCitation ")) +
                 sim_request_count(request.body, STR("<BookDocument>")),
             2, "two of four");
    sim_request_end(&request);
    sim_request_get(&request, world, options.to_us,
                    STR("/entrez/eutils/efetch.fcgi?db=pubmed&retmode=xml&id=1,2"));
    CHECK_EQ(request.call.status, 200, "an empty set is no error");
    CHECK(str_ends(request.body, STR("<PubmedArticleSet>\n</PubmedArticleSet>")), "empty");
    sim_request_end(&request);
    world_close(world);
}

TEST(summaries_are_keyed_by_uid_and_limited)
{
    struct world_options options;
    struct sim_world *world = open_world(&options);
    struct arena arena;
    struct buf ids;
    struct sim_request request;

    arena_init(&arena, 1 << 20);
    sim_request_get(&request, world, options.to_us,
                    STR("/entrez/eutils/esummary.fcgi?retmode=json&id=30000005,7"));
    CHECK(str_find(request.body,
                   STR("\"result\":{\"uids\":[\"30000005\",\"7\"],\"30000005\":{\"uid\":"
                       "\"30000005\",")) < request.body.len,
          "by uid");
    CHECK(str_find(request.body,
                   STR("\"7\":{\"uid\":\"7\",\"error\":\"cannot get document summary\"}")) <
              request.body.len,
          "unknown");
    sim_request_end(&request);
    buf_init(&ids, &arena, 1 << 16);
    buf_add(&ids, STR("id=30000000"));
    for (int i = 1; i <= 500; i++)
        buf_printf(&ids, ",%d", 30000000 + i);
    sim_request_begin(&request, options.to_us, "POST",
                      STR("/entrez/eutils/esummary.fcgi?retmode=json"));
    REQUIRE(call_add_params(&request.call, buf_str(&ids), &(struct error){ 0 }), "a form");
    sim_request_send(&request, world);
    CHECK(str_find(request.body, STR("Too many UIDs")) < request.body.len, "501 are too many");
    sim_request_end(&request);
    arena_release(&arena);
    world_close(world);
}

TEST(long_urls_are_414)
{
    struct world_options options;
    struct sim_world *world = open_world(&options);
    struct arena arena;
    struct buf url;
    struct sim_request request;

    arena_init(&arena, 1 << 20);
    buf_init(&url, &arena, 1 << 18);
    buf_add(&url, STR("/entrez/eutils/efetch.fcgi?retmode=xml&id=30000000"));
    for (int i = 1; i < 2000; i++)
        buf_printf(&url, ",%d", 30000000 + i);
    sim_request_get(&request, world, options.to_us, buf_str(&url));
    CHECK_EQ(request.call.status, 414, "2,000 ids by GET");
    CHECK(str_starts(request.call.content_type, STR("text/html")), "as a page for people");
    sim_request_end(&request);
    arena_release(&arena);
    world_close(world);
}

TEST(details_go_missing_on_demand)
{
    struct world_options options;
    struct sim_world *world = open_world(&options);
    struct sim_request request;

    sim_request_begin(&request, options.to_us, "GET",
                      STR("/entrez/eutils/efetch.fcgi?retmode=xml&id=30000001,30000002,30000003"));
    request.call.content_fault = CONTENT_FAULT_MISSING_DETAILS;
    sim_request_send(&request, world);
    CHECK_EQ(sim_request_count(request.body, STR("<MedlineCitation ")) +
                 sim_request_count(request.body, STR("<BookDocument>")),
             2, "one of three is left out");
    sim_request_end(&request);
    world_close(world);
}
