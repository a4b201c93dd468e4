/* libcurl against patra-sim: every fault it has, every way to prove who asks. */
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "adapter/auth/auth_http.h"
#include "adapter/curl/curl_http.h"
#include "adapter/system/system.h"
#include "child.h"
#include "data/json.h"
#include "data/media_type.h"
#include "fixed_secret.h"
#include "test.h"

static const struct fixed_secret SECRETS[] = {
    { "env:KEY", "KEY-S3CRET-1" },     { "env:PASSWORD", "PASS-S3CRET-2" },
    { "env:TOKEN", "TOKEN-S3CRET-3" }, { "env:CLIENT", "CLIENT-S3CRET-4" },
    { "env:SIGN", "SIGN-S3CRET-5" },
};

static struct {
    struct sim sim;
    struct clock clock;
    struct fixed_secrets secrets;
    struct auth_tokens *tokens;
    struct http *http;
    struct arena arena;
    struct arena texts;
    struct http_response reply;
    struct error err;
} world;

static void begin(void)
{
    static const char *const options[] = {
        "--now",
        "2026-01-02T03:04:05Z",
        "--auth",
        "path=/echo/key type=api_key in=query name=key value=KEY-S3CRET-1",
        "--auth",
        "path=/echo/head type=api_key in=header name=X-Key value=KEY-S3CRET-1",
        "--auth",
        "path=/echo/basic type=basic user=me password=PASS-S3CRET-2",
        "--auth",
        "path=/echo/bearer type=bearer token=TOKEN-S3CRET-3",
        "--auth",
        "path=/echo/oauth type=oauth2 client_id=me client_secret=CLIENT-S3CRET-4 expires=600",
        "--auth",
        "path=/echo/signed type=hmac key_id=me secret=SIGN-S3CRET-5",
        "--audit-off",
        "contact,repeat",
        NULL,
    };

    memset(&world, 0, sizeof(world));
    arena_init(&world.arena, 256 << 20);
    arena_init(&world.texts, 1 << 20);
    world.clock = system_clock();
    fixed_secrets_init(&world.secrets, SECRETS, ARRAY_LEN(SECRETS));
    REQUIRE(sim_start(&world.sim, options), "patra-sim starts");
    REQUIRE_OK(auth_tokens_open(&world.tokens, &world.err), world.err);
    REQUIRE_OK(curl_http_open(NULL, &world.http, &world.err), world.err);
    REQUIRE_OK(auth_http_open(&(struct auth_http_parts){ world.http, world.tokens,
                                                         &world.secrets.source, &world.clock },
                              &world.http, &world.err),
               world.err);
}

static void end(void)
{
    http_close(world.http);
    auth_tokens_close(world.tokens);
    sim_stop(&world.sim);
    arena_release(&world.arena);
    arena_release(&world.texts);
}

static const char *try(const char *method, const char *path, struct http_request request)
{
    request.method = str_of(method);
    request.url = arena_printf(&world.texts, "%s%s", world.sim.base, path);
    request.allow_plain_http = true;
    arena_reset(&world.arena);
    world.err = (struct error){ 0 };
    return http_send(world.http, &world.arena, &request, &world.reply, &world.err) ? ""
                                                                                   : world.err.code;
}

/* ---- faults ---- */

static const struct {
    const char *fault;
    const char *code; /* of the port, or of the body's check */
    int status;
    bool cut;
} faults[] = {
    { "kind=status code=429 retry_after=30", "", 429, false },
    { "kind=status code=429 retry_after=date+30", "", 429, false },
    { "kind=status code=503 retry_after=5 body=empty", "", 503, false },
    { "kind=status code=500 body=html", "", 500, false },
    { "kind=reset at=before", "http.reset", 0, false },
    { "kind=reset at=reply", "http.reset", 0, false },
    { "kind=reset at=mid keep=50", "http.reset", 200, false },
    { "kind=close", "http.reset", 0, false },
    { "kind=drip bps=400", "http.timeout.total", 200, false },
    { "kind=stall at=before ms=60000", "http.timeout.idle", 0, false },
    { "kind=stall at=reply ms=60000", "http.timeout.idle", 200, false },
    { "kind=stall at=mid ms=60000", "http.timeout.idle", 200, false },
    { "kind=truncate keep=50", "http.truncated", 200, false },
    { "kind=truncate keep=50 length=chunked", "http.truncated", 200, false },
    { "kind=length delta=100", "http.truncated", 200, false },
    { "kind=html", "body.html", 200, false },
    { "kind=html keep_type", "body.html", 200, false },
    { "kind=empty", "body.empty", 200, false },
    { "kind=garbage bytes=300", "body.kind", 200, false },
    { "kind=charset charset=utf16", "body.charset", 200, false },
    { "kind=oversize mb=20", "http.too_large", 200, false },
    { "kind=oversize mb=20 length=chunked", "http.too_large", 200, false },
    { "kind=bomb mb=40", "http.inflate_limit", 200, false },
    { "kind=redirect code=302", "http.redirect_refused", 302, false },
};

