/* A round of the consumer: pieces of a batch, each in a transaction, and keys that are tried again.
 */
#include "engine/consume/consumer.h"

#include <stdlib.h>

#include "engine/message/envelope.h"
#include "port/store_prune.h"

/* Parked keys that are tried in a round, each in transactions of its own. */
enum { KEYS_MAX = 64 };

/* What a person must look at is looked at again after this long. */
#define TROUBLE_US (5 * US_PER_SECOND)

struct consumer {
    struct consumer_parts parts;
    struct lanes lanes;
    bool is_in_trouble; /* the sink, or the stream, for a reason that waiting does not mend */
    struct error trouble;
    int64_t trouble_until_us;
    int64_t tell_us; /* when the stream's database hears of it again */
};

bool consumer_open(struct consumer **out, const struct consumer_parts *parts,
                   const struct lanes_settings *settings, struct error *err)
{
    const struct lanes_parts lanes = { .store = parts->sink,
                                       .stream = parts->stream,
                                       .clock = parts->clock,
                                       .random = parts->random,
                                       .log = parts->log,
                                       .watch = parts->watch };
    struct consumer *c = calloc(1, sizeof(*c));

    *out = c;
    if (c == NULL)
        return error_set(err, ERROR_TRANSIENT, "memory.system", "no memory for a consumer");
    c->parts = *parts;
    c->tell_us = INT64_MIN;
    lanes_init(&c->lanes, &lanes, settings);
    return true;
}

void consumer_close(struct consumer *c)
{
    if (c == NULL)
        return;
    lanes_release(&c->lanes);
    free(c);
}

static bool has_two(const struct consumer *c)
{
    return c->parts.stream != c->parts.sink;
}

/* ---- the stream's database, where the sink is another one ---- */

static bool sign(struct consumer *c, struct error *err)
{
    const struct lanes *l = &c->lanes;
    const struct offset_attend attend = { .key = l->key,
                                          .owner = l->settings.owner,
                                          .now_us = lanes_now_us(l),
                                          .until_us = lanes_now_us(l) + l->settings.lease_us,
                                          .error = l->error };
    int64_t readers;

    return store_offset_attend(c->parts.stream, &attend, &readers, err);
}

/* The positions are true as long as the lanes are held; who resets them holds the same lock. */
static bool tell_positions(struct consumer *c, struct lanes_round *round, struct error *err)
{
    struct stream_place places[OUTBOX_LANES];
    const struct offset_tell tell = { c->lanes.key, lanes_now_us(&c->lanes), places,
                                      lanes_places(&c->lanes, places) };
    bool held;

    if (!store_lock(c->parts.stream, STORE_PRUNE_LOCK, err) || !lanes_fence(&c->lanes, &held, err))
        return false;
    if (held)
        return store_offset_tell(c->parts.stream, &tell, err);
    lanes_lost(&c->lanes, round);
    return true;
}

static bool tell(struct consumer *c, struct lanes_round *round, struct error *err)
{
    if (!sign(c, err) || !store_begin(c->parts.stream, err))
        return false;
    if (tell_positions(c, round, err))
        return store_commit(c->parts.stream, err);
    store_rollback(c->parts.stream);
    return false;
}

static bool tell_if_due(struct consumer *c, struct lanes_round *round, struct error *err)
{
    const int64_t now_us = lanes_now_us(&c->lanes);

    if (!has_two(c) || now_us < c->tell_us)
        return true;
    c->tell_us = now_us + c->lanes.settings.lease_us / 3;
    return tell(c, round, err);
}

bool consumer_release(struct consumer *c, struct error *err)
{
    struct lanes_round round = { 0 };
    const bool ok = !has_two(c) || c->lanes.count == 0 || tell(c, &round, err);

    return lanes_leave(&c->lanes, err) &&
           (!has_two(c) ||
            store_offset_leave(c->parts.stream, &c->lanes.key, c->lanes.settings.owner, err)) &&
           ok;
}

/* ---- events ---- */

