/* bioRxiv: the server's own size of pages, a total that is too high, the end in words. */
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

/* The DOI is without its version here. */
static size_t tick(const struct sim_world *world, struct str body)
{
    struct arena arena;
    struct buf joined;
    size_t count;

    arena_init(&arena, 1 << 20);
    buf_init(&joined, &arena, 1 << 19);
    for (size_t at = 0; (at = str_find(body, STR("\"doi\":\""))) < body.len;) {
        body = str_slice(body, at + 7, body.len);
        buf_printf(&joined, "<%.*sv%.*s>", STR_ARG(str_slice(body, 0, str_find_char(body, '"'))),
                   STR_ARG(sim_request_between(body, STR("\"version\":\""), STR("\""))));
    }
    count = sim_request_tick(world, buf_str(&joined), ID_BIORXIV, STR("<"), STR(">"), wanted);
    arena_release(&arena);
    return count;
}

TEST(offsets_lead_through_the_days_until_no_posts_are_found)
{
    static const char *const servers[] = { "biorxiv", "medrxiv" };
    struct world_options options;
    struct sim_world *world = open_world(&options);

    for (size_t i = 0; i < ARRAY_LEN(servers); i++) {
        const size_t total = sim_request_expect(
            world,
            (struct sim_request_window){ VIEW_LIVE, ORDER_CREATED, options.from_us + 4 * US_PER_DAY,
                                         options.from_us + 8 * US_PER_DAY, options.to_us },
            wanted);
        bool is_over = false, is_too_high = false;
        size_t seen = 0;

        CHECK(total > 60, "several pages");
        while (!is_over) {
            struct sim_request request;
            size_t count;
            char url[128];

            (void)snprintf(url, sizeof(url), "/biorxiv/details/%s/2026-01-05/2026-01-08/%zu/json",
                           servers[i], seen);
            sim_request_get(&request, world, options.to_us, str_of(url));
            CHECK_EQ(request.call.status, 200, "also at the end");
            count = tick(world, request.body);
            CHECK(count <= 30, "at most 30");
            seen += count;
            is_over = str_find(request.body, STR("no posts found")) < request.body.len;
            CHECK_EQ(count == 0, is_over, "which is a page without records");
            if (count > 0) {
                int64_t told = 0;

                CHECK(str_to_i64(sim_request_between(request.body, STR("\"total\":\""), STR("\"")),
                                 &told),
                      "a total, as a text");
                is_too_high |= told > (int64_t)total;
            }
            sim_request_end(&request);
        }
        CHECK_EQ(seen, total, servers[i]);
        CHECK_EQ(is_too_high, total % 4 != 0, "three times in four");
    }
    world_close(world);
}

TEST(a_change_does_not_move_the_date)
{
    struct world_options options;
    struct sim_world *world = open_world(&options);
    const struct corpus *corpus = world_corpus(world);
    const struct body_form *form = body_form_find(STR("biorxiv"));
    struct arena arena;
    struct buf first, last;
    uint32_t record = 0;

    arena_init(&arena, 1 << 20);
    while (corpus->first[record + 1] - corpus->first[record] < 2)
        record++;
    buf_init(&first, &arena, 1 << 18);
    buf_init(&last, &arena, 1 << 18);
    body_write(form, world, &first, corpus->first[record], FLAW_NONE);
    body_write(form, world, &last, corpus->first[record + 1] - 1, FLAW_NONE);
    CHECK(!str_eq(buf_str(&first), buf_str(&last)), "it has changed");
    CHECK_STR(sim_request_between(buf_str(&first), STR("\"date\":\""), STR("\"")),
              sim_request_between(buf_str(&last), STR("\"date\":\""), STR("\"")), "the same day");
    arena_release(&arena);
    world_close(world);
}

TEST(what_is_wrong_is_said_with_status_200)
{
    static const char *const urls[] = {
        "/biorxiv/details/chemrxiv/2026-01-05/2026-01-08/0",
        "/biorxiv/details/biorxiv/2026-01/2026-02/0",
        "/biorxiv/details/biorxiv/2026-01-05/2026-01-08/x",
    };
    struct world_options options;
    struct sim_world *world = open_world(&options);

    for (size_t i = 0; i < ARRAY_LEN(urls); i++) {
        struct sim_request request;

        sim_request_get(&request, world, options.to_us, str_of(urls[i]));
        CHECK_EQ(request.call.status, 200, urls[i]);
        CHECK(str_find(request.body, STR("\"status\":\"Error")) < request.body.len, urls[i]);
        sim_request_end(&request);
    }
    world_close(world);
}
