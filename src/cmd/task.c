/* patra task: list tasks, show what one requested and received, and cancel one. */
#include "cmd/task.h"

#include <inttypes.h>

#include "base/instant.h"
#include "base/text.h"
#include "cli/columns.h"
#include "cli/output.h"
#include "cli/session.h"
#include "engine/plan/cancel.h"
#include "view/attempt.h"
#include "view/task.h"

enum { TASKS_SHOWN = 50, BATCHES_SHOWN = 10, SHOWN_MAX = 10000 };

/* ---- list ---- */

static bool read_filter(const struct invocation *invocation, struct task_filter *filter,
                        struct error *err)
{
    const struct option_range ids = { 1, INT64_MAX, 0 };
    const struct option_range afters = { 0, INT64_MAX, 0 };
    const struct option_range limits = { 1, SHOWN_MAX, TASKS_SHOWN };
    struct option_code status;

    *filter = (struct task_filter){ .source = str_of(invocation_value(invocation, "source")) };
    if (!invocation_code(invocation, "status", &TASK_STATUS_CODES, &status, err))
        return false;
    filter->has_status = status.is_given;
    filter->status = (enum task_status)status.value;
    return invocation_number(invocation, "plan", ids, &filter->plan_id, err) &&
           invocation_number(invocation, "after", afters, &filter->after_id, err) &&
           invocation_number(invocation, "limit", limits, &filter->limit, err);
}

static bool print_list(const struct view_task_list *list, struct session *session, FILE *out,
                       struct error *err)
{
    static const char *const heads[] = { "TASK",   "PLAN", "SOURCE", "OPERATION",
                                         "STATUS", "RUNS", "FROM",   "TO" };
    const int64_t now_us = clock_now_us(&session->clock);
    struct columns columns;

    columns_init(&columns, &session->arena, heads, ARRAY_LEN(heads));
    for (size_t i = 0; i < list->count; i++) {
        const struct task *task = &list->items[i];

        columns_i64(&columns, task->id);
        columns_i64(&columns, task->plan_id);
        columns_cell(&columns, task->source);
        columns_cell(&columns, code_of(&OPERATION_CODES, (int)task->operation));
        columns_cell(&columns, code_of(&TASK_STATUS_CODES, (int)task->status));
        columns_i64(&columns, task->attempts);
        columns_window(&columns, task->window, now_us);
        columns_note(&columns, task->last_error);
    }
    return columns_print(&columns, out, err);
}

static bool list_tasks(const struct invocation *invocation, struct session *session,
                       enum exit_code *code, struct error *err)
{
    const struct view_reader reader = session_reader(session);
    struct view_task_list list;
    struct task_filter filter;
    struct output output;

    (void)code;
    if (!read_filter(invocation, &filter, err) || !view_task_list(&reader, &filter, &list, err))
        return false;
    if (invocation_flag(invocation, "json")) {
        view_task_list_write(output_begin(&output, &session->arena), &list);
        return output_end(&output, invocation->out, err);
    }
    if (!print_list(&list, session, invocation->out, err))
        return false;
    if (list.is_full)
        fprintf(invocation->talk,
                "showing the first %" PRId64 "; continue with --after %" PRId64 "\n", filter.limit,
                list.items[list.count - 1].id);
    return true;
}

static enum exit_code cmd_list(const struct invocation *invocation)
{
    return session_run(invocation, list_tasks);
}

static const struct command list_command = {
    .name = "list",
    .summary = "list tasks",
    .operands_max = 0,
    .description =
        "Lists tasks by number, oldest first, each with its last error below it. Windows are\n"
        "shown to the minute, in UTC; `task show` and --json show them in full.",
    .options = { { "plan", "PLAN", "Only tasks of this plan." },
                 { "source", "SOURCE", "Only tasks of this source." },
                 { "status", "STATUS",
                   "Only tasks in this state: queued, executing, succeeded, partial, failed, "
                   "...." },
                 { "after", "TASK", "Start after this task." },
                 { "limit", "N", "Show at most N tasks, 1 to 10000 (50)." },
                 { "json", NULL, "Print JSON." },
                 SESSION_OPTION },
    .run = cmd_list,
};

/* ---- show: its runs, and what the last of them requested ---- */

static void add_number(struct columns *columns, int64_t number)
{
    if (number >= 0)
        columns_i64(columns, number);
    else
        columns_cell(columns, STR("-"));
}

static struct str took_text(struct arena *arena, const struct run *run)
{
    struct buf text;

    if (run->finished_us == 0)
        return STR("-");
    buf_init(&text, arena, 64);
    text_span(&text, run->finished_us - run->started_us);
    return buf_str(&text);
}

