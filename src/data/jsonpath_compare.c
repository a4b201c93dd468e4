/* Evaluating filters: values, comparisons and functions, RFC 9535 sections 2.3.5.2.2 and 2.4. */
#include <assert.h>
#include <string.h>

#include "data/json_number.h"
#include "data/jsonpath_program.h"
#include "data/utf8.h"

/* A literal, a node's content, or Nothing (JSON_NONE). */
struct value {
    enum json_type type;
    struct json_node node; /* of arrays and objects */
    struct str text;       /* of strings, decoded */
    bool truth;
    bool is_integer;
    int64_t integer;
    double number;
};

static void set_number(struct value *value, struct str text)
{
    value->is_integer = json_number_i64(text, &value->integer);
    value->number = json_number_double(text);
}

/* Where a string with escapes is decoded to: a frame's text of side 0 or 1. */
struct place {
    size_t frame;
    int side;
};

static bool value_of_node(struct path_run *run, struct place place, struct json_node node,
                          struct value *value)
{
    struct buf *text = &run->frames[place.frame].texts[place.side];
    struct str raw;

    *value = (struct value){ .type = json_type(run->doc, node), .node = node };
    if (value->type == JSON_BOOL)
        return json_bool(run->doc, node, &value->truth);
    if (value->type != JSON_NUMBER && value->type != JSON_STRING)
        return true;
    raw = json_raw(run->doc, node);
    if (!path_spend_bytes(run, raw.len))
        return false;
    if (value->type == JSON_NUMBER) {
        set_number(value, raw);
        return true;
    }
    value->text = str_slice(raw, 1, raw.len - 1);
    if (str_find_char(raw, '\\') == raw.len)
        return true;
    buf_clear(text);
    buf_add(text, value->text); /* large enough: the decoded text is shorter */
    if (!buf_ok(text, run->err))
        return false;
    value->text = (struct str){ text->data, json_unescape(value->text, text->data) };
    return true;
}

static struct value value_of_literal(const struct path_operand *operand)
{
    struct value value = { .type = operand->type, .text = operand->text, .truth = operand->truth };

    if (value.type == JSON_NUMBER)
        set_number(&value, operand->text);
    return value;
}

static struct value value_of_count(size_t count)
{
    return (struct value){
        .type = JSON_NUMBER, .is_integer = true, .integer = (int64_t)count, .number = (double)count
    };
}

/* ---- equality ---- */

static bool equal_numbers(const struct value *a, const struct value *b)
{
    if (a->is_integer && b->is_integer)
        return a->integer == b->integer;
    return a->number == b->number;
}

static bool is_container(enum json_type type)
{
    return type == JSON_ARRAY || type == JSON_OBJECT;
}

/* Compares all but the contents of arrays and objects. */
static bool equal_outside(const struct value *a, const struct value *b)
{
    if (a->type != b->type)
        return false;
    switch (a->type) {
    case JSON_NUMBER:
        return equal_numbers(a, b);
    case JSON_STRING:
        return str_eq(a->text, b->text);
    case JSON_BOOL:
        return a->truth == b->truth;
    default:
        return true;
    }
}

static bool count_children(struct path_run *run, struct json_node node, size_t *count)
{
    struct json_iter it = json_each(run->doc, node);
    bool more;

    for (*count = 0; path_next(run, &it, &more); ++*count) {
        if (!more)
            return true;
    }
    return false;
}

static bool push_pair(struct path_run *run, size_t *depth, struct json_node a, struct json_node b)
{
    if (*depth == run->pair_capacity) {
        const size_t old = run->pair_capacity;
        struct path_pair *pairs;

        run->pair_capacity = old > 0 ? 2 * old : 16;
        pairs = arena_grow(run->arena, run->pairs, old * sizeof(*pairs),
                           run->pair_capacity * sizeof(*pairs));
        if (pairs == NULL)
            return arena_error(run->arena, run->err);
        run->pairs = pairs;
    }
    run->pairs[(*depth)++] =
        (struct path_pair){ json_each(run->doc, a), json_each(run->doc, b), b };
    return true;
}

/* *b is what a's next child must equal, JSON_NONE when there is none; *more is false when a has no
 * more children. */
static bool next_pair(struct path_run *run, size_t frame, struct path_pair *pair,
                      struct json_node *b, bool *more)
{
    struct value name;
    bool more_b;

