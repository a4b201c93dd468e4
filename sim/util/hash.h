/* hash: repeatable randomness. The same numbers give the same hash on any machine. */
#ifndef PATRA_SIM_UTIL_HASH_H
#define PATRA_SIM_UTIL_HASH_H

#include <stdint.h>

#include "base/str.h"

/* splitmix64's finaliser: every bit of the input moves every bit of the output. */
static inline uint64_t hash_mix(uint64_t x)
{
    x += UINT64_C(0x9E3779B97F4A7C15);
    x = (x ^ (x >> 30)) * UINT64_C(0xBF58476D1CE4E5B9);
    x = (x ^ (x >> 27)) * UINT64_C(0x94D049BB133111EB);
    return x ^ (x >> 31);
}

static inline uint64_t hash_of(uint64_t seed, uint64_t a, uint64_t b)
{
    return hash_mix(hash_mix(hash_mix(seed) ^ a) ^ b);
}

/* The hash of bytes, continued from `seed`. */
static inline uint64_t hash_bytes(uint64_t seed, struct str s)
{
    uint64_t hash = seed ^ UINT64_C(0xCBF29CE484222325);

    for (size_t i = 0; i < s.len; i++)
        hash = (hash ^ (unsigned char)s.data[i]) * UINT64_C(0x100000001B3);
    return hash_mix(hash ^ s.len);
}

/* 0 .. n-1, from the upper bits; n > 0. */
static inline uint32_t hash_below(uint64_t random, uint32_t n)
{
    return (uint32_t)((random >> 32) * n >> 32);
}

/* True in `ppm` of a million cases. */
static inline int hash_happens(uint64_t random, uint32_t ppm)
{
    return hash_below(random, 1000000) < ppm;
}

/* In [0, 1). */
static inline double hash_unit(uint64_t random)
{
    return (double)(random >> 11) / 9007199254740992.0;
}

#endif
