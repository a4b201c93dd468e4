/* HTTP and credentials: where requests go, what they may carry, and that secrets stay secret. */
#include <stdio.h>
#include <string.h>

#include "base/quote.h"
#include "data/url.h"
#include "data/utf8.h"
#include "spec/check_context.h"
#include "spec/setting_value.h"
#include "spec/spec.h"

/* ---- http ---- */

static bool is_plain_http(struct str url)
{
    return str_starts(url, STR("http://"));
}

static void check_base_url(const struct check *check)
{
    const struct str url = resolution_text(&check->in, "http.base_url");
    const bool is_plain = is_plain_http(url);

    if (check_is_missing(check, "http.base_url")) {
        check_error(check, "spec.http.base-url-missing", "http.base_url", "is missing");
        check_hint(check, "set it once for all endpoints: http: { base_url: https://... }");
    }
    if (is_plain && !resolution_bool(&check->in, "http.allow_plain_http")) {
        check_error(check, "spec.http.plain", "http.base_url", "is not https");
        check_hint(check, "use https, or set allow_plain_http: true if the source has no TLS");
    }
    if (url.len > 0 && !is_plain && resolution_bool(&check->in, "http.allow_plain_http"))
        (void)check_idle(check, "http.allow_plain_http", "http.base_url",
                         "has no effect: base_url is https");
}

/* The source's credential is sent to the source's host only. */
static void check_host(const struct check *check)
{
    const struct setting *setting = setting_find(AT_SOURCE, STR("http.base_url"));
    const struct registry_value *home = source_value(check->source, setting, STR(""), STR(""));
    struct url ours, theirs;
    struct error err;

    if (home == NULL || resolution_code(&check->in, "auth.type") <= AUTH_NONE ||
        resolution_get(&check->in, "auth.type")->origin != ORIGIN_SOURCE ||
        !url_parse(home->text, &ours, &err) ||
        !url_parse(resolution_text(&check->in, "http.base_url"), &theirs, &err) ||
        url_same_origin(&ours, &theirs))
        return;
    check_error(check, "spec.http.host", "http.base_url",
                "is not the source's host, but would receive the source's credential");
    check_hint(check, "set auth for this endpoint too: its own credential, or { type: none }");
}

/* The end of the placeholder that begins here, after its "}"; a brace in a quoted text is not it.
 */
static size_t placeholder_end(struct str text, size_t at)
{
    char quote = '\0';

    for (; at < text.len; at++) {
        const char c = text.data[at];

        if (quote != '\0' && c == '\\')
            at++;
        else if (c == quote)
            quote = '\0';
        else if (quote == '\0' && (c == '\'' || c == '"'))
            quote = c;
        else if (quote == '\0' && c == '}')
            return at + 1;
    }
    return text.len;
}

/* RFC 3986, 3.3; a "%" needs two digits after it. */
static bool is_path_char(struct str text, size_t at)
{
    const char c = text.data[at];

    if (c == '%')
        return url_is_escape(text, at);
    return (c >= 'a' && c <= 'z') || (c >= 'A' && c <= 'Z') || (c >= '0' && c <= '9') ||
           (c != '\0' && strchr("/-._~!$&'()*+,;=:@", c) != NULL);
}

static void report_path_char(const struct check *check, const struct resolved *path, size_t at)
{
    const struct str text = path->value.text;
    const struct check_place place = { path->row, "path", at };
    const size_t len = utf8_sequence(text.data + at, text.data + text.len);
    char encoded[4 * 3 + 1] = "";

    if (text.data[at] == '?' || text.data[at] == '#') {
        check_row_error(check, "spec.http.path", place, "must not have a query or fragment");
        check_hint(check, "write parameters under query");
        return;
    }
    for (size_t i = 0; i < len && i < 4; i++)
        (void)snprintf(encoded + 3 * i, 4, "%%%02X", (unsigned char)text.data[at + i]);
    check_row_error(check, "spec.http.path", place, "has %s, which no URL may have",
                    text.data[at] == ' ' ? "a space" : QUOTE(str_slice(text, at, at + len)));
    check_hint(check,
               text.data[at] == '%' ? "%%25 is a percent sign; two hexadecimal digits follow it"
                                    : "write it as %s; values of ${...} are encoded already",
               encoded);
}

