/* Why: where one record is on its way, what is missing, and the command that heals it. */
#include <inttypes.h>

#include "serve/page/boards.h"
#include "serve/page/parts.h"
#include "view/why.h"

static bool write_search(struct html *h, struct call *call, struct error *err)
{
    html_class(h, "form", "filter");
    html_attr(h, "method", STR("get"));
    html_attr(h, "action", STR("/why"));
    if (!part_source_choice(h, call, call_text(call, "source"), false, err))
        return false;
    html_start(h, "label");
    html_text(h, STR("Record "));
    html_start(h, "input");
    html_attr(h, "name", STR("id"));
    html_attr(h, "value", call_text(call, "id"));
    html_flag(h, "required");
    html_end(h);
    html_end(h);
    html_start(h, "label");
    html_text(h, STR("Its date, if it is missing "));
    html_start(h, "input");
    html_attr(h, "name", STR("date"));
    html_attr(h, "placeholder", STR("2026-01-31"));
    html_end(h);
    html_end(h);
    html_element(h, "button", STR("Why?"));
    html_end(h);
    return true;
}

static void write_findings(struct html *h, const struct view_why *why)
{
    html_element(h, "h2", STR("What is missing"));
    if (why->findings.count == 0) {
        show_none(h, "Nothing: it is here, and everybody who reads it has it.");
        return;
    }
    html_class(h, "ol", "needs");
    for (size_t i = 0; i < why->findings.count; i++) {
        const struct why_finding *finding = &why->findings.items[i];

        html_start(h, "li");
        html_textf(h, "At the %.*s: ", STR_ARG(why_step_name(finding->step)));
        part_error(h, finding->text);
        if (finding->command.len > 0) {
            html_class(h, "p", "command");
            html_element(h, "code", finding->command);
            html_end(h);
        }
        html_end(h);
    }
    html_end(h);
}

static void write_windows(struct html *h, const struct view_why *why)
{
    static const char *const covers[] = {
        [WHY_COVERED] = "COVERED", [WHY_LIVE] = "LIVE", [WHY_LOST] = "FAILED"
    };
    struct table t;

    html_element(h, "h2", STR("Windows that hold its date"));
    if (why->windows.count == 0) {
        show_none(h, why->has_date ? "No task has had its date." : "Its date is not known.");
        return;
    }
    TABLE_OPEN(&t, h, "Tasks whose window holds the date", "Task", "Window", "State", "Coverage",
               "Ended", "Error");
    for (size_t i = 0; i < why->windows.count; i++) {
        const struct why_window *window = &why->windows.items[i];
        const struct task *task = &window->ended.task;

        table_row(&t);
        table_row_link(&t, "/runs/task/", task->id);
        table_window(&t, task->window);
        table_word(&t, code_of(&TASK_STATUS_CODES, (int)task->status));
        table_word(&t, str_of(covers[window->cover]));
        table_time(&t, window->ended.ended_us, why->now_us);
        table_error(&t, task->last_error);
    }
    table_close(&t);
}

static void write_versions(struct html *h, const struct view_why *why)
{
    struct table t;

    html_element(h, "h2", STR("Versions"));
    if (why->versions.count == 0) {
        show_none(h, "It was never stored.");
        return;
    }
    TABLE_OPEN(&t, h, "Its versions, the newest first", "Version", "Event", "At", "Date",
               "#In the stream", "Batch");
    for (size_t i = 0; i < why->versions.count; i++) {
        const struct why_version *version = &why->versions.items[i];

        table_row(&t);
        table_number(&t, version->event.event.version);
        table_text(&t, version->event.event.event_type);
        table_time(&t, version->event.event.occurred_us, why->now_us);
        table_text(&t, version->updated);
        table_number(&t, version->event.pos);
        table_cell(&t);
        if (version->has_request) {
            html_start(h, "a");
            html_attrf(h, "href", "/runs/batch/%" PRId64 "/%" PRId64,
                       version->request.lineage.run_id, version->request.batch_no);
            html_textf(h, "%" PRId64 "/%" PRId64, version->request.lineage.run_id,
                       version->request.batch_no);
            html_end(h);
        } else {
            html_text(h, STR("-"));
        }
        table_cell_end(&t);
    }
    table_close(&t);
}

static void write_deliveries(struct html *h, const struct view_why *why)
{
    struct table t;

    html_element(h, "h2", STR("Who reads it"));
    if (why->deliveries.count == 0) {
        show_none(h, "Nobody subscribes.");
        return;
    }
    TABLE_OPEN(&t, h, "Subscriptions", "Subscription", "Kind", "Delivery", "#Events before it",
               "Error");
    for (size_t i = 0; i < why->deliveries.count; i++) {
        const struct why_delivery *delivery = &why->deliveries.items[i];

        table_row(&t);
        table_link(&t, PAGE_PATH(h->out->arena, "/events", delivery->subscription.name),
                   delivery->subscription.name);
        table_text(&t, page_lower(h->out->arena, code_of(&SUBSCRIPTION_KIND_CODES,
                                                         (int)delivery->subscription.kind)));
        table_word(&t, why_delivery_name(delivery->state));
        table_number(&t, delivery->behind);
        table_error(&t, delivery->unreachable.len > 0 ? delivery->unreachable : delivery->error);
    }
    table_close(&t);
}

static bool write_why(struct html *h, struct call *call, struct error *err)
{
    const struct view_why_query query = { .key = { .source = call_text(call, "source"),
                                                   .provider_id = call_text(call, "id") },
                                          .has_date = call_has(call, "date"),
                                          .date_us = call_number(call, "date"),
                                          .sinks = api_settings(call->api)->sinks };
    struct view_why why;

    if (!view_why(&call->reader, &query, &why, err))
        return false;
    html_start(h, "p");
    html_element(h, "strong", query.key.provider_id);
    html_text(h, STR(" of "));
    html_element(h, "strong", query.key.source);
    html_text(h, view_why_is_there(&why) ? STR(": it is there. ") : STR(": it is not all there. "));
    if (why.has_record)
        show_link(
            h, PAGE_PATH(call->reader.arena, "/records", query.key.source, query.key.provider_id),
            STR("The record"));
    html_end(h);
    write_findings(h, &why);
    html_class(h, "div", "acts");
    part_update(h, call, query.key.source, query.key.provider_id);
    html_end(h);
    write_windows(h, &why);
    write_versions(h, &why);
    write_deliveries(h, &why);
    return true;
}

bool page_why(struct call *call, struct error *err)
{
    struct html h;

    page_open(&h, call,
              &(struct page_head){ .board = "why", .is_still = true, .title = STR("Why") });
    if (!write_search(&h, call, err))
        return false;
    if (call_text(call, "id").len == 0 || call_text(call, "source").len == 0)
        show_none(&h, "Name a source and a record: every step on its way is looked at.");
    else if (!write_why(&h, call, err))
        return false;
    return page_close(&h, call, err);
}
