/* Tables and the values in them. */
#include <inttypes.h>

#include "base/instant.h"
#include "base/text.h"
#include "core/window.h"
#include "data/json.h"
#include "serve/page/page.h"

/* ---- values ---- */

static void write_when(struct html *h, int64_t at_us, struct str text)
{
    char iso[INSTANT_TEXT_MAX];
    const struct str instant = { iso, instant_format(at_us, iso) };

    html_start(h, "time");
    html_attr(h, "datetime", instant);
    html_attr(h, "title", instant);
    html_text(h, text);
    html_end(h);
}

void show_time(struct html *h, int64_t at_us, int64_t now_us)
{
    struct buf text;

    buf_init(&text, h->out->arena, 64);
    if (at_us > now_us)
        buf_add(&text, STR("in "));
    text_span(&text, at_us > now_us ? at_us - now_us : now_us - at_us);
    if (at_us <= now_us)
        buf_add(&text, STR(" ago"));
    write_when(h, at_us, buf_str(&text));
}

/* Without seconds where there are none: midnight is a date. */
static struct str short_instant(struct arena *arena, int64_t at_us)
{
    const struct civil c = instant_to_civil(at_us);

    if (at_us % US_PER_DAY == 0)
        return arena_printf(arena, "%04d-%02d-%02d", c.year, c.month, c.day);
    if (c.second == 0)
        return arena_printf(arena, "%04d-%02d-%02d %02d:%02dZ", c.year, c.month, c.day, c.hour,
                            c.minute);
    return arena_printf(arena, "%04d-%02d-%02d %02d:%02d:%02dZ", c.year, c.month, c.day, c.hour,
                        c.minute, c.second);
}

void show_instant(struct html *h, int64_t at_us)
{
    write_when(h, at_us, short_instant(h->out->arena, at_us));
}

void show_window(struct html *h, struct window window)
{
    if (!window_is_valid(window)) {
        html_text(h, STR("-"));
        return;
    }
    show_instant(h, window.from_us);
    html_text(h, STR(" to "));
    /* Of the same day only the time, unless it is a whole one. */
    if (window.to_us % US_PER_DAY != 0 &&
        instant_floor(window.from_us, US_PER_DAY) == instant_floor(window.to_us, US_PER_DAY))
        write_when(h, window.to_us,
                   str_slice(short_instant(h->out->arena, window.to_us), 11, SIZE_MAX));
    else
        show_instant(h, window.to_us);
}

void show_span(struct html *h, int64_t span_us)
{
    html_text(h, text_span_in(h->out->arena, span_us));
}

void show_count(struct html *h, int64_t count)
{
    struct buf text;

    buf_init(&text, h->out->arena, 64);
    text_count(&text, count);
    html_text(h, buf_str(&text));
}

void show_bytes(struct html *h, int64_t bytes)
{
    struct buf text;

    buf_init(&text, h->out->arena, 64);
    text_bytes(&text, bytes);
    html_text(h, buf_str(&text));
}

/* Which mark a state has. */
static const struct {
    const char *word;
    const char *tone;
} TONES[] = {
    { "SUCCEEDED", "good" }, { "READY", "good" },      { "COVERED", "good" },
    { "ACTIVE", "good" },    { "FAILED", "bad" },      { "STOPPED", "bad" },
    { "DEAD", "bad" },       { "MISSING", "bad" },     { "L4", "bad" },
    { "L2", "bad" },         { "PARTIAL", "warn" },    { "RETRYING", "warn" },
    { "PAUSED", "warn" },    { "CANCELLED", "warn" },  { "L1", "warn" },
    { "L3", "warn" },        { "RETRIED", "warn" },    { "WARNING", "warn" },
    { "CRITICAL", "bad" },   { "DELIVERED", "good" },  { "QUARANTINED", "warn" },
    { "EXECUTING", "busy" }, { "DISPATCHED", "busy" }, { "RUNNING", "busy" },
    { "QUEUED", "busy" },    { "LIVE", "busy" },
};

static const char *tone_of(struct str word)
{
    for (size_t i = 0; i < ARRAY_LEN(TONES); i++) {
        if (str_eq_nocase(word, str_of(TONES[i].word)))
            return TONES[i].tone;
    }
    return "plain";
}

struct str page_lower(struct arena *arena, struct str word)
{
    char *text = arena_alloc(arena, word.len + 1);

    for (size_t i = 0; text != NULL && i < word.len; i++) {
        const char c = word.data[i];

        text[i] = c;
        if (c >= 'A' && c <= 'Z')
            text[i] = (char)(c - 'A' + 'a');
        else if (c == '_')
            text[i] = ' ';
    }
    return text == NULL ? word : (struct str){ text, word.len };
}

void show_word(struct html *h, struct str word)
{
    const bool is_level = word.len == 2 && word.data[0] == 'L';

    html_start(h, "span");
    html_attrf(h, "class", "word %s", tone_of(word));
    html_text(h, is_level ? word : page_lower(h->out->arena, word));
    html_end(h);
}

