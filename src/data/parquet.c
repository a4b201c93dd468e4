/* Columns of cells, and the row groups they become. */
#include "data/parquet.h"

#include <assert.h>
#include <string.h>

#include "data/thrift.h"

enum physical { P_BOOLEAN = 0, P_INT32 = 1, P_INT64 = 2, P_DOUBLE = 5, P_BYTES = 6 };
enum repetition { OPTIONAL = 1, REPEATED = 2 };
enum { ENCODING_PLAIN = 0, ENCODING_RLE = 3, CONVERTED_LIST = 3, FORMAT_VERSION = 2 };

/* Definition levels. A column: 0 null, 1 a value. A list: 0 null, 1 empty, 2 a null element,
 * 3 an element. Repetition levels, of lists only: 0 begins a row, 1 continues its list. */
struct parquet_cells {
    struct arena arena;
    struct buf values;      /* PLAIN; of BOOLEAN, a byte each */
    struct buf definitions; /* a byte each */
    struct buf repetitions;
    int64_t nulls;
    int64_t rows;
};

static const struct {
    enum physical physical;
    int converted; /* the older name of the logical type; -1: none */
    int logical;   /* the field of the union LogicalType; 0: none */
} TYPES[] = {
    [PARQUET_TEXT] = { P_BYTES, 0, 1 },     [PARQUET_JSON] = { P_BYTES, 19, 12 },
    [PARQUET_BYTES] = { P_BYTES, -1, 0 },   [PARQUET_INTEGER] = { P_INT64, -1, 0 },
    [PARQUET_NUMBER] = { P_DOUBLE, -1, 0 }, [PARQUET_BOOLEAN] = { P_BOOLEAN, -1, 0 },
    [PARQUET_INSTANT] = { P_INT64, 10, 8 }, [PARQUET_DATE] = { P_INT32, 6, 6 },
};

static const struct str MAGIC = STR_INIT("PAR1");

/* ---- values ---- */

static void add_le(struct buf *out, uint64_t bits, int bytes)
{
    char text[8];

    for (int i = 0; i < bytes; i++)
        text[i] = (char)(bits >> (8 * i));
    buf_add(out, (struct str){ text, (size_t)bytes });
}

static void add_value(struct parquet_cells *cells, enum parquet_type type,
                      const struct parquet_value *value)
{
    uint64_t bits;

    switch (TYPES[type].physical) {
    case P_BYTES:
        add_le(&cells->values, value->text.len, 4);
        buf_add(&cells->values, value->text);
        return;
    case P_INT64:
        add_le(&cells->values, (uint64_t)value->integer, 8);
        return;
    case P_INT32:
        add_le(&cells->values, (uint64_t)value->integer, 4);
        return;
    case P_DOUBLE:
        memcpy(&bits, &value->number, sizeof(bits));
        add_le(&cells->values, bits, 8);
        return;
    case P_BOOLEAN:
        buf_add_char(&cells->values, value->boolean);
        return;
    }
}

void parquet_add(struct parquet *parquet, int column, const struct parquet_value *value)
{
    struct parquet_cells *cells = &parquet->cells[column];

    assert(column < parquet->options.column_count);
    assert(!parquet->options.columns[column].is_list);
    assert(cells->rows == parquet->group_rows);
    cells->rows++;
    cells->nulls += value->is_null;
    buf_add_char(&cells->definitions, !value->is_null);
    if (!value->is_null)
        add_value(cells, parquet->options.columns[column].type, value);
}

void parquet_add_list(struct parquet *parquet, int column, const struct parquet_value *values,
                      size_t count)
{
    struct parquet_cells *cells = &parquet->cells[column];

    assert(column < parquet->options.column_count);
    assert(parquet->options.columns[column].is_list);
    assert(cells->rows == parquet->group_rows);
    cells->rows++;
    if (values == NULL || count == 0) {
        buf_add_char(&cells->repetitions, 0);
        buf_add_char(&cells->definitions, values != NULL);
        cells->nulls++;
        return;
    }
    for (size_t i = 0; i < count; i++) {
        buf_add_char(&cells->repetitions, i > 0);
        buf_add_char(&cells->definitions, values[i].is_null ? 2 : 3);
        cells->nulls += values[i].is_null;
        if (!values[i].is_null)
            add_value(cells, parquet->options.columns[column].type, &values[i]);
    }
}

