/* Tests: setting, wrapping and truncating errors. */
#include "base/error.h"

#include <string.h>

#include "test.h"

TEST(error_keeps_where_and_what_it_was)
{
    struct error err;
    const int line = __LINE__ + 1;
    const bool result = error_set(&err, ERROR_DATA, "record.no_id", "record %d has no id", 7);

    CHECK(!result, "false, to be returned");
    CHECK_EQ(err.level, ERROR_DATA, "level");
    CHECK_STR(str_of(err.code), STR("record.no_id"), "code");
    CHECK_STR(str_of(err.text), STR("record 7 has no id"), "text");
    CHECK(str_ends(str_of(err.file), STR("test_error.c")), err.file);
    CHECK_EQ(err.line, line, "line");
}

TEST(error_wrap_puts_the_outer_words_in_front)
{
    struct error err;

    (void)error_set(&err, ERROR_TRANSIENT, "http.status", "status 503");
    CHECK(!error_wrap(&err, "GET %s", "https://h/works"), "false, to be returned");
    CHECK(!error_wrap(&err, "page %d", 3), "and again");
    CHECK_STR(str_of(err.text), STR("page 3: GET https://h/works: status 503"), "text");
    CHECK_EQ(err.level, ERROR_TRANSIENT, "level stays");
    CHECK_STR(str_of(err.code), STR("http.status"), "code stays");
}

static bool is_all(const char *text, size_t from, size_t to, char c)
{
    for (size_t i = from; i < to; i++) {
        if (text[i] != c)
            return false;
    }
    return true;
}

TEST(error_text_is_truncated_at_its_end)
{
    char longer[ERROR_TEXT_MAX + 100];
    struct error err;

    memset(longer, 'x', sizeof(longer) - 1);
    longer[sizeof(longer) - 1] = '\0';
    (void)error_set(&err, ERROR_FATAL, "c", "%s", longer);
    CHECK_EQ(strlen(err.text), ERROR_TEXT_MAX - 1, "as long as there is room");
    CHECK(is_all(err.text, 0, ERROR_TEXT_MAX - 1, 'x'), "its beginning");

    /* The outer text stays whole, the inner one loses its end. */
    (void)error_wrap(&err, "outer");
    CHECK_EQ(strlen(err.text), ERROR_TEXT_MAX - 1, "as long as there is room");
    CHECK(str_starts(str_of(err.text), STR("outer: xxx")), err.text);
    CHECK(is_all(err.text, 7, ERROR_TEXT_MAX - 1, 'x'), "its beginning");

    /* An outer text that fills the buffer leaves nothing of the inner one. */
    (void)error_wrap(&err, "%s", longer);
    CHECK_EQ(strlen(err.text), ERROR_TEXT_MAX - 1, "as long as there is room");
    CHECK(is_all(err.text, 0, ERROR_TEXT_MAX - 1, 'x'), "the outer words");
}

TEST(error_text_is_truncated_between_two_characters)
{
    static const char *const characters[] = { "x", "\xc3\xb6", "\xe6\x96\x87", "\xf0\x9f\x93\x9a" };

    for (size_t i = 0; i < ARRAY_LEN(characters); i++) {
        for (int before = 0; before < 8; before++) {
            char longer[2 * ERROR_TEXT_MAX] = "";
            struct error err;

            for (int k = 0; k < 300; k++)
                strcat(longer, characters[i]);
            while (strlen(longer) < ERROR_TEXT_MAX + 8)
                strcat(longer, characters[i]);
            (void)error_set(&err, ERROR_FATAL, "c", "%.*s%s", before, "01234567", longer);
            CHECK(str_is_utf8(str_of(err.text)), characters[i]);
            CHECK(strlen(err.text) > ERROR_TEXT_MAX - 1 - 4, "no more than that is lost");
            (void)error_wrap(&err, "%.*s", before + 1, "76543210");
            CHECK(str_is_utf8(str_of(err.text)), characters[i]);
            (void)error_wrap(&err, "%.*s%s", before, "01234567", longer);
            CHECK(str_is_utf8(str_of(err.text)), characters[i]);
        }
    }
}

/* Servers are quoted in errors. Stores refuse what is not UTF-8, and a terminal obeys controls. */
TEST(error_text_is_utf8_without_controls)
{
    struct error err;

    (void)error_set(&err, ERROR_TRANSIENT, "x", "%s", "gr\xC3\xBC\xC3\x9F\x1B[31m \xFF\xC3+ \x7F");
    CHECK_STR(str_of(err.text), STR("gr\xC3\xBC\xC3\x9F?[31m ??+ ?"),
              "what is no text is replaced");
    (void)error_wrap(&err, "from %s", "\xE2\x82");
    CHECK_STR(str_of(err.text), STR("from ??: gr\xC3\xBC\xC3\x9F?[31m ??+ ?"), "around it, too");
}

TEST(error_levels_have_names)
{
    CHECK_STR(str_of(error_level_name(ERROR_NONE)), STR("OK"), "none");
    CHECK_STR(str_of(error_level_name(ERROR_TRANSIENT)), STR("L1"), "transient");
    CHECK_STR(str_of(error_level_name(ERROR_REQUEST)), STR("L2"), "request");
    CHECK_STR(str_of(error_level_name(ERROR_DATA)), STR("L3"), "data");
    CHECK_STR(str_of(error_level_name(ERROR_FATAL)), STR("L4"), "fatal");
}