/* What is not in a placeholder is sent as it is written: the first character that cannot be. */
static void check_path_text(const struct check *check, const struct resolved *path)
{
    const struct str text = path->value.text;

    for (size_t at = 0; at < text.len; at++) {
        if (str_starts(str_slice(text, at, text.len), STR("${")) &&
            (at == 0 || text.data[at - 1] != '$')) {
            at = placeholder_end(text, at) - 1;
            continue;
        }
        if (is_path_char(text, at))
            continue;
        report_path_char(check, path, at);
        return;
    }
}

static void check_path(const struct check *check)
{
    const struct resolved *path = resolution_get(&check->in, "path");
    const struct str text = path->value.text;

    if (!path->value.is_set || text.len == 0)
        return; /* base_url alone */
    if (!str_starts(text, STR("/")) || str_starts(text, STR("//"))) {
        check_error(check, "spec.http.path", "path", "must start with one slash");
        check_hint(check, "write scheme and host in http.base_url");
    } else
        check_path_text(check, path);
}

/* The message does not quote it: it may have a password. */
static void check_proxy(const struct check *check)
{
    static const struct str schemes[] = { STR_INIT("http"), STR_INIT("https"), STR_INIT("socks5"),
                                          STR_INIT("socks5h") };
    const struct str proxy = resolution_text(&check->in, "http.proxy");
    struct error err;
    struct url url;

    if (proxy.len == 0 || str_eq(proxy, STR("env")) || setting_is_reference(proxy))
        return;
    for (size_t i = 0; url_parse(proxy, &url, &err) && i < ARRAY_LEN(schemes); i++) {
        if (str_eq_nocase(url.scheme, schemes[i]))
            return;
    }
    check_error(check, "spec.http.proxy", "http.proxy",
                "is not a URL of http, https, socks5 or socks5h");
    check_hint(check,
               "write http://HOST:PORT, env for the proxy of the environment, or a reference");
}

static void check_limits(const struct check *check)
{
    if (check_is_more(check, "http.connect_timeout", "http.total_timeout") ||
        check_is_more(check, "http.read_timeout", "http.total_timeout")) {
        check_error(check, "spec.http.timeouts", "http.total_timeout",
                    "is shorter than connect_timeout or read_timeout");
        check_hint(check, "total_timeout covers the whole request; raise it, or lower the others");
    }
    if (check_is_more(check, "http.body_max", "http.inflated_max")) {
        check_error(check, "spec.http.sizes", "http.inflated_max", "is less than body_max");
        check_hint(check, "a response is not smaller after decompression; raise inflated_max");
    }
    if (check->method == HTTP_POST && resolution_number(&check->in, "http.redirects") > 0 &&
        check_is_own(check, "http.redirects")) {
        check_error(check, "spec.http.redirect-post", "http.redirects",
                    "has no effect: only GET requests follow redirects");
        check_hint(check, "remove it, or set redirects: 0 for this endpoint");
    }
}

static void check_bodies(const struct check *check)
{
    const struct registry_row *form =
        source_next(check->source, REGISTRY_PARAM, check->in.endpoint, STR("FORM:"), NULL);
    const bool has_json = check_is_set(check, "json");

    if (check->method == HTTP_GET && form != NULL) {
        check_row_error(check, "spec.http.get-body", (struct check_place){ .row = form },
                        "belongs to a body, but GET has no body");
        check_hint(check, "set method: post, or move it to query");
    }
    if (check->method == HTTP_GET && has_json) {
        check_error(check, "spec.http.get-body", "json", "is a body, but GET has no body");
        check_hint(check, "set method: post");
    }
    if (form != NULL && has_json) {
        check_error(check, "spec.http.two-bodies", "json", "cannot be combined with form");
        check_hint(check, "a request has one body; remove json or form");
    }
}

