/* HTTP and credentials: where requests go, what they may carry, and that secrets stay secret. */
#include <string.h>

#include "data/url.h"
#include "spec/check_context.h"
#include "spec/setting_value.h"

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
        check_hint(check, "say it once for all endpoints: http: { base_url: https://... }");
    }
    if (is_plain && !resolution_bool(&check->in, "http.allow_plain_http")) {
        check_error(check, "spec.http.plain", "http.base_url", "is not https");
        check_hint(check, "use https, or say allow_plain_http: true if it must be");
    }
    if (url.len > 0 && !is_plain && resolution_bool(&check->in, "http.allow_plain_http"))
        (void)check_idle(check, "http.allow_plain_http", "http.base_url",
                         "has nothing to allow: base_url is https");
}

/* A credential of the source's goes to the source's host and to no other. */
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
                "is another host than the source's, and would get its credential");
    check_hint(check, "say auth for this endpoint too: its own credential, or { type: none }");
}

static void check_path(const struct check *check)
{
    const struct resolved *path = resolution_get(&check->in, "path");
    const struct str text = path->value.text;
    const struct str literal = str_slice(text, 0, str_find(text, STR("${")));

    if (!path->value.is_set)
        return;
    if (!str_starts(text, STR("/")) || str_starts(text, STR("//"))) {
        check_error(check, "spec.http.path", "path", "must begin with one slash");
        check_hint(check, "scheme and host stand in http.base_url");
    } else if (str_find_char(literal, '?') < literal.len ||
               str_find_char(literal, '#') < literal.len) {
        check_error(check, "spec.http.path", "path", "must not have a query or fragment");
        check_hint(check, "parameters stand under query");
    }
}

static void check_limits(const struct check *check)
{
    if (check_is_more(check, "http.connect_timeout", "http.total_timeout") ||
        check_is_more(check, "http.read_timeout", "http.total_timeout")) {
        check_error(check, "spec.http.timeouts", "http.total_timeout",
                    "is shorter than connect_timeout or read_timeout");
        check_hint(check, "it is for the whole request");
    }
    if (check_is_more(check, "http.body_max", "http.inflated_max")) {
        check_error(check, "spec.http.sizes", "http.inflated_max", "is less than body_max");
        check_hint(check, "a response is not smaller after decompression");
    }
    if (check->method == HTTP_POST && resolution_number(&check->in, "http.redirects") > 0 &&
        check_is_own(check, "http.redirects")) {
        check_error(check, "spec.http.redirect-post", "http.redirects",
                    "can not be followed: only GET is sent again");
        check_hint(check, "leave redirects at 0 for an endpoint of method post");
    }
}

static void check_bodies(const struct check *check)
{
    const struct registry_row *form =
        source_next(check->source, REGISTRY_PARAM, check->in.endpoint, STR("FORM:"), NULL);
    const bool has_json = check_is_set(check, "json");

    if (check->method == HTTP_GET && form != NULL) {
        check_row_error(check, "spec.http.get-body", (struct check_place){ .row = form },
                        "is in the body, and GET has none");
        check_hint(check, "say method: post, or put it under query");
    }
    if (check->method == HTTP_GET && has_json) {
        check_error(check, "spec.http.get-body", "json", "is a body, and GET has none");
        check_hint(check, "say method: post");
    }
    if (form != NULL && has_json) {
        check_error(check, "spec.http.two-bodies", "json", "stands beside form");
        check_hint(check, "a request has one body");
    }
}

