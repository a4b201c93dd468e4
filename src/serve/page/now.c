/* Now: what needs a person, how far each source is, and whether events flow. */
#include <inttypes.h>

#include "base/instant.h"
#include "serve/page/boards.h"
#include "serve/page/parts.h"
#include "view/alert.h"
#include "view/status.h"

enum { PIECES = 160, NAMED = 100, TROUBLES_SHOWN = 20, ALERTS_SHOWN = 20 };

/* ---- what needs a person ---- */

static void write_needs(struct html *h, const struct view_status *status)
{
    page_section(h, "needs", STR("Needs a person"));
    if (status->needs.count == 0)
        show_none(h, "Nothing needs a person.");
    else
        html_class(h, "ul", "needs");
    for (size_t i = 0; i < status->needs.count; i++) {
        html_start(h, "li");
        part_error(h, status->needs.items[i].text);
        html_end(h);
    }
    if (status->needs.count > 0)
        html_end(h);
    html_end(h);
}

static void write_trouble(struct table *t, const struct view_source_status *source,
                          const struct trouble *trouble, int64_t now_us)
{
    const struct task *task = &trouble->ended.task;

    table_row(t);
    table_row_link(t, "/runs/task/", task->id);
    table_link(t, PAGE_PATH(t->h->out->arena, "/cursors", source->code), source->code);
    table_window(t, task->window);
    table_word(t, code_of(&TASK_STATUS_CODES, (int)task->status));
    table_time(t, trouble->ended.ended_us, now_us);
    table_error(t, task->last_error);
    table_text(t, str_of(trouble_advice(trouble, source->takes_signals)));
}

static void write_troubles(struct html *h, const struct view_status *status)
{
    struct table t;
    size_t shown = 0, open = 0;

    for (size_t i = 0; i < status->sources.count; i++)
        open += (size_t)(status->sources.items[i].troubles.missing +
                         status->sources.items[i].troubles.holes);
    if (open == 0)
        return;
    page_section(h, "missing", STR("Missing"));
    TABLE_OPEN(&t, h, "Windows that something is missing of", "Task", "Source", "Time", "State",
               "Ended", "Error", "What to do");
    for (size_t i = 0; i < status->sources.count; i++) {
        const struct view_source_status *source = &status->sources.items[i];

        for (size_t k = 0; k < source->troubles.count && shown < TROUBLES_SHOWN; k++) {
            if (!trouble_is_open(&source->troubles.items[k]))
                continue;
            write_trouble(&t, source, &source->troubles.items[k], status->now_us);
            shown++;
        }
    }
    table_close(&t);
    if (open > shown)
        html_textf(h, "%zu of %zu are shown.", shown, open);
    html_end(h);
}

/* ---- alerts ---- */

static void write_alert(struct table *t, const struct view_alert *alert, int64_t now_us)
{
    table_row(t);
    table_text(t, alert->alert.rule);
    table_word(t, code_of(&ALERT_SEVERITY_CODES, (int)alert->alert.severity));
    table_text(t, alert->alert.subject);
    table_time(t, alert->alert.since_us, now_us);
    table_text(t, alert->is_silenced ? STR("silenced") : STR(""));
    table_error(t, alert->alert.text);
    table_text(t, alert->runbook);
}

static void write_alerts(struct html *h, const struct view_alert_list *alerts, int64_t now_us)
{
    struct table t;

    if (alerts->count == 0)
        return;
    page_section(h, "alerts", STR("Alerts"));
    TABLE_OPEN(&t, h, "Alerts that have fired", "Rule", "Severity", "About", "Since", "Silenced",
               "What", "Runbook");
    for (size_t i = 0; i < alerts->count; i++)
        write_alert(&t, &alerts->items[i], now_us);
    table_close(&t);
    html_end(h);
}

/* ---- sources ---- */

