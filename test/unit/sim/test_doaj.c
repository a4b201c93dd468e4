/* DOAJ: pages of at most 100, at most 1,000 records, no wildcards. */
#include <stdio.h>

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

#define SEARCH "/doaj/api/search/articles/"

TEST(pages_lead_through_the_window)
{
    struct world_options options;
    struct sim_world *world = open_world(&options);
    const size_t total =
        sim_request_expect(world,
                           (struct sim_request_window){
                               VIEW_LIVE, ORDER_UPDATED, options.from_us + 4 * US_PER_DAY,
                               options.from_us + 8 * US_PER_DAY + US_PER_SECOND, options.to_us },
                           wanted);
    bool has_next = true;
    size_t seen = 0;

    CHECK(total > 100, "several pages");
    for (int page = 1; has_next; page++) {
        struct sim_request request;
        char url[256];

        (void)snprintf(url, sizeof(url),
                       SEARCH "last_updated:%%5B2026-01-05T00:00:00Z%%20TO%%202026-01-09T00:00:00Z"
                              "%%5D?page=%d&pageSize=500",
                       page);
        sim_request_get(&request, world, options.to_us, str_of(url));
        REQUIRE(request.call.status == 200, "a page");
        seen +=
            sim_request_tick(world, request.body, ID_DOAJ, STR("},\"id\":\""), STR("\""), wanted);
        CHECK(str_find(request.body, STR("\"pageSize\":100,")) < request.body.len, "clamped");
        has_next = str_find(request.body, STR("\"next\":\"")) < request.body.len;
        sim_request_end(&request);
    }
    CHECK_EQ(seen, total, "all, both ends included");
    world_close(world);
}

TEST(what_is_beyond_1000_records_is_refused)
{
    static const struct {
        const char *url;
        int status;
    } cases[] = {
        { SEARCH "all?page=10&pageSize=100", 200 },
        { SEARCH "all?page=11&pageSize=100", 400 },
        { SEARCH "all?page=101&pageSize=10", 400 },
        { SEARCH "last_updated:%5B2026-01-01%20TO%20*%5D", 400 },
        { SEARCH "all?page=0", 400 },
        { "/doaj/api/articles/none", 404 },
    };
    struct world_options options;
    struct sim_world *world = open_world(&options);

    for (size_t i = 0; i < ARRAY_LEN(cases); i++) {
        struct sim_request request;

        sim_request_get(&request, world, options.to_us, str_of(cases[i].url));
        CHECK_EQ(request.call.status, cases[i].status, cases[i].url);
        CHECK_EQ(str_find(request.body, STR("\"error\":")) < request.body.len,
                 cases[i].status != 200, cases[i].url);
        sim_request_end(&request);
    }
    world_close(world);
}
