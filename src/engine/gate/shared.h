/* shared: the gate's transactions, each at one key's row.
 *
 *      take    writes pending feedback; takes permits, quota and a slot, or none of them
 *      report  writes pending feedback
 *      look    reads the row, without a lock
 *
 * Each updates what the threads of the process know of the row. After a failure the feedback is
 * still pending.
 */
#ifndef PATRA_ENGINE_GATE_SHARED_H
#define PATRA_ENGINE_GATE_SHARED_H

#include "engine/gate/pool.h"

struct shared { /* the gate's own */
    struct store *store;
    struct clock *clock;
    struct random_source *random;
    struct str owner;
};

struct shared_request {
    struct gate_key *key;
    const struct gate_limit *limit;
    const struct spec_rate *rate;
    enum operation operation;
    int64_t wait_us;  /* how far ahead the first permit may be due */
    int64_t count;    /* permits wanted; the others only for the next beat */
    int64_t slack_us; /* of each, as in a draw_request */
    bool needs_slot;
};

enum shared_kind {
    SHARED_TAKEN,
    SHARED_LATER, /* not before at_us */
    SHARED_AGAIN, /* all slots are taken, or the store fails: in a moment */
};

struct shared_result {
    enum shared_kind kind;
    int64_t at_us;             /* monotonic */
    enum wait_reason reason;   /* it is not now */
    struct gate_permit permit; /* the first; the others are with the key */
    struct gate_slot slot;
};

bool shared_take(const struct shared *shared, const struct shared_request *request,
                 struct shared_result *result, struct error *err) MUST_CHECK;

bool shared_report(const struct shared *shared, const struct shared_request *request,
                   struct error *err) MUST_CHECK;

bool shared_look(const struct shared *shared, struct gate_key *key, struct error *err) MUST_CHECK;

#endif
