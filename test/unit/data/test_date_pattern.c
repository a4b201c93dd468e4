/* Patterns of dates: how they write an instant, and which are faults. */
#include "data/date_pattern.h"

#include "base/instant.h"
#include "test.h"

/* 2001-09-05T08:03:06.012345Z, a Wednesday; and the first moment of the calendar, a Saturday. */
static const int64_t AT_US = INT64_C(999676986012345);

static struct str write_at(struct arena *arena, const char *pattern, int64_t at_us)
{
    struct buf out;
    struct error err;

    REQUIRE_OK(date_pattern_check(str_of(pattern), &err), err);
    buf_init(&out, arena, 1000);
    date_pattern_write(&out, str_of(pattern), at_us);
    REQUIRE_OK(buf_ok(&out, &err), err);
    return buf_str(&out);
}

TEST(date_pattern_writes_every_field)
{
    static const struct {
        const char *pattern;
        const char *text;
    } cases[] = {
        { "yyyy-MM-dd", "2001-09-05" },
        { "yyyy/MM/dd", "2001/09/05" },
        { "yyyy/MM/dd HH:mm", "2001/09/05 08:03" },
        { "yyyy-MM-dd'T'HH:mm:ss'Z'", "2001-09-05T08:03:06Z" },
        { "yyyy-MM-dd'T'HH:mm:ss.SSSX", "2001-09-05T08:03:06.012Z" },
        { "yyyyMMddHHmm", "200109050803" },
        { "EEE, dd MMM yyyy HH:mm:ss 'GMT'", "Wed, 05 Sep 2001 08:03:06 GMT" },
        { "yy M d H m s", "01 9 5 8 3 6" },
        { "S SS SSSSSS", "0 01 012345" },
        { "'o''clock' '' ''''", "o'clock ' ''" },
    };
    struct arena arena;

    arena_init(&arena, 10000);
    for (size_t i = 0; i < ARRAY_LEN(cases); i++)
        CHECK_STR(write_at(&arena, cases[i].pattern, AT_US), str_of(cases[i].text),
                  cases[i].pattern);
    CHECK_STR(write_at(&arena, "EEE yyyy-MM-dd yy S", INSTANT_MIN), STR("Sat 0000-01-01 00 0"),
              "the least instant");
    CHECK_STR(write_at(&arena, "EEE yyyy-MM-dd SSSSSS", INSTANT_MAX), STR("Fri 9999-12-31 999999"),
              "the greatest instant");
    arena_release(&arena);
}

TEST(date_pattern_faults_are_told_with_their_offset)
{
    static const struct {
        const char *pattern;
        const char *offset;
    } cases[] = {
        { "[yyyy TO", "offset 6" },   { "yyy", "offset 0" },     { "yyyyy", "offset 0" },
        { "yyyy-mm-DD", "offset 8" }, { "HH 'h", "offset 3" },   { "'''", "offset 2" },
        { "yyyyTHH", "offset 4" },    { "SSSSSSS", "offset 0" }, { "", "empty" },
    };

    for (size_t i = 0; i < ARRAY_LEN(cases); i++) {
        struct error err = { 0 };

        CHECK(!date_pattern_check(str_of(cases[i].pattern), &err), cases[i].pattern);
        CHECK_STR(str_of(err.code), STR("date.pattern"), cases[i].pattern);
        CHECK(str_find(str_of(err.text), str_of(cases[i].offset)) < str_of(err.text).len, err.text);
    }
}