static bool takes(void *context, const struct stream_event *event)
{
    const struct consumer *c = context;
    const struct consume_target *target = &c->parts.target;
    const struct stored_event *stored = &event->stored;
    char type[512];

    if (event->record_id == 0)
        return target->takes(target->context, stored->aggregate_type, stored->event.event_type);
    (void)snprintf(type, sizeof(type), "%.*s/%.*s", STR_ARG(stored->source),
                   STR_ARG(stored->endpoint));
    return target->takes(target->context, str_of(type), stored->event.event_type);
}

static struct lanes_filter filter_of(struct consumer *c)
{
    return (struct lanes_filter){ takes, c };
}

/* As a bus would carry it: a record's as its envelope, another service's as it is. */
static bool event_of(struct arena *arena, const struct item *item, struct project_event *event,
                     struct error *err)
{
    const struct outbox_event *stored = &item->event->stored.event;

    *event = (struct project_event){ .aggregate_type = item->aggregate.type,
                                     .aggregate_id = item->aggregate.id,
                                     .event_id = stored->event_id,
                                     .event_type = stored->event_type,
                                     .version = stored->version,
                                     .occurred_us = stored->occurred_us,
                                     .body = stored->body };
    return item->event->record_id == 0 ||
           envelope_make(arena, &item->event->stored, &event->body, err);
}

/* ---- one transaction ---- */

/* Items that are applied together, and what is made of them. */
struct piece {
    struct consumer *consumer;
    struct item **open;
    size_t count;
    struct project_event *events;
    const void *made;
    bool is_refused; /* the write failed, and an event is at fault */
};

enum applied {
    APPLIED,
    AT_FAULT, /* with several items: less of them may do. With one: it is marked as failed */
    STUCK,    /* nothing was saved, for now */
};

static bool write_piece(void *context, struct error *err)
{
    struct piece *piece = context;
    const struct consume_target *target = &piece->consumer->parts.target;

    if (piece->count == 0 ||
        target->write(target->context, &piece->consumer->lanes.arena, piece->made, err))
        return true;
    piece->is_refused = consume_error_is_of_data(err);
    return false;
}

static void set_states(struct piece *piece, enum item_state state)
{
    for (size_t i = 0; i < piece->count; i++)
        piece->open[i]->state = state;
}

static bool gather(struct consumer *c, const struct delivery *d, struct piece *piece,
                   struct error *err)
{
    struct arena *arena = &c->lanes.arena;

    *piece = (struct piece){ .consumer = c,
                             .open = ARENA_ARRAY(arena, struct item *, d->count),
                             .events = ARENA_ARRAY(arena, struct project_event, d->count) };
    for (size_t i = 0; i < d->count && !arena->failed; i++) {
        if (d->items[i].state == ITEM_OPEN)
            piece->open[piece->count++] = &d->items[i];
    }
    return !arena->failed || arena_error(arena, err);
}

/* False in *ok: piece->open[*failed] is at fault, for this reason. */
static bool make_piece(struct consumer *c, struct piece *piece, bool *ok, size_t *failed,
                       struct error *err)
{
    const struct consume_target *target = &c->parts.target;
    struct arena *arena = &c->lanes.arena;

    *ok = true;
    for (*failed = 0; *failed < piece->count && *ok; *failed += *ok)
        *ok = event_of(arena, piece->open[*failed], &piece->events[*failed], err);
    if (*ok && piece->count > 0)
        *ok = target->make(target->context, arena, piece->events, piece->count, &piece->made,
                           failed, err);
    if (*ok || (!arena->failed && consume_error_is_of_data(err)))
        return true;
    return arena->failed ? arena_error(arena, err) : false;
}

static bool fail_alone(struct consumer *c, struct item *item, const struct error *why,
                       struct error *err)
{
    struct arena *arena = &c->lanes.arena;

    item_fail(item, arena_copy(arena, str_of(why->text)), true);
    return !arena->failed || arena_error(arena, err);
}

/* Ends a try of the stream, or of a parked key. */
static bool finish(struct consumer *c, struct delivery *d, struct trying *trying,
                   struct piece *piece, struct lanes_round *round, bool *saved, struct error *err)
{
    const struct lanes_within within = { write_piece, piece };

    return trying == NULL ? lanes_settle(&c->lanes, d, &within, round, saved, err)
                          : lanes_tried(&c->lanes, trying, &within, round, saved, err);
}

