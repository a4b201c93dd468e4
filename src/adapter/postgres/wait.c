/* Waiting for the server, which may never answer:
 *
 *      sent ── 10 s ── silent() ── probe ── 10 s ── probe ...
 *        │                           ╰ nobody answers: given up
 *        ╰ told to stop ── 1.5 s ── given up
 *
 * A statement may take hours, so the question is whether the server answers somebody else. What is
 * given up is shut down, so that libpq itself finds the connection closed, whatever it was in the
 * middle of. A server that was only stopped finds the same when it goes on. */
#include <errno.h>
#include <inttypes.h>
#include <poll.h>
#include <stdatomic.h>
#include <sys/socket.h>
#include <time.h>

#include "adapter/postgres/postgres.h"
#include "base/instant.h"

#define SILENCE_US (10 * US_PER_SECOND)
#define PROBE_US (5 * US_PER_SECOND)
#define STOP_US (1500 * US_PER_MS)
#define LOOK_US (100 * US_PER_MS)

int64_t postgres_now_us(void)
{
    struct timespec now;

    (void)clock_gettime(CLOCK_MONOTONIC, &now);
    return now.tv_sec * US_PER_SECOND + now.tv_nsec / 1000;
}

static const struct store_patience *patience_of(const struct postgres_session *postgres)
{
    return postgres->sql.store.patience;
}

bool postgres_is_told_to_stop(const struct postgres_session *postgres)
{
    const struct store_patience *patience = patience_of(postgres);
    struct pollfd fd = { .fd = patience != NULL ? patience->stop_fd : -1, .events = POLLIN };

    return fd.fd >= 0 && poll(&fd, 1, 0) == 1;
}

/* ---- connecting ---- */

/* A process that stops waits no longer than this for a server, however often it is asked. */
static int64_t until_of(struct postgres_session *postgres, int64_t until_us)
{
    const int64_t now_us = postgres_now_us();

    if (!postgres_is_told_to_stop(postgres))
        return until_us;
    if (postgres->stop_us == 0)
        postgres->stop_us = patience_of(postgres)->give_up_us != NULL
                                ? atomic_load(patience_of(postgres)->give_up_us)
                                : now_us + STOP_US;
    return postgres->stop_us < until_us ? postgres->stop_us : until_us;
}

bool postgres_wait_socket(struct postgres_session *postgres, int socket, short events,
                          int64_t until_us)
{
    for (;;) {
        struct pollfd fd = { .fd = socket, .events = events };
        const int64_t left_us = until_of(postgres, until_us) - postgres_now_us();

        if (left_us <= 0)
            return false;
        if (poll(&fd, 1, (int)((left_us < LOOK_US ? left_us : LOOK_US) / US_PER_MS) + 1) > 0)
            return true;
    }
}

/* ---- results ---- */

static void give_up(struct postgres_session *postgres)
{
    postgres->has_given_up = true;
    (void)shutdown(PQsocket(postgres->connection), SHUT_RDWR);
    (void)PQconsumeInput(postgres->connection);
}

/* The server was silent. Whoever runs the process hears of it, once for each wait. */
static void tell(const struct postgres_session *postgres, int64_t waited_us)
{
    const struct store_patience *patience = patience_of(postgres);

    if (patience != NULL && patience->silent != NULL)
        patience->silent(patience->context, waited_us);
}

/* What is sent must leave first: with a statement that the server does not read, nothing comes. */
static bool is_ready(struct postgres_session *postgres)
{
    (void)PQflush(postgres->connection);
    return PQstatus(postgres->connection) == CONNECTION_BAD || PQisBusy(postgres->connection) == 0;
}

static void wait_for_result(struct postgres_session *postgres)
{
    const int64_t begun_us = postgres_now_us();
    int64_t silent_us = begun_us + SILENCE_US;

    while (!is_ready(postgres)) {
        if (postgres_wait_socket(postgres, PQsocket(postgres->connection), POLLIN, silent_us)) {
            if (PQconsumeInput(postgres->connection) == 0)
                return;
            continue;
        }
        if (!postgres_is_told_to_stop(postgres)) {
            tell(postgres, postgres_now_us() - begun_us);
            silent_us = postgres_now_us() + SILENCE_US;
            if (postgres_answers(postgres, postgres_now_us() + PROBE_US))
                continue;
        }
        give_up(postgres);
        return;
    }
}

PGresult *postgres_result(struct postgres_session *postgres)
{
    if (postgres->connection != NULL)
        wait_for_result(postgres);
    return PQgetResult(postgres->connection);
}

PGresult *postgres_collect(struct postgres_session *postgres, int is_sent)
{
    PGresult *last = NULL, *result;

    if (is_sent != 1)
        return NULL;
    while ((result = postgres_result(postgres)) != NULL) {
        PQclear(last);
        last = result;
        if (PQstatus(postgres->connection) == CONNECTION_BAD)
            break;
    }
    return last;
}
