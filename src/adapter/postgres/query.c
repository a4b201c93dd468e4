#include "adapter/postgres/query.h"

#include <assert.h>
#include <endian.h>
#include <stdio.h>
#include <string.h>

#include "adapter/postgres/postgres.h"

/* Of pg_type; fixed for ever. */
enum {
    OID_BOOL = 16,
    OID_BYTEA = 17,
    OID_INT8 = 20,
    OID_TEXT = 25,
    OID_FLOAT8 = 701,
    OID_TIMESTAMPTZ = 1184,
    OID_UUID = 2950,
    OID_JSONB = 3802,
};

enum { FORMAT_TEXT = 0, FORMAT_BINARY = 1 };

static const struct rows_ops ROWS;

void query_init(struct query *q, struct postgres_store *owner, const char *sql)
{
    q->rows = (struct rows){ .ops = &ROWS };
    q->owner = owner;
    q->sql = sql;
    q->count = 0;
    q->places = 0;
    q->result = NULL;
    q->row = QUERY_UNSENT;
    q->bad_text = 0;
}

static void set(struct query *q, int place, Oid type, int format, const char *value, size_t length)
{
    assert(place >= 1 && place <= QUERY_PLACES_MAX);
    q->places |= UINT64_C(1) << (place - 1);
    if (place > q->count)
        q->count = place;
    q->types[place - 1] = type;
    q->formats[place - 1] = format;
    q->values[place - 1] = value;
    q->lengths[place - 1] = (int)length;
}

void query_set(struct query *q, int place, Oid type, const char *value, size_t length)
{
    set(q, place, type, FORMAT_BINARY, value, length);
}

static void set_number(struct query *q, int place, Oid type, uint64_t bits)
{
    const uint64_t network = htobe64(bits);

    memcpy(q->numbers[place - 1], &network, sizeof(network));
    set(q, place, type, FORMAT_BINARY, q->numbers[place - 1], sizeof(network));
}

void set_i64_opt(struct query *q, int place, bool is_set, int64_t value)
{
    if (is_set)
        set_number(q, place, OID_INT8, (uint64_t)value);
    else
        set(q, place, OID_INT8, FORMAT_BINARY, NULL, 0);
}

void set_i64(struct query *q, int place, int64_t value)
{
    set_i64_opt(q, place, true, value);
}

void set_time_opt(struct query *q, int place, bool is_set, int64_t value_us)
{
    if (is_set)
        set_number(q, place, OID_TIMESTAMPTZ, (uint64_t)postgres_time(value_us));
    else
        set(q, place, OID_TIMESTAMPTZ, FORMAT_BINARY, NULL, 0);
}

void set_time(struct query *q, int place, int64_t value_us)
{
    set_time_opt(q, place, true, value_us);
}

void set_bool(struct query *q, int place, bool value)
{
    q->numbers[place - 1][0] = value;
    set(q, place, OID_BOOL, FORMAT_BINARY, q->numbers[place - 1], 1);
}

static const char *not_null(struct str value)
{
    return value.data != NULL ? value.data : "";
}

static void check_text(struct query *q, int place, struct str value)
{
    if (!store_text_ok(value) && q->bad_text == 0)
        q->bad_text = place;
}

void set_text_opt(struct query *q, int place, bool is_set, struct str value)
{
    if (is_set)
        check_text(q, place, value);
    set(q, place, OID_TEXT, FORMAT_BINARY, is_set ? not_null(value) : NULL, value.len);
}

void set_text(struct query *q, int place, struct str value)
{
    set_text_opt(q, place, true, value);
}

void set_code(struct query *q, int place, const struct code_table *table, int value)
{
    set_text(q, place, code_of(table, value));
}

void set_code_opt(struct query *q, int place, bool is_set, const struct code_table *table,
                  int value)
{
    set_text_opt(q, place, is_set, is_set ? code_of(table, value) : STR(""));
}

void set_id(struct query *q, int place, int64_t id)
{
    set_i64_opt(q, place, id != 0, id);
}

void set_window(struct query *q, int place, struct window window)
{
    set_time_opt(q, place, window_is_valid(window), window.from_us);
    set_time_opt(q, place + 1, window_is_valid(window), window.to_us);
}

void set_lineage(struct query *q, int place, const struct lineage *lineage)
{
    set_id(q, place, lineage->schedule_instance_id);
    set_id(q, place + 1, lineage->plan_id);
    set_id(q, place + 2, lineage->slice_id);
    set_id(q, place + 3, lineage->task_id);
    set_id(q, place + 4, lineage->run_id);
    set_id(q, place + 5, lineage->batch_id);
}

void set_bytes_opt(struct query *q, int place, bool is_set, struct str value)
{
    set(q, place, OID_BYTEA, FORMAT_BINARY, is_set ? not_null(value) : NULL, value.len);
}

void set_bytes(struct query *q, int place, struct str value)
{
    set_bytes_opt(q, place, true, value);
}

/* A value in text form must end with NUL, which a view does not. */
static const char *ended(struct query *q, int place, struct str value)
{
    const struct str copy = arena_copy(&q->owner->scratch, value);

    check_text(q, place, value);
    if (copy.data == NULL)
        q->rows.full = &q->owner->scratch;
    return copy.data;
}

