/* pace: how a loop that has found nothing waits before it looks again. */
#ifndef PATRA_ENGINE_SESSION_PACE_H
#define PATRA_ENGINE_SESSION_PACE_H

#include <stdint.h>

#include "base/instant.h"
#include "port/random.h"

#define PACE_MIN_US (5 * INT64_C(1000))
#define PACE_MAX_US US_PER_SECOND

/* Twice as long as the last time, from PACE_MIN_US on. */
int64_t pace_longer_us(int64_t wait_us, int64_t most_us);

/* By a fifth more or less, so that processes that were started together do not look together. */
int64_t pace_with_chance_us(struct random_source *random, int64_t wait_us);

#endif
