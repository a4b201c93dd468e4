/* Tests: ticks of schedules, and that each fires once. */
#include "core/schedule.h"

#include "base/instant.h"
#include "random.h"
#include "test.h"

#define M US_PER_MINUTE

static struct schedule every(int64_t us)
{
    return (struct schedule){ .kind = SCHEDULE_EVERY, .every_us = us };
}

static struct schedule by_cron(const char *line)
{
    struct schedule schedule = { .kind = SCHEDULE_CRON };
    struct error err;
    size_t fault_at;

    REQUIRE_OK(cron_parse(str_of(line), &schedule.cron, &fault_at, &err), err);
    return schedule;
}

TEST(ticks_belong_to_the_calendar_and_not_to_a_process)
{
    const struct schedule schedule = every(15 * M);
    int64_t tick_us;

    REQUIRE(schedule_next(&schedule, 0, &tick_us), "there is one");
    CHECK_EQ(tick_us, 15 * M, "after a tick, the next");
    REQUIRE(schedule_next(&schedule, 15 * M - 1, &tick_us), "there is one");
    CHECK_EQ(tick_us, 15 * M, "just before");
    REQUIRE(schedule_next(&schedule, -1, &tick_us), "there is one");
    CHECK_EQ(tick_us, 0, "before 1970 as well");
}

TEST(missed_ticks_collapse_into_one)
{
    const struct {
        const char *label;
        struct schedule schedule;
        int64_t last_us, now_us;
        bool is_due;
        int64_t tick_us;
    } rows[] = {
        { "not yet", every(15 * M), 15 * M, 30 * M - 1, false, 15 * M },
        { "on the tick", every(15 * M), 15 * M, 30 * M, true, 30 * M },
        { "late", every(15 * M), 15 * M, 44 * M, true, 30 * M },
        { "three missed", every(15 * M), 15 * M, 61 * M, true, 60 * M },
        { "already fired", every(15 * M), 60 * M, 61 * M, false, 60 * M },
        { "the clock went back", every(15 * M), 60 * M, 31 * M, false, 30 * M },
        { "came into force between ticks", every(15 * M), 16 * M, 29 * M, false, 15 * M },
        { "cron, missed for days", by_cron("0 * * * *"), 0, 3 * US_PER_DAY + 7 * M, true,
          3 * US_PER_DAY },
        { "cron, already fired", by_cron("0 * * * *"), 60 * M, 119 * M, false, 60 * M },
    };

    for (size_t i = 0; i < ARRAY_LEN(rows); i++) {
        int64_t tick_us = -1;

        CHECK_EQ(schedule_due(&rows[i].schedule, rows[i].last_us, rows[i].now_us, &tick_us),
                 rows[i].is_due, rows[i].label);
        CHECK_EQ(tick_us, rows[i].tick_us, rows[i].label);
    }
}

/* Two servers that look at different moments, with restarts: every tick they fire is a tick, none
 * is fired twice under its identity, and the latest passed one is always fired in the end. */
TEST(servers_that_look_at_random_agree_on_the_ticks)
{
    const struct schedule schedules[] = { every(7 * M), by_cron("*/5 3-20 * * *") };
    struct random random = { 13 };

    for (int round = 0; round < 400; round++) {
        const struct schedule *schedule = &schedules[round % 2];
        int64_t last_us = 0, now_us = 0, latest_us = 0, tick_us;

        while (now_us < 3 * US_PER_DAY) {
            now_us += random_between(&random, 1, 40 * M);
            if (!schedule_due(schedule, last_us, now_us, &tick_us))
                continue;
            CHECK(tick_us > last_us && tick_us <= now_us, "one that has passed, and a new one");
            REQUIRE(schedule_next(schedule, tick_us - 1, &latest_us), "there is one");
            CHECK_EQ(latest_us, tick_us, "a tick of the schedule");
            REQUIRE(schedule_next(schedule, tick_us, &latest_us), "there is one");
            CHECK(latest_us > now_us, "the latest");
            last_us = tick_us;
            CHECK(!schedule_due(schedule, last_us, now_us, &tick_us), "fired once");
        }
    }
}
