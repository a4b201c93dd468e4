/* Documents: what is read, what is refused, and the bytes of an element. */
#include "data/xml.h"

#include <glob.h>
#include <libxml/parser.h>
#include <libxml/tree.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "base/buf.h"
#include "base/quote.h"
#include "test.h"

static const struct xml *xml = &xml_module;
static struct arena arena;

static void begin(void)
{
    if (arena.limit == 0)
        arena_init(&arena, 64 << 20);
    arena_reset(&arena);
}

static struct xml_doc *open_text(struct str bytes)
{
    struct xml_doc *doc;
    struct error err;

    REQUIRE_OK(xml_open(xml, &arena, &(struct xml_source){ .bytes = bytes }, &doc, &err), err);
    return doc;
}

static struct xml_path *path_of(const char *text)
{
    static const struct xml_namespace namespaces[] = {
        { STR_INIT("a"), STR_INIT("http://www.w3.org/2005/Atom") },
        { STR_INIT("os"), STR_INIT("http://a9.com/-/spec/opensearch/1.1/") },
        { STR_INIT("oai"), STR_INIT("http://www.openarchives.org/OAI/2.0/") },
    };
    struct xml_path *path;
    struct error err;

    REQUIRE_OK(xml_path_compile(xml, str_of(text), namespaces, ARRAY_LEN(namespaces), &path, &err),
               err);
    return path;
}

static struct str text_at(struct xml_node from, const char *expression)
{
    struct xml_path *path = path_of(expression);
    struct str text;
    struct error err;

    REQUIRE_OK(xml_text(xml, path, &arena, from, &text, &err), err);
    xml_path_close(xml, path);
    return text;
}

/* ---- refusals ---- */

static void check_refused(struct str bytes, struct str charset, const char *code, const char *label)
{
    struct xml_doc *doc;
    struct error err = { 0 };

    CHECK(!xml_open(xml, &arena, &(struct xml_source){ .bytes = bytes, .charset = charset }, &doc,
                    &err),
          label);
    CHECK(doc == NULL, label);
    CHECK_EQ(err.level, ERROR_REQUEST, label);
    CHECK_STR(str_of(err.code), str_of(code), label);
}

TEST(xml_entities_are_refused_before_they_can_do_anything)
{
    static const struct {
        const char *label;
        const char *text;
    } cases[] = {
        { "billion laughs",
          "<!DOCTYPE z [<!ENTITY a \"lol\"><!ENTITY b \"&a;&a;&a;&a;&a;&a;&a;&a;&a;&a;\">"
          "<!ENTITY c \"&b;&b;&b;&b;&b;&b;&b;&b;&b;&b;\"><!ENTITY d \"&c;&c;&c;&c;&c;&c;&c;&c;\">"
          "<!ENTITY e \"&d;&d;&d;&d;&d;&d;&d;&d;&d;\"><!ENTITY f \"&e;&e;&e;&e;&e;&e;&e;&e;\">"
          "]><z>&f;</z>" },
        { "a file", "<!DOCTYPE z [<!ENTITY x SYSTEM \"file:///etc/passwd\">]><z>&x;</z>" },
        { "an address", "<!DOCTYPE z [<!ENTITY x SYSTEM \"http://127.0.0.1:9/x\">]><z>&x;</z>" },
        { "public", "<!DOCTYPE z [<!ENTITY x PUBLIC \"-//X\" \"file:///etc/passwd\">]><z/>" },
        { "a parameter entity", "<!DOCTYPE z [<!ENTITY % p SYSTEM \"file:///etc/passwd\">]><z/>" },
        { "a parameter entity that is used",
          "<!DOCTYPE z [<!ENTITY % p \"<!ENTITY q 'x'>\">%p;]><z>&q;</z>" },
        { "unparsed", "<!DOCTYPE z [<!NOTATION n SYSTEM \"n\"><!ENTITY x SYSTEM \"f\" NDATA n>]>"
                      "<z/>" },
        { "harmless, but rejected", "<!DOCTYPE z [<!ENTITY nl \"x\">]><z/>" },
        { "undeclared", "<z>a&nbsp;b</z>" },
        { "undeclared with a DTD that is not read",
          "<!DOCTYPE z PUBLIC \"-//X\" \"http://127.0.0.1:9/x.dtd\"><z>a&nbsp;b</z>" },
        { "in an attribute",
          "<!DOCTYPE z SYSTEM \"http://127.0.0.1:9/x.dtd\"><z x=\"a&nbsp;b\"/>" },
        { "in a default of an attribute", "<!DOCTYPE z [<!ATTLIST z x CDATA \"a&nbsp;b\">]><z/>" },
    };

    begin();
    for (size_t i = 0; i < ARRAY_LEN(cases); i++)
        check_refused(str_of(cases[i].text), STR(""), "xml.entity", cases[i].label);
}

