/* lane: hashing a key to its lane. */
#include "core/lane.h"

#include "core/limits.h"

/* FNV-1a; the extra step after the bytes makes "ab","c" differ from "a","bc". */
static uint64_t add_bytes(uint64_t hash, struct str bytes)
{
    for (size_t i = 0; i < bytes.len; i++)
        hash = (hash ^ (unsigned char)bytes.data[i]) * UINT64_C(0x100000001b3);
    return (hash ^ 0xff) * UINT64_C(0x100000001b3);
}

int64_t lane_of(struct str aggregate_type, struct str aggregate_id)
{
    const uint64_t hash =
        add_bytes(add_bytes(UINT64_C(0xcbf29ce484222325), aggregate_type), aggregate_id);

    return (int64_t)((hash ^ hash >> 32) % OUTBOX_LANES);
}
