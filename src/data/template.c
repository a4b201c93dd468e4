/* From text to pieces and trees. A faulty placeholder is skipped to its closing brace, so that one
 * pass finds the faults of all of them. */
#include "data/template.h"

#include <assert.h>

#include "base/buf.h"
#include "base/quote.h"
#include "base/suggest.h"
#include "data/template_eval.h"
#include "data/template_tree.h"

struct parser {
    struct arena *arena;
    struct str text;
    size_t at;
    struct template *template;
    struct template_piece **piece_tail;
    struct template_use **use_tail;
    struct template_faults *faults;
    size_t node_count;
    bool is_secret; /* the placeholder being read */
    bool no_memory;
};

static struct template_node *parse_expression(struct parser *p, int depth);

/* Allocates, or marks the parser as out of memory: everything stops at the next check. */
static void *make(struct parser *p, size_t size)
{
    void *made = arena_alloc(p->arena, size);

    p->no_memory = p->no_memory || made == NULL;
    return made;
}

/* Returns NULL, for parsers that return a node. `text` and `hint` are made by arena_printf. */
static void *fault(struct parser *p, size_t offset, struct str text, struct str hint)
{
    p->no_memory = p->no_memory || text.data == NULL || hint.data == NULL;
    if (!p->no_memory && p->faults->count < TEMPLATE_FAULTS_MAX)
        p->faults->items[p->faults->count] = (struct template_fault){ offset, text, hint };
    if (!p->no_memory)
        p->faults->count++;
    return NULL;
}

static char peek(const struct parser *p)
{
    return p->at < p->text.len ? p->text.data[p->at] : '\0';
}

static void skip_space(struct parser *p)
{
    while (peek(p) == ' ' || peek(p) == '\t' || peek(p) == '\n' || peek(p) == '\r')
        p->at++;
}

static bool is_name_start(char c)
{
    return (c >= 'a' && c <= 'z') || (c >= 'A' && c <= 'Z') || c == '_';
}

static bool is_digit(char c)
{
    return c >= '0' && c <= '9';
}

static struct str take_name(struct parser *p)
{
    const size_t from = p->at;

    if (is_name_start(peek(p))) {
        while (is_name_start(peek(p)) || is_digit(peek(p)) || peek(p) == '-')
            p->at++;
    }
    return str_slice(p->text, from, p->at);
}

static struct template_node *new_node(struct parser *p, int kind, size_t offset)
{
    struct template_node *node;

    if (p->node_count == TEMPLATE_NODES_MAX) {
        return fault(p, offset,
                     arena_printf(p->arena, "more than %d values and calls in one template",
                                  TEMPLATE_NODES_MAX),
                     STR("split it"));
    }
    node = make(p, sizeof(*node));
    if (node == NULL)
        return NULL;
    p->node_count++;
    node->kind = kind;
    node->offset = offset;
    return node;
}

static struct template_use *add_use(struct parser *p, const struct template_use *use)
{
    struct template_use *added = make(p, sizeof(*added));

    if (added == NULL)
        return NULL;
    *added = *use;
    *p->use_tail = added;
    p->use_tail = &added->next;
    return added;
}

/* ---- literals ---- */

static struct template_node *parse_integer(struct parser *p)
{
    const size_t from = p->at;
    struct template_node *node = new_node(p, TEMPLATE_NODE_LITERAL, from);

    if (node == NULL)
        return NULL;
    node->literal.type = TEMPLATE_INT;
    p->at += peek(p) == '-';
    while (is_digit(peek(p)))
        p->at++;
    if (!str_to_i64(str_slice(p->text, from, p->at), &node->literal.number)) {
        return fault(p, from, arena_printf(p->arena, "not an integer of 64 bits"),
                     STR("write longer numbers as a text, in quotes"));
    }
    return node;
}

static bool copy_text(struct parser *p, char quote, size_t from, size_t to, struct str *out)
{
    char *bytes = make(p, to - from);
    size_t len = 0;

    if (bytes == NULL)
        return false;
    for (size_t i = from; i < to; i++) {
        if (p->text.data[i] == '\\') {
            i++; /* the closing quote follows, so there is a next byte */
            if (p->text.data[i] != '\\' && p->text.data[i] != quote) {
                (void)fault(p, i - 1, arena_printf(p->arena, "unknown escape in a text"),
                            STR("write \\\\ for a backslash, and \\ before a quote"));
                return false;
            }
        }
        bytes[len++] = p->text.data[i];
    }
    *out = (struct str){ bytes, len };
    return true;
}

