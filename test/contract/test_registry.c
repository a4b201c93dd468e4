/* The Registry's rows: they come back as they went in, and as they were at any earlier instant. */
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "contract.h"
#include "port/store_registry.h"

enum { COLUMNS_MAX = 64, ROWS_MAX = 4000, CODES = 3 };

static const struct str TEXTS[] = {
    STR_INIT(""),
    STR_INIT("plain"),
    STR_INIT("quote ' and \" and \\ and %s and :name and $1"),
    STR_INIT("line\nbreak\ttab\x7f"),
    STR_INIT("\xe6\x96\x87\xe7\x8c\xae \xf0\x9f\x93\x9a"),
};
static const struct str JSONS[] = {
    STR_INIT("{\"b\":1,\"a\":[1.10,1e400,\"\\u0000\"]}"), /* as written, to the byte */
    STR_INIT("[]"),
    STR_INIT("{\"a\": \"\xe6\x96\x87\"}"),
};
static const int64_t NUMBERS[] = { 0, 1, -1, INT64_MAX, INT64_MIN, 1000000 };
static const int64_t DURATIONS[] = { 0, 1, 900000000, INT64_MAX };
static const double REALS[] = { 0.0, 0.1, -2.5, 1e300, 5e-324, 3.141592653589793 };

static struct registry_value value_of(enum registry_type type, unsigned pick)
{
    struct registry_value value = { .is_set = pick % 4 != 0 };

    switch (type) {
    case REGISTRY_TEXT:
        value.text = TEXTS[pick % ARRAY_LEN(TEXTS)];
        break;
    case REGISTRY_JSON:
        value.text = JSONS[pick % ARRAY_LEN(JSONS)];
        break;
    case REGISTRY_REAL:
        value.real = REALS[pick % ARRAY_LEN(REALS)];
        break;
    case REGISTRY_BOOL:
        value.number = pick % 2;
        break;
    case REGISTRY_DURATION:
        value.number = DURATIONS[pick % ARRAY_LEN(DURATIONS)];
        break;
    case REGISTRY_INT:
        value.number = NUMBERS[pick % ARRAY_LEN(NUMBERS)];
        break;
    }
    return value;
}

static void fill(struct registry_value *values, enum registry_table_id table, unsigned seed)
{
    const struct registry_table *description = registry_table(table);

    REQUIRE(description->column_count <= COLUMNS_MAX, "columns");
    for (size_t i = 0; i < description->column_count; i++) {
        values[i] = value_of(description->columns[i].type, (unsigned)rand_r(&seed) >> 8);
        values[i].is_template = values[i].is_set && rand_r(&seed) % 3 == 0;
    }
}

TEST(every_value_of_every_table_comes_back)
{
    struct store *store = contract_store();
    struct error err = { 0 };

    for (int table = 0; table < REGISTRY_TABLE_COUNT; table++) {
        for (unsigned seed = 0; seed < 12; seed++) {
            struct registry_value values[COLUMNS_MAX] = { 0 };
            struct registry_row row = { .table = (enum registry_table_id)table,
                                        .endpoint = TEXTS[seed % 3],
                                        .key = TEXTS[seed % 5],
                                        .position = (int32_t)seed,
                                        .values = values };
            struct registry_source source;
            char code[32];
            int64_t id = 0;

            fill(values, row.table, seed);
            (void)snprintf(code, sizeof(code), "source-%d-%u", table, seed);
            REQUIRE_OK(store_registry_insert(store,
                                             &(struct registry_insert){ .code = str_of(code),
                                                                        .row = &row,
                                                                        .at_us = NOW_US + seed,
                                                                        .version = 7 },
                                             &id, &err),
                       err);
            REQUIRE_OK(store_registry_load(store, contract_arena(), str_of(code), NOW_US + seed,
                                           &source, &err),
                       err);
            REQUIRE(source.count == 1, code);
            CHECK_STR(source.code, str_of(code), code);
            CHECK(registry_row_eq(&source.rows[0], &row), code);
            CHECK_EQ(source.rows[0].id, id, code);
            CHECK_EQ(source.rows[0].version, 7, code);
            CHECK_EQ(source.rows[0].effective_from_us, NOW_US + seed, code);
        }
    }
    contract_end();
}

/* The model: all rows ever opened, in a plain array. */
struct opened {
    struct registry_row row;
    struct registry_value values[COLUMNS_MAX];
    char endpoint[8];
    char key[8];
    int code;
    int64_t from_us;
    int64_t to_us; /* INT64_MAX = in force */
};

