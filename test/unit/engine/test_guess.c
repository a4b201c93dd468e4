/* Guesses from answers of shapes that no shipped source has, and what may never be written. */
#include <stdio.h>
#include <string.h>

#include "data/saved_response.h"
#include "data/xml.h"
#include "engine/guess/guess.h"
#include "engine/guess/guess_words.h"
#include "spec/check.h"
#include "test.h"

struct rig {
    struct arena arena;
    struct guess guess;
    struct str file;
    struct error err;
};

/* answer: as curl -i writes it, or a body; NULL: there is none. */
static bool make(struct rig *rig, const char *url, const char *answer)
{
    struct saved_response saved = { .text = str_of(answer) };
    struct http_response reply = { 0 };
    struct fault_list faults;
    struct source source;
    struct buf text;

    *rig = (struct rig){ 0 };
    arena_init(&rig->arena, (size_t)64 << 20);
    REQUIRE_OK(answer == NULL || saved_response_read(&saved, &rig->arena, &reply, &rig->err),
               rig->err);
    if (!guess_make(&rig->guess, &rig->arena,
                    &(struct guess_input){ .name = STR("demo"),
                                           .url = str_of(url),
                                           .reply = answer != NULL ? &reply : NULL,
                                           .xml = &xml_module },
                    &rig->err))
        return false;
    buf_init(&text, &rig->arena, (size_t)1 << 20);
    guess_write(&rig->guess, &text);
    rig->file = buf_str(&text);
    fault_list_init(&faults, &rig->arena);
    if (!source_lint(&rig->arena, &xml_module, &(struct source_text){ .file = rig->file }, &faults,
                     &source)) {
        CHECK(!fault_list_ok(&faults, &rig->err), "a list of faults");
        test_note("%.*s\n%s", STR_ARG(rig->file), rig->err.text);
        CHECK(false, "the file has no errors");
    }
    return true;
}

static bool has(const struct rig *rig, const char *text)
{
    return str_find(rig->file, str_of(text)) < rig->file.len;
}

static void end(struct rig *rig)
{
    arena_release(&rig->arena);
}

TEST(words_of_names)
{
    static const struct {
        const char *name;
        const char *words;
    } cases[] = {
        { "lastUpdatePostDateStruct", "last update post date struct " },
        { "next-cursor", "next cursor " },
        { "@odata.nextLink", "odata next link " },
        { "DOI", "doi " },
        { "DOIList", "doi list " },
        { "page[size]", "page size " },
        { "total_count_total", "total count " },
        { "", "" },
        { "--", "" },
    };

    for (size_t i = 0; i < ARRAY_LEN(cases); i++) {
        struct guess_words words = { 0 };
        char text[256] = "";

        guess_words_add(&words, str_of(cases[i].name));
        for (size_t j = 0; j < words.count; j++) {
            strcat(text, words.items[j]);
            strcat(text, " ");
        }
        CHECK_STR(str_of(text), str_of(cases[i].words), cases[i].name);
    }
}

TEST(an_array_with_a_link_header)
{
    struct rig rig;

    REQUIRE_OK(make(&rig, "https://api.example.org/repos?per_page=2&page=1",
                    "HTTP/2 200\n"
                    "link: <https://api.example.org/repos?page=2>; rel=\"next\"\n"
                    "\n"
                    "[{\"id\":1,\"node\":\"x\",\"updated_at\":\"2026-01-02T03:04:05Z\"},"
                    "{\"id\":2,\"node\":\"y\",\"updated_at\":\"2026-01-03T03:04:05Z\"}]"),
               rig.err);
    CHECK_STR(rig.guess.items.path, STR("$"), "items");
    CHECK_STR(rig.guess.id.path, STR("$.id"), "id");
    CHECK_STR(rig.guess.updated_at.path, STR("$.updated_at"), "date");
    CHECK_STR(rig.guess.date_format, STR("rfc3339"), "format");
    CHECK_EQ(rig.guess.total.path.len, 0, "no total");
    CHECK_EQ(rig.guess.page.type, PAGINATION_URL, "paging");
    CHECK_STR(rig.guess.page.next_header, STR("Link"), "header");
    CHECK(has(&rig, "size: 2"), "page size");
    CHECK(has(&rig, "# TODO total"), "what was not found is a TODO");
    end(&rig);
}

