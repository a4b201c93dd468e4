/* Cursors: how far each source is, piece by piece; their events; what a backfill would plan. */
#include <inttypes.h>

#include "act/trigger.h"
#include "base/instant.h"
#include "base/text.h"
#include "serve/page/boards.h"
#include "serve/page/parts.h"
#include "view/cursor.h"
#include "view/recent.h"

/* Late arrivals are those of a day; of one source, those of a week. */
#define LATE_US US_PER_DAY
#define LATE_OF_ONE_US (7 * US_PER_DAY)
enum { PIECES = 160, PIECES_OF_ONE = 400, NAMED = 100, NAMED_OF_ONE = 500, EVENTS = 50 };

static struct str value_text(struct arena *arena, const struct cursor_value *value)
{
    char text[INSTANT_TEXT_MAX];

    return arena_copy(arena, cursor_value_text(value, text));
}

static void show_value(struct html *h, const struct cursor_value *value)
{
    if (value->type == CURSOR_TIME)
        show_instant(h, value->instant_us);
    else
        html_text(h, value_text(h->out->arena, value));
}

static void table_value(struct table *t, const struct cursor_value *value)
{
    table_cell(t);
    show_value(t->h, value);
    table_cell_end(t);
}

/* The latest date or id that was seen: a text. */
static void table_seen(struct table *t, struct str text)
{
    table_cell(t);
    html_class(t->h, "span", "num");
    html_text(t->h, text.len > 0 ? text : STR("-"));
    html_end(t->h);
    table_cell_end(t);
}

/* ---- all ---- */

static void write_behind(struct table *t, const struct view_cursor *cursor, int64_t now_us)
{
    table_cell(t);
    if (cursor->way.has_ids)
        html_textf(t->h, "%" PRId64 " ids", cursor->way.left_ids);
    else if (cursor->cursor.value.type != CURSOR_TIME)
        html_text(t->h, STR("-"));
    else if (cursor->way.is_campaign && cursor->way.is_known) {
        show_span(t->h, cursor->way.left_us);
        html_text(t->h, STR(" to go"));
    } else {
        show_span(t->h, now_us - cursor->cursor.value.instant_us);
    }
    table_cell_end(t);
}

static void write_cursor_row(struct table *t, const struct view_cursor *cursor, int64_t now_us)
{
    const struct cursor *c = &cursor->cursor;

    table_row(t);
    table_link(t, PAGE_PATH(t->h->out->arena, "/cursors", c->name.source), c->name.source);
    table_text(t, page_lower(t->h->out->arena, code_of(&OPERATION_CODES, (int)c->name.operation)));
    table_text(t, c->name.cursor_key);
    table_value(t, &c->value);
    write_behind(t, cursor, now_us);
    table_seen(t, c->observed_max);
    table_time(t, c->updated_us, now_us);
    table_text(t, cursor->is_former ? STR("of a former query") : STR("in force"));
}

static void write_strips(struct html *h, const struct view_strip_list *strips)
{
    for (size_t i = 0; i < strips->count; i++) {
        const struct view_strip *strip = &strips->items[i];

        html_start(h, "h3");
        show_link(h, PAGE_PATH(h->out->arena, "/cursors", strip->cursor.name.source),
                  strip->cursor.name.source);
        html_textf(h, " %.*s, %.*s", STR_ARG(strip->endpoint),
                   STR_ARG(page_lower(h->out->arena, code_of(&OPERATION_CODES,
                                                             (int)strip->cursor.name.operation))));
        html_end(h);
        part_strip(h, strip);
    }
}

/* ---- late arrivals ---- */

/* What matters first: a narrow screen shows the first columns. */
static void write_late_row(struct table *t, const struct view_late *late)
{
    struct arena *arena = t->h->out->arena;
    const double share = late->stored > 0 ? 100.0 * (double)late->late / (double)late->stored : 0;

    table_row(t);
    table_link(t, PAGE_PATH(arena, "/cursors", late->source), late->source);
    table_number(t, late->late);
    table_text(t, late->stored > 0 ? arena_printf(arena, "%.1f %%", share) : STR("-"));
    table_number(t, late->stored);
    table_text(t, arena_printf(arena, "%" PRId64 "%s", late->runs, late->is_full ? "+" : ""));
}

