/* A row per event, with the number of its writing. */
#include "effect_log.h"

#include <string.h>

#include "adapter/sql/session.h"
#include "base/buf.h"
#include "contract.h"

static bool takes(void *context, struct str aggregate_type, struct str event_type)
{
    (void)context;
    (void)aggregate_type;
    (void)event_type;
    return true;
}

static bool has(struct str id, const char *part)
{
    return part != NULL && memmem(id.data, id.len, part, strlen(part)) != NULL;
}

struct made {
    const struct project_event *events;
    size_t count;
};

static bool make(void *context, struct arena *arena, const struct project_event *events,
                 size_t count, const void **out, size_t *failed, struct error *err)
{
    struct effect_log *log = context;
    struct made *made = ARENA_NEW(arena, struct made);

    if (log->on_make != NULL)
        log->on_make(log->context);

    if (made == NULL)
        return arena_error(arena, err);
    for (size_t i = 0; i < count; i++) {
        *failed = i;
        if (has(events[i].aggregate_id, log->unfit))
            return error_set(err, ERROR_DATA, "projection.value", "%.*s does not fit",
                             STR_ARG(events[i].aggregate_id));
    }
    *made = (struct made){ events, count };
    *out = made;
    return true;
}

static const char ADD[] = "INSERT INTO test_effect (aggregate_id, version) {insert @id, @version}";

static bool write(void *context, struct arena *arena, const void *what, struct error *err)
{
    struct effect_log *log = context;
    const struct made *made = what;
    struct statement *st = statement_of(log->sink, ADD);
    size_t count = made->count;
    int64_t changes;

    (void)arena;
    log->writes++;
    if (log->is_broken)
        return error_set(err, ERROR_FATAL, "store.statement", "no such table");
    for (size_t i = 0; i < made->count; i++) {
        if (has(made->events[i].aggregate_id, log->refuse) &&
            made->events[i].version >= log->refuse_from) {
            log->was_refused = true;
            return error_set(err, ERROR_REQUEST, "store.constraint", "a table refuses a row");
        }
    }
    if (log->forgets_one && log->was_refused && count > 1)
        count--;
    log->was_refused = false;
    for (size_t i = 0; i < count; i++) {
        cell_text(st, "@id", made->events[i].aggregate_id);
        cell_i64(st, "@version", made->events[i].version);
    }
    return statement_run(st, &changes, err);
}

struct consume_target effect_log_target(struct effect_log *log)
{
    return (struct consume_target){ log, takes, make, write };
}

void effect_log_make(const char *dsn)
{
    contract_sql(dsn, "CREATE TABLE test_effect (n INTEGER PRIMARY KEY AUTOINCREMENT,"
                      " aggregate_id TEXT NOT NULL, version INTEGER NOT NULL)");
}

static const char READ[] = "SELECT aggregate_id, version FROM test_effect ORDER BY n";

struct effect_list effect_log_read(struct store *store, struct arena *arena)
{
    struct statement *st = statement_of(store, READ);
    struct effect_list list = { 0 };
    struct error err = { 0 };
    struct effect *effect;

    while ((effect = ROWS_NEXT(&st->rows, arena, &list)) != NULL) {
        effect->aggregate_id = rows_text(&st->rows, arena);
        effect->version = rows_i64(&st->rows);
    }
    REQUIRE_OK(rows_finish(&st->rows, &err), err);
    return list;
}

struct str effect_log_versions(struct store *store, struct arena *arena, const char *id)
{
    const struct effect_list list = effect_log_read(store, arena);
    struct buf out;

    buf_init(&out, arena, 1 << 16);
    for (size_t i = 0; i < list.count; i++) {
        if (str_eq(list.items[i].aggregate_id, str_of(id)))
            buf_printf(&out, "%s%lld", buf_str(&out).len > 0 ? " " : "",
                       (long long)list.items[i].version);
    }
    return buf_str(&out);
}
