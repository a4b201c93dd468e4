/* TLS and HTTP/2, by real servers. */
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "adapter/curl/curl_http.h"
#include "child.h"
#include "test.h"

static struct {
    struct sim sim;
    struct http *http;
    struct arena arena;
    struct arena texts;
    struct http_response reply;
    struct error err;
    char ca[300];
} tls;

/* On all addresses, so that there is one which the certificate does not name. */
static void begin(void)
{
    char folder[256];
    const char *const options[] = { "--listen", "0.0.0.0", "--tls", folder, NULL };

    memset(&tls, 0, sizeof(tls));
    arena_init(&tls.arena, 64 << 20);
    arena_init(&tls.texts, 1 << 20);
    (void)snprintf(folder, sizeof(folder), "%s/tls", test_folder());
    (void)snprintf(tls.ca, sizeof(tls.ca), "%s/ca.pem", folder);
    REQUIRE(sim_start(&tls.sim, options), "patra-sim starts");
    REQUIRE_OK(curl_http_open(NULL, &tls.http, &tls.err), tls.err);
}

static void end(void)
{
    http_close(tls.http);
    sim_stop(&tls.sim);
    arena_release(&tls.arena);
    arena_release(&tls.texts);
}

static const char *get(const char *scheme, const char *host, const char *base, const char *ca)
{
    const struct http_request request = {
        .url = arena_printf(&tls.texts, "%s://%s%s/echo?api_key=S3CRET", scheme, host,
                            strrchr(base, ':')),
        .ca_file = str_of(ca),
    };

    arena_reset(&tls.arena);
    tls.err = (struct error){ 0 };
    return http_send(tls.http, &tls.arena, &request, &tls.reply, &tls.err) ? "" : tls.err.code;
}

TEST(a_certificate_is_accepted_from_the_given_authority_alone)
{
    begin();
    CHECK_STR(str_of(get("https", "127.0.0.1", tls.sim.https, NULL)), STR("http.tls"),
              "unknown CA");
    CHECK_EQ(tls.err.level, ERROR_FATAL, "a person must look");
    CHECK(strstr(tls.err.text, "certificate") != NULL, tls.err.text);
    CHECK(strstr(tls.err.text, "S3CRET") == NULL, tls.err.text);
    CHECK_EQ(tls.reply.attempts, 0, "nothing was sent");
    CHECK_STR(str_of(get("https", "127.0.0.1", tls.sim.https, tls.ca)), STR(""), "given CA");
    CHECK_EQ(tls.reply.status, 200, "status");
    CHECK(tls.reply.timings.tls_us > 0, "handshake timed");
    CHECK_STR(str_of(get("https", "localhost", tls.sim.https, tls.ca)), STR(""),
              "another name of it");
    CHECK_STR(str_of(get("https", "127.0.0.1", tls.sim.https, NULL)), STR("http.tls"),
              "a kept connection lends its trust to nobody");
    end();
}

TEST(a_certificate_for_another_host_is_refused)
{
    begin();
    CHECK_STR(str_of(get("https", "127.0.0.2", tls.sim.https, tls.ca)), STR("http.tls"), "name");
    CHECK_EQ(tls.err.level, ERROR_FATAL, "level");
    end();
}

TEST(an_authority_that_can_not_be_read_is_told)
{
    begin();
    CHECK_STR(str_of(get("https", "127.0.0.1", tls.sim.https, "/nowhere/ca.pem")), STR("http.tls"),
              "no file");
    CHECK(strstr(tls.err.text, "/nowhere/ca.pem") != NULL, tls.err.text);
    end();
}

/* ---- HTTP/2 ---- */

TEST(http_2_is_spoken_where_tls_agrees_on_it)
{
    char key[300], cert[300];
    const char *const argv[] = { "node", "test/contract/http2_server.js", key, cert, NULL };
    struct http_ticket *tickets[4];
    struct arena arenas[4];
    struct http_request request;
    struct child server;

    begin();
    (void)snprintf(key, sizeof(key), "%s/tls/server.key", test_folder());
    (void)snprintf(cert, sizeof(cert), "%s/tls/server.pem", test_folder());
    if (!child_start(&server, argv)) {
        end();
        TEST_SKIP("HTTP/2 was not spoken: there is no Node.js to serve it");
    }
    request = (struct http_request){
        .url = arena_printf(&tls.texts, "https://127.0.0.1:%s/x", server.line),
        .ca_file = str_of(tls.ca),
    };
    REQUIRE_OK(http_send(tls.http, &tls.arena, &request, &tls.reply, &tls.err), tls.err);
    CHECK_EQ(tls.reply.version, 20, "version");
    CHECK_STR(tls.reply.body, STR("connection 1 stream 1"), "body");
    CHECK_STR(http_header_value(tls.reply.headers, STR("X-Mark")), STR("two"), "headers");
    for (size_t i = 0; i < 4; i++) {
        arena_init(&arenas[i], 1 << 20);
        REQUIRE_OK(http_start(tls.http, &arenas[i], &request, &tickets[i], &tls.err), tls.err);
    }
    for (size_t i = 0; i < 4; i++) {
        REQUIRE_OK(http_wait(tickets[i], &tls.reply, &tls.err), tls.err);
        CHECK(str_starts(tls.reply.body, STR("connection 1 ")), "all over one connection");
        arena_release(&arenas[i]);
    }
    request.url = arena_printf(&tls.texts, "https://127.0.0.1:%s/refuse", server.line);
    CHECK(!http_send(tls.http, &tls.arena, &request, &tls.reply, &tls.err),
          "a stream that is reset");
    CHECK_STR(str_of(tls.err.code), STR("http.reset"), tls.err.text);
    child_stop(&server);
    end();
}
