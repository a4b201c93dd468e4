/* consume_world: a store with a sequencer and three consumers in virtual time, what happens to
 * them, and who judges it (test_consume.c). */
#ifndef PATRA_TEST_SIM_CONSUME_WORLD_H
#define PATRA_TEST_SIM_CONSUME_WORLD_H

#include "effect_log.h"
#include "engine/consume/consumer.h"
#include "port/store_stream.h"
#include "random.h"
#include "reader_bugs.h"
#include "seeded_random.h"
#include "virtual_clock.h"

enum {
    CONSUMERS = 3,
    KEYS = 20,
    VERSIONS_MAX = 200,
    SEEKS_MAX = 20,
};

#define LEASE_US (6 * US_PER_SECOND)

enum bug {
    BUG_SAVE_ALONE = READER_BUGS, /* offsets are committed before the rows */
    BUG_HALVING_SKIPS,            /* what is tried after a refusal lacks an event */
    BUG_COUNT,
};

extern const struct offset_key WORLD_KEY;

struct world {
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
    int active;                     /* the one whose round it is */
    void (*on_make)(void *context); /* it has read, and has not begun its transaction */
    struct {
        int deaths, overtaken, parked, returned, dead, given_up, redriven, seeks, broken;
    } seen;
};

/* ---- the parts (consume_world.c) ---- */

/* `on_make` gets the world. */
void world_begin(struct world *w, int bug, uint64_t seed, void (*on_make)(void *context));
void world_end(struct world *w);

/* A round of a consumer. False: the store failed. */
bool world_turn(struct world *w, int i);
/* It dies at some call of the database, or after all of them; another one starts. */
void world_kill(struct world *w, int i);
/* A call of it fails. */
void world_stumble(struct world *w, int i);
void world_write(struct world *w);
void world_sequence(struct world *w);
/* After a change of refuse, refuse_from, is_broken. */
void world_set_table(struct world *w);

int world_key_number(struct str id);
struct stream_event_list world_lane_events(const struct world *w, int64_t lane);

/* ---- the person (consume_person.c) ---- */

void person_seek(struct world *w, bool is_latest);
void person_try_again(struct world *w);
void person_give_up(struct world *w);
void person_redrive(struct world *w);
/* Before the consumers have read the rows again, there is an event more of the key. */
void person_give_up_and_go_on(struct world *w);

/* ---- the judge (consume_judge.c) ---- */

/* What is wrong; NULL: nothing. */
const char *world_judge(const struct world *w);

#endif
