/* Parameters, each judged by its row. */
#include "serve/params.h"

#include <inttypes.h>
#include <stdio.h>

#include "base/buf.h"
#include "base/duration.h"
#include "base/list.h"
#include "data/date.h"
#include "data/json.h"

enum { BODY_DEPTH_MAX = 8 };

/* ---- the path ---- */

static bool is_placeholder(struct str segment)
{
    return segment.len > 2 && segment.data[0] == '{';
}

bool route_matches(const struct route *route, const struct target *target)
{
    struct str rest = str_slice(str_of(route->path), 1, SIZE_MAX);
    size_t i = 0;

    for (; rest.len > 0; i++) {
        const struct str segment = str_cut(&rest, '/');

        if (i == target->segment_count ||
            (!is_placeholder(segment) && !str_eq(segment, target->segments[i])))
            return false;
    }
    return i == target->segment_count;
}

/* The segment of the target where the path has {name}. */
static struct str path_value(const struct route *route, const struct target *target,
                             struct str name)
{
    struct str rest = str_slice(str_of(route->path), 1, SIZE_MAX);

    for (size_t i = 0; rest.len > 0; i++) {
        const struct str segment = str_cut(&rest, '/');

        if (is_placeholder(segment) && str_eq(str_slice(segment, 1, segment.len - 1), name))
            return target->segments[i];
    }
    return (struct str){ 0 };
}

/* ---- one value, of a text ---- */

static bool wrong(struct error *err, const struct param *param, const char *what)
{
    return error_set(err, ERROR_REQUEST, "request.parameter", "%s: %s", param->name, what);
}

static bool read_number(const struct param *param, int64_t number, struct param_value *value,
                        struct error *err)
{
    value->number = number;
    return (number >= param->least && number <= param->most) ||
           error_set(err, ERROR_REQUEST, "request.parameter",
                     "%s: not a whole number from %" PRId64 " to %" PRId64, param->name,
                     param->least, param->most);
}

static bool read_instant(const struct param *param, struct str text, int64_t now_us,
                         struct param_value *value, struct error *err)
{
    struct duration ago;
    struct date date;

    if (duration_parse(text, &ago, err) && duration_subtract(now_us, ago, &value->number))
        return true;
    if (!date_parse(date_format_find(STR("auto")), text, &date, err))
        return wrong(
            err, param,
            "neither a date (2026-01-31, 2026-01-31T10:00:00Z) nor how long ago (7d, 12h)");
    value->number = date.at_us;
    return true;
}

static bool read_code(const struct param *param, struct str text, struct param_value *value,
                      struct error *err)
{
    const int code = code_find_written(param->codes, text);
    char words[400] = "";
    size_t len = 0;

    value->number = code;
    if (code >= 0)
        return true;
    for (size_t i = 0; i < param->codes->count && len < sizeof(words); i++)
        len += (size_t)snprintf(words + len, sizeof(words) - len, "%s%.*s", i > 0 ? ", " : "",
                                STR_ARG(param->codes->items[i].code));
    return error_set(err, ERROR_REQUEST, "request.parameter", "%s: not one of %s", param->name,
                     words);
}

static bool read_flag(const struct param *param, struct str text, struct param_value *value,
                      struct error *err)
{
    value->number = str_eq(text, STR("true"));
    return value->number == 1 || str_eq(text, STR("false")) ||
           wrong(err, param, "neither true nor false");
}

static bool read_text(const struct param *param, struct str text, struct param_value *value,
                      struct error *err)
{
    const size_t most = param->most > 0 ? (size_t)param->most : PARAM_TEXT_MAX;

    value->text = text;
    if (text.len > most)
        return error_set(err, ERROR_REQUEST, "request.parameter", "%s: longer than %zu bytes",
                         param->name, most);
    return text.len > 0 || !(param->is_required || param->place == IN_PATH) ||
           wrong(err, param, "empty");
}

static bool read_any(const struct param *param, struct str text, int64_t now_us,
                     struct param_value *value, struct error *err)
{
    int64_t number;

    value->is_given = true;
    switch (param->kind) {
    case PARAM_TEXT:
        return read_text(param, text, value, err);
    case PARAM_NUMBER:
        if (!str_to_i64(text, &number))
            return wrong(err, param, "not a whole number");
        return read_number(param, number, value, err);
    case PARAM_INSTANT:
        return read_instant(param, text, now_us, value, err);
    case PARAM_SPAN:
        return duration_parse_us(text, &value->number, err) ||
               wrong(err, param, "not a duration, such as 7d or 12h");
    case PARAM_CODE:
        return read_code(param, text, value, err);
    case PARAM_FLAG:
        return read_flag(param, text, value, err);
    case PARAM_TEXTS:
    case PARAM_ROWS:
    case PARAM_PAIRS:
        break;
    }
    return wrong(err, param, "belongs into the body");
}

/* ---- one value, of the body ---- */

