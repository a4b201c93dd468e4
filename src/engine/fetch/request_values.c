/* What the variables of templates stand for: plan, slice, window, page, ids, captured values,
 * parameters and credentials.
 */
#include "engine/fetch/request_internal.h"

#include <assert.h>

#include "core/cursor.h"
#include "spec/selected.h"

#define REDACTED STR("***")

static struct template_value text_value(struct str text)
{
    return (struct template_value){ .type = TEMPLATE_TEXT, .text = text };
}

static struct template_value int_value(int64_t number)
{
    return (struct template_value){ .type = TEMPLATE_INT, .number = number };
}

static struct template_value instant_value(int64_t at_us)
{
    return (struct template_value){ .type = TEMPLATE_INSTANT, .number = at_us };
}

static bool is(const struct template_use *variable, const char *name)
{
    return str_eq(variable->name, str_of(name));
}

/* ---- plan, slice, window, page, ids ---- */

static void resolve_plan(const struct request_input *input, const struct template_use *variable,
                         struct template_value *value)
{
    const struct spec *spec = input->form->spec;

    if (is(variable, "id") && input->plan_id.len > 0)
        *value = text_value(input->plan_id);
    else if (is(variable, "operation"))
        *value = text_value(code_of(&OPERATION_CODES, (int)spec->operation.operation));
    else if (is(variable, "source"))
        *value = text_value(spec->source);
    else if (is(variable, "endpoint"))
        *value = text_value(input->form->endpoint->name);
}

static bool number_text(struct arena *arena, int64_t number, struct template_value *value,
                        struct error *err)
{
    const struct str text = arena_printf(arena, "%lld", (long long)number);

    if (text.data == NULL)
        return arena_error(arena, err);
    *value = text_value(text);
    return true;
}

/* The pages or ids of a slice; not valid where it has none. An open end is the end of the source's
 * ids. */
static struct id_range range_of(const struct request_input *input)
{
    const struct spec_page *page = &input->form->spec->endpoint.page;
    const struct slice *slice = input->slice;
    struct id_range range = slice->part;

    if (slice->dimension == SLICE_PAGE)
        return (struct id_range){ slice->pages.from, slice->pages.to };
    if (slice->dimension == SLICE_ID && slice->ids.slicing == ID_SLICING_RANGE)
        return (struct id_range){ slice->ids.from, slice->ids.to };
    if (!id_range_is_valid(range))
        return range;
    if (range.from == ID_LOWEST)
        range.from = page->id_min;
    if (range.to == ID_HIGHEST)
        range.to = page->id_max + 1;
    return range;
}

static bool resolve_slice(const struct request_input *input, struct arena *arena,
                          const struct template_use *variable, struct template_value *value,
                          struct error *err)
{
    const struct slice *slice = input->slice;
    const struct id_range range = range_of(input);
    const bool has_range = id_range_is_valid(range);

    if (is(variable, "no"))
        *value = int_value(slice->number + 1);
    else if (is(variable, "from") && has_range)
        return number_text(arena, range.from, value, err);
    else if (is(variable, "to") && has_range)
        return number_text(arena, range.to, value, err);
    else if (is(variable, "last") && has_range)
        return number_text(arena, range.to - 1, value, err);
    else if (is(variable, "bucket") && slice->dimension == SLICE_ID && !has_range)
        *value = int_value(slice->ids.bucket);
    else if (is(variable, "file") && slice->dimension == SLICE_FILE && slice->file.len > 0)
        *value =
            (struct template_value){ .type = TEMPLATE_TEXT, .text = slice->file, .is_path = true };
    return true;
}

static bool resolve_feed(const struct request_input *input, struct arena *arena,
                         const struct template_use *variable, struct template_value *value,
                         struct error *err)
{
    const enum cursor_type type = input->slice->feed.type;
    struct str text = input->after;

    if (is(variable, "since")) {
        if (input->has_since)
            *value = instant_value(input->since_us);
        return true;
    }
    if (input->after.data == NULL)
        return true;
    if (type == CURSOR_ID && is(variable, "next")) {
        text = cursor_id_plus(arena, input->after, 1);
        if (text.data == NULL)
            return arena_error(arena, err);
    } else if (!is(variable, type == CURSOR_ID ? "after" : "token"))
        return true;
    *value = text_value(text);
    return true;
}

static void resolve_window(const struct request_input *input, const struct template_use *variable,
                           struct template_value *value)
{
    const struct window window = input->window;
    const enum granularity granularity = input->form->spec->endpoint.window.granularity;

