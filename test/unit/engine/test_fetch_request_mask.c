/* Secrets in texts of a source are masked. */
#include "engine/fetch/request.h"

#include <stdio.h>
#include <string.h>

#include "base/quote.h"
#include "test.h"

static bool get(struct secret_source *source, struct str reference, struct secret *secret,
                struct error *err)
{
    const char *value = str_eq(reference, STR("env:KEY"))    ? "s3cr3t+/key"
                        : str_eq(reference, STR("env:MAIL")) ? "me@example.org"
                        : str_eq(reference, STR("env:ODD"))  ? "p\"ss\\w\xc3\xb6rd"
                        : str_eq(reference, STR("env:TINY")) ? "abc"
                                                             : NULL;

    (void)source;
    if (value == NULL)
        return error_set(err, ERROR_FATAL, "secret.missing", "none");
    secret->len = strlen(value);
    memcpy(secret->bytes, value, secret->len);
    return true;
}

static struct secret_source source = { get };
static struct spec_value params[] = { { .name = STR_INIT("mail"), .value = STR_INIT("env:MAIL") },
                                      { .name = STR_INIT("none"), .value = STR_INIT("env:NONE") },
                                      { .name = STR_INIT("tiny"), .value = STR_INIT("env:TINY") },
                                      { .name = STR_INIT("plain"), .value = STR_INIT("papers") } };

static const char *masked(enum auth_type type, const char *text)
{
    static char out[512];
    const struct spec spec = { .params = params, .param_count = ARRAY_LEN(params) };
    const struct spec_endpoint endpoint = {
        .auth = { .type = type, .secret = STR("env:KEY"), .password = STR("env:ODD") }
    };
    const struct request_form form = { .spec = &spec, .endpoint = &endpoint };

    (void)snprintf(out, sizeof(out), "%s", text);
    out[request_mask_text(&(struct request_mask){ &form, &source, NULL }, out, strlen(out))] = '\0';
    return out;
}

TEST(secrets_are_masked_in_every_form)
{
    static const struct {
        const char *text, *told;
    } cases[] = {
        { "", "" },
        { "nothing to see", "nothing to see" },
        { "key s3cr3t+/key, key=s3cr3t%2B%2Fkey", "key ***, key=***" },
        { "s3cr3t+/keys3cr3t+/key", "******" },
        { "by me@example.org.", "by ***." },
        { "pass p\"ss\\w\xc3\xb6rd or p\\\"ss\\\\w\xc3\xb6rd", "pass *** or ***" },
        { "{\"api-key\":\"s3cr3t+", "{\"api-key\":\"***" }, /* cut in the middle */
        { "\"{api-key: s3cr3... (120 bytes)", "\"{api-key: ***... (120 bytes)" },
        { "s3c", "s3c" }, /* too little to say that it is the key */
        { "s3cr3tary", "s3cr3tary" },
        { "abc and papers stay", "abc and papers stay" },
        { "Authorization: Bearer abc.def-123, basic dXNlcjpw==",
          "Authorization: Bearer ***, basic ***" },
        { "Bearer of news", "Bearer of news" },
        { "/works/0123456789abcdefghijklmno", "/works/0123456789abcdefghijklmno" },
    };

    for (size_t i = 0; i < ARRAY_LEN(cases); i++)
        CHECK_STR(str_of(masked(AUTH_API_KEY, cases[i].text)), str_of(cases[i].told),
                  cases[i].text);
}

TEST(a_token_that_only_the_port_knows_is_masked_as_a_long_word)
{
    CHECK_STR(str_of(masked(AUTH_OAUTH2, "token eyJhbGciOi.eyJzdWIiOiIxMjM0.abc is bad")),
              STR("token *** is bad"), "OAuth2");
    CHECK_STR(str_of(masked(AUTH_OAUTH2, "an ordinary sentence")), STR("an ordinary sentence"),
              "words stay");
}

TEST(no_part_of_a_key_is_left_wherever_a_quotation_is_cut)
{
    for (int before = 0; before < 2 * QUOTE_BYTES_MAX; before++) {
        char body[512], text[512];
        const char *told;

        (void)snprintf(body, sizeof(body), "%*ss3cr3t+/key and more, much more of it, %*s", before,
                       "", QUOTE_BYTES_MAX, "");
        (void)snprintf(text, sizeof(text), "status 400: %s", QUOTE(str_of(body)));
        told = masked(AUTH_API_KEY, text);
        CHECK(strstr(told, "s3cr") == NULL, told);
    }
}
