/* What a person does to the subscription. */
#include <stdio.h>

#include "contract.h"
#include "core/lane.h"
#include "engine/lanes/give_up.h"
#include "reader_world.h"

static struct parked_list parked_keys(struct reader_world *w)
{
    struct parked_list list;
    struct error err = { 0 };

    REQUIRE_OK(store_parked_list(w->store, contract_arena(),
                                 &(struct parked_query){ READER_KEY, STR(""), 1000 }, &list, &err),
               err);
    return list;
}

/* Of some key; more often than not, of one that is parked. */
static int64_t some_lane(struct reader_world *w)
{
    const struct parked_list list = parked_keys(w);
    char id[16];

    (void)snprintf(id, sizeof(id), "k%05d", (int)random_between(&w->random, 0, KEYS));
    if (list.count == 0 || random_chance(&w->random, 40))
        return lane_of(STR("works"), str_of(id));
    return list.items[random_between(&w->random, 0, (int64_t)list.count)].lane;
}

/* What did not come yet never will, if the lane goes to its end; else all comes again. */
static void note_seek(struct reader_world *w, int64_t lane, bool is_latest)
{
    const struct stream_event_list list = reader_lane_events(w, lane);

    for (size_t i = 0; i < list.count; i++) {
        const struct stored_event *stored = &list.items[i].stored;
        const int key = reader_key_number(stored->provider_id);

        w->is_left_out[key][stored->event.version] =
            is_latest && !w->kind->has_come(w, &list.items[i]);
        w->was_left_out[key] |= is_latest;
    }
    for (int i = 0; i < w->seek_count && is_latest; i++) {
        if (w->seeks[i].lane == lane)
            w->seeks[i].lane = -1; /* it was not to come to its end */
    }
}

void person_seek(struct reader_world *w, bool is_latest)
{
    int64_t ends[OUTBOX_LANES] = { 0 };
    struct offset_seek request = { .key = READER_KEY,
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
    w->seeks[w->seek_count++].came = w->kind->came(w);
}

void person_try_again(struct reader_world *w)
{
    struct error err = { 0 };
    int64_t count;

    REQUIRE_OK(store_parked_retry(w->store, &(struct parked_query){ READER_KEY, STR(""), 0 },
                                  clock_now_us(&w->clock.clock), &count, &err),
               err);
}

void person_give_up(struct reader_world *w)
{
    const struct parked_list list = parked_keys(w);
    struct give_up request = { .store = w->store,
                               .stream = w->store,
                               .key = READER_KEY,
                               .reason = STR("nobody needs it"),
                               .now_us = clock_now_us(&w->clock.clock) };
    struct given_up given;
    struct error err = { 0 };

    if (list.count == 0)
        return;
    request.aggregate_id =
        list.items[random_between(&w->random, 0, (int64_t)list.count)].aggregate_id;
    REQUIRE_OK(give_up(&request, &given, &err), err);
    for (int64_t v = given.from_version; given.keys > 0 && v <= given.to_version; v++)
        w->is_given_up[reader_key_number(request.aggregate_id)][v] = true;
    w->seen.given_up += (int)given.keys;
}
