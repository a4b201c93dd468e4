/* well_status: a status with one source and nothing wrong, for tests that break one thing of it. */
#ifndef PATRA_TEST_UNIT_VIEW_WELL_STATUS_H
#define PATRA_TEST_UNIT_VIEW_WELL_STATUS_H

#include "base/instant.h"
#include "test.h"
#include "view/status.h"

#define NOW INT64_C(1767225600000000) /* 2026-01-01T00:00:00Z */

static struct arena arena;
static struct partition_count count;
static struct pause pause;
static struct view_running running;
static struct trouble trouble;
static struct view_source_status source;
static struct view_put_off put_off;

/* A source with nothing wrong: tasks wait and run. */
static struct view_status well(void)
{
    if (arena.limit == 0)
        arena_init(&arena, (size_t)16 << 20);
    count =
        (struct partition_count){ .partition = { STR("crossref"), STR("works"), OPERATION_HARVEST },
                                  .queued = 3,
                                  .first_us = NOW - US_PER_HOUR,
                                  .running = 1,
                                  .ended = { [TASK_SUCCEEDED] = 240, [TASK_FAILED] = 1 } };
    running = (struct view_running){ .task = { .id = 77,
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
    source = (struct view_source_status){ .code = STR("crossref"),
                                          .counts = { &count, 1 },
                                          .put_off = &put_off,
                                          .running = { &running, 1 },
                                          .troubles = { &trouble, 1, 0, 0 } };
    return (struct view_status){ .now_us = NOW,
                                 .since_us = NOW - US_PER_DAY,
                                 .limits = alert_limits_default(),
                                 .sources = { &source, 1 } };
}

static size_t needs_of(struct view_status *status)
{
    struct error err = { 0 };

    status->needs = (struct alert_finding_list){ 0 };
    REQUIRE_OK(view_status_judge(status, &arena, &err), err);
    return status->needs.count;
}

static bool has(struct str text, const char *needle)
{
    return str_find(text, str_of(needle)) < text.len;
}

#endif