/* Headers that the transport writes, or that have a setting of their own. */
static const char *reserved(struct str name)
{
    static const struct {
        const char *name;
        const char *instead;
    } headers[] = {
        { "Host", "http.base_url" },
        { "Content-Length", "the body itself" },
        { "Transfer-Encoding", "the transport" },
        { "Connection", "the transport" },
        { "User-Agent", "http.user_agent" },
        { "Accept-Encoding", "http.compression" },
        { "Content-Type", "form or json" },
        { "Expect", "the transport" },
        { "Keep-Alive", "the transport" },
        { "TE", "the transport" },
        { "Trailer", "the transport" },
        { "Upgrade", "the transport" },
        { "X-Ingest-Correlation-Id", "the run and its batch" },
        { "traceparent", "the run" },
        { "tracestate", "the run" },
    };

    for (size_t i = 0; i < ARRAY_LEN(headers); i++) {
        if (str_eq_nocase(name, str_of(headers[i].name)))
            return headers[i].instead;
    }
    return NULL;
}

static bool looks_secret(struct str name)
{
    static const char *const names[] = {
        "authorization", "proxy-authorization", "cookie", "x-api-key", "api-key", "api_key",
        "apikey",        "access_token",        "token",  "password",  "secret",  "client_secret"
    };

    for (size_t i = 0; i < ARRAY_LEN(names); i++) {
        if (str_eq_nocase(name, str_of(names[i])))
            return true;
    }
    return false;
}

/* The message does not quote the value: it may be the secret. */
static void check_literal_secret(const struct check *check, const struct registry_row *row,
                                 struct str name)
{
    const struct str value = row_text(row, "value");

    if (!looks_secret(name) || str_find(value, STR("${")) < value.len || value.len == 0)
        return;
    check_row_error(check, "spec.secret.literal", (struct check_place){ row, "value", 0 },
                    "looks like a secret written in the file");
    check_hint(check, "use auth: { type: api_key, name: %.*s, secret: env:NAME }", STR_ARG(name));
}

static void check_names(const struct check *check, const char *prefix, bool is_header)
{
    const struct str auth_name = resolution_text(&check->in, "auth.name");
    const struct row_list rows =
        check_rows(check, (struct row_filter){ REGISTRY_PARAM, str_of(prefix), false });

    for (size_t i = 0; i < rows.count; i++) {
        const struct registry_row *row = rows.items[i];
        const struct str name = str_slice(row->key, strlen(prefix), row->key.len);
        const char *instead = is_header ? reserved(name) : NULL;

        if (instead != NULL) {
            check_row_error(check, "spec.http.header-reserved", (struct check_place){ .row = row },
                            "cannot be set by a source");
            check_hint(check, "remove it; its value comes from %s", instead);
        }
        check_literal_secret(check, row, name);
        if (auth_name.len > 0 && str_eq_nocase(auth_name, name)) {
            check_row_error(check, "spec.auth.name-twice", (struct check_place){ .row = row },
                            "has the name of the credential");
            check_hint(check, "remove it; auth sends the credential");
        }
    }
}

void check_http(struct check *check)
{
    check_base_url(check);
    check_host(check);
    check_path(check);
    check_proxy(check);
    check_limits(check);
    check_bodies(check);
    check_names(check, "HEADER:", true);
    check_names(check, "QUERY:", false);
    check_names(check, "FORM:", false);
}

/* ---- auth ---- */

static const struct {
    const char *path;
    unsigned types; /* a bit per enum auth_type that uses it */
    unsigned needs; /* ... that require it */
    const char *code;
} auth_fields[] = {
    { "auth.name", 1U << AUTH_API_KEY, 1U << AUTH_API_KEY, "spec.auth.incomplete" },
    { "auth.prefix", 1U << AUTH_API_KEY, 0, NULL },
    { "auth.secret", 1U << AUTH_API_KEY | 1U << AUTH_BEARER | 1U << AUTH_CUSTOM,
      1U << AUTH_API_KEY | 1U << AUTH_BEARER, "spec.auth.incomplete" },
    { "auth.username", 1U << AUTH_BASIC | 1U << AUTH_CUSTOM, 1U << AUTH_BASIC,
      "spec.auth.incomplete" },
    { "auth.password", 1U << AUTH_BASIC, 1U << AUTH_BASIC, "spec.auth.incomplete" },
    { "auth.oauth2.token_url", 1U << AUTH_OAUTH2, 1U << AUTH_OAUTH2, "spec.auth.incomplete" },
    { "auth.oauth2.client_id", 1U << AUTH_OAUTH2, 1U << AUTH_OAUTH2, "spec.auth.incomplete" },
    { "auth.oauth2.client_secret", 1U << AUTH_OAUTH2, 1U << AUTH_OAUTH2, "spec.auth.incomplete" },
    { "auth.oauth2.scope", 1U << AUTH_OAUTH2, 0, NULL },
    { "auth.oauth2.token_ttl", 1U << AUTH_OAUTH2, 0, NULL },
    { "auth.oauth2.refresh_before", 1U << AUTH_OAUTH2, 0, NULL },
    { "auth.signing_hook", 1U << AUTH_CUSTOM, 1U << AUTH_CUSTOM, "spec.auth.signing-hook" },
};

