/* Events of readers, counted and logged. */
#include "worker/lane_watch.h"

#include <inttypes.h>
#include <stdio.h>

#include "worker/meter_table.h"

static double seconds(int64_t us)
{
    return us > 0 ? (double)us / (double)US_PER_SECOND : 0;
}

/* ---- counted ---- */

static void count_tried(struct meters *meters, const struct lanes_event *event)
{
    const struct str name = event->subscription->name;
    const double done = (double)(event->count - event->failed), failed = (double)event->failed;

    if (event->subscription->kind == SUBSCRIPTION_RELAY) {
        meters_add(meters, METRIC_PUBLISH_ATTEMPTS, &name, (double)event->count);
        meters_add(meters, METRIC_PUBLISH_FAILURES, &name, failed);
        return;
    }
    meters_add(meters, METRIC_CONSUME_EVENTS, (struct str[]){ name, STR("ack") }, done);
    meters_add(meters, METRIC_CONSUME_EVENTS, (struct str[]){ name, STR("nack") }, failed);
    meters_add(meters, METRIC_CONSUME_SECONDS, &name, seconds(event->took_us));
}

static void count(struct meters *meters, const struct lanes_event *event)
{
    const struct str name = event->subscription->name;
    const struct str kind = code_of(&SUBSCRIPTION_KIND_CODES, (int)event->subscription->kind);
    const bool is_saved = event->err == NULL;

    switch (event->kind) {
    case LANES_TRIED:
        count_tried(meters, event);
        return;
    case LANES_SAVED:
        meters_add(meters, METRIC_OFFSET_SAVES, &name, is_saved ? (double)event->count : 0);
        meters_add(meters, METRIC_OFFSET_SAVE_FAILURES, &name, is_saved ? 0 : (double)event->count);
        return;
    case LANES_PUT_OFF:
        meters_add(meters, METRIC_RETRY_DELAY, (struct str[]){ name, kind },
                   seconds(event->delay_us));
        return;
    }
}

/* ---- logged ---- */

enum { KEY_MAX = 512 };

/* As a message on a bus has it. */
static struct str key_of(const struct stream_event *event, char text[KEY_MAX])
{
    const struct stored_event *stored = &event->stored;

    if (event->record_id != 0)
        (void)snprintf(text, KEY_MAX, "%.*s/%.*s/%.*s", STR_ARG(stored->source),
                       STR_ARG(stored->endpoint), STR_ARG(stored->provider_id));
    else
        (void)snprintf(text, KEY_MAX, "%.*s/%.*s", STR_ARG(stored->aggregate_type),
                       STR_ARG(stored->aggregate_id));
    return str_of(text);
}

static void write_line(struct log *log, const struct lanes_event *event)
{
    const bool is_tried = event->kind == LANES_TRIED, ok = event->err == NULL;
    const char *what = is_tried ? (ok ? "events delivered" : "events not delivered")
                                : (ok ? "offsets saved" : "offsets not saved");
    char key[KEY_MAX];

    /* What cannot be delivered is told by the reader itself, once (relay.c, lanes_parked.c). */
    log_event(log, ok || is_tried ? LOG_DEBUG : LOG_WARN, what,
              LOG_STR("group", event->subscription->name),
              LOG_STR("eventId", event->first->stored.event.event_id),
              LOG_STR("orderingKey", key_of(event->first, key)),
              LOG_I64("lane", event->first->lane), LOG_I64("position", event->first->pos),
              LOG_I64(is_tried ? "events" : "lanes", event->count),
              LOG_I64("failed", event->failed), LOG_I64("lag_ms", event->lag_us / 1000),
              LOG_I64("took_us", event->took_us), LOG_STR("updatedBy", event->owner),
              LOG_STR("code", ok ? STR("") : str_of(event->err->code)),
              LOG_STR("error", ok ? STR("") : str_of(event->err->text)));
}

/* ---- traced ---- */

static void trace(const struct lane_watch_parts *parts, const struct lanes_event *event)
{
    const struct subscription *subscription = event->subscription;
    const bool is_relay = subscription->kind == SUBSCRIPTION_RELAY;
    struct span span = { .kind = is_relay ? SPAN_PRODUCER : SPAN_CONSUMER,
                         .begin_us = event->now_us - event->took_us,
                         .end_us = event->now_us };
    char key[KEY_MAX];

    if (parts->tracer == NULL)
        return;
    span_trace_set(&span.context, random_source_u64(parts->random),
                   random_source_u64(parts->random));
    span_id_set(span.context.span, random_source_u64(parts->random));
    span_name(&span, "%s %.*s", is_relay ? "publish" : "consume", STR_ARG(subscription->name));
    span_str(&span, "messaging.system", STR("patra"));
    span_str(&span, "messaging.destination.name", subscription->name);
    span_i64(&span, "messaging.batch.message_count", event->count);
    span_i64(&span, "patra.failed", event->failed);
    span_str(&span, "messaging.message.id", event->first->stored.event.event_id);
    span_str(&span, "patra.ordering_key", key_of(event->first, key));
    span_i64(&span, "patra.lane", event->first->lane);
    span_i64(&span, "patra.position", event->first->pos);
    span_i64(&span, "patra.run_id", event->first->stored.lineage.run_id);
    if (event->err != NULL) {
        span_str(&span, "error.level", str_of(error_level_name(event->err->level)));
        span_str(&span, "error.type", str_of(event->err->code));
    }
    if (event->err != NULL || event->failed > 0)
        span_fail(&span, event->err != NULL ? str_of(event->err->text) : STR("not taken"));
    tracer_add(parts->tracer, &span);
}

static void see(struct lanes_watch *watch, const struct lanes_event *event)
{
    const struct lane_watch_parts *parts = &((const struct lane_watch *)watch)->parts;

    count(parts->meters, event);
    if (event->kind != LANES_PUT_OFF)
        write_line(parts->log, event);
    if (event->kind == LANES_TRIED)
        trace(parts, event);
}

struct lanes_watch *lane_watch_init(struct lane_watch *watch, const struct lane_watch_parts *parts)
{
    *watch = (struct lane_watch){ .watch = { see }, .parts = *parts };
    return &watch->watch;
}
