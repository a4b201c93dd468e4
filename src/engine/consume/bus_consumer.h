/* bus_consumer: applies the messages of a bus to a projection. It needs no store of patra's: only
 * the database of the projection's tables, the sink.
 *
 *      poll ── read ── inbox, rows: one transaction ── acknowledge
 *
 * A bus delivers again what it does not know to be settled. The inbox remembers the ids of events
 * that were applied, in the transaction that applied them, so each takes effect once; they are
 * forgotten after BUS_INBOX_KEEP_US, which must be longer than the bus keeps messages unsettled.
 * Order. Consumers of one projection write one after the other (a lock in the sink). A row keeps
 * the higher version, whatever the order of delivery; partial events need a bus that keeps it.
 *
 * How far it is. Beside the rows stands, per lane, how many events were applied and which was the
 * newest (port/store_bus_offset.h); it says that it is alive while it runs (ing_reader). Every
 * BUS_REPORT_US the log has how many events a second it applies, and what waits on the bus.
 *
 * An event at fault is found by halving the batch. It is given back to the bus while the bus says
 * that it was delivered less than attempts_max times; then, or where the bus does not count, it is
 * a dead letter, and acknowledged. A sink that is out of reach is waited for; meanwhile messages
 * are given back. One that a person must mend (L4) ends the run.
 */
#ifndef PATRA_ENGINE_CONSUME_BUS_CONSUMER_H
#define PATRA_ENGINE_CONSUME_BUS_CONSUMER_H

#include "base/instant.h"
#include "base/log.h"
#include "core/retry.h"
#include "engine/consume/target.h"
#include "engine/message/wire.h"
#include "port/bus.h"
#include "port/clock.h"
#include "port/random.h"
#include "port/store_parked.h"

#define BUS_INBOX_KEEP_US (14 * 24 * US_PER_HOUR)
#define BUS_REPORT_US US_PER_MINUTE

struct bus_consumer_parts { /* all must outlive it */
    struct store *sink;
    struct bus *bus; /* its calls connect; nobody has subscribed yet */
    struct clock *clock;
    struct random_source *random;
    struct log *log; /* NULL: none */
    int wake_fd;     /* readable: end; CLOCK_NO_WAKE: none */
    struct consume_target target;
};

struct bus_consumer_settings {
    struct offset_key key;     /* of its dead letters; the subscription is the group of the bus */
    struct str offsets;        /* BUS/NAME: of its offsets */
    struct str owner;          /* no other reader has it */
    struct wire_settings wire; /* carrier and codec of the bus */
    int64_t messages_max;      /* polled at once, and unsettled */
    int64_t bytes_max;
    int64_t attempts_max; /* 0: it is given back for ever */
    int64_t poll_us;      /* how long a poll waits */
    bool is_draining;     /* ends when a poll brings nothing, and nothing waits */
};

struct bus_consumer_total {
    int64_t applied;  /* events */
    int64_t repeated; /* that had been applied before */
    int64_t returned; /* given back to the bus */
    int64_t dead;
};

/* Until it is stopped, or nothing is left. *total may be NULL. */
bool bus_consumer_run(const struct bus_consumer_parts *parts,
                      const struct bus_consumer_settings *settings,
                      struct bus_consumer_total *total, struct error *err) MUST_CHECK;

#endif
