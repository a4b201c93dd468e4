/* What a person does to the subscription. */
#include <stdio.h>

#include "consume_world.h"
#include "contract.h"
#include "core/lane.h"
#include "engine/lanes/give_up.h"
#include "engine/lanes/redrive.h"

/* Of some key; more often than not, of one that is parked. */
static int64_t some_lane(struct world *w)
{
    struct parked_list list;
    char id[16];
    struct error err = { 0 };

    REQUIRE_OK(store_parked_list(w->store, contract_arena(),
                                 &(struct parked_query){ WORLD_KEY, STR(""), 1000 }, &list, &err),
               err);
    (void)snprintf(id, sizeof(id), "k%05d", (int)random_between(&w->random, 0, KEYS));
    if (list.count == 0 || random_chance(&w->random, 40))
        return lane_of(STR("works"), str_of(id));
    return list.items[random_between(&w->random, 0, (int64_t)list.count)].lane;
}

static bool has_taken_effect(const struct effect_list *effects, const struct stream_event *event)
{
    for (size_t i = 0; i < effects->count; i++) {
        if (effects->items[i].version == event->stored.event.version &&
            str_eq(effects->items[i].aggregate_id, event->stored.provider_id))
            return true;
    }
    return false;
}

/* What did not come yet never will, if the lane goes to its end; else all comes again. */
static void note_seek(struct world *w, int64_t lane, bool is_latest)
{
    const struct stream_event_list list = world_lane_events(w, lane);
    const struct effect_list effects = effect_log_read(w->store, contract_arena());

    for (size_t i = 0; i < list.count; i++) {
        const struct stored_event *stored = &list.items[i].stored;
        int key = -1;

        (void)sscanf(stored->provider_id.data, "k%d", &key);
        w->is_left_out[key][stored->event.version] =
            is_latest && !has_taken_effect(&effects, &list.items[i]);
        w->was_left_out[key] |= is_latest;
    }
    for (int i = 0; i < w->seek_count && is_latest; i++) {
        if (w->seeks[i].lane == lane)
            w->seeks[i].lane = -1; /* it was not to come to its end */
    }
}

void person_seek(struct world *w, bool is_latest)
{
    int64_t ends[OUTBOX_LANES] = { 0 };
    struct offset_seek request = { .key = WORLD_KEY,
                                   .pos = 0,
                                   .reason = STR("again"),
                                   .by = STR("ann"),
                                   .now_us = clock_now_us(&w->clock.clock) };
    struct error err = { 0 };
    bool found;

    if (w->seek_count == SEEKS_MAX)
        return;
    request.lane = some_lane(w);
    REQUIRE_OK(store_stream_ends(w->store, ends, &err), err);
    if (is_latest)
        request.pos = ends[request.lane];
    REQUIRE_OK(w->store->offset->seek(w->store, &request, &found, &err), err);
    REQUIRE(found, "a lane");
    note_seek(w, request.lane, is_latest);
    w->seen.seeks++;
    if (is_latest)
        return;
    w->seeks[w->seek_count].lane = request.lane;
    w->seeks[w->seek_count++].effects = effect_log_read(w->store, contract_arena()).count;
}

void person_try_again(struct world *w)
{
    struct error err = { 0 };
    int64_t count;

    REQUIRE_OK(store_parked_retry(w->store, &(struct parked_query){ WORLD_KEY, STR(""), 0 },
                                  clock_now_us(&w->clock.clock), &count, &err),
               err);
}

void person_give_up(struct world *w)
{
    struct give_up request = { .store = w->store,
                               .stream = w->store,
                               .key = WORLD_KEY,
                               .reason = STR("nobody needs it"),
                               .now_us = clock_now_us(&w->clock.clock) };
    struct given_up given;
    struct parked_list list;
    struct error err = { 0 };

    REQUIRE_OK(store_parked_list(w->store, contract_arena(),
                                 &(struct parked_query){ WORLD_KEY, STR(""), 1000 }, &list, &err),
               err);
    if (list.count == 0)
        return;
    request.aggregate_id =
        list.items[random_between(&w->random, 0, (int64_t)list.count)].aggregate_id;
    REQUIRE_OK(give_up(&request, &given, &err), err);
    w->seen.given_up += (int)given.keys;
}

/* What was applied since may be applied again: a projection's versions see to that. */
void person_redrive(struct world *w)
{
    const struct redrive_request request = { .store = w->store,
                                             .stream = w->store,
                                             .key = WORLD_KEY,
                                             .by = STR("ann"),
                                             .now_us = clock_now_us(&w->clock.clock) };
    struct letter_list list;
    struct redriven redriven;
    struct error err = { 0 };

    REQUIRE_OK(store_parked_letters(w->store, contract_arena(),
                                    &(struct letter_query){ .key = WORLD_KEY, .limit = 1000 },
                                    &list, &err),
               err);
    for (size_t i = 0; i < list.count; i++)
        w->is_redriven[world_key_number(list.items[i].dead.aggregate_id)] = true;
    REQUIRE_OK(redrive(&request, &redriven, &err), err);
    w->seen.redriven += (int)redriven.events;
}

void person_give_up_and_go_on(struct world *w)
{
    const int given_up = w->seen.given_up;

    person_give_up(w);
    for (int i = 0; i < 4 && w->seen.given_up > given_up; i++)
        world_write(w);
    world_sequence(w);
    for (int i = 0; i < CONSUMERS; i++)
        (void)world_turn(w, i);
}
