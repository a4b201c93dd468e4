/* notifier: tells the sessions of other processes what happened in this one.
 *
 *      commits      | ||||| |        |
 *      sent         ^   ^   ^        ^         the first at once, then one in NOTIFIER_EVERY_US
 *
 * However many commits there are, their number does not matter to others: one note says that there
 * is something. A server puts the commits of all who notify in one queue, so there are few.
 *
 * Every WAKE_PROBE_EVERY_US it also sends a probe to each channel that this process has waiters on:
 * a waiter that does not hear it is deaf (engine/wake/wake.h). It must be another session than
 * the waiter's: a pooler may answer a session with its own notes and never with those of others.
 *
 * A store that is out of reach is tried again; who waits in other processes polls meanwhile. A
 * store that sends no notes (SQLite) needs no notifier.
 */
#ifndef PATRA_ENGINE_WAKE_NOTIFIER_H
#define PATRA_ENGINE_WAKE_NOTIFIER_H

#include "engine/wake/wake.h"

#define NOTIFIER_EVERY_US (10 * US_PER_MS)

struct notifier_parts { /* all must outlive it */
    struct wake *wake;
    struct store *store; /* its own session */
    struct clock *clock;
    int stop_fd; /* readable: end; CLOCK_NO_WAKE: none */
};

struct notifier;
bool notifier_open(struct notifier **notifier, const struct notifier_parts *parts,
                   struct error *err) MUST_CHECK;
void notifier_close(struct notifier *notifier); /* accepts NULL */

/* Sends what is due. *next_us (monotonic) is when something will be, unless something happens
 * before. */
void notifier_turn(struct notifier *notifier, int64_t *next_us);

/* Turns until it is stopped. */
void notifier_run(struct notifier *notifier);

#endif
