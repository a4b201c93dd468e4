/* Content-Type, and what the first bytes of a body show. */
#include "data/media_type.h"

#include <string.h>

#include "test.h"

static const struct {
    struct str value;
    bool ok;
    struct str type, subtype, charset;
    enum body_kind kind;
} types[] = {
    { STR_INIT("application/json"), true, STR_INIT("application"), STR_INIT("json"), STR_INIT(""),
      BODY_JSON },
    { STR_INIT("application/json;charset=UTF-8"), true, STR_INIT("application"), STR_INIT("json"),
      STR_INIT("UTF-8"), BODY_JSON },
    { STR_INIT("Text/XML ; boundary=x; Charset=\"iso-8859-1\""), true, STR_INIT("Text"),
      STR_INIT("XML"), STR_INIT("iso-8859-1"), BODY_XML },
    { STR_INIT("application/vnd.api+json; v=1"), true, STR_INIT("application"),
      STR_INIT("vnd.api+json"), STR_INIT(""), BODY_JSON },
    { STR_INIT("application/atom+xml"), true, STR_INIT("application"), STR_INIT("atom+xml"),
      STR_INIT(""), BODY_XML },
    { STR_INIT("application/xhtml+xml"), true, STR_INIT("application"), STR_INIT("xhtml+xml"),
      STR_INIT(""), BODY_HTML },
    { STR_INIT("text/html"), true, STR_INIT("text"), STR_INIT("html"), STR_INIT(""), BODY_HTML },
    { STR_INIT("text/plain"), true, STR_INIT("text"), STR_INIT("plain"), STR_INIT(""), BODY_TEXT },
    { STR_INIT("application/octet-stream"), true, STR_INIT("application"), STR_INIT("octet-stream"),
      STR_INIT(""), BODY_BINARY },
    { STR_INIT(""), false, STR_INIT(""), STR_INIT(""), STR_INIT(""), BODY_BINARY },
    { STR_INIT("json"), false, STR_INIT(""), STR_INIT(""), STR_INIT(""), BODY_BINARY },
    { STR_INIT("/json"), false, STR_INIT(""), STR_INIT(""), STR_INIT(""), BODY_BINARY },
    { STR_INIT("a b/json"), false, STR_INIT(""), STR_INIT(""), STR_INIT(""), BODY_BINARY },
};

TEST(a_content_type_is_read)
{
    for (size_t i = 0; i < ARRAY_LEN(types); i++) {
        struct media_type media;

        CHECK_EQ(media_type_parse(types[i].value, &media), types[i].ok, types[i].value.data);
        CHECK_STR(media.type, types[i].type, types[i].value.data);
        CHECK_STR(media.subtype, types[i].subtype, types[i].value.data);
        CHECK_STR(media.charset, types[i].charset, types[i].value.data);
        CHECK_EQ(media_type_kind(&media), types[i].kind, types[i].value.data);
    }
}

static const struct {
    const char *label;
    struct str body;
    enum body_kind kind;
} bodies[] = {
    { "nothing", STR_INIT(""), BODY_EMPTY },
    { "blanks", STR_INIT(" \r\n\t"), BODY_EMPTY },
    { "an object", STR_INIT("{}"), BODY_JSON },
    { "an array, a mark before it", STR_INIT("\xEF\xBB\xBF [1]"), BODY_JSON },
    { "a page", STR_INIT("<!DOCTYPE HTML PUBLIC ...>"), BODY_HTML },
    { "a page without a type", STR_INIT("<html><body>"), BODY_HTML },
    { "a page as XML", STR_INIT("<?xml version='1.0'?>\n<!-- x -->\n<!DOCTYPE html\n PUBLIC>"),
      BODY_HTML },
    { "a feed", STR_INIT("<?xml version='1.0'?><feed>"), BODY_XML },
    { "an element that begins alike", STR_INIT("<header>"), BODY_XML },
    { "another document type", STR_INIT("<!DOCTYPE PubmedArticleSet PUBLIC \"x\">"), BODY_XML },
    { "a comment without an end", STR_INIT("<!-- <html>"), BODY_XML },
    { "words", STR_INIT("Rate exceeded."), BODY_TEXT },
    { "words of Latin-1", STR_INIT("caf\xE9"), BODY_TEXT },
    { "JSON with a raw 0x7F", STR_INIT("{\"a\":\"x\x7f\"}"), BODY_JSON },
    { "gzip", STR_INIT("\x1f\x8b\x08\x00"), BODY_BINARY },
};

