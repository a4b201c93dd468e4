/* Parked keys, when they are due: the events that wait, in their order, until one fails again.
 *
 *      due ── begin ── read head..seen ── send ── end, or remove
 *             one transaction                     one transaction
 *             under the epochs                    under the epochs
 */
#include <inttypes.h>
#include <stdint.h>

#include "engine/relay/relay_internal.h"

static bool may_try(const struct relay *r, const struct parked *parked)
{
    return !park_is_forgotten(parked) && parked->lane >= 0 && parked->lane < OUTBOX_LANES &&
           r->lanes[parked->lane].is_held &&
           parked->attempts_begun - parked->attempts_ended < RELAY_TRIES_LOST_MAX;
}

int64_t relay_parked_due_us(const struct relay *r)
{
    int64_t due_us = INT64_MAX;

    for (size_t i = 0; i < r->park.list.count; i++) {
        const struct parked *parked = &r->park.list.items[i];

        if (may_try(r, parked) && parked->next_retry_us < due_us)
            due_us = parked->next_retry_us;
    }
    return due_us;
}

void relay_log_key(const struct relay *r, const char *what, const struct parked *parked)
{
    if (r->parts.log != NULL)
        log_event(r->parts.log, LOG_WARN, what, LOG_STR("subscription", r->key.subscription),
                  LOG_STR("type", parked->aggregate_type), LOG_STR("id", parked->aggregate_id),
                  LOG_I64("version", parked->head_version), LOG_STR("error", parked->last_error));
}

struct trying {
    struct parked *keys[RELAY_RETRY_KEYS];
    size_t count;
    bool lanes[OUTBOX_LANES];        /* theirs */
    struct stream_event_list events; /* of all keys, one after the other */
    size_t ends[RELAY_RETRY_KEYS];
    bool is_whole[RELAY_RETRY_KEYS]; /* nothing waits behind these events */
};

/* ---- before ---- */

static void find_due(struct relay *r, struct trying *t)
{
    const int64_t now_us = relay_now_us(r);

    for (size_t i = 0; i < r->park.list.count && t->count < RELAY_RETRY_KEYS; i++) {
        struct parked *parked = &r->park.list.items[i];

        if (!may_try(r, parked) || parked->next_retry_us > now_us)
            continue;
        t->keys[t->count++] = parked;
        t->lanes[parked->lane] = true;
    }
}

static int64_t delay_us(const struct relay *r, const struct parked *parked)
{
    const int attempt = parked->attempts_begun < 60 ? (int)parked->attempts_begun : 60;

    return retry_delay_us(&r->settings.retry, attempt < 1 ? 1 : attempt,
                          random_source_u64(r->parts.random), 0);
}

/* *known is false when a row is not as it was: somebody else has changed it. */
static bool write_begun(struct relay *r, struct trying *t, bool *held, bool *known,
                        struct error *err)
{
    if (!relay_fence_lanes(r, t->lanes, held, err))
        return false;
    for (size_t i = 0; i < t->count && *held && *known; i++) {
        t->keys[i]->next_retry_us = relay_now_us(r) + delay_us(r, t->keys[i]);
        if (!store_parked_begin(r->parts.store, &r->key, t->keys[i], known, err))
            return false;
    }
    return true;
}

static bool end_transaction(struct relay *r, bool ok, bool is_valid, struct error *err)
{
    if (ok && is_valid)
        return store_commit(r->parts.store, err);
    store_rollback(r->parts.store);
    return ok;
}

/* False in *go: nothing was written, and the round is over for parked keys. */
static bool settle_doubt(struct relay *r, bool held, bool known, struct relay_round *round)
{
    if (!held) {
        round->was_overtaken = true;
        relay_forget(r);
    }
    r->must_load |= !known;
    return held && known;
}

static bool begin(struct relay *r, struct trying *t, struct relay_round *round, bool *go,
                  struct error *err)
{
    bool held = true, known = true, ok;

    if (!store_begin(r->parts.store, err))
        return false;
    ok = write_begun(r, t, &held, &known, err);
    if (!end_transaction(r, ok, held && known, err))
        return false;
    *go = settle_doubt(r, held, known, round);
    for (size_t i = 0; i < t->count && *go; i++)
        t->keys[i]->attempts_begun++;
    return true;
}

/* ---- what waits ---- */

