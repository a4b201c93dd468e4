/* XPath: what compiles, and what it finds. */
#include "data/xml.h"

#include <stdio.h>

#include "test.h"

static const struct xml *xml = &xml_module;

static const struct xml_namespace namespaces[] = {
    { STR_INIT("oai"), STR_INIT("http://www.openarchives.org/OAI/2.0/") },
    { STR_INIT("dc"), STR_INIT("http://purl.org/dc/elements/1.1/") },
};

static struct arena arena;

static const char page[] =
    "<OAI-PMH xmlns='http://www.openarchives.org/OAI/2.0/'><ListRecords>"
    "<record><header><identifier>a:1</identifier></header><metadata>"
    "<dc xmlns:d='http://purl.org/dc/elements/1.1/'><d:title>One <i>&amp; </i><![CDATA[<1>]]>"
    "</d:title><d:date>2001</d:date><d:date>2002-09</d:date></dc></metadata></record>"
    "<record><header status='deleted'><identifier>a:2</identifier></header></record>"
    "<resumptionToken cursor='0'/></ListRecords></OAI-PMH>";

static bool compile(const char *text, struct xml_path **path, struct error *err)
{
    return xml_path_compile(xml, str_of(text), namespaces, ARRAY_LEN(namespaces), path, err);
}

static struct xml_path *path_of(const char *text)
{
    struct xml_path *path;
    struct error err;

    REQUIRE_OK(compile(text, &path, &err), err);
    return path;
}

static struct xml_doc *open_page(void)
{
    struct xml_doc *doc;
    struct error err;

    if (arena.limit == 0)
        arena_init(&arena, 64 << 20);
    arena_reset(&arena);
    REQUIRE_OK(xml_open(xml, &arena, &(struct xml_source){ .bytes = str_of(page) }, &doc, &err),
               err);
    return doc;
}

TEST(xml_path_gives_texts)
{
    static const struct {
        const char *path;
        const char *text; /* NULL: nothing is found */
    } cases[] = {
        { "//oai:identifier", "a:1" },
        { "/oai:OAI-PMH/oai:ListRecords/oai:record[2]/oai:header/@status", "deleted" },
        { "//dc:title", "One & <1>" },
        { "normalize-space(//dc:title)", "One & <1>" },
        { "//dc:date[last()]", "2002-09" },
        { "count(//oai:record)", "2" },
        { "concat(//oai:identifier, '/', //dc:date)", "a:1/2001" },
        { "//oai:resumptionToken", "" },
        { "//oai:resumptionToken/@cursor", "0" },
        { "//oai:nothing", NULL },
        { "//identifier", NULL },
        { "//oai:header[@status='deleted']/oai:identifier", "a:2" },
        { "boolean(//oai:error)", "false" },
        { "//*[local-name() = 'title']/text()", "One " },
        { "string(//oai:nothing)", "" },
        { "1 div 3 > 0.3 and (2 mod 2 = 0)", "true" },
        { "//dc:date | //oai:identifier", "a:1" },
        { "//@xml:lang", NULL },
    };
    struct xml_doc *doc = open_page();

    for (size_t i = 0; i < ARRAY_LEN(cases); i++) {
        struct xml_path *path = path_of(cases[i].path);
        struct str text;
        struct error err;

        REQUIRE_OK(xml_text(xml, path, &arena, xml_root(xml, doc), &text, &err), err);
        CHECK_EQ(text.data == NULL, cases[i].text == NULL, cases[i].path);
        CHECK_STR(text, str_of(cases[i].text), cases[i].path);
        xml_path_close(xml, path);
    }
    xml_close(xml, doc);
}

TEST(xml_path_is_evaluated_from_any_node_and_again)
{
    struct xml_doc *doc = open_page();
    struct xml_path *items = path_of("//oai:record");
    struct xml_path *id = path_of("oai:header/oai:identifier");
    struct xml_path *deleted = path_of("oai:header/@status = 'deleted'");
    struct xml_path *dates = path_of(".//dc:date");
    struct xml_node_list nodes;
    struct xml_text_list texts;
    struct error err;

    REQUIRE_OK(xml_nodes(xml, items, &arena, xml_root(xml, doc), &nodes, &err), err);
    REQUIRE(nodes.count == 2, "two records");
    for (size_t round = 0; round < 2; round++) {
        for (size_t i = 0; i < 2; i++) {
            bool is_deleted;

            REQUIRE_OK(xml_texts(xml, id, &arena, nodes.nodes[i], &texts, &err), err);
            REQUIRE(texts.count == 1, "one id each");
            CHECK_STR(texts.texts[0], i == 0 ? STR("a:1") : STR("a:2"), "its own id");
            REQUIRE_OK(xml_test(xml, deleted, nodes.nodes[i], &is_deleted, &err), err);
            CHECK_EQ(is_deleted, i == 1, "deleted");
            REQUIRE_OK(xml_texts(xml, dates, &arena, nodes.nodes[i], &texts, &err), err);
            CHECK_EQ(texts.count, i == 0 ? 2 : 0, "dates");
        }
    }
    xml_path_close(xml, items);
    xml_path_close(xml, id);
    xml_path_close(xml, deleted);
    xml_path_close(xml, dates);
    xml_close(xml, doc);
}

