/* Credentials in requests, and OAuth2 tokens. */
#include "adapter/auth/auth_http.h"

#include <pthread.h>
#include <stdio.h>
#include <string.h>

#include "base/instant.h"
#include "fixed_secret.h"
#include "scripted_http.h"
#include "test.h"
#include "virtual_clock.h"

static const struct fixed_secret SECRETS[] = {
    { "env:KEY", "K3Y with/odd&bytes" },
    { "env:PLAIN", "s3cr3t" },
    { "file:/pw", "p:w" },
    { "env:ID", "client" },
    { "env:CLIENT", "hush" },
    { "env:LINES", "a\r\nX-B: c" },
    { "env:PROXY", "http://u:hidden@proxy:3128" },
};

static struct {
    struct virtual_clock clock;
    struct scripted_http scripted;
    struct fixed_secrets secrets;
    struct auth_tokens *tokens;
    struct http *http;
    struct arena arena;
    struct http_response reply;
    struct error err;
} world;

static void begin(void)
{
    memset(&world, 0, sizeof(world));
    virtual_clock_init(&world.clock, INT64_C(1767323045000000)); /* 2026-01-02T03:04:05Z */
    scripted_http_init(&world.scripted, &world.clock.clock);
    fixed_secrets_init(&world.secrets, SECRETS, ARRAY_LEN(SECRETS));
    arena_init(&world.arena, 16 << 20);
    REQUIRE_OK(auth_tokens_open(&world.tokens, &world.err), world.err);
    REQUIRE_OK(
        auth_http_open(&(struct auth_http_parts){ &world.scripted.http, world.tokens,
                                                  &world.secrets.source, &world.clock.clock },
                       &world.http, &world.err),
        world.err);
}

static void end(void)
{
    http_close(world.http);
    auth_tokens_close(world.tokens);
    scripted_http_release(&world.scripted);
    arena_release(&world.arena);
}

static void script(int status, const char *body)
{
    scripted_http_reply(&world.scripted,
                        &(struct scripted_reply){ .status = status, .body = str_of(body) });
}

static const char *try(const struct http_request *request)
{
    world.err = (struct error){ 0 };
    return http_send(world.http, &world.arena, request, &world.reply, &world.err) ? ""
                                                                                  : world.err.code;
}

static struct str sent_header(size_t index, struct str name)
{
    return http_header_value(world.scripted.sent.items[index].headers, name);
}

#define HOME .base_url = STR_INIT("https://api.example.org/v1")

static const struct http_auth KEY_HEADER = { .type = AUTH_API_KEY,
                                             .location = AUTH_IN_HEADER,
                                             .name = STR_INIT("X-Key"),
                                             .prefix = STR_INIT("Token "),
                                             .secret = STR_INIT("env:PLAIN"),
                                             HOME };
static const struct http_auth KEY_QUERY = { .type = AUTH_API_KEY,
                                            .location = AUTH_IN_QUERY,
                                            .name = STR_INIT("key"),
                                            .secret = STR_INIT("env:KEY"),
                                            HOME };
static const struct http_auth KEY_BODY = { .type = AUTH_API_KEY,
                                           .location = AUTH_IN_BODY,
                                           .name = STR_INIT("key"),
                                           .secret = STR_INIT("env:KEY"),
                                           HOME };
static const struct http_auth BASIC = {
    .type = AUTH_BASIC, .username = STR_INIT("env:ID"), .password = STR_INIT("file:/pw"), HOME
};
static const struct http_auth BEARER = { .type = AUTH_BEARER,
                                         .secret = STR_INIT("env:PLAIN"),
                                         HOME };
static const struct http_auth SIGNED = { .type = AUTH_CUSTOM,
                                         .secret = STR_INIT("env:PLAIN"),
                                         .username = STR_INIT("me"),
                                         .signing_hook = STR_INIT("hmac-sha256"),
                                         HOME };
