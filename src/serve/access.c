/* Who may do what. */
#include "serve/access.h"

#include "base/instant.h"

/* Tokens that are tried: ten at once, then one in six seconds. Nobody types that many. */
enum { FAILURES_BURST = 10 };
static const double FAILURES_RATE = 1.0 / 6;

void access_guard_init(struct access_guard *guard, const struct access_rules *rules)
{
    *guard = (struct access_guard){ .rules = *rules };
    (void)pthread_mutex_init(&guard->lock, NULL);
    guard->calls.rate = rules->rate;
    guard->calls.burst = rules->burst;
    guard->failures.rate = FAILURES_RATE;
    guard->failures.burst = FAILURES_BURST;
}

void access_guard_release(struct access_guard *guard)
{
    (void)pthread_mutex_destroy(&guard->lock);
}

/* ---- how often ---- */

static bool too_often(struct error *err)
{
    return error_set(err, ERROR_REQUEST, "access.rate", "too many requests: wait a moment");
}

static bool take_call(struct access_guard *guard, struct str key, int64_t monotonic_us,
                      struct error *err)
{
    bool ok;

    if (guard->rules.rate <= 0)
        return true;
    (void)pthread_mutex_lock(&guard->lock);
    ok = throttle_take(&guard->calls, key, monotonic_us);
    (void)pthread_mutex_unlock(&guard->lock);
    return ok || too_often(err);
}

static bool may_try(struct access_guard *guard, const struct access_question *q, struct error *err)
{
    bool ok;

    (void)pthread_mutex_lock(&guard->lock);
    ok = throttle_is_open(&guard->failures, q->request->peer, q->monotonic_us);
    (void)pthread_mutex_unlock(&guard->lock);
    return ok || too_often(err);
}

static void count_failure(struct access_guard *guard, const struct access_question *q)
{
    (void)pthread_mutex_lock(&guard->lock);
    (void)throttle_take(&guard->failures, q->request->peer, q->monotonic_us);
    (void)pthread_mutex_unlock(&guard->lock);
}

/* ---- with a token ---- */

static bool refuse_token(enum token_verdict verdict, struct error *err)
{
    const char *why = verdict == TOKEN_EXPIRED   ? "the token has expired"
                      : verdict == TOKEN_REVOKED ? "the token was revoked"
                                                 : "the token is not one of this store";

    return error_set(err, ERROR_REQUEST, "access.token", "%s", why);
}

/* Of whoever has a token, by whatever way it was shown. */
static bool admit(struct access_guard *guard, const struct access_question *q,
                  struct access *access, struct error *err)
{
    access->has_token = true;
    access->who = arena_printf(q->arena, "token %.*s", STR_ARG(access->token.name));
    if (access->who.data == NULL)
        return arena_error(q->arena, err);
    if (!take_call(guard, access->token.selector, q->monotonic_us, err))
        return false;
    return q->route->access != ROUTE_CHANGES || access->token.scope == TOKEN_OPERATE ||
           error_set(err, ERROR_REQUEST, "access.scope",
                     "the token %.*s may only read; this needs one of scope operate",
                     STR_ARG(access->token.name));
}

static bool try_token(struct access_guard *guard, const struct access_question *q, struct str text,
                      struct token_row *row, struct error *err)
{
    enum token_verdict verdict = TOKEN_MALFORMED;

    if (!may_try(guard, q, err))
        return false;
    if (text.len > 0 &&
        !token_check(q->store, q->arena, str_trim(text), q->now_us, &verdict, row, err))
        return false;
    if (verdict == TOKEN_GOOD)
        return true;
    count_failure(guard, q);
    return refuse_token(verdict, err);
}

static bool check_token(struct access_guard *guard, const struct access_question *q,
                        struct access *access, struct error *err)
{
    const struct str header = q->request->authorization;
    const struct str scheme = STR("Bearer ");
    const bool is_bearer = str_eq_nocase(str_slice(header, 0, scheme.len), scheme);

    return try_token(guard, q, is_bearer ? str_slice(header, scheme.len, header.len) : STR(""),
                     &access->token, err) &&
           admit(guard, q, access, err);
}

/* ---- of a session ---- */

/* access->form_key is '' where the request has no session that holds. */
static bool find_session(struct access_guard *guard, const struct access_question *q,
                         struct access *access, struct error *err)
{
    struct str selector, value;
    bool found;

    if (q->request->cookie.len == 0)
        return true;
    if (!session_read(&guard->key, q->arena, q->request->cookie, q->now_us, &selector, &value, err))
        return false;
    if (selector.len == 0)
        return true;
    if (!store_token_find(q->store, q->arena, selector, &access->token, &found, err))
        return false;
    if (!found || access->token.revoked_us != 0 ||
        (access->token.expires_us != 0 && access->token.expires_us <= q->now_us))
        return true;
    return session_form_key(&guard->key, q->arena, value, &access->form_key, err);
}

