/* template: texts with ${...} in them, compiled once, rendered for each request.
 *
 *      from-index-date:${date(window.from)},until-index-date:${date(window.last)}
 *      ${join(ids.list, ",")}
 *      ${default(expr.q, "all")}
 *
 *      placeholder = "${" expression "}"          $${ is a literal ${
 *      expression  = variable | call | text | integer
 *      variable    = scope "." name               plan.id  window.from  expr.q
 *      call        = name "(" [expression {"," expression}] ")"
 *      text        = "..." or '...'               \" \' \\ inside
 *
 * There is no I/O, no loop and no assignment: rendering takes as many steps as the template has
 * nodes, and its output has a maximum. Values are null, text, integers, instants and lists of
 * text; an instant is written as ISO 8601 in UTC.
 *
 * The tables below list the scopes, variables and functions, for the compiler of sources, the
 * manual and this module. Names of the free scopes (expr, params, history, const, credential) are
 * checked by the caller, who knows the declarations: template.uses lists every variable and
 * function with its place in the text.
 *
 * Templates of sources have the scopes up to credential, those of projections the last two.
 *
 * Secrets: a placeholder that uses the credential scope anywhere is secret. Redacted rendering
 * writes *** for it, and calls the resolver only to find whether the credential exists. Everything
 * that is stored, logged or hashed is rendered redacted.
 */
#ifndef PATRA_DATA_TEMPLATE_H
#define PATRA_DATA_TEMPLATE_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "base/arena.h"
#include "base/attr.h"
#include "base/error.h"
#include "base/str.h"

/* ---- limits: far above what a request needs, far below what would harm ---- */
enum {
    TEMPLATE_TEXT_MAX = 64 * 1024,
    TEMPLATE_NODES_MAX = 512,
    TEMPLATE_DEPTH_MAX = 16,
    TEMPLATE_FAULTS_MAX = 16, /* reported at once; more are only counted */
};

/* ---- values ---- */

enum template_type {
    TEMPLATE_NULL = 0,
    TEMPLATE_TEXT = 1,
    TEMPLATE_INT = 2,
    TEMPLATE_INSTANT = 4,
    TEMPLATE_LIST = 8, /* of text */
    TEMPLATE_ANY = 15, /* for tables: any of them */
};

struct template_value {
    enum template_type type;
    struct str text;
    bool is_path;   /* TEXT: in a path its slashes are slashes */
    int64_t number; /* an integer, or an instant in microseconds */
    const struct str *items;
    size_t count;
};

/* ---- what exists ---- */

enum template_scope {
    TEMPLATE_PLAN,
    TEMPLATE_SLICE,
    TEMPLATE_WINDOW,
    TEMPLATE_PAGE,
    TEMPLATE_IDS,
    TEMPLATE_HISTORY,
    TEMPLATE_EXPR,
    TEMPLATE_PARAMS,
    TEMPLATE_CONST,
    TEMPLATE_CREDENTIAL,
    TEMPLATE_EVENT, /* projections have these two, and no others */
    TEMPLATE_COLUMN,
    TEMPLATE_SCOPES,
};

struct template_scope_row {
    const char *name;
    bool free_names; /* any name; otherwise those of template_variables */
    const char *help;
};

struct template_variable_row {
    enum template_scope scope;
    const char *name;
    enum template_type type;
    const char *help;
};

struct template_function_row {
    const char *name;
    const char *arguments; /* as the manual shows them: "instant, \"pattern\"" */
    const char *help;
};

extern const struct template_scope_row template_scopes[TEMPLATE_SCOPES];
extern const struct template_variable_row template_variables[];
extern const size_t template_variables_count;

/* By number, because the table itself is not public; NULL after the last. */
const struct template_function_row *template_function(size_t number);

/* ---- compiling ---- */

struct template_use { /* a variable or a function that a template names */
    struct template_use *next;
    size_t offset; /* in the template's text */
    bool is_function;
    enum template_scope scope; /* of a variable */
    struct str name;           /* without its scope */
};

struct template_fault {
    size_t offset; /* in the template's text */
    struct str text;
    struct str hint; /* may be empty */
};

struct template_faults {
    struct template_fault items[TEMPLATE_FAULTS_MAX];
    size_t count; /* may be larger than TEMPLATE_FAULTS_MAX */
};

struct template_piece;

struct template
{
    struct str text;
    struct template_piece *pieces; /* in order; none for the empty text */
    struct template_use *uses;     /* in order */
    bool is_secret;                /* some placeholder is */
    bool is_single;                /* exactly one placeholder */
    bool is_constant;              /* no placeholder at all */
    bool has_list;                 /* some placeholder is a list, which only a JSON value can be */
};

/* The template lives in the arena and refers to `text`, which must live as long. False when there
 * are faults: all of them are in `faults`, and err has the first ("template.syntax", L2); or when
 * the arena is full, with faults->count == 0. */
bool template_compile(struct template *template, struct arena *arena, struct str text,
                      struct template_faults *faults, struct error *err) MUST_CHECK;

/* ---- rendering ---- */

struct template_resolver {
    void *context;
    /* The value of a variable, TEMPLATE_NULL when it has none. Variables of the table have the
     * type of the table or are null. May allocate in the arena. */
    bool (*resolve)(void *context, struct arena *arena, const struct template_use *variable,
                    struct template_value *value, struct error *err);
    /* Called instead of resolve when rendering is redacted. NULL: every credential exists. */
    bool (*has_credential)(void *context, struct str name);
};

enum template_place {
    TEMPLATE_RAW,    /* unchanged: expressions, keys, texts for people */
    TEMPLATE_QUERY,  /* the value of a query parameter, percent-encoded as a whole */
    TEMPLATE_FORM,   /* the value of a field of a form body, encoded as a whole */
    TEMPLATE_PATH,   /* a path: values are encoded, so none can add or leave a segment */
    TEMPLATE_HEADER, /* the value of a header */
    TEMPLATE_JSON,   /* one JSON value: a single placeholder keeps its type, else a string */
};

enum template_null {                     /* what happens when a placeholder is null */
                     TEMPLATE_NULL_OMIT, /* by itself: the result is "omitted"; within a text: an
                                            error */
                     TEMPLATE_NULL_EMPTY,
                     TEMPLATE_NULL_ERROR,
};

struct template_request {
    const struct template_resolver *resolver;
    struct str parameter; /* the name of what is rendered, for errors: "query.filter" */
    enum template_place place;
    enum template_null null_policy;
    bool redacted;
    int64_t now_us;   /* what now() returns */
    size_t bytes_max; /* of the result, and of any text on the way */
};

struct template_result {
    bool is_omitted; /* leave the whole parameter out */
    struct str text; /* in the arena */
};

/* Errors are L2 and name the parameter: "template.null", "template.type", "template.range",
 * "template.control" for CR, LF, NUL (and in headers any control) in a query, path or header,
 * "template.path" for a value that would lead to another path, "buffer.limit". */
bool template_render(const struct template *template, struct arena *arena,
                     const struct template_request *request, struct template_result *result,
                     struct error *err) MUST_CHECK;

#endif
