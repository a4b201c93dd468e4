/* Errors: the most frequent first, each with its latest batch; and records in quarantine. */
#include <inttypes.h>

#include "base/instant.h"
#include "port/store_trace.h"
#include "serve/page/boards.h"
#include "serve/page/parts.h"
#include "view/quarantine.h"
#include "view/recent.h"

enum { ERRORS_SHOWN = 50, QUARANTINE_SHOWN = 50 };

static bool write_filter(struct html *h, struct call *call, struct error *err)
{
    html_class(h, "form", "filter");
    html_attr(h, "method", STR("get"));
    html_attr(h, "action", STR("/errors"));
    if (!part_source_choice(h, call, call_text(call, "source"), true, err))
        return false;
    html_start(h, "label");
    html_text(h, STR("Since "));
    html_start(h, "input");
    html_attr(h, "name", STR("from"));
    html_attr(h, "placeholder", STR("1d"));
    html_end(h);
    html_end(h);
    html_element(h, "button", STR("Show"));
    html_end(h);
    return true;
}

static void write_error(struct table *t, const struct view_error *error, int64_t now_us)
{
    table_row(t);
    table_text(t, error->code);
    table_word(t, error->level);
    table_number(t, error->count);
    table_link(t, PAGE_PATH(t->h->out->arena, "/cursors", error->source), error->source);
    table_text(t, page_lower(t->h->out->arena, code_of(&OPERATION_CODES, (int)error->operation)));
    table_time(t, error->at_us, now_us);
    table_row_link(t, "/runs/task/", error->task_id);
    table_cell(t);
    html_start(t->h, "a");
    html_attrf(t->h, "href", "/runs/batch/%" PRId64 "/%" PRId64, error->run_id, error->batch_no);
    html_textf(t->h, "%" PRId64 "/%" PRId64, error->run_id, error->batch_no);
    html_end(t->h);
    table_cell_end(t);
    table_error(t, error->text);
}

static void write_errors(struct html *h, const struct view_error_list *list, int64_t now_us)
{
    struct table t;

    page_section(h, "errors", STR("Errors"));
    if (list->count == 0) {
        show_none(h, "There was no error.");
        html_end(h);
        return;
    }
    TABLE_OPEN(&t, h, "Errors, the most frequent first", "Code", "Level", "#Count", "Source",
               "Operation", "Latest", "Task", "Batch", "Text");
    for (size_t i = 0; i < list->count; i++)
        write_error(&t, &list->items[i], now_us);
    table_close(&t);
    html_end(h);
}

/* The request that brought it; what retention has removed has none. */
static bool write_batch(struct table *t, struct call *call, const struct lineage *lineage,
                        struct error *err)
{
    struct trace_request request;
    bool found = false;

    if (lineage->batch_id > 0 && !store_trace_request(call->reader.store, call->reader.arena,
                                                      lineage->batch_id, &request, &found, err))
        return false;
    if (!found) {
        table_text(t, STR(""));
        return true;
    }
    table_link(
        t,
        arena_printf(t->h->out->arena, "/runs/batch/%" PRId64 "/%" PRId64, lineage->run_id,
                     request.batch_no),
        arena_printf(t->h->out->arena, "%" PRId64 "/%" PRId64, lineage->run_id, request.batch_no));
    return true;
}

static bool write_quarantined(struct table *t, struct call *call, const struct quarantined *record,
                              struct error *err)
{
    const int64_t now_us = call->reader.now_us;
    struct arena *arena = t->h->out->arena;

    table_row(t);
    table_row_link(t, "/quarantine/", record->id);
    table_text(t, record->source);
    if (record->provider_id.len > 0)
        table_link(t, PAGE_PATH(arena, "/why", record->source, record->provider_id),
                   record->provider_id);
    else
        table_text(t, STR(""));
    table_text(t, record->reason);
    table_error(t, record->detail);
    table_time(t, record->created_us, now_us);
    table_row_link(t, "/runs/task/", record->lineage.task_id);
    return write_batch(t, call, &record->lineage, err);
}