void set_json(struct query *q, int place, struct str value)
{
    set(q, place, OID_JSONB, FORMAT_TEXT, ended(q, place, value), value.len);
}

void set_written(struct query *q, int place, bool is_set, struct str value)
{
    set(q, place, 0, FORMAT_TEXT, is_set ? ended(q, place, value) : NULL, value.len);
}

bool query_is_ready(const struct query *q)
{
    assert(q->count == 64 || q->places == (UINT64_C(1) << q->count) - 1); /* none forgotten */
    return q->bad_text == 0 && q->rows.full == NULL;
}

bool query_prepare(struct query *q, struct error *err)
{
    q->result = postgres_prepare(q);
    if (q->result != NULL)
        return query_finish(q, err);
    arena_reset(&q->owner->scratch);
    return true;
}

static bool next_row(struct rows *rows)
{
    struct query *q = (struct query *)rows;

    if (q->row < 0) {
        if (query_is_ready(q))
            q->result = postgres_execute(q);
        q->row = 0;
    } else {
        q->row++;
    }
    return q->rows.full == NULL && PQresultStatus(q->result) == PGRES_TUPLES_OK &&
           q->row < PQntuples(q->result);
}

bool query_finish(struct query *q, struct error *err)
{
    const ExecStatusType status = PQresultStatus(q->result);
    bool ok;

    if (q->bad_text != 0)
        ok = error_set(err, ERROR_DATA, "store.text", "value $%d is not text (UTF-8 without NUL)",
                       q->bad_text);
    else if (q->rows.full == NULL && status != PGRES_TUPLES_OK && status != PGRES_COMMAND_OK)
        ok = postgres_error_set(q->owner, q->result, err);
    else
        ok = rows_ok(&q->rows, err);
    PQclear(q->result);
    q->result = NULL;
    arena_reset(&q->owner->scratch);
    return ok;
}

bool query_run(struct query *q, int64_t *changes, struct error *err)
{
    (void)next_row(&q->rows);
    if (changes != NULL && !str_to_i64(str_of(PQcmdTuples(q->result)), changes))
        *changes = 0;
    return query_finish(q, err);
}

/* ---- rows ---- */

static uint64_t get_bits(const struct query *q, int column)
{
    const unsigned char *bytes = (const unsigned char *)PQgetvalue(q->result, q->row, column);
    uint64_t bits = 0;

    for (int i = 0; i < PQgetlength(q->result, q->row, column); i++)
        bits = bits << 8 | bytes[i];
    return bits;
}

static int64_t row_i64(const struct rows *rows, int column)
{
    const struct query *q = (const struct query *)rows;
    const uint64_t bits = get_bits(q, column);

    switch (PQgetlength(q->result, q->row, column)) {
    case 0:
        return 0;
    case 2:
        return (int16_t)bits;
    case 4:
        return (int32_t)bits;
    default:
        if (PQftype(q->result, column) == OID_TIMESTAMPTZ)
            return postgres_time_back((int64_t)bits);
        return (int64_t)bits;
    }
}

static double row_real(const struct rows *rows, int column)
{
    const uint64_t bits = get_bits((const struct query *)rows, column);
    double value;

    memcpy(&value, &bits, sizeof(value));
    return value;
}

static struct str uuid_text(char *text, size_t size, const unsigned char *b)
{
    const int len =
        snprintf(text, size, "%02x%02x%02x%02x-%02x%02x-%02x%02x-%02x%02x-%02x%02x%02x%02x%02x%02x",
                 b[0], b[1], b[2], b[3], b[4], b[5], b[6], b[7], b[8], b[9], b[10], b[11], b[12],
                 b[13], b[14], b[15]);

    return (struct str){ text, (size_t)len };
}

/* Text, bytes, jsonb, uuid. */
static struct str row_view(struct rows *rows, int column)
{
    struct query *q = (struct query *)rows;
    const struct str view = { PQgetvalue(q->result, q->row, column),
                              (size_t)PQgetlength(q->result, q->row, column) };

    if (PQftype(q->result, column) == OID_JSONB && view.len > 0)
        return str_slice(view, 1, view.len); /* behind the format's version */
    if (PQftype(q->result, column) == OID_UUID && view.len == 16)
        return uuid_text(q->uuid, sizeof(q->uuid), (const unsigned char *)view.data);
    return view;
}

static bool finish_rows(struct rows *rows, struct error *err)
{
    return query_finish((struct query *)rows, err);
}

static int row_width(const struct rows *rows)
{
    return PQnfields(((const struct query *)rows)->result);
}

static const char *row_name(const struct rows *rows, int column)
{
    return PQfname(((const struct query *)rows)->result, column);
}

static bool row_is_null(const struct rows *rows, int column)
{
    const struct query *q = (const struct query *)rows;

    return PQgetisnull(q->result, q->row, column);
}

static const struct rows_ops ROWS = {
    .next = next_row,
    .finish = finish_rows,
    .width = row_width,
    .name = row_name,
    .is_null = row_is_null,
    .i64 = row_i64,
    .real = row_real,
    .view = row_view,
};
