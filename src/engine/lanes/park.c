/* A table of hashes over the rows of parked keys. */
#include "engine/lanes/park.h"

#include <inttypes.h>
#include <stdint.h>

/* Keys are up to a kilobyte each, errors too. */
enum { PARK_BYTES_MAX = 256 << 20 };

void park_init(struct park *park)
{
    *park = (struct park){ 0 };
    arena_init(&park->arena, PARK_BYTES_MAX);
}

void park_release(struct park *park)
{
    arena_release(&park->arena);
}

static uint64_t hash_on(uint64_t h, struct str text)
{
    for (size_t i = 0; i < text.len; i++)
        h = (h ^ (unsigned char)text.data[i]) * UINT64_C(0x100000001b3);
    return h;
}

static size_t slot_of(const struct park *park, struct str type, struct str id)
{
    const uint64_t h = hash_on(hash_on(UINT64_C(0xcbf29ce484222325), type) ^ '/', id);
    size_t slot = (size_t)h & (park->size - 1);

    while (park->slots[slot] != 0) {
        const struct parked *parked = &park->list.items[park->slots[slot] - 1];

        if (str_eq(parked->aggregate_id, id) && str_eq(parked->aggregate_type, type))
            return slot;
        slot = (slot + 1) & (park->size - 1);
    }
    return slot;
}

struct parked *park_find(struct park *park, struct str type, struct str id)
{
    size_t found;

    if (park->list.count == 0)
        return NULL;
    found = park->slots[slot_of(park, type, id)];
    if (found == 0 || park_is_forgotten(&park->list.items[found - 1]))
        return NULL;
    return &park->list.items[found - 1];
}

bool park_load(struct park *park, struct store *store, const struct offset_key *key,
               const struct park_limits *limits, struct error *err)
{
    const struct parked_query query = { .key = *key, .limit = (int64_t)limits->most + 1 };

    arena_reset(&park->arena);
    park->list = (struct parked_list){ 0 };
    park->room = 0;
    if (!store_parked_list(store, &park->arena, &query, &park->list, err))
        return false;
    if (park->list.count > limits->most)
        return error_set(err, ERROR_TRANSIENT, "lanes.parked",
                         "more than %zu keys wait: patra outbox parked lists them", limits->most);
    park->room = park->list.count + limits->more;
    for (park->size = 16; park->size < 2 * park->room;)
        park->size *= 2;
    park->slots = ARENA_ARRAY(&park->arena, size_t, park->size);
    if (park->slots == NULL)
        return arena_error(&park->arena, err);
    for (size_t i = 0; i < park->list.count; i++)
        park->slots[slot_of(park, park->list.items[i].aggregate_type,
                            park->list.items[i].aggregate_id)] = i + 1;
    return true;
}

bool park_add(struct park *park, const struct parked *parked)
{
    struct parked *place;
    size_t slot;

    if (park->room == 0 || park->list.count == park->room)
        return false;
    slot = slot_of(park, parked->aggregate_type, parked->aggregate_id);
    place = park->slots[slot] != 0 ? &park->list.items[park->slots[slot] - 1]
                                   : LIST_ADD(&park->arena, &park->list);
    if (place == NULL)
        return false;
    *place = *parked;
    place->aggregate_type = arena_copy(&park->arena, parked->aggregate_type);
    place->aggregate_id = arena_copy(&park->arena, parked->aggregate_id);
    place->last_error = arena_copy(&park->arena, parked->last_error);
    if (park->arena.failed)
        return false;
    park->slots[slot] = (size_t)(place - park->list.items) + 1;
    return true;
}

void park_forget(struct park *park, struct parked *parked)
{
    (void)park;
    parked->head_version = 0;
}
