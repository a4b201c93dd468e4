/* Events of executors, counted. */
#include "worker/meters.h"

#include "base/instant.h"
#include "core/codes.h"
#include "engine/cursor/cursor_advance.h"
#include "worker/meter_table.h"

struct labels {
    struct str items[3];
};

static struct labels labels_of(const struct task *task)
{
    return (struct labels){ { task->source, task->endpoint,
                              code_of(&OPERATION_CODES, (int)task->operation) } };
}

static void add_more(struct meters *meters, enum worker_metric metric, const struct labels *of,
                     struct str more, int64_t amount)
{
    if (amount > 0)
        meters_add(meters, metric, (struct str[]){ of->items[0], of->items[1], of->items[2], more },
                   (double)amount);
}

static void add(struct meters *meters, enum worker_metric metric, const struct labels *of,
                int64_t amount)
{
    if (amount > 0)
        meters_add(meters, metric, of->items, (double)amount);
}

static void heal(struct meters *meters, struct str type, int64_t times)
{
    if (times > 0)
        meters_add(meters, METRIC_HEALED, &type, (double)times);
}

/* ---- batches ---- */

static void count_requests(struct meters *meters, const struct labels *of,
                           const struct fetch_counts *counts)
{
    add(meters, METRIC_THROTTLED, of, counts->throttled);
    add(meters, METRIC_RETRIES, of, counts->retries);
    heal(meters, STR("qpsDownshift"), counts->slowed);
    add_more(meters, METRIC_DOWNGRADES, of, STR("pageSizeShrink"), counts->page_shrunk);
}

static void count_stored(struct meter_watch *mine, const struct labels *of,
                         const struct executor_event *event)
{
    const struct commit_result *commit = event->commit;
    const struct fetch_counts *counts = &event->batch->counts;
    const double took_us = (double)(event->now_us - mine->since_us);

    meters_add(mine->meters, METRIC_BATCHES, of->items, 1);
    add_more(mine->meters, METRIC_ITEMS, of, STR("insert"), commit->created);
    add_more(mine->meters, METRIC_ITEMS, of, STR("update"), commit->updated + commit->deleted);
    add_more(mine->meters, METRIC_ITEMS, of, STR("skip"), commit->unchanged + commit->older);
    add_more(mine->meters, METRIC_ITEMS, of, STR("quarantine"), commit->quarantined);
    meters_add(mine->meters, METRIC_BATCH_SIZE, of->items, (double)counts->items);
    meters_add(mine->meters, METRIC_BATCH_MS, of->items, took_us / 1000);
    meters_add(mine->meters, METRIC_BATCH_SECONDS, of->items, took_us / (double)US_PER_SECOND);
    if (counts->latency_us > 0) {
        meters_add(mine->meters, METRIC_HTTP_MS, of->items, (double)counts->latency_us / 1000);
        meters_add(mine->meters, METRIC_HTTP_SECONDS, of->items,
                   (double)counts->latency_us / (double)US_PER_SECOND);
    }
}

static void count_batch(struct meter_watch *mine, const struct executor_event *event)
{
    const struct labels of = labels_of(event->task);

    count_requests(mine->meters, &of, &event->batch->counts);
    if (event->err != NULL)
        meters_add(mine->meters, METRIC_ERRORS,
                   (struct str[]){ str_of(error_level_name(event->err->level)), of.items[0],
                                   of.items[1], of.items[2] },
                   1);
    else
        count_stored(mine, &of, event);
    mine->since_us = event->now_us;
}

/* ---- tasks ---- */

static void count_end(struct meter_watch *mine, const struct executor_event *event)
{
    const struct labels of = labels_of(event->task);
    const struct ending *ending = event->ending;

    heal(mine->meters, STR("reslice"), ending->needs_reslice);
    add_more(mine->meters, METRIC_DOWNGRADES, &of, STR("reslice"), ending->needs_reslice);
    if (ending->kind == ENDING_OVERTAKEN)
        meters_add(mine->meters, METRIC_LOST_LEASES, of.items, 1);
    if (ending->kind == ENDING_FINAL)
        add_more(mine->meters, METRIC_TASKS, &of, code_of(&TASK_STATUS_CODES, (int)ending->status),
                 1);
}

static void count_idle(struct meter_watch *mine, const struct executor_event *event)
{
    if (event->reason != WAIT_CIRCUIT || event->until_us <= mine->rest_us)
        return;
    mine->rest_us = event->until_us;
    heal(mine->meters, STR("circuitOpen"), 1);
}

static void count_cursor(struct meter_watch *mine, const struct executor_event *event)
{
    const struct cursor_advance_result *moved = event->cursor;
    const struct labels of = labels_of(event->task);
    const struct labels cursor = { { event->task->source, of.items[2], event->task->cursor_key } };
    const enum direction direction =
        event->task->operation == OPERATION_BACKFILL ? DIRECTION_BACKFILL : DIRECTION_FORWARD;
    const struct str word = code_of(&DIRECTION_CODES, (int)direction);

    if (moved->moved)
        meters_add(mine->meters, METRIC_CURSOR_MOVES, &word, 1);
    if (moved->distance_us > 0)
        meters_add(mine->meters, METRIC_CURSOR_DISTANCE, of.items,
                   (double)moved->distance_us / (double)US_PER_SECOND);
    add(mine->meters, METRIC_CURSOR_STAYED, &cursor, moved->no_forward);
    add(mine->meters, METRIC_CURSOR_CONFLICTS, &cursor, moved->conflicts);
    add(mine->meters, METRIC_CURSOR_COMPENSATED, &cursor, moved->compensated);
}

static void count_start(struct meter_watch *mine, const struct executor_event *event)
{
    const struct labels of = labels_of(event->task);
    const int64_t waited_us = event->now_us - event->task->scheduled_us;

    meters_add(mine->meters, METRIC_DEQUEUED, of.items, 1);
    meters_add(mine->meters, METRIC_QUEUE_SECONDS, of.items,
               waited_us > 0 ? (double)waited_us / (double)US_PER_SECOND : 0);
    mine->since_us = event->now_us;
}

static void see(struct executor_watch *watch, const struct executor_event *event)
{
    struct meter_watch *mine = (struct meter_watch *)watch;

    switch (event->kind) {
    case EXECUTOR_STARTED:
        count_start(mine, event);
        break;
    case EXECUTOR_CURSOR:
        count_cursor(mine, event);
        break;
    case EXECUTOR_BATCH:
        count_batch(mine, event);
        break;
    case EXECUTOR_ENDED:
        count_end(mine, event);
        break;
    case EXECUTOR_IDLE:
        count_idle(mine, event);
        break;
    case EXECUTOR_WAITING:
    case EXECUTOR_TROUBLE:
        break;
    }
    mine->next->see(mine->next, event);
}

struct executor_watch *meter_watch_init(struct meter_watch *watch, struct meters *meters,
                                        struct executor_watch *next)
{
    *watch = (struct meter_watch){ .watch = { see }, .next = next, .meters = meters };
    return &watch->watch;
}
