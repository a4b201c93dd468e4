/* What `patra status` reads: counts and lists over many tables. */
#include "port/store_status.h"

#include "adapter/sql/read.h"
#include "adapter/sql/session.h"
#include "base/instant.h"

static bool read_partition_counts(struct rows *rows, struct arena *arena, struct str source,
                                  struct partition_count_list *list, struct error *err)
{
    *list = (struct partition_count_list){ 0 };
    while (rows_next(rows)) {
        struct task_partition partition = { .source = source };
        enum task_status status;
        int64_t count, first_us;

        partition.endpoint = rows_text(rows, arena);
        partition.operation = (enum operation)rows_code(rows, &OPERATION_CODES);
        status = (enum task_status)rows_code(rows, &TASK_STATUS_CODES);
        count = rows_i64(rows);
        first_us = rows_i64(rows);
        if (!partition_count_add(arena, &partition, status, count, first_us, list))
            rows->full = arena;
    }
    return rows_finish(rows, err);
}

static bool read_open(struct rows *rows, struct open_count *count, struct error *err)
{
    if (rows_next(rows)) {
        count->quarantined = rows_i64(rows);
        count->signals = rows_i64(rows);
        count->tickets = rows_i64(rows);
    }
    return rows_finish(rows, err);
}

static bool read_doubted(struct rows *rows, struct arena *arena, struct doubted_runs_list *list,
                         struct error *err)
{
    struct doubted_runs *runs;

    *list = (struct doubted_runs_list){ 0 };
    while ((runs = ROWS_NEXT(rows, arena, list)) != NULL) {
        runs->doubts = rows_text(rows, arena);
        runs->count = rows_i64(rows);
        runs->task_id = rows_i64(rows);
    }
    return rows_finish(rows, err);
}

static bool read_gates(struct rows *rows, struct arena *arena, struct gate_row_list *list,
                       struct error *err)
{
    struct gate_row *row;

    *list = (struct gate_row_list){ 0 };
    while ((row = ROWS_NEXT(rows, arena, list)) != NULL) {
        row->key = rows_text(rows, arena);
        read_gate(rows, &row->gate);
    }
    return rows_finish(rows, err);
}

/* Tasks whose last run has ended since, found by the index of runs. */
#define ENDED_SINCE                                                                     \
    " FROM ing_task_run r JOIN ing_task t ON t.id = r.task_id"                          \
    " WHERE r.provenance_code = :source"                                                \
    "   AND r.operation_code IN ('HARVEST', 'BACKFILL', 'UPDATE', 'METRICS', 'REPLAY')" \
    "   AND r.started_at >= :started_since AND r.finished_at >= :since"                 \
    "   AND r.attempt_no = t.attempt_count"

static const char COUNTS[] =
    "SELECT endpoint_name, operation_code, 'QUEUED', count(*), min(scheduled_at) FROM ing_task"
    " WHERE status_code = 'QUEUED' AND provenance_code = :source"
    " GROUP BY endpoint_name, operation_code"
    " UNION ALL "
    "SELECT endpoint_name, operation_code, 'EXECUTING', count(*), CAST(NULL AS {instant})"
    " FROM ing_task"
    " WHERE status_code IN ('DISPATCHED', 'EXECUTING') AND provenance_code = :source"
    " GROUP BY endpoint_name, operation_code"
    " UNION ALL "
    "SELECT t.endpoint_name, t.operation_code, t.status_code, count(*),"
    " CAST(NULL AS {instant})" ENDED_SINCE
    "   AND t.status_code IN ('SUCCEEDED', 'PARTIAL', 'FAILED')"
    " GROUP BY t.endpoint_name, t.operation_code, t.status_code"
    " UNION ALL "
    "SELECT endpoint_name, operation_code, 'CANCELLED', count(*), CAST(NULL AS {instant})"
    " FROM ing_task"
    " WHERE status_code = 'CANCELLED' AND provenance_code = :source AND finished_at >= :since"
    " GROUP BY endpoint_name, operation_code";

