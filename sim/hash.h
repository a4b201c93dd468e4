/* hash: chance that can be asked again.
 *
 * Everything random in the simulator is a function of (seed, what it is about, which question):
 * there is no generator with a state, so any record can be made at any moment, in any order and by
 * any thread, and is always the same.
 */
#ifndef PATRA_SIM_HASH_H
#define PATRA_SIM_HASH_H

#include <stdint.h>

/* The finalizer of splitmix64: every bit of the input moves every bit of the output. */
static inline uint64_t hash_mix(uint64_t x)
{
    x ^= x >> 30;
    x *= UINT64_C(0xbf58476d1ce4e5b9);
    x ^= x >> 27;
    x *= UINT64_C(0x94d049bb133111eb);
    return x ^ x >> 31;
}

static inline uint64_t hash_of(uint64_t seed, uint64_t about, uint64_t question)
{
    return hash_mix(hash_mix(seed + about * UINT64_C(0x9e3779b97f4a7c15)) +
                    (question + 1) * UINT64_C(0xd1342543de82ef95));
}

/* 0 .. n-1, of the upper bits; n > 0. */
static inline uint32_t hash_below(uint64_t hash, uint32_t n)
{
    return (uint32_t)((hash >> 32) * n >> 32);
}

/* True in `ppm` of a million cases. */
static inline int hash_happens(uint64_t hash, uint32_t ppm)
{
    return hash_below(hash, 1000000) < ppm;
}

#endif
