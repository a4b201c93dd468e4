/* When status calls for a person, and its JSON. */
#include <string.h>

#include "data/json.h"
#include "well_status.h"

TEST(what_goes_on_by_itself_needs_nobody)
{
    struct view_status status = well();

    CHECK_EQ(needs_of(&status), 0, "tasks run; what failed is covered by now");
    source.pauses = (struct pause_list){ &pause, 1 };
    count.running = 0;
    CHECK_EQ(needs_of(&status), 0, "a person paused it, and knows");
}

TEST(a_stop_needs_a_person)
{
    struct view_status status = well();

    source.pauses = (struct pause_list){ &pause, 1 };
    pause.kind = PAUSE_STOPPED;
    pause.reason = STR("status 401");
    REQUIRE(needs_of(&status) == 1, "one");
    CHECK(has(status.needs.items[0].text, "status 401"), "why");
    CHECK(has(status.needs.items[0].text, "patra resume crossref"), "what to do");
    pause.endpoint = STR("works");
    REQUIRE(needs_of(&status) == 1, "one");
    CHECK(has(status.needs.items[0].text, "patra resume crossref/works"), "of an endpoint");
}

TEST(tasks_that_nobody_takes_need_a_person)
{
    struct view_status status = well();

    count.running = 0;
    CHECK_EQ(needs_of(&status), 1, "due for an hour");
    count.first_us = NOW - US_PER_MINUTE;
    CHECK_EQ(needs_of(&status), 0, "due for a minute");
    count.first_us = NOW + US_PER_HOUR;
    CHECK_EQ(needs_of(&status), 0, "due later");
}

TEST(a_schedule_that_nobody_fires_needs_a_person)
{
    struct view_status status = well();
    struct schedule_view view = { .operation = STR("harvest"),
                                  .endpoint = STR("works"),
                                  .has_last = true,
                                  .last_us = NOW - 5 * US_PER_HOUR,
                                  .is_due = true,
                                  .due_us = NOW - 4 * US_PER_HOUR };

    source.schedules = (struct schedule_view_list){ &view, 1 };
    REQUIRE(needs_of(&status) == 1, "nobody does");
    CHECK(has(status.needs.items[0].text,
              "crossref: harvest has been due for 4h 00m and has not fired"),
          "which, and for how long");
    source.pauses = (struct pause_list){ &pause, 1 };
    CHECK_EQ(needs_of(&status), 0, "it is paused");
    source.pauses = (struct pause_list){ 0 };
    view.due_us = NOW - US_PER_MINUTE;
    CHECK_EQ(needs_of(&status), 0, "due for a minute");
    view.due_us = NOW - 4 * US_PER_HOUR;
    view.has_last = false;
    CHECK_EQ(needs_of(&status), 0, "it never was: somebody triggers by hand");
    view.has_last = true;
    view.is_due = false;
    CHECK_EQ(needs_of(&status), 0, "not due");
}

TEST(a_lease_that_nobody_puts_back_needs_a_person)
{
    struct view_status status = well();

    running.task.leased_until_us = NOW - 10 * US_PER_SECOND;
    CHECK_EQ(needs_of(&status), 0, "somebody is about to");
    running.task.leased_until_us = NOW - 10 * US_PER_MINUTE;
    REQUIRE(needs_of(&status) == 1, "nobody does");
    CHECK(has(status.needs.items[0].text, "task 77"), "which");
}

TEST(what_is_missing_still_needs_a_person)
{
    struct view_status status = well();

    trouble.is_missing = true;
    source.troubles.missing = 1;
    REQUIRE(needs_of(&status) == 1, "one");
    CHECK(has(status.needs.items[0].text, "1 slice failed and is still missing"), "how many");
}

TEST(a_feed_that_does_not_go_forward_needs_a_person)
{
    struct view_status status = well();

    trouble.is_feed = true;
    trouble.ended.task.window = (struct window){ 0, 0 };
    trouble.ended.has_reason = true;
    trouble.ended.reason = PARTIAL_DEAD_END;
    CHECK_EQ(needs_of(&status), 0, "it has a later task");
    trouble.is_missing = true;
    source.troubles.missing = 1;
    REQUIRE(needs_of(&status) == 1, "one");
    CHECK(has(status.needs.items[0].text,
              "crossref: the feed works cannot be read to its end: status 400"),
          "which");
    CHECK(has(status.needs.items[0].text, "patra cursor reset crossref --to 0"), "what to run");
    CHECK(str_find(str_of(trouble_advice(&trouble, true)), STR("signal")) ==
              strlen(trouble_advice(&trouble, true)),
          "a feed is not about signals");
}

