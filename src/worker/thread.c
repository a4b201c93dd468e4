/* Starting threads. */
#include "worker/thread.h"

#include <string.h>

bool thread_start(pthread_t *thread, void *(*run)(void *context), void *context, struct error *err)
{
    const int failed = pthread_create(thread, NULL, run, context);

    return failed == 0 || error_set(err, ERROR_TRANSIENT, "workers.thread", "start a thread: %s",
                                    strerror(failed));
}
