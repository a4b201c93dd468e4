/* Parked keys, when they are due: the events that wait, in their order, until one fails again.
 *
 *      due ── begin ── read head..seen ── send ── end, or remove
 *             one transaction                     one transaction
 *             under the epochs                    under the epochs
 */
#include <inttypes.h>
#include <stdint.h>

#include "engine/lanes/give_up.h"
#include "engine/lanes/lanes_internal.h"

/* Of each key, at once: a call to the bus each. */
enum { RETRY_EVENTS = 64 };

/* Lines about keys in such a span. */
enum { LOG_KEYS_MAX = 50 };
#define LOG_SPAN_US US_PER_MINUTE

static bool may_try(const struct lanes *l, const struct parked *parked)
{
    return !park_is_forgotten(parked) && parked->lane >= 0 && parked->lane < OUTBOX_LANES &&
           l->items[parked->lane].is_held &&
           parked->attempts_begun - parked->attempts_ended < LANES_TRIES_LOST_MAX;
}

int64_t lanes_due_us(const struct lanes *l)
{
    int64_t due_us = INT64_MAX;

    for (size_t i = 0; i < l->park.list.count; i++) {
        const struct parked *parked = &l->park.list.items[i];

        if (may_try(l, parked) && parked->next_retry_us < due_us)
            due_us = parked->next_retry_us;
    }
    return due_us;
}

void lanes_log_rest(struct lanes *l)
{
    if (l->parts.log != NULL && l->logged.left_out > 0)
        log_event(l->parts.log, LOG_WARN, "more keys, not logged one by one",
                  LOG_STR("subscription", l->key.subscription),
                  LOG_I64("lines", l->logged.left_out));
    l->logged.count = 0;
    l->logged.left_out = 0;
}

/* A mapping that fits no event would fill the log with all of them. */
static bool may_log(struct lanes *l)
{
    const int64_t now_us = lanes_now_us(l);

    if (now_us >= l->logged.until_us) {
        lanes_log_rest(l);
        l->logged.until_us = now_us + LOG_SPAN_US;
    }
    if (l->logged.count < LOG_KEYS_MAX) {
        l->logged.count++;
        return true;
    }
    l->logged.left_out++;
    return false;
}

void lanes_log_key(struct lanes *l, const char *what, const struct parked *parked)
{
    if (l->parts.log != NULL && may_log(l))
        log_event(l->parts.log, LOG_WARN, what, LOG_STR("subscription", l->key.subscription),
                  LOG_STR("type", parked->aggregate_type), LOG_STR("id", parked->aggregate_id),
                  LOG_I64("version", parked->head_version), LOG_STR("error", parked->last_error));
}

/* ---- before ---- */

static void find_due(struct lanes *l, struct trying *t, size_t keys_max)
{
    const int64_t now_us = lanes_now_us(l);

    for (size_t i = 0; i < l->park.list.count && t->count < keys_max; i++) {
        struct parked *parked = &l->park.list.items[i];

        if (!may_try(l, parked) || parked->next_retry_us > now_us)
            continue;
        t->keys[t->count++] = parked;
        t->lanes[parked->lane] = true;
    }
}

static int64_t delay_us(const struct lanes *l, const struct parked *parked)
{
    const int attempt = parked->attempts_begun < 60 ? (int)parked->attempts_begun : 60;

    return retry_delay_us(&l->settings.retry, attempt < 1 ? 1 : attempt,
                          random_source_u64(l->parts.random), 0);
}

/* *known is false when a row is not as it was: somebody else has changed it. */
static bool write_begun(struct lanes *l, struct trying *t, bool *held, bool *known,
                        struct error *err)
{
    if (!lanes_fence_some(l, t->lanes, held, err))
        return false;
    for (size_t i = 0; i < t->count && *held && *known; i++) {
        t->keys[i]->next_retry_us = lanes_now_us(l) + delay_us(l, t->keys[i]);
        if (!store_parked_begin(l->parts.store, &l->key, t->keys[i], known, err))
            return false;
    }
    return true;
}

static bool end_transaction(struct lanes *l, bool ok, bool is_valid, struct error *err)
{
    if (ok && is_valid)
        return store_commit(l->parts.store, err);
    store_rollback(l->parts.store);
    return ok;
}

