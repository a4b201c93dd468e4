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

/* Whether a stored record has the bytes of this row. A record of XML is stored with the namespaces
 * that its envelope declares, and the truth is about its bytes in the response: what was added to
 * the records of OAI-PMH is left out. */
bool sim_truth_has_bytes(const struct sim_truth_row *row, struct arena *arena, struct str payload);

/* The id of a record in the middle that must be held and is not a tombstone. */
struct str sim_truth_some_id(const struct sim_truth *truth);

const struct sim_truth_row *sim_truth_find(const struct sim_truth *truth, struct str id);

#endif