static struct template_node *parse_text(struct parser *p)
{
    const size_t from = p->at;
    const char quote = peek(p);
    struct template_node *node = new_node(p, TEMPLATE_NODE_LITERAL, from);

    if (node == NULL)
        return NULL;
    node->literal.type = TEMPLATE_TEXT;
    p->at++;
    while (p->at < p->text.len && peek(p) != quote)
        p->at += peek(p) == '\\' ? 2 : 1;
    if (p->at >= p->text.len) {
        p->at = p->text.len;
        return fault(p, from, arena_printf(p->arena, "a text is not closed by its quote"), STR(""));
    }
    p->at++;
    return copy_text(p, quote, from + 1, p->at - 1, &node->literal.text) ? node : NULL;
}

/* ---- variables ---- */

enum { VARIABLES_PER_SCOPE_MAX = 16, HINT_BYTES_MAX = 1024 };

/* The name that was likely meant, else all there are. */
static struct str hint_of(struct parser *p, struct str given, const char *const *names,
                          size_t count)
{
    const char *near = suggest(given, names, count);
    struct buf out;

    if (near != NULL)
        return arena_printf(p->arena, "did you mean %s?", near);
    buf_init(&out, p->arena, HINT_BYTES_MAX);
    buf_add(&out, STR("there are "));
    for (size_t i = 0; i < count; i++)
        buf_printf(&out, "%s%s", i > 0 ? ", " : "", names[i]);
    return out.failed ? STR("") : buf_str(&out);
}

static void unknown_scope(struct parser *p, struct str scope, size_t offset)
{
    const char *names[TEMPLATE_SCOPES];

    for (size_t i = 0; i < TEMPLATE_SCOPES; i++)
        names[i] = template_scopes[i].name;
    (void)fault(p, offset, arena_printf(p->arena, "unknown scope %s", QUOTE(scope)),
                hint_of(p, scope, names, TEMPLATE_SCOPES));
}

static void check_variable(struct parser *p, const struct template_use *use)
{
    const char *names[VARIABLES_PER_SCOPE_MAX];
    size_t count = 0;

    if (template_scopes[use->scope].free_names)
        return;
    for (size_t i = 0; i < template_variables_count; i++) {
        if (template_variables[i].scope != use->scope)
            continue;
        if (str_eq(use->name, str_of(template_variables[i].name)))
            return;
        assert(count < VARIABLES_PER_SCOPE_MAX);
        names[count++] = template_variables[i].name;
    }
    (void)fault(p, use->offset,
                arena_printf(p->arena, "%s has no variable %s", template_scopes[use->scope].name,
                             QUOTE(use->name)),
                hint_of(p, use->name, names, count));
}

static struct template_node *parse_variable(struct parser *p, struct str scope, size_t offset)
{
    struct template_node *node = new_node(p, TEMPLATE_NODE_VARIABLE, offset);
    struct template_use use = { .offset = offset };
    size_t i = 0;

    if (node == NULL)
        return NULL;
    p->at++; /* the dot */
    use.name = take_name(p);
    if (use.name.len == 0)
        return fault(p, p->at, arena_printf(p->arena, "a name is missing after the dot"), STR(""));
    while (i < TEMPLATE_SCOPES && !str_eq(scope, str_of(template_scopes[i].name)))
        i++;
    if (i == TEMPLATE_SCOPES) {
        unknown_scope(p, scope, offset);
        return node;
    }
    use.scope = (enum template_scope)i;
    check_variable(p, &use);
    node->use = add_use(p, &use);
    p->is_secret = p->is_secret || use.scope == TEMPLATE_CREDENTIAL;
    return node;
}

/* ---- calls ---- */

static const struct template_function *find_function(struct parser *p, struct str name,
                                                     size_t offset)
{
    const char *names[64];
    size_t count = 0;

    for (size_t i = 0; i < template_functions_count; i++) {
        if (str_eq(name, str_of(template_functions[i].row.name)))
            return &template_functions[i];
        assert(count < ARRAY_LEN(names));
        names[count++] = template_functions[i].row.name;
    }
    return fault(p, offset, arena_printf(p->arena, "unknown function %s", QUOTE(name)),
                 hint_of(p, name, names, count));
}

