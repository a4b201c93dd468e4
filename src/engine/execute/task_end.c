/* The end of a run and its task: as rows, in one transaction; then what follows from it for its
 * partition, for those who watch, for the cursor and for re-slicing. */
#include "engine/execute/executor_internal.h"

#include <inttypes.h>

#include "core/limits.h"
#include "engine/cursor/cursor_advance.h"
#include "engine/cursor/cursor_feed.h"
#include "port/store_pause.h"
#include "port/store_signal.h"

/* ---- the run ---- */

static enum run_status run_status_of(const struct task_run *run, const struct ending *ending)
{
    if (ending->kind == ENDING_LATER)
        return run->batches > 0 ? RUN_PARTIAL : ending->is_outage ? RUN_FAILED : RUN_CANCELLED;
    switch (ending->status) {
    case TASK_SUCCEEDED:
        return RUN_SUCCEEDED;
    case TASK_PARTIAL:
        return RUN_PARTIAL;
    case TASK_CANCELLED:
        return RUN_CANCELLED;
    default:
        return RUN_FAILED;
    }
}

/* A success has a text too, but no error. */
static struct str error_of(const struct ending *ending)
{
    if (ending->kind == ENDING_FINAL && ending->status == TASK_SUCCEEDED)
        return (struct str){ 0 };
    return str_of(ending->text);
}

/* The stats at the end; they already include the batches. */
static bool close_stats(struct task_run *run, const struct ending *ending, struct error *err)
{
    struct run_stats stats = run->commit.stats;
    struct json_writer writer;
    struct buf out;

    stats.needs_reslice = ending->needs_reslice;
    stats.is_circuit_open = run->is_circuit_open;
    buf_init(&out, &run->executor->arena, PAGE_BYTES_MAX);
    json_writer_init(&writer, &out);
    run_stats_write(&stats, &writer);
    json_writer_finish(&writer);
    run->run.stats = buf_str(&out);
    return buf_ok(&out, err);
}

static bool save_run(struct task_run *run, const struct ending *ending, int64_t now_us, bool *saved,
                     struct error *err)
{
    const bool is_cut_short = ending->kind == ENDING_LATER && run->batches > 0;

    run->run.status = run_status_of(run, ending);
    run->run.has_reason = is_cut_short || ending->has_reason;
    run->run.reason = is_cut_short ? PARTIAL_CUT_SHORT : ending->reason;
    run->run.error = error_of(ending);
    run->run.finished_us = now_us;
    return close_stats(run, ending, err) &&
           store_run_save(run->executor->parts.store, &run->run, now_us, saved, err);
}

/* ---- the task ---- */

static enum slice_status slice_status_of(enum task_status status)
{
    return status == TASK_SUCCEEDED   ? SLICE_SUCCEEDED
           : status == TASK_PARTIAL   ? SLICE_PARTIAL
           : status == TASK_CANCELLED ? SLICE_CANCELLED
                                      : SLICE_FAILED;
}

static struct window remaining_of(struct window window, struct window covered)
{
    if (!window_is_valid(covered))
        return window;
    if (covered.from_us == window.from_us)
        return (struct window){ covered.to_us, window.to_us };
    return (struct window){ window.from_us, covered.from_us };
}

static bool add_ticket(struct task_run *run, const struct ending *ending, int64_t now_us,
                       struct error *err)
{
    const struct slice *slice = &run->assignment.slice;
    struct reslice_ticket ticket = { .task_id = run->task->id,
                                     .slice_id = run->task->slice_id,
                                     .reason = ending->reslice,
                                     .created_us = now_us };
    char detail[128];
    bool added;

    if (slice->dimension == SLICE_TIME)
        ticket.remaining = remaining_of(slice->window, ending->covered);
    snprintf(detail, sizeof(detail), "{\"finishedPage\":%" PRId64 ",\"total\":%" PRId64 "}",
             run->next_page, run->verdict.has_total ? run->verdict.total : 0);
    ticket.detail = str_of(detail);
    return store_reslice_add(run->executor->parts.store, &ticket, &added, err);
}

