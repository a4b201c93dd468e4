/* Scalars are sent in binary, so that instants, reals and bytes are exact; JSON and long numbers as
 * text. An array in binary is: dimensions, "has nulls", the element's type, length and lower bound,
 * then each element as its length and bytes. */
#include "adapter/postgres/values.h"

#include <assert.h>
#include <endian.h>
#include <string.h>

#include "base/buf.h"
#include "base/hex.h"
#include "data/hash.h"

enum { FORMAT_TEXT = 0, FORMAT_BINARY = 1 };
enum { ARRAY_HEAD = 20, ARRAY_BYTES_MAX = 1 << 30, UUID_BYTES = 16 };

static const struct {
    Oid element;
    Oid array;
} TYPES[] = {
    [SQL_I64] = { OID_INT8, 1016 },       [SQL_BOOL] = { OID_BOOL, 1000 },
    [SQL_REAL] = { OID_FLOAT8, 1022 },    [SQL_INSTANT] = { OID_TIMESTAMPTZ, 1185 },
    [SQL_TEXT] = { OID_TEXT, 1009 },      [SQL_JSON] = { OID_JSONB, 3807 },
    [SQL_BYTES] = { OID_BYTEA, 1001 },    [SQL_UUID] = { OID_UUID, 2951 },
    [SQL_DIGITS] = { OID_NUMERIC, 1231 }, [SQL_HASH] = { OID_BYTEA, 1001 },
};

static uint64_t bits_of(const struct sql_value *value)
{
    uint64_t bits;

    if (value->type == SQL_INSTANT)
        return (uint64_t)postgres_time(value->i64);
    if (value->type != SQL_REAL)
        return (uint64_t)value->i64;
    memcpy(&bits, &value->real, sizeof(bits));
    return bits;
}

static bool is_number(enum sql_type type)
{
    return type == SQL_I64 || type == SQL_REAL || type == SQL_INSTANT;
}

/* A value in text form must end with NUL. */
static bool put_written(struct values *out, struct arena *arena, struct str text, struct error *err)
{
    const struct str copy = arena_copy(arena, text);

    out->formats[out->count] = FORMAT_TEXT;
    out->values[out->count] = copy.data;
    return copy.data != NULL || arena_error(arena, err);
}

static void put_bits(struct values *out, uint64_t bits)
{
    const uint64_t network = htobe64(bits);

    memcpy(out->numbers[out->count], &network, sizeof(network));
    out->values[out->count] = out->numbers[out->count];
    out->lengths[out->count] = sizeof(network);
}

static void put_bool(struct values *out, bool value)
{
    out->numbers[out->count][0] = value;
    out->values[out->count] = out->numbers[out->count];
    out->lengths[out->count] = 1;
}

static bool put_value(struct values *out, struct arena *arena, const struct sql_value *value,
                      struct error *err)
{
    bool ok = true;

    out->types[out->count] = TYPES[value->type].element;
    out->formats[out->count] = FORMAT_BINARY;
    out->lengths[out->count] = 0;
    out->values[out->count] = NULL;
    if (!value->is_set) {
        /* NULL */
    } else if (is_number(value->type)) {
        put_bits(out, bits_of(value));
    } else if (value->type == SQL_BOOL) {
        put_bool(out, value->i64 != 0);
    } else if (value->type == SQL_TEXT || value->type == SQL_BYTES) {
        out->values[out->count] = value->text.data != NULL ? value->text.data : "";
        out->lengths[out->count] = (int)value->text.len;
    } else {
        ok = put_written(out, arena, value->text, err);
    }
    out->count++;
    return ok;
}

/* ---- arrays ---- */

static void put_u32(char *at, uint32_t value)
{
    const uint32_t network = htobe32(value);

    memcpy(at, &network, sizeof(network));
}

static void add_u32(struct buf *bytes, uint32_t value)
{
    char network[4];

    put_u32(network, value);
    buf_add(bytes, (struct str){ network, sizeof(network) });
}

static void add_number(struct buf *bytes, uint64_t bits)
{
    add_u32(bytes, 8);
    add_u32(bytes, (uint32_t)(bits >> 32));
    add_u32(bytes, (uint32_t)bits);
}

/* 36 characters, as patra itself makes them (base/uuid.h). */
static void add_uuid(struct buf *bytes, struct str text)
{
    int high = -1;

    add_u32(bytes, UUID_BYTES);
    for (size_t i = 0; i < text.len; i++) {
        const int digit = (int)hex_number(str_slice(text, i, i + 1));

        if (text.data[i] == '-')
            continue;
        if (high >= 0)
            buf_add_char(bytes, (char)(high << 4 | digit));
        high = high >= 0 ? -1 : digit;
    }
}

static void add_hash(struct buf *bytes, struct str hex)
{
    struct hash_sum sum;

    add_u32(bytes, (uint32_t)hex.len / 2);
    if (hex.len == 0)
        return;
    hash_of_hex(hex, &sum);
    buf_add(bytes, (struct str){ (const char *)sum.bytes, sizeof(sum.bytes) });
}

static void add_element(struct buf *bytes, const struct sql_value *value)
{
    if (!value->is_set) {
        add_u32(bytes, UINT32_MAX);
    } else if (is_number(value->type)) {
        add_number(bytes, bits_of(value));
    } else if (value->type == SQL_BOOL) {
        add_u32(bytes, 1);
        buf_add_char(bytes, value->i64 != 0);
    } else if (value->type == SQL_UUID) {
        add_uuid(bytes, value->text);
    } else if (value->type == SQL_HASH) {
        add_hash(bytes, value->text);
    } else if (value->type == SQL_JSON) {
        add_u32(bytes, (uint32_t)value->text.len + 1);
        buf_add_char(bytes, 1); /* the version of jsonb's binary form */
        buf_add(bytes, value->text);
    } else {
        assert(value->type == SQL_TEXT || value->type == SQL_BYTES);
        add_u32(bytes, (uint32_t)value->text.len);
        buf_add(bytes, value->text);
    }
}

static bool put_column(struct values *out, struct arena *arena, const struct statement *st,
                       int column, struct error *err)
{
    static const char head[ARRAY_HEAD];
    const size_t rows = statement_row_count(st);
    const enum sql_type type = statement_cell(st, 0, column)->type;
    struct buf bytes;

    buf_init(&bytes, arena, ARRAY_BYTES_MAX);
    buf_add(&bytes, (struct str){ head, sizeof(head) });
    for (size_t row = 0; row < rows; row++) {
        assert(statement_cell(st, row, column)->type == type);
        add_element(&bytes, statement_cell(st, row, column));
    }
    if (!buf_ok(&bytes, err))
        return false;
    put_u32(bytes.data, 1);
    put_u32(bytes.data + 4, 1);
    put_u32(bytes.data + 8, TYPES[type].element);
    put_u32(bytes.data + 12, (uint32_t)rows);
    put_u32(bytes.data + 16, 1);
    out->types[out->count] = TYPES[type].array;
    out->formats[out->count] = FORMAT_BINARY;
    out->values[out->count] = bytes.data;
    out->lengths[out->count] = (int)bytes.len;
    out->count++;
    return true;
}

bool values_of(struct values *out, struct arena *arena, const struct statement *st,
               struct error *err)
{
    assert(st->values.count + st->columns.count <= STATEMENT_NAMES_MAX);
    out->count = 0;
    for (int i = 0; i < st->values.count; i++) {
        if (!put_value(out, arena, &st->bound[i], err))
            return false;
    }
    for (int i = 0; i < st->columns.count; i++) {
        if (!put_column(out, arena, st, i, err))
            return false;
    }
    return true;
}
