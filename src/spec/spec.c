#include "spec/spec.h"

#include "spec/snapshot.h"
#include "spec/spec_reader.h"

/* ---- one group after the other ---- */

static void read_http(struct spec_object endpoint, struct spec_http *http)
{
    const struct spec_object object = spec_object(endpoint, "http");

    http->base_url = spec_text(object, "base_url");
    spec_template(object, "user_agent", &http->user_agent);
    http->connect_timeout_us = spec_number(object, "connect_timeout_us");
    http->read_timeout_us = spec_number(object, "read_timeout_us");
    http->total_timeout_us = spec_number(object, "total_timeout_us");
    http->body_max_bytes = spec_number(object, "body_max_bytes");
    http->inflated_max_bytes = spec_number(object, "inflated_max_bytes");
    http->redirects = (int)spec_number(object, "redirects");
    http->compression = spec_bool(object, "compression");
    http->allow_plain_http = spec_bool(object, "allow_plain_http");
    http->redact = spec_bool(object, "redact");
    http->proxy = spec_text(object, "proxy");
    http->redact_name_count = spec_texts(object, "redact_names", &http->redact_names);
}

static void read_auth(struct spec_object endpoint, struct spec_auth *auth)
{
    const struct spec_object object = spec_object(endpoint, "auth");
    const struct spec_object oauth2 = spec_object(object, "oauth2");

    auth->type = (enum auth_type)spec_code(object, "type", &AUTH_TYPE_CODES);
    auth->location = (enum auth_location)spec_code(object, "location", &AUTH_LOCATION_CODES);
    auth->is_optional = spec_bool(object, "optional");
    auth->is_required = spec_bool(endpoint, "auth_required");
    auth->name = spec_text(object, "name");
    auth->prefix = spec_text(object, "prefix");
    auth->secret = spec_text(object, "secret");
    auth->username = spec_text(object, "username");
    auth->password = spec_text(object, "password");
    auth->signing_hook = spec_text(object, "signing_hook");
    auth->token_url = spec_text(oauth2, "token_url");
    auth->client_id = spec_text(oauth2, "client_id");
    auth->client_secret = spec_text(oauth2, "client_secret");
    auth->scope = spec_text(oauth2, "scope");
    auth->token_ttl_us = spec_number(oauth2, "token_ttl_us");
    auth->refresh_before_us = spec_number(oauth2, "refresh_before_us");
}

static void read_limit(struct spec_object object, struct spec_rate_limit *limit)
{
    limit->per_second = spec_real(object, "per_second");
    limit->burst = spec_number(object, "burst");
    limit->concurrency = spec_number(object, "concurrency");
}

static void read_shares(struct spec_object quota, struct spec_rate *rate)
{
    const struct spec_object shares = spec_object(quota, "shares");

    for (int i = 0; i <= OPERATION_REPLAY; i++) {
        const char *word = code_of(&OPERATION_CODES, i).data;

        rate->quota_shares[i] = spec_has(shares, word) ? (int)spec_number(shares, word) : 100;
    }
}

static void read_rate(struct spec_object endpoint, struct spec_rate *rate)
{
    const struct spec_object object = spec_object(endpoint, "rate");
    const struct spec_object quota = spec_object(object, "quota");

    read_limit(object, &rate->limit);
    read_limit(spec_object(object, "with_credential"), &rate->with_credential);
    rate->adaptive = spec_bool(object, "adaptive");
    rate->per_credential = spec_bool(object, "per_credential");
    rate->scope = (enum rate_scope)spec_code(object, "scope", &RATE_SCOPE_CODES);
    rate->meaning_429 = (enum meaning_429)spec_code(object, "meaning_429", &MEANING_429_CODES);
    rate->cost = spec_number(object, "cost");
    rate->quantum = spec_number(object, "quantum");
    rate->warmup_us = spec_number(object, "warmup_us");
    rate->cool_down_us = spec_number(object, "cool_down_us");
    rate->increase = spec_real(object, "increase");
    rate->demote = spec_real(object, "demote");
    rate->min = spec_real(object, "min");
    rate->quota_day = spec_number(quota, "day");
    rate->quota_hour = spec_number(quota, "hour");
    rate->quota_margin = spec_real(quota, "margin");
    read_shares(quota, rate);
}

static void read_retry(struct spec_object endpoint, struct spec_retry *retry)
{
    const struct spec_object object = spec_object(endpoint, "retry");

    retry->max_attempts = (int)spec_number(object, "max_attempts");
    retry->backoff = (enum backoff)spec_code(object, "backoff", &BACKOFF_CODES);
    retry->min_delay_us = spec_number(object, "min_delay_us");
    retry->max_delay_us = spec_number(object, "max_delay_us");
    retry->multiplier = spec_real(object, "multiplier");
    retry->jitter = spec_real(object, "jitter");
    retry->on_timeout = spec_bool(object, "on_timeout");
    retry->status_count = spec_statuses(object, "statuses", &retry->statuses);
}

