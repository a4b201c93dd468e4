/* pump: a thread that receives the result of a statement while the owner of the session does
 * something else.
 *
 * The kernel holds some 200 KB of what a server has sent. A server with a larger result waits until
 * somebody reads, so that a statement which was begun ahead would only begin.
 *
 *      pump_start ── the connection is the thread's ── pump_stop ── it is the caller's again
 *
 * What has not come by then, the caller receives.
 */
#ifndef PATRA_ADAPTER_POSTGRES_PUMP_H
#define PATRA_ADAPTER_POSTGRES_PUMP_H

#include <libpq-fe.h>
#include <pthread.h>

#include "base/error.h"

struct pump {
    bool is_made; /* with the first pump_start(): most sessions need none */
    pthread_t thread;
    pthread_mutex_t mutex;
    pthread_cond_t changed;
    int bell;           /* an eventfd: give the connection back */
    PGconn *connection; /* what it receives from; NULL: it rests */
    bool is_ending;
};

/* `connection` has a statement under way. */
bool pump_start(struct pump *pump, PGconn *connection, struct error *err) MUST_CHECK;
void pump_stop(struct pump *pump); /* may be called at any time */
void pump_release(struct pump *pump);

#endif