static void write_late(struct html *h, const struct view_late_list *list, const char *period)
{
    struct table t;

    page_section(h, "late", STR("Late arrivals"));
    html_start(h, "p");
    html_textf(h,
               "Records that harvests of the last %s found new or changed behind the cursor, by "
               "the lookback of the source.",
               period);
    html_end(h);
    if (list->count == 0) {
        show_none(h, "Nothing was harvested in that time.");
    } else {
        TABLE_OPEN(&t, h, "Late arrivals", "Source", "#Late", "#Share", "#New or changed", "#Runs");
        for (size_t i = 0; i < list->count; i++)
            write_late_row(&t, &list->items[i]);
        table_close(&t);
    }
    html_end(h);
}

static bool gather_late(struct call *call, struct str source, int64_t span_us,
                        struct view_late_list *list, struct error *err)
{
    const int64_t now_us = call->reader.now_us;

    return view_late(&call->reader,
                     &(struct view_recent_filter){
                         .source = source, .from_us = now_us - span_us, .to_us = now_us },
                     list, err);
}

bool page_cursors(struct call *call, struct error *err)
{
    const struct view_strip_filter filter = { .cursors = { .without_former = true },
                                              .pieces_max = PIECES,
                                              .named_max = NAMED };
    struct view_cursor_list list;
    struct view_strip_list strips;
    struct view_late_list late;
    struct table t;
    struct html h;

    if (!view_cursor_list(&call->reader, &(struct view_cursor_filter){ 0 }, &list, err) ||
        !view_strips(&call->reader, &filter, &strips, err) ||
        !gather_late(call, STR(""), LATE_US, &late, err))
        return false;
    page_open(&h, call, &(struct page_head){ .board = "cursors", .title = STR("Cursors") });
    page_section(&h, "cursors", STR("How far each is"));
    if (list.count == 0) {
        show_none(&h, "There is no cursor yet.");
    } else {
        TABLE_OPEN(&t, &h, "Cursors", "Source", "Operation", "Cursor", "At", "Behind",
                   "Latest seen", "Moved", "Query");
        for (size_t i = 0; i < list.count; i++)
            write_cursor_row(&t, &list.items[i], call->reader.now_us);
        table_close(&t);
    }
    html_end(&h);
    page_section(&h, "strips", STR("Coverage"));
    write_strips(&h, &strips);
    html_end(&h);
    write_late(&h, &late, "24 hours");
    return page_close(&h, call, err);
}

/* ---- those of one source ---- */

static void write_event(struct table *t, const struct cursor_event *event, int64_t now_us)
{
    table_row(t);
    table_time(t, event->created_us, now_us);
    table_word(t, code_of(&CURSOR_EVENT_REASON_CODES, (int)event->reason));
    if (event->has_prev)
        table_value(t, &event->prev);
    else
        table_text(t, STR(""));
    table_value(t, &event->next);
    table_seen(t, event->observed_max);
    table_row_link(t, "/runs/task/", event->lineage.task_id);
    table_text(t, event->remarks);
}

static void write_events(struct html *h, const struct cursor_view *view, int64_t now_us)
{
    struct table t;

    if (view->events.count == 0) {
        show_none(h, "It has no event.");
        return;
    }
    TABLE_OPEN(&t, h, "Events, the newest first", "At", "Reason", "From", "To", "Latest seen",
               "Task", "Remarks");
    for (size_t i = 0; i < view->events.count; i++)
        write_event(&t, &view->events.items[i], now_us);
    table_close(&t);
}

static void write_holder(struct html *h, const struct cursor_view *view)
{
    if (!view->has_holder || view->holder.status == TASK_SUCCEEDED)
        return;
    html_start(h, "p");
    html_text(h, STR("What holds it back: task "));
    show_link_row(h, "/runs/task/", view->holder.id);
    html_text(h, STR(" "));
    show_word(h, code_of(&TASK_STATUS_CODES, (int)view->holder.status));
    html_text(h, STR(" "));
    show_window(h, view->holder.window);
    html_text(h, STR(" "));
    part_error(h, view->holder.last_error);
    html_end(h);
}

static void write_detail(struct html *h, const struct cursor_view *view, size_t number,
                         int64_t now_us)
{
    const struct cursor *cursor = &view->cursor;

    page_section(
        h, arena_printf(h->out->arena, "cursor-%zu", number).data,
        arena_printf(h->out->arena, "%.*s %.*s",
                     STR_ARG(page_lower(h->out->arena,
                                        code_of(&OPERATION_CODES, (int)cursor->name.operation))),
                     STR_ARG(cursor->name.cursor_key)));
    facts_open(h);
    fact(h, "At");
    show_value(h, &cursor->value);
    fact_end(h);
    fact_text(h, "Latest seen", cursor->observed_max);
    fact_number(h, "Moves", cursor->version);
    fact(h, "Moved");
    show_time(h, cursor->updated_us, now_us);
    fact_end(h);
    facts_close(h);
    write_holder(h, view);
    write_events(h, view, now_us);
    html_end(h);
}

