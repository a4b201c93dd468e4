/* raw_server: a server that says exactly what a test wants it to say, byte by byte.
 *
 * It listens on a free port of 127.0.0.1. Each request that arrives, on any connection, takes
 * the next reply of the script, whose bytes are sent unchanged; then the connection is kept,
 * closed, reset, or left hanging. Requests are remembered as they came. When the script is used up,
 * requests are answered with status 599.
 */
#ifndef PATRA_TEST_SUPPORT_RAW_SERVER_H
#define PATRA_TEST_SUPPORT_RAW_SERVER_H

#include <stddef.h>

#include "base/str.h"

enum raw_end {
    RAW_KEEP,
    RAW_CLOSE,
    RAW_RESET,
    RAW_HANG, /* nothing more until the server is stopped or the client leaves */
};

struct raw_server;

struct raw_server *raw_server_start(void);
void raw_server_stop(struct raw_server *server); /* accepts NULL */
int raw_server_port(const struct raw_server *server);

/* Appends to the script; the bytes must outlive the server. */
void raw_server_reply(struct raw_server *server, struct str bytes, enum raw_end end);

size_t raw_server_connections(struct raw_server *server);
size_t raw_server_requests(struct raw_server *server);
/* Head and body as they came; lives until the server stops. */
struct str raw_server_request(struct raw_server *server, size_t index);

/* Returns when so many requests have arrived. */
void raw_server_await(struct raw_server *server, size_t requests);

/* A port on which nothing listens: it was free a moment ago. */
int raw_closed_port(void);
/* A socket that listens and never accepts, its queue full: connecting to it hangs. Closed by
 * raw_server_stop of no server: the caller closes *fds. */
int raw_deaf_port(int fds[4]);

#endif
