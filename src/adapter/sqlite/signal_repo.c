#include <inttypes.h>

#include "adapter/sql/read.h"
#include "adapter/sqlite/sqlite.h"
#include "port/store_signal.h"

static const char ADD[] =
    "INSERT INTO ing_signal (provenance_code, endpoint_name, provider_id, reason, created_by,"
    " created_at) VALUES (:source, :endpoint, :provider_id, :reason, :created_by, :created)"
    " ON CONFLICT DO NOTHING";

static bool add_signal(struct sqlite_store *sqlite, const struct signal *signal, int64_t *added,
                       struct error *err)
{
    struct statement *st = statement_of(sqlite, ADD);

    bind_text(st, ":source", signal->source);
    bind_text(st, ":endpoint", signal->endpoint);
    bind_text(st, ":provider_id", signal->provider_id);
    bind_text(st, ":reason", signal->reason);
    bind_text(st, ":created_by", signal->created_by);
    bind_i64(st, ":created", signal->created_us);
    if (!statement_run(st, err))
        return error_wrap(err, "add a signal for %.*s", STR_ARG(signal->provider_id));
    *added += statement_changes(st);
    return true;
}

static bool signal_add(struct store *store, const struct signal *signals, size_t count,
                       int64_t *added, struct error *err)
{
    bool alone, ok = true;

    *added = 0;
    if (!store_enter(store, &alone, err))
        return false;
    for (size_t i = 0; i < count && ok; i++)
        ok = add_signal(sqlite_store_of(store), &signals[i], added, err);
    return store_leave(store, alone, ok, err);
}

static const char LIST[] = "SELECT " SIGNAL_COLUMNS " FROM ing_signal"
                           " WHERE consumed_at IS NULL AND :source IN ('', provenance_code)"
                           "   AND :endpoint IN ('', endpoint_name) AND :reason IN ('', reason)"
                           "   AND id > :after ORDER BY id LIMIT :limit";

static bool signal_list(struct store *store, struct arena *arena,
                        const struct signal_filter *filter, struct signal_list *list,
                        struct error *err)
{
    struct statement *st = statement_of(sqlite_store_of(store), LIST);

    bind_text(st, ":source", filter->source);
    bind_text(st, ":endpoint", filter->endpoint);
    bind_text(st, ":reason", filter->reason);
    bind_i64(st, ":after", filter->after_id);
    bind_i64(st, ":limit", filter->limit);
    return read_signals(&st->rows, arena, list, err) || error_wrap(err, "list signals");
}

static const char CONSUME[] = "UPDATE ing_signal SET plan_id = :plan, consumed_at = :now"
                              " WHERE id = :id AND consumed_at IS NULL";

static bool signal_consume(struct store *store, const int64_t *ids, size_t count, int64_t plan_id,
                           int64_t now_us, int64_t *consumed, struct error *err)
{
    bool alone, ok = true;

    *consumed = 0;
    if (!store_enter(store, &alone, err))
        return false;
    for (size_t i = 0; i < count && ok; i++) {
        struct statement *st = statement_of(sqlite_store_of(store), CONSUME);

        bind_i64(st, ":plan", plan_id);
        bind_i64(st, ":now", now_us);
        bind_i64(st, ":id", ids[i]);
        ok = statement_run(st, err) || error_wrap(err, "consume signal %" PRId64, ids[i]);
        if (ok)
            *consumed += statement_changes(st);
    }
    return store_leave(store, alone, ok, err);
}

static const char CLOSE[] =
    "UPDATE ing_signal SET consumed_at = :now, closed_by = :by WHERE provenance_code = :source"
    "   AND endpoint_name = :endpoint AND provider_id = :provider_id AND reason = :reason"
    "   AND consumed_at IS NULL";

static bool signal_close(struct store *store, const struct signal *signal, struct str by,
                         int64_t now_us, bool *closed, struct error *err)
{
    struct statement *st = statement_of(sqlite_store_of(store), CLOSE);

    bind_i64(st, ":now", now_us);
    bind_text(st, ":by", by);
    bind_text(st, ":source", signal->source);
    bind_text(st, ":endpoint", signal->endpoint);
    bind_text(st, ":provider_id", signal->provider_id);
    bind_text(st, ":reason", signal->reason);
    if (!statement_run(st, err))
        return error_wrap(err, "close the signal for %.*s", STR_ARG(signal->provider_id));
    *closed = statement_changes(st) == 1;
    return true;
}

