/* Where to, whether that can be done, and the move itself. */
#include "engine/consume/bus_reset.h"

#include "base/hex.h"
#include "base/instant.h"
#include "port/store_bus_offset.h"

/* Clocks of the bus and the sink differ; to apply too much again is harmless. */
#define CLOCKS_US (10 * US_PER_MINUTE)

enum { FLOW_MESSAGES = 1, FLOW_BYTES = 1 << 20, ID_LEN = 36, VERSION_AT = 14 };

struct str bus_offset_name(struct arena *arena, struct str bus, struct str projection)
{
    return arena_printf(arena, "%.*s/%.*s", STR_ARG(bus), STR_ARG(projection));
}

/* ---- where to ---- */

/* RFC 9562, 5.7: the first 48 bits are milliseconds. */
static bool time_of_id(struct str id, int64_t *at_us)
{
    int64_t ms = 0;

    if (id.len != ID_LEN || id.data[VERSION_AT] != '7')
        return false;
    for (size_t i = 0; i < 13; i++) {
        const int digit = hex_digit(id.data[i]);

        if (i == 8)
            continue; /* the dash */
        if (digit < 0)
            return false;
        ms = ms * 16 + digit;
    }
    *at_us = ms * US_PER_MS;
    return true;
}

static bool find_event(const struct bus_reset *reset, int64_t *to_us, struct error *err)
{
    bool has;

    if (!store_bus_offset_has(reset->sink, reset->projection, reset->event_id, &has, err))
        return false;
    if (!has)
        return error_set(err, ERROR_REQUEST, "offset.event", "%.*s has not received event %.*s",
                         STR_ARG(reset->projection), STR_ARG(reset->event_id));
    return time_of_id(reset->event_id, to_us) ||
           error_set(err, ERROR_REQUEST, "offset.event",
                     "the id of event %.*s has no time, and a bus goes by time: give that",
                     STR_ARG(reset->event_id));
}

static bool find(const struct bus_reset *reset, int64_t *to_us, struct error *err)
{
    switch (reset->kind) {
    case RESET_EARLIEST:
        *to_us = 0;
        return true;
    case RESET_LATEST:
        *to_us = reset->now_us;
        return true;
    case RESET_TIME:
        *to_us = reset->at_us;
        return true;
    case RESET_EVENT:
        return find_event(reset, to_us, err);
    case RESET_POSITION:
        break;
    }
    return error_set(err, ERROR_REQUEST, "offset.position", "a bus has no positions of lanes");
}

/* ---- whether it can be done ---- */

static bool check_bus(const struct bus_reset *reset, struct error *err)
{
    return (reset->bus->capabilities & BUS_SEEK_TIME) != 0 ||
           error_set(err, ERROR_REQUEST, "bus.seek",
                     "the bus %.*s cannot be moved: consume it under another name, or send its"
                     " events again from the store (patra offset reset %.*s)",
                     STR_ARG(reset->bus_name), STR_ARG(reset->bus_name));
}

static bool check_readers(const struct bus_reset *reset, struct arena *arena, struct error *err)
{
    const struct offset_key key = { BUS_OFFSET_GROUP,
                                    bus_offset_name(arena, reset->bus_name, reset->projection) };
    struct reader_state_list readers;

    if (!store_offset_readers(reset->sink, arena, &key, &readers, err))
        return false;
    for (size_t i = 0; i < readers.count; i++) {
        if (readers.items[i].alive_until_us >= reset->now_us)
            return error_set(err, ERROR_REQUEST, "offset.read",
                             "%.*s reads it: stop it first, or wait some seconds if it died",
                             STR_ARG(readers.items[i].owner));
    }
    return true;
}

static int64_t forget_since(const struct bus_reset *reset, int64_t to_us)
{
    return reset->kind == RESET_LATEST ? INT64_MAX : to_us > CLOCKS_US ? to_us - CLOCKS_US : 0;
}

bool bus_reset_plan(const struct bus_reset *reset, struct arena *arena, struct bus_reset_plan *plan,
                    struct error *err)
{
    const struct bus_flow flow = { FLOW_MESSAGES, FLOW_BYTES };

    *plan = (struct bus_reset_plan){ 0 };
    if (!check_bus(reset, err) || !find(reset, &plan->to_us, err) ||
        !check_readers(reset, arena, err) ||
        !bus_subscribe(reset->bus, reset->projection, &flow, err))
        return false;
    if (reset->kind == RESET_LATEST)
        return bus_lag(reset->bus, &plan->lag, err);
    return store_bus_offset_received(reset->sink, reset->projection,
                                     forget_since(reset, plan->to_us), &plan->again, err);
}

/* The sink first: events that it has forgotten and the bus does not bring again are no loss. */
bool bus_reset_run(const struct bus_reset *reset, struct arena *arena,
                   const struct bus_reset_plan *plan, struct error *err)
{
    char at[INSTANT_TEXT_MAX];
    const struct str at_text = { at, instant_format(plan->to_us, at) };
    const struct bus_offset_move move = {
        .name = bus_offset_name(arena, reset->bus_name, reset->projection),
        .inbox = reset->projection,
        .to_us = plan->to_us,
        .forget_us = forget_since(reset, plan->to_us),
        .to_text = reset->kind == RESET_EVENT ? reset->event_id : at_text,
        .reason = reset->reason,
        .by = reset->by,
        .now_us = reset->now_us,
    };

    if (arena->failed)
        return arena_error(arena, err);
    return store_bus_offset_move(reset->sink, &move, err) &&
           (bus_seek(reset->bus, plan->to_us, err) || error_wrap(err, "move the bus"));
}
