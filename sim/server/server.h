/* server: sockets, threads and connections of the simulator.
 *
 * It has up to three doors: plain HTTP, HTTPS, and "the other host", a second address to which a
 * client is only ever lured. A port of 0 takes a free one.
 */
#ifndef PATRA_SIM_SERVER_SERVER_H
#define PATRA_SIM_SERVER_SERVER_H

#include <openssl/ssl.h>

#include "base/error.h"
#include "sim/server/handler.h"

enum server_listener { LISTENER_HTTP, LISTENER_HTTPS, LISTENER_OTHER, LISTENER_COUNT };

struct server_options {
    const char *address; /* "127.0.0.1" */
    const char
        *other_address; /* of LISTENER_OTHER: another one, for clients that tell hosts by name */
    int ports[LISTENER_COUNT]; /* -1: this door stays shut */
    SSL_CTX *tls;              /* for LISTENER_HTTPS; not owned */
};

struct server;

/* Binds the doors, and sets the site's bases to what they became; serves nothing yet. The site must
 * outlive the server. */
bool server_open(const struct server_options *options, struct handler *handler,
                 struct server **server, struct error *err) MUST_CHECK;
int server_port(const struct server *server, enum server_listener listener); /* -1 when shut */

bool server_start(struct server *server, struct error *err) MUST_CHECK;

/* No new connections; idle ones end, replies under way finish if their readers are quick. */
void server_close(struct server *server); /* accepts NULL */

#endif
