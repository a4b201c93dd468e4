/* Consumers of a bus in virtual time, on a real sink under faults, and a bus that repeats, reorders
 * and forgets acknowledgements.
 *
 *      a service     publishes events, some of which no table takes
 *      a consumer    runs until the bus has nothing; it dies at any call of the database, or after
 *                    any of them that is repeated
 *
 * The table has a row per event. Afterwards, when all is well again: each event took effect once,
 * or is a dead letter. A bug is a switch; with each of them some history must fail.
 */
#include <stdlib.h>
#include <string.h>

#include "contract.h"
#include "effect_log.h"
#include "engine/consume/bus_consumer.h"
#include "fault_store.h"
#include "port/store_bus_offset.h"
#include "port/store_sink.h"
#include "random.h"
#include "seeded_random.h"
#include "virtual_clock.h"

enum {
    MESSAGES_MAX = 400,
    STEPS = 40,
    HISTORIES = TEST_IS_SLOW ? 10 : 60,
    BUG_HISTORIES = 100,
    ATTEMPTS = 3,
};

#define HOLD_US (30 * US_PER_SECOND)

enum bug {
    BUG_NONE,
    BUG_NO_INBOX,          /* every event is new */
    BUG_ACK_BEFORE_COMMIT, /* the bus hears of it before the database has it */
    BUG_COUNT,
};

static const char *const BUG_NAMES[BUG_COUNT] = { "none", "no inbox", "ack before commit" };

struct message {
    char event_id[40];
    char key[16];
    char version[8];
    struct bus_attribute attributes[6];
    bool is_acked;
    int64_t out_until_us; /* it is with a consumer */
    int64_t attempts;
};

struct world {
    struct bus bus; /* first */
    enum bug bug;
    struct random random;
    struct virtual_clock clock;
    struct seeded_random chance;
    struct store *store; /* of the judge */
    struct message messages[MESSAGES_MAX];
    int count;
    bool is_well;   /* the bus neither repeats nor forgets */
    bool is_silent; /* it does not say what waits */
    struct effect_log log;
    struct {
        int deaths, repeated, dead, returned;
    } seen;
};

static const struct offset_key KEY = { STR_INIT("patra"), STR_INIT("shelf") };

/* ---- the bus ---- */

static int64_t now_us(struct world *w)
{
    return clock_now_us(&w->clock.clock);
}

static bool may_go_out(struct world *w, const struct message *m)
{
    if (m->is_acked)
        return !w->is_well && m->attempts > 0 && random_chance(&w->random, 3); /* once more */
    return m->out_until_us < now_us(w);
}

static void give(struct world *w, struct message *m, struct bus_delivery *d)
{
    m->attempts++;
    m->out_until_us = now_us(w) + HOLD_US;
    *d = (struct bus_delivery){ .message = { .event_id = str_of(m->event_id),
                                             .key = str_of(m->key),
                                             .attributes = m->attributes,
                                             .attribute_count = ARRAY_LEN(m->attributes),
                                             .content_type = STR("application/json"),
                                             .body = STR("{}") },
                                .attempt = m->attempts,
                                .handle = (uint64_t)(m - w->messages) };
}

/* From a random place on, so that later events may come first; now and then one twice. */
static bool poll_bus(struct bus *bus, struct arena *arena, const struct bus_poll *poll,
                     struct bus_delivery_list *list, struct error *err)
{
    struct world *w = (struct world *)bus;
    const int start = w->count > 0 ? (int)random_between(&w->random, 0, w->count) : 0;
    const size_t most = (size_t)random_between(&w->random, 1, (int64_t)poll->messages_max);

    if (!w->is_well && random_chance(&w->random, 5))
        return error_set(err, ERROR_TRANSIENT, "bus.lost", "the bus went away");
    for (int i = 0; i < w->count && list->count < most; i++) {
        struct message *m = &w->messages[(start + i) % w->count];
        const int times = may_go_out(w, m) ? 1 + (!w->is_well && random_chance(&w->random, 5)) : 0;

        for (int n = 0; n < times; n++) {
            struct bus_delivery *d = LIST_ADD(arena, list);

            if (d == NULL)
                return arena_error(arena, err);
            give(w, m, d);
        }
    }
    return true;
}

static bool settle_bus(struct bus *bus, const struct bus_settlement *list, size_t count,
                       struct error *err)
{
    struct world *w = (struct world *)bus;

    for (size_t i = 0; i < count; i++) {
        struct message *m = &w->messages[list[i].handle];

        if (!w->is_well && random_chance(&w->random, 5))
            return error_set(err, ERROR_TRANSIENT, "bus.lost", "the bus went away");
        m->is_acked |= list[i].verdict == BUS_ACK;
        m->out_until_us = INT64_MIN;
    }
    return true;
}

static bool subscribe_bus(struct bus *bus, struct str group, const struct bus_flow *flow,
                          struct error *err)
{
    (void)bus;
    (void)group;
    (void)flow;
    (void)err;
    return true;
}

