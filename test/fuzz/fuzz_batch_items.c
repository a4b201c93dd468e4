/* Items of a batch are broken, or they are the same bytes when they are written again. */
#include <assert.h>
#include <stdint.h>

#include "core/batch_items.h"

int LLVMFuzzerTestOneInput(const uint8_t *bytes, size_t size);

int LLVMFuzzerTestOneInput(const uint8_t *bytes, size_t size)
{
    struct batch_item_reader reader = batch_items_read((struct str){ (const char *)bytes, size });
    struct batch_item item, again;
    struct arena arena;
    struct buf out;

    arena_init(&arena, 64 << 20);
    while (batch_items_next(&reader, &item)) {
        struct batch_item_reader second;

        buf_init(&out, &arena, 32 << 20);
        batch_items_begin(&out);
        batch_items_add(&out, &item);
        second = batch_items_read(buf_str(&out));
        assert(batch_items_next(&second, &again));
        assert(again.kind == item.kind && again.hash == item.hash && str_eq(again.id, item.id));
        arena_reset(&arena);
    }
    arena_release(&arena);
    return 0;
}
