/* Token requests and the responses of token servers. */
#include "data/oauth_token.h"

#include <string.h>

#include "test.h"

static struct arena arena;

static void fresh_arena(void)
{
    arena_release(&arena);
    arena_init(&arena, 1 << 20);
}

TEST(a_client_asks_as_the_rfc_has_it)
{
    struct buf form;
    struct str value;
    struct error err;

    fresh_arena();
    buf_init(&form, &arena, 1000);
    oauth_token_form(&form, STR("read all"));
    CHECK_STR(buf_str(&form), STR("grant_type=client_credentials&scope=read+all"), "form");
    REQUIRE_OK(oauth_token_authorization(&arena, STR("s6BhdRkqt3"), STR("7Fjfp0ZBr1KtDRbnfVdmIw"),
                                         &value, &err),
               err);
    /* RFC 6749 section 2.3.1's own example. */
    CHECK_STR(value, STR("Basic czZCaGRSa3F0Mzo3RmpmcDBaQnIxS3REUmJuZlZkbUl3"), "the RFC's header");
    REQUIRE_OK(oauth_token_authorization(&arena, STR("a:b"), STR("c d"), &value, &err), err);
    CHECK_STR(value, STR("Basic YSUzQWI6Yytk"), "form-encoded first: a%3Ab:c+d");
}

static const struct {
    const char *label;
    struct str body;
    struct str token; /* data NULL: refused */
    int64_t lifetime_us;
} answers[] = {
    { "the RFC's",
      STR_INIT("{\"access_token\":\"2YotnFZFEjr1zCsicMWpAA\",\"token_type\":\"example\"}"),
      { NULL, 0 },
      0 },
    { "bearer", STR_INIT("{\"access_token\":\"T\",\"token_type\":\"Bearer\",\"expires_in\":3600}"),
      STR_INIT("T"), INT64_C(3600000000) },
    { "a number as text", STR_INIT("{\"access_token\":\"T\",\"expires_in\":\"60\"}"), STR_INIT("T"),
      60000000 },
    { "no lifetime", STR_INIT("{\"access_token\":\"T\",\"token_type\":\"bearer\"}"), STR_INIT("T"),
      0 },
    { "forever", STR_INIT("{\"access_token\":\"T\",\"expires_in\":9223372036854775807}"),
      STR_INIT("T"), INT64_C(366) * 86400 * 1000000 },
    { "negative", STR_INIT("{\"access_token\":\"T\",\"expires_in\":-5}"), STR_INIT("T"), 0 },
    { "escaped", STR_INIT("{\"access_token\":\"a\\/b\"}"), STR_INIT("a/b"), 0 },
    { "no token", STR_INIT("{\"token_type\":\"bearer\"}"), { NULL, 0 }, 0 },
    { "an empty token", STR_INIT("{\"access_token\":\"\"}"), { NULL, 0 }, 0 },
    { "a number", STR_INIT("{\"access_token\":5}"), { NULL, 0 }, 0 },
    { "HTML", STR_INIT("<html>S3CRET"), { NULL, 0 }, 0 },
    { "an array", STR_INIT("[]"), { NULL, 0 }, 0 },
};

TEST(an_answer_is_read_and_never_quoted)
{
    for (size_t i = 0; i < ARRAY_LEN(answers); i++) {
        struct oauth_token token;
        struct error err = { 0 };
        bool ok;

        fresh_arena();
        ok = oauth_token_read(&arena, answers[i].body, &token, &err);
        CHECK_EQ(ok, answers[i].token.data != NULL, answers[i].label);
        if (ok) {
            CHECK_STR(token.value, answers[i].token, answers[i].label);
            CHECK_EQ(token.lifetime_us, answers[i].lifetime_us, answers[i].label);
        } else {
            CHECK_STR(str_of(err.code), STR("auth.token"), answers[i].label);
            CHECK_EQ(err.level, ERROR_FATAL, answers[i].label);
            CHECK(strstr(err.text, "S3CRET") == NULL, answers[i].label);
        }
    }
}

TEST(only_known_words_of_a_refusal_are_passed_on)
{
    fresh_arena();
    CHECK_STR(oauth_token_refusal(&arena, STR("{\"error\":\"invalid_client\"}")),
              STR("invalid_client"), "a word of the RFC");
    CHECK_STR(oauth_token_refusal(&arena, STR("{\"error\":\"bad secret S3CRET\"}")), STR(""),
              "an echo");
    CHECK_STR(oauth_token_refusal(&arena, STR("<html>")), STR(""), "no JSON");
    arena_release(&arena);
}
