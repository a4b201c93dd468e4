/* One pass of libxml2's parser, with our callbacks in front of its own:
 *
 *      start of an element    count, depth; its place in the text: back from the parser's position,
 *                             which is at the tag's end, to the < (a tag contains no other <)
 *      end of an element      its end: the parser's position, after the >
 *      any entity             the end of the pass
 */
#include "data/xml_tree.h"

#include <assert.h>
#include <libxml/SAX2.h>
#include <libxml/parser.h>
#include <libxml/xmlerror.h>
#include <libxml/xpath.h>

#include "base/buf.h"
#include "base/quote.h"

struct reading {
    struct xml_doc *doc;
    const struct xml_source *limits; /* with the defaults filled in */
    size_t depth;
    size_t nodes;
    bool failed;
    struct error *err;
};

static struct reading *reading_of(const xmlParserCtxt *parser)
{
    return parser->_private;
}

/* Keeps the first fault; later ones follow from it. */
static void stop(xmlParserCtxt *parser)
{
    reading_of(parser)->failed = true;
    xmlStopParser(parser);
}

static void on_error(void *user, xmlError *error)
{
    xmlParserCtxt *parser = user;
    struct reading *r = reading_of(parser);
    const bool is_entity =
        error->code == XML_ERR_UNDECLARED_ENTITY || error->code == XML_WAR_UNDECLARED_ENTITY;

    if (r->failed || (error->level < XML_ERR_ERROR && !is_entity) ||
        error->code == XML_NS_ERR_UNDEFINED_NAMESPACE || error->code == XML_WAR_NS_URI)
        return; /* a namespace is a name, whether it is a valid URI or not */
    (void)error_set(r->err, ERROR_REQUEST, is_entity ? "xml.entity" : "xml.syntax",
                    "line %d, column %d: %s", error->line, error->int2,
                    QUOTE(str_trim(str_of(error->message))));
    stop(parser);
}

static void refuse_entity(xmlParserCtxt *parser)
{
    struct reading *r = reading_of(parser);

    if (!r->failed) {
        (void)error_set(r->err, ERROR_REQUEST, "xml.entity",
                        "line %d, column %d: the document declares an entity", parser->input->line,
                        parser->input->col);
    }
    stop(parser);
}

static void on_entity(void *user, const xmlChar *name, int type, const xmlChar *public_id,
                      const xmlChar *system_id, xmlChar *content)
{
    (void)name;
    (void)type;
    (void)public_id;
    (void)system_id;
    (void)content;
    refuse_entity(user);
}

static void on_unparsed_entity(void *user, const xmlChar *name, const xmlChar *public_id,
                               const xmlChar *system_id, const xmlChar *notation)
{
    (void)name;
    (void)public_id;
    (void)system_id;
    (void)notation;
    refuse_entity(user);
}

/* No entity is found, even if one could be declared. */
static xmlEntity *find_no_entity(void *user, const xmlChar *name)
{
    (void)user;
    (void)name;
    return NULL;
}

static bool count_nodes(xmlParserCtxt *parser, size_t more)
{
    struct reading *r = reading_of(parser);

    r->nodes += more;
    if (r->failed)
        return false;
    if (r->nodes <= r->limits->nodes_max)
        return true;
    (void)error_set(r->err, ERROR_REQUEST, "xml.limit", "more than %zu nodes",
                    r->limits->nodes_max);
    stop(parser);
    return false;
}

static bool count_depth(xmlParserCtxt *parser)
{
    struct reading *r = reading_of(parser);

    if (++r->depth <= r->limits->depth_max)
        return true;
    (void)error_set(r->err, ERROR_REQUEST, "xml.limit", "line %d: nested deeper than %zu",
                    parser->input->line, r->limits->depth_max);
    stop(parser);
    return false;
}

static size_t position(const xmlParserCtxt *parser)
{
    return parser->input->consumed + (size_t)(parser->input->cur - parser->input->base);
}

