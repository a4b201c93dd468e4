#include "adapter/sql/registry_text.h"

void registry_add_columns(struct buf *sql, const struct registry_table *table)
{
    for (size_t i = 0; i < table->column_count; i++)
        buf_printf(sql, ", \"%s\"", table->columns[i].name);
}

void registry_add_changes(struct buf *sql)
{
    for (int id = 0; id < REGISTRY_TABLE_COUNT; id++) {
        const char *name = registry_table((enum registry_table_id)id)->name;

        buf_printf(sql,
                   "%sSELECT provenance_code AS code, effective_from AS at, version FROM %s"
                   " UNION ALL SELECT provenance_code, effective_to, 0 FROM %s"
                   " WHERE effective_to IS NOT NULL",
                   id > 0 ? " UNION ALL " : "", name, name);
    }
}

const char *registry_statement(struct buf *sql, struct error *err)
{
    buf_add_char(sql, '\0');
    return buf_ok(sql, err) ? buf_str(sql).data : NULL;
}
