/* Meters: what is counted, how it is written, and that it does not grow without end. */
#include "base/meter.h"

#include <stdio.h>

#include "test.h"

static const double BOUNDS[METER_BOUNDS_MAX] = { 0.5, 1 };
static const struct meter_family FAMILIES[] = {
    { "a_total", "Things.", METER_COUNTER, { "who", "what" }, NULL },
    { "b_seconds", "How long.", METER_HISTOGRAM, { 0 }, BOUNDS },
    { "never", "Not seen.", METER_GAUGE, { 0 }, NULL },
};

static struct str text_of(struct meters *meters, struct arena *arena)
{
    struct buf out;
    struct error err = { 0 };

    buf_init(&out, arena, 1 << 20);
    meters_write(meters, &out);
    REQUIRE_OK(buf_ok(&out, &err), err);
    return buf_str(&out);
}

TEST(meters_are_written_in_the_text_format)
{
    struct meters *meters;
    struct error err = { 0 };
    struct arena arena;

    arena_init(&arena, 4 << 20);
    REQUIRE_OK(meters_open(&meters, FAMILIES, ARRAY_LEN(FAMILIES), &err), err);
    meters_add(meters, 0, (struct str[]){ STR("x"), STR("a\"b\\c\nd") }, 2);
    meters_add(meters, 0, (struct str[]){ STR("x"), STR("a\"b\\c\nd") }, 1.5);
    meters_add(meters, 1, NULL, 0.5);
    meters_add(meters, 1, NULL, 0.75);
    meters_add(meters, 1, NULL, 9);
    CHECK_STR(text_of(meters, &arena),
              STR("# HELP a_total Things.\n# TYPE a_total counter\n"
                  "a_total{who=\"x\",what=\"a\\\"b\\\\c\\nd\"} 3.5\n"
                  "# HELP b_seconds How long.\n# TYPE b_seconds histogram\n"
                  "b_seconds_bucket{le=\"0.5\"} 1\nb_seconds_bucket{le=\"1\"} 2\n"
                  "b_seconds_bucket{le=\"+Inf\"} 3\nb_seconds_sum 10.25\nb_seconds_count 3\n"),
              "the text");
    meters_close(meters);
    meters_add(NULL, 0, NULL, 1);
    arena_release(&arena);
}

TEST(a_family_has_a_bounded_number_of_series_and_loses_no_count)
{
    struct meters *meters;
    struct error err = { 0 };
    struct arena arena;
    struct str text;
    char name[32];

    arena_init(&arena, 4 << 20);
    REQUIRE_OK(meters_open(&meters, FAMILIES, ARRAY_LEN(FAMILIES), &err), err);
    for (int i = 0; i < METER_SERIES_MAX + 50; i++) {
        (void)snprintf(name, sizeof(name), "source%d", i);
        meters_add(meters, 0, (struct str[]){ str_of(name), STR("w") }, 1);
    }
    meters_add(meters, 0, (struct str[]){ STR("source0"), STR("w") }, 1);
    text = text_of(meters, &arena);
    CHECK(str_find(text, STR("{who=\"source0\",what=\"w\"} 2\n")) < text.len,
          "known ones count on");
    CHECK(str_find(text, STR("{who=\"source199\",what=\"w\"} 1\n")) < text.len,
          "the last of its own");
    CHECK(str_find(text, STR("source200")) == text.len, "beyond the bound");
    CHECK(str_find(text, STR("{who=\"other\",what=\"other\"} 50\n")) < text.len,
          "the rest together");
    meters_close(meters);
    arena_release(&arena);
}

TEST(a_gauge_that_is_filled_again_forgets_what_it_had)
{
    struct meters *meters;
    struct error err = { 0 };
    struct arena arena;

    arena_init(&arena, 4 << 20);
    REQUIRE_OK(meters_open(&meters, FAMILIES, ARRAY_LEN(FAMILIES), &err), err);
    meters_add(meters, 2, NULL, 4);
    meters_clear(meters, 2);
    CHECK_STR(text_of(meters, &arena), STR(""), "nothing");
    meters_add(meters, 2, NULL, 3);
    CHECK_STR(text_of(meters, &arena), STR("# HELP never Not seen.\n# TYPE never gauge\nnever 3\n"),
              "what came since");
    meters_clear(NULL, 2);
    meters_close(meters);
    arena_release(&arena);
}
