/* Which ending follows from a verdict, an error, a failure of the store. */
#include "engine/execute/ending.h"

#include "base/instant.h"
#include "core/retry.h"
#include "test.h"

#define NOW INT64_C(5000000000)

static const struct slice SLICE = { .dimension = SLICE_TIME, .window = { 100, 200 } };

static struct ending_input ask_with(bool can_reslice, int64_t batches, int64_t idle_runs)
{
    static struct retry_policy policy;

    policy = retry_default();
    return (struct ending_input){ .slice = &SLICE,
                                  .retry = &policy,
                                  .can_reslice = can_reslice,
                                  .batches = batches,
                                  .idle_runs = idle_runs,
                                  .now_us = NOW };
}

TEST(ids_that_fail_again_do_not_hold_the_window_for_ever)
{
    const struct fetch_verdict verdict = { .kind = FETCH_SHORTFALL,
                                           .lost_ids = 3,
                                           .failed_ids = 2 };
    const struct fetch_verdict others = { .kind = FETCH_SHORTFALL, .lost_ids = 2, .missing = 1 };
    struct ending_input input = ask_with(true, 3, 0);

    CHECK(!window_is_valid(ending_of_verdict(&verdict, &input).covered), "the first time");
    input.failed_again = 1;
    CHECK(!window_is_valid(ending_of_verdict(&verdict, &input).covered), "one of them is new");
    input.failed_again = 2;
    CHECK_EQ(ending_of_verdict(&verdict, &input).covered.to_us, 200, "all of them failed before");
    CHECK_EQ(ending_of_verdict(&verdict, &input).status, TASK_PARTIAL, "with holes");
    CHECK(!window_is_valid(ending_of_verdict(&others, &input).covered),
          "something else is missing");
}

TEST(what_comes_after_the_date_of_a_list_is_not_covered)
{
    const struct slice day = { .dimension = SLICE_TIME, .window = { 0, US_PER_DAY } };
    struct fetch_verdict verdict = { .kind = FETCH_COMPLETE, .dated_us = US_PER_HOUR };
    struct ending_input input = ask_with(true, 1, 0);
    struct ending ending;

    input.slice = &day;
    ending = ending_of_verdict(&verdict, &input);
    CHECK_EQ(ending.status, TASK_PARTIAL, "a list that is older than the end of its window");
    CHECK_EQ(ending.covered.to_us, US_PER_HOUR, "covers what is before it");
    CHECK(!ending.needs_reslice, "and is not divided");
    verdict.dated_us = -US_PER_HOUR;
    CHECK(!window_is_valid(ending_of_verdict(&verdict, &input).covered), "or nothing");
    verdict.dated_us = US_PER_DAY - US_PER_MINUTE;
    CHECK_EQ(ending_of_verdict(&verdict, &input).status, TASK_SUCCEEDED, "a minute is no matter");
    verdict.dated_us = 0;
    CHECK_EQ(ending_of_verdict(&verdict, &input).status, TASK_SUCCEEDED, "nor is no date");
}

TEST(a_task_that_kills_its_workers_is_left_alone)
{
    const struct slice ids = { .dimension = SLICE_ID };
    struct ending_input input = ask_with(true, 0, 0);
    struct ending ending = ending_crashed(&input, 10);

    CHECK_EQ(ending.status, TASK_PARTIAL, "a window");
    CHECK_EQ(ending.reason, PARTIAL_CRASHED, "is held back");
    CHECK(!window_is_valid(ending.covered), "and covers nothing");
    input.slice = &ids;
    CHECK_EQ(ending_crashed(&input, 10).status, TASK_FAILED, "ids come again");
}

