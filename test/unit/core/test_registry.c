/* Tests: the registry tables match the columns of both schemas. */
#include "core/registry.h"

#include <stdio.h>

#include "test.h"

/* The column's declared type in the DDL of a store; empty when the table has no such column. */
static struct str declared(struct str sql, const char *table, const char *column)
{
    char head[128];
    struct str body, line;

    (void)snprintf(head, sizeof(head), "CREATE TABLE %s (", table);
    body = str_slice(sql, str_find(sql, str_of(head)), sql.len);
    body = str_slice(body, 0, str_find(body, STR("\n)")));
    while (body.len > 0) {
        line = str_trim(str_cut(&body, '\n'));
        if (str_eq(str_cut(&line, ' '), str_of(column)))
            return line;
    }
    return (struct str){ 0 };
}

static size_t columns_declared(struct str sql, const char *table)
{
    char head[128];
    struct str body;
    size_t count = 0;

    (void)snprintf(head, sizeof(head), "CREATE TABLE %s (", table);
    body = str_slice(sql, str_find(sql, str_of(head)), sql.len);
    body = str_slice(body, 0, str_find(body, STR("\n)")));
    while (body.len > 0)
        count += str_starts(str_cut(&body, '\n'), STR("    "));
    return count - 1; /* the last line is the UNIQUE constraint */
}

static void check_store(const char *path, const char *const types[])
{
    const struct str sql = test_read(path);

    REQUIRE(sql.data != NULL, path);
    for (int t = 0; t < REGISTRY_TABLE_COUNT; t++) {
        const struct registry_table *table = registry_table((enum registry_table_id)t);

        for (size_t c = 0; c < table->column_count; c++) {
            const struct registry_column *column = &table->columns[c];
            const struct str type = declared(sql, table->name, column->name);

            CHECK(str_starts(type, str_of(types[column->type])), column->name);
        }
        CHECK_EQ(columns_declared(sql, table->name), table->column_count + 9, table->name);
    }
}

TEST(both_stores_declare_exactly_the_columns_described)
{
    static const char *const sqlite[] = {
        [REGISTRY_TEXT] = "TEXT",    [REGISTRY_INT] = "INTEGER",      [REGISTRY_REAL] = "REAL",
        [REGISTRY_BOOL] = "INTEGER", [REGISTRY_DURATION] = "INTEGER", [REGISTRY_JSON] = "TEXT",
    };
    static const char *const postgres[] = {
        [REGISTRY_TEXT] = "text",
        [REGISTRY_INT] = "bigint",
        [REGISTRY_REAL] = "double precision",
        [REGISTRY_BOOL] = "boolean",
        [REGISTRY_DURATION] = "bigint",
        [REGISTRY_JSON] = "text",
    };

    check_store("sql/sqlite/0002_registry.sql", sqlite);
    check_store("sql/postgres/0002_registry.sql", postgres);
}

TEST(a_column_is_found_by_its_whole_name)
{
    CHECK_EQ(registry_column(REGISTRY_HTTP, STR("base_url")), 0, "the first");
    CHECK_EQ(registry_column(REGISTRY_HTTP, STR("base")), -1, "a part of a name");
    CHECK_EQ(registry_column(REGISTRY_RETRY, STR("base_url")), -1, "another table's");
}

TEST(rows_are_equal_when_place_order_and_values_are)
{
    struct registry_value a_values[5] = { { .is_set = true, .text = STR("Crossref") } };
    struct registry_value b_values[5] = { { .is_set = true, .text = STR("Crossref") } };
    struct registry_row a = { .table = REGISTRY_PROVENANCE, .values = a_values, .version = 1 };
    struct registry_row b = { .table = REGISTRY_PROVENANCE, .values = b_values, .version = 2 };

    a.id = 7;
    a.effective_from_us = 5;
    CHECK(registry_row_eq(&a, &b), "id, version and time do not count");
    b.position = 1;
    CHECK(!registry_row_eq(&a, &b), "order counts");
    b.position = 0;
    b_values[2] = (struct registry_value){ .is_set = true, .number = 0 };
    CHECK(!registry_row_eq(&a, &b), "false is not the same as not said");
    a_values[2] = (struct registry_value){ .is_set = true, .number = 1 };
    CHECK(!registry_row_eq(&a, &b), "another value");
    b_values[2].number = 1;
    CHECK(registry_row_eq(&a, &b), "the same value");
    b_values[2].is_template = true;
    CHECK(!registry_row_eq(&a, &b), "a value of the file is not the template's");
    b_values[2].is_template = false;
    b.endpoint = STR("works");
    CHECK(!registry_row_eq(&a, &b), "the place counts");
}
