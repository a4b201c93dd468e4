#include <assert.h>
#include <inttypes.h>
#include <poll.h>
#include <stdio.h>
#include <string.h>
#include <time.h>

#include "adapter/postgres/postgres.h"
#include "base/instant.h"

/* To answer at all: a server that is busy or starting up takes its time. */
#define CONNECT_TIMEOUT_US (15 * US_PER_SECOND)

enum { NAME_BYTES = 32 };

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

/* False when the time is over. */
static bool wait_for_server(PGconn *connection, PostgresPollingStatusType step, int64_t until_us)
{
    struct pollfd fd = { .fd = PQsocket(connection),
                         .events = step == PGRES_POLLING_READING ? POLLIN : POLLOUT };
    const int64_t left_us = until_us - monotonic_us();

    return left_us > 0 && poll(&fd, 1, (int)(left_us / US_PER_MS) + 1) > 0;
}

/* "FATAL:  28P01: password authentication failed ...": the only way to learn the SQLSTATE of a
 * refused connection. NULL when the server said nothing. */
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

/* A process that was put to sleep (SIGSTOP, a paused machine) in the middle of a transaction holds
 * its locks for as long as it sleeps; the server ends its session after this. Between two
 * statements of ours there is work of a second at most. */
#define IDLE_IN_TRANSACTION_MS 15000

/* A batch of records passes through unnest(), which goes to a file when it does not fit. */
static bool configure(struct postgres_store *postgres, struct error *err)
{
    char settings[256];

    (void)snprintf(settings, sizeof(settings),
                   "SET timezone = 'UTC'; SET lock_timeout = %" PRId64
                   "; SET client_min_messages = warning; SET work_mem = '64MB'"
                   "; SET idle_in_transaction_session_timeout = %d",
                   postgres->busy_timeout_us / US_PER_MS, IDLE_IN_TRANSACTION_MS);
    return postgres_run_text(postgres, settings, err);
}

bool postgres_connect(struct postgres_store *postgres, struct error *err)
{
    const char *const keywords[] = { "dbname", "client_encoding", "fallback_application_name",
                                     NULL };
    const char *const values[] = { postgres->dsn, "UTF8", "patra", NULL };
    const int64_t until_us = monotonic_us() + CONNECT_TIMEOUT_US;
    PostgresPollingStatusType step = PGRES_POLLING_WRITING;
    PGconn *connection;

    PQfinish(postgres->connection);
    postgres->connection = connection = PQconnectStartParams(keywords, values, 1);
    memset(postgres->prepared, 0, sizeof(postgres->prepared));
    postgres->prepared_count = 0;
    if (connection == NULL)
        return error_set(err, ERROR_TRANSIENT, "store.full", "no memory for a connection");
    (void)PQsetNoticeReceiver(connection, ignore_notice, NULL);
    (void)PQsetErrorVerbosity(connection, PQERRORS_VERBOSE);
    while (PQstatus(connection) != CONNECTION_BAD && step != PGRES_POLLING_OK) {
        if (!wait_for_server(connection, step, until_us))
            return error_set(err, ERROR_TRANSIENT, "store.lost",
                             "no answer from the server within %" PRId64 " s",
                             CONNECT_TIMEOUT_US / US_PER_SECOND);
        step = PQconnectPoll(connection);
    }
    if (PQstatus(connection) != CONNECTION_OK)
        return refused(connection, err);
    (void)PQsetErrorVerbosity(connection, PQERRORS_DEFAULT);
    return configure(postgres, err);
}

/* The text's place among the prepared ones; *prepared tells whether it stands there already. */
static size_t place_of(struct postgres_store *postgres, const char *sql, bool *prepared)
{
    size_t i = (size_t)(((uintptr_t)sql >> 3) * UINT64_C(0x9e3779b97f4a7c15) >> 40);

    for (;; i++) {
        const size_t place = i % POSTGRES_STATEMENTS_MAX;

        *prepared = postgres->prepared[place] == sql;
        if (*prepared || postgres->prepared[place] == NULL)
            return place;
    }
}

static void name_of(size_t place, char name[NAME_BYTES])
{
    (void)snprintf(name, NAME_BYTES, "s%zu", place);
}

PGresult *postgres_prepare(struct query *q)
{
    struct postgres_store *postgres = q->owner;
    bool prepared;
    const size_t place = place_of(postgres, q->sql, &prepared);
    char name[NAME_BYTES];
    PGresult *result;

    if (prepared)
        return NULL;
    name_of(place, name);
    result = PQprepare(postgres->connection, name, q->sql, q->count, q->types);
    if (PQresultStatus(result) != PGRES_COMMAND_OK)
        return result;
    PQclear(result);
    assert(postgres->prepared_count < POSTGRES_STATEMENTS_MAX / 2);
    postgres->prepared[place] = q->sql;
    postgres->prepared_count++;
    return NULL;
}

PGresult *postgres_execute(struct query *q)
{
    PGresult *const failure = postgres_prepare(q);
    char name[NAME_BYTES];
    bool prepared;

    if (failure != NULL)
        return failure;
    name_of(place_of(q->owner, q->sql, &prepared), name);
    return PQexecPrepared(q->owner->connection, name, q->count, q->values, q->lengths, q->formats,
                          1);
}

bool postgres_send(struct query *q)
{
    char name[NAME_BYTES];
    bool prepared;

    name_of(place_of(q->owner, q->sql, &prepared), name);
    assert(prepared);
    return PQsendQueryPrepared(q->owner->connection, name, q->count, q->values, q->lengths,
                               q->formats, 1) == 1;
}

bool postgres_run_text(struct postgres_store *postgres, const char *sql, struct error *err)
{
    PGresult *result = PQexec(postgres->connection, sql);
    const ExecStatusType status = PQresultStatus(result);
    const bool ok = status == PGRES_COMMAND_OK || status == PGRES_TUPLES_OK ||
                    postgres_error_set(postgres, result, err);

    PQclear(result);
    return ok;
}
