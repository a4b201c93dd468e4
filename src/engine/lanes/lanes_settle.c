/* What became of the events of a batch: offsets and parked keys, in one transaction. */
#include <inttypes.h>

#include "engine/lanes/lanes_internal.h"

/* ---- what it comes to ---- */

struct settling {
    struct lanes *lanes;
    const struct delivery *delivery;
    const struct lanes_within *within;
    struct offset_move moves[OUTBOX_LANES];
    size_t move_count;
    struct parked_list puts;
    struct {
        struct parked_pass *items;
        size_t count;
    } passes;
    const struct stream_event *last; /* the latest that is settled; NULL: none */
    const struct item *stop;         /* what stops the subscription; NULL: nothing */
};

static bool is_stop(const struct lanes *l, const struct item *item)
{
    return item->state == ITEM_FAILED && item->is_refused &&
           l->settings.subscription->policy == POLICY_STOP;
}

static bool put(struct settling *s, const struct item *item, struct error *err)
{
    struct lanes *l = s->lanes;
    const bool skips =
        item->is_refused && l->settings.subscription->policy == POLICY_SKIP_TO_LATEST;
    const int64_t now_us = lanes_now_us(l), version = item->event->stored.event.version;
    struct parked *parked = LIST_ADD(&l->arena, &s->puts);

    if (parked == NULL)
        return arena_error(&l->arena, err);
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
        now_us + retry_delay_us(&l->settings.retry, 1, random_source_u64(l->parts.random), 0);
    lanes_report(l, (struct lanes_event){ .kind = LANES_PUT_OFF,
                                          .delay_us = parked->next_retry_us - now_us });
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
    const int64_t version = item->event->stored.event.version;
    struct parked_pass *place = NULL;

    for (size_t i = s->passes.count; i-- > 0 && place == NULL;) {
        if (same(item->aggregate, s->passes.items[i].aggregate_type,
                 s->passes.items[i].aggregate_id))
            place = &s->passes.items[i];
    }
    if (place != NULL) {
        place->seen_version = version;
        return true;
    }
    place = LIST_ADD(&s->lanes->arena, &s->passes);
    if (place == NULL)
        return arena_error(&s->lanes->arena, err);
    *place = (struct parked_pass){ item->aggregate.type, item->aggregate.id, version, version };
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
        if (!is_stuck && is_stop(s->lanes, item) && s->stop == NULL)
            s->stop = item;
        is_stuck |= item->state == ITEM_OPEN || is_stop(s->lanes, item);
        if (is_stuck)
            continue;
        if (!settle_item(s, item, err))
            return false;
        if (move == NULL)
            move = &s->moves[s->move_count++];
        if (s->last == NULL || event->sequenced_us >= s->last->sequenced_us)
            s->last = event;
        *move = (struct offset_move){ lane,
                                      s->lanes->items[lane].epoch,
                                      event->pos,
                                      str_of(s->lanes->items[lane].ack_id),
                                      event->stored.event.event_id,
                                      event->sequenced_us };
    }
    return true;
}

/* ---- saving ---- */

/* After the save: if that fails, the event is met again, and stops it again. */
static bool stop(const struct settling *s, struct error *err)
{
    struct lanes *l = s->lanes;
    const struct item *item = s->stop;
    struct subscription_change change = { .name = l->key.subscription,
                                          .state = SUBSCRIPTION_STOPPED,
                                          .now_us = lanes_now_us(l) };
    bool changed;

    change.reason = arena_printf(&l->arena, "version %" PRId64 " of %.*s/%.*s: %.*s",
                                 item->event->stored.event.version, STR_ARG(item->aggregate.type),
                                 STR_ARG(item->aggregate.id), STR_ARG(item->reason));
    if (l->arena.failed)
        return arena_error(&l->arena, err);
    return store_subscription_set_state(l->parts.stream, &change, &changed, err);
}

struct fate {
    bool held;
    bool known; /* the parked keys are as they were known */
};

