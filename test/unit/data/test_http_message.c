/* Headers, secrets, checks and copies of requests. */
#include "data/http_message.h"

#include <string.h>

#include "test.h"

static struct http_header headers[] = {
    { STR_INIT("Content-Type"), STR_INIT("text/plain") },
    { STR_INIT("Link"), STR_INIT("<a>; rel=next") },
    { STR_INIT("LINK"), STR_INIT("<b>; rel=last") },
    { STR_INIT("Empty"), STR_INIT("") },
};

TEST(a_header_is_found_in_any_case_and_every_time_it_occurs)
{
    const struct http_headers all = { headers, ARRAY_LEN(headers) };
    const struct http_header *link = http_header_find(all, STR("link"), NULL);

    CHECK_STR(http_header_value(all, STR("content-TYPE")), STR("text/plain"), "case");
    REQUIRE(link != NULL, "first");
    CHECK_STR(link->value, STR("<a>; rel=next"), "first");
    link = http_header_find(all, STR("link"), link);
    REQUIRE(link != NULL, "second");
    CHECK_STR(link->value, STR("<b>; rel=last"), "second");
    CHECK(http_header_find(all, STR("link"), link) == NULL, "no third");
    CHECK(http_header_value(all, STR("absent")).data == NULL, "absent");
    CHECK(http_header_value(all, STR("empty")).data != NULL, "there and empty");
}

static const struct http_header line_end[] = { { STR_INIT("X-A"), STR_INIT("1\r\nX-B: 2") } };
static const struct http_header bad_name[] = { { STR_INIT("X A"), STR_INIT("1") } };
static const struct http_header nul[] = { { STR_INIT("X-A"), STR_INIT("1\0002") } };
static const struct http_header host[] = { { STR_INIT("hOST"), STR_INIT("elsewhere") } };
static const struct http_header length[] = { { STR_INIT("Content-Length"), STR_INIT("5") } };

#define URL .url = STR_INIT("https://api.example.org/works")

static const struct {
    const char *label;
    struct http_request request;
    const char *code; /* NULL: accepted */
} checks[] = {
    { "the least", { URL }, NULL },
    { "POST", { .method = STR_INIT("POST"), URL, .body = STR_INIT("x") }, NULL },
    { "no URL", { .url = STR_INIT("api.example.org/works") }, "http.url" },
    { "a space", { .url = STR_INIT("https://api.example.org/a b") }, "http.url" },
    { "a file", { .url = STR_INIT("file:///etc/passwd") }, "http.url" },
    { "ftp", { .url = STR_INIT("ftp://host/x") }, "http.url" },
    { "a user", { .url = STR_INIT("https://me:pw@host/") }, "http.url" },
    { "plain", { .url = STR_INIT("http://host/") }, "http.plain" },
    { "plain, allowed", { .url = STR_INIT("http://host/"), .allow_plain_http = true }, NULL },
    { "GET with a body", { URL, .body = STR_INIT("x") }, "http.method" },
    { "two words", { .method = STR_INIT("GET /"), URL }, "http.method" },
    { "a line end in a header", { URL, .headers = line_end, .header_count = 1 }, "http.header" },
    { "a space in a name", { URL, .headers = bad_name, .header_count = 1 }, "http.header" },
    { "a NUL in a header", { URL, .headers = nul, .header_count = 1 }, "http.header" },
    { "Host", { URL, .headers = host, .header_count = 1 }, "http.header" },
    { "Content-Length", { URL, .headers = length, .header_count = 1 }, "http.header" },
    { "a line end in the id", { URL, .correlation_id = STR_INIT("a\nb") }, "http.header" },
    { "a line end in the trace", { URL, .traceparent = STR_INIT("a\rb") }, "http.header" },
    { "too patient", { URL, .timeouts.idle_us = HTTP_SILENCE_MAX_US + 1 }, "http.limit" },
    { "a proxy", { URL, .proxy = STR_INIT("http://me:S3CRET@proxy:3128") }, NULL },
    { "the environment's proxy", { URL, .proxy = STR_INIT("env") }, NULL },
    { "a proxy by another protocol", { URL, .proxy = STR_INIT("ftp://S3CRET@proxy") }, "http.url" },
    { "a proxy that is still a reference", { URL, .proxy = STR_INIT("env:PROXY") }, "http.url" },
    { "negative", { URL, .timeouts.connect_us = -1 }, "http.limit" },
    { "too large", { URL, .limits.body_bytes_max = HTTP_BODY_BYTES_MAX + 1 }, "http.limit" },
    { "too many redirects", { URL, .redirects_max = HTTP_REDIRECTS_MAX + 1 }, "http.limit" },
};

TEST(a_request_that_could_change_its_message_is_refused)
{
    for (size_t i = 0; i < ARRAY_LEN(checks); i++) {
        struct http_request request = checks[i].request;
        struct error err = { 0 };
        const bool ok = http_request_check(&request, &err);

        CHECK_EQ(ok, checks[i].code == NULL, checks[i].label);
        if (!ok && checks[i].code != NULL)
            CHECK_STR(str_of(err.code), str_of(checks[i].code), checks[i].label);
        if (!ok)
            CHECK_EQ(err.level, ERROR_REQUEST, checks[i].label);
        if (!ok)
            CHECK(strstr(err.text, "S3CRET") == NULL, err.text);
    }
}

