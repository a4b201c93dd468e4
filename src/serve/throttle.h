/* throttle: how many requests a token or an address may make: a bucket for each.
 *
 * A bucket holds up to `burst` requests and fills with `rate` a second. There is room for
 * THROTTLE_PLACES of them; beyond that, the one that was used longest ago is forgotten, which only
 * ever allows more. Arithmetic: the caller says what time it is. Not for two threads at once.
 */
#ifndef PATRA_SERVE_THROTTLE_H
#define PATRA_SERVE_THROTTLE_H

#include <stdbool.h>
#include <stdint.h>

#include "base/str.h"

enum { THROTTLE_PLACES = 1024, THROTTLE_KEY_MAX = 48 };

struct throttle_bucket {
    char key[THROTTLE_KEY_MAX]; /* "": free */
    double left;
    int64_t at_us; /* monotonic: when it was used last */
};

struct throttle {
    double rate;
    double burst;
    struct throttle_bucket places[THROTTLE_PLACES];
};

/* Whether one more is allowed; it is then taken. Longer keys are cut. */
bool throttle_take(struct throttle *throttle, struct str key, int64_t now_us);
/* Whether the next one would be. */
bool throttle_is_open(struct throttle *throttle, struct str key, int64_t now_us);

#endif
