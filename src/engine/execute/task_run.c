/* One task, from its lease to its end:
 *
 *      begin ── load ── [ look around ── fetch ── commit ]* ── end ── cursor
 *
 * A failure becomes an ending (ending.h), and the ending becomes rows (task_end.c). Every step
 * waits for a store that is out of reach (engine/session/store_retry.h); the next transaction
 * finds out whether the lease is still held.
 */
#include "engine/execute/executor_internal.h"

#include <inttypes.h>
#include <stdio.h>

#include "core/limits.h"
#include "engine/source/retry_policy.h"

/* How often a run checks whether it was paused or cancelled. */
#define CONTROL_US US_PER_SECOND

/* ---- beginning ---- */

/* Runs of this task that were never ended: their process died or was overtaken. */
static bool close_orphans(struct task_run *run, int64_t now_us, struct error *err)
{
    struct executor *executor = run->executor;
    struct run_list runs;
    bool saved;

    if (!store_run_list(executor->parts.store, &executor->arena, run->task->id, &runs, err))
        return false;
    for (size_t i = 0; i < runs.count; i++) {
        struct run *old = &runs.items[i];

        if (old->status != RUN_RUNNING)
            continue;
        old->status = old->checkpoint.len > 0 ? RUN_PARTIAL : RUN_CANCELLED;
        old->has_reason = old->status == RUN_PARTIAL;
        old->reason = PARTIAL_CUT_SHORT;
        old->error = STR("its lease ran out");
        old->finished_us = now_us;
        if (!store_run_save(executor->parts.store, old, now_us, &saved, err))
            return false;
    }
    return true;
}

static bool begin_once(struct task_run *run, bool *held, struct error *err)
{
    struct store *store = run->executor->parts.store;
    const int64_t now_us = executor_now_us(run->executor);

    run->run = (struct run){ .task_id = run->task->id,
                             .source = run->task->source,
                             .operation = run->task->operation,
                             .lease_owner = run->executor->settings.owner,
                             .lease_epoch = run->lease.epoch,
                             .status = RUN_RUNNING,
                             .window = run->task->window,
                             .stats = STR("{}"),
                             .started_us = now_us };
    if (!store_begin(store, err))
        return false;
    if (!store_lease_start(store, run->lease, now_us, held, err))
        goto rollback;
    if (!*held) {
        store_rollback(store);
        return true;
    }
    if (!close_orphans(run, now_us, err) || !store_run_add(store, &run->run, err) ||
        !store_commit(store, err))
        goto rollback;
    return true;
rollback:
    store_rollback(store);
    run->run.id = 0;
    return error_wrap(err, "begin task %" PRId64, run->task->id);
}

static bool begin(struct task_run *run, bool *held, struct error *err)
{
    struct store_retry retry = executor_retry(run->executor);

    while (!begin_once(run, held, err)) {
        if (!executor_retry_wait(run->executor, &retry, err))
            return false;
    }
    return true;
}

static bool load(struct task_run *run, struct error *err)
{
    struct executor *executor = run->executor;
    const struct assignment_parts parts = { executor->parts.store, executor->parts.specs,
                                            &executor->arena };
    struct store_retry retry = executor_retry(executor);

    while (!assignment_load(&parts, run->task, &run->assignment, err)) {
        if (!executor_retry_wait(executor, &retry, err))
            return false;
        assignment_release(&run->assignment);
    }
    return true;
}

/* ---- the walk's order ---- */

/* W3C trace context: one trace per run. */
static void make_traceparent(struct task_run *run)
{
    struct random_source *random = run->executor->parts.random;

    snprintf(run->traceparent, sizeof(run->traceparent),
             "00-%016" PRIx64 "%016" PRIx64 "-%016" PRIx64 "-01", random_source_u64(random) | 1,
             random_source_u64(random), random_source_u64(random) | 1);
}

static struct fetch_order order_of(struct task_run *run)
{
    const struct assignment *a = &run->assignment;