/* ---- output ---- */

static bool write_out(struct parquet *parquet, struct str bytes, struct error *err)
{
    if (!parquet->options.write(parquet->options.self, bytes, err))
        return false;
    parquet->offset += (int64_t)bytes.len;
    return true;
}

static void add_bits(struct buf *out, struct str booleans)
{
    for (size_t at = 0; at < booleans.len; at += 8) {
        int byte = 0;

        for (size_t i = 0; i < 8 && at + i < booleans.len; i++)
            byte |= booleans.data[at + i] << i;
        buf_add_char(out, (char)byte);
    }
}

static void add_page_header(struct buf *out, size_t plain, size_t packed, size_t count)
{
    struct thrift_writer w;

    thrift_writer_init(&w, out);
    thrift_struct(&w, 0);
    thrift_i32(&w, 1, 0); /* a data page */
    thrift_i32(&w, 2, (int32_t)plain);
    thrift_i32(&w, 3, (int32_t)packed);
    thrift_struct(&w, 5);
    thrift_i32(&w, 1, (int32_t)count);
    thrift_i32(&w, 2, ENCODING_PLAIN);
    thrift_i32(&w, 3, ENCODING_RLE);
    thrift_i32(&w, 4, ENCODING_RLE);
    thrift_end(&w);
    thrift_end(&w);
}

/* What one column of a row group became. */
struct chunk {
    int64_t offset;
    int64_t plain_bytes; /* with the page's header */
    int64_t bytes;
};

static void make_page(const struct parquet_column *column, const struct parquet_cells *cells,
                      struct buf *page)
{
    if (column->is_list)
        parquet_levels(page, buf_str(&cells->repetitions), 1);
    parquet_levels(page, buf_str(&cells->definitions), column->is_list ? 2 : 1);
    if (column->type == PARQUET_BOOLEAN)
        add_bits(page, buf_str(&cells->values));
    else
        buf_add(page, buf_str(&cells->values));
}

static bool write_chunk(struct parquet *parquet, int i, struct chunk *chunk, struct error *err)
{
    const struct parquet_codec *codec = &parquet->options.codec;
    const struct parquet_cells *cells = &parquet->cells[i];
    struct buf page, packed, header;
    struct str body;

    arena_reset(&parquet->page_arena); /* of the last chunk */
    buf_init(&page, &parquet->page_arena, INT32_MAX);
    buf_init(&packed, &parquet->page_arena, INT32_MAX);
    buf_init(&header, &parquet->page_arena, 256);
    make_page(&parquet->options.columns[i], cells, &page);
    if (!buf_ok(&page, err))
        return false;
    body = buf_str(&page);
    if (codec->pack != NULL) {
        if (!codec->pack(codec->self, body, &packed, err) || !buf_ok(&packed, err))
            return false;
        body = buf_str(&packed);
    }
    add_page_header(&header, page.len, body.len, cells->definitions.len);
    if (!buf_ok(&header, err))
        return false;
    *chunk = (struct chunk){ .offset = parquet->offset,
                             .plain_bytes = (int64_t)(header.len + page.len),
                             .bytes = (int64_t)(header.len + body.len) };
    return write_out(parquet, buf_str(&header), err) && write_out(parquet, body, err);
}

/* ---- metadata ---- */

static void add_path(struct thrift_writer *w, int field, const struct parquet_column *column)
{
    thrift_list(w, field, THRIFT_BINARY, column->is_list ? 3 : 1);
    thrift_str(w, 0, column->name);
    if (column->is_list) {
        thrift_str(w, 0, STR("list"));
        thrift_str(w, 0, STR("element"));
    }
}

