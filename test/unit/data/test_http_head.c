/* Status line and headers of responses, line by line. */
#include "data/http_head.h"

#include <string.h>

#include "test.h"

static const struct http_limits LIMITS = { .header_bytes_max = 400, .headers_max = 5 };

static struct arena arena;

/* Feeds a text line by line; the error's code, or NULL. */
static const char *feed(struct http_head *head, const char *text)
{
    static struct error err;
    struct str rest = str_of(text);

    arena_release(&arena);
    arena_init(&arena, 1 << 16);
    http_head_init(head, &arena, &LIMITS);
    while (rest.len > 0) {
        const size_t end = str_find_char(rest, '\n') + 1;

        if (!http_head_add(head, str_slice(rest, 0, end), &err))
            return err.code;
        rest = str_slice(rest, end, rest.len);
    }
    return NULL;
}

TEST(a_head_is_read_line_by_line)
{
    struct http_head head;

    CHECK(feed(&head, "HTTP/1.1 200 OK\r\nA: 1\r\nb:2\r\nA:\t 3 \r\n\r\n") == NULL, "accepted");
    CHECK_EQ(head.status, 200, "status");
    CHECK_EQ(head.version, 11, "version");
    CHECK(head.is_complete, "complete");
    REQUIRE(head.headers.count == 3, "three headers");
    CHECK_STR(head.headers.items[1].name, STR("b"), "name as it came");
    CHECK_STR(head.headers.items[2].value, STR("3"), "white space around a value is not its part");
}

TEST(versions_are_told_apart)
{
    struct http_head head;

    CHECK(feed(&head, "HTTP/1.0 404 Not Found\r\n") == NULL && head.version == 10, "1.0");
    CHECK(feed(&head, "HTTP/2 204\r\n") == NULL && head.version == 20 && head.status == 204, "2");
    CHECK(feed(&head, "HTTP/3 200 \r\n") == NULL && head.version == 30, "3");
    CHECK(!head.is_complete, "a head without its end is not complete");
}

TEST(what_is_no_status_line_is_a_fault)
{
    static const char *const lines[] = { "HTTP/1.1 20 OK\r\n", "HTTP/1.1 abc\r\n", "HTTP/1.1\r\n",
                                         "HTTP/9.9 200\r\n", "HTTP/1.1 -10 x\r\n" };
    struct http_head head;

    for (size_t i = 0; i < ARRAY_LEN(lines); i++) {
        const char *code = feed(&head, lines[i]);

        CHECK(code != NULL && strcmp(code, "http.protocol") == 0, lines[i]);
    }
}

TEST(the_length_of_a_success_is_one_number)
{
    static const struct {
        const char *head;
        bool is_good;
    } cases[] = {
        { "HTTP/1.1 200 OK\r\nContent-Length: 5\r\n", true },
        { "HTTP/1.1 200 OK\r\nContent-Length: 5\r\ncontent-length:5\r\n", true },
        { "HTTP/1.1 200 OK\r\nContent-Length: 5, 5\r\nContent-Length: 5\r\n", true },
        { "HTTP/1.1 200 OK\r\nContent-Length: 5\r\nContent-Length: 10\r\n", false },
        { "HTTP/1.1 200 OK\r\nContent-Length: 5, 10\r\n", false },
        { "HTTP/1.1 206 OK\r\nContent-Length: -5\r\n", false },
        { "HTTP/1.1 200 OK\r\nContent-Length: 0x5\r\n", false },
        { "HTTP/1.1 200 OK\r\nContent-Length: \r\n", false },
        { "HTTP/1.1 200 OK\r\nContent-Length: 99999999999999999999\r\n", false },
        { "HTTP/1.1 503 Busy\r\nContent-Length: 99999999999999999999\r\n", true },
    };
    struct http_head head;

    for (size_t i = 0; i < ARRAY_LEN(cases); i++) {
        const char *code = feed(&head, cases[i].head);

        CHECK(cases[i].is_good == (code == NULL), cases[i].head);
        CHECK(code == NULL || strcmp(code, "http.protocol") == 0, cases[i].head);
    }
}

TEST(the_last_status_line_counts)
{
    struct http_head head;

    CHECK(feed(&head, "HTTP/1.1 103 Early Hints\r\nLink: <x>\r\n\r\nHTTP/1.1 503 Busy\r\n"
                      "Retry-After: 3\r\n\r\n") == NULL,
          "accepted");
    CHECK_EQ(head.status, 503, "status");
    REQUIRE(head.headers.count == 1, "the headers of the hint are dropped");
    CHECK_STR(head.headers.items[0].name, STR("Retry-After"), "header");
}

TEST(a_trailer_changes_nothing)
{
    struct http_head head;

    CHECK(feed(&head, "HTTP/1.1 200 OK\r\nA: 1\r\n\r\nContent-Encoding: gzip\r\n\r\n") == NULL,
          "accepted");
    CHECK_EQ(head.headers.count, 1, "passed over");
}

TEST(folded_lines_continue_and_junk_is_passed_over)
{
    struct http_head head;

    CHECK(
        feed(&head,
             "HTTP/1.1 200 OK\r\n folded too early\r\nA: 1\r\n  2\r\njunk\r\n: no name\r\n\r\n") ==
            NULL,
        "accepted");
    REQUIRE(head.headers.count == 1, "one header");
    CHECK_STR(head.headers.items[0].value, STR("1 2"), "joined by one blank");
}

TEST(both_limits_hold)
{
    char text[1024] = "HTTP/1.1 200 OK\r\nA: ";
    struct http_head head;
    const char *code;

    code = feed(&head, "HTTP/1.1 200 OK\r\na:1\r\nb:1\r\nc:1\r\nd:1\r\ne:1\r\nf:1\r\n");
    CHECK(code != NULL && strcmp(code, "http.header_limit") == 0, "count");
    memset(text + strlen(text), 'x', 400);
    code = feed(&head, text);
    CHECK(code != NULL && strcmp(code, "http.header_limit") == 0, "bytes");
    code = feed(&head, "HTTP/1.1 100 Continue\r\n\r\n"
                       "HTTP/1.1 100 Continue\r\n\r\nHTTP/1.1 100 Continue\r\n\r\n"
                       "HTTP/1.1 100 Continue\r\n\r\nHTTP/1.1 100 Continue\r\n\r\n"
                       "HTTP/1.1 100 Continue\r\n\r\nHTTP/1.1 100 Continue\r\n\r\n"
                       "HTTP/1.1 100 Continue\r\n\r\nHTTP/1.1 100 Continue\r\n\r\n"
                       "HTTP/1.1 100 Continue\r\n\r\nHTTP/1.1 100 Continue\r\n\r\n"
                       "HTTP/1.1 100 Continue\r\n\r\nHTTP/1.1 100 Continue\r\n\r\n"
                       "HTTP/1.1 100 Continue\r\n\r\nHTTP/1.1 100 Continue\r\n\r\n"
                       "HTTP/1.1 100 Continue\r\n\r\nHTTP/1.1 100 Continue\r\n\r\n");
    CHECK(code != NULL && strcmp(code, "http.header_limit") == 0, "no end of beginnings");
    arena_release(&arena);
}
