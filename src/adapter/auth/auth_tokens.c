/* The cache of OAuth2 tokens, one entry per client. */
#include "adapter/auth/auth_tokens.h"

#include <assert.h>
#include <pthread.h>
#include <stdlib.h>
#include <string.h>

#include "base/instant.h"
#include "data/hash.h"
#include "data/oauth_token.h"
#include "data/redact.h"

/* Of each client, this many of the latest tokens are taken out of texts. */
enum { SHOWN = 2 };

/* More clients than sources would be a leak. */
enum { CLIENTS_MAX = 256, TOKEN_BODY_BYTES_MAX = 1 << 20, SCRATCH_BYTES_MAX = 8 << 20 };

/* A token server that fails gets the next request after this, while the cached token is valid. */
#define RETRY_US (10 * US_PER_SECOND)

struct client {
    struct client *next;
    struct hash_sum key;  /* of the client, its token server and scope */
    pthread_mutex_t lock; /* of what follows; held during a request to the token server */
    struct secret token;  /* empty: none */
    int64_t until_us;     /* monotonic */
    int64_t lifetime_us;
    int64_t retry_us; /* monotonic: no request before this, while the token is valid */
    uint64_t number;
    struct secret shown[SHOWN]; /* the latest tokens; under the lock of the list */
};

struct auth_tokens {
    pthread_mutex_t lock; /* of the list; clients stay until the end */
    struct client *clients;
    size_t count;
};

bool auth_tokens_open(struct auth_tokens **tokens, struct error *err)
{
    *tokens = calloc(1, sizeof(**tokens));
    if (*tokens == NULL)
        return error_set(err, ERROR_TRANSIENT, "http.resource", "no memory for tokens");
    (void)pthread_mutex_init(&(*tokens)->lock, NULL);
    return true;
}

void auth_tokens_close(struct auth_tokens *tokens)
{
    if (tokens == NULL)
        return;
    while (tokens->clients != NULL) {
        struct client *client = tokens->clients;

        tokens->clients = client->next;
        secret_wipe(&client->token);
        for (size_t i = 0; i < SHOWN; i++)
            secret_wipe(&client->shown[i]);
        (void)pthread_mutex_destroy(&client->lock);
        free(client);
    }
    (void)pthread_mutex_destroy(&tokens->lock);
    free(tokens);
}

bool auth_value(struct secret_source *secrets, struct str setting, struct secret *value,
                struct error *err)
{
    value->len = 0;
    if (secret_is_reference(setting))
        return secret_get(secrets, setting, value, err);
    if (setting.len > SECRET_BYTES_MAX)
        return error_set(err, ERROR_FATAL, "secret.too_long", "a setting has more than %d bytes",
                         SECRET_BYTES_MAX);
    if (setting.len > 0)
        memcpy(value->bytes, setting.data, setting.len);
    value->len = setting.len;
    return true;
}

/* ---- clients ---- */

static bool client_key(const struct http_auth *auth, struct hash_sum *key, struct error *err)
{
    const struct str parts[] = { auth->token_url, auth->client_id, auth->client_secret,
                                 auth->scope };
    struct hash hash;

    hash_init(&hash);
    for (size_t i = 0; i < ARRAY_LEN(parts); i++) {
        hash_add(&hash, parts[i]);
        hash_add(&hash, (struct str){ "", 1 }); /* with a NUL, so that the parts are separate */
    }
    return hash_end(&hash, key, err);
}

static struct client *find_client(struct auth_tokens *tokens, const struct hash_sum *key)
{
    struct client *client = tokens->clients;

    while (client != NULL && memcmp(&client->key, key, sizeof(*key)) != 0)
        client = client->next;
    if (client != NULL || tokens->count == CLIENTS_MAX)
        return client;
    client = calloc(1, sizeof(*client));
    if (client == NULL)
        return NULL;
    client->key = *key;
    (void)pthread_mutex_init(&client->lock, NULL);
    client->next = tokens->clients;
    tokens->clients = client;
    tokens->count++;
    return client;
}

/* ---- requesting a token ---- */

/* One request to a token server, for a request that needs the token. */
struct token_call {
    const struct auth_http_parts *parts;
    const struct http_request *request;
    struct arena *scratch;
};

