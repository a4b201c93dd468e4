/* log: formatting one line as text or JSON, and writing it. */
#include "base/log.h"

#include <assert.h>
#include <inttypes.h>
#include <stdarg.h>
#include <stdio.h>
#include <string.h>
#include <unistd.h>

#include "base/attr.h"
#include "base/instant.h"
#include "base/mask.h"

static const char *const level_names[] = { "debug", "info", "warn", "error" };

/* A line is built on the stack; fields that do not fit are left out, and the line is marked. */
struct line {
    char bytes[LOG_LINE_MAX];
    size_t len;
    bool cut;
};

enum { LINE_RESERVE = 32 }; /* room for the mark of a truncated line and its end */

static void add(struct line *line, const char *bytes, size_t len)
{
    if (line->cut || len > sizeof(line->bytes) - LINE_RESERVE - line->len) {
        line->cut = true;
        return;
    }
    memcpy(line->bytes + line->len, bytes, len);
    line->len += len;
}

static void add_format(struct line *line, const char *format, ...) PRINTF_LIKE(2, 3);

static void add_format(struct line *line, const char *format, ...)
{
    char piece[64];
    va_list args;
    int len;

    va_start(args, format);
    len = vsnprintf(piece, sizeof(piece), format, args);
    va_end(args);
    assert(len >= 0 && (size_t)len < sizeof(piece));
    add(line, piece, (size_t)len);
}

static void add_quoted(struct line *line, struct str s)
{
    add(line, "\"", 1);
    for (size_t i = 0; i < s.len; i++) {
        const unsigned char c = (unsigned char)s.data[i];

        if (c == '"' || c == '\\')
            add_format(line, "\\%c", c);
        else if (c < 0x20 || c == 0x7F)
            add_format(line, "\\u%04x", c);
        else if (c == 0xC2 && (unsigned char)s.data[i + 1] < 0xA0) /* C1; the text is UTF-8 */
            add_format(line, "\\u%04x", (unsigned)(unsigned char)s.data[++i]);
        else
            add(line, s.data + i, 1);
    }
    add(line, "\"", 1);
}

static bool is_plain(struct str s)
{
    for (size_t i = 0; i < s.len; i++) {
        const unsigned char c = (unsigned char)s.data[i];

        if (c <= ' ' || c == '"' || c == '=' || c >= 0x7F)
            return false;
    }
    return s.len > 0;
}

/* Without personal data, whoever wrote the text. One that is longer than a line is left out. */
static void add_text(struct line *line, enum log_format format, struct str text)
{
    char masked[LOG_LINE_MAX];
    const size_t len = text.len < sizeof(masked) ? text.len : sizeof(masked);

    if (len > 0)
        memcpy(masked, text.data, len);
    if (len == text.len)
        text = (struct str){ masked, mask_personal(masked, len) };
    if (format == LOG_TEXT && is_plain(text))
        add(line, text.data, text.len);
    else if (str_is_utf8(text))
        add_quoted(line, text);
    else
        add_quoted(line, STR("(not UTF-8)"));
}

static void add_value(struct line *line, enum log_format format, const struct log_field *field)
{
    switch (field->type) {
    case LOG_FIELD_I64:
        add_format(line, "%" PRId64, field->number);
        return;
    case LOG_FIELD_BOOL:
        add_format(line, "%s", field->number != 0 ? "true" : "false");
        return;
    case LOG_FIELD_STR:
        add_text(line, format, field->text);
        return;
    }
}

static void add_head(struct line *line, const struct log *log, enum log_level level,
                     const char *event)
{
    char at[INSTANT_TEXT_MAX];

    (void)instant_format(log->now_us(log->context), at);
    if (log->format == LOG_JSON) {
        add_format(line, "{\"ts\":\"%s\",\"level\":\"%s\",\"event\":", at, level_names[level]);
        add_quoted(line, str_of(event));
    } else {
        add_format(line, "%s %s ", at, level_names[level]);
        add(line, event, strlen(event));
    }
}

/* A line has each name once: JSON readers disagree about duplicates. */
static bool is_of_head(const char *key)
{
    return strcmp(key, "ts") == 0 || strcmp(key, "level") == 0 || strcmp(key, "event") == 0;
}

static void add_field(struct line *line, enum log_format format, const struct log_field *field)
{
    assert(!is_of_head(field->key));
    if (format == LOG_JSON) {
        add(line, ",", 1);
        add_quoted(line, str_of(field->key));
        add(line, ":", 1);
    } else {
        add(line, " ", 1);
        add(line, field->key, strlen(field->key));
        add(line, "=", 1);
    }
    add_value(line, format, field);
}

static void add_end(struct line *line, enum log_format format)
{
    const char *end = format == LOG_JSON ? "}\n" : "\n";

    if (line->cut)
        end = format == LOG_JSON ? ",\"cut\":true}\n" : " cut=true\n";
    memcpy(line->bytes + line->len, end, strlen(end));
    line->len += strlen(end);
}

static bool is_sampled_out(struct log *log, enum log_level level)
{
    if (level >= LOG_WARN || log->sample_every <= 1)
        return false;
    return atomic_fetch_add(&log->sampled, 1) % log->sample_every != 0;
}

void log_write(struct log *log, enum log_level level, bool sampled, const char *event,
               const struct log_field *fields, size_t count)
{
    struct line line;

    if (log == NULL || level < log->level)
        return;
    if (sampled && is_sampled_out(log, level))
        return;
    line.len = 0;
    line.cut = false;
    add_head(&line, log, level, event);
    for (size_t i = 0; i < count; i++) {
        const size_t whole = line.len;

        add_field(&line, log->format, &fields[i]);
        if (line.cut) {
            line.len = whole; /* a field is written completely or not at all */
            break;
        }
    }
    add_end(&line, log->format);
    /* There is no place to report that the log itself cannot be written. */
    (void)!write(log->fd, line.bytes, line.len);
}

bool log_level_parse(struct str name, enum log_level *level)
{
    for (size_t i = 0; i < ARRAY_LEN(level_names); i++) {
        if (str_eq(name, str_of(level_names[i]))) {
            *level = (enum log_level)i;
            return true;
        }
    }
    return false;
}
