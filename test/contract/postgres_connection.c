/* What only a connection can do: be refused, be lost, come back. */
#include <stdio.h>
#include <string.h>

#include "contract.h"
#include "port/store_pause.h"
#include "postgres.h"

static bool any_call(struct store *store, struct error *err)
{
    struct pause_list list;

    return store_pause_list(store, contract_arena(), STR(""), &list, err);
}

TEST(a_lost_connection_is_transient_and_can_be_made_again)
{
    struct store *store = contract_store();
    struct error err = { 0 };

    REQUIRE_OK(any_call(store, &err), err);
    REQUIRE_OK(store_begin(store, &err), err);
    REQUIRE_OK(postgres_stop(&err), err);
    for (int i = 0; i < 2; i++) {
        CHECK(!any_call(store, &err), "the server is gone");
        CHECK_EQ(err.level, ERROR_TRANSIENT, err.text);
        CHECK_STR(str_of(err.code), STR("store.lost"), err.text);
    }
    store_rollback(store);
    CHECK(!store_reconnect(store, &err), "still gone");
    CHECK_EQ(err.level, ERROR_TRANSIENT, err.text);
    CHECK_STR(str_of(err.code), STR("store.lost"), err.text);
    REQUIRE_OK(postgres_start(&err), err);
    REQUIRE_OK(store_reconnect(store, &err), err);
    REQUIRE_OK(any_call(store, &err), err);
    contract_end();
}

TEST(a_commit_without_an_answer_is_told_apart)
{
    struct store *store = contract_store();
    struct error err = { 0 };

    REQUIRE_OK(store_begin(store, &err), err);
    REQUIRE_OK(postgres_stop(&err), err);
    CHECK(!store_commit(store, &err), "no answer");
    CHECK_EQ(err.level, ERROR_TRANSIENT, err.text);
    CHECK_STR(str_of(err.code), STR("store.commit_unknown"), err.text);
    REQUIRE_OK(postgres_start(&err), err);
    contract_end();
}

TEST(a_database_or_user_that_is_not_there_is_no_transient_fault)
{
    static const struct {
        const char *from;
        const char *to;
        enum error_level level;
        const char *code;
    } cases[] = {
        { "postgresql:///t", "postgresql:///no_such_", ERROR_REQUEST, "store.missing" },
        { "user=patra", "user=nobody_here", ERROR_FATAL, "store.auth" },
        { "host=/tmp/", "host=/tmp/nowhere/", ERROR_TRANSIENT, "store.lost" },
    };
    const char *dsn = contract_new_database();

    for (size_t i = 0; i < ARRAY_LEN(cases); i++) {
        const char *at = strstr(dsn, cases[i].from);
        struct store *store = NULL;
        struct error err = { 0 };
        char other[512];

        if (at == NULL)
            TEST_SKIP("the server's address was given from outside");
        (void)snprintf(other, sizeof(other), "%.*s%s%s", (int)(at - dsn), dsn, cases[i].to,
                       at + strlen(cases[i].from));
        CHECK(!store_open(str_of(other), NULL, &store, &err), other);
        CHECK_EQ(err.level, cases[i].level, err.text);
        CHECK_STR(str_of(err.code), str_of(cases[i].code), err.text);
    }
    contract_end();
}

TEST(a_lock_keeps_others_waiting_until_the_transaction_ends)
{
    struct store *store = NULL, *other = NULL;
    const struct store_options options = { .busy_timeout_us = 50000 };
    struct error err = { 0 };
    const char *dsn = contract_new_database();

    REQUIRE_OK(store_open(str_of(dsn), &options, &other, &err), err);
    REQUIRE_OK(store_open(str_of(dsn), &options, &store, &err), err);
    REQUIRE_OK(store_begin(store, &err), err);
    REQUIRE_OK(store_lock(store, STR("a"), &err), err);
    REQUIRE_OK(store_begin(other, &err), err);
    REQUIRE_OK(store_lock(other, STR("b"), &err), err);
    CHECK(!store_lock(other, STR("a"), &err), "held");
    CHECK_EQ(err.level, ERROR_TRANSIENT, err.text);
    CHECK_STR(str_of(err.code), STR("store.busy"), err.text);
    store_rollback(other);
    REQUIRE_OK(store_commit(store, &err), err);
    REQUIRE_OK(store_begin(other, &err), err);
    CHECK(store_lock(other, STR("a"), &err), "free again");
    store_rollback(other);
    store_close(other);
    store_close(store);
    contract_end();
}
