/* Tests: cron lines: tables of ticks and faults, and a model that checks minute by minute. */
#include "core/cron.h"

#include <stdio.h>

#include "base/instant.h"
#include "random.h"
#include "test.h"

static struct cron parsed(const char *line)
{
    struct cron cron = { 0 };
    struct error err;
    size_t fault_at;

    REQUIRE_OK(cron_parse(str_of(line), &cron, &fault_at, &err), err);
    return cron;
}

static int64_t at(int year, int month, int day, int hour, int minute)
{
    return instant_from_civil((struct civil){ year, month, day, hour, minute, 0, 0 });
}

TEST(next_ticks_by_hand)
{
    const struct {
        const char *line;
        int64_t after_us, next_us;
    } rows[] = {
        { "* * * * *", at(2026, 1, 1, 0, 0), at(2026, 1, 1, 0, 1) },
        { "* * * * *", at(2026, 1, 1, 0, 0) - 1, at(2026, 1, 1, 0, 0) },
        { "@hourly", at(2026, 1, 1, 0, 0) + 1, at(2026, 1, 1, 1, 0) },
        { "@daily", at(2025, 12, 31, 23, 59), at(2026, 1, 1, 0, 0) },
        { "@midnight", at(2024, 2, 28, 12, 0), at(2024, 2, 29, 0, 0) },
        { "@weekly", at(2026, 8, 3, 0, 0), at(2026, 8, 9, 0, 0) }, /* Sundays */
        { "@monthly", at(2024, 2, 1, 0, 0), at(2024, 3, 1, 0, 0) },
        { "@yearly", at(2026, 1, 1, 0, 0), at(2027, 1, 1, 0, 0) },
        { "@annually", at(2026, 5, 1, 0, 0), at(2027, 1, 1, 0, 0) },
        { "@Daily ", at(2026, 1, 1, 0, 0), at(2026, 1, 2, 0, 0) },
        { "0 0 29 2 *", at(2024, 2, 29, 0, 0), at(2028, 2, 29, 0, 0) },
        { "0 0 29 2 *", at(2096, 3, 1, 0, 0), at(2104, 2, 29, 0, 0) }, /* 2100 has none */
        { "0 0 31 * *", at(2026, 4, 1, 0, 0), at(2026, 5, 31, 0, 0) },
        { "30 6 * * MON-FRI", at(2026, 8, 7, 6, 30), at(2026, 8, 10, 6, 30) },
        { "30 6 * * fri-sun", at(2026, 8, 10, 0, 0), at(2026, 8, 14, 6, 30) },
        { "0 12 * * 7", at(2026, 8, 3, 0, 0), at(2026, 8, 9, 12, 0) },
        { "0 12 * * 0", at(2026, 8, 3, 0, 0), at(2026, 8, 9, 12, 0) },
        { "10-50/20 22 1 JAN,jul *", at(2026, 1, 1, 22, 30), at(2026, 1, 1, 22, 50) },
        { "10-50/20 22 1 JAN,jul *", at(2026, 1, 1, 22, 50), at(2026, 7, 1, 22, 10) },
        { "*/25 * * * *", at(2026, 1, 1, 0, 50), at(2026, 1, 1, 1, 0) },
        /* both days given: the 13th, or a Friday */
        { "0 0 13 * FRI", at(2026, 8, 1, 0, 0), at(2026, 8, 7, 0, 0) },
        { "0 0 13 * FRI", at(2026, 8, 7, 0, 0), at(2026, 8, 13, 0, 0) },
        { "0 0 13 * FRI", at(2026, 8, 13, 0, 0), at(2026, 8, 14, 0, 0) },
        /* a star with a step is still a star: Mondays on odd days */
        { "0 0 */2 * MON", at(2026, 8, 3, 0, 0), at(2026, 8, 17, 0, 0) },
        { "\t 0  0\t1 1 * ", at(2026, 1, 1, 0, 0), at(2027, 1, 1, 0, 0) },
        { "0 0 1 1 *", at(1965, 3, 1, 0, 0), at(1966, 1, 1, 0, 0) },
    };

    for (size_t i = 0; i < ARRAY_LEN(rows); i++) {
        const struct cron cron = parsed(rows[i].line);
        int64_t tick_us = 0;

        CHECK(cron_next(&cron, rows[i].after_us, &tick_us), rows[i].line);
        CHECK_EQ(tick_us, rows[i].next_us, rows[i].line);
        CHECK(cron_last(&cron, rows[i].next_us, &tick_us), rows[i].line);
        CHECK_EQ(tick_us, rows[i].next_us, "the last tick not after a tick is itself");
    }
}