static const struct http_auth OAUTH = {
    .type = AUTH_OAUTH2,
    .token_url = STR_INIT("https://login.example.org/token"),
    .client_id = STR_INIT("env:ID"),
    .client_secret = STR_INIT("env:CLIENT"),
    .scope = STR_INIT("read"),
    .refresh_before_us = 60 * US_PER_SECOND,
    HOME,
};

#define URL .url = STR("https://api.example.org/works?a=1")

/* ---- places ---- */

TEST(a_key_goes_into_a_header)
{
    const struct http_header own[] = { { STR("x-key"), STR("stale") }, { STR("A"), STR("b") } };

    begin();
    script(200, "");
    CHECK_STR(str_of(try(&(struct http_request){ URL, .headers = own, .header_count = 2,
                                                 .auth = &KEY_HEADER })),
              STR(""), "sent");
    CHECK_STR(sent_header(0, STR("X-Key")), STR("Token s3cr3t"), "prefix and key");
    CHECK_STR(sent_header(0, STR("A")), STR("b"), "the others stay");
    CHECK_EQ(world.scripted.sent.items[0].headers.count, 2, "in place of the one of the same name");
    end();
}

TEST(a_key_goes_into_the_query_encoded)
{
    begin();
    script(200, "");
    script(500, "");
    CHECK_STR(str_of(try(&(struct http_request){ URL, .auth = &KEY_QUERY })), STR(""), "sent");
    CHECK_STR(world.scripted.sent.items[0].url,
              STR("https://api.example.org/works?a=1&key=K3Y%20with%2Fodd%26bytes"), "url");
    CHECK_STR(world.reply.url, STR("https://api.example.org/works?a=1&key=***"), "told without it");
    CHECK_STR(str_of(try(&(struct http_request){ .url = STR("https://api.example.org/x#frag"),
                                                 .auth = &KEY_QUERY })),
              STR(""), "sent");
    CHECK_STR(world.scripted.sent.items[1].url,
              STR("https://api.example.org/x?key=K3Y%20with%2Fodd%26bytes"), "before a fragment");
    end();
}

static struct http_request post(const struct http_header *type, const char *body)
{
    return (struct http_request){ .method = STR("POST"),
                                  URL,
                                  .headers = type,
                                  .header_count = 1,
                                  .body = str_of(body),
                                  .auth = &KEY_BODY };
}

TEST(a_key_goes_into_a_body_of_either_kind)
{
    const struct http_header form = { STR("Content-Type"),
                                      STR("application/x-www-form-urlencoded") };
    const struct http_header json = { STR("Content-Type"), STR("application/json; charset=utf-8") };
    const struct http_header text = { STR("Content-Type"), STR("text/plain") };
    struct http_request request;

    begin();
    for (int i = 0; i < 4; i++)
        script(200, "");
    request = post(&form, "a=1");
    CHECK_STR(str_of(try(&request)), STR(""), "form");
    CHECK_STR(world.scripted.sent.items[0].body, STR("a=1&key=K3Y+with%2Fodd%26bytes"), "form");
    request = post(&form, "");
    CHECK_STR(str_of(try(&request)), STR(""), "empty form");
    CHECK_STR(world.scripted.sent.items[1].body, STR("key=K3Y+with%2Fodd%26bytes"), "empty form");
    request = post(&json, " {\"a\": [1, 2]}");
    CHECK_STR(str_of(try(&request)), STR(""), "JSON");
    CHECK_STR(world.scripted.sent.items[2].body,
              STR("{\"key\":\"K3Y with/odd&bytes\",\"a\":[1, 2]}"), "JSON");
    request = post(&json, "{}");
    CHECK_STR(str_of(try(&request)), STR(""), "empty object");
    CHECK_STR(world.scripted.sent.items[3].body, STR("{\"key\":\"K3Y with/odd&bytes\"}"), "empty");
    request = post(&json, "[]");
    CHECK_STR(str_of(try(&request)), STR("auth.place"), "no object");
    request = post(&text, "a");
    CHECK_STR(str_of(try(&request)), STR("auth.place"), "neither");
    CHECK_STR(str_of(try(&(struct http_request){ URL, .auth = &KEY_BODY })), STR("auth.place"),
              "GET has no body");
    CHECK_EQ(world.err.level, ERROR_FATAL, "level");
    CHECK_EQ(world.scripted.sent.count, 4, "what could not carry it was not sent");
    end();
}

