/* What is due, and when. */
#include "engine/wake/notifier.h"

#include <errno.h>
#include <stdlib.h>
#include <string.h>
#include <sys/epoll.h>
#include <unistd.h>

#include "engine/session/store_retry.h"
#include "engine/wake/wake_inside.h"

/* Between attempts at a store that is out of reach. */
#define RETRY_US US_PER_SECOND

struct notifier {
    struct notifier_parts parts;
    struct follower follower; /* of OUTBOX */
    int epoll_fd;
    struct store_retry retry;
    bool has_sent;
    int64_t sent_us;  /* monotonic, as the others */
    int64_t retry_us; /* not before */
    int64_t probe_us; /* when the next probes are due */
};

static bool watch(const struct notifier *n, int fd)
{
    struct epoll_event event = { .events = EPOLLIN };

    return fd < 0 || epoll_ctl(n->epoll_fd, EPOLL_CTL_ADD, fd, &event) == 0;
}

bool notifier_open(struct notifier **out, const struct notifier_parts *parts, struct error *err)
{
    struct notifier *n = calloc(1, sizeof(*n));

    *out = NULL;
    if (n == NULL)
        return error_set(err, ERROR_TRANSIENT, "memory.system", "no memory for the notifier");
    n->parts = *parts;
    n->retry.store = parts->store;
    n->probe_us = clock_monotonic_us(parts->clock) + WAKE_PROBE_WAIT_US;
    n->epoll_fd = epoll_create1(EPOLL_CLOEXEC);
    if (!wake_follow(parts->wake, &n->follower, WAKE_OUTBOX, err)) {
        if (n->epoll_fd >= 0)
            (void)close(n->epoll_fd);
        free(n);
        return false;
    }
    if (n->epoll_fd >= 0 && watch(n, n->follower.fd) && watch(n, parts->stop_fd)) {
        *out = n;
        return true;
    }
    (void)error_set(err, ERROR_TRANSIENT, "wake.system", "epoll: %s", strerror(errno));
    notifier_close(n);
    return false;
}

void notifier_close(struct notifier *n)
{
    if (n == NULL)
        return;
    wake_leave(n->parts.wake, &n->follower);
    if (n->epoll_fd >= 0)
        (void)close(n->epoll_fd);
    free(n);
}

/* A session that was cut off while idle is found out by its next use: that one is repeated at once.
 */
static bool send(struct notifier *n, enum wake_channel channel, struct str text, int64_t now_us)
{
    struct error err;

    for (int attempt = 0; attempt < 2; attempt++) {
        if (store_retry_ready(&n->retry, &err) &&
            store_wake_send(n->parts.store, channel, text, &err))
            return true;
        if (!store_retry_failed(&n->retry, &err))
            break;
    }
    n->retry_us = now_us + RETRY_US;
    return false;
}

static int64_t due_us(const struct notifier *n)
{
    const int64_t sent_us = n->has_sent ? n->sent_us + NOTIFIER_EVERY_US : 0;

    return sent_us > n->retry_us ? sent_us : n->retry_us;
}

static void send_told(struct notifier *n, int64_t now_us)
{
    if (!atomic_exchange(&n->parts.wake->is_unsent, false))
        return;
    if (!send(n, WAKE_OUTBOX, STR(""), now_us)) {
        atomic_store(&n->parts.wake->is_unsent, true);
        return;
    }
    n->has_sent = true;
    n->sent_us = clock_monotonic_us(n->parts.clock);
}

/* The count first: a waiter may hear it before this function returns. */
static void send_probe(struct notifier *n, enum wake_channel channel, int64_t now_us)
{
    struct probe *probe = &n->parts.wake->probes[channel];
    const int64_t count = atomic_load(&probe->count) + 1;
    char text[WAKE_TEXT_MAX];

    if (atomic_load(&probe->waiters) == 0)
        return;
    wake_probe_text(n->parts.wake, count, text);
    atomic_store(&probe->sent_us, INT64_MAX);
    atomic_store(&probe->count, count);
    if (send(n, channel, str_of(text), now_us))
        atomic_store(&probe->sent_us, clock_monotonic_us(n->parts.clock));
}

void notifier_turn(struct notifier *n, int64_t *next_us)
{
    const int64_t now_us = clock_monotonic_us(n->parts.clock);

    (void)follower_answer(&n->follower);
    if (now_us >= due_us(n))
        send_told(n, now_us);
    if (now_us >= n->probe_us && now_us >= n->retry_us) {
        n->probe_us = now_us + WAKE_PROBE_EVERY_US;
        for (int i = 0; i < WAKE_CHANNELS; i++)
            send_probe(n, (enum wake_channel)i, now_us);
    }
    *next_us = n->probe_us > n->retry_us ? n->probe_us : n->retry_us;
    if (atomic_load(&n->parts.wake->is_unsent) && due_us(n) < *next_us)
        *next_us = due_us(n);
}

void notifier_run(struct notifier *n)
{
    int64_t next_us;

    while (clock_sleep_us(n->parts.clock, 0, n->parts.stop_fd)) {
        notifier_turn(n, &next_us);
        (void)clock_sleep_until_us(n->parts.clock, next_us, n->epoll_fd);
    }
}