/* What a smaller try will tell is not reported. `err`: these were not applied. */
static void report(const struct consumer *c, struct item *const *open, size_t count,
                   int64_t began_us, const struct error *err)
{
    if (count > 0)
        lanes_report(&c->lanes, (struct lanes_event){ .kind = LANES_TRIED,
                                                      .count = (int64_t)count,
                                                      .failed = err != NULL ? (int64_t)count : 0,
                                                      .first = open[0]->event,
                                                      .took_us = lanes_now_us(&c->lanes) - began_us,
                                                      .err = err });
}

/* *count: after AT_FAULT, how many items the next try has. */
static bool apply(struct consumer *c, struct delivery *d, struct trying *trying,
                  struct lanes_round *round, enum applied *applied, size_t *count,
                  struct error *err)
{
    const int64_t began_us = lanes_now_us(&c->lanes);
    struct piece piece;
    size_t failed = 0;
    bool ok, saved = false;

    *applied = APPLIED;
    if (!gather(c, d, &piece, err) || !make_piece(c, &piece, &ok, &failed, err))
        return false;
    if (ok) {
        set_states(&piece, ITEM_DONE);
        if (finish(c, d, trying, &piece, round, &saved, err)) {
            *applied = saved && !round->is_stopped ? APPLIED : STUCK;
            round->delivered += saved ? (int64_t)piece.count : 0;
            report(c, piece.open, saved ? piece.count : 0, began_us, NULL);
            return true;
        }
        if (!piece.is_refused) {
            report(c, piece.open, piece.count, began_us, err);
            return false;
        }
        set_states(&piece, ITEM_OPEN);
    }
    *applied = AT_FAULT;
    *count = ok ? d->count / 2 : (size_t)(piece.open[failed] - d->items);
    if (*count > 0)
        return true;
    report(c, &piece.open[failed], 1, began_us, err);
    return fail_alone(c, piece.open[failed], err, err);
}

/* ---- the batch ---- */

static size_t least(size_t a, size_t b)
{
    return a < b ? a : b;
}

static bool apply_all(struct consumer *c, const struct delivery *all, struct lanes_round *round,
                      struct error *err)
{
    size_t from = 0, limit = all->count;
    enum applied applied = APPLIED;

    while (from < all->count && applied != STUCK) {
        struct delivery d = { .items = &all->items[from],
                              .count = least(limit, all->count - from) };
        size_t count = 0;

        lanes_mark_parked(&c->lanes, &d);
        if (!apply(c, &d, NULL, round, &applied, &count, err))
            return false;
        if (applied == AT_FAULT) {
            limit = count > 0 ? count : 1;
            continue;
        }
        from += d.count;
        limit *= 2;
    }
    return true;
}

static bool apply_batch(struct consumer *c, struct lanes_round *round, struct error *err)
{
    const struct lanes_filter filter = filter_of(c);
    struct delivery d;
    bool saved;

    if (!lanes_next(&c->lanes, &filter, &d, err))
        return false;
    if (d.is_lost ? !lanes_settle(&c->lanes, &d, NULL, round, &saved, err)
                  : !apply_all(c, &d, round, err))
        return false;
    round->has_more |= lanes_has_more(&c->lanes);
    return true;
}

/* ---- parked keys ---- */

/* All that waits, or as much of it as is well; the rest is tried at once again. */
static bool try_key(struct consumer *c, struct trying *trying, struct lanes_round *round,
                    struct error *err)
{
    enum applied applied = AT_FAULT;
    size_t count = trying->delivery.count;

    while (applied == AT_FAULT) {
        struct delivery d = { .items = trying->delivery.items, .count = count };

        if (!apply(c, &d, trying, round, &applied, &count, err))
            return false;
        count = count > 0 ? count : 1;
    }
    return true;
}

static bool apply_parked(struct consumer *c, struct lanes_round *round, struct error *err)
{
    const struct lanes_filter filter = filter_of(c);
    struct trying trying;

    for (int i = 0; i < KEYS_MAX && c->lanes.count > 0; i++) {
        if (!lanes_due(&c->lanes, &filter, 1, &trying, round, err))
            return false;
        if (trying.count == 0)
            return true;
        if (!try_key(c, &trying, round, err))
            return false;
    }
    return true;
}

