/* Messages of a bus into the tables of a projection. */
#include "engine/consume/bus_consumer.h"

#include <stdlib.h>
#include <string.h>

#include "engine/message/wire_read.h"
#include "engine/session/store_retry.h"
#include "port/store_bus_offset.h"
#include "port/store_rate.h"
#include "port/store_sink.h"

enum { BYTES_MAX = 1 << 30, PRUNE_MAX = 5000 };

#define BACKOFF_MIN_US (US_PER_SECOND / 10)
#define BACKOFF_MAX_US (5 * US_PER_SECOND)
#define PRUNE_EVERY_US (60 * US_PER_SECOND)
#define ATTEND_EVERY_US (5 * US_PER_SECOND)

enum fate {
    OPEN,
    SETTLED, /* applied, repeated, or a dead letter: it is acknowledged */
    AT_FAULT,
};

struct received { /* a message */
    const struct bus_delivery *delivery;
    struct wire_event event;
    bool is_read;
    enum fate fate;
    struct str reason; /* at fault */
};

struct bus_consumer {
    const struct bus_consumer_parts *parts;
    const struct bus_consumer_settings *settings;
    struct arena arena; /* of a batch */
    struct store_retry retry;
    struct store_backoff backoff;
    struct received *items; /* by version */
    size_t count;
    bool is_subscribed;
    bool is_over;
    int bus_failures; /* in a row */
    int64_t prune_us; /* monotonic: not before */
    int64_t attend_us;
    int64_t report_us, reported_us; /* the next one, the last one */
    int64_t reported;               /* events that were applied until the last one */
    int64_t now_us;
    struct bus_consumer_total total;
};

/* ---- what was delivered ---- */

/* The same event twice stands together. */
static int by_version(const void *a, const void *b)
{
    const struct received *x = a, *y = b;

    if (x->event.version != y->event.version)
        return x->event.version < y->event.version ? -1 : 1;
    return str_cmp(x->event.event_id, y->event.event_id);
}

static bool fail(struct bus_consumer *c, struct received *item, const struct error *why,
                 struct error *err)
{
    item->fate = AT_FAULT;
    item->reason = arena_copy(&c->arena, str_of(why->text));
    return !c->arena.failed || arena_error(&c->arena, err);
}

/* The events of a key in the order of their versions. */
static bool read_all(struct bus_consumer *c, const struct bus_delivery_list *list,
                     struct error *err)
{
    struct error unread = { 0 };

    c->count = list->count;
    c->items = ARENA_ARRAY(&c->arena, struct received, list->count);
    if (c->items == NULL)
        return arena_error(&c->arena, err);
    for (size_t i = 0; i < list->count; i++) {
        struct received *item = &c->items[i];

        item->delivery = &list->items[i];
        if (wire_is_probe(&item->delivery->message)) {
            item->fate = SETTLED;
            continue;
        }
        item->is_read = wire_read(&c->arena, &c->settings->wire, &item->delivery->message,
                                  &item->event, &unread);
        if (c->arena.failed)
            return arena_error(&c->arena, err);
        if (!item->is_read && !fail(c, item, &unread, err))
            return false;
    }
    qsort(c->items, c->count, sizeof(*c->items), by_version);
    return true;
}

/* ---- one transaction ---- */

struct piece {
    struct received **open; /* each event once */
    size_t count;
    bool *is_new;
    size_t failed; /* of `open`: it is at fault */
    bool is_refused;
};

/* They are sorted. */
static bool has(const struct piece *piece, const struct wire_event *event)
{
    return piece->count > 0 &&
           str_eq(piece->open[piece->count - 1]->event.event_id, event->event_id);
}

static bool gather(struct bus_consumer *c, size_t from, size_t count, struct piece *piece,
                   struct error *err)
{
    struct arena *arena = &c->arena;

    *piece = (struct piece){ .open = ARENA_ARRAY(arena, struct received *, count),
                             .is_new = ARENA_ARRAY(arena, bool, count) };
    if (arena->failed)
        return arena_error(arena, err);
    for (size_t i = from; i < from + count; i++) {
        struct received *item = &c->items[i];

        if (item->fate == OPEN && !has(piece, &item->event))
            piece->open[piece->count++] = item;
    }
    return true;
}

