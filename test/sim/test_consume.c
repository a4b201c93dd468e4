/* Sequencer and consumers in virtual time, on a real store under faults.
 *
 *      a writer        changes records, several in a transaction
 *      a sequencer     rounds
 *      3 consumers     rounds; any of them dies at any call of the database, or sleeps between
 *                      reading and its transaction until the others have taken over
 *      a table         refuses keys, is broken
 *      a person        seeks, lets keys be tried again, gives keys up, redrives dead letters
 *
 * The table has a row per event, so it shows what a projection's versions would hide. Afterwards,
 * when all is well again: each event took effect once, those of a key in the order of its versions;
 * after a seek everything again; and of what was given up there is a dead letter.
 *
 * A bug is a switch: what the store, or the consumer, would do wrong. With each of them some
 * history must fail.
 */
#include <stdlib.h>
#include <string.h>

#include "adapter/sql/statement.h"
#include "contract.h"
#include "core/lane.h"
#include "effect_log.h"
#include "engine/consume/consumer.h"
#include "engine/lanes/give_up.h"
#include "engine/lanes/redrive.h"
#include "fault_store.h"
#include "port/store_subscription.h"
#include "random.h"
#include "rows.h"
#include "seeded_random.h"
#include "stream_rig.h"
#include "virtual_clock.h"

enum {
    CONSUMERS = 3,
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
    BUG_NONE,
    BUG_SAVE_WITHOUT_EPOCH, /* 8 of the design's list */
    BUG_PARKED_HEAD_ONLY,   /* 10: what was passed over is not read again */
    BUG_SEEK_KEEPS_PARKED,  /* 11 */
    BUG_PASS_BLIND,         /* a key is passed over though it is not parked any more */
    BUG_SAVE_ALONE,         /* offsets are committed before the rows */
    BUG_HALVING_SKIPS,      /* what is tried after a refusal lacks an event */
    BUG_COUNT,
};

static const char *const BUG_NAMES[BUG_COUNT] = {
    "none",       "save without epoch", "parked head only",       "seek keeps parked keys",
    "blind pass", "offsets alone",      "halving that skips one",
};

static const struct offset_key KEY = { STR_INIT("patra"), STR_INIT("works") };

struct world {
    enum bug bug;
    struct random random;
    struct virtual_clock clock;
    struct seeded_random chance;
    struct store *store; /* of writer, person and judge */
    struct store *sequencer_store;
    struct sequencer *sequencer;
    struct subscription subscription;
    struct {
        struct store *store;
        struct consumer *consumer;
        struct effect_log log;
        char owner[16];
    } readers[CONSUMERS];
    const char *refuse;
    int64_t refuse_from;
    bool is_broken;
    int owners;
    int64_t versions[KEYS]; /* committed */
    bool is_redriven[KEYS];
    bool is_left_out[KEYS][VERSIONS_MAX]; /* by a seek to the end of its lane */
    bool was_left_out[KEYS];
    struct {
        int64_t lane;
        size_t effects; /* before it */
    } seeks[SEEKS_MAX]; /* to the beginning */
    int seek_count;
    bool is_nested;
    int active; /* the one whose round it is */
    struct {
        int deaths, overtaken, parked, returned, dead, given_up, redriven, seeks, broken;
    } seen;
};

/* ---- bugs, as a store would have them ---- */

static const struct store_offset_ops *real_offset;
static const struct store_parked_ops *real_parked;

static const char SAVE_WITHOUT_EPOCH[] =
    "UPDATE ing_offset AS t SET stream_pos = @pos, updated_at = :now, leased_until = :until {rows}"
    " WHERE t.consumer_group = :group AND t.subscription = :name AND t.lane = @lane"
    " AND t.stream_pos < @pos";

static bool save_without_epoch(struct store *store, const struct offset_save *save, bool *held,
                               struct error *err)
{
    struct statement *st;
    int64_t changes;

    if (!real_offset->save(store, save, held, err) || *held)
        return !err->level;
    *held = true;
    st = statement_of(store, SAVE_WITHOUT_EPOCH);
    bind_instant(st, ":now", save->now_us);
    bind_instant_opt(st, ":until", false, 0);
    bind_text(st, ":group", save->key.group);
    bind_text(st, ":name", save->key.subscription);
    for (size_t i = 0; i < save->count; i++) {
        cell_i64(st, "@pos", save->moves[i].pos);
        cell_i64(st, "@lane", save->moves[i].lane);
    }
    return statement_run(st, &changes, err);
}

static bool events_of_head(struct store *store, struct arena *arena,
                           const struct parked_events *events, struct stream_event_list *list,
                           struct error *err)
{
    struct parked_events head = *events;

