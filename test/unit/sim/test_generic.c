/* The generic APIs: every way of paging collects exactly what the corpus says. */
#include <stdio.h>

#include "base/instant.h"
#include "sim/protocol/body.h"
#include "sim/truth/truth.h"
#include "sim_request.h"

enum { RECORDS = 2500 };

static struct world_options some_options(void)
{
    struct world_options options;

    world_options_init(&options);
    options.records = RECORDS;
    options.deleted_ppm = 40000;
    return options;
}

static size_t expect(const struct sim_world *world, int64_t from_us, int64_t to_us, int64_t now_us,
                     uint8_t *wanted)
{
    return sim_request_expect(
        world, (struct sim_request_window){ VIEW_ALL, ORDER_UPDATED, from_us, to_us, now_us },
        wanted);
}

static size_t tick(const struct sim_world *world, struct str body, uint8_t *wanted)
{
    return sim_request_tick(world, body, ID_GENERIC, STR("\"id\":\""), STR("\""), wanted);
}

static struct str next_url(struct arena *arena, const struct sim_request *request,
                           const char *style, const char *window, size_t page)
{
    const struct http_call *call = &request->call;
    struct str token;

    switch (style[0]) {
    case 'o':
        return arena_printf(arena, "/generic/offset?%s&limit=90&offset=%zu", window, page * 90);
    case 'p':
        return arena_printf(arena, "/generic/%s?%s&size=90&page=%zu", style, window,
                            page + (style[4] == '1'));
    case 'l':
        token = sim_request_between(call_response_header(call, STR("Link")), STR(", <"), STR(">"));
        return arena_copy(arena, str_slice(token, STR("http://127.0.0.1:8080").len, token.len));
    case 'n':
        token = sim_request_between(request->body, STR("\"next\":\""), STR("\""));
        return arena_copy(arena, str_slice(token, STR("http://127.0.0.1:8080").len, token.len));
    case 't':
        token = sim_request_between(request->body, STR("\"nextToken\":\""), STR("\""));
        break;
    default:
        token = call_response_header(call, STR("X-Next-Token"));
        break;
    }
    if (token.len == 0)
        return token;
    return arena_printf(arena, "/generic/%s?%s&size=90&token=%.*s", style, window, STR_ARG(token));
}

static void walk(struct sim_world *world, const char *style, const char *window, int64_t now_us,
                 uint8_t *wanted, size_t total)
{
    struct arena arena;
    struct str url;
    size_t seen = 0;

    arena_init(&arena, 1 << 24);
    url = arena_printf(&arena, "/generic/%s?%s&size=90%s", style, window,
                       style[0] == 'o' ? "&limit=90" : "");
    for (size_t page = 1; url.len > 0 && page < 100; page++) {
        struct sim_request request;
        size_t count;

        sim_request_get(&request, world, now_us, url);
        REQUIRE(request.call.status == 200, "a page");
        count = tick(world, request.body, wanted);
        seen += count;
        url = count > 0 ? next_url(&arena, &request, style, window, page) : STR("");
        sim_request_end(&request);
    }
    CHECK_EQ(seen, total, style);
    arena_release(&arena);
}

TEST(every_way_of_paging_walks_the_whole_window)
{
    static const char *const styles[] = { "offset", "page0", "page1", "link",
                                          "next",   "token", "header" };
    const struct world_options options = some_options();
    struct sim_world *world = sim_request_world(&options);
    const int64_t now_us = options.from_us + 60 * US_PER_DAY;
    uint8_t wanted[RECORDS];

    for (size_t i = 0; i < ARRAY_LEN(styles); i++) {
        const size_t total = expect(world, options.from_us + 10 * US_PER_DAY,
                                    options.from_us + 40 * US_PER_DAY, now_us, wanted);

        CHECK(total > 300, "there is something to page through");
        walk(world, styles[i], "from=2026-01-11&to=2026-02-10", now_us, wanted, total);
    }
    world_close(world);
}