/* The fault's code by the port, then by the look at the body that follows it. */
static const char *provoke(const char *fault, bool compressed)
{
    const struct http_header header = { STR("X-Sim-Fault"), str_of(fault) };
    /* A body of some kilobytes, so that it can be cut: the query comes back in it. */
    static char path[6000];
    const bool stalls = strstr(fault, "stall") != NULL, drips = strstr(fault, "drip") != NULL;
    const char *code;

    (void)snprintf(path, sizeof(path), "/echo?api_key=S3CRET&fill=%05000d", 1);
    code = try("GET", path,
               (struct http_request){
                   .headers = &header,
                   .header_count = 1,
                   .redirects_max = 3,
                   .no_compression = !compressed,
                   .timeouts = { .idle_us = stalls ? 200 * US_PER_MS : 0,
                                 .total_us = drips ? 200 * US_PER_MS : 0 },
                   .limits = { .body_bytes_max = 8 << 20, .inflated_bytes_max = 16 << 20 } });
    if (code[0] != '\0' || world.reply.status != 200)
        return code;
    return body_check(http_header_value(world.reply.headers, STR("Content-Type")), world.reply.body,
                      BODY_JSON, &world.err)
               ? ""
               : world.err.code;
}

TEST(every_fault_of_the_simulator_has_its_code)
{
    begin();
    for (size_t i = 0; i < 2 * ARRAY_LEN(faults); i++) {
        const char *fault = faults[i / 2].fault;

        CHECK_STR(str_of(provoke(fault, i % 2 == 0)), str_of(faults[i / 2].code), fault);
        CHECK_EQ(world.reply.status, faults[i / 2].status, fault);
        CHECK_EQ(world.reply.body_cut, faults[i / 2].cut, fault);
        CHECK(strstr(world.err.text, "S3CRET") == NULL, world.err.text);
        CHECK_STR(str_of(provoke("", true)), STR(""), "and the next request is well again");
    }
    test_note("%zu faults of patra-sim, packed and not, each with its code", ARRAY_LEN(faults));
    end();
}

TEST(what_only_the_content_tells_is_left_to_the_content)
{
    begin();
    CHECK_STR(str_of(provoke("kind=truncate keep=50 length=short", false)), STR(""),
              "fits its length");
    CHECK(!json_is_valid(world.reply.body), "and is half a document");
    CHECK_STR(str_of(provoke("kind=length delta=-10", false)), STR(""), "cut by its length");
    CHECK(!json_is_valid(world.reply.body), "and is not whole");
    CHECK_STR(str_of(provoke("kind=truncate keep=50 length=short", true)), STR("http.truncated"),
              "unless it was compressed: then its coding says so");
    CHECK_STR(str_of(provoke("kind=truncate keep=50 length=none", true)), STR("http.truncated"),
              "even without any length");
    end();
}

/* ---- credentials ---- */

#define KEY_QUERY                                                                 \
    {                                                                             \
        .type = AUTH_API_KEY, .location = AUTH_IN_QUERY, .name = STR_INIT("key"), \
        .secret = STR_INIT("env:KEY")                                             \
    }

static const struct {
    const char *path;
    struct http_auth auth;
} ways[] = {
    { "/echo/key?a=1", KEY_QUERY },
    { "/echo/head",
      { .type = AUTH_API_KEY,
        .location = AUTH_IN_HEADER,
        .name = STR_INIT("X-Key"),
        .secret = STR_INIT("env:KEY") } },
    { "/echo/basic",
      { .type = AUTH_BASIC, .username = STR_INIT("me"), .password = STR_INIT("env:PASSWORD") } },
    { "/echo/bearer", { .type = AUTH_BEARER, .secret = STR_INIT("env:TOKEN") } },
    { "/echo/signed?b=2&a=1&c=%2F",
      { .type = AUTH_CUSTOM,
        .username = STR_INIT("me"),
        .secret = STR_INIT("env:SIGN"),
        .signing_hook = STR_INIT("hmac-sha256") } },
    { "/echo/oauth",
      { .type = AUTH_OAUTH2,
        .client_id = STR_INIT("me"),
        .client_secret = STR_INIT("env:CLIENT") } },
};

