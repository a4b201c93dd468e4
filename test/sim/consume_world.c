/* The parts of the world: store, sequencer, consumers, and bugs. */
#include "consume_world.h"

#include <string.h>

#include "contract.h"
#include "fault_store.h"
#include "port/store_subscription.h"
#include "rows.h"
#include "stream_rig.h"

const struct offset_key WORLD_KEY = { STR_INIT("patra"), STR_INIT("works") };

/* ---- bugs, as a store would have them ---- */

static const struct store_offset_ops *real_offset;

static bool save_alone(struct store *store, const struct offset_save *save, bool *held,
                       struct error *err)
{
    return real_offset->save(store, save, held, err) &&
           (!*held || (store_commit(store, err) && store_begin(store, err)));
}

static void plant(struct world *w, struct store *store)
{
    struct reader_bugs *bugs = reader_bugs_plant(store, w->bug);

    real_offset = bugs->real_offset;
    if (w->bug == BUG_SAVE_ALONE)
        bugs->offset.save = save_alone;
}

/* ---- the parts ---- */

void world_set_table(struct world *w)
{
    for (int i = 0; i < CONSUMERS; i++) {
        w->readers[i].log.refuse = w->refuse;
        w->readers[i].log.refuse_from = w->refuse_from;
        w->readers[i].log.is_broken = w->is_broken;
    }
}

static void start_consumer(struct world *w, int i)
{
    struct consumer_parts parts = { .clock = &w->clock.clock,
                                    .random = &w->chance.source,
                                    .wake_fd = CLOCK_NO_WAKE };
    struct lanes_settings settings = { .subscription = &w->subscription,
                                       .lease_us = LEASE_US,
                                       .batch_max = 60,
                                       .attempts_max = 4,
                                       .retry = retry_default() };
    struct error err = { 0 };

    REQUIRE_OK(store_another(w->store, &w->readers[i].store, &err), err);
    fault_store_new_process(w->readers[i].store);
    plant(w, w->readers[i].store);
    (void)snprintf(w->readers[i].owner, sizeof(w->readers[i].owner), "c%d", ++w->owners);
    w->readers[i].log = (struct effect_log){ .sink = w->readers[i].store,
                                             .on_make = w->on_make,
                                             .context = w,
                                             .forgets_one = w->bug == BUG_HALVING_SKIPS };
    world_set_table(w);
    settings.owner = str_of(w->readers[i].owner);
    settings.retry.delay_max_us = 5 * US_PER_SECOND;
    parts.sink = parts.stream = w->readers[i].store;
    parts.target = effect_log_target(&w->readers[i].log);
    REQUIRE_OK(consumer_open(&w->readers[i].consumer, &parts, &settings, &err), err);
}

static void count_round(struct world *w, const struct lanes_round *round)
{
    w->seen.overtaken += round->was_overtaken;
    w->seen.parked += (int)round->parked;
    w->seen.returned += (int)round->returned;
    w->seen.dead += (int)round->dead;
    w->seen.broken += round->trouble != NULL;
}

bool world_turn(struct world *w, int i)
{
    struct lanes_round round;
    struct error err = { 0 };
    const int active = w->active;
    bool ok;

    w->active = i;
    ok = consumer_round(w->readers[i].consumer, clock_now_us(&w->clock.clock), &round, &err);
    w->active = active;
    if (ok)
        count_round(w, &round);
    else if (store_error_is_lost(&err))
        REQUIRE_OK(store_reconnect(w->readers[i].store, &err), err);
    else
        store_rollback(w->readers[i].store);
    return ok;
}

void world_kill(struct world *w, int i)
{
    w->is_nested = true; /* the fault is for this one */
    fault_store_arm(w->readers[i].store,
                    &(struct store_fault){ .effect = FAULT_DEATH,
                                           .number = random_between(&w->random, 1, 30) });
    {
        struct lanes_round round;
        struct error err = { 0 };

        w->active = i;
        (void)!consumer_round(w->readers[i].consumer, clock_now_us(&w->clock.clock), &round, &err);
    }
    w->is_nested = false;
    (void)fault_store_disarm(w->readers[i].store);
    consumer_close(w->readers[i].consumer);
    store_close(w->readers[i].store);
    w->seen.deaths++;
    start_consumer(w, i);
}

