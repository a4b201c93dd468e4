/* Starting threads. */
#include "worker/thread.h"

#include <signal.h>
#include <string.h>

/* Signals are for the thread that takes them (stop.h), also before there is one: a thread that did
 * not block them would end the process by their default. */
bool thread_start(pthread_t *thread, void *(*run)(void *context), void *context, struct error *err)
{
    sigset_t all, before;
    int failed;

    (void)sigfillset(&all);
    (void)pthread_sigmask(SIG_SETMASK, &all, &before);
    failed = pthread_create(thread, NULL, run, context);
    (void)pthread_sigmask(SIG_SETMASK, &before, NULL);
    return failed == 0 || error_set(err, ERROR_TRANSIENT, "workers.thread", "start a thread: %s",
                                    strerror(failed));
}
