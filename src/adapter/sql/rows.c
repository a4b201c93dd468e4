/* Reading the columns of a row in their order, and remembering the first failure. */
#include "adapter/sql/rows.h"

#include <assert.h>
#include <string.h>

#include "data/hash.h"

/* A reader with fewer or more columns than the SELECT would misread them all. */
static bool is_read_whole(const struct rows *rows)
{
    return rows->column == 0 || rows->full != NULL || rows->column == rows->ops->width(rows);
}

bool rows_next(struct rows *rows)
{
    assert(is_read_whole(rows));
    rows->column = 0;
    return rows->full == NULL && rows->ops->next(rows);
}

bool rows_finish(struct rows *rows, struct error *err)
{
    assert(is_read_whole(rows));
    return rows->ops->finish(rows, err);
}

bool rows_ok(const struct rows *rows, struct error *err)
{
    if (rows->full != NULL)
        return arena_error(rows->full, err);
    if (rows->bad_value != NULL)
        return error_set(err, ERROR_FATAL, "store.corrupt", "column %s holds an unknown code",
                         rows->bad_value);
    return true;
}

void *rows_placed(struct rows *rows, struct arena *arena, void *place)
{
    if (place == NULL)
        rows->full = arena;
    return place;
}

bool rows_only_i64(struct rows *rows, int64_t *value, struct error *err)
{
    if (rows_next(rows))
        *value = rows_i64(rows);
    return rows_finish(rows, err);
}

bool rows_is_null(const struct rows *rows)
{
    return rows->ops->is_null(rows, rows->column);
}

void rows_skip(struct rows *rows, int columns)
{
    rows->column += columns;
}

int64_t rows_i64(struct rows *rows)
{
    return rows->ops->i64(rows, rows->column++);
}

bool rows_bool(struct rows *rows)
{
    return rows_i64(rows) != 0;
}

double rows_real(struct rows *rows)
{
    return rows->ops->real(rows, rows->column++);
}

struct str rows_view(struct rows *rows)
{
    return rows->ops->view(rows, rows->column++);
}

struct str rows_text(struct rows *rows, struct arena *arena)
{
    const struct str copy = arena_copy(arena, rows_view(rows));

    if (copy.data == NULL)
        rows->full = arena;
    return copy;
}

struct str rows_hash(struct rows *rows, struct arena *arena)
{
    const struct str bytes = rows_view(rows);
    struct hash_sum sum;
    char *hex;

    if (bytes.len != HASH_BYTES)
        return STR("");
    if ((hex = arena_alloc(arena, HASH_HEX_MAX)) == NULL) {
        rows->full = arena;
        return STR("");
    }
    memcpy(sum.bytes, bytes.data, HASH_BYTES);
    hash_hex(&sum, hex);
    return (struct str){ hex, HASH_HEX_MAX - 1 };
}

int rows_code(struct rows *rows, const struct code_table *table)
{
    const int column = rows->column++;
    const int value = code_find(table, rows->ops->view(rows, column));

    if (value < 0 && rows->bad_value == NULL)
        rows->bad_value = rows->ops->name(rows, column);
    return value < 0 ? 0 : value;
}

int rows_code_opt(struct rows *rows, const struct code_table *table, bool *is_set)
{
    *is_set = !rows_is_null(rows);
    if (*is_set)
        return rows_code(rows, table);
    rows_skip(rows, 1);
    return 0;
}

struct window rows_window(struct rows *rows)
{
    struct window window;

    window.from_us = rows_i64(rows);
    window.to_us = rows_i64(rows);
    return window;
}

struct id_range rows_id_range(struct rows *rows)
{
    struct id_range range;

    range.from = rows_i64(rows);
    range.to = rows_i64(rows);
    return range;
}

struct lineage rows_lineage(struct rows *rows)
{
    struct lineage lineage;

    lineage.schedule_instance_id = rows_i64(rows);
    lineage.plan_id = rows_i64(rows);
    lineage.slice_id = rows_i64(rows);
    lineage.task_id = rows_i64(rows);
    lineage.run_id = rows_i64(rows);
    lineage.batch_id = rows_i64(rows);
    return lineage;
}
