/* The stream as a bus: what there is in the store's ports, and SQL for the foreign outbox. */
#include "stream_bus.h"

#include <poll.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "adapter/system/system.h"
#include "base/buf.h"
#include "base/instant.h"
#include "contract.h"
#include "engine/publish/sequencer.h"
#include "port/store_offset.h"
#include "port/store_subscription.h"

#define LEASE_US (5 * US_PER_SECOND)
enum { OWNER_MAX = 64, UNSETTLED_MAX = 4096, POLL_MS = 5 };

struct lane {
    int64_t epoch;
    int64_t saved;     /* everything up to it is acknowledged */
    int64_t delivered; /* handed out up to it */
};

struct unsettled {
    int64_t lane;
    int64_t pos;
    bool is_acked;
};

struct stream_bus {
    struct bus bus; /* first */
    char dsn[512];
    struct store *store;
    struct clock clock;
    char owner[OWNER_MAX];
    struct offset_key key;
    char group[OWNER_MAX];
    struct bus_flow flow;
    struct lane lanes[OUTBOX_LANES];
    struct unsettled unsettled[UNSETTLED_MAX];
    size_t unsettled_count;
    struct arena arena;
};

static struct stream_bus *of(struct bus *bus)
{
    return (struct stream_bus *)bus;
}

/* ---- publishing ---- */

static void add_text(struct buf *sql, struct str text)
{
    buf_add_char(sql, '\'');
    for (size_t i = 0; i < text.len; i++) {
        if (text.data[i] == '\'')
            buf_add_char(sql, '\'');
        buf_add_char(sql, text.data[i]);
    }
    buf_add_char(sql, '\'');
}

/* "type\0name\0value\0name\0value\0\0body": the outbox has no place for these. */
static void add_body(struct buf *sql, const struct bus_message *message, bool is_postgres)
{
    const unsigned char nul = 0;

    buf_add(sql, is_postgres ? STR("'\\x") : STR("X'"));
    buf_add_hex(sql, (const unsigned char *)message->content_type.data, message->content_type.len);
    buf_add_hex(sql, &nul, 1);
    for (size_t i = 0; i < message->attribute_count; i++) {
        const struct bus_attribute *attribute = &message->attributes[i];

        buf_add_hex(sql, (const unsigned char *)attribute->name.data, attribute->name.len);
        buf_add_hex(sql, &nul, 1);
        buf_add_hex(sql, (const unsigned char *)attribute->value.data, attribute->value.len);
        buf_add_hex(sql, &nul, 1);
    }
    buf_add_hex(sql, &nul, 1);
    buf_add_hex(sql, (const unsigned char *)message->body.data, message->body.len);
    buf_add_char(sql, '\'');
}

static void add_row(struct buf *sql, const struct bus_message *message, bool is_postgres)
{
    struct str id = message->key;
    const struct str type = str_cut(&id, '/');

    buf_printf(sql, "(%" PRId64 ", %s, ", message->version,
               is_postgres ? "'2026-01-01T00:00:00Z'" : "1767225600000000");
    add_text(sql, message->event_id);
    buf_printf(sql, ", %" PRId64 ", 1, 'Test', ", message->lane);
    add_text(sql, type);
    buf_add(sql, STR(", "));
    add_text(sql, id);
    buf_add(sql, STR(", "));
    add_body(sql, message, is_postgres);
    buf_add_char(sql, ')');
}

static bool sequence(struct stream_bus *bus, struct error *err)
{
    struct sequencer *sequencer;
    struct sequencer_round round = { .appended = 1 };
    bool ok;

    if (!sequencer_open(&sequencer, bus->store,
                        &(struct sequencer_settings){ .owner = str_of(bus->owner) }, err))
        return false;
    ok = true;
    while (ok && round.appended > 0)
        ok = sequencer_round(sequencer, clock_now_us(&bus->clock), &round, err);
    ok = ok && sequencer_release(sequencer, err);
    sequencer_close(sequencer);
    return ok;
}

static bool publish(struct bus *base, struct arena *arena, const struct bus_publish *publish,
                    struct bus_receipt *receipts, struct error *err)
{
    struct stream_bus *bus = of(base);
    const bool is_postgres = store_dsn_kind(str_of(bus->dsn)) == STORE_POSTGRES;
    struct buf sql;

