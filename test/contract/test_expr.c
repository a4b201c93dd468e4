/* Expressions: what a hash stands for; records read again by compare-and-set. */
#include <string.h>

#include "contract.h"
#include "port/store_expr.h"
#include "rows.h"

#define HASH_C "cccccccccccccccccccccccccccccccccccccccccccccccccccccccccccccccc"
#define HASH_D "dddddddddddddddddddddddddddddddddddddddddddddddddddddddddddddddd"

static void add_expr_of(struct store *store, const char *hash, const char *query,
                        const char *mapping)
{
    const struct expr expr = { .expr_hash = str_of(hash),
                               .source = STR("crossref"),
                               .endpoint = STR("works"),
                               .query_hash = str_of(query),
                               .mapping_hash = str_of(mapping),
                               .snapshot = STR("{\"a\":1}"),
                               .created_us = NOW_US };
    struct error err = { 0 };

    REQUIRE_OK(store_expr_add(store, &expr, &err), err);
}

static void add_expr(struct store *store, const char *hash, const char *mapping)
{
    add_expr_of(store, hash, HASH_D, mapping);
}

static struct record_context context_of(const char *hash)
{
    return (struct record_context){ .source = STR("crossref"),
                                    .endpoint = STR("works"),
                                    .expr_hash = str_of(hash),
                                    .lineage = { 1, 2, 3, 4, 5, 6 },
                                    .observed_us = NOW_US,
                                    .now_us = NOW_US };
}

static void put(struct store *store, const char *id, bool is_deleted)
{
    const struct record_context context = context_of(HASH_A);
    const struct record_write record = { .version = 1,
                                         .provider_id = str_of(id),
                                         .has_updated = true,
                                         .updated_us = NOW_US - 5,
                                         .is_deleted = is_deleted,
                                         .observed_us = NOW_US,
                                         .content_hash = STR(HASH_B),
                                         .payload = STR("a payload") };
    struct error err = { 0 };
    bool written;

    REQUIRE_OK(store_begin(store, &err), err);
    REQUIRE_OK(rows_write(store, &context, &record, 1, &written, &err), err);
    REQUIRE_OK(store_commit(store, &err), err);
}

static struct stored_record_list records_of(struct store *store, const char *hash, int64_t after)
{
    const struct expr_page page = { STR("crossref"), STR("works"), str_of(hash), after, 2 };
    struct stored_record_list list;
    struct error err = { 0 };

    REQUIRE_OK(store_expr_records(store, contract_arena(), &page, &list, &err), err);
    return list;
}

TEST(an_expression_is_kept_as_it_was_first_added)
{
    struct store *store = contract_store();
    struct expr expr;
    struct error err = { 0 };
    bool found;

    REQUIRE_OK(store_expr_get(store, contract_arena(), STR(HASH_A), &expr, &found, &err), err);
    CHECK(!found, "not yet");
    add_expr(store, HASH_A, HASH_B);
    add_expr(store, HASH_A, HASH_C);
    REQUIRE_OK(store_expr_get(store, contract_arena(), STR(HASH_A), &expr, &found, &err), err);
    REQUIRE(found, "here");
    CHECK_STR(expr.mapping_hash, STR(HASH_B), "the first");
    CHECK_STR(expr.query_hash, STR(HASH_D), "query");
    CHECK_STR(expr.endpoint, STR("works"), "endpoint");
    CHECK_STR(expr.snapshot, STR("{\"a\":1}"), "byte by byte");
    CHECK_EQ(expr.created_us, NOW_US, "since");
    contract_end();
}

TEST(records_of_an_expression_come_by_id_without_tombstones)
{
    struct store *store = contract_store();
    struct stored_record_list list;

    put(store, "one", false);
    put(store, "two", true);
    put(store, "three", false);
    put(store, "four", false);
    list = records_of(store, HASH_A, 0);
    REQUIRE(list.count == 2, "a page");
    CHECK_STR(list.items[0].provider_id, STR("one"), "the first");
    CHECK_STR(list.items[1].provider_id, STR("three"), "not the tombstone");
    CHECK_STR(list.items[1].payload, STR("a payload"), "with its bytes");
    CHECK_EQ(list.items[1].lineage.batch_id, 6, "and its lineage");
    list = records_of(store, HASH_A, list.items[1].id);
    REQUIRE(list.count == 1, "the rest");
    CHECK_STR(list.items[0].provider_id, STR("four"), "the last");
    CHECK_EQ(records_of(store, HASH_B, 0).count, 0, "of another expression");
    contract_end();
}

static struct record_reading reading_of(const struct stored_record *record, bool changes)
{
    const struct record_context context = context_of(HASH_C);
    struct record_reading reading = { .was = record->version };

    reading.change.record = (struct record_write){ .id = record->id,
                                                   .version = record->version + changes,
                                                   .provider_id = record->provider_id,
                                                   .has_updated = true,
                                                   .updated_us = NOW_US - (changes ? 3 : 5),
                                                   .content_hash = record->content_hash };
    reading.change.event = rows_event(&context, &reading.change.record);
    return reading;
}

