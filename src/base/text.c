/* Numbers, sizes, spans and rates as people read them. */
#include "base/text.h"

#include <inttypes.h>
#include <stdio.h>

#include "base/instant.h"

void text_count(struct buf *out, int64_t count)
{
    char digits[24];
    const int len = snprintf(digits, sizeof(digits), "%" PRId64, count < 0 ? -count : count);

    if (count < 0)
        buf_add_char(out, '-');
    for (int i = 0; i < len; i++) {
        if (i > 0 && (len - i) % 3 == 0)
            buf_add_char(out, ',');
        buf_add_char(out, digits[i]);
    }
}

void text_bytes(struct buf *out, int64_t bytes)
{
    static const char *const units[] = { "kB", "MB", "GB", "TB", "PB" };
    double amount = (double)bytes / 1000;
    size_t unit = 0;

    if (bytes < 1000) {
        buf_printf(out, "%" PRId64 " B", bytes);
        return;
    }
    while (amount >= 1000 && unit + 1 < sizeof(units) / sizeof(units[0])) {
        amount /= 1000;
        unit++;
    }
    buf_printf(out, amount < 10 ? "%.1f %s" : "%.0f %s", amount, units[unit]);
}

void text_span(struct buf *out, int64_t span_us)
{
    const int64_t s = span_us / US_PER_SECOND;

    if (span_us < US_PER_SECOND)
        buf_printf(out, "%" PRId64 "ms", span_us / US_PER_MS);
    else if (span_us < 10 * US_PER_SECOND)
        buf_printf(out, "%" PRId64 ".%" PRId64 "s", s, span_us / (100 * US_PER_MS) % 10);
    else if (s < 60)
        buf_printf(out, "%" PRId64 "s", s);
    else if (s < 3600)
        buf_printf(out, "%" PRId64 "m %02" PRId64 "s", s / 60, s % 60);
    else if (s < 86400)
        buf_printf(out, "%" PRId64 "h %02" PRId64 "m", s / 3600, s / 60 % 60);
    else
        buf_printf(out, "%" PRId64 "d %" PRId64 "h", s / 86400, s / 3600 % 24);
}

struct str text_span_in(struct arena *arena, int64_t span_us)
{
    struct buf text;

    buf_init(&text, arena, 64);
    text_span(&text, span_us > 0 ? span_us : 0);
    return buf_str(&text);
}

struct str text_instant_in(struct arena *arena, int64_t at_us)
{
    char text[INSTANT_TEXT_MAX];
    const size_t len = instant_format(at_us, text);

    return arena_copy(arena, (struct str){ text, len });
}

void text_rate(struct buf *out, int64_t per_1000s)
{
    if (per_1000s < INT64_C(100000)) {
        buf_printf(out, "%" PRId64 ".%" PRId64 "/s", per_1000s / 1000, per_1000s / 100 % 10);
        return;
    }
    text_count(out, per_1000s / 1000);
    buf_add(out, STR("/s"));
}

void text_clock(struct buf *out, int64_t at_us)
{
    const struct civil at = instant_to_civil(at_us);

    buf_printf(out, "%02d:%02d:%02dZ", at.hour, at.minute, at.second);
}
