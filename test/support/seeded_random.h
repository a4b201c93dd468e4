/* seeded_random: the random port from a seed: the same seed gives the same bytes (splitmix64). */
#ifndef PATRA_TEST_SUPPORT_SEEDED_RANDOM_H
#define PATRA_TEST_SUPPORT_SEEDED_RANDOM_H

#include <stdatomic.h>

#include "port/random.h"

struct seeded_random {
    struct random_source source; /* first: hand out &seeded.source */
    _Atomic uint64_t state;
};

void seeded_random_init(struct seeded_random *random, uint64_t seed);

#endif
