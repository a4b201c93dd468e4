/* Connecting to the server, and running SQL without parameters. */
#include <inttypes.h>
#include <poll.h>
#include <stdio.h>
#include <string.h>
#include <time.h>

#include "adapter/postgres/postgres.h"
#include "base/instant.h"

/* Long enough for a server that is busy or starting up. */
#define CONNECT_TIMEOUT_US (15 * US_PER_SECOND)

static void ignore_notice(void *context, const PGresult *result)
{
    (void)context;
    (void)result;
}

static int64_t monotonic_us(void)
{
    struct timespec now;

    (void)clock_gettime(CLOCK_MONOTONIC, &now);
    return now.tv_sec * US_PER_SECOND + now.tv_nsec / 1000;
}

/* False when the time is up. */
static bool wait_for_server(PGconn *connection, PostgresPollingStatusType step, int64_t until_us)
{
    struct pollfd fd = { .fd = PQsocket(connection),
                         .events = step == PGRES_POLLING_READING ? POLLIN : POLLOUT };
    const int64_t left_us = until_us - monotonic_us();

    return left_us > 0 && poll(&fd, 1, (int)(left_us / US_PER_MS) + 1) > 0;
}

/* Finds the SQLSTATE in "FATAL:  28P01: password authentication failed ...": libpq does not report
 * that of a refused connection in any other way. NULL when there was no message of the server. */
static const char *find_state(const char *message)
{
    const char *found = strstr(message, "FATAL:  ");

    return found != NULL && strlen(found) > 14 && found[13] == ':' ? found + 8 : NULL;
}

static bool refused(PGconn *connection, struct error *err)
{
    const char *message = PQerrorMessage(connection);
    const char *state = find_state(message);
    const char *name = "store.lost";
    enum error_level level = ERROR_TRANSIENT;
    struct str line = str_of(message);

    if (state != NULL)
        level = postgres_error_level(state, &name);
    else if (PQconnectionNeedsPassword(connection)) {
        level = ERROR_FATAL;
        name = "store.auth";
    }
    line = str_trim(str_cut(&line, '\n'));
    return error_set(err, level, name, "%.*s", STR_ARG(line));
}

/* A process that is stopped in the middle of a transaction (SIGSTOP, a paused machine) holds its
 * locks until it continues; the server ends its session after this time. It is less than the 10 s
 * that others wait for a lock (store_open.c), so that they get it rather than give up. patra itself
 * never works for more than a second between two statements. */
#define IDLE_IN_TRANSACTION_MS 8000

/* A batch of records is read by unnest(), which uses a temporary file if work_mem is too small. */
static bool configure(struct postgres_session *postgres, struct error *err)
{
    char settings[256];

    (void)snprintf(settings, sizeof(settings),
                   "SET timezone = 'UTC'; SET lock_timeout = %" PRId64
                   "; SET client_min_messages = warning; SET work_mem = '64MB'"
                   "; SET idle_in_transaction_session_timeout = %d",
                   postgres->busy_timeout_us / US_PER_MS, IDLE_IN_TRANSACTION_MS);
    return postgres_run_text(postgres, settings, err);
}

bool postgres_connect(struct postgres_session *postgres, struct error *err)
{
    const char *const keywords[] = { "dbname", "client_encoding", "fallback_application_name",
                                     NULL };
    const char *const values[] = { postgres->dsn, "UTF8", "patra", NULL };
    const int64_t until_us = monotonic_us() + CONNECT_TIMEOUT_US;
    PostgresPollingStatusType step = PGRES_POLLING_WRITING;
    PGconn *connection;

    PQfinish(postgres->connection);
    postgres->connection = connection = PQconnectStartParams(keywords, values, 1);
    postgres->connection_number++; /* nothing is prepared on it */
    postgres->sent_count = 0;
    if (connection == NULL)
        return error_set(err, ERROR_TRANSIENT, "store.full", "no memory for a connection");
    (void)PQsetNoticeReceiver(connection, ignore_notice, NULL);
    (void)PQsetErrorVerbosity(connection, PQERRORS_VERBOSE);
    while (PQstatus(connection) != CONNECTION_BAD && step != PGRES_POLLING_OK) {
        if (!wait_for_server(connection, step, until_us))
            return error_set(err, ERROR_TRANSIENT, "store.lost",
                             "the server did not respond within %" PRId64 " s",
                             CONNECT_TIMEOUT_US / US_PER_SECOND);
        step = PQconnectPoll(connection);
    }
    if (PQstatus(connection) != CONNECTION_OK)
        return refused(connection, err);
    (void)PQsetErrorVerbosity(connection, PQERRORS_DEFAULT);
    return configure(postgres, err);
}

bool postgres_run_text(struct postgres_session *postgres, const char *sql, struct error *err)
{
    PGresult *result = PQexec(postgres->connection, sql);
    const ExecStatusType status = PQresultStatus(result);
    const bool ok = status == PGRES_COMMAND_OK || status == PGRES_TUPLES_OK ||
                    postgres_error_set(postgres, result, err);

    PQclear(result);
    return ok;
}
