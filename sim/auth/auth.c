/* Rules for credentials, the OAuth2 tokens that were issued, and the check of each request. */
#include "sim/auth/auth.h"

#include <pthread.h>
#include <stdlib.h>

#include "base/instant.h"
#include "sim/auth/credential.h"
#include "sim/util/key_values.h"

enum { RULES_MAX = 64, TOKENS_MAX = 1024, TOKEN_BYTES = 48, SECRET_BYTES_MIN = 4 };

enum auth_type { AUTH_NONE, AUTH_API_KEY, AUTH_BASIC, AUTH_BEARER, AUTH_OAUTH2, AUTH_HMAC };

static const char *const TYPES[] = { "none", "api_key", "basic", "bearer", "oauth2", "hmac", NULL };
static const char *const PLACES[] = { "query", "header", NULL };

struct rule {
    struct str path;
    int type;        /* enum auth_type */
    int place;       /* of an API key: 0 query, 1 header */
    struct str name; /* of an API key's parameter or header; user, client id, key id */
    struct str secret;
    int64_t expires_us;
    bool tls_only;
    int64_t quota; /* requests per span; 0: any number */
    int64_t per_us;
};

/* The requests that were sent with the credential of a rule. */
struct use {
    int64_t span_us; /* when the current span began */
    int64_t in_span;
    int64_t served;
    int64_t over; /* beyond the quota */
};

struct token {
    char text[TOKEN_BYTES];
    int64_t until_us;
    size_t rule;
};

struct auth {
    struct rule rules[RULES_MAX];
    size_t rule_count;
    pthread_mutex_t lock;            /* protects the members below */
    struct token tokens[TOKENS_MAX]; /* a ring: the oldest is overwritten */
    uint64_t issued;
    uint64_t revoked; /* tokens issued before this number are invalid */
    struct use uses[RULES_MAX];
};

bool auth_open(struct auth **auth, struct error *err)
{
    *auth = calloc(1, sizeof(**auth));
    if (*auth == NULL)
        return error_set(err, ERROR_TRANSIENT, "memory", "no memory for credentials");
    (void)pthread_mutex_init(&(*auth)->lock, NULL);
    return true;
}

void auth_close(struct auth *auth)
{
    if (auth == NULL)
        return;
    (void)pthread_mutex_destroy(&auth->lock);
    free(auth);
}

/* ---- rules ---- */

static bool set_word(struct rule *rule, struct key_value pair)
{
    static const char *const names[] = { "name", "user", "client_id", "key_id", NULL };
    static const char *const secrets[] = { "value",         "password", "token",
                                           "client_secret", "secret",   NULL };

    if (str_eq(pair.name, STR("path"))) {
        rule->path = pair.value;
    } else if (str_eq(pair.name, STR("type"))) {
        rule->type = key_values_choice(pair.value, TYPES);
    } else if (str_eq(pair.name, STR("in"))) {
        rule->place = key_values_choice(pair.value, PLACES);
    } else if (str_eq(pair.name, STR("tls_only"))) {
        rule->tls_only = true;
    } else if (str_eq(pair.name, STR("expires"))) {
        if (!str_to_i64(pair.value, &rule->expires_us) || rule->expires_us < 1)
            return false;
        rule->expires_us *= US_PER_SECOND;
    } else if (str_eq(pair.name, STR("quota"))) {
        return str_to_i64(pair.value, &rule->quota) && rule->quota > 0;
    } else if (str_eq(pair.name, STR("per"))) {
        if (!str_to_i64(pair.value, &rule->per_us) || rule->per_us < 1)
            return false;
        rule->per_us *= US_PER_SECOND;
    } else if (key_values_choice(pair.name, names) >= 0) {
        rule->name = pair.value;
    } else if (key_values_choice(pair.name, secrets) >= 0) {
        rule->secret = pair.value;
    } else {
        return false;
    }
    return rule->type >= 0 && rule->place >= 0;
}

