#include "port/store_status.h"

#include "adapter/postgres/postgres.h"
#include "adapter/postgres/task_row.h"

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
enum { COUNT_ENDPOINT, COUNT_OPERATION, COUNT_STATUS, COUNT_COUNT, COUNT_FIRST };

static bool status_counts(struct store *store, struct arena *arena, struct str source,
                          int64_t since_us, struct partition_count_list *list, struct error *err)
{
    struct query q;

    *list = (struct partition_count_list){ 0 };
    query_init(&q, postgres_store_of(store), COUNTS);
    set_since(&q, source, since_us);
    while (query_row(&q)) {
        const struct task_partition partition = { source, get_text(&q, COUNT_ENDPOINT, arena),
                                                  (enum operation)get_code(&q, COUNT_OPERATION,
                                                                           &OPERATION_CODES) };

        if (!partition_count_add(arena, &partition,
                                 (enum task_status)get_code(&q, COUNT_STATUS, &TASK_STATUS_CODES),
                                 get_i64(&q, COUNT_COUNT), get_i64(&q, COUNT_FIRST), list)) {
            q.full = arena;
            break;
        }
    }
    return query_finish(&q, err) || error_wrap(err, "count tasks of %.*s", STR_ARG(source));
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
    return postgres_read_tasks(&q, arena, list, err) || error_wrap(err, "list running tasks");
}

static const char TROUBLED[] =
    "SELECT " TASK_COLUMNS ", run_reason, is_cut, ended_at"
    " FROM (SELECT t.*, r.partial_reason_code AS run_reason, r.finished_at AS ended_at,"
    "              EXISTS (SELECT 1 FROM ing_reslice_request q WHERE q.task_id = t.id)"
    "                  AS is_cut" ENDED_SINCE
    "          AND t.status_code IN ('PARTIAL', 'FAILED')) AS ended"
    " ORDER BY ended_at DESC, id DESC LIMIT $4";
enum { TROUBLED_REASON = TASK_COLUMN_COUNT, TROUBLED_CUT, TROUBLED_ENDED };

static bool status_troubled(struct store *store, struct arena *arena, struct str source,
                            int64_t since_us, int64_t limit, struct ended_task_list *list,
                            struct error *err)
{
    struct query q;

    *list = (struct ended_task_list){ 0 };
    query_init(&q, postgres_store_of(store), TROUBLED);
    set_since(&q, source, since_us);
    set_i64(&q, SINCE_LIMIT, limit);
    while (query_row(&q)) {
        struct ended_task *ended = LIST_ADD(arena, list);

        if (ended == NULL) {
            q.full = arena;
            break;
        }
        postgres_read_task(&q, arena, &ended->task);
        ended->has_reason = !get_is_null(&q, TROUBLED_REASON);
        if (ended->has_reason)
            ended->reason =
                (enum partial_reason)get_code(&q, TROUBLED_REASON, &PARTIAL_REASON_CODES);
        ended->is_cut = get_i64(&q, TROUBLED_CUT) != 0;
        ended->ended_us = get_i64(&q, TROUBLED_ENDED);
    }
    return query_finish(&q, err) || error_wrap(err, "list what failed");
}

enum { OPEN_SOURCE = 1 };
static const char OPEN[] =
    "SELECT (SELECT count(*) FROM ing_quarantine"
    "         WHERE provenance_code = $1 AND resolved_at IS NULL),"
    "       (SELECT count(*) FROM ing_signal"
    "         WHERE provenance_code = $1 AND consumed_at IS NULL),"
    "       (SELECT count(*) FROM ing_reslice_request q JOIN ing_task t ON t.id = q.task_id"
    "         WHERE q.claimed_at IS NULL AND t.provenance_code = $1)";
enum { OPEN_QUARANTINED, OPEN_SIGNALS, OPEN_TICKETS };

static bool status_open(struct store *store, struct str source, struct open_count *count,
                        struct error *err)
{
    struct query q;

    query_init(&q, postgres_store_of(store), OPEN);
    set_text(&q, OPEN_SOURCE, source);
    if (query_row(&q))
        *count = (struct open_count){ get_i64(&q, OPEN_QUARANTINED), get_i64(&q, OPEN_SIGNALS),
                                      get_i64(&q, OPEN_TICKETS) };
    return query_finish(&q, err) || error_wrap(err, "count what is open");
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
    struct query q;

    *list = (struct gate_row_list){ 0 };
    query_init(&q, postgres_store_of(store), GATES);
    while (query_row(&q)) {
        struct gate_row *row = LIST_ADD(arena, list);

        if (row == NULL) {
            q.full = arena;
            break;
        }
        row->key = get_text(&q, GATE_KEY, arena);
        row->gate = (struct rate_gate){
            .bucket = { .tokens = get_i64(&q, GATE_TOKENS),
                        .carry = get_i64(&q, GATE_CARRY),
                        .refilled_at_us = get_i64(&q, GATE_REFILLED),
                        .rate = get_i64(&q, GATE_RATE),
                        .provider_rate = get_i64(&q, GATE_PROVIDER_RATE),
                        .raised_at_us = get_i64(&q, GATE_RAISED),
                        .demoted_at_us = get_i64(&q, GATE_DEMOTED),
                        .cooldown_until_us = get_i64(&q, GATE_COOLDOWN_UNTIL),
                        .line_until_us = get_i64(&q, GATE_LINE_UNTIL),
                        .started_at_us = get_i64(&q, GATE_STARTED) },
            .parked_until_us = get_i64(&q, GATE_PARKED_UNTIL),
            .version = get_i64(&q, GATE_VERSION),
        };
    }
    return query_finish(&q, err) || error_wrap(err, "list rate gates");
}

const struct store_status_ops POSTGRES_STATUS = {
    .counts = status_counts,
    .running = status_running,
    .troubled = status_troubled,
    .open = status_open,
    .gates = status_gates,
};
