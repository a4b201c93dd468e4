/* A thread's wait: for its eventfd, the session's socket, the end of the process, or time. An epoll
 * stands for all three, because a clock sleeps on one file descriptor. */
#include <errno.h>
#include <inttypes.h>
#include <poll.h>
#include <stdlib.h>
#include <string.h>
#include <sys/epoll.h>
#include <unistd.h>

#include "engine/wake/wake.h"
#include "engine/wake/wake_inside.h"

/* How often a store that sends no notes is asked, while a longer pause lasts: some microseconds
 * each time. */
#define ASK_US (50 * US_PER_MS)

struct waiter {
    struct waiter_parts parts;
    struct follower follower;
    int epoll_fd;
    bool is_pushed;
    bool hears;          /* its session listens */
    int64_t probe_heard; /* of this process, the last one */
    bool is_deaf;
};

/* ---- opening and closing ---- */

static bool watch(struct waiter *w, int fd)
{
    struct epoll_event event = { .events = EPOLLIN };

    return fd < 0 || epoll_ctl(w->epoll_fd, EPOLL_CTL_MOD, fd, &event) == 0 ||
           (errno == ENOENT && epoll_ctl(w->epoll_fd, EPOLL_CTL_ADD, fd, &event) == 0);
}

bool waiter_open(struct waiter **out, const struct waiter_parts *parts, struct error *err)
{
    struct waiter *w = calloc(1, sizeof(*w));

    *out = NULL;
    if (w == NULL)
        return error_set(err, ERROR_TRANSIENT, "memory.system", "no memory to wait for events");
    w->parts = *parts;
    w->is_pushed = store_wake_is_pushed(parts->store);
    w->epoll_fd = epoll_create1(EPOLL_CLOEXEC);
    if (!wake_follow(parts->wake, &w->follower, parts->channel, err)) {
        if (w->epoll_fd >= 0)
            (void)close(w->epoll_fd);
        free(w);
        return false;
    }
    if (parts->wake != NULL)
        atomic_fetch_add(&parts->wake->probes[parts->channel].waiters, 1);
    *out = w;
    if (w->epoll_fd >= 0 && watch(w, w->follower.fd) && watch(w, parts->stop_fd))
        return true;
    (void)error_set(err, ERROR_TRANSIENT, "wake.system", "epoll: %s", strerror(errno));
    waiter_close(w);
    *out = NULL;
    return false;
}

void waiter_close(struct waiter *w)
{
    if (w == NULL)
        return;
    if (w->parts.wake != NULL)
        atomic_fetch_sub(&w->parts.wake->probes[w->parts.channel].waiters, 1);
    wake_leave(w->parts.wake, &w->follower);
    if (w->epoll_fd >= 0)
        (void)close(w->epoll_fd);
    free(w);
}

bool waiter_is_deaf(const struct waiter *w)
{
    return w->is_deaf;
}

/* ---- hearing ---- */

static struct probe *probe_of(const struct waiter *w)
{
    return w->parts.wake != NULL ? &w->parts.wake->probes[w->parts.channel] : NULL;
}

static void note_deafness(struct waiter *w, bool is_deaf)
{
    if (w->is_deaf == is_deaf)
        return;
    w->is_deaf = is_deaf;
    if (w->parts.log == NULL)
        return;
    if (is_deaf)
        log_event(w->parts.log, LOG_WARN, "notifications do not arrive, polling",
                  LOG_I64("everyUs", WAKE_DEAF_US),
                  LOG_STR("reason", STR("a pooler hands the session around, or the server is a "
                                        "standby: docs/scale-out.md")));
    else
        log_event(w->parts.log, LOG_INFO, "notifications arrive again",
                  LOG_I64("everyUs", WAKE_DEAF_US));
}

static bool is_told(struct waiter *w, const struct wake_note *note)
{
    int64_t count;

    if (note->has_channel && note->channel != w->parts.channel)
        return false;
    if (!wake_text_is_probe(note->text))
        return true;
    if (w->parts.wake != NULL && wake_probe_read(w->parts.wake, note->text, &count))
        w->probe_heard = count;
    return false;
}

