/* trial: a slice walked to its end to test the walk. Only ids and hashes of the records are kept,
 * to be compared with another trial of the same slice.
 *
 * It has no rate gate, so it is only for one's own servers: patra-sim on loopback.
 */
#ifndef PATRA_ENGINE_PROBE_TRIAL_H
#define PATRA_ENGINE_PROBE_TRIAL_H

#include "engine/fetch/fetch.h"

struct trial_record {
    struct str id;
    char hash[HASH_HEX_MAX]; /* of the bytes received last */
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
    bool failed; /* err says why; otherwise verdict is set */
    struct error err;
    struct fetch_verdict verdict;
};

/* parts.gate is not used. False only for a failure of our own; a walk that fails is a result. */
bool trial_run(struct trial *trial, struct arena *arena, const struct fetch_parts *parts,
               const struct fetch_order *order, struct error *err) MUST_CHECK;

enum trial_outcome {
    TRIAL_WHOLE,   /* the same records as without the fault */
    TRIAL_PARTIAL, /* not all, and it says so: cut short, a shortfall, records in quarantine */
    TRIAL_FAILED,  /* an error */
    TRIAL_WRONG,   /* other records, or fewer, unnoticed */
};
enum trial_outcome trial_judge(const struct trial *trial, const struct trial *truth);

/* The same ids, each deleted or not as in the other, with any bytes. */
bool trial_same_ids(const struct trial *trial, const struct trial *truth);

#endif
