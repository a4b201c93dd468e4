#include "adapter/sql/migrate.h"

enum { MIGRATE_ARENA_MAX = 1 << 20 };

static bool take_next(const struct migrator *migrator, struct store *store, struct arena *arena,
                      int64_t now_us, bool *more, struct error *err)
{
    struct migration_record_list taken;
    const struct migration *step;

    if (!store_begin(store, err))
        return false;
    if (!store_lock(store, STR("schema_migration"), err) || !migrator->prepare(store, err) ||
        !migrator->taken(store, arena, &taken, err) || !migration_check(migrator->set, &taken, err))
        goto rollback;
    step = migration_next(migrator->set, &taken);
    *more = step != NULL;
    if (step != NULL && !migrator->take(store, step, now_us, err)) {
        (void)error_wrap(err, "migration %04d_%.*s", (int)step->number, STR_ARG(step->name));
        goto rollback;
    }
    if (!store_commit(store, err))
        goto rollback;
    return true;
rollback:
    store_rollback(store);
    return false;
}

bool migrate_all(const struct migrator *migrator, struct store *store, int64_t now_us,
                 int64_t *count, struct error *err)
{
    struct arena arena;
    bool more = true;
    bool ok = true;

    arena_init(&arena, MIGRATE_ARENA_MAX);
    *count = 0;
    while (ok && more) {
        arena_reset(&arena);
        ok = take_next(migrator, store, &arena, now_us, &more, err);
        *count += ok && more;
    }
    arena_release(&arena);
    return ok;
}

bool migrate_schema(const struct migrator *migrator, struct store *store,
                    struct store_schema *schema, struct error *err)
{
    struct migration_record_list taken;
    struct arena arena;
    bool ok;

    arena_init(&arena, MIGRATE_ARENA_MAX);
    ok = migrator->taken(store, &arena, &taken, err) && migration_check(migrator->set, &taken, err);
    if (ok) {
        schema->latest = migration_latest(migrator->set);
        schema->version = migration_version(migrator->set, &taken);
    }
    arena_release(&arena);
    return ok;
}
