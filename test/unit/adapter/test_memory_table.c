#include "adapter/memory/table.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "test.h"

struct row {
    int64_t id;
    struct str name;
    int64_t number;
};

static bool name_key(const void *row, struct key *key)
{
    key_add_str(key, ((const struct row *)row)->name);
    return true;
}

/* Only even numbers stand in it. */
static bool number_key(const void *row, struct key *key)
{
    key_add_i64(key, ((const struct row *)row)->number);
    return ((const struct row *)row)->number % 2 == 0;
}

static const struct table_def DEF = {
    .name = "table",
    .row_size = sizeof(struct row),
    .text_count = 1,
    .texts = { TEXT_DEF(struct row, name, TEXT_PLAIN) },
    .index_count = 2,
    .indexes = { { "uk_name", true, name_key }, { "idx_number", false, number_key } },
};

enum { NAMES = 40, ROWS_MAX = 4000 };

/* The model: what a table is, without indexes or a journal. */
struct model {
    struct {
        bool is_there;
        int name;
        int64_t number;
    } rows[ROWS_MAX];
    int64_t next_id;
};

static struct str name_of(int name, char text[16])
{
    /* prefixes of one another, and bytes that a careless key would mix up */
    static const char *const FORMS[] = { "a", "ab", "a\x01", "\xff", "b" };
    const int len = snprintf(text, 16, "%s%d", FORMS[name % 5], name / 5);

    return (struct str){ text, (size_t)len };
}

static int64_t holder_of(const struct model *model, int name)
{
    for (int64_t id = 1; id < model->next_id; id++) {
        if (model->rows[id].is_there && model->rows[id].name == name)
            return id;
    }
    return 0;
}

static void check_order(const struct table *table, const struct model *model)
{
    const struct row *row;
    struct scan scan;
    int64_t seen = 0, even = 0, last_number = INT64_MIN, last_id = 0;
    char text[16];
    struct str last = { "", 0 };

    scan_init(&scan, table, 0, NULL, 0);
    while ((row = scan_next(&scan)) != NULL) {
        CHECK(seen == 0 || str_cmp(last, row->name) < 0, "names ascend");
        CHECK_STR(row->name, name_of(model->rows[row->id].name, text), "the row's own");
        CHECK_EQ(row->number, model->rows[row->id].number, "the row's own");
        last = row->name;
        seen++;
    }
    scan_release(&scan);
    scan_init(&scan, table, 1, NULL, 0);
    while ((row = scan_next(&scan)) != NULL) {
        CHECK(row->number > last_number || (row->number == last_number && row->id > last_id),
              "numbers ascend, then ids");
        last_number = row->number;
        last_id = row->id;
        even++;
    }
    scan_release(&scan);
    for (int64_t id = 1; id < model->next_id; id++) {
        seen -= model->rows[id].is_there;
        even -= model->rows[id].is_there && model->rows[id].number % 2 == 0;
        CHECK_EQ(table_get(table, id) != NULL, model->rows[id].is_there, "there or not");
    }
    CHECK_EQ(seen, 0, "all in the one index");
    CHECK_EQ(even, 0, "the even ones in the other");
}

/* One random change of both, refused by the table exactly when the model says so. */
static void change(struct table *table, struct journal *journal, struct model *model,
                   unsigned *seed)
{
    const int name = (int)((unsigned)rand_r(seed) >> 8) % NAMES;
    const int64_t number = (int64_t)(((unsigned)rand_r(seed) >> 8) % 50) - 25;
    const int64_t holder = holder_of(model, name);
    const bool adds = ((unsigned)rand_r(seed) >> 8) % 2 == 0;
    int64_t id =
        adds ? model->next_id : 1 + (int64_t)((unsigned)rand_r(seed) >> 8) % model->next_id;
    char text[16];
    struct row row = { .name = name_of(name, text), .number = number };
    struct error err = { 0 };

    if (id == model->next_id) {
        CHECK_EQ(table_insert(table, journal, &row, &id, &err), holder == 0, "insert");
        if (holder != 0)
            return;
        CHECK_EQ(id, model->next_id, "the next id");
        model->next_id++;
    } else if (!model->rows[id].is_there) {
        return;
    } else if (number % 9 == 0) {
        table_delete(table, journal, id);
        model->rows[id].is_there = false;
        return;
    } else {
        row.id = id;
        CHECK_EQ(table_update(table, journal, &row, &err), holder == 0 || holder == id, "update");
        if (holder != 0 && holder != id) {
            CHECK(strstr(err.text, "uk_name") != NULL, "the index is named");
            return;
        }
    }
    model->rows[id].is_there = true;
    model->rows[id].name = name;
    model->rows[id].number = number;
}

TEST(a_table_does_what_a_plain_array_does)
{
    static struct model model, before;
    struct table table;
    struct journal journal = { 0 };
    unsigned seed = 7;

    memset(&model, 0, sizeof(model));
    model.next_id = 1;
    table_init(&table, &DEF);
    for (int round = 0; round < 300; round++) {
        const uint64_t hash = table_hash(&table, 1);

        before = model;
        for (int i = 0; i < 12; i++)
            change(&table, &journal, &model, &seed);
        if (round % 3 == 0) {
            journal_rollback(&journal);
            model = before;
            CHECK_EQ(table_hash(&table, 1) == hash, 1, "as before, to the byte");
            CHECK_EQ(table.next_id, model.next_id, "and the next id");
        } else {
            journal_commit(&journal);
        }
        if (round % 10 == 0)
            check_order(&table, &model);
    }
    check_order(&table, &model);
    test_note("table: %d rows at the end of 300 random transactions", (int)table.count);
    journal_release(&journal);
    table_release(&table);
}

TEST(keys_compare_like_what_they_are_made_of)
{
    static const int64_t NUMBERS[] = { INT64_MIN, -1000, -1, 0, 1, 255, 256, INT64_MAX };
    static const struct str TEXTS[] = { STR_INIT(""),    STR_INIT("\0"), STR_INIT("\0a"),
                                        STR_INIT("\1"),  STR_INIT("a"),  STR_INIT("a\0"),
                                        STR_INIT("aa"),  STR_INIT("ab"), STR_INIT("b"),
                                        STR_INIT("\xff") };

    for (size_t i = 0; i < ARRAY_LEN(NUMBERS); i++) {
        for (size_t j = 0; j < ARRAY_LEN(NUMBERS); j++) {
            struct key a = { 0 }, b = { 0 };

            key_add_i64(&a, NUMBERS[i]);
            key_add_i64(&b, NUMBERS[j]);
            CHECK_EQ(memcmp(a.bytes, b.bytes, 8) < 0, i < j, "numbers");
            key_release(&a);
            key_release(&b);
        }
    }
    for (size_t i = 0; i < ARRAY_LEN(TEXTS); i++) {
        for (size_t j = 0; j < ARRAY_LEN(TEXTS); j++) {
            struct key a = { 0 }, b = { 0 };

            key_add_str(&a, TEXTS[i]);
            key_add_str(&a, TEXTS[9 - i]); /* what follows must not matter */
            key_add_str(&b, TEXTS[j]);
            key_add_str(&b, TEXTS[9 - j]);
            CHECK_EQ(memcmp(a.bytes, b.bytes, a.len < b.len ? a.len : b.len) < 0, i < j, "texts");
            key_release(&a);
            key_release(&b);
        }
    }
}