static bool stop_source(struct task_run *run, const struct ending *ending, int64_t now_us,
                        struct error *err)
{
    const struct pause stop = { .source = run->task->source,
                                .kind = PAUSE_STOPPED,
                                .reason = str_of(ending->text),
                                .created_by = run->executor->settings.owner,
                                .created_us = now_us };
    bool added;

    return store_pause_add(run->executor->parts.store, &stop, &added, err);
}

/* Records chosen by id that were not fetched: their signals are opened again. Holes were signalled
 * by their batch, and what is re-sliced is fetched by its children. */
static bool give_signals_back(struct task_run *run, const struct ending *ending, int64_t now_us,
                              struct error *err)
{
    const struct assignment *a = &run->assignment;
    const bool is_done = ending->status == TASK_SUCCEEDED ||
                         (ending->status == TASK_PARTIAL && ending->reason == PARTIAL_HOLES);
    int64_t added;

    if (is_done || ending->needs_reslice || a->slice.dimension != SLICE_ID || a->id_count == 0)
        return true;
    return store_signal_repeat(run->executor->parts.store,
                               &(struct signal_repeat){ .plan_id = run->task->plan_id,
                                                        .provider_ids = a->ids,
                                                        .count = a->id_count,
                                                        .now_us = now_us },
                               &added, err);
}

/* A walk that ended for good adds to what its family has spent. Only the first walk of a family saw
 * all of its pages; the pages of the others count when they were enough. */
static bool spend(struct task_run *run, const struct ending *ending, struct error *err)
{
    const int64_t root_id = run->assignment.family.root_id;
    const struct fetch_spending *spending = &run->spending;
    const bool is_root = root_id == run->task->slice_id;
    const bool is_done = ending->status == TASK_SUCCEEDED || window_is_valid(ending->covered);

    if (root_id == 0 || spending->requests == 0)
        return true;
    return store_slice_spend(run->executor->parts.store,
                             &(struct slice_spending){ .root_id = root_id,
                                                       .requests = spending->requests,
                                                       .needed = is_root ? spending->needed : 0,
                                                       .done = is_done ? spending->seen : 0 },
                             err);
}

static bool finish(struct task_run *run, const struct ending *ending, int64_t now_us, bool *held,
                   struct error *err)
{
    struct store *store = run->executor->parts.store;
    const struct task_end end = {
        .lease = run->lease,
        .status = ending->status,
        .has_reason = ending->has_reason,
        .reason = ending->reason,
        .covered = ending->covered,
        .error = error_of(ending),
        .now_us = now_us,
    };

    if (!store_lease_finish(store, &end, held, err))
        return false;
    if (!*held)
        return true;
    return store_slice_move(store, run->task->slice_id, slice_status_of(ending->status), now_us,
                            err) &&
           spend(run, ending, err) &&
           (!ending->needs_reslice || add_ticket(run, ending, now_us, err)) &&
           give_signals_back(run, ending, now_us, err) &&
           (!ending->is_stop || stop_source(run, ending, now_us, err));
}

/* ---- both, in one transaction ---- */

bool task_end(struct task_run *run, const struct ending *ending, bool *held, struct error *err)
{
    struct store *store = run->executor->parts.store;
    const int64_t now_us = executor_now_us(run->executor);
    bool saved, ok;

    *held = true;
    if (!store_begin(store, err))
        return false;
    if (ending->kind == ENDING_LATER)
        ok = store_lease_release(store,
                                 &(struct lease_release){ .lease = run->lease,
                                                          .scheduled_us = ending->retry_at_us,
                                                          .reason = str_of(ending->text),
                                                          .now_us = now_us },
                                 held, err);
    else
        ok = finish(run, ending, now_us, held, err);
    if (!*held) {
        store_rollback(store);
        return true;
    }
    if (ok && (run->run.id == 0 || save_run(run, ending, now_us, &saved, err)) &&
        store_commit(store, err))
        return true;
    store_rollback(store);
    return error_wrap(err, "end task %" PRId64, run->task->id);
}

