#include "adapter/sql/read.h"

static struct registry_value read_value(struct rows *rows, struct arena *arena,
                                        enum registry_type type)
{
    struct registry_value value = { .is_set = !rows_is_null(rows) };

    if (!value.is_set) {
        rows_skip(rows, 1);
        return value;
    }
    switch (type) {
    case REGISTRY_TEXT:
    case REGISTRY_JSON:
        value.text = rows_text(rows, arena);
        break;
    case REGISTRY_REAL:
        value.real = rows_real(rows);
        break;
    case REGISTRY_INT:
    case REGISTRY_BOOL:
    case REGISTRY_DURATION:
        value.number = rows_i64(rows);
        break;
    }
    return value;
}

static void read_row(struct rows *rows, struct arena *arena, enum registry_table_id id,
                     struct registry_row *row)
{
    const struct registry_table *table = registry_table(id);

    row->table = id;
    row->id = rows_i64(rows);
    row->endpoint = rows_text(rows, arena);
    row->key = rows_text(rows, arena);
    row->position = (int32_t)rows_i64(rows);
    row->version = rows_i64(rows);
    row->effective_from_us = rows_i64(rows);
    row->values = ARENA_ARRAY(arena, struct registry_value, table->column_count);
    if (row->values == NULL) {
        rows->full = arena;
        return;
    }
    for (size_t i = 0; i < table->column_count; i++)
        row->values[i] = read_value(rows, arena, table->columns[i].type);
}

bool read_registry_rows(struct rows *rows, struct arena *arena, enum registry_table_id id,
                        struct registry_row_list *list, struct error *err)
{
    struct registry_row *row;

    while ((row = ROWS_NEXT(rows, arena, list)) != NULL)
        read_row(rows, arena, id, row);
    return rows_finish(rows, err);
}

bool read_registry_entries(struct rows *rows, struct arena *arena, struct registry_entry_list *list,
                           struct error *err)
{
    struct registry_entry *entry;

    *list = (struct registry_entry_list){ 0 };
    while ((entry = ROWS_NEXT(rows, arena, list)) != NULL) {
        entry->code = rows_text(rows, arena);
        entry->version = rows_i64(rows);
        entry->changed_us = rows_i64(rows);
    }
    return rows_finish(rows, err);
}

bool read_migrations(struct rows *rows, struct arena *arena, struct migration_record_list *list,
                     struct error *err)
{
    struct migration_record *record;

    *list = (struct migration_record_list){ 0 };
    while ((record = ROWS_NEXT(rows, arena, list)) != NULL) {
        record->number = rows_i64(rows);
        record->name = rows_text(rows, arena);
        record->sha256 = rows_text(rows, arena);
    }
    return rows_finish(rows, err);
}
