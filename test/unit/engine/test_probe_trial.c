/* The outcome of a trial with a fault, compared with one without. */
#include <string.h>

#include "engine/probe/trial.h"
#include "test.h"

static struct trial_record truth_records[] = { { .id = STR_INIT("a"), .hash = "1" },
                                               { .id = STR_INIT("b"), .hash = "2" } };
static const struct trial truth = { .items = truth_records,
                                    .count = 2,
                                    .verdict = { .kind = FETCH_COMPLETE } };

static const struct {
    const char *label;
    struct trial_record records[3];
    size_t count;
    size_t bad, lost;
    bool failed;
    enum fetch_verdict_kind verdict;
    enum trial_outcome outcome;
    bool same_ids;
} cases[] = {
    { "the same",
      { { STR_INIT("a"), "1", false }, { STR_INIT("b"), "2", false } },
      2,
      0,
      0,
      false,
      FETCH_COMPLETE,
      TRIAL_WHOLE,
      true },
    { "one is missing, and it does not know",
      { { STR_INIT("a"), "1", false } },
      1,
      0,
      0,
      false,
      FETCH_COMPLETE,
      TRIAL_WRONG,
      false },
    { "one is missing, and it says so",
      { { STR_INIT("a"), "1", false } },
      1,
      0,
      0,
      false,
      FETCH_SHORTFALL,
      TRIAL_PARTIAL,
      false },
    { "other bytes",
      { { STR_INIT("a"), "1", false }, { STR_INIT("b"), "3", false } },
      2,
      0,
      0,
      false,
      FETCH_COMPLETE,
      TRIAL_WRONG,
      true },
    { "another one",
      { { STR_INIT("a"), "1", false }, { STR_INIT("c"), "2", false } },
      2,
      0,
      0,
      false,
      FETCH_COMPLETE,
      TRIAL_WRONG,
      false },
    { "one is gone",
      { { STR_INIT("a"), "1", false }, { STR_INIT("b"), "2", true } },
      2,
      0,
      0,
      false,
      FETCH_COMPLETE,
      TRIAL_WRONG,
      false },
    { "one in quarantine",
      { { STR_INIT("a"), "1", false } },
      1,
      1,
      0,
      false,
      FETCH_COMPLETE,
      TRIAL_PARTIAL,
      false },
    { "an id without a record",
      { { STR_INIT("a"), "1", false } },
      1,
      0,
      1,
      false,
      FETCH_COMPLETE,
      TRIAL_PARTIAL,
      false },
    { "an error",
      { { STR_INIT("a"), "1", false } },
      1,
      0,
      0,
      true,
      FETCH_COMPLETE,
      TRIAL_FAILED,
      false },
};

TEST(a_walk_that_is_wrong_without_notice_is_found)
{
    for (size_t i = 0; i < ARRAY_LEN(cases); i++) {
        struct trial_record records[3];
        struct trial trial = { .items = records,
                               .count = cases[i].count,
                               .bad = cases[i].bad,
                               .lost = cases[i].lost,
                               .failed = cases[i].failed,
                               .verdict = { .kind = cases[i].verdict } };

        memcpy(records, cases[i].records, sizeof(records));
        CHECK_EQ(trial_judge(&trial, &truth), cases[i].outcome, cases[i].label);
        CHECK_EQ(trial_same_ids(&trial, &truth), cases[i].same_ids, cases[i].label);
    }
}
