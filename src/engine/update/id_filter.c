/* A Bloom filter of ids. */
#include "engine/update/id_filter.h"

#include "core/slice.h"

enum { PROBES = 4 };

/* Plain FNV differs too little in its high bits for ids that differ in their last letter. */
static uint64_t mix(uint64_t x)
{
    x = (x ^ (x >> 33)) * UINT64_C(0xff51afd7ed558ccd);
    x = (x ^ (x >> 33)) * UINT64_C(0xc4ceb9fe1a85ec53);
    return x ^ (x >> 33);
}

/* The two halves of one hash give any number of places. */
static uint64_t place(uint64_t hash, int probe)
{
    const uint64_t step = (hash >> 32) | 1;

    return (hash + (uint64_t)probe * step) % ID_FILTER_BITS;
}

void id_filter_add(struct id_filter *filter, struct str id)
{
    const uint64_t hash = mix(slice_hash(id));

    for (int i = 0; i < PROBES; i++)
        filter->words[place(hash, i) / 64] |= UINT64_C(1) << (place(hash, i) % 64);
}

bool id_filter_has(const struct id_filter *filter, struct str id)
{
    const uint64_t hash = mix(slice_hash(id));

    for (int i = 0; i < PROBES; i++) {
        if ((filter->words[place(hash, i) / 64] & (UINT64_C(1) << (place(hash, i) % 64))) == 0)
            return false;
    }
    return true;
}
