/* Tests: which of two states of a record wins. */
#include "core/overwrite.h"

#include "random.h"
#include "test.h"

/* A state in a few letters: a date in digits ('-' for none), then 'x' for a tombstone, then '@' and
 * the digit of its observation (5 unless given), then "v" and the provider's version. NULL: nothing
 * here. */
static struct overwrite_state state_of(const char *text)
{
    struct overwrite_state state = { .observed_us = 5 };

    for (; *text >= '0' && *text <= '9'; text++) {
        state.has_date = true;
        state.date_us = state.date_us * 10 + (*text - '0');
    }
    text += *text == '-';
    state.is_deleted = *text == 'x';
    text += *text == 'x';
    if (*text == '@') {
        state.observed_us = text[1] - '0';
        text += 2;
    }
    state.version = str_of(*text == 'v' ? text + 1 : "");
    return state;
}

TEST(overwrite_goes_by_date_then_version_then_observation)
{
    static const struct {
        const char *label;
        const char *stored;
        const char *incoming;
        enum overwrite judgement;
    } cases[] = {
        { "nothing is here", NULL, "5", OVERWRITE_NEW },
        { "nothing is here, no date", NULL, "-", OVERWRITE_NEW },
        { "a tombstone of what never was here", NULL, "5x", OVERWRITE_NEW },
        { "later", "5", "6", OVERWRITE_NEWER },
        { "later, observed before", "5@5", "6@4", OVERWRITE_NEWER },
        { "earlier", "5", "4", OVERWRITE_OLDER },
        { "earlier, observed later", "5@5", "4@6", OVERWRITE_OLDER },
        { "the same date in one response", "5", "5", OVERWRITE_CONTENT },
        { "the same date, observed later", "5@5", "5@6", OVERWRITE_CONTENT },
        { "the same date, observed before", "5@5", "5@4", OVERWRITE_OLDER },
        { "no dates", "-", "-", OVERWRITE_CONTENT },
        { "no dates, observed later", "-@5", "-@6", OVERWRITE_CONTENT },
        { "no dates, observed before", "-@5", "-@4", OVERWRITE_OLDER },
        { "the source has begun to tell dates", "-@5", "5@6", OVERWRITE_NEWER },
        { "and a slow worker brings the first", "-@5", "5@4", OVERWRITE_OLDER },
        { "and has stopped", "5@5", "-@6", OVERWRITE_CONTENT },
        { "has stopped, observed before", "5@5", "-@4", OVERWRITE_OLDER },
        { "same date, next version", "5v1", "5v2", OVERWRITE_NEWER },
        { "same date, next version, observed before", "5@5v1", "5@4v2", OVERWRITE_NEWER },
        { "same date, same version", "5v2", "5v2", OVERWRITE_CONTENT },
        { "same date, same version, observed before", "5@5v2", "5@4v2", OVERWRITE_OLDER },
        { "same date, version before", "5v10", "5v9", OVERWRITE_OLDER },
        { "same date, version before, observed later", "5@5v10", "5@6v9", OVERWRITE_OLDER },
        { "later, version before", "5v10", "6v1", OVERWRITE_NEWER },
        { "earlier, next version", "5v1", "4v2", OVERWRITE_OLDER },
        { "versions begin", "5", "5v1", OVERWRITE_NEWER },
        { "versions end", "5v1", "5", OVERWRITE_CONTENT },
        { "no dates, next version", "-v1", "-v2", OVERWRITE_NEWER },
        { "no dates, version before", "-v2", "-v1", OVERWRITE_OLDER },
        { "no dates, same version", "-v2", "-v2", OVERWRITE_CONTENT },
        { "deleted later", "5", "6x", OVERWRITE_NEWER },
        { "deleted in the same instant", "5", "5x", OVERWRITE_NEWER },
        { "deleted in the same instant, observed before", "5@5", "5x@4", OVERWRITE_OLDER },
        { "an old tombstone", "5", "4x", OVERWRITE_OLDER },
        { "a tombstone without a date", "5@5", "-x@6", OVERWRITE_NEWER },
        { "a tombstone without a date, observed before", "5@5", "-x@4", OVERWRITE_OLDER },
        { "the tombstone again", "5x@5", "5x@6", OVERWRITE_UNCHANGED },
        { "the tombstone again, without a date", "5x@5", "-x@6", OVERWRITE_UNCHANGED },
        { "a later tombstone", "5x", "6x", OVERWRITE_NEWER },
        { "undelete", "5x@5", "6@6", OVERWRITE_NEWER },
        { "requested before it was deleted", "5x@5", "5@4", OVERWRITE_OLDER },
        { "requested before it was deleted, later date", "5x@5", "6@4", OVERWRITE_OLDER },
        { "in one response with its tombstone", "5x", "5", OVERWRITE_OLDER },
        { "came back without a new date", "5x@5", "5@6", OVERWRITE_NEWER },
        { "an old state of what was deleted", "5x@5", "4@6", OVERWRITE_OLDER },
        { "came back in the same instant by version", "5xv1", "5v2", OVERWRITE_NEWER },
        { "a tombstone of a version before", "5v2", "5xv1", OVERWRITE_OLDER },
        { "undelete without dates", "-x@5", "-@6", OVERWRITE_NEWER },
        { "tombstones without dates", "-x", "-x", OVERWRITE_UNCHANGED },
        { "deleted without dates", "-", "-x", OVERWRITE_NEWER },
    };

    for (size_t i = 0; i < ARRAY_LEN(cases); i++) {
        const struct overwrite_state stored =
            cases[i].stored != NULL ? state_of(cases[i].stored) : (struct overwrite_state){ 0 };
        const struct overwrite_state incoming = state_of(cases[i].incoming);

        CHECK_EQ(overwrite_judge(cases[i].stored != NULL ? &stored : NULL, &incoming),
                 cases[i].judgement, cases[i].label);
    }
}