/* As of a bus that does not count. */
static bool count_waiting(struct bus *bus, struct bus_lag *lag, struct error *err)
{
    const struct world *w = (const struct world *)bus;

    *lag = (struct bus_lag){ .is_known = false };
    return !w->is_silent || error_set(err, ERROR_TRANSIENT, "bus.lost", "the bus went away");
}

static const struct bus_ops BUS = {
    .subscribe = subscribe_bus, .poll = poll_bus, .settle = settle_bus, .lag = count_waiting
};

static void publish(struct world *w)
{
    for (int n = 0; n < 10 && w->count < MESSAGES_MAX; n++) {
        struct message *m = &w->messages[w->count];

        (void)snprintf(m->event_id, sizeof(m->event_id), "01890000-0000-7000-8000-%012d", w->count);
        (void)snprintf(m->key, sizeof(m->key), "k%05d", w->count / 4);
        (void)snprintf(m->version, sizeof(m->version), "%d", w->count % 4 + 1);
        memcpy(m->attributes,
               (struct bus_attribute[]){ { STR("event_id"), str_of(m->event_id) },
                                         { STR("event_type"), STR("Placed") },
                                         { STR("aggregate_type"), STR("order") },
                                         { STR("aggregate_id"), str_of(m->key) },
                                         { STR("version"), str_of(m->version) },
                                         { STR("occurred_at"), STR("2026-01-01T00:00:00Z") } },
               sizeof(m->attributes));
        m->out_until_us = INT64_MIN;
        w->count++;
    }
}

/* ---- bugs ---- */

static struct store_sink_ops bad_sink;

static bool all_new(struct store *sink, const struct sink_inbox *inbox, bool *is_new,
                    struct error *err)
{
    (void)sink;
    (void)err;
    for (size_t i = 0; i < inbox->count; i++)
        is_new[i] = true;
    return true;
}

static void plant(const struct world *w, struct store *store)
{
    if (w->bug != BUG_NO_INBOX)
        return;
    bad_sink = *store->sink;
    bad_sink.inbox = all_new;
    store->sink = &bad_sink;
}

static void ack_all(void *context)
{
    struct world *w = context;

    for (int i = 0; i < w->count; i++)
        w->messages[i].is_acked |= w->messages[i].out_until_us >= now_us(w);
}

/* ---- the consumer ---- */

static bool consume(struct world *w, const struct store_fault *fault, struct error *err)
{
    const struct bus_consumer_settings settings = { .key = KEY,
                                                    .offsets = STR("bus/shelf"),
                                                    .owner = STR("me"),
                                                    .wire = { .carrier = WIRE_ATTRIBUTES },
                                                    .messages_max = 30,
                                                    .bytes_max = 1 << 20,
                                                    .attempts_max = ATTEMPTS,
                                                    .is_draining = true };
    struct bus_consumer_parts parts = { .bus = &w->bus,
                                        .clock = &w->clock.clock,
                                        .random = &w->chance.source,
                                        .wake_fd = CLOCK_NO_WAKE };
    struct bus_consumer_total total;
    bool ok;

    REQUIRE_OK(store_another(w->store, &parts.sink, err), *err);
    fault_store_new_process(parts.sink);
    plant(w, parts.sink);
    w->log.sink = parts.sink;
    w->log.on_make = w->bug == BUG_ACK_BEFORE_COMMIT ? ack_all : NULL;
    w->log.context = w;
    parts.target = effect_log_target(&w->log);
    if (fault != NULL)
        fault_store_arm(parts.sink, fault);
    ok = bus_consumer_run(&parts, &settings, &total, err);
    if (fault != NULL)
        w->seen.deaths += fault_store_disarm(parts.sink);
    w->seen.repeated += (int)total.repeated;
    w->seen.dead += (int)total.dead;
    w->seen.returned += (int)total.returned;
    store_close(parts.sink);
    return ok;
}

static void step(struct world *w)
{
    static const enum fault_effect EFFECTS[] = { FAULT_DEATH, FAULT_DEATH, FAULT_BEFORE,
                                                 FAULT_AFTER };
    const int64_t what = random_between(&w->random, 0, 100);
    const struct store_fault fault = {
        .effect = EFFECTS[random_between(&w->random, 0, ARRAY_LEN(EFFECTS))],
        .number = random_between(&w->random, 1, 25)
    };
    struct error ignored = { 0 };

    virtual_clock_advance(&w->clock, random_between(&w->random, 0, HOLD_US));
    if (what < 30)
        publish(w);
    else if (what < 75)
        (void)consume(w, &fault, &ignored);
    else if (what < 90)
        (void)consume(w, NULL, &ignored);
    else {
        w->log.refuse = random_chance(&w->random, 50) ? "k0000" : NULL;
        w->log.refuse_from = random_between(&w->random, 1, 5);
    }
}

/* ---- the judge ---- */