static void add_chunk(struct parquet *parquet, struct thrift_writer *w, int i,
                      const struct chunk *chunk)
{
    const struct parquet_column *column = &parquet->options.columns[i];
    const struct parquet_cells *cells = &parquet->cells[i];

    thrift_struct(w, 0);
    thrift_i64(w, 2, 0); /* metadata is not repeated beside the chunk */
    thrift_struct(w, 3);
    thrift_i32(w, 1, (int32_t)TYPES[column->type].physical);
    thrift_list(w, 2, THRIFT_I32, 2);
    thrift_i32(w, 0, ENCODING_PLAIN);
    thrift_i32(w, 0, ENCODING_RLE);
    add_path(w, 3, column);
    thrift_i32(w, 4, (int32_t)parquet->options.codec.id);
    thrift_i64(w, 5, (int64_t)cells->definitions.len);
    thrift_i64(w, 6, chunk->plain_bytes);
    thrift_i64(w, 7, chunk->bytes);
    thrift_i64(w, 9, chunk->offset);
    thrift_struct(w, 12);
    thrift_i64(w, 3, cells->nulls);
    thrift_end(w);
    thrift_end(w);
    thrift_end(w);
}

static void clear_cells(struct parquet_cells *cells)
{
    buf_clear(&cells->values);
    buf_clear(&cells->definitions);
    buf_clear(&cells->repetitions);
    cells->nulls = cells->rows = 0;
}

static bool write_chunks(struct parquet *parquet, struct thrift_writer *w, struct chunk *sum,
                         struct error *err)
{
    for (int i = 0; i < parquet->options.column_count; i++) {
        struct chunk chunk;

        if (!write_chunk(parquet, i, &chunk, err))
            return error_wrap(err, "column %.*s", STR_ARG(parquet->options.columns[i].name));
        add_chunk(parquet, w, i, &chunk);
        sum->plain_bytes += chunk.plain_bytes;
        sum->bytes += chunk.bytes;
    }
    return true;
}

static bool write_group(struct parquet *parquet, struct error *err)
{
    struct chunk sum = { .offset = parquet->offset };
    struct thrift_writer w;

    if (parquet->group_rows == 0)
        return true;
    thrift_writer_init(&w, &parquet->groups);
    thrift_struct(&w, 0);
    thrift_list(&w, 1, THRIFT_STRUCT, (size_t)parquet->options.column_count);
    if (!write_chunks(parquet, &w, &sum, err))
        return false;
    thrift_i64(&w, 2, sum.plain_bytes);
    thrift_i64(&w, 3, parquet->group_rows);
    thrift_i64(&w, 5, sum.offset);
    thrift_i64(&w, 6, sum.bytes);
    thrift_end(&w);
    parquet->group_count++;
    parquet->rows += parquet->group_rows;
    parquet->group_rows = 0;
    for (int i = 0; i < parquet->options.column_count; i++)
        clear_cells(&parquet->cells[i]);
    return buf_ok(&parquet->groups, err);
}

static void add_logical(struct thrift_writer *w, enum parquet_type type)
{
    if (TYPES[type].converted >= 0)
        thrift_i32(w, 6, TYPES[type].converted);
    if (TYPES[type].logical == 0)
        return;
    thrift_struct(w, 10);
    thrift_struct(w, TYPES[type].logical);
    if (type == PARQUET_INSTANT) {
        thrift_bool(w, 1, true); /* UTC */
        thrift_struct(w, 2);
        thrift_struct(w, 2); /* microseconds */
        thrift_end(w);
        thrift_end(w);
    }
    thrift_end(w);
    thrift_end(w);
}

static void add_leaf(struct thrift_writer *w, struct str name, enum parquet_type type)
{
    thrift_struct(w, 0);
    thrift_i32(w, 1, (int32_t)TYPES[type].physical);
    thrift_i32(w, 3, OPTIONAL);
    thrift_str(w, 4, name);
    add_logical(w, type);
    thrift_end(w);
}

/* A list is a group of a group of its elements. */
static void add_list(struct thrift_writer *w, const struct parquet_column *column)
{
    thrift_struct(w, 0);
    thrift_i32(w, 3, OPTIONAL);
    thrift_str(w, 4, column->name);
    thrift_i32(w, 5, 1);
    thrift_i32(w, 6, CONVERTED_LIST);
    thrift_struct(w, 10);
    thrift_struct(w, 3);
    thrift_end(w);
    thrift_end(w);
    thrift_end(w);
    thrift_struct(w, 0);
    thrift_i32(w, 3, REPEATED);
    thrift_str(w, 4, STR("list"));
    thrift_i32(w, 5, 1);
    thrift_end(w);
    add_leaf(w, STR("element"), column->type);
}

