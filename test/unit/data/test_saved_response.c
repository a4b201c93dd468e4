/* Responses as curl saves them: heads before the last one, and heads that cannot be read. */
#include "data/saved_response.h"

#include <string.h>

#include "test.h"

#define FINAL "HTTP/2 200 \r\ncontent-type: application/json\r\n\r\n{}"

static const struct {
    const char *label;
    const char *head;
    const char *text;
    int status;
    const char *type;
    const char *body;
} cases[] = {
    { "no head", "", "{}", 200, NULL, "{}" },
    { "curl -i", "", "HTTP/1.1 404 Not Found\r\nContent-Type: text/plain\r\n\r\nno\n", 404,
      "text/plain", "no\n" },
    { "HTTP/2", "", FINAL, 200, "application/json", "{}" },
    { "100 Continue", "", "HTTP/1.1 100 Continue\r\n\r\n" FINAL, 200, "application/json", "{}" },
    { "103 with headers", "", "HTTP/2 103 \r\nlink: </a>\r\n\r\n" FINAL, 200, "application/json",
      "{}" },
    { "curl -iL", "",
      "HTTP/1.1 301 Moved Permanently\r\nLocation: /a\r\nContent-Type: text/html\r\n\r\n"
      "HTTP/1.1 302 Found\r\nLocation: /b\r\n\r\n" FINAL,
      200, "application/json", "{}" },
    { "a proxy", "", "HTTP/1.1 200 Connection established\r\n\r\n" FINAL, 200, "application/json",
      "{}" },
    { "lines that end in LF", "", "HTTP/1.1 200 OK\nContent-Type: text/xml\n\n<a>\n\n</a>", 200,
      "text/xml", "<a>\n\n</a>" },
    { "a header named status", "",
      "HTTP/1.1 200 OK\r\nStatus: 404 Not Found\r\nContent-Type: a/b\r\n\r\n{}", 200, "a/b", "{}" },
    { "a header named status that is a word", "",
      "HTTP/1.1 503 Busy\r\nstatus: degraded\r\nContent-Type: a/b\r\n\r\n{}", 503, "a/b", "{}" },
    { "as browsers show it", "", ":status: 429\r\ncontent-type: a/b\r\n\r\n{}", 429, "a/b", "{}" },
    { "status: at the beginning", "", "status: 429\ncontent-type: a/b\n\n{}", 429, "a/b", "{}" },
    { "a head by itself", "status: 503\ncontent-type: a/b\n", "{}", 503, "a/b", "{}" },
    { "curl -D with redirects", "HTTP/1.1 302 Found\r\nLocation: /b\r\n\r\nHTTP/2 410 \r\n\r\n",
      "gone", 410, NULL, "gone" },
    { "both: the text has its own", "status: 503\n", FINAL, 200, "application/json", "{}" },
    { "a body that names a protocol", "", "HTTP/2 200 \r\n\r\nHTTP/2 is fast", 200, NULL,
      "HTTP/2 is fast" },
    { "no body", "", "HTTP/1.1 204 No Content\r\n\r\n", 204, NULL, "" },
    { "a folded header", "", "HTTP/1.1 200 OK\r\nContent-Type: a/b;\r\n c=d\r\n\r\n{}", 200,
      "a/b; c=d", "{}" },
};

TEST(heads_are_read_as_curl_writes_them)
{
    for (size_t i = 0; i < ARRAY_LEN(cases); i++) {
        const struct saved_response saved = { str_of(cases[i].head), str_of(cases[i].text) };
        struct http_response reply;
        struct arena arena;
        struct error err = { 0 };
        struct str type;

        arena_init(&arena, 1 << 16);
        REQUIRE_OK(saved_response_read(&saved, &arena, &reply, &err), err);
        type = http_header_value(reply.headers, STR("content-type"));
        CHECK_EQ(reply.status, cases[i].status, cases[i].label);
        CHECK_STR(type, str_of(cases[i].type), cases[i].label);
        CHECK_STR(reply.body, str_of(cases[i].body), cases[i].label);
        arena_release(&arena);
    }
}

TEST(a_head_that_cannot_be_read_is_refused_with_its_line)
{
    static const struct {
        const char *text;
        const char *says;
    } bad[] = {
        { "HTTP/1.1 OK\r\n\r\n{}", "line 1: not a status line" },
        { "HTTP/1.1 200 OK\r\nA: 1\r\n{\"items\":[]}", "line 3 is not a header" },
        { "HTTP/1.1 200 OK\r\n<html>", "line 2 is not a header" },
        { "HTTP/1.1 100 Continue\r\n\r\nHTTP/1.1 999999 x\r\n\r\n", "line 3: not a status line" },
        { "status: fine\n\n{}", "line 1: not a status line" },
        { "< HTTP/2 200 \n< a: b\n", "curl -v" },
        { "* Trying 192.0.2.1:443...\n", "curl -v" },
        { "HTTP/2 200 \r\ncontent-encoding: gzip\r\n\r\n\x1f\x8b\x08", "--compressed" },
    };

    for (size_t i = 0; i < ARRAY_LEN(bad); i++) {
        const struct saved_response saved = { .text = str_of(bad[i].text) };
        struct http_response reply;
        struct arena arena;
        struct error err = { 0 };

        arena_init(&arena, 1 << 16);
        CHECK(!saved_response_read(&saved, &arena, &reply, &err), bad[i].text);
        CHECK(strstr(err.text, bad[i].says) != NULL, err.text);
        CHECK_EQ(err.level, ERROR_REQUEST, bad[i].text);
        arena_release(&arena);
    }
}
