/* Whether a redirect is followed, and the request for the next hop. */
#include "data/http_redirect.h"

#include "data/url.h"

static bool is_redirect(int status)
{
    return status == 301 || status == 302 || status == 303 || status == 307 || status == 308;
}

static bool refuse(const struct http_request *request, struct str url, const char *why,
                   struct str where, struct error *err)
{
    return error_set(err, ERROR_REQUEST, "http.redirect_refused", "%s: redirect refused: %s%.*s",
                     http_title(request, url).text, why, STR_ARG(where));
}

/* Scheme, host and port of a target, for messages: paths and queries may have secrets. */
static struct str origin_text(struct arena *arena, const struct url *url)
{
    return arena_printf(arena, "%.*s://%.*s:%d", STR_ARG(url->scheme), STR_ARG(url->host),
                        url->port);
}

static bool is_listed(const struct http_request *request, const struct url *target)
{
    struct url origin;
    struct error ignored; /* an origin that is not a URL allows nothing */

    for (size_t i = 0; i < request->redirect_origin_count; i++) {
        if (url_parse(request->redirect_origins[i], &origin, &ignored) &&
            url_same_origin(&origin, target))
            return true;
    }
    return false;
}

static bool holds_secret(const struct http_request *request, struct str query)
{
    while (query.len > 0) {
        struct str pair = str_cut(&query, '&');

        if (http_is_secret_name(request, str_cut(&pair, '=')))
            return true;
    }
    return false;
}

/* Whether this request may be redirected to `target`. */
static bool check_target(struct arena *arena, const struct http_arrival *at, struct str text,
                         struct http_hop *hop, struct error *err)
{
    const struct http_request *request = at->request;
    struct url target, home;

    if (!url_parse(text, &target, err) || target.userinfo.data != NULL)
        return refuse(request, at->url, "the Location is not a usable URL", STR(""), err);
    if (!url_parse(request->url, &home, err))
        return false;
    hop->leaves_origin = !url_same_origin(&home, &target);
    if (!hop->leaves_origin)
        return true;
    if (!is_listed(request, &target))
        return refuse(request, at->url, "it leads to another origin, ", origin_text(arena, &target),
                      err);
    if (holds_secret(request, target.query))
        return refuse(request, at->url, "it would carry a secret to ", origin_text(arena, &target),
                      err);
    return true;
}

bool http_redirect(struct arena *arena, const struct http_arrival *at, struct http_hop *hop,
                   struct error *err)
{
    const struct http_request *request = at->request;
    const struct str location = http_header_value(at->reply->headers, STR("Location"));
    struct str target;

    *hop = (struct http_hop){ 0 };
    if (request->redirects_max == 0 || !is_redirect(at->reply->status) || location.len == 0)
        return true;
    if (!str_eq(request->method, STR("GET")) && !str_eq(request->method, STR("HEAD")))
        return refuse(request, at->url, "only GET and HEAD follow redirects", STR(""), err);
    if (at->followed >= request->redirects_max)
        return refuse(request, at->url, "there are more than redirects_max allows", STR(""), err);
    if (!url_resolve(arena, at->url, location, &target, err))
        return refuse(request, at->url, "the Location is not a usable URL", STR(""), err);
    target = str_slice(target, 0, str_find_char(target, '#'));
    if (str_eq(target, at->url))
        return refuse(request, at->url, "it leads back to itself", STR(""), err);
    if (!check_target(arena, at, target, hop, err))
        return false;
    hop->url = target;
    return true;
}

bool http_hop_request(struct arena *arena, const struct http_request *request,
                      const struct http_hop *hop, struct http_request *next, struct error *err)
{
    const struct http_header *headers = request->headers; /* `next` may be `request` */
    const size_t count = request->header_count;
    struct http_header *kept;

    *next = *request;
    next->url = hop->url;
    if (!hop->leaves_origin)
        return true;
    kept = ARENA_ARRAY(arena, struct http_header, count);
    if (kept == NULL)
        return arena_error(arena, err);
    next->headers = kept;
    next->header_count = 0;
    for (size_t i = 0; i < count; i++) {
        if (!http_is_secret_name(request, headers[i].name))
            kept[next->header_count++] = headers[i];
    }
    return true;
}
