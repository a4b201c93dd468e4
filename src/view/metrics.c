/* The state of the store as gauges. */
#include "view/metrics.h"

#include "base/instant.h"
#include "base/meter.h"
#include "port/store_alert.h"
#include "view/status.h"

enum metric {
    BUILD,
    NEEDS,
    ALERTS,
    TASKS_QUEUED,
    CONCURRENCY,
    TROUBLES,
    RECORDS,
    QUARANTINED,
    SIGNALS,
    PAUSED,
    CURSOR_LAG,
    CURSOR_BEHIND_SEEN,
    CURSOR_MOVES,
    BUDGET,
    QPS,
    QPS_ALLOWED,
    GATE_BLOCKED,
    OUTBOX_WAITING,
    OUTBOX_OLDEST,
    OUTBOX_PUBLISHER,
    SUB_WAITING,
    SUB_LAG,
    SUB_LAG_MS,
    SUB_PARKED,
    SUB_DEAD,
    SUB_BEHIND,
    SUB_READERS,
    SUB_ACTIVE,
    METRIC_COUNT,
};

#define PARTITION                  \
    {                              \
        "source", "endpoint", "op" \
    }
#define SUBSCRIPTION           \
    {                          \
        "subscription", "kind" \
    }
#define GAUGE(name, help, ...)                     \
    {                                              \
        name, help, METER_GAUGE, __VA_ARGS__, NULL \
    }

/* clang-format off */
static const struct meter_family FAMILIES[METRIC_COUNT] = {
    [BUILD] = GAUGE("patra_build_info", "1, by version.", { "version" }),
    [NEEDS] = GAUGE("patra_needs_person", "Things that need a person (patra status).", { 0 }),
    [ALERTS] = GAUGE("patra_alerts_open", "Alerts that have fired and are not resolved (patra alert list).", { "rule", "severity" }),
    [TASKS_QUEUED] = GAUGE("patra_ingest_tasks_queued", "Tasks that wait, due or not.", PARTITION),
    [CONCURRENCY] = GAUGE("patra_ingest_executor_concurrency", "Tasks under way, in any process.", PARTITION),
    [TROUBLES] = GAUGE("patra_ingest_slices_missing", "Windows that ended with something missing, and are not covered since.", { "source" }),
    [RECORDS] = GAUGE("patra_records", "Records that are not deleted, counted up to 100,000.", { "source" }),
    [QUARANTINED] = GAUGE("patra_quarantine_open", "Quarantined records that nobody has settled.", { "source" }),
    [SIGNALS] = GAUGE("patra_signals_open", "Records that an update is to request again.", { "source" }),
    [PAUSED] = GAUGE("patra_source_paused", "Pauses and stops of a source or its endpoints.", { "source", "kind" }),
    [CURSOR_LAG] = GAUGE("patra_ingest_cursor_lag_seconds", "How long the instant of a cursor is ago.", { "source", "cursor_key", "op", "ns" }),
    [CURSOR_BEHIND_SEEN] = GAUGE("patra_cursor_lag_seconds", "How far a cursor is behind the latest record seen.", { "provenance", "operation", "cursor_key", "ns_scope" }),
    [CURSOR_MOVES] = { "patra_cursor_advance_total", "Moves of a cursor.", METER_COUNTER, { "provenance", "operation", "cursor_key" }, NULL },
    [BUDGET] = GAUGE("patra_ingest_budget_remaining", "Requests left of a quota.", { "source", "endpoint", "op", "window" }),
    [QPS] = GAUGE("patra_ingest_qps_effective", "Requests per second that a gate allows now, learned.", PARTITION),
    [QPS_ALLOWED] = GAUGE("patra_ingest_qps_configured", "Requests per second that a source file allows.", PARTITION),
    [GATE_BLOCKED] = GAUGE("patra_ingest_gate_blocked_seconds", "For how long a gate lets nothing through.", PARTITION),
    [OUTBOX_WAITING] = GAUGE("patra_outbox_waiting_events", "Events that are not in the stream yet.", { 0 }),
    [OUTBOX_OLDEST] = GAUGE("patra_outbox_oldest_waiting_seconds", "How long the oldest of them has waited.", { 0 }),
    [OUTBOX_PUBLISHER] = GAUGE("patra_outbox_publisher_up", "1 when some process publishes.", { 0 }),
    [SUB_WAITING] = GAUGE("patra_subscription_waiting_events", "Events of the stream that a subscription has not passed.", SUBSCRIPTION),
    [SUB_LAG] = GAUGE("patra_subscription_lag_seconds", "How long the first of them has been in the stream.", SUBSCRIPTION),
    [SUB_LAG_MS] = GAUGE("patra_subscription_offset_lag_ms", "The same in milliseconds.", SUBSCRIPTION),
    [SUB_PARKED] = GAUGE("patra_subscription_parked_keys", "Keys whose events wait.", SUBSCRIPTION),
    [SUB_DEAD] = GAUGE("patra_subscription_dead_letters", "Events that were given up and not redriven.", SUBSCRIPTION),
    [SUB_BEHIND] = GAUGE("patra_projection_version_lag", "Versions that the key lacks that waits for most of them.", SUBSCRIPTION),
    [SUB_READERS] = GAUGE("patra_subscription_readers", "Readers that are alive.", SUBSCRIPTION),
    [SUB_ACTIVE] = GAUGE("patra_subscription_active", "1 when it is neither paused nor stopped.", SUBSCRIPTION),
};
/* clang-format on */

