/* A reader of RFC 8288: links, their parameters, the words of rel. */
#include "data/link_header.h"

#include <string.h>

#include "base/quote.h"

/* The current place; `fault` says what was missing there. */
struct reader {
    struct str rest;
    const char *fault;
};

struct link {
    struct str target;
    struct str rel; /* raw: with its quotes, if it had any */
    bool has_rel;
    bool has_anchor;
};

static void skip(struct reader *r, size_t count)
{
    r->rest = str_slice(r->rest, count, r->rest.len);
}

static void skip_space(struct reader *r)
{
    while (r->rest.len > 0 && (r->rest.data[0] == ' ' || r->rest.data[0] == '\t'))
        skip(r, 1);
}

static bool take(struct reader *r, char c)
{
    skip_space(r);
    if (r->rest.len == 0 || r->rest.data[0] != c)
        return false;
    skip(r, 1);
    return true;
}

static bool is_token_char(char c)
{
    return (c >= 'a' && c <= 'z') || (c >= 'A' && c <= 'Z') || (c >= '0' && c <= '9') ||
           (c != '\0' && strchr("!#$%&'*+-.^_`|~", c) != NULL);
}

static struct str take_token(struct reader *r)
{
    struct str token;
    size_t len = 0;

    skip_space(r);
    while (len < r->rest.len && is_token_char(r->rest.data[len]))
        len++;
    token = str_slice(r->rest, 0, len);
    skip(r, len);
    return token;
}

/* A quoted string with its quotes; empty when it is not closed. */
static struct str take_quoted(struct reader *r)
{
    struct str quoted;
    size_t i = 1;

    while (i < r->rest.len && r->rest.data[i] != '"')
        i += r->rest.data[i] == '\\' ? 2 : 1;
    if (i >= r->rest.len)
        return (struct str){ NULL, 0 };
    quoted = str_slice(r->rest, 0, i + 1);
    skip(r, i + 1);
    return quoted;
}

/* A value without quotes. The RFC requires a token; servers also write rel=foo:bar and URLs. */
static struct str take_bare(struct reader *r)
{
    struct str bare;
    size_t len = 0;

    while (len < r->rest.len && strchr(" \t;,\"", r->rest.data[len]) == NULL)
        len++;
    bare = str_slice(r->rest, 0, len);
    skip(r, len);
    return bare;
}

static bool read_parameter(struct reader *r, struct link *link)
{
    const struct str name = take_token(r);
    struct str value = { NULL, 0 };

    if (name.len == 0) {
        r->fault = "a parameter needs a name";
        return false;
    }
    if (take(r, '=')) {
        skip_space(r);
        value = str_starts(r->rest, STR("\"")) ? take_quoted(r) : take_bare(r);
        if (value.len == 0) {
            r->fault = "a parameter's value is missing or has no closing quote";
            return false;
        }
    }
    if (str_eq_nocase(name, STR("rel")) && !link->has_rel) {
        link->rel = value;
        link->has_rel = true;
    } else if (str_eq_nocase(name, STR("anchor"))) {
        link->has_anchor = true;
    }
    return true;
}

static bool read_link(struct reader *r, struct link *link)
{
    size_t end;

    *link = (struct link){ 0 };
    if (!take(r, '<')) {
        r->fault = "a link starts with <";
        return false;
    }
    end = str_find_char(r->rest, '>');
    if (end == r->rest.len) {
        r->fault = "a link's target has no closing >";
        return false;
    }
    link->target = str_slice(r->rest, 0, end);
    skip(r, end + 1);
    while (take(r, ';')) {
        skip_space(r);
        /* An empty parameter, ";;" or ";" before a comma, is tolerated: RFC 8288 appendix B.3. */
        if (r->rest.len == 0 || r->rest.data[0] == ';' || r->rest.data[0] == ',')
            continue;
        if (!read_parameter(r, link))
            return false;
    }
    skip_space(r);
    if (r->rest.len > 0 && r->rest.data[0] != ',') {
        r->fault = "a link ends with a comma or with the header";
        return false;
    }
    return true;
}

static char lower(char c)
{
    return c >= 'A' && c <= 'Z' ? (char)(c - 'A' + 'a') : c;
}

/* Walks the value of rel, unquoting as it goes, and compares each of its words. */
static bool names_relation(struct str value, struct str rel)
{
    const bool quoted = str_starts(value, STR("\""));
    size_t matched = 0;
    bool same = true;

    if (quoted)
        value = str_slice(value, 1, value.len - 1);
    for (size_t i = 0; i < value.len; i++) {
        if (quoted && value.data[i] == '\\' && i + 1 < value.len)
            i++;
        if (value.data[i] == ' ' || value.data[i] == '\t') {
            if (same && matched == rel.len)
                return true;
            matched = 0;
            same = true;
            continue;
        }
        same = same && matched < rel.len && lower(value.data[i]) == lower(rel.data[matched]);
        matched++;
    }
    return same && matched == rel.len;
}

bool link_header_find(struct str value, struct str rel, struct str *target, struct error *err)
{
    struct reader r = { .rest = value };
    struct str found = { NULL, 0 };
    struct link link;

    for (;;) {
        while (take(&r, ','))
            ; /* empty members of the list are allowed */
        if (r.rest.len == 0)
            break;
        if (!read_link(&r, &link)) {
            return error_set(err, ERROR_REQUEST, "link.syntax", "Link header %s, offset %zu: %s",
                             QUOTE(value), value.len - r.rest.len, r.fault);
        }
        if (found.data == NULL && !link.has_anchor && link.has_rel && names_relation(link.rel, rel))
            found = link.target;
    }
    *target = found;
    return true;
}
