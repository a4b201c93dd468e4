/* Resolving a reference against a base: RFC 3986 sections 5.2.2 to 5.2.4. */
#include "data/url.h"

#include "base/quote.h"

/* The parts of a reference, split at the delimiters. */
struct parts {
    struct str scheme;
    struct str authority;
    struct str path;
    struct str query;
    struct str fragment;
};

static size_t find_any(struct str s, const char *ends)
{
    size_t i = 0;

    while (i < s.len && str_find_char(str_of(ends), s.data[i]) == str_of(ends).len)
        i++;
    return i;
}

static struct parts split(struct str s)
{
    struct parts p = { 0 };
    size_t at = find_any(s, ":/?#");

    if (at > 0 && at < s.len && s.data[at] == ':') {
        p.scheme = str_slice(s, 0, at);
        s = str_slice(s, at + 1, s.len);
    }
    if (str_starts(s, STR("//"))) {
        s = str_slice(s, 2, s.len);
        at = find_any(s, "/?#");
        p.authority = str_slice(s, 0, at);
        s = str_slice(s, at, s.len);
    }
    at = find_any(s, "?#");
    p.path = str_slice(s, 0, at);
    s = str_slice(s, at, s.len);
    if (str_starts(s, STR("?"))) {
        at = find_any(s, "#");
        p.query = str_slice(s, 1, at);
        s = str_slice(s, at, s.len);
    }
    if (s.len > 0)
        p.fragment = str_slice(s, 1, s.len);
    return p;
}

/* Appends the path without its dot segments. What is before `root` in out is left alone. */
static void add_without_dots(struct buf *out, struct str path)
{
    const size_t root = out->len;

    while (path.len > 0) {
        const size_t from = path.data[0] == '/' ? 1 : 0;
        const struct str after = str_slice(path, from, path.len);
        const struct str segment = str_slice(after, 0, str_find_char(after, '/'));
        const bool is_last = segment.len == after.len;

        path = str_slice(after, segment.len, after.len);
        if (str_eq(segment, STR(".")) || str_eq(segment, STR(".."))) {
            if (segment.len == 2) {
                while (out->len > root && out->data[out->len - 1] != '/')
                    out->len--;
                out->len -= out->len > root;
            }
            if (is_last && !out->failed)
                buf_add_char(out, '/');
            continue;
        }
        if (from == 1)
            buf_add_char(out, '/');
        buf_add(out, segment);
    }
}

/* The base's path up to its last slash, then the reference's. */
static bool merge_paths(struct arena *arena, const struct parts *base, struct str path,
                        struct str *merged)
{
    size_t slash = base->path.len;

    while (slash > 0 && base->path.data[slash - 1] != '/')
        slash--;
    *merged = arena_printf(arena, "%s%.*s%.*s", slash == 0 ? "/" : "",
                           STR_ARG(str_slice(base->path, 0, slash)), STR_ARG(path));
    return merged->data != NULL;
}

static bool resolve_path(struct arena *arena, const struct parts *base, struct parts *result)
{
    if (result->path.len == 0) {
        result->path = base->path;
        if (result->query.data == NULL)
            result->query = base->query;
        return true;
    }
    if (result->path.data[0] == '/')
        return true;
    return merge_paths(arena, base, result->path, &result->path);
}

static void recompose(struct buf *out, const struct parts *p)
{
    buf_add(out, p->scheme);
    buf_add(out, STR("://"));
    buf_add(out, p->authority);
    add_without_dots(out, p->path);
    if (p->query.data != NULL) {
        buf_add_char(out, '?');
        buf_add(out, p->query);
    }
    if (p->fragment.data != NULL) {
        buf_add_char(out, '#');
        buf_add(out, p->fragment);
    }
}

bool url_resolve(struct arena *arena, struct str base, struct str reference, struct str *url,
                 struct error *err)
{
    const struct parts from = split(base);
    struct parts result = split(reference);
    struct url checked;
    struct buf out;

    if (!url_parse(base, &checked, err))
        return error_wrap(err, "resolve a reference");
    if (result.scheme.data != NULL && result.authority.data == NULL) {
        return error_set(err, ERROR_REQUEST, "url.syntax", "not a URL with a host: %s",
                         QUOTE(reference));
    }
    if (result.scheme.data == NULL) {
        result.scheme = from.scheme;
        if (result.authority.data == NULL) {
            result.authority = from.authority;
            if (!resolve_path(arena, &from, &result))
                return arena_error(arena, err);
        }
    }
    buf_init(&out, arena, base.len + reference.len + 16);
    recompose(&out, &result);
    if (!buf_ok(&out, err))
        return false;
    *url = buf_str(&out);
    if (!url_parse(*url, &checked, err))
        return error_wrap(err, "resolve %s", QUOTE(reference));
    return true;
}
