/* Arrays in PostgreSQL's binary form: dimensions, "has nulls", the element's type, length and lower
 * bound, then each element as its length and bytes. */
#include <assert.h>
#include <endian.h>
#include <string.h>

#include "adapter/postgres/postgres.h"

enum { ARRAY_HEAD = 20, ARRAY_BYTES_MAX = 1 << 30 };

static const struct {
    Oid element;
    Oid array;
} TYPES[] = {
    [ARRAY_I64] = { 20, 1016 },   [ARRAY_TIME] = { 1184, 1185 }, [ARRAY_TEXT] = { 25, 1009 },
    [ARRAY_BYTES] = { 17, 1001 }, [ARRAY_BOOL] = { 16, 1000 },   [ARRAY_JSON] = { 3802, 3807 },
};

static void put_u32(char *at, uint32_t value)
{
    const uint32_t network = htobe32(value);

    memcpy(at, &network, sizeof(network));
}

static void add_u32(struct array *array, uint32_t value)
{
    char bytes[4];

    put_u32(bytes, value);
    buf_add(&array->bytes, (struct str){ bytes, sizeof(bytes) });
}

void array_init(struct array *array, struct arena *arena, enum array_type type)
{
    static const char head[ARRAY_HEAD];

    *array = (struct array){ .type = type };
    buf_init(&array->bytes, arena, ARRAY_BYTES_MAX);
    buf_add(&array->bytes, (struct str){ head, sizeof(head) }); /* filled in by set_array() */
}

void array_add_null(struct array *array)
{
    array->count++;
    add_u32(array, UINT32_MAX);
}

static void add_number(struct array *array, uint64_t bits)
{
    array->count++;
    add_u32(array, 8);
    add_u32(array, (uint32_t)(bits >> 32));
    add_u32(array, (uint32_t)bits);
}

void array_add_i64(struct array *array, int64_t value)
{
    add_number(array, (uint64_t)(array->type == ARRAY_TIME ? postgres_time(value) : value));
}

void array_add_bool(struct array *array, bool value)
{
    array->count++;
    add_u32(array, 1);
    buf_add_char(&array->bytes, value);
}

void array_add_text(struct array *array, struct str value)
{
    array->count++;
    if (array->type != ARRAY_BYTES && !store_text_ok(value))
        array->bad_text = true;
    add_u32(array, (uint32_t)(value.len + (array->type == ARRAY_JSON)));
    if (array->type == ARRAY_JSON)
        buf_add_char(&array->bytes, 1); /* the version of jsonb's binary form */
    buf_add(&array->bytes, value);
}

void array_add_id(struct array *array, int64_t id)
{
    if (id != 0)
        array_add_i64(array, id);
    else
        array_add_null(array);
}

void array_add_i64_opt(struct array *array, bool is_set, int64_t value)
{
    if (is_set)
        array_add_i64(array, value);
    else
        array_add_null(array);
}

void array_add_code(struct array *array, const struct code_table *table, int value)
{
    array_add_text(array, code_of(table, value));
}

void set_array(struct query *q, int place, struct array *array)
{
    struct error err;
    char *head;

    if (array->bad_text && q->bad_text == 0)
        q->bad_text = place;
    if (!buf_ok(&array->bytes, &err)) {
        q->rows.full = array->bytes.arena;
        query_set(q, place, TYPES[array->type].array, NULL, 0);
        return;
    }
    head = array->bytes.data;
    put_u32(head, array->count > 0);
    put_u32(head + 4, 1);
    put_u32(head + 8, TYPES[array->type].element);
    put_u32(head + 12, (uint32_t)array->count);
    put_u32(head + 16, 1);
    query_set(q, place, TYPES[array->type].array, head,
              array->count > 0 ? array->bytes.len : ARRAY_HEAD - 8);
}