TEST(tokens_travel_in_a_json_body_and_expire)
{
    const struct world_options options = some_options();
    struct sim_world *world = sim_request_world(&options);
    const int64_t now_us = options.to_us;
    struct sim_request request;
    struct str token;
    char body[256];

    sim_request_begin(&request, now_us, "POST", STR("/generic/token"));
    request.call.body = STR("{\"size\": 5, \"from\": \"2026-01-02\", \"token\": null}");
    sim_request_send(&request, world);
    token = sim_request_between(request.body, STR("\"nextToken\":\""), STR("\""));
    CHECK(token.len > 0, "a token");
    (void)snprintf(body, sizeof(body), "{\"size\":5,\"token\":\"%.*s\"}", STR_ARG(token));
    sim_request_end(&request);

    sim_request_begin(&request, now_us + US_PER_HOUR, "POST", STR("/generic/token"));
    request.call.body = str_of(body);
    sim_request_send(&request, world);
    CHECK_EQ(request.call.status, 200, "an hour later");
    sim_request_end(&request);

    sim_request_begin(&request, now_us + 2 * US_PER_DAY, "POST", STR("/generic/token"));
    request.call.body = str_of(body);
    sim_request_send(&request, world);
    CHECK_EQ(request.call.status, 410, "two days later");
    sim_request_end(&request);
    world_close(world);
}

TEST(content_faults_change_the_page_and_nothing_else)
{
    const struct world_options options = some_options();
    struct sim_world *world = sim_request_world(&options);
    const struct str url = STR("/generic/offset?limit=10&offset=20");
    struct sim_request correct, faulty;

    sim_request_get(&correct, world, options.to_us, url);
    sim_request_begin(&faulty, options.to_us, "GET", url);
    faulty.call.content_fault = CONTENT_FAULT_EMPTY_PAGE;
    sim_request_send(&faulty, world);
    CHECK(str_starts(faulty.body, STR("{\"items\":[],\"total\":")), "no records");
    sim_request_end(&faulty);

    sim_request_begin(&faulty, options.to_us, "GET", url);
    faulty.call.content_fault = CONTENT_FAULT_RECORD_NO_ID;
    faulty.call.random = 0;
    sim_request_send(&faulty, world);
    CHECK(str_starts(faulty.body, STR("{\"items\":[{\"version\":")), "no id");
    sim_request_end(&faulty);

    sim_request_begin(&faulty, options.to_us, "GET", STR("/generic/offset?limit=10&offset=30"));
    faulty.call.content_fault = CONTENT_FAULT_REPEAT_PAGE;
    sim_request_send(&faulty, world);
    CHECK_STR(sim_request_between(faulty.body, STR("["), STR("],\"total")),
              sim_request_between(correct.body, STR("["), STR("],\"total")), "the page before");
    sim_request_end(&faulty);
    sim_request_end(&correct);
    world_close(world);
}

static void truth_lines(struct sim_world *world, int64_t now_us, struct str url,
                        struct sim_request *request)
{
    struct error err = { 0 };

    sim_request_begin(request, now_us, "GET", url);
    REQUIRE_OK(truth_respond(world, &request->call, &err), err);
    request->body = buf_str(&request->call.response);
}

TEST(the_truth_has_the_same_ids)
{
    const struct world_options options = some_options();
    struct sim_world *world = sim_request_world(&options);
    const int64_t now_us = options.from_us + 60 * US_PER_DAY;
    uint8_t wanted[RECORDS];
    struct sim_request request;
    size_t total =
        expect(world, options.from_us, options.from_us + 30 * US_PER_DAY, now_us, wanted);

    truth_lines(world, now_us,
                STR("/_sim/truth?protocol=generic&from=2026-01-01&to=2026-01-31&limit=100000"),
                &request);
    CHECK_EQ(tick(world, request.body, wanted), total, "all of them");
    sim_request_end(&request);
    world_close(world);
}

