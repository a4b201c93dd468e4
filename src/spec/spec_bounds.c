/* Which ends of its window an endpoint sends, found in the templates of its requests. */
#include "spec/spec_bounds.h"

#include <ctype.h>

/* Expressions may name expressions; a compiled source has no circle. */
enum { EXPR_DEPTH_MAX = 16 };

struct bounds {
    bool from;
    bool to;
};

static void add_template(const struct spec_endpoint *endpoint, const struct template *template,
                         int depth, struct bounds *bounds)
{
    for (const struct template_use *use = template->uses; use != NULL; use = use->next) {
        if (use->is_function)
            continue;
        if (use->scope == TEMPLATE_WINDOW) {
            bounds->from |= str_eq(use->name, STR("from"));
            bounds->to |= !str_eq(use->name, STR("from"));
        }
        for (size_t i = 0; use->scope == TEMPLATE_EXPR && i < endpoint->expr_count; i++) {
            if (depth < EXPR_DEPTH_MAX && str_eq(endpoint->exprs[i].name, use->name))
                add_template(endpoint, &endpoint->exprs[i].value, depth + 1, bounds);
        }
    }
}

static void add_params(const struct spec_endpoint *endpoint, const struct spec_param_list *params,
                       struct bounds *bounds)
{
    for (size_t i = 0; i < params->count; i++)
        add_template(endpoint, &params->items[i].value, 0, bounds);
}

static bool is_word(char c)
{
    return isalnum((unsigned char)c) || c == '_';
}

/* Whether a text has the variable, as a whole word: its scope, followed by its name. */
static bool names(struct str text, struct str scope, struct str name)
{
    while (text.len > 0) {
        const size_t at = str_find(text, scope);

        if (at >= text.len)
            return false;
        text = str_slice(text, at + scope.len, text.len);
        if (str_starts(text, name) && (text.len == name.len || !is_word(text.data[name.len])))
            return true;
    }
    return false;
}

/* The texts of a JSON body are compiled by those who send it; their words are enough here. */
static void add_body(const struct spec_endpoint *endpoint, struct bounds *bounds)
{
    bounds->from |= names(endpoint->json, STR("window.from"), STR(""));
    bounds->to |= names(endpoint->json, STR("window.to"), STR("")) ||
                  names(endpoint->json, STR("window.last"), STR(""));
    for (size_t i = 0; i < endpoint->expr_count; i++) {
        if (names(endpoint->json, STR("expr."), endpoint->exprs[i].name))
            add_template(endpoint, &endpoint->exprs[i].value, 0, bounds);
    }
}

void spec_bounds_find(struct spec_endpoint *endpoint)
{
    struct bounds bounds = { 0 };

    add_template(endpoint, &endpoint->path, 0, &bounds);
    add_params(endpoint, &endpoint->query, &bounds);
    add_params(endpoint, &endpoint->headers, &bounds);
    add_params(endpoint, &endpoint->form, &bounds);
    add_body(endpoint, &bounds);
    endpoint->window.sends_from = bounds.from;
    endpoint->window.sends_to = bounds.to;
}
