/* Tests: the dictionaries: complete, unique, and unchanged. */
#include "core/codes.h"

#include "test.h"

TEST(every_word_is_upper_case_and_leads_back_to_its_value)
{
    for (size_t t = 0; t < CODE_TABLE_COUNT; t++) {
        const struct code_table *table = CODE_TABLES[t];

        CHECK(table->count > 0, table->type.data);
        for (size_t i = 0; i < table->count; i++) {
            const struct str code = code_of(table, (int)i);

            CHECK(code.len > 0 && code.len <= 32, table->type.data); /* the columns' width */
            CHECK(table->items[i].meaning.len > 0, code.data);
            CHECK_EQ(code_find(table, code), i, code.data);
            for (size_t c = 0; c < code.len; c++)
                CHECK((code.data[c] >= 'A' && code.data[c] <= 'Z') || code.data[c] == '_' ||
                          (code.data[c] >= '0' && code.data[c] <= '9'),
                      code.data);
        }
    }
}

TEST(tables_have_names_of_their_own)
{
    for (size_t a = 0; a < CODE_TABLE_COUNT; a++) {
        for (size_t b = a + 1; b < CODE_TABLE_COUNT; b++)
            CHECK(!str_eq(CODE_TABLES[a]->type, CODE_TABLES[b]->type), CODE_TABLES[a]->type.data);
    }
}

TEST(stored_words_are_matched_letter_by_letter)
{
    CHECK_EQ(code_find(&OPERATION_CODES, STR("BACKFILL")), OPERATION_BACKFILL, "exact");
    CHECK_EQ(code_find(&OPERATION_CODES, STR("backfill")), -1, "lower case");
    CHECK_EQ(code_find(&OPERATION_CODES, STR("BACKFIL")), -1, "a prefix");
    CHECK_EQ(code_find(&OPERATION_CODES, STR("")), -1, "nothing");
}

TEST(written_words_may_have_any_case_and_dashes)
{
    CHECK_EQ(code_find_written(&AUTH_TYPE_CODES, STR("api-key")), AUTH_API_KEY, "dash");
    CHECK_EQ(code_find_written(&AUTH_TYPE_CODES, STR("Api_Key")), AUTH_API_KEY, "mixed case");
    CHECK_EQ(code_find_written(&AUTH_TYPE_CODES, STR("apikey")), -1, "no dash");
    CHECK_EQ(code_find_written(&AUTH_TYPE_CODES, STR("")), -1, "nothing");
}

/* Databases and other programs contain these words: they must never change. */
TEST(the_words_of_the_tables_stay_as_they_are)
{
    CHECK_STR(code_of(&OPERATION_CODES, OPERATION_HARVEST), STR("HARVEST"), "operation");
    CHECK_STR(code_of(&TASK_STATUS_CODES, TASK_QUEUED), STR("QUEUED"), "task");
    CHECK_STR(code_of(&NAMESPACE_SCOPE_CODES, NAMESPACE_EXPR), STR("EXPR"), "namespace");
    CHECK_STR(code_of(&DIRECTION_CODES, DIRECTION_BACKFILL), STR("BACKFILL"), "direction");
    CHECK_STR(code_of(&PAGINATION_TYPE_CODES, PAGINATION_SINGLE), STR("SINGLE"), "pagination");
    CHECK_STR(code_of(&AUTH_TYPE_CODES, AUTH_OAUTH2), STR("OAUTH2"), "auth");
    CHECK_STR(code_of(&ALIGN_UNIT_CODES, ALIGN_WEEK), STR("WEEK"), "align");
    CHECK_STR(code_of(&NULL_POLICY_CODES, NULL_OMIT), STR("OMIT"), "null policy");
}
