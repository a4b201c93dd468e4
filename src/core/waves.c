/* Numbers the keys by a table of hashes, then sorts items by how often their key was there before.
 */
#include "core/waves.h"

#include <stdint.h>

struct numbering {
    size_t *slots; /* 1 + the item that has the key first; 0: free */
    size_t size;   /* a power of two, at least twice the number of items */
    size_t *times; /* by key: how often it was seen */
};

static uint64_t hash(struct str key)
{
    uint64_t h = UINT64_C(0xcbf29ce484222325); /* FNV-1a */

    for (size_t i = 0; i < key.len; i++)
        h = (h ^ (unsigned char)key.data[i]) * UINT64_C(0x100000001b3);
    return h;
}

static size_t key_number(struct numbering *n, struct waves *waves, const struct str *keys,
                         size_t item)
{
    size_t slot = (size_t)hash(keys[item]) & (n->size - 1);

    while (n->slots[slot] != 0) {
        const size_t first = n->slots[slot] - 1;

        if (str_eq(keys[first], keys[item]))
            return waves->keys[first];
        slot = (slot + 1) & (n->size - 1);
    }
    n->slots[slot] = item + 1;
    return waves->key_count++;
}

/* Counting sort by wave: stable, so the order of the batch stays. */
static void sort(struct waves *waves, const size_t *wave_of, size_t count)
{
    for (size_t i = 0; i < count; i++)
        waves->ends[wave_of[i]]++;
    for (size_t i = 1; i < waves->count; i++)
        waves->ends[i] += waves->ends[i - 1];
    for (size_t i = count; i-- > 0;)
        waves->order[--waves->ends[wave_of[i]]] = i;
    /* Each end is now where its wave begins. */
    for (size_t i = 0; i + 1 < waves->count; i++)
        waves->ends[i] = waves->ends[i + 1];
    if (waves->count > 0)
        waves->ends[waves->count - 1] = count;
}

bool waves_cut(struct arena *arena, const struct str *keys, size_t count, struct waves *waves,
               struct error *err)
{
    struct numbering n = { .size = 2 };
    size_t *wave_of;

    while (n.size < 2 * count)
        n.size *= 2;
    *waves = (struct waves){ .order = ARENA_ARRAY(arena, size_t, count),
                             .ends = ARENA_ARRAY(arena, size_t, count),
                             .keys = ARENA_ARRAY(arena, size_t, count) };
    n.slots = ARENA_ARRAY(arena, size_t, n.size);
    n.times = ARENA_ARRAY(arena, size_t, count);
    wave_of = ARENA_ARRAY(arena, size_t, count);
    if (arena->failed)
        return arena_error(arena, err);
    for (size_t i = 0; i < count; i++) {
        waves->keys[i] = key_number(&n, waves, keys, i);
        wave_of[i] = n.times[waves->keys[i]]++;
        if (wave_of[i] >= waves->count)
            waves->count = wave_of[i] + 1;
    }
    sort(waves, wave_of, count);
    return true;
}
