/* Parents whose children were fetched: store_child_ops. */
#include "adapter/sql/session.h"
#include "port/store_child.h"

static const char LIST[] = "SELECT @place, t.fetched_at, t.expr_hash FROM {find ing_child_fetch:"
                           " provenance_code = :source AND endpoint_name = :endpoint"
                           " AND parent_id = @parent}";

static bool read_fetches(struct statement *st, struct arena *arena, struct child_fetch *fetches,
                         struct error *err)
{
    while (rows_next(&st->rows)) {
        struct child_fetch *fetch = &fetches[rows_i64(&st->rows) - 1];

        fetch->is_found = true;
        fetch->fetched_us = rows_i64(&st->rows);
        fetch->expr_hash = rows_text(&st->rows, arena);
    }
    return rows_finish(&st->rows, err);
}

static bool child_list(struct store *store, struct arena *arena,
                       const struct record_context *context, struct record_ids parents,
                       struct child_fetch *fetches, struct error *err)
{
    struct statement *st = statement_of(store, LIST);

    bind_text(st, ":source", context->source);
    bind_text(st, ":endpoint", context->endpoint);
    for (size_t i = 0; i < parents.count; i++) {
        cell_text(st, "@parent", parents.items[i]);
        fetches[i] = (struct child_fetch){ 0 };
    }
    return read_fetches(st, arena, fetches, err) ||
           error_wrap(err, "list the fetches of %zu parents", parents.count);
}

static const char MARK[] =
    "INSERT INTO ing_child_fetch (parent_id, endpoint_name, provenance_code, expr_hash, fetched_at)"
    " {insert by parent: @parent, :endpoint, :source, :expr_hash, :fetched}"
    " ON CONFLICT (parent_id, endpoint_name, provenance_code) DO UPDATE SET"
    "   expr_hash = excluded.expr_hash, fetched_at = excluded.fetched_at"
    " WHERE ing_child_fetch.fetched_at <= excluded.fetched_at";

static bool child_mark(struct store *store, const struct record_context *context,
                       struct record_ids parents, struct error *err)
{
    struct statement *st = statement_of(store, MARK);

    bind_text(st, ":source", context->source);
    bind_text(st, ":endpoint", context->endpoint);
    bind_text(st, ":expr_hash", context->expr_hash);
    bind_instant(st, ":fetched", context->observed_us);
    for (size_t i = 0; i < parents.count; i++)
        cell_text(st, "@parent", parents.items[i]);
    return statement_run(st, NULL, err) ||
           error_wrap(err, "mark the fetches of %zu parents", parents.count);
}

static const char FORGET[] = "DELETE FROM ing_child_fetch"
                             " WHERE provenance_code = :source AND endpoint_name = :endpoint";

static bool child_forget(struct store *store, struct str source, struct str endpoint,
                         struct error *err)
{
    struct statement *st = statement_of(store, FORGET);

    bind_text(st, ":source", source);
    bind_text(st, ":endpoint", endpoint);
    return statement_run(st, NULL, err) ||
           error_wrap(err, "forget the fetches of %.*s/%.*s", STR_ARG(source), STR_ARG(endpoint));
}

const struct store_child_ops SQL_CHILD = {
    .list = child_list,
    .mark = child_mark,
    .forget = child_forget,
};
