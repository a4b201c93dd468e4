/* A batch of the stream: read, sorted out, sent, and saved in one transaction. */
#include <inttypes.h>
#include <string.h>

#include "engine/relay/relay_internal.h"

/* ---- which lanes ---- */

static bool is_pending(const struct relay_lane *lane)
{
    return lane->is_held && lane->pos < lane->last_pos;
}

static bool is_careful(const struct relay_lane *lane)
{
    return lane->careful > 0 || lane->crashes >= RELAY_CRASHES;
}

static bool look(struct relay *r, struct error *err)
{
    int64_t ends[OUTBOX_LANES] = { 0 };

    if (!store_stream_ends(r->parts.store, ends, err))
        return false;
    for (int i = 0; i < OUTBOX_LANES; i++)
        r->lanes[i].last_pos = ends[i];
    return true;
}

struct choice {
    struct stream_place places[OUTBOX_LANES];
    size_t count;
    bool is_careful; /* one lane, one event */
};

static void choose_from(const struct relay *r, bool careful, struct choice *choice)
{
    *choice = (struct choice){ .is_careful = careful };
    for (int i = 0; i < OUTBOX_LANES && !(careful && choice->count > 0); i++) {
        const int number = (r->first_lane + i) % OUTBOX_LANES;
        const struct relay_lane *lane = &r->lanes[number];

        if (is_pending(lane) && is_careful(lane) == careful)
            choice->places[choice->count++] = (struct stream_place){ number, lane->pos };
    }
}

/* Lanes where readers died go alone; the others have every second turn. */
static void choose(struct relay *r, struct choice *choice)
{
    r->is_careful_turn = !r->is_careful_turn;
    choose_from(r, r->is_careful_turn, choice);
    if (choice->count == 0)
        choose_from(r, !r->is_careful_turn, choice);
    r->first_lane = (r->first_lane + 1) % OUTBOX_LANES;
}

static bool read(struct relay *r, const struct choice *choice, struct stream_event_list *events,
                 struct error *err)
{
    const int64_t many = r->settings.batch_max / (int64_t)choice->count;
    const struct stream_read request = {
        .places = choice->places,
        .count = choice->count,
        .lane_max = choice->is_careful || many < 1 ? 1 : many,
        .bytes_max = r->settings.bytes_max,
    };

    return store_stream_read(r->parts.store, &r->arena, &request, events, err);
}

/* What is missing was removed before it was delivered: going on would hide that. */
static bool check_whole(const struct relay *r, const struct choice *choice,
                        const struct stream_event_list *events, struct error *err)
{
    int64_t next[OUTBOX_LANES];

    for (int i = 0; i < OUTBOX_LANES; i++)
        next[i] = r->lanes[i].pos + 1;
    for (size_t i = 0; i < events->count; i++) {
        const struct stream_event *event = &events->items[i];

        if (event->lane >= 0 && event->lane < OUTBOX_LANES && event->pos == next[event->lane]) {
            next[event->lane]++;
            continue;
        }
        return error_set(err, ERROR_FATAL, "relay.gap",
                         "position %" PRId64 " of lane %" PRId64
                         " is not in the stream any more: patra outbox seek moves it",
                         next[event->lane], event->lane);
    }
    return events->count > 0 ||
           error_set(err, ERROR_FATAL, "relay.gap",
                     "position %" PRId64 " of lane %" PRId64
                     " is not in the stream any more: patra outbox seek moves it",
                     choice->places[0].pos + 1, choice->places[0].lane);
}

/* ---- after crashes ---- */

/* Whoever dies at this event leaves a lease that counts for this lane alone. */
static bool blame(struct relay *r, int64_t careful_lane, bool *held, struct error *err)
{
    struct offset_held lanes[OUTBOX_LANES];
    size_t count = 0;

    for (int i = 0; i < OUTBOX_LANES; i++) {
        if (r->lanes[i].is_held)
            lanes[count++] = (struct offset_held){ i, r->lanes[i].epoch, i != careful_lane };
    }
    return store_offset_renew(
        r->parts.store,
        &(struct offset_renew){ r->key, relay_now_us(r) + r->settings.lease_us, lanes, count },
        held, err);
}

static bool prepare_careful(struct relay *r, const struct choice *choice, struct delivery *d,
                            struct error *err)
{
    const int64_t number = choice->places[0].lane;
    struct relay_lane *lane = &r->lanes[number];
    struct item *item = d->count > 0 ? &d->items[0] : NULL;
    bool held;

    if (lane->careful == 0)
        lane->careful = RELAY_CAREFUL;
    if (item == NULL || item->state != ITEM_OPEN)
        return true;
    if (lane->crashes > RELAY_CRASHES) {
        item->state = ITEM_FAILED;
        item->is_refused = true;
        item->reason =
            arena_printf(&r->arena, "its reader died here %" PRId64 " times", lane->crashes);
        return !r->arena.failed || arena_error(&r->arena, err);
    }
    if (!blame(r, number, &held, err))
        return false;
    d->is_lost = !held;
    return true;
}

