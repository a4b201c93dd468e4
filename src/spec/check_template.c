/* Checks of templates: they must compile, use variables that exist in their place, and call
 * functions that are allowed. What an endpoint's templates use, directly or through expressions, is
 * kept for other checks. */
#include <stdio.h>
#include <string.h>

#include "data/json.h"
#include "spec/check_context.h"

/* Expressions may use one another. Each is examined once per endpoint, and its cost is kept: the
 * number of pieces after expansion. Without a limit, forty short lines could expand to a request of
 * terabytes. */
enum { EXPR_DEPTH_MAX = 16, EXPR_COST_MAX = 1000, EXPR_OPEN = -1 };

struct walk {
    struct check *check;
    struct check_place place; /* the value being examined */
    bool has_offsets;         /* the template's offsets are the value's */
    bool is_agent;            /* user_agent: rendered before there is a request */
    bool takes_list;          /* a value of a JSON body */
    bool takes_credential;    /* header, query, form, body */
    size_t depth;             /* of expressions within expressions */
    int64_t cost;
};

static struct check_place at(const struct walk *walk, size_t offset)
{
    struct check_place place = walk->place;

    place.offset = walk->has_offsets ? offset : 0;
    return place;
}

/* ---- functions ---- */

static bool is_function(struct str name)
{
    for (size_t i = 0; template_function(i) != NULL; i++) {
        if (str_eq(str_of(template_function(i)->name), name))
            return true;
    }
    return false;
}

/* The list of expr.functions, one name at a time. */
static bool list_has(const struct check *check, struct str json, struct str name)
{
    struct json_doc doc;
    struct json_iter it;
    struct error err;

    if (!json_parse(&doc, check->arena, json, &err))
        return false;
    for (it = json_each(&doc, json_root(&doc)); json_next(&it);) {
        if (json_string_is(&doc, it.value, name))
            return true;
    }
    return false;
}

static void check_function(const struct walk *walk, const struct template_use *use)
{
    const struct check *check = walk->check;

    if (!check_is_set(check, "expr.functions") ||
        list_has(check, resolution_text(&check->in, "expr.functions"), use->name))
        return;
    check_row_error(check, "spec.expr.function-forbidden", at(walk, use->offset),
                    "calls %.*s(), which expr.functions does not allow", STR_ARG(use->name));
    check_hint(check, "add it to expr.functions, or do not call it");
}

static void check_function_list(const struct check *check)
{
    struct json_doc doc;
    struct json_iter it;
    struct error err;

    if (!check_is_set(check, "expr.functions") ||
        !json_parse(&doc, check->arena, resolution_text(&check->in, "expr.functions"), &err))
        return;
    for (it = json_each(&doc, json_root(&doc)); json_next(&it);) {
        const struct str name = json_string_raw(&doc, it.value);

        if (is_function(name))
            continue;
        check_error(check, "spec.expr.unknown-function", "expr.functions",
                    "contains %.*s, which is not a function", STR_ARG(name));
        check_hint(check, "docs/source-format.md lists the functions");
    }
}

/* ---- variables ---- */

static void examine(struct walk *walk, struct str text);

/* Examines an expression where another one, or a parameter, uses it. */
static void open_expr(struct walk *walk, const struct registry_row *row, int64_t *cost)
{
    struct walk inner = *walk;

    *cost = EXPR_OPEN;
    inner.place = (struct check_place){ .row = row, .column = "expression" };
    inner.has_offsets = true;
    inner.depth++;
    inner.cost = 1;
    examine(&inner, row_text(row, "expression"));
    *cost = inner.cost;
    if (inner.cost <= EXPR_COST_MAX)
        return;
    *cost = EXPR_COST_MAX;
    check_row_error(walk->check, "spec.expr.too-large", inner.place,
                    "expands to more than %d pieces", EXPR_COST_MAX);
}

static void check_expr(struct walk *walk, const struct template_use *use)
{
    struct check *check = walk->check;
    const struct registry_row *row =
        source_row(check->source, REGISTRY_EXPR_RENDER, check->in.endpoint, use->name);
    int64_t *cost;

    if (row == NULL)
        row = source_row(check->source, REGISTRY_EXPR_RENDER, STR(""), use->name);
    if (row == NULL) {
        check_row_error(check, "spec.expr.unknown", at(walk, use->offset),
                        "uses expr.%.*s, which is not defined", STR_ARG(use->name));
        check->is_unclear = true;
        check_hint(check, "define it: expr: { define: { %.*s: ... } }", STR_ARG(use->name));
        return;
    }
    cost = &check->expr_costs[row - check->source->registry.rows];
    if (*cost == EXPR_OPEN || walk->depth == EXPR_DEPTH_MAX) {
        check_row_error(check, "spec.expr.cycle", at(walk, use->offset), "%s",
                        *cost == EXPR_OPEN ? "uses itself" : "is nested too deeply");
        return;
    }
    if (*cost == 0)
        open_expr(walk, row, cost);
    walk->cost += *cost;
}

