/* Everything but the bounds: where cursors start, what is refused, the explanation. */
#include "core/window_decision.h"

#include "base/instant.h"
#include "test.h"
#include "window_times.h"

TEST(a_first_window_starts_the_cursor)
{
    const struct {
        const char *label;
        enum operation operation;
        enum update_drive drive;
        struct maybe_instant cursor;
        bool starts;
    } rows[] = {
        { "first harvest", OPERATION_HARVEST, UPDATE_BY_TIME, ABSENT, true },
        { "later harvest", OPERATION_HARVEST, UPDATE_BY_TIME, AT(NOW - D), false },
        { "first backfill of a campaign", OPERATION_BACKFILL, UPDATE_BY_TIME, ABSENT, true },
        { "first update by time", OPERATION_UPDATE, UPDATE_BY_TIME, ABSENT, true },
        { "update by id keeps no time", OPERATION_UPDATE, UPDATE_BY_ID, ABSENT, false },
        { "replay keeps none", OPERATION_REPLAY, UPDATE_BY_TIME, ABSENT, false },
        { "an empty window starts nothing", OPERATION_HARVEST, UPDATE_BY_TIME, AT(NOW + D), false },
    };

    for (size_t i = 0; i < ARRAY_LEN(rows); i++) {
        const struct window_request request = { .operation = rows[i].operation,
                                                .drive = rows[i].drive,
                                                .now_us = NOW,
                                                .cursor = rows[i].cursor,
                                                .size_us = SIZE };

        CHECK_EQ(window_decide(&request).starts_cursor, rows[i].starts, rows[i].label);
    }
}

TEST(a_source_may_say_where_it_begins)
{
    struct window_request request = {
        .operation = OPERATION_HARVEST, .now_us = NOW, .start = AT(NOW - 400 * D), .size_us = SIZE
    };

    CHECK_EQ(window_decide(&request).window.from_us, NOW - 400 * D, "in place of the default");
    CHECK_EQ(window_decide(&request).from.rule, WINDOW_RULE_START, "its rule");
    request.user_from = (struct maybe_instant)AT(NOW - 500 * D);
    CHECK_EQ(window_decide(&request).window.from_us, NOW - 500 * D, "the user's word goes first");
    request.cursor = (struct maybe_instant)AT(NOW - D);
    CHECK_EQ(window_decide(&request).window.from_us, NOW - D, "and the cursor before both");
    request = (struct window_request){
        .operation = OPERATION_HARVEST, .now_us = NOW, .start = AT(NOW + D), .size_us = SIZE
    };
    CHECK_EQ(window_decide(&request).empty, WINDOW_EMPTY_NOTHING_NEW, "it has not begun");
}

TEST(a_source_may_refuse_windows_beyond_now)
{
    struct window_request request = { .operation = OPERATION_HARVEST,
                                      .now_us = NOW,
                                      .user_to = AT(NOW - LAG + 1),
                                      .lag_us = LAG,
                                      .beyond = BEYOND_REFUSE,
                                      .size_us = SIZE };

    CHECK_EQ(window_decide(&request).empty, WINDOW_EMPTY_REFUSED, "one microsecond too late");
    request.user_to.at_us--;
    CHECK_EQ(window_decide(&request).empty, WINDOW_EMPTY_NOT, "now - lag itself");
}

TEST(bounds_do_not_leave_the_calendar)
{
    const struct window_request request = { .operation = OPERATION_HARVEST,
                                            .now_us = INSTANT_MIN + D,
                                            .size_us = 400 * 365 * D,
                                            .lag_us = H };
    const struct window_decision d = window_decide(&request);

    CHECK_EQ(d.window.from_us, INSTANT_MIN, "the first instant there is");
}

