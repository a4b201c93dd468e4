/* What only bytes on a wire can show; libcurl against a server that sends exactly these. */
#include <pthread.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "adapter/curl/curl_http.h"
#include "raw_server.h"
#include "test.h"

static struct {
    struct raw_server *server;
    struct http *http;
    struct arena arena;
    struct arena texts;
    struct http_response reply;
    struct error err;
} wire;

static void begin(void)
{
    memset(&wire, 0, sizeof(wire));
    arena_init(&wire.arena, 256 << 20);
    arena_init(&wire.texts, 64 << 20);
    wire.server = raw_server_start();
    REQUIRE_OK(curl_http_open(NULL, &wire.http, &wire.err), wire.err);
}

static void end(void)
{
    http_close(wire.http);
    raw_server_stop(wire.server);
    arena_release(&wire.arena);
    arena_release(&wire.texts);
}

static struct str url_of(int port, const char *path)
{
    return arena_printf(&wire.texts, "http://127.0.0.1:%d%s", port, path);
}

static struct http_request request_of(const char *path)
{
    return (struct http_request){ .url = url_of(raw_server_port(wire.server), path),
                                  .allow_plain_http = true,
                                  .timeouts.idle_us = 10 * US_PER_SECOND };
}

static const char *try(struct http_request request)
{
    arena_reset(&wire.arena);
    wire.err = (struct error){ 0 };
    return http_send(wire.http, &wire.arena, &request, &wire.reply, &wire.err) ? "" : wire.err.code;
}

static const char *get(const char *path)
{
    return try(request_of(path));
}

static bool request_has(size_t index, const char *text)
{
    const struct str request = raw_server_request(wire.server, index);

    return str_find(request, str_of(text)) < request.len;
}

#define OK_HEAD "HTTP/1.1 200 OK\r\n"
#define OK(body_length, body) OK_HEAD "Content-Length: " body_length "\r\n\r\n" body

/* ---- replies, byte by byte ---- */

/* printf 'hello, hello, hello' | gzip -9n */
#define GZIP                                                                               \
    "\x1f\x8b\x08\x00\x00\x00\x00\x00\x02\x03\xcb\x48\xcd\xc9\xc9\xd7\x51\xc8\x40\xa2\x00" \
    "\x9f\xa1\xca\x09\x13\x00\x00\x00"

