#include "port/store_status.h"

#include "adapter/sqlite/sqlite.h"
#include "adapter/sqlite/task_row.h"

/* Tasks whose last run ended since, by the index of runs. */
#define ENDED_SINCE                                                                     \
    " FROM ing_task_run r JOIN ing_task t ON t.id = r.task_id"                          \
    " WHERE r.provenance_code = :source"                                                \
    "   AND r.operation_code IN ('HARVEST', 'BACKFILL', 'UPDATE', 'METRICS', 'REPLAY')" \
    "   AND r.started_at >= :since - :run_max AND r.finished_at >= :since"              \
    "   AND r.attempt_no = t.attempt_count"

static const char COUNTS[] =
    "SELECT endpoint_name, operation_code, 'QUEUED', count(*), min(scheduled_at) FROM ing_task"
    " WHERE status_code = 'QUEUED' AND provenance_code = :source"
    " GROUP BY endpoint_name, operation_code"
    " UNION ALL "
    "SELECT endpoint_name, operation_code, 'EXECUTING', count(*), NULL FROM ing_task"
    " WHERE status_code IN ('DISPATCHED', 'EXECUTING') AND provenance_code = :source"
    " GROUP BY endpoint_name, operation_code"
    " UNION ALL "
    "SELECT t.endpoint_name, t.operation_code, t.status_code, count(*), NULL" ENDED_SINCE
    "   AND t.status_code IN ('SUCCEEDED', 'PARTIAL', 'FAILED', 'CANCELLED')"
    " GROUP BY t.endpoint_name, t.operation_code, t.status_code";
enum { COUNT_ENDPOINT, COUNT_OPERATION, COUNT_STATUS, COUNT_COUNT, COUNT_FIRST };

static bool status_counts(struct store *store, struct arena *arena, struct str source,
                          int64_t since_us, struct partition_count_list *list, struct error *err)
{
    struct statement *st = statement_of(sqlite_store_of(store), COUNTS);

    *list = (struct partition_count_list){ 0 };
    bind_text(st, ":source", source);
    bind_i64(st, ":since", since_us);
    bind_i64(st, ":run_max", STATUS_RUN_MAX_US);
    while (statement_row(st)) {
        const struct task_partition partition = { source, column_text(st, COUNT_ENDPOINT, arena),
                                                  (enum operation)column_code(st, COUNT_OPERATION,
                                                                              &OPERATION_CODES) };

        if (!partition_count_add(
                arena, &partition,
                (enum task_status)column_code(st, COUNT_STATUS, &TASK_STATUS_CODES),
                column_i64(st, COUNT_COUNT), column_i64(st, COUNT_FIRST), list)) {
            st->full = arena;
            break;
        }
    }
    return statement_finish(st, err) || error_wrap(err, "count tasks of %.*s", STR_ARG(source));
}

static const char RUNNING[] = "SELECT " TASK_COLUMNS " FROM ing_task"
                              " WHERE status_code IN ('DISPATCHED', 'EXECUTING')"
                              "   AND provenance_code = :source"
                              " ORDER BY leased_until, id LIMIT :limit";

static bool status_running(struct store *store, struct arena *arena, struct str source,
                           int64_t limit, struct task_list *list, struct error *err)
{
    struct statement *st = statement_of(sqlite_store_of(store), RUNNING);

    bind_text(st, ":source", source);
    bind_i64(st, ":limit", limit);
    return sqlite_read_tasks(st, arena, list, err) || error_wrap(err, "list running tasks");
}

static const char TROUBLED[] =
    "SELECT " TASK_COLUMNS ", run_reason, is_cut, ended_at"
    " FROM (SELECT t.*, r.partial_reason_code AS run_reason, r.finished_at AS ended_at,"
    "              EXISTS (SELECT 1 FROM ing_reslice_request q WHERE q.task_id = t.id)"
    "                  AS is_cut" ENDED_SINCE
    "          AND t.status_code IN ('PARTIAL', 'FAILED'))"
    " ORDER BY ended_at DESC, id DESC LIMIT :limit";
enum { TROUBLED_REASON = TASK_COLUMN_COUNT, TROUBLED_CUT, TROUBLED_ENDED };

static bool status_troubled(struct store *store, struct arena *arena, struct str source,
                            int64_t since_us, int64_t limit, struct ended_task_list *list,
                            struct error *err)
{
    struct statement *st = statement_of(sqlite_store_of(store), TROUBLED);

