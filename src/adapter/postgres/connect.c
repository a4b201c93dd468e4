/* Connecting to the server, and running SQL without parameters. */
#include <inttypes.h>
#include <poll.h>
#include <stdio.h>
#include <string.h>

#include "adapter/postgres/postgres.h"
#include "base/instant.h"

/* Long enough for a server that is busy or starting up. */
#define CONNECT_TIMEOUT_US (15 * US_PER_SECOND)

static void ignore_notice(void *context, const PGresult *result)
{
    (void)context;
    (void)result;
}

/* False when the time is up. */
static bool wait_for_server(struct postgres_session *postgres, PGconn *connection,
                            PostgresPollingStatusType step, int64_t until_us)
{
    return postgres_wait_socket(postgres, PQsocket(connection),
                                step == PGRES_POLLING_READING ? POLLIN : POLLOUT, until_us);
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
    (void)error_set(err, level, name, "%.*s", STR_ARG(line));
    return postgres_redact(connection, err);
}

/* A process that is stopped in the middle of a transaction (SIGSTOP, a paused machine) holds its
 * locks until it continues; the server ends its session after this time. It is less than the 10 s
 * that others wait for a lock (store_open.c), so that they get it rather than give up. patra itself
 * never works for more than a second between two statements. */
#define IDLE_IN_TRANSACTION_MS 8000

/* A batch of records is read by unnest(), which uses a temporary file if work_mem is too small. The
 * server overrates what statements on tables without statistics cost, and would compile them again
 * for each batch, which takes longer than running them. */
static bool configure(struct postgres_session *postgres, struct error *err)
{
    char settings[256];

    (void)snprintf(settings, sizeof(settings),
                   "SET timezone = 'UTC'; SET lock_timeout = %" PRId64
                   "; SET client_min_messages = warning; SET work_mem = '64MB'; SET jit = off"
                   "; SET idle_in_transaction_session_timeout = %d",
                   postgres->busy_timeout_us / US_PER_MS, IDLE_IN_TRANSACTION_MS);
    return postgres_run_text(postgres, settings, err);
}

/* libpq repeats what it cannot read, which is often a piece of a password. */
bool postgres_dsn_check(const char *dsn, struct error *err)
{
    char *ignored = NULL;
    PQconninfoOption *options = PQconninfoParse(dsn, &ignored);
    const bool ok = options != NULL;

    PQfreemem(ignored);
    PQconninfoFree(options);
    return ok || error_set(err, ERROR_REQUEST, "store.value",
                           "the address of the database cannot be read (it is not repeated here, "
                           "because it may hold a password): write it as "
                           "postgresql://user:password@host/db, with %%25 for %%, %%2F for /, %%40 "
                           "for @, %%3A for : and %%3F for ? in the password, or as "
                           "\"host=... dbname=... user=... password='...'\"");
}

/* A connection whose other end is gone without a word is noticed within half a minute, also while
 * nothing is sent. What the address says comes later and wins. */
static PGconn *start(const struct postgres_session *postgres, const struct postgres_hosts *hosts)
{
    static const char *const keywords[] = { "keepalives",
                                            "keepalives_idle",
                                            "keepalives_interval",
                                            "keepalives_count",
                                            "tcp_user_timeout",
                                            "dbname",
                                            "client_encoding",
                                            "fallback_application_name",
                                            "host",
                                            "hostaddr",
                                            "port",
                                            NULL };
    const char *const values[] = { "1",           "10",   "5",     "3",         "20000",
                                   postgres->dsn, "UTF8", "patra", hosts->host, hosts->hostaddr,
                                   hosts->port,   NULL };

    return PQconnectStartParams(keywords, values, 1);
}

/* False when the time is up; else it is open, or was refused. */
static bool finish(struct postgres_session *postgres, PGconn *connection, int64_t until_us)
{
    PostgresPollingStatusType step = PGRES_POLLING_WRITING;

    while (PQstatus(connection) != CONNECTION_BAD && step != PGRES_POLLING_OK) {
        if (!wait_for_server(postgres, connection, step, until_us))
            return false;
        step = PQconnectPoll(connection);
    }
    return true;
}

bool postgres_answers(struct postgres_session *postgres, int64_t until_us)
{
    const struct postgres_hosts here = { PQhost(postgres->connection),
                                         PQhostaddr(postgres->connection),
                                         PQport(postgres->connection) };
    PGconn *connection = start(postgres, &here);
    const bool is_there = connection != NULL && finish(postgres, connection, until_us);

    PQfinish(connection);
    return is_there;
}

bool postgres_connect(struct postgres_session *postgres, struct error *err)
{
    PGconn *connection;

    if (postgres->has_given_up)
        postgres_hosts_turn(&postgres->hosts, postgres->connection);
    pump_stop(&postgres->pump);
    PQfinish(postgres->connection);
    postgres->connection = connection = start(postgres, &postgres->hosts);
    postgres->connection_number++; /* nothing is prepared on it */
    postgres->sent_count = 0;
    postgres->ahead = NULL;
    postgres->has_given_up = false;
    if (connection == NULL)
        return error_set(err, ERROR_TRANSIENT, "store.full", "no memory for a connection");
    (void)PQsetNoticeReceiver(connection, ignore_notice, NULL);
    (void)PQsetErrorVerbosity(connection, PQERRORS_VERBOSE);
    if (!finish(postgres, connection, postgres_now_us() + CONNECT_TIMEOUT_US)) {
        postgres->has_given_up = true;
        return error_set(
            err, ERROR_TRANSIENT, "store.lost", "the server did not respond within %" PRId64 " s%s",
            CONNECT_TIMEOUT_US / US_PER_SECOND,
            postgres_is_told_to_stop(postgres) ? ", or not before the process ends" : "");
    }
    if (PQstatus(connection) != CONNECTION_OK)
        return refused(connection, err);
    (void)PQsetErrorVerbosity(connection, PQERRORS_DEFAULT);
    return configure(postgres, err);
}

bool postgres_run_text(struct postgres_session *postgres, const char *sql, struct error *err)
{
    PGresult *result;
    ExecStatusType status;
    bool ok;

    postgres_gather(postgres);
    result = postgres_collect(postgres, PQsendQuery(postgres->connection, sql));
    status = PQresultStatus(result);
    ok = status == PGRES_COMMAND_OK || status == PGRES_TUPLES_OK ||
         postgres_error_set(postgres, result, err);
    PQclear(result);
    return ok;
}
