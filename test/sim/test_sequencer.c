/* The sequencer on a store in RAM, where transactions commit in another order than they draw ids.
 *
 *      4 writers       begin, lock a record, take its version, draw an id, ..., commit or roll back
 *      2 sequencers    rounds by turns; one sleeps before its append until the other has taken over
 *
 * Writers move on between any two calls of a sequencer, so a statement is one moment of the
 * database and two are not. Afterwards each committed event must be in the stream once, positions
 * without gaps, the events of a record in the order of their versions.
 *
 * A bug is a switch of the model: what the store, or a writer, would do wrong. With each of them
 * some history must fail; a bug that no history shows would mean that the test proves nothing.
 */
#include <stdlib.h>
#include <string.h>

#include "engine/publish/sequencer.h"
#include "random.h"
#include "test.h"

enum {
    WRITERS = 4,
    SEQUENCERS = 2,
    KEYS = 12,
    EVENTS_MAX = 4000,
    TX_EVENTS_MAX = 5,
    TRANSACTIONS = 150, /* of each writer */
    HISTORIES = 60,
    LEASE_US = 1000000,
    CACHE = 50,
};

enum bug {
    BUG_NONE,
    BUG_NO_GAPS,       /* what was passed over is not read again: a cursor over ids */
    BUG_GAPS_FIRST,    /* gaps and new events by two statements */
    BUG_WRITERS_FIRST, /* the writers of a mark are read before its last id */
    BUG_ID_CACHE,      /* each session draws ids from a block of its own */
    BUG_SKIP_LOCKED,   /* rows that another session has locked are left for later */
    BUG_XID_ORDER,     /* events by the start of their transactions */
    BUG_EVENT_FIRST,   /* the event's id is drawn before the record is locked */
    BUG_NO_FENCE,      /* an append does not look at the epoch */
    BUG_COUNT,
};

static const char *const BUG_NAMES[BUG_COUNT] = {
    "none",        "no gaps",   "gaps first",  "writers first", "id cache",
    "skip locked", "xid order", "event first", "no fence",
};

struct event {
    int64_t id;
    int64_t xid;
    int key;
    int64_t version;
    bool is_committed;
    int times; /* in the stream */
};

struct writer {
    bool is_open;
    int64_t xid;
    int64_t drawn_id; /* BUG_EVENT_FIRST: of the event to come; 0: none */
    int wanted;       /* the record it is about to lock */
    struct event *events[TX_EVENTS_MAX];
    int count;
    int left; /* transactions */
    int64_t cache_next, cache_end;
};

struct model {
    struct store store; /* first */
    enum bug bug;
    struct random random;
    int64_t now_us;
    struct writer writers[WRITERS];
    struct event events[EVENTS_MAX];
    int event_count;
    int64_t last_id, last_xid;
    int locks[KEYS];        /* 1 + the writer that holds it; 0: nobody */
    int64_t versions[KEYS]; /* committed */

    int64_t epoch, cursor_id, horizon_id, leased_until_us;
    const void *owner;
    int64_t last_pos[OUTBOX_LANES];
    struct event *stream[EVENTS_MAX];
    int stream_count;
    int64_t seen_version[KEYS];
    const char *wrong; /* the first thing that must not be */

    struct sequencer *sequencers[SEQUENCERS];
    int active;    /* the sequencer whose round it is */
    bool is_night; /* it sleeps */
    int late, dead, overtaken;
};

static struct model *model_of(struct store *store)
{
    return (struct model *)store;
}

static void blame(struct model *m, const char *what)
{
    if (m->wrong == NULL)
        m->wrong = what;
}

/* ---- writers ---- */

static int64_t draw_id(struct model *m, struct writer *w)
{
    if (m->bug != BUG_ID_CACHE)
        return ++m->last_id;
    if (w->cache_next == w->cache_end) {
        w->cache_next = m->last_id + 1;
        m->last_id += CACHE;
        w->cache_end = m->last_id + 1;
    }
    return w->cache_next++;
}

static void end_transaction(struct model *m, struct writer *w, bool commits)
{
    for (int i = 0; i < w->count; i++) {
        struct event *event = w->events[i];

        event->is_committed = commits;
        m->versions[event->key] = commits ? event->version : m->versions[event->key];
        m->locks[event->key] = 0;
        m->late += commits && event->id <= m->cursor_id;
        m->dead += !commits;
    }
    w->is_open = false;
    w->count = 0;
    w->drawn_id = 0;
    w->left--;
}

static bool holds(const struct model *m, const struct writer *w, int key)
{
    return m->locks[key] == (int)(w - m->writers) + 1;
}

/* A record that another transaction holds is waited for, but only by one that holds none yet:
 * writers of the store lock in one order and never wait in a circle. */
