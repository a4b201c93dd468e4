/* postgres: the store in a PostgreSQL 15 database, shared by any number of processes and hosts.
 *
 * A session is one connection. When it is lost, the call fails (L1, store.lost), and so does every
 * later one until store_reconnect().
 */
#ifndef PATRA_ADAPTER_POSTGRES_POSTGRES_H
#define PATRA_ADAPTER_POSTGRES_POSTGRES_H

#include <libpq-fe.h>

#include "adapter/postgres/postgres_module.h"
#include "adapter/postgres/pump.h"
#include "adapter/sql/session.h"
#include "port/store_wake.h"

extern const struct migration_set POSTGRES_MIGRATIONS;
extern const struct migration_set POSTGRES_SINK_MIGRATIONS;
extern const struct dialect POSTGRES_DIALECT;
extern const struct store_wake_ops POSTGRES_WAKE;

/* Statements that were sent and whose results were not read yet. */
enum { POSTGRES_SENT_MAX = 128 };

struct postgres_sent {
    struct statement_send send;
    struct statement *prepared; /* what was sent prepares this statement; NULL: it runs one */
};

/* Lists of libpq, for its keywords; NULL: as the address has them. */
struct postgres_hosts {
    char *host;
    char *hostaddr;
    char *port;
};

struct postgres_session {
    struct sql_session sql; /* first */
    PGconn *connection;
    int64_t connection_number; /* from 1; increases with each reconnect */
    char *dsn;
    struct postgres_hosts hosts; /* the order in which they are tried */
    int64_t busy_timeout_us;
    int64_t listens_since[WAKE_CHANNELS]; /* the number of the connection; 0: never */
    struct arena scratch;                 /* for the values of one statement */
    struct postgres_sent sent[POSTGRES_SENT_MAX];
    int sent_count;
    struct statement *ahead; /* begun, its result not read from the connection; NULL: none */
    struct pump pump;        /* receives it meanwhile */
    int64_t stop_us;         /* monotonic: a process that stops waits until then; 0: not told yet */
    bool has_given_up;       /* this connection did not respond */
};

static inline struct postgres_session *postgres_session_of(struct sql_session *session)
{
    return (struct postgres_session *)session;
}

bool postgres_store_open(const struct postgres_options *options, struct store **store,
                         struct error *err) MUST_CHECK;

/* foreign.c */
bool postgres_foreign_open(const struct postgres_foreign_options *options,
                           struct foreign_outbox **foreign, struct error *err) MUST_CHECK;

/* connect.c */
bool postgres_connect(struct postgres_session *postgres, struct error *err) MUST_CHECK;
bool postgres_run_text(struct postgres_session *postgres, const char *sql,
                       struct error *err) MUST_CHECK;

/* hosts.c */
void postgres_hosts_turn(struct postgres_hosts *hosts,
                         PGconn *connection); /* begins with the next */
void postgres_hosts_release(struct postgres_hosts *hosts);

/* Whether the server of this connection answers a new one by then. */
bool postgres_answers(struct postgres_session *postgres, int64_t until_us);

/* wait.c: results, and how long they are waited for (store_patience). */
int64_t postgres_now_us(void); /* monotonic */
bool postgres_is_told_to_stop(const struct postgres_session *postgres);
/* False when the time is up. */
bool postgres_wait_socket(struct postgres_session *postgres, int socket, short events,
                          int64_t until_us);
/* PQgetResult(), of a server that may not answer. */
PGresult *postgres_result(struct postgres_session *postgres);
/* The last result of what was sent (PQsendQuery() and the like returned is_sent). NULL: nothing
 * was. */
PGresult *postgres_collect(struct postgres_session *postgres, int is_sent);

/* statement.c: the statement part of the driver. */
bool postgres_start(struct statement *st, struct error *err);
bool postgres_step(struct statement *st, bool *has_row, struct error *err);
int64_t postgres_end(struct statement *st);
bool postgres_send(struct statement *st, const struct statement_send *send, struct error *err);
bool postgres_settle(struct sql_session *session, bool *as_expected, struct error *err);
bool postgres_begin_ahead(struct statement *st, struct error *err);
void postgres_drop_ahead(struct statement *st);
void postgres_forget(struct statement *st);

/* Reads the result of what was begun ahead: to be called before anything else is sent. */
void postgres_gather(struct postgres_session *postgres);
int postgres_width(const struct statement *st);
const char *postgres_name(const struct statement *st, int column);
bool postgres_is_null(const struct statement *st, int column);
int64_t postgres_i64(const struct statement *st, int column);
double postgres_real(const struct statement *st, int column);
struct str postgres_view(struct statement *st, int column);

/* error.c: the only file that knows SQLSTATEs. `state` has five characters. */
enum error_level postgres_error_level(const char *state, const char **name);
bool postgres_error_set(struct postgres_session *postgres, const PGresult *result,
                        struct error *err);
bool postgres_dsn_check(const char *dsn, struct error *err);
bool postgres_redact(const PGconn *connection, struct error *err); /* false */
bool postgres_is_taken(const PGresult *result, const char *key); /* it violated this unique index */

#endif
