/* Tables do not grow when events come and go. */
#include <stdio.h>

#include "contract.h"
#include "port/store_prune.h"
#include "sql.h"
#include "stream_rig.h"

static int64_t pages(const char *dsn)
{
    sql_run(dsn, "VACUUM ing_outbox");
    sql_run(dsn, "VACUUM ing_stream");
    return sql_number(dsn, "SELECT (pg_table_size('ing_outbox') + pg_indexes_size('ing_outbox') +"
                           " pg_table_size('ing_stream') + pg_indexes_size('ing_stream')) / 8192");
}

TEST(space_of_removed_events_is_used_again)
{
    enum { ROUNDS = 6, PIECES = 8 };
    const char *dsn = contract_migrated(contract_new_database());
    struct store *store = contract_open(dsn);
    struct sequencer *sequencer = stream_rig_sequencer(store, "one");
    struct error err = { 0 };
    int64_t first = 0, last = 0, events;

    for (int i = 0; i < ROUNDS; i++) {
        for (int k = 0; k < PIECES; k++) {
            char prefix[16];

            (void)snprintf(prefix, sizeof(prefix), "r%d-%d-", i, k);
            (void)stream_rig_write(store, prefix, 500);
        }
        while (stream_rig_round(sequencer, NOW_US).appended > 0)
            ;
        do {
            REQUIRE_OK(store_prune_run(store, contract_arena(), NOW_US + 1, &events, &err), err);
        } while (events > 0);
        last = pages(dsn);
        if (i == 1)
            first = last;
    }
    test_note("%lld pages after two rounds, %lld after six", (long long)first, (long long)last);
    CHECK(last <= first + first / 4, "as large as after the second");
    sequencer_close(sequencer);
    store_close(store);
    contract_end();
}
