/* Sequencer and relays in virtual time, on a real store under faults and a bus in RAM.
 *
 *      a writer        changes records, several in a transaction
 *      a sequencer     rounds
 *      3 relays        rounds; any of them dies at any call of the database, or sleeps in the
 * middle of a publish call until the others have taken over a bus           loses answers, repeats,
 * refuses keys, stalls, is down, is fenced or not a person        seeks, lets keys be tried again,
 * gives keys up
 *
 * Afterwards, when all is well again: each event arrived, the first arrivals of a key in the order
 * of its versions; after a seek everything again; and of what was given up a dead letter.
 *
 * A bug is a switch: what the store would do wrong. With each of them some history must fail.
 */
#include <stdlib.h>
#include <string.h>

#include "contract.h"
#include "core/lane.h"
#include "engine/lanes/give_up.h"
#include "engine/relay/relay.h"
#include "fault_store.h"
#include "port/store_subscription.h"
#include "ram_bus.h"
#include "random.h"
#include "reader_bugs.h"
#include "rows.h"
#include "seeded_random.h"
#include "stream_rig.h"
#include "virtual_clock.h"

enum {
    RELAYS = 3,
    KEYS = 20,
    VERSIONS_MAX = 200,
    STEPS = 260,
    HISTORIES = TEST_IS_SLOW ? 10 : 50,
    SEEKS_MAX = 20,
    BUG_HISTORIES = 300, /* at most, until it was found so often */
    BUG_FINDS = TEST_IS_SLOW ? 1 : 3,
};

#define LEASE_US (6 * US_PER_SECOND)

enum bug {
    BUG_STALE_AHEAD = READER_BUGS, /* what was read ahead is used wherever the lanes go on */
    BUG_COUNT,
};

static const char *const BUG_NAMES[BUG_COUNT] = { READER_BUG_NAMES, "stale read-ahead" };

static const struct offset_key KEY = { STR_INIT("patra"), STR_INIT("works") };

struct world {
    int bug;
    struct random random;
    struct virtual_clock clock;
    struct seeded_random chance;
    struct store *store; /* of writer, person and judge */
    struct store *sequencer_store;
    struct sequencer *sequencer;
    struct subscription subscription;
    struct ram_bus *bus;
    struct {
        struct store *store;
        struct relay *relay;
        char owner[16];
    } relays[RELAYS];
    int owners;
    int64_t versions[KEYS]; /* committed */
    bool is_given_up[KEYS][VERSIONS_MAX];
    bool is_left_out[KEYS][VERSIONS_MAX]; /* by a seek to the end of its lane */
    bool was_left_out[KEYS];
    struct {
        int64_t lane;
        size_t arrivals; /* before it */
    } seeks[SEEKS_MAX];  /* to the beginning */
    int seek_count;
    bool is_nested;
    int active; /* the relay whose round it is */
    struct {
        int deaths, overtaken, parked, returned, given_up, seeks, bus_failures;
    } seen;
};

/* ---- bugs, as a store would have them ---- */

static const struct store_stream_ops *real_stream;

/* By store. */
static struct ahead {
    struct store *store;
    struct stream_event_list events;
} aheads[RELAYS];

static struct ahead *ahead_of(struct store *store)
{
    for (int i = 0; i < RELAYS; i++) {
        if (aheads[i].store == store)
            return &aheads[i];
    }
    return NULL;
}

static bool read_ahead(struct store *store, const struct stream_read *read, struct error *err)
{
    struct ahead *ahead = ahead_of(store);

    return ahead == NULL || real_stream->read(store, contract_arena(), read, &ahead->events, err);
}

/* As if these were the events after the places that are asked for. */
static bool read_stale(struct store *store, struct arena *arena, const struct stream_read *read,
                       struct stream_event_list *list, struct error *err)
{
    struct ahead *ahead = ahead_of(store);
    struct stream_event_list old = { 0 };

    *list = old;
    if (ahead != NULL) {
        old = ahead->events;
        ahead->events = (struct stream_event_list){ 0 };
    }
    for (size_t i = 0; i < read->count; i++) {
        int64_t pos = read->places[i].pos;

        for (size_t k = 0; k < old.count; k++) {
            struct stream_event *event;

            if (old.items[k].lane != read->places[i].lane)
                continue;
            event = LIST_ADD(arena, list);
            REQUIRE(event != NULL, "memory");
            *event = old.items[k];
            event->pos = ++pos;
        }
    }
    return list->count > 0 || real_stream->read(store, arena, read, list, err);
}

static struct store_stream_ops bad_stream;