TEST(what_a_walk_found_decides_what_the_task_covers)
{
    const struct {
        const char *label;
        struct fetch_verdict verdict;
        bool can_reslice;
        enum task_status status;
        bool covers_all, covers_some, needs_reslice;
    } rows[] = {
        { "all came", { .kind = FETCH_COMPLETE }, true, TASK_SUCCEEDED, false, false, false },
        { "but for ids without a record",
          { .kind = FETCH_COMPLETE, .lost_ids = 2 },
          true,
          TASK_PARTIAL,
          true,
          true,
          false },
        { "fewer than the source says",
          { .kind = FETCH_SHORTFALL, .missing = 3 },
          true,
          TASK_PARTIAL,
          false,
          false,
          false },
        { "the list moved", { .kind = FETCH_DRIFT }, true, TASK_PARTIAL, false, false, true },
        { "it moved, and is as short as can be",
          { .kind = FETCH_DRIFT },
          false,
          TASK_PARTIAL,
          false,
          false,
          false },
        { "cut short", { .kind = FETCH_CUT_SHORT }, true, TASK_PARTIAL, false, false, true },
        { "cut short for good",
          { .kind = FETCH_CUT_SHORT },
          false,
          TASK_PARTIAL,
          false,
          false,
          false },
        { "in a loop, which narrower slices would meet again",
          { .kind = FETCH_CUT_SHORT, .end = PAGE_CUT_LOOP },
          true,
          TASK_PARTIAL,
          false,
          false,
          false },
        { "many more requests than pages",
          { .kind = FETCH_OVER_BUDGET },
          true,
          TASK_PARTIAL,
          false,
          false,
          false },
        { "too deep",
          { .kind = FETCH_RESLICE, .finished = { 100, 130 } },
          true,
          TASK_PARTIAL,
          false,
          true,
          true },
    };

    for (size_t i = 0; i < ARRAY_LEN(rows); i++) {
        const struct ending_input ask = ask_with(rows[i].can_reslice, 1, 0);
        const struct ending ending = ending_of_verdict(&rows[i].verdict, &ask);

        CHECK_EQ(ending.kind, ENDING_FINAL, rows[i].label);
        CHECK_EQ(ending.status, rows[i].status, rows[i].label);
        CHECK_EQ(ending.needs_reslice, rows[i].needs_reslice, rows[i].label);
        CHECK_EQ(window_is_valid(ending.covered), rows[i].covers_some, rows[i].label);
        if (rows[i].covers_all)
            CHECK_EQ(ending.covered.to_us, SLICE.window.to_us, rows[i].label);
        CHECK_EQ(ending.has_reason, ending.status == TASK_PARTIAL, rows[i].label);
    }
}

TEST(a_slice_whose_family_has_spent_too_much_is_not_sliced_again)
{
    const struct fetch_verdict verdict = { .kind = FETCH_RESLICE, .reslice = RESLICE_OVER_CAP };
    struct ending_input ask = ask_with(true, 1, 0);
    struct ending ending = ending_of_verdict(&verdict, &ask);

    CHECK(ending.needs_reslice && ending.reason == PARTIAL_CUT_SHORT, "within its budget");
    ask.is_over_budget = true;
    ending = ending_of_verdict(&verdict, &ask);
    CHECK(!ending.needs_reslice && ending.reason == PARTIAL_OVER_BUDGET, "beyond it");
}

