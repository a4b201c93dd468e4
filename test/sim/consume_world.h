/* consume_world: the world of readers with three consumers and the table that they write, and who
 * judges it (test_consume.c). */
#ifndef PATRA_TEST_SIM_CONSUME_WORLD_H
#define PATRA_TEST_SIM_CONSUME_WORLD_H

#include "effect_log.h"
#include "engine/consume/consumer.h"
#include "reader_world.h"

enum bug {
    BUG_SAVE_ALONE = READER_BUGS, /* offsets are committed before the rows */
    BUG_HALVING_SKIPS,            /* what is tried after a refusal lacks an event */
    BUG_COUNT,
};

struct consume_world {
    struct reader_world world; /* first */
    struct {
        struct consumer *consumer;
        struct effect_log log;
    } readers[READERS];
    const char *refuse;
    int64_t refuse_from;
    bool is_broken;
    bool is_redriven[KEYS];
};

void consume_world_begin(struct consume_world *w, int bug, uint64_t seed);
void consume_world_end(struct consume_world *w);

/* What is wrong; NULL: nothing (consume_judge.c). */
const char *consume_world_judge(const struct consume_world *w);

#endif