TEST(what_a_request_leaves_open_gets_its_default)
{
    struct http_request request = { URL };
    struct error err;

    REQUIRE_OK(http_request_check(&request, &err), err);
    CHECK_STR(request.method, STR("GET"), "method");
    CHECK_EQ(request.timeouts.connect_us, 10000000, "seed 004 4.2: 10 s to connect");
    CHECK_EQ(request.timeouts.idle_us, 30000000, "30 s of silence");
    CHECK(request.timeouts.total_us > 0 && request.limits.body_bytes_max > 0 &&
              request.limits.inflated_bytes_max > 0 && request.limits.header_bytes_max > 0 &&
              request.limits.headers_max > 0,
          "everything has a limit");
    CHECK_EQ(request.redirects_max, 0, "redirects are off");
}

static const struct {
    const char *label;
    struct str url;
    struct str told;
} titles[] = {
    { "nothing to hide", STR_INIT("https://h/p?a=1"), STR_INIT("GET https://h/p?a=1") },
    { "its own name", STR_INIT("https://h/p?k=S3CRET&a=1"), STR_INIT("GET https://h/p?k=***&a=1") },
    { "any case", STR_INIT("https://h/p?K=S3CRET"), STR_INIT("GET https://h/p?K=***") },
    { "always meant", STR_INIT("https://h/?api_key=S3CRET"),
      STR_INIT("GET https://h/?api_key=***") },
    { "a user", STR_INIT("https://me:S3CRET@h/p"), STR_INIT("GET https://***@h/p") },
    { "no URL", STR_INIT("h/p?k=S3CRET"), STR_INIT("GET h/p?k=***") },
};

TEST(no_secret_is_shown)
{
    const struct str names[] = { STR("k") };
    const struct http_request request = { .secret_names = names, .secret_count = 1 };

    for (size_t i = 0; i < ARRAY_LEN(titles); i++) {
        const struct http_title title = http_title(&request, titles[i].url);

        CHECK_STR(str_of(title.text), titles[i].told, titles[i].label);
    }
}

TEST(no_secret_is_told_by_a_refusal)
{
    static const char *const urls[] = { "https://h/p?api_key=S3CRET&x=a b", "h/p?api_key=S3CRET",
                                        "https://me:S3CRET@h/", "http://h/?api_key=S3CRET",
                                        "gopher://h/?api_key=S3CRET" };

    for (size_t i = 0; i < ARRAY_LEN(urls); i++) {
        struct http_request request = { .url = str_of(urls[i]) };
        struct error err = { 0 };

        CHECK(!http_request_check(&request, &err), urls[i]);
        CHECK(strstr(err.text, "S3CRET") == NULL, urls[i]);
    }
}

TEST(a_copy_looks_at_nothing_of_the_original)
{
    char url[] = "https://h/p", name[] = "X-A", value[] = "1", secret[] = "k",
         origin[] = "https://o";
    struct http_header header = { str_of(name), str_of(value) };
    struct str names[] = { str_of(secret) }, origins[] = { str_of(origin) };
    const struct http_request request = {
        .url = str_of(url),
        .headers = &header,
        .header_count = 1,
        .secret_names = names,
        .secret_count = 1,
        .redirect_origins = origins,
        .redirect_origin_count = 1,
    };
    struct http_request copy;
    struct arena arena;
    struct error err;

    arena_init(&arena, 4096);
    REQUIRE_OK(http_request_copy(&arena, &request, &copy, &err), err);
    memset(url, '!', sizeof(url) - 1);
    memset(name, '!', sizeof(name) - 1);
    memset(value, '!', sizeof(value) - 1);
    memset(secret, '!', sizeof(secret) - 1);
    memset(origin, '!', sizeof(origin) - 1);
    header = (struct http_header){ 0 };
    CHECK_STR(copy.url, STR("https://h/p"), "url");
    CHECK_STR(copy.headers[0].name, STR("X-A"), "name");
    CHECK_STR(copy.headers[0].value, STR("1"), "value");
    CHECK_STR(copy.secret_names[0], STR("k"), "secret");
    CHECK_STR(copy.redirect_origins[0], STR("https://o"), "origin");
    arena_release(&arena);
}

TEST(a_copy_that_does_not_fit_is_an_error)
{
    const struct http_request request = { URL, .headers = headers,
                                          .header_count = ARRAY_LEN(headers) };

    for (size_t n = 1; n < 40; n++) {
        struct http_request copy;
        struct arena arena;
        struct error err = { 0 };
        bool ok;

        arena_init(&arena, 4096);
        arena.fail_at = n;
        ok = http_request_copy(&arena, &request, &copy, &err);
        CHECK(ok || strcmp(err.code, "memory.limit") == 0, "memory.limit");
        arena_release(&arena);
        if (ok) {
            CHECK(n > 10, "every part was allocated");
            return;
        }
    }
    CHECK(false, "it fits at last");
}
