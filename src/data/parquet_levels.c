/* Levels of a page: one run when all are equal, which is the usual case, else bits. */
#include "data/parquet.h"

#include <assert.h>

#include "data/thrift.h"

enum { GROUP = 8 }; /* levels that are packed together */

static bool are_equal(struct str levels)
{
    for (size_t i = 1; i < levels.len; i++) {
        if (levels.data[i] != levels.data[0])
            return false;
    }
    return true;
}

/* Eight levels, the first in the lowest bits; those beyond the end are 0. */
static void add_group(struct buf *out, struct str levels, size_t at, int width)
{
    uint32_t bits = 0;

    for (size_t i = 0; i < GROUP && at + i < levels.len; i++)
        bits |= (uint32_t)(unsigned char)levels.data[at + i] << (i * (size_t)width);
    for (int i = 0; i < width; i++)
        buf_add_char(out, (char)(bits >> (8 * i)));
}

static void add_length(struct buf *out, size_t length)
{
    for (int i = 0; i < 4; i++)
        buf_add_char(out, (char)(length >> (8 * i)));
}

static size_t varint_size(uint64_t value)
{
    size_t size = 1;

    while (value >>= 7)
        size++;
    return size;
}

void parquet_levels(struct buf *out, struct str levels, int width)
{
    const size_t groups = (levels.len + GROUP - 1) / GROUP;
    const uint64_t packed = (uint64_t)groups << 1 | 1;
    const uint64_t run = (uint64_t)levels.len << 1;

    assert(width >= 1 && width <= 2);
    if (levels.len > 0 && are_equal(levels)) {
        add_length(out, varint_size(run) + 1);
        thrift_varint(out, run);
        buf_add_char(out, levels.data[0]);
        return;
    }
    add_length(out, varint_size(packed) + groups * (size_t)width);
    thrift_varint(out, packed);
    for (size_t i = 0; i < groups; i++)
        add_group(out, levels, i * GROUP, width);
}
