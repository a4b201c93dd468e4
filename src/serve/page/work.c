/* One task, one run, one batch: down to the request. */
#include <inttypes.h>

#include "base/instant.h"
#include "serve/page/boards.h"
#include "serve/page/parts.h"
#include "view/task.h"
#include "view/trace.h"

enum { ITEMS_SHOWN = 200 };

/* ---- the failing point ---- */

void part_failing(struct html *h, const struct view_trace *trace)
{
    const struct view_trace_point *point = &trace->failing;

    if (!point->is_set)
        return;
    html_class(h, "section", "failing");
    html_attr(h, "aria-label", STR("Where it failed"));
    html_element(h, "h2", STR("Where it failed"));
    html_start(h, "p");
    if (point->kind == TRACE_BATCH) {
        html_start(h, "a");
        html_attrf(h, "href", "/runs/batch/%" PRId64 "/%" PRId64, point->run_id, point->batch_no);
        html_textf(h, "Batch %" PRId64 "/%" PRId64, point->run_id, point->batch_no);
        html_end(h);
        html_text(h, STR(": "));
    } else if (point->task_id > 0) {
        html_text(h, STR("Task "));
        show_link_row(h, "/runs/task/", point->task_id);
        html_text(h, STR(": "));
    }
    part_error(h, point->reason);
    html_end(h);
    for (size_t i = 0; i < trace->step_count; i++) {
        html_class(h, "p", "command");
        html_element(h, "code", trace->steps[i]);
        html_end(h);
    }
    html_end(h);
}

/* ---- batches of a run ---- */

static void batch_row(struct table *t, const struct batch *batch,
                      const struct batch_numbers *numbers, enum batch_mark mark, int64_t now_us)
{
    table_row(t);
    table_cell(t);
    html_start(t->h, "a");
    html_attrf(t->h, "href", "/runs/batch/%" PRId64 "/%" PRId64, batch->run_id, batch->number);
    html_textf(t->h, "%" PRId64 "/%" PRId64, batch->run_id, batch->number);
    html_end(t->h);
    table_cell_end(t);
    table_cell(t);
    show_word(t->h, code_of(&BATCH_STATUS_CODES, (int)batch->status));
    if (mark == BATCH_MARK_RETRIED || mark == BATCH_MARK_QUARANTINED) {
        html_text(t->h, STR(" "));
        show_word(t->h, batch_mark_name(mark));
    }
    table_cell_end(t);
    table_number(t, numbers->status);
    table_number(t, numbers->items);
    table_number(t, numbers->inserted);
    table_number(t, numbers->updated);
    table_number(t, numbers->quarantined);
    table_number(t, numbers->requests);
    table_time(t, batch->created_us, now_us);
    table_error(t, numbers->text);
}

static void open_batches(struct table *t, struct html *h)
{
    static const char *const heads[] = {
        "Batch",    "State",        "#HTTP",     "#Items", "#New",
        "#Changed", "#Quarantined", "#Requests", "Stored", "Error"
    };

    table_open(t, h, "Batches", heads, ARRAY_LEN(heads));
}

/* ---- a task ---- */

static void write_task_facts(struct html *h, const struct view_trace *trace,
                             const struct view_trace_task *row, int64_t now_us)
{
    const struct task *task = &row->task;

    page_section(h, "task", STR("Task"));
    facts_open(h);
    fact(h, "Plan");
    show_link_row(h, "/runs/plan/", trace->plan.id);
    fact_end(h);
    fact_number(h, "Slice", row->slice.number);
    fact(h, "Source");
    show_link(h, PAGE_PATH(h->out->arena, "/cursors", task->source), task->source);
    fact_end(h);
    fact_text(h, "Endpoint", task->endpoint);
    fact_text(h, "Operation",
              page_lower(h->out->arena, code_of(&OPERATION_CODES, (int)task->operation)));
    fact(h, "State");
    show_word(h, code_of(&TASK_STATUS_CODES, (int)task->status));
    fact_end(h);
    fact(h, "Window");
    show_window(h, task->window);
    fact_end(h);
    fact_number(h, "Runs", task->attempts);
    if (task->status == TASK_QUEUED) {
        fact(h, "Next try");
        show_time(h, task->scheduled_us, now_us);
        fact_end(h);
    }
    if (task->lease_owner.len > 0)
        fact_text(h, "Worker", task->lease_owner);
    facts_close(h);
    if (task->last_error.len > 0) {
        html_start(h, "p");
        html_text(h, STR("Last error: "));
        part_error(h, task->last_error);
        html_end(h);
    }
    html_end(h);
}

static void write_run_row(struct table *t, const struct run *run, int64_t now_us)
{
    table_row(t);
    table_row_link(t, "/runs/run/", run->id);
    table_number(t, run->attempt);
    table_word(t, code_of(&RUN_STATUS_CODES, (int)run->status));
    table_text(t, run->has_reason ? code_of(&PARTIAL_REASON_CODES, (int)run->reason) : STR(""));
    table_time(t, run->started_us, now_us);
    table_span(t, (run->finished_us > 0 ? run->finished_us : now_us) - run->started_us);
    table_text(t, run->lease_owner);
    table_error(t, run->error);
}