static double seconds(int64_t us)
{
    return (double)us / (double)US_PER_SECOND;
}

/* ---- sources ---- */

static void add_queue(struct meters *meters, const struct view_source_status *source)
{
    for (size_t i = 0; i < source->counts.count; i++) {
        const struct partition_count *count = &source->counts.items[i];
        const struct str labels[] = { count->partition.source, count->partition.endpoint,
                                      code_of(&OPERATION_CODES, (int)count->partition.operation) };

        meters_add(meters, TASKS_QUEUED, labels, (double)count->queued);
        meters_add(meters, CONCURRENCY, labels, (double)count->running);
    }
}

static void add_cursor(struct meters *meters, const struct view_cursor *of, int64_t now_us)
{
    const struct cursor_name *name = &of->cursor.name;
    const struct str operation = code_of(&OPERATION_CODES, (int)name->operation);
    const struct str scope = code_of(&NAMESPACE_SCOPE_CODES, (int)name->scope);

    meters_add(meters, CURSOR_MOVES, (struct str[]){ name->source, operation, name->cursor_key },
               (double)of->cursor.version);
    if (of->is_former)
        return; /* nothing moves it any more */
    if (of->cursor.value.type == CURSOR_TIME)
        meters_add(meters, CURSOR_LAG,
                   (struct str[]){ name->source, name->cursor_key, operation, name->namespace_key },
                   seconds(now_us - of->cursor.value.instant_us));
    if (of->way.is_known && !of->way.is_campaign)
        meters_add(meters, CURSOR_BEHIND_SEEN,
                   (struct str[]){ name->source, operation, name->cursor_key, scope },
                   seconds(of->way.left_us));
}

static void add_source(struct meters *meters, const struct view_source_status *source,
                       int64_t now_us)
{
    add_queue(meters, source);
    meters_add(meters, TROUBLES, &source->code, (double)source->troubles.missing);
    meters_add(meters, RECORDS, &source->code, (double)source->records);
    meters_add(meters, QUARANTINED, &source->code, (double)source->open.quarantined);
    meters_add(meters, SIGNALS, &source->code, (double)source->open.signals);
    for (size_t i = 0; i < source->pauses.count; i++)
        meters_add(meters, PAUSED,
                   (struct str[]){ source->code,
                                   code_of(&PAUSE_KIND_CODES, (int)source->pauses.items[i].kind) },
                   1);
    for (size_t i = 0; i < source->cursors.count; i++)
        add_cursor(meters, &source->cursors.items[i], now_us);
}

/* ---- gates: shared by the operations of their endpoints ---- */

static void add_quota(struct meters *meters, const struct str labels[3], struct str window,
                      const struct gate_view_quota *quota)
{
    if (quota->limit > 0)
        meters_add(meters, BUDGET, (struct str[]){ labels[0], labels[1], labels[2], window },
                   (double)(quota->limit - quota->used - quota->booked));
}

