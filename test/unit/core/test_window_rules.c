/* A table per paragraph of the window rules; each row names the rule it checks. */
#include "core/window_decision.h"

#include "base/instant.h"
#include "test.h"
#include "window_times.h"

struct row { /* members not named are absent, and the window is not empty */
    const char *rule;
    struct maybe_instant user_from, user_to, cursor, forward;
    struct {
        int64_t at_us;
        enum window_rule rule;
    } from, to;
    enum window_empty empty;
};

static struct window_request request_of(const struct row *row, enum operation operation)
{
    return (struct window_request){
        .operation = operation,
        .now_us = NOW,
        .user_from = row->user_from,
        .user_to = row->user_to,
        .cursor = row->cursor,
        .forward = row->forward,
        .lag_us = LAG,
        .lookback_us = LOOKBACK,
        .size_us = SIZE,
    };
}

static void check(const struct row *row, const struct window_request *request)
{
    const struct window_decision d = window_decide(request);

    CHECK_EQ(d.empty, row->empty, row->rule);
    CHECK_EQ(d.from.rule, row->from.rule, row->rule);
    CHECK_EQ(d.to.rule, row->to.rule, row->rule);
    CHECK_EQ(d.from.at_us, row->from.at_us, row->rule);
    CHECK_EQ(d.to.at_us, row->to.at_us, row->rule);
    if (row->empty == WINDOW_EMPTY_NOT) {
        CHECK_EQ(d.window.from_us, row->from.at_us, row->rule);
        CHECK_EQ(d.window.to_us, row->to.at_us, row->rule);
    } else {
        CHECK(row->from.at_us >= row->to.at_us, row->rule); /* the row itself makes sense */
    }
}

TEST(the_constants_of_the_tables_are_the_dates_they_claim)
{
    char text[INSTANT_TEXT_MAX];
    const size_t len = instant_format(NOW, text);

    CHECK_STR(((struct str){ text, len }), STR("2026-03-10T12:00:00Z"), "NOW");
    CHECK_EQ(instant_weekday(NOW), 1, "a Tuesday");
}

/* ---- HARVEST ---- */

