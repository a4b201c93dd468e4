/* Store, writer, sequencer and readers; chance; and many histories. */
#include "reader_world.h"

#include <stdio.h>
#include <string.h>

#include "contract.h"
#include "fault_store.h"
#include "rows.h"
#include "stream_rig.h"

enum {
    STEPS = 260,
    HISTORIES = TEST_IS_SLOW ? 10 : 50,
    BUG_HISTORIES = 300, /* at most, until it was found so often */
    BUG_FINDS = TEST_IS_SLOW ? 1 : 3,
};

const struct offset_key READER_KEY = { STR_INIT("patra"), STR_INIT("works") };

/* ---- the parts ---- */

static void start(struct reader_world *w, int i)
{
    struct lanes_settings settings = { .subscription = &w->subscription,
                                       .lease_us = LEASE_US,
                                       .batch_max = 60,
                                       .retry = retry_default() };
    struct error err = { 0 };

    REQUIRE_OK(store_another(w->store, &w->readers[i].store, &err), err);
    fault_store_new_process(w->readers[i].store);
    w->kind->plant(w, w->readers[i].store);
    (void)snprintf(w->readers[i].owner, sizeof(w->readers[i].owner), "%c%d", w->kind->letter,
                   ++w->owners);
    settings.owner = str_of(w->readers[i].owner);
    settings.retry.delay_max_us = 5 * US_PER_SECOND;
    w->kind->open(w, i, &settings);
}

static void stop(struct reader_world *w, int i)
{
    w->kind->close(w, i);
    store_close(w->readers[i].store);
}

static void count_round(struct reader_counts *seen, const struct lanes_round *round)
{
    seen->overtaken += round->was_overtaken;
    seen->parked += (int)round->parked;
    seen->returned += (int)round->returned;
    seen->dead += (int)round->dead;
    seen->troubled += round->trouble != NULL;
}

static void turn(struct reader_world *w, int i)
{
    struct lanes_round round;
    struct error err = { 0 };
    const int active = w->active;
    bool ok;

    w->active = i;
    ok = w->kind->round(w, i, &round, &err);
    w->active = active;
    if (ok)
        count_round(&w->seen, &round);
    else if (store_error_is_lost(&err))
        REQUIRE_OK(store_reconnect(w->readers[i].store, &err), err);
    else
        store_rollback(w->readers[i].store);
}

static void turn_all(struct reader_world *w)
{
    for (int i = 0; i < READERS; i++)
        turn(w, i);
}

/* It dies at some call of the database, or after all of them; another one starts. */
static void kill(struct reader_world *w, int i)
{
    struct lanes_round round;
    struct error err = { 0 };

    w->is_nested = true; /* the fault is for this one */
    fault_store_arm(w->readers[i].store,
                    &(struct store_fault){ .effect = FAULT_DEATH,
                                           .number = random_between(&w->random, 1, 30) });
    w->active = i;
    (void)!w->kind->round(w, i, &round, &err);
    w->is_nested = false;
    (void)fault_store_disarm(w->readers[i].store);
    stop(w, i);
    w->seen.deaths++;
    start(w, i);
}

/* A call of it fails. */
static void stumble(struct reader_world *w, int i)
{
    w->is_nested = true;
    fault_store_arm(
        w->readers[i].store,
        &(struct store_fault){ .effect = random_chance(&w->random, 50) ? FAULT_AFTER : FAULT_BEFORE,
                               .number = random_between(&w->random, 1, 20) });
    turn(w, i);
    (void)fault_store_disarm(w->readers[i].store);
    w->is_nested = false;
}

static void write(struct reader_world *w)
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

static void sequence(struct reader_world *w)
{
    (void)stream_rig_round(w->sequencer, clock_now_us(&w->clock.clock));
}

/* ---- chance ---- */

/* Before the readers have read the rows again, there is an event more of the key. */
static void give_up_and_go_on(struct reader_world *w)
{
    const int given_up = w->seen.given_up;

    person_give_up(w);
    for (int i = 0; i < 4 && w->seen.given_up > given_up; i++)
        write(w);
    sequence(w);
    turn_all(w);
}

void reader_world_sleep(struct reader_world *w)
{
    if (w->is_nested || !random_chance(&w->random, 10))
        return;
    w->is_nested = true;
    if (random_chance(&w->random, 40))
        person_seek(w, w->kind->may_skip_asleep && random_chance(&w->random, 30));
    if (random_chance(&w->random, 40)) { /* it was only a person */
        w->is_nested = false;
        return;
    }
    virtual_clock_advance(&w->clock, 2 * LEASE_US);
    if (random_chance(&w->random, 20))
        person_give_up(w);
    write(w);
    sequence(w);
    for (int n = 0; n < 2; n++) {
        for (int i = 0; i < READERS; i++) {
            if (i != w->active)
                turn(w, i);
        }
    }
    w->is_nested = false;
}

