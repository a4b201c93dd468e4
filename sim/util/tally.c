/* An open-addressing hash table that doubles up to its limit. */
#include "sim/util/tally.h"

#include <assert.h>
#include <stdbool.h>
#include <stdlib.h>
#include <string.h>

#include "sim/util/hash.h"

enum { CAPACITY_MIN = 256 };

void tally_init(struct tally *tally, size_t limit)
{
    assert(limit > 0);
    *tally = (struct tally){ .limit = limit };
}

void tally_release(struct tally *tally)
{
    free(tally->entries);
    *tally = (struct tally){ 0 };
}

void tally_clear(struct tally *tally)
{
    free(tally->entries);
    *tally = (struct tally){ .limit = tally->limit };
}

static struct tally_entry *place(struct tally_entry *entries, size_t capacity, uint64_t key)
{
    size_t at = (size_t)hash_mix(key) & (capacity - 1);

    while (entries[at].count != 0 && entries[at].key != key)
        at = (at + 1) & (capacity - 1);
    return &entries[at];
}

static bool grow(struct tally *tally)
{
    const size_t capacity = tally->capacity > 0 ? tally->capacity * 2 : CAPACITY_MIN;
    struct tally_entry *entries = calloc(capacity, sizeof(*entries));

    if (entries == NULL)
        return false;
    tally->used = 0; /* an entry handed out but left at count 0 is still free */
    for (size_t i = 0; i < tally->capacity; i++) {
        if (tally->entries[i].count == 0)
            continue;
        *place(entries, capacity, tally->entries[i].key) = tally->entries[i];
        tally->used++;
    }
    free(tally->entries);
    tally->entries = entries;
    tally->capacity = capacity;
    return true;
}

struct tally_entry *tally_at(struct tally *tally, uint64_t key)
{
    struct tally_entry *entry;

    if (tally->used * 2 >= tally->capacity && tally->used < tally->limit && !grow(tally))
        return NULL;
    entry = place(tally->entries, tally->capacity, key);
    if (entry->count == 0) {
        if (tally->used >= tally->limit)
            return NULL;
        tally->used++;
        entry->key = key;
    }
    return entry;
}
