/* pace: whether requests came faster than allowed, judged exactly.
 *
 * For requests at times t[0] <= t[1] <= ..., no interval may hold too many:
 *
 *      for all i <= j:   j - i + 1  <=  rate * (t[j] - t[i]) + burst
 *
 * With low(j) = min over i <= j of (i - rate * t[i]) this is one comparison per request,
 * (j + 1 - rate * t[j]) - low(j) <= burst, and low is kept as a running minimum. Times may come out
 * of order (a client with several threads and virtual time): the last PACE_KEPT are kept sorted,
 * and a late one is put in its place and all intervals around it are judged again. What is older is
 * only remembered by its minimum.
 */
#ifndef PATRA_SIM_AUDIT_RATE_CHECK_H
#define PATRA_SIM_AUDIT_RATE_CHECK_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

enum { PACE_KEPT = 4096 };

struct pace_low { /* where the minimum is */
    double value;
    int64_t index;
    int64_t at_us;
    uint64_t ordinal;
};

struct pace_mark {
    int64_t at_us;
    uint64_t ordinal;
    struct pace_low low; /* over this one and all before */
};

struct pace {
    double per_us;
    double burst;
    int64_t origin_us;
    struct pace_mark *marks; /* owned; made when first needed */
    size_t count;
    int64_t dropped; /* older ones, no longer kept */
    struct pace_low dropped_low;
};

struct pace_excess { /* the worst interval that holds the new request */
    int64_t count;
    double allowed;
    int64_t span_us;
    uint64_t first; /* ordinals of its ends */
    uint64_t last;
};

void pace_init(struct pace *pace, double per_us, double burst);
void pace_release(struct pace *pace);
void pace_clear(struct pace *pace);

/* Notes a request; true when it makes an interval too full. */
bool pace_note(struct pace *pace, int64_t at_us, uint64_t ordinal, struct pace_excess *excess);

/* Takes the request back, as if it had not come: it was refused. */
void pace_forget(struct pace *pace, uint64_t ordinal);

#endif
