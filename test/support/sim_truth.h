/* sim_truth: what a perfect harvest of a window holds, as the simulator reports it. */
#ifndef PATRA_TEST_SUPPORT_SIM_TRUTH_H
#define PATRA_TEST_SUPPORT_SIM_TRUTH_H

#include <stdint.h>

#include "base/arena.h"

struct sim_truth_row {
    struct str id;
    struct str sha256;
    int64_t at_us;
    bool is_wanted; /* must be held; else it may */
    bool is_dead;
};

struct sim_truth {
    struct sim_truth_row *items; /* in the order of their ids' bytes */
    size_t count;
    size_t wanted;
};

/* Reads an answer of /_sim/truth, adding to what is there. */
void sim_truth_read(struct sim_truth *truth, struct arena *arena, struct str lines);

const struct sim_truth_row *sim_truth_find(const struct sim_truth *truth, struct str id);

#endif
