/* What is PostgreSQL's own about records: rows that are looked at again, and a server that goes
 * away while a batch is on its way to it. */
#include <stdio.h>

#include "contract.h"
#include "postgres.h"
#include "rows.h"

enum { MANY = 400, ROUNDS = 5 };

static const struct record_context CONTEXT = { .source = STR_INIT("crossref"),
                                               .endpoint = STR_INIT("works"),
                                               .expr_hash = STR_INIT(HASH_A),
                                               .now_us = NOW_US };

static struct record_write write_of(int number)
{
    return (struct record_write){ .version = 1,
                                  .provider_id = arena_printf(contract_arena(), "%04d", number),
                                  .content_hash = STR(HASH_B),
                                  .payload = STR("{}") };
}

static void add_many(struct store *store, int64_t ids[MANY])
{
    struct record_write writes[MANY];
    struct record_state states[MANY];
    struct str provider_ids[MANY];
    struct error err = { 0 };
    bool written;

    for (int i = 0; i < MANY; i++) {
        writes[i] = write_of(i);
        provider_ids[i] = writes[i].provider_id;
    }
    REQUIRE_OK(store_begin(store, &err), err);
    REQUIRE_OK(rows_write(store, &CONTEXT, writes, MANY, &written, &err), err);
    REQUIRE_OK(store_record_check(store, contract_arena(), &CONTEXT,
                                  (struct record_ids){ provider_ids, MANY }, states, &err),
               err);
    REQUIRE_OK(store_commit(store, &err), err);
    for (int i = 0; i < MANY; i++)
        ids[i] = states[i].id;
}

/* The server counts updates that needed no index (HOT); a session hands in its counts when it
 * ends. */
static const char NEARLY_ALL_WITHOUT_INDEX[] =
    "DO $$ BEGIN"
    "  WHILE EXISTS (SELECT FROM pg_stat_activity WHERE datname = current_database()"
    "                   AND backend_type = 'client backend' AND pid <> pg_backend_pid()) LOOP"
    "    PERFORM pg_sleep(0.01), pg_stat_clear_snapshot();"
    "  END LOOP;"
    "  ASSERT (SELECT n_tup_upd >= 2000 AND n_tup_hot_upd > n_tup_upd * 0.9"
    "            FROM pg_stat_user_tables WHERE relname = 'ing_record_state');"
    "END $$";

TEST(looking_at_records_again_writes_no_index)
{
    const char *dsn = contract_migrated(contract_new_database());
    struct store *store = contract_open(dsn);
    struct record_context context = CONTEXT;
    struct error err = { 0 };
    int64_t ids[MANY];

    add_many(store, ids);
    for (int round = 0; round < ROUNDS; round++) {
        context.now_us += US_PER_HOUR;
        REQUIRE_OK(store_begin(store, &err), err);
        REQUIRE_OK(store_record_touch(store, &context, ids, MANY, &err), err);
        REQUIRE_OK(store_commit(store, &err), err);
    }
    store_close(store);
    contract_sql(dsn, NEARLY_ALL_WITHOUT_INDEX);
    contract_end();
}

TEST(a_server_that_stops_between_two_writes_is_lost_and_comes_back)
{
    struct store *store = contract_store();
    struct record_write writes[MANY];
    struct error err = { 0 };
    bool written;

    for (int i = 0; i < MANY; i++)
        writes[i] = write_of(i);
    REQUIRE_OK(store_begin(store, &err), err);
    REQUIRE_OK(rows_write(store, &CONTEXT, writes, MANY / 2, &written, &err), err);
    REQUIRE_OK(postgres_stop(&err), err);
    CHECK(!rows_write(store, &CONTEXT, writes + MANY / 2, MANY / 2, &written, &err), "lost");
    CHECK_STR(str_of(err.code), STR("store.lost"), err.text);
    CHECK_EQ(err.level, ERROR_TRANSIENT, err.text);
    store_rollback(store);
    REQUIRE_OK(postgres_start(&err), err);
    REQUIRE_OK(store_reconnect(store, &err), err);
    REQUIRE_OK(store_begin(store, &err), err);
    REQUIRE_OK(rows_write(store, &CONTEXT, writes, MANY, &written, &err), err);
    CHECK(written, "nothing was left of it");
    REQUIRE_OK(store_commit(store, &err), err);
    contract_end();
}