/* The simulator's time, set to the machine's: signatures have a date. */
static void set_clock(void)
{
    char path[100];

    (void)snprintf(path, sizeof(path), "/_sim/clock?set=%lld",
                   (long long)clock_now_us(&world.clock));
    CHECK_STR(str_of(try("POST", path, (struct http_request){ 0 })), STR(""), "clock set");
}

static const char *try_with(size_t way, const char *method)
{
    struct http_auth auth = ways[way].auth;

    auth.base_url = str_of(world.sim.base);
    auth.token_url = arena_printf(&world.texts, "%s/oauth/token", world.sim.base);
    return try(method, ways[way].path, (struct http_request){ .auth = &auth });
}

TEST(every_way_to_prove_who_asks_is_accepted)
{
    begin();
    set_clock();
    for (size_t i = 0; i < ARRAY_LEN(ways); i++) {
        CHECK_STR(str_of(try("GET", ways[i].path, (struct http_request){ 0 })), STR(""), "without");
        CHECK_EQ(world.reply.status, 401, ways[i].path);
        CHECK_STR(str_of(try_with(i, "GET")), STR(""), "with");
        CHECK_EQ(world.reply.status, 200, ways[i].path);
        CHECK_STR(str_of(try_with(i, "POST")), STR(""), "with");
        CHECK_EQ(world.reply.status, 200, ways[i].path);
        CHECK(str_find(world.reply.url, STR("S3CRET")) == world.reply.url.len, ways[i].path);
    }
    end();
}

TEST(a_token_that_the_server_took_back_is_replaced_once)
{
    const size_t oauth = ARRAY_LEN(ways) - 1;

    begin();
    CHECK_STR(str_of(try_with(oauth, "GET")), STR(""), "first");
    CHECK_EQ(world.reply.attempts, 1, "once");
    CHECK_STR(str_of(try("POST", "/_sim/oauth/revoke", (struct http_request){ 0 })), STR(""),
              "revoke");
    CHECK_STR(str_of(try_with(oauth, "GET")), STR(""), "second");
    CHECK_EQ(world.reply.status, 200, "healed");
    CHECK_EQ(world.reply.attempts, 3, "refused, then a token, then once more");
    CHECK_STR(str_of(try("POST", "/_sim/clock?advance=1h", (struct http_request){ 0 })), STR(""),
              "an hour passes");
    CHECK_STR(str_of(try_with(oauth, "GET")), STR(""), "third");
    CHECK_EQ(world.reply.status, 200, "healed, though our clock does not know");
    end();
}

TEST(no_credential_ever_reaches_the_other_host)
{
    const struct http_header redirect = { STR("X-Sim-Fault"), STR("kind=redirect code=302") };
    struct str others[1];

    begin();
    set_clock();
    others[0] = str_of(world.sim.other);
    for (size_t i = 0; i < 2 * ARRAY_LEN(ways); i++) {
        struct http_auth auth = ways[i / 2].auth;

        auth.base_url = str_of(world.sim.base);
        auth.token_url = arena_printf(&world.texts, "%s/oauth/token", world.sim.base);
        /* Refused; and where the other host is allowed, followed without the credential, or refused
         * because the Location itself carries it. */
        (void)try("GET", ways[i / 2].path,
                  (struct http_request){ .headers = &redirect,
                                         .header_count = 1,
                                         .redirects_max = 3,
                                         .redirect_origins = others,
                                         .redirect_origin_count = i % 2,
                                         .auth = &auth });
        CHECK(strstr(world.err.text, "S3CRET-") == NULL, world.err.text);
    }
    CHECK_STR(str_of(try("GET", "/_sim/audit", (struct http_request){ 0 })), STR(""), "audit");
    CHECK(str_find(world.reply.body, STR("credential_host\":0")) < world.reply.body.len ||
              str_find(world.reply.body, STR("\"credential_host\"")) == world.reply.body.len,
          world.reply.body.data);
    CHECK(str_find(world.reply.body, STR("\"rule\":\"credential_host\"")) == world.reply.body.len,
          "no such violation");
    end();
}
