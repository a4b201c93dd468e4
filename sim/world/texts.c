#include "sim/world/texts.h"

#include "sim/protocol/body.h"

enum { TEXTS_BYTES_MAX = 256 << 20, ITEM_BYTES_MAX = 1 << 20 };

/* The bytes that were used while making are given back at once: pieces stay, scratch goes. */
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
        spec->make(&piece, dice_roll(seed, (uint64_t)spec->block << 32 | i, 0x74657874), i);
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

bool texts_open(struct texts *texts, uint64_t seed, struct error *err)
{
    const struct block_table *const tables[] = {
        &body_shared_blocks,    &body_crossref_blocks, &body_datacite_blocks,
        &body_europepmc_blocks, &body_generic_blocks,  &body_oai_blocks,
        &body_openalex_blocks,  &body_pubmed_blocks,   &body_pubmed_summary_blocks,
    };

    *texts = (struct texts){ 0 };
    arena_init(&texts->arena, TEXTS_BYTES_MAX);
    for (size_t i = 0; i < ARRAY_LEN(tables); i++) {
        for (size_t j = 0; j < tables[i]->count; j++) {
            if (!make_block(texts, &tables[i]->specs[j], seed, err))
                return false;
        }
    }
    return true;
}

void texts_close(struct texts *texts)
{
    arena_release(&texts->arena);
}
