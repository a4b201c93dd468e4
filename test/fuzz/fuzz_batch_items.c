/* Items of a batch are broken, or they are the same bytes when they are written again. */
#include <assert.h>
#include <stdint.h>

#include "core/batch_items.h"

int LLVMFuzzerTestOneInput(const uint8_t *bytes, size_t size);

int LLVMFuzzerTestOneInput(const uint8_t *bytes, size_t size)
{
    struct batch_item_reader reader;
    struct batch_item item, again;
    struct arena arena, ids;
    struct buf out;

    arena_init(&arena, 64 << 20);
    arena_init(&ids, 64 << 20);
    reader = batch_items_read(&ids, (struct str){ (const char *)bytes, size });
    while (batch_items_next(&reader, &item)) {
        struct batch_item_writer writer;
        struct batch_item_reader second;

        buf_init(&out, &arena, 32 << 20);
        writer = batch_items_begin(&out);
        batch_items_add(&writer, &item);
        batch_items_add(&writer, &item);
        second = batch_items_read(&arena, buf_str(&out));
        assert(batch_items_next(&second, &again));
        assert(again.kind == item.kind && again.hash == item.hash && str_eq(again.id, item.id));
        assert(batch_items_next(&second, &again));
        assert(again.kind == item.kind && again.hash == item.hash && str_eq(again.id, item.id));
        arena_reset(&arena);
    }
    arena_release(&ids);
    arena_release(&arena);
    return 0;
}
