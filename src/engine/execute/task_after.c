/* What follows from the end of a task: for its partition, for those who watch, for the cursor, for
 * re-slicing. */
#include "engine/cursor/cursor_advance.h"
#include "engine/execute/executor_internal.h"

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
           (ending->why == WAIT_RETRY_AFTER || ending->why == WAIT_QUOTA);
}

static void report_end(struct task_run *run, const struct ending *ending)
{
    struct executor *executor = run->executor;
    const struct task_partition partition = task_partition_of(run->task);

    if (is_silence(ending))
        partitions_note_rest(executor->parts.partitions, &partition,
                             &(struct partition_rest){ ending->retry_at_us, ending->why });
    executor_report(executor, &(struct executor_event){ .kind = EXECUTOR_ENDED,
                                                        .task = run->task,
                                                        .run_id = run->run.id,
                                                        .ending = ending });
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
    request = cursor_advance_of(run->task, run->run.id, executor_now_us(executor));
    request.of.late_us = spec_late_us(run->assignment.spec);
    request.lineage.batch_id = run->batch_id;
    request.batch_no = run->batch_no;
    request.observed_max = (struct maybe_instant){ run->has_latest, run->latest_us };
    if (!cursor_advance(executor->parts.store, &executor->batch, &request, &moved, &err))
        log_event(executor->parts.log, LOG_WARN, "cursor not moved",
                  LOG_STR("source", run->task->source), LOG_STR("why", str_of(err.text)));
    if (ending->needs_reslice)
        (void)!executor_keep_house(executor, (struct executor_chores){ .tickets = true }, &err);
}

void task_after(struct task_run *run, const struct ending *ending)
{
    report_end(run, ending);
    follow_up(run, ending);
}
