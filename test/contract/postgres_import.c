/* A foreign outbox in the store's own database: imported and marked in one transaction. */
#include "import_rig.h"
#include "sql.h"

static bool fail(struct foreign_outbox *foreign, struct foreign_ids ids, struct error *err)
{
    (void)foreign;
    (void)ids;
    return error_set(err, ERROR_TRANSIENT, "foreign.lost", "on demand");
}

TEST(in_the_own_database_both_are_one_transaction)
{
    const struct foreign_ops *ops;
    struct import_round round;
    struct foreign_ops failing;
    struct error err = { 0 };
    struct import_rig rig;
    PGconn *own;

    import_rig_begin(&rig, "outbox: app\ndatabase: store\n");
    own = import_rig_connect(rig.dsn);
    PQfinish(rig.db);
    rig.db = own;
    import_rig_sql(own, "CREATE TABLE app_outbox (id uuid PRIMARY KEY, aggregate_type text,"
                        " aggregate_id text, event_type text, version bigint, schema_version int"
                        " DEFAULT 1, payload jsonb, occurred_at timestamptz DEFAULT now(),"
                        " published_at timestamptz, publish_attempts int DEFAULT 0,"
                        " next_retry_at timestamptz)");
    import_rig_sql(own, "INSERT INTO app_outbox (id, aggregate_type, aggregate_id, event_type,"
                        " version, payload) SELECT gen_random_uuid(), 'video', 'a', 'T', n, '{}'"
                        " FROM generate_series(1, 40) AS n");
    CHECK(rig.outbox->shares_session, "one session");
    ops = rig.outbox->ops;
    failing = *ops;
    failing.mark = fail;
    rig.outbox->ops = &failing;
    CHECK(!import_round(rig.import, NOW_US, &round, &err), "cannot be marked");
    CHECK_EQ(sql_number(rig.dsn, "SELECT count(*) FROM ing_outbox"), 0, "so it is not imported");
    rig.outbox->ops = ops;
    CHECK_EQ(import_rig_drain(&rig), 40, "both");
    import_rig_check(&rig, 40);
    import_rig_end(&rig);
}