static void plant(struct world *w, struct store *store)
{
    (void)reader_bugs_plant(store, w->bug);
    if (w->bug != BUG_STALE_AHEAD)
        return;
    real_stream = store->stream != &bad_stream ? store->stream : real_stream;
    bad_stream = *real_stream;
    bad_stream.read_ahead = read_ahead;
    bad_stream.read = read_stale;
    store->stream = &bad_stream;
}

/* ---- the parts ---- */

static bool open_bus(void *context, const struct subscription *subscription,
                     struct relay_target *target, struct error *err)
{
    struct world *w = context;

    (void)subscription;
    (void)err;
    target->bus = ram_bus_connect(w->bus);
    return true;
}

static void start_relay(struct world *w, int i)
{
    const struct relay_parts parts = { .clock = &w->clock.clock,
                                       .random = &w->chance.source,
                                       .wake_fd = CLOCK_NO_WAKE,
                                       .open = open_bus,
                                       .context = w };
    struct relay_settings settings = { .lanes = { .subscription = &w->subscription,
                                                  .lease_us = LEASE_US,
                                                  .batch_max = 60,
                                                  .retry = retry_default() } };
    struct relay_parts with_store = parts;
    struct error err = { 0 };

    REQUIRE_OK(store_another(w->store, &w->relays[i].store, &err), err);
    fault_store_new_process(w->relays[i].store);
    plant(w, w->relays[i].store);
    aheads[i] = (struct ahead){ .store = w->relays[i].store };
    (void)snprintf(w->relays[i].owner, sizeof(w->relays[i].owner), "r%d", ++w->owners);
    settings.lanes.owner = str_of(w->relays[i].owner);
    settings.lanes.retry.delay_max_us = 5 * US_PER_SECOND;
    settings.reconnect = settings.lanes.retry;
    with_store.store = w->relays[i].store;
    REQUIRE_OK(relay_open(&w->relays[i].relay, &with_store, &settings, &err), err);
}

static void count_round(struct world *w, const struct lanes_round *round)
{
    w->seen.overtaken += round->was_overtaken;
    w->seen.parked += (int)round->parked;
    w->seen.returned += (int)round->returned;
    w->seen.bus_failures += round->trouble != NULL;
}

/* False: the store failed. */
static bool turn(struct world *w, int i)
{
    struct lanes_round round;
    struct error err = { 0 };
    const int active = w->active;
    bool ok;

    w->active = i;
    ok = relay_round(w->relays[i].relay, clock_now_us(&w->clock.clock), &round, &err);

    w->active = active;
    if (ok)
        count_round(w, &round);
    else if (store_error_is_lost(&err))
        REQUIRE_OK(store_reconnect(w->relays[i].store, &err), err);
    else
        store_rollback(w->relays[i].store);
    return ok;
}

/* It dies at some call of the database, or after all of them; another one starts. */
static void kill(struct world *w, int i)
{
    w->is_nested = true; /* the fault is for this relay */
    fault_store_arm(w->relays[i].store,
                    &(struct store_fault){ .effect = FAULT_DEATH,
                                           .number = random_between(&w->random, 1, 30) });
    {
        struct lanes_round round;
        struct error err = { 0 };

        w->active = i;
        (void)!relay_round(w->relays[i].relay, clock_now_us(&w->clock.clock), &round, &err);
    }
    w->is_nested = false;
    (void)fault_store_disarm(w->relays[i].store);
    relay_close(w->relays[i].relay);
    store_close(w->relays[i].store);
    w->seen.deaths++;
    start_relay(w, i);
}

static void stumble(struct world *w, int i)
{
    w->is_nested = true;
    fault_store_arm(
        w->relays[i].store,
        &(struct store_fault){ .effect = random_chance(&w->random, 50) ? FAULT_AFTER : FAULT_BEFORE,
                               .number = random_between(&w->random, 1, 20) });
    (void)turn(w, i);
    (void)fault_store_disarm(w->relays[i].store);
    w->is_nested = false;
}

static void write(struct world *w)
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

static void sequence(struct world *w)
{
    (void)stream_rig_round(w->sequencer, clock_now_us(&w->clock.clock));
}

/* ---- the person ---- */

/* Of some key; more often than not, of one that is parked. */
static int64_t some_lane(struct world *w)
{
    struct parked_list list;
    char id[16];
    struct error err = { 0 };

    REQUIRE_OK(store_parked_list(w->store, contract_arena(),
                                 &(struct parked_query){ KEY, STR(""), 1000 }, &list, &err),
               err);
    (void)snprintf(id, sizeof(id), "k%05d", (int)random_between(&w->random, 0, KEYS));
    if (list.count == 0 || random_chance(&w->random, 40))
        return lane_of(STR("crossref/works"), str_of(id));
    return list.items[random_between(&w->random, 0, (int64_t)list.count)].lane;
}

