/* Positions by place, time or event, and the move itself. */
#include "engine/lanes/offset_reset.h"

#include <string.h>

#include "port/store_prune.h"

enum { PARKED_MAX = 100000 };

/* ---- where to ---- */

struct positions { /* before the next event; by lane */
    int64_t to[OUTBOX_LANES];
    bool is_wanted[OUTBOX_LANES];
};

static bool find_event(const struct offset_reset *reset, struct positions *p, struct error *err)
{
    struct stream_place place;
    bool found;

    memset(p->is_wanted, 0, sizeof(p->is_wanted));
    if (!store_stream_place_of(reset->stream, reset->event_id, &place, &found, err))
        return false;
    if (!found)
        return error_set(err, ERROR_REQUEST, "offset.event", "event %.*s is not in the stream",
                         STR_ARG(reset->event_id));
    p->is_wanted[place.lane] = true;
    p->to[place.lane] = place.pos - 1;
    return true;
}

static bool find(const struct offset_reset *reset, struct positions *p, struct error *err)
{
    *p = (struct positions){ 0 };
    for (int i = 0; i < OUTBOX_LANES; i++) {
        p->is_wanted[i] = reset->lane == RESET_ALL_LANES || reset->lane == i;
        p->to[i] = reset->pos - 1;
    }
    switch (reset->kind) {
    case RESET_EARLIEST:
        return store_stream_begins(reset->stream, p->to, err);
    case RESET_LATEST:
        return store_stream_ends(reset->stream, p->to, err);
    case RESET_TIME:
        return store_stream_since(reset->stream, reset->at_us, p->to, err);
    case RESET_EVENT:
        return find_event(reset, p, err);
    case RESET_POSITION:
        break;
    }
    return true;
}

/* Not before the first event that is there, not after the last. */
static bool clamp(const struct offset_reset *reset, struct positions *p, struct error *err)
{
    int64_t begins[OUTBOX_LANES] = { 0 }, ends[OUTBOX_LANES] = { 0 };

    if (!store_stream_begins(reset->stream, begins, err) ||
        !store_stream_ends(reset->stream, ends, err))
        return false;
    for (int i = 0; i < OUTBOX_LANES; i++) {
        if (p->to[i] > ends[i])
            p->to[i] = ends[i];
        if (p->to[i] < begins[i])
            p->to[i] = begins[i];
    }
    return true;
}

/* ---- what it means ---- */

static void add_lane(struct reset_plan *plan, const struct offset_state *state, int64_t to,
                     int64_t parked)
{
    if (state->pos == to && parked == 0)
        return;
    plan->lanes[plan->count++] = (struct reset_lane){ state->lane, state->pos, to };
    plan->parked += parked;
    if (to < state->pos)
        plan->again += state->pos - to;
    else
        plan->left_out += to - state->pos;
}

bool offset_reset_plan(const struct offset_reset *reset, struct arena *arena,
                       struct reset_plan *plan, struct error *err)
{
    const struct parked_query query = { .key = reset->key, .limit = PARKED_MAX };
    int64_t parked[OUTBOX_LANES] = { 0 };
    struct offset_state_list states;
    struct parked_list list;
    struct positions p;

    *plan = (struct reset_plan){ 0 };
    if (!find(reset, &p, err) || !clamp(reset, &p, err) ||
        !store_offset_states(reset->stream, arena, &reset->key, &states, err) ||
        !store_parked_list(reset->store, arena, &query, &list, err))
        return false;
    for (size_t i = 0; i < list.count; i++)
        parked[list.items[i].lane]++;
    for (size_t i = 0; i < states.count; i++) {
        const int64_t lane = states.items[i].lane;

        if (p.is_wanted[lane])
            add_lane(plan, &states.items[i], p.to[lane], parked[lane]);
    }
    return true;
}

/* ---- the move ---- */

static bool move(const struct offset_reset *reset, struct store *store,
                 const struct reset_plan *plan, struct error *err)
{
    struct offset_seek seek = {
        .key = reset->key, .reason = reset->reason, .by = reset->by, .now_us = reset->now_us
    };
    bool found;

    for (size_t i = 0; i < plan->count; i++) {
        seek.lane = plan->lanes[i].lane;
        seek.pos = plan->lanes[i].to;
        if (!store_offset_seek(store, &seek, &found, err))
            return false;
    }
    return true;
}

static bool move_sink(const struct offset_reset *reset, const struct reset_plan *plan,
                      struct error *err)
{
    if (reset->store == reset->stream)
        return true;
    if (!store_begin(reset->store, err))
        return false;
    if (move(reset, reset->store, plan, err) && store_commit(reset->store, err))
        return true;
    store_rollback(reset->store);
    return false;
}

bool offset_reset_run(const struct offset_reset *reset, struct arena *arena,
                      struct reset_plan *plan, struct error *err)
{
    struct store *stream = reset->stream;

    if (!store_begin(stream, err))
        return false;
    if (store_lock(stream, STORE_PRUNE_LOCK, err) && offset_reset_plan(reset, arena, plan, err) &&
        move_sink(reset, plan, err) && move(reset, stream, plan, err) && store_commit(stream, err))
        return true;
    store_rollback(stream);
    return error_wrap(err, "move %.*s", STR_ARG(reset->key.subscription));
}