/* Settings of auth that each of several credentials has itself, and the columns they are in. */
static const struct {
    const char *path;
    const char *column;
    const char *name;
} credential_fields[] = {
    { "auth.secret", "secret_ref", "secret" },
    { "auth.username", "username", "username" },
    { "auth.password", "password_ref", "password" },
    { "auth.oauth2.client_id", "client_id", "client_id" },
    { "auth.oauth2.client_secret", "client_secret_ref", "client_secret" },
};

static const struct registry_row *next_credential(const struct check *check,
                                                  const struct registry_row *row)
{
    return source_next(check->source, REGISTRY_CREDENTIAL, STR(""), STR("CREDENTIAL:"), row);
}

/* Whether the endpoint uses the source's credentials: it has none of its own. */
static bool takes_credentials(const struct check *check)
{
    if (next_credential(check, NULL) == NULL)
        return false;
    for (size_t i = 0; i < ARRAY_LEN(credential_fields); i++) {
        if (check_is_own(check, credential_fields[i].path))
            return false;
    }
    return true;
}

static bool is_in_credentials(const char *path)
{
    for (size_t i = 0; i < ARRAY_LEN(credential_fields); i++) {
        if (strcmp(path, credential_fields[i].path) == 0)
            return true;
    }
    return false;
}

static unsigned needs_of(const char *path, unsigned *types)
{
    for (size_t i = 0; i < ARRAY_LEN(auth_fields); i++) {
        if (strcmp(auth_fields[i].path, path) == 0) {
            *types = auth_fields[i].types;
            return auth_fields[i].needs;
        }
    }
    return *types = 0;
}

static void check_credential(const struct check *check, const struct registry_row *row, int type)
{
    const struct str word = code_of(&AUTH_TYPE_CODES, type);

    for (size_t i = 0; i < ARRAY_LEN(credential_fields); i++) {
        unsigned types;
        const unsigned needs = needs_of(credential_fields[i].path, &types);
        const bool is_set = row_is_set(row, credential_fields[i].column);

        if (!is_set && (needs >> type & 1U) != 0) {
            check_row_error(check, "spec.auth.incomplete", (struct check_place){ .row = row },
                            "needs %s; auth.type %.*s requires it", credential_fields[i].name,
                            STR_ARG(word));
            check_hint(check, "%s",
                       setting_find(AT_SOURCE, str_of(credential_fields[i].path))->help);
        }
        if (is_set && (types >> type & 1U) == 0) {
            check_row_error(
                check, "spec.idle",
                (struct check_place){ .row = row, .column = credential_fields[i].column },
                "is not used by auth.type %.*s", STR_ARG(word));
            check_hint(check, "remove it");
        }
    }
}

static void check_credentials(const struct check *check, int type)
{
    const struct registry_row *row = next_credential(check, NULL);

    if (type == AUTH_NONE) {
        if (resolution_get(&check->in, "auth.type")->origin == ORIGIN_ENDPOINT)
            return; /* this endpoint alone needs none */
        check_row_error(check, "spec.idle", (struct check_place){ .row = row },
                        "is not used by auth.type NONE");
        check_hint(check, "set auth.type: how the credentials are sent");
        return;
    }
    for (size_t i = 0; i < ARRAY_LEN(credential_fields); i++) {
        if (check_is_set(check, credential_fields[i].path)) {
            check_error(check, "spec.auth.twice", credential_fields[i].path,
                        "cannot be combined with credentials");
            check_hint(check, "move it into one of the credentials");
        }
    }
    if (!resolution_bool(&check->in, "rate.per_credential")) {
        check_error(check, "spec.auth.shared-rate", "rate.per_credential",
                    "must be true for a source with several credentials");
        check_hint(check, "remove it: each credential has its own rate and quota");
    }
    if (check->uses[TEMPLATE_CREDENTIAL]) {
        check_row_error(check, "spec.auth.template", (struct check_place){ .row = row },
                        "cannot be used by templates with ${credential....}");
        check_hint(check, "let auth send the credential: which one is decided for each request");
    }
    for (size_t count = 0; row != NULL; row = next_credential(check, row)) {
        if (++count == SPEC_CREDENTIALS_MAX + 1)
            check_row_error(check, "spec.limit", (struct check_place){ .row = row },
                            "is one more than the %d credentials that a source may have",
                            SPEC_CREDENTIALS_MAX);
        check_credential(check, row, type);
    }
}

