/* dial: a thread that connects to NATS, so that nobody has to wait for it.
 *
 * libnats connects while its caller waits, and cannot be interrupted. The dial has copies of all it
 * needs, so it may be abandoned: then it ends by itself, at the latest after the time for a
 * connection, and closes what it has opened.
 */
#ifndef PATRA_ADAPTER_NATS_DIAL_H
#define PATRA_ADAPTER_NATS_DIAL_H

#include "adapter/nats/queue.h"
#include "port/bus_parts.h"

struct nats_dial;

/* Reads the secrets and starts the thread. It tries the addresses in turn, beginning with the
 * turn-th. L4: a secret is missing, or a setting is wrong. */
bool nats_dial_begin(const struct bus_parts *parts, size_t turn, struct nats_dial **dial,
                     struct error *err) MUST_CHECK;

/* Readable when it has ended. */
int nats_dial_fd(const struct nats_dial *dial);

/* Waits for its end and frees it. The queue gets what the connection brings. */
bool nats_dial_end(struct nats_dial *dial, natsConnection **nc, struct nats_queue **queue,
                   struct error *err) MUST_CHECK;

void nats_dial_abandon(struct nats_dial *dial); /* accepts NULL */

#endif