/* ---- what it means for others ---- */

void task_note_outage(struct task_run *run, const struct ending *ending)
{
    struct executor *executor = run->executor;
    const struct task_partition partition = task_partition_of(run->task);

    if (!ending->is_outage)
        return;
    run->is_circuit_open = partitions_note(
        executor->parts.partitions, &partition,
        &(struct health_sample){ .now_us = executor_now_us(executor),
                                 .is_failure = true,
                                 .random = random_source_u64(executor->parts.random) });
}

/* A task without a place in line (WAIT_RATE) does not stop others. */
static bool is_silence(const struct ending *ending)
{
    return ending->kind == ENDING_LATER && !ending->is_outage &&
           (ending->retry_reason == WAIT_RETRY_AFTER || ending->retry_reason == WAIT_QUOTA);
}

static void report_end(struct task_run *run, const struct ending *ending)
{
    struct executor *executor = run->executor;
    const struct task_partition partition = task_partition_of(run->task);

    if (is_silence(ending))
        partitions_note_rest(executor->parts.partitions, &partition,
                             &(struct partition_rest){ .until_us = ending->retry_at_us,
                                                       .reason = ending->retry_reason });
    executor_report(executor, &(struct executor_event){ .kind = EXECUTOR_ENDED,
                                                        .task = run->task,
                                                        .run_id = run->run.id,
                                                        .ending = ending });
}

static void report_not_moved(const struct task_run *run, const struct error *err)
{
    log_event(run->executor->parts.log, LOG_WARN, "cursor not moved",
              LOG_STR("source", run->task->source), LOG_STR("error", str_of(err->text)));
}

static void report_cursor(const struct task_run *run, const struct cursor_advance_result *moved)
{
    if (moved->has_cursor)
        executor_report(run->executor, &(struct executor_event){ .kind = EXECUTOR_CURSOR,
                                                                 .task = run->task,
                                                                 .run_id = run->run.id,
                                                                 .cursor = moved });
}

static void follow_feed(struct task_run *run)
{
    struct executor *executor = run->executor;
    const struct cursor_feed_request request = {
        .of = cursor_advance_of(run->task, run->run.id, 0).of,
        .type = run->assignment.slice.feed.type,
        .now_us = executor_now_us(executor),
    };
    struct cursor_advance_result moved;
    struct error err;

    if (cursor_feed_advance(executor->parts.store, &executor->batch, &request, &moved, &err))
        report_cursor(run, &moved);
    else
        report_not_moved(run, &err);
}

/* A failure here is made up by the next trigger, which moves the cursor and plans what is missing.
 */
static void follow_up(struct task_run *run, const struct ending *ending)
{
    struct executor *executor = run->executor;
    struct cursor_advance_request request;
    struct cursor_advance_result moved;
    struct error err;

    if (ending->kind != ENDING_FINAL || run->assignment.spec == NULL)
        return; /* how far its source looks back is unknown */
    arena_reset(&executor->batch);
    if (run->assignment.slice.dimension == SLICE_FEED) {
        follow_feed(run);
        return;
    }
    request = cursor_advance_of(run->task, run->run.id, executor_now_us(executor));
    request.of.late_us = spec_late_us(run->assignment.spec);
    request.sharing =
        (struct cursor_sharing){ .with = run->assignment.spec->operation.shares_with,
                                 .count = run->assignment.spec->operation.shares_with_count };
    request.lineage.batch_id = run->batch_id;
    request.batch_no = run->batch_no;
    request.observed_max = run->run.observed_max;
    if (cursor_advance(executor->parts.store, &executor->batch, &request, &moved, &err))
        report_cursor(run, &moved);
    else
        report_not_moved(run, &err);
    if (ending->needs_reslice)
        (void)!executor_keep_house(executor, (struct executor_chores){ .tickets = true }, &err);
}

void task_after(struct task_run *run, const struct ending *ending)
{
    report_end(run, ending);
    follow_up(run, ending);
}