    *list = (struct ended_task_list){ 0 };
    bind_text(st, ":source", source);
    bind_i64(st, ":since", since_us);
    bind_i64(st, ":run_max", STATUS_RUN_MAX_US);
    bind_i64(st, ":limit", limit);
    while (statement_row(st)) {
        struct ended_task *ended = LIST_ADD(arena, list);

        if (ended == NULL) {
            st->full = arena;
            break;
        }
        sqlite_read_task(st, arena, &ended->task);
        ended->has_reason = !column_is_null(st, TROUBLED_REASON);
        if (ended->has_reason)
            ended->reason =
                (enum partial_reason)column_code(st, TROUBLED_REASON, &PARTIAL_REASON_CODES);
        ended->is_cut = column_i64(st, TROUBLED_CUT) != 0;
        ended->ended_us = column_i64(st, TROUBLED_ENDED);
    }
    return statement_finish(st, err) || error_wrap(err, "list what failed");
}

static const char OPEN[] =
    "SELECT (SELECT count(*) FROM ing_quarantine"
    "         WHERE provenance_code = :source AND resolved_at IS NULL),"
    "       (SELECT count(*) FROM ing_signal"
    "         WHERE provenance_code = :source AND consumed_at IS NULL),"
    "       (SELECT count(*) FROM ing_reslice_request q JOIN ing_task t ON t.id = q.task_id"
    "         WHERE q.claimed_at IS NULL AND t.provenance_code = :source)";
enum { OPEN_QUARANTINED, OPEN_SIGNALS, OPEN_TICKETS };

static bool status_open(struct store *store, struct str source, struct open_count *count,
                        struct error *err)
{
    struct statement *st = statement_of(sqlite_store_of(store), OPEN);

    bind_text(st, ":source", source);
    if (statement_row(st))
        *count = (struct open_count){ column_i64(st, OPEN_QUARANTINED),
                                      column_i64(st, OPEN_SIGNALS), column_i64(st, OPEN_TICKETS) };
    return statement_finish(st, err) || error_wrap(err, "count what is open");
}

static const char GATES[] =
    "SELECT rate_key, tokens, carry, refilled_at, rate, provider_rate, raised_at, demoted_at,"
    " cooldown_until, line_until, started_at, parked_until, version FROM ing_rate_gate"
    " ORDER BY rate_key";
enum {
    GATE_KEY,
    GATE_TOKENS,
    GATE_CARRY,
    GATE_REFILLED,
    GATE_RATE,
    GATE_PROVIDER_RATE,
    GATE_RAISED,
    GATE_DEMOTED,
    GATE_COOLDOWN_UNTIL,
    GATE_LINE_UNTIL,
    GATE_STARTED,
    GATE_PARKED_UNTIL,
    GATE_VERSION,
};

static bool status_gates(struct store *store, struct arena *arena, struct gate_row_list *list,
                         struct error *err)
{
    struct statement *st = statement_of(sqlite_store_of(store), GATES);

    *list = (struct gate_row_list){ 0 };
    while (statement_row(st)) {
        struct gate_row *row = LIST_ADD(arena, list);

        if (row == NULL) {
            st->full = arena;
            break;
        }
        row->key = column_text(st, GATE_KEY, arena);
        row->gate = (struct rate_gate){
            .bucket = { .tokens = column_i64(st, GATE_TOKENS),
                        .carry = column_i64(st, GATE_CARRY),
                        .refilled_at_us = column_i64(st, GATE_REFILLED),
                        .rate = column_i64(st, GATE_RATE),
                        .provider_rate = column_i64(st, GATE_PROVIDER_RATE),
                        .raised_at_us = column_i64(st, GATE_RAISED),
                        .demoted_at_us = column_i64(st, GATE_DEMOTED),
                        .cooldown_until_us = column_i64(st, GATE_COOLDOWN_UNTIL),
                        .line_until_us = column_i64(st, GATE_LINE_UNTIL),
                        .started_at_us = column_i64(st, GATE_STARTED) },
            .parked_until_us = column_i64(st, GATE_PARKED_UNTIL),
            .version = column_i64(st, GATE_VERSION),
        };
    }
    return statement_finish(st, err) || error_wrap(err, "list rate gates");
}

const struct store_status_ops SQLITE_STATUS = {
    .counts = status_counts,
    .running = status_running,
    .troubled = status_troubled,
    .open = status_open,
    .gates = status_gates,
};
