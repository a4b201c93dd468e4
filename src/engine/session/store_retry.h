/* store_retry: repeats calls to a store whose session comes and goes.
 *
 *      struct store_retry retry = { .store = store };
 *
 *      while (!call(store, err))                               wait and repeat
 *          if (!store_retry_wait(&retry, &backoff, err))
 *              return false;
 *
 *      store_retry_ready(&retry, err) && call(store, err)      one attempt per turn, repeated by
 *      store_retry_failed(&retry, err)                         the caller's own schedule
 *
 * A call that failed because the session was lost is repeated with a new session. Every write has
 * a key that makes repeating it harmless (port/store.h).
 *
 * Threads: as the store, one at a time.
 */
#ifndef PATRA_ENGINE_SESSION_STORE_RETRY_H
#define PATRA_ENGINE_SESSION_STORE_RETRY_H

#include "base/attr.h"
#include "port/clock.h"
#include "port/random.h"
#include "port/store.h"

struct store_retry {
    struct store *store;
    bool must_reconnect; /* the session was lost and no new one could be opened yet */
    unsigned failures;   /* waited for so far */
};

/* Before a call: opens a new session when the last one was lost. */
bool store_retry_ready(struct store_retry *retry, struct error *err) MUST_CHECK;

/* After a call failed: rolls back, and remembers when the session was lost. True when it was: the
 * same call may succeed at once with a new session. */
bool store_retry_failed(struct store_retry *retry, const struct error *err);

/* How long to wait, and who hears of it. Delays double from the first to the last; half of each is
 * random. */
struct store_backoff {
    int64_t delay_min_us;
    int64_t delay_max_us;
    struct clock *clock;
    struct random_source *random;
    int wake_fd; /* CLOCK_NO_WAKE: none */
    /* Called before each wait; may be NULL. */
    void (*report)(void *context, const struct error *err);
    void *context;
};

/* After a call failed: waits, and opens a new session when the last one was lost. True when the
 * call should be repeated. False when that would not help (the failure is not transient, or not the
 * store's) or wake_fd became readable; err is then the failure to report. */
bool store_retry_wait(struct store_retry *retry, const struct store_backoff *backoff,
                      struct error *err) MUST_CHECK;

#endif