static void write_event(struct model *m, struct writer *w)
{
    struct event *event = &m->events[m->event_count];
    const int key = w->wanted;

    if (m->bug == BUG_EVENT_FIRST && w->drawn_id == 0)
        w->drawn_id = draw_id(m, w);
    if (m->locks[key] != 0) {
        if (holds(m, w, key) || w->count > 0)
            w->wanted = (int)random_between(&m->random, 0, KEYS);
        return;
    }
    m->locks[key] = (int)(w - m->writers) + 1;
    m->event_count++;
    *event = (struct event){ .key = key, .xid = w->xid, .version = m->versions[key] + 1 };
    event->id = w->drawn_id != 0 ? w->drawn_id : draw_id(m, w);
    w->drawn_id = 0;
    w->events[w->count++] = event;
    w->wanted = (int)random_between(&m->random, 0, KEYS);
}

static void step_writer(struct model *m)
{
    struct writer *w = &m->writers[random_between(&m->random, 0, WRITERS)];
    const int64_t chance = random_between(&m->random, 0, 100);

    if (w->left == 0)
        return;
    if (!w->is_open) {
        w->is_open = true;
        w->xid = ++m->last_xid;
        w->wanted = (int)random_between(&m->random, 0, KEYS);
    } else if (w->count == TX_EVENTS_MAX || (w->count > 0 && chance < 30)) {
        end_transaction(m, w, chance % 10 != 0);
    } else {
        write_event(m, w);
    }
}

static void let_others_work(struct model *m)
{
    const int64_t steps = random_between(&m->random, 0, 12);

    for (int64_t i = 0; i < steps; i++)
        step_writer(m);
}

/* ---- the store ---- */

static bool model_claim(struct store *store, const struct stream_claim *claim,
                        struct stream_lease *lease, bool *held, struct error *err)
{
    struct model *m = model_of(store);

    (void)err;
    let_others_work(m);
    *held = m->owner == NULL || m->leased_until_us < claim->now_us || m->owner == claim->owner.data;
    *lease = (struct stream_lease){ 0 };
    if (!*held)
        return true;
    m->owner = claim->owner.data;
    m->leased_until_us = claim->until_us;
    *lease = (struct stream_lease){ ++m->epoch, m->cursor_id, m->horizon_id, { 0 } };
    memcpy(lease->last_pos, m->last_pos, sizeof(m->last_pos));
    return true;
}

static bool model_renew(struct store *store, int64_t epoch, int64_t until_us, bool *held,
                        struct error *err)
{
    struct model *m = model_of(store);

    (void)err;
    *held = epoch == m->epoch;
    if (*held)
        m->leased_until_us = until_us;
    return true;
}

static bool model_release(struct store *store, int64_t epoch, struct error *err)
{
    struct model *m = model_of(store);

    (void)err;
    if (epoch == m->epoch)
        m->owner = NULL;
    return true;
}

static int by_number(const void *a, const void *b)
{
    const int64_t left = *(const int64_t *)a, right = *(const int64_t *)b;

    return (left > right) - (left < right);
}

static bool model_taken(struct store *store, struct arena *arena, int64_t above_id,
                        struct stream_ids *ids, struct error *err)
{
    struct model *m = model_of(store);

    *ids = (struct stream_ids){ 0 };
    for (int i = 0; i < m->stream_count; i++) {
        int64_t *id = m->stream[i]->id > above_id ? LIST_ADD(arena, ids) : NULL;

        if (id != NULL)
            *id = m->stream[i]->id;
    }
    if (ids->count > 0)
        qsort(ids->items, ids->count, sizeof(ids->items[0]), by_number);
    return !arena->failed || arena_error(arena, err);
}

/* Who has begun to write: the lock is taken before the first id is drawn. */
static bool read_writers(struct model *m, struct arena *arena, struct stream_mark *mark)
{
    for (int i = 0; i < WRITERS; i++) {
        const struct writer *w = &m->writers[i];
        struct str *name;

        if (!w->is_open)
            continue;
        name = LIST_ADD(arena, &mark->writers);
        if (name == NULL)
            return false;
        *name = arena_printf(arena, "%lld", (long long)w->xid);
    }
    return !arena->failed;
}

static bool model_writers(struct store *store, struct arena *arena, struct stream_mark *mark,
                          struct error *err)
{
    struct model *m = model_of(store);
    bool ok = true;

    *mark = (struct stream_mark){ 0 };
    let_others_work(m);
    if (m->bug == BUG_WRITERS_FIRST) {
        ok = read_writers(m, arena, mark);
        let_others_work(m);
        mark->last_id = m->last_id;
        return ok || arena_error(arena, err);
    }
    mark->last_id = m->last_id;
    let_others_work(m);
    return read_writers(m, arena, mark) || arena_error(arena, err);
}

