/* Gate: what each source allows, what is used of it, and what was refused. */
#include <inttypes.h>

#include "base/instant.h"
#include "port/store_pause.h"
#include "port/store_registry.h"
#include "serve/page/boards.h"
#include "serve/page/parts.h"
#include "view/recent.h"

struct names {
    struct str *items;
    size_t count;
};

static bool list_sources(struct call *call, struct names *names, struct error *err)
{
    struct registry_entry_list list;

    if (!store_registry_list(call->reader.store, call->reader.arena, call->reader.now_us, &list,
                             err))
        return false;
    names->items = ARENA_ARRAY(call->reader.arena, struct str, list.count + 1);
    names->count = list.count;
    if (names->items == NULL)
        return arena_error(call->reader.arena, err);
    for (size_t i = 0; i < list.count; i++)
        names->items[i] = list.items[i].code;
    return true;
}

static void write_gate(struct table *t, const struct view_gate *gate, int64_t now_us)
{
    struct html *h = t->h;

    table_row(t);
    table_text(t, gate->key);
    table_text(t, gate->of.len > 0 ? gate->of : STR("no source has it now"));
    table_cell(t);
    part_rate(h, gate);
    table_cell_end(t);
    table_cell(t);
    if (gate->view.is_known && gate->is_configured)
        html_textf(h, "%" PRId64 " of %" PRId64, gate->view.tokens / 1000000,
                   view_gate_limit(gate).burst);
    else
        html_text(h, STR("-"));
    table_cell_end(t);
    table_cell(t);
    part_quota(h, &gate->view.hour, now_us);
    table_cell_end(t);
    table_cell(t);
    part_quota(h, &gate->view.day, now_us);
    table_cell_end(t);
    table_cell(t);
    part_block(h, gate, now_us);
    table_cell_end(t);
}

static void write_gates(struct html *h, const struct view_gate_list *gates, int64_t now_us)
{
    struct table t;

    page_section(h, "gates", STR("Allowed"));
    if (gates->count == 0) {
        show_none(h, "There is no gate: no source is in force.");
        html_end(h);
        return;
    }
    TABLE_OPEN(&t, h, "Rate gates", "Gate", "Of", "Rate", "Bucket", "This hour", "Today", "Now");
    for (size_t i = 0; i < gates->count; i++)
        write_gate(&t, &gates->items[i], now_us);
    table_close(&t);
    html_end(h);
}

static void write_used(struct html *h, const struct view_queue *queue)
{
    const double seconds = (double)(queue->to_us - queue->from_us) / (double)US_PER_SECOND;
    struct table t;

    page_section(h, "used", STR("Used in the last hour"));
    if (queue->count == 0) {
        show_none(h, "Nothing was requested, and nothing waits.");
        html_end(h);
        return;
    }
    TABLE_OPEN(&t, h, "Requests of the last hour", "Source", "Endpoint", "Operation", "#Runs",
               "#Requests", "#Per second", "#429s", "#Records", "#Latency, ms");
    for (size_t i = 0; i < queue->count; i++) {
        const struct view_queue_row *row = &queue->items[i];

        table_row(&t);
        table_link(&t, PAGE_PATH(h->out->arena, "/cursors", row->count.partition.source),
                   row->count.partition.source);
        table_text(&t, row->count.partition.endpoint);
        table_text(&t, page_lower(t.h->out->arena,
                                  code_of(&OPERATION_CODES, (int)row->count.partition.operation)));
        table_number(&t, row->runs);
        table_number(&t, row->requests);
        table_text(&t, arena_printf(h->out->arena, "%.2f", (double)row->requests / seconds));
        table_number(&t, row->throttled);
        table_number(&t, row->records);
        table_number(&t, row->latency_ms);
    }
    table_close(&t);
    html_end(h);
}

bool page_gate(struct call *call, struct error *err)
{
    struct view_gate_filter filter = { .with_unconfigured = true };
    const struct view_recent_filter hour = { .from_us = call->reader.now_us - US_PER_HOUR,
                                             .to_us = call->reader.now_us };
    struct view_gate_list gates;
    struct view_queue queue;
    struct pause_list pauses;
    struct names names;
    struct html h;

    if (!list_sources(call, &names, err) || !call_clock(call, &filter.now_us, err))
        return false;
    filter.sources = names.items;
    filter.source_count = names.count;
    if (!view_gate_list(&call->reader, &filter, &gates, err) ||
        !view_queue(&call->reader, &hour, &queue, err) ||
        !store_pause_list(call->reader.store, call->reader.arena, STR(""), &pauses, err))
        return false;
    page_open(&h, call, &(struct page_head){ .board = "gate", .title = STR("Gate") });
    write_gates(&h, &gates, filter.now_us);
    write_used(&h, &queue);
    html_class(&h, "div", "acts");
    for (size_t i = 0; i < names.count; i++)
        part_pause(&h, call, names.items[i], pause_list_has(&pauses, names.items[i], STR("")));
    html_end(&h);
    return page_close(&h, call, err);
}