TEST(xml_doctype_without_entities_is_passed_over)
{
    struct xml_doc *doc;

    begin();
    doc =
        open_text(STR("<!DOCTYPE z PUBLIC \"-//X//Y\" \"http://127.0.0.1:9/x.dtd\" "
                      "[<!ELEMENT z (#PCDATA)><!ATTLIST z d CDATA \"v\">]><z>&lt;&#65;&amp;</z>"));
    CHECK_STR(text_at(xml_root(xml, doc), "/z"), STR("<A&"), "XML's own entities");
    xml_close(xml, doc);
}

TEST(xml_that_is_not_well_formed_is_an_error_with_its_place)
{
    static const struct {
        const char *text;
        const char *place;
    } cases[] = {
        { "", "line 1, column 1" },
        { " ", "line 1" },
        { "Rate exceeded.", "line 1, column 1" },
        { "<a>\n<b></a>", "line 2" },
        { "<a>\n\n  <b x=1/></a>", "line 3" },
        { "<a/><b/>", "line 1" },
        { "<a>\x01</a>", "line 1" },
        { "<a b='1' b='2'/>", "line 1" },
        { "<a b='<'/>", "line 1" },
        { "<a>&#0;</a>", "line 1" },
        { "<a>\n&lt</a>", "line 2" },
        { "<a><![CDATA[x</a>", "line 1" },
        { "<html><body><p>502<br></body></html>", "line 1" },
    };

    begin();
    for (size_t i = 0; i < ARRAY_LEN(cases); i++) {
        struct xml_doc *doc;
        struct error err = { 0 };
        const struct xml_source source = { .bytes = str_of(cases[i].text) };

        CHECK(!xml_open(xml, &arena, &source, &doc, &err), cases[i].text);
        CHECK_STR(str_of(err.code), STR("xml.syntax"), cases[i].text);
        CHECK(str_find(str_of(err.text), str_of(cases[i].place)) < str_of(err.text).len, err.text);
    }
}

/* Cut off anywhere, a document is refused: a lost tail is never "fewer records". */
TEST(xml_truncated_anywhere_is_an_error)
{
    const struct str whole = STR("<?xml version=\"1.0\"?>\n<!-- c --><a x=\"1\"><b>t&amp;</b>"
                                 "<![CDATA[<c>]]><?pi x?><d/>\xC3\xA9</a>");
    struct xml_doc *doc;
    struct error err;

    begin();
    for (size_t len = 0; len < whole.len; len++) {
        const struct xml_source source = { .bytes = str_slice(whole, 0, len) };

        CHECK(!xml_open(xml, &arena, &source, &doc, &err), QUOTE(source.bytes));
    }
    doc = open_text(whole);
    xml_close(xml, doc);
}

