#include "adapter/postgres/postgres.h"
#include "adapter/sql/read.h"

static const char CREATE[] = "CREATE TABLE IF NOT EXISTS schema_migration ("
                             "    number     bigint      NOT NULL PRIMARY KEY,"
                             "    name       text        NOT NULL,"
                             "    sha256     text        NOT NULL,"
                             "    applied_at timestamptz NOT NULL)";

static const char EXISTS[] = "SELECT to_regclass('schema_migration') IS NOT NULL";

static const char TAKEN[] = "SELECT " MIGRATION_COLUMNS " FROM schema_migration ORDER BY number";

static bool load_taken(struct postgres_store *postgres, struct arena *arena,
                       struct migration_record_list *taken, struct error *err)
{
    struct query q;
    bool exists;

    *taken = (struct migration_record_list){ 0 };
    query_init(&q, postgres, EXISTS);
    exists = query_row(&q) && get_i64(&q, 0) != 0;
    if (!query_finish(&q, err))
        return false;
    if (!exists)
        return true;
    query_init(&q, postgres, TAKEN);
    return read_migrations(&q.rows, arena, taken, err);
}

enum { RECORD_NUMBER = 1, RECORD_NAME, RECORD_SHA256, RECORD_APPLIED_AT };
static const char RECORD[] = "INSERT INTO schema_migration (number, name, sha256, applied_at)"
                             " VALUES ($1, $2, $3, $4)";

static bool take(struct postgres_store *postgres, const struct migration *step, int64_t now_us,
                 struct error *err)
{
    struct query q;

    if (!postgres_run_text(postgres, step->sql.data, err))
        return error_wrap(err, "migration %04d_%.*s", (int)step->number, STR_ARG(step->name));
    query_init(&q, postgres, RECORD);
    set_i64(&q, RECORD_NUMBER, step->number);
    set_text(&q, RECORD_NAME, step->name);
    set_text(&q, RECORD_SHA256, step->sha256);
    set_time(&q, RECORD_APPLIED_AT, now_us);
    return query_run(&q, NULL, err);
}

/* One step under a lock of all who migrate: what was taken is read again each time, since another
 * process may have taken the step meanwhile. */
static bool take_next(struct postgres_store *postgres, struct arena *arena, int64_t now_us,
                      bool *more, struct error *err)
{
    struct store *store = &postgres->store;
    struct migration_record_list taken;
    const struct migration *step;

    if (!store_begin(store, err))
        return false;
    if (!store_lock(store, STR("schema_migration"), err) ||
        !postgres_run_text(postgres, CREATE, err) || !load_taken(postgres, arena, &taken, err) ||
        !migration_check(&POSTGRES_MIGRATIONS, &taken, err))
        goto rollback;
    step = migration_next(&POSTGRES_MIGRATIONS, &taken);
    *more = step != NULL;
    if (step != NULL && !take(postgres, step, now_us, err))
        goto rollback;
    if (!store_commit(store, err))
        goto rollback;
    return true;
rollback:
    store_rollback(store);
    return false;
}

enum { MIGRATE_ARENA_MAX = 1 << 20 };

bool postgres_migrate(struct store *store, int64_t now_us, int64_t *taken, struct error *err)
{
    struct arena arena;
    bool more = true;
    bool ok = true;

    arena_init(&arena, MIGRATE_ARENA_MAX);
    *taken = 0;
    while (ok && more) {
        arena_reset(&arena);
        ok = take_next(postgres_store_of(store), &arena, now_us, &more, err);
        *taken += ok && more;
    }
    arena_release(&arena);
    return ok || error_wrap(err, "migrate");
}

bool postgres_schema(struct store *store, struct store_schema *schema, struct error *err)
{
    struct migration_record_list taken;
    struct arena arena;
    bool ok;

    arena_init(&arena, MIGRATE_ARENA_MAX);
    ok = load_taken(postgres_store_of(store), &arena, &taken, err) &&
         migration_check(&POSTGRES_MIGRATIONS, &taken, err);
    if (ok) {
        schema->latest = migration_latest(&POSTGRES_MIGRATIONS);
        schema->version = migration_version(&POSTGRES_MIGRATIONS, &taken);
    }
    arena_release(&arena);
    return ok;
}