static bool status_counts(struct store *store, struct arena *arena, struct str source,
                          int64_t since_us, struct partition_count_list *list, struct error *err)
{
    struct statement *st = statement_of(store, COUNTS);

    bind_text(st, ":source", source);
    bind_instant(st, ":since", since_us);
    bind_instant(st, ":started_since", since_us - STATUS_RUN_MAX_US);
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
    struct statement *st = statement_of(store, RUNNING);

    bind_text(st, ":source", source);
    bind_i64(st, ":limit", limit);
    return read_tasks(&st->rows, arena, list, err) || error_wrap(err, "list running tasks");
}

#define IS_RESLICED "EXISTS (SELECT 1 FROM ing_reslice_request q WHERE q.task_id = t.id)"

static const char TROUBLED[] =
    "SELECT " TASK_COLUMNS ", run_reason, is_resliced, ended_at"
    " FROM (SELECT t.*, r.partial_reason_code AS run_reason, r.finished_at AS "
    "ended_at, " IS_RESLICED "                  AS is_resliced" ENDED_SINCE
    "          AND t.status_code IN ('PARTIAL', 'FAILED')"
    "       UNION ALL SELECT t.*, t.partial_reason_code, t.updated_at, " IS_RESLICED
    "         FROM ing_task t WHERE t.provenance_code = :source"
    "          AND t.partial_reason_code IN ('DEAD_END', 'OVER_BUDGET', 'CRASHED')"
    "          AND t.updated_at < :held_since) AS ended"
    " ORDER BY ended_at DESC, id DESC LIMIT :limit";

static bool status_troubled(struct store *store, struct arena *arena,
                            const struct trouble_query *query, struct ended_task_list *list,
                            struct error *err)
{
    struct statement *st = statement_of(store, TROUBLED);

    bind_text(st, ":source", query->source);
    bind_instant(st, ":since", query->since_us);
    bind_instant(st, ":started_since", query->since_us - STATUS_RUN_MAX_US);
    bind_instant(st, ":held_since", query->with_held ? query->since_us : INSTANT_MIN);
    bind_i64(st, ":limit", query->limit);
    return read_ended_tasks(&st->rows, arena, list, err) ||
           error_wrap(err, "list partial and failed tasks");
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
    struct statement *st = statement_of(store, OPEN);

    bind_text(st, ":source", source);
    return read_open(&st->rows, count, err) ||
           error_wrap(err, "count the open items of %.*s", STR_ARG(source));
}

#define DOUBTS "CAST(r.stats -> 'doubts' AS text)"

static const char DOUBTED[] = "SELECT " DOUBTS ", count(*), max(t.id)" ENDED_SINCE "   AND " DOUBTS
                              " <> '[]' GROUP BY " DOUBTS;

static bool status_doubted(struct store *store, struct arena *arena, struct str source,
                           int64_t since_us, struct doubted_runs_list *list, struct error *err)
{
    struct statement *st = statement_of(store, DOUBTED);

    bind_text(st, ":source", source);
    bind_instant(st, ":since", since_us);
    bind_instant(st, ":started_since", since_us - STATUS_RUN_MAX_US);
    return read_doubted(&st->rows, arena, list, err) || error_wrap(err, "count doubted runs");
}

static const char GATES[] = "SELECT rate_key, " GATE_COLUMNS " FROM ing_rate_gate"
                            " ORDER BY rate_key{byte-order}";

static bool status_gates(struct store *store, struct arena *arena, struct gate_row_list *list,
                         struct error *err)
{
    struct statement *st = statement_of(store, GATES);

    return read_gates(&st->rows, arena, list, err) || error_wrap(err, "list rate gates");
}

const struct store_status_ops SQL_STATUS = {
    .counts = status_counts,
    .running = status_running,
    .troubled = status_troubled,
    .open = status_open,
    .doubted = status_doubted,
    .gates = status_gates,
};