static const struct {
    const char *label;
    struct str bytes;
    enum raw_end end;
    const char *code;
    int status;
    struct str body;
} replies[] = {
    { "by length", STR_INIT(OK("5", "hello")), RAW_KEEP, "", 200, STR_INIT("hello") },
    { "in chunks",
      STR_INIT(OK_HEAD
               "Transfer-Encoding: chunked\r\n\r\n3\r\nhel\r\n2;x=y\r\nlo\r\n0\r\nT: t\r\n\r\n"),
      RAW_KEEP, "", 200, STR_INIT("hello") },
    { "until the end", STR_INIT(OK_HEAD "\r\nhello"), RAW_CLOSE, "", 200, STR_INIT("hello") },
    { "HTTP/1.0", STR_INIT("HTTP/1.0 200 OK\r\n\r\nhello"), RAW_CLOSE, "", 200, STR_INIT("hello") },
    { "nothing in it", STR_INIT(OK("0", "")), RAW_KEEP, "", 200, STR_INIT("") },
    { "a hint before it", STR_INIT("HTTP/1.1 103 Early Hints\r\nLink: <x>\r\n\r\n" OK("2", "ok")),
      RAW_KEEP, "", 200, STR_INIT("ok") },
    { "gzip", STR_INIT(OK_HEAD "Content-Encoding: gzip\r\nContent-Length: 29\r\n\r\n" GZIP),
      RAW_KEEP, "", 200, STR_INIT("hello, hello, hello") },
    { "an empty body called gzip",
      STR_INIT(OK_HEAD "Content-Encoding: gzip\r\nContent-Length: 0\r\n\r\n"), RAW_KEEP, "", 200,
      STR_INIT("") },
    { "identity", STR_INIT(OK_HEAD "Content-Encoding: identity\r\nContent-Length: 2\r\n\r\nok"),
      RAW_KEEP, "", 200, STR_INIT("ok") },

    { "nothing", STR_INIT(""), RAW_CLOSE, "http.reset", 0, STR_INIT("") },
    { "a reset", STR_INIT(""), RAW_RESET, "http.reset", 0, STR_INIT("") },
    { "half a head, then the end", STR_INIT("HTTP/1.1 200 OK\r\nContent-Le"), RAW_CLOSE,
      "http.reset", 0, STR_INIT("") },
    { "half a head", STR_INIT("HTTP/1.1 200 OK\r\nContent-Le"), RAW_RESET, "http.reset", 0,
      STR_INIT("") },
    { "less than announced", STR_INIT(OK("10", "hello")), RAW_CLOSE, "http.truncated", 200,
      STR_INIT("") },
    { "chunks without an end", STR_INIT(OK_HEAD "Transfer-Encoding: chunked\r\n\r\n5\r\nhello\r\n"),
      RAW_CLOSE, "http.truncated", 200, STR_INIT("") },
    { "half a chunk", STR_INIT(OK_HEAD "Transfer-Encoding: chunked\r\n\r\n50\r\nhello"), RAW_CLOSE,
      "http.truncated", 200, STR_INIT("") },
    { "a reset in the body", STR_INIT(OK("10", "hello")), RAW_RESET, "http.reset", 200,
      STR_INIT("") },
    { "a chunk that is none",
      STR_INIT(OK_HEAD "Transfer-Encoding: chunked\r\n\r\nxyz\r\nhello\r\n"), RAW_CLOSE,
      "http.reset", 200, STR_INIT("") },
    { "half of gzip until the end",
      STR_INIT(OK_HEAD
               "Content-Encoding: gzip\r\n\r\n\x1f\x8b\x08\x00\x00\x00\x00\x00\x02\x03\xcb"),
      RAW_CLOSE, "http.truncated", 200, STR_INIT("") },
    { "called gzip and is not",
      STR_INIT(OK_HEAD "Content-Encoding: gzip\r\nContent-Length: 20\r\n\r\nhello, hello, hello!"),
      RAW_KEEP, "http.encoding", 200, STR_INIT("") },
    { "a coding that was not requested",
      STR_INIT(OK_HEAD "Content-Encoding: compress\r\nContent-Length: 2\r\n\r\nok"), RAW_KEEP,
      "http.encoding", 200, STR_INIT("") },
    { "two lengths that differ",
      STR_INIT(OK_HEAD "Content-Length: 5\r\nContent-Length: 10\r\n\r\nhello"), RAW_CLOSE,
      "http.protocol", 0, STR_INIT("") },
    { "one length twice", STR_INIT(OK_HEAD "Content-Length: 5\r\nContent-Length: 5\r\n\r\nhello"),
      RAW_KEEP, "", 200, STR_INIT("hello") },
    { "a length below zero", STR_INIT(OK_HEAD "Content-Length: -5\r\n\r\nhello"), RAW_CLOSE,
      "http.protocol", 0, STR_INIT("") },
    { "a length beyond all numbers",
      STR_INIT(OK_HEAD "Content-Length: 99999999999999999999\r\n\r\nhello"), RAW_CLOSE,
      "http.protocol", 0, STR_INIT("") },
    { "chunks, and a length that lies",
      STR_INIT(OK_HEAD "Content-Length: 2\r\nTransfer-Encoding: chunked\r\n\r\n"
                       "5\r\nhello\r\n0\r\n\r\n"),
      RAW_CLOSE, "", 200, STR_INIT("hello") },
    { "more than announced", STR_INIT(OK("2", "hello")), RAW_CLOSE, "", 200, STR_INIT("he") },
    { "gzip that says nothing of it", STR_INIT(OK_HEAD "Content-Length: 29\r\n\r\n" GZIP), RAW_KEEP,
      "", 200, STR_INIT(GZIP) },
    { "gzip once, called twice",
      STR_INIT(OK_HEAD "Content-Encoding: gzip, gzip\r\nContent-Length: 29\r\n\r\n" GZIP), RAW_KEEP,
      "http.encoding", 200, STR_INIT("") },
    { "called br, and is gzip",
      STR_INIT(OK_HEAD "Content-Encoding: br\r\nContent-Length: 29\r\n\r\n" GZIP), RAW_KEEP,
      "http.encoding", 200, STR_INIT("") },
    { "no HTTP at all", STR_INIT("SSH-2.0-OpenSSH_9.2\r\n"), RAW_CLOSE, "http.protocol", 0,
      STR_INIT("") },
    { "a status that is none", STR_INIT("HTTP/1.1 abc OK\r\nContent-Length: 0\r\n\r\n"), RAW_CLOSE,
      "http.protocol", 0, STR_INIT("") },

    { "a status whose body breaks",
      STR_INIT("HTTP/1.1 503 Busy\r\nContent-Length: 10\r\n\r\nhello"), RAW_RESET, "", 503,
      STR_INIT("hello") },
    { "a status whose coding breaks",
      STR_INIT("HTTP/1.1 503 Busy\r\nContent-Encoding: gzip\r\nContent-Length: 5\r\n\r\nhello"),
      RAW_KEEP, "", 503, STR_INIT("") },
};

TEST(every_way_a_reply_can_come_has_its_code)
{
    for (size_t i = 0; i < ARRAY_LEN(replies); i++) {
        begin();
        raw_server_reply(wire.server, replies[i].bytes, replies[i].end);
        CHECK_STR(str_of(get("/?api_key=S3CRET")), str_of(replies[i].code), replies[i].label);
        CHECK_EQ(wire.reply.status, replies[i].status, replies[i].label);
        CHECK_STR(wire.reply.body, replies[i].body, replies[i].label);
        if (wire.err.code != NULL) {
            CHECK(strstr(wire.err.text, "S3CRET") == NULL, wire.err.text);
            CHECK(strstr(wire.err.text, "GET http://127.0.0.1") == wire.err.text, wire.err.text);
        }
        CHECK_EQ(wire.reply.body_cut, wire.reply.status == 503, replies[i].label);
        CHECK_EQ(raw_server_requests(wire.server), 1, "once on the wire");
        CHECK_EQ(wire.reply.attempts, 1, "and counted so");
        end();
    }
}