static const char DROP[] = "UPDATE ing_signal SET consumed_at = :now, closed_by = :by"
                           " WHERE id = :id AND consumed_at IS NULL";

static bool signal_drop(struct store *store, int64_t id, struct str by, int64_t now_us,
                        bool *dropped, struct error *err)
{
    struct statement *st = statement_of(sqlite_store_of(store), DROP);

    bind_i64(st, ":now", now_us);
    bind_text(st, ":by", by);
    bind_i64(st, ":id", id);
    if (!statement_run(st, err))
        return error_wrap(err, "drop signal %" PRId64, id);
    *dropped = statement_changes(st) == 1;
    return true;
}

static const char REPEAT[] =
    "INSERT INTO ing_signal (provenance_code, endpoint_name, provider_id, reason, created_by,"
    " created_at)"
    " SELECT provenance_code, endpoint_name, provider_id, reason, created_by, :now"
    "   FROM ing_signal WHERE plan_id = :plan AND provider_id = :id"
    " ON CONFLICT DO NOTHING";

static bool signal_repeat(struct store *store, int64_t plan_id, const struct str *provider_ids,
                          size_t count, int64_t now_us, int64_t *added, struct error *err)
{
    bool alone, ok = true;

    *added = 0;
    if (!store_enter(store, &alone, err))
        return false;
    for (size_t i = 0; i < count && ok; i++) {
        struct statement *st = statement_of(sqlite_store_of(store), REPEAT);

        bind_i64(st, ":now", now_us);
        bind_i64(st, ":plan", plan_id);
        bind_text(st, ":id", provider_ids[i]);
        ok = statement_run(st, err) ||
             error_wrap(err, "repeat the signals of plan %" PRId64, plan_id);
        if (ok)
            *added += statement_changes(st);
    }
    return store_leave(store, alone, ok, err);
}

static const char RESLICE_ADD[] =
    "INSERT INTO ing_reslice_request (task_id, slice_id, reason_code, remaining_from,"
    " remaining_to, detail, created_at)"
    " VALUES (:task, :slice, :reason, :remaining_from, :remaining_to, :detail, :created)"
    " ON CONFLICT (task_id) DO NOTHING";

static bool reslice_add(struct store *store, const struct reslice_ticket *ticket, bool *added,
                        struct error *err)
{
    struct statement *st = statement_of(sqlite_store_of(store), RESLICE_ADD);

    bind_i64(st, ":task", ticket->task_id);
    bind_i64(st, ":slice", ticket->slice_id);
    bind_code(st, ":reason", &RESLICE_REASON_CODES, (int)ticket->reason);
    bind_window(st, ":remaining_from", ":remaining_to", ticket->remaining);
    bind_text(st, ":detail", ticket->detail);
    bind_i64(st, ":created", ticket->created_us);
    if (!statement_run(st, err))
        return error_wrap(err, "ask to cut slice %" PRId64 " again", ticket->slice_id);
    *added = statement_changes(st) == 1;
    return true;
}

static const char RESLICE_CLAIM[] =
    "UPDATE ing_reslice_request SET claimed_by = :owner, claimed_at = :now"
    " WHERE id IN (SELECT id FROM ing_reslice_request WHERE claimed_at IS NULL"
    "               ORDER BY id LIMIT :limit)"
    " RETURNING " TICKET_COLUMNS;

static bool reslice_claim(struct store *store, struct arena *arena, struct str owner,
                          int64_t now_us, int64_t limit, struct reslice_ticket_list *list,
                          struct error *err)
{
    struct statement *st = statement_of(sqlite_store_of(store), RESLICE_CLAIM);

    bind_text(st, ":owner", owner);
    bind_i64(st, ":now", now_us);
    bind_i64(st, ":limit", limit);
    return read_tickets(&st->rows, arena, list, err) || error_wrap(err, "claim re-slice requests");
}

const struct store_signal_ops SQLITE_SIGNAL = {
    .add = signal_add,
    .list = signal_list,
    .consume = signal_consume,
    .close = signal_close,
    .drop = signal_drop,
    .repeat = signal_repeat,
    .reslice_add = reslice_add,
    .reslice_claim = reslice_claim,
};
