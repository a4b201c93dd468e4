/* stop: SIGTERM, SIGINT and SIGHUP as file descriptors that threads can wait for.
 *
 *      the first     stop.fd becomes readable: finish the batch, give leases back, end
 *      the second    stop.now_fd becomes readable: also give up the requests under way; whatever
 * hangs, the process ends within a second; its leases expire the third     the process ends at once
 *
 * A SIGHUP that was ignored before (nohup) stays so. stop_open blocks the signals in the calling
 * thread and in all threads it starts, and starts a thread that takes them. So it must be called
 * before any other thread is started, and only once at a time. SIGPIPE is ignored meanwhile: a
 * reader that goes away must not end a harvest half way.
 */
#ifndef PATRA_WORKER_STOP_H
#define PATRA_WORKER_STOP_H

#include <pthread.h>
#include <signal.h>
#include <stdbool.h>
#include <stdint.h>

#include "base/error.h"
#include "base/log.h"
#include "port/store.h"

struct stop {
    int fd; /* an eventfd that is never drained, as now_fd is; -1: not open */
    int now_fd;
    int signal_fd;
    int end_fd;
    _Atomic int64_t give_up_us; /* monotonic: soon after the first signal; 0: there was none */
    pthread_t thread;
    bool has_thread;
    sigset_t before;
    struct sigaction pipe_before;
    struct store *store; /* that is watched; NULL: none */
    struct store_patience patience;
};

bool stop_open(struct stop *stop, struct error *err) MUST_CHECK;
void stop_close(struct stop *stop); /* restores the signal mask; accepts what failed to open */

/* Sessions of this store, and those made of it from now on, give up soon after the first signal; a
 * database that does not respond is logged. Until stop_close. */
void stop_watch_store(struct stop *stop, struct store *store, struct log *log);

/* What the first signal does, for a program that decides to stop. */
void stop_request(struct stop *stop);

bool stop_is_requested(const struct stop *stop);
bool stop_is_urgent(const struct stop *stop);

#endif