/* A session that has just begun to listen has heard nothing of what was before: it counts as woken.
 */
static bool listen(struct waiter *w, bool *is_woken, struct error *err)
{
    const struct probe *probe = probe_of(w);
    const int64_t sent_before = probe != NULL ? atomic_load(&probe->count) : 0;
    bool is_new;

    w->hears = store_wake_listen(w->parts.store, w->parts.channel, &is_new, err);
    if (!w->hears || !is_new)
        return w->hears;
    *is_woken = true;
    w->probe_heard = sent_before;
    return true;
}

/* Takes all notes. A failure counts as woken: the caller's next call meets the reason. */
static bool hear(struct waiter *w)
{
    struct wake_note note;
    struct error ignored;
    bool is_woken = false;
    bool has_note = true;

    if (!listen(w, &is_woken, &ignored))
        return false; /* the session is lost: only the caller can reconnect */
    while (has_note) {
        if (!store_wake_next(w->parts.store, &note, &has_note, &ignored)) {
            w->hears = false;
            return true;
        }
        is_woken = (has_note && is_told(w, &note)) || is_woken;
        has_note = has_note && w->is_pushed; /* a file is asked once */
    }
    return is_woken;
}

/* After hear(): what was sent and not heard by now does not arrive. */
static void judge_hearing(struct waiter *w, int64_t now_us)
{
    const struct probe *probe = probe_of(w);
    int64_t sent_us;

    if (probe == NULL || !w->is_pushed || !w->hears)
        return;
    sent_us = atomic_load(&probe->sent_us);
    if (w->probe_heard >= atomic_load(&probe->count))
        note_deafness(w, false);
    else if (sent_us != INT64_MAX && now_us - sent_us >= WAKE_PROBE_WAIT_US)
        note_deafness(w, true);
}

/* ---- waiting ---- */

static bool is_stopped(const struct waiter *w)
{
    struct pollfd stop = { .fd = w->parts.stop_fd, .events = POLLIN };

    return w->parts.stop_fd >= 0 && poll(&stop, 1, 0) == 1;
}

/* When a wait that began now would be looked after again. */
static int64_t next_look_us(const struct waiter *w, int64_t now_us, int64_t until_us)
{
    const int64_t ask_us = now_us + ASK_US;
    const int64_t deaf_us = now_us + WAKE_PROBE_WAIT_US;
    const int64_t look_us = w->is_pushed ? deaf_us : ask_us;

    return until_us < look_us ? until_us : look_us;
}

static bool sleep_until(struct waiter *w, int64_t until_us)
{
    if (w->hears)
        (void)watch(w, store_wake_fd(w->parts.store));
    return clock_sleep_until_us(w->parts.clock, until_us, w->epoll_fd);
}

enum waiter_end waiter_wait(struct waiter *w, int64_t pause_us)
{
    int64_t now_us = clock_monotonic_us(w->parts.clock);
    const int64_t until_us = now_us + pause_us;

    for (;;) {
        const bool was_rung = follower_answer(&w->follower);
        const bool was_told = hear(w);

        judge_hearing(w, now_us);
        if (is_stopped(w))
            return WAITER_STOPPED;
        if (was_rung || was_told)
            return WAITER_WOKEN;
        if (now_us >= until_us)
            return WAITER_TIME;
        if (w->is_deaf && until_us - now_us > WAKE_DEAF_US) {
            (void)sleep_until(w, now_us + WAKE_DEAF_US);
            return is_stopped(w) ? WAITER_STOPPED : WAITER_TIME;
        }
        (void)sleep_until(w, next_look_us(w, now_us, until_us));
        now_us = clock_monotonic_us(w->parts.clock);
    }
}

bool waiter_sleep(struct waiter *w, int64_t pause_us)
{
    const bool ended = clock_sleep_us(w->parts.clock, pause_us, w->parts.stop_fd);

    (void)follower_answer(&w->follower);
    (void)hear(w); /* notes would heap up */
    return ended;
}

int waiter_fd(struct waiter *w)
{
    if (w->hears)
        (void)watch(w, store_wake_fd(w->parts.store));
    return w->epoll_fd;
}
