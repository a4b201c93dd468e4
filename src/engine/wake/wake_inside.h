/* wake_inside: what wake.c, waiter.c and notifier.c share. */
#ifndef PATRA_ENGINE_WAKE_WAKE_INSIDE_H
#define PATRA_ENGINE_WAKE_WAKE_INSIDE_H

#include <pthread.h>
#include <stdatomic.h>

#include "engine/wake/wake.h"

/* A thread that is woken by an eventfd of its own. */
struct follower {
    int fd;
    atomic_bool is_rung; /* since it was answered: ringing again needs no system call */
    enum wake_channel channel;
    struct follower *next;
};

struct wake {
    struct store_listener listener; /* first */
    uint64_t number;                /* of this process, in its probes */
    atomic_bool is_unsent;          /* others have not heard of OUTBOX yet */
    pthread_mutex_t guard;          /* protects `followers` */
    struct follower *followers;

    struct probe { /* the last one of a channel, by the notifier */
        _Atomic int64_t count;
        _Atomic int64_t sent_us; /* monotonic; INT64_MAX: it was not sent */
        atomic_int waiters;      /* that want it */
    } probes[WAKE_CHANNELS];
};

bool wake_follow(struct wake *wake, struct follower *follower, enum wake_channel channel,
                 struct error *err) MUST_CHECK;
void wake_leave(struct wake *wake, struct follower *follower);

/* Whether it was rung since the last answer. What happened before is seen by what is read after. */
bool follower_answer(struct follower *follower);

/* "probe:7f3a...:12"; others of the channel are told apart by it. */
void wake_probe_text(const struct wake *wake, int64_t count, char text[WAKE_TEXT_MAX]);
/* False: it is not a probe of this process. */
bool wake_probe_read(const struct wake *wake, const char *text, int64_t *count);
bool wake_text_is_probe(const char *text); /* of whichever process */

#endif
