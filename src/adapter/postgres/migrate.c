#include "adapter/sql/migrate.h"
#include "adapter/postgres/postgres.h"
#include "adapter/sql/read.h"

static const char CREATE[] = "CREATE TABLE IF NOT EXISTS schema_migration ("
                             "    number     bigint      NOT NULL PRIMARY KEY,"
                             "    name       text        NOT NULL,"
                             "    sha256     text        NOT NULL,"
                             "    applied_at timestamptz NOT NULL)";

static bool make_table(struct store *store, struct error *err)
{
    return postgres_run_text(postgres_store_of(store), CREATE, err);
}

static const char EXISTS[] = "SELECT to_regclass('schema_migration') IS NOT NULL";

static const char TAKEN[] = "SELECT " MIGRATION_COLUMNS " FROM schema_migration ORDER BY number";

static bool load_taken(struct store *store, struct arena *arena,
                       struct migration_record_list *taken, struct error *err)
{
    struct query q;
    int64_t exists = 0;

    *taken = (struct migration_record_list){ 0 };
    query_init(&q, postgres_store_of(store), EXISTS);
    if (!rows_only_i64(&q.rows, &exists, err))
        return false;
    if (exists == 0)
        return true;
    query_init(&q, postgres_store_of(store), TAKEN);
    return read_migrations(&q.rows, arena, taken, err);
}

enum { RECORD_NUMBER = 1, RECORD_NAME, RECORD_SHA256, RECORD_APPLIED_AT };
static const char RECORD[] = "INSERT INTO schema_migration (number, name, sha256, applied_at)"
                             " VALUES ($1, $2, $3, $4)";

static bool take(struct store *store, const struct migration *step, int64_t now_us,
                 struct error *err)
{
    struct query q;

    if (!postgres_run_text(postgres_store_of(store), step->sql.data, err))
        return false;
    query_init(&q, postgres_store_of(store), RECORD);
    set_i64(&q, RECORD_NUMBER, step->number);
    set_text(&q, RECORD_NAME, step->name);
    set_text(&q, RECORD_SHA256, step->sha256);
    set_time(&q, RECORD_APPLIED_AT, now_us);
    return query_run(&q, NULL, err);
}

static const struct migrator MIGRATOR = { &POSTGRES_MIGRATIONS, make_table, load_taken, take };

bool postgres_migrate(struct store *store, int64_t now_us, int64_t *taken, struct error *err)
{
    return migrate_all(&MIGRATOR, store, now_us, taken, err) || error_wrap(err, "migrate");
}

bool postgres_schema(struct store *store, struct store_schema *schema, struct error *err)
{
    return migrate_schema(&MIGRATOR, store, schema, err);
}