TEST(basic_bearer_and_signature_go_into_authorization)
{
    begin();
    for (int i = 0; i < 3; i++)
        script(200, "");
    CHECK_STR(str_of(try(&(struct http_request){ URL, .auth = &BASIC })), STR(""), "basic");
    CHECK_STR(sent_header(0, STR("Authorization")), STR("Basic Y2xpZW50OnA6dw=="), "client:p:w");
    CHECK_STR(str_of(try(&(struct http_request){ URL, .auth = &BEARER })), STR(""), "bearer");
    CHECK_STR(sent_header(1, STR("Authorization")), STR("Bearer s3cr3t"), "bearer");
    CHECK_STR(
        str_of(try(&(struct http_request){
            .url = STR("https://api.example.org/works?rows=10&cursor=%2A&a"), .auth = &SIGNED })),
        STR(""), "signed");
    CHECK_STR(sent_header(2, STR("Date")), STR("Fri, 02 Jan 2026 03:04:05 GMT"), "the clock's");
    CHECK_STR(sent_header(2, STR("Authorization")),
              STR("PATRA-HMAC-SHA256 KeyId=me, Signature="
                  "6b7562ab861e0ef785469fa05c2b55dad8e0c59a44eff08d364c1b845b949573"),
              "as in test_signature");
    end();
}

/* ---- refusals ---- */

static const struct {
    const char *label;
    const char *url;
    bool allow_plain;
    const char *code;
} origins[] = {
    { "its own", "https://api.example.org/other/path", false, "" },
    { "its own, spelled differently", "https://API.example.org:443/", false, "" },
    { "a listed one", "https://files.example.org/x", false, "" },
    { "another host", "https://evil.example.com/", false, "auth.origin" },
    { "a host that begins alike", "https://api.example.org.evil.com/", false, "auth.origin" },
    { "another port", "https://api.example.org:8443/", false, "auth.origin" },
    { "plain", "http://api.example.org/", false, "auth.origin" },
    { "plain, allowed, but the base is not", "http://api.example.org/", true, "auth.origin" },
};

TEST(a_credential_is_sent_to_its_own_origin_only)
{
    const struct str listed[] = { STR("https://files.example.org") };
    struct http_auth auth = KEY_HEADER;

    auth.origins = listed;
    auth.origin_count = 1;
    for (size_t i = 0; i < ARRAY_LEN(origins); i++) {
        begin();
        script(200, "");
        CHECK_STR(str_of(try(&(struct http_request){ .url = str_of(origins[i].url),
                                                     .auth = &auth,
                                                     .allow_plain_http = origins[i].allow_plain })),
                  str_of(origins[i].code), origins[i].label);
        CHECK_EQ(world.scripted.sent.count, origins[i].code[0] == '\0', origins[i].label);
        if (origins[i].code[0] != '\0') {
            CHECK_EQ(world.err.level, ERROR_FATAL, origins[i].label);
            CHECK_EQ(world.secrets.asked, 0, "the secret was not even fetched");
        }
        end();
    }
}

TEST(a_plain_source_may_have_a_credential_when_that_was_allowed)
{
    struct http_auth auth = KEY_HEADER;

    auth.base_url = STR("http://localhost:8080/api");
    begin();
    script(200, "");
    CHECK_STR(
        str_of(try(&(struct http_request){
            .url = STR("http://localhost:8080/api/x"), .allow_plain_http = true, .auth = &auth })),
        STR(""), "sent");
    CHECK_STR(sent_header(0, STR("X-Key")), STR("Token s3cr3t"), "with it");
    end();
}

