/* OpenAlex: stateless cursors, both ways of ending, limits and plans. */
#include "base/instant.h"
#include "sim_request.h"

enum { RECORDS = 3000 };

static uint8_t wanted[RECORDS];

static struct sim_world *open_world(struct world_options *options)
{
    world_options_init(options);
    options->records = RECORDS;
    return sim_request_world(options);
}

/* Skips the ids of authors, topics and so on: only a work's own id is under "openalex". */
static size_t tick(const struct sim_world *world, struct str body)
{
    return sim_request_tick(world, body, ID_OPENALEX, STR("\"openalex\":\""), STR("\""), wanted);
}

static size_t walk(struct sim_world *world, int64_t now_us, const char *base, size_t *pages)
{
    struct arena arena;
    struct str cursor = STR("*");
    size_t seen = 0;

    arena_init(&arena, 1 << 20);
    for (*pages = 0; cursor.len > 0; ++*pages) {
        struct sim_request request;

        sim_request_get(
            &request, world, now_us,
            arena_printf(&arena,
                         "%s/works?api_key=k&per_page=100&cursor=%.*s&filter=from_updated_date:"
                         "2026-01-05,to_updated_date:2026-01-19T23:59:59.999999",
                         base, STR_ARG(sim_request_escaped(&arena, cursor))));
        REQUIRE(request.call.status == 200, "a page");
        seen += tick(world, request.body);
        cursor = arena_copy(
            &arena, sim_request_between(request.body, STR("\"next_cursor\":\""), STR("\"")));
        sim_request_end(&request);
    }
    arena_release(&arena);
    return seen;
}

TEST(cursors_walk_the_whole_window_and_end_in_two_ways)
{
    struct world_options options;
    struct sim_world *world = open_world(&options);
    const struct sim_request_window window = { VIEW_LIVE, ORDER_UPDATED,
                                               options.from_us + 4 * US_PER_DAY,
                                               options.from_us + 19 * US_PER_DAY, options.to_us };
    const size_t total = sim_request_expect(world, window, wanted);
    size_t pages_2026, pages_2025;

    CHECK(total > 200 && total % 100 != 0, "some pages, the last one short");
    CHECK_EQ(walk(world, options.to_us, "/openalex", &pages_2026), total, "2026");
    (void)sim_request_expect(world, window, wanted);
    CHECK_EQ(walk(world, options.to_us, "/openalex-2025", &pages_2025), total, "2025");
    CHECK_EQ(pages_2026, (total + 99) / 100, "a short page is the last");
    CHECK_EQ(pages_2025, pages_2026 + 1, "an empty page follows");
    world_close(world);
}

TEST(a_cursor_can_be_replayed)
{
    struct world_options options;
    struct sim_world *world = open_world(&options);
    struct arena arena;
    struct sim_request first, again;
    struct str url;

    arena_init(&arena, 1 << 20);
    sim_request_get(&first, world, options.to_us, STR("/openalex/works?per_page=3&cursor=*"));
    url = arena_printf(
        &arena, "/openalex/works?per_page=3&cursor=%.*s",
        STR_ARG(sim_request_escaped(
            &arena, sim_request_between(first.body, STR("\"next_cursor\":\""), STR("\"")))));
    sim_request_end(&first);
    sim_request_get(&first, world, options.to_us, url);
    sim_request_get(&again, world, options.to_us, url);
    CHECK(first.body.len > 1000, "a page");
    CHECK_STR(again.body, first.body, "the same bytes");
    sim_request_end(&first);
    sim_request_end(&again);
    arena_release(&arena);
    world_close(world);
}

TEST(limits_and_plans_are_distinguished)
{
    static const struct {
        const char *url;
        int status;
        struct str text;
    } cases[] = {
        { "/openalex/works?filter=from_updated_date:2026-01-01", 429,
          STR_INIT("{\"error\":\"Plan upgrade required\",\"message\":\"The "
                   "\\\"from_updated_date:2026-01-01\\\" filter requires") },
        { "/openalex/works?api_key=free&filter=from_created_date:2026-01-01", 429,
          STR_INIT("Plan upgrade required") },
        { "/openalex/works?filter=from_publication_date:2026-01-01&per_page=1", 200,
          STR_INIT("\"results\":[{") },
        { "/openalex/works?api_key=invalid", 401,
          STR_INIT(
              "{\"error\":\"Invalid or missing API key\",\"message\":\"API key not found\"}") },
        { "/openalex/works?filter=DOESNTEXIST:1", 400,
          STR_INIT("DOESNTEXIST is not a valid field.") },
        { "/openalex/works?limit=5", 400, STR_INIT("limit is not a valid parameter") },
        { "/openalex/works?cursor=null", 400, STR_INIT("Pagination error.") },
        { "/openalex/works?cursor=*&page=1", 400, STR_INIT("together") },
        { "/openalex/works?page=51&per_page=200", 400, STR_INIT("10,000 records") },
        { "/openalex/works?per_page=1000", 200, STR_INIT("\"per_page\":200") },
        { "/openalex/works/W1", 404, STR_INIT("<!doctype html>") },
        { "/openalex/works/W4000000001", 200,
          STR_INIT("\"id\":\"https://openalex.org/W4000000001\"") },
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
