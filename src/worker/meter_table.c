/* Names, helps, labels and bounds. */
#include "worker/meter_table.h"

static const double MILLISECONDS[METER_BOUNDS_MAX] = { 10,   25,   50,   100,   250,  500,
                                                       1000, 2500, 5000, 10000, 30000 };
static const double SECONDS[METER_BOUNDS_MAX] = { 0.01, 0.025, 0.05, 0.1, 0.25, 0.5,
                                                  1,    2.5,   5,    10,  30 };
static const double SIZES[METER_BOUNDS_MAX] = { 1, 10, 25, 50, 100, 250, 500, 1000, 2500, 10000 };

static const double WAITS[METER_BOUNDS_MAX] = { 0.1, 0.5, 1, 5, 15, 60, 300, 900, 3600, 21600 };
static const double DISTANCES[METER_BOUNDS_MAX] = { 60,    600,    3600,    21600,
                                                    86400, 604800, 2592000, 31536000 };

#define CURSOR                                  \
    {                                           \
        "provenance", "operation", "cursor_key" \
    }
#define SUBSCRIPTION   \
    {                  \
        "subscription" \
    }
#define PARTITION                  \
    {                              \
        "source", "endpoint", "op" \
    }

/* clang-format off */
static const struct meter_family FAMILIES[WORKER_METRICS] = {
    [METRIC_BATCHES] = { "patra_ingest_batches_total", "Batches that this process has stored.", METER_COUNTER, PARTITION, NULL },
    [METRIC_ITEMS] = { "patra_ingest_items_total", "Records of these batches, by what became of them.", METER_COUNTER, { "source", "endpoint", "op", "action" }, NULL },
    [METRIC_BATCH_MS] = { "patra_ingest_batch_latency_ms", "From the end of one batch to that of the next, with waiting.", METER_HISTOGRAM, PARTITION, MILLISECONDS },
    [METRIC_BATCH_SECONDS] = { "patra_ingest_batch_latency_seconds", "The same in seconds.", METER_HISTOGRAM, PARTITION, SECONDS },
    [METRIC_HTTP_MS] = { "patra_ingest_http_latency_ms", "How long the response of a batch took.", METER_HISTOGRAM, PARTITION, MILLISECONDS },
    [METRIC_HTTP_SECONDS] = { "patra_ingest_http_latency_seconds", "The same in seconds.", METER_HISTOGRAM, PARTITION, SECONDS },
    [METRIC_BATCH_SIZE] = { "patra_ingest_batch_records", "Records in a batch.", METER_HISTOGRAM, PARTITION, SIZES },
    [METRIC_ERRORS] = { "patra_ingest_errors_total", "Batches that failed.", METER_COUNTER, { "level", "source", "endpoint", "op" }, NULL },
    [METRIC_THROTTLED] = { "patra_ingest_429_total", "Responses that said: slow down.", METER_COUNTER, PARTITION, NULL },
    [METRIC_RETRIES] = { "patra_ingest_retries_total", "Requests that were sent again.", METER_COUNTER, PARTITION, NULL },
    [METRIC_HEALED] = { "patra_ingest_self_heal_events_total", "What patra did about trouble by itself.", METER_COUNTER, { "type" }, NULL },
    [METRIC_DEQUEUED] = { "patra_ingest_task_dequeue_total", "Tasks that this process has taken.", METER_COUNTER, PARTITION, NULL },
    [METRIC_LOST_LEASES] = { "patra_ingest_lease_conflict_total", "Tasks that another worker took over meanwhile.", METER_COUNTER, PARTITION, NULL },
    [METRIC_TASKS] = { "patra_ingest_tasks_ended_total", "Tasks that this process has ended, by how.", METER_COUNTER, { "source", "endpoint", "op", "status" }, NULL },
    [METRIC_QUEUE_SECONDS] = { "patra_ingest_lease_acquire_latency_seconds", "How long tasks were due before this process took them.", METER_HISTOGRAM, PARTITION, WAITS },
    [METRIC_CURSOR_MOVES] = { "patra_ingest_cursor_advance_events_total", "Moves of cursors by this process.", METER_COUNTER, { "direction" }, NULL },
    [METRIC_CURSOR_STAYED] = { "patra_cursor_no_forward_total", "Candidates that were not after their cursor.", METER_COUNTER, CURSOR, NULL },
    [METRIC_CURSOR_CONFLICTS] = { "patra_cursor_cas_conflict_total", "Moves that were repeated because another process was faster.", METER_COUNTER, CURSOR, NULL },
    [METRIC_CURSOR_COMPENSATED] = { "patra_cursor_token_compensate_total", "Tokens that replaced one which the source no longer accepted.", METER_COUNTER, CURSOR, NULL },
    [METRIC_CURSOR_DISTANCE] = { "patra_ingest_cursor_forward_distance_seconds", "How far a move went.", METER_HISTOGRAM, PARTITION, DISTANCES },
    [METRIC_DOWNGRADES] = { "patra_ingest_strategy_downgrade_events_total", "Times that a gentler way of asking was taken: smaller pages, narrower slices.", METER_COUNTER, { "source", "endpoint", "op", "type" }, NULL },
    [METRIC_PUBLISH_ATTEMPTS] = { "patra_publish_attempts_total", "Events that were offered to a bus, each time.", METER_COUNTER, SUBSCRIPTION, NULL },
    [METRIC_PUBLISH_FAILURES] = { "patra_publish_failures_total", "Of these, not taken by the bus.", METER_COUNTER, SUBSCRIPTION, NULL },
    [METRIC_CONSUME_EVENTS] = { "patra_consume_events_total", "Events that a projection applied (ack) or could not apply (nack).", METER_COUNTER, { "subscription", "outcome" }, NULL },
    [METRIC_CONSUME_SECONDS] = { "patra_consume_processing_seconds", "How long a transaction of events took, from the stream to its commit.", METER_HISTOGRAM, SUBSCRIPTION, SECONDS },
    [METRIC_RETRY_DELAY] = { "patra_subscription_retry_delay_seconds", "How long a key or a bus is left alone before it is tried again.", METER_HISTOGRAM, { "subscription", "kind" }, WAITS },
    [METRIC_OFFSET_SAVES] = { "patra_subscription_offset_save_total", "Offsets that were saved, by lane.", METER_COUNTER, SUBSCRIPTION, NULL },
    [METRIC_OFFSET_SAVE_FAILURES] = { "patra_subscription_offset_save_failure_total", "Offsets that could not be saved, by lane.", METER_COUNTER, SUBSCRIPTION, NULL },
    [METRIC_REPLAY_MS] = { "patra_cursor_replay_duration_ms", "How long it took to replay the events of a cursor.", METER_HISTOGRAM, CURSOR, MILLISECONDS },
    [METRIC_REPLAY_SECONDS] = { "patra_cursor_replay_duration_seconds", "The same in seconds.", METER_HISTOGRAM, CURSOR, SECONDS },
    [METRIC_REPLAY_GAPS] = { "patra_cursor_replay_gaps", "Events of a cursor that do not begin where the one before ended, at the last replay.", METER_GAUGE, CURSOR, NULL },
    [METRIC_REPLAY_DIFFERS] = { "patra_cursor_rebuild_required", "Cursors that differ from their events, at the last replay (patra cursor verify).", METER_GAUGE, CURSOR, NULL },
    [METRIC_SPANS] = { "patra_trace_spans_total", "Spans that were sent, that found the queue full (dropped), that no collector took (given_up).", METER_COUNTER, { "outcome" }, NULL },
};
/* clang-format on */

bool worker_meters_open(struct meters **meters, struct error *err)
{
    return meters_open(meters, FAMILIES, WORKER_METRICS, err);
}
