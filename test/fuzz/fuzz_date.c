/* Every form of date on the same bytes; and the bytes as a pattern. */
#include <assert.h>
#include <stdint.h>

#include "base/instant.h"
#include "data/date.h"
#include "data/date_pattern.h"

int LLVMFuzzerTestOneInput(const uint8_t *bytes, size_t size);

/* What was read and written again is the same moment. */
static void check_instant(int64_t at_us)
{
    char text[INSTANT_TEXT_MAX];
    const size_t len = instant_format(at_us, text);
    struct date again;
    struct error err;

    assert(at_us >= INSTANT_MIN && at_us <= INSTANT_MAX);
    assert(date_parse(date_format_find(STR("rfc3339")), (struct str){ text, len }, &again, &err));
    assert(again.at_us == at_us);
}

static void check_pattern(struct str pattern)
{
    struct arena arena;
    struct error err;
    struct buf out;

    if (!date_pattern_check(pattern, &err))
        return;
    arena_init(&arena, 1 << 20);
    buf_init(&out, &arena, 1 << 16);
    date_pattern_write(&out, pattern, INSTANT_MAX);
    arena_release(&arena);
}

int LLVMFuzzerTestOneInput(const uint8_t *bytes, size_t size)
{
    const struct str text = { (const char *)bytes, size };
    struct date date;
    struct error err;

    for (size_t i = 0; i < date_formats_count; i++) {
        if (date_parse(&date_formats[i], text, &date, &err))
            check_instant(date.at_us);
    }
    check_pattern(text);
    return 0;
}