static void write_runs(struct html *h, const struct view_trace_task *row, int64_t now_us)
{
    struct table t;

    page_section(h, "runs", STR("Runs"));
    if (row->run_count == 0) {
        show_none(h, "It has not run yet.");
        html_end(h);
        return;
    }
    TABLE_OPEN(&t, h, "Runs by attempt", "Run", "#Attempt", "State", "Reason", "Began", "Took",
               "Worker", "Error");
    for (size_t i = 0; i < row->run_count; i++)
        write_run_row(&t, &row->runs[i].run, now_us);
    table_close(&t);
    html_end(h);
}

static void write_marked(struct html *h, const struct view_trace_task *row, int64_t now_us)
{
    struct table t;
    size_t count = 0;

    for (size_t i = 0; i < row->run_count; i++)
        count += row->runs[i].batch_count;
    page_section(h, "batches", STR("Batches to look at"));
    if (count == 0) {
        show_none(h, "There is no batch yet.");
        html_end(h);
        return;
    }
    open_batches(&t, h);
    for (size_t i = 0; i < row->run_count; i++) {
        for (size_t k = 0; k < row->runs[i].batch_count; k++) {
            const struct view_trace_batch *batch = &row->runs[i].batches[k];

            batch_row(&t, &batch->batch, &batch->numbers, batch->mark, now_us);
        }
    }
    table_close(&t);
    html_end(h);
}

static void write_cancel(struct html *h, struct call *call, int64_t id)
{
    static const struct act_field fields[] = {
        { .name = "reason", .label = "Reason", .option = "--reason" }
    };
    struct arena *arena = call->reader.arena;

    page_act(h, call,
             &(struct page_act){
                 .label = "Cancel",
                 .of = arena_printf(arena, "task %" PRId64, id),
                 .path = arena_printf(arena, "/form/tasks/%" PRId64 "/cancel", id),
                 .command = arena_printf(arena, "patra task cancel %" PRId64, id),
                 .fields = fields,
                 .field_count = ARRAY_LEN(fields),
                 .is_grave = true,
             });
}

bool page_task(struct call *call, struct error *err)
{
    const int64_t id = call_number(call, "task");
    const int64_t now_us = call->reader.now_us;
    struct view_trace trace;
    struct html h;

    if (!view_trace(&call->reader, &(struct view_trace_key){ .kind = TRACE_TASK, .id = id }, &trace,
                    err))
        return false;
    page_open(
        &h, call,
        &(struct page_head){ .board = "runs",
                             .title = arena_printf(call->reader.arena, "Task %" PRId64, id) });
    part_failing(&h, &trace);
    write_task_facts(&h, &trace, &trace.tasks[0], now_us);
    write_cancel(&h, call, id);
    write_runs(&h, &trace.tasks[0], now_us);
    write_marked(&h, &trace.tasks[0], now_us);
    return page_close(&h, call, err);
}

/* ---- a run ---- */

static bool write_batches(struct html *h, struct call *call, const struct view_batch_list *list,
                          struct error *err)
{
    struct batch_numbers numbers;
    struct table t;

    open_batches(&t, h);
    for (size_t i = 0; i < list->count; i++) {
        const struct batch *batch = &list->items[i];

        if (!view_batch_numbers(call->reader.arena, batch, &numbers, err))
            return false;
        batch_row(&t, batch, &numbers, view_batch_mark(batch, &numbers), call->reader.now_us);
    }
    table_close(&t);
    return true;
}

bool page_run(struct call *call, struct error *err)
{
    const int64_t id = call_number(call, "run");
    const struct view_batch_filter filter = { id, call_number(call, "after"),
                                              call_number(call, "limit") };
    struct view_batch_list list;
    struct view_trace trace;
    struct html h;

    if (!view_trace(&call->reader, &(struct view_trace_key){ .kind = TRACE_RUN, .id = id }, &trace,
                    err) ||
        !view_batch_list(&call->reader, &filter, &list, err))
        return false;
    page_open(&h, call,
              &(struct page_head){ .board = "runs",
                                   .title = arena_printf(call->reader.arena, "Run %" PRId64, id) });
    part_failing(&h, &trace);
    write_task_facts(&h, &trace, &trace.tasks[0], call->reader.now_us);
    page_section(&h, "batches", STR("Batches"));
    if (list.count == 0)
        show_none(&h, "There is no batch here.");
    else if (!write_batches(&h, call, &list, err))
        return false;
    if (list.is_full)
        call_next_row(call, "after", list.items[list.count - 1].number);
    page_next(&h, call);
    html_end(&h);
    return page_close(&h, call, err);
}

/* ---- a batch ---- */

