/* splitmix64, safe for several threads: the state is one atomic counter. */
#include "seeded_random.h"

static uint64_t next(struct seeded_random *random)
{
    const uint64_t step = UINT64_C(0x9e3779b97f4a7c15);
    uint64_t z = atomic_fetch_add(&random->state, step) + step;

    z = (z ^ (z >> 30)) * UINT64_C(0xbf58476d1ce4e5b9);
    z = (z ^ (z >> 27)) * UINT64_C(0x94d049bb133111eb);
    return z ^ (z >> 31);
}

static void bytes(struct random_source *source, unsigned char *out, size_t count)
{
    uint64_t word = 0;

    for (size_t i = 0; i < count; i++) {
        if (i % 8 == 0)
            word = next((struct seeded_random *)source);
        out[i] = (unsigned char)(word >> (56 - i % 8 * 8));
    }
}

void seeded_random_init(struct seeded_random *random, uint64_t seed)
{
    random->source.bytes = bytes;
    atomic_init(&random->state, seed);
}