static void add_gate(struct meters *meters, const struct view_gate *gate, int64_t now_us)
{
    const struct view_gate_block block = view_gate_block(gate, now_us);
    const struct str labels[] = { gate->source, gate->of, STR("all") };

    if (!gate->is_configured)
        return;
    meters_add(meters, QPS_ALLOWED, labels, view_gate_limit(gate).per_second);
    if (gate->view.is_known)
        meters_add(meters, QPS, labels, (double)gate->view.rate / (double)MICRO);
    meters_add(meters, GATE_BLOCKED, labels,
               block.is_blocked ? seconds(block.until_us - now_us) : 0);
    add_quota(meters, labels, STR("hour"), &gate->view.hour);
    add_quota(meters, labels, STR("day"), &gate->view.day);
}

/* ---- events ---- */

static void add_subscription(struct meters *meters, const struct view_subscription *s)
{
    const struct str labels[] = { s->subscription.name,
                                  code_of(&SUBSCRIPTION_KIND_CODES, (int)s->subscription.kind) };

    meters_add(meters, SUB_WAITING, labels, (double)s->waiting);
    meters_add(meters, SUB_LAG, labels, seconds(s->lag_us));
    meters_add(meters, SUB_LAG_MS, labels, (double)s->lag_us / 1000);
    meters_add(meters, SUB_PARKED, labels, (double)s->parked);
    meters_add(meters, SUB_DEAD, labels, (double)s->dead);
    if (s->subscription.kind == SUBSCRIPTION_PROJECTION)
        meters_add(meters, SUB_BEHIND, labels, (double)s->behind);
    meters_add(meters, SUB_READERS, labels, (double)s->readers.count);
    meters_add(meters, SUB_ACTIVE, labels, s->subscription.state == SUBSCRIPTION_ACTIVE);
}

static void add_outbox(struct meters *meters, const struct view_outbox *outbox)
{
    meters_add(meters, OUTBOX_WAITING, NULL, (double)outbox->stream.waiting);
    meters_add(meters, OUTBOX_OLDEST, NULL,
               outbox->stream.has_oldest ? seconds(outbox->lag_us) : 0);
    meters_add(meters, OUTBOX_PUBLISHER, NULL, outbox->is_leased);
    for (size_t i = 0; i < outbox->subscriptions.count; i++)
        add_subscription(meters, &outbox->subscriptions.items[i]);
}

/* ---- alerts ---- */

enum { ALERTS_MAX = 1000 };

static void add_alerts(struct meters *meters, const struct alert_list *alerts)
{
    for (size_t i = 0; i < alerts->count; i++)
        meters_add(meters, ALERTS,
                   (struct str[]){ alerts->items[i].rule,
                                   code_of(&ALERT_SEVERITY_CODES, (int)alerts->items[i].severity) },
                   1);
}

/* ---- all of it ---- */

bool view_metrics_write(const struct view_reader *reader, struct buf *out, struct error *err)
{
    const struct view_status_filter all = { 0 };
    const struct str version = STR(PATRA_VERSION);
    struct view_outbox outbox;
    struct view_status status;
    struct alert_list alerts;
    struct meters *meters;

    if (!view_status(reader, &all, &status, err) || !view_outbox(reader, &outbox, err) ||
        !store_alert_list(reader->store, reader->arena,
                          &(struct alert_query){ .limit = ALERTS_MAX }, &alerts, err) ||
        !meters_open(&meters, FAMILIES, METRIC_COUNT, err))
        return false;
    meters_add(meters, BUILD, &version, 1);
    meters_add(meters, NEEDS, NULL, (double)status.needs.count);
    for (size_t i = 0; i < status.sources.count; i++)
        add_source(meters, &status.sources.items[i], status.now_us);
    for (size_t i = 0; i < status.gates.count; i++)
        add_gate(meters, &status.gates.items[i], status.now_us);
    add_outbox(meters, &outbox);
    add_alerts(meters, &alerts);
    meters_write(meters, out);
    meters_close(meters);
    return buf_ok(out, err);
}