TEST(what_the_body_took_on_the_wire_is_told)
{
    begin();
    raw_server_reply(wire.server,
                     STR(OK_HEAD "Content-Encoding: gzip\r\nContent-Length: 29\r\n\r\n" GZIP),
                     RAW_KEEP);
    CHECK_STR(str_of(get("/")), STR(""), "sent");
    CHECK_EQ(wire.reply.wire_bytes, 29, "packed");
    CHECK_EQ(wire.reply.body.len, 19, "unpacked");
    CHECK_EQ(wire.reply.version, 11, "version");
    CHECK(str_starts(wire.reply.address, STR("127.0.0.1:")), "address");
    CHECK(wire.reply.timings.total_us > 0 &&
              wire.reply.timings.total_us >= wire.reply.timings.first_byte_us,
          "timings");
    end();
}

/* ---- large bodies ---- */

enum { LARGE = 5 << 20 };

static struct str large_reply(const char *head, bool chunked)
{
    struct buf out;
    char *body = malloc(LARGE);

    REQUIRE(body != NULL, "memory");
    for (size_t i = 0; i < LARGE; i++)
        body[i] = (char)('a' + i * 7 / 13 % 26);
    buf_init(&out, &wire.texts, LARGE + 1000000);
    buf_add(&out, str_of(head));
    for (size_t i = 0; i < LARGE; i += 65536) {
        if (chunked)
            buf_printf(&out, "%x\r\n", 65536);
        buf_add(&out, (struct str){ body + i, 65536 });
        if (chunked)
            buf_add(&out, STR("\r\n"));
    }
    if (chunked)
        buf_add(&out, STR("0\r\n\r\n"));
    free(body);
    REQUIRE_OK(buf_ok(&out, &wire.err), wire.err);
    return buf_str(&out);
}

static bool is_large_body(struct str body)
{
    for (size_t i = 0; i < body.len; i++) {
        if (body.data[i] != (char)('a' + i * 7 / 13 % 26))
            return false;
    }
    return body.len == LARGE;
}

TEST(large_bodies_come_whole_in_either_framing)
{
    begin();
    raw_server_reply(wire.server, large_reply(OK_HEAD "Content-Length: 5242880\r\n\r\n", false),
                     RAW_KEEP);
    raw_server_reply(wire.server, large_reply(OK_HEAD "Transfer-Encoding: chunked\r\n\r\n", true),
                     RAW_KEEP);
    CHECK_STR(str_of(get("/")), STR(""), "by length");
    CHECK(is_large_body(wire.reply.body), "by length");
    CHECK_STR(str_of(get("/")), STR(""), "in chunks");
    CHECK(is_large_body(wire.reply.body), "in chunks");
    end();
}

/* ---- streams ---- */

/* The code of the failure of http_open or a read; "": it came to its end. */
static const char *stream_of(struct http_request request, struct buf *out)
{
    struct http_stream *stream;
    static char some[100003];
    size_t len = 1;
    bool ok = true;

    wire.err = (struct error){ 0 };
    if (!http_open(wire.http, &wire.arena, &request, &stream, &wire.reply, &wire.err))
        return wire.err.code;
    REQUIRE(stream != NULL, "a stream");
    while (ok && len > 0) {
        ok = http_read(stream, (struct http_room){ some, sizeof(some) }, &len, &wire.err);
        buf_add(out, (struct str){ some, len });
    }
    http_end(stream);
    return ok ? "" : wire.err.code;
}

/* Larger than any limit of bodies that the request has, and than the handle's own buffer. */
TEST(a_stream_has_no_limit_and_waits_for_its_reader)
{
    for (int chunked = 0; chunked < 2; chunked++) {
        struct http_request request;
        struct buf out;

        begin();
        raw_server_reply(wire.server,
                         large_reply(chunked ? OK_HEAD "Transfer-Encoding: chunked\r\n\r\n"
                                             : OK_HEAD "Content-Length: 5242880\r\n\r\n",
                                     chunked),
                         RAW_KEEP);
        raw_server_reply(wire.server, STR(OK("5", "hello")), RAW_KEEP);
        buf_init(&out, &wire.texts, LARGE + 1);
        request = request_of("/");
        request.limits.body_bytes_max = 1024;
        CHECK_STR(str_of(stream_of(request, &out)), STR(""), "to its end");
        CHECK(is_large_body(buf_str(&out)), "byte by byte");
        CHECK_STR(str_of(get("/")), STR(""), "another request");
        end();
    }
}

