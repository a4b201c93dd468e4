/* The writer: commas, names and nesting, with an assertion for every misuse. */
#include "data/json_write.h"

#include <assert.h>
#include <math.h>

#include "base/instant.h"
#include "data/json_number.h"
#include "data/json_scan.h"
#include "data/utf8.h"

void json_writer_init(struct json_writer *w, struct buf *out)
{
    *w = (struct json_writer){ .out = out };
}

static bool in_object(const struct json_writer *w)
{
    return w->depth > 0 && (w->objects >> (w->depth - 1) & 1) != 0;
}

/* Writes what separates the value from the one before. */
static void before_value(struct json_writer *w)
{
    if (in_object(w)) {
        assert(w->named);
        w->named = false;
        return;
    }
    assert(w->depth > 0 || !w->any); /* there is one value at the top */
    if (w->any)
        buf_add_char(w->out, ',');
    w->any = true;
}

static void begin(struct json_writer *w, bool object)
{
    before_value(w);
    assert(w->depth < JSON_WRITE_DEPTH_MAX);
    if (object)
        w->objects |= UINT64_C(1) << w->depth;
    else
        w->objects &= ~(UINT64_C(1) << w->depth);
    w->depth++;
    w->any = false;
    buf_add_char(w->out, object ? '{' : '[');
}

void json_write_object(struct json_writer *w)
{
    begin(w, true);
}

void json_write_array(struct json_writer *w)
{
    begin(w, false);
}

void json_write_end(struct json_writer *w)
{
    assert(w->depth > 0);
    assert(!w->named);
    buf_add_char(w->out, in_object(w) ? '}' : ']');
    w->depth--;
    w->any = true;
}

void json_write_name(struct json_writer *w, struct str name)
{
    assert(in_object(w));
    assert(!w->named);
    if (w->any)
        buf_add_char(w->out, ',');
    w->any = true;
    w->named = true;
    json_quote(w->out, name);
    buf_add_char(w->out, ':');
}

void json_write_str(struct json_writer *w, struct str value)
{
    before_value(w);
    json_quote(w->out, value);
}

void json_write_i64(struct json_writer *w, int64_t value)
{
    before_value(w);
    buf_add_i64(w->out, value);
}

void json_write_double(struct json_writer *w, double value)
{
    char text[JSON_NUMBER_TEXT_MAX];

    assert(isfinite(value));
    before_value(w);
    buf_add(w->out, (struct str){ text, json_number_format(value, text) });
}

void json_write_bool(struct json_writer *w, bool value)
{
    before_value(w);
    buf_add(w->out, value ? STR("true") : STR("false"));
}

void json_write_null(struct json_writer *w)
{
    before_value(w);
    buf_add(w->out, STR("null"));
}

void json_write_raw(struct json_writer *w, struct str json)
{
    assert(json_is_valid(json));
    before_value(w);
    buf_add(w->out, json);
}

void json_write_node(struct json_writer *w, const struct json_doc *doc, struct json_node node)
{
    assert(json_exists(node));
    before_value(w);
    buf_add(w->out, json_raw(doc, node));
}

void json_write_member_str(struct json_writer *w, struct str name, struct str value)
{
    json_write_name(w, name);
    json_write_str(w, value);
}

void json_write_member_i64(struct json_writer *w, struct str name, int64_t value)
{
    json_write_name(w, name);
    json_write_i64(w, value);
}

void json_write_member_bool(struct json_writer *w, struct str name, bool value)
{
    json_write_name(w, name);
    json_write_bool(w, value);
}

void json_write_member_instant(struct json_writer *w, struct str name, int64_t at_us)
{
    char text[INSTANT_TEXT_MAX];

    json_write_member_str(w, name, (struct str){ text, instant_format(at_us, text) });
}

void json_writer_finish(const struct json_writer *w)
{
    assert(w->depth == 0);
    assert(w->any);
}

static void quote_control(struct buf *out, char c)
{
    switch (c) {
    case '\b':
        buf_add(out, STR("\\b"));
        break;
    case '\t':
        buf_add(out, STR("\\t"));
        break;
    case '\n':
        buf_add(out, STR("\\n"));
        break;
    case '\f':
        buf_add(out, STR("\\f"));
        break;
    case '\r':
        buf_add(out, STR("\\r"));
        break;
    default:
        buf_printf(out, "\\u%04x", (unsigned)c);
    }
}

void json_quote(struct buf *out, struct str value)
{
    const char *at = value.len > 0 ? value.data : "";
    const char *const end = at + value.len;

    buf_add_char(out, '"');
    while (at < end) {
        const char *stop = json_scan_plain(at, end);

        buf_add(out, (struct str){ at, (size_t)(stop - at) });
        at = stop;
        if (at == end)
            break;
        if ((unsigned char)*at >= 0x80) {
            const size_t len = utf8_sequence(at, end);

            buf_add(out, len > 0 ? (struct str){ at, len } : STR("\xEF\xBF\xBD"));
            at += len > 0 ? len : 1;
            continue;
        }
        if (*at == '"' || *at == '\\') {
            buf_add_char(out, '\\');
            buf_add_char(out, *at);
        } else {
            quote_control(out, *at);
        }
        at++;
    }
    buf_add_char(out, '"');
}
