/* URLs: parsing, resolving, encoding, redacting. */
#include "data/url.h"

#include "test.h"

static struct arena arena;

static struct buf buffer(void)
{
    struct buf out;

    if (arena.limit == 0)
        arena_init(&arena, 1 << 20);
    arena_reset(&arena);
    buf_init(&out, &arena, 10000);
    return out;
}

static struct str done(const struct buf *out)
{
    struct error err;

    REQUIRE_OK(buf_ok(out, &err), err);
    return buf_str(out);
}

TEST(url_is_taken_apart)
{
    static const struct {
        const char *text;
        const char *scheme, *userinfo, *host;
        int port;
        const char *path, *query, *fragment;
    } cases[] = {
        { "https://api.crossref.org/works?rows=2#x", "https", NULL, "api.crossref.org", 443,
          "/works", "rows=2", "x" },
        { "http://h", "http", NULL, "h", 80, "", NULL, NULL },
        { "HTTP://H:8080?", "HTTP", NULL, "H", 8080, "", "", NULL },
        { "http://u:p@h:/p", "http", "u:p", "h", 80, "/p", NULL, NULL },
        { "http://[::1]:81/", "http", NULL, "[::1]", 81, "/", NULL, NULL },
        { "http://[2001:db8::7]/a?b?c#d#e", "http", NULL, "[2001:db8::7]", 80, "/a", "b?c", "d#e" },
        { "nats://h/", "nats", NULL, "h", 0, "/", NULL, NULL },
        { "http://h#f?g", "http", NULL, "h", 80, "", NULL, "f?g" },
    };

    for (size_t i = 0; i < ARRAY_LEN(cases); i++) {
        struct url url;
        struct error err;

        REQUIRE_OK(url_parse(str_of(cases[i].text), &url, &err), err);
        CHECK_STR(url.scheme, str_of(cases[i].scheme), cases[i].text);
        CHECK_STR(url.userinfo, str_of(cases[i].userinfo), cases[i].text);
        CHECK_STR(url.host, str_of(cases[i].host), cases[i].text);
        CHECK_EQ(url.port, cases[i].port, cases[i].text);
        CHECK_STR(url.path, str_of(cases[i].path), cases[i].text);
        CHECK_STR(url.query, str_of(cases[i].query), cases[i].text);
        CHECK_EQ(url.query.data == NULL, cases[i].query == NULL, cases[i].text);
        CHECK_STR(url.fragment, str_of(cases[i].fragment), cases[i].text);
    }
}

TEST(url_that_a_browser_would_mend_is_refused)
{
    static const char *const refused[] = {
        "",
        "/works",
        "//h/p",
        "http:/h",
        "http:h",
        "http://",
        "http:///p",
        "http://h:0/",
        "http://h:65536/",
        "http://h:8x/",
        "http://h p/",
        "http://h/a b",
        "http://h\\@evil/",
        "http://h/\\evil",
        "http://good@evil@h/",
        "http://h\r\n/",
        "http://h/\x01",
        "http://h\xC3\xA9/",
        "http://[::1/",
        "http://::1/",
        "http://h%2eorg/",
        "1http://h/",
        "ht tp://h/",
    };

    for (size_t i = 0; i < ARRAY_LEN(refused); i++) {
        struct url url;
        struct error err = { 0 };

        CHECK(!url_parse(str_of(refused[i]), &url, &err), refused[i]);
        CHECK_STR(str_of(err.code), STR("url.syntax"), refused[i]);
    }
}

TEST(url_origin_is_scheme_host_and_port)
{
    static const struct {
        const char *other;
        bool same;
    } cases[] = {
        { "https://api.example.org/next", true },
        { "HTTPS://API.example.ORG:443/", true },
        { "http://api.example.org/", false },
        { "https://api.example.org:444/", false },
        { "https://example.org/", false },
        { "https://api.example.org.evil.org/", false },
        { "https://api.example.org@evil.org/", false },
        { "https://evil.org/#@api.example.org/", false },
    };
    struct url base, other;
    struct error err;

    REQUIRE_OK(url_parse(STR("https://api.example.org/works"), &base, &err), err);
    for (size_t i = 0; i < ARRAY_LEN(cases); i++) {
        REQUIRE_OK(url_parse(str_of(cases[i].other), &other, &err), err);
        CHECK_EQ(url_same_origin(&base, &other), cases[i].same, cases[i].other);
    }
}