bool auth_add(struct auth *auth, struct str line, struct error *err)
{
    struct rule *rule = &auth->rules[auth->rule_count];
    struct key_value pair;

    if (auth->rule_count == RULES_MAX)
        return error_set(err, ERROR_REQUEST, "auth.many", "more than %d rules", RULES_MAX);
    *rule = (struct rule){ .expires_us = US_PER_HOUR, .per_us = US_PER_HOUR };
    while (key_values_next(&line, &pair)) {
        if (!set_word(rule, pair))
            return error_set(err, ERROR_REQUEST, "auth.word", "%.*s=%.*s is not valid",
                             STR_ARG(pair.name), STR_ARG(pair.value));
    }
    if (rule->path.len == 0)
        return error_set(err, ERROR_REQUEST, "auth.path", "path=... is missing");
    if (rule->type != AUTH_NONE && rule->secret.len < SECRET_BYTES_MIN)
        return error_set(err, ERROR_REQUEST, "auth.secret",
                         "the secret is missing or has fewer than %d bytes", SECRET_BYTES_MIN);
    if (rule->type != AUTH_NONE && rule->type != AUTH_BEARER && rule->name.len == 0)
        return error_set(err, ERROR_REQUEST, "auth.name", "the name or id is missing");
    auth->rule_count++;
    return true;
}

static const struct rule *rule_for(const struct auth *auth, struct str path)
{
    const struct rule *best = NULL;

    for (size_t i = 0; i < auth->rule_count; i++) {
        const struct rule *rule = &auth->rules[i];

        if (str_starts(path, rule->path) && (best == NULL || rule->path.len > best->path.len))
            best = rule;
    }
    return best;
}

bool auth_is_tls_only(const struct auth *auth, struct str path)
{
    const struct rule *rule = rule_for(auth, path);

    if (str_eq(path, STR("/oauth/token"))) {
        for (size_t i = 0; i < auth->rule_count; i++) {
            if (auth->rules[i].type == AUTH_OAUTH2 && auth->rules[i].tls_only)
                return true;
        }
    }
    return rule != NULL && rule->tls_only;
}

/* ---- tokens; the callers hold the lock ---- */

static const struct token *find_token(const struct auth *auth, struct str text)
{
    const uint64_t kept = auth->issued < TOKENS_MAX ? auth->issued : TOKENS_MAX;

    for (uint64_t i = auth->issued - kept; i < auth->issued; i++) {
        const struct token *token = &auth->tokens[i % TOKENS_MAX];

        if (str_eq(str_of(token->text), text))
            return i >= auth->revoked ? token : NULL;
    }
    return NULL;
}

static const struct token *issue(struct auth *auth, const struct rule *rule, int64_t now_us)
{
    struct token *token = &auth->tokens[auth->issued % TOKENS_MAX];

    credential_token(rule->secret, auth->issued, token->text, sizeof(token->text));
    token->until_us = now_us + rule->expires_us;
    token->rule = (size_t)(rule - auth->rules);
    auth->issued++;
    return token;
}

void auth_revoke_all(struct auth *auth)
{
    (void)pthread_mutex_lock(&auth->lock);
    auth->revoked = auth->issued;
    (void)pthread_mutex_unlock(&auth->lock);
}

/* ---- the token endpoint ---- */

static const struct rule *client_of(const struct auth *auth, const struct http_call *call)
{
    const struct str header = call_header(call, STR("Authorization"));

    for (size_t i = 0; i < auth->rule_count; i++) {
        const struct rule *rule = &auth->rules[i];

        if (rule->type != AUTH_OAUTH2)
            continue;
        if (credential_is_basic(call->arena, header, rule->name, rule->secret) ||
            (str_eq(call_param(call, STR("client_id")), rule->name) &&
             str_eq(call_param(call, STR("client_secret")), rule->secret)))
            return rule;
    }
    return NULL;
}

