/* rate_hints: what the headers of a response say about the rate of requests.
 *
 *      Retry-After: 120                                     no request for two minutes
 *      X-RateLimit-Remaining: 3, X-RateLimit-Reset: 57      three more in the next 57 seconds
 *      x-rate-limit-limit: 50, x-rate-limit-interval: 1s    fifty a second
 *
 * The spellings seen: X-RateLimit-*, X-Rate-Limit-*, RateLimit-*. A reset is a number of seconds
 * from now, or, when it is large, an instant in seconds since 1970. Instants, and a Retry-After
 * that is a date, are compared with the response's own Date where it has one: a wrong clock of ours
 * makes no wait shorter. A limit is a rate only together with its interval: NCBI counts by the
 * second, OpenAlex by the day. Less than one request an hour is no rate: whoever means that refuses
 * (429), and one header must not slow a source down until somebody notices.
 *
 * A wait beyond RATE_HINT_WAIT_MAX_US is obeyed for that long, and then a request asks again: one
 * that is written in milliseconds, or as an instant, must not silence a source for years.
 *
 * Retry-After is obeyed on 429 and 5xx, and where a rule of the source says that the response is a
 * refusal (is_refused). Some servers send it with every response. Of several, the longest counts.
 */
#ifndef PATRA_DATA_RATE_HINTS_H
#define PATRA_DATA_RATE_HINTS_H

#include <stdbool.h>
#include <stdint.h>

#include "base/instant.h"
#include "data/http_message.h"

#define RATE_HINT_WAIT_MAX_US US_PER_DAY

struct rate_hints {
    bool has_retry_after;   /* to be obeyed */
    int64_t retry_after_us; /* from now; more than 0 */
    bool has_remaining;
    int64_t remaining;
    int64_t reset_at_us;   /* 0: unknown */
    int64_t limit;         /* 0: unknown */
    int64_t provider_rate; /* millionths of a request per second; 0: unknown */
};

struct rate_hints rate_hints_of(const struct http_response *reply, bool is_refused, int64_t now_us);

#endif