/* ---- what it comes to ---- */

struct settling {
    struct relay *relay;
    struct delivery *delivery;
    struct offset_move moves[OUTBOX_LANES];
    size_t move_count;
    struct parked_list puts;
    struct {
        struct parked_pass *items;
        size_t count;
    } passes;
    const struct item *stop; /* what stops the subscription; NULL: nothing */
};

static bool is_stop(const struct relay *r, const struct item *item)
{
    return item->state == ITEM_FAILED && item->is_refused &&
           r->settings.subscription->policy == POLICY_STOP;
}

static bool put(struct settling *s, const struct item *item, struct error *err)
{
    struct relay *r = s->relay;
    const bool skips =
        item->is_refused && r->settings.subscription->policy == POLICY_SKIP_TO_LATEST;
    const int64_t now_us = relay_now_us(r), version = item->event->stored.event.version;
    struct parked *parked = LIST_ADD(&r->arena, &s->puts);

    if (parked == NULL)
        return arena_error(&r->arena, err);
    *parked = (struct parked){ .aggregate_type = item->aggregate.type,
                               .aggregate_id = item->aggregate.id,
                               .record_id = item->event->record_id,
                               .lane = item->event->lane,
                               .head_version = version,
                               .seen_version = version,
                               .attempts_begun = 1,
                               .attempts_ended = 1,
                               .policy = skips ? POLICY_SKIP_TO_LATEST : POLICY_WAIT,
                               .last_error = item->reason,
                               .parked_us = now_us };
    parked->next_retry_us =
        now_us + retry_delay_us(&r->settings.retry, 1, random_source_u64(r->parts.random), 0);
    return true;
}

static bool same(struct aggregate a, struct str type, struct str id)
{
    return str_eq(a.id, id) && str_eq(a.type, type);
}

/* From the last one on: it is most often the same key. */
static void behind(struct settling *s, const struct item *item)
{
    for (size_t i = s->puts.count; i-- > 0;) {
        struct parked *parked = &s->puts.items[i];

        if (same(item->aggregate, parked->aggregate_type, parked->aggregate_id)) {
            parked->seen_version = item->event->stored.event.version;
            return;
        }
    }
}

static bool pass(struct settling *s, const struct item *item, struct error *err)
{
    struct parked_pass *place = NULL;

    for (size_t i = s->passes.count; i-- > 0 && place == NULL;) {
        if (same(item->aggregate, s->passes.items[i].aggregate_type,
                 s->passes.items[i].aggregate_id))
            place = &s->passes.items[i];
    }
    if (place == NULL)
        place = LIST_ADD(&s->relay->arena, &s->passes);
    if (place == NULL)
        return arena_error(&s->relay->arena, err);
    *place = (struct parked_pass){ item->aggregate.type, item->aggregate.id,
                                   item->event->stored.event.version };
    return true;
}

static bool settle_item(struct settling *s, const struct item *item, struct error *err)
{
    if (item->state == ITEM_FAILED)
        return put(s, item, err);
    if (item->state == ITEM_BEHIND)
        behind(s, item);
    return item->state != ITEM_PASSED || pass(s, item, err);
}

/* A lane moves up to the first event that is not settled. */
static bool settle(struct settling *s, struct error *err)
{
    const struct delivery *d = s->delivery;
    struct offset_move *move = NULL;
    int64_t lane = -1;
    bool is_stuck = false;

    for (size_t i = 0; i < d->count; i++) {
        const struct item *item = &d->items[i];
        const struct stream_event *event = item->event;

        if (event->lane != lane) {
            lane = event->lane;
            is_stuck = false;
            move = NULL;
        }
        if (!is_stuck && is_stop(s->relay, item) && s->stop == NULL)
            s->stop = item;
        is_stuck |= item->state == ITEM_OPEN || is_stop(s->relay, item);
        if (is_stuck)
            continue;
        if (!settle_item(s, item, err))
            return false;
        if (move == NULL)
            move = &s->moves[s->move_count++];
        *move = (struct offset_move){ lane,
                                      s->relay->lanes[lane].epoch,
                                      event->pos,
                                      str_of(s->relay->lanes[lane].ack_id),
                                      event->stored.event.event_id,
                                      event->sequenced_us };
    }
    return true;
}

/* ---- saving ---- */

static bool stop(const struct settling *s, struct error *err)
{
    const struct relay *r = s->relay;
    const struct item *item = s->stop;
    struct subscription_change change = { .name = r->key.subscription,
                                          .state = SUBSCRIPTION_STOPPED,
                                          .now_us = relay_now_us(r) };
    bool changed;

    change.reason = arena_printf(&s->relay->arena, "version %" PRId64 " of %.*s/%.*s: %.*s",
                                 item->event->stored.event.version, STR_ARG(item->aggregate.type),
                                 STR_ARG(item->aggregate.id), STR_ARG(item->reason));
    if (s->relay->arena.failed)
        return arena_error(&s->relay->arena, err);
    return store_subscription_set_state(r->parts.store, &change, &changed, err);
}