static void step(struct reader_world *w)
{
    const int64_t what = random_between(&w->random, 0, 100);
    const int reader = (int)random_between(&w->random, 0, READERS);

    virtual_clock_advance(&w->clock, random_between(&w->random, 0, US_PER_SECOND / 4));
    if (what < 20)
        write(w);
    else if (what < 35)
        sequence(w);
    else if (what < 82)
        turn(w, reader);
    else if (what < 85)
        kill(w, reader);
    else if (what < 88)
        stumble(w, reader);
    else if (what < 93)
        w->kind->change(w);
    else if (what < 95)
        virtual_clock_advance(&w->clock, 2 * LEASE_US);
    else if (what < 96)
        person_seek(w, random_chance(&w->random, 40));
    else if (what < 97)
        person_try_again(w);
    else if (what < 98)
        w->kind->redrive(w);
    else
        give_up_and_go_on(w);
}

static void heal(struct reader_world *w)
{
    w->kind->mend(w);
    w->is_nested = true; /* nobody sleeps */
    for (int n = 0; n < 30; n++) {
        sequence(w);
        person_try_again(w);
        virtual_clock_advance(&w->clock, LEASE_US / 2);
        turn_all(w);
        virtual_clock_advance(&w->clock, 3 * US_PER_SECOND);
        turn_all(w);
    }
}

/* ---- looking ---- */

int reader_key_number(struct str id)
{
    int key = -1;

    REQUIRE(sscanf(id.data, "k%d", &key) == 1 && key >= 0 && key < KEYS, "a key that was written");
    return key;
}

struct stream_event_list reader_lane_events(const struct reader_world *w, int64_t lane)
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

void reader_world_begin(struct reader_world *w, const struct reader_kind *kind, struct store *store,
                        int bug, uint64_t seed)
{
    *w = (struct reader_world){ .kind = kind, .bug = bug, .random = { seed }, .store = store };
    virtual_clock_init(&w->clock, NOW_US);
    seeded_random_init(&w->chance, seed);
    fault_store_wrap(store);
    kind->plant(w, store);
    w->subscription =
        stream_rig_subscribe(store, READER_KEY.subscription, kind->subscription, POLICY_WAIT);
    (void)stream_rig_write(w->store, "k", KEYS);
    for (int i = 0; i < KEYS; i++)
        w->versions[i] = 1;
    w->sequencer_store = contract_another(w->store);
    w->sequencer = stream_rig_sequencer(w->sequencer_store, "sequencer");
    for (int i = 0; i < READERS; i++)
        start(w, i);
}

void reader_world_end(struct reader_world *w)
{
    for (int i = 0; i < READERS; i++)
        stop(w, i);
    sequencer_close(w->sequencer);
}

/* ---- histories ---- */

void reader_world_live(struct reader_world *w)
{
    for (int i = 0; i < STEPS; i++)
        step(w);
    heal(w);
}

static void add_counts(struct reader_counts *all, const struct reader_counts *seen)
{
    all->deaths += seen->deaths;
    all->overtaken += seen->overtaken;
    all->parked += seen->parked;
    all->returned += seen->returned;
    all->dead += seen->dead;
    all->given_up += seen->given_up;
    all->redriven += seen->redriven;
    all->seeks += seen->seeks;
    all->troubled += seen->troubled;
}

void reader_world_play(reader_history *history, bool has_letters)
{
    const struct random_seeds seeds = random_seeds((uint64_t)contract_rounds(HISTORIES));
    struct reader_counts all = { 0 };

    for (uint64_t seed = seeds.from; seed < seeds.to; seed++) {
        struct reader_counts seen = { 0 };
        const char *wrong = history(BUG_NONE, seed, &seen);

        if (wrong != NULL)
            test_fail(__FILE__, __LINE__, "seed %llu: %s", (unsigned long long)seed, wrong);
        add_counts(&all, &seen);
    }
    test_note("%d deaths, %d overtaken, %d keys parked, %d returned, %d dead, %d given up, %d "
              "redriven, %d seeks, %d rounds in trouble",
              all.deaths, all.overtaken, all.parked, all.returned, all.dead, all.given_up,
              all.redriven, all.seeks, all.troubled);
    if (seeds.is_one)
        return;
    CHECK(all.deaths > 0 && all.overtaken > 0 && all.parked > 0 && all.returned > 0 &&
              all.given_up > 0 && all.seeks > 0,
          "the histories have what they are for");
    CHECK(!has_letters || (all.dead > 0 && all.redriven > 0), "dead letters too");
}

void reader_world_find_bugs(reader_history *history, const char *const *names, int count)
{
    for (int bug = BUG_NONE + 1; bug < count; bug++) {
        const char *first = NULL;
        int found = 0;

        for (uint64_t seed = 1; seed <= BUG_HISTORIES && found < BUG_FINDS; seed++) {
            struct reader_counts ignored;
            const char *wrong = history(bug, seed, &ignored);

            if (first == NULL)
                first = wrong;
            found += wrong != NULL;
        }
        test_note("%s: %s", names[bug], first != NULL ? first : "nothing");
        CHECK(found > 0, names[bug]);
    }
}
