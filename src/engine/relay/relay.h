/* relay: hands the events of the stream on to a bus, for one subscription.
 *
 *      attend ── read ── filter ── waves ── publish ── save
 *      lanes     after     not      each     the next     offsets, parked keys:
 *      shared    offsets   asked    key      when acked   one transaction under
 *      by lease            for      once                  the lanes' epochs
 *
 * The lanes, their events and the parked keys are those of engine/lanes/lanes.h, with its promises.
 * A publish call has each key once; the key's next event is sent when this one was acknowledged.
 * While a batch is published, the store reads the next one (lanes_read_ahead).
 *
 * A refused event parks its key (port/store_parked.h) or, by the subscription's policy, stops the
 * subscription. A message that the bus may take later parks its key too, so that others go on. When
 * the bus as a whole cannot be used, nothing is parked: the relay waits, keeps its lanes and says
 * so (ing_reader.error).
 *
 * A bus with a fence refuses what a relay sends that was overtaken without knowing it.
 */
#ifndef PATRA_ENGINE_RELAY_RELAY_H
#define PATRA_ENGINE_RELAY_RELAY_H

#include "base/attr.h"
#include "engine/lanes/lanes.h"
#include "engine/wake/wake.h"
#include "port/bus.h"

#define RELAY_TIMEOUT_US (10 * US_PER_SECOND)

/* Where events go, which of them, and how they look there. */
struct relay_target {
    struct bus *bus;
    void *context;
    /* NULL: relay_message_make(). L3: the event is refused. Everything lives in the arena. */
    bool (*make)(void *context, struct arena *arena, const struct stream_event *event,
                 struct bus_message *message, struct error *err);
    bool (*takes)(void *context, const struct stream_event *event); /* NULL: all */
    void (*close)(struct relay_target *target); /* NULL: bus_close() is all that is to be done */
};

struct relay_parts { /* all must outlive it */
    struct store *store;
    struct clock *clock;
    struct random_source *random;
    struct log *log;           /* NULL: none */
    struct lanes_watch *watch; /* NULL: none */
    struct wake *wake;         /* NULL: none; this process does not wake it */
    int wake_fd;               /* readable: end what takes long; CLOCK_NO_WAKE: none */
    /* Opens the bus. Called again after a failure. */
    bool (*open)(void *context, const struct subscription *subscription,
                 struct relay_target *target, struct error *err);
    void *context;
};

struct relay_settings {
    struct lanes_settings lanes;
    int64_t timeout_us;            /* of a publish call; 0: RELAY_TIMEOUT_US */
    struct retry_policy reconnect; /* of the bus; without attempts: a tenth of a second to 30 s */
};

struct relay;

bool relay_open(struct relay **relay, const struct relay_parts *parts,
                const struct relay_settings *settings, struct error *err) MUST_CHECK;
void relay_close(struct relay *relay); /* accepts NULL; does not give the lanes back */

/* One round at this instant of the clock that all processes share. True also when the bus fails. A
 * failure is the store's: after it the relay holds nothing, and the next round begins with a claim.
 */
bool relay_round(struct relay *relay, int64_t now_us, struct lanes_round *round,
                 struct error *err) MUST_CHECK;

/* Gives its lanes back. */
bool relay_release(struct relay *relay, struct error *err) MUST_CHECK;

/* A message by settings (wire.h), for a `make` that has them: body, content type, attributes. */
struct wire_settings;
bool relay_message_wire(struct arena *arena, const struct wire_settings *settings,
                        const struct stream_event *event, struct bus_message *message,
                        struct error *err) MUST_CHECK;
/* As JSON. */
bool relay_message_make(void *context, struct arena *arena, const struct stream_event *event,
                        struct bus_message *message, struct error *err) MUST_CHECK;

#endif
