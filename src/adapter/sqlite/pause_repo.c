#include "adapter/sql/read.h"
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
    "SELECT " PAUSE_COLUMNS " FROM ing_pause WHERE :source IN ('', provenance_code)"
    " ORDER BY provenance_code, endpoint_name, kind_code";

static bool pause_list(struct store *store, struct arena *arena, struct str source,
                       struct pause_list *list, struct error *err)
{
    struct statement *st = statement_of(sqlite_store_of(store), LIST);

    bind_text(st, ":source", source);
    return read_pauses(&st->rows, arena, list, err) || error_wrap(err, "list pauses");
}

const struct store_pause_ops SQLITE_PAUSE = {
    .add = pause_add,
    .remove = pause_remove,
    .list = pause_list,
};
