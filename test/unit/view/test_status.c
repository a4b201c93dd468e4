/* What status shows, and when it calls for a person. */
#include <stdio.h>
#include <stdlib.h>

#include "base/instant.h"
#include "cmd/status/status.h"
#include "data/json.h"
#include "test.h"

#define NOW INT64_C(1767225600000000) /* 2026-01-01T00:00:00Z */

static struct arena arena;
static struct partition_count count;
static struct pause pause;
static struct status_task running;
static struct trouble trouble;
static struct status_source source;
static struct status_put_off put_off;

/* A source with nothing wrong: tasks wait and run. */
static struct status well(void)
{
    if (arena.limit == 0)
        arena_init(&arena, (size_t)16 << 20);
    count =
        (struct partition_count){ .partition = { STR("crossref"), STR("works"), OPERATION_HARVEST },
                                  .queued = 3,
                                  .first_us = NOW - US_PER_HOUR,
                                  .running = 1,
                                  .ended = { [TASK_SUCCEEDED] = 240, [TASK_FAILED] = 1 } };
    running = (struct status_task){ .task = { .id = 77,
                                              .lease_owner = STR("abc/1"),
                                              .leased_until_us = NOW + 30 * US_PER_SECOND },
                                    .started_us = NOW - 90 * US_PER_SECOND,
                                    .batch_us = NOW - 2 * US_PER_SECOND };
    trouble = (struct trouble){ .ended = { .task = { .id = 5,
                                                     .source = STR("crossref"),
                                                     .endpoint = STR("works"),
                                                     .status = TASK_FAILED,
                                                     .window = { NOW - US_PER_DAY, NOW },
                                                     .last_error = STR("status 400") },
                                           .ended_us = NOW - US_PER_HOUR } };
    pause = (struct pause){ .source = STR("crossref"),
                            .kind = PAUSE_PAUSED,
                            .reason = STR("holiday"),
                            .created_by = STR("ada"),
                            .created_us = NOW - US_PER_DAY };
    source = (struct status_source){ .code = STR("crossref"),
                                     .counts = { &count, 1 },
                                     .put_off = &put_off,
                                     .running = { &running, 1 },
                                     .troubles = { &trouble, 1, 0, 0 } };
    return (
        struct status){ .now_us = NOW, .since_us = NOW - US_PER_DAY, .sources = { &source, 1 } };
}

static size_t needs_of(struct status *status)
{
    struct error err = { 0 };

    status->needs = (struct status_need_list){ 0 };
    REQUIRE_OK(status_judge(status, &arena, &err), err);
    return status->needs.count;
}

static bool has(struct str text, const char *needle)
{
    return str_find(text, str_of(needle)) < text.len;
}

TEST(what_goes_on_by_itself_needs_nobody)
{
    struct status status = well();

    CHECK_EQ(needs_of(&status), 0, "tasks run; what failed is covered by now");
    source.pauses = (struct pause_list){ &pause, 1 };
    count.running = 0;
    CHECK_EQ(needs_of(&status), 0, "a person paused it, and knows");
}

TEST(a_stop_needs_a_person)
{
    struct status status = well();

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
    struct status status = well();

    count.running = 0;
    CHECK_EQ(needs_of(&status), 1, "due for an hour");
    count.first_us = NOW - US_PER_MINUTE;
    CHECK_EQ(needs_of(&status), 0, "due for a minute");
    count.first_us = NOW + US_PER_HOUR;
    CHECK_EQ(needs_of(&status), 0, "due later");
}

