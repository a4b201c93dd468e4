/* overwrite: does what came replace what is here?
 *
 * The source's date decides, and where dates are equal its own version number; without either the
 * content does. What is older than what is here was overtaken on its way, and is dropped.
 *
 *      stored        incoming              judgement
 *      nothing       anything              NEW
 *      date          later / earlier       NEWER / OLDER
 *      date, v2      same date, v3 / v1    NEWER / OLDER
 *      date          same date             UNCHANGED
 *      day           same day              CONTENT: two changes of one day have one date
 *      no date       no date               CONTENT
 *      no date       date                  NEWER: the source has begun to tell
 *
 * A tombstone is a state like others, with two rules of its own. At the same date it comes after
 * the record it buries, so a page that was under way while the record was deleted brings nothing
 * back; where dates are too coarse to say so, what comes last holds. And a tombstone may have no
 * date: then it was true when it was asked for, and buries whatever is here; whoever
 * stores it keeps the date and version of what it buried, so that only a later record is an
 * undelete.
 *
 * Pure: dates, texts and truth values in, a word out.
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
    bool is_coarse;     /* incoming: the date may stand for two changes: a day, a minute */
    struct str version; /* the provider's own; empty: none */
    bool is_deleted;
};

/* `stored` is NULL where there is none. */
enum overwrite overwrite_judge(const struct overwrite_state *stored,
                               const struct overwrite_state *incoming);

/* The order of two version texts, <0, 0, >0: byte by byte, but runs of digits by their value, so
 * that 1.10 comes behind 1.9 and v10 behind v9. Leading zeros do not count. */
int overwrite_version_order(struct str a, struct str b);

#endif
