/* random: chance, for jitter, ids and owner names.
 *
 * Threads. Any number of threads may use one source.
 *
 * The adapters: adapter/system asks the kernel, and is fit for secrets; adapter/memory counts on
 * from a seed, so that a simulation can be played again.
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