TEST(a_cursor_that_is_far_behind_needs_a_person)
{
    struct view_status status = well();
    struct view_behind behind = { .operation = STR("harvest"),
                                  .at_us = NOW - 3 * US_PER_DAY,
                                  .behind_us = 3 * US_PER_DAY,
                                  .still_us = 2 * US_PER_DAY };
    struct schedule_view view = { .operation = STR("harvest"),
                                  .endpoint = STR("works"),
                                  .has_last = true,
                                  .is_due = true,
                                  .due_us = NOW - 4 * US_PER_HOUR };

    source.behind = (struct view_behind_list){ &behind, 1 };
    REQUIRE(needs_of(&status) == 1, "one");
    CHECK(has(status.needs.items[0].text,
              "crossref: the cursor of harvest is 3d 0h behind and has not moved for 2d 0h"),
          "which, and how far");
    CHECK(has(status.needs.items[0].text, "patra cursor show crossref"), "what to do");
    source.schedules = (struct schedule_view_list){ &view, 1 };
    REQUIRE(needs_of(&status) == 1, "one");
    CHECK(has(status.needs.items[0].text, "has not fired"), "the cause comes before the effect");
}

TEST(a_credential_that_was_refused_needs_a_person)
{
    struct view_status status = well();
    struct view_gate gate = { .key = STR("crossref/works#main"),
                              .is_configured = true,
                              .source = STR("crossref"),
                              .credential = STR("main"),
                              .view = { .is_known = true,
                                        .parked_until_us = INT64_MIN,
                                        .refused_us = NOW - US_PER_HOUR,
                                        .refused_status = 401 } };

    status.gates = (struct view_gate_list){ &gate, 1 };
    REQUIRE(needs_of(&status) == 1, "one");
    CHECK(has(status.needs.items[0].text,
              "crossref: the credential main was refused 1h 00m ago (status 401)"),
          "which, and how");
    CHECK(has(status.needs.items[0].text, "patra resume crossref"), "what to do");
    gate.view.refused_us = 0;
    CHECK_EQ(needs_of(&status), 0, "it is used again");
}

TEST(a_silence_of_many_hours_needs_a_person)
{
    struct view_status status = well();
    struct view_gate gate = { .key = STR("crossref/works"),
                              .is_configured = true,
                              .source = STR("crossref"),
                              .view = { .is_known = true,
                                        .parked_until_us = INT64_MIN,
                                        .cooldown_until_us = NOW + 23 * US_PER_HOUR } };

    status.gates = (struct view_gate_list){ &gate, 1 };
    REQUIRE(needs_of(&status) == 1, "one");
    CHECK(has(status.needs.items[0].text, "crossref: it demands silence for another 23h"), "which");
    gate.view.cooldown_until_us = NOW + US_PER_HOUR;
    CHECK_EQ(needs_of(&status), 0, "an hour is usual");
}

TEST(the_limits_of_a_gate_are_those_that_its_requests_have)
{
    struct view_gate gate = { .rate = { .limit = { .per_second = 3, .burst = 3 },
                                        .with_credential = { .per_second = 10 } } };

    CHECK(view_gate_limit(&gate).per_second == 3, "not known yet: without");
    gate.view.is_known = true;
    CHECK(view_gate_limit(&gate).per_second == 3, "an optional credential that is not set");
    gate.view.has_credential = true;
    CHECK(view_gate_limit(&gate).per_second == 10, "one that is set");
    CHECK_EQ(view_gate_limit(&gate).burst, 3, "what it does not change");
}

TEST(records_in_quarantine_need_a_person)
{
    struct view_status status = well();
    struct quarantine_sum sums[] = {
        { .endpoint = STR("works"), .reason = STR("NO_ID"), .count = 2 },
        { .endpoint = STR("work"), .reason = STR("DATE"), .count = 1 }
    };

    source.quarantine = (struct quarantine_sum_list){ sums, 2 };
    REQUIRE(needs_of(&status) == 1, "one for all of them");
    CHECK(has(status.needs.items[0].text, "crossref: 3 records are in quarantine"), "how many");
    CHECK(has(status.needs.items[0].text, "patra quarantine list crossref"), "where to look");
    CHECK(has(status.needs.items[0].text, "patra quarantine retry crossref"), "what to do");
}

