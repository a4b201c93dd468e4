/* overwrite: decides whether an incoming record replaces the stored one.
 *
 * The source's date decides. If the dates are equal, or one of them is missing, the source's
 * version decides. If that does not decide either, the later observation does: each state was
 * observed when the request that brought it was sent, and a response to an earlier request never
 * replaces one to a later request, whichever worker is the faster one.
 *
 *      stored            incoming                judgement
 *      nothing           anything                NEW
 *      date              later / earlier date    NEWER / OLDER
 *      date, v2          same date, v3 / v1      NEWER / OLDER
 *      observed at 12    observed at 11          OLDER
 *      observed at 12    at 12 or later          CONTENT
 *      no date           date, at 12 or later    NEWER: the source now has dates
 *
 * The last three lines are about states whose dates and versions do not decide. A date may be
 * missing because the source has none, or because it is not believed (engine/fetch/record.h).
 *
 * A tombstone is a state like any other. It may have no date: then it was true at the time of the
 * request, and deletes what was observed before it. The caller that stores it keeps the date and
 * version of the deleted record. An undelete needs a date that is not earlier and an observation
 * after that of the tombstone; in one response, the tombstone comes after the record it deletes.
 */
#ifndef PATRA_CORE_OVERWRITE_H
#define PATRA_CORE_OVERWRITE_H

#include <stdbool.h>
#include <stdint.h>

#include "base/str.h"

enum overwrite {
    OVERWRITE_NEW,
    OVERWRITE_NEWER,
    OVERWRITE_UNCHANGED,
    OVERWRITE_OLDER,
    OVERWRITE_CONTENT, /* NEWER if the contents differ, else UNCHANGED */
};

struct overwrite_state { /* of a record, here or incoming */
    bool has_date;
    int64_t date_us;
    struct str version; /* the provider's own; empty: none */
    bool is_deleted;
    int64_t observed_us; /* when the request was sent that brought it, or last confirmed it */
};

/* `stored` is NULL if there is none. */
enum overwrite overwrite_judge(const struct overwrite_state *stored,
                               const struct overwrite_state *incoming);

/* The order of two versions, <0, 0, >0: byte by byte, but runs of digits by their value, so that
 * 1.10 comes after 1.9 and v10 after v9. Leading zeros do not count. */
int overwrite_version_order(struct str a, struct str b);

#endif
