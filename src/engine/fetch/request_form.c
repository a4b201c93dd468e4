/* What all requests of an endpoint have in common: the templates of its JSON body, what its
 * templates use, and the names whose values are secret.
 */
#include "engine/fetch/request_internal.h"

#include "base/list.h"
#include "data/json_write.h"
#include "data/url.h"

/* ---- the JSON body: compiling ---- */

/* Texts are visited in the order of the document, both times: the n-th text has the n-th template.
 */
struct body_walk {
    const struct json_doc *doc;
    struct json_iter stack[REQUEST_BODY_DEPTH_MAX];
    size_t depth;
};

static bool is_nested(const struct json_doc *doc, struct json_node node)
{
    const enum json_type type = json_type(doc, node);

    return type == JSON_OBJECT || type == JSON_ARRAY;
}

static bool descend(struct body_walk *walk, struct json_node node, struct error *err)
{
    if (walk->depth == REQUEST_BODY_DEPTH_MAX)
        return error_set(err, ERROR_FATAL, "request.body", "the body is nested more than %d deep",
                         REQUEST_BODY_DEPTH_MAX);
    walk->stack[walk->depth++] = json_each(walk->doc, node);
    return true;
}

struct templates {
    struct template *items;
    size_t count;
};

static bool compile_text(struct request_form *form, struct arena *arena, struct json_node node,
                         struct templates *list, struct error *err)
{
    struct template *template;
    struct template_faults faults;
    struct str text;

    if (json_type(&form->body, node) != JSON_STRING)
        return true;
    template = LIST_ADD(arena, list);
    if (template == NULL)
        return arena_error(arena, err);
    if (json_string(&form->body, node, arena, &text, err) &&
        template_compile(template, arena, text, &faults, err))
        return true;
    err->level = ERROR_FATAL;
    err->code = "request.body";
    return false;
}

static bool open_body(struct request_form *form, struct arena *arena, struct error *err)
{
    struct body_walk walk = { .doc = &form->body };
    struct templates list = { 0 };
    struct json_node root;

    if (form->endpoint->json.len == 0)
        return true;
    if (!json_parse(&form->body, arena, form->endpoint->json, err)) {
        err->level = ERROR_FATAL;
        err->code = "request.body";
        return error_wrap(err, "json");
    }
    root = json_root(&form->body);
    if (!compile_text(form, arena, root, &list, err))
        return false;
    if (is_nested(&form->body, root) && !descend(&walk, root, err))
        return false;
    while (walk.depth > 0) {
        struct json_iter *it = &walk.stack[walk.depth - 1];

        if (!json_next(it)) {
            walk.depth--;
            continue;
        }
        if (!compile_text(form, arena, it->value, &list, err))
            return error_wrap(err, "json");
        if (is_nested(&form->body, it->value) && !descend(&walk, it->value, err))
            return false;
    }
    form->templates = list.items;
    form->template_count = list.count;
    return true;
}

/* ---- the JSON body: writing ---- */

struct writing {
    struct request_values *values;
    struct arena *arena;
    struct json_writer writer;
    struct body_walk walk;
    size_t texts; /* written so far */
    struct error *err;
};

static bool write_name(struct writing *w, struct json_node name)
{
    struct str text;

    if (json_type(w->walk.doc, name) == JSON_NONE)
        return true;
    if (!json_string(w->walk.doc, name, w->arena, &text, w->err))
        return false;
    json_write_name(&w->writer, text);
    return true;
}

static bool write_text(struct writing *w, struct json_node name)
{
    const struct request_form *form = w->values->input->form;
    struct template_result result;

    if (!request_values_render(
            w->values, w->arena,
            &(struct request_text){ &form->templates[w->texts++], STR("json"), TEMPLATE_JSON },
            &result, w->err))
        return false;
    if (result.is_omitted)
        return true;
    if (!write_name(w, name))
        return false;
    json_write_raw(&w->writer, result.text);
    return true;
}

static bool write_value(struct writing *w, struct json_node name, struct json_node value)
{
    const enum json_type type = json_type(w->walk.doc, value);

    if (type == JSON_STRING)
        return write_text(w, name);
    if (!write_name(w, name))
        return false;
    if (type != JSON_OBJECT && type != JSON_ARRAY) {
        json_write_node(&w->writer, w->walk.doc, value);
        return true;
    }
    if (type == JSON_OBJECT)
        json_write_object(&w->writer);
    else
        json_write_array(&w->writer);
    return descend(&w->walk, value, w->err);
}

bool request_body_write(struct request_values *values, struct arena *arena, struct buf *out,
                        struct error *err)
{
    const struct request_form *form = values->input->form;
    const struct json_node root = json_root(&form->body);
    struct writing w = {
        .values = values, .arena = arena, .walk = { .doc = &form->body }, .err = err
    };

    json_writer_init(&w.writer, out);
    if (!write_value(&w, JSON_NODE_NONE, root))
        return false;
    while (w.walk.depth > 0) {
        struct json_iter *it = &w.walk.stack[w.walk.depth - 1];

        if (!json_next(it)) {
            json_write_end(&w.writer);
            w.walk.depth--;
        } else if (!write_value(&w, it->name, it->value))
            return false;
    }
    return buf_ok(out, err);
}

/* ---- what templates use ---- */

/* What a template uses, by itself or through expressions. */
struct uses {
    bool ids;
    bool history;
    bool sync_token;
    bool credential;
    bool reference; /* a parameter that refers to a secret */
};

