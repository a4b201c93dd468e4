#include "port/store_status.h"

#include "adapter/sql/read.h"
#include "adapter/sqlite/sqlite.h"

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

static bool status_counts(struct store *store, struct arena *arena, struct str source,
                          int64_t since_us, struct partition_count_list *list, struct error *err)
{
    struct statement *st = statement_of(sqlite_store_of(store), COUNTS);

    bind_text(st, ":source", source);
    bind_i64(st, ":since", since_us);
    bind_i64(st, ":run_max", STATUS_RUN_MAX_US);
    return read_partition_counts(&st->rows, arena, source, list, err) ||
           error_wrap(err, "count tasks of %.*s", STR_ARG(source));
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
    return read_tasks(&st->rows, arena, list, err) || error_wrap(err, "list running tasks");
}

static const char TROUBLED[] =
    "SELECT " TASK_COLUMNS ", run_reason, is_cut, ended_at"
    " FROM (SELECT t.*, r.partial_reason_code AS run_reason, r.finished_at AS ended_at,"
    "              EXISTS (SELECT 1 FROM ing_reslice_request q WHERE q.task_id = t.id)"
    "                  AS is_cut" ENDED_SINCE
    "          AND t.status_code IN ('PARTIAL', 'FAILED'))"
    " ORDER BY ended_at DESC, id DESC LIMIT :limit";

static bool status_troubled(struct store *store, struct arena *arena, struct str source,
                            int64_t since_us, int64_t limit, struct ended_task_list *list,
                            struct error *err)
{
    struct statement *st = statement_of(sqlite_store_of(store), TROUBLED);

    bind_text(st, ":source", source);
    bind_i64(st, ":since", since_us);
    bind_i64(st, ":run_max", STATUS_RUN_MAX_US);
    bind_i64(st, ":limit", limit);
    return read_ended_tasks(&st->rows, arena, list, err) || error_wrap(err, "list what failed");
}

static const char OPEN[] =
    "SELECT (SELECT count(*) FROM ing_quarantine"
    "         WHERE provenance_code = :source AND resolved_at IS NULL),"
    "       (SELECT count(*) FROM ing_signal"
    "         WHERE provenance_code = :source AND consumed_at IS NULL),"
    "       (SELECT count(*) FROM ing_reslice_request q JOIN ing_task t ON t.id = q.task_id"
    "         WHERE q.claimed_at IS NULL AND t.provenance_code = :source)";

static bool status_open(struct store *store, struct str source, struct open_count *count,
                        struct error *err)
{
    struct statement *st = statement_of(sqlite_store_of(store), OPEN);

    bind_text(st, ":source", source);
    return read_open(&st->rows, count, err) || error_wrap(err, "count what is open");
}

static const char GATES[] = "SELECT rate_key, " GATE_COLUMNS " FROM ing_rate_gate"
                            " ORDER BY rate_key";

static bool status_gates(struct store *store, struct arena *arena, struct gate_row_list *list,
                         struct error *err)
{
    struct statement *st = statement_of(sqlite_store_of(store), GATES);

    return read_gates(&st->rows, arena, list, err) || error_wrap(err, "list rate gates");
}

const struct store_status_ops SQLITE_STATUS = {
    .counts = status_counts,
    .running = status_running,
    .troubled = status_troubled,
    .open = status_open,
    .gates = status_gates,
};