static bool save(struct settling *s, int64_t until_us, struct fate *fate, struct error *err)
{
    struct lanes *l = s->lanes;
    struct store *store = l->parts.store;
    const struct offset_save request = {
        .key = l->key,
        .owner = l->settings.owner,
        .now_us = lanes_now_us(l),
        .until_us = until_us,
        .moves = s->moves,
        .count = s->move_count,
    };

    *fate = (struct fate){ true, true };
    if (!store_offset_save(store, &request, &fate->held, err))
        return false;
    for (size_t i = 0; i < s->puts.count && fate->held; i++) {
        if (!store_parked_put(store, &l->key, &s->puts.items[i], err))
            return false;
    }
    if (!fate->held ||
        !store_parked_pass(store, &l->key, s->passes.items, s->passes.count, &fate->known, err))
        return !fate->held;
    return !fate->known || s->within == NULL || s->within->write(s->within->context, err);
}

static bool save_all(struct settling *s, int64_t until_us, struct fate *fate, struct error *err)
{
    struct store *store = s->lanes->parts.store;

    if (!store_begin(store, err))
        return false;
    if (save(s, until_us, fate, err)) {
        if (fate->held && fate->known)
            return store_commit(store, err);
        store_rollback(store);
        return true;
    }
    store_rollback(store);
    return false;
}

static void remember(struct settling *s, struct lanes_round *round)
{
    struct lanes *l = s->lanes;

    for (size_t i = 0; i < s->move_count; i++) {
        struct held_lane *lane = &l->items[s->moves[i].lane];
        const int64_t moved = s->moves[i].pos - lane->pos;

        lane->pos = s->moves[i].pos;
        lane->crashes = 0;
        lane->careful = lane->careful > moved ? lane->careful - moved : 0;
    }
    for (size_t i = 0; i < s->passes.count; i++) {
        const struct parked_pass *passed = &s->passes.items[i];
        struct parked *parked = park_find(&l->park, passed->aggregate_type, passed->aggregate_id);

        if (parked != NULL && parked->seen_version < passed->seen_version)
            parked->seen_version = passed->seen_version;
        if (parked != NULL && parked->head_version > passed->first_version)
            parked->head_version = passed->first_version;
    }
    for (size_t i = 0; i < s->puts.count; i++) {
        l->must_load |= !park_add(&l->park, &s->puts.items[i]);
        lanes_log_key(l, "key parked", &s->puts.items[i]);
    }
    round->parked += (int64_t)s->puts.count;
}

static void count_passed(const struct delivery *d, struct lanes_round *round)
{
    for (size_t i = 0; i < d->count; i++) {
        const enum item_state state = d->items[i].state;

        round->passed += state == ITEM_UNWANTED || state == ITEM_PASSED || state == ITEM_BEHIND;
    }
}

/* `err`: why they were not saved; NULL: they were. */
static void report(const struct settling *s, int64_t began_us, const struct error *err)
{
    const struct lanes *l = s->lanes;

    lanes_report(l, (struct lanes_event){ .kind = LANES_SAVED,
                                          .count = (int64_t)s->move_count,
                                          .first = s->last,
                                          .took_us = lanes_now_us(l) - began_us,
                                          .lag_us = lanes_now_us(l) - s->last->sequenced_us,
                                          .err = err });
}

static bool finish(struct settling *s, struct lanes_round *round, bool *saved, struct error *err)
{
    const int64_t now_us = lanes_now_us(s->lanes);
    struct fate fate = { true, true };

    if (s->move_count > 0 && !save_all(s, now_us + s->lanes->settings.lease_us, &fate, err)) {
        report(s, now_us, err);
        return false;
    }
    *saved = fate.held && fate.known;
    if (!fate.held)
        lanes_lost(s->lanes, round);
    s->lanes->must_load |= !fate.known;
    if (!*saved)
        return true;
    if (s->move_count > 0)
        report(s, now_us, NULL);
    remember(s, round);
    count_passed(s->delivery, round);
    round->is_stopped = s->stop != NULL;
    return s->stop == NULL || stop(s, err);
}

bool lanes_settle(struct lanes *l, const struct delivery *d, const struct lanes_within *within,
                  struct lanes_round *round, bool *saved, struct error *err)
{
    struct settling s = { .lanes = l, .delivery = d, .within = within };

    *saved = false;
    if (!d->is_lost)
        return settle(&s, err) && finish(&s, round, saved, err);
    lanes_lost(l, round);
    return true;
}
