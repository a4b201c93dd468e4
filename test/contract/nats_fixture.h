/* nats_fixture: what tests of NATS alone need of its fixture. */
#ifndef PATRA_TEST_NATS_FIXTURE_H
#define PATRA_TEST_NATS_FIXTURE_H

#include "nats_server.h"

struct nats_servers *nats_fixture_servers(void);
const char *nats_fixture_addresses(void); /* as the list of a bus file */

/* Until the stream answers again. */
void nats_fixture_await_leader(void);

#endif
