/* From a request to its response. */
#include "serve/api.h"

#include <stdio.h>
#include <stdlib.h>

#include "base/instant.h"
#include "data/hash.h"
#include "engine/session/store_retry.h"
#include "serve/call.h"
#include "serve/live.h"
#include "serve/once.h"
#include "serve/page/problem.h"
#include "serve/problem.h"

/* The largest page of any list, far above what one holds. */
#define ANSWER_BYTES_MAX ((size_t)64 << 20)

struct seat {
    struct store *store;
    struct store_retry retry;
};

struct api {
    struct web_handler handler; /* first */
    struct api_settings settings;
    struct access_guard guard;
    struct meters *meters;
    struct live live;
    struct seat seats[WEB_SEATS_MAX];
};

static const double SECONDS[METER_BOUNDS_MAX] = { 0.001, 0.005, 0.02, 0.05, 0.1, 0.2,
                                                  0.5,   1,     2,    5,    10 };

enum { API_METER_REQUESTS, API_METER_SECONDS, API_METER_COUNT };

static const struct meter_family API_METERS[API_METER_COUNT] = {
    [API_METER_REQUESTS] = { "patra_api_requests_total",
                             "Requests that this process has answered.",
                             METER_COUNTER,
                             { "route", "status" },
                             NULL },
    [API_METER_SECONDS] = { "patra_api_request_seconds",
                            "How long it took to make their responses.",
                            METER_HISTOGRAM,
                            { "route" },
                            SECONDS },
};

/* ---- seats ---- */

bool api_seat_store(struct api *api, int seat, struct store **store, struct error *err)
{
    struct seat *at = &api->seats[seat];

    *store = at->store;
    return store_retry_ready(&at->retry, err);
}

void api_seat_failed(struct api *api, int seat, const struct error *err)
{
    (void)store_retry_failed(&api->seats[seat].retry, err);
}

struct meters *api_meters(struct api *api)
{
    return api->meters;
}

const struct api_settings *api_settings(const struct api *api)
{
    return &api->settings;
}

struct live *api_live(struct api *api)
{
    return &api->live;
}

struct access_guard *api_guard(struct api *api)
{
    return &api->guard;
}

/* ---- which route ---- */

static bool is_method(const struct route *route, struct str method)
{
    return str_eq(str_of(route->method), method) ||
           (str_eq(method, STR("HEAD")) && str_eq(str_of(route->method), STR("GET")));
}

static bool is_offered(const struct api *api, const struct route_group *group)
{
    return !api->settings.is_watched_only || group == &ROUTES_HEALTH;
}

static const struct route *find_in(const struct route_group *group, struct call *call,
                                   struct buf *allowed)
{
    for (size_t i = 0; i < group->count; i++) {
        const struct route *route = &group->routes[i];

        if (!route_matches(route, &call->target))
            continue;
        if (is_method(route, call->request->method))
            return route;
        buf_printf(allowed, "%s%s", allowed->len > 0 ? ", " : "", route->method);
    }
    return NULL;
}

/* A page's form for a change has the path of the change: /form/sources/x/pause. */
static void read_prefix(struct call *call)
{
    call->is_form = call->target.segment_count > 0 && str_eq(call->target.segments[0], STR("form"));
    if (call->is_form)
        call->target.segments[0] = STR("v1");
}

static bool find_route(struct call *call, struct error *err)
{
    const size_t allowed_max = 64;
    struct buf allowed;

    read_prefix(call);
    buf_init(&allowed, call->reader.arena, allowed_max);
    for (size_t i = 0; ROUTE_GROUPS[i] != NULL && call->route == NULL; i++) {
        if (is_offered(call->api, ROUTE_GROUPS[i]))
            call->route = find_in(ROUTE_GROUPS[i], call, &allowed);
    }
    if (call->is_form && call->route != NULL && call->route->access != ROUTE_CHANGES)
        call->route = NULL;
    if (call->route != NULL) {
        call->is_form |=
            route_is_page(call->route) && str_eq(str_of(call->route->method), STR("POST"));
        return true;
    }
    if (allowed.len == 0)
        return error_set(err, ERROR_REQUEST, "route.unknown",
                         "there is no such path; GET /openapi.json describes all");
    web_header_add(call->response, STR("Allow"), buf_str(&allowed));
    return error_set(err, ERROR_REQUEST, "request.method", "this path takes %.*s",
                     STR_ARG(buf_str(&allowed)));
}

/* ---- the response ---- */

