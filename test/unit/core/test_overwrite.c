/* Tests: which of two states of a record wins. */
#include "core/overwrite.h"

#include "test.h"

/* A state in a few letters: a date in digits ('-' for none, followed by '~' for a coarse one), then
 * 'x' for a tombstone, then "v" and the provider's version. NULL: nothing here. */
static struct overwrite_state state_of(const char *text)
{
    struct overwrite_state state = { 0 };

    for (; *text >= '0' && *text <= '9'; text++) {
        state.has_date = true;
        state.date_us = state.date_us * 10 + (*text - '0');
    }
    text += *text == '-';
    state.is_coarse = *text == '~';
    text += *text == '~';
    state.is_deleted = *text == 'x';
    text += *text == 'x';
    state.version = str_of(*text == 'v' ? text + 1 : "");
    return state;
}

TEST(overwrite_goes_by_date_then_version_then_content)
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
        { "the same instant", "5", "5", OVERWRITE_UNCHANGED },
        { "earlier", "5", "4", OVERWRITE_OLDER },
        { "the same day", "5", "5~", OVERWRITE_CONTENT },
        { "the day before", "5", "4~", OVERWRITE_OLDER },
        { "no dates", "-", "-", OVERWRITE_CONTENT },
        { "the source has begun to tell dates", "-", "5", OVERWRITE_NEWER },
        { "and has stopped", "5", "-", OVERWRITE_CONTENT },
        { "same date, next version", "5v1", "5v2", OVERWRITE_NEWER },
        { "same date, same version", "5v2", "5v2", OVERWRITE_UNCHANGED },
        { "same date, version before", "5v10", "5v9", OVERWRITE_OLDER },
        { "same day, same version", "5v2", "5~v2", OVERWRITE_CONTENT },
        { "later, version before", "5v10", "6v1", OVERWRITE_NEWER },
        { "earlier, next version", "5v1", "4v2", OVERWRITE_OLDER },
        { "versions begin", "5", "5v1", OVERWRITE_NEWER },
        { "versions end", "5v1", "5", OVERWRITE_UNCHANGED },
        { "no dates, next version", "-v1", "-v2", OVERWRITE_NEWER },
        { "no dates, version before", "-v2", "-v1", OVERWRITE_OLDER },
        { "no dates, same version", "-v2", "-v2", OVERWRITE_CONTENT },
        { "deleted later", "5", "6x", OVERWRITE_NEWER },
        { "deleted in the same instant", "5", "5x", OVERWRITE_NEWER },
        { "an old tombstone", "5", "4x", OVERWRITE_OLDER },
        { "a tombstone without a date", "5", "-x", OVERWRITE_NEWER },
        { "the tombstone again", "5x", "5x", OVERWRITE_UNCHANGED },
        { "the tombstone again, without a date", "5x", "-x", OVERWRITE_UNCHANGED },
        { "a later tombstone", "5x", "6x", OVERWRITE_NEWER },
        { "undelete", "5x", "6", OVERWRITE_NEWER },
        { "requested before it was deleted", "5x", "5", OVERWRITE_OLDER },
        { "what was deleted and came back in one day", "5x", "5~", OVERWRITE_NEWER },
        { "deleted in the day it was changed", "5", "5~x", OVERWRITE_NEWER },
        { "came back in the same instant by version", "5xv1", "5v2", OVERWRITE_NEWER },
        { "a tombstone of a version before", "5v2", "5xv1", OVERWRITE_OLDER },
        { "undelete without dates", "-x", "-", OVERWRITE_NEWER },
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