/* False in *go: nothing was written, and the round is over for parked keys. */
static bool settle_doubt(struct lanes *l, bool held, bool known, struct lanes_round *round)
{
    if (!held)
        lanes_lost(l, round);
    l->must_load |= !known;
    return held && known;
}

static bool begin(struct lanes *l, struct trying *t, struct lanes_round *round, bool *go,
                  struct error *err)
{
    bool held = true, known = true, ok;

    if (!store_begin(l->parts.store, err))
        return false;
    ok = write_begun(l, t, &held, &known, err);
    if (!end_transaction(l, ok, held && known, err))
        return false;
    *go = settle_doubt(l, held, known, round);
    for (size_t i = 0; i < t->count && *go; i++)
        t->keys[i]->attempts_begun++;
    return true;
}

/* ---- what waits ---- */

static bool add_events(struct lanes *l, struct trying *t, size_t i, struct error *err)
{
    const struct parked *parked = t->keys[i];
    const struct parked_events query = {
        .parked = parked,
        .from_version =
            parked->policy == POLICY_SKIP_TO_LATEST ? parked->seen_version : parked->head_version,
        .to_version = parked->seen_version,
        .limit = RETRY_EVENTS,
    };
    struct stream_event_list list;
    int64_t bytes = 0;
    size_t taken = 0;

    if (!store_parked_events(l->parts.stream, &l->arena, &query, &list, err))
        return false;
    for (; taken < list.count && (taken == 0 || bytes < l->settings.bytes_max); taken++) {
        struct stream_event *event = LIST_ADD(&l->arena, &t->events);

        if (event == NULL)
            return arena_error(&l->arena, err);
        *event = list.items[taken];
        bytes += (int64_t)event->stored.event.body.len;
    }
    t->ends[i] = t->events.count;
    t->is_whole[i] = taken == list.count && list.count < RETRY_EVENTS;
    return true;
}

static bool read_events(struct lanes *l, struct trying *t, struct error *err)
{
    for (size_t i = 0; i < t->count; i++) {
        if (!add_events(l, t, i, err))
            return false;
    }
    return true;
}

/* ---- after ---- */

struct ended {
    struct parked rows[LANES_RETRY_KEYS]; /* as they are now */
    bool is_gone[LANES_RETRY_KEYS];
    const struct item *dead[LANES_RETRY_KEYS]; /* the event that is given up; NULL: none */
};

static bool is_dead(const struct lanes *l, const struct item *item, const struct parked *parked)
{
    return item->state == ITEM_FAILED && item->is_refused && l->settings.attempts_max > 0 &&
           parked->attempts_begun >= l->settings.attempts_max;
}

/* How far the key came: `head` is its first event that was not delivered, nor given up. False: none
 * is left. */
static bool came_to(const struct lanes *l, const struct trying *t, size_t key, struct ended *ended)
{
    const struct delivery *d = &t->delivery;
    const size_t from = key == 0 ? 0 : t->ends[key - 1];
    struct parked *after = &ended->rows[key];

    for (size_t i = from; i < t->ends[key]; i++) {
        const struct item *item = &d->items[i];

        if (item->state == ITEM_DONE || item->state == ITEM_UNWANTED)
            continue;
        after->head_version = item->event->stored.event.version;
        if (is_dead(l, item, after)) {
            ended->dead[key] = item;
            return after->head_version++ < after->seen_version;
        }
        if (item->state == ITEM_FAILED)
            after->last_error = item->reason;
        return true;
    }
    if (t->is_whole[key])
        return false;
    after->head_version = d->items[t->ends[key] - 1].event->stored.event.version + 1;
    return after->head_version <= after->seen_version;
}

/* A key that made its way so far, or whose bus failed, is tried again as soon as that is possible.
 */
static void plan_next(struct lanes *l, const struct delivery *d, const struct parked *before,
                      struct parked *after)
{
    const bool is_failed = after->last_error.data != before->last_error.data;