TEST(a_stream_unpacks_gzip_by_its_bytes_and_demands_its_end)
{
    static const struct {
        const char *label;
        struct str bytes;
        enum raw_end end;
        const char *code;
        struct str body;
    } cases[] = {
        { "a file", STR_INIT(OK_HEAD "Content-Length: 29\r\n\r\n" GZIP), RAW_KEEP, "",
          STR_INIT("hello, hello, hello") },
        { "a coding", STR_INIT(OK_HEAD "Content-Encoding: gzip\r\nContent-Length: 29\r\n\r\n" GZIP),
          RAW_KEEP, "", STR_INIT("hello, hello, hello") },
        { "two members", STR_INIT(OK_HEAD "Content-Length: 58\r\n\r\n" GZIP GZIP), RAW_KEEP, "",
          STR_INIT("hello, hello, hellohello, hello, hello") },
        { "padding", STR_INIT(OK_HEAD "Content-Length: 33\r\n\r\n" GZIP "\0\0\0\0"), RAW_KEEP, "",
          STR_INIT("hello, hello, hello") },
        { "an error after the file", STR_INIT(OK_HEAD "Content-Length: 34\r\n\r\n" GZIP "error"),
          RAW_KEEP, "http.encoding", STR_INIT("hello, hello, hello") },
        { "a member whose first byte is damaged",
          STR_INIT(OK_HEAD "Content-Length: 40\r\n\r\n" GZIP
                           "\x1e\x8b\x08\x00\x00\x00\x00\x00\x02\x03\xcb"),
          RAW_KEEP, "http.encoding", STR_INIT("hello, hello, hello") },
        { "the first byte of a member", STR_INIT(OK_HEAD "Content-Length: 30\r\n\r\n" GZIP "\x1f"),
          RAW_KEEP, "http.encoding", STR_INIT("hello, hello, hello") },
        { "an error after padding", STR_INIT(OK_HEAD "Content-Length: 34\r\n\r\n" GZIP "\0\0\0no"),
          RAW_KEEP, "http.encoding", STR_INIT("hello, hello, hello") },
        { "one byte", STR_INIT(OK("1", "x")), RAW_KEEP, "", STR_INIT("x") },
        { "none", STR_INIT(OK("0", "")), RAW_KEEP, "", STR_INIT("") },
        { "cut, and said so",
          STR_INIT(OK_HEAD
                   "Content-Length: 29\r\n\r\n\x1f\x8b\x08\x00\x00\x00\x00\x00\x02\x03\xcb"),
          RAW_CLOSE, "http.truncated", STR_INIT("") },
        { "cut, with a length that fits",
          STR_INIT(OK_HEAD
                   "Content-Length: 11\r\n\r\n\x1f\x8b\x08\x00\x00\x00\x00\x00\x02\x03\xcb"),
          RAW_KEEP, "http.truncated", STR_INIT("") },
        { "cut before the checksum is whole", STR_INIT(OK_HEAD "Content-Length: 28\r\n\r\n" GZIP),
          RAW_CLOSE, "http.truncated", STR_INIT("hello, hello, hello") },
        { "broken",
          STR_INIT(OK_HEAD
                   "Content-Length: 12\r\n\r\n\x1f\x8b\x08\x00\x00\x00\x00\x00\x02\x03\xff\xff"),
          RAW_KEEP, "http.encoding", STR_INIT("") },
        { "another coding", STR_INIT(OK_HEAD "Content-Encoding: br\r\nContent-Length: 2\r\n\r\nok"),
          RAW_KEEP, "http.encoding", STR_INIT("") },
    };

    for (size_t i = 0; i < ARRAY_LEN(cases); i++) {
        struct buf out;

        begin();
        raw_server_reply(wire.server, cases[i].bytes, cases[i].end);
        buf_init(&out, &wire.texts, 1000);
        CHECK_STR(str_of(stream_of(request_of("/f.gz?api_key=S3CRET"), &out)),
                  str_of(cases[i].code), cases[i].label);
        CHECK_STR(buf_str(&out), cases[i].body, cases[i].label);
        if (wire.err.code != NULL) {
            CHECK(strstr(wire.err.text, "S3CRET") == NULL, wire.err.text);
            CHECK(strstr(wire.err.text, "GET http://127.0.0.1") == wire.err.text, wire.err.text);
        }
        end();
    }
}

/* ---- limits ---- */

TEST(limits_hold_whether_announced_or_not)
{
    struct http_request request;

    begin();
    raw_server_reply(wire.server, large_reply(OK_HEAD "Content-Length: 5242880\r\n\r\n", false),
                     RAW_KEEP);
    raw_server_reply(wire.server, large_reply(OK_HEAD "Transfer-Encoding: chunked\r\n\r\n", true),
                     RAW_KEEP);
    raw_server_reply(wire.server, large_reply(OK_HEAD "Transfer-Encoding: chunked\r\n\r\n", true),
                     RAW_KEEP);
    raw_server_reply(wire.server,
                     STR(OK_HEAD "Content-Encoding: gzip\r\nContent-Length: 29\r\n\r\n" GZIP),
                     RAW_KEEP);
    request = request_of("/");
    request.limits.body_bytes_max = LARGE - 1;
    CHECK_STR(str_of(try(request)), STR("http.too_large"), "announced");
    CHECK(wire.arena.used < 1 << 20, "and no memory was made for it");
    CHECK_STR(str_of(try(request)), STR("http.too_large"), "not announced");
    request.limits.body_bytes_max = 0;
    request.limits.inflated_bytes_max = LARGE - 1;
    CHECK_STR(str_of(try(request)), STR("http.inflate_limit"),
              "a body that is not packed counts too");
    request.limits.inflated_bytes_max = 18;
    CHECK_STR(str_of(try(request)), STR("http.inflate_limit"), "packed");
    end();
}