TEST(xml_limits_are_kept)
{
    const struct str text = STR("<a><b c='1' d='2'><e/></b><!-- f --><?g?></a>");
    static const struct {
        struct xml_source limits;
        bool fits;
        const char *label;
    } cases[] = {
        { { .bytes_max = 45 }, true, "bytes" }, { { .bytes_max = 44 }, false, "bytes" },
        { { .depth_max = 3 }, true, "depth" },  { { .depth_max = 2 }, false, "depth" },
        { { .nodes_max = 7 }, true, "nodes" },  { { .nodes_max = 6 }, false, "nodes" },
    };
    char deep[4096];
    size_t len = 0;

    begin();
    CHECK_EQ(text.len, 45, "the text");
    for (size_t i = 0; i < ARRAY_LEN(cases); i++) {
        struct xml_source source = cases[i].limits;
        struct xml_doc *doc;
        struct error err;

        source.bytes = text;
        CHECK_EQ(xml_open(xml, &arena, &source, &doc, &err), cases[i].fits, cases[i].label);
        if (!cases[i].fits)
            CHECK_STR(str_of(err.code), STR("xml.limit"), err.text);
        xml_close(xml, doc);
    }
    for (int i = 0; i <= XML_DEPTH_MAX; i++)
        len += (size_t)snprintf(deep + len, sizeof(deep) - len, "<a>");
    for (int i = 0; i <= XML_DEPTH_MAX; i++)
        len += (size_t)snprintf(deep + len, sizeof(deep) - len, "</a>");
    check_refused((struct str){ deep, len }, STR(""), "xml.limit", "deeper than the default");
}

/* Defaults of attributes multiply: each element of the body gets all of them. */
TEST(xml_attribute_defaults_count_as_nodes)
{
    char text[40000];
    size_t len = (size_t)snprintf(text, sizeof(text), "<!DOCTYPE z [<!ATTLIST z");
    struct xml_doc *doc;
    struct error err;

    for (int i = 0; i < 500; i++)
        len += (size_t)snprintf(text + len, sizeof(text) - len, " a%d CDATA 'v'", i);
    len += (size_t)snprintf(text + len, sizeof(text) - len, ">]><y>");
    for (int i = 0; i < 1000; i++)
        len += (size_t)snprintf(text + len, sizeof(text) - len, "<z/>");
    len += (size_t)snprintf(text + len, sizeof(text) - len, "</y>");
    begin();
    CHECK(!xml_open(xml, &arena,
                    &(struct xml_source){ .bytes = { text, len }, .nodes_max = 100000 }, &doc,
                    &err),
          "half a million attributes");
    CHECK_STR(str_of(err.code), STR("xml.limit"), "limit");
    CHECK(xml_error_is_limit(&err), "its kind");
}

/* ---- charsets ---- */

TEST(xml_charsets_become_utf8)
{
    static const struct {
        const char *label;
        struct str bytes;
        struct str charset;
    } cases[] = {
        { "UTF-8", STR_INIT("<a>\xC3\xA9</a>"), STR_INIT("") },
        { "UTF-8 with a mark", STR_INIT("\xEF\xBB\xBF<a>\xC3\xA9</a>"), STR_INIT("") },
        { "a mark is stronger than a declaration",
          STR_INIT("\xEF\xBB\xBF<?xml version='1.0' encoding='ISO-8859-1'?><a>\xC3\xA9</a>"),
          STR_INIT("") },
        { "declared Latin-1",
          STR_INIT("<?xml version=\"1.0\" encoding=\"ISO-8859-1\"?><a>\xE9</a>"), STR_INIT("") },
        { "Latin-1 by the header", STR_INIT("<?xml version='1.0' encoding='UTF-8'?><a>\xE9</a>"),
          STR_INIT("iso-8859-1") },
        { "declared with single quotes and spaces",
          STR_INIT("<?xml version='1.0'  encoding = 'windows-1252' ?><a>\xE9</a>"), STR_INIT("") },
        { "UTF-16LE with a mark", STR_INIT("\xFF\xFE<\0a\0>\0\xE9\0<\0/\0a\0>\0"), STR_INIT("") },
        { "UTF-16BE with a mark", STR_INIT("\xFE\xFF\0<\0a\0>\0\xE9\0<\0/\0a\0>"), STR_INIT("") },
        { "UTF-16LE without a mark", STR_INIT("<\0a\0>\0\xE9\0<\0/\0a\0>\0"), STR_INIT("") },
        { "US-ASCII", STR_INIT("<?xml version='1.0' encoding='us-ascii'?><a>&#xe9;</a>"),
          STR_INIT("") },
    };

    for (size_t i = 0; i < ARRAY_LEN(cases); i++) {
        struct xml_doc *doc;
        struct error err;

        begin();
        REQUIRE_OK(
            xml_open(xml, &arena,
                     &(struct xml_source){ .bytes = cases[i].bytes, .charset = cases[i].charset },
                     &doc, &err),
            err);
        CHECK_STR(text_at(xml_root(xml, doc), "/a"), STR("\xC3\xA9"), cases[i].label);
        xml_close(xml, doc);
    }
}