struct texts {
    struct str *items;
    size_t count;
};

static bool add_text(const struct param *param, struct arena *arena, const struct json_doc *doc,
                     struct json_node node, struct texts *list, struct error *err)
{
    struct str *text = LIST_ADD(arena, list);
    struct param_value value;

    if (text == NULL)
        return arena_error(arena, err);
    if (json_type(doc, node) != JSON_STRING)
        return wrong(err, param, "not only texts");
    return json_string(doc, node, arena, text, err) &&
           read_text(&(struct param){ .name = param->name }, *text, &value, err) &&
           (str_find_char(*text, '\0') == text->len || wrong(err, param, "has a NUL"));
}

static bool add_row(const struct param *param, struct arena *arena, const struct json_doc *doc,
                    struct json_node node, struct param_value *value, struct error *err)
{
    struct {
        int64_t *items;
        size_t count;
    } list = { value->rows, value->count };
    int64_t *row = LIST_ADD(arena, &list);

    if (row == NULL)
        return arena_error(arena, err);
    value->rows = list.items;
    return (json_i64(doc, node, row) && *row >= 1) ||
           wrong(err, param, "not only whole numbers from 1");
}

static bool read_many(const struct param *param, struct arena *arena, const struct json_doc *doc,
                      struct json_node node, struct param_value *value, struct error *err)
{
    const bool is_object = param->kind == PARAM_PAIRS;
    struct texts texts = { 0 }, names = { 0 };
    struct json_iter it = json_each(doc, node);

    if (json_type(doc, node) != (is_object ? JSON_OBJECT : JSON_ARRAY))
        return wrong(err, param, is_object ? "not an object of texts" : "not an array");
    for (; json_next(&it); value->count++) {
        if (value->count == PARAM_ITEMS_MAX ||
            (param->most > 0 && value->count == (size_t)param->most))
            return wrong(err, param, "too many items");
        if (param->kind == PARAM_ROWS ? !add_row(param, arena, doc, it.value, value, err)
                                      : !add_text(param, arena, doc, it.value, &texts, err))
            return false;
        if (is_object && !add_text(param, arena, doc, it.name, &names, err))
            return false;
    }
    value->texts = texts.items;
    value->names = names.items;
    return true;
}

/* A text stands for whatever it says, as in a query; numbers and flags may be written as such. */
static bool read_member(const struct param *param, struct arena *arena, const struct json_doc *doc,
                        struct json_node node, const struct params_input *input,
                        struct param_value *value, struct error *err)
{
    int64_t number;
    struct str text;
    bool flag;

    value->is_given = true;
    if (param->kind >= PARAM_TEXTS)
        return read_many(param, arena, doc, node, value, err);
    if (param->kind == PARAM_FLAG) {
        value->number = json_bool(doc, node, &flag) && flag;
        return json_type(doc, node) == JSON_BOOL || wrong(err, param, "neither true nor false");
    }
    if (param->kind == PARAM_NUMBER) {
        if (!json_i64(doc, node, &number))
            return wrong(err, param, "not a whole number");
        return read_number(param, number, value, err);
    }
    if (json_type(doc, node) != JSON_STRING)
        return wrong(err, param, "not a text");
    if (!json_string(doc, node, arena, &text, err))
        return false;
    if (str_find_char(text, '\0') < text.len)
        return wrong(err, param, "has a NUL");
    return read_any(param, text, input->now_us, value, err);
}

/* ---- all of them ---- */

static const struct param *find(const struct route *route, struct str name, bool is_body,
                                size_t *at)
{
    for (*at = 0; *at < PARAMS_MAX && route->params[*at].name != NULL; (*at)++) {
        const struct param *param = &route->params[*at];

        if (str_eq(str_of(param->name), name) && param->place != IN_PATH &&
            (param->place == IN_BODY) == is_body)
            return param;
    }
    return NULL;
}

static bool unexpected(const struct route *route, struct str name, const char *where, bool is_known,
                       struct error *err)
{
    return error_set(err, ERROR_REQUEST, "request.parameter",
                     is_known ? "%.*s: given twice in the %s of %s %s"
                              : "%.*s: no parameter in the %s of %s %s",
                     STR_ARG(str_slice(name, 0, 64)), where, route->method, route->path);
}

static bool read_query(const struct route *route, const struct params_input *input,
                       struct param_value values[PARAMS_MAX], struct error *err)
{
    for (size_t i = 0; i < input->target->pair_count; i++) {
        const struct target_pair *pair = &input->target->pairs[i];
        const struct param *param;
        size_t at;

        if (pair->value.len == 0 && route_is_page(route))
            continue; /* a field that was left empty */
        param = find(route, pair->name, false, &at);
        if (param == NULL || values[at].is_given)
            return unexpected(route, pair->name, "query", param != NULL, err);
        if (!read_any(param, pair->value, input->now_us, &values[at], err))
            return false;
    }
    return true;
}