    return (struct fetch_order){
        .spec = a->spec,
        .slice = &a->slice,
        .plan_id = arena_printf(&run->executor->arena, "%" PRId64, run->task->plan_id),
        .run_id = run->run.id,
        .batch_no = 1,
        .checkpoint = a->checkpoint,
        .ids = a->ids,
        .id_count = a->id_count,
        .can_reslice = a->can_reslice || a->can_reslice_ids,
        .by_ids = a->can_reslice_ids && !a->can_reslice,
        .family = a->family.budget,
        .requests_max = a->limits.requests_max,
        .batch_records = run->executor->settings.batch_records,
        .records_max = a->spec->operation.budget_records,
        .duration_max_us = a->limits.duration_max_us,
        .wait_max_us = run->executor->settings.lease_us / 3,
        .traceparent = str_of(run->traceparent),
    };
}

static void begin_gate(struct task_run *run)
{
    struct executor *executor = run->executor;

    gate_begin(executor->gate,
               &(struct gate_task){ .source = run->task->source,
                                    .operation = run->task->operation,
                                    .wait_max_us = executor->settings.lease_us / 3 });
    lease_gate_init(run, gate_port(executor->gate));
}

static bool open_walk(struct task_run *run, struct fetch **fetch, struct error *err)
{
    const struct executor_parts *parts = &run->executor->parts;
    const struct fetch_order order = order_of(run);

    run->commit =
        (struct commit_context){ .store = parts->store,
                                 .random = parts->random,
                                 .lease = run->lease,
                                 .lease_us = run->executor->settings.lease_us,
                                 .task = run->task,
                                 .run = &run->run,
                                 .endpoint = run->assignment.endpoint,
                                 .expr_proto_hash = run->assignment.plan.expr_proto_hash,
                                 .is_by_id = run->assignment.slice.dimension == SLICE_ID,
                                 .late_before = run->assignment.late_before,
                                 .arena = &run->executor->batch,
                                 .pack = parts->packer_open != NULL ? &run->executor->pack : NULL };
    begin_gate(run);
    return fetch_open(fetch,
                      &(struct fetch_parts){ .http = parts->http,
                                             .gate = &run->lease_gate.gate,
                                             .waiter = &run->waiter.waiter,
                                             .watch = &run->watch.watch,
                                             .clock = parts->clock,
                                             .random = parts->random,
                                             .secrets = parts->secrets,
                                             .xml = parts->xml,
                                             .wake_fd = parts->wake_fd },
                      &order, err);
}

/* ---- what is decided on the way ---- */

/* Whether pieces of the slice may still be walked. */
static bool is_over_budget(const struct task_run *run)
{
    struct walk_budget budget = run->assignment.family.budget;

    budget.requests += run->spending.requests;
    if (run->spending.needed > budget.needed)
        budget.needed = run->spending.needed;
    return walk_budget_is_used_up(budget);
}

static struct ending_input ending_input_of(struct task_run *run, int64_t retry_at_us,
                                           enum wait_reason reason)
{
    return (struct ending_input){
        .slice = &run->assignment.slice,
        .retry = &run->retry,
        .can_reslice = run->assignment.can_reslice,
        .is_over_budget = is_over_budget(run),
        .batches = run->batches,
        .failed_again = run->failed_again,
        .idle_runs = run->assignment.idle_runs,
        .runs = run->run.attempt,
        .retry_at_us = retry_at_us,
        .retry_reason = reason,
        .now_us = executor_now_us(run->executor),
        .random = random_source_u64(run->executor->parts.random),
    };
}

static bool must_stop(struct executor *executor)
{
    struct clock *clock = executor->parts.clock;

    return executor->parts.wake_fd != CLOCK_NO_WAKE &&
           !clock_sleep_until_us(clock, clock_monotonic_us(clock), executor->parts.wake_fd);
}

