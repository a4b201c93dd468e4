/* The feeds of the simulator: they hold what the corpus says, and a second reading holds what has
 * changed since the first. */
#include <stdio.h>

#include "base/instant.h"
#include "sim/protocol/body.h"
#include "sim_request.h"

enum { RECORDS = 2000, PAGES_MAX = 200 };

static struct world_options some_options(void)
{
    struct world_options options;

    world_options_init(&options);
    options.records = RECORDS;
    options.deleted_ppm = 60000;
    return options;
}

static size_t tick(const struct sim_world *world, struct str body, uint8_t *wanted)
{
    return sim_request_tick(world, body, ID_GENERIC, STR("\"id\":\""), STR("\""), wanted);
}

static size_t expect_all(const struct sim_world *world, enum view_mode mode, int64_t now_us,
                         uint8_t *wanted)
{
    return sim_request_expect(
        world, (struct sim_request_window){ mode, ORDER_UPDATED, INT64_MIN, INT64_MAX, now_us },
        wanted);
}

/* The records with a version that appeared after one time and by another. */
static size_t expect_changed(const struct sim_world *world, int64_t after_us, int64_t now_us,
                             uint8_t *wanted)
{
    const struct corpus *corpus = world_corpus(world);
    size_t count = 0;

    for (uint32_t record = 0; record < corpus->count; record++) {
        wanted[record] = 0;
        for (uint32_t v = corpus->first[record]; v < corpus->first[record + 1]; v++)
            wanted[record] |= corpus->visible_us[v] > after_us && corpus->visible_us[v] <= now_us;
        count += wanted[record];
    }
    return count;
}

/* The last "seq" of a page. */
static int64_t last_seq(struct str body, int64_t before)
{
    const struct str mark = STR("{\"seq\":");

    for (size_t at = str_find(body, mark); at < body.len; at = str_find(body, mark)) {
        int64_t seq;

        body = str_slice(body, at + mark.len, body.len);
        REQUIRE(str_to_i64(str_slice(body, 0, str_find_char(body, ',')), &seq), "a number");
        CHECK(seq > before, "in ascending order");
        before = seq;
    }
    return before;
}

static int64_t read_changes(struct sim_world *world, int64_t since, int64_t now_us, uint8_t *wanted,
                            size_t total)
{
    size_t seen = 0;

    for (int page = 0; page < PAGES_MAX; page++) {
        struct sim_request request;
        char url[128];
        size_t count;

        (void)snprintf(url, sizeof(url), "/generic/changes?since=%lld&limit=70", (long long)since);
        sim_request_get(&request, world, now_us, str_of(url));
        REQUIRE(request.call.status == 200, "a page");
        count = tick(world, request.body, wanted);
        seen += count;
        since = last_seq(request.body, since);
        sim_request_end(&request);
        if (count == 0)
            break;
    }
    CHECK_EQ(seen, total, "all, each once");
    return since;
}

TEST(changes_are_all_records_by_their_last_change)
{
    const struct world_options options = some_options();
    struct sim_world *world = sim_request_world(&options);
    const int64_t then_us = options.from_us + 40 * US_PER_DAY;
    const int64_t now_us = options.from_us + 70 * US_PER_DAY;
    uint8_t wanted[RECORDS];
    size_t total = expect_all(world, VIEW_ALL, then_us, wanted);
    const int64_t since = read_changes(world, 0, then_us, wanted, total);

    CHECK(total > 500, "there is something to read");
    total = expect_changed(world, then_us, now_us, wanted);
    CHECK(total > 200, "and something has changed");
    (void)read_changes(world, since, now_us, wanted, total);
    world_close(world);
}

/* Reads a sync to its end; the token of the next is written to `token`. */
static void read_sync(struct sim_world *world, int64_t now_us, char token[256], uint8_t *wanted,
                      size_t total)
{
    char page[256] = "";
    size_t seen = 0;

    for (int number = 0; number < PAGES_MAX; number++) {
        struct sim_request request;
        struct str next;
        char url[640];

        (void)snprintf(url, sizeof(url), "/generic/sync?size=70&token=%s&page=%s", token, page);
        sim_request_get(&request, world, now_us, str_of(url));
        REQUIRE(request.call.status == 200, "a page");
        seen += tick(world, request.body, wanted);
        next = sim_request_between(request.body, STR("\"nextPageToken\":\""), STR("\""));
        (void)snprintf(page, sizeof(page), "%.*s", STR_ARG(next));
        next = sim_request_between(request.body, STR("\"nextSyncToken\":\""), STR("\""));
        if (next.len > 0)
            (void)snprintf(token, 256, "%.*s", STR_ARG(next));
        sim_request_end(&request);
        if (page[0] == '\0')
            break;
    }
    CHECK_EQ(seen, total, "all, each once");
}

TEST(a_sync_is_what_changed_since_its_token)
{
    const struct world_options options = some_options();
    struct sim_world *world = sim_request_world(&options);
    const int64_t then_us = options.from_us + 40 * US_PER_DAY;
    const int64_t now_us = then_us + 20 * US_PER_HOUR;
    uint8_t wanted[RECORDS];
    struct sim_request request;
    char token[256] = "", url[512];
    size_t total = expect_all(world, VIEW_LIVE, then_us, wanted);

    read_sync(world, then_us, token, wanted, total);
    total = expect_changed(world, then_us, now_us, wanted);
    CHECK(total > 5, "something has changed");
    read_sync(world, now_us, token, wanted, total);
    (void)snprintf(url, sizeof(url), "/generic/sync?token=%s", token);
    sim_request_get(&request, world, now_us + 2 * US_PER_DAY, str_of(url));
    CHECK_EQ(request.call.status, 410, "a token expires");
    sim_request_end(&request);
    world_close(world);
}
