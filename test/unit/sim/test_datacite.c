/* DataCite: cursors in links.next, mixed brackets, the clamp at 10,000. */
#include <stdio.h>

#include "base/instant.h"
#include "sim_request.h"

enum { RECORDS = 12000 };

static uint8_t wanted[RECORDS];

static struct sim_world *open_world(struct world_options *options)
{
    world_options_init(options);
    options->records = RECORDS;
    return sim_request_world(options);
}

static size_t tick(const struct sim_world *world, struct str body)
{
    return sim_request_tick(world, body, ID_DATACITE, STR("{\"doi\":\""), STR("\""), wanted);
}

/* links.next, with its \u0026 decoded, without the host. */
static struct str next_of(struct arena *arena, struct str body)
{
    struct str rest = sim_request_between(body, STR("\"next\":\"http://127.0.0.1:8080"), STR("\""));
    struct buf url;

    buf_init(&url, arena, 4096);
    while (rest.len > 0) {
        const size_t at = str_find(rest, STR("\\u0026"));

        buf_add(&url, str_slice(rest, 0, at));
        if (at < rest.len)
            buf_add_char(&url, '&');
        rest = str_slice(rest, at + 6, rest.len);
    }
    return buf_str(&url);
}

static size_t walk(struct sim_world *world, int64_t now_us, struct str url)
{
    struct arena arena;
    size_t seen = 0;

    arena_init(&arena, 1 << 20);
    while (url.len > 0) {
        struct sim_request request;

        sim_request_get(&request, world, now_us, url);
        REQUIRE(request.call.status == 200, "a page");
        seen += tick(world, request.body);
        url = next_of(&arena, request.body);
        sim_request_end(&request);
    }
    arena_release(&arena);
    return seen;
}

TEST(links_lead_through_the_whole_window)
{
    static const struct {
        const char *range;
        int64_t from_us, to_us; /* after the start of the world */
    } cases[] = {
        { "updated:%5B2026-01-05T00:00:00Z+TO+2026-01-09T00:00:00Z%7D", 4 * US_PER_DAY,
          8 * US_PER_DAY },
        { "updated:%5B2026-01-05+TO+2026-01-08%5D", 4 * US_PER_DAY, 8 * US_PER_DAY },
        { "x+AND+updated:%7B2026-01-04+TO+2026-01-08T23:59:59Z%5D", 4 * US_PER_DAY,
          8 * US_PER_DAY },
    };
    static const char *const starts[] = { "page%5Bcursor%5D=1", "page%5Bnumber%5D=1" };
    struct world_options options;
    struct sim_world *world = open_world(&options);

    for (size_t i = 0; i < ARRAY_LEN(cases) * 2; i++) {
        const size_t total =
            sim_request_expect(world,
                               (struct sim_request_window){
                                   VIEW_LIVE, ORDER_UPDATED, options.from_us + cases[i / 2].from_us,
                                   options.from_us + cases[i / 2].to_us, options.to_us },
                               wanted);
        char url[256];

        (void)snprintf(url, sizeof(url), "/datacite/dois?%s&page%%5Bsize%%5D=100&query=%s",
                       starts[i % 2], cases[i / 2].range);
        CHECK(total > 100, "more than a page");
        CHECK_EQ(walk(world, options.to_us, str_of(url)), total, url);
    }
    world_close(world);
}

TEST(beyond_10000_the_last_page_repeats_forever)
{
    struct world_options options;
    struct sim_world *world = open_world(&options);
    struct sim_request last, beyond;

    sim_request_get(&last, world, options.to_us,
                    STR("/datacite/dois?page%5Bnumber%5D=10&page%5Bsize%5D=5000"));
    sim_request_get(&beyond, world, options.to_us,
                    STR("/datacite/dois?page%5Bnumber%5D=12&page%5Bsize%5D=1000"));
    CHECK_STR(sim_request_between(beyond.body, STR("\"data\":["), STR("],\"meta\"")),
              sim_request_between(last.body, STR("\"data\":["), STR("],\"meta\"")),
              "the same page");
    CHECK(str_find(beyond.body, STR("\"totalPages\":10,\"page\":10,")) < beyond.body.len,
          "a total that stops at the cap");
    sim_request_end(&last);
    sim_request_end(&beyond);
    world_close(world);
}

TEST(an_invalid_cursor_starts_from_the_beginning)
{
    struct world_options options;
    struct sim_world *world = open_world(&options);
    struct sim_request first, broken;

    sim_request_get(&first, world, options.to_us,
                    STR("/datacite/dois?page%5Bcursor%5D=1&page%5Bsize%5D=2"));
    sim_request_get(&broken, world, options.to_us,
                    STR("/datacite/dois?page%5Bcursor%5D=!!!&page%5Bsize%5D=2"));
    CHECK_STR(sim_request_between(broken.body, STR("\"data\":["), STR("],\"meta\"")),
              sim_request_between(first.body, STR("\"data\":["), STR("],\"meta\"")), "page one");
    sim_request_end(&first);
    sim_request_end(&broken);
    world_close(world);
}

TEST(next_may_point_to_another_host)
{
    struct world_options options;
    struct sim_world *world = open_world(&options);
    struct sim_request request;

    sim_request_begin(&request, options.to_us, "GET", STR("/datacite/dois?page%5Bcursor%5D=1"));
    request.call.content_fault = CONTENT_FAULT_NEXT_ELSEWHERE;
    sim_request_send(&request, world);
    CHECK(str_find(request.body, STR("\"next\":\"http://localhost:8080/datacite/dois?")) <
              request.body.len,
          "another host");
    sim_request_end(&request);
    world_close(world);
}