static bool has_arrived(const struct world *w, const struct stream_event *event)
{
    const struct ram_arrival *a = ram_bus_arrivals(w->bus);

    for (size_t i = 0; i < ram_bus_count(w->bus); i++) {
        if (str_eq(str_of(a[i].event_id), event->stored.event.event_id))
            return true;
    }
    return false;
}

static struct stream_event_list lane_events(const struct world *w, int64_t lane)
{
    const struct stream_place place = { lane, 0 };
    struct stream_event_list list;
    struct error err = { 0 };

    REQUIRE_OK(store_stream_read(w->store, contract_arena(),
                                 &(struct stream_read){ &place, 1, 100000, 1 << 30 }, &list, &err),
               err);
    return list;
}

/* What did not come yet never will, if the lane goes to its end; else all comes again. */
static void note_seek(struct world *w, int64_t lane, bool is_latest)
{
    const struct stream_event_list list = lane_events(w, lane);

    for (size_t i = 0; i < list.count; i++) {
        const struct stored_event *stored = &list.items[i].stored;
        int key = -1;

        (void)sscanf(stored->provider_id.data, "k%d", &key);
        w->is_left_out[key][stored->event.version] = is_latest && !has_arrived(w, &list.items[i]);
        w->was_left_out[key] |= is_latest;
    }
    for (int i = 0; i < w->seek_count && is_latest; i++) {
        if (w->seeks[i].lane == lane)
            w->seeks[i].lane = -1; /* it was not to come to its end */
    }
}