    if (publish->count == 0)
        return true;
    buf_init(&sql, arena, (size_t)16 << 20);
    buf_add(&sql, STR("INSERT INTO ing_outbox (version, occurred_at, event_id, lane, "
                      "schema_version, event_type, aggregate_type, aggregate_id, body) VALUES "));
    for (size_t i = 0; i < publish->count; i++) {
        buf_add(&sql, i > 0 ? STR(", ") : STR(""));
        add_row(&sql, &publish->messages[i], is_postgres);
    }
    buf_add(&sql, STR(" ON CONFLICT DO NOTHING"));
    buf_add_char(&sql, '\0');
    if (!buf_ok(&sql, err))
        return false;
    contract_sql(bus->dsn, sql.data);
    if (!sequence(bus, err))
        return false;
    for (size_t i = 0; i < publish->count; i++)
        receipts[i].outcome = BUS_ACKED;
    return true;
}

static bool check(struct bus *base, int64_t timeout_us, struct error *err)
{
    struct stream_status status;

    (void)timeout_us;
    return store_stream_status(of(base)->store, &of(base)->arena, &status, err);
}

/* ---- reading ---- */

static bool subscribe(struct bus *base, struct str group, const struct bus_flow *flow,
                      struct error *err)
{
    struct stream_bus *bus = of(base);
    struct subscription_applied applied;

    (void)snprintf(bus->group, sizeof(bus->group), "%.*s", STR_ARG(group));
    bus->key = (struct offset_key){ SUBSCRIPTION_GROUP, str_of(bus->group) };
    bus->flow = *flow;
    return store_subscription_apply(
        bus->store,
        &(struct subscription_apply){
            .name = bus->key.subscription,
            .kind = SUBSCRIPTION_PROJECTION,
            .spec = STR("{}"),
            .spec_hash = STR("0000000000000000000000000000000000000000000000000000000000000000"),
            .applied_by = STR("test"),
            .now_us = clock_now_us(&bus->clock) },
        &applied, err);
}

static bool claim(struct stream_bus *bus, struct error *err)
{
    const int64_t now_us = clock_now_us(&bus->clock);
    struct offset_lane_list list;

    if (!store_offset_claim(bus->store, &bus->arena,
                            &(struct offset_claim){ bus->key, str_of(bus->owner), now_us,
                                                    now_us + LEASE_US, OUTBOX_LANES },
                            &list, err))
        return false;
    for (size_t i = 0; i < list.count; i++)
        bus->lanes[list.items[i].lane] = (struct lane){ .epoch = list.items[i].epoch,
                                                        .saved = list.items[i].pos,
                                                        .delivered = list.items[i].pos };
    return true;
}

/* The next of a text's parts, each ended by NUL. */
static struct str part(struct str *rest)
{
    return str_cut(rest, '\0');
}

static bool take(struct stream_bus *bus, struct arena *arena, const struct stream_event *event,
                 struct bus_delivery *delivery)
{
    const struct stored_event *stored = &event->stored;
    struct bus_attribute *attributes = ARENA_ARRAY(arena, struct bus_attribute, 16);
    struct bus_message *message = &delivery->message;
    struct str rest = arena_copy(arena, stored->event.body), name;

    *delivery = (struct bus_delivery){ .published_us = event->sequenced_us };
    message->event_id = arena_copy(arena, stored->event.event_id);
    message->key = arena_printf(arena, "%.*s/%.*s", STR_ARG(stored->aggregate_type),
                                STR_ARG(stored->aggregate_id));
    message->lane = event->lane;
    message->version = stored->event.version;
    message->content_type = part(&rest);
    for (name = part(&rest); name.len > 0; name = part(&rest))
        attributes[message->attribute_count++] = (struct bus_attribute){ name, part(&rest) };
    message->attributes = attributes;
    message->body = rest;
    REQUIRE(bus->unsettled_count < UNSETTLED_MAX, "unsettled");
    bus->unsettled[bus->unsettled_count++] = (struct unsettled){ event->lane, event->pos, false };
    delivery->handle = (uint64_t)event->lane << 40 | (uint64_t)event->pos;
    bus->lanes[event->lane].delivered = event->pos;
    return true;
}

