/* Pauses of sources and endpoints. */
#include "adapter/sql/session.h"
#include "port/store_pause.h"

#define PAUSE_COLUMNS "provenance_code, endpoint_name, kind_code, reason, created_by, created_at"

static bool read_pauses(struct rows *rows, struct arena *arena, struct pause_list *list,
                        struct error *err)
{
    struct pause *pause;

    *list = (struct pause_list){ 0 };
    while ((pause = ROWS_NEXT(rows, arena, list)) != NULL) {
        pause->source = rows_text(rows, arena);
        pause->endpoint = rows_text(rows, arena);
        pause->kind = (enum pause_kind)rows_code(rows, &PAUSE_KIND_CODES);
        pause->reason = rows_text(rows, arena);
        pause->created_by = rows_text(rows, arena);
        pause->created_us = rows_i64(rows);
    }
    return rows_finish(rows, err);
}

static const char ADD[] =
    "INSERT INTO ing_pause (provenance_code, endpoint_name, kind_code, reason, created_by,"
    " created_at) VALUES (:source, :endpoint, :kind, :reason, :created_by, :created)"
    " ON CONFLICT DO NOTHING";

static bool pause_add(struct store *store, const struct pause *pause, bool *added,
                      struct error *err)
{
    struct statement *st = statement_of(store, ADD);

    bind_text(st, ":source", pause->source);
    bind_text(st, ":endpoint", pause->endpoint);
    bind_code(st, ":kind", &PAUSE_KIND_CODES, (int)pause->kind);
    bind_text(st, ":reason", pause->reason);
    bind_text(st, ":created_by", pause->created_by);
    bind_instant(st, ":created", pause->created_us);
    return statement_changed(st, added, err) ||
           error_wrap(err, "pause %.*s", STR_ARG(pause->source));
}

static const char REMOVE[] = "DELETE FROM ing_pause WHERE provenance_code = :source"
                             " AND endpoint_name = :endpoint AND kind_code = :kind";

static bool pause_remove(struct store *store, struct str source, struct str endpoint,
                         enum pause_kind kind, bool *removed, struct error *err)
{
    struct statement *st = statement_of(store, REMOVE);

    bind_text(st, ":source", source);
    bind_text(st, ":endpoint", endpoint);
    bind_code(st, ":kind", &PAUSE_KIND_CODES, (int)kind);
    return statement_changed(st, removed, err) || error_wrap(err, "resume %.*s", STR_ARG(source));
}

static const char LIST[] =
    "SELECT " PAUSE_COLUMNS " FROM ing_pause WHERE :source IN ('', provenance_code)"
    " ORDER BY provenance_code{byte-order}, endpoint_name{byte-order}, kind_code{byte-order}";

static bool pause_list(struct store *store, struct arena *arena, struct str source,
                       struct pause_list *list, struct error *err)
{
    struct statement *st = statement_of(store, LIST);

    bind_text(st, ":source", source);
    return read_pauses(&st->rows, arena, list, err) || error_wrap(err, "list pauses");
}

const struct store_pause_ops SQL_PAUSE = {
    .add = pause_add,
    .remove = pause_remove,
    .list = pause_list,
};