/* ---- trouble ---- */

static void begin_trouble(struct consumer *c, const struct error *err)
{
    if (c->parts.log != NULL && !c->is_in_trouble)
        log_event(c->parts.log, LOG_ERROR, "consumer waits for a person",
                  LOG_STR("subscription", c->lanes.key.subscription),
                  LOG_STR("code", str_of(err->code)), LOG_STR("error", str_of(err->text)));
    c->is_in_trouble = true;
    c->trouble = *err;
    c->trouble_until_us = lanes_now_us(&c->lanes) + TROUBLE_US;
    c->tell_us = INT64_MIN;
    c->lanes.error = str_of(c->trouble.text);
    c->lanes.attend_us = INT64_MIN; /* says so in the store */
}

static void end_trouble(struct consumer *c)
{
    if (!c->is_in_trouble)
        return;
    c->is_in_trouble = false;
    c->lanes.error = STR("");
    c->lanes.attend_us = INT64_MIN;
}

static bool is_trouble(const struct error *err)
{
    return err->level == ERROR_FATAL || lanes_error_is_halt(err);
}

/* ---- the round ---- */

static bool deliver(struct consumer *c, struct lanes_round *round, struct error *err)
{
    if (c->lanes.count == 0 || (c->is_in_trouble && lanes_now_us(&c->lanes) < c->trouble_until_us))
        return true;
    if (!apply_batch(c, round, err) ||
        (c->lanes.count > 0 && !round->is_stopped && !apply_parked(c, round, err)))
        return false;
    end_trouble(c);
    return true;
}

static int64_t next_us(const struct consumer *c)
{
    int64_t next = c->is_in_trouble ? c->trouble_until_us : lanes_due_us(&c->lanes);

    if (c->lanes.attend_us < next)
        next = c->lanes.attend_us;
    return next > c->lanes.now_us ? next : c->lanes.now_us;
}

/* People who look at the store see why nothing arrives; if that fails, it is seen otherwise. */
static void complain(struct consumer *c, const struct error *why)
{
    struct error ignored;

    if (!has_two(c))
        return;
    store_rollback(c->parts.stream);
    c->lanes.error = str_of(why->text);
    (void)!sign(c, &ignored);
    c->lanes.error = STR("");
}

bool consumer_round(struct consumer *c, int64_t now_us, struct lanes_round *round,
                    struct error *err)
{
    bool ok;

    *round = (struct lanes_round){ 0 };
    lanes_begin(&c->lanes, now_us);
    ok =
        lanes_attend(&c->lanes, round, err) && deliver(c, round, err) && tell_if_due(c, round, err);
    if (!ok && is_trouble(err)) {
        begin_trouble(c, err);
        ok = true;
    }
    if (!ok) {
        complain(c, err);
        lanes_forget(&c->lanes);
    }
    round->lanes = c->lanes.count;
    round->next_us = next_us(c);
    round->trouble = c->is_in_trouble ? &c->trouble : NULL;
    round->has_more = round->has_more && !c->is_in_trouble;
    return ok;
}

/* ---- round after round ---- */

static bool one_round(void *context, int64_t now_us, struct lanes_round *round, struct error *err)
{
    return consumer_round(context, now_us, round, err);
}

bool consumer_run(const struct consumer_parts *parts, const struct consumer_run *run,
                  struct lanes_total *total, struct error *err)
{
    struct lanes_run loop = { .what = "consumer",
                              .name = run->lanes.subscription->name,
                              .owner = run->lanes.owner,
                              .store = parts->sink,
                              .stream = parts->stream,
                              .clock = parts->clock,
                              .random = parts->random,
                              .log = parts->log,
                              .wake = parts->wake,
                              .wake_fd = parts->wake_fd,
                              .is_draining = run->is_draining,
                              .round = one_round };
    struct consumer *consumer;
    struct error ignored;
    bool ok;

    if (!consumer_open(&consumer, parts, &run->lanes, err))
        return false;
    loop.context = consumer;
    ok = lanes_run(&loop, total, err);
    /* If that fails, the leases end by themselves. */
    (void)!consumer_release(consumer, &ignored);
    consumer_close(consumer);
    return ok;
}
