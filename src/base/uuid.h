/* uuid: UUID version 7 (RFC 9562), an id that sorts by the time it was made.
 *
 *      milliseconds since 1970 (48) | 7 (4) | counter (12) | 2 (2) | random (62)
 *
 * Ids made from one state are strictly increasing, whatever the clock does. Within a millisecond,
 * and while the clock is before the last id, the counter is incremented; when it overflows, the
 * milliseconds advance by one. The counter starts at a random value in its lower half, so at least
 * 2,048 ids fit into a millisecond. Time and random bits are parameters. Not for use by two threads
 * at once.
 */
#ifndef PATRA_BASE_UUID_H
#define PATRA_BASE_UUID_H

#include <stdbool.h>
#include <stdint.h>

#include "base/attr.h"
#include "base/str.h"

enum { UUID_RANDOM_BYTES = 10, UUID_TEXT_MAX = 37 };

struct uuid {
    unsigned char bytes[16];
};

struct uuid_state { /* the zero value is a state that has made no id */
    int64_t last_ms;
    uint32_t counter;
    bool started;
};

struct uuid uuid_make(struct uuid_state *state, int64_t now_us,
                      const unsigned char random[UUID_RANDOM_BYTES]);

/* "0190163d-8694-739b-aea5-966c26f8ad91", lower case, NUL-terminated. */
void uuid_format(struct uuid uuid, char text[UUID_TEXT_MAX]);

#endif
