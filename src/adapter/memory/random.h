/* memory_random: chance that can be had again: the same seed gives the same bytes (splitmix64). */
#ifndef PATRA_ADAPTER_MEMORY_RANDOM_H
#define PATRA_ADAPTER_MEMORY_RANDOM_H

#include <stdatomic.h>

#include "port/random.h"

struct memory_random {
    struct random_source source; /* first: hand out &memory.source */
    _Atomic uint64_t state;
};

void memory_random_init(struct memory_random *random, uint64_t seed);

#endif
