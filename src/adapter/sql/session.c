/* The functions of struct store_ops for every database: each calls the driver. */
#include "adapter/sql/session.h"

#include <stdlib.h>

#include "adapter/sql/dictionary.h"
#include "adapter/sql/migrate.h"
#include "adapter/sql/payload.h"
#include "core/limits.h"

enum { TEXTS_MAX = 4 << 20, SCRATCH_MORE = 1 << 20 };

static void session_close(struct store *store)
{
    struct sql_session *session = sql_session_of(store);

    session->driver->close(session);
}

static bool session_another(struct store *store, struct store **other, struct error *err)
{
    struct sql_session *session = sql_session_of(store);
    struct sql_session *made;

    if (!session->driver->another(session, &made, err))
        return false;
    *other = &made->store;
    return true;
}

static bool session_reconnect(struct store *store, struct error *err)
{
    struct sql_session *session = sql_session_of(store);

    session->names = (struct session_names){ 0 };
    payload_forget(session);
    return session->driver->reconnect(session, err) || error_wrap(err, "reconnect");
}

static bool session_begin(struct store *store, bool for_write, struct error *err)
{
    struct sql_session *session = sql_session_of(store);

    return session->driver->begin(session, for_write, err) || error_wrap(err, "begin");
}

/* What a transaction added to the names of records is gone when it is. */
static void forget_names(struct sql_session *session)
{
    if (session->names.is_new)
        session->names = (struct session_names){ 0 };
}

static bool session_commit(struct store *store, struct error *err)
{
    struct sql_session *session = sql_session_of(store);
    const bool ok = session->driver->commit(session, err);

    if (!ok)
        forget_names(session);
    session->names.is_new = false;
    return ok || error_wrap(err, "commit");
}

static void session_rollback(struct store *store)
{
    struct sql_session *session = sql_session_of(store);

    forget_names(session);
    session->driver->rollback(session);
}

static bool session_lock(struct store *store, struct str name, struct error *err)
{
    struct sql_session *session = sql_session_of(store);

    return session->driver->lock(session, name, err) || error_wrap(err, "lock %.*s", STR_ARG(name));
}

static const struct store_ops STORE = {
    .close = session_close,
    .another = session_another,
    .reconnect = session_reconnect,
    .begin = session_begin,
    .commit = session_commit,
    .rollback = session_rollback,
    .lock = session_lock,
    .migrate = sql_migrate,
    .schema = sql_schema,
    .words = sql_words,
    .words_restore = sql_words_restore,
    .lanes = sql_lanes,
    .place = sql_place,
};

void sql_session_init(struct sql_session *session, const struct sql_driver *driver)
{
    session->driver = driver;
    session->store = (struct store){
        .ops = &STORE,
        .registry = &SQL_REGISTRY,
        .schedule = &SQL_SCHEDULE,
        .plan = &SQL_PLAN,
        .task = &SQL_TASK,
        .cursor = &SQL_CURSOR,
        .pause = &SQL_PAUSE,
        .signal = &SQL_SIGNAL,
        .record = &SQL_RECORD,
        .record_read = &SQL_RECORD_READ,
        .child = &SQL_CHILD,
        .expr = &SQL_EXPR,
        .quarantine = &SQL_QUARANTINE,
        .outbox = &SQL_OUTBOX,
        .stream = &SQL_STREAM,
        .prune = &SQL_PRUNE,
        .subscription = &SQL_SUBSCRIPTION,
        .offset = &SQL_OFFSET,
        .bus_offset = &SQL_BUS_OFFSET,
        .parked = &SQL_PARKED,
        .sink = &SQL_SINK,
        .lease = &SQL_LEASE,
        .run = &SQL_RUN,
        .rate = &SQL_RATE,
        .status = &SQL_STATUS,
        .view = &SQL_VIEW,
        .trace = &SQL_TRACE,
        .token = &SQL_TOKEN,
        .archive = &SQL_ARCHIVE,
        .health = &SQL_HEALTH,
        .mark = &SQL_MARK,
        .alert = &SQL_ALERT,
        .alert_config = &SQL_ALERT_CONFIG,
    };
    arena_init(&session->texts, TEXTS_MAX);
    arena_init(&session->payloads.scratch, (size_t)ARCHIVE_BYTES_MAX + SCRATCH_MORE);
}

void sql_session_release(struct sql_session *session)
{
    for (size_t i = 0; i < SQL_STATEMENTS_MAX; i++) {
        struct statement *st = session->statements[i];

        if (st == NULL)
            continue;
        session->driver->forget(st);
        free(st->bound);
        free(st->cells);
        free(st);
    }
    payload_forget(session);
    arena_release(&session->payloads.scratch);
    arena_release(&session->texts);
}
