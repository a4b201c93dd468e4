/* From values to the bytes of one place in a request. No value can break out of its place: it is
 * encoded or rejected. */
#include "data/template.h"

#include <assert.h>

#include "base/buf.h"
#include "base/instant.h"
#include "data/json_write.h"
#include "data/template_eval.h"
#include "data/template_tree.h"
#include "data/url.h"

struct render {
    const struct template *template;
    struct arena *arena;
    const struct template_request *request;
    struct buf out;
};

static const char *forbidden(struct str text, enum template_place place)
{
    for (size_t i = 0; i < text.len; i++) {
        const unsigned char c = (unsigned char)text.data[i];

        if (c == '\r' || c == '\n')
            return "a line break";
        if (c == '\0')
            return "a NUL";
        if ((c < 0x20 || c == 0x7F) && place != TEMPLATE_QUERY)
            return "a control character";
        if (c == ' ' && place == TEMPLATE_PATH)
            return "a space";
    }
    return NULL;
}

/* Literal text of a path is used as written; values are checked before they are encoded, so a space
 * in them does no harm. */
static bool check_text(const struct render *r, struct str text, bool is_value, struct error *err)
{
    const enum template_place place = r->request->place;
    const char *what;

    if (place != TEMPLATE_QUERY && place != TEMPLATE_PATH && place != TEMPLATE_HEADER)
        return true;
    what = forbidden(text, is_value && place == TEMPLATE_PATH ? TEMPLATE_HEADER : place);
    if (what == NULL)
        return true;
    return error_set(err, ERROR_REQUEST, "template.control", "%s is not allowed in %s", what,
                     place == TEMPLATE_QUERY    ? "a query"
                     : place == TEMPLATE_HEADER ? "a header"
                                                : "a path");
}

/* A name with folders in it: segment by segment. A segment that leads upwards is encoded whole. */
static void add_path(struct render *r, struct str text)
{
    bool is_first = true;

    while (text.len > 0 || is_first) {
        const struct str segment = str_cut(&text, '/');

        if (!is_first)
            buf_add_char(&r->out, '/');
        is_first = false;
        if (str_eq(segment, STR("..")) || str_eq(segment, STR(".")))
            buf_add(&r->out, segment.len == 1 ? STR("%2E") : STR("%2E%2E"));
        else
            url_encode(&r->out, segment, URL_PATH);
    }
}

static void add_encoded(struct render *r, struct str text, bool is_value)
{
    switch (r->request->place) {
    case TEMPLATE_QUERY:
        url_encode(&r->out, text, URL_QUERY);
        return;
    case TEMPLATE_FORM:
        url_encode(&r->out, text, URL_FORM);
        return;
    case TEMPLATE_PATH:
        if (is_value)
            url_encode(&r->out, text, URL_PATH);
        else
            buf_add(&r->out, text);
        return;
    case TEMPLATE_RAW:
    case TEMPLATE_HEADER:
    case TEMPLATE_JSON:
        buf_add(&r->out, text);
        return;
    }
}

static bool value_text(const struct render *r, const struct template_value *value,
                       char scratch[INSTANT_TEXT_MAX], struct str *text, struct error *err)
{
    switch (value->type) {
    case TEMPLATE_TEXT:
        *text = value->text;
        return true;
    case TEMPLATE_INT:
        *text = arena_printf(r->arena, "%lld", (long long)value->number);
        return text->data != NULL || arena_error(r->arena, err);
    case TEMPLATE_INSTANT:
        *text = (struct str){ scratch, instant_format(value->number, scratch) };
        return true;
    case TEMPLATE_NULL:
    case TEMPLATE_LIST:
    case TEMPLATE_ANY:
        break;
    }
    return error_set(err, ERROR_REQUEST, "template.type",
                     "a list cannot be part of a text; use join(list, \",\")");
}

static bool add_null(const struct render *r, struct error *err)
{
    if (r->request->null_policy == TEMPLATE_NULL_EMPTY && r->request->place != TEMPLATE_PATH)
        return true;
    return error_set(err, ERROR_REQUEST, "template.null",
                     "the value is null; use default(value, \"...\")");
}

static bool add_value(struct render *r, const struct template_value *value, struct error *err)
{
    char scratch[INSTANT_TEXT_MAX];
    struct str text = { NULL, 0 };

    if (value->type == TEMPLATE_NULL)
        return add_null(r, err);
    if (!value_text(r, value, scratch, &text, err) || !check_text(r, text, true, err))
        return false;
    if (text.len == 0 && r->request->place == TEMPLATE_PATH) {
        return error_set(err, ERROR_REQUEST, "template.path",
                         "an empty value would change the path");
    }
    if (value->is_path && r->request->place == TEMPLATE_PATH)
        add_path(r, text);
    else
        add_encoded(r, text, true);
    return true;
}

static bool add_evaluated(struct render *r, const struct template_piece *piece,
                          const struct template_value *value, struct error *err)
{
    if (piece->is_secret && r->request->redacted && value->type != TEMPLATE_NULL) {
        buf_add(&r->out, STR("***"));
        return true;
    }
    return add_value(r, value, err) || error_wrap(err, "%.*s", STR_ARG(piece->text));
}

