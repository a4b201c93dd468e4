/* Slices that do not fit, and slices that can not be finished: cut until they fit, or told. */
#include <string.h>

#include "harvest.h"
#include "matrix_database.h"
#include "test.h"

#define DAY "2026-02-15T00:00:00Z"
#define NEXT_DAY "2026-02-16T00:00:00Z"

enum { HITS = 50000, CAP = 9999 };

static struct stage stage;

static const struct sim_shape *shape_of(const char *name)
{
    for (size_t i = 0; i < SIM_SHAPES; i++) {
        if (strcmp(sim_shapes[i].name, name) == 0)
            return &sim_shapes[i];
    }
    REQUIRE(false, name);
    return NULL;
}

static void open_big_day(void)
{
    static const char *const options[] = {
        "--records", "52500",       "--big-day", DAY, "--big-day-records", "52000", "--updates-max",
        "0",         "--audit-off", "repeat",    NULL
    };

    stage_open(&stage, options);
}

static void note(const struct harvest *h)
{
    test_note("%s: %lld requests, %lld slices SUCCEEDED, %lld PARTIAL, %lld FAILED %s",
              h->shape->name, (long long)h->counts.requests,
              (long long)h->counts.tasks[TASK_SUCCEEDED], (long long)h->counts.tasks[TASK_PARTIAL],
              (long long)h->counts.tasks[TASK_FAILED], h->counts.reason);
}

TEST(a_day_of_50000_behind_a_cap_of_9999_is_harvested_whole)
{
    static const struct edit edits[] = {
        { STR_INIT("endpoints.records.page.size"), STR_INIT("1000") },
        { STR_INIT("endpoints.records.page.cap"), STR_INIT("9999") },
    };
    const struct edit_list more = { edits, ARRAY_LEN(edits) };
    struct harvest h;
    const char *wrong;

    open_big_day();
    harvest_open(&h, &stage, matrix_database(), shape_of("offset"), &more);
    harvest_between(&h, DAY, NEXT_DAY);
    harvest_fire(&h, "harvest");
    REQUIRE(harvest_drain(&h), "it comes to rest");
    note(&h);
    CHECK_EQ(h.counts.tasks[TASK_FAILED], 0, "none failed");
    CHECK(h.counts.tasks[TASK_SUCCEEDED] > HITS / CAP, "no slice holds more than the cap");
    CHECK_EQ(harvest_cursor_us(&h), h.window.to_us, "the cursor is at the day's end");
    CHECK(h.counts.records >= HITS, "all of them came");
    wrong = harvest_verify(&h);
    CHECK(wrong == NULL, wrong);
    harvest_close(&h);
    stage_close(&stage);
}

/* PubMed tells days and nothing shorter: what is above the cap of one day is out of reach by time.
 * Until it is sought by another dimension, the day must say that it is not whole. */
TEST(a_day_of_pubmed_above_its_cap_is_whole_or_says_that_it_is_not)
{
    static const struct edit edits[] = {
        { STR_INIT("endpoints.search.page.size"), STR_INIT("5000") },
        { STR_INIT("endpoints.fetch.batch.id_batch_size"), STR_INIT("200") },
    };
    const struct edit_list more = { edits, ARRAY_LEN(edits) };
    struct harvest h;

    open_big_day();
    harvest_open(&h, &stage, matrix_database(), shape_of("pubmed"), &more);
    harvest_between(&h, DAY, NEXT_DAY);
    harvest_fire(&h, "harvest");
    REQUIRE(harvest_drain(&h), "it comes to rest");
    note(&h);
    if (harvest_verify(&h) == NULL) {
        CHECK_EQ(harvest_cursor_us(&h), h.window.to_us, "whole: the cursor is at its end");
    } else {
        CHECK_EQ(harvest_tasks(&h, TASK_SUCCEEDED).count, 0, "nothing is shown as done");
        CHECK(harvest_tasks(&h, TASK_PARTIAL).count > 0, "it is PARTIAL");
        CHECK(h.counts.reason[0] != '\0', "and says why");
        CHECK_EQ(harvest_cursor_us(&h), h.window.from_us, "the cursor stays before it");
    }
    harvest_close(&h);
    stage_close(&stage);
}

/* ---- a total that can not be reached ---- */

static void harvest_with_a_hole(const char *name)
{
    const int64_t day_us = 86400 * INT64_C(1000000);
    struct task_list partial;
    struct harvest h;
    const char *wrong;
    size_t told;

    harvest_open(&h, &stage, matrix_database(), shape_of(name), NULL);
    sim_set_fault(stage.http, &h.arena, &stage.sim, "query=from=2026-01-11 kind=moving_total");
    harvest_fire(&h, "harvest");
    CHECK(harvest_drain(&h), name);
    partial = harvest_tasks(&h, TASK_PARTIAL);
    CHECK(partial.count > 0, "the second day ends PARTIAL");
    for (size_t i = 0; i < partial.count; i++) {
        CHECK(partial.items[i].window.from_us >= h.window.from_us + day_us, "no other does");
        CHECK(partial.items[i].last_error.len > 0, "with a reason");
    }
    CHECK_EQ(harvest_cursor_us(&h), h.window.from_us + day_us, "the cursor stops before it");
    wrong = harvest_check_shown(&h, stage_truth(&stage, h.shape), &told);
    CHECK(wrong == NULL, wrong);
    test_note("%s: %zu PARTIAL: %.*s", name, partial.count,
              STR_ARG(partial.count > 0 ? partial.items[0].last_error : STR("")));
    sim_set_fault(stage.http, &h.arena, &stage.sim, NULL);
    harvest_fire(&h, "harvest");
    CHECK(harvest_drain(&h), name);
    wrong = harvest_verify(&h);
    if (wrong == NULL)
        wrong = harvest_check_rest(&h, stage_truth(&stage, h.shape));
    CHECK(wrong == NULL, wrong);
    harvest_close(&h);
}

TEST(a_slice_whose_total_is_out_of_reach_is_partial_and_holds_the_cursor)
{
    static const char *const options[] = { SIM_WORLD, NULL };

    stage_open(&stage, options);
    harvest_with_a_hole("offset");
    harvest_with_a_hole("page1");
    stage_close(&stage);
}