TEST(xml_bytes_that_are_not_of_their_charset_are_refused)
{
    static const struct {
        const char *label;
        struct str bytes;
        struct str charset;
    } cases[] = {
        { "Latin-1 as UTF-8", STR_INIT("<a>\xE9</a>"), STR_INIT("") },
        { "Latin-1 declared as UTF-8",
          STR_INIT("<?xml version='1.0' encoding='UTF-8'?><a>\xE9</a>"), STR_INIT("") },
        { "UTF-8 as ASCII", STR_INIT("<a>\xC3\xA9</a>"), STR_INIT("us-ascii") },
        { "half a character of UTF-16", STR_INIT("\xFF\xFE<\0a\0/\0>"), STR_INIT("") },
        { "a lone surrogate", STR_INIT("\xFF\xFE<\0a\0>\0\0\xD8<\0/\0a\0>\0"), STR_INIT("") },
        { "a NUL", STR_INIT("<a>\0</a>"), STR_INIT("") },
        { "four bytes each", STR_INIT("\0\0\0<\0\0\0a"), STR_INIT("") },
        { "no such charset", STR_INIT("<a/>"), STR_INIT("klingon") },
        { "iconv's options", STR_INIT("<a>\xE9</a>"), STR_INIT("UTF-8//IGNORE") },
        { "a path", STR_INIT("<?xml version='1.0' encoding='../../x'?><a/>"), STR_INIT("") },
    };

    begin();
    for (size_t i = 0; i < ARRAY_LEN(cases); i++)
        check_refused(cases[i].bytes, cases[i].charset, "xml.charset", cases[i].label);
}

/* ---- raw bytes ---- */

/* The place of each element, by a reader that knows only tags: an independent truth for
 * the positions that the parser gives. Fills `spans` in the order of the start tags. */
static size_t scan_elements(struct str text, struct str *spans, size_t most)
{
    size_t open[256], depth = 0, count = 0, i = 0;

    while (i < text.len) {
        const struct str rest = str_slice(text, i, text.len);

        if (str_starts(rest, STR("<!--"))) {
            i += str_find(rest, STR("-->")) + 3;
        } else if (str_starts(rest, STR("<![CDATA["))) {
            i += str_find(rest, STR("]]>")) + 3;
        } else if (str_starts(rest, STR("<?"))) {
            i += str_find(rest, STR("?>")) + 2;
        } else if (str_starts(rest, STR("<!"))) {
            i += str_find_char(rest, '>') + 1;
        } else if (rest.data[0] == '<') {
            char quote = '\0';
            size_t end = 1;

            for (; quote != '\0' || rest.data[end] != '>'; end++) {
                if (quote != '\0' ? rest.data[end] == quote
                                  : rest.data[end] == '"' || rest.data[end] == '\'')
                    quote = quote != '\0' ? '\0' : rest.data[end];
            }
            if (rest.data[1] == '/') {
                depth--;
                spans[open[depth]].len =
                    i + end + 1 - (size_t)(spans[open[depth]].data - text.data);
            } else {
                REQUIRE(count < most && depth < 256, "room");
                spans[count] = (struct str){ text.data + i, end + 1 };
                if (rest.data[end - 1] != '/')
                    open[depth++] = count;
                count++;
            }
            i += end + 1;
        } else {
            i++;
        }
    }
    return count;
}

