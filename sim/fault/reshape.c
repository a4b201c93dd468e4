/* Finds a member in the bytes of a body, and writes another value in its place. */
#include "sim/fault/reshape.h"

#include "base/buf.h"

#define ERROR_JSON "{\"error\":{\"code\":\"overload\",\"message\":\"try again later\"}}"
#define ERROR_XML "<failure>try again later</failure>"

struct place {    /* offsets in the body */
    size_t from;  /* of the member: its key, or its element's '<' */
    size_t value; /* of its value: after the colon, or after the '>' */
    size_t end;   /* of the value */
    size_t to;    /* of the member: as the value's, or after the closing tag */
    size_t depth;
    bool is_found;
};

static void keep_less_deep(struct place *best, const struct place *found)
{
    if (!best->is_found || found->depth < best->depth)
        *best = *found;
    best->is_found = true;
}

static char at(struct str body, size_t i)
{
    return i < body.len ? body.data[i] : '\0';
}

/* ---- JSON ---- */

/* After the string that begins here. */
static size_t skip_string(struct str body, size_t i)
{
    for (i++; i < body.len && body.data[i] != '"'; i++)
        i += body.data[i] == '\\';
    return i + 1;
}

static bool is_blank(char c)
{
    return c == ' ' || c == '\n' || c == '\r' || c == '\t';
}

static size_t skip_blanks(struct str body, size_t i)
{
    while (is_blank(at(body, i)))
        i++;
    return i;
}

/* After the value that begins here. */
static size_t skip_value(struct str body, size_t i)
{
    size_t depth = 0;

    while (i < body.len) {
        const char c = body.data[i];

        if (depth == 0 && (c == ',' || c == '}' || c == ']' || is_blank(c)))
            return i;
        if (c == '"') {
            i = skip_string(body, i);
            if (depth == 0)
                return i;
            continue;
        }
        depth += c == '{' || c == '[';
        depth -= c == '}' || c == ']';
        i++;
        if (depth == 0 && (c == '}' || c == ']'))
            return i;
    }
    return i;
}

static struct place find_json(struct str body, struct str member)
{
    struct place best = { 0 };
    size_t depth = 0;

    for (size_t i = 0; i < body.len;) {
        const char c = body.data[i];
        size_t end, colon;

        depth += c == '{' || c == '[';
        depth -= c == '}' || c == ']';
        if (c != '"') {
            i++;
            continue;
        }
        end = skip_string(body, i);
        colon = skip_blanks(body, end);
        if (at(body, colon) == ':' && str_eq(str_slice(body, i + 1, end - 1), member)) {
            const size_t value = skip_blanks(body, colon + 1);
            const size_t after = skip_value(body, value);

            keep_less_deep(&best, &(struct place){ i, value, after, after, depth, true });
        }
        i = end;
    }
    return best;
}

/* Without the member, and without one of the commas beside it. */
static void cut_json(struct buf *out, struct str body, struct place place)
{
    const size_t after = skip_blanks(body, place.to);

    if (at(body, after) == ',')
        place.to = after + 1;
    else if (place.from > 0 && at(body, place.from - 1) == ',')
        place.from--;
    buf_add(out, str_slice(body, 0, place.from));
    buf_add(out, str_slice(body, place.to, body.len));
}

static void write_json_value(struct buf *out, struct str value, enum reshape_as as)
{
    const size_t quote = str_find_char(value, '"');

    switch (as) {
    case RESHAPE_OBJECT:
        buf_add(out, STR(ERROR_JSON));
        break;
    case RESHAPE_NULL:
    case RESHAPE_NOTHING:
        buf_add(out, STR("null"));
        break;
    case RESHAPE_TEXT:
        buf_add(out, STR("\"many\""));
        break;
    case RESHAPE_WRAPPED:
        buf_add(out, STR("{\"value\":"));
        buf_add(out, value);
        buf_add(out, STR("}"));
        break;
    case RESHAPE_ALTERED:
        buf_add(out, str_slice(value, 0, quote + 1));
        buf_add(out, quote < value.len ? STR("Altered ") : STR(""));
        buf_add(out, str_slice(value, quote + 1, value.len));
        break;
    }
}

/* ---- XML ---- */

static bool is_name_end(char c)
{
    return is_blank(c) || c == '>' || c == '/' || c == '\0';
}