static void write_coverage(struct html *h, const struct view_strip_list *strips, int64_t now_us)
{
    page_section(h, "coverage", STR("Coverage"));
    if (strips->count == 0)
        show_none(h, "No cursor of this source is by time.");
    for (size_t i = 0; i < strips->count; i++) {
        const struct view_strip *strip = &strips->items[i];

        html_start(h, "h3");
        html_textf(h, "%.*s, %.*s", STR_ARG(strip->endpoint),
                   STR_ARG(page_lower(h->out->arena, code_of(&OPERATION_CODES,
                                                             (int)strip->cursor.name.operation))));
        html_end(h);
        part_strip(h, strip);
        part_holes(h, strip, now_us);
    }
    html_end(h);
}

static void write_reset(struct html *h, struct call *call, struct str source)
{
    static const struct act_field fields[] = {
        { .name = "to", .label = "To", .option = "--to", .is_required = true },
        { .name = "operation", .label = "Operation", .option = "--operation" },
        { .name = "namespace", .label = "Namespace", .option = "--namespace" },
        { .name = "reason", .label = "Reason", .option = "--reason" },
    };
    struct arena *arena = call->reader.arena;

    page_act(h, call,
             &(struct page_act){
                 .label = "Reset cursor of",
                 .of = source,
                 .path = PAGE_PATH(arena, "/form/cursors", source, STR("reset")),
                 .command = arena_printf(arena, "patra cursor reset %.*s --yes", STR_ARG(source)),
                 .fields = fields,
                 .field_count = ARRAY_LEN(fields),
                 .can_dry_run = true,
                 .is_grave = true,
             });
}

/* Without a script, the window is typed; with one it is drawn over the strip. */
static void write_preview_form(struct html *h, struct call *call, struct str source)
{
    html_class(h, "form", "filter");
    html_attr(h, "method", STR("get"));
    html_attr(h, "action", PAGE_PATH(call->reader.arena, "/preview", source));
    html_element(h, "strong", STR("What would be planned?"));
    html_start(h, "label");
    html_text(h, STR("From "));
    html_start(h, "input");
    html_attr(h, "name", STR("from"));
    html_attr(h, "placeholder", STR("2026-01-31, or 7d"));
    html_end(h);
    html_end(h);
    html_start(h, "label");
    html_text(h, STR("To "));
    html_start(h, "input");
    html_attr(h, "name", STR("to"));
    html_attr(h, "placeholder", STR("now"));
    html_end(h);
    html_end(h);
    html_start(h, "label");
    html_text(h, STR("Operation "));
    html_start(h, "input");
    html_attr(h, "name", STR("operation"));
    html_attr(h, "value", STR("backfill"));
    html_end(h);
    html_end(h);
    html_element(h, "button", STR("Dry run"));
    html_end(h);
}

bool page_cursor(struct call *call, struct error *err)
{
    const struct str source = call_text(call, "source");
    const struct view_cursor_filter cursors = { .source = source };
    const struct view_strip_filter filter = {
        .cursors = { .source = source, .without_former = true },
        .from = { call_has(call, "from"), call_number(call, "from") },
        .to = { call_has(call, "to"), call_number(call, "to") },
        .pieces_max = PIECES_OF_ONE,
        .named_max = NAMED_OF_ONE,
    };
    struct view_cursor_details details;
    struct view_strip_list strips;
    struct view_late_list late;
    struct html h;

    if (!view_strips(&call->reader, &filter, &strips, err) ||
        !gather_late(call, source, LATE_OF_ONE_US, &late, err) ||
        !view_cursor_details(&call->reader, &cursors, EVENTS, &details, err))
        return false;
    page_open(&h, call, &(struct page_head){ .board = "cursors", .title = source });
    write_coverage(&h, &strips, call->reader.now_us);
    write_preview_form(&h, call, source);
    html_class(&h, "div", "acts");
    part_trigger(&h, call, source);
    write_reset(&h, call, source);
    html_end(&h);
    if (details.count == 0)
        show_none(&h, "It has no cursor yet: nothing was harvested.");
    for (size_t i = 0; i < details.count; i++)
        write_detail(&h, &details.items[i], i, call->reader.now_us);
    write_late(&h, &late, "7 days");
    return page_close(&h, call, err);
}