    head.to_version = head.from_version;
    return real_parked->events(store, arena, &head, list, err);
}

static bool seek_keeping_parked(struct store *store, const struct offset_seek *seek, bool *found,
                                struct error *err)
{
    struct parked_list list;

    if (!real_parked->list(store, contract_arena(), &(struct parked_query){ KEY, STR(""), 1000 },
                           &list, err) ||
        !real_offset->seek(store, seek, found, err))
        return false;
    for (size_t i = 0; i < list.count; i++) {
        if (list.items[i].lane == seek->lane && !real_parked->put(store, &KEY, &list.items[i], err))
            return false;
    }
    return true;
}

static bool pass_blindly(struct store *store, const struct offset_key *key,
                         const struct parked_pass *passes, size_t count, bool *all,
                         struct error *err)
{
    const bool ok = real_parked->pass(store, key, passes, count, all, err);

    *all = true;
    return ok;
}

static bool save_alone(struct store *store, const struct offset_save *save, bool *held,
                       struct error *err)
{
    return real_offset->save(store, save, held, err) &&
           (!*held || (store_commit(store, err) && store_begin(store, err)));
}

static struct store_offset_ops bad_offset;
static struct store_parked_ops bad_parked;

static void plant(struct world *w, struct store *store)
{
    real_offset = w->store->offset != &bad_offset ? w->store->offset : real_offset;
    real_parked = w->store->parked != &bad_parked ? w->store->parked : real_parked;
    bad_offset = *real_offset;
    bad_parked = *real_parked;
    if (w->bug == BUG_SAVE_WITHOUT_EPOCH)
        bad_offset.save = save_without_epoch;
    if (w->bug == BUG_PARKED_HEAD_ONLY)
        bad_parked.events = events_of_head;
    if (w->bug == BUG_SEEK_KEEPS_PARKED)
        bad_offset.seek = seek_keeping_parked;
    if (w->bug == BUG_SAVE_ALONE)
        bad_offset.save = save_alone;
    if (w->bug == BUG_PASS_BLIND)
        bad_parked.pass = pass_blindly;
    store->offset = &bad_offset;
    store->parked = &bad_parked;
}

/* ---- the parts ---- */

static void others_work(void *context);

static void set_table(struct world *w)
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
                                             .on_make = others_work,
                                             .context = w,
                                             .forgets_one = w->bug == BUG_HALVING_SKIPS };
    set_table(w);
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

/* False: the store failed. */
static bool turn(struct world *w, int i)
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

/* It dies at some call of the database, or after all of them; another one starts. */
static void kill(struct world *w, int i)
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

static void stumble(struct world *w, int i)
{
    w->is_nested = true;
    fault_store_arm(
        w->readers[i].store,
        &(struct store_fault){ .effect = random_chance(&w->random, 50) ? FAULT_AFTER : FAULT_BEFORE,
                               .number = random_between(&w->random, 1, 20) });
    (void)turn(w, i);
    (void)fault_store_disarm(w->readers[i].store);
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
    w->seeks[w->seek_count++].effects = effect_log_read(w->store, contract_arena()).count;
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

    REQUIRE_OK(store_parked_list(w->store, contract_arena(),
                                 &(struct parked_query){ KEY, STR(""), 1000 }, &list, &err),
               err);
    if (list.count == 0)
        return;
    request.aggregate_id =
        list.items[random_between(&w->random, 0, (int64_t)list.count)].aggregate_id;
    REQUIRE_OK(give_up(&request, &given, &err), err);
    w->seen.given_up += (int)given.keys;
}

static int number_of(struct str id)
{
    int key = -1;

    REQUIRE(sscanf(id.data, "k%d", &key) == 1 && key >= 0 && key < KEYS, "a key that was written");
    return key;
}

/* What was applied since may be applied again: a projection's versions see to that. */
static void redrive_all(struct world *w)
{
    const struct redrive_request request = { .store = w->store,
                                             .stream = w->store,
                                             .key = KEY,
                                             .by = STR("ann"),
                                             .now_us = clock_now_us(&w->clock.clock) };
    struct letter_list list;
    struct redriven redriven;
    struct error err = { 0 };

    REQUIRE_OK(store_parked_letters(w->store, contract_arena(),
                                    &(struct letter_query){ .key = KEY, .limit = 1000 }, &list,
                                    &err),
               err);
    for (size_t i = 0; i < list.count; i++)
        w->is_redriven[number_of(list.items[i].dead.aggregate_id)] = true;
    REQUIRE_OK(redrive(&request, &redriven, &err), err);
    w->seen.redriven += (int)redriven.events;
}

