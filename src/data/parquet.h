/* parquet: writes a file of Apache Parquet, in constant memory.
 *
 *      "PAR1"  row group  row group ...  metadata  its length  "PAR1"
 *
 *      struct parquet parquet;
 *
 *      if (!parquet_open(&parquet, &options, err)) ...
 *      for each row:
 *          parquet_add(&parquet, 0, &value)              each column once, in any order
 *          parquet_add_list(&parquet, 1, values, count)
 *          if (!parquet_end_row(&parquet, err)) ...      writes a row group when one is full
 *      if (!parquet_finish(&parquet, err)) ...
 *      parquet_close(&parquet);                          in any case
 *
 * A row group is held in memory until it has PARQUET_GROUP_ROWS rows or PARQUET_GROUP_BYTES bytes;
 * what is written of it afterwards is a few bytes per column for the metadata at the end. Values
 * are in PLAIN encoding, one page per column and row group, compressed by the codec. All columns
 * may be null. A list has elements that may be null.
 *
 * Written by hand: Debian 12 has no library for Parquet (Arrow is not packaged).
 */
#ifndef PATRA_DATA_PARQUET_H
#define PATRA_DATA_PARQUET_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "base/attr.h"
#include "base/buf.h"
#include "base/error.h"
#include "base/str.h"

enum { PARQUET_GROUP_ROWS = 65536, PARQUET_GROUP_BYTES = 8 << 20, PARQUET_COLUMNS_MAX = 512 };

enum parquet_type {
    PARQUET_TEXT,    /* UTF-8 */
    PARQUET_JSON,    /* text that is JSON */
    PARQUET_BYTES,   /* anything */
    PARQUET_INTEGER, /* 64 bits, signed */
    PARQUET_NUMBER,  /* double */
    PARQUET_BOOLEAN,
    PARQUET_INSTANT, /* microseconds since the epoch, UTC */
    PARQUET_DATE,    /* days since the epoch */
};

struct parquet_column {
    struct str name;
    enum parquet_type type;
    bool is_list;
};

struct parquet_value {
    bool is_null;
    union {
        struct str text; /* TEXT, JSON, BYTES; copied */
        int64_t integer; /* INTEGER, INSTANT, DATE */
        double number;   /* NUMBER */
        bool boolean;    /* BOOLEAN */
    };
};

struct parquet_codec {
    enum { PARQUET_PLAIN = 0, PARQUET_GZIP = 2, PARQUET_ZSTD = 6 } id;
    /* Appends the compressed bytes; NULL for PLAIN. */
    bool (*pack)(void *self, struct str bytes, struct buf *out, struct error *err);
    void *self;
};

struct parquet_options {
    const struct parquet_column *columns; /* not copied; names are distinct */
    int column_count;
    struct parquet_codec codec;
    struct str created_by; /* a program and its version */
    /* Takes the bytes of the file, in order. */
    bool (*write)(void *self, struct str bytes, struct error *err);
    void *self;
    size_t bytes_max; /* of memory */
};

struct parquet_cells;

struct parquet {
    struct parquet_options options;
    struct arena arena;          /* columns and metadata */
    struct arena page_arena;     /* one page at a time */
    struct parquet_cells *cells; /* one per column */
    struct buf groups;           /* metadata of the row groups that were written */
    size_t group_count;
    int64_t group_rows;
    int64_t rows; /* of the groups that were written */
    int64_t offset;
};

bool parquet_open(struct parquet *parquet, const struct parquet_options *options,
                  struct error *err) MUST_CHECK;
void parquet_close(struct parquet *parquet); /* accepts the zero value; writes nothing */

/* Only memory can fail here; parquet_end_row() tells. */
void parquet_add(struct parquet *parquet, int column, const struct parquet_value *value);
void parquet_add_list(struct parquet *parquet, int column, const struct parquet_value *values,
                      size_t count); /* values NULL: the list is null */

bool parquet_end_row(struct parquet *parquet, struct error *err) MUST_CHECK;
bool parquet_finish(struct parquet *parquet, struct error *err) MUST_CHECK;

/* ---- levels: which values are null, and where lists begin ----
 *
 * The RLE / bit-packing hybrid of the format, preceded by its length. `levels` has one byte per
 * level, each below 2^width. Equal levels become one run, others are packed. */
void parquet_levels(struct buf *out, struct str levels, int width);

#endif