static bool check_form(struct access_guard *guard, const struct access_question *q,
                       struct access *access, struct error *err)
{
    if (access->form_key.len == 0)
        return error_set(err, ERROR_REQUEST, "access.token",
                         "sign in first, with a token of scope operate (patra token new)");
    if (!session_same(q->form_key, access->form_key))
        return error_set(err, ERROR_REQUEST, "access.origin",
                         "the form is not of a page of this session: load the page again");
    return admit(guard, q, access, err);
}

/* ---- without one ---- */

bool access_host_is_local(struct str host)
{
    static const struct str names[] = { STR_INIT("localhost"), STR_INIT("127.0.0.1"),
                                        STR_INIT("[::1]") };

    for (size_t i = 0; i < ARRAY_LEN(names); i++) {
        const struct str rest = str_slice(host, names[i].len, host.len);
        int64_t port;

        if (!str_eq_nocase(str_slice(host, 0, names[i].len), names[i]))
            continue;
        if (rest.len == 0 ||
            (rest.data[0] == ':' && str_to_i64(str_slice(rest, 1, rest.len), &port) && port > 0 &&
             port <= 65535))
            return true;
    }
    return false;
}

static bool check_local(struct access_guard *guard, const struct access_question *q,
                        struct error *err)
{
    const struct web_request *request = q->request;

    if (q->route->access == ROUTE_CHANGES)
        return error_set(err, ERROR_REQUEST, "access.token",
                         "a token of scope operate is needed (patra token new)");
    if (!request->is_loopback || request->is_forwarded || guard->rules.needs_token)
        return error_set(err, ERROR_REQUEST, "access.token", "a token is needed (patra token new)");
    if (!access_host_is_local(request->host))
        return error_set(err, ERROR_REQUEST, "access.host",
                         "without a token, the Host must be localhost, 127.0.0.1 or [::1]");
    return take_call(guard, request->peer, q->monotonic_us, err);
}

/* ---- whence ---- */

/* "http://localhost:8470" is the origin of pages that were served under the Host of the request. */
static bool is_own_origin(const struct web_request *request)
{
    struct str host = request->origin;
    const size_t at = str_find(host, STR("://"));

    if (at == host.len)
        return false; /* "null", too */
    host = str_slice(host, at + 3, host.len);
    return host.len > 0 && str_eq_nocase(host, request->host);
}

static bool check_origin(const struct web_request *request, struct error *err)
{
    const struct str site = request->fetch_site;
    const bool is_foreign =
        (request->origin.data != NULL && !is_own_origin(request)) ||
        (site.data != NULL && !str_eq(site, STR("same-origin")) && !str_eq(site, STR("none")));

    return !is_foreign || error_set(err, ERROR_REQUEST, "access.origin",
                                    "pages of another origin may not use this API");
}

static bool has_type(const struct web_request *request, struct str wanted, struct error *err)
{
    struct str rest = request->content_type;

    return str_eq_nocase(str_trim(str_cut(&rest, ';')), wanted) ||
           error_set(err, ERROR_REQUEST, "request.type", "the Content-Type must be %.*s",
                     STR_ARG(wanted));
}

/* Forms of other sites can send other types than JSON without asking. */
static bool check_type(const struct access_question *q, struct error *err)
{
    if (q->is_form)
        return has_type(q->request, STR("application/x-www-form-urlencoded"), err);
    return q->route->access != ROUTE_CHANGES ||
           (q->request->body.len == 0 && q->request->content_type.data == NULL) ||
           has_type(q->request, STR("application/json"), err);
}

static bool check_who(struct access_guard *guard, const struct access_question *q,
                      struct access *access, struct error *err)
{
    if (q->request->authorization.data != NULL && !q->is_form)
        return check_token(guard, q, access, err);
    if (!find_session(guard, q, access, err))
        return false;
    if (q->is_form)
        return check_form(guard, q, access, err);
    if (access->form_key.len > 0 && q->route->access != ROUTE_CHANGES)
        return admit(guard, q, access, err);
    access->form_key = STR("");
    return check_local(guard, q, err);
}

/* A page of another site may link to a page of ours: what it says is shown to the person only. */
static bool is_link(const struct access_question *q)
{
    return route_is_page(q->route) && !q->is_form && q->request->origin.data == NULL;
}

bool access_check(struct access_guard *guard, const struct access_question *q,
                  struct access *access, struct error *err)
{
    *access = (struct access){ 0 };
    if (q->route->access == ROUTE_FREE)
        return true;
    return (is_link(q) || check_origin(q->request, err)) && check_who(guard, q, access, err) &&
           check_type(q, err);
}

bool access_sign_in(struct access_guard *guard, const struct access_question *q, struct str token,
                    struct str *cookie, struct error *err)
{
    struct token_row row;
    struct str value;

    if (!check_origin(q->request, err) || !check_type(q, err) ||
        !try_token(guard, q, token, &row, err) ||
        !session_make(&guard->key, q->arena, row.selector, q->now_us, &value, err))
        return false;
    *cookie = session_cookie(q->arena, value, q->request->is_tls);
    return cookie->data != NULL || arena_error(q->arena, err);
}
