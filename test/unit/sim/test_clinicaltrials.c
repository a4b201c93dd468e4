/* ClinicalTrials.gov: tokens, pages without studies, a total on the first page only. */
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

#define STUDIES "/clinicaltrials/api/v2/studies"
#define WINDOW STUDIES "?filter.advanced=AREA[LastUpdatePostDate]RANGE[2026-01-05,2026-01-08]"

TEST(tokens_lead_through_the_window_and_past_empty_pages)
{
    struct world_options options;
    struct sim_world *world = open_world(&options);
    const size_t total = sim_request_expect(
        world,
        (struct sim_request_window){ VIEW_LIVE, ORDER_UPDATED, options.from_us + 4 * US_PER_DAY,
                                     options.from_us + 8 * US_PER_DAY, options.to_us },
        wanted);
    char url[512] = WINDOW "&pageSize=20&countTotal=true";
    size_t seen = 0, empty = 0;

    CHECK(total > 80, "several pages");
    for (int page = 0; url[0] != '\0'; page++) {
        struct sim_request request;
        struct str token;
        size_t count;

        sim_request_get(&request, world, options.to_us, str_of(url));
        REQUIRE(request.call.status == 200, "a page");
        count = sim_request_tick(world, request.body, ID_CLINICALTRIALS, STR("\"nctId\":\""),
                                 STR("\""), wanted);
        seen += count;
        empty += count == 0;
        CHECK_EQ(str_find(request.body, STR("\"totalCount\":")) < request.body.len, page == 0,
                 "a total on the first page only");
        token = sim_request_between(request.body, STR("\"nextPageToken\":\""), STR("\""));
        (void)snprintf(url, sizeof(url), "%s%.*s",
                       token.len > 0 ? WINDOW "&pageSize=20&countTotal=true&pageToken=" : "",
                       STR_ARG(token));
        sim_request_end(&request);
    }
    CHECK_EQ(seen, total, "all");
    CHECK(empty > 0, "an empty page that was not the last");
    world_close(world);
}

TEST(failures_are_plain_text)
{
    static const struct {
        const char *url;
        int status;
    } cases[] = {
        { STUDIES "?pageToken=none", 400 },
        { STUDIES "?filter.advanced=AREA[Other]MISSING", 400 },
        { STUDIES "?pageSize=x", 400 },
        { STUDIES "/NCT99999999", 404 },
        { "/clinicaltrials/api/v2/else", 404 },
    };
    struct world_options options;
    struct sim_world *world = open_world(&options);

    for (size_t i = 0; i < ARRAY_LEN(cases); i++) {
        struct sim_request request;

        sim_request_get(&request, world, options.to_us, str_of(cases[i].url));
        CHECK_EQ(request.call.status, cases[i].status, cases[i].url);
        CHECK(str_starts(request.call.content_type, STR("text/plain")), cases[i].url);
        sim_request_end(&request);
    }
    world_close(world);
}