TEST(xml_path_faults_are_found_when_it_is_compiled)
{
    static const struct {
        const char *path;
        const char *text;
    } cases[] = {
        { "", "1 to" },
        { "/a[", "offset 3: not a valid" },
        { "/a[1", "closed by ]" },
        { "(a", "offset 2" },
        { "count('x')", "wrong type" },
        { "'a' | b", "wrong type" },
        { "contains(a)", "contains() with 1" },
        { "//a[contains(b, 'c', (d))]", "contains() with 3" },
        { "//a[b[position(1)]]", "position() with 1" },
        { "true(  )[concat('a')]", "concat() with 1" },
        { "a b", "offset" },
        { "//x:title", "prefix \"x\"" },
        { "//oai:record[y:id]", "prefix \"y\"" },
        { "//a[@z:b = 'oai:c']", "prefix \"z\"" },
        { "$var", "variables" },
        { "//a[. = $var]", "variables" },
        { "matches(a, 'b')", "no function \"matches\"" },
        { "//a[lower-case(b) = 'c']", "no function" },
        { "//a[start-with(b, 'c')]", "starts-with" },
        { "document('http://127.0.0.1/')", "no function" },
        { "oai:f(1)", "no function" },
        { "'abc", "offset" },
        { "//a\xFF", "UTF-8" },
    };

    for (size_t i = 0; i < ARRAY_LEN(cases); i++) {
        struct xml_path *path;
        struct error err = { 0 };

        CHECK(!compile(cases[i].path, &path, &err), cases[i].path);
        CHECK(path == NULL, cases[i].path);
        CHECK_EQ(err.level, ERROR_REQUEST, cases[i].path);
        CHECK_STR(str_of(err.code), STR("xpath.syntax"), cases[i].path);
        CHECK(str_find(str_of(err.text), str_of(cases[i].text)) < str_of(err.text).len, err.text);
    }
}

/* Names in quotes, names that are operators, and axes look like faults and are none. */
TEST(xml_path_without_fault_compiles)
{
    static const char *const paths[] = {
        "//a[b = 'x:y $z f()']",
        "div div (mod) and (or)",
        "ancestor-or-self::node()",
        "child::oai:record/attribute::*",
        "//processing-instruction('x')/following-sibling::comment()",
        "oai:*",
        "@*",
        "..",
        "translate (a, 'b', \"c\")",
        "string-length(substring-before(., 'x')) >= 1.5",
        "a-b.c",
        "\xC3\xA9t\xC3\xA9",
        "concat(a, concat('b,c', (d)), ')', substring(e[last() = 2 or true( )], 1))",
    };

    for (size_t i = 0; i < ARRAY_LEN(paths); i++)
        xml_path_close(xml, path_of(paths[i]));
}

TEST(xml_path_that_gives_no_nodes_is_no_list_of_items)
{
    static const char *const paths[] = { "count(//oai:record)", "string(.)", "true()",
                                         "//oai:record/namespace::*" };
    struct xml_doc *doc = open_page();

    for (size_t i = 0; i < ARRAY_LEN(paths); i++) {
        struct xml_path *path = path_of(paths[i]);
        struct xml_node_list nodes;
        struct error err;

        CHECK(!xml_nodes(xml, path, &arena, xml_root(xml, doc), &nodes, &err), paths[i]);
        CHECK_STR(str_of(err.code), STR("xpath.type"), paths[i]);
        xml_path_close(xml, path);
    }
    xml_close(xml, doc);
}

TEST(xml_path_nodes_come_in_document_order)
{
    struct xml_doc *doc = open_page();
    struct xml_path *path = path_of("//dc:date/preceding::* | //oai:record | //oai:identifier");
    struct xml_node_list nodes;
    struct error err;

    REQUIRE_OK(xml_nodes(xml, path, &arena, xml_root(xml, doc), &nodes, &err), err);
    REQUIRE(nodes.count > 5, "some");
    for (size_t i = 1; i < nodes.count; i++) {
        CHECK(xml_raw(xml, doc, nodes.nodes[i - 1]).data < xml_raw(xml, doc, nodes.nodes[i]).data,
              "in order");
    }
    xml_path_close(xml, path);
    xml_close(xml, doc);
}

/* Each further predicate multiplies the work by the number of elements. */
TEST(xml_path_that_takes_too_long_is_stopped)
{
    const int rounds = test_rounds(10);
    struct xml_path *path = path_of("//*[//*[//*[//*[//*[. = 'x']]]]]");
    char text[12000];
    size_t len = (size_t)snprintf(text, sizeof(text), "<r>");
    struct xml_doc *doc;
    struct xml_text_list texts;
    struct error err;
    bool result;

    for (int i = 0; i < 2000; i++)
        len += (size_t)snprintf(text + len, sizeof(text) - len, "<e/>");
    len += (size_t)snprintf(text + len, sizeof(text) - len, "</r>");
    arena_reset(&arena);
    REQUIRE_OK(xml_open(xml, &arena, &(struct xml_source){ .bytes = { text, len } }, &doc, &err),
               err);
    CHECK(!xml_test(xml, path, xml_root(xml, doc), &result, &err), "stopped");
    CHECK_STR(str_of(err.code), STR("xpath.limit"), err.text);
    CHECK(!xml_texts(xml, path, &arena, xml_root(xml, doc), &texts, &err), "stopped again");
    xml_path_close(xml, path);
    /* One with a fifth of the steps is not, and they are counted from zero each time. */
    path = path_of("count(//e[count(//e) > 1])");
    for (int i = 0; i < rounds; i++) {
        REQUIRE_OK(xml_texts(xml, path, &arena, xml_root(xml, doc), &texts, &err), err);
        CHECK_STR(texts.texts[0], STR("2000"), "counted");
    }
    xml_path_close(xml, path);
    xml_close(xml, doc);
    arena_release(&arena);
}