static size_t open_count(const struct stream_bus *bus)
{
    size_t count = 0;

    for (size_t i = 0; i < bus->unsettled_count; i++)
        count += !bus->unsettled[i].is_acked;
    return count;
}

static bool read_some(struct stream_bus *bus, struct arena *arena, size_t most,
                      struct bus_delivery_list *list, struct error *err)
{
    struct stream_place places[OUTBOX_LANES];
    struct stream_event_list events;
    size_t count = 0;

    for (int64_t lane = 0; lane < OUTBOX_LANES; lane++) {
        if (bus->lanes[lane].epoch > 0)
            places[count++] = (struct stream_place){ lane, bus->lanes[lane].delivered };
    }
    if (count == 0 || most == 0)
        return true;
    if (!store_stream_read(bus->store, arena,
                           &(struct stream_read){ places, count, (int64_t)most, 1 << 30 }, &events,
                           err))
        return false;
    list->items = ARENA_ARRAY(arena, struct bus_delivery, most);
    for (size_t i = 0; i < events.count && list->count < most; i++) {
        if (take(bus, arena, &events.items[i], &list->items[list->count]))
            list->count++;
    }
    return true;
}

static bool poll_bus(struct bus *base, struct arena *arena, const struct bus_poll *request,
                     struct bus_delivery_list *list, struct error *err)
{
    struct stream_bus *bus = of(base);
    const int64_t until_us = clock_monotonic_us(&bus->clock) + request->timeout_us;

    for (;;) {
        const size_t room = bus->flow.messages_max - open_count(bus);
        const size_t most = request->messages_max < room ? request->messages_max : room;
        struct pollfd wake = { request->wake_fd, POLLIN, 0 };

        arena_reset(&bus->arena);
        if (!claim(bus, err) || !read_some(bus, arena, most, list, err))
            return false;
        if (list->count > 0 || clock_monotonic_us(&bus->clock) >= until_us)
            return true;
        if (poll(&wake, request->wake_fd >= 0 ? 1 : 0, POLL_MS) > 0)
            return true;
    }
}

/* ---- settling ---- */

static bool is_first(const struct stream_bus *bus, int64_t lane, int64_t pos, bool *acked)
{
    for (size_t i = 0; i < bus->unsettled_count; i++) {
        if (bus->unsettled[i].lane == lane && bus->unsettled[i].pos == pos) {
            *acked = bus->unsettled[i].is_acked;
            return true;
        }
    }
    return false;
}

static void forget(struct stream_bus *bus, int64_t lane, int64_t up_to)
{
    size_t kept = 0;

    for (size_t i = 0; i < bus->unsettled_count; i++) {
        if (bus->unsettled[i].lane != lane || bus->unsettled[i].pos > up_to)
            bus->unsettled[kept++] = bus->unsettled[i];
    }
    bus->unsettled_count = kept;
}

/* Moves the offset over what is acknowledged without a gap. */
static bool save(struct stream_bus *bus, int64_t lane, struct error *err)
{
    const int64_t now_us = clock_now_us(&bus->clock);
    int64_t pos = bus->lanes[lane].saved;
    bool acked = true, held;

    while (is_first(bus, lane, pos + 1, &acked) && acked)
        pos++;
    if (pos == bus->lanes[lane].saved)
        return true;
    if (!store_offset_save(
            bus->store,
            &(struct offset_save){ bus->key, str_of(bus->owner), now_us, now_us + LEASE_US,
                                   &(struct offset_move){ lane, bus->lanes[lane].epoch, pos,
                                                          STR("x"), STR("x"), now_us },
                                   1 },
            &held, err))
        return false;
    if (!held)
        return error_set(err, ERROR_TRANSIENT, "bus.fenced", "another reader has the lane");
    bus->lanes[lane].saved = pos;
    forget(bus, lane, pos);
    return true;
}

static bool settle_one(struct stream_bus *bus, const struct bus_settlement *settlement,
                       struct error *err)
{
    const int64_t lane = (int64_t)(settlement->handle >> 40);
    const int64_t pos = (int64_t)(settlement->handle & ((UINT64_C(1) << 40) - 1));

