/* patra offset show and reset of a bus. */
#include "cmd/offset/offset_bus.h"

#include <inttypes.h>

#include "adapter/bus_open.h"
#include "adapter/sink_open.h"
#include "adapter/system/system.h"
#include "base/text.h"
#include "cli/columns.h"
#include "cli/confirm.h"
#include "cli/output.h"
#include "cli/who.h"
#include "cmd/bus/bus.h"
#include "engine/consume/bus_reset.h"
#include "port/bus_parts.h"
#include "port/store_bus_offset.h"
#include "port/store_rate.h"

enum { BYTES_MAX = 64 << 20 };

struct work {
    const struct invocation *invocation;
    struct arena arena;
    struct clock clock;
    struct system_secrets secrets;
    struct bus_spec bus_spec;
    struct bus *bus;
    struct store *sink;
    int64_t now_us; /* by the sink */
};

bool offset_is_of_bus(const struct invocation *invocation)
{
    return invocation_value(invocation, "sink") != NULL;
}

static bool open_sink(struct work *w, struct error *err)
{
    const char *sink = invocation_value(w->invocation, "sink");
    const int64_t now_us = clock_now_us(&w->clock);

    return sink_open(NULL, str_of(sink), &w->secrets.source, now_us, &w->sink, err) &&
           store_clock(w->sink, now_us, &w->now_us, err);
}

static enum exit_code run(const struct invocation *invocation, struct work *w,
                          bool (*verb)(struct work *w, bool *clean, struct error *err))
{
    enum exit_code code = EXIT_DONE;
    bool clean = true;
    struct error err;

    w->invocation = invocation;
    w->clock = system_clock();
    system_secrets_init(&w->secrets, NULL);
    arena_init(&w->arena, BYTES_MAX);
    if (!open_sink(w, &err) || !verb(w, &clean, &err))
        code = command_failed(invocation, &err);
    else if (!clean)
        code = EXIT_FOUND;
    bus_close(w->bus);
    store_close(w->sink);
    arena_release(&w->arena);
    return code;
}

/* ---- show ---- */

/* BUS/NAME: of this projection, or of all. */
static bool is_wanted(const struct work *w, const struct bus_offset *offset)
{
    struct str name = offset->name;

    (void)str_cut(&name, '/');
    return w->invocation->operand_count == 0 || str_eq(name, str_of(w->invocation->operands[0]));
}

static bool print_table(struct work *w, const struct bus_offset_list *list, struct error *err)
{
    static const char *const heads[] = { "BUS/PROJECTION", "LANE",       "APPLIED", "NEWEST EVENT",
                                         "PUBLISHED",      "APPLIED AT", "READER" };
    struct columns columns;

    columns_init(&columns, &w->arena, heads, ARRAY_LEN(heads));
    for (size_t i = 0; i < list->count; i++) {
        const struct bus_offset *offset = &list->items[i];

        if (!is_wanted(w, offset))
            continue;
        columns_cell(&columns, offset->name);
        columns_i64(&columns, offset->newest.lane);
        columns_i64(&columns, offset->newest.events);
        columns_cell(&columns,
                     offset->newest.event_id.len > 0 ? offset->newest.event_id : STR("-"));
        columns_brief(&columns, offset->newest.published_us, w->now_us);
        columns_brief(&columns, offset->updated_us, w->now_us);
        columns_cell(&columns, offset->by);
    }
    return columns_print(&columns, w->invocation->out, err);
}