    *b = JSON_NODE_NONE;
    if (!path_next(run, &pair->a, more))
        return false;
    if (!*more)
        return true;
    if (json_exists(pair->a.name))
        return value_of_node(run, (struct place){ frame, 0 }, pair->a.name, &name) &&
               path_member(run, pair->b_node, name.text, b);
    if (!path_next(run, &pair->b, &more_b))
        return false;
    if (more_b)
        *b = pair->b.value;
    return true;
}

/* Compares two nodes without their contents, and for containers the number of children. */
static bool equal_shallow(struct path_run *run, size_t frame, struct json_node a,
                          struct json_node b, bool *equal)
{
    struct value left, right;
    size_t a_count, b_count;

    if (!value_of_node(run, (struct place){ frame, 0 }, a, &left) ||
        !value_of_node(run, (struct place){ frame, 1 }, b, &right))
        return false;
    *equal = equal_outside(&left, &right);
    if (!*equal || !is_container(left.type))
        return true;
    if (!count_children(run, a, &a_count) || !count_children(run, b, &b_count))
        return false;
    *equal = a_count == b_count;
    return true;
}

static bool equal_nodes(struct path_run *run, size_t frame, struct json_node a, struct json_node b,
                        bool *equal)
{
    size_t depth = 0;

    if (!equal_shallow(run, frame, a, b, equal))
        return false;
    if (*equal && !push_pair(run, &depth, a, b))
        return false;
    while (*equal && depth > 0) {
        struct path_pair *pair = &run->pairs[depth - 1];
        struct json_node a_child, b_child;
        bool more;

        if (!next_pair(run, frame, pair, &b_child, &more))
            return false;
        if (!more) {
            depth--;
            continue;
        }
        a_child = pair->a.value;
        if (!equal_shallow(run, frame, a_child, b_child, equal))
            return false;
        if (*equal && is_container(json_type(run->doc, a_child)) &&
            !push_pair(run, &depth, a_child, b_child))
            return false;
    }
    return true;
}

static bool equal_values(struct path_run *run, size_t frame, const struct value *a,
                         const struct value *b, bool *equal)
{
    if (is_container(a->type) && a->type == b->type)
        return equal_nodes(run, frame, a->node, b->node, equal);
    *equal = equal_outside(a, b);
    return true;
}

/* Only numbers and strings have an order. UTF-8 bytes sort as code points do. */
static bool is_less(const struct value *a, const struct value *b)
{
    if (a->type != b->type)
        return false;
    if (a->type == JSON_STRING)
        return str_cmp(a->text, b->text) < 0;
    if (a->type != JSON_NUMBER)
        return false;
    if (a->is_integer && b->is_integer)
        return a->integer < b->integer;
    return a->number < b->number;
}

/* ---- functions ---- */

static bool operand_value(struct path_run *run, struct place place,
                          const struct path_operand *operand, struct json_node current,
                          struct value *value);

static size_t count_points(struct str text)
{
    size_t count = 0;

    for (size_t i = 0; i < text.len; i++)
        count += ((unsigned char)text.data[i] & 0xC0) != 0x80;
    return count;
}

static bool call_length(struct path_run *run, const struct value *of, struct value *value)
{
    size_t count;

    *value = (struct value){ .type = JSON_NONE };
    if (of->type == JSON_STRING)
        *value = value_of_count(count_points(of->text));
    if (!is_container(of->type))
        return true;
    if (!count_children(run, of->node, &count))
        return false;
    *value = value_of_count(count);
    return true;
}

/* length, count and value. */
static bool call_value(struct path_run *run, struct place place, const struct path_call *call,
                       struct json_node current, struct value *value)
{
    struct path_list *nodes;
    struct value argument;

    if (call->function->id == FUNCTION_LENGTH)
        return operand_value(run, place, &call->args[0], current, &argument) &&
               call_length(run, &argument, value);
    if (!path_run_query(run, place.frame, call->args[0].query, current, &nodes))
        return false;
    if (call->function->id == FUNCTION_COUNT)
        *value = value_of_count(nodes->count);
    else if (nodes->count == 1)
        return value_of_node(run, place, nodes->items[0], value);
    else
        *value = (struct value){ .type = JSON_NONE };
    return true;
}

/* A pattern from the data is compiled each time; an invalid one matches nothing. */
enum { PATTERN_STEPS = 500 };