static void write_lag(struct html *h, const struct view_source_status *source, int64_t now_us)
{
    for (size_t i = 0; i < source->cursors.count; i++) {
        const struct view_cursor *cursor = &source->cursors.items[i];

        if (cursor->cursor.name.operation != OPERATION_HARVEST ||
            cursor->cursor.value.type != CURSOR_TIME || cursor->is_former)
            continue;
        fact(h, "Behind");
        show_span(h, now_us - cursor->cursor.value.instant_us);
        fact_end(h);
        return;
    }
}

static void write_queue(struct html *h, const struct view_source_status *source)
{
    int64_t queued = 0, running = 0, done = 0, failed = 0;

    for (size_t i = 0; i < source->counts.count; i++) {
        const struct partition_count *count = &source->counts.items[i];

        queued += count->queued;
        running += count->running;
        done += count->ended[TASK_SUCCEEDED];
        failed += count->ended[TASK_FAILED] + count->ended[TASK_PARTIAL];
    }
    fact_number(h, "Waiting", queued);
    fact_number(h, "Running", running);
    fact_number(h, "Done, 24 h", done);
    fact_number(h, "Failed, 24 h", failed);
}

static void write_gates(struct html *h, const struct view_status *status, struct str source)
{
    for (size_t i = 0; i < status->gates.count; i++) {
        const struct view_gate *gate = &status->gates.items[i];

        if (!str_eq(gate->source, source))
            continue;
        fact(h, "Rate");
        part_rate(h, gate);
        fact_end(h);
        if (gate->view.day.limit > 0 || gate->view.hour.limit > 0) {
            fact(h, "Quota");
            part_quota(h, gate->view.day.limit > 0 ? &gate->view.day : &gate->view.hour,
                       status->now_us);
            fact_end(h);
        }
        if (view_gate_block(gate, status->now_us).is_blocked || gate->view.refused_us > 0) {
            fact(h, "Held back");
            part_block(h, gate, status->now_us);
            fact_end(h);
        }
        return; /* the others are on the board Gate */
    }
}

static void write_schedule(struct html *h, const struct view_source_status *source, int64_t now_us)
{
    const struct schedule_view *next = NULL;

    for (size_t i = 0; i < source->schedules.count; i++) {
        const struct schedule_view *view = &source->schedules.items[i];

        if (view->is_due || (view->has_next && (next == NULL || view->next_us < next->next_us)))
            next = view;
        if (view->is_due)
            break;
    }
    fact(h, "Next tick");
    if (source->is_disabled)
        html_text(h, STR("disabled by its file"));
    else if (next == NULL)
        html_text(h, STR("by hand only"));
    else if (next->is_due)
        html_textf(h, "%.*s, due now", STR_ARG(next->operation));
    else {
        html_textf(h, "%.*s ", STR_ARG(next->operation));
        show_time(h, next->next_us, now_us);
    }
    fact_end(h);
}

static void write_facts(struct html *h, const struct view_status *status,
                        const struct view_source_status *source)
{
    facts_open(h);
    write_lag(h, source, status->now_us);
    write_queue(h, source);
    write_gates(h, status, source->code);
    write_schedule(h, source, status->now_us);
    fact(h, "Records");
    show_count(h, source->records);
    fact_end(h);
    if (source->open.quarantined > 0)
        fact_number(h, "Quarantined", source->open.quarantined);
    facts_close(h);
}

static void write_pauses(struct html *h, const struct view_source_status *source, int64_t now_us)
{
    for (size_t i = 0; i < source->pauses.count; i++) {
        const struct pause *pause = &source->pauses.items[i];

        html_start(h, "p");
        show_word(h, code_of(&PAUSE_KIND_CODES, (int)pause->kind));
        if (pause->endpoint.len > 0)
            html_textf(h, " (only %.*s)", STR_ARG(pause->endpoint));
        html_text(h, STR(" "));
        show_time(h, pause->created_us, now_us);
        html_textf(h, " by %.*s: ", STR_ARG(pause->created_by));
        part_error(h, pause->reason);
        html_end(h);
    }
}