static struct {
    struct opened rows[ROWS_MAX];
    size_t count;
} model;

static const char *const CODE_NAMES[CODES] = { "one", "two", "three" };

static int compare_rows(const void *left, const void *right)
{
    const struct registry_row *a = left, *b = right;
    int order = (int)a->table - (int)b->table;

    if (order == 0)
        order = str_cmp(a->endpoint, b->endpoint);
    if (order == 0)
        order = a->position - b->position;
    return order != 0 ? order : str_cmp(a->key, b->key);
}

static void check_at(struct store *store, int code, int64_t at_us)
{
    static struct registry_row wanted[ROWS_MAX];
    struct registry_source source;
    struct error err = { 0 };
    char label[64];
    size_t count = 0;

    (void)snprintf(label, sizeof(label), "%s at %" PRId64, CODE_NAMES[code], at_us - NOW_US);
    for (size_t i = 0; i < model.count; i++) {
        const struct opened *row = &model.rows[i];

        if (row->code == code && row->from_us <= at_us && at_us < row->to_us)
            wanted[count++] = row->row;
    }
    qsort(wanted, count, sizeof(wanted[0]), compare_rows);
    REQUIRE_OK(store_registry_load(store, contract_arena(), str_of(CODE_NAMES[code]), at_us,
                                   &source, &err),
               err);
    CHECK_EQ(source.count, count, label);
    for (size_t i = 0; i < count && i < source.count; i++) {
        CHECK(registry_row_eq(&source.rows[i], &wanted[i]), label);
        CHECK_EQ(source.rows[i].effective_from_us, wanted[i].effective_from_us, label);
    }
}

static struct opened *in_force(int code, enum registry_table_id table, const char *endpoint,
                               const char *key)
{
    for (size_t i = 0; i < model.count; i++) {
        struct opened *row = &model.rows[i];

        if (row->to_us == INT64_MAX && row->code == code && row->row.table == table &&
            strcmp(row->endpoint, endpoint) == 0 && strcmp(row->key, key) == 0)
            return row;
    }
    return NULL;
}

static void open_row(struct store *store, int code, enum registry_table_id table,
                     const char *endpoint, const char *key, int64_t at_us, int64_t version,
                     unsigned seed)
{
    struct opened *row = &model.rows[model.count++];
    struct error err = { 0 };

    REQUIRE(model.count < ROWS_MAX, "rows of the model");
    *row = (struct opened){ .code = code, .from_us = at_us, .to_us = INT64_MAX };
    (void)snprintf(row->endpoint, sizeof(row->endpoint), "%s", endpoint);
    (void)snprintf(row->key, sizeof(row->key), "%s", key);
    fill(row->values, table, seed);
    row->row = (struct registry_row){ .table = table,
                                      .endpoint = str_of(row->endpoint),
                                      .key = str_of(row->key),
                                      .position = (int32_t)(seed % 4),
                                      .effective_from_us = at_us,
                                      .values = row->values };
    REQUIRE_OK(store_registry_insert(store,
                                     &(struct registry_insert){ .code = str_of(CODE_NAMES[code]),
                                                                .row = &row->row,
                                                                .at_us = at_us,
                                                                .version = version },
                                     &row->row.id, &err),
               err);
}

/* One change of one source: some rows closed, some replaced, some new, in one transaction. */
static void change(struct store *store, int64_t at_us, int64_t version, unsigned *seed)
{
    static const char *const ENDPOINTS[] = { "", "a", "B", "z" };
    static const char *const KEYS[] = { "", "k", "K1" };
    const int code = (int)((unsigned)rand_r(seed) >> 8) % CODES;
    struct error err = { 0 };

    REQUIRE_OK(store_begin(store, &err), err);
    REQUIRE_OK(store_registry_lock(store, str_of(CODE_NAMES[code]), &err), err);
    for (int i = 0; i < 12; i++) {
        const unsigned pick = (unsigned)rand_r(seed) >> 4;
        const enum registry_table_id table = (enum registry_table_id)(pick % REGISTRY_TABLE_COUNT);
        const char *endpoint = ENDPOINTS[pick / 16 % ARRAY_LEN(ENDPOINTS)];
        const char *key = KEYS[pick / 64 % ARRAY_LEN(KEYS)];
        struct opened *old = in_force(code, table, endpoint, key);

        if (old != NULL && old->from_us == at_us)
            continue;
        if (old != NULL) {
            REQUIRE_OK(store_registry_close(store, table, old->row.id, at_us, &err), err);
            old->to_us = at_us;
        }
        if (old == NULL || pick / 256 % 3 != 0)
            open_row(store, code, table, endpoint, key, at_us, version, pick);
    }
    REQUIRE_OK(store_commit(store, &err), err);
}