static int64_t events_counted(struct world *w)
{
    struct bus_offset_list list;
    struct error err = { 0 };
    int64_t events = 0;

    REQUIRE_OK(store_bus_offset_list(w->store, contract_arena(), &list, &err), err);
    for (size_t i = 0; i < list.count; i++)
        events += list.items[i].newest.events;
    return events;
}

static const char *judge(struct world *w)
{
    static int times[MESSAGES_MAX];
    const struct effect_list list = effect_log_read(w->store, contract_arena());
    const struct letter_query query = { .key = KEY, .limit = MESSAGES_MAX };
    struct letter_list letters;
    struct error err = { 0 };

    memset(times, 0, sizeof(times));
    REQUIRE_OK(store_parked_letters(w->store, contract_arena(), &query, &letters, &err), err);
    for (size_t i = 0; i < list.count; i++) {
        int key = -1;

        (void)sscanf(list.items[i].aggregate_id.data, "k%d", &key);
        if (++times[key * 4 + (int)list.items[i].version - 1] > 1)
            return "an event took effect twice";
    }
    for (size_t i = 0; i < letters.count; i++) {
        int key = -1;

        (void)sscanf(letters.items[i].dead.aggregate_id.data, "k%d", &key);
        times[key * 4 + (int)letters.items[i].dead.version - 1]++;
    }
    for (int i = 0; i < w->count; i++) {
        if (times[i] == 0)
            return "an event was lost";
    }
    if (events_counted(w) != (int64_t)list.count)
        return "the offsets do not count what took effect";
    return NULL;
}

static void begin(struct world *w, enum bug bug, uint64_t seed)
{
    const char *dsn = contract_ready_database();

    memset(w, 0, sizeof(*w));
    w->bus.ops = &BUS;
    w->bug = bug;
    w->random = (struct random){ seed };
    virtual_clock_init(&w->clock, NOW_US);
    seeded_random_init(&w->chance, seed);
    effect_log_make(dsn);
    w->store = contract_open(dsn);
    fault_store_wrap(w->store);
}

static const char *history(enum bug bug, uint64_t seed, struct world *w)
{
    struct error ignored = { 0 };
    const char *wrong;

    begin(w, bug, seed);
    for (int i = 0; i < STEPS; i++)
        step(w);
    w->is_well = true;
    w->log.refuse = NULL;
    for (int i = 0; i < 3; i++) {
        virtual_clock_advance(&w->clock, 2 * HOLD_US);
        (void)consume(w, NULL, &ignored);
    }
    wrong = judge(w);
    store_close(w->store);
    contract_end();
    return wrong;
}

TEST(whatever_dies_or_repeats_each_event_takes_effect_once)
{
    const struct random_seeds seeds = random_seeds((uint64_t)contract_rounds(HISTORIES));
    struct world *w = calloc(1, sizeof(*w));
    int deaths = 0, repeated = 0, dead = 0, returned = 0;

    REQUIRE(w != NULL, "memory");
    for (uint64_t seed = seeds.from; seed < seeds.to; seed++) {
        const char *wrong = history(BUG_NONE, seed, w);

        if (wrong != NULL)
            test_fail(__FILE__, __LINE__, "seed %llu: %s", (unsigned long long)seed, wrong);
        deaths += w->seen.deaths;
        repeated += w->seen.repeated;
        dead += w->seen.dead;
        returned += w->seen.returned;
    }
    test_note("%d faults, %d repeated, %d dead, %d given back", deaths, repeated, dead, returned);
    if (!seeds.is_one)
        CHECK(deaths > 0 && repeated > 0 && dead > 0 && returned > 0,
              "the histories have what they are for");
    free(w);
}

TEST(every_planted_bug_is_found)
{
    struct world *w = calloc(1, sizeof(*w));

    REQUIRE(w != NULL, "memory");
    for (int bug = BUG_NONE + 1; bug < BUG_COUNT; bug++) {
        const char *wrong = NULL;

        for (uint64_t seed = 1; seed <= BUG_HISTORIES && wrong == NULL; seed++)
            wrong = history((enum bug)bug, seed, w);
        test_note("%s: %s", BUG_NAMES[bug], wrong != NULL ? wrong : "nothing");
        CHECK(wrong != NULL, BUG_NAMES[bug]);
    }
    free(w);
}

/* A poll that brings nothing is no end where the bus cannot be asked. */
TEST(a_drain_that_cannot_know_whether_anything_waits_fails)
{
    struct world *w = calloc(1, sizeof(*w));
    struct error err = { 0 };

    REQUIRE(w != NULL, "memory");
    begin(w, BUG_NONE, 1);
    w->is_well = true;
    REQUIRE_OK(consume(w, NULL, &err), err);
    w->is_silent = true;
    CHECK(!consume(w, NULL, &err), "it is not known to be over");
    CHECK_STR(str_of(err.code), STR("bus.lost"), "the bus's own reason");
    CHECK(strstr(err.text, "whether anything waits for shelf") != NULL, err.text);
    store_close(w->store);
    contract_end();
    free(w);
}