struct saved {
    bool held;
    bool all; /* the parked keys are as they were known */
};

static bool save(struct settling *s, int64_t until_us, struct saved *saved, struct error *err)
{
    struct relay *r = s->relay;
    struct store *store = r->parts.store;
    const struct offset_save request = {
        .key = r->key,
        .owner = r->settings.owner,
        .now_us = relay_now_us(r),
        .until_us = until_us,
        .moves = s->moves,
        .count = s->move_count,
    };

    *saved = (struct saved){ true, true };
    if (!store_offset_save(store, &request, &saved->held, err))
        return false;
    for (size_t i = 0; i < s->puts.count && saved->held; i++) {
        if (!store_parked_put(store, &r->key, &s->puts.items[i], err))
            return false;
    }
    if (!saved->held ||
        !store_parked_pass(store, &r->key, s->passes.items, s->passes.count, &saved->all, err))
        return !saved->held;
    return !saved->all || s->stop == NULL || stop(s, err);
}

static bool save_all(struct settling *s, int64_t until_us, struct saved *saved, struct error *err)
{
    struct store *store = s->relay->parts.store;

    if (!store_begin(store, err))
        return false;
    if (save(s, until_us, saved, err)) {
        if (saved->held && saved->all)
            return store_commit(store, err);
        store_rollback(store);
        return true;
    }
    store_rollback(store);
    return false;
}

static void remember(struct settling *s, struct relay_round *round)
{
    struct relay *r = s->relay;

    for (size_t i = 0; i < s->move_count; i++) {
        struct relay_lane *lane = &r->lanes[s->moves[i].lane];
        const int64_t moved = s->moves[i].pos - lane->pos;

        lane->pos = s->moves[i].pos;
        lane->crashes = 0;
        lane->careful = lane->careful > moved ? lane->careful - moved : 0;
    }
    for (size_t i = 0; i < s->passes.count; i++) {
        struct parked *parked =
            park_find(&r->park, s->passes.items[i].aggregate_type, s->passes.items[i].aggregate_id);

        if (parked != NULL && parked->seen_version < s->passes.items[i].seen_version)
            parked->seen_version = s->passes.items[i].seen_version;
    }
    for (size_t i = 0; i < s->puts.count; i++) {
        r->must_load |= !park_add(&r->park, &s->puts.items[i]);
        relay_log_key(r, "key parked", &s->puts.items[i]);
    }
    round->parked += (int64_t)s->puts.count;
    round->is_stopped = s->stop != NULL;
}

static void count_passed(const struct delivery *d, struct relay_round *round)
{
    for (size_t i = 0; i < d->count; i++) {
        const enum item_state state = d->items[i].state;

        round->passed += state == ITEM_UNWANTED || state == ITEM_PASSED || state == ITEM_BEHIND;
    }
}

static bool finish(struct relay *r, struct delivery *d, struct relay_round *round,
                   struct error *err)
{
    struct settling s = { .relay = r, .delivery = d };
    const int64_t until_us = relay_now_us(r) + r->settings.lease_us;
    struct saved saved = { true, true };

    if (!settle(&s, err))
        return false;
    if (s.move_count == 0 && s.stop == NULL)
        return true;
    if (!save_all(&s, until_us, &saved, err))
        return false;
    round->was_overtaken |= !saved.held;
    if (!saved.held)
        relay_forget(r);
    r->must_load |= !saved.all;
    if (saved.held && saved.all) {
        remember(&s, round);
        count_passed(d, round);
    }
    return true;
}

/* ---- the batch ---- */

static void mark_parked(struct relay *r, struct delivery *d)
{
    for (size_t i = 0; i < d->count; i++) {
        struct item *item = &d->items[i];

        if (item->state != ITEM_OPEN)
            continue;
        item->park = park_find(&r->park, item->aggregate.type, item->aggregate.id);
        if (item->park != NULL)
            item->state = ITEM_PASSED;
    }
}

static bool deliver(struct relay *r, const struct choice *choice, struct relay_round *round,
                    struct error *err)
{
    struct stream_event_list events;
    struct delivery d;

    if (!read(r, choice, &events, err) || !check_whole(r, choice, &events, err) ||
        !relay_items(r, &events, &d, err))
        return false;
    mark_parked(r, &d);
    if (choice->is_careful && !prepare_careful(r, choice, &d, err))
        return false;
    if (!d.is_lost && !relay_send(r, &d, round, err))
        return false;
    if (d.is_lost) {
        round->was_overtaken = true;
        relay_forget(r);
        return true;
    }
    return finish(r, &d, round, err);
}

bool relay_batch(struct relay *r, struct relay_round *round, struct error *err)
{
    struct choice choice;

    if (!look(r, err))
        return false;
    choose(r, &choice);
    if (choice.count > 0 && !deliver(r, &choice, round, err))
        return false;
    for (int i = 0; i < OUTBOX_LANES; i++)
        round->has_more |= is_pending(&r->lanes[i]);
    return true;
}
