#include "adapter/sqlite/listed_repo.h"

#include <inttypes.h>

#include "adapter/sql/read.h"
#include "adapter/sqlite/sqlite.h"

static const char COUNT[] =
    "SELECT coalesce(max(position), 0) FROM ing_listed_id WHERE task_id = :task";

static bool count_listed(struct sqlite_store *sqlite, int64_t task_id, int64_t *count,
                         struct error *err)
{
    struct statement *st = statement_of(sqlite, COUNT);

    bind_i64(st, ":task", task_id);
    return rows_only_i64(&st->rows, count, err);
}

static const char ADD[] = "INSERT INTO ing_listed_id (task_id, position, provider_id)"
                          " VALUES (:task, :position, :provider_id)";

bool sqlite_listed_add(struct store *store, int64_t task_id, const struct str *ids, size_t count,
                       struct error *err)
{
    int64_t position = 0;

    if (!count_listed(sqlite_store_of(store), task_id, &position, err))
        return error_wrap(err, "count the ids listed by task %" PRId64, task_id);
    for (size_t i = 0; i < count; i++) {
        struct statement *st = statement_of(sqlite_store_of(store), ADD);

        bind_i64(st, ":task", task_id);
        bind_i64(st, ":position", ++position);
        bind_text(st, ":provider_id", ids[i]);
        if (!statement_run(st, err))
            return error_wrap(err, "id %" PRId64 " of task %" PRId64, position, task_id);
    }
    return true;
}

static const char LIST[] = "SELECT provider_id FROM ing_listed_id"
                           " WHERE task_id = :task AND position > :after"
                           " ORDER BY position LIMIT :limit";

bool sqlite_listed_list(struct store *store, struct arena *arena, int64_t task_id, int64_t after,
                        int64_t limit, struct listed_list *list, struct error *err)
{
    struct statement *st = statement_of(sqlite_store_of(store), LIST);

    bind_i64(st, ":task", task_id);
    bind_i64(st, ":after", after);
    bind_i64(st, ":limit", limit);
    return read_listed(&st->rows, arena, list, err) ||
           error_wrap(err, "ids listed by task %" PRId64, task_id);
}