/* Whether the tag whose name begins here has this name, with any prefix. */
static bool has_name(struct str body, size_t i, struct str name)
{
    size_t end = i, from = i;

    while (!is_name_end(at(body, end))) {
        if (body.data[end] == ':')
            from = end + 1;
        end++;
    }
    return str_eq(str_slice(body, from, end), name);
}

static size_t tag_end(struct str body, size_t i)
{
    return i + str_find_char(str_slice(body, i, body.len), '>');
}

/* Offsets of the closing tag of the element whose content begins here. */
static void find_close(struct str body, struct str name, struct place *place)
{
    size_t open = 1;

    for (size_t i = place->value; i < body.len; i++) {
        const bool is_close = at(body, i) == '<' && at(body, i + 1) == '/';

        if (at(body, i) != '<' || !has_name(body, i + 1 + is_close, name))
            continue;
        if (!is_close && at(body, tag_end(body, i) - 1) != '/')
            open++;
        if (is_close && --open == 0) {
            place->end = i;
            place->to = tag_end(body, i) + 1;
            place->is_found = true;
            return;
        }
    }
}

static struct place find_xml(struct str body, struct str name)
{
    struct place best = { 0 };
    size_t depth = 0;

    for (size_t i = 0; i < body.len; i++) {
        const bool is_tag = at(body, i) == '<' && at(body, i + 1) != '?' && at(body, i + 1) != '!';
        const size_t end = is_tag ? tag_end(body, i) : 0;
        struct place place = { .from = i, .value = end + 1, .depth = depth };

        if (!is_tag)
            continue;
        if (at(body, i + 1) == '/') {
            depth--;
            continue;
        }
        if (at(body, end - 1) == '/')
            continue;
        depth++;
        if (has_name(body, i + 1, name))
            find_close(body, name, &place);
        if (place.is_found)
            keep_less_deep(&best, &place);
    }
    return best;
}

/* name="value" of the first element that has it; from: of the blank before the name. */
static struct place find_attribute(struct arena *arena, struct str body, struct str name)
{
    const struct str key = arena_printf(arena, " %.*s=\"", STR_ARG(name));
    const size_t from = str_find(body, key);
    const size_t value = from + key.len;
    const size_t end =
        from < body.len ? value + str_find_char(str_slice(body, value, body.len), '"') : 0;

    return (struct place){ from, value, end, end + 1, 0, from < body.len };
}

static void write_xml_value(struct buf *out, struct str value, enum reshape_as as)
{
    switch (as) {
    case RESHAPE_OBJECT:
        buf_add(out, STR(ERROR_XML));
        break;
    case RESHAPE_NULL:
    case RESHAPE_NOTHING:
        break;
    case RESHAPE_TEXT:
        buf_add(out, STR("many"));
        break;
    case RESHAPE_WRAPPED:
        buf_add(out, STR("<value>"));
        buf_add(out, value);
        buf_add(out, STR("</value>"));
        break;
    case RESHAPE_ALTERED:
        buf_add(out, STR("Altered "));
        buf_add(out, value);
        break;
    }
}

/* ---- both ---- */

static struct place find(struct arena *arena, struct str body, struct str member, bool is_xml)
{
    if (member.len == 0)
        return (struct place){ 0, 0, body.len, body.len, 0, true };
    if (is_xml && member.data[0] == '@')
        return find_attribute(arena, body, str_slice(member, 1, member.len));
    return is_xml ? find_xml(body, member) : find_json(body, member);
}

struct str reshape_body(struct arena *arena, struct str body, const struct reshape *reshape)
{
    const bool is_xml = at(body, skip_blanks(body, 0)) == '<';
    const struct place place = find(arena, body, reshape->member, is_xml);
    const bool is_whole = reshape->member.len == 0;
    struct str value;
    struct buf out;

    if (!place.is_found)
        return body;
    buf_init(&out, arena, 2 * body.len + 1024);
    value = str_slice(body, place.value, place.end);
    if (reshape->as == RESHAPE_NOTHING && !is_xml && !is_whole) {
        cut_json(&out, body, place);
        return buf_str(&out);
    }
    if (reshape->as == RESHAPE_NOTHING && is_xml) {
        buf_add(&out, str_slice(body, 0, place.from));
        buf_add(&out, str_slice(body, place.to, body.len));
        return buf_str(&out);
    }
    buf_add(&out, str_slice(body, 0, place.value));
    if (is_xml)
        write_xml_value(&out, value, reshape->as);
    else
        write_json_value(&out, value, reshape->as);
    buf_add(&out, str_slice(body, place.end, body.len));
    return buf_str(&out);
}