TEST(a_head_beyond_its_limits_is_refused)
{
    struct http_request request;
    struct buf many, wide;

    begin();
    buf_init(&many, &wire.texts, 1 << 20);
    buf_init(&wide, &wire.texts, 1 << 20);
    buf_add(&many, STR(OK_HEAD));
    for (int i = 0; i < 200; i++)
        buf_printf(&many, "X-%d: y\r\n", i);
    buf_add(&many, STR("Content-Length: 0\r\n\r\n"));
    buf_add(&wide, STR(OK_HEAD "X: "));
    for (int i = 0; i < 200000; i++)
        buf_add_char(&wide, 'x');
    buf_add(&wide, STR("\r\nContent-Length: 0\r\n\r\n"));
    raw_server_reply(wire.server, buf_str(&many), RAW_KEEP);
    raw_server_reply(wire.server, buf_str(&many), RAW_KEEP);
    raw_server_reply(wire.server, buf_str(&wide), RAW_CLOSE);
    CHECK_STR(str_of(get("/")), STR("http.header_limit"), "more than 128");
    request = request_of("/");
    request.limits.headers_max = 300;
    CHECK_STR(str_of(try(request)), STR(""), "more were allowed");
    CHECK_STR(str_of(get("/")), STR("http.header_limit"), "one that is too long");
    end();
}

/* ---- connections ---- */

/* What is left over would be the answer to somebody else's question. */
TEST(what_follows_a_body_is_not_the_next_response)
{
    begin();
    raw_server_reply(wire.server, STR(OK("2", "ok") OK("4", "evil")), RAW_KEEP);
    raw_server_reply(wire.server, STR(OK("4", "mine")), RAW_KEEP);
    CHECK_STR(str_of(get("/1")), STR(""), "the first");
    CHECK_STR(wire.reply.body, STR("ok"), "the first");
    CHECK_STR(str_of(get("/2")), STR(""), "the second");
    CHECK_STR(wire.reply.body, STR("mine"), "its own");
    end();
}

/* No jar: what one response sets is not sent with another request. */
TEST(cookies_are_neither_kept_nor_sent)
{
    struct buf many;

    begin();
    buf_init(&many, &wire.texts, 1 << 20);
    buf_add(&many, STR(OK_HEAD));
    for (int i = 0; i < 100; i++)
        buf_printf(&many, "Set-Cookie: c%d=S3CRET; Path=/\r\n", i);
    buf_add(&many, STR("Content-Length: 2\r\n\r\nok"));
    raw_server_reply(wire.server, buf_str(&many), RAW_KEEP);
    raw_server_reply(wire.server, STR(OK("2", "ok")), RAW_KEEP);
    CHECK_STR(str_of(get("/")), STR(""), "a hundred of them");
    CHECK_STR(str_of(get("/")), STR(""), "and another request");
    CHECK(!request_has(1, "Cookie") && !request_has(1, "S3CRET"), "without them");
    end();
}

TEST(a_connection_is_kept_and_used_again)
{
    begin();
    for (int i = 0; i < 5; i++)
        raw_server_reply(wire.server, STR(OK("2", "ok")), RAW_KEEP);
    for (int i = 0; i < 5; i++) {
        CHECK_STR(str_of(get("/")), STR(""), "sent");
        CHECK_EQ(wire.reply.reused, i > 0, "reused");
    }
    CHECK_EQ(raw_server_connections(wire.server), 1, "one connection");
    end();
}

TEST(a_request_is_not_repeated_without_the_caller)
{
    begin();
    raw_server_reply(wire.server, STR(OK("2", "ok")), RAW_KEEP);
    raw_server_reply(wire.server, STR(""), RAW_CLOSE); /* it was read, and not answered */
    raw_server_reply(wire.server, STR(OK("2", "ok")), RAW_KEEP);
    CHECK_STR(str_of(get("/first")), STR(""), "first");
    CHECK_STR(str_of(get("/second")), STR("http.reset"), "second");
    CHECK_EQ(raw_server_requests(wire.server), 2, "the server saw it once");
    CHECK_STR(str_of(get("/third")), STR(""), "third");
    CHECK_EQ(raw_server_requests(wire.server), 3, "and this one once");
    end();
}

