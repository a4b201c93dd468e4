/* XPath 1.0: compiled once, together with the context in which it is evaluated. */
#include "data/xml_tree.h"

#include <libxml/xpath.h>
#include <libxml/xpathInternals.h>
#include <stdlib.h>
#include <string.h>

#include "base/quote.h"

/* Twenty million steps take about a second and visit each node of a page many times. A path that
 * visits every node for every node exceeds them. */
enum { PATH_TEXT_MAX = 4096, PATH_STEPS_MAX = 20 * 1000 * 1000 };

struct xml_path {
    xmlXPathContext *context;
    xmlXPathCompExpr *compiled;
    xmlChar text[PATH_TEXT_MAX + 1];
    struct error fault; /* of the current compilation or evaluation; level 0: none */
};

static const char *fault_text(int code)
{
    switch (code) {
    case XPATH_UNFINISHED_LITERAL_ERROR:
    case XPATH_START_LITERAL_ERROR:
        return "a text is not closed by its quote";
    case XPATH_INVALID_PREDICATE_ERROR:
        return "a predicate is not closed by ]";
    case XPATH_INVALID_TYPE:
    case XPATH_INVALID_OPERAND:
        return "a value of the wrong type";
    case XPATH_OP_LIMIT_EXCEEDED:
        return "it takes too many steps";
    case XPATH_RECURSION_LIMIT_EXCEEDED:
        return "it is nested too deeply";
    default:
        return "not a valid expression";
    }
}

static void on_error(void *user, xmlError *error)
{
    struct xml_path *path = user;
    const int code = error->code - XML_XPATH_EXPRESSION_OK;
    const bool is_limit = code == XPATH_OP_LIMIT_EXCEEDED || code == XPATH_RECURSION_LIMIT_EXCEEDED;

    if (path->fault.level != ERROR_NONE)
        return;
    (void)error_set(&path->fault, ERROR_REQUEST, is_limit ? "xpath.limit" : "xpath.syntax",
                    "XPath %s, offset %d: %s", QUOTE(str_of((const char *)path->text)), error->int1,
                    fault_text(code));
}

/* ---- evaluating ---- */

static xmlXPathObject *evaluate(struct xml_path *path, struct xml_node from, struct error *err)
{
    xmlNode *node = from.node;
    xmlXPathObject *result;

    path->fault = (struct error){ 0 };
    xmlResetError(&path->context->lastError);
    path->context->opCount = 0;
    path->context->doc = node->doc;
    path->context->node = node;
    result = xmlXPathCompiledEval(path->compiled, path->context);
    path->context->doc = NULL;
    path->context->node = NULL;
    if (result != NULL && path->fault.level == ERROR_NONE)
        return result;
    xmlXPathFreeObject(result);
    if (path->fault.level != ERROR_NONE)
        *err = path->fault;
    else
        (void)error_set(err, ERROR_TRANSIENT, "xml.memory",
                        "out of memory for the result of an XPath");
    return NULL;
}

/* ---- compiling ---- */

static bool add_namespaces(struct xml_path *path, const struct xml_namespace *namespaces,
                           size_t count)
{
    for (size_t i = 0; i < count; i++) {
        xmlChar *prefix =
            xmlStrndup((const xmlChar *)namespaces[i].prefix.data, (int)namespaces[i].prefix.len);
        xmlChar *uri =
            xmlStrndup((const xmlChar *)namespaces[i].uri.data, (int)namespaces[i].uri.len);
        const bool added =
            prefix != NULL && uri != NULL && xmlXPathRegisterNs(path->context, prefix, uri) == 0;

        xmlFree(prefix);
        xmlFree(uri);
        if (!added)
            return false;
    }
    return true;
}

static bool compile(struct xml_path *path, const struct xml_namespace *namespaces, size_t count,
                    struct error *err)
{
    path->context = xmlXPathNewContext(NULL);
    if (path->context == NULL || !add_namespaces(path, namespaces, count))
        return error_set(err, ERROR_TRANSIENT, "xml.memory", "out of memory for an XPath");
    path->context->error = on_error;
    path->context->userData = path;
    path->context->opLimit = PATH_STEPS_MAX;
    path->compiled = xmlXPathCtxtCompile(path->context, path->text);
    if (path->compiled != NULL && path->fault.level == ERROR_NONE)
        return true;
    if (path->fault.level == ERROR_NONE)
        return error_set(err, ERROR_TRANSIENT, "xml.memory", "out of memory for an XPath");
    *err = path->fault;
    return false;
}

/* Evaluating it on a document of one element finds values of the wrong type. */
static bool try_out(struct xml_path *path, struct error *err)
{
    xmlDoc *tree = xmlNewDoc((const xmlChar *)"1.0");
    xmlNode *element = xmlNewNode(NULL, (const xmlChar *)"x");
    xmlXPathObject *result = NULL;

    if (tree != NULL && element != NULL) {
        (void)xmlDocSetRootElement(tree, element);
        result = evaluate(path, (struct xml_node){ tree }, err);
        xmlXPathFreeObject(result);
    } else {
        xmlFreeNode(element);
        (void)error_set(err, ERROR_TRANSIENT, "xml.memory", "out of memory to test an XPath");
    }
    xmlFreeDoc(tree);
    return result != NULL;
}

