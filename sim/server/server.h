/* server: sockets, threads and connections of the simulator.
 *
 * It has up to three listeners: plain HTTP, HTTPS, and "the other host", a second address that only
 * faulty links and redirects point to. Port 0 takes a free one.
 */
#ifndef PATRA_SIM_SERVER_SERVER_H
#define PATRA_SIM_SERVER_SERVER_H

#include <openssl/ssl.h>

#include "base/error.h"
#include "sim/server/handler.h"

enum server_listener { LISTENER_HTTP, LISTENER_HTTPS, LISTENER_OTHER, LISTENER_COUNT };

struct server_options {
    const char *address;       /* "127.0.0.1" */
    const char *other_address; /* of LISTENER_OTHER: differs, for clients that compare host names */
    int ports[LISTENER_COUNT]; /* -1: no such listener */
    SSL_CTX *tls;              /* for LISTENER_HTTPS; not owned */
};

struct server;

/* Binds the listeners and sets the handler's base URLs; serves nothing yet. The handler must
 * outlive the server. */
bool server_open(const struct server_options *options, struct handler *handler,
                 struct server **server, struct error *err) MUST_CHECK;
int server_port(const struct server *server, enum server_listener listener); /* -1: none */

bool server_start(struct server *server, struct error *err) MUST_CHECK;

/* Accepts no more connections, closes idle ones, lets responses in progress finish for clients that
 * read quickly. */
void server_close(struct server *server); /* accepts NULL */

#endif
