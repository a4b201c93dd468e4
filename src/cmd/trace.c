/* patra trace: from a plan down to the request that failed. */
#include "cmd/trace.h"

#include <inttypes.h>

#include "base/text.h"
#include "cli/output.h"
#include "cli/session.h"
#include "cmd/batch/batch_key.h"
#include "view/trace.h"

struct page {
    const struct view_trace *view;
    struct arena *arena;
    FILE *out;
};

static struct str at(const struct page *page, int64_t at_us)
{
    return text_instant_in(page->arena, at_us);
}

/* ---- the tree ---- */

static void print_batch(const struct page *page, const struct view_trace_batch *row)
{
    const struct view_trace_point *point = &page->view->failing;
    const struct batch_numbers *numbers = &row->numbers;
    const bool is_point = point->is_set && point->kind == TRACE_BATCH &&
                          point->run_id == row->batch.run_id &&
                          point->batch_no == row->batch.number;

    fprintf(page->out, "%s      batch %" PRId64 "/%" PRId64 "  %.*s  %.*s  ",
            is_point ? "=>" : "  ", row->batch.run_id, row->batch.number,
            STR_ARG(code_of(&BATCH_STATUS_CODES, (int)row->batch.status)),
            STR_ARG(at(page, row->batch.created_us)));
    if (numbers->status > 0)
        fprintf(page->out, "HTTP %" PRId64 ", ", numbers->status);
    fprintf(page->out, "%" PRId64 " items", numbers->items);
    if (numbers->quarantined > 0)
        fprintf(page->out, ", %" PRId64 " quarantined", numbers->quarantined);
    if (numbers->retries > 0)
        fprintf(page->out, ", %" PRId64 " retried", numbers->retries);
    fprintf(page->out, "\n");
}

static void print_run(const struct page *page, const struct view_trace_run *run)
{
    const struct view_trace_point *point = &page->view->failing;
    const bool is_point = point->is_set && point->kind == TRACE_RUN && point->run_id == run->run.id;
    struct buf took;

    buf_init(&took, page->arena, 64);
    if (run->run.finished_us > 0)
        text_span(&took, run->run.finished_us - run->run.started_us);
    else
        buf_add(&took, STR("not ended"));
    fprintf(page->out, "%s    run %" PRId64 "  %.*s  %.*s  %.*s  %" PRId64 "%s batches\n",
            is_point ? "=>" : "  ", run->run.id,
            STR_ARG(code_of(&RUN_STATUS_CODES, (int)run->run.status)),
            STR_ARG(at(page, run->run.started_us)), STR_ARG(buf_str(&took)), run->seen,
            run->has_more ? "+" : "");
    if (run->archived.len > 0)
        fprintf(page->out, "        batches that are not here are in %.*s\n",
                STR_ARG(run->archived));
    for (size_t i = 0; i < run->batch_count; i++)
        print_batch(page, &run->batches[i]);
}

static void print_task(const struct page *page, const struct view_trace_task *row)
{
    const struct task *task = &row->task;

    fprintf(page->out, "    slice %" PRId64 "  %.*s", row->slice.id,
            STR_ARG(code_of(&SLICE_STATUS_CODES, (int)row->slice.status)));
    if (window_is_valid(task->window))
        fprintf(page->out, "  %.*s .. %.*s", STR_ARG(at(page, task->window.from_us)),
                STR_ARG(at(page, task->window.to_us)));
    fprintf(page->out, "\n    task %" PRId64 "  %.*s", task->id,
            STR_ARG(code_of(&TASK_STATUS_CODES, (int)task->status)));
    if (task->status == TASK_QUEUED)
        fprintf(page->out, ", due %.*s", STR_ARG(at(page, task->scheduled_us)));
    fprintf(page->out, "\n");
    for (size_t i = 0; i < row->run_count; i++)
        print_run(page, &row->runs[i]);
}

