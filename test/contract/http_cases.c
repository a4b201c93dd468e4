/* The promises of port/http.h that every adapter keeps. */
#include <stdlib.h>
#include <string.h>

#include "http_contract.h"

#define CODE(request, wanted, label) \
    CHECK_STR(str_of(http_contract_try(request)), STR(wanted), label)

static void script_ok(const char *body)
{
    http_contract_reply(&(struct contract_reply){ .status = 200, .body = str_of(body) });
}

TEST(a_reply_with_any_status_is_a_success)
{
    static const int statuses[] = { 200, 201, 204, 302, 304, 400, 401, 404, 429, 500, 503, 599 };

    (void)http_contract_begin();
    for (size_t i = 0; i < ARRAY_LEN(statuses); i++) {
        const bool has_body = statuses[i] != 204 && statuses[i] != 304;

        http_contract_reply(&(struct contract_reply){ .status = statuses[i],
                                                      .body = has_body ? STR("hello") : STR("") });
        CODE(&(struct http_request){ .url = http_contract_url("/any") }, "", "success");
        CHECK_EQ(contract_reply.status, statuses[i], "status");
        CHECK_STR(contract_reply.body, has_body ? STR("hello") : STR(""), "body");
        CHECK(!contract_reply.body_cut, "whole");
    }
    http_contract_end();
}

TEST(all_headers_are_kept_in_their_order)
{
    static const struct http_header headers[] = {
        { STR_INIT("X-First"), STR_INIT("1") },
        { STR_INIT("Link"), STR_INIT("<a>; rel=next") },
        { STR_INIT("link"), STR_INIT("<b>; rel=last") },
    };
    const struct http_header *link;

    (void)http_contract_begin();
    http_contract_reply(&(struct contract_reply){ 200, headers, ARRAY_LEN(headers), STR(""), 0 });
    CODE(&(struct http_request){ .url = http_contract_url("/") }, "", "sent");
    link = http_header_find(contract_reply.headers, STR("LINK"), NULL);
    REQUIRE(link != NULL, "first");
    CHECK_STR(link->value, STR("<a>; rel=next"), "first");
    link = http_header_find(contract_reply.headers, STR("LINK"), link);
    REQUIRE(link != NULL, "second");
    CHECK_STR(link->value, STR("<b>; rel=last"), "second");
    http_contract_end();
}

TEST(method_headers_body_and_marks_reach_the_server)
{
    const struct http_header headers[] = { { STR("X-Mine"), STR("a b") },
                                           { STR("Content-Type"), STR("application/json") } };

    (void)http_contract_begin();
    script_ok("{}");
    CODE((&(struct http_request){
             .method = STR("POST"),
             .url = http_contract_url("/search?q=1"),
             .headers = headers,
             .header_count = ARRAY_LEN(headers),
             .body = STR("{\"page\":1}"),
             .correlation_id = STR("ing-7-3"),
             .traceparent = STR("00-0af7651916cd43dd8448eb211c80319c-b7ad6b7169203331-01"),
         }),
         "", "sent");
    REQUIRE(http_contract_sent() == 1, "one request");
    CHECK(http_contract_sent_has(0, "POST /search?q=1"), "method and path");
    CHECK(http_contract_sent_has(0, "X-Mine: a b"), "header");
    CHECK(http_contract_sent_has(0, "{\"page\":1}"), "body");
    http_contract_end();
}

TEST(what_is_not_sound_is_refused_before_it_is_sent)
{
    const struct http_header header = { STR("X-A"), STR("1\r\nX-B: 2") };
    struct http_response reply;
    struct error err;

    REQUIRE(http_contract_begin() != NULL, "handle");
    CODE((&(struct http_request){
             .url = http_contract_url("/"), .headers = &header, .header_count = 1 }),
         "http.header", "a header that is two");
    CODE(&(struct http_request){ .url = STR("ftp://127.0.0.1/x") }, "http.url", "ftp");
    CODE(&(struct http_request){ .url = STR("http://me:pw@127.0.0.1/") }, "http.url", "a user");
    CODE((&(struct http_request){ .url = http_contract_url("/"), .redirects_max = 4 }),
         "http.limit", "four redirects");
    CHECK(!http_send(http_contract_begin(), http_contract_arena(),
                     &(struct http_request){ .url = http_contract_url("/") }, &reply, &err),
          "plain HTTP is off");
    CHECK_STR(str_of(err.code), STR("http.plain"), "plain HTTP is off");
    CHECK_EQ(http_contract_sent(), 0, "nothing was sent");
    http_contract_end();
}

