/* HTTP/2, by a server that misbehaves on purpose (http2_server.py). */
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "adapter/curl/curl_http.h"
#include "base/instant.h"
#include "child.h"
#include "test.h"

static struct {
    struct sim sim; /* for its certificate */
    struct child server;
    struct http *http;
    struct arena arena;
    struct arena texts;
    struct http_response reply;
    struct error err;
    char ca[300];
} two;

static void begin(void)
{
    char folder[256], key[300], cert[300];
    const char *const options[] = { "--tls", folder, NULL };
    const char *const argv[] = { "python3", "test/contract/http2_server.py", key, cert, NULL };

    memset(&two, 0, sizeof(two));
    arena_init(&two.arena, 64 << 20);
    arena_init(&two.texts, 1 << 20);
    (void)snprintf(folder, sizeof(folder), "%s/tls", test_folder());
    (void)snprintf(two.ca, sizeof(two.ca), "%s/ca.pem", folder);
    (void)snprintf(key, sizeof(key), "%s/server.key", folder);
    (void)snprintf(cert, sizeof(cert), "%s/server.pem", folder);
    REQUIRE(sim_start(&two.sim, options), "patra-sim starts");
    if (!child_start(&two.server, argv)) {
        sim_stop(&two.sim);
        TEST_SKIP("HTTP/2 was not spoken: python3-h2 is not installed");
    }
    REQUIRE_OK(curl_http_open(NULL, &two.http, &two.err), two.err);
}

static void end(void)
{
    http_close(two.http);
    child_stop(&two.server);
    sim_stop(&two.sim);
    arena_release(&two.arena);
    arena_release(&two.texts);
}

static struct http_request request_of(const char *path)
{
    return (struct http_request){
        .url = arena_printf(&two.texts, "https://127.0.0.1:%s/%s", two.server.line, path),
        .ca_file = str_of(two.ca),
        .timeouts = { .idle_us = 400 * US_PER_MS, .total_us = 10 * US_PER_SECOND },
    };
}

static const char *try(struct http_request request)
{
    arena_reset(&two.arena);
    two.err = (struct error){ 0 };
    return http_send(two.http, &two.arena, &request, &two.reply, &two.err) ? "" : two.err.code;
}

static const char *get(const char *path)
{
    return try(request_of(path));
}

/* How many requests the server has seen. */
static int64_t requests(void)
{
    int64_t count = -1;

    REQUIRE(strcmp(get("count"), "") == 0 && str_to_i64(two.reply.body, &count), two.err.text);
    return count;
}

TEST(http_2_is_spoken_where_tls_agrees_on_it)
{
    struct http_ticket *tickets[4];
    struct arena arenas[4];
    struct http_request request;

    begin();
    CHECK_STR(str_of(get("x")), STR(""), two.err.text);
    CHECK_EQ(two.reply.version, 20, "version");
    CHECK_STR(two.reply.body, STR("connection 1 stream 1"), "body");
    CHECK_STR(http_header_value(two.reply.headers, STR("X-Mark")), STR("two"), "headers");
    request = request_of("x");
    for (size_t i = 0; i < 4; i++) {
        arena_init(&arenas[i], 1 << 20);
        REQUIRE_OK(http_start(two.http, &arenas[i], &request, &tickets[i], &two.err), two.err);
    }
    for (size_t i = 0; i < 4; i++) {
        REQUIRE_OK(http_wait(tickets[i], &two.reply, &two.err), two.err);
        CHECK(str_starts(two.reply.body, STR("connection 1 ")), "all over one connection");
        arena_release(&arenas[i]);
    }
    end();
}

/* Each is sent once: libraries send a refused stream again by themselves, without a permit. */
static const struct {
    const char *path;
    const char *code;
} cases[] = {
    { "refuse", "http.reset" },
    { "refused_stream", "http.reset" },
    { "reset_in_body", "http.reset" },
    { "reset_without_length", "http.reset" },
    { "reset_after_end", "" },
    { "short", "http.reset" },
    { "goaway", "http.protocol" },
    { "goaway_in_body", "http.truncated" },
    { "goaway_after", "" },
    { "cut", "http.truncated" },
    { "stall", "http.timeout.idle" },
    { "pings", "http.timeout.idle" },
    { "settings", "http.timeout.idle" },
    { "empty_data", "http.timeout.idle" },
    { "continuations", "http.reset" },
    { "many_headers", "http.header_limit" },
    { "garbage", "http.reset" },
    { "unknown_stream", "http.reset" },
};

TEST(every_way_a_stream_can_end_has_its_code_and_is_one_request)
{
    begin();
    for (size_t i = 0; i < ARRAY_LEN(cases); i++) {
        const int64_t before = requests();

        CHECK_STR(str_of(get(cases[i].path)), str_of(cases[i].code), cases[i].path);
        if (cases[i].code[0] == '\0')
            CHECK_STR(two.reply.body, STR("whole"), cases[i].path);
        else
            CHECK_EQ(two.err.level,
                     strcmp(cases[i].code, "http.header_limit") == 0 ? ERROR_REQUEST
                                                                     : ERROR_TRANSIENT,
                     two.err.text);
        CHECK_EQ(requests() - before, 2, cases[i].path); /* it, and the question */
    }
    end();
}

TEST(a_body_that_is_never_taken_is_given_up)
{
    static char body[1 << 20];
    struct http_request request;

    begin();
    memset(body, 'b', sizeof(body));
    request = request_of("no_window");
    request.method = STR("POST");
    request.body = (struct str){ body, sizeof(body) };
    CHECK_STR(str_of(try(request)), STR("http.timeout.idle"), two.err.text);
    CHECK_STR(str_of(get("x")), STR(""), "the handle goes on");
    end();
}

/* Else every retry would be one more stream of a connection that is dead. */
TEST(a_connection_that_stands_still_is_not_used_again)
{
    begin();
    CHECK_STR(str_of(get("x")), STR(""), two.err.text);
    CHECK_STR(str_of(get("wedge")), STR("http.timeout.idle"), two.err.text);
    CHECK_STR(str_of(get("x")), STR(""), two.err.text);
    CHECK_STR(two.reply.body, STR("connection 2 stream 1"), "another one");
    end();
}

TEST(a_stream_that_is_given_up_leaves_its_neighbours_alone)
{
    struct http_ticket *stalled, *other;
    struct http_request request;
    struct http_response reply;
    struct arena arena;

    begin();
    arena_init(&arena, 1 << 20);
    request = request_of("stall");
    REQUIRE_OK(http_start(two.http, &two.arena, &request, &stalled, &two.err), two.err);
    request = request_of("x");
    REQUIRE_OK(http_start(two.http, &arena, &request, &other, &two.err), two.err);
    CHECK(http_wait(other, &reply, &two.err), two.err.text);
    CHECK(!http_wait(stalled, &two.reply, &two.err), "it stalls");
    CHECK_STR(str_of(two.err.code), STR("http.timeout.idle"), two.err.text);
    arena_release(&arena);
    end();
}
