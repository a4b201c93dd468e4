/* The dictionaries hold the words of core/codes.h, no more and no less. */
#include "contract.h"
#include "core/codes.h"
#include "port/store_dict.h"

/* A word that is missing in sql/ is shown; scripts/dictionaries writes it there. */
static void check_item(const struct dict_item_list *list, const struct code_table *table, size_t i)
{
    const struct code_item *word = &table->items[i];

    if (i < list->count && str_eq(list->items[i].code, word->code) &&
        str_eq(list->items[i].meaning, word->meaning) && list->items[i].position == (int64_t)i)
        return;
    test_fail(__FILE__, __LINE__, "missing: ('%.*s', '%.*s', %zu, '%.*s')", STR_ARG(table->type),
              STR_ARG(word->code), i, STR_ARG(word->meaning));
}

TEST(dictionaries_hold_the_words_of_the_code)
{
    struct store *store = contract_store();
    struct dict_item_list list = { 0 };
    struct error err = { 0 };
    size_t words = 0;

    for (size_t i = 0; i < CODE_TABLE_COUNT; i++) {
        const struct code_table *table = CODE_TABLES[i];

        REQUIRE_OK(store_dict_list(store, contract_arena(), table->type, &list, &err), err);
        for (size_t j = 0; j < table->count; j++)
            check_item(&list, table, j);
        words += table->count;
    }
    REQUIRE_OK(store_dict_list(store, contract_arena(), STR(""), &list, &err), err);
    CHECK_EQ(list.count, words, "the store has no word the code does not know");
    contract_end();
}

TEST(dictionary_words_are_found_letter_by_letter)
{
    static const struct {
        const char *type;
        const char *word;
        bool found;
    } cases[] = {
        { "ing_operation", "HARVEST", true },   { "ing_operation", "harvest", false },
        { "ing_operation", "HARVES", false },   { "ing_operation", "", false },
        { "ing_operation", "QUEUED", false },   { "ing_task_status", "QUEUED", true },
        { "no_such_type", "HARVEST", false },   { "", "HARVEST", false },
        { "ing_operation", "HARVEST%", false },
    };
    struct store *store = contract_store();
    struct dict_item item;
    struct error err = { 0 };
    bool found;

    for (size_t i = 0; i < ARRAY_LEN(cases); i++) {
        REQUIRE_OK(store_dict_find(store, contract_arena(), str_of(cases[i].type),
                                   str_of(cases[i].word), &item, &found, &err),
                   err);
        CHECK_EQ(found, cases[i].found, cases[i].word);
        if (found)
            CHECK_STR(item.code, str_of(cases[i].word), cases[i].type);
    }
    contract_end();
}