TEST(a_missing_secret_stops_the_source_unless_it_was_optional)
{
    struct http_auth auth = BEARER;

    begin();
    auth.secret = STR("env:NOWHERE");
    CHECK_STR(str_of(try(&(struct http_request){ URL, .auth = &auth })), STR("secret.missing"),
              "missing");
    CHECK_EQ(world.err.level, ERROR_FATAL, "level");
    CHECK_EQ(world.scripted.sent.count, 0, "not sent");
    auth.optional = true;
    script(200, "");
    CHECK_STR(str_of(try(&(struct http_request){ URL, .auth = &auth })), STR(""), "optional");
    CHECK(sent_header(0, STR("Authorization")).data == NULL, "sent without");
    end();
}

TEST(a_secret_cannot_change_the_message)
{
    struct http_auth auth = BEARER;

    begin();
    auth.secret = STR("env:LINES");
    CHECK_STR(str_of(try(&(struct http_request){ URL, .auth = &auth })), STR("auth.value"),
              "CR LF");
    CHECK(strstr(world.err.text, "X-B") == NULL, world.err.text);
    auth = SIGNED;
    auth.signing_hook = STR("nonsense");
    CHECK_STR(str_of(try(&(struct http_request){ URL, .auth = &auth })), STR("auth.hook"),
              "no hook");
    CHECK_EQ(world.scripted.sent.count, 0, "not sent");
    end();
}

TEST(no_error_text_holds_a_secret)
{
    static const struct http_auth *const all[] = { &KEY_HEADER, &KEY_QUERY, &BASIC,
                                                   &BEARER,     &SIGNED,    &OAUTH };
    static const char *const failures[] = { "http.reset", "http.too_large",
                                            "http.redirect_refused" };

    for (size_t i = 0; i < ARRAY_LEN(all) * ARRAY_LEN(failures); i++) {
        begin();
        if (all[i % ARRAY_LEN(all)]->type == AUTH_OAUTH2)
            script(200, "{\"access_token\":\"t0ken\"}");
        scripted_http_reply(&world.scripted,
                            &(struct scripted_reply){ .error_code = failures[i / ARRAY_LEN(all)] });
        CHECK_STR(str_of(try(&(struct http_request){ URL, .auth = all[i % ARRAY_LEN(all)] })),
                  str_of(failures[i / ARRAY_LEN(all)]), "failed");
        for (size_t k = 0; k < ARRAY_LEN(SECRETS); k++)
            CHECK(strcmp(SECRETS[k].value, "client") == 0 ||
                      strstr(world.err.text, SECRETS[k].value) == NULL,
                  world.err.text);
        CHECK(strstr(world.err.text, "K3Y") == NULL && strstr(world.err.text, "t0ken") == NULL,
              world.err.text);
        end();
    }
}

/* ---- tokens ---- */

static void script_token(const char *token, int seconds)
{
    static char bodies[16][100];
    static size_t next;
    char *body = bodies[next++ % ARRAY_LEN(bodies)];

    (void)snprintf(body, sizeof(bodies[0]),
                   "{\"access_token\":\"%s\",\"token_type\":\"Bearer\",\"expires_in\":%d}", token,
                   seconds);
    scripted_http_reply(
        &world.scripted,
        &(struct scripted_reply){ .url_part = STR("/token"), .status = 200, .body = str_of(body) });
}

static void script_works(int status)
{
    scripted_http_reply(&world.scripted,
                        &(struct scripted_reply){ .url_part = STR("/works"), .status = status });
}

static const char *get_works(void)
{
    return try(&(struct http_request){ URL, .auth = &OAUTH });
}

TEST(a_token_is_requested_once_and_kept_until_near_its_end)
{
    begin();
    script_token("t1", 600);
    script_token("t2", 600);
    for (int i = 0; i < 3; i++)
        script_works(200);
    CHECK_STR(str_of(get_works()), STR(""), "first");
    CHECK_STR(world.scripted.sent.items[0].url, OAUTH.token_url, "the token first");
    CHECK_STR(world.scripted.sent.items[0].body, STR("grant_type=client_credentials&scope=read"),
              "the grant");
    CHECK_STR(sent_header(0, STR("Authorization")), STR("Basic Y2xpZW50Omh1c2g="), "client:hush");
    CHECK_STR(sent_header(1, STR("Authorization")), STR("Bearer t1"), "then the request");
    virtual_clock_advance(&world.clock, 539 * US_PER_SECOND);
    CHECK_STR(str_of(get_works()), STR(""), "second");
    CHECK_STR(sent_header(2, STR("Authorization")), STR("Bearer t1"), "still good");
    virtual_clock_advance(&world.clock, 1 * US_PER_SECOND);
    CHECK_STR(str_of(get_works()), STR(""), "third");
    CHECK_STR(world.scripted.sent.items[3].url, OAUTH.token_url,
              "a minute before its end, a new one");
    CHECK_STR(sent_header(4, STR("Authorization")), STR("Bearer t2"), "the new one");
    CHECK_EQ(world.reply.attempts, 1, "once on the wire");
    end();
}

