/* The bits and the Fenwick tree of their counts. */
#include "sim/world/bits.h"

#include <assert.h>
#include <stdlib.h>
#include <string.h>

enum { WORD_BITS = 64, BLOCK_WORDS = 8, BLOCK_BITS = WORD_BITS * BLOCK_WORDS };

static size_t word_count(uint32_t bits)
{
    return ((size_t)bits + BLOCK_BITS - 1) / BLOCK_BITS * BLOCK_WORDS;
}

static size_t block_count(uint32_t bits)
{
    return ((size_t)bits + BLOCK_BITS - 1) / BLOCK_BITS;
}

bool bits_open(struct bits *bits, uint32_t count)
{
    bits->count = count;
    bits->words = calloc(word_count(count) + 1, sizeof(*bits->words));
    bits->tree = calloc(block_count(count) + 1, sizeof(*bits->tree));
    return bits->words != NULL && bits->tree != NULL;
}

void bits_close(struct bits *bits)
{
    free(bits->words);
    free(bits->tree);
    *bits = (struct bits){ 0 };
}

void bits_flip(struct bits *bits, uint32_t place, bool on)
{
    const size_t blocks = block_count(bits->count);
    const uint64_t mask = UINT64_C(1) << place % WORD_BITS;

    assert(((bits->words[place / WORD_BITS] & mask) != 0) != on);
    bits->words[place / WORD_BITS] ^= mask;
    for (size_t i = place / BLOCK_BITS + 1; i <= blocks; i += i & (~i + 1))
        bits->tree[i] += on ? 1U : UINT32_MAX;
}

void bits_clear(struct bits *bits)
{
    memset(bits->words, 0, word_count(bits->count) * sizeof(*bits->words));
}

void bits_set_uncounted(struct bits *bits, uint32_t place)
{
    bits->words[place / WORD_BITS] |= UINT64_C(1) << place % WORD_BITS;
}

void bits_recount(struct bits *bits)
{
    const size_t blocks = block_count(bits->count);

    for (size_t i = 1; i <= blocks; i++) {
        bits->tree[i] = 0;
        for (size_t word = (i - 1) * BLOCK_WORDS; word < i * BLOCK_WORDS; word++)
            bits->tree[i] += (uint32_t)__builtin_popcountll(bits->words[word]);
    }
    for (size_t i = 1; i <= blocks; i++) {
        const size_t parent = i + (i & (~i + 1));

        if (parent <= blocks)
            bits->tree[parent] += bits->tree[i];
    }
}

size_t bits_rank(const struct bits *bits, uint32_t place)
{
    size_t rank = 0;

    for (size_t i = place / BLOCK_BITS; i > 0; i -= i & (~i + 1))
        rank += bits->tree[i];
    for (size_t word = (size_t)place / BLOCK_BITS * BLOCK_WORDS; word < place / WORD_BITS; word++)
        rank += (size_t)__builtin_popcountll(bits->words[word]);
    if (place % WORD_BITS != 0)
        rank += (size_t)__builtin_popcountll(bits->words[place / WORD_BITS] &
                                             ((UINT64_C(1) << place % WORD_BITS) - 1));
    return rank;
}

uint32_t bits_select(const struct bits *bits, size_t rank)
{
    const size_t blocks = block_count(bits->count);
    size_t block = 0, word;
    uint64_t rest;

    for (size_t step = (size_t)1 << 31; step > 0; step >>= 1) {
        if (block + step <= blocks && bits->tree[block + step] <= rank) {
            block += step;
            rank -= bits->tree[block];
        }
    }
    for (word = block * BLOCK_WORDS;; word++) {
        const size_t here = (size_t)__builtin_popcountll(bits->words[word]);

        if (rank < here)
            break;
        rank -= here;
    }
    for (rest = bits->words[word]; rank > 0; rank--)
        rest &= rest - 1;
    return (uint32_t)(word * WORD_BITS) + (uint32_t)__builtin_ctzll(rest);
}

uint32_t bits_next(const struct bits *bits, uint32_t place, uint32_t end)
{
    size_t word = place / WORD_BITS;
    uint64_t rest;

    if (place >= end)
        return end;
    rest = bits->words[word] & ~UINT64_C(0) << place % WORD_BITS;
    while (rest == 0) {
        if (++word * WORD_BITS >= end)
            return end;
        rest = bits->words[word];
    }
    place = (uint32_t)(word * WORD_BITS) + (uint32_t)__builtin_ctzll(rest);
    return place < end ? place : end;
}
