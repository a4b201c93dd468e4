/* What a reading of the clock means beside the mark of a store. */
#include "core/clock_jump.h"

#include "test.h"

#define NOON INT64_C(1760000000000000)
#define DAY US_PER_DAY
#define HOUR US_PER_HOUR
#define MINUTE US_PER_MINUTE

static const struct {
    const char *label;
    struct clock_mark mark;
    struct clock_reading reading;
    enum clock_jump jump;
    int64_t by_us;
    int64_t now_us;
} cases[] = {
    { "a new store believes anything", { 0 }, { NOON, HOUR }, CLOCK_STEADY, 0, NOON },
    { "two hours later",
      { true, NOON, true, HOUR },
      { NOON + 2 * HOUR, 3 * HOUR },
      CLOCK_STEADY,
      0,
      NOON + 2 * HOUR },
    { "a step of seconds ahead is followed",
      { true, NOON, true, HOUR },
      { NOON + HOUR + MINUTE, 2 * HOUR },
      CLOCK_STEADY,
      0,
      NOON + HOUR + MINUTE },
    { "a small step back: what was written at the mark is not in the future",
      { true, NOON, true, HOUR },
      { NOON - MINUTE, HOUR },
      CLOCK_STEADY,
      0,
      NOON },
    { "... and the time goes on at half its speed",
      { true, NOON, true, HOUR },
      { NOON, HOUR + MINUTE },
      CLOCK_STEADY,
      0,
      NOON + MINUTE / 2 },
    { "... until the calendar has caught up",
      { true, NOON, true, HOUR },
      { NOON + 2 * MINUTE, HOUR + 3 * MINUTE },
      CLOCK_STEADY,
      0,
      NOON + 2 * MINUTE },
    { "another start of the host, a little before the mark: the time stands still",
      { true, NOON, false, HOUR },
      { NOON - MINUTE, MINUTE },
      CLOCK_STEADY,
      0,
      NOON },
    { "two days ahead: the time goes on from the mark",
      { true, NOON, true, HOUR },
      { NOON + 2 * DAY + HOUR, 2 * HOUR },
      CLOCK_AHEAD,
      2 * DAY,
      NOON + HOUR },
    { "two days back",
      { true, NOON, true, HOUR },
      { NOON - 2 * DAY + HOUR, 2 * HOUR },
      CLOCK_BEHIND,
      2 * DAY,
      NOON - 2 * DAY + HOUR },
    { "back, but later than the mark: it was ahead then",
      { true, NOON, true, HOUR },
      { NOON + DAY, 3 * DAY + HOUR },
      CLOCK_BEHIND,
      2 * DAY,
      NOON + DAY },
    { "another start of the host: how much time has passed is not known",
      { true, NOON, false, HOUR },
      { NOON + 30 * DAY, MINUTE },
      CLOCK_STEADY,
      0,
      NOON + 30 * DAY },
    { "another start, before the mark",
      { true, NOON, false, HOUR },
      { NOON - DAY, MINUTE },
      CLOCK_BEHIND,
      DAY,
      NOON - DAY },
    { "unused for a year: a calendar drifts against the time since the start",
      { true, NOON, true, HOUR },
      { NOON + 365 * DAY + HOUR, 365 * DAY + HOUR },
      CLOCK_STEADY,
      0,
      NOON + 365 * DAY + HOUR },
};

TEST(a_clock_is_steady_ahead_or_behind)
{
    for (size_t i = 0; i < ARRAY_LEN(cases); i++) {
        const struct clock_finding found = clock_jump_find(&cases[i].mark, &cases[i].reading);

        CHECK_EQ(found.jump, cases[i].jump, cases[i].label);
        CHECK_EQ(found.by_us, cases[i].by_us, cases[i].label);
        CHECK_EQ(found.now_us, cases[i].now_us, cases[i].label);
    }
}
