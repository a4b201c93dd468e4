/* Parsing filters: what follows `?`. Types are checked here, by RFC 9535 section 2.4.3, so
 * evaluation never meets a function with the wrong arguments.
 *
 *      or  =  and || and ...     and  =  basic && basic ...
 *      basic  =  ( or )  |  !basic  |  operand op operand  |  operand (exists, or is true)
 */
#include <string.h>

#include "data/jsonpath_program.h"

static const struct path_function functions[] = {
    { STR_INIT("length"), FUNCTION_LENGTH, TYPE_VALUE, 1, { TYPE_VALUE } },
    { STR_INIT("count"), FUNCTION_COUNT, TYPE_VALUE, 1, { TYPE_NODES } },
    { STR_INIT("match"), FUNCTION_MATCH, TYPE_LOGICAL, 2, { TYPE_VALUE, TYPE_VALUE } },
    { STR_INIT("search"), FUNCTION_SEARCH, TYPE_LOGICAL, 2, { TYPE_VALUE, TYPE_VALUE } },
    { STR_INIT("value"), FUNCTION_VALUE, TYPE_VALUE, 1, { TYPE_NODES } },
};

static bool read_operand(struct path_parser *p, struct path_operand *operand);
static bool read_or(struct path_parser *p, struct path_expr **out);

static struct path_expr *new_expr(struct path_parser *p, enum expr_kind kind)
{
    struct path_expr *expr = ARENA_NEW(p->arena, struct path_expr);

    if (expr == NULL)
        (void)path_no_memory(p);
    else
        expr->kind = kind;
    return expr;
}

/* ---- operands ---- */

static bool is_digit(const struct path_parser *p)
{
    return p->at < p->end && *p->at >= '0' && *p->at <= '9';
}

static bool read_digits(struct path_parser *p)
{
    if (!is_digit(p))
        return path_fault(p, p->at, "expected a digit");
    while (is_digit(p))
        p->at++;
    return true;
}

/* A number of JSON. */
static bool read_number(struct path_parser *p, struct path_operand *operand)
{
    const char *const start = p->at;

    (void)path_take(p, STR("-"));
    if (path_take(p, STR("0"))) {
        if (is_digit(p))
            return path_fault(p, start, "a number has no leading zeros");
    } else if (!read_digits(p)) {
        return false;
    }
    if (path_take(p, STR(".")) && !read_digits(p))
        return false;
    if (path_take(p, STR("e")) || path_take(p, STR("E"))) {
        if (!path_take(p, STR("-")))
            (void)path_take(p, STR("+"));
        if (!read_digits(p))
            return false;
    }
    *operand = (struct path_operand){ .kind = OPERAND_LITERAL,
                                      .type = JSON_NUMBER,
                                      .text = { start, (size_t)(p->at - start) } };
    return true;
}

static bool is_type(const struct path_operand *operand, enum function_type wanted)
{
    switch (operand->kind) {
    case OPERAND_LITERAL:
        return wanted == TYPE_VALUE;
    case OPERAND_QUERY:
        return wanted == TYPE_NODES ||
               (wanted == TYPE_VALUE && operand->query->singular && !operand->query->blanks);
    case OPERAND_CALL:
        return operand->call->function->result == wanted;
    }
    return false;
}

static bool argument_fault(struct path_parser *p, const char *at, enum function_type wanted)
{
    return path_fault(p, at,
                      wanted == TYPE_NODES
                          ? "this function's argument is a query, such as @.* or $..name"
                          : "this function's argument is one value: a literal, a path with names "
                            "and indexes only, or a function that returns a value");
}

/* A literal pattern is compiled once. One that is not an I-Regexp never matches, by the RFC; its
 * author is warned. */
static bool prepare_pattern(struct path_parser *p, struct path_call *call)
{
    const struct path_operand *pattern = &call->args[1];
    struct error why;
    struct str warning;

    if (call->function->id != FUNCTION_MATCH && call->function->id != FUNCTION_SEARCH)
        return true;
    if (pattern->kind != OPERAND_LITERAL || pattern->type != JSON_STRING)
        return true;
    if (iregexp_compile(p->arena, pattern->text, &call->pattern, &why))
        return true;
    if (p->arena->failed)
        return path_no_memory(p);
    call->pattern_is_bad = true;
    warning = arena_printf(p->arena, "%s; so it never matches", why.text);
    if (warning.data == NULL)
        return path_no_memory(p);
    p->warning = warning.data;
    return true;
}

