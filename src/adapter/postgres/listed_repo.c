#include "adapter/postgres/listed_repo.h"

#include <inttypes.h>

#include "adapter/postgres/postgres.h"
#include "adapter/sql/read.h"

enum { ADD_TASK = 1, ADD_IDS };
static const char ADD[] =
    "INSERT INTO ing_listed_id (task_id, position, provider_id)"
    " SELECT $1, b.position + r.place, r.provider_id"
    "   FROM (SELECT coalesce(max(position), 0) FROM ing_listed_id WHERE task_id = $1)"
    "          AS b (position),"
    "        unnest($2) WITH ORDINALITY AS r (provider_id, place)";

bool postgres_listed_add(struct store *store, int64_t task_id, const struct str *ids, size_t count,
                         struct error *err)
{
    struct postgres_store *postgres = postgres_store_of(store);
    struct array array;
    struct query q;

    array_init(&array, &postgres->scratch, ARRAY_TEXT);
    for (size_t i = 0; i < count; i++)
        array_add_text(&array, ids[i]);
    query_init(&q, postgres, ADD);
    set_i64(&q, ADD_TASK, task_id);
    set_array(&q, ADD_IDS, &array);
    return query_run(&q, NULL, err) ||
           error_wrap(err, "list %zu ids of task %" PRId64, count, task_id);
}

enum { LIST_TASK = 1, LIST_AFTER, LIST_LIMIT };
static const char LIST[] = "SELECT provider_id FROM ing_listed_id"
                           " WHERE task_id = $1 AND position > $2 ORDER BY position LIMIT $3";

bool postgres_listed_list(struct store *store, struct arena *arena, int64_t task_id, int64_t after,
                          int64_t limit, struct listed_list *list, struct error *err)
{
    struct query q;

    query_init(&q, postgres_store_of(store), LIST);
    set_i64(&q, LIST_TASK, task_id);
    set_i64(&q, LIST_AFTER, after);
    set_i64(&q, LIST_LIMIT, limit);
    return read_listed(&q.rows, arena, list, err) ||
           error_wrap(err, "ids listed by task %" PRId64, task_id);
}
