/* rate_check: whether requests came faster than a rate allows. Exact.
 *
 * For requests at times t[0] <= t[1] <= ..., no interval may contain too many:
 *
 *      for all i <= j:   j - i + 1  <=  rate * (t[j] - t[i]) + burst
 *
 * With low(j) = min over i <= j of (i - rate * t[i]) this is one comparison per request,
 * (j + 1 - rate * t[j]) - low(j) <= burst, where low is a running minimum. Times may arrive out of
 * order (a client with several threads and virtual time): the last RATE_CHECK_KEPT are kept sorted,
 * a late one is inserted and all intervals around it are checked again. Of older requests only the
 * minimum is kept.
 */
#ifndef PATRA_SIM_AUDIT_RATE_CHECK_H
#define PATRA_SIM_AUDIT_RATE_CHECK_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

enum { RATE_CHECK_KEPT = 4096 };

struct rate_check_low { /* where the minimum is */
    double value;
    int64_t index;
    int64_t at_us;
    uint64_t ordinal;
};

struct rate_check_mark {
    int64_t at_us;
    uint64_t ordinal;
    struct rate_check_low low; /* over this request and all before it */
};

struct rate_check {
    double per_us;
    double burst;
    int64_t origin_us;
    struct rate_check_mark *marks; /* owned; allocated on first use */
    size_t count;
    int64_t dropped; /* older ones, no longer kept */
    struct rate_check_low dropped_low;
};

struct rate_check_excess { /* the worst interval that contains the new request */
    int64_t count;
    double allowed;
    int64_t span_us;
    uint64_t first; /* ordinals of its ends */
    uint64_t last;
};

void rate_check_init(struct rate_check *rate_check, double per_us, double burst);
void rate_check_release(struct rate_check *rate_check);
void rate_check_clear(struct rate_check *rate_check);

/* Adds a request; true when an interval then contains too many. */
bool rate_check_add(struct rate_check *rate_check, int64_t at_us, uint64_t ordinal,
                    struct rate_check_excess *excess);

/* Removes a request that was refused, as if it had not arrived. */
void rate_check_remove(struct rate_check *rate_check, uint64_t ordinal);

#endif