TEST(faults_point_at_their_place_and_give_a_hint)
{
    const struct {
        const char *line;
        size_t at;
        const char *text;
    } rows[] = {
        { "", 0, "too few fields" },
        { "   ", 3, "too few fields" },
        { "0 0 * *", 7, "too few fields" },
        { "0 0 * * * *", 10, "too many fields" },
        { "60 0 * * *", 0, "minute is out of range" },
        { "0 24 * * *", 2, "hour is out of range" },
        { "0 0 0 * *", 4, "day of month is out of range" },
        { "0 0 32 * *", 4, "day of month is out of range" },
        { "0 0 * 13 *", 6, "month is out of range" },
        { "0 0 * * 8", 8, "day of week is out of range" },
        { "0 0 * * MOO", 8, "day of week has an unknown name" },
        { "0 0 * MON *", 6, "month has an unknown name" },
        { "MON 0 * * *", 0, "minute has an unknown name" },
        { "0,x 0 * * *", 2, "minute has an unknown name" },
        { "0, 0 * * *", 2, "minute lacks a value" },
        { "1- 0 * * *", 2, "minute lacks a value" },
        { "*/ 0 * * *", 2, "minute lacks a value" },
        { "-1 0 * * *", 0, "minute lacks a value" },
        { "5/15 * * * *", 1, "a step needs a range" },
        { "*/0 * * * *", 1, "a step of 0" },
        { "0 22-4 * * *", 2, "22-23,0-4" },
        { "0 0 * * ?", 8, "not a cron field" },
        { "0 0 L * *", 4, "not a cron field" },
        { "0 0 * * 5#2", 9, "day of week is followed by something else" },
        { "99999999999 0 * * *", 0, "minute is too large" },
        { "0 0 30 2 *", 0, "never fire" },
        { "0 0 31 4,6,9,11 *", 0, "never fire" },
        { "@reboot", 0, "unknown word" },
        { "@", 0, "unknown word" },
        { "0 0 * * *\n", 9, "day of week is followed by something else" },
    };

    for (size_t i = 0; i < ARRAY_LEN(rows); i++) {
        struct cron cron;
        struct error err = { .text = "" };
        size_t fault_at = SIZE_MAX;

        CHECK(!cron_parse(str_of(rows[i].line), &cron, &fault_at, &err), rows[i].line);
        CHECK_EQ(fault_at, rows[i].at, rows[i].line);
        if (str_find(str_of(err.text), str_of(rows[i].text)) == str_of(err.text).len)
            test_fail(__FILE__, __LINE__, "%s: %s", rows[i].line, err.text);
    }
}

/* ---- compared with a model that checks minute by minute ---- */

/* An independent parser: does the text allow this value? */
static bool allows(const char *field, int value)
{
    for (const char *part = field; *part != '\0'; part += *part == ',') {
        int from = 0, to = 0, step = 1, used = 0;

        if (*part == '*')
            return true; /* the lines below have no star with a step */
        if (sscanf(part, "%d-%d%n", &from, &to, &used) != 2) {
            (void)sscanf(part, "%d%n", &from, &used);
            to = from;
        }
        part += used;
        if (*part == '/') {
            (void)sscanf(part + 1, "%d%n", &step, &used);
            part += 1 + used;
        }
        if (value >= from && value <= to && (value - from) % step == 0)
            return true;
    }
    return false;
}

struct line {
    char fields[5][32];
    char text[200];
};

static void random_field(struct random *random, char *out, int min, int max)
{
    int len = 0;

    if (random_chance(random, 40)) {
        (void)snprintf(out, 32, "*");
        return;
    }
    for (int64_t i = 0, n = random_between(random, 1, 4); i < n; i++) {
        const int from = (int)random_between(random, min, max + 1);
        const int to = (int)random_between(random, from, max + 1);

        if (random_chance(random, 60))
            len += snprintf(out + len, (size_t)(32 - len), "%s%d", i > 0 ? "," : "", from);
        else if (random_chance(random, 50))
            len += snprintf(out + len, (size_t)(32 - len), "%s%d-%d", i > 0 ? "," : "", from, to);
        else
            len += snprintf(out + len, (size_t)(32 - len), "%s%d-%d/%d", i > 0 ? "," : "", from, to,
                            (int)random_between(random, 1, 9));
    }
}

static struct line random_line(struct random *random)
{
    static const int ranges[5][2] = { { 0, 59 }, { 0, 23 }, { 1, 31 }, { 1, 12 }, { 0, 7 } };
    struct line line;

    for (int i = 0; i < 5; i++)
        random_field(random, line.fields[i], ranges[i][0], ranges[i][1]);
    (void)snprintf(line.text, sizeof(line.text), "%s %s %s %s %s", line.fields[0], line.fields[1],
                   line.fields[2], line.fields[3], line.fields[4]);
    return line;
}

/* What the text says about every day of the week and month, and about every minute of a day. */
struct reading {
    bool minutes[24 * 60];
    bool days[32], months[13], weekdays[7];
    bool is_either; /* both kinds of day are given */
};

static struct reading read_line(const struct line *line)
{
    struct reading r = { .is_either = line->fields[2][0] != '*' && line->fields[4][0] != '*' };

