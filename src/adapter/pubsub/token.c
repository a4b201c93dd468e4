/* Tokens for Google: by a key file, or from the metadata server. */
#include "adapter/pubsub/token.h"

#include <string.h>

#include "base/instant.h"
#include "data/oauth_token.h"
#include "data/redact.h"
#include "data/service_account.h"

enum { SCRATCH_BYTES_MAX = 4 << 20, BODY_BYTES_MAX = 1 << 20 };

/* Requests for tokens are short, whatever a publish call may take. */
#define REQUEST_US (10 * US_PER_SECOND)
/* How long before its end a token is replaced, and how soon that is tried again. */
#define MARGIN_US US_PER_MINUTE
#define RETRY_US (10 * US_PER_SECOND)

static const struct str SCOPE = STR_INIT("https://www.googleapis.com/auth/pubsub");

/* A request for a token. */
struct ask {
    struct token *token;
    struct arena *scratch;
    int64_t timeout_us;
};

static bool send_request(const struct ask *ask, struct http_request *request,
                         struct http_response *reply, struct error *err)
{
    request->timeouts = (struct http_timeouts){ .connect_us = ask->timeout_us,
                                                .idle_us = ask->timeout_us,
                                                .total_us = ask->timeout_us };
    request->limits = (struct http_limits){ .body_bytes_max = BODY_BYTES_MAX,
                                            .inflated_bytes_max = BODY_BYTES_MAX };
    return http_send(ask->token->http, ask->scratch, request, reply, err);
}

static bool read_reply(const struct ask *ask, const struct http_response *reply,
                       struct oauth_token *token, struct error *err)
{
    const bool in_trouble = reply->status >= 500 || reply->status == 429 || reply->status == 408;
    struct str word;

    if (reply->status == 200)
        return oauth_token_read(ask->scratch, reply->body, token, err);
    word = oauth_token_refusal(ask->scratch, reply->body);
    return error_set(err, in_trouble ? ERROR_TRANSIENT : ERROR_FATAL, "auth.token",
                     "the token server responds with status %d%s%.*s", reply->status,
                     word.len > 0 ? ", " : "", STR_ARG(word));
}

static bool ask_by_key(const struct ask *ask, struct oauth_token *token, struct error *err)
{
    static const struct http_header headers[] = {
        { STR_INIT("Content-Type"), STR_INIT("application/x-www-form-urlencoded") },
        { STR_INIT("Accept"), STR_INIT("application/json") },
    };
    const struct bus_parts *parts = ask->token->parts;
    struct service_account account;
    struct secret file = { 0 };
    struct http_response reply;
    struct str form;
    bool ok =
        secret_get(parts->secrets, parts->spec->auth.credentials, &file, err) &&
        service_account_read(ask->scratch, secret_str(&file), &account, err) &&
        service_account_form(ask->scratch, &account, SCOPE, clock_now_us(parts->clock), &form, err);

    ok = ok && send_request(ask,
                            &(struct http_request){ .method = STR("POST"),
                                                    .url = account.token_url,
                                                    .headers = headers,
                                                    .header_count = ARRAY_LEN(headers),
                                                    .body = form },
                            &reply, err);
    secret_wipe(&file);
    return ok && read_reply(ask, &reply, token, err);
}

/* $GCE_METADATA_HOST, as Google's own libraries have it. */
static bool metadata_url(const struct ask *ask, struct str *url, struct error *err)
{
    struct secret host = { 0 };
    const bool is_set =
        secret_get(ask->token->parts->secrets, STR("env:GCE_METADATA_HOST"), &host, err);

    if (!is_set && !secret_error_is_missing(err))
        return false;
    *url = arena_printf(ask->scratch,
                        "http://%.*s/computeMetadata/v1/instance/service-accounts/default/token",
                        STR_ARG(is_set ? secret_str(&host) : STR("metadata.google.internal")));
    return url->data != NULL || arena_error(ask->scratch, err);
}

static bool ask_metadata(const struct ask *ask, struct oauth_token *token, struct error *err)
{
    static const struct http_header header = { STR_INIT("Metadata-Flavor"), STR_INIT("Google") };
    struct http_response reply;
    struct str url;

    if (!metadata_url(ask, &url, err) ||
        !send_request(
            ask,
            &(struct http_request){
                .url = url, .headers = &header, .header_count = 1, .allow_plain_http = true },
            &reply, err))
        return false;
    if (!str_eq(http_header_value(reply.headers, header.name), header.value))
        return error_set(err, ERROR_FATAL, "auth.token",
                         "what answers there is not a metadata server of Google; name a service "
                         "account's key file (auth.credentials)");
    return read_reply(ask, &reply, token, err);
}

static void retire(struct token *token)
{
    if (token->value.len > 0)
        token->before = token->value;
    secret_wipe(&token->value);
}

static bool keep(struct token *token, const struct oauth_token *got, struct error *err)
{
    const int64_t now_us = clock_monotonic_us(token->parts->clock);
    const int64_t life_us = got->lifetime_us > 0 ? got->lifetime_us : US_PER_HOUR;

    if (got->value.len > SECRET_BYTES_MAX)
        return error_set(err, ERROR_FATAL, "auth.token", "the token has more than %d bytes",
                         SECRET_BYTES_MAX);
    retire(token);
    memcpy(token->value.bytes, got->value.data, got->value.len);
    token->value.len = got->value.len;
    token->number++;
    token->until_us = now_us + life_us;
    token->fresh_until_us = token->until_us - (life_us / 2 < MARGIN_US ? life_us / 2 : MARGIN_US);
    return true;
}

static bool renew(struct token *token, int64_t timeout_us, struct error *err)
{
    struct oauth_token got = { 0 };
    struct arena scratch;
    struct ask ask = { token, &scratch, timeout_us < REQUEST_US ? timeout_us : REQUEST_US };
    bool ok;

    if (token->http == NULL && token->opener == NULL)
        return error_set(err, ERROR_FATAL, "bus.spec", "tokens cannot be requested here");
    if (token->http == NULL && !token->opener(&token->http, err))
        return false;
    arena_init(&scratch, SCRATCH_BYTES_MAX);
    ok = (token->source == TOKEN_KEY ? ask_by_key(&ask, &got, err)
                                     : ask_metadata(&ask, &got, err)) &&
         keep(token, &got, err);
    arena_wipe(&scratch);
    arena_release(&scratch);
    return ok || error_wrap(err, "request a token");
}

bool token_get(struct token *token, int64_t timeout_us, struct str *value, struct error *err)
{
    int64_t now_us;

    *value = (struct str){ 0 };
    if (token->source == TOKEN_NONE)
        return true;
    now_us = clock_monotonic_us(token->parts->clock);
    if (token->value.len == 0 || now_us >= token->fresh_until_us) {
        if (!renew(token, timeout_us, err)) {
            if (err->level != ERROR_TRANSIENT || token->value.len == 0 || now_us >= token->until_us)
                return false;
            token->fresh_until_us = now_us + RETRY_US;
        }
    }
    *value = secret_str(&token->value);
    return true;
}

void token_drop(struct token *token, int64_t number)
{
    if (number == token->number)
        retire(token);
}

void token_redact(const struct token *token, struct error *err)
{
    redact_error(err, secret_str(&token->value));
    redact_error(err, secret_str(&token->before));
}

void token_close(struct token *token)
{
    secret_wipe(&token->value);
    secret_wipe(&token->before);
    if (token->http != NULL)
        http_close(token->http);
    token->http = NULL;
}