static const struct row HARVEST_ROWS[] = {
    { .rule = "3.2.1 to = now - lag when the user gives none",
      .cursor = AT(NOW - 2 * D),
      .from = { NOW - 2 * D - LOOKBACK, WINDOW_RULE_CURSOR_LOOKBACK },
      .to = { SAFE, WINDOW_RULE_NOW_LAG } },
    { .rule = "3.2.1 to = user.to when it is earlier",
      .user_to = AT(NOW - D),
      .cursor = AT(NOW - 2 * D),
      .from = { NOW - 2 * D - LOOKBACK, WINDOW_RULE_CURSOR_LOOKBACK },
      .to = { NOW - D, WINDOW_RULE_USER_TO } },
    { .rule = "3.2.1 user.to in the future is cut to now - lag",
      .user_to = AT(NOW + 9 * D),
      .cursor = AT(NOW - 2 * D),
      .from = { NOW - 2 * D - LOOKBACK, WINDOW_RULE_CURSOR_LOOKBACK },
      .to = { SAFE, WINDOW_RULE_NOW_LAG } },
    { .rule = "3.2.1 user.to inside the lag is cut too",
      .user_to = AT(NOW - 1),
      .cursor = AT(NOW - 2 * D),
      .from = { NOW - 2 * D - LOOKBACK, WINDOW_RULE_CURSOR_LOOKBACK },
      .to = { SAFE, WINDOW_RULE_NOW_LAG } },
    { .rule = "3.2.2 from = cursor - lookback",
      .cursor = AT(NOW - D),
      .from = { NOW - D - LOOKBACK, WINDOW_RULE_CURSOR_LOOKBACK },
      .to = { SAFE, WINDOW_RULE_NOW_LAG } },
    { .rule = "3.2.2 a later user.from wins over the cursor",
      .user_from = AT(NOW - D),
      .cursor = AT(NOW - 3 * D),
      .from = { NOW - D, WINDOW_RULE_USER_FROM },
      .to = { SAFE, WINDOW_RULE_NOW_LAG } },
    { .rule = "3.2.2 an earlier user.from does not reach before cursor - lookback",
      .user_from = AT(NOW - 90 * D),
      .cursor = AT(NOW - 3 * D),
      .from = { NOW - 3 * D - LOOKBACK, WINDOW_RULE_CURSOR_LOOKBACK },
      .to = { SAFE, WINDOW_RULE_NOW_LAG } },
    { .rule = "3.2.2 user.from inside the lookback cuts the lookback short",
      .user_from = AT(NOW - 3 * D - H),
      .cursor = AT(NOW - 3 * D),
      .from = { NOW - 3 * D - H, WINDOW_RULE_USER_FROM },
      .to = { SAFE, WINDOW_RULE_NOW_LAG } },
    { .rule = "3.2.2 no cursor: from = user.from",
      .user_from = AT(NOW - 400 * D),
      .from = { NOW - 400 * D, WINDOW_RULE_USER_FROM },
      .to = { SAFE, WINDOW_RULE_NOW_LAG } },
    { .rule = "3.2.2 no cursor, no user.from: one window back from now - lag",
      .from = { SAFE - SIZE, WINDOW_RULE_DEFAULT_SIZE },
      .to = { SAFE, WINDOW_RULE_NOW_LAG } },
    { .rule = "3.2.2 the default goes back from now - lag, not from user.to",
      .user_to = AT(NOW - 2 * D),
      .from = { SAFE - SIZE, WINDOW_RULE_DEFAULT_SIZE },
      .to = { NOW - 2 * D, WINDOW_RULE_USER_TO } },
    { .rule = "3.2.4 user.to before the default lower bound is empty",
      .user_to = AT(NOW - 30 * D),
      .from = { SAFE - SIZE, WINDOW_RULE_DEFAULT_SIZE },
      .to = { NOW - 30 * D, WINDOW_RULE_USER_TO },
      .empty = WINDOW_EMPTY_BEFORE_DEFAULT },
    { .rule = "3.2.4 cursor - lookback = now - lag is empty",
      .cursor = AT(SAFE + LOOKBACK),
      .from = { SAFE, WINDOW_RULE_CURSOR_LOOKBACK },
      .to = { SAFE, WINDOW_RULE_NOW_LAG },
      .empty = WINDOW_EMPTY_NOTHING_NEW },
    { .rule = "3.2.4 one microsecond is a window",
      .cursor = AT(SAFE + LOOKBACK - 1),
      .from = { SAFE - 1, WINDOW_RULE_CURSOR_LOOKBACK },
      .to = { SAFE, WINDOW_RULE_NOW_LAG } },
    { .rule = "3.2.4 user.from = user.to is empty",
      .user_from = AT(NOW - D),
      .user_to = AT(NOW - D),
      .from = { NOW - D, WINDOW_RULE_USER_FROM },
      .to = { NOW - D, WINDOW_RULE_USER_TO },
      .empty = WINDOW_EMPTY_USER_INVERTED },
    { .rule = "3.2.4 user.from after user.to is empty",
      .user_from = AT(NOW - D),
      .user_to = AT(NOW - 2 * D),
      .from = { NOW - D, WINDOW_RULE_USER_FROM },
      .to = { NOW - 2 * D, WINDOW_RULE_USER_TO },
      .empty = WINDOW_EMPTY_USER_INVERTED },
    { .rule = "3.2.4 user window wholly before the cursor is empty",
      .user_from = AT(NOW - 30 * D),
      .user_to = AT(NOW - 20 * D),
      .cursor = AT(NOW - D),
      .from = { NOW - D - LOOKBACK, WINDOW_RULE_CURSOR_LOOKBACK },
      .to = { NOW - 20 * D, WINDOW_RULE_USER_TO },
      .empty = WINDOW_EMPTY_BEFORE_CURSOR },
    { .rule = "3.2.4 user.to inside the lookback leaves the lookback's part",
      .user_from = AT(NOW - 30 * D),
      .user_to = AT(NOW - D - H),
      .cursor = AT(NOW - D),
      .from = { NOW - D - LOOKBACK, WINDOW_RULE_CURSOR_LOOKBACK },
      .to = { NOW - D - H, WINDOW_RULE_USER_TO } },
    { .rule = "3.2.4 user window wholly after the cursor is taken as it is",
      .user_from = AT(NOW - 3 * D),
      .user_to = AT(NOW - 2 * D),
      .cursor = AT(NOW - 9 * D),
      .from = { NOW - 3 * D, WINDOW_RULE_USER_FROM },
      .to = { NOW - 2 * D, WINDOW_RULE_USER_TO } },
    { .rule = "3.2.4 user window in the future is empty",
      .user_from = AT(NOW + D),
      .user_to = AT(NOW + 2 * D),
      .cursor = AT(NOW - D),
      .from = { NOW + D, WINDOW_RULE_USER_FROM },
      .to = { SAFE, WINDOW_RULE_NOW_LAG },
      .empty = WINDOW_EMPTY_FUTURE },
    { .rule = "3 the forward watermark of BACKFILL's anchor is no business of HARVEST",
      .cursor = AT(NOW - D),
      .forward = AT(NOW - 5 * D),
      .from = { NOW - D - LOOKBACK, WINDOW_RULE_CURSOR_LOOKBACK },
      .to = { SAFE, WINDOW_RULE_NOW_LAG } },
};

