/* What only a database that outlives a process can show of migrations. */
#include <string.h>

#include "base/buf.h"
#include "contract.h"
#include "core/codes.h"

TEST(migrations_are_taken_once_and_in_full)
{
    const char *dsn = contract_new_database();
    struct store *store = contract_open(dsn);
    struct store_schema schema = { 0 };
    struct error err = { 0 };
    int64_t taken = -1;

    REQUIRE_OK(store_schema(store, &schema, &err), err);
    CHECK_EQ(schema.version, 0, "an empty database");
    CHECK(schema.latest >= 5, "this program knows migrations");
    CHECK(!store_schema_check(store, &err), "an empty database is not ready");
    CHECK_EQ(err.level, ERROR_FATAL, "not ready");
    REQUIRE_OK(store_migrate(store, NOW_US, &taken, &err), err);
    CHECK(taken >= 5, "all taken");
    REQUIRE_OK(store_schema(store, &schema, &err), err);
    CHECK_EQ(schema.version, schema.latest, "up to date");
    CHECK(store_schema_check(store, &err), "ready");
    REQUIRE_OK(store_migrate(store, NOW_US + 1, &taken, &err), err);
    CHECK_EQ(taken, 0, "nothing left");
    store_close(store);
}

/* The table `zero` refuses every other number, so an INSERT of SQL checks a count for this file. */
static void check_zero(const char *dsn, struct buf *count, const char *label)
{
    buf_add_char(count, '\0');
    REQUIRE(!count->failed, label);
    CHECK(contract_try_sql(dsn, buf_str(count).data), label);
}

static void add_quoted(struct buf *sql, struct str text)
{
    buf_add_char(sql, '\'');
    for (size_t i = 0; i < text.len; i++) {
        if (text.data[i] == '\'')
            buf_add_char(sql, '\'');
        buf_add_char(sql, text.data[i]);
    }
    buf_add_char(sql, '\'');
}

/* scripts/dictionaries writes what is missing. */
TEST(dictionaries_hold_the_words_of_the_code_and_no_others)
{
    const char *dsn = contract_migrated(contract_new_database());
    size_t words = 0;
    struct buf sql;

    contract_sql(dsn, "CREATE TABLE zero (n integer NOT NULL CHECK (n = 0))");
    for (size_t i = 0; i < CODE_TABLE_COUNT; i++) {
        const struct code_table *table = CODE_TABLES[i];

        buf_init(&sql, contract_arena(), 1 << 16);
        buf_printf(&sql,
                   "INSERT INTO zero SELECT count(*) - %zu FROM sys_dict_item"
                   " WHERE type_code = '%.*s' AND (item_code, position, meaning) IN (VALUES ",
                   table->count, STR_ARG(table->type));
        for (size_t j = 0; j < table->count; j++) {
            buf_add(&sql, j > 0 ? STR(", (") : STR("("));
            add_quoted(&sql, table->items[j].code);
            buf_printf(&sql, ", %zu, ", j);
            add_quoted(&sql, table->items[j].meaning);
            buf_add_char(&sql, ')');
        }
        buf_add_char(&sql, ')');
        check_zero(dsn, &sql, table->type.data);
        words += table->count;
    }
    buf_init(&sql, contract_arena(), 1 << 10);
    buf_printf(&sql, "INSERT INTO zero SELECT count(*) - %zu FROM sys_dict_item", words);
    check_zero(dsn, &sql, "a word the code does not know");
    contract_end();
}

/* The events of one key would be in two lanes, and read out of order. */
TEST(a_store_with_another_number_of_lanes_is_refused)
{
    const char *dsn = contract_migrated(contract_new_database());
    struct store *store = contract_open(dsn);
    struct error err = { 0 };

    CHECK(store_schema_check(store, &err), "ready");
    contract_sql(dsn, "UPDATE ing_stream_head SET lane_count = 32");
    CHECK(!store_schema_check(store, &err), "refused");
    CHECK_STR(str_of(err.code), STR("store.lanes"), err.text);
    CHECK_EQ(err.level, ERROR_FATAL, "a person must look");
    CHECK(strstr(err.text, "32 lanes, this patra has 64") != NULL, err.text);
    store_close(store);
    contract_end();
}

