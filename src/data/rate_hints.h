/* rate_hints: what a reply's headers say about how often one may ask.
 *
 *      Retry-After: 120                                     leave me alone for two minutes
 *      X-RateLimit-Remaining: 3, X-RateLimit-Reset: 57      three more in the next 57 seconds
 *      x-rate-limit-limit: 50, x-rate-limit-interval: 1s    fifty a second
 *
 * The spellings seen: X-RateLimit-*, X-Rate-Limit-*, RateLimit-*. A reset is a number of seconds
 * from now, or, when it is large, an instant in seconds since 1970. Instants, and a Retry-After
 * that is a date, are held against the reply's own Date where it has one: a clock of ours that is
 * wrong, or was set, makes no wait shorter. A limit tells a rate only where its interval is told
 * too: NCBI counts by the second, OpenAlex by the day.
 *
 * Retry-After is obeyed where it means that: on 429 and 5xx, and where a rule of the source says
 * that the answer was a refusal (`is_refused`). Some servers send it with every reply.
 */
#ifndef PATRA_DATA_RATE_HINTS_H
#define PATRA_DATA_RATE_HINTS_H

#include <stdbool.h>
#include <stdint.h>

#include "data/http_message.h"

struct rate_hints {
    bool has_retry_after;   /* a wait that is to be obeyed */
    int64_t retry_after_us; /* from now on; more than 0 */
    bool has_remaining;
    int64_t remaining;
    int64_t reset_at_us;   /* 0: not told */
    int64_t limit;         /* 0: not told */
    int64_t provider_rate; /* millionths of a request per second; 0: not told */
};

struct rate_hints rate_hints_of(const struct http_reply *reply, bool is_refused, int64_t now_us);

#endif