/* What the transport writes itself, or what has a setting of its own. */
static const char *reserved(struct str name)
{
    static const struct {
        const char *name;
        const char *instead;
    } headers[] = {
        { "Host", "http.base_url" },         { "Content-Length", "the body itself" },
        { "Transfer-Encoding", "nothing" },  { "Connection", "nothing" },
        { "User-Agent", "http.user_agent" }, { "Accept-Encoding", "http.compression" },
        { "Content-Type", "form or json" },
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

/* The value is not told: it may be the secret. */
static void check_literal_secret(const struct check *check, const struct registry_row *row,
                                 struct str name)
{
    const struct str value = row_text(row, "value");

    if (!looks_secret(name) || str_find(value, STR("${")) < value.len || value.len == 0)
        return;
    check_row_error(check, "spec.secret.literal", (struct check_place){ row, "value", 0 },
                    "looks like a secret written into the file");
    check_hint(check, "use auth: { type: api_key, name: %.*s, secret: env:NAME }", STR_ARG(name));
}

static void check_names(const struct check *check, const char *prefix, bool is_header)
{
    const struct str auth_name = resolution_text(&check->in, "auth.name");
    struct row_list rows;
    struct error err;

    if (!resolution_rows(check->arena, &check->in,
                         (struct row_filter){ REGISTRY_PARAM, str_of(prefix), false }, &rows,
                         &err)) {
        check->faults->failed = true;
        return;
    }
    for (size_t i = 0; i < rows.count; i++) {
        const struct registry_row *row = rows.items[i];
        const struct str name = str_slice(row->key, strlen(prefix), row->key.len);
        const char *instead = is_header ? reserved(name) : NULL;

        if (instead != NULL) {
            check_row_error(check, "spec.http.header-reserved", (struct check_place){ .row = row },
                            "is not for a source to set");
            check_hint(check, "it comes from %s", instead);
        }
        check_literal_secret(check, row, name);
        if (auth_name.len > 0 && str_eq_nocase(auth_name, name)) {
            check_row_error(check, "spec.auth.name-twice", (struct check_place){ .row = row },
                            "is where the credential goes");
            check_hint(check, "auth puts it there by itself");
        }
    }
}

void check_http(struct check *check)
{
    check_base_url(check);
    check_host(check);
    check_path(check);
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
    unsigned needs; /* ... that can not do without */
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

static void check_auth_fields(const struct check *check, int type)
{
    const struct str word = code_of(&AUTH_TYPE_CODES, type);

    for (size_t i = 0; i < ARRAY_LEN(auth_fields); i++) {
        if ((auth_fields[i].needs >> type & 1U) != 0 &&
            check_is_missing(check, auth_fields[i].path)) {
            check_error(check, auth_fields[i].code, auth_fields[i].path,
                        "is missing, and auth.type %.*s needs it", STR_ARG(word));
            check_hint(check, "%s", setting_find(AT_SOURCE, str_of(auth_fields[i].path))->help);
        }
        if ((auth_fields[i].types >> type & 1U) == 0)
            (void)check_idle(check, auth_fields[i].path, "auth.type",
                             "is not used by auth.type %.*s", STR_ARG(word));
    }
    if (type == AUTH_NONE)
        (void)check_idle(check, "auth.optional", "auth.type",
                         "is about a credential, and there is "
                         "none");
}

static void check_auth_location(const struct check *check, int type)
{
    const int location = resolution_code(&check->in, "auth.location");

    if (type == AUTH_NONE) {
        (void)check_idle(check, "auth.location", "auth.type",
                         "is about a credential, and there is "
                         "none");
        return;
    }
    if (location == AUTH_IN_BODY && check->method == HTTP_GET) {
        check_error(check, "spec.auth.get-body", "auth.location", "is the body, and GET has none");
        check_hint(check, "use header or query, or method: post");
    }
    if (location != AUTH_IN_HEADER && type != AUTH_API_KEY && type != AUTH_CUSTOM) {
        check_error(check, "spec.auth.location", "auth.location",
                    "must be header for auth.type %.*s", STR_ARG(code_of(&AUTH_TYPE_CODES, type)));
        check_hint(check, "only an api_key can go elsewhere");
    }
    if (location == AUTH_IN_HEADER && type == AUTH_API_KEY && check_is_set(check, "auth.name") &&
        !setting_is_header(resolution_text(&check->in, "auth.name"))) {
        check_error(check, "spec.auth.location", "auth.name", "is not the name of a header");
        check_hint(check, "say location: query if it is a parameter");
    }
}

static void check_auth_safety(const struct check *check, int type)
{
    const struct str token_url = resolution_text(&check->in, "auth.oauth2.token_url");

    if (type != AUTH_NONE && !resolution_bool(&check->in, "http.redact")) {
        check_error(check, "spec.auth.redact", "http.redact",
                    "must be true where there is a credential");
        check_hint(check, "otherwise it could be read in logs");
    }
    if (is_plain_http(token_url) && !resolution_bool(&check->in, "http.allow_plain_http")) {
        check_error(check, "spec.http.plain", "auth.oauth2.token_url", "is not https");
        check_hint(check, "a client's secret must not go over the line in the clear");
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
                    type == AUTH_NONE ? "has no credential" : "would go on without a credential");
        check_hint(check, type == AUTH_NONE ? "say under auth how requests are authenticated"
                                            : "take auth.optional out");
    }
    check_auth_fields(check, type);
    check_auth_location(check, type);
    check_auth_safety(check, type);
}