void auth_token(struct auth *auth, struct http_call *call)
{
    const struct rule *rule = client_of(auth, call);
    const struct str grant = call_param(call, STR("grant_type"));
    struct str body;

    call->page = PAGE_NONE;
    if (!str_eq(call->method, STR("POST")) || !str_eq(grant, STR("client_credentials"))) {
        call_respond(call, 400, STR("application/json"),
                     STR("{\"error\":\"unsupported_grant_type\"}\n"));
        return;
    }
    if (rule == NULL) {
        call_respond(call, 401, STR("application/json"), STR("{\"error\":\"invalid_client\"}\n"));
        call_add_header(call, STR("WWW-Authenticate"), STR("Basic realm=\"patra-sim\""));
        return;
    }
    (void)pthread_mutex_lock(&auth->lock);
    body = arena_printf(
        call->arena, "{\"access_token\":\"%s\",\"token_type\":\"Bearer\",\"expires_in\":%lld}\n",
        issue(auth, rule, call->now_us)->text, (long long)(rule->expires_us / US_PER_SECOND));
    (void)pthread_mutex_unlock(&auth->lock);
    call_respond(call, 200, STR("application/json"), body);
    call_add_header(call, STR("Cache-Control"), STR("no-store"));
}

/* ---- checking ---- */

static bool refuse(struct http_call *call, int status, struct str challenge, const char *why)
{
    call->page = PAGE_NONE;
    call_respond(call, status, STR("application/json"),
                 arena_printf(call->arena, "{\"error\":\"%s\",\"message\":\"%s\"}\n",
                              status == 401 ? "Unauthorized" : "Forbidden", why));
    if (challenge.len > 0)
        call_add_header(call, STR("WWW-Authenticate"), challenge);
    return false;
}

static bool refuse_quota(struct http_call *call, int64_t rest_us)
{
    const int64_t seconds = (rest_us + US_PER_SECOND - 1) / US_PER_SECOND;

    call->page = PAGE_NONE;
    call_respond(call, 429, STR("application/json"), STR("{\"error\":\"quota exceeded\"}\n"));
    call_add_header(call, STR("Retry-After"),
                    arena_printf(call->arena, "%lld", (long long)seconds));
    return false;
}

static bool count_use(struct auth *auth, const struct rule *rule, struct http_call *call)
{
    struct use *use = &auth->uses[rule - auth->rules];
    const int64_t span_us = call->now_us - call->now_us % rule->per_us;
    bool is_over;

    (void)pthread_mutex_lock(&auth->lock);
    if (use->span_us != span_us)
        use->in_span = 0;
    use->span_us = span_us;
    is_over = rule->quota > 0 && use->in_span >= rule->quota;
    use->in_span += !is_over;
    use->served += !is_over;
    use->over += is_over;
    (void)pthread_mutex_unlock(&auth->lock);
    return !is_over || refuse_quota(call, span_us + rule->per_us - call->now_us);
}

void auth_write_json(struct auth *auth, struct buf *out)
{
    (void)pthread_mutex_lock(&auth->lock);
    buf_add_char(out, '[');
    for (size_t i = 0; i < auth->rule_count; i++) {
        const struct use *use = &auth->uses[i];

        buf_printf(out, "%s{\"path\":\"%.*s\",\"name\":\"%.*s\",\"served\":%lld,\"over\":%lld}",
                   i > 0 ? "," : "", STR_ARG(auth->rules[i].path), STR_ARG(auth->rules[i].name),
                   (long long)use->served, (long long)use->over);
    }
    buf_add(out, STR("]\n"));
    (void)pthread_mutex_unlock(&auth->lock);
}

/* Of all keys for the path of the rule. */
static bool check_key(struct auth *auth, const struct rule *rule, struct http_call *call)
{
    const struct str key =
        rule->place == 0 ? call_param(call, rule->name) : call_header(call, rule->name);

    for (size_t i = 0; i < auth->rule_count; i++) {
        const struct rule *other = &auth->rules[i];

        if (other->type == AUTH_API_KEY && str_eq(other->path, rule->path) &&
            str_eq(other->secret, key))
            return count_use(auth, other, call);
    }
    return key.len == 0 ? refuse(call, 401, STR(""), "API key missing")
                        : refuse(call, 403, STR(""), "API key not valid");
}