bool xml_path_make(struct str text, const struct xml_namespace *namespaces, size_t count,
                   struct xml_path **made, struct error *err)
{
    struct xml_path *path;

    *made = NULL;
    if (text.len == 0 || text.len > PATH_TEXT_MAX || str_find_char(text, '\0') < text.len ||
        !str_is_utf8(text)) {
        return error_set(err, ERROR_REQUEST, "xpath.syntax",
                         "an XPath has 1 to %d bytes of UTF-8 without NUL: %s", PATH_TEXT_MAX,
                         QUOTE(text));
    }
    if (!xml_path_check(text, namespaces, count, err))
        return false;
    xmlInitParser();
    path = calloc(1, sizeof(*path));
    if (path == NULL)
        return error_set(err, ERROR_TRANSIENT, "xml.memory", "out of memory for an XPath");
    memcpy(path->text, text.data, text.len);
    if (!compile(path, namespaces, count, err) || !try_out(path, err)) {
        xml_path_end(path);
        return false;
    }
    *made = path;
    return true;
}

void xml_path_end(struct xml_path *path)
{
    if (path == NULL)
        return;
    xmlXPathFreeCompExpr(path->compiled);
    xmlXPathFreeContext(path->context);
    free(path);
}

/* ---- results ---- */

static bool wrong_type(const struct xml_path *path, struct error *err)
{
    return error_set(err, ERROR_REQUEST, "xpath.type", "XPath %s does not return elements",
                     QUOTE(str_of((const char *)path->text)));
}

static bool collect_nodes(const struct xml_path *path, struct arena *arena,
                          const xmlXPathObject *result, struct xml_node_list *list,
                          struct error *err)
{
    const size_t count = (size_t)xmlXPathNodeSetGetLength(result->nodesetval);
    struct xml_node *nodes = ARENA_ARRAY(arena, struct xml_node, count);

    if (result->type != XPATH_NODESET)
        return wrong_type(path, err);
    if (nodes == NULL)
        return arena_error(arena, err);
    if (count > 1)
        xmlXPathNodeSetSort(result->nodesetval);
    for (size_t i = 0; i < count; i++) {
        nodes[i].node = result->nodesetval->nodeTab[i];
        /* A namespace's node belongs to the result, not to the document. */
        if (((xmlNode *)nodes[i].node)->type == XML_NAMESPACE_DECL)
            return wrong_type(path, err);
    }
    *list = (struct xml_node_list){ nodes, count };
    return true;
}

bool xml_path_nodes(struct xml_path *path, struct arena *arena, struct xml_node from,
                    struct xml_node_list *nodes, struct error *err)
{
    xmlXPathObject *result = evaluate(path, from, err);
    bool collected;

    if (result == NULL)
        return false;
    collected = collect_nodes(path, arena, result, nodes, err);
    xmlXPathFreeObject(result);
    return collected;
}

/* Moves libxml2's text into the arena. */
static bool take_text(struct arena *arena, xmlChar *made, struct str *text, struct error *err)
{
    if (made == NULL)
        return error_set(err, ERROR_TRANSIENT, "xml.memory", "out of memory for a text");
    *text = arena_copy(arena, str_of((const char *)made));
    xmlFree(made);
    return text->data != NULL || arena_error(arena, err);
}

static bool collect_texts(struct arena *arena, xmlXPathObject *result, struct xml_text_list *list,
                          struct error *err)
{
    const bool is_set = result->type == XPATH_NODESET;
    const size_t count = is_set ? (size_t)xmlXPathNodeSetGetLength(result->nodesetval) : 1;
    struct str *texts = ARENA_ARRAY(arena, struct str, count);

    if (texts == NULL)
        return arena_error(arena, err);
    if (is_set && count > 1)
        xmlXPathNodeSetSort(result->nodesetval);
    for (size_t i = 0; i < count; i++) {
        xmlChar *made = is_set ? xmlXPathCastNodeToString(result->nodesetval->nodeTab[i])
                               : xmlXPathCastToString(result);

        if (!take_text(arena, made, &texts[i], err))
            return false;
    }
    *list = (struct xml_text_list){ texts, count };
    return true;
}

bool xml_path_texts(struct xml_path *path, struct arena *arena, struct xml_node from,
                    struct xml_text_list *texts, struct error *err)
{
    xmlXPathObject *result = evaluate(path, from, err);
    bool collected;

    if (result == NULL)
        return false;
    collected = collect_texts(arena, result, texts, err);
    xmlXPathFreeObject(result);
    return collected;
}

bool xml_path_test(struct xml_path *path, struct xml_node from, bool *value, struct error *err)
{
    xmlXPathObject *result = evaluate(path, from, err);

    if (result == NULL)
        return false;
    *value = xmlXPathCastToBoolean(result) != 0;
    xmlXPathFreeObject(result);
    return true;
}