TEST(harvest_rules_3_2)
{
    for (size_t i = 0; i < ARRAY_LEN(HARVEST_ROWS); i++) {
        const struct window_request request = request_of(&HARVEST_ROWS[i], OPERATION_HARVEST);

        check(&HARVEST_ROWS[i], &request);
    }
}

TEST(harvest_without_lag_and_lookback_3_2)
{
    const struct row row = { .rule = "3.2 absent lag and lookback count as 0",
                             .cursor = AT(NOW - D),
                             .from = { NOW - D, WINDOW_RULE_CURSOR_LOOKBACK },
                             .to = { NOW, WINDOW_RULE_NOW_LAG } };
    struct window_request request = request_of(&row, OPERATION_HARVEST);

    request.lag_us = 0;
    request.lookback_us = 0;
    check(&row, &request);
}

/* ---- CALENDAR ---- */

static int64_t on(int year, int month, int day, int hour, int minute)
{
    return instant_from_civil((struct civil){ year, month, day, hour, minute, 0, 0 });
}

TEST(calendar_rounds_both_bounds_down_3_2_3)
{
    const struct {
        const char *rule;
        enum align_unit unit;
        int64_t cursor_us, now_us, from_us, to_us;
        enum window_empty empty;
    } rows[] = {
        { "minute", ALIGN_MINUTE, on(2026, 3, 9, 1, 2) + 5 * US_PER_SECOND,
          on(2026, 3, 10, 3, 4) + 1, on(2026, 3, 9, 1, 2), on(2026, 3, 10, 3, 4),
          WINDOW_EMPTY_NOT },
        { "hour", ALIGN_HOUR, on(2026, 3, 9, 1, 2), on(2026, 3, 10, 3, 4), on(2026, 3, 9, 1, 0),
          on(2026, 3, 10, 3, 0), WINDOW_EMPTY_NOT },
        { "day", ALIGN_DAY, on(2026, 3, 9, 1, 2), on(2026, 3, 10, 3, 4), on(2026, 3, 9, 0, 0),
          on(2026, 3, 10, 0, 0), WINDOW_EMPTY_NOT },
        { "day over the leap day", ALIGN_DAY, on(2024, 2, 29, 0, 0), on(2024, 3, 1, 5, 0),
          on(2024, 2, 29, 0, 0), on(2024, 3, 1, 0, 0), WINDOW_EMPTY_NOT },
        { "day over the year's end", ALIGN_DAY, on(2025, 12, 31, 23, 59), on(2026, 1, 1, 0, 0),
          on(2025, 12, 31, 0, 0), on(2026, 1, 1, 0, 0), WINDOW_EMPTY_NOT },
        { "week from Monday", ALIGN_WEEK, on(2026, 2, 25, 9, 0), on(2026, 3, 10, 3, 4),
          on(2026, 2, 23, 0, 0), on(2026, 3, 9, 0, 0), WINDOW_EMPTY_NOT },
        { "month with a leap day", ALIGN_MONTH, on(2024, 2, 29, 9, 0), on(2024, 3, 31, 3, 4),
          on(2024, 2, 1, 0, 0), on(2024, 3, 1, 0, 0), WINDOW_EMPTY_NOT },
        { "a day that is not over gives an empty window", ALIGN_DAY, on(2026, 3, 10, 1, 0),
          on(2026, 3, 10, 23, 59), on(2026, 3, 10, 0, 0), on(2026, 3, 10, 0, 0),
          WINDOW_EMPTY_ALIGNED },
        { "aligned bounds stay", ALIGN_DAY, on(2026, 3, 9, 0, 0), on(2026, 3, 10, 0, 0),
          on(2026, 3, 9, 0, 0), on(2026, 3, 10, 0, 0), WINDOW_EMPTY_NOT },
    };

    for (size_t i = 0; i < ARRAY_LEN(rows); i++) {
        const struct window_request request = {
            .operation = OPERATION_HARVEST,
            .now_us = rows[i].now_us,
            .cursor = AT(rows[i].cursor_us),
            .size_us = SIZE,
            .mode = WINDOW_CALENDAR,
            .align = rows[i].unit,
        };
        const struct window_decision d = window_decide(&request);

        CHECK_EQ(d.empty, rows[i].empty, rows[i].rule);
        CHECK_EQ(d.from.at_us, rows[i].from_us, rows[i].rule);
        CHECK_EQ(d.to.at_us, rows[i].to_us, rows[i].rule);
        CHECK_EQ(d.from.candidate_us, rows[i].cursor_us, "what was aligned is kept for audit");
    }
}

