/* Targets of requests. */
#include "serve/target.h"

#include <string.h>

#include "data/url.h"

/* False where an escape is malformed, or the result is not UTF-8 or has a NUL. */
static bool decode(struct arena *arena, struct str text, enum url_place place, struct str *decoded)
{
    for (size_t i = 0; i < text.len; i++) {
        if (text.data[i] == '%' && !url_is_escape(text, i))
            return false;
    }
    *decoded = url_decode(arena, text, place);
    return decoded->data != NULL && str_find_char(*decoded, '\0') == decoded->len &&
           str_is_utf8(*decoded);
}

static bool refuse(struct error *err, const char *what)
{
    return error_set(err, ERROR_REQUEST, "request.target", "the target of the request %s", what);
}

static bool parse_path(struct arena *arena, struct target *target, struct error *err)
{
    struct str rest = target->path;

    if (rest.len == 0 || rest.data[0] != '/')
        return refuse(err, "does not begin with a slash");
    rest = str_slice(rest, 1, rest.len);
    while (rest.len > 0) {
        const bool is_last = str_find_char(rest, '/') == rest.len;
        const struct str raw = str_cut(&rest, '/');

        if (target->segment_count == TARGET_SEGMENTS_MAX)
            return refuse(err, "has too many segments");
        if (raw.len == 0 || (!is_last && rest.len == 0))
            return refuse(err, "has an empty segment");
        if (!decode(arena, raw, URL_PATH, &target->segments[target->segment_count++]))
            return refuse(err, "has a segment that is not UTF-8, percent-encoded");
    }
    return true;
}

static bool parse_query(struct arena *arena, struct target *target, struct str query,
                        struct error *err)
{
    while (query.len > 0) {
        struct str value = str_cut(&query, '&');
        struct target_pair *pair = &target->pairs[target->pair_count];
        const struct str name = str_cut(&value, '=');

        if (name.len == 0)
            return refuse(err, "has a parameter without a name");
        if (target->pair_count == TARGET_PAIRS_MAX)
            return refuse(err, "has too many parameters");
        if (!decode(arena, name, URL_QUERY, &pair->name) ||
            !decode(arena, value, URL_QUERY, &pair->value))
            return refuse(err, "has a parameter that is not UTF-8, percent-encoded");
        target->pair_count++;
    }
    return true;
}

bool target_parse(struct arena *arena, struct str text, struct target *target, struct error *err)
{
    struct str query = text;

    *target = (struct target){ 0 };
    if (text.len > TARGET_BYTES_MAX)
        return refuse(err, "is too long");
    target->path = str_cut(&query, '?');
    if (!parse_path(arena, target, err) || !parse_query(arena, target, query, err))
        return arena->failed ? arena_error(arena, err) : false;
    return true;
}

bool target_parse_form(struct arena *arena, struct str body, struct target *form, struct error *err)
{
    *form = (struct target){ 0 };
    if (body.len <= FORM_BYTES_MAX && parse_query(arena, form, body, err))
        return true;
    return arena->failed ? arena_error(arena, err)
                         : error_set(err, ERROR_REQUEST, "request.body",
                                     "the body is not a form of at most %d values, percent-encoded",
                                     TARGET_PAIRS_MAX);
}

struct str target_value(const struct target *target, struct str name)
{
    for (size_t i = 0; i < target->pair_count; i++) {
        if (str_eq(target->pairs[i].name, name))
            return target->pairs[i].value;
    }
    return STR("");
}