static void seek(struct world *w, bool is_latest)
{
    int64_t ends[OUTBOX_LANES] = { 0 };
    struct offset_seek request = { .key = KEY,
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
    w->seeks[w->seek_count++].arrivals = ram_bus_count(w->bus);
}

static void try_again(struct world *w)
{
    struct error err = { 0 };
    int64_t count;

    REQUIRE_OK(store_parked_retry(w->store, &(struct parked_query){ KEY, STR(""), 0 },
                                  clock_now_us(&w->clock.clock), &count, &err),
               err);
}

static void give_one_up(struct world *w)
{
    struct give_up request = { .store = w->store,
                               .stream = w->store,
                               .key = KEY,
                               .reason = STR("nobody needs it"),
                               .now_us = clock_now_us(&w->clock.clock) };
    struct given_up given;
    struct parked_list list;
    struct error err = { 0 };
    int key = -1;

    REQUIRE_OK(store_parked_list(w->store, contract_arena(),
                                 &(struct parked_query){ KEY, STR(""), 1000 }, &list, &err),
               err);
    if (list.count == 0)
        return;
    request.aggregate_id =
        list.items[random_between(&w->random, 0, (int64_t)list.count)].aggregate_id;
    (void)sscanf(request.aggregate_id.data, "k%d", &key);
    REQUIRE_OK(give_up(&request, &given, &err), err);
    for (int64_t v = given.from_version; given.keys > 0 && v <= given.to_version; v++)
        w->is_given_up[key][v] = true;
    w->seen.given_up += (int)given.keys;
}

/* Before the relays have read the rows again, there is an event more of the key. */
static void give_one_up_and_go_on(struct world *w)
{
    const int given_up = w->seen.given_up;

    give_one_up(w);
    for (int i = 0; i < 4 && w->seen.given_up > given_up; i++)
        write(w);
    sequence(w);
    for (int i = 0; i < RELAYS; i++)
        (void)turn(w, i);
}

/* ---- chance ---- */

static void change_bus(struct world *w)
{
    static const char *const PARTS[] = { "k0000", "k00003", "k00011", NULL, NULL };
    struct ram_bus_faults faults = { 0 };

    if (random_chance(&w->random, 60))
        faults = (struct ram_bus_faults){
            .drop_ack = 60, .duplicate = 50, .retry = 20, .fail = 60, .stall = 20, .garbage = 20
        };
    ram_bus_set_faults(w->bus, &faults);
    ram_bus_set_down(w->bus, random_chance(&w->random, 15));
    ram_bus_refuse(w->bus, PARTS[random_between(&w->random, 0, ARRAY_LEN(PARTS))],
                   random_between(&w->random, 1, 12));
}

/* The relay that publishes sleeps; the others take over; a person may be there. */
static void others_work(void *context)
{
    struct world *w = context;

    if (w->is_nested || !random_chance(&w->random, 10))
        return;
    w->is_nested = true;
    if (random_chance(&w->random, 40))
        seek(w, false);                  /* some may be under way */
    if (random_chance(&w->random, 40)) { /* it was only a person */
        w->is_nested = false;
        return;
    }
    virtual_clock_advance(&w->clock, 2 * LEASE_US);
    if (random_chance(&w->random, 20))
        give_one_up(w);
    write(w);
    sequence(w);
    for (int n = 0; n < 2; n++) {
        for (int i = 0; i < RELAYS; i++) {
            if (i != w->active)
                (void)turn(w, i);
        }
    }
    w->is_nested = false;
}

static void step(struct world *w)
{
    const int64_t what = random_between(&w->random, 0, 100);
    const int relay = (int)random_between(&w->random, 0, RELAYS);

    virtual_clock_advance(&w->clock, random_between(&w->random, 0, US_PER_SECOND / 4));
    if (what < 20)
        write(w);
    else if (what < 35)
        sequence(w);
    else if (what < 82)
        (void)turn(w, relay);
    else if (what < 85)
        kill(w, relay);
    else if (what < 88)
        stumble(w, relay);
    else if (what < 93)
        change_bus(w);
    else if (what < 95)
        virtual_clock_advance(&w->clock, 2 * LEASE_US);
    else if (what < 96)
        seek(w, random_chance(&w->random, 40));
    else if (what < 98)
        try_again(w);
    else
        give_one_up_and_go_on(w);
}

/* Everything works again: what is left is delivered. */
static void heal(struct world *w)
{
    ram_bus_set_faults(w->bus, &(struct ram_bus_faults){ 0 });
    ram_bus_set_down(w->bus, false);
    ram_bus_refuse(w->bus, NULL, 0);
    ram_bus_on_publish(w->bus, NULL, NULL);
    for (int n = 0; n < 30; n++) {
        sequence(w);
        try_again(w);
        virtual_clock_advance(&w->clock, LEASE_US / 2);
        for (int i = 0; i < RELAYS; i++)
            (void)turn(w, i);
        virtual_clock_advance(&w->clock, 3 * US_PER_SECOND);
        for (int i = 0; i < RELAYS; i++)
            (void)turn(w, i);
    }
}

/* ---- the judge ---- */

static int key_of(const struct ram_arrival *arrival)
{
    int key = -1;

    if (sscanf(arrival->key, "crossref/works/k%d", &key) != 1 || key < 0 || key >= KEYS)
        return -1;
    return key;
}

static const char *judge_order(const struct world *w)
{
    const struct ram_arrival *a = ram_bus_arrivals(w->bus);
    bool has_come[KEYS][VERSIONS_MAX] = { { false } };
    int64_t latest[KEYS] = { 0 };

    for (size_t i = 0; i < ram_bus_count(w->bus); i++) {
        const int key = key_of(&a[i]);

        if (key < 0 || a[i].version < 1 || a[i].version > w->versions[key])
            return "an event that nobody wrote";
        if (w->is_left_out[key][a[i].version])
            return "an event came that was left out";
        if (has_come[key][a[i].version])
            continue;
        has_come[key][a[i].version] = true;
        if (a[i].version < latest[key] && !w->is_given_up[key][a[i].version] &&
            !w->was_left_out[key])
            return "a version after a later one";
        latest[key] = a[i].version;
    }
    for (int key = 0; key < KEYS; key++) {
        for (int64_t v = 1; v <= w->versions[key]; v++) {
            if (!has_come[key][v] && !w->is_given_up[key][v] && !w->is_left_out[key][v])
                return "an event was lost";
        }
    }
    return NULL;
}

static bool came_since(const struct world *w, const struct stream_event *event, size_t since)
{
    const struct ram_arrival *a = ram_bus_arrivals(w->bus);

    for (size_t i = since; i < ram_bus_count(w->bus); i++) {
        if (str_eq(str_of(a[i].event_id), event->stored.event.event_id))
            return true;
    }
    return false;
}

/* Only the last seek of a lane: an earlier one may have been interrupted by it. */
static const char *judge_seeks(const struct world *w)
{
    for (int i = w->seek_count; i-- > 0;) {
        struct stream_event_list list;

        if (w->seeks[i].lane < 0)
            continue;
        list = lane_events(w, w->seeks[i].lane);
        for (size_t k = 0; k < list.count; k++) {
            const struct stored_event *stored = &list.items[k].stored;
            int key = -1;

            (void)sscanf(stored->provider_id.data, "k%d", &key);
            if (!came_since(w, &list.items[k], w->seeks[i].arrivals) &&
                !w->is_given_up[key][stored->event.version])
                return "an event did not come again after a seek";
        }
    }
    return NULL;
}

static const char *judge(const struct world *w)
{
    const char *wrong = ram_bus_complaint(w->bus);

    if (wrong == NULL)
        wrong = judge_order(w);
    return wrong != NULL ? wrong : judge_seeks(w);
}

/* ---- histories ---- */

static void begin(struct world *w, int bug, uint64_t seed)
{
    struct subscription_applied applied;
    const struct subscription_apply apply = { .name = KEY.subscription,
                                              .kind = SUBSCRIPTION_RELAY,
                                              .spec = STR("{}"),
                                              .spec_hash = STR(HASH_A),
                                              .applied_by = STR("ann"),
                                              .now_us = NOW_US };
    struct error err = { 0 };
    bool found;

    memset(w, 0, sizeof(*w));
    w->bug = bug;
    w->random = (struct random){ seed };
    virtual_clock_init(&w->clock, NOW_US);
    seeded_random_init(&w->chance, seed);
    w->store = contract_store();
    fault_store_wrap(w->store);
    plant(w, w->store);
    REQUIRE_OK(store_subscription_apply(w->store, &apply, &applied, &err), err);
    REQUIRE_OK(store_subscription_find(w->store, contract_arena(), KEY.subscription,
                                       &w->subscription, &found, &err),
               err);
    w->bus = ram_bus_new(seed, &w->clock.clock);
    ram_bus_set_fenced(w->bus, seed % 2 == 0);
    ram_bus_on_publish(w->bus, others_work, w);
    (void)stream_rig_write(w->store, "k", KEYS);
    for (int i = 0; i < KEYS; i++)
        w->versions[i] = 1;
    w->sequencer_store = contract_another(w->store);
    w->sequencer = stream_rig_sequencer(w->sequencer_store, "sequencer");
    for (int i = 0; i < RELAYS; i++)
        start_relay(w, i);
}

/* What is wrong; NULL: nothing. */
static const char *history(int bug, uint64_t seed, struct world *w)
{
    const char *wrong;

    begin(w, bug, seed);
    for (int i = 0; i < STEPS; i++)
        step(w);
    heal(w);
    wrong = judge(w);
    for (int i = 0; i < RELAYS; i++) {
        relay_close(w->relays[i].relay);
        store_close(w->relays[i].store);
    }
    sequencer_close(w->sequencer);
    ram_bus_free(w->bus);
    contract_end();
    return wrong;
}

TEST(whatever_dies_or_refuses_each_event_arrives_in_order)
{
    const struct random_seeds seeds = random_seeds((uint64_t)contract_rounds(HISTORIES));
    struct world *w = calloc(1, sizeof(*w));
    int deaths = 0, overtaken = 0, parked = 0, returned = 0, given_up = 0, seeks = 0, failures = 0;

    REQUIRE(w != NULL, "memory");
    for (uint64_t seed = seeds.from; seed < seeds.to; seed++) {
        const char *wrong = history(BUG_NONE, seed, w);

        if (wrong != NULL)
            test_fail(__FILE__, __LINE__, "seed %llu: %s", (unsigned long long)seed, wrong);
        deaths += w->seen.deaths;
        overtaken += w->seen.overtaken;
        parked += w->seen.parked;
        returned += w->seen.returned;
        given_up += w->seen.given_up;
        seeks += w->seen.seeks;
        failures += w->seen.bus_failures;
    }
    test_note("%d deaths, %d overtaken, %d keys parked, %d returned, %d given up, %d seeks, %d "
              "rounds without the bus",
              deaths, overtaken, parked, returned, given_up, seeks, failures);
    if (!seeds.is_one)
        CHECK(deaths > 0 && overtaken > 0 && parked > 0 && returned > 0 && given_up > 0 &&
                  seeks > 0,
              "the histories have what they are for");
    free(w);
}

TEST(every_planted_bug_is_found)
{
    struct world *w = calloc(1, sizeof(*w));

    REQUIRE(w != NULL, "memory");
    for (int bug = BUG_NONE + 1; bug < BUG_COUNT; bug++) {
        const char *first = NULL;
        int found = 0;

        for (uint64_t seed = 1; seed <= BUG_HISTORIES && found < BUG_FINDS; seed++) {
            const char *wrong = history(bug, seed, w);

            if (first == NULL)
                first = wrong;
            found += wrong != NULL;
        }
        test_note("%s: %s", BUG_NAMES[bug], first != NULL ? first : "nothing");
        CHECK(found > 0, BUG_NAMES[bug]);
    }
    free(w);
}