TEST(started_requests_share_the_connections_of_the_handle)
{
    struct http_request request;
    struct http_ticket *ticket;

    begin();
    for (int i = 0; i < 4; i++)
        raw_server_reply(wire.server, STR(OK("2", "ok")), RAW_KEEP);
    request = request_of("/");
    for (int i = 0; i < 2; i++) {
        CHECK_STR(str_of(get("/")), STR(""), "sent");
        REQUIRE_OK(http_start(wire.http, &wire.arena, &request, &ticket, &wire.err), wire.err);
        REQUIRE_OK(http_wait(ticket, &wire.reply, &wire.err), wire.err);
    }
    CHECK_EQ(raw_server_connections(wire.server), 1, "one connection for both ways");
    end();
}

TEST(a_started_request_arrives_by_itself)
{
    struct http_request request;
    struct http_ticket *ticket;

    begin();
    raw_server_reply(wire.server, STR(OK("2", "ok")), RAW_KEEP);
    request = request_of("/");
    REQUIRE_OK(http_start(wire.http, &wire.arena, &request, &ticket, &wire.err), wire.err);
    raw_server_await(wire.server, 1); /* nobody called http_wait yet, or this test never ends */
    REQUIRE_OK(http_wait(ticket, &wire.reply, &wire.err), wire.err);
    CHECK_STR(wire.reply.body, STR("ok"), "body");
    end();
}

struct kept {
    struct http_taker taker;
    int calls;
    const char *body;
};

static void keep(struct http_taker *taker, const struct http_response *reply)
{
    struct kept *kept = (struct kept *)taker;

    kept->calls++;
    kept->body = reply->body.data;
}

TEST(a_response_is_taken_once_before_it_is_returned)
{
    struct kept kept = { .taker = { keep } };
    struct http_request request;
    struct http_ticket *ticket;

    begin();
    raw_server_reply(wire.server, STR(OK("2", "ok")), RAW_KEEP);
    raw_server_reply(wire.server, STR(OK("5", "ok")), RAW_CLOSE);
    request = request_of("/");
    request.taker = &kept.taker;
    REQUIRE_OK(http_start(wire.http, &wire.arena, &request, &ticket, &wire.err), wire.err);
    REQUIRE_OK(http_wait(ticket, &wire.reply, &wire.err), wire.err);
    CHECK_EQ(kept.calls, 1, "once");
    CHECK(kept.body == wire.reply.body.data, "the bytes that are returned");
    REQUIRE_OK(http_start(wire.http, &wire.arena, &request, &ticket, &wire.err), wire.err);
    CHECK(!http_wait(ticket, &wire.reply, &wire.err), "cut off");
    CHECK_EQ(kept.calls, 1, "a failure has nothing to take");
    end();
}

/* ---- what is on the wire ---- */

TEST(a_request_goes_out_as_it_should)
{
    static const struct http_header headers[] = { { STR_INIT("X-Empty"), STR_INIT("") },
                                                  { STR_INIT("Accept"), STR_INIT("text/xml") } };
    struct http_request request;

    begin();
    for (int i = 0; i < 4; i++)
        raw_server_reply(wire.server, STR(OK("0", "")), RAW_KEEP);
    request = request_of("/a/../b/./c?x=%7e&y=a+b#fragment");
    request.headers = headers;
    request.header_count = ARRAY_LEN(headers);
    request.correlation_id = STR("ing-7-3");
    request.traceparent = STR("00-0af7651916cd43dd8448eb211c80319c-b7ad6b7169203331-01");
    request.tracestate = STR("a=b");
    CHECK_STR(str_of(try(request)), STR(""), "sent");
    CHECK(request_has(0, "GET /a/../b/./c?x=%7e&y=a+b HTTP/1.1\r\n"), "path and query as written");
    CHECK(request_has(0, "\r\nAccept: text/xml\r\n") && !request_has(0, "*/*"), "its own Accept");
    CHECK(request_has(0, "\r\nX-Empty:\r\n"), "an empty header");
    CHECK(request_has(0, "\r\nUser-Agent: patra/"), "who asks");
    CHECK(request_has(0, "\r\nAccept-Encoding: gzip, deflate, br, zstd\r\n"), "codings");
    CHECK(request_has(0, "\r\nX-Ingest-Correlation-Id: ing-7-3\r\n"), "correlation");
    CHECK(request_has(0, "\r\ntraceparent: 00-0af7651916cd43dd8448eb211c80319c-"), "trace");
    CHECK(request_has(0, "\r\ntracestate: a=b\r\n"), "trace state");
    request = request_of("/post");
    request.method = STR("POST");
    request.body = STR("a body");
    request.no_compression = true;
    CHECK_STR(str_of(try(request)), STR(""), "sent");
    CHECK(request_has(1, "POST /post HTTP/1.1\r\n") && request_has(1, "\r\n\r\na body"), "POST");
    CHECK(request_has(1, "\r\nContent-Length: 6\r\n"), "length");
    CHECK(!request_has(1, "Expect:") && !request_has(1, "Content-Type:"),
          "nothing of libcurl's own");
    CHECK(!request_has(1, "Accept-Encoding"), "no codings");
    request.method = STR("DELETE");
    request.body = STR("");
    CHECK_STR(str_of(try(request)), STR(""), "sent");
    CHECK(request_has(2, "DELETE /post HTTP/1.1\r\n"), "another method");
    request.method = STR("POST");
    CHECK_STR(str_of(try(request)), STR(""), "sent");
    CHECK(request_has(3, "\r\nContent-Length: 0\r\n"), "POST without a body");
    end();
}

