/* What is read ahead leaves the server, however large it is: somebody receives it. */
#include "contract.h"
#include "offset_rig.h"
#include "stream_rig.h"

enum { EVENTS = 2048, READ_BYTES = 16 << 20 };

/* 2,048 events of 2,000 bytes, 32 in each lane: twenty times what a socket holds. */
static const char FILL[] =
    "INSERT INTO ing_outbox (version, occurred_at, event_id, lane, schema_version, event_type,"
    " aggregate_type, aggregate_id, body)"
    " SELECT 1, now(), gen_random_uuid(), i % 64, 1, 'Large', 'thing', i::text,"
    " convert_to(repeat(md5(i::text), 63), 'UTF8') FROM generate_series(1, 2048) AS i";

/* Fails when a statement of another session is under way for ten seconds: its result is not read.
 */
static const char WAIT_UNTIL_SENT[] =
    "DO $$ BEGIN"
    "  FOR i IN 1..1000 LOOP"
    "    IF NOT EXISTS (SELECT FROM pg_stat_activity WHERE datname = current_database()"
    "                   AND pid <> pg_backend_pid() AND state = 'active'"
    "                   AND backend_type = 'client backend')"
    "    THEN RETURN; END IF;"
    "    PERFORM pg_sleep(0.01), pg_stat_clear_snapshot();"
    "  END LOOP;"
    "  RAISE EXCEPTION 'the server waits for its client';"
    "END $$";

struct site {
    const char *dsn;
    struct store *store;
    struct stream_place places[OUTBOX_LANES];
    struct stream_read read;
};

static void begin(struct site *site)
{
    site->dsn = contract_migrated(contract_new_database());
    contract_sql(site->dsn, FILL);
    site->store = contract_open(site->dsn);
    stream_rig_publish(site->store, NOW_US);
    for (int i = 0; i < OUTBOX_LANES; i++)
        site->places[i] = (struct stream_place){ i, 0 };
    site->read = (struct stream_read){ site->places, OUTBOX_LANES, 100, READ_BYTES };
}

static void read_ahead(struct site *site)
{
    struct error err = { 0 };

    REQUIRE_OK(store_stream_read_ahead(site->store, &site->read, &err), err);
}

static void check_whole(struct site *site, const char *label)
{
    const struct stream_event_list list = offset_rig_read(site->store, &site->read);
    int64_t next[OUTBOX_LANES] = { 0 };

    CHECK_EQ(list.count, EVENTS, label);
    for (size_t i = 0; i < list.count; i++) {
        CHECK_EQ(list.items[i].pos, ++next[list.items[i].lane], label);
        CHECK_EQ(list.items[i].stored.event.body.len, 2016, label);
    }
}

static void end(struct site *site)
{
    store_close(site->store);
    contract_end();
}

TEST(a_large_result_is_received_while_nobody_asks_for_it)
{
    struct site site;

    begin(&site);
    read_ahead(&site);
    contract_sql(site.dsn, WAIT_UNTIL_SENT);
    check_whole(&site, "received meanwhile");
    end(&site);
}

TEST(a_large_result_is_whole_whenever_it_is_asked_for)
{
    struct site site;

    begin(&site);
    for (int i = 0; i < 20; i++) {
        read_ahead(&site);
        check_whole(&site, "asked for at once");
    }
    end(&site);
}

TEST(a_session_can_end_or_begin_again_while_it_receives)
{
    struct error err = { 0 };
    struct site site;

    begin(&site);
    read_ahead(&site);
    REQUIRE_OK(store_reconnect(site.store, &err), err);
    check_whole(&site, "after a reconnect");
    read_ahead(&site);
    end(&site);
}

TEST(a_connection_that_breaks_while_it_receives_is_an_error_of_the_next_call)
{
    struct stream_event_list list;
    struct error err = { 0 };
    struct site site;

    begin(&site);
    read_ahead(&site);
    contract_sql(site.dsn, "SELECT pg_terminate_backend(pid, 10000) FROM pg_stat_activity"
                           " WHERE datname = current_database() AND pid <> pg_backend_pid()"
                           " AND backend_type = 'client backend'");
    CHECK(!store_stream_ends(site.store, (int64_t[OUTBOX_LANES]){ 0 }, &err), "lost");
    CHECK_STR(str_of(err.code), STR("store.lost"), "and said so");
    REQUIRE_OK(store_reconnect(site.store, &err), err);
    REQUIRE_OK(store_stream_read(site.store, contract_arena(), &site.read, &list, &err), err);
    CHECK_EQ(list.count, EVENTS, "read again");
    end(&site);
}
