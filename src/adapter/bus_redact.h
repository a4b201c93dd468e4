/* bus_redact: a bus whose errors and reasons do not repeat its secrets. Servers may echo what they
 * were shown; here it is taken out (data/redact.h) for every bus alike. */
#ifndef PATRA_ADAPTER_BUS_REDACT_H
#define PATRA_ADAPTER_BUS_REDACT_H

#include "port/bus.h"
#include "port/bus_parts.h"

/* Puts another bus around *bus, which it closes with itself. On failure *bus is closed and NULL. */
bool bus_redact_open(const struct bus_parts *parts, struct bus **bus, struct error *err) MUST_CHECK;

#endif