static void write_batch_facts(struct html *h, const struct view_batch *view, int64_t now_us)
{
    facts_open(h);
    fact(h, "State");
    show_word(h, code_of(&BATCH_STATUS_CODES, (int)view->batch.status));
    fact_end(h);
    fact(h, "Task");
    show_link_row(h, "/runs/task/", view->task.id);
    fact_end(h);
    fact(h, "Run");
    show_link_row(h, "/runs/run/", view->run.id);
    fact_end(h);
    fact(h, "Plan");
    show_link_row(h, "/runs/plan/", view->batch.plan_id);
    fact_end(h);
    fact_text(h, "Source", view->task.source);
    fact(h, "Window");
    show_window(h, view->task.window);
    fact_end(h);
    fact(h, "Stored");
    show_time(h, view->batch.created_us, now_us);
    fact_end(h);
    fact_number(h, "HTTP status", view->numbers.status);
    fact(h, "Bytes");
    show_bytes(h, view->numbers.bytes);
    fact_end(h);
    fact(h, "Latency");
    show_span(h, view->numbers.latency_ms * US_PER_MS);
    fact_end(h);
    fact_number(h, "Items", view->numbers.items);
    fact_number(h, "New", view->numbers.inserted);
    fact_number(h, "Changed", view->numbers.updated);
    fact_number(h, "Quarantined", view->numbers.quarantined);
    facts_close(h);
}

static void write_batch_error(struct html *h, const struct view_batch *view)
{
    if (view->numbers.level.len == 0)
        return;
    html_class(h, "p", "failing");
    show_word(h, view->numbers.level);
    html_textf(h, " %.*s: ", STR_ARG(view->numbers.code));
    part_error(h, view->numbers.text);
    html_end(h);
}

static void write_attempts(struct html *h, const struct view_batch *view)
{
    struct table t;

    page_section(h, "attempts", STR("Attempts"));
    if (view->attempts.count == 0) {
        show_none(h, "The first request was enough.");
        html_end(h);
        return;
    }
    TABLE_OPEN(&t, h, "Requests before the one that counts", "At", "#HTTP", "#Bytes", "#Took, ms",
               "Error", "Then", "#Waited, ms");
    for (size_t i = 0; i < view->attempts.count; i++) {
        const struct view_attempt *attempt = &view->attempts.items[i];

        table_row(&t);
        table_text(&t, attempt->at);
        table_number(&t, attempt->status);
        table_number(&t, attempt->bytes);
        table_number(&t, attempt->took_ms);
        table_cell(&t);
        html_textf(h, "%.*s ", STR_ARG(attempt->code));
        part_error(h, attempt->text);
        table_cell_end(&t);
        table_text(&t, attempt->then);
        table_number(&t, attempt->wait_ms);
    }
    table_close(&t);
    if (view->attempts.left_out > 0)
        html_textf(h, "%" PRId64 " more, before the last, were not kept.", view->attempts.left_out);
    html_end(h);
}

static void write_items(struct html *h, const struct view_batch *view)
{
    struct table t;
    struct arena *arena = h->out->arena;

    page_section(h, "items", STR("Items"));
    if (view->items.count == 0) {
        show_none(h, view->items.is_kept ? "It had no item." : "Its items were not kept.");
        html_end(h);
        return;
    }
    TABLE_OPEN(&t, h, "What became of each item", "Record", "Became", "Why");
    for (size_t i = 0; i < view->items.count && i < ITEMS_SHOWN; i++) {
        const struct batch_item *item = &view->items.items[i];

        table_row(&t);
        if (item->id.len == 0) {
            table_text(&t, STR("without an id"));
            table_word(&t, code_of(&BATCH_ITEM_CODES, (int)item->kind));
            table_text(&t, STR(""));
            continue;
        }
        table_link(&t, PAGE_PATH(arena, "/records", view->task.source, item->id), item->id);
        table_word(&t, code_of(&BATCH_ITEM_CODES, (int)item->kind));
        table_link(&t, PAGE_PATH(arena, "/why", view->task.source, item->id), STR("why"));
    }
    table_close(&t);
    if (view->items.count > ITEMS_SHOWN)
        html_textf(h, "%d of %zu are shown.", ITEMS_SHOWN, view->items.count);
    html_end(h);
}

bool page_batch(struct call *call, struct error *err)
{
    const struct view_batch_key key = { call_number(call, "run"), call_number(call, "number") };
    struct view_batch view;
    struct html h;

    if (!view_batch(&call->reader, &key, &view, err))
        return false;
    page_open(
        &h, call,
        &(struct page_head){ .board = "runs",
                             .is_still = true,
                             .title = arena_printf(call->reader.arena, "Batch %" PRId64 "/%" PRId64,
                                                   key.run_id, view.batch.number) });
    write_batch_error(&h, &view);
    write_batch_facts(&h, &view, call->reader.now_us);
    html_class(&h, "p", "command");
    html_text(&h, STR("Send it again and compare: "));
    html_start(&h, "code");
    html_textf(&h, "patra batch replay %" PRId64 "/%" PRId64, key.run_id, view.batch.number);
    html_end(&h);
    html_end(&h);
    html_element(&h, "h2", STR("Request"));
    show_json(&h, view.batch.request_digest);
    write_attempts(&h, &view);
    html_element(&h, "h2", STR("Response"));
    show_json(&h, view.batch.response_digest);
    write_items(&h, &view);
    return page_close(&h, call, err);
}
