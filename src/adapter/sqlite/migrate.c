#include "adapter/sql/migrate.h"
#include "adapter/sql/read.h"
#include "adapter/sqlite/sqlite.h"

static const char CREATE[] = "CREATE TABLE IF NOT EXISTS schema_migration ("
                             "    number     INTEGER NOT NULL PRIMARY KEY,"
                             "    name       TEXT    NOT NULL,"
                             "    sha256     TEXT    NOT NULL,"
                             "    applied_at INTEGER NOT NULL"
                             ") STRICT";

static bool make_table(struct store *store, struct error *err)
{
    return statement_run(statement_of(sqlite_store_of(store), CREATE), err);
}

static const char EXISTS[] = "SELECT 1 FROM sqlite_schema WHERE name = 'schema_migration'";

static const char TAKEN[] = "SELECT " MIGRATION_COLUMNS " FROM schema_migration ORDER BY number";

static bool load_taken(struct store *store, struct arena *arena,
                       struct migration_record_list *taken, struct error *err)
{
    struct statement *st = statement_of(sqlite_store_of(store), EXISTS);
    int64_t exists = 0;

    *taken = (struct migration_record_list){ 0 };
    if (!rows_only_i64(&st->rows, &exists, err))
        return false;
    if (exists == 0)
        return true;
    st = statement_of(sqlite_store_of(store), TAKEN);
    return read_migrations(&st->rows, arena, taken, err);
}

static const char RECORD[] = "INSERT INTO schema_migration (number, name, sha256, applied_at)"
                             " VALUES (:number, :name, :sha256, :applied_at)";

static bool take(struct store *store, const struct migration *step, int64_t now_us,
                 struct error *err)
{
    struct sqlite_store *sqlite = sqlite_store_of(store);
    const int code = sqlite3_exec(sqlite->db, step->sql.data, NULL, NULL, NULL);
    struct statement *st;

    if (code != SQLITE_OK)
        return sqlite_error_set(sqlite, code, err);
    st = statement_of(sqlite, RECORD);
    bind_i64(st, ":number", step->number);
    bind_text(st, ":name", step->name);
    bind_text(st, ":sha256", step->sha256);
    bind_i64(st, ":applied_at", now_us);
    return statement_run(st, err);
}

static const struct migrator MIGRATOR = { &SQLITE_MIGRATIONS, make_table, load_taken, take };

bool sqlite_migrate(struct store *store, int64_t now_us, int64_t *taken, struct error *err)
{
    return migrate_all(&MIGRATOR, store, now_us, taken, err) ||
           error_wrap(err, "migrate %s", sqlite_store_of(store)->file->path);
}

bool sqlite_schema(struct store *store, struct store_schema *schema, struct error *err)
{
    return migrate_schema(&MIGRATOR, store, schema, err);
}