static bool write_all(struct store *store, const struct record_reading *readings, size_t count)
{
    const struct expr_write write = { STR(HASH_A), STR(HASH_C), readings, count };
    struct error err = { 0 };
    bool written;

    REQUIRE_OK(store_begin(store, &err), err);
    REQUIRE_OK(store_expr_write(store, &write, &written, &err), err);
    if (written)
        REQUIRE_OK(store_commit(store, &err), err);
    else
        store_rollback(store);
    return written;
}

static struct stored_record get(struct store *store, const char *id)
{
    struct stored_record record = { 0 };
    struct error err = { 0 };
    bool found;

    REQUIRE_OK(store_record_get(store, contract_arena(),
                                &(struct record_key){ STR("crossref"), STR("works"), str_of(id) },
                                &record, &found, &err),
               err);
    REQUIRE(found, id);
    return record;
}

TEST(a_record_that_is_read_again_keeps_what_was_received)
{
    struct store *store = contract_store();
    struct stored_record_list list;
    struct record_reading readings[2];
    struct stored_event_list events;
    struct stored_record one;
    struct error err = { 0 };

    put(store, "one", false);
    put(store, "two", false);
    list = records_of(store, HASH_A, 0);
    readings[0] = reading_of(&list.items[0], true);
    readings[1] = reading_of(&list.items[1], false);
    CHECK(write_all(store, readings, 2), "written");
    one = get(store, "one");
    CHECK_EQ(one.version, 2, "a new version");
    CHECK_EQ(one.updated_us, NOW_US - 3, "another date");
    CHECK_STR(one.expr_hash, STR(HASH_C), "the new expression");
    CHECK_STR(one.payload, STR("a payload"), "the same payload");
    CHECK_EQ(one.lineage.batch_id, 6, "the same lineage");
    CHECK_EQ(one.checked_us, NOW_US, "not checked by this");
    CHECK_EQ(get(store, "two").version, 1, "nothing visible: the same version");
    CHECK_STR(get(store, "two").expr_hash, STR(HASH_C), "and the new expression");
    REQUIRE_OK(store_outbox_of(store, contract_arena(),
                               &(struct outbox_query){ get(store, "one").id, 1, 10 }, &events,
                               &err),
               err);
    CHECK_EQ(events.count, 1, "an event");
    REQUIRE_OK(store_outbox_of(store, contract_arena(),
                               &(struct outbox_query){ get(store, "two").id, 1, 10 }, &events,
                               &err),
               err);
    CHECK_EQ(events.count, 0, "none");
    CHECK(!write_all(store, readings, 2), "not twice: they have another expression");
    contract_end();
}

TEST(a_record_that_was_written_since_is_not_overwritten)
{
    struct store *store = contract_store();
    struct record_reading reading;

    put(store, "one", false);
    reading = reading_of(&records_of(store, HASH_A, 0).items[0], true);
    reading.was = 7;
    CHECK(!write_all(store, &reading, 1), "another version");
    CHECK_EQ(get(store, "one").version, 1, "as it was");
    contract_end();
}

/* ---- records that are seen again unchanged ---- */

static void confirm(struct store *store, const char *id, const char *hash)
{
    const struct record_context context = context_of(hash);
    const struct stored_record stored = get(store, id);
    const struct record_version version = { stored.id, stored.version };
    struct error err = { 0 };
    bool confirmed;

    REQUIRE_OK(store_begin(store, &err), err);
    REQUIRE_OK(store_record_confirm(store, &context, &version, 1, &confirmed, &err), err);
    CHECK(confirmed, "confirmed");
    REQUIRE_OK(store_commit(store, &err), err);
}

TEST(a_record_that_is_confirmed_keeps_the_expression_of_another_mapping)
{
    struct store *store = contract_store();

    add_expr(store, HASH_A, HASH_A);
    add_expr(store, HASH_B, HASH_A);
    add_expr(store, HASH_C, HASH_C);
    put(store, "one", false);
    confirm(store, "one", HASH_C);
    CHECK_STR(get(store, "one").expr_hash, STR(HASH_A), "its fields were read by the old mapping");
    confirm(store, "one", HASH_B);
    CHECK_STR(get(store, "one").expr_hash, STR(HASH_B), "another query, the same mapping");
    contract_end();
}

TEST(a_record_that_is_confirmed_by_another_query_gets_its_expression_where_it_is_known)
{
    struct store *store = contract_store();

    add_expr(store, HASH_A, HASH_A);
    add_expr_of(store, HASH_C, HASH_C, HASH_C);
    add_expr_of(store, HASH_B, HASH_C, HASH_A); /* the query of C, the mapping of A */
    put(store, "one", false);
    confirm(store, "one", HASH_C);
    CHECK_STR(get(store, "one").expr_hash, STR(HASH_B), "fetched by C, its fields as A read them");
    contract_end();
}
