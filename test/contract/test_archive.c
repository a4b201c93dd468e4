/* Archived responses: kept once, with their dictionaries, pruned by age and size. */
#include "contract.h"
#include "port/store_archive.h"
#include "rows.h"

#define SOURCE STR("crossref")
#define ENDPOINT STR("works")
#define HASH_C "cccccccccccccccccccccccccccccccccccccccccccccccccccccccccccccccc"

static void put(struct store *store, const char *hash, struct str packed, int64_t used_us)
{
    struct error err = { 0 };

    REQUIRE_OK(store_begin(store, &err), err);
    REQUIRE_OK(store_archive_put(store,
                                 &(struct archived_body){ .hash = str_of(hash),
                                                          .source = SOURCE,
                                                          .endpoint = ENDPOINT,
                                                          .raw_bytes = 100,
                                                          .packed = packed,
                                                          .used_us = used_us },
                                 &err),
               err);
    REQUIRE_OK(store_commit(store, &err), err);
}

static bool has(struct store *store, const char *hash, struct archived_body *body)
{
    struct error err = { 0 };
    bool found;

    REQUIRE_OK(store_archive_get(store, contract_arena(), str_of(hash), body, &found, &err), err);
    return found;
}

TEST(a_body_is_kept_once_with_every_byte)
{
    static const struct str packed = { "\0\xFF(\xB5/\xFD", 6 };
    struct store *store = contract_store();
    struct archive_sum sum;
    struct archived_body body;
    struct error err = { 0 };

    CHECK(!has(store, HASH_B, &body), "not yet");
    put(store, HASH_B, packed, NOW_US);
    put(store, HASH_B, packed, NOW_US + 5);
    put(store, HASH_B, packed, NOW_US - 5);
    REQUIRE(has(store, HASH_B, &body), "there");
    CHECK(str_eq(body.packed, packed), "every byte");
    CHECK_EQ(body.dictionary_id, 0, "no dictionary");
    CHECK_EQ(body.used_us, NOW_US + 5, "when it was used last");
    REQUIRE_OK(store_archive_sum(store, SOURCE, ENDPOINT, &sum, &err), err);
    CHECK(sum.bodies == 1 && sum.raw_bytes == 100 && sum.packed_bytes == 6, "once");
    contract_end();
}

TEST(the_oldest_bodies_are_pruned_by_age_and_size)
{
    struct store *store = contract_store();
    struct archive_bound bound = { SOURCE, ENDPOINT, NOW_US - 10, 0, 100 };
    struct archived_body body;
    struct error err = { 0 };
    int64_t removed;

    put(store, HASH_A, STR("12345678"), NOW_US - 20);
    put(store, HASH_B, STR("12345678"), NOW_US - 5);
    put(store, HASH_C, STR("12345678"), NOW_US);
    REQUIRE_OK(store_archive_prune(store, &bound, &removed, &err), err);
    CHECK_EQ(removed, 1, "by age");
    CHECK(!has(store, HASH_A, &body) && has(store, HASH_B, &body), "the old one");
    bound.bytes_max = 15;
    REQUIRE_OK(store_archive_prune(store, &bound, &removed, &err), err);
    CHECK_EQ(removed, 1, "by size");
    CHECK(!has(store, HASH_B, &body) && has(store, HASH_C, &body), "the older one");
    bound.endpoint = STR("other");
    bound.before_us = NOW_US + 1000;
    REQUIRE_OK(store_archive_prune(store, &bound, &removed, &err), err);
    CHECK_EQ(removed, 0, "of this endpoint only");
    contract_end();
}

TEST(the_newest_dictionary_counts_and_older_ones_stay)
{
    static const struct dictionary_key key = { STR_INIT("crossref"), STR_INIT("works"), false };
    static const struct dictionary_key payloads = { STR_INIT("crossref"), STR_INIT("works"), true };
    struct store *store = contract_store();
    struct archive_dictionary dictionary, first, last;
    struct error err = { 0 };
    bool found;

    REQUIRE_OK(store_archive_dictionary_last(store, &key, &dictionary, &err), err);
    CHECK_EQ(dictionary.id, 0, "none");
    REQUIRE_OK(store_archive_dictionary_add(store, &key, STR("one"), NOW_US, &err), err);
    REQUIRE_OK(store_archive_dictionary_last(store, &key, &first, &err), err);
    CHECK_EQ(first.created_us, NOW_US, "since when");
    REQUIRE_OK(store_archive_dictionary_add(store, &key, STR("two"), NOW_US, &err), err);
    REQUIRE_OK(store_archive_dictionary_last(store, &payloads, &dictionary, &err), err);
    CHECK_EQ(dictionary.id, 0, "none of payloads");
    REQUIRE_OK(store_archive_dictionary_add(store, &payloads, STR("three"), NOW_US, &err), err);
    REQUIRE_OK(store_archive_dictionary_last(store, &key, &last, &err), err);
    REQUIRE_OK(
        store_archive_dictionary_get(store, contract_arena(), last.id, &dictionary, &found, &err),
        err);
    CHECK(found && str_eq(dictionary.bytes, STR("two")), "the newest of responses");
    REQUIRE_OK(
        store_archive_dictionary_get(store, contract_arena(), first.id, &dictionary, &found, &err),
        err);
    CHECK(found && str_eq(dictionary.bytes, STR("one")), "by its number");
    contract_end();
}
