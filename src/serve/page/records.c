/* Records: those of a source, and one of them. */
#include <inttypes.h>

#include "port/store_registry.h"
#include "serve/page/boards.h"
#include "serve/page/parts.h"
#include "view/record.h"

static bool write_search(struct html *h, struct call *call, struct str source, struct error *err)
{
    html_class(h, "form", "filter");
    html_attr(h, "method", STR("get"));
    html_attr(h, "action", STR("/why"));
    if (!part_source_choice(h, call, source, false, err))
        return false;
    html_start(h, "label");
    html_text(h, STR("Record "));
    html_start(h, "input");
    html_attr(h, "name", STR("id"));
    html_flag(h, "required");
    html_end(h);
    html_end(h);
    html_element(h, "button", STR("Find"));
    html_end(h);
    return true;
}

static bool write_source(struct table *t, struct call *call, const struct registry_entry *entry,
                         struct error *err)
{
    int64_t count;

    if (!store_record_count_live(call->reader.store, entry->code, &count, err))
        return false;
    table_row(t);
    table_link(t, PAGE_PATH(call->reader.arena, "/records", entry->code), entry->code);
    table_cell(t);
    show_count(t->h, count);
    table_cell_end(t);
    table_number(t, entry->version);
    table_time(t, entry->changed_us, call->reader.now_us);
    return true;
}

bool page_records(struct call *call, struct error *err)
{
    struct registry_entry_list list;
    struct table t;
    struct html h;

    if (!store_registry_list(call->reader.store, call->reader.arena, call->reader.now_us, &list,
                             err))
        return false;
    page_open(&h, call, &(struct page_head){ .board = "records", .title = STR("Records") });
    if (!write_search(&h, call, STR(""), err))
        return false;
    page_section(&h, "sources", STR("Sources"));
    TABLE_OPEN(&t, &h, "Sources in force", "Source", "#Records", "#Version of its file", "Changed");
    for (size_t i = 0; i < list.count; i++) {
        if (!write_source(&t, call, &list.items[i], err))
            return false;
    }
    table_close(&t);
    html_end(&h);
    return page_close(&h, call, err);
}

/* ---- of one source ---- */

static void write_entry(struct table *t, struct str source, const struct record_entry *entry,
                        int64_t now_us)
{
    struct arena *arena = t->h->out->arena;

    table_row(t);
    table_link(t, PAGE_PATH(arena, "/records", source, entry->provider_id), entry->provider_id);
    table_text(t, entry->endpoint);
    table_number(t, entry->version);
    table_cell(t);
    if (entry->has_updated)
        show_instant(t->h, entry->updated_us);
    else
        html_text(t->h, STR("-"));
    table_cell_end(t);
    table_time(t, entry->changed_us, now_us);
    table_number(t, entry->bytes);
    table_link(t, PAGE_PATH(arena, "/why", source, entry->provider_id), STR("why"));
}

bool page_source_records(struct call *call, struct error *err)
{
    const struct str source = call_text(call, "source"), after = call_text(call, "after");
    struct record_walk walk = { .source = source,
                                .states =
                                    call_flag(call, "deleted") ? RECORDS_DELETED : RECORDS_LIVE,
                                .with_changed = true,
                                .limit = call_number(call, "limit") };
    struct view_record_list list;
    struct table t;
    struct html h;

    if (after.len > 0 && !view_record_place(after, &walk.after))
        return error_set(err, ERROR_REQUEST, "request.parameter",
                         "after: takes what the page before named");
    if (!view_record_list(&call->reader, &walk, &list, err))
        return false;
    page_open(&h, call,
              &(struct page_head){
                  .board = "records",
                  .is_still = true,
                  .title = arena_printf(call->reader.arena, "Records of %.*s", STR_ARG(source)) });
    if (!write_search(&h, call, source, err))
        return false;
    if (list.records.count == 0)
        show_none(&h, "There is no record here.");
    TABLE_OPEN(&t, &h, "Records, in the order in which they were first stored", "Record",
               "Endpoint", "#Version", "Date of the source", "Changed here", "#Bytes", "Why");
    for (size_t i = 0; i < list.records.count; i++)
        write_entry(&t, source, &list.records.items[i], call->reader.now_us);
    table_close(&t);
    if (list.next.len > 0)
        call_next(call, "after", list.next);
    page_next(&h, call);
    return page_close(&h, call, err);
}

/* ---- one ---- */

static void write_facts(struct html *h, const struct view_record *view, int64_t now_us)
{
    const struct stored_record *record = &view->record;

    facts_open(h);
    fact(h, "Source");
    show_link(h, PAGE_PATH(h->out->arena, "/records", record->source), record->source);
    fact_end(h);
    fact_text(h, "Endpoint", record->endpoint);
    fact_number(h, "Version", record->version);
    fact_text(h, "State", record->is_deleted ? STR("deleted") : STR("live"));
    if (record->has_updated) {
        fact(h, "Date of the source");
        show_instant(h, record->updated_us);
        fact_end(h);
    }
    fact(h, "First stored");
    show_time(h, record->created_us, now_us);
    fact_end(h);
    fact(h, "Last checked");
    show_time(h, record->checked_us, now_us);
    fact_end(h);
    if (record->lineage.task_id > 0) {
        fact(h, "Brought by task");
        show_link_row(h, "/runs/task/", record->lineage.task_id);
        fact_end(h);
    }
    facts_close(h);
}

static void write_history(struct html *h, const struct view_record *view, int64_t now_us)
{
    struct table t;

    html_element(h, "h2", STR("History"));
    if (view->history.count == 0) {
        show_none(h, "Its events are gone.");
        return;
    }
    TABLE_OPEN(&t, h, "Events of this record", "Version", "Event", "At", "Task");
    for (size_t i = 0; i < view->history.count; i++) {
        const struct stored_event *stored = &view->history.items[i];

        table_row(&t);
        table_number(&t, stored->event.version);
        table_text(&t, stored->event.event_type);
        table_time(&t, stored->event.occurred_us, now_us);
        table_row_link(&t, "/runs/task/", stored->lineage.task_id);
    }
    table_close(&t);
}

bool page_record(struct call *call, struct error *err)
{
    const struct view_record_query query = { .key = { .source = call_text(call, "source"),
                                                      .endpoint = call_text(call, "endpoint"),
                                                      .provider_id = call_text(call, "id") },
                                             .with_history = true,
                                             .specs = api_settings(call->api)->specs };
    struct view_record view;
    struct html h;

    if (!view_record(&call->reader, &query, &view, err))
        return false;
    page_open(&h, call,
              &(struct page_head){
                  .board = "records", .is_still = true, .title = query.key.provider_id });
    write_facts(&h, &view, call->reader.now_us);
    html_class(&h, "div", "acts");
    show_link(&h, PAGE_PATH(call->reader.arena, "/why", query.key.source, query.key.provider_id),
              STR("Where is it on its way?"));
    part_update(&h, call, query.key.source, query.key.provider_id);
    html_end(&h);
    html_element(&h, "h2", STR("Fields"));
    if (view.fields.missing.len > 0)
        html_element(&h, "p", view.fields.missing);
    else
        show_json(&h, view.fields.json);
    write_history(&h, &view, call->reader.now_us);
    html_element(&h, "h2", STR("As it was received"));
    show_json(&h, view.record.payload);
    return page_close(&h, call, err);
}
