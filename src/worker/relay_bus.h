/* relay_bus: the bus of a relay, as its subscription's spec describes it (spec/bus.h). */
#ifndef PATRA_WORKER_RELAY_BUS_H
#define PATRA_WORKER_RELAY_BUS_H

#include "engine/relay/relay.h"
#include "port/secret.h"

struct relay_bus_parts { /* used by all threads */
    struct secret_source *secrets;
    struct clock *clock;
};

/* For relays_settings: the context is a struct relay_bus_parts. */
bool relay_bus_open(void *context, const struct subscription *subscription,
                    struct relay_target *target, struct error *err) MUST_CHECK;

/* Sizes and times of the spec. What cannot be read is left as it is: opening tells. */
void relay_bus_configure(const struct subscription *subscription, struct relay_settings *settings);

#endif