static void check_positions(struct str bytes, const char *label)
{
    static struct str spans[200000];
    const size_t count = scan_elements(bytes, spans, ARRAY_LEN(spans));
    struct xml_doc *doc = open_text(bytes);
    struct xml_path *all = path_of("//*");
    struct xml_node_list nodes;
    struct error err;

    REQUIRE_OK(xml_nodes(xml, all, &arena, xml_root(xml, doc), &nodes, &err), err);
    CHECK_EQ(nodes.count, count, label);
    for (size_t i = 0; i < nodes.count && i < count; i++) {
        const struct str raw = xml_raw(xml, doc, nodes.nodes[i]);

        REQUIRE(raw.data == spans[i].data && raw.len == spans[i].len, label);
    }
    xml_path_close(xml, all);
    xml_close(xml, doc);
}

TEST(xml_raw_is_the_bytes_that_were_received)
{
    static const char *const texts[] = {
        "<a/>",
        "\n<a >x</a\n>\n",
        "<?xml version='1.0'?><!-- <x> --><a><b\tc='>' d=\"/>\"/><![CDATA[<q>]]></a><!-- -->",
        "<a>\r\n<b>\r\n</b>\r<c/>\r\n</a>\r\n",
        "<a><?p <x> ?><b></b><b/></a>",
        "<\xC3\xA9><b>\xE2\x82\xAC</b></\xC3\xA9>",
    };

    for (size_t i = 0; i < ARRAY_LEN(texts); i++) {
        begin();
        check_positions(str_of(texts[i]), texts[i]);
    }
}

/* Long documents and long tags: the parser drops what it has read, its count must not. */
TEST(xml_raw_is_right_in_long_documents)
{
    const size_t room = 3 << 20;
    char *text = malloc(room);
    size_t len = 0;

    REQUIRE(text != NULL, "memory");
    len += (size_t)snprintf(text + len, room - len, "<r>");
    for (int i = 0; i < 3000; i++) {
        const int width = 1 + i * 7 % 900;

        len +=
            (size_t)snprintf(text + len, room - len, "<e n='%d' t='%0*d'>%0*d<f g=\"%d\"/></e>\n",
                             i, width, i, 900 - width, i, i);
    }
    len += (size_t)snprintf(text + len, room - len, "</r>");
    begin();
    check_positions((struct str){ text, len }, "long");
    free(text);
}

/* ---- recorded responses ---- */

TEST(xml_reads_every_recorded_reply_and_gives_its_bytes)
{
    /* expat refuses these two, and no other. */
    static const char *const broken[] = { "/mit-500-empty.xml", "/pcurio-not-wellformed.xml" };
    char pattern[512];
    glob_t files;
    size_t read = 0, refused = 0;

    if (test_shared("fixtures") == NULL)
        TEST_SKIP("the fixtures are not here");
    (void)snprintf(pattern, sizeof(pattern), "%s/*/*.xml", test_shared("fixtures"));
    REQUIRE(glob(pattern, 0, NULL, &files) == 0, pattern);
    for (size_t i = 0; i < files.gl_pathc; i++) {
        const struct str name = str_of(files.gl_pathv[i]);
        const struct str bytes = test_read(files.gl_pathv[i]);

        begin();
        if (str_ends(name, str_of(broken[0])) || str_ends(name, str_of(broken[1]))) {
            check_refused(bytes, STR(""), "xml.syntax", files.gl_pathv[i]);
            refused++;
            continue;
        }
        check_positions(bytes, files.gl_pathv[i]);
        read++;
    }
    globfree(&files);
    CHECK_EQ(refused, 2, "the two that are broken");
    test_note("recorded XML responses: %zu read, every element's bytes compared; %zu refused", read,
              refused);
}