    for (int i = 0; i < 24 * 60; i++)
        r.minutes[i] = allows(line->fields[0], i % 60) && allows(line->fields[1], i / 60);
    for (int i = 1; i <= 31; i++)
        r.days[i] = allows(line->fields[2], i);
    for (int i = 1; i <= 12; i++)
        r.months[i] = allows(line->fields[3], i);
    for (int i = 0; i < 7; i++)
        r.weekdays[i] = allows(line->fields[4], i) || (i == 0 && allows(line->fields[4], 7));
    return r;
}

static bool reads_as_day(const struct reading *r, int64_t day_us)
{
    const struct civil c = instant_to_civil(day_us);
    const bool by_weekday = r->weekdays[(instant_weekday(day_us) + 1) % 7];

    return r->months[c.month] &&
           (r->is_either ? r->days[c.day] || by_weekday : r->days[c.day] && by_weekday);
}

/* Walks all minutes of a span; every tick must be the one that cron_next() gave before. */
static int64_t compare(const struct line *line, const struct cron *cron, int64_t from_us,
                       int64_t to_us)
{
    const struct reading reading = read_line(line);
    int64_t next_us = 0, last_us = 0, ticks = 0;

    (void)cron_next(cron, from_us - 1, &next_us);
    for (int64_t at_us = from_us; at_us < to_us; at_us += US_PER_MINUTE) {
        const int64_t day_us = instant_day_number(at_us) * US_PER_DAY;
        const bool is_tick =
            reading.minutes[(at_us - day_us) / US_PER_MINUTE] && reads_as_day(&reading, day_us);

        if (is_tick != (next_us == at_us)) {
            test_fail(__FILE__, __LINE__, "%s: at %" PRId64 ", %s", line->text, at_us,
                      is_tick ? "a tick is missing" : "a tick too many");
            return ticks;
        }
        if (!is_tick)
            continue;
        CHECK(cron_last(cron, at_us + US_PER_MINUTE - 1, &last_us), line->text);
        CHECK_EQ(last_us, at_us, line->text);
        (void)cron_next(cron, at_us, &next_us);
        ticks++;
    }
    return ticks;
}

TEST(ticks_are_those_of_a_walk_through_every_minute)
{
    struct random random = { 11 };
    int lines = 0;
    int64_t ticks = 0;

    while (lines < 150) {
        const struct line line = random_line(&random);
        /* A short span anywhere in four years, leap days included; now and then all of them. */
        const int64_t from_us =
            at(2023, 12, 28, 0, 0) + random_between(&random, 0, 1500) * US_PER_DAY;
        const int64_t days = lines % 50 == 0 ? 1530 : 70;
        struct cron cron;
        struct error err;
        size_t fault_at;

        if (!cron_parse(str_of(line.text), &cron, &fault_at, &err)) {
            CHECK(str_find(str_of(err.text), STR("never")) < str_of(err.text).len, err.text);
            continue;
        }
        lines++;
        ticks += compare(&line, &cron, from_us, from_us + days * US_PER_DAY);
    }
    test_note("%d random lines, %" PRId64 " ticks compared", lines, ticks);
}

/* The rare ones need years. */
TEST(leap_days_by_a_walk_through_eighteen_years)
{
    const struct line line = { { "7", "5", "29", "2", "*" }, "7 5 29 2 *" };
    const struct cron cron = parsed(line.text);

    CHECK_EQ(compare(&line, &cron, at(2092, 1, 1, 0, 0), at(2110, 1, 1, 0, 0)), 4,
             "one in four years, none in 2100");
}

TEST(last_is_the_inverse_of_next)
{
    struct random random = { 12 };

    for (int i = 0; i < 3000; i++) {
        const struct line line = random_line(&random);
        const int64_t moment_us =
            random_between(&random, at(1950, 1, 1, 0, 0), at(2150, 1, 1, 0, 0));
        struct cron cron;
        struct error err;
        size_t fault_at;
        int64_t next_us = 0, last_us = 0, again_us = 0;

        if (!cron_parse(str_of(line.text), &cron, &fault_at, &err))
            continue;
        CHECK(cron_next(&cron, moment_us, &next_us), line.text);
        CHECK(cron_last(&cron, moment_us, &last_us), line.text);
        CHECK(last_us <= moment_us && moment_us < next_us, line.text);
        CHECK(cron_next(&cron, last_us, &again_us), line.text);
        CHECK_EQ(again_us, next_us, "nothing between the two");
    }
}

TEST(ticks_end_with_the_calendar)
{
    const struct cron cron = parsed("@yearly");
    int64_t tick_us;

    CHECK(!cron_next(&cron, INSTANT_MAX - US_PER_DAY, &tick_us), "no year 10000");
    CHECK(cron_last(&cron, INSTANT_MIN, &tick_us), "the first instant is a New Year");
}