TEST(a_broken_reply_is_a_failure_that_may_pass)
{
    (void)http_contract_begin();
    http_contract_reply(&(struct contract_reply){ .end = BODY_NONE_RESET });
    CODE(&(struct http_request){ .url = http_contract_url("/") }, "http.reset", "reset");
    CHECK_EQ(contract_err.level, ERROR_TRANSIENT, "reset");
    CHECK_EQ(contract_reply.status, 0, "no status came");
    http_contract_reply(
        &(struct contract_reply){ .status = 200, .body = STR("half of it"), .end = BODY_SHORT });
    CODE(&(struct http_request){ .url = http_contract_url("/") }, "http.truncated", "short");
    CHECK_EQ(contract_err.level, ERROR_TRANSIENT, "short");
    CHECK_EQ(contract_reply.status, 200, "what was received is returned");
    http_contract_end();
}

TEST(a_status_is_not_lost_to_a_broken_body)
{
    static const struct http_header retry[] = { { STR_INIT("Retry-After"), STR_INIT("30") } };

    (void)http_contract_begin();
    http_contract_reply(&(struct contract_reply){ 429, retry, 1, STR("slow do"), BODY_SHORT });
    CODE(&(struct http_request){ .url = http_contract_url("/") }, "", "a reply all the same");
    CHECK_EQ(contract_reply.status, 429, "status");
    CHECK(contract_reply.body_cut, "and said to be cut");
    CHECK_STR(http_header_value(contract_reply.headers, STR("retry-after")), STR("30"), "headers");
    http_contract_reply(&(struct contract_reply){ 503, NULL, 0, STR("0123456789"), BODY_WHOLE });
    CODE((&(struct http_request){ .url = http_contract_url("/"), .limits.body_bytes_max = 5 }), "",
         "too large, and no success anyway");
    CHECK_EQ(contract_reply.status, 503, "status");
    CHECK(contract_reply.body_cut, "cut");
    http_contract_end();
}

TEST(a_body_beyond_the_limit_is_refused)
{
    (void)http_contract_begin();
    script_ok("0123456789");
    CODE((&(struct http_request){ .url = http_contract_url("/"), .limits.body_bytes_max = 10 }), "",
         "just fits");
    script_ok("0123456789");
    CODE((&(struct http_request){ .url = http_contract_url("/"), .limits.body_bytes_max = 9 }),
         "http.too_large", "does not");
    CHECK_EQ(contract_err.level, ERROR_REQUEST, "asking again will not help");
    CHECK(strstr(contract_err.text, "GET http") == contract_err.text, contract_err.text);
    http_contract_end();
}

static void script_redirect(int status, const char *location)
{
    const struct http_header header = { STR("Location"), str_of(location) };

    http_contract_reply(&(struct contract_reply){ status, &header, 1, STR("moved"), BODY_WHOLE });
}

TEST(redirects_are_off_until_asked_for)
{
    (void)http_contract_begin();
    script_redirect(302, "/new");
    CODE(&(struct http_request){ .url = http_contract_url("/old") }, "", "a reply like any other");
    CHECK_EQ(contract_reply.status, 302, "status");
    CHECK_EQ(http_contract_sent(), 1, "not followed");
    http_contract_end();
}

