/* random: reproducible random numbers for tests.
 *
 * splitmix64: a counter whose values are scrambled. Seeds are fixed, so that every run is the same.
 * Two calls in one expression have no order in C: call one at a time.
 *
 * A test of many histories has a seed for each and prints the seed that failed. PATRA_SEED in the
 * environment runs only that history:
 *
 *      const struct random_seeds seeds = random_seeds(HISTORIES);
 *
 *      for (uint64_t seed = seeds.from; seed < seeds.to; seed++)
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

struct random_seeds {
    uint64_t from;
    uint64_t to;
    bool is_one; /* one seed was chosen: checks over all histories do not apply */
};

static inline struct random_seeds random_seeds(uint64_t count)
{
    const char *asked = getenv("PATRA_SEED");
    uint64_t seed;

    if (asked == NULL || *asked == '\0')
        return (struct random_seeds){ .from = 1, .to = count + 1 };
    seed = strtoull(asked, NULL, 10);
    return (struct random_seeds){ .from = seed, .to = seed + 1, .is_one = true };
}

#endif