/* So that the request for it can have a permit of its own. */
TEST(a_request_is_not_ready_before_its_token_is_there)
{
    const struct http_request request = { URL, .auth = &OAUTH };
    const struct http_request bare = { URL };

    begin();
    script_token("t1", 600);
    script_works(200);
    CHECK(http_is_ready(world.http, &bare), "without a credential");
    CHECK(!http_is_ready(world.http, &request), "no token yet");
    REQUIRE_OK(http_make_ready(world.http, &request, &world.err), world.err);
    CHECK_EQ(world.scripted.sent.count, 1, "the token alone");
    CHECK(http_is_ready(world.http, &request), "there it is");
    CHECK_STR(str_of(get_works()), STR(""), "sent");
    CHECK_EQ(world.scripted.sent.count, 2, "with no other request");
    virtual_clock_advance(&world.clock, 540 * US_PER_SECOND);
    CHECK(!http_is_ready(world.http, &request), "near its end");
    end();
}

TEST(a_short_token_is_taken_out_of_texts_even_after_it_was_replaced)
{
    char text[] = "tokens 7k/Q9 and x4y%2Bz, not 7k/";
    size_t len;

    begin();
    script_token("7k/Q9", 600);
    script_token("x4y+z", 600);
    script_works(200);
    script_works(200);
    CHECK_STR(str_of(get_works()), STR(""), "first");
    virtual_clock_advance(&world.clock, 540 * US_PER_SECOND);
    CHECK_STR(str_of(get_works()), STR(""), "second");
    len = http_redact(world.http, text, strlen(text));
    CHECK_STR(((struct str){ text, len }), STR("tokens *** and ***, not 7k/"), "both");
    end();
}

TEST(a_token_is_used_to_its_end_while_its_server_fails)
{
    begin();
    script_token("t1", 600);
    scripted_http_reply(&world.scripted,
                        &(struct scripted_reply){ .url_part = STR("/token"), .status = 503 });
    scripted_http_reply(&world.scripted,
                        &(struct scripted_reply){ .url_part = STR("/token"), .status = 503 });
    for (int i = 0; i < 3; i++)
        script_works(200);
    CHECK_STR(str_of(get_works()), STR(""), "first");
    virtual_clock_advance(&world.clock, 550 * US_PER_SECOND);
    CHECK_STR(str_of(get_works()), STR(""), "fifty seconds are left of it");
    CHECK_STR(sent_header(3, STR("Authorization")), STR("Bearer t1"), "the old one");
    CHECK_STR(str_of(get_works()), STR(""), "again");
    CHECK_EQ(world.scripted.sent.count, 5, "and its server is not asked with every request");
    virtual_clock_advance(&world.clock, 50 * US_PER_SECOND);
    CHECK_STR(str_of(get_works()), STR("auth.token"), "its end has come");
    script_token("t2", 600);
    script_works(200);
    CHECK_STR(str_of(get_works()), STR(""), "at once, when there is none");
    end();
}

TEST(a_short_lived_token_is_kept_for_half_its_life)
{
    begin();
    script_token("t1", 40);
    script_token("t2", 40);
    for (int i = 0; i < 3; i++)
        script_works(200);
    CHECK_STR(str_of(get_works()), STR(""), "first");
    virtual_clock_advance(&world.clock, 19 * US_PER_SECOND);
    CHECK_STR(str_of(get_works()), STR(""), "second");
    CHECK_STR(sent_header(2, STR("Authorization")), STR("Bearer t1"), "kept");
    virtual_clock_advance(&world.clock, 1 * US_PER_SECOND);
    CHECK_STR(str_of(get_works()), STR(""), "third");
    CHECK_STR(sent_header(4, STR("Authorization")), STR("Bearer t2"), "replaced");
    end();
}