TEST(the_truth_pages_and_sums_up)
{
    const struct world_options options = some_options();
    struct sim_world *world = sim_request_world(&options);
    uint8_t wanted[RECORDS];
    size_t total = expect(world, options.from_us, options.to_us, options.to_us, wanted);
    size_t seen = 0, pages = 0;
    struct str after = STR("");
    struct arena arena;
    struct sim_request request;

    arena_init(&arena, 1 << 20);
    do {
        truth_lines(world, options.to_us,
                    arena_printf(&arena, "/_sim/truth?protocol=generic&limit=300%s%.*s",
                                 after.len > 0 ? "&after=" : "", STR_ARG(after)),
                    &request);
        seen += tick(world, request.body, wanted);
        after =
            arena_copy(&arena, sim_request_between(request.body, STR("\"next\":\""), STR("\"")));
        sim_request_end(&request);
        pages++;
    } while (after.len > 0);
    CHECK_EQ(seen, total, "all pages together");
    CHECK_EQ(pages, total / 300 + 1, "pages");
    truth_lines(world, options.to_us, STR("/_sim/truth?protocol=generic&summary=1"), &request);
    CHECK_EQ(sim_request_count(request.body, STR("\n")), 1, "one line");
    sim_request_end(&request);
    arena_release(&arena);
    world_close(world);
}

/* Records that disappeared are listed only with may=1, with the versions that were visible. */
TEST(the_truth_lists_what_may_be_held)
{
    const struct world_options options = some_options();
    struct sim_world *world = sim_request_world(&options);
    const struct corpus *corpus = world_corpus(world);
    struct sim_request must, may;
    size_t gone = 0;

    for (uint32_t record = 0; record < corpus->count; record++) {
        const uint32_t version = corpus_current(corpus, record, options.to_us);

        gone += version != CORPUS_NONE &&
                (corpus->flags[version] & (VERSION_DELETED | VERSION_MERGED)) != 0;
    }
    truth_lines(world, options.to_us, STR("/_sim/truth?protocol=datacite&limit=100000"), &must);
    truth_lines(world, options.to_us, STR("/_sim/truth?protocol=datacite&limit=100000&may=1"),
                &may);
    CHECK(gone > 50, "some vanished");
    CHECK_EQ(sim_request_count(must.body, STR("\"state\":\"gone\"")), 0,
             "not among what must be held");
    CHECK_EQ(sim_request_count(may.body, STR("\"state\":\"gone\",\"versions\":[{")), gone,
             "but among this");
    sim_request_end(&must);
    sim_request_end(&may);
    world_close(world);
}

TEST(the_truth_hashes_the_bytes_that_are_served)
{
    const struct world_options options = some_options();
    struct sim_world *world = sim_request_world(&options);
    struct error err = { 0 };
    struct sim_request page, truth;
    struct str items;
    struct buf scratch;
    uint8_t digest[TRUTH_DIGEST_BYTES];
    uint32_t version;

    sim_request_get(&page, world, options.to_us, STR("/generic/records/r00000005"));
    version = corpus_current(world_corpus(world), 5, options.to_us);
    buf_init(&scratch, &page.arena, 1 << 20);
    REQUIRE_OK(truth_hash(world, body_form_find(STR("generic")), version, &scratch, digest, &err),
               err);
    CHECK_STR(buf_str(&scratch), page.body, "the same bytes");
    truth_lines(world, options.to_us, STR("/_sim/truth?protocol=generic&id=r00000005"), &truth);
    buf_clear(&scratch);
    buf_add_hex(&scratch, digest, sizeof(digest));
    items = buf_str(&scratch);
    CHECK(str_find(truth.body, items) < truth.body.len, "and their hash");
    sim_request_end(&truth);
    sim_request_end(&page);
    world_close(world);
}