static bool add_to_inbox(struct bus_consumer *c, struct piece *piece, struct error *err)
{
    struct sink_receipt *receipts = ARENA_ARRAY(&c->arena, struct sink_receipt, piece->count);
    const struct sink_inbox inbox = { .group = c->settings->key.subscription,
                                      .items = receipts,
                                      .count = piece->count,
                                      .now_us = c->now_us };

    if (receipts == NULL)
        return arena_error(&c->arena, err);
    for (size_t i = 0; i < piece->count; i++)
        receipts[i] = (struct sink_receipt){ .event_id = piece->open[i]->event.event_id,
                                             .lane = piece->open[i]->delivery->message.lane };
    return store_sink_inbox(c->parts->sink, &inbox, piece->is_new, err);
}

/* False with is_refused: event `failed` of the piece, or one of them if there are several. */
static bool apply_new(struct bus_consumer *c, struct piece *piece, struct error *err)
{
    const struct consume_target *target = &c->parts->target;
    struct project_event *events = ARENA_ARRAY(&c->arena, struct project_event, piece->count);
    size_t *places = ARENA_ARRAY(&c->arena, size_t, piece->count);
    const void *made;
    size_t count = 0, failed = 0;
    bool ok;

    if (c->arena.failed)
        return arena_error(&c->arena, err);
    for (size_t i = 0; i < piece->count; i++) {
        const struct wire_event *e = &piece->open[i]->event;

        if (!piece->is_new[i] || !target->takes(target->context, e->aggregate_type, e->event_type))
            continue;
        events[count] =
            (struct project_event){ e->aggregate_type, e->aggregate_id, e->event_id, e->event_type,
                                    e->version,        e->occurred_us,  e->body };
        places[count++] = i;
    }
    if (count == 0)
        return true;
    ok = target->make(target->context, &c->arena, events, count, &made, &failed, err);
    if (c->arena.failed)
        return arena_error(&c->arena, err);
    piece->failed = ok ? SIZE_MAX : places[failed];
    if (ok && target->write(target->context, &c->arena, made, err))
        return true;
    piece->is_refused = consume_error_is_of_data(err);
    return false;
}

static void add_place(struct bus_place places[OUTBOX_LANES], const struct received *item)
{
    const int64_t lane = item->delivery->message.lane;
    struct bus_place *place = &places[lane >= 0 && lane < OUTBOX_LANES ? lane : 0];

    place->events++;
    if (place->event_id.len > 0 && place->published_us > item->delivery->published_us)
        return;
    place->event_id = item->event.event_id;
    place->bus_id = item->delivery->bus_id;
    place->published_us = item->delivery->published_us;
}

static bool save_offsets(struct bus_consumer *c, const struct piece *piece, struct error *err)
{
    struct bus_place places[OUTBOX_LANES] = { 0 };
    struct bus_offset_save save = { .name = c->settings->offsets,
                                    .by = c->settings->owner,
                                    .now_us = c->now_us,
                                    .places = places };

    for (size_t i = 0; i < piece->count; i++) {
        if (piece->is_new[i])
            add_place(places, piece->open[i]);
    }
    for (int64_t lane = 0; lane < OUTBOX_LANES; lane++) {
        places[lane].lane = lane;
        if (places[lane].events > 0)
            places[save.count++] = places[lane];
    }
    return save.count == 0 || store_bus_offset_save(c->parts->sink, &save, err);
}

/* One consumer of the projection at a time: a key that has no row yet has nothing to be locked. */
static bool apply_within(struct bus_consumer *c, struct piece *piece, struct error *err)
{
    return store_lock_named(c->parts->sink, err, "project:%.*s",
                            STR_ARG(c->settings->key.subscription)) &&
           add_to_inbox(c, piece, err) && apply_new(c, piece, err) && save_offsets(c, piece, err);
}