TEST(a_401_on_a_cached_token_brings_a_new_one)
{
    begin();
    script_token("t1", 600);
    script_token("t2", 600);
    script_token("t3", 600);
    script_works(200);
    script_works(401);
    script_works(200);
    script_works(401);
    script_works(401);
    CHECK_STR(str_of(get_works()), STR(""), "first");
    CHECK_STR(str_of(get_works()), STR(""), "second");
    CHECK_EQ(world.reply.status, 200, "healed");
    CHECK_EQ(world.reply.attempts, 3, "and counted, with the one for the token");
    CHECK_STR(sent_header(4, STR("Authorization")), STR("Bearer t2"), "the new one");
    CHECK_STR(str_of(get_works()), STR(""), "third");
    CHECK_EQ(world.reply.status, 401, "refused twice: that is the answer");
    CHECK_EQ(world.scripted.sent.count, 8, "no third attempt");
    end();
}

TEST(a_401_on_a_new_token_is_returned)
{
    begin();
    script_token("t1", 600);
    script_works(401);
    CHECK_STR(str_of(get_works()), STR(""), "sent");
    CHECK_EQ(world.reply.status, 401, "status");
    CHECK_EQ(world.scripted.sent.count, 2, "once");
    end();
}

TEST(started_requests_get_a_new_token_too)
{
    const struct http_request request = { URL, .auth = &OAUTH };
    struct http_ticket *ticket;

    begin();
    script_token("t1", 600);
    script_token("t2", 600);
    script_works(200);
    script_works(401);
    script_works(200);
    CHECK_STR(str_of(get_works()), STR(""), "first");
    REQUIRE_OK(http_start(world.http, &world.arena, &request, &ticket, &world.err), world.err);
    REQUIRE_OK(http_wait(ticket, &world.reply, &world.err), world.err);
    CHECK_EQ(world.reply.status, 200, "healed");
    CHECK_EQ(world.reply.attempts, 3, "counted, with the one for the token");
    REQUIRE_OK(http_start(world.http, &world.arena, &request, &ticket, &world.err), world.err);
    http_cancel(ticket);
    end();
}

static const struct {
    const char *label;
    int status;
    const char *body;
    const char *error;
    const char *code;
    enum error_level level;
} refusals[] = {
    { "wrong client", 401, "{\"error\":\"invalid_client\"}", NULL, "auth.token", ERROR_FATAL },
    { "bad request", 400, "{\"error\":\"invalid_scope\"}", NULL, "auth.token", ERROR_FATAL },
    { "no JSON", 200, "<html>", NULL, "auth.token", ERROR_FATAL },
    { "in trouble", 503, "", NULL, "auth.token", ERROR_TRANSIENT },
    { "too fast", 429, "", NULL, "auth.token", ERROR_TRANSIENT },
    { "gone", 0, "", "http.reset", "http.reset", ERROR_TRANSIENT },
    { "a wrong certificate", 0, "", "http.tls", "http.tls", ERROR_FATAL },
};

TEST(a_token_server_refuses_in_several_ways)
{
    for (size_t i = 0; i < ARRAY_LEN(refusals); i++) {
        begin();
        scripted_http_reply(&world.scripted,
                            &(struct scripted_reply){ .status = refusals[i].status,
                                                      .body = str_of(refusals[i].body),
                                                      .error_code = refusals[i].error });
        CHECK_STR(str_of(get_works()), str_of(refusals[i].code), refusals[i].label);
        CHECK_EQ(world.err.level, refusals[i].level, refusals[i].label);
        CHECK(strstr(world.err.text, "hush") == NULL, world.err.text);
        CHECK_EQ(world.scripted.sent.count, 1, "the request itself was not sent");
        script_token("t1", 600);
        script_works(200);
        CHECK_STR(str_of(get_works()), STR(""), "and when it says yes again, all is well");
        end();
    }
}