static void read_batch(struct spec_object endpoint, struct spec_batch *batch)
{
    const struct spec_object object = spec_object(endpoint, "batch");

    batch->id_batch_size = spec_number(object, "id_batch_size");
    batch->combine = spec_number(object, "combine");
    batch->split_failed = spec_bool(object, "split_failed");
}

static void read_page(struct spec_object endpoint, enum response_format format,
                      struct spec_page *page)
{
    const struct spec_object object = spec_object(endpoint, "page");

    page->type = (enum pagination_type)spec_code(object, "type", &PAGINATION_TYPE_CODES);
    page->size = spec_number(object, "size");
    page->size_min = spec_number(object, "size_min");
    page->size_max = spec_number(object, "size_max");
    page->max_pages = spec_number(object, "max_pages");
    page->cap = spec_number(object, "cap");
    page->id_min = spec_number(object, "id_min");
    page->id_max = spec_number(object, "id_max");
    page->base = (int)spec_number(object, "base");
    page->has_initial = spec_has(object, "initial");
    page->initial = spec_text(object, "initial");
    page->next = spec_path(object, "next", format);
    page->next_header = spec_text(object, "next_header");
    page->replayable = spec_bool(object, "replayable");
    page->tail_probe = spec_bool(object, "tail_probe");
    page->bridge_to_time = spec_bool(object, "bridge_to_time");
    page->same_token = (enum same_token)spec_code(object, "same_token", &SAME_TOKEN_CODES);
    page->order_by = spec_text(object, "order_by");
}

static void read_start(struct spec_object object, struct spec_window *window)
{
    struct date date = { 0 };
    struct error err;

    window->has_start = spec_has(object, "start");
    if (!window->has_start)
        return;
    if (!date_parse(date_format_find(STR("rfc3339")), spec_text(object, "start"), &date, &err))
        (void)spec_fail(object.reader, "start", "is no instant");
    window->start_us = date.at_us;
}

static void read_window(struct spec_object endpoint, struct spec_window *window)
{
    const struct spec_object object = spec_object(endpoint, "window");

    window->key = spec_text(object, "key");
    window->granularity = (enum granularity)spec_code(object, "granularity", &GRANULARITY_CODES);
    window->updated_since = spec_bool(object, "updated_since");
    window->client_filter = spec_bool(object, "client_filter");
    window->monotonic = spec_bool(object, "monotonic");
    window->lag_us = spec_number(object, "lag_us");
    window->lookback_us = spec_number(object, "lookback_us");
    window->size_us = spec_number(object, "size_us");
    window->max_us = spec_number(object, "max_us");
    window->min_us = spec_number(object, "min_us");
    window->overlap_us = spec_number(object, "overlap_us");
    window->align = (enum align_unit)spec_code(object, "align", &ALIGN_UNIT_CODES);
    window->mode = window->align == ALIGN_NONE ? WINDOW_SLIDING : WINDOW_CALENDAR;
    window->beyond_now = (enum beyond_now)spec_code(object, "beyond_now", &BEYOND_NOW_CODES);
    read_start(object, window);
}

/* ---- what authors name ---- */

static void read_params(struct spec_object endpoint, const char *name, struct spec_param_list *list)
{
    struct spec_reader *reader = endpoint.reader;
    const struct json_node node = json_get(reader->doc, endpoint.node, str_of(name));
    struct spec_param *items =
        ARENA_ARRAY(reader->arena, struct spec_param, json_count(reader->doc, node));
    struct json_iter it;

    list->items = items;
    if (items == NULL) {
        (void)spec_fail(reader, name, "does not fit into memory");
        return;
    }
    for (it = json_each(reader->doc, node); json_next(&it); list->count++) {
        const struct spec_object object = { reader, it.value, name };
        struct spec_param *param = &items[it.index];

        param->name = spec_text(object, "name");
        spec_template(object, "value", &param->value);
        param->is_required = spec_bool(object, "required");
        param->has_default = spec_has(object, "default");
        param->default_value = spec_text(object, "default");
    }
}

static void read_exprs(struct spec_object endpoint, struct spec_endpoint *out)
{
    struct spec_reader *reader = endpoint.reader;
    const struct spec_object object = spec_object(endpoint, "expr");
    const struct spec_object define = spec_object(object, "define");
    struct spec_expr *items =
        ARENA_ARRAY(reader->arena, struct spec_expr, json_count(reader->doc, define.node));
    struct template_faults faults;
    struct json_iter it;
    struct error err;

    out->null_policy = (enum null_policy)spec_code(object, "null_policy", &NULL_POLICY_CODES);
    out->exprs = items;
    if (items == NULL) {
        (void)spec_fail(reader, "expr.define", "does not fit into memory");
        return;
    }
    for (it = json_each(reader->doc, define.node); json_next(&it); out->expr_count++) {
        struct spec_expr *expr = &items[it.index];

        expr->name = spec_string(reader, it.name);
        if (!template_compile(&expr->value, reader->arena, spec_string(reader, it.value), &faults,
                              &err))
            (void)spec_fail(reader, "expr.define", err.text);
    }
}