TEST(the_registry_of_any_earlier_instant_can_be_loaded)
{
    struct store *store = contract_store();
    unsigned seed = 20260101;

    model.count = 0;
    for (int64_t step = 1; step <= 60; step++)
        change(store, NOW_US + step * 10, step, &seed);
    test_note("registry: %zu rows opened over 60 changes", model.count);
    for (int code = 0; code < CODES; code++) {
        for (int64_t step = 0; step <= 61; step++) {
            check_at(store, code, NOW_US + step * 10 - 1);
            check_at(store, code, NOW_US + step * 10);
        }
    }
    contract_end();
}

TEST(sources_are_listed_while_in_force)
{
    struct store *store = contract_store();
    struct registry_value values[COLUMNS_MAX] = { { .is_set = false } };
    struct registry_row row = { .table = REGISTRY_PROVENANCE, .values = values };
    struct registry_entry_list list;
    struct error err = { 0 };
    int64_t id, http;

    REQUIRE_OK(
        store_registry_insert(store,
                              &(struct registry_insert){
                                  .code = STR("b"), .row = &row, .at_us = NOW_US, .version = 1 },
                              &id, &err),
        err);
    REQUIRE_OK(store_registry_insert(
                   store,
                   &(struct registry_insert){
                       .code = STR("a"), .row = &row, .at_us = NOW_US + 5, .version = 3 },
                   &id, &err),
               err);
    row.table = REGISTRY_HTTP;
    REQUIRE_OK(store_registry_insert(
                   store,
                   &(struct registry_insert){
                       .code = STR("a"), .row = &row, .at_us = NOW_US + 7, .version = 4 },
                   &http, &err),
               err);
    REQUIRE_OK(store_registry_insert(
                   store,
                   &(struct registry_insert){
                       .code = STR("ghost"), .row = &row, .at_us = NOW_US, .version = 1 },
                   &http, &err),
               err);

    REQUIRE_OK(store_registry_list(store, contract_arena(), NOW_US - 1, &list, &err), err);
    CHECK_EQ(list.count, 0, "before the first");
    REQUIRE_OK(store_registry_list(store, contract_arena(), NOW_US, &list, &err), err);
    CHECK_EQ(list.count, 1, "only b");
    REQUIRE_OK(store_registry_list(store, contract_arena(), NOW_US + 10, &list, &err), err);
    REQUIRE(list.count == 2, "a and b; rows without a source are none");
    CHECK_STR(list.items[0].code, STR("a"), "by code");
    CHECK_EQ(list.items[0].version, 4, "the highest");
    CHECK_EQ(list.items[0].changed_us, NOW_US + 7, "the latest");
    REQUIRE_OK(store_registry_close(store, REGISTRY_PROVENANCE, id, NOW_US + 20, &err), err);
    REQUIRE_OK(store_registry_list(store, contract_arena(), NOW_US + 20, &list, &err), err);
    CHECK_EQ(list.count, 1, "a is closed");
    CHECK_STR(list.items[0].code, STR("b"), "b stays");
    contract_end();
}

TEST(a_row_is_closed_once)
{
    struct store *store = contract_store();
    struct registry_value values[COLUMNS_MAX] = { { .is_set = false } };
    const struct registry_row row = { .table = REGISTRY_RETRY, .values = values };
    struct error err = { 0 };
    int64_t id;

    REQUIRE_OK(
        store_registry_insert(store,
                              &(struct registry_insert){
                                  .code = STR("a"), .row = &row, .at_us = NOW_US, .version = 1 },
                              &id, &err),
        err);
    CHECK(!store_registry_close(store, REGISTRY_RETRY, id, NOW_US, &err), "not a moment in force");
    CHECK_EQ(err.level, ERROR_REQUEST, "not a moment in force");
    REQUIRE_OK(store_registry_close(store, REGISTRY_RETRY, id, NOW_US + 1, &err), err);
    CHECK(!store_registry_close(store, REGISTRY_RETRY, id, NOW_US + 2, &err), "twice");
    CHECK_EQ(err.level, ERROR_REQUEST, "twice");
    CHECK(!store_registry_close(store, REGISTRY_RETRY, id + 1, NOW_US + 2, &err), "no such row");
    CHECK_EQ(err.level, ERROR_REQUEST, "no such row");
    contract_end();
}
