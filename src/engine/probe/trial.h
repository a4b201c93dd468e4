/* trial: a slice walked to its end for the sake of the walk. Nothing is kept but what came, as ids
 * and hashes, to be held against another trial of the same slice.
 *
 * It asks no rate gate, so it is for servers of one's own: patra-sim on loopback.
 */
#ifndef PATRA_ENGINE_PROBE_TRIAL_H
#define PATRA_ENGINE_PROBE_TRIAL_H

#include "engine/fetch/fetch.h"

struct trial_record {
    struct str id;
    char hash[HASH_HEX_MAX]; /* of the bytes as they came last */
    bool is_deleted;
};

struct trial {
    struct trial_record *items; /* by id */
    size_t count;
    int64_t requests;
    int64_t retries;
    int restarts;
    int sweeps;
    size_t bad;
    size_t lost;
    bool failed; /* then err says why; else the verdict stands */
    struct error err;
    struct fetch_verdict verdict;
};

/* parts.gate is not used. False only for what is wrong with us; a walk that fails is a result. */
bool trial_run(struct trial *trial, struct arena *arena, const struct fetch_parts *parts,
               const struct fetch_order *order, struct error *err) MUST_CHECK;

enum trial_outcome {
    TRIAL_WHOLE,   /* the same records as without the fault */
    TRIAL_PARTIAL, /* not, and it says so: cut short, a shortfall, records in quarantine */
    TRIAL_FAILED,  /* an error */
    TRIAL_WRONG,   /* other records, or fewer, and it does not know */
};
enum trial_outcome trial_judge(const struct trial *trial, const struct trial *truth);

/* The same ids, alive and dead, whatever their bytes. */
bool trial_same_ids(const struct trial *trial, const struct trial *truth);

#endif