/* RFC 3986 section 5.4, all of its examples that have a host. */
TEST(url_resolve_keeps_the_examples_of_the_rfc)
{
    static const struct {
        const char *reference;
        const char *url;
    } cases[] = {
        { "g", "http://a/b/c/g" },
        { "./g", "http://a/b/c/g" },
        { "g/", "http://a/b/c/g/" },
        { "/g", "http://a/g" },
        { "//g", "http://g" },
        { "?y", "http://a/b/c/d;p?y" },
        { "g?y", "http://a/b/c/g?y" },
        { "#s", "http://a/b/c/d;p?q#s" },
        { "g#s", "http://a/b/c/g#s" },
        { "g?y#s", "http://a/b/c/g?y#s" },
        { ";x", "http://a/b/c/;x" },
        { "g;x", "http://a/b/c/g;x" },
        { "g;x?y#s", "http://a/b/c/g;x?y#s" },
        { "", "http://a/b/c/d;p?q" },
        { ".", "http://a/b/c/" },
        { "./", "http://a/b/c/" },
        { "..", "http://a/b/" },
        { "../", "http://a/b/" },
        { "../g", "http://a/b/g" },
        { "../..", "http://a/" },
        { "../../", "http://a/" },
        { "../../g", "http://a/g" },
        { "../../../g", "http://a/g" },
        { "../../../../g", "http://a/g" },
        { "/./g", "http://a/g" },
        { "/../g", "http://a/g" },
        { "g.", "http://a/b/c/g." },
        { ".g", "http://a/b/c/.g" },
        { "g..", "http://a/b/c/g.." },
        { "..g", "http://a/b/c/..g" },
        { "./../g", "http://a/b/g" },
        { "./g/.", "http://a/b/c/g/" },
        { "g/./h", "http://a/b/c/g/h" },
        { "g/../h", "http://a/b/c/h" },
        { "g;x=1/./y", "http://a/b/c/g;x=1/y" },
        { "g;x=1/../y", "http://a/b/c/y" },
        { "g?y/./x", "http://a/b/c/g?y/./x" },
        { "g?y/../x", "http://a/b/c/g?y/../x" },
        { "g#s/./x", "http://a/b/c/g#s/./x" },
        { "g#s/../x", "http://a/b/c/g#s/../x" },
        { "https://h/../x", "https://h/x" },
    };
    struct str url;
    struct error err;

    (void)buffer();
    for (size_t i = 0; i < ARRAY_LEN(cases); i++) {
        REQUIRE_OK(
            url_resolve(&arena, STR("http://a/b/c/d;p?q"), str_of(cases[i].reference), &url, &err),
            err);
        CHECK_STR(url, str_of(cases[i].url), cases[i].reference);
    }
    REQUIRE_OK(url_resolve(&arena, STR("http://a"), STR("g"), &url, &err), err);
    CHECK_STR(url, STR("http://a/g"), "a base without a path");
    CHECK(!url_resolve(&arena, STR("http://a/"), STR("g:h"), &url, &err), "no host");
    CHECK(!url_resolve(&arena, STR("http://a/"), STR("mailto:x@h"), &url, &err), "no host");
    CHECK(!url_resolve(&arena, STR("http://a/"), STR("a b"), &url, &err), "a space");
    CHECK(!url_resolve(&arena, STR("/a"), STR("b"), &url, &err), "a base that is none");
}

