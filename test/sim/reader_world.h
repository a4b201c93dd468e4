/* reader_world: a store with a writer, a sequencer and three readers of the stream in virtual time,
 * what happens to them, and a person. What the simulations of relays (test_relay.c) and of
 * consumers (test_consume.c) share.
 *
 * A simulation has it as the first member of its own world, and says in a reader_kind what a reader
 * is. A history is reader_world_begin(), reader_world_live(), the simulation's own judge, and
 * reader_world_end(); it depends on its seed alone.
 */
#ifndef PATRA_TEST_SIM_READER_WORLD_H
#define PATRA_TEST_SIM_READER_WORLD_H

#include "engine/lanes/lanes.h"
#include "engine/publish/sequencer.h"
#include "port/store_stream.h"
#include "port/store_subscription.h"
#include "random.h"
#include "reader_bugs.h"
#include "seeded_random.h"
#include "virtual_clock.h"

enum {
    READERS = 3,
    KEYS = 20,
    VERSIONS_MAX = 200,
    SEEKS_MAX = 20,
};

#define LEASE_US (6 * US_PER_SECOND)

extern const struct offset_key READER_KEY;

struct reader_world;

/* Every function gets the world that is the first member of the simulation's own. */
struct reader_kind {
    enum subscription_kind subscription;
    char letter; /* owners are called by it and a number */

    void (*plant)(struct reader_world *w, struct store *store); /* the bug */
    /* The reader's store and owner are there already. */
    void (*open)(struct reader_world *w, int i, const struct lanes_settings *settings);
    bool (*round)(struct reader_world *w, int i, struct lanes_round *round, struct error *err);
    void (*close)(struct reader_world *w, int i);

    /* What came out of the readers so far: how much, and whether an event is among it. */
    size_t (*came)(const struct reader_world *w);
    bool (*has_come)(const struct reader_world *w, const struct stream_event *event);

    void (*change)(struct reader_world *w); /* what the readers write to becomes better or worse */
    void (*mend)(struct reader_world *w);   /* it is well */
    /* One more thing that a person does. */
    void (*redrive)(struct reader_world *w);
    /* A lane may go to its end while a reader sleeps: nothing of it is under way then. */
    bool may_skip_asleep;
};

struct reader_world {
    const struct reader_kind *kind;
    int bug;
    struct random random;
    struct virtual_clock clock;
    struct seeded_random chance;
    struct store *store; /* of writer, person and judge */
    struct store *sequencer_store;
    struct sequencer *sequencer;
    struct subscription subscription;
    struct {
        struct store *store;
        char owner[16];
    } readers[READERS];
    int owners;
    int64_t versions[KEYS];               /* committed */
    bool is_left_out[KEYS][VERSIONS_MAX]; /* by a seek to the end of its lane */
    bool was_left_out[KEYS];
    bool is_given_up[KEYS][VERSIONS_MAX]; /* by the person */
    struct {
        int64_t lane;
        size_t came;    /* before it */
    } seeks[SEEKS_MAX]; /* to the beginning */
    int seek_count;
    bool is_nested;
    int active; /* the reader whose round it is */
    struct reader_counts {
        int deaths, overtaken, parked, returned, dead, given_up, redriven, seeks, troubled;
    } seen;
};

/* The store is the caller's and new; it outlives the world. */
void reader_world_begin(struct reader_world *w, const struct reader_kind *kind, struct store *store,
                        int bug, uint64_t seed);
void reader_world_end(struct reader_world *w);

/* Things happen, by chance. Then everything works again, and what is left is handed on. */
void reader_world_live(struct reader_world *w);
/* To be called where a reader has something under way: by chance it sleeps now, the others take
 * over, and a person may be there. */
void reader_world_sleep(struct reader_world *w);

/* ---- looking ---- */

int reader_key_number(struct str id);
struct stream_event_list reader_lane_events(const struct reader_world *w, int64_t lane);

/* ---- the person (reader_person.c) ---- */

void person_seek(struct reader_world *w, bool is_latest);
void person_try_again(struct reader_world *w);
void person_give_up(struct reader_world *w);

/* ---- histories ---- */

/* What is wrong; NULL: nothing. */
typedef const char *reader_history(int bug, uint64_t seed, struct reader_counts *seen);

/* Tests: that nothing is wrong in any of them, and that they have what they are for: all that is
 * counted, dead letters only where `has_letters`. */
void reader_world_play(reader_history *history, bool has_letters);
/* Tests: that with each bug, of those with these names, something is. */
void reader_world_find_bugs(reader_history *history, const char *const *names, int count);

#endif
