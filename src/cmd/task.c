#include "cmd/task.h"

#include <inttypes.h>

#include "base/instant.h"
#include "base/text.h"
#include "cli/columns.h"
#include "cli/output.h"
#include "cli/session.h"
#include "data/json.h"
#include "port/store_plan.h"
#include "port/store_run.h"

enum { TASKS_SHOWN = 50, BATCHES_SHOWN = 10, SHOWN_MAX = 10000 };

/* ---- options ---- */

static bool read_filter(const struct invocation *invocation, struct task_filter *filter,
                        struct error *err)
{
    const char *given = invocation_value(invocation, "status");
    const int status = given != NULL ? code_find_written(&TASK_STATUS_CODES, str_of(given)) : 0;

    *filter = (struct task_filter){ .source = str_of(invocation_value(invocation, "source")),
                                    .has_status = given != NULL,
                                    .status = (enum task_status)status };
    if (status < 0)
        return error_set(err, ERROR_REQUEST, "task.option",
                         "--status: '%s' is no state of a task; they are queued, dispatched, "
                         "executing, succeeded, partial, failed, cancelled",
                         given);
    return invocation_number(invocation, "plan", (struct option_range){ 1, INT64_MAX, 0 },
                             &filter->plan_id, err) &&
           invocation_number(invocation, "after", (struct option_range){ 0, INT64_MAX, 0 },
                             &filter->after_id, err) &&
           invocation_number(invocation, "limit",
                             (struct option_range){ 1, SHOWN_MAX, TASKS_SHOWN }, &filter->limit,
                             err);
}

/* ---- one task, for programs ---- */

static void write_task(struct json_writer *w, const struct task *task)
{
    json_write_member_i64(w, STR("id"), task->id);
    json_write_member_i64(w, STR("planId"), task->plan_id);
    json_write_member_i64(w, STR("sliceId"), task->slice_id);
    json_write_member_str(w, STR("source"), task->source);
    json_write_member_str(w, STR("endpoint"), task->endpoint);
    json_write_member_str(w, STR("operation"), code_of(&OPERATION_CODES, (int)task->operation));
    json_write_member_str(w, STR("status"), code_of(&TASK_STATUS_CODES, (int)task->status));
    output_window(w, STR("window"), task->window);
    output_ids(w, task->ids);
    json_write_member_i64(w, STR("priority"), task->priority);
    json_write_member_i64(w, STR("runCount"), task->attempts);
    json_write_member_instant(w, STR("scheduledAt"), task->scheduled_us);
    json_write_member_instant(w, STR("createdAt"), task->created_us);
    if (task->lease_owner.len > 0) {
        json_write_member_str(w, STR("leaseOwner"), task->lease_owner);
        json_write_member_instant(w, STR("leasedUntil"), task->leased_until_us);
    }
    if (task->last_error.len > 0)
        json_write_member_str(w, STR("lastError"), task->last_error);
}

/* ---- list ---- */

static void write_row(struct json_writer *w, const void *tasks, size_t i)
{
    write_task(w, (const struct task *)tasks + i);
}

