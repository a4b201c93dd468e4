/* Builds every text block once, when the world opens. */
#include "sim/world/texts.h"

enum { TEXTS_BYTES_MAX = 256 << 20, ITEM_BYTES_MAX = 1 << 20 };

/* Frees the scratch memory of each piece at once; only the pieces stay. */
static bool make_block(struct texts *texts, const struct block_spec *spec, uint64_t seed,
                       struct error *err)
{
    struct str *items = ARENA_ARRAY(&texts->arena, struct str, spec->count);
    struct arena scratch;
    bool ok = true;

    if (items == NULL)
        return arena_error(&texts->arena, err);
    arena_init(&scratch, (size_t)16 * ITEM_BYTES_MAX);
    for (uint32_t i = 0; ok && i < spec->count; i++) {
        struct buf piece;

        arena_reset(&scratch);
        buf_init(&piece, &scratch, ITEM_BYTES_MAX);
        spec->make(&piece, hash_of(seed, (uint64_t)spec->block << 32 | i, 0x74657874), i);
        ok = buf_ok(&piece, err);
        if (ok)
            items[i] = arena_copy(&texts->arena, buf_str(&piece));
        if (ok && items[i].data == NULL)
            ok = arena_error(&texts->arena, err);
    }
    arena_release(&scratch);
    texts->items[spec->block] = items;
    texts->counts[spec->block] = spec->count;
    return ok;
}

bool texts_open(struct texts *texts, struct block_list blocks, uint64_t seed, struct error *err)
{
    *texts = (struct texts){ 0 };
    arena_init(&texts->arena, TEXTS_BYTES_MAX);
    for (size_t i = 0; i < blocks.count; i++) {
        const struct block_table *table = blocks.tables[i];

        for (size_t j = 0; j < table->count; j++) {
            if (!make_block(texts, &table->specs[j], seed, err))
                return false;
        }
    }
    return true;
}

void texts_close(struct texts *texts)
{
    arena_release(&texts->arena);
}