TEST(links_with_relations)
{
    struct rig rig;

    REQUIRE_OK(make(&rig, "https://api.example.org/v1/books?since=2026-01-01",
                    "{\"links\":[{\"rel\":\"self\",\"href\":\"/v1/books\"},"
                    "{\"rel\":\"next\",\"href\":\"/v1/books?c=2\"}],"
                    "\"books\":[{\"isbn\":\"a\",\"key\":\"k1\",\"modified\":1767323045},"
                    "{\"isbn\":\"b\",\"key\":\"k2\",\"modified\":1767323046}]}"),
               rig.err);
    CHECK_STR(rig.guess.items.path, STR("$.books"), "items");
    CHECK_STR(rig.guess.id.path, STR("$.key"), "id");
    CHECK_STR(rig.guess.updated_at.path, STR("$.modified"), "date");
    CHECK_STR(rig.guess.date_format, STR("epoch_s"), "format");
    CHECK_STR(rig.guess.page.next.path, STR("$.links[?@.rel=='next'].href"), "next");
    CHECK(has(&rig, "since: \"${date(window.from)}\""), "window");
    CHECK(has(&rig, "granularity: day"), "granularity");
    end(&rig);
}

TEST(an_atom_feed_of_one_entry)
{
    struct rig rig;

    REQUIRE_OK(make(&rig, "https://example.org/feed",
                    "<feed xmlns=\"http://www.w3.org/2005/Atom\"><title>t</title>"
                    "<link rel=\"self\" href=\"/feed\"/><link rel=\"next\" href=\"/feed?p=2\"/>"
                    "<entry><id>urn:1</id><updated>2026-01-02T03:04:05Z</updated></entry></feed>"),
               rig.err);
    CHECK_STR(rig.guess.items.path, STR("/f:feed/f:entry"), "items");
    CHECK_STR(rig.guess.id.path, STR("f:id"), "id");
    CHECK_STR(rig.guess.updated_at.path, STR("f:updated"), "date");
    CHECK_STR(rig.guess.page.next.path, STR("/f:feed/f:link[@rel='next']/@href"), "next");
    end(&rig);
}

TEST(dates_in_three_elements)
{
    struct rig rig;

    REQUIRE_OK(
        make(&rig, "https://example.org/set",
             "<Set><Article><PMID>1</PMID><DateRevised><Year>2026</Year><Month>01</Month>"
             "<Day>02</Day></DateRevised></Article><Article><PMID>2</PMID><DateRevised>"
             "<Year>2026</Year><Month>02</Month><Day>03</Day></DateRevised></Article></Set>"),
        rig.err);
    CHECK_STR(rig.guess.items.path, STR("/Set/Article"), "items");
    CHECK_STR(rig.guess.updated_at.path,
              STR("concat(DateRevised/Year, DateRevised/Month, DateRevised/Day)"), "date");
    CHECK_STR(rig.guess.date_format, STR("compact"), "format");
    end(&rig);
}

TEST(a_boolean_says_whether_there_is_more)
{
    struct rig rig;

    REQUIRE_OK(make(&rig, "https://example.org/things?offset=0&limit=2",
                    "{\"has_more\":true,\"things\":[{\"id\":\"a\"},{\"id\":\"b\"}]}"),
               rig.err);
    CHECK_STR(rig.guess.has_more.path, STR("$.has_more"), "has_more");
    CHECK_EQ(rig.guess.page.type, PAGINATION_OFFSET, "paging");
    CHECK(has(&rig, "offset: \"${page.offset}\""), "the parameter");
    CHECK(has(&rig, "limit: \"${page.size}\""), "the size");
    end(&rig);
}

