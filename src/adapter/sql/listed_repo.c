/* The ids that phase one of a task listed. */
#include "adapter/sql/listed_repo.h"

#include <inttypes.h>

#include "adapter/sql/session.h"

static bool read_listed(struct rows *rows, struct arena *arena, struct listed_list *list,
                        struct error *err)
{
    struct str *id;

    *list = (struct listed_list){ 0 };
    while ((id = ROWS_NEXT(rows, arena, list)) != NULL)
        *id = rows_text(rows, arena);
    return rows_finish(rows, err);
}

static const char COUNT[] =
    "SELECT coalesce(max(position), 0) FROM ing_listed_id WHERE task_id = :task";

static bool count_listed(struct store *store, int64_t task_id, int64_t *count, struct error *err)
{
    struct statement *st = statement_of(store, COUNT);

    bind_i64(st, ":task", task_id);
    return rows_only_i64(&st->rows, count, err);
}

static const char ADD[] = "INSERT INTO ing_listed_id (task_id, position, provider_id)"
                          " {insert :task, @position, @provider_id}";

bool listed_add(struct store *store, int64_t task_id, const struct str *ids, size_t count,
                struct error *err)
{
    struct statement *st;
    int64_t position = 0;

    if (!count_listed(store, task_id, &position, err))
        return error_wrap(err, "count the ids of task %" PRId64, task_id);
    st = statement_of(store, ADD);
    bind_i64(st, ":task", task_id);
    for (size_t i = 0; i < count; i++) {
        cell_i64(st, "@position", ++position);
        cell_text(st, "@provider_id", ids[i]);
    }
    return statement_run(st, NULL, err) ||
           error_wrap(err, "add %zu ids to task %" PRId64, count, task_id);
}

static const char LIST[] = "SELECT provider_id FROM ing_listed_id"
                           " WHERE task_id = :task AND position > :after"
                           " ORDER BY position LIMIT :limit";

bool listed_list(struct store *store, struct arena *arena, int64_t task_id, int64_t after,
                 int64_t limit, struct listed_list *list, struct error *err)
{
    struct statement *st = statement_of(store, LIST);

    bind_i64(st, ":task", task_id);
    bind_i64(st, ":after", after);
    bind_i64(st, ":limit", limit);
    return read_listed(&st->rows, arena, list, err) ||
           error_wrap(err, "list the ids of task %" PRId64, task_id);
}
