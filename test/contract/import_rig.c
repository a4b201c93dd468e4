/* A service with an outbox, and an import of it. */
#include "import_rig.h"

#include <stdio.h>

#include "adapter/foreign_open.h"
#include "port/store_subscription.h"
#include "postgres.h"
#include "spec/import.h"
#include "sql.h"

/* As in 002, section 3.1. */
static const char TABLE[] =
    "CREATE TABLE app_outbox ("
    "  id uuid PRIMARY KEY, aggregate_type text NOT NULL, aggregate_id text NOT NULL,"
    "  event_type text NOT NULL, version bigint NOT NULL, schema_version int NOT NULL DEFAULT 1,"
    "  payload bytea NOT NULL, occurred_at timestamptz NOT NULL DEFAULT now(),"
    "  published_at timestamptz, publish_attempts int NOT NULL DEFAULT 0,"
    "  next_retry_at timestamptz, lock_token text, locked_at timestamptz);"
    "CREATE INDEX ON app_outbox (published_at) WHERE published_at IS NULL;"
    "CREATE INDEX ON app_outbox (next_retry_at) WHERE published_at IS NULL";

static const char FILE_OF_002[] = "outbox: app\ndatabase: env:APP\n";

PGconn *import_rig_connect(const char *dsn)
{
    PGconn *db = PQconnectdb(dsn);

    REQUIRE(PQstatus(db) == CONNECTION_OK, PQerrorMessage(db));
    return db;
}

void import_rig_sql(PGconn *db, const char *sql)
{
    PGresult *result = PQexec(db, sql);
    const ExecStatusType status = PQresultStatus(result);

    CHECK(status == PGRES_COMMAND_OK || status == PGRES_TUPLES_OK, PQerrorMessage(db));
    PQclear(result);
}

int64_t import_rig_number(PGconn *db, const char *sql)
{
    PGresult *result = PQexec(db, sql);
    int64_t number = -1;

    CHECK(PQresultStatus(result) == PGRES_TUPLES_OK, PQerrorMessage(db));
    if (PQntuples(result) > 0)
        (void)str_to_i64(str_of(PQgetvalue(result, 0, 0)), &number);
    PQclear(result);
    return number;
}

void import_rig_add(PGconn *db, const char *key, int64_t version)
{
    char sql[512];

    (void)snprintf(sql, sizeof(sql),
                   "INSERT INTO app_outbox (id, aggregate_type, aggregate_id, event_type, version,"
                   " payload) VALUES (gen_random_uuid(), 'video', '%s', 'VideoPublished', %lld,"
                   " convert_to('{\"title\": \"%s %lld\"}', 'UTF8'))",
                   key, (long long)version, key, (long long)version);
    import_rig_sql(db, sql);
}

void import_rig_reopen(struct import_rig *rig, const char *dsn, const char *owner)
{
    struct error err = { 0 };

    import_close(rig->import);
    foreign_close(rig->outbox);
    rig->secret = (struct fixed_secret){ "env:APP", dsn };
    fixed_secrets_init(&rig->secrets, &rig->secret, 1);
    REQUIRE_OK(foreign_open(&(struct foreign_open){ .spec = &rig->spec,
                                                    .secrets = &rig->secrets.source,
                                                    .store = rig->store },
                            &rig->outbox, &err),
               err);
    REQUIRE_OK(import_open(&rig->import,
                           &(struct import_parts){ rig->store, rig->outbox, &rig->spec },
                           &(struct import_settings){ .owner = str_of(owner) }, &err),
               err);
}

void import_rig_begin(struct import_rig *rig, const char *file)
{
    struct subscription_applied applied;
    struct import_text text;
    struct fault_list faults;
    struct error err = { 0 };

    *rig = (struct import_rig){ 0 };
    rig->dsn = contract_migrated(contract_new_database());
    rig->foreign = postgres_new_database(&err);
    if (rig->foreign == NULL)
        TEST_SKIP("no PostgreSQL here");
    rig->store = contract_open(rig->dsn);
    rig->db = import_rig_connect(rig->foreign);
    import_rig_sql(rig->db, TABLE);
    fault_list_init(&faults, contract_arena());
    REQUIRE(import_read(contract_arena(), str_of(file != NULL ? file : FILE_OF_002), &faults,
                        &rig->spec),
            faults.count > 0 ? faults.items[0].message.data : "the file");
    REQUIRE_OK(import_compile(contract_arena(), &rig->spec, &text, &err), err);
    REQUIRE_OK(
        store_subscription_apply(rig->store,
                                 &(struct subscription_apply){ .name = rig->spec.name,
                                                               .kind = SUBSCRIPTION_IMPORT,
                                                               .spec = text.json,
                                                               .spec_hash = str_of(text.hash),
                                                               .policy = POLICY_WAIT,
                                                               .applied_by = STR("test"),
                                                               .now_us = NOW_US },
                                 &applied, &err),
        err);
    import_rig_reopen(rig, rig->foreign, "one");
}

void import_rig_end(struct import_rig *rig)
{
    import_close(rig->import);
    foreign_close(rig->outbox);
    PQfinish(rig->db);
    store_close(rig->store);
    contract_end();
}

struct import_round import_rig_round(struct import_rig *rig)
{
    struct import_round round;
    struct error err = { 0 };

    REQUIRE_OK(import_round(rig->import, NOW_US, &round, &err), err);
    return round;
}

int64_t import_rig_drain(struct import_rig *rig)
{
    int64_t imported = 0;

    for (int i = 0; i < 1000; i++) {
        const struct import_round round = import_rig_round(rig);

        imported += round.imported;
        if (round.imported == 0 && round.repeated == 0 && round.gaps == 0)
            break;
    }
    return imported;
}

void import_rig_check(struct import_rig *rig, int64_t rows)
{
    CHECK_EQ(import_rig_number(rig->db, "SELECT count(*) FROM app_outbox WHERE published_at IS"
                                        " NULL"),
             0, "all are marked");
    CHECK_EQ(sql_number(rig->dsn, "SELECT count(*) FROM ing_outbox WHERE record_id IS NULL"), rows,
             "each is there");
    CHECK_EQ(sql_number(rig->dsn, "SELECT count(*) FROM (SELECT DISTINCT event_id FROM ing_outbox"
                                  " WHERE record_id IS NULL) AS x"),
             rows, "once");
    CHECK_EQ(sql_number(rig->dsn, "SELECT count(*) FROM ing_outbox AS a JOIN ing_outbox AS b"
                                  " ON a.aggregate_type = b.aggregate_type"
                                  " AND a.aggregate_id = b.aggregate_id"
                                  " WHERE a.id < b.id AND a.version > b.version"),
             0, "those of a key in order");
}
