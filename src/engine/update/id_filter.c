/* A Bloom filter of ids. */
#include "engine/update/id_filter.h"

#include "core/slice.h"

enum { PROBES = 4 };

/* The two halves of one hash give any number of places. */
static uint64_t place(uint64_t hash, int probe)
{
    const uint64_t step = (hash >> 32) | 1;

    return (hash + (uint64_t)probe * step) % ID_FILTER_BITS;
}

void id_filter_add(struct id_filter *filter, struct str id)
{
    const uint64_t hash = slice_hash_mixed(id);

    for (int i = 0; i < PROBES; i++)
        filter->words[place(hash, i) / 64] |= UINT64_C(1) << (place(hash, i) % 64);
}

bool id_filter_has(const struct id_filter *filter, struct str id)
{
    const uint64_t hash = slice_hash_mixed(id);

    for (int i = 0; i < PROBES; i++) {
        if ((filter->words[place(hash, i) / 64] & (UINT64_C(1) << (place(hash, i) % 64))) == 0)
            return false;
    }
    return true;
}
