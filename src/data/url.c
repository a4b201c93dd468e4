/* Parsing, encoding, building and redacting URLs. */
#include "data/url.h"

#include <assert.h>
#include <string.h>

#include "base/hex.h"
#include "base/quote.h"

static bool is_alpha(char c)
{
    return (c >= 'a' && c <= 'z') || (c >= 'A' && c <= 'Z');
}

static bool is_digit(char c)
{
    return c >= '0' && c <= '9';
}

static bool url_fault(struct error *err, struct str text, const char *why)
{
    return error_set(err, ERROR_REQUEST, "url.syntax", "not a URL: %s: %s", QUOTE(text), why);
}

static bool has_only_url_characters(struct str text)
{
    for (size_t i = 0; i < text.len; i++) {
        if (text.data[i] <= ' ' || text.data[i] >= 0x7F || text.data[i] == '\\')
            return false;
    }
    return true;
}

static bool is_scheme(struct str s)
{
    if (s.len == 0 || !is_alpha(s.data[0]))
        return false;
    for (size_t i = 1; i < s.len; i++) {
        const char c = s.data[i];

        if (!is_alpha(c) && !is_digit(c) && c != '+' && c != '-' && c != '.')
            return false;
    }
    return true;
}

static bool is_host(struct str s)
{
    const bool is_address = s.len > 2 && s.data[0] == '[' && s.data[s.len - 1] == ']';

    if (is_address)
        s = str_slice(s, 1, s.len - 1);
    for (size_t i = 0; i < s.len; i++) {
        const char c = s.data[i];

        if (is_address ? !hex_is_digit(c) && c != ':' && c != '.'
                       : !is_alpha(c) && !is_digit(c) && c != '-' && c != '.' && c != '_')
            return false;
    }
    return s.len > 0;
}

static int default_port(struct str scheme)
{
    if (str_eq_nocase(scheme, STR("https")))
        return 443;
    return str_eq_nocase(scheme, STR("http")) ? 80 : 0;
}

static bool parse_port(struct str text, int *port)
{
    int64_t number;

    if (text.len == 0)
        return true; /* "host:" means the scheme's own */
    if (!is_digit(text.data[0]) || !str_to_i64(text, &number) || number < 1 || number > 65535)
        return false;
    *port = (int)number;
    return true;
}

/* Splits `rest` before the first of `ends`, which stays in rest. */
static struct str take_until(struct str *rest, const char *ends)
{
    struct str head;
    size_t i = 0;

    while (i < rest->len && strchr(ends, rest->data[i]) == NULL)
        i++;
    head = str_slice(*rest, 0, i);
    *rest = str_slice(*rest, i, rest->len);
    return head;
}

static bool parse_authority(struct str authority, struct url *url, const char **why)
{
    const size_t at = str_find_char(authority, '@');
    size_t colon;

    if (at < authority.len) {
        url->userinfo = str_slice(authority, 0, at);
        authority = str_slice(authority, at + 1, authority.len);
    }
    colon = authority.len;
    while (colon > 0 && is_digit(authority.data[colon - 1]))
        colon--;
    if (colon > 0 && authority.data[colon - 1] == ':') {
        *why = "the port is not a number from 1 to 65535";
        if (!parse_port(str_slice(authority, colon, authority.len), &url->port))
            return false;
        authority = str_slice(authority, 0, colon - 1);
    }
    url->host = authority;
    *why = "the host is missing or has invalid characters";
    return is_host(url->host);
}

/* Path, query and fragment: everything after the authority. */
static void parse_rest(struct str rest, struct url *url)
{
    url->path = take_until(&rest, "?#");
    if (rest.len > 0 && rest.data[0] == '?') {
        rest = str_slice(rest, 1, rest.len);
        url->query = take_until(&rest, "#");
    }
    if (rest.len > 0)
        url->fragment = str_slice(rest, 1, rest.len);
}

bool url_parse(struct str text, struct url *url, struct error *err)
{
    const char *why;
    struct str rest = text;

    *url = (struct url){ 0 };
    if (!has_only_url_characters(text))
        return url_fault(err, text, "spaces, controls, backslashes and non-ASCII must be encoded");
    url->scheme = take_until(&rest, ":");
    if (!is_scheme(url->scheme) || !str_starts(rest, STR("://")))
        return url_fault(err, text, "it does not start with a scheme, as in https://host/path");
    rest = str_slice(rest, 3, rest.len);
    url->port = default_port(url->scheme);
    if (!parse_authority(take_until(&rest, "/?#"), url, &why))
        return url_fault(err, text, why);
    parse_rest(rest, url);
    return true;
}

bool url_same_origin(const struct url *a, const struct url *b)
{
    return str_eq_nocase(a->scheme, b->scheme) && str_eq_nocase(a->host, b->host) &&
           a->port == b->port;
}

static bool is_unreserved(char c, enum url_place place)
{
    if (is_alpha(c) || is_digit(c) || c == '-' || c == '.' || c == '_')
        return true;
    return place == URL_FORM ? c == '*' : c == '~';
}

void url_encode(struct buf *out, struct str bytes, enum url_place place)
{
    static const char digits[] = "0123456789ABCDEF";

    for (size_t i = 0; i < bytes.len; i++) {
        const unsigned char c = (unsigned char)bytes.data[i];

        if (is_unreserved((char)c, place)) {
            buf_add_char(out, (char)c);
        } else if (c == ' ' && place == URL_FORM) {
            buf_add_char(out, '+');
        } else {
            buf_add_char(out, '%');
            buf_add_char(out, digits[c >> 4]);
            buf_add_char(out, digits[c & 0x0F]);
        }
    }
}