/* ---- any order of commits ---- */

enum { INSTANTS = 12, HISTORIES = 20000 };

struct observation {
    struct overwrite_state state;
    int content;
};

/* What a source says of one record, instant by instant. Its date never goes back, and often does
 * not move with a change; tombstones may have none. */
static void live(struct random *random, struct observation world[INSTANTS])
{
    const bool has_dates = random_between(random, 0, 4) > 0;
    struct observation now = { .state = { .has_date = has_dates } };

    for (int at = 0; at < INSTANTS; at++) {
        if (random_between(random, 0, 3) == 0) {
            now.content = at;
            now.state.is_deleted = random_between(random, 0, 4) == 0;
            now.state.date_us += (int64_t)random_between(random, 0, 2);
            now.state.has_date =
                has_dates && (!now.state.is_deleted || random_between(random, 0, 2) == 0);
        }
        world[at] = now;
        world[at].state.observed_us = at;
    }
}

/* As engine/execute/commit_records.c writes it. */
static void commit(struct observation *stored, bool *is_here, const struct observation *incoming)
{
    const struct overwrite_state before = stored->state;
    const enum overwrite judgement =
        overwrite_judge(*is_here ? &stored->state : NULL, &incoming->state);

    if (judgement == OVERWRITE_OLDER)
        return;
    if (judgement == OVERWRITE_UNCHANGED ||
        (judgement == OVERWRITE_CONTENT && stored->content == incoming->content)) {
        stored->state.observed_us = incoming->state.observed_us;
        return;
    }
    *stored = *incoming;
    if (*is_here && incoming->state.is_deleted && !incoming->state.has_date) {
        stored->state.has_date = before.has_date;
        stored->state.date_us = before.date_us;
    }
    *is_here = true;
}

/* Each worker commits what it observed in order; the two are interleaved at random. */
TEST(two_workers_end_with_what_was_observed_last)
{
    struct random random = { 5 };

    for (int history = 0; history < HISTORIES; history++) {
        struct observation world[INSTANTS];
        struct observation stored = { 0 };
        int queues[2][INSTANTS];
        int counts[2] = { 0 };
        int next[2] = { 0 };
        bool is_here = false;

        live(&random, world);
        for (int at = 0; at < INSTANTS; at++) {
            const int worker = (int)random_between(&random, 0, 2);

            queues[worker][counts[worker]++] = at;
        }
        while (next[0] < counts[0] || next[1] < counts[1]) {
            int worker = (int)random_between(&random, 0, 2);

            if (next[worker] == counts[worker])
                worker = !worker;
            commit(&stored, &is_here, &world[queues[worker][next[worker]++]]);
        }
        CHECK_EQ(stored.state.is_deleted, world[INSTANTS - 1].state.is_deleted, "deleted or not");
        if (!stored.state.is_deleted)
            CHECK_EQ(stored.content, world[INSTANTS - 1].content, "content");
        if (test_failures() > 0)
            break;
    }
}

TEST(versions_are_ordered_as_people_count)
{
    /* each before the next */
    static const char *const ORDER[] = { "",   "1",   "1.2",   "1.9",  "1.10", "2",
                                         "9",  "10",  "0100",  "2000", "a",    "a1",
                                         "a2", "a10", "a10.1", "b",    "v9",   "v10" };

    for (size_t i = 0; i < ARRAY_LEN(ORDER); i++) {
        for (size_t j = 0; j < ARRAY_LEN(ORDER); j++) {
            const int order = overwrite_version_order(str_of(ORDER[i]), str_of(ORDER[j]));

            CHECK_EQ((order > 0) - (order < 0), (i > j) - (i < j), ORDER[i]);
        }
    }
    CHECK_EQ(overwrite_version_order(STR("007"), STR("7")), 0, "zeros in front");
    CHECK(overwrite_version_order(STR("99999999999999999999999"), STR("100000000000000000000000")) <
              0,
          "no number is too long");
}
