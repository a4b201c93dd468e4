/* Counts, sizes, spans, rates and times of day as text. */
#include "base/instant.h"
#include "base/text.h"
#include "test.h"

static struct arena arena;

static struct buf empty(void)
{
    struct buf out;

    if (arena.limit == 0)
        arena_init(&arena, (size_t)1 << 20);
    buf_init(&out, &arena, 256);
    return out;
}

static const struct {
    int64_t count;
    const char *text;
} counts[] = {
    { 0, "0" },
    { 7, "7" },
    { 999, "999" },
    { 1000, "1,000" },
    { 12345, "12,345" },
    { 999999, "999,999" },
    { 1000000, "1,000,000" },
    { -1234, "-1,234" },
};

TEST(counts_are_grouped_by_thousands)
{
    for (size_t i = 0; i < ARRAY_LEN(counts); i++) {
        struct buf out = empty();

        text_count(&out, counts[i].count);
        CHECK_STR(buf_str(&out), str_of(counts[i].text), counts[i].text);
    }
}

static const struct {
    int64_t bytes;
    const char *text;
} sizes[] = {
    { 0, "0 B" },       { 999, "999 B" },      { 1000, "1.0 kB" },         { 9949, "9.9 kB" },
    { 43198, "43 kB" }, { 4500000, "4.5 MB" }, { 120000000000, "120 GB" },
};

TEST(sizes_have_two_or_three_digits)
{
    for (size_t i = 0; i < ARRAY_LEN(sizes); i++) {
        struct buf out = empty();

        text_bytes(&out, sizes[i].bytes);
        CHECK_STR(buf_str(&out), str_of(sizes[i].text), sizes[i].text);
    }
}

static const struct {
    int64_t span_us;
    const char *text;
} spans[] = {
    { 0, "0ms" },
    { 850 * US_PER_MS, "850ms" },
    { 4250 * US_PER_MS, "4.2s" },
    { 59 * US_PER_SECOND, "59s" },
    { 65 * US_PER_SECOND, "1m 05s" },
    { 3600 * US_PER_SECOND, "1h 00m" },
    { 7800 * US_PER_SECOND, "2h 10m" },
    { 76 * US_PER_HOUR, "3d 4h" },
};

TEST(spans_have_their_two_largest_units)
{
    for (size_t i = 0; i < ARRAY_LEN(spans); i++) {
        struct buf out = empty();

        text_span(&out, spans[i].span_us);
        CHECK_STR(buf_str(&out), str_of(spans[i].text), spans[i].text);
    }
}

TEST(rates_have_a_digit_behind_the_point_while_it_counts)
{
    struct buf out = empty();

    text_rate(&out, 3250);
    CHECK_STR(buf_str(&out), STR("3.2/s"), "slow");
    buf_clear(&out);
    text_rate(&out, 1234567);
    CHECK_STR(buf_str(&out), STR("1,234/s"), "fast");
    buf_clear(&out);
    text_rate(&out, 0);
    CHECK_STR(buf_str(&out), STR("0.0/s"), "not at all");
}

TEST(a_clock_shows_utc)
{
    struct buf out = empty();

    text_clock(&out, INT64_C(1767225600000000) + 50602 * US_PER_SECOND + 999999);
    CHECK_STR(buf_str(&out), STR("14:03:22Z"), "2026-01-01T14:03:22.999999Z");
}

TEST(an_instant_by_itself_is_that_of_the_log)
{
    (void)empty();
    CHECK_STR(text_instant_in(&arena, INT64_C(1767225600000000)), STR("2026-01-01T00:00:00Z"),
              "an instant");
    CHECK_STR(text_instant_in(&arena, INT64_C(1767225600000001)),
              STR("2026-01-01T00:00:00.000001Z"), "with its fraction");
}

TEST(a_span_by_itself_is_never_negative)
{
    (void)empty();
    CHECK_STR(text_span_in(&arena, 4200 * INT64_C(1000)), STR("4.2s"), "a span");
    CHECK_STR(text_span_in(&arena, -5 * US_PER_SECOND), STR("0ms"), "none");
}
