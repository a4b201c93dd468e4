/* Semantic Scholar: bulk pages until the token is null, and batches with null for what is unknown.
 */
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

#define BULK "/graph/v1/paper/search/bulk?publicationDateOrYear=2026-01-01:2026-01-08"

TEST(tokens_lead_through_the_days_of_publication)
{
    static const char *const bases[] = { "/semanticscholar", "/semanticscholar/small" };
    struct world_options options;
    struct sim_world *world = open_world(&options);

    for (size_t i = 0; i < ARRAY_LEN(bases); i++) {
        const size_t total = sim_request_expect(
            world,
            (struct sim_request_window){ VIEW_LIVE, ORDER_PUBLISHED, options.from_us,
                                         options.from_us + 8 * US_PER_DAY, options.to_us },
            wanted);
        size_t seen = 0, pages = 0;
        char token[300] = "";

        CHECK(total > 80, "more than two small pages");
        do {
            struct sim_request request;
            char url[512];

            (void)snprintf(url, sizeof(url), "%s" BULK "%s%s", bases[i],
                           token[0] != '\0' ? "&token=" : "", token);
            sim_request_get(&request, world, options.to_us, str_of(url));
            REQUIRE(request.call.status == 200, "a page");
            seen += sim_request_tick(world, request.body, ID_SEMANTICSCHOLAR, STR("\"paperId\":\""),
                                     STR("\""), wanted);
            pages++;
            (void)snprintf(
                token, sizeof(token), "%.*s",
                STR_ARG(sim_request_between(request.body, STR("\"token\": \""), STR("\""))));
            CHECK_EQ(str_find(request.body, STR("\"token\": null")) < request.body.len,
                     token[0] == '\0', "null at the end");
            sim_request_end(&request);
        } while (token[0] != '\0');
        CHECK_EQ(seen, total, bases[i]);
        CHECK_EQ(pages, i == 0 ? 1 : (total + 39) / 40, "1,000 to a page, or 40");
    }
    world_close(world);
}

TEST(a_batch_is_in_the_order_of_its_ids)
{
    struct world_options options;
    struct sim_world *world = open_world(&options);
    struct sim_request request;
    const struct id first = id_make(ID_SEMANTICSCHOLAR, 7, RECORDS);
    const struct id second = id_make(ID_SEMANTICSCHOLAR, 3, RECORDS);
    char body[256];

    (void)snprintf(body, sizeof(body), "{\"ids\":[\"%.*s\",\"none\",\"%.*s\"]}",
                   STR_ARG(id_str(&first)), STR_ARG(id_str(&second)));
    sim_request_begin(&request, options.to_us, "POST",
                      STR("/semanticscholar/graph/v1/paper/batch"));
    request.call.body = str_of(body);
    sim_request_send(&request, world);
    CHECK_EQ(request.call.status, 200, "found");
    CHECK_EQ(sim_request_count(request.body, STR("\"paperId\":\"")), 2, "two papers");
    CHECK_STR(sim_request_between(request.body, STR("\"paperId\":\""), STR("\"")), id_str(&first),
              "in this order");
    CHECK_EQ(sim_request_count(request.body, STR("}, null, {")), 1, "and null between them");
    sim_request_end(&request);
    world_close(world);
}

TEST(a_foreign_token_is_refused)
{
    struct world_options options;
    struct sim_world *world = open_world(&options);
    struct sim_request request;

    sim_request_get(&request, world, options.to_us, STR("/semanticscholar" BULK "&token=none"));
    CHECK_EQ(request.call.status, 400, "no token of this server");
    sim_request_end(&request);
    world_close(world);
}
