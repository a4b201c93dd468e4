/* Expressions to values: variables by the resolver, calls by their function. */
#include "data/template_eval.h"

#include <assert.h>

#include "base/instant.h"
#include "base/quote.h"

static const char *type_name(enum template_type type)
{
    switch (type) {
    case TEMPLATE_NULL:
        return "null";
    case TEMPLATE_TEXT:
        return "text";
    case TEMPLATE_INT:
        return "integer";
    case TEMPLATE_INSTANT:
        return "instant";
    case TEMPLATE_LIST:
        return "list";
    case TEMPLATE_ANY:
        break;
    }
    return "value";
}

/* The resolver must return a variable in its declared type. */
static bool keeps_table(const struct template_use *use, enum template_type type)
{
    for (size_t i = 0; i < template_variables_count; i++) {
        const struct template_variable_row *row = &template_variables[i];

        if (row->scope == use->scope && str_eq(str_of(row->name), use->name))
            return type == TEMPLATE_NULL || type == row->type;
    }
    return template_scopes[use->scope].free_names;
}

static bool eval_variable(const struct template_node *node, struct arena *arena,
                          const struct template_request *request, struct template_value *value,
                          struct error *err)
{
    const struct template_resolver *resolver = request->resolver;

    *value = (struct template_value){ 0 };
    if (node->use->scope == TEMPLATE_CREDENTIAL && request->redacted) {
        if (resolver->has_credential == NULL ||
            resolver->has_credential(resolver->context, node->use->name))
            *value = (struct template_value){ .type = TEMPLATE_TEXT, .text = STR("***") };
        return true;
    }
    if (!resolver->resolve(resolver->context, arena, node->use, value, err)) {
        return error_wrap(err, "%s.%.*s", template_scopes[node->use->scope].name,
                          STR_ARG(node->use->name));
    }
    assert(keeps_table(node->use, value->type));
    if (value->type == TEMPLATE_INSTANT &&
        (value->number < INSTANT_MIN || value->number > INSTANT_MAX)) {
        return error_set(err, ERROR_REQUEST, "template.range",
                         "%s.%.*s is outside the years 0000 to 9999",
                         template_scopes[node->use->scope].name, STR_ARG(node->use->name));
    }
    return true;
}

static bool argument_fits(const struct template_function *function, size_t position,
                          enum template_type type)
{
    const size_t last = TEMPLATE_PARAMETERS_MAX - 1;

    return (function->takes[position < last ? position : last] & type) != 0;
}

static bool eval_call(const struct template_node *node, struct arena *arena,
                      const struct template_request *request, struct template_value *value,
                      struct error *err)
{
    const struct template_function *function = node->function;
    struct template_value *arguments =
        ARENA_ARRAY(arena, struct template_value, node->argument_count);
    struct template_call call = { request, arena, arguments, node->argument_count };
    size_t i = 0;
    bool has_null = false;

    if (arguments == NULL)
        return arena_error(arena, err);
    for (struct template_node *at = node->arguments; at != NULL; at = at->next, i++) {
        if (!template_eval(at, arena, request, &arguments[i], err))
            return false;
        has_null = has_null || arguments[i].type == TEMPLATE_NULL;
        if (arguments[i].type != TEMPLATE_NULL && !argument_fits(function, i, arguments[i].type)) {
            return error_set(err, ERROR_REQUEST, "template.type",
                             "%s(%s): argument %zu cannot be of type %s", function->row.name,
                             function->row.arguments, i + 1, type_name(arguments[i].type));
        }
    }
    assert(i == node->argument_count);
    if (has_null && !function->takes_null) {
        *value = (struct template_value){ 0 };
        return true;
    }
    if (!function->eval(&call, value, err))
        return error_wrap(err, "%s()", function->row.name);
    return true;
}

/* Recursion is bounded: the parser rejects nesting beyond TEMPLATE_DEPTH_MAX. */
bool template_eval(const struct template_node *node, struct arena *arena,
                   const struct template_request *request, struct template_value *value,
                   struct error *err)
{
    switch (node->kind) {
    case TEMPLATE_NODE_LITERAL:
        *value = node->literal;
        return true;
    case TEMPLATE_NODE_VARIABLE:
        return eval_variable(node, arena, request, value, err);
    case TEMPLATE_NODE_CALL:
        return eval_call(node, arena, request, value, err);
    }
    return false;
}
