/* Consumers, their table, and bugs. */
#include "consume_world.h"

#include "contract.h"
#include "engine/lanes/redrive.h"

static struct consume_world *own(struct reader_world *w)
{
    return (struct consume_world *)w;
}

/* ---- bugs, as a store would have them ---- */

static const struct store_offset_ops *real_offset;

static bool save_alone(struct store *store, const struct offset_save *save, bool *held,
                       struct error *err)
{
    return real_offset->save(store, save, held, err) &&
           (!*held || (store_commit(store, err) && store_begin(store, err)));
}

static void plant(struct reader_world *w, struct store *store)
{
    struct reader_bugs *bugs = reader_bugs_plant(store, w->bug);

    real_offset = bugs->real_offset;
    if (w->bug == BUG_SAVE_ALONE)
        bugs->offset.save = save_alone;
}

/* ---- the table ---- */

static void set_table(struct consume_world *w)
{
    for (int i = 0; i < READERS; i++) {
        w->readers[i].log.refuse = w->refuse;
        w->readers[i].log.refuse_from = w->refuse_from;
        w->readers[i].log.is_broken = w->is_broken;
    }
}

static void change_table(struct reader_world *world)
{
    static const char *const PARTS[] = { "k0000", "k00003", "k00011", NULL, NULL };
    struct consume_world *w = own(world);

    w->refuse = PARTS[random_between(&world->random, 0, ARRAY_LEN(PARTS))];
    w->refuse_from = random_between(&world->random, 1, 12);
    w->is_broken = random_chance(&world->random, 10);
    set_table(w);
}

static void mend_table(struct reader_world *w)
{
    own(w)->refuse = NULL;
    own(w)->is_broken = false;
    set_table(own(w));
}

static size_t came(const struct reader_world *w)
{
    return effect_log_read(w->store, contract_arena()).count;
}

static bool has_come(const struct reader_world *w, const struct stream_event *event)
{
    const struct effect_list effects = effect_log_read(w->store, contract_arena());

    for (size_t i = 0; i < effects.count; i++) {
        if (effects.items[i].version == event->stored.event.version &&
            str_eq(effects.items[i].aggregate_id, event->stored.provider_id))
            return true;
    }
    return false;
}

/* ---- consumers ---- */

/* It has read, and has not begun its transaction. */
static void makes(void *world)
{
    reader_world_sleep(world);
}

static void open_consumer(struct reader_world *world, int i, const struct lanes_settings *lanes)
{
    struct consume_world *w = own(world);
    struct store *store = world->readers[i].store;
    struct consumer_parts parts = { .sink = store,
                                    .stream = store,
                                    .clock = &world->clock.clock,
                                    .random = &world->chance.source,
                                    .wake_fd = CLOCK_NO_WAKE };
    struct lanes_settings settings = *lanes;
    struct error err = { 0 };

    w->readers[i].log = (struct effect_log){ .sink = store,
                                             .on_make = makes,
                                             .context = w,
                                             .forgets_one = world->bug == BUG_HALVING_SKIPS };
    set_table(w);
    settings.attempts_max = 4;
    parts.target = effect_log_target(&w->readers[i].log);
    REQUIRE_OK(consumer_open(&w->readers[i].consumer, &parts, &settings, &err), err);
}

static bool consumer_works(struct reader_world *w, int i, struct lanes_round *round,
                           struct error *err)
{
    return consumer_round(own(w)->readers[i].consumer, clock_now_us(&w->clock.clock), round, err);
}

static void close_consumer(struct reader_world *w, int i)
{
    consumer_close(own(w)->readers[i].consumer);
}

/* What was applied since may be applied again: a projection's versions see to that. */
static void redrive_letters(struct reader_world *w)
{
    const struct redrive_request request = { .store = w->store,
                                             .stream = w->store,
                                             .key = READER_KEY,
                                             .by = STR("ann"),
                                             .now_us = clock_now_us(&w->clock.clock) };
    struct letter_list list;
    struct redriven redriven;
    struct error err = { 0 };

    REQUIRE_OK(store_parked_letters(w->store, contract_arena(),
                                    &(struct letter_query){ .key = READER_KEY, .limit = 1000 },
                                    &list, &err),
               err);
    for (size_t i = 0; i < list.count; i++)
        own(w)->is_redriven[reader_key_number(list.items[i].dead.aggregate_id)] = true;
    REQUIRE_OK(redrive(&request, &redriven, &err), err);
    w->seen.redriven += (int)redriven.events;
}

/* ---- beginning and end ---- */

static const struct reader_kind CONSUMER = {
    .subscription = SUBSCRIPTION_PROJECTION,
    .letter = 'c',
    .plant = plant,
    .open = open_consumer,
    .round = consumer_works,
    .close = close_consumer,
    .came = came,
    .has_come = has_come,
    .change = change_table,
    .mend = mend_table,
    .redrive = redrive_letters,
    .may_skip_asleep = true,
};

void consume_world_begin(struct consume_world *w, int bug, uint64_t seed)
{
    const char *dsn = contract_ready_database();

    *w = (struct consume_world){ 0 };
    effect_log_make(dsn);
    reader_world_begin(&w->world, &CONSUMER, contract_open(dsn), bug, seed);
}

void consume_world_end(struct consume_world *w)
{
    reader_world_end(&w->world);
    store_close(w->world.store);
    contract_end();
}
