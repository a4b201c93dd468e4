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

/* How a bus carries attributes. */
enum wire_carrier relay_bus_carrier(enum bus_type type);

#endif