static bool commit_piece(struct bus_consumer *c, struct piece *piece, struct error *err)
{
    struct store *sink = c->parts->sink;

    if (!store_begin(sink, err))
        return false;
    if (apply_within(c, piece, err) && store_commit(sink, err))
        return true;
    store_rollback(sink);
    return false;
}

static void count_piece(struct bus_consumer *c, const struct piece *piece)
{
    for (size_t i = 0; i < piece->count; i++) {
        c->total.applied += piece->is_new[i];
        c->total.repeated += !piece->is_new[i];
    }
}

static void mark_settled(struct bus_consumer *c, size_t from, size_t count)
{
    for (size_t i = from; i < from + count; i++) {
        if (c->items[i].fate == OPEN)
            c->items[i].fate = SETTLED;
    }
}

/* ---- the batch ---- */

/* *next: how many messages the next try has; 0: these are done. */
static bool apply(struct bus_consumer *c, size_t from, size_t count, size_t *next,
                  struct error *err)
{
    struct piece piece;

    *next = 0;
    if (!gather(c, from, count, &piece, err))
        return false;
    if (piece.count == 0 || commit_piece(c, &piece, err)) {
        count_piece(c, &piece);
        mark_settled(c, from, count);
        return true;
    }
    if (!piece.is_refused)
        return false;
    if (piece.failed != SIZE_MAX || piece.count == 1) /* it is known which */
        *next = count;
    else
        *next = count / 2;
    if (*next == count)
        return fail(c, piece.open[piece.failed != SIZE_MAX ? piece.failed : 0], err, err);
    return true;
}

static bool apply_all(struct bus_consumer *c, struct error *err)
{
    size_t from = 0, limit = c->count;

    while (from < c->count) {
        const size_t count = limit < c->count - from ? limit : c->count - from;
        size_t next;

        if (!apply(c, from, count, &next, err))
            return false;
        if (next == 0) {
            from += count;
            limit *= 2;
        } else {
            limit = next;
        }
    }
    return true;
}

/* ---- dead letters ---- */

/* Of a message that cannot be read, what there is of it. */
static bool bury(struct bus_consumer *c, const struct received *item, struct error *err)
{
    const struct bus_message *message = &item->delivery->message;
    const struct dead_letter letter = {
        .event_id = item->is_read ? item->event.event_id : message->event_id,
        .aggregate_type = item->is_read ? item->event.aggregate_type : STR("?"),
        .aggregate_id = item->is_read ? item->event.aggregate_id : message->key,
        .version = item->is_read ? item->event.version : message->version,
        .reason = item->reason,
        .attempts = item->delivery->attempt,
        .envelope = message->body,
        .dead_us = c->now_us
    };

    return store_parked_bury(c->parts->sink, &c->settings->key, &letter, err);
}

static bool may_come_again(const struct bus_consumer *c, const struct bus_delivery *delivery)
{
    return c->settings->attempts_max == 0 ||
           (delivery->attempt > 0 && delivery->attempt < c->settings->attempts_max);
}

static void log_dead(const struct bus_consumer *c, const struct received *item)
{
    if (c->parts->log != NULL)
        log_event(c->parts->log, LOG_WARN, "event given up",
                  LOG_STR("subscription", c->settings->key.subscription),
                  LOG_STR("eventId", item->delivery->message.event_id),
                  LOG_STR("error", item->reason));
}

static bool bury_all(struct bus_consumer *c, struct error *err)
{
    for (size_t i = 0; i < c->count; i++) {
        struct received *item = &c->items[i];

        if (item->fate != AT_FAULT || may_come_again(c, item->delivery))
            continue;
        /* One without an id cannot be kept: the log is all that is left of it. */
        if (!bury(c, item, err) && !consume_error_is_of_data(err))
            return false;
        log_dead(c, item);
        item->fate = SETTLED;
        c->total.dead++;
    }
    return true;
}

/* ---- the bus ---- */

static bool settle(struct bus_consumer *c, struct error *err)
{
    struct bus_settlement *list = ARENA_ARRAY(&c->arena, struct bus_settlement, c->count);

    if (list == NULL)
        return arena_error(&c->arena, err);
    for (size_t i = 0; i < c->count; i++) {
        const bool is_settled = c->items[i].fate == SETTLED;

        list[i] = (struct bus_settlement){ c->items[i].delivery->handle,
                                           is_settled ? BUS_ACK : BUS_NACK };
        c->total.returned += !is_settled;
    }
    return bus_settle(c->parts->bus, list, c->count, err);
}