/* Whether a person looks at the answer. */
static bool is_page(const struct call *call)
{
    const struct str accept = call->request->accept;

    if (call->route == NULL)
        return call->is_form || str_find(accept, STR("text/html")) < accept.len;
    return call->is_form || route_is_page(call->route);
}

/* Pages take style, script and events of this server, and nothing else of anybody. Their forms have
 * an Origin only where the policy of referrers lets them. */
static void add_security_headers(const struct call *call)
{
    static const struct web_header headers[] = {
        { STR_INIT("X-Content-Type-Options"), STR_INIT("nosniff") },
        { STR_INIT("X-Frame-Options"), STR_INIT("DENY") },
        { STR_INIT("Cross-Origin-Resource-Policy"), STR_INIT("same-origin") },
        { STR_INIT("Cross-Origin-Opener-Policy"), STR_INIT("same-origin") },
        { STR_INIT("Cache-Control"), STR_INIT("no-cache, private") },
        { STR_INIT("Vary"), STR_INIT("Authorization, Accept, Cookie") },
    };
    struct web_response *response = call->response;

    for (size_t i = 0; i < ARRAY_LEN(headers); i++)
        web_header_add(response, headers[i].name, headers[i].value);
    web_header_add(response, STR("Content-Security-Policy"),
                   is_page(call)
                       ? STR("default-src 'none'; style-src 'self'; script-src 'self'; "
                             "connect-src 'self'; form-action 'self'; frame-ancestors 'none'; "
                             "base-uri 'none'")
                       : STR("default-src 'none'; frame-ancestors 'none'; base-uri 'none'; "
                             "form-action 'none'"));
    web_header_add(response, STR("Referrer-Policy"),
                   is_page(call) ? STR("same-origin") : STR("no-referrer"));
}

/* `"x", W/"y"` or `*`. */
static bool has_tag(struct str header, struct str tag)
{
    while (header.len > 0) {
        struct str one = str_trim(str_cut(&header, ','));

        if (str_starts(one, STR("W/")))
            one = str_slice(one, 2, one.len);
        if (str_eq(one, tag) || str_eq(one, STR("*")))
            return true;
    }
    return false;
}

/* A tag of the bytes: the same tag is the same body, whatever it was made of. */
static void tag_body(struct call *call)
{
    const size_t shown = 32;
    struct web_response *response = call->response;
    char hex[HASH_HEX_MAX];
    struct hash_sum sum;
    struct error err;
    struct str tag;

    if (!hash_of(response->body, &sum, &err))
        return;
    hash_hex(&sum, hex);
    tag = arena_printf(call->reader.arena, "\"%.*s\"", (int)shown, hex);
    if (tag.data == NULL)
        return;
    web_header_add(response, STR("ETag"), tag);
    if (call->request->if_none_match.data == NULL || !has_tag(call->request->if_none_match, tag))
        return;
    response->status = 304;
    response->body = STR("");
}

static bool finish(struct call *call, struct error *err)
{
    struct web_response *response = call->response;

    if (response->stream == NULL && response->body.data == NULL) {
        if (call->route->type == NULL)
            json_writer_finish(&call->w);
        if (!buf_ok(&call->body, err))
            return false;
        response->body = buf_str(&call->body);
    }
    if (call->is_form && call->route->type == NULL && !page_outcome(call, err))
        return false;
    if (response->status == 0)
        response->status = 200;
    web_header_add(response, STR("Content-Type"),
                   str_of(call->is_form               ? PAGE_TYPE
                          : call->route->type != NULL ? call->route->type
                                                      : "application/json"));
    if (response->stream == NULL && response->status == 200 && call->route->access != ROUTE_CHANGES)
        tag_body(call);
    return true;
}

static void fail(struct call *call, const struct error *err)
{
    struct web_response *response = call->response;

    if (response->stream != NULL)
        response->stream->close(response->stream);
    response->stream = NULL;
    if (is_page(call))
        page_problem(call, err);
    else
        problem_write(call->reader.arena, err, response);
    if (response->status >= 500)
        log_event(call->api->settings.log, LOG_WARN, "api request failed",
                  LOG_STR("method", call->request->method), LOG_STR("path", call->target.path),
                  LOG_I64("status", response->status), LOG_STR("code", str_of(err->code)),
                  LOG_STR("error", str_of(err->text)));
}

/* ---- the call ---- */