static void check_auth_fields(const struct check *check, int type)
{
    const struct str word = code_of(&AUTH_TYPE_CODES, type);
    const bool has_list = takes_credentials(check);

    for (size_t i = 0; i < ARRAY_LEN(auth_fields); i++) {
        if ((auth_fields[i].needs >> type & 1U) != 0 &&
            !(has_list && is_in_credentials(auth_fields[i].path)) &&
            check_is_missing(check, auth_fields[i].path)) {
            check_error(check, auth_fields[i].code, auth_fields[i].path,
                        "is missing; auth.type %.*s requires it", STR_ARG(word));
            check_hint(check, "%s", setting_find(AT_SOURCE, str_of(auth_fields[i].path))->help);
        }
        if ((auth_fields[i].types >> type & 1U) == 0)
            (void)check_idle(check, auth_fields[i].path, "auth.type",
                             "is not used by auth.type %.*s", STR_ARG(word));
    }
    if (type == AUTH_NONE)
        (void)check_idle(check, "auth.optional", "auth.type", "has no effect without a credential");
    if (has_list)
        check_credentials(check, type);
}

static void check_auth_location(const struct check *check, int type)
{
    const int location = resolution_code(&check->in, "auth.location");

    if (type == AUTH_NONE) {
        (void)check_idle(check, "auth.location", "auth.type", "has no effect without a credential");
        return;
    }
    if (location == AUTH_IN_BODY && check->method == HTTP_GET) {
        check_error(check, "spec.auth.get-body", "auth.location", "is body, but GET has no body");
        check_hint(check, "use header or query, or set method: post");
    }
    if (location != AUTH_IN_HEADER && type != AUTH_API_KEY && type != AUTH_CUSTOM) {
        check_error(check, "spec.auth.location", "auth.location",
                    "must be header for auth.type %.*s", STR_ARG(code_of(&AUTH_TYPE_CODES, type)));
        check_hint(check, "only an api_key can be sent in the query or the body");
    }
    if (location == AUTH_IN_HEADER && type == AUTH_API_KEY && check_is_set(check, "auth.name") &&
        !setting_is_header(resolution_text(&check->in, "auth.name"))) {
        check_error(check, "spec.auth.location", "auth.name", "is not a valid header name");
        check_hint(check, "set location: query if it is a parameter");
    }
}

static void check_auth_safety(const struct check *check, int type)
{
    const struct str token_url = resolution_text(&check->in, "auth.oauth2.token_url");

    if (type != AUTH_NONE && !resolution_bool(&check->in, "http.redact")) {
        check_error(check, "spec.auth.redact", "http.redact",
                    "must be true for a source with a credential");
        check_hint(check, "remove it; the credential would appear in logs");
    }
    if (is_plain_http(token_url) && !resolution_bool(&check->in, "http.allow_plain_http")) {
        check_error(check, "spec.http.plain", "auth.oauth2.token_url", "is not https");
        check_hint(check, "use https; the client's secret must not be sent unencrypted");
    }
}

void check_auth(struct check *check)
{
    const int type = resolution_code(&check->in, "auth.type");
    const bool is_optional = resolution_bool(&check->in, "auth.optional");

    if (type < 0)
        return;
    if (resolution_bool(&check->in, "auth_required") && (type == AUTH_NONE || is_optional)) {
        check_error(check, "spec.auth.required", "auth_required", "is true, but the source %s",
                    type == AUTH_NONE ? "has no credential" : "may send requests without one");
        check_hint(check, type == AUTH_NONE ? "set auth.type and where the credential is"
                                            : "remove auth.optional");
    }
    check_auth_fields(check, type);
    check_auth_location(check, type);
    check_auth_safety(check, type);
}
