/* The http port that adds credentials and passes requests on. */
#include "adapter/auth/auth_http.h"

#include <stdlib.h>

#include "adapter/auth/auth_apply.h"
#include "adapter/auth/auth_tokens.h"

enum { SCRATCH_BYTES_MAX = 256 << 20 }; /* a large POST body and its copy with a key in it */

struct auth_http {
    struct http http;
    struct auth_http_parts parts;
    struct arena scratch; /* holds secrets while a request is passed on; wiped afterwards */
};

struct auth_ticket {
    struct http_ticket ticket;
    struct http_ticket *inner;
    struct arena *arena;
    struct http_request request; /* as the caller gave it: without a credential */
    uint64_t token;              /* the number of the token in it, if that was cached */
};

static struct auth_http *auth_of(struct http *http)
{
    return (struct auth_http *)http;
}

static bool is_bare(const struct http_request *request)
{
    return request->auth == NULL || request->auth->type == AUTH_NONE;
}

static struct http_request without_auth(const struct http_request *request)
{
    struct http_request bare = *request;

    bare.auth = NULL;
    return bare;
}

/* One sending of a request. */
struct attempt {
    const struct http_request *request;
    uint64_t refused; /* the number of the token that was refused; 0: none was */
    uint64_t token;   /* the number of the cached token that was sent; 0: none was */
};

/* ---- the credential's values ---- */

static bool get_values(struct auth_http *self, const struct attempt *attempt,
                       struct auth_token *secret, struct secret *username, struct error *err)
{
    const struct http_auth *auth = attempt->request->auth;

    if (auth->type == AUTH_OAUTH2)
        return auth_tokens_get(&self->parts, attempt->request, attempt->refused, secret, err);
    if (!secret_get(self->parts.secrets, auth->type == AUTH_BASIC ? auth->password : auth->secret,
                    &secret->value, err))
        return false;
    if (auth->type != AUTH_BASIC && auth->type != AUTH_CUSTOM)
        return true;
    return auth_value(self->parts.secrets, auth->username, username, err);
}

/* A proxy may be a reference, because its URL can have a password in it. */
static bool resolve_proxy(struct auth_http *self, struct http_request *request, struct error *err)
{
    struct secret proxy = { 0 };
    bool done;

    if (!secret_is_reference(request->proxy))
        return true;
    done = secret_get(self->parts.secrets, request->proxy, &proxy, err);
    if (done)
        request->proxy = arena_copy(&self->scratch, secret_str(&proxy));
    secret_wipe(&proxy);
    if (!done)
        return error_wrap(err, "proxy");
    return request->proxy.data != NULL || arena_error(&self->scratch, err);
}

static bool add_credential(struct auth_http *self, struct attempt *attempt,
                           struct http_request *made, struct error *err)
{
    const struct http_request *request = attempt->request;
    struct auth_token secret = { 0 };
    struct secret username = { 0 };
    bool done;

    if (!auth_check_origin(request, err))
        return false;
    done = get_values(self, attempt, &secret, &username, err);
    if (!done && request->auth->optional && secret_error_is_missing(err)) {
        *made = without_auth(request);
        return true;
    }
    done = done && auth_apply(&self->scratch, request,
                              &(struct auth_values){
                                  .secret = secret_str(&secret.value),
                                  .username = secret_str(&username),
                                  .now_us = clock_now_us(self->parts.clock),
                              },
                              made, err);
    if (request->auth->type == AUTH_OAUTH2 && !secret.is_new)
        attempt->token = secret.number;
    secret_wipe(&secret.value);
    secret_wipe(&username);
    return done || error_wrap(err, "%s", http_title(request, request->url).text);
}

/* Makes the request that is sent; its parts are in self->scratch. */
static bool prepare(struct auth_http *self, struct attempt *attempt, struct http_request *made,
                    struct error *err)
{
    struct http_request resolved = *attempt->request;
    struct attempt inner = { .request = &resolved, .refused = attempt->refused };
    bool done;

    if (!resolve_proxy(self, &resolved, err))
        return false;
    if (is_bare(&resolved)) {
        *made = without_auth(&resolved);
        return true;
    }
    done = add_credential(self, &inner, made, err);
    attempt->token = inner.token;
    return done;
}

/* ---- sending ---- */

static bool send_once(struct auth_http *self, struct arena *arena, struct attempt *attempt,
                      struct http_response *reply, struct error *err)
{
    struct http_request made;
    const bool done = prepare(self, attempt, &made, err) &&
                      http_send(self->parts.inner, arena, &made, reply, err);

    arena_wipe(&self->scratch);
    return done;
}

/* A cached token that the server no longer accepts is replaced, and the request is sent again. */
static bool repeat_when_refused(struct auth_http *self, struct arena *arena,
                                const struct attempt *first, struct http_response *reply,
                                struct error *err)
{
    struct attempt second = { .request = first->request, .refused = first->token };

    if (reply->status != 401 || first->token == 0)
        return true;
    *reply = (struct http_response){ 0 };
    if (!send_once(self, arena, &second, reply, err))
        return false;
    reply->attempts += 2; /* with the one for the token */
    return true;
}