static void print_plan(const struct page *page)
{
    const struct plan *plan = &page->view->plan;
    const struct plan_progress *progress = &page->view->progress;

    fprintf(page->out, "%splan %" PRId64 "  %.*s  %.*s %.*s/%.*s  %.*s\n",
            page->view->failing.is_set && page->view->failing.kind == TRACE_PLAN ? "=>" : "  ",
            plan->id, STR_ARG(code_of(&PLAN_STATUS_CODES, (int)plan->status)),
            STR_ARG(code_of(&OPERATION_CODES, (int)plan->operation)), STR_ARG(plan->source),
            STR_ARG(plan->endpoint), STR_ARG(at(page, plan->created_us)));
    fprintf(page->out, "    %" PRId64 " slices; tasks:", progress->slices);
    for (size_t i = 0; i < TASK_STATUS_CODES.count; i++) {
        if (progress->tasks[i] > 0)
            fprintf(page->out, " %" PRId64 " %.*s", progress->tasks[i],
                    STR_ARG(code_of(&TASK_STATUS_CODES, (int)i)));
    }
    fprintf(page->out, "\n");
}

static void print_trace(const struct page *page)
{
    const struct view_trace *view = page->view;

    print_plan(page);
    for (size_t i = 0; i < view->task_count; i++)
        print_task(page, &view->tasks[i]);
    if (view->has_more_tasks)
        fprintf(page->out, "    ... and more tasks: patra task list --plan %" PRId64 "\n",
                view->plan.id);
    if (!view->failing.is_set) {
        fprintf(page->out, "\nnothing failed\n");
        return;
    }
    fprintf(page->out, "\n=> %.*s\n", STR_ARG(view->failing.reason));
    for (size_t i = 0; i < view->step_count; i++)
        fprintf(page->out, "   %.*s\n", STR_ARG(view->steps[i]));
}

/* ---- the command ---- */

static bool read_key(const struct invocation *invocation, struct view_trace_key *key,
                     struct error *err)
{
    const char *kind = invocation->operands[0];
    const int code = code_find_written(&TRACE_KIND_CODES, str_of(kind));
    struct view_batch_key batch;

    *key = (struct view_trace_key){ .kind = (enum trace_kind)code };
    if (code < 0)
        return command_misused(err, "'%s' is none of plan, task, run, batch", kind);
    if (key->kind != TRACE_BATCH)
        return invocation_row(invocation, 1, kind, &key->id, err);
    if (!batch_key_read(invocation->operands[1], &batch, err))
        return false;
    key->id = batch.run_id;
    key->number = batch.number;
    return key->number > 0 ||
           command_misused(err, "'%s' is not a batch: write RUN/NUMBER", invocation->operands[1]);
}

static bool trace(const struct invocation *invocation, struct session *session,
                  enum exit_code *code, struct error *err)
{
    const struct view_reader reader = session_reader(session);
    struct view_trace_key key;
    struct view_trace view;
    struct output output;

    if (!read_key(invocation, &key, err) || !view_trace(&reader, &key, &view, err))
        return false;
    if (view.failing.is_set)
        *code = EXIT_FOUND;
    if (invocation_flag(invocation, "json")) {
        view_trace_write(output_begin(&output, &session->arena), &view);
        return output_end(&output, invocation->out, err);
    }
    print_trace(&(struct page){ &view, &session->arena, invocation->out });
    return true;
}

static enum exit_code cmd_trace(const struct invocation *invocation)
{
    return session_run(invocation, trace);
}

const struct command COMMAND_TRACE = {
    .name = "trace",
    .summary = "follow a plan, task, run or batch down to the request that failed",
    .operands = "plan|task|run|batch ID",
    .operands_min = 2,
    .operands_max = 2,
    .description =
        "Shows a plan, its slices and tasks, their runs and batches, as far as they belong to\n"
        "what was named, with states, times and counts. Batches that failed, had items that\n"
        "could not be judged, or needed more than one request are shown; the worst of them is\n"
        "marked (=>), followed by the reason and the commands to look further. A batch is named\n"
        "RUN/NUMBER. The exit code is 1 if something failed, also if it was made good later.",
    .options = { { "json", NULL, "Print JSON." }, SESSION_OPTION },
    .run = cmd_trace,
};
