/* Any bytes as an event of Protobuf: read as JSON, or refused as this event's own fault. What the
 * encoder makes of that is read back, and after one such round it stays the same: others may write
 * a value in another way than patra does. */
#include <assert.h>
#include <stdint.h>

#include "adapter/protobuf/protobuf.h"
#include "data/json.h"

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size);

/* False: the encoder has limits of its own, or the arena is full. */
static bool round_trip(struct arena *arena, struct str json, struct str *again)
{
    struct error err = { 0 };
    struct str bytes;

    if (!protobuf_event_encode(arena, json, &bytes, &err))
        return false;
    if (protobuf_event_decode(arena, bytes, again, &err))
        return true;
    assert(arena->failed);
    return false;
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
    const struct str bytes = { (const char *)data, size };
    struct str json, second, third;
    struct error err = { 0 };
    struct arena arena;

    arena_init(&arena, (size_t)32 << 20);
    if (!protobuf_event_decode(&arena, bytes, &json, &err))
        assert(arena.failed || err.level == ERROR_DATA);
    else if (round_trip(&arena, json, &second) && round_trip(&arena, second, &third))
        assert(str_eq(second, third));
    else
        assert(json_is_valid(json));
    arena_release(&arena);
    return 0;
}
