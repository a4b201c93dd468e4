/* live: pages that are open hear when something has changed (server-sent events).
 *
 *      GET /v1/events/changes?seen=7
 *      event: change          at once where the state is not the one that was seen, and whenever
 *      data: 8                it changes
 *      :                      else every LIVE_IDLE_US, so that dead connections are noticed
 *
 * Whoever hears it loads its page again. The state is a number that grows when a digest of the
 * store's moving parts changes: queue, tasks under way, cursors, pauses, stream, subscriptions. The
 * digest is made at most every LIVE_LOOK_US, by one seat for all clients, and by nobody when there
 * are none. So a client costs a connection and nothing else.
 */
#ifndef PATRA_SERVE_LIVE_H
#define PATRA_SERVE_LIVE_H

#include <pthread.h>

#include "data/hash.h"
#include "serve/call.h"

enum { LIVE_CLIENTS_MAX = 512 };
#define LIVE_LOOK_US (2 * INT64_C(1000000))
#define LIVE_IDLE_US (15 * INT64_C(1000000))

struct live {
    pthread_mutex_t lock;
    int clients;
    bool is_looking;
    bool has_digest;
    int64_t looked_us; /* monotonic */
    int64_t version;
    struct hash_sum digest;
};

void live_init(struct live *live);
void live_release(struct live *live);

int64_t live_version(struct live *live);

/* Answers the call with the stream. "live.full" (L1) where there are LIVE_CLIENTS_MAX. */
bool live_open(struct call *call, int64_t seen, struct error *err) MUST_CHECK;

#endif