static bool read_response(struct arena *scratch, const struct http_response *reply,
                          struct oauth_token *token, struct error *err)
{
    const bool in_trouble = reply->status >= 500 || reply->status == 429 || reply->status == 408;
    struct str word;

    if (reply->status == 200)
        return oauth_token_read(scratch, reply->body, token, err);
    word = oauth_token_refusal(scratch, reply->body);
    return error_set(err, in_trouble ? ERROR_TRANSIENT : ERROR_FATAL, "auth.token",
                     "the token server responds with status %d%s%.*s", reply->status,
                     word.len > 0 ? ", " : "", STR_ARG(word));
}

static bool send_call(const struct token_call *call, struct str authorization,
                      struct http_response *reply, struct error *err)
{
    const struct http_request *request = call->request;
    const struct http_header headers[] = {
        { STR("Authorization"), authorization },
        { STR("Content-Type"), STR("application/x-www-form-urlencoded") },
        { STR("Accept"), STR("application/json") },
    };
    struct buf form;

    buf_init(&form, call->scratch, SCRATCH_BYTES_MAX);
    oauth_token_form(&form, request->auth->scope);
    if (!buf_ok(&form, err))
        return false;
    return http_send(call->parts->inner, call->scratch,
                     &(struct http_request){
                         .method = STR("POST"),
                         .url = request->auth->token_url,
                         .headers = headers,
                         .header_count = ARRAY_LEN(headers),
                         .body = buf_str(&form),
                         .timeouts = request->timeouts,
                         .limits = { .body_bytes_max = TOKEN_BODY_BYTES_MAX,
                                     .inflated_bytes_max = TOKEN_BODY_BYTES_MAX },
                         .allow_plain_http = request->allow_plain_http,
                         .proxy = request->proxy,
                         .ca_file = request->ca_file,
                         .correlation_id = request->correlation_id,
                         .traceparent = request->traceparent,
                         .tracestate = request->tracestate,
                         .watch = request->watch,
                     },
                     reply, err);
}

static bool request_token(const struct token_call *call, struct oauth_token *token,
                          struct error *err)
{
    const struct http_auth *auth = call->request->auth;
    struct secret_source *secrets = call->parts->secrets;
    struct secret id = { 0 }, secret = { 0 };
    struct str authorization;
    struct http_response reply;
    const bool is_sent = auth_value(secrets, auth->client_id, &id, err) &&
                         secret_get(secrets, auth->client_secret, &secret, err) &&
                         oauth_token_authorization(call->scratch, secret_str(&id),
                                                   secret_str(&secret), &authorization, err) &&
                         send_call(call, authorization, &reply, err);

    secret_wipe(&id);
    secret_wipe(&secret);
    return is_sent && read_response(call->scratch, &reply, token, err);
}

static void remember(struct auth_tokens *tokens, struct client *client)
{
    struct secret *shown = client->shown;

    (void)pthread_mutex_lock(&tokens->lock);
    secret_wipe(&shown[SHOWN - 1]);
    memmove(shown + 1, shown, (SHOWN - 1) * sizeof(*shown));
    memcpy(shown[0].bytes, client->token.bytes, client->token.len);
    shown[0].len = client->token.len;
    (void)pthread_mutex_unlock(&tokens->lock);
}

size_t auth_tokens_redact(struct auth_tokens *tokens, char *text, size_t len)
{
    (void)pthread_mutex_lock(&tokens->lock);
    for (const struct client *client = tokens->clients; client != NULL; client = client->next) {
        for (size_t i = 0; i < SHOWN; i++)
            len = redact_text(text, len, secret_str(&client->shown[i]));
    }
    (void)pthread_mutex_unlock(&tokens->lock);
    return len;
}

static bool renew(const struct auth_http_parts *parts, const struct http_request *request,
                  struct client *client, struct error *err)
{
    const int64_t ttl_us = request->auth->token_ttl_us;
    struct oauth_token token = { 0 };
    struct arena scratch;
    const struct token_call call = { parts, request, &scratch };
    bool done;