static bool in_gaps(const struct stream_scan *scan, int64_t id)
{
    for (size_t i = 0; i < scan->gap_count; i++) {
        if (scan->gaps[i].first <= id && id <= scan->gaps[i].last)
            return true;
    }
    return false;
}

static int event_lane(const struct event *event)
{
    return event->key % OUTBOX_LANES;
}

/* Of two events, the one with the lower id; with BUG_XID_ORDER, with the lower xid. */
static bool is_xid_order;
static int by_order(const void *a, const void *b)
{
    const struct event *left = *(struct event *const *)a, *right = *(struct event *const *)b;

    if (is_xid_order && left->xid != right->xid)
        return left->xid < right->xid ? -1 : 1;
    return (left->id > right->id) - (left->id < right->id);
}

struct found {
    struct event *items[EVENTS_MAX];
    int count;
};

static void find(struct model *m, const struct stream_scan *scan, bool fresh, struct found *found)
{
    for (int i = 0; i < m->event_count; i++) {
        struct event *event = &m->events[i];

        if (m->bug == BUG_SKIP_LOCKED && random_chance(&m->random, 5))
            continue; /* somebody looks at it */
        if (event->is_committed && (fresh ? event->id > scan->cursor_id : in_gaps(scan, event->id)))
            found->items[found->count++] = event;
    }
}

static bool model_scan(struct store *store, struct arena *arena, const struct stream_scan *scan,
                       struct outbox_ref_list *list, struct error *err)
{
    struct model *m = model_of(store);
    struct found *found = calloc(1, sizeof(*found));

    REQUIRE(found != NULL, "memory");
    *list = (struct outbox_ref_list){ 0 };
    let_others_work(m);
    if (m->bug != BUG_NO_GAPS)
        find(m, scan, false, found);
    if (m->bug == BUG_GAPS_FIRST)
        let_others_work(m);
    find(m, scan, true, found);
    is_xid_order = m->bug == BUG_XID_ORDER;
    qsort(found->items, (size_t)found->count, sizeof(found->items[0]), by_order);
    for (int i = 0; i < found->count; i++) {
        struct outbox_ref *ref = LIST_ADD(arena, list);

        if (ref != NULL)
            *ref = (struct outbox_ref){ found->items[i]->id, event_lane(found->items[i]) };
    }
    free(found);
    return !arena->failed || arena_error(arena, err);
}

static struct event *event_of(struct model *m, int64_t id)
{
    for (int i = 0; i < m->event_count; i++) {
        if (m->events[i].id == id)
            return &m->events[i];
    }
    return NULL;
}

static void append_one(struct model *m, const struct stream_entry *entry)
{
    struct event *event = event_of(m, entry->ref.id);

    if (event == NULL || !event->is_committed) {
        blame(m, "an event that was not committed");
        return;
    }
    if (event->times++ > 0)
        blame(m, "an event twice");
    if (entry->pos != ++m->last_pos[entry->ref.lane])
        blame(m, "a gap in positions, or one twice");
    if (event->version != m->seen_version[event->key] + 1)
        blame(m, "a record's events out of order");
    m->seen_version[event->key] = event->version;
    if (m->stream_count < EVENTS_MAX)
        m->stream[m->stream_count++] = event;
}

/* The other sequencer takes over while this one sleeps. */
static void fall_asleep(struct model *m)
{
    struct sequencer_round round;
    struct error err = { 0 };

    if (m->is_night || !random_chance(&m->random, 15))
        return;
    m->is_night = true;
    m->now_us += LEASE_US + 1;
    for (int i = 0; i < 2; i++)
        (void)!sequencer_round(m->sequencers[1 - m->active], m->now_us, &round, &err);
    m->is_night = false;
}

static bool model_append(struct store *store, const struct stream_append *append, bool *held,
                         struct error *err)
{
    struct model *m = model_of(store);

    let_others_work(m);
    *held = append->epoch == m->epoch || m->bug == BUG_NO_FENCE;
    if (!*held) {
        m->overtaken++;
        return true;
    }
    for (size_t i = 0; i < append->count; i++)
        append_one(m, &append->entries[i]);
    m->cursor_id = append->cursor_id;
    m->horizon_id = append->horizon_id;
    m->leased_until_us = append->until_us;
    /* The answer may be lost. */
    return !random_chance(&m->random, 3) ||
           error_set(err, ERROR_TRANSIENT, "store.commit_unknown", "lost");
}

