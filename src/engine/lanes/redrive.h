/* redrive: dead letters are delivered after all.
 *
 * A dead letter's key is parked again at its version (port/store_parked.h) and due at once: whoever
 * holds the lane delivers it, in order with the key's later events from then on. What was delivered
 * since the event was given up has been: a projection's row keeps the higher version, a bus gets
 * the event again under the same id, behind later ones. An event that fails again is a dead letter
 * again.
 *
 * Only what the outbox still has can be redriven; the rest is counted.
 */
#ifndef PATRA_ENGINE_LANES_REDRIVE_H
#define PATRA_ENGINE_LANES_REDRIVE_H

#include "base/attr.h"
#include "port/store_parked.h"

struct redrive_request {
    struct store *store;  /* has the dead letters */
    struct store *stream; /* has the events; may be the same */
    struct offset_key key;
    struct str aggregate_id; /* empty: all */
    struct str by;
    int64_t now_us;
};

struct redriven {
    int64_t events;
    int64_t gone; /* not in the outbox any more: they stay */
};

bool redrive(const struct redrive_request *request, struct redriven *redriven,
             struct error *err) MUST_CHECK;

#endif