TEST(url_encoding_depends_on_the_place)
{
    static const char all[] = "aZ09-._~ !\"#$%&'()*+,/:;<=>?@[\\]^`{|}\x01\x7F\xC3\xA9";
    static const struct {
        enum url_place place;
        const char *text;
    } cases[] = {
        { URL_QUERY, "aZ09-._~%20%21%22%23%24%25%26%27%28%29%2A%2B%2C%2F%3A%3B%3C%3D%3E%3F%40%5B%5C"
                     "%5D%5E%60%7B%7C%7D%01%7F%C3%A9" },
        { URL_PATH, "aZ09-._~%20%21%22%23%24%25%26%27%28%29%2A%2B%2C%2F%3A%3B%3C%3D%3E%3F%40%5B%5C"
                    "%5D%5E%60%7B%7C%7D%01%7F%C3%A9" },
        { URL_FORM, "aZ09-._%7E+%21%22%23%24%25%26%27%28%29*%2B%2C%2F%3A%3B%3C%3D%3E%3F%40%5B%5C"
                    "%5D%5E%60%7B%7C%7D%01%7F%C3%A9" },
    };

    for (size_t i = 0; i < ARRAY_LEN(cases); i++) {
        struct buf out = buffer();

        url_encode(&out, str_of(all), cases[i].place);
        CHECK_STR(done(&out), str_of(cases[i].text), "place");
    }
}

TEST(url_decoding_depends_on_the_place_and_leaves_what_is_no_escape)
{
    static const struct {
        const char *text, *in_path, *in_query;
    } cases[] = {
        { "", "", "" },
        { "a%2Fb%2fc", "a/b/c", "a/b/c" },
        { "a+b%2B", "a+b+", "a b+" },
        { "%", "%", "%" },
        { "%4", "%4", "%4" },
        { "%41%4", "A%4", "A%4" },
        { "%zz%4g%g4", "%zz%4g%g4", "%zz%4g%g4" },
        { "%%41", "%A", "%A" },
        { "%2541", "%41", "%41" },
        { "%C3%A9", "\xC3\xA9", "\xC3\xA9" },
    };
    struct str text;

    (void)buffer();
    for (size_t i = 0; i < ARRAY_LEN(cases); i++) {
        text = url_decode(&arena, str_of(cases[i].text), URL_PATH);
        CHECK_STR(text, str_of(cases[i].in_path), cases[i].text);
        CHECK_EQ(text.data[text.len], '\0', cases[i].text);
        text = url_decode(&arena, str_of(cases[i].text), URL_QUERY);
        CHECK_STR(text, str_of(cases[i].in_query), cases[i].text);
        text = url_decode(&arena, str_of(cases[i].text), URL_FORM);
        CHECK_STR(text, str_of(cases[i].in_query), cases[i].text);
    }
    CHECK_STR(url_decode(&arena, STR("a%00b"), URL_PATH), STR("a\0b"), "a NUL");
    CHECK(url_is_escape(STR("a%fF"), 1), "at the end");
    CHECK(!url_is_escape(STR("a%fF"), 0) && !url_is_escape(STR("a%fF"), 4), "beside it");
    CHECK(!url_is_escape(str_slice(STR("a%fF"), 0, 3), 1), "one digit");
}

TEST(url_decoding_tells_of_an_arena_that_is_full)
{
    struct arena small;

    arena_init(&small, 1);
    CHECK(url_decode(&small, STR("a"), URL_PATH).data == NULL, "no room");
    CHECK(small.failed, "no room");
    arena_release(&small);
}

/* Every byte, encoded into a query and found again by a decoder. */
TEST(url_query_gives_back_what_was_put_in)
{
    char bytes[256];
    struct str value;
    struct url url;
    struct error err;
    struct buf out = buffer();

    for (int i = 0; i < 256; i++)
        bytes[i] = (char)i;
    url_begin(&out, STR("http://h/api/"), STR("/works"));
    url_add(&out, STR("a"), STR(""));
    url_add(&out, STR("a b&c"), (struct str){ bytes, sizeof(bytes) });
    url_add(&out, STR("page[size]"), STR("25"));
    REQUIRE_OK(url_parse(done(&out), &url, &err), err);
    CHECK_STR(url.path, STR("/api/works"), "path");
    REQUIRE(url_query_find(&arena, url.query, STR("a b&c"), &value), "all bytes");
    CHECK_STR(value, ((struct str){ bytes, sizeof(bytes) }), "all bytes");
    REQUIRE(url_query_find(&arena, url.query, STR("page[size]"), &value), "brackets");
    CHECK_STR(value, STR("25"), "brackets");
    REQUIRE(url_query_find(&arena, url.query, STR("a"), &value) && value.data != NULL, "empty");
    CHECK_EQ(value.len, 0, "empty");
    CHECK(!url_query_find(&arena, url.query, STR("b"), &value), "absent");
    REQUIRE(url_query_find(&arena, STR("x=1+2%2b%zz%4"), STR("x"), &value), "odd escapes");
    CHECK_STR(value, STR("1 2+%zz%4"), "odd escapes stay as they are");
}

