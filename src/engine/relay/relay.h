/* relay: hands the events of the stream on to a bus, for one subscription.
 *
 *      attend ── read ── filter ── waves ── publish ── save
 *      lanes     after     not      each     the next     offsets, parked keys:
 *      shared    offsets   asked    key      when acked   one transaction under
 *      by lease            for      once                  the lanes' epochs
 *
 * Nothing is lost. The offset of a lane moves over an event when the bus has said that it keeps it,
 * when the subscription does not want it, or when its key is parked, and that is written in the
 * same transaction. Whatever happens in between, the events are read again and published again
 * under the same ids.
 *
 * Order of a key. A publish call has each key once; the key's next event is sent when this one was
 * acknowledged. While an event of a key is not delivered, none of its later ones is.
 *
 * A refused event parks its key (port/store_parked.h) or, by the subscription's policy, stops the
 * subscription. A message that the bus may take later parks its key too, so that others go on. When
 * the bus as a whole cannot be used, nothing is parked: the relay waits, keeps its lanes and says
 * so (ing_reader.error).
 *
 * A crash is not a failure. A lease that ran out counts at its position; from RELAY_CRASHES on, the
 * lane goes event by event, and the event at which it happens again is parked.
 *
 * Any number of relays share the lanes of a subscription. Which of them has a lane is decided by
 * the store; a bus with a fence refuses what one sends that was overtaken without knowing it.
 *
 * Memory: a batch, up to RELAY_BATCH events and settings.bytes_max, and RELAY_PARKED_MAX keys.
 */
#ifndef PATRA_ENGINE_RELAY_RELAY_H
#define PATRA_ENGINE_RELAY_RELAY_H

#include "base/attr.h"
#include "base/instant.h"
#include "base/log.h"
#include "core/retry.h"
#include "engine/wake/wake.h"
#include "port/bus.h"
#include "port/clock.h"
#include "port/random.h"
#include "port/store_parked.h"
#include "port/store_subscription.h"

enum {
    RELAY_BATCH = 1000,       /* events read at once */
    RELAY_PARKED_MAX = 10000, /* keys; beyond, the bus as a whole is at fault: the relay waits */
    RELAY_CRASHES = 3,
    RELAY_TRIES_LOST_MAX = 3, /* tries of a parked key that never ended; then a person must ask */
};

#define RELAY_LEASE_US (15 * US_PER_SECOND)
#define RELAY_TIMEOUT_US (10 * US_PER_SECOND)
#define RELAY_BYTES (INT64_C(8) << 20)

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
    struct log *log;   /* NULL: none */
    struct wake *wake; /* NULL: none; this process does not wake it */
    int wake_fd;       /* readable: end what takes long; CLOCK_NO_WAKE: none */
    /* Opens the bus. Called again after a failure. */
    bool (*open)(void *context, const struct subscription *subscription,
                 struct relay_target *target, struct error *err);
    void *context;
};

struct relay_settings {
    const struct subscription *subscription; /* must outlive it */
    struct str owner;                        /* no other relay has it */
    int64_t lease_us;                        /* 0: RELAY_LEASE_US */
    int64_t batch_max;                       /* 0: RELAY_BATCH */
    int64_t bytes_max;                       /* 0: RELAY_BYTES */
    int64_t timeout_us;                      /* of a publish call; 0: RELAY_TIMEOUT_US */
    size_t parked_max;                       /* 0: RELAY_PARKED_MAX */
    struct retry_policy retry;               /* of a parked key; without attempts: a second to
                                                five minutes */
    struct retry_policy reconnect;           /* of the bus; likewise a tenth of a second to 30 s */
};

struct relay_round {
    int lanes;         /* held */
    int64_t delivered; /* acknowledged by the bus */
    int64_t passed;    /* not wanted, or of a parked key */
    int64_t parked;    /* keys that were parked */
    int64_t returned;  /* keys that are not parked any more */
    bool has_more;     /* events or due keys are left that can be tried now */
    bool is_stopped;   /* the subscription is, by its policy */
    bool was_overtaken;
    int64_t next_us; /* when there is something to do, whatever comes: a lease, a retry */
    const struct error *bus_error; /* why the bus cannot be used; NULL: it can */
};

struct relay;

bool relay_open(struct relay **relay, const struct relay_parts *parts,
                const struct relay_settings *settings, struct error *err) MUST_CHECK;
void relay_close(struct relay *relay); /* accepts NULL; does not give the lanes back */

/* One round at this instant of the clock that all processes share. True also when the bus fails. A
 * failure is the store's: after it the relay holds nothing, and the next round begins with a claim.
 */
bool relay_round(struct relay *relay, int64_t now_us, struct relay_round *round,
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

/* The key that the event's order is kept by. A record's type is its source and endpoint. */
struct aggregate {
    struct str type;
    struct str id;
};
struct aggregate relay_aggregate(struct arena *arena, const struct stream_event *event);

#endif
