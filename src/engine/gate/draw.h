/* draw: takes permits out of a bucket ahead of time.
 *
 * A bucket gives permits for now. A permit that is taken now and used at the instant at which the
 * bucket would have given it is as good: the bucket is called with that instant, and is ahead of
 * the clock from then on. The next caller is served at the bucket's own time, so that nobody
 * overtakes, and all instants keep the bucket's promise.
 */
#ifndef PATRA_ENGINE_GATE_DRAW_H
#define PATRA_ENGINE_GATE_DRAW_H

#include <stddef.h>

#include "core/bucket.h"

struct draw_request {
    int64_t cost;
    int64_t from_us;  /* nothing is due before */
    int64_t first_us; /* the first permit may be due until here, */
    int64_t rest_us;  /* the others until there */
    size_t count;
};

/* Returns how many permits were taken, and when each is due. With none, *at_us is when the first
 * would have been due, and the bucket is unchanged. */
size_t draw(struct bucket *bucket, const struct bucket_config *config,
            const struct draw_request *ask, int64_t *dues_us, int64_t *at_us);

/* After the clock was set back, a bucket may be further ahead than any wait can be; it then starts
 * again, empty, now. */
void draw_heal(struct bucket *bucket, int64_t now_us, int64_t ahead_max_us);

#endif
