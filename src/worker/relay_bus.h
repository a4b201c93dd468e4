/* relay_bus: relays of this process, each with the bus that its subscription's spec describes
 * (spec/bus.h). */
#ifndef PATRA_WORKER_RELAY_BUS_H
#define PATRA_WORKER_RELAY_BUS_H

#include "core/bus_spec.h"
#include "engine/message/wire.h"
#include "port/secret.h"
#include "worker/readers.h"

struct relay_bus_parts { /* used by all threads */
    struct secret_source *secrets;
    struct clock *clock;
};

/* The context is a struct relay_bus_parts. */
extern const struct reader_kind RELAY_READERS;

/* How events look on a bus. Loads the codec of its format. */
bool relay_bus_wire(const struct bus_spec *spec, struct wire_settings *wire,
                    struct error *err) MUST_CHECK;

#endif