static bool is_reference_param(const struct spec *spec, struct str name)
{
    for (size_t i = 0; i < spec->param_count; i++) {
        if (str_eq(spec->params[i].name, name))
            return secret_is_reference(spec->params[i].value);
    }
    return false;
}

static void add_uses_of(const struct request_form *form, const struct template *template,
                        struct uses *uses, int depth)
{
    const struct spec_endpoint *endpoint = form->endpoint;

    for (const struct template_use *use = template->uses; use != NULL; use = use->next) {
        if (use->is_function)
            continue;
        uses->ids |= use->scope == TEMPLATE_IDS;
        uses->history |= use->scope == TEMPLATE_HISTORY;
        uses->sync_token |= use->scope == TEMPLATE_WINDOW && str_eq(use->name, STR("token"));
        uses->credential |= use->scope == TEMPLATE_CREDENTIAL;
        uses->reference |=
            use->scope == TEMPLATE_PARAMS && is_reference_param(form->spec, use->name);
        for (size_t i = 0; use->scope == TEMPLATE_EXPR && i < endpoint->expr_count; i++) {
            if (depth < REQUEST_EXPR_DEPTH_MAX && str_eq(endpoint->exprs[i].name, use->name))
                add_uses_of(form, &endpoint->exprs[i].value, uses, depth + 1);
        }
    }
}

static void add_uses(struct request_form *form, struct uses uses)
{
    form->uses_ids |= uses.ids;
    form->uses_history |= uses.history;
    form->uses_sync_token |= uses.sync_token;
    form->uses_credential |= uses.credential;
}

struct names {
    struct str *items;
    size_t count;
};

static bool add_name(struct names *names, struct arena *arena, struct str name, struct error *err)
{
    struct str *slot = LIST_ADD(arena, names);

    if (slot == NULL)
        return arena_error(arena, err);
    *slot = name;
    return true;
}

static bool collect_from(struct request_form *form, struct arena *arena,
                         const struct spec_param_list *params, struct names *names,
                         struct error *err)
{
    for (size_t i = 0; i < params->count; i++) {
        struct uses uses = { 0 };

        add_uses_of(form, &params->items[i].value, &uses, 0);
        add_uses(form, uses);
        if ((uses.credential || uses.reference) &&
            !add_name(names, arena, params->items[i].name, err))
            return false;
    }
    return true;
}

static bool collect_names(struct request_form *form, struct arena *arena, struct error *err)
{
    const struct spec_endpoint *endpoint = form->endpoint;
    struct names names = { 0 };

    if (!collect_from(form, arena, &endpoint->query, &names, err) ||
        !collect_from(form, arena, &endpoint->headers, &names, err) ||
        !collect_from(form, arena, &endpoint->form, &names, err))
        return false;
    for (size_t i = 0; i < endpoint->http.redact_name_count; i++) {
        if (!add_name(&names, arena, endpoint->http.redact_names[i], err))
            return false;
    }
    if (endpoint->auth.type == AUTH_API_KEY && !add_name(&names, arena, endpoint->auth.name, err))
        return false;
    form->secret_names = names.items;
    form->secret_count = names.count;
    return true;
}

bool request_form_open(struct request_form *form, struct arena *arena, const struct spec *spec,
                       const struct spec_endpoint *endpoint, struct error *err)
{
    struct uses uses = { 0 };

    *form = (struct request_form){ .spec = spec, .endpoint = endpoint };
    if (!open_body(form, arena, err) || !collect_names(form, arena, err))
        return error_wrap(err, "endpoint %.*s", STR_ARG(endpoint->name));
    add_uses_of(form, &endpoint->path, &uses, 0);
    for (size_t i = 0; i < form->template_count; i++)
        add_uses_of(form, &form->templates[i], &uses, 0);
    add_uses(form, uses);
    return true;
}

bool request_is_secret_name(const struct request_form *form, struct str name)
{
    const struct http_request names = { .secret_names = form->secret_names,
                                        .secret_count = form->secret_count };

    return http_is_secret_name(&names, name);
}

/* ---- next URLs ---- */

/* The name of a raw "name=value" of a query, decoded. */
static bool pair_name(struct arena *arena, struct str pair, struct str *name, struct error *err)
{
    struct buf probe;

    /* url_query_find decodes values, so the name is passed as one. */
    buf_init(&probe, arena, pair.len + 2);
    buf_add(&probe, STR("n="));
    buf_add(&probe, str_cut(&pair, '='));
    if (!buf_ok(&probe, err))
        return false;
    if (!url_query_find(arena, buf_str(&probe), STR("n"), name) || name->data == NULL)
        return arena_error(arena, err);
    return true;
}

bool request_clean_url(const struct request_form *form, struct arena *arena, struct str url,
                       struct str *clean, struct error *err)
{
    const size_t mark = str_find_char(url, '?');
    struct str rest = str_slice(url, mark + 1, url.len);
    struct str pair, name;
    struct buf out;
    char joint = '?';

    *clean = url;
    if (mark == url.len)
        return true;
    buf_init(&out, arena, url.len);
    buf_add(&out, str_slice(url, 0, mark));
    while (rest.len > 0) {
        pair = str_cut(&rest, '&');
        if (!pair_name(arena, pair, &name, err))
            return false;
        if (request_is_secret_name(form, name))
            continue;
        buf_add_char(&out, joint);
        buf_add(&out, pair);
        joint = '&';
    }
    *clean = buf_str(&out);
    return buf_ok(&out, err);
}