/* The types of an expression's result, as a set without null. */
static unsigned node_types(const struct template_node *node)
{
    unsigned types = 0;

    switch (node->kind) {
    case TEMPLATE_NODE_LITERAL:
        return node->literal.type;
    case TEMPLATE_NODE_VARIABLE:
        if (node->use != NULL && node->use->scope == TEMPLATE_CREDENTIAL)
            return TEMPLATE_TEXT;
        for (size_t i = 0; node->use != NULL && i < template_variables_count; i++) {
            if (template_variables[i].scope == node->use->scope &&
                str_eq(node->use->name, str_of(template_variables[i].name)))
                return template_variables[i].type;
        }
        return TEMPLATE_ANY;
    case TEMPLATE_NODE_CALL:
        if (node->function == NULL)
            return TEMPLATE_ANY;
        for (struct template_node *at = node->arguments; at != NULL; at = at->next)
            types |= node_types(at);
        return node->function->gives != 0 ? node->function->gives : types;
    }
    return TEMPLATE_ANY;
}

static void check_literal(struct parser *p, const struct template_function *function,
                          const struct template_node *argument)
{
    struct error err;

    if (argument->kind != TEMPLATE_NODE_LITERAL) {
        (void)fault(p, argument->offset,
                    arena_printf(p->arena, "%s(%s): the last argument must be a text in quotes",
                                 function->row.name, function->row.arguments),
                    STR("it is checked when the template is compiled"));
    } else if (!function->check(argument->literal.text, &err)) {
        (void)fault(p, argument->offset, arena_printf(p->arena, "%s", err.text), STR(""));
    }
}

static void check_call(struct parser *p, const struct template_node *node)
{
    const struct template_function *function = node->function;
    size_t i = 0;

    if (node->argument_count < function->least || node->argument_count > function->most) {
        (void)fault(
            p, node->offset,
            arena_printf(p->arena, "%s() with %zu arguments", function->row.name,
                         node->argument_count),
            arena_printf(p->arena, "write %s(%s)", function->row.name, function->row.arguments));
        return;
    }
    for (struct template_node *at = node->arguments; at != NULL; at = at->next, i++) {
        const unsigned takes = function->takes[i < TEMPLATE_PARAMETERS_MAX ? i : 1];

        if ((node_types(at) & takes) == 0) {
            (void)fault(p, at->offset,
                        arena_printf(p->arena, "%s(%s): argument %zu has the wrong type",
                                     function->row.name, function->row.arguments, i + 1),
                        STR(""));
        } else if (function->check != NULL && at->next == NULL) {
            check_literal(p, function, at);
        }
    }
}

static bool parse_arguments(struct parser *p, struct template_node *call, int depth)
{
    struct template_node **tail = &call->arguments;

    p->at++; /* the parenthesis */
    skip_space(p);
    if (peek(p) == ')') {
        p->at++;
        return true;
    }
    for (;;) {
        *tail = parse_expression(p, depth + 1);
        if (*tail == NULL)
            return false;
        tail = &(*tail)->next;
        call->argument_count++;
        skip_space(p);
        if (peek(p) == ')')
            break;
        if (peek(p) != ',') {
            (void)fault(p, p->at, arena_printf(p->arena, "a comma or ) is missing"), STR(""));
            return false;
        }
        p->at++;
    }
    p->at++;
    return true;
}

static struct template_node *parse_call(struct parser *p, struct str name, size_t offset, int depth)
{
    struct template_node *node = new_node(p, TEMPLATE_NODE_CALL, offset);

    if (node == NULL)
        return NULL;
    node->function = find_function(p, name, offset);
    node->use =
        add_use(p, &(struct template_use){ .offset = offset, .is_function = true, .name = name });
    if (!parse_arguments(p, node, depth))
        return NULL;
    if (node->function != NULL)
        check_call(p, node);
    return node;
}

/* ---- expressions and pieces ---- */

static struct template_node *parse_expression(struct parser *p, int depth)
{
    struct str name;
    size_t offset;

    skip_space(p);
    offset = p->at;
    if (p->no_memory)
        return NULL;
    if (depth > TEMPLATE_DEPTH_MAX) {
        return fault(p, offset,
                     arena_printf(p->arena, "calls nested deeper than %d", TEMPLATE_DEPTH_MAX),
                     STR(""));
    }
    if (peek(p) == '"' || peek(p) == '\'')
        return parse_text(p);
    if (is_digit(peek(p)) || peek(p) == '-')
        return parse_integer(p);
    name = take_name(p);
    if (name.len == 0) {
        return fault(p, offset,
                     arena_printf(p->arena, "a variable, a call or a literal is missing"),
                     STR("write ${window.from} or ${date(window.from)}, for example"));
    }
    if (peek(p) == '.')
        return parse_variable(p, name, offset);
    skip_space(p);
    if (peek(p) == '(')
        return parse_call(p, name, offset, depth);
    return fault(p, offset, arena_printf(p->arena, "the name %s has no scope", QUOTE(name)),
                 arena_printf(p->arena, "write scope.name, such as expr.%.*s", STR_ARG(name)));
}