/* Before the consumers have read the rows again, there is an event more of the key. */
static void give_one_up_and_go_on(struct world *w)
{
    const int given_up = w->seen.given_up;

    give_one_up(w);
    for (int i = 0; i < 4 && w->seen.given_up > given_up; i++)
        write(w);
    sequence(w);
    for (int i = 0; i < CONSUMERS; i++)
        (void)turn(w, i);
}

/* ---- chance ---- */

static void change_table(struct world *w)
{
    static const char *const PARTS[] = { "k0000", "k00003", "k00011", NULL, NULL };

    w->refuse = PARTS[random_between(&w->random, 0, ARRAY_LEN(PARTS))];
    w->refuse_from = random_between(&w->random, 1, 12);
    w->is_broken = random_chance(&w->random, 10);
    set_table(w);
}

/* The consumer that has read sleeps; the others take over; a person may be there. */
static void others_work(void *context)
{
    struct world *w = context;

    if (w->is_nested || !random_chance(&w->random, 10))
        return;
    w->is_nested = true;
    if (random_chance(&w->random, 40))
        seek(w, random_chance(&w->random, 30));
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
        for (int i = 0; i < CONSUMERS; i++) {
            if (i != w->active)
                (void)turn(w, i);
        }
    }
    w->is_nested = false;
}

static void step(struct world *w)
{
    const int64_t what = random_between(&w->random, 0, 100);
    const int reader = (int)random_between(&w->random, 0, CONSUMERS);

    virtual_clock_advance(&w->clock, random_between(&w->random, 0, US_PER_SECOND / 4));
    if (what < 20)
        write(w);
    else if (what < 35)
        sequence(w);
    else if (what < 82)
        (void)turn(w, reader);
    else if (what < 85)
        kill(w, reader);
    else if (what < 88)
        stumble(w, reader);
    else if (what < 93)
        change_table(w);
    else if (what < 95)
        virtual_clock_advance(&w->clock, 2 * LEASE_US);
    else if (what < 96)
        seek(w, random_chance(&w->random, 40));
    else if (what < 97)
        try_again(w);
    else if (what < 98)
        redrive_all(w);
    else
        give_one_up_and_go_on(w);
}

/* Everything works again: what is left is applied. */
static void heal(struct world *w)
{
    w->refuse = NULL;
    w->is_broken = false;
    set_table(w);
    w->is_nested = true;
    for (int n = 0; n < 30; n++) {
        sequence(w);
        try_again(w);
        virtual_clock_advance(&w->clock, LEASE_US / 2);
        for (int i = 0; i < CONSUMERS; i++)
            (void)turn(w, i);
        virtual_clock_advance(&w->clock, 3 * US_PER_SECOND);
        for (int i = 0; i < CONSUMERS; i++)
            (void)turn(w, i);
    }
}

/* ---- the judge ---- */

struct truth {
    bool is_dead[KEYS][VERSIONS_MAX];
    int resets[KEYS];
    int times[KEYS][VERSIONS_MAX];
    struct effect_list effects;
};

static void gather(const struct world *w, struct truth *t)
{
    struct letter_list letters;
    struct error err = { 0 };

    memset(t, 0, sizeof(*t));
    REQUIRE_OK(store_parked_letters(
                   w->store, contract_arena(),
                   &(struct letter_query){ .key = KEY, .has_redriven = true, .limit = 100000 },
                   &letters, &err),
               err);
    for (size_t i = 0; i < letters.count; i++) {
        const struct letter *letter = &letters.items[i];

        t->is_dead[number_of(letter->dead.aggregate_id)][letter->dead.version] =
            !letter->is_redriven;
    }
    for (int key = 0; key < KEYS; key++) {
        char id[16];

        (void)snprintf(id, sizeof(id), "k%05d", key);
        for (int i = 0; i < w->seek_count; i++)
            t->resets[key] += w->seeks[i].lane == lane_of(STR("works"), str_of(id));
    }
    t->effects = effect_log_read(w->store, contract_arena());
}

/* Of a key that was redriven, or whose lane was reset, the order and the number are not its
 * versions' own. */
