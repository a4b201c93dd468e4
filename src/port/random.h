/* random: random bytes and numbers, for jitter, ids and owner names.
 *
 * Threads. Any number of threads may use one source.
 *
 * The adapter is adapter/system: it reads the kernel's source, and is fit for secrets. Tests run on
 * test/support/seeded_random.h, where a seed reproduces a simulation.
 */
#ifndef PATRA_PORT_RANDOM_H
#define PATRA_PORT_RANDOM_H

#include <stddef.h>
#include <stdint.h>

struct random_source {
    void (*bytes)(struct random_source *source, unsigned char *out, size_t count);
};

static inline void random_source_bytes(struct random_source *source, unsigned char *out,
                                       size_t count)
{
    source->bytes(source, out, count);
}

static inline uint64_t random_source_u64(struct random_source *source)
{
    unsigned char bytes[8];
    uint64_t value = 0;

    source->bytes(source, bytes, sizeof(bytes));
    for (size_t i = 0; i < sizeof(bytes); i++)
        value = value << 8 | bytes[i];
    return value;
}

#endif