/* Rows would say what no reader of the dictionaries could look up. */
TEST(a_store_whose_dictionaries_lack_a_word_is_refused_until_it_is_restored)
{
    const char *dsn = contract_migrated(contract_new_database());
    struct store *store = contract_open(dsn);
    struct error err = { 0 };
    int64_t restored;

    contract_sql(dsn, "INSERT INTO sys_dict_item VALUES ('ing_operation', 'MINE', 99, 'my own')");
    CHECK(store_schema_check(store, &err), "a word that patra does not know is left alone");
    contract_sql(dsn, "DELETE FROM sys_dict_item WHERE type_code = 'ing_operation'"
                      " AND item_code = 'HARVEST'");
    contract_sql(dsn, "UPDATE sys_dict_item SET position = 0 WHERE item_code = 'MINE'");
    CHECK(!store_schema_check(store, &err), "refused");
    CHECK_STR(str_of(err.code), STR("store.dictionary"), err.text);
    CHECK(strstr(err.text, "HARVEST of ing_operation") != NULL, err.text);
    CHECK(strstr(err.text, "patra init") != NULL, "what to do");
    REQUIRE_OK(store_words_restore(store, &restored, &err), err);
    CHECK_EQ(restored, 1, "the word");
    CHECK(store_schema_check(store, &err), "ready");
    REQUIRE_OK(store_words_restore(store, &restored, &err), err);
    CHECK_EQ(restored, 0, "nothing left");
    contract_sql(dsn, "DELETE FROM sys_dict_item WHERE type_code = 'http_method'");
    contract_sql(dsn, "DELETE FROM sys_dict_type WHERE type_code = 'http_method'");
    CHECK(!store_schema_check(store, &err), "a whole dictionary");
    REQUIRE_OK(store_words_restore(store, &restored, &err), err);
    CHECK(store_schema_check(store, &err), "ready again");
    store_close(store);
}

static void check_refused(const char *sql, const char *code, const char *label)
{
    const char *dsn = contract_new_database();
    struct store *store = contract_open(dsn);
    struct store_schema schema;
    struct error err = { 0 };
    int64_t taken;

    REQUIRE_OK(store_migrate(store, NOW_US, &taken, &err), err);
    contract_sql(dsn, sql);
    CHECK(!store_migrate(store, NOW_US, &taken, &err), label);
    CHECK_EQ(err.level, ERROR_FATAL, label);
    CHECK_STR(str_of(err.code), str_of(code), label);
    CHECK(!store_schema(store, &schema, &err), label);
    CHECK_STR(str_of(err.code), str_of(code), label);
    store_close(store);
}

TEST(a_newer_database_is_refused)
{
    check_refused("INSERT INTO schema_migration SELECT 9999, 'from_the_future', sha256, applied_at"
                  " FROM schema_migration WHERE number = 1",
                  "store.newer", "newer");
}

TEST(an_edited_migration_is_refused)
{
    check_refused("UPDATE schema_migration SET sha256 = 'another' WHERE number = 3",
                  "store.migration", "edited");
}

static int migrate_once(int index, const char *dsn)
{
    const struct store_options options = { .create = true, .busy_timeout_us = 60000000 };
    struct store *store;
    struct error err = { 0 };
    int64_t taken;

    if (!store_open(str_of(dsn), &options, &store, &err) ||
        !store_migrate(store, NOW_US + index, &taken, &err) || !store_schema_check(store, &err)) {
        test_note("process %d: %s", index, err.text);
        return -1;
    }
    store_close(store);
    return (int)taken;
}

TEST(processes_that_migrate_at_once_share_the_steps)
{
    struct store_schema schema;
    struct error err = { 0 };
    int64_t steps = 0;
    struct store *store = contract_open(contract_new_database());

    REQUIRE_OK(store_migrate(store, NOW_US, &steps, &err), err);
    store_close(store);
    for (int round = 0; round < 5; round++) {
        const char *dsn = contract_new_database();

        CHECK_EQ(contract_processes(4, migrate_once, dsn), steps, "each step once, none broken");
        store = contract_open(dsn);
        REQUIRE_OK(store_schema(store, &schema, &err), err);
        CHECK_EQ(schema.version, schema.latest, "up to date");
        store_close(store);
    }
}