TEST(sliding_windows_are_not_aligned_3_2_3)
{
    const struct window_request request = { .operation = OPERATION_HARVEST,
                                            .now_us = NOW + 7,
                                            .cursor = AT(NOW - D + 3),
                                            .size_us = SIZE,
                                            .mode = WINDOW_SLIDING,
                                            .align = ALIGN_DAY };
    const struct window_decision d = window_decide(&request);

    CHECK_EQ(d.window.from_us, NOW - D + 3, "from as it is");
    CHECK_EQ(d.window.to_us, NOW + 7, "to as it is");
}

/* ---- BACKFILL ---- */

static const struct row BACKFILL_ROWS[] = {
    { .rule = "4.2.1 the forward watermark is the upper anchor",
      .user_from = AT(NOW - 90 * D),
      .forward = AT(NOW - 3 * D),
      .from = { NOW - 90 * D, WINDOW_RULE_USER_FROM },
      .to = { NOW - 3 * D, WINDOW_RULE_FORWARD } },
    { .rule = "4.2.1 user.to below the anchor wins",
      .user_from = AT(NOW - 90 * D),
      .user_to = AT(NOW - 60 * D),
      .forward = AT(NOW - 3 * D),
      .from = { NOW - 90 * D, WINDOW_RULE_USER_FROM },
      .to = { NOW - 60 * D, WINDOW_RULE_USER_TO } },
    { .rule = "4.2.1 user.to beyond the forward watermark is cut to it",
      .user_from = AT(NOW - 90 * D),
      .user_to = AT(NOW - D),
      .forward = AT(NOW - 3 * D),
      .from = { NOW - 90 * D, WINDOW_RULE_USER_FROM },
      .to = { NOW - 3 * D, WINDOW_RULE_FORWARD } },
    { .rule = "4.2.1 user.to that touches the forward watermark stays",
      .user_from = AT(NOW - 90 * D),
      .user_to = AT(NOW - 3 * D),
      .forward = AT(NOW - 3 * D),
      .from = { NOW - 90 * D, WINDOW_RULE_USER_FROM },
      .to = { NOW - 3 * D, WINDOW_RULE_FORWARD } },
    { .rule = "4.2.1 without a forward watermark now - lag is the anchor",
      .user_from = AT(NOW - 90 * D),
      .from = { NOW - 90 * D, WINDOW_RULE_USER_FROM },
      .to = { SAFE, WINDOW_RULE_NOW_LAG } },
    { .rule = "4.2.1 a forward watermark after now - lag does not lift the anchor",
      .user_from = AT(NOW - 90 * D),
      .forward = AT(NOW + D),
      .from = { NOW - 90 * D, WINDOW_RULE_USER_FROM },
      .to = { SAFE, WINDOW_RULE_NOW_LAG } },
    { .rule = "4.2.2 from = the campaign's cursor, without lookback",
      .cursor = AT(NOW - 50 * D),
      .forward = AT(NOW - 3 * D),
      .from = { NOW - 50 * D, WINDOW_RULE_CURSOR },
      .to = { NOW - 3 * D, WINDOW_RULE_FORWARD } },
    { .rule = "4.2.2 a later user.from wins over the cursor",
      .user_from = AT(NOW - 20 * D),
      .cursor = AT(NOW - 50 * D),
      .forward = AT(NOW - 3 * D),
      .from = { NOW - 20 * D, WINDOW_RULE_USER_FROM },
      .to = { NOW - 3 * D, WINDOW_RULE_FORWARD } },
    { .rule = "4.2.2 an earlier user.from does not reach before the cursor",
      .user_from = AT(NOW - 90 * D),
      .cursor = AT(NOW - 50 * D),
      .forward = AT(NOW - 3 * D),
      .from = { NOW - 50 * D, WINDOW_RULE_CURSOR },
      .to = { NOW - 3 * D, WINDOW_RULE_FORWARD } },
    { .rule = "4.2.2 neither: one window back from the anchor",
      .forward = AT(NOW - 3 * D),
      .from = { NOW - 3 * D - SIZE, WINDOW_RULE_DEFAULT_SIZE },
      .to = { NOW - 3 * D, WINDOW_RULE_FORWARD } },
    { .rule = "4.2.2 neither, with user.to: one window back from user.to",
      .user_to = AT(NOW - 60 * D),
      .forward = AT(NOW - 3 * D),
      .from = { NOW - 60 * D - SIZE, WINDOW_RULE_DEFAULT_SIZE },
      .to = { NOW - 60 * D, WINDOW_RULE_USER_TO } },
    { .rule = "4.2.3 user.from beyond the anchor is drawn to it, and the window is empty",
      .user_from = AT(NOW - D),
      .forward = AT(NOW - 3 * D),
      .from = { NOW - 3 * D, WINDOW_RULE_UPPER_ANCHOR },
      .to = { NOW - 3 * D, WINDOW_RULE_FORWARD },
      .empty = WINDOW_EMPTY_AFTER_FORWARD },
    { .rule = "4.2.3 user.from on the anchor is empty",
      .user_from = AT(NOW - 3 * D),
      .forward = AT(NOW - 3 * D),
      .from = { NOW - 3 * D, WINDOW_RULE_USER_FROM },
      .to = { NOW - 3 * D, WINDOW_RULE_FORWARD },
      .empty = WINDOW_EMPTY_AFTER_FORWARD },
    { .rule = "4.2.3 a cursor beyond the anchor is drawn to it",
      .cursor = AT(NOW - 2 * D),
      .forward = AT(NOW - 3 * D),
      .from = { NOW - 3 * D, WINDOW_RULE_UPPER_ANCHOR },
      .to = { NOW - 3 * D, WINDOW_RULE_FORWARD },
      .empty = WINDOW_EMPTY_NOTHING_NEW },
    { .rule = "4.2.4 a cursor that touches the forward watermark is done",
      .cursor = AT(NOW - 3 * D),
      .forward = AT(NOW - 3 * D),
      .from = { NOW - 3 * D, WINDOW_RULE_CURSOR },
      .to = { NOW - 3 * D, WINDOW_RULE_FORWARD },
      .empty = WINDOW_EMPTY_NOTHING_NEW },
    { .rule = "4.2.4 one microsecond below the forward watermark is a window",
      .cursor = AT(NOW - 3 * D - 1),
      .forward = AT(NOW - 3 * D),
      .from = { NOW - 3 * D - 1, WINDOW_RULE_CURSOR },
      .to = { NOW - 3 * D, WINDOW_RULE_FORWARD } },
    { .rule = "4.2.4 user window wholly before the campaign's cursor is empty",
      .user_from = AT(NOW - 90 * D),
      .user_to = AT(NOW - 60 * D),
      .cursor = AT(NOW - 50 * D),
      .forward = AT(NOW - 3 * D),
      .from = { NOW - 60 * D, WINDOW_RULE_UPPER_ANCHOR },
      .to = { NOW - 60 * D, WINDOW_RULE_USER_TO },
      .empty = WINDOW_EMPTY_BEFORE_CURSOR },
    { .rule = "4.2.4 user.from in the future is empty",
      .user_from = AT(NOW + D),
      .from = { SAFE, WINDOW_RULE_UPPER_ANCHOR },
      .to = { SAFE, WINDOW_RULE_NOW_LAG },
      .empty = WINDOW_EMPTY_FUTURE },
    { .rule = "4.2.4 user.from = user.to is empty",
      .user_from = AT(NOW - 60 * D),
      .user_to = AT(NOW - 60 * D),
      .forward = AT(NOW - 3 * D),
      .from = { NOW - 60 * D, WINDOW_RULE_USER_FROM },
      .to = { NOW - 60 * D, WINDOW_RULE_USER_TO },
      .empty = WINDOW_EMPTY_USER_INVERTED },
};