TEST(redirects_on_the_same_host_are_followed_with_the_credential)
{
    const struct http_header header = { STR("Authorization"), STR("Bearer S3CRET") };

    (void)http_contract_begin();
    script_redirect(301, "/second");
    script_redirect(307, http_contract_url("/third?x=1").data);
    script_ok("there");
    CODE((&(struct http_request){ .url = http_contract_url("/first"),
                                  .headers = &header,
                                  .header_count = 1,
                                  .redirects_max = 3 }),
         "", "followed");
    CHECK_STR(contract_reply.body, STR("there"), "the last body");
    CHECK_EQ(contract_reply.redirects, 2, "counted");
    CHECK(str_ends(contract_reply.url, STR("/third?x=1")), "where it came from");
    CHECK_EQ(http_contract_sent(), 3, "three requests");
    CHECK(http_contract_sent_has(1, "GET /second"), "second");
    CHECK(http_contract_sent_has(2, "Bearer S3CRET"), "the credential goes along");
    http_contract_end();
}

TEST(a_redirect_to_another_host_is_refused_and_nothing_is_sent_there)
{
    (void)http_contract_begin();
    script_redirect(302, "http://other.example.org/x?api_key=S3CRET");
    CODE((&(struct http_request){ .url = http_contract_url("/"), .redirects_max = 3 }),
         "http.redirect_refused", "another host");
    CHECK(strstr(contract_err.text, "other.example.org") != NULL, contract_err.text);
    CHECK(strstr(contract_err.text, "S3CRET") == NULL, contract_err.text);
    CHECK_EQ(contract_err.level, ERROR_REQUEST, "level");
    CHECK_EQ(contract_reply.status, 302, "what was received is returned");
    CHECK_EQ(http_contract_sent(), 1, "once");
    script_redirect(302, "/new");
    CODE((&(struct http_request){
             .method = STR("POST"), .url = http_contract_url("/"), .redirects_max = 3 }),
         "http.redirect_refused", "for a POST");
    http_contract_end();
}

TEST(more_redirects_than_allowed_are_refused)
{
    (void)http_contract_begin();
    script_redirect(302, "/b");
    script_redirect(302, "/a");
    script_redirect(302, "/b");
    CODE((&(struct http_request){ .url = http_contract_url("/a"), .redirects_max = 2 }),
         "http.redirect_refused", "a circle");
    CHECK_EQ(http_contract_sent(), 3, "two were followed");
    http_contract_end();
}

TEST(no_secret_is_in_a_text_or_an_address)
{
    const struct str names[] = { STR("mykey") };
    const struct str url = http_contract_url("/p?mykey=S3CRET&a=1&access_token=S3CRET");
    const struct http_request request = { .url = url, .secret_names = names, .secret_count = 1 };
    struct http_request small = request;

    small.limits.body_bytes_max = 5;
    (void)http_contract_begin();
    http_contract_reply(&(struct contract_reply){ .end = BODY_NONE_RESET });
    http_contract_reply(&(struct contract_reply){ 200, NULL, 0, STR("abc"), BODY_SHORT });
    script_ok("abcdef");
    script_ok("abc");
    CODE(&request, "http.reset", "reset");
    CHECK(strstr(contract_err.text, "S3CRET") == NULL, contract_err.text);
    CHECK(strstr(contract_err.text, "mykey=***") != NULL, contract_err.text);
    CODE(&request, "http.truncated", "truncated");
    CHECK(strstr(contract_err.text, "S3CRET") == NULL, contract_err.text);
    CODE(&small, "http.too_large", "too large");
    CHECK(strstr(contract_err.text, "S3CRET") == NULL, contract_err.text);
    CODE(&request, "", "sent");
    CHECK(str_find(contract_reply.url, STR("S3CRET")) == contract_reply.url.len, "reply.url");
    CHECK(http_contract_sent_has(3, "mykey=S3CRET"), "the server got it");
    http_contract_end();
}

/* ---- started requests ---- */

static struct http_request plain(const char *path)
{
    return (struct http_request){ .url = http_contract_url(path), .allow_plain_http = true };
}