static void write_source(struct html *h, struct call *call, const struct view_status *status,
                         const struct view_source_status *source,
                         const struct view_strip_list *strips)
{
    html_class(h, "article", "source");
    html_start(h, "h3");
    show_link(h, PAGE_PATH(call->reader.arena, "/cursors", source->code), source->code);
    html_end(h);
    write_pauses(h, source, status->now_us);
    for (size_t i = 0; i < strips->count; i++) {
        if (!str_eq(strips->items[i].cursor.name.source, source->code))
            continue;
        html_class(h, "p", "strip-name");
        html_textf(h, "%.*s, %.*s", STR_ARG(strips->items[i].endpoint),
                   STR_ARG(page_lower(
                       h->out->arena,
                       code_of(&OPERATION_CODES, (int)strips->items[i].cursor.name.operation))));
        html_end(h);
        part_strip(h, &strips->items[i]);
    }
    write_facts(h, status, source);
    html_class(h, "div", "acts");
    part_trigger(h, call, source->code);
    part_pause(h, call, source->code, source->pauses.count > 0);
    html_end(h);
    html_end(h);
}

static void write_legend(struct html *h)
{
    html_class(h, "p", "legend");
    for (size_t i = 0; i < STRIP_STATE_CODES.count; i++) {
        html_start(h, "span");
        show_word(h, STRIP_STATE_CODES.items[i].code);
        html_textf(h, " %.*s", STR_ARG(STRIP_STATE_CODES.items[i].meaning));
        html_end(h);
    }
    html_end(h);
}

static void write_sources(struct html *h, struct call *call, const struct view_status *status,
                          const struct view_strip_list *strips)
{
    page_section(h, "sources", STR("Sources"));
    if (status->sources.count == 0)
        show_none(h, "No source is in force; add one with patra source apply FILE.");
    else
        write_legend(h);
    for (size_t i = 0; i < status->sources.count; i++)
        write_source(h, call, status, &status->sources.items[i], strips);
    html_end(h);
}

/* ---- events ---- */

static void write_events(struct html *h, const struct view_status *status)
{
    struct table t;

    page_section(h, "events", STR("Events"));
    if (status->subscriptions.count == 0) {
        show_none(h, "Nobody subscribes to events.");
        html_end(h);
        return;
    }
    TABLE_OPEN(&t, h, "Who reads the stream", "Subscription", "State", "#Waiting", "#Behind",
               "#Parked", "#Dead");
    for (size_t i = 0; i < status->subscriptions.count; i++) {
        const struct view_subscription *s = &status->subscriptions.items[i];

        table_row(&t);
        table_link(&t, PAGE_PATH(h->out->arena, "/events", s->subscription.name),
                   s->subscription.name);
        table_word(&t, code_of(&SUBSCRIPTION_STATE_CODES, (int)s->subscription.state));
        table_number(&t, s->waiting);
        table_span(&t, s->lag_us);
        table_number(&t, s->parked);
        table_number(&t, s->dead);
    }
    table_close(&t);
    html_end(h);
}

bool page_now(struct call *call, struct error *err)
{
    const struct view_strip_filter filter = { .cursors = { .without_former = true },
                                              .without_finished = true,
                                              .pieces_max = PIECES,
                                              .named_max = NAMED };
    const struct alert_query fired = { .limit = ALERTS_SHOWN };
    struct view_alert_list alerts;
    struct view_strip_list strips;
    struct view_status status;
    struct html h;

    if (!view_alert_list(&call->reader, &fired, &alerts, err) ||
        !view_status(&call->reader, &(struct view_status_filter){ 0 }, &status, err) ||
        !view_strips(&call->reader, &filter, &strips, err))
        return false;
    page_open(&h, call, &(struct page_head){ .board = "now", .title = STR("Now") });
    write_needs(&h, &status);
    write_alerts(&h, &alerts, status.now_us);
    write_troubles(&h, &status);
    write_sources(&h, call, &status, &strips);
    write_events(&h, &status);
    return page_close(&h, call, err);
}