static bool print_runs(const struct view_run_list *runs, struct arena *arena, FILE *out,
                       struct error *err)
{
    static const char *const heads[] = { "RUN",      "STATUS",  "STARTED", "TOOK",
                                         "REQUESTS", "RETRIES", "RECORDS", "ERROR" };
    struct columns columns;

    columns_init(&columns, arena, heads, ARRAY_LEN(heads));
    for (size_t i = 0; i < runs->count; i++) {
        const struct run *run = &runs->items[i].run;
        const struct view_run_numbers *numbers = &runs->items[i].numbers;

        columns_i64(&columns, run->id);
        columns_cell(&columns, code_of(&RUN_STATUS_CODES, (int)run->status));
        columns_instant(&columns, run->started_us);
        columns_cell(&columns, took_text(arena, run));
        add_number(&columns, numbers->requests);
        add_number(&columns, numbers->retries);
        add_number(&columns, numbers->records);
        columns_cell(&columns, run->error.len > 0 ? run->error : STR("-"));
    }
    return columns_print(&columns, out, err);
}

/* What is unusual about the dates of a run's records. */
static void print_dates(const struct view_run *run, FILE *out)
{
    if (run->numbers.same_date > 0)
        fprintf(out, "run %" PRId64 ": %" PRId64 " records changed without a new date\n",
                run->run.id, run->numbers.same_date);
    if (run->numbers.future > 0)
        fprintf(out,
                "run %" PRId64 ": %" PRId64
                " records with a date in the future, which is not believed\n",
                run->run.id, run->numbers.future);
}

static void print_attempt(const struct view_attempt *attempt, const char *head, FILE *out)
{
    fprintf(out, "  %-8s  %.*s  ", head, STR_ARG(attempt->at));
    if (attempt->ids > 0)
        fprintf(out, "%" PRId64 " id%s: ", attempt->ids, attempt->ids == 1 ? "" : "s");
    fprintf(out, "%.*s", STR_ARG(attempt->text));
    if (attempt->wait_ms > 0)
        fprintf(out, "; waited %" PRId64 " ms", attempt->wait_ms);
    fprintf(out, "\n");
}

/* The requests of a batch that failed: repeated, made smaller, or given up. */
static bool print_attempts(const struct batch *batch, struct arena *arena, FILE *out,
                           struct error *err)
{
    struct view_attempt_list list;

    if (!view_attempt_list(arena, batch->response_digest, &list, err))
        return false;
    for (size_t i = 0; i < list.count; i++) {
        if (list.left_out > 0 && i + 1 == list.count)
            fprintf(out, "            %" PRId64 " more are left out\n", list.left_out);
        print_attempt(&list.items[i], i == 0 ? "failed" : "", out);
    }
    return true;
}

static bool print_batches(const struct view_batch_list *batches, struct arena *arena, FILE *out,
                          struct error *err)
{
    for (size_t i = 0; i < batches->count; i++) {
        const struct batch *batch = &batches->items[i];
        const struct str status = code_of(&BATCH_STATUS_CODES, (int)batch->status);

        fprintf(out, "\nbatch %" PRId64 " of run %" PRId64 ": %.*s\n  request   %.*s\n",
                batch->number, batch->run_id, STR_ARG(status), STR_ARG(batch->request_digest));
        fprintf(out, "  response  %.*s\n", STR_ARG(batch->response_digest));
        if (!print_attempts(batch, arena, out, err))
            return false;
    }
    return true;
}

static void print_task(const struct task *task, FILE *out)
{
    char from[INSTANT_TEXT_MAX], to[INSTANT_TEXT_MAX], ids[ID_RANGE_TEXT_MAX];
    const struct str operation = code_of(&OPERATION_CODES, (int)task->operation);
    const struct str status = code_of(&TASK_STATUS_CODES, (int)task->status);

    fprintf(out, "task %" PRId64 ": %.*s %.*s of %.*s, %.*s\n", task->id, STR_ARG(task->source),
            STR_ARG(operation), STR_ARG(task->endpoint), STR_ARG(status));
    fprintf(out, "  part of     plan %" PRId64 ", slice %" PRId64 "\n", task->plan_id,
            task->slice_id);
    if (window_is_valid(task->window)) {
        (void)instant_format(task->window.from_us, from);
        (void)instant_format(task->window.to_us, to);
        fprintf(out, "  window      %s .. %s\n", from, to);
    }
    if (id_range_is_valid(task->ids)) {
        id_range_text(task->ids, ids);
        fprintf(out, "  only        %s\n", ids);
    }
    if (task->status == TASK_QUEUED) {
        (void)instant_format(task->scheduled_us, from);
        fprintf(out, "  due         %s\n", from);
    }
    if (task->lease_owner.len > 0) {
        (void)instant_format(task->leased_until_us, to);
        fprintf(out, "  lease       %.*s until %s\n", STR_ARG(task->lease_owner), to);
    }
    if (task->is_cancelled && task->status != TASK_CANCELLED)
        fprintf(out, "  stopping    %.*s\n", STR_ARG(task->cancel_reason));
    if (task->last_error.len > 0)
        fprintf(out, "  last error  %.*s\n", STR_ARG(task->last_error));
    fprintf(out, "\n");
}