TEST(backfill_rules_4_2)
{
    for (size_t i = 0; i < ARRAY_LEN(BACKFILL_ROWS); i++) {
        const struct window_request request = request_of(&BACKFILL_ROWS[i], OPERATION_BACKFILL);

        check(&BACKFILL_ROWS[i], &request);
    }
}

TEST(backfill_in_calendar_mode_never_passes_the_forward_watermark_4_2_3)
{
    const struct window_request request = { .operation = OPERATION_BACKFILL,
                                            .now_us = NOW,
                                            .user_from = AT(NOW - 40 * D),
                                            .forward = AT(NOW - 3 * D),
                                            .size_us = SIZE,
                                            .mode = WINDOW_CALENDAR,
                                            .align = ALIGN_DAY };
    const struct window_decision d = window_decide(&request);

    CHECK_EQ(d.window.from_us, NOW - 40 * D - 12 * H, "down to midnight");
    CHECK_EQ(d.window.to_us, NOW - 3 * D - 12 * H, "down to midnight, before the watermark");
}

/* ---- UPDATE and METRICS ---- */

static const struct row UPDATE_TIME_ROWS[] = {
    { .rule = "5.2.2 to = now - lag",
      .cursor = AT(NOW - D),
      .from = { NOW - D, WINDOW_RULE_CURSOR },
      .to = { SAFE, WINDOW_RULE_NOW_LAG } },
    { .rule = "5.2.2 to = user.to, cut to now - lag",
      .user_to = AT(NOW + D),
      .cursor = AT(NOW - D),
      .from = { NOW - D, WINDOW_RULE_CURSOR },
      .to = { SAFE, WINDOW_RULE_NOW_LAG } },
    { .rule = "5.2.3 from = max(cursor, user.from): the cursor, without lookback",
      .user_from = AT(NOW - 9 * D),
      .cursor = AT(NOW - 3 * D),
      .from = { NOW - 3 * D, WINDOW_RULE_CURSOR },
      .to = { SAFE, WINDOW_RULE_NOW_LAG } },
    { .rule = "5.2.3 from = max(cursor, user.from): the user's",
      .user_from = AT(NOW - 2 * D),
      .cursor = AT(NOW - 3 * D),
      .from = { NOW - 2 * D, WINDOW_RULE_USER_FROM },
      .to = { SAFE, WINDOW_RULE_NOW_LAG } },
    { .rule = "5.2.3 no cursor: user.from",
      .user_from = AT(NOW - 90 * D),
      .user_to = AT(NOW - 80 * D),
      .from = { NOW - 90 * D, WINDOW_RULE_USER_FROM },
      .to = { NOW - 80 * D, WINDOW_RULE_USER_TO } },
    { .rule = "5.2.3 neither: one window back from now - lag",
      .from = { SAFE - SIZE, WINDOW_RULE_DEFAULT_SIZE },
      .to = { SAFE, WINDOW_RULE_NOW_LAG } },
    { .rule = "5.2.5 nothing left to check",
      .cursor = AT(SAFE),
      .from = { SAFE, WINDOW_RULE_CURSOR },
      .to = { SAFE, WINDOW_RULE_NOW_LAG },
      .empty = WINDOW_EMPTY_NOTHING_NEW },
    { .rule = "5.2.5 user window wholly before the cursor is empty",
      .user_from = AT(NOW - 9 * D),
      .user_to = AT(NOW - 8 * D),
      .cursor = AT(NOW - D),
      .from = { NOW - D, WINDOW_RULE_CURSOR },
      .to = { NOW - 8 * D, WINDOW_RULE_USER_TO },
      .empty = WINDOW_EMPTY_BEFORE_CURSOR },
    { .rule = "5.2 the forward watermark plays no part",
      .cursor = AT(NOW - D),
      .forward = AT(NOW - 5 * D),
      .from = { NOW - D, WINDOW_RULE_CURSOR },
      .to = { SAFE, WINDOW_RULE_NOW_LAG } },
};

