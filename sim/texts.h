/* texts: the pieces that bodies are put together from.
 *
 * A body must be made a million times a second, so it is little more than copies of ready pieces:
 * whole author lists, abstracts, reference lists, already written in the syntax and with the
 * escapes of their API. They are made once, when the world opens, from the word tables (words.c)
 * and the seed. Which piece goes where is the hash of (seed, record, version).
 *
 * Each body file brings the table of its blocks; texts.c knows none of them.
 */
#ifndef PATRA_SIM_TEXTS_H
#define PATRA_SIM_TEXTS_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "base/arena.h"
#include "base/attr.h"
#include "base/buf.h"
#include "base/error.h"
#include "sim/dice.h"

enum block {
    BLOCK_TITLE_JSON, /* without quotes */
    BLOCK_TITLE_XML,
    BLOCK_ABSTRACT_JSON,
    BLOCK_ABSTRACT_XML,
    BLOCK_GENERIC_PEOPLE,
    BLOCK_GENERIC_EXTRAS,
    BLOCK_COUNT,
};

enum { BLOCK_ITEMS_MAX = 512 };

struct block_spec {
    enum block block;
    uint32_t count;
    void (*make)(struct buf *out, uint64_t hash, uint32_t index);
};

struct texts {
    struct arena arena;
    struct str *items[BLOCK_COUNT];
    uint32_t counts[BLOCK_COUNT];
};

bool texts_open(struct texts *texts, uint64_t seed, struct error *err) MUST_CHECK;
void texts_close(struct texts *texts);
size_t texts_bytes(const struct texts *texts);

static inline struct str texts_pick(const struct texts *texts, enum block block, uint64_t hash)
{
    return texts->items[block][dice_below(hash, texts->counts[block])];
}

#endif
