/* The memory store fails on demand, at every call and by name, and changes nothing then. */
#include <string.h>

#include "adapter/memory/store.h"
#include "contract.h"
#include "port/store_dict.h"
#include "port/store_registry.h"

/* A transaction of several calls; false as soon as one of them fails. */
static bool work(struct store *store, struct error *err)
{
    struct registry_value values[64] = { { .is_set = true, .text = STR_INIT("text") } };
    struct registry_row row = { .table = REGISTRY_PROVENANCE, .values = values };
    struct registry_source source;
    int64_t id;

    if (!store_begin(store, err))
        return false;
    if (!store_registry_lock(store, STR("b"), err) ||
        !store_registry_insert(store, STR("b"), &row, NOW_US + 1, 1, &id, err) ||
        !store_registry_load(store, contract_arena(), STR("a"), NOW_US, &source, err) ||
        !store_registry_close(store, REGISTRY_PROVENANCE, source.rows[0].id, NOW_US + 2, err) ||
        !store_registry_insert(store, STR("a"), &row, NOW_US + 2, 2, &id, err) ||
        !store_commit(store, err)) {
        store_rollback(store);
        return false;
    }
    return true;
}

static struct store *store_with_a(void)
{
    struct store *store = contract_store();
    struct registry_value values[64] = { { .is_set = false } };
    const struct registry_row row = { .table = REGISTRY_PROVENANCE, .values = values };
    struct error err = { 0 };
    int64_t id;

    REQUIRE_OK(store_registry_insert(store, STR("a"), &row, NOW_US, 1, &id, &err), err);
    return store;
}

TEST(a_failure_at_any_call_leaves_the_store_unchanged)
{
    struct store *store = store_with_a();
    const uint64_t before = memory_store_hash(store);
    struct error err = { 0 };
    int64_t calls = memory_store_calls(store);
    int64_t i;

    for (i = 1; i <= 100; i++) {
        memory_store_fail(store, &(struct memory_fault){ .call = i });
        if (work(store, &err))
            break;
        CHECK_EQ(err.level, ERROR_TRANSIENT, "the level asked for");
        CHECK_STR(str_of(err.code), STR("store.lost"), "the code by default");
        CHECK_EQ(memory_store_hash(store) == before, 1, "unchanged");
    }
    CHECK_EQ(i, 8, "begin, lock, insert, load, close, insert, commit have failed");
    CHECK_EQ(memory_store_calls(store) - calls, 1 + 2 + 3 + 4 + 5 + 6 + 7 + 7, "calls");
    CHECK_EQ(memory_store_hash(store) != before, 1, "and then it went through");
    contract_end();
}

TEST(rollback_restores_exactly)
{
    struct store *store = store_with_a();
    struct registry_value values[64] = { { .is_set = false } };
    const struct registry_row row = { .table = REGISTRY_HTTP, .values = values };
    const uint64_t before = memory_store_hash(store);
    struct error err = { 0 };
    int64_t first = 0, second = 0;

    for (int i = 0; i < 2; i++) {
        REQUIRE_OK(store_begin(store, &err), err);
        REQUIRE_OK(store_registry_insert(store, STR("a"), &row, NOW_US, 1,
                                         i == 0 ? &first : &second, &err),
                   err);
        store_rollback(store);
        CHECK_EQ(memory_store_hash(store) == before, 1, "as before");
    }
    CHECK_EQ(second, first, "the next id as well");
    contract_end();
}

TEST(a_commit_may_be_done_and_its_answer_lost)
{
    struct store *store = store_with_a();
    struct registry_source source;
    struct error err = { 0 };

    memory_store_fail(store, &(struct memory_fault){ .name = "commit", .is_done = true });
    CHECK(!work(store, &err), "no answer");
    CHECK_EQ(err.level, ERROR_TRANSIENT, "no answer");
    CHECK_STR(str_of(err.code), STR("store.commit_unknown"), "no answer");
    REQUIRE_OK(store_registry_load(store, contract_arena(), STR("b"), NOW_US + 5, &source, &err),
               err);
    CHECK_EQ(source.count, 1, "but done");
    contract_end();
}

TEST(a_fault_has_a_name_a_number_and_a_level)
{
    struct store *store = store_with_a();
    struct dict_item_list list;
    struct dict_item item;
    struct error err = { 0 };
    bool found;

    memory_store_fail(
        store, &(struct memory_fault){
                   .name = "dict_find", .call = 2, .level = ERROR_FATAL, .code = "store.corrupt" });
    for (int i = 1; i <= 3; i++) {
        CHECK(store_dict_list(store, contract_arena(), STR("ing_operation"), &list, &err),
              "other calls go on");
        CHECK_EQ(store_dict_find(store, contract_arena(), STR("ing_operation"), STR("HARVEST"),
                                 &item, &found, &err),
                 i != 2, "the second of its name, and that one alone");
    }
    CHECK_EQ(err.level, ERROR_FATAL, "its level");
    CHECK_STR(str_of(err.code), STR("store.corrupt"), "its code");
    contract_end();
}

TEST(a_thread_does_not_wait_for_itself)
{
    struct store *store = store_with_a();
    struct store *other = contract_another(store);
    struct dict_item_list list;
    struct error err = { 0 };

    REQUIRE_OK(store_begin(store, &err), err);
    CHECK(!store_begin(other, &err), "the turn is taken");
    CHECK_STR(str_of(err.code), STR("store.busy"), "busy");
    CHECK(!store_dict_list(other, contract_arena(), STR(""), &list, &err), "for readers too");
    CHECK_EQ(err.level, ERROR_TRANSIENT, "busy");
    store_rollback(store);
    CHECK(store_begin(other, &err), "free again");
    store_rollback(other);
    contract_end();
}

TEST(an_empty_database_has_no_tables)
{
    struct store *store = contract_open("memory:");
    struct dict_item_list list;
    struct error err = { 0 };

    CHECK(!store_dict_list(store, contract_arena(), STR(""), &list, &err), "not migrated");
    CHECK_EQ(err.level, ERROR_FATAL, "not migrated");
    CHECK_STR(str_of(err.code), STR("store.schema"), "not migrated");
    CHECK(!store_schema_check(store, &err), "not ready");
    store_close(store);
    contract_end();
}
