#include <string.h>

#include "base/list.h"
#include "data/url.h"
#include "engine/fetch/request_body.h"

enum { EXPR_DEPTH_MAX = 16 };

/* What a template uses, through expressions too. */
struct uses {
    bool ids;
    bool history;
    bool credential;
    bool reference; /* a parameter whose value lies outside */
};

static bool is_reference_param(const struct spec *spec, struct str name)
{
    for (size_t i = 0; i < spec->param_count; i++) {
        if (str_eq(spec->params[i].name, name))
            return secret_is_reference(spec->params[i].value);
    }
    return false;
}

static void look_into(const struct request_form *form, const struct template *template,
                      struct uses *uses, int depth)
{
    const struct spec_endpoint *endpoint = form->endpoint;

    for (const struct template_use *use = template->uses; use != NULL; use = use->next) {
        if (use->is_function)
            continue;
        uses->ids |= use->scope == TEMPLATE_IDS;
        uses->history |= use->scope == TEMPLATE_HISTORY;
        uses->credential |= use->scope == TEMPLATE_CREDENTIAL;
        uses->reference |=
            use->scope == TEMPLATE_PARAMS && is_reference_param(form->spec, use->name);
        for (size_t i = 0; use->scope == TEMPLATE_EXPR && i < endpoint->expr_count; i++) {
            if (depth < EXPR_DEPTH_MAX && str_eq(endpoint->exprs[i].name, use->name))
                look_into(form, &endpoint->exprs[i].value, uses, depth + 1);
        }
    }
}

static void add_uses(struct request_form *form, struct uses uses)
{
    form->uses_ids |= uses.ids;
    form->uses_history |= uses.history;
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

static bool look_at_params(struct request_form *form, struct arena *arena,
                           const struct spec_param_list *params, struct names *names,
                           struct error *err)
{
    for (size_t i = 0; i < params->count; i++) {
        struct uses uses = { 0 };

        look_into(form, &params->items[i].value, &uses, 0);
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

    if (!look_at_params(form, arena, &endpoint->query, &names, err) ||
        !look_at_params(form, arena, &endpoint->headers, &names, err) ||
        !look_at_params(form, arena, &endpoint->form, &names, err))
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
    if (!request_body_open(form, arena, err) || !collect_names(form, arena, err))
        return error_wrap(err, "endpoint %.*s", STR_ARG(endpoint->name));
    look_into(form, &endpoint->path, &uses, 0);
    for (size_t i = 0; i < form->template_count; i++)
        look_into(form, &form->templates[i], &uses, 0);
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

    /* url_query_find decodes values: let the name be one. */
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