static bool subscribe(struct bus_consumer *c, struct error *err)
{
    const struct bus_flow flow = { (size_t)c->settings->messages_max,
                                   (size_t)c->settings->bytes_max };

    if (!c->is_subscribed &&
        !bus_subscribe(c->parts->bus, c->settings->key.subscription, &flow, err))
        return false;
    c->is_subscribed = true;
    return true;
}

static bool poll_bus(struct bus_consumer *c, struct bus_delivery_list *list, struct error *err)
{
    const struct bus_poll poll = { .messages_max = (size_t)c->settings->messages_max,
                                   .bytes_max = (size_t)c->settings->bytes_max,
                                   .timeout_us = c->settings->poll_us,
                                   .wake_fd = c->parts->wake_fd };

    return subscribe(c, err) && bus_poll(c->parts->bus, &c->arena, &poll, list, err);
}

/* Waits, longer each time. False: it is not to be repeated, or stopped. */
static bool wait_for_bus(struct bus_consumer *c, struct error *err)
{
    struct retry_policy policy = retry_default();

    policy.delay_min_us = BACKOFF_MIN_US;
    policy.delay_max_us = BACKOFF_MAX_US;
    if (err->level != ERROR_TRANSIENT || c->settings->is_draining)
        return false;
    if (c->parts->log != NULL && c->bus_failures == 0)
        log_event(c->parts->log, LOG_WARN, "consumer waits for its bus",
                  LOG_STR("subscription", c->settings->key.subscription),
                  LOG_STR("code", str_of(err->code)), LOG_STR("error", str_of(err->text)));
    if (c->bus_failures < INT16_MAX)
        c->bus_failures++;
    return clock_sleep_us(
        c->parts->clock,
        retry_delay_us(&policy, c->bus_failures, random_source_u64(c->parts->random), 0),
        c->parts->wake_fd);
}

/* ---- the sink ---- */

static bool prune(struct bus_consumer *c, struct error *err)
{
    const int64_t monotonic_us = clock_monotonic_us(c->parts->clock);
    int64_t removed;

    if (monotonic_us < c->prune_us)
        return true;
    c->prune_us = monotonic_us + PRUNE_EVERY_US;
    return store_sink_inbox_prune(c->parts->sink, c->settings->key.subscription,
                                  c->now_us - BUS_INBOX_KEEP_US, PRUNE_MAX, &removed, err);
}

/* Whoever moves the group sees that it is read. */
static bool attend(struct bus_consumer *c, struct error *err)
{
    const int64_t monotonic_us = clock_monotonic_us(c->parts->clock);
    struct offset_attend attend = { .key = { BUS_OFFSET_GROUP, c->settings->offsets },
                                    .owner = c->settings->owner };
    int64_t readers;

    if (monotonic_us < c->attend_us)
        return true;
    if (!store_clock(c->parts->sink, clock_now_us(c->parts->clock), &attend.now_us, err))
        return false;
    attend.until_us = attend.now_us + 3 * ATTEND_EVERY_US;
    if (!store_offset_attend(c->parts->sink, &attend, &readers, err))
        return false;
    c->attend_us = monotonic_us + ATTEND_EVERY_US;
    return true;
}

static void leave(struct bus_consumer *c)
{
    const struct offset_key key = { BUS_OFFSET_GROUP, c->settings->offsets };
    struct error ignored;

    if (c->attend_us != INT64_MIN) /* if that fails, its sign ends by itself */
        (void)!store_offset_leave(c->parts->sink, &key, c->settings->owner, &ignored);
}

static bool work(struct bus_consumer *c, struct error *err)
{
    return store_clock(c->parts->sink, clock_now_us(c->parts->clock), &c->now_us, err) &&
           prune(c, err) && apply_all(c, err) && bury_all(c, err);
}

