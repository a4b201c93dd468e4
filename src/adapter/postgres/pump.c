/* Receiving ahead: a thread that has the connection until the owner of the session wants it back. */
#include "adapter/postgres/pump.h"

#include <poll.h>
#include <signal.h>
#include <sys/eventfd.h>
#include <unistd.h>

/* ---- the thread ---- */

static bool is_under_way(PGconn *connection)
{
    return PQstatus(connection) == CONNECTION_OK && PQisBusy(connection) == 1;
}

/* Until the result is whole, the connection is lost, or the bell rings. */
static void receive(PGconn *connection, int bell)
{
    while (is_under_way(connection)) {
        struct pollfd fds[] = { { .fd = bell, .events = POLLIN },
                                { .fd = PQsocket(connection), .events = POLLIN } };

        if (poll(fds, 2, -1) > 0 && (fds[0].revents != 0 || PQconsumeInput(connection) == 0))
            return;
    }
}

static void *work(void *context)
{
    struct pump *pump = context;

    (void)pthread_mutex_lock(&pump->mutex);
    while (!pump->is_ending) {
        PGconn *connection = pump->connection;

        if (connection == NULL) {
            (void)pthread_cond_wait(&pump->changed, &pump->mutex);
            continue;
        }
        (void)pthread_mutex_unlock(&pump->mutex);
        receive(connection, pump->bell);
        (void)pthread_mutex_lock(&pump->mutex);
        pump->connection = NULL;
        (void)pthread_cond_broadcast(&pump->changed);
    }
    (void)pthread_mutex_unlock(&pump->mutex);
    return NULL;
}

/* The new thread blocks all signals: another thread handles them. */
static bool start_thread(struct pump *pump)
{
    sigset_t all, old;
    bool is_started;

    (void)sigfillset(&all);
    (void)pthread_sigmask(SIG_SETMASK, &all, &old);
    is_started = pthread_create(&pump->thread, NULL, work, pump) == 0;
    (void)pthread_sigmask(SIG_SETMASK, &old, NULL);
    return is_started;
}

static bool make(struct pump *pump, struct error *err)
{
    *pump = (struct pump){ .bell = eventfd(0, EFD_CLOEXEC | EFD_NONBLOCK) };
    if (pump->bell < 0)
        goto fail;
    if (pthread_mutex_init(&pump->mutex, NULL) != 0)
        goto no_mutex;
    if (pthread_cond_init(&pump->changed, NULL) != 0)
        goto no_cond;
    if (!start_thread(pump))
        goto no_thread;
    pump->is_made = true;
    return true;
no_thread:
    (void)pthread_cond_destroy(&pump->changed);
no_cond:
    (void)pthread_mutex_destroy(&pump->mutex);
no_mutex:
    (void)close(pump->bell);
fail:
    *pump = (struct pump){ 0 };
    return error_set(err, ERROR_TRANSIENT, "store.full", "no thread to receive with");
}

/* ---- its owner ---- */

bool pump_start(struct pump *pump, PGconn *connection, struct error *err)
{
    if (!pump->is_made && !make(pump, err))
        return false;
    (void)pthread_mutex_lock(&pump->mutex);
    pump->connection = connection;
    (void)pthread_cond_broadcast(&pump->changed);
    (void)pthread_mutex_unlock(&pump->mutex);
    return true;
}

void pump_stop(struct pump *pump)
{
    uint64_t rung;

    if (!pump->is_made)
        return;
    (void)pthread_mutex_lock(&pump->mutex);
    if (pump->connection != NULL)
        (void)!write(pump->bell, &(uint64_t){ 1 }, sizeof(uint64_t));
    while (pump->connection != NULL)
        (void)pthread_cond_wait(&pump->changed, &pump->mutex);
    (void)!read(pump->bell, &rung, sizeof(rung));
    (void)pthread_mutex_unlock(&pump->mutex);
}

void pump_release(struct pump *pump)
{
    if (!pump->is_made)
        return;
    pump_stop(pump);
    (void)pthread_mutex_lock(&pump->mutex);
    pump->is_ending = true;
    (void)pthread_cond_broadcast(&pump->changed);
    (void)pthread_mutex_unlock(&pump->mutex);
    (void)pthread_join(pump->thread, NULL);
    (void)pthread_cond_destroy(&pump->changed);
    (void)pthread_mutex_destroy(&pump->mutex);
    (void)close(pump->bell);
    *pump = (struct pump){ 0 };
}
