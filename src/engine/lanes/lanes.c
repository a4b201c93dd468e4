/* Which lanes a reader has: it shares them with the others that are alive. */
#include "engine/lanes/lanes.h"

#include <string.h>

#include "core/lane_share.h"
#include "engine/lanes/lanes_internal.h"

static struct lanes_settings with_defaults(const struct lanes_settings *given)
{
    struct lanes_settings s = *given;

    if (s.lease_us == 0)
        s.lease_us = LANES_LEASE_US;
    if (s.batch_max == 0)
        s.batch_max = LANES_BATCH;
    if (s.bytes_max == 0)
        s.bytes_max = LANES_BYTES;
    if (s.parked_max == 0)
        s.parked_max = LANES_PARKED_MAX;
    if (s.retry.attempts_max == 0) {
        s.retry = retry_default();
        s.retry.delay_min_us = US_PER_SECOND;
        s.retry.delay_max_us = 300 * US_PER_SECOND;
    }
    return s;
}

void lanes_init(struct lanes *l, const struct lanes_parts *parts,
                const struct lanes_settings *settings)
{
    *l = (struct lanes){ .parts = *parts,
                         .settings = with_defaults(settings),
                         .key = { SUBSCRIPTION_GROUP, settings->subscription->name },
                         .attend_us = INT64_MIN };
    arena_init(&l->arena, LANES_BYTES_MAX);
    park_init(&l->park);
}

void lanes_release(struct lanes *l)
{
    lanes_log_rest(l);
    park_release(&l->park);
    arena_release(&l->arena);
}

void lanes_begin(struct lanes *l, int64_t now_us)
{
    arena_reset(&l->arena);
    l->now_us = now_us;
    l->began_us = clock_monotonic_us(l->parts.clock);
}

void lanes_report(const struct lanes *l, struct lanes_event event)
{
    if (l->parts.watch == NULL)
        return;
    event.subscription = l->settings.subscription;
    event.owner = l->settings.owner;
    event.now_us = lanes_now_us(l);
    l->parts.watch->see(l->parts.watch, &event);
}

bool lanes_error_is_halt(const struct error *err)
{
    return strcmp(err->code, "lanes.gap") == 0 || strcmp(err->code, "lanes.parked") == 0;
}

void lanes_forget(struct lanes *l)
{
    for (int i = 0; i < OUTBOX_LANES; i++)
        l->items[i] = (struct held_lane){ 0 };
    l->count = 0;
    l->ahead.count = 0;
    l->must_leave = true;
    l->must_load = true;
    l->attend_us = INT64_MIN;
}

void lanes_lost(struct lanes *l, struct lanes_round *round)
{
    round->was_overtaken = true;
    lanes_forget(l);
}

bool lanes_leave(struct lanes *l, struct error *err)
{
    lanes_forget(l);
    return store_offset_leave(l->parts.store, &l->key, l->settings.owner, err);
}

static int64_t lease_end_us(const struct lanes *l)
{
    return lanes_now_us(l) + l->settings.lease_us;
}

/* `only` may be NULL: all. */
static size_t held_lanes(const struct lanes *l, const bool *only,
                         struct offset_held held[OUTBOX_LANES])
{
    size_t count = 0;

    for (int i = 0; i < OUTBOX_LANES; i++) {
        const struct held_lane *lane = &l->items[i];

        if (lane->is_held && (only == NULL || only[i]))
            held[count++] = (struct offset_held){ i, lane->epoch, lane->pos >= lane->last_pos };
    }
    return count;
}

size_t lanes_places(const struct lanes *l, struct stream_place places[OUTBOX_LANES])
{
    bool has_parked[OUTBOX_LANES] = { false };
    size_t count = 0;

    for (size_t i = 0; i < l->park.list.count; i++) {
        const struct parked *parked = &l->park.list.items[i];

        if (!park_is_forgotten(parked) && parked->lane >= 0 && parked->lane < OUTBOX_LANES)
            has_parked[parked->lane] = true;
    }
    for (int i = 0; i < OUTBOX_LANES && !l->must_load; i++) {
        if (l->items[i].is_held && !has_parked[i])
            places[count++] = (struct stream_place){ i, l->items[i].pos };
    }
    return count;
}

bool lanes_fence(struct lanes *l, bool *held, struct error *err)
{
    struct offset_held lanes[OUTBOX_LANES];
    const size_t count = held_lanes(l, NULL, lanes);
    const struct offset_renew renew = { l->key, lease_end_us(l), lanes, count };

    if (!store_offset_renew(l->parts.store, &renew, held, err))
        return false;
    if (*held)
        l->until_us = renew.until_us;
    return true;
}

bool lanes_fence_some(struct lanes *l, const bool only[OUTBOX_LANES], bool *held, struct error *err)
{
    struct offset_held lanes[OUTBOX_LANES];
    const size_t count = held_lanes(l, only, lanes);
    const struct offset_renew renew = { l->key, lease_end_us(l), lanes, count };

    return store_offset_renew(l->parts.store, &renew, held, err);
}