/* After "name(". */
static bool read_arguments(struct path_parser *p, struct path_call *call)
{
    const struct path_function *function = call->function;

    for (size_t i = 0; i < function->argc; i++) {
        const char *start;

        path_skip_space(p);
        start = p->at;
        if (path_is_at(p, STR(")")))
            return path_fault(p, p->at, "the function takes one more argument");
        if (!read_operand(p, &call->args[i]))
            return false;
        if (!is_type(&call->args[i], function->args[i]))
            return argument_fault(p, start, function->args[i]);
        path_skip_space(p);
        if (i + 1 < function->argc && !path_take(p, STR(",")))
            return path_fault(p, p->at, "expected , and another argument");
    }
    if (!path_take(p, STR(")")))
        return path_fault(p, p->at, "expected ) after the function's arguments");
    return prepare_pattern(p, call);
}

static bool read_call(struct path_parser *p, struct str name, struct path_operand *operand)
{
    struct path_call *call = ARENA_NEW(p->arena, struct path_call);

    if (call == NULL)
        return path_no_memory(p);
    for (size_t i = 0; i < ARRAY_LEN(functions); i++) {
        if (str_eq(functions[i].name, name))
            call->function = &functions[i];
    }
    if (call->function == NULL)
        return path_fault(p, name.data,
                          "unknown function; use length, count, match, search or value");
    p->at++;
    *operand = (struct path_operand){ .kind = OPERAND_CALL, .call = call };
    if (!path_enter(p) || !read_arguments(p, call))
        return false;
    path_leave(p);
    return true;
}

/* true, false, null, or a function's name directly followed by its parenthesis. */
static bool read_word(struct path_parser *p, struct path_operand *operand)
{
    static const struct {
        struct str word;
        enum json_type type;
        bool truth;
    } words[] = {
        { STR_INIT("true"), JSON_BOOL, true },
        { STR_INIT("false"), JSON_BOOL, false },
        { STR_INIT("null"), JSON_NULL, false },
    };
    const char *const start = p->at;
    struct str name;

    while (p->at < p->end && ((*p->at >= 'a' && *p->at <= 'z') || *p->at == '_' || is_digit(p)))
        p->at++;
    name = (struct str){ start, (size_t)(p->at - start) };
    if (path_is_at(p, STR("(")))
        return read_call(p, name, operand);
    for (size_t i = 0; i < ARRAY_LEN(words); i++) {
        if (str_eq(words[i].word, name)) {
            *operand = (struct path_operand){ .kind = OPERAND_LITERAL,
                                              .type = words[i].type,
                                              .truth = words[i].truth };
            return true;
        }
    }
    return path_fault(p, start, "expected @, $, a literal or a function; strings need quotes");
}

static bool read_query_operand(struct path_parser *p, struct path_operand *operand)
{
    struct path_query *query = ARENA_NEW(p->arena, struct path_query);

    if (query == NULL)
        return path_no_memory(p);
    if (!path_enter(p) || !path_read_query(p, query))
        return false;
    path_leave(p);
    *operand = (struct path_operand){ .kind = OPERAND_QUERY, .query = query };
    return true;
}

static bool read_operand(struct path_parser *p, struct path_operand *operand)
{
    if (p->at == p->end)
        return path_fault(p, p->at, "expected @, $, a literal or a function");
    if (*p->at == '@' || *p->at == '$')
        return read_query_operand(p, operand);
    if (*p->at == '\'' || *p->at == '"') {
        *operand = (struct path_operand){ .kind = OPERAND_LITERAL, .type = JSON_STRING };
        return path_read_string(p, &operand->text);
    }
    if (*p->at == '-' || is_digit(p))
        return read_number(p, operand);
    return read_word(p, operand);
}

/* ---- expressions ---- */