static void add_piece(struct parser *p, struct str text, struct template_node *node)
{
    struct template_piece *piece;

    if (text.len == 0)
        return;
    piece = make(p, sizeof(*piece));
    if (piece == NULL)
        return;
    *piece = (struct template_piece){ NULL, text, node, node != NULL && p->is_secret };
    *p->piece_tail = piece;
    p->piece_tail = &piece->next;
    if (node != NULL) {
        p->template->is_constant = false;
        p->template->is_secret = p->template->is_secret || p->is_secret;
        p->template->has_list = p->template->has_list || node_types(node) == TEMPLATE_LIST;
    }
}

/* Skips to after the brace that closes a faulty placeholder. */
static void recover(struct parser *p)
{
    char quote = '\0';

    for (; p->at < p->text.len; p->at++) {
        const char c = p->text.data[p->at];

        if (quote != '\0') {
            if (c == '\\')
                p->at++;
            else if (c == quote)
                quote = '\0';
        } else if (c == '"' || c == '\'') {
            quote = c;
        } else if (c == '}') {
            p->at++;
            return;
        }
    }
    p->at = p->text.len;
}

static void parse_placeholder(struct parser *p)
{
    const size_t from = p->at;
    struct template_node *node;

    p->at += 2;
    p->is_secret = false;
    node = parse_expression(p, 1);
    if (node != NULL) {
        skip_space(p);
        if (peek(p) == '}') {
            p->at++;
            add_piece(p, str_slice(p->text, from, p->at), node);
            return;
        }
        if (p->at < p->text.len)
            (void)fault(p, p->at,
                        arena_printf(p->arena, "%s is not allowed here; } ends the expression",
                                     QUOTE(str_slice(p->text, p->at, p->at + 1))),
                        STR(""));
        else
            (void)fault(p, from, arena_printf(p->arena, "the closing } is missing"), STR(""));
    }
    recover(p);
}

static void parse_pieces(struct parser *p)
{
    size_t from = 0;

    while (p->at < p->text.len && !p->no_memory) {
        const struct str rest = str_slice(p->text, p->at, p->text.len);

        if (str_starts(rest, STR("$${"))) {
            add_piece(p, str_slice(p->text, from, p->at), NULL);
            from = p->at + 1; /* the second dollar and the brace are text */
            p->at += 3;
        } else if (str_starts(rest, STR("${"))) {
            add_piece(p, str_slice(p->text, from, p->at), NULL);
            parse_placeholder(p);
            from = p->at;
        } else {
            p->at++;
        }
    }
    add_piece(p, str_slice(p->text, from, p->at), NULL);
}

bool template_compile(struct template *template, struct arena *arena, struct str text,
                      struct template_faults *faults, struct error *err)
{
    struct parser p = { .arena = arena, .text = text, .template = template, .faults = faults };
    const struct template_fault *first = &faults->items[0];

    *template = (struct template){ .text = text, .is_constant = true };
    faults->count = 0;
    p.piece_tail = &template->pieces;
    p.use_tail = &template->uses;
    if (text.len > TEMPLATE_TEXT_MAX) {
        (void)fault(&p, 0,
                    arena_printf(arena, "a template of %zu bytes is too long; %d are allowed",
                                 text.len, TEMPLATE_TEXT_MAX),
                    STR(""));
    } else {
        parse_pieces(&p);
    }
    if (p.no_memory) {
        faults->count = 0;
        return arena_error(arena, err);
    }
    if (faults->count > 0) {
        return error_set(err, ERROR_REQUEST, "template.syntax",
                         "template %s, offset %zu: %.*s%s%.*s", QUOTE(text), first->offset,
                         STR_ARG(first->text), first->hint.len > 0 ? "; " : "",
                         STR_ARG(first->hint));
    }
    template->is_single =
        template->pieces != NULL &&template->pieces->next == NULL &&template->pieces->node != NULL;
    return true;
}
