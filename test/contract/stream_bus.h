/* stream_bus: the embedded stream as a bus, so that it is held to the promises of the others.
 *
 *      publish   rows of foreign aggregates in the outbox, then rounds of a sequencer
 *      poll      lanes are claimed, and the stream is read after what was delivered
 *      settle    an offset moves when everything before it is acknowledged
 *
 * A group is a subscription. A reader that ends gives its lanes back; what it had not settled comes
 * to the next one.
 */
#ifndef PATRA_TEST_STREAM_BUS_H
#define PATRA_TEST_STREAM_BUS_H

#include "port/bus.h"

struct bus *stream_bus_open(const char *dsn);

#endif