/* ---- what a trigger would plan ---- */

static void write_preview(struct html *h, const struct act_preview *made, int64_t now_us)
{
    const struct plan_result *result = &made->result;
    const bool has_window = result->decision.empty == WINDOW_EMPTY_NOT;
    struct table t;

    facts_open(h);
    fact_text(h, "Endpoint", result->endpoint);
    fact_text(h, "Operation",
              page_lower(h->out->arena, code_of(&OPERATION_CODES, (int)result->operation)));
    fact(h, "Window");
    show_window(h, has_window ? result->decision.window : (struct window){ 0 });
    fact_end(h);
    fact_number(h, "Slices", result->slices);
    fact_number(h, "Left for later", result->slices_left);
    facts_close(h);
    if (made->preview.count == 0) {
        show_none(h, "Nothing would be planned: it is covered, under way, or not due.");
        show_json(h, result->remarks);
        return;
    }
    TABLE_OPEN(&t, h, "The first slices", "Slice", "Window", "Due");
    for (size_t i = 0; i < made->preview.count; i++) {
        const struct trigger_slice *slice = &made->preview.slices[i];

        table_row(&t);
        table_number(&t, slice->slice.number + 1);
        table_window(&t, slice->slice.dimension == SLICE_TIME ? slice->slice.window
                                                              : (struct window){ 0 });
        table_time(&t, slice->is_now ? slice->scheduled_us : 0, now_us);
    }
    table_close(&t);
}

static struct str option_text(struct call *call, const char *name)
{
    return call_has(call, name) ? text_instant_in(call->reader.arena, call_number(call, name))
                                : STR("");
}

/* The same, for good. */
static void write_plan_it(struct html *h, struct call *call, const struct act_preview *made)
{
    const struct str source = made->request.source, operation = made->request.operation;
    const struct act_field fields[] = {
        { .name = "operation", .kind = INPUT_HIDDEN, .option = "", .value = operation },
        { .name = "from",
          .kind = INPUT_HIDDEN,
          .option = "--from",
          .value = option_text(call, "from") },
        { .name = "to", .kind = INPUT_HIDDEN, .option = "--to", .value = option_text(call, "to") },
    };
    struct arena *arena = call->reader.arena;
    struct buf command;

    buf_init(&command, arena, 1024);
    buf_printf(&command, "patra trigger %.*s %.*s", STR_ARG(source), STR_ARG(operation));
    for (size_t i = 1; i < ARRAY_LEN(fields); i++) {
        if (fields[i].value.len > 0)
            buf_printf(&command, " %s %.*s", fields[i].option, STR_ARG(fields[i].value));
    }
    page_act(h, call,
             &(struct page_act){
                 .label = "Plan it:",
                 .of = source,
                 .path = PAGE_PATH(arena, "/form/sources", source, STR("trigger")),
                 .command = buf_str(&command),
                 .fields = fields,
                 .field_count = ARRAY_LEN(fields),
                 .is_open = true,
             });
}

bool page_preview(struct call *call, struct error *err)
{
    const struct act_preview_request request = {
        .source = call_text(call, "source"),
        .operation = call_has(call, "operation") ? call_text(call, "operation") : STR("backfill"),
        .from = { call_has(call, "from"), call_number(call, "from") },
        .to = { call_has(call, "to"), call_number(call, "to") },
        .slices_max = call_number(call, "limit"),
        .specs = api_settings(call->api)->specs,
        .random = api_settings(call->api)->random,
    };
    struct act_preview made;
    struct html h;

    if (!act_preview(&call->reader, &request, &made, err))
        return false;
    page_open(&h, call,
              &(struct page_head){ .board = "cursors",
                                   .is_still = true,
                                   .title = arena_printf(call->reader.arena, "Dry run of %.*s",
                                                         STR_ARG(request.source)) });
    html_start(&h, "div");
    html_attr(&h, "id", STR("preview"));
    html_element(&h, "p", STR("Nothing was written. A trigger now would plan this:"));
    write_preview(&h, &made, call->reader.now_us);
    write_plan_it(&h, call, &made);
    html_end(&h);
    return page_close(&h, call, err);
}
