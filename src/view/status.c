/* Status: gathered from the store, source by source. */
#include "view/status.h"

#include "base/instant.h"
#include "base/list.h"
#include "engine/source/source_store.h"
#include "port/store_registry.h"
#include "port/store_run.h"
#include "view/alert.h"
#include "view/signals.h"

#define SINCE_US US_PER_DAY

enum { RUNNING_MAX = 100, TROUBLES_MAX = 100, PUT_OFF_MAX = 500 };

static bool gather_put_off(const struct view_reader *reader, struct view_source_status *source,
                           int64_t now_us, struct error *err)
{
    struct task_list tasks;

    source->put_off = ARENA_ARRAY(reader->arena, struct view_put_off, source->counts.count + 1);
    if (source->put_off == NULL)
        return arena_error(reader->arena, err);
    for (size_t i = 0; i < source->counts.count; i++) {
        const struct partition_count *count = &source->counts.items[i];

        if (count->queued == 0)
            continue;
        if (!store_task_put_off(reader->store, reader->arena, &count->partition, now_us,
                                PUT_OFF_MAX, &tasks, err))
            return false;
        if (tasks.count > 0)
            source->put_off[i] =
                (struct view_put_off){ (int64_t)tasks.count, tasks.items[0].scheduled_us,
                                       tasks.items[0].last_error };
    }
    return true;
}

static bool gather_running(const struct view_reader *reader, struct view_source_status *source,
                           struct error *err)
{
    struct task_list tasks;

    if (!store_status_running(reader->store, reader->arena, source->code, RUNNING_MAX, &tasks, err))
        return false;
    for (size_t i = 0; i < tasks.count; i++) {
        struct view_running *running = LIST_ADD(reader->arena, &source->running);
        struct run_list runs;
        struct batch batch;
        bool has_batch;

        if (running == NULL)
            return arena_error(reader->arena, err);
        running->task = tasks.items[i];
        if (!store_run_list(reader->store, reader->arena, running->task.id, &runs, err) ||
            !store_batch_last(reader->store, reader->arena, running->task.id, &batch, &has_batch,
                              err))
            return false;
        if (runs.count > 0 && runs.items[runs.count - 1].finished_us == 0)
            running->started_us = runs.items[runs.count - 1].started_us;
        if (has_batch)
            running->batch_us = batch.created_us;
    }
    return true;
}

static bool gather_doubts(const struct view_reader *reader, struct view_source_status *source,
                          int64_t since_us, struct error *err)
{
    struct doubted_runs_list runs;

    if (!store_status_doubted(reader->store, reader->arena, source->code, since_us, &runs, err))
        return false;
    view_doubts_sum(&runs, source->doubts);
    return true;
}

static bool gather_schedules(const struct view_reader *reader, struct view_source_status *source,
                             int64_t now_us, struct error *err)
{
    struct source rows;

    if (!source_load(reader->store, reader->arena, source->code, reader->now_us, &rows, err))
        return false;
    source->is_disabled = !schedule_is_enabled(&rows);
    return schedule_view(reader->store, reader->arena, &rows, now_us, &source->schedules, err);
}

static bool gather_source(const struct view_reader *reader, struct view_status *status,
                          struct str code, struct error *err)
{
    struct store *store = reader->store;
    struct arena *arena = reader->arena;
    const struct trouble_filter troubles = {
        .source = code, .since_us = status->since_us, .with_held = true, .limit = TROUBLES_MAX
    };
    const struct view_cursor_filter cursors = { .source = code, .without_former = true };
    struct view_source_status *source = LIST_ADD(arena, &status->sources);

    if (source == NULL)
        return arena_error(arena, err);
    source->code = code;
    return (store_record_count_live(store, code, &source->records, err) &&
            store_status_counts(store, arena, code, status->since_us, &source->counts, err) &&
            gather_put_off(reader, source, status->now_us, err) &&
            view_cursor_list(reader, &cursors, &source->cursors, err) &&
            store_pause_list(store, arena, code, &source->pauses, err) &&
            gather_running(reader, source, err) &&
            trouble_list(store, arena, &troubles, &source->troubles, err) &&
            gather_doubts(reader, source, status->since_us, err) &&
            store_status_open(store, code, &source->open, err) &&
            (source->open.signals == 0 ||
             view_signals_are_taken(reader, code, &source->takes_signals, err)) &&
            store_quarantine_sums(store, arena, code, &source->quarantine, err) &&
            gather_schedules(reader, source, status->now_us, err) &&
            view_status_behind(reader, source, status->now_us, err)) ||
           error_wrap(err, "status of %.*s", STR_ARG(code));
}

static bool gather_all(const struct view_reader *reader, struct view_status *status,
                       struct error *err)
{
    struct registry_entry_list entries;

    if (!store_registry_list(reader->store, reader->arena, reader->now_us, &entries, err))
        return false;
    for (size_t i = 0; i < entries.count; i++) {
        if (!gather_source(reader, status, entries.items[i].code, err))
            return false;
    }
    return true;
}

static bool gather_gates(const struct view_reader *reader, struct view_status *status,
                         bool with_unconfigured, struct error *err)
{
    struct str *codes = ARENA_ARRAY(reader->arena, struct str, status->sources.count + 1);

    if (codes == NULL)
        return arena_error(reader->arena, err);
    for (size_t i = 0; i < status->sources.count; i++)
        codes[i] = status->sources.items[i].code;
    return view_gate_list(reader,
                          &(struct view_gate_filter){ .sources = codes,
                                                      .source_count = status->sources.count,
                                                      .with_unconfigured = with_unconfigured,
                                                      .now_us = status->now_us },
                          &status->gates, err);
}

static bool gather_subscriptions(const struct view_reader *reader, struct view_status *status,
                                 struct error *err)
{
    struct view_outbox outbox;

    if (!view_outbox(reader, &outbox, err))
        return false;
    status->subscriptions = outbox.subscriptions;
    return true;
}

bool view_status(const struct view_reader *reader, const struct view_status_filter *filter,
                 struct view_status *status, struct error *err)
{
    const struct str source = filter->source;

    *status = (struct view_status){ 0 };
    if (!store_clock(reader->store, reader->now_us, &status->now_us, err) ||
        !store_time_look(reader->store, reader->clock, &status->time, err))
        return false;
    status->since_us = status->now_us - SINCE_US;
    if (!view_alert_limits(reader, &status->limits, err))
        return false;
    if (source.len > 0
            ? !view_source_check(reader, source, err) || !gather_source(reader, status, source, err)
            : !gather_all(reader, status, err))
        return false;
    return gather_gates(reader, status, source.len == 0, err) &&
           (source.len > 0 || gather_subscriptions(reader, status, err)) &&
           view_status_judge(status, reader->arena, err);
}
