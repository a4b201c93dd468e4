/* Sessions on a PostgreSQL database: opening, transactions, locks. */
#include "adapter/postgres/postgres.h"

#include <stdlib.h>
#include <string.h>

enum { SCRATCH_MAX = 512 << 20 };

/* Explicit, because a server may have other defaults. */
static const char BEGIN_WRITE[] = "BEGIN ISOLATION LEVEL READ COMMITTED READ WRITE";
static const char BEGIN_READ[] = "BEGIN ISOLATION LEVEL REPEATABLE READ READ ONLY";

static bool postgres_begin(struct sql_session *session, bool for_write, struct error *err)
{
    return postgres_run_text(postgres_session_of(session), for_write ? BEGIN_WRITE : BEGIN_READ,
                             err);
}

static void postgres_rollback(struct sql_session *session)
{
    struct error ignored; /* without a connection the server has rolled back by itself */

    (void)!postgres_run_text(postgres_session_of(session), "ROLLBACK", &ignored);
}

/* The server rolls back at the COMMIT of a failed transaction and reports no error, but the status
 * ROLLBACK: that must not be taken for a commit. When the connection is lost during COMMIT, the
 * outcome is unknown. */
static bool postgres_commit(struct sql_session *session, struct error *err)
{
    struct postgres_session *postgres = postgres_session_of(session);
    PGresult *result;
    bool ok;

    postgres_gather(postgres);
    result = postgres_collect(postgres, PQsendQuery(postgres->connection, "COMMIT"));
    ok = PQresultStatus(result) == PGRES_COMMAND_OK;

    if (ok && strcmp(PQcmdStatus(result), "COMMIT") != 0)
        ok = error_set(err, ERROR_FATAL, "store.statement",
                       "the transaction was rolled back: a statement in it had failed");
    else if (!ok && !postgres_error_set(postgres, result, err) &&
             strcmp(err->code, "store.lost") == 0)
        err->code = "store.commit_unknown";
    PQclear(result);
    return ok;
}

static const char LOCK[] = "SELECT pg_advisory_xact_lock(:key)";

static bool postgres_lock(struct sql_session *session, struct str name, struct error *err)
{
    struct statement *st = statement_of(&session->store, LOCK);
    uint64_t hash = UINT64_C(0xcbf29ce484222325); /* FNV-1a: the same in every process */

    for (size_t i = 0; i < name.len; i++)
        hash = (hash ^ (unsigned char)name.data[i]) * UINT64_C(0x100000001b3);
    bind_i64(st, ":key", (int64_t)hash);
    return statement_run(st, NULL, err);
}

static bool postgres_reconnect(struct sql_session *session, struct error *err)
{
    return postgres_connect(postgres_session_of(session), err);
}

static bool postgres_run_script(struct sql_session *session, const char *sql, struct error *err)
{
    return postgres_run_text(postgres_session_of(session), sql, err);
}

static void postgres_close(struct sql_session *session)
{
    struct postgres_session *postgres = postgres_session_of(session);

    sql_session_release(session);
    pump_release(&postgres->pump);
    PQfinish(postgres->connection);
    arena_release(&postgres->scratch);
    postgres_hosts_release(&postgres->hosts);
    free(postgres->dsn);
    free(postgres);
}

static const struct sql_driver DRIVER;

static bool open_session(const struct postgres_options *options, struct sql_session **session,
                         struct error *err)
{
    struct postgres_session *postgres;

    if (!postgres_dsn_check(options->dsn, err))
        return false;
    postgres = calloc(1, sizeof(*postgres));
    if (postgres == NULL || (postgres->dsn = strdup(options->dsn)) == NULL) {
        free(postgres);
        return error_set(err, ERROR_TRANSIENT, "store.full", "no memory for a session");
    }
    postgres->busy_timeout_us = options->busy_timeout_us;
    sql_session_init(&postgres->sql, &DRIVER);
    postgres->sql.is_sink = options->is_sink;
    postgres->sql.store.wake = &POSTGRES_WAKE;
    arena_init(&postgres->scratch, SCRATCH_MAX);
    if (!postgres_connect(postgres, err)) {
        postgres_close(&postgres->sql);
        return error_wrap(err, "open the database");
    }
    *session = &postgres->sql;
    return true;
}

static bool postgres_another(struct sql_session *session, struct sql_session **other,
                             struct error *err)
{
    const struct postgres_session *postgres = postgres_session_of(session);

    return open_session(
        &(struct postgres_options){
            .dsn = postgres->dsn,
            .busy_timeout_us = postgres->busy_timeout_us,
            .is_sink = session->is_sink,
        },
        other, err);
}

static const struct sql_driver DRIVER = {
    .dialect = &POSTGRES_DIALECT,
    .close = postgres_close,
    .another = postgres_another,
    .reconnect = postgres_reconnect,
    .begin = postgres_begin,
    .commit = postgres_commit,
    .rollback = postgres_rollback,
    .lock = postgres_lock,
    .run_script = postgres_run_script,
    .start = postgres_start,
    .step = postgres_step,
    .end = postgres_end,
    .send = postgres_send,
    .settle = postgres_settle,
    .begin_ahead = postgres_begin_ahead,
    .drop_ahead = postgres_drop_ahead,
    .forget = postgres_forget,
    .width = postgres_width,
    .name = postgres_name,
    .is_null = postgres_is_null,
    .i64 = postgres_i64,
    .real = postgres_real,
    .view = postgres_view,
};

bool postgres_store_open(const struct postgres_options *options, struct store **store,
                         struct error *err)
{
    struct sql_session *session;

    if (!open_session(options, &session, err))
        return false;
    *store = &session->store;
    return true;
}