bool lanes_keep(struct lanes *l, bool *held, struct error *err)
{
    struct offset_held lanes[OUTBOX_LANES];

    if (l->until_us - lanes_now_us(l) < l->settings.lease_us * 2 / 3)
        return lanes_fence(l, held, err);
    return store_offset_check(l->parts.store, &l->key, lanes, held_lanes(l, NULL, lanes), held,
                              err);
}

/* ---- attending ---- */

static bool sign(struct lanes *l, int64_t *readers, struct error *err)
{
    const struct offset_attend attend = {
        .key = l->key,
        .owner = l->settings.owner,
        .now_us = lanes_now_us(l),
        .until_us = lease_end_us(l),
        .error = l->error,
    };

    return store_offset_attend(l->parts.store, &attend, readers, err);
}

/* From the last lane on. */
static bool give_back(struct lanes *l, int64_t share, struct error *err)
{
    struct offset_held lanes[OUTBOX_LANES];
    size_t count = 0;

    for (int i = OUTBOX_LANES - 1; i >= 0 && l->count > share; i--) {
        if (!l->items[i].is_held)
            continue;
        lanes[count++] = (struct offset_held){ i, l->items[i].epoch, false };
        l->items[i] = (struct held_lane){ 0 };
        l->count--;
    }
    return count == 0 ||
           store_offset_release(l->parts.store, &(struct offset_renew){ l->key, 0, lanes, count },
                                err);
}

/* After a crash the bus may have more than the store knows of. A lane that it believes to have was
 * taken from it since, and is its own again. */
static void take(struct lanes *l, const struct offset_lane *claimed)
{
    struct held_lane *lane = &l->items[claimed->lane];

    l->count += !lane->is_held;
    *lane = (struct held_lane){ .is_held = true,
                                .epoch = claimed->epoch,
                                .pos = claimed->pos,
                                .last_pos = claimed->pos + 1, /* not known to be idle */
                                .crashes = claimed->crashes };
    if (claimed->crashes == 0 && claimed->ack_id.len < LANES_ACK_MAX)
        memcpy(lane->ack_id, claimed->ack_id.data, claimed->ack_id.len);
}

static bool claim(struct lanes *l, int64_t share, struct error *err)
{
    const struct offset_claim request = { .key = l->key,
                                          .owner = l->settings.owner,
                                          .now_us = lanes_now_us(l),
                                          .until_us = lease_end_us(l),
                                          .limit = share - l->count };
    struct offset_lane_list list;

    if (request.limit <= 0)
        return true;
    if (!store_offset_claim(l->parts.store, &l->arena, &request, &list, err))
        return false;
    for (size_t i = 0; i < list.count; i++) {
        if (list.items[i].lane < 0 || list.items[i].lane >= OUTBOX_LANES)
            return error_set(err, ERROR_FATAL, "lanes.lane", "lane %lld does not exist",
                             (long long)list.items[i].lane);
        take(l, &list.items[i]);
    }
    l->must_load |= list.count > 0;
    if (list.count > 0 && l->count == (int)list.count)
        l->until_us = request.until_us;
    return true;
}

/* What a session had when it was lost, or when a lane was overtaken, is given back: its owner, who
 * is this one, is not at work on it. */
static bool leave(struct lanes *l, struct error *err)
{
    if (l->must_leave && !store_offset_leave(l->parts.store, &l->key, l->settings.owner, err))
        return false;
    l->must_leave = false;
    return true;
}

/* Under the lanes' epochs: the rows of a lane that was moved are gone, and who does not know of the
 * move would deliver what comes after them. */
static bool load_held(struct lanes *l, bool *held, struct error *err)
{
    const struct park_limits limits = { l->settings.parked_max, (size_t)l->settings.batch_max + 1 };
    bool ok;

    if (!store_begin(l->parts.store, err))
        return false;
    ok = lanes_fence(l, held, err) &&
         (!*held || park_load(&l->park, l->parts.store, &l->key, &limits, err));
    if (ok && *held)
        return store_commit(l->parts.store, err);
    store_rollback(l->parts.store);
    return ok;
}

static bool load(struct lanes *l, struct lanes_round *round, struct error *err)
{
    bool held = true;

    if (!load_held(l, &held, err))
        return false;
    l->must_load = false;
    if (!held)
        lanes_lost(l, round);
    return true;
}

bool lanes_attend(struct lanes *l, struct lanes_round *round, struct error *err)
{
    const bool is_due = lanes_now_us(l) >= l->attend_us;
    int64_t readers, share;

    if (!is_due)
        return !l->must_load || load(l, round, err);
    if (!leave(l, err) || !sign(l, &readers, err))
        return false;
    l->attend_us = lanes_now_us(l) + l->settings.lease_us / 3;
    share = lane_share(OUTBOX_LANES, readers);
    return give_back(l, share, err) && claim(l, share, err) && load(l, round, err);
}