static void read_values(struct spec_object root, struct spec *spec)
{
    struct spec_reader *reader = root.reader;
    const struct spec_object params = spec_object(root, "params");
    struct spec_value *items =
        ARENA_ARRAY(reader->arena, struct spec_value, json_count(reader->doc, params.node));
    struct json_iter it;

    spec->params = items;
    if (items == NULL) {
        (void)spec_fail(reader, "params", "do not fit into memory");
        return;
    }
    for (it = json_each(reader->doc, params.node); json_next(&it); spec->param_count++) {
        const struct spec_object object = { reader, it.value, "params" };
        struct spec_value *value = &items[it.index];

        value->name = spec_string(reader, it.name);
        value->value = spec_text(object, "value");
        value->is_required = spec_has(object, "required") && spec_bool(object, "required");
        value->has_default = spec_has(object, "default");
        value->default_value = spec_text(object, "default");
    }
}

/* ---- the whole ---- */

static void read_endpoint(struct spec_object object, bool is_detail, struct spec_endpoint *out)
{
    out->name = spec_text(object, "endpoint");
    out->role = (enum endpoint_role)spec_code(object, "role", &ENDPOINT_ROLE_CODES);
    out->method = (enum http_method)spec_code(object, "method", &HTTP_METHOD_CODES);
    spec_template(object, "path", &out->path);
    read_params(object, "query", &out->query);
    read_params(object, "headers", &out->headers);
    read_params(object, "form", &out->form);
    out->json =
        json_raw(object.reader->doc, json_get(object.reader->doc, object.node, STR("json")));
    read_http(object, &out->http);
    read_auth(object, &out->auth);
    read_rate(object, &out->rate);
    read_retry(object, &out->retry);
    read_batch(object, &out->batch);
    read_exprs(object, out);
    spec_read_response(object, &out->response);
    read_page(object, out->response.format, &out->page);
    if (!is_detail)
        read_window(object, &out->window);
}

static void read_candidates(struct spec_object object, struct spec_operation *operation)
{
    const struct str *words;
    const size_t count = spec_texts(object, "candidates", &words);

    for (size_t i = 0; i < count; i++) {
        const int value = code_find(&CANDIDATE_SOURCE_CODES, words[i]);

        if (value < 0)
            (void)spec_fail(object.reader, "candidates", "has a word that is not known");
        else
            operation->candidates[value] = true;
    }
}

static void read_operation(struct spec_object root, struct spec_operation *operation)
{
    const struct spec_object object = spec_object(root, "operation");
    const struct spec_object slice = spec_object(object, "slice");
    const struct spec_object budget = spec_object(object, "budget");
    const struct spec_object staleness = spec_object(object, "staleness");

    operation->name = spec_text(object, "name");
    operation->operation = (enum operation)spec_code(object, "operation", &OPERATION_CODES);
    operation->priority = (int)spec_number(object, "priority");
    operation->namespace_scope =
        (enum namespace_scope)spec_code(object, "namespace", &NAMESPACE_SCOPE_CODES);
    operation->direction = (enum direction)spec_code(object, "direction", &DIRECTION_CODES);
    if (spec_has(object, "drive"))
        operation->drive = (enum update_drive)spec_code(object, "drive", &UPDATE_DRIVE_CODES);
    operation->cursor = (enum cursor_type)spec_code(object, "cursor", &CURSOR_TYPE_CODES);
    operation->slice_by = (enum slice_dimension)spec_code(slice, "by", &SLICE_DIMENSION_CODES);
    operation->slice_pages = spec_number(slice, "pages");
    if (spec_has(slice, "ids"))
        operation->slice_ids = (enum id_slicing)spec_code(slice, "ids", &ID_SLICING_CODES);
    operation->slice_buckets = spec_number(slice, "buckets");
    read_candidates(object, operation);
    operation->stale_after_us = spec_number(staleness, "after_us");
    operation->stale_buckets = spec_number(staleness, "buckets");
    operation->budget_requests = spec_number(budget, "requests");
    operation->budget_records = spec_number(budget, "records");
    operation->budget_time_us = spec_number(budget, "time_us");
    operation->queued_max = spec_number(object, "queued_max");
    operation->running_max = spec_number(object, "running_max");
}

bool spec_read(struct arena *arena, struct str json, struct spec *spec, struct error *err)
{
    struct spec_reader reader = { .arena = arena, .err = err };
    struct spec_object root = { &reader, JSON_NODE_NONE, "snapshot" };
    struct json_doc doc;

    *spec = (struct spec){ 0 };
    if (!json_parse(&doc, arena, json, err))
        return arena->failed ? error_wrap(err, "snapshot") : spec_fail(&reader, "is", "no JSON");
    reader.doc = &doc;
    root.node = json_root(&doc);
    if (spec_number(root, "version") != SNAPSHOT_VERSION)
        return spec_fail(&reader, "version", "is not one that this patra knows");
    spec->source = spec_text(root, "source");
    read_operation(root, &spec->operation);
    read_values(root, spec);
    read_endpoint(root, false, &spec->endpoint);
    spec->is_two_phase = spec_has(root, "detail");
    if (spec->is_two_phase)
        read_endpoint(spec_object(root, "detail"), true, &spec->detail);
    return !reader.failed;
}
