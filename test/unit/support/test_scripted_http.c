/* The http port that tests run on. */
#include "scripted_http.h"

#include <string.h>

#include "test.h"
#include "virtual_clock.h"

static struct virtual_clock clock_;
static struct scripted_http http;
static struct arena arena;
static struct http_response reply;
static struct error err;

static void begin(void)
{
    virtual_clock_init(&clock_, 1000);
    scripted_http_init(&http, &clock_.clock);
    arena_init(&arena, 1 << 20);
}

static void end(void)
{
    scripted_http_release(&http);
    arena_release(&arena);
}

static const char *get(const char *url)
{
    err = (struct error){ 0 };
    return http_send(&http.http, &arena, &(struct http_request){ .url = str_of(url) }, &reply, &err)
               ? ""
               : err.code;
}

static bool is_third_page(void *context, const struct http_request *request)
{
    ++*(int *)context;
    return str_ends(request->url, STR("page=3"));
}

static void echo_url(void *context, struct arena *to, const struct http_request *request,
                     struct scripted_reply *made)
{
    (void)context;
    made->status = 200;
    made->body = arena_printf(to, "you asked for %.*s", STR_ARG(request->url));
}

TEST(replies_are_taken_in_order_by_whoever_they_are_meant_for)
{
    int asked = 0;

    begin();
    scripted_http_reply(&http, &(struct scripted_reply){ .url_part = STR("/b"), .status = 201 });
    scripted_http_reply(&http, &(struct scripted_reply){ .status = 202 });
    scripted_http_reply(&http, &(struct scripted_reply){ .method = STR("POST"), .status = 203 });
    scripted_http_reply(&http, &(struct scripted_reply){
                                   .matches = is_third_page, .context = &asked, .status = 204 });
    scripted_http_reply(&http, &(struct scripted_reply){ .times = -1, .make = echo_url });
    CHECK_STR(str_of(get("https://h/a")), STR(""), "a");
    CHECK_EQ(reply.status, 202, "the first that matches");
    CHECK_STR(str_of(get("https://h/b")), STR(""), "b");
    CHECK_EQ(reply.status, 201, "kept for it");
    CHECK_STR(str_of(get("https://h/b")), STR(""), "b again");
    CHECK_STR(reply.body, STR("you asked for https://h/b"), "used up, so the last one, made");
    CHECK_STR(str_of(get("https://h/?page=3")), STR(""), "page 3");
    CHECK_EQ(reply.status, 204, "by predicate");
    CHECK_EQ(asked, 2, "asked whether it matches");
    CHECK_EQ(http.sent.count, 4, "all remembered");
    CHECK_STR(http.sent.items[3].url, STR("https://h/?page=3"), "url");
    end();
}

TEST(a_request_nobody_thought_of_is_named)
{
    begin();
    CHECK_STR(str_of(get("https://h/?api_key=S3CRET")), STR("http.script"), "code");
    CHECK(strstr(err.text, "https://h/?api_key=***") != NULL, err.text);
    end();
}

TEST(every_failure_of_the_port_can_be_ordered)
{
    begin();
    scripted_http_reply(&http, &(struct scripted_reply){ .error_code = "http.dns" });
    scripted_http_reply(&http, &(struct scripted_reply){ .error_code = "http.tls" });
    scripted_http_reply(&http,
                        &(struct scripted_reply){ .status = 200, .error_code = "http.truncated" });
    scripted_http_reply(&http,
                        &(struct scripted_reply){ .status = 503, .error_code = "http.truncated" });
    CHECK_STR(str_of(get("https://h/")), STR("http.dns"), "dns");
    CHECK_EQ(err.level, ERROR_TRANSIENT, "with its level");
    CHECK_STR(str_of(get("https://h/")), STR("http.tls"), "tls");
    CHECK_EQ(err.level, ERROR_FATAL, "with its level");
    CHECK_STR(str_of(get("https://h/")), STR("http.truncated"), "the body broke");
    CHECK_STR(str_of(get("https://h/")), STR(""), "the body broke, the status stays");
    CHECK(reply.body_cut && reply.status == 503, "cut");
    end();
}

TEST(a_reply_takes_virtual_time)
{
    begin();
    scripted_http_reply(&http, &(struct scripted_reply){ .status = 200, .took_us = 250 });
    CHECK_STR(str_of(get("https://h/")), STR(""), "sent");
    CHECK_EQ(clock_now_us(&clock_.clock), 1250, "the clock moved");
    CHECK_EQ(reply.timings.total_us, 250, "and the reply says so");
    end();
}

TEST(a_cancelled_request_is_remembered_as_such)
{
    const struct http_request request = { .url = STR("https://h/") };
    struct http_ticket *ticket;

    begin();
    REQUIRE_OK(http_start(&http.http, &arena, &request, &ticket, &err), err);
    http_cancel(ticket);
    REQUIRE(http.sent.count == 1, "sent");
    CHECK(http.sent.items[0].cancelled, "cancelled");
    end();
}
