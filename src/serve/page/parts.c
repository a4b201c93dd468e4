/* What several boards show. */
#include "serve/page/parts.h"

#include <inttypes.h>

#include "base/instant.h"
#include "base/list.h"
#include "base/mask.h"
#include "port/store_registry.h"

/* ---- errors ---- */

void part_error(struct html *h, struct str text)
{
    const struct str masked = mask_personal_copy(h->out->arena, text);

    html_class(h, "span", "error");
    html_text(h, masked);
    html_end(h);
}

void table_error(struct table *t, struct str text)
{
    table_cell(t);
    if (text.len > 0)
        part_error(t->h, text);
    else
        html_text(t->h, STR("-"));
    table_cell_end(t);
}

/* ---- gates ---- */

void part_rate(struct html *h, const struct view_gate *gate)
{
    const double wanted = view_gate_limit(gate).per_second;
    const bool is_announced =
        gate->view.provider_rate > 0 && gate->view.provider_rate < gate->view.rate;
    const double now =
        (double)(is_announced ? gate->view.provider_rate : gate->view.rate) / (double)MICRO;

    if (!gate->is_configured)
        html_textf(h, "%.2f/s", now);
    else if (!gate->view.is_known)
        html_textf(h, "%.2f/s, not used yet", wanted);
    else
        html_textf(h, "%.2f of %.2f/s%s", now, wanted, is_announced ? ", the source's limit" : "");
}

void part_quota(struct html *h, const struct gate_view_quota *quota, int64_t now_us)
{
    if (quota->limit == 0) {
        html_text(h, STR("no limit"));
        return;
    }
    show_count(h, quota->used);
    html_text(h, STR(" of "));
    show_count(h, quota->limit);
    html_text(h, STR(", ends "));
    show_time(h, quota->until_us, now_us);
}

void part_block(struct html *h, const struct view_gate *gate, int64_t now_us)
{
    const struct view_gate_block block = view_gate_block(gate, now_us);

    if (gate->view.refused_us > 0) {
        show_word(h, STR("STOPPED"));
        html_text(h, STR(" credential refused"));
    } else if (block.is_blocked) {
        html_textf(h, "%.*s, ", STR_ARG(WAIT_REASON_CODES.items[block.reason].meaning));
        show_time(h, block.until_us, now_us);
    } else {
        html_text(h, STR("open"));
    }
}

/* ---- facts ---- */

void facts_open(struct html *h)
{
    html_class(h, "dl", "facts");
}

void fact(struct html *h, const char *name)
{
    html_start(h, "div");
    html_element(h, "dt", str_of(name));
    html_start(h, "dd");
}

void fact_end(struct html *h)
{
    html_end(h);
    html_end(h);
}

void fact_text(struct html *h, const char *name, struct str text)
{
    fact(h, name);
    html_text(h, text.len > 0 ? text : STR("-"));
    fact_end(h);
}

void fact_number(struct html *h, const char *name, int64_t number)
{
    fact(h, name);
    show_count(h, number);
    fact_end(h);
}

void facts_close(struct html *h)
{
    html_end(h);
}

/* ---- operations ---- */

void part_pause(struct html *h, struct call *call, struct str source, bool is_paused)
{
    static const struct act_field fields[] = {
        { .name = "reason", .label = "Reason", .option = "--reason" },
    };
    struct arena *arena = call->reader.arena;
    const char *verb = is_paused ? "resume" : "pause";

    page_act(h, call,
             &(struct page_act){
                 .label = is_paused ? "Resume" : "Pause",
                 .of = source,
                 .path = PAGE_PATH(arena, "/form/sources", source, str_of(verb)),
                 .command = arena_printf(arena, "patra %s %.*s", verb, STR_ARG(source)),
                 .fields = fields,
                 .field_count = is_paused ? 0 : ARRAY_LEN(fields),
             });
}

void part_trigger(struct html *h, struct call *call, struct str source)
{
    const struct act_field fields[] = {
        { .name = "operation", .label = "Operation", .option = "", .value = STR("harvest") },
        { .name = "from", .label = "From", .option = "--from" },
        { .name = "to", .label = "To", .option = "--to" },
    };
    struct arena *arena = call->reader.arena;

    page_act(h, call,
             &(struct page_act){
                 .label = "Trigger",
                 .of = source,
                 .path = PAGE_PATH(arena, "/form/sources", source, STR("trigger")),
                 .command = arena_printf(arena, "patra trigger %.*s", STR_ARG(source)),
                 .fields = fields,
                 .field_count = ARRAY_LEN(fields),
                 .can_dry_run = true,
             });
}

void part_update(struct html *h, struct call *call, struct str source, struct str id)
{
    const struct act_field fields[] = {
        { .name = "operation", .kind = INPUT_HIDDEN, .value = STR("update") },
        { .name = "ids", .kind = INPUT_HIDDEN, .value = id },
    };
    struct arena *arena = call->reader.arena;

    page_act(h, call,
             &(struct page_act){
                 .label = "Request again",
                 .of = id,
                 .path = PAGE_PATH(arena, "/form/sources", source, STR("trigger")),
                 .command = arena_printf(arena, "patra trigger %.*s update --id %.*s",
                                         STR_ARG(source), STR_ARG(id)),
                 .fields = fields,
                 .field_count = ARRAY_LEN(fields),
             });
}

/* ---- choices ---- */

static void write_option(struct html *h, struct str value, struct str text, bool is_chosen)
{
    html_start(h, "option");
    html_attr(h, "value", value);
    if (is_chosen)
        html_flag(h, "selected");
    html_text(h, text);
    html_end(h);
}

bool part_source_choice(struct html *h, struct call *call, struct str chosen, bool with_all,
                        struct error *err)
{
    struct registry_entry_list list;

    if (!store_registry_list(call->reader.store, call->reader.arena, call->reader.now_us, &list,
                             err))
        return false;
    html_start(h, "label");
    html_text(h, STR("Source "));
    html_start(h, "select");
    html_attr(h, "name", STR("source"));
    if (with_all)
        write_option(h, STR(""), STR("all"), chosen.len == 0);
    for (size_t i = 0; i < list.count; i++)
        write_option(h, list.items[i].code, list.items[i].code, str_eq(list.items[i].code, chosen));
    html_end(h);
    html_end(h);
    return true;
}

void part_code_choice(struct html *h, const char *name, const char *label,
                      const struct code_table *codes, int chosen)
{
    html_start(h, "label");
    html_textf(h, "%s ", label);
    html_start(h, "select");
    html_attr(h, "name", str_of(name));
    write_option(h, STR(""), STR("all"), chosen < 0);
    for (size_t i = 0; i < codes->count; i++)
        write_option(h, codes->items[i].code, codes->items[i].code, (int)i == chosen);
    html_end(h);
    html_end(h);
}
