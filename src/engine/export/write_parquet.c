/* Parquet: the columns of CSV, each with the type of its field (data/parquet.h).
 *
 *      text, any     UTF-8; a value of a field without a type is its JSON where it is not a text
 *      integer       64 bits          number     double, the nearest one
 *      instant       microseconds     date       days
 *      json          JSON             a list     a list of these
 */
#include "base/instant.h"
#include "data/date.h"
#include "data/json.h"
#include "engine/export/writer.h"

/* A row group, its page, and what that is compressed to. */
#define PARQUET_BYTES_MAX ((size_t)512 << 20)

struct table {
    struct parquet parquet;
    struct parquet_column *columns; /* the own ones first */
};

static const enum parquet_type TYPES[] = {
    [FIELD_ANY] = PARQUET_TEXT,        [FIELD_TEXT] = PARQUET_TEXT,
    [FIELD_INTEGER] = PARQUET_INTEGER, [FIELD_NUMBER] = PARQUET_NUMBER,
    [FIELD_BOOLEAN] = PARQUET_BOOLEAN, [FIELD_INSTANT] = PARQUET_INSTANT,
    [FIELD_DATE] = PARQUET_DATE,       [FIELD_JSON] = PARQUET_JSON,
};

static const enum parquet_type OWN_TYPES[] = {
    [OWN_ENDPOINT] = PARQUET_TEXT,   [OWN_ID] = PARQUET_TEXT,
    [OWN_VERSION] = PARQUET_INTEGER, [OWN_UPDATED_AT] = PARQUET_INSTANT,
    [OWN_DELETED] = PARQUET_BOOLEAN,
};

static bool append(void *self, struct str bytes, struct error *err)
{
    struct export_writer *writer = self;

    buf_add(&writer->out, bytes);
    return buf_ok(&writer->out, err);
}

static struct parquet_column *columns_of(struct export_writer *writer)
{
    const struct export_columns *fields = &writer->shape.columns;
    struct parquet_column *columns =
        ARENA_ARRAY(&writer->arena, struct parquet_column, OWN_COLUMNS + fields->count);

    if (columns == NULL)
        return NULL;
    for (size_t i = 0; i < OWN_COLUMNS; i++)
        columns[i] = (struct parquet_column){ EXPORT_OWN_COLUMNS[i], OWN_TYPES[i], false };
    for (size_t i = 0; i < fields->count; i++)
        columns[OWN_COLUMNS + i] =
            (struct parquet_column){ fields->items[i].name, TYPES[fields->items[i].type],
                                     fields->items[i].is_list };
    return columns;
}

static bool begin(struct export_writer *writer, struct error *err)
{
    const size_t count = OWN_COLUMNS + writer->shape.columns.count;
    struct table *table = ARENA_NEW(&writer->arena, struct table);

    if (!export_columns_check(&writer->shape.columns, err))
        return false;
    if (count > PARQUET_COLUMNS_MAX)
        return error_set(err, ERROR_REQUEST, "export.columns", "%zu columns, at most %d", count,
                         PARQUET_COLUMNS_MAX);
    if (table == NULL || (table->columns = columns_of(writer)) == NULL)
        return arena_error(&writer->arena, err);
    writer->own = table;
    return parquet_open(&table->parquet,
                        &(struct parquet_options){ .columns = table->columns,
                                                   .column_count = (int)count,
                                                   .codec = writer->shape.codec,
                                                   .created_by = STR("patra " PATRA_VERSION),
                                                   .write = append,
                                                   .self = writer,
                                                   .bytes_max = PARQUET_BYTES_MAX },
                        err);
}

/* ---- values ---- */

static void add_own(struct parquet *parquet, const struct record_entry *entry)
{
    const struct parquet_value values[] = {
        [OWN_ENDPOINT] = { .text = entry->endpoint },
        [OWN_ID] = { .text = entry->provider_id },
        [OWN_VERSION] = { .integer = entry->version },
        [OWN_UPDATED_AT] = { .is_null = !entry->has_updated, .integer = entry->updated_us },
        [OWN_DELETED] = { .boolean = entry->is_deleted },
    };

    for (int i = 0; i < OWN_COLUMNS; i++)
        parquet_add(parquet, i, &values[i]);
}

/* One value of a record; its type was checked when the record was read. */
struct cell {
    const struct json_doc *doc;
    struct json_node node;
    const struct export_column *column;
    struct arena *arena;
};

static bool unfit(const struct cell *cell, struct error *err)
{
    return error_set(err, ERROR_FATAL, "export.type", "the field %.*s has a value of another type",
                     STR_ARG(cell->column->name));
}