static void check_param(const struct walk *walk, const struct template_use *use)
{
    char key[128];

    (void)snprintf(key, sizeof(key), "PARAM:%.*s", STR_ARG(use->name));
    if (source_row(walk->check->source, REGISTRY_PARAM, STR(""), str_of(key)) != NULL)
        return;
    check_row_error(walk->check, "spec.params.unknown", at(walk, use->offset),
                    "uses params.%.*s, which is not declared", STR_ARG(use->name));
    check_hint(walk->check, "declare it: params: { %.*s: env:NAME }", STR_ARG(use->name));
}

static void check_credential(const struct walk *walk, const struct template_use *use)
{
    static const char *const parts[] = { "secret", "username", "password", "token" };
    const struct check *check = walk->check;
    bool is_known = false;

    for (size_t i = 0; i < ARRAY_LEN(parts); i++)
        is_known |= str_eq(str_of(parts[i]), use->name);
    if (resolution_code(&check->in, "auth.type") == AUTH_NONE) {
        check_row_error(check, "spec.auth.no-credential", at(walk, use->offset),
                        "uses credential.%.*s, but auth.type is none", STR_ARG(use->name));
        check_hint(check, "set auth.type and where the credential is");
    } else if (!is_known) {
        check_row_error(check, "spec.auth.no-credential", at(walk, use->offset),
                        "uses credential.%.*s, which does not exist", STR_ARG(use->name));
        check_hint(check, "use secret, username, password or token");
    } else if (!walk->takes_credential) {
        check_row_error(check, "spec.auth.place", at(walk, use->offset),
                        "puts a credential where it would be logged");
        check_hint(check, "send credentials in headers, the query or the body");
    }
}

/* Only endpoints of phase two have history, and every phase one that leads to it must capture it.
 */
static void check_history(const struct walk *walk, const struct template_use *use)
{
    const struct check *check = walk->check;
    const struct registry_row *row = NULL;
    char key[128];

    (void)snprintf(key, sizeof(key), "HISTORY:%.*s", STR_ARG(use->name));
    while ((row = source_next_endpoint(check->source, row)) != NULL) {
        if (!str_eq(row_text(row, "detail_endpoint"), check->in.endpoint) ||
            source_row(check->source, REGISTRY_FIELD, row->endpoint, str_of(key)) != NULL)
            continue;
        check_row_error(check, "spec.details.history-unknown", at(walk, use->offset),
                        "uses history.%.*s, which endpoint %.*s does not capture",
                        STR_ARG(use->name), STR_ARG(row->endpoint));
        check_hint(check, "capture it there: response: { history: { %.*s: PATH } }",
                   STR_ARG(use->name));
    }
}

static const char *reason_against(const struct walk *walk, enum template_scope scope)
{
    const struct check *check = walk->check;
    const bool is_search = check->role == ENDPOINT_SEARCH;

    if (walk->is_agent && scope != TEMPLATE_PARAMS && scope != TEMPLATE_PLAN)
        return "the user agent is the same for every request";
    if (scope == TEMPLATE_EVENT || scope == TEMPLATE_COLUMN)
        return "only projections have events and columns";
    if (scope == TEMPLATE_CONST)
        return "declare constants under params";
    if (check->role < 0)
        return NULL;
    if (check->role == ENDPOINT_BULK && scope == TEMPLATE_PAGE)
        return "a file has no pages";
    if ((is_search || check->role == ENDPOINT_BULK) &&
        (scope == TEMPLATE_IDS || scope == TEMPLATE_HISTORY))
        return "only endpoints of role detail or metrics are requested by id";
    if (!is_search && scope == TEMPLATE_WINDOW)
        return "only endpoints of role search are requested by window";
    return NULL;
}

static void check_variable(struct walk *walk, const struct template_use *use)
{
    struct check *check = walk->check;
    const char *reason = reason_against(walk, use->scope);

    check->uses[use->scope] = true;
    for (size_t i = 0; i < template_variables_count; i++) {
        if (template_variables[i].scope == use->scope &&
            str_eq(str_of(template_variables[i].name), use->name))
            check->variable_uses |= 1U << i;
    }
    if (reason != NULL) {
        check_row_error(check, "spec.template.scope", at(walk, use->offset),
                        "uses %s.%.*s, which is not available here",
                        template_scopes[use->scope].name, STR_ARG(use->name));
        check_hint(check, "%s", reason);
    } else if (use->scope == TEMPLATE_EXPR)
        check_expr(walk, use);
    else if (use->scope == TEMPLATE_PARAMS)
        check_param(walk, use);
    else if (use->scope == TEMPLATE_CREDENTIAL)
        check_credential(walk, use);
    else if (use->scope == TEMPLATE_HISTORY)
        check_history(walk, use);
}

/* ---- templates ---- */

