/* What patra status shows people. */
#include <stdio.h>
#include <stdlib.h>

#include "../view/well_status.h"
#include "cmd/status/status_show.h"

static struct str printed(const struct view_status *status)
{
    struct error err = { 0 };
    char *text = NULL;
    size_t len = 0;
    FILE *file = open_memstream(&text, &len);
    struct str copy;

    REQUIRE(file != NULL, "open_memstream");
    REQUIRE_OK(status_print(status, &arena, file, &err), err);
    REQUIRE(fclose(file) == 0, "fclose");
    copy = arena_copy(&arena, (struct str){ text, len });
    free(text);
    return copy;
}

TEST(what_is_missing_is_shown_with_its_reason)
{
    struct view_status status = well();

    trouble.is_missing = true;
    CHECK(has(printed(&status),
              "failed  2025-12-31T00:00:00Z .. 2026-01-01T00:00:00Z  task 5, still missing\n"
              "    status 400\n"),
          "what failed");
}

TEST(doubts_are_shown_with_the_task_to_look_at)
{
    struct view_status status = well();

    CHECK(!has(printed(&status), "doubt"), "none");
    source.doubts[FETCH_DOUBT_NEXT] = (struct view_doubt){ 1, 7 };
    source.doubts[FETCH_DOUBT_REPEATS] = (struct view_doubt){ 3, 9 };
    CHECK(has(printed(&status), "  doubt  1 slice with a full last page and no next, which may "
                                "have been lost; the last: task 7\n"
                                "  doubt  3 slices with ids twice on a page"),
          "each kind");
}

TEST(a_screen_shows_who_works_since_when_and_what_failed)
{
    struct view_status status = well();
    struct view_gate gate = {
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
    struct quarantine_sum sum = { STR("crossref"), STR("works"), STR("date.missing"), 4, NOW, NOW,
                                  { 0, 0 } };
    struct schedule_view tick = { .operation = STR("harvest"),
                                  .has_last = true,
                                  .last_us = NOW - 50 * US_PER_MINUTE,
                                  .has_next = true,
                                  .next_us = NOW + 10 * US_PER_MINUTE };
    struct str text;

    status.gates = (struct view_gate_list){ &gate, 1 };
    source.quarantine = (struct quarantine_sum_list){ &sum, 1 };
    source.schedules = (struct schedule_view_list){ &tick, 1 };
    source.pauses = (struct pause_list){ &pause, 1 };
    (void)needs_of(&status);
    text = printed(&status);
    CHECK(has(text, "\n  harvest    works     3       1        240       0        1       now\n"),
          "counts");
    CHECK(has(text, "\n    lifted by: patra resume crossref\n"), "what lifts a pause");
    CHECK(has(text, "\n  schedule  harvest  next 00:10:00Z, in 10m 00s  last 50m 00s ago\n"),
          "the next tick");
    CHECK(has(text, "\n  quarantine  works: 4 date.missing, the last at 2026-01-01T00:00:00Z\n"
                    "    see: patra quarantine list crossref\n"),
          "the quarantine");
    CHECK(has(text, "\n  77    abc/1  1m 30s  2.0s ago    30s left\n"), "who works");
    CHECK(has(text, "\n  1 task failed in the last 24 hours; the window was since covered"),
          "what failed and was covered since");
    CHECK(has(text,
              "\ncrossref   2.50 of 10.00  3 of 5  -          3,456 of 5,000 until 00:00:00Z  "
              "00:01:00Z, in 1m 00s (Retry-After)\n"),
          "the gate");
    CHECK(has(text, "needs a person:\n  crossref: 4 records are in quarantine. "), "the verdict");
    source.quarantine = (struct quarantine_sum_list){ 0 };
    (void)needs_of(&status);
    CHECK(str_ends(printed(&status), STR("nothing needs a person\n")), "without them");
    gate.view.provider_rate = MICRO;
    CHECK(has(printed(&status), "\ncrossref   1.00 of 10.00, the source's limit  "),
          "what the source allows goes before what was learned");
    gate.view.provider_rate = 5 * MICRO;
    CHECK(has(printed(&status), "\ncrossref   2.50 of 10.00  "), "the lesser of both");
}
