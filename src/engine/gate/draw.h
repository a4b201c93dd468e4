/* draw: permits out of a bucket ahead of time.
 *
 * A bucket's permit is for now. One that is taken now and used later, at the instant at which the
 * bucket would have given it, is as good: the bucket is simply asked at that instant, and lives
 * ahead of the clock from then on. Whoever comes next is asked at the bucket's own time, so nobody
 * overtakes those who were told theirs, and the instants told keep the bucket's promise.
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

/* Returns how many permits were taken, and when each is due. With none *at_us is when the first
 * would have been due, and the bucket is as it was. */
size_t draw(struct bucket *bucket, const struct bucket_config *config,
            const struct draw_request *ask, int64_t *dues_us, int64_t *at_us);

/* Where the clock was set back, a bucket lives further ahead than anybody was ever told to wait;
 * it begins again, empty, now. */
void draw_heal(struct bucket *bucket, int64_t now_us, int64_t ahead_max_us);

#endif