TEST(a_request_without_a_credential_passes_through)
{
    const struct http_auth none = { .type = AUTH_NONE };

    begin();
    script(200, "");
    script(200, "");
    CHECK_STR(str_of(try(&(struct http_request){ .url = STR("https://anywhere.org/") })), STR(""),
              "no auth");
    CHECK_STR(
        str_of(try(&(struct http_request){ .url = STR("https://anywhere.org/"), .auth = &none })),
        STR(""), "type NONE");
    CHECK_EQ(world.secrets.asked, 0, "no secret fetched");
    end();
}

TEST(a_proxy_that_is_a_reference_is_resolved)
{
    begin();
    script(200, "");
    script_token("t1", 600);
    script_works(200);
    CHECK_STR(str_of(try(&(struct http_request){ URL, .proxy = STR("env:PROXY") })), STR(""),
              "bare");
    CHECK_STR(world.scripted.sent.items[0].proxy, STR("http://u:hidden@proxy:3128"), "resolved");
    CHECK_STR(str_of(try(&(struct http_request){ URL, .auth = &OAUTH, .proxy = STR("env:PROXY") })),
              STR(""), "with a token");
    CHECK_STR(world.scripted.sent.items[1].proxy, STR("http://u:hidden@proxy:3128"),
              "for the token too");
    CHECK_STR(world.scripted.sent.items[2].proxy, STR("http://u:hidden@proxy:3128"),
              "and after it");
    CHECK_STR(str_of(try(&(struct http_request){ URL, .proxy = STR("env:NOWHERE") })),
              STR("secret.missing"), "not there");
    end();
}

/* ---- threads ---- */

enum { THREADS = 4 };

static struct thread {
    pthread_t thread;
    struct scripted_http scripted;
    bool ok;
} threads[THREADS];
static pthread_barrier_t barrier;

static void *ask_once(void *context)
{
    struct thread *self = context;
    struct fixed_secrets secrets;
    struct http_response reply;
    struct error err;
    struct arena arena;
    struct http *http;

    arena_init(&arena, 1 << 20);
    fixed_secrets_init(&secrets, SECRETS, ARRAY_LEN(SECRETS));
    if (!auth_http_open(&(struct auth_http_parts){ &self->scripted.http, world.tokens,
                                                   &secrets.source, &world.clock.clock },
                        &http, &err))
        return NULL;
    (void)pthread_barrier_wait(&barrier);
    self->ok =
        http_send(http, &arena, &(struct http_request){ URL, .auth = &OAUTH }, &reply, &err) &&
        reply.status == 200;
    http_close(http);
    arena_release(&arena);
    return NULL;
}

TEST(one_thread_requests_a_token_and_all_get_it)
{
    size_t asked = 0;

    begin();
    REQUIRE(pthread_barrier_init(&barrier, NULL, THREADS) == 0, "barrier");
    for (size_t i = 0; i < THREADS; i++) {
        scripted_http_init(&threads[i].scripted, NULL);
        scripted_http_reply(&threads[i].scripted,
                            &(struct scripted_reply){ .url_part = STR("/token"),
                                                      .status = 200,
                                                      .body = STR("{\"access_token\":\"t\"}") });
        scripted_http_reply(&threads[i].scripted,
                            &(struct scripted_reply){ .url_part = STR("/works"), .status = 200 });
        threads[i].ok = false;
        REQUIRE(pthread_create(&threads[i].thread, NULL, ask_once, &threads[i]) == 0, "thread");
    }
    for (size_t i = 0; i < THREADS; i++) {
        (void)pthread_join(threads[i].thread, NULL);
        CHECK(threads[i].ok, "answered");
        asked += threads[i].scripted.sent.count - 1;
        scripted_http_release(&threads[i].scripted);
    }
    CHECK_EQ(asked, 1, "one token for all");
    (void)pthread_barrier_destroy(&barrier);
    end();
}
