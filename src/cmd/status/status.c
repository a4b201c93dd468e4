#include "cmd/status/status.h"

#include "cli/session.h"
#include "cmd/signals.h"
#include "engine/source_store.h"
#include "port/store_rate.h"
#include "port/store_registry.h"
#include "port/store_run.h"

#define SINCE_US US_PER_DAY

enum { RUNNING_MAX = 100, TROUBLES_MAX = 100, QUEUE_LOOKED_AT = 500 };

/* ---- gathering ---- */

static bool gather_put_off(struct session *session, struct status_source *source, int64_t now_us,
                           struct error *err)
{
    struct arena *arena = &session->arena;
    struct task_list tasks;

    source->put_off = ARENA_ARRAY(arena, struct status_put_off, source->counts.count + 1);
    if (source->put_off == NULL)
        return arena_error(arena, err);
    for (size_t i = 0; i < source->counts.count; i++) {
        const struct partition_count *count = &source->counts.items[i];
        struct status_put_off *put_off = &source->put_off[i];

        if (count->queued > 0 && !store_task_live(session->store, arena, &count->partition, 0,
                                                  QUEUE_LOOKED_AT, &tasks, err))
            return false;
        for (size_t t = 0; count->queued > 0 && t < tasks.count; t++) {
            const struct task *task = &tasks.items[t];

            if (task->status != TASK_QUEUED || task->scheduled_us <= now_us ||
                task->last_error.len == 0)
                continue;
            if (put_off->count++ > 0 && put_off->until_us <= task->scheduled_us)
                continue;
            put_off->until_us = task->scheduled_us;
            put_off->why = task->last_error;
        }
    }
    return true;
}

static bool gather_running(struct session *session, struct status_source *source, struct error *err)
{
    struct store *store = session->store;
    struct arena *arena = &session->arena;
    struct task_list tasks;

    if (!store_status_running(store, arena, source->code, RUNNING_MAX, &tasks, err))
        return false;
    for (size_t i = 0; i < tasks.count; i++) {
        struct status_task *running = LIST_ADD(arena, &source->running);
        struct run_list runs;
        struct batch batch;
        bool has_batch;

        if (running == NULL)
            return arena_error(arena, err);
        running->task = tasks.items[i];
        if (!store_run_list(store, arena, running->task.id, &runs, err) ||
            !store_batch_last(store, arena, running->task.id, &batch, &has_batch, err))
            return false;
        if (runs.count > 0 && runs.items[runs.count - 1].finished_us == 0)
            running->started_us = runs.items[runs.count - 1].started_us;
        if (has_batch)
            running->batch_us = batch.created_us;
    }
    return true;
}

static bool gather_cursors(struct session *session, struct status_source *source, struct error *err)
{
    struct arena *arena = &session->arena;
    struct cursor_list list;

    if (!store_cursor_list(session->store, arena, source->code, &list, err))
        return false;
    for (size_t i = 0; i < list.count; i++) {
        struct status_cursor *cursor = LIST_ADD(arena, &source->cursors);

        if (cursor == NULL)
            return arena_error(arena, err);
        cursor->cursor = list.items[i];
        if (!cursor_way(session->store, arena, &cursor->cursor, &cursor->way, err))
            return false;
    }
    return true;
}

static bool gather_schedules(struct session *session, struct status_source *source, int64_t now_us,
                             struct error *err)
{
    struct source rows;

    if (!source_load(session->store, &session->arena, source->code, clock_now_us(&session->clock),
                     &rows, err))
        return false;
    source->is_disabled = !schedule_is_enabled(&rows);
    return schedule_view(session->store, &session->arena, &rows, now_us, &source->schedules, err);
}

static bool gather_source(struct session *session, struct status *status, struct str code,
                          struct error *err)
{
    struct store *store = session->store;
    struct arena *arena = &session->arena;
    const struct trouble_ask ask = { .source = code,
                                     .since_us = status->since_us,
                                     .limit = TROUBLES_MAX };
    struct status_source *source = LIST_ADD(arena, &status->sources);

    if (source == NULL)
        return arena_error(arena, err);
    source->code = code;
    return (store_status_counts(store, arena, code, status->since_us, &source->counts, err) &&
            gather_put_off(session, source, status->now_us, err) &&
            gather_cursors(session, source, err) &&
            store_pause_list(store, arena, code, &source->pauses, err) &&
            gather_running(session, source, err) &&
            trouble_list(store, arena, &ask, &source->troubles, err) &&
            store_status_open(store, code, &source->open, err) &&
            (source->open.signals == 0 ||
             signals_are_taken(session, code, &source->takes_signals, err)) &&
            store_quarantine_sums(store, arena, code, &source->quarantine, err) &&
            gather_schedules(session, source, status->now_us, err)) ||
           error_wrap(err, "status of %.*s", STR_ARG(code));
}

static bool gather_all(struct session *session, struct status *status, struct error *err)
{
    struct registry_entry_list entries;

    if (!store_registry_list(session->store, &session->arena, clock_now_us(&session->clock),
                             &entries, err))
        return false;
    for (size_t i = 0; i < entries.count; i++) {
        if (!gather_source(session, status, entries.items[i].code, err))
            return false;
    }
    return true;
}

/* ---- the command ---- */

static bool show_status(const struct invocation *invocation, struct session *session,
                        enum exit_code *code, struct error *err)
{
    const struct str source =
        str_of(invocation->operand_count > 0 ? invocation->operands[0] : NULL);
    struct status status = { 0 };
    struct source rows;

    if (!store_clock(session->store, clock_now_us(&session->clock), &status.now_us, err))
        return false;
    status.since_us = status.now_us - SINCE_US;
    if (source.len > 0 ? !source_load(session->store, &session->arena, source,
                                      clock_now_us(&session->clock), &rows, err) ||
                             !gather_source(session, &status, source, err)
                       : !gather_all(session, &status, err))
        return false;
    if (!status_gather_gates(session, &status, source, err) ||
        !status_judge(&status, &session->arena, err))
        return false;
    *code = status.needs.count > 0 ? EXIT_FOUND : EXIT_DONE;
    if (invocation_flag(invocation, "json"))
        return status_print_json(&status, &session->arena, invocation->out, err);
    return status_print(&status, &session->arena, invocation->out, err);
}

static enum exit_code cmd_status(const struct invocation *invocation)
{
    return session_run(invocation, show_status);
}

const struct command COMMAND_STATUS = {
    .name = "status",
    .summary = "how things stand: queue, cursors, failures, and what needs a person",
    .operands = "[SOURCE]",
    .operands_max = 1,
    .description =
        "Shows for each source what waits, runs and ended in the last 24 hours, how far its\n"
        "cursors are, when its schedules fire next, what is paused or stopped, why and what\n"
        "lifts it, and what is in quarantine; then the rate gates: the rate learned of that\n"
        "configured, permits at hand, until when and why nothing is sent, and the quota. The\n"
        "end tells what needs a person and what to do; then the exit code is 1.",
    .options = { { "json", NULL, "JSON instead of a text." }, SESSION_OPTION },
    .run = cmd_status,
};
