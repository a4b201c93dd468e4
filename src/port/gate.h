/* gate: the right to make requests, as those who make them see it.
 *
 *      permit_gate_acquire(gate, &request, &permit, err)    before each attempt at a request
 *      ... permit.decision is RATE_ALLOW: the request is sent ...
 *      permit_gate_feedback(gate, &feedback)                once for each permit
 *
 * A permit is the right to make one request now. The gate decides when that is: by the limits of
 * the source, which all processes share (engine/gate), or at once (a trial against one's own
 * server). A permit that is not used is given back by feedback with requests 0.
 *
 * Errors of acquire: "fetch.cancelled" (L1: the worker must stop while it waits), and those of the
 * implementation.
 *
 * Threads: one at a time per gate.
 */
#ifndef PATRA_PORT_GATE_H
#define PATRA_PORT_GATE_H

#include <string.h>

#include "base/attr.h"
#include "base/error.h"
#include "base/str.h"
#include "core/bucket.h"
#include "core/codes.h"
#include "core/wait.h"

struct spec_endpoint; /* the settings of an endpoint: its rate key, costs and limits (spec/spec.h)
                       */

/* ---- waiting, as others see it ---- */

/* Called in the requester's thread before it sleeps, and again when either value changes. Embed it
 * as the first member. */
struct permit_waiter {
    /* until_us is on the calendar; 0: unknown. */
    void (*wait)(struct permit_waiter *waiter, int64_t until_us, enum wait_reason reason);
};

/* ---- a permit ---- */

struct permit_request {
    const struct spec_endpoint *endpoint;
    bool may_wait;                /* false, for a prefetch: ALLOW at once or not at all */
    struct permit_waiter *waiter; /* hears of each wait before it begins; NULL: nobody does */
};

struct permit {
    enum rate_decision decision;
    int64_t retry_at_us;     /* WAIT, REJECT: not before this instant; 0: unknown */
    enum wait_reason reason; /* WAIT, REJECT */
    int64_t waited_us;
    /* ALLOW: the endpoint that was requested or, where the source has several credentials, the
     * variant of it whose credential is to be sent. */
    const struct spec_endpoint *endpoint;
    bool has_other; /* another credential can be used if this one is refused */
    /* For the batch row. What is 0 or empty is left out. */
    struct str key;
    int64_t cost;
    int64_t rate;  /* millionths of a permit per second */
    int64_t burst; /* millionths of a permit */
    int64_t cooldown_until_us;
};

struct permit_feedback {
    const struct spec_endpoint *endpoint; /* of the permit */
    struct bucket_signal signal;          /* without its random */
    bool is_quota;   /* the quota is used up: park until signal.reset_at_us or Retry-After */
    bool is_refused; /* the source does not accept the credential, and there is another */
    int requests;    /* sent under this permit: 2 after a fresh token or a redirect, 0: none */
    int status;      /* 0: no response was received */
    int64_t busy_us; /* the server may be working on it for so much longer; 0: it is done */
};

/* ---- the gate ---- */

struct permit_gate { /* embed it as the first member */
    bool (*acquire)(struct permit_gate *gate, const struct permit_request *request,
                    struct permit *permit, struct error *err);
    void (*feedback)(struct permit_gate *gate, const struct permit_feedback *feedback);
};

/* With may_wait the gate does the waiting, and decides ALLOW or REJECT. permit->key is valid until
 * the next call. */
static inline bool MUST_CHECK permit_gate_acquire(struct permit_gate *gate,
                                                  const struct permit_request *request,
                                                  struct permit *permit, struct error *err)
{
    *permit = (struct permit){ .endpoint = request->endpoint };
    return gate->acquire(gate, request, permit, err);
}

/* Once for every permit, whether it was used or not. */
static inline void permit_gate_feedback(struct permit_gate *gate,
                                        const struct permit_feedback *feedback)
{
    gate->feedback(gate, feedback);
}

/* ---- cancelled while waiting ---- */

/* Makes the error of a wait that ended because the worker must stop. Returns false. */
static inline bool permit_wait_cancelled(struct error *err)
{
    return error_set(err, ERROR_TRANSIENT, "fetch.cancelled", "cancelled while waiting");
}

static inline bool permit_error_is_cancelled(const struct error *err)
{
    return strcmp(err->code, "fetch.cancelled") == 0;
}

#endif