static bool read_body(struct arena *arena, const struct route *route,
                      const struct params_input *input, struct param_value values[PARAMS_MAX],
                      struct error *err)
{
    struct json_iter it;
    struct json_doc doc;
    struct str name;
    size_t at;

    if (str_trim(input->body).len == 0)
        return true;
    if (!json_parse_depth(&doc, arena, input->body, BODY_DEPTH_MAX, err))
        return error_set(err, ERROR_REQUEST, "request.body", "the body is not JSON");
    if (json_type(&doc, json_root(&doc)) != JSON_OBJECT)
        return error_set(err, ERROR_REQUEST, "request.body", "the body is not a JSON object");
    for (it = json_each(&doc, json_root(&doc)); json_next(&it);) {
        const struct param *param;

        if (!json_string(&doc, it.name, arena, &name, err))
            return false;
        param = find(route, name, true, &at);
        if (param == NULL || values[at].is_given)
            return unexpected(route, name, "body", param != NULL, err);
        if (!read_member(param, arena, &doc, it.value, input, &values[at], err))
            return false;
    }
    return true;
}

/* ---- the body, of a form ---- */

static bool add_word(struct arena *arena, const struct param *param, struct str word,
                     struct param_value *value, struct error *err)
{
    struct texts texts = { value->texts, value->count };
    struct {
        int64_t *items;
        size_t count;
    } rows = { value->rows, value->count };
    int64_t *row;
    struct str *text;

    if (value->count == PARAM_ITEMS_MAX || (param->most > 0 && value->count == (size_t)param->most))
        return wrong(err, param, "too many items");
    if (param->kind == PARAM_ROWS) {
        row = LIST_ADD(arena, &rows);
        if (row == NULL)
            return arena_error(arena, err);
        if (!str_to_i64(word, row) || *row < 1)
            return wrong(err, param, "not only whole numbers from 1");
        value->rows = rows.items;
    } else {
        text = LIST_ADD(arena, &texts);
        if (text == NULL)
            return arena_error(arena, err);
        *text = word;
        value->texts = texts.items;
    }
    value->count++;
    return true;
}

/* Words between blanks and commas. */
static bool read_words(struct arena *arena, const struct param *param, struct str text,
                       struct param_value *value, struct error *err)
{
    size_t from = 0;

    value->is_given = true;
    for (size_t i = 0; i <= text.len; i++) {
        const bool is_gap = i == text.len || text.data[i] == ' ' || text.data[i] == ',' ||
                            text.data[i] == '\n' || text.data[i] == '\r' || text.data[i] == '\t';

        if (!is_gap)
            continue;
        if (i > from && !add_word(arena, param, str_slice(text, from, i), value, err))
            return false;
        from = i + 1;
    }
    return true;
}

static bool read_field(struct arena *arena, const struct route *route,
                       const struct target_pair *pair, int64_t now_us,
                       struct param_value values[PARAMS_MAX], struct error *err)
{
    const struct param *param;
    size_t at;

    param = find(route, pair->name, true, &at);
    if (param == NULL || values[at].is_given)
        return unexpected(route, pair->name, "form", param != NULL, err);
    if (param->kind == PARAM_PAIRS)
        return wrong(err, param, "not possible in a form");
    return param->kind >= PARAM_TEXTS ? read_words(arena, param, pair->value, &values[at], err)
                                      : read_any(param, pair->value, now_us, &values[at], err);
}

/* A field that was left empty was not given. */
static bool read_form(struct arena *arena, const struct route *route,
                      const struct params_input *input, struct param_value values[PARAMS_MAX],
                      struct error *err)
{
    for (size_t i = 0; i < input->form->pair_count; i++) {
        const struct target_pair *pair = &input->form->pairs[i];

        if (pair->value.len == 0 || str_eq(pair->name, STR(FORM_KEY)) ||
            str_eq(pair->name, STR(FORM_BACK)))
            continue;
        if (!read_field(arena, route, pair, input->now_us, values, err))
            return false;
    }
    return true;
}

bool params_read(struct arena *arena, const struct route *route, const struct params_input *input,
                 struct param_value values[PARAMS_MAX], struct error *err)
{
    for (size_t i = 0; i < PARAMS_MAX; i++)
        values[i] = (struct param_value){ .number = route->params[i].otherwise };
    if (!read_query(route, input, values, err) ||
        (input->form != NULL ? !read_form(arena, route, input, values, err)
                             : !read_body(arena, route, input, values, err)))
        return false;
    for (size_t i = 0; i < PARAMS_MAX && route->params[i].name != NULL; i++) {
        const struct param *param = &route->params[i];

        if (param->place == IN_PATH) {
            if (!read_any(param, path_value(route, input->target, str_of(param->name)),
                          input->now_us, &values[i], err))
                return false;
        } else if (param->is_required && !values[i].is_given) {
            return wrong(err, param, "is required");
        }
    }
    return true;
}