static bool add_events(struct relay *r, struct trying *t, size_t i, struct error *err)
{
    const struct parked *parked = t->keys[i];
    const struct parked_events query = {
        .parked = parked,
        .from_version =
            parked->policy == POLICY_SKIP_TO_LATEST ? parked->seen_version : parked->head_version,
        .to_version = parked->seen_version,
        .limit = RELAY_RETRY_EVENTS,
    };
    struct stream_event_list list;
    int64_t bytes = 0;
    size_t taken = 0;

    if (!store_parked_events(r->parts.store, &r->arena, &query, &list, err))
        return false;
    for (; taken < list.count && (taken == 0 || bytes < r->settings.bytes_max); taken++) {
        struct stream_event *event = LIST_ADD(&r->arena, &t->events);

        if (event == NULL)
            return arena_error(&r->arena, err);
        *event = list.items[taken];
        bytes += (int64_t)event->stored.event.body.len;
    }
    t->ends[i] = t->events.count;
    t->is_whole[i] = taken == list.count && list.count < RELAY_RETRY_EVENTS;
    return true;
}

static bool read_events(struct relay *r, struct trying *t, struct error *err)
{
    for (size_t i = 0; i < t->count; i++) {
        if (!add_events(r, t, i, err))
            return false;
    }
    return true;
}

/* ---- after ---- */

/* How far the key came: `head` is its first event that was not delivered. False: all were. */
static bool came_to(const struct trying *t, const struct delivery *d, size_t key,
                    struct parked *after)
{
    const size_t from = key == 0 ? 0 : t->ends[key - 1];

    for (size_t i = from; i < t->ends[key]; i++) {
        const struct item *item = &d->items[i];

        if (item->state == ITEM_DONE || item->state == ITEM_UNWANTED)
            continue;
        after->head_version = item->event->stored.event.version;
        if (item->state == ITEM_FAILED)
            after->last_error = item->reason;
        return true;
    }
    if (t->is_whole[key])
        return false;
    after->head_version = d->items[t->ends[key] - 1].event->stored.event.version + 1;
    return true;
}

/* A key that made its way so far, or whose bus failed, is tried again as soon as that is possible.
 */
static void plan_next(struct relay *r, const struct delivery *d, const struct parked *before,
                      struct parked *after)
{
    const bool is_failed = after->last_error.data != before->last_error.data;

    if (!is_failed || d->is_cut)
        after->next_retry_us = relay_now_us(r);
    else if (after->head_version > before->head_version)
        after->next_retry_us = relay_now_us(r) + r->settings.retry.delay_min_us;
}

struct ended {
    struct parked rows[RELAY_RETRY_KEYS]; /* as they are now */
    bool is_gone[RELAY_RETRY_KEYS];
};

static bool write_ended(struct relay *r, const struct trying *t, struct ended *ended, bool *known,
                        struct error *err)
{
    for (size_t i = 0; i < t->count && *known; i++) {
        if (ended->is_gone[i]
                ? !store_parked_remove(r->parts.store, &r->key, &ended->rows[i], known, err)
                : !store_parked_end(r->parts.store, &r->key, &ended->rows[i], known, err))
            return false;
    }
    return true;
}

static void take_over(struct relay *r, struct trying *t, const struct ended *ended,
                      struct relay_round *round)
{
    for (size_t i = 0; i < t->count; i++) {
        struct parked *parked = t->keys[i];

        if (ended->is_gone[i]) {
            round->returned++;
            relay_log_key(r, "key delivered again", parked);
            park_forget(&r->park, parked);
            continue;
        }
        parked->head_version = ended->rows[i].head_version;
        parked->next_retry_us = ended->rows[i].next_retry_us;
        parked->attempts_ended = parked->attempts_begun;
        round->has_more |= parked->next_retry_us <= relay_now_us(r);
    }
}

static bool end(struct relay *r, struct trying *t, const struct delivery *d,
                struct relay_round *round, struct error *err)
{
    struct ended ended;
    bool held = true, known = true, ok;

    for (size_t i = 0; i < t->count; i++) {
        ended.rows[i] = *t->keys[i];
        ended.is_gone[i] = !came_to(t, d, i, &ended.rows[i]);
        plan_next(r, d, t->keys[i], &ended.rows[i]);
    }
    if (!store_begin(r->parts.store, err))
        return false;
    ok = relay_fence_lanes(r, t->lanes, &held, err) &&
         (!held || write_ended(r, t, &ended, &known, err));
    if (!end_transaction(r, ok, held && known, err))
        return false;
    if (settle_doubt(r, held, known, round))
        take_over(r, t, &ended, round);
    return true;
}

bool relay_parked(struct relay *r, struct relay_round *round, struct error *err)
{
    struct trying t = { .count = 0 };
    struct delivery d;
    bool go = false;

    if (r->must_load)
        return true; /* next time */
    find_due(r, &t);
    if (t.count == 0)
        return true;
    if (!begin(r, &t, round, &go, err))
        return false;
    if (!go)
        return true;
    if (!read_events(r, &t, err) || !relay_items(r, &t.events, &d, err) ||
        !relay_send(r, &d, round, err))
        return false;
    if (d.is_lost) {
        round->was_overtaken = true;
        relay_forget(r);
        return true;
    }
    return end(r, &t, &d, round, err);
}