TEST(xml_records_of_recorded_replies_have_their_ids)
{
    static const struct {
        const char *file;
        const char *items;
        const char *id;
        size_t count;
        const char *first;
    } pages[] = {
        { "arxiv/query-0-10.xml", "/a:feed/a:entry", "a:id", 10,
          "http://arxiv.org/abs/2202.12139v1" },
        { "pubmed/pubmed1.xml", "/PubmedArticleSet/PubmedArticle", "MedlineCitation/PMID", 2,
          "12091962" },
        { "oai/zenodo-listrecords.xml", "/oai:OAI-PMH/oai:ListRecords/oai:record",
          "oai:header/oai:identifier", 50, NULL },
        { "europepmc/search.xml", "/responseWrapper/resultList/result", "id", 25, NULL },
    };

    if (test_shared("fixtures") == NULL)
        TEST_SKIP("the fixtures are not here");
    for (size_t i = 0; i < ARRAY_LEN(pages); i++) {
        struct xml_path *items = path_of(pages[i].items);
        struct xml_node_list nodes;
        struct xml_doc *doc;
        struct error err;
        char file[128];

        begin();
        (void)snprintf(file, sizeof(file), "fixtures/%s", pages[i].file);
        doc = open_text(test_read(test_shared(file)));
        REQUIRE_OK(xml_nodes(xml, items, &arena, xml_root(xml, doc), &nodes, &err), err);
        CHECK_EQ(nodes.count, pages[i].count, file);
        for (size_t k = 0; k < nodes.count; k++) {
            CHECK(text_at(nodes.nodes[k], pages[i].id).len > 0, file);
        }
        if (pages[i].first != NULL)
            CHECK_STR(text_at(nodes.nodes[0], pages[i].id), str_of(pages[i].first), file);
        xml_path_close(xml, items);
        xml_close(xml, doc);
    }
}

/* ---- elements as documents of their own ---- */

TEST(an_element_alone_has_the_declarations_it_uses)
{
    static const struct {
        const char *label;
        const char *document;
        const char *alone; /* of the element e */
    } cases[] = {
        { "nothing is declared", "<r><e a='1'>x</e></r>", "<e a='1'>x</e>" },
        { "the document itself", "<e xmlns='u'/>", "<e xmlns='u'/>" },
        { "a default", "<r xmlns='u'><e>x</e></r>", "<e xmlns=\"u\">x</e>" },
        { "prefixes, sorted", "<r xmlns:q='2' xmlns='u' xmlns:p='1'><e><q:x p:a=''/></e></r>",
          "<e xmlns=\"u\" xmlns:p=\"1\" xmlns:q=\"2\"><q:x p:a=''/></e>" },
        { "not those it does not use", "<r xmlns:q='2' xmlns='u' xmlns:p='1'><e><p:x/></e></r>",
          "<e xmlns=\"u\" xmlns:p=\"1\"><p:x/></e>" },
        { "a default that no name uses", "<r xmlns='u' xmlns:p='1'><p:e><p:x/></p:e></r>",
          "<p:e xmlns:p=\"1\"><p:x/></p:e>" },
        { "a default that only a name inside uses", "<r xmlns='u' xmlns:p='1'><p:e><x/></p:e></r>",
          "<p:e xmlns=\"u\" xmlns:p=\"1\"><x/></p:e>" },
        { "its own declarations",
          "<r xmlns='u' xmlns:p='1'><e xmlns='v' xmlns:p='2'><p:x/></e></r>",
          "<e xmlns='v' xmlns:p='2'><p:x/></e>" },
        { "declared again inside", "<r xmlns:p='1'><e><p:x xmlns:p='2'/></e></r>",
          "<e><p:x xmlns:p='2'/></e>" },
        { "the nearest one", "<r xmlns='u'><s xmlns='v'><e/></s></r>", "<e xmlns=\"v\"/>" },
        { "the nearest one is none", "<r xmlns='u'><s xmlns=''><e/></s></r>", "<e/>" },
        { "a name in a value", "<r xmlns:x='u' xmlns:p='1'><e x:type='p:Book'/></r>",
          "<e xmlns:p=\"1\" xmlns:x=\"u\" x:type='p:Book'/>" },
        { "a name in a text", "<r xmlns:p='1' xmlns:q='2'><e>see p:Book, not aq:x</e></r>",
          "<e xmlns:p=\"1\">see p:Book, not aq:x</e>" },
        { "a URI to escape", "<r xmlns='a&amp;b&lt;&quot;&#9;'><e\n/></r>",
          "<e xmlns=\"a&amp;b&lt;&quot;&#9;\"\n/>" },
        { "xml: is always there", "<r xmlns='u'><e xml:lang='en'/></r>",
          "<e xmlns=\"u\" xml:lang='en'/>" },
    };

    for (size_t i = 0; i < ARRAY_LEN(cases); i++) {
        struct xml_path *path = path_of("//*[local-name() = 'e']");
        struct xml_node_list nodes;
        struct xml_doc *doc;
        struct error err;
        struct str alone;

        begin();
        doc = open_text(str_of(cases[i].document));
        REQUIRE_OK(xml_nodes(xml, path, &arena, xml_root(xml, doc), &nodes, &err), err);
        REQUIRE(nodes.count == 1, cases[i].label);
        REQUIRE_OK(xml_alone(xml, doc, &arena, nodes.nodes[0], &alone, &err), err);
        CHECK_STR(alone, str_of(cases[i].alone), cases[i].label);
        xml_path_close(xml, path);
        xml_close(xml, doc);
    }
}