void show_block(struct html *h, struct str text)
{
    html_start(h, "pre");
    html_attr(h, "tabindex", STR("0"));
    html_text(h, text);
    html_end(h);
}

void show_json(struct html *h, struct str json)
{
    const size_t indented_max = (size_t)4 << 20;
    struct arena *arena = h->out->arena;
    struct buf out;
    int depth = 0;
    bool in_text = false;

    if (!json_is_valid(json)) {
        show_block(h, json);
        return;
    }
    buf_init(&out, arena, indented_max);
    for (size_t i = 0; i < json.len; i++) {
        const char c = json.data[i];
        const bool closes = !in_text && (c == '}' || c == ']');

        if (closes)
            depth--;
        if (closes && json.data[i - 1] != '{' && json.data[i - 1] != '[')
            buf_printf(&out, "\n%*s", 2 * depth, "");
        buf_add_char(&out, c);
        if (c == '"')
            in_text = !in_text;
        else if (in_text && c == '\\' && i + 1 < json.len)
            buf_add_char(&out, json.data[++i]);
        if (in_text)
            continue;
        depth += c == '{' || c == '[';
        if (((c == '{' || c == '[') && json.data[i + 1] != '}' && json.data[i + 1] != ']') ||
            c == ',')
            buf_printf(&out, "\n%*s", 2 * depth, "");
        else if (c == ':')
            buf_add_char(&out, ' ');
    }
    show_block(h, out.failed ? json : buf_str(&out));
}

/* ---- tables ---- */

void table_open(struct table *t, struct html *h, const char *caption, const char *const *heads,
                size_t count)
{
    *t = (struct table){ .h = h, .heads = heads, .count = count };
    html_class(h, "div", "scroll");
    html_attr(h, "role", STR("group"));
    html_attr(h, "tabindex", STR("0"));
    html_attr(h, "aria-label", str_of(caption));
    html_start(h, "table");
    html_element(h, "caption", str_of(caption));
    html_start(h, "thead");
    html_start(h, "tr");
    for (size_t i = 0; i < count; i++) {
        html_start(h, "th");
        html_attr(h, "scope", STR("col"));
        if (heads[i][0] == '#')
            html_attr(h, "class", STR("num"));
        html_text(h, str_of(heads[i] + (heads[i][0] == '#')));
        html_end(h);
    }
    html_end(h);
    html_end(h);
    html_start(h, "tbody");
}

static void end_row(struct table *t)
{
    if (t->in_row)
        html_end(t->h);
    t->in_row = false;
}

void table_row(struct table *t)
{
    end_row(t);
    html_start(t->h, "tr");
    t->in_row = true;
    t->at = 0;
}

void table_cell(struct table *t)
{
    html_start(t->h, t->at == 0 ? "th" : "td");
    if (t->at == 0)
        html_attr(t->h, "scope", STR("row"));
    if (t->at < t->count && t->heads[t->at][0] == '#')
        html_attr(t->h, "class", STR("num"));
    t->at++;
}

void table_cell_end(struct table *t)
{
    html_end(t->h);
}

void table_text(struct table *t, struct str text)
{
    table_cell(t);
    html_text(t->h, text.len > 0 ? text : STR("-"));
    table_cell_end(t);
}

void table_word(struct table *t, struct str word)
{
    table_cell(t);
    show_word(t->h, word);
    table_cell_end(t);
}

void table_number(struct table *t, int64_t number)
{
    table_cell(t);
    show_count(t->h, number);
    table_cell_end(t);
}

void table_time(struct table *t, int64_t at_us, int64_t now_us)
{
    table_cell(t);
    if (at_us != 0)
        show_time(t->h, at_us, now_us);
    else
        html_text(t->h, STR("-"));
    table_cell_end(t);
}

void table_span(struct table *t, int64_t span_us)
{
    table_cell(t);
    show_span(t->h, span_us);
    table_cell_end(t);
}

void table_window(struct table *t, struct window window)
{
    table_cell(t);
    show_window(t->h, window);
    table_cell_end(t);
}

void table_link(struct table *t, struct str path, struct str text)
{
    table_cell(t);
    show_link(t->h, path, text);
    table_cell_end(t);
}

void table_row_link(struct table *t, const char *path, int64_t row)
{
    table_cell(t);
    if (row != 0)
        show_link_row(t->h, path, row);
    else
        html_text(t->h, STR("-"));
    table_cell_end(t);
}

void table_close(struct table *t)
{
    end_row(t);
    html_end(t->h); /* tbody */
    html_end(t->h); /* table */
    html_end(t->h); /* div */
}

void show_none(struct html *h, const char *text)
{
    html_class(h, "p", "none");
    html_text(h, str_of(text));
    html_end(h);
}