static const struct row UPDATE_ID_ROWS[] = {
    { .rule = "5.3 the user's window is used unchanged, independent of the cursor",
      .user_from = AT(NOW - 9 * D),
      .user_to = AT(NOW - 8 * D),
      .cursor = AT(NOW - D),
      .from = { NOW - 9 * D, WINDOW_RULE_USER_FROM },
      .to = { NOW - 8 * D, WINDOW_RULE_USER_TO } },
    { .rule = "5.3 its end is still cut to now - lag",
      .user_from = AT(NOW - 9 * D),
      .user_to = AT(NOW + D),
      .from = { NOW - 9 * D, WINDOW_RULE_USER_FROM },
      .to = { SAFE, WINDOW_RULE_NOW_LAG } },
    { .rule = "5.3 none given: one window back from now - lag",
      .cursor = AT(NOW - D),
      .from = { SAFE - SIZE, WINDOW_RULE_DEFAULT_SIZE },
      .to = { SAFE, WINDOW_RULE_NOW_LAG } },
    { .rule = "5.3 only a start given",
      .user_from = AT(NOW - 9 * D),
      .from = { NOW - 9 * D, WINDOW_RULE_USER_FROM },
      .to = { SAFE, WINDOW_RULE_NOW_LAG } },
    { .rule = "5.3 only an end given",
      .user_to = AT(NOW - D),
      .from = { SAFE - SIZE, WINDOW_RULE_DEFAULT_SIZE },
      .to = { NOW - D, WINDOW_RULE_USER_TO } },
};

