/* bus_open: opens the adapter of a bus for its description. The only file that knows all of them.
 *
 *      nats       patra-nats.so, on libnats
 *      kafka      patra-kafka.so, on librdkafka
 *      pubsub     patra-pubsub.so, on gRPC
 *      webhook    in the program, over the http port (patra-curl.so)
 */
#ifndef PATRA_ADAPTER_BUS_OPEN_H
#define PATRA_ADAPTER_BUS_OPEN_H

#include "port/bus_parts.h"

/* Loads the module if it is not loaded yet; does not connect. L4 when the module is missing. */
bool bus_open(const struct bus_parts *parts, struct bus **bus, struct error *err) MUST_CHECK;

#endif
