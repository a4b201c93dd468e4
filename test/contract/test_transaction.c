/* Transactions: all or nothing, seen by others only when committed. */
#include <string.h>

#include "contract.h"
#include "port/store_registry.h"

static bool add_source_at(struct store *store, const char *code, int64_t at_us, struct error *err)
{
    struct registry_value values[64] = { { .is_set = false } };
    const struct registry_row row = { .table = REGISTRY_PROVENANCE, .values = values };
    int64_t id;

    return store_registry_insert(
        store,
        &(struct registry_insert){
            .code = str_of(code), .row = &row, .at_us = at_us, .version = 1 },
        &id, err);
}

static bool add_source(struct store *store, const char *code, struct error *err)
{
    return add_source_at(store, code, NOW_US, err);
}

static size_t sources(struct store *store)
{
    struct registry_entry_list list = { 0 };
    struct error err = { 0 };

    REQUIRE_OK(store_registry_list(store, contract_arena(), NOW_US, &list, &err), err);
    return list.count;
}

TEST(rollback_leaves_nothing)
{
    struct store *store = contract_store();
    struct error err = { 0 };

    REQUIRE_OK(store_begin(store, &err), err);
    REQUIRE_OK(add_source(store, "a", &err), err);
    CHECK_EQ(sources(store), 1, "a transaction sees its own writes");
    store_rollback(store);
    CHECK_EQ(sources(store), 0, "after rollback");
    contract_end();
}

TEST(a_commit_is_seen_by_others_and_not_before)
{
    struct store *store = contract_store();
    struct store *other = contract_another(store);
    struct error err = { 0 };

    REQUIRE_OK(store_begin(store, &err), err);
    REQUIRE_OK(add_source(store, "a", &err), err);
    CHECK_EQ(sources(other), 0, "not yet committed");
    REQUIRE_OK(store_commit(store, &err), err);
    CHECK_EQ(sources(other), 1, "committed");
    contract_end();
}

TEST(a_call_outside_a_transaction_is_one_of_its_own)
{
    struct store *store = contract_store();
    struct store *other = contract_another(store);
    struct error err = { 0 };

    REQUIRE_OK(add_source(store, "a", &err), err);
    CHECK_EQ(sources(other), 1, "committed at once");
    contract_end();
}

TEST(a_failed_call_leaves_the_transaction_to_be_rolled_back)
{
    struct store *store = contract_store();
    struct error err = { 0 };

    REQUIRE_OK(store_begin(store, &err), err);
    REQUIRE_OK(add_source(store, "a", &err), err);
    CHECK(!add_source_at(store, "a", NOW_US + 1, &err), "twice in force");
    CHECK_EQ(err.level, ERROR_REQUEST, "a broken constraint");
    CHECK_STR(str_of(err.code), STR("store.constraint"), "a broken constraint");
    CHECK(str_find(str_of(err.text), STR("reg_provenance_in_force")) < strlen(err.text), err.text);
    store_rollback(store);
    CHECK_EQ(sources(store), 0, "the first row went with it");
    REQUIRE_OK(add_source(store, "a", &err), err);
    CHECK_EQ(sources(store), 1, "the store goes on");
    contract_end();
}

TEST(closing_a_store_rolls_back)
{
    struct store *store = contract_store();
    struct store *writer = NULL;
    struct error err = { 0 };

    REQUIRE_OK(store_another(store, &writer, &err), err);
    REQUIRE_OK(store_begin(writer, &err), err);
    REQUIRE_OK(add_source(writer, "a", &err), err);
    store_close(writer);
    CHECK_EQ(sources(store), 0, "nothing of it");
    REQUIRE_OK(store_begin(store, &err), err);
    store_rollback(store); /* no other session is the writer */
    contract_end();
}

TEST(text_that_is_no_text_is_refused_everywhere)
{
    static const struct {
        struct str text;
        const char *label;
    } cases[] = {
        { STR_INIT("a\0b"), "NUL" },
        { STR_INIT("\xff"), "not UTF-8" },
        { STR_INIT("\xc3"), "cut short" },
        { STR_INIT("\xed\xa0\x80"), "a surrogate" },
    };
    struct store *store = contract_store();

    for (size_t i = 0; i < ARRAY_LEN(cases); i++) {
        struct registry_value values[64] = { { .is_set = true, .text = cases[i].text } };
        const struct registry_row row = { .table = REGISTRY_PROVENANCE, .values = values };
        struct error err = { 0 };
        int64_t id;

        CHECK(!store_registry_insert(
                  store,
                  &(struct registry_insert){
                      .code = STR("a"), .row = &row, .at_us = NOW_US, .version = 1 },
                  &id, &err),
              cases[i].label);
        CHECK_EQ(err.level, ERROR_DATA, cases[i].label);
        CHECK_STR(str_of(err.code), STR("store.text"), cases[i].label);
    }
    CHECK_EQ(sources(store), 0, "nothing kept");
    contract_end();
}
