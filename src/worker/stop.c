/* SIGTERM, SIGINT and SIGHUP, taken by a thread and passed on as eventfds. */
#include "worker/stop.h"

#include <errno.h>
#include <poll.h>
#include <stdatomic.h>
#include <stdint.h>
#include <string.h>
#include <sys/eventfd.h>
#include <sys/signalfd.h>
#include <time.h>
#include <unistd.h>

#include "base/instant.h"

static void raise_fd(int fd)
{
    const uint64_t one = 1;

    while (write(fd, &one, sizeof(one)) < 0 && errno == EINTR)
        continue;
}

static bool is_raised(int fd)
{
    struct pollfd poll_fd = { .fd = fd, .events = POLLIN };

    return poll(&poll_fd, 1, 0) == 1;
}

/* The store is given up so long after the first signal, if it does not answer. */
#define GIVE_UP_US (3 * US_PER_SECOND / 2)

static void stop_first(struct stop *stop)
{
    struct timespec now;
    int64_t none = 0;

    (void)clock_gettime(CLOCK_MONOTONIC, &now);
    (void)atomic_compare_exchange_strong(
        &stop->give_up_us, &none, now.tv_sec * US_PER_SECOND + now.tv_nsec / 1000 + GIVE_UP_US);
    raise_fd(stop->fd);
}

/* ---- the thread that takes signals ---- */

/* After the second signal the process has this long. */
enum { LAST_MS = 900 };

static void *take_signals(void *context)
{
    struct stop *stop = context;
    struct pollfd fds[2] = { { .fd = stop->signal_fd, .events = POLLIN },
                             { .fd = stop->end_fd, .events = POLLIN } };
    struct signalfd_siginfo info = { 0 };
    int taken = 0;

    for (;;) {
        const int ready = poll(fds, 2, taken < 2 ? -1 : LAST_MS);

        if (ready < 0)
            continue; /* EINTR */
        if (ready == 0)
            _exit(128 + (int)info.ssi_signo);
        if (fds[1].revents != 0)
            return NULL;
        if (read(stop->signal_fd, &info, sizeof(info)) != (ssize_t)sizeof(info))
            continue;
        taken++;
        if (taken == 1)
            stop_first(stop);
        else if (taken == 2)
            raise_fd(stop->now_fd);
        else
            _exit(128 + (int)info.ssi_signo);
    }
}

/* ---- opening and closing ---- */

static bool refused(const char *what, struct error *err)
{
    return error_set(err, ERROR_TRANSIENT, "stop.system", "%s: %s", what, strerror(errno));
}

static bool open_fds(struct stop *stop, const sigset_t *signals, struct error *err)
{
    stop->fd = eventfd(0, EFD_CLOEXEC);
    stop->now_fd = eventfd(0, EFD_CLOEXEC);
    stop->end_fd = eventfd(0, EFD_CLOEXEC);
    stop->signal_fd = signalfd(-1, signals, SFD_CLOEXEC);
    return (stop->fd >= 0 && stop->now_fd >= 0 && stop->end_fd >= 0 && stop->signal_fd >= 0) ||
           refused("eventfd, signalfd", err);
}

bool stop_open(struct stop *stop, struct error *err)
{
    const struct sigaction ignore = { .sa_handler = SIG_IGN };
    struct sigaction hangup;
    sigset_t signals;

    *stop = (struct stop){ .fd = -1, .now_fd = -1, .signal_fd = -1, .end_fd = -1 };
    (void)sigemptyset(&signals);
    (void)sigaddset(&signals, SIGTERM);
    (void)sigaddset(&signals, SIGINT);
    if (sigaction(SIGHUP, NULL, &hangup) == 0 && hangup.sa_handler != SIG_IGN)
        (void)sigaddset(&signals, SIGHUP);
    (void)pthread_sigmask(SIG_BLOCK, &signals, &stop->before);
    (void)sigaction(SIGPIPE, &ignore, &stop->pipe_before);
    if (open_fds(stop, &signals, err)) {
        errno = pthread_create(&stop->thread, NULL, take_signals, stop);
        stop->has_thread = errno == 0;
        if (stop->has_thread || refused("pthread_create", err))
            return true;
    }
    stop_close(stop);
    return false;
}

static void close_fd(int *fd)
{
    if (*fd >= 0)
        (void)close(*fd);
    *fd = -1;
}

static void log_silence(void *context, int64_t waited_us)
{
    log_event((struct log *)context, LOG_WARN, "database does not respond",
              LOG_I64("waited_us", waited_us));
}

void stop_watch_store(struct stop *stop, struct store *store, struct log *log)
{
    stop->patience = (struct store_patience){
        .stop_fd = stop->fd, .silent = log_silence, .context = log, .give_up_us = &stop->give_up_us
    };
    stop->store = store;
    store->patience = &stop->patience;
}

void stop_close(struct stop *stop)
{
    if (stop->store != NULL)
        stop->store->patience = NULL;
    stop->store = NULL;
    if (stop->has_thread) {
        raise_fd(stop->end_fd);
        (void)pthread_join(stop->thread, NULL);
    }
    stop->has_thread = false;
    close_fd(&stop->fd);
    close_fd(&stop->now_fd);
    close_fd(&stop->end_fd);
    close_fd(&stop->signal_fd);
    (void)sigaction(SIGPIPE, &stop->pipe_before, NULL);
    (void)pthread_sigmask(SIG_SETMASK, &stop->before, NULL);
}

void stop_request(struct stop *stop)
{
    stop_first(stop);
}

bool stop_is_requested(const struct stop *stop)
{
    return is_raised(stop->fd);
}

bool stop_is_urgent(const struct stop *stop)
{
    return is_raised(stop->now_fd);
}