/* Whether a person has cancelled the task or its plan. */
static bool is_cancelled(struct task_run *run, struct ending *ending)
{
    struct executor *executor = run->executor;
    struct error ignored;
    struct task task;
    struct plan plan;
    bool found;

    if (store_task_get(executor->parts.store, &executor->batch, run->task->id, &task, &found,
                       &ignored) &&
        found && task.is_cancelled) {
        *ending = ending_task_cancelled(task.cancel_reason);
        return true;
    }
    if (store_plan_get(executor->parts.store, &executor->batch, run->task->plan_id, &plan, &found,
                       &ignored) &&
        found && plan.status == PLAN_CANCELLED) {
        *ending = ending_plan_cancelled();
        return true;
    }
    return false;
}

/* Between two batches: whether to continue. When the store fails, the next check decides. */
static bool look_around(struct task_run *run, struct ending *ending)
{
    struct executor *executor = run->executor;
    const int64_t monotonic_us = clock_monotonic_us(executor->parts.clock);
    const struct ending_input input = ending_input_of(run, 0, WAIT_BACKOFF);
    struct pause_list pauses;
    struct error ignored;

    if (must_stop(executor)) {
        *ending = ending_stopped(&input);
        return false;
    }
    if (monotonic_us < run->control_us)
        return true;
    run->control_us = monotonic_us + CONTROL_US;
    (void)!executor_sync(executor, &ignored);
    arena_reset(&executor->batch);
    if (store_pause_list(executor->parts.store, &executor->batch, run->task->source, &pauses,
                         &ignored) &&
        pause_list_has(&pauses, run->task->source, run->task->endpoint)) {
        *ending = ending_paused(&input);
        return false;
    }
    return !is_cancelled(run, ending);
}

/* ---- a batch ---- */

/* An id that the source failed on is a batch of its own. Its signal is new the first time. */
static bool failed_before(const struct fetch_batch *batch, const struct commit_result *result)
{
    return batch->lost_count == 1 && batch->lost[0].reason == FETCH_LOST_FAILED &&
           result->signals == 0;
}

static void note_batch(struct task_run *run, const struct fetch_batch *batch,
                       const struct commit_result *result)
{
    const struct task_partition partition = task_partition_of(run->task);
    const struct health_sample sample = {
        .now_us = executor_now_us(run->executor),
        .requests = batch->counts.requests,
        .throttled = batch->counts.throttled,
        .failed = batch->counts.retries > batch->counts.throttled
                      ? batch->counts.retries - batch->counts.throttled
                      : 0,
        .latency_us = batch->counts.latency_us,
    };

    run->batches++;
    run->failed_again += failed_before(batch, result);
    run->batch_no = batch->batch_no;
    run->batch_id = result->batch_id;
    run->committed_us = clock_monotonic_us(run->executor->parts.clock);
    run->lease_gate.renewed_us = run->committed_us;
    if (batch->has_page_no)
        run->next_page = batch->page_no + 1;
    if (!batch->is_rest)
        (void)partitions_note(run->executor->parts.partitions, &partition, &sample);
    executor_report(run->executor, &(struct executor_event){ .kind = EXECUTOR_BATCH,
                                                             .task = run->task,
                                                             .run_id = run->run.id,
                                                             .batch = batch,
                                                             .commit = result,
                                                             .err = batch->failure });
}

static bool open_archive(struct executor *executor, struct error *err)
{
    struct body_packer *packer;

    if (executor->archive.packer != NULL)
        return true;
    if (!executor->parts.packer_open(&packer, err))
        return false;
    archive_init(&executor->archive, packer, executor->parts.store);
    return true;
}

/* The response of a batch, for its commit. What cannot be archived is stored nevertheless. */
static void archive_batch(struct task_run *run, struct fetch *fetch,
                          const struct fetch_batch *batch)
{
    struct executor *executor = run->executor;
    struct archive_input input = { .secrets = executor->parts.secrets,
                                   .now_us = executor_now_us(executor) };
    struct fetch_response response;
    struct error err;

    if (batch->is_rest)
        return; /* the body is that of the first part */
    run->commit.body = NULL;
    if (executor->parts.packer_open == NULL || !fetch_response(fetch, batch, &response) ||
        response.form->endpoint->http.archive_keep_us == 0)
        return;
    input.form = response.form;
    input.reply = response.reply;
    arena_reset(&executor->archived);
    if (open_archive(executor, &err) &&
        archive_make(&executor->archive, &executor->archived, &input, &run->body, &err))
        run->commit.body = &run->body;
    else
        log_event(executor->parts.log, LOG_WARN, "response not archived",
                  LOG_STR("source", run->task->source), LOG_STR("error", str_of(err.text)));
}