static bool auth_send(struct http *http, struct arena *arena, const struct http_request *request,
                      struct http_response *reply, struct error *err)
{
    struct auth_http *self = auth_of(http);
    struct attempt attempt = { .request = request };

    return send_once(self, arena, &attempt, reply, err) &&
           repeat_when_refused(self, arena, &attempt, reply, err);
}

static bool auth_start(struct http *http, struct arena *arena, const struct http_request *request,
                       struct http_ticket **ticket, struct error *err)
{
    struct auth_http *self = auth_of(http);
    struct auth_ticket *made = ARENA_NEW(arena, struct auth_ticket);
    struct attempt attempt = { .request = request };
    struct http_request sent;
    bool done;

    if (made == NULL)
        return arena_error(arena, err);
    made->ticket.http = http;
    made->arena = arena;
    if (!http_request_copy(arena, request, &made->request, err))
        return false;
    done = prepare(self, &attempt, &sent, err) &&
           http_start(self->parts.inner, arena, &sent, &made->inner, err);
    arena_wipe(&self->scratch);
    made->token = attempt.token;
    *ticket = &made->ticket;
    return done;
}

static bool auth_wait(struct http_ticket *ticket, struct http_response *reply, struct error *err)
{
    struct auth_ticket *made = (struct auth_ticket *)ticket;
    const struct attempt first = { .request = &made->request, .token = made->token };

    return http_wait(made->inner, reply, err) &&
           repeat_when_refused(auth_of(ticket->http), made->arena, &first, reply, err);
}

static void auth_cancel(struct http_ticket *ticket)
{
    http_cancel(((struct auth_ticket *)ticket)->inner);
}

static bool open_once(struct auth_http *self, struct arena *arena, struct attempt *attempt,
                      struct http_stream **stream, struct http_response *reply, struct error *err)
{
    struct http_request made;
    const bool done = prepare(self, attempt, &made, err) &&
                      http_open(self->parts.inner, arena, &made, stream, reply, err);

    arena_wipe(&self->scratch);
    return done;
}

/* The stream is the inner handle's: its reads need no credential. */
static bool auth_open(struct http *http, struct arena *arena, const struct http_request *request,
                      struct http_stream **stream, struct http_response *reply, struct error *err)
{
    struct auth_http *self = auth_of(http);
    struct attempt first = { .request = request };
    struct attempt second = { .request = request };

    if (!open_once(self, arena, &first, stream, reply, err))
        return false;
    if (reply->status != 401 || first.token == 0)
        return true;
    second.refused = first.token;
    if (!open_once(self, arena, &second, stream, reply, err))
        return false;
    reply->attempts += 2;
    return true;
}

static size_t auth_redact(struct http *http, char *text, size_t len)
{
    return auth_tokens_redact(auth_of(http)->parts.tokens, text, len);
}

/* Without its secret no token is requested: the request fails, or is sent without one. */
static bool has_secret(struct auth_http *self, const struct http_auth *auth)
{
    struct secret secret = { 0 };
    struct error ignored; /* it is reported when the token is needed */
    const bool has = secret_get(self->parts.secrets, auth->client_secret, &secret, &ignored);

    secret_wipe(&secret);
    return has;
}

static bool auth_is_ready(struct http *http, const struct http_request *request)
{
    struct auth_http *self = auth_of(http);

    return is_bare(request) || request->auth->type != AUTH_OAUTH2 ||
           auth_tokens_is_fresh(&self->parts, request) || !has_secret(self, request->auth);
}

/* The request is put together and not sent: what is cached for it stays. */
static bool auth_make_ready(struct http *http, const struct http_request *request,
                            struct error *err)
{
    struct auth_http *self = auth_of(http);
    struct attempt attempt = { .request = request };
    struct http_request unused;
    const bool done = prepare(self, &attempt, &unused, err);

    arena_wipe(&self->scratch);
    return done;
}

static void auth_interrupt(struct http *http)
{
    http_interrupt(auth_of(http)->parts.inner);
}

static void auth_close(struct http *http)
{
    struct auth_http *self = auth_of(http);

    http_close(self->parts.inner);
    arena_release(&self->scratch);
    free(self);
}

bool auth_http_open(const struct auth_http_parts *parts, struct http **http, struct error *err)
{
    static const struct http_ops ops = { .send = auth_send,
                                         .start = auth_start,
                                         .wait = auth_wait,
                                         .cancel = auth_cancel,
                                         .open = auth_open, /* its streams are the inner one's */
                                         .redact = auth_redact,
                                         .is_ready = auth_is_ready,
                                         .make_ready = auth_make_ready,
                                         .interrupt = auth_interrupt,
                                         .close = auth_close };
    struct auth_http *self = calloc(1, sizeof(*self));

    if (self == NULL)
        return error_set(err, ERROR_TRANSIENT, "http.resource", "no memory for an HTTP handle");
    self->http.ops = &ops;
    self->parts = *parts;
    arena_init(&self->scratch, SCRATCH_BYTES_MAX);
    *http = &self->http;
    return true;
}