    if (!window_is_valid(window))
        return;
    if (is(variable, "from"))
        *value = instant_value(window.from_us);
    else if (is(variable, "to"))
        *value = instant_value(window.to_us);
    else if (is(variable, "last"))
        *value = instant_value(window.to_us - granularity_us(granularity));
}

static void resolve_page(const struct request_input *input, const struct template_use *variable,
                         struct template_value *value)
{
    const struct page_state *state = input->state;
    const bool is_url = input->form->endpoint->page.type == PAGINATION_URL;

    if (is(variable, "no"))
        *value = int_value(state->page_no);
    else if (is(variable, "offset"))
        *value = int_value(state->offset);
    else if (is(variable, "size") && state->size > 0)
        *value = int_value(state->size);
    else if (is(variable, "limit") && state->size > 0)
        *value = int_value(state->offset + state->size);
    else if (is(variable, is_url ? "url" : "token") && state->token.data != NULL)
        *value = text_value(state->token);
}

static void resolve_ids(const struct request_input *input, const struct template_use *variable,
                        struct template_value *value)
{
    if (input->id_count == 0)
        return;
    if (is(variable, "list"))
        *value = (struct template_value){ .type = TEMPLATE_LIST,
                                          .items = input->ids,
                                          .count = input->id_count };
    else if (is(variable, "count"))
        *value = int_value((int64_t)input->id_count);
}

static void resolve_history(const struct request_input *input, const struct template_use *variable,
                            struct template_value *value)
{
    for (size_t i = 0; i < input->history_count; i++) {
        if (str_eq(input->history[i].name, variable->name))
            *value = text_value(input->history[i].value);
    }
}

/* ---- expressions ---- */

static bool resolve_expr(struct request_values *values, struct arena *arena,
                         const struct template_use *variable, struct template_value *value,
                         struct error *err)
{
    const struct spec_endpoint *endpoint = values->input->form->endpoint;
    struct template_result result;
    bool ok;

    for (size_t i = 0; i < endpoint->expr_count; i++) {
        if (!str_eq(endpoint->exprs[i].name, variable->name))
            continue;
        if (values->depth == REQUEST_EXPR_DEPTH_MAX)
            return error_set(err, ERROR_FATAL, "request.expr", "expr.%.*s refers to itself",
                             STR_ARG(variable->name));
        values->depth++;
        ok = request_values_render(
            values, arena,
            &(struct request_text){ &endpoint->exprs[i].value, variable->name, TEMPLATE_RAW },
            &result, err);
        values->depth--;
        if (!ok)
            return error_wrap(err, "expr.%.*s", STR_ARG(variable->name));
        if (!result.is_omitted)
            *value = text_value(result.text);
        return true;
    }
    return true;
}

/* ---- what lies outside: parameters of the installation, credentials ---- */

/* The value of a setting that may be a reference; data NULL when there is none. */
static bool fetch_value(const struct request_values *values, struct arena *arena,
                        struct str setting, struct str *text, struct error *err)
{
    struct secret secret;

    *text = setting.len > 0 ? setting : (struct str){ NULL, 0 };
    if (!secret_is_reference(setting))
        return true;
    if (!secret_get(values->input->secrets, setting, &secret, err)) {
        *text = (struct str){ NULL, 0 };
        return secret_error_is_missing(err);
    }
    *text = values->redacted ? REDACTED : arena_copy(arena, secret_str(&secret));
    secret_wipe(&secret);
    return text->data != NULL || arena_error(arena, err);
}

/* The plan counts the records of one value. Another host, or a value that was changed since, would
 * put records of another into its windows. */
static bool check_selected(const struct spec_value *param, struct str text, struct error *err)
{
    char hash[HASH_HEX_MAX];

    if (param->selects.len == 0)
        return true;
    if (!selected_hash(param->name, text, hash, err))
        return false;
    return str_eq(str_of(hash), param->selects) ||
           error_set(err, ERROR_REQUEST, "request.selects",
                     "%.*s has another value than when the plan was made: set it alike for every "
                     "process, then trigger again",
                     STR_ARG(param->value));
}

static bool resolve_param(const struct request_values *values, struct arena *arena,
                          const struct template_use *variable, struct template_value *value,
                          struct error *err)
{
    const struct spec *spec = values->input->form->spec;
    struct str text;

