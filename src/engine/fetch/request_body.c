#include "engine/fetch/request_body.h"

#include "base/list.h"
#include "data/json_write.h"

/* Texts are visited in the order of the document, both times: the n-th text has the n-th template.
 */
struct walk {
    const struct json_doc *doc;
    struct json_iter stack[REQUEST_BODY_DEPTH_MAX];
    size_t depth;
};

static bool is_nested(const struct json_doc *doc, struct json_node node)
{
    const enum json_type type = json_type(doc, node);

    return type == JSON_OBJECT || type == JSON_ARRAY;
}

static bool descend(struct walk *walk, struct json_node node, struct error *err)
{
    if (walk->depth == REQUEST_BODY_DEPTH_MAX)
        return error_set(err, ERROR_FATAL, "request.body", "the body is nested more than %d deep",
                         REQUEST_BODY_DEPTH_MAX);
    walk->stack[walk->depth++] = json_each(walk->doc, node);
    return true;
}

/* ---- compiling ---- */

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

bool request_body_open(struct request_form *form, struct arena *arena, struct error *err)
{
    struct walk walk = { .doc = &form->body };
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

/* ---- writing ---- */

struct writing {
    struct request_values *values;
    struct arena *arena;
    struct json_writer writer;
    struct walk walk;
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
    const struct request_form *form = w->values->ask->form;
    struct template_result result;

    if (!request_values_render(w->values, w->arena, &form->templates[w->texts++],
                               (struct request_place){ STR("json"), TEMPLATE_JSON }, &result,
                               w->err))
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
    const struct request_form *form = values->ask->form;
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