static void add_schema(struct parquet *parquet, struct thrift_writer *w)
{
    const int count = parquet->options.column_count;
    size_t elements = 1;

    for (int i = 0; i < count; i++)
        elements += parquet->options.columns[i].is_list ? 3 : 1;
    thrift_list(w, 2, THRIFT_STRUCT, elements);
    thrift_struct(w, 0);
    thrift_str(w, 4, STR("schema"));
    thrift_i32(w, 5, count);
    thrift_end(w);
    for (int i = 0; i < count; i++) {
        const struct parquet_column *column = &parquet->options.columns[i];

        if (column->is_list)
            add_list(w, column);
        else
            add_leaf(w, column->name, column->type);
    }
}

static void make_metadata(struct parquet *parquet, struct buf *out)
{
    struct thrift_writer w;

    thrift_writer_init(&w, out);
    thrift_struct(&w, 0);
    thrift_i32(&w, 1, FORMAT_VERSION);
    add_schema(parquet, &w);
    thrift_i64(&w, 3, parquet->rows);
    thrift_list(&w, 4, THRIFT_STRUCT, parquet->group_count);
    buf_add(out, buf_str(&parquet->groups));
    thrift_str(&w, 6, parquet->options.created_by);
    thrift_end(&w);
}

/* ---- the file ---- */

bool parquet_open(struct parquet *parquet, const struct parquet_options *options, struct error *err)
{
    const size_t memory = options->bytes_max;

    assert(options->column_count > 0 && options->column_count <= PARQUET_COLUMNS_MAX);
    *parquet = (struct parquet){ .options = *options };
    arena_init(&parquet->arena, memory);
    arena_init(&parquet->page_arena, memory);
    buf_init(&parquet->groups, &parquet->arena, memory);
    parquet->cells =
        ARENA_ARRAY(&parquet->arena, struct parquet_cells, (size_t)options->column_count);
    if (parquet->cells == NULL)
        return arena_error(&parquet->arena, err);
    for (int i = 0; i < options->column_count; i++) {
        struct parquet_cells *cells = &parquet->cells[i];

        arena_init(&cells->arena, memory);
        buf_init(&cells->values, &cells->arena, memory);
        buf_init(&cells->definitions, &cells->arena, memory);
        buf_init(&cells->repetitions, &cells->arena, memory);
    }
    return write_out(parquet, MAGIC, err);
}

void parquet_close(struct parquet *parquet)
{
    for (int i = 0; parquet->cells != NULL && i < parquet->options.column_count; i++)
        arena_release(&parquet->cells[i].arena);
    arena_release(&parquet->page_arena);
    arena_release(&parquet->arena);
    *parquet = (struct parquet){ 0 };
}

static bool is_full(const struct parquet *parquet)
{
    size_t bytes = 0;

    for (int i = 0; i < parquet->options.column_count; i++)
        bytes += parquet->cells[i].values.len + parquet->cells[i].definitions.len;
    return parquet->group_rows >= PARQUET_GROUP_ROWS || bytes >= PARQUET_GROUP_BYTES;
}

bool parquet_end_row(struct parquet *parquet, struct error *err)
{
    parquet->group_rows++;
    for (int i = 0; i < parquet->options.column_count; i++) {
        const struct parquet_cells *cells = &parquet->cells[i];

        assert(cells->rows == parquet->group_rows); /* each column once */
        if (!buf_ok(&cells->values, err) || !buf_ok(&cells->definitions, err) ||
            !buf_ok(&cells->repetitions, err))
            return error_wrap(err, "column %.*s", STR_ARG(parquet->options.columns[i].name));
    }
    return !is_full(parquet) || write_group(parquet, err);
}

bool parquet_finish(struct parquet *parquet, struct error *err)
{
    struct buf out;
    size_t length;

    if (!write_group(parquet, err))
        return false;
    arena_reset(&parquet->page_arena);
    buf_init(&out, &parquet->page_arena, INT32_MAX);
    make_metadata(parquet, &out);
    length = out.len;
    add_le(&out, length, 4);
    buf_add(&out, MAGIC);
    return buf_ok(&out, err) && write_out(parquet, buf_str(&out), err);
}