TEST(started_requests_are_answered_when_waited_for)
{
    struct http *http = http_contract_begin();
    struct arena arenas[3];
    struct http_ticket *tickets[3];
    struct http_response reply;
    struct error err;

    for (size_t i = 0; i < 3; i++) {
        struct http_request request = plain("/page");

        arena_init(&arenas[i], 1 << 20);
        http_contract_reply(&(struct contract_reply){ .status = 200, .body = STR("page") });
        REQUIRE_OK(http_start(http, &arenas[i], &request, &tickets[i], &err), err);
        memset(&request, 0xA5, sizeof(request)); /* it need not outlive the call */
    }
    for (size_t i = 3; i-- > 0;) {
        REQUIRE_OK(http_wait(tickets[i], &reply, &err), err);
        CHECK_EQ(reply.status, 200, "status");
        CHECK_STR(reply.body, STR("page"), "body");
        arena_release(&arenas[i]);
    }
    CHECK_EQ(http_contract_sent(), 3, "three requests");
    script_ok("again");
    CODE(&(struct http_request){ .url = http_contract_url("/after") }, "", "http_send afterwards");
    CHECK_STR(contract_reply.body, STR("again"), "body");
    http_contract_end();
}

TEST(a_send_between_start_and_wait_disturbs_neither)
{
    struct http *http = http_contract_begin();
    struct http_request request = plain("/started");
    struct http_ticket *ticket;
    struct http_response reply;
    struct error err;
    struct arena arena;

    arena_init(&arena, 1 << 20);
    script_ok("one of two");
    script_ok("one of two");
    REQUIRE_OK(http_start(http, &arena, &request, &ticket, &err), err);
    CODE(&(struct http_request){ .url = http_contract_url("/sent") }, "", "sent");
    CHECK_STR(contract_reply.body, STR("one of two"), "body");
    REQUIRE_OK(http_wait(ticket, &reply, &err), err);
    CHECK_STR(reply.body, STR("one of two"), "body");
    arena_release(&arena);
    http_contract_end();
}

TEST(a_cancelled_request_leaves_the_handle_usable)
{
    struct http *http = http_contract_begin();
    struct http_request request = plain("/never");
    struct http_ticket *ticket;
    struct error err;
    struct arena arena;

    arena_init(&arena, 1 << 20);
    script_ok("perhaps");
    script_ok("perhaps");
    REQUIRE_OK(http_start(http, &arena, &request, &ticket, &err), err);
    http_cancel(ticket);
    arena_release(&arena);
    http_cancel(NULL);
    CODE(&(struct http_request){ .url = http_contract_url("/next") }, "", "sent");
    CHECK_STR(contract_reply.body, STR("perhaps"), "body");
    http_contract_end();
}

TEST(only_so_many_requests_are_under_way)
{
    struct http *http = http_contract_begin();
    struct http_request request = plain("/many");
    struct http_ticket *tickets[HTTP_TICKETS_MAX + 1];
    struct arena arenas[HTTP_TICKETS_MAX + 1];
    struct http_response reply;
    struct error err = { 0 };

    for (size_t i = 0; i < HTTP_TICKETS_MAX; i++) {
        arena_init(&arenas[i], 1 << 20);
        script_ok("x");
        REQUIRE_OK(http_start(http, &arenas[i], &request, &tickets[i], &err), err);
    }
    arena_init(&arenas[HTTP_TICKETS_MAX], 1 << 20);
    CHECK(!http_start(http, &arenas[HTTP_TICKETS_MAX], &request, &tickets[HTTP_TICKETS_MAX], &err),
          "one too many");
    CHECK_STR(str_of(err.code), STR("http.limit"), "code");
    for (size_t i = 0; i < HTTP_TICKETS_MAX; i++)
        REQUIRE_OK(http_wait(tickets[i], &reply, &err), err);
    for (size_t i = 0; i <= HTTP_TICKETS_MAX; i++)
        arena_release(&arenas[i]);
    http_contract_end();
}

TEST(an_interrupted_handle_sends_nothing_more)
{
    struct http *http = http_contract_begin();

    script_ok("x");
    http_interrupt(http);
    CODE(&(struct http_request){ .url = http_contract_url("/") }, "http.cancelled", "interrupted");
    CHECK_EQ(contract_err.level, ERROR_TRANSIENT, "level");
    CODE(&(struct http_request){ .url = http_contract_url("/") }, "http.cancelled", "for good");
    http_contract_end();
}