/* Another reader than ours: libxml2 as it comes, which reports prefixes without a declaration. */
static void note_fault(void *context, xmlError *error)
{
    (void)error;
    *(bool *)context = true;
}

static xmlDoc *read_strictly(struct str text, bool *is_faulty)
{
    xmlDoc *doc;

    *is_faulty = false;
    xmlSetStructuredErrorFunc(is_faulty, (xmlStructuredErrorFunc)note_fault);
    doc = xmlReadMemory(text.data, (int)text.len, NULL, NULL, XML_PARSE_NONET);
    xmlSetStructuredErrorFunc(NULL, NULL);
    return doc;
}

static void add_expanded(struct buf *out, const xmlNode *node, const xmlNs *ns)
{
    buf_printf(out, "{%s}%s", ns != NULL ? (const char *)ns->href : "", (const char *)node->name);
}

/* The names of an element and of all in it, each with the URI of its namespace, and the texts. */
static void add_names(struct buf *out, const xmlNode *node)
{
    if (node->type == XML_TEXT_NODE || node->type == XML_CDATA_SECTION_NODE)
        buf_add(out, str_of((const char *)node->content));
    if (node->type != XML_ELEMENT_NODE)
        return;
    add_expanded(out, node, node->ns);
    for (const xmlAttr *at = node->properties; at != NULL; at = at->next)
        add_expanded(out, (const xmlNode *)(const void *)at, at->ns);
    for (const xmlNode *child = node->children; child != NULL; child = child->next)
        add_names(out, child);
}

static struct str names_of(const xmlNode *node)
{
    struct buf out;

    buf_init(&out, &arena, SIZE_MAX / 2);
    add_names(&out, node);
    return buf_str(&out);
}

/* Every child of every child: the records of a page among them. */
static size_t check_alone(struct str bytes, const char *label)
{
    struct xml_doc *doc = open_text(bytes);
    struct xml_path *path = path_of("/*/* | /*/*/* | /*/*/*/*");
    struct xml_node_list nodes;
    struct error err;

    REQUIRE_OK(xml_nodes(xml, path, &arena, xml_root(xml, doc), &nodes, &err), err);
    for (size_t i = 0; i < nodes.count; i++) {
        struct str alone;
        xmlDoc *read;
        bool is_faulty;

        REQUIRE_OK(xml_alone(xml, doc, &arena, nodes.nodes[i], &alone, &err), err);
        read = read_strictly(alone, &is_faulty);
        REQUIRE(read != NULL, label);
        CHECK(!is_faulty, label);
        CHECK_STR(names_of(xmlDocGetRootElement(read)), names_of(nodes.nodes[i].node), label);
        xmlFreeDoc(read);
    }
    xml_path_close(xml, path);
    xml_close(xml, doc);
    return nodes.count;
}

