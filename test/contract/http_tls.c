/* TLS, by real servers. */
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "adapter/curl/curl_http.h"
#include "base/instant.h"
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

/* ---- servers that misbehave ---- */

static const char UNTRUSTED[] = "certificate";

static const struct {
    const char *mode;
    bool without_ca;
    const char *code;
    enum error_level level;
    const char *word; /* in the text; NULL: any */
} cases[] = {
    { "good", false, "", ERROR_NONE, NULL },
    { "good", true, "http.tls", ERROR_FATAL, UNTRUSTED },
    { "expired", false, "http.tls", ERROR_FATAL, "expired" },
    { "not-yet", false, "http.tls", ERROR_FATAL, "not yet valid" },
    { "wrong-host", false, "http.tls", ERROR_FATAL, "127.0.0.1" },
    { "wrong-purpose", false, "http.tls", ERROR_FATAL, UNTRUSTED },
    { "self-signed", false, "http.tls", ERROR_FATAL, UNTRUSTED },
    { "weak-key", false, "http.tls", ERROR_FATAL, NULL },
    { "tls-1.0", false, "http.handshake", ERROR_TRANSIENT, "version" },
    { "tls-1.1", false, "http.handshake", ERROR_TRANSIENT, "version" },
    { "null-cipher", false, "http.handshake", ERROR_TRANSIENT, NULL },
    { "cut", false, "http.handshake", ERROR_TRANSIENT, NULL },
    { "stall", false, "http.timeout.connect", ERROR_TRANSIENT, NULL },
    { "alpn-lie", false, "http.reset", ERROR_TRANSIENT, NULL },
    { "garbage", false, "http.reset", ERROR_TRANSIENT, NULL },
    { "renegotiate", false, "", ERROR_NONE, NULL },
    { "renegotiate-forever", false, "http.timeout.idle", ERROR_TRANSIENT, NULL },
};

/* What the server printed: its port, and its authority's file. */
static struct http_request request_to(const struct child *server, bool without_ca)
{
    const char *blank = strchr(server->line, ' ');

    REQUIRE(blank != NULL, server->line);
    return (struct http_request){
        .url = arena_printf(&tls.texts, "https://127.0.0.1:%.*s/?api_key=S3CRET",
                            (int)(blank - server->line), server->line),
        .ca_file = str_of(without_ca ? NULL : blank + 1),
        .timeouts = { .connect_us = 2 * US_PER_SECOND,
                      .idle_us = 2 * US_PER_SECOND,
                      .total_us = 5 * US_PER_SECOND },
    };
}

TEST(every_way_to_fail_at_tls_has_its_code)
{
    begin();
    for (size_t i = 0; i < ARRAY_LEN(cases); i++) {
        const char *const argv[] = { "python3", "-Wignore", "test/contract/tls_server.py",
                                     cases[i].mode, NULL };
        struct http_request request;
        struct child server;
        bool ok;

        REQUIRE(child_start(&server, argv), cases[i].mode);
        request = request_to(&server, cases[i].without_ca);
        arena_reset(&tls.arena);
        tls.err = (struct error){ 0 };
        ok = http_send(tls.http, &tls.arena, &request, &tls.reply, &tls.err);
        CHECK_STR(str_of(ok ? "" : tls.err.code), str_of(cases[i].code), cases[i].mode);
        CHECK_EQ(ok ? ERROR_NONE : tls.err.level, cases[i].level, tls.err.text);
        CHECK(ok || cases[i].word == NULL || strstr(tls.err.text, cases[i].word) != NULL,
              tls.err.text);
        CHECK(strstr(tls.err.text, "S3CRET") == NULL, tls.err.text);
        child_stop(&server);
    }
    end();
}
