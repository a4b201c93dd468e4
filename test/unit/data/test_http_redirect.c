/* Where a redirect may lead, and what is sent there. */
#include "data/http_redirect.h"

#include <string.h>

#include "test.h"

static const struct str LISTED[] = { STR_INIT("https://cdn.example.org"),
                                     STR_INIT("http://plain.example.org:8080") };

#define HOME STR_INIT("https://api.example.org/works?api_key=S3CRET")

static const struct {
    const char *label;
    int status;
    const char *location;
    const char *method;
    int max;
    int followed;
    const char *next; /* NULL: stays; "" with refused */
    const char *refused;
    bool leaves;
} cases[] = {
    { "off", 302, "/new", "GET", 0, 0, NULL, NULL, false },
    { "not a redirect", 200, "/new", "GET", 3, 0, NULL, NULL, false },
    { "not modified", 304, "/new", "GET", 3, 0, NULL, NULL, false },
    { "no Location", 302, NULL, "GET", 3, 0, NULL, NULL, false },
    { "same origin, path", 302, "/new", "GET", 3, 0, "https://api.example.org/new", NULL, false },
    { "same origin, whole", 301, "https://API.example.org:443/new", "GET", 3, 0,
      "https://API.example.org:443/new", NULL, false },
    { "HEAD", 308, "/new", "HEAD", 3, 0, "https://api.example.org/new", NULL, false },
    { "a fragment", 307, "/new#part", "GET", 3, 0, "https://api.example.org/new", NULL, false },
    { "no scheme", 302, "//cdn.example.org/x", "GET", 3, 0, "https://cdn.example.org/x", NULL,
      true },
    { "listed", 303, "https://cdn.example.org/x", "GET", 3, 0, "https://cdn.example.org/x", NULL,
      true },
    { "listed as plain", 302, "http://plain.example.org:8080/x", "GET", 3, 0,
      "http://plain.example.org:8080/x", NULL, true },
    { "POST", 302, "/new", "POST", 3, 0, "", "only GET and HEAD", false },
    { "POST that keeps its method", 307, "/new", "POST", 3, 0, "", "only GET and HEAD", false },
    { "one too many", 302, "/new", "GET", 2, 2, "", "redirects_max", false },
    { "to itself", 302, "/works?api_key=S3CRET", "GET", 3, 0, "", "itself", false },
    { "another host", 302, "https://evil.example.com/x", "GET", 3, 0, "", "evil.example.com:443",
      false },
    { "another port", 302, "https://api.example.org:8443/x", "GET", 3, 0, "", ":8443", false },
    { "down to plain", 302, "http://api.example.org/x", "GET", 3, 0, "", "another origin", false },
    { "a listed host, another port", 302, "https://cdn.example.org:444/x", "GET", 3, 0, "",
      "another origin", false },
    { "a host that begins alike", 302, "https://api.example.org.evil.com/", "GET", 3, 0, "",
      "another origin", false },
    { "a user that looks like the host", 302, "https://api.example.org@evil.com/", "GET", 3, 0, "",
      "not a usable URL", false },
    { "another scheme", 302, "file:///etc/passwd", "GET", 3, 0, "", "not a usable URL", false },
    { "script", 302, "javascript:alert(1)", "GET", 3, 0, "", "redirect refused", false },
    { "a secret carried to a listed host", 302, "https://cdn.example.org/x?api_key=S3CRET", "GET",
      3, 0, "", "secret", false },
};

TEST(a_redirect_is_followed_only_where_it_may_lead)
{
    struct arena arena;

    arena_init(&arena, 1 << 20);
    for (size_t i = 0; i < ARRAY_LEN(cases); i++) {
        struct http_header location = { STR("Location"), str_of(cases[i].location) };
        const struct http_request request = {
            .method = str_of(cases[i].method),
            .url = HOME,
            .redirects_max = cases[i].max,
            .redirect_origins = LISTED,
            .redirect_origin_count = ARRAY_LEN(LISTED),
        };
        const struct http_response reply = { .status = cases[i].status,
                                             .headers = { &location, cases[i].location != NULL } };
        struct http_hop hop;
        struct error err = { 0 };
        const bool ok = http_redirect(
            &arena, &(struct http_arrival){ &request, request.url, cases[i].followed, &reply },
            &hop, &err);

        CHECK_EQ(ok, cases[i].refused == NULL, cases[i].label);
        if (!ok) {
            CHECK_STR(str_of(err.code), STR("http.redirect_refused"), cases[i].label);
            CHECK(cases[i].refused != NULL && strstr(err.text, cases[i].refused) != NULL, err.text);
            CHECK(strstr(err.text, "S3CRET") == NULL, cases[i].label);
            continue;
        }
        CHECK_STR(hop.url, str_of(cases[i].next), cases[i].label);
        CHECK_EQ(hop.leaves_origin, cases[i].leaves, cases[i].label);
    }
    arena_release(&arena);
}

TEST(secret_headers_are_not_sent_to_another_origin)
{
    static const struct http_header headers[] = {
        { STR_INIT("Authorization"), STR_INIT("Bearer S3CRET") },
        { STR_INIT("Accept"), STR_INIT("application/json") },
        { STR_INIT("X-My-Key"), STR_INIT("S3CRET") },
        { STR_INIT("Cookie"), STR_INIT("S3CRET") },
    };
    const struct str names[] = { STR("x-my-key") };
    struct http_request request = { .url = HOME,
                                    .headers = headers,
                                    .header_count = ARRAY_LEN(headers),
                                    .secret_names = names,
                                    .secret_count = 1 };
    const struct http_hop home = { STR("https://api.example.org/new"), false };
    const struct http_hop away = { STR("https://cdn.example.org/x"), true };
    struct arena arena;
    struct error err;

    arena_init(&arena, 4096);
    REQUIRE_OK(http_hop_request(&arena, &request, &home, &request, &err), err);
    CHECK_EQ(request.header_count, 4, "the same origin gets all");
    REQUIRE_OK(http_hop_request(&arena, &request, &away, &request, &err), err);
    CHECK_EQ(request.header_count, 1, "another origin gets what is not secret");
    CHECK_STR(request.headers[0].name, STR("Accept"), "the one left");
    CHECK_STR(request.url, away.url, "url");
    REQUIRE_OK(http_hop_request(&arena, &request, &home, &request, &err), err);
    CHECK_EQ(request.header_count, 1, "and they do not come back with the origin");
    arena_release(&arena);
}