/* The records are in windows that are covered, so that no harvest requests them again. */
TEST(quarantine_names_the_command_that_requests_its_records_again)
{
    struct view_status status = well();
    struct quarantine_sum sums[] = {
        { .endpoint = STR("works"), .count = 2, .window = { NOW, NOW + US_PER_DAY } },
        { .endpoint = STR("works"), .count = 1, .window = { 0, 0 } },
        { .endpoint = STR("work"), .count = 1, .window = { NOW - US_PER_DAY, NOW } },
    };

    source.quarantine = (struct quarantine_sum_list){ sums + 1, 1 };
    REQUIRE(needs_of(&status) == 1, "a feed, or by ids");
    CHECK(!has(status.needs.items[0].text, "is right by now"), "nothing is known");

    status = well();
    source.quarantine = (struct quarantine_sum_list){ sums, 3 };
    REQUIRE(needs_of(&status) == 1, "one for all of them");
    CHECK(has(status.needs.items[0].text,
              "right by now, run: patra replay crossref --from 2025-12-31T00:00:00Z --to "
              "2026-01-02T00:00:00Z"),
          "from the first to the last");

    status = well();
    source.quarantine = (struct quarantine_sum_list){ sums, 3 };
    source.open.signals = 3;
    source.takes_signals = true;
    REQUIRE(needs_of(&status) == 1, "one for all of them");
    CHECK(has(status.needs.items[0].text,
              "run: patra update crossref; for those without an id, patra replay crossref --from"),
          "an update requests less");
}

TEST(doubts_are_added_up_by_kind)
{
    struct doubted_runs runs[] = { { STR("[\"lost-next\"]"), 2, 5 },
                                   { STR("[\"lost-next\", \"repeats\"]"), 1, 4 },
                                   { STR("[\"unheard-of\",\"next\"]"), 1, 3 } };
    struct view_doubt sums[FETCH_DOUBTS];

    view_doubts_sum(&(struct doubted_runs_list){ runs, 3 }, sums);
    CHECK_EQ(sums[FETCH_DOUBT_NEXT].slices, 3, "in both");
    CHECK_EQ(sums[FETCH_DOUBT_NEXT].task_id, 5, "the last");
    CHECK_EQ(sums[FETCH_DOUBT_REPEATS].slices, 1, "beside another");
    CHECK_EQ(sums[FETCH_DOUBT_REPEATS].task_id, 4, "its own");
    CHECK_EQ(sums[FETCH_DOUBT_TOTAL].slices + sums[FETCH_DOUBT_INSTANT].slices, 0, "no other");
}

TEST(a_gate_says_until_when_and_why_it_is_blocked)
{
    struct view_gate gate = { .is_configured = true,
                              .rate = { .quota_margin = 0.1 },
                              .view = { .is_known = true, .parked_until_us = INT64_MIN } };

    CHECK(!view_gate_block(&gate, NOW).is_blocked, "open");
    gate.view.cooldown_until_us = NOW + 5;
    CHECK(view_gate_block(&gate, NOW).is_blocked, "a cool-down");
    CHECK_EQ(view_gate_block(&gate, NOW).reason, WAIT_RETRY_AFTER, "reason");
    gate.view.parked_until_us = NOW + 9;
    CHECK(view_gate_block(&gate, NOW).is_blocked, "parked");
    CHECK_EQ(view_gate_block(&gate, NOW).until_us, NOW + 9, "the later of both");
    CHECK_EQ(view_gate_block(&gate, NOW).reason, WAIT_QUOTA, "reason");
    gate.view.day = (struct gate_view_quota){ .limit = 100, .used = 89, .until_us = NOW + 100 };
    CHECK_EQ(view_gate_block(&gate, NOW).until_us, NOW + 9, "one request is left");
    gate.view.day.used = 90;
    CHECK(view_gate_block(&gate, NOW).is_blocked, "all but the margin");
    CHECK_EQ(view_gate_block(&gate, NOW).until_us, NOW + 100, "until the reset");
    gate.view = (struct gate_view){ .parked_until_us = INT64_MIN };
    CHECK(!view_gate_block(&gate, NOW).is_blocked, "never used");
}

static struct str written(const struct view_status *status)
{
    struct error err = { 0 };
    struct json_writer w;
    struct buf text;

    buf_init(&text, &arena, (size_t)1 << 20);
    json_writer_init(&w, &text);
    view_status_write(&w, status);
    json_writer_finish(&w);
    REQUIRE_OK(buf_ok(&text, &err), err);
    return buf_str(&text);
}

TEST(the_whole_is_one_json_object)
{
    struct view_status status = well();
    struct json_doc doc;
    struct json_node first;
    struct error err = { 0 };
    int64_t number;

    trouble.is_missing = true;
    source.troubles.missing = 1;
    (void)needs_of(&status);
    REQUIRE_OK(json_parse(&doc, &arena, written(&status), &err), err);
    first = json_at(&doc, json_get(&doc, json_root(&doc), STR("sources")), 0);
    CHECK(json_i64(&doc,
                   json_get(&doc, json_at(&doc, json_get(&doc, first, STR("operations")), 0),
                            STR("succeeded")),
                   &number) &&
              number == 240,
          "counts");
    CHECK(json_string_is(
              &doc,
              json_get(&doc, json_at(&doc, json_get(&doc, first, STR("troubles")), 0), STR("text")),
              STR("status 400")),
          "what failed");
    CHECK(json_exists(json_at(&doc, json_get(&doc, json_root(&doc), STR("needs")), 0)), "needs");
}