TEST(a_decision_explains_itself)
{
    const struct window_request request = { .operation = OPERATION_HARVEST,
                                            .now_us = NOW,
                                            .user_from = AT(NOW - 30 * D),
                                            .cursor = AT(NOW - D),
                                            .lag_us = LAG,
                                            .lookback_us = LOOKBACK,
                                            .size_us = SIZE,
                                            .mode = WINDOW_CALENDAR,
                                            .align = ALIGN_DAY };
    const struct window_decision d = window_decide(&request);
    struct arena arena;
    struct buf out;
    struct error err;

    arena_init(&arena, 65536);
    buf_init(&out, &arena, 8192);
    window_decision_explain(&d, &out);
    REQUIRE_OK(buf_ok(&out, &err), err);
    CHECK_STR(buf_str(&out),
              STR("window  2026-03-09T00:00:00Z .. 2026-03-10T00:00:00Z\n"
                  "from    2026-03-09T00:00:00Z: the cursor less the lookback\n"
                  "        2026-03-09T06:00:00Z, rounded down to DAY\n"
                  "        also considered: --from (2026-02-08T12:00:00Z)\n"
                  "to      2026-03-10T00:00:00Z: now less the lag\n"
                  "        2026-03-10T11:50:00Z, rounded down to DAY\n"),
              "text");
    buf_clear(&out);
    window_decision_json(&d, &out);
    REQUIRE_OK(buf_ok(&out, &err), err);
    CHECK_STR(
        buf_str(&out),
        STR("{\"empty\":\"NOT_EMPTY\",\"from\":{\"at\":\"2026-03-09T00:00:00Z\","
            "\"candidate\":\"2026-03-09T06:00:00Z\",\"considered\":["
            "{\"at\":\"2026-03-09T06:00:00Z\",\"rule\":\"CURSOR_LOOKBACK\"},"
            "{\"at\":\"2026-02-08T12:00:00Z\",\"rule\":\"USER_FROM\"}],"
            "\"rule\":\"CURSOR_LOOKBACK\"},"
            "\"inputs\":{\"align\":\"DAY\",\"beyondNow\":\"CLAMP\",\"campaignTo\":null,\"cursor\":"
            "\"2026-03-09T12:00:"
            "00Z\",\"drive\":\"TIME\","
            "\"forward\":null,\"lagUs\":600000000,\"lookbackUs\":21600000000,"
            "\"mode\":\"CALENDAR\",\"now\":\"2026-03-10T12:00:00Z\",\"operation\":\"HARVEST\","
            "\"sizeUs\":604800000000,\"start\":null,\"userFrom\":\"2026-02-08T12:00:00Z\","
            "\"userTo\":null},"
            "\"nowSafe\":\"2026-03-10T11:50:00Z\",\"startsCursor\":false,"
            "\"to\":{\"at\":\"2026-03-10T00:00:00Z\",\"candidate\":\"2026-03-10T11:50:00Z\","
            "\"considered\":[{\"at\":\"2026-03-10T11:50:00Z\",\"rule\":\"NOW_LAG\"}],"
            "\"rule\":\"NOW_LAG\"}}"),
        "JSON");
    arena_release(&arena);
}

/* Its upper bound does not rise with the forward watermark: it must not fetch HARVEST's part. */
TEST(a_campaign_that_is_resumed_keeps_its_first_end)
{
    struct window_request request = { .operation = OPERATION_BACKFILL,
                                      .now_us = NOW,
                                      .cursor = AT(NOW - 90 * D),
                                      .forward = AT(NOW - D),
                                      .campaign_to = AT(NOW - 30 * D),
                                      .size_us = SIZE };
    struct window_decision d = window_decide(&request);

    CHECK_EQ(d.to.at_us, NOW - 30 * D, "where it ended first");
    CHECK_EQ(d.to.rule, WINDOW_RULE_CAMPAIGN_TO, "and it says so");
    request.user_to = (struct maybe_instant)AT(NOW - 60 * D);
    d = window_decide(&request);
    CHECK_EQ(d.to.at_us, NOW - 60 * D, "a person may want less of it");
    request.cursor = (struct maybe_instant)AT(NOW - 30 * D);
    request.user_to = (struct maybe_instant){ 0 };
    CHECK_EQ(window_decide(&request).empty, WINDOW_EMPTY_NOTHING_NEW, "until it is done");
}

TEST(an_empty_window_says_why)
{
    const struct window_request request = { .operation = OPERATION_HARVEST,
                                            .now_us = NOW,
                                            .user_to = AT(NOW - 30 * D),
                                            .cursor = AT(NOW - D),
                                            .size_us = SIZE };
    const struct window_decision d = window_decide(&request);
    struct arena arena;
    struct buf out;

    arena_init(&arena, 65536);
    buf_init(&out, &arena, 8192);
    window_decision_explain(&d, &out);
    CHECK(str_starts(buf_str(&out), STR("window  empty: --to is not after the cursor")), "text");
    arena_release(&arena);
}
