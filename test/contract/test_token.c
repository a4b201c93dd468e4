/* Tokens of the HTTP API, and answers that are kept. */
#include "contract.h"
#include "engine/token/token.h"
#include "port/store_token.h"
#include "rows.h"
#include "seeded_random.h"

static const char HASH[] = "0123456789abcdef0123456789abcdef0123456789abcdef0123456789abcdef";

static struct token_row token(const char *selector, const char *name)
{
    return (struct token_row){ .selector = str_of(selector),
                               .name = str_of(name),
                               .hash = str_of(HASH),
                               .scope = TOKEN_OPERATE,
                               .created_by = STR("ada"),
                               .created_us = NOW_US };
}

TEST(a_token_is_found_by_its_selector_until_it_is_revoked_and_after)
{
    struct store *store = contract_store();
    struct token_row row = token("0000000000000001", "ops"), found;
    const struct token_revocation revocation = { STR("ops"), STR("bob"), NOW_US + 5 };
    struct token_row_list list;
    struct error err = { 0 };
    bool is_so;

    row.expires_us = NOW_US + 9;
    REQUIRE_OK(store_token_add(store, &row, &is_so, &err), err);
    CHECK(is_so, "new");
    row.selector = STR("0000000000000002");
    REQUIRE_OK(store_token_add(store, &row, &is_so, &err), err);
    CHECK(!is_so, "a second one of the name");
    REQUIRE_OK(store_token_revoke(store, &revocation, &is_so, &err), err);
    CHECK(is_so, "revoked");
    REQUIRE_OK(store_token_revoke(store, &revocation, &is_so, &err), err);
    CHECK(!is_so, "once");
    REQUIRE_OK(store_token_add(store, &row, &is_so, &err), err);
    CHECK(is_so, "the name is free again");
    REQUIRE_OK(
        store_token_find(store, contract_arena(), STR("0000000000000001"), &found, &is_so, &err),
        err);
    REQUIRE(is_so, "the revoked one is still there");
    CHECK_STR(found.name, STR("ops"), "name");
    CHECK_STR(found.hash, str_of(HASH), "hash");
    CHECK_EQ(found.scope, TOKEN_OPERATE, "scope");
    CHECK_EQ(found.expires_us, NOW_US + 9, "end");
    CHECK_EQ(found.revoked_us, NOW_US + 5, "when");
    CHECK_STR(found.revoked_by, STR("bob"), "by whom");
    REQUIRE_OK(store_token_find(store, contract_arena(), STR("00"), &found, &is_so, &err), err);
    CHECK(!is_so, "no such selector");
    REQUIRE_OK(store_token_list(store, contract_arena(), &list, &err), err);
    CHECK_EQ(list.count, 2, "all are listed");
    contract_end();
}

TEST(a_token_is_checked_by_its_hash)
{
    struct store *store = contract_store();
    const struct token_request request = { STR("x"), TOKEN_READ, NOW_US + 10, STR("me"), NOW_US };
    struct seeded_random random;
    enum token_verdict verdict;
    char text[TOKEN_TEXT_MAX];
    struct token_row row;
    struct error err = { 0 };

    seeded_random_init(&random, 1);
    REQUIRE_OK(token_make(store, &random.source, &request, text, &err), err);
    REQUIRE_OK(token_check(store, contract_arena(), str_of(text), NOW_US + 9, &verdict, &row, &err),
               err);
    CHECK_EQ(verdict, TOKEN_GOOD, "itself");
    CHECK(str_find(str_of(text), row.hash) == str_of(text).len, "the hash is not the secret");
    REQUIRE_OK(
        token_check(store, contract_arena(), str_of(text), NOW_US + 10, &verdict, &row, &err), err);
    CHECK_EQ(verdict, TOKEN_EXPIRED, "at its end");
    text[40] = text[40] == '0' ? '1' : '0';
    REQUIRE_OK(token_check(store, contract_arena(), str_of(text), NOW_US, &verdict, &row, &err),
               err);
    CHECK_EQ(verdict, TOKEN_UNKNOWN, "another secret");
    REQUIRE_OK(token_check(store, contract_arena(), STR("patra_"), NOW_US, &verdict, &row, &err),
               err);
    CHECK_EQ(verdict, TOKEN_MALFORMED, "no token");
    CHECK(!token_make(store, &random.source, &request, text, &err), "the name is taken");
    CHECK_STR(str_of(err.code), STR("token.name"), "code");
    contract_end();
}

TEST(an_answer_is_begun_by_one_and_kept_for_a_day)
{
    struct store *store = contract_store();
    struct token_answer wanted = { .selector = STR("s"),
                                   .key = STR("k"),
                                   .request_hash = str_of(HASH),
                                   .created_us = NOW_US },
                        found;
    struct error err = { 0 };
    bool begun;

    REQUIRE_OK(store_token_answer_begin(store, contract_arena(), &wanted, &found, &begun, &err),
               err);
    CHECK(begun, "the first");
    wanted.created_us = NOW_US + 1;
    REQUIRE_OK(store_token_answer_begin(store, contract_arena(), &wanted, &found, &begun, &err),
               err);
    CHECK(!begun, "the second");
    CHECK_EQ(found.status, 0, "it is being made");
    wanted.created_us = NOW_US + TOKEN_ANSWER_STALE_US + 1;
    REQUIRE_OK(store_token_answer_begin(store, contract_arena(), &wanted, &found, &begun, &err),
               err);
    CHECK(begun, "whoever made it died");
    wanted.status = 200;
    wanted.body = STR("{}");
    REQUIRE_OK(store_token_answer_end(store, &wanted, &err), err);
    REQUIRE_OK(store_token_answer_begin(store, contract_arena(), &wanted, &found, &begun, &err),
               err);
    CHECK(!begun, "it is made");
    CHECK_EQ(found.status, 200, "status");
    CHECK_STR(found.body, STR("{}"), "body");
    wanted.created_us += TOKEN_ANSWER_KEPT_US + 1;
    REQUIRE_OK(store_token_answer_begin(store, contract_arena(), &wanted, &found, &begun, &err),
               err);
    CHECK(begun, "after a day it is forgotten");
    REQUIRE_OK(store_token_answer_forget(store, &wanted, &err), err);
    REQUIRE_OK(store_token_answer_begin(store, contract_arena(), &wanted, &found, &begun, &err),
               err);
    CHECK(begun, "forgotten on purpose");
    contract_end();
}
