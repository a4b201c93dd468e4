/* Signals (records to fetch again), and tickets to re-slice a slice. */
#include <inttypes.h>

#include "adapter/sql/session.h"
#include "port/store_signal.h"

#define SIGNAL_COLUMNS                                                                            \
    "id, provenance_code, endpoint_name, provider_id, reason, http_status, detail, created_by,"   \
    " created_at,"                                                                                \
    " (SELECT count(*) FROM ing_signal AS t WHERE t.provenance_code = ing_signal.provenance_code" \
    "     AND t.endpoint_name = ing_signal.endpoint_name AND t.provider_id = "                    \
    "ing_signal.provider_id"                                                                      \
    "     AND t.plan_id IS NOT NULL)"

#define TICKET_COLUMNS \
    "id, task_id, slice_id, reason_code, remaining_from, remaining_to, detail, created_at"

static void read_signal(struct rows *rows, struct arena *arena, struct signal *signal)
{
    signal->id = rows_i64(rows);
    signal->source = rows_text(rows, arena);
    signal->endpoint = rows_text(rows, arena);
    signal->provider_id = rows_text(rows, arena);
    signal->reason = rows_text(rows, arena);
    signal->http_status = rows_i64(rows);
    signal->detail = rows_text(rows, arena);
    signal->created_by = rows_text(rows, arena);
    signal->created_us = rows_i64(rows);
    signal->tried = rows_i64(rows);
}

static bool read_signals(struct rows *rows, struct arena *arena, struct signal_list *list,
                         struct error *err)
{
    struct signal *signal;

    *list = (struct signal_list){ 0 };
    while ((signal = ROWS_NEXT(rows, arena, list)) != NULL)
        read_signal(rows, arena, signal);
    return rows_finish(rows, err);
}

static bool read_tickets(struct rows *rows, struct arena *arena, struct reslice_ticket_list *list,
                         struct error *err)
{
    struct reslice_ticket *ticket;

    *list = (struct reslice_ticket_list){ 0 };
    while ((ticket = ROWS_NEXT(rows, arena, list)) != NULL) {
        ticket->id = rows_i64(rows);
        ticket->task_id = rows_i64(rows);
        ticket->slice_id = rows_i64(rows);
        ticket->reason = (enum reslice_reason)rows_code(rows, &RESLICE_REASON_CODES);
        ticket->remaining = rows_window(rows);
        ticket->detail = rows_text(rows, arena);
        ticket->created_us = rows_i64(rows);
    }
    return rows_finish(rows, err);
}

static const char ADD[] =
    "INSERT INTO ing_signal (provenance_code, endpoint_name, provider_id, reason, http_status,"
    " detail, created_by, created_at)"
    " {insert by source, endpoint, provider_id:"
    "   @source, @endpoint, @provider_id, @reason, @http_status, @detail, @created_by, @created}"
    " ON CONFLICT DO NOTHING";

static bool signal_add(struct store *store, const struct signal *signals, size_t count,
                       int64_t *added, struct error *err)
{
    struct statement *st = statement_of(store, ADD);

    for (size_t i = 0; i < count; i++) {
        cell_text(st, "@source", signals[i].source);
        cell_text(st, "@endpoint", signals[i].endpoint);
        cell_text(st, "@provider_id", signals[i].provider_id);
        cell_text(st, "@reason", signals[i].reason);
        cell_i64(st, "@http_status", signals[i].http_status);
        cell_text(st, "@detail", signals[i].detail);
        cell_text(st, "@created_by", signals[i].created_by);
        cell_instant(st, "@created", signals[i].created_us);
    }
    return statement_run(st, added, err) || error_wrap(err, "add %zu signals", count);
}

static const char LIST[] = "SELECT " SIGNAL_COLUMNS " FROM ing_signal"
                           " WHERE consumed_at IS NULL AND :source IN ('', provenance_code)"
                           "   AND :endpoint IN ('', endpoint_name) AND :reason IN ('', reason)"
                           "   AND id > :after ORDER BY id LIMIT :limit";

static bool signal_list(struct store *store, struct arena *arena,
                        const struct signal_filter *filter, struct signal_list *list,
                        struct error *err)
{
    struct statement *st = statement_of(store, LIST);

    bind_text(st, ":source", filter->source);
    bind_text(st, ":endpoint", filter->endpoint);
    bind_text(st, ":reason", filter->reason);
    bind_i64(st, ":after", filter->after_id);
    bind_i64(st, ":limit", filter->limit);
    return read_signals(&st->rows, arena, list, err) || error_wrap(err, "list signals");
}

/* + 0: or the table would be read from its end. */
static const char OF[] =
    "SELECT " SIGNAL_COLUMNS ", plan_id, consumed_at, closed_by FROM ing_signal"
    " WHERE provenance_code = :source AND endpoint_name = :endpoint"
    "   AND provider_id = :id ORDER BY id + 0 DESC LIMIT :limit";

static bool signal_of(struct store *store, struct arena *arena, const struct record_key *key,
                      int64_t limit, struct signal_past_list *list, struct error *err)
{
    struct statement *st = statement_of(store, OF);
    struct signal_past *past;

    *list = (struct signal_past_list){ 0 };
    bind_text(st, ":source", key->source);
    bind_text(st, ":endpoint", key->endpoint);
    bind_text(st, ":id", key->provider_id);
    bind_i64(st, ":limit", limit);
    while ((past = ROWS_NEXT(&st->rows, arena, list)) != NULL) {
        read_signal(&st->rows, arena, &past->signal);
        past->plan_id = rows_i64(&st->rows);
        past->consumed_us = rows_i64(&st->rows);
        past->closed_by = rows_text(&st->rows, arena);
    }
    return rows_finish(&st->rows, err) || error_wrap(err, "list the signals of a record");
}