/* Nothing came. To drain is to read all that waits, and a poll that brings nothing may only have
 * been too short for a busy server. */
static bool end_if_drained(struct bus_consumer *c, struct error *err)
{
    struct bus_lag lag;

    if (!c->settings->is_draining)
        return true;
    if (!bus_lag(c->parts->bus, &lag, err))
        return error_wrap(err, "ask the bus whether anything waits for %.*s",
                          STR_ARG(c->settings->key.subscription));
    c->is_over = !lag.is_known || lag.messages == 0;
    return true;
}

/* Now and then: how fast it is, and what waits. */
static void report_pace(struct bus_consumer *c)
{
    const int64_t now_us = clock_monotonic_us(c->parts->clock);
    const int64_t applied = c->total.applied - c->reported;
    struct bus_lag lag = { 0 };
    struct error ignored;

    if (c->parts->log == NULL || now_us < c->report_us)
        return;
    if (!c->is_subscribed || !bus_lag(c->parts->bus, &lag, &ignored))
        lag = (struct bus_lag){ 0 };
    if (applied > 0 || lag.messages > 0)
        log_event(c->parts->log, LOG_INFO, "bus consumed",
                  LOG_STR("subscription", c->settings->key.subscription),
                  LOG_I64("events", applied),
                  LOG_I64("perSecond", applied * US_PER_SECOND / (now_us - c->reported_us + 1)),
                  LOG_I64("waiting", lag.is_known ? lag.messages : -1));
    c->reported = c->total.applied;
    c->reported_us = now_us;
    c->report_us = now_us + BUS_REPORT_US;
}

static void report(void *context, const struct error *err)
{
    const struct bus_consumer *c = context;

    if (c->parts->log != NULL && c->retry.failures == 0)
        log_event(c->parts->log, LOG_WARN, "consumer waits for its tables",
                  LOG_STR("subscription", c->settings->key.subscription),
                  LOG_STR("code", str_of(err->code)), LOG_STR("error", str_of(err->text)));
}

/* What is not settled is given back at once, before anything is waited for. */
static bool turn(struct bus_consumer *c, struct error *err)
{
    struct bus_delivery_list list;
    struct error later;
    bool ok;

    arena_reset(&c->arena);
    report_pace(c);
    if (!attend(c, err))
        return store_retry_wait(&c->retry, &c->backoff, err);
    if (!poll_bus(c, &list, err))
        return wait_for_bus(c, err);
    if (list.count == 0)
        return end_if_drained(c, err);
    if (!read_all(c, &list, err))
        return false;
    ok = work(c, err);
    if (!settle(c, ok ? err : &later))
        return ok ? wait_for_bus(c, err) : store_retry_wait(&c->retry, &c->backoff, err);
    if (!ok)
        return store_retry_wait(&c->retry, &c->backoff, err);
    c->bus_failures = 0;
    c->retry.failures = 0;
    return true;
}

bool bus_consumer_run(const struct bus_consumer_parts *parts,
                      const struct bus_consumer_settings *settings,
                      struct bus_consumer_total *total, struct error *err)
{
    struct bus_consumer c = { .parts = parts,
                              .settings = settings,
                              .attend_us = INT64_MIN,
                              .report_us = clock_monotonic_us(parts->clock) + BUS_REPORT_US,
                              .reported_us = clock_monotonic_us(parts->clock),
                              .retry = { .store = parts->sink },
                              .backoff = { .delay_min_us = BACKOFF_MIN_US,
                                           .delay_max_us = BACKOFF_MAX_US,
                                           .clock = parts->clock,
                                           .random = parts->random,
                                           .wake_fd = parts->wake_fd,
                                           .report = report } };
    bool ok = true;

    c.backoff.context = &c;
    arena_init(&c.arena, BYTES_MAX);
    while (ok && !c.is_over && clock_sleep_us(parts->clock, 0, parts->wake_fd))
        ok = turn(&c, err);
    leave(&c);
    arena_release(&c.arena);
    if (total != NULL)
        *total = c.total;
    return ok || !clock_sleep_us(parts->clock, 0, parts->wake_fd); /* stopped meanwhile */
}
