/* link: one connection to a NATS server at a time, replaced when it was lost.
 *
 *      caller ──▶ link_ready()      a dial thread tries the addresses in turn; the caller waits for
 *                                   it, for the deadline or for wake_fd, whichever comes first
 *      caller ──▶ link_wait()       until the library's threads put something into the queue
 *
 * The library may not reconnect by itself: it would send again what the relay counts as failed, go
 * to servers that nobody named, and keep credentials. Secrets are read for each dial and
 * overwritten when it ends.
 */
#ifndef PATRA_ADAPTER_NATS_LINK_H
#define PATRA_ADAPTER_NATS_LINK_H

#include "adapter/nats/queue.h"
#include "port/bus_parts.h"

struct nats_dial;

enum { LINK_INBOX_MAX = 80 };

struct nats_link {
    struct bus_parts parts;
    natsConnection *nc; /* NULL: none */
    natsSubscription *inbox;
    jsCtx *js;
    char prefix[LINK_INBOX_MAX]; /* of the subjects that answers come to, with the dot */
    struct nats_queue *queue;
    struct nats_dial *dial; /* under way; NULL: none */
    size_t turn;            /* which address the next dial begins with */
    int64_t made;           /* how many connections there were */
};

struct nats_deadline {
    int64_t at_us; /* monotonic */
    int wake_fd;
};

void nats_link_init(struct nats_link *link, const struct bus_parts *parts);
void nats_link_close(struct nats_link *link);

struct nats_deadline nats_link_deadline(struct nats_link *link, int64_t timeout_us, int wake_fd);

/* What is left, for calls that take milliseconds: at least 1. */
int64_t nats_link_left_ms(struct nats_link *link, const struct nats_deadline *deadline);

/* Returns with a connection, or fails as bus.h says. */
bool nats_link_ready(struct nats_link *link, const struct nats_deadline *deadline,
                     struct error *err) MUST_CHECK;

enum nats_news { NATS_NEWS, NATS_LATE, NATS_WOKEN };

/* News may be that the connection was lost: nats_link_is_lost(). */
enum nats_news nats_link_wait(struct nats_link *link, const struct nats_deadline *deadline);
bool nats_link_is_lost(struct nats_link *link);

/* Ends the connection; the next nats_link_ready() makes another. */
void nats_link_drop(struct nats_link *link);

#endif
