/* wait: the reason why no request is sent at the moment. A word for programs and a text for people;
 * no decision depends on it.
 */
#ifndef PATRA_CORE_WAIT_H
#define PATRA_CORE_WAIT_H

#include "core/codes.h"

enum wait_reason {
    WAIT_RATE,        /* the rate allows no request yet, or others are first in line */
    WAIT_RETRY_AFTER, /* the source asked patra to wait, or allows nothing until its reset */
    WAIT_QUOTA,       /* the hour or the day has nothing left, by our count or the source's */
    WAIT_SLOT,        /* as many requests or tasks as may run at once are running */
    WAIT_BACKOFF,     /* an attempt failed and will be retried */
    WAIT_STORE,       /* the store is unreachable: each process continues on its own, slowly */
    WAIT_CIRCUIT,     /* several failures in a row: the partition is left alone for a while */
    WAIT_DUE,         /* tasks are in the queue, but not due yet */
};
extern const struct code_table WAIT_REASON_CODES; /* its meanings are a few words each */

#endif