static bool read_op(struct path_parser *p, enum compare_op *op)
{
    static const struct {
        struct str text;
        enum compare_op op;
    } ops[] = {
        { STR_INIT("=="), COMPARE_EQ }, { STR_INIT("!="), COMPARE_NE },
        { STR_INIT("<="), COMPARE_LE }, { STR_INIT(">="), COMPARE_GE },
        { STR_INIT("<"), COMPARE_LT },  { STR_INIT(">"), COMPARE_GT },
    };

    for (size_t i = 0; i < ARRAY_LEN(ops); i++) {
        if (path_take(p, ops[i].text)) {
            *op = ops[i].op;
            return true;
        }
    }
    return false;
}

static bool read_comparison(struct path_parser *p, const char *left_at, struct path_expr *expr)
{
    static const char wrong[] = "cannot be compared: a path here has names and indexes only, "
                                "without blanks inside [], and a function returns a value";
    const char *right_at;

    expr->kind = EXPR_COMPARE;
    if (!is_type(&expr->left, TYPE_VALUE))
        return path_fault(p, left_at, wrong);
    path_skip_space(p);
    right_at = p->at;
    if (!read_operand(p, &expr->right))
        return false;
    if (!is_type(&expr->right, TYPE_VALUE))
        return path_fault(p, right_at, wrong);
    return true;
}

/* An operand, compared or tested by itself. After `!` it can only be tested. */
static bool read_test(struct path_parser *p, bool negated, struct path_expr **out)
{
    const char *const start = p->at;
    struct path_expr *expr = new_expr(p, EXPR_TEST);
    const char *after;

    *out = expr;
    if (expr == NULL || !read_operand(p, &expr->left))
        return false;
    after = p->at;
    path_skip_space(p);
    if (path_is_at(p, STR("=")) && !path_is_at(p, STR("==")))
        return path_fault(p, p->at, "equality is written ==");
    if (!negated && read_op(p, &expr->op))
        return read_comparison(p, start, expr);
    p->at = after;
    if (expr->left.kind == OPERAND_LITERAL)
        return path_fault(p, start, "a literal cannot be tested: compare it");
    if (expr->left.kind == OPERAND_CALL && expr->left.call->function->result == TYPE_VALUE)
        return path_fault(p, start, "this function returns a value: compare it");
    return true;
}

static bool read_parenthesis(struct path_parser *p, struct path_expr **out)
{
    p->at++;
    if (!path_enter(p))
        return false;
    path_skip_space(p);
    if (!read_or(p, out))
        return false;
    path_skip_space(p);
    if (!path_take(p, STR(")")))
        return path_fault(p, p->at, "expected )");
    path_leave(p);
    return true;
}

static bool read_basic(struct path_parser *p, struct path_expr **out)
{
    struct path_expr **inner = out;
    const bool negated = path_is_at(p, STR("!"));

    if (negated) {
        p->at++;
        path_skip_space(p);
        *out = new_expr(p, EXPR_NOT);
        if (*out == NULL)
            return false;
        inner = &(*out)->terms;
    }
    if (path_is_at(p, STR("(")))
        return read_parenthesis(p, inner);
    return read_test(p, negated, inner);
}

/* Terms with a word between them, gathered into one expression when there is more than one. */
static bool read_terms(struct path_parser *p, enum expr_kind kind, struct path_expr **out)
{
    const struct str word = kind == EXPR_OR ? STR("||") : STR("&&");
    struct path_expr *first = NULL, **last = &first;

    for (;;) {
        const char *after;

        if (!(kind == EXPR_OR ? read_terms(p, EXPR_AND, last) : read_basic(p, last)))
            return false;
        last = &(*last)->next;
        after = p->at;
        path_skip_space(p);
        if (!path_take(p, word)) {
            p->at = after;
            break;
        }
        path_skip_space(p);
    }
    *out = first;
    if (first->next == NULL)
        return true;
    *out = new_expr(p, kind);
    if (*out == NULL)
        return false;
    (*out)->terms = first;
    return true;
}

static bool read_or(struct path_parser *p, struct path_expr **out)
{
    return read_terms(p, EXPR_OR, out);
}

bool path_read_filter(struct path_parser *p, struct path_expr **out)
{
    path_skip_space(p);
    if (!path_enter(p) || !read_or(p, out))
        return false;
    path_leave(p);
    return true;
}