static void on_start(void *user, const xmlChar *name, const xmlChar *prefix, const xmlChar *uri,
                     int namespace_count, const xmlChar **namespaces, int attribute_count,
                     int default_count, const xmlChar **attributes)
{
    xmlParserCtxt *parser = user;
    struct xml_doc *doc = reading_of(parser)->doc;
    size_t at = position(parser);

    if (!count_nodes(parser, 1 + (size_t)attribute_count + (size_t)namespace_count) ||
        !count_depth(parser))
        return;
    xmlSAX2StartElementNs(user, name, prefix, uri, namespace_count, namespaces, attribute_count,
                          default_count, attributes);
    if (parser->node == NULL)
        return; /* out of memory: the parser reports it at its end */
    if (at >= doc->text.len)
        at = doc->text.len - 1;
    while (at > 0 && doc->text.data[at] != '<')
        at--;
    doc->spans[doc->span_count].from = (uint32_t)at;
    parser->node->_private = &doc->spans[doc->span_count++];
}

static void on_end(void *user, const xmlChar *name, const xmlChar *prefix, const xmlChar *uri)
{
    xmlParserCtxt *parser = user;
    struct reading *r = reading_of(parser);

    if (parser->node != NULL && parser->node->_private != NULL)
        ((struct xml_span *)parser->node->_private)->to = (uint32_t)position(parser);
    r->depth--;
    xmlSAX2EndElementNs(user, name, prefix, uri);
}

static void on_comment(void *user, const xmlChar *text)
{
    if (count_nodes(user, 1))
        xmlSAX2Comment(user, text);
}

static void on_instruction(void *user, const xmlChar *target, const xmlChar *text)
{
    if (count_nodes(user, 1))
        xmlSAX2ProcessingInstruction(user, target, text);
}

static void on_cdata(void *user, const xmlChar *text, int len)
{
    if (count_nodes(user, 1))
        xmlSAX2CDataBlock(user, text, len);
}

static void set_callbacks(xmlParserCtxt *parser)
{
    xmlSAXHandler *sax = parser->sax;

    sax->serror = on_error;
    sax->entityDecl = on_entity;
    sax->unparsedEntityDecl = on_unparsed_entity;
    sax->getEntity = find_no_entity;
    sax->getParameterEntity = find_no_entity;
    sax->startElementNs = on_start;
    sax->endElementNs = on_end;
    sax->comment = on_comment;
    sax->processingInstruction = on_instruction;
    sax->cdataBlock = on_cdata;
}

/* Every element starts with a < followed by its name. */
static size_t count_elements_at_most(struct str text)
{
    size_t count = 0;

    for (size_t i = 0; i + 1 < text.len; i++) {
        const char next = text.data[i + 1];

        count += text.data[i] == '<' && next != '/' && next != '!' && next != '?';
    }
    return count;
}

/* How far the piece that begins with `begin` goes: to the end of `end`, or of the text. */
static size_t skip_piece(struct str text, size_t at, struct str end)
{
    const struct str rest = str_slice(text, at, text.len);
    const size_t found = str_find(rest, end);

    return found < rest.len ? at + found + end.len : text.len;
}

/* The signs of equality in the tag at `at`, but for those in quotes; *end is behind the tag. */
static size_t count_attributes_at_most(struct str text, size_t at, size_t *end)
{
    size_t count = 0;
    char quote = '\0';

    for (; at < text.len && (quote != '\0' || text.data[at] != '>'); at++) {
        const char c = text.data[at];

        if (quote != '\0')
            quote = c == quote ? '\0' : quote;
        else if (c == '"' || c == '\'')
            quote = c;
        else
            count += c == '=';
    }
    *end = at;
    return count;
}

/* libxml2 compares each attribute of an element with all before it: a hundred thousand of them take
 * a minute, in which nothing can stop it. */
static bool check_attributes(struct str text, struct error *err)
{
    for (size_t at = 0; at < text.len;) {
        const struct str rest = str_slice(text, at, text.len);

        if (rest.data[0] != '<')
            at++;
        else if (str_starts(rest, STR("<!--")))
            at = skip_piece(text, at, STR("-->"));
        else if (str_starts(rest, STR("<![CDATA[")))
            at = skip_piece(text, at, STR("]]>"));
        else if (count_attributes_at_most(text, at, &at) > XML_ATTRIBUTES_MAX)
            return error_set(err, ERROR_REQUEST, "xml.limit",
                             "an element has more than %d attributes", XML_ATTRIBUTES_MAX);
    }
    return true;
}