TEST(update_and_metrics_rules_5_2_and_5_3)
{
    const enum operation operations[] = { OPERATION_UPDATE, OPERATION_METRICS };

    for (size_t o = 0; o < ARRAY_LEN(operations); o++) {
        for (size_t i = 0; i < ARRAY_LEN(UPDATE_TIME_ROWS); i++) {
            struct window_request request = request_of(&UPDATE_TIME_ROWS[i], operations[o]);

            request.drive = UPDATE_BY_TIME;
            check(&UPDATE_TIME_ROWS[i], &request);
        }
        for (size_t i = 0; i < ARRAY_LEN(UPDATE_ID_ROWS); i++) {
            struct window_request request = request_of(&UPDATE_ID_ROWS[i], operations[o]);

            request.drive = UPDATE_BY_ID;
            check(&UPDATE_ID_ROWS[i], &request);
        }
    }
}

TEST(update_in_calendar_mode_is_aligned_5_2_4)
{
    for (int drive = UPDATE_BY_TIME; drive <= UPDATE_BY_ID; drive++) {
        const struct window_request request = { .operation = OPERATION_UPDATE,
                                                .drive = (enum update_drive)drive,
                                                .now_us = NOW,
                                                .size_us = SIZE,
                                                .mode = WINDOW_CALENDAR,
                                                .align = ALIGN_DAY };
        const struct window_decision d = window_decide(&request);

        CHECK_EQ(d.window.from_us, NOW - SIZE - 12 * H, "from at midnight");
        CHECK_EQ(d.window.to_us, NOW - 12 * H, "to at midnight");
    }
}

/* ---- REPLAY ---- */

static const struct row REPLAY_ROWS[] = {
    { .rule = "a replay uses the user's window, independent of any cursor",
      .user_from = AT(NOW - 90 * D),
      .user_to = AT(NOW - 80 * D),
      .cursor = AT(NOW - D),
      .forward = AT(NOW - D),
      .from = { NOW - 90 * D, WINDOW_RULE_USER_FROM },
      .to = { NOW - 80 * D, WINDOW_RULE_USER_TO } },
    { .rule = "a replay ends at now - lag",
      .user_from = AT(NOW - 2 * D),
      .user_to = AT(NOW + D),
      .from = { NOW - 2 * D, WINDOW_RULE_USER_FROM },
      .to = { SAFE, WINDOW_RULE_NOW_LAG } },
    { .rule = "a replay without bounds is of the latest window",
      .cursor = AT(NOW - D),
      .from = { SAFE - SIZE, WINDOW_RULE_DEFAULT_SIZE },
      .to = { SAFE, WINDOW_RULE_NOW_LAG } },
};

TEST(replay_looks_at_no_cursor)
{
    for (size_t i = 0; i < ARRAY_LEN(REPLAY_ROWS); i++) {
        const struct window_request request = request_of(&REPLAY_ROWS[i], OPERATION_REPLAY);

        check(&REPLAY_ROWS[i], &request);
    }
}
