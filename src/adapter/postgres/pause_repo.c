#include "adapter/postgres/postgres.h"
#include "adapter/sql/read.h"
#include "port/store_pause.h"

enum { ADD_SOURCE = 1, ADD_ENDPOINT, ADD_KIND, ADD_REASON, ADD_CREATED_BY, ADD_CREATED };
static const char ADD[] =
    "INSERT INTO ing_pause (provenance_code, endpoint_name, kind_code, reason, created_by,"
    " created_at) VALUES ($1, $2, $3, $4, $5, $6) ON CONFLICT DO NOTHING";

static bool pause_add(struct store *store, const struct pause *pause, bool *added,
                      struct error *err)
{
    struct query q;
    int64_t changes;

    query_init(&q, postgres_store_of(store), ADD);
    set_text(&q, ADD_SOURCE, pause->source);
    set_text(&q, ADD_ENDPOINT, pause->endpoint);
    set_code(&q, ADD_KIND, &PAUSE_KIND_CODES, (int)pause->kind);
    set_text(&q, ADD_REASON, pause->reason);
    set_text(&q, ADD_CREATED_BY, pause->created_by);
    set_time(&q, ADD_CREATED, pause->created_us);
    if (!query_run(&q, &changes, err))
        return error_wrap(err, "pause %.*s", STR_ARG(pause->source));
    *added = changes == 1;
    return true;
}

enum { REMOVE_SOURCE = 1, REMOVE_ENDPOINT, REMOVE_KIND };
static const char REMOVE[] = "DELETE FROM ing_pause WHERE provenance_code = $1"
                             " AND endpoint_name = $2 AND kind_code = $3";

static bool pause_remove(struct store *store, struct str source, struct str endpoint,
                         enum pause_kind kind, bool *removed, struct error *err)
{
    struct query q;
    int64_t changes;

    query_init(&q, postgres_store_of(store), REMOVE);
    set_text(&q, REMOVE_SOURCE, source);
    set_text(&q, REMOVE_ENDPOINT, endpoint);
    set_code(&q, REMOVE_KIND, &PAUSE_KIND_CODES, (int)kind);
    if (!query_run(&q, &changes, err))
        return error_wrap(err, "resume %.*s", STR_ARG(source));
    *removed = changes == 1;
    return true;
}

enum { LIST_SOURCE = 1 };
static const char LIST[] =
    "SELECT " PAUSE_COLUMNS " FROM ing_pause WHERE $1 IN ('', provenance_code)"
    " ORDER BY provenance_code COLLATE \"C\", endpoint_name COLLATE \"C\", kind_code COLLATE \"C\"";

static bool pause_list(struct store *store, struct arena *arena, struct str source,
                       struct pause_list *list, struct error *err)
{
    struct query q;

    query_init(&q, postgres_store_of(store), LIST);
    set_text(&q, LIST_SOURCE, source);
    return read_pauses(&q.rows, arena, list, err) || error_wrap(err, "list pauses");
}

const struct store_pause_ops POSTGRES_PAUSE = {
    .add = pause_add,
    .remove = pause_remove,
    .list = pause_list,
};
