/* The table of migrations, and applying those that are missing from it. */
#include "adapter/sql/migrate.h"

#include "adapter/sql/session.h"
#include "core/migration.h"

enum { MIGRATE_ARENA_MAX = 1 << 20 };

static const char MAKE_TABLE[] = "{migration-table}";
static const char EXISTS[] = "{has-migrations}";
static const char TAKEN[] = "SELECT number, name, sha256 FROM schema_migration ORDER BY number";
static const char RECORD[] = "INSERT INTO schema_migration (number, name, sha256, applied_at)"
                             " VALUES (:number, :name, :sha256, :applied_at)";

/* Of a database for projections, its own, unless it is a store: that has these tables too. */
static const struct migration_set *set_of(struct store *store,
                                          const struct migration_record_list *taken)
{
    const struct sql_session *session = sql_session_of(store);
    const struct dialect *dialect = session->driver->dialect;
    const bool is_store =
        taken->count > 0 && str_eq(taken->items[0].name, dialect->migrations->items[0].name);

    return session->is_sink && !is_store ? dialect->sink_migrations : dialect->migrations;
}

/* The migrations that were applied; none when there is no table yet. */
static bool load_taken(struct store *store, struct arena *arena,
                       struct migration_record_list *taken, struct error *err)
{
    struct statement *st = statement_of(store, EXISTS);
    struct migration_record *record;
    int64_t exists = 0;

    *taken = (struct migration_record_list){ 0 };
    if (!rows_only_i64(&st->rows, &exists, err))
        return false;
    if (exists == 0)
        return true;
    st = statement_of(store, TAKEN);
    while ((record = ROWS_NEXT(&st->rows, arena, taken)) != NULL) {
        record->number = rows_i64(&st->rows);
        record->name = rows_text(&st->rows, arena);
        record->sha256 = rows_text(&st->rows, arena);
    }
    return rows_finish(&st->rows, err);
}

static bool take(struct store *store, const struct migration *step, int64_t now_us,
                 struct error *err)
{
    struct sql_session *session = sql_session_of(store);
    struct statement *st;

    if (!session->driver->run_script(session, step->sql.data, err))
        return false;
    st = statement_of(store, RECORD);
    bind_i64(st, ":number", step->number);
    bind_text(st, ":name", step->name);
    bind_text(st, ":sha256", step->sha256);
    bind_instant(st, ":applied_at", now_us);
    return statement_run(st, NULL, err);
}

/* Somebody else's store is not migrated on the way. */
static bool is_store_as_sink(struct store *store, const struct migration_set *set)
{
    const struct sql_session *session = sql_session_of(store);

    return session->is_sink && set == session->driver->dialect->migrations;
}

static bool take_next(struct store *store, struct arena *arena, int64_t now_us, bool *more,
                      struct error *err)
{
    const struct migration_set *set;
    struct migration_record_list taken;
    const struct migration *step;

    if (!store_begin(store, err))
        return false;
    if (!store_lock(store, STR("schema_migration"), err) ||
        !statement_run(statement_of(store, MAKE_TABLE), NULL, err) ||
        !load_taken(store, arena, &taken, err))
        goto rollback;
    set = set_of(store, &taken);
    if (!migration_check(set, &taken, err))
        goto rollback;
    step = migration_next(set, &taken);
    *more = step != NULL;
    if (step != NULL && is_store_as_sink(store, set)) {
        (void)error_set(err, ERROR_FATAL, "store.schema",
                        "the database is a store of another version: run patra init there");
        goto rollback;
    }
    if (step != NULL && !take(store, step, now_us, err)) {
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

bool sql_migrate(struct store *store, int64_t now_us, int64_t *taken, struct error *err)
{
    struct arena arena;
    bool more = true;
    bool ok = true;

    arena_init(&arena, MIGRATE_ARENA_MAX);
    *taken = 0;
    while (ok && more) {
        arena_reset(&arena);
        ok = take_next(store, &arena, now_us, &more, err);
        *taken += ok && more;
    }
    arena_release(&arena);
    return ok || error_wrap(err, "migrate");
}

bool sql_schema(struct store *store, struct store_schema *schema, struct error *err)
{
    struct migration_record_list taken;
    struct arena arena;
    bool ok;

    arena_init(&arena, MIGRATE_ARENA_MAX);
    ok = load_taken(store, &arena, &taken, err) &&
         migration_check(set_of(store, &taken), &taken, err);
    if (ok) {
        const struct migration_set *set = set_of(store, &taken);

        schema->latest = migration_latest(set);
        schema->version = migration_version(set, &taken);
    }
    arena_release(&arena);
    return ok;
}

static const char LANES[] = "SELECT lane_count FROM ing_stream_head WHERE one = 1";

bool sql_lanes(struct store *store, int64_t *lanes, struct error *err)
{
    *lanes = 0;
    return rows_only_i64(&statement_of(store, LANES)->rows, lanes, err) ||
           error_wrap(err, "read the number of lanes");
}

static const char PLACE[] = "{database-place}";

bool sql_place(struct store *store, struct arena *arena, struct str *place, struct error *err)
{
    struct rows *rows = &statement_of(store, PLACE)->rows;

    *place = (struct str){ 0 };
    if (rows_next(rows))
        *place = rows_text(rows, arena);
    return rows_finish(rows, err) || error_wrap(err, "ask which database it is");
}
