#include "port/store_status.h"

#include "adapter/postgres/postgres.h"
#include "adapter/sql/read.h"

/* Tasks whose last run ended since, by the index of runs. */
enum { SINCE_SOURCE = 1, SINCE_BEGUN, SINCE_ENDED, SINCE_LIMIT };
#define ENDED_SINCE                                                                     \
    " FROM ing_task_run r JOIN ing_task t ON t.id = r.task_id"                          \
    " WHERE r.provenance_code = $1"                                                     \
    "   AND r.operation_code IN ('HARVEST', 'BACKFILL', 'UPDATE', 'METRICS', 'REPLAY')" \
    "   AND r.started_at >= $2 AND r.finished_at >= $3"                                 \
    "   AND r.attempt_no = t.attempt_count"

static void set_since(struct query *q, struct str source, int64_t since_us)
{
    set_text(q, SINCE_SOURCE, source);
    set_time(q, SINCE_BEGUN, since_us - STATUS_RUN_MAX_US);
    set_time(q, SINCE_ENDED, since_us);
}

static const char COUNTS[] =
    "SELECT endpoint_name, operation_code, 'QUEUED', count(*), min(scheduled_at) FROM ing_task"
    " WHERE status_code = 'QUEUED' AND provenance_code = $1"
    " GROUP BY endpoint_name, operation_code"
    " UNION ALL "
    "SELECT endpoint_name, operation_code, 'EXECUTING', count(*), NULL::timestamptz FROM ing_task"
    " WHERE status_code IN ('DISPATCHED', 'EXECUTING') AND provenance_code = $1"
    " GROUP BY endpoint_name, operation_code"
    " UNION ALL "
    "SELECT t.endpoint_name, t.operation_code, t.status_code, count(*),"
    " NULL::timestamptz" ENDED_SINCE
    "   AND t.status_code IN ('SUCCEEDED', 'PARTIAL', 'FAILED', 'CANCELLED')"
    " GROUP BY t.endpoint_name, t.operation_code, t.status_code";

static bool status_counts(struct store *store, struct arena *arena, struct str source,
                          int64_t since_us, struct partition_count_list *list, struct error *err)
{
    struct query q;

    query_init(&q, postgres_store_of(store), COUNTS);
    set_since(&q, source, since_us);
    return read_partition_counts(&q.rows, arena, source, list, err) ||
           error_wrap(err, "count tasks of %.*s", STR_ARG(source));
}

enum { RUNNING_SOURCE = 1, RUNNING_LIMIT };
static const char RUNNING[] = "SELECT " TASK_COLUMNS " FROM ing_task"
                              " WHERE status_code IN ('DISPATCHED', 'EXECUTING')"
                              "   AND provenance_code = $1"
                              " ORDER BY leased_until, id LIMIT $2";

static bool status_running(struct store *store, struct arena *arena, struct str source,
                           int64_t limit, struct task_list *list, struct error *err)
{
    struct query q;

    query_init(&q, postgres_store_of(store), RUNNING);
    set_text(&q, RUNNING_SOURCE, source);
    set_i64(&q, RUNNING_LIMIT, limit);
    return read_tasks(&q.rows, arena, list, err) || error_wrap(err, "list running tasks");
}

static const char TROUBLED[] =
    "SELECT " TASK_COLUMNS ", run_reason, is_cut, ended_at"
    " FROM (SELECT t.*, r.partial_reason_code AS run_reason, r.finished_at AS ended_at,"
    "              EXISTS (SELECT 1 FROM ing_reslice_request q WHERE q.task_id = t.id)"
    "                  AS is_cut" ENDED_SINCE
    "          AND t.status_code IN ('PARTIAL', 'FAILED')) AS ended"
    " ORDER BY ended_at DESC, id DESC LIMIT $4";

static bool status_troubled(struct store *store, struct arena *arena, struct str source,
                            int64_t since_us, int64_t limit, struct ended_task_list *list,
                            struct error *err)
{
    struct query q;

    query_init(&q, postgres_store_of(store), TROUBLED);
    set_since(&q, source, since_us);
    set_i64(&q, SINCE_LIMIT, limit);
    return read_ended_tasks(&q.rows, arena, list, err) || error_wrap(err, "list what failed");
}

enum { OPEN_SOURCE = 1 };
static const char OPEN[] =
    "SELECT (SELECT count(*) FROM ing_quarantine"
    "         WHERE provenance_code = $1 AND resolved_at IS NULL),"
    "       (SELECT count(*) FROM ing_signal"
    "         WHERE provenance_code = $1 AND consumed_at IS NULL),"
    "       (SELECT count(*) FROM ing_reslice_request q JOIN ing_task t ON t.id = q.task_id"
    "         WHERE q.claimed_at IS NULL AND t.provenance_code = $1)";

static bool status_open(struct store *store, struct str source, struct open_count *count,
                        struct error *err)
{
    struct query q;

    query_init(&q, postgres_store_of(store), OPEN);
    set_text(&q, OPEN_SOURCE, source);
    return read_open(&q.rows, count, err) || error_wrap(err, "count what is open");
}

static const char GATES[] = "SELECT rate_key, " GATE_COLUMNS " FROM ing_rate_gate"
                            " ORDER BY rate_key";

static bool status_gates(struct store *store, struct arena *arena, struct gate_row_list *list,
                         struct error *err)
{
    struct query q;

    query_init(&q, postgres_store_of(store), GATES);
    return read_gates(&q.rows, arena, list, err) || error_wrap(err, "list rate gates");
}

const struct store_status_ops POSTGRES_STATUS = {
    .counts = status_counts,
    .running = status_running,
    .troubled = status_troubled,
    .open = status_open,
    .gates = status_gates,
};
