/* Which lanes a relay has: it shares them with the others that are alive. */
#include <string.h>

#include "core/lane_share.h"
#include "engine/relay/relay_internal.h"

static int64_t lease_end_us(const struct relay *r)
{
    return relay_now_us(r) + r->settings.lease_us;
}

/* `only` may be NULL: all. */
static size_t held_lanes(const struct relay *r, const bool *only,
                         struct offset_held held[OUTBOX_LANES])
{
    size_t count = 0;

    for (int i = 0; i < OUTBOX_LANES; i++) {
        const struct relay_lane *lane = &r->lanes[i];

        if (lane->is_held && (only == NULL || only[i]))
            held[count++] = (struct offset_held){ i, lane->epoch, lane->pos >= lane->last_pos };
    }
    return count;
}

bool relay_fence(struct relay *r, bool *held, struct error *err)
{
    struct offset_held lanes[OUTBOX_LANES];
    const size_t count = held_lanes(r, NULL, lanes);
    const struct offset_renew renew = { r->key, lease_end_us(r), lanes, count };

    if (!store_offset_renew(r->parts.store, &renew, held, err))
        return false;
    if (*held)
        r->until_us = renew.until_us;
    return true;
}

bool relay_fence_lanes(struct relay *r, const bool only[OUTBOX_LANES], bool *held,
                       struct error *err)
{
    struct offset_held lanes[OUTBOX_LANES];
    const size_t count = held_lanes(r, only, lanes);
    const struct offset_renew renew = { r->key, lease_end_us(r), lanes, count };

    return store_offset_renew(r->parts.store, &renew, held, err);
}

bool relay_keep(struct relay *r, bool *held, struct error *err)
{
    *held = true;
    if (r->lane_count == 0 || r->until_us - relay_now_us(r) >= r->settings.lease_us * 2 / 3)
        return true;
    return relay_fence(r, held, err);
}

/* ---- attending ---- */

static bool sign(struct relay *r, int64_t *readers, struct error *err)
{
    const struct offset_attend attend = {
        .key = r->key,
        .owner = r->settings.owner,
        .now_us = relay_now_us(r),
        .until_us = lease_end_us(r),
        .error = r->bus_failures > 0 ? str_of(r->bus_error.text) : STR(""),
    };

    return store_offset_attend(r->parts.store, &attend, readers, err);
}

/* From the last lane on. */
static bool give_back(struct relay *r, int64_t share, struct error *err)
{
    struct offset_held lanes[OUTBOX_LANES];
    size_t count = 0;

    for (int i = OUTBOX_LANES - 1; i >= 0 && r->lane_count > share; i--) {
        if (!r->lanes[i].is_held)
            continue;
        lanes[count++] = (struct offset_held){ i, r->lanes[i].epoch, false };
        r->lanes[i] = (struct relay_lane){ 0 };
        r->lane_count--;
    }
    return count == 0 ||
           store_offset_release(r->parts.store, &(struct offset_renew){ r->key, 0, lanes, count },
                                err);
}

/* After a crash the bus may have more than the store knows of. A lane that it believes to have was
 * taken from it since, and is its own again. */
static void take(struct relay *r, const struct offset_lane *claimed)
{
    struct relay_lane *lane = &r->lanes[claimed->lane];

    r->lane_count += !lane->is_held;
    *lane = (struct relay_lane){ .is_held = true,
                                 .epoch = claimed->epoch,
                                 .pos = claimed->pos,
                                 .last_pos = claimed->pos + 1, /* not known to be idle */
                                 .crashes = claimed->crashes };
    if (claimed->crashes == 0 && claimed->ack_id.len < RELAY_ACK_MAX)
        memcpy(lane->ack_id, claimed->ack_id.data, claimed->ack_id.len);
}

static bool claim(struct relay *r, int64_t share, struct error *err)
{
    const struct offset_claim request = { .key = r->key,
                                          .owner = r->settings.owner,
                                          .now_us = relay_now_us(r),
                                          .until_us = lease_end_us(r),
                                          .limit = share - r->lane_count };
    struct offset_lane_list list;

    if (request.limit <= 0)
        return true;
    if (!store_offset_claim(r->parts.store, &r->arena, &request, &list, err))
        return false;
    for (size_t i = 0; i < list.count; i++) {
        if (list.items[i].lane < 0 || list.items[i].lane >= OUTBOX_LANES)
            return error_set(err, ERROR_FATAL, "relay.lane", "lane %lld does not exist",
                             (long long)list.items[i].lane);
        take(r, &list.items[i]);
    }
    r->must_load |= list.count > 0;
    if (list.count > 0 && r->lane_count == (int)list.count)
        r->until_us = request.until_us;
    return true;
}

/* What a session had when it was lost, or when a lane was overtaken, is given back: its owner, who
 * is this relay, is not at work on it. */
static bool leave(struct relay *r, struct error *err)
{
    if (r->must_leave && !store_offset_leave(r->parts.store, &r->key, r->settings.owner, err))
        return false;
    r->must_leave = false;
    return true;
}

/* Under the lanes' epochs: the rows of a lane that was moved are gone, and who does not know of the
 * move would deliver what comes after them. */
static bool load_held(struct relay *r, bool *held, struct error *err)
{
    const struct park_limits limits = { r->settings.parked_max, (size_t)r->settings.batch_max + 1 };
    bool ok;

    if (!store_begin(r->parts.store, err))
        return false;
    ok = relay_fence(r, held, err) &&
         (!*held || park_load(&r->park, r->parts.store, &r->key, &limits, err));
    if (ok && *held)
        return store_commit(r->parts.store, err);
    store_rollback(r->parts.store);
    return ok;
}

static bool load(struct relay *r, struct relay_round *round, struct error *err)
{
    struct error failed;
    bool held = true;

    if (!load_held(r, &held, &failed)) {
        if (strcmp(failed.code, "relay.parked") != 0) {
            *err = failed;
            return false;
        }
        relay_bus_failed(r, &failed);
        return true;
    }
    r->must_load = false;
    if (!held) {
        round->was_overtaken = true;
        relay_forget(r);
    }
    return true;
}

bool relay_attend(struct relay *r, struct relay_round *round, struct error *err)
{
    const bool is_due = relay_now_us(r) >= r->attend_us;
    int64_t readers, share;

    if (!is_due)
        return !r->must_load || load(r, round, err);
    if (!leave(r, err) || !sign(r, &readers, err))
        return false;
    r->attend_us = relay_now_us(r) + r->settings.lease_us / 3;
    share = lane_share(OUTBOX_LANES, readers);
    return give_back(r, share, err) && claim(r, share, err) && load(r, round, err);
}
