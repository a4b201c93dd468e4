/* HTML and SVG, escaped. */
#include "serve/html.h"

#include <assert.h>
#include <stdarg.h>
#include <stdio.h>
#include <string.h>

/* Elements without content: they have no end. */
static bool is_void(const char *element)
{
    static const char *const names[] = { "meta", "link", "input", "br", "hr" };

    for (size_t i = 0; i < ARRAY_LEN(names); i++) {
        if (strcmp(names[i], element) == 0)
            return true;
    }
    return false;
}

static struct str entity_of(char c)
{
    switch (c) {
    case '&':
        return STR("&amp;");
    case '<':
        return STR("&lt;");
    case '>':
        return STR("&gt;");
    case '"':
        return STR("&quot;");
    case '\'':
        return STR("&#39;");
    case '\t':
    case '\n':
        return (struct str){ 0 };
    default:
        break;
    }
    /* Controls are not text, and a browser would drop or repair them. */
    return (unsigned char)c < 0x20 || c == 0x7f ? STR("\xEF\xBF\xBD") : (struct str){ 0 };
}

static void add_escaped(struct buf *out, struct str text)
{
    size_t from = 0;

    for (size_t i = 0; i < text.len; i++) {
        const struct str entity = entity_of(text.data[i]);

        if (entity.len == 0)
            continue;
        buf_add(out, str_slice(text, from, i));
        buf_add(out, entity);
        from = i + 1;
    }
    buf_add(out, str_slice(text, from, text.len));
}

/* A browser would read the rest of a text that is not UTF-8 in its own way. */
static void add_text(struct buf *out, struct str text)
{
    if (str_is_utf8(text)) {
        add_escaped(out, text);
        return;
    }
    for (size_t i = 0; i < text.len; i++) {
        const struct str one = str_slice(text, i, i + 1);

        add_escaped(out, (unsigned char)text.data[i] < 0x80 ? one : STR("\xEF\xBF\xBD"));
    }
}

static struct str formatted(struct html *h, const char *format, va_list args) PRINTF_LIKE(2, 0);
static struct str formatted(struct html *h, const char *format, va_list args)
{
    va_list again;
    char *text;
    int len;

    va_copy(again, args);
    len = vsnprintf(NULL, 0, format, args);
    assert(len >= 0);
    text = arena_alloc_raw(h->out->arena, (size_t)len + 1);
    if (text != NULL)
        (void)vsnprintf(text, (size_t)len + 1, format, again);
    else
        h->out->failed = true;
    va_end(again);
    return text == NULL ? STR("") : (struct str){ text, (size_t)len };
}

static void close_tag(struct html *h)
{
    if (h->in_tag)
        buf_add_char(h->out, '>');
    h->in_tag = false;
}

void html_init(struct html *h, struct buf *out)
{
    *h = (struct html){ .out = out };
    buf_add(out, STR("<!doctype html>\n"));
}

void html_start(struct html *h, const char *element)
{
    assert(h->depth < HTML_DEPTH_MAX);
    close_tag(h);
    buf_printf(h->out, "<%s", element);
    h->open[h->depth++] = element;
    h->in_tag = true;
}

void html_attr(struct html *h, const char *name, struct str value)
{
    assert(h->in_tag);
    buf_printf(h->out, " %s=\"", name);
    add_text(h->out, value);
    buf_add_char(h->out, '"');
}

void html_attrf(struct html *h, const char *name, const char *format, ...)
{
    va_list args;

    va_start(args, format);
    html_attr(h, name, formatted(h, format, args));
    va_end(args);
}

void html_flag(struct html *h, const char *name)
{
    assert(h->in_tag);
    buf_printf(h->out, " %s", name);
}

void html_text(struct html *h, struct str text)
{
    close_tag(h);
    add_text(h->out, text);
}

void html_textf(struct html *h, const char *format, ...)
{
    va_list args;

    va_start(args, format);
    html_text(h, formatted(h, format, args));
    va_end(args);
}

void html_end(struct html *h)
{
    const char *element;

    assert(h->depth > 0);
    element = h->open[--h->depth];
    close_tag(h);
    if (!is_void(element))
        buf_printf(h->out, "</%s>", element);
}

void html_href(struct html *h, struct str path)
{
    assert(path.len >= 1 && path.data[0] == '/');
    assert(path.len == 1 || path.data[1] != '/');
    html_attr(h, "href", path);
}

void html_class(struct html *h, const char *element, const char *class)
{
    html_start(h, element);
    html_attr(h, "class", str_of(class));
}

void html_element(struct html *h, const char *element, struct str text)
{
    html_start(h, element);
    html_text(h, text);
    html_end(h);
}

void html_finish(const struct html *h)
{
    assert(h->depth == 0);
    assert(!h->in_tag);
}