TEST(a_head_request_waits_for_no_body)
{
    struct http_request request;

    begin();
    raw_server_reply(wire.server,
                     STR(OK_HEAD "Content-Encoding: gzip\r\nContent-Length: 500\r\n\r\n"),
                     RAW_KEEP);
    request = request_of("/");
    request.method = STR("HEAD");
    CHECK_STR(str_of(try(request)), STR(""), "sent");
    CHECK_EQ(wire.reply.body.len, 0, "no body");
    CHECK_STR(http_header_value(wire.reply.headers, STR("content-length")), STR("500"), "headers");
    end();
}

/* ---- time ---- */

static const struct {
    const char *label;
    struct str bytes;
    int status;
    const char *code;
} silences[] = {
    { "before the head", STR_INIT(""), 0, "http.timeout.idle" },
    { "in the head", STR_INIT("HTTP/1.1 200 OK\r\nA: "), 0, "http.timeout.idle" },
    { "in the body", STR_INIT(OK("10", "hello")), 200, "http.timeout.idle" },
    { "in the body of an error", STR_INIT("HTTP/1.1 429 Slow\r\nContent-Length: 10\r\n\r\nhello"),
      429, "" },
};

TEST(silence_has_an_end)
{
    for (size_t i = 0; i < ARRAY_LEN(silences); i++) {
        struct http_request request;

        begin();
        raw_server_reply(wire.server, silences[i].bytes, RAW_HANG);
        request = request_of("/");
        request.timeouts.idle_us = 200 * US_PER_MS;
        CHECK_STR(str_of(try(request)), str_of(silences[i].code), silences[i].label);
        CHECK_EQ(wire.reply.status, silences[i].status, silences[i].label);
        end();
    }
}

struct counter {
    struct http_watch watch; /* first */
    pthread_t thread;
    int calls;
};

static void count_call(struct http_watch *watch)
{
    struct counter *counter = (struct counter *)watch;

    CHECK(pthread_equal(pthread_self(), counter->thread), "in the thread that waits");
    counter->calls++;
}

/* A server that says nothing, one that stops in the middle, one that does not even accept. */
TEST(who_waits_is_called_while_it_waits)
{
    static const struct {
        const char *label;
        struct str bytes;
    } hangs[] = { { "nothing", { "", 0 } },
                  { "half a body", { OK("10", "hello"), sizeof(OK("10", "hello")) - 1 } },
                  { "no connection", { NULL, 0 } } };

    for (size_t i = 0; i < 3 * ARRAY_LEN(hangs); i++) {
        struct counter counter = { .watch = { count_call }, .thread = pthread_self() };
        const bool is_deaf = hangs[i % 3].bytes.data == NULL;
        struct http_request request;
        struct http_ticket *ticket;
        struct http_stream *stream;
        char bytes[16];
        size_t len;
        int fds[4];
        bool ok;

        begin();
        raw_server_reply(wire.server, is_deaf ? STR("") : hangs[i % 3].bytes, RAW_HANG);
        request = request_of("/");
        if (is_deaf)
            request.url = url_of(raw_deaf_port(fds), "/");
        request.timeouts.connect_us = request.timeouts.idle_us = 5 * HTTP_WATCH_US;
        request.watch = &counter.watch;
        if (i / 3 == 0) {
            ok = http_send(wire.http, &wire.arena, &request, &wire.reply, &wire.err);
        } else if (i / 3 == 1) {
            REQUIRE_OK(http_start(wire.http, &wire.arena, &request, &ticket, &wire.err), wire.err);
            ok = http_wait(ticket, &wire.reply, &wire.err);
        } else {
            ok = http_open(wire.http, &wire.arena, &request, &stream, &wire.reply, &wire.err);
            for (len = 1; ok && stream != NULL && len > 0;)
                ok = http_read(stream, (struct http_room){ bytes, sizeof(bytes) }, &len, &wire.err);
            http_end(stream);
        }
        CHECK(!ok, "it hangs");
        CHECK(counter.calls >= 3, hangs[i % 3].label);
        for (int k = 0; is_deaf && k < 4; k++)
            (void)close(fds[k]);
        end();
    }
}

TEST(a_request_as_a_whole_has_an_end)
{
    struct http_request request;

    begin();
    raw_server_reply(wire.server, STR(OK("10", "hello")), RAW_HANG);
    raw_server_reply(wire.server, STR(OK("2", "ok")), RAW_KEEP);
    request = request_of("/");
    request.timeouts.total_us = 50 * US_PER_MS;
    CHECK_STR(str_of(try(request)), STR("http.timeout.total"), "total");
    CHECK_EQ(wire.err.level, ERROR_TRANSIENT, "level");
    CHECK_STR(str_of(get("/")), STR(""), "and the handle goes on");
    CHECK_EQ(raw_server_connections(wire.server), 2, "on another connection");
    end();
}

