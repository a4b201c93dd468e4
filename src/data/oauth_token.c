/* The token request of RFC 6749, and its response. */
#include "data/oauth_token.h"

#include "base/instant.h"
#include "data/base64.h"
#include "data/json.h"
#include "data/url.h"

enum { FORM_BYTES_MAX = 64 << 10, HEADER_BYTES_MAX = 2 * FORM_BYTES_MAX };

/* The longest lifetime that is believed: a token is not kept for more than a year. */
#define LIFETIME_MAX_US (366 * US_PER_DAY)

void oauth_token_form(struct buf *out, struct str scope)
{
    buf_add(out, STR("grant_type=client_credentials"));
    if (scope.len == 0)
        return;
    buf_add(out, STR("&scope="));
    url_encode(out, scope, URL_FORM);
}

bool oauth_token_authorization(struct arena *arena, struct str client_id, struct str client_secret,
                               struct str *value, struct error *err)
{
    struct buf pair, out;

    buf_init(&pair, arena, FORM_BYTES_MAX);
    url_encode(&pair, client_id, URL_FORM);
    buf_add_char(&pair, ':');
    url_encode(&pair, client_secret, URL_FORM);
    if (!buf_ok(&pair, err))
        return false;
    buf_init(&out, arena, HEADER_BYTES_MAX);
    buf_add(&out, STR("Basic "));
    base64_encode(&out, buf_str(&pair));
    *value = buf_str(&out);
    return buf_ok(&out, err);
}

/* A number, or a string with a number: servers send both. */
static bool read_seconds(const struct json_doc *doc, struct json_node node, int64_t *seconds)
{
    if (json_type(doc, node) == JSON_STRING)
        return str_to_i64(json_string_raw(doc, node), seconds);
    return json_i64(doc, node, seconds);
}

bool oauth_token_read(struct arena *arena, struct str body, struct oauth_token *token,
                      struct error *err)
{
    struct json_doc doc;
    struct json_node value, type;
    struct str kind;
    int64_t seconds;

    *token = (struct oauth_token){ 0 };
    if (!json_parse(&doc, arena, body, err))
        return error_set(err, ERROR_FATAL, "auth.token",
                         "the response of the token server is not JSON");
    value = json_get(&doc, json_root(&doc), STR("access_token"));
    type = json_get(&doc, json_root(&doc), STR("token_type"));
    if (json_type(&doc, value) != JSON_STRING)
        return error_set(err, ERROR_FATAL, "auth.token",
                         "the response of the token server has no access_token");
    if (!json_string(&doc, value, arena, &token->value, err))
        return false;
    if (json_type(&doc, type) == JSON_STRING) {
        kind = json_string_raw(&doc, type);
        if (!str_eq_nocase(kind, STR("bearer")))
            return error_set(err, ERROR_FATAL, "auth.token", "the token is not a bearer token");
    }
    if (read_seconds(&doc, json_get(&doc, json_root(&doc), STR("expires_in")), &seconds) &&
        seconds > 0)
        token->lifetime_us =
            seconds < LIFETIME_MAX_US / US_PER_SECOND ? seconds * US_PER_SECOND : LIFETIME_MAX_US;
    return token->value.len > 0 || error_set(err, ERROR_FATAL, "auth.token",
                                             "the response of the token server has an empty token");
}

struct str oauth_token_refusal(struct arena *arena, struct str body)
{
    static const struct str words[] = {
        STR_INIT("invalid_request"),        STR_INIT("invalid_client"),
        STR_INIT("invalid_grant"),          STR_INIT("unauthorized_client"),
        STR_INIT("unsupported_grant_type"), STR_INIT("invalid_scope"),
        STR_INIT("access_denied"),          STR_INIT("temporarily_unavailable"),
    };
    struct json_doc doc;
    struct json_node node;
    struct error ignored; /* a refusal that is not JSON has no word */

    if (!json_parse(&doc, arena, body, &ignored))
        return STR("");
    node = json_get(&doc, json_root(&doc), STR("error"));
    for (size_t i = 0; i < ARRAY_LEN(words); i++) {
        if (json_type(&doc, node) == JSON_STRING && json_string_is(&doc, node, words[i]))
            return words[i];
    }
    return STR("");
}