/* The route's function, once for each key. */
static bool run(struct call *call, struct error *err)
{
    struct once once;

    if (!once_begin(call, &once, err))
        return false;
    if (once.is_replayed)
        return true;
    buf_init(&call->body, call->reader.arena, ANSWER_BYTES_MAX);
    json_writer_init(&call->w, &call->body);
    if (!call->route->run(call, err) || !finish(call, err)) {
        api_seat_failed(call->api, call->seat, err);
        fail(call, err);
    }
    once_end(call, &once);
    return true;
}

static bool answer(struct call *call, struct error *err)
{
    struct api *api = call->api;
    struct params_input input = { .target = &call->target,
                                  .body = call->request->body,
                                  .now_us = call->reader.now_us };
    struct access_question question = { .request = call->request,
                                        .arena = call->reader.arena,
                                        .now_us = call->reader.now_us,
                                        .monotonic_us = clock_monotonic_us(api->settings.clock) };

    if (!target_parse(call->reader.arena, call->request->target, &call->target, err) ||
        !find_route(call, err))
        return false;
    if (call->is_form) {
        if (!target_parse_form(call->reader.arena, call->request->body, &call->form, err))
            return false;
        input.form = &call->form;
        question.is_form = true;
        question.form_key = target_value(&call->form, STR(FORM_KEY));
    }
    if (call->route->access != ROUTE_FREE &&
        !api_seat_store(api, call->seat, &call->reader.store, err))
        return false;
    question.route = call->route;
    question.store = call->reader.store;
    if (!access_check(&api->guard, &question, &call->access, err))
        return false;
    return params_read(call->reader.arena, call->route, &input, call->values, err) &&
           run(call, err);
}

static void tell(const struct call *call, int64_t took_us)
{
    const struct api_settings *settings = &call->api->settings;
    const struct str route = str_of(call->route != NULL ? call->route->path : "unknown");
    char text[16];

    (void)snprintf(text, sizeof(text), "%d", call->response->status);
    meters_add(call->api->meters, API_METER_REQUESTS, (struct str[]){ route, str_of(text) }, 1);
    meters_add(call->api->meters, API_METER_SECONDS, &route,
               (double)took_us / (double)US_PER_SECOND);
    if (call->route != NULL && call->route->access == ROUTE_CHANGES)
        log_event(settings->log, LOG_INFO, "api change", LOG_STR("method", call->request->method),
                  LOG_STR("path", call->target.path), LOG_I64("status", call->response->status),
                  LOG_STR("by", call->access.who), LOG_STR("peer", call->request->peer),
                  LOG_I64("took_us", took_us));
}

static void handle(struct web_handler *handler, int seat, struct arena *arena,
                   const struct web_request *request, struct web_response *response)
{
    struct api *api = (struct api *)handler;
    const int64_t began_us = clock_monotonic_us(api->settings.clock);
    struct call call = { .api = api,
                         .seat = seat,
                         .request = request,
                         .response = response,
                         .reader = { .arena = arena,
                                     .now_us = clock_now_us(api->settings.clock),
                                     .clock = api->settings.clock,
                                     .secrets = api->settings.secrets } };
    struct error err;

    if (!answer(&call, &err)) {
        api_seat_failed(api, seat, &err);
        fail(&call, &err);
    }
    add_security_headers(&call);
    tell(&call, clock_monotonic_us(api->settings.clock) - began_us);
}

/* ---- from start to end ---- */

struct web_handler *api_handler(struct api *api)
{
    return &api->handler;
}

static bool open_seats(struct api *api, struct error *err)
{
    for (int i = 0; i < api->settings.seats; i++) {
        if (!store_another(api->settings.store, &api->seats[i].store, err))
            return false;
        api->seats[i].retry = (struct store_retry){ .store = api->seats[i].store };
    }
    return true;
}

bool api_open(struct api **out, const struct api_settings *settings, struct error *err)
{
    struct api *api = calloc(1, sizeof(*api));

    *out = api;
    if (api == NULL)
        return error_set(err, ERROR_TRANSIENT, "memory.system", "no memory for the API");
    api->handler = (struct web_handler){ handle };
    api->settings = *settings;
    access_guard_init(&api->guard, &settings->access);
    random_source_bytes(settings->random, api->guard.key.bytes, sizeof(api->guard.key.bytes));
    live_init(&api->live);
    if (meters_open(&api->meters, API_METERS, API_METER_COUNT, err) && open_seats(api, err))
        return true;
    api_close(api);
    *out = NULL;
    return false;
}

void api_close(struct api *api)
{
    if (api == NULL)
        return;
    for (int i = 0; i < api->settings.seats; i++)
        store_close(api->seats[i].store);
    access_guard_release(&api->guard);
    live_release(&api->live);
    meters_close(api->meters);
    free(api);
}