/* Between tasks: dictionaries, age and size. The next task does what this one could not. */
static void tend_archive(struct task_run *run)
{
    struct executor *executor = run->executor;
    const struct spec *spec = run->assignment.spec;
    struct error ignored;

    if (executor->archive.packer == NULL || spec == NULL)
        return;
    (void)!archive_tend(&executor->archive, spec, executor_now_us(executor), &ignored);
}

/* Until it is stored, or the lease is lost. */
static bool store_batch(struct task_run *run, struct fetch *fetch, const struct fetch_batch *batch,
                        bool *held, struct error *err)
{
    int64_t observed_us = executor_at_us(run->executor, batch->sent_us);
    struct store_retry retry = executor_retry(run->executor);
    struct commit_result result;

    if (batch->made_us > 0 && batch->made_us < observed_us)
        observed_us = batch->made_us; /* what was fetched since is newer than the file */
    archive_batch(run, fetch, batch);
    while (!batch_commit(&run->commit, fetch, batch,
                         (struct commit_times){ observed_us, executor_now_us(run->executor) },
                         &result, err)) {
        if (!executor_retry_wait(run->executor, &retry, err))
            return error_wrap(err, "store batch %" PRId64, batch->batch_no);
    }
    *held = result.is_held;
    if (result.is_held)
        note_batch(run, batch, &result);
    return true;
}

/* The row of a batch that was not received. Its cause matters more than a failure to store it. */
static void store_failed_batch(struct task_run *run, struct fetch *fetch,
                               const struct fetch_batch *batch, const struct error *cause)
{
    struct commit_result result;
    struct error ignored;

    executor_report(run->executor, &(struct executor_event){ .kind = EXECUTOR_BATCH,
                                                             .task = run->task,
                                                             .run_id = run->run.id,
                                                             .batch = batch,
                                                             .err = cause });
    archive_batch(run, fetch, batch);
    (void)!batch_commit_failed(&run->commit, batch, cause, executor_now_us(run->executor), &result,
                               &ignored);
}

/* No permit in time, or stopped while waiting for one: no request was made, so nothing failed.
 */
static bool is_only_waiting(const struct error *err)
{
    return fetch_error_is_rejected(err) || fetch_error_is_cancelled(err);
}

/* Whether a failure has a row of its own. Ids that were deferred have theirs. */
static bool has_row(const struct error *err)
{
    return !is_only_waiting(err) && !fetch_error_is_deferred(err);
}

static bool step(struct task_run *run, struct fetch *fetch, bool *is_last, struct ending *ending,
                 struct error *err)
{
    struct fetch_batch batch;
    struct ending_input input;
    bool held = false;

    const bool ok = fetch_next(fetch, &batch, err);

    run->spending = batch.spending;
    if (!ok) {
        if (store_error_is_own(err))
            return false; /* the gate's; not the fault of the source */
        if (lease_error_is_overtaken(err))
            *ending = ending_overtaken();
        else {
            if (has_row(err))
                store_failed_batch(run, fetch, &batch, err);
            input = ending_input_of(run, executor_shared_us(run->executor, batch.retry_at_us),
                                    batch.retry_reason);
            *ending = ending_of_failure(err, &input);
        }
        *is_last = true;
        return true;
    }
    if (batch.outcome == FETCH_DEFERRED) {
        store_failed_batch(run, fetch, &batch, batch.failure);
        return true; /* the ids after these are requested first */
    }
    if (!store_batch(run, fetch, &batch, &held, err))
        return false;
    *is_last = !held || batch.is_last;
    if (!held)
        *ending = ending_overtaken();
    else if (batch.is_last) {
        input = ending_input_of(run, 0, WAIT_BACKOFF);
        run->verdict = batch.verdict;
        *ending = ending_of_verdict(&batch.verdict, &input);
    }
    return true;
}

