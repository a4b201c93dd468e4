/* A hash table with open addressing, of hashes. */
#include "engine/fetch/id_set.h"

#include <string.h>

#include "core/slice.h"

enum { CAPACITY_MIN = 64 };

void id_set_init(struct id_set *set, struct arena *arena)
{
    *set = (struct id_set){ .arena = arena };
}

void id_set_clear(struct id_set *set)
{
    if (set->capacity > 0)
        memset(set->slots, 0, set->capacity * sizeof(set->slots[0]));
    set->count = 0;
    set->is_full = false;
}

uint64_t id_set_hash(struct str id)
{
    uint64_t hash = slice_hash(id);

    /* FNV gives similar ids similar low bits, and the table uses those. */
    hash ^= hash >> 33;
    hash *= UINT64_C(0xff51afd7ed558ccd);
    hash ^= hash >> 33;
    return hash != 0 ? hash : 1;
}

/* The slot that has the hash, or the free one where it belongs. */
static size_t slot_of(const uint64_t *slots, size_t capacity, uint64_t hash)
{
    size_t slot = hash & (capacity - 1);

    while (slots[slot] != 0 && slots[slot] != hash)
        slot = (slot + 1) & (capacity - 1);
    return slot;
}

static bool grow(struct id_set *set, struct error *err)
{
    const size_t capacity = set->capacity > 0 ? set->capacity * 2 : CAPACITY_MIN;
    uint64_t *slots = ARENA_ARRAY(set->arena, uint64_t, capacity);

    if (slots == NULL)
        return arena_error(set->arena, err);
    for (size_t i = 0; i < set->capacity; i++) {
        if (set->slots[i] != 0)
            slots[slot_of(slots, capacity, set->slots[i])] = set->slots[i];
    }
    set->slots = slots;
    set->capacity = capacity;
    return true;
}

bool id_set_add(struct id_set *set, uint64_t hash, bool *is_new, struct error *err)
{
    size_t slot;

    if ((set->count + 1) * 2 > set->capacity && set->count < ID_SET_MAX && !grow(set, err))
        return false;
    slot = slot_of(set->slots, set->capacity, hash);
    *is_new = set->slots[slot] == 0;
    if (*is_new && set->count == ID_SET_MAX)
        set->is_full = true;
    if (!*is_new || set->is_full)
        return true;
    set->slots[slot] = hash;
    set->count++;
    return true;
}

bool id_set_has(const struct id_set *set, uint64_t hash)
{
    return set->capacity > 0 && set->slots[slot_of(set->slots, set->capacity, hash)] != 0;
}
