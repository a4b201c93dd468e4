/* A secret is found however it is written. The texts were made by Python's libraries. */
#include "data/redact.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "test.h"

static const struct str secret = STR_INIT("S3cr/t+\"k&y<%7\303\251\\");

static const struct {
    const char *label, *text;
} cases[] = {
    { "as it is", "S3cr/t+\"k&y<%7\303\251\\" },
    { "upper case", "S3CR/T+\"K&Y<%7\303\251\\" },
    { "lower case", "s3cr/t+\"k&y<%7\303\251\\" },
    { "JSON", "S3cr/t+\\\"k&y<%7\303\251\\\\" },
    { "JSON, ASCII only", "S3cr/t+\\\"k&y<%7\\u00e9\\\\" },
    { "JSON, every character", "\\u0053\\u0033\\u0063\\u0072\\u002f\\u0074\\u002b\\u0022\\u006b\\u0"
                               "026\\u0079\\u003c\\u0025\\u0037\\u00e9\\u005c" },
    { "JSON in JSON", "S3cr/t+\\\\\\\"k&y<%7\\\\u00e9\\\\\\\\" },
    { "percent", "S3cr%2Ft%2B%22k%26y%3C%257%C3%A9%5C" },
    { "percent, lower case digits", "s3cr%2ft%2b%22k%26y%3c%257%c3%a9%5c" },
    { "percent, every byte", "%53%33%63%72%2F%74%2B%22%6B%26%79%3C%25%37%C3%A9%5C" },
    { "percent, twice", "S3cr%252Ft%252B%2522k%2526y%253C%25257%25C3%25A9%255C" },
    { "form", "S3cr%2Ft%2B%22k%26y%3C%257%C3%A9%5C" },
    { "HTML", "S3cr/t+&quot;k&amp;y&lt;%7\303\251\\" },
    { "HTML, decimal",
      "&#83;&#51;&#99;&#114;&#47;&#116;&#43;&#34;&#107;&#38;&#121;&#60;&#37;&#55;&#233;&#92;" },
    { "HTML, hexadecimal", "&#x53;&#x33;&#x63;&#x72;&#x2F;&#x74;&#x2B;&#x22;&#x6B;&#x26;&#x79;&#"
                           "x3C;&#x25;&#x37;&#xE9;&#x5C;" },
    { "JSON in HTML", "S3cr/t+\\&quot;k&amp;y&lt;%7\\u00e9\\\\" },
    { "HTML in JSON", "S3cr/t+&quot;k&amp;y&lt;%7\\u00e9\\\\" },
    { "base64", "UzNjci90KyJrJnk8JTfDqVw=" },
    { "base64 for URLs", "UzNjci90KyJrJnk8JTfDqVw" },
    { "base64 of user:password", "am86UzNjci90KyJrJnk8JTfDqVw=" },
    { "base64, one byte further", "ajpTM2NyL3QrImsmeTwlN8OpXCA=" },
    { "base64 in a path", "/a/UzNjci90KyJrJnk8JTfDqVw=" },
    { "base64 in JSON", "UzNjci90KyJrJnk8JTfDqVw=" },
    { "base64 in lines", "UzNjci90\012KyJrJnk8\012JTfDqVw=" },
    { "percent in base64", "UzNjciUyRnQlMkIlMjJrJTI2eSUzQyUyNTclQzMlQTklNUM=" },
    { "base64 in percent", "Pz8%2FUzNjci90KyJrJnk8JTfDqVw%3D" },
    { "hexadecimal", "533363722f742b226b26793c2537c3a95c" },
    { "hexadecimal, upper case", "533363722F742B226B26793C2537C3A95C" },
    { "C",
      "\\x53\\x33\\x63\\x72\\x2f\\x74\\x2b\\x22\\x6b\\x26\\x79\\x3c\\x25\\x37\\xc3\\xa9\\x5c" },
    { "mail", "S3cr/t+\"k&y<%7=C3=A9\\" },
};

static const char *redacted(const char *text)
{
    static char out[1024];

    (void)snprintf(out, sizeof(out), "%s", text);
    out[redact_text(out, strlen(out), secret)] = '\0';
    return out;
}

TEST(a_secret_is_taken_out_in_every_encoding)
{
    for (size_t i = 0; i < ARRAY_LEN(cases); i++) {
        char text[1024];
        const char *left;

        (void)snprintf(text, sizeof(text), "the key '%s' is not known", cases[i].text);
        left = redacted(text);
        CHECK(strncmp(left, "the key '***", 12) == 0, cases[i].label);
        CHECK(strcmp(strrchr(left, '\''), "' is not known") == 0, cases[i].label);
        CHECK(strlen(left) <= strlen("the key '***%3D%3D' is not known"), left);
    }
}

/* A base64 word has no place where the secret begins, so what is left may be its first characters.
 */
TEST(a_text_that_ends_within_a_secret_keeps_nothing_of_it)
{
    for (size_t i = 0; i < ARRAY_LEN(cases); i++) {
        char text[1024];

        (void)snprintf(text, sizeof(text), "key: %s", cases[i].text);
        for (size_t len = strlen(text); len > 5; len--) {
            const char *left;

            text[len] = '\0';
            left = redacted(text);
            CHECK(strstr(left, "S3cr") == NULL && strstr(left, "s3cr") == NULL, left);
        }
    }
}

TEST(all_of_several_are_taken_out)
{
    CHECK_STR(str_of(redacted("S3cr/t+\"k&y<%7\303\251\\S3cr/t+\"k&y<%7\303\251\\ %53%33cr/"
                              "t+\"k&y<%257\303\251\\")),
              STR("****** ***"), "three");
}

TEST(other_texts_stay_as_they_are)
{
    static const char *const texts[] = {
        "",
        "status 400: \"the field 'from' is not a date: 2024-13-01\"",
        "S3c",
        "S3cretary %41%42 \\u0041 &amp; c2VjcmV0YXJ5 =3D",
    };

    for (size_t i = 0; i < ARRAY_LEN(texts); i++)
        CHECK_STR(str_of(redacted(texts[i])), str_of(texts[i]), texts[i]);
}

TEST(stars_that_are_the_secret_have_an_end)
{
    char text[] = "*************";

    CHECK_EQ(redact_text(text, strlen(text), STR("****")), 3, "shorter with every round");
}

TEST(a_short_value_is_not_a_secret)
{
    char text[] = "abcabc";

    CHECK_EQ(redact_text(text, strlen(text), STR("abc")), 6, "stays");
}

TEST(a_whole_response_is_read_in_windows_that_overlap)
{
    static const char *const written[] = { "long-secret-12x", "%6Cong%2Dsecret%2D12x",
                                           "bG9uZy1zZWNyZXQtMTJ4" };
    enum { BYTES = 3 * REDACT_WINDOW_BYTES };
    char *text = malloc(BYTES);

    REQUIRE(text != NULL, "memory");
    for (size_t i = 0; i < ARRAY_LEN(written); i++) {
        for (size_t at = REDACT_WINDOW_BYTES - 40; at < REDACT_WINDOW_BYTES + 400; at += 31) {
            const size_t len = strlen(written[i]);
            size_t left;

            memset(text, ' ', BYTES);
            memcpy(text + at, written[i], len);
            left = redact_body(text, BYTES, STR("long-secret-12x"));
            CHECK_EQ(left, (size_t)BYTES - len + 3, written[i]);
            CHECK(memcmp(text + at, "*** ", 4) == 0, "in its place");
        }
    }
    free(text);
}