static const char *judge_effects(const struct world *w, struct truth *t)
{
    int64_t latest[KEYS] = { 0 };

    for (size_t i = 0; i < t->effects.count; i++) {
        const struct effect *e = &t->effects.items[i];
        const int key = number_of(e->aggregate_id);
        const bool is_plain = !w->is_redriven[key] && !w->was_left_out[key] && t->resets[key] == 0;

        if (e->version < 1 || e->version > w->versions[key])
            return "an event that nobody wrote";
        if (w->is_left_out[key][e->version] && !w->is_redriven[key])
            return "an event took effect that was left out";
        if (is_plain && t->times[key][e->version] > 0)
            return "an event took effect twice";
        if (is_plain && e->version < latest[key])
            return "a version after a later one";
        if (is_plain && t->is_dead[key][e->version])
            return "a dead letter took effect";
        t->times[key][e->version]++;
        latest[key] = e->version;
    }
    for (int key = 0; key < KEYS; key++) {
        for (int64_t v = 1; v <= w->versions[key]; v++) {
            if (t->times[key][v] == 0 && !t->is_dead[key][v] && !w->is_left_out[key][v])
                return "an event was lost";
        }
    }
    return NULL;
}

static bool came_since(const struct truth *t, int key, int64_t version, size_t since)
{
    for (size_t i = since; i < t->effects.count; i++) {
        const struct effect *e = &t->effects.items[i];

        if (number_of(e->aggregate_id) == key && e->version == version)
            return true;
    }
    return false;
}

static const char *judge_seeks(const struct world *w, const struct truth *t)
{
    for (int i = 0; i < w->seek_count; i++) {
        struct stream_event_list list;

        if (w->seeks[i].lane < 0)
            continue;
        list = lane_events(w, w->seeks[i].lane);
        for (size_t k = 0; k < list.count; k++) {
            const struct stored_event *stored = &list.items[k].stored;
            const int key = number_of(stored->provider_id);

            if (!came_since(t, key, stored->event.version, w->seeks[i].effects) &&
                !t->is_dead[key][stored->event.version])
                return "an event did not come again after a seek";
        }
    }
    return NULL;
}

static const char *judge(const struct world *w)
{
    static struct truth t;
    const char *wrong;

    gather(w, &t);
    wrong = judge_effects(w, &t);
    return wrong != NULL ? wrong : judge_seeks(w, &t);
}

/* ---- histories ---- */

static void begin(struct world *w, enum bug bug, uint64_t seed)
{
    struct subscription_applied applied;
    const struct subscription_apply apply = { .name = KEY.subscription,
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
    w->random = (struct random){ seed };
    virtual_clock_init(&w->clock, NOW_US);
    seeded_random_init(&w->chance, seed);
    dsn = contract_ready_database();
    effect_log_make(dsn);
    w->store = contract_open(dsn);
    fault_store_wrap(w->store);
    plant(w, w->store);
    REQUIRE_OK(store_subscription_apply(w->store, &apply, &applied, &err), err);
    REQUIRE_OK(store_subscription_find(w->store, contract_arena(), KEY.subscription,
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

/* What is wrong; NULL: nothing. */
static const char *history(enum bug bug, uint64_t seed, struct world *w)
{
    const char *wrong;

    begin(w, bug, seed);
    for (int i = 0; i < STEPS; i++)
        step(w);
    heal(w);
    wrong = judge(w);
    for (int i = 0; i < CONSUMERS; i++) {
        consumer_close(w->readers[i].consumer);
        store_close(w->readers[i].store);
    }
    sequencer_close(w->sequencer);
    store_close(w->store);
    contract_end();
    return wrong;
}

TEST(whatever_dies_or_refuses_each_event_takes_effect_once_and_in_order)
{
    const struct random_seeds seeds = random_seeds((uint64_t)contract_rounds(HISTORIES));
    struct world *w = calloc(1, sizeof(*w));
    int deaths = 0, overtaken = 0, parked = 0, returned = 0, dead = 0, given_up = 0, redriven = 0,
        seeks = 0, broken = 0;

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
        dead += w->seen.dead;
        redriven += w->seen.redriven;
        broken += w->seen.broken;
    }
    test_note("%d deaths, %d overtaken, %d keys parked, %d returned, %d dead, %d given up, %d "
              "redriven, %d seeks, %d rounds with a broken table",
              deaths, overtaken, parked, returned, dead, given_up, redriven, seeks, broken);
    if (!seeds.is_one)
        CHECK(deaths > 0 && overtaken > 0 && parked > 0 && returned > 0 && dead > 0 &&
                  given_up > 0 && redriven > 0 && seeks > 0,
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
            const char *wrong = history((enum bug)bug, seed, w);

            if (first == NULL)
                first = wrong;
            found += wrong != NULL;
        }
        test_note("%s: %s", BUG_NAMES[bug], first != NULL ? first : "nothing");
        CHECK(found > 0, BUG_NAMES[bug]);
    }
    free(w);
}
