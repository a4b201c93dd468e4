/* overwrite: decides whether an incoming record replaces the stored one.
 *
 * The source's date decides; if the dates are equal, the source's version does; without either, the
 * content does. An incoming record older than the stored one arrived late and is dropped.
 *
 *      stored        incoming              judgement
 *      nothing       anything              NEW
 *      date          later / earlier       NEWER / OLDER
 *      date, v2      same date, v3 / v1    NEWER / OLDER
 *      date          same date             UNCHANGED
 *      day           same day              CONTENT: two changes of one day have one date
 *      no date       no date               CONTENT
 *      no date       date                  NEWER: the source now has dates
 *
 * A tombstone is a state like any other, with two extra rules. At the same date it comes after the
 * record it deletes, so a page that was requested before the deletion does not bring the record
 * back; if dates are too coarse for that, the last one received wins. A tombstone may have no date:
 * then it was true at the time of the request and deletes the stored record. The caller that stores
 * it keeps the date and version of the deleted record, so that only a later record undeletes it.
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
    OVERWRITE_CONTENT, /* NEWER if the content hashes differ, else UNCHANGED */
};

struct overwrite_state { /* of a record, here or incoming */
    bool has_date;
    int64_t date_us;
    bool is_coarse;     /* incoming: two changes may share the date: a day, a minute */
    struct str version; /* the provider's own; empty: none */
    bool is_deleted;
};

/* `stored` is NULL if there is none. */
enum overwrite overwrite_judge(const struct overwrite_state *stored,
                               const struct overwrite_state *incoming);

/* The order of two versions, <0, 0, >0: byte by byte, but runs of digits by their value, so that
 * 1.10 comes after 1.9 and v10 after v9. Leading zeros do not count. */
int overwrite_version_order(struct str a, struct str b);

#endif
