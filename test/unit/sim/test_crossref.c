/* Crossref: the scroll returns every record once and cannot be replayed; limits are refused. */
#include <stdio.h>

#include "base/instant.h"
#include "sim_request.h"

enum { RECORDS = 4000 };

static struct sim_world *open_world(struct world_options *options)
{
    world_options_init(options);
    options->records = RECORDS;
    options->merged_ppm = 20000;
    options->deleted_ppm = 20000;
    return sim_request_world(options);
}

static struct str cursor_of(struct arena *arena, struct str body)
{
    const struct str token = sim_request_between(body, STR("\"next-cursor\":\""), STR("\""));
    struct buf plain;

    buf_init(&plain, arena, 4096);
    for (size_t i = 0; i < token.len; i++) {
        if (token.data[i] != '\\')
            buf_add_char(&plain, token.data[i]);
    }
    return buf_str(&plain);
}

static size_t tick(const struct sim_world *world, struct str body, uint8_t *wanted)
{
    return sim_request_tick(world, body, ID_CROSSREF, STR(",\"URL\":\"https:\\/\\/doi.org\\/"),
                            STR("\""), wanted);
}

/* Walks a window by cursor; the token must stay the same. */
static size_t walk(struct sim_world *world, int64_t now_us, const char *filter, uint8_t *wanted)
{
    struct arena arena;
    struct str cursor = STR("*");
    size_t seen = 0, count;

    arena_init(&arena, 1 << 20);
    do {
        struct sim_request request;
        struct str next;

        sim_request_get(&request, world, now_us,
                        arena_printf(&arena, "/crossref/works?filter=%s&rows=150&cursor=%.*s",
                                     filter, STR_ARG(sim_request_escaped(&arena, cursor))));
        REQUIRE(request.call.status == 200, "a page");
        CHECK_EQ(request.call.page, PAGE_NONE, "not a page that can be fetched twice");
        count = tick(world, request.body, wanted);
        next = cursor_of(&arena, request.body);
        CHECK(str_eq(cursor, STR("*")) || str_eq(next, cursor), "the same token on every page");
        cursor = next;
        seen += count;
        sim_request_end(&request);
    } while (count == 150);
    arena_release(&arena);
    return seen;
}

TEST(a_scroll_walks_the_whole_window)
{
    static const struct {
        const char *filter;
        enum view_order order;
        int64_t from_us, to_us;
    } cases[] = {
        { "from-index-date:2026-01-10,until-index-date:2026-02-09", ORDER_UPDATED,
          INT64_C(1768003200000000), INT64_C(1770681600000000) },
        { "from-index-date:2026-01-10T12:00:01,until-index-date:2026-01-20T15", ORDER_UPDATED,
          INT64_C(1768046401000000), INT64_C(1768924800000000) },
        { "from-created-date:2026-01,until-created-date:2026-01", ORDER_CREATED,
          INT64_C(1767225600000000), INT64_C(1769904000000000) },
        { "from-update-date:2026-02-01,until-update-date:2026-02-10T23:59:59", ORDER_DEPOSITED,
          INT64_C(1769904000000000), INT64_C(1770768000000000) },
    };
    struct world_options options;
    struct sim_world *world = open_world(&options);
    const int64_t now_us = options.from_us + 80 * US_PER_DAY;
    static uint8_t wanted[RECORDS];

    for (size_t i = 0; i < ARRAY_LEN(cases); i++) {
        const size_t total = sim_request_expect(
            world,
            (struct sim_request_window){ VIEW_NOT_MERGED, cases[i].order, cases[i].from_us,
                                         cases[i].to_us, now_us },
            wanted);

        CHECK(total > 150, "more than a page");
        CHECK_EQ(walk(world, now_us, cases[i].filter, wanted), total, cases[i].filter);
    }
    world_close(world);
}

TEST(a_lost_response_loses_a_page)
{
    struct world_options options;
    struct sim_world *world = open_world(&options);
    struct arena arena;
    struct sim_request request;
    struct str url, second, third;

    arena_init(&arena, 1 << 24);
    sim_request_get(&request, world, options.to_us, STR("/crossref/works?rows=5&cursor=*"));
    url = arena_printf(&arena, "/crossref/works?rows=5&cursor=%.*s",
                       STR_ARG(sim_request_escaped(&arena, cursor_of(&arena, request.body))));
    sim_request_end(&request);
    sim_request_get(&request, world, options.to_us, url);
    second = arena_copy(&arena,
                        sim_request_between(request.body, STR("\"items\":["), STR("\"items-per")));
    sim_request_end(&request);
    sim_request_get(&request, world, options.to_us, url);
    third = arena_copy(&arena,
                       sim_request_between(request.body, STR("\"items\":["), STR("\"items-per")));
    sim_request_end(&request);
    CHECK(second.len > 1000 && !str_eq(second, third), "the same URL, another page");
    arena_release(&arena);
    world_close(world);
}