TEST(url_is_put_together_with_one_slash_and_one_question_mark)
{
    static const struct {
        const char *base, *path, *url;
    } cases[] = {
        { "http://h", "works", "http://h/works?a=1&b=2" },
        { "http://h", "/works", "http://h/works?a=1&b=2" },
        { "http://h/", "/works", "http://h/works?a=1&b=2" },
        { "http://h/v1/", "works", "http://h/v1/works?a=1&b=2" },
        { "http://h/v1", "", "http://h/v1?a=1&b=2" },
        { "http://h/", "", "http://h/?a=1&b=2" },
        { "http://h", "/works?x=0", "http://h/works?x=0&a=1&b=2" },
        { "http://h?", "", "http://h?a=1&b=2" },
    };

    for (size_t i = 0; i < ARRAY_LEN(cases); i++) {
        struct buf out = buffer();

        url_begin(&out, str_of(cases[i].base), str_of(cases[i].path));
        url_add(&out, STR("a"), STR("1"));
        url_add_encoded(&out, STR("b"), STR("2"));
        CHECK_STR(done(&out), str_of(cases[i].url), cases[i].url);
    }
}

TEST(url_redact_hides_userinfo_and_named_parameters)
{
    static const struct {
        const char *text;
        const char *shown;
    } cases[] = {
        { "https://h/p?api_key=SECRET&rows=2", "https://h/p?api_key=***&rows=2" },
        { "https://h/p?rows=2&API_KEY=SECRET", "https://h/p?rows=2&API_KEY=***" },
        { "https://h/p?api%5Fkey=SECRET#f", "https://h/p?api%5Fkey=***#f" },
        { "https://user:SECRET@h:8/p?x=1", "https://***@h:8/p?x=1" },
        { "https://a@b:SECRET@h/", "https://***@h/" },
        { "https://h/p?token=SECRET;token=SECRET", "https://h/p?token=***;token=***" },
        { "https://h/p#token=SECRET", "https://h/p#token=***" },
        { "/p?token=SECRET", "/p?token=***" },
        { "https://h/p?token", "https://h/p?token" },
        { "https://h/p?mytoken=1&token2=2", "https://h/p?mytoken=1&token2=2" },
        { "https://h/p?next=a?token=SECRET", "https://h/p?next=a?token=***" },
        { "https://h/p?token=SE=CRET", "https://h/p?token=***" },
        { "not a url token=1", "not a url token=1" },
        { "", "" },
    };
    static const struct str names[] = { STR_INIT("api_key"), STR_INIT("token") };

    for (size_t i = 0; i < ARRAY_LEN(cases); i++) {
        struct buf out = buffer();

        url_redact(&out, str_of(cases[i].text), names, ARRAY_LEN(names));
        CHECK_STR(done(&out), str_of(cases[i].shown), cases[i].text);
    }
    arena_release(&arena);
}

static const char *const passwords[][2] = {
    { "http://me:word@proxy:3128", "word" },
    { "http://me:a%2Fb%40c+d@proxy:3128/", "a/b@c+d" },
    { "http://me:a@b@proxy", "a@b" },
    { "http://me:w:rd@proxy", "w:rd" },
    { "http://me:100%@proxy", "100%" },
    { "http://me@proxy", "" },
    { "http://proxy:3128/a:b@c", "" },
    { "proxy:3128", "" },
    { "", "" },
};

TEST(the_password_of_a_url_is_found_and_decoded)
{
    for (size_t i = 0; i < ARRAY_LEN(passwords); i++) {
        char room[16];
        const size_t len = url_password(str_of(passwords[i][0]), room, sizeof(room));

        CHECK_STR(((struct str){ room, len }), str_of(passwords[i][1]), passwords[i][0]);
    }
    CHECK_EQ(url_password(STR("http://me:longer@proxy"), (char[4]){ 0 }, 4), 0, "no room");
}
