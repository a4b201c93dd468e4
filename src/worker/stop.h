/* stop: SIGTERM and SIGINT as something that threads can wait for.
 *
 *      the first     stop.fd becomes readable: finish the batch, give leases back, end
 *      the second    stop.now_fd becomes readable: give up the requests under way, too
 *      the third     the process ends at once; its leases run out by themselves
 *
 * From stop_open on both signals are blocked in the calling thread and in all it starts; a thread
 * of stop's own takes them. So it is opened before any other thread, and by one part of a program.
 * SIGPIPE is ignored meanwhile: a reader that goes away shall not end a harvest half way.
 */
#ifndef PATRA_WORKER_STOP_H
#define PATRA_WORKER_STOP_H

#include <pthread.h>
#include <signal.h>
#include <stdbool.h>

#include "base/error.h"

struct stop {
    int fd;     /* both eventfds, never drained; -1 in the zero value's stead */
    int now_fd; /* ... */
    int signal_fd;
    int end_fd;
    pthread_t thread;
    bool has_thread;
    sigset_t before;
    struct sigaction pipe_before;
};

bool stop_open(struct stop *stop, struct error *err) MUST_CHECK;
void stop_close(struct stop *stop); /* signals are taken as before; accepts what failed to open */

/* As the first signal does: for a program that decides by itself. */
void stop_ask(struct stop *stop);

bool stop_is_asked(const struct stop *stop);
bool stop_is_urgent(const struct stop *stop);

#endif
