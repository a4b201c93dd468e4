#include "adapter/postgres/postgres.h"

#include <stdlib.h>
#include <string.h>

enum { TEXTS_MAX = 1 << 20, SCRATCH_MAX = 512 << 20 };

/* Said outright, since a server may have other defaults. */
static const char BEGIN_WRITE[] = "BEGIN ISOLATION LEVEL READ COMMITTED READ WRITE";
static const char BEGIN_READ[] = "BEGIN ISOLATION LEVEL REPEATABLE READ READ ONLY";

static bool postgres_begin(struct store *store, bool for_write, struct error *err)
{
    return postgres_run_text(postgres_store_of(store), for_write ? BEGIN_WRITE : BEGIN_READ, err) ||
           error_wrap(err, "begin");
}

static void postgres_rollback(struct store *store)
{
    struct error ignored; /* without a connection the server has rolled back by itself */

    (void)!postgres_run_text(postgres_store_of(store), "ROLLBACK", &ignored);
}

/* A transaction that failed answers COMMIT with ROLLBACK and no error: that must not pass for a
 * commit. And when the connection breaks while COMMIT is under way, nobody here knows the end. */
static bool postgres_commit(struct store *store, struct error *err)
{
    struct postgres_store *postgres = postgres_store_of(store);
    PGresult *result = PQexec(postgres->connection, "COMMIT");
    bool ok = PQresultStatus(result) == PGRES_COMMAND_OK;

    if (ok && strcmp(PQcmdStatus(result), "COMMIT") != 0)
        ok = error_set(err, ERROR_FATAL, "store.statement",
                       "commit of a transaction that had failed");
    else if (!ok)
        (void)postgres_error_set(postgres, result, err);
    if (!ok && strcmp(err->code, "store.lost") == 0)
        err->code = "store.commit_unknown";
    PQclear(result);
    return ok || error_wrap(err, "commit");
}

enum { LOCK_KEY = 1 };
static const char LOCK[] = "SELECT pg_advisory_xact_lock($1)";

static bool postgres_lock(struct store *store, struct str name, struct error *err)
{
    uint64_t hash = UINT64_C(0xcbf29ce484222325); /* FNV-1a: the same in every process */
    struct query q;

    for (size_t i = 0; i < name.len; i++)
        hash = (hash ^ (unsigned char)name.data[i]) * UINT64_C(0x100000001b3);
    query_init(&q, postgres_store_of(store), LOCK);
    set_i64(&q, LOCK_KEY, (int64_t)hash);
    return query_run(&q, NULL, err) || error_wrap(err, "lock %.*s", STR_ARG(name));
}

static bool postgres_reconnect(struct store *store, struct error *err)
{
    return postgres_connect(postgres_store_of(store), err) || error_wrap(err, "reconnect");
}

static void postgres_close(struct store *store)
{
    struct postgres_store *postgres = postgres_store_of(store);

    PQfinish(postgres->connection);
    arena_release(&postgres->scratch);
    arena_release(&postgres->texts);
    free(postgres->dsn);
    free(postgres);
}

static bool postgres_another(struct store *store, struct store **session, struct error *err)
{
    const struct postgres_store *postgres = postgres_store_of(store);

    return postgres_store_open(
        &(struct postgres_options){
            .dsn = postgres->dsn,
            .busy_timeout_us = postgres->busy_timeout_us,
        },
        session, err);
}

static const struct store_ops POSTGRES_STORE = {
    .close = postgres_close,
    .another = postgres_another,
    .reconnect = postgres_reconnect,
    .begin = postgres_begin,
    .commit = postgres_commit,
    .rollback = postgres_rollback,
    .lock = postgres_lock,
    .migrate = postgres_migrate,
    .schema = postgres_schema,
};

bool postgres_store_open(const struct postgres_options *options, struct store **store,
                         struct error *err)
{
    struct postgres_store *postgres = calloc(1, sizeof(*postgres));

    if (postgres == NULL || (postgres->dsn = strdup(options->dsn)) == NULL) {
        free(postgres);
        return error_set(err, ERROR_TRANSIENT, "store.full", "no memory for a session");
    }
    postgres->busy_timeout_us = options->busy_timeout_us;
    postgres->store = (struct store){
        .ops = &POSTGRES_STORE,
        .registry = &POSTGRES_REGISTRY,
        .schedule = &POSTGRES_SCHEDULE,
        .plan = &POSTGRES_PLAN,
        .task = &POSTGRES_TASK,
        .cursor = &POSTGRES_CURSOR,
        .pause = &POSTGRES_PAUSE,
        .signal = &POSTGRES_SIGNAL,
        .record = &POSTGRES_RECORD,
        .quarantine = &POSTGRES_QUARANTINE,
        .outbox = &POSTGRES_OUTBOX,
        .lease = &POSTGRES_LEASE,
        .run = &POSTGRES_RUN,
        .rate = &POSTGRES_RATE,
        .status = &POSTGRES_STATUS,
    };
    arena_init(&postgres->texts, TEXTS_MAX);
    arena_init(&postgres->scratch, SCRATCH_MAX);
    if (!postgres_connect(postgres, err)) {
        postgres_close(&postgres->store);
        return error_wrap(err, "open the database");
    }
    *store = &postgres->store;
    return true;
}