TEST(names_that_must_be_quoted)
{
    struct rig rig;

    REQUIRE_OK(
        make(&rig, "https://example.org/x?q=%24%7Bparams.key%7D&a'b=1",
             "{\"the 'list' # of\":[{\"id\":\"a\\u2028b: #\",\"last updated\":\"2026-01-01\"},"
             "{\"id\":\"\\n- x\",\"last updated\":\"2026-01-02\"}],\"total: {\":2}"),
        rig.err);
    CHECK_STR(rig.guess.items.path, STR("$['the \\'list\\' # of']"), "items");
    CHECK_STR(rig.guess.updated_at.path, STR("$['last updated']"), "date");
    CHECK(has(&rig, "$${params.key}"), "a template in the URL is a text");
    end(&rig);
}

/* The value of a secret is nowhere in the file, however the URL has it. */
TEST(secrets_are_references)
{
    static const char *const urls[] = {
        "https://example.org/x?api_key=hunter2",
        "https://example.org/x?apikey=hunter2&q=a",
        "https://example.org/x?token=hunter2",
        "https://example.org/x?access-token=hunter2",
        "https://example.org/x?X-Auth=hunter2",
        "https://example.org/x?key=hunter2&secret=hunter2",
        "https://example.org/x?mailto=hunter2",
        "https://example.org/x?who=hunter2@example.org",
        "https://u:hunter2@example.org/x",
        "https://hunter2@example.org/x?a=1",
        "https://example.org/x?password=hunter2",
        "https://example.org/x?sig=hunter2&session=hunter2",
        "https://example.org/x?email=hunter2%40example.org",
        "https://example.org/x?seCret=hunter2",
        "https://example.org/x?MYAPIKEY=hunter2&userpassword=hunter2",
    };
    struct rig rig;

    for (size_t i = 0; i < ARRAY_LEN(urls); i++) {
        REQUIRE_OK(make(&rig, urls[i], "{\"items\":[{\"id\":1},{\"id\":2}]}"), rig.err);
        CHECK(!has(&rig, "hunter2"), urls[i]);
        CHECK(has(&rig, "env:"), urls[i]);
        end(&rig);
        REQUIRE_OK(make(&rig, urls[i], NULL), rig.err);
        CHECK(!has(&rig, "hunter2"), urls[i]);
        end(&rig);
    }
}

/* A token of pages is not a credential, and its value is not written either. */
TEST(tokens_of_pages_are_not_secrets)
{
    struct rig rig;

    REQUIRE_OK(make(&rig, "https://example.org/x?token=opaque",
                    "{\"token\":\"another\",\"items\":[{\"id\":1},{\"id\":2}]}"),
               rig.err);
    CHECK(has(&rig, "token: \"${page.token}\""), "the parameter");
    CHECK(!has(&rig, "auth:"), "no credential");
    CHECK(!has(&rig, "opaque"), "the value");
    end(&rig);
}

TEST(windows_in_urls)
{
    static const struct {
        const char *query;
        const char *written;
    } cases[] = {
        { "q=updated:[2018-01-04T00:00:00Z TO 2018-08-05T23:59:59Z]",
          "updated:[${datetime(window.from)} TO ${datetime(window.last)}]" },
        { "q=updated:[2018-01-04T00:00:00Z TO 2018-08-05T00:00:00Z}",
          "TO ${datetime(window.to)}}" },
        { "mindate=2026/01/01&maxdate=2026/01/02",
          "mindate: \"${formatDateTime(window.from, \\\"yyyy/MM/dd\\\")}\"" },
        { "q=d:[202601010000 TO 202601020000]", "\\\"yyyyMMddHHmm\\\"" },
        { "until=2026-01-02", "until: \"${date(window.last)}\"" },
        { "from=2026-01-02T00:00:00.000Z", "SSS'Z'" },
        { "id=2026-13-40", "id: 2026-13-40" },
        { "a=2026-01-01&b=2026-01-02&c=2026-01-03", "c: 2026-01-03" },
    };
    struct rig rig;

    for (size_t i = 0; i < ARRAY_LEN(cases); i++) {
        char url[256] = "https://example.org/x?";
        size_t at = strlen(url);

        for (const char *c = cases[i].query; *c != '\0'; c++)
            url[at++] = *c == ' ' ? '+' : *c;
        url[at] = '\0';
        REQUIRE_OK(make(&rig, url, "{\"items\":[{\"id\":1},{\"id\":2}]}"), rig.err);
        CHECK(has(&rig, cases[i].written), cases[i].query);
        if (!has(&rig, cases[i].written))
            test_note("%.*s", STR_ARG(rig.file));
        end(&rig);
    }
}

