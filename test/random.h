/* random: chance for tests that can be had again.
 *
 * splitmix64: a counter whose every value is scrambled. Seeds are fixed, so that every run is the
 * same one. A test of many histories counts its seeds up, prints the one that failed, and with
 * PATRA_SEED in the environment plays that one alone (random_asked). Two calls in one expression
 * have no order in C: draw one by one.
 */
#ifndef PATRA_TEST_RANDOM_H
#define PATRA_TEST_RANDOM_H

#include <stdbool.h>
#include <stdint.h>
#include <stdlib.h>

struct random {
    uint64_t state;
};

static inline uint64_t random_u64(struct random *random)
{
    uint64_t z = random->state += UINT64_C(0x9e3779b97f4a7c15);

    z = (z ^ (z >> 30)) * UINT64_C(0xbf58476d1ce4e5b9);
    z = (z ^ (z >> 27)) * UINT64_C(0x94d049bb133111eb);
    return z ^ (z >> 31);
}

/* from <= result < to. The bias of the remainder does not matter for tests. */
static inline int64_t random_between(struct random *random, int64_t from, int64_t to)
{
    return from + (int64_t)(random_u64(random) % (uint64_t)(to - from));
}

static inline bool random_chance(struct random *random, int in_hundred)
{
    return random_between(random, 0, 100) < in_hundred;
}

/* True with the seed when PATRA_SEED asks for one case. */
static inline bool random_asked(uint64_t *seed)
{
    const char *text = getenv("PATRA_SEED");

    if (text == NULL || *text == '\0')
        return false;
    *seed = strtoull(text, NULL, 10);
    return true;
}

#endif