TEST(a_connection_that_is_not_made_has_an_end)
{
    int fds[4];
    struct http_request request;

    begin();
    request = (struct http_request){ .url = url_of(raw_deaf_port(fds), "/"),
                                     .allow_plain_http = true,
                                     .timeouts.connect_us = 100 * US_PER_MS };
    CHECK_STR(str_of(try(request)), STR("http.timeout.connect"), "connect");
    CHECK_EQ(wire.reply.attempts, 0, "it never was on the wire");
    for (int i = 0; i < 4; i++)
        (void)close(fds[i]);
    request.url = url_of(raw_closed_port(), "/");
    CHECK_STR(str_of(try(request)), STR("http.connect"), "nothing listens there");
    /* A label of 64 letters is refused by the resolver itself: no server is asked. */
    request.url =
        STR("http://aaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaa/"
            "?api_key=S3CRET");
    request.timeouts.connect_us = 0;
    CHECK_STR(str_of(try(request)), STR("http.dns"), "no such name");
    CHECK(strstr(wire.err.text, "S3CRET") == NULL, wire.err.text);
    end();
}

TEST(a_server_without_tls_is_a_handshake_that_failed)
{
    struct http_request request;

    begin();
    raw_server_reply(wire.server, STR("HTTP/1.1 400 Bad Request\r\nContent-Length: 0\r\n\r\n"),
                     RAW_CLOSE);
    request = request_of("/?api_key=S3CRET");
    request.url =
        arena_printf(&wire.texts, "https%.*s", STR_ARG(str_slice(request.url, 4, request.url.len)));
    CHECK_STR(str_of(try(request)), STR("http.handshake"), "plain HTTP at the other end");
    CHECK_EQ(wire.err.level, ERROR_TRANSIENT, "level");
    CHECK(strstr(wire.err.text, "S3CRET") == NULL, wire.err.text);
    CHECK_EQ(wire.reply.attempts, 0, "nothing was sent");
    end();
}

static void *interrupt(void *context)
{
    raw_server_await(wire.server, 1);
    http_interrupt(context);
    return NULL;
}

TEST(what_hangs_can_be_ended_from_outside)
{
    struct http_request request;
    struct http_ticket *ticket;
    pthread_t thread;

    begin();
    raw_server_reply(wire.server, STR(""), RAW_HANG);
    raw_server_reply(wire.server, STR(""), RAW_HANG);
    raw_server_reply(wire.server, STR(OK("2", "ok")), RAW_KEEP);
    request = request_of("/");
    REQUIRE_OK(http_start(wire.http, &wire.arena, &request, &ticket, &wire.err), wire.err);
    raw_server_await(wire.server, 1);
    http_cancel(ticket); /* returns, or this test never ends */
    end();

    begin();
    raw_server_reply(wire.server, STR(""), RAW_HANG);
    REQUIRE(pthread_create(&thread, NULL, interrupt, wire.http) == 0, "thread");
    CHECK_STR(str_of(get("/")), STR("http.cancelled"), "a request that was sent");
    (void)pthread_join(thread, NULL);
    end();

    begin();
    raw_server_reply(wire.server, STR(""), RAW_HANG);
    request = request_of("/");
    REQUIRE_OK(http_start(wire.http, &wire.arena, &request, &ticket, &wire.err), wire.err);
    raw_server_await(wire.server, 1);
    end(); /* closing the handle ends what is under way */
}

/* ---- proxies ---- */

TEST(proxies_come_from_the_request_alone)
{
    struct http_request request;

    begin();
    for (int i = 0; i < 3; i++)
        raw_server_reply(wire.server, STR(OK("2", "ok")), RAW_KEEP);
    (void)setenv("http_proxy", url_of(raw_closed_port(), "").data, 1);
    (void)setenv("no_proxy", "*", 1);
    CHECK_STR(str_of(get("/")), STR(""), "the environment's is not used");
    CHECK(request_has(0, "GET / HTTP/1.1\r\n"), "straight");
    request = request_of("");
    request.proxy = request.url;
    request.url = STR("http://api.example.org/works?a=1");
    CHECK_STR(str_of(try(request)), STR(""), "the proxy it was given, no_proxy or not");
    CHECK(request_has(1, "GET http://api.example.org/works?a=1 HTTP/1.1\r\n"), "through it");
    request.proxy = url_of(raw_closed_port(), "");
    CHECK_STR(str_of(try(request)), STR("http.proxy"), "no proxy there");
    (void)unsetenv("no_proxy");
    request.proxy = STR("env");
    CHECK_STR(str_of(try(request)), STR("http.proxy"), "the environment's, when asked for");
    (void)unsetenv("http_proxy");
    end();
}