static bool eval_piece(const struct render *r, const struct template_piece *piece,
                       struct template_value *value, struct error *err)
{
    if (template_eval(piece->node, r->arena, r->request, value, err))
        return true;
    if (!piece->is_secret || !r->request->redacted)
        return error_wrap(err, "%.*s", STR_ARG(piece->text));
    /* The placeholder of a secret need not be valid for a function, and its fault is not shown. */
    *value = (struct template_value){ .type = TEMPLATE_TEXT, .text = STR("***") };
    return true;
}

/* No segment may lead to another path. */
static bool check_segments(struct str path, struct error *err)
{
    while (path.len > 0) {
        const struct str segment = str_cut(&path, '/');

        if (str_eq(segment, STR(".")) || str_eq(segment, STR(".."))) {
            return error_set(err, ERROR_REQUEST, "template.path",
                             "the segment \"%.*s\" would lead to another path", STR_ARG(segment));
        }
    }
    return true;
}

static bool render_pieces(struct render *r, struct error *err)
{
    for (const struct template_piece *piece = r->template->pieces; piece != NULL;
         piece = piece->next) {
        struct template_value value;

        if (piece->node != NULL) {
            if (!eval_piece(r, piece, &value, err) || !add_evaluated(r, piece, &value, err))
                return false;
        } else {
            if (!check_text(r, piece->text, false, err))
                return false;
            add_encoded(r, piece->text, false);
        }
    }
    return buf_ok(&r->out, err);
}

/* ---- JSON ---- */

static bool quote_json(struct buf *out, struct str text, struct error *err)
{
    if (!str_is_utf8(text)) {
        return error_set(err, ERROR_REQUEST, "template.utf8",
                         "a text that is not UTF-8 cannot be part of JSON");
    }
    json_quote(out, text);
    return true;
}

static bool add_json_list(struct buf *out, const struct template_value *list, struct error *err)
{
    buf_add_char(out, '[');
    for (size_t i = 0; i < list->count; i++) {
        if (i > 0)
            buf_add_char(out, ',');
        if (!quote_json(out, list->items[i], err))
            return false;
    }
    buf_add_char(out, ']');
    return true;
}

static bool add_json_value(struct render *r, const struct template_value *value, struct error *err)
{
    char scratch[INSTANT_TEXT_MAX];
    struct str text = { NULL, 0 };

    switch (value->type) {
    case TEMPLATE_NULL:
        if (r->request->null_policy == TEMPLATE_NULL_ERROR)
            return add_null(r, err);
        buf_add(&r->out, STR("null"));
        return true;
    case TEMPLATE_INT:
        buf_add_i64(&r->out, value->number);
        return true;
    case TEMPLATE_LIST:
        return add_json_list(&r->out, value, err);
    case TEMPLATE_TEXT:
    case TEMPLATE_INSTANT:
    case TEMPLATE_ANY:
        break;
    }
    return value_text(r, value, scratch, &text, err) && quote_json(&r->out, text, err);
}

/* All the pieces as one string. */
static bool render_json_string(struct render *r, struct error *err)
{
    struct render raw = *r;

    buf_init(&raw.out, r->arena, r->request->bytes_max);
    return render_pieces(&raw, err) && quote_json(&r->out, buf_str(&raw.out), err);
}

/* ---- */

/* A single placeholder: null can omit the whole parameter, and JSON keeps its type. */
static bool render_single(struct render *r, struct template_result *result, struct error *err)
{
    const struct template_piece *piece = r->template->pieces;
    struct template_value value;

    if (!eval_piece(r, piece, &value, err))
        return false;
    if (value.type == TEMPLATE_NULL && r->request->null_policy == TEMPLATE_NULL_OMIT &&
        r->request->place != TEMPLATE_PATH) {
        result->is_omitted = true;
        return true;
    }
    if (r->request->place != TEMPLATE_JSON)
        return add_evaluated(r, piece, &value, err);
    if (piece->is_secret && r->request->redacted && value.type != TEMPLATE_NULL)
        value = (struct template_value){ .type = TEMPLATE_TEXT, .text = STR("***") };
    return add_json_value(r, &value, err) || error_wrap(err, "%.*s", STR_ARG(piece->text));
}

static bool render(struct render *r, struct template_result *result, struct error *err)
{
    if (r->template->is_single)
        return render_single(r, result, err);
    if (r->request->place == TEMPLATE_JSON)
        return render_json_string(r, err);
    return render_pieces(r, err);
}

bool template_render(const struct template *template, struct arena *arena,
                     const struct template_request *request, struct template_result *result,
                     struct error *err)
{
    struct render r = { .template = template, .arena = arena, .request = request };

    assert(request->resolver != NULL && request->bytes_max > 0);
    *result = (struct template_result){ 0 };
    buf_init(&r.out, arena, request->bytes_max);
    if (!render(&r, result, err) || !buf_ok(&r.out, err))
        goto fail;
    result->text = buf_str(&r.out);
    if (request->place == TEMPLATE_PATH && !check_segments(result->text, err))
        goto fail;
    return true;
fail:
    return error_wrap(err, "%.*s", STR_ARG(request->parameter));
}
