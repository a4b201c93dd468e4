/* Proxies that refuse, lie, hang up and talk too much. Each is a raw server: what it says is what a
 * real one could. */
#include <stdio.h>
#include <string.h>
#include <unistd.h>

#include "adapter/curl/curl_http.h"
#include "base/instant.h"
#include "raw_server.h"
#include "test.h"

static struct {
    struct raw_server *server;
    struct http *http;
    struct arena arena;
    struct arena texts;
    struct http_response reply;
    struct error err;
} by;

static void begin(void)
{
    memset(&by, 0, sizeof(by));
    arena_init(&by.arena, 64 << 20);
    arena_init(&by.texts, 8 << 20);
    by.server = raw_server_start();
    REQUIRE(by.server != NULL, "a server");
    REQUIRE_OK(curl_http_open(NULL, &by.http, &by.err), by.err);
}

static void end(void)
{
    http_close(by.http);
    raw_server_stop(by.server);
    arena_release(&by.arena);
    arena_release(&by.texts);
}

static const char *try(const char *url)
{
    const struct http_request request = {
        .url = str_of(url),
        .allow_plain_http = true,
        .proxy = arena_printf(&by.texts, "http://me:h%%2Funter2@127.0.0.1:%d",
                              raw_server_port(by.server)),
        .timeouts = { .connect_us = US_PER_SECOND,
                      .idle_us = US_PER_SECOND,
                      .total_us = 3 * US_PER_SECOND },
    };

    arena_reset(&by.arena);
    by.err = (struct error){ 0 };
    return http_send(by.http, &by.arena, &request, &by.reply, &by.err) ? "" : by.err.code;
}

#define PLAIN "http://api.example.org/works?api_key=S3CRET"
#define TUNNEL "https://api.example.org/works?api_key=S3CRET"
#define REFUSAL                                                                             \
    "HTTP/1.1 407 Proxy Authentication Required\r\nProxy-Authenticate: Basic realm=\"h/u\"" \
    "\r\nContent-Length: 33\r\n\r\nme with h/unter2 is not known here"

/* A head of a CONNECT that never ends. */
static struct str endless(void)
{
    struct buf out;
    struct error err;

    buf_init(&out, &by.texts, 4 << 20);
    buf_add(&out, STR("HTTP/1.1 200 Connection established\r\n"));
    for (int i = 0; i < 5000; i++)
        buf_printf(&out, "X-%d: %0100d\r\n", i, i);
    REQUIRE(buf_ok(&out, &err), "text");
    return buf_str(&out);
}

static const struct {
    const char *label;
    const char *url;
    const char *says; /* NULL: a head without an end */
    enum raw_end end;
    const char *code;
} cases[] = {
    { "407 to a tunnel", TUNNEL, REFUSAL, RAW_KEEP, "http.proxy" },
    { "403 to a tunnel", TUNNEL, "HTTP/1.1 403 Forbidden\r\nContent-Length: 0\r\n\r\n", RAW_KEEP,
      "http.proxy" },
    { "502 to a tunnel", TUNNEL, "HTTP/1.1 502 Bad Gateway\r\nContent-Length: 3\r\n\r\nno\n",
      RAW_CLOSE, "http.proxy" },
    { "a redirect instead of a tunnel", TUNNEL,
      "HTTP/1.1 302 Found\r\nLocation: https://elsewhere.example/\r\nContent-Length: 0\r\n\r\n",
      RAW_KEEP, "http.proxy" },
    { "cut before an answer", TUNNEL, "", RAW_CLOSE, "http.proxy" },
    { "reset before an answer", TUNNEL, "", RAW_RESET, "http.proxy" },
    { "cut within the answer", TUNNEL, "HTTP/1.1 200 Conn", RAW_CLOSE, "http.proxy" },
    { "a tunnel that is cut at once", TUNNEL, "HTTP/1.1 200 OK\r\n\r\n", RAW_CLOSE,
      "http.handshake" },
    { "a tunnel that is reset", TUNNEL, "HTTP/1.1 200 OK\r\n\r\n", RAW_RESET, "http.handshake" },
    { "a tunnel to a server without TLS", TUNNEL,
      "HTTP/1.1 200 OK\r\n\r\nHTTP/1.1 200 OK\r\nContent-Length: 2\r\n\r\nok", RAW_CLOSE,
      "http.handshake" },
    { "a tunnel that is silent", TUNNEL, "HTTP/1.1 200 OK\r\n\r\n", RAW_HANG,
      "http.timeout.connect" },
    { "silence", TUNNEL, "", RAW_HANG, "http.timeout.connect" },
    { "not HTTP", TUNNEL, "SSH-2.0-OpenSSH_9.2\r\n\r\n", RAW_CLOSE, "http.proxy" },
    { "a head without an end", TUNNEL, NULL, RAW_HANG, "http.proxy" },
    { "cut in the middle of plain HTTP", PLAIN, "HTTP/1.1 200 OK\r\nContent-Length: 9\r\n\r\nha",
      RAW_CLOSE, "http.truncated" },
};

TEST(every_way_a_proxy_can_fail_has_its_code)
{
    for (size_t i = 0; i < ARRAY_LEN(cases); i++) {
        begin();
        raw_server_reply(by.server, cases[i].says != NULL ? str_of(cases[i].says) : endless(),
                         cases[i].end);
        CHECK_STR(str_of(try(cases[i].url)), str_of(cases[i].code), cases[i].label);
        CHECK_EQ(by.err.level, ERROR_TRANSIENT, by.err.text);
        CHECK(strstr(by.err.text, "S3CRET") == NULL && strstr(by.err.text, "unter2") == NULL,
              by.err.text);
        CHECK_EQ(raw_server_requests(by.server), 1, cases[i].label);
        end();
    }
}

TEST(a_proxy_sees_its_own_credential_and_the_server_does_not)
{
    struct str request;

    begin();
    raw_server_reply(by.server, STR("HTTP/1.1 200 OK\r\n\r\n"), RAW_CLOSE);
    (void)try(TUNNEL);
    request = raw_server_request(by.server, 0);
    CHECK(str_starts(request, STR("CONNECT api.example.org:443 HTTP/1.1\r\n")), request.data);
    CHECK(str_find(request, STR("Proxy-Authorization: Basic bWU6aC91bnRlcjI=")) < request.len,
          request.data);
    CHECK(str_find(request, STR("S3CRET")) == request.len, "the path is for the server alone");
    CHECK(str_find(request, STR("works")) == request.len, "the path is for the server alone");
    end();
}

TEST(the_status_of_a_proxy_is_told_apart_from_none)
{
    begin();
    raw_server_reply(by.server, STR(REFUSAL), RAW_KEEP);
    CHECK_STR(str_of(try(PLAIN)), STR(""), by.err.text);
    CHECK_EQ(by.reply.status, 407, "the engine stops the source for it");
    end();
    begin();
    raw_server_reply(by.server, STR(REFUSAL), RAW_KEEP);
    (void)try(TUNNEL);
    CHECK(strstr(by.err.text, "407") != NULL, by.err.text);
    end();
}
