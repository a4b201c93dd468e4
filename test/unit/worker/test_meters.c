/* What a process counts: the names that were asked for, with their labels, and what makes them
 * grow. The table is written by hand from what was asked for, not from the program's own. */
#include "worker/meters.h"

#include <string.h>

#include "engine/cursor/cursor_advance.h"
#include "test.h"
#include "worker/lane_watch.h"
#include "worker/meter_table.h"

#define T0 INT64_C(1767225600000000)

static const struct task task = { .id = 7,
                                  .plan_id = 2,
                                  .source = STR_INIT("crossref"),
                                  .endpoint = STR_INIT("works"),
                                  .cursor_key = STR_INIT("updated_at"),
                                  .operation = OPERATION_HARVEST,
                                  .scheduled_us = T0 - 4 * US_PER_SECOND };

static void ignore(struct executor_watch *watch, const struct executor_event *event)
{
    (void)watch;
    (void)event;
}

static struct executor_watch last = { ignore };

static void see(struct executor_watch *watch, struct executor_event event)
{
    event.task = &task;
    event.run_id = 9;
    event.now_us = event.now_us > 0 ? event.now_us : T0;
    watch->see(watch, &event);
}

/* A bit of everything that executors report. */
static void work(struct meters *meters)
{
    struct meter_watch meter_watch;
    struct executor_watch *watch = meter_watch_init(&meter_watch, meters, &last);
    const struct fetch_batch batch = { .batch_no = 1,
                                       .counts = { .items = 100,
                                                   .requests = 3,
                                                   .retries = 2,
                                                   .throttled = 1,
                                                   .slowed = 1,
                                                   .page_shrunk = true,
                                                   .latency_us = 20000 } };
    const struct commit_result commit = { .created = 60, .updated = 20, .unchanged = 20 };
    const struct error err = { .level = ERROR_REQUEST };
    const struct cursor_advance_result moved = {
        .moved = true, .distance_us = US_PER_HOUR, .no_forward = 1, .conflicts = 2, .compensated = 1
    };

    see(watch, (struct executor_event){ .kind = EXECUTOR_STARTED });
    see(watch, (struct executor_event){ .kind = EXECUTOR_BATCH,
                                        .batch = &batch,
                                        .commit = &commit,
                                        .now_us = T0 + US_PER_SECOND / 5 });
    see(watch, (struct executor_event){ .kind = EXECUTOR_BATCH, .batch = &batch, .err = &err });
    see(watch, (struct executor_event){
                   .kind = EXECUTOR_ENDED,
                   .ending = &(struct ending){ .kind = ENDING_FINAL, .needs_reslice = true } });
    see(watch, (struct executor_event){ .kind = EXECUTOR_ENDED,
                                        .ending = &(struct ending){ .kind = ENDING_OVERTAKEN } });
    see(watch, (struct executor_event){ .kind = EXECUTOR_CURSOR, .cursor = &moved });
    see(watch, (struct executor_event){
                   .kind = EXECUTOR_IDLE, .reason = WAIT_CIRCUIT, .until_us = T0 + US_PER_MINUTE });
}

/* ... and readers. */
static void read_stream(struct meters *meters, enum subscription_kind kind, const char *name)
{
    const struct subscription subscription = { .name = str_of(name), .kind = kind };
    const struct stream_event first = { .lane = 3, .pos = 8 };
    const struct error err = { .level = ERROR_TRANSIENT, .code = "store.lost" };
    struct lane_watch lane_watch;
    struct lanes_watch *watch =
        lane_watch_init(&lane_watch, &(struct lane_watch_parts){ .meters = meters });
    const struct lanes_event events[] = {
        { .kind = LANES_TRIED, .count = 10, .failed = 1, .took_us = 20000, .first = &first },
        { .kind = LANES_TRIED, .count = 4, .failed = 4, .err = &err, .first = &first },
        { .kind = LANES_SAVED, .count = 6, .lag_us = 5000, .first = &first },
        { .kind = LANES_SAVED, .count = 2, .err = &err, .first = &first },
        { .kind = LANES_PUT_OFF, .delay_us = 2 * US_PER_SECOND },
    };

    for (size_t i = 0; i < ARRAY_LEN(events); i++) {
        struct lanes_event event = events[i];

        event.subscription = &subscription;
        watch->see(watch, &event);
    }
}