static bool write_quarantine(struct html *h, struct call *call,
                             const struct view_quarantine_list *list, struct error *err)
{
    struct table t;

    page_section(h, "quarantine", STR("Quarantine"));
    if (list->count == 0) {
        show_none(h, "No record is in quarantine.");
        html_end(h);
        return true;
    }
    TABLE_OPEN(&t, h, "Records that could not be judged", "Number", "Source", "Record", "Reason",
               "Detail", "Since", "Task", "Batch");
    for (size_t i = 0; i < list->count; i++) {
        if (!write_quarantined(&t, call, &list->items[i], err))
            return false;
    }
    table_close(&t);
    if (list->is_full)
        call_next_row(call, "after", list->items[list->count - 1].id);
    page_next(h, call);
    html_end(h);
    return true;
}

static void write_act(struct html *h, struct call *call, const char *label, const char *verb,
                      struct str ids)
{
    const bool is_drop = str_eq(str_of(verb), STR("drop"));
    const struct act_field fields[] = {
        { .name = "ids",
          .label = "Numbers",
          .option = "",
          .kind = ids.len > 0 ? INPUT_HIDDEN : INPUT_TEXT,
          .value = ids,
          .is_required = true },
        { .name = "note", .label = "Note", .option = "--note" },
    };
    struct arena *arena = call->reader.arena;

    page_act(
        h, call,
        &(struct page_act){
            .label = label,
            .of = ids,
            .path = arena_printf(arena, "/form/quarantine/%s", verb),
            .command = arena_printf(arena, "patra quarantine %s%s%s%.*s", verb,
                                    is_drop ? " --yes" : "", ids.len > 0 ? " " : "", STR_ARG(ids)),
            .fields = fields,
            .field_count = ARRAY_LEN(fields),
            .can_dry_run = !is_drop,
            .is_grave = is_drop,
        });
}

static void write_acts(struct html *h, struct call *call, struct str ids)
{
    html_class(h, "div", "acts");
    write_act(h, call, "Read quarantined again", "retry", ids);
    write_act(h, call, "Drop quarantined", "drop", ids);
    html_end(h);
}

bool page_errors(struct call *call, struct error *err)
{
    const int64_t now_us = call->reader.now_us;
    const struct view_recent_filter filter = {
        .source = call_text(call, "source"),
        .from_us = call_has(call, "from") ? call_number(call, "from") : now_us - US_PER_DAY,
        .to_us = now_us,
        .limit = ERRORS_SHOWN,
    };
    const struct quarantine_filter quarantine = { .source = call_text(call, "source"),
                                                  .after_id = call_number(call, "after"),
                                                  .limit = QUARANTINE_SHOWN };
    struct view_quarantine_list records;
    struct view_error_list list;
    struct html h;

    if (!view_errors(&call->reader, &filter, &list, err) ||
        !view_quarantine_list(&call->reader, &quarantine, &records, err))
        return false;
    page_open(&h, call, &(struct page_head){ .board = "errors", .title = STR("Errors") });
    if (!write_filter(&h, call, err))
        return false;
    write_errors(&h, &list, now_us);
    if (!write_quarantine(&h, call, &records, err))
        return false;
    write_acts(&h, call, STR(""));
    return page_close(&h, call, err);
}

/* ---- one record in quarantine ---- */

bool page_quarantined(struct call *call, struct error *err)
{
    const int64_t id = call_number(call, "id");
    struct arena *arena = call->reader.arena;
    struct quarantined record;
    struct html h;

    if (!view_quarantined(&call->reader, id, &record, err))
        return false;
    page_open(&h, call,
              &(struct page_head){ .board = "errors",
                                   .is_still = true,
                                   .title = arena_printf(arena, "Quarantined %" PRId64, id) });
    facts_open(&h);
    fact_text(&h, "Source", record.source);
    fact_text(&h, "Endpoint", record.endpoint);
    fact_text(&h, "Record", record.provider_id);
    fact_text(&h, "State", view_quarantine_state(&record));
    fact_text(&h, "Reason", record.reason);
    fact(&h, "Since");
    show_time(&h, record.created_us, call->reader.now_us);
    fact_end(&h);
    fact(&h, "Task");
    show_link_row(&h, "/runs/task/", record.lineage.task_id);
    fact_end(&h);
    facts_close(&h);
    html_start(&h, "p");
    part_error(&h, record.detail);
    html_end(&h);
    if (record.resolution == QUARANTINE_OPEN)
        write_acts(&h, call, arena_printf(arena, "%" PRId64, id));
    html_element(&h, "h2", STR("As it was received"));
    show_json(&h, record.payload);
    return page_close(&h, call, err);
}
