/* bus_contract: the suite of promises in port/bus.h, run over every bus.
 *
 * bus_cases.c knows only the port; a bus_fixture_*.c file, linked into each program, starts the
 * server at the other end. What a bus cannot do by its nature is left out by its capabilities and
 * by the traits of its fixture; each case that is left out says so.
 */
#ifndef PATRA_TEST_BUS_CONTRACT_H
#define PATRA_TEST_BUS_CONTRACT_H

#include "port/bus.h"
#include "test.h"

enum bus_trait {
    BUS_CAN_STOP = 1 << 0,     /* bus_contract_stop(), bus_contract_start() */
    BUS_DIALS = 1 << 1,        /* bus_contract_open_at() */
    BUS_SETTLES_ONE = 1 << 2,  /* one message can be settled before those delivered ahead of it */
    BUS_HOLDS_SHORT = 1 << 3,  /* an unsettled message comes again after about a second */
    BUS_REFUSES_LARGE = 1 << 4 /* of bus_contract_large() bytes */
};

struct bus_fixture {
    const char *name;
    unsigned traits;
    size_t large;       /* a body of so many bytes is refused */
    const char *secret; /* the credential in use: in no error text; NULL: none */
};
extern const struct bus_fixture bus_fixture;

/* A bus of its own with nothing in it; the server is started by the first call. Skips the test,
 * with the reason, where the server is not installed. */
void bus_contract_begin(void);
void bus_contract_end(void);

/* A handle as another process would have it. The test closes it before bus_contract_end(). */
struct bus *bus_contract_open(void);

/* A handle of the same description, but to a server at this port of 127.0.0.1 (BUS_DIALS). */
struct bus *bus_contract_open_at(int port);

/* The server ends as by a crash, keeps what it acknowledged, and comes back (BUS_CAN_STOP). */
void bus_contract_stop(void);
void bus_contract_start(void);

/* For buses without BUS_READ: what the other end has received, in the order received, and
 * acknowledged. */
size_t bus_contract_received(struct arena *arena, struct bus_delivery **items);

#endif