TEST(a_schedule_that_nobody_fires_needs_a_person)
{
    struct status status = well();
    struct schedule_view view = { .operation = STR("harvest"),
                                  .endpoint = STR("works"),
                                  .has_last = true,
                                  .last_us = NOW - 5 * US_PER_HOUR,
                                  .is_due = true,
                                  .due_us = NOW - 4 * US_PER_HOUR };

    source.schedules = (struct schedule_view_list){ &view, 1 };
    REQUIRE(needs_of(&status) == 1, "nobody does");
    CHECK(has(status.needs.items[0].text, "crossref: harvest is due for 4h 00m and nobody fires"),
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
    struct status status = well();

    running.task.leased_until_us = NOW - 10 * US_PER_SECOND;
    CHECK_EQ(needs_of(&status), 0, "somebody is about to");
    running.task.leased_until_us = NOW - 10 * US_PER_MINUTE;
    REQUIRE(needs_of(&status) == 1, "nobody does");
    CHECK(has(status.needs.items[0].text, "task 77"), "which");
}

TEST(what_is_missing_still_needs_a_person)
{
    struct status status = well();

    trouble.is_missing = true;
    source.troubles.missing = 1;
    REQUIRE(needs_of(&status) == 1, "one");
    CHECK(has(status.needs.items[0].text, "1 slice failed and is missing"), "how many");
}

static struct str printed(const struct status *status,
                          bool (*print)(const struct status *, struct arena *, FILE *,
                                        struct error *))
{
    struct error err = { 0 };
    char *text = NULL;
    size_t len = 0;
    FILE *file = open_memstream(&text, &len);
    struct str copy;

    REQUIRE(file != NULL, "open_memstream");
    REQUIRE_OK(print(status, &arena, file, &err), err);
    REQUIRE(fclose(file) == 0, "fclose");
    copy = arena_copy(&arena, (struct str){ text, len });
    free(text);
    return copy;
}

TEST(what_is_missing_is_shown_with_its_reason)
{
    struct status status = well();

    trouble.is_missing = true;
    CHECK(has(printed(&status, status_print),
              "failed  2025-12-31T00:00:00Z .. 2026-01-01T00:00:00Z  task 5, still missing\n"
              "    status 400\n"),
          "what failed");
}

TEST(a_screen_tells_who_works_since_when_and_what_failed)
{
    struct status status = well();
    struct status_gate gate = {
        .key = STR("crossref"),
        .is_configured = true,
        .rate = { .limit = { .per_second = 10, .burst = 5 }, .quota_margin = 0.1 },
        .view = { .is_known = true,
                  .rate = 2500000,
                  .tokens = 3 * MICRO,
                  .cooldown_until_us = NOW + US_PER_MINUTE,
                  .parked_until_us = INT64_MIN,
                  .day = { .limit = 5000, .used = 3456, .until_us = NOW + US_PER_DAY } },
    };
    struct quarantine_sum sum = { STR("crossref"), STR("works"), STR("date.missing"), 4, NOW, NOW };
    struct schedule_view tick = { .operation = STR("harvest"),
                                  .has_last = true,
                                  .last_us = NOW - 50 * US_PER_MINUTE,
                                  .has_next = true,
                                  .next_us = NOW + 10 * US_PER_MINUTE };
    struct str text;

    status.gates = (struct status_gate_list){ &gate, 1 };
    source.quarantine = (struct quarantine_sum_list){ &sum, 1 };
    source.schedules = (struct schedule_view_list){ &tick, 1 };
    source.pauses = (struct pause_list){ &pause, 1 };
    (void)needs_of(&status);
    text = printed(&status, status_print);
    CHECK(has(text, "\n  harvest    works     3       1        240       0        1       now\n"),
          "counts");
    CHECK(has(text, "\n    lifted by: patra resume crossref\n"), "what lifts a pause");
    CHECK(has(text, "\n  schedule  harvest  next 00:10:00Z, in 10m 00s  last 50m 00s ago\n"),
          "the next tick");
    CHECK(has(text, "\n  quarantine  works: 4 date.missing, the last 2026-01-01T00:00:00Z\n"
                    "    see: patra quarantine list crossref\n"),
          "the quarantine");
    CHECK(has(text, "\n  77    abc/1  1m 30s  2.0s ago    30s left\n"), "who works");
    CHECK(has(text, "\n  1 task of the last 24 hours failed and was made up for"),
          "what failed and is there by now");
    CHECK(has(text,
              "\ncrossref   2.50 of 10.00  3 of 5  -          3,456 of 5,000 until 00:00:00Z  "
              "00:01:00Z, in 1m 00s (why: Retry-After)\n"),
          "the gate");
    CHECK(str_ends(text, STR("nothing needs a person\n")), "the verdict");
    gate.view.provider_rate = MICRO;
    CHECK(has(printed(&status, status_print), "\ncrossref   1.00 of 10.00, the source's limit  "),
          "what the source allows goes before what was learned");
    gate.view.provider_rate = 5 * MICRO;
    CHECK(has(printed(&status, status_print), "\ncrossref   2.50 of 10.00  "),
          "the lesser of both");
}

TEST(a_gate_tells_until_when_and_why_it_is_shut)
{
    struct status_gate gate = { .is_configured = true,
                                .rate = { .quota_margin = 0.1 },
                                .view = { .is_known = true, .parked_until_us = INT64_MIN } };
    enum wait_why why = WAIT_RATE;
    int64_t until_us;

    CHECK(!status_gate_blocked(&gate, NOW, &until_us, &why), "open");
    gate.view.cooldown_until_us = NOW + 5;
    CHECK(status_gate_blocked(&gate, NOW, &until_us, &why), "a cool-down");
    CHECK_EQ(why, WAIT_RETRY_AFTER, "why");
    gate.view.parked_until_us = NOW + 9;
    CHECK(status_gate_blocked(&gate, NOW, &until_us, &why), "parked");
    CHECK_EQ(until_us, NOW + 9, "the later of both");
    CHECK_EQ(why, WAIT_QUOTA, "why");
    gate.view.day = (struct gate_view_quota){ .limit = 100, .used = 89, .until_us = NOW + 100 };
    CHECK(status_gate_blocked(&gate, NOW, &until_us, &why) && until_us == NOW + 9, "one is left");
    gate.view.day.used = 90;
    CHECK(status_gate_blocked(&gate, NOW, &until_us, &why), "all but the margin");
    CHECK_EQ(until_us, NOW + 100, "until the reset");
    gate.view = (struct gate_view){ .parked_until_us = INT64_MIN };
    CHECK(!status_gate_blocked(&gate, NOW, &until_us, &why), "nobody has asked yet");
}

TEST(the_same_is_one_json_object)
{
    struct status status = well();
    struct json_doc doc;
    struct json_node first;
    struct error err = { 0 };
    int64_t number;

    trouble.is_missing = true;
    source.troubles.missing = 1;
    (void)needs_of(&status);
    REQUIRE_OK(json_parse(&doc, &arena, printed(&status, status_print_json), &err), err);
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