static bool list_text(const struct task_list *list, struct session *session, FILE *out,
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

/* For a list that came out empty: a plan or a source that is not there may be a typing error. */
static bool is_there(struct session *session, const struct task_filter *filter, struct error *err)
{
    struct plan plan;
    bool found = true;

    if (filter->plan_id > 0 &&
        !store_plan_get(session->store, &session->arena, filter->plan_id, &plan, &found, err))
        return false;
    if (!found)
        return error_set(err, ERROR_REQUEST, "plan.id", "there is no plan %" PRId64,
                         filter->plan_id);
    return session_knows(session, filter->source, err);
}

static bool list_tasks(const struct invocation *invocation, struct session *session,
                       enum exit_code *code, struct error *err)
{
    struct task_filter filter;
    struct task_list list;

    (void)code;
    if (!read_filter(invocation, &filter, err) ||
        !store_task_list(session->store, &session->arena, &filter, &list, err) ||
        (list.count == 0 && !is_there(session, &filter, err)))
        return false;
    if (invocation_flag(invocation, "json"))
        return output_list(invocation->out, &session->arena, list.items, list.count, write_row,
                           err);
    if (!list_text(&list, session, invocation->out, err))
        return false;
    if ((int64_t)list.count == filter.limit)
        fprintf(invocation->talk, "the first %" PRId64 "; go on with --after %" PRId64 "\n",
                filter.limit, list.items[list.count - 1].id);
    return true;
}

static enum exit_code cmd_list(const struct invocation *invocation)
{
    return session_run(invocation, list_tasks);
}

static const struct command list = {
    .name = "list",
    .summary = "list tasks",
    .operands_max = 0,
    .description =
        "Lists tasks by their number, the oldest first, and below each what it failed for\n"
        "last. Windows are shown to the minute, UTC; `task show` and --json have all of it.",
    .options = { { "plan", "PLAN", "Of this plan only." },
                 { "source", "SOURCE", "Of this source only." },
                 { "status", "STATUS",
                   "In this state only: queued, executing, succeeded, partial, failed, ...." },
                 { "after", "TASK", "From behind this one on." },
                 { "limit", "N", "So many at most, 1 to 10000 (50)." },
                 { "json", NULL, "JSON instead of a text." },
                 SESSION_OPTION },
    .run = cmd_list,
};

/* ---- show: its runs, and what the last of them asked ---- */

/* Of a run's stats, which a run that has committed nothing leaves empty: "-" for a number that is
 * not there. */
static bool add_stats(struct columns *columns, struct arena *arena, const struct run *run,
                      struct error *err)
{
    static const char *const names[] = { "reqCount", "retryCount", "retCount" };
    struct json_doc doc;
    int64_t number;

    if (!json_parse(&doc, arena, run->stats, err))
        return error_wrap(err, "stats of run %" PRId64, run->id);
    for (size_t i = 0; i < ARRAY_LEN(names); i++) {
        if (json_i64(&doc, json_get(&doc, json_root(&doc), str_of(names[i])), &number))
            columns_i64(columns, number);
        else
            columns_cell(columns, STR("-"));
    }
    return true;
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

static bool print_runs(const struct run_list *runs, struct arena *arena, FILE *out,
                       struct error *err)
{
    static const char *const heads[] = { "RUN",      "STATUS",  "STARTED", "TOOK",
                                         "REQUESTS", "RETRIES", "RECORDS", "ERROR" };
    struct columns columns;

    columns_init(&columns, arena, heads, ARRAY_LEN(heads));
    for (size_t i = 0; i < runs->count; i++) {
        const struct run *run = &runs->items[i];

        columns_i64(&columns, run->id);
        columns_cell(&columns, code_of(&RUN_STATUS_CODES, (int)run->status));
        columns_instant(&columns, run->started_us);
        columns_cell(&columns, took_text(arena, run));
        if (!add_stats(&columns, arena, run, err))
            return false;
        columns_cell(&columns, run->error.len > 0 ? run->error : STR("-"));
    }
    return columns_print(&columns, out, err);
}

static void print_batches(const struct batch_list *batches, FILE *out)
{
    for (size_t i = 0; i < batches->count; i++) {
        const struct batch *batch = &batches->items[i];
        const struct str status = code_of(&BATCH_STATUS_CODES, (int)batch->status);

        fprintf(out, "\nbatch %" PRId64 " of run %" PRId64 ": %.*s\n  asked     %.*s\n",
                batch->number, batch->run_id, STR_ARG(status), STR_ARG(batch->request_digest));
        fprintf(out, "  answered  %.*s\n", STR_ARG(batch->response_digest));
    }
}

static bool print_task(const struct task *task, const struct run_list *runs,
                       const struct batch_list *batches, struct arena *arena, FILE *out,
                       struct error *err)
{
    char from[INSTANT_TEXT_MAX], to[INSTANT_TEXT_MAX], ids[ID_RANGE_TEXT_MAX];
    const struct str operation = code_of(&OPERATION_CODES, (int)task->operation);
    const struct str status = code_of(&TASK_STATUS_CODES, (int)task->status);

    fprintf(out, "task %" PRId64 ": %.*s %.*s of %.*s, %.*s\n", task->id, STR_ARG(task->source),
            STR_ARG(operation), STR_ARG(task->endpoint), STR_ARG(status));
    fprintf(out, "  of          plan %" PRId64 ", slice %" PRId64 "\n", task->plan_id,
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
    if (task->last_error.len > 0)
        fprintf(out, "  last error  %.*s\n", STR_ARG(task->last_error));
    fprintf(out, "\n");
    if (!print_runs(runs, arena, out, err))
        return false;
    print_batches(batches, out);
    return true;
}

static void write_run(struct json_writer *w, const struct run *run)
{
    json_write_object(w);
    json_write_member_i64(w, STR("id"), run->id);
    json_write_member_i64(w, STR("attempt"), run->attempt);
    json_write_member_str(w, STR("status"), code_of(&RUN_STATUS_CODES, (int)run->status));
    if (run->has_reason)
        json_write_member_str(w, STR("reason"), code_of(&PARTIAL_REASON_CODES, (int)run->reason));
    json_write_member_str(w, STR("leaseOwner"), run->lease_owner);
    json_write_member_instant(w, STR("startedAt"), run->started_us);
    if (run->finished_us > 0)
        json_write_member_instant(w, STR("finishedAt"), run->finished_us);
    if (run->error.len > 0)
        json_write_member_str(w, STR("error"), run->error);
    json_write_name(w, STR("stats"));
    json_write_raw(w, run->stats.len > 0 ? run->stats : STR("{}"));
    json_write_end(w);
}

static void write_batch(struct json_writer *w, const struct batch *batch)
{
    json_write_object(w);
    json_write_member_i64(w, STR("runId"), batch->run_id);
    json_write_member_i64(w, STR("number"), batch->number);
    json_write_member_str(w, STR("status"), code_of(&BATCH_STATUS_CODES, (int)batch->status));
    json_write_member_instant(w, STR("at"), batch->created_us);
    json_write_name(w, STR("request"));
    json_write_raw(w, batch->request_digest);
    json_write_name(w, STR("response"));
    json_write_raw(w, batch->response_digest);
    json_write_name(w, STR("stats"));
    json_write_raw(w, batch->stats);
    json_write_end(w);
}

static bool print_json(const struct task *task, const struct run_list *runs,
                       const struct batch_list *batches, struct arena *arena, FILE *out,
                       struct error *err)
{
    struct json_writer w;
    struct buf text;

    buf_init(&text, arena, OUTPUT_BYTES_MAX);
    json_writer_init(&w, &text);
    json_write_object(&w);
    write_task(&w, task);
    json_write_name(&w, STR("runs"));
    json_write_array(&w);
    for (size_t i = 0; i < runs->count; i++)
        write_run(&w, &runs->items[i]);
    json_write_end(&w);
    json_write_name(&w, STR("batches"));
    json_write_array(&w);
    for (size_t i = 0; i < batches->count; i++)
        write_batch(&w, &batches->items[i]);
    json_write_end(&w);
    json_write_end(&w);
    return output_json(out, &w, err);
}

static bool show_task(const struct invocation *invocation, struct session *session,
                      enum exit_code *code, struct error *err)
{
    struct arena *arena = &session->arena;
    struct batch_list batches = { 0 };
    struct run_list runs;
    struct task task;
    int64_t id, limit;
    bool found;

    (void)code;
    if (!invocation_row(invocation, 0, "task", &id, err) ||
        !invocation_number(invocation, "batches",
                           (struct option_range){ 0, SHOWN_MAX, BATCHES_SHOWN }, &limit, err) ||
        !store_task_get(session->store, arena, id, &task, &found, err))
        return false;
    if (!found)
        return error_set(err, ERROR_REQUEST, "task.unknown", "there is no task %" PRId64, id);
    if (!store_run_list(session->store, arena, id, &runs, err) ||
        (runs.count > 0 && limit > 0 &&
         !store_batch_list(session->store, arena, runs.items[runs.count - 1].id, 0, limit, &batches,
                           err)))
        return false;
    return invocation_flag(invocation, "json")
               ? print_json(&task, &runs, &batches, arena, invocation->out, err)
               : print_task(&task, &runs, &batches, arena, invocation->out, err);
}

static enum exit_code cmd_show(const struct invocation *invocation)
{
    return session_run(invocation, show_task);
}

static const struct command show = {
    .name = "show",
    .summary = "show a task: its runs, what it asked and what was answered",
    .operands = "TASK",
    .operands_min = 1,
    .operands_max = 1,
    .description =
        "Shows what a task is to do, who has it, each run with what it came to, and the first\n"
        "batches of the last run: the request as it went out, secrets cut, and the answer.",
    .options = { { "batches", "N", "Batches shown, 0 to 10000 (10)." },
                 { "json", NULL, "JSON instead of a text." },
                 SESSION_OPTION },
    .run = cmd_show,
};

static const struct command *const children[] = { &list, &show, NULL };

const struct command COMMAND_TASK = {
    .name = "task",
    .summary = "list tasks, and show what one asked and what came of it",
    .description = "A task is a slice of a plan that a worker carries out; each attempt is a run.",
    .children = children,
};