bool url_is_escape(struct str text, size_t at)
{
    return at + 2 < text.len && text.data[at] == '%' && hex_is_digit(text.data[at + 1]) &&
           hex_is_digit(text.data[at + 2]);
}

/* The next decoded byte at *at, which moves past it. */
static char next_decoded(struct str text, enum url_place place, size_t *at)
{
    const char *c = text.data + *at;
    const bool is_escape = url_is_escape(text, *at);

    *at += is_escape ? 3 : 1;
    if (is_escape)
        return (char)hex_number((struct str){ c + 1, 2 });
    return *c == '+' && place != URL_PATH ? ' ' : *c;
}

struct str url_decode(struct arena *arena, struct str text, enum url_place place)
{
    char *bytes = arena_alloc_raw(arena, text.len + 1);
    size_t len = 0;

    if (bytes == NULL)
        return (struct str){ 0 };
    for (size_t at = 0; at < text.len;)
        bytes[len++] = next_decoded(text, place, &at);
    bytes[len] = '\0';
    return (struct str){ bytes, len };
}

static char lower(char c)
{
    return c >= 'A' && c <= 'Z' ? (char)(c - 'A' + 'a') : c;
}

static bool is_encoded_name(struct str encoded, struct str name, bool nocase)
{
    size_t i = 0, k = 0;

    while (i < encoded.len && k < name.len) {
        const char c = next_decoded(encoded, URL_QUERY, &i);

        if (nocase ? lower(c) != lower(name.data[k]) : c != name.data[k])
            return false;
        k++;
    }
    return i == encoded.len && k == name.len;
}

bool url_query_find(struct arena *arena, struct str query, struct str name, struct str *value)
{
    while (query.len > 0) {
        struct str pair = str_cut(&query, '&');
        const struct str found = str_cut(&pair, '=');

        if (!is_encoded_name(found, name, false))
            continue;
        *value = url_decode(arena, pair, URL_QUERY);
        return true;
    }
    return false;
}

void url_begin(struct buf *out, struct str base_url, struct str path)
{
    if (path.len > 0 && str_ends(base_url, STR("/")))
        base_url.len--;
    buf_add(out, base_url);
    if (path.len > 0 && path.data[0] != '/' && path.data[0] != '?')
        buf_add_char(out, '/');
    buf_add(out, path);
}

void url_add_encoded(struct buf *out, struct str name, struct str value)
{
    const struct str so_far = buf_str(out);
    const bool has_query = str_find_char(so_far, '?') < so_far.len;

    if (!has_query || (!str_ends(so_far, STR("?")) && !str_ends(so_far, STR("&"))))
        buf_add_char(out, has_query ? '&' : '?');
    url_encode(out, name, URL_QUERY);
    buf_add_char(out, '=');
    buf_add(out, value);
}

void url_add(struct buf *out, struct str name, struct str value)
{
    url_add_encoded(out, name, STR(""));
    url_encode(out, value, URL_QUERY);
}

static void redact_pair(struct buf *out, struct str pair, const struct str *names, size_t count)
{
    const size_t equals = str_find_char(pair, '=');
    const struct str name = str_slice(pair, 0, equals);

    for (size_t i = 0; equals < pair.len && i < count; i++) {
        if (is_encoded_name(name, names[i], true)) {
            buf_add(out, name);
            buf_add(out, STR("=***"));
            return;
        }
    }
    buf_add(out, pair);
}

/* Parameters follow the first ? or #, or a ? within the fragment. */
static void redact_query(struct buf *out, struct str rest, const struct str *names, size_t count)
{
    while (rest.len > 0) {
        redact_pair(out, take_until(&rest, "?&#;"), names, count);
        buf_add(out, str_slice(rest, 0, 1));
        rest = str_slice(rest, 1, rest.len);
    }
}

void url_redact(struct buf *out, struct str text, const struct str *names, size_t count)
{
    const size_t authority = str_find(text, STR("://"));
    struct str rest = text;

    if (authority < text.len) {
        struct str host;
        size_t at;

        buf_add(out, str_slice(text, 0, authority + 3));
        rest = str_slice(text, authority + 3, text.len);
        host = take_until(&rest, "/?#");
        at = host.len;
        while (at > 0 && host.data[at - 1] != '@')
            at--;
        if (at > 0)
            buf_add(out, STR("***@"));
        buf_add(out, str_slice(host, at, host.len));
    }
    buf_add(out, take_until(&rest, "?#"));
    redact_query(out, rest, names, count);
}

size_t url_password(struct str text, char *room, size_t room_len)
{
    const size_t authority = str_find(text, STR("://"));
    struct str rest = str_slice(text, authority + 3, text.len), user;
    size_t at, len = 0;

    if (authority == text.len)
        return 0;
    user = take_until(&rest, "/?#");
    for (at = user.len; at > 0 && user.data[at - 1] != '@';)
        at--;
    user = str_slice(user, 0, at > 0 ? at - 1 : 0);
    user = str_slice(user, str_find_char(user, ':') + 1, user.len);
    if (user.len > room_len)
        return 0;
    for (size_t i = 0; i < user.len;)
        room[len++] = next_decoded(user, URL_PATH, &i);
    return len;
}
