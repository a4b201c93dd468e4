/* Sequencer and relays in virtual time, on a real store under faults and a bus in RAM.
 *
 *      a writer        changes records, several in a transaction
 *      a sequencer     rounds
 *      3 relays        rounds; any of them dies at any call of the database, or sleeps in the
 *                      middle of a publish call until the others have taken over
 *      a bus           loses answers, repeats, refuses keys, stalls, is down, is fenced or not
 *      a person        seeks, lets keys be tried again, gives keys up
 *
 * Afterwards, when all is well again: each event arrived, the first arrivals of a key in the order
 * of its versions; after a seek everything again; and of what was given up a dead letter.
 *
 * A bug is a switch: what the store would do wrong. With each of them some history must fail.
 */
#include <stdio.h>
#include <stdlib.h>

#include "contract.h"
#include "engine/relay/relay.h"
#include "ram_bus.h"
#include "reader_world.h"

enum bug {
    BUG_STALE_AHEAD = READER_BUGS, /* what was read ahead is used wherever the lanes go on */
    BUG_COUNT,
};

static const char *const BUG_NAMES[BUG_COUNT] = { READER_BUG_NAMES, "stale read-ahead" };

struct relay_world {
    struct reader_world world; /* first */
    struct ram_bus *bus;
    struct relay *relays[READERS];
};

static const struct relay_world *own(const struct reader_world *w)
{
    return (const struct relay_world *)w;
}

/* ---- bugs, as a store would have them ---- */

static const struct store_stream_ops *real_stream;

/* By store. */
static struct ahead {
    struct store *store;
    struct stream_event_list events;
} aheads[READERS];