/* Name, type, and one line that must be there. */
static const struct {
    const char *asked; /* where, and under which name */
    const char *name;
    const char *type;
    const char *line;
} ASKED[] = {
#define OF "{source=\"crossref\",endpoint=\"works\",op=\"HARVEST\""
#define CURSOR "{provenance=\"crossref\",operation=\"HARVEST\",cursor_key=\"updated_at\"}"
    { "004 14.4", "patra_ingest_batches_total", "counter", OF "} 1" },
    { "004 14.4", "patra_ingest_items_total", "counter", OF ",action=\"insert\"} 60" },
    { "004 14.4", "patra_ingest_items_total", "counter", OF ",action=\"update\"} 20" },
    { "004 14.4", "patra_ingest_items_total", "counter", OF ",action=\"skip\"} 20" },
    { "004 14.4", "patra_ingest_batch_latency_ms", "histogram", "_bucket" OF ",le=\"250\"} 1" },
    { "004 14.4", "patra_ingest_http_latency_ms", "histogram", "_bucket" OF ",le=\"25\"} 1" },
    { "004 14.4", "patra_ingest_errors_total", "counter",
      "{level=\"L2\",source=\"crossref\",endpoint=\"works\",op=\"HARVEST\"} 1" },
    { "004 14.4", "patra_ingest_429_total", "counter", OF "} 2" },
    { "004 14.4", "patra_ingest_retries_total", "counter", OF "} 4" },
    { "004 14.4", "patra_ingest_self_heal_events_total", "counter", "{type=\"qpsDownshift\"} 2" },
    { "004 14.4", "patra_ingest_self_heal_events_total", "counter", "{type=\"reslice\"} 1" },
    { "004 14.4", "patra_ingest_self_heal_events_total", "counter", "{type=\"circuitOpen\"} 1" },
    { "004 14.4", "patra_ingest_cursor_advance_events_total", "counter",
      "{direction=\"FORWARD\"} 1" },
    { "003 12 task_dequeue_count", "patra_ingest_task_dequeue_total", "counter", OF "} 1" },
    { "003 12 lease_acquire_latency", "patra_ingest_lease_acquire_latency_seconds", "histogram",
      "_sum" OF "} 4" },
    { "003 12 lease_conflict_count", "patra_ingest_lease_conflict_total", "counter", OF "} 1" },
    { "003 12 batch_latency", "patra_ingest_batch_latency_seconds", "histogram",
      "_bucket" OF ",le=\"0.25\"} 1" },
    { "003 12 batch_size", "patra_ingest_batch_records", "histogram", "_sum" OF "} 100" },
    { "003 12 cursor_forward_distance", "patra_ingest_cursor_forward_distance_seconds", "histogram",
      "_sum" OF "} 3600" },
    { "003 12 strategy_downgrade_events", "patra_ingest_strategy_downgrade_events_total", "counter",
      OF ",type=\"pageSizeShrink\"} 2" },
    { "003 12 strategy_downgrade_events", "patra_ingest_strategy_downgrade_events_total", "counter",
      OF ",type=\"reslice\"} 1" },
    { "000 7 cursor.no_forward.count", "patra_cursor_no_forward_total", "counter", CURSOR " 1" },
    { "000 7 cursor.cas.conflict.count", "patra_cursor_cas_conflict_total", "counter",
      CURSOR " 2" },
    { "000 5 cursor.token.compensate.count", "patra_cursor_token_compensate_total", "counter",
      CURSOR " 1" },
    { "002 6 publish_attempts", "patra_publish_attempts_total", "counter",
      "{subscription=\"bus\"} 14" },
    { "002 6 the share that failed", "patra_publish_failures_total", "counter",
      "{subscription=\"bus\"} 5" },
    { "002 6 the mean interval of retries", "patra_subscription_retry_delay_seconds", "histogram",
      "_sum{subscription=\"bus\",kind=\"RELAY\"} 2" },
    { "002 6 processing time", "patra_consume_processing_seconds", "histogram",
      "_bucket{subscription=\"rows\",le=\"0.025\"} 2" },
    { "002 6 the share of nacks", "patra_consume_events_total", "counter",
      "{subscription=\"rows\",outcome=\"ack\"} 9" },
    { "002 6 the share of nacks", "patra_consume_events_total", "counter",
      "{subscription=\"rows\",outcome=\"nack\"} 5" },
    { "002 6.6 offset_save_total", "patra_subscription_offset_save_total", "counter",
      "{subscription=\"rows\"} 6" },
    { "002 6.6 _failure_total", "patra_subscription_offset_save_failure_total", "counter",
      "{subscription=\"rows\"} 2" },
};

TEST(every_number_that_was_asked_for_is_counted_under_its_name)
{
    struct meters *meters;
    struct error err = { 0 };
    struct arena arena;
    struct buf out;
    char line[512];

    arena_init(&arena, 4 << 20);
    buf_init(&out, &arena, 1 << 20);
    REQUIRE_OK(worker_meters_open(&meters, &err), err);
    work(meters);
    read_stream(meters, SUBSCRIPTION_RELAY, "bus");
    read_stream(meters, SUBSCRIPTION_PROJECTION, "rows");
    meters_write(meters, &out);
    buf_add_char(&out, '\0');
    REQUIRE_OK(buf_ok(&out, &err), err);
    for (size_t i = 0; i < ARRAY_LEN(ASKED); i++) {
        (void)snprintf(line, sizeof(line), "# TYPE %s %s\n", ASKED[i].name, ASKED[i].type);
        CHECK(strstr(buf_str(&out).data, line) != NULL, ASKED[i].asked);
        (void)snprintf(line, sizeof(line), "\n%s%s\n", ASKED[i].name, ASKED[i].line);
        CHECK(strstr(buf_str(&out).data, line) != NULL, line);
    }
    meters_close(meters);
    arena_release(&arena);
}
