/* Events to the bus, wave by wave: the next one when the one before is acknowledged. */
#include <string.h>

#include "core/waves.h"
#include "engine/relay/relay_internal.h"

struct sending {
    struct relay *relay;
    struct delivery *delivery;
    struct item **items; /* the open ones */
    struct str *keys;    /* theirs */
    size_t count;
    struct waves waves;
    bool *is_blocked; /* by key */
    struct bus_message *messages;
    struct bus_receipt *receipts;
    struct item **sent; /* of the wave, as its messages */
    size_t sent_count;
};

/* ---- what is to be sent ---- */

static bool begin(struct sending *s, struct error *err)
{
    struct arena *arena = &s->relay->lanes.arena;
    const size_t count = s->delivery->count;

    s->items = ARENA_ARRAY(arena, struct item *, count);
    s->keys = ARENA_ARRAY(arena, struct str, count);
    s->sent = ARENA_ARRAY(arena, struct item *, count);
    s->messages = ARENA_ARRAY(arena, struct bus_message, count);
    s->receipts = ARENA_ARRAY(arena, struct bus_receipt, count);
    if (arena->failed)
        return arena_error(arena, err);
    for (size_t i = 0; i < count; i++) {
        struct item *item = &s->delivery->items[i];

        if (item->state != ITEM_OPEN)
            continue;
        s->keys[s->count] = arena_printf(arena, "%.*s/%.*s", STR_ARG(item->aggregate.type),
                                         STR_ARG(item->aggregate.id));
        s->items[s->count++] = item;
    }
    if (arena->failed || !waves_cut(arena, s->keys, s->count, &s->waves, err))
        return arena_error(arena, err);
    s->is_blocked = ARENA_ARRAY(arena, bool, s->waves.key_count);
    return s->is_blocked != NULL || arena_error(arena, err);
}

/* An event that cannot be made into a message will never be: it is refused like one that the bus
 * does not take. */
static bool make(struct sending *s, size_t number, struct bus_message *message, struct error *err)
{
    struct relay *r = s->relay;
    struct item *item = s->items[number];
    const struct relay_target *target = &r->target;
    struct error failed;
    bool ok;

    ok = target->make != NULL
             ? target->make(target->context, &r->lanes.arena, item->event, message, &failed)
             : relay_message_make(NULL, &r->lanes.arena, item->event, message, &failed);
    if (r->lanes.arena.failed)
        return arena_error(&r->lanes.arena, err);
    if (!ok) {
        item_fail(item, arena_copy(&r->lanes.arena, str_of(failed.text)), true);
        return !r->lanes.arena.failed || arena_error(&r->lanes.arena, err);
    }
    message->event_id = item->event->stored.event.event_id;
    message->key = s->keys[number];
    message->lane = item->event->lane;
    message->version = item->event->stored.event.version;
    return true;
}

static bool gather(struct sending *s, size_t wave, struct error *err)
{
    const size_t from = wave == 0 ? 0 : s->waves.ends[wave - 1];

    s->sent_count = 0;
    for (size_t i = from; i < s->waves.ends[wave]; i++) {
        const size_t number = s->waves.order[i];
        struct item *item = s->items[number];
        bool *is_blocked = &s->is_blocked[s->waves.keys[number]];

        if (*is_blocked) {
            item->state = ITEM_BEHIND;
            continue;
        }
        if (!make(s, number, &s->messages[s->sent_count], err))
            return false;
        *is_blocked = true; /* until it is acknowledged */
        if (item->state == ITEM_OPEN)
            s->sent[s->sent_count++] = item;
    }
    return true;
}

/* ---- what became of it ---- */

static void acknowledge(struct relay *r, struct item *item, const struct bus_receipt *receipt)
{
    struct held_lane *lane = &r->lanes.items[item->event->lane];

    item->state = ITEM_DONE;
    if (receipt->ack_id.len >= LANES_ACK_MAX)
        lane->ack_id[0] = '\0';
    else if (receipt->ack_id.len > 0) {
        memcpy(lane->ack_id, receipt->ack_id.data, receipt->ack_id.len);
        lane->ack_id[receipt->ack_id.len] = '\0';
    }
}