TEST(an_error_s_level_decides_what_becomes_of_the_task)
{
    const struct {
        const char *label;
        enum error_level level;
        const char *code;
        bool can_reslice;
        int64_t batches, idle_runs;
        enum ending_kind kind;
        enum task_status status; /* of FINAL */
        bool is_stop, needs_reslice, is_outage;
    } rows[] = {
        { "L1, first time", ERROR_TRANSIENT, "http.reset", true, 0, 0, ENDING_LATER, 0, false,
          false, true },
        { "L1, nothing moved five times", ERROR_TRANSIENT, "http.reset", true, 0, 4, ENDING_FINAL,
          TASK_FAILED, false, false, true },
        { "L1, but this run has moved", ERROR_TRANSIENT, "http.reset", true, 1, 4, ENDING_LATER, 0,
          false, false, true },
        { "no permit in time", ERROR_TRANSIENT, "fetch.rejected", true, 0, 4, ENDING_LATER, 0,
          false, false, false },
        { "the worker stops", ERROR_TRANSIENT, "fetch.cancelled", true, 0, 4, ENDING_LATER, 0,
          false, false, false },
        { "L2 on the first page", ERROR_REQUEST, "answer.status", true, 0, 0, ENDING_FINAL,
          TASK_FAILED, false, false, false },
        { "L2 after it", ERROR_REQUEST, "answer.status", true, 3, 0, ENDING_FINAL, TASK_PARTIAL,
          false, true, false },
        { "L2 after it, as short as can be", ERROR_REQUEST, "answer.status", false, 3, 0,
          ENDING_FINAL, TASK_FAILED, false, false, false },
        { "a token that cannot be sent", ERROR_REQUEST, "template.control", true, 3, 0,
          ENDING_FINAL, TASK_FAILED, false, false, false },
        { "a next URL on another host", ERROR_REQUEST, "page.next", true, 3, 0, ENDING_FINAL,
          TASK_FAILED, false, false, false },
        { "L4", ERROR_FATAL, "http.auth", true, 3, 0, ENDING_FINAL, TASK_FAILED, true, false,
          false },
    };

    for (size_t i = 0; i < ARRAY_LEN(rows); i++) {
        const struct ending_input ask =
            ask_with(rows[i].can_reslice, rows[i].batches, rows[i].idle_runs);
        const struct error err = { .level = rows[i].level, .code = rows[i].code, .text = "why" };
        const struct ending ending = ending_of_failure(&err, &ask);

        CHECK_EQ(ending.kind, rows[i].kind, rows[i].label);
        if (ending.kind == ENDING_FINAL)
            CHECK_EQ(ending.status, rows[i].status, rows[i].label);
        CHECK_EQ(ending.is_stop, rows[i].is_stop, rows[i].label);
        CHECK_EQ(ending.needs_reslice, rows[i].needs_reslice, rows[i].label);
        CHECK_EQ(ending.is_outage, rows[i].is_outage, rows[i].label);
        CHECK(!window_is_valid(ending.covered), rows[i].label);
    }
}

TEST(a_walk_that_is_lost_in_every_run_ends_although_it_commits_its_first_pages)
{
    const struct {
        const char *label;
        bool can_reslice;
        int64_t runs, batches;
        enum ending_kind kind;
        enum task_status status; /* of FINAL */
        bool needs_reslice;
    } rows[] = {
        { "first run", true, 1, 3, ENDING_LATER, 0, false },
        { "last run but one", true, ENDING_IDLE_RUNS_MAX - 1, 3, ENDING_LATER, 0, false },
        { "last run", true, ENDING_IDLE_RUNS_MAX, 3, ENDING_FINAL, TASK_PARTIAL, true },
        { "as short as can be", false, ENDING_IDLE_RUNS_MAX, 3, ENDING_FINAL, TASK_FAILED, false },
        { "not even a page", true, ENDING_IDLE_RUNS_MAX, 0, ENDING_FINAL, TASK_FAILED, false },
    };
    const struct error err = { .level = ERROR_TRANSIENT, .code = "fetch.restarts", .text = "why" };

    for (size_t i = 0; i < ARRAY_LEN(rows); i++) {
        struct ending_input ask = ask_with(rows[i].can_reslice, rows[i].batches, 0);
        struct ending ending;

        ask.runs = rows[i].runs;
        ending = ending_of_failure(&err, &ask);
        CHECK_EQ(ending.kind, rows[i].kind, rows[i].label);
        if (ending.kind == ENDING_FINAL)
            CHECK_EQ(ending.status, rows[i].status, rows[i].label);
        CHECK_EQ(ending.needs_reslice, rows[i].needs_reslice, rows[i].label);
        CHECK(ending.is_outage, rows[i].label);
        CHECK(!window_is_valid(ending.covered), rows[i].label);
    }
}

TEST(runs_wait_longer_than_requests_and_longer_each_time)
{
    const struct error err = { .level = ERROR_TRANSIENT, .code = "http.reset", .text = "why" };
    int64_t last_us = 0;

    for (int64_t i = 0; i < ENDING_IDLE_RUNS_MAX - 1; i++) {
        const struct ending_input ask = ask_with(true, 0, i);
        const struct ending ending = ending_of_failure(&err, &ask);

        CHECK(ending.retry_at_us - NOW >= ask.retry->delay_max_us * 8 / 10, "at least a delay");
        CHECK(ending.retry_at_us > last_us, "more than the time before");
        last_us = ending.retry_at_us;
    }
}