static const char CONSUME[] = "UPDATE ing_signal AS t SET plan_id = :plan, consumed_at = :now"
                              " {rows} WHERE t.id = @id AND t.consumed_at IS NULL";

static bool signal_consume(struct store *store, const struct signal_consume *consume,
                           int64_t *consumed, struct error *err)
{
    struct statement *st = statement_of(store, CONSUME);

    bind_i64(st, ":plan", consume->plan_id);
    bind_instant(st, ":now", consume->now_us);
    for (size_t i = 0; i < consume->count; i++)
        cell_i64(st, "@id", consume->ids[i]);
    return statement_run(st, consumed, err) ||
           error_wrap(err, "consume %zu signals", consume->count);
}

static const char CLOSE[] =
    "UPDATE ing_signal SET consumed_at = :now, closed_by = :by WHERE provenance_code = :source"
    "   AND endpoint_name = :endpoint AND provider_id = :provider_id AND reason = :reason"
    "   AND consumed_at IS NULL";

static bool signal_close(struct store *store, const struct signal *signal, struct str by,
                         int64_t now_us, bool *closed, struct error *err)
{
    struct statement *st = statement_of(store, CLOSE);

    bind_instant(st, ":now", now_us);
    bind_text(st, ":by", by);
    bind_text(st, ":source", signal->source);
    bind_text(st, ":endpoint", signal->endpoint);
    bind_text(st, ":provider_id", signal->provider_id);
    bind_text(st, ":reason", signal->reason);
    return statement_changed(st, closed, err) ||
           error_wrap(err, "close the signal for %.*s", STR_ARG(signal->provider_id));
}

static const char DROP[] = "UPDATE ing_signal SET consumed_at = :now, closed_by = :by"
                           " WHERE id = :id AND consumed_at IS NULL";

static bool signal_drop(struct store *store, int64_t id, struct str by, int64_t now_us,
                        bool *dropped, struct error *err)
{
    struct statement *st = statement_of(store, DROP);

    bind_instant(st, ":now", now_us);
    bind_text(st, ":by", by);
    bind_i64(st, ":id", id);
    return statement_changed(st, dropped, err) || error_wrap(err, "drop signal %" PRId64, id);
}

static const char REPEAT[] =
    "INSERT INTO ing_signal (provenance_code, endpoint_name, provider_id, reason, http_status,"
    " detail, created_by, created_at)"
    " SELECT t.provenance_code, t.endpoint_name, t.provider_id, t.reason, t.http_status, t.detail,"
    "        t.created_by, :now"
    "   FROM ing_signal AS t {join-rows} WHERE t.plan_id = :plan AND t.provider_id = @wanted"
    "  ORDER BY t.provenance_code, t.endpoint_name, t.provider_id"
    " ON CONFLICT DO NOTHING";

static bool signal_repeat(struct store *store, const struct signal_repeat *repeat, int64_t *added,
                          struct error *err)
{
    struct statement *st = statement_of(store, REPEAT);

    bind_instant(st, ":now", repeat->now_us);
    bind_i64(st, ":plan", repeat->plan_id);
    for (size_t i = 0; i < repeat->count; i++)
        cell_text(st, "@wanted", repeat->provider_ids[i]);
    return statement_run(st, added, err) ||
           error_wrap(err, "repeat the signals of plan %" PRId64, repeat->plan_id);
}

static const char RESLICE_ADD[] =
    "INSERT INTO ing_reslice_request (task_id, slice_id, reason_code, remaining_from,"
    " remaining_to, detail, created_at)"
    " VALUES (:task, :slice, :reason, :remaining_from, :remaining_to, :detail, :created)"
    " ON CONFLICT (task_id) DO NOTHING";

static bool reslice_add(struct store *store, const struct reslice_ticket *ticket, bool *added,
                        struct error *err)
{
    struct statement *st = statement_of(store, RESLICE_ADD);

    bind_i64(st, ":task", ticket->task_id);
    bind_i64(st, ":slice", ticket->slice_id);
    bind_code(st, ":reason", &RESLICE_REASON_CODES, (int)ticket->reason);
    bind_window(st, ":remaining_from", ":remaining_to", ticket->remaining);
    bind_json(st, ":detail", ticket->detail);
    bind_instant(st, ":created", ticket->created_us);
    return statement_changed(st, added, err) ||
           error_wrap(err, "add a ticket to re-slice slice %" PRId64, ticket->slice_id);
}

static const char RESLICE_CLAIM[] =
    "UPDATE ing_reslice_request SET claimed_by = :owner, claimed_at = :now"
    " WHERE id IN (SELECT id FROM ing_reslice_request WHERE claimed_at IS NULL"
    "               ORDER BY id LIMIT :limit{lock-free})"
    " RETURNING " TICKET_COLUMNS;

static bool reslice_claim(struct store *store, struct arena *arena,
                          const struct reslice_claim *claim, struct reslice_ticket_list *list,
                          struct error *err)
{
    struct statement *st = statement_of(store, RESLICE_CLAIM);

    bind_text(st, ":owner", claim->owner);
    bind_instant(st, ":now", claim->now_us);
    bind_i64(st, ":limit", claim->limit);
    return read_tickets(&st->rows, arena, list, err) || error_wrap(err, "claim re-slice tickets");
}

const struct store_signal_ops SQL_SIGNAL = {
    .add = signal_add,
    .list = signal_list,
    .of = signal_of,
    .consume = signal_consume,
    .close = signal_close,
    .drop = signal_drop,
    .repeat = signal_repeat,
    .reslice_add = reslice_add,
    .reslice_claim = reslice_claim,
};