void world_stumble(struct world *w, int i)
{
    w->is_nested = true;
    fault_store_arm(
        w->readers[i].store,
        &(struct store_fault){ .effect = random_chance(&w->random, 50) ? FAULT_AFTER : FAULT_BEFORE,
                               .number = random_between(&w->random, 1, 20) });
    (void)world_turn(w, i);
    (void)fault_store_disarm(w->readers[i].store);
    w->is_nested = false;
}

void world_write(struct world *w)
{
    const int64_t first = random_between(&w->random, 0, KEYS);
    const int64_t count = random_between(&w->random, 1, 6);
    struct error err = { 0 };

    REQUIRE_OK(store_begin(w->store, &err), err);
    for (int64_t i = 0; i < count; i++) {
        const int key = (int)((first + i * 3) % KEYS);

        if (w->versions[key] + 1 < VERSIONS_MAX) {
            stream_rig_change(w->store, "k", key);
            w->versions[key]++;
        }
    }
    REQUIRE_OK(store_commit(w->store, &err), err);
}

void world_sequence(struct world *w)
{
    (void)stream_rig_round(w->sequencer, clock_now_us(&w->clock.clock));
}
/* ---- looking ---- */

int world_key_number(struct str id)
{
    int key = -1;

    REQUIRE(sscanf(id.data, "k%d", &key) == 1 && key >= 0 && key < KEYS, "a key that was written");
    return key;
}

struct stream_event_list world_lane_events(const struct world *w, int64_t lane)
{
    const struct stream_place place = { lane, 0 };
    struct stream_event_list list;
    struct error err = { 0 };

    REQUIRE_OK(store_stream_read(w->store, contract_arena(),
                                 &(struct stream_read){ &place, 1, 100000, 1 << 30 }, &list, &err),
               err);
    return list;
}

/* ---- beginning and end ---- */

void world_begin(struct world *w, int bug, uint64_t seed, void (*on_make)(void *context))
{
    struct subscription_applied applied;
    const struct subscription_apply apply = { .name = WORLD_KEY.subscription,
                                              .kind = SUBSCRIPTION_PROJECTION,
                                              .spec = STR("{}"),
                                              .spec_hash = STR(HASH_A),
                                              .applied_by = STR("ann"),
                                              .now_us = NOW_US };
    const char *dsn;
    struct error err = { 0 };
    bool found;

    memset(w, 0, sizeof(*w));
    w->bug = bug;
    w->on_make = on_make;
    w->random = (struct random){ seed };
    virtual_clock_init(&w->clock, NOW_US);
    seeded_random_init(&w->chance, seed);
    dsn = contract_ready_database();
    effect_log_make(dsn);
    w->store = contract_open(dsn);
    fault_store_wrap(w->store);
    plant(w, w->store);
    REQUIRE_OK(store_subscription_apply(w->store, &apply, &applied, &err), err);
    REQUIRE_OK(store_subscription_find(w->store, contract_arena(), WORLD_KEY.subscription,
                                       &w->subscription, &found, &err),
               err);
    (void)stream_rig_write(w->store, "k", KEYS);
    for (int i = 0; i < KEYS; i++)
        w->versions[i] = 1;
    w->sequencer_store = contract_another(w->store);
    w->sequencer = stream_rig_sequencer(w->sequencer_store, "sequencer");
    for (int i = 0; i < CONSUMERS; i++)
        start_consumer(w, i);
}

void world_end(struct world *w)
{
    for (int i = 0; i < CONSUMERS; i++) {
        consumer_close(w->readers[i].consumer);
        store_close(w->readers[i].store);
    }
    sequencer_close(w->sequencer);
    store_close(w->store);
    contract_end();
}