static bool print_json(struct work *w, const struct bus_offset_list *list, struct error *err)
{
    struct output output;
    struct json_writer *j = output_begin(&output, &w->arena);

    json_write_array(j);
    for (size_t i = 0; i < list->count; i++) {
        const struct bus_offset *offset = &list->items[i];

        if (!is_wanted(w, offset))
            continue;
        json_write_object(j);
        json_write_member_str(j, STR("name"), offset->name);
        json_write_member_i64(j, STR("lane"), offset->newest.lane);
        json_write_member_i64(j, STR("applied"), offset->newest.events);
        json_write_member_str(j, STR("eventId"), offset->newest.event_id);
        json_write_member_str(j, STR("busId"), offset->newest.bus_id);
        json_write_member_instant(j, STR("publishedAt"), offset->newest.published_us);
        json_write_member_i64(j, STR("lagMs"),
                              (offset->updated_us - offset->newest.published_us) / US_PER_MS);
        json_write_member_instant(j, STR("updatedAt"), offset->updated_us);
        json_write_member_str(j, STR("reader"), offset->by);
        json_write_end(j);
    }
    json_write_end(j);
    return output_end(&output, w->invocation->out, err);
}

static bool show(struct work *w, bool *clean, struct error *err)
{
    struct bus_offset_list list;

    (void)clean;
    return store_bus_offset_list(w->sink, &w->arena, &list, err) &&
           (invocation_flag(w->invocation, "json") ? print_json(w, &list, err)
                                                   : print_table(w, &list, err));
}

enum exit_code offset_bus_show(const struct invocation *invocation)
{
    struct work w = { 0 };

    return run(invocation, &w, show);
}

/* ---- reset ---- */

struct moving {
    struct work work; /* first */
    const struct offset_reset *place;
};

static bool open_bus(struct work *w, struct error *err)
{
    const struct bus_parts parts = { .spec = &w->bus_spec,
                                     .secrets = &w->secrets.source,
                                     .clock = &w->clock };

    return bus_open(&parts, &w->bus, err) &&
           ((w->bus->capabilities & BUS_READ) != 0 ||
            error_set(err, ERROR_REQUEST, "bus.read", "%.*s cannot be read from",
                      STR_ARG(w->bus_spec.name)));
}

static bool is_confirmed(const struct work *w, const struct bus_reset *reset,
                         const struct bus_reset_plan *plan, struct error *err)
{
    FILE *talk = w->invocation->talk;
    char at[INSTANT_TEXT_MAX];

    (void)instant_format(plan->to_us, at);
    fprintf(talk, "%.*s from %.*s\n", STR_ARG(reset->projection), STR_ARG(reset->bus_name));
    if (reset->kind != RESET_LATEST)
        fprintf(talk,
                "  what was published since %s is delivered again, as far as the bus keeps it;\n"
                "  %" PRId64 " events that were received since are applied again\n",
                at, plan->again);
    else if (plan->lag.is_known)
        fprintf(talk, "  %" PRId64 " messages will not be delivered\n", plan->lag.messages);
    else
        fprintf(talk, "  what waits on the bus will not be delivered; how much that is, it does"
                      " not say\n");
    return confirm(w->invocation, "Move it?", err);
}

static bool move(struct work *w, bool *clean, struct error *err)
{
    const struct offset_reset *place = ((struct moving *)w)->place;
    struct bus_reset reset = { .sink = w->sink,
                               .projection = str_of(w->invocation->operands[0]),
                               .kind = place->kind,
                               .at_us = place->at_us,
                               .event_id = place->event_id,
                               .reason = place->reason,
                               .by = who_am_i(&w->arena),
                               .now_us = w->now_us };
    struct bus_reset_plan plan;

    if (!bus_file_read(w->invocation, &w->arena, invocation_value(w->invocation, "bus"),
                       &w->bus_spec, clean, err))
        return false;
    if (!*clean)
        return true;
    reset.bus_name = w->bus_spec.name;
    if (!open_bus(w, err))
        return false;
    reset.bus = w->bus;
    if (!bus_reset_plan(&reset, &w->arena, &plan, err) || !is_confirmed(w, &reset, &plan, err) ||
        !bus_reset_run(&reset, &w->arena, &plan, err))
        return false;
    fprintf(w->invocation->out, "%.*s: moved; %" PRId64 " events are applied again\n",
            STR_ARG(reset.projection), plan.again);
    return true;
}

enum exit_code offset_bus_reset(const struct invocation *invocation,
                                const struct offset_reset *place)
{
    struct moving moving = { .place = place };

    return run(invocation, &moving.work, move);
}
