/* wake: what waits for events is woken when there are some, in this process and in others.
 *
 *      a commit with events ──▶ wake_tell(OUTBOX) ──▶ waiters of this process, at once
 *                                     ╰──▶ notifier ──▶ store ──▶ waiters of other processes
 *      the sequencer's append ──▶ wake_tell(STREAM) ──▶ waiters of this process
 *                        ╰──────────────────────▶ store ──▶ waiters of other processes
 *
 * A process has one struct wake. store->listener of its sessions is wake_listener(), so every
 * commit that wrote events tells it; telling costs a mutex, and a write to the eventfd of each
 * waiter that has noticed the one before. Nothing is sent inside a batch's transaction.
 *
 * A thread that waits has a waiter:
 *
 *      if (!waiter_open(&waiter, &parts, err)) ...
 *      while (waiter_wait(waiter, pause_us) != WAITER_STOPPED) {
 *          ... look; a pause that doubles from 5 ms to 1 s while nothing is found ...
 *      }
 *      waiter_close(waiter);
 *
 * What happened before waiter_wait() returns is visible to what the caller looks at after it;
 * what happens while the caller looks ends the next wait at once. So a caller need not look
 * again before it waits. A waiter listens with the session of its thread, which must be idle, and
 * listens again after that session was reconnected: an error of the store is not told here, the
 * caller's next call has it.
 *
 * Nothing depends on being woken: a wait ends after pause_us at the latest. While a waiter is deaf
 * (the notifier's probe was not heard within WAKE_PROBE_WAIT_US: a pooler that hands sessions
 * around, a standby), after WAKE_DEAF_US.
 *
 * Threads. A waiter is one thread's. Everything else may be called by any thread.
 */
#ifndef PATRA_ENGINE_WAKE_WAKE_H
#define PATRA_ENGINE_WAKE_WAKE_H

#include "base/attr.h"
#include "base/instant.h"
#include "base/log.h"
#include "port/clock.h"
#include "port/random.h"
#include "port/store_wake.h"

#define WAKE_PROBE_EVERY_US (30 * US_PER_SECOND)
#define WAKE_PROBE_WAIT_US (2 * US_PER_SECOND)
#define WAKE_DEAF_US (50 * US_PER_MS)

/* ---- of a process ---- */

struct wake;

/* The random number in its probes keeps processes apart. */
bool wake_open(struct wake **wake, struct random_source *random, struct error *err) MUST_CHECK;
void wake_close(struct wake *wake); /* after its waiters; accepts NULL */

/* What store->listener is to be. */
struct store_listener *wake_listener(struct wake *wake);

/* Wakes the waiters of this process; OUTBOX also lets the notifier send. Accepts NULL. */
void wake_tell(struct wake *wake, enum wake_channel channel);

/* At the end of a process: sends what no notifier has sent, if anything. Accepts NULL for both. */
void wake_flush(struct wake *wake, struct store *store);

/* ---- of a thread ---- */

struct waiter_parts {    /* all must outlive it */
    struct wake *wake;   /* NULL: none; it polls, and hears what other processes send */
    struct store *store; /* the thread's session */
    struct clock *clock;
    struct log *log; /* NULL: none */
    enum wake_channel channel;
    int stop_fd; /* readable: end; CLOCK_NO_WAKE: none */
};

enum waiter_end {
    WAITER_STOPPED,
    WAITER_WOKEN,
    WAITER_TIME, /* pause_us, or less, has passed */
};

struct waiter;
bool waiter_open(struct waiter **waiter, const struct waiter_parts *parts,
                 struct error *err) MUST_CHECK;
void waiter_close(struct waiter *waiter); /* accepts NULL */

/* The session must be idle. A pause of 0 still tells whether to stop. */
enum waiter_end waiter_wait(struct waiter *waiter, int64_t pause_us);

/* For one that has nothing to look at (another one holds its lease): only time or the end. False:
 * stopped. What is heard meanwhile is forgotten. */
bool waiter_sleep(struct waiter *waiter, int64_t pause_us);

bool waiter_is_deaf(const struct waiter *waiter);

/* For a thread that waits elsewhere, for its bus: readable when waiter_wait() may end before its
 * time. Valid until the next call of the session. */
int waiter_fd(struct waiter *waiter);

#endif
