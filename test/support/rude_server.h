/* rude_server: a TCP server that says something wrong, or nothing, to whoever connects. */
#ifndef PATRA_TEST_SUPPORT_RUDE_SERVER_H
#define PATRA_TEST_SUPPORT_RUDE_SERVER_H

#include "base/str.h"

enum rudeness {
    RUDE_GARBAGE, /* bytes that are no protocol, and keeps the connection */
    RUDE_STALL,   /* accepts, and is silent */
    RUDE_RESET,   /* accepts, waits for a byte or a moment, and resets */
    RUDE_CLOSE,   /* accepts, and closes */
    RUDE_SAYS,    /* sends a text of the test's, and is silent then */
};

struct rude_server;

/* `text` is for RUDE_SAYS and must outlive the server. */
struct rude_server *rude_server_start(enum rudeness rudeness, struct str text);
int rude_server_port(const struct rude_server *server);
void rude_server_stop(struct rude_server *server); /* accepts NULL */

#endif
