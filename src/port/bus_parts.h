/* bus_parts: what an adapter of a bus is opened with, and what its module exports. adapter/
 * bus_open.h chooses the adapter.
 */
#ifndef PATRA_PORT_BUS_PARTS_H
#define PATRA_PORT_BUS_PARTS_H

#include "base/module.h"
#include "core/bus_spec.h"
#include "port/bus.h"
#include "port/clock.h"
#include "port/http.h"
#include "port/secret.h"

struct bus_parts { /* all must outlive the bus */
    const struct bus_spec *spec;
    struct secret_source *secrets;
    struct clock *clock;
};

/* A new http handle, for an adapter that requests tokens. */
typedef bool (*bus_http_opener)(struct http **http, struct error *err);

/* Exported by patra-nats.so and the like, as patra_module. */
struct bus_module {
    struct module_head head;
    /* Connects to nothing yet: the first call that needs a connection makes it, and a later one
     * makes a new one after it was lost. So a bus that is out of reach is an error of its calls
     * (L1), and fails to open only for what never helps (L4 bus.spec). Secrets are read for each
     * connection. */
    bool (*open)(const struct bus_parts *parts, struct bus **bus, struct error *err);
    /* The same, instead of it, for an adapter that makes requests of its own. */
    bool (*open_with_http)(const struct bus_parts *parts, bus_http_opener opener, struct bus **bus,
                           struct error *err);
};

#endif
