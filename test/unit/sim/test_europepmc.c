/* Europe PMC: cursorMark up to its repetition, in JSON and XML; errors with status 200. */
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

/* An id is "MED/" or "PPR/" and the member id; the member source follows it. */
static size_t tick(const struct sim_world *world, struct str body, bool json)
{
    const struct str before = json ? STR("{\"id\":\"") : STR("<result><id>");
    size_t count = 0;

    for (size_t at = str_find(body, before); at < body.len; at = str_find(body, before)) {
        char whole[64];
        struct str id;

        body = str_slice(body, at + before.len, body.len);
        id = str_slice(body, 0, str_find_char(body, json ? '"' : '<'));
        (void)snprintf(whole, sizeof(whole), "=%s/%.*s;",
                       str_starts(id, STR("PPR")) ? "PPR" : "MED", STR_ARG(id));
        count += sim_request_tick(world, str_of(whole), ID_EUROPEPMC, STR("="), STR(";"), wanted);
    }
    return count;
}

static void walk(bool json, const char *type, const char *query, struct sim_request_window window)
{
    struct world_options options;
    struct sim_world *world = open_world(&options);
    const size_t total = sim_request_expect(world, window, wanted);
    struct str mark = STR("*"), last = STR("");
    struct arena arena;
    size_t seen = 0;

    arena_init(&arena, 1 << 20);
    while (!str_eq(mark, last)) {
        struct sim_request request;

        sim_request_get(
            &request, world, window.now_us,
            arena_printf(&arena,
                         "/europepmc/webservices/rest/search?query=%s&pageSize=100&cursorMark="
                         "%.*s&resultType=%s&format=%s",
                         query, STR_ARG(sim_request_escaped(&arena, mark)), type,
                         json ? "json" : "xml"));
        seen += tick(world, request.body, json);
        last = mark;
        mark = json ? sim_request_between(request.body, STR("\"nextCursorMark\":\""), STR("\""))
                    : sim_request_between(request.body, STR("<nextCursorMark>"),
                                          STR("</nextCursorMark>"));
        mark = arena_copy(&arena, mark);
        CHECK(mark.len > 0, "a mark on every page");
        sim_request_end(&request);
    }
    CHECK(total > 150, "more than a page");
    CHECK_EQ(seen, total, query);
    arena_release(&arena);
    world_close(world);
}

TEST(marks_walk_the_whole_window_until_one_repeats)
{
    struct world_options options;

    world_options_init(&options);
    walk(true, "core", "UPDATE_DATE:[2026-01-10+TO+2026-01-19]",
         (struct sim_request_window){ VIEW_LIVE, ORDER_UPDATED, options.from_us + 9 * US_PER_DAY,
                                      options.from_us + 19 * US_PER_DAY, options.to_us });
    walk(false, "lite", "(FIRST_IDATE:[2026-01-10+TO+2026-01-19])+AND+cancer",
         (struct sim_request_window){ VIEW_LIVE, ORDER_CREATED, options.from_us + 9 * US_PER_DAY,
                                      options.from_us + 19 * US_PER_DAY, options.to_us });
    walk(true, "idlist", "CREATION_DATE:[2026-01-10+TO+*]",
         (struct sim_request_window){ VIEW_LIVE, ORDER_CREATED, options.from_us + 9 * US_PER_DAY,
                                      INT64_MAX, options.from_us + 30 * US_PER_DAY });
}

TEST(no_hits_mean_no_mark)
{
    struct world_options options;
    struct sim_world *world = open_world(&options);
    struct sim_request request;

    sim_request_get(
        &request, world, options.to_us,
        STR("/europepmc/webservices/rest/search?query=UPDATE_DATE:1999-01-01&format=json"));
    CHECK_STR(
        request.body,
        STR("{\"version\":\"6.9\",\"hitCount\":0,\"request\":{\"queryString\":"
            "\"UPDATE_DATE:1999-01-01\",\"resultType\":\"lite\",\"cursorMark\":\"%2A\","
            "\"pageSize\":25,\"sort\":\"\",\"synonym\":false},\"resultList\":{\"result\":[]}}"),
        "nothing");
    sim_request_end(&request);
    world_close(world);
}

TEST(errors_have_status_200)
{
    static const struct {
        const char *url;
        int status;
        struct str body;
    } cases[] = {
        { "/europepmc/webservices/rest/search?query=a&pageSize=1001&format=json", 200,
          STR_INIT(
              "{\"errCode\":404,\"errMsg\":\"Invalid page size provided. Valid size is between "
              "1 and 1000\"}") },
        { "/europepmc/webservices/rest/search?query=a&cursorMark=x&format=json", 200,
          STR_INIT("{\"errCode\":404,\"errMsg\":\"Invalid cursorMark provided\"}") },
        { "/europepmc/webservices/rest/search?query=a&sort=NOPE%20asc&format=json", 503,
          STR_INIT("Service Unavailable") },
    };
    struct world_options options;
    struct sim_world *world = open_world(&options);

    for (size_t i = 0; i < ARRAY_LEN(cases); i++) {
        struct sim_request request;

        sim_request_get(&request, world, options.to_us, str_of(cases[i].url));
        CHECK_EQ(request.call.status, cases[i].status, cases[i].url);
        CHECK_STR(request.body, cases[i].body, cases[i].url);
        sim_request_end(&request);
    }
    world_close(world);
}
