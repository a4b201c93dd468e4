/* Parents whose children were fetched. */
#include "contract.h"
#include "port/store_child.h"
#include "rows.h"

#define EXPR_A STR("a000000000000000000000000000000000000000000000000000000000000000")
#define EXPR_B STR("b000000000000000000000000000000000000000000000000000000000000000")

static const struct str parents[] = { STR_INIT("10.1/b"), STR_INIT("10.1/a"), STR_INIT("none") };

static struct record_context context_of(struct str endpoint, struct str hash, int64_t observed_us)
{
    return (struct record_context){ .source = STR("crossref"),
                                    .endpoint = endpoint,
                                    .expr_hash = hash,
                                    .observed_us = observed_us,
                                    .now_us = NOW_US };
}

static void mark(struct store *store, struct record_context context, size_t count)
{
    struct error err = { 0 };

    REQUIRE_OK(store_begin(store, &err), err);
    REQUIRE_OK(store_child_mark(store, &context, (struct record_ids){ parents, count }, &err), err);
    REQUIRE_OK(store_commit(store, &err), err);
}

static void list(struct store *store, struct str endpoint, struct child_fetch *fetches)
{
    const struct record_context context = context_of(endpoint, STR(""), 0);
    struct error err = { 0 };

    REQUIRE_OK(store_child_list(store, contract_arena(), &context,
                                (struct record_ids){ parents, ARRAY_LEN(parents) }, fetches, &err),
               err);
}

TEST(parents_are_marked_by_endpoint_and_source)
{
    struct store *store = contract_store();
    struct child_fetch fetches[ARRAY_LEN(parents)];

    list(store, STR("agency"), fetches);
    CHECK(!fetches[0].is_found && !fetches[1].is_found && !fetches[2].is_found, "never fetched");
    mark(store, context_of(STR("agency"), EXPR_A, NOW_US - 5), 2);
    list(store, STR("agency"), fetches);
    CHECK(fetches[0].is_found && fetches[1].is_found, "these are");
    CHECK(!fetches[2].is_found, "this one is not");
    CHECK_EQ(fetches[0].fetched_us, NOW_US - 5, "when the request was sent");
    CHECK_STR(fetches[1].expr_hash, EXPR_A, "by which expression");
    list(store, STR("citations"), fetches);
    CHECK(!fetches[0].is_found, "not for another endpoint");
    contract_end();
}

TEST(an_earlier_fetch_does_not_replace_a_later_one)
{
    struct store *store = contract_store();
    struct child_fetch fetches[ARRAY_LEN(parents)];

    mark(store, context_of(STR("agency"), EXPR_A, NOW_US), 2);
    mark(store, context_of(STR("agency"), EXPR_B, NOW_US - 1), 2);
    list(store, STR("agency"), fetches);
    CHECK_EQ(fetches[0].fetched_us, NOW_US, "the later one");
    CHECK_STR(fetches[0].expr_hash, EXPR_A, "the later one");
    mark(store, context_of(STR("agency"), EXPR_B, NOW_US + 1), 1);
    list(store, STR("agency"), fetches);
    CHECK_EQ(fetches[0].fetched_us, NOW_US + 1, "fetched again");
    CHECK_STR(fetches[0].expr_hash, EXPR_B, "by another expression");
    CHECK_EQ(fetches[1].fetched_us, NOW_US, "the other as before");
    contract_end();
}

TEST(fetches_are_forgotten_with_their_endpoint)
{
    struct store *store = contract_store();
    struct child_fetch fetches[ARRAY_LEN(parents)];
    struct error err = { 0 };

    mark(store, context_of(STR("agency"), EXPR_A, NOW_US), 3);
    mark(store, context_of(STR("citations"), EXPR_A, NOW_US), 3);
    REQUIRE_OK(store_child_forget(store, STR("crossref"), STR("agency"), &err), err);
    list(store, STR("agency"), fetches);
    CHECK(!fetches[0].is_found && !fetches[2].is_found, "forgotten");
    list(store, STR("citations"), fetches);
    CHECK(fetches[0].is_found && fetches[2].is_found, "those of the other endpoint stay");
    contract_end();
}

TEST(a_mark_is_a_part_of_its_transaction)
{
    struct store *store = contract_store();
    const struct record_context context = context_of(STR("agency"), EXPR_A, NOW_US);
    struct child_fetch fetches[ARRAY_LEN(parents)];
    struct error err = { 0 };

    REQUIRE_OK(store_begin(store, &err), err);
    REQUIRE_OK(store_child_mark(store, &context, (struct record_ids){ parents, 3 }, &err), err);
    store_rollback(store);
    list(store, STR("agency"), fetches);
    CHECK(!fetches[0].is_found, "rolled back");
    contract_end();
}