/* ---- all of them ---- */

/* False when what was fetched cannot be stored. */
static bool walk(struct task_run *run, struct ending *ending, struct error *err)
{
    struct fetch *fetch = NULL;
    bool is_last = false, ok = true;

    if (!open_walk(run, &fetch, err)) {
        const struct ending_input input = ending_input_of(run, 0, WAIT_BACKOFF);

        *ending = ending_of_failure(err, &input);
        return true;
    }
    while (ok && !is_last && look_around(run, ending)) {
        ok = step(run, fetch, &is_last, ending, err);
    }
    fetch_close(fetch);
    gate_end(run->executor->gate);
    return ok;
}

static struct ending carry_out(struct task_run *run, struct error *fatal)
{
    struct ending ending = { 0 };
    struct ending_input input;
    struct error err;

    *fatal = (struct error){ 0 };
    run->retry = retry_default();
    if (load(run, &err)) {
        run->retry = retry_policy_of(&run->assignment.spec->endpoint.retry);
        if (run->task->crashes >= TASK_CRASHES_MAX) {
            input = ending_input_of(run, 0, WAIT_BACKOFF);
            return ending_crashed(&input, run->task->crashes);
        }
        if (walk(run, &ending, &err))
            return ending;
    }
    input = ending_input_of(run, 0, WAIT_BACKOFF);
    if (must_stop(run->executor))
        return ending_stopped(&input);
    if (!store_error_is_own(&err))
        return ending_of_failure(&err, &input);
    if (err.level == ERROR_FATAL)
        *fatal = err; /* ends the executor */
    return ending_of_store(&err, &input);
}

/* ---- ending ---- */

/* An end that the store refuses must not be repeated with the next lease: it would be refused
 * again. */
static bool is_refused(const struct error *err)
{
    return err->level == ERROR_REQUEST || err->level == ERROR_DATA;
}

/* What was cancelled is neither put off nor re-sliced. */
static void heed_cancel(struct task_run *run, struct ending *ending)
{
    arena_reset(&run->executor->batch);
    if (ending->kind == ENDING_LATER || (ending->kind == ENDING_FINAL && ending->needs_reslice))
        (void)is_cancelled(run, ending);
}

static bool end(struct task_run *run, struct ending *ending, struct error *err)
{
    struct store_retry retry = executor_retry(run->executor);
    bool held = true;
    bool is_plain = false;

    heed_cancel(run, ending);
    task_note_outage(run, ending);
    if (ending->kind != ENDING_OVERTAKEN) {
        while (!task_end(run, ending, &held, err)) {
            if (is_refused(err) && !is_plain) {
                *ending = ending_unstorable(err);
                is_plain = true;
            } else if (!executor_retry_wait(run->executor, &retry, err))
                return false;
        }
        if (!held)
            *ending = ending_overtaken();
    }
    task_after(run, ending);
    return true;
}

bool task_run(struct executor *executor, const struct task *task, struct error *err)
{
    struct task_run run = { .executor = executor,
                            .task = task,
                            .lease = { task->id, task->lease_epoch },
                            .committed_us = clock_monotonic_us(executor->parts.clock) };
    struct ending ending;
    struct error fatal;
    bool held = false, ok;

    if (!begin(&run, &held, err))
        return false;
    if (!held)
        return true;
    make_traceparent(&run);
    executor_report(executor, &(struct executor_event){ .kind = EXECUTOR_STARTED,
                                                        .task = task,
                                                        .run_id = run.run.id,
                                                        .traceparent = str_of(run.traceparent) });
    ending = carry_out(&run, &fatal);
    ok = end(&run, &ending, err);
    tend_archive(&run);
    commit_context_release(&run.commit);
    assignment_release(&run.assignment);
    if (ok && fatal.level != ERROR_NONE) {
        *err = fatal;
        return false;
    }
    return ok;
}
