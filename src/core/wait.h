/* wait: why nothing is sent at the moment. A word for programs and one for people; nothing is
 * decided by it.
 */
#ifndef PATRA_CORE_WAIT_H
#define PATRA_CORE_WAIT_H

#include "core/codes.h"

enum wait_why {
    WAIT_RATE,        /* its turn has not come: so many a second, and others stand in line */
    WAIT_RETRY_AFTER, /* the source asked for silence, or has none left until its reset */
    WAIT_QUOTA,       /* the hour or the day has none left, by our count or the source's word */
    WAIT_LANE,        /* as many as may be under way at once are: other workers' */
    WAIT_BACKOFF,     /* something failed; it is tried again after a while */
    WAIT_STORE,       /* the store is out of reach: each process goes on by itself, slowly */
    WAIT_CIRCUIT,     /* failures in a row: the partition is left alone for a while */
    WAIT_DUE,         /* tasks are there, and not due yet */
};
extern const struct code_table WAIT_WHY_CODES; /* its meanings are a few words each */

#endif
