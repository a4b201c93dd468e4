/* The compact protocol: field numbers as differences, numbers as zigzag varints.
 *
 * Written by hand: Debian's Thrift library for C needs GLib and generated code, for six calls. */
#include "data/thrift.h"

#include <assert.h>

enum { BOOL_TRUE = 1, BOOL_FALSE = 2, DELTA_MAX = 15, LIST_SHORT_MAX = 14 };

void thrift_writer_init(struct thrift_writer *w, struct buf *out)
{
    *w = (struct thrift_writer){ .out = out };
}

void thrift_varint(struct buf *out, uint64_t value)
{
    while (value >= 0x80) {
        buf_add_char(out, (char)(value | 0x80));
        value >>= 7;
    }
    buf_add_char(out, (char)value);
}

/* Small numbers of either sign become small ones without: 0, -1, 1, -2 are 0, 1, 2, 3. */
static void add_zigzag(struct buf *out, int64_t value)
{
    thrift_varint(out, ((uint64_t)value << 1) ^ (value < 0 ? UINT64_MAX : 0));
}

static void begin_field(struct thrift_writer *w, int field, int type)
{
    int delta;

    if (field == 0)
        return;
    assert(w->depth > 0);
    delta = field - w->last[w->depth - 1];
    assert(delta > 0);
    assert(delta <= DELTA_MAX); /* Parquet has no larger ones */
    buf_add_char(w->out, (char)(delta << 4 | type));
    w->last[w->depth - 1] = field;
}

void thrift_struct(struct thrift_writer *w, int field)
{
    begin_field(w, field, THRIFT_STRUCT);
    assert(w->depth < THRIFT_DEPTH_MAX);
    w->last[w->depth++] = 0;
}

void thrift_end(struct thrift_writer *w)
{
    assert(w->depth > 0);
    w->depth--;
    buf_add_char(w->out, 0);
}

void thrift_list(struct thrift_writer *w, int field, enum thrift_type type, size_t count)
{
    begin_field(w, field, THRIFT_LIST);
    if (count <= LIST_SHORT_MAX) {
        buf_add_char(w->out, (char)(count << 4 | (size_t)type));
        return;
    }
    buf_add_char(w->out, (char)(0xf0 | (int)type));
    thrift_varint(w->out, count);
}

void thrift_bool(struct thrift_writer *w, int field, bool value)
{
    assert(field > 0);
    begin_field(w, field, value ? BOOL_TRUE : BOOL_FALSE);
}

void thrift_i16(struct thrift_writer *w, int field, int16_t value)
{
    begin_field(w, field, THRIFT_I16);
    add_zigzag(w->out, value);
}

void thrift_i32(struct thrift_writer *w, int field, int32_t value)
{
    begin_field(w, field, THRIFT_I32);
    add_zigzag(w->out, value);
}

void thrift_i64(struct thrift_writer *w, int field, int64_t value)
{
    begin_field(w, field, THRIFT_I64);
    add_zigzag(w->out, value);
}

void thrift_str(struct thrift_writer *w, int field, struct str value)
{
    begin_field(w, field, THRIFT_BINARY);
    thrift_varint(w->out, value.len);
    buf_add(w->out, value);
}