TEST(a_reply_that_does_not_fit_into_the_arena_is_an_error)
{
    const struct str body = STR("a body of some length, longer than what the arena will hold");
    struct http *http = http_contract_begin();
    struct http_request request = plain("/big");
    struct http_response reply;
    struct error err = { 0 };
    struct arena arena;

    http_contract_reply(&(struct contract_reply){ .status = 200, .body = body });
    arena_init(&arena, 50);
    CHECK(!http_send(http, &arena, &request, &reply, &err), "too small");
    CHECK_STR(str_of(err.code), STR("memory.limit"), err.text);
    arena_release(&arena);
    http_contract_end();
}

/* ---- streams ---- */

/* Reads all there is, a few bytes at a time. The error's code; "": it came to its end. */
static const char *read_all(struct http_stream *stream, char *out, size_t room, size_t *total)
{
    char some[3];
    size_t len = 1;

    *total = 0;
    while (len > 0) {
        if (!http_read(stream, (struct http_room){ some, sizeof(some) }, &len, &contract_err))
            return contract_err.code;
        REQUIRE(*total + len <= room, "it fits");
        memcpy(out + *total, some, len);
        *total += len;
    }
    return "";
}

TEST(a_stream_gives_the_body_of_a_success_and_no_other)
{
    struct http *http = http_contract_begin();
    struct http_request request = plain("/file");
    struct http_stream *stream;
    char text[64];
    size_t len;

    http_contract_reply(&(struct contract_reply){ 200, NULL, 0, STR("one\ntwo\n"), BODY_WHOLE });
    REQUIRE_OK(
        http_open(http, http_contract_arena(), &request, &stream, &contract_reply, &contract_err),
        contract_err);
    CHECK_EQ(contract_reply.status, 200, "the head");
    REQUIRE(stream != NULL, "a stream");
    CHECK_STR(str_of(read_all(stream, text, sizeof(text), &len)), STR(""), "to its end");
    CHECK_STR(((struct str){ text, len }), STR("one\ntwo\n"), "all of it");
    CHECK(!stream->is_packed, "as it is");
    CHECK_EQ(stream->wire_bytes, 8, "what was received");
    http_end(stream);
    http_contract_reply(&(struct contract_reply){ 404, NULL, 0, STR("no file"), BODY_WHOLE });
    REQUIRE_OK(
        http_open(http, http_contract_arena(), &request, &stream, &contract_reply, &contract_err),
        contract_err);
    CHECK(stream == NULL, "no stream");
    CHECK_STR(contract_reply.body, STR("no file"), "the response as a whole");
    http_contract_end();
}

TEST(a_stream_that_breaks_is_no_end)
{
    struct http *http = http_contract_begin();
    struct http_request request = plain("/file");
    struct http_stream *stream;
    char text[64];
    size_t len;

    http_contract_reply(&(struct contract_reply){ 200, NULL, 0, STR("half of it"), BODY_SHORT });
    REQUIRE_OK(
        http_open(http, http_contract_arena(), &request, &stream, &contract_reply, &contract_err),
        contract_err);
    REQUIRE(stream != NULL, "the head came");
    CHECK_STR(str_of(read_all(stream, text, sizeof(text), &len)), STR("http.truncated"), "short");
    CHECK_EQ(contract_err.level, ERROR_TRANSIENT, "short");
    CHECK_STR(((struct str){ text, len }), STR("half of it"), "what was received");
    http_end(stream);
    http_contract_reply(&(struct contract_reply){ 200, NULL, 0, STR("again"), BODY_WHOLE });
    CODE(&(struct http_request){ .url = http_contract_url("/") }, "", "the handle is usable");
    http_contract_reply(&(struct contract_reply){ .end = BODY_NONE_RESET });
    CHECK(
        !http_open(http, http_contract_arena(), &request, &stream, &contract_reply, &contract_err),
        "no head");
    CHECK_STR(str_of(contract_err.code), STR("http.reset"), "no head");
    CHECK(stream == NULL, "no stream");
    http_contract_end();
}