static bool read_tree(struct xml_doc *doc, const struct xml_source *limits, struct error *err)
{
    struct reading r = { .doc = doc, .limits = limits, .err = err };
    xmlParserCtxt *parser = xmlNewParserCtxt();

    if (parser == NULL)
        return error_set(err, ERROR_TRANSIENT, "xml.memory", "out of memory for a parser");
    parser->_private = &r;
    set_callbacks(parser);
    /* NOENT replaces XML's own five entities, and the callbacks reject all others; without it, an
     * ampersand in a namespace would stay "&#38;". */
    doc->tree = xmlCtxtReadMemory(parser, doc->text.data, (int)doc->text.len, NULL, NULL,
                                  XML_PARSE_NONET | XML_PARSE_NOENT | XML_PARSE_IGNORE_ENC |
                                      XML_PARSE_BIG_LINES | XML_PARSE_COMPACT);
    if (!r.failed && (doc->tree == NULL || !parser->wellFormed)) {
        r.failed = true;
        (void)error_set(err, ERROR_TRANSIENT, "xml.memory", "out of memory for the document");
    }
    xmlFreeParserCtxt(parser);
    if (r.failed) {
        xmlFreeDoc(doc->tree);
        doc->tree = NULL;
    }
    return !r.failed;
}

static struct xml_source with_defaults(const struct xml_source *source)
{
    struct xml_source limits = *source;

    if (limits.bytes_max == 0 || limits.bytes_max > XML_BYTES_MAX)
        limits.bytes_max = XML_BYTES_MAX;
    if (limits.depth_max == 0 || limits.depth_max > XML_DEPTH_MAX)
        limits.depth_max = XML_DEPTH_MAX;
    if (limits.nodes_max == 0)
        limits.nodes_max = XML_NODES_MAX;
    return limits;
}

bool xml_tree_open(struct arena *arena, const struct xml_source *source, struct xml_doc **opened,
                   struct error *err)
{
    const struct xml_source limits = with_defaults(source);
    struct xml_doc *doc;

    *opened = NULL;
    if (source->bytes.len > limits.bytes_max) {
        return error_set(err, ERROR_REQUEST, "xml.limit", "%zu bytes exceed the limit of %zu",
                         source->bytes.len, limits.bytes_max);
    }
    doc = ARENA_NEW(arena, struct xml_doc);
    if (doc == NULL)
        return arena_error(arena, err);
    if (!xml_charset_convert(arena, &limits, &doc->text, err))
        return false;
    if (doc->text.len == 0)
        return error_set(err, ERROR_REQUEST, "xml.syntax", "line 1, column 1: empty document");
    if (!check_attributes(doc->text, err))
        return false;
    doc->spans = ARENA_ARRAY(arena, struct xml_span, count_elements_at_most(doc->text));
    if (doc->spans == NULL)
        return arena_error(arena, err);
    xmlInitParser();
    if (!read_tree(doc, &limits, err))
        return false;
    (void)xmlXPathOrderDocElems(doc->tree); /* makes sorting found nodes cheap */
    *opened = doc;
    return true;
}

void xml_tree_close(struct xml_doc *doc)
{
    if (doc != NULL)
        xmlFreeDoc(doc->tree);
}

struct xml_node xml_tree_root(const struct xml_doc *doc)
{
    return (struct xml_node){ doc->tree };
}

struct str xml_tree_raw(const struct xml_doc *doc, struct xml_node node)
{
    const xmlNode *element = node.node;
    const struct xml_span *span;

    if (element->type != XML_ELEMENT_NODE)
        return (struct str){ NULL, 0 };
    assert(element->_private != NULL);
    span = element->_private;
    assert(span->from < span->to && span->to <= doc->text.len);
    assert(doc->text.data[span->from] == '<' && doc->text.data[span->to - 1] == '>');
    return str_slice(doc->text, span->from, span->to);
}

/* For programs that link the module's code; patra-xml.so exports its own (xml_export.c). */
const struct xml xml_module = XML_TABLE;