static bool check_bearer(const struct rule *rule, struct http_call *call, struct str header)
{
    if (credential_is_bearer(header, rule->secret))
        return true;
    return refuse(call, 401,
                  header.len == 0 ? STR("Bearer realm=\"patra-sim\"")
                                  : STR("Bearer realm=\"patra-sim\", error=\"invalid_token\""),
                  header.len == 0 ? "no bearer token" : "bearer token not valid");
}

static bool check_oauth2(struct auth *auth, const struct rule *rule, struct http_call *call,
                         struct str header)
{
    const struct token *token;
    bool alive, known;

    (void)pthread_mutex_lock(&auth->lock);
    token = str_starts(header, STR("Bearer ")) ? find_token(auth, str_slice(header, 7, header.len))
                                               : NULL;
    known = token != NULL && token->rule == (size_t)(rule - auth->rules);
    alive = known && call->now_us < token->until_us;
    (void)pthread_mutex_unlock(&auth->lock);
    if (alive)
        return true;
    return refuse(call, 401, STR("Bearer realm=\"patra-sim\", error=\"invalid_token\""),
                  known ? "the access token expired" : "the access token is not valid");
}

bool auth_check(struct auth *auth, struct http_call *call)
{
    const struct rule *rule = rule_for(auth, call->path);
    const struct str header = call_header(call, STR("Authorization"));

    if (rule == NULL)
        return true;
    switch ((enum auth_type)rule->type) {
    case AUTH_NONE:
        return true;
    case AUTH_API_KEY:
        return check_key(auth, rule, call);
    case AUTH_BASIC:
        return credential_is_basic(call->arena, header, rule->name, rule->secret) ||
               refuse(call, 401, STR("Basic realm=\"patra-sim\""), "wrong user or password");
    case AUTH_BEARER:
        return check_bearer(rule, call, header);
    case AUTH_OAUTH2:
        return check_oauth2(auth, rule, call, header);
    case AUTH_HMAC:
        switch (credential_check_signature(call, header, rule->name, rule->secret)) {
        case CREDENTIAL_VALID:
            return true;
        case CREDENTIAL_EXPIRED:
            return refuse(call, 403, STR(""), "the Date header is missing or too far off");
        case CREDENTIAL_ABSENT:
            return refuse(call, 401, STR("PATRA-HMAC-SHA256"), "no signature");
        case CREDENTIAL_WRONG:
            return refuse(call, 403, STR(""), "the signature does not match");
        }
    }
    return false;
}

/* ---- finding credentials in a request ---- */

static bool holds(struct str text, struct str secret)
{
    return secret.len > 0 && str_find(text, secret) < text.len;
}

static bool call_holds(const struct http_call *call, struct str secret)
{
    for (size_t i = 0; i < call->param_count; i++) {
        if (holds(call->params[i].value, secret))
            return true;
    }
    for (size_t i = 0; i < call->header_count; i++) {
        if (holds(call->headers[i].value, secret))
            return true;
    }
    return holds(call->path, secret) || holds(call->body, secret);
}

bool auth_carries_secret(struct auth *auth, const struct http_call *call)
{
    bool found = call_header(call, STR("Authorization")).len > 0;

    for (size_t i = 0; !found && i < auth->rule_count; i++)
        found = auth->rules[i].type != AUTH_NONE && call_holds(call, auth->rules[i].secret);
    (void)pthread_mutex_lock(&auth->lock);
    for (size_t i = 0; !found && i < TOKENS_MAX && i < auth->issued; i++)
        found = call_holds(call, str_of(auth->tokens[i].text));
    (void)pthread_mutex_unlock(&auth->lock);
    return found;
}