/* Where every message of a call may be taken later, the bus is at fault and not the messages. */
static bool all_later(const struct sending *s)
{
    for (size_t i = 0; i < s->sent_count; i++) {
        if (s->receipts[i].outcome != BUS_RETRY)
            return false;
    }
    return true;
}

static void judge(struct sending *s, bool ok, struct lanes_round *round)
{
    for (size_t i = 0; i < s->sent_count; i++) {
        const struct bus_receipt *receipt = &s->receipts[i];

        if (receipt->outcome == BUS_ACKED) {
            acknowledge(s->relay, s->sent[i], receipt);
            round->delivered++;
        } else if (receipt->outcome == BUS_REFUSED) {
            item_fail(s->sent[i], receipt->reason, true);
        } else if (receipt->outcome == BUS_RETRY && ok) {
            item_fail(s->sent[i], receipt->reason, false);
        }
    }
}

static void unblock(struct sending *s, size_t wave)
{
    const size_t from = wave == 0 ? 0 : s->waves.ends[wave - 1];

    for (size_t i = from; i < s->waves.ends[wave]; i++) {
        const size_t number = s->waves.order[i];

        if (s->items[number]->state == ITEM_DONE)
            s->is_blocked[s->waves.keys[number]] = false;
    }
}

static size_t fences(const struct sending *s, struct bus_fence list[OUTBOX_LANES])
{
    bool has_lane[OUTBOX_LANES] = { false };
    size_t count = 0;

    for (size_t i = 0; i < s->sent_count; i++) {
        const int64_t lane = s->messages[i].lane;

        if (has_lane[lane])
            continue;
        has_lane[lane] = true;
        list[count++] = (struct bus_fence){ lane, s->relay->lanes.items[lane].epoch,
                                            str_of(s->relay->lanes.items[lane].ack_id) };
    }
    return count;
}

static void report(const struct sending *s, int64_t began_us, const struct error *failure)
{
    int64_t failed = 0;

    for (size_t i = 0; i < s->sent_count; i++)
        failed += s->sent[i]->state != ITEM_DONE;
    lanes_report(&s->relay->lanes,
                 (struct lanes_event){ .kind = LANES_TRIED,
                                       .count = (int64_t)s->sent_count,
                                       .failed = failed,
                                       .first = s->sent[0]->event,
                                       .took_us = lanes_now_us(&s->relay->lanes) - began_us,
                                       .err = failure });
}

static void publish(struct sending *s, struct lanes_round *round)
{
    struct relay *r = s->relay;
    struct bus_fence list[OUTBOX_LANES];
    const struct bus_publish call = { .messages = s->messages,
                                      .count = s->sent_count,
                                      .fences = list,
                                      .fence_count = fences(s, list),
                                      .timeout_us = r->settings.timeout_us,
                                      .wake_fd = r->parts.wake_fd };
    const int64_t began_us = lanes_now_us(&r->lanes);
    struct error failed = { 0 };
    bool ok = bus_publish(r->target.bus, &r->lanes.arena, &call, s->receipts, &failed);

    if (ok && all_later(s))
        ok =
            error_set(&failed, ERROR_TRANSIENT, "bus.busy", "%.*s", STR_ARG(s->receipts[0].reason));
    judge(s, ok, round);
    report(s, began_us, ok ? NULL : &failed);
    if (ok)
        return;
    s->delivery->is_cut = true;
    relay_bus_failed(r, &failed);
}

/* A session answers in order, so whether the lanes are its own is asked before the next batch is.
 */
bool relay_send(struct relay *r, struct delivery *d, bool reads_ahead, struct lanes_round *round,
                struct error *err)
{
    struct sending s = { .relay = r, .delivery = d };
    bool held = true;

    if (!begin(&s, err))
        return false;
    for (size_t i = 0; i < s.waves.count && !d->is_cut; i++) {
        if (!lanes_keep(&r->lanes, &held, err))
            return false;
        d->is_lost = !held;
        if (d->is_lost)
            return true;
        if ((i == 0 && reads_ahead && !lanes_read_ahead(&r->lanes, d, err)) || !gather(&s, i, err))
            return false;
        if (s.sent_count > 0)
            publish(&s, round);
        unblock(&s, i);
    }
    return true;
}