TEST(a_scroll_is_a_snapshot)
{
    struct world_options options;
    struct sim_world *world = open_world(&options);
    static uint8_t wanted[RECORDS];
    const int64_t now_us = options.from_us + 20 * US_PER_DAY;
    const size_t total = sim_request_expect(
        world,
        (struct sim_request_window){ VIEW_NOT_MERGED, ORDER_UPDATED, INT64_MIN, INT64_MAX, now_us },
        wanted);
    struct arena arena;
    struct str cursor = STR("*");
    size_t seen = 0;

    arena_init(&arena, 1 << 22);
    for (int64_t page = 0; page < 100; page++) {
        struct sim_request request;
        size_t count;

        /* Four minutes pass between pages, and records change meanwhile. */
        sim_request_get(&request, world, now_us + page * 4 * US_PER_MINUTE,
                        arena_printf(&arena, "/crossref/works?rows=50&cursor=%.*s",
                                     STR_ARG(sim_request_escaped(&arena, cursor))));
        cursor = cursor_of(&arena, request.body);
        count = tick(world, request.body, wanted);
        sim_request_end(&request);
        seen += count;
        if (count == 0)
            break;
    }
    CHECK_EQ(seen, total, "what was there when it began");
    arena_release(&arena);
    world_close(world);
}

TEST(idle_and_foreign_cursors_are_invalid)
{
    struct world_options options;
    struct sim_world *world = open_world(&options);
    struct arena arena;
    struct sim_request request;
    struct str url;

    arena_init(&arena, 1 << 20);
    sim_request_get(&request, world, options.to_us, STR("/crossref/works?rows=5&cursor=*"));
    url = arena_printf(&arena, "/crossref/works?rows=5&cursor=%.*s",
                       STR_ARG(sim_request_escaped(&arena, cursor_of(&arena, request.body))));
    sim_request_end(&request);
    sim_request_get(&request, world, options.to_us + 6 * US_PER_MINUTE, url);
    CHECK_EQ(request.call.status, 404, "six minutes later");
    CHECK(str_find(request.body, STR("\"type\":\"cursor-invalid\"")) < request.body.len,
          "and says so");
    sim_request_end(&request);
    sim_request_get(&request, world, options.to_us, STR("/crossref/works?cursor=thing"));
    CHECK_EQ(request.call.status, 404, "not ours");
    sim_request_end(&request);
    arena_release(&arena);
    world_close(world);
}

TEST(limits_are_refused_with_crossrefs_errors)
{
    static const struct {
        const char *url;
        int status;
        struct str text;
    } cases[] = {
        { "/crossref/works?rows=1001", 400,
          STR_INIT("Integer specified as 1001 but must be a positive integer less than or equal to "
                   "1000. ") },
        { "/crossref/works?rows=things", 400, STR_INIT("integer-not-valid") },
        { "/crossref/works?offset=10001", 400, STR_INIT("less than or equal to 10000. ") },
        { "/crossref/works?filter=has-full-text:true", 400, STR_INIT("filter-not-available") },
        { "/crossref/works?filter=from-index-date:yesterday", 400, STR_INIT("yesterday") },
        { "/crossref/works?limit=5", 400, STR_INIT("parameter-not-allowed") },
        { "/crossref/works?cursor=*&offset=5", 400, STR_INIT("parameter-not-allowed") },
        { "/crossref/funders", 404, STR_INIT("Resource not found.") },
        { "/crossref/works/10.1000%2Fnothing", 404, STR_INIT("Resource not found.") },
        { "/crossref/works?rows=0", 200, STR_INIT("\"items\":[]") },
        { "/crossref/v1/works?rows=1&select=DOI,title", 200, STR_INIT("\"items\":[{\"DOI\":\"") },
    };
    struct world_options options;
    struct sim_world *world = open_world(&options);

    for (size_t i = 0; i < ARRAY_LEN(cases); i++) {
        struct sim_request request;

        sim_request_get(&request, world, options.to_us, str_of(cases[i].url));
        CHECK_EQ(request.call.status, cases[i].status, cases[i].url);
        CHECK(str_find(request.body, cases[i].text) < request.body.len, cases[i].url);
        sim_request_end(&request);
    }
    world_close(world);
}

TEST(pools_show_in_the_headers)
{
    struct world_options options;
    struct sim_world *world = open_world(&options);
    struct sim_request request;

    sim_request_get(&request, world, options.to_us, STR("/crossref/works?rows=1"));
    CHECK_STR(call_response_header(&request.call, STR("X-Api-Pool")), STR("public"), "nameless");
    CHECK_STR(call_response_header(&request.call, STR("X-Concurrency-Limit")), STR("1"), "one");
    sim_request_end(&request);
    sim_request_get(&request, world, options.to_us,
                    STR("/crossref/works?rows=1&mailto=a@example.org"));
    CHECK_STR(call_response_header(&request.call, STR("X-Api-Pool")), STR("polite"), "named");
    CHECK_STR(call_response_header(&request.call, STR("X-Rate-Limit-Limit")), STR("10"), "ten");
    sim_request_end(&request);
    world_close(world);
}

TEST(a_merged_doi_leads_to_another)
{
    struct world_options options;
    struct sim_world *world = open_world(&options);
    const struct corpus *corpus = world_corpus(world);
    struct sim_request request;
    uint32_t record = 0;
    struct id id;
    char url[256];

    while ((corpus->flags[corpus->first[record + 1] - 1] & VERSION_MERGED) == 0)
        record++;
    id = id_make(ID_CROSSREF, record, corpus->count);
    (void)snprintf(url, sizeof(url), "/crossref/works/%.*s", STR_ARG(id_str(&id)));
    sim_request_get(&request, world, options.to_us + 30 * US_PER_DAY, str_of(url));
    CHECK_EQ(request.call.status, 301, "moved");
    CHECK(str_starts(call_response_header(&request.call, STR("location")),
                     STR("/crossref/works/10.")),
          "to a DOI");
    sim_request_end(&request);
    world_close(world);
}