TEST(any_parser_reads_the_elements_of_recorded_replies_alone)
{
    char pattern[512];
    glob_t files;
    size_t elements = 0;

    if (test_shared("fixtures") == NULL)
        TEST_SKIP("the fixtures are not here");
    (void)snprintf(pattern, sizeof(pattern), "%s/*/*.xml", test_shared("fixtures"));
    REQUIRE(glob(pattern, 0, NULL, &files) == 0, pattern);
    for (size_t i = 0; i < files.gl_pathc; i++) {
        const struct str name = str_of(files.gl_pathv[i]);

        begin();
        if (!str_ends(name, STR("/mit-500-empty.xml")) &&
            !str_ends(name, STR("/pcurio-not-wellformed.xml")))
            elements += check_alone(test_read(files.gl_pathv[i]), files.gl_pathv[i]);
    }
    test_note("recorded XML responses: %zu elements as documents of their own", elements);
    globfree(&files);
}

/* ---- memory, and the module itself ---- */

TEST(xml_survives_an_arena_that_fails)
{
    for (size_t n = 1;; n++) {
        struct arena small;
        struct xml_doc *doc;
        struct error err;
        bool reached;
        /* Latin-1, so that the conversion needs memory too. */
        const struct xml_source source = {
            .bytes = STR("<?xml version='1.0' encoding='ISO-8859-1'?><a>\xE9<b/></a>")
        };

        arena_init(&small, 1 << 20);
        small.fail_at = n;
        if (!xml_open(xml, &small, &source, &doc, &err))
            CHECK_STR(str_of(err.code), STR("memory.limit"), "out of memory");
        reached = small.fail_at == 0;
        CHECK_EQ(doc == NULL, reached, "opened or not");
        xml_close(xml, doc);
        arena_release(&small);
        if (!reached)
            break;
    }
    arena_release(&arena);
}

TEST(xml_module_can_be_loaded)
{
    struct error err;
    const struct xml *loaded;
    struct xml_doc *doc;

    loaded = module_load("xml", &err);
    REQUIRE_OK(loaded != NULL, err);
    begin();
    REQUIRE_OK(xml_open(loaded, &arena, &(struct xml_source){ .bytes = STR("<a/>") }, &doc, &err),
               err);
    xml_close(loaded, doc);
    arena_release(&arena);
}

TEST(an_element_with_too_many_attributes_is_refused_before_it_is_read)
{
    struct xml_doc *doc;
    struct error err = { 0 };
    struct buf text;

    begin();
    buf_init(&text, &arena, 8 << 20);
    buf_printf(&text, "<!-- <a b=1 c=2> --><r><![CDATA[<x =======>]]><a");
    for (int i = 0; i <= XML_ATTRIBUTES_MAX; i++)
        buf_printf(&text, " a%d='=\"='", i);
    buf_printf(&text, "/></r>");
    CHECK(!xml_open(xml, &arena, &(struct xml_source){ .bytes = buf_str(&text) }, &doc, &err),
          "too many");
    CHECK_STR(str_of(err.code), STR("xml.limit"), err.text);
}

/* Of a body that ends with its connection, nothing else shows that there was more. */
TEST(a_document_that_was_cut_anywhere_is_none)
{
    const struct str whole = STR("<?xml version='1.0'?><!DOCTYPE r><r><!-- c --><a b='c'>t</a>"
                                 "<![CDATA[x]]><d/>&amp;<?p i?></r>");
    struct xml_doc *doc;
    struct error err;

    for (size_t len = 0; len <= whole.len; len++) {
        const struct xml_source source = { .bytes = str_slice(whole, 0, len) };
        bool ok;

        begin();
        ok = xml_open(xml, &arena, &source, &doc, &err);
        CHECK_EQ(ok, len == whole.len, "only the whole one is read");
        if (ok)
            xml_close(xml, doc);
        arena_release(&arena);
    }
}