TEST(a_wait_that_the_source_demands_is_kept_exactly)
{
    struct ending_input ask = ask_with(true, 0, 4);
    const struct error err = { .level = ERROR_TRANSIENT, .code = "answer.quota", .text = "why" };

    ask.retry_at_us = NOW + US_PER_HOUR;
    CHECK_EQ(ending_of_failure(&err, &ask).kind, ENDING_LATER, "no failure, however often");
    CHECK_EQ(ending_of_failure(&err, &ask).retry_at_us, NOW + US_PER_HOUR, "then and not before");
}

TEST(a_store_that_fails_is_not_the_fault_of_the_task)
{
    const struct {
        const char *label;
        enum error_level level;
        enum ending_kind kind;
    } rows[] = {
        { "busy", ERROR_TRANSIENT, ENDING_LATER },
        { "an id it cannot keep", ERROR_REQUEST, ENDING_FINAL },
        { "corrupt", ERROR_FATAL, ENDING_LATER },
    };

    for (size_t i = 0; i < ARRAY_LEN(rows); i++) {
        const struct ending_input ask = ask_with(true, 0, 4);
        const struct error err = { .level = rows[i].level, .code = "store.x", .text = "why" };
        const struct ending ending = ending_of_store(&err, &ask);

        CHECK_EQ(ending.kind, rows[i].kind, rows[i].label);
        CHECK(!ending.is_stop && !ending.is_outage, rows[i].label);
        if (ending.kind == ENDING_LATER)
            CHECK(ending.retry_at_us > NOW, "not at once");
    }
}

TEST(a_request_that_is_refused_for_most_ids_is_not_re_sliced)
{
    const struct ending_input ask = ask_with(true, 3, 0);
    struct error err;

    (void)error_set(&err, ERROR_REQUEST, "answer.status", "status 400");
    CHECK(ending_of_failure(&err, &ask).needs_reslice, "of a page a shorter walk may get further");
    (void)error_set(&err, ERROR_REQUEST, "fetch.refused", "9 of the first 9 ids were refused");
    CHECK(!ending_of_failure(&err, &ask).needs_reslice, "of ids it would not");
    CHECK_EQ(ending_of_failure(&err, &ask).status, TASK_FAILED, "failed");
}

/* An error's text may have bytes of a source in it; no store keeps invalid UTF-8. */
TEST(the_text_of_an_end_can_be_stored)
{
    static const struct {
        const char *label, *text, *stored;
    } rows[] = {
        { "words", "status 400: \"\xe6\x96\x87\"", "status 400: \"\xe6\x96\x87\"" },
        { "half of a character", "caf\xc3", "caf?" },
        { "Latin-1", "caf\xe9 au lait", "caf? au lait" },
        { "a surrogate", "\xed\xa0\x80", "???" },
    };
    const struct ending_input ask = ask_with(false, 0, 0);

    for (size_t i = 0; i < ARRAY_LEN(rows); i++) {
        struct error err;
        const struct fetch_verdict verdict = { .kind = FETCH_SHORTFALL,
                                               .reason = str_of(rows[i].text) };

        (void)error_set(&err, ERROR_REQUEST, "answer.status", "%s", rows[i].text);
        CHECK_STR(str_of(ending_of_failure(&err, &ask).text), str_of(rows[i].stored),
                  rows[i].label);
        CHECK_STR(str_of(ending_of_verdict(&verdict, &ask).text), str_of(rows[i].stored),
                  rows[i].label);
    }
}

/* The last place before rows, summaries and pauses, whoever has made the text. */
TEST(the_text_of_an_end_has_no_personal_data)
{
    static const char text[] = "ask jane.doe@example.org, +49 30 1234567";
    static const char kept[] = "ask j***@example.org, +49***67";
    const struct fetch_verdict verdict = { .kind = FETCH_SHORTFALL, .reason = str_of(text) };
    const struct ending_input ask = ask_with(false, 0, 0);
    struct error err;

    (void)error_set(&err, ERROR_FATAL, "answer.status", "%s", text);
    CHECK_STR(str_of(ending_of_failure(&err, &ask).text), str_of(kept), "of a failure");
    CHECK_STR(str_of(ending_of_verdict(&verdict, &ask).text), str_of(kept), "of a verdict");
    CHECK_STR(str_of(ending_task_cancelled(str_of(text)).text), str_of(kept), "of a person");
}