    if (settlement->verdict == BUS_NACK) { /* and all that follow it in the lane */
        for (size_t i = bus->unsettled_count; i-- > 0;) {
            if (bus->unsettled[i].lane == lane && bus->unsettled[i].pos >= pos)
                bus->unsettled[i] = bus->unsettled[--bus->unsettled_count];
        }
        if (bus->lanes[lane].delivered >= pos)
            bus->lanes[lane].delivered = pos - 1;
        return true;
    }
    for (size_t i = 0; i < bus->unsettled_count && settlement->verdict == BUS_ACK; i++) {
        if (bus->unsettled[i].lane == lane && bus->unsettled[i].pos == pos)
            bus->unsettled[i].is_acked = true;
    }
    return settlement->verdict != BUS_ACK || save(bus, lane, err);
}

static bool settle(struct bus *base, const struct bus_settlement *settlements, size_t count,
                   struct error *err)
{
    for (size_t i = 0; i < count; i++) {
        if (!settle_one(of(base), &settlements[i], err))
            return false;
    }
    return true;
}

/* ---- seek and lag ---- */

/* The position before the first event of the lane that came at this instant or later. */
static bool find_pos(struct stream_bus *bus, int64_t lane, int64_t at_us, int64_t *pos,
                     struct error *err)
{
    struct stream_event_list events;

    *pos = 0;
    for (;;) {
        arena_reset(&bus->arena);
        if (!store_stream_read(
                bus->store, &bus->arena,
                &(struct stream_read){ &(struct stream_place){ lane, *pos }, 1, 100, 1 << 30 },
                &events, err))
            return false;
        for (size_t i = 0; i < events.count; i++) {
            if (events.items[i].sequenced_us >= at_us)
                return true;
            *pos = events.items[i].pos;
        }
        if (events.count == 0)
            return true;
    }
}

static bool seek(struct bus *base, int64_t at_us, struct error *err)
{
    struct stream_bus *bus = of(base);
    bool found;

    for (int64_t lane = 0; lane < OUTBOX_LANES; lane++) {
        int64_t pos;

        if (!find_pos(bus, lane, at_us, &pos, err) ||
            !store_offset_seek(bus->store,
                               &(struct offset_seek){ bus->key, lane, pos, STR("test"), STR("test"),
                                                      clock_now_us(&bus->clock) },
                               &found, err))
            return false;
        bus->lanes[lane] = (struct lane){ 0 };
    }
    bus->unsettled_count = 0;
    return store_offset_leave(bus->store, &bus->key, str_of(bus->owner), err);
}

static bool lag(struct bus *base, struct bus_lag *out, struct error *err)
{
    struct stream_bus *bus = of(base);
    struct offset_state_list states;

    arena_reset(&bus->arena);
    if (!store_offset_states(bus->store, &bus->arena, &bus->key, &states, err))
        return false;
    out->is_known = states.count > 0;
    for (size_t i = 0; i < states.count; i++)
        out->messages += states.items[i].last_pos - states.items[i].pos;
    return true;
}

static void close_bus(struct bus *base)
{
    struct stream_bus *bus = of(base);
    struct error err;

    if (bus->group[0] != '\0' &&
        !store_offset_leave(bus->store, &bus->key, str_of(bus->owner), &err))
        test_fail(__FILE__, __LINE__, "leave: %s", err.text);
    store_close(bus->store);
    arena_release(&bus->arena);
    free(bus);
}

static const struct bus_ops OPS = { .close = close_bus,
                                    .check = check,
                                    .publish = publish,
                                    .subscribe = subscribe,
                                    .poll = poll_bus,
                                    .settle = settle,
                                    .seek = seek,
                                    .lag = lag };

struct bus *stream_bus_open(const char *dsn)
{
    struct stream_bus *bus = calloc(1, sizeof(*bus));
    static int opened;

    REQUIRE(bus != NULL, "memory");
    bus->bus = (struct bus){ &OPS, BUS_SEEK_TIME | BUS_DEDUP | BUS_ORDER | BUS_READ };
    (void)snprintf(bus->dsn, sizeof(bus->dsn), "%s", dsn);
    (void)snprintf(bus->owner, sizeof(bus->owner), "reader-%d", ++opened);
    bus->clock = system_clock();
    arena_init(&bus->arena, (size_t)64 << 20);
    bus->store = contract_open(dsn);
    return &bus->bus;
}
