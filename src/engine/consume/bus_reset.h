/* bus_reset: a person moves a projection that is fed from a bus, forth or back.
 *
 *      bus_reset_plan()   what it would mean
 *      bus_reset_run()    does it
 *
 * A bus goes by the instant at which a message was published; an event is found by the time in its
 * id (a UUID of version 7), so some that were published soon before it come again too. Back: events
 * received since are forgotten in the inbox, so that they are applied again; rows keep the higher
 * version, so that what is right stays. Forth: what is in between is not delivered.
 *
 * Nobody may read the group meanwhile: the bus would move for one reader and not for another.
 */
#ifndef PATRA_ENGINE_CONSUME_BUS_RESET_H
#define PATRA_ENGINE_CONSUME_BUS_RESET_H

#include "base/arena.h"
#include "base/attr.h"
#include "engine/lanes/offset_reset.h"
#include "port/bus.h"

struct bus_reset {
    struct store *sink;
    struct bus *bus; /* nobody has subscribed yet */
    struct str bus_name;
    struct str projection;
    enum reset_kind kind; /* not RESET_POSITION */
    int64_t at_us;
    struct str event_id;
    struct str reason;
    struct str by;
    int64_t now_us;
};

struct bus_reset_plan {
    int64_t to_us;
    int64_t again;      /* events that were received since; forth: 0 */
    struct bus_lag lag; /* RESET_LATEST: what would not be delivered */
};

/* L2: "bus.seek" when the bus cannot be moved, "offset.read" when a consumer reads it, and
 * "offset.event" for an event that was not received or whose id has no time. */
bool bus_reset_plan(const struct bus_reset *reset, struct arena *arena, struct bus_reset_plan *plan,
                    struct error *err) MUST_CHECK;
bool bus_reset_run(const struct bus_reset *reset, struct arena *arena,
                   const struct bus_reset_plan *plan, struct error *err) MUST_CHECK;

/* BUS/NAME: whose offsets they are (port/store_bus_offset.h). */
struct str bus_offset_name(struct arena *arena, struct str bus, struct str projection);

#endif
