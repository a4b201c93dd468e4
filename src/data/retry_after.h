/* retry_after: how long a server asks clients to wait.
 *
 * The header's value is a number of seconds or a date. It is never clamped: a caller with a
 * maximum must decide what to do about a longer wait.
 *
 *      429 | 5xx   "120"                             WAIT, 120 s
 *                  "Fri, 31 Dec 1999 23:59:59 GMT"   WAIT until then; is_past when it is over
 *                  "0"                               WAIT, is_past: the caller's own back-off
 *                  "soon"                            INVALID: the same
 *                  absent                            NONE: the same
 *      200, 422    "59"                              not obeyed; some servers send it with every
 * reply
 */
#ifndef PATRA_DATA_RETRY_AFTER_H
#define PATRA_DATA_RETRY_AFTER_H

#include <stdbool.h>
#include <stdint.h>

#include "base/str.h"

struct retry_after {
    enum { RETRY_AFTER_NONE, RETRY_AFTER_WAIT, RETRY_AFTER_INVALID } kind;
    int64_t wait_us; /* of WAIT: from now, 0 when is_past. At most RETRY_AFTER_US_MAX */
    bool is_past;    /* of WAIT: zero seconds or a date not after now */
};

/* A hundred years: a number too large for this means the same, and still adds to any instant. */
#define RETRY_AFTER_US_MAX (INT64_C(36525) * 24 * 60 * 60 * 1000000)

/* `value` has data == NULL when the response has no such header. A fraction of a second is rounded
 * up, a date is read strictly and then leniently (http_date.h). */
struct retry_after retry_after_parse(struct str value, int64_t now_us);

/* True for the statuses for which the header is followed: 429 and 5xx. */
bool retry_after_is_obeyed(int status);

#endif
