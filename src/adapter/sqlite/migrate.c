#include "adapter/sql/read.h"
#include "adapter/sqlite/sqlite.h"

static const char CREATE[] = "CREATE TABLE IF NOT EXISTS schema_migration ("
                             "    number     INTEGER NOT NULL PRIMARY KEY,"
                             "    name       TEXT    NOT NULL,"
                             "    sha256     TEXT    NOT NULL,"
                             "    applied_at INTEGER NOT NULL"
                             ") STRICT";

static const char EXISTS[] = "SELECT 1 FROM sqlite_schema WHERE name = 'schema_migration'";

static const char TAKEN[] = "SELECT " MIGRATION_COLUMNS " FROM schema_migration ORDER BY number";

static bool load_taken(struct sqlite_store *sqlite, struct arena *arena,
                       struct migration_record_list *taken, struct error *err)
{
    struct statement *st = statement_of(sqlite, EXISTS);
    const bool exists = statement_row(st);

    *taken = (struct migration_record_list){ 0 };
    if (!statement_finish(st, err))
        return false;
    if (!exists)
        return true;
    st = statement_of(sqlite, TAKEN);
    return read_migrations(&st->rows, arena, taken, err);
}

static const char RECORD[] = "INSERT INTO schema_migration (number, name, sha256, applied_at)"
                             " VALUES (:number, :name, :sha256, :applied_at)";

static bool take(struct sqlite_store *sqlite, const struct migration *step, int64_t now_us,
                 struct error *err)
{
    struct statement *st;
    int code;

    code = sqlite3_exec(sqlite->db, step->sql.data, NULL, NULL, NULL);
    if (code != SQLITE_OK) {
        (void)sqlite_error_set(sqlite, code, err);
        return error_wrap(err, "migration %04d_%.*s", (int)step->number, STR_ARG(step->name));
    }
    st = statement_of(sqlite, RECORD);
    bind_i64(st, ":number", step->number);
    bind_text(st, ":name", step->name);
    bind_text(st, ":sha256", step->sha256);
    bind_i64(st, ":applied_at", now_us);
    return statement_run(st, err);
}

/* One step under the writer's lock: what was taken is read again each time, since another process
 * may have taken the step meanwhile. */
static bool take_next(struct sqlite_store *sqlite, struct arena *arena, int64_t now_us, bool *more,
                      struct error *err)
{
    struct store *store = &sqlite->store;
    struct migration_record_list taken;
    const struct migration *step;

    if (!store_begin(store, err))
        return false;
    if (!statement_run(statement_of(sqlite, CREATE), err) ||
        !load_taken(sqlite, arena, &taken, err) ||
        !migration_check(&SQLITE_MIGRATIONS, &taken, err))
        goto rollback;
    step = migration_next(&SQLITE_MIGRATIONS, &taken);
    *more = step != NULL;
    if (step != NULL && !take(sqlite, step, now_us, err))
        goto rollback;
    if (!store_commit(store, err))
        goto rollback;
    return true;
rollback:
    store_rollback(store);
    return false;
}

enum { MIGRATE_ARENA_MAX = 1 << 20 };

bool sqlite_migrate(struct store *store, int64_t now_us, int64_t *taken, struct error *err)
{
    struct arena arena;
    bool more = true;
    bool ok = true;

    arena_init(&arena, MIGRATE_ARENA_MAX);
    *taken = 0;
    while (ok && more) {
        arena_reset(&arena);
        ok = take_next(sqlite_store_of(store), &arena, now_us, &more, err);
        *taken += ok && more;
    }
    arena_release(&arena);
    return ok || error_wrap(err, "migrate %s", sqlite_store_of(store)->file->path);
}

bool sqlite_schema(struct store *store, struct store_schema *schema, struct error *err)
{
    struct migration_record_list taken;
    struct arena arena;
    bool ok;

    arena_init(&arena, MIGRATE_ARENA_MAX);
    ok = load_taken(sqlite_store_of(store), &arena, &taken, err) &&
         migration_check(&SQLITE_MIGRATIONS, &taken, err);
    if (ok) {
        schema->latest = migration_latest(&SQLITE_MIGRATIONS);
        schema->version = migration_version(&SQLITE_MIGRATIONS, &taken);
    }
    arena_release(&arena);
    return ok;
}