TEST(a_body_is_known_by_its_first_bytes)
{
    for (size_t i = 0; i < ARRAY_LEN(bodies); i++)
        CHECK_EQ(body_kind(bodies[i].body), bodies[i].kind, bodies[i].label);
}

static const struct {
    const char *label;
    struct str type;
    struct str body;
    enum body_kind wanted;
    const char *code;
} fits[] = {
    { "JSON", STR_INIT("application/json"), STR_INIT("{\"a\":1}"), BODY_JSON, NULL },
    { "JSON with a raw 0x7F", STR_INIT("application/json"), STR_INIT("{\"a\":\"\x7f\"}"), BODY_JSON,
      NULL },
    { "JSON under a wrong name", STR_INIT("text/html"), STR_INIT("{}"), BODY_JSON, NULL },
    { "XML", STR_INIT("text/xml"), STR_INIT("<a/>"), BODY_XML, NULL },
    { "zero bytes", STR_INIT("application/json"), STR_INIT(""), BODY_JSON, "body.empty" },
    { "a page for JSON", STR_INIT("text/html"), STR_INIT("<html>"), BODY_JSON, "body.html" },
    { "a page for JSON, called JSON", STR_INIT("application/json"), STR_INIT("<!doctype html>"),
      BODY_JSON, "body.html" },
    { "a page for XML", STR_INIT("text/html"), STR_INIT("<html>"), BODY_XML, "body.html" },
    { "XML for JSON", STR_INIT("text/xml"), STR_INIT("<a/>"), BODY_JSON, "body.kind" },
    { "JSON for XML", STR_INIT("text/json"), STR_INIT("{}"), BODY_XML, "body.kind" },
    { "words", STR_INIT("text/plain"), STR_INIT("Too many"), BODY_JSON, "body.kind" },
    { "UTF-16 with a mark", STR_INIT("application/json"), STR_INIT("\xFF\xFE{\0}\0"), BODY_JSON,
      "body.charset" },
    { "UTF-16 without", STR_INIT("application/json"), STR_INIT("\0{\0}"), BODY_JSON,
      "body.charset" },
    { "UTF-16 for XML, which says so itself", STR_INIT("text/xml"), STR_INIT("\xFE\xFF\0<\0a"),
      BODY_XML, NULL },
};

TEST(a_body_that_no_parser_should_see_is_told_by_its_kind)
{
    for (size_t i = 0; i < ARRAY_LEN(fits); i++) {
        struct error err = { 0 };
        const bool ok = body_check(fits[i].type, fits[i].body, fits[i].wanted, &err);

        CHECK_EQ(ok, fits[i].code == NULL, fits[i].label);
        if (!ok && fits[i].code != NULL)
            CHECK_STR(str_of(err.code), str_of(fits[i].code), fits[i].label);
        if (!ok)
            CHECK_EQ(err.level, ERROR_TRANSIENT, "a server in trouble may recover");
    }
}

TEST(a_charset_is_checked_where_it_is_known)
{
    struct error err;

    CHECK(body_charset_check(STR("application/json"), STR("caf\xC3\xA9"), &err), "UTF-8");
    CHECK(!body_charset_check(STR("application/json"), STR("caf\xE9"), &err), "not UTF-8");
    CHECK_STR(str_of(err.code), STR("body.charset"), "code");
    CHECK(!body_charset_check(STR("text/xml; charset=utf-8"), STR("caf\xE9"), &err), "declared");
    CHECK(body_charset_check(STR("text/xml; charset=iso-8859-1"), STR("caf\xE9"), &err), "Latin-1");
}