    if (!is_failed || d->is_cut)
        after->next_retry_us = lanes_now_us(l);
    else if (after->head_version > before->head_version)
        after->next_retry_us = lanes_now_us(l) + l->settings.retry.delay_min_us;
}

static bool bury(struct lanes *l, const struct parked *parked, const struct item *item,
                 struct error *err)
{
    const struct burial burial = { l->key, parked, item->event, item->reason, lanes_now_us(l) };

    return bury_event(l->parts.store, &l->arena, &burial, err);
}

static bool write_ended(struct lanes *l, const struct trying *t, struct ended *ended, bool *known,
                        struct error *err)
{
    for (size_t i = 0; i < t->count && *known; i++) {
        if (ended->dead[i] != NULL && !bury(l, &ended->rows[i], ended->dead[i], err))
            return false;
        if (ended->is_gone[i]
                ? !store_parked_remove(l->parts.store, &l->key, &ended->rows[i], known, err)
                : !store_parked_end(l->parts.store, &l->key, &ended->rows[i], known, err))
            return false;
    }
    return true;
}

/* What goes on at once was not put off. */
static void report_delay(const struct lanes *l, const struct parked *parked)
{
    const int64_t delay_us = parked->next_retry_us - lanes_now_us(l);

    if (delay_us > 0)
        lanes_report(l, (struct lanes_event){ .kind = LANES_PUT_OFF, .delay_us = delay_us });
}

static void take_over(struct lanes *l, struct trying *t, const struct ended *ended,
                      struct lanes_round *round)
{
    for (size_t i = 0; i < t->count; i++) {
        struct parked *parked = t->keys[i];

        if (ended->dead[i] != NULL) {
            round->dead++;
            lanes_log_key(l, "event given up", parked);
        }
        if (ended->is_gone[i]) {
            round->returned++;
            lanes_log_key(l, "key goes on", parked);
            park_forget(&l->park, parked);
            continue;
        }
        if (parked->head_version < ended->rows[i].head_version)
            parked->attempts_begun = 0; /* of the next event */
        parked->attempts_ended = parked->attempts_begun;
        parked->head_version = ended->rows[i].head_version;
        parked->next_retry_us = ended->rows[i].next_retry_us;
        report_delay(l, parked);
        round->has_more |= parked->next_retry_us <= lanes_now_us(l);
    }
}

static bool end(struct lanes *l, struct trying *t, const struct lanes_within *within,
                struct lanes_round *round, bool *saved, struct error *err)
{
    const struct delivery *d = &t->delivery;
    struct ended ended = { 0 };
    bool held = true, known = true, ok;

    for (size_t i = 0; i < t->count; i++) {
        ended.rows[i] = *t->keys[i];
        ended.is_gone[i] = !came_to(l, t, i, &ended);
        plan_next(l, d, t->keys[i], &ended.rows[i]);
    }
    if (!store_begin(l->parts.store, err))
        return false;
    ok = lanes_fence_some(l, t->lanes, &held, err) &&
         (!held || write_ended(l, t, &ended, &known, err)) &&
         (!held || !known || within == NULL || within->write(within->context, err));
    if (!end_transaction(l, ok, held && known, err))
        return false;
    *saved = settle_doubt(l, held, known, round);
    if (*saved)
        take_over(l, t, &ended, round);
    return true;
}

bool lanes_due(struct lanes *l, const struct lanes_filter *filter, size_t keys_max,
               struct trying *t, struct lanes_round *round, struct error *err)
{
    bool go = false;

    assert(keys_max <= LANES_RETRY_KEYS);
    *t = (struct trying){ 0 };
    if (l->must_load)
        return true; /* next time */
    find_due(l, t, keys_max);
    if (t->count == 0)
        return true;
    if (!begin(l, t, round, &go, err))
        return false;
    if (go)
        return read_events(l, t, err) && lanes_items(l, filter, &t->events, &t->delivery, err);
    t->count = 0;
    return true;
}

bool lanes_tried(struct lanes *l, struct trying *t, const struct lanes_within *within,
                 struct lanes_round *round, bool *saved, struct error *err)
{
    *saved = false;
    if (!t->delivery.is_lost)
        return end(l, t, within, round, saved, err);
    lanes_lost(l, round);
    return true;
}