/* A text as it is; all else as JSON. */
static bool read_text(const struct cell *cell, struct str *text, struct error *err)
{
    if (cell->column->type == FIELD_JSON || json_type(cell->doc, cell->node) != JSON_STRING) {
        *text = json_raw(cell->doc, cell->node);
        return true;
    }
    return json_string(cell->doc, cell->node, cell->arena, text, err);
}

static bool read_instant(const struct cell *cell, int64_t *at_us, struct error *err)
{
    struct date date;
    struct str text;

    if (json_type(cell->doc, cell->node) != JSON_STRING)
        return unfit(cell, err);
    if (!json_string(cell->doc, cell->node, cell->arena, &text, err) ||
        !date_parse(date_format_find(STR("auto")), text, &date, err))
        return false;
    *at_us = date.at_us;
    return true;
}

static bool read_value(const struct cell *cell, struct parquet_value *value, struct error *err)
{
    *value = (struct parquet_value){ .is_null = json_type(cell->doc, cell->node) <= JSON_NULL };
    if (value->is_null)
        return true;
    switch (cell->column->type) {
    case FIELD_ANY:
    case FIELD_TEXT:
    case FIELD_JSON:
        return read_text(cell, &value->text, err);
    case FIELD_INTEGER:
        return json_i64(cell->doc, cell->node, &value->integer) || unfit(cell, err);
    case FIELD_NUMBER:
        return json_double(cell->doc, cell->node, &value->number) || unfit(cell, err);
    case FIELD_BOOLEAN:
        return json_bool(cell->doc, cell->node, &value->boolean) || unfit(cell, err);
    case FIELD_INSTANT:
        return read_instant(cell, &value->integer, err);
    case FIELD_DATE:
        if (!read_instant(cell, &value->integer, err))
            return false;
        value->integer = instant_floor(value->integer, US_PER_DAY) / US_PER_DAY;
        return true;
    }
    return unfit(cell, err);
}

static bool add_list(struct parquet *parquet, int column, const struct cell *list,
                     struct error *err)
{
    const size_t count = json_count(list->doc, list->node);
    struct parquet_value *values = ARENA_ARRAY(list->arena, struct parquet_value, count);
    struct json_iter it = json_each(list->doc, list->node);
    struct cell cell = *list;

    if (values == NULL)
        return arena_error(list->arena, err);
    if (json_type(list->doc, list->node) <= JSON_NULL) {
        parquet_add_list(parquet, column, NULL, 0);
        return true;
    }
    if (json_type(list->doc, list->node) != JSON_ARRAY)
        return unfit(list, err);
    while (json_next(&it)) {
        cell.node = it.value;
        if (!read_value(&cell, &values[it.index], err))
            return false;
    }
    parquet_add_list(parquet, column, values, count);
    return true;
}

static bool add_field(struct parquet *parquet, int column, const struct cell *cell,
                      struct error *err)
{
    struct parquet_value value;

    if (cell->column->is_list)
        return add_list(parquet, column, cell, err);
    if (!read_value(cell, &value, err))
        return false;
    parquet_add(parquet, column, &value);
    return true;
}

static bool add_record(struct export_writer *writer, const struct export_item *item,
                       struct error *err)
{
    const struct export_columns *columns = &writer->shape.columns;
    const struct str fields = item->fields.len > 0 ? item->fields : STR("{}");
    struct table *table = writer->own;
    struct json_doc doc;

    if (!json_parse(&doc, item->arena, fields, err))
        return false;
    add_own(&table->parquet, item->entry);
    for (size_t i = 0; i < columns->count; i++) {
        const struct cell cell = { &doc, json_get(&doc, json_root(&doc), columns->items[i].name),
                                   &columns->items[i], item->arena };

        if (!add_field(&table->parquet, OWN_COLUMNS + (int)i, &cell, err))
            return error_wrap(err, "record %.*s", STR_ARG(item->entry->provider_id));
    }
    return parquet_end_row(&table->parquet, err);
}

static bool end(struct export_writer *writer, struct error *err)
{
    struct table *table = writer->own;

    return parquet_finish(&table->parquet, err);
}

static void close_table(struct export_writer *writer)
{
    struct table *table = writer->own;

    parquet_close(&table->parquet);
}

const struct export_format EXPORT_PARQUET = {
    .name = "parquet",
    .needs_fields = true,
    .begin = begin,
    .record = add_record,
    .end = end,
    .close = close_table,
};