static bool pattern_of(struct path_run *run, const struct path_call *call, struct str text,
                       const struct iregexp **pattern)
{
    struct error why;

    arena_reset(&run->patterns);
    *pattern = call->pattern;
    if (*pattern != NULL || call->pattern_is_bad)
        return true;
    if (!path_spend(run, PATTERN_STEPS + text.len))
        return false;
    if (!iregexp_compile(&run->patterns, text, pattern, &why))
        *pattern = NULL;
    return true;
}

/* match and search. */
static bool call_logical(struct path_run *run, size_t frame, const struct path_call *call,
                         struct json_node current, bool *holds)
{
    const bool search = call->function->id == FUNCTION_SEARCH;
    const struct iregexp *pattern;
    struct value text, regexp;

    *holds = false;
    if (!operand_value(run, (struct place){ frame, 0 }, &call->args[0], current, &text) ||
        !operand_value(run, (struct place){ frame, 1 }, &call->args[1], current, &regexp))
        return false;
    if (text.type != JSON_STRING || regexp.type != JSON_STRING)
        return true;
    if (!pattern_of(run, call, regexp.text, &pattern))
        return false;
    if (pattern == NULL)
        return true;
    if (iregexp_run(pattern, &run->patterns, (struct iregexp_text){ text.text, search, run->steps },
                    holds, run->err))
        return true;
    return *run->steps == 0 ? path_spend(run, 1) : false;
}

static bool operand_value(struct path_run *run, struct place place,
                          const struct path_operand *operand, struct json_node current,
                          struct value *value)
{
    struct json_node node;

    switch (operand->kind) {
    case OPERAND_LITERAL:
        *value = value_of_literal(operand);
        return true;
    case OPERAND_QUERY:
        return path_run_singular(run, operand->query, current, &node) &&
               value_of_node(run, place, node, value);
    case OPERAND_CALL:
        return call_value(run, place, operand->call, current, value);
    }
    return false;
}

/* ---- expressions ---- */

static bool test_comparison(struct path_run *run, size_t frame, const struct path_expr *expr,
                            struct json_node current, bool *holds)
{
    struct value a, b;
    bool equal = false;

    if (!path_spend(run, 1) ||
        !operand_value(run, (struct place){ frame, 0 }, &expr->left, current, &a) ||
        !operand_value(run, (struct place){ frame, 1 }, &expr->right, current, &b))
        return false;
    if (expr->op != COMPARE_LT && expr->op != COMPARE_GT &&
        !equal_values(run, frame, &a, &b, &equal))
        return false;
    switch (expr->op) {
    case COMPARE_EQ:
        *holds = equal;
        break;
    case COMPARE_NE:
        *holds = !equal;
        break;
    case COMPARE_LT:
    case COMPARE_LE:
        *holds = equal || is_less(&a, &b);
        break;
    case COMPARE_GT:
    case COMPARE_GE:
        *holds = equal || is_less(&b, &a);
        break;
    }
    return true;
}

/* A query by itself tests for existence, a function for its result. */
static bool test_operand(struct path_run *run, size_t frame, const struct path_operand *operand,
                         struct json_node current, bool *holds)
{
    struct path_list *nodes;
    struct json_node node;

    if (operand->kind == OPERAND_CALL)
        return call_logical(run, frame, operand->call, current, holds);
    if (operand->query->singular) {
        if (!path_run_singular(run, operand->query, current, &node))
            return false;
        *holds = json_exists(node);
        return true;
    }
    if (!path_run_query(run, frame, operand->query, current, &nodes))
        return false;
    *holds = nodes->count > 0;
    return true;
}

/* Recursion is as deep as the path's parentheses, which the parser limits. */
bool path_test(struct path_run *run, size_t frame, const struct path_expr *expr,
               struct json_node current, bool *holds)
{
    switch (expr->kind) {
    case EXPR_COMPARE:
        return test_comparison(run, frame, expr, current, holds);
    case EXPR_TEST:
        return test_operand(run, frame, &expr->left, current, holds);
    case EXPR_NOT:
        if (!path_test(run, frame, expr->terms, current, holds))
            return false;
        *holds = !*holds;
        return true;
    case EXPR_OR:
    case EXPR_AND:
        for (const struct path_expr *term = expr->terms; term != NULL; term = term->next) {
            if (!path_test(run, frame, term, current, holds))
                return false;
            if (*holds == (expr->kind == EXPR_OR))
                break; /* the rest cannot change it */
        }
        return true;
    }
    return false;
}