static bool show_task(const struct invocation *invocation, struct session *session,
                      enum exit_code *code, struct error *err)
{
    const struct option_range limits = { 0, SHOWN_MAX, BATCHES_SHOWN };
    const struct option_range runs = { 1, INT64_MAX, 0 };
    const struct view_reader reader = session_reader(session);
    struct view_task_filter filter;
    struct view_task view;
    struct output output;

    (void)code;
    if (!invocation_row(invocation, 0, "task", &filter.id, err) ||
        !invocation_number(invocation, "batches", limits, &filter.batches_max, err) ||
        !invocation_number(invocation, "run", runs, &filter.run_id, err) ||
        !view_task(&reader, &filter, &view, err))
        return false;
    if (invocation_flag(invocation, "json")) {
        view_task_write(output_begin(&output, &session->arena), &view);
        return output_end(&output, invocation->out, err);
    }
    print_task(&view.task, invocation->out);
    if (!print_runs(&view.runs, &session->arena, invocation->out, err))
        return false;
    for (size_t i = 0; i < view.runs.count; i++)
        print_dates(&view.runs.items[i], invocation->out);
    return print_batches(&view.batches, &session->arena, invocation->out, err);
}

static enum exit_code cmd_show(const struct invocation *invocation)
{
    return session_run(invocation, show_task);
}

static const struct command show_command = {
    .name = "show",
    .summary = "show a task, its runs, requests and responses",
    .operands = "TASK",
    .operands_min = 1,
    .operands_max = 1,
    .description =
        "Shows what a task covers, which worker has it, how each of its runs ended, and the\n"
        "first batches of the last run, or of the run that --run names: each request as it was\n"
        "sent, without secrets, its response, and the requests before it that failed, with the\n"
        "reason and the wait after them.",
    .options = { { "run", "RUN", "Show the batches of this run, not of the last one." },
                 { "batches", "N", "How many batches to show, 0 to 10000 (10)." },
                 { "json", NULL, "Print JSON." },
                 SESSION_OPTION },
    .run = cmd_show,
};

/* ---- cancel ---- */

enum { REASON_MAX = 200 };

static bool read_reason(const struct invocation *invocation, struct str *reason, struct error *err)
{
    *reason = str_of(invocation_value(invocation, "reason"));
    return reason->len <= REASON_MAX ||
           command_misused(err, "--reason: longer than %d bytes", REASON_MAX);
}

static void print_cancel(int64_t id, enum task_cancel_result result, FILE *out)
{
    static const char *const texts[] = {
        [TASK_IS_CANCELLED] =
            "cancelled; its slice covers nothing and the cursor stops before it.\n"
            "The next trigger plans its window again",
        [TASK_WILL_STOP] = "is under way and stops after its current batch; its slice then covers\n"
                           "nothing, and the next trigger plans its window again",
        [TASK_HAD_ENDED] = "had already ended",
    };

    fprintf(out, "task %" PRId64 ": %s\n", id, texts[result]);
}

static bool cancel(const struct invocation *invocation, struct session *session,
                   enum exit_code *code, struct error *err)
{
    struct task_cancel_request request = { .now_us = clock_now_us(&session->clock) };
    enum task_cancel_result result;

    (void)code;
    if (!invocation_row(invocation, 0, "task", &request.id, err) ||
        !read_reason(invocation, &request.reason, err) ||
        !task_cancel(session->store, &request, &result, err))
        return false;
    print_cancel(request.id, result, invocation->out);
    return true;
}

static enum exit_code cmd_cancel(const struct invocation *invocation)
{
    return session_run(invocation, cancel);
}

static const struct command cancel_command = {
    .name = "cancel",
    .summary = "cancel one task and its slice",
    .operands = "TASK",
    .operands_min = 1,
    .operands_max = 1,
    .description =
        "Cancels one task. One that is waiting ends at once; one under way stops after its\n"
        "current batch. Its slice covers nothing, so the cursor stops before it (`cursor show`\n"
        "says why) and the next trigger plans its window again; to prevent that, pause the\n"
        "source first. Records that were already stored stay.",
    .options = { { "reason", "TEXT", "Why, for those who look at it later." }, SESSION_OPTION },
    .run = cmd_cancel,
};

static const struct command *const children[] = { &list_command, &show_command, &cancel_command,
                                                  NULL };

const struct command COMMAND_TASK = {
    .name = "task",
    .summary = "list tasks, show what one requested and received, cancel one",
    .description = "A task is a slice of a plan that a worker fetches; each attempt is a run.",
    .children = children,
};
