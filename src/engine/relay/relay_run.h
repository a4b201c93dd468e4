/* relay_run: runs a relay, round after round, until it is stopped or nothing is left.
 *
 * While there is something to do, rounds follow on each other. Otherwise it waits until the stream
 * has grown (engine/wake/wake.h), and always looks again after 5 ms, and each time nothing is
 * there twice as late, up to a second. A store that is out of reach is waited for, and so is a bus:
 * new events do not make it try again sooner.
 */
#ifndef PATRA_ENGINE_RELAY_RELAY_RUN_H
#define PATRA_ENGINE_RELAY_RELAY_RUN_H

#include "engine/relay/relay.h"

struct relay_run {
    struct relay_settings relay;
    bool is_draining; /* ends when nothing is left; a bus that fails is then an error */
};

struct relay_total {
    int64_t delivered;
    int64_t parked;
    bool is_stopped; /* the subscription is, by its policy */
};

/* Gives the lanes back when it ends; *total may be NULL. */
bool relay_run(const struct relay_parts *parts, const struct relay_run *run,
               struct relay_total *total, struct error *err) MUST_CHECK;

#endif
