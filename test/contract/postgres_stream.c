/* What only a server with several writers shows: commits that are late, ids that die, and that
 * nobody guesses which is which. */
#include <libpq-fe.h>
#include <stdlib.h>

#include "contract.h"
#include "stream_rig.h"
#include "stream_sql.h"

struct site {
    const char *dsn;
    struct store *early; /* draws its ids first */
    struct store *late;
    struct store *stream;
    struct sequencer *sequencer;
};

static void begin(struct site *site)
{
    struct error err = { 0 };

    site->dsn = contract_migrated(contract_new_database());
    site->early = contract_open(site->dsn);
    site->late = contract_open(site->dsn);
    site->stream = contract_open(site->dsn);
    site->sequencer = stream_rig_sequencer(site->stream, "one");
    (void)stream_rig_write(site->late, "k", 3);
    CHECK_EQ(stream_rig_round(site->sequencer, NOW_US).appended, 3, "what is there");
    REQUIRE_OK(store_begin(site->early, &err), err);
    stream_rig_change(site->early, "k", 0);
    (void)stream_rig_write(site->late, "x", 5);
}

static void end(struct site *site)
{
    for (int i = 0; i < 3; i++)
        (void)stream_rig_round(site->sequencer, NOW_US);
    stream_sql_check(site->dsn);
    sequencer_close(site->sequencer);
    store_close(site->early);
    store_close(site->late);
    store_close(site->stream);
    contract_end();
}

TEST(an_event_that_commits_after_later_ones_is_not_lost)
{
    struct sequencer_round round;
    struct error err = { 0 };
    struct site site;

    begin(&site);
    round = stream_rig_round(site.sequencer, NOW_US);
    CHECK_EQ(round.appended, 5, "those that are committed");
    CHECK_EQ(round.gaps, 1, "the open one is a gap");
    for (int i = 0; i < 5; i++)
        CHECK_EQ(stream_rig_round(site.sequencer, NOW_US).gaps, 1, "as long as it is open");
    REQUIRE_OK(store_commit(site.early, &err), err);
    round = stream_rig_round(site.sequencer, NOW_US);
    CHECK_EQ(round.appended, 1, "and then it is there");
    CHECK_EQ(round.gaps, 0, "nothing is left");
    end(&site);
}

TEST(ids_that_never_become_events_are_known_to_be_dead)
{
    struct site site;

    begin(&site);
    CHECK_EQ(stream_rig_round(site.sequencer, NOW_US).gaps, 1, "open");
    CHECK_EQ(stream_rig_round(site.sequencer, NOW_US).gaps, 1, "still");
    store_rollback(site.early);
    CHECK_EQ(stream_rig_round(site.sequencer, NOW_US).gaps, 0, "its writer has ended");
    end(&site);
}

/* Its successor knows the gap from the stream itself. */
TEST(a_sequencer_that_takes_over_finds_what_is_late)
{
    struct sequencer *other;
    struct error err = { 0 };
    struct site site;

    begin(&site);
    CHECK_EQ(stream_rig_round(site.sequencer, NOW_US).gaps, 1, "open");
    other = stream_rig_sequencer(site.stream, "two");
    CHECK_EQ(stream_rig_round(other, NOW_US + US_PER_HOUR).gaps, 1, "found again");
    REQUIRE_OK(store_commit(site.early, &err), err);
    CHECK_EQ(stream_rig_round(other, NOW_US + US_PER_HOUR).appended, 1, "taken");
    REQUIRE_OK(sequencer_release(other, &err), err);
    sequencer_close(other);
    end(&site);
}

/* Another writer is always there, but never the same: the gap must not wait for all of them. */
TEST(a_gap_waits_for_its_own_writers_only)
{
    struct store *other;
    struct error err = { 0 };
    struct site site;

    begin(&site);
    other = contract_open(site.dsn);
    CHECK_EQ(stream_rig_round(site.sequencer, NOW_US).gaps, 1, "open");
    (void)stream_rig_round(site.sequencer, NOW_US);
    REQUIRE_OK(store_begin(other, &err), err);
    stream_rig_add(other, "y", 1);
    store_rollback(site.early);
    CHECK_EQ(stream_rig_round(site.sequencer, NOW_US).gaps, 0, "dead, whoever else writes");
    REQUIRE_OK(store_commit(other, &err), err);
    store_close(other);
    end(&site);
}

/* A transaction that does not write events, however long it takes, holds nothing up. */
TEST(other_transactions_do_not_matter)
{
    struct store *other;
    struct error err = { 0 };
    struct site site;

    begin(&site);
    other = contract_open(site.dsn);
    REQUIRE_OK(store_begin(other, &err), err);
    REQUIRE_OK(store_lock(other, STR("something else"), &err), err);
    CHECK_EQ(stream_rig_round(site.sequencer, NOW_US).gaps, 1, "open");
    store_rollback(site.early);
    CHECK_EQ(stream_rig_round(site.sequencer, NOW_US).gaps, 0, "dead");
    store_rollback(other);
    store_close(other);
    end(&site);
}

/* Why one sequencer, and not many who each take the rows that nobody has locked: the one that comes
 * second skips the earlier version, which the first one holds, and is done with the later one
 * first.
 */
TEST(rows_that_skip_locks_come_out_of_order)
{
    static const char TAKE[] = "SELECT id FROM ing_outbox WHERE record_id = (SELECT min(id) FROM"
                               " ing_record) ORDER BY id LIMIT 1 FOR UPDATE SKIP LOCKED";
    const char *dsn = contract_migrated(contract_new_database());
    struct store *store = contract_open(dsn);
    PGconn *first = PQconnectdb(dsn), *second = PQconnectdb(dsn);
    struct error err = { 0 };
    PGresult *one, *two;

    (void)stream_rig_write(store, "k", 1);
    REQUIRE_OK(store_begin(store, &err), err);
    stream_rig_change(store, "k", 0);
    REQUIRE_OK(store_commit(store, &err), err);
    PQclear(PQexec(first, "BEGIN"));
    one = PQexec(first, TAKE);
    two = PQexec(second, TAKE);
    REQUIRE(PQntuples(one) == 1 && PQntuples(two) == 1, "a row each");
    CHECK(atoll(PQgetvalue(two, 0, 0)) > atoll(PQgetvalue(one, 0, 0)),
          "the second version is taken, and may be published, while the first one is not");
    PQclear(one);
    PQclear(two);
    PQfinish(first);
    PQfinish(second);
    store_close(store);
    contract_end();
}
