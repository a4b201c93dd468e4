/* Faults of an XPath that libxml2 only notices during evaluation, or never inside a predicate:
 * prefixes, functions and their arguments, variables. */
#include "data/xml_tree.h"

#include "base/quote.h"
#include "base/suggest.h"

enum { PATH_NESTING_MAX = 64 };

static const struct function {
    const char *name;
    size_t least; /* arguments */
    size_t most;
} functions[] = {
    { "boolean", 1, 1 },
    { "ceiling", 1, 1 },
    { "concat", 2, SIZE_MAX },
    { "contains", 2, 2 },
    { "count", 1, 1 },
    { "false", 0, 0 },
    { "floor", 1, 1 },
    { "id", 1, 1 },
    { "lang", 1, 1 },
    { "last", 0, 0 },
    { "local-name", 0, 1 },
    { "name", 0, 1 },
    { "namespace-uri", 0, 1 },
    { "normalize-space", 0, 1 },
    { "not", 1, 1 },
    { "number", 0, 1 },
    { "position", 0, 0 },
    { "round", 1, 1 },
    { "starts-with", 2, 2 },
    { "string", 0, 1 },
    { "string-length", 0, 1 },
    { "substring", 2, 3 },
    { "substring-after", 2, 2 },
    { "substring-before", 2, 2 },
    { "sum", 1, 1 },
    { "translate", 3, 3 },
    { "true", 0, 0 },
};
/* These precede a parenthesis but are not functions. */
static const char *const not_functions[] = {
    "and", "comment", "div", "mod", "node", "or", "processing-instruction", "text",
};

/* A walk over the expression's names, quotes and parentheses. */
struct walk {
    struct str text;
    size_t at;
    const struct xml_namespace *namespaces;
    size_t namespace_count;
    struct {
        const struct function *function; /* NULL: parentheses of another kind */
        size_t offset;
        size_t commas;
        bool is_empty;
    } open[PATH_NESTING_MAX];
    size_t depth;
    const struct function *called; /* whose parenthesis is next */
    size_t called_at;
    struct error *err;
};

static bool walk_fault(const struct walk *w, size_t offset, const char *what, struct str name)
{
    return error_set(w->err, ERROR_REQUEST, "xpath.syntax", "XPath %s, offset %zu: %s %s",
                     QUOTE(w->text), offset, what, QUOTE(name));
}

static bool is_name_start(char c)
{
    return (c >= 'a' && c <= 'z') || (c >= 'A' && c <= 'Z') || c == '_' || (c & 0x80) != 0;
}

static bool is_name_char(char c)
{
    return is_name_start(c) || (c >= '0' && c <= '9') || c == '-' || c == '.';
}

static struct str take_name(struct walk *w)
{
    const size_t from = w->at;

    while (w->at < w->text.len && is_name_char(w->text.data[w->at]))
        w->at++;
    return str_slice(w->text, from, w->at);
}

static bool check_function(struct walk *w, size_t offset, struct str name)
{
    const char *names[ARRAY_LEN(functions)];
    const char *near;

    for (size_t i = 0; i < ARRAY_LEN(not_functions); i++) {
        if (str_eq(name, str_of(not_functions[i])))
            return true;
    }
    for (size_t i = 0; i < ARRAY_LEN(functions); i++) {
        names[i] = functions[i].name;
        if (str_eq(name, str_of(functions[i].name))) {
            w->called = &functions[i];
            w->called_at = offset;
            return true;
        }
    }
    (void)walk_fault(w, offset, "XPath 1.0 has no function", name);
    near = suggest(name, names, ARRAY_LEN(names));
    return near != NULL ? error_wrap(w->err, "did you mean %s()?", near) : false;
}

static bool is_namespace(const struct walk *w, struct str prefix)
{
    for (size_t i = 0; i < w->namespace_count; i++) {
        if (str_eq(prefix, w->namespaces[i].prefix))
            return true;
    }
    return str_eq(prefix, STR("xml"));
}

static char next_mark(const struct walk *w)
{
    const struct str rest = str_trim(str_slice(w->text, w->at, w->text.len));

    return rest.len > 0 ? rest.data[0] : '\0';
}

/* An axis, a prefix and a name, a function, or a plain name. */
static bool check_name(struct walk *w)
{
    const size_t offset = w->at;
    struct str name = take_name(w);
    bool has_prefix = false;

    if (str_starts(str_slice(w->text, w->at, w->text.len), STR("::"))) {
        w->at += 2;
        return true;
    }
    if (w->at < w->text.len && w->text.data[w->at] == ':') {
        if (!is_namespace(w, name))
            return walk_fault(w, offset, "no namespace is declared for the prefix", name);
        has_prefix = true;
        w->at++;
        name = take_name(w);
    }
    if (next_mark(w) != '(')
        return true;
    if (has_prefix)
        return walk_fault(w, offset, "XPath 1.0 has no function", name);
    return check_function(w, offset, name);
}

static bool open_parenthesis(struct walk *w)
{
    if (w->depth == PATH_NESTING_MAX)
        return walk_fault(w, w->at, "nested too deeply at", str_slice(w->text, w->at, w->at + 20));
    w->open[w->depth].function = w->called;
    w->open[w->depth].offset = w->called_at;
    w->open[w->depth].commas = 0;
    w->at++;
    w->open[w->depth].is_empty = next_mark(w) == ')';
    w->called = NULL;
    w->depth++;
    return true;
}

/* libxml2's compiler checks that parentheses match. */
static bool close_parenthesis(struct walk *w)
{
    const struct function *function;
    size_t count;

    w->at++;
    if (w->depth == 0)
        return true;
    w->depth--;
    function = w->open[w->depth].function;
    count = w->open[w->depth].is_empty ? 0 : w->open[w->depth].commas + 1;
    if (function == NULL || (count >= function->least && count <= function->most))
        return true;
    return error_set(w->err, ERROR_REQUEST, "xpath.syntax",
                     "XPath %s, offset %zu: %s() with %zu arguments", QUOTE(w->text),
                     w->open[w->depth].offset, function->name, count);
}

static bool check_mark(struct walk *w)
{
    const char c = w->text.data[w->at];

    switch (c) {
    case '"':
    case '\'':
        w->at += 2 + str_find_char(str_slice(w->text, w->at + 1, w->text.len), c);
        return true;
    case '$':
        return walk_fault(w, w->at,
                          "variables are not supported:", str_slice(w->text, w->at, w->at + 20));
    case '(':
    case '[':
        return open_parenthesis(w);
    case ')':
    case ']':
        return close_parenthesis(w);
    case ',':
        if (w->depth > 0)
            w->open[w->depth - 1].commas++;
        break;
    default:
        break;
    }
    w->at++;
    return true;
}

bool xml_path_check(struct str text, const struct xml_namespace *namespaces, size_t count,
                    struct error *err)
{
    struct walk w = {
        .text = text, .namespaces = namespaces, .namespace_count = count, .err = err
    };

    while (w.at < text.len) {
        if (!(is_name_start(text.data[w.at]) ? check_name(&w) : check_mark(&w)))
            return false;
    }
    return true;
}
