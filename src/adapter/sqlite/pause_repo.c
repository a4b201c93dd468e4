#include "adapter/sqlite/sqlite.h"
#include "port/store_pause.h"

static const char ADD[] =
    "INSERT INTO ing_pause (provenance_code, endpoint_name, kind_code, reason, created_by,"
    " created_at) VALUES (:source, :endpoint, :kind, :reason, :created_by, :created)"
    " ON CONFLICT DO NOTHING";

static bool pause_add(struct store *store, const struct pause *pause, bool *added,
                      struct error *err)
{
    struct statement *st = statement_of(sqlite_store_of(store), ADD);

    bind_text(st, ":source", pause->source);
    bind_text(st, ":endpoint", pause->endpoint);
    bind_code(st, ":kind", &PAUSE_KIND_CODES, (int)pause->kind);
    bind_text(st, ":reason", pause->reason);
    bind_text(st, ":created_by", pause->created_by);
    bind_i64(st, ":created", pause->created_us);
    if (!statement_run(st, err))
        return error_wrap(err, "pause %.*s", STR_ARG(pause->source));
    *added = statement_changes(st) == 1;
    return true;
}

static const char REMOVE[] = "DELETE FROM ing_pause WHERE provenance_code = :source"
                             " AND endpoint_name = :endpoint AND kind_code = :kind";

static bool pause_remove(struct store *store, struct str source, struct str endpoint,
                         enum pause_kind kind, bool *removed, struct error *err)
{
    struct statement *st = statement_of(sqlite_store_of(store), REMOVE);

    bind_text(st, ":source", source);
    bind_text(st, ":endpoint", endpoint);
    bind_code(st, ":kind", &PAUSE_KIND_CODES, (int)kind);
    if (!statement_run(st, err))
        return error_wrap(err, "resume %.*s", STR_ARG(source));
    *removed = statement_changes(st) == 1;
    return true;
}

static const char LIST[] =
    "SELECT provenance_code, endpoint_name, kind_code, reason, created_by, created_at"
    "  FROM ing_pause WHERE :source IN ('', provenance_code)"
    " ORDER BY provenance_code, endpoint_name, kind_code";
enum { COL_SOURCE, COL_ENDPOINT, COL_KIND, COL_REASON, COL_CREATED_BY, COL_CREATED };

static bool pause_list(struct store *store, struct arena *arena, struct str source,
                       struct pause_list *list, struct error *err)
{
    struct statement *st = statement_of(sqlite_store_of(store), LIST);

    *list = (struct pause_list){ 0 };
    bind_text(st, ":source", source);
    while (statement_row(st)) {
        struct pause *pause = LIST_ADD(arena, list);

        if (pause == NULL) {
            st->full = arena;
            break;
        }
        pause->source = column_text(st, COL_SOURCE, arena);
        pause->endpoint = column_text(st, COL_ENDPOINT, arena);
        pause->kind = (enum pause_kind)column_code(st, COL_KIND, &PAUSE_KIND_CODES);
        pause->reason = column_text(st, COL_REASON, arena);
        pause->created_by = column_text(st, COL_CREATED_BY, arena);
        pause->created_us = column_i64(st, COL_CREATED);
    }
    return statement_finish(st, err) || error_wrap(err, "list pauses");
}

const struct store_pause_ops SQLITE_PAUSE = {
    .add = pause_add,
    .remove = pause_remove,
    .list = pause_list,
};
