/* ram_bus: a bus in RAM that fails on demand.
 *
 *      struct ram_bus *server      what arrived, in order, from all who publish
 *      ram_bus_connect()           a handle for a relay; any number
 *
 * It keeps every arrival, so a test can say what arrived twice, late, or never. It demands what
 * port/bus.h asks of callers: each key once per call, a fence for each lane. With a fence, it
 * remembers the epoch and the last message of each lane, and refuses what comes of an older epoch.
 */
#ifndef PATRA_TEST_SUPPORT_RAM_BUS_H
#define PATRA_TEST_SUPPORT_RAM_BUS_H

#include "port/bus.h"
#include "port/clock.h"

enum { RAM_BUS_KEY_MAX = 64 };

struct ram_arrival {
    char event_id[40];
    char key[RAM_BUS_KEY_MAX];
    int64_t version;
    int64_t lane;
    int64_t epoch;
};

struct ram_bus_faults { /* of thousand messages, or calls */
    int drop_ack;       /* kept, and nobody hears of it: the call fails with bus.timeout */
    int duplicate;      /* arrives twice */
    int retry;          /* this message alone, not kept: BUS_RETRY */
    int fail;           /* the call, after some messages */
    int stall;          /* the call waits until its time is over, then fails; needs a clock */
    int garbage;        /* the answer makes no sense: L1 bus.answer, nothing is known */
};

struct ram_bus;

struct ram_bus *ram_bus_new(uint64_t seed, struct clock *clock); /* the clock may be NULL */
void ram_bus_free(struct ram_bus *server);

struct bus *ram_bus_connect(struct ram_bus *server);

void ram_bus_set_faults(struct ram_bus *server, const struct ram_bus_faults *faults);
void ram_bus_set_down(struct ram_bus *server, bool is_down);        /* all calls fail: bus.lost */
void ram_bus_set_down_until(struct ram_bus *server, int64_t at_us); /* by its clock */
void ram_bus_set_fenced(struct ram_bus *server, bool has_fence);    /* false at first */

/* Messages of keys that contain this are refused; NULL: none. `version`: only from this one on. */
void ram_bus_refuse(struct ram_bus *server, const char *part, int64_t version);

/* Called in the middle of each publish call: others may work while this one waits. */
void ram_bus_on_publish(struct ram_bus *server, void (*call)(void *context), void *context);

size_t ram_bus_count(const struct ram_bus *server);
const struct ram_arrival *ram_bus_arrivals(const struct ram_bus *server);
void ram_bus_clear(struct ram_bus *server); /* forgets what arrived */

int64_t ram_bus_calls(const struct ram_bus *server); /* to publish, also those that failed */

/* How a caller broke a promise; NULL: it did not. */
const char *ram_bus_complaint(const struct ram_bus *server);

#endif
