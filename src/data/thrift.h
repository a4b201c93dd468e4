/* thrift: writes the compact protocol of Apache Thrift, as far as Parquet's metadata needs it.
 *
 *      struct thrift_writer w;
 *
 *      thrift_writer_init(&w, &out);
 *      thrift_struct(&w, 0);                a struct at the top has no number
 *      thrift_i32(&w, 1, 2);                field 1
 *      thrift_list(&w, 2, THRIFT_BINARY, 1);
 *      thrift_str(&w, 0, STR("name"));      an element of a list has no number
 *      thrift_end(&w);                      of the struct; a list ends with its last element
 *
 * Fields of a struct come in ascending order. Only the buf can fail; it keeps the failure.
 */
#ifndef PATRA_DATA_THRIFT_H
#define PATRA_DATA_THRIFT_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "base/buf.h"

enum thrift_type {
    THRIFT_I16 = 4,
    THRIFT_I32 = 5,
    THRIFT_I64 = 6,
    THRIFT_BINARY = 8,
    THRIFT_LIST = 9,
    THRIFT_STRUCT = 12,
};

enum { THRIFT_DEPTH_MAX = 8 };

struct thrift_writer {
    struct buf *out;
    int last[THRIFT_DEPTH_MAX]; /* the field written last, of each open struct */
    int depth;
};

void thrift_writer_init(struct thrift_writer *w, struct buf *out);

/* field 0: the value is at the top, or an element of a list. */
void thrift_struct(struct thrift_writer *w, int field);
void thrift_end(struct thrift_writer *w);
void thrift_list(struct thrift_writer *w, int field, enum thrift_type type, size_t count);
void thrift_bool(struct thrift_writer *w, int field, bool value); /* a field of a struct */
void thrift_i16(struct thrift_writer *w, int field, int16_t value);
void thrift_i32(struct thrift_writer *w, int field, int32_t value);
void thrift_i64(struct thrift_writer *w, int field, int64_t value);
void thrift_str(struct thrift_writer *w, int field, struct str value);

/* A number of seven bits per byte, the lowest first; also used outside of Thrift. */
void thrift_varint(struct buf *out, uint64_t value);

#endif