    for (size_t i = 0; i < spec->param_count; i++) {
        const struct spec_value *param = &spec->params[i];

        if (!str_eq(param->name, variable->name))
            continue;
        if (!fetch_value(values, arena, param->value, &text, err))
            return error_wrap(err, "params.%.*s", STR_ARG(param->name));
        if (text.data == NULL && param->has_default)
            text = param->default_value.len > 0 ? param->default_value : STR("");
        if (text.data == NULL && param->is_required)
            return error_set(err, ERROR_FATAL, "request.param", "no value: set %.*s",
                             STR_ARG(param->value));
        if (!values->redacted && !check_selected(param, text, err))
            return error_wrap(err, "params.%.*s", STR_ARG(param->name));
        if (text.data != NULL)
            *value = text_value(text);
        return true;
    }
    return true;
}

static struct str credential_part(const struct spec_auth *auth, struct str name)
{
    if (str_eq(name, STR("username")))
        return auth->username;
    if (str_eq(name, STR("password")))
        return auth->password;
    if (str_eq(name, STR("secret")) || (str_eq(name, STR("token")) && auth->type == AUTH_BEARER))
        return auth->secret;
    return (struct str){ NULL, 0 };
}

static bool resolve_credential(const struct request_values *values, struct arena *arena,
                               const struct template_use *variable, struct template_value *value,
                               struct error *err)
{
    const struct spec_auth *auth = &values->input->form->endpoint->auth;
    struct str text;

    if (!fetch_value(values, arena, credential_part(auth, variable->name), &text, err))
        return error_wrap(err, "credential.%.*s", STR_ARG(variable->name));
    if (text.data == NULL && !auth->is_optional)
        return error_set(err, ERROR_FATAL, "request.param", "credential.%.*s has no value",
                         STR_ARG(variable->name));
    if (text.data != NULL)
        *value = text_value(text);
    return true;
}

static bool has_credential(void *context, struct str name)
{
    struct request_values *values = context;
    struct secret secret;
    struct error ignored; /* what cannot be read counts as missing */
    const struct str setting = credential_part(&values->input->form->endpoint->auth, name);

    if (!secret_is_reference(setting))
        return setting.len > 0;
    if (!secret_get(values->input->secrets, setting, &secret, &ignored))
        return false;
    secret_wipe(&secret);
    return true;
}

/* ---- all scopes ---- */

static bool resolve(void *context, struct arena *arena, const struct template_use *variable,
                    struct template_value *value, struct error *err)
{
    struct request_values *values = context;

    *value = (struct template_value){ .type = TEMPLATE_NULL };
    switch (variable->scope) {
    case TEMPLATE_PLAN:
        resolve_plan(values->input, variable, value);
        return true;
    case TEMPLATE_SLICE:
        return resolve_slice(values->input, arena, variable, value, err);
    case TEMPLATE_WINDOW:
        if (values->input->slice->dimension == SLICE_FEED)
            return resolve_feed(values->input, arena, variable, value, err);
        resolve_window(values->input, variable, value);
        return true;
    case TEMPLATE_PAGE:
        resolve_page(values->input, variable, value);
        return true;
    case TEMPLATE_IDS:
        resolve_ids(values->input, variable, value);
        return true;
    case TEMPLATE_HISTORY:
        resolve_history(values->input, variable, value);
        return true;
    case TEMPLATE_EXPR:
        return resolve_expr(values, arena, variable, value, err);
    case TEMPLATE_PARAMS:
        return resolve_param(values, arena, variable, value, err);
    case TEMPLATE_CREDENTIAL:
        return resolve_credential(values, arena, variable, value, err);
    case TEMPLATE_CONST:
    case TEMPLATE_EVENT:
    case TEMPLATE_COLUMN:
    case TEMPLATE_SCOPES:
        return true;
    }
    return true;
}

void request_values_init(struct request_values *values, const struct request_input *input,
                         bool redacted)
{
    *values = (struct request_values){ .input = input, .redacted = redacted };
    values->resolver = (struct template_resolver){ .context = values,
                                                   .resolve = resolve,
                                                   .has_credential = has_credential };
}

bool request_values_render(struct request_values *values, struct arena *arena,
                           const struct request_text *text, struct template_result *result,
                           struct error *err)
{
    static const enum template_null policies[] = { [NULL_OMIT] = TEMPLATE_NULL_OMIT,
                                                   [NULL_EMPTY] = TEMPLATE_NULL_EMPTY,
                                                   [NULL_ERROR] = TEMPLATE_NULL_ERROR };

    return template_render(text->template, arena,
                           &(struct template_request){
                               .resolver = &values->resolver,
                               .parameter = text->parameter,
                               .place = text->place,
                               .null_policy = policies[values->input->form->endpoint->null_policy],
                               .redacted = values->redacted,
                               .now_us = values->input->now_us,
                               .bytes_max = REQUEST_BYTES_MAX },
                           result, err);
}