    arena_init(&scratch, SCRATCH_BYTES_MAX);
    done = request_token(&call, &token, err);
    if (done && token.value.len > SECRET_BYTES_MAX)
        done = error_set(err, ERROR_FATAL, "auth.token", "the token has more than %d bytes",
                         SECRET_BYTES_MAX);
    if (done) {
        assert(token.value.data != NULL);
        if (token.lifetime_us == 0)
            token.lifetime_us = ttl_us > 0 ? ttl_us : US_PER_HOUR;
        secret_wipe(&client->token);
        memcpy(client->token.bytes, token.value.data, token.value.len);
        client->token.len = token.value.len;
        client->lifetime_us = token.lifetime_us;
        client->until_us = clock_monotonic_us(parts->clock) + token.lifetime_us;
        client->number++;
        remember(parts->tokens, client);
    }
    arena_wipe(&scratch);
    arena_release(&scratch);
    return done || error_wrap(err, "request a token from %.*s", STR_ARG(request->auth->token_url));
}

/* A token that lives no longer than refresh_before would be replaced with every request. */
static bool is_near_its_end(const struct client *client, const struct http_auth *auth,
                            int64_t now_us)
{
    const int64_t half_us = client->lifetime_us / 2;

    return now_us >= client->until_us -
                         (auth->refresh_before_us < half_us ? auth->refresh_before_us : half_us);
}

/* Whether its token can be used as it is. The caller holds the client's lock. */
static bool is_usable(const struct client *client, const struct http_auth *auth, uint64_t refused,
                      int64_t now_us)
{
    return client->token.len > 0 && client->number > refused && now_us < client->until_us &&
           (now_us < client->retry_us || !is_near_its_end(client, auth, now_us));
}

/* Makes sure that there is a token. One that is near its end and cannot be replaced, because its
 * server fails, is used until its end. The caller holds the client's lock. */
static bool freshen(const struct auth_http_parts *parts, const struct http_request *request,
                    struct client *client, uint64_t refused, struct error *err)
{
    const int64_t now_us = clock_monotonic_us(parts->clock);
    const bool is_good =
        client->token.len > 0 && client->number > refused && now_us < client->until_us;

    if (is_usable(client, request->auth, refused, now_us))
        return true;
    if (!is_good)
        secret_wipe(&client->token);
    if (renew(parts, request, client, err))
        return true;
    client->retry_us = now_us + RETRY_US;
    return is_good && err->level == ERROR_TRANSIENT;
}

static struct client *client_of(const struct auth_http_parts *parts, const struct http_auth *auth,
                                struct error *err)
{
    struct client *client;
    struct hash_sum key;

    if (!client_key(auth, &key, err))
        return NULL;
    (void)pthread_mutex_lock(&parts->tokens->lock);
    client = find_client(parts->tokens, &key);
    (void)pthread_mutex_unlock(&parts->tokens->lock);
    if (client == NULL)
        (void)error_set(err, ERROR_TRANSIENT, "http.resource",
                        "no memory for a token, or more than %d clients", CLIENTS_MAX);
    return client;
}

bool auth_tokens_is_fresh(const struct auth_http_parts *parts, const struct http_request *request)
{
    struct error ignored; /* it is reported when the token is needed */
    struct client *client = client_of(parts, request->auth, &ignored);
    bool is_fresh;

    if (client == NULL || pthread_mutex_trylock(&client->lock) != 0)
        return true; /* or another thread is requesting it: the request waits for that */
    is_fresh = is_usable(client, request->auth, 0, clock_monotonic_us(parts->clock));
    (void)pthread_mutex_unlock(&client->lock);
    return is_fresh;
}

bool auth_tokens_get(const struct auth_http_parts *parts, const struct http_request *request,
                     uint64_t refused, struct auth_token *token, struct error *err)
{
    struct client *client = client_of(parts, request->auth, err);
    uint64_t before;
    bool is_there;

    token->value.len = 0;
    if (client == NULL)
        return false;
    (void)pthread_mutex_lock(&client->lock);
    before = client->number;
    is_there = freshen(parts, request, client, refused, err);
    if (is_there) {
        token->is_new = client->number != before;
        memcpy(token->value.bytes, client->token.bytes, client->token.len);
        token->value.len = client->token.len;
        token->number = client->number;
    }
    (void)pthread_mutex_unlock(&client->lock);
    return is_there;
}
