/* thread: starting one, with an error (L1 workers.thread) that says why it could not be. */
#ifndef PATRA_WORKER_THREAD_H
#define PATRA_WORKER_THREAD_H

#include <pthread.h>

#include "base/attr.h"
#include "base/error.h"

bool thread_start(pthread_t *thread, void *(*run)(void *context), void *context,
                  struct error *err) MUST_CHECK;

#endif