/* Nothing else would show that each window lacks its last day. */
TEST(whether_the_end_of_a_window_is_included_is_asked)
{
    static const struct {
        const char *query;
        bool is_asked;
    } cases[] = {
        { "from=2026-01-01&to=2026-01-02", true },
        { "until=2026-01-02", true },
        { "q=d:[2026-01-01+TO+2026-01-02]", false },
        { "q=d:[2026-01-01+TO+2026-01-02}", false },
        { "from=2026-01-01", false },
    };
    struct rig rig;

    for (size_t i = 0; i < ARRAY_LEN(cases); i++) {
        char url[256];
        bool is_asked = false;

        (void)snprintf(url, sizeof(url), "https://example.org/x?%s", cases[i].query);
        REQUIRE_OK(make(&rig, url, "{\"items\":[{\"id\":1},{\"id\":2}]}"), rig.err);
        for (size_t k = 0; k < rig.guess.missing.count; k++)
            is_asked |= str_starts(rig.guess.missing.items[k], STR("the window's end"));
        CHECK_EQ(is_asked, cases[i].is_asked, cases[i].query);
        CHECK_EQ(has(&rig, "is its end included?"), cases[i].is_asked, cases[i].query);
        end(&rig);
    }
}

TEST(answers_that_are_not_pages)
{
    static const struct {
        const char *url, *answer, *code;
        enum error_level level; /* L1: a later answer may be a page */
    } cases[] = {
        { "https://example.org/x", "HTTP/1.1 404 Not Found\n\n{}", "guess.status", ERROR_REQUEST },
        { "https://example.org/x", "HTTP/1.1 401 Who?\n\n{}", "guess.status", ERROR_REQUEST },
        { "https://example.org/x", "HTTP/1.1 429 Slow\n\n{}", "guess.status", ERROR_TRANSIENT },
        { "https://example.org/x", "HTTP/1.1 503 Down\n\n{}", "guess.status", ERROR_TRANSIENT },
        { "https://example.org/x", "<html><body>down</body></html>", "body.html", ERROR_REQUEST },
        { "https://example.org/x", "", "body.empty", ERROR_REQUEST },
        { "https://example.org/x", "{\"a\":", "json.syntax", ERROR_REQUEST },
        { "https://example.org/x", "<a><b></a>", "xml.syntax", ERROR_REQUEST },
        { "ftp://example.org/x", "{}", "guess.url", ERROR_REQUEST },
        { "not a url", "{}", "guess.url", ERROR_REQUEST },
    };
    struct rig rig;

    for (size_t i = 0; i < ARRAY_LEN(cases); i++) {
        CHECK(!make(&rig, cases[i].url, cases[i].answer), cases[i].answer);
        CHECK_STR(str_of(rig.err.code), str_of(cases[i].code), cases[i].answer);
        CHECK_EQ(rig.err.level, cases[i].level, cases[i].answer);
        end(&rig);
    }
}

/* Nothing to be found: everything is a TODO, and the file has no errors nevertheless. */
TEST(nothing_is_guessed_from_nothing)
{
    static const char *const answers[] = {
        "{}", "[]", "{\"a\":1}", "<a/>", "{\"id\":\"x\"}", "[1,2,3]", "[null]", "[[1],[2]]"
    };
    struct rig rig;

    for (size_t i = 0; i < ARRAY_LEN(answers); i++) {
        REQUIRE_OK(make(&rig, "https://example.org", answers[i]), rig.err);
        CHECK(has(&rig, "TODO"), answers[i]);
        CHECK(rig.guess.missing.count > 0, answers[i]);
        CHECK_EQ(rig.guess.updated_at.path.len, 0, answers[i]);
        end(&rig);
    }
}
