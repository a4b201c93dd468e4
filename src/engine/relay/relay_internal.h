/* relay_internal: what the files of the relay share.
 *
 *      relay.c        opening, a round, waiting for the bus
 *      relay_send.c   events to the bus, wave by wave
 */
#ifndef PATRA_ENGINE_RELAY_RELAY_INTERNAL_H
#define PATRA_ENGINE_RELAY_RELAY_INTERNAL_H

#include "engine/relay/relay.h"

struct relay {
    struct relay_parts parts;
    struct relay_settings settings;
    struct lanes lanes;

    struct relay_target target;
    bool is_open; /* the bus */
    struct error bus_error;
    int bus_failures;     /* in a row; 0: it works */
    int64_t bus_retry_us; /* not before */
};

/* The bus failed as a whole: until when it is left alone. */
void relay_bus_failed(struct relay *relay, const struct error *err);

/* Sends all items that are open; with `reads_ahead` the store reads the next batch meanwhile. False:
 * the store failed, or memory. */
bool relay_send(struct relay *relay, struct delivery *delivery, bool reads_ahead,
                struct lanes_round *round, struct error *err) MUST_CHECK;

#endif