static void report_faults(const struct walk *walk, const struct template_faults *faults)
{
    for (size_t i = 0; i < faults->count && i < TEMPLATE_FAULTS_MAX; i++) {
        const struct template_fault *fault = &faults->items[i];

        check_row_error(walk->check, "spec.template.syntax", at(walk, fault->offset),
                        "is not a template: %.*s", STR_ARG(fault->text));
        if (fault->hint.len > 0)
            check_hint(walk->check, "%.*s", STR_ARG(fault->hint));
    }
}

static void examine(struct walk *walk, struct str text)
{
    struct template template;
    struct template_faults faults;
    struct error err;

    if (!template_compile(&template, walk->check->arena, text, &faults, &err)) {
        walk->check->faults->failed |= faults.count == 0;
        walk->check->is_unclear = true;
        report_faults(walk, &faults);
        return;
    }
    if (template.has_list && !walk->takes_list && walk->depth == 0) {
        check_row_error(walk->check, "spec.template.list", at(walk, 0), "is a list of ids");
        check_hint(walk->check, "make it a text: ${join(ids.list, \",\")}");
    }
    for (const struct template_use *use = template.uses; use != NULL; use = use->next) {
        walk->cost++;
        if (use->is_function)
            check_function(walk, use);
        else
            check_variable(walk, use);
    }
}

/* A default for a value that is always present has no effect. */
static void check_default(const struct check *check, const struct registry_row *row)
{
    const bool is_constant =
        str_find(row_text(row, "value"), STR("${")) == row_text(row, "value").len;

    if (!row_is_set(row, "default_value"))
        return;
    if (is_constant)
        check_row_error(check, "spec.idle", (struct check_place){ row, "default_value", 0 },
                        "has no effect: the value is always present");
    else if (row_is_set(row, "required"))
        check_row_error(check, "spec.idle", (struct check_place){ row, "required", 0 },
                        "has no effect: there is a default");
    else
        return;
    check_hint(check, "remove one of the two");
}

/* A value that could not be read: what it uses is unknown. */
static bool is_broken(const struct check *check, const struct registry_row *row)
{
    return source_is_broken(check->source, row, registry_column(row->table, STR("value")));
}

static void check_params(struct check *check, const char *prefix)
{
    const struct row_list rows =
        check_rows(check, (struct row_filter){ REGISTRY_PARAM, str_of(prefix), false });

    for (size_t i = 0; i < rows.count; i++) {
        struct walk walk = { .check = check,
                             .place = { .row = rows.items[i], .column = "value" },
                             .has_offsets = true,
                             .takes_credential = true };

        check->is_unclear |= is_broken(check, rows.items[i]);
        examine(&walk, row_text(rows.items[i], "value"));
        check_default(check, rows.items[i]);
    }
}

/* Each text of a JSON body is a template. */
static void check_body(struct check *check)
{
    const struct resolved *body = resolution_get(&check->in, "json");
    struct walk walk = { .check = check, .takes_list = true, .takes_credential = true };
    struct json_iter stack[JSON_DEPTH_MAX];
    struct json_doc doc;
    struct error err;
    struct str text;
    size_t depth = 0;

    if (!body->value.is_set || !json_parse(&doc, check->arena, body->value.text, &err))
        return;
    walk.place = (struct check_place){ .row = body->row, .column = "body" };
    if (json_type(&doc, json_root(&doc)) == JSON_STRING &&
        json_string(&doc, json_root(&doc), check->arena, &text, &err))
        examine(&walk, text);
    stack[depth++] = json_each(&doc, json_root(&doc));
    while (depth > 0) {
        struct json_iter *it = &stack[depth - 1];

        if (!json_next(it))
            depth--;
        else if (json_type(&doc, it->value) == JSON_STRING) {
            if (json_string(&doc, it->value, check->arena, &text, &err))
                examine(&walk, text);
        } else if (json_count(&doc, it->value) > 0 && depth < JSON_DEPTH_MAX) {
            stack[depth] = json_each(&doc, it->value);
            depth++;
        }
    }
}

static void check_one(struct check *check, const char *path, const char *column, bool is_agent)
{
    const struct resolved *resolved = resolution_get(&check->in, path);
    struct walk walk = { .check = check,
                         .place = { .row = resolved->row, .column = column },
                         .has_offsets = true,
                         .is_agent = is_agent };

    if (resolved->value.is_set && resolved->row != NULL)
        examine(&walk, resolved->value.text);
}

void check_templates(struct check *check)
{
    check_function_list(check);
    check_one(check, "http.user_agent", "user_agent", true);
    memset(check->uses, 0,
           sizeof(check->uses)); /* what the agent uses does not count for the request */
    check->variable_uses = 0;
    check_one(check, "path", "path", false);
    check_params(check, "QUERY:");
    check_params(check, "HEADER:");
    check_params(check, "FORM:");
    check_body(check);
}
