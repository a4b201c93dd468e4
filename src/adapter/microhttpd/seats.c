/* The threads that answer, and the jobs that wait for one. */
#include <assert.h>
#include <stdlib.h>
#include <time.h>

#include "adapter/microhttpd/server.h"
#include "base/instant.h"

struct seat {
    struct web_server *server;
    int number;
};

/* ---- lists; the lock is held ---- */

static void add_job(struct seats *seats, struct exchange *exchange)
{
    exchange->next = NULL;
    if (seats->first == NULL)
        seats->first = exchange;
    else
        seats->last->next = exchange;
    seats->last = exchange;
    seats->waiting++;
}

static struct exchange *take_resting(struct seats *seats)
{
    struct exchange *exchange = seats->resting;

    if (exchange != NULL)
        seats->resting = exchange->next;
    return exchange;
}

/* All rest equally long, so the first is due first. */
static void wake_due(struct seats *seats, int64_t now_us)
{
    while (seats->resting != NULL && seats->resting->rests_until_us <= now_us)
        add_job(seats, take_resting(seats));
}

static void wait_for_job(struct seats *seats)
{
    struct timespec until;

    if (seats->resting == NULL) {
        (void)pthread_cond_wait(&seats->changed, &seats->lock);
        return;
    }
    until.tv_sec = seats->resting->rests_until_us / US_PER_SECOND;
    until.tv_nsec = seats->resting->rests_until_us % US_PER_SECOND * 1000;
    (void)pthread_cond_timedwait(&seats->changed, &seats->lock, &until);
}

/* ---- threads ---- */

static struct exchange *next_job(struct seats *seats)
{
    struct exchange *job;

    (void)pthread_mutex_lock(&seats->lock);
    for (;;) {
        wake_due(seats, deadline_clock_us());
        if (seats->first != NULL || seats->is_ending)
            break;
        wait_for_job(seats);
    }
    job = seats->first;
    if (job != NULL) {
        seats->first = job->next;
        seats->waiting--;
        seats->busy++;
    }
    (void)pthread_mutex_unlock(&seats->lock);
    return job;
}

static void job_done(struct seats *seats)
{
    (void)pthread_mutex_lock(&seats->lock);
    seats->busy--;
    (void)pthread_cond_broadcast(&seats->changed);
    (void)pthread_mutex_unlock(&seats->lock);
}

/* False: the server stops, and the connection must be let go. */
static bool rest(struct seats *seats, struct exchange *exchange)
{
    bool rests;

    (void)pthread_mutex_lock(&seats->lock);
    rests = !seats->is_closed;
    if (rests) {
        exchange->next = NULL;
        exchange->rests_until_us = deadline_clock_us() + WEB_PAUSE_US;
        if (seats->resting == NULL) {
            seats->resting = exchange;
            (void)pthread_cond_broadcast(&seats->changed); /* all wait until then at the latest */
        } else {
            seats->resting_last->next = exchange;
        }
        seats->resting_last = exchange;
    }
    (void)pthread_mutex_unlock(&seats->lock);
    return rests;
}

static void *sit(void *context)
{
    const struct seat seat = *(struct seat *)context;
    struct seats *seats = &seat.server->seats;
    struct exchange *job;

    free(context);
    while ((job = next_job(seats)) != NULL) {
        struct MHD_Connection *connection = job->connection;

        if (exchange_work(job, seat.number) || !rest(seats, job))
            MHD_resume_connection(connection); /* from here on the job may be gone */
        job_done(seats);
    }
    return NULL;
}

bool seats_start(struct seats *seats, int count, struct web_server *server, struct error *err)
{
    pthread_condattr_t attr;

    assert(count >= 1 && count <= WEB_SEATS_MAX);
    (void)pthread_mutex_init(&seats->lock, NULL);
    (void)pthread_condattr_init(&attr);
    (void)pthread_condattr_setclock(&attr, CLOCK_MONOTONIC);
    (void)pthread_cond_init(&seats->changed, &attr);
    (void)pthread_condattr_destroy(&attr);
    for (; seats->count < count; seats->count++) {
        struct seat *seat = malloc(sizeof(*seat));

        if (seat == NULL)
            return error_set(err, ERROR_TRANSIENT, "memory.system", "no memory for a thread");
        *seat = (struct seat){ server, seats->count };
        if (pthread_create(&seats->threads[seats->count], NULL, sit, seat) != 0) {
            free(seat);
            return error_set(err, ERROR_TRANSIENT, "web.thread", "no thread could be started");
        }
    }
    return true;
}

bool seats_take(struct seats *seats, struct exchange *exchange, bool is_begun)
{
    bool taken;

    (void)pthread_mutex_lock(&seats->lock);
    taken = !seats->is_closed && (is_begun || seats->waiting < WEB_WAITING_MAX);
    if (taken) {
        MHD_suspend_connection(exchange->connection);
        add_job(seats, exchange);
        (void)pthread_cond_signal(&seats->changed);
    }
    (void)pthread_mutex_unlock(&seats->lock);
    return taken;
}

/* Streams that rest end: nothing of them is half sent. */
static void end_resting(struct seats *seats)
{
    struct exchange *exchange = seats->resting, *next;

    seats->resting = NULL;
    for (; exchange != NULL; exchange = next) {
        next = exchange->next;
        exchange->is_end = true;
        MHD_resume_connection(exchange->connection);
    }
}

void seats_close(struct seats *seats)
{
    (void)pthread_mutex_lock(&seats->lock);
    seats->is_closed = true;
    end_resting(seats);
    while (seats->waiting > 0 || seats->busy > 0)
        (void)pthread_cond_wait(&seats->changed, &seats->lock);
    (void)pthread_mutex_unlock(&seats->lock);
}

void seats_stop(struct seats *seats)
{
    if (seats->count > 0) {
        (void)pthread_mutex_lock(&seats->lock);
        seats->is_ending = true;
        (void)pthread_cond_broadcast(&seats->changed);
        (void)pthread_mutex_unlock(&seats->lock);
    }
    for (int i = 0; i < seats->count; i++)
        (void)pthread_join(seats->threads[i], NULL);
    *seats = (struct seats){ 0 };
}