static struct ahead *ahead_of(struct store *store)
{
    for (int i = 0; i < READERS; i++) {
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

static void plant(struct reader_world *w, struct store *store)
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

/* ---- relays ---- */

static bool open_bus(void *context, const struct subscription *subscription,
                     struct relay_target *target, struct error *err)
{
    struct relay_world *w = context;

    (void)subscription;
    (void)err;
    target->bus = ram_bus_connect(w->bus);
    return true;
}

static void open_relay(struct reader_world *world, int i, const struct lanes_settings *lanes)
{
    struct relay_world *w = (struct relay_world *)world;
    const struct relay_parts parts = { .store = world->readers[i].store,
                                       .clock = &world->clock.clock,
                                       .random = &world->chance.source,
                                       .wake_fd = CLOCK_NO_WAKE,
                                       .open = open_bus,
                                       .context = w };
    const struct relay_settings settings = { .lanes = *lanes, .reconnect = lanes->retry };
    struct error err = { 0 };

    aheads[i] = (struct ahead){ .store = world->readers[i].store };
    REQUIRE_OK(relay_open(&w->relays[i], &parts, &settings, &err), err);
}

static bool relay_works(struct reader_world *w, int i, struct lanes_round *round, struct error *err)
{
    return relay_round(own(w)->relays[i], clock_now_us(&w->clock.clock), round, err);
}

static void close_relay(struct reader_world *w, int i)
{
    relay_close(own(w)->relays[i]);
}

/* ---- the bus ---- */

static bool came_since(const struct relay_world *w, const struct stream_event *event, size_t since)
{
    const struct ram_arrival *a = ram_bus_arrivals(w->bus);

    for (size_t i = since; i < ram_bus_count(w->bus); i++) {
        if (str_eq(str_of(a[i].event_id), event->stored.event.event_id))
            return true;
    }
    return false;
}

static size_t came(const struct reader_world *w)
{
    return ram_bus_count(own(w)->bus);
}

static bool has_come(const struct reader_world *w, const struct stream_event *event)
{
    return came_since(own(w), event, 0);
}

static void change_bus(struct reader_world *w)
{
    static const char *const PARTS[] = { "k0000", "k00003", "k00011", NULL, NULL };
    struct ram_bus_faults faults = { 0 };

    if (random_chance(&w->random, 60))
        faults = (struct ram_bus_faults){
            .drop_ack = 60, .duplicate = 50, .retry = 20, .fail = 60, .stall = 20, .garbage = 20
        };
    ram_bus_set_faults(own(w)->bus, &faults);
    ram_bus_set_down(own(w)->bus, random_chance(&w->random, 15));
    ram_bus_refuse(own(w)->bus, PARTS[random_between(&w->random, 0, ARRAY_LEN(PARTS))],
                   random_between(&w->random, 1, 12));
}

static void mend_bus(struct reader_world *w)
{
    ram_bus_set_faults(own(w)->bus, &(struct ram_bus_faults){ 0 });
    ram_bus_set_down(own(w)->bus, false);
    ram_bus_refuse(own(w)->bus, NULL, 0);
}

static void publishes(void *world)
{
    reader_world_sleep(world);
}

static const struct reader_kind RELAY = {
    .subscription = SUBSCRIPTION_RELAY,
    .letter = 'r',
    .plant = plant,
    .open = open_relay,
    .round = relay_works,
    .close = close_relay,
    .came = came,
    .has_come = has_come,
    .change = change_bus,
    .mend = mend_bus,
    .redrive = person_try_again, /* no dead letters but those of a person */
};

/* ---- the judge ---- */

static int key_of(const struct ram_arrival *arrival)
{
    int key = -1;

    if (sscanf(arrival->key, "crossref/works/k%d", &key) != 1 || key < 0 || key >= KEYS)
        return -1;
    return key;
}

static const char *judge_order(const struct relay_world *r)
{
    const struct reader_world *w = &r->world;
    const struct ram_arrival *a = ram_bus_arrivals(r->bus);
    bool is_there[KEYS][VERSIONS_MAX] = { { false } };
    int64_t latest[KEYS] = { 0 };

    for (size_t i = 0; i < ram_bus_count(r->bus); i++) {
        const int key = key_of(&a[i]);

        if (key < 0 || a[i].version < 1 || a[i].version > w->versions[key])
            return "an event that nobody wrote";
        if (w->is_left_out[key][a[i].version])
            return "an event came that was left out";
        if (is_there[key][a[i].version])
            continue;
        is_there[key][a[i].version] = true;
        if (a[i].version < latest[key] && !w->is_given_up[key][a[i].version] &&
            !w->was_left_out[key])
            return "a version after a later one";
        latest[key] = a[i].version;
    }
    for (int key = 0; key < KEYS; key++) {
        for (int64_t v = 1; v <= w->versions[key]; v++) {
            if (!is_there[key][v] && !w->is_given_up[key][v] && !w->is_left_out[key][v])
                return "an event was lost";
        }
    }
    return NULL;
}

/* Only the last seek of a lane: an earlier one may have been interrupted by it. */
static const char *judge_seeks(const struct relay_world *r)
{
    const struct reader_world *w = &r->world;

    for (int i = w->seek_count; i-- > 0;) {
        struct stream_event_list list;

        if (w->seeks[i].lane < 0)
            continue;
        list = reader_lane_events(w, w->seeks[i].lane);
        for (size_t k = 0; k < list.count; k++) {
            const struct stored_event *stored = &list.items[k].stored;
            const int key = reader_key_number(stored->provider_id);

            if (!came_since(r, &list.items[k], w->seeks[i].came) &&
                !w->is_given_up[key][stored->event.version])
                return "an event did not come again after a seek";
        }
    }
    return NULL;
}

static const char *judge(const struct relay_world *w)
{
    const char *wrong = ram_bus_complaint(w->bus);

    if (wrong == NULL)
        wrong = judge_order(w);
    return wrong != NULL ? wrong : judge_seeks(w);
}

/* ---- histories ---- */

static const char *history(int bug, uint64_t seed, struct reader_counts *seen)
{
    struct relay_world *w = calloc(1, sizeof(*w));
    const char *wrong;

    REQUIRE(w != NULL, "memory");
    w->bus = ram_bus_new(seed, &w->world.clock.clock);
    ram_bus_set_fenced(w->bus, seed % 2 == 0);
    ram_bus_on_publish(w->bus, publishes, w);
    reader_world_begin(&w->world, &RELAY, contract_store(), bug, seed);
    reader_world_live(&w->world);
    wrong = judge(w);
    *seen = w->world.seen;
    reader_world_end(&w->world);
    ram_bus_free(w->bus);
    contract_end();
    free(w);
    return wrong;
}

TEST(whatever_dies_or_refuses_each_event_arrives_in_order)
{
    reader_world_play(history, false);
}

TEST(every_planted_bug_is_found)
{
    reader_world_find_bugs(history, BUG_NAMES, BUG_COUNT);
}