/* Only the outer sequencer falls asleep, and only between its scan and its append. */
static bool sleepy_append(struct store *store, const struct stream_append *append, bool *held,
                          struct error *err)
{
    struct model *m = model_of(store);
    struct stream_entry *kept = calloc(append->count + 1, sizeof(*kept));
    struct stream_append same = *append;
    bool ok;

    REQUIRE(kept != NULL, "memory");
    if (append->count > 0)
        memcpy(kept, append->entries, append->count * sizeof(*kept));
    same.entries = kept;
    fall_asleep(m);
    ok = model_append(store, &same, held, err);
    free(kept);
    return ok;
}

static const struct store_stream_ops MODEL = {
    .claim = model_claim,
    .renew = model_renew,
    .release = model_release,
    .taken = model_taken,
    .writers = model_writers,
    .scan = model_scan,
    .append = sleepy_append,
};

/* ---- histories ---- */

static void run_rounds(struct model *m)
{
    int quiet = 0;

    for (int i = 0; quiet < 40 && i < 20000 && m->wrong == NULL; i++) {
        struct sequencer_round round;
        struct error err = { 0 };
        bool is_idle = true;

        let_others_work(m);
        m->now_us += random_between(&m->random, 1, LEASE_US / 8);
        for (int k = 0; k < WRITERS; k++)
            is_idle = is_idle && m->writers[k].left == 0;
        m->active = (int)random_between(&m->random, 0, SEQUENCERS);
        if (sequencer_round(m->sequencers[m->active], m->now_us, &round, &err))
            quiet = is_idle && round.appended == 0 && round.gaps == 0 ? quiet + 1 : 0;
    }
}

static const char *judge(const struct model *m)
{
    if (m->wrong != NULL)
        return m->wrong;
    for (int i = 0; i < m->event_count; i++) {
        if (m->events[i].is_committed && m->events[i].times == 0)
            return "an event was lost";
    }
    return m->horizon_id == m->cursor_id ? NULL : "gaps that nobody settles";
}

/* What is wrong; NULL: nothing. */
static const char *history(enum bug bug, uint64_t seed, struct model *m)
{
    static const struct str owners[SEQUENCERS] = { STR_INIT("one"), STR_INIT("two") };
    const char *wrong;
    struct error err = { 0 };

    memset(m, 0, sizeof(*m));
    m->store.stream = &MODEL;
    m->bug = bug;
    m->random = (struct random){ seed };
    for (int i = 0; i < WRITERS; i++)
        m->writers[i].left = TRANSACTIONS;
    for (int i = 0; i < SEQUENCERS; i++)
        REQUIRE_OK(
            sequencer_open(&m->sequencers[i], &m->store,
                           &(struct sequencer_settings){ .owner = owners[i],
                                                         .lease_us = LEASE_US,
                                                         .round_max = 50,
                                                         .gaps_max = seed % 3 == 0 ? 6 : 64 },
                           &err),
            err);
    run_rounds(m);
    wrong = judge(m);
    for (int i = 0; i < SEQUENCERS; i++)
        sequencer_close(m->sequencers[i]);
    return wrong;
}

TEST(whatever_the_order_of_commits_each_event_is_there_once_and_in_order)
{
    const struct random_seeds seeds = random_seeds(HISTORIES);
    struct model *m = calloc(1, sizeof(*m));
    int events = 0, late = 0, dead = 0, overtaken = 0;

    REQUIRE(m != NULL, "memory");
    for (uint64_t seed = seeds.from; seed < seeds.to; seed++) {
        const char *wrong = history(BUG_NONE, seed, m);

        if (wrong != NULL)
            test_fail(__FILE__, __LINE__, "seed %llu: %s", (unsigned long long)seed, wrong);
        events += m->stream_count;
        late += m->late;
        dead += m->dead;
        overtaken += m->overtaken;
    }
    test_note("%d events, %d late, %d ids dead, %d sequencers overtaken", events, late, dead,
              overtaken);
    if (!seeds.is_one)
        CHECK(late > 1000 && dead > 1000 && overtaken > 50, "the histories have what they are for");
    free(m);
}

TEST(every_planted_bug_is_found)
{
    struct model *m = calloc(1, sizeof(*m));

    REQUIRE(m != NULL, "memory");
    for (int bug = BUG_NONE + 1; bug < BUG_COUNT; bug++) {
        const char *first = NULL;
        int found = 0;

        for (uint64_t seed = 1; seed <= HISTORIES; seed++) {
            const char *wrong = history((enum bug)bug, seed, m);

            if (first == NULL)
                first = wrong;
            found += wrong != NULL;
        }
        test_note("%s: %d of %d histories: %s", BUG_NAMES[bug], found, HISTORIES,
                  first != NULL ? first : "nothing");
        CHECK(found > 0, BUG_NAMES[bug]);
    }
    free(m);
}
